"""The score of a reading: all of a perfect one is right, and each kind of fault costs what it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.files.write import Formats, sheet_of
from core.grid.sheet import ReadingRemark, Sheet, Workbook
from tests.pdf_layouts import schedule
from tests.pdf_layouts.score import score_of
from tests.pdf_layouts.truth import Document, Table, values_of

Cells = list[list[float | str | None]]


def cells_of(table: Table) -> tuple[Cells, list[tuple[int, int]]]:
    """Return a table's header and rows as a right reading has them, with page and line of each."""
    cells: Cells = [[header or None for header in table.headers]] if table.headers else []
    places = [(table.rows[0].page, 1)] if table.headers else []
    for row in table.rows:
        cells.append([cell.values()[0] for cell in row.cells])
        places.append((row.page, row.first_line))
    return cells, places


def sheet(cells: Cells, places: list[tuple[int, int]]) -> Sheet:
    return replace(sheet_of(cells, Formats(), name="Page 1"), page_lines=np.array(places, np.int32))


@pytest.fixture(scope="module")
def document() -> Document:
    return schedule.draw(1, loans=240)


def test_all_of_a_perfect_reading_is_right(document: Document) -> None:
    cells, places = cells_of(document.tables[0])
    remarks = tuple(
        ReadingRemark("total_differs", "", "Page 1", (1 + document.tables[0].rows.index(row),))
        for row in document.misprints
    )
    score = score_of(document, Workbook((sheet(cells, places),), remarks=remarks))
    assert (score.share, score.rows_missing, score.surplus, score.wrong) == (1, 0, 0, [])
    assert score.lines_right == score.rows > 250
    assert score.misprints_right
    assert set(score.pieces.values()) == {1}


def test_each_fault_costs_its_cells(document: Document) -> None:
    cells, places = cells_of(document.tables[0])
    whole = score_of(document, Workbook((sheet(cells, places),)))
    assert not whole.misprints_right
    value = next(row for row in cells[1:] if isinstance(row[-2], float))
    value[-2] += 1
    name = next(row for row in cells[5:] if isinstance(row[0], str) and row[-1] is not None)
    name[0] = f"{name[0]} more"
    assert score_of(document, Workbook((sheet(cells, places),))).right == whole.right - 2
    missing = sum(cell is not None for cell in cells[40])
    shorter = score_of(document, Workbook((sheet([*cells[:40], *cells[41:]], [*places[:40], *places[41:]]),)))
    assert (shorter.right, shorter.rows_missing) == (whole.right - 2 - missing, 1)
    with_header_again = [*cells[:60], cells[0], *cells[60:]]
    again = score_of(document, Workbook((sheet(with_header_again, [*places[:60], (places[60][0], 5), *places[60:]]),)))
    assert again.surplus == sum(cell is not None for cell in cells[0])
    moved = [[*row[:3], None, *row[3:]] if at % 2 else row for at, row in enumerate(cells)]
    assert score_of(document, Workbook((sheet(moved, places),))).share < 0.7


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", (None,)),
        ("1,234.50", (1234.5,)),
        ("(12.30)", (-12.3,)),
        ("8.90%", (0.089,)),
        ("€ 1,250", (1250.0,)),
        ("GBP 2,000", (2000.0, "GBP 2,000")),
        ("30-Sep-2024", (45565.0,)),
        ("12/31/2028", ("12/31/2028",)),
        ("0012", ("0012",)),
        ("SOFR + 5.75%", ("SOFR + 5.75%",)),
        ("0.50", (0.5,)),
        ("Aaa", ("Aaa",)),
    ],
)
def test_values_of_printed_texts(text: str, values: tuple[object, ...]) -> None:
    read = values_of(text)
    assert [pytest.approx(value) if isinstance(value, float) else value for value in read] == list(values)
