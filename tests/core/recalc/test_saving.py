"""A book is saved as a copy of its file.

The new values in it, every other byte as it was.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter

import core
from core.files.errors import FileRefused
from core.recalc.errors import NotSaved
from tests.rows import every

SHEET = "xl/worksheets/sheet1.xml"
OTHER = "xl/worksheets/sheet2.xml"


@pytest.fixture
def book_path(tmp_path: Path) -> Path:
    """A workbook with what a copy must keep, and formulas that carry 0."""
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet, bold = book.add_worksheet("In"), book.add_format({"bold": True, "num_format": "0.00"})
        for row in range(10):
            sheet.write(row, 0, row + 1)
            sheet.write_formula(row, 1, f"=A{row + 1}*2", bold, 0)
        sheet.write_dynamic_array_formula("D1:D3", "=SEQUENCE(3)*A1", None, 0)
        sheet.write_array_formula("E1:E3", "{=A1:A3*10}", None, 0)
        sheet.write_string("G1", "text")
        sheet.write_rich_string("G2", "a", bold, "b")
        sheet.write_blank("G3", None, bold)
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "=In!$B$1:$B$10"})
        sheet.insert_chart("H1", chart)
        sheet.conditional_format("B1:B10", {"type": "cell", "criteria": ">", "value": 5, "format": bold})
        book.add_worksheet("Other").write("A1", 5)
    return path


def xml_of(path: Path, part: str = SHEET) -> str:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return archive.read(part).decode()


def remade(path: Path, change: Callable[[str], str], part: str = SHEET, **parts: str) -> Path:
    """A copy of a file with one part changed, and others added."""
    out = path.with_name("remade" + path.suffix)
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for info in source.infolist():
            data = source.read(info)
            target.writestr(info, change(data.decode()).encode() if info.filename == part else data)
        for name, text in parts.items():
            target.writestr(name, text)
    return out


def saved(book: core.Book, path: Path) -> Path:
    out = path.with_name("out" + path.suffix)
    book.save(out)
    return out


def test_new_values_stand_in_the_copy_and_all_else_is_kept(book_path: Path) -> None:
    book = core.read(book_path)
    book.recalculate()
    out = saved(book, book_path)
    with zipfile.ZipFile(book_path) as before, zipfile.ZipFile(out) as after:
        assert before.namelist() == after.namelist()
        assert [name for name in before.namelist() if before.read(name) != after.read(name)] == [SHEET]
        kept = [(item.date_time, item.external_attr, item.CRC) for item in before.infolist() if item.filename != SHEET]
        assert kept == [
            (item.date_time, item.external_attr, item.CRC) for item in after.infolist() if item.filename != SHEET
        ]

    def bare(text: str) -> str:
        return re.sub(r"<v>[^<]*</v>", "", text)

    assert bare(xml_of(out)) == bare(xml_of(book_path))
    sheet = openpyxl.load_workbook(out, data_only=True)["In"]
    assert [sheet[f"B{row}"].value for row in (1, 10)] == [2, 20]
    assert [sheet[f"{column}{row}"].value for column in "DE" for row in (1, 2, 3)] == [1, 2, 3, 10, 20, 30]
    formulas = openpyxl.load_workbook(out)["In"]
    assert (formulas["B10"].value, formulas["B10"].font.bold) == ("=A10*2", True)


def test_a_copy_of_what_has_no_new_value_is_the_same_bytes_part_by_part(book_path: Path) -> None:
    book = core.read(book_path)
    book.recalculate()
    out = saved(book, book_path)
    again = core.read(out)
    again.recalculate()
    twice = out.with_name("twice.xlsx")
    again.save(twice)
    with zipfile.ZipFile(out) as before, zipfile.ZipFile(twice) as after:
        for name in before.namelist():
            assert before.read(name) == after.read(name), name
            assert before.getinfo(name).compress_size == after.getinfo(name).compress_size


EDITS = (
    ("A1", 7.5, '<c r="A1"><v>7.5</v></c>'),
    ("A1", 7.5, '<dimension ref="A1:AA31"/>'),
    ("A2", "<& _x0041_ ", '<c r="A2" t="inlineStr"><is><t xml:space="preserve">&lt;&amp; _x005F_x0041_ </t></is></c>'),
    ("A3", True, '<c r="A3" t="b"><v>1</v></c>'),
    ("B4", 4, '<c r="B4" s="1"><v>4</v></c>'),
    ("B5", "=1/0", '<c r="B5" s="1" t="e"><f>1/0</f><v>#DIV/0!</v></c>'),
    ("B6", "=A6=6", '<c r="B6" s="1" t="b"><f>A6=6</f><v>1</v></c>'),
    ("B7", '=CONCAT(A7,"<")', '<c r="B7" s="1" t="str"><f>_xlfn.CONCAT(A7,"&lt;")</f><v>7&lt;</v></c>'),
    ("C8", 1, '<c r="C8"><v>1</v></c></row>'),
    ("G1", None, '<c r="G1"></c>'),
    ("G3", 2, '<c r="G3" s="1"><v>2</v></c>'),
    ("A20", 1, '<row r="20"><c r="A20"><v>1</v></c>'),
    ("AA20", 1, '<c r="AA20"><v>1</v></c></row>'),
    ("C30", "=A3:A4", '<c r="C30" t="b"><f t="array" ref="C30:C31">A3:A4</f><v>1</v></c></row><row r="31"><c r="C31">'),
)  # fmt: skip


def test_edits_of_every_kind(book_path: Path) -> None:
    book = core.read(book_path)
    for ref, value, _ in EDITS:
        if ref != "AA20":
            book.set("In", ref, value)
    book.set_column("In", "AA", [1], first_row=20)
    book.recalculate()
    out = saved(book, book_path)
    text = xml_of(out)
    assert [(ref, text) for ref, _, xml in EDITS if xml not in text] == []
    back = core.read(out)
    for sheet, other_sheet in zip(book.sheets, back.sheets, strict=True):
        for row in range(35):
            for column in range(30):
                assert sheet.value(row, column) == other_sheet.value(row, column), (sheet.name, row, column)
    assert {row.match for row in back.recalculate()} == {True}


def test_a_trimmed_range_is_written_as_excel_has_it(book_path: Path) -> None:
    book = core.read(book_path)
    book.set("In", "J1", "=ROWS(A1:.A99)+ROWS(Other!A.:.A)")
    book.recalculate()
    out = saved(book, book_path)
    assert "<f>ROWS(_xlfn._TRO_TRAILING(A1:A99))+ROWS(_xlfn._TRO_ALL(Other!A:A))</f>" in xml_of(out)
    back = core.read(out)
    assert {row.match for row in back.recalculate()} == {True}
    assert back.value("In", "J1") == 11.0
    back.set("In", "J2", "=FORMULATEXT(J1)")
    back.recalculate()
    assert back.value("In", "J2") == "=ROWS(A1:.A99)+ROWS(Other!A.:.A)"


SHARED = """<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f t="shared" ref="B1:B3" si="0">A1+1</f><v>2</v></c></row>
<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v>3</v></c></row>
<row r="3"><c r="A3"><v>3</v></c><c r="B3"><f t="shared" si="0"/><v>4</v></c></row>"""


def with_rows(path: Path, rows: str, prefix: str = "") -> Path:
    def change(text: str) -> str:
        return re.sub(
            r"<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData>".replace("\\", r"\\"), text, flags=re.S
        )

    return remade(path, change)


def test_members_of_a_shared_formula_keep_it_when_its_first_cell_is_edited(book_path: Path) -> None:
    path = with_rows(book_path, SHARED)
    book = core.read(path)
    book.set("In", "A2", 5)
    book.recalculate()
    text = xml_of(saved(book, path))
    assert '<c r="B2"><f t="shared" si="0"/><v>6</v></c>' in text
    book.set("In", "B1", 9)
    book.recalculate()
    text = xml_of(saved(book, path))
    assert '<c r="B1"><v>9</v></c>' in text
    assert '<c r="B2"><f>A2+1</f><v>6</v></c>' in text
    assert '<c r="B3"><f>A3+1</f><v>4</v></c>' in text


def test_a_formula_that_spills_further_says_so(book_path: Path) -> None:
    book = core.read(book_path)
    book.set("In", "D1", "=SEQUENCE(2)")
    book.recalculate()
    text = xml_of(saved(book, book_path))
    assert '<c r="D1"><f t="array" ref="D1:D2">_xlfn.SEQUENCE(2)</f><v>1</v></c>' in text
    assert '<c r="D3"></c>' in text
    path = remade(book_path, lambda text: text.replace("_xlfn.SEQUENCE(3)*A1", "_xlfn.SEQUENCE(A5)"))
    book = core.read(path)
    book.recalculate()
    text = xml_of(saved(book, path))
    assert '<c r="D1" cm="1"><f t="array" ref="D1:D5">_xlfn.SEQUENCE(A5)</f><v>1</v></c>' in text
    assert '<c r="D5"><v>5</v></c></row>' in text


CELL = '<c r="B1"><f>2</f><v>2</v></c>'

LAYOUTS = {
    "no addresses": ("<row><c><v>1</v></c><c><f>A1+1</f><v>0</v></c></row>", "<c><f>A1+1</f><v>2</v></c>"),
    "an empty row": ('<row r="1" ht="9"/><row r="2" ht="9"><c r="B2"><f>2</f></c></row>', '<row r="1" ht="9"/>'),
    "no value": ('<row r="1"><c r="B1"><f>2</f></c></row>', CELL),
    "a comment": (
        '<row r="1"><!-- <c r="B1"> --><c r="B1"><f>2</f><!-- v --><v/></c></row>',
        f'<!-- <c r="B1"> -->{CELL}',
    ),
    "a text": ('<row r="1"><c r="B1" t="str" s="1"><f>2</f><v>x</v></c></row>', CELL.replace('"B1"', '"B1" s="1"')),
    "an inline text": ('<row r="1"><c r="B1" t="inlineStr"><f>2</f><is><t>x</t></is></c></row>', CELL),
    "what is not known": (
        '<row r="1"><c r="B1" vm="3"><f>2</f><v>0</v><extLst><ext uri="u"/></extLst></c></row>',
        CELL.replace("</c>", '<extLst><ext uri="u"/></extLst></c>'),
    ),
    "apostrophes": ("<row r='1'><c r='B1' t='n' ><f>2</f><v>0</v></c ></row>", CELL.replace('"', "'")),
}


@every("layout", LAYOUTS)
def test_other_programs_sheets(book_path: Path, layout: str) -> None:
    rows, written = LAYOUTS[layout]
    path = with_rows(book_path, rows)
    book = core.read(path)
    book.recalculate()
    assert written in xml_of(saved(book, path))


def test_a_sheet_with_prefixes_in_another_encoding_and_without_any_cell(book_path: Path) -> None:
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    text = f'<?xml version="1.0" encoding="UTF-16"?><x:worksheet xmlns:x="{namespace}"><x:sheetData/></x:worksheet>'
    out = book_path.with_name("wide.xlsx")
    with zipfile.ZipFile(book_path) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, text.encode("utf-16") if name == SHEET else source.read(name))
    book = core.read(out)
    book.set("In", "B2", "é")
    book.set("In", "B3", "=1+1")
    book.recalculate()
    text = xml_of(saved(book, out))
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>')
    assert (
        '<x:sheetData><x:row r="2"><x:c r="B2" t="inlineStr"><x:is><x:t xml:space="preserve">é</x:t></x:is></x:c>'
        "</x:row>"
        '<x:row r="3"><x:c r="B3"><x:f>1+1</x:f><x:v>2</x:v></x:c></x:row></x:sheetData>'
    ) in text


CHAIN = '<calcChain xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><c r="B1" i="1"/></calcChain>'
TYPE = (
    '<Override PartName="/xl/calcChain.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.calcChain+xml"/>'
)
LINK = (
    '<Relationship Id="rId99" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain" Target="calcChain.xml"/>'
)


def test_the_order_of_calculation_is_kept_unless_formulas_come_or_go(book_path: Path) -> None:
    types, links = "[Content_Types].xml", "xl/_rels/workbook.xml.rels"
    path = remade(
        book_path, lambda text: text.replace("</Types>", TYPE + "</Types>"), types, **{"xl/calcChain.xml": CHAIN}
    )
    path = path.rename(path.with_name("b.xlsx"))
    path = remade(path, lambda text: text.replace("</Relationships>", LINK + "</Relationships>"), links)
    book = core.read(path)
    book.recalculate()
    assert xml_of(saved(book, path), "xl/calcChain.xml") == CHAIN
    book.set("In", "B1", 1)
    out = saved(book, path)
    with zipfile.ZipFile(out) as archive:
        assert "xl/calcChain.xml" not in archive.namelist()
    assert (TYPE in xml_of(out, types), LINK in xml_of(out, links)) == (False, False)
    assert xml_of(out, types) == xml_of(book_path, types)
    assert openpyxl.load_workbook(out)["In"]["B1"].value == 1


def test_what_cannot_be_saved_is_refused_and_nothing_is_written(book_path: Path, tmp_path: Path) -> None:
    book = core.read(book_path)
    (text := tmp_path / "a.csv").write_text("a,b\n1,2\n")
    (folder := tmp_path / "folder.xlsx").mkdir()
    before = book_path.read_bytes()
    out = tmp_path / "out.xlsx"
    refused: tuple[tuple[core.Book, Path, str], ...] = (
        (book, book_path, "is the file that the book was read from"),
        (book, tmp_path / "out.xlsm", "the copy of an .xlsx file is one, too"),
        (book, folder, "is no plain file"),
        (core.read(text), out, "only .xlsx and .xlsm files are saved"),
        (core.Book.from_columns({"S": {"A": [1]}}), out, "was not read from a single .xlsx or .xlsm file"),
    )
    for item, target, words in refused:
        with pytest.raises(NotSaved, match=re.escape(words)):
            item.save(target)
    book.set("In", "A1", "=A1:.OFFSET(A1,1,1)")
    with pytest.raises(
        NotSaved, match=r"In!A1: its formula cannot be saved: formulas that trim what is no plain range"
    ):
        book.save(out)
    book.set("In", "A1", "=LET(a,1,a)")
    with pytest.raises(NotSaved, match=r"In!A1: its formula cannot be saved: formulas that name values by LET"):
        book.save(out)
    two, item = '<row r="2"><c r="A2"><f>2</f></c></row>', '<row r="1"><c r="A1"><f>2</f></c></row>'
    for rows in (two + item, f"{item}</sheetData><sheetData>{two}"):
        path = with_rows(book_path, rows)
        with pytest.raises(FileRefused, match="not in their order"):
            core.read(path).save(out)
    link = tmp_path / "link.xlsx"
    link.symlink_to(book_path)
    with pytest.raises(NotSaved, match="is the file that the book was read from"):
        book.save(link)
    path.unlink()
    assert book_path.read_bytes() == before
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.csv", "a.xlsx", "folder.xlsx", "link.xlsx"]
    os.utime(book_path, (1, 1))
    with pytest.raises(NotSaved, match="has changed since it was read"):
        book.save(out)


def test_the_file_itself_is_overwritten_when_asked_for(book_path: Path) -> None:
    book_path.chmod(0o640)
    book = core.read(book_path)
    book.recalculate()
    book.save(book_path, overwrite=True)
    assert '<c r="B2" s="1"><f>A2*2</f><v>4</v></c>' in xml_of(book_path)
    assert book_path.stat().st_mode & 0o777 == 0o640


@every("cut", [1, 7, 100, 333, 1000])
def test_chunks_of_any_size_give_the_same_copy(book_path: Path, cut: int) -> None:
    from core.files._cells import SheetPatcher  # the boundary of a chunk may stand anywhere
    from core.recalc.saving import changes_of

    book = core.read(book_path)
    book.set("In", "A20", "x")
    book.recalculate()
    answer: Any = changes_of(core.read(book_path).sheets[0], book.sheets[0])
    data = xml_of(book_path).encode()
    fields = {name: getattr(answer, name) for name in type(answer).__slots__}

    def patched(size: int) -> bytes:
        patcher = SheetPatcher("S", **fields)
        return b"".join(patcher.patch(data[at : at + size]) for at in range(0, len(data), size)) + patcher.end()

    assert patched(cut) == patched(len(data))
