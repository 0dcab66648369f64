"""Array formulas: their value laid into the cells of their range, or spilled into as many as it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from core.formula.machine import beyond
from core.formula.values import SPILL, Array, TextPool
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.sheet import Workbook
from core.recalc.precision import Precision
from core.recalc.regions import Region
from core.recalc.store import SheetCells, put_values
from core.values import Kind

if TYPE_CHECKING:
    from core.recalc.graph import Rectangle


_WHOLE_CELLS_MAX: Final = ROWS_MAX
"""Cells of whole rows or columns that are filled to their end; of more only those in use."""


class Filling:
    """Writes the values of array formulas.

    `blocked` are those that had no room to spill; `has_moved` is whether the extent of any became another.
    """

    def __init__(
        self, cells: list[SheetCells], pool: TextPool, workbook: Workbook, precision: Precision | None = None
    ) -> None:
        self._cells = cells
        self._pool = pool
        self._precision = precision
        self._merged = [sheet.merged for sheet in workbook.sheets]
        self.blocked: set[Region] = set()
        self.has_moved = False

    def fill(self, region: Region, value: object) -> list[Rectangle]:
        """Write the value of an array formula.

        The rectangles that changed hands, if its extent is another now.
        """
        region.finish()
        value = _whole(value)
        rows, columns = (value.rows, value.columns) if isinstance(value, Array) else (1, 1)
        if not region.spills:
            height, width = region.bottom - region.first + 1, region.right - region.left + 1
            self._write(region, _stretch(value, height, width, beyond(region.shape.tree)), height, width)
            return []
        old = (region.bottom, region.right)
        bottom, right = region.first + rows - 1, region.left + columns - 1
        if not self._has_room(region, bottom, right):
            self.blocked.add(region)
            value, bottom, right = SPILL, region.first, region.left
        index = region.cells.index
        changed: list[Rectangle] = []
        if (bottom, right) != old:
            self.empty(region)
            self.has_moved = True
            changed = [(index, region.first, max(bottom, old[0]), region.left, max(right, old[1]))]
        for column in range(region.left, right + 1):
            region.cells.grown(column, region.first, bottom).own(region.first, bottom, region.number)
        region.cover(bottom, right, True)
        height, width = bottom - region.first + 1, right - region.left + 1
        self._write(region, value.cells() if isinstance(value, Array) else [value], height, width)
        return changed

    def lay(self, region: Region, values: list[object]) -> None:
        """Write values over the range of a data table, row by row."""
        self._write(region, values, region.bottom - region.first + 1, region.right - region.left + 1)

    def empty(self, region: Region) -> None:
        """Blank the cells of an array formula and give them up."""
        for column in range(region.left, region.right + 1):
            stored = region.cells.column(column)
            if stored is None or stored.owners is None:
                continue
            for row in range(region.first, region.bottom + 1):
                if stored.owners[row - stored.base] == region.number:
                    region.cells.put(row, column, None, self._pool)
                    stored.own(row, row, -1)

    def _write(self, region: Region, values: list[object], height: int, width: int) -> None:
        bottom, right = region.first + height - 1, region.left + width - 1
        put_values(region.cells, region.first, region.left, bottom, right, values, self._pool)
        if self._precision is not None:
            for column in range(region.left, right + 1):
                self._precision.round_cells(region.cells, column, region.first, bottom)

    def _has_room(self, region: Region, bottom: int, right: int) -> bool:
        """Return whether every cell of a rectangle is the region's own, or blank.

        None of them merged.
        """
        if bottom >= ROWS_MAX or right >= COLUMNS_MAX:
            return False
        if (bottom, right) == (region.first, region.left):
            return True
        for top, left, low, end in self._merged[region.cells.index]:
            if top <= bottom and region.first <= low and left <= right and region.left <= end:
                return False
        for column in range(region.left, right + 1):
            stored = region.cells.column(column)
            if stored is None:
                continue
            for row in range(max(region.first, stored.base), min(bottom + 1, stored.base + stored.size)):
                at = row - stored.base
                owner = -1 if stored.owners is None else int(stored.owners[at])
                if owner != region.number and (owner >= 0 or stored.kinds[at] != Kind.BLANK):
                    return False
        return True


def _whole(value: object) -> object:
    """Return the cells of whole rows or columns with the blanks beyond those in use, which are left out when they are
    read."""
    reference = value.reference if isinstance(value, Array) else None
    if not isinstance(value, Array) or reference is None or reference.more:
        return value
    rows, columns = reference.rows, reference.columns
    if rows < value.rows or columns < value.columns or (rows, columns) == (value.rows, value.columns):
        return value
    if rows * columns > _WHOLE_CELLS_MAX:
        return value
    padded = [[*line, *[None] * (columns - value.columns)] for line in value.grid()]
    padded += [[None] * columns for _ in range(rows - value.rows)]
    return Array(rows, columns, [cell for line in padded for cell in line])


def _stretch(value: object, height: int, width: int, missing: object) -> list[object]:
    """Return a value over a range: one row, one column or one value is repeated.

    Beyond the value stands what is given.
    """
    if not isinstance(value, Array):
        return [value] * (height * width)
    cells, rows, columns = value.cells(), value.rows, value.columns
    stretched: list[object] = []
    for row in range(height):
        for column in range(width):
            down, across = 0 if rows == 1 else row, 0 if columns == 1 else column
            stretched.append(cells[down * columns + across] if down < rows and across < columns else missing)
    return stretched
