"""Scratch folders of jobs: one a run, and nothing left of a run that was killed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def folder_of(scratch: Path, work: str) -> Iterator[Path]:
    """A folder of this run alone, removed at its end; what a killed run of the same work left behind goes first."""
    clear(scratch, work)
    with TemporaryDirectory(prefix=_prefix(work), dir=scratch, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def clear(scratch: Path, work: str) -> None:
    """Remove what killed runs of this work left behind: for work that is given up."""
    for left in scratch.glob(_prefix(work) + "*"):
        shutil.rmtree(left, ignore_errors=True)


def _prefix(work: str) -> str:
    return f"{work}-"
