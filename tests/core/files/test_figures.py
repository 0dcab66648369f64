"""What texts of cells are.

Figures as the market writes them, days that leave no doubt, and text.
"""

from __future__ import annotations

import pytest

from core.files.figures import shown_as, uses_comma, value_of_text
from core.values import Kind, from_serial
from tests.rows import every


@every(
    "text, number, code",
    [
        ("1,234,567.89", 1234567.89, "General"),
        ("1,234", 1234.0, "General"),
        ("0", 0.0, "General"),
        ("0.5", 0.5, "General"),
        (".5", 0.5, "General"),
        ("-1,234.5", -1234.5, "General"),
        ("- 5", -5.0, "General"),
        ("(1,234.50)", -1234.5, "General"),
        ("( 7 )", -7.0, "General"),
        ("1,234-", -1234.0, "General"),
        ("5.25%", 0.0525, "0.00%"),
        ("100 %", 1.0, "0.00%"),
        ("(5%)", -0.05, "0.00%"),
        ("1.2E+05", 120000.0, "General"),
        ("123456789", 123456789.0, "General"),
    ],
)
def test_figures(text: str, number: float, code: str) -> None:
    result = value_of_text(text)
    assert result is not None
    assert (result[0], result[1], result[2]) == (Kind.NUMBER, pytest.approx(number, rel=1e-15), code)


@every(
    "text, number",
    [("1.234.567,89", 1234567.89), ("1.234", 1234.0), ("5,25%", 0.0525), ("(1.234,5)", -1234.5), ("0,5", 0.5)],
)
def test_figures_with_a_decimal_comma(text: str, number: float) -> None:
    result = value_of_text(text, comma=True)
    assert result is not None
    assert result[1] == pytest.approx(number, rel=1e-15)


@every(
    "text",
    [
        *("00123", "037833100", "12345E105", "12345678901234567", "1,23", "12,34.5", "1.2.3", "1,234,56", "--5", "(5"),
        *("5)", "-(5)", "(-5)", "$5", "€1,000", "5bps", "12A456", "-", "—", "%", "(", "", "3/31/2024", "31.03.2024"),
        *("32-Mar-2024", "31-Foo-2024", "2024-13-01", "March", "May be 5, 2024", "TRUE", "#NOPE", "1" * 50, "٣"),
    ],
)
def test_text_stays_text(text: str) -> None:
    assert value_of_text(text) is None


@every(
    "text, day",
    [
        ("2024-03-31", "2024-03-31 00:00:00"),
        ("2024/3/31", "2024-03-31 00:00:00"),
        ("2024-03-31 12:30", "2024-03-31 12:30:00"),
        ("2024-03-31T12:30:15", "2024-03-31 12:30:15"),
        ("31-Mar-2024", "2024-03-31 00:00:00"),
        ("1-Mar-24", "2024-03-01 00:00:00"),
        ("1-Mar-99", "1999-03-01 00:00:00"),
        ("31 March 2024", "2024-03-31 00:00:00"),
        ("Mar 31, 2024", "2024-03-31 00:00:00"),
        ("September 5, 2024", "2024-09-05 00:00:00"),
        ("Sept. 5, 2024", "2024-09-05 00:00:00"),
    ],
)  # fmt: skip
def test_days_that_leave_no_doubt(text: str, day: str) -> None:
    result = value_of_text(text)
    assert result is not None
    assert (result[0], str(from_serial(result[1]))) == (Kind.DATE, day)
    assert result[2] == ("yyyy-mm-dd" if day.endswith("00:00:00") else "yyyy-mm-dd hh:mm:ss")


@every(
    "text, code, day",
    [
        ("03/04/2024", "mm/dd/yyyy", "2024-03-04 00:00:00"),
        ("03/04/2024", "dd/mm/yyyy", "2024-04-03 00:00:00"),
        ("3/4/24", "m/d/yy;@", "2024-03-04 00:00:00"),
        ("04.03.2024", "dd\\.mm\\.yyyy", "2024-03-04 00:00:00"),
        ("03/04/2024 06:00", "mm/dd/yyyy hh:mm", "2024-03-04 06:00:00"),
        ("31-Mar-2024", "d-mmm-yy", "2024-03-31 00:00:00"),
    ],
)
def test_a_date_format_says_which_is_the_month(text: str, code: str, day: str) -> None:
    value = shown_as(text, code)
    assert value is not None
    assert (value[0], str(from_serial(value[1])), value[2]) == (Kind.DATE, day, code)


def test_a_number_format_is_kept_where_it_fits() -> None:
    assert shown_as("5.00%", "0.00%") == (Kind.NUMBER, 0.05, "0.00%")
    assert shown_as("1,234.50", "#,##0.00") == (Kind.NUMBER, 1234.5, "#,##0.00")
    assert shown_as("1,234.50", "mm/dd/yyyy") == (Kind.NUMBER, 1234.5, "General")
    assert shown_as("00123", "@") is None
    assert shown_as("123", "@") is None
    assert shown_as("31/31/2024", "mm/dd/yyyy") is None


@every(
    "texts, comma",
    [
        (["1,5", "1.234", "7"], True),
        (["1.234.567"], True),
        (["1,5", "1.5"], False),
        (["1,234", "1.234"], False),
        (["0,125"], True),
        (["1234,567"], True),
        (["1.234,5", "1,234.5"], False),
        ([], False),
    ],
)
def test_the_decimal_sign_is_found(texts: list[str], comma: bool) -> None:
    assert uses_comma(texts) is comma
