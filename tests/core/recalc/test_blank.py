"""Formulas that a file has no values for are calculated when it is read, from the values that it has for the others."""

from __future__ import annotations

import re
import signal
import zipfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.worksheet.formula import ArrayFormula

import core
from core.confined.table import PARSE, NamedFile, ParseOrder
from core.files.isolate import parse_isolated, read_by_child
from core.files.read import read
from core.grid.codec import WorkbookRecord, open_workbook, write_workbook
from core.portfolio.model.notes import warn_of_formulas
from core.recalc import blank
from core.recalc.book import with_values
from core.recalc.confined import calculating
from core.values import Kind
from tests.rows import every

NOW = datetime(2024, 2, 29, 12, 0)  # noqa: DTZ001 - a workbook knows no zones

SheetOf = Callable[..., Path]


@pytest.fixture
def sheet_of(tmp_path: Path) -> SheetOf:
    """Writes a workbook of a program that does not calculate.

    It has 1, 2 and 3 in A1:A3.
    """

    def write(cells: dict[str, Any], name: str = "a.xlsx") -> Path:
        book = openpyxl.Workbook()
        sheet = book.active
        assert sheet is not None
        sheet.title = "S"
        for ref, value in {"A1": 1, "A2": 2, "A3": 3, **cells}.items():
            sheet[ref] = value
        sheet["D1"].number_format = "yyyy-mm-dd"
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def carrying(path: Path, values: dict[str, str]) -> Path:
    """The file with values in some of its formula cells, by their addresses."""
    out = path.with_name("carrying.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name).decode()
            for ref, value in values.items() if name.endswith("sheet1.xml") else ():
                head, _, tail = data.partition(f'<c r="{ref}"')
                before, _, rest = tail.partition("</f>")
                assert rest.startswith(("<v></v>", "<v />", "<v/>"))
                data = f'{head}<c r="{ref}"{before}</f><v>{value}</v>{rest[rest.index("</c>") :]}'
            target.writestr(name, data)
    return out


CELLS = (
    ("B1", "=SUM(A1:A3)", 6.0, Kind.NUMBER),
    ("B2", "=B3*2", 20.0, Kind.NUMBER),
    ("B3", "=A1+9", 10.0, Kind.NUMBER),
    ("B4", '=A2&"x"', "2x", Kind.TEXT),
    ("B5", '=""', "", Kind.TEXT),
    ("B6", "=A1=1", True, Kind.BOOLEAN),
    ("B7", "=1/0", "#DIV/0!", Kind.ERROR),
    ("B8", "=C9", 0.0, Kind.NUMBER),
    ("D1", "=A1+45350", 45_351.0, Kind.DATE),
    ("D2", "=TODAY()", 45_351.0, Kind.DATE),
    ("E1", ArrayFormula("E1:E3", "=A1:A3*10"), 10.0, Kind.NUMBER),
    ("E3", None, 30.0, Kind.NUMBER),
)


def test_each_kind_of_value_is_calculated_and_nothing_more_is_done(sheet_of: SheetOf) -> None:
    path = sheet_of({ref: formula for ref, formula, _, _ in CELLS if formula is not None})
    book = core.read(path, now=NOW, random=lambda: 0.5)
    wrong = []
    for ref, _, value, kind in CELLS:
        row, column = int(ref[1:]) - 1, "ABCDE".index(ref[0])
        outcome = book.value("S", ref), book.sheets[0].kind(row, column)
        wrong += [] if outcome == (value, kind) else [(ref, outcome)]
    assert wrong == []
    assert book.filled is not None
    assert (book.filled.cells, book.filled.blank) == (11, 0)
    assert book.filled.message.startswith("11 formulas came without values, as programs write them")
    result = book.recalculate(now=NOW, random=lambda: 0.5)
    assert result.cell_count == 13  # every formula, the first time; the file carried none of their values
    assert {row.cached for row in result} == {None}


def test_values_that_the_file_has_stand_and_are_what_is_calculated_with(sheet_of: SheetOf) -> None:
    path = carrying(sheet_of({"B1": "=A1*2", "B2": "=B1+1", "B3": "=B2+1", "B4": "=B3+1"}), {"B1": "99", "B3": "7"})
    book = core.read(path)
    assert [book.value("S", ref) for ref in ("B1", "B2", "B3", "B4")] == [99.0, 100.0, 7.0, 8.0]
    assert book.filled is not None
    assert book.filled.cells == 2
    book.recalculate()
    assert [book.value("S", ref) for ref in ("B1", "B2", "B3", "B4")] == [2.0, 3.0, 4.0, 5.0]


def test_a_type_without_a_value_is_no_value(sheet_of: SheetOf) -> None:
    path = sheet_of({"B1": "=A1*2", "B2": '=""'})
    out = path.with_name("typed.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = re.sub(r"</f><v(?: ?/>|></v>)", "</f>", source.read(name).decode())
            data = data.replace('<c r="B1"><f>', '<c r="B1" t="str"><f>')
            target.writestr(name, re.sub(r'<c r="B2">(<f>.*?</f>)', r'<c r="B2" t="str">\1<v></v>', data))
    book = core.read(out)
    assert (book.value("S", "B1"), book.value("S", "B2")) == (2.0, "")
    assert book.filled is not None
    assert book.filled.cells == 1


def test_where_all_values_came_nothing_is_said(sheet_of: SheetOf) -> None:
    path = carrying(sheet_of({"B1": "=A1*2"}), {"B1": "99"})
    assert core.read(path).filled is None
    book = read(path)
    assert with_values(book, now=NOW, random=None) is book
    (out := path.parent / "stored").mkdir()
    assert "filled" not in write_workbook(book, out).to_json()


@every(
    "formula, value, refusal_text",
    [
        ("=B1+1", 0.0, "what needs its own result counts as 0: S!B1"),
        ("=RTD(1)", "#NAME?", "functions that Cushion does not have give #NAME?: RTD"),
        ("='[other.xlsx]S'!A1", None, "what refers to other workbooks is blank: S!B1"),
        ("=NOW()", None, "the formula asks for the time, and no clock was given: S!B1"),
        ('="5-Jul"+1', None, "the formula reads a date without a year, and no clock was given: S!B1"),
        ("=RAND()", None, "S!B1"),
    ],
)
def test_what_to_doubt_is_said(sheet_of: SheetOf, formula: str, value: Any, refusal_text: str) -> None:
    book = core.read(sheet_of({"B1": formula}))
    assert book.value("S", "B1") == value
    assert book.filled is not None
    assert refusal_text in book.filled.message
    assert book.filled.blank == (value is None)


def test_past_a_limit_cells_are_blank_and_it_is_said(sheet_of: SheetOf, monkeypatch: pytest.MonkeyPatch) -> None:
    book = read(
        sheet_of(
            {"B1": "=A1", "B2": "=REDUCE(0,SEQUENCE(1000000),LAMBDA(a,b,REDUCE(a,SEQUENCE(1000),LAMBDA(c,d,c+d))))"}
        )
    )
    filled = with_values(book, now=NOW, random=None, seconds_max=0.1)
    assert (filled.sheets[0].value(1, 1), filled.sheets[0].value(0, 0)) == (None, 1.0)
    assert filled.filled is not None
    assert filled.filled.blank >= 1
    assert "takes longer than the limit of 0.1 seconds" in filled.filled.message
    monkeypatch.setattr(blank, "BLANK_CELLS_MAX", 1)
    monkeypatch.setattr("core.recalc.book.BLANK_CELLS_MAX", 1)
    filled = with_values(book, now=NOW, random=None)
    assert filled.filled is not None
    assert (filled.filled.blank, filled.sheets[0].value(0, 1)) == (2, None)
    assert filled.filled.message == "2 formulas came without values and count as blank: more than 1 are not calculated."


def test_a_function_that_does_not_look_at_the_time_is_broken_off(sheet_of: SheetOf, tmp_path: Path) -> None:
    book = read(sheet_of({"B1": "=A1", "B2": "=SUM(NETWORKDAYS(1,SEQUENCE(1000000),SEQUENCE(100000)))"}))
    before = signal.getsignal(signal.SIGALRM)
    try:
        with calculating(NOW.isoformat(), 0.1, tmp_path) as finish:
            filled = finish(book).filled
    finally:
        signal.signal(signal.SIGALRM, before)
    assert filled is not None
    assert filled.blank >= 1
    assert not (tmp_path / "calculating").exists()


def test_the_note_is_stored_with_the_columns(sheet_of: SheetOf, tmp_path: Path) -> None:
    (folder := tmp_path / "stored").mkdir()
    manifest = parse_isolated(sheet_of({"B1": "=A3*2"}), folder, now=NOW).manifest
    back = open_workbook(WorkbookRecord.from_json(manifest.to_json()), folder)
    assert (back.sheets[0].value(0, 1), back.sheets[0].formula(0, 1)) == (6.0, "A3*2")
    assert back.filled == manifest.filled
    assert [(item.code, item.rows) for item in warn_of_formulas(back)] == [("formulas_without_values", 1)]
    assert sorted(path.name for path in folder.iterdir()) == ["sheet-0.safetensors"]
    assert write_workbook(back, folder).filled == manifest.filled


def test_files_of_an_archive_are_calculated_one_by_one(sheet_of: SheetOf, tmp_path: Path) -> None:
    paths = [sheet_of({"B1": "=A3*2"}), sheet_of({"B1": "=A3*5"}, "b.xlsx")]
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for path in paths:
            archive.write(path, path.name)
    book = read(tmp_path / "both.zip", lambda book: with_values(book, now=NOW, random=None))
    assert [sheet.value(0, 1) for sheet in book.sheets] == [6.0, 15.0]
    assert book.filled is not None
    assert (book.filled.cells, book.filled.blank) == (2, 0)
    assert book.filled.message.startswith("'a.xlsx': 1 formula came without a value")


BREAKING = """
from pathlib import Path
from core.confined.table import ParseAnswer, ParseOrder
from core.recalc import confined

def parse(order: ParseOrder, folder: Path) -> ParseAnswer:
    if order.now is not None:
        (folder / "calculating").touch()
        (folder / "sheet-0.safetensors.part").touch()
        import os
        os.abort()
    return confined.parse(order, folder)
"""


def test_a_calculation_that_ends_the_child_leaves_the_file_readable(
    sheet_of: SheetOf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = sheet_of({"B1": "=A1"}), tmp_path / "out"
    folder.mkdir()
    (tmp_path / "breaking.py").write_text(BREAKING, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import msgspec

    answer = read_by_child(
        msgspec.structs.replace(PARSE, does="breaking.parse"),
        ParseOrder((NamedFile(path.name, str(path)),)),
        now=NOW,
        reads=[str(path)],
        writes=folder,
        memory_bytes_max=1024**3,
        seconds_max=60.0,
        stop=None,
    )
    filled = WorkbookRecord.from_json(answer.manifest).filled
    assert filled is not None
    assert (filled.cells, filled.blank) == (1, 1)
    assert [path.name for path in folder.iterdir()] == ["sheet-0.safetensors"]
