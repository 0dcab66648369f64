"""The rows below a header that are looked at: work goes by filled cells."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import Cells, StringPool

BLANK_ROWS: Final = 3
"""Blank rows in a row that end a table; of more that follow one another, the rest says nothing."""

HEIGHT_LEAST: Final = 4_096
"""Rows of a sheet up to which each is looked at: to leave some out would gain nothing."""


class RowsBelow:
    """The rows below a header, by their places among those that are looked at.

    These are all rows, or, where most are blank, the rows with a cell and the first `BLANK_ROWS` of each run of blank
    ones: a cell in the millionth row costs one row.
    """

    __slots__ = ("_cells", "_rows", "first", "height", "pool", "sheet")

    def __init__(self, sheet: Sheet, pool: StringPool, first: int, last: int) -> None:
        """Look at rows `first` to `last - 1` of the sheet."""
        self.sheet, self.pool, self.first = sheet, pool, first
        self._rows = _rows_to_look_at(sheet, first, max(first, last))
        """Of the sheet, 0-based."""
        self.height = self._rows.stop - first if isinstance(self._rows, slice) else len(self._rows)
        self._cells: dict[int, Cells] = {}

    def cells(self, column: int) -> Cells:
        """Return a column's cells in all rows that are looked at."""
        cells = self._cells.get(column)
        if cells is None:
            cells = self._cells[column] = self.part(column, slice(0, self.height))
        return cells

    def part(self, column: int, places: NDArray[np.int64] | slice) -> Cells:
        """Return a column's cells in some of the rows, which ascend."""
        stored = self.sheet.columns[column]
        if not isinstance(self._rows, slice):
            return Cells.at(stored, self._rows[places], self.pool)
        if isinstance(places, slice):
            return Cells.of(stored, self.first + places.start, self.first + places.stop, self.pool)
        return Cells.at(stored, places + self.first, self.pool)

    def rows(self, places: NDArray[np.int64] | slice) -> NDArray[np.int64]:
        """Return the rows of the sheet, 0-based, at some places."""
        if not isinstance(self._rows, slice):
            return self._rows[places]
        if isinstance(places, slice):
            return np.arange(self.first + places.start, self.first + places.stop, dtype=np.int64)
        return places + self.first

    def row(self, place: int) -> int:
        """Return the row of the sheet, 0-based, at one place."""
        return self.first + place if isinstance(self._rows, slice) else int(self._rows[place])


def _rows_to_look_at(sheet: Sheet, first: int, last: int) -> NDArray[np.int64] | slice:
    """Return which rows to look at; a slice where it is all of them."""
    height = last - first
    everything = slice(first, last)
    if height <= HEIGHT_LEAST:
        return everything
    filled = np.zeros(height, np.bool_)
    for stored in sheet.columns:
        if stored is None or stored.stop <= first or stored.start >= last:
            continue
        slots = slice(stored.begin(first), stored.begin(last))
        if stored.dense is stored:
            filled[max(first, stored.start) - first :][: slots.stop - slots.start] |= stored.kinds[slots] != 0
        else:
            filled[stored.rows()[slots] - first] |= stored.dense.kinds[slots] != 0
        if filled.all():
            return everything
    is_looked_at = filled.copy()
    is_looked_at[:BLANK_ROWS] = True
    for distance in range(1, BLANK_ROWS + 1):
        is_looked_at[distance:] |= filled[:-distance]
    return first + np.flatnonzero(is_looked_at) if 2 * np.count_nonzero(is_looked_at) < height else everything
