"""A page cut into tables with headings, and lines: labels with amounts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Final, Literal

from core.portfolio.pages.report import words
from core.portfolio.pages.report.lines import PageLine, is_running, lines_of
from core.portfolio.pages.report.page import COLUMNS_MAX, PageCell, ReportPage
from core.portfolio.sheets.headings import wording
from core.remembered import remembered
from core.values import day_of

HEADING_LENGTH_MAX: Final = 80
"""Characters of a cell that can be a heading; a longer one is prose."""

MEMORY_MAX: Final = 16_384
"""Texts of which is remembered whether they can be a heading."""

STACK_MAX: Final = 3
"""Rows that may make up a heading."""

TEXT_ROWS_MAX: Final = 500
"""Rows of words of one page that are looked at for headings."""

KNOWN_SHARE: Final = 0.4
"""Share of a row's cells with known words from which it is a heading."""

KNOWN_SCORE: Final = 2.0
"""Weight from which a cell's words are known as those of a heading."""

TABLES_MAX: Final = 60
"""Tables of one page."""

TITLE_ROWS_MAX: Final = 6
"""Rows above a heading in which its title is looked for."""

GROUP_WIDTH_MAX: Final = 3
"""Columns under a group's heading where no other group tells how wide they are."""

SIDES_MAX: Final = 3
"""Blank columns that may part tables side by side; more of them are the page's spacing."""

SAMPLE_ROWS: Final = 8
"""Rows below a heading that tell what its columns hold."""

SECTION_ROWS_MAX: Final = 2
"""Rows of one text between two parts of a table."""

TableKind = Literal["notes", "tests", "accounts", "stratification", "list", "lines"]
"""Of what a table is. "lines": none of the others; its rows are lines."""

_GROUPS: Final = ("column.t", "column.n", "column.a")
"""Groups of words that a heading's cells may have."""


@dataclass(slots=True, kw_only=True)
class PageTable:
    """A heading and the rows below it."""

    page: ReportPage
    title: str
    """The nearest text above that names it, else the sheet's name; as printed."""
    heading_rows: tuple[int, ...]
    """From the top."""
    headers: dict[int, str]
    """Column -> its heading, rows joined; groups stand before what they are over."""
    rows: list[int]
    """Rows below, sections and totals too."""
    sections: dict[int, str] = field(default_factory=dict)
    """Row -> the text that stands alone above it inside the table ("Coverage Tests", a list's own title)."""
    kind: TableKind = "lines"
    columns: dict[str, int] = field(default_factory=dict)
    """Role -> column, as the kind's words name them ("name", "value", "limit", "bal", ...)."""
    is_guessed: bool = False
    """Another column fits a role as well."""
    by: Literal["words", "relation"] = "words"
    """What made the columns certain."""
    matched: frozenset[str] = frozenset()
    """Columns that numerator / denominator = value made certain: the roles' names."""

    def cell(self, row: int, role: str) -> PageCell:
        """Return what stands under the column of a role; nothing where no column has it."""
        return self.page.cell(row, self.columns[role]) if role in self.columns else _NOTHING

    def place(self, row: int, role: str) -> str:
        """Return where it stands, with the sheet's name."""
        return self.page.place(row, self.columns[role])

    def magnitude(self, role: str) -> float:
        """Return what a role's amounts are multiplied by.

        By the column's heading, else the title, else a line at the top of the page.
        """
        scale = wording.magnitude(self.headers.get(self.columns.get(role, -1), ""))
        scale = scale if scale != 1.0 else wording.magnitude_of_title(self.title)
        return scale if scale != 1.0 else self.page.scale

    def group(self, row: int) -> str:
        """Return the name of the section in which a row stands, else the table's title."""
        return self.sections.get(row, self.title)


@dataclass(frozen=True, slots=True)
class Blocks:
    """What a page is cut into."""

    tables: list[PageTable]
    lines: list[PageLine]


_NOTHING: Final = PageCell("")

_DAY: Final = re.compile(r"\b\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}\b")
"""A day that is written as a text."""


def cut_blocks(page: ReportPage) -> Blocks:
    """Cut a page into tables, of unknown kind, and other rows as lines."""
    tables: list[PageTable] = []
    used_rows: set[int] = set()
    rows = page.rows
    texts = frozenset(islice((row for row in rows if _is_text_row(page.row(row))), TEXT_ROWS_MAX))
    at = 0
    while at < len(rows) and len(tables) < TABLES_MAX:
        heading = _heading(page, at, texts)
        if heading is None:
            at += 1
            continue
        end = _end(page, at, heading, texts)
        body = rows[at + len(heading) : end]
        below = _stacked_below(page, heading, body)
        heading, body = heading + tuple(below), body[len(below) :]
        if not body:
            at += 1
            continue
        title_row, title = _title(page, heading[0], used_rows)
        used_rows.update(heading, body, () if title_row is None else (title_row,))
        tables += [_table(page, part, heading, body, title) for part in _side_by_side(page, heading, body)]
        at = max(end, at + 1)
    return Blocks(_join_tables(tables), lines_of(page, [row for row in rows if row not in used_rows]))


# ---- headings ------------------------------------------------------------------------------------------------------


def _is_text_row(cells: dict[int, PageCell]) -> bool:
    """Return whether a row has only words, short enough for a heading."""
    for cell in cells.values():  # most rows have a figure: a loop ends at once
        if cell.number == cell.number or not (cell.text or cell.day == cell.day):
            return False
    texts = [cell.text for cell in cells.values() if not _is_day(cell)]
    if len(cells) - len(texts) > 1:
        return any(map(known_in_heading, texts)) and all(map(_can_be_heading, texts))
    return len(texts) == len(cells) > 0 and all(map(_can_be_heading, texts))


def _is_day(cell: PageCell) -> bool:
    """Return whether a cell is a date, or a text that is nothing else."""
    return cell.day == cell.day or _DAY.fullmatch(cell.text) is not None


def _heading_text(cell: PageCell) -> str:
    return f"{day_of(cell.day)}" if cell.day == cell.day else cell.text


@remembered(MEMORY_MAX)
def _can_be_heading(text: str) -> bool:
    """Return whether a text is short enough for a heading, and no day."""
    if len(text) > HEADING_LENGTH_MAX:
        return False
    return _DAY.search(text) is None or known_in_heading(_DAY.sub(" ", text))


def known_in_heading(text: str) -> bool:
    """Return whether a text's words are those of some column."""
    return any(max(words.scores(group, text).values(), default=0.0) >= KNOWN_SCORE for group in _GROUPS)


def _heading(page: ReportPage, at: int, texts: AbstractSet[int]) -> tuple[int, ...] | None:
    """Return the rows of the heading that begins at a place in `page.rows`.

    `texts`: the rows of words that are looked at.
    """
    rows = page.rows
    if rows[at] not in texts:
        return None
    stack = [rows[at]]
    while len(stack) < STACK_MAX and (below := at + len(stack)) < len(rows) and rows[below] == stack[-1] + 1:
        if rows[below] not in texts or not _may_stack(page, stack[-1], rows[below]):
            break
        stack.append(rows[below])
    for size in range(len(stack), 0, -1):
        part = stack[:size]
        if _is_heading(page, part, at + size):
            return tuple(part)
    return None


def _may_stack(page: ReportPage, upper: int, lower: int) -> bool:
    """Return whether a row may be a heading's upper part; a table's title is none."""
    above = page.row(upper)
    return len(above) > 1 or min(above) > min(page.row(lower))


def _is_heading(page: ReportPage, stack: Sequence[int], below: int) -> bool:
    """Return whether rows of words are a heading.

    Known words, or three texts over two columns of figures.
    """
    headers = _joined_headers(page, stack)
    if len(headers) < 2 or len(page.row(stack[-1])) * 2 < len(headers) or _is_day_line(page.row(stack[-1])):
        return False
    body = [page.row(row) for row in page.rows[below : below + SAMPLE_ROWS]]
    if not body or any(words.says_none(cell.text) for cell in page.row(stack[-1]).values()):
        return False
    typed = sum(
        any(column in cells and (cells[column].has_number or cells[column].day == cells[column].day) for cells in body)
        for column in headers
    )
    is_judged = any(words.status_of(cell.text) is not None for cells in body for cell in cells.values())
    if not (typed or is_judged) and _is_text_grid(page, stack[-1], body):
        return False
    blank = any(
        cell.is_blank or words.status_of(cell.text) is not None for row in stack for cell in page.row(row).values()
    )
    known = sum(known_in_heading(text) for text in headers.values())
    if known >= max(2 if len(headers) > 2 else 1, KNOWN_SHARE * len(headers)) and not blank:
        return typed > 0 or is_judged or known >= 3
    own = page.row(stack[-1])
    before = page.row(stack[0] - 1)
    return len(own) >= 3 and typed >= 2 and len(before) < 2 and len(set(map(_heading_text, own.values()))) == len(own)


def _is_day_line(cells: dict[int, PageCell]) -> bool:
    """Return whether a row has one text, and a day in it: "As of 15-Mar-2026"."""
    return len(cells) == 1 and all(_DAY.search(cell.text) is not None for cell in cells.values())


def _is_text_grid(page: ReportPage, row: int, body: list[dict[int, PageCell]]) -> bool:
    """Return whether the rows below are words in as many cells.

    A list of names has no heading that tells.
    """
    wide = sum(2 * len(cells) >= len(page.row(row)) and _is_text_row(cells) for cells in body)
    return wide >= SAMPLE_ROWS // 2


def _joined_headers(page: ReportPage, stack: Sequence[int]) -> dict[int, str]:
    """Return column -> heading: rows joined, groups given to columns without own."""
    headers: dict[int, list[str]] = {}
    lowest = page.row(stack[-1])
    columns = sorted({column for row in stack for column in page.row(row)})
    above = {column for row in stack[:-1] for column in page.row(row)}
    for row, below in zip(stack, [*stack[1:], stack[-1]], strict=True):
        cells = page.row(row)
        alike = Counter(cell.text for cell in page.row(below).values())
        repeated = _by_repetition(cells, page.row(below)) if below != row else {}
        for column in columns:
            if repeated:
                headers.setdefault(column, []).extend(filter(None, [repeated.get(column)]))
                continue
            # "Opening | Closing | Opening | Closing" says which is which by its groups alone.
            is_repeated = alike[page.cell(below, column).text] > 1 and page.cell(below, column).is_words
            if column in cells:
                headers.setdefault(column, []).append(_heading_text(cells[column]))
            elif (
                (column not in above or is_repeated)
                and column in lowest
                and (group := _group(cells, lowest, column, columns))
            ):
                headers.setdefault(column, []).append(group)
    return {column: " ".join(dict.fromkeys(headers[column])) for column in columns if column in headers}


def _by_repetition(groups: dict[int, PageCell], below: dict[int, PageCell]) -> dict[int, str]:
    """Return the group over each column by headings that come again for each.

    A page's layout centres groups: the cell of their text tells less than the repetition.
    """
    own = sorted(below)[1:]
    width = len(own) // max(1, len(groups))
    names = [words.normal(below[column].text) for column in own]
    are_alike = len(groups) > 1 and width > 1 and names == names[:width] * len(groups)
    if not are_alike or len(set(names[:width])) < width:
        return {}
    parts = [own[at : at + width] for at in range(0, len(own), width)]
    placed = zip(sorted(groups), parts, strict=True)
    if not all(part[0] - 1 <= column <= part[-1] and column > min(below) for column, part in placed):
        return {}
    return {column: groups[at].text for at, part in zip(sorted(groups), parts, strict=True) for column in part}


def _group(cells: dict[int, PageCell], lowest: dict[int, PageCell], column: int, columns: list[int]) -> str:
    """Return the text of a group's cell left of a column, if no wider than others.

    A group that stands alone is over what has one word each. Words that are wrapped over most columns are no groups.
    """
    starts = sorted(cells)
    left = max((at for at in starts if at < column), default=None)
    over = [at for at in starts if at in lowest]
    if left is None or left == columns[0] or len(over) * 2 > len(lowest):
        return ""
    widths = [after - before for before, after in pairwise(starts)]
    if left == starts[-1]:
        if not widths and any(len(lowest[at].text.split()) > 1 for at in lowest if left <= at <= column):
            return ""
        if column - left >= (max(widths) if widths else GROUP_WIDTH_MAX):
            return ""
    return cells[left].text


def _stacked_below(page: ReportPage, heading: tuple[int, ...], body: list[int]) -> list[int]:
    """Return rows of units or wrapped words right below a heading.

    Words under some columns, none under the first.
    """
    rows: list[int] = []
    first = min(page.row(heading[-1]))
    for row in body:
        cells = page.row(row)
        is_next = row == heading[-1] + 1 + len(rows)
        if len(heading) + len(rows) == STACK_MAX or not is_next or first in cells or not _is_text_row(cells):
            break
        rows.append(row)
    return rows


# ---- where tables end ----------------------------------------------------------------------------------------------


def _end(page: ReportPage, at: int, heading: tuple[int, ...], texts: AbstractSet[int]) -> int:
    """Return the place in `page.rows` of the first row that is no more of the table."""
    rows = page.rows
    first = at + len(heading)
    counts = [len(page.row(row)) for row in rows[first : first + SAMPLE_ROWS]]
    usual = sorted(counts)[len(counts) // 2] if counts else 0
    place, last = first, heading[-1]
    while place < len(rows):
        row = rows[place]
        if row > last + 1 and not _goes_on(page, place, usual):
            return place
        if any(last < start <= row for start in page.starts):
            return place
        if place > first and _heading(page, place, texts) is not None and not _is_section(page, row):
            return _without_titles(page, place, first)
        place, last = place + 1, row
    return place


def _is_section(page: ReportPage, row: int) -> bool:
    return len(page.row(row)) == 1


def _without_titles(page: ReportPage, place: int, first: int) -> int:
    """Return the place without lone texts right above: the next table's title."""
    while place > first and _is_section(page, page.rows[place - 1]) and _is_text_row(page.row(page.rows[place - 1])):
        place -= 1
    return place


def _goes_on(page: ReportPage, place: int, usual: int) -> bool:
    """Return whether a table goes on behind a gap.

    With half of the usual cells behind one blank row, else with more than that, perhaps below the name of a section.
    """
    rows = page.rows
    is_near = rows[place] <= rows[place - 1] + 2
    for row in rows[place : place + SECTION_ROWS_MAX + 1]:
        cells = page.row(row)
        if len(cells) == 1 and _is_text_row(cells):
            is_near = False
            continue
        figures = any(cell.has_number or cell.day == cell.day for cell in cells.values())
        return figures and 2 * len(cells) + is_near > usual and usual > 2
    return False


def _title(page: ReportPage, top: int, used_rows: set[int]) -> tuple[int | None, str]:
    """Return (row, text) of the nearest title above a heading; else the sheet's name."""
    for row in range(top - 1, max(-1, top - 1 - TITLE_ROWS_MAX), -1):
        cells = page.row(row)
        if not cells:
            continue
        if row in used_rows or len(cells) > 2 or any(cell.has_number for cell in cells.values()):
            break
        cell = next(iter(cells.values()))
        if cell.is_words and not is_running(cell.text):
            return row, cell.text
    return None, page.sheet.name


# ---- tables --------------------------------------------------------------------------------------------------------


def _side_by_side(page: ReportPage, heading: tuple[int, ...], body: list[int]) -> list[range]:
    """Return the columns of each table that shares a heading's rows; all for one."""
    cells = page.row(heading[-1])
    used = set(cells) | {column for row in body for column in page.row(row)}
    starts = [0]
    gaps = sum(column - 1 not in used for column in cells if column > min(cells))
    first = words.normal(cells[min(cells)].text)
    for column in sorted(cells):
        if column == min(cells):
            continue
        is_again = words.normal(cells[column].text) == first
        behind_blank = gaps <= SIDES_MAX and column - 1 not in used and sum(cell >= column for cell in cells) >= 2
        is_wide = sum(starts[-1] <= cell < column for cell in cells) >= 2
        if (is_again or behind_blank) and is_wide and _are_names(page, body, column):
            starts.append(column)
    return [range(start, end) for start, end in zip(starts, [*starts[1:], COLUMNS_MAX], strict=True)]


def _are_names(page: ReportPage, body: list[int], column: int) -> bool:
    """Return whether a column has words, few alike, as a table's first."""
    below = [page.cell(row, column) for row in body]
    names = [cell.text for cell in below if cell.is_words and words.status_of(cell.text) is None]
    return len(names) > sum(cell.has_number for cell in below) and len(set(names)) > max(1, len(names) // 2)


def _table(page: ReportPage, part: range, heading: tuple[int, ...], body: list[int], title: str) -> PageTable:
    """Return the table of some columns of a heading and its body."""
    own = page if part == range(COLUMNS_MAX) else page.cut(part)
    joined = _joined_headers(page, heading)
    joined |= _under_days(page, heading[0] - 1, joined)
    headers = {column: text for column, text in joined.items() if column in part}
    rows = [row for row in body if own.row(row)]
    for column in sorted({column for row in rows for column in own.row(row)}):
        headers.setdefault(column, "")
    return PageTable(
        page=own,
        title=title,
        heading_rows=heading,
        headers=headers,
        rows=rows,
        sections=dict(sections_of(own, rows)),
    )


def _under_days(page: ReportPage, row: int, headers: dict[int, str]) -> dict[int, str]:
    """Return the headings under days in the row above, each with its day before it."""
    days = {column: _heading_text(cell) for column, cell in page.row(row).items()}
    if len(days) < 2 or not all(_DAY.fullmatch(text) for text in days.values()):
        return {}
    over = {column: max((at for at in days if at <= column), default=None) for column in headers}
    return {column: f"{days[at]} {headers[column]}" for column, at in over.items() if at is not None}


def sections_of(page: ReportPage, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield (row, the last text that stands alone above it) of the rows of a table."""
    text = ""
    for row in rows:
        cells = page.row(row)
        if len(cells) == 1 and (cell := next(iter(cells.values()))).is_words:
            if not is_running(cell.text):
                text = cell.text
        elif text:
            yield row, text


def _join_tables(tables: list[PageTable]) -> list[PageTable]:
    """Join tables of one title and heading, as printed on every page."""
    page_tables: dict[tuple[str, tuple[tuple[int, str], ...]], PageTable] = {}
    for table in tables:
        first = page_tables.setdefault((table.title, tuple(sorted(table.headers.items()))), table)
        if first is not table:
            first.rows.extend(table.rows)
            first.sections.update(table.sections)
    return list(page_tables.values())
