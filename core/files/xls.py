""".xls files to a workbook: what python-calamine gives of them.

That is values and dates; error cells come as blanks, number formats only as "a date" or not, and formulas not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Final

import numpy as np
import python_calamine
from numpy.typing import NDArray

from core.files.errors import ParseFailed, TooManySheets
from core.files.limits import SHEETS_MAX, SLOTS_MAX
from core.files.parts import SheetState
from core.grid._intern import intern
from core.grid.address import COLUMNS_MAX
from core.grid.column import Column, Text, column_of, frozen
from core.grid.sheet import Formulas, Sheet, Workbook
from core.values import Kind, to_serial

_FORMATS: Final = ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "[h]:mm:ss")
_DATE, _MOMENT, _DURATION = 1, 2, 3

Cell = int | float | str | bool | time | date | datetime | timedelta


def read_xls(path: Path | str) -> Workbook:
    """Read an .xls file. Dates come in the 1900 system whatever the file's own.

    Raises:
        TooManySheets: more worksheets than the limit.
        ParseFailed: damaged, password-protected, or past another limit.
    """
    try:
        book = python_calamine.CalamineWorkbook.from_path(str(path))
        found = [sheet for sheet in book.sheets_metadata if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet]
        if len(found) > SHEETS_MAX:
            raise TooManySheets(f"The workbook has {len(found)} sheets; the limit is {SHEETS_MAX}.")
        slots = 0
        sheets = []
        for index, sheet in enumerate(found):
            sheets.append(_sheet(book.get_sheet_by_name(sheet.name), index, _state(sheet)))
            slots += sum(column.stop - column.start for column in sheets[-1].columns if column is not None)
            if slots > SLOTS_MAX:
                raise ParseFailed(
                    f"The workbook's sheets span more cells than the limit of {SLOTS_MAX:,}, blanks between the first "
                    f"and the last of each column counted; with sheet {sheet.name!r} it is {slots:,}."
                )
    except python_calamine.PasswordError as error:
        raise ParseFailed("The file is password-protected; remove the password and upload it again.") from error
    except (python_calamine.CalamineError, ValueError, OverflowError) as error:
        if isinstance(error, (TooManySheets, ParseFailed)):
            raise
        raise ParseFailed("The file is damaged: its workbook cannot be read.") from error
    return Workbook(tuple(sheets), number_formats=_FORMATS)


def _state(sheet: python_calamine.SheetMetadata) -> SheetState:
    if sheet.visible == python_calamine.SheetVisibleEnum.Hidden:
        return "hidden"
    return "veryHidden" if sheet.visible == python_calamine.SheetVisibleEnum.VeryHidden else "visible"


def _sheet(source: python_calamine.CalamineSheet, index: int, state: SheetState) -> Sheet:
    if source.total_width > COLUMNS_MAX:  # a damaged cell may stand anywhere
        raise ParseFailed(
            f"Sheet {source.name!r} has a cell past column {COLUMNS_MAX:,}, the limit of columns per sheet."
        )
    rows = source.to_python(skip_empty_area=False)
    texts: list[str | None] = []
    found = [_cells(cells, texts) for cells in zip(*rows, strict=True)]
    codes, offsets, data = intern(texts)
    columns: list[Column | None] = []
    at = 0
    for places, kinds, numbers, formats in found:
        own = codes[at : at + len(places)].copy()
        columns.append(column_of(places, kinds, numbers, own, formats) if len(places) else None)
        at += len(places)
    while columns and columns[-1] is None:
        columns.pop()
    return Sheet(
        name=source.name,
        index=index,
        state=state,
        columns=tuple(columns),
        row_count=max((column.stop for column in columns if column is not None), default=0),
        text=Text(frozen(offsets), frozen(data)),
        formulas=_no_formulas(),
        merged=tuple((top, left, bottom, right) for (top, left), (bottom, right) in source.merged_cell_ranges or ()),
    )


def _cells(
    cells: Iterable[Cell], texts: list[str | None]
) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64], NDArray[np.uint16]]:
    """Rows, kinds, numbers and formats of one column's cells; their strings are appended to `texts`, one item each."""
    found = [(row, *_cell(value)) for row, value in enumerate(cells) if value != ""]
    rows, kinds, numbers, strings, formats = zip(*found, strict=True) if found else ((),) * 5
    texts.extend(strings)
    return (
        np.array(rows, np.int32),
        np.array(kinds, np.uint8),
        np.array(numbers, np.float64),
        np.array(formats, np.uint16),
    )


def _cell(value: Cell) -> tuple[Kind, float, str | None, int]:
    if isinstance(value, str):
        return (Kind.TEXT, 0.0, value, 0) if value else (Kind.BLANK, 0.0, None, 0)
    if isinstance(value, bool):
        return Kind.BOOLEAN, float(value), None, 0
    if isinstance(value, (int, float)):
        return Kind.NUMBER, float(value), None, 0
    if isinstance(value, timedelta):
        return Kind.DATE, value / timedelta(days=1), None, _DURATION
    if isinstance(value, time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        return Kind.DATE, seconds / 86_400, None, _DURATION
    return Kind.DATE, to_serial(value), None, _MOMENT if isinstance(value, datetime) else _DATE


def _no_formulas() -> Formulas:
    empty = frozen(np.empty(0, np.int32))
    return Formulas(empty, empty, empty, empty, Text(frozen(np.zeros(1, np.int64)), frozen(np.empty(0, np.uint8))), {})
