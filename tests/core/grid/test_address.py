"""A1 notation against openpyxl's, and formulas moved as a spreadsheet moves them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter

from core.grid.address import (
    COLUMNS_MAX,
    ROWS_MAX,
    cell_name,
    column_index,
    column_name,
    fill_down,
    move_formula,
    parse_cell,
    parse_range,
    range_name,
)


def test_every_column_there_and_back() -> None:
    for column in range(COLUMNS_MAX):
        name = column_name(column)
        assert name == get_column_letter(column + 1)
        assert column_index(name) == column_index(name.lower()) == column


@given(st.integers(0, ROWS_MAX - 1), st.integers(0, COLUMNS_MAX - 1))
def test_every_cell_there_and_back(row: int, column: int) -> None:
    assert parse_cell(cell_name(row, column)) == (row, column)


@pytest.mark.parametrize(
    "name", ["", "A", "1", "A0", "A01", "XFE1", "AAAA1", "A1048577", "A1 ", "1A", "A-1", "Ä1", "A١"]
)
def test_what_is_no_cell(name: str) -> None:
    with pytest.raises(ValueError, match=r"not a cell|past XFD"):
        parse_cell(name)


@pytest.mark.parametrize("name", ["", "XFE", "AAAA", "A1", "é", "$A"])
def test_what_is_no_column(name: str) -> None:
    with pytest.raises(ValueError, match="column"):
        column_index(name)


@pytest.mark.parametrize(("row", "column"), [(-1, 0), (0, -1), (ROWS_MAX, 0), (0, COLUMNS_MAX)])
def test_places_outside_the_sheet_have_no_name(row: int, column: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        cell_name(row, column)


def test_ranges() -> None:
    assert parse_range("$B$2:A1") == (0, 0, 1, 1)
    assert parse_range("C3") == (2, 2, 2, 2)
    assert range_name(0, 0, 1, 1) == "A1:B2"
    assert range_name(4, 3, 4, 3) == "D5"
    with pytest.raises(ValueError, match="not a cell"):
        parse_range("A1:B2:C3")


@pytest.mark.parametrize(
    ("formula", "rows", "columns", "moved"),
    [
        ("A1+B2", 1, 1, "B2+C3"),
        ("$A1+A$1+$A$1", 2, 3, "$A3+D$1+$A$1"),
        ("SUM(A1:B$2,C:C,$D:E,3:4,$5:6)", 1, 1, "SUM(B2:C$2,D:D,$D:F,4:5,$5:7)"),
        ("LOG10(A1)+ATAN2(B1,1)", 1, 0, "LOG10(A2)+ATAN2(B2,1)"),
        ('"A1"&A1&"a""B2"', 1, 0, '"A1"&A2&"a""B2"'),
        ("'A1 x'!A1+'it''s B2'!B2", 1, 0, "'A1 x'!A2+'it''s B2'!B3"),
        ("Q1!A1+Q1:Q4!A1", 1, 0, "Q1!A2+Q1:Q4!A2"),
        ("[1]Data!A1+'[Book1.xlsx]B2'!C3", 1, 0, "[1]Data!A2+'[Book1.xlsx]B2'!C4"),
        ("Loans[[#This Row],[A1]]+Loans[B2]+A1", 1, 0, "Loans[[#This Row],[A1]]+Loans[B2]+A2"),
        ("1E5+2.5e-3*A1", 1, 0, "1E5+2.5e-3*A2"),
        ("par_A1+A1_x+A1.b+_B2+ABCD1+XFE1+A1048577+\\A1", 1, 0, "par_A1+A1_x+A1.b+_B2+ABCD1+XFE1+A1048577+\\A1"),
        ("IF(a1<>b$2,-C3%,D4^2)", 1, 1, "IF(B2<>C$2,-D4%,E5^2)"),
        ("A1#+@B1", 1, 0, "A2#+@B2"),
        ("A1+1", -1, 0, "#REF!+1"),
        ("SUM(A1:A9)+XFD1", 0, 1, "SUM(B1:B9)+#REF!"),
        ("SUM(A1:A1048576)", 1, 0, "SUM(A2:#REF!)"),
        ("SUM(XFD:XFD,1048576:1048576)", 1, 1, "SUM(#REF!,#REF!)"),
        ('"open A1', 1, 0, '"open A1'),
        ("", 1, 1, ""),
    ],
)
def test_a_formula_moves_as_it_is_filled(formula: str, rows: int, columns: int, moved: str) -> None:
    assert move_formula(formula, rows, columns) == moved


@given(st.text("A1$:!'\"[](),.+ $BXFD90é\\_#@", max_size=60))
def test_moving_nowhere_changes_little_but_case(formula: str) -> None:
    """Any text comes through; by no distance nothing changes."""
    assert move_formula(formula, 0, 0).upper() == formula.upper()


def test_long_formulas_take_linear_time() -> None:
    for text in (
        "A" * 30_000,
        "A1:" * 10_000,
        "[" * 30_000,
        "'" * 29_999,
        '"' * 29_999,
        "[a" * 15_000 + "]",
        "a:" * 15_000,
    ):
        move_formula(text, 1, 1)


@pytest.mark.parametrize(
    "text",
    ["A1*B$2+SUM($C3:D4)", "1:3", "$A$1", '"A1"&A1', "'A1'!B1+Table1[A1]", "LOG10(B1)+XFD1048575", "A1048570:B$3"],
)
def test_a_formula_filled_down_reads_as_moved_cell_by_cell(text: str) -> None:
    assert list(fill_down(text, 9)) == [move_formula(text, row, 0) for row in range(9)]
