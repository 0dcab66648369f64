"""One row of the sheet with the loans.

Its cells with header, field and value, within limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from core.files.read import read_files
from core.files.write import write_workbook_rows
from core.portfolio.assemble.source_row import CELLS_MAX, TEXT_CHARACTERS_MAX, SourceRow, locate_loans, row_of
from core.portfolio.model.fields import mapping_of

HEADER = ("CUSIP", "Issuer Name", "Par Amount", "Maturity Date", "Our Comment")
LOAN = ("00206RGQ9", "Acme Corp.", 1_000_000.0, date(2030, 6, 30), "seen")


def read(folder: Path, rows: Sequence[Sequence[Any]], row: int) -> SourceRow | None:
    path = folder / "book.xlsx"
    write_workbook_rows(path, {"Loans": rows})
    book = read_files([(path.name, path)])
    loans = locate_loans(book, mapping_of("standard_clo"))
    assert loans is not None
    return row_of(book, loans, row)


def test_each_cell_has_header_field_and_value(tmp_path: Path) -> None:
    source_row = read(tmp_path, [("A title",), HEADER, LOAN, LOAN], 3)
    assert source_row is not None
    assert (source_row.sheet, source_row.row) == ("Loans", 3)
    assert [(cell.column, cell.header, cell.field, cell.value) for cell in source_row.cells] == [
        ("A", "CUSIP", "cusip", "00206RGQ9"),
        ("B", "Issuer Name", "borrower_name", "Acme Corp."),
        ("C", "Par Amount", "par_value", 1_000_000.0),
        ("D", "Maturity Date", "maturity_date", "2030-06-30"),
        ("E", "Our Comment", None, "seen"),
    ]


def test_of_two_columns_the_one_that_is_read_has_the_field(tmp_path: Path) -> None:
    """Both headings may be a price; the first one's cells are amounts of currency."""
    header, loan = (*HEADER[:3], "Market Value", "Market Price"), (*LOAN[:3], 942_500.0, 94.25)
    source_row = read(tmp_path, [header, loan, loan], 2)
    assert source_row is not None
    assert {cell.header: cell.field for cell in source_row.cells[3:]} == {"Market Value": None, "Market Price": "price"}


def test_no_row_of_the_loans(tmp_path: Path) -> None:
    for row in (0, 1, 2, 5, 10_000):
        assert read(tmp_path, [("A title",), HEADER, LOAN, LOAN], row) is None, row


def test_long_texts_and_wide_rows_are_cut(tmp_path: Path) -> None:
    more = [f"Column {at}" for at in range(CELLS_MAX)]
    source_row = read(tmp_path, [(*HEADER, *more), (*LOAN[:4], "x" * 2_000, *range(CELLS_MAX)), LOAN], 2)
    assert source_row is not None
    assert len(source_row.cells) == CELLS_MAX
    assert source_row.cells[4].value == "x" * (TEXT_CHARACTERS_MAX - 3) + "..."


def test_a_column_without_header_counts_where_it_has_a_value(tmp_path: Path) -> None:
    rows = [(*HEADER, None, None), (*LOAN, None, "beside"), (*LOAN, None, None)]
    source_row = read(tmp_path, rows, 2)
    assert source_row is not None
    assert [(cell.column, cell.header) for cell in source_row.cells[5:]] == [("G", None)]
    shorter = read(tmp_path, rows, 3)
    assert shorter is not None
    assert len(shorter.cells) == 5
