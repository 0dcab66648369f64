"""Sections to sheets: names, typed cells, and page and line of each row."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from core.files.cells import Budget, SheetBuilder
from core.files.limits import SHEETS_MAX
from core.files.pdf.blocks import Ruler
from core.files.pdf.columns import Row, grid_of, merged_grid, row_of
from core.files.pdf.phrases import gaps
from core.files.pdf.rows import joined_rows
from core.files.pdf.sections import Section
from core.files.pdf.values import Formats, cell_of
from core.files.pdf.words import Line
from core.grid.column import frozen
from core.grid.sheet import Sheet

NAME_MAX: Final = 31
"""Characters of a sheet's name, as in Excel."""
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f]")


@dataclass(slots=True)
class Table:
    """The rows of a section from the top; None for a blank one."""

    name: str
    rows: list[Row | None]


def table_of(section: Section, ruler: Ruler) -> Table:
    """Return the rows of a section: its blocks below one another, a blank row between them."""
    rows: list[Row | None] = []
    for block in section.blocks:
        grid = grid_of(block, ruler)
        if rows:
            rows.append(None)
        above, body = _parted(block.lines)
        rows += [_title(line) for line in above]
        own = [row_of(line, grid, is_foreign=id(line) in block.foreign) for line in body]
        if (merged := merged_grid(grid, own)) is not grid:
            own = [row_of(line, merged, is_foreign=id(line) in block.foreign) for line in body]
        rows += joined_rows(own)
    if section.foot:
        rows += [None, *(_title(line) for line in section.foot)]
    return Table(_name(section), rows)


def _parted(lines: list[Line]) -> tuple[list[Line], list[Line]]:
    """Return the titles above a block's first line with columns, and the lines from there on."""
    start = next((at for at, line in enumerate(lines) if any(True for _ in gaps(line))), len(lines))
    return lines[:start], lines[start:]


def _title(line: Line) -> Row:
    from core.files.pdf.columns import Cell

    words = line.words
    row = Row(line.page, line.number, line.baseline, line.size)
    if words:
        row.cells[0] = Cell(words[0].left, words[-1].right, line.text, 0)
    return row


def _name(section: Section) -> str:
    """Return the title nearest above the table, else the page."""
    first = section.blocks[0]
    titles, _ = _parted(first.lines)
    if titles:
        text = " ".join(_NOT_IN_NAMES.sub(" ", titles[-1].text).split())[:NAME_MAX].strip("' ")
        if text:
            return text
    return f"Page {section.lines[0].page}"


def within_limit(tables: list[Table]) -> list[Table]:
    """Return the tables with the shortest neighbours joined until they are as few as a workbook may have sheets."""
    tables = list(tables)
    while len(tables) > SHEETS_MAX:
        sizes = [len(first.rows) + len(second.rows) for first, second in zip(tables, tables[1:], strict=False)]
        at = int(np.argmin(sizes))
        first, second = tables[at : at + 2]
        tables[at : at + 2] = [Table(first.name, [*first.rows, None, None, *second.rows])]
    return tables


def sheets_of(tables: Iterable[Table], formats: Formats, *, comma: bool) -> tuple[Sheet, ...]:
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


def _page_lines(rows: list[Row | None]) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
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
