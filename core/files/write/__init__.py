"""Rows to .xlsx through xlsxwriter, in constant memory."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from xlsxwriter import Workbook as Writer
from xlsxwriter.exceptions import XlsxInputError
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.values import to_serial

CELL_CHARACTERS_MAX: Final = 32_767
"""Longest text that a spreadsheet cell holds, in UTF-16 units."""

_DATE_FORMAT: Final = "yyyy-mm-dd"
_MOMENT_FORMAT: Final = "yyyy-mm-dd hh:mm:ss"
_CREATED: Final = datetime(1980, 1, 1)  # noqa: DTZ001 - a fixed day: the bytes do not depend on the clock


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula cell to be written: its text with or without the leading '=', and the value that it last gave (an
    error as its text)."""

    text: str
    value: float | str | bool | None = None


class Scalar(Protocol):
    """A NumPy scalar: `item()` gives Python's own."""

    def item(self) -> float | str | bool | None: ...


Writable = None | str | float | bool | date | datetime | Formula | Scalar
"""What one written cell may be; a str is always text, also one that starts with '='. None and NaN are blank."""


def write_workbook_rows(
    path: Path | str,
    sheets: Mapping[str, Iterable[Sequence[Writable]]],
    number_formats: Mapping[str, Sequence[str | None]] | None = None,
    merged: Mapping[str, Iterable[tuple[int, int, int, int]]] | None = None,
) -> None:
    """Write an .xlsx file; `sheets` is sheet name -> iterable of rows, each taken once, in order.

    `number_formats` is sheet name -> format code per column position; None or a missing position means General, or a
    plain date format under dates. `merged` is sheet name -> ranges as (first row, first column, last row, last
    column), 0-based; the cells below the first of a range should be None. The file's bytes depend on the arguments
    alone; the rows wait in the folder for temporary files, so a file that fails is not left behind.

    Raises:
        ValueError: a bad sheet name, a row or column past the format's limits, overlapping merged ranges, an infinite
            number, text past 32,767 characters or with half a surrogate pair.
        OSError: the file cannot be written.
    """
    if not sheets or not all(name and name.isprintable() for name in sheets):
        raise ValueError("a workbook has at least one sheet, and each a printable name")
    with TemporaryDirectory(prefix="cushion-") as folder:
        made = Path(folder) / "made.xlsx"
        with Writer(str(made), {"constant_memory": True, "use_zip64": True, "tmpdir": folder}) as book:
            book.set_properties({"created": _CREATED})
            try:
                for name, rows in sheets.items():
                    page = book.add_worksheet(name)
                    # Before the rows: without a value or a style the library only notes the range.
                    for corners in (merged or {}).get(name, ()):
                        page.merge_range(*corners, "")
                    _write_rows(page, rows, _Styles(book, (number_formats or {}).get(name, ())))
            except XlsxInputError as error:
                raise ValueError(str(error)) from error
        shutil.move(made, path)


class _Styles:
    """The cell styles of a sheet's columns, and those of dates in columns that have none."""

    def __init__(self, book: Writer, codes: Sequence[str | None]) -> None:
        made: dict[str, Format] = {}
        for code in (_DATE_FORMAT, _MOMENT_FORMAT, *codes):
            if code and code not in made:
                made[code] = book.add_format({"num_format": code})
        self.columns = [made[code] if code else None for code in codes]
        self.date, self.moment = made[_DATE_FORMAT], made[_MOMENT_FORMAT]


class _Exact(float):
    """A number that the library writes with all its digits: its own sixteen do not always name a double."""

    def __format__(self, _: str) -> str:
        return float.__repr__(self)


def _write_rows(page: Worksheet, rows: Iterable[Sequence[Writable]], styles: _Styles) -> None:
    for row, cells in enumerate(rows):
        if row >= ROWS_MAX or len(cells) > COLUMNS_MAX:
            raise ValueError(f"a sheet holds at most {ROWS_MAX:,} rows and {COLUMNS_MAX:,} columns")
        styles.columns += [None] * (len(cells) - len(styles.columns))
        for column, value in enumerate(cells):
            if value is not None:
                _write_cell(page, row, column, value, styles)


def _write_cell(page: Worksheet, row: int, column: int, value: Writable, styles: _Styles) -> None:
    style = styles.columns[column]
    if isinstance(value, str):
        _write_text(page, row, column, value, style)
    elif isinstance(value, bool):
        page.write_boolean(row, column, value, style)
    elif isinstance(value, int | float):
        if value == value:
            page.write_number(row, column, _Exact(_finite(value)), style)
    elif isinstance(value, date):
        dated = styles.moment if isinstance(value, datetime) else styles.date
        page.write_number(row, column, _Exact(to_serial(value)), style or dated)
    elif isinstance(value, Formula):
        last = value.value
        # The library writes an empty text where nothing is known, and zero where nothing is said.
        known = "" if last is None or last != last else last if isinstance(last, str) else _finite(last)
        page.write_formula(row, column, value.text, style, known)
    elif value is not None:
        _write_cell(page, row, column, value.item(), styles)


def _write_text(page: Worksheet, row: int, column: int, text: str, style: Format | None) -> None:
    text.encode()  # half a surrogate pair is refused here, not in the middle of a row
    if text.startswith("<r>") and text.endswith("</r>"):
        # The library would take this for its own markup of rich text; in runs it is text again.
        status = page.write_rich_string(row, column, "<", "r", text[2:], *([style] if style else []))
    else:
        status = page.write_string(row, column, text, style)
    if status != 0:
        raise ValueError(f"a cell holds at most {CELL_CHARACTERS_MAX:,} characters")


def _finite(value: float) -> float:
    if value in (math.inf, -math.inf):
        raise ValueError("a cell cannot hold an infinite number")
    return value
