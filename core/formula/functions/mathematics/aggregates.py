"""SUBTOTAL and AGGREGATE.

One of the summaries over cells, hidden rows, errors or other subtotals left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from core.formula.functions.catalogue import Argument, Takes, function
from core.formula.functions.describe import number
from core.formula.functions.statistics.ranking import (
    large,
    median,
    percentile,
    percentile_exclusive,
    quartile,
    quartile_exclusive,
    small,
)
from core.formula.functions.statistics.statistical import SPREAD_BODIES, count_all, mode
from core.formula.ranges.environment import Environment
from core.formula.ranges.reduce import average_of, count_of, maximum_of, minimum_of, product_of, sum_of
from core.formula.values.value import VALUE, Array, Error, Failure, Reference

_NO_CELLS: Final = Environment()
"""For bodies that keep the order of a range: what is left of one here must not stand for all of it."""

_SUMMARIES: Final[tuple[Callable[..., Any], ...]] = (
    average_of,
    count_of,
    count_all,
    maximum_of,
    minimum_of,
    product_of,
    SPREAD_BODIES["STDEV.S"],
    SPREAD_BODIES["STDEV.P"],
    sum_of,
    SPREAD_BODIES["VAR.S"],
    SPREAD_BODIES["VAR.P"],
    partial(median, _NO_CELLS),
    mode,
)
"""By function number, from 1. SUBTOTAL has the first eleven."""

_SUBTOTALS: Final = 11
_PLACED: Final = (large, small, percentile, quartile, percentile_exclusive, quartile_exclusive)
"""AGGREGATE's functions 14 to 19, which take an array and a place."""

_SUBTOTAL_CALL: Final = re.compile(r"\b(?:SUBTOTAL|AGGREGATE)\s*\(", re.IGNORECASE)


def _cells(
    environment: Environment, reference: Reference, hidden: frozenset[str], *, subtotals: bool, errors: bool
) -> Array:
    """Return the cells of all areas without hidden rows, without cells that hold a subtotal, without errors, as asked
    for."""
    kept: list[Any] = []
    for area in reference.areas:
        block = environment.array(area)
        environment.spend(block.rows)
        cells, width = block.cells(), block.columns
        for at in range(block.rows):
            row = area.top + at
            if hidden and environment.hidden(area.sheet, row) in hidden:
                continue
            for column in range(width):
                cell = cells[at * width + column]
                if cell is None or (errors and isinstance(cell, Error)):
                    continue
                if subtotals and _holds_subtotal(environment, area.sheet, row, area.left + column):
                    continue
                kept.append(cell)
    return Array(max(len(kept), 1), 1, kept or [None], reference=reference)


def _holds_subtotal(environment: Environment, sheet: str | None, row: int, column: int) -> bool:
    formula = environment.formula(sheet, row, column)
    return formula is not None and _SUBTOTAL_CALL.search(formula) is not None


_FILTERED: Final = frozenset({"filter"})
_HIDDEN: Final = frozenset({"filter", "manual"})


@function(
    "SUBTOTAL", "math", "A summary of cells that leaves out other subtotals and rows that a filter hides.",
    number("function_num", "1 AVERAGE, 2 COUNT, 3 COUNTA, 4 MAX, 5 MIN, 6 PRODUCT, 7 STDEV, 8 STDEVP, 9 SUM, 10 VAR, "
           "11 VARP; 101 to 111 leave all hidden rows out."),
    Argument("ref1", Takes.REFERENCE, "The cells."),
    Argument("ref2", Takes.REFERENCE, "Further ones.", required=False, repeats=True),
    environment=True,
    examples=(("=SUBTOTAL(9,A1:A5)", 150.0), ("=SUBTOTAL(101,A1:A5)", 30.0), ("=SUBTOTAL(12,A1:A5)", VALUE)),
)  # fmt: skip
def subtotal(environment: Environment, which: float, *references: Reference) -> Any:
    which = int(which)
    hidden = _HIDDEN if which > 100 else _FILTERED
    which -= 100 if which > 100 else 0
    if not 1 <= which <= _SUBTOTALS:
        raise Failure(VALUE)
    return _SUMMARIES[which - 1](
        *[_cells(environment, reference, hidden, subtotals=True, errors=False) for reference in references]
    )


@function(
    "AGGREGATE", "math", "A summary of cells that can leave out hidden rows, errors and other subtotals.",
    number("function_num", "1 to 11 as SUBTOTAL, 12 MEDIAN, 13 MODE.SNGL, 14 LARGE, 15 SMALL, 16 PERCENTILE.INC, "
           "17 QUARTILE.INC, 18 PERCENTILE.EXC, 19 QUARTILE.EXC."),
    number("options", "What to leave out: 0 subtotals, 1 and hidden rows, 2 and errors, 3 both too; 4 nothing, "
           "5 hidden rows, 6 errors, 7 both."),
    Argument("ref1", Takes.OPERAND, "The cells; an array too for the functions from 14."),
    Argument("ref2", Takes.OPERAND, "Further cells; the place for the functions from 14.", required=False,
             repeats=True),
    environment=True,
    examples=(("=AGGREGATE(9,4,A1:A5)", 150.0), ("=AGGREGATE(14,6,A1:A5,2)", 40.0), ("=AGGREGATE(20,4,A1)", VALUE)),
)  # fmt: skip
def aggregate(environment: Environment, which: float, options: float, *operands: Any) -> Any:
    which, options = int(which), int(options)
    if not 1 <= which <= len(_SUMMARIES) + len(_PLACED) or not 0 <= options <= 7:
        raise Failure(VALUE)
    hidden, errors = _HIDDEN if options % 2 else frozenset(), bool(options & 2)

    def read(operand: Any) -> Array:
        if isinstance(operand, Reference):
            return _cells(environment, operand, hidden, subtotals=options < 4, errors=errors)
        cells = operand.cells() if isinstance(operand, Array) else [operand]
        kept = [cell for cell in cells if not (errors and isinstance(cell, Error))] or [None]
        return Array(len(kept), 1, kept)

    if which <= len(_SUMMARIES):
        if not all(isinstance(operand, Reference) for operand in operands):
            raise Failure(VALUE)
        return _SUMMARIES[which - 1](*map(read, operands))
    if len(operands) != 2:
        raise Failure(VALUE)
    body = partial(_PLACED[which - 1 - len(_SUMMARIES)], _NO_CELLS, read(operands[0]))
    places = _place(environment, operands[1])
    if not isinstance(places, Array):
        return body(places)
    return Array(places.rows, places.columns, list(map(body, places.cells())))


def _place(environment: Environment, operand: Any) -> Any:
    return environment.array(operand) if isinstance(operand, Reference) else operand
