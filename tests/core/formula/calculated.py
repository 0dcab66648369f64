"""A formula's value over a few cells, for the tests of the families."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import core.formula.functions.families  # noqa: F401 - fills the catalogue
from core.formula.language.parser import parse
from core.formula.machine.machine import compile as compile_tree
from core.formula.ranges.environment import Environment
from core.formula.values.value import Array, Reference
from core.grid.address import parse_cell


class Cells(Environment):
    """One sheet of values by A1 names, with formulas and hidden rows where asked for."""

    def __init__(
        self,
        cells: Mapping[str, Any],
        *,
        formulas: Mapping[str, str] | None = None,
        hidden: Mapping[int, str] | None = None,
        chance: Callable[[], float] = lambda: 0.5,
    ) -> None:
        self._values = {parse_cell(name): float(v) if type(v) is int else v for name, v in cells.items()}
        self._formulas = {parse_cell(name): text for name, text in (formulas or {}).items()}
        self._hidden = hidden or {}
        self._chance = chance

    def cell(self, sheet: str | None, row: int, column: int) -> Any:
        return self._values.get((row, column))

    def array(self, reference: Reference) -> Array:
        rows, columns = range(reference.top, reference.bottom + 1), range(reference.left, reference.right + 1)
        cells = [self._values.get((row, column)) for row in rows for column in columns]
        return Array(len(rows), len(columns), cells, reference=reference)

    def formula(self, sheet: str | None, row: int, column: int) -> str | None:
        return self._formulas.get((row, column))

    def hidden(self, sheet: str | None, row: int) -> str | None:
        return self._hidden.get(row)

    def used(self, sheet: str | None) -> tuple[int, int]:
        places = self._values.keys() | self._formulas.keys()
        return max(row for row, _ in places) + 1, max(column for _, column in places) + 1

    def random(self) -> float:
        return self._chance()


def calculated(formula: str, cells: Mapping[str, Any] | Cells | None = None, *, arrays: bool = True) -> Any:
    """The value; that of an array as a list of rows."""
    environment = cells if isinstance(cells, Cells) else Cells(cells or {})
    value = compile_tree(parse(formula), arrays=arrays, text=formula).run(environment)
    return value.grid() if isinstance(value, Array) else value


def same(result: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Equal, numbers to a relative tolerance, errors by their text, arrays place by place."""
    if isinstance(expected, list | tuple):
        return (
            isinstance(result, list | tuple)
            and len(result) == len(expected)
            and all(same(item, second, tolerance) for item, second in zip(result, expected, strict=True))
        )
    if isinstance(expected, bool) or isinstance(result, bool):
        return result is expected
    if isinstance(expected, int | float):
        return isinstance(result, float) and math.isclose(result, expected, rel_tol=tolerance, abs_tol=1e-300)
    return str(result) == expected
