"""What the tests of work in a child share.

A seeded tape in a folder, a folder for the answer, and limits.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.generate import GeneratedTape, generate, generate_tape

LIMITS: dict[str, Any] = {"memory_bytes_max": 2 * 1024**3, "seconds_max": 60.0}


@pytest.fixture(scope="module")
def generated_tape(tmp_path_factory: pytest.TempPathFactory) -> tuple[GeneratedTape, Path]:
    """A seeded tape, and the folder with its file and its book's."""
    folder = tmp_path_factory.mktemp("made")
    tape = generate_tape(generate(loans=200, seed=11), "trustee_b", 5)
    tape.write(folder / "tape.xlsx")
    tape.deal.write(folder / "book.xlsx")
    return tape, folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a child may write."""
    empty = tmp_path / "out"
    empty.mkdir()
    return empty


def left_in(folder: Path) -> list[str]:
    """The names of what is in a folder."""
    return sorted(path.name for path in folder.iterdir())
