"""Rows of plain values to sheets, and to .xlsx files of values and formulas alone."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice, zip_longest
from math import inf
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from core.files.limits import CELL_CHARACTERS_MAX, STYLES_MAX
from core.files.write.ranges import Range, disjoint
from core.files.write.styles import DAY_FORMAT, MOMENT_FORMAT
from core.files.write.xlsx import SheetPage, write_xlsx
from core.grid._intern import intern
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.column import Column, Text, column_of, frozen
from core.grid.sheet import Formulas, Sheet
from core.values import ERROR_CODE, Kind, to_serial

ROWS_AT_ONCE: Final = 10_000
"""Rows of `write_workbook_rows` that are in memory at one time."""

_INFINITE: Final = "a cell cannot hold an infinite number"


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula cell to be written.

    Its text with or without the leading '=', and the value that it last gave (an error as its text).
    """

    text: str
    value: float | str | bool | None = None


class Scalar(Protocol):
    """A NumPy scalar: `item()` gives Python's own."""

    def item(self) -> float | str | bool | None: ...


Value = None | str | float | bool | date | datetime | Formula | Scalar


@dataclass(frozen=True, slots=True)
class FormattedValue:
    """A value with a number format of its own."""

    value: Value
    code: str


Writable = Value | FormattedValue
"""What one written cell may be; a str is always text, also one that starts with '='. None and NaN are blank."""


class Formats:
    """A workbook's number formats, a table that grows. The first code is General."""

    def __init__(self, codes: Iterable[str] = ("General",)) -> None:
        self._codes = list(codes)
        self._places = {code: at for at, code in reversed(list(enumerate(self._codes)))}

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, at: int) -> str:
        return self._codes[at]

    def place(self, code: str) -> int:
        """Return the index of a code, which is added when it is new.

        Raises:
            ValueError: there are too many.
        """
        at = self._places.setdefault(code, len(self._codes))
        if at == len(self._codes):
            if at >= STYLES_MAX:
                raise ValueError(f"a workbook has at most {STYLES_MAX:,} number formats")
            self._codes.append(code)
        return at


def sheet_of(
    rows: Iterable[Sequence[Writable]],
    formats: Formats,
    *,
    name: str = "Sheet1",
    columns: Sequence[str | None] = (),
    first_row: int = 0,
    merged: Iterable[Range] = (),
    state: Literal["visible", "hidden", "veryHidden"] = "visible",
    date_1904: bool = False,
) -> Sheet:
    """Return the sheet of some rows; its number formats are added to `formats`.

    `columns` has a format code by column position; None or a missing position means General, or a plain date format
    under dates. Nothing but dates takes a date's format. `first_row` is where the first of the rows stands.

    Raises:
        ValueError: a row or column past the format's limits, an infinite number, text past 32,767 characters or with
            half a surrogate pair.
    """
    cells_of_sheet = _Cells(formats, columns, date_1904=date_1904)
    rows = iter(rows)
    while some := list(islice(rows, ROWS_AT_ONCE)):
        if first_row + len(some) > ROWS_MAX or max(map(len, some)) > COLUMNS_MAX:
            raise ValueError(f"a sheet holds at most {ROWS_MAX:,} rows and {COLUMNS_MAX:,} columns")
        for column, cells in enumerate(zip_longest(*some)):
            cells_of_sheet.put(first_row, column, cells)
        first_row += len(some)
    codes, text = _intern_texts(cells_of_sheet.texts)
    return Sheet(
        name=name,
        index=0,
        state=state,
        columns=tuple(column.to_column(codes) if column.rows else None for column in cells_of_sheet.columns),
        row_count=max((column.rows[-1] + 1 for column in cells_of_sheet.columns if column.rows), default=0),
        text=text,
        formulas=cells_of_sheet.formulas(),
        merged=tuple(merged),
    )


class _ColumnCells:
    """The cells of a column, from the top."""

    __slots__ = ("format", "formats", "kinds", "numbers", "rows", "texts")

    def __init__(self, own_format: int) -> None:
        self.format = own_format
        self.rows, self.kinds, self.formats = array("i"), array("B"), array("H")
        self.numbers, self.texts = array("d"), array("i")

    def extend(
        self, rows: NDArray[np.int32], kind: Kind, numbers: NDArray[np.float64], texts: NDArray[np.int32]
    ) -> None:
        """Put cells of one kind below the others."""
        self.rows.frombytes(rows.tobytes())
        self.kinds.frombytes(bytes([kind]) * len(rows))
        self.numbers.frombytes(numbers.tobytes())
        self.texts.frombytes(texts.tobytes())
        self.formats.extend([self.format] * len(rows))

    def to_column(self, codes: NDArray[np.int32]) -> Column:
        places = np.frombuffer(self.texts, np.int32)
        return column_of(
            np.frombuffer(self.rows, np.int32),
            np.frombuffer(self.kinds, np.uint8),
            np.frombuffer(self.numbers, np.float64),
            np.where(places >= 0, codes[places], np.int32(-1)) if len(codes) else places.copy(),
            np.frombuffer(self.formats, np.uint16),
        )


class _Cells:
    """Cells as they come, some rows at a time and of these column by column.

    Most columns hold one kind of value.
    """

    def __init__(self, formats: Formats, columns: Sequence[str | None], *, date_1904: bool) -> None:
        self.known = formats
        self.codes = columns
        self.date_1904 = date_1904
        self.columns: list[_ColumnCells] = []
        self.texts: list[str] = []
        self.formula_rows, self.formula_columns = array("i"), array("i")
        self.formula_texts: list[str] = []

    def put(self, row: int, column: int, cells: Sequence[Writable]) -> None:
        """Put cells that stand below each other, the first of them in `row`."""
        if column >= len(self.columns):
            code = self.codes[column] if column < len(self.codes) else None
            self.columns.append(_ColumnCells(self.known.place(code) if code else 0))
        types = set(map(type, cells)) - {NoneType}
        if types == {float}:
            self._put_numbers(row, self.columns[column], np.array(cells, np.float64))
        elif types == {str}:
            self._put_texts(row, self.columns[column], cells)
        elif types:
            for at, value in enumerate(cells, row):
                if isinstance(value, FormattedValue):
                    self._put(at, column, value.value, self.known.place(value.code))
                elif value is not None:
                    self._put(at, column, value, self.columns[column].format)

    def _put_numbers(self, row: int, column: _ColumnCells, numbers: NDArray[np.float64]) -> None:
        if np.isinf(numbers).any():
            raise ValueError(_INFINITE)
        rows = np.flatnonzero(~np.isnan(numbers)).astype(np.int32)
        column.extend(rows + np.int32(row), Kind.NUMBER, numbers[rows], np.full(len(rows), -1, np.int32))

    def _put_texts(self, row: int, column: _ColumnCells, cells: Sequence[Any]) -> None:
        rows = np.array([at for at, text in enumerate(cells, row) if text is not None], np.int32)
        first = self._texts([text for text in cells if text is not None])
        column.extend(rows, Kind.TEXT, np.zeros(len(rows)), np.arange(first, first + len(rows), dtype=np.int32))

    def _put(self, row: int, column: int, value: Value, number_format: int) -> None:
        kind, number, text = Kind.NUMBER, 0.0, -1
        if isinstance(value, str):
            kind, text = Kind.TEXT, self._texts([value])
        elif isinstance(value, bool):
            kind, number = Kind.BOOLEAN, float(value)
        elif isinstance(value, int | float):
            number = float(value)
            if number != number:
                return
            if number in (inf, -inf):
                raise ValueError(_INFINITE)
        elif isinstance(value, date):
            kind, number = Kind.DATE, to_serial(value, date_1904=self.date_1904)
            plain = MOMENT_FORMAT if isinstance(value, datetime) else DAY_FORMAT
            number_format = number_format or self.known.place(plain)
        elif isinstance(value, Formula):
            self._put_formula(row, column, value, number_format)
            return
        elif value is not None:
            self._put(row, column, value.item(), number_format)
            return
        else:
            kind = Kind.BLANK
        target = self.columns[column]
        target.rows.append(row)
        target.kinds.append(kind)
        target.numbers.append(number)
        target.texts.append(text)
        target.formats.append(number_format)

    def _put_formula(self, row: int, column: int, formula: Formula, number_format: int) -> None:
        self.formula_rows.append(row)
        self.formula_columns.append(column)
        self.formula_texts.append(formula.text.removeprefix("="))
        value = None if formula.value is None or formula.value != formula.value else formula.value
        if isinstance(value, str) and value in ERROR_CODE:
            self._put(row, column, float(ERROR_CODE[value]), number_format)
            self.columns[column].kinds[-1] = Kind.ERROR
        else:
            self._put(row, column, value, number_format)

    def _texts(self, texts: list[str]) -> int:
        """Keep some texts; the place of the first."""
        for text in texts if max(map(len, texts)) * 2 > CELL_CHARACTERS_MAX else ():
            if len(text.encode("utf-16-le")) > 2 * CELL_CHARACTERS_MAX:
                raise ValueError(f"a cell holds at most {CELL_CHARACTERS_MAX:,} characters")
        self.texts.extend(texts)
        return len(self.texts) - len(texts)

    def formulas(self) -> Formulas:
        codes, text = _intern_texts(self.formula_texts)
        rows, columns = (np.frombuffer(places, np.int32) for places in (self.formula_rows, self.formula_columns))
        order = np.lexsort((columns, rows))
        own = frozen(np.arange(len(rows), dtype=np.int32))
        return Formulas(frozen(rows[order]), frozen(columns[order]), frozen(codes[order]), own, text, {})


def _intern_texts(texts: list[str]) -> tuple[NDArray[np.int32], Text]:
    codes, offsets, data = intern(texts)
    return frozen(codes), Text(frozen(offsets), frozen(data))


def write_workbook_rows(
    path: Path | str,
    sheets: Mapping[str, Iterable[Sequence[Writable]]],
    number_formats: Mapping[str, Sequence[str | None]] | None = None,
    merged: Mapping[str, Iterable[Range]] | None = None,
) -> None:
    """Write an .xlsx file.

    `sheets` is sheet name -> iterable of rows, each taken once, in order.

    `number_formats` is sheet name -> format code per column position, as `sheet_of` has it. `merged` is sheet name ->
    ranges as (first row, first column, last row, last column), 0-based; the cells below the first of a range should be
    None. The file's bytes depend on the arguments alone; a file that fails is not left behind.

    Raises:
        ValueError: a bad sheet name, overlapping merged ranges, or as `sheet_of`.
        OSError: the file cannot be written.
    """
    formats = Formats()
    pages = []
    for name, rows in sheets.items():
        ranges = list((merged or {}).get(name, ()))
        if len(disjoint(ranges)) < len(ranges):
            raise ValueError(f"a merged range of {name!r} overlaps another")
        parts = _parts(iter(rows), formats, columns=(number_formats or {}).get(name, ()))
        first = sheet_of((), formats, name=name, merged=ranges)
        pages.append(SheetPage(name, first, styled=False, widths=None, more=parts))
    write_xlsx(path, pages, number_formats=formats)


def _parts(rows: Iterator[Sequence[Writable]], formats: Formats, *, columns: Sequence[str | None]) -> Iterator[Sheet]:
    first_row = 0
    while some := list(islice(rows, ROWS_AT_ONCE)):
        yield sheet_of(some, formats, columns=columns, first_row=first_row)
        first_row += len(some)
