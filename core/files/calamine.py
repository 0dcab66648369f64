""".xls and .xlsb files to a workbook: what python-calamine gives of them.

That is values and dates; number formats only as "a date" or not, and formulas not at all. Error cells come as blanks:
those of an .xls file are read beside it (`biff`).
A damaged file may end the process that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta
from io import BytesIO
from itertools import chain, islice, repeat
from typing import Final

import numpy as np
import python_calamine
from numpy.typing import NDArray

from core.files._cells import binary_extent
from core.files.archive import Archive
from core.files.biff import Errors, sheet_errors
from core.files.errors import FileRefused, ParseFailed, TooManySheets
from core.files.limits import SHEETS_MAX, SLOTS_MAX, TEXT_BYTES_MAX
from core.files.parts import SheetState, parse_relationships, relationships_name
from core.files.source import Content, content_bytes
from core.grid._intern import intern
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.column import Column, Text, column_of, frozen
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.values import Kind, to_serial

_FORMATS: Final = ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "[h]:mm:ss", "hh:mm:ss")
_DATE, _MOMENT, _DURATION, _TIME = 1, 2, 3, 4

Cell = int | float | str | bool | time | date | datetime | timedelta


BINARY_BOOK: Final = "xl/workbook.bin"
"""The part that an .xlsb file has and no other."""

_NO_SHEETS: Final = ("styles", "sharedStrings", "theme", "vbaProject")
_ROWS_AT_ONCE: Final = 10_000


def read_xls(content: Content) -> Workbook:
    """Read an .xls file. Dates come in the 1900 system whatever the file's own.

    Raises:
        TooManySheets: more worksheets than the limit.
        ParseFailed: damaged, password-protected, or past another limit.
    """
    return _read(content, sheet_errors)


def read_xlsb(content: Content) -> Workbook:
    """Read an .xlsb file, likewise; a macro in it is left alone.

    Raises:
        TooManySheets, ParseFailed: as `read_xls`.
    """
    _check_extents(content)
    return _read(content, lambda _: [])


def _check_extents(content: Content) -> None:
    """Refuse an .xlsb file whose sheets are too wide or too long.

    Calamine takes memory for each cell from the first to the last before it gives any.
    """
    with Archive(content) as archive:
        name = relationships_name(BINARY_BOOK)
        links = parse_relationships(archive.read(name), BINARY_BOOK) if name in archive else {}
        slots = 0
        for target in sorted({link.target for link in links.values() if link.kind not in _NO_SHEETS}):
            if not target.endswith(".bin") or target not in archive:
                continue
            if archive.size_of(target) > TEXT_BYTES_MAX:
                raise ParseFailed(f"The part {target!r} is larger than the limit of {TEXT_BYTES_MAX:,} bytes.")
            rows, columns = binary_extent(b"".join(archive.chunks(target)))
            if rows > ROWS_MAX or columns > COLUMNS_MAX:
                raise ParseFailed(
                    f"A sheet of the workbook has a cell past row {ROWS_MAX:,} or column {COLUMNS_MAX:,}, the limits."
                )
            slots += rows * columns
            if slots > SLOTS_MAX:
                raise ParseFailed(
                    f"The workbook's sheets span more cells than the limit of {SLOTS_MAX:,}, counted from the first "
                    f"row and column to the last; it is {slots:,}."
                )


def _read(content: Content, errors_of: Callable[[bytes], list[Errors]]) -> Workbook:
    data = content_bytes(content)  # in memory, so that an OSError is the file's fault and not the machine's
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(data))
        return Workbook(tuple(_sheets(book, errors_of(data))), number_formats=_FORMATS)
    except python_calamine.PasswordError as error:
        raise ParseFailed("The file is password-protected; remove the password and upload it again.") from error
    except FileRefused:
        raise
    except (python_calamine.CalamineError, OSError, ValueError, OverflowError, LookupError, TypeError) as error:
        raise ParseFailed("The file is damaged: its workbook cannot be read.") from error


def _sheets(book: python_calamine.CalamineWorkbook, errors: list[Errors]) -> Iterator[Sheet]:
    """Yield its worksheets; `errors` are of all sheets in their order.

    Raises:
        TooManySheets, ParseFailed: past a limit.
    """
    listed = zip(book.sheets_metadata, chain(errors, repeat({})), strict=False)
    sheets = [(sheet, own) for sheet, own in listed if sheet.typ == python_calamine.SheetTypeEnum.WorkSheet]
    if len(sheets) > SHEETS_MAX:
        raise TooManySheets(f"The workbook has {len(sheets)} sheets; the limit is {SHEETS_MAX}.")
    slots = 0
    for index, (sheet, own) in enumerate(sheets):
        source = book.get_sheet_by_name(sheet.name)
        slots += source.total_height * source.total_width  # each of them is walked through
        if slots > SLOTS_MAX:
            raise ParseFailed(
                f"The workbook's sheets span more cells than the limit of {SLOTS_MAX:,}, counted from the first row "
                f"and column to the last; with sheet {sheet.name!r} it is {slots:,}."
            )
        yield _sheet(source, index, _state(sheet), own)


def _state(sheet: python_calamine.SheetMetadata) -> SheetState:
    if sheet.visible == python_calamine.SheetVisibleEnum.Hidden:
        return "hidden"
    return "veryHidden" if sheet.visible == python_calamine.SheetVisibleEnum.VeryHidden else "visible"


def _sheet(source: python_calamine.CalamineSheet, index: int, state: SheetState, errors: Errors) -> Sheet:
    if source.total_width > COLUMNS_MAX:  # a damaged cell may stand anywhere
        raise ParseFailed(
            f"Sheet {source.name!r} has a cell past column {COLUMNS_MAX:,}, the limit of columns per sheet."
        )
    rows = source.iter_rows()
    parts: list[list[_Cells]] = []
    first = 0
    left = source.start[1] if source.start else 0  # rows come from the first of the sheet on, columns do not
    while block := list(islice(rows, _ROWS_AT_ONCE)):
        for at, cells in enumerate(zip(*block, strict=True)):
            if at == len(parts):
                parts.append([])
            parts[at].append(_cells(cells, first, errors.get(left + at, {})))
        first += len(block)
    codes, offsets, data = intern([text for part in parts for cells in part for text in cells[4]])
    columns: list[Column | None] = [None] * left
    at = 0
    for part in parts:
        places, kinds, numbers, formats = (np.concatenate(arrays) for arrays in list(zip(*part, strict=True))[:4])
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
        formulas=no_formulas(),
        merged=tuple((top, left, bottom, right) for (top, left), (bottom, right) in source.merged_cell_ranges or ()),
    )


_Cells = tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.float64], NDArray[np.uint16], tuple[str | None, ...]]
"""Rows, kinds, numbers, formats and texts of cells that hold something."""


def _cells(cells: Iterable[Cell], first: int, errors: dict[int, int]) -> _Cells:
    """Return one column's cells from a row on, errors in their places."""
    entries = [
        (row, *(_cell(value) if value != "" else (Kind.ERROR, float(errors[row]), None, 0)))
        for row, value in enumerate(cells, first)
        if value != "" or row in errors
    ]
    rows, kinds, numbers, strings, formats = zip(*entries, strict=True) if entries else ((),) * 5
    return (
        np.array(rows, np.int32),
        np.array(kinds, np.uint8),
        np.array(numbers, np.float64),
        np.array(formats, np.uint16),
        strings,
    )


def _cell(value: Cell) -> tuple[Kind, float, str | None, int]:
    if isinstance(value, str):
        return (Kind.TEXT, 0.0, value, 0) if value else (Kind.BLANK, 0.0, None, 0)
    if isinstance(value, bool):
        return Kind.BOOLEAN, float(value), None, 0
    if isinstance(value, (int, float)):
        return Kind.NUMBER, float(value), None, 0
    if isinstance(value, timedelta):
        return Kind.NUMBER, value / timedelta(days=1), None, _DURATION
    if isinstance(value, time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        return Kind.DATE, seconds / 86_400, None, _TIME
    return Kind.DATE, to_serial(value), None, _MOMENT if isinstance(value, datetime) else _DATE
