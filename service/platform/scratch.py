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
    prefix = f"{work}-"
    for left in scratch.glob(prefix + "*"):
        shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=prefix, dir=scratch, ignore_cleanup_errors=True) as folder:
        yield Path(folder)
