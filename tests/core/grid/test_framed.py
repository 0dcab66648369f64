"""A sheet as columns.

Each cell against what the sheet itself says of it, and what is said of those that are null.
"""

from __future__ import annotations

import random
import warnings
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

from core.frames.frame import pool_of
from core.grid.column import Text, column_of
from core.grid.framed import CELLS_MAX, moments_of
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.recalc.book import Book
from core.values import ERROR_CODE, Kind, from_serial, to_serial

DAY = date(2026, 8, 31)


def book_of(**columns: list[Any]) -> Book:
    return Book.from_columns({"Data": dict(columns)})


def sheet_of(columns: dict[str, list[tuple[Kind, Any]]], *, date_1904: bool = False) -> Sheet:
    """A sheet of cells with their kinds, which a book of plain values would not keep."""
    strings: list[str] = []
    result = []
    for name, cells in columns.items():
        rows = [(Kind.TEXT, name), *cells]
        codes = np.full(len(rows), -1, np.int32)
        numbers = np.zeros(len(rows))
        for at, (kind, value) in enumerate(rows):
            if kind == Kind.TEXT:
                codes[at] = len(strings)
                strings.append(value)
            elif kind != Kind.BLANK:
                numbers[at] = ERROR_CODE[value] if kind == Kind.ERROR else value
        kinds = np.array([kind for kind, _ in rows], np.uint8)
        result.append(column_of(np.arange(len(rows)), kinds, numbers, codes, np.zeros(len(rows), np.uint16)))
    height = max(item.stop for item in result)
    sheet = Sheet("Data", 0, "visible", tuple(result), height, Text(*pool_of(strings)), no_formulas())
    return Workbook((sheet,), date_1904)["data"]


def cell_value(sheet: Sheet, row: int, column: int) -> Any:
    """A cell as the sheet tells it; days and moments as such, an error as nothing."""
    value, kind = sheet.value(row, column), sheet.kind(row, column)
    if kind == Kind.DATE:
        assert isinstance(value, float)
        return from_serial(value, date_1904=sheet.date_1904)
    return None if kind == Kind.ERROR else value


@pytest.mark.parametrize("date_1904", [False, True])
def test_each_column_is_what_its_cells_are(date_1904: bool) -> None:
    chance = random.Random(18)
    cells = {
        "number": [(Kind.NUMBER, 0.05), (Kind.NUMBER, -1e300), (Kind.NUMBER, 1e15)],
        "text": [(Kind.TEXT, "a"), (Kind.TEXT, "ü" * 50), (Kind.TEXT, "")],
        "boolean": [(Kind.BOOLEAN, 1.0), (Kind.BOOLEAN, 0.0)],
        "day": [(Kind.DATE, 1.0), (Kind.DATE, 59.0), (Kind.DATE, 60.0), (Kind.DATE, 61.0), (Kind.DATE, 46_265.0)],
        "moment": [(Kind.DATE, 0.0), (Kind.DATE, 0.999999999), (Kind.DATE, 46_265.25), (Kind.DATE, 2_957_003.5)],
    }
    drawn = {
        name: [chance.choice([*known, (Kind.BLANK, None)]) for _ in range(199)] + [known[-1]]
        for name, known in cells.items()
    }
    sheet = sheet_of(drawn, date_1904=date_1904)
    frame = sheet.frame()
    data_frame = pl.DataFrame(sheet)
    assert data_frame.dtypes == [pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime("ms")]
    for at, name in enumerate(cells):
        expected = [cell_value(sheet, row, at) for row in range(1, 201)]
        if name == "day":
            expected = [None if item is None else item.date() for item in expected]
        assert data_frame[name].to_list() == expected, name
        assert frame.columns[name].taken(np.arange(200)) == expected, name
    assert frame.attrs == {"sheet": "Data", "header_row": 1}


def test_serials_are_read_as_cells_are() -> None:
    serials = [
        0.0,
        0.5,
        1.0,
        58.9999999999,
        59.5,
        60.0,
        61.0,
        46_265.123456,
        2_957_003.99999,
        2_958_465.999999999,
        -1.0,
        3e6,
    ]
    for date_1904 in (False, True):
        ours = moments_of(np.array(serials), date_1904=date_1904).tolist()
        assert ours == [from_serial(serial, date_1904=date_1904) for serial in serials]
        assert ours[-1] is None


def test_errors_are_null_and_said() -> None:
    sheet = sheet_of(
        {
            "a": [(Kind.NUMBER, 1.0), (Kind.ERROR, "#N/A"), (Kind.ERROR, "#DIV/0!"), (Kind.ERROR, "#N/A")],
            "b": [(Kind.TEXT, "x"), (Kind.ERROR, "#REF!"), (Kind.BLANK, None), (Kind.TEXT, "y")],
            "c": [(Kind.DATE, 1.0), (Kind.DATE, 5e6), (Kind.BLANK, None), (Kind.DATE, -3.0)],
        }
    )
    with warnings.catch_warnings(record=True, action="always") as caught:
        frame = sheet.frame()
    assert [str(item.message) for item in caught] == [
        "'Data': cells with an error are null (2 #N/A, 1 #DIV/0!, 1 #REF!), in a, b",
        "'Data': 2 dates that no calendar has are null, in c",
    ]
    assert {item.filename for item in caught} == {__file__}
    assert frame.attrs["error_cells"] == {"a": {"#DIV/0!": 1, "#N/A": 2}, "b": {"#REF!": 1}}
    assert frame.attrs["cells_without_date"] == {"c": 2}
    assert frame["b"].tolist() == ["x", None, None, "y"]
    with warnings.catch_warnings(action="ignore"):
        assert sheet.to_pandas().attrs == frame.attrs
        assert sheet.to_polars()["a"].to_list() == [1.0, None, None, None]


def test_cells_of_several_kinds_are_text() -> None:
    moment = to_serial(DAY) + 12.5 / 24
    sheet = sheet_of(
        {"a": [(Kind.NUMBER, 1.0), (Kind.NUMBER, 0.1), (Kind.TEXT, "1"), (Kind.BOOLEAN, 1.0), (Kind.BLANK, None),
               (Kind.DATE, to_serial(DAY)), (Kind.DATE, moment), (Kind.DATE, 9e6)]}
    )  # fmt: skip
    with pytest.warns(UserWarning, match="1 date that no calendar has is null"):
        frame = sheet.frame()
    assert frame["a"].tolist() == ["1", "0.1", "1", "TRUE", None, "2026-08-31", "2026-08-31T12:30:00", None]
    assert frame.attrs["columns_of_several_kinds"] == ["a"]


def test_headings() -> None:
    book = book_of(
        A=["Title", "Par", 1.0],
        B=[None, "Par", 2.0],
        C=[None, None, 3.0],
        D=[None, 2026, 4.0],
        F=[None, "Par (B)", 6.0],
    )
    sheet = book["data"]
    assert [*sheet.frame(header=2)] == ["Par", "Par (B)", "C", "2026", "E", "Par (B) (F)"]
    assert sheet.frame(header=2)["Par (B)"].tolist() == [2.0]
    plain = sheet.frame(header=None)
    assert ([*plain], len(plain)) == (["A", "B", "C", "D", "E", "F"], 3)
    assert len(sheet.frame(header=3)) == len(sheet.frame(header=99)) == 0
    for bad in (0, -1, True, "1", 1.5):
        with pytest.raises(ValueError, match=r"^header is the number of a row, from 1, or None"):
            sheet.frame(header=bad)  # type: ignore[arg-type]


def test_what_a_frame_would_spread_out_is_bounded() -> None:
    """Two cells a million rows apart in each of many columns are small as a sheet."""
    book = Book.from_columns({"Wide": {}})
    book.set("Wide", "A1048576", 1.0)
    book.set("Wide", "ZZ1", 1.0)
    with pytest.raises(ValueError, match=f"a frame holds at most {CELLS_MAX:,} cells"):
        book["Wide"].frame()
    assert "1,048,561 rows between them are not shown" in book["Wide"]._repr_html_()
    book = Book.from_columns({"Tall": {}})
    book.set("Tall", "A1048576", 1.0)
    assert pl.DataFrame(book["Tall"])["A"].null_count() == 1_048_574


def test_a_cell_in_a_notebook_is_text() -> None:
    html = book_of(A=["<script>alert(1)</script>", DAY, True, 0.05])["data"]._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert ">0.05<" in html


def test_a_book_in_a_notebook() -> None:
    book = Book.from_columns({f"<b>{at}": {"A": [at]} for at in range(30)})
    html = book._repr_html_()
    assert "<b>" not in html
    assert "10 more sheets are not shown" in html
    assert (len(book), [item.name for item in book][:2], "<B>3" in book, 3 in book) == (
        30,
        ["<b>0", "<b>1"],
        True,
        False,
    )
    with pytest.raises(KeyError, match=r"^there is no sheet '<b>31'; near: "):
        book["<b>31"]
    with pytest.raises(KeyError, match=r"^there is no sheet 0; there are: "):
        book[0]  # type: ignore[index]
