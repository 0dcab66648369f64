"""Which of several sheets with loans is the one of today, and what the lines above the loans say of their amounts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from tests.rows import every

MakeBook = Callable[..., Workbook]
HEADER = ["LoanX ID", "Issuer", "Facility", "Par", "Price", "Maturity"]
LOANS: list[list[Any]] = [
    ["LX100001", "Alpha Inc", "TL B", 1_000.0, 99.0, "2030-01-31"],
    ["LX100002", "Beta Inc", "TL B", 2_000.0, 98.0, "2031-01-31"],
    ["LX100003", "Gamma Inc", "TL C", 3_000.0, 97.0, "2032-01-31"],
]  # fmt: skip


@every(
    "names, chosen",
    [
        (["Sep 2024", "Oct 2024", "Nov 2024"], "Nov 2024"),
        (["Dec-24", "Jan-25"], "Jan-25"),
        (["Holdings 2024-10", "Holdings 2024-11"], "Holdings 2024-11"),
        (["Holdings 20241107", "Holdings 20241007"], "Holdings 20241107"),
        (["7-Nov-24", "15 October 2024"], "7-Nov-24"),
        (["Market 25", "Market 24"], "Market 25"),  # no month: the first one
        (["Old Nov 2024", "Oct 2024"], "Oct 2024"),
    ],
)
def test_of_sheets_named_by_their_day_the_latest_counts(make_book: MakeBook, names: list[str], chosen: str) -> None:
    """However much more an earlier one says."""
    more = [[*HEADER, "Spread", "S&P Rating"], *([*row[:3], row[3] * 1.1, *row[4:], 300.0, "B"] for row in LOANS)]
    books = {name: [HEADER, *LOANS] if name == chosen else more for name in names}
    if "Market" in chosen:
        books = {name: [HEADER, *LOANS] for name in names}
    portfolio = Portfolio.from_workbook(make_book(books))
    assert portfolio.sheet_name == chosen
    assert portfolio.numbers["par_value"].tolist() == [1_000.0, 2_000.0, 3_000.0]
    assert "spread" not in portfolio.numbers


def test_notes_of_an_earlier_month_are_not_those_of_today(make_book: MakeBook) -> None:
    def notes(balance: float) -> list[list[Any]]:
        return [["Class", "Current Balance"], ["Class A", balance], ["Subordinated Notes", 1_000.0]]

    book = make_book({"Assets": [HEADER, *LOANS], "Notes Oct 24": notes(6_000.0), "Notes Nov 24": notes(5_000.0)})
    tranches = Portfolio.from_workbook(book).tranches
    assert tranches is not None
    assert tranches.current_balance[0] == 5_000.0


@every(
    "line, header, par, is_warned",
    [
        ("Portfolio as of 7 November 2024 (USD thousands)", "Par", 1_000_000.0, True),
        ("All amounts in $000s unless stated", "Par", 1_000_000.0, True),
        ("€m", "Par", 1_000_000_000.0, True),
        ("Amounts in thousands", "Par (USD)", 1_000_000.0, True),
        ("Amounts in thousands", "Par ($mm)", 1_000_000_000.0, False),
        ("Some CLO in Millbrook", "Par", 1_000.0, False),
        ("Portfolio", "Par", 1_000.0, False),
    ],
)
def test_a_line_above_the_loans_says_their_units(
    make_book: MakeBook, line: str, header: str, par: float, is_warned: bool
) -> None:
    rows = [[line], [], [header if name == "Par" else name for name in HEADER], *LOANS]
    scale = 1e-3 if par == 1_000_000_000.0 else 1.0  # millions of a loan of thousands are none
    rows[3:] = [[*row[:3], row[3] * scale, *row[4:]] for row in rows[3:]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": rows}))
    assert portfolio.numbers["par_value"][0] == par * scale
    assert [warning.code for warning in portfolio.notes.warnings if warning.code == "units_of_title"] == [
        "units_of_title"
    ] * is_warned


@every(
    "header, par, expected",
    [
        ("Par (K)", 3_464.0, 3_464_000.0),
        ("Par (M)", 3.464, 3_464_000.0),
        ("Par [in k]", 3_464.0, 3_464_000.0),
        ("Par (M)", 3_464_000.0, 3_464_000.0),  # in full: the letter means something else
        ("Par M", 3.464, 3.464),
    ],
)
def test_a_letter_in_brackets_is_a_unit_of_small_amounts(
    map_rows: Callable[..., Portfolio], header: str, par: float, expected: float
) -> None:
    rows = [[header if name == "Par" else name for name in HEADER], *([*row[:3], par, *row[4:]] for row in LOANS)]
    assert map_rows(rows).numbers["par_value"].tolist() == [expected] * 3


def test_market_values_are_in_the_unit_of_their_letter(map_rows: Callable[..., Portfolio]) -> None:
    rows = [["LoanX ID", "Issuer", "Par (M)", "Market Value (M)"], *([*row[:2], 2.0, 1.9] for row in LOANS)]
    portfolio = map_rows(rows)
    assert portfolio.numbers["par_value"].tolist() == [2e6] * 3
    assert portfolio.numbers["price"].tolist() == [95.0] * 3


def test_loans_that_are_large_already_are_not_multiplied(make_book: MakeBook) -> None:
    rows = [["Amounts in millions"], HEADER, *([*row[:3], row[3] * 1e3, *row[4:]] for row in LOANS)]
    portfolio = Portfolio.from_workbook(make_book({"Loans": rows}))
    assert portfolio.numbers["par_value"].tolist() == [1e6, 2e6, 3e6]


def test_loans_below_a_summary_on_one_sheet(make_book: MakeBook) -> None:
    """Under notes with identifiers, accounts and forty tests.

    None of them is taken for the other.
    """
    notes = [
        ["Class", "CUSIP", "Original Balance", "Current Balance", "Coupon"],
        *([f"Class {letter}", None, 2_000.0, 1_500.0, 5.5] for letter in "ABC"),
    ]
    tests = [
        ["Test", "Actual", "Limit", "Result"],
        *([f"Defaulted Obligations {at}", 1.0, 5.0, "Pass"] for at in range(40)),
    ]
    accounts = [["Account", "Balance"], ["Principal Collection Account", 7.0]]
    rows = [*notes, [], *accounts, [], *tests, [], ["Collateral"], HEADER, *LOANS, [None, None, None, 6_000.0], [],
            ["Interest Collection Account", 3.0]]  # fmt: skip
    portfolio = Portfolio.from_workbook(make_book({"Report": rows}))
    assert portfolio.numbers["par_value"].tolist() == [1_000.0, 2_000.0, 3_000.0]
    assert portfolio.tranches is not None
    assert portfolio.tranches.current_balance.tolist() == [1_500.0] * 3
    assert (portfolio.deal.principal_cash, portfolio.deal.interest_collected, len(portfolio.facts.tests)) == (
        7.0,
        3.0,
        40,
    )
    assert "is_defaulted" not in portfolio.flags


@every(
    "title",
    [
        "Eligible Investments",
        "Equity Securities",
        "Trade Blotter",
        "Hedge Agreements",
        "Proposed Trades",
        "Redemptions",
    ],
)
def test_a_list_of_other_things_than_loans_is_no_part_of_the_pool(make_book: MakeBook, title: str) -> None:
    equities = [["Issuer", "Security", "CUSIP", "Par Amount", "Price", "Maturity Date"],
             ["Big Bank Prime Fund", "Shares", "38141W273", 5e6, 1.0, "2024-12-01"]]  # fmt: skip
    portfolio = Portfolio.from_workbook(make_book({"Assets": [HEADER, *LOANS], title: equities}))
    assert portfolio.row_count == 3
    assert "page_left_out" in [warning.code for warning in portfolio.notes.warnings]


def test_units_of_a_title_in_the_middle_of_its_row_count(map_rows: Callable[..., Portfolio]) -> None:
    title = [*[None] * 5, "(dollar amounts in thousands)"]
    rows = [["Issuer", "Facility", "Index", "Spread", "Floor", "Par"]]
    rows += [[f"Borrower {at} Inc", "TL", "SOFR", 400.0, 0.5, 1_000.0 + at] for at in range(3)]
    assert map_rows([title, [], *rows]).numbers["par_value"].tolist() == [1_000_000, 1_001_000, 1_002_000]


def test_amounts_without_a_heading_on_a_page_without_names_do_not_make_it_the_holdings(make_book: MakeBook) -> None:
    loans = [[f"LX{100_000 + at}", f"Alder{chr(65 + at)} Inc", 1e6 + at * 1e5] for at in range(12)]
    rates = [["LoanX ID", "Rate Type", "Spread", "Floor", "Maturity Date", "Frequency", None]]
    rates += [
        [identifier, "Floating", 3.5 + at / 4, 0.5, f"20{30 + at % 4}-01-31", "Quarterly", 21_000.5 + at * 77]
        for at, (identifier, _, _) in enumerate(loans)
    ]
    portfolio = Portfolio.from_workbook(make_book({"Part 2": rates, "Part 1": [["LoanX ID", "Issuer", "Par"], *loans]}))
    assert portfolio.sheet_name == "Part 1"
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in loans]
    assert portfolio.numbers["spread"].tolist() == [350.0 + at * 25 for at in range(12)]


def test_a_template_adds_nothing(make_book: MakeBook) -> None:
    template = [["LoanX ID", "Issuer", "Cov-Lite", "Country"], ["LX100001", "Alpha Inc", "Y", "US"]]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": [HEADER, *LOANS], "Upload Template": template}))
    assert "cov_lite" not in portfolio.source_cells


def test_a_header_in_three_rows_counts_where_one_row_of_it_names_an_issuer(make_book: MakeBook) -> None:
    header = [
        [None, "LoanX", "Outstanding", "Market", "Issuer", "Final"],
        [None, "ID", "Balance", "Price", "Domicile", "Maturity"],
    ]
    loans = [
        [f"Alder{chr(65 + at)} Inc", f"LX{100_000 + at}", 1e6 + at, 99.0 - at, "DE", "2030-01-31"] for at in range(12)
    ]
    portfolio = Portfolio.from_workbook(make_book({"Holdings": [*header, *loans]}))
    assert len(portfolio) == 12
    assert portfolio.numbers["par_value"][0] == 1e6


CLASSES = ["A-1-R", "B-R", "C", "D", "E"]


@every("last", [["Sub"], [], ["F"], ["Equity"]])
def test_the_classes_of_a_deal_are_no_loans(make_book: MakeBook, last: list[str]) -> None:
    heads = (["Class", "Size", "Coupon", "Rating"], ["Tranche", "Original Balance", "Current Balance", "Moody's"])
    for head in heads:
        rows = [head, *([name, 3e8 / at, 3e8 / at, "Aaa"] for at, name in enumerate([*CLASSES, *last], 1))]
        assert len(Portfolio.from_workbook(make_book({"Structure": rows}))) == 0
        portfolio = Portfolio.from_workbook(make_book({"Structure": rows, "Assets": [HEADER, *LOANS]}))
        assert portfolio.numbers["par_value"].tolist() == [1_000.0, 2_000.0, 3_000.0]


def test_loans_with_letters_of_facilities_are_no_classes(make_book: MakeBook) -> None:
    rows = [["Tranche", "LoanX ID", "Par", "Maturity Date", "Price"]]
    rows += [[name, f"LX10000{at}", 1e6 + at, date(2030, 1, 31), 99.5] for at, name in enumerate("ABCD")]
    assert len(Portfolio.from_workbook(make_book({"Holdings": rows}))) == 4
