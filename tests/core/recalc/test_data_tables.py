"""What-if data tables follow their model.

Right values: the model's own formula for each input, worked out by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest

import core
from core.files.write.xlsx import BookSettings, SheetPage, write_xlsx
from core.formula.language import LimitExceeded
from core.grid.codec import WorkbookRecord, open_workbook, write_workbook
from core.recalc.book import Book, read
from core.recalc.errors import PartOfArray
from tests.hand_made import MAIN, Cell, data_table, write_book

ONE: dict[str, Cell] = {
    "A1": 2.0, "B1": "=A1*C1", "C1": 10.0, "B3": "=B1", "A4": 5.0, "A5": 7.0, "A6": 9.0,
    "B4": data_table("B4:B6", column_input="A1"), "B5": 0.0, "B6": 0.0, "B7": "=SUM(B4:B6)",
}  # fmt: skip
TWO: dict[str, Cell] = {
    "A1": 2.0, "A2": 3.0, "B1": "=A1*10+A2", "D4": "=B1", "E4": 1.0, "F4": 2.0, "D5": 7.0, "D6": 8.0,
    "E5": data_table("E5:F6", row_input="A1", column_input="A2"), "F5": 0.0, "E6": 0.0, "F6": 0.0,
}  # fmt: skip


def book_of(tmp_path: Path, cells: Mapping[str, Cell], calculation: str = "") -> Book:
    return read(write_book(tmp_path / "book.xlsx", cells, calculation=calculation))


def values(book: Book, *cells: str) -> list[object]:
    return [book.value("S", cell) for cell in cells]


def test_a_table_with_a_column_input_follows_its_model(tmp_path: Path) -> None:
    book = book_of(tmp_path, ONE)
    for value in (10.0, 20.0, -1.0):
        book.set("S", "C1", value)
        result = book.recalculate()
        assert values(book, "B4", "B5", "B6", "B7") == [5 * value, 7 * value, 9 * value, 21 * value]
        assert values(book, "A1", "B1", "B3") == [2, 2 * value, 2 * value], "the model stands as it stood"
        assert (result.unsupported, result.faults, result.cycles) == ({}, (), ())
    book.set("S", "A5", 70)
    assert {row.cell for row in book.recalculate()} == {"B4", "B5", "B6", "B7"}
    assert values(book, "B5", "B7") == [-70, -84]


def test_a_table_with_a_row_input_has_its_formulas_to_the_left(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 2.0, "B1": "=A1*10", "D5": "=B1", "D6": '="x"&A1', "E4": 1.0, "F4": 4.0,
        "E5": data_table("E5:F6", row_input="A1"), "F5": 0.0, "E6": 0.0, "F6": 0.0,
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "E5", "F5", "E6", "F6") == [10, 40, "x1", "x4"]


def test_a_table_with_two_inputs(tmp_path: Path) -> None:
    book = book_of(tmp_path, TWO)
    book.recalculate()
    assert values(book, "E5", "F5", "E6", "F6") == [17, 27, 18, 28]
    book.set("S", "B1", "=A1-A2")
    book.recalculate()
    assert values(book, "E5", "F5", "E6", "F6", "B1") == [-6, -5, -7, -6, -1]


def test_several_formulas_over_one_input(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 2.0, "B3": "=A1^2", "C3": "=1/A1", "D3": "=IF(A1>1,TRUE,NA())", "A4": 0.0, "A5": 3.0,
        "B4": data_table("B4:D5", column_input="A1"), "C4": 0.0, "D4": 0.0, "B5": 0.0, "C5": 0.0, "D5": 0.0,
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "B4", "C4", "D4", "B5", "C5", "D5") == [0, "#DIV/0!", "#N/A", 9, pytest.approx(1 / 3), True]


def test_a_table_that_reads_another_follows_it(tmp_path: Path) -> None:
    """The second one changes an input of the first one's model, so that is tried anew for each of its values."""
    cells = {
        "A1": 2.0, "A2": 1.0, "B1": "=A1*A2", "D1": "=B1", "C2": 1.0, "C3": 2.0,
        "D2": data_table("D2:D3", column_input="A1"), "D3": 0.0, "D5": "=SUM(D2:D3)",
        "G1": "=D5", "F2": 10.0, "F3": 100.0, "G2": data_table("G2:G3", column_input="A2"), "G3": 0.0,
        "H1": "=G2+G3",
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    for value in (1.0, 5.0):
        book.set("S", "A2", value)
        book.recalculate()
        assert values(book, "D2", "D3", "D5", "G2", "G3", "H1") == [value, 2 * value, 3 * value, 30, 300, 330]


def test_tables_over_the_same_input_do_not_wait_for_each_other(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": 2.0, "B1": "=A1*3"}
    for at in range(20):
        top = 3 + 4 * at
        cells |= {f"B{top}": "=B1", f"A{top + 1}": float(at), f"A{top + 2}": 1.0}
        cells |= {f"B{top + 1}": data_table(f"B{top + 1}:B{top + 2}", column_input="A1"), f"B{top + 2}": 0.0}
    book = book_of(tmp_path, cells)
    book.recalculate(seconds_max=10)
    assert values(book, "B4", "B80", "B81") == [0, 57, 3]


def test_a_table_whose_formula_reads_it_is_a_circular_reference(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 2.0, "B1": "=A1+B3", "B2": "=B1", "A3": 1.0, "B3": data_table("B3:B3", column_input="A1"),
    }  # fmt: skip
    assert book_of(tmp_path, cells).recalculate().cycles == (("S!B3",),)


def test_a_table_over_an_iterated_model(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": 1000.0, "B1": "=A1+C1", "C1": "=B1*D1", "D1": 0.05, "F1": "=B1", "E2": 100.0, "E3": 200.0,
        "F2": data_table("F2:F3", column_input="A1"), "F3": 0.0,
    }  # fmt: skip
    book = book_of(tmp_path, cells, 'iterate="1" iterateDelta="1E-10"')
    for rate in (0.05, 0.2):
        book.set("S", "D1", rate)
        assert book.recalculate().cycles == ()
        right = [1000 / (1 - rate), 100 / (1 - rate), 200 / (1 - rate)]
        assert values(book, "B1", "F2", "F3") == pytest.approx(right, rel=1e-9)


def test_a_table_beside_a_loop_that_nothing_reads(tmp_path: Path) -> None:
    book = book_of(tmp_path, ONE | {"Z1": "=Z1+1"}, 'iterate="1" iterateCount="3"')
    book.recalculate()
    assert values(book, "Z1", "B4", "B7") == [3, 50, 210]


def test_a_table_over_the_limit_keeps_its_values_and_says_so(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": 1.0, "B1": "=A1", "B2": data_table("B2:C600000", column_input="A1"), "C2": 4.0}
    book = book_of(tmp_path, cells)
    (fault,) = book.recalculate(seconds_max=20).faults
    assert fault.reason == "a data table of 1,199,998 cells is over the limit of 1,000,000, and keeps its values"
    assert values(book, "B2", "C2") == [0, 4]


def test_a_try_that_does_not_converge_or_needs_its_own_result_is_told(tmp_path: Path) -> None:
    """The model itself settles, or reads no cell twice.

    Only with another input it does not.
    """
    cells: dict[str, Cell] = {
        "A1": 0.0, "B1": "=B1*0+A1*(B1+1)", "C1": "=B1", "D2": 2.0, "E1": "=C1",
        "E2": data_table("E2:E2", column_input="A1"),
    }  # fmt: skip
    result = book_of(tmp_path, cells, 'iterate="1" iterateCount="20"').recalculate()
    assert (result.unconverged, result.cycles) == (("S!E2",), ())
    cells |= {"B1": "=IF(A1=0,1,C1)"}
    (cycle,) = book_of(tmp_path, cells).recalculate().cycles
    assert set(cycle) == {"S!B1", "S!C1"}


def test_random_numbers_are_drawn_for_each_try_and_the_model_keeps_its_own(tmp_path: Path) -> None:
    """The input cell is a blank one, as simulations have it.

    It is no cell of the sheet afterwards.
    """
    cells: dict[str, Cell] = {
        "B1": "=RAND()", "B2": "=B1", "A3": 1.0, "A4": 2.0,
        "B3": data_table("B3:B4", column_input="Z99"), "B4": 0.0, "B5": "=B1-B2",
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    drawn = iter([0.5, 0.25, 0.125])
    book.recalculate(random=lambda: next(drawn))
    assert values(book, "B1", "B2", "B3", "B4", "B5") == [0.5, 0.5, 0.25, 0.125, 0]
    assert (book.sheets[0].row_count, book.sheets[0].column_count) == (5, 2)


def test_input_cells_with_formulas_and_models_that_spill_get_back_what_they_held(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {
        "A1": "=A2+1", "A2": 1.0, "B1": "=SUM(J1:J20)", "B3": "=B1", "A4": 4.0, "A5": 1.0,
        "B4": data_table("B4:B5", column_input="A1"), "B5": 0.0,
    }  # fmt: skip
    book = book_of(tmp_path, cells)
    book.set("S", "J1", "=SEQUENCE(A1)*10")
    book.recalculate()
    assert values(book, "B4", "B5", "A1", "B1", "J1", "J2", "J3", "J4") == [100, 10, 2, 30, 10, 20, None, None]
    book.set("S", "A2", 2)
    book.recalculate()
    assert values(book, "B4", "B5", "A1", "B1", "J3", "J4") == [100, 10, 3, 60, 30, None]


def test_lookups_over_what_is_tried_see_the_values_of_the_try(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": 0.0, "B1": "=VLOOKUP(30,E1:F40,2,FALSE)", "B3": "=B1", "A4": 1.0, "A5": 2.0}
    cells |= {f"E{row}": float(row) for row in range(1, 41)} | {f"F{row}": f"=E{row}*$A$1" for row in range(1, 41)}
    cells |= {"B4": data_table("B4:B5", column_input="A1"), "B5": 0.0}
    book = book_of(tmp_path, cells)
    book.recalculate()
    assert values(book, "B1", "B4", "B5", "F40") == [0, 30, 60, 0]


def test_the_cells_of_a_table_are_its_own(tmp_path: Path) -> None:
    book = book_of(tmp_path, ONE)
    assert (book.formula("S", "B4"), book.formula("S", "B6")) == ("=TABLE(,A1)", "=TABLE(,A1)")
    with pytest.raises(PartOfArray, match="a data table"):
        book.set("S", "B5", 1)


@pytest.mark.parametrize(
    "element",
    [
        '<f t="dataTable" ref="B4:B6" dt2D="0" dtr="0" r1="A1" del1="1"/>',
        '<f t="dataTable" ref="B4:B6" dt2D="0" dtr="0"/>',
        '<f t="dataTable" ref="B4:B6" r1="ZZZZ1"/>',
        '<f t="dataTable" ref="B4:B6" dt2D="1" dtr="1" r1="A1"/>',
        '<f t="dataTable" r1="A1"/>',
        '<f t="array" ref="B4:B6">TABLE(,A0)</f>',
    ],
)
def test_a_table_that_lost_its_input_keeps_its_values(tmp_path: Path, element: str) -> None:
    book = book_of(tmp_path, ONE | {"B4": element, "B5": 3.0, "B6": 4.0})
    book.set("S", "C1", 20)
    book.recalculate()
    assert values(book, "B4", "B5", "B6", "B7") == [0, 3, 4, 7]


def test_a_table_at_the_edge_of_a_sheet_keeps_its_values(tmp_path: Path) -> None:
    book = book_of(tmp_path, {"A1": data_table("A1:A2", column_input="C1"), "A2": 8.0, "C1": 5.0})
    book.recalculate()
    assert values(book, "A1", "A2") == [0, 8]


def test_it_survives_the_store_and_the_files_that_are_written(tmp_path: Path) -> None:
    for name, cells in (("one", ONE), ("two", TWO)):
        path = write_book(tmp_path / f"{name}.xlsx", cells, calculation='iterate="1" iterateCount="7"')
        folder = tmp_path / name
        folder.mkdir()
        manifest = write_workbook(read(path), folder)
        stored = open_workbook(WorkbookRecord.from_json(manifest.to_json()), folder)
        written = tmp_path / f"{name}-written.xlsx"
        pages = [SheetPage(sheet.name, sheet) for sheet in stored.sheets]
        write_xlsx(
            written, pages, number_formats=stored.number_formats, settings=BookSettings(calculation=stored.calculation)
        )
        assert element_of(written) == element_of(path)
        again = read(written)
        assert again.calculation == stored.calculation
        book = core.read(path)
        book.set("S", "A1", 3)
        book.recalculate()
        book.save(tmp_path / f"{name}-saved.xlsx")
        assert element_of(tmp_path / f"{name}-saved.xlsx") == element_of(path)
        saved = read(tmp_path / f"{name}-saved.xlsx")
        assert saved.calculation.iterations_max == 7
        assert [row.match for row in saved.recalculate()].count(False) == 0


def element_of(path: Path) -> dict[str, str]:
    """The attributes of a file's data table."""
    with ZipFile(path) as archive:
        tree = ET.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    (result,) = [item for item in tree.iter(f"{{{MAIN}}}f") if item.get("t") == "dataTable"]
    return dict(result.attrib)


def test_a_table_without_values_is_tried_when_the_file_is_read(tmp_path: Path) -> None:
    book = read(write_book(tmp_path / "book.xlsx", ONE, has_values=False))
    assert values(book, "B1", "B4", "B5", "B7") == [20, 50, 70, 210]


def test_tries_are_given_up_at_the_deadline_and_everything_stands_as_before(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {"A1": 1.0, "B1": "=SUM(D1:D3000)"} | {f"D{row}": f"=A1*{row}" for row in range(1, 3001)}
    cells |= {"F1": "=B1"} | {f"E{row}": float(row) for row in range(2, 5002)}
    cells |= {"F2": data_table("F2:F5001", column_input="A1")} | {f"F{row}": 0.0 for row in range(3, 5002)}
    book = book_of(tmp_path, cells)
    with pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.3)
    assert values(book, "A1", "D2", "F5001") == [1, 2, 0]
    book.set("S", "A1", 5)
    with pytest.raises(LimitExceeded):
        book.recalculate(seconds_max=0.3)
    assert values(book, "A1", "D2", "B1") == [5, 10, 5 * 3000 * 3001 / 2]
