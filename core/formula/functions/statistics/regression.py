"""Pairs of numbers: correlation, straight and exponential lines through points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.formula.functions.catalogue import OMITTED, Argument, function
from core.formula.functions.describe import array, logical, number
from core.formula.functions.mathematics.matrix import from_matrix, matrix
from core.formula.ranges.reduce import pairs, products, spread
from core.formula.values.value import DIV0, NA, NUM, REF, VALUE, Array, Failure

Vector = NDArray[np.float64]


# Of sums.


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The sums over two equally long samples that everything here is made of."""

    count: int
    mean_x: float
    mean_y: float
    squares_x: float
    """Squared distances from the mean, summed; `products` those of x and y multiplied."""
    squares_y: float
    products: float


def _pairs(ys: Array, xs: Array, *, least: int = 1) -> _Pairs:
    y, x = pairs(ys, xs)
    if len(x) < least:
        raise Failure(DIV0)
    (mean_x, squares_x), (mean_y, squares_y) = spread(x), spread(y)
    return _Pairs(len(x), mean_x, mean_y, squares_x, squares_y, products(x, mean_x, y, mean_y))


def correlation(first: Array, second: Array) -> float:
    sums = _pairs(first, second)
    if sums.squares_x == 0 or sums.squares_y == 0:
        raise Failure(DIV0)
    return sums.products / math.sqrt(sums.squares_x * sums.squares_y)


def determination(ys: Array, xs: Array) -> float:
    return correlation(ys, xs) ** 2


def covariance(first: Array, second: Array) -> float:
    sums = _pairs(first, second)
    return sums.products / sums.count


def sample_covariance(first: Array, second: Array) -> float:
    sums = _pairs(first, second, least=2)
    return sums.products / (sums.count - 1)


def _slope(sums: _Pairs) -> float:
    if sums.squares_x == 0:
        raise Failure(DIV0)
    return sums.products / sums.squares_x


def slope(ys: Array, xs: Array) -> float:
    return _slope(_pairs(ys, xs))


def intercept(ys: Array, xs: Array) -> float:
    sums = _pairs(ys, xs)
    return sums.mean_y - _slope(sums) * sums.mean_x


def standard_error(ys: Array, xs: Array) -> float:
    sums = _pairs(ys, xs, least=3)
    rest = sums.squares_y - _slope(sums) * sums.products
    return math.sqrt(max(rest, 0.0) / (sums.count - 2))


def forecast(x: float, ys: Array, xs: Array) -> float:
    sums = _pairs(ys, xs)
    return sums.mean_y + _slope(sums) * (x - sums.mean_x)


_TWO = (array("array1", "The first numbers."), array("array2", "As many second ones."))
_POINTS = (array("known_y's", "The values."), array("known_x's", "As many places."))
_ROWS: tuple[tuple[str, str, tuple[Argument, ...], Callable[..., float], str, float], ...] = (
    ("CORREL", "How two samples go together, -1 to 1.", _TWO, correlation, "{3,2,4,5,6},{9,7,12,15,17}", 0.997054),
    ("PEARSON", "How two samples go together, -1 to 1.", _TWO, correlation, "{9,7,5,3,1},{10,6,1,5,3}", 0.699379),
    ("RSQ", "The square of the correlation.", _POINTS, determination, "{2,3,9,1,8,7,5},{6,5,11,7,5,4,4}", 0.057950),
    ("COVAR", "The covariance of a population.", _TWO, covariance, "{3,2,4,5,6},{9,7,12,15,17}", 5.2),
    ("COVARIANCE.P", "The covariance of a population.", _TWO, covariance, "{3,2,4,5,6},{9,7,12,15,17}", 5.2),
    ("COVARIANCE.S", "The covariance of a sample.", _TWO, sample_covariance, "{2,4,8},{5,11,12}", 9.666667),
    ("SLOPE", "How steep the line through points is.", _POINTS, slope, "{2,3,9,1,8,7,5},{6,5,11,7,5,4,4}", 0.305556),
    ("INTERCEPT", "Where the line through points meets x = 0.", _POINTS, intercept,
     "{2,3,9,1,8},{6,5,11,7,5}", 0.048387),
    ("STEYX", "The standard error of the line through points.", _POINTS, standard_error,
     "{2,3,9,1,8,7,5},{6,5,11,7,5,4,4}", 3.305719),
)  # fmt: skip
for _name, _description, _arguments, _body, _example, _value in _ROWS:
    _examples = ((f"=ROUND({_name}({_example}),6)", _value),)
    function(_name, "statistical", _description, *_arguments, examples=_examples)(_body)
for _name in ("FORECAST", "FORECAST.LINEAR"):
    function(
        _name, "statistical", "The value at a place on the line through points.", number("x", "The place."), *_POINTS,
        examples=((f"=ROUND({_name}(30,{{6,7,9,15,21}},{{20,28,31,38,40}}),6)", 10.607253),),
    )(forecast)  # fmt: skip


# Lines in several variables.

_COLLINEAR = 1e-12
"""A column whose part beside the others is smaller than this share of it says nothing new: Excel gives it 0."""


@dataclass(frozen=True, slots=True)
class _Fit:
    """Least squares: coefficients in the columns' order, then what LINEST shows of them."""

    coefficients: Vector
    errors: Vector
    intercept: float
    intercept_error: float
    freedom: int
    used: int
    """Variables that say something new."""
    regression: float
    """The squares that the line explains, summed; `residual` those that it does not."""
    residual: float


def _factor(columns: Vector, scale: Vector) -> tuple[list[int], Vector, Vector]:
    """Return the columns that say something new next to their sizes, the greatest remainder first, and their Q and
    R."""
    rest = columns.copy()
    kept: list[int] = []
    basis = np.zeros((len(columns), 0))
    while len(kept) < min(columns.shape):
        sizes = np.linalg.norm(rest, axis=0)
        sizes[kept] = 0.0
        at = int(np.argmax(sizes))
        if sizes[at] <= _COLLINEAR * scale[at] or sizes[at] == 0:
            break
        direction = rest[:, at] / sizes[at]
        direction -= basis @ (basis.T @ direction)  # once more, for the digits that the first pass lost
        direction /= np.linalg.norm(direction)
        basis = np.column_stack([basis, direction])
        rest = rest - np.outer(direction, direction @ rest)
        kept.append(at)
    return kept, basis, basis.T @ columns[:, kept]


def _fit(y: Vector, columns: Vector, constant: bool) -> _Fit:
    count, width = columns.shape
    mean_x, mean_y = (columns.mean(axis=0), float(y.mean())) if constant else (np.zeros(width), 0.0)
    shifted = columns - mean_x
    # What is left of a constant column is rounding: some 1e-16 of what it was.
    sizes = np.maximum(np.linalg.norm(shifted, axis=0), np.linalg.norm(columns, axis=0) * 1e-3)
    kept, basis, triangle = _factor(shifted, sizes)
    slopes, centered = np.zeros(width), y - mean_y
    if len(kept) == 1:  # as SLOPE does it: exact for whole numbers
        only = shifted[:, kept[0]]
        slopes[kept] = (only @ centered) / (only @ only)
    elif kept:
        for _ in range(2):  # the second round takes off what the first one lost
            slopes[kept] += np.linalg.solve(triangle, basis.T @ (centered - shifted @ slopes))
    fitted = shifted @ slopes
    residual, regression = float(np.sum((centered - fitted) ** 2)), float(np.sum(fitted**2))
    freedom = count - len(kept) - constant
    variance = residual / freedom if freedom > 0 else 0.0
    inverse = np.linalg.inv(triangle) if kept else np.zeros((0, 0))
    spread_of = inverse @ inverse.T
    errors = np.zeros(width)
    errors[kept] = np.sqrt(variance * np.diag(spread_of))
    mean_kept = mean_x[kept]
    intercept_error = math.sqrt(variance * (1 / count + float(mean_kept @ spread_of @ mean_kept))) if constant else 0.0
    intercept = mean_y - float(mean_x @ slopes)
    return _Fit(slopes, errors, intercept, intercept_error, max(freedom, 0), len(kept), regression, residual)


def _numbers(values: Array) -> Vector:
    """Return all cells as numbers; VALUE where one is none, an error too."""
    try:
        return matrix(values)
    except Failure:
        raise Failure(VALUE) from None


def _columns(ys: Array, xs: Any) -> Vector:
    """Return the variables as columns.

    One where x has the shape of y, else each column (or row) beside a column (row) y.

    Raises:
        Failure: REF where x fits y in no way.
    """
    if xs is OMITTED:
        return np.arange(1.0, ys.rows * ys.columns + 1)[:, None]
    block = _numbers(xs)
    if (xs.rows, xs.columns) == (ys.rows, ys.columns):
        return block.reshape(-1, 1)
    if ys.columns == 1 and xs.rows == ys.rows:
        return block
    if ys.rows == 1 and xs.columns == ys.columns:
        return block.T
    raise Failure(REF)


def _logarithms(y: Vector) -> Vector:
    if (y <= 0).any():
        raise Failure(NUM)
    return np.log(y)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _line(ys: Array, xs: Any, constant: Any, statistics: Any, *, exponential: bool) -> Array:
    y, columns = _numbers(ys).ravel(), _columns(ys, xs)
    fit = _fit(_logarithms(y) if exponential else y, columns, constant is OMITTED or constant)
    first = np.append(fit.coefficients[::-1], fit.intercept)
    if exponential:
        first = np.exp(first)
    if statistics is OMITTED or not statistics:
        return from_matrix(first[None, :])
    variance = fit.residual / fit.freedom if fit.freedom else 0.0
    total, with_constant = fit.regression + fit.residual, constant is OMITTED or constant
    rows: list[list[Any]] = [
        first.tolist(),
        [*fit.errors[::-1].tolist(), fit.intercept_error if with_constant else NA],
        [fit.regression / total if total else 1.0, math.sqrt(variance)],
        [fit.regression / fit.used / variance if variance and fit.used else NUM, float(fit.freedom)],
        [fit.regression, fit.residual],
    ]
    width = len(first)
    return Array(5, width, [cell for row in rows for cell in (*row, *[NA] * (width - len(row)))])


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def _along(ys: Array, xs: Any, new: Any, constant: Any, *, exponential: bool) -> Array:
    y = _numbers(ys).ravel()
    columns = _columns(ys, xs)
    fit = _fit(_logarithms(y) if exponential else y, columns, constant is OMITTED or constant)
    if new is OMITTED:
        places, shape = columns, (ys.rows, ys.columns)
    elif columns.shape[1] == 1:
        places, shape = _numbers(new).reshape(-1, 1), (new.rows, new.columns)
    elif ys.columns == 1 and new.columns == columns.shape[1]:
        places, shape = _numbers(new), (new.rows, 1)
    elif ys.columns > 1 and new.rows == columns.shape[1]:
        places, shape = _numbers(new).T, (1, new.columns)
    else:
        raise Failure(REF)
    values = places @ fit.coefficients + fit.intercept
    return from_matrix((np.exp(values) if exponential else values).reshape(shape))


def linest(ys: Array, xs: Any = OMITTED, constant: Any = OMITTED, statistics: Any = OMITTED) -> Array:
    return _line(ys, xs, constant, statistics, exponential=False)


def logest(ys: Array, xs: Any = OMITTED, constant: Any = OMITTED, statistics: Any = OMITTED) -> Array:
    return _line(ys, xs, constant, statistics, exponential=True)


def trend(ys: Array, xs: Any = OMITTED, new: Any = OMITTED, constant: Any = OMITTED) -> Array:
    return _along(ys, xs, new, constant, exponential=False)


def growth(ys: Array, xs: Any = OMITTED, new: Any = OMITTED, constant: Any = OMITTED) -> Array:
    return _along(ys, xs, new, constant, exponential=True)


_YS = array("known_y's", "The values, a row or a column.")
_XS = array("known_x's", "Their places; 1, 2, 3, ... where not given.", optional=True, empty=OMITTED)
_NEW = array("new_x's", "The places to look at; the known ones where not given.", optional=True, empty=OMITTED)
_CONSTANT = logical("const", "FALSE: the line passes through the origin.", optional=True, empty=OMITTED)
_STATISTICS = logical("stats", "TRUE: four more rows with errors and tests.", optional=True, empty=OMITTED)

function(
    "LINEST", "statistical", "The slopes and intercept of the line through points.", _YS, _XS, _CONSTANT, _STATISTICS,
    examples=(("=ROUND(INDEX(LINEST({1,9,5,7},{0,4,2,3}),1,2),9)", 1.0),),
)(linest)  # fmt: skip
function(
    "LOGEST", "statistical", "The bases and the factor of the exponential curve through points.",
    _YS, _XS, _CONSTANT, _STATISTICS,
    examples=(("=ROUND(INDEX(LOGEST({33100,47300,69000,102000,150000,220000},{11,12,13,14,15,16}),1,1),6)", 1.463276),),
)(logest)  # fmt: skip
function(
    "TREND", "statistical", "The values of the line through points.", _YS, _XS, _NEW, _CONSTANT,
    examples=(("=ROUND(SUM(TREND({2,4,6},{1,2,3},{4,5})),9)", 18.0),),
)(trend)  # fmt: skip
function(
    "GROWTH", "statistical", "The values of the exponential curve through points.", _YS, _XS, _NEW, _CONSTANT,
    examples=(("=ROUND(INDEX(GROWTH({2,4,8,16,32},{1,2,3,4,5},6),1,1),6)", 64.0),),
)(growth)  # fmt: skip
