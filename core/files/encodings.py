"""Text of marked-up files, in the encodings that these declare."""

from __future__ import annotations

import codecs
import re
from typing import Final

from core.files.errors import ParseFailed

BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED: Final = ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be"))
_HEAD_BYTES: Final = 4_096
_DECLARED: Final = (
    re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']"""),
    re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE),
)
_KNOWN: Final = re.compile(
    r"ascii|utf-8|utf-16|utf-16-[bl]e|cp\d{3,4}|iso8859-\d+|mac-\w+|koi8-[ru]|shift_jis|euc_(jp|kr)|gb(2312|k|18030)|big5"
)
"""Python's names of the encodings that are read; its others are no alphabets, or take long."""


def decode(data: bytes, label: str) -> str:
    """Return the text of a page or an XML document.

    By its mark, by what it declares, else UTF-8 or Windows-1252.

    Raises:
        ParseFailed: it declares an encoding that is not known, or is not text in the one that it declares.
    """
    for mark, name in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decode(data[len(mark) :], name, label)
    head = data[:_HEAD_BYTES]
    for begin, name in _UNMARKED:
        if head.lstrip(b" \t\r\n").startswith(begin) or head.startswith(begin):
            return _decode(data, name, label)
    declared = next((declared for pattern in _DECLARED if (declared := pattern.search(head))), None)
    if declared is not None:
        name = _lookup(declared[1].decode("ascii"), label)
        # What can be read byte by byte is in no encoding of two bytes a sign, whatever it declares.
        return _decode(data, "utf-8" if name.startswith("utf-16") else name, label)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _lookup(name: str, label: str) -> str:
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if not _KNOWN.fullmatch(known):
        raise ParseFailed(f"{label} declares the encoding {name!r}, which is not known.")
    return "cp1252" if known == "iso8859-1" else known  # as browsers and Excel do


def _decode(data: bytes, name: str, label: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        if name.startswith("cp125"):  # five places of these have no sign
            return data.decode(name, "replace")
        raise ParseFailed(f"{label} is not text in the encoding {name!r}, which it declares.") from error
