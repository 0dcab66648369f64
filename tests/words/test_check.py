"""The check of names finds what it is for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.words.check import BANNED, banned_names, faults, waivers


def _names_in(folder: Path, text: str) -> list[str]:
    path = folder / "module.py"
    path.write_text(text, encoding="utf-8")
    return [line.rpartition(" ")[2] for line in banned_names(path, folder)]


@pytest.mark.parametrize("name", sorted(BANNED))
@pytest.mark.parametrize(
    "text",
    [
        "def {}(): ...",
        "def f({}): ...",
        "def f(*, {}=1): ...",
        "async def f(*{}): ...",
        "{} = 1",
        "{}: int",
        "for {} in (): ...",
        "x = [1 for {} in ()]",
        "x = lambda {}: 1",
        "if ({} := 1): ...",
        "with open('a') as {}: ...",
        "try: ...\nexcept OSError as {}: ...",
        "match 1:\n  case [*{}]: ...",
        "match 1:\n  case int() as {}: ...",
        "import json as {}",
        "self.{} = 1",
    ],
)
def test_a_banned_name_is_found_wherever_it_is_bound(name: str, text: str, tmp_path: Path) -> None:
    assert _names_in(tmp_path, text.format(name)) == [name]
    assert _names_in(tmp_path, text.format(f"_{name}")) == [f"_{name}"]
    assert _names_in(tmp_path, text.format(f"{name}_loan")) == []


def test_operands_and_names_of_libraries_stay(tmp_path: Path) -> None:
    assert _names_in(tmp_path, "class A:\n    def __eq__(self, other): return other.x") == []
    assert _names_in(tmp_path, "from hypothesis import given\nprint(given)") == []
    assert _names_in(tmp_path, "def f(self, other): ...") == ["other"]


def test_a_class_name_exists_once_in_a_room(tmp_path: Path) -> None:
    for room, name in (("core", "a"), ("core", "b"), ("service", "a")):
        (tmp_path / room).mkdir(exist_ok=True)
        (tmp_path / room / f"{name}.py").write_text("class Row: ...\nclass _Row: ...\n")
    assert faults(tmp_path) == ["core: class Row in core/a.py, core/b.py"]


def test_a_waiver_needs_a_reason_and_there_are_few(tmp_path: Path) -> None:
    (tmp_path / "core").mkdir()
    path = tmp_path / "core" / "a.py"
    waiver = "def f(): ...  # noqa: "
    path.write_text(f"{waiver}C901\n{waiver}PLR0913 - a command's options\n")
    assert list(waivers(tmp_path)) == [("core/a.py:1", False), ("core/a.py:2", True)]
    assert len(faults(tmp_path)) == 1
    path.write_text(f"{waiver}C901 - a plain match over kinds\n" * 21)
    assert faults(tmp_path) == ["21 limits are waived, over 20"]
