"""One row of the sheet with the loans, each column with header, field and value."""

from __future__ import annotations

from datetime import time
from typing import Final, NamedTuple

from msgspec import Struct

from core.grid.address import column_name
from core.grid.sheet import Sheet, Workbook
from core.portfolio.mapping.sheet_loans import read_loans
from core.portfolio.model.fields import Mapping
from core.portfolio.sheets.locate import locate
from core.portfolio.sheets.located import LocatedTable
from core.values import Kind, from_serial

CELLS_MAX: Final = 500
"""Cells of one row; a sheet may have sixteen thousand columns."""
TEXT_CHARACTERS_MAX: Final = 1_000
"""Of a text or a header; a longer one is cut."""

Value = float | str | bool | None


class SourceCell(Struct, frozen=True):
    """A cell of a loan's row."""

    column: str
    """The letters of its column: B."""
    header: str | None
    """The header of its column as written. Null: it has none."""
    field: str | None
    """The loan's field that the column feeds. Null: none."""
    value: Value
    """What it shows; an error as its text (#N/A), a date as ISO 8601. Null: blank."""


class SourceRow(Struct, frozen=True):
    """A loan's row."""

    sheet: str
    """The name of the sheet with the loans."""
    row: int
    """Its number, from 1."""
    cells: list[SourceCell]
    page: int | None = None
    """Page of the document on which it stands, from 1. Null: the file has no pages."""
    line: int | None = None
    """Its line on the page, from 1. Null: see `page`."""


class LoanTable(NamedTuple):
    """The table with the loans of a workbook, once they are read."""

    table: LocatedTable
    fields: dict[int, str]
    """The field that each column feeds: of several with a field's heading the one whose cells are that field."""


def locate_loans(book: Workbook, mapping: Mapping) -> LoanTable | None:
    """Return the table with the loans of a workbook by a mapping; None without one."""
    located = locate(book, mapping)
    if located.loans is None:
        return None
    columns = read_loans(located, located.loans).reader.columns
    return LoanTable(located.loans, {column: target for target, column in columns.items()})


def row_of(book: Workbook, loans: LoanTable, row: int) -> SourceRow | None:
    """Return a row (from 1) of the table with the loans; None for other rows.

    Columns without a header and without a value are left out.
    """
    at = row - 1
    table, fields = loans
    if not table.header.row < at < table.sheet.row_count:
        return None
    cells = []
    for column in range(table.sheet.column_count):
        header, value = table.header.texts.get(column), _value(book, table.sheet, at, column)
        if header is not None or value is not None:
            text = _shorten(value) if isinstance(value, str) else value
            cells.append(SourceCell(column_name(column), _shorten(header or "") or None, fields.get(column), text))
        if len(cells) == CELLS_MAX:
            break
    return SourceRow(table.sheet.name, row, cells, *(table.sheet.page_line(at) or ()))


def _value(book: Workbook, sheet: Sheet, row: int, column: int) -> Value:
    value = sheet.value(row, column)
    if isinstance(value, float) and sheet.kind(row, column) == Kind.DATE:
        moment = from_serial(value, date_1904=book.date_1904)
        if moment is not None:
            return moment.date().isoformat() if moment.time() == time() else moment.isoformat(timespec="seconds")
    return value


def _shorten(text: str) -> str:
    return text if len(text) <= TEXT_CHARACTERS_MAX else text[: TEXT_CHARACTERS_MAX - 3] + "..."
