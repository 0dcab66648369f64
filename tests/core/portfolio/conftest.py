"""Sheets made from rows of plain values, so that these tests depend on no file and no reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.grid._intern import intern
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, Sheet, Workbook
from core.portfolio import Portfolio
from core.portfolio.cells.string_pool import Cells, StringPool
from core.values import ERROR_CODE, Kind, to_serial


@dataclass(frozen=True)
class Shown:
    """A number under a number format."""

    number: float
    number_format: str


Rows = Sequence[Sequence[Any]]
MakeSheet = Callable[..., Sheet]
MakeBook = Callable[..., Workbook]
MakeCells = Callable[..., Cells]
MapRows = Callable[..., Portfolio]


def sheet_from_rows(
    rows: Rows,
    name: str = "Holdings",
    *,
    index: int = 0,
    merged: Sequence[tuple[int, int, int, int]] = (),
    formats: list[str] | None = None,
    order: Callable[[list[str]], list[str]] = list,
    date_1904: bool = False,
) -> Sheet:
    """A sheet: strings, numbers, booleans, dates and error texts by their type.

    `order` arranges the text pool.
    """
    formats = ["General"] if formats is None else formats
    width = max((len(row) for row in rows), default=0)
    texts = [value for row in rows for value in row if isinstance(value, str) and value not in ERROR_CODE]
    pool = order(list(dict.fromkeys(texts)))
    _, offsets, data = intern(pool)
    codes = {text: code for code, text in enumerate(pool)}
    columns = []
    for at in range(width):
        kinds, numbers = np.zeros(len(rows), np.uint8), np.zeros(len(rows))
        local, shown = np.full(len(rows), -1, np.int32), np.zeros(len(rows), np.uint16)
        for row, values in enumerate(rows):
            value = values[at] if at < len(values) else None
            if isinstance(value, Shown):
                if value.number_format not in formats:
                    formats.append(value.number_format)
                shown[row] = formats.index(value.number_format)
                value = value.number
            if isinstance(value, str) and value in codes:
                kinds[row], local[row] = Kind.TEXT, codes[value]
            elif value is not None:
                kinds[row], numbers[row] = _kind_and_number(value, date_1904=date_1904)
        for array in (kinds, numbers, local, shown):
            array.setflags(write=False)
        columns.append(Column(0, kinds, numbers, local, shown))
    nothing = np.zeros(0, np.int32)
    formulas = Formulas(nothing, nothing, nothing, nothing, Text(np.zeros(1, np.int64), np.zeros(0, np.uint8)), {})
    return Sheet(name, index, "visible", tuple(columns), len(rows), Text(offsets, data), formulas, tuple(merged))


def _kind_and_number(value: Any, *, date_1904: bool) -> tuple[Kind, float]:
    """What a sheet stores of a boolean, a date, a number or the text of an error."""
    if isinstance(value, bool):
        return Kind.BOOLEAN, value
    if isinstance(value, date):
        return Kind.DATE, to_serial(value, date_1904=date_1904)
    if isinstance(value, int | float):
        return Kind.NUMBER, value
    return Kind.ERROR, ERROR_CODE[value]


@pytest.fixture
def shown() -> Callable[[float, str], Shown]:
    """Return a number under a number format, for a cell of a row."""
    return Shown


@pytest.fixture
def make_sheet() -> MakeSheet:
    return sheet_from_rows


@pytest.fixture
def make_book() -> MakeBook:
    """Return a workbook from keyword arguments: sheet name -> rows."""

    def make(sheets: dict[str, Rows], *, date_1904: bool = False, **options: Any) -> Workbook:
        formats = ["General"]
        book_sheets = tuple(
            sheet_from_rows(rows, name, index=index, formats=formats, date_1904=date_1904, **options)
            for index, (name, rows) in enumerate(sheets.items())
        )
        return Workbook(book_sheets, date_1904=date_1904, number_formats=tuple(formats))

    return make


@pytest.fixture
def make_cells() -> MakeCells:
    """Return one column's cells from its values."""

    def make(values: Sequence[Any], *, date_1904: bool = False) -> Cells:
        formats = ["General"]
        sheet = sheet_from_rows([[value] for value in values], formats=formats, date_1904=date_1904)
        pool = StringPool(sheet.text, tuple(formats), date_1904=date_1904)
        return Cells.of(sheet.columns[0], 0, len(values), pool)

    return make


@pytest.fixture
def map_rows(make_book: MakeBook) -> MapRows:
    """Return the portfolio of one holdings sheet."""

    def make(rows: Rows, **options: Any) -> Portfolio:
        return Portfolio.from_workbook(make_book({"Holdings": rows}, **options))

    return make
