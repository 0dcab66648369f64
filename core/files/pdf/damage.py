"""Whether the parts of a PDF unpack whole.

PDFium takes of a damaged content what it can unpack and says nothing, so a page may lose its rows without a word.
"""

from __future__ import annotations

import base64
import re
import zlib
from typing import Final

UNPACKED_BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all parts together, unpacked: half a second. What comes after is not looked at; 300 pages of print have 15 MB."""
_PIECE_BYTES: Final = 1024 * 1024
_HEAD_BYTES: Final = 1_500
"""In front of a part's bytes, where its dictionary stands."""

_START: Final = re.compile(rb">>\s{0,4}stream(?:\r\n|\n)")
_FILTER: Final = re.compile(rb"/Filter\s{0,4}\[?\s{0,4}(?P<text>/(?:ASCII85Decode|A85)\s{0,4})?/(?:FlateDecode|Fl)\b")
_TEXT_BYTES_MAX: Final = 4 * 1024 * 1024
"""Of a part that is written as text: to decode it takes 0.1 us a byte."""
_SPACE: Final = b"\0\t\n\x0c\r "
_NOTHING: Final = b"damaged"
"""Bytes that do not unpack."""
_END: Final = b"endstream"
_RAW: Final = -15
"""Without the two bytes in front and the checksum behind."""


def has_damaged_part(data: bytes) -> bool:
    """Return whether a deflated part of a document does not unpack whole.

    An encrypted document tells nothing.
    """
    if b"/Encrypt" in data:
        return False
    left, end = UNPACKED_BYTES_MAX, 0
    while left > 0 and (match := _START.search(data, end)) is not None:
        start = match.end()
        end = data.find(_END, start)
        if end < 0:
            return False
        head = data[max(0, match.start() - _HEAD_BYTES) : match.start()].rpartition(b" obj")[2]
        packing = _FILTER.search(head)
        part = b"" if packing is None else _packed(data[start:end], is_text=packing["text"] is not None)
        size = _unpacked_bytes(part, left) if part else 0
        if size is None:
            return True
        left -= size
    return False


def _packed(part: bytes, *, is_text: bool) -> bytes:
    """Return the bytes of a part, written as text or not; b"" if too many."""
    if not is_text:
        return part
    if len(part) > _TEXT_BYTES_MAX:
        return b""
    try:
        return base64.a85decode(part.strip(_SPACE), adobe=True, ignorechars=_SPACE)
    except ValueError:
        return _NOTHING


def _unpacked_bytes(part: bytes, bytes_max: int) -> int | None:
    """Return a part's unpacked bytes, up to about so many; None if it is damaged."""
    size, unpacking = 0, zlib.decompressobj()
    rest = part
    try:
        while rest and not unpacking.eof and size < bytes_max:
            size += len(unpacking.decompress(rest, _PIECE_BYTES))
            rest = unpacking.unconsumed_tail
    except zlib.error:
        return None
    if unpacking.eof or size >= bytes_max:
        return size
    return size if _ends(part) else None


def _ends(part: bytes) -> bool:
    """Return whether a part comes to its end, but for its checksum.

    Some programs leave it out.
    """
    unpacking = zlib.decompressobj(_RAW)
    rest = part[2:]
    while rest and not unpacking.eof:
        unpacking.decompress(rest, _PIECE_BYTES)
        rest = unpacking.unconsumed_tail
    return unpacking.eof
