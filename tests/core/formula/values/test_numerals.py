"""Text read as a number, a date or a time.

What Excel reads, what it leaves as text, and the way back.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formula.values.numerals import TEXT_MAX, kept_digits, read_date, read_number, read_time, serial_of
from tests.rows import every

NUMBERS = (
    ("0", 0.0), ("007", 7.0), ("5.", 5.0), (".5", 0.5), ("+5", 5.0), (" 100 ", 100.0), ("- 3", -3.0), ("1e3", 1000.0),
    (".5E-2", 0.005), ("100.5e1", 1005.0), ("1,234.5", 1234.5), ("1,0000", 10_000.0), ("1,000,0000", 10_000_000.0),
    ("$5", 5.0), ("-$5", -5.0), ("$-5", -5.0), ("$ 1,234.50", 1234.5), ("€3", 3.0), ("3€", 3.0), ("(3)", -3.0),
    ("($5)", -5.0), ("$(5)", -5.0), ("( 2.5 )", -2.5), ("12%", 0.12), ("12 %", 0.12), ("%50", 0.5), ("(50)%", -0.5),
    ("-1.5%", -0.015), ("1 1/2", 1.5), ("-1 1/2", -1.5), ("0 3/4", 0.75), ("10 13/24", 10 + 13 / 24),
    ("1234567890123456", 1234567890123450.0), ("0.1234567890123456", 0.123456789012345),
)  # fmt: skip

NOT_NUMBERS = (
    "", " ", ".", "-", "+", "$", "%", "x", "nan", "inf", "1_000", "0x10", "٣", "−3", "--5", "+-5", "5-", "1,2", "1,23",
    ",300", "1,00.0", "1,0,000", "0.233,4", "1 .5", "1. 5", "1 2", "1e", "1e2.5", "1 e3", "5%%", "5$", "$5%", "$$5",
    "$€5", "-(5)", "(-5)", "(5", "5)", "()", "1/0/0", "1 1/0", "1 1 / 2", "1.5 1/2", "£5", "TRUE", "1e999",
    "1:30PM", "6pm", "9" * (TEXT_MAX + 1),
)  # fmt: skip

DATES = (
    ("8/22/2011", 40_777.0), ("22-MAY-2011", 40_685.0), ("2011/02/23", 40_597.0), ("1/2/2020", 43_832.0),
    ("2020-01-31", 43_861.0), ("1-31/2020", 43_861.0), ("1 / 31 / 20", 43_861.0), ("31-Jan-2020", 43_861.0),
    ("31 January 2020", 43_861.0), ("31Jan20", 43_861.0), ("Jan 31, 2020", 43_861.0), ("january 31 2020", 43_861.0),
    ("Sept 1, 2019", 43_709.0), ("January 2020", 43_831.0), ("Jan-20", None), ("1/1/1900", 1.0), ("2/28/1900", 59.0),
    ("2/29/1900", 60.0), ("3/1/1900", 61.0), ("12/31/9999", 2_958_465.0), ("1/1/00", 36_526.0), ("12/31/29", 47_483.0),
    ("1/1/30", 10_959.0), ("1/32", 11_689.0), ("2/1999", 36_192.0),
)  # fmt: skip

NOT_DATES = (
    "13/1/2020", "22/8/2011", "2/30/2020", "2/29/1901", "0/1/2020", "1/0/2020", "82-5-6", "2020-01", "2020/Jan/5",
    "6. 4. 82", "6.4.82", "6,4,82", "6, October, 82", "5 Foo 2020", "Ja 5 2020", "12/30/1899", "1/1/10000",
    "2020-01-31T12:00", "Monday", "5",
)  # fmt: skip

TIMES = (
    ("12:30", 0.520833333333333), ("6:", 0.25), ("2:24 AM", 0.1), ("6 pm", 0.75), ("12 AM", 0.0), ("12:00 PM", 0.5),
    ("0:30 AM", 0.0208333333333333), ("9:30 p", 0.895833333333333), ("12:30:15.5 PM", 0.521012731481481),
    ("12:30.5", 0.00868634259259259), ("1:2:3", 0.0430902777777778),
)  # fmt: skip


@every("text, number", NUMBERS)
def test_reads_numbers_with_signs_currency_thousands_and_percent(text: str, number: float) -> None:
    assert read_number(text) == pytest.approx(number, rel=1e-15)


@every("text", NOT_NUMBERS)
def test_leaves_other_text_alone(text: str) -> None:
    assert read_number(text, year=lambda: 2024) is None


@every("text, serial", DATES)
def test_reads_dates_as_serials(text: str, serial: float | None) -> None:
    assert read_date(text) == serial
    assert read_number(text) == serial


@pytest.mark.parametrize("text", NOT_DATES)
def test_refuses_what_is_no_date(text: str) -> None:
    assert read_date(text, year=lambda: 2024) is None


def test_a_date_without_a_year_is_of_the_given_one() -> None:
    assert [read_date(text, year=lambda: 2026) for text in ("6-4", "6 October", "6Nov", "Feb 3", "12/31")] == [
        46_177,
        46_301,
        46_332,
        46_056,
        46_387,
    ]
    assert read_date("6-4") is None
    assert read_date("2/29", year=lambda: 2024) == 45_351
    assert read_date("2/29", year=lambda: 2023) == serial_of(2029, 2, 1)


@pytest.mark.parametrize(("text", "part"), TIMES)
def test_reads_times_as_parts_of_a_day(text: str, part: float) -> None:
    assert read_time(text) == pytest.approx(part, abs=1e-14)
    assert read_number(text) == pytest.approx(part, abs=1e-14)


def test_one_part_of_a_time_may_run_over() -> None:
    assert read_number("24:00") == 1.0
    assert read_number("25:30") == pytest.approx(25.5 / 24)
    assert read_number("0:90") == pytest.approx(1.5 / 24)
    assert read_number("13:59:60") == pytest.approx(14 / 24)
    assert read_time("25:30") == pytest.approx(1.5 / 24)
    assert [read_number(text) for text in ("13:60:60", "24:60", "13:30 PM", "11:60 AM", "5", "5:1:", ":30")] == [
        None,
        None,
        None,
        None,
        5.0,
        None,
        None,
    ]


def test_a_day_and_a_time_stand_in_either_order() -> None:
    assert read_number("1/2/2020 12:30") == pytest.approx(43_832.5208333333)
    assert read_number("6:00 PM 1/2/2020") == pytest.approx(43_832.75)
    assert read_number("Jan 2, 2020 6 am") == pytest.approx(43_832.25)
    assert read_date("1/2/2020 12:30") == 43_832
    assert read_time("1/2/2020 12:00") == 0.5
    assert (read_date("12:30"), read_time("1/2/2020")) == (0.0, 0.0)
    assert read_number("1/2/2020 5") is None


def test_the_1904_system_counts_from_its_own_day() -> None:
    assert read_number("1/2/2020", date_1904=True) == 43_832 - 1_462
    assert read_number("1/1/1904", date_1904=True) == 0
    assert read_number("12/31/1903", date_1904=True) is None


@given(st.integers(0, 10**14), st.integers(0, 6), st.booleans())
def test_reads_back_what_python_writes(digits: int, decimals: int, grouped: bool) -> None:
    number = float(f"{digits}e-{decimals}")
    text = f"{number:,.{decimals}f}" if grouped else f"{number:.{decimals}f}"
    assert read_number(text) == kept_digits(text.replace(",", ""))
    assert read_number(f"-{text}") == -kept_digits(text.replace(",", ""))


@given(st.text(max_size=40))
def test_any_text_is_read_or_not(text: str) -> None:
    number = read_number(text, year=lambda: 2024)
    assert number is None or isinstance(number, float)


@given(st.text("0123456789.,/-: $%()eEAPMJanfb", max_size=24))
def test_any_near_numeral_is_read_or_not(text: str) -> None:
    number = read_number(text, year=lambda: 2024)
    assert number is None or abs(number) < float("inf")
