"""Fields that no heading names, by cells that can be nothing else: what is taken, what is left, and what is told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.core.portfolio.sheets.columns.test_unnamed import BASE, MATURITIES, MOODYS, NAMES, PAR, PRICES, ROWS, SP

MakeBook = Callable[..., Workbook]
Rows = list[list[Any]]
DAY = ["As of April 09, 2025"]
LIENS = [("First Lien", "Second Lien", "Senior Secured Bond")[at % 3] for at in range(ROWS)]
INDUSTRIES = [("Software", "Insurance", "Chemicals & Plastics")[at % 3] for at in range(ROWS)]
STATES = ["Defaulted" if at % 9 == 0 else "Performing" for at in range(ROWS)]
OTHER_DAYS = (
    "Next reset", "First Call Date", "Call protection ends", "Hedge expires", "Review Date", "Lock-up", "Vintage",
    "Rating Date", "Price as of", "Warrant exercise by", "Reinvestment stops", "EURIBOR fallback",
)  # fmt: skip
PAST = [date(2021, 5, 4) + timedelta(days=9 * at) for at in range(ROWS)]


def table(columns: dict[str, list[Any]], title: list[Any] | None = None) -> Rows:
    return [title or DAY, [], list(columns), *map(list, zip(*columns.values(), strict=True))]


def read(make_book: MakeBook, rows: Rows, **pages: Rows) -> Portfolio:
    return Portfolio.from_workbook(make_book({"Loans": rows, **pages}))


def guesses(portfolio: Portfolio) -> dict[tuple[str, ...], str]:
    return {each.fields: each.message for each in portfolio.notes.warnings if each.code == "ambiguous_column"}


@pytest.mark.parametrize("heading", ["Final repayment", "Lives to", "Final redemption"])
def test_the_only_days_years_after_the_report_are_maturities(make_book: MakeBook, heading: str) -> None:
    portfolio = read(make_book, table(BASE | {"Bought": PAST, heading: MATURITIES}))
    assert len(portfolio.numbers["maturity_date"]) == ROWS
    assert "its cells alone tell it (its dates lie years after the report)" in guesses(portfolio)["maturity_date",]


def test_liens_industries_and_defaults_are_told_by_their_cells(make_book: MakeBook) -> None:
    columns = BASE | {"Facility class": LIENS, "Business": INDUSTRIES, "Perf. state": STATES}
    portfolio = read(make_book, table(columns))
    assert portfolio.lien is not None
    assert set(portfolio.names["industry"].values) == set(INDUSTRIES)
    assert portfolio.flags["is_defaulted"].tolist() == [text == "Defaulted" for text in STATES]
    assert set(guesses(portfolio)) >= {("lien_type",), ("industry",), ("is_defaulted",)}


@pytest.mark.parametrize(
    "title",
    [
        ["Cut-off: 9 April 2025"],
        ["Harbour Lane CLO III - 9 April 2025"],
        ["Positions as of", date(2025, 4, 9)],
        ["Valuation as at", None, "9 April 2025"],
        ["Next payment date", date(2040, 4, 9), "Report date", date(2025, 4, 9)],
    ],
)
def test_the_day_stands_in_a_line_or_beside_its_label(make_book: MakeBook, title: list[Any]) -> None:
    assert "maturity_date" in read(make_book, table(BASE | {"Final repayment": MATURITIES}, title)).numbers


@pytest.mark.parametrize(
    "title",
    [["Holdings"], ["Formed 3 May 2012"], ["5.5% Notes due 15 July 2036"], ["Closing date", "12 May 2015"],
     ["Legal final", date(2036, 7, 15)], ["Positions as of", 45_678.9]],
)  # fmt: skip
def test_without_the_reports_day_no_maturities_are_guessed(make_book: MakeBook, title: list[Any]) -> None:
    assert "maturity_date" not in read(make_book, table(BASE | {"Final repayment": MATURITIES}, title)).numbers


@pytest.mark.parametrize(
    "columns",
    [
        {"Repaid in full": MATURITIES, "Wound up": MATURITIES},  # which of them?
        {"Repaid in full": PAST},
        {"Repaid in full": [*MATURITIES[:4], *[None] * (ROWS - 4)]},
        *({heading: MATURITIES} for heading in OTHER_DAYS),
    ],
)  # fmt: skip
def test_other_days_are_no_maturities(make_book: MakeBook, columns: dict[str, list[Any]]) -> None:
    assert "maturity_date" not in read(make_book, table(BASE | columns)).numbers


@pytest.mark.parametrize(
    ("heading", "cells", "field"),
    [
        ("Sponsor", [f"Software Partners {at}" for at in range(ROWS)], "industry"),  # names, not industries
        ("Watch", [("Performing", "On watch", "Sold")[at % 3] for at in range(ROWS)], "is_defaulted"),
    ],
)
def test_cells_that_may_be_something_else_are_left(
    make_book: MakeBook, heading: str, cells: list[Any], field: str
) -> None:
    portfolio = read(make_book, table(BASE | {heading: cells}))
    assert field not in portfolio.names
    assert field not in portfolio.flags


def test_comments_are_no_liens(make_book: MakeBook) -> None:
    assert read(make_book, table(BASE | {"Comments": ["Senior", "Junior"] * (ROWS // 2)})).lien is None


def test_a_page_that_names_the_field_goes_first(make_book: MakeBook) -> None:
    terms = [["Issuer", "Maturity Date"], *map(list, zip(NAMES, MATURITIES, strict=True))]
    later = [day + timedelta(days=400) for day in MATURITIES]
    portfolio = read(make_book, table(BASE | {"Final repayment": later}), Terms=terms)
    assert ("maturity_date",) not in guesses(portfolio)
    plain = read(make_book, table(BASE), Terms=terms)
    assert portfolio.numbers["maturity_date"].tolist() == plain.numbers["maturity_date"].tolist()


def test_another_page_adds_nothing_by_its_cells_alone(make_book: MakeBook) -> None:
    others = table({"Issuer": [f"{name} II" for name in NAMES], "Par Amount": PAR, "Wound up": MATURITIES})
    plain = table({"Issuer": [f"{name} II" for name in NAMES], "Par Amount": PAR})
    assert read(make_book, table(BASE), Other=others).row_count == read(make_book, table(BASE), Other=plain).row_count


def test_of_roles_that_weigh_the_same_the_more_common_is_taken(make_book: MakeBook) -> None:
    columns = {"Asset": NAMES, "Par Amount": PAR, "Price": PRICES, "Rating (M)": MOODYS, "Rating (S)": SP}
    portfolio = read(make_book, table(columns))
    assert set(portfolio.names["borrower_name"].values) == set(NAMES)
    assert {"rating_agency_a", "rating_agency_b"} <= portfolio.ranks.keys()
    assert "rating_agency_c" not in portfolio.ranks
