"""The notes, the deal's figures and the payment schedule."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pytest

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import DEAL_SHEETS, TRANCHE_SHEETS
from core.portfolio.model.portfolio import Deal, Tranches

MakeBook = Callable[..., Workbook]
HOLDINGS = [["CUSIP", "LoanX ID", "Issuer", "Par"], ["037833100", "LX100001", "A", 1.0], [None, "LX100002", "B", 2.0]]


def tranches_of(make_book: MakeBook, rows: list[list[Any]], name: str = "Tranches") -> Tranches:
    tranches = Portfolio.from_workbook(make_book({"Holdings": HOLDINGS, name: rows})).tranches
    assert tranches is not None
    return tranches


def test_notes_in_their_units_and_order(make_book: MakeBook, shown: Callable[..., Any]) -> None:
    rows = [
        ["Notes of the deal"],
        [
            "Tranche Name",
            "Original Principal",
            "Outstanding",
            "Current Rate",
            "Margin",
            "Par Value Trigger",
            "IC Trigger",
            "Seniority",
            "Deferred Interest",
        ],
        ["Class C", 27e6, "27,000,000", 0.076, 0.033, "115.20%", 1.10, 3, 5.0],
        ["Class A-1", 250e6, 240e6, 0.065, 0.013, "N/A", "N/A", 1, None],
        ["Class A-2", 50e6, "-", 0.066, 0.014, 1.243, shown(1.2, "0.0%"), 1, None],
        ["Subordinated Notes", 38e6, 38e6, None, None, None, None, 4, None],
        ["Total", 365e6, 355e6, None, None, None, None, None, None],
    ]
    tranches = tranches_of(make_book, rows)
    assert tranches.classes == ("Class A-1", "Class A-2", "Class C", "Subordinated Notes")
    assert tranches.current_balance.tolist() == [240e6, 0, 27e6, 38e6]
    assert tranches.rank.tolist() == [1, 1, 3, 4]
    assert np.allclose(tranches.coupon, [6.5, 6.6, 7.6, np.nan], equal_nan=True)
    assert np.allclose(tranches.spread, [130, 140, 330, np.nan], equal_nan=True)
    assert np.array_equal(tranches.oc_trigger, [np.nan, 124.3, 115.2, np.nan], equal_nan=True)
    assert np.array_equal(tranches.ic_trigger, [np.nan, 120, 110, np.nan], equal_nan=True)
    assert tranches.deferred_interest.tolist() == [0, 0, 5, 0]
    assert tranches.is_income.tolist() == [False, False, False, True]


def test_without_ranks_the_order_counts_and_letters_share_one(make_book: MakeBook) -> None:
    rows = [
        ["Class", "Current Balance", "OC Trigger"],
        *([name, 1.0, None] for name in ("X", "A-1", "A-2", "B", "C-1", "C-2R", "D", "Preference Shares")),
    ]
    tranches = tranches_of(make_book, rows)
    assert tranches.rank.tolist() == [1, 2, 2, 3, 4, 4, 5, 6]
    assert tranches.is_income.tolist() == [False] * 7 + [True]


@pytest.mark.parametrize("word", ["Sub Notes", "Income Notes", "Equity", "Preference Shares", "Residual"])
def test_income_notes(make_book: MakeBook, word: str) -> None:
    assert tranches_of(
        make_book, [["Class", "Notional", "Spread"], ["A", 1.0, 130], [word, 1.0, None]]
    ).is_income.tolist() == [False, True]


@pytest.mark.parametrize("name", sorted(TRANCHE_SHEETS))
def test_sheets_with_notes_by_name(make_book: MakeBook, name: str) -> None:
    rows = [["Class", "Current Balance", "OC Trigger"], ["A", 1.0, None]]
    assert tranches_of(make_book, rows, name.upper()[0] + name[1:] + " 1").classes == ("A",)


def test_original_balances_stand_in_for_an_absent_column(make_book: MakeBook) -> None:
    tranches = tranches_of(make_book, [["Class", "Original Balance", "Rank"], ["A", 5.0, 1]])
    assert tranches.current_balance.tolist() == tranches.original_balance.tolist() == [5]


def test_no_notes(make_book: MakeBook) -> None:
    for sheets in (
        {},
        {"Tranches": []},
        {"Tranches": [["Class", "Current Balance", "OC Trigger"]]},
        {"Other": [["Class", "Current Balance", "Rank"], ["A", 1.0, 1]]},
    ):
        assert Portfolio.from_workbook(make_book({"Holdings": HOLDINGS, **sheets})).tranches is None


def deal_of(make_book: MakeBook, rows: list[list[Any]], name: str = "Deal", **options: Any) -> Deal:
    return Portfolio.from_workbook(make_book({"Holdings": HOLDINGS, name: rows}, **options), as_of=5.0).deal


def test_labels_and_the_values_beside_them(make_book: MakeBook) -> None:
    rows = [
        ["Deal Name", "X"],
        ["Principal Cash:", "(1,817,412.94)"],
        [None, "Interest Cash", None, 12.5],
        ["Senior Fees", 200_000.0],
        ["Base Rate (%)", 0.542],
        ["As Of Date", date(2026, 3, 31)],
        ["Payment Days", 91.0],
        ["Reference Weighted Average Coupon", 0.07],
    ]
    assert deal_of(make_book, rows) == Deal(
        principal_cash=-1_817_412.94,
        interest_collected=12.5,
        senior_fees=200_000,
        base_rate=0.542,
        as_of=20543,
        as_of_source="file",
        payment_days=91,
        reference_coupon=7.0,
    )


@pytest.mark.parametrize(("value", "percent"), [(4.3, 4.3), (0.043, 4.3), ("4.30%", 4.3), (0.542, 0.542), (0.0, 0.0)])
def test_base_rates(make_book: MakeBook, value: Any, percent: float) -> None:
    assert deal_of(make_book, [["SOFR", value]]).base_rate == percent


@pytest.mark.parametrize("name", sorted(DEAL_SHEETS))
def test_sheets_with_figures_by_name(make_book: MakeBook, name: str) -> None:
    assert deal_of(make_book, [["Principal Account", 5.0]], name).principal_cash == 5


def test_the_preferred_label_wins_over_sheets(make_book: MakeBook) -> None:
    book = make_book(
        {
            "Accounts": [["Principal Account", 5.0], ["LIBOR", 1.0]],
            "Deal Info": [["Principal Cash", 7.0], ["EURIBOR", 2.0]],
            "Holdings": HOLDINGS,
        }
    )
    portfolio = Portfolio.from_workbook(book)
    assert (portfolio.deal.principal_cash, portfolio.deal.base_rate) == (7, 1)
    assert portfolio.source_cells["deal.principal_cash"] == "'Deal Info'!B1"


def test_as_of_falls_back(make_book: MakeBook) -> None:
    assert deal_of(make_book, [["As Of Date", "n/a"]]).as_of == 5
    assert deal_of(make_book, [["Determination Date", "31-Mar-2026"]]).as_of == 20543
    assert deal_of(make_book, [["As Of Date", date(2026, 3, 31)]], date_1904=True).as_of == 20543


def test_payments_find_their_loans(make_book: MakeBook) -> None:
    rows = [
        ["Identifier", "Date", "Amount"],
        ["lx 100002", date(2027, 1, 31), 0.5],
        ["037833-10-0", "31-Jan-2028", "0.25"],
        ["LX100001", None, 1.0],
        ["unknown", date(2027, 1, 31), 1.0],
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": HOLDINGS, "Amortization": rows}))
    assert portfolio.amortization is not None
    assert portfolio.amortization.row.tolist() == [1, 0]
    assert portfolio.amortization.amount.tolist() == [0.5, 0.25]
    assert portfolio.amortization.days.tolist() == [20849, 21214]
    assert Portfolio.from_workbook(make_book({"Holdings": HOLDINGS})).amortization is None


@pytest.mark.parametrize(
    "names",
    [
        ["Class A-1-R Notes", "Class A-2-R Notes", "Class B-1-R Notes", "Class B-2-R Notes", "Class C-R"],
        ["A-1-R2", "A-L", "B1R", "BF", "C"],
        ["Class A-1 Senior Secured Floating Rate Notes", "Class A Loans", "Tranche B-1", "Class B-F", "CR"],
    ],
)
def test_classes_of_one_letter_share_a_rank_after_a_reset(make_book: MakeBook, names: list[str]) -> None:
    rows = [["Class", "Current Balance", "OC Trigger"], *([name, 1.0, None] for name in names)]
    assert tranches_of(make_book, rows).rank.tolist() == [1, 1, 2, 2, 3]


def test_words_are_no_class_letters(make_book: MakeBook) -> None:
    names = ["Senior Loan", "Subordinated", "Income Notes", "Equity", "Class 1", "Class 2"]
    rows = [["Class", "Current Balance", "OC Trigger"], *([name, 1.0, None] for name in names)]
    assert tranches_of(make_book, rows).rank.tolist() == [1, 2, 3, 4, 5, 6]


def test_preferred_shares_are_income_notes(make_book: MakeBook) -> None:
    rows = [["Class", "Current Balance", "OC Trigger"], ["A", 1.0, None], ["Preferred Shares", 1.0, None]]
    assert tranches_of(make_book, rows).is_income.tolist() == [False, True]


def test_a_coupon_in_words_is_a_spread(make_book: MakeBook) -> None:
    rows = [
        ["Class", "Current Balance", "Coupon"],
        ["A", 1.0, "SOFR + 1.30%"],
        ["B", 1.0, "3M SOFR+175 bps"],
        ["C", 1.0, 8.5],
        ["Sub", 1.0, "N/A"],
    ]
    tranches = tranches_of(make_book, rows)
    assert np.array_equal(tranches.spread, [130, 175, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(tranches.coupon, [np.nan, np.nan, 8.5, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "row",
    [
        ["Principal Cash (USD)", 5.0],
        ["Principal Collection Account - EUR", "5.00"],
        ["Principal Cash", "USD", 5.0],
        ["Principal Collection Account", "4501-22", None, 5.0],
    ],
)
def test_cash_with_a_currency_or_an_account_number(make_book: MakeBook, row: list[Any]) -> None:
    book = make_book({"Holdings": HOLDINGS, "Accounts": [["Account", "No.", "Balance"], row]})
    assert Portfolio.from_workbook(book).deal.principal_cash == 5.0


def test_a_figure_of_another_label_is_not_taken(make_book: MakeBook) -> None:
    rows = [["Principal Cash", "see note", "Interest Cash", 7.0], ["Senior Fees", "-", 3.0]]
    deal = Portfolio.from_workbook(make_book({"Holdings": HOLDINGS, "Deal": rows})).deal
    assert (deal.principal_cash, deal.interest_collected, deal.senior_fees) == (None, 7.0, None)


def test_notes_are_never_loans(make_book: MakeBook) -> None:
    """A table of notes may name as many fields as one of loans, under any sheet's name."""
    notes = [
        ["Some Deal"],
        ["Notes Detail", "Principal Balance", "Current Coupon", "Maturity Date", "S&P Rating"],
        ["Class A Notes", 248_000_000.0, 5.008, date(2036, 10, 20), "AAA"],
        ["Class B-1 Notes", 24_600_000.0, 5.958, date(2036, 10, 20), "AA"],
        ["Class Subordinated Notes", 35_100_000.0, "N/A", None, "."],
        [None, 307_700_000.0],
    ]
    named = [["Issuer Name", *notes[1][1:]], *notes[2:]]
    loans = [["Issuer Name", "Par Amount", "Coupon"], ["Acme Corp", 1e6, 8.0], ["Bolt Inc", 2e6, 9.0]]
    for rows in (notes, named):
        assert not Portfolio.from_workbook(make_book({"Executive Summary": rows})).notes.holdings_found
        assert Portfolio.from_workbook(make_book({"Executive Summary": rows, "Assets": loans})).row_count == 2
