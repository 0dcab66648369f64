"""Which formulas' values are not covered.

Volatile ones, and whatever reads them, in every way that formulas read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.files.write import Formula
from core.grid.address import cell_name, parse_cell
from core.grid.sheet import Table
from core.provenance import unsteady
from core.provenance.canonical import covered_forms, data_hash
from core.provenance.formulas import UNSTEADY
from tests.core import naive_provenance as naive
from tests.core.provenance.exported import book_of
from tests.rows import every

NAMES = {"Day": "TODAY()", "Base": "S!$A$9", "Through": "Base+Day", "First": "S!$A$1"}

CASES: list[tuple[str, dict[str, str], str]] = [
    ("none", {"A1": "B1+1", "A2": "SUM(A:A)"}, ""),
    ("itself", {"A1": "TODAY()", "A2": "_xlfn.RANDARRAY(1)", "A3": 'CELL("address",B1)', "A4": "LEN(B1)"}, "A1 A2 A3"),
    ("a reader, and its reader", {"A1": "NOW()", "B1": "A1+1", "C1": "B1*2", "D1": "E1"}, "A1 B1 C1"),
    ("a range around it", {"B3": "RAND()", "A1": "SUM(A2:C4)", "A9": "SUM(A4:C8)"}, "A1 B3"),
    ("columns and rows", {"B3": "RAND()", "D1": "SUM(B:B)", "D2": "SUM(C:C)", "E8": "SUM(3:3)"}, "B3 D1 E8"),
    ("another sheet", {"B3": "RAND()", "T!A1": "S!B3", "T!A3": "S!B9", "A8": "T!A1", "A9": "T!B3"}, "B3 T!A1 A8"),
    ("a run of sheets", {"T!B3": "RAND()", "A1": "SUM(S:T!B3)", "A2": "SUM(S:S!B3)"}, "T!B3 A1"),
    ("names", {"A1": "Day", "A2": "Through", "A3": "Base", "A4": "First"}, "A1 A2 A4"),
    ("a name inside a call", {"A1": "IF(Day>1,2,3)", "B1": "A1"}, "A1 B1"),
    ("what only a calculation tells", {"A1": "RAND()", "B1": 'INDIRECT("A"&2)', "B2": "OFFSET(C1,1,1)"}, "A1 B1 B2"),
    ("the same where nothing is volatile", {"B1": 'INDIRECT("A"&2)', "B2": "OFFSET(C1,1,1)"}, ""),
    ("a run is one", {"A1": "TODAY()", "B1": "A1", "B2": "A2", "B3": "A3", "B5": "A5", "B7": "A$9"}, "A1 B1 B2 B3"),
    ("a chain down", {"A1": "TODAY()", **{f"A{row}": f"A{row - 1}+1" for row in range(2, 40)}},
     " ".join(f"A{row}" for row in range(1, 40))),
    ("a chain upwards", {"A9": "TODAY()", **{f"A{row}": f"A{row + 1}*{row}" for row in range(1, 9)}},
     " ".join(f"A{row}" for row in range(1, 10))),
    ("a table", {"A1": "RAND()", "E1": "SUM(Loans[Par])", "E2": "SUM(Other[Par])", "E3": "[@Par]"}, "A1 E1 E3"),
    ("a spill and a union", {"A1": "RAND()", "B1": "SUM((A1,A2))", "C1": "_xlfn.ANCHORARRAY(A1)", "D1": "-A1%"},
     "A1 B1 C1 D1"),
    ("another workbook", {"A1": "RAND()", "B1": "[1]S!A1"}, "A1"),
]  # fmt: skip


def marked(book: Any) -> set[tuple[str, int, int]]:
    result = set()
    for sheet, form in zip(book.sheets, covered_forms(book, book.sheets), strict=True):
        places = zip(sheet.formulas.rows.tolist(), sheet.formulas.columns.tolist(), form.flags.tolist(), strict=True)
        result |= {(sheet.name, row, column) for row, column, flags in places if flags & UNSTEADY}
    return result


def small_book(formulas: dict[str, str], **more: Any) -> Any:
    cells: dict[str, dict[str, Any]] = {"S": {"M20": 1.0}, "T": {"M20": 1.0}}
    for place, text in formulas.items():
        sheet, _, cell = place.rpartition("!")
        cells[sheet or "S"][cell] = Formula(text, 1.5)
    return book_of(cells, **more)


@every("what, formulas, expected", CASES)
def test_what_reads_a_volatile_formula_is_not_covered(what: str, formulas: dict[str, str], expected: str) -> None:
    table = Table("Loans", "S", 0, 0, 3, 1, ("Id", "Par"))
    book = replace(small_book(formulas, names=NAMES), tables=(table, replace(table, name="Other", sheet="T")))
    result = {("" if sheet == "S" else "T!") + cell_name(row, column) for sheet, row, column in marked(book)}
    assert result == set(expected.split()), what


def test_such_values_may_change_and_no_others() -> None:
    def book(first: float, second: float) -> Any:
        cells = {"A1": Formula("TODAY()", first), "A2": Formula("A1+1", first), "B1": Formula("C1+1", second)}
        return book_of({"S": cells})

    assert data_hash(book(1.0, 2.0)).hash == data_hash(book(3.0, 2.0)).hash
    assert data_hash(book(1.0, 2.0)).hash != data_hash(book(1.0, 3.0)).hash
    uncovered = {("S", 0, 0), ("S", 1, 0)}
    assert data_hash(book(1.0, 2.0)).hash == naive.data_hash(book(1.0, 2.0), uncovered=uncovered)


def test_an_array_formula_counts_with_all_that_it_fills() -> None:
    cells = {
        "A1": Formula("RAND()*ROW(1:3)", 0.25), "A2": 0.5, "A3": "x", "B1": Formula("A3", 1.0),
        "C1": Formula("A4", 1.0), "D1": Formula("E1:E2/3", 1 / 3), "D2": 2 / 3, "D3": 2 / 3,
    }  # fmt: skip
    book = book_of({"S": cells}, arrays={("S", "A1"): "A1:A3", ("S", "D1"): "D1:D2"})
    assert marked(book) == {("S", *parse_cell(cell)) for cell in ("A1", "B1")}
    uncovered = {("S", *parse_cell(cell)) for cell in ("A1", "A2", "A3", "B1")}
    assert data_hash(book).hash == naive.data_hash(book, uncovered=uncovered)
    nearly = book_of({"S": cells | {"D2": 0.66666666668}}, arrays={("S", "A1"): "A1:A3", ("S", "D1"): "D1:D2"})
    assert data_hash(nearly).hash == data_hash(book).hash
    outside = book_of({"S": cells | {"D3": 0.66666666668}}, arrays={("S", "A1"): "A1:A3", ("S", "D1"): "D1:D2"})
    assert data_hash(outside).hash != data_hash(book).hash


@every("cell", ("B3", "A4"))
def test_a_data_table_reads_its_formulas_and_input_values(cell: str) -> None:
    cells: dict[str, Any] = {
        "A4": 5.0, "B3": Formula("A1*2", 2.0), "B4": Formula("TABLE(,A1)", 10.0), "B5": 14.0,
        "D4": Formula("B5+1", 15.0),
    }  # fmt: skip
    arrays = {("S", "B4"): "B4:B5"}
    assert marked(book_of({"S": cells}, arrays=arrays)) == set()
    result = marked(book_of({"S": cells | {cell: Formula("RAND()", 0.5)}}, arrays=arrays))
    assert result == {("S", *parse_cell(place)) for place in (cell, "B4", "D4")}


def test_beyond_the_limit_no_formula_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = {"A1": "RAND()", "B1": "C1", "D1": "A1"}
    assert len(marked(small_book(formulas))) == 2
    monkeypatch.setattr(unsteady, "WORK_MAX", 1)
    assert len(marked(small_book(formulas))) == 3


def test_names_that_formulas_use_are_hashed() -> None:
    def hashed(**names: str) -> str:
        return data_hash(book_of({"S": {"A1": Formula("Rate*2", 2.0)}}, names=names)).hash

    item = hashed(Rate="S!$B$1")
    assert item == hashed(Rate="S!$B$1", Other="S!$C$1") == hashed(RATE="s!$B$1")
    assert item != hashed(Rate="S!$B$2")
    assert hashed(Rate="Base", Base="S!$B$1") != hashed(Rate="Base", Base="S!$B$2")
    book = book_of({"S": {"A1": Formula("Rate*2", 2.0)}}, names={"Rate": "Base", "Base": "S!$B$1", "None": "1"})
    assert data_hash(book).hash == naive.data_hash(book, [("base", "'s'!r1c2"), ("rate", "base")])
