"""The canonical hash against its definition's plain twin, and a vector that another implementation can be held to."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files.read import read
from core.files.write import Formula, write_workbook_rows
from core.grid.address import cell_name
from core.provenance import canonical, formulas, manifest, unsteady
from core.provenance._canonical import rounded
from core.provenance.canonical import NoSuchSheet, data_hash
from core.values import Kind
from tests.core import naive_provenance as naive
from tests.rows import every

PAGE = (Path(__file__).parents[3] / "docs/reference/manifest.md").read_text(encoding="utf-8")

numbers = st.floats(allow_nan=False, allow_infinity=False)
RESULTS = ["#DIV/0!", "", " text\n", " ", "\t\r\nx y\r\n", "\x0bx\xa0"]
CELLS: st.SearchStrategy[Any] = st.one_of(
    st.none(), numbers, st.booleans(), st.text(max_size=12).filter(lambda text: "\0" not in text),
    st.sampled_from(["#N/A", "\r\n", "a\r\n\r\nb", "\r", "=1+1", "é", "🎉"]),
    st.builds(Formula, st.sampled_from(["A1+1", "SUM(A:A)", "TRUE", "1/0", 'IF(A1,"","x")']),
              st.one_of(st.none(), numbers, st.booleans(), st.sampled_from(RESULTS))),
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(CELLS, max_size=4), max_size=6))
def test_the_hash_is_its_definition(tmp_path_factory: pytest.TempPathFactory, rows: list[list[Any]]) -> None:
    path = tmp_path_factory.mktemp("made") / "made.xlsx"
    write_workbook_rows(path, {"One": rows, "Zwei": [["x", 2.5]]})
    book = read(path)
    assert data_hash(book).hash == naive.data_hash(book)


def test_lengths_of_time_have_the_hash_that_they_had_as_dates(tmp_path: Path) -> None:
    path = tmp_path / "lengths.xlsx"
    with xlsxwriter.Workbook(path) as workbook:
        sheet, code = workbook.add_worksheet("S"), workbook.add_format({"num_format": "[h]:mm"})
        for row, number in enumerate((1.5, 0.25, -1.0, 3e6)):
            sheet.write_number(row, 0, number, code)
    book = read(path)
    (sheet,) = book.sheets
    column = sheet.columns[0]
    assert column is not None
    assert column.kinds.tolist() == [Kind.NUMBER] * 4
    kinds = np.array([Kind.DATE, Kind.DATE, Kind.NUMBER, Kind.NUMBER], np.uint8)
    before = replace(book, sheets=(replace(sheet, columns=(replace(column, kinds=kinds),)),))
    assert data_hash(before).hash == data_hash(book).hash


NEAR_TIES = st.builds(
    lambda digits, twentieths, tens: (digits + twentieths / 20) / 10.0**tens,
    st.integers(10**13, 10**16), st.integers(0, 19), st.integers(-2, 22),
)  # fmt: skip
"""Sixteen or seventeen digits, of which the last decide."""


@settings(max_examples=2_500, deadline=None)
@given(numbers | NEAR_TIES)
def test_numbers_are_rounded_by_their_shortest_decimal(number: float) -> None:
    for near in (number, math.nextafter(number, math.inf), math.nextafter(number, 0)):
        if math.isfinite(near):
            assert rounded(near) == naive.rounded(near)
            assert rounded(rounded(near)) == rounded(near)


TIES = (
    3013591.007694625, 0.09420438294276995, 5.164551859017925e16, 9007199254740993.0, 9870497179280.262, 5e-324,
    2.0**-44, 1.7976931348623157e308, 9.9999999999999995e15, 99999999999999.99, 0.1 + 0.2, -0.0, 1 / 3,
    1e-7, -4453871940548014.5,
)  # fmt: skip
"""Half way between two of fifteen digits, at powers of two and ten, at both ends."""


@every("number", TIES)
def test_hard_numbers_are_rounded_as_the_plain_twin_does(number: float) -> None:
    assert rounded(number) == naive.rounded(number)
    assert math.copysign(1, rounded(-0.0)) == 1


VECTOR: dict[str, list[list[Any]]] = {
    "Loans": [
        ["Id", "Par", "Rate", "Live"],
        ["a", 1_000_000.0, 1 / 3, True],
        ["b\r\nc", 0.1 + 0.2, -0.0, False],
        ["ü", Formula("SUM( b2:B3 )", 1_000_000.3), Formula("1/0", "#DIV/0!"), Formula("D2=TRUE", True)],
    ],
    "日本": [[None, ""], [None, "last"]],
}
VECTOR_HASH = "35ea79303edf581da2920a8bd63b64d2fb198df573bc3e1e29a29b8fb5f3d7a3"


def test_the_vector_of_the_definition(tmp_path: Path) -> None:
    write_workbook_rows(tmp_path / "vector.xlsx", VECTOR)
    book = read(tmp_path / "vector.xlsx")
    assert data_hash(book).hash == naive.data_hash(book) == VECTOR_HASH


def test_the_page_says_what_the_sources_say_and_its_example_holds(tmp_path: Path) -> None:
    for module in (canonical, formulas, unsteady, manifest):
        assert module.__doc__ is not None
        assert module.__doc__.strip() in PAGE
    write_workbook_rows(tmp_path / "vector.xlsx", VECTOR)
    book = read(tmp_path / "vector.xlsx")
    records = {}
    for sheet in book.sheets:
        for row in range(sheet.row_count):
            for column in range(sheet.column_count):
                if answer := naive.record(book, sheet, row, column):
                    records[sheet.name, cell_name(row, column)] = answer.hex()
        records[sheet.name, ""] = naive.sheet_hash(book, sheet).hex()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")]
    assert {(row[0], row[1]): row[3].strip("`") for row in rows if len(row) == 4 and row[3] != "record"} == records
    assert VECTOR_HASH in PAGE


def test_a_column_longer_than_a_chunk_is_hashed_whole(tmp_path: Path) -> None:
    rows = [[f"{at:05d}" * 200, float(at)] for at in range(1_500)] + [["x" * 32_767, None]]
    write_workbook_rows(tmp_path / "long.xlsx", {"Long": rows})
    book = read(tmp_path / "long.xlsx")
    assert data_hash(book).hash == naive.data_hash(book)
    with pytest.raises(NoSuchSheet, match="'long'"):
        data_hash(book, ["long"])
