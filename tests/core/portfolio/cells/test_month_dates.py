"""Maturities that name a month and no day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.portfolio.cells import string_pool, text_cells
from core.portfolio.cells.month_dates import month_days, short_month_days
from core.portfolio.cells.string_pool import Cells, StringPool, shows_month
from core.portfolio.cells.typed import read_dates
from core.values import EPOCH, to_serial

MakeCells = Callable[..., Cells]
NAN = np.nan
END_OF_MARCH = float((date(2029, 3, 31) - EPOCH).days)


def days(year: int, month: int, day: int) -> float:
    return float((date(year, month, day) - EPOCH).days)


def same(values: Any, expected: list[float]) -> bool:
    return bool(np.array_equal(values, expected, equal_nan=True))


def read(cells: Cells) -> Any:
    return read_dates(cells, None, target="maturity_date").column.values


@pytest.mark.parametrize(
    "text",
    ["Mar 2029", "Mar-29", "Mar'29", "March 2029", "MARCH, 2029", "Mar. 2029", "2029 March", "03/2029", "3/2029",
     "03-2029", "03.2029", "2029-03", "2029/03", "202903", "Mar 2029\u00b9", "Mar 2029 (1)",
     "M\u00e4rz 2029", "mars 2029"],
)  # fmt: skip
def test_a_month_is_its_last_day(text: str) -> None:
    assert month_days(text) == END_OF_MARCH


def test_a_leap_year_has_its_29_february() -> None:
    assert month_days("Feb 2028") == days(2028, 2, 29)


@pytest.mark.parametrize(
    "text", ["", "2029", "13/2029", "Foo 2029", "March", "03/29", "00/2029", "Mar 1929", "202913", "Mar 2029 " * 9]
)
def test_what_names_no_month_and_year_is_none(text: str) -> None:
    assert np.isnan(month_days(text))


@pytest.mark.parametrize(("text", "expected"), [("03/29", END_OF_MARCH), ("3-29", END_OF_MARCH), ("03/12", NAN)])
def test_a_year_of_two_digits_is_one_of_a_maturity(text: str, expected: float) -> None:
    assert same([short_month_days(text)], [expected])


def test_a_column_has_days_and_months(make_cells: MakeCells) -> None:
    cells = make_cells(["Mar 2029", "2030-06-15", "soon", None, date(2031, 1, 1)])
    result = read_dates(cells, None, target="maturity_date")
    assert same(result.column.values, [END_OF_MARCH, days(2030, 6, 15), NAN, NAN, days(2031, 1, 1)])
    assert result.unreadable is not None
    assert result.unreadable.tolist() == [False, False, True, False, False]


def test_a_month_is_no_other_date(make_cells: MakeCells) -> None:
    assert same(read_dates(make_cells(["Mar 2029"]), None, target="default_date").column.values, [NAN])


def test_short_years_count_where_the_whole_column_is_such_and_are_told(make_cells: MakeCells) -> None:
    result = read_dates(make_cells(["03/29", "06/30", "N/A"]), None, target="maturity_date")
    assert same(result.column.values, [END_OF_MARCH, days(2030, 6, 30), NAN])
    assert [(warning.code, warning.rows) for warning in result.warnings] == [("short_months", 2)]
    for others in (["03/29", "06/12"], ["03/29", "2030-06-15"], ["03/29", date(2030, 6, 15)]):
        mixed = read_dates(make_cells(others), None, target="maturity_date")
        assert np.isnan(mixed.column.values[0])
        assert mixed.warnings == ()


def test_numbers_of_year_and_month_count_where_all_are_such(make_cells: MakeCells) -> None:
    assert same(read(make_cells([202903, 203006])), [END_OF_MARCH, days(2030, 6, 30)])
    assert same(read(make_cells([20290315, 20300630])), [days(2029, 3, 15), days(2030, 6, 30)])
    assert same(read(make_cells([2029, 47000])), [NAN, 47000.0 - 25569])


@pytest.mark.parametrize(
    ("code", "is_month"),
    [("mmm-yy", True), ("[$-409]mmm-yy;@", True), ("mm/yyyy", True), ("mmmm yyyy", True), ("yyyy-mm-dd", False),
     ("mm:ss", False), ("General", False), ('"day" mmm yy', True), ("yyyy", False)],
)  # fmt: skip
def test_formats_without_a_day(code: str, is_month: bool) -> None:
    assert shows_month(code) is is_month


@pytest.mark.parametrize(
    ("firsts", "expected"),
    [
        ([date(2029, 3, 1), date(2030, 6, 1)], [END_OF_MARCH, days(2030, 6, 30)]),
        # A day other than the first says that the format hides days, which then count.
        ([date(2029, 3, 1), date(2030, 6, 15)], [days(2029, 3, 1), days(2030, 6, 15)]),
    ],
)
def test_dates_shown_as_months_are_months(firsts: list[date], expected: list[float]) -> None:
    serials = np.array([*map(to_serial, firsts), to_serial(date(2031, 1, 1))])
    formats = np.array([1, 1, 0], np.uint16)
    pool = StringPool(text_cells.NO_TEXT, ("yyyy-mm-dd", "mmm-yy"))
    cells = Cells(np.full(3, string_pool.DATE, np.uint8), serials, np.full(3, -1, np.int32), formats, pool)
    assert same(read(cells), [*expected, days(2031, 1, 1)])
