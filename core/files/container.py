"""OLE compound files.

What an .xls is wrapped in, and what Excel wraps a password-protected workbook in.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import BinaryIO, Final

from core.files.errors import ParseFailed
from core.files.source import Content, opened

SIGNATURE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

# [MS-CFB] 2.1 to 2.6: special sector numbers, and the size of a directory entry.
_LAST_SECTOR: Final = 0xFFFFFFFA
_ENTRY_BYTES: Final = 128
_ENTRIES_MAX: Final = 4_096
_TABLES_MAX: Final = 4_096
_STREAM: Final = 2
_BROKEN: Final = "The file is damaged: its directory cannot be read."

# [MS-XLS] 2.4.117 FilePass: the record behind BOF that says the rest is encrypted.
_FILE_PASS: Final = 0x2F
_HEAD_BYTES: Final = 2_048


@dataclass(frozen=True, slots=True)
class Container:
    """The names of a compound file's streams, and the first bytes of its workbook stream where it has one."""

    streams: frozenset[str]
    workbook_head: bytes

    @property
    def is_protected(self) -> bool:
        """Whether Excel would ask for a password."""
        return "EncryptedPackage" in self.streams or _has_file_pass(self.workbook_head)

    @property
    def is_workbook(self) -> bool:
        """Whether it holds an .xls workbook."""
        return "Workbook" in self.streams or "Book" in self.streams


def open_container(content: Content) -> Container:
    """Read the directory of a compound file.

    Raises:
        ParseFailed: the directory is damaged.
    """
    with opened(content) as file:
        try:
            return _read_stream(file)
        except (struct.error, IndexError, UnicodeDecodeError) as error:
            raise ParseFailed(_BROKEN) from error


def _read_stream(file: BinaryIO) -> Container:
    header = file.read(512)
    shift, mini_shift = struct.unpack_from("<2H", header, 30)
    first_directory, mini_cutoff = struct.unpack_from("<I4xI", header, 48)
    if shift not in (9, 12) or mini_shift > shift:
        raise ParseFailed(_BROKEN)
    size = 1 << shift
    table = _Table(file, header, size)
    streams: dict[str, tuple[int, int]] = {}
    mini_start = 0
    for sector in table.chain(first_directory, limit=_ENTRIES_MAX * _ENTRY_BYTES // size):
        data = table.sector(sector)
        for at in range(0, size, _ENTRY_BYTES):
            name_bytes, kind = struct.unpack_from("<HB", data, at + 64)
            start, length = struct.unpack_from("<IQ", data, at + 116)
            if kind == _STREAM and 2 <= name_bytes <= 64:
                streams[data[at : at + name_bytes - 2].decode("utf-16-le")] = (start, length & 0xFFFFFFFF)
            elif kind == 5:
                mini_start = start
    start, length = streams.get("Workbook") or streams.get("Book") or (0, 0)
    head = b""
    if length >= mini_cutoff:
        head = table.sector(start)
    elif length:
        # A stream below the cut-off lives in small sectors inside the root's own stream.
        place = start << mini_shift
        holders = table.chain(mini_start, limit=place // size + 1)
        head = table.sector(holders[place // size])[place % size :]
    return Container(frozenset(streams), head[:_HEAD_BYTES])


class _Table:
    """The sector chains of a compound file."""

    def __init__(self, file: BinaryIO, header: bytes, size: int) -> None:
        self._file = file
        self._size = size
        self._tables = list(struct.unpack_from("<109I", header, 76))
        # Further table sectors are listed in sectors of their own, each ending with the number of the next.
        (listed,) = struct.unpack_from("<I", header, 68)
        while listed < _LAST_SECTOR and len(self._tables) < _TABLES_MAX:
            *more, listed = struct.unpack(f"<{size // 4}I", self.sector(listed))
            self._tables.extend(more)

    def sector(self, number: int) -> bytes:
        self._file.seek((number + 1) * self._size)
        data = self._file.read(self._size)
        return data.ljust(self._size, b"\0") if data else b""

    def chain(self, sector: int, limit: int) -> list[int]:
        sectors: list[int] = []
        per_table = self._size // 4
        while sector < _LAST_SECTOR and len(sectors) < limit:
            sectors.append(sector)
            table = self.sector(self._tables[sector // per_table])
            (sector,) = struct.unpack_from("<I", table, sector % per_table * 4)
        return sectors


def _has_file_pass(head: bytes) -> bool:
    at = 0
    while at + 4 <= len(head):
        record, size = struct.unpack_from("<2H", head, at)
        if record == _FILE_PASS:
            return True
        at += 4 + size
    return False
