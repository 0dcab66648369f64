"""What is written is read back the same, by us, by openpyxl and by calamine; what cannot be written is refused."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import python_calamine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.files.read import read
from core.files.write import ErrorValue, Formula, write_csv, write_workbook_rows, write_xlsx
from core.values import Kind

MORNING = datetime(2024, 2, 29, 6, 30)  # noqa: DTZ001

ROWS: list[list[Any]] = [
    ["=not a formula", " Ünï <&> ", "", None, "line\nbreak", "cr\rlf\r\n", "bell\x07", "_x0041_", "\ud800"],
    [1.5, 7, True, False, float("nan"), np.float64(0.1), np.int64(3), np.bool_(True), np.str_("np")],
    [
        date(2024, 2, 29),
        datetime(2024, 2, 29, 13, 30),  # noqa: DTZ001
        Formula("=A2*2", 3.0),
        Formula("X", "#N/A"),
        Formula('"a"', "a<b"),
    ],
    [],
    [Formula("1=1", True), Formula("A1"), ErrorValue("#REF!"), Formula("A1:A2", 1.0, "C5:C6"), 1e22, -0.0],
]


def test_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_workbook_rows(path, {"One": ROWS, "Two": iter([[0.25, date(2024, 1, 1), 1]])}, {"Two": ["0.0%", None, "0"]})
    book = read(path)
    sheet = book["One"]
    assert [sheet.value(0, c) for c in range(9)] == [
        "=not a formula",
        " Ünï <&> ",
        "",
        None,
        "line\nbreak",
        "cr\rlf\r\n",
        "bell\x07",
        "_x0041_",
        "_xD800_",
    ]
    assert [sheet.value(1, c) for c in range(9)] == [1.5, 7.0, True, False, None, 0.1, 3.0, True, "np"]
    assert [sheet.value(2, c) for c in range(5)] == [45351.0, 45351.5625, 3.0, "#N/A", "a<b"]
    assert [sheet.kind(2, c) for c in range(4)] == [Kind.DATE, Kind.DATE, Kind.NUMBER, Kind.ERROR]
    assert [sheet.formula(2, c) for c in range(5)] == [None, None, "A2*2", "X", '"a"']
    assert [sheet.value(4, c) for c in range(6)] == [True, None, "#REF!", 1.0, 1e22, 0.0]
    assert list(sheet.formulas.arrays.values()) == ["C5:C6"]
    two = book["Two"]
    formats = [book.number_formats[column.formats[0]] for column in two.columns if column is not None]
    assert formats == ["0.0%", "yyyy-mm-dd", "0"]


def test_the_others_read_it_too(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_workbook_rows(path, {"One": [["a", 1.5, True, date(2024, 2, 29), Formula("B1*2", 3.0), None, "b & c"]]})
    cells = openpyxl.load_workbook(path, data_only=True).active[1]
    assert [cell.value for cell in cells] == ["a", 1.5, True, datetime(2024, 2, 29), 3, None, "b & c"]  # noqa: DTZ001
    assert openpyxl.load_workbook(path).active["E1"].value == "=B1*2"
    rows = python_calamine.CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    assert rows == [["a", 1.5, True, date(2024, 2, 29), 3.0, "", "b & c"]]


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_workbook_rows(tmp_path / name, {"S": [[1.0, "x"]] * 2000})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("sheets", "why"),
    [
        ({}, "at least one"),
        ({"": []}, "sheet name"),
        ({"x" * 32: []}, "sheet name"),
        ({"a/b": []}, "sheet name"),
        ({"'a": []}, "sheet name"),
        ({"A": [], "a": []}, "same name"),
        ({"S": [[float("inf")]]}, "infinite"),
        ({"S": [[np.float64("-inf")]]}, "infinite"),
        ({"S": [["x" * 32_768]]}, "32,767"),
        ({"S": [[None] * 16_385]}, "16,384"),
        ({"S": ([] for _ in range(1_048_577))}, "1,048,576"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, sheets: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        write_workbook_rows(tmp_path / "a.xlsx", sheets)
    assert list(tmp_path.iterdir()) == []


def source(path: Path) -> Path:
    """A workbook with all that `write_xlsx` promises to keep."""
    with zipfile.ZipFile(path, "w") as out:
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006/relationships"
        out.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}"><Relationship Id="a" Type="{office}/officeDocument" '
            f'Target="xl/workbook.xml"/></Relationships>',
        )
        out.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><workbookPr date1904="1"/><sheets><sheet name="H" '
            f'sheetId="1" state="veryHidden" r:id="a"/>'
            '<sheet name="V &amp; W" sheetId="2" r:id="b"/></sheets><definedNames><definedName name="Par">\'V &amp; '
            "W'!$A$1</definedName></definedNames></workbook>",
        )
        out.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}">'
            + "".join(
                f'<Relationship Id="{at}" Type="{office}/{kind}" Target="{at}.xml"/>'
                for at, kind in (("a", "worksheet"), ("b", "worksheet"), ("c", "styles"))
            )
            + "</Relationships>",
        )
        out.writestr("xl/a.xml", f'<worksheet xmlns="{main}"><sheetData/></worksheet>')
        out.writestr(
            "xl/b.xml",
            f'<worksheet xmlns="{main}"><sheetData><row r="2"><c r="B2" s="1"><v>40000.5</v></c><c r="C2"><f '
            f't="shared" si="0" ref="C2:C3">B2&amp;"x"</f><v>1</v></c></row>'
            '<row r="3"><c r="C3"><f t="shared" si="0"/><v>2</v></c><c r="D3" t="e"><v>#N/A</v></c><c r="E3" t="b">'
            '<v>1</v></c><c r="F3" t="str"><f t="array" ref="F3:F4">B2:B3</f><v>t</v></c></row>'
            '<row r="900000"><c r="A900000" s="2"><v>0.5</v></c></row></sheetData><mergeCells><mergeCell '
            'ref="G1:H2"/></mergeCells></worksheet>',
        )
        out.writestr(
            "xl/c.xml",
            f'<styleSheet xmlns="{main}"><numFmts><numFmt numFmtId="170" formatCode="dd &quot;of&quot; mmm"/>'
            f'</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/><xf numFmtId="10"/></cellXfs></styleSheet>',
        )
    return path


def test_a_workbook_survives_being_written(tmp_path: Path) -> None:
    first = read(source(tmp_path / "a.xlsx"))
    write_xlsx(tmp_path / "b.xlsx", first)
    second = read(tmp_path / "b.xlsx")
    assert (second.date_1904, second.number_formats, second.defined_names) == (
        first.date_1904,
        first.number_formats,
        first.defined_names,
    )
    assert [(s.name, s.state, s.row_count, s.column_count, s.merged) for s in second.sheets] == [
        (s.name, s.state, s.row_count, s.column_count, s.merged) for s in first.sheets
    ]
    a, b = first.sheets[1], second.sheets[1]
    for row in (*range(5), 899_999):
        for column in range(8):
            assert (a.kind(row, column), a.value(row, column), a.formula(row, column)) == (
                b.kind(row, column),
                b.value(row, column),
                b.formula(row, column),
            )
    assert list(b.formulas.arrays.values()) == ["F3:F4"]
    assert second.number_formats[b.columns[1].formats[0]] == 'dd "of" mmm'  # type: ignore[union-attr]


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    write_workbook_rows(
        path,
        {
            "S": [
                ["a,b", 'say "x"', None, 1.0, 0.1],
                [True, date(2024, 2, 29), MORNING, ErrorValue("#N/A"), 1e22],
            ]
        },
    )
    book = read(path)
    write_csv(tmp_path / "a.csv", book["S"], book)
    assert (
        tmp_path / "a.csv"
    ).read_text() == '"a,b","say ""x""",,1,0.1\nTRUE,2024-02-29,2024-02-29 06:30:00,#N/A,1e+22\n'


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(
            st.none()
            | st.booleans()
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
            max_size=5,
        ),
        max_size=5,
    )
)
def test_any_rows_come_back(tmp_path: Path, rows: list[list[Any]]) -> None:
    write_workbook_rows(tmp_path / "p.xlsx", {"S": rows})
    sheet = read(tmp_path / "p.xlsx").sheets[0]
    for r, row in enumerate(rows):
        for c, value in enumerate(row):
            # U+0000 cannot stand in a spreadsheet: its mark comes back as it is written.
            wanted = value.replace("\0", "_x0000_") if isinstance(value, str) else value
            assert sheet.value(r, c) == wanted
