"""Delimited text (.csv, .tsv and their like) to a sheet.

Encoding, delimiter and decimal sign are found.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from typing import Final

from core.files._cells import delimited
from core.files.encodings import BYTE_ORDER_MARKS
from core.files.errors import InvalidFormat, NoTable, ParseFailed
from core.files.limits import SLOTS_MAX, TEXT_BYTES_MAX
from core.grid.column import Text, column_of, frozen
from core.grid.sheet import Sheet, no_formulas

FORMATS: Final = ("General", "0%", "0.0%", "0.00%", "0.000%", "0.0000%")
"""The number formats of such a sheet; a percentage that is read as a number has the one of its digits."""

_DELIMITERS: Final = ("\t", ";", "|", ",")
"""The comma last: it also stands in names and figures, and gives way to another that parts the lines as evenly."""

_SAMPLE_BYTES: Final = 64 * 1024
"""What is looked at for the delimiter, if it has so many lines:"""
_SAMPLE_LINES_MIN: Final = 20
"""of a table with thousands of columns, a line alone can be longer."""
_SAMPLE_LINES: Final = 200
_EVEN_SHARE: Final = 0.9
"""Of the lines that the comma parts evenly, how many another delimiter must part so to be preferred."""

_COMMA_SEEN, _POINT_SEEN = 1, 2
_HINT: Final = re.compile(rb"\A\"?sep=([\t;,|:^~])\"?\r?\n", re.I)
"""A first line that tells Excel the delimiter."""


def read_delimited(data: bytes, name: str, index: int = 0) -> Sheet:
    """Return a sheet of this name.

    Its numbers as numbers, everything that could be an identifier or a date as text.

    The decimal sign is a comma where some figure of the file can only have one, and none only a point.

    Raises:
        InvalidFormat: no table: one line, one column, or no text at all.
        ParseFailed: a quote that is never closed, or more than a limit.
    """
    label = f"{name!r}"
    text = utf8_text(data, label)
    if hint := _HINT.match(text):
        delimiter, text = hint[1].decode(), text[hint.end() :]
    else:
        delimiter = _delimiter(text, label)
    parsed = delimited(label, text, delimiter, False, slots_max=SLOTS_MAX, slots_used=0)
    if parsed[4] == _COMMA_SEEN:
        parsed = delimited(label, text, delimiter, True, slots_max=SLOTS_MAX, slots_used=0)
    (row_count, _), columns, (offsets, strings), *_ = parsed
    return Sheet(
        name=name,
        index=index,
        state="visible",
        columns=tuple(None if cells is None else column_of(*cells) for cells in columns),
        row_count=row_count,
        text=Text(frozen(offsets), frozen(strings)),
        formulas=no_formulas(),
    )


def utf8_text(data: bytes, label: str) -> bytes:
    """Return text in UTF-8, whatever of UTF-8, UTF-16 and Windows' western encoding it came in.

    Raises:
        InvalidFormat: no text.
        ParseFailed: more than the limit.
    """
    if len(data) > TEXT_BYTES_MAX:
        raise ParseFailed(f"{label} holds more text than the limit of {TEXT_BYTES_MAX:,} bytes.")
    mark, encoding = next(
        ((mark, name) for mark, name in BYTE_ORDER_MARKS if data.startswith(mark)), (b"", _encoding_without_mark(data))
    )
    data = data[len(mark) :].rstrip(b"\x1a") if encoding == "utf-8" else data[len(mark) :]
    if encoding == "utf-8":
        if data.isascii():
            return data
        try:
            codecs.utf_8_decode(data, "strict", True)
            return data
        except UnicodeDecodeError:
            encoding = "cp1252"
    try:
        return data.decode(encoding).encode()
    except UnicodeError as error:
        raise InvalidFormat(
            f"{label} is no text in an encoding that is known: UTF-8, UTF-16 or Windows-1252."
        ) from error


def _encoding_without_mark(data: bytes) -> str:
    """Return the encoding of text without a mark.

    In UTF-16 nearly every second byte of a western text is zero.
    """
    head = data[:1024]
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if len(head) >= 4 and zeros.count(0) > 0.8 * len(zeros):
            return name
    return "utf-8"


def _delimiter(text: bytes, label: str) -> str:
    """Return the delimiter that parts the most lines into the same number of fields.

    Raises:
        NoTable: none does, or there is one line only.
    """
    sample = _sample(text)
    even = {delimiter: _even_lines(sample, delimiter) for delimiter in _DELIMITERS}
    best = max(even.values())
    if best < 2:
        if len(sample.splitlines()) == 1:
            raise NoTable(f"{label} is plain text of a single line; a table has a header and rows.")
        raise NoTable(f"{label} is plain text without columns: no delimiter parts its lines.")
    return next(delimiter for delimiter in _DELIMITERS if even[delimiter] >= _EVEN_SHARE * best)


def _sample(text: bytes) -> str:
    """Return the first lines, whole ones where there are several."""
    size = _SAMPLE_BYTES
    while len(text) > size and text.count(b"\n", 0, size) + text.count(b"\r", 0, size) < _SAMPLE_LINES_MIN:
        size *= 4
    sample = text[:size]
    if len(text) > size:
        end = max(sample.rfind(b"\n"), sample.rfind(b"\r")) + 1  # the last line is cut
        sample = sample[: end or size]
    return sample.decode(errors="ignore")


def _even_lines(sample: str, delimiter: str) -> int:
    """Return how many lines have the number of fields, two or more, that most of such have."""
    counts: Counter[int] = Counter()
    try:
        for number, fields in enumerate(csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)):
            if number == _SAMPLE_LINES:
                break
            counts[len(fields)] += len(fields) > 1
    except csv.Error:  # a field past the limit, which whoever reads it tells; its line is parted as those before it
        best = max(counts.values(), default=0)
        return best + 1 if best else 0
    return max(counts.values(), default=0)
