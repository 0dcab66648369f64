"""The formulas of a sheet, grouped into regions.

Runs of one column that share one relative formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.formula.language import shapes
from core.grid.address import parse_range
from core.grid.sheet import Formulas


@dataclass(frozen=True, slots=True)
class FormulaRun:
    """Formula cells of one column, one below the other, that share one relative formula."""

    first: int
    last: int
    column: int
    text: str
    """The formula with its '=', as it stands in the origin's cell."""
    origin_row: int
    origin_column: int
    shape: int
    """Equal for equal relative formulas of the sheet."""
    fills: tuple[int, int, int, int] | None = None
    """The range of an array formula: first row, first column, last row, last column."""
    spills: bool = False


def runs_of_texts(texts: list[str], rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Iterator[FormulaRun]:
    """Yield the runs of formulas given one by one, with their '=', in (column, row) order."""
    codes, _ = shapes(texts, rows, columns)
    for first, last in _bounds(rows, columns, codes):
        yield FormulaRun(
            int(rows[first]),
            int(rows[last]),
            int(columns[first]),
            texts[first],
            int(rows[first]),
            int(columns[first]),
            int(codes[first]),
        )


def runs_of_formulas(formulas: Formulas) -> Iterator[FormulaRun]:
    """Yield the runs of a sheet's formulas as a file holds them, array formulas apart."""
    if not len(formulas):
        return
    strings = formulas.text.strings()
    # One text for each origin; what was filled from it has its shape without being looked at.
    origins, place = np.unique(formulas.origins, return_inverse=True)
    texts = ["=" + strings[code] for code in formulas.texts[origins].tolist()]
    codes, _ = shapes(
        texts, np.ascontiguousarray(formulas.rows[origins]), np.ascontiguousarray(formulas.columns[origins])
    )
    plain = np.ones(len(formulas), bool)
    for at, area in formulas.arrays.items():
        plain[at] = False
        top, left, bottom, right = parse_range(area)
        origin, row, column = int(formulas.origins[at]), int(formulas.rows[at]), int(formulas.columns[at])
        if (top, left) != (row, column):  # a damaged range: the formula fills its own cell
            top, left, bottom, right = row, column, row, column
        text = "=" + strings[int(formulas.texts[origin])]
        yield FormulaRun(
            row,
            row,
            column,
            text,
            row,
            column,
            int(codes[place[at]]),
            (top, left, bottom, right),
            at in formulas.dynamic,
        )
    chosen = np.flatnonzero(plain)
    chosen = chosen[np.lexsort((formulas.rows[chosen], formulas.columns[chosen]))]
    rows, columns, place = formulas.rows[chosen], formulas.columns[chosen], place[chosen]
    for first, last in _bounds(rows, columns, codes[place]):
        at = int(place[first])
        origin = int(origins[at])
        yield FormulaRun(
            int(rows[first]),
            int(rows[last]),
            int(columns[first]),
            texts[at],
            int(formulas.rows[origin]),
            int(formulas.columns[origin]),
            int(codes[at]),
        )


def _bounds(rows: NDArray[np.int32], columns: NDArray[np.int32], codes: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
    """First and last index of each run, the cells in (column, row) order."""
    if not len(rows):
        return
    breaks = (np.diff(columns) != 0) | (np.diff(rows) != 1) | (np.diff(codes) != 0)
    starts = np.concatenate(([0], np.flatnonzero(breaks) + 1)).tolist()
    yield from zip(starts, [*(start - 1 for start in starts[1:]), len(rows) - 1], strict=True)
