"""A frame of any make as a workbook of one sheet.

Its headings in the first row, its rows below.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.frames.given import columns_of
from core.grid._intern import intern
from core.grid.address import ROWS_MAX
from core.grid.column import Column, Text, column_of, frozen
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.values import SERIAL_OF_1970, Kind

_FORMATS: Final = ("General", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss")
_DAY_MICROSECONDS: Final = 86_400_000_000


def workbook_of(frame: Any, sheet: str = "Sheet1") -> Workbook:
    """Return a workbook whose only sheet holds a frame (`core.frames.given.columns_of` says which are taken).

    Raises:
        TypeError, ValueError: as `columns_of`; ValueError, too, where it has more rows than a sheet.
    """
    columns = columns_of(frame)
    height = 1 + max((len(values) for values in columns.values()), default=0)
    if height > ROWS_MAX:
        raise ValueError(f"a sheet has {ROWS_MAX:,} rows, one of them for headings; the frame has {height - 1:,}")
    texts: list[str | None] = list(columns)
    slots = [_cells(values, texts) for values in columns.values()]
    codes, offsets, data = intern(texts)
    new_columns = [_column(name, slot, codes) for name, slot in enumerate(slots)]
    text = Text(frozen(offsets), frozen(data))
    return Workbook(
        (Sheet(sheet, 0, "visible", tuple(new_columns), height, text, no_formulas()),), number_formats=_FORMATS
    )


_Cells = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int64], int]
"""Kinds, numbers, places among all texts (-1 for none), and the format of the dates."""


def _cells(values: NDArray[Any], texts: list[str | None]) -> _Cells:
    places = np.full(len(values), -1, np.int64)
    form = values.dtype.kind
    if form == "O":
        kinds, numbers = np.zeros(len(values), np.uint8), np.zeros(len(values))
        for at, value in enumerate(values.tolist()):
            if isinstance(value, str):
                kinds[at], places[at] = Kind.TEXT, len(texts)
                texts.append(value)
            elif value is not None:
                each = np.array([value], None if isinstance(value, bool | float) else "datetime64[us]")
                kinds[at : at + 1], numbers[at : at + 1], _, _ = _cells(each, texts)
        return kinds, numbers, places, 1
    if form == "M":
        blank = np.isnat(values)
        moments = np.where(blank, 0, values.astype("datetime64[us]").astype(np.int64))
        numbers = moments / _DAY_MICROSECONDS + SERIAL_OF_1970
        # The 1900 system counts a day that never was; what lies before it is one less.
        numbers = np.where(blank, 0.0, np.where(numbers < 61, numbers - 1, numbers))
        return np.where(blank, Kind.BLANK, Kind.DATE).astype(np.uint8), numbers, places, 1 + bool((numbers % 1).any())
    numbers = values.astype(np.float64)
    blank = np.isnan(numbers)
    if np.isinf(numbers).any():
        raise ValueError("a cell holds no infinite number")
    kind = Kind.BOOLEAN if form == "b" else Kind.NUMBER
    return np.where(blank, Kind.BLANK, kind).astype(np.uint8), np.where(blank, 0.0, numbers), places, 0


def _column(heading: int, cells: _Cells, codes: NDArray[np.int32]) -> Column:
    kinds, numbers, places, date_format = cells
    kinds = np.concatenate(([np.uint8(Kind.TEXT)], kinds))
    is_text = kinds == Kind.TEXT
    of_text = np.full(len(kinds), -1, np.int32)
    of_text[is_text] = codes[np.concatenate(([heading], places))[is_text]]
    formats = np.where(kinds == Kind.DATE, date_format, 0).astype(np.uint16)
    there = np.flatnonzero(kinds)
    return column_of(there, kinds[there], np.concatenate(([0.0], numbers))[there], of_text[there], formats[there])
