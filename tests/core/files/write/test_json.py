"""JSON that any reader takes.

Every value, the formulas beside them, in a shape that does not depend on the spaces.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.files.read import read
from core.files.write.json import write_json
from core.grid.address import cell_name
from core.grid.column import Text
from core.grid.sheet import Formulas, Sheet, Workbook
from core.values import ERRORS
from tests.core.files.write.conftest import Error, Moment, sheet_of

FORMATS = ("General", "yyyy-mm-dd")


def written(book: Workbook, **options: Any) -> bytes:
    stream = io.BytesIO()
    size = write_json(stream, book, name="a.xlsx", **options)
    assert size == len(stream.getvalue())
    return stream.getvalue()


def plain(value: Any) -> Any:
    """What a cell reads back as."""
    if isinstance(value, Moment):
        return {45351.5: "2024-02-29T12:00:00", -1: -1}[value.serial]
    if isinstance(value, Error):
        return value.text
    if isinstance(value, float) and not math.isfinite(value):
        return None if value != value else "#NUM!"
    return value


VALUES = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
    | st.sampled_from([Error(text) for text in ERRORS] + [Moment(45351.5, 1), Moment(-1, 1)])
)


@given(st.lists(st.lists(VALUES, max_size=4), max_size=5), st.booleans())
def test_any_rows_read_back(rows: list[list[Any]], pretty: bool) -> None:
    sheet = sheet_of(rows, 'a "quoted" name\n')
    data = written(Workbook((sheet, sheet_of([[1.0]], "Two")), False, FORMATS), pretty=pretty)
    body = json.loads(data, parse_constant=lambda word: 1 / 0)
    width = sheet.column_count
    assert body["workbook"] == "a.xlsx"
    assert [item["name"] for item in body["sheets"]] == ['a "quoted" name\n', "Two"]
    actual_sheet = body["sheets"][0]
    assert [column["column"] for column in actual_sheet["columns"]] == list("ABCD"[:width])
    wanted = [[plain(row[at]) if at < len(row) else None for at in range(width)] for row in rows] if width else []
    assert actual_sheet["rows"] == wanted
    kinds = [[type(value) is bool for value in row] for row in wanted]
    assert [[type(value) is bool for value in row] for row in actual_sheet["rows"]] == kinds
    assert (actual_sheet["state"], actual_sheet["header_row"], actual_sheet["formulas"], actual_sheet["arrays"]) == (
        "visible",
        None,
        {},
        {},
    )


def test_long_texts_and_many_rows_come_whole() -> None:
    """More rows than are opened at a time, and texts whose escapes take six times their room."""
    rows: list[list[Any]] = [[None] * 256 for _ in range(1_100)]
    for at in (0, 1_023, 1_024, 1_099):
        rows[at][at % 256] = chr(1 + at % 31) * 32_767
    assert json.loads(written(Workbook((sheet_of(rows),), False, FORMATS)))["sheets"][0]["rows"] == rows


def test_formulas_stand_beside_the_values(ods_path: Callable[..., Path]) -> None:
    rows = '<row r="1"><c r="A1" t="inlineStr"><is><t>Par</t></is></c><c r="B1"><v>2024</v></c></row>'
    rows += '<row r="2"><c r="A2"><f t="shared" ref="A2:B3" si="0">C2*$D$1</f><v>6</v></c>'
    rows += '<c r="B2"><f t="shared" si="0"/><v>1</v></c></row>'
    rows += '<row r="3"><c r="A3"><f t="shared" si="0"/><v>7</v></c>'
    rows += '<c r="B3"><f>"a""b"&amp;A1</f><v>8</v></c>'
    rows += '<c r="C3" t="str"><f t="array" ref="C3:C5">A1:A3</f><v>x</v></c></row>'
    book = read(ods_path(rows))
    data = written(book, header_rows={"Sheet1": 0}, pretty=False)
    (answer,) = json.loads(data)["sheets"]
    assert answer["columns"] == [
        {"column": "A", "name": "Par"}, {"column": "B", "name": "2024"}, {"column": "C", "name": None},
    ]  # fmt: skip
    assert answer["header_row"] == 1
    assert answer["rows"] == [["Par", 2024, None], [6, 1, None], [7, 8, "x"]]
    assert answer["formulas"] == {
        "A2": "=C2*$D$1", "B2": "=D2*$D$1", "A3": "=C3*$D$1", "B3": '="a""b"&A1', "C3": "=A1:A3",
    }  # fmt: skip
    assert answer["arrays"] == {"C3": "C3:C5"}
    assert json.loads(written(book, header_rows={"Sheet1": 0})) == json.loads(data)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 2)), min_size=1), st.randoms(use_true_random=False))
def test_a_formula_filled_any_way_is_each_cells_own(cells: set[tuple[int, int]], chance: Random) -> None:
    places = sorted(cells)
    origin = chance.randrange(len(places))
    rows, columns = (np.array([place[at] for place in places], np.int32) for at in range(2))
    text = b"B3+$A$1*SUM(C2:C$4)+A1048570"
    formulas = Formulas(
        rows, columns, np.zeros(len(places), np.int32), np.full(len(places), origin, np.int32),
        Text(np.array([0, len(text)]), np.frombuffer(text, np.uint8)), {},
    )  # fmt: skip
    plain_sheet = sheet_of([[1.0] * 3] * 10)
    sheet = Sheet("S", 0, "visible", plain_sheet.columns, 10, plain_sheet.text, formulas)
    actual_formulas = json.loads(written(Workbook((sheet,), False, FORMATS)))["sheets"][0]["formulas"]
    assert actual_formulas == {cell_name(*place): f"={sheet.formula(*place)}" for place in places}


def test_pretty_is_a_line_for_each_row() -> None:
    hidden = sheet_of([["a", 0.1]])
    book = Workbook((Sheet("S", 0, "hidden", hidden.columns, 1, hidden.text, hidden.formulas),), False, FORMATS)
    assert (
        written(book).decode()
        == """{
  "workbook": "a.xlsx",
  "sheets": [
    {
      "name": "S",
      "state": "hidden",
      "header_row": null,
      "columns": [{"column": "A", "name": null}, {"column": "B", "name": null}],
      "rows": [
        ["a", 0.1]
      ],
      "formulas": {},
      "arrays": {}
    }
  ]
}
"""
    )
    assert written(book, pretty=False) == (
        b'{"workbook":"a.xlsx","sheets":[{"name":"S","state":"hidden","header_row":null,"columns":[{"column":"A",'
        b'"name":null},{"column":"B","name":null}],"rows":[["a",0.1]],"formulas":{},"arrays":{}}]}'
    )
