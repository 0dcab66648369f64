"""Tapes of consumers and properties are refused by what they are.

Corporate loans with a word of theirs are not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]

PEOPLE = ["John Smith", "Mary Jones", "Peter Brown", "Ann White", "Carl Green", "Eva Black"]
COMPANIES = ["Alder Inc.", "Birch LLC", "Cedar Holdings Ltd", "Dogwood Corp", "Elm GmbH", "Fir S.A."]


def tape(header: list[str], *columns: list[Any]) -> list[list[Any]]:
    """Return six rows below a header; a single value stands on every row."""
    filled = [column if len(column) > 1 else column * 6 for column in columns]
    return [header, *([column[row] for column in filled] for row in range(6))]


AMOUNTS = [21_500.25, 18_250.5, 32_100.0, 9_800.75, 15_400.0, 27_350.1]

AUTO = tape(
    ["Loan ID", "Borrower", "VIN", "Make", "Model", "Odometer", "Current Balance", "APR", "FICO", "Maturity Date"],
    [f"A{at}" for at in range(6)], PEOPLE, ["1HGCM82633A004352"], ["Honda"], ["Accord"], [45_000.0], AMOUNTS, [6.9],
    [710.0], ["2029-03-31"],
)  # fmt: skip
MORTGAGES = tape(
    ["Loan Number", "Borrower Name", "Property Type", "Property State", "Occupancy Status", "Original LTV",
     "Lien Position", "Current Principal Balance", "Index", "Margin", "Interest Rate", "Maturity Date"],
    [f"M{at}" for at in range(6)], PEOPLE, ["Single Family"], ["CA"], ["Owner"], [75.0], ["First Lien"],
    [10 * amount for amount in AMOUNTS], ["SOFR"], [2.75], [6.5], ["2049-03-01"],
)  # fmt: skip
CONSUMER = tape(
    ["LoanID", "Borrower", "CreditScore", "AnnualIncome", "HomeOwnership", "Grade", "Outstanding Principal",
     "Interest Rate", "Maturity Date"],
    [f"C{at}" for at in range(6)], PEOPLE, [690.0], [80_000.0], ["RENT"], ["B"], AMOUNTS, [13.5], ["2027-03-31"],
)  # fmt: skip
PRIVATE = tape(
    [
        "Borrower",
        "Security Name",
        "Outstanding Principal Balance",
        "Spread",
        "Loan to Value",
        "Appraised Value",
        "DSCR",
        "Maturity Date",
        "Lien Type",
    ],
    COMPANIES,
    ["Term Loan"],
    [1_000 * amount for amount in AMOUNTS],
    [575.0],
    [45.0],
    [90_000_000.0],
    [1.4],
    ["2029-03-31"],
    ["First Lien"],
)
RATED = tape(
    ["Issuer Name", "LoanX ID", "Par Amount", "Moody's Rating", "Vehicle Code", "Mileage Rate", "Maturity Date"],
    COMPANIES, [f"LX10000{at}" for at in range(6)], [1_000 * amount for amount in AMOUNTS],
    ["B2", "B3", "B1", "B2", "Caa1", "B2"], ["X1"], [0.1], ["2029-03-31"],
)  # fmt: skip


LEASES = tape(
    ["Lease Number", "Lessee", "Equipment Type", "Original Equipment Cost", "Discounted Balance", "Residual",
     "Lease Maturity Date", "Industry", "Credit Rating"],
    [f"L{at}" for at in range(6)], COMPANIES, ["Truck"], [90_000.0], AMOUNTS, [9_000.0], ["2029-03-31"], ["Trucking"],
    ["B2"],
)  # fmt: skip
EQUITIES = tape(
    ["Name", "Ticker", "CUSIP", "Shares", "Price", "Market Value", "Weight (%)", "Sector", "Country", "Currency"],
    COMPANIES, ["ALD"], ["037833100", "594918104", "00130H105", "88160R101", "02079K305", "30303M102"],
    [1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0, 6_000.0], [170.5], AMOUNTS, [2.5], ["Software"], ["US"], ["USD"],
)  # fmt: skip
WITH_SHARES = tape(
    ["Company", "Investment", "Shares", "Ticker", "Principal Amount", "Spread", "Maturity Date", "Fair Value"],
    COMPANIES, ["Term Loan"], [""], [""], [1_000 * amount for amount in AMOUNTS], [575.0], ["2029-03-31"],
    [990 * amount for amount in AMOUNTS],
)  # fmt: skip


@every(
    "name, rows",
    [
        ("auto loans", AUTO), ("mortgages", MORTGAGES), ("consumer loans", CONSUMER), ("equipment leases", LEASES),
        ("equities", EQUITIES),
    ],
)  # fmt: skip
def test_a_tape_of_another_class_is_refused(make_book: MakeBook, name: str, rows: list[list[Any]]) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Tape": rows}))
    assert portfolio.row_count == 0
    assert not portfolio.notes.holdings_found
    message = portfolio.notes.message or ""
    assert f"'Tape' is not read: it is a list of {name}" in message
    assert "custom" in message


@every("rows", [PRIVATE, RATED, WITH_SHARES])
def test_companies_loans_with_words_of_another_class_are_read(make_book: MakeBook, rows: list[list[Any]]) -> None:
    assert len(Portfolio.from_workbook(make_book({"Loans": rows}))) == 6


def test_the_loans_beside_such_a_tape_are_read(make_book: MakeBook) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Tape": AUTO, "Loans": RATED}))
    assert (len(portfolio), portfolio.sheet_name) == (6, "Loans")


def test_a_mapping_of_another_kind_reads_it(make_book: MakeBook) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Tape": AUTO}), "standard_servicer")
    assert "is not read" not in (portfolio.notes.message or "")
