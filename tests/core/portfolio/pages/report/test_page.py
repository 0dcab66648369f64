"""Cells of pages: figures with bounds, and the digits that are shown."""

from __future__ import annotations

from typing import Any

from core.grid.sheet import Workbook
from core.portfolio.pages.report.page import PageCell, ReportPage, decimals_of_format
from tests.core.portfolio.conftest import Shown, sheet_from_rows
from tests.rows import every


@every("text, number, bound, decimals", [
    (">= 133.08%", 133.08, "min", 2), ("Min 5 %", 5.0, "min", 0), ("5.00 % (max)", 5.0, "max", 2),
    ("not more than 7.5%", 7.5, "max", 1), ("1.3142x", 1.3142, None, 4), ("(1,000.00)", -1000.0, None, 2),
    ("Maximum", None, None, None), ("***", None, None, None),
])  # fmt: skip
def test_a_figure_in_a_text(text: str, number: float | None, bound: str | None, decimals: int | None) -> None:
    cell = only_cell(text)
    assert ((cell.number if cell.has_number else None), cell.bound, cell.decimals) == (number, bound, decimals)


@every("value, number, percent, decimals", [
    (Shown(0.0893, "0.00%"), 8.93, True, 2), (Shown(1234.5, "#,##0.00"), 1234.5, False, 2),
    (Shown(2845.0, "0"), 2845.0, False, 0), (4.3, 4.3, False, None),
])  # fmt: skip
def test_a_numbers_format(value: Any, number: float, percent: bool, decimals: int | None) -> None:
    cell = only_cell(value)
    assert (cell.number, cell.is_percent, cell.decimals) == (number, percent, decimals)


@every("code, decimals", [
    ("General", None), ("0.00%", 2), ("#,##0.00_);[Red](#,##0.00)", 2), ('0.0"x"', 1), ("yyyy-mm-dd", None),
    ("0.0,,", None), ("0.00E+00", None), ("# ?/?", None), ("0", 0),
])  # fmt: skip
def test_decimals_of_a_format(code: str, decimals: int | None) -> None:
    assert decimals_of_format(code) == decimals


def only_cell(value: Any) -> PageCell:
    formats = ["General"]
    sheet = sheet_from_rows([[value]], "Page", formats=formats)
    return ReportPage(Workbook((sheet,), number_formats=tuple(formats)), sheet, [(0, 1)]).cell(0, 0)
