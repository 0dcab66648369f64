"""Sheets on pages: what a reader finds there, whatever the sheets hold."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pikepdf
import pytest

from core.export import pages
from core.export.order import ComplianceRow, ExportOrder, Keys, Lineage, Provenance
from core.export.pages import contents, set_pages, shared_out
from core.grid.sheet import Workbook
from core.recalc.book import Book
from tests.rows import every

ORDER = ExportOrder(
    format="pdf", export_id="exp_1", workbook_id="w", tenant_id="t", created=datetime(2024, 11, 7, 9, 5, tzinfo=UTC),
    lineage=Lineage(workbook_name="Pool #1 [a]", file_name="pool.xlsx", warnings=("Look out",)),
    keys=Keys(signing=b"", redaction=b""),
    compliance=(
        ComplianceRow(test_id="a", name="Largest loan", category="", status="fail", value=3, limit=2.5, cushion=-0.5),
        ComplianceRow(test_id="b", name="Left out", category="", status="skipped", reason="no column"),
    ),
)  # fmt: skip
WHENCE = Provenance(manifest_version="svc_hash_v1", hash_scope="validated", data_hash="ab" * 32, source_hash=None)


def book_of(**sheets: dict[str, list[object]]) -> Workbook:
    book = Book.from_columns(sheets)
    book.recalculate()
    return Workbook(book.sheets, number_formats=book.number_formats)


def shown(book: Workbook) -> tuple[list[str], int]:
    """What is told, and how many pages there are."""
    result, answer = set_pages(book, ORDER, WHENCE, {"email": {"S!Contact": 3}}, ["Told by the export"])
    with pikepdf.open(io.BytesIO(result.data)) as opened:
        return answer, len(opened.pages)


def test_cells_are_never_markup_and_odd_sheets_have_pages() -> None:
    hostile = ["#panic()", "= head", "*b*", '"]', "q" * 70, "\x00", "$x"]
    values = [1.0, -2.5, True, "=1/0", "=NA()", 1e300, 0.1 + 0.2]
    book = book_of(S={"A": ["Name", *hostile], "B": ["Par", *values]}, Empty={"A": ["", ""]}, Bare={})
    answer, count = shown(book)
    assert answer == []
    assert count == 4


def test_wide_sheets_go_on_with_the_first_column_again() -> None:
    columns: dict[str, list[object]] = {"A": ["Loan", *(f"LX{row}" for row in range(5))]}
    for at in range(1, 26):
        columns[chr(65 + at)] = [f"Head {at}", *(f"value {at} of {row} with words" for row in range(5))]
    book = book_of(S=columns)
    content, answer, _ = contents(book, ORDER, WHENCE, {}, [])
    parts = content["sheets"][0]["parts"]
    assert answer == []
    assert [name for part in parts for name in part["heads"][1:]] == [f"Head {at}" for at in range(1, 26)]
    assert len(parts) > 2
    assert all(part["rows"][3][:2] == ["5", "LX3"] for part in parts)
    assert shown(book)[1] == 1 + len(parts), "a page for each part"


def test_cells_show_what_their_formats_do() -> None:
    book = book_of(S={"A": [44_000.5, 0.125, 1234.5, "plain", True, "=1/0", None, 1e-7]})
    formats = ("General", "yyyy-mm-dd", "0.0%", "#,##0.00", "[Red]@")
    sheet = book.sheets[0]
    column = sheet.columns[0]
    assert column is not None
    coded = replace(column, formats=np.array([1, 2, 3, 4, 0, 0, 0, 0], np.uint16))
    book = replace(book, sheets=(replace(sheet, columns=(coded,)),), number_formats=formats)
    (part,) = contents(book, ORDER, WHENCE, {}, [])[0]["sheets"][0]["parts"]
    answer = ["2020-06-18", "12.5%", "1,234.50", "plain", "TRUE", "#DIV/0!", "0.0000001"]
    assert [row[1] for row in part["rows"]] == answer
    assert [row[0] for row in part["rows"]] == ["1", "2", "3", "4", "5", "6", "8"], "as the sheet numbers them"


def test_what_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "CELLS_MAX", 60)
    monkeypatch.setattr(pages, "COLUMNS_MAX", 3)
    book = book_of(
        Long={"A": ["Id", *map(float, range(99))]},
        Wide={name: [name, 1.0] for name in "ABCDE"},
        Odd={"A": ["Name", "日本"], "B": ["Text", "long " * 9]},
    )
    answer, _ = shown(book)
    assert answer == [
        "Sheet 'Long' is not whole in the PDF: 22 of 100 rows.",
        "Sheet 'Wide' is not whole in the PDF: 3 of 5 columns.",
        "Letters that this document's fonts lack are shown as a mark: U+65E5, U+672C.",
    ]


@every(
    "room, sizes, shares",
    [(10, [1, 2, 3], [1, 2, 3]), (10, [100, 2, 3], [5, 2, 3]), (10, [100, 100], [5, 5]), (0, [4], [0]), (9, [], [])],
)
def test_small_sheets_do_not_give_way_to_large_ones(room: int, sizes: list[int], shares: list[int]) -> None:
    assert shared_out(room, sizes) == shares
