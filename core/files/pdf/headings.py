"""Headings that stand one column before their figures.

A heading at the left edge of its column can end before the column's figures begin. Its strip is then a column of its
own, the next heading stands beside the figures of the one before, and the last column of figures has no heading. No
such heading overlaps the figures of the column that it was put in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from core.files.pdf.columns import PrintedRow

LEADING_MAX: Final = 1.3
"""Of the font's size: lines of a heading stand closer."""
COLUMNS_MAX: Final = 6
"""Columns from the heading without figures to the figures without a heading."""


def with_whole_headings(rows: list[PrintedRow]) -> list[PrintedRow]:
    """Return the rows with lone first words of headings joined to the rest.

    It would be the title of what is below otherwise.
    """
    whole: list[PrintedRow] = []
    for row in reversed(rows):  # from below, as a heading has any number of lines
        below = whole[-1] if whole else None
        if below is None or below.has_values() or not _is_first_word(row, below):
            whole.append(row)
            continue
        ((column, first),) = row.cells.items()
        cell = below.cells[column]
        left, right = min(first.left, cell.left), max(first.right, cell.right)
        below.cells[column] = replace(cell, text=f"{first.text} {cell.text}", left=left, right=right)
        below.baseline = row.baseline
    return whole[::-1]


def _start(rows: list[PrintedRow]) -> int:
    """Return the first row that has figures, and as many cells as a row of the table."""
    filled = max(2, max((len(row.cells) for row in rows), default=0) // 3)
    return next((at for at, row in enumerate(rows) if row.has_values() and len(row.cells) >= filled), 0)


def _is_first_word(row: PrintedRow, below: PrintedRow) -> bool:
    """Return whether a row has one cell, right above one of several below."""
    if len(row.cells) != 1 or len(below.cells) < 2 or row.page != below.page:
        return False
    ((column, cell),) = row.cells.items()
    is_near = 0 < row.last_baseline - below.baseline <= LEADING_MAX * row.size
    return column > 0 and cell.last_column == column and column in below.cells and is_near


def set_right(rows: list[PrintedRow]) -> None:
    """Move such figures to the column before, and drop a column that is empty then."""
    start = _start(rows)
    heads, body = rows[:start], rows[start:]
    while (run := _run(heads, body)) is not None:
        first, last = run
        for row in body:
            row.cells = {column - (first < column <= last): cell for column, cell in row.cells.items()}
        if not any(last in row.cells for row in rows):
            for row in rows:
                row.cells = {column - (column > last): cell for column, cell in row.cells.items()}


def _run(heads: list[PrintedRow], body: list[PrintedRow]) -> tuple[int, int] | None:
    """Return the column of a heading without figures, and where such figures end."""
    headed = {column for row in heads for column in row.cells}
    in_use = {column for row in body for column in row.cells}
    for first in sorted(headed - in_use):
        last = first
        while last + 1 in headed & in_use and _is_apart(heads, body, last + 1):
            last += 1
        last += last + 1 in in_use - headed
        if first < last <= first + COLUMNS_MAX:
            return first, last
    return None


def _is_apart(heads: list[PrintedRow], body: list[PrintedRow], column: int) -> bool:
    """Return whether the heading of a column stands right of all that is below it."""
    left = min(row.cells[column].left for row in heads if column in row.cells)
    return all(row.cells[column].right <= left for row in body if column in row.cells and not row.is_foreign)
