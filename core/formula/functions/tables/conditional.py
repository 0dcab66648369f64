"""Counting and adding what meets criteria: COUNTIF, SUMIFS and their kin."""

from __future__ import annotations

from functools import partial
from typing import Any

from core.formula.functions.catalogue import Argument, Takes, Work, function
from core.formula.ranges.environment import Environment
from core.formula.ranges.tally import Tally, tally, tally_many
from core.formula.values.criteria import Criterion
from core.formula.values.value import ALL_ERRORS, DIV0, VALUE, Array, Error, Failure, Reference
from core.grid.address import COLUMNS_MAX, ROWS_MAX

RANGE = Argument("range", Takes.RANGE, "The cells to test.")
CRITERION = Argument(
    "criteria",
    Takes.ANY,
    'What a cell must meet: a value, a comparison such as ">=5", or a pattern such as "a*".',
)
CRITERIA_RANGE = Argument(
    "criteria_range", Takes.RANGE, "The cells to test, of the shape of the first range.", repeats=True
)
CRITERIA = Argument("criteria", Takes.ANY, "What the range before it must meet.", repeats=True)

by_criteria = partial(
    function, work=Work(call=20_000, cell=200, column=20_000, reads=True, matches=True), environment=True
)
"""A row of a function that matches cells with criteria."""


def cells_of(cells: Any) -> Array:
    """Return a range argument: cells of a sheet, #VALUE! for anything else."""
    if isinstance(cells, Array) and cells.reference is not None:
        return cells
    raise Failure(cells if isinstance(cells, Error) else VALUE)


def shape_of(cells: Array) -> tuple[int, int]:
    """Return rows and columns as they were asked for.

    Whole columns are cut at the used cells.
    """
    reference = cells.reference or cells
    return reference.rows, reference.columns


def resized(environment: Environment, cells: Array, like: Array) -> Array:
    """Return a range made as large as another from its own top left corner.

    What SUMIF does with its third argument.
    """
    rows, columns = shape_of(like)
    if shape_of(cells) == (rows, columns):
        return cells
    start = cells.reference
    assert start is not None
    bottom, right = min(start.top + rows, ROWS_MAX) - 1, min(start.left + columns, COLUMNS_MAX) - 1
    return environment.array(Reference(start.sheet, start.top, start.left, bottom, right))


def ranges_one(environment: Environment, cells: Any, values: Any) -> tuple[Array, Array]:
    """Return the tested cells and the values of SUMIF and AVERAGEIF.

    Values None are the tested cells themselves.
    """
    tested = cells_of(cells)
    return tested, tested if values is None else resized(environment, cells_of(values), tested)


def tally_one(environment: Environment, cells: Any, criterion: Any, values: Any) -> Tally:
    """Return the tally of SUMIF and AVERAGEIF."""
    tested, numbers = ranges_one(environment, cells, values)
    return tally(environment, [tested], [Criterion(criterion, date_1904=environment.date_1904)], numbers)


def count(tally: Tally) -> float:
    """Return how many rows a tally has."""
    return float(tally.rows)


def total(tally: Tally) -> float | Error:
    """Return the sum of a tally, or the first error among its values."""
    return tally.sum if tally.error < 0 else ALL_ERRORS[tally.error]


def mean(tally: Tally) -> float | Error:
    """Return the mean of a tally; #DIV/0! without a number."""
    if tally.error >= 0:
        return ALL_ERRORS[tally.error]
    return tally.sum / tally.numbers if tally.numbers else DIV0


def least(tally: Tally) -> float | Error:
    """Return the smallest number of a tally; 0 without one."""
    if tally.error >= 0:
        return ALL_ERRORS[tally.error]
    return tally.smallest if tally.numbers else 0.0


def greatest(tally: Tally) -> float | Error:
    """Return the largest number of a tally; 0 without one."""
    if tally.error >= 0:
        return ALL_ERRORS[tally.error]
    return tally.largest if tally.numbers else 0.0


@by_criteria(
    "SUMIF", "math", "Adds the numbers whose cells meet a criterion.",
    RANGE, CRITERION,
    Argument("sum_range", Takes.RANGE, "The cells to add; the tested ones when left out.", required=False),
    examples=(('=SUMIF(A1:A5,">20")', 120.0), ('=SUMIF(B1:B5,"apple",A1:A5)', 50.0)),
)  # fmt: skip
def sumif(environment: Environment, cells: Any, criterion: Any, values: Any = None) -> float | Error:
    return total(tally_one(environment, cells, criterion, values))


@by_criteria(
    "SUMIFS", "math", "Adds the numbers whose rows meet several criteria.",
    Argument("sum_range", Takes.RANGE, "The cells to add."), CRITERIA_RANGE, CRITERIA,
    examples=(('=SUMIFS(A1:A5,B1:B5,"apple",C1:C5,">1")', 40.0),),
)  # fmt: skip
def sumifs(environment: Environment, values: Any, *pairs: Any) -> float | Error:
    return total(tally_many(environment, values, pairs))


@by_criteria(
    "COUNTIF", "statistical", "Counts the cells that meet a criterion.",
    RANGE, CRITERION,
    examples=(('=COUNTIF(B1:B5,"a*")', 2.0), ('=COUNTIF(A1:A5,"<>30")', 4.0)),
)  # fmt: skip
def countif(environment: Environment, cells: Any, criterion: Any) -> float:
    return count(tally(environment, [cells_of(cells)], [Criterion(criterion, date_1904=environment.date_1904)]))


@by_criteria(
    "COUNTIFS", "statistical", "Counts the rows that meet several criteria.",
    CRITERIA_RANGE, CRITERIA,
    examples=(('=COUNTIFS(B1:B5,"apple",A1:A5,">10")', 1.0),),
)  # fmt: skip
def countifs(environment: Environment, *pairs: Any) -> float:
    return count(tally_many(environment, None, pairs))


@by_criteria(
    "AVERAGEIF", "statistical", "The mean of the numbers whose cells meet a criterion.",
    RANGE, CRITERION,
    Argument("average_range", Takes.RANGE, "The cells to average; the tested ones when left out.", required=False),
    examples=(('=AVERAGEIF(A1:A5,">20")', 40.0),),
)  # fmt: skip
def averageif(environment: Environment, cells: Any, criterion: Any, values: Any = None) -> float | Error:
    return mean(tally_one(environment, cells, criterion, values))


@by_criteria(
    "AVERAGEIFS", "statistical", "The mean of the numbers whose rows meet several criteria.",
    Argument("average_range", Takes.RANGE, "The cells to average."), CRITERIA_RANGE, CRITERIA,
    examples=(('=AVERAGEIFS(A1:A5,B1:B5,"apple")', 25.0),),
)  # fmt: skip
def averageifs(environment: Environment, values: Any, *pairs: Any) -> float | Error:
    return mean(tally_many(environment, values, pairs))


@by_criteria(
    "MINIFS", "statistical", "The smallest number among the rows that meet several criteria; 0 without one.",
    Argument("min_range", Takes.RANGE, "The cells to compare."), CRITERIA_RANGE, CRITERIA,
    examples=(('=MINIFS(A1:A5,C1:C5,">2")', 30.0),),
)  # fmt: skip
def minifs(environment: Environment, values: Any, *pairs: Any) -> float | Error:
    return least(tally_many(environment, values, pairs))


@by_criteria(
    "MAXIFS", "statistical", "The largest number among the rows that meet several criteria; 0 without one.",
    Argument("max_range", Takes.RANGE, "The cells to compare."), CRITERIA_RANGE, CRITERIA,
    examples=(('=MAXIFS(A1:A5,B1:B5,"apple")', 40.0),),
)  # fmt: skip
def maxifs(environment: Environment, values: Any, *pairs: Any) -> float | Error:
    return greatest(tally_many(environment, values, pairs))


@function(
    "COUNTBLANK",
    "statistical",
    "Counts the cells that are blank or hold empty text.",
    RANGE,
    work=Work(call=20_000, cell=200, column=20_000),
    examples=(("=COUNTBLANK(D1:D5)", 1.0),),
    environment=True,
)
def countblank(environment: Environment, cells: Any) -> float:
    return count(tally(environment, [cells_of(cells)], [Criterion("")]))
