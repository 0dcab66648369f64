"""Where the data of a sheet end.

Totals and notes below them are not filled, and not summed again.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from core.grid.sheet import Sheet
from core.values import Kind

TOTALS_MAX: Final = 10
"""Rows of totals, averages, counts and notes that are looked for below the data."""

GAP_MAX: Final = 20
"""Blank rows that may stand between a total or a note and what stands above it."""

NOTED_COLUMNS_MIN: Final = 3
"""Columns of a sheet in which a text alone in its row may be a note: in fewer it may as well be data."""

_LABEL: Final = re.compile(
    r"\s*(?:(?:grand|sub|page|report|portfolio|overall|weighted)[\s-]*)?(?:totals?|sums?|averages?)\s*[:.]?\s*",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(r"(?<![!:\w$.])\$?[A-Z]{1,3}\$?(\d{1,7}):\$?[A-Z]{1,3}\$?(\d{1,7})(?![\w(!])", re.IGNORECASE)


def data_end(sheet: Sheet, first_row: int) -> int:
    """Return one past the last row of the data that begin at a row, 0-based.

    Before the totals and notes at their end.

    A row is one of totals where a cell of it is called so and the row above has more cells, or where a formula of it
    reads rows above, down to the last one, and the formula over it reads no range of rows. A text alone in its row is
    a note where a total or a blank row stands between it and the data, but in a sheet of fewer than three columns.
    """
    end = stop = sheet.row_count
    noted = sheet.column_count >= NOTED_COLUMNS_MIN
    for _ in range(TOTALS_MAX):
        row = stop - 1
        over = range(row - 1, max(first_row, row - GAP_MAX - 1) - 1, -1)
        above = next((at for at in over if _filled(sheet, at)), None)
        if above is None:
            break
        total = _is_total(sheet, row, above)
        if not total and not (noted and _is_note(sheet, row)):
            break
        stop = above + 1
        if total or stop < row:
            end = stop
    return end


def _is_total(sheet: Sheet, row: int, above: int) -> bool:
    filled = _filled(sheet, row)
    called = (sheet.value(row, at) for at in filled if sheet.kind(row, at) == Kind.TEXT)
    if any(_LABEL.fullmatch(str(text)) for text in called) and len(filled) < len(_filled(sheet, above)):
        return True
    return any(
        any(above < bottom <= row for bottom in _read(sheet.formula(row, at))) and not _read(sheet.formula(above, at))
        for at in filled
    )


def _is_note(sheet: Sheet, row: int) -> bool:
    filled = _filled(sheet, row)
    return len(filled) == 1 and sheet.kind(row, filled[0]) == Kind.TEXT and sheet.formula(row, filled[0]) is None


def _filled(sheet: Sheet, row: int) -> list[int]:
    """Return the columns with a value or a formula in a row."""
    low, high = np.searchsorted(sheet.formulas.rows, (row, row + 1))
    formulas = set(sheet.formulas.columns[low:high].tolist())
    return [at for at in range(sheet.column_count) if at in formulas or sheet.kind(row, at) != Kind.BLANK]


def _read(formula: str | None) -> list[int]:
    """Return the rows, 1-based, where ranges of several rows of the same sheet end that a formula reads."""
    return [int(bottom) for top, bottom in _RANGE.findall(formula or "") if int(top) < int(bottom)]
