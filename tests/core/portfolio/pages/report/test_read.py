"""Pages in the layouts of several trustees, each with the answers that its rows say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files.read import read
from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.pages.report.days import AsOf, choose_day
from tests.core.portfolio.conftest import Shown, sheet_from_rows
from tests.rows import every

REPORT = Path(__file__).parents[5] / "../shared/data/cairn-xvii/report-2024-12-16.xlsx"

HOLDINGS = [
    ["Issuer Name", "Par Amount", "LoanX ID"],
    ["Acme Corp", 1_000_000.0, "LX100001"],
    ["Bolt Inc", 2_000_000.0, "LX100002"],
]


def portfolio(name: str, rows: list[list[Any]], **more: list[list[Any]]) -> Portfolio:
    """Return what a page says beside two loans."""
    formats = ["General"]
    sheets = {name: rows, "Assets": HOLDINGS, **more}
    book_sheets = tuple(
        sheet_from_rows(cells, title, index=index, formats=formats)
        for index, (title, cells) in enumerate(sheets.items())
    )
    return Portfolio.from_workbook(Workbook(book_sheets, number_formats=tuple(formats)), as_of=5.0)


OF_LOANS = {"no_price", "no_maturity", "par_scale", "par_unlike_notes"}
"""What is told of the two loans themselves."""


def warning_codes(read_portfolio: Portfolio) -> list[str]:
    """Return the codes of what is told of the pages."""
    return [warning.code for warning in read_portfolio.notes.warnings if warning.code not in OF_LOANS]


# ---- notes ---------------------------------------------------------------------------------------------------------

PLAIN = [
    ["Notes", "Original Balance", "Current Balance", "Spread", "Coupon", "Interest"],
    ["Class A -1 Notes", "256,000,000", "250,000,000", "1.5200%", "6.82458%", "8,881,053.44"],
    ["Class B -1 Notes", "24,000,000", "24,000,000", "2.0000%", "7.30458%", "891,158.76"],
    ["Subordinated Notes", "40,000,000", "40,000,000", "N/A", "N/A", "N/A"],
    ["", "320,000,000.00", "314,000,000.00", "", "", "9,772,212.20"],
]
STACKED = [
    ["Some CLO Ltd"],
    [None, "Original", "Current", "Coupon", "Note", "Interest"],
    ["Class", "Balance (000s)", "Balance (000s)", "Spread", "Rate", "Payable (000s)"],
    ["A-1", 256_000.0, 250_000.0, 152.0, 6.82458, 8_881.05344],
    ["B-1", 24_000.0, 24_000.0, 200.0, 7.30458, 891.15876],
    ["Sub", 40_000.0, 40_000.0, None, None, None],
    ["Total", 320_000.0, 314_000.0],
]
FLAT = [
    ["Deal_Name", "Tranche_Name", "Original_Amount", "Current_Principal", "Coupon", "Spread", "IC_Interest"],
    ["Some CLO", "Class A-1 Senior Secured Floating Rate Notes due 2036", 256e6, 250e6, 6.82458, 1.52, 8_881_053.44],
    ["Some CLO", "Class B-1 Senior Secured Floating Rate Notes due 2036", 24e6, 24e6, 7.30458, 2.0, 891_158.76],
    ["Some CLO", "Subordinated Notes due 2036", 40e6, 40e6, None, None, None],
]
MILLIONS = [
    ["Capital structure"],
    ["Tranche", "Original Balance ($mm)", "Outstanding Balance ($mm)", "Margin", "Current Rate", "Interest Due ($mm)"],
    ["Class A-1-R", 256.0, 250.0, Shown(0.0152, "0.00%"), Shown(0.0682458, "0.00%"), 8.88105344],
    ["Class B-1-R", 24.0, 24.0, Shown(0.02, "0.00%"), Shown(0.0730458, "0.00%"), 0.89115876],
    [],
    ["Preference Shares", 40.0, 40.0],
]
THOUSANDS = [["Liabilities Summary"], ["All amounts in thousands"], *[[*row] for row in STACKED[1:]]]
THOUSANDS[3] = ["Class", "Balance", "Balance", "Spread", "Rate", "Payable"]


@every("name, rows", [("Executive Summary", PLAIN), ("Note Summary", STACKED), ("LiabOuts", FLAT), ("Bonds", MILLIONS),
                      ("Class Balances", THOUSANDS), ("Notes", STACKED)])  # fmt: skip
def test_notes(name: str, rows: list[list[Any]]) -> None:
    """The same notes in every layout, the balances in units of currency.

    A total is no class.
    """
    tranches = portfolio(name, rows).tranches
    assert tranches is not None
    assert [key[0] for key in (note_class.removeprefix("Class ") for note_class in tranches.classes)][:2] == ["A", "B"]
    assert tranches.current_balance.tolist() == pytest.approx([250e6, 24e6, 40e6])
    assert tranches.original_balance.tolist() == pytest.approx([256e6, 24e6, 40e6])
    assert np.allclose(tranches.coupon, [6.82458, 7.30458, nan], equal_nan=True)
    assert np.allclose(tranches.spread, [152, 200, nan], equal_nan=True)
    assert np.allclose(tranches.interest_due, [8_881_053.44, 891_158.76, nan], equal_nan=True)
    assert tranches.is_income.tolist() == [False, False, True]


def test_pages_fill_each_other_and_their_differences_are_told() -> None:
    detail = [["Class", "Beginning Balance", "Interest Due"], ["Class A-1", 249e6, 5.0], ["Class B-1", 24e6, 6.0]]
    read_portfolio = portfolio("Summary page", [row[:5] for row in PLAIN], Payments=detail)
    assert read_portfolio.tranches is not None
    assert read_portfolio.tranches.current_balance[0] == 250e6
    assert read_portfolio.tranches.interest_due.tolist()[:2] == [5.0, 6.0]
    assert warning_codes(read_portfolio) == ["notes_differ", "as_of_stands_in"]


# ---- published tests -----------------------------------------------------------------------------------------------

SUMMARY = [
    ["Test Description", "Threshold", "Current", "Result"],
    ["Class A/B Par Value Test", "130.08%", "139.20%", "Passed"],
    ["Class C Par Value Test", "121.74%", "118.85%", "Failed"],
    ["Reinvestment Overcollateralisation Test", "104.40%", "108.49%", "Passed"],
    ["Class A/B Interest Coverage Test", "120.00%", "180.24%", "Passed"],
    ["Weighted Average Life Test", "7.27", "4.32", "Passed"],
]
COMPARED = [
    ["Class A/B Overcollateralization", "139.20%", ">=", "130.08%", None, "PASS"],
    ["Class C Overcollateralization", "118.85%", ">=", "121.74%", None, "FAIL"],
    ["Reinvestment Overcollateralization", "108.49%", ">=", "104.40%", None, "PASS"],
    ["Class A/B Interest Coverage", "180.24%", ">=", "120.00%", None, "PASS"],
    ["Weighted Average Life", "4.32", "<=", "7.27", None, "PASS", "4.35"],
]
RATIOS = [
    ["Par Value Tests"],
    ["Test", "Numerator", "Denominator", "Prior", "Actual", "Trigger", "Cushion", "Result"],
    ["Class A/B", 400e6, 287e6, 1.39, 1.392, 1.3008, 0.09, "Passed"],
    ["Class C", 400e6, 310e6, 1.19, 1.1885, 1.2174, -0.03, "Failed"],
    ["Reinvestment OC", 400e6, 368e6, 1.08, 1.0849, 1.044, 0.04, "Passed"],
    [],
    ["Interest Coverage Tests"],
    ["Test", "Numerator", "Denominator", "Prior", "Actual", "Trigger", "Cushion", "Result"],
    ["Class A/B", 7e6, 3.9e6, 1.8, 1.8024, 1.2, 0.6, "Passed"],
    [],
    ["Collateral Quality Tests"],
    ["Test", "Actual", "Trigger", "Prior", "Result"],
    ["Weighted Average Life", 4.32, 7.27, 4.35, "Passed"],
]
SECTIONS = [
    ["Coverage Tests", "Actual", "Required", "Pass/Fail"],
    ["Overcollateralization Ratio Tests"],
    ["Class A/B", Shown(1.392, "0.00%"), ">= 130.08%", "Pass"],
    ["Class C", Shown(1.1885, "0.00%"), ">= 121.74%", "Fail"],
    ["Interest Diversion Test", Shown(1.0849, "0.00%"), "Min 104.40%", "Pass"],
    ["Interest Coverage Tests"],
    ["Class A/B", Shown(1.8024, "0.00%"), "120.00% (min)", "Pass"],
    ["Collateral Quality Tests"],
    ["WAL", 4.32, "<= 7.27", "Pass"],
]


@every("rows", [SUMMARY, COMPARED, RATIOS, SECTIONS])
def test_published_tests(rows: list[list[Any]]) -> None:
    """Value, trigger and status of every test, coverage in percent.

    The triggers of a class are those of its notes.
    """
    read_portfolio = portfolio("Tests", rows, Liabilities=PLAIN)
    assert [(test.value, test.trigger, test.status) for test in read_portfolio.facts.tests] == [
        (139.2, 130.08, "pass"),
        (118.85, 121.74, "fail"),
        (108.49, 104.4, "pass"),
        (180.24, 120.0, "pass"),
        (4.32, 7.27, "pass"),
    ]
    assert [test.unit for test in read_portfolio.facts.tests] == [*["percent"] * 4, "years"]
    assert read_portfolio.tranches is not None
    assert np.array_equal(read_portfolio.tranches.oc_trigger, [130.08, 130.08, nan], equal_nan=True)
    assert np.array_equal(read_portfolio.tranches.ic_trigger, [120.0, 120.0, nan], equal_nan=True)
    assert read_portfolio.deal.reinvestment_oc_trigger == 104.4


def test_a_page_of_one_ratio_names_its_classes_only() -> None:
    rows = [["Class", "Par Value Ratio", "Required Ratio", "Cushion"], ["A/B", "139.20%", "130.08%", "9.12%"]]
    read_portfolio = portfolio("Par Value Ratio Detail", rows, Liabilities=PLAIN)
    assert [(test.name, test.value, test.trigger) for test in read_portfolio.facts.tests] == [("A/B", 139.2, 130.08)]
    assert read_portfolio.tranches is not None
    assert read_portfolio.tranches.oc_trigger.tolist()[:2] == [130.08, 130.08]


def test_triggers_of_the_notes_own_table_stay() -> None:
    notes = [["Class", "Current Balance", "OC Trigger"], ["A", 1.0, None], ["B", 1.0, 1.216]]
    tranches = portfolio("Tests", SUMMARY, Tranches=notes).tranches
    assert tranches is not None
    assert np.array_equal(tranches.oc_trigger, [nan, 121.6], equal_nan=True)


# ---- accounts ------------------------------------------------------------------------------------------------------

TRADED = [
    ["Account Name", "Principal Balance (STLD)", "Interest Balance (STLD)", "Principal Balance (TRD)",
     "Interest Balance (TRD)"],
    ["EUR INTEREST ACCOUNT", 0.0, 7.0, 0.0, 9.0],
    ["EUR PRINCIPAL ACCOUNT", 100.0, 0.0, -5.0, 0.0],
    ["EUR UNFUNDED REVOLVER RESERVE ACCOUNT", 131.0, 0.0, 131.0, 0.0],
    ["EUR UNUSED PROCEEDS ACCOUNT", 0.0, 0.0, 0.0, 0.0],
    ["Total", 231.0, 7.0, 126.0, 9.0],
]  # fmt: skip
BALANCES = [
    ["Account", "Account Number", "Opening Balance", "Closing Balance"],
    ["Principal Collection Account 1", "4501-22", 1.0, -8.0],
    ["Principal Collection Account 2", "4501-23", 1.0, 3.0],
    ["Interest Collection Account", "4501-24", 1.0, 9.0],
    ["Interest Reserve Account", "4501-25", 1.0, 50.0],
    ["Expense Reserve Account", "4501-26", 1.0, 60.0],
    ["Payment Account", "4501-27", 1.0, 70.0],
    ["Grand Total", None, 6.0, 184.0],
]
COLLECTION = [
    ["Cash Summary"],
    ["Account Description", "Principal", "Interest"],
    ["Collection Account", "(5.00)", "9.00"],
    ["Custodial Account", "100.00", "0.00"],
]
WRAPPED = [["Accounts", "Balance"], [None, "($000s)"], ["Principal Account", -0.005], ["Interest Account", 0.009]]
TITLED = [["Accounts (in thousands)"], *WRAPPED[:1], *WRAPPED[2:]]
FLAT_BALANCES = [
    ["Vendor_ID", "Deal_Name", "As_Of_Date", "Account_Name", "Account_Principal_Balance", "Account_Interest"],
    ["V", "Some CLO", "16-Dec-24", "SOME EUR PRINCIPAL ACCT", -5.0, 0.0],
    ["V", "Some CLO", "16-Dec-24", "SOME EUR INTEREST ACCT", 0.0, 9.0],
    ["V", "Some CLO", "16-Dec-24", "SOME EXP RES ACCT", 77.0, 0.0],
]
LABELS = [["Principal Collection Account", "(5.00)"], ["Interest Collection Account", "9.00"]]


@every("name, rows", [("Proceeds Account Summary", TRADED), ("Account Balances", BALANCES), ("Cash", COLLECTION),
                      ("Balances", WRAPPED), ("Balances", TITLED), ("Executive Summary", LABELS),
                      ("Deal", LABELS), ("Accounts", FLAT_BALANCES)])  # fmt: skip
def test_accounts(name: str, rows: list[list[Any]]) -> None:
    """Traded before settled, principal accounts added up, reserves and totals left out."""
    deal = portfolio(name, rows).deal
    assert deal.principal_cash == pytest.approx(-5.0)
    assert deal.interest_collected == pytest.approx(9.0)


@every("label, value, field, amount", [
    ("Principal Cash ($mm)", 5.0, "principal_cash", 5e6),
    ("Senior Fees (000s)", 5.0, "senior_fees", 5e3),
    ("Interest Receivable (in thousands)", 5.0, "interest_receivable", 5e3),
    ("Interest Cash (EUR 000): 5.00", None, "interest_collected", 5e3),
    ("Senior Fees (USD)", 5.0, "senior_fees", 5.0),
    ("Payment Days (mm)", 90.0, "payment_days", 90.0),
])  # fmt: skip
def test_a_labels_unit(label: str, value: float | None, field: str, amount: float) -> None:
    """Amounts in thousands or millions are multiplied; nothing else is."""
    assert getattr(portfolio("Deal", [[label, value]]).deal, field) == amount


def test_cash_in_another_currency_is_told_and_not_added_up() -> None:
    rows = [["Account Name", "Balance"], ["EUR Principal Account", 5.0], ["USD Principal Account", 3.0]]
    read_portfolio = portfolio("Accounts page", rows)
    assert (read_portfolio.deal.principal_cash, read_portfolio.deal.currency) == (5.0, "EUR")
    assert warning_codes(read_portfolio) == ["other_currency", "as_of_stands_in"]


def test_a_list_of_movements_is_no_balance() -> None:
    rows = [["Account Name", "Trade Date", "Transaction", "Amount"], ["Principal Account", None, "Purchase", -5.0]]
    assert portfolio("Cash detail", rows).deal.principal_cash is None


def test_pages_that_differ_in_cash_are_told() -> None:
    read_portfolio = portfolio("Executive Summary", [["Principal Collection Account", 4.0]], Cash=BALANCES)
    assert read_portfolio.deal.principal_cash == -5.0
    assert warning_codes(read_portfolio) == ["cash_differs", "as_of_stands_in"]


# ---- tables side by side -------------------------------------------------------------------------------------------


def test_tables_side_by_side() -> None:
    """Notes beside accounts, and two tables of tests: each has its own columns."""
    rows: list[list[Any]] = [
        ["Notes", None, None, None, None, "Accounts"],
        ["Class", "Current Balance", "Coupon", None, None, "Account", "Principal", "Interest"],
        ["Class A", 250e6, 5.5, None, None, "Principal Collection", 5.0, 0.0],
        ["Class B", 24e6, 6.5, None, None, "Interest Collection", 0.0, 7.0],
        ["Subordinated Notes", 40e6, None, None, None, "Total", 5.0, 7.0],
        [],
        ["Test", "Actual", "Trigger", "Result", "Test", "Actual", "Limit", "Result"],
        ["Class A/B Par Value Test", 139.2, 130.08, "Pass", "Weighted Average Life Test", 4.32, 7.27, "Pass"],
        ["Class B Interest Coverage Test", 180.24, 120.0, "Pass", "Diversity Test", 60.0, 50.0, "Fail"],
    ]
    read_portfolio = portfolio("Summary page", rows)
    assert read_portfolio.tranches is not None
    assert read_portfolio.tranches.current_balance.tolist() == [250e6, 24e6, 40e6]
    assert np.isnan(read_portfolio.tranches.interest_due).all()
    assert (read_portfolio.deal.principal_cash, read_portfolio.deal.interest_collected) == (5.0, 7.0)
    assert sorted((test.name[:7], test.value, test.trigger, test.status) for test in read_portfolio.facts.tests) == [
        ("Class A", 139.2, 130.08, "pass"),
        ("Class B", 180.24, 120.0, "pass"),
        ("Diversi", 60.0, 50.0, "fail"),
        ("Weighte", 4.32, 7.27, "pass"),
    ]


def test_a_table_ends_where_the_loans_begin(make_book: Callable[..., Workbook]) -> None:
    """Loans below a table of tests on one sheet are no tests."""
    loans = [[f"Company {at}", 1e6 + at, f"LX{200_000 + at}"] for at in range(30)]
    book = make_book({"Report": [*NOW, [], HOLDINGS[0], *loans]})
    assert [test.name for test in Portfolio.from_workbook(book, as_of=5.0).facts.tests] == ["Class A/B Par Value Test"]


def test_ratios_of_classes_are_no_balances() -> None:
    """A table of tests by class beside the notes, its ratios as multiples."""
    tests = [["Overcollateralization Ratio Tests"], ["Class", "Current", "Trigger", "Result"],
             ["Class A/B", "1.3920x", "1.3008x", "PASSED"], ["Class C", "1.2885x", "1.2174x", "PASSED"]]  # fmt: skip
    notes = [["Class", "Balance"], ["Class A", 250e6], ["Class B", 24e6], ["Class C", 15e6]]
    read_portfolio = portfolio("Tests page", tests, Classes=notes)
    assert read_portfolio.tranches is not None
    assert read_portfolio.tranches.current_balance.tolist() == [250e6, 24e6, 15e6]
    assert read_portfolio.tranches.oc_trigger.tolist() == [130.08, 130.08, 121.74]
    assert [(test.value, test.trigger) for test in read_portfolio.facts.tests] == [(139.2, 130.08), (128.85, 121.74)]


def test_groups_tell_the_balance_of_today() -> None:
    rows = [[None, "Beginning", None, "Ending"], ["Class", "Balance", "Principal Paid", "Balance"],
            ["Class A", 251e6, 1e6, 250e6], ["Class B", 24e6, 0.0, 24e6]]  # fmt: skip
    tranches = portfolio("Distributions", rows).tranches
    assert tranches is not None
    assert tranches.current_balance.tolist() == [250e6, 24e6]


# ---- pages that are hidden or of another day -----------------------------------------------------------------------

NOW = [["Test", "Actual", "Trigger"], ["Class A/B Par Value Test", "139.20%", "130.08%"]]
THEN = [["Test", "Actual", "Trigger"], ["Class A/B Par Value Test", "150.00%", "120.00%"]]


def shown(make_book: Callable[..., Workbook], hidden: set[str], **pages: list[list[Any]]) -> Portfolio:
    """Return two loans and the pages, some of them hidden."""
    book = make_book({"Assets": HOLDINGS, "Notes": PLAIN} | {name.replace("_", " "): pages[name] for name in pages})
    sheets = tuple(replace(sheet, state="hidden") if sheet.name in hidden else sheet for sheet in book.sheets)
    return Portfolio.from_workbook(replace(book, sheets=sheets), as_of=5.0)


@every("name, hidden", [("Tests Prior", True), ("Tests Prior", False), ("A", True)])
def test_pages_that_are_hidden_or_of_another_day(make_book: Callable[..., Workbook], name: str, hidden: bool) -> None:
    """They give only what no other page says, and that is told."""
    then = [["Principal Cash", 7.0], ["Senior Fees", 3.0], [], *THEN]
    pages = {name.replace(" ", "_"): then, "Results": [["Principal Cash", 5.0], [], *NOW]}
    read_portfolio = shown(make_book, {name} if hidden else set(), **pages)
    assert [(test.value, test.trigger) for test in read_portfolio.facts.tests] == [(139.2, 130.08)]
    assert read_portfolio.tranches is not None
    assert read_portfolio.tranches.oc_trigger[0] == 130.08
    assert (read_portfolio.deal.principal_cash, read_portfolio.deal.senior_fees) == (5.0, 3.0)
    assert warning_codes(read_portfolio) == ["page_stands_in", "as_of_stands_in"]
    only = shown(make_book, {name} if hidden else set(), **{name.replace(" ", "_"): then})
    assert (only.facts.tests[0].value, only.deal.principal_cash) == (150.0, 7.0)
    assert warning_codes(only) == ["page_stands_in", "as_of_stands_in"]


def test_triggers_of_another_day_do_not_replace_those_of_today(make_book: Callable[..., Workbook]) -> None:
    then = [THEN[0], ["Class A Par Value Test", "150.00%", "120.00%"]]
    tranches = shown(make_book, set(), Results=NOW, Tests_Prior=then).tranches
    assert tranches is not None
    assert tranches.oc_trigger.tolist()[:2] == [130.08, 130.08]


@every("name, day", [("Summary", 20073.0), ("Summary Prior", 5.0)])
def test_the_day_of_a_hidden_page(make_book: Callable[..., Workbook], name: str, day: float) -> None:
    """It may be the file's, but that of a page of another day is not."""
    read_portfolio = shown(make_book, {name}, **{name.replace(" ", "_"): [["As of 2024-12-16"]]})
    assert read_portfolio.deal.as_of == day


@every("first, second, codes", [
    (["Senior Fees", 5.0], ["Senior Fees", 5.0], []),
    (["Senior Fees", 5.0], ["Senior Fees", 6.0], ["labels_differ"]),
    (["Senior Fees", 5.0], ["Senior Expenses", 6.0], ["labels_differ"]),
    (["Stated Maturity", "2036-10-20"], ["Stated Maturity", "2036-10-21"], ["labels_differ"]),
    (["Next Payment Date", "2025-01-21"], ["Payment Date", "2024-10-21"], []),
])  # fmt: skip
def test_labels_that_differ_are_told(first: list[Any], second: list[Any], codes: list[str]) -> None:
    assert warning_codes(portfolio("Deal", [first, second])) == [*codes, "as_of_stands_in"]


# ---- dates ---------------------------------------------------------------------------------------------------------


@every(
    "rows, day, source, codes",
    [
        ([["As of:  16/12/2024"]], date(2024, 12, 16), "file", []),
        ([["As of 03/04/2024"], ["Closing Date", "20/09/2023"]], date(2024, 4, 3), "file", []),
        ([["As of 03/04/2024"], ["Closing Date", "09/20/2023"]], date(2024, 3, 4), "file", []),
        ([["As of 03/04/2024"]], date(2024, 3, 4), "file", ["ambiguous_date"]),
        ([["Monthly Report as of December 16, 2024"]], date(2024, 12, 16), "file", []),
        ([["Determination Date: 16-Dec-24"], ["Report Date", "18-Dec-24"]], date(2024, 12, 16), "file", []),
        ([["Calculation Date", date(2024, 12, 16)]], date(2024, 12, 16), "file", []),
        ([["As of 2024-12-16"], ["As of 2024-12-16"], ["As of 2024-11-15"]], date(2024, 12, 16), "file",
         ["as_of_conflict"]),
        ([["x"], ["\u00a9 Some Trustee, 16 December 2024"]], date(2024, 12, 16), "file", ["as_of_footer"]),
        ([["Some CLO II DAC", None, None, "16-Dec-2024"], ["Notes"]], date(2024, 12, 16), "file", ["as_of_footer"]),
        ([["Portfolio Holdings: 16-Dec-2024"]], date(2024, 12, 16), "file", ["as_of_footer"]),
        ([["Holdings by Rating as of December 16, 2024"]], date(2024, 12, 16), "file", ["as_of_footer"]),
        ([["Period End Date: 16/12/2024"]], date(2024, 12, 16), "file", []),
        ([["As of 03/04/2024 (EUR)"]], date(2024, 4, 3), "file", ["ambiguous_date"]),
        ([["Deal", "As_Of_Date", "X"], ["A", "16 Dec 2024", 1], ["A", "16 Dec 2024", 2]], date(2024, 12, 16), "file",
         []),
        ([["Deal", "As_Of_Date", "X"], ["A", "16 Dec 2024", 1], ["A", "17 Dec 2024", 2]], date(1970, 1, 6), "upload",
         ["as_of_stands_in"]),
        ([["Prior Report", None, "16-Dec-2024"], ["Printed 16-Dec-2024"]], date(1970, 1, 6), "upload",
         ["as_of_stands_in"]),
        ([["Ratings as of 2020-01-01"], ["Next Payment: 21/01/2025"]], date(1970, 1, 6), "upload", ["as_of_stands_in"]),
    ],
)  # fmt: skip
def test_as_of(rows: list[list[Any]], day: date, source: str, codes: list[str]) -> None:
    read_portfolio = portfolio("Some page", rows)
    assert read_portfolio.deal.as_of == (day - date(1970, 1, 1)).days
    assert read_portfolio.deal.as_of_source == source
    assert warning_codes(read_portfolio) == codes


def test_a_conflict_names_all_days_that_are_not_used() -> None:
    lines = [AsOf(0, 20_000.0 + day, f"day {day}", f"'Page'!A{day}", False) for day in (0, 0, 1, 2, 3, 4, 5)]
    day, (warning,) = choose_day(lines)
    assert day is not None
    assert day.day == 20_000.0
    assert warning.message.count("2024-10-0") == 6


def test_a_caller_wins_over_the_file_and_the_file_over_its_column(make_book: Callable[..., Workbook]) -> None:
    loans = [["Issuer Name", "Par Amount", "LoanX ID", "As Of Date"], ["Acme", 1e6, "LX100001", date(2024, 1, 2)]]
    book = make_book({"Assets": loans, "Deal": [["As Of Date", date(2024, 12, 16)]]})
    of = Portfolio.from_workbook
    assert (of(book).deal.as_of, of(book).deal.as_of_source) == (20073.0, "file")
    assert of(book, as_of=7.0, as_of_source="modified").deal.as_of_source == "file"
    assert (of(book, as_of=7.0, as_of_source="request").deal.as_of) == 7.0
    only = make_book({"Assets": loans})
    assert of(only, as_of=7.0).deal.as_of_source == "column"
    assert of(only, as_of=7.0, as_of_source="workbook").deal.as_of_source == "workbook"


def test_the_deals_dates() -> None:
    rows = [
        ["Next Payment: 21/01/2025"],
        ["Closing Date:", "20/09/2023"],
        ["End of Reinvest:", "18/04/2028"],
        ["Stated Maturity:", "20/10/2036"],
        ["Deal Currency", "Euro"],
        ["Waterfall"],
        ["Principal Proceeds", 5.0],
    ]
    deal = portfolio("Executive Summary", rows).deal
    assert (deal.next_payment, deal.closing_date, deal.reinvestment_end, deal.stated_maturity) == (
        20109.0,
        19620.0,
        21292.0,
        24399.0,
    )
    assert (deal.currency, deal.principal_cash) == ("EUR", None)


# ---- a real report -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [REPORT] if REPORT.exists() else [])
def test_a_real_report(file: Path) -> None:
    """Cairn XVII as delivered.

    Notes, accounts, dates and all fifteen tests of its summary.
    """
    read_portfolio = Portfolio.from_workbook(read(file))
    deal, tranches = read_portfolio.deal, read_portfolio.tranches
    assert tranches is not None
    assert tranches.current_balance.tolist() == [248e6, 24.6e6, 15e6, 23.1e6, 26.5e6, 17.2e6, 14.6e6, 35.1e6]
    assert tranches.oc_trigger.tolist()[:7] == [130.08, 130.08, 130.08, 121.74, 112.62, 107.87, 103.9]
    assert tranches.ic_trigger.tolist()[:5] == [120, 120, 120, 110, 105]
    assert tranches.interest_due.tolist()[0] == 3_277_457.78
    assert (deal.principal_cash, deal.interest_collected) == (-5_747_614.46, 4_569_271.28)
    assert (deal.as_of, deal.as_of_source, deal.next_payment) == (20073.0, "file", 20109.0)
    assert (deal.currency, deal.reinvestment_oc_trigger) == ("EUR", 104.4)
    assert len(read_portfolio.facts.tests) == 15
    wal = read_portfolio.facts.tests[-1]
    assert (wal.name, wal.value, wal.trigger, wal.unit) == ("Weighted Average Life Test", 4.32, 7.27, "years")
    assert set(warning_codes(read_portfolio)) == {"page_total_differs", "page_joined_by_name", "unreadable_cells"}


@every(
    "column, cells",
    [
        ("Interest Rate", ["SOFR + 1.30%", "SOFR + 1.80%", "7.125%"]),
        ("Margin", ["E+130bps", "E+180bps", None]),
        ("Spread", ["1.30%", "3mE + 1.80%", "N/A"]),
    ],
)
def test_spreads_of_notes_in_words(column: str, cells: list[Any]) -> None:
    rows = [
        ["Class", "Original Balance", "Current Balance", column],
        ["Class A", "$248,000,000", "$235,600,000", cells[0]],
        ["Class B", "$48,000,000", "$48,000,000", cells[1]],
        ["Class C", "$24,000,000", "$24,000,000", cells[2]],
    ]
    tranches = portfolio("Structure", rows).tranches
    assert tranches is not None
    assert np.allclose(tranches.spread, [130.0, 180.0, nan], equal_nan=True)


def test_notes_with_a_column_for_each_class() -> None:
    rows: list[list[Any]] = [
        [None, "Class A", "Class B", "Subordinated Notes"],
        ["Original Balance", "248,000,000.00", "48,000,000.00", "40,000,000.00"],
        ["Current Balance", "235,600,000.00", "48,000,000.00", "40,000,000.00"],
        ["Spread", "1.30%", "1.80%", "N/A"],
    ]
    read_portfolio = portfolio("Note Summary", rows)
    tranches = read_portfolio.tranches
    assert tranches is not None
    assert tranches.current_balance.tolist() == [235_600_000.0, 48_000_000.0, 40_000_000.0]
    assert np.allclose(tranches.spread, [130.0, 180.0, nan], equal_nan=True)
    assert read_portfolio.source_cells["tranches.current_balance"] == "'Note Summary'!B3:D3"


@every(
    "rows, day",
    [
        ([["Determination Date:", date(2026, 3, 15), "Payment Date:", date(2026, 4, 20)]], date(2026, 4, 20)),
        ([["Determination Date: April 10, 2026"], ["Payment Date: April 20, 2026"]], date(2026, 4, 20)),
        ([["Determination Date: April 10, 2026"], ["Payment Date: January 20, 2026"]], None),
        ([["Payment Date: April 20, 2026"]], None),
    ],
)
def test_a_payment_date_is_the_next_one_after_the_day(rows: list[list[Any]], day: date | None) -> None:
    expected = None if day is None else (day - date(1970, 1, 1)).days
    assert portfolio("Cover", rows).deal.next_payment == expected


def test_the_latest_month_on_a_sheet_of_cash() -> None:
    rows = [
        [None, "Feb-2026", "Mar-2026"],
        ["Principal Cash", "6,747,614.46", "5,747,614.46"],
        ["Interest Cash", "2,112,000.00", "3,112,000.00"],
    ]
    assert portfolio("Summary", rows).deal.principal_cash == 5_747_614.46


@every("days", [("15-Feb-2026", "15-Mar-2026"), (date(2026, 2, 15), date(2026, 3, 15))])
def test_of_balances_under_two_days_the_later_counts(days: tuple[Any, Any]) -> None:
    rows: list[list[Any]] = [
        [None, None, *days],
        ["Class", "Original Balance", "Outstanding Balance", "Outstanding Balance"],
        ["Class A", 248.0e6, 240.0e6, 235.6e6],
        ["Class B", 48.0e6, 48.0e6, 48.0e6],
    ]
    tranches = portfolio("Note Summary", rows).tranches
    assert tranches is not None
    assert tranches.current_balance.tolist() == [235.6e6, 48.0e6]


@every(
    "line, currency",
    [
        ("All amounts in EUR", "EUR"),
        ("(Amounts are expressed in US dollars)", "USD"),
        ("Figures in EUR thousands", "EUR"),
        ("Amounts in EUR and USD", None),
        ("Accounts in EUR", None),
    ],
)
def test_a_line_says_the_currency_of_amounts(line: str, currency: str | None) -> None:
    assert portfolio("Cover", [["Some CLO"], [line], ["Class A/B OC", "129.49%"]]).deal.currency == currency


@every(
    "ratio, trigger",
    [
        ("OC Ratio", "OC Trigger"),
        ("Current OC", "Minimum OC"),
        ("O/C Actual", "O/C Test"),
        ("OC Level", "OC Test Level"),
        ("Par Value Ratio", "Par Value Ratio Trigger"),
        ("OC Ratio", None),
    ],
)
def test_a_ratio_of_classes_is_no_trigger(ratio: str, trigger: str | None) -> None:
    rows = [
        ["Class", "Current Balance", ratio, trigger],
        ["Class A", 235.6e6, "129.49%", "121.50%" if trigger else None],
        ["Class B", 48.0e6, "118.07%", "114.50%" if trigger else None],
    ]
    tranches = portfolio("Structure", rows).tranches
    assert tranches is not None
    expected = [121.5, 114.5] if trigger else [nan, nan]
    assert np.allclose(tranches.oc_trigger, expected, equal_nan=True)
