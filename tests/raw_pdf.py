"""PDF documents written byte by byte, so that they can be wrong in any way."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from functools import cache

CATALOG, PAGES, FONT = 1, 2, 3
"""The numbers of the first objects of `document`."""
FIRST_PAGE = 4
"""The number of its first page; its content is the next object, then comes the next page."""

TABLE = (
    b"BT /F1 10 Tf 1 0 0 1 40 700 Tm (Borrower) Tj 1 0 0 1 240 700 Tm (Par) Tj 1 0 0 1 340 700 Tm (Price) Tj "
    b"1 0 0 1 40 680 Tm (Alder Holdings) Tj 1 0 0 1 240 680 Tm (1,000,000.00) Tj 1 0 0 1 340 680 Tm (99.50) Tj "
    b"1 0 0 1 40 660 Tm (Birch Media) Tj 1 0 0 1 240 660 Tm (2,500,000.00) Tj 1 0 0 1 340 660 Tm (98.25) Tj "
    b"1 0 0 1 40 640 Tm (Cedar Foods) Tj 1 0 0 1 240 640 Tm (500,000.00) Tj 1 0 0 1 340 640 Tm (100.00) Tj ET"
)
"""The content of a page: a header row and three rows of loans."""

TABLE_CELLS = [
    ["Borrower", "Par", "Price"],
    ["Alder Holdings", 1_000_000.0, 99.5],
    ["Birch Media", 2_500_000.0, 98.25],
    ["Cedar Foods", 500_000.0, 100.0],
]
"""What `TABLE` shows."""

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


HEAD = b"%PDF-1.7\n"


def stream(data: bytes, entries: bytes = b"", *, length: object = None) -> bytes:
    """Return a stream object; `length` replaces the true one."""
    shown = str(len(data) if length is None else length).encode()
    return b"<<" + entries + b"/Length " + shown + b">>stream\n" + data + b"\nendstream"


def deflated(data: bytes, entries: bytes = b"", *, times: int = 1) -> bytes:
    """Return a stream object that is deflated so many times."""
    for _ in range(times):
        data = zlib.compress(data, 9)
    filters = b"/Filter[" + b"/FlateDecode" * times + b"]"
    return stream(data, filters + entries)


def repeated_deflated(block: bytes, count: int, before: bytes = b"", after: bytes = b"") -> bytes:
    """Return `before`, a block so many times, and `after`, deflated; the whole is never there."""
    check = zlib.adler32(before)
    for _ in range(count):
        check = _joined_check(check, block)
    check = _joined_check(check, after)
    return b"\x78\xda" + _part(before) + _part(block) * count + _part(after, zlib.Z_FINISH) + check.to_bytes(4, "big")


def _part(data: bytes, flush: int = zlib.Z_FULL_FLUSH) -> bytes:
    """Return a part of a deflated stream that can stand anywhere in it."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(flush)


@cache
def _own_check(data: bytes) -> int:
    return zlib.adler32(data)


def _joined_check(check: int, data: bytes) -> int:
    """Return Adler's checksum of what has this checksum and the data behind it."""
    own = _own_check(data)
    low, high = check & 0xFFFF, check >> 16
    own_low, own_high = own & 0xFFFF, own >> 16
    second_high = (high + own_high + len(data) * (low - 1)) % 65_521
    return second_high << 16 | (low + own_low - 1) % 65_521


def written(
    objects: Sequence[bytes], *, trailer: bytes = b"", head: bytes = b"%PDF-1.7\n", prev: object = None
) -> bytes:
    """Return a document of objects, which are numbered from 1; the first is the catalog."""
    out, places = bytearray(head), []
    for number, each in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj" % number + each + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    if prev is not None:
        trailer += b"/Prev %d" % (start if prev == "itself" else prev)
    out += b"trailer<</Size %d/Root 1 0 R" % (len(objects) + 1) + trailer + b">>\n"
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % start


def document(
    contents: Iterable[bytes] = (TABLE,),
    *,
    more: Sequence[bytes] = (),
    page: bytes = b"",
    resources: bytes = b"",
    catalog: bytes = b"",
    font: bytes = HELVETICA,
    box: bytes = b"[0 0 612 792]",
    trailer: bytes = b"",
    head: bytes = HEAD,
    prev: object = None,
) -> bytes:
    """Return a document with a page for each content: an operators' text, or a whole stream object.

    The numbers of `more` follow those of the pages (`more_from`).
    """
    pages = [each if b"stream\n" in each[:400] else stream(each) for each in contents]
    kids = b" ".join(b"%d 0 R" % (FIRST_PAGE + 2 * at) for at in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R" + catalog + b">>",
        b"<</Type/Pages/Count %d/Kids[" % len(pages) + kids + b"]>>",
        font,
    ]
    for at, content in enumerate(pages):
        link = b"/Contents %d 0 R" % (FIRST_PAGE + 2 * at + 1)
        entries = b"/MediaBox" + box + b"/Resources<</Font<</F1 3 0 R>>" + resources + b">>" + link + page
        objects += [b"<</Type/Page/Parent 2 0 R" + entries + b">>", content]
    return written([*objects, *more], trailer=trailer, head=head, prev=prev)


def more_from(page_count: int = 1) -> int:
    """Return the number of the first object of `more`."""
    return FIRST_PAGE + 2 * page_count
