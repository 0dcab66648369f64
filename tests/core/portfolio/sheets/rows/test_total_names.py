"""Companies whose names begin as a total's row does, and totals of other words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from core.portfolio import Portfolio
from tests.rows import every

MapRows = Callable[..., Portfolio]
Rows = list[list[Any]]

HEADER = ["Issuer", "Facility", "Par", "Maturity Date", "Spread"]
NAMES = ["Alder Inc", "Birch LLC", "Cedar plc", "Dorn SA", "Elm GmbH"]
LOANS: Rows = [[name, "TLB", 1_000_000.0 + 250_000 * at, "2030-01-31", 400.0] for at, name in enumerate(NAMES)]
WHOLE = sum(row[2] for row in LOANS)


def read(map_rows: MapRows, extra: list[Any], place: int, more: Rows | None = None) -> Portfolio:
    return map_rows([HEADER, *LOANS[:place], extra, *LOANS[place:], *(more or [])])


@pytest.mark.parametrize("place", [0, 2, 5])
@pytest.mark.parametrize(
    "name",
    ["Total Safety US Inc", "Total Safety", "Total Wine & More", "TotalEnergies SE", "Source Photonics Inc",
     "Sum Total Systems LLC", "Average Joe's Gyms LLC", "Weighted Blankets Ltd"],
)  # fmt: skip
def test_a_company_is_a_loan(map_rows: MapRows, name: str, place: int) -> None:
    portfolio = read(map_rows, [name, None, 1_100_000.0], place, [["Total", None, WHOLE + 1_100_000.0]])
    assert len(portfolio) == 6
    assert portfolio.numbers["par_value"].sum() == WHOLE + 1_100_000.0
    codes = [warning.code for warning in portfolio.notes.warnings]
    assert "page_total_differs" not in codes
    assert "bare_loans" in codes


@every(
    "name, figure, place, differs",
    [
        ("Total Alder Fund XVII", WHOLE, 5, False),  # the sum of all
        ("Total Alder Fund XVII", WHOLE, 0, False),
        ("Total Safety Group", 2_250_000.0, 2, True),  # the sum of those above
        ("Total Zeta Trust", WHOLE * 1.0005, 5, True),  # about the sum
        ("Total Zeta Trust", WHOLE * 2, 5, True),  # more than any loan
        ("Total First Lien Loans", 900_000.0, 5, True),  # of nothing but words of a pool
        ("Total Germany", 900_000.0, 5, True),
        ("Total Healthcare & Pharmaceuticals", 900_000.0, 5, True),
        ("Total Elm GmbH", 900_000.0, 5, True),  # of a company that has loans
        ("Total Elm", 900_000.0, 5, True),
        ("Total Holdings", 900_000.0, 5, True),
        ("Alder Group Total", 900_000.0, 2, True),
        ("Weighted Average", 1_500_000.0, 5, False),  # no total of anything
    ],
)
def test_a_total_is_none(map_rows: MapRows, name: str, figure: float, place: int, differs: bool) -> None:
    portfolio = read(map_rows, [name, None, figure], place)
    assert len(portfolio) == 5
    codes = [warning.code for warning in portfolio.notes.warnings]
    assert ("page_total_differs" in codes) == differs


def test_a_group_of_one_loan_has_a_total_where_others_have(map_rows: MapRows) -> None:
    groups = [*LOANS[:2], ["Total Zeta Parts", None, 2_250_000.0], LOANS[2], ["Total Auto Bits", None, LOANS[2][2]]]
    portfolio = map_rows([HEADER, *groups, *LOANS[3:], ["Total Other Bits", None, 3_750_000.0]])
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in LOANS]


@pytest.mark.parametrize("is_printed", [False, True])
@pytest.mark.parametrize(
    "name",
    ["Total Watchlist", "Totaal Zorg", "Zwischensumme Energie",
     "Total Cov-Lite Basket", "Total Fund II", "Total Longhorn Group",
     "Source: Trustee report", "Note: par is settled", "*** see note"],
)  # fmt: skip
def test_a_total_that_ties_to_nothing_is_no_loan(map_rows: MapRows, name: str, is_printed: bool) -> None:
    """Some of its loans may be hidden, or it holds those of a kind."""
    portfolio = read(map_rows, [name, None, 900_000.0], 5, [["Total", None, WHOLE]] if is_printed else [])
    assert portfolio.numbers["par_value"].sum() == WHOLE


@pytest.mark.parametrize("holds", [False, True])
def test_a_printed_total_tells_what_a_company_is(map_rows: MapRows, holds: bool) -> None:
    figure = 900_000.0
    portfolio = read(map_rows, ["Total Acme Inc", None, figure], 5, [["Total", None, WHOLE + holds * figure]])
    assert len(portfolio) == 5 + holds
    assert len(read(map_rows, ["Total Acme Inc", None, figure], 5)) == 6


def test_a_company_beside_totals_of_groups_is_a_total(map_rows: MapRows) -> None:
    groups = [*LOANS[:2], ["Total Zeta Parts", None, 2_250_000.0], *LOANS[2:4], ["Total Acme Inc", None, 900_000.0]]
    portfolio = map_rows([HEADER, *groups, LOANS[4]])
    assert portfolio.numbers["par_value"].sum() == WHOLE


WITH_IDS = ["Issuer", "Facility", "LoanX ID", "Par", "Maturity Date", "Moody's Rating"]
LOANS_WITH_IDS: Rows = [
    [name, "TLB", f"LX10000{at}", 1_000_000.5 + 250_000 * at, "2030-01-31", "B2"] for at, name in enumerate(NAMES)
]


@every("word", ["Portfolio", "Max", "Minimum", "Weighted Average", "Mean:", "Entire Pool", "Deal"])
@pytest.mark.parametrize("place", [0, 2])
def test_a_summary_word_alone_is_no_loan(map_rows: MapRows, word: str, place: int) -> None:
    row = [None, None, None, 2_000_000.5, "2030-06-30", "B3"]
    row[place] = word
    portfolio = map_rows([WITH_IDS, *LOANS_WITH_IDS, row])
    assert len(portfolio) == 5
    assert portfolio.notes.total_rows == 1


@every("issuer, loanx", [("Max", "LX100009"), ("Portfolio", "LX100009"), ("Max", None), ("Max US Bidco", None)])
def test_a_company_of_such_a_name_is_a_loan(map_rows: MapRows, issuer: str, loanx: str | None) -> None:
    loan = [issuer, "Term Loan", loanx, 2_000_000.5, "2030-06-30", "B3"]
    assert len(map_rows([WITH_IDS, *LOANS_WITH_IDS, loan])) == 6


@every("word", ["Median", "Max", "Pool"])
def test_a_word_with_what_only_companies_have_is_a_loan(map_rows: MapRows, word: str) -> None:
    rows = [["Issuer", "Par", "Maturity Date", "Moody's Rating", "Country", "Industry"]]
    rows += [[name, 1_000_000.5, date(2030, 1, 31), "B2", "DE", "Software"] for name in [*NAMES, word]]
    assert len(map_rows(rows)) == 6


def test_totals_of_companies_above_their_facilities_are_no_loans(map_rows: MapRows) -> None:
    rows: Rows = [["Issuer / Facility", "LoanX ID", "Par", "Maturity Date"]]
    for name, facility, loanx, par, maturity, _ in LOANS_WITH_IDS:
        rows += [[name], [f"  {facility}", loanx, par, maturity], [f"Total {name}", None, par]]
    portfolio = map_rows(rows)
    assert portfolio["borrower_name"].tolist() == NAMES
    assert len(portfolio) == 5
