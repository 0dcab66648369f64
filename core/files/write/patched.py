"""A copy of an .xlsx or .xlsm file with other values in some of its cells.

Everything else of it is kept.

A sheet without such cells, and every part that is no sheet (styles, charts, pivot tables, macros, pictures), goes over
as it is packed. A sheet with some is unpacked, copied byte for byte but for those cells, and packed again.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Final

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from core.files._cells import SheetPatcher
from core.files.archive import CENTRAL_RECORD, DEFLATED, END_RECORD, LOCAL_HEADER, Archive, ArchiveEntry
from core.files.errors import ParseFailed
from core.files.limits import WRITTEN_PART_BYTES_MAX
from core.files.parts import utf8_chunks
from core.files.source import Content
from core.files.xlsx import calculation_chain, worksheet_parts

_LEVEL: Final = 3
"""Of igzip's four, as for files that are written anew."""
_SIZES_BEHIND: Final = 0x8
"""The flag of an entry whose sizes stand behind its bytes."""
_WIDE: Final = 1
"""The extra field for sizes that do not fit 32 bits."""

_DECLARED: Final = re.compile(rb"""(<\?xml[^>]{0,200}?encoding\s*=\s*)(["'])[A-Za-z0-9._-]{1,40}\2""")
_UNWRITTEN: Final = re.compile("[&<>\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CellChanges:
    """Cells of one sheet, in the order of their rows and within a row of their columns."""

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    """`core.values.Kind` of the new value."""
    numbers: NDArray[np.float64]
    codes: NDArray[np.int32]
    """Index into `texts` of a text."""
    computed: NDArray[np.uint8]
    """1 where a formula gives the value, and 2 more where the mark stays that the formula spills."""
    formulas: NDArray[np.int32]
    """`core.files._cells.PATCH_KEPT`, `PATCH_GONE`, or an index into `written`."""
    texts: list[bytes]
    """Escaped (`escape`)."""
    written: list[bytes]
    """The rest of an <f> element behind its name (`formula_element`)."""


def escape(text: str) -> bytes:
    """Return a text as a cell's XML has it.

    What XML cannot hold, and what looks like such a mark, as `_xHHHH_`.
    """
    return _UNWRITTEN.sub(_entity, text).encode(errors="replace")


def _entity(met: re.Match[str]) -> str:
    return _ENTITIES.get(met[0]) or f"_x{ord(met[0]):04X}_"


def formula_element(text: str, covers: str | None) -> bytes:
    """Return a formula without its '=', of an array where it `covers` a range."""
    attributes = "" if covers is None else f' t="array" ref="{covers}"'
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"{attributes}>{plain}".encode(errors="replace")


def write_patched(
    source: Content, out: IO[bytes], changes: Mapping[int, CellChanges], *, formulas_changed: bool = False
) -> None:
    """Write a copy of a file.

    `changes` go by the place of their sheet among the worksheets.

    `formulas_changed`: cells have become formulas or ceased to be; the list of their last order is then left out, which
    a spreadsheet program makes anew. `out` can be sought in.

    Raises:
        FileRefused: the file is damaged, past a limit of the reader's, or its cells are in no order.
        OSError: it cannot be opened, or the copy not be written.
    """
    with Archive(source) as archive:
        parts = worksheet_parts(archive)
        patched = {parts[at].lower(): (at, change) for at, change in changes.items() if len(change.rows)}
        replaced, gone = _without_chain(archive) if formulas_changed else ({}, None)
        records = []
        for entry in archive.entries:
            name = entry.name.lower()
            if name == gone:
                continue
            if name in patched:
                at, patches = patched[name]
                records.append(_packed_again(out, entry, _patched_chunks(archive, entry, f"Sheet {at + 1}", patches)))
            elif name in replaced:
                records.append(_packed_again(out, entry, [replaced[name]]))
            else:
                records.append(_copy_part(out, archive, entry))
        begin = out.tell()
        out.write(b"".join(records))
        size = out.tell() - begin
        out.write(END_RECORD.pack(b"PK\x05\x06", 0, 0, len(records), len(records), size, begin, 0))


def _patched_chunks(archive: Archive, entry: ArchiveEntry, label: str, cell_changes: CellChanges) -> Iterator[bytes]:
    patcher = SheetPatcher(
        label,
        rows=cell_changes.rows,
        columns=cell_changes.columns,
        kinds=cell_changes.kinds,
        numbers=cell_changes.numbers,
        codes=cell_changes.codes,
        computed=cell_changes.computed,
        formulas=cell_changes.formulas,
        texts=cell_changes.texts,
        written=cell_changes.written,
    )
    first = True
    for chunk in utf8_chunks(archive.chunks(entry.name), label):
        yield patcher.patch(_DECLARED.sub(rb"\1\2UTF-8\2", chunk, 1) if first else chunk)
        first = first and not chunk
    yield patcher.end()


# The archive ----------------------------------------------------------------------------------------------------------


def _copy_part(out: IO[bytes], archive: Archive, entry: ArchiveEntry) -> bytes:
    """Copy an entry as it is packed; its record for the directory."""
    at = out.tell()
    out.write(_local(entry, entry.crc, entry.packed_bytes, entry.unpacked_bytes, entry.method))
    for chunk in archive.packed(entry):
        out.write(chunk)
    return _central(entry, at, entry.crc, entry.packed_bytes, entry.unpacked_bytes, entry.method)


def _packed_again(out: IO[bytes], entry: ArchiveEntry, chunks: Iterable[bytes]) -> bytes:
    """Write an entry's new content; its record for the directory."""
    at = out.tell()
    out.write(_local(entry, 0, 0, 0, DEFLATED))
    begin, size, crc = out.tell(), 0, 0
    deflate = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, -isal_zlib.MAX_WBITS)
    for chunk in chunks:
        size += len(chunk)
        if size > WRITTEN_PART_BYTES_MAX:
            raise ParseFailed(
                f"The part {entry.name!r} would take more than the limit of {WRITTEN_PART_BYTES_MAX:,} bytes."
            )
        crc = zlib.crc32(chunk, crc)
        out.write(deflate.compress(chunk))
    out.write(deflate.flush())
    stop = out.tell()
    out.seek(at)
    out.write(_local(entry, crc, stop - begin, size, DEFLATED))
    out.seek(stop)
    return _central(entry, at, crc, stop - begin, size, DEFLATED)


def _local(entry: ArchiveEntry, crc: int, packed: int, unpacked: int, method: int) -> bytes:
    _, _, needed, flags, _, time, day, _, _, _, name_size, *_ = CENTRAL_RECORD.unpack_from(entry.record)
    name = entry.record[CENTRAL_RECORD.size : CENTRAL_RECORD.size + name_size]
    fields = needed, flags & ~_SIZES_BEHIND, method, time, day, crc, packed, unpacked, name_size, 0
    return LOCAL_HEADER.pack(b"PK\x03\x04", *fields) + name


def _central(entry: ArchiveEntry, at: int, crc: int, packed: int, unpacked: int, method: int) -> bytes:
    """Return an entry's record with other sizes and another place."""
    fields = list(CENTRAL_RECORD.unpack_from(entry.record))
    name_size, extra_size, note_size = fields[10:13]
    name_stop = CENTRAL_RECORD.size + name_size
    extra = _without_wide(entry.record[name_stop : name_stop + extra_size])
    fields[3] &= ~_SIZES_BEHIND
    fields[4] = method
    fields[7:10] = crc, packed, unpacked
    fields[11], fields[16] = len(extra), at
    rest = entry.record[name_stop + extra_size : name_stop + extra_size + note_size]
    return CENTRAL_RECORD.pack(*fields) + entry.record[CENTRAL_RECORD.size : name_stop] + extra + rest


def _without_wide(extra: bytes) -> bytes:
    kept, at = b"", 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<2H", extra, at)
        if kind != _WIDE:
            kept += extra[at : at + 4 + size]
        at += 4 + size
    return kept


# The order of the last calculation ------------------------------------------------------------------------------------

_TAG: Final = r"""<(?:[\w.-]+:)?{}\b(?:[^<>"']|"[^"<]*"|'[^'<]*')*?(?:/>|>\s*</(?:[\w.-]+:)?{}\s*>)"""
_LINK: Final = re.compile(_TAG.format("Relationship", "Relationship"))
_TYPE: Final = re.compile(_TAG.format("Override", "Override"))
_CONTENT_TYPES: Final = "[Content_Types].xml"


def _without_chain(archive: Archive) -> tuple[dict[str, bytes], str | None]:
    """Return the small parts without a mention of the chain, by their names, and the chain's own; a file without one
    has none of either.

    Raises:
        ParseFailed: a part mentions it in no way that is known.
    """
    chain = calculation_chain(archive)
    if chain is None:
        return {}, None
    part, links = chain
    kept_parts = {}
    for name, tag, mention in ((links, _LINK, "/calcChain"), (_CONTENT_TYPES, _TYPE, "calcChain+xml")):
        text = b"".join(utf8_chunks(archive.chunks(name), name)).decode()
        mentions = [met for met in tag.finditer(text) if mention in met[0]]
        if len(mentions) != 1:
            raise ParseFailed(f"The part {name!r} does not say in a known way where the order of calculation stands.")
        kept = text[: mentions[0].start()] + text[mentions[0].end() :]
        kept_parts[name.lower()] = _DECLARED.sub(rb"\1\2UTF-8\2", kept.encode(), 1)
    return kept_parts, part.lower()
