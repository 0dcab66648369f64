"""The latest of several days: by names of sheets, by titles above the loans, and by headings of columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.sheets.headings.days import of_earlier_days, stated_day
from tests.rows import every

MakeBook = Callable[..., Workbook]
MapRows = Callable[..., Portfolio]

HEADER = ["Issuer", "Facility", "Par", "Price", "Maturity"]
NAMES = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]


def loans(par: float, count: int = 6) -> list[list[Any]]:
    return [[f"{name} Inc", "Term Loan B", par + at, 98.5, "2031-01-31"] for at, name in enumerate(NAMES[:count])]


@every(
    "earlier, later",
    [("June", "September"), ("Jun", "Sep"), ("Q2", "Q3"), ("Q2 2026", "Q3 2026"), ("Q4 25", "Q1 26"), ("May", "June")],
)
def test_a_month_or_a_quarter_in_a_name_decides(make_book: MakeBook, earlier: str, later: str) -> None:
    book = make_book({earlier: [HEADER, *loans(900.0)], later: [HEADER, *loans(500.0, 5)]})
    portfolio = Portfolio.from_workbook(book)
    assert (portfolio.sheet_name, len(portfolio)) == (later, 5)


@every("first, second", [("Holdings as of {}", "Holdings as of {}"), ("{}", "{}"), ("As of {}", "Portfolio at {}")])
@pytest.mark.parametrize("latest_first", [True, False])
def test_of_lists_of_the_same_loans_the_later_title_counts(
    make_book: MakeBook, first: str, second: str, latest_first: bool
) -> None:
    """However many loans the earlier one has."""
    tables = {
        "Sheet1": [[first.format("30-Sep-2026")], [None], HEADER, *loans(500.0, 4)],
        "Sheet2": [[second.format("30-Jun-2026")], [None], HEADER, *loans(900.0)],
    }
    portfolio = Portfolio.from_workbook(make_book(tables if latest_first else dict(reversed(tables.items()))))
    assert (portfolio.sheet_name, len(portfolio)) == ("Sheet1", 4)


def test_lists_of_other_loans_keep_their_places(make_book: MakeBook) -> None:
    others = [[f"{row[0]} II", *row[1:]] for row in loans(900.0, 3)]
    book = make_book({"Sheet1": [["As of 30-Jun-2026"], HEADER, *loans(500.0)],
                      "Sheet2": [["As of 30-Sep-2026"], HEADER, *others]})  # fmt: skip
    assert len(Portfolio.from_workbook(book)) == 9


@every("earlier, later", [("Originated Q3", "Originated Q4"), ("Mar", "Jun"), ("Sep", "Oct"), ("Jan 26", "Feb 26")])
def test_lists_of_other_loans_named_by_a_day_are_added(make_book: MakeBook, earlier: str, later: str) -> None:
    others = [[f"{row[0]} II", *row[1:]] for row in loans(900.0, 3)]
    book = make_book({earlier: [HEADER, *others], later: [HEADER, *loans(500.0)]})
    assert len(Portfolio.from_workbook(book)) == 9
    again = make_book({"Jan": [HEADER, *others], "Feb": [HEADER, *others], "Mar": [HEADER, *loans(500.0)]})
    assert len(Portfolio.from_workbook(again)) == 9


@every(
    "earlier, later",
    [
        ("Par 31-Aug-26", "Par 30-Sep-26"), ("Par Jun 2026", "Par Sep 2026"), ("Par 31-Aug", "Par 30-Sep"),
        ("Par Q2", "Par Q3"), ("Par T-1", "Par T"), ("Beginning Par", "Ending Par"), ("BOP Par", "EOP Par"),
        ("Prev. Par", "Curr. Par"), ("Par 31.03.2026", "Par 30.06.2026"), ("Par 3/31/26", "Par 6/30/26"),
        ("Opening Balance", "Closing Balance"), ("Beg. Balance", "End. Balance"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("latest_first", [True, False])
def test_a_day_in_a_heading_decides_between_columns(
    map_rows: MapRows, earlier: str, later: str, latest_first: bool
) -> None:
    def row(before: Any, now: Any) -> list[Any]:
        return [now, before] if latest_first else [before, now]

    rows = [["Issuer", "Facility", "Maturity", *row(earlier, later)]]
    rows += [[f"{name} Inc", "Term Loan B", "2031-01-31", *row(900.0, 500.0 + at)] for at, name in enumerate(NAMES)]
    assert map_rows(rows).numbers["par_value"].tolist() == [500.0 + at for at in range(6)]


def test_days_above_a_header_decide_between_its_columns(map_rows: MapRows) -> None:
    head = [[None, None, "31-Aug-2026", None, "30-Sep-2026"], ["Issuer", "Facility", "Par", "Price", "Par", "Price",
            "Maturity"]]  # fmt: skip
    rows = [[f"{name} Inc", "Term Loan B", 900.0, 97.0, 500.0, 95.0, "2031-01-31"] for name in NAMES]
    portfolio = map_rows([*head, *rows])
    assert portfolio.numbers["par_value"].tolist() == [500.0] * 6
    assert portfolio.numbers["price"].tolist() == [95.0] * 6


def under_days(make_book: MakeBook, over: list[Any], *, latest_first: bool, merged: bool) -> Portfolio:
    """Read loans with par and price below each of two days, the earlier one first of `over`."""
    days = over[::-1] if latest_first else over
    rows = [[None, None, None, days[0], None, days[1], None],
            ["Issuer", "Facility", "Maturity", "Par", "Price", "Par", "Price"]]  # fmt: skip
    before, now = [900.0, 97.0], [500.0, 95.0]
    figures = [*now, *before] if latest_first else [*before, *now]
    rows += [[f"{name} Inc", "Term Loan B", "2031-01-31", *figures] for name in NAMES]
    return Portfolio.from_workbook(make_book({"Holdings": rows}, merged=[(0, 3, 0, 4), (0, 5, 0, 6)] if merged else ()))


def doubts(portfolio: Portfolio) -> set[str]:
    return {name for each in portfolio.notes.warnings if each.code == "ambiguous_column" for name in each.fields}


@every(
    "over",
    [
        ["As of 31 Mar 2026", "As of 30 Jun 2026"], ["31 March 2026", "30 June 2026"], ["March 2026", "June 2026"],
        ["Q4 2025", "Q1 2026"], ["4Q25", "1Q26"], ["2026-03-31", "2026-06-30"], ["2026/03/31", "2026/06/30"],
        ["As of March 31, 2026", "As of June 30, 2026"], ["31st March 2026", "30th June 2026"],
        ["Stand 31.03.2026", "Stand 30.06.2026"], ["Au 31 mars 2026", "Au 30 juin 2026"], ["T-1", "T"],
        ["Prior Month", "Current Month"], ["Prior Month (Mar 2026)", "Current Month (Jun 2026)"],
        [date(2026, 3, 31), date(2026, 6, 30)], ["As at 31 May 2026", "As at 1 Jun 2026"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("latest_first", [True, False])
@pytest.mark.parametrize("merged", [True, False])
def test_the_columns_below_the_latest_day_feed_the_fields(
    make_book: MakeBook, over: list[Any], latest_first: bool, merged: bool
) -> None:
    portfolio = under_days(make_book, over, latest_first=latest_first, merged=merged)
    assert portfolio.numbers["par_value"].tolist() == [500.0] * 6
    assert portfolio.numbers["price"].tolist() == [95.0] * 6
    assert not doubts(portfolio)


@every("over", [["03/04/2026", "04/03/2026"], ["As of 03/04/2026", "As of 04/03/2026"], ["FY 2025", "FY 2026"]])
@pytest.mark.parametrize("merged", [True, False])
def test_days_that_cannot_be_ordered_leave_a_doubt(make_book: MakeBook, over: list[Any], merged: bool) -> None:
    assert {"par_value", "price"} <= doubts(under_days(make_book, over, latest_first=False, merged=merged))


@every("text", ["Par 03/04/2026", "Market 25", "Holdings", "Marsh Ltd", "Decor", "Q5", "Junior Debt", "Sheet1"])
def test_other_words_state_no_day(text: str) -> None:
    assert stated_day(text) is None


def test_a_turn_of_the_year_without_years_decides_nothing() -> None:
    assert of_earlier_days([(0, "Dec"), (1, "Jan")]) == frozenset()
    assert of_earlier_days([(0, "Dec 25"), (1, "Jan 26")]) == frozenset((0,))
    assert of_earlier_days([(0, "Notes Aug"), (1, "Loans Sep")]) == frozenset()
