"""COUNTIF, SUMIFS and their kin.

Excel's answers, and the same ones by index, by order and cell by cell.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.formula.language.errors import LimitExceeded
from core.formula.ranges.index import INDEX_AFTER, INDEX_ROWS_MIN
from core.formula.ranges.tally import ORDER_AFTER, ORDER_ROWS_MIN
from core.formula.values.criteria import Criterion
from core.formula.values.value import DIV0, NA, VALUE, Error
from tests.core.formula.areas import CELLS, Sheet

SHEET = Sheet(
    ["apples", "oranges", "peaches", "apples", None, ""],
    [32.0, 54.0, 75.0, 86.0, "86", True],
    [100_000.0, 200_000.0, 300_000.0, 400_000.0, None, "text"],
    [7_000.0, 14_000.0, 21_000.0, 28_000.0, 1.0, 2.0],
    [1.0, NA, 3.0, None, None, None],
)

CASES: tuple[tuple[str, Any], ...] = (
    # Excel's own documentation
    ('=COUNTIF(A1:A4,"apples")', 2.0), ("=COUNTIF(A1:A4,A4)", 2.0), ('=COUNTIF(B1:B4,">55")', 2.0),
    ('=COUNTIF(B1:B4,"<>"&B3)', 3.0),
    ('=COUNTIF(B1:B4,">=32")-COUNTIF(B1:B4,">54")', 2.0), ('=COUNTIF(A1:A4,"*")', 4.0),
    ('=COUNTIF(A1:A4,"?????es")', 2.0),
    ('=SUMIF(C1:C4,">160000",D1:D4)', 63_000.0), ('=SUMIF(C1:C4,">160000")', 900_000.0),
    ("=SUMIF(C1:C4,300000,D1:D4)", 21_000.0),
    ('=SUMIF(C1:C4,">"&C2,D1:D4)', 49_000.0), ('=AVERAGEIF(D1:D4,"<23000")', 14_000.0),
    ('=AVERAGEIF(C1:C4,"<95000")', DIV0),
    ('=AVERAGEIF(C1:C4,">250000",D1:D4)', 24_500.0),
    # numeric text, blanks and other types
    ("=COUNTIF(B1:B6,86)", 2.0), ('=COUNTIF(B1:B6,">80")', 1.0), ("=COUNTIF(B1:B6,TRUE)", 1.0),
    ('=COUNTIF(A1:A6,"")', 2.0),
    ('=COUNTIF(A1:A6,"=")', 1.0), ('=COUNTIF(A1:A6,"<>")', 5.0), ('=COUNTIF(A1:A6,"<>apples")', 4.0),
    ("=COUNTBLANK(A1:A6)", 2.0),
    ("=COUNTIF(E1:E6,NA())", 1.0), ('=COUNTIF(E1:E6,"#N/A")', 1.0), ("=COUNTIF(E1:E6,Z1)", 0.0),
    ("=COUNTIF(B1,32)", 1.0),
    ('=SUMIF(B1:B6,">0")', 247.0), ('=SUMIF(A1:A6,"<>x",B1:B6)', 247.0),
    # whole columns reach to the last row of the sheet
    ('=COUNTIF(A:A,"")', 1_048_572.0), ("=COUNTBLANK(Z:Z)", 1_048_576.0), ('=COUNTIFS(A:A,"",C:C,"")', 1_048_571.0),
    ('=SUMIF(A:A,"apples",B:B)', 118.0),
    # shapes
    ('=SUMIF(A1:A4,"apples",B1)', 118.0), ('=SUMIF(A1:A4,"apples",B1:B2)', 118.0),
    ('=AVERAGEIF(A1:A4,"apples",B1)', 59.0), ('=SUMIFS(B1:B3,A1:A4,"apples")', VALUE),
    ('=COUNTIFS(A1:A4,"apples",B1:B3,">1")', VALUE), ('=SUMIF({1,2,3},">1")', VALUE), ("=COUNTIF(5,5)", VALUE),
    ("=COUNTIF(1/0,5)", DIV0),
    ('=COUNTIF(A1:B4,"<>apples")', 6.0), ('=SUMIF(A1:B4,">0",C1:D4)', 70_000.0),
    # errors among the values count only where the criteria hold
    ('=SUMIF(A1:A3,"oranges",E1:E3)', NA), ('=SUMIF(A1:A3,"peaches",E1:E3)', 3.0),
    ('=AVERAGEIFS(E1:E3,A1:A3,"oranges")', NA), ('=MAXIFS(E1:E3,A1:A3,"<>oranges")', 3.0),
    # several criteria
    ('=COUNTIFS(A1:A4,"apples",B1:B4,">50")', 1.0), ('=SUMIFS(D1:D4,A1:A4,"a*",B1:B4,"<100")', 35_000.0),
    ('=AVERAGEIFS(D1:D4,B1:B4,">50",B1:B4,"<80")', 17_500.0),
    ('=MINIFS(D1:D4,A1:A4,"apples")', 7_000.0), ('=MAXIFS(D1:D4,A1:A4,"apples")', 28_000.0),
    ('=MINIFS(D1:D4,A1:A4,"none")', 0.0), ('=MAXIFS(D1:D4,A1:A4,"none")', 0.0),
    ('=AVERAGEIFS(D1:D4,A1:A4,"none")', DIV0), ('=SUMIFS(D1:D4,A1:A4,"none")', 0.0),
    # arrays of criteria
    ('=SUM(COUNTIF(A1:A4,{"apples","peaches"}))', 3.0), ('=SUMIF(A1:A4,{"apples";"oranges"},B1:B4)', [[118.0], [54.0]]),
    ('=COUNTIF(A1:A6,REPT("a",256))', VALUE),
)  # fmt: skip


@pytest.mark.parametrize("listed", [False, True], ids=["spans", "cells"])
@pytest.mark.parametrize(("formula", "value"), CASES)
def test_answers(formula: str, value: Any, listed: bool) -> None:
    sheet = Sheet(*SHEET.columns, listed=listed)
    for _ in range(INDEX_AFTER + 1):
        assert sheet.value(formula) == value


WANTED = st.one_of(
    CELLS,
    st.builds("{}{}".format, st.sampled_from(["", "=", "<>", "<", "<=", ">", ">="]),
              st.sampled_from(["", "1", "2", "-1", "2.25", "a", "ab", "b", "a*", "?", "*b", "~*", "TRUE", "#N/A",
              "#DIV/0!", "0"])),
)  # fmt: skip


def naive(rows: list[int], values: list[Any]) -> tuple[Any, Any, Any, Any]:
    """Sum, mean, least and greatest of the values in rows, or their first error."""
    errors = [values[row] for row in rows if isinstance(values[row], Error)]
    if errors:
        return (errors[0],) * 4
    numbers = [values[row] for row in rows if isinstance(values[row], float)]
    return (
        sum(numbers),
        sum(numbers) / len(numbers) if numbers else DIV0,
        min(numbers, default=0.0),
        max(numbers, default=0.0),
    )


def assert_like(sheet: Sheet, formula: str, expected: Any) -> None:
    result = sheet.value(formula)
    if isinstance(expected, Error):
        assert result is expected, formula
    else:
        assert result == pytest.approx(expected, rel=1e-12, abs=1e-9), formula


VALUES = st.one_of(st.none(), st.integers(-50, 50).map(float), st.booleans(), st.sampled_from(["x", "7"]))
ROWS = st.lists(st.tuples(CELLS, CELLS, VALUES), min_size=1, max_size=2 * INDEX_ROWS_MIN)


@settings(max_examples=120, deadline=None)
@given(ROWS, WANTED, WANTED, st.booleans(), st.booleans())
def test_tallies_agree_with_testing_every_row(
    rows: list[Any], first: Any, second: Any, listed: bool, broken: bool
) -> None:
    left, right, values = (list(column) for column in zip(*rows, strict=True))
    if broken:
        values[len(values) // 2] = NA
    sheet, size = Sheet(left, right, values, [first, second], listed=listed), len(rows)
    indexes = [row for row in range(size) if Criterion(first).matches(left[row])]
    two = [row for row in indexes if Criterion(second).matches(right[row])]
    sums, both = naive(indexes, values), naive(two, values)
    for _ in range(2 * INDEX_AFTER):  # the later ones by an index
        assert sheet.value(f"=COUNTIF(A1:A{size},D1)") == len(indexes)
        assert sheet.value(f"=COUNTIFS(A1:A{size},D1,B1:B{size},D2)") == len(two)
        assert_like(sheet, f"=SUMIF(A1:A{size},D1,C1:C{size})", sums[0])
        for name, expected in zip(("SUMIFS", "AVERAGEIFS", "MINIFS", "MAXIFS"), both, strict=True):
            assert_like(sheet, f"={name}(C1:C{size},A1:A{size},D1,B1:B{size},D2)", expected)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "B", "b", None, 3.0]), CELLS, VALUES), min_size=8, max_size=16),
       st.sampled_from(["<", "<=", ">", ">="]), st.integers(-3, 5), st.integers(0, 300), st.booleans())  # fmt: skip
def test_rows_in_order_agree_with_testing_every_row(
    rows: list[Any], order: str, bound: int, broken: int, long: bool
) -> None:
    rows = (rows * (ORDER_ROWS_MIN // len(rows) + 1))[: ORDER_ROWS_MIN + 7]
    left, right, values = (list(column) for column in zip(*rows, strict=True))
    if broken < len(values):
        values[broken] = NA
    wanted, size = f"{order}{bound}", len(rows)
    sheet = Sheet(left, right, values, [wanted, "b"])
    indexes = [row for row in range(size) if Criterion(wanted).matches(right[row])]
    two = [row for row in indexes if isinstance(left[row], str) and left[row] in "Bb"]
    for _ in range(ORDER_AFTER + 1):
        assert sheet.value(f"=COUNTIF(B1:B{size},D1)") == len(indexes)
        assert_like(sheet, f"=SUMIF(B1:B{size},D1,C1:C{size})", naive(indexes, values)[0])
        for name, expected in zip(("SUMIFS", "AVERAGEIFS", "MINIFS", "MAXIFS"), naive(two, values), strict=True):
            assert_like(sheet, f"={name}(C1:C{size},A1:A{size},D2,B1:B{size},D1)", expected)


def test_an_edit_that_drops_the_indexes_of_its_cells_shows() -> None:
    """Whoever edits a cell drops what is kept under corners around it.

    Sums over several ranges follow suit.
    """
    size = ORDER_ROWS_MIN
    groups, numbers, values = ["a", "b"] * (size // 2), [float(row) for row in range(size)], [1.0] * size
    sheet = Sheet(groups, numbers, values)
    formulas = [
        f'=SUMIF(A1:A{size},"a",C1:C{size})',
        f'=SUMIFS(C1:C{size},A1:A{size},"a",B1:B{size},">=0")',
        f'=SUMIF(B1:B{size},"<1000",C1:C{size})',
    ]
    before = [[sheet.value(formula) for formula in formulas] for _ in range(ORDER_AFTER + 2)][-1]
    assert before == [size / 2, size / 2, size]
    for column, value, expected in (
        (2, 11.0, [10.0, 10.0, 10.0]),
        (0, "b", [-1.0, -1.0, 10.0]),
        (1, 5_000.0, [-1.0, -1.0, -1.0]),
    ):
        sheet.columns[column][0] = value
        assert sheet.indexes is not None
        for key in [key for key in sheet.indexes if key[2] <= column <= key[4]]:
            del sheet.indexes[key]
        after = [[sheet.value(formula) for formula in formulas] for _ in range(ORDER_AFTER + 2)]
        assert after == [[start + change for start, change in zip(before, expected, strict=True)]] * len(after)


def test_a_search_beyond_the_time_allowed_is_refused() -> None:
    sheet = Sheet(["a"] * 20_000)
    sheet.deadline = 0.0
    with pytest.raises(LimitExceeded):
        sheet.value('=COUNTIF(A1:A20000,"a")')
