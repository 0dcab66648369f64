"""Sums, products, powers, logarithms and chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Work, function
from core.formula.functions.describe import array, cells, integer, logical, many, number
from core.formula.ranges.environment import Environment
from core.formula.ranges.reduce import (
    maximum_of,
    minimum_of,
    numbers,
    pairs,
    product_of,
    squares_of,
    sum_of,
    sum_product,
    whole_above,
    whole_below,
)
from core.formula.values import coerce
from core.formula.values.value import DIV0, NUM, VALUE, Array, Error, Failure

_NUMBERS = many("number1", "number2", "A number or a range of numbers.")

function(
    "SUM", "math", "Adds numbers up.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=SUM(A1:A5)", 150.0), ('=SUM(1,TRUE,"2")', 4.0)),
)(sum_of)  # fmt: skip
function(
    "PRODUCT", "math", "Multiplies numbers.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=PRODUCT(C1:C5)", 120.0),),
)(product_of)  # fmt: skip
function(
    "SUMSQ", "math", "Adds the squares of numbers up.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=SUMSQ(3,4)", 25.0),),
)(squares_of)  # fmt: skip
function(
    "MIN", "statistical", "The least of the numbers; 0 where there are none.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=MIN(A1:A5)", 10.0), ("=MIN(B1:B5)", 0.0)),
)(minimum_of)  # fmt: skip
function(
    "MAX", "statistical", "The greatest of the numbers; 0 where there are none.", *_NUMBERS,
    work=Work(call=1_000, cell=50),
    examples=(("=MAX(A1:A5)", 50.0),),
)(maximum_of)  # fmt: skip
function(
    "SUMPRODUCT", "math", "Multiplies arrays of one shape place by place and adds the products up.",
    array("array1", "Numbers; anything else counts as 0."),
    array("array2", "As many rows and columns of numbers.", optional=True, repeats=True),
    work=Work(call=1_000, cell=100),
    examples=(("=SUMPRODUCT(A1:A5,C1:C5)", 550.0), ("=SUMPRODUCT((A1:A5>20)*C1:C5)", 12.0)),
)(sum_product)  # fmt: skip


_PAIRED = (array("array_x", "The first numbers."), array("array_y", "As many second numbers."))


def paired(first: Array, second: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of two equally large arrays, place by place, where both hold one.

    Raises:
        Failure: NA for arrays of different sizes, else the first error inside.
    """
    x, y = pairs(first, second)
    return np.array(x), np.array(y)


def some_pairs(first: Array, second: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As `paired`; DIV0 where one of the arrays has no number at all."""
    x, y = paired(first, second)
    if not (len(x) or (numbers((first,)) and numbers((second,)))):
        raise Failure(DIV0)
    return x, y


@function(
    "SUMX2MY2", "math", "The sum of the differences of the squares of two arrays.", *_PAIRED,
    examples=(("=SUMX2MY2({2,3},{1,2})", 8.0),),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def sum_x2_minus_y2(first: Array, second: Array) -> float:
    x, y = some_pairs(first, second)
    return float(np.sum(x * x - y * y))


@function(
    "SUMX2PY2", "math", "The sum of the squares of two arrays.", *_PAIRED,
    examples=(("=SUMX2PY2({2,3},{1,2})", 18.0),),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def sum_x2_plus_y2(first: Array, second: Array) -> float:
    x, y = some_pairs(first, second)
    return float(np.sum(x * x + y * y))


@function(
    "SUMXMY2", "math", "The sum of the squared differences of two arrays.", *_PAIRED,
    examples=(("=SUMXMY2({2,3},{1,5})", 5.0),),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def sum_x_minus_y_squared(first: Array, second: Array) -> float:
    x, y = some_pairs(first, second)
    return float(np.sum((x - y) ** 2))


@function(
    "SERIESSUM", "math", "A power series: coefficients times x to rising powers.",
    toolpak.required("x", "The number to raise."),
    toolpak.required("n", "The first power."),
    toolpak.required("m", "What each further power adds."),
    array("coefficients", "The factors, one a term."),
    examples=(("=SERIESSUM(2,0,1,{1,2,3})", 17.0),),
)  # fmt: skip
def series_sum(x: Any, n: Any, m: Any, coefficients: Array) -> float:
    x, n, m = toolpak.number(x), toolpak.number(n), toolpak.number(m)
    total = 0.0
    for at, factor in enumerate(coefficients.cells()):
        if isinstance(factor, Error):
            raise Failure(factor)
        raised = power(x, n + at * m)
        if isinstance(raised, Error):
            raise Failure(raised)
        total += toolpak.number(factor) * raised
    return total


@function(
    "PERCENTOF", "math", "The share of a part's sum in the sum of all.",
    cells("data_subset", "The part."), cells("data_all", "All of it."),
    examples=(("=PERCENTOF(A1:A2,A1:A5)", 0.2),),
)  # fmt: skip
def percent_of(part: Any, everything: Any) -> Any:
    for area in (part, everything):
        if isinstance(area, Error):
            return area
    above, below = sum_of(part), sum_of(everything)
    if below == 0:
        return DIV0
    if isinstance(above, Error) or isinstance(below, Error):  # whichever error stands among the cells
        return NUM
    return above / below


# Of one number.


def _checked(operation: Callable[[float], float], allowed: Callable[[float], bool]) -> Callable[[float], float]:
    def body(value: float) -> float:
        if not allowed(value):
            raise Failure(NUM)
        return operation(value)

    return body


def _exp(value: float) -> float:
    if value > 709.782712893384:  # past the largest double
        raise Failure(NUM)
    return math.exp(value)


_OF_ONE: tuple[tuple[str, str, Callable[[float], float], tuple[tuple[str, Any], ...]], ...] = (
    ("ABS", "A number without its sign.", abs, (("=ABS(-2.5)", 2.5),)),
    ("SIGN", "1, 0 or -1: above, at or below 0.", lambda x: float((x > 0) - (x < 0)), (("=SIGN(-3)", -1.0),)),
    ("INT", "The nearest whole number not above.", whole_below, (("=INT(-2.5)", -3.0), ("=INT(8.8)", 8.0))),
    ("SQRT", "The square root.", _checked(math.sqrt, lambda x: x >= 0), (("=SQRT(16)", 4.0), ("=SQRT(-1)", NUM))),
    ("EXP", "e raised to a power.", _exp, (("=EXP(0)", 1.0), ("=EXP(710)", NUM))),
    ("LN", "The natural logarithm.", _checked(math.log, lambda x: x > 0), (("=LN(1)", 0.0), ("=LN(0)", NUM))),
    ("LOG10", "The logarithm to base 10.", _checked(math.log10, lambda x: x > 0), (("=LOG10(1000)", 3.0),)),
)  # fmt: skip

for _name, _description, _body, _examples in _OF_ONE:
    _row = function(
        _name, "math", _description, number("number", "Any number."), work=Work(call=2_000), examples=_examples
    )
    _row(_body)


@function(
    "SQRTPI",
    "math",
    "The square root of a number times pi.",
    toolpak.required("number", "The factor of pi, 0 or more."),
    examples=(("=ROUND(SQRTPI(1),6)", 1.772454), ("=SQRTPI(-1)", NUM)),
)
def sqrt_pi(value: Any) -> float:
    value = toolpak.number(value)
    if value < 0:
        raise Failure(NUM)
    return math.sqrt(value * math.pi)


@function(
    "PI",
    "math",
    "A circle's circumference by its diameter.",
    work=Work(call=2_000),
    examples=(("=ROUND(PI(),5)", 3.14159),),
)
def pi() -> float:
    return math.pi


@function(
    "LOG", "math", "The logarithm to any base.",
    number("number", "Above 0."), number("base", "Above 0; 10 where it is not given.", optional=True),
    work=Work(call=2_000),
    examples=(("=LOG(8,2)", 3.0), ("=LOG(100)", 2.0), ("=LOG(10,1)", DIV0)),
)  # fmt: skip
def log(value: float, base: float = 10.0) -> float:
    if value <= 0 or base <= 0:
        raise Failure(NUM)
    if base == 1:
        raise Failure(DIV0)
    if base == 10:
        return math.log10(value)
    return math.log2(value) if base == 2 else math.log(value) / math.log(base)


@function(
    "POWER", "math", "A number raised to a power, as with ^.",
    number("number", "The base."), number("power", "The exponent."),
    work=Work(call=2_000),
    examples=(("=POWER(2,10)", 1024.0), ("=POWER(0,0)", NUM), ("=POWER(-8,1/3)", -2.0), ("=POWER(-2,0.5)", NUM)),
)  # fmt: skip
def power(base: float, exponent: float) -> float | Error:
    return coerce.raised(base, exponent)


@function(
    "MOD", "math", "What is left of a number after division, with the divisor's sign.",
    number("number", "What is divided."), number("divisor", "What it is divided by."),
    work=Work(call=2_000),
    examples=(("=MOD(3,2)", 1.0), ("=MOD(-3,2)", 1.0), ("=MOD(3,-2)", -1.0), ("=MOD(3,0)", DIV0)),
)  # fmt: skip
def mod(value: float, divisor: float) -> float:
    if divisor == 0:
        raise Failure(DIV0)
    if abs(value / divisor) >= _QUOTIENT_MAX:
        raise Failure(NUM)
    rest = math.fmod(value, divisor)  # exact: MOD(10,0.1) is 0.1 since Excel 2010, the double 0.1 being too large
    return rest + divisor if rest and (rest < 0) != (divisor < 0) else rest


_QUOTIENT_MAX = 1_125_900_000_000.0
"""From here on MOD gives #NUM!: 2 ** 50 / 1000, rounded as Excel has it."""


# Chance.


@function("RAND", "math", "A number from 0 up to 1, new at each calculation.", volatile=True, environment=True,
          examples=(("=AND(RAND()>=0,RAND()<1)", True),))  # fmt: skip
def rand(environment: Environment) -> float:
    return environment.random()


@function(
    "RANDBETWEEN", "math", "A whole number between two bounds, new at each calculation.",
    toolpak.required("bottom", "The least."), toolpak.required("top", "The greatest."),
    volatile=True, environment=True, examples=(("=RANDBETWEEN(3,3)", 3.0), ("=RANDBETWEEN(2,1)", NUM)),
)  # fmt: skip
def rand_between(environment: Environment, bottom: Any, top: Any) -> float:
    low, high = whole_above(toolpak.number(bottom)), whole_below(toolpak.number(top))
    if low > high:
        raise Failure(NUM)
    return low + math.floor(environment.random() * (high - low + 1))


@function(
    "RANDARRAY", "math", "Rows and columns of numbers by chance.",
    integer("rows", "How many rows; 1 where not given.", optional=True, empty=OMITTED),
    integer("columns", "How many columns; 1 where not given.", optional=True, empty=OMITTED),
    number("min", "The least; 0 where not given.", optional=True),
    number("max", "The greatest; 1 where not given.", optional=True, empty=OMITTED),
    logical("whole_number", "Whether only whole numbers.", optional=True),
    volatile=True, environment=True, examples=(("=ROWS(RANDARRAY(3,2))", 3.0), ("=RANDARRAY(0)", VALUE)),
)  # fmt: skip
def rand_array(
    environment: Environment, rows: Any = 1, columns: Any = 1, low: float = 0.0, high: Any = 1.0, whole: bool = False
) -> Any:
    rows, columns = (1 if size is OMITTED else size for size in (rows, columns))
    high = 1.0 if high is OMITTED else high
    if rows < 1 or columns < 1 or low > high or (whole and (low % 1 or high % 1)):
        raise Failure(VALUE)
    environment.spend(rows * columns)
    if whole:
        cells = [low + math.floor(environment.random() * (high - low + 1)) for _ in range(rows * columns)]
    else:
        cells = [low + environment.random() * (high - low) for _ in range(rows * columns)]
    return Array(rows, columns, cells)
