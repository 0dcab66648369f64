"""Sections to sheets: names, typed cells, and page and line of each row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

import numpy as np

from core.files.cells import Budget, SheetBuilder
from core.files.limits import SHEETS_MAX
from core.files.pdf.blocks import LineBlock, Ruler
from core.files.pdf.columns import Grid, PrintedCell, PrintedRow, grid_of, merged_grid, row_of
from core.files.pdf.headings import set_right, with_whole_headings
from core.files.pdf.phrases import has_figures, has_gaps
from core.files.pdf.rows import joined_rows
from core.files.pdf.sections import PageSection
from core.files.pdf.values import PrintedFormats, cell_of
from core.files.pdf.words import TextLine
from core.grid.column import frozen
from core.grid.sheet import Sheet

SPACE_ABOVE: Final = 2.2
"""Of the font's size: lines that stand further apart have a blank row between them,"""
SPACE_OF_PITCH: Final = 1.7
"""if they also do by the usual distance of their table's rows."""
PIECE_DISTANCE: Final = 1.6
"""Of the font's size: lines of a heading stand closer."""
ASIDE: Final = 0.1
"""Of a block's width: how far a title may stand from its left edge or its middle."""
NAME_MAX: Final = 31
"""Characters of a sheet's name, as in Excel."""
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


@dataclass(slots=True)
class PrintedTable:
    """The rows of a section from the top; None for a blank one."""

    name: str
    rows: list[PrintedRow | None]


def table_of(section: PageSection, ruler: Ruler, *, any_figure: bool = False) -> PrintedTable:
    """Return the rows of a section.

    Its blocks below one another, a blank row between them. With `any_figure` each figure a space behind a text is a
    cell of its own.
    """
    rows: list[PrintedRow | None] = []
    for block in section.blocks:
        grid = grid_of(block, ruler, any_figure=any_figure)
        if rows:
            rows.append(None)
        above, body = _parted(block.lines, grid)
        rows += _spaced([_title(line) for line in above])
        own = _rows(body, grid, block)
        if (merged := merged_grid(grid, own)) is not grid:
            own = _rows(body, merged, block)
        own = joined_rows(own)
        set_right(own)
        own = with_whole_headings(own)
        if above and own and _is_apart(rows[-1], own[0], SPACE_ABOVE * own[0].size):
            rows.append(None)
        rows += _spaced(own)
    if section.foot:
        rows += [None, *(_title(line) for line in section.foot)]
    return PrintedTable(_name(section), rows)


def _rows(lines: list[TextLine], grid: Grid, block: LineBlock) -> list[PrintedRow]:
    """Return the rows of lines.

    The first ones without a wide gap are pieces of headings.
    """
    start = next((at for at, line in enumerate(lines) if has_gaps(line)), len(lines))
    return [
        row_of(line, grid, is_foreign=id(line) in block.foreign, is_heading=at < start) for at, line in enumerate(lines)
    ]


def _spaced(rows: list[PrintedRow]) -> list[PrintedRow | None]:
    """Return the rows with a blank one where the page has space between them."""
    pitches = [above.baseline - row.baseline for above, row in itertools.pairwise(rows) if above.page == row.page]
    usual = SPACE_OF_PITCH * median(pitches) if pitches else 0.0
    spaced: list[PrintedRow | None] = list(rows[:1])
    for above, row in itertools.pairwise(rows):
        if _is_apart(above, row, max(usual, SPACE_ABOVE * row.size)):
            spaced.append(None)
        spaced.append(row)
    return spaced


def _is_apart(above: PrintedRow | None, row: PrintedRow, distance: float) -> bool:
    return above is not None and above.page == row.page and above.last_baseline - row.baseline > distance


def _parted(lines: list[TextLine], grid: Grid | None = None) -> tuple[list[TextLine], list[TextLine]]:
    """Return the titles above a block's first line with columns, and the rest.

    A piece of a heading right above it, in a column behind the first, is no title.
    """
    start = next((at for at, line in enumerate(lines) if has_gaps(line)), len(lines))
    while grid is not None and 0 < start < len(lines) and _is_heading_piece(lines[start - 1], lines[start], grid):
        start -= 1
    return lines[:start], lines[start:]


def _is_heading_piece(line: TextLine, below: TextLine, grid: Grid) -> bool:
    """Return whether a line's words stand right above words of their columns.

    None is above the first column.
    """
    if line.page != below.page or line.baseline - below.baseline >= PIECE_DISTANCE * line.size:
        return False
    columns = {grid.first(word.left) for word in below.words}
    return all(0 < grid.first(word.left) == grid.last(word.right) in columns for word in line.words)


def _title(line: TextLine) -> PrintedRow:
    words = line.words
    row = PrintedRow(line.page, line.number, line.baseline, line.size, line.baseline)
    if words:
        row.cells[0] = PrintedCell(words[0].left, words[-1].right, line.text, 0)
    return row


def _name(section: PageSection) -> str:
    """Return the title nearest above the first table that has one, else the page.

    One without a figure comes first: a day is no name.
    """
    every = [[line for line in _parted(block.lines)[0] if not _stands_aside(line, block)] for block in section.blocks]
    words = [[line for line in titles if not has_figures(line)] for titles in every]
    for titles in (*words, *every):
        text = " ".join(_NOT_IN_NAMES.sub(" ", titles[-1].text).split())[:NAME_MAX].strip("' ") if titles else ""
        if text:
            return text
    return f"Page {section.lines[0].page}"


def _stands_aside(line: TextLine, block: LineBlock) -> bool:
    """Return whether a line stands neither at a block's left edge nor in its middle.

    It is a piece of a heading.
    """
    left = min(own.words[0].left for own in block.lines)
    width = max(own.words[-1].right for own in block.lines) - left
    middle = (line.words[0].left + line.words[-1].right) / 2
    return line.words[0].left - left > ASIDE * width and abs(middle - left - width / 2) > ASIDE * width


def within_limit(tables: list[PrintedTable]) -> list[PrintedTable]:
    """Return as many tables as a workbook may have sheets.

    The shortest neighbours are joined until then.
    """
    tables = list(tables)
    while len(tables) > SHEETS_MAX:
        sizes = [len(first.rows) + len(second.rows) for first, second in itertools.pairwise(tables)]
        at = int(np.argmin(sizes))
        first, second = tables[at : at + 2]
        tables[at : at + 2] = [PrintedTable(first.name, [*first.rows, None, None, *second.rows])]
    return tables


def sheets_of(tables: Iterable[PrintedTable], formats: PrintedFormats, *, comma: bool) -> tuple[Sheet, ...]:
    """Return a sheet for each table.

    Raises:
        ParseFailed: past a limit.
    """
    budget, sheets, names = Budget(), [], set[str]()
    for index, table in enumerate(tables):
        name = _unique(table.name, names)
        builder = SheetBuilder(name, budget)
        for at, row in enumerate(table.rows):
            for column, cell in sorted(row.cells.items()) if row is not None else ():
                builder.put(at, column, cell_of(cell.text, formats, comma=comma))
        sheet = builder.sheet(index)
        sheets.append(replace(sheet, page_lines=frozen(_page_lines(table.rows[: sheet.row_count]))))
    return tuple(sheets)


def _page_lines(rows: list[PrintedRow | None]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """Return page and line of each row; a blank one has those of the row before."""
    places = np.ones((len(rows), 2), np.int32)
    for at, row in enumerate(rows):
        places[at] = places[at - 1] if row is None and at else (1, 1) if row is None else (row.page, row.line)
    return places


def _unique(name: str, taken: set[str]) -> str:
    own, number = name, 1
    while own.casefold() in taken:
        number += 1
        end = f" ({number})"
        own = name[: NAME_MAX - len(end)] + end
    taken.add(own.casefold())
    return own
