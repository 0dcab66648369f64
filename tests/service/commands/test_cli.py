"""The command line as a whole: help, version, and what is no command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import core

ROOT = Path(__file__).parents[3]

Cushion = Callable[..., CompletedProcess[str]]
Refusal = Callable[..., str]


def test_help_answers_without_the_heavy_libraries() -> None:
    script = """
import sys
from service.commands.cli import run
run(["--help"])
print(sorted({"numpy", "core"} & set(sys.modules)))
"""
    answer = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert answer.returncode == 0, answer.stderr
    assert "compliance" in answer.stdout
    assert "Exit codes" in answer.stdout
    assert answer.stdout.splitlines()[-1] == "[]"


def test_the_version_is_the_librarys(cushion: Cushion) -> None:
    assert cushion("--version").stdout == f"{core.__version__}\n"


def test_serve_refuses_what_its_processes_would(refused: Refusal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSHION_BLOB_URL", "ftp://host/x")
    assert "CUSHION_BLOB_URL" in refused("serve", "--port", "0")


def test_a_missing_or_unknown_command_is_no_traceback(refused: Refusal) -> None:
    assert "nosuch" in refused("nosuch")
    assert "--out" in refused("generate")
    assert "FILE" in refused("compliance")


FULL = [path for path in (Path("/dev/full"),) if path.exists()]


@pytest.mark.parametrize("path", FULL)
def test_a_full_disk_is_one_line(path: Path) -> None:
    with path.open("w") as full:
        answer = subprocess.run(
            [sys.executable, "-m", "service.commands.cli", "--version"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert answer.returncode == 2
    assert answer.stderr == "cushion: the output cannot be written: No space left on device\n"
