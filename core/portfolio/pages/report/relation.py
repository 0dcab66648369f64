"""The columns for which numerator / denominator = value."""

from __future__ import annotations

from itertools import permutations
from typing import Final, NamedTuple

from core.portfolio.pages.report.blocks import PageTable
from core.portfolio.pages.report.page import PageCell

RELATION_SHARE: Final = 0.6
"""Share of rows with all three figures in which the ratio must hold."""

LOOSE_TOLERANCE: Final = 0.06
"""Percent points by which a ratio may miss a value that is stored with fewer digits than are shown."""

LOOSE_ROWS: Final = 4
"""Rows in which a ratio must hold where it misses by more than half a unit of the printed digit."""

DENOMINATOR_MIN: Final = 1_000.0
"""Currency units from which a column can be a denominator."""

COLUMNS_MAX: Final = 24
"""Columns of figures that are tried."""

AMOUNTS_MAX: Final = 12
"""Columns of amounts that are tried as numerator and denominator."""

ROWS_MAX: Final = 60
"""Rows that are tried."""


class Relation(NamedTuple):
    """Three columns whose figures are numerator, denominator and value."""

    columns: tuple[int, int, int]
    error: float
    """Percent points, over all rows."""


def best_relation(table: PageTable, figures: list[int]) -> Relation | None:
    """Return the columns that fit numerator / denominator = value in most rows.

    Those of least total error; None where none do.
    """
    rows = table.rows[:ROWS_MAX]
    cells = {column: [table.page.cell(row, column) for row in rows] for column in figures[:COLUMNS_MAX]}
    amounts = [
        column
        for column, some in cells.items()
        if any(cell.has_number and abs(cell.number) >= DENOMINATOR_MIN for cell in some)
    ][:AMOUNTS_MAX]
    best: Relation | None = None
    values = {
        column: some for column, some in cells.items() if len({cell.number for cell in some if cell.has_number}) > 1
    }
    for numerator, denominator in permutations(amounts, 2):
        ratios = [
            100.0 * above.number / below.number
            if above.has_number and below.has_number and abs(below.number) >= DENOMINATOR_MIN
            else None
            for above, below in zip(cells[numerator], cells[denominator], strict=True)
        ]
        if sum(ratio is not None for ratio in ratios) < max(2, RELATION_SHARE * _figures(cells[denominator])):
            continue
        for value, some in values.items():
            if value in (numerator, denominator):
                continue
            pairs = [
                (ratio, cell.number, cell.is_percent, cell.decimals)
                for ratio, cell in zip(ratios, some, strict=True)
                if ratio is not None and cell.has_number
            ]
            error = _error(pairs)
            if error is not None and (best is None or error < best.error - 1e-9):
                best = Relation((numerator, denominator, value), error)
    return best


def _figures(cells: list[PageCell]) -> int:
    return sum(cell.has_number for cell in cells)


def _error(pairs: list[tuple[float, float, bool, int | None]]) -> float | None:
    """Return a column's total error against ratios in percent; None for no fit.

    A value is read as points, else as a multiple or fraction.
    """
    telling = [pair for pair in pairs if pair[0] != 0.0]
    if len(telling) < 2:
        return None
    for scale in (1.0, 100.0):
        errors = [
            (abs(ratio - number * scale), 0.5 * scale * 10.0 ** -(2 if decimals is None else decimals) + 1e-6)
            for ratio, number, is_percent, decimals in telling
            if scale == 1.0 or not is_percent
        ]
        if len(errors) < len(telling):
            continue
        exact = sum(error <= unit for error, unit in errors)
        loose = sum(error <= LOOSE_TOLERANCE for error, _ in errors)
        if exact >= max(2, RELATION_SHARE * len(errors)) or (
            loose >= LOOSE_ROWS and loose >= RELATION_SHARE * len(errors)
        ):
            return sum(error for error, _ in errors) / len(errors)
    return None
