"""The moving parts of a book.

Its cells, its regions and their graph, and the edits that reach them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from core.files.parts import is_moment_format
from core.formula import parse_or_suggest
from core.formula.language import FormulaError, Node, parse
from core.formula.machine import lifts, may_be_array
from core.formula.values import DEFAULT, Date, Error, Locale, Locally, TextPool, known_locale
from core.grid.address import parse_range, place_name
from core.grid.calculation import data_table_of
from core.grid.sheet import Value, Workbook
from core.recalc.blank import BlankRows, runs_of_rows
from core.recalc.data_tables import DataTables
from core.recalc.environment import BookEnvironment
from core.recalc.errors import PartOfArray
from core.recalc.filling import Filling
from core.recalc.graph import Graph
from core.recalc.iteration import iterate
from core.recalc.names import BookNames
from core.recalc.outcome import CalculationOutcome, Cycle
from core.recalc.precision import Precision
from core.recalc.regions import Region, Shape
from core.recalc.runs import FormulaRun, runs_of_formulas, runs_of_texts
from core.recalc.store import SheetCells, are_plain, read_list, span_of_list

if TYPE_CHECKING:
    from core.recalc.graph import Rectangle

_HOLES_MAX: Final = 64
"""Cells that may be taken out of a region before it is cut into pieces."""

_FILLED_MAX: Final = 50_000_000
"""Cells that the array formulas of a file may fill, as many as a file may store; those beyond fill their own cell."""

_PASSES_MAX: Final = 100
"""How often array formulas, cycles and data tables may change each other in one calculation."""


class Engine:
    """A book that calculates. The workbook that it was made from stays as it was."""

    def __init__(self, workbook: Workbook) -> None:
        self.workbook = workbook
        self.pool = TextPool()
        self.cells = [SheetCells(sheet.name, sheet.index) for sheet in workbook.sheets]
        self.regions: list[Region | None] = []
        self.environment = BookEnvironment(workbook, BookNames(workbook), self.cells, self.regions, self.pool)
        own = known_locale(workbook.language or "")
        self.environment.locale = None if own is DEFAULT else own
        self.sheet_index = self.environment.sheet_index
        self.precision = Precision(workbook) if workbook.calculation.as_displayed else None
        self.filling = Filling(self.cells, self.pool, workbook, self.precision)
        self.graph = Graph(self.environment, self.filling, self.precision)
        self.data_tables = DataTables(self)
        self.changed: list[Rectangle] = []
        self.edited: set[tuple[int, int, int]] = set()
        self.filled = 0
        self.calculated = False
        self._formulas_edited = False
        self._all_waits = False
        self._ranges: list[dict[tuple[int, int], tuple[int, int]] | None] = [None] * len(self.cells)
        self._shapes: dict[tuple[int, str | int, bool], Shape] = {}

    @cached_property
    def date_formats(self) -> NDArray[np.bool_]:
        """By its number whether a format shows a date or a time of day."""
        return np.array([is_moment_format(code) for code in self.workbook.number_formats], np.bool_)

    def load(self) -> None:
        """Take over the cells and the formulas of the workbook."""
        for cells, sheet in zip(self.cells, self.workbook.sheets, strict=True):
            cells.load(sheet if self.precision is None else self.precision.rounded(sheet), self.pool)
        for cells, sheet in zip(self.cells, self.workbook.sheets, strict=True):
            self.enter(cells, runs_of_formulas(sheet.formulas))

    def enter(self, cells: SheetCells, runs: Iterable[FormulaRun]) -> None:
        """Make regions of the runs of one sheet, all of them to be calculated."""
        for run in runs:
            if run.fills is not None and not run.spills and run.text.startswith("=TABLE("):
                shape = _data_table_shape(run.text)
            else:
                shape = self._shape(
                    cells, run.shape, run.text, run.origin_row, run.origin_column, run.fills is not None
                )
            region = self._region(
                cells, run.first, run.last, run.column, shape, run.text, run.origin_row, run.origin_column
            )
            if run.fills is not None:
                _, _, bottom, right = run.fills
                self.filled += (bottom - run.first + 1) * (right - run.column + 1)
                if self.filled > _FILLED_MAX:
                    bottom, right = run.first, run.column
                for column in range(run.column, right + 1):
                    cells.grown(column, run.first, bottom).own(run.first, bottom, region.number)
                region.cover(bottom, right, run.spills)
            self.graph.add(region)

    # Edits

    def put_value(self, sheet: int, row: int, column: int, value: object) -> None:
        """Write a constant, in place of whatever the cell holds."""
        cells = self.cells[sheet]
        self._release(cells, row, column)
        cells.put(row, column, value, self.pool)
        if self.precision is not None:
            self.precision.round_cells(cells, column, row, row)
        self.changed.append((sheet, row, row, column, column))

    def put_formula(self, sheet: int, row: int, column: int, text: str) -> None:
        """Write a formula (`text` with its '='); it spills where its value is an array.

        Raises:
            SyntaxFault: it is no formula.
        """
        tree = parse_or_suggest(text, row, column)
        cells = self.cells[sheet]
        self._release(cells, row, column)
        shape = Shape(tree, True, text)
        region = self._region(cells, row, row, column, shape, text, row, column)
        region.cover(row, column, True)
        self.graph.add(region)
        self.edited.add((sheet, row, column))
        self.changed.append((sheet, row, row, column, column))
        self._formulas_edited = True

    def put_column(self, sheet: int, column: int, first: int, values: Any, checked: Callable[[Any], Any]) -> None:
        """Write many constants of a column from a row on. `checked` as in `read_column`."""
        cells, count = self.cells[sheet], len(values)
        is_array = isinstance(values, np.ndarray) and values.dtype.kind in "fiu"
        listed: list[Any] = [] if is_array else values if type(values) is list else list(values)
        span = None if are_plain(listed) else span_of_list(listed, self.pool, checked)
        stored = cells.grown(column, first, first + count - 1)
        if stored.owners is not None:
            owned = np.flatnonzero(stored.owners[first - stored.base : first - stored.base + count] >= 0)
            rows = (owned + first).tolist()
            for row in rows:
                self._owner_of(cells, row, column)  # refused before anything is changed
            for row in rows:
                self._release(cells, row, column)
        if is_array:
            stored.fill_numbers(first, np.ascontiguousarray(values, np.float64))
        elif span is None:
            stored.fill_plain(first, listed, count, self.pool)
        else:
            stored.fill(first, span.kinds, span.numbers, span.codes)
        if self.precision is not None:
            self.precision.round_cells(cells, column, first, first + count - 1)
        self.changed.append((sheet, first, first + count - 1, column, column))

    def _owner_of(self, cells: SheetCells, row: int, column: int) -> Region | None:
        """Return the formula that a cell belongs to, if it may be taken out of it.

        Raises:
            PartOfArray: it may not.
        """
        region = self.owner(cells.index, row, column)
        if region is None or region.spills or (region.first, region.left) == (region.bottom, region.right):
            return region
        if region.fills:
            what = "an array formula" if region.shape.data_table is None else "a data table"
            raise PartOfArray(f"the cell is part of {what} that fills several cells")
        return region

    def _release(self, cells: SheetCells, row: int, column: int) -> None:
        """Take a cell out of the formula that it belongs to."""
        region, stored = self._owner_of(cells, row, column), cells.column(column)
        if region is None or stored is None:
            return
        self.edited.add((cells.index, row, column))
        self._formulas_edited = True
        if not region.fills:
            stored.own(row, row, -1)
            self._cut(region, row)
        elif (row, column) == (region.first, region.left):
            self.changed.append((cells.index, region.first, region.bottom, region.left, region.right))
            self.graph.remove(region)
            self.filling.empty(region)
        else:
            stored.own(row, row, -1)
            self.graph.mark_rows(region, region.first, region.first, self.changed)

    def _cut(self, region: Region, row: int) -> None:
        """Leave one row out of a region.

        With many such rows, make regions of what is between them.
        """
        if region.first == region.last:
            self.graph.remove(region)
            return
        region.holes = (region.holes or set()) | {row} if region.holes is None else region.holes
        region.holes.add(row)
        if len(region.holes) <= _HOLES_MAX:
            return
        self._replace(region, region.pieces(region.first, region.last))

    def _replace(self, region: Region, pieces: list[tuple[int, int]]) -> None:
        """Put regions of some of its rows in place of a region."""
        self.graph.remove(region)
        for first, last in pieces:
            piece = self._region(
                region.cells,
                first,
                last,
                region.left,
                region.shape,
                region.text,
                region.origin_row,
                region.origin_column,
            )
            self.graph.add(piece)

    def settle(self) -> None:
        """Take the values that the workbook came with as calculated.

        From here on only what edits touch is.
        """
        for region in self.graph.waiting:
            region.finish()
        self.graph.waiting.clear()
        self.calculated = True

    def calculate_blank(
        self, blank: Sequence[BlankRows], now: datetime | None, chance: Callable[[], float] | None, deadline: float
    ) -> CalculationOutcome:
        """Calculate these formulas of each sheet alone, from the values that the workbook came with and each other's.

        Before and after it, as far as `calculate` is concerned, every formula waits.

        Raises:
            LimitExceeded: it is past the deadline; what was calculated stays.
        """
        graph, outcome = self.graph, CalculationOutcome()
        self.environment.clocks(now, chance, deadline)
        marked = self._leave_waiting(blank)
        self.calculated = True
        try:
            with Locally(self.environment.locale):
                self._passes([], outcome, marked)
        finally:
            self.calculated = False
            for known in self.regions:
                if known is not None:
                    graph.mark_rows(known, known.first, known.last, [])
        for region, row, _ in outcome.faults:  # what asks for a clock that was not given has no value; others #VALUE!
            value = region.cells.value(row, region.left, self.pool)
            if (now is None or chance is None) and not region.fills and not isinstance(value, Error):
                region.cells.put(row, region.left, None, self.pool)
        return outcome

    def _leave_waiting(self, blank: Sequence[BlankRows]) -> set[Region]:
        """Have only these rows wait, of a new book; their regions."""
        regions = list(self.graph.waiting)
        self.graph.waiting.clear()
        marked = set()
        for region in regions:
            region.finish()
            rows = blank[region.cells.index].get(region.left)
            if rows is None:
                continue
            low, stop = np.searchsorted(rows, (region.first, region.last + 1)).tolist()
            if low < stop:
                marked.add(region)
                for first, last in runs_of_rows(rows[low:stop]):
                    self.graph.mark_rows(region, first, last, [])
        return marked

    def fill(self, sheet: int, first: int, last: int, column: int, tree: Node, text: str) -> Region:
        """Write one formula into the rows `first` to `last` of a column, in place of whatever they hold. `tree` and
        `text` (with its '=') are those of the first cell; its value is a single one.

        Raises:
            PartOfArray: one of the cells is part of an array formula that fills several.
        """
        cells = self.cells[sheet]
        self._release_rows(cells, first, last, column)
        shape = Shape(tree, lifts(tree), text)
        region = self._region(cells, first, last, column, shape, text, first, column)
        self.graph.add(region)
        self.changed.append((sheet, first, last, column, column))
        self._formulas_edited = True
        return region

    def _release_rows(self, cells: SheetCells, first: int, last: int, column: int) -> None:
        """Take rows of a column out of the formulas that they belong to."""
        stored = cells.column(column)
        if stored is None or stored.owners is None:
            return
        low, stop = max(first, stored.base), min(last + 1, stored.base + stored.size)
        owners = stored.owners[max(low - stored.base, 0) : max(stop - stored.base, 0)]
        owned = [(number, low + int(np.argmax(owners == number))) for number in np.unique(owners[owners >= 0]).tolist()]
        for _, row in owned:
            self._owner_of(cells, row, column)  # refused before anything is changed
        for number, row in owned:
            region = self.regions[number]
            assert region is not None
            if region.fills:
                for row in (np.flatnonzero(owners == number) + low).tolist():
                    self._release(cells, row, column)
                continue
            outside = [*region.pieces(region.first, first - 1), *region.pieces(last + 1, region.last)]
            stored.own(max(region.first, first), min(region.last, last), -1)
            self._replace(region, [(low, high) for low, high in outside if low <= high])

    # Calculation

    def use_locale(self, locale: Locale) -> None:
        """Read and write texts so from now on; what was calculated otherwise waits again."""
        wanted = None if locale is DEFAULT else locale
        if wanted is self.environment.locale:
            return
        self.environment.locale = wanted
        self.environment.indexes = {}  # they know which texts are numbers
        self._all_waits = True

    def calculate(
        self, now: datetime | None, chance: Callable[[], float] | None, deadline: float
    ) -> CalculationOutcome:
        """Calculate what waits and what the edits touched."""
        environment, graph, outcome = self.environment, self.graph, CalculationOutcome()
        environment.clocks(now, chance, deadline)
        work, self.changed = self.changed, []
        waiting = [region for region in self.regions if region is not None] if self._all_waits else self.graph.volatile
        self._all_waits = False
        if waiting or self.filling.blocked:
            for region in (*waiting, *self.filling.blocked):
                graph.mark_rows(region, region.first, region.last, work)
            self.filling.blocked.clear()
        if environment.locale is None:  # an edit takes some microseconds: entering a locale would be one in twenty
            self._passes(work, outcome)
        else:
            with Locally(environment.locale):
                self._passes(work, outcome)
        return outcome

    def _passes(self, work: list[Rectangle], outcome: CalculationOutcome, only: set[Region] | None = None) -> None:
        """Calculate until nothing waits.

        Of what an earlier pass touched, `only` these regions where they are given.
        """
        graph = self.graph
        for _ in range(_PASSES_MAX):
            edits = list(work) if self.environment.indexes else []
            if work and self.calculated:  # before the first time all waits anyway
                graph.propagate(work)
            self.calculated = True
            graph.forget_indexes(edits)
            graph.calculate()
            touched, cycles, faults, work = graph.take()
            outcome.touched += touched
            if faults:
                outcome.faults += faults
            if cycles or work or graph.data_tables:
                self._follow(cycles, work, outcome)
                if only is not None:
                    for region in graph.waiting:
                        if region not in only:
                            region.finish()
                work = []
            if not graph.waiting and not graph.data_tables:
                break

    def _follow(self, cycles: list[Cycle], work: list[Rectangle], outcome: CalculationOutcome) -> None:
        """See to what a pass leaves.

        Cells that need each other, what array formulas took or left, data tables.
        """
        if cycles and self.workbook.calculation.iterates:
            iterate(self, cycles, outcome)
        else:
            outcome.cycles += cycles
            if not work:
                self.data_tables.calculate(outcome)
        if work:
            self.propagate(work)

    def propagate(self, work: list[Rectangle]) -> None:
        """Have wait what depends on changed cells, while a calculation goes on."""
        self.graph.propagate(work)
        self.data_tables.keep()
        self.environment.indexes = {}

    # What others ask

    def read_column(self, sheet: int, column: int, values: Any, checked: Callable[[Any], Any]) -> None:
        """Fill a column of a new book from row 0 down.

        Constants, and formulas as texts with their '='.

        `checked` makes a cell's value of what is given, or raises.
        """
        cells = self.cells[sheet]
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
            if len(values):
                self.put_column(sheet, column, 0, values, checked)
            return
        listed = values if isinstance(values, list) else list(values)
        rows, texts = read_list(cells, column, listed, self.pool, checked)
        if not texts:
            return
        self._formulas_edited = True
        for run in runs_of_texts(texts, rows, np.full(len(rows), column, np.int32)):
            key = "=" + str(column) + str(run.shape)  # codes count anew with each column
            shape = self._shape(cells, key, run.text, run.first, column, False)
            spills = shape.tree is not None and may_be_array(shape.tree)
            if spills or (shape.tree is not None and lifts(shape.tree)):
                shape = self._shape(cells, key, run.text, run.first, column, True)
            if not spills:
                self.graph.add(self._region(cells, run.first, run.last, column, shape, run.text, run.first, column))
                continue
            for row in range(run.first, run.last + 1):
                region = self._region(cells, row, row, column, shape, run.text, run.first, column)
                region.cover(row, column, True)
                self.graph.add(region)

    @property
    def formulas_changed(self) -> bool:
        """Whether a formula is another than in the workbook, or fills other cells."""
        return self._formulas_edited or self.filling.has_moved

    def plain(self, sheet: int, row: int, column: int) -> Value:
        """Return the value of a cell, errors as their text."""
        value = self.cells[sheet].value(row, column, self.pool)
        if isinstance(value, Error):
            return value.text
        return float(value) if isinstance(value, Date) else value  # type: ignore[return-value]

    def owner(self, sheet: int, row: int, column: int) -> Region | None:
        """Return the region that a formula cell belongs to."""
        stored = self.cells[sheet].column(column)
        if stored is None or stored.owners is None or not 0 <= row - stored.base < stored.size:
            return None
        number = int(stored.owners[row - stored.base])
        return None if number < 0 else self.regions[number]

    def place(self, sheet: int, row: int, column: int) -> str:
        """Return a cell as a formula names it, its sheet in front."""
        return place_name(self.cells[sheet].name, row, row, column)

    def carried_range(self, region: Region) -> tuple[int, int]:
        """Return the last row and column that an array formula filled when the file was saved."""
        formulas = self.workbook.sheets[region.cells.index].formulas
        if self._ranges[region.cells.index] is None:
            self._ranges[region.cells.index] = {
                (int(formulas.rows[at]), int(formulas.columns[at])): parse_range(area)[2:]
                for at, area in formulas.arrays.items()
            }
        ranges = self._ranges[region.cells.index] or {}
        return ranges.get((region.first, region.left), (region.bottom, region.right))

    def _shape(self, cells: SheetCells, key: str | int, text: str, row: int, column: int, arrays: bool) -> Shape:
        shape = self._shapes.get((cells.index, key, arrays))
        if shape is None:
            fault = None
            tree: Node | None = None
            try:
                tree = parse(text, row, column)
            except FormulaError as error:
                fault = error.message
            shape = self._shapes[cells.index, key, arrays] = Shape(tree, arrays, text)
            shape.fault = fault
        return shape

    def _region(
        self, cells: SheetCells, first: int, last: int, column: int, shape: Shape, text: str, row: int, at: int
    ) -> Region:
        region = Region(len(self.regions), cells, first, last, column, shape, text, row, at)
        self.regions.append(region)
        cells.grown(column, first, last).own(first, last, region.number)
        return region


def _data_table_shape(text: str) -> Shape:
    """Return the shape of a data table. One that is damaged keeps its values."""
    shape = Shape(None, True, text)
    shape.data_table = data_table_of(text[1:])
    shape.carried = shape.data_table is None
    shape.ready = True
    return shape
