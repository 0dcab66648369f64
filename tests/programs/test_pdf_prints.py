"""Reports printed to PDF by LibreOffice and reportlab: cells, compliance figures, and the page of each row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from core.files.read import read
from core.grid.sheet import Workbook
from tests.made_reports.styles.catalogue import STYLES
from tests.printed_pdf.compare import Comparison, compare
from tests.printed_pdf.figures import DEFINITIONS, differences, outcomes
from tests.printed_pdf.libreoffice import Paper, print_books
from tests.printed_pdf.printed import Printed
from tests.printed_pdf.real import sheets_as_shown
from tests.printed_pdf.sheets import PrintedRow, workbook_of_prints
from tests.printed_pdf.variants import Variant, print_variants, variant_of

SEEDS: Final = (*range(6), *range(10, 16))
"""Six reports by each program; every style is among them."""
SHARE: Final = 0.99

DATA: Final = Path(__file__).parents[2] / "../shared/data"
REPORTS: Final = [
    path for name in ("cairn-xvii/report-2024-12-16.xlsx", "contego-xi/report-2024-09-30.xlsx")
    if (path := DATA / name).exists()
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """A printed report and what is read of it."""

    variant: Variant
    printed: Printed
    book: Workbook
    comparison: Comparison


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Reading]:
    folder = tmp_path_factory.mktemp("prints")
    variants = [variant_of(seed) for seed in SEEDS]
    result = {}
    for variant, printed in zip(variants, print_variants(variants, folder), strict=True):
        book = read(folder / f"{printed.name}.pdf")
        result[variant.seed] = Reading(variant, printed, book, compare(printed, book))
    return result


def misses(comparison: Comparison) -> str:
    """The share and the rows with most wrong cells."""
    worst = sorted(comparison.misses, key=lambda miss: -miss.wrong)[:8]
    return "\n".join([f"{comparison.share:.2%}", *(f"page {miss.page} {miss.kind}: {miss.text}" for miss in worst)])


def test_every_style_and_both_programs_are_printed(readings: dict[int, Reading]) -> None:
    assert {reading.variant.report.style for reading in readings.values()} == set(STYLES)
    assert Counter(reading.variant.program for reading in readings.values()) == {"libreoffice": 6, "reportlab": 6}


@pytest.mark.parametrize("seed", SEEDS)
def test_cells(readings: dict[int, Reading], seed: int) -> None:
    comparison = readings[seed].comparison
    assert comparison.share >= SHARE, misses(comparison)


@pytest.mark.parametrize("seed", SEEDS)
def test_figures(readings: dict[int, Reading], seed: int) -> None:
    """The results of each test are those of a workbook that holds the printed values."""
    reading = readings[seed]
    definition = DEFINITIONS[reading.variant.report.deal.market.currency]
    expected = outcomes(workbook_of_prints(reading.printed.sheets), definition)
    assert expected
    assert not differences(outcomes(reading.book, definition), expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_pages(readings: dict[int, Reading], seed: int) -> None:
    """Each row names the page that it stands on, and a line further down than the row before it."""
    reading = readings[seed]
    assert reading.comparison.pages_right > 0
    assert reading.comparison.pages_wrong == 0
    for sheet in reading.book.sheets:
        places = [tuple(place) for place in sheet.page_lines.tolist()]
        assert len(places) == sheet.row_count
        assert places == sorted(places)
        assert all(1 <= page <= reading.printed.page_count and line >= 1 for page, line in places)


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
def test_a_trustees_own_report(tmp_path: Path, path: Path) -> None:
    sheets = sheets_as_shown(path, tmp_path)
    (printed,) = print_books({"report": (sheets, Paper())}, tmp_path)
    book = read(tmp_path / "report.pdf")
    comparison = compare(printed, book)
    assert comparison.share >= SHARE, misses(comparison)
    assert comparison.pages_wrong == 0
    expected = outcomes(workbook_of_prints(sheets), "euro")
    assert not differences(outcomes(book, "euro"), expected)


def test_a_workbook_of_the_printed_values_is_right(readings: dict[int, Reading]) -> None:
    """The comparison finds no fault in the printed values themselves."""
    for reading in readings.values():
        comparison = compare(reading.printed, workbook_of_prints(reading.printed.sheets))
        assert comparison.right > 0
        assert comparison.wrong == 0, misses(comparison)


def test_the_comparison_sees_faults(readings: dict[int, Reading]) -> None:
    """A row left out, two cells in one, a cell in its neighbour's column, and a row on another sheet are wrong."""
    printed = readings[0].printed
    sheet = printed.sheets[-1]
    at = next(at for at, row in enumerate(sheet.rows) if row.kind == "data")
    row = sheet.rows[at]
    cells = [cell for cell in row.cells if cell is not None]
    joined = replace(cells[0], text=f"{cells[0].text} {cells[1].text}", value=f"{cells[0].text} {cells[1].text}")
    wrong_rows: dict[str, list[PrintedRow]] = {
        "left out": [],
        "joined": [replace(row, cells=(joined, None, *row.cells[2:]))],
        "moved": [replace(row, cells=(None, *row.cells))],
    }
    wrong = {}
    for name, rows in wrong_rows.items():
        changed = replace(sheet, rows=[*sheet.rows[:at], *rows, *sheet.rows[at + 1 :]])
        wrong[name] = compare(printed, workbook_of_prints([*printed.sheets[:-1], changed])).wrong
    alike = sum(cell.value == after.value for cell, after in pairwise(cells))  # flags, which look right one further on
    assert wrong == {"left out": len(cells), "joined": 2, "moved": len(cells) - alike}
    cut = replace(sheet, rows=sheet.rows[: at + 3]), replace(sheet, rows=sheet.rows[at + 3 :], name="Rest")
    lost = sum(sum(map(bool, each.cells)) for each in sheet.rows[at : at + 3])
    assert compare(printed, workbook_of_prints([*printed.sheets[:-1], *cut])).wrong >= lost
