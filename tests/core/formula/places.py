"""A small book in memory for the tests of the formula engine.

Cells by sheet and name, names, tables, spills.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.formula.functions.catalogue import EXAMPLE_CELLS
from core.formula.language.parser import parse
from core.formula.language.tree import Structured
from core.formula.machine import machine
from core.formula.ranges.environment import Environment
from core.formula.values.value import REF, Array, Failure, Reference
from core.grid.address import parse_cell, parse_range

OTHER_CELLS = {"A1": 1.0, "A2": 2.0, "A3": "three", "B1": 100.0}
"""Cells of the second sheet."""


class Place(Environment):
    """The example cells on Sheet1, OTHER_CELLS on `Other`, a third sheet `Last` with A1 = 7."""

    def __init__(self, names: dict[str, str] | None = None) -> None:
        super().__init__()
        self.sheet = "Sheet1"
        self.books = {
            "sheet1": {parse_cell(name): value for name, value in EXAMPLE_CELLS.items()},
            "other": {parse_cell(name): value for name, value in OTHER_CELLS.items()},
            "last": {(0, 0): 7.0},
        }
        self.names = {} if names is None else names

    def cells(self, sheet: str | None) -> dict[tuple[int, int], Any] | None:
        return self.books.get((sheet or self.sheet or "").casefold())

    def cell(self, sheet: str | None, row: int, column: int) -> Any:
        cells = self.cells(sheet)
        return REF if cells is None else cells.get((row, column))

    def array(self, reference: Reference) -> Array:
        cells = self.cells(reference.sheet)
        if cells is None:
            raise Failure(REF)
        bottom, right = min(reference.bottom, max(reference.top, 9)), min(reference.right, max(reference.left, 9))
        rows, columns = range(reference.top, bottom + 1), range(reference.left, right + 1)
        self.spend(len(rows) * len(columns))
        values = [cells.get((row, column)) for row in rows for column in columns]
        return Array(len(rows), len(columns), values, reference=reference)

    def name(self, sheet: str | None, name: str) -> Any:
        text = self.names.get(name.casefold())
        if text is None:
            return super().name(sheet, name)
        return machine.compile(parse(text), text=text, unknown_as_name=True).refer(self)

    def structured(self, node: Structured) -> Reference:
        if node.table not in (None, "Fruit") or node.first != "Price":
            raise Failure(REF)
        if node.items == ("#This Row",):
            return Reference(None, self.row, 0, self.row, 0)
        return Reference(None, 0, 0, 4, 0)

    def spill(self, sheet: str | None, row: int, column: int) -> Reference | None:
        return Reference(sheet, 0, 2, 4, 2) if (row, column) == (0, 2) else None

    def sheets(self) -> list[str]:
        return ["Sheet1", "Other", "Last"]

    def used(self, sheet: str | None) -> tuple[int, int]:
        return (5, 4)

    def moment(self) -> datetime:
        return datetime(2026, 11, 20, 18, 0)  # noqa: DTZ001 - a spreadsheet has no zone

    def random(self) -> float:
        return 0.25


def value(
    text: str, *, arrays: bool = True, at: str = "Z1", names: dict[str, str] | None = None, place: Place | None = None
) -> Any:
    """A formula's value in a cell of Sheet1; an Array as its list of rows."""
    place = Place(names) if place is None else place
    place.row, place.column = parse_cell(at)
    program = machine.compile(parse(text, place.row, place.column), arrays=arrays, text=text, unknown_as_name=True)
    result = program.run(place)
    return result.grid() if isinstance(result, Array) else result


def area(name: str) -> Reference:
    """The Reference of `A1:B2` on the formula's own sheet."""
    return Reference(None, *parse_range(name))
