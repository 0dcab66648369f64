"""Numbers by their order: ranks, percentiles, frequencies."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from core.formula.catalogue import function
from core.formula.functions.describe import array, cells, number
from core.formula.reduce import numbers, round_down
from core.formula.values import NA, NUM, Array, Failure

_ARRAY = array("array", "The numbers.")


def _sorted(values: Any) -> list[float]:
    found = sorted(numbers((values,)))
    if not found:
        raise Failure(NUM)
    return found


@function(
    "LARGE", "statistical", "The k-th greatest number.", _ARRAY, number("k", "From 1; decimals are rounded up."),
    examples=(("=LARGE(A1:A5,2)", 40.0), ("=LARGE(A1:A5,6)", NUM)),
)  # fmt: skip
def large(values: Array, k: float) -> float:
    found = _sorted(values)
    if not 0 < k <= len(found):
        raise Failure(NUM)
    return found[-math.ceil(k)]


@function(
    "SMALL", "statistical", "The k-th least number.", _ARRAY, number("k", "From 1; decimals are cut."),
    examples=(("=SMALL(A1:A5,2)", 20.0), ("=SMALL(A1:A5,0)", NUM)),
)  # fmt: skip
def small(values: Array, k: float) -> float:
    found = _sorted(values)
    if not 1 <= k < len(found) + 1:
        raise Failure(NUM)
    return found[int(k) - 1]


_RANK = (
    number("number", "The number to find."),
    cells("ref", "The numbers to compare with."),
    number("order", "0: the greatest is first; else the least.", optional=True),
)


def _rank(value: float, values: Any, order: float) -> tuple[int, int]:
    """The first place of a number among the sorted ones, from 1, and how often it is there."""
    found = sorted(numbers((values,)))
    low, high = bisect_left(found, value), bisect_right(found, value)
    if low == high:
        raise Failure(NA)
    return (low if order else len(found) - high) + 1, high - low


def rank(value: float, values: Any, order: float = 0.0) -> float:
    return float(_rank(value, values, order)[0])


for _name in ("RANK", "RANK.EQ"):
    function(
        _name, "statistical", "The place of a number among others; equal ones share the best.", *_RANK,
        examples=((f"={_name}(40,A1:A5)", 2.0), (f"={_name}(40,A1:A5,1)", 4.0), (f"={_name}(1,A1:A5)", NA)),
    )(rank)  # fmt: skip


@function(
    "RANK.AVG", "statistical", "The place of a number among others; equal ones share the mean.", *_RANK,
    examples=(("=RANK.AVG(40,A1:A5)", 2.0),),
)  # fmt: skip
def rank_average(value: float, values: Any, order: float = 0.0) -> float:
    first, count = _rank(value, values, order)
    return first + (count - 1) / 2


# Percentiles.


def _between(found: list[float], position: float) -> float:
    """The number at a place between 0 and the last, on the line between its neighbours."""
    low = int(round_down(position, 0))
    part = position - low
    return found[low] if part <= 0 or low + 1 >= len(found) else found[low] + part * (found[low + 1] - found[low])


def percentile(values: Array, k: float) -> float:
    found = _sorted(values)
    if not 0 <= k <= 1:
        raise Failure(NUM)
    return _between(found, k * (len(found) - 1))


def percentile_exclusive(values: Array, k: float) -> float:
    found = _sorted(values)
    place = k * (len(found) + 1)
    if not (0 < k < 1 and 1 <= place <= len(found)):
        raise Failure(NUM)
    return _between(found, place - 1)


def quartile(values: Array, quart: float) -> float:
    return percentile(values, int(quart) / 4)


def quartile_exclusive(values: Array, quart: float) -> float:
    return percentile_exclusive(values, int(quart) / 4)


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
    function(_name, "statistical", _description, _ARRAY, _share, examples=(_example,))(_body)


def _percent_rank(values: Array, x: float, significance: float, exclusive: bool) -> float:
    found = _sorted(values)
    if significance < 1:
        raise Failure(NUM)
    if not found[0] <= x <= found[-1]:
        raise Failure(NA)
    below = float(bisect_left(found, x))
    if found[int(below)] != x:  # on the line between the neighbours
        low, high = found[int(below) - 1], found[int(below)]
        below += (x - low) / (high - low) - 1
    below, top = (below + 1, len(found) + 1) if exclusive else (below, len(found) - 1)
    share = below / top if top else 1.0
    return round_down(share, int(min(significance, 300.0)))


_PERCENT_RANK = (
    _ARRAY,
    number("x", "The number to place."),
    number("significance", "Digits to keep; 3 where not given.", optional=True),
)


def percent_rank(values: Array, x: float, significance: float = 3.0) -> float:
    return _percent_rank(values, x, significance, exclusive=False)


for _name in ("PERCENTRANK", "PERCENTRANK.INC"):
    function(
        _name, "statistical", "The share of the numbers that lie below one, 0 to 1.", *_PERCENT_RANK,
        examples=((f"={_name}({{13,12,11,8,4,3,2,1,1,1}},2)", 0.333), (f"={_name}(A1:A5,60)", NA)),
    )(percent_rank)  # fmt: skip


@function(
    "PERCENTRANK.EXC", "statistical", "The share of the numbers that lie below one, ends left out.", *_PERCENT_RANK,
    examples=(("=PERCENTRANK.EXC({1,2,3,6,6,6,7,8,9},7)", 0.7),),
)  # fmt: skip
def percent_rank_exclusive(values: Array, x: float, significance: float = 3.0) -> float:
    return _percent_rank(values, x, significance, exclusive=True)


@function(
    "FREQUENCY", "statistical", "How many numbers fall between bounds, one count below the other.",
    array("data_array", "The numbers to count."), array("bins_array", "The upper bounds, included."),
    examples=(("=INDEX(FREQUENCY({79,85,78,85,50,81,95,88,97},{70,79,89}),3)", 4.0),),
)  # fmt: skip
def frequency(data: Array, bins: Array) -> Array:
    found, bounds = sorted(numbers((data,))), numbers((bins,))
    counts = [0.0] * (len(bounds) + 1)
    taken = 0
    for at in sorted(range(len(bounds)), key=bounds.__getitem__):  # of equal bounds the first one counts
        upto = bisect_right(found, bounds[at])
        counts[at], taken = float(upto - taken), upto
    counts[-1] = float(len(found) - taken)
    return Array(len(counts), 1, counts)
