"""What a calculation of a book came to.

The cells that it calculated, beside the values that the file carried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from core.frames.brief import brief
from core.grid.address import cell_name, column_name, fill_down, place_name
from core.grid.sheet import Value
from core.recalc.regions import Region
from core.words import counted

if TYPE_CHECKING:
    from core.recalc.engine import Engine

RELATIVE_MAX: Final = 1e-9
"""Largest difference of two equal numbers, as a part of the larger."""

ABSOLUTE_MAX: Final = 1e-12
"""Largest difference of two numbers that are both as good as zero."""


def same(value: Value, cached: Value) -> bool:
    """Return whether a calculated value is the carried one.

    Numbers nearly, all else exactly; an empty text is a blank.
    """
    if type(value) is float and type(cached) is float:
        difference = abs(value - cached)
        return difference <= RELATIVE_MAX * max(abs(value), abs(cached)) or difference <= ABSOLUTE_MAX
    if value is None or cached is None:
        return value in (None, "") and cached in (None, "")
    return type(value) is type(cached) and value == cached


@dataclass(frozen=True, slots=True)
class Row:
    """One calculated cell."""

    sheet: str
    cell: str
    formula: str
    """With its '='; of a filled or spilled cell that of the array formula."""
    value: Value
    """A number (dates as serials), a text (errors as theirs), a boolean; None for blank."""
    cached: Value
    """What the file carried; None too for a cell that was edited since or came without one."""
    match: bool

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class CalculationFault:
    """Cells whose formula could not be calculated as it stands, and why."""

    reason: str
    cells: tuple[str, ...]
    """As Sheet1!A1; a run of them as Sheet1!A1:A9."""

    __repr__ = brief


@dataclass(slots=True)
class Recalculation:
    """One calculation.

    Its rows are read from the book when they are asked for: they show it as it then stands.
    """

    elapsed_seconds: float
    cell_count: int
    """Formula cells calculated, with those that array formulas fill; volatile ones again each time."""
    cycles: tuple[tuple[str, ...], ...]
    """Cells that need each other, one tuple a cycle, in the order in which they do. They keep the values that they had
    (0 where they had none), as Excel does when it warns of a circular reference: neither they nor what depends on them
    are current. Empty where the workbook iterates."""
    locale: str
    """In which dates and numbers were read from texts: en-US, de-DE, ..."""
    iterations: int
    """How often cells that need each other were calculated, where the workbook turns iterative calculation on."""
    unconverged: tuple[str, ...]
    """Cells that still changed by as much as the workbook lets them when its count of iterations was done. They have
    the values of the last one, as in Excel."""
    _engine: Engine = field(repr=False)
    _touched: list[tuple[Region, int, int]] = field(repr=False)
    _faults: list[tuple[Region, int, str]] = field(repr=False)

    @property
    def unsupported(self) -> dict[str, tuple[str, ...]]:
        """Functions that the engine does not have, with the cells that call them.

        Their value is #NAME?.
        """
        places: dict[str, list[str]] = {}
        for region, low, high in self._runs():
            if region.shape.unsupported is not None:
                places.setdefault(region.shape.unsupported, []).append(_place(region, low, high))
        return {name: tuple(cells) for name, cells in sorted(places.items())}

    @property
    def external(self) -> tuple[str, ...]:
        """Cells that refer to another workbook; they keep the values that they came with."""
        return tuple(_place(region, low, high) for region, low, high in self._runs() if region.shape.carried)

    @property
    def faults(self) -> tuple[CalculationFault, ...]:
        """Formulas that could not be read (#NAME?), or passed a limit (#VALUE!)."""
        places: dict[str, list[str]] = {}
        for region, low, high in self._runs():
            if region.shape.fault is not None:
                places.setdefault(region.shape.fault, []).append(_place(region, low, high))
        for region, row, reason in self._faults:
            places.setdefault(reason, []).append(_place(region, row, row))
        return tuple(CalculationFault(reason, tuple(dict.fromkeys(cells))) for reason, cells in places.items())

    def __repr__(self) -> str:
        cycles = f", {counted(len(self.cycles), 'cycle')}" if self.cycles else ""
        return f"Recalculation({counted(self.cell_count, 'cell')} in {self.elapsed_seconds:.3g} s{cycles})"

    def __iter__(self) -> Iterator[Row]:
        return self.rows()

    def __len__(self) -> int:
        return self.cell_count

    def rows(self) -> Iterator[Row]:
        """Yield each calculated cell once, by sheet and column."""
        for region, low, high in self._runs():
            if region.fills:
                yield from self._filled(region)
                continue
            yield from self._plain(region, low, high)

    def _plain(self, region: Region, low: int, high: int) -> Iterator[Row]:
        """Yield rows of a region without holes."""
        engine, cells, column = self._engine, region.cells, region.left
        sheet, name, letters = engine.workbook.sheets[cells.index], cells.name, column_name(column)
        formulas = fill_down(region.formula(low, column)[1:], high - low + 1)
        edited = engine.edited if engine.formulas_changed else ()
        for row, formula in enumerate(formulas, low):
            value = engine.plain(cells.index, row, column)
            cached = None if (cells.index, row, column) in edited else sheet.value(row, column)
            yield Row(name, f"{letters}{row + 1}", "=" + formula, value, cached, same(value, cached))

    def _filled(self, region: Region) -> Iterator[Row]:
        """Yield the cells of an array formula.

        Those that it fills, and those that it filled when the file was saved.
        """
        engine, cells = self._engine, region.cells
        sheet = engine.workbook.sheets[cells.index]
        edited = (cells.index, region.first, region.left) in engine.edited
        bottom, right = region.bottom, region.right
        formula = region.formula(region.first, region.left)
        if not edited:
            # What a range has beyond every cell that the file stores is blank on both sides, and may be a whole sheet.
            low, end = engine.carried_range(region)
            bottom = max(bottom, min(low, sheet.row_count - 1))
            right = max(right, min(end, len(sheet.columns) - 1))
        for row in range(region.first, bottom + 1):
            for column in range(region.left, right + 1):
                key = (cells.index, row, column)
                if (row > region.bottom or column > region.right) and engine.owner(*key) is not None:
                    continue
                value = engine.plain(*key)
                cached = None if edited or key in engine.edited else sheet.value(row, column)
                yield Row(cells.name, cell_name(row, column), formula, value, cached, same(value, cached))

    def _runs(self) -> Iterator[tuple[Region, int, int]]:
        """Yield what was calculated and still stands, as runs of rows without holes, each once, in the book's order."""
        runs: dict[Region, list[tuple[int, int]]] = {}
        for region, low, high in self._touched:
            if region.alive:
                runs.setdefault(region, []).append((low, high))
        for region in sorted(runs, key=lambda region: (region.cells.index, region.left, region.first)):
            if region.fills:
                yield region, region.first, region.first
                continue
            for low, high in _merge(runs[region]):
                for first, last in region.pieces(low, high):
                    yield region, first, last


def count_cells(touched: list[tuple[Region, int, int]]) -> int:
    """Return cells of what was calculated, each once."""
    if len(touched) == 1:
        region, low, high = touched[0]
        if not region.fills:
            return high - low + 1
    if len({region for region, _, _ in touched}) == len(touched):
        return sum(
            (region.bottom - region.first + 1) * (region.right - region.left + 1) if region.fills else high - low + 1
            for region, low, high in touched
        )
    runs_by_region: dict[Region, list[tuple[int, int]]] = {}
    for region, low, high in touched:
        runs_by_region.setdefault(region, []).append((low, high))
    count = 0
    for region, runs in runs_by_region.items():
        if region.fills:
            count += (region.bottom - region.first + 1) * (region.right - region.left + 1)
        else:
            count += sum(high - low + 1 for low, high in _merge(runs))
    return count


def _merge(runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return runs of rows in order, those that meet made one."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(runs):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def _place(region: Region, low: int, high: int) -> str:
    return place_name(region.cells.name, low, high, region.left)
