"""Places of cells: a sheet and a cell, and page and line where the file has pages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.grid.places import cell_place, column_part, first_place, range_place, row_place, sheet_part, without_pages
from core.grid.sheet import Sheet
from tests.core.portfolio.conftest import sheet_from_rows

LINES = [(2, 9), (3, 4), (3, 5), (3, 12), (5, 1)]
"""Page and line of five rows."""


@pytest.fixture
def plain() -> Sheet:
    return sheet_from_rows([["a", 1.0, 2.0]] * 5, "Tests")


@pytest.fixture
def paged(plain: Sheet) -> Sheet:
    return replace(plain, page_lines=np.array(LINES, np.int32))


def test_a_cell_of_a_spreadsheet(plain: Sheet) -> None:
    assert cell_place(plain, 3, 2) == "'Tests'!C4"
    assert range_place(plain, 0, 2, 4, 2) == "'Tests'!C1:C5"
    assert cell_place(replace(plain, name="Q1 '24"), 0, 0) == "'Q1 ''24'!A1"


def test_a_cell_of_a_document_has_page_and_line(paged: Sheet) -> None:
    assert cell_place(paged, 3, 2) == "'Tests'!C4 (page 3, line 12)"
    assert cell_place(paged, 0, 0) == "'Tests'!A1 (page 2, line 9)"


@pytest.mark.parametrize(
    ("rows", "pages"),
    [
        ((0, 4), " (pages 2 to 5)"),
        ((1, 3), " (page 3, lines 4 to 12)"),
        ((1, 1), " (page 3, line 4)"),
        ((3, 4), " (pages 3 to 5)"),
    ],
)
def test_a_range_has_its_pages(paged: Sheet, rows: tuple[int, int], pages: str) -> None:
    place = range_place(paged, rows[0], 2, rows[1], 2)
    assert place.endswith(pages)
    assert without_pages(place) == f"'Tests'!C{rows[0] + 1}" + (f":C{rows[1] + 1}" if rows[0] != rows[1] else "")


def test_a_row_outside_of_the_pages_has_none(paged: Sheet) -> None:
    assert cell_place(paged, 5, 0) == "'Tests'!A6"


@pytest.mark.parametrize(
    "place",
    ["'Tests'!C4", "'A (page 3, line 12)'!C4", "'Tests (pages 1 to 2)'!A1:B2", "the table of the notes", "", ")"],
)
def test_what_has_no_pages_stays(place: str) -> None:
    """The name of a sheet may read like pages."""
    assert without_pages(place) == place
    assert without_pages(f"{place} (page 3, line 12)") == place


def test_the_parts_of_a_place(paged: Sheet) -> None:
    for sheet in (paged, replace(paged, page_lines=np.zeros((0, 2), np.int32))):
        assert sheet_part(cell_place(sheet, 3, 2)) == "'Tests'"
        assert column_part(cell_place(sheet, 3, 2)) == "'Tests'!C"
    assert sheet_part("'A!B'!C4 (page 1, line 1)") == "'A!B'"


def test_the_first_of_several(paged: Sheet) -> None:
    """Pages have a comma, too."""
    places = [cell_place(paged, row, 1) for row in (3, 0)]
    assert first_place(", ".join(places)) == places[0]
    assert first_place("'Tests'!B4, 'Tests'!B1") == "'Tests'!B4"
    assert first_place("'A1, ''B'!C4, 'D'!A1") == "'A1, ''B'!C4"
    assert first_place(places[0]) == places[0]
    assert first_place("") == ""


def test_the_cell_of_a_row_in_a_column(paged: Sheet) -> None:
    loans = range_place(paged, 0, 27, 4, 27)
    assert row_place(loans, 3) == "'Tests'!AB4"
    assert row_place(loans, 3, " (page 3, line 12)") == cell_place(paged, 3, 27)
    assert row_place("", 3) is None
    assert row_place("'Tests'!7", 3) is None
