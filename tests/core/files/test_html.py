"""Web pages by the name of .xls.

Tables as Excel lays them out, values as it takes them, and pages made to harm.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import core
from core.files.errors import FileRefused, InvalidFormat, ParseFailed
from core.files.html import read_html
from core.files.kinds import file_kind
from core.files.read import probe, read, read_files
from core.grid.sheet import Sheet, Workbook
from core.values import Kind, from_serial
from tests.conftest import within
from tests.rows import every


def page_of(text: str) -> Sheet:
    (page,) = read_html(text.encode(), "page").sheets
    return page


def cells(page: Sheet) -> list[list[Any]]:
    return [[page.value(row, column) for column in range(page.column_count)] for row in range(page.row_count)]


def shown(book: Workbook, row: int, column: int) -> str:
    own_column = book.sheets[0].columns[column]
    assert own_column is not None
    return book.number_formats[int(own_column.dense.formats[own_column.slot(row)])]


def test_a_plain_table() -> None:
    page = page_of(
        "<table border=1><thead><tr><th>Name</th><th>CUSIP</th><th>Par</th><th>Rate</th><th>Maturity</th></tr></thead>"
        "<tbody><tr><td> Alder &amp; Co&nbsp;</td><td>00123AB7</td><td>1,234,567.89</td><td>5.25%</td>"
        "<td>31-Mar-2031</td></tr><tr><td>Birch<br>Inc.</td><td>037833100</td><td>(1,000)</td><td>&nbsp;</td><td>#N/A"
        "</td></tr></tbody></table>"
    )
    assert cells(page) == [
        ["Name", "CUSIP", "Par", "Rate", "Maturity"],
        ["Alder & Co", "00123AB7", 1234567.89, 0.0525, page.value(1, 4)],
        ["Birch\nInc.", "037833100", -1000.0, None, "#N/A"],
    ]
    assert (page.kind(1, 4), page.kind(2, 4)) == (Kind.DATE, Kind.ERROR)
    assert from_serial(float(page.value(1, 4) or 0)) == datetime(2031, 3, 31)  # noqa: DTZ001


def test_tags_that_are_never_closed() -> None:
    text = "<TABLE><TR><TD>a<TD>b<TR><TD><P>c<P>d<TD><FONT color=red>e<TR><TD>f</TABLE>"
    assert cells(page_of(text)) == [["a", "b"], ["c\nd", "e"], ["f", None]]


def test_spans_and_merged_ranges() -> None:
    page = page_of(
        "<table><tr><th rowspan=2>Name<th colspan=2>Par<th rowspan=99>End<tr><th>Funded<th>Unfunded"
        "<tr><td>a<td>1<td>2<tr><td colspan=3>Total</table><p>after"
    )
    assert cells(page) == [
        ["Name", "Par", None, "End"],
        [None, "Funded", "Unfunded", None],
        ["a", 1.0, 2.0, None],
        ["Total", None, None, None],
        ["after", None, None, None],
    ]
    assert sorted(page.merged) == [(0, 0, 1, 0), (0, 1, 0, 2), (0, 3, 3, 3), (3, 0, 3, 2)]


def test_several_tables_stand_below_one_another_with_the_text_around_them() -> None:
    page = page_of(
        "<title>no cell</title><h1>Deal report</h1>As of: <b>March</b> 2024<table><tr><td>a</table><table><tr><td>b"
        "</table><p>Notes</p><script>document.write('<td>no cell')</script><table><tr><td>c</table>"
    )
    assert cells(page) == [["Deal report"], ["As of: March 2024"], ["a"], [None], ["b"], ["Notes"], ["c"]]


def test_a_table_in_a_cell_begins_in_that_cell() -> None:
    inner = "<table><tr><td>in1<td>in2<tr><td>in3<td>in4</table>"
    assert cells(page_of(f"<table><tr><td>left<td>{inner}<td>right<tr><td>below</table>")) == [
        ["left", "in1", "in2", "right"],
        [None, "in3", "in4", None],
        ["below", None, None, None],
    ]
    wrapped = f"<table><tr><td>Title<tr><td>before {inner} after<tr><td>{inner}{inner}</table>"
    assert [row[0] for row in cells(page_of(wrapped))] == [
        "Title", "before", "in1", "in3", "after", "in1", "in3", "in1", "in3",
    ]  # fmt: skip


def test_what_excel_writes_of_values_and_formats() -> None:
    book = read_html(
        rb"""<html xmlns:x="urn:schemas-microsoft-com:office:excel"><head>
        <!--[if gte mso 9]><xml><x:ExcelWorkbook><x:ExcelWorksheets><x:ExcelWorksheet><x:Name>Pool 1</x:Name>
        </x:ExcelWorksheet></x:ExcelWorksheets></x:ExcelWorkbook></xml><![endif]-->
        <style><!-- .t{mso-number-format:"\@";} .d {color:red; mso-number-format:"mm\/dd\/yyyy"}
        .p{mso-number-format:Percent;} .u{mso-number-format:\@} .c{mso-number-format:"\0022$\0022\#\,\#\#0\.00"} -->
        </style></head><body><table><tr>
        <td x:num="45382" class="xl d">31-Mar<td class=d>04/03/2024<td x:num="0.0525" class=p>5%<td class=t>00123
        <td class=u>123<td x:str>5<td x:str="'007">7<td x:num>1,234<td style='mso-number-format:"0\.000"'>1.500
        <td x:bool=TRUE>yes<td x:err="#DIV/0!">#DIV/0!<td class=c x:num="1.5">$1.50<td x:num="x">9
        </table></body></html>""",
        "page",
    )
    (page,) = book.sheets
    assert page.name == "Pool 1"
    assert cells(page) == [
        [45382.0, 45385.0, 0.0525, "00123", "123", "5", "007", 1234.0, 1.5, True, "#DIV/0!", 1.5, 9.0]
    ]
    assert [page.kind(0, at) for at in (0, 1, 2)] == [Kind.DATE, Kind.DATE, Kind.NUMBER]
    assert [shown(book, 0, at) for at in (0, 1, 2, 8, 11)] == [
        "mm/dd/yyyy", "mm/dd/yyyy", "0.00%", "0.000", '"$"#,##0.00',
    ]  # fmt: skip


def test_the_decimal_sign_is_that_of_the_page() -> None:
    assert cells(page_of("<table><tr><td>1.234<td>5,25%<td>1.234.567,8</table>")) == [[1234.0, 0.0525, 1234567.8]]
    assert cells(page_of("<table><tr><td>1,234<td>5.25%<td>1,5</table>")) == [[1234.0, 0.0525, "1,5"]]


def test_rows_that_are_not_displayed_are_hidden() -> None:
    page = page_of('<table><tr><td>a<tr style="display:none"><td>b<tr><td>c</table>')
    assert (cells(page), list(page.hidden_rows)) == ([["a"], ["b"], ["c"]], [1])


@every(
    "encoding, head",
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-16-le", ""),
        ("utf-8", '<meta charset="utf-8">'),
        ("cp1252", ""),
        ("cp1252", '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">'),
        ("cp1251", '<meta http-equiv=Content-Type content="text/html; charset=windows-1251">'),
        ("shift_jis", "<meta charset=Shift_JIS>"),
        ("utf-8", "<meta charset=utf-16>"),
    ],
)
def test_encodings(encoding: str, head: str) -> None:
    name = {"cp1251": "Заём", "shift_jis": "銀行"}.get(encoding, "Émetteur")
    data = f"<html><head>{head}</head><table><tr><td>{name}</table></html>".encode(encoding)
    assert file_kind(data) == "html"
    assert read_html(data, "page").sheets[0].value(0, 0) == name


@every(
    "head",
    [
        "<!DOCTYPE html>\n<html>",
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x"><html>',
        "  \r\n<!-- by a portal --><style>td{}</style>",
        "<div>",
        "<center><font size=2>",
        "<head>",
        "<!-- " + "x" * 9_000 + " -->",
        "",
    ],
)
def test_how_pages_begin(head: str) -> None:
    data = f"{head}<table><tr><td>Name<td>Par<tr><td>Alder<td>5</table>".encode()
    assert file_kind(data) == "html"
    assert cells(read_files([("a.xls", data)]).sheets[0])[-1][:2] == ["Alder", 5.0]


def test_every_door_takes_a_page_by_any_name(tmp_path: Path) -> None:
    data = b"<table><tr><td>Name<td>Par<tr><td>Alder<td>5</table>"
    for name in ("Pool.xls", "Pool.html"):
        path = tmp_path / name
        path.write_bytes(data)
        for book in (read(path), core.read(path), core.read(data, name=name), read_files([(name, data), ("b", data)])):
            page = book.sheets[0]
            assert (page.name, page.value(1, 0), page.value(1, 1)) == ("Pool", "Alder", 5.0)
    (result,) = probe(tmp_path / "Pool.xls", file_name="Tape.xls").sheets
    assert (result.name, result.row_count, result.column_count) == ("Tape", 2, 2)


def test_a_page_longer_than_a_sheet_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.files.cells.ROWS_MAX", 100)
    assert page_of("<table>" + "<tr>" * 100 + "<td>1").row_count == 100
    with pytest.raises(ParseFailed, match="below row 100"):
        page_of("<table>" + "<tr>" * 101 + "<td>1")


def test_among_several_files_a_page_without_a_table_is_left_out() -> None:
    table = ("loans.csv", b"a,b\n1,2\n")
    for name, data in (("read me.html", b"<html>Dear holders"), ("meta.xml", b'<?xml version="1.0"?><x/>')):
        assert read_files([table, (name, data)]).left_out == (name,)
        with pytest.raises(InvalidFormat):
            read_files([(name, data)])


def test_a_header_in_angle_brackets_is_text() -> None:
    assert file_kind(b"<DATE>,<OPEN>\n1,2\n") == "csv"


ENTITIES = '<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>'


def test_entities_of_the_pages_own_are_text() -> None:
    result = cells(page_of(f"{ENTITIES}<table><tr><td>&b;<td>&f;</table>"))
    assert [cell for row in result for cell in row if cell][-2:] == ["&b;", "&f;"]


@every(
    "text, kind, hint",
    [
        ("<html><body>Please log in</body></html>", InvalidFormat, "without a table"),
        ("<html><table></table></html>", InvalidFormat, "tables are empty"),
        ("<table><tr>" + "<td>1" * 16_385, ParseFailed, "past column 16,384"),
        ("<table><tr>" + "<td colspan=1000>1" * 17 + "<td>1", ParseFailed, "past column 16,384"),
        ("<table><tr>" + "<td rowspan=65534>1" * 9_000 + "<tr>" * 9_000, ParseFailed, "limit of 50,000,000"),
        ("<table><tr><td>" * 40, ParseFailed, "deeper than the limit of 32"),
        ("<table><tr><td>" + "<b>" * 6_000, ParseFailed, "nested deeper"),
        ("<meta charset=utf-7><table><tr><td>1</table>", ParseFailed, "encoding 'utf-7'"),
    ],
    ids=lambda row: row[2],
)
def test_hostile_and_empty_pages_are_refused(text: str, kind: type[FileRefused], hint: str) -> None:
    with pytest.raises(kind, match=hint):
        read_files([("a.xls", text.encode())])


@every(
    "text",
    [
        "<table><tr><td>1</table>" + "<" * 500_000,
        "<table><tr><td>" + " " * 1_000_000 + "x",
        "<table><tr><td>1<style>" + ".a{" * 300_000,
        "<table><tr><td>1<style>" + "." * 900_000,
        '<table><tr><td style="' + "mso-number-format:" * 50_000 + '">1',
        "<table><tr><td>1" + "<!--" * 200_000,
        "<table><tr><td>" + "&" * 500_000,
        "<table><tr><td " + "a=b " * 200_000 + ">1",
        "<table>" + "<tr><td rowspan=2 colspan=900>1" * 20_000,
        "<table><tr><td>" + ">((((((((-,,,,,,,,,,1" * 50_000,
    ],
    ids=lambda row: row[0][:40],
)
def test_a_page_costs_no_more_than_its_length(text: str) -> None:
    with within(15):
        assert page_of(text).row_count >= 1
