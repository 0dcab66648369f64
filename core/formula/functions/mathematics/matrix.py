"""Matrices: products, inverses, determinants."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from core.formula.functions.catalogue import function
from core.formula.functions.describe import array, number
from core.formula.ranges.environment import Environment
from core.formula.ranges.reduce import dense
from core.formula.values.value import ALL_ERRORS, NUM, VALUE, Array, Failure
from core.values import Kind


def matrix(values: Array) -> NDArray[np.float64]:
    """Return all cells as numbers.

    Raises:
        Failure: the first error inside; VALUE where a cell is no number.
    """
    cells, kinds = dense(values)
    wrong = np.flatnonzero(kinds.ravel() == Kind.ERROR)
    if len(wrong):
        raise Failure(ALL_ERRORS[int(cells.ravel()[wrong[0]])])
    if not ((kinds == Kind.NUMBER) | (kinds == Kind.DATE)).all():
        raise Failure(VALUE)
    return cells


def from_matrix(values: NDArray[np.float64]) -> Array:
    """Return an Array of a two-dimensional array of numbers.

    Raises:
        Failure: NUM where one is too large for Excel.
    """
    if not np.isfinite(values).all():
        raise Failure(NUM)
    return Array(values.shape[0], values.shape[1], values.ravel().tolist())


def _square(values: Array) -> NDArray[np.float64]:
    if values.rows != values.columns:
        raise Failure(VALUE)
    return matrix(values)


@function(
    "MMULT", "math", "The product of two matrices.",
    array("array1", "The first."), array("array2", "The second, with as many rows as the first has columns."),
    environment=True,
    examples=(("=SUM(MMULT({1,3;7,2},{2,0;0,2}))", 26.0), ("=INDEX(MMULT({1,2},{3;4}),1,1)", 11.0)),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def mmult(environment: Environment, first: Array, second: Array) -> Array:
    left, right = matrix(first), matrix(second)
    if first.columns != second.rows:
        raise Failure(VALUE)
    product = np.zeros((first.rows, second.columns))
    for at in range(first.columns):  # in order and without fused steps, so that the last digits are Excel's
        environment.spend(product.size)
        product += np.outer(left[:, at], right[at])
    return from_matrix(product)


def _eliminated(
    environment: Environment, square: NDArray[np.float64], beside: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Gauss with partial pivoting.

    The triangle, what stands beside it after the same steps, the sign of the swaps.
    """
    upper, beside, sign = square.copy(), beside.copy(), 1
    for at in range(len(upper)):
        environment.spend(upper.size)
        pivot = at + int(np.argmax(np.abs(upper[at:, at])))
        if pivot != at:
            upper[[at, pivot]], beside[[at, pivot]], sign = upper[[pivot, at]], beside[[pivot, at]], -sign
        if upper[at, at] != 0:
            factors = upper[at + 1 :, at] / upper[at, at]
            upper[at + 1 :] -= np.outer(factors, upper[at])
            beside[at + 1 :] -= np.outer(factors, beside[at])
    return upper, beside, sign


@function(
    "MDETERM", "math", "The determinant of a square matrix.", array("array", "The matrix."), environment=True,
    examples=(("=ROUND(MDETERM({3,6,1;1,1,0;3,10,2}),9)", 1.0), ("=MDETERM({1,2})", VALUE)),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def mdeterm(environment: Environment, values: Array) -> float:
    square = _square(values)
    upper, _, sign = _eliminated(environment, square, np.zeros((len(square), 0)))
    return sign * float(math.prod(np.diag(upper).tolist()))


@function(
    "MINVERSE", "math", "The inverse of a square matrix.", array("array", "The matrix."), environment=True,
    examples=(("=ROUND(INDEX(MINVERSE({4,-1;2,0}),1,2),9)", 0.5), ("=MINVERSE({1,2;2,4})", NUM)),
)  # fmt: skip
@np.errstate(over="ignore", invalid="ignore")
def minverse(environment: Environment, values: Array) -> Array:
    square = _square(values)
    upper, inverse, _ = _eliminated(environment, square, np.eye(len(square)))
    if not np.diag(upper).all():
        raise Failure(NUM)
    for at in reversed(range(len(upper))):
        environment.spend(upper.size)
        inverse[at] /= upper[at, at]
        inverse[:at] -= np.outer(upper[:at, at], inverse[at])
    return from_matrix(inverse)


@function(
    "MUNIT", "math", "The unit matrix.", number("dimension", "Its rows and columns, from 1."), environment=True,
    examples=(("=SUM(MUNIT(3))", 3.0), ("=MUNIT(0)", VALUE)),
)  # fmt: skip
def munit(environment: Environment, dimension: float) -> Array:
    if not 1 <= dimension < 1e6:
        raise Failure(VALUE)
    environment.spend(int(dimension) ** 2)
    return from_matrix(np.eye(int(dimension)))


@function(
    "TRANSPOSE", "lookup", "Rows as columns and columns as rows.", array("array", "What is turned."), environment=True,
    examples=(("=INDEX(TRANSPOSE({1,2;3,4}),1,2)", 3.0),),
)  # fmt: skip
def transpose(environment: Environment, values: Array) -> Array:
    environment.spend(values.rows * values.columns)
    cells, width = values.cells(), values.columns
    return Array(width, values.rows, [cell for column in range(width) for cell in cells[column::width]])
