"""Lists that stand below one another on a page.

Each by its own title, and what an empty one says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.files.read import read
from core.grid.sheet import Sheet, Workbook
from core.portfolio import Portfolio
from core.portfolio.model.fields import PROFILES
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.sections import ROWS_MAX, SECTIONS_MAX, empty_lists, lone_texts, sections
from tests.rows import every

LAYOUTS = Path(__file__).parents[4] / "../shared/data/layouts"
MakeSheet = Callable[..., Sheet]
MakeBook = Callable[..., Workbook]
Rows = list[list[Any]]

HEADER = ["LoanX ID", "Issuer", "Par Amount", "Price", "Maturity Date"]
LOANS: Rows = [
    [f"LX10000{at}", f"{name} Inc", 100.0 * at, 99.0, "2030-01-31"]
    for at, name in enumerate(("Alder", "Birch", "Cedar", "Dorn", "Elm", "Fir"), 1)
]
MAPPING = PROFILES["standard_clo"]


def listed(*places: int, header: list[str] | None = None) -> Rows:
    """Return a header and some of the loans below it, by their place from 1."""
    return [(header or HEADER)[:4], *(LOANS[place - 1][:4] for place in places)]


def flags_of(make_book: MakeBook, lists: Rows, name: str = "Lists") -> dict[str, list[int]]:
    """Return the flagged loans, by place, of a page of lists beside all the loans."""
    portfolio = Portfolio.from_workbook(make_book({"Loans": [HEADER, *LOANS], name: lists}))
    assert portfolio.row_count == len(LOANS)
    return {flag: (np.flatnonzero(rows) + 1).tolist() for flag, rows in portfolio.flags.items()}


CAA = ["LoanX ID", "Issuer", "Par Amount", "Moody's Rating"]


@every(
    "name, rows, flags",
    [
        # Each title ends the list above it, one that is in no table too, and whatever the sheet is called.
        ("Lists", [["Defaulted Obligations"], *listed(1), [], ["Caa Obligations"], *listed(2, 3, header=CAA)],
         {"is_defaulted": [1]}),
        ("Defaulted", [["Defaulted Obligations"], *listed(1), [], ["Loans of Some Kind"], *listed(2, header=CAA)],
         {"is_defaulted": [1]}),
        ("Defaulted Caa Discount", [["Caa Obligations"], *listed(2, header=CAA), [], ["Defaulted"], *listed(1)],
         {"is_defaulted": [1]}),
        ("Lists", [["Deferring Obligations"], *listed(2), ["Current Pay Obligations"], *listed(3), [],
                   ["DIP Loans"], *listed(4)],
         {"is_deferring": [2], "is_current_pay": [3], "is_dip": [4]}),
        # One header, and the titles as headings of groups.
        ("Lists", [["Defaulted Obligations"], *listed(1, 2), ["Long Dated Obligations"], LOANS[2][:4]],
         {"is_defaulted": [1, 2], "is_long_dated": [3]}),
        # The title of trades ends a list; a list of what is not discounted is none.
        ("Lists", [["Defaulted"], *listed(1), [], ["Purchases"], *listed(2)], {"is_defaulted": [1]}),
        ("Lists", [["Non-Defaulted Loans"], *listed(1), [], ["Defaulted Loans"], *listed(2)], {"is_defaulted": [2]}),
        # A page break: the page's own titles and its number are no titles of lists.
        ("Lists", [["Example CLO"], ["Defaulted Obligations"], *listed(1), ["Page 1 of 2"], ["Example CLO"],
                   ["Defaulted Obligations"], *listed(2)],
         {"is_defaulted": [1, 2]}),
        ("Lists", [["Defaulted Obligations"], *listed(1), ["Example CLO as of 30-Sep-2024"], *listed(2)],
         {"is_defaulted": [1, 2]}),
        ("Lists", [["Defaulted Obligations"], *listed(1), ["Defaulted Obligations, continued"], *listed(2)],
         {"is_defaulted": [1, 2]}),
        # Headings of groups and names of companies within a list.
        ("Lists", [["Defaulted Obligations"], *listed(1), ["Technology"], LOANS[1][:4], ["Default Systems plc"],
                   LOANS[2][:4]],
         {"is_defaulted": [1, 2, 3]}),
        # The parts of a page that the sheet's name is about.
        ("Defaulted Obligations", [["Moody's"], *listed(1), [], ["Fitch"], *listed(2)], {"is_defaulted": [1, 2]}),
        # A title with a date, or the like, behind it; and a row that only looks like one.
        ("Lists", [["Defaulted Obligations", "30-Sep-2024"], *listed(1), [], ["CCC Obligations", None, 45_565.0],
                   *listed(2)],
         {"is_defaulted": [1]}),
        ("Lists", [["Defaulted Obligations"], *listed(1), ["Deferring Obligations", 100.0], LOANS[1][:4]],
         {"is_defaulted": [1, 2]}),
        # A table of something else ends it.
        ("Lists", [["Defaulted Obligations"], *listed(1), [], ["Largest Industries"], ["Industry", "Par Amount"],
                   ["Alder Inc", 100.0]],
         {"is_defaulted": [1]}),
    ],
)  # fmt: skip
def test_each_title_ends_the_list_above(
    make_book: MakeBook, name: str, rows: Rows, flags: dict[str, list[int]]
) -> None:
    assert flags_of(make_book, rows, name) == flags


def test_a_list_below_the_loans_on_their_own_sheet(make_book: MakeBook) -> None:
    """Under a header of its own.

    What stands under the loans' header again is more of them.
    """
    rows = [["Schedule"], HEADER, *LOANS, [], ["Defaulted Obligations"], CAA, LOANS[1][:4]]
    portfolio = Portfolio.from_workbook(make_book({"Report": rows}))
    assert portfolio.numbers["par_value"].tolist() == [row[2] for row in LOANS]
    assert portfolio.flags["is_defaulted"].tolist() == [0, 1, 0, 0, 0, 0]
    assert [(page.sheet, page.title) for page in portfolio.notes.pages] == [("Report", "Defaulted Obligations")]


def test_where_the_lists_of_a_page_end(make_sheet: MakeSheet) -> None:
    rows = [["Defaulted"], *listed(1), [], [None, "Discount"], *listed(2, header=CAA), ["Total", None, 200.0]]
    sheet = make_sheet(rows)
    page = header.find_page(sheet, MAPPING, frozenset(("loanx_id",)), 0, 3)
    assert page is not None
    first, second = sections(sheet, page, MAPPING)
    assert (first.end, second.title, second.header.row, second.end) == (4, "Discount", 5, None)
    assert (second.has_header, second.is_like_first) == (True, False)
    assert [lone_text.text for lone_text in lone_texts(sheet, 0, 100)] == ["Defaulted", "Discount"]


def test_a_page_of_many_titles_is_looked_at_up_to_a_limit(make_sheet: MakeSheet) -> None:
    names = [f"List {first_letter}{second_letter}" for first_letter in "ABCDEFG" for second_letter in "ABCDEFG"]
    rows = [HEADER, *(row for name in names for row in ([name], CAA, LOANS[0][:4]))]
    sheet = make_sheet(rows)
    page = header.find_page(sheet, MAPPING, frozenset(("loanx_id",)), 0, 1)
    assert page is not None
    assert len(sections(sheet, page, MAPPING)) == SECTIONS_MAX
    deep = make_sheet([HEADER, *([["x", 1.0]] * ROWS_MAX), ["Defaulted Obligations"]])
    assert lone_texts(deep, 1, deep.row_count) == []


@every(
    "name, rows, flags",
    [
        ("Defaulted Obligations", [["Defaulted Obligations"], ["No data available for this request"]],
         {"is_defaulted"}),
        ("Page 7", [["Example CLO"], ["Defaulted Obligations"], [], ["None"]], {"is_defaulted"}),
        ("Page 7", [["Defaulted Obligations"], HEADER, ["None"], ["Example CLO as of 30-Sep-2024"]], {"is_defaulted"}),
        ("Page 7", [["There are no Defaulted Obligations."]], {"is_defaulted"}),
        ("Lists", [["Defaulted Obligations"], ["None"], ["Deferring Obligations"], ["Nil"]],
         {"is_defaulted", "is_deferring"}),
        # Not of a list, or not empty.
        ("Hedges", [["Hedge Agreements"], ["None"]], set()),
        ("Lists", [["Defaulted Obligations"], *listed(1), ["None"]], set()),
        ("Lists", [["Defaulted Obligations"], ["LoanX ID", "Par"], ["LX100001", "1,000.00"], ["None"]], set()),
        ("Lists", [["Defaulted Obligations"], ["Purchases"], ["None"]], set()),
        ("Lists", [["Defaulted Obligations", "30-Sep-2024"], ["Issuer", "Par"], ["None"]], {"is_defaulted"}),
        ("Lists", [["Non-Defaulted Obligations"], ["None"]], set()),
        ("Defaulted", [["Notes"], *([["x", "y"]] * 9), ["None"]], set()),
    ],
)  # fmt: skip
def test_lists_that_a_page_shows_to_be_empty(make_sheet: MakeSheet, name: str, rows: Rows, flags: set[str]) -> None:
    assert {empty_list.flag for empty_list in empty_lists(make_sheet(rows, name))} == flags


def test_an_empty_list_is_none_and_not_unknown(make_book: MakeBook) -> None:
    empty = [["Defaulted Obligations"], ["No data available for this request"]]
    portfolio = Portfolio.from_workbook(make_book({"Loans": [HEADER, *LOANS], "Defaulted": empty}))
    assert portfolio.flags["is_defaulted"].tolist() == [0] * 6
    assert portfolio.source_cells["is_defaulted"] == "'Defaulted'!A2"
    assert [(page.sheet, page.part, page.fields) for page in portfolio.notes.pages] == [
        ("Defaulted", "list", ["is_defaulted"])
    ]
    assert not [warning for warning in portfolio.notes.warnings if warning.code.startswith("page_")]
    # What a page of loans says stays, and is told.
    rows = [[*HEADER, "Defaulted"], *([*row, "Y" if at == 2 else "N"] for at, row in enumerate(LOANS))]
    portfolio = Portfolio.from_workbook(make_book({"Loans": rows, "Defaulted": empty}))
    assert portfolio.flags["is_defaulted"].tolist() == [0, 0, 1, 0, 0, 0]
    (conflict,) = (warning for warning in portfolio.notes.warnings if warning.code == "page_conflict")
    assert conflict.fields == ("is_defaulted",)
    assert conflict.message.startswith("Sheet 'Defaulted' says that there are none ('Defaulted'!A2), and 1 loan has")
    # A hidden page, and one of another day, say nothing.
    prior = Portfolio.from_workbook(make_book({"Loans": [HEADER, *LOANS], "Prior": empty}))
    assert "is_defaulted" not in prior.flags


@pytest.mark.parametrize("file", [LAYOUTS / "us-pages.xlsx"] if LAYOUTS.exists() else [])
def test_a_report_that_stacks_its_lists(file: Path) -> None:
    """Two defaulted loans; eight of Caa and five of CCC stand below them."""
    portfolio = Portfolio.from_workbook(read(file))
    rows = portfolio.defaulted()
    assert round(float(portfolio.numbers["par_value"][rows].sum()), 2) == 11_731_513.67
    assert [page.rows for page in portfolio.notes.pages if page.sheet == "Defaulted Caa Discount"] == [2, 8, 5]
