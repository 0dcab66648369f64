"""OpenDocument spreadsheets.

Every kind of value, what is repeated, and files made to exhaust their reader.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import pytest

from core.files.errors import ParseFailed, TooManySheets
from core.files.ods import read_ods
from core.values import Kind, from_serial
from tests.conftest import within
from tests.rows import every

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text", "draw")
)


def content(*tables: str) -> str:
    body = "".join(f'<table:table table:name="S{at}">{table}</table:table>' for at, table in enumerate(tables))
    return (
        f'<office:document-content {SPACES} xmlns:calcext="urn:org:documentfoundation:names:calc"><office:body>'
        f"<office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    )


def cell(kind: str = "", value: str = "", shown: str = "", **more: str) -> str:
    named = {"date": "date-value", "time": "time-value", "boolean": "boolean-value"}.get(kind, "value")
    actual_text = f'office:value-type="{kind}"' + (f' office:{named}="{value}"' if value else "") if kind else ""
    others = "".join(f' table:{name.replace("_", "-")}="{text}"' for name, text in more.items())
    return f"<table:table-cell {actual_text}{others}>{f'<text:p>{shown}</text:p>' if shown else ''}</table:table-cell>"


def row(*cells: str, repeated: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{repeated}">{"".join(cells)}</table:table-row>'


@pytest.fixture
def ods_path(tmp_path: Path) -> Callable[..., Path]:
    def make(text: str, **parts: str) -> Path:
        path = tmp_path / "a.ods"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("content.xml", text)
            for name, part in parts.items():
                archive.writestr(name.replace("__", "/") + ".xml", part)
        return path

    return make


def test_values_keep_their_kinds_and_percentages(ods_path: Callable[..., Path]) -> None:
    text = (
        "A<text:s text:c='2'/>b<text:tab/><text:span>c</text:span></text:p>"
        "<office:annotation><text:p>no text</text:p></office:annotation><text:p>d"
    )
    book = read_ods(
        ods_path(
            content(
                row(
                    cell("string", "", text),
                    cell("float", "1234.5", "1,234.50"),
                    cell("percentage", "0.0572", "5.72%"),
                    cell("date", "2031-06-30", "30.06.31"),
                    cell("date", "2031-06-30T12:00:00", "x"),
                    cell("time", "PT01H30M00S", "01:30"),
                    cell("boolean", "true", "TRUE"),
                    cell("currency", "7", "7 EUR"),
                    cell("string", "", "#N/A", formula="of:=NA()"),
                    cell("float", "nan", "kept as shown"),
                    cell("date", "no day", "as shown"),
                )
            )
        )
    )
    (sheet,) = book.sheets
    assert [sheet.kind(0, at) for at in range(11)] == [
        Kind.TEXT, Kind.NUMBER, Kind.NUMBER, Kind.DATE, Kind.DATE, Kind.DATE, Kind.BOOLEAN, Kind.NUMBER, Kind.ERROR,
        Kind.TEXT, Kind.TEXT,
    ]  # fmt: skip
    assert sheet.value(0, 0) == "A  b\tc\nd"
    assert [sheet.value(0, at) for at in (1, 2, 5, 6, 7, 8)] == [1234.5, 0.0572, 0.0625, True, 7.0, "#N/A"]
    assert from_serial(float(sheet.value(0, 3) or 0)) == datetime(2031, 6, 30)  # noqa: DTZ001
    assert from_serial(float(sheet.value(0, 4) or 0)) == datetime(2031, 6, 30, 12)  # noqa: DTZ001
    shown = [book.number_formats[int(column.formats[0])] for column in sheet.columns if column is not None]
    assert shown[:6] == ["General", "General", "0.00%", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss"]


STYLES = """<office:automatic-styles>
<number:time-style style:name="N1" number:truncate-on-overflow="false"/><number:time-style style:name="N2"/>
<style:style style:name="length" style:family="table-cell" style:data-style-name="N1"/>
<style:style style:name="time" style:family="table-cell" style:data-style-name="N2" style:parent-style-name="length"/>
<style:style style:name="child" style:family="table-cell" style:parent-style-name="length"/></office:automatic-styles>
"""


def test_lengths_of_time_are_days_and_times_are_times(ods_path: Callable[..., Path]) -> None:
    columns = (
        '<table:table-column table:number-columns-repeated="2"/>'
        '<table:table-column table:default-cell-style-name="length"/><table:table-column/>'
    )
    lines = (
        row(cell("time", "PT36H00M00S"), cell("time", "PT06H00M00S"), cell("time", "PT06H00M00S"))
        + row(
            cell("time", "-PT06H00M00S"),
            cell("time", "PT6H", style_name="length"),
            cell("time", "PT6H", style_name="time"),
        )
        + row(cell("time", "PT24H"), cell("time", "PT23H59M59S", style_name="child"), cell(), cell("time", "PT0S"))
    )
    text = content(columns + lines).replace("<office:body>", STYLES + "<office:body>")
    spaces = 'xmlns:style="s" xmlns:number="n" xmlns:calcext'
    book = read_ods(ods_path(text.replace("xmlns:calcext", spaces)))
    (sheet,) = book.sheets
    result = {
        (at, column): (sheet.kind(at, column) == Kind.DATE, round(float(value), 6))
        for at in range(3)
        for column in range(4)
        if (value := sheet.value(at, column)) is not None
    }
    assert result == {
        (0, 0): (False, 1.5), (0, 1): (True, 0.25), (0, 2): (False, 0.25), (1, 0): (False, -0.25),
        (1, 1): (False, 0.25), (1, 2): (True, 0.25), (2, 0): (False, 1.0), (2, 1): (False, 0.999988),
        (2, 3): (True, 0.0),
    }  # fmt: skip
    lengths = sheet.columns[0]
    assert lengths is not None
    assert {book.number_formats[at] for at in lengths.formats.tolist()} == {"[h]:mm:ss"}
    # The styles may stand in their own part.
    styles = f'<office:document-styles {SPACES} {spaces}="c">{STYLES}</office:document-styles>'
    apart = read_ods(ods_path(content(columns + lines), styles=styles)).sheets[0]
    assert [apart.kind(0, 2), apart.kind(1, 1), apart.kind(1, 2)] == [Kind.NUMBER, Kind.NUMBER, Kind.DATE]


def test_what_is_repeated_stands_as_often_and_blanks_cost_nothing(ods_path: Callable[..., Path]) -> None:
    """The blank cells and rows with which every such file fills its sheets up."""
    (sheet,) = read_ods(
        ods_path(
            content(
                row(cell(number_columns_repeated="3"), cell("float", "2", number_columns_repeated="2"), repeated=2)
                + row(cell(number_columns_repeated="16384"), repeated=1_000)
                + row(cell("string", "", "end"), cell(number_columns_repeated="16383"))
                + row(cell(number_columns_repeated="16384"), repeated=1_048_000)
            )
        )
    ).sheets
    assert (sheet.row_count, sheet.column_count) == (1_003, 5)
    assert [sheet.value(at, 4) for at in (0, 1, 2)] == [2.0, 2.0, None]
    assert sheet.value(1_002, 0) == "end"
    assert sheet.columns[1] is None


FULL = 'table:number-columns-repeated="16384"'


@every(
    "text, hint",
    [
        (content(row(cell("float", "1", number_columns_repeated="16384"), repeated=1_048_576)), "limit of 5,000,000"),
        (content(row(*[cell("float", "1")] * 6, repeated=1_000_000)), "limit of 5,000,000"),
        (
            content(*[
                row(cell("float", "1", number_columns_repeated="60"))
                + row(cell(number_columns_repeated="1"), repeated=1_000_000)
                + row(cell("float", "1", number_columns_repeated="60"))
            ]),
            "limit of 50,000,000",
        ),
        (content(row(cell(number_columns_repeated="16384"), cell("float", "1"))), "past column 16,384"),
        (content(row(repeated=1_048_576) + row(cell("float", "1"))), "below row 1,048,576"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]>' + content(row()), "document type"),
        (content(row())[:-9], "well-formed"),
        ("<x/>", "no sheet"),
        ("<x>" * 300 + "</x>" * 300, "nested deeper"),
    ],
    ids=lambda item: str(item[1]),
)  # fmt: skip
def test_hostile_and_broken_files_are_refused(ods_path: Callable[..., Path], text: str, hint: str) -> None:
    with pytest.raises(ParseFailed, match=hint):
        read_ods(ods_path(text))


def test_a_thousand_bytes_cost_no_more_than_their_repetitions_may(ods_path: Callable[..., Path]) -> None:
    """The most that pass, and the least that do not, in a second or two.

    120 s were spent on less than a kilobyte.
    """
    path = ods_path(content(row(*[cell("string", "", "abc")] * 5, repeated=1_000_000)))
    assert path.stat().st_size < 1_000
    with within(10):
        (sheet,) = read_ods(path).sheets
        assert (sheet.row_count, sheet.column_count, sheet.value(999_999, 4)) == (1_000_000, 5, "abc")
        many = cell("string", "", "<text:s text:c='999'/>" * 90, number_columns_repeated="16000")
        for text in (
            content(row(cell("string", "", "abc"), repeated=1_048_576) + row(repeated=1_048_576) * 1_000),
            content(row(cell("float", "1", number_columns_repeated="16384"), repeated=999) * 20),
            content(row(many, repeated=300)),
        ):
            with suppress(ParseFailed):
                read_ods(ods_path(text))


def test_a_password_and_too_many_sheets_are_told(ods_path: Callable[..., Path]) -> None:
    locked = '<manifest:manifest xmlns:manifest="m"><manifest:encryption-data/></manifest:manifest>'
    with pytest.raises(ParseFailed, match="password-protected"):
        read_ods(ods_path("scrambled", **{"META-INF__manifest": locked}))
    with pytest.raises(TooManySheets, match="limit of 50"):
        read_ods(ods_path(content(*[row()] * 51)))
