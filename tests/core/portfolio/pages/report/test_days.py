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
        [["Manager's report", None, "Period ended", "9-Jun-2025"]],
        [["Cut-off:", "9 June 2025"]],
        [["Ratings as of", "1 June 2025"], ["Portfolio valued as of", "9 June 2025"]],
    ],
)
def test_the_day_of_the_figures(make_book: MakeBook, cover: list[Any]) -> None:
    day = read_day(make_book, cover).deal.as_of
    assert day is not None
    assert f"{day_of(day)}" == DAY


@every(
    "cover, day, is_told",
    [
        ([["Data as at close of business 9 June 2025"]], DAY, False),
        ([["Valuation: 9 June 2025   |   Next payment: 20 June 2025"]], DAY, False),
        ([["Month End: June 2025"], ["Payment Date", "20 July 2025"]], "2025-06-30", True),
        ([["For the quarter ended June 2025"]], "2025-06-30", True),
        ([["Quarter", "Q2 2025"]], "2025-06-30", True),
        ([["Quarter", "Q1 2025", "Q2 2025"]], None, False),  # headings of columns
        ([["Refinancing", "Q2 2025"]], None, False),
        ([["Closing month: June 2025"]], None, False),
        ([["Send comments by close of business 12 June 2025, please"]], None, False),
    ],
)
def test_days_of_periods_and_of_lines_with_several_days(
    make_book: MakeBook, cover: list[Any], day: str | None, is_told: bool
) -> None:
    portfolio = read_day(make_book, cover)
    assert (portfolio.deal.as_of and f"{day_of(portfolio.deal.as_of)}") == day
    assert ("as_of_footer" in {warning.code for warning in portfolio.notes.warnings}) == is_told


@every(
    "cover, column, day, source",
    [
        ([["Report Date", "12 June 2025"]], ("As Of Date", "2025-06-09"), DAY, "column"),
        ([["Report Date", "12 June 2025"]], ("Report Date", "2025-06-09"), "2025-06-12", "file"),
        ([["Determination Date", "9 June 2025"]], ("As Of Date", "2025-06-08"), DAY, "file"),
        ([["Report Date", "9 June 2025"]], ("As Of Date", "2025-06-12"), DAY, "file"),  # no report is of a later day
        (
            [["Report Date", "12 June 2025", "Determination Date", "9 June 2025"]],
            ("As Of Date", "2025-06-08"),
            DAY,
            "file",
        ),
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


@every(
    "row",
    [
        ["Next portfolio as of", "9 June 2025"],
        ["Prices of the portfolio as of", "9 June 2025"],
        ["Indenture dated as of", "9 June 2025"],
        ["Compared with positions as of", "9 June 2025"],
        ["Ramp-up period end", "9 June 2025"],
        ["Following determination date", "9 June 2025"],
        ["Collateral as of", 1_234_567.89],
        ["Collateral as of", 45_678.9, "9 June 2025"],
        ["Positions as of", "31 December 2024", "9 June 2025"],
        ["Positions as of", None, None, None, "9 June 2025"],
        ["Positions as of", "the cut-off", "9 June 2025"],
    ],
)
def test_what_stands_beside_a_label_is_not_always_the_day(make_book: MakeBook, row: list[Any]) -> None:
    assert read_day(make_book, [[None], [None], [None], [None], [None], [None], [None], row]).deal.as_of is None


@every("known", [["Report Date", "9 June 2025"], ["Valuation Date", "9 June 2025"], ["Report as of 9 June 2025"]])
def test_a_label_in_the_files_own_words_gives_way_to_known_ones(make_book: MakeBook, known: list[Any]) -> None:
    for cover in ([known, ["Portfolio as of", "1 March 2020"]], [["Portfolio as of", "1 March 2020"], known]):
        day = read_day(make_book, cover).deal.as_of
        assert day is not None
        assert f"{day_of(day)}" == DAY


def test_a_day_by_such_a_label_alone_is_told(make_book: MakeBook) -> None:
    portfolio = read_day(make_book, [["Positions as of", "9 June 2025"]])
    assert "as_of_footer" in {warning.code for warning in portfolio.notes.warnings}
    by_column = read_day(make_book, [["Positions as of", "12 June 2025"]], ("As Of Date", "2025-06-09"))
    assert by_column.deal.as_of is not None
    assert f"{day_of(by_column.deal.as_of)}" == DAY


def test_the_day_of_a_payment_is_not_the_reports(make_book: MakeBook) -> None:
    rows = [["Payment Date Report as of June 20, 2025"], ["Determination Date: June 9, 2025"]]
    day = read_day(make_book, rows).deal.as_of
    assert day is not None
    assert f"{day_of(day)}" == DAY
