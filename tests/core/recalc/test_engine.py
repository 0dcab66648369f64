"""The moving parts of a book.

Edits that are refused whole, formulas of columns, chains that are long.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any
from weakref import ref
from zipfile import ZipFile

import pytest
import xlsxwriter

import core
from core.formula.values import TextPool
from core.grid.sheet import Workbook
from core.recalc.book import Book
from core.recalc.errors import BadValue, PartOfArray
from core.recalc.store import CellColumn


def array_book(folder: Path) -> Book:
    """{=A1:A3*2} in C1:C3, a formula below it, and what FORMULATEXT makes of them."""
    path = folder / "arrays.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        page = book.add_worksheet("S")
        page.write_column("A1", [1, 2, 3])
        page.write_array_formula("C1:C3", "{=A1:A3*2}")
        page.write_formula("C4", "=SUM(C1:C3)")
        page.write_array_formula("D1:D1", "{=SUM(A1:A3*2)}")
        page.write_dynamic_array_formula("E1:E3", "=A1:A3*3")
        for row, cell in enumerate(("C1", "C3", "D1", "E1", "C4"), 1):
            page.write_formula(f"G{row}", f"=_xlfn.FORMULATEXT({cell})")
    return core.read(path)


def test_an_array_formula_of_the_old_kind_is_shown_in_braces(tmp_path: Path) -> None:
    book = array_book(tmp_path)
    book.recalculate()
    shown = [book.value("S", f"G{row}") for row in range(1, 6)]
    assert shown == ["{=A1:A3*2}", "{=A1:A3*2}", "{=SUM(A1:A3*2)}", "=A1:A3*3", "=SUM(C1:C3)"]
    assert book.formula("S", "C1") == "=A1:A3*2"


def test_a_column_that_may_not_be_set_stays_as_it_was(tmp_path: Path) -> None:
    book = array_book(tmp_path)
    book.recalculate()
    with pytest.raises(PartOfArray):
        book.set_column("S", "C", [9.0, 9.0], first_row=3)
    with pytest.raises(PartOfArray):
        book.set("S", "C2", 9.0)
    assert len(book.recalculate()) == 0
    assert [book.value("S", f"C{row}") for row in range(1, 5)] == [2, 4, 6, 12]
    book.set("S", "A1", 10.0)
    rows = {row.cell: (row.value, row.cached) for row in book.recalculate()}
    assert rows["C2"] == (4, 0)  # it still has the value that the file carried


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_an_int_that_is_no_float_is_refused(number: int) -> None:
    book = Book.from_columns({"S": {"A": [1.0]}})
    with pytest.raises(BadValue):
        book.set("S", "A1", number)
    with pytest.raises(BadValue):
        Book.from_columns({"S": {"A": ["x", number]}})


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(A$1:A$3*2)", 12),
        ("=SUM(LEN(A$1:A$3))", 3),
        ("=MAX(IF(A$1:A$3<3,A$1:A$3))", 2),
        ("=SUM(ROW(A$1:A$3))", 6),
        ("=SUMPRODUCT((A$1:A$3>1)*A$1:A$3)", 5),
        ("=SUM(-A$1:A$3)", -6),
        ("=IF(OR(A$1:A$3=2),1,0)", 1),
        ("=INDEX(A$1:A$3,MATCH(1,(A$1:A$3>1)*1,0))", 2),
        ("=SUM(A$1:A$3)", 6),
    ],
)
def test_formulas_of_columns_work_through_arrays_as_those_that_are_set(formula: str, value: Any) -> None:
    # Row 9 is beyond the ranges: a formula of an old file would meet no cell of them there.
    book = Book.from_columns({"S": {"A": [1.0, 2.0, 3.0], "B": [formula] * 9}})
    book.set("S", "C9", formula)
    book.recalculate()
    assert [book.value("S", cell) for cell in ("B1", "B9", "C9")] == [value] * 3


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        ("=ROW(A2:A3)", [2, 3, None]),
        ("=COLUMN(B1:B1)", [2, None, None]),
        ("=ISFORMULA(A1:A2)", [False, False, None]),
        ("=FORMULATEXT(A1:A2)", ["#N/A", "#N/A", None]),
    ],
)
def test_what_tells_of_each_cell_spills(formula: str, values: list[Any]) -> None:
    book = Book.from_columns({"S": {"A": [1.0, 2.0, 3.0], "B": [formula]}})
    book.recalculate()
    assert [book.value("S", f"B{row}") for row in (1, 2, 3)] == values


@pytest.mark.parametrize("rows", [60_000])
def test_two_columns_that_take_turns_are_done_in_one_walk(rows: int) -> None:
    # As opening and closing balances; looking at every row again for each of them would take minutes.
    opening = [1.0, *(f"=B{row}+1" for row in range(1, rows))]
    closing = [f"=A{row}+1" for row in range(1, rows + 1)]
    book = Book.from_columns({"S": {"A": opening, "B": closing}})
    result = book.recalculate(seconds_max=60)
    assert (book.value("S", f"B{rows}"), result.cycles) == (2 * rows, ())


def test_array_formulas_over_more_cells_than_a_file_holds_fill_their_own(tmp_path: Path) -> None:
    small, wide = tmp_path / "small.xlsx", tmp_path / "wide.xlsx"
    with xlsxwriter.Workbook(str(small)) as book:
        book.add_worksheet("S").write_array_formula("B2:B4", "{=7}")
    with ZipFile(small) as source, ZipFile(wide, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name).replace(b'ref="B2:B4"', b'ref="B2:XFD1000000"'))
    result = core.read(wide)
    result.recalculate()
    assert (result.value("S", "B2"), result.formula("S", "B2"), result.formula("S", "B3")) == (7, "=7", None)


def test_each_formula_of_a_column_that_spills_has_its_own_text() -> None:
    columns = {"A": [1.0, 2.0, 3.0], "B": [f"=LET(x,A{row},x+x)" for row in (1, 2, 3)]}
    book = Book.from_columns({"S": columns | {"C": ["=FORMULATEXT(B3)"]}})
    rows = {row.cell: (row.formula, row.value) for row in book.recalculate()}
    assert rows["B3"] == ("=LET(x,A3,x+x)", 6)
    assert rows["C1"][1] == book.formula("S", "B3") == "=LET(x,A3,x+x)"
    assert book["S"].formula(2, 1) == "LET(x,A3,x+x)"


def test_what_works_through_arrays_does_so_after_it_was_stored() -> None:
    columns = {"A": [1.0, 2.0, 3.0], "B": ["=SUM(A$1:A$3*2)"] * 9, "C": ["=A1+1"], "D": ["=SORT(A1:A3)"]}
    book = Book.from_columns({"S": columns})
    book.set("S", "C9", "=SUM(LEN(A1:A3))")
    book.recalculate()
    again = Book(Workbook(book.sheets))
    again.recalculate()
    cells = ("B1", "B9", "C1", "C9", "D3")
    assert [again.value("S", cell) for cell in cells] == [12, 12, 2, 3, 3]
    assert [again.formula("S", cell) for cell in cells] == [book.formula("S", cell) for cell in cells]


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [1.0], [1.0, float("inf")], [1.0, "x" * 32_768]])
def test_a_list_that_another_thread_changed_is_not_written(values: list[Any]) -> None:
    column = CellColumn(0, 4)
    with pytest.raises(RuntimeError, match="the list of values was changed while it was written"):
        column.fill_plain(0, values, 2, TextPool())
    assert not column.kinds.any()


def test_the_cells_of_a_book_are_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        book = Book.from_columns({"S": {"A": [1.0, 2.0], "B": ["=A1*2", "=A2*2"]}})
        book.recalculate()
        assert book._engine is not None
        engine = ref(book._engine)
        del book
        assert engine() is None
    finally:
        gc.enable()
