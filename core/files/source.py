"""What a reader is given.

The bytes of a file, on disk or in memory, and the names that files may have.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Self

from core.files.errors import FileTooLarge, InvalidFormat
from core.files.limits import FILE_BYTES_MAX

Content = Path | bytes
"""A file by its path, or all of its bytes."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file's state at a moment, equal to itself until somebody changes it."""

    path: Path
    size_bytes: int
    changed_ns: int
    number: int
    """The system's, which another file of the name does not have."""

    @classmethod
    def of(cls, path: Path) -> Self:
        """Return a file as it is now.

        Raises:
            OSError: there is none.
        """
        path = path.resolve()
        status = path.stat()
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)


def opened(content: Content) -> BinaryIO:
    """Return the content for reading; whoever asks closes it.

    Raises:
        OSError: the file cannot be opened.
    """
    return BytesIO(content) if isinstance(content, bytes) else content.open("rb")


def content_bytes(content: Content) -> bytes:
    """Return all of its bytes.

    Raises:
        OSError: the file cannot be read.
    """
    return content if isinstance(content, bytes) else content.read_bytes()


def checked_size(content: Content, *, bytes_max: int = FILE_BYTES_MAX) -> int:
    """Return its bytes.

    Raises:
        InvalidFormat: none.
        FileTooLarge: more than the limit.
        OSError: the file cannot be opened.
    """
    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size == 0:
        raise InvalidFormat("The file is empty.")
    if size > bytes_max:
        raise FileTooLarge(f"The file has {size:,} bytes; the limit is {bytes_max:,}.")
    return size
