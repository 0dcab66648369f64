"""Precision as displayed.

What a workbook with that setting holds is what its cells show.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from core.grid.codec import open_workbook, write_workbook
from core.recalc.book import Book, read
from tests.hand_made import Cell, data_table, write_book

ON = 'fullPrecision="0"'


def book_of(tmp_path: Path, cells: Mapping[str, Cell], calculation: str = ON) -> Book:
    return read(write_book(tmp_path / "book.xlsx", cells, calculation=calculation))


def values(book: Book, *cells: str) -> list[object]:
    return [book.value("S", cell) for cell in cells]


def test_formulas_count_on_with_what_is_shown(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": 10.0, "B1": ("=A1/3", "0.00"), "C1": ("=B1*3", "0.00"), "D1": "=A1/3"}
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "B1", "C1", "D1") == [3.33, 9.99, 10 / 3]
    book = book_of(tmp_path, cells, "")
    book.recalculate()
    assert values(book, "B1", "C1") == [10 / 3, 10.0]


def test_constants_count_as_they_are_shown_and_so_does_what_is_set(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"A1": (1.006, "0.00"), "B1": "=A1*100", "C1": (2.5, "0"), "C2": "=C1"})
    book.recalculate()
    assert values(book, "A1", "B1", "C2") == [1.01, 101, 3]
    book.set("S", "A1", 2.345)
    book.set_column("S", "C", [7.5])
    book.recalculate()
    assert values(book, "A1", "B1", "C1", "C2") == [2.35, 235, 8, 8]
    stored = open_workbook(write_workbook(book, tmp_path), tmp_path)
    assert stored.sheets[0].value(0, 0) == 2.35


def test_a_running_sum_is_rounded_at_every_step(tmp_path: Path) -> None:
    """Where whole columns are calculated at once, too."""
    count = 200
    cells: dict[str, Cell] = {f"A{row}": 0.26 for row in range(1, count + 1)}
    cells |= {f"B{row}": (f"=B{row - 1}+A{row}" if row > 1 else "=A1", "0.0") for row in range(1, count + 1)}
    cells |= {f"C{row}": (f"=A{row}*A{row}", "0.0") for row in range(1, count + 1)}
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert book.value("S", f"B{count}") == pytest.approx(0.3 * count)
    assert book.value("S", f"C{count}") == 0.1
    assert book.value("S", "C1") == 0.1


def test_array_formulas_data_tables_and_iterations_are_rounded(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 1.0, "A2": 2.0, "B1": ('<f t="array" ref="B1:B2">A1:A2/3</f>', "0.0"), "B2": (0.0, "0.00"),
        "D1": ("=A1/7", "0.000"), "C2": 2.0, "D2": (data_table("D2:D2", column_input="A1"), "0.0"),
        "F1": ("=1+G1", "0.0"), "G1": ("=F1*0.05", "0.00"),
    }  # fmt: skip
    book = book_of(tmp_path, cells, f'{ON} iterate="1"')
    book.recalculate()
    assert values(book, "B1", "B2", "D1", "D2") == [0.3, 0.67, 0.143, 0.3]
    assert values(book, "F1", "G1") == [1.1, 0.06]


def test_texts_errors_booleans_and_dates_stay(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": ('="1.234"', "0.0"), "A2": ("=1/0", "0.0"), "A3": ("=TRUE", "0.0"), "A4": ("=45000.75", "yyyy-mm-dd"),
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "A1", "A2", "A3", "A4") == ["1.234", "#DIV/0!", True, 45000.75]
