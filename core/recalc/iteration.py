"""Cells that need each other, calculated again and again, as a workbook asks for that turns iteration on.

Excel calculates such cells sheet by sheet in the order of the sheets' names, on a sheet row by row from the left, each
with the values that the others have at that moment; and stops when no cell changes by as much as the workbook says, or
after the count of times that it says. The values that the cells have are where it begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from core.formula.language import LimitExceeded
from core.recalc.outcome import CalculationOutcome, Cycle
from core.recalc.regions import Region

if TYPE_CHECKING:
    from core.recalc.engine import Engine
    from core.recalc.graph import Graph, Rectangle

_CELLS_BETWEEN_LOOKS: Final = 256
"""Cells that are calculated between two looks at the clock."""

Rows = dict[Region, NDArray[np.bool_]]
"""By region which of its rows, from its first."""


def iterate(engine: Engine, cycles: list[Cycle], outcome: CalculationOutcome) -> None:
    """Iterate the cells of these cycles, and those between them.

    What depends on them waits afterwards.

    Raises:
        LimitExceeded: it is past the deadline; the cells then wait, with the values that they have.
    """
    graph, settings = engine.graph, engine.workbook.calculation
    waited = [(region, rows) for region in graph.waiting if region.dirty for rows in region.waiting_rows()]
    _forget_marks(graph)
    cells = _cells_between(engine, [place for cycle in cycles for place in cycle])
    try:
        moving = _repeat(engine, cells, settings.iterations_max, settings.change_max, outcome)
        known = {
            (region.cells.index, row, region.left) for region, low, high in _runs(cells) for row in range(low, high + 1)
        }
        outcome.unconverged = [place for place in outcome.unconverged if place not in known] + moving
        rectangles = [_rectangle(region, low, high) for region, low, high in _runs(cells)]
        engine.propagate(rectangles)
        for region, low, high in _runs(cells):
            region.unmark(low, high)
            outcome.touched.append((region, low, high))
    except BaseException:
        for region, low, high in _runs(cells):
            graph.mark_rows(region, low, high, [])
        cells = {}
        raise
    finally:
        for region, (low, high) in waited:
            if not _holds(cells, region, low, high):
                graph.mark_rows(region, low, high, [])


def _repeat(
    engine: Engine, cells: Rows, count: int, change_max: float, outcome: CalculationOutcome
) -> list[tuple[int, int, int]]:
    """Calculate cells until they settle, `count` times at most: those that did not."""
    graph, environment = engine.graph, engine.environment
    ordered = sorted(
        ((region, row) for region, low, high in _runs(cells) for row in range(low, high + 1)),
        key=lambda cell: (cell[0].cells.name.casefold(), cell[1], cell[0].left),
    )
    moving: list[tuple[Region, int]] = []
    for times in range(1, count + 1):
        moving = []
        for at, (region, row) in enumerate(ordered):
            if at % _CELLS_BETWEEN_LOOKS == 0 and monotonic() > environment.deadline:
                raise LimitExceeded("the iteration took longer than it may")
            change = graph.recalculate_cell(region, row)
            if change > 0:
                environment.indexes = {}  # what was built over the cell
                if change >= change_max:
                    moving.append((region, row))
        outcome.iterations = max(outcome.iterations, times)
        if not moving:
            break
    return [(region.cells.index, row, region.left) for region, row in moving]


def _cells_between(engine: Engine, circular: Cycle) -> Rows:
    """Return the circular cells, and all that depends on them, or is volatile, and that they depend on."""
    graph = engine.graph
    work: list[Rectangle] = [(sheet, row, row, column, column) for sheet, row, column in circular]
    for region in graph.volatile:
        graph.mark_rows(region, region.first, region.last, work)
    engine.propagate(work)
    dependents = _marked(graph)
    _forget_marks(graph)
    chosen: Rows = {}
    waiting: list[tuple[Region, int, int]] = []
    for sheet, row, column in circular:
        owner = engine.owner(sheet, row, column)
        if owner is not None and owner.shape.data_table is None:
            at = 0 if owner.fills else row - owner.first
            _choose(chosen, waiting, owner, _row_mask(owner, at, at))
    while waiting:
        region, low, high = waiting.pop()
        for read_region, rows in _owners_of_reads(engine, region, low, high):
            if read_region in dependents:
                _choose(chosen, waiting, read_region, rows & dependents[read_region])
    return chosen


def _choose(chosen: Rows, waiting: list[tuple[Region, int, int]], region: Region, rows: NDArray[np.bool_]) -> None:
    """Add rows of a region to what was found. New ones wait to be looked at."""
    known = chosen.get(region)
    new = rows if known is None else rows & ~known
    if new.any():
        chosen[region] = new if known is None else known | new
        waiting.extend(_runs({region: new}))


def _owners_of_reads(engine: Engine, region: Region, low: int, high: int) -> Iterable[tuple[Region, NDArray[np.bool_]]]:
    """Return the formulas that rows of a region read, with the rows that are read."""
    for read in engine.graph.reads(region):
        first = read.low if read.low_fixed else max(0, low + read.low)
        last = read.high if read.high_fixed else high + read.high
        columns = engine.cells[read.sheet].columns
        for column in columns[read.left : read.right + 1]:
            if column is None or column.owners is None:
                continue
            top, bottom = max(first, column.base), min(last, column.base + column.size - 1)
            owners = column.owners[top - column.base : max(top, bottom + 1) - column.base]
            for number in np.unique(owners[owners >= 0]).tolist():
                other_region = engine.regions[number]
                assert other_region is not None
                if other_region.fills:
                    yield other_region, _row_mask(other_region, 0, 0)
                else:
                    rows = np.zeros(other_region.last - other_region.first + 1, np.bool_)
                    rows[np.flatnonzero(owners == number) + top - other_region.first] = True
                    yield other_region, rows


def _marked(graph: Graph) -> Rows:
    """Return the rows that wait, without data tables, whose values are tried when all else stands."""
    rows: Rows = {}
    for region in graph.waiting:
        if region.dirty and region.shape.data_table is None:
            rows[region] = np.zeros(1 if region.fills else region.last - region.first + 1, np.bool_)
            for low, high in region.waiting_rows():
                rows[region][low - region.first : high + 1 - region.first] = True
    return rows


def _forget_marks(graph: Graph) -> None:
    for region in graph.waiting:
        region.finish()
    graph.waiting.clear()


def _row_mask(region: Region, first: int, last: int) -> NDArray[np.bool_]:
    rows = np.zeros(1 if region.fills else region.last - region.first + 1, np.bool_)
    rows[first : last + 1] = True
    return rows


def _holds(cells: Rows, region: Region, low: int, high: int) -> bool:
    """Return whether rows of a region are all among the cells."""
    rows = cells.get(region)
    return rows is not None and bool(rows[low - region.first : high + 1 - region.first].all())


def _runs(cells: Rows) -> list[tuple[Region, int, int]]:
    """Return (region, first row, last row) of each run of cells."""
    runs = []
    for region, rows in cells.items():
        edges = np.flatnonzero(np.diff(np.concatenate(([False], rows, [False])).astype(np.int8)))
        for first, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            runs.append((region, region.first + first, region.first + stop - 1))
    return runs


def _rectangle(region: Region, low: int, high: int) -> Rectangle:
    if region.fills:
        return region.cells.index, region.first, region.bottom, region.left, region.right
    return region.cells.index, low, high, region.left, region.left
