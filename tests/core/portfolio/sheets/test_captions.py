"""Headings of user fields, in the words of the table that has their captions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from core.grid.sheet import Workbook
from core.portfolio import Portfolio
from core.portfolio.sheets.captions import with_captions
from tests.rows import every

MakeBook = Callable[..., Workbook]

ASSETS = [
    ["Issuer", "LoanX ID", "ParAmount", "MaturityDate", "UserFlag1", "UserString1", "Note"],
    ["Alpha Inc.", "LX100001", 100.5, "2030-01-31", 1, "Software", "UserFlag"],
    ["Beta LLC", "LX100002", 200.5, "2030-01-31", 0, "Chemicals", "x"],
    ["Gamma Corp", "LX100003", 300.5, "2030-01-31", 1, "Software", "y"],
]
CAPTIONS = [
    ["Table", "Field", "Caption"],
    ["Assets", "UserFlag1", "Cov-Lite"],
    ["Assets", "UserString1", "S&P Industry"],
    ["Others", "ParAmount", "Maturity Date"],
]


def test_columns_are_read_by_their_captions(make_book: MakeBook) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Assets": ASSETS, "UserFieldCaptions": CAPTIONS}))
    assert portfolio["cov_lite"].tolist() == [True, False, True]
    assert portfolio["industry_b"].tolist() == ["Software", "Chemicals", "Software"]
    assert portfolio["par_value"].tolist() == [100.5, 200.5, 300.5]
    assert portfolio.notes.matched_columns["cov_lite"] == "Cov-Lite"


@every(
    "captions",
    [
        [["Table", "Field", "Caption"], ["Others", "UserFlag1", "Cov-Lite"]],
        [["Field", "Meaning"], ["UserFlag1", "Cov-Lite"]],
        [["Field", "Caption"], ["UserFlag1", "Cov-Lite " * 20]],
        [["Field", "Caption"], ["UserFlag", "Cov-Lite"]],  # a part of a name is none
    ],
)
def test_what_is_no_caption_of_the_sheet(make_book: MakeBook, captions: list[Any]) -> None:
    portfolio = Portfolio.from_workbook(make_book({"Assets": ASSETS, "Captions": captions}))
    assert "cov_lite" not in portfolio
    assert len(portfolio) == 3


def test_pages_do_not_print_the_name_of_their_table(make_book: MakeBook) -> None:
    """The one table that captions are of is then the sheet with its fields; of two it could be either."""
    two = [*CAPTIONS, ["Loans", "UserFlag1", "Defaulted"]]
    for captions, is_read in ((CAPTIONS[:3], True), (two, False)):
        book = make_book({"Page 2": ASSETS, "Page 1": captions})
        sheets = [replace(sheet, page_lines=np.ones((sheet.row_count, 2), np.int32)) for sheet in book.sheets]
        assert ("cov_lite" in Portfolio.from_workbook(replace(book, sheets=tuple(sheets)))) == is_read
        assert "cov_lite" not in Portfolio.from_workbook(book)


def test_cells_stay_where_they_are(make_book: MakeBook) -> None:
    book = make_book({"Assets": ASSETS, "Captions": [["Field", "Caption"], ["UserFlag1", "Covenant-Lite (ä)"]]})
    own, table = with_captions(book)
    assert [own.value(0, column) for column in range(7)] == [*ASSETS[0][:4], "Covenant-Lite (ä)", *ASSETS[0][5:]]
    assert [[own.value(row, column) for column in range(7)] for row in range(1, 4)] == ASSETS[1:]
    assert table is book.sheets[1]
    plain = make_book({"Assets": ASSETS})
    assert with_captions(plain)[0] is plain.sheets[0]
