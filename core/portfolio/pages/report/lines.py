"""The lines of a page: a label with an amount, in blocks that end at gaps."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from core.portfolio.cells.month_dates import month_days
from core.portfolio.cells.text.dates import date_days
from core.portfolio.pages.report import words
from core.portfolio.pages.report.days import DATE
from core.portfolio.pages.report.page import COLUMNS_MAX, NAN, PageCell, ReportPage

LINES_MAX: Final = 2_000
"""Lines of one page."""

LOAN_CELLS_MIN: Final = 8
"""Cells of a row from which it is a loan's, and no line."""

_NOTHING: Final = PageCell("")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLine:
    """A label with an amount."""

    label: str
    value: float
    decimals: int | None
    is_percent: bool
    section: str
    """The text alone above it in its block; "" where none is, or a subtotal ended it."""
    is_less: bool
    """Its label or its section says that it is subtracted, whatever its printed sign."""
    is_total: bool
    """Its label says that it is a sum."""
    block: int
    """Which block of the page, from the top."""
    title: str
    """What stands above the block."""
    page: ReportPage
    row: int
    column: int
    """Of the amount."""
    heading: str = ""
    """Of its column, where the line is of a table."""

    @property
    def place(self) -> str:
        """Return where the amount stands, with the sheet's name."""
        return self.page.place(self.row, self.column)


def is_running(text: str) -> bool:
    """Return whether a text stands on every page: deal, day, page number, footer."""
    line = words.normal(text)
    return any(
        word in line
        for word in (
            " as of ",
            " clo ",
            " dac ",
            " ltd ",
            " page ",
            " determination date ",
            " payment date ",
            " monthly report ",
            " next payment ",
            " report date ",
            " calculation date ",
        )
    )


_SIGN_SECTIONS: Final = frozenset((
    "less", "plus", "add", "minus", "deduct", "deductions", "additions", "add back", "numerator", "denominator",
))  # fmt: skip


def lines_of(page: ReportPage, rows: Sequence[int], title: str = "", label: int | None = None) -> list[PageLine]:
    """Return the lines of some rows, block by block, ended by gaps and titles.

    `label`: the column of the labels, where it is known.
    """
    page_lines: list[PageLine] = []
    number = 0
    for heading, block in _line_blocks(page, rows, title):
        now = _without_earlier(page, block)
        for part in [now] if label is not None else _line_columns(now, block):
            own = [row for row in block if part.row(row)]
            column = _amount_column(part, own)
            if column is not None:
                page_lines += _lines(part, own, number, heading, column, label)
            number += 1
        if len(page_lines) >= LINES_MAX:
            break
    return page_lines[:LINES_MAX]


LINE_COLUMNS_MAX: Final = 6
"""Blocks of lines that stand side by side."""


def _line_columns(page: ReportPage, block: list[int]) -> list[ReportPage]:
    """Cut the page into columns of blocks of lines that stand side by side."""
    counts: Counter[int] = Counter()
    for row in block:
        is_behind = False
        for column, cell in page.row(row).items():
            if (
                is_behind
                and cell.is_words
                and words.status_of(cell.text) is None
                and _has_amount_behind(page, row, column)
            ):
                counts[column] += 1
            is_behind |= cell.has_number
    starts = sorted(column for column, count in counts.items() if count > 1)[: LINE_COLUMNS_MAX - 1]
    if not starts:
        return [page]
    return [page.cut(range(start, end)) for start, end in zip([0, *starts], [*starts, COLUMNS_MAX], strict=True)]


def _has_amount_behind(page: ReportPage, row: int, column: int) -> bool:
    """Return whether the next cell is a figure."""
    following = next((cell for at, cell in page.row(row).items() if at > column), _NOTHING)
    return following.has_number


HEADING_ROWS_MAX: Final = 60
"""Rows above a block of lines in which the heading of its columns is looked for."""

_EARLIER: Final = re.compile(
    r"\b(?:prior|previous|preceding|opening|beginning|(?:closing|effective) date"
    r"|last (?:month|period|report|determination|payment))\b"
)
"""Words of a column whose amounts are not those of the day."""


def _without_earlier(page: ReportPage, block: list[int]) -> ReportPage:
    """Return the page without columns that its headings of lines give another day."""
    earlier = earlier_columns(page, block)
    return page.cut([column for column in range(COLUMNS_MAX) if column not in earlier]) if earlier else page


def earlier_columns(page: ReportPage, block: Sequence[int], *, are_days: bool = False) -> frozenset[int]:
    """Return the columns of an earlier day by their heading; none without one.

    `are_days`: the block has days, so that only words make a heading.
    """
    is_value = _is_day if are_days else attrgetter("has_number")
    figures = sorted({column for row in block for column, cell in page.row(row).items() if is_value(cell)})
    if len(figures) < 2:
        return frozenset()
    at = bisect_right(page.rows, block[0])
    for row in reversed(page.rows[max(0, at - HEADING_ROWS_MAX) : at]):
        cells = page.row(row)
        worded = [column for column in figures if column in cells and not cells[column].has_number]
        earlier = _by_words(cells, worded) if are_days else _earlier(cells, worded)
        if earlier and len(worded) > len(earlier):
            return earlier
    return frozenset()


def _is_day(cell: PageCell) -> bool:
    return cell.day == cell.day or DATE.fullmatch(cell.text) is not None


def _earlier(cells: dict[int, PageCell], columns: list[int]) -> frozenset[int]:
    """Return which columns are of an earlier day by their heading."""
    return _by_words(cells, columns) or earlier_by_days({column: cells[column] for column in columns})


def _by_words(cells: dict[int, PageCell], columns: list[int]) -> frozenset[int]:
    return frozenset(column for column in columns if _EARLIER.search(words.normal(cells[column].text)) is not None)


def earlier_by_days(cells: dict[int, PageCell]) -> frozenset[int]:
    """Return which columns are earlier than the latest by the days in their headings."""
    by_days: set[frozenset[int]] = set()
    for is_day_first in (True, False):
        days = {column: _day_of(cell, day_first=is_day_first) for column, cell in cells.items()}
        known = {column: day for column, day in days.items() if day == day}
        if len(known) > 1 and len(known) == sum(map(_has_day, cells.values())):
            by_days.add(frozenset(column for column, day in known.items() if day < max(known.values())))
    return by_days.pop() if len(by_days) == 1 else frozenset()


def _has_day(cell: PageCell) -> bool:
    month = _month_of(cell.text)
    return cell.day == cell.day or DATE.search(cell.text) is not None or month == month


def _day_of(cell: PageCell, *, day_first: bool) -> float:
    """Return the day of a date, inside of a text, or a month's last; NaN for none."""
    if cell.day == cell.day:
        return cell.day
    match = DATE.search(cell.text)
    return _month_of(cell.text) if match is None else date_days(match[0], day_first=day_first)


def _month_of(text: str) -> float:
    """Return the last day of the month with which a text begins; NaN for none."""
    first = text.split()[:2]
    day = month_days(first[0]) if first else NAN
    return day if day == day else month_days(" ".join(first))


def _line_blocks(page: ReportPage, rows: Sequence[int], title: str) -> Iterator[tuple[str, list[int]]]:
    """Yield (title, rows) of each block."""
    block: list[int] = []
    for row in rows:
        cells = page.row(row)
        lone = next(iter(cells.values())) if len(cells) == 1 else None
        is_title = lone is not None and lone.is_words and words.normal(lone.text).strip() not in _SIGN_SECTIONS
        if block and (is_title or row > block[-1] + 1):
            yield title, block
            block = []
        if is_title:
            assert lone is not None, "a title is a lone text"
            title = title if is_running(lone.text) else lone.text
        elif len(cells) < LOAN_CELLS_MIN:
            block.append(row)
    if block:
        yield title, block


def _amount_column(page: ReportPage, block: list[int]) -> int | None:
    """Return the column with most figures, the leftmost of several."""
    counts = Counter(column for row in block for column, cell in page.row(row).items() if cell.has_number)
    return min(counts, key=lambda column: (-counts[column], column)) if counts else None


def _lines(
    page: ReportPage, block: list[int], number: int, title: str, column: int, label: int | None
) -> Iterator[PageLine]:
    section = ""
    for row in block:
        cells = page.row(row)
        name = cells[label].text if label is not None and label in cells else _label(cells)
        at = column if cells.get(column, _NOTHING).has_number else None
        if at is None:
            at = next(
                (figure_column for figure_column, cell in cells.items() if cell.has_number and figure_column != label),
                None,
            )
        if at is None:
            if name and len(cells) == 1:
                section = name
            continue
        cell = cells[at]
        is_total = words.is_total(name)
        yield PageLine(
            label=name,
            value=cell.number,
            decimals=cell.decimals,
            is_percent=cell.is_percent,
            section=section,
            is_less=words.is_less(name) or words.is_less(section),
            is_total=is_total,
            block=number,
            title=title,
            page=page,
            row=row,
            column=at,
        )
        if is_total:
            section = ""


def _label(cells: dict[int, PageCell]) -> str:
    """Return the first words of a row, less a clause's letter."""
    texts = [cell.text for cell in cells.values() if cell.is_words]
    return next((text for text in texts if sum(letter.isalpha() for letter in text) > 3), texts[0] if texts else "")
