"""Several days or several deals in one list: no pool is counted twice without a word."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from core.compliance.run import run_suite
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]

HEADER = ["Issuer", "Facility", "Par", "Maturity"]
NAMES = ["Alder Inc", "Birch LLC", "Cedar Corp", "Dogwood SA", "Elm GmbH", "Fir Ltd"]
JULY, AUGUST, SEPTEMBER = date(2026, 7, 31), date(2026, 8, 31), date(2026, 9, 30)


def loans(names: list[str], par: float, *more: Any) -> list[list[Any]]:
    """Return a loan of each name with some cells behind it."""
    return [[name, "Term Loan B", par + at, "2031-01-31", *more] for at, name in enumerate(names)]


def warned(portfolio: Portfolio, code: str) -> list[str]:
    return [warning.message for warning in portfolio.notes.warnings if warning.code == code]


@every("heading", ["Report Date", "As Of Date", "Position Date", "Date", "Month End", "Stichtag"])
def test_of_several_days_the_latest_counts(map_rows: MapRows, heading: str) -> None:
    earlier = [*loans(NAMES, 710.0, JULY), *loans(NAMES[:5], 705.0, AUGUST)]
    portfolio = map_rows([[*HEADER, heading], *earlier, *loans(NAMES[:5], 700.0, SEPTEMBER)])
    assert portfolio.numbers["par_value"].tolist() == [700, 701, 702, 703, 704]
    assert warned(portfolio, "earlier_rows") == [
        f"11 rows of sheet 'Holdings' with a par of 7,810.00 are of an earlier day by column {heading!r}, and left out."
    ]


def test_the_same_loans_are_known_by_their_identifiers(map_rows: MapRows) -> None:
    def rows(day: date, suffix: str) -> list[list[Any]]:
        return [[f"LX10000{at}", f"{name}{suffix}", 100.0, day] for at, name in enumerate(NAMES)]

    listed = [*rows(AUGUST, ""), *rows(SEPTEMBER, " (renamed)")]
    portfolio = map_rows([["LoanX ID", "Issuer", "Par", "As Of Date"], *listed])
    assert len(portfolio) == 6
    assert portfolio.numbers["par_value"].sum() == 600


def test_loans_of_different_days_all_count(map_rows: MapRows) -> None:
    """The days may be those of the loans; that is doubted where the heading is that of the list's day."""
    rows = [*loans(NAMES[:4], 500.0, AUGUST), *loans(NAMES[4:], 600.0, SEPTEMBER)]
    by_report = map_rows([[*HEADER, "Report Date"], *rows, *loans(["Gum AG", "Hazel SE"], 800.0, SEPTEMBER)])
    assert len(by_report) == 8
    assert warned(by_report, "earlier_rows") == []
    assert warned(by_report, "days_mixed") == [
        "The loans of sheet 'Holdings' are of 2 days by column 'Report Date', from 2026-08-31 to 2026-09-30: they are "
        "added up."
    ]
    by_date = map_rows([[*HEADER, "Date"], *rows])
    assert (len(by_date), warned(by_date, "days_mixed")) == (6, [])


@every("heading", ["Date", "As of Date", "Month"])
def test_lots_of_loans_from_different_days_add_up(map_rows: MapRows, heading: str) -> None:
    """Their par differs; with the same par they are the same loan on a later day."""
    lots = [*loans(NAMES, 500.0, AUGUST), *loans(NAMES, 800.0, SEPTEMBER)]
    portfolio = map_rows([[*HEADER, heading], *lots])
    assert portfolio.numbers["par_value"].sum() == 7_830
    assert warned(portfolio, "earlier_rows") == []
    assert len(warned(portfolio, "days_mixed")) == 1


def test_a_borrower_alone_is_no_loan_of_a_later_day(map_rows: MapRows) -> None:
    rows = [[name, 500.0, day, spread] for name in NAMES for day, spread in ((AUGUST, 325.0), (SEPTEMBER, 600.0))]
    portfolio = map_rows([["Issuer", "Par", "Date", "Spread"], *rows])
    assert portfolio.numbers["par_value"].tolist() == [500.0] * 12
    assert len(warned(portfolio, "days_mixed")) == 1


def test_contracts_of_one_loan_all_count(map_rows: MapRows) -> None:
    rows = [*loans(NAMES, 500.0, AUGUST), *loans(NAMES, 600.0, SEPTEMBER)]
    assert map_rows([[*HEADER, "Effective Date"], *rows]).numbers["par_value"].sum() == 6_630


@every("heading", ["Deal Name", "Fund", "Portfolio", "CLO"])
def test_loans_of_several_deals_are_doubted(map_rows: MapRows, heading: str) -> None:
    rows = [*loans(NAMES[:3], 500.0, "Meridian I"), *loans(NAMES, 600.0, "Meridian II")]
    portfolio = map_rows([[*HEADER, heading], *rows])
    assert warned(portfolio, "deals_mixed") == [
        f"Column {heading!r} of sheet 'Holdings' names 2 deals ('Meridian I', 'Meridian II'): their loans are added up."
    ]
    assert any(doubt.code == "conflict" for result in run_suite(portfolio) for doubt in result.doubt)
    alone = map_rows([[*HEADER, heading], *loans(NAMES, 600.0, "Meridian II")])
    assert warned(alone, "deals_mixed") == []


@every("heading", ["Deal", "Deal Name", "Fund"])
def test_a_deal_of_each_borrower_is_not_doubted(map_rows: MapRows, heading: str) -> None:
    rows = [
        [name, facility, 500.0 + at, "2031-01-31", f"Project {name.split()[0]}"]
        for at, name in enumerate(NAMES)
        for facility in ("Term Loan", "Revolver")
    ]
    portfolio = map_rows([[*HEADER, heading], *rows])
    assert len(portfolio) == 12
    assert warned(portfolio, "deals_mixed") == []


def test_a_page_of_prices_over_time_gives_the_latest(make_book: Callable[..., Workbook]) -> None:
    prices = [[name, "Term Loan B", day, price] for day, price in ((AUGUST, 90.0), (SEPTEMBER, 95.0)) for name in NAMES]
    book = make_book({"Loans": [HEADER, *loans(NAMES, 500.0)],
                      "Prices": [["Issuer", "Facility", "Date", "Price"], *prices]})  # fmt: skip
    portfolio = Portfolio.from_workbook(book)
    assert portfolio.numbers["price"].tolist() == [95.0] * 6
    assert warned(portfolio, "earlier_rows") == [
        "6 rows of sheet 'Prices' are of an earlier day by column 'Date', and left out."
    ]
