"""Files that get their names when they are whole.

A run that is interrupted leaves no half file and no half set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import urandom
from pathlib import Path
from shutil import copyfileobj, rmtree
from typing import IO, Final

from service.commands.refusal import Refused


@contextmanager
def drafts(target: Path) -> Iterator[Path]:
    """A folder in `target` for what is yet unfinished, so that a finished file moves within one disk; gone at the end,
    at whichever moment the run is interrupted.

    Raises:
        OSError: no folder can be made there.
    """
    # Named before it is made: an interrupt between the making of a folder and the hold on it would leave it behind.
    folder = target / f".cushion-{urandom(8).hex()}"
    try:
        folder.mkdir(mode=0o700)
        yield folder
    finally:
        rmtree(folder, ignore_errors=True)


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name when it is whole.

    A device, a pipe and what a link names is written straight.

    A link stays a link: /dev/stdout is one, to a plain file where the output is redirected.

    Raises:
        Refused: it cannot be written.
    """
    try:
        if target.is_symlink() or (target.exists() and not target.is_file()):
            with target.open("wb") as out:
                yield out
            return
        with drafts(target.parent) as folder:
            unfinished = folder / target.name
            with unfinished.open("wb") as out:
                yield out
            unfinished.replace(target)
    except OSError as error:
        raise Refused(f"{target}: {error.strerror or error}") from error


def place(path: Path, target: Path, *sources: Path) -> None:
    """Give a finished file to its user.

    Raises:
        Refused: the target is one of the files that it was made of, or cannot be written.
    """
    if any(target.exists() and source.exists() and target.samefile(source) for source in sources):
        raise Refused(f"{target}: is what it is made of; name another file with --out")
    with path.open("rb") as whole, replacing(target) as copy:
        copyfileobj(whole, copy, _COPIED_BYTES)


_COPIED_BYTES: Final = 1 << 20
"""At a time."""
