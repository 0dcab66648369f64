"""What of a workbook comes along with some of its sheets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.export.foundation import Foundation, chosen_places, foundation_of
from core.export.order import ExportError
from core.grid.sheet import Table, Workbook
from core.recalc.book import Book
from tests.rows import every

TABLES = (Table("Loans", "Mid", 0, 0, 2, 1, ("Id", "Par")), Table("Far", "Other", 0, 0, 2, 0, ("Id",)))
NAMES = {"Rate": "Data!$B$1", "Away": "Other!$A$1", "Nested": "Away*2", "Fine": "Rate+1", "Torn": "1+", "_xlnm.X": "1"}


def book_of(**formulas: str) -> Workbook:
    """Sheets Data, Mid and Other, the formulas in a column of Data."""
    cells = {"A": list(formulas.values()), "B": [1.0, 2.0, 3.0]}
    sheets = {"Data": cells, "Mid": {"A": ["Id", "a", "b"], "B": ["Par", 1.0, 2.0]}, "Other": {"A": ["Id", 2.0]}}
    result = Book.from_columns(sheets, names=NAMES, tables=TABLES)
    result.recalculate()
    return replace(
        Workbook(result.sheets, defined_names=NAMES, tables=TABLES), local_names={("Mid", "Here"): "Mid!$A$1"}
    )


def chosen(book: Workbook, names: list[str] | None) -> Foundation:
    return foundation_of(book, [book.sheets[at] for at in chosen_places(book, names)])


@every(
    "formula, kept",
    [
        ("=SUM(B1:B3)", True),
        ("=Data!B1*2", True),
        ("=data!B1*2", True),
        ("=SUM(Other!A1:A3)", False),
        ("=Mid!A1", True),
        ("=SUM(Data:Mid!A1)", True),
        ("=SUM(Data:Other!A1)", False),
        ("=Rate", True),
        ("=Fine", True),
        ("=Away", False),
        ("=Nested", False),
        ("=Mid!Here", True),
        ("=NoSuchName", True),
        ("=SUM(Loans[Par])", True),
        ("=SUM(Loans)", True),
        ("=SUM(Far[Id])", False),
        ("=ROWS(Far)", False),
        ("=[@Par]", False),
        ("='[1]Far away'!A1", False),
        ("=[2]!Name", False),
        ('=IF(B1>0,"Other!A1",1)', True),
        ("=INDEX(B1:B3,MATCH(1,Other!A:A,0))", False),
    ],
)
def test_a_formula_stays_where_all_that_it_reads_does(formula: str, kept: bool) -> None:
    book = book_of(one=formula)
    result = chosen(book, ["Data", "Mid"])
    sheet = result.book["Data"]
    assert (sheet.formula(0, 0) is not None) == kept
    assert result.dropped == (not kept)
    assert sheet.value(0, 0) == book["Data"].value(0, 0), "its value stays"


def test_dropped_formulas_leave_the_others_as_they_are() -> None:
    """Shared formulas, arrays and origins still point at each other behind a hole."""
    book = Book.from_columns({"A": {"A": ["=Z!A1"] + [f"=B{row}*2" for row in range(2, 9)], "B": [1.0] * 9}, "Z": {}})
    book.recalculate()
    only = chosen(book, ["a"])
    assert [only.book["A"].formula(row, 0) for row in range(8)] == [None, *(f"B{row}*2" for row in range(2, 9))]
    assert only.dropped == 1


def test_names_come_along_where_they_mean_the_same() -> None:
    book = book_of(one="=1")
    result = chosen(book, ["Data"])
    assert result.book.defined_names == {"Rate": "Data!$B$1", "Fine": "Rate+1"}
    assert result.book.local_names == {}
    assert result.names_dropped == 3, "a program's own names are not told of"
    whole = chosen(book, None)
    assert whole.book.defined_names == {name: NAMES[name] for name in ("Rate", "Away", "Nested", "Fine")}
    assert whole.book.local_names == {("Mid", "Here"): "Mid!$A$1"}
    odd = replace(book, defined_names={"A1": "1", "no space": "1", "R1C1": "1", "Ok.1": "1", "OK.1": "2"})
    assert foundation_of(odd, odd.sheets).book.defined_names == {"OK.1": "2"}


def test_tables_come_along_where_they_can_be_written() -> None:
    book = book_of(one="=1")
    assert chosen(book, ["Data", "Mid"]).book.tables == TABLES[:1]
    assert chosen(book, ["Data"]).book.tables == ()
    renamed = replace(book, tables=(replace(TABLES[0], columns=("Id", "Other head")),))
    assert foundation_of(renamed, renamed.sheets).book.tables == (), "its headings are not those of the cells"


def test_sheets_are_chosen_by_name_in_the_order_of_the_workbook() -> None:
    book = book_of(one="=1")
    assert chosen_places(book, ["OTHER", "data", "Data"]) == [0, 2]
    with pytest.raises(ExportError, match="no sheet 'Nope'"):
        chosen_places(book, ["Data", "Nope"])
    with pytest.raises(ExportError, match="at least one sheet"):
        chosen_places(book, [])
