"""A report on one sheet, its tables below each other.

Each is read as a sheet of its own, with its cells in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.sheets.stacked import split_tables
from core.recalc.book import Book
from tests.rows import every

MakeBook = Callable[..., Workbook]

TESTS = [
    ["Coverage Tests"],
    ["Test", "Current", "Trigger", "Result"],
    ["Class A Overcollateralization Ratio", "130.00%", "120.00%", "PASS"],
]
NOTES = [
    ["Notes"],
    ["Class", "Original Balance", "Current Balance", "Spread"],
    ["Class A", 500.0, 400.0, "1.50%"],
    ["Class B", 100.0, 100.0, "2.50%"],
]
DEFAULTED = [["Defaulted Obligations"], ["Asset ID", "Issuer", "Par"], ["LX100002", "Beta 2", 110.0]]
FIRST = [
    ["Schedule of Investments - Part I"],
    ["Asset ID", "Issuer", "Principal Balance", "Country"],
    *([f"LX10000{at}", f"Name {at}", 100.0 + at, "US"] for at in range(8)),
]
SECOND = [
    ["Schedule of Investments - Part II"],
    ["Asset ID", "Facility", "Spread", "Stated Maturity", "Cov-Lite"],
    *([f"LX10000{7 - at}", "Term Loan", "4.00%", "31-Jan-2030", "Yes" if at < 2 else "No"] for at in range(8)),
]


def stacked(*tables: list[list[Any]]) -> list[list[Any]]:
    """Return the tables below each other, with blank rows between."""
    return [row for table in tables for row in ([None], *table, [None])]


@every(
    "tables",
    [
        [TESTS, NOTES, FIRST, SECOND],
        [FIRST, SECOND, NOTES, TESTS],
        [SECOND, TESTS, FIRST, NOTES],
        [DEFAULTED, NOTES, TESTS, FIRST, SECOND],
    ],
)
def test_parts_of_a_schedule_on_one_sheet_are_joined(make_book: MakeBook, tables: list[Any]) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Report": stacked(*tables)}))
    assert len(portfolio) == 8
    order = portfolio["loanx_id"].argsort()
    assert portfolio["par_value"][order].tolist() == [100.0 + at for at in range(8)]
    assert portfolio["cov_lite"][order].tolist() == [False] * 6 + [True] * 2
    assert portfolio["spread"].tolist() == [400.0] * 8
    assert portfolio.tranches is not None
    assert portfolio.tranches.classes == ("Class A", "Class B")
    assert [fact.value for fact in portfolio.facts.tests] == [130.0]


def test_a_book_that_calculates_is_parted(make_book: MakeBook) -> None:
    """It is what `cushion.read` returns."""
    book = make_book({"Report": stacked(TESTS, NOTES, FIRST, SECOND)})
    portfolio = Portfolio.from_workbook(Book(book))
    assert len(portfolio) == 8
    assert portfolio["spread"].tolist() == [400.0] * 8


def test_cells_keep_their_places(make_book: MakeBook) -> None:
    rows = stacked(TESTS, NOTES, FIRST, SECOND)
    book = make_book({"Report": rows})
    apart = split_tables(book)
    assert apart is not None
    assert [sheet.name for sheet in apart.sheets] == ["Report"] * 4
    assert [sheet.index for sheet in apart.sheets] == [0, 1, 2, 3]
    whole = book.sheets[0]
    for row in range(whole.row_count):
        values = [whole.value(row, column) for column in range(whole.column_count)]
        seen = [[sheet.value(row, column) for column in range(whole.column_count)] for sheet in apart.sheets]
        assert sum(own == values for own in seen) == (1 if any(value is not None for value in values) else 4)
    portfolio = Portfolio.from_workbook(book)
    row = next(at for at, cells in enumerate(rows) if cells[0] == "LX100000" and cells[1] == "Name 0")
    assert portfolio.source_cells["par_value"] == f"'Report'!C{row + 1}:C{row + 8}"


@every(
    "sheets",
    [
        {"Report": stacked(FIRST)},
        {"Report": stacked(TESTS), "Loans": stacked(FIRST, SECOND)},  # the sheets of such a book say what is what
        {"Loans": [*FIRST[1:], FIRST[1], ["LX100099", "Name 99", 5.0, "US"]]},  # the same header again
        {"Loans": [["Group", None, "Amounts", None], *FIRST[1:]]},
        {"Loans": [*FIRST[1:4], ["LX100098", "A name", "no figure", "US"], *FIRST[4:]]},  # texts between loans
    ],
)
def test_other_books_stay_whole(make_book: MakeBook, sheets: dict[str, Any]) -> None:
    assert split_tables(make_book(sheets)) is None
