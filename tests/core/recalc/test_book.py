"""A book from a file or from columns.

What it calculates, what its cells may be set to, what it gives back.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter

import core
from core.files.errors import FileRefused
from core.formula.language.errors import LimitExceeded, SyntaxFault
from core.formula.values.locales import UnknownLocale
from core.grid.codec import WorkbookRecord, open_workbook, write_workbook
from core.grid.sheet import Table
from core.recalc.book import Book
from core.recalc.errors import BadReference, BadValue, BookError, PartOfArray, UnknownSheet
from core.recalc.result import Recalculation, same
from tests.conftest import within
from tests.rows import every

Writer = xlsxwriter.Workbook


def read_written(folder: Path, write: Callable[[Writer], None], **options: Any) -> Book:
    """A file that `write` fills, read back."""
    path = folder / "made.xlsx"
    with Writer(str(path), options) as book:
        write(book)
    return core.read(path)


def values(result: Recalculation) -> dict[str, Any]:
    return {f"{row.sheet}!{row.cell}": row.value for row in result}


def test_a_file_is_read_from_wherever_its_bytes_are(tmp_path: Path) -> None:
    read_written(tmp_path, lambda book: book.add_worksheet("Loans").write("B2", 5))
    path = tmp_path / "made.xlsx"
    content = path.read_bytes()
    text = tmp_path / "tape.csv"
    text.write_text("Borrower,Par\nAcme,1\n")
    with path.open("rb") as opened, text.open("rb") as plain, text.open() as wrong:
        for value in (path, str(path), content, bytearray(content), memoryview(content), BytesIO(content), opened):
            assert core.read(value).value("Loans", "B2") == 5
        assert core.read(plain).sheets[0].name == "tape"
        for refused, why in ((wrong, '"rb"'), (5, "not int"), (StringIO("a"), '"rb"'), ([path], "not list")):
            with pytest.raises(TypeError, match=why):
                core.read(refused)  # type: ignore[arg-type]
    assert core.read(b"a,b\n1,2\n", name="loans.csv").sheets[0].name == "loans"
    with pytest.raises(FileRefused, match="empty"):
        core.read(b"")


def test_a_cell_is_set_to_what_a_number_or_a_day_is_elsewhere() -> None:
    book = Book.from_columns({"S": {"A": [Decimal("1.5"), np.float32(2), np.datetime64("NaT")]}})
    for at, value in enumerate((np.int64(4), Decimal("4.5"), np.datetime64("2024-01-02"), float("inf")), 1):
        if value == math.inf:
            with pytest.raises(BadValue):
                book.set("S", f"B{at}", value)
        else:
            book.set("S", f"B{at}", value)  # type: ignore[arg-type]
    assert [book.value("S", cell) for cell in ("A1", "A2", "A3", "B1", "B2", "B3")] == [1.5, 2, None, 4, 4.5, 45293]


def test_a_file_is_recalculated_and_compared(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("Loans")
        page.write_column("A1", [100, 200, 300])
        page.write_column("B1", [0.05, 0.06, 0.07])
        for row in range(1, 4):
            page.write_formula(f"C{row}", f"=A{row}*B{row}", None, [5, 12, 21][row - 1])
        page.write_formula("C4", "=SUM(C1:C3)", None, 38)
        page.write_formula("C5", '=IF(C4>30,"high","low")', None, "high")
        page.write_formula("C6", "=1/0", None, "#DIV/0!")
        page.write_formula("C7", "=A1=100", None, True)
        page.write_formula("C8", '=""', None, "")
        page.write_formula("C9", "=Z99", None, 0)

    book = read_written(tmp_path, write)
    result = book.recalculate()
    rows = {row.cell: row for row in result}
    assert [cell for cell, row in rows.items() if not row.match] == []
    assert rows["C3"].formula == "=A3*B3"
    assert (rows["C3"].value, rows["C3"].cached) == (pytest.approx(21), 21)
    assert (rows["C5"].value, rows["C6"].value, rows["C7"].value) == ("high", "#DIV/0!", True)
    assert (len(result), result.cell_count) == (9, 9)
    book.set("loans", "$A$1", 200)
    again = {row.cell: row for row in book.recalculate()}
    assert {cell: again[cell].value for cell in again} == {"C1": 10, "C4": pytest.approx(43), "C5": "high", "C7": False}
    assert [row.cell for row in again.values() if not row.match] == ["C1", "C4", "C7"]
    assert book["Loans"].value(0, 2) == 10
    assert book["Loans"].formula(0, 2) == "A1*B1"


def test_names_tables_and_sheets_are_found(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        for name, number in (("One", 1), ("Two", 2), ("The third", 3)):
            page = book.add_worksheet(name)
            page.write("A1", number)
        page = book.add_worksheet("Sum")
        page.write_column("A2", [10, 20, 30])
        page.write_column("B2", [1, 2, 3])
        columns = [
            {"header": "Par"},
            {"header": "Units"},
            {"header": "Value", "formula": "=Loans[@[Par]]*Loans[@[Units]]"},
        ]
        page.add_table("A1:C4", {"name": "Loans", "columns": columns})
        book.define_name("rate", "=0.5")
        book.define_name("first", "=One!$A$1")
        book.define_name("Sum!own", "=Sum!$A$2")
        book.define_name("left", "=Sum!A1")
        book.define_name("twice", "=rate*4")
        texts = [
            "=SUM('One:The third'!A1)", "=rate*10", "=first+own", "=SUM(Loans[Value])", "=COLUMNS(Loans[])",
            "=Loans[[#Headers],[Units]]", "=twice", "=SUM(Loans[[Par]:[Units]])", "=ROWS(Loans[#All])",
            "=LAMBDA(x,x+rate)(1)", "=SUM(_xlfn.ANCHORARRAY(One!A1))",
        ]  # fmt: skip
        page.write_column("E1", texts)

    result = read_written(tmp_path, write).recalculate()
    outcome = values(result)
    assert [outcome[f"Sum!C{row}"] for row in (2, 3, 4)] == [10, 40, 90]
    answer = [outcome[f"Sum!E{row}"] for row in range(1, 12)]
    assert answer == [6, 5, 11, 140, 3, "Units", 2, 66, 4, 1.5, "#REF!"]
    assert (result.unsupported, result.faults, result.external) == ({}, (), ())


def test_a_relative_name_is_measured_from_the_cell_that_uses_it() -> None:
    book = Book.from_columns(
        {"S": {"A": [1.0, 2.0, 3.0], "B": ["=left*10", "=left*10", "=left*10"]}}, names={"left": "S!XFD1"}
    )
    book.recalculate()
    moved = [book.value("S", f"B{row}") for row in (1, 2, 3)]
    assert moved == [10, 20, 30]


def test_names_that_go_in_circles_are_errors_and_end() -> None:
    names = {
        "ping": "pong+1",
        "pong": "ping+1",
        "forever": "LAMBDA(n,forever(n+1))",
        "down": "LAMBDA(n,IF(n<1,0,down(n-1)))",
    }
    book = Book.from_columns({"S": {"A": ["=ping", "=forever(1)", "=down(9)", "=down(9)+1"]}}, names=names)
    result = book.recalculate(seconds_max=30)
    assert [row.value for row in result] == ["#REF!", "#NUM!", 0, 1]
    assert result.unsupported == {}


def test_array_formulas_fill_their_range(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("S")
        page.write_row("A1", [1, 2, 3])
        page.write_array_formula("A3:A6", "{=TRANSPOSE(A1:C1)}")
        page.write_array_formula("C3:D4", "{=A1:C1*10}")
        page.write_array_formula("F3:F3", "{=SUM(A1:C1*A1:C1)}")
        page.write_formula("H1", "=SUM(C3:D4)")
        page.write_array_formula("K1:K4", "{=ISERROR(C3:C4)}")
        page.write_array_formula("L1:N2", "{=ISNUMBER(A1:B1)}")
        page.write_array_formula("P1:P3", "{=ERROR.TYPE(C3:C4)}")

    book = read_written(tmp_path, write)
    result = values(book.recalculate())
    assert [result[f"S!A{row}"] for row in range(3, 7)] == [1, 2, 3, "#N/A"]
    assert [result[f"S!{cell}"] for cell in ("C3", "D3", "C4", "D4", "F3", "H1")] == [10, 20, 10, 20, 14, 60]
    # What asks of a value whether it is an error sees #N/A beyond its argument.
    assert [result[f"S!K{row}"] for row in range(1, 5)] == [False, False, True, True]
    assert [result[f"S!{cell}"] for cell in ("L1", "M1", "N1", "L2", "N2")] == [True, True, False, True, False]
    assert [result[f"S!P{row}"] for row in range(1, 4)] == ["#N/A", "#N/A", 7]
    book.set("S", "A1", 5)
    assert values(book.recalculate())["S!C4"] == 50
    for cell in ("A3", "C4"):
        with pytest.raises(PartOfArray):
            book.set("S", cell, 1)
    book.set("S", "F3", 1)


def test_a_spill_grows_shrinks_and_is_blocked(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("S")
        page.write_column("A1", [3, 1, 2])
        page.write("B1", 3)
        page.write_dynamic_array_formula("D1:D3", "=_xlfn.SEQUENCE(B1)*10", None, 10)
        page.write("D2", 20)
        page.write("D3", 30)
        page.write_formula("E1", "=SUM(D1:D10)", None, 60)
        page.write_dynamic_array_formula("F1", "=SUM(_xlfn.ANCHORARRAY(D1))", None, 60)

    book = read_written(tmp_path, write)
    result = book.recalculate()
    assert {row.cell: row.value for row in result} == {
        "D1": 10, "D2": 20, "D3": 30, "E1": 60, "F1": 60,
    }  # fmt: skip
    assert all(row.match for row in result)
    book.set("S", "B1", 4)
    result = book.recalculate()
    assert {row.cell: row.value for row in result} == {
        "D1": 10, "D2": 20, "D3": 30, "D4": 40, "E1": 100, "F1": 100,
    }  # fmt: skip
    book.set("S", "B1", 1)
    result = book.recalculate()
    assert {row.cell: row.value for row in result} == {"D1": 10, "D2": None, "D3": None, "E1": 10, "F1": 10}
    book.set("S", "D3", "in the way")
    book.set("S", "B1", 5)
    book.recalculate()
    assert [book.value("S", f"D{row}") for row in (1, 2, 3)] == ["#SPILL!", None, "in the way"]
    assert book.value("S", "E1") == "#SPILL!"
    book.set("S", "D3", None)
    book.recalculate()
    assert [book.value("S", f"D{row}") for row in range(1, 7)] == [10, 20, 30, 40, 50, None]
    assert book["S"].formulas.dynamic
    book.set("S", "D4", 7)
    book.recalculate()
    assert book.value("S", "D1") == "#SPILL!"
    book.set("S", "D1", 1)
    book.recalculate()
    assert [book.value("S", f"D{row}") for row in range(1, 7)] == [1, None, None, 7, None, None]
    assert book.value("S", "E1") == 8


def test_a_formula_that_is_set_spills() -> None:
    book = Book.from_columns({"S": {"A": [3.0, 1.0, 2.0], "C": ["=SORT(A1:A3)"]}})
    book.set("S", "E1", "=TRANSPOSE(A1:A3)")
    book.recalculate()
    assert [book.value("S", f"C{row}") for row in (1, 2, 3)] == [1, 2, 3]
    assert [book.value("S", cell) for cell in ("E1", "F1", "G1", "H1")] == [3, 1, 2, None]
    assert book.formula("S", "F1") == "=TRANSPOSE(A1:A3)"
    assert book.formula("S", "A1") is None


def test_a_book_of_columns_has_sheets() -> None:
    book = Book.from_columns({"S": {"A": [1.0, None, "x"], "C": ["=A1*2"]}, "Empty": {}})
    assert [sheet.name for sheet in book.sheets] == ["S", "Empty"]
    assert (book["s"].value(2, 0), book["s"].value(0, 2), book["s"].formula(0, 2)) == ("x", None, "A1*2")
    book.recalculate()
    assert book["s"].value(0, 2) == 2
    assert book["Empty"].columns == ()
    mixed = Book.from_columns({"S": {"A": [math.nan, date(2024, 1, 1), np.float64(2), True, "=A2+1"]}})
    mixed.recalculate()
    assert [mixed.value("S", f"A{row}") for row in range(1, 6)] == [None, 45_292, 2, True, 45_293]
    for wrong in ([math.inf], [object()], ["x" * 40_000]):
        with pytest.raises(BadValue):
            Book.from_columns({"S": {"A": wrong}})
    with pytest.raises(BadReference):
        Book.from_columns({"S": {"A1": [1.0]}})


def test_a_whole_column_ends_with_the_used_rows() -> None:
    book = Book.from_columns({"S": {"A": [1.0, 2.0], "B": ["=SUM(A:A)", '=COUNTIF(A:A,">1")', "=SUM(1:1)-SUM(B1)"]}})
    book.recalculate()
    assert [book.value("S", cell) for cell in ("B1", "B2")] == [3, 1]
    book.set("S", "A500", 10)
    book.recalculate()
    assert [book.value("S", cell) for cell in ("B1", "B2")] == [13, 2]


@pytest.mark.parametrize(("date_1904", "serial"), [(False, 45_292.0), (True, 43_830.0)])
def test_dates_count_in_the_book_s_system(tmp_path: Path, date_1904: bool, serial: float) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("S")
        page.write_formula("A1", "=DATE(2024,1,1)", None, serial)
        page.write_formula("A2", '=TEXT(A1,"yyyy-mm-dd")', None, "2024-01-01")
        page.write_formula("A3", "=TODAY()-A1")

    book = read_written(tmp_path, write, date_1904=date_1904)
    result = values(book.recalculate(now=datetime(2024, 1, 31, 12)))  # noqa: DTZ001
    assert result == {"S!A1": serial, "S!A2": "2024-01-01", "S!A3": 30}
    book.set("S", "B1", date(2024, 1, 1))
    assert book.value("S", "B1") == serial


def test_volatile_formulas_are_calculated_each_time() -> None:
    columns = {"A": ["=NOW()", "=RAND()*0+A1", "=1+1", "=OFFSET(A1,2,0)"]}
    book = Book.from_columns({"S": columns})
    book.recalculate(now=datetime(2024, 1, 1), random=lambda: 0.5)  # noqa: DTZ001
    result = book.recalculate(now=datetime(2024, 1, 2), random=lambda: 0.5)  # noqa: DTZ001
    assert {row.cell: row.value for row in result} == {"A1": 45_293, "A2": 45_293, "A4": 2}
    still = book.recalculate()
    assert [fault.cells for fault in still.faults] == [("S!A1",), ("S!A2",)]
    assert book.value("S", "A1") == 45_293


def test_what_cannot_be_calculated_is_told(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("S")
        page.write_formula("A1", "=NOSUCHTHING(1)", None, 5)
        page.write_formula("A2", "=IFERROR(NOSUCHTHING(2),0)", None, 5)
        page.write_formula("A3", "=[1]Other!$A$1*2", None, 42)
        page.write_formula("A4", "=SUM(1,", None, 1)
        page.write_formula("A5", "=A3+1", None, 43)
        page.write_formula("A6", "=unknown_name+1", None, "#NAME?")
        page.write_formula("A7", "=Missing!A1", None, "#REF!")
        page.write_formula("A8", '=REPT("ab",1E9)', None, "#VALUE!")
        page.write_formula("A9", "=SUM(SEQUENCE(1E6,1E6))", None, 1)

    result = read_written(tmp_path, write).recalculate()
    assert result.unsupported == {"NOSUCHTHING": ("S!A1", "S!A2")}
    assert result.external == ("S!A3",)
    assert {cell for fault in result.faults for cell in fault.cells} >= {"S!A4", "S!A9"}
    outcome = values(result)
    assert [outcome[f"S!A{row}"] for row in range(1, 9)] == [
        "#NAME?", "#NAME?", 42, "#NAME?", 43, "#NAME?", "#REF!", "#VALUE!",
    ]  # fmt: skip


def test_a_whole_row_spills_to_the_end_of_the_sheet() -> None:
    book = Book.from_columns({"S": {"A": ["a"], "B": [2.0]}})
    book.set("S", "A3", "=S!1:1")
    book.set("S", "B4", "=S!1:1")
    book.recalculate()
    assert [book.value("S", cell) for cell in ("A3", "B3", "C3", "XFD3", "B4")] == ["a", 2, 0, 0, "#SPILL!"]


def test_edits_are_checked() -> None:
    book = Book.from_columns({"S": {"A": [1.0]}})
    wrong: list[tuple[str, str, Any, type[Exception]]] = [
        ("Nope", "A1", 1, UnknownSheet),
        ("S", "A0", 1, BadReference),
        ("S", "XFE1", 1, BadReference),
        ("S", "A1048577", 1, BadReference),
        ("S", "A1:B2", 1, BadReference),
        ("S", "A1", math.nan, BadValue),
        ("S", "A1", math.inf, BadValue),
        ("S", "A1", object(), BadValue),
        ("S", "A1", "x" * 32_768, BadValue),
        ("S", "A1", "=SUM(", SyntaxFault),
        ("S", "A1", "=" + "1+" * 5_000 + "1", SyntaxFault),
    ]
    for sheet, ref, value, error in wrong:
        with pytest.raises(error):
            book.set(sheet, ref, value)
    with pytest.raises(BookError):
        book.set_column("S", "A", [1.0, 2.0], first_row=1_048_576)
    with pytest.raises(BookError):
        book.value("S", "not a cell")
    book.set("S", "XFD1048576", np.float64(2))
    assert (book.value("S", "A1"), book.value("S", "XFD1048576")) == (1, 2)


def test_numbers_in_place_of_texts_and_texts_again() -> None:
    rows = 10_000
    texts, formulas = ["x"] * rows, [f"=A{row}" for row in range(1, rows + 1)]
    book = Book.from_columns({"S": {"A": texts, "B": formulas}})
    numbers = np.arange(float(rows))
    numbers[[5_000, 9_999]] = math.nan, math.inf
    for _ in range(2):
        book.recalculate()
        assert {book.value("S", f"B{row}") for row in (1, 5_000, rows)} == {"x"}
        book.set_column("S", "A", numbers)
        book.recalculate()
        assert [book.value("S", f"A{row}") for row in (1, 5_000, 5_001, rows)] == [0.0, 4_999.0, None, None]
        assert [book.value("S", f"B{row}") for row in (1, 5_000, 5_001, rows)] == [0.0, 4_999.0, 0.0, 0.0]
        (sheet,) = book.sheets
        assert sheet.value(3, 0) == sheet.value(3, 1) == 3.0
        book.set_column("S", "A", texts)


def test_values_of_every_kind_can_be_set() -> None:
    book = Book.from_columns({"S": {"A": [1.0]}})
    input_value: list[Any] = [5, 2.5, "text", "=", True, None, np.int64(7), '=A1&"!"']
    for row, value in enumerate(input_value, 1):
        book.set("S", f"B{row}", value)
    book.recalculate()
    assert [book.value("S", f"B{row}") for row in range(1, 9)] == [5, 2.5, "text", "=", True, None, 7, "1!"]
    book.set_column("S", "C", ["a", 1, None, True], first_row=3)
    assert [book.value("S", f"C{row}") for row in range(2, 7)] == [None, "a", 1, None, True]
    book.set_column("S", "B", np.array([1.0, math.nan, 3.0]), first_row=6)
    book.recalculate()
    assert [book.value("S", f"B{row}") for row in (6, 7, 8)] == [1, None, 3]


def test_a_book_is_a_workbook_to_everything_else(tmp_path: Path) -> None:
    def write(book: Writer) -> None:
        page = book.add_worksheet("Holdings")
        dated = book.add_format({"num_format": "yyyy-mm-dd"})
        page.write_row("A1", ["Issuer Name", "Par Amount", "Maturity Date"])
        page.write_row("A2", ["Acme", 1000, 46_000])
        page.write_row("A3", ["Beta", 3000])
        page.write("C2", 46_000, dated)
        page.write_formula("C3", "=C2+1", dated, 46_001)
        page.write_formula("B4", "=B2*2", None, 2000)
        page.write("A4", "Gamma")

    book = read_written(tmp_path, write)
    assert isinstance(book, core.Workbook)
    assert core.Portfolio.from_workbook(book).row_count == 3
    book.set("Holdings", "B2", 2000)
    book.recalculate()
    portfolio = core.Portfolio.from_workbook(book)
    assert portfolio.numbers["par_value"].tolist() == [2000, 3000, 4000]
    manifest = write_workbook(book, tmp_path)
    stored = open_workbook(manifest, tmp_path)
    assert stored["Holdings"].value(3, 1) == 4000
    assert stored["Holdings"].formula(3, 1) == "B2*2"
    assert stored["Holdings"].kind(2, 2).name == "DATE"
    book.set("Holdings", "B4", "=B3*2")
    book.set("Holdings", "D2", "=SORT(A2:A4)")
    book.recalculate()
    manifest = write_workbook(book, tmp_path)
    stored = open_workbook(manifest, tmp_path)
    assert stored["Holdings"].formula(3, 1) == "B3*2"
    assert stored["Holdings"].formulas.arrays == {0: "D2:D4"}
    assert [stored["Holdings"].value(row, 3) for row in (1, 2, 3)] == ["Acme", "Beta", "Gamma"]


def test_a_formula_without_a_cell_is_evaluated_over_the_book() -> None:
    table = Table("T", "Data", 0, 0, 2, 0, ("Par",))
    book = Book.from_columns(
        {"Other": {"A": [1.0]}, "Data": {"A": ["Par", 10.0, 20.0], "B": ["=A2*2"]}}, tables=[table]
    )
    book.recalculate()
    assert book.evaluate("=SUM(Data!A2:A3)+Data!B1+SUM(T[Par])") == 80
    assert book.evaluate("=A2*2", sheet="Data") == 20
    with pytest.raises(UnknownSheet):
        book.evaluate("=1", sheet="Nope")


def test_a_calculation_that_takes_too_long_is_given_up_and_can_go_on() -> None:
    slow = "=SUMPRODUCT((A$1:A$20000>{0})*(A$1:A$20000<{0}+1))"
    book = Book.from_columns(
        {"S": {"A": np.arange(20_000.0), "B": [slow.format(row) + f"+{row}" for row in range(4_000)]}}
    )
    with pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.2)
    for row in range(3, 4_001):
        book.set("S", f"B{row}", None)
    book.set("S", "A1", 0.5)
    book.recalculate()
    # One cell of A is between 0 and 1 now: what was calculated before the limit is calculated again.
    assert (book.value("S", "B1"), book.value("S", "B2")) == (1, 1)


@pytest.mark.parametrize(
    ("value", "cached", "match"),
    [
        (1.0, 1.0 + 5e-10, True),
        (1.0, 1.0 + 5e-9, False),
        (1e-13, 0.0, True),
        (0.0, 1e-6, False),
        ("a", "A", False),
        ("", None, True),
        (True, 1.0, False),
        ("#N/A", "#N/A", True),
        (0.0, None, False),
    ],
)
def test_numbers_match_nearly_and_all_else_exactly(value: Any, cached: Any, match: bool) -> None:
    assert same(value, cached) is match


@every(
    "formula, value",
    [
        ('=SUM(INDIRECT("12!H:H"))', 3),
        ('=SUM(INDIRECT("12!1:2"))', 3),
        ('=INDIRECT("12!H2")', 2),
        ('=SUM(INDIRECT("2a.b!A:A"))', 4),
        ('=SUM(INDIRECT("日本!$A:$A"))', 7),
        ('=SUM(INDIRECT("Übersicht!A1:A2"))', 5),
        ('=SUM(INDIRECT("12!R1C8:R2C8",FALSE))', 3),
        ("=SUM(INDIRECT(\"'two words'!A:A\"))", 9),
        ('=INDIRECT("two words!A1")', "#REF!"),
        ('=INDIRECT("a-b!A1")', "#REF!"),
        ('=INDIRECT("12:2a.b!A1")', "#REF!"),
        ('=INDIRECT("!A1")', "#REF!"),
        # A function's name stands for the function where one is asked for, and is an unknown name elsewhere.
        ("=na", "#NAME?"),
        ("=SUM(na)", "#NAME?"),
        ("=IF(TRUE,sum,0)", "#NAME?"),
        ("=IFERROR(na,5)", 5),
        ("=SUM(BYROW({1,2;3,4},SUM))", 10),
        ("=SUM(BYROW({1,2;3,4},_xleta.SUM))", 10),
        ("=LET(f,SUM,f(1,2))", 3),
    ],
)
def test_sheets_and_functions_by_bare_names(formula: str, value: Any) -> None:
    numbers = {"12": [1.0, 2.0], "2a.b": [4.0], "日本": [7.0], "Übersicht": [5.0], "two words": [9.0], "a-b": [8.0]}
    sheets: dict[str, dict[str, Any]] = {
        name: {"H" if name == "12" else "A": number} for name, number in numbers.items()
    }
    book = Book.from_columns(sheets | {"S": {"A": [formula]}})
    book.recalculate()
    assert book.value("S", "A1") == value


def test_formulas_of_a_whole_column_are_told_within_the_time() -> None:
    book = Book.from_columns(
        {"S": {"A": ["=1", 2.0, "=3"], "B": ["=SUM(--ISFORMULA(A:A))", "=ROWS(FORMULATEXT(A:A))"]}}
    )
    with within(3):
        book.recalculate()
    assert [book.value("S", cell) for cell in ("B1", "B2")] == [2, 1_048_576]
    book.set_column("S", "C", np.arange(300_000.0))
    book.set("S", "D1", "=ROWS(FORMULATEXT(A:C))")
    with pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.01)


def test_texts_are_read_by_the_locale_that_is_asked_for() -> None:
    """Another one has everything calculated anew, whatever was kept of the texts."""
    texts = ["1.234,5", "1/2/2024", "3,5"] + ["7,25"] * 40
    formulas = ["=A2+0", "=COUNTIF(A1:A43,7.25)", '=SUMIF(A1:A43,"7,25",C1:C43)']
    book = Book.from_columns({"S": {"A": texts, "B": formulas, "C": [1.0] * 43}})
    cells = ("B1", "B2", "B3")
    american, german = [45_293, 0, 40], [45_323, 40, 40]
    for locale, expected in ((None, american), ("de-DE", german), (None, german), ("en-US", american)):
        result = book.recalculate(locale=locale)
        assert [book.value("S", cell) for cell in cells] == expected
        assert result.locale == book.locale == ("de-DE" if expected is german else "en-US")
    with pytest.raises(UnknownLocale, match="there are en-US"):
        book.recalculate(locale="de-XX")
    assert book.recalculate(locale="DE_de").cell_count == 3
    assert book.evaluate('="1,5"+0') == 1.5


@every("properties, locale", [
    ("<dc:language>de-DE</dc:language>", "de-DE"),
    ("<dc:language>\n de-de </dc:language>", "de-DE"),
    ("<dc:title>Deal</dc:title>", "en-US"),
    ("<dc:language>tlh</dc:language>", "en-US"),
    ("<dc:language>de-DE", "en-US"),
    ("<language>de-DE</language>", "en-US"),
])  # fmt: skip
def test_a_file_that_names_its_language_is_read_by_it(tmp_path: Path, properties: str, locale: str) -> None:
    """Properties that are damaged or say nothing that is known change nothing."""

    def write(book: Writer) -> None:
        book.add_worksheet("S").write_formula("A1", '="1.2.2024"+0', None, 45_323)

    read_written(tmp_path, write)
    with zipfile.ZipFile(tmp_path / "made.xlsx") as old, zipfile.ZipFile(tmp_path / "named.xlsx", "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "docProps/core.xml":
                data = data[: data.index(b"<dc:creator")] + properties.encode() + b"</cp:coreProperties>"
            new.writestr(entry, data)
    book = core.read(tmp_path / "named.xlsx")
    assert book.locale == locale
    stored = write_workbook(book, tmp_path)
    again = Book(open_workbook(WorkbookRecord.from_json(stored.to_json()), tmp_path))
    assert again.recalculate().locale == locale
    assert again.value("S", "A1") == (45_323 if locale == "de-DE" else "#VALUE!")
    assert core.evaluate('="1,5"+0', behind=again.environment()).value == (1.5 if locale == "de-DE" else "#VALUE!")
    assert core.evaluate('="1,5"+0', behind=again.environment(), locale="en-US").value == "#VALUE!"
