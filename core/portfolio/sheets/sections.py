"""The lists below one another on a page: bounds, and what titles say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.portfolio.cells import string_pool
from core.portfolio.cells.string_pool import BLANK, TEXT, key
from core.portfolio.model.fields import Mapping
from core.portfolio.sheets import titles
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.headings.match import HeaderMatch

ROWS_MAX: Final = 5_000
"""Rows of a page in which titles are looked for: a page of several lists is one that people read."""

COLUMNS_MAX: Final = 64
"""Columns in which a title's row has no second cell."""

TITLE_CELLS_MAX: Final = 2
"""Cells of a title's row."""

TITLES_MAX: Final = 1_000
"""Rows with a single text that are looked at."""

SECTIONS_MAX: Final = 40
"""Lists of one page."""

HEADER_DISTANCE: Final = 4
"""Rows below a title in which the header of its list begins."""

FIGURED_MIN: Final = 2
"""Texts with a figure in a row that is no header."""

EMPTY_DISTANCE: Final = 6
"""Rows between the title of an empty list and the words that say so."""

CONTINUED: Final = ("continued", "cont d", "contd")
"""Words of a title that stands again on the next page."""


@dataclass(frozen=True, slots=True)
class SheetSection:
    """One list of a page."""

    header: HeaderMatch
    """Its header; of a list without one the header of the list above, as if it stood in the title's row."""
    title: str
    """As written; "" of the first one, whose title stands above its header."""
    lines: tuple[str, ...] = ()
    """The keys of its title's lines, the nearest to the list first."""
    end: int | None = None
    """One past its last row, 0-based; None where it may reach down to the end of the sheet."""
    has_header: bool = True
    is_like_first: bool = False
    """Whether its header is that of the page's first list."""


@dataclass(frozen=True, slots=True)
class LoneText:
    """A row with a single text; or with words for a list before one other cell."""

    row: int
    column: int
    text: str
    is_alone: bool = True

    @property
    def line(self) -> str:
        """Return its key."""
        return key(self.text)


def lone_texts(sheet: Sheet, first: int, last: int) -> list[LoneText]:
    """Return rows whose only cell is a title-length text, from the top.

    And those with one cell more behind the title of a list.
    """
    last = min(last, sheet.row_count, first + ROWS_MAX)
    if last <= first:
        return []
    rows, filled, columns = _sparse(sheet, first, last)
    stored = [sheet.columns[column] for column in columns.tolist()]
    codes = [
        column.dense.codes[column.slot(first + row)]
        for column, row in zip(stored, rows.tolist(), strict=True)
        if column
    ]
    texts = string_pool.decode(sheet.text, np.array(codes, np.int64))
    lones = [
        LoneText(first + row, column, " ".join(text.split()), count == 1)
        for row, column, count, text in zip(rows.tolist(), columns.tolist(), filled.tolist(), texts, strict=True)
        if len(text) <= titles.LENGTH_MAX
    ]
    return [lone for lone in lones if lone.is_alone or titles.is_group(lone.line)]


def _sparse(sheet: Sheet, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows with few cells that begin with a text, with their columns.

    At most `TITLES_MAX`, from `first`, with the number of their cells.
    """
    kinds = np.zeros((min(sheet.column_count, COLUMNS_MAX), last - first), np.uint8)
    for own, stored in zip(kinds, sheet.columns[:COLUMNS_MAX], strict=True):
        if stored is not None and stored.start < last and stored.stop > first:
            low, high = max(first, stored.start), min(last, stored.stop)
            own[low - first : high - first] = stored.span(low, high).kinds
    filled = np.count_nonzero(kinds, axis=0)
    rows = np.flatnonzero((filled > 0) & (filled <= TITLE_CELLS_MAX))
    columns = np.argmax(kinds[:, rows] != BLANK, axis=0) if len(rows) else rows
    is_text = kinds[columns, rows] == TEXT
    rows, columns = rows[is_text][:TITLES_MAX], columns[is_text][:TITLES_MAX]
    return rows, filled[rows], columns


def topmost(sheet: Sheet, header_match: HeaderMatch, mapping: Mapping, anchors: frozenset[str]) -> HeaderMatch:
    """Return a page's first list's header, which may stand above the fullest."""
    for block in _blocks(sheet, lone_texts(sheet, 0, header_match.top)):
        above = header.find_page(
            sheet, mapping, anchors, block[-1].row + 1, HEADER_DISTANCE, before=header_match.top - 1
        )
        if above is not None and above.row < header_match.top - 1:
            return above
    return header_match


def sections(sheet: Sheet, header_match: HeaderMatch, mapping: Mapping) -> list[SheetSection]:
    """Return the lists of a page from a given header: titles end the list before.

    A title is a row with a single text and a header below it, or words for a list of some loans. The titles of the page
    itself, which stand again after a page break, are none, nor are the headings of groups. A header may be that of
    something else than loans, such as a table of industries.
    """
    below = lone_texts(sheet, header_match.row + 1, sheet.row_count)
    sections_so_far = [SheetSection(header_match, "", is_like_first=True)]
    if not below:
        return sections_so_far
    lines_above = {lone_text.line for lone_text in lone_texts(sheet, 0, header_match.top)}
    for block in _blocks(sheet, below):
        lines = [lone for lone in block if _is_title(lone, lines_above)]
        if not lines or len(sections_so_far) == SECTIONS_MAX:
            continue
        section = _section(sheet, lines, block, sections_so_far[-1].header, mapping)
        if section is None:
            continue
        if section.has_header and _is_next_page(block, section, sections_so_far[-1]):
            continue
        is_like_first = _columns(section.header) == _columns(header_match)
        sections_so_far[-1] = replace(sections_so_far[-1], end=block[0].row)
        sections_so_far.append(replace(section, is_like_first=is_like_first))
        lines_above |= {line.line for line in lines}
    return sections_so_far


def _blocks(sheet: Sheet, lone: Iterable[LoneText]) -> Iterator[list[LoneText]]:
    """Yield rows with a single text that only blank rows part."""
    block: list[LoneText] = []
    for lone_text in lone:
        if block and _has_cells(sheet, block[-1].row + 1, lone_text.row):
            yield block
            block = []
        block.append(lone_text)
    if block:
        yield block


def _has_cells(sheet: Sheet, first: int, last: int) -> bool:
    """Return whether a row from `first` to `last - 1` has a cell."""
    columns = (column for column in sheet.columns[:COLUMNS_MAX] if column is not None) if first < last else ()
    return any(
        bool(column.span(max(first, column.start), min(last, column.stop)).kinds.any())
        for column in columns
        if column.start < last and first < column.stop
    )


def _is_title(lone: LoneText, lines_above: set[str]) -> bool:
    line = lone.line
    return (
        bool(line)
        and line not in lines_above
        and not titles.is_empty(lone.text)
        and not any(map(line.endswith, CONTINUED))
    )


def _is_next_page(block: list[LoneText], section: SheetSection, above: SheetSection) -> bool:
    """Return whether the same header stands again on the next page.

    Below lines that are the page's own: several, or with a figure, and no words for a list. A date, a page's number,
    the deal's name and the report's are such lines.
    """
    if _columns(section.header) != _columns(above.header) or any(map(titles.kinds, section.lines)):
        return False
    return len(block) > 1 or any(map(str.isdigit, block[0].text))


def _section(
    sheet: Sheet, lines: list[LoneText], block: list[LoneText], above: HeaderMatch, mapping: Mapping
) -> SheetSection | None:
    """Return the list below a block of titles; None where it is none."""
    keys = tuple(line.line for line in reversed(lines))
    below = header.find_page(sheet, mapping, None, block[-1].row + 1, HEADER_DISTANCE)
    if below is not None:
        return SheetSection(below, lines[-1].text, keys)
    if not any(line.is_alone and titles.is_group(line.line) for line in lines):
        return None
    return SheetSection(
        replace(above, row=block[-1].row, top=block[0].row, below=()), lines[-1].text, keys, has_header=False
    )


def _columns(header_match: HeaderMatch) -> dict[int, str]:
    """Return the texts of a header by column."""
    return {column: key(text) for column, text in header_match.texts.items() if text.strip()}


# ---- empty lists ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EmptyList:
    """A list that a page says to be empty."""

    flag: str
    """What its loans would have."""
    title: str
    """As written; "" of the first list of a page."""
    row: int
    """Of the words that say so; 0-based."""
    column: int


def empty_lists(sheet: Sheet) -> list[EmptyList]:
    """Return lists that a page shows to be empty: a title, then "None".

    "There are no defaulted obligations" is both.
    """
    empty: list[EmptyList] = []
    named: list[str] = []
    lines, since = (key(sheet.name),), 0
    for lone_text in lone_texts(sheet, 0, sheet.row_count):
        title = named[-1] if len(named) > 1 else ""
        if own := titles.empty_list_flags(lone_text.line):
            empty += [EmptyList(flag, title, lone_text.row, lone_text.column) for flag in sorted(own)]
        elif titles.is_empty(lone_text.text):
            flag = titles.flag_of(lines)
            if flag and lone_text.row - since <= EMPTY_DISTANCE and not _has_loans(sheet, since + 1, lone_text.row):
                empty.append(EmptyList(flag, title, lone_text.row, lone_text.column))
        elif titles.kinds(lone_text.line) or titles.left_out(lone_text.line):
            lines, since = (lone_text.line,), lone_text.row
            named.append(lone_text.text)
    return empty


def _has_loans(sheet: Sheet, first: int, last: int) -> bool:
    """Return whether rows `first` to `last - 1` have a number, or two texts."""
    for row in range(first, last):
        values = [sheet.value(row, column) for column in range(min(sheet.column_count, COLUMNS_MAX))]
        figured = sum(isinstance(value, str) and any(map(str.isdigit, value[: titles.LENGTH_MAX])) for value in values)
        if figured >= FIGURED_MIN or any(isinstance(value, float) for value in values):
            return True
    return False
