"""What a sample is like: counts, averages, spread and shape."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from core.formula.functions.catalogue import Work, function
from core.formula.functions.describe import many, number
from core.formula.functions.toolpak import is_blank_cell
from core.formula.ranges.reduce import average_of, count_of, numbers, spread
from core.formula.values.value import DIV0, NA, NUM, VALUE, Array, Error, Failure
from core.values import Kind

Body = Callable[..., Any]

_NUMBERS = many("number1", "number2", "A number or a range of numbers.")
_VALUES = many("value1", "value2", "A value or a range of values.")

function(
    "AVERAGE", "statistical", "The mean of the numbers.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=AVERAGE(A1:A5)", 30.0), ("=AVERAGE(B1:B5)", DIV0)),
)(average_of)  # fmt: skip
function(
    "COUNT", "statistical", "How many numbers there are.", *_VALUES,
    work=Work(call=1_000, cell=50),
    examples=(("=COUNT(A1:D5)", 11.0), ('=COUNT(1,"2","x",TRUE)', 3.0)),
)(count_of)  # fmt: skip


@function(
    "COUNTA", "statistical", "How many values there are, whatever they are.", *_VALUES,
    work=Work(call=1_000, cell=50),
    examples=(("=COUNTA(D1:D5)", 4.0), ('=COUNTA(1,"")', 2.0)),
)  # fmt: skip
def count_all(*arguments: Any) -> float:
    total = 0
    for argument in arguments:
        if not isinstance(argument, Array):
            total += 1
        elif argument.spans is not None:
            total += sum(int(np.count_nonzero(span.kinds != Kind.BLANK)) for span in argument.spans)
        else:
            total += sum(cell is not None for cell in argument.cells())
    return float(total)


def _sample(arguments: tuple[Any, ...], *, least: int = 1, everything: bool = False, error: Any = DIV0) -> list[float]:
    """Return the numbers of the arguments, or an error if fewer than `least`."""
    sample = numbers(arguments, everything)
    if len(sample) < least:
        raise Failure(error)
    return sample


@function(
    "AVERAGEA", "statistical", "The mean of all values: text is 0, TRUE is 1.", *_VALUES,
    examples=(("=AVERAGEA(D1:D3)", 0.5), ("=AVERAGEA(1,TRUE)", 1.0)),
)  # fmt: skip
def average_all(*arguments: Any) -> float:
    return spread(_sample(arguments, everything=True))[0]


@function(
    "MINA", "statistical", "The least of all values: text is 0, TRUE is 1.", *_VALUES,
    examples=(("=MINA(D1:D5)", 0.0), ("=MINA(2,3)", 2.0)),
)  # fmt: skip
def minimum_all(*arguments: Any) -> float:
    return min(numbers(arguments, True), default=0.0)


@function(
    "MAXA", "statistical", "The greatest of all values: text is 0, TRUE is 1.", *_VALUES,
    examples=(("=MAXA(D1:D4)", 1.0),),
)  # fmt: skip
def maximum_all(*arguments: Any) -> float:
    return max(numbers(arguments, True), default=0.0)


def _modes(arguments: tuple[Any, ...]) -> list[float]:
    """Return the most frequent numbers, in the order in which they first come.

    Text is passed by in cells only, a blank in larger ranges only.
    """
    for argument in arguments:
        if isinstance(argument, Error):
            raise Failure(argument)
        if isinstance(argument, str) or is_blank_cell(argument):
            raise Failure(VALUE)
    counts = Counter(numbers(arguments))
    most = max(counts.values(), default=0)
    if most < 2:
        raise Failure(NA)
    return [value for value, count in counts.items() if count == most]


def mode(*arguments: Any) -> float:
    return _modes(arguments)[0]


for _name in ("MODE", "MODE.SNGL"):
    function(
        _name, "statistical", "The most frequent number, the first such one.", *_NUMBERS,
        examples=((f"={_name}(5.6,4,4,3,2,4)", 4.0), (f"={_name}(1,2,3)", NA)),
    )(mode)  # fmt: skip


@function(
    "MODE.MULT", "statistical", "All the most frequent numbers, one below the other.", *_NUMBERS,
    examples=(("=SUM(MODE.MULT(1,2,2,3,3))", 5.0),),
)  # fmt: skip
def modes(*arguments: Any) -> Array:
    values = _modes(arguments)
    return Array(len(values), 1, values)


# Spread.


def _variance(*, population: bool, root: bool, everything: bool) -> Body:
    def body(*arguments: Any) -> float:
        sample = _sample(arguments, least=1 if population else 2, everything=everything)
        variance = spread(sample)[1] / (len(sample) if population else len(sample) - 1)
        return math.sqrt(variance) if root else variance

    return body


_SPREADS: tuple[tuple[str, bool, bool, bool, str], ...] = (
    # name, of the population, root, all values, example
    ("VAR", False, False, False, "=VAR(1,2,3,4,5)"),
    ("VAR.S", False, False, False, "=VAR.S(1,2,3,4,5)"),
    ("VARA", False, False, True, "=VARA(1,2,3,4,5)"),
    ("VARP", True, False, False, "=VARP(1,2,3,4,5)"),
    ("VAR.P", True, False, False, "=VAR.P(1,2,3,4,5)"),
    ("VARPA", True, False, True, "=VARPA(1,2,3,4,5)"),
    ("STDEV", False, True, False, "=STDEV(2,4,6)"),
    ("STDEV.S", False, True, False, "=STDEV.S(2,4,6)"),
    ("STDEVA", False, True, True, "=STDEVA(2,4,6)"),
    ("STDEVP", True, True, False, "=STDEVP(2,4)"),
    ("STDEV.P", True, True, False, "=STDEV.P(2,4)"),
    ("STDEVPA", True, True, True, "=STDEVPA(2,4)"),
)
SPREAD_BODIES: dict[str, Body] = {}
"""The bodies of the variances and standard deviations, by name."""

for _name, _population, _root, _everything, _example in _SPREADS:
    SPREAD_BODIES[_name] = _variance(population=_population, root=_root, everything=_everything)
    _what = "standard deviation" if _root else "variance"
    _of = "population" if _population else "sample"
    _text = "; text is 0, TRUE is 1" if _everything else ""
    _value = (1.0 if _population else 2.0) if _root else (2.0 if _population else 2.5)
    function(
        _name, "statistical", f"The {_what} of a {_of}{_text}.", *(_VALUES if _everything else _NUMBERS),
        work=Work(call=5_000, cell=500), examples=((_example, _value),),
    )(SPREAD_BODIES[_name])  # fmt: skip


@function(
    "AVEDEV", "statistical", "The mean distance from the mean.", *_NUMBERS,
    examples=(("=AVEDEV(4,5,6,7,5,4,3)", 1.02040816326531),),
)  # fmt: skip
def average_deviation(*arguments: Any) -> float:
    sample = _sample(arguments, error=NUM)
    mean = spread(sample)[0]
    return spread([abs(value - mean) for value in sample])[0]


@function(
    "DEVSQ", "statistical", "The sum of the squared distances from the mean.", *_NUMBERS,
    examples=(("=DEVSQ(4,5,8,7,11,4,3)", 48.0),),
)  # fmt: skip
def squared_deviations(*arguments: Any) -> float:
    return spread(_sample(arguments, error=NUM))[1]


# Other means.


def _positive(arguments: tuple[Any, ...], error: Any) -> list[float]:
    sample = _sample(arguments, error=error)
    if min(sample) <= 0:
        raise Failure(NUM)
    return sample


@function(
    "GEOMEAN", "statistical", "The geometric mean of numbers above 0.", *_NUMBERS,
    examples=(("=ROUND(GEOMEAN(4,5,8,7,11,4,3),6)", 5.476987), ("=GEOMEAN(1,0)", NUM)),
)  # fmt: skip
def geometric_mean(*arguments: Any) -> float:
    sample = _positive(arguments, NUM)
    return math.exp(math.fsum(map(math.log, sample)) / len(sample))


@function(
    "HARMEAN", "statistical", "The harmonic mean of numbers above 0.", *_NUMBERS,
    examples=(("=ROUND(HARMEAN(4,5,8,7,11,4,3),6)", 5.028376),),
)  # fmt: skip
def harmonic_mean(*arguments: Any) -> float:
    sample = _positive(arguments, NA)
    return len(sample) / math.fsum(1 / value for value in sample)


# Shape.


def _standardized(arguments: tuple[Any, ...], least: int, *, population: bool = False) -> list[float]:
    """Return the numbers as multiples of the standard deviation above their mean."""
    sample = _sample(arguments, least=least)
    mean, squares = spread(sample)
    if squares == 0:
        raise Failure(DIV0)
    deviation = math.sqrt(squares / (len(sample) - (not population)))
    return [(value - mean) / deviation for value in sample]


@function(
    "SKEW", "statistical", "How lopsided a sample is.", *_NUMBERS,
    examples=(("=ROUND(SKEW(3,4,5,2,3,4,5,6,4,7),6)", 0.359543), ("=SKEW(1,2)", DIV0)),
)  # fmt: skip
def skewness(*arguments: Any) -> float:
    sample = _standardized(arguments, 3)
    n = len(sample)
    return math.fsum(value**3 for value in sample) * n / ((n - 1) * (n - 2))


@function(
    "SKEW.P", "statistical", "How lopsided a population is.", *_NUMBERS,
    examples=(("=ROUND(SKEW.P(3,4,5,2,3,4,5,6,4,7),6)", 0.303193),),
)  # fmt: skip
def population_skewness(*arguments: Any) -> float:
    sample = _standardized(arguments, 3, population=True)
    return math.fsum(value**3 for value in sample) / len(sample)


@function(
    "KURT", "statistical", "How heavy the tails of a sample are, next to the normal distribution.", *_NUMBERS,
    examples=(("=ROUND(KURT(3,4,5,2,3,4,5,6,4,7),6)", -0.151800), ("=KURT(1,2,3)", DIV0)),
)  # fmt: skip
def kurtosis(*arguments: Any) -> float:
    sample = _standardized(arguments, 4)
    n = len(sample)
    fourth = math.fsum(value**4 for value in sample)
    return fourth * n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))


@function(
    "STANDARDIZE", "statistical", "A number as standard deviations above the mean.",
    number("x", "The number."), number("mean", "Of its distribution."), number("standard_dev", "Above 0."),
    examples=(("=STANDARDIZE(42,40,1.5)", 1.33333333333333), ("=STANDARDIZE(1,1,0)", NUM)),
)  # fmt: skip
def standardize(x: float, mean: float, deviation: float) -> float:
    if deviation <= 0:
        raise Failure(NUM)
    return (x - mean) / deviation
