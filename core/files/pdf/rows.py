"""Lines of a block to rows.

What stands on one height is one row, and wrapped cells are whole again.

A line goes on with the cell above it where the cell's next word had no room left. Where that is not so, a name alone on
its line is a heading of the rows below.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from core.files.pdf.columns import PrintedCell, PrintedRow
from core.files.pdf.phrases import is_value

OVERLAP: Final = 0.85
"""Of the font's size: lines closer than that would print over each other, were they of the same cells."""
LEADING_MAX: Final = 1.7
"""Of the font's size: lines of one cell stand closer."""
SPACE: Final = 0.25
"""Of the font's size."""
ROOM: Final = 0.3
"""Of the font's size: what a column may be wider than its widest cell."""
INDENT: Final = 0.4
"""Of the font's size: how far second lines stand to the right, where they do."""
RECORDS: Final = 3
"""Pairs of rows that show records of two lines,"""
RECORD_SPACE: Final = 0.8
"""and what the distance of their lines is at most, of that to the next record."""
CLOSER: Final = 0.93
"""Of the usual distance of rows: what stands closer belongs to the row above."""
_LINKS: Final = frozenset(("and", "at", "by", "due", "for", "maturing", "of", "on", "the", "to"))
"""Words that another follows."""
SHARE_OF_WRAPS: Final = 0.8
"""Of the lines that could go on with a cell, how many must have had no room, for all such lines to do."""


@dataclass(slots=True)
class _Wraps:
    """What is known of a block's wrapped cells."""

    rights: dict[int, float]
    """The right edge of each column's widest cell."""
    pitch: float
    """The usual distance of two whole rows; 0 where none is known."""
    are_sure: bool
    """Whether lines that could go on with a cell nearly all had no room."""


def joined_rows(rows: list[PrintedRow]) -> list[PrintedRow]:
    """Return the rows with those joined that are one.

    The first rows without a figure are headings and stay.
    """
    rows = list(_on_one_height(rows))
    start = next((at for at, row in enumerate(rows) if row.has_values()), len(rows))
    body = rows[start:]
    wraps = _wraps(body)
    joined: list[PrintedRow] = []
    if 0 < start < len(rows) and _leads(rows[start - 1], body[0], wraps):
        start -= 1
        body.insert(0, rows[start])
    for row, below in itertools.zip_longest(body, body[1:]):
        if joined and _goes_on(joined[-1], row, wraps) and not _is_nearer(joined[-1], row, below, wraps):
            _append(joined[-1], row)
            continue
        joined.append(row)
        while len(joined) > 1 and _leads(joined[-2], joined[-1], wraps):
            _append(joined[-2], joined.pop())
    if start and not has_records(joined) and has_records([rows[start - 1], *joined]):
        start -= 1
        joined.insert(0, rows[start])
    return rows[:start] + (_joined_records(joined) if has_records(joined) else joined)


def _is_nearer(above: PrintedRow, row: PrintedRow, below: PrintedRow | None, wraps: _Wraps) -> bool:
    """Return whether a line begins the texts of the row below, which is nearer."""
    if below is None or not _leads(row, below, wraps):
        return False
    return row.last_baseline - below.baseline < CLOSER * (above.last_baseline - row.baseline)


def has_records(rows: Sequence[PrintedRow]) -> bool:
    """Return whether rows stand in pairs.

    Each second one is close below the first, and far above the next.
    """
    distances = [
        above.last_baseline - row.baseline for above, row in itertools.pairwise(rows) if above.page == row.page
    ]
    if len(distances) < 2 * RECORDS:
        return False
    near, far = sorted(distances[::2]), sorted(distances[1::2])
    cut = len(far) // 10
    return near[-1 - cut] < RECORD_SPACE * far[cut]


def _joined_records(rows: list[PrintedRow]) -> list[PrintedRow]:
    """Return records of two lines as rows.

    Where both have figures of a column, they stay two.
    """
    joined: list[PrintedRow] = []
    is_second = False
    for row in rows:
        above = joined[-1] if joined else None
        if is_second and above is not None and above.page == row.page and not _both_have_figures(above, row):
            _append(above, row)
            is_second = False
            continue
        joined.append(row)
        is_second = True
    return joined


def _on_one_height(rows: list[PrintedRow]) -> Iterator[PrintedRow]:
    """Yield the rows, those joined whose lines stand closer than print does.

    Such are cells that are centred beside taller ones.
    """
    last: PrintedRow | None = None
    for row in rows:
        near = last is not None and last.page == row.page and not row.is_foreign and not last.is_foreign
        if near and last is not None and _overlap(last, row) and not _both_have_figures(last, row):
            _append(last, row)
            continue
        if last is not None:
            yield last
        last = row
    if last is not None:
        yield last


def _overlap(above: PrintedRow, row: PrintedRow) -> bool:
    return 0 <= above.last_baseline - row.baseline < OVERLAP * min(above.size, row.size)


def _both_have_figures(above: PrintedRow, row: PrintedRow) -> bool:
    """Return whether two lines have a figure in the same column.

    They are rows of their own then.
    """
    return any(
        column in above.cells and is_value(cell.text) and is_value(above.cells[column].text)
        for column, cell in row.cells.items()
    )


def _wraps(rows: list[PrintedRow]) -> _Wraps:
    rights: dict[int, float] = {}
    for row in rows:
        for column, cell in row.cells.items():
            if cell.last_column == column:
                rights[column] = max(rights.get(column, cell.right), cell.right)
    pairs = [(above, row) for above, row in itertools.pairwise(rows) if above.page == row.page]
    pitches = [above.last_baseline - row.baseline for above, row in pairs if above.has_values() and row.has_values()]
    wraps = _Wraps(rights, median(pitches) if pitches else 0.0, are_sure=False)
    tries = [_had_no_room(above, row, wraps) for above, row in pairs if _could_go_on(above, row)]
    wraps.are_sure = len(tries) > 1 and sum(tries) >= SHARE_OF_WRAPS * len(tries)
    return wraps


def _could_go_on(above: PrintedRow, row: PrintedRow) -> bool:
    """Return whether a line has only text, below texts of a fuller line."""
    if row.page != above.page or row.is_foreign or above.is_foreign or len(row.cells) >= len(above.cells):
        return False
    if not 0 < above.last_baseline - row.baseline <= LEADING_MAX * row.size:
        return False
    return all(_could_follow(above.cells.get(column), cell) for column, cell in row.cells.items())


def _could_follow(above: PrintedCell | None, cell: PrintedCell) -> bool:
    """Return whether a cell may be the rest of the one above.

    A text below a text, or what follows a hyphen or a word such as "due".
    """
    if above is None or is_value(above.text) or cell.last_column > above.last_column:
        return False
    if above.text[-1] not in "-/" and _is_code(above.text):
        return False
    return above.text[-1] in "-/" or not is_value(cell.text) or _ends_with_link(above.text)


def _is_code(text: str) -> bool:
    """Return whether a text is an identifier, which no words go on with."""
    return " " not in text and any(map(str.isdigit, text))


def _had_no_room(above: PrintedRow, row: PrintedRow, wraps: _Wraps) -> bool:
    """Return whether a cell's first word would not have fitted behind the one above."""
    for column, cell in row.cells.items():
        needed = above.cells[column].right + SPACE * row.size + cell.first_width
        if needed > wraps.rights.get(column, 0.0) - ROOM * row.size:
            return True
    return False


def _goes_on(above: PrintedRow, row: PrintedRow, wraps: _Wraps) -> bool:
    """Return whether a line goes on with the cells of the row above."""
    if not _could_go_on(above, row):
        return False
    is_close = _is_close(row.size, above.last_baseline - row.baseline, wraps)
    pairs = [(above.cells[column], cell) for column, cell in row.cells.items()]
    if _had_no_room(above, row, wraps):
        return wraps.are_sure or is_close or any(_looks_cut(first, cell, row.size) for first, cell in pairs)
    return all(_is_indented(first, cell, row.size) and (is_close or _is_open(first.text)) for first, cell in pairs)


def _leads(above: PrintedRow, row: PrintedRow, wraps: _Wraps) -> bool:
    """Return whether a line has the beginning of the texts of the row below."""
    if not _could_lead(above, row):
        return False
    is_close = _is_close(row.size, above.last_baseline - row.baseline, wraps)
    if _had_no_room_below(above, row, wraps):
        return is_close
    pairs = [(cell, row.cells[column]) for column, cell in above.cells.items()]
    return is_close and all(_is_indented(first, cell, row.size) for first, cell in pairs)


def _is_close(size: float, distance: float, wraps: _Wraps) -> bool:
    return wraps.pitch > 0 and distance < CLOSER * wraps.pitch and distance < LEADING_MAX * size


def _looks_cut(above: PrintedCell, cell: PrintedCell, size: float) -> bool:
    """Return whether a text looks like the rest of the one above.

    Indented, small letters, or behind a comma.
    """
    return _is_indented(above, cell, size) or cell.text[0].islower() or _is_open(above.text)


def _is_indented(above: PrintedCell, cell: PrintedCell, size: float) -> bool:
    return cell.left - above.left > INDENT * size


def _is_open(text: str) -> bool:
    """Return whether a text cannot end as it does."""
    return text[-1] in ",-&/(" or text.count("(") > text.count(")") or _ends_with_link(text)


def _ends_with_link(text: str) -> bool:
    return text.rpartition(" ")[2].lower() in _LINKS


def _could_lead(above: PrintedRow, row: PrintedRow) -> bool:
    """Return whether the line above only begins some of a full row's texts."""
    if row.page != above.page or row.is_foreign or above.is_foreign or not row.has_values() or above.has_values():
        return False
    if not 0 < above.last_baseline - row.baseline <= LEADING_MAX * row.size or len(above.cells) >= len(row.cells):
        return False
    return all(column in row.cells and not is_value(row.cells[column].text) for column in above.cells)


def _had_no_room_below(above: PrintedRow, row: PrintedRow, wraps: _Wraps) -> bool:
    for column, cell in above.cells.items():
        needed = cell.right + SPACE * row.size + row.cells[column].first_width
        if needed > wraps.rights.get(column, 0.0) - ROOM * row.size:
            return True
    return False


def _append(row: PrintedRow, below: PrintedRow) -> None:
    """Put the cells of a line behind those of the row above."""
    for column, cell in below.cells.items():
        above = row.cells.get(column)
        if above is None:
            row.cells[column] = cell
            continue
        row.cells[column] = replace(
            above,
            left=min(above.left, cell.left),
            right=max(above.right, cell.right),
            text=_glued(above.text, cell.text),
        )
    row.last_baseline = below.last_baseline


def _glued(first: str, second: str) -> str:
    """Return two lines of a text as one.

    A hyphen at the end of the first holds on to the second.
    """
    if first[-1:] in ("-", "/") and first[-2:-1].isalnum():
        return first + second
    return f"{first} {second}"
