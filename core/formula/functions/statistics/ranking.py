"""Numbers by their order: the middle, ranks, percentiles, frequencies.

The sorted numbers of a range are kept in the environment from the second question on: a RANK filled down a column
sorts it once. (From the second one only: of the ever longer ranges of RANK(A9,A$1:A9) each is asked just once.)
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any, Final

from core.formula.functions.catalogue import Argument, Takes, Work, function
from core.formula.functions.describe import array, cells, many, number
from core.formula.ranges.environment import Environment
from core.formula.ranges.reduce import numbers, ordered, round_down, spread
from core.formula.values.value import NA, NUM, VALUE, Array, Error, Failure

_KEPT_CELLS_MIN: Final = 64
"""Ranges smaller than this are sorted anew each time."""

_ARRAY = cells("array", "The numbers.")


def _ordered(environment: Environment, values: Any) -> Sequence[float]:
    """Return the numbers of one argument from the least to the greatest."""
    kept = environment.indexes
    if kept is None or not isinstance(values, Array) or values.reference is None or values.reference.more:
        return ordered(values)
    if values.rows * values.columns < _KEPT_CELLS_MIN:
        return ordered(values)
    top, left = values.reference.top, values.reference.left
    sheet = environment.sheet if values.reference.sheet is None else values.reference.sheet
    key = (sheet, top, left, top + values.rows - 1, left + values.columns - 1, "ordered")
    if key not in kept:
        kept[key] = None
        return ordered(values)
    if kept[key] is None:
        kept[key] = ordered(values)
    in_order: Sequence[float] = kept[key]
    return in_order


def _some(environment: Environment, values: Any) -> Sequence[float]:
    """Return the ordered numbers; NUM where there are none."""
    in_order = _ordered(environment, values)
    if not len(in_order):
        raise Failure(NUM)
    return in_order


@function(
    "MEDIAN", "statistical", "The number in the middle.",
    *many("number1", "number2", "A number or a range of numbers."), environment=True,
    work=Work(call=5_000, cell=500),
    examples=(("=MEDIAN(1,2,3,4)", 2.5), ("=MEDIAN(A1:A5)", 30.0)),
)  # fmt: skip
def median(environment: Environment, *arguments: Any) -> float:
    in_order = _some(environment, arguments[0]) if len(arguments) == 1 else ordered(*arguments)
    if not len(in_order):
        raise Failure(NUM)
    half = len(in_order) // 2
    return float(in_order[half] if len(in_order) % 2 else (in_order[half - 1] + in_order[half]) / 2)


@function(
    "TRIMMEAN", "statistical", "The mean without the outermost numbers on both sides.",
    _ARRAY, number("percent", "The share to leave out, 0 to below 1."),
    examples=(("=ROUND(TRIMMEAN({4,5,6,7,2,3,4,5,1,2,3},0.2),6)", 3.777778),),
)  # fmt: skip
def trimmed_mean(values: Array, share: float) -> float:
    in_order = sorted(numbers((values,)))
    if not in_order or not 0 <= share < 1:
        raise Failure(NUM)
    cut = int(round_down(len(in_order) * share / 2, 0))
    return spread(in_order[cut : len(in_order) - cut])[0]


@function(
    "LARGE", "statistical", "The k-th greatest number.", _ARRAY, number("k", "From 1; decimals are cut."),
    environment=True, work=Work(call=5_000, cell=500), examples=(("=LARGE(A1:A5,2)", 40.0), ("=LARGE(A1:A5,6)", NUM)),
)  # fmt: skip
def large(environment: Environment, values: Array, k: float) -> float:
    in_order = _some(environment, values)
    if not 1 <= k < len(in_order) + 1:
        raise Failure(NUM)
    return float(in_order[-int(k)])


@function(
    "SMALL", "statistical", "The k-th least number.", _ARRAY, number("k", "From 1; decimals are cut."),
    environment=True, work=Work(call=5_000, cell=500), examples=(("=SMALL(A1:A5,2)", 20.0), ("=SMALL(A1:A5,0)", NUM)),
)  # fmt: skip
def small(environment: Environment, values: Array, k: float) -> float:
    in_order = _some(environment, values)
    if not 1 <= k <= len(in_order):
        raise Failure(NUM)
    return float(in_order[int(k) - 1])


_RANK = (
    number("number", "The number to find."),
    cells("ref", "The numbers to compare with."),
    Argument("order", Takes.VALUE, "0: the greatest is first; else the least; no text.", required=False),
)


def _rank(environment: Environment, value: float, values: Any, order: Any) -> tuple[int, int]:
    """Return the first place of a number among the sorted ones, from 1, and how often it is there.

    Raises:
        Failure: VALUE where the order is text, digits too; NA where the number is not among them.
    """
    if isinstance(order, str):
        raise Failure(VALUE)
    in_order = _ordered(environment, values)
    low, high = bisect_left(in_order, value), bisect_right(in_order, value)
    if low == high:
        raise Failure(NA)
    return (low if order else len(in_order) - high) + 1, high - low


def rank(environment: Environment, value: float, values: Any, order: Any = 0.0) -> float:
    return float(_rank(environment, value, values, order)[0])


for _name in ("RANK", "RANK.EQ"):
    function(
        _name, "statistical", "The place of a number among others; equal ones share the best.", *_RANK,
        environment=True,
        examples=((f"={_name}(40,A1:A5)", 2.0), (f"={_name}(40,A1:A5,1)", 4.0), (f"={_name}(1,A1:A5)", NA)),
    )(rank)  # fmt: skip


@function(
    "RANK.AVG", "statistical", "The place of a number among others; equal ones share the mean.", *_RANK,
    environment=True, examples=(("=RANK.AVG(40,A1:A5)", 2.0),),
)  # fmt: skip
def rank_average(environment: Environment, value: float, values: Any, order: Any = 0.0) -> float:
    first, count = _rank(environment, value, values, order)
    return first + (count - 1) / 2


# Percentiles.


def _between(in_order: Sequence[float], position: float) -> float:
    """Return the number at a place between 0 and the last, on the line between its neighbours."""
    low = int(round_down(position, 0))
    part = position - low
    if part <= 0 or low + 1 >= len(in_order):
        return float(in_order[low])
    return float(in_order[low] + part * (in_order[low + 1] - in_order[low]))


def percentile(environment: Environment, values: Array, k: float) -> float:
    in_order = _some(environment, values)
    if not 0 <= k <= 1:
        raise Failure(NUM)
    return _between(in_order, k * (len(in_order) - 1))


def percentile_exclusive(environment: Environment, values: Array, k: float) -> float:
    in_order = _some(environment, values)
    place = k * (len(in_order) + 1)
    if not (0 < k < 1 and 1 <= place <= len(in_order)):
        raise Failure(NUM)
    return _between(in_order, place - 1)


def quartile(environment: Environment, values: Array, quart: float) -> float:
    return percentile(environment, values, math.floor(quart) / 4)


def quartile_exclusive(environment: Environment, values: Array, quart: float) -> float:
    return percentile_exclusive(environment, values, math.floor(quart) / 4)


_PERCENTILES: tuple[tuple[str, str, Any, Callable[..., float], tuple[str, Any]], ...] = (
    ("PERCENTILE", "The number below which a share of the numbers lies.", number("k", "0 to 1."),
     percentile, ("=PERCENTILE({1,2,3,4},0.3)", 1.9)),
    ("PERCENTILE.INC", "The number below which a share of the numbers lies.", number("k", "0 to 1."),
     percentile, ("=PERCENTILE.INC(A1:A5,0.5)", 30.0)),
    ("PERCENTILE.EXC", "The number below which a share lies, ends left out.", number("k", "Between 0 and 1."),
     percentile_exclusive, ("=PERCENTILE.EXC({1,2,3,6,6,6,7,8,9},0.25)", 2.5)),
    ("QUARTILE", "The bound of a quarter.", number("quart", "0 to 4."), quartile, ("=QUARTILE({1,2,4,7,8,9},1)", 2.5)),
    ("QUARTILE.INC", "The bound of a quarter.", number("quart", "0 to 4."), quartile, ("=QUARTILE.INC(A1:A5,4)", 50.0)),
    ("QUARTILE.EXC", "The bound of a quarter, ends left out.", number("quart", "1 to 3."),
     quartile_exclusive, ("=QUARTILE.EXC({6,7,15,36,39,40,41,42,43,47,49},1)", 15.0)),
)  # fmt: skip
for _name, _description, _share, _body, _example in _PERCENTILES:
    function(_name, "statistical", _description, _ARRAY, _share, environment=True, examples=(_example,))(_body)


def _percent_rank(environment: Environment, values: Array, x: float, significance: float, exclusive: bool) -> float:
    in_order = _some(environment, values)
    if significance < 1:
        raise Failure(NUM)
    if not in_order[0] <= x <= in_order[-1]:
        raise Failure(NA)
    below = float(bisect_left(in_order, x))
    if in_order[int(below)] != x:  # on the line between the neighbours
        low, high = in_order[int(below) - 1], in_order[int(below)]
        below += (x - low) / (high - low) - 1
    below, top = (below + 1, len(in_order) + 1) if exclusive else (below, len(in_order) - 1)
    share = below / top if top else 1.0
    return round_down(float(share), int(min(significance, 300.0)))


_PERCENT_RANK = (
    _ARRAY,
    number("x", "The number to place."),
    number("significance", "Digits to keep; 3 where not given.", optional=True),
)


def percent_rank(environment: Environment, values: Array, x: float, significance: float = 3.0) -> float:
    return _percent_rank(environment, values, x, significance, exclusive=False)


for _name in ("PERCENTRANK", "PERCENTRANK.INC"):
    function(
        _name, "statistical", "The share of the numbers that lie below one, 0 to 1.", *_PERCENT_RANK,
        environment=True,
        examples=((f"={_name}({{13,12,11,8,4,3,2,1,1,1}},2)", 0.333), (f"={_name}(A1:A5,60)", NA)),
    )(percent_rank)  # fmt: skip


@function(
    "PERCENTRANK.EXC", "statistical", "The share of the numbers that lie below one, ends left out.", *_PERCENT_RANK,
    environment=True,
    examples=(("=PERCENTRANK.EXC({1,2,3,6,6,6,7,8,9},7)", 0.7),),
)  # fmt: skip
def percent_rank_exclusive(environment: Environment, values: Array, x: float, significance: float = 3.0) -> float:
    return _percent_rank(environment, values, x, significance, exclusive=True)


@function(
    "FREQUENCY", "statistical", "How many numbers fall between bounds, one count below the other.",
    array("data_array", "The numbers to count."), array("bins_array", "The upper bounds, included."),
    examples=(("=INDEX(FREQUENCY({79,85,78,85,50,81,95,88,97},{70,79,89}),3)", 4.0),),
)  # fmt: skip
def frequency(data: Array, bins: Array) -> Array:
    if bins.rows == bins.columns == 1 and isinstance(bins.at(0, 0), Error):
        raise Failure(bins.at(0, 0))
    # A blank bound is 0; texts and errors among several are no bounds.
    in_order = sorted(numbers((data,)))
    bounds = [0.0 if cell is None else cell for cell in bins.cells() if cell is None or isinstance(cell, float)]
    counts = [0.0] * (len(bounds) + 1)
    taken = 0
    for at in sorted(range(len(bounds)), key=bounds.__getitem__):  # of equal bounds the first one counts
        upto = bisect_right(in_order, bounds[at])
        counts[at], taken = float(upto - taken), upto
    counts[-1] = float(len(in_order) - taken)
    return Array(len(counts), 1, counts)
