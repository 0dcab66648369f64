"""Rows of totals and notes below the data of a sheet are told from the data."""

from __future__ import annotations

from typing import Any

from core.recalc.book import Book
from core.recalc.totals import data_end
from tests.rows import every

DATA = [("A", 1.0, 2.0), ("B", 2.0, 3.0), ("C", 3.0, 4.0)]
BLANK = (None, None, None)
TOTAL = ("Total", "=SUM(B2:B4)", None)
NOTE = ("Unaudited", None, None)

BELOW: list[tuple[str, list[tuple[Any, ...]], int]] = [
    ("nothing", [], 3),
    ("a sum without a label", [(None, "=SUM(B2:B4)", None)], 3),
    ("a sum that takes a gap in", [BLANK, (None, "=SUM(B2:B5)", None)], 3),
    ("a label and a figure", [("Total:", 6.0, None)], 3),
    ("totals in several rows", [BLANK, ("Total", "=SUM(B2:B4)", 9.0), ("Weighted average", None, "=B6/3")], 3),
    ("an average by a product", [(None, None, "=SUMPRODUCT(B2:B4,C2:C4)/SUM(B2:B4)")], 3),
    ("a borrower called Total, all of its cells filled", [("Total", 4.0, 5.0)], 4),
    ("a borrower whose name begins so", [("Total Safety", 4.0, None)], 4),
    ("a total below a long gap", [*[BLANK] * 20, ("Total", 6.0, None)], 3),
    ("what stands far below", [*[BLANK] * 21, ("Total", 6.0, None)], 25),
    ("notes below a total", [TOTAL, BLANK, NOTE, NOTE], 3),
    ("a note right below a total", [TOTAL, NOTE], 3),
    ("a note alone", [BLANK, NOTE], 3),
    ("a loan without its figures", [("D", None, None)], 4),
    ("a figure alone", [BLANK, (None, 4.0, None)], 5),
    ("a sum of another sheet", [("D", "=SUM(Other!B2:B4)", 1.0)], 4),
    ("a sum across", [("D", 4.0, "=SUM(A5:B5)")], 4),
]


@every("what, below, rows", BELOW)
def test_where_the_data_end(what: str, below: list[tuple[Any, ...]], rows: int) -> None:
    cells = [("Id", "Par", "Price"), *DATA, *below]
    book = Book.from_columns({"S": dict(zip("ABC", map(list, zip(*cells, strict=True)), strict=True))})
    assert data_end(book.sheets[0], 1) == 1 + rows, what


def test_a_sum_that_runs_down_the_rows_is_no_total() -> None:
    """Each row adds up those above it, the last one too."""
    for running in ("=SUM(A$1:A{row})", "=SUM(A$1:A{above})"):
        sums = [running.format(row=row, above=row - 1) for row in range(3, 9)]
        book = Book.from_columns({"S": {"A": [float(at) for at in range(8)], "B": [0.0, 0.0, *sums]}})
        assert data_end(book.sheets[0], 0) == 8
