"""Numbers out of arguments.

Lists and spans agree, first errors win, rounding follows the decimal digits.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Decimal, localcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.formula.ranges import reduce
from core.formula.values.value import (
    ALL_ERRORS,
    DIV0,
    NA,
    NUM,
    VALUE,
    Array,
    Date,
    Error,
    Failure,
    Reference,
    Span,
    TextPool,
)
from core.values import Kind

HERE = Reference(None, 0, 0, 0, 0)

CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(-1e6, 1e6),
    st.floats(0, 1e5).map(Date),
    st.sampled_from(["", "a", "3"]),
    st.sampled_from(ALL_ERRORS[:7]),
)


def spans_of(rows: int, columns: int, cells: list[Any]) -> Array:
    """The same cells, held as columns."""
    pool, spans = TextPool(), []
    for column in range(columns):
        kinds, numbers, codes = np.zeros(rows, np.uint8), np.zeros(rows), np.full(rows, -1, np.int32)
        for row in range(rows):
            value = cells[row * columns + column]
            if isinstance(value, bool):
                kinds[row], numbers[row] = Kind.BOOLEAN, value
            elif isinstance(value, float):
                kinds[row], numbers[row] = Kind.DATE if isinstance(value, Date) else Kind.NUMBER, value
            elif isinstance(value, str):
                kinds[row], codes[row] = Kind.TEXT, pool.intern(value)
            elif isinstance(value, Error):
                kinds[row], numbers[row] = Kind.ERROR, value.code
        spans.append(Span(kinds, numbers, codes))
    return Array(rows, columns, reference=HERE, spans=tuple(spans), pool=pool)


@st.composite
def grids(draw: st.DrawFn, cells: st.SearchStrategy[Any] = CELLS) -> tuple[int, int, list[Any]]:
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    return rows, columns, draw(st.lists(cells, min_size=rows * columns, max_size=rows * columns))


BODIES = (
    reduce.sum_of, reduce.average_of, reduce.count_of, reduce.minimum_of, reduce.maximum_of, reduce.product_of,
    reduce.squares_of, reduce.sum_product,
)  # fmt: skip


@given(grids())
def test_spans_give_what_a_list_gives(grid: tuple[int, int, list[Any]]) -> None:
    rows, columns, cells = grid
    listed, spanned = Array(rows, columns, cells, reference=HERE), spans_of(rows, columns, cells)
    for body in BODIES:
        result, expected = body(spanned), body(listed)
        assert (type(result), result) == (type(expected), expected)
    assert [values.tolist() for values in reduce.dense(spanned)] == [values.tolist() for values in reduce.dense(listed)]
    for everything in (False, True):
        outcomes = []
        for array in (listed, spanned):
            try:
                outcomes.append(reduce.numbers((array,), everything))
            except Failure as failure:
                outcomes.append(failure.error)
        assert outcomes[0] == outcomes[1]


@given(grids(st.one_of(st.none(), st.text(max_size=2), st.booleans(), st.floats(-1e3, 1e3))))
def test_sums_are_plain_sums_of_the_numbers(grid: tuple[int, int, list[Any]]) -> None:
    rows, columns, cells = grid
    array = spans_of(rows, columns, cells)
    total = 0.0
    numbers = [cell for cell in cells if isinstance(cell, float)]
    for number in numbers:
        total += number
    assert reduce.sum_array(array) == total
    assert reduce.count_array(array) == len(numbers)
    assert reduce.average_array(array) == (total / len(numbers) if numbers else DIV0)
    assert reduce.minimum_array(array) == min(numbers, default=0.0)
    assert reduce.maximum_array(array) == max(numbers, default=0.0)


@given(grids())
def test_the_first_error_in_reading_order_is_the_answer(grid: tuple[int, int, list[Any]]) -> None:
    rows, columns, cells = grid
    errors = [cell for cell in cells if isinstance(cell, Error)]
    result = reduce.sum_array(spans_of(rows, columns, cells))
    assert (result is errors[0]) if errors else isinstance(result, float)


def test_direct_arguments_are_read_as_excel_reads_them() -> None:
    assert reduce.sum_of(1.0, True, "2", None) == 4.0
    assert reduce.sum_of(1.0, "two") is VALUE
    assert reduce.sum_of(NA, DIV0) is NA
    assert reduce.count_of(1.0, True, "2", "two", None, NA) == 4.0
    assert reduce.average_of(None, 1.0) == 0.5
    assert reduce.minimum_of(None, 5.0) == 0.0
    assert reduce.product_of(None, 3.0) == 3.0
    assert reduce.product_of(Array(1, 1, ["x"])) == 0.0
    assert reduce.sum_of(1e308, 1e308) is NUM
    with pytest.raises(Failure) as failed:
        reduce.numbers(("two",))
    assert failed.value.error is VALUE


def test_extremes_of_dates_are_dates() -> None:
    maximum = reduce.maximum_of(Array(1, 3, [1.0, Date(45_000.0), 2.0]))
    assert isinstance(maximum, Date)
    assert maximum == 45_000.0
    assert type(reduce.minimum_of(Array(1, 2, [1.0, Date(45_000.0)]))) is float
    assert type(reduce.sum_of(Array(1, 1, [Date(45_000.0)]))) is float


def test_products_need_one_shape() -> None:
    row, column = Array(1, 2, [1.0, 2.0]), Array(2, 1, [3.0, 4.0])
    assert reduce.sum_product(row, column) is VALUE
    assert reduce.sum_product(column, column) == 25.0
    assert reduce.sum_product(column, Array(2, 1, ["3", True])) == 0.0
    assert reduce.sum_product(column, Array(2, 1, [1.0, NA])) is NA


def rounded(number: float, digits: int, rounding: str) -> float:
    """The 15 significant digits of a number, rounded as decimals."""
    with localcontext() as context:
        context.prec = 400
        return float(Decimal(f"{number:.14e}").quantize(Decimal(1).scaleb(-digits), rounding=rounding))


# Numbers as people write them, and what arithmetic makes of them: both sides of a tie.
DECIMALS = st.builds(
    lambda units, places, nudge: float(Decimal(units).scaleb(-places)) * (1 + nudge * 2.0**-52),
    st.integers(-(10**9), 10**9), st.integers(0, 8), st.integers(-1, 1),
)  # fmt: skip


@settings(max_examples=400)
@given(DECIMALS, st.integers(-4, 8))
def test_rounding_follows_the_fifteen_digits(number: float, digits: int) -> None:
    assume(abs(number) * 10.0**digits < 1e15)  # beyond, all fifteen digits stand before the place to round to
    assert reduce.round_half_away(number, digits) == rounded(number, digits, ROUND_HALF_UP)
    assert reduce.round_down(number, digits) == rounded(number, digits, ROUND_DOWN)
    assert reduce.round_up(number, digits) == rounded(number, digits, ROUND_UP)


@pytest.mark.parametrize(
    ("number", "digits", "expected"),
    [
        (2.675, 2, 2.68), (1.005, 2, 1.01), (0.285, 2, 0.29), (5.015, 2, 5.02), (-2.5, 0, -3.0), (1550.0, -2, 1600.0),
        (1.5e300, -300, 2e300), (1e-320, 400, 1e-320), (12345.678, 400, 12345.678), (12345.678, -400, 0.0),
        (0.0, 5, 0.0), (123456789012345.5, 0, 123456789012346.0), (4.5e15 + 1, 0, 4.5e15 + 1),
    ],
)  # fmt: skip
def test_rounding_at_the_ends(number: float, digits: int, expected: float) -> None:
    assert reduce.round_half_away(number, digits) == expected


def test_whole_numbers_read_fifteen_digits() -> None:
    almost = 880_000_000 * 0.00849 / 3
    assert almost < 2_490_400
    assert reduce.whole_below(almost) == 2_490_400
    assert reduce.whole_below(-2.5) == -3.0
    assert reduce.whole_above(-2.5) == -2.0
    assert reduce.whole_above(3.0000000000000004) == 3.0
    assert reduce.round_up(1e-20, 0) == 1.0


def test_spread_adds_up_in_order() -> None:
    mean, squares = reduce.spread([0.1, 0.1, 0.1])
    assert (squares / 2) ** 0.5 == pytest.approx(1.69967e-17, rel=1e-5)  # what Excel shows for STDEV(0.1,0.1,0.1)
    assert mean == pytest.approx(0.1)
