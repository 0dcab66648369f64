"""The sheet Pages: page and line of the rows of a document, under the names that its sheets are exported by."""

from __future__ import annotations

from pathlib import Path

import openpyxl

from core.export.origin import HEADER, pages_sheet
from core.export.run import export_workbook
from core.grid.sheet import Workbook
from tests.core.export.test_run import ordered
from tests.core.paged import paged
from tests.core.portfolio.conftest import sheet_from_rows

LOANS = sheet_from_rows([["Issuer", "Par"], *([f"Borrower {at}", 1.0 + at] for at in range(9))], "Loans")
TESTS = sheet_from_rows([["Test", "Result"], ["A", 1.0]], "Pages", index=1)


def values(path: Path, sheet: str) -> list[tuple[object, ...]]:
    return list(openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True))


def test_each_row_has_its_page_and_line() -> None:
    sheet = pages_sheet([paged(LOANS), TESTS])
    assert sheet is not None
    rows = [tuple(sheet.value(row, column) for column in range(4)) for row in range(sheet.row_count)]
    assert rows[0] == HEADER
    assert rows[1:] == [("Loans", row + 1, row // 7 + 1, row % 7 + 4) for row in range(10)]
    assert pages_sheet([LOANS, TESTS]) is None


def test_the_sheet_is_the_last_of_the_exported_ones(tmp_path: Path) -> None:
    """Beside a sheet of that name it has a number; a sheet that is not exported is not listed."""
    book = Workbook((paged(LOANS), paged(TESTS)))
    for sheets, names in ((None, ["Loans", "Pages", "Pages (2)"]), (("Loans",), ["Loans", "Pages"])):
        order = ordered(options={"xlsx_three_zone": False}, sheets=sheets)
        exported = export_workbook(book, order, tmp_path)
        path = tmp_path / exported.main.path
        assert openpyxl.load_workbook(path).sheetnames == names
        assert {row[0] for row in values(path, names[-1])[1:]} == set(names[:-1])
        assert exported.result_summary.sheets == tuple(names)


def test_a_spreadsheet_has_no_such_sheet(tmp_path: Path) -> None:
    exported = export_workbook(Workbook((LOANS,)), ordered(options={"xlsx_three_zone": False}), tmp_path)
    assert openpyxl.load_workbook(tmp_path / exported.main.path).sheetnames == ["Loans"]


def test_delimited_text_of_a_document_is_one_file_still(tmp_path: Path) -> None:
    exported = export_workbook(Workbook((paged(LOANS),)), ordered(format="csv"), tmp_path)
    assert exported.main.name.endswith(".csv")
