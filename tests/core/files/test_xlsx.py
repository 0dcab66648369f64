"""Real files, written by two other libraries, read the same by us and by two other readers."""

from __future__ import annotations

import math
import string
import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import python_calamine
import xlsxwriter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.formula import ArrayFormula

from core.files.parts import parse_table
from core.files.read import probe, read
from core.files.xlsx import read_xlsx
from core.grid.address import cell_name
from core.grid.sheet import Sheet, Table, Workbook
from core.values import Kind, from_serial, to_serial

REAL = Path(__file__).parents[4] / "shared" / "data" / "mag17.xlsx"
MOMENT = datetime(2024, 2, 29, 13, 30, 15)  # noqa: DTZ001

Cells = list[list[Any]]

MIXED: Cells = [
    ["Loan", "Par", "Maturity", "Cov-lite", "Note", None],
    ["Ünïcode 😀", 1_000_000.25, date(2031, 6, 30), True, "", -0.1],
    ["  spaces  ", -1.0, MOMENT, False, "a<b>&\"'c", 1e300],
    ["line\nbreak\ttab", 0.1 + 0.2, date(1900, 3, 1), True, "plain", 5e-324],
    [None, None, None, None, None, 123456789012345678],
]


def written_by_xlsxwriter(path: Path, rows: Cells, *, date_1904: bool = False, **options: Any) -> Path:
    with xlsxwriter.Workbook(
        path, {"date_1904": date_1904, "strings_to_formulas": False, "strings_to_urls": False, **options}
    ) as book:
        day, moment = book.add_format({"num_format": "yyyy-mm-dd"}), book.add_format({"num_format": 22})
        page = book.add_worksheet("Holdings")
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                if isinstance(value, datetime):
                    page.write_datetime(r, c, value, moment)
                elif isinstance(value, date):
                    page.write_datetime(r, c, value, day)
                elif isinstance(value, str):
                    page.write_string(r, c, value)
                elif value is not None:
                    page.write(r, c, value)
    return path


def written_by_openpyxl(path: Path, rows: Cells, **_: Any) -> Path:
    book = openpyxl.Workbook()
    page = book.active
    page.title = "Holdings"
    for row in rows:
        page.append(row)
    book.save(path)
    return path


def plain(book: Workbook, sheet: Sheet, row: int, column: int) -> Any:
    """A cell as Python would say it."""
    value = sheet.value(row, column)
    if sheet.kind(row, column) == Kind.DATE:
        assert isinstance(value, float)
        return from_serial(value, date_1904=book.date_1904)
    return value


def expected(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, (str, datetime)):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return float(f"{value:.16G}") if abs(value) < 1e300 else float(value)


@pytest.mark.parametrize("writer", [written_by_xlsxwriter, written_by_openpyxl])
@pytest.mark.parametrize("constant_memory", [False, True])
def test_what_was_written_is_read(tmp_path: Path, writer: Callable[..., Path], constant_memory: bool) -> None:
    path = writer(tmp_path / "a.xlsx", MIXED, constant_memory=constant_memory)
    book = read(path)
    (sheet,) = book.sheets
    for r, row in enumerate(MIXED):
        for c, value in enumerate(row):
            got = plain(book, sheet, r, c)
            if isinstance(value, float | int) and not isinstance(value, bool):
                assert math.isclose(got, value, rel_tol=1e-15), (r, c)
            else:
                assert got == expected(value) or (value == "" and got is None), (r, c)
    assert (sheet.name, sheet.row_count, sheet.column_count) == ("Holdings", 5, 6)


def test_the_1904_system(tmp_path: Path) -> None:
    book = read(written_by_xlsxwriter(tmp_path / "a.xlsx", MIXED[1:3], date_1904=True))
    assert book.date_1904
    assert plain(book, book.sheets[0], 0, 2) == datetime(2031, 6, 30)  # noqa: DTZ001
    assert book.sheets[0].value(0, 2) == to_serial(date(2031, 6, 30)) - 1462


def test_what_an_extension_calls_like_an_element_of_a_workbook_is_none(
    zipped: Callable[..., Path], parts_of: Callable[..., dict[str, str]], xml_of: Callable[..., str]
) -> None:
    """x15:workbookPr says nothing of dates, and an extension's name, sheet, column and filter are not the file's."""
    parts = parts_of([xml_of("<row><c><v>5</v></c></row>")])
    extension = (
        '<extLst><ext><x:workbookPr xmlns:x="x15" chartTrackingRefBase="1"/><x:definedName xmlns:x="x14" name="Mine">'
        '<xm:f xmlns:xm="xm">1</xm:f></x:definedName><x:sheet xmlns:x="x15" name="None" id="rId1"/></ext></extLst>'
    )
    parts["xl/workbook.xml"] = (
        parts["xl/workbook.xml"]
        .replace("<sheets>", '<workbookPr date1904="1"/><sheets>')
        .replace("</workbook>", extension + "</workbook>")
    )
    book = read(zipped(parts))
    assert (book.date_1904, len(book.sheets), book.defined_names) == (True, 1, {})
    table = (
        '<table xmlns="m" displayName="Loans" ref="A1:A2"><tableColumns><tableColumn name="Par"/></tableColumns>'
        '<extLst><ext><x:tableColumn xmlns:x="x14" name="Other"/><x:filterColumn xmlns:x="x14"/></ext></extLst></table>'
    )
    table_part = parse_table(table.encode())
    assert (table_part.name, table_part.columns, table_part.filtered) == ("Loans", ["Par"], False)


def feature_file(path: Path) -> Path:
    """Formulas, errors, formats, merges, hidden sheets, a chart sheet, rich text, names."""
    with xlsxwriter.Workbook(path) as book:
        percent = book.add_format({"num_format": "0.00%"})
        page = book.add_worksheet("Data 1")
        page.write_number("A1", 0.25, percent)
        page.write_formula("B1", "=A1*2", percent, 0.5)
        page.write_formula("B2", '="x"&A1', None, "x0.25")
        page.write_formula("B3", "=1/0", None, "#DIV/0!")
        page.write_formula("B4", "=TRUE", None, True)
        page.write_array_formula("C1:C3", "{=A1:A3*2}", None, 1)
        page.write_dynamic_array_formula("D1:D2", "=_xlfn.UNIQUE(A1:A2)", None, 3)
        page.merge_range("E1:F2", "merged")
        page.write_rich_string("A2", "plain ", book.add_format({"bold": True}), "bold", " again")
        page.write_blank("Z99", None, percent)
        book.add_worksheet("Hidden").hide()
        deep = book.add_worksheet("Deep")
        deep.very_hidden()
        deep.write("C3", 1)
        chart = book.add_chart({"type": "line"})
        chart.add_series({"values": "='Data 1'!$A$1:$A$2"})
        book.add_chartsheet("Chart").set_chart(chart)
        book.add_worksheet("Last")
        book.define_name("Par_Total", "='Data 1'!$A$1:$A$2")
    return path


def test_features_of_a_real_workbook(tmp_path: Path) -> None:
    path = feature_file(tmp_path / "a.xlsx")
    book = read(path)
    assert [(s.name, s.index, s.state) for s in book.sheets] == [
        ("Data 1", 0, "visible"),
        ("Hidden", 1, "hidden"),
        ("Deep", 2, "veryHidden"),
        ("Last", 3, "visible"),
    ]
    sheet = book["data 1"]
    assert [sheet.value(row, 1) for row in range(4)] == [0.5, "x0.25", "#DIV/0!", True]
    assert [sheet.kind(row, 1) for row in range(4)] == [Kind.NUMBER, Kind.TEXT, Kind.ERROR, Kind.BOOLEAN]
    assert [sheet.formula(row, 1) for row in range(4)] == ["A1*2", '"x"&A1', "1/0", "TRUE"]
    assert (sheet.formula(0, 2), sheet.formula(0, 3)) == ("A1:A3*2", "_xlfn.UNIQUE(A1:A2)")
    assert sorted(sheet.formulas.arrays.values()) == ["C1:C3", "D1:D2"]
    assert (sheet.value(1, 0), sheet.value(0, 4), sheet.merged) == ("plain bold again", "merged", ((0, 4, 1, 5),))
    column = sheet.columns[0]
    assert column is not None
    assert [book.number_formats[at] for at in column.formats] == ["0.00%", "General"]
    assert book.defined_names == {"Par_Total": "'Data 1'!$A$1:$A$2"}
    assert (sheet.row_count, sheet.column_count) == (4, 5)
    assert [(s.name, s.row_count, s.column_count, s.state) for s in probe(path, file_name="a.xlsm").sheets] == [
        (s.name, s.row_count, s.column_count, s.state) for s in book.sheets
    ]


OFFICE_DRAFT = "http://schemas.microsoft.com/office/2017/06/relationships"
RICH = {
    "xl/metadata.xml": (
        '<metadata xmlns="m"><metadataTypes><metadataType name="XLDAPR"/><metadataType name="XLRICHVALUE"/>'
        '</metadataTypes><futureMetadata name="XLDAPR"><bk/></futureMetadata><futureMetadata name="XLRICHVALUE">'
        + "".join(f'<bk><extLst><ext><rvb i="{at}"/></ext></extLst></bk>' for at in (0, 1, 2, 3, 99))
        + '</futureMetadata><cellMetadata><bk><rc t="1" v="0"/></bk></cellMetadata><valueMetadata>'
        + "".join(f'<bk><rc t="2" v="{at}"/></bk>' for at in (0, 1, 2, 3, 4, 5))
        + '<bk><rc t="1" v="0"/></bk></valueMetadata></metadata>'
    ),
    "xl/richData/rdrichvalue.xml": (
        '<rvData xmlns="r"><rv s="0"><v>13</v><v>0</v></rv><rv s="1"><v>2</v><v>8</v><v>0</v><v>1</v></rv>'
        '<rv s="2"><v>13</v></rv><rv s="0"><v>77</v><v>0</v></rv></rvData>'
    ),
    "xl/richData/rdrichvaluestructure.xml": (
        '<rvStructures xmlns="r"><s t="_error"><k n="errorType" t="i"/><k n="subType" t="i"/></s><s t="_error">'
        '<k n="colOffset" t="i"/><k n="errorType" t="i"/><k n="rwOffset" t="i"/><k n="subType" t="i"/></s>'
        '<s t="_entity"><k n="errorType" t="i"/></s></rvStructures>'
    ),
}


@pytest.mark.parametrize("spoiled", [None, *RICH])
def test_errors_that_are_younger_than_the_format(
    zipped: Callable[..., Path],
    parts_of: Callable[..., dict[str, str]],
    xml_of: Callable[..., str],
    spoiled: str | None,
) -> None:
    """Such a cell says #VALUE!, and its `vm` leads to the true error.

    Parts that cannot be read leave it at that.
    """
    cells = "".join(f'<c t="e" vm="{vm}"><v>#VALUE!</v></c>' for vm in (1, 2, 3, 4, 5, 6, 7, 8, 0, "x"))
    parts = parts_of([xml_of(f'<row>{cells}<c vm="1"><v>5</v></c><c t="e"><v>#REF!</v></c></row>')]) | RICH
    kinds = ("officeDocument/2006/relationships/sheetMetadata", "rdRichValue", "rdRichValueStructure")
    links = "".join(
        f'<Relationship Id="m{at}" Type="{OFFICE_DRAFT}/{kind}" Target="/{part}"/>'
        for at, (kind, part) in enumerate(zip(kinds, RICH, strict=True))
    )
    name = "xl/_rels/workbook.xml.rels"
    parts[name] = parts[name].replace("</Relationships>", links + "</Relationships>")
    if spoiled is not None:
        parts[spoiled] = "<broken"
    sheet = read(zipped(parts)).sheets[0]
    result = [sheet.value(0, column) for column in range(12)]
    younger = ["#CALC!", "#SPILL!"] if spoiled is None else ["#VALUE!", "#VALUE!"]
    assert result == [*younger, *["#VALUE!"] * 8, 5.0, "#REF!"]


def test_a_table_with_an_extension(
    zipped: Callable[..., Path], parts_of: Callable[..., dict[str, str]], xml_of: Callable[..., str]
) -> None:
    """Its alternative text stands in a second element that is called table."""
    parts = parts_of([xml_of('<row><c t="str"><v>a</v></c></row><row><c><v>1</v></c></row>')])
    rels = "http://schemas.openxmlformats.org/package/2006/relationships"
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/table"
    parts["xl/worksheets/_rels/sheet1.xml.rels"] = (
        f'<Relationships xmlns="{rels}"><Relationship Id="t" Type="{kind}" Target="/xl/table.xml"/></Relationships>'
    )
    parts["xl/table.xml"] = (
        '<table xmlns="m" displayName="Pool" ref="A1:A2"><tableColumns><tableColumn name="a"/></tableColumns>'
        '<extLst><ext><x:table xmlns:x="n" altText="all loans"/></ext></extLst></table>'
    )
    assert read(zipped(parts)).tables == (Table("Pool", "Sheet1", 0, 0, 1, 0, ("a",)),)


def test_what_formulas_may_refer_to_and_ask_for(tmp_path: Path) -> None:
    """Tables, names of one sheet, spilling formulas, hidden rows with and without a filter."""
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet("Loans")
        page.add_table("B2:C5", {"name": "Pool", "total_row": True, "columns": [{"header": "Par"}, {"header": "a\nb"}]})
        page.add_table("E1:E2", {"name": "Bare", "header_row": False})
        page.write_array_formula("G1:G2", "{=B3:B4*2}", None, 0)
        page.write_dynamic_array_formula("H1:H2", "=_xlfn.SORT(B3:B4)", None, 0)
        page.set_row(3, None, None, {"hidden": True})
        page.set_row(9, None, None, {"hidden": True})
        second = book.add_worksheet("Other")
        second.autofilter("A1:A3")
        second.filter_column("A", "x > 1")
        second.set_row(1, None, None, {"hidden": True})
        book.define_name("Rate", "=0.05")
        book.define_name("Other!Rate", "=Other!$A$1")
    read_back = read(path)
    loans, filtered = read_back.sheets
    assert read_back.tables == (
        Table("Pool", "Loans", 1, 1, 4, 2, ("Par", "a\nb"), header_rows=1, totals_rows=1),
        Table("Bare", "Loans", 0, 4, 1, 4, ("Column1",), header_rows=0, totals_rows=0),
    )
    assert read_back.defined_names == {"Rate": "0.05"}
    assert read_back.local_names == {("Other", "Rate"): "Other!$A$1"}
    assert (loans.hidden_rows.tolist(), loans.filtered) == ([3, 9], False)
    assert (filtered.hidden_rows.tolist(), filtered.filtered) == ([1], True)
    assert [loans.formulas.arrays[at] for at in loans.formulas.dynamic] == ["H1:H2"]


@pytest.mark.parametrize(
    "make",
    [
        feature_file,
        lambda path: written_by_xlsxwriter(path, MIXED),
        lambda path: written_by_openpyxl(path, MIXED),
        *([lambda _: REAL] if REAL.exists() else []),
    ],
)
def test_peers_read_the_same(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """openpyxl for values, formats, formulas and merges; calamine for values."""
    path = make(tmp_path / "a.xlsx")
    book = read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, formulas = openpyxl.load_workbook(path, data_only=True), openpyxl.load_workbook(path)
    quick = python_calamine.CalamineWorkbook.from_path(path)
    for sheet in book.sheets:
        peer, peer_formulas = values[sheet.name], formulas[sheet.name]
        rows = quick.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False)
        assert sorted(str(range_) for range_ in peer.merged_cells.ranges) == sorted(
            f"{cell_name(a, b)}:{cell_name(c, d)}" for a, b, c, d in sheet.merged
        )
        for r in range(sheet.row_count):
            for c in range(sheet.column_count):
                ours, cell = plain(book, sheet, r, c), peer.cell(r + 1, c + 1)
                assert same_as_openpyxl(ours, cell.value), cell
                if sheet.kind(r, c) != Kind.BLANK:
                    column = sheet.columns[c]
                    assert column is not None
                    assert book.number_formats[column.formats[r - column.start]] == cell.number_format, cell
                assert same_formula(sheet.formula(r, c), peer_formulas.cell(r + 1, c + 1).value), cell
                theirs = rows[r][c] if r < len(rows) and c < len(rows[r]) else ""
                assert same_as_calamine(ours, sheet.kind(r, c), theirs), cell


def same_as_openpyxl(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, time) and isinstance(ours, datetime):
        return ours.time() == theirs
    return bool(ours == theirs or (ours == "" and theirs is None))


def same_formula(ours: str | None, theirs: Any) -> bool:
    if isinstance(theirs, ArrayFormula):
        theirs = theirs.text
    if isinstance(theirs, str) and theirs.startswith("="):
        return ours == theirs[1:]
    return ours is None


def same_as_calamine(ours: Any, kind: Kind, theirs: Any) -> bool:
    if kind in (Kind.ERROR, Kind.BLANK) or ours == "":
        return bool(theirs == "")
    if isinstance(ours, datetime) and isinstance(theirs, date) and not isinstance(theirs, datetime):
        return ours.date() == theirs
    return bool(ours == theirs)


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-290 < abs(x) < 1e290),
    st.integers(-(10**15), 10**15),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), min_size=1, max_size=8),
    st.text(string.ascii_letters + "_x0<&>", min_size=1, max_size=10),
    st.datetimes(datetime(1901, 1, 1), datetime(2200, 1, 1)).map(lambda moment: moment.replace(microsecond=0)),  # noqa: DTZ001
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(cells, max_size=6), max_size=8), st.booleans())
def test_any_grid_survives(tmp_path: Path, rows: Cells, constant_memory: bool) -> None:
    path = written_by_xlsxwriter(tmp_path / "grid.xlsx", rows, constant_memory=constant_memory)
    book = read(path)
    (sheet,) = book.sheets
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            got = plain(book, sheet, r, c)
            if isinstance(value, datetime):
                assert got == value
            else:
                assert got == expected(value), (r, c)
    filled = [(r, c) for r, row in enumerate(rows) for c, value in enumerate(row) if value is not None]
    assert sheet.row_count == max((r + 1 for r, _ in filled), default=0)
    assert sheet.column_count == max((c + 1 for _, c in filled), default=0)
    actual_sheet = probe(path).sheets[0]
    assert (actual_sheet.row_count, actual_sheet.column_count) == (sheet.row_count, sheet.column_count)


def test_an_empty_workbook(tmp_path: Path) -> None:
    sheet = read(written_by_xlsxwriter(tmp_path / "a.xlsx", [])).sheets[0]
    assert (sheet.row_count, sheet.column_count, len(sheet.text), len(sheet.formulas)) == (0, 0, 0, 0)
    assert sheet.value(0, 0) is None


def test_strict_files_absolute_targets_and_prefixes(zipped: Callable[..., Path]) -> None:
    """The namespaces of strict Open XML, every element under a prefix, parts in unusual places."""
    strict = "http://purl.oclc.org/ooxml/officeDocument/relationships"
    main = "http://purl.oclc.org/ooxml/spreadsheetml/main"
    rels = "http://schemas.openxmlformats.org/package/2006/relationships"
    path = zipped(
        {
            "_rels/.rels": f'<p:Relationships xmlns:p="{rels}"><p:Relationship Id="a" Type="{strict}/officeDocument" '
            f'Target="/odd/book.xml"/></p:Relationships>',
            "odd/book.xml": f'<x:workbook xmlns:x="{main}" xmlns:q="{strict}"><x:workbookPr date1904="true"/>'
            f'<x:sheets><x:sheet name="S" sheetId="9" q:id="b"/></x:sheets></x:workbook>',
            "odd/_rels/book.xml.rels": f'<Relationships xmlns="{rels}"><Relationship Id="b" Type="{strict}/worksheet" '
            f'Target="../Pages/One%201.xml"/>'
            f'<Relationship Id="c" Type="{strict}/sharedStrings" Target="/strings.xml"/></Relationships>',
            "pages/one 1.xml": f'<x:worksheet xmlns:x="{main}"><x:sheetData><x:row r="2"><x:c r="B2" t="s">'
            f"<x:v>0</x:v></x:c></x:row></x:sheetData></x:worksheet>",
            "strings.xml": f'<x:sst xmlns:x="{main}"><x:si><x:t>here</x:t></x:si></x:sst>',
        }
    )
    book = read_xlsx(path)
    assert (book.date_1904, book.sheets[0].value(1, 1)) == (True, "here")


def test_styles_to_kinds(ods_path: Callable[..., Path]) -> None:
    codes = {
        164: "dd/mm/yyyy",
        165: '"day" 0',
        166: "[Red]0.00",
        167: "[h]:mm",
        168: "0.00\\d",
        169: "General",
        170: '0;"d"d',
    }
    formats = "".join(
        f"<numFmt numFmtId='{at}' formatCode='{code.replace(chr(34), '&quot;')}'/>" for at, code in codes.items()
    )
    ids = [0, 14, 22, 27, 45, 58, 9, 49, *codes]
    styles = (
        f"<styleSheet><numFmts>{formats}</numFmts><cellStyleXfs><xf numFmtId='14'/></cellStyleXfs>"
        f"<cellXfs>{''.join(f'<xf numFmtId={chr(39)}{at}{chr(39)}/>' for at in ids)}</cellXfs><dxfs><dxf><numFmt "
        f"numFmtId='165' formatCode='yyyy'/></dxf></dxfs></styleSheet>"
    )
    data = "".join(f'<c s="{at}"><v>59.5</v></c>' for at in range(len(ids)))
    book = read(
        ods_path(f'<row>{data}</row><row><c s="1"><v>-1</v></c><c s="1"><v>2958466</v></c></row>', styles=styles)
    )
    sheet = book.sheets[0]
    dated = [ids[c] for c in range(len(ids)) if sheet.kind(0, c) == Kind.DATE]
    assert dated == [14, 22, 27, 45, 58, 164], "167 is a length of time"
    assert [sheet.kind(1, c) for c in range(2)] == [Kind.NUMBER, Kind.NUMBER], (
        "what no date format can show is a number"
    )
    column = sheet.columns[9]
    assert column is not None
    assert book.number_formats[column.formats[0]] == '"day" 0'
    assert book.number_formats[0] == "General"


def test_a_workbook_read_from_memory_has_read_only_arrays(tmp_path: Path) -> None:
    sheet = read(feature_file(tmp_path / "a.xlsx")).sheets[0]
    arrays = [sheet.text.data, sheet.text.offsets, sheet.formulas.rows, sheet.columns[0].numbers]  # type: ignore[union-attr]
    assert not any(array.flags.writeable for array in arrays)
