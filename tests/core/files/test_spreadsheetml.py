"""SpreadsheetML 2003.

Every type of cell, gaps, merged ranges, formats by style, formulas, and files made to harm.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import core
from core.files.errors import FileRefused, InvalidFormat, ParseFailed, TooManySheets
from core.files.kinds import file_kind
from core.files.read import probe, read, read_files
from core.files.spreadsheetml import read_spreadsheetml
from core.grid.sheet import Workbook
from core.values import Kind, from_serial
from tests.rows import every

SPACES = (
    'xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet" '
    'xmlns:html="http://www.w3.org/TR/REC-html40"'
)


def sheet(rows: str, name: str = "Loans", more: str = "", before: str = "") -> str:
    return f'<Worksheet ss:Name="{name}">{before}<Table>{rows}</Table>{more}</Worksheet>'


def document(*sheets: str, before: str = "", head: str = '<?xml version="1.0"?>') -> bytes:
    program = '<?mso-application progid="Excel.Sheet"?>'
    return f"{head}{program}<Workbook {SPACES}>{before}{''.join(sheets)}</Workbook>".encode()


def cell(value: str, kind: str = "String", **attributes: str) -> str:
    named = "".join(f' ss:{name}="{text}"' for name, text in attributes.items())
    return f'<Cell{named}><Data ss:Type="{kind}">{value}</Data></Cell>'


def row(*cells: str, **attributes: str) -> str:
    named = "".join(f' ss:{name}="{text}"' for name, text in attributes.items())
    return f"<Row{named}>{''.join(cells)}</Row>"


STYLES = (
    '<Styles><Style ss:ID="Default"><NumberFormat/></Style>'
    '<Style ss:ID="day"><NumberFormat ss:Format="Short Date"/></Style>'
    '<Style ss:ID="percent"><NumberFormat ss:Format="Percent"/></Style>'
    '<Style ss:ID="own"><NumberFormat ss:Format="dd/mm/yyyy\\ hh:mm"/></Style>'
    '<Style ss:ID="child" ss:Parent="percent"><Font/></Style></Styles>'
)


def shown(book: Workbook, at: int, row: int, column: int) -> str:
    own_column = book.sheets[at].columns[column]
    assert own_column is not None
    return book.number_formats[int(own_column.dense.formats[own_column.slot(row)])]


def test_types_of_cells_and_their_formats() -> None:
    book = read_spreadsheetml(
        document(
            sheet(
                row(
                    cell("12.5", "Number"),
                    cell("0.0525", "Number", StyleID="percent"),
                    cell("45382", "Number", StyleID="day"),
                    cell("2024-03-31T00:00:00.000", "DateTime", StyleID="own"),
                    cell("2024-03-31T12:00:00.000", "DateTime"),
                    cell("1899-12-31T06:00:00.000", "DateTime"),
                    cell("1", "Boolean"),
                    cell("#N/A", "Error"),
                    cell("a &lt;b&gt; &#10;<html:B>c</html:B>&#233;"),
                    cell("0.05", "Number", StyleID="child"),
                    cell("not a number", "Number"),
                    cell("1_000", "Number"),
                    cell(""),
                    "<Cell/>",
                    '<Cell><Data ss:Type="String">x</Data><Comment><Data ss:Type="String">note</Data></Comment></Cell>',
                )
            ),
            before=STYLES,
        )
    )
    (page,) = book.sheets
    assert [page.kind(0, at) for at in range(15)] == [
        Kind.NUMBER, Kind.NUMBER, Kind.DATE, Kind.DATE, Kind.DATE, Kind.DATE, Kind.BOOLEAN, Kind.ERROR, Kind.TEXT,
        Kind.NUMBER, Kind.TEXT, Kind.TEXT, Kind.BLANK, Kind.BLANK, Kind.TEXT,
    ]  # fmt: skip
    assert [page.value(0, at) for at in (0, 1, 2, 3, 4, 5, 6, 7, 14)] == [
        12.5, 0.0525, 45382.0, 45382.0, 45382.5, 0.25, True, "#N/A", "x",
    ]  # fmt: skip
    assert page.value(0, 8) == "a <b> \ncé"
    assert [shown(book, 0, 0, at) for at in (0, 1, 2, 3, 4, 9)] == [
        "General", "0.00%", "m/d/yyyy", "dd/mm/yyyy\\ hh:mm", "yyyy-mm-dd hh:mm:ss", "0.00%",
    ]  # fmt: skip
    assert from_serial(45382.0) == datetime(2024, 3, 31)  # noqa: DTZ001


def test_gaps_spans_and_merged_ranges() -> None:
    rows = (
        row(cell("a"), cell("c", Index="3"), cell("d", MergeAcross="2"), cell("g"))
        + row(cell("x", MergeDown="1"), Index="4")
        + row(Span="2")
        + row(cell("y", Index="2"))
    )
    (page,) = read_spreadsheetml(document(sheet(rows))).sheets
    result = {(r, c): page.value(r, c) for r in range(10) for c in range(8) if page.value(r, c) is not None}
    assert result == {(0, 0): "a", (0, 2): "c", (0, 3): "d", (0, 6): "g", (3, 0): "x", (7, 1): "y"}
    assert page.merged == ((0, 3, 0, 5), (3, 0, 4, 0))


def test_formats_of_rows_columns_and_tables() -> None:
    columns = '<Column ss:StyleID="percent" ss:Span="1"/><Column ss:Index="4" ss:StyleID="day"/>'
    rows = columns + row(*[cell("1", "Number")] * 4) + row(*[cell("2", "Number")] * 2, StyleID="own")
    book = read_spreadsheetml(document(sheet(rows), before=STYLES))
    assert [shown(book, 0, 0, at) for at in range(4)] == ["0.00%", "0.00%", "General", "m/d/yyyy"]
    assert shown(book, 0, 1, 0) == "dd/mm/yyyy\\ hh:mm"


def test_sheets_states_names_and_the_1904_system() -> None:
    before = (
        "<x:ExcelWorkbook><x:Date1904/></x:ExcelWorkbook><Names>"
        '<NamedRange ss:Name="Total" ss:RefersTo="=Loans!R2C1:R3C2"/></Names>'
    )
    hidden = "<x:WorksheetOptions><x:Visible>SheetHidden</x:Visible></x:WorksheetOptions>"
    very = "<x:WorksheetOptions><x:Visible>SheetVeryHidden</x:Visible></x:WorksheetOptions>"
    own = '<Names><NamedRange ss:Name="Here" ss:RefersTo="=R1C1"/></Names>'
    rows = row(cell("2024-03-31T00:00:00.000", "DateTime")) + row(cell("b"), Hidden="1", Span="1") + row(cell("d"))
    book = read_spreadsheetml(
        document(sheet(rows), sheet("", "Two", hidden, own), sheet("", "Three", very), before=before)
    )
    assert [(page.name, page.state) for page in book.sheets] == [
        ("Loans", "visible"), ("Two", "hidden"), ("Three", "veryHidden"),
    ]  # fmt: skip
    assert book.date_1904
    assert book["Loans"].value(0, 0) == 45382.0 - 1462
    assert list(book["Loans"].hidden_rows) == [1, 2]
    assert book["Loans"].value(3, 0) == "d"
    assert (book.defined_names, book.local_names) == ({"Total": "Loans!$A$2:$B$3"}, {("Two", "Here"): "$A$1"})


def test_formulas_come_along_and_those_without_a_value_are_calculated(tmp_path: Path) -> None:
    filled = '<Cell ss:Formula="=RC[-1]*2"><Data ss:Type="Number">{}</Data></Cell>'
    rows = (
        row(cell("1", "Number"), filled.format(2))
        + row(cell("2", "Number"), filled.format(4))
        + row('<Cell ss:Formula="=SUM(R[-2]C:R[-1]C)"/>', '<Cell ss:Formula="=SUM(R[-2]C:R[-1]C)"/>')
        + row('<Cell ss:ArrayRange="RC:RC[1]" ss:Formula="=R1C1:R1C2*10"><Data ss:Type="Number">10</Data></Cell>',
              cell("20", "Number"))
        + row('<Cell ss:Formula="=&quot;&quot;"><Data ss:Type="String"></Data></Cell>')
    )  # fmt: skip
    path = tmp_path / "a.xls"
    path.write_bytes(document(sheet(rows)))
    raw = read(path)["Loans"]
    assert [raw.formula(*at) for at in ((0, 1), (1, 1), (2, 0), (2, 1), (3, 0))] == [
        "A1*2", "A2*2", "SUM(A1:A2)", "SUM(B1:B2)", "$A$1:$B$1*10",
    ]  # fmt: skip
    assert list(raw.formulas.arrays.values()) == ["A4:B4"]
    assert len(raw.formulas.text) == 4
    assert (raw.value(2, 0), raw.kind(4, 0)) == (None, Kind.TEXT)
    book = core.read(path)
    assert (book["Loans"].value(2, 0), book["Loans"].value(2, 1)) == (3.0, 6.0)
    book.set("Loans", "A1", 5)
    book.recalculate()
    assert [book["Loans"].value(*at) for at in ((0, 1), (2, 0), (2, 1), (3, 0), (3, 1))] == [
        10.0,
        7.0,
        14.0,
        50.0,
        100.0,
    ]


@every("encoding, head", [
    ("utf-8", '<?xml version="1.0"?>'),
    ("utf-8-sig", '<?xml version="1.0" encoding="UTF-8"?>'),
    ("utf-16", '<?xml version="1.0" encoding="UTF-16"?>'),
    ("cp1252", '<?xml version="1.0" encoding="windows-1252"?>'),
    ("iso8859-1", '<?xml version="1.0" encoding="ISO-8859-1"?>'),
    ("cp1251", '<?xml version="1.0" encoding="windows-1251"?>'),
    ("gb18030", '<?xml version="1.0" encoding="GB2312"?>'),
])  # fmt: skip
def test_encodings(encoding: str, head: str) -> None:
    text = {"cp1251": "Заём", "gb18030": "贷款"}.get(encoding, "Émetteur")
    data = document(sheet(row(cell(text))), head=head).decode().encode(encoding)
    assert file_kind(data) == "xml"
    assert read_spreadsheetml(data).sheets[0].value(0, 0) == text


@every("head", [
    "",
    "\n ",
    '<?xml version="1.0"?>\n<!-- by a portal -->\n',
])  # fmt: skip
def test_every_door_takes_it_by_any_name(tmp_path: Path, head: str) -> None:
    data = document(sheet(row(cell("Alder"), cell("5", "Number"))), head=head)
    for name in ("a.xls", "a.xml", "a.xlsx", "a.csv"):
        path = tmp_path / name
        path.write_bytes(data)
        for book in (read(path), read_files([(name, data), ("b", data)])):
            assert [book.sheets[0].value(0, at) for at in (0, 1)] == ["Alder", 5.0]
    for book in (core.read(path), core.read(data, name="a.xls")):
        assert [book.sheets[0].value(0, at) for at in (0, 1)] == ["Alder", 5.0]
    (result,) = probe(tmp_path / "a.csv", file_name="tape.xls").sheets
    assert (result.name, result.row_count, result.column_count) == ("Loans", 1, 2)


def test_prefixes_and_attributes_without_one_mean_the_same() -> None:
    data = (
        b'<?xml version="1.0"?><s:Workbook xmlns:s="urn:schemas-microsoft-com:office:spreadsheet"><s:Worksheet '
        b's:Name="L"><s:Table><s:Row><s:Cell><s:Data Type="Number">5</s:Data></s:Cell></s:Row></s:Table></s:Worksheet>'
        b"</s:Workbook>"
    )
    assert file_kind(data) == "xml"
    assert read_spreadsheetml(data)["L"].value(0, 0) == 5.0


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@every("data, kind, hint", [
    (document(sheet(row(cell("&b;"))), head='<?xml version="1.0"?>' + BOMB), ParseFailed, "document type"),
    (document(sheet(row(cell("a"))))[:-9], ParseFailed, "not well-formed XML: .* in line 1"),
    (document(sheet(row(cell("a & b")))), ParseFailed, "not well-formed"),
    (document(), InvalidFormat, "without a worksheet"),
    (document(*[sheet("", f"S{at}") for at in range(51)]), TooManySheets, "limit of 50"),
    (document(sheet("", "A"), sheet("", "a")), ParseFailed, "same name"),
    (document(sheet(row(cell("a", Index="16385")))), ParseFailed, "past column 16,384"),
    (document(sheet(row(cell("a"), Index="1048577"))), ParseFailed, "below row 1,048,576"),
    (document(sheet(row(cell("a"), Index="99999999999"))), ParseFailed, "no whole number"),
    (document(sheet(row(cell("a", MergeDown="1048576")))), ParseFailed, "below row"),
    (document(sheet(row(cell("a"), cell("b", Index="1")))), ParseFailed, "before the one that it follows"),
    (document(sheet(row(Index="5") + row(Index="5"))), ParseFailed, "before the one that it follows"),
    (document(*[sheet(row(Hidden="1", Span="1048570"), f"S{at}") for at in range(49)]), ParseFailed, "5,000,000"),
    (document(*[sheet(row(*[cell("a")] * 60) + row(*[cell("a")] * 60, Index="1000000"))]), ParseFailed, "50,000,000"),
    (document("<x>" * 100 + "</x>" * 100), ParseFailed, "nested deeper"),
    (document(head='<?xml version="1.0" encoding="unicode_escape"?>'), ParseFailed, "encoding 'unicode_escape'"),
    (document(head='<?xml version="1.0" encoding="zip"?>'), ParseFailed, "encoding 'zip'"),
    (b'<?xml version="1.0"?><rss/>', InvalidFormat, "XML document"),
], ids=lambda row: row[2])  # fmt: skip
def test_hostile_and_broken_files_are_refused(data: bytes, kind: type[FileRefused], hint: str) -> None:
    with pytest.raises(kind, match=hint):
        read_files([("a.xls", data)])
