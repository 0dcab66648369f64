"""What is written is read back the same, by us, by openpyxl and by calamine.

What cannot be written is refused.
"""

from __future__ import annotations

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
from core.files.write import Formula, write_workbook_rows
from core.files.write import rows as rows_module
from core.values import Kind

ROWS: list[list[Any]] = [
    ["=not a formula", " Ünï <&> ", "", None, "line\nbreak", "cr\rlf\r\n", "bell\x07", "_x0041_", "<r>a & b</r>"],
    [1.5, 7, True, False, float("nan"), np.float64(0.1), np.int64(3), np.bool_(True), np.str_("np")],
    [
        date(2024, 2, 29),
        datetime(2024, 2, 29, 13, 30),  # noqa: DTZ001
        Formula("=A2*2", 3.0),
        Formula("X", "#N/A"),
        Formula('"a"', "a<b"),
    ],
    [],
    [Formula("1=1", True), Formula("A1"), Formula("A0", "#REF!"), Formula("0/0", float("nan")), 1e22, 0.1 + 0.2],
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
        "<r>a & b</r>",
    ]
    assert [sheet.value(1, c) for c in range(9)] == [1.5, 7.0, True, False, None, 0.1, 3.0, True, "np"]
    assert [sheet.value(2, c) for c in range(5)] == [45351.0, 45351.5625, 3.0, "#N/A", "a<b"]
    assert [sheet.kind(2, c) for c in range(4)] == [Kind.DATE, Kind.DATE, Kind.NUMBER, Kind.ERROR]
    assert [sheet.formula(2, c) for c in range(5)] == [None, None, "A2*2", "X", '"a"']
    assert [sheet.value(4, c) for c in range(6)] == [True, None, "#REF!", None, 1e22, 0.30000000000000004]
    assert (sheet.kind(4, 2), sheet.formula(4, 3)) == (Kind.ERROR, "0/0")
    two = book["Two"]
    formats = [book.number_formats[column.formats[0]] for column in two.columns if column is not None]
    assert formats == ["0.0%", "yyyy-mm-dd", "0"]


def test_rows_that_come_in_parts_are_one_sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts, formats and formulas of all parts.

    The file is the same but for its order of strings.
    """
    write_workbook_rows(tmp_path / "whole.xlsx", {"S": ROWS * 3})
    monkeypatch.setattr(rows_module, "ROWS_AT_ONCE", 2)
    write_workbook_rows(tmp_path / "parts.xlsx", {"S": iter(ROWS * 3)})
    whole, parts = (read(tmp_path / name).sheets[0] for name in ("whole.xlsx", "parts.xlsx"))
    assert (whole.row_count, whole.column_count) == (parts.row_count, parts.column_count) == (15, 9)
    for row in range(15):
        for column in range(9):
            assert whole.value(row, column) == parts.value(row, column)
            assert whole.formula(row, column) == parts.formula(row, column)


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
        ({"": []}, "printable name"),
        ({"a\x01": []}, "printable name"),
        ({"x" * 32: []}, "31 characters"),
        ({"a/b": []}, "holds none of"),
        ({"'a": []}, "apostrophe"),
        ({"A": [], "a": []}, "same name"),
        ({"S": [[float("inf")]]}, "infinite"),
        ({"S": [[np.float64("-inf")]]}, "infinite"),
        ({"S": [[Formula("1/0", float("inf"))]]}, "infinite"),
        ({"S": [["fine"], ["fine", "\ud800"]]}, "surrogates"),
        ({"S": [["x" * 32_768]]}, "32,767"),
        ({"S": [["\U0001f600" * 16_384]]}, "32,767"),
        ({"S": [[None] * 16_385]}, "16,384"),
        ({"S": ([] for _ in range(1_048_577))}, "1,048,576"),
    ],
)
def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, sheets: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        write_workbook_rows(tmp_path / "a.xlsx", sheets)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_the_machines_fault(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_workbook_rows(tmp_path / "none" / "a.xlsx", {"S": [[1.0]]})


def test_merged_ranges(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    rows = [["a", 1.0], [None, 2.0], [None, 3.0], ["b", 4.0]]
    write_workbook_rows(path, {"One": rows, "Two": [["over", None]]}, merged={"One": [(0, 0, 2, 0)]})
    book = read(path)
    assert [sheet.merged for sheet in book.sheets] == [((0, 0, 2, 0),), ()]
    assert [[book["One"].value(row, column) for column in range(2)] for row in range(4)] == rows
    assert [str(range_) for range_ in openpyxl.load_workbook(path)["One"].merged_cells.ranges] == ["A1:A3"]
    with pytest.raises(ValueError, match="overlaps"):
        write_workbook_rows(path, {"One": rows}, merged={"One": [(0, 0, 2, 0), (1, 0, 3, 0)]})


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
