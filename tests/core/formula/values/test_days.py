"""The calendar of serials agrees with Python's own from March 1900 on, and with Excel's before."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.values import days
from core.formula.values.value import NUM, Failure

EPOCH = date(1899, 12, 30)
SERIALS = st.integers(61, days.SERIAL_MAX)


@given(SERIALS)
def test_serials_are_pythons_days(serial: int) -> None:
    expected = EPOCH + timedelta(days=serial)
    assert days.split(serial) == (expected.year, expected.month, expected.day)
    assert days.join(expected.year, expected.month, expected.day) == serial
    assert days.weekday(serial) == expected.weekday()


def test_every_year_begins_and_ends_where_it_should() -> None:
    for year in range(1901, 10_000):
        assert days.split((date(year, 1, 1) - EPOCH).days) == (year, 1, 1)
        assert days.split((date(year, 12, 31) - EPOCH).days) == (year, 12, 31)


@pytest.mark.parametrize(
    ("serial", "day"),
    [(0, (1900, 1, 0)), (1, (1900, 1, 1)), (59, (1900, 2, 28)), (60, (1900, 2, 29)), (61, (1900, 3, 1))],
)
def test_1900_is_a_leap_year_as_excel_has_it(serial: int, day: tuple[int, int, int]) -> None:
    assert days.split(serial) == day
    assert days.join(*day) == serial


@given(SERIALS, st.integers(-1_300, 1_300))
def test_months_on_keep_the_day_or_end_the_month(serial: int, months: int) -> None:
    year, month, day = days.split(serial)
    try:
        moved = days.add_months(serial, months)
    except Failure:
        assert not 1900 <= year + (month - 1 + months) // 12 <= 9999
        return
    later_year, later_month, later_day = days.split(moved)
    assert later_year * 12 + later_month == year * 12 + month + months
    assert later_day == min(day, days.month_length(later_year, later_month))
    assert days.is_month_end(days.add_months(serial, months, month_end=True))


@pytest.mark.parametrize("day", [(1899, 12, 31), (10_000, 1, 1), (9999, 12, 32), (1900, 1, -1), (1900, -20, 1)])
def test_days_beyond_excels_are_refused(day: tuple[int, int, int]) -> None:
    with pytest.raises(Failure) as refusal:
        days.join(*day)
    assert refusal.value.error is NUM


def test_1904_system_is_1462_days_later() -> None:
    assert days.split(days.cut(0.0, True)) == (1904, 1, 1)
    assert days.back(days.join(1904, 1, 2), True) == 1.0
    with pytest.raises(Failure):
        days.back(days.join(1903, 12, 31), True)


def test_half_a_second_rounds_into_the_next_day() -> None:
    assert days.moment(41_484.9999942129, False) == (41_484, 86_399)
    assert days.moment(41_484.9999942130, False) == (41_485, 0)


@given(SERIALS, SERIALS)
def test_day_counts_change_sign_with_their_ends_in_true_days(start: int, end: int) -> None:
    for basis in (1, 2, 3):
        assert days.days_between(start, end, basis) == -days.days_between(end, start, basis)
    assert days.days_360_european(start, end) == -days.days_360_european(end, start)
