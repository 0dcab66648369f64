"""Shares, warrants and units are no loans, whether their type, their facility or a heading says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.sheets.rows import no_loans
from tests.rows import every

MapRows = Callable[..., Portfolio]

TYPED = ["Issuer", "Investment Type", "Par", "Maturity Date"]
LOANS: list[list[Any]] = [["Alder Inc", "First Lien Term Loan", 1000.0, "2030-01-31"],
                          ["Birch Equity Partners LLC", "Revolver", 2000.0, "2030-01-31"],
                          ["Stock Building Supply", "Senior Secured Note", 3000.0, "2031-01-31"]]  # fmt: skip


@every(
    "word",
    [
        "Equity", "Common Stock", "Preferred Equity", "Warrants", "Class A Units", "LLC Units", "Common Units",
        "Membership Interests", "LP interest", "Preferred stock (Series B)", "Warrants to purchase common stock",
        "Equity/Other", "Ordinary shares", "Class B common units",
    ],
)  # fmt: skip
def test_what_names_shares_is_no_loan(map_rows: MapRows, word: str) -> None:
    portfolio = map_rows([TYPED, *LOANS, ["Cedar Inc", word, 500.0, None]])
    assert portfolio.numbers["par_value"].tolist() == [1000, 2000, 3000]
    assert (portfolio.notes.no_collateral_rows, portfolio.notes.no_collateral_par) == (1, 500)
    assert [warning.message for warning in portfolio.notes.warnings if warning.code == "no_collateral"] == [
        "1 row of sheet 'Holdings' with a par of 500.00 is no loan: its type or facility is that of shares, warrants "
        "or units."
    ]
    # Beside its company in a column of facilities.
    rows = [["Issuer", "Facility", "Par"], *(loan[:3] for loan in LOANS), ["Cedar Inc", f"Cedar Inc - {word}", 500.0]]
    assert map_rows(rows).numbers["par_value"].tolist() == [1000, 2000, 3000]


@every(
    "word",
    [
        "Term Loan", "Equity Bridge Loan", "Preferred Term Loan", "Unitranche", "Unit Trust Facility", "Interest",
        "Senior Secured Notes", "Stockholm Facility B", "Shared Services Holding", "Delayed Draw", "Second Lien",
        "OSG (Common Equity)",
        "Convertible Note", "Equity Office Properties", "Loan with warrants", "Partners",
    ],
)  # fmt: skip
def test_a_word_of_shares_in_another_name_makes_none(map_rows: MapRows, word: str) -> None:
    portfolio = map_rows([TYPED, *LOANS, ["Cedar Inc", word, 500.0, "2030-01-31"]])
    assert portfolio.numbers["par_value"].tolist() == [1000, 2000, 3000, 500]
    assert not portfolio.notes.no_collateral_rows


def test_shares_without_a_par_are_not_told_as_loans(map_rows: MapRows) -> None:
    portfolio = map_rows([TYPED, *LOANS, ["Cedar Inc", "Common Stock", None, None]])
    assert portfolio.notes.loans_without_par == 0
    assert portfolio.row_count == 3


def test_a_sheet_of_shares_alone_keeps_its_rows(map_rows: MapRows) -> None:
    portfolio = map_rows([TYPED, *([loan[0], "Equity", *loan[2:]] for loan in LOANS)])
    assert portfolio.row_count == 3


def test_a_subtotal_may_have_shares_in_it(map_rows: MapRows) -> None:
    rows = [TYPED, LOANS[0], ["Alder Inc", "Common Stock", 200.0], ["Alder Inc", None, 1200.0], *LOANS[1:]]
    portfolio = map_rows(rows)
    assert portfolio.numbers["par_value"].tolist() == [1000, 2000, 3000]
    assert portfolio.notes.subtotal_rows == 1


def test_figures_of_par_doubt_shares(map_rows: MapRows) -> None:
    portfolio = map_rows([TYPED, *LOANS, ["Cedar Inc", "Warrants", 500.0, None]])
    ran = run_suite(portfolio, test_ids=["single_obligor_concentration"])
    assert "left_out" in [doubt.code for doubt in ran[0].doubt]


def test_shares_among_very_many_names(map_rows: MapRows) -> None:
    rows = [[f"Borrower {at}", f"Term Loan {at}", 1.0] for at in range(no_loans.TEXTS_MAX + 1)]
    portfolio = map_rows(
        [["Issuer", "Facility", "Par"], *rows, ["Cedar", "Common Stock", 5.0], ["Elm", "WARRANTS", 5.0]]
    )
    assert portfolio.row_count == len(rows)
    assert portfolio.notes.no_collateral_rows == 2
