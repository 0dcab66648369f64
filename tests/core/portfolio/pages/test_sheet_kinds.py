"""What each sheet of a workbook is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.portfolio.model.fields import PROFILES
from core.portfolio.model.notes import PageNote
from core.portfolio.pages.report.read import read_report
from core.portfolio.pages.sheet_kinds import SheetKind, kinds
from core.portfolio.sheets.locate import locate
from core.portfolio.sheets.located import LocatedBook
from tests.core.portfolio.conftest import MakeBook, Rows

LOANS: Rows = [
    ["LoanX ID", "Issuer Name", "Par Amount", "Price"],
    ["LX100001", "Alpha Inc", 1_000.0, 99.0],
    ["LX100002", "Beta Inc", 2_000.0, 98.0],
]
TESTS: Rows = [
    ["Coverage Tests"],
    ["Test", "Actual", "Required", "Result"],
    ["Class A/B Overcollateralization Ratio", "131.20%", "121.00%", "Pass"],
    ["Class C Overcollateralization Ratio", "119.40%", "112.10%", "Pass"],
    ["Class A/B Interest Coverage Ratio", "240.10%", "120.00%", "Pass"],
]
NOTES: Rows = [
    ["Class", "Original Balance", "Current Balance", "Spread"],
    ["A", 300_000_000.0, 300_000_000.0, 1.3],
    ["B", 50_000_000.0, 50_000_000.0, 1.9],
    ["Subordinated", 40_000_000.0, 40_000_000.0, None],
]


def size_and_hash(
    located: LocatedBook, notes: Sequence[PageNote] = (), end: int | None = None
) -> dict[str, tuple[SheetKind, str]]:
    return kinds(located, read_report(located, end), notes)


def test_each_sheet_is_told_with_its_reason(make_book: MakeBook) -> None:
    book = make_book(
        {
            "Cover": [["Report of the trustee"]],
            "Holdings Nov 2024": LOANS,
            "Holdings Oct 2024": LOANS,
            "Ratings": LOANS,
            "Defaults": LOANS,
            "Sales": LOANS,
            "Empty form": LOANS[:1],
            "Tests": TESTS,
            "Notes": NOTES,
            "Old holdings": LOANS,
            "Template": LOANS,
        }
    )
    notes = [
        PageNote(sheet="Ratings", part="left out", reason="it has no rows of loans"),
        PageNote(sheet="Ratings", part="joined", rows=2, by={"loanx_id": 2}),
        PageNote(sheet="Defaults", part="list", rows=1, by={"loanx_id": 1}),
        PageNote(sheet="Sales", part="left out", reason="its title is that of a list of trades or payments"),
    ]
    kinds_of_sheets = size_and_hash(locate(book, PROFILES["standard_clo"], sheet="Holdings Nov 2024"), notes, 3)
    assert list(kinds_of_sheets) == [sheet.name for sheet in book.sheets]
    assert kinds_of_sheets["Cover"] == ("other", "nothing is read from it")
    assert kinds_of_sheets["Holdings Nov 2024"] == ("holdings", "its loans are read")
    assert kinds_of_sheets["Holdings Oct 2024"] == ("old copy", "its name is that of a page of another day")
    assert kinds_of_sheets["Ratings"] == ("page", "2 rows joined, 2 by loanx_id")
    assert kinds_of_sheets["Defaults"] == ("list", "1 row joined, 1 by loanx_id")
    assert kinds_of_sheets["Sales"] == ("other", "its title is that of a list of trades or payments")
    assert kinds_of_sheets["Empty form"] == ("template", "nothing stands below its header")
    assert kinds_of_sheets["Tests"] == ("tests", "it prints 3 tests")
    assert kinds_of_sheets["Notes"][0] == "notes"
    assert kinds_of_sheets["Old holdings"][0] == "old copy"
    assert kinds_of_sheets["Template"] == ("template", "its name is that of a template")


def test_a_list_that_is_empty_and_loans_that_were_added(make_book: MakeBook) -> None:
    book = make_book({"Holdings": LOANS, "Defaulted": [["None"]], "Second": LOANS})
    notes = [
        PageNote(sheet="Defaulted", part="list"),
        PageNote(sheet="Second", part="added", rows=2, rows_without_loan=1),
    ]
    kinds_of_sheets = size_and_hash(locate(book, PROFILES["standard_clo"], sheet="Holdings"), notes, 3)
    assert kinds_of_sheets["Defaulted"] == ("list", "it says that its list is empty")
    assert kinds_of_sheets["Second"] == ("page", "1 loan of it added")


def test_a_hidden_sheet(make_book: MakeBook) -> None:
    book = make_book({"Holdings": LOANS, "More": LOANS})
    book = replace(book, sheets=(book.sheets[0], replace(book.sheets[1], state="hidden")))
    assert size_and_hash(locate(book, PROFILES["standard_clo"]), (), 3)["More"] == ("hidden", "it is hidden")


def test_without_loans_no_sheet_is_holdings(make_book: MakeBook) -> None:
    book = make_book({"Tests": TESTS, "Cover": [["x"]]})
    kinds_of_sheets = size_and_hash(locate(book, PROFILES["standard_clo"]))
    assert [kind for kind, _ in kinds_of_sheets.values()] == ["tests", "other"]
