"""How wide the columns of a sheet are to be: by what some of their cells show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor, log10
from textwrap import wrap
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.write.ranges import Range
from core.grid.column import Column
from core.grid.sheet import Sheet
from core.values import Kind

SAMPLED: Final = 200
"""Cells that are looked at in each column: the first half of them from the top, the others spread over the rest."""

LEAST: Final = 8.5
MOST: Final = 48.0
COLUMNS_MAX: Final = 1_000
"""Columns that have a width of their own; nobody scrolls further."""

BOLD: Final = 0.95
"""How many bold letters take the place of a plain one."""

WORDS_MAX: Final = 20
"""Words of a heading that its column's width heeds."""

LINES_MAX: Final = 4
LINE_POINTS: Final = 15
WRAPPED_ROWS_MAX: Final = 100
"""Rows of a range that are looked at for lines: headings take one or two."""

_LITERAL: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\]]*\]')
_DATE: Final = 11.0
_MOMENT: Final = 19.0


def widths_of(
    sheet: Sheet, codes: Sequence[str], dates: NDArray[np.uint8], header_row: int | None
) -> list[float | None]:
    """In characters, by column; None for a column without cells.

    A heading may be broken into two lines.
    """
    return [
        None if column is None else _width(sheet, column, codes, dates, header_row)
        for column in sheet.columns[:COLUMNS_MAX]
    ]


def heights_of(sheet: Sheet, ranges: Sequence[Range], widths: Sequence[float | None]) -> dict[int, int]:
    """In points, by row.

    What the texts of some ranges take when they are broken into lines, where it is more than one line. Programs differ
    in whether they find out by themselves.
    """
    heights: dict[int, int] = {}
    for top, left, bottom, right in ranges:
        for row in range(top, min(bottom + 1, top + WRAPPED_ROWS_MAX)):
            for at in range(left, min(right + 1, sheet.column_count, COLUMNS_MAX)):
                text = sheet.value(row, at)
                if isinstance(text, str) and text:
                    width = (widths[at] if at < len(widths) else None) or LEAST
                    lines = len(wrap(text[:1_000], max(int((width - 1) * BOLD), 1)))
                    heights[row] = max(heights.get(row, 1), min(lines, LINES_MAX))
    return {row: LINE_POINTS * lines for row, lines in sorted(heights.items()) if lines > 1}


def _width(
    sheet: Sheet, column: Column, codes: Sequence[str], dates: NDArray[np.uint8], header_row: int | None
) -> float:
    cells = column.dense
    count = len(cells.kinds)
    slots = np.unique(
        np.concatenate((np.arange(min(count, SAMPLED // 2)), np.linspace(0, count - 1, SAMPLED // 2, dtype=np.int64)))
    )
    heading = -1 if header_row is None else column.slot(header_row)
    slots = slots[slots != heading]
    kinds, offsets = cells.kinds[slots], sheet.text.offsets
    widest = 0.0
    texts = cells.codes[slots[kinds == Kind.TEXT]]
    if len(texts):
        widest = float(np.quantile(offsets[texts + 1] - offsets[texts], 0.95))
    shown = slots[(kinds == Kind.NUMBER) | (kinds == Kind.DATE)]
    for at in np.unique(cells.formats[shown]).tolist():
        numbers = np.abs(cells.numbers[shown[cells.formats[shown] == at]])
        finite = numbers[np.isfinite(numbers)]
        if len(finite):
            code = codes[at] if at < len(codes) else "General"
            is_date = at < len(dates) and bool(dates[at])
            widest = max(widest, _shown_length(code, float(finite.max()), is_date or bool((kinds == Kind.DATE).any())))
    if heading >= 0 and cells.kinds[heading] == Kind.TEXT:
        words = sheet.text[int(cells.codes[heading])].split()[:WORDS_MAX]
        halves = ((" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words) + 1))
        widest = max(widest, min((max(map(len, half)) for half in halves), default=0) / BOLD)
    return round(min(max(widest + 1.5, LEAST), MOST), 1)


def _shown_length(code: str, most: float, is_date: bool) -> float:
    """About how many characters a number takes in its format."""
    if is_date:
        return _MOMENT if "h" in code.lower() else _DATE
    digits = floor(log10(most)) + 1 if most >= 1 else 1
    plain = _LITERAL.sub("x", code.partition(";")[0])
    if plain == "General":
        return min(digits + 3.0, 12.0)
    if "%" in plain:
        digits += 2
    if "," in plain:
        digits += (digits - 1) // 3
    return digits + len(plain.partition(".")[2]) + plain.count("%") + plain.count("x") + 2.0
