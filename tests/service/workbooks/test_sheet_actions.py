"""Sheet data and single cells.

Names, types, values, ranges, formulas, CSV, and the limits of one answer.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from core.files.parts import Shows
from core.files.parts import shown as format_shows
from core.files.read import read
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, Sheet, Workbook
from core.values import Kind, to_serial
from service.platform.base.problem import ValidationFailed
from service.workbooks.schema import CELLS_MAX, FORMULAS_MAX, DataQuery, SheetData, SheetRow
from service.workbooks.sheet_actions import HEADER_CHARACTERS_MAX, Contents, contents, iso_date, page
from tests.conftest import Member
from tests.service.workbooks.conftest import PackFile, sheet_xml

# Over HTTP ------------------------------------------------------------------------------------------------------------


def data(member: Member, workbook: dict[str, Any], sheet: str = "Loans", **query: Any) -> dict[str, Any]:
    answer = member.get(f"/api/v1/workbooks/{workbook['id']}/sheets/{sheet}/data", params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_sheet_below_its_header(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook)
    assert [(c["name"], c["type"], c["index"]) for c in body["columns"]] == [
        ("LoanX ID", "string", 0),
        ("Par Amount", "number", 1),
        ("Settled", "date", 2),
        ("Maturity", "date", 3),
        ("Watch, list", "boolean", 4),
        ("Price", "mixed", 5),
        ("Value", "number", 6),
    ]
    assert all("has_formula" not in column for column in body["columns"])
    assert body["rows"] == [
        {
            "_row_number": 3,
            "LoanX ID": "LX000001",
            "Par Amount": 1e6,
            "Settled": "2024-01-02T12:30:00",
            "Maturity": "2030-06-30",
            "Watch, list": True,
            "Price": 99.5,
            "Value": 995_000.0,
        },
        {
            "_row_number": 4,
            "LoanX ID": "LX000002",
            "Par Amount": 2_500_000.25,
            "Settled": "2024-01-03",
            "Maturity": "2031-06-30",
            "Watch, list": False,
            "Price": "n/a",
            "Value": "#VALUE!",
        },
        {
            "_row_number": 5,
            "LoanX ID": "LX000003",
            "Par Amount": None,
            "Settled": None,
            "Maturity": "2032-06-30",
            "Watch, list": None,
            "Price": 97.0,
            "Value": 995_000.0,
        },
        {
            "_row_number": 6,
            "LoanX ID": '=not "a" formula',
            "Par Amount": 4.0,
            "Settled": None,
            "Maturity": None,
            "Watch, list": True,
            "Price": None,
            "Value": None,
        },
    ]
    rest = (body["sheet_name"], body["total_rows"], body["page"], body["page_size"], body["total_pages"])
    assert rest == ("Loans", 4, 1, 100, 1)


def test_a_sheet_without_a_header_goes_by_letters(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook, "Numbers")
    assert [column["name"] for column in body["columns"]] == ["A", "B"]
    assert body["rows"][0] == {"_row_number": 1, "A": 0.0, "B": 0.0}
    assert body["total_rows"] == 5


def test_a_sheet_goes_by_letters_from_its_first_row_where_asked(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook, letters=True, include_formulas=True)
    assert [column["name"] for column in body["columns"]] == [*"ABCDEFG"]
    numbers = [row["_row_number"] for row in body["rows"]]
    assert (numbers, body["total_rows"]) == ([1, 2, 3, 4, 5, 6], 6)
    assert [body["rows"][1][letter] for letter in "ABE"] == ["LoanX ID", "Par Amount", "Watch, list"]
    assert body["rows"][2]["A"] == "LX000001"
    assert body["rows"][2]["_formulas"] == {"G": "=B3*F3/100"}
    part = data(shared_owner, workbook, letters=True, columns="B,G", start_row=2, end_row=3)
    assert [row["B"] for row in part["rows"]] == ["Par Amount", 1e6]
    assert [row.keys() for row in part["rows"]] == [{"_row_number", "B", "G"}] * 2


def test_an_empty_sheet(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook, "Empty", include_formulas=True)
    assert (body["columns"], body["rows"], body["total_rows"], body["total_pages"]) == ([], [], 0, 0)


def test_a_sheet_by_its_identifier(shared_owner: Member, workbook: dict[str, Any]) -> None:
    """A name with a slash cannot stand in a path."""
    sheet = workbook["sheets"][1]
    body = data(shared_owner, workbook, sheet["id"])
    assert (body["sheet_name"], body["rows"]) == ("Notes / hidden", [{"_row_number": 2, "first": "a", "second": "b"}])
    place = f"/api/v1/workbooks/{workbook['id']}/sheets/{sheet['id']}/cells/B2"
    assert shared_owner.get(place).json()["value"] == "b"
    assert data(shared_owner, workbook, "lOANS")["sheet_name"] == "Loans"


@pytest.mark.parametrize("path", ["data", "cells/A1"])
@pytest.mark.parametrize("name", ["Nothing", "00000000-0000-4000-8000-000000000000", "'; DROP TABLE sheets; --", "%"])
def test_an_unknown_sheet(shared_owner: Member, workbook: dict[str, Any], name: str, path: str) -> None:
    place = f"/api/v1/workbooks/{workbook['id']}/sheets/{name.replace('%', '%25')}/{path}"
    answer = shared_owner.get(place)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Sheet not found")


@pytest.mark.parametrize(
    ("query", "numbers", "total", "pages"),
    [
        ({"page_size": 3}, [3, 4, 5], 4, 2),
        ({"page_size": 3, "page": 2}, [6], 4, 2),
        ({"page_size": 3, "page": 3}, [], 4, 2),
        ({"start_row": 5}, [5, 6], 2, 1),
        ({"end_row": 4}, [3, 4], 2, 1),
        ({"start_row": 4, "end_row": 5}, [4, 5], 2, 1),
        ({"start_row": 4, "end_row": 6, "page_size": 2, "page": 2}, [6], 3, 2),
        ({"start_row": 1, "end_row": 2}, [], 0, 0),
        ({"start_row": 7}, [], 0, 0),
        ({"end_row": 1_048_576}, [3, 4, 5, 6], 4, 1),
    ],
)
def test_pages_and_ranges(
    shared_owner: Member, workbook: dict[str, Any], query: dict[str, int], numbers: list[int], total: int, pages: int
) -> None:
    body = data(shared_owner, workbook, **query)
    assert [row["_row_number"] for row in body["rows"]] == numbers
    assert (body["total_rows"], body["total_pages"]) == (total, pages)


def test_chosen_columns(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook, columns='Price, "Watch, list",LoanX ID,Price', page_size=1)
    assert [(c["name"], c["index"]) for c in body["columns"]] == [("Price", 5), ("Watch, list", 4), ("LoanX ID", 0)]
    assert body["rows"] == [{"_row_number": 3, "Price": 99.5, "Watch, list": True, "LoanX ID": "LX000001"}]
    assert len(data(shared_owner, workbook, columns="")["columns"]) == 7


def test_formulas(shared_owner: Member, workbook: dict[str, Any]) -> None:
    body = data(shared_owner, workbook, include_formulas="true")
    assert {column["name"]: column["has_formula"] for column in body["columns"]} == {
        **dict.fromkeys(["LoanX ID", "Par Amount", "Settled", "Maturity", "Watch, list", "Price"], False),
        "Value": True,
    }
    assert [row["_formulas"] for row in body["rows"]] == [
        {"Value": "=B3*F3/100"},
        {"Value": "=B4*F4/100"},
        {"Value": "=B5*F5/100"},
        {},
    ]
    chosen = data(shared_owner, workbook, include_formulas="true", columns="Price")
    assert all(row["_formulas"] == {} for row in chosen["rows"])


def test_csv(shared_owner: Member, workbook: dict[str, Any]) -> None:
    """RFC 4180, the values as they are.

    Nothing is put before text that looks like a formula.
    """
    place = f"/api/v1/workbooks/{workbook['id']}/sheets/Loans/data"
    answer = shared_owner.get(place, params={"format": "csv"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''Loans.csv"
    assert answer.content.decode().splitlines(keepends=True) == [
        'LoanX ID,Par Amount,Settled,Maturity,"Watch, list",Price,Value\r\n',
        "LX000001,1000000,2024-01-02T12:30:00,2030-06-30,TRUE,99.5,995000\r\n",
        "LX000002,2500000.25,2024-01-03,2031-06-30,FALSE,n/a,#VALUE!\r\n",
        "LX000003,,,2032-06-30,,97,995000\r\n",
        '"=not ""a"" formula",4,,,TRUE,,\r\n',
    ]
    asked = {"format": "csv", "include_formulas": "true", "page_size": 2, "columns": "Value,Price"}
    pages = [shared_owner.get(place, params={**asked, "page": page}) for page in (1, 2)]
    assert [page.text.splitlines()[1:] for page in pages] == [
        ["=B3*F3/100,99.5", "=B4*F4/100,n/a"],
        ["=B5*F5/100,97", ","],
    ]
    paged = shared_owner.get(place, params={"format": "csv", "page_size": 2, "page": 2, "columns": "Price"})
    assert list(csv.reader(io.StringIO(paged.text))) == [["Price"], ["97"], [""]]
    by_id = shared_owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/{workbook['sheets'][1]['id']}/data?format=csv")
    assert by_id.headers["content-disposition"] == "attachment; filename*=UTF-8''Notes%20%2F%20hidden.csv"


@pytest.mark.parametrize(
    "query",
    [
        {"page": 0},
        {"page_size": 0},
        {"page_size": 1001},
        {"start_row": 0},
        {"end_row": 0},
        {"end_row": 1_048_577},
        {"start_row": "one"},
        {"columns": "Nothing"},
        {"columns": "Price,price"},
        {"columns": '"Price'},
        {"format": "xml"},
        {"include_formulas": "perhaps"},
        {"end_row": 3, "start_row": 4},
    ],
)
def test_data_refuses_what_does_not_fit(shared_owner: Member, workbook: dict[str, Any], query: dict[str, Any]) -> None:
    answer = shared_owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/Loans/data", params=query)
    assert answer.status_code == 422, answer.text
    assert (answer.json()["detail"], answer.json()["error_code"]) == ("Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["query", next(iter(query))]


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        ("B3", ("B3", 3, 2, 1e6, "number", None)),
        ("a1", ("A1", 1, 1, "Portfolio of 31 March", "string", None)),
        ("$C$3", ("C3", 3, 3, "2024-01-02T12:30:00", "date", None)),
        ("D3", ("D3", 3, 4, "2030-06-30", "date", None)),
        ("E4", ("E4", 4, 5, False, "boolean", None)),
        ("G3", ("G3", 3, 7, 995_000.0, "number", "=B3*F3/100")),
        ("G4", ("G4", 4, 7, "#VALUE!", "error", "=B4*F4/100")),
        ("A6", ("A6", 6, 1, '=not "a" formula', "string", None)),
        ("B5", ("B5", 5, 2, None, "blank", None)),
        ("XFD1048576", ("XFD1048576", 1_048_576, 16_384, None, "blank", None)),
    ],
)
def test_a_cell(shared_owner: Member, workbook: dict[str, Any], ref: str, expected: tuple[Any, ...]) -> None:
    answer = shared_owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/Loans/cells/{ref}")
    assert answer.status_code == 200
    own = dict(zip(("ref", "row", "column", "value", "type", "formula"), expected, strict=True))
    assert answer.json() == {**own, "page": None, "line": None}, "a spreadsheet has no pages"


@pytest.mark.parametrize("ref", ["A0", "A", "7", "A1:B2", "XFE1", "A1048577", "R1C1", "é1"])
def test_what_is_no_cell(shared_owner: Member, workbook: dict[str, Any], ref: str) -> None:
    answer = shared_owner.get(f"/api/v1/workbooks/{workbook['id']}/sheets/Loans/cells/{ref}")
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["path", "ref"])


def test_awkward_headers(owner: Member, pack: PackFile) -> None:
    """Names that a row of JSON needs for itself, that are doubled, empty or endless."""
    texts = ["_row_number", "_formulas", "Par", "Par", "", "x" * 300, "x" * 301]
    header = "".join(f'<c t="inlineStr"><is><t>{text}</t></is></c>' for text in texts)
    rows = f"<row>{header}</row><row>{'<c><v>1</v></c>' * len(texts)}</row>"
    result = owner.uploaded(pack([sheet_xml(rows)]))
    assert result["sheets"][0]["headers"] == [
        "_row_number (2)",
        "_formulas (2)",
        "Par",
        "Par (2)",
        "Column 5",
        "x" * 255,
        "x" * 251 + " (2)",
    ]
    body = data(owner, result, "S1", include_formulas="true")
    assert body["rows"][0]["_row_number"] == 2
    assert body["rows"][0]["_row_number (2)"] == 1.0


# The kernels' side ----------------------------------------------------------------------------------------------------

NO_FORMULAS = Formulas(
    *(np.zeros(0, np.int32) for _ in range(4)), text=Text(np.zeros(1, np.int64), np.zeros(0, np.uint8)), arrays={}
)


def text_of(*strings: str) -> Text:
    encoded = [string.encode() for string in strings]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return Text(offsets, np.frombuffer(b"".join(encoded), np.uint8))


def column_of(kind: Kind, height: int, number: float = 1.0, code: int = -1) -> Column:
    return Column(
        0,
        np.full(height, kind, np.uint8),
        np.full(height, number),
        np.full(height, code, np.int32),
        np.zeros(height, np.uint16),
    )


def sheet_of(columns: list[Column | None], text: Text, formulas: Formulas = NO_FORMULAS, rows: int = 1000) -> Sheet:
    return Sheet("S", 0, "visible", tuple(columns), rows, text, formulas)


def ask(sheet: Sheet, **query: Any) -> SheetData:
    result = contents(sheet)
    row = SheetRow(
        id=uuid4(),
        name="S",
        index=0,
        header_row=result.header_row,
        headers=result.headers,
        types=result.types,
        book_key=None,
    )
    answer = page(Workbook((sheet,)), row, msgspec.convert(query, DataQuery))
    return msgspec.json.decode(answer.content, type=SheetData)


def test_an_answer_holds_so_many_cells() -> None:
    columns: list[Column | None] = [column_of(Kind.NUMBER, 1000)] * (CELLS_MAX // 1000 + 1)
    sheet = sheet_of(columns, text_of())
    with pytest.raises(ValidationFailed) as refused:
        ask(sheet, page_size=1000)
    assert f"{CELLS_MAX:,} cells, the limit of one answer" in refused.value.errors[0].message
    assert len(ask(sheet, page_size=999).rows) == 999


def test_the_usual_page_of_the_widest_sheet_is_answered() -> None:
    sheet = sheet_of([column_of(Kind.NUMBER, 200)] * 16_384, text_of())
    assert len(ask(sheet).rows) == 100


def test_an_answer_holds_so_much_text() -> None:
    sheet = sheet_of([column_of(Kind.NUMBER, 1000), column_of(Kind.TEXT, 1000, 0.0, 0)], text_of("x" * 100_000))
    with pytest.raises(ValidationFailed, match="Validation error") as refused:
        ask(sheet, page_size=1000)
    assert "bytes, the limit of one answer" in refused.value.errors[0].message
    assert len(ask(sheet, page_size=1000, columns="A").rows) == 1000


def test_an_answer_holds_so_many_formulas() -> None:
    width = FORMULAS_MAX // 1000 + 1
    count = width * 1000
    at = np.arange(count, dtype=np.int32)
    formulas = Formulas(at // width, at % width, np.zeros(count, np.int32), at, text_of("A1"), {})
    sheet = sheet_of([column_of(Kind.NUMBER, 1000)] * width, text_of(), formulas)
    with pytest.raises(ValidationFailed) as refused:
        ask(sheet, page_size=1000, include_formulas=True)
    assert "100,000, the limit of one answer" in refused.value.errors[0].message
    assert ask(sheet, page_size=1, include_formulas=True).rows[0]["_formulas"]["A"] == "=A1"


def test_a_cell_in_the_last_row_costs_nothing() -> None:
    far = Column(
        999_999, np.array([Kind.NUMBER], np.uint8), np.array([7.0]), np.array([-1], np.int32), np.zeros(1, np.uint16)
    )
    sheet = sheet_of([None, far], text_of(), rows=1_000_000)
    assert ask(sheet, start_row=1_000_000).rows == [{"_row_number": 1_000_000, "A": None, "B": 7.0}]
    assert ask(sheet, page=1000, page_size=1000).rows[-1]["B"] == 7.0
    assert ask(sheet, page_size=2).rows == [{"_row_number": at, "A": None, "B": None} for at in (1, 2)]


def test_an_endless_header_is_none() -> None:
    """Sixteen thousand names of the greatest length would stand in every answer about the sheet."""
    count = HEADER_CHARACTERS_MAX // 255 + 1
    sheet = sheet_of([column_of(Kind.TEXT, 2, 0.0, 0)] * count, text_of("x" * 300), rows=2)
    assert contents(sheet)[:2] == (None, [])


def test_a_header_without_its_null_characters() -> None:
    """Files can hold them, a record of the database cannot."""
    sheet = sheet_of([column_of(Kind.TEXT, 2, 0.0, 0), column_of(Kind.TEXT, 2, 0.0, 1)], text_of("a\0b", "ab"), rows=2)
    assert contents(sheet).headers == ["ab", "ab (2)"]


@pytest.mark.parametrize(
    ("kinds", "letter"),
    [
        ((), "-"),
        ((Kind.BLANK,), "-"),
        ((Kind.NUMBER, Kind.BLANK), "n"),
        ((Kind.NUMBER, Kind.ERROR), "n"),
        ((Kind.TEXT,), "s"),
        ((Kind.BOOLEAN,), "b"),
        ((Kind.DATE,), "d"),
        ((Kind.DATE, Kind.NUMBER), "m"),
        ((Kind.TEXT, Kind.NUMBER), "m"),
        ((Kind.ERROR,), "m"),
    ],
)
def test_types_of_columns(kinds: tuple[Kind, ...], letter: str) -> None:
    height = len(kinds)
    column = Column(
        0,
        np.array(kinds, np.uint8),
        np.zeros(height),
        np.array([0 if kind == Kind.TEXT else -1 for kind in kinds], np.int32),
        np.zeros(height, np.uint16),
    )
    lead = column_of(Kind.NUMBER, 1)  # the first row is not all text, so it is no header
    assert contents(sheet_of([lead, column], text_of("x"), rows=max(1, height))).types == "n" + letter


def test_cells_with_a_formula_and_no_value_count(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, [1, 2])
        sheet.write_formula(1, 0, "=A1", value="")
        sheet.write_formula(2, 5, "=A1", value=3)
    result = contents(read(path).sheets[0])
    assert (result.cell_count, result.formula_count) == (4, 2)
    assert isinstance(result, Contents)


@given(moment=st.datetimes(min_value=datetime(1900, 3, 1), max_value=datetime(9999, 12, 31, 23, 59, 59)))  # noqa: DTZ001
def test_dates_come_back_as_they_were(moment: datetime) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    for date_1904 in (False, True):
        if date_1904 and moment < datetime(1904, 1, 2):  # noqa: DTZ001
            continue
        shown = iso_date(to_serial(moment, date_1904=date_1904), date_1904, Shows.DAY | Shows.TIME)
        assert isinstance(shown, str)
        assert abs(datetime.fromisoformat(shown) - moment) < timedelta(milliseconds=2)
        assert (len(shown) == 10) == (datetime.fromisoformat(shown).time() == time())


@pytest.mark.parametrize(
    ("serial", "date_1904", "code", "shown"),
    [
        (45_292.0, False, "d/m/yy", "2024-01-01"),
        (45_292.5, False, "d/m/yy", "2024-01-01T12:00:00"),
        (45_292.000_011_574, False, "h:mm", "2024-01-01T00:00:01"),
        (0.25, False, "h:mm", "06:00:00"),
        (0.0, False, "d/m/yy", "00:00:00"),
        (0.0, True, "d/m/yy", "1904-01-01"),
        (0.5, True, "d/m/yy", "1904-01-01T12:00:00"),
        (0.5, True, "d/m/yy h:mm", "1904-01-01T12:00:00"),
        (0.25, True, "h:mm", "06:00:00"),
        (0.0, True, "h:mm AM/PM", "00:00:00"),
        (0.999_999_999, True, "mm:ss", "00:00:00"),
        (1.25, True, "h:mm", "1904-01-02T06:00:00"),
        (1.0, False, "d/m/yy", "1900-01-01"),
        (1.5, False, "[h]:mm", 1.5),
        (0.5, False, "[mm]", 0.5),
        (1.5, True, "[ss]", 1.5),
        (-1.0, False, "d/m/yy", -1.0),
        (3e6, False, "d/m/yy", 3e6),
    ],
)
def test_serials_at_the_edges(serial: float, date_1904: bool, code: str, shown: str | float) -> None:
    assert iso_date(serial, date_1904, format_shows(code)) == shown


@pytest.mark.parametrize("date_1904", [False, True])
def test_lengths_of_time_are_days_and_times_are_times(owner: Member, tmp_path: Path, date_1904: bool) -> None:
    path = tmp_path / "times.xlsx"
    rows = ((1.5, "[h]:mm"), (0.5, "[h]:mm:ss"), (90.25, "[mm]:ss"), (0.25, "h:mm"), (0.75, "h:mm AM/PM"))
    with xlsxwriter.Workbook(path, {"date_1904": date_1904}) as book:
        sheet = book.add_worksheet("S")
        for row, (number, code) in enumerate(rows):
            sheet.write_number(row, 0, number, book.add_format({"num_format": code}))
        sheet.write_formula(5, 0, "=A1+A2", book.add_format({"num_format": "[h]:mm"}), 2)
    result = owner.uploaded(path)
    place = f"/api/v1/workbooks/{result['id']}/sheets/S"
    expected: list[Any] = [1.5, 0.5, 90.25, "06:00:00", "18:00:00", 2]
    assert [row["A"] for row in owner.get(f"{place}/data").json()["rows"]] == expected
    cells = [owner.get(f"{place}/cells/A{row}").json() for row in range(1, 7)]
    assert [(cell["value"], cell["type"]) for cell in cells] == [
        (value, "date" if isinstance(value, str) else "number") for value in expected
    ]
    for formula, value, kind in (("=A1", 1.5, "number"), ("=A1*24", 36, "number"), ("=A4", "06:00:00", "date")):
        body = {"formula": formula, "workbook_id": result["id"], "sheet_name": "S"}
        actual_body = owner.post("/api/v1/calculations/evaluate", json=body).json()
        assert (actual_body["value"], actual_body["type"]) == (value, kind)


def test_a_file_of_the_1904_system(owner: Member, tmp_path: Path) -> None:
    path = tmp_path / "mac.xlsx"
    with xlsxwriter.Workbook(path, {"date_1904": True}) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        book.add_worksheet("S").write_datetime(0, 0, datetime(2024, 1, 2), day)  # noqa: DTZ001
    result = owner.uploaded(path)
    place = f"/api/v1/workbooks/{result['id']}/sheets/S"
    assert owner.get(f"{place}/data").json()["rows"] == [{"_row_number": 1, "A": "2024-01-02"}]
    assert owner.get(f"{place}/cells/A1").json()["value"] == "2024-01-02"
