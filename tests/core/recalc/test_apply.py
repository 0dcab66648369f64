"""A formula written as a column.

Values and formulas filled down, what depends on it, and what is refused.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.files.read import read
from core.formula.blocks import Graph, check
from core.formula.values.value import fold
from core.grid.address import column_name
from core.grid.codec import open_workbook, write_workbook
from core.grid.sheet import Workbook
from core.recalc import apply
from core.recalc.apply import AppliedColumn, CannotApply, Mode, NamedColumns, apply_column, preview
from core.recalc.book import Book
from tests.core.formula.blocks.graphs import COLUMNS, graphs
from tests.hand_made import Cell, data_table, write_book
from tests.rows import every

NAMES = ("Id", "Par", "Price", "Sum")


def sheets() -> dict[str, dict[str, Any]]:
    loans = {
        "A": ["Loans", "Id", "x", "y", "x", "z"],
        "B": [None, "Par", 10.0, 20.0, None, "n/a"],
        "C": [None, "Price", 50.0, 0.0, 40.0, 30.0],
        "D": [None, "Sum", "=B3+C3", "=B4+C4", "=B5+C5", "=B6+C6"],
    }
    second = {"A": ["=SUM(Loans!B3:B6)", "=Loans!E3*2", "=Loans!D4&RAND()", "=SUM(Loans!E:E)"]}
    return {"Loans": loans, "Other": second}


def apply_formula(formula: str, target: str = "New", mode: Mode = "new") -> AppliedColumn:
    """The formula applied to a workbook of which every formula has the stored value 7, to see what changes."""
    book = Book.from_columns(sheets())
    book.recalculate(random=lambda: 0.25)
    plain = _with_sevens(book)
    return apply_column(plain, NamedColumns(plain.sheets[0], 1, NAMES), formula, target, mode, random=lambda: 0.5)


def _with_sevens(book: Book) -> Workbook:
    for sheet in book.sheets:
        for row, column in zip(sheet.formulas.rows.tolist(), sheet.formulas.columns.tolist(), strict=True):
            own_column = sheet.columns[column]
            assert own_column is not None
            for array, value in ((own_column.kinds, 1), (own_column.numbers, 7.0), (own_column.codes, -1)):
                array.setflags(write=True)
                array[row - own_column.start] = value
                array.setflags(write=False)
    return Workbook(book.sheets)


def column(workbook: Workbook, sheet: int, at: int, rows: int = 6) -> list[Any]:
    return [workbook.sheets[sheet].value(row, at) for row in range(rows)]


def test_a_new_column_stands_behind_the_others_with_what_depends_on_it() -> None:
    result = apply_formula("=[@Par]/[@Price]")
    assert (result.column, result.rows_affected, result.rows_failed, result.cells_recalculated) == (4, 4, 2, 2)
    assert column(result.workbook, 0, 4) == [None, "New", 0.2, "#DIV/0!", 0.0, "#VALUE!"]
    assert [result.workbook.sheets[0].formula(row, 4) for row in range(1, 6)] == [
        None, "B3/C3", "B4/C4", "B5/C5", "B6/C6",
    ]  # fmt: skip
    assert len(result.workbook.sheets[0].formulas.text.strings()) == 2  # filled down: one text for each column
    assert column(result.workbook, 0, 3) == [None, "Sum", 7.0, 7.0, 7.0, 7.0]
    assert column(result.workbook, 1, 0, 4) == [7.0, 0.4, 7.0, "#DIV/0!"]
    assert result.sheets_changed == (0, 1)


def test_a_column_is_written_over_and_its_dependents_follow() -> None:
    result = apply_formula('=IF([@Id]="x",TRUE,[@Price])', "Par", "overwrite")
    assert column(result.workbook, 0, 1) == [None, "Par", True, 0.0, True, 30.0]
    assert column(result.workbook, 0, 3) == [None, "Sum", 51.0, 0.0, 41.0, 60.0]
    assert column(result.workbook, 1, 0, 4) == [30.0, 7.0, "00.5", 7.0]
    assert result.cells_recalculated == 6


def test_a_column_of_formulas_is_written_over_whole() -> None:
    result = apply_formula("=SUM([Par])+[@Price]", "Sum", "overwrite")
    assert column(result.workbook, 0, 3) == [None, "Sum", 80.0, 30.0, 70.0, 60.0]
    assert result.formula == "=SUM($B$3:$B$6)+C3"
    assert result.sheets_changed == (0, 1)
    assert column(result.workbook, 1, 0, 4)[2] == "300.5"


def test_what_was_written_reads_back_and_calculates_to_the_same(tmp_path: Any) -> None:
    result = apply_formula('=LET(step_1,[@Par]*2,IF(step_1>20,step_1,"low"))')
    stored = open_workbook(write_workbook(result.workbook, tmp_path), tmp_path)
    book = Book(stored)
    book.recalculate(random=lambda: 0.5)
    assert column(book, 0, 4) == column(stored, 0, 4) == [None, "New", "low", 40.0, "low", "#VALUE!"]
    assert book.formula("Loans", "E6") == '=LET(step_1,B6*2,IF(step_1>20,step_1,"low"))'


@every(
    "formula,target,mode,words",
    [
        ("=[@Par]*2", "Par", "overwrite", "reads the column 'Par'"),
        ("=SUM([par])", "Par", "overwrite", "reads the column"),
        ("=[@Sum]*2", "Par", "overwrite", "needs its own result"),
        ("=SUM(Loans!$B$1:$B$5)", "Par", "overwrite", "needs its own result"),
        ("=Other!$A$2", "New", "new", "needs its own result"),
        ("=[@Id]", "pAr", "new", "already"),
        ("=[@Id]", "Gone", "overwrite", "no such column"),
        ("=[Par]", "New", "new", "array"),
    ],
)
def test_what_cannot_be_written_is_refused(formula: str, target: str, mode: Mode, words: str) -> None:
    with pytest.raises(CannotApply, match=words):
        apply_formula(formula, target, mode)


def test_a_column_of_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply, "TEXT_CHARACTERS_MAX", 99)
    assert apply_formula('=REPT("x",99)').rows_failed == 0
    with pytest.raises(CannotApply, match="longer than 99"):
        apply_formula('=REPT("x",25)&ROW()')


def test_a_preview_shows_rows_with_their_inputs_and_errors() -> None:
    book = Book.from_columns({"S": {"A": ["Par", 2.0, 0.0, "x"], "B": ["On", date(2026, 1, 31), None, True]}})
    headed = NamedColumns(book.sheets[0], 0, ["Par", "On"])
    shown = preview(book, headed, "=[@On]+1/[@Par]*0", 2)
    assert [(row.row, row.input, row.output, row.error) for row in shown] == [
        (2, {"On": 46053.0, "Par": 2.0}, 46053.0, None),
        (3, {"On": None, "Par": 0.0}, "#DIV/0!", "#DIV/0!"),
    ]
    assert [row.output for row in preview(book, headed, "=DATE(2026,1,[@Par])", 1)] == ["2026-01-02"]


def test_totals_below_the_data_stay_and_are_not_summed_again() -> None:
    """Neither is the old column's total written over, nor does a share of the column count it."""
    cells: dict[str, list[Any]] = {"A": ["Id", "x", "y", "Total"], "B": ["Par", 10.0, 30.0, "=SUM(B2:B3)"]}
    book = Book.from_columns({"Loans": cells})
    book.recalculate()
    headed = NamedColumns(book.sheets[0], 0, ["Id", "Par"])
    share = apply_column(Workbook(book.sheets), headed, "=[@Par]/SUM([Par])", "Share")
    assert (share.rows_affected, column(share.workbook, 0, 2, 4)) == (2, ["Share", 0.25, 0.75, None])
    over = apply_column(Workbook(book.sheets), headed, "=LEN([@Id])", "Par", "overwrite")
    assert (over.rows_affected, column(over.workbook, 0, 1, 4)) == (2, ["Par", 1.0, 1.0, 2.0])
    assert over.workbook.sheets[0].formula(3, 1) == "SUM(B2:B3)"


CELLS = (None, True, False, "", "x", "X", "3", "n/a", 0.0, 3.0, -2.5, 46053.0, 0.1, 1e6, 7.0, 12.25)
ROWS = 40


@given(graphs(), st.integers(0, 1_000))
def test_a_whole_column_is_what_each_row_gives_by_itself(drawn: Graph, seed: int) -> None:
    formula = check(drawn).formula
    assume(formula is not None)
    assert formula is not None
    names, chance = [*COLUMNS, "Spread"], Random(seed)
    columns = {column_name(at): [name, *chance.choices(CELLS, k=ROWS)] for at, name in enumerate(names)}
    book = Book.from_columns({"S": columns, "Rates": {"A": [1.0, 2.0], "B": ["a", 0.5]}})
    headed = NamedColumns(book.sheets[0], 0, names)
    rows = preview(book, headed, formula, ROWS, random=lambda: 0.5)
    applied = apply_column(Workbook(book.sheets), headed, formula, "New", random=lambda: 0.5)
    at, sheet = len(names), applied.workbook.sheets[0]
    assert [row.output for row in rows] == [sheet.value(row, at) for row in range(1, ROWS + 1)]
    assert applied.rows_failed == sum(row.error is not None for row in rows)
    assert Book(applied.workbook).formula("S", f"{column_name(at)}2") == applied.formula


def test_loops_data_tables_and_rounding_follow_a_column_that_is_written(tmp_path: Path) -> None:
    cells: dict[str, Cell] = {f"A{row}": 1.0 * row for row in range(1, 4)} | {f"B{row}": 0.0 for row in range(1, 4)}
    cells |= {
        "D1": "=SUM(B1:B3)+E1", "E1": "=D1*0.5", "F1": ("=D1/7", "0.0"),
        "H3": "=SUM(B1:B3)*I1", "I1": 1.0, "G4": 10.0, "H4": data_table("H4:H4", column_input="I1"),
    }  # fmt: skip
    settings = 'iterate="1" iterateDelta="1E-9" fullPrecision="0"'
    book = read(write_book(tmp_path / "book.xlsx", cells, calculation=settings))
    applied = apply_column(book, NamedColumns(book.sheets[0], None, []), "=[@A]*2", "B", "overwrite")
    sheet = applied.workbook.sheets[0]
    assert [sheet.value(row, column) for row, column in ((2, 1), (0, 3), (0, 5), (3, 7))] == [
        6, pytest.approx(24, abs=1e-6), 3.4, 120,
    ]  # fmt: skip
    assert applied.workbook.doubts == ()
    still = read(write_book(tmp_path / "still.xlsx", cells))
    (doubt,) = apply_column(still, NamedColumns(still.sheets[0], None, []), "=[@A]*2", "B", "overwrite").workbook.doubts
    assert doubt.code == "circular_reference"


KEYS = st.sampled_from(
    ["LX1", "lx1", "Lx2 ", "LX2", " caa1", "Caa1", "CAA1", "ß", "ẞ", "B*", "b?", "b1", "~", "", "x" * 256]
)
KEY_CELLS = st.one_of(KEYS, st.none(), st.sampled_from([0.0, -0.0, 1.5, True, False]))
ROWS_LEAST = 40
"""From here on a column runs as chunks, and a range has an index."""


@given(st.lists(st.tuples(KEY_CELLS, KEYS, KEY_CELLS), min_size=ROWS_LEAST, max_size=90), st.booleans())
def test_stored_columns_that_a_formula_reads(rows: list[tuple[Any, str, Any]], is_text: bool) -> None:
    """A look-up and a function of a text, by stored columns of texts alone and of cells of all kinds."""
    names = ("Key", "Id", "Rating", "Name")
    keys = [key if not is_text or isinstance(key, str) else "none" for key, _, _ in rows]
    columns = {
        "A": ["Key", *keys],
        "B": ["Id", *(text for _, text, _ in rows)],
        "C": ["Rating", *(cell for *_, cell in rows)],
        "D": ["Name", *(f"Name {at % 7}" for at in range(len(rows)))],
    }
    with TemporaryDirectory() as folder:
        stored = open_workbook(write_workbook(Book.from_columns({"Loans": columns}), Path(folder)), Path(folder))
        looked_up = apply_column(
            stored, NamedColumns(stored.sheets[0], 0, names), '=XLOOKUP([@Key],[Id],[Name],"no")', "New"
        )
        trimmed = apply_column(stored, NamedColumns(stored.sheets[0], 0, names), '=TRIM([@Rating])="caa1"', "New")
    first: dict[str, str] = {}
    for at, (_, text, _) in enumerate(rows):
        first.setdefault(fold(text), f"Name {at % 7}")
    for at, key in enumerate(keys):
        blank = rows[at][0] is None and not is_text
        expected = "no" if blank or not isinstance(key, str) else first.get(fold(key), "no")
        assert looked_up.workbook.sheets[0].value(at + 1, 4) == expected, (at, key)
        cell = rows[at][2]
        assert trimmed.workbook.sheets[0].value(at + 1, 4) is (isinstance(cell, str) and fold(cell.strip()) == "caa1")
    for result in (looked_up, trimmed):
        new, old = result.workbook.sheets[0], stored.sheets[0]
        assert new.columns[:4] == old.columns[:4], "what a formula only reads stays the stored column itself"
        assert [new.value(0, at) for at in range(5)] == [*names, "New"]
        assert len(set(new.text.strings())) == len(new.text)


@given(st.lists(st.floats() | st.sampled_from([-0.0, math.inf, math.nan]), min_size=1, max_size=50), st.integers(0, 3))
def test_numbers_of_an_array_stand_as_they_are(numbers: list[float], first: int) -> None:
    book = Book.from_columns({"S": {"A": ["text"] * 60}})
    book.set_column("S", "A", np.array(numbers), first_row=first + 1)
    column = book.sheets[0].columns[0]
    assert column is not None
    cells = column.span(first, first + len(numbers))
    expected = [number if math.isfinite(number) else 0.0 for number in numbers]
    assert cells.numbers.tobytes() == np.array(expected).tobytes()
    assert cells.kinds.tolist() == [int(math.isfinite(number)) for number in numbers]
    assert set(cells.codes.tolist()) == {-1}
    assert book.value("S", f"A{first + len(numbers) + 1}") == "text"
