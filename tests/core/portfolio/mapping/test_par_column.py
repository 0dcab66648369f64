"""Which of several columns of par counts, by the amounts that a file prints of its pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.mapping.detection import detect_columns
from tests.rows import every

MakeBook = Callable[..., Workbook]

FIRST = [1_234_567.89, 2_000_000.0, 3_456_789.12]
OTHER = [1_234_567.89, 2_345_678.91, 3_456_789.12]
CASH = 812_345.67


def of(
    make_book: MakeBook,
    denominator: float,
    *,
    headers: tuple[str, ...] = ("Par Amount", "Traded Par"),
    more: list[Any] | None = None,
) -> Portfolio:
    """Three loans with two columns of par or three, beside two shares of one denominator."""
    return Portfolio.from_workbook(book_of(make_book, denominator, headers=headers, more=more))


def book_of(
    make_book: MakeBook,
    denominator: float,
    *,
    headers: tuple[str, ...] = ("Par Amount", "Traded Par"),
    more: list[Any] | None = None,
) -> Workbook:
    """Return the workbook of `of`."""
    columns = [FIRST, OTHER, OTHER][: len(headers)]
    loans = [
        [f"LX10000{at}", f"Name {at}", *(column[at] for column in columns), "USD", "2030-01-31"] for at in range(3)
    ]
    tests = [
        ["Test", "Numerator", "Denominator", "Current", "Limit", "Result"],
        ["Largest Obligor", 3_456_789.12, denominator, 3_456_789.12 / denominator, 0.6, "PASS"],
        ["Cov-Lite Loans", 1_234_567.89, denominator, 1_234_567.89 / denominator, 0.6, "PASS"],
    ]
    accounts = [["Account", "Balance"], ["Principal Collection Account", CASH]]
    pages = {"Concentration Limitations": tests, "Account Balances": accounts, **({"Lists": more} if more else {})}
    return make_book({"Loans": [["LoanX ID", "Issuer", *headers, "Currency", "Maturity"], *loans], **pages})


@every("denominator, header", [(sum(OTHER), "Traded Par"), (sum(FIRST), "Par Amount")])
def test_the_detection_shows_the_column_that_is_read(make_book: MakeBook, denominator: float, header: str) -> None:
    detection = detect_columns(book_of(make_book, denominator))
    assert [column.header for column in detection.columns if column.target == "par_value"] == [header]
    assert ("par_by_printed" in [warning.code for warning in detection.warnings]) == (header == "Traded Par")


@every(
    "denominator, is_other",
    [
        (sum(OTHER), True),
        (sum(OTHER) + CASH, True),
        (sum(FIRST), False),
        (sum(FIRST) + CASH, False),
        (sum(OTHER) + 1.0, False),  # none of them
    ],
)
def test_the_column_that_makes_the_denominator(make_book: MakeBook, denominator: float, is_other: bool) -> None:
    portfolio = of(make_book, denominator)
    assert portfolio.numbers["par_value"].tolist() == (OTHER if is_other else FIRST)
    messages = [warning.message for warning in portfolio.notes.warnings if warning.code == "par_by_printed"]
    assert len(messages) == is_other
    assert not messages or "'Traded Par' and not by 'Par Amount'" in messages[0]


def test_two_columns_that_make_it_decide_nothing(make_book: MakeBook) -> None:
    portfolio = of(make_book, sum(OTHER), headers=("Par Amount", "Traded Par", "Principal Balance"))
    assert "par_by_printed" not in [warning.code for warning in portfolio.notes.warnings]
