"""Values as text: no exponent, no noise, no date that is none."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.reconciliation.written import date_text, figure_text, iso_day, number_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1_000_000.0, "1000000"),
        (-2.5, "-2.5"),
        (0.0, "0"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (0.00001, "0.00001"),
        (1e-9, "0"),
        (1e22, "10000000000000000000000"),
        (265969.47000000003, "265969.47"),
        (nan, ""),
        (inf, "inf"),
    ],
)
def test_numbers(number: float, text: str) -> None:
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_a_number_reads_back_to_six_decimals_and_has_no_exponent(number: float) -> None:
    text = number_text(number)
    assert "e" not in text
    assert float(text) == round(number, 6)


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0.0, "1970-01-01"),
        (20_543.0, "2026-03-31"),
        (20_543.75, "2026-03-31"),
        (-1.0, "1969-12-31"),
        (nan, ""),
        (1e12, "1000000000000"),
        (inf, "inf"),
    ],
)
def test_dates(days: float, text: str) -> None:
    assert date_text(days) == text


def test_a_day_that_no_calendar_has_is_none() -> None:
    days = [None, nan, inf, 1e12, 0.0, 20_543.75, -1.0]
    assert [iso_day(day) for day in days] == [None, None, None, None, "1970-01-01", "2026-03-31", "1969-12-31"]


def test_figures_have_their_thousands_apart() -> None:
    written_as = {"1234567.5": "1,234,567.5", "-0.5": "-0.5", "-1000": "-1,000", "": "", "1e15": "1e15"}
    assert {value: figure_text(value, "calculation") for value in written_as} == written_as
    assert figure_text("12345678", "identity") == "12345678"
