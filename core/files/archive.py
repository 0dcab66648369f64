"""A zip archive from a stranger.

Its directory checked before, and every byte counted while, anything is unpacked.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Self

from isal import isal_zlib

from core.files.errors import ParseFailed
from core.files.limits import ENTRIES_MAX, INFLATED_BYTES_MAX, PART_BYTES_MAX, RATIO_FREE_BYTES, RATIO_MAX
from core.files.source import Content, opened

# Layouts of APPNOTE.TXT (PKWARE's description of the format), sections 4.3.7, 4.3.12, 4.3.14 to 4.3.16.
LOCAL_HEADER: Final = struct.Struct("<4s5H3I2H")
CENTRAL_RECORD: Final = struct.Struct("<4s6H3I5H2I")
END_RECORD: Final = struct.Struct("<4s4H2IH")
_END_64: Final = struct.Struct("<4sQ2H2I4Q")
_LOCATOR_64: Final = struct.Struct("<4sIQI")

_STORED: Final = 0
DEFLATED: Final = 8
_DIRECTORY_BYTES_MAX: Final = ENTRIES_MAX * 512
_CHUNK_BYTES: Final = 1024 * 1024

_BROKEN: Final = "The file is damaged or cut off: its archive directory cannot be read."


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One stored part."""

    name: str
    method: int
    crc: int
    packed_bytes: int
    unpacked_bytes: int
    offset: int
    record: bytes
    """As the directory has it."""


class Archive:
    """A zip file opened for reading its parts as streams.

    Opening checks the whole directory: entry count, names (relative, without `..`, no two alike without case), no
    encryption, known compression, no overlap, sizes that fit the file, the limits of ratio and of unpacked bytes.
    Reading checks again what the directory only claims: size and checksum.

    Raises:
        ParseFailed: any of these does not hold.
    """

    def __init__(self, content: Content) -> None:
        self._file: BinaryIO = opened(content)
        try:
            self.entries, self._directory_start = _directory(self._file)
        except BaseException:
            self._file.close()
            raise
        # Part names are matched without case (ECMA-376 part 2, 6.2.2.3).
        self._by_name = {entry.name.lower(): entry for entry in self.entries}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._by_name

    def size_of(self, name: str) -> int:
        """Return the unpacked bytes of a part that is there, as the directory claims."""
        return self._by_name[name.lower()].unpacked_bytes

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the unpacked bytes of a part, at most 1 MiB at a time.

        Raises:
            ParseFailed: the part is missing, damaged, or not of the size that the directory claims.
        """
        entry = self._by_name.get(name.lower())
        if entry is None:
            raise ParseFailed(f"The workbook names the part {name!r}, which the file does not hold.")
        size, crc = 0, 0
        for chunk in _unpacked_chunks(self._file, entry):
            size += len(chunk)
            if size > entry.unpacked_bytes:
                raise ParseFailed(f"The part {name!r} unpacks to more than the archive's directory says.")
            crc = isal_zlib.crc32(chunk, crc)
            yield chunk
        if size != entry.unpacked_bytes or crc != entry.crc:
            raise ParseFailed(f"The part {name!r} is damaged: its size or checksum is wrong.")

    def layout_fault(self) -> tuple[str, str] | None:
        """Return (entry, or empty; why) of the first thing by which programs may find other parts in the file than the
        directory names: entries in no gapless row, headers that say otherwise, other names. None where all agree."""
        return _layout_fault(self._file, sorted(self.entries, key=lambda entry: entry.offset), self._directory_start)

    def packed(self, entry: ArchiveEntry) -> Iterator[bytes]:
        """Return the bytes of an entry as they are stored.

        Raises:
            ParseFailed: they are missing.
        """
        return _packed_chunks(self._file, entry)

    def read(self, name: str) -> bytes:
        """Return a whole part.

        Raises:
            ParseFailed: as `chunks`, or the part passes the limit for parts that are read whole.
        """
        entry = self._by_name.get(name.lower())
        if entry is not None and entry.unpacked_bytes > PART_BYTES_MAX:
            raise ParseFailed(f"The part {name!r} is larger than the limit of {PART_BYTES_MAX:,} bytes.")
        return b"".join(self.chunks(name))


def _packed_chunks(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    file.seek(entry.offset)
    header = file.read(LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
        raise ParseFailed(_BROKEN)
    fields = LOCAL_HEADER.unpack(header)
    position = entry.offset + LOCAL_HEADER.size + fields[9] + fields[10]
    left = entry.packed_bytes
    while left:
        file.seek(position)
        packed = file.read(min(_CHUNK_BYTES // 8, left))
        if not packed:
            raise ParseFailed(_BROKEN)
        position += len(packed)
        left -= len(packed)
        yield packed


def _unpacked_chunks(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    inflate = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS) if entry.method == DEFLATED else None
    for packed in _packed_chunks(file, entry):
        if inflate is None:
            yield packed
            continue
        try:
            while packed:
                yield inflate.decompress(packed, _CHUNK_BYTES)
                packed = inflate.unconsumed_tail
        except isal_zlib.error as error:  # type: ignore[misc]  # a class: its stub says an instance
            raise ParseFailed(f"The part {entry.name!r} is damaged: it cannot be unpacked.") from error
    if inflate is None:
        return
    # All input can be taken in while a little output still waits: a full chunk hides the stream's end.
    yield inflate.flush()
    if not inflate.eof:
        raise ParseFailed(f"The part {entry.name!r} is damaged: it ends too early.")


def _directory(file: BinaryIO) -> tuple[list[ArchiveEntry], int]:
    """Return the entries, and where their directory starts."""
    start, size, count = _end_record(file)
    if count > ENTRIES_MAX or size > _DIRECTORY_BYTES_MAX:
        raise ParseFailed(f"The archive has more entries than the limit of {ENTRIES_MAX:,}.")
    file.seek(start)
    data = file.read(size)
    entries: list[ArchiveEntry] = []
    at = 0
    while at + CENTRAL_RECORD.size <= len(data) and len(entries) < count:
        entry, at = _central_entry(data, at)
        entries.append(entry)
    if len(entries) != count or at != len(data):
        raise ParseFailed(_BROKEN)
    _check(entries, start)
    return entries, start


def _end_record(file: BinaryIO) -> tuple[int, int, int]:
    """Return where the directory starts, its bytes, its entries."""
    length = file.seek(0, 2)
    tail_start = max(0, length - END_RECORD.size - 65_535)
    file.seek(tail_start)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + END_RECORD.size > len(tail):
        raise ParseFailed("The file is cut off: the end of its archive is missing.")
    _, disk, first_disk, here, count, size, start, _ = END_RECORD.unpack_from(tail, at)
    if disk or first_disk or here != count:
        raise ParseFailed("The file is one part of an archive that is spread over several files.")
    end = tail_start + at
    if 0xFFFFFFFF in (size, start) or count == 0xFFFF:
        start, size, count, end = _end_record_64(file, end)
    if start + size > end:
        raise ParseFailed(_BROKEN)
    return start, size, count


def _end_record_64(file: BinaryIO, end: int) -> tuple[int, int, int, int]:
    if end < _LOCATOR_64.size:
        raise ParseFailed(_BROKEN)
    file.seek(end - _LOCATOR_64.size)
    mark, _, at, _ = _LOCATOR_64.unpack(file.read(_LOCATOR_64.size))
    if mark != b"PK\x06\x07" or at + _END_64.size > end:
        raise ParseFailed(_BROKEN)
    file.seek(at)
    fields = _END_64.unpack(file.read(_END_64.size))
    if fields[0] != b"PK\x06\x06":
        raise ParseFailed(_BROKEN)
    return fields[9], fields[8], fields[7], at


def _central_entry(data: bytes, at: int) -> tuple[ArchiveEntry, int]:
    fields = CENTRAL_RECORD.unpack_from(data, at)
    mark, _, _, flags, method, _, _, crc, packed, unpacked, name_size, extra_size, note_size, *_, offset = fields
    begin = at + CENTRAL_RECORD.size
    stop = begin + name_size + extra_size + note_size
    if mark != b"PK\x01\x02" or stop > len(data):
        raise ParseFailed(_BROKEN)
    name = data[begin : begin + name_size].decode("utf-8" if flags & 0x800 else "cp437", "replace")
    if flags & 0x2041:
        raise ParseFailed("The file is password-protected: its archive is encrypted.")
    if method not in (_STORED, DEFLATED):
        raise ParseFailed(f"The part {name!r} is packed in a way that spreadsheets do not use.")
    extra = data[begin + name_size : begin + name_size + extra_size]
    unpacked, packed, offset = _wide_sizes(extra, [unpacked, packed, offset])
    return ArchiveEntry(_checked_name(name), method, crc, packed, unpacked, offset, data[at:stop]), stop


def _wide_sizes(extra: bytes, sizes: list[int]) -> list[int]:
    """Return sizes that do not fit 32 bits stand in the extra field 1, in this order."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            wide = extra[at + 4 : at + 4 + size]
            for which, value in enumerate(sizes):
                if value == 0xFFFFFFFF and len(wide) >= 8:
                    sizes[which] = int.from_bytes(wide[:8], "little")
                    wide = wide[8:]
        at += 4 + size
    return sizes


def _checked_name(name: str) -> str:
    # Windows tools write backslashes; they mean the same and are no way out of the archive.
    path = name.replace("\\", "/")
    if not path or path.startswith("/") or ":" in path or "\0" in path or ".." in path.split("/"):
        raise ParseFailed.ambiguous(f"The archive holds an entry with an unsafe name: {name[:80]!r}.")
    return path


def _check(entries: list[ArchiveEntry], directory_start: int) -> None:
    names = {entry.name.lower() for entry in entries}
    if len(names) != len(entries):
        raise ParseFailed.ambiguous("The archive holds two entries of the same name.")
    if sum(entry.unpacked_bytes for entry in entries) > INFLATED_BYTES_MAX:
        raise ParseFailed(f"The file unpacks to more than the limit of {INFLATED_BYTES_MAX:,} bytes.")
    free = 0
    for entry in sorted(entries, key=lambda entry: entry.offset):
        if entry.offset < free:
            raise ParseFailed.ambiguous("The archive's entries overlap.")
        free = entry.offset + LOCAL_HEADER.size + entry.packed_bytes
        _check_ratio(entry)
    if free > directory_start:
        raise ParseFailed(_BROKEN)


def _check_ratio(entry: ArchiveEntry) -> None:
    if entry.unpacked_bytes > max(RATIO_FREE_BYTES, entry.packed_bytes * RATIO_MAX):
        raise ParseFailed(f"The part {entry.name!r} unpacks to more than {RATIO_MAX} times its packed size.")
    if entry.method == _STORED and entry.packed_bytes != entry.unpacked_bytes:
        raise ParseFailed(_BROKEN)


# What other programs may read -----------------------------------------------------------------------------------------

_STREAMED: Final = 8
"""The flag of an entry whose sizes follow its bytes."""
_TOLD_FLAGS: Final = 0x1 | _STREAMED | 0x40 | 0x800 | 0x2000
_DESCRIPTOR_BYTES: Final = (12, 16)
_NAME: Final = re.compile(
    rb"(?:\[Content_Types\]\.xml|\[trash\]/[0-9A-Fa-f]+\.dat|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*)"
)
_OTHER_NAMES: Final = frozenset({0x7075, 0x6375})
"""Extra fields by which some programs call an entry something else."""


def _layout_fault(file: BinaryIO, entries: list[ArchiveEntry], directory_start: int) -> tuple[str, str] | None:
    free, streamed = 0, False
    for entry in entries:
        fields, name, extra = _local_header(file, entry)
        flags, method, crc, packed, unpacked = fields[2], fields[3], fields[6], fields[7], fields[8]
        directory = CENTRAL_RECORD.unpack_from(entry.record)
        size = directory[10]
        own_name = entry.record[CENTRAL_RECORD.size : CENTRAL_RECORD.size + size]
        gap = entry.offset - free
        if gap and not (free and gap in _DESCRIPTOR_BYTES and streamed):
            return entry.name, "bytes stand before it that belong to no entry"
        streamed = bool(flags & _STREAMED)
        sizes = (entry.crc, entry.packed_bytes, entry.unpacked_bytes)
        is_same = (crc, packed, unpacked) == sizes or (streamed and (crc, packed, unpacked) == (0, 0, 0))
        if name != own_name or method != entry.method or not is_same or (flags ^ directory[3]) & _TOLD_FLAGS:
            return entry.name, "its own header says otherwise than the directory"
        if not _NAME.fullmatch(name) or b"/./" in b"/" + name + b"/":
            return entry.name, "its name is not one that spreadsheet programs write"
        own_extra = entry.record[CENTRAL_RECORD.size + size : CENTRAL_RECORD.size + size + directory[11]]
        if not _OTHER_NAMES.isdisjoint((*_extra_kinds(extra), *_extra_kinds(own_extra))):
            return entry.name, "an extra field gives it another name"
        if 0xFFFFFFFF in (packed, unpacked, directory[8], directory[9], directory[16]):
            return entry.name, "its sizes stand in an extension for larger files"
        free = entry.offset + LOCAL_HEADER.size + fields[9] + fields[10] + entry.packed_bytes
    gap = directory_start - free
    if gap and not (gap in _DESCRIPTOR_BYTES and streamed):
        return "", "bytes stand before the archive's directory that belong to no entry"
    length = file.seek(0, 2)
    if directory_start + sum(len(entry.record) for entry in entries) + END_RECORD.size != length:
        return "", "bytes stand behind the archive's directory"
    return None


def _local_header(file: BinaryIO, entry: ArchiveEntry) -> tuple[tuple[int, ...], bytes, bytes]:
    file.seek(entry.offset)
    header = file.read(LOCAL_HEADER.size)
    if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
        raise ParseFailed(_BROKEN)
    fields = LOCAL_HEADER.unpack(header)
    return fields, file.read(fields[9]), file.read(fields[10])


def _extra_kinds(extra: bytes) -> Iterator[int]:
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        yield kind
        at += 4 + size
