"""Files on their way: folders that exist while their owner lives."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Final

ROOM_BYTES: Final = 1 << 20
"""Without so much room a disk counts as full."""
FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
"""Nothing more can be written there."""


def has_room(folder: Path) -> bool:
    """Return whether a folder's disk takes another file, by writing one.

    The figures of a disk leave out quotas and what is reserved for root. A folder that is not there is no full one.
    """
    try:
        with TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, ROOM_BYTES)
    except OSError as error:
        return error.errno not in FULL
    return True


def hold(handle: int) -> None:
    """Mark an open file or folder as in use until it is closed, or its process dies."""
    with suppress(OSError):  # a file system without locks: then nobody takes it for abandoned either
        fcntl.flock(handle, fcntl.LOCK_EX)


def remove_if_abandoned(path: Path, *, older_than_seconds: float = 0) -> bool:
    """Remove a file or folder that nobody uses; return whether it was so.

    The age is only for the moment between its making and its owner's hold on it.
    """
    try:
        if path.lstat().st_mtime > time.time() - older_than_seconds:
            return False
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # its owner has just finished with it
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:  # held
        return False
    finally:
        os.close(handle)
    return True


@contextmanager
def folder_for(scratch: Path, work: str) -> Iterator[Path]:
    """Make a folder for this work alone, removed at its end."""
    with TemporaryDirectory(prefix=_prefix(work), dir=scratch, ignore_cleanup_errors=True) as folder:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            hold(handle)
            yield Path(folder)
        finally:
            os.close(handle)


@contextmanager
def folder_of(scratch: Path, work: str) -> Iterator[Path]:
    """Make the folder of a run of a job; what a killed run left in it goes first."""
    clear(scratch, work)
    with folder_for(scratch, work) as folder:
        yield folder


def clear(scratch: Path, work: str) -> None:
    """Remove what killed runs of this work left, for work that is given up."""
    for left in scratch.glob(_prefix(work) + "*"):
        remove_if_abandoned(left)


def sweep(scratch: Path, *, older_than_seconds: float, keep: Path) -> list[str]:
    """Remove what killed processes left, except `keep`; return the names."""
    return [
        left.name
        for left in scratch.iterdir()
        if left != keep and remove_if_abandoned(left, older_than_seconds=older_than_seconds)
    ]


def _prefix(work: str) -> str:
    return f"{work}-"
