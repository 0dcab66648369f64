"""What a sheet of the Foundation adds up to.

The figures that the Control sheet compares with live ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import fsum, isfinite
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.sheets.headings import header
from core.values import Kind

COLUMNS_MAX: Final = 24
"""Columns of a sheet whose sums are compared, the first ones: the count of cells is of all."""

SHARE_MIN: Final = 0.5
"""Share of numbers among the cells below the header from which a column is one of figures."""

TOLERANCE: Final = 2.0**-52
"""Of a sum, for each of its figures, as a share of what they add up to regardless of sign: twice the most by which
adding doubles one by one may be wrong, in whatever order a spreadsheet does it."""


@dataclass(frozen=True, slots=True)
class ColumnSum:
    """A column of figures."""

    column: int
    name: str
    total: float
    """Of all its numbers, as SUM adds them: dates, texts and booleans apart."""
    tolerance: float


@dataclass(frozen=True, slots=True)
class SheetSums:
    """A sheet's counts and the sums of its columns of figures."""

    sheet: Sheet
    header_row: int | None
    cells: int
    """Cells that are not blank."""
    sums: tuple[ColumnSum, ...]
    unsummed: int
    """Further columns of figures, of which there is no sum: past `COLUMNS_MAX`, with an error or formulas never
    calculated, or too large for one."""
    uncalculated: int
    """Formulas without a value: once they are calculated, neither counts nor sums are those of the export."""


def sums_of(sheet: Sheet) -> SheetSums:
    """Count the cells of a sheet and add up its columns of figures."""
    head = header.detect(sheet)
    waiting = uncalculated(sheet)
    without_values = set(waiting.tolist())
    cells = unsummed = 0
    sums: list[ColumnSum] = []
    for at, column in enumerate(sheet.columns):
        if column is None:
            continue
        filled = column.dense.kinds != Kind.BLANK
        cells += int(np.count_nonzero(filled))
        if not _has_figures(column, head.first_row):
            continue
        if len(sums) == COLUMNS_MAX or at in without_values or np.any(column.dense.kinds == Kind.ERROR):
            unsummed += 1
            continue
        summed = column.dense.numbers[np.isin(column.dense.kinds, (Kind.NUMBER, Kind.DATE))]
        with np.errstate(over="ignore"):
            size = float(np.abs(summed).sum())
        if not isfinite(size):
            unsummed += 1
            continue
        total = fsum(summed.tolist())  # exact: it lies nearest to whatever order a spreadsheet adds in
        sums.append(ColumnSum(at, head.names[at], total, TOLERANCE * len(summed) * size))
    return SheetSums(sheet, head.row, cells, tuple(sums), unsummed, len(waiting))


def uncalculated(sheet: Sheet) -> NDArray[np.int32]:
    """Return the columns of a sheet's formulas that have no value, one for each of them."""
    formulas = sheet.formulas
    order = np.lexsort((formulas.rows, formulas.columns))
    columns, rows = formulas.columns[order], formulas.rows[order].astype(np.int64)
    has_none = np.ones(len(order), np.bool_)
    starts = np.flatnonzero(np.diff(columns, prepend=-1)).tolist()
    for begin, end in pairwise([*starts, len(order)]):
        at = int(columns[begin])
        if at < sheet.column_count and (column := sheet.columns[at]) is not None:
            met, slots = column.meeting(rows[begin:end])
            has_none[begin:end][met] = column.dense.kinds[slots] == Kind.BLANK
    return columns[has_none]


def _has_figures(column: Column, first_row: int) -> bool:
    kinds = column.dense.kinds[column.begin(first_row) :]
    filled = int(np.count_nonzero(kinds != Kind.BLANK))
    return filled > 0 and int(np.count_nonzero(kinds == Kind.NUMBER)) >= SHARE_MIN * filled
