"""A workbook of columns comes back as it was written.

By our reader, by openpyxl; its parts are as Excel demands.
"""

from __future__ import annotations

import gc
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.files.read import read
from core.files.write import BookSettings, Formats, FormattedValue, Formula, Properties, SheetPage, sheet_of, write_xlsx
from core.files.write.ranges import Range
from core.files.write.styles import StyleName
from core.grid.column import Text, column_of
from core.grid.sheet import Formulas, Sheet, Table, Workbook, no_formulas
from core.values import ERRORS, Kind

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

ORDER = (
    "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection protectedRanges scenarios "
    "autoFilter sortState dataConsolidate customSheetViews mergeCells phoneticPr conditionalFormatting dataValidations "
    "hyperlinks printOptions pageMargins pageSetup headerFooter rowBreaks colBreaks customProperties cellWatches "
    "ignoredErrors smartTags drawing legacyDrawing legacyDrawingHF picture oleObjects controls webPublishItems "
    "tableParts extLst"
)
"""Of a worksheet's elements (ECMA-376 part 1, 18.3.1.99)."""

CODES = ("General", "0.00%", "yyyy-mm-dd", '"a<b" 0', "#,##0.00;[Red](#,##0.00)", "yyyy-mm-dd hh:mm:ss")
DATES = (2, 5)


def cells_of(book: Workbook) -> dict[tuple[str, int, int], tuple[Any, ...]]:
    """Every cell that holds something: kind, value, format code, formula."""
    result: dict[tuple[str, int, int], tuple[Any, ...]] = {}
    for sheet in book.sheets:
        places = {
            (int(row), int(column)) for row, column in zip(sheet.formulas.rows, sheet.formulas.columns, strict=True)
        }
        for at, column in enumerate(sheet.columns):
            current = None if column is None else column.dense
            for slot, row in enumerate(() if column is None else column.rows().tolist()):
                if current is not None and current.kinds[slot] != Kind.BLANK:
                    places.add((row, at))
        for row, at in places:
            column = sheet.columns[at] if at < sheet.column_count else None
            slot = -1 if column is None else column.slot(row)
            code = "General" if column is None or slot < 0 else book.number_formats[column.dense.formats[slot]]
            result[sheet.name, row, at] = sheet.kind(row, at), sheet.value(row, at), code, sheet.formula(row, at)
    return result


def written(path: Path, book: Workbook, looks: dict[str, Any]) -> Workbook:
    """A workbook as it is read back from its file."""
    write_xlsx(
        path,
        [SheetPage(sheet.name, sheet, **looks) for sheet in book.sheets],
        number_formats=book.number_formats,
        tables=book.tables,
        settings=BookSettings(date_1904=book.date_1904, defined_names=book.defined_names, local_names=book.local_names),
    )
    return read(path)


def drawn_sheet(draw: st.DrawFn, name: str, index: int) -> Sheet:
    """Cells of every kind at far places, formulas of every kind among them."""
    far = st.sampled_from([0, 1, 2, 3, 4, 17, 18, 40, 63, 64, 65, 700])
    texts = draw(
        st.lists(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9),
            min_size=1,
            unique=True,
        )
    )
    texts += ["=1+1", "-1", "@a", "_x0041_", " b ", "<&>", "a\r\nb\t", "\ufffe"]
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        rows = sorted(draw(st.sets(far, max_size=9)))
        kinds = [draw(st.sampled_from([Kind.NUMBER, Kind.TEXT, Kind.BOOLEAN, Kind.ERROR, Kind.DATE])) for _ in rows]
        numbers, codes, formats = [], [], []
        for kind in kinds:
            number = 0.0
            if kind == Kind.NUMBER:
                number = draw(st.floats(allow_nan=False, allow_infinity=False))
            elif kind == Kind.BOOLEAN:
                number = float(draw(st.booleans()))
            elif kind == Kind.ERROR:
                number = float(draw(st.integers(0, len(ERRORS) - 1)))
            elif kind == Kind.DATE:
                number = draw(st.floats(0, 2_958_465))
            numbers.append(number)
            codes.append(draw(st.integers(0, len(texts) - 1)) if kind == Kind.TEXT else -1)
            plain = [at for at in range(len(CODES)) if at not in DATES]
            formats.append(draw(st.sampled_from(DATES if kind == Kind.DATE else plain)))
        arrays = (
            np.array(value, kind) for value, kind in zip((rows, kinds, numbers, codes, formats), "iBdiH", strict=True)
        )
        columns.append(column_of(*arrays) if rows else None)  # type: ignore[arg-type]
    while columns and columns[-1] is None:
        columns.pop()
    stop = max((column.stop for column in columns if column is not None), default=0)
    return Sheet(name, index, "visible", tuple(columns), stop, text_of(texts), drawn_formulas(draw))


def drawn_formulas(draw: st.DrawFn) -> Formulas:
    places = sorted(draw(st.sets(st.tuples(st.integers(0, 20), st.integers(0, 4)), max_size=12)))
    texts = ["A1+$B$2", "_xlfn.IFS(A1,B1)", 'IF(A1<2,"a&b","<x>")', "SUM(A1:A3)", "One!A1"]
    codes, origins, arrays = [], [], {}
    for at, (row, column) in enumerate(places):
        origin = draw(
            st.sampled_from(
                [
                    at,
                    *(
                        other_index
                        for other_index in range(at)
                        if origins[other_index] == other_index and other_index not in arrays
                    ),
                ]
            )
        )
        origins.append(origin)
        codes.append(codes[origin] if origin != at else draw(st.integers(0, len(texts) - 1)))
        if origin == at and draw(st.integers(0, 4)) == 0:
            arrays[at] = openpyxl.utils.get_column_letter(column + 1) + str(row + 1)
    spills = frozenset(at for at in arrays if draw(st.booleans()))
    rows, columns = (np.array([place[at] for place in places], np.int32) for at in (0, 1))
    return Formulas(
        rows, columns, np.array(codes, np.int32), np.array(origins, np.int32), text_of(texts), arrays, spills
    )


def text_of(texts: list[str]) -> Text:
    data = [text.encode() for text in texts]
    offsets = np.concatenate(([0], np.cumsum([len(item) for item in data]))).astype(np.int64)
    return Text(offsets, np.frombuffer(b"".join(data), np.uint8))


RANGES = st.tuples(st.integers(0, 40), st.integers(0, 3), st.integers(0, 40), st.integers(0, 3)).map(
    lambda sizes: (sizes[0], sizes[1], sizes[0] + sizes[2], sizes[1] + sizes[3])
)


@st.composite
def books(draw: st.DrawFn) -> Workbook:
    return Workbook((drawn_sheet(draw, "One", 0), drawn_sheet(draw, "Two", 1)), number_formats=CODES)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    books(), st.lists(RANGES, max_size=3), st.lists(st.tuples(RANGES, st.sampled_from(["input", "note"])), max_size=3)
)
def test_any_workbook_comes_back(
    tmp_path: Path, book: Workbook, unlocked: list[Range], fills: list[tuple[Range, StyleName]]
) -> None:
    """Cells of every kind, in runs far apart.

    Shared formulas, arrays and spills; whatever is styled around them.
    """
    again = written(tmp_path / "a.xlsx", book, {"unlocked": unlocked, "fills": fills, "header_row": 1})
    assert cells_of(again) == cells_of(book)
    for ours, theirs in zip(book.sheets, again.sheets, strict=True):
        assert ours.formulas.arrays == theirs.formulas.arrays
        assert ours.formulas.dynamic == theirs.formulas.dynamic
    shown = openpyxl.load_workbook(tmp_path / "a.xlsx")["One"]
    for top, left, bottom, right in unlocked:
        assert not shown.cell(top + 1, left + 1).protection.locked
        assert not shown.cell(bottom + 1, right + 1).protection.locked
    for (_, _, bottom, right), style in fills[-1:]:
        assert shown.cell(bottom + 1, right + 1).font.i == (style == "note")
    assert shown.cell(90, 9).protection.locked


def look_page(formats: Formats) -> SheetPage:
    """A page with everything that a page can have."""
    rows = [
        ["Test", "Value", "Limit", "Status of it all"],
        [
            "=SUM(A1)",
            FormattedValue(0.125, "0.0%"),
            FormattedValue(0.1, "0.0%"),
            Formula('IF(B2>=C2,"PASS","FAIL")', "PASS"),
        ],
        ["-1", FormattedValue(0.05, "0.0%"), FormattedValue(0.1, "0.0%"), Formula('IF(B3>=C3,"PASS","FAIL")', "FAIL")],
        ["@note", None, None, Formula("NA()", "#N/A")],
    ]
    sheet = replace(sheet_of(rows, formats, merged=[(4, 0, 5, 1)]), hidden_rows=np.array([3, 9], np.int32))
    return SheetPage(
        "Control & <co>",
        sheet,
        header_row=0,
        frozen=(1, 1),
        protected=True,
        unlocked=[(7, 1, 8, 2)],
        tab_colour="1F4E79",
        fills=[((1, 1, 2, 1), "input"), ((3, 0, 3, 3), "note")],
        flags=[((1, 3, 3, 3), {"good": ["PASS"], "bad": ["FAIL", 'say "no"']})],
    )


def test_how_a_page_looks(tmp_path: Path) -> None:
    formats = Formats()
    page = look_page(formats)
    hidden = SheetPage("Far", sheet_of([["x"]], formats, state="hidden"), styled=False, widths=[None, 30.0])
    path = tmp_path / "a.xlsx"
    assert write_xlsx(path, [hidden, page], number_formats=formats).warnings == ()
    book = openpyxl.load_workbook(path)
    result = book["Control & <co>"]
    assert (book["Far"].sheet_state, book.active.title) == ("hidden", result.title)
    assert [result[at].value for at in ("A2", "A3", "A4")] == ["=SUM(A1)", "-1", "@note"]
    assert [result[at].data_type for at in ("A2", "A3", "A4", "D2")] == ["s", "s", "s", "f"]
    assert (result["A1"].font.b, result["A1"].fill.fgColor.rgb, result["D1"].fill.fgColor.rgb) == (
        True,
        "FF1F3864",
        "FF1F3864",
    )
    assert (result["B2"].number_format, result["B2"].fill.fgColor.rgb) == ("0.0%", "FFFFFDE7")
    assert (result["A2"].fill.fill_type, result["B4"].font.i) == (None, True)
    assert [result[at].protection.locked for at in ("B8", "C9", "A8", "B2")] == [False, False, True, True]
    assert result.protection.sheet
    assert not result.protection.password
    assert (result.freeze_panes, result.sheet_properties.tabColor.rgb) == ("B2", "FF1F4E79")
    assert [str(merged) for merged in result.merged_cells.ranges] == ["A5:B6"]
    assert [row for row in range(1, 12) if result.row_dimensions[row].hidden] == [4, 10]
    rules = {
        rule.formula[0]: rule.dxf.font.color.rgb for rules in result.conditional_formatting for rule in rules.rules
    }
    assert rules == {'"PASS"': "FF0B5394", '"FAIL"': "FF9C0006", '"say ""no"""': "FF9C0006"}
    assert (book["Far"].column_dimensions["B"].width, result.column_dimensions["A"].width) == (30.0, 9.2)
    assert [result.row_dimensions[row].height for row in (1, 2, 4)] == [30.0, None, None]
    assert read(path)["Control & <co>"].hidden_rows.tolist() == [3, 9]


def test_parts_have_the_order_that_excel_demands(tmp_path: Path) -> None:
    formats = Formats()
    table = Table("Loans", "Control & <co>", 0, 0, 3, 3, ("Test", "Value", "Limit", "Status of it all"))
    write_xlsx(tmp_path / "a.xlsx", [look_page(formats)], number_formats=formats, tables=[table])
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert archive.namelist()[0] == "[Content_Types].xml"
        for name in archive.namelist():
            root = ElementTree.fromstring(archive.read(name))
            if "worksheets/sheet" in name and not name.endswith("rels"):
                elements = [child.tag.removeprefix(MAIN) for child in root]
                assert elements == sorted(elements, key=ORDER.split().index)
                assert len(elements) > 9
        types = archive.read("[Content_Types].xml").decode()
        names = {name for name in archive.namelist() if f'PartName="/{name}"' in types}
        assert {name for name in archive.namelist() if not name.endswith(".rels")} - names == {"[Content_Types].xml"}


def test_custom_parts_and_properties(tmp_path: Path) -> None:
    sheet = sheet_of([["a"]], Formats())
    xml = b'<p xmlns="urn:x">one</p>'
    properties = Properties(title="T & U", description="d")
    write_xlsx(
        tmp_path / "a.xlsx", [SheetPage("S", sheet)], parts={"urn:x": xml, "urn:y": b"<q/>"}, properties=properties
    )
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert archive.read("customXml/item1.xml") == xml
        assert b"../customXml/item2.xml" in archive.read("xl/_rels/workbook.xml.rels")
    actual_properties = openpyxl.load_workbook(tmp_path / "a.xlsx").properties
    assert (
        actual_properties.title,
        actual_properties.description,
        actual_properties.creator,
        actual_properties.created.year,
    ) == ("T & U", "d", "Cushion", 1980)


def test_what_excel_would_not_open_is_left_out_and_told(tmp_path: Path) -> None:
    """A formula on what is not in the file keeps its value.

    A table that its header row contradicts is no table.
    """
    texts = [
        "[1]Book!A1",
        "'[x.xlsx]S 1'!A1",
        "Gone!A1",
        "'It''s'!A1",
        "One:Gone!A1",
        "T[Par]",
        "\x01",
        "1+" * 4097 + "1",
    ]
    fine = ["One!A1", "'One'!A1", "'Two 2'!$A$1", "#REF!+1", '"Gone!"&"[1]"', "U[[#This Row],[Par]]", "One:'Two 2'!A1"]
    rows = [[Formula(text, 1.0)] for text in texts + fine]
    sheet = sheet_of([["Par"], [1.0]], Formats(), name="One", merged=[(5, 0, 6, 0), (6, 0, 7, 0), (9, 9, 9, 9)])
    tables = (
        Table("T", "One", 0, 0, 1, 0, ("Other",)),
        Table("U", "One", 0, 0, 1, 0, ("Par",)),
        Table("V", "X", 0, 0, 1, 0, ("P",)),
    )
    names = {"ok": "One!$A$1", "gone": "Gone!$A$1", "A1": "1", "OK": "2", "u": "3"}
    actual_written = write_xlsx(
        tmp_path / "a.xlsx",
        [SheetPage("One", sheet), SheetPage("Two 2", sheet_of(rows, Formats()))],
        settings=BookSettings(defined_names=names, local_names={("one", "mine"): "One!$A$2", ("gone", "x"): "1"}),
        tables=(*tables, replace(tables[1], name="Over"), replace(tables[1], name="u", first_row=5, last_row=6)),
    )
    book = read(tmp_path / "a.xlsx")
    result = [book["Two 2"].formula(row, 0) for row in range(len(rows))]
    assert result == [None] * len(texts) + fine
    assert [book["Two 2"].value(row, 0) for row in range(len(rows))] == [1.0] * len(rows)
    assert [table.name for table in book.tables] == ["U"]
    assert (book.defined_names, book.local_names) == ({"ok": "One!$A$1"}, {("One", "mine"): "One!$A$2"})
    assert book["One"].merged == ((5, 0, 6, 0),)
    values = "Formulas of which only the values were written, since they "
    assert [
        line.removeprefix(values).partition(": its")[0].partition(": what")[0] for line in actual_written.warnings
    ] == [
        "The table 'T' of 'One' was not written",
        "The table 'Over' of 'One' was not written",
        "The table 'u' of 'One' was not written",
        "The name 'gone' was not written",
        "The name 'A1' was not written",
        "The name 'OK' was not written",
        "The name 'u' was not written",
        "The name 'x' was not written",
        "Merged ranges of 'One' left out, since they overlap others: 1.",
        "are none that a spreadsheet can hold: 2.",
        "read a sheet that is not written: 3.",
        "read a table that is not written: 1.",
        "read another file: 2.",
    ]


def test_memory_does_not_grow_with_the_sheet(tmp_path: Path) -> None:
    """The XML of these 3,000,000 cells takes 120 MB.

    The columns are the same arrays, so that they take little.
    """
    rows = 300_000
    numbers = np.arange(rows) / 8
    arrays = np.ones(rows, np.uint8), numbers, np.full(rows, -1, np.int32), np.zeros(rows, np.uint16)
    column = column_of(np.arange(rows), *arrays)
    page = SheetPage("S", Sheet("S", 0, "visible", (column,) * 10, rows, text_of([]), no_formulas()))
    write_xlsx(tmp_path / "a.xlsx", [replace(page, sheet=sheet_of([[1.0]], Formats()))])
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = peak_bytes()
    write_xlsx(tmp_path / "a.xlsx", [page])
    assert peak_bytes() - before < 16 * 1024 * 1024
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        assert archive.getinfo("xl/worksheets/sheet1.xml").file_size > 80_000_000


@pytest.mark.parametrize("raised", [KeyboardInterrupt, OSError])
def test_an_interrupt_as_a_part_is_opened_stays_an_interrupt(
    raised: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`zipfile` then has a part that is open for writing and cannot be closed: a warning of its would be an error."""

    def interrupt(*_: object) -> None:
        raise raised

    monkeypatch.setattr(zipfile, "_ZipWriteFile", interrupt)
    with pytest.raises(raised):
        write_xlsx(tmp_path / "a.xlsx", [SheetPage("S", sheet_of([[1.0]], Formats()))])
    gc.collect()
    assert not list(tmp_path.iterdir())


def peak_bytes() -> int:
    """The most memory that this process had."""
    match = re.search(r"VmHWM:\s*([0-9]+) kB", Path("/proc/self/status").read_text())
    assert match
    return 1024 * int(match[1])
