"""What-if data tables.

Each cell is what a formula comes to when other values stand in its input cells.

The values are tried in the book itself: they are put into the input cells, the formulas of the table are calculated
with all that they need, and afterwards every cell gets back what it held. So a table that reads another one follows it,
random numbers are drawn anew for each try, and what is not asked for is not calculated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Final
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from core.formula.language import LimitExceeded
from core.grid.calculation import DataTable
from core.recalc.iteration import iterate
from core.recalc.outcome import CalculationOutcome, Cycle, Place
from core.recalc.regions import Region
from core.recalc.store import SheetCells

if TYPE_CHECKING:
    from core.recalc.engine import Engine
    from core.recalc.graph import Rectangle

_PASSES_MAX: Final = 100
"""How often one try may find that a table, a cycle or a spilled range has to be calculated first."""

_DEEP_MAX: Final = 16
"""Tables that read tables."""

CELLS_MAX: Final = 1_000_000
"""Cells of one table; a larger one keeps its values."""

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Try:
    """Values for the input cells, and which cells of the table get which formulas' values."""

    inputs: tuple[tuple[Cell, Cell], ...]
    """(input cell, the cell whose value is put there)."""
    results: tuple[tuple[Cell, Cell], ...]
    """(cell of the table, cell of the formula)."""


class DataTables:
    """The data tables of an engine's book."""

    def __init__(self, engine: Engine) -> None:
        self._engine: Engine = proxy(engine)  # or the two, and all cells, would stay until the collector runs
        self._active: list[Region] = []
        """Tables whose values are being found, each read by the one before it."""
        self._saved: list[_SavedCells] = []
        """What the cells held before each try that has begun."""
        self._inputs: list[Place] = []
        """Cells that hold a value of a try."""

    def calculate(self, outcome: CalculationOutcome) -> None:
        """Find the values of the tables that wait. What depends on them waits afterwards.

        Raises:
            LimitExceeded: it is past the deadline; the tables that are left still wait.
        """
        graph = self._engine.graph
        tables = graph.take_data_tables()
        work: list[Rectangle] = []
        for table in tables:
            graph.mark_rows(table, table.first, table.first, work)
        self._engine.propagate(work)
        done: set[Region] = set()
        try:
            for table in tables:
                if table not in done:
                    self._refresh(table, done, outcome)
        except BaseException:
            for table in tables:
                if table not in done:
                    graph.mark_rows(table, table.first, table.first, [])
            raise

    def keep(self) -> None:
        """Note what the cells hold that wait, before they are calculated in a try."""
        for saved in self._saved:
            saved.keep(self._engine.graph.waiting)

    def _refresh(self, table: Region, done: set[Region], outcome: CalculationOutcome) -> None:
        """Find the values of a table, and first of those that it reads."""
        if table in self._active or len(self._active) >= _DEEP_MAX:
            place = (table.cells.index, table.first, table.left)
            if [place] not in outcome.cycles:
                outcome.cycles.append([place])
            return
        self._active.append(table)
        try:
            if self._can_be_tried(table, outcome):
                sheet = table.cells.index
                self._settle([(sheet, *cell) for cell in _sources_of(table)], done, outcome)
                self._engine.filling.lay(table, self._tried(table, outcome))
        finally:
            self._active.pop()
        self._engine.propagate([(table.cells.index, table.first, table.bottom, table.left, table.right)])
        table.finish()
        done.add(table)
        if not self._saved:
            outcome.touched.append((table, table.first, table.first))

    def _can_be_tried(self, table: Region, outcome: CalculationOutcome) -> bool:
        """Return whether a table has room for its formulas, and is not too large."""
        cells = (table.bottom - table.first + 1) * (table.right - table.left + 1)
        if cells > CELLS_MAX:
            message = f"a data table of {cells:,} cells is over the limit of {CELLS_MAX:,}, and keeps its values"
            outcome.faults.append((table, table.first, message))
        return cells <= CELLS_MAX and table.first > 0 and table.left > 0

    def _settle(self, cells: list[Place], done: set[Region], outcome: CalculationOutcome) -> None:
        """Calculate cells with all that they need, tables among it."""
        engine, graph = self._engine, self._engine.graph
        for _ in range(_PASSES_MAX):
            for sheet, row, column in self._inputs:
                region = engine.owner(sheet, row, column)
                if region is not None:
                    region.unmark(row, row)
            owners = ((engine.owner(*place), place[1]) for place in cells)
            graph.demand([(region, region.first if region.fills else row) for region, row in owners if region])
            touched, cycles, faults, work = graph.take()
            if not self._saved:  # what is tried is no calculation of the book's cells
                outcome.touched += touched
                outcome.faults += faults
            if cycles and engine.workbook.calculation.iterates:
                self._iterate(cycles, outcome)
                continue
            known = {frozenset(cycle) for cycle in outcome.cycles}
            outcome.cycles += [cycle for cycle in cycles if frozenset(cycle) not in known]
            if work:
                engine.propagate(work)
            tables = graph.take_data_tables()
            if not tables and not work:
                return
            for table in tables:
                self._refresh(table, done if not self._saved else set(), outcome)

    def _iterate(self, cycles: list[Cycle], outcome: CalculationOutcome) -> None:
        """Iterate cycles that a table's formulas need.

        Of a try that does not converge the table is named.
        """
        if not self._saved:
            iterate(self._engine, cycles, outcome)
            return
        tried = CalculationOutcome()
        iterate(self._engine, cycles, tried)
        outcome.iterations = max(outcome.iterations, tried.iterations)
        table = self._active[-1]
        place = table.cells.index, table.first, table.left
        if tried.unconverged and place not in outcome.unconverged:
            outcome.unconverged.append(place)

    def _tried(self, table: Region, outcome: CalculationOutcome) -> list[object]:
        """Return the values of a table's cells, row by row."""
        engine, graph, sheet = self._engine, self._engine.graph, table.cells
        width = table.right - table.left + 1
        values: list[object] = [None] * ((table.bottom - table.first + 1) * width)
        by_source = {source: sheet.value(*source, engine.pool) for source in _sources_of(table)}
        inputs = [(sheet.index, *cell) for cell in _inputs_of(table) if cell is not None]
        waited = [(region, rows) for region in graph.waiting if region.dirty for rows in region.waiting_rows()]
        saved = _SavedCells(engine, inputs)
        saved.keep(graph.waiting)
        self._saved.append(saved)
        self._inputs += inputs
        try:
            for each in _tries_of(table):
                if monotonic() > engine.environment.deadline:
                    raise LimitExceeded("a data table took longer than it may")
                for cell, source in each.inputs:
                    sheet.put(*cell, by_source[source], engine.pool)
                self._mark_dependents(inputs)
                formulas = dict.fromkeys((sheet.index, *formula) for _, formula in each.results)
                self._settle(list(formulas), set(), outcome)
                for (row, column), formula in each.results:
                    at = (row - table.first) * width + column - table.left
                    values[at] = sheet.value(*formula, engine.pool)
        finally:
            del self._inputs[len(self._inputs) - len(inputs) :]
            self._saved.pop()
            for region in graph.waiting:
                region.finish()
            graph.waiting.clear()
            graph.take()
            graph.take_data_tables()
            saved.restore()
            for region, (low, high) in waited:
                graph.mark_rows(region, low, high, [])
        return values

    def _mark_dependents(self, inputs: Iterable[Place]) -> None:
        """Have wait what depends on the input cells, and what is calculated each time."""
        graph = self._engine.graph
        work: list[Rectangle] = [(sheet, row, row, column, column) for sheet, row, column in inputs]
        for region in graph.volatile:
            graph.mark_rows(region, region.first, region.last, work)
        self._engine.propagate(work)


def _inputs_of(table: Region) -> tuple[Cell | None, Cell | None]:
    """Return the input cells for the row above a table and for the column to its left."""
    inputs: DataTable = table.shape.data_table  # type: ignore[assignment]
    return inputs.row_input, inputs.column_input


def _sources_of(table: Region) -> list[Cell]:
    """Return the row above a table and the column to its left.

    Its formulas and its input values.
    """
    top, left = table.first - 1, table.left - 1
    above = [(top, column) for column in range(left, table.right + 1)]
    return above + [(row, left) for row in range(table.first, table.bottom + 1)]


def _tries_of(table: Region) -> Iterator[_Try]:
    """Yield what is tried for a table's cells."""
    top, left = table.first - 1, table.left - 1
    rows, columns = range(table.first, table.bottom + 1), range(table.left, table.right + 1)
    by_row, by_column = _inputs_of(table)
    if by_row and by_column:
        for row in rows:
            for column in columns:
                yield _Try(((by_row, (top, column)), (by_column, (row, left))), (((row, column), (top, left)),))
    elif by_row:
        for column in columns:
            yield _Try(((by_row, (top, column)),), tuple(((row, column), (row, left)) for row in rows))
    elif by_column:
        for row in rows:
            yield _Try(((by_column, (row, left)),), tuple(((row, column), (top, column)) for column in columns))


_Slots = tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int32]]


class _SavedCells:
    """What cells held before values were tried."""

    def __init__(self, engine: Engine, inputs: Iterable[Place]) -> None:
        self._engine = engine
        self._regions: dict[Region, tuple[int, int, list[_Slots]]] = {}
        # Before an input cell adds to them.
        self._extents = [(cells.rows_used, cells.columns_used, len(cells.columns)) for cells in engine.cells]
        self._inputs = [(place, _slots(engine.cells[place[0]], place[1], place[1], place[2])) for place in inputs]
        self._blocked = set(engine.filling.blocked)
        self._has_moved = engine.filling.has_moved

    def keep(self, regions: Iterable[Region]) -> None:
        """Note what the cells of regions hold, of each the first time."""
        for region in regions:
            if region not in self._regions:
                columns = range(region.left, region.right + 1)
                slots = [_slots(region.cells, region.first, region.bottom, column) for column in columns]
                self._regions[region] = region.bottom, region.right, slots

    def restore(self) -> None:
        """Give every cell back what it held."""
        engine = self._engine
        for region, (bottom, right, _) in self._regions.items():
            if (region.bottom, region.right) != (bottom, right):
                engine.filling.empty(region)
                for column in range(region.left, right + 1):
                    region.cells.grown(column, region.first, bottom).own(region.first, bottom, region.number)
                region.cover(bottom, right, region.spills)
        for region, (_, right, saved) in self._regions.items():
            for column, slots in zip(range(region.left, right + 1), saved, strict=True):
                region.cells.grown(column, region.first, region.bottom).fill(region.first, *slots)
        for (sheet, row, column), slots in self._inputs:
            engine.cells[sheet].grown(column, row, row).fill(row, *slots)
        for cells, (rows, columns, count) in zip(engine.cells, self._extents, strict=True):
            cells.rows_used, cells.columns_used = rows, columns
            del cells.columns[count:]
        engine.filling.blocked = self._blocked
        engine.filling.has_moved = self._has_moved
        engine.environment.indexes = {}


def _slots(cells: SheetCells, first: int, last: int, column: int) -> _Slots:
    span = cells.grown(column, first, last).span(first, last - first + 1)
    return np.array(span.kinds), np.array(span.numbers), np.array(span.codes)
