"""A column keeps its cells and no long run of blanks between them, and nobody who reads it can tell."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.grid.address import ROWS_MAX
from core.grid.codec import CodecError, open_sheet, write_sheet
from core.grid.column import BLANKS_MAX, Column, GappedColumn, LongerText, Text, column_of
from core.grid.sheet import Sheet
from core.values import Kind
from tests.core.grid.test_codec import empty, spoiled

HEADER_BYTES = 2_500
"""Of a file without cells, at most: its header and what the sheet itself holds."""

TEXTS = Text(np.array([0, 1, 2], np.int64), np.frombuffer(b"ab", np.uint8))

Cells = dict[int, tuple[Kind, float, int, int]]
"""By row: kind, number, code, format."""

BLANK = (Kind.BLANK, 0.0, -1, 0)

cell = st.one_of(
    st.tuples(st.just(Kind.NUMBER), st.floats(allow_nan=False), st.just(-1), st.integers(0, 3)),
    st.tuples(st.just(Kind.TEXT), st.just(0.0), st.integers(0, 1), st.integers(0, 3)),
    st.tuples(st.just(Kind.BLANK), st.just(0.0), st.just(-1), st.integers(1, 3)),
)
near = st.integers(0, 3 * BLANKS_MAX)
row = st.one_of(near, near.map(lambda at: 5_000 + at), near.map(lambda at: 60_000 - at))
columns_of_cells = st.dictionaries(row, cell, max_size=40)


def column_from(cells: Cells) -> Column | None:
    if not cells:
        return None
    rows = sorted(cells)
    kinds, numbers, codes, formats = zip(*(cells[at] for at in rows), strict=True)
    return column_of(
        np.array(rows, np.int32),
        np.array(kinds, np.uint8),
        np.array(numbers, np.float64),
        np.array(codes, np.int32),
        np.array(formats, np.uint16),
    )


def sheet_of(columns: list[Column | None]) -> Sheet:
    height = max((column.stop for column in columns if column is not None), default=0)
    return replace(empty(), columns=tuple(columns), row_count=height, text=TEXTS)


def cells_of(column: Column) -> Cells:
    """What the whole arrays of a column say, blanks left out."""
    arrays = (column.kinds, column.numbers, column.codes, column.formats)
    assert {len(array) for array in arrays} == {column.stop - column.start}
    filled = np.flatnonzero((column.kinds != 0) | (column.numbers != 0) | (column.codes != -1) | (column.formats != 0))
    picked = (array[filled].tolist() for array in arrays)
    rows = (filled + column.start).tolist()
    return {at: (Kind(kind), *rest) for at, kind, *rest in zip(rows, *picked, strict=True)}


@settings(max_examples=50)
@given(st.lists(columns_of_cells, max_size=4), st.data())
def test_sparse_sheets_come_back_and_cost_what_their_cells_do(all_cells: list[Cells], data: st.DataObject) -> None:
    sheet = sheet_of([column_from(cells) for cells in all_cells])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        write_sheet(sheet, path)
        size = path.stat().st_size
        back = open_sheet(path)
    count = sum(map(len, all_cells))
    assert size <= HEADER_BYTES + 4 * len(all_cells) + (15 * (BLANKS_MAX + 1) + 8) * count
    for at, (cells, column) in enumerate(zip(all_cells, back.columns, strict=True)):
        if column is None:
            assert not cells
            continue
        assert cells_of(column) == cells
        assert column.rows().tolist() == sorted({*column.rows().tolist(), *cells})
        asked = data.draw(st.lists(st.one_of(row, st.sampled_from(sorted(cells))), min_size=2, max_size=2))
        first, last = min(asked), max(asked) + 1
        part = column.span(first, last)
        assert (part.start, part.stop) == (first, last)
        assert cells_of(part) == {at: own_cell for at, own_cell in cells.items() if first <= at < last}
        for place in (first, last, first - 1, *list(cells)[:5]):
            kind, number, code, _ = cells.get(place, BLANK)
            assert back.kind(place, at) == kind
            assert column.begin(place) == (column.rows() < place).sum()
            plain = TEXTS[code] if kind == Kind.TEXT else number
            assert back.value(place, at) == (None if kind == Kind.BLANK else plain)


def test_the_first_and_the_last_row_of_a_sheet(tmp_path: Path) -> None:
    cells = {0: (Kind.NUMBER, 1.5, -1, 2), ROWS_MAX - 1: (Kind.TEXT, 0.0, 1, 0)}
    write_sheet(sheet_of([column_from(cells)]), tmp_path / "s")
    (column,) = open_sheet(tmp_path / "s").columns
    assert column is not None
    assert cells_of(column) == cells_of(column.span(0, ROWS_MAX)) == cells
    assert (tmp_path / "s").stat().st_size < HEADER_BYTES


def test_a_column_is_cut_where_it_pays_and_else_it_is_one_run() -> None:
    number = (Kind.NUMBER, 1.0, -1, 0)
    whole = column_from({0: number, BLANKS_MAX + 1: number})
    cut = column_from({0: number, BLANKS_MAX + 2: number})
    assert type(whole) is Column
    assert len(whole.kinds) == BLANKS_MAX + 2
    assert isinstance(cut, GappedColumn)
    assert len(cut.dense.kinds) == 2
    assert not cut.kinds.flags.writeable


def test_what_lies_in_one_run_is_a_view() -> None:
    number = (Kind.NUMBER, 1.0, -1, 0)
    column = column_from(dict.fromkeys([*range(10), 999_999], number))
    assert column is not None
    assert np.shares_memory(column.span(2, 8).numbers, column.dense.numbers)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("starts", [0, 2, 0]),  # meets the run before it
        ("starts", [999, 0, 0]),  # falling
        ("starts", [0, 1_000, 0]),  # past the last row
        ("starts", [-1, 999, 0]),
        ("lengths", [1_000, 1, 1]),  # over the run after it
        ("lengths", [0, 2, 2]),
        ("lengths", [3, 1, 0]),
        ("lengths", [5, -1, 0]),
        ("runs", [1, 1]),
        ("runs", [3, 1]),
        ("runs", [4, -1]),
        ("runs", [3, 0]),
        ("runs", [2**31 - 1, 2**31 - 1]),
    ],
)
def test_runs_that_cannot_be(tmp_path: Path, name: str, changed: list[int]) -> None:
    """Two cells a thousand rows apart, and a column of two in one run."""
    number = (Kind.NUMBER, 1.0, -1, 0)
    path = tmp_path / "s"
    write_sheet(sheet_of([column_from({0: number, 1: number, 999: number}), column_from({0: number})]), path)
    open_sheet(path)

    def change(values: np.ndarray) -> None:
        values[:] = changed

    path.write_bytes(spoiled(path.read_bytes(), name, change))
    with pytest.raises(CodecError):
        open_sheet(path)


@pytest.mark.parametrize("ask", [lambda text: text.strings(), lambda text: pickle.loads(pickle.dumps(text)).strings()])
def test_a_longer_text_is_the_strings_of_both(ask: Callable[[Text], list[str]]) -> None:
    added = Text(np.array([0, 0, 3], np.int64), np.frombuffer("é!".encode(), np.uint8))
    longer = LongerText(LongerText(TEXTS, added), TEXTS)
    assert len(longer) == 6
    assert longer[3] == "é!"
    assert ask(longer) == ["a", "b", "", "é!", "a", "b"]


def test_a_longer_text_is_written_as_it_reads(tmp_path: Path) -> None:
    longer = LongerText(TEXTS, Text(np.array([0, 3], np.int64), np.frombuffer(b"new", np.uint8)))
    write_sheet(replace(empty(), text=longer), tmp_path / "sheet")
    assert open_sheet(tmp_path / "sheet").text.strings() == ["a", "b", "new"]
