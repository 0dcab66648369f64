"""The pins of .constraints.txt.

Uv takes them for all extras, and none is missing or superfluous.

That pip takes them, too, is seen where it installs: .ci/wheel, and the steps of the Dockerfile (test_image.py).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = ROOT / ".constraints.txt"


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(text: str) -> dict[str, str]:
    """Names and versions of lines such as `redis[hiredis]==5.3.1`."""
    lines = [line.split(";")[0].strip() for line in text.splitlines()]
    pairs = [re.sub(r"\[.*\]", "", line).split("==") for line in lines if line]
    return {normal(name): version for name, version in pairs}


PINNED = pins(CONSTRAINTS.read_text(encoding="utf-8"))


def resolved_by_uv(python: str, *, without: str = "") -> dict[str, str]:
    """What uv would install of the extras on a version of Python.

    It reads none of pip's settings.
    """
    extras = [f"--extra={name}" for name in PROJECT["optional-dependencies"] if name != without]
    pip = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    index = os.environ.get("UV_DEFAULT_INDEX") or os.environ.get("PIP_INDEX_URL") or pip.stdout.strip()
    done = subprocess.run(
        [
            Path(sys.executable).with_name("uv"),
            *("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--constraint", CONSTRAINTS),
            *("--python-version", python, *extras, "pyproject.toml"),
        ],
        cwd=ROOT,
        env={**os.environ, **({"UV_DEFAULT_INDEX": index} if index else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return pins(done.stdout)


def test_the_pins_are_all_that_uv_needs_for_every_extra() -> None:
    oldest = resolved_by_uv("3.11", without="docs")  # MkDocs' extensions want 3.11.5
    latest = resolved_by_uv("3.14")
    assert oldest | latest == PINNED, "missing, superfluous or other versions in .constraints.txt"
