"""Which of a file's days its figures are of.

Determination, report and payment dates told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.values import day_of
from tests.rows import every

MakeBook = Callable[..., Workbook]

DAY = "2025-06-09"


def read_day(make_book: MakeBook, cover: list[Any], column: tuple[str, Any] | None = None) -> Portfolio:
    """Three loans beside a cover, maybe with a column that has a day on every row."""
    more = () if column is None else column[1:]
    header = ["LoanX ID", "Issuer", "Par", "Maturity Date", *(() if column is None else column[:1])]
    loans = [[f"LX10000{at}", f"Name {at}", 100.0, "2031-01-31", *more] for at in range(3)]
    return Portfolio.from_workbook(make_book({"Cover": cover, "Holdings": [header, *loans]}))


@every(
    "cover",
    [
        [["Report Date", "12 June 2025"], ["Determination Date", "9 June 2025"], ["Payment Date", "20 June 2025"]],
        [["Payment Date: 20 June 2025"], ["Determination Date: 9 June 2025"], ["Report Date: 12 June 2025"]],
        [["Monthly report as of 9 June 2025 for the payment date 20 June 2025"]],
        [["Collection Period", "10 May 2025 - 9 June 2025"], ["Payment Date", "20 June 2025"]],
        [["Collection Period: 10 May 2025 to 9 June 2025"]],
        [["Due Period End", "9 June 2025"], ["Payment Date", "20 June 2025"]],
        [["Valuation Date", "9 June 2025"], ["Next Payment Date", "20 June 2025"]],
        [["Measurement Date", "9 June 2025"], ["Run Date", "12 June 2025"]],
        [["Collection Period", "10 May 2025 - 11 June 2025"], ["Determination Date", "9 June 2025"]],
        [["Positions as of", "9 June 2025"], ["Next Payment Date", "20 June 2025"]],
        [["Loan tape as at:", None, "9 June 2025"]],
        [["Ratings as of", "1 June 2025"], ["Portfolio valued as of", "9 June 2025"]],
    ],
)
def test_the_day_of_the_figures(make_book: MakeBook, cover: list[Any]) -> None:
    day = read_day(make_book, cover).deal.as_of
    assert day is not None
    assert f"{day_of(day)}" == DAY


@every(
    "cover, column, day, source",
    [
        ([["Report Date", "12 June 2025"]], ("As Of Date", "2025-06-09"), DAY, "column"),
        ([["Report Date", "12 June 2025"]], ("Report Date", "2025-06-09"), "2025-06-12", "file"),
        ([["Determination Date", "9 June 2025"]], ("As Of Date", "2025-06-08"), DAY, "file"),
        ([["Report Date", "9 June 2025"]], ("As Of Date", "2025-06-12"), DAY, "file"),  # no report is of a later day
    ],
)
def test_a_column_of_the_holdings_beside_a_report_date(
    make_book: MakeBook, cover: list[Any], column: tuple[str, Any], day: str, source: str
) -> None:
    portfolio = read_day(make_book, cover, column)
    assert portfolio.deal.as_of is not None
    assert (f"{day_of(portfolio.deal.as_of)}", portfolio.deal.as_of_source) == (day, source)
    is_conflict = "as_of_conflict" in {warning.code for warning in portfolio.notes.warnings}
    assert is_conflict == (source == "column")


@every(
    "text", ["Interest Accrual Period: 10 May 2025 to 9 June 2025", "Reinvestment Period: 1 May 2025 to 9 June 2025"]
)
def test_another_period_says_no_day(make_book: MakeBook, text: str) -> None:
    assert read_day(make_book, [["Cover"], [None], [None], [None], [None], [None], [None], [text]]).deal.as_of is None


@every("label", ["Next determination date", "Prices as of", "Previous report date", "Loans as of the last sale"])
def test_a_label_of_another_day_says_none(make_book: MakeBook, label: str) -> None:
    assert read_day(make_book, [[label, "9 June 2025"]]).deal.as_of is None
