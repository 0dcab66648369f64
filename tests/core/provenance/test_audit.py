# ruff: noqa: E501 - a row of the table is a line
"""A forger's table.

What was done to a true export, and the verdict and the place that it must give.

Whatever programs read differently is `invalid_provenance`; whatever shows something else than was exported is
`modified`. No row may be `original`, but for the last tables: what Excel and LibreOffice do to a file that they save.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
import xlsxwriter

from core.export.order import ExportOrder, Keys, Lineage
from core.export.run import export_workbook
from core.files.read import read
from core.provenance.finding import FINDINGS_MAX
from core.provenance.manifest import read_manifest, sign
from core.provenance.verify import FileVerdict, Record, verify
from tests.rows import every

KEY = b"k" * 32
OPEN = "http://schemas.openxmlformats.org"
OFFICE = f"{OPEN}/officeDocument/2006/relationships"
MC = f"{OPEN}/markup-compatibility/2006"
SHEET, NOTES, WORKSPACE = (f"xl/worksheets/sheet{at}.xml" for at in (1, 2, 3))
SHEET_LINKS, BOOK, LINKS = "xl/worksheets/_rels/sheet1.xml.rels", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
STRINGS, STYLES, TYPES, ROOT = "xl/sharedStrings.xml", "xl/styles.xml", "[Content_Types].xml", "_rels/.rels"
INVALID, MODIFIED = "invalid_provenance", "modified"

Parts = dict[str, bytes]
Forge = Callable[[Parts], None]


class Export(NamedTuple):
    parts: Mapping[str, bytes]
    record: Record

    def verdict(self, content: bytes, folder: Path, *, record: bool = True) -> FileVerdict:
        path = folder / "made.xlsx"
        path.write_bytes(content)
        return verify(path, {"k1": KEY}, self.record if record else None)


def source(path: Path) -> Path:
    """A workbook with everything that the table changes."""
    with xlsxwriter.Workbook(str(path)) as book:
        loans, notes = book.add_worksheet("Loans"), book.add_worksheet("Notes")
        money, percent, day = (book.add_format({"num_format": code}) for code in ("#,##0.00", "0.00%", "yyyy-mm-dd"))
        loans.write_row(0, 0, ["Id", "Par", "Share", "Maturity", "Live", "Twice", "Best"])
        for row in range(1, 6):
            loans.write_string(row, 0, f"L{row}")
            loans.write_number(row, 1, 7.5 if row == 1 else 1000.25 * row, money)
            loans.write_number(row, 2, row / 40, percent)
            loans.write_number(row, 3, 45_292 + row, day)
            loans.write_boolean(row, 4, row % 2 == 0)
            loans.write_formula(row, 5, f"=B{row + 1}*2", money, 2 * (7.5 if row == 1 else 1000.25 * row))
            loans.write_formula(
                row, 6, f"=_xlfn.MAXIFS(B$2:B$6,C$2:C$6,C{row + 1})", None, 7.5 if row == 1 else 1000.25 * row
            )
        loans.write_formula("B8", "=SUM(Pars)", money, 14011.0)
        loans.write_formula("C8", "=NA()", None, "#N/A")
        loans.merge_range("A10:B10", "merged")
        loans.set_row(10, None, None, {"hidden": True})
        loans.write_string("A11", "hidden")
        notes.write_row(0, 0, ["A note", 3.0, " blank ", "a\nb"])
        book.define_name("Pars", "=Loans!$B$2:$B$6")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    for row in range(2, 7):  # which xlsxwriter writes one by one
        shared = b'<f t="shared" ref="F2:F6" si="0">B2*2</f>' if row == 2 else b'<f t="shared" si="0"/>'
        parts[SHEET] = parts[SHEET].replace(f"<f>B{row}*2</f>".encode(), shared)
    path.write_bytes(packed(parts))
    return path


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    folder = tmp_path_factory.mktemp("forgeries")
    order = ExportOrder(
        format="xlsx", export_id="exp_1", workbook_id="w", tenant_id="t", created=datetime(2026, 1, 31, tzinfo=UTC),
        lineage=Lineage(workbook_name="deal"), keys=Keys(signing=KEY, signing_id="k1", redaction=KEY),
    )  # fmt: skip
    exported = export_workbook(read(source(folder / "deal.xlsx")), order, folder)
    assert exported.fingerprints is not None
    record = Record(
        exported.result_summary.provenance.data_hash, (folder / exported.fingerprints.path).read_bytes(), KEY
    )
    with zipfile.ZipFile(folder / exported.main.path) as archive:
        return Export({name: archive.read(name) for name in archive.namelist()}, record)


def packed(parts: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def put(part: str, old: str, new: str) -> Forge:
    """A text of a part exchanged for another, once."""

    def forge(parts: Parts) -> None:
        assert old.encode() in parts[part], (old, parts[part][:3000])
        parts[part] = parts[part].replace(old.encode(), new.encode(), 1)

    return forge


def add(part: str, data: str | bytes) -> Forge:
    def forge(parts: Parts) -> None:
        parts[part] = data.encode() if isinstance(data, str) else data

    return forge


def both(*forges: Forge) -> Forge:
    def forge(parts: Parts) -> None:
        for item in forges:
            item(parts)

    return forge


def link(part: str, kind: str, target: str, identifier: str = "rIdX", mode: str = "") -> Forge:
    text = f'<Relationship Id="{identifier}" Type="{OFFICE}/{kind}" Target="{target}"{mode}/>'
    return lambda parts: parts.update(
        {part: parts[part].replace(b"</Relationships>", text.encode() + b"</Relationships>")}
    )


def links_of(*links: tuple[str, str]) -> str:
    text = "".join(
        f'<Relationship Id="rId{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{OPEN}/package/2006/relationships">{text}</Relationships>'


PAR = '<c r="B2" s="2"><v>7.5</v></c>'
TEXT = '<c r="A2" t="s"><v>7</v></c>'
ROW_2 = '<row r="2">'
TWICE = "<v>15</v>"


def format_as(code: str) -> Forge:
    """B2 under a number format of its own."""

    def forge(parts: Parts) -> None:
        styles = parts[STYLES].decode()
        count = styles.split("<cellXfs", 1)[1].split("</cellXfs>")[0].count("<xf ")
        text = f'<numFmt numFmtId="200" formatCode="{code}"/>'
        if "<numFmts" in styles:
            styles = styles.replace("</numFmts>", text + "</numFmts>")
        else:
            styles = styles.replace("<fonts", f'<numFmts count="1">{text}</numFmts><fonts', 1)
        extra = '<xf numFmtId="200" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>'
        parts[STYLES] = styles.replace("</cellXfs>", extra + "</cellXfs>").encode()
        put(SHEET, '<c r="B2" s="2">', f'<c r="B2" s="{count}">')(parts)

    return forge


def more_sheet(name: str, state: str = "", kind: str = "worksheet", part: str = "xl/worksheets/sheet9.xml") -> Forge:
    """A sheet before all others."""

    def forge(parts: Parts) -> None:
        link(LINKS, kind, "/" + part)(parts)
        put(BOOK, "<sheets>", f'<sheets><sheet name="{name}" sheetId="99"{state} r:id="rIdX"/>')(parts)
        parts[part] = parts[SHEET].replace(b"<v>7.5</v>", b"<v>9.9</v>")
        what = {"worksheet": "worksheet", "chartsheet": "chartsheet"}[kind]
        put(
            TYPES, "</Types>",
            f'<Override PartName="/{part}" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.{what}+xml"/>'
            "</Types>",
        )(parts)  # fmt: skip

    return forge


def very_hidden(parts: Parts) -> None:
    for name in ("Loans", "Notes"):
        put(BOOK, f'<sheet name="{name}"', f'<sheet name="{name}" state="veryHidden"')(parts)


class Row(NamedTuple):
    name: str
    forge: Forge
    status: str
    part: str | None = None
    sheet: str | None = None
    cell: str | None = None


def cell(name: str, new: str, *, old: str = PAR, place: str = "B2") -> Row:
    return Row(name, put(SHEET, old, new), INVALID, SHEET, "Loans", place)


ISSUE = [
    Row("two relationships with one Id", link(LINKS, "worksheet", "worksheets/sheet2.xml", "rId1"), INVALID, LINKS),
    Row(
        "sheet%31.xml beside sheet1.xml",
        lambda parts: parts.update({"xl/worksheets/sheet%31.xml": parts[SHEET]}),
        INVALID,
    ),
    cell("markup inside v", '<c r="B2" s="2"><v>7<x/>.5</v></c>'),
    cell("a comment inside v", '<c r="B2" s="2"><v>7<!-- 8 -->.5</v></c>'),
    Row("markup inside t", put(STRINGS, "<t>L1</t>", "<t>L1<b>0</b></t>"), INVALID, STRINGS),
    Row("a comment inside t", put(STRINGS, "<t>L1</t>", "<t>L<!-- -->1</t>"), INVALID, STRINGS),
    cell("an unknown type", '<c r="B2" s="2" t="x"><v>7.5</v></c>'),
    cell("an empty type", '<c r="B2" s="2" t=""><v>7.5</v></c>'),
    cell("boolean true", '<c r="E2" t="b"><v>false</v></c>', old='<c r="E2" t="b"><v>0</v></c>', place="E2"),
    cell(
        "a shared formula's member with its own text",
        '<f t="shared" si="0">B3*3</f>',
        old='<f t="shared" si="0"/>',
        place="F3",
    ),
    Row(
        "a name defined twice",
        put(BOOK, "<definedNames>", '<definedNames><definedName name="PARS">Loans!$B$2</definedName>'),
        INVALID,
        BOOK,
    ),
    Row("precision as displayed", put(BOOK, "<calcPr ", '<calcPr fullPrecision="0" '), MODIFIED, BOOK),
    cell("_xlfn. before a known function", "<f>_xlfn.SUM(Pars)</f>", old="<f>SUM(Pars)</f>", place="B8"),
    cell("_xludf. before a known function", "<f>_xludf.SUM(Pars)</f>", old="<f>SUM(Pars)</f>", place="B8"),
    cell("_xlpm. before a known function", "<f>_xlpm.SUM(Pars)</f>", old="<f>SUM(Pars)</f>", place="B8"),
    cell("an empty f", '<c r="B2" s="2"><f/><v>7.5</v></c>'),
    cell("an empty f with an end", '<c r="B2" s="2"><f></f><v>7.5</v></c>'),
    *(
        Row(f"a number format {code}", format_as(code.replace('"', "&quot;")), MODIFIED, None, "Loans", "B2")
        for code in (
            '"9.5";"9.5"',
            '"9.5"',
            "0.00,",
            ";;;",
            '[=7.5]"9.5";0.00',
            "0",
            "0.00%",
            '0.00"0"',
            "#,##0.00;;",
            '"1"#,##0.00',
            "0.00E+00",
            "General",
            "[>7]0;0.00",
            "# ?/?",
        )
    ),
    Row(
        "a first sheet like the data, the real ones veryHidden",
        both(very_hidden, more_sheet("Loans ")),
        MODIFIED,
        None,
        "Loans ",
        None,
    ),
    Row("the real ones veryHidden", very_hidden, MODIFIED, None, "Loans", None),
]

PACKAGE = [
    Row("another case", lambda parts: parts.update({"XL/worksheets/Sheet1.xml": parts[SHEET]}), INVALID),
    Row(
        "another case of a list of relationships",
        lambda parts: parts.update({"xl/_rels/Workbook.xml.rels": parts.pop(LINKS)}),
        INVALID,
    ),
    Row("another case of the one", lambda parts: parts.update({"xl/worksheets/Sheet1.xml": parts.pop(SHEET)}), INVALID),
    Row("a percent sign in the target", put(LINKS, "worksheets/sheet1.xml", "worksheets/sheet%31.xml"), INVALID, LINKS),
    Row("a backslash in the target", put(LINKS, "worksheets/sheet1.xml", "worksheets\\sheet1.xml"), INVALID, LINKS),
    Row("a mark in the target", put(LINKS, "worksheets/sheet1.xml", "worksheets/sheet1.xml#x"), INVALID, LINKS),
    Row("an entry with a backslash", lambda parts: parts.update({"xl\\worksheets\\other.xml": parts[SHEET]}), INVALID),
    Row("two parts for one sheet", link(LINKS, "worksheet", "worksheets/sheet1.xml"), INVALID),
    Row(
        "a sheet's part that nobody lists",
        both(
            lambda parts: parts.update({"xl/worksheets/sheet9.xml": parts[SHEET]}),
            link(LINKS, "worksheet", "worksheets/sheet9.xml"),
        ),
        INVALID,
    ),
    Row(
        "an external sheet",
        put(LINKS, 'Target="worksheets/sheet1.xml"', 'Target="worksheets/sheet1.xml" TargetMode="External"'),
        INVALID,
    ),
    Row(
        "two parts of styles",
        both(lambda parts: parts.update({"xl/styles2.xml": parts[STYLES]}), link(LINKS, "styles", "styles2.xml")),
        INVALID,
        LINKS,
    ),
    Row(
        "two parts of strings, one in the strict way",
        both(
            lambda parts: parts.update({"xl/strings2.xml": parts[STRINGS]}),
            put(
                LINKS,
                "</Relationships>",
                '<Relationship Id="rIdX" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/sharedStrings" Target="strings2.xml"/></Relationships>',
            ),
        ),
        INVALID,
        LINKS,
    ),
    Row(
        "two workbooks",
        both(
            lambda parts: parts.update({"xl/workbook2.xml": parts[BOOK]}),
            link(ROOT, "officeDocument", "xl/workbook2.xml"),
        ),
        INVALID,
        ROOT,
    ),
    Row("a part that nothing names", add("xl/media/image1.png", b"x"), MODIFIED, "xl/media/image1.png"),
    *(
        Row(f"a part that nothing names, {name}", add(name, links_of()), MODIFIED, name)
        for name in ("xl/_rels/picture.xml", "xl/media/picture.rels", "xl/_rels/theme9.xml.rels")
    ),
    Row("a covered sheet as a chart", put(LINKS, '/worksheet"', '/chartsheet"'), INVALID, BOOK, "Loans"),
    Row(
        "an external link",
        both(
            add("xl/externalLinks/externalLink1.xml", "<x/>"),
            link(LINKS, "externalLink", "externalLinks/externalLink1.xml"),
        ),
        MODIFIED,
        "xl/externalLinks/externalLink1.xml",
    ),
    Row(
        "connections",
        both(add("xl/connections.xml", "<x/>"), link(LINKS, "connections", "connections.xml")),
        MODIFIED,
        "xl/connections.xml",
    ),
    Row(
        "two types of content",
        put(TYPES, "</Types>", '<Override PartName="/XL/workbook.xml" ContentType="application/xml"/></Types>'),
        INVALID,
        TYPES,
    ),
    Row("a sheet of another type", put(TYPES, "worksheet+xml", "chartsheet+xml"), INVALID, TYPES),
    Row(
        "a workbook with macros",
        put(
            TYPES,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
            "application/vnd.ms-excel.sheet.macroEnabled.main+xml",
        ),
        INVALID,
        TYPES,
    ),
    Row(
        "an attribute of another namespace on a relationship",
        put(
            LINKS,
            'Target="worksheets/sheet1.xml"',
            'Target="worksheets/sheet2.xml" y:Target="worksheets/sheet1.xml" xmlns:y="urn:y"',
        ),
        INVALID,
        LINKS,
    ),
    Row(
        "a drawing over the cells",
        both(
            put(SHEET, "</worksheet>", '<drawing r:id="rId1"/></worksheet>'),
            add(SHEET_LINKS, links_of(("drawing", "../drawings/drawing1.xml"))),
            add("xl/drawings/drawing1.xml", "<x/>"),
        ),
        MODIFIED,
        None,
        "Loans",
    ),
    Row(
        "comments",
        both(add(SHEET_LINKS, links_of(("comments", "../comments1.xml"))), add("xl/comments1.xml", "<x/>")),
        MODIFIED,
        "xl/comments1.xml",
        "Loans",
    ),
    Row(
        "a chart sheet",
        more_sheet("Picture", kind="chartsheet", part="xl/chartsheets/sheet9.xml"),
        MODIFIED,
        BOOK,
        "Picture",
    ),
]

WORKBOOK = [
    Row("a further sheet", more_sheet("Mine"), MODIFIED, None, "Mine"),
    Row("a further hidden sheet", more_sheet("Mine", ' state="hidden"'), MODIFIED, None, "Mine"),
    Row("two sheets of one name", put(BOOK, 'name="Notes"', 'name="LOANS"'), INVALID, BOOK),
    Row("two sheets of one number", put(BOOK, 'sheetId="2"', 'sheetId="1"'), INVALID, BOOK),
    Row("two sheets of one part", put(BOOK, 'r:id="rId2"', 'r:id="rId1"'), INVALID, BOOK),
    Row("a sheet without a part", put(BOOK, 'r:id="rId2"', 'r:id="rId77"'), INVALID, BOOK, "Notes"),
    Row(
        "two identifiers of a sheet",
        put(
            BOOK,
            'r:id="rId1"',
            'r:id="rId2" s:id="rId1" xmlns:s="http://purl.oclc.org/ooxml/officeDocument/relationships"',
        ),
        INVALID,
    ),
    Row(
        "two lists of sheets",
        put(BOOK, "</sheets>", '</sheets><sheets><sheet name="Z" sheetId="77" r:id="rId1"/></sheets>'),
        INVALID,
        BOOK,
    ),
    Row(
        "sheets among alternatives",
        put(
            BOOK,
            "<sheets>",
            f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice Requires="x15"><sheets><sheet name="Z" sheetId="77" r:id="rId1"/></sheets></mc:Choice></mc:AlternateContent><sheets>',
        ),
        INVALID,
        BOOK,
    ),
    Row("dates from 1904", put(BOOK, "<workbookPr/>", '<workbookPr date1904="1"/>'), MODIFIED),
    Row("iterative calculation", put(BOOK, "<calcPr ", '<calcPr iterate="1" '), MODIFIED, BOOK),
    Row(
        "a macro behind a name",
        put(BOOK, '<definedName name="Pars"', '<definedName name="Pars" xlm="1"'),
        INVALID,
        BOOK,
    ),
    Row("another meaning of a name", put(BOOK, "Loans!$B$2:$B$6", "Loans!$B$2:$B$5"), MODIFIED),
    Row(
        "a name of the sheet's own before it",
        put(BOOK, "<definedNames>", '<definedNames><definedName name="Pars" localSheetId="0">Loans!$B$2</definedName>'),
        MODIFIED,
    ),
    Row(
        "a further name", put(BOOK, "<definedNames>", '<definedNames><definedName name="Own">1</definedName>'), MODIFIED
    ),
    Row("functions of the workbook's own", put(BOOK, "<calcPr ", "<functionGroups/><calcPr "), MODIFIED, BOOK),
    Row("a comment", put(BOOK, "<sheets>", "<!-- --><sheets>"), INVALID, BOOK),
    Row("a document type", put(BOOK, "<workbook ", "<!DOCTYPE workbook><workbook "), INVALID, BOOK),
    Row(
        "UTF-16",
        lambda parts: parts.update({BOOK: parts[BOOK].decode().replace("UTF-8", "UTF-16").encode("utf-16")}),
        INVALID,
        BOOK,
    ),
    Row("text between elements", put(BOOK, "<sheets>", "x<sheets>"), INVALID, BOOK),
]

CELLS = [
    cell("an unknown type in the first row", 't="x"', old='t="s"', place="A1"),
    cell("a cell twice", PAR + '<c r="B2" s="2"><v>8</v></c>'),
    cell("cells out of order", '<c r="AA2"><v>1</v></c>' + PAR),
    cell("no address", '<c s="2"><v>7.5</v></c>', place="A2"),
    cell("another row's address", '<c r="B3" s="2"><v>7.5</v></c>', place="B3"),
    cell("an address in small letters", '<c r="b2" s="2"><v>7.5</v></c>', place="A2"),
    cell("an address with a zero", '<c r="B02" s="2"><v>7.5</v></c>', place="A2"),
    cell("two addresses", '<c r="B2" r="C9" s="2"><v>7.5</v></c>'),
    cell("two types", '<c r="B2" s="2" t="n" t="str"><v>7.5</v></c>'),
    cell("an attribute of another namespace", '<c r="B2" s="2" y:t="s" xmlns:y="urn:y"><v>7.5</v></c>'),
    cell("a redeclared namespace", '<c xmlns="urn:y" r="B2" s="2"><v>7.5</v></c>'),
    cell("a section", '<c r="B2" s="2"><v><![CDATA[7.5]]></v></c>'),
    cell("an instruction", '<c r="B2" s="2"><v>7.5<?x y?></v></c>'),
    cell("an entity", '<c r="B2" s="2"><v>&seven;.5</v></c>'),
    cell("a number as a reference", '<c r="B2" s="2"><v>&#55;.5</v></c>'),
    cell("blanks around a number", '<c r="B2" s="2"><v> 7.5 </v></c>'),
    cell("a number past the end of numbers", '<c r="B2" s="2"><v>1e999</v></c>'),
    cell("a hexadecimal number", '<c r="B2" s="2"><v>0x7</v></c>'),
    cell("a sign before a number", '<c r="B2" s="2"><v>+7.5</v></c>'),
    cell("a comma in a number", '<c r="B2" s="2"><v>7,5</v></c>'),
    cell("not a number", '<c r="B2" s="2"><v>NaN</v></c>'),
    cell("a text where a number is", '<c r="B2" s="2" t="n"><v>7.5x</v></c>'),
    cell("two values", '<c r="B2" s="2"><v>8</v><v>7.5</v></c>'),
    cell("a value before its formula", '<c r="B2" s="2"><v>7.5</v><f>B3</f></c>'),
    cell("two formulas", '<c r="B2" s="2"><f>B3</f><f>B4</f><v>7.5</v></c>'),
    cell("a value of another namespace", '<c r="B2" s="2"><v>8</v><y:v xmlns:y="urn:y">7.5</y:v></c>'),
    cell("a text of its own beside a value", '<c r="B2" s="2"><v>7.5</v><is><t>8</t></is></c>'),
    cell(
        "a text of its own in runs",
        '<c r="A2" t="inlineStr"><is><r><t>L</t></r><r><t>1</t></r></is></c>',
        old=TEXT,
        place="A2",
    ),
    cell(
        "a text of its own with a phonetic guide",
        '<c r="A2" t="inlineStr"><is><t>L1</t><rPh sb="0" eb="1"><t>x</t></rPh></is></c>',
        old=TEXT,
        place="A2",
    ),
    cell("a shared string that is not there", '<c r="A2" t="s"><v>99999</v></c>', old=TEXT, place="A2"),
    cell("a shared string below the first", '<c r="A2" t="s"><v>-1</v></c>', old=TEXT, place="A2"),
    cell(
        "a date by its text",
        '<c r="D2" s="4" t="d"><v>2024-01-02</v></c>',
        old='<c r="D2" s="4"><v>45293</v></c>',
        place="D2",
    ),
    cell("an unknown error", "<f>NA()</f><v>#HELLO!</v>", old="<f>NA()</f><v>#N/A</v>", place="C8"),
    cell("a style that is not there", '<c r="B2" s="999"><v>7.5</v></c>'),
    cell("cell metadata", '<c r="B2" s="2" vm="1"><v>7.5</v></c>'),
    cell("a spilling cell without an array", '<c r="B2" s="2" cm="1"><v>7.5</v></c>'),
    cell("a what-if table", '<c r="B2" s="2"><f t="dataTable" ref="B2:B3" dt2D="0" dtr="0" r1="C2"/><v>7.5</v></c>'),
    cell("an array formula elsewhere", '<c r="B2" s="2"><f t="array" ref="B3:B4">C2:C3</f><v>7.5</v></c>'),
    cell("a shared formula that was never begun", '<f t="shared" si="77"/>', old='<f t="shared" si="0"/>', place="F3"),
    cell(
        "a shared formula outside of its range",
        '<f t="shared" ref="F2:F3" si="0">',
        old='<f t="shared" ref="F2:F6" si="0">',
        place="F4",
    ),
    cell(
        "two shared formulas of one number",
        '<f t="shared" ref="F3:F6" si="0">B3*2</f>',
        old='<f t="shared" si="0"/>',
        place="F3",
    ),
    cell("a younger function without its prefix", "MAXIFS(", old="_xlfn.MAXIFS(", place="G2"),
    Row(
        "a formula where a value was",
        put(SHEET, PAR, '<c r="B2" s="2"><f>5+2.5</f><v>7.5</v></c>'),
        MODIFIED,
        None,
        "Loans",
        "B2",
    ),
    Row("a value where a formula was", put(SHEET, "<f>SUM(Pars)</f>", ""), MODIFIED, None, "Loans", "B8"),
    Row(
        "alternatives among rows",
        put(
            SHEET,
            ROW_2,
            f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice Requires="x14"/></mc:AlternateContent>{ROW_2}',
        ),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row("a row twice", put(SHEET, ROW_2, '<row r="2"/>' + ROW_2), INVALID, SHEET, "Loans"),
    Row("a row without its number", put(SHEET, ROW_2, "<row>"), INVALID, SHEET, "Loans"),
    Row(
        "two places for cells",
        put(SHEET, "</sheetData>", '</sheetData><sheetData><row r="2"><c r="B2"><v>8</v></c></row></sheetData>'),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row(
        "a place for cells of another namespace",
        put(SHEET, "<sheetData>", '<y:sheetData xmlns:y="urn:y">'),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row(
        "a comment before the cells",
        put(SHEET, "<sheetData>", "<!-- <sheetData> --><sheetData>"),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row(
        "a sheet in UTF-16",
        lambda parts: parts.update({SHEET: parts[SHEET].decode().replace("UTF-8", "UTF-16").encode("utf-16")}),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row(
        "a string in another namespace",
        put(STRINGS, "<si>", '<y:si xmlns:y="urn:y"><y:t>x</y:t></y:si><si>'),
        INVALID,
        STRINGS,
    ),
    Row(
        "a string with a phonetic guide",
        put(STRINGS, "<t>L1</t>", '<t>L1</t><rPh sb="0" eb="1"><t>x</t></rPh>'),
        INVALID,
        STRINGS,
    ),
    Row("two texts of a string", put(STRINGS, "<t>L1</t>", "<t>L</t><t>1</t>"), INVALID, STRINGS),
    Row(
        "a string whose blanks count for some",
        put(STRINGS, '<t xml:space="preserve"> blank ', "<t> blank "),
        INVALID,
        STRINGS,
    ),
    Row("an escape of a letter", put(STRINGS, "<t>L1</t>", "<t>_x004C_1</t>"), INVALID, STRINGS),
    Row("a bare carriage return", put(STRINGS, ">a\nb</t>", ">a\rb</t>"), INVALID, STRINGS),
    Row(
        "a range that the cells pass",
        put(SHEET, "<sheetViews>", '<dimension ref="A1:G5"/><sheetViews>'),
        INVALID,
        SHEET,
        "Loans",
    ),
    Row("something behind the strings", put(STRINGS, "</sst>", "</sst><sst/>"), INVALID, STRINGS),
    Row(
        "two more strings",
        put(STRINGS, "<si><t>L1</t></si>", "<si><t>L9</t></si><si><t>L1</t></si>"),
        MODIFIED,
        None,
        "Loans",
        "A2",
    ),
]

LOOKS = [
    Row("a hidden row", put(SHEET, ROW_2, '<row r="2" hidden="1">'), MODIFIED, None, "Loans", "2:2"),
    Row(
        "a row of no height", put(SHEET, ROW_2, '<row r="2" ht="0" customHeight="1">'), MODIFIED, SHEET, "Loans", "2:2"
    ),
    Row(
        "a first row of no height",
        put(SHEET, '<row r="1">', '<row r="1" ht="0" customHeight="1">'),
        MODIFIED,
        SHEET,
        "Loans",
        "1:1",
    ),
    Row("a row that was hidden", put(SHEET, ' hidden="1"', ""), MODIFIED, None, "Loans", "11:11"),
    Row(
        "a hidden column",
        put(SHEET, '<col min="2" max="2"', '<col hidden="1" min="2" max="2"'),
        MODIFIED,
        SHEET,
        "Loans",
        "B:B",
    ),
    Row(
        "rows hidden by default",
        put(SHEET, "<sheetFormatPr ", '<sheetFormatPr zeroHeight="1" '),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row(
        "a merge over figures",
        put(SHEET, "<mergeCell ", '<mergeCell ref="A2:B3"/><mergeCell '),
        MODIFIED,
        None,
        "Loans",
        "A2:B3",
    ),
    Row(
        "a merge undone",
        put(SHEET, '<mergeCells count="1"><mergeCell ref="A10:B10"/></mergeCells>', ""),
        MODIFIED,
        None,
        "Loans",
        "A10:B10",
    ),
    Row("zeros left blank", put(SHEET, "<sheetView ", '<sheetView showZeros="0" '), MODIFIED, SHEET, "Loans"),
    Row("formulas shown", put(SHEET, "<sheetView ", '<sheetView showFormulas="1" '), MODIFIED, SHEET, "Loans"),
    Row("rows out of reach", put(SHEET, "<sheetView ", '<sheetView topLeftCell="A5" '), MODIFIED, SHEET, "Loans"),
    Row(
        "a conditional format",
        put(
            SHEET,
            "<mergeCells",
            '<conditionalFormatting sqref="B2"><cfRule type="expression" dxfId="0" priority="1"><formula>TRUE</formula></cfRule></conditionalFormatting><mergeCells',
        ),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row("data validation", put(SHEET, "</worksheet>", "<dataValidations/></worksheet>"), MODIFIED, SHEET, "Loans"),
    Row(
        "a picture behind the cells",
        put(SHEET, "</worksheet>", '<picture r:id="rId1"/></worksheet>'),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row(
        "an extension",
        put(SHEET, "</worksheet>", '<extLst><ext uri="{05C60535-1F16-4fd2-B633-F4F36F0B64E0}"/></extLst></worksheet>'),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row(
        "another calculation of old",
        put(SHEET, "<sheetPr>", '<sheetPr transitionEvaluation="1">'),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row(
        "a filter",
        put(SHEET, "<mergeCells", '<autoFilter ref="A1:B6"><filterColumn colId="0"/></autoFilter><mergeCells'),
        MODIFIED,
        SHEET,
        "Loans",
    ),
    Row(
        "a number format under a usual number",
        put(STYLES, "<fonts", '<numFmts count="1"><numFmt numFmtId="4" formatCode="&quot;9.5&quot;"/></numFmts><fonts'),
        INVALID,
        STYLES,
    ),
    Row(
        "a number format twice",
        put(
            STYLES,
            "<fonts",
            '<numFmts count="2"><numFmt numFmtId="200" formatCode="0"/><numFmt numFmtId="200" formatCode="0.0"/></numFmts><fonts',
        ),
        INVALID,
        STYLES,
    ),
    Row("a font of pictures", put(STYLES, '<name val="Calibri"/>', '<name val="Wingdings"/>'), MODIFIED, STYLES),
    Row(
        "a font of symbols",
        put(STYLES, '<name val="Calibri"/>', '<name val="Own"/><charset val="2"/>'),
        MODIFIED,
        STYLES,
    ),
    Row(
        "a style of two minds",
        put(STYLES, '<xf numFmtId="4" ', '<xf applyNumberFormat="0" xfId="0" numFmtId="4" '),
        INVALID,
        STYLES,
    ),
]

FORGERIES = [*ISSUE, *PACKAGE, *WORKBOOK, *CELLS, *LOOKS]


def test_the_export_itself_is_the_original(export: Export, tmp_path: Path) -> None:
    verdict = export.verdict(packed(export.parts), tmp_path)
    assert (verdict.status, verdict.findings, verdict.diffs) == ("original", (), ()), verdict
    assert verdict.reason.startswith("The hashed sheets show what was exported. Not looked at: the sheet 'Workspace'; ")
    assert "fonts, colours" in verdict.reason


@every("row", FORGERIES)
def test_no_forgery_is_the_original(export: Export, tmp_path: Path, row: Row) -> None:
    parts = dict(export.parts)
    row.forge(parts)
    assert parts != export.parts
    verdict = export.verdict(packed(parts), tmp_path)
    places = [
        (finding.part, finding.sheet, finding.cell) for finding in verdict.findings if finding.status == row.status
    ]
    answer = (row.name, verdict.status, verdict.reason, verdict.findings, verdict.diffs)
    assert verdict.status == row.status, answer
    if row.status == INVALID:
        assert row.part is None or any(part in (row.part, "") for part, _, _ in places), answer
        assert row.sheet is None or any(
            (sheet, at) == (row.sheet, row.cell) or row.cell is None for _, sheet, at in places
        ), answer
    else:
        assert row.part is None or any(part == row.part for part, _, _ in places), answer
        diffs = [(diff.sheet, diff.cell) for diff in verdict.diffs]
        assert row.sheet is None or (row.sheet, row.cell) in diffs, answer
    assert verdict.manifest is not None or row.part is None


# The archive's bytes --------------------------------------------------------------------------------------------------


def twice(content: bytes) -> bytes:
    out = io.BytesIO(content)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(SHEET, archive.read(SHEET).replace(b"<v>7.5</v>", b"<v>9.5</v>"))
    return out.getvalue()


def header(content: bytes, at: int, data: bytes) -> bytes:
    """The local header of the first entry changed; `at` counts from its begin."""
    return content[:at] + data + content[at + len(data) :]


def behind_the_first(content: bytes, more: bytes) -> bytes:
    """Bytes before the second entry, with the directory moved along."""
    end = content.rfind(b"PK\x05\x06")
    size, start = struct.unpack_from("<2I", content, end + 12)
    second = content.find(b"PK\x03\x04", 4)
    directory = bytearray(content[start : start + size])
    at = 0
    while at < len(directory):
        name, extra, note = struct.unpack_from("<3H", directory, at + 28)
        (offset,) = struct.unpack_from("<I", directory, at + 42)
        struct.pack_into("<I", directory, at + 42, offset + (len(more) if offset else 0))
        at += 46 + name + extra + note
    tail = content[end : end + 16] + struct.pack("<I", start + len(more)) + content[end + 20 :]
    return content[:second] + more + content[second:start] + bytes(directory) + tail


BYTES: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("two entries of one name", twice),
    ("another name in an entry's own header", lambda content: header(content, 30, b"[content_types].xml")),
    ("another size in an entry's own header", lambda content: header(content, 22, b"\x01\0\0\0")),
    ("another checksum in an entry's own header", lambda content: header(content, 14, b"\x01\0\0\0")),
    ("another method in an entry's own header", lambda content: header(content, 8, b"\0\0")),
    ("bytes between two entries", lambda content: behind_the_first(content, b"x" * 40)),
    ("bytes as long as a descriptor between two entries", lambda content: behind_the_first(content, b"x" * 16)),
    ("a comment of the archive", lambda content: content[:-2] + b"\x03\0abc"),
    ("an entry outside of the archive", lambda content: content.replace(b"xl/styles.xml", b"../styles.xml")),
]


@every("name, forge", BYTES)
def test_archives_that_programs_unpack_differently_are_refused(
    export: Export, tmp_path: Path, name: str, forge: Callable[[bytes], bytes]
) -> None:
    content = packed(export.parts)
    assert forge(content) != content
    verdict = export.verdict(forge(content), tmp_path)
    assert verdict.status == INVALID, (name, verdict)
    assert verdict.findings or "archive" in verdict.reason.lower(), (name, verdict)


# What programs do that save a file unchanged --------------------------------------------------------------------------

X14AC = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/ac"
NAMESPACES = (
    f' xmlns:mc="{MC}" mc:Ignorable="x14ac xr" xmlns:x14ac="{X14AC}" '
    'xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" xr:uid="{00000000-0001-0000-0000-000000000000}"'
)


def as_excel_saves_it(parts: Parts) -> None:
    """What Excel for Microsoft 365 adds.

    Revisions, paths, spans, descents, a theme, the order of calculation, how the printer is set, phonetic
    properties, currency formats under their own numbers, rests of an earlier save.
    """
    for part in (SHEET, NOTES):
        put(part, "<worksheet ", f"<worksheet{NAMESPACES} ")(parts)
        put(part, "<sheetViews>", '<dimension ref="A1:G11"/><sheetViews>')(parts)
        put(part, '<row r="1"', '<row r="1" spans="1:7" x14ac:dyDescent="0.25"')(parts)
        put(part, "<sheetFormatPr ", '<sheetFormatPr x14ac:dyDescent="0.25" ')(parts)
        put(
            part,
            "</worksheet>",
            '<ignoredErrors><ignoredError sqref="A1" numberStoredAsText="1"/></ignoredErrors></worksheet>',
        )(parts)
    put(SHEET, "<pageSetup ", '<pageSetup r:id="rId1" ')(parts)
    add(SHEET_LINKS, links_of(("printerSettings", "../printerSettings/printerSettings1.bin")))(parts)
    add("xl/printerSettings/printerSettings1.bin", b"\0\1")(parts)
    add("[trash]/0000.dat", b"\0" * 10)(parts)
    put(
        BOOK,
        "<workbook ",
        f'<workbook xmlns:mc="{MC}" mc:Ignorable="x15 xr" xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main" ',
    )(parts)
    put(BOOK, "<workbookPr/>",
        '<fileVersion appName="xl" lastEdited="7" lowestEdited="7" rupBuild="27928"/><workbookPr defaultThemeVersion="166925"/>'
        f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice Requires="x15"><x15ac:absPath url="C:\\Deals\\" '
        'xmlns:x15ac="http://schemas.microsoft.com/office/spreadsheetml/2010/11/ac"/></mc:Choice></mc:AlternateContent>'
        '<xr:revisionPtr xmlns:xr="http://schemas.microsoft.com/office/spreadsheetml/2014/revision" revIDLastSave="0" documentId="8_{1}"/>')(parts)  # fmt: skip
    put(BOOK, "</workbook>",
        '<extLst><ext uri="{140A7094-0E35-4892-8432-C4D2E57EDEB5}"><x15:workbookPr chartTrackingRefBase="1"/></ext></extLst></workbook>')(parts)  # fmt: skip
    put(
        BOOK,
        "<definedNames>",
        '<definedNames><definedName name="_xlnm.Print_Area" localSheetId="0">Loans!$A$1:$G$11</definedName>',
    )(parts)
    add("xl/theme/theme1.xml", '<a:theme xmlns:a="urn:a"><!-- its colours --></a:theme>')(parts)
    link(LINKS, "theme", "theme/theme1.xml", "rId90")(parts)
    add(
        "xl/calcChain.xml",
        '<calcChain xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><c r="F2" i="1"/></calcChain>',
    )(parts)
    link(LINKS, "calcChain", "calcChain.xml", "rId91")(parts)
    put(STRINGS, "<t>L1</t>", '<t>L1</t><phoneticPr fontId="1" type="noConversion"/>')(parts)
    put(STRINGS, "<t>L2</t>", '<r><t>L</t></r><r><rPr><b/><sz val="11"/></rPr><t>2</t></r>')(parts)
    put(STYLES, "<styleSheet ", f'<styleSheet xmlns:mc="{MC}" mc:Ignorable="x14ac" xmlns:x14ac="{X14AC}" ')(parts)
    formats = "".join(
        f'<numFmt numFmtId="{at}" formatCode="{code}"/>' for at, code in (
            (44, "_(&quot;$&quot;* #,##0.00_);_(&quot;$&quot;* \\(#,##0.00\\);_(&quot;$&quot;* &quot;-&quot;??_);_(@_)"),
            (7, "&quot;$&quot;#,##0.00_);\\(&quot;$&quot;#,##0.00\\)"),
        )
    )  # fmt: skip
    parts[STYLES] = parts[STYLES].replace(b"</numFmts>", formats.encode() + b"</numFmts>")
    put(TYPES, "</Types>", '<Default Extension="bin" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.printerSettings"/>'
        '<Default Extension="dat" ContentType="application/x"/></Types>')(parts)  # fmt: skip


def test_what_excel_saves_is_the_original(export: Export, tmp_path: Path) -> None:
    parts = dict(export.parts)
    as_excel_saves_it(parts)
    verdict = export.verdict(packed(parts), tmp_path)
    assert (verdict.status, verdict.findings, verdict.diffs) == ("original", (), ()), verdict


def test_a_workspace_may_have_whatever_its_user_likes(export: Export, tmp_path: Path) -> None:
    """Charts, notes, formats by rule, links outwards, what-if tables.

    It says that it is not covered.
    """
    parts = dict(export.parts)
    put(WORKSPACE, "</worksheet>",
        '<conditionalFormatting sqref="A1"/><hyperlinks/><drawing r:id="rId1"/><extLst><ext uri="{1}"/></extLst></worksheet>')(parts)  # fmt: skip
    put(
        WORKSPACE,
        "</sheetData>",
        '<row r="900"><c r="A900"><f t="dataTable" ref="A900:A901" r1="B1"/><v>1</v></c></row></sheetData>',
    )(parts)
    add("xl/worksheets/_rels/sheet3.xml.rels", links_of(("drawing", "../drawings/drawing1.xml")).replace(
        "</Relationships>",
        f'<Relationship Id="rId9" Type="{OFFICE}/hyperlink" Target="https://example.com/" TargetMode="External"/></Relationships>'))(parts)  # fmt: skip
    add("xl/drawings/drawing1.xml", "<x/>")(parts)
    add("xl/drawings/_rels/drawing1.xml.rels", links_of(("chart", "../charts/chart1.xml")))(parts)
    add("xl/charts/chart1.xml", "<x/>")(parts)
    verdict = export.verdict(packed(parts), tmp_path)
    assert (verdict.status, verdict.findings) == ("original", ()), verdict
    assert verdict.not_looked_at[0] == "the sheet 'Workspace'"


def test_an_older_export_says_nothing_of_formats(export: Export, tmp_path: Path) -> None:
    """Its manifest and record do not have them.

    Other formats are not told then, and the sentence says so.
    """
    parts = dict(export.parts)
    part = next(
        name for name, data in parts.items() if b"urn:cushion:provenance" in data and name.endswith("item1.xml")
    )
    path = tmp_path / "export.xlsx"
    path.write_bytes(packed(parts))
    manifest = read_manifest(path)
    assert manifest is not None
    old = msgspec.structs.replace(
        manifest.manifest,
        defined_names=None,
        sheets=tuple(msgspec.structs.replace(sheet, shown="") for sheet in manifest.manifest.sheets),
    )
    parts[part] = sign(old, KEY)
    assert export.verdict(packed(parts), tmp_path).status == "original"
    format_as("0")(parts)
    verdict = export.verdict(packed(parts), tmp_path)
    assert verdict.status == "original"
    assert "number formats, hidden rows, merged cells and tables, of which this export says nothing" in verdict.reason


def test_without_a_record_the_sheet_is_named(export: Export, tmp_path: Path) -> None:
    parts = dict(export.parts)
    format_as("0")(parts)
    verdict = export.verdict(packed(parts), tmp_path, record=False)
    assert [(diff.sheet, diff.cell, diff.status) for diff in verdict.diffs] == [("Loans", None, "display")]
    assert verdict.reason == (
        "The file shows something else than was exported: the sheet 'Loans' is shown by another number format."
    )


def test_what_is_found_is_bounded(export: Export, tmp_path: Path) -> None:
    """Many findings are not all listed, and none that makes the file invalid is lost behind them."""
    parts = dict(export.parts)
    for at in range(300):
        parts[f"xl/media/image{at}.png"] = b""
    verdict = export.verdict(packed(parts), tmp_path)
    assert (verdict.status, len(verdict.findings), verdict.diffs_truncated) == ("modified", FINDINGS_MAX, True)
    put(SHEET, PAR, '<c r="B2" s="2" t="x"><v>7.5</v></c>')(parts)
    verdict = export.verdict(packed(parts), tmp_path)
    assert verdict.status == INVALID
    assert "'Loans' at B2" in verdict.reason
