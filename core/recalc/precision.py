"""Precision as displayed, in a book whose file asks for it.

Each value rounded as its cell's format shows it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.formula.values import as_displayed, rounds
from core.grid.column import Column, GappedColumn, frozen
from core.grid.sheet import Sheet, Workbook
from core.recalc.store import SheetCells
from core.values import Kind


class Precision:
    """The number formats of a book's cells, and the rounding that they stand for."""

    def __init__(self, workbook: Workbook) -> None:
        self._codes = workbook.number_formats
        self._sheets = workbook.sheets
        self._rounds = np.array([rounds(code) for code in workbook.number_formats], np.bool_)

    def number(self, sheet: int, row: int, column: int, value: float) -> float:
        """Return a number as its cell shows it."""
        stored = self._stored(sheet, column)
        at = -1 if stored is None else stored.slot(row)
        if stored is None or at < 0:
            return value
        code = int(stored.dense.formats[at])
        return as_displayed(value, self._codes[code]) if self._rounds[code] else value

    def round_cells(self, cells: SheetCells, column: int, first: int, last: int) -> None:
        """Round rows of one column where they stand."""
        cells_of_column, stored = cells.column(column), self._stored(cells.index, column)
        if cells_of_column is None or stored is None:
            return
        first, last = max(first, cells_of_column.base), min(last, cells_of_column.base + cells_of_column.size - 1)
        if first > last:
            return
        rows = np.arange(first, last + 1)
        met, slots = stored.meeting(rows)
        at = rows[met] - cells_of_column.base
        new = self._rounded(cells_of_column.kinds[at], cells_of_column.numbers[at], stored.dense.formats[slots])
        if new is not None:
            cells_of_column.numbers[at] = new

    def _rounded(
        self, kinds: NDArray[np.uint8], numbers: NDArray[np.float64], formats: NDArray[np.uint16]
    ) -> NDArray[np.float64] | None:
        """Return the numbers as their formats show them; None where all are so already."""
        concerned = np.flatnonzero(((kinds == Kind.NUMBER) | (kinds == Kind.DATE)) & self._rounds[formats])
        if not len(concerned):
            return None
        result = numbers.copy()
        of = formats[concerned]
        for code in np.unique(of).tolist():
            at = concerned[of == code]
            values, places = np.unique(numbers[at], return_inverse=True)
            text = self._codes[code]
            result[at] = np.array([as_displayed(value, text) for value in values.tolist()])[places]
        return None if np.array_equal(result, numbers) else result

    def rounded(self, sheet: Sheet) -> Sheet:
        """Return a sheet with values as shown, or the sheet itself if they are."""
        columns = tuple(None if column is None else self._rounded_column(column) for column in sheet.columns)
        changed = any(new is not old for new, old in zip(columns, sheet.columns, strict=True))
        return replace(sheet, columns=columns) if changed else sheet

    def _rounded_column(self, column: Column) -> Column:
        cells = column.dense
        new = self._rounded(cells.kinds, cells.numbers, cells.formats)
        if new is None:
            return column
        result = replace(cells, numbers=frozen(new))
        return GappedColumn(result, *column.runs) if isinstance(column, GappedColumn) else result

    def _stored(self, sheet: int, column: int) -> Column | None:
        columns = self._sheets[sheet].columns
        return columns[column] if column < len(columns) else None
