"""A plain, slow twin of the canonical hash, cell by cell, from its definition."""

from __future__ import annotations

import struct
from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256

from core.formula.language import parse
from core.grid.sheet import Sheet, Workbook
from core.provenance.formulas import normal_form
from core.values import ERRORS, Kind

BOOLEAN_FORMATS = ("BOOLEAN", '"TRUE";"TRUE";"FALSE"')


def rounded(number: float) -> float:
    digits = Decimal(repr(number))
    if number == 0 or len(digits.as_tuple().digits) <= 15:
        return number + 0.0
    last = Decimal((0, (1,), digits.adjusted() - 14))
    return float(Decimal(round_half_up(digits / last)) * last)


def round_half_up(number: Decimal) -> Decimal:
    return number.quantize(Decimal(1), rounding=ROUND_HALF_UP)


def number(kind: bytes, value: float) -> bytes:
    return kind + struct.pack("<d", rounded(value))


def counted(text: str) -> bytes:
    data = text.replace("\r\n", "\n").encode()
    return struct.pack("<I", len(data)) + data


def error(text: str) -> bytes:
    return b"e" + bytes([len(text)]) + text.encode()


def number_format(book: Workbook, sheet: Sheet, row: int, column: int) -> str:
    held = sheet.columns[column]
    assert held is not None
    return book.number_formats[int(held.held.formats[held.slot(row)])]


def record(book: Workbook, sheet: Sheet, row: int, column: int, *, covered: bool = True) -> bytes:
    """A cell's record without its row; empty where it has none."""
    text, value, kind = sheet.formula(row, column), sheet.value(row, column), sheet.kind(row, column)
    if text is not None:
        form = normal_form(parse("=" + text, row, column), sheet.name)
        areas = {int(at): area for at, area in sheet.formulas.arrays.items()}
        at = list(zip(sheet.formulas.rows, sheet.formulas.columns, strict=True)).index((row, column))
        if at in areas:
            first, _, last = areas[at].partition(":")
            high, wide = extent(first, last or first)
            head = b"a" + struct.pack("<II", high, wide) + counted(form)
        elif form in ("true()", "false()"):
            return b"b" + bytes([form == "true()"])
        elif form in ERRORS:
            return error(form)
        else:
            head = b"f" + counted(form)
        if not covered:
            return head + b"v"
        if isinstance(value, str) and kind == Kind.ERROR:
            return head + error(value)
        if isinstance(value, str):
            return head + (b"t" + counted(value) if value else b"-")
        return head + (b"-" if value is None else number(b"n", float(value)))
    if not covered:
        return b"v"
    if value is None or value == "":
        return b""
    if isinstance(value, bool):
        return b"b" + bytes([value])
    if isinstance(value, float):
        if kind == Kind.NUMBER and value in (0, 1) and number_format(book, sheet, row, column) in BOOLEAN_FORMATS:
            return b"b" + bytes([value == 1])
        return number(b"d" if kind == Kind.DATE else b"n", value)
    return error(value) if kind == Kind.ERROR else b"t" + counted(value)


def extent(first: str, last: str) -> tuple[int, int]:
    (top, left), (bottom, right) = (split(name) for name in (first, last))
    return bottom - top + 1, right - left + 1


def split(name: str) -> tuple[int, int]:
    letters = name.rstrip("0123456789")
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return int(name[len(letters) :]), column


def sheet_hash(book: Workbook, sheet: Sheet, uncovered: Collection[tuple[str, int, int]] = ()) -> bytes:
    rows = max(sheet.row_count, *(int(row) + 1 for row in sheet.formulas.rows), 0, 0)
    columns = max(sheet.column_count, *(int(column) + 1 for column in sheet.formulas.columns), 0, 0)
    whole = b""
    for column in range(columns):
        found = [
            (row, record(book, sheet, row, column, covered=(sheet.name, row, column) not in uncovered))
            for row in range(rows)
        ]
        records = [struct.pack("<I", row) + told for row, told in found if told]
        if records:
            whole += struct.pack("<IQ", column, len(records)) + sha256(b"".join(records)).digest()
    return sha256(whole).digest()


def data_hash(
    book: Workbook,
    names: list[tuple[str, str]] | None = None,
    uncovered: Collection[tuple[str, int, int]] = (),
) -> str:
    """Of all sheets; `names` are the used names with the normal forms of what they stand for, in order."""
    data = b"svc_hash_v1\0" + bytes([book.date_1904]) + struct.pack("<I", len(book.sheets))
    for sheet in book.sheets:
        data += counted(sheet.name) + sheet_hash(book, sheet, uncovered)
    data += sha256(b"".join(counted(name) + counted(form) for name, form in names or ())).digest()
    return sha256(data).hexdigest()
