"""Cash by the accounts of a page.

Bases, currencies, stacked headings, and what is in the list and no account.
"""

from __future__ import annotations

from typing import Any

import pytest

from core.grid.sheet import Workbook
from core.portfolio.pages.report.accounts import Accounts, find_accounts
from core.portfolio.pages.report.kinds import read_blocks
from core.portfolio.pages.report.page import ReportPage
from tests.core.portfolio.conftest import sheet_from_rows
from tests.rows import every


def accounts(*pages: list[Any], currency: str | None = None) -> Accounts:
    """Return what the accounts of some pages say."""
    formats = ["General"]
    sheets = tuple(
        sheet_from_rows(rows, f"Account Balances {at}", index=at, formats=formats) for at, rows in enumerate(pages)
    )
    book = Workbook(sheets, number_formats=tuple(formats))
    return find_accounts((read_blocks(ReportPage(book, sheet, [(0, sheet.row_count)])) for sheet in sheets), currency)


STACKED = [
    ["Account Balances"],
    [None, None, "Native Currency", "Native Currency", "Deal Currency", "Deal Currency"],
    ["Account Name", "CCY", "(Trade Date Basis)", "(Received Date Basis)", "(Trade Date Basis)",
     "(Received Date Basis)"],
    ["Collection Account"],
    ["Some CLO ISSUER PROFIT CASH", "EUR", 1250.0, 1250.0, 1250.0, 1250.0, 1.0],
    ["Collection Account Subtotal:", None, None, None, 1250.0, 1250.0],
    ["Interest Funding Account"],
    ["Some CLO EUR Interest", "EUR", 9.0, 9.0, 9.0, 9.0, 1.0],
    ["Some CLO GBP Interest", "GBP", 12.0, 12.0, 15.0, 15.0, 0.8],
    ["Interest Funding Account Subtotal:", None, None, None, 24.0, 24.0],
    ["Principal Funding Account"],
    ["Some CLO EUR Custody", "EUR", 0.0, 0.0, 0.0, 0.0, 1.0],
    ["Some CLO EUR Principal", "EUR", -5.0, 6.0, -5.0, 6.0, 1.0],
    ["Some CLO Unused Proceeds", "EUR", 0.0, 0.0, 0.0, 0.0, 1.0],
    ["Principal Funding Account Subtotal:", None, None, None, -5.0, 6.0],
    ["Total:", None, None, None, 1269.0, 1280.0],
]  # fmt: skip
THREE_ROWS = [
    [None, "Closing", "Closing"],
    [None, "Balance", "Balance"],
    ["Account", "Traded", "Settled"],
    ["EUR Principal Account", -5.0, 0.0],
    ["EUR Interest Account", 24.0, 24.0],
]
CALCULATED = [
    ["Account Name", "Balance"],
    ["Principal Collection Account", -5.0],
    ["Interest Collection Account", 24.0],
    ["Collateral Principal Amount", 1_200_000_000.0],
    ["Adjusted Collateral Principal Amount", 1_190_000_000.0],
    ["Scheduled Interest to Payment Date", 77.0],
    ["Senior Fees and Expenses", -3.0],
]
NET = [
    ["Account Name", "Balance"],
    ["Principal Account", -5.0],
    ["Net Principal Cash after unsettled trades", -9.0],
    ["Interest Account", 24.0],
]
UNNAMED_SUM = [
    ["Account Name", "Balance"],
    ["Principal Account 1", -7.0],
    ["Principal Account 2", 2.0],
    ["Principal Cash", -5.0],
    ["Interest Account", 24.0],
]
OTHER_WORDS = [
    ["Account", "Currency", "Opening Balance", "Debits", "Credits", "Balance"],
    ["Principal Proceeds", "EUR", 1.0, 2.0, 3.0, -5.0],
    ["Interest Proceeds", "EUR", 1.0, 2.0, 3.0, 24.0],
    ["Unfunded Revolver Reserve", "EUR", 0.0, 0.0, 0.0, 90.0],
    ["Supplemental Reserve", "EUR", 0.0, 0.0, 0.0, 91.0],
]
BASIS_IN_NAME = [
    ["Account Name", "Balance"],
    ["Principal Cash (Trade Date Basis)", -5.0],
    ["Interest Cash (Received Date Basis)", 24.0],
]
ZERO_FIRST = [
    ["Account Name", "Principal (Traded)", "Principal (Settled)", "Interest"],
    ["Collection Account", 0.0, -5.0, 24.0],
]


@every("rows", [STACKED, THREE_ROWS, CALCULATED, NET, UNNAMED_SUM, OTHER_WORDS, BASIS_IN_NAME, ZERO_FIRST])
def test_cash(rows: list[list[Any]]) -> None:
    """In the deal's currency, traded before settled, a printed amount before a zero, each account once."""
    totals = accounts(rows)
    assert (totals.principal, totals.interest) == (pytest.approx(-5.0), pytest.approx(24.0))
    assert not totals.warnings


def test_the_places_of_cash() -> None:
    assert accounts(STACKED).cells == {
        "principal": ["'Account Balances 0'!E13"],
        "interest": ["'Account Balances 0'!E8", "'Account Balances 0'!E9"],
    }


def test_calculated_amounts_keep_their_roles() -> None:
    """They are parts of calculations and no cash."""
    assert [(amount.role, amount.amount) for amount in accounts(CALCULATED).amounts] == [
        ("cpa", 1_200_000_000.0),
        ("acpa", 1_190_000_000.0),
        ("tobe", 77.0),
        ("senior", -3.0),
    ]


SEVERAL = [
    ["Account Name", "Currency", "Balance"],
    ["Principal Account GBP", "GBP", 3.0],
    ["Principal Account EUR", "EUR", 500.0],
    ["Principal Account USD", "USD", 0.0],
]


@every("currency, principal, own, warned", [
    (None, 500.0, "EUR", "GBP"), ("EUR", 500.0, "EUR", "GBP"), ("GBP", 3.0, "GBP", "EUR"),
])  # fmt: skip
def test_the_deals_currency_is_where_the_money_is(
    currency: str | None, principal: float, own: str, warned: str
) -> None:
    """Not that of the first account; cash in another one is left out, and told."""
    totals = accounts(SEVERAL, currency=currency)
    assert (totals.principal, totals.currency) == (principal, own)
    assert [warning.code for warning in totals.warnings] == ["other_currency"]
    assert warned in totals.warnings[0].message


def test_every_reading_stays_a_candidate() -> None:
    """The sum of accounts, each basis, and some of the accounts.

    The identity may prefer any.
    """
    rows = [["Account Name", "Balance (TRD)", "Balance (STLD)"], ["Principal Account 1", 1.0, 10.0],
            ["Principal Account 2", 2.0, 20.0]]  # fmt: skip
    assert [item.amount for item in accounts(rows).cash] == [3.0, 30.0, 1.0, 2.0, 10.0, 20.0]


def test_the_latest_of_several_days_counts() -> None:
    rows = [["Account", "31-Mar-2025", "30-Apr-2025"], ["Principal Account", 900.0, 1000.0], ["Interest", 15.0, 25.0]]
    totals = accounts(rows)
    assert (totals.principal, totals.interest, len(totals.facts)) == (1000.0, 25.0, 2)


def test_the_first_page_with_accounts_counts() -> None:
    totals = accounts([["Some page"], ["Nothing"]], NET, [["Account", "Balance"], ["Principal Account", 7.0]])
    assert (totals.principal, totals.sheet) == (-5.0, "Account Balances 1")
    assert [item.amount for item in totals.cash] == [-5.0, 7.0]


def test_thousands_and_whole_units() -> None:
    totals = accounts([["Account", "Balance (000s)"], ["Principal Account", -5.25]])
    assert (totals.principal, totals.cash[0].decimals) == (-5250.0, -1)


GROUPS: list[list[Any]] = [
    ["Account", "Number", "Principal", None, None, "Interest", None, None],
    [None, None, "Opening", "Movements", "Closing", "Opening", "Movements", "Closing"],
    [None, None, "USD", "USD", "USD", "USD", "USD", "USD"],
    ["Collection Account", "1", 9.0, -14.0, -5.0, 1.0, 23.0, 24.0],
    ["Custody Account", "2", 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
]
TWO_GROUPS: list[list[Any]] = [
    ["Account", "Number", "Principal", None, "Interest", None],
    [None, None, "Settled", "Traded", "Settled", "Traded"],
    ["Collection Account", "1", 9.0, -5.0, 23.0, 24.0],
    ["Payment Account", "2", 0.0, 0.0, 0.0, 0.0],
]


def headed(*headings: str) -> list[list[Any]]:
    return [["Account", *headings], ["Principal Collection Account", 9.0, -14.0, -5.0][: len(headings) + 1],
            ["Interest Collection Account", 1.0, 23.0, 24.0][: len(headings) + 1]]  # fmt: skip


@every("rows, principal, interest, is_open", [
    (GROUPS, -5.0, 24.0, False),
    (TWO_GROUPS, -5.0, 24.0, False),
    (headed("Cash", "Eligible Investments", "Total"), -5.0, 24.0, False),
    (headed("Balance as of 15 Mar 2024", "Balance as of 15 May 2024", "Balance as of 16 May 2024"), -5.0, 24.0, False),
    (headed("Balance as of 16/05/2024", "Balance as of 15/04/2024"), 9.0, 1.0, False),
    (headed("Balance", "Unsettled Amount", "Ending Balance"), -5.0, 24.0, False),
    (headed("Balance 1", "Balance 2"), 9.0, 1.0, True),
])  # fmt: skip
def test_which_of_several_columns_is_the_balance(
    rows: list[list[Any]], principal: float, interest: float, is_open: bool
) -> None:
    totals = accounts(rows)
    assert (totals.principal, totals.interest) == (principal, interest)
    assert any(totals.open.values()) is is_open


def test_accounts_with_their_names_above_their_balances() -> None:
    page = [
        ["Principal Collection Account"],
        ["Opening Balance", "1,000,000.00"],
        ["Deposits", "9,000,000.00"],
        ["Withdrawals", "(4,252,385.54)"],
        ["Closing Balance", "5,747,614.46"],
        [],
        ["Interest Collection Account"],
        ["Opening Balance", "500,000.00"],
        ["Closing Balance", "3,112,000.00"],
        [],
        ["Expense Reserve Account"],
        ["Opening Balance", "50,000.00"],
        ["Closing Balance", "50,000.00"],
    ]
    read = accounts(page)
    assert (read.principal, read.interest) == (5_747_614.46, 3_112_000.0)
    assert read.cells == {"principal": ["'Account Balances 0'!B5"], "interest": ["'Account Balances 0'!B9"]}


def test_balances_under_a_currency_beside_local_ones_are_converted() -> None:
    page = [
        ["Account", "Currency", "Balance (Local)", "FX Rate", "Balance (EUR)"],
        ["Principal Account", "EUR", 5_000_000.0, 1.0, 5_000_000.0],
        ["Principal Account USD", "USD", 1_000_000.0, 0.9, 900_000.0],
        ["Interest Account", "EUR", 3_112_000.0, 1.0, 3_112_000.0],
    ]
    read = accounts(page)
    assert (read.principal, read.interest, read.warnings) == (5_900_000.0, 3_112_000.0, [])


def test_accounts_in_german() -> None:
    page = [
        ["Konto", "Anfangssaldo", "Endsaldo"],
        ["Kapitalkonto", "1.000.000,00", "5.747.614,46"],
        ["Zinskonto", "500.000,00", "3.112.000,00"],
    ]
    read = accounts(page)
    assert (read.principal, read.interest) == (5_747_614.46, 3_112_000.0)


def test_accrued_interest_is_no_balance() -> None:
    page = [
        ["Account", "Cash Balance", "Interest Rate", "Accrued Interest"],
        ["Interest Collection Account", 3_112_000.0, "4.30%", 1_234.56],
        ["Principal Collection Account", 5_747_614.46, "4.30%", 2_345.67],
    ]
    read = accounts(page)
    assert (read.principal, read.interest) == (5_747_614.46, 3_112_000.0)


def test_a_title_names_the_currency_of_its_accounts() -> None:
    page = [
        ["EUR Accounts"],
        ["Account", "Balance"],
        ["Principal Account", "5,000,000.00"],
        ["Interest Account", "3,112,000.00"],
        [],
        ["GBP Accounts"],
        ["Account", "Balance"],
        ["Principal Account 2", "100,000.00"],
    ]
    read = accounts(page)
    assert (read.principal, read.interest, read.currency) == (5_000_000.0, 3_112_000.0, "EUR")
    assert [warning.code for warning in read.warnings] == ["other_currency"]
