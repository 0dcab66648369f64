"""A plain, slow twin of the canonical hash, cell by cell, from its definition."""

from __future__ import annotations

import struct
from collections.abc import Collection
from decimal import ROUND_HALF_UP, Decimal
from hashlib import sha256

from core.formula.language import parse
from core.grid.address import parse_range
from core.grid.sheet import Sheet, Workbook
from core.provenance.formulas import normal_form
from core.values import ERRORS, Kind

BOOLEAN_FORMATS = ("BOOLEAN", '"TRUE";"TRUE";"FALSE"')


def rounded(number: float, digits: int = 15) -> float:
    shortest = Decimal(repr(number))
    if number == 0:
        return 0.0
    last = Decimal((0, (1,), shortest.adjusted() - digits + 1))
    return float((shortest / last).quantize(Decimal(1), rounding=ROUND_HALF_UP) * last)


def number(kind: bytes, value: float, *, of_array: bool = False) -> bytes:
    return kind + struct.pack("<d", rounded(rounded(value), 10) if of_array else rounded(value))


def counted(text: str) -> bytes:
    data = text.replace("\r\n", "\n").encode()
    return struct.pack("<I", len(data)) + data


def error(text: str) -> bytes:
    return b"e" + bytes([len(text)]) + text.encode()


def number_format(book: Workbook, sheet: Sheet, row: int, column: int) -> str:
    own_column = sheet.columns[column]
    assert own_column is not None
    return book.number_formats[int(own_column.dense.formats[own_column.slot(row)])]


def result(value: object, kind: Kind, *, of_array: bool) -> bytes:
    """What a formula gave."""
    if isinstance(value, str) and kind == Kind.ERROR:
        return error(value)
    if isinstance(value, str):
        left = value.strip(" \t\r\n")
        return b"t" + counted(left) if left else b""
    return b"" if value is None else number(b"n", float(value), of_array=of_array)  # type: ignore[arg-type]


def record(book: Workbook, sheet: Sheet, row: int, column: int, *, covered: bool = True) -> bytes:
    """A cell's record without its row; empty where it has none."""
    text, value, kind = sheet.formula(row, column), sheet.value(row, column), sheet.kind(row, column)
    formulas = sheet.formulas
    places = list(zip(formulas.rows.tolist(), formulas.columns.tolist(), strict=True))
    areas = {places[at]: parse_range(area) for at, area in formulas.arrays.items()}
    if text is not None:
        form = normal_form(parse("=" + text, row, column), sheet.name)
        of_array = (row, column) in areas
        if of_array:
            top, left, bottom, right = areas[row, column]
            head = b"a" + struct.pack("<II", bottom - top + 1, right - left + 1) + counted(form)
        elif form in ("true()", "false()"):
            return b"b" + bytes([form == "true()"])
        elif form in ERRORS:
            return error(form)
        else:
            head = b"f" + counted(form)
        return head + ((result(value, kind, of_array=of_array) or b"-") if covered else b"v")
    if not covered:
        return b""
    if any(top <= row <= bottom and left <= column <= right for top, left, bottom, right in areas.values()):
        return result(value, kind, of_array=True)
    if value is None or value == "":
        return b""
    if isinstance(value, bool):
        return b"b" + bytes([value])
    if isinstance(value, float):
        if kind == Kind.NUMBER and value in (0, 1) and number_format(book, sheet, row, column) in BOOLEAN_FORMATS:
            return b"b" + bytes([value == 1])
        return number(b"d" if kind == Kind.DATE else b"n", value)
    return error(value) if kind == Kind.ERROR else b"t" + counted(value)


def sheet_hash(book: Workbook, sheet: Sheet, uncovered: Collection[tuple[str, int, int]] = ()) -> bytes:
    rows = max(sheet.row_count, *(int(row) + 1 for row in sheet.formulas.rows), 0, 0)
    columns = max(sheet.column_count, *(int(column) + 1 for column in sheet.formulas.columns), 0, 0)
    whole = b""
    for column in range(columns):
        outcome = [
            (row, record(book, sheet, row, column, covered=(sheet.name, row, column) not in uncovered))
            for row in range(rows)
        ]
        records = [struct.pack("<I", row) + answer for row, answer in outcome if answer]
        if records:
            whole += struct.pack("<IQ", column, len(records)) + sha256(b"".join(records)).digest()
    return sha256(whole).digest()


def data_hash(
    book: Workbook, names: list[tuple[str, str]] | None = None, uncovered: Collection[tuple[str, int, int]] = ()
) -> str:
    """Of all sheets; `names` are the used names with the normal forms of what they stand for, in order."""
    data = b"svc_hash_v1\0" + bytes([book.date_1904]) + struct.pack("<I", len(book.sheets))
    for sheet in book.sheets:
        data += counted(sheet.name) + sheet_hash(book, sheet, uncovered)
    data += sha256(b"".join(counted(name) + counted(form) for name, form in names or ())).digest()
    return sha256(data).hexdigest()
