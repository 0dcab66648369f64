"""Parts of a zip archive, deflated as they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from isal import isal_zlib

from core.files.limits import WRITTEN_PART_BYTES_MAX

_LEVEL: Final = 3
"""Of igzip's four levels; bench/NOTES.md has the sizes and times of all."""


@contextmanager
def zip_writer(stream: IO[bytes]) -> Iterator[ZipFile]:
    """A zip archive that is written to a stream; an error leaves it unfinished.

    `ZipFile` alone tries to finish it, and where a part is being opened as a signal raises, says ValueError instead.
    """
    archive = ZipFile(stream, "w")
    try:
        yield archive
        archive.close()
    finally:
        archive.fp = None  # closed: `__del__` closes once more


@contextmanager
def part(archive: ZipFile, name: str) -> Iterator[Callable[[bytes | memoryview], object]]:
    """A part of the archive to put bytes into, deflated by igzip.

    Raises:
        ValueError: more bytes than the limit.
    """
    info = ZipInfo(name)  # without a time of its own: the bytes do not depend on the clock
    info.compress_type = ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    size = 0
    with archive.open(info, "w") as entry:
        # zipfile has no way to name another deflate; before the first byte its own can be exchanged.
        entry._compressor = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, -isal_zlib.MAX_WBITS)  # type: ignore[attr-defined]

        def put(piece: bytes | memoryview) -> None:
            nonlocal size
            size += len(piece)
            if size > WRITTEN_PART_BYTES_MAX:
                raise ValueError(f"{name} takes more than the limit of {WRITTEN_PART_BYTES_MAX:,} bytes")
            entry.write(piece)

        yield put
