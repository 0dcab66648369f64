"""The cells of a page that people wrote, by row: as text, figure or day."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from copy import copy
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

import numpy as np

from core.grid.places import cell_place, range_place
from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells import _parse, string_pool, text_cells
from core.portfolio.cells.string_pool import BLANK, BOOLEAN, DATE, ERROR, TEXT, StringPool
from core.portfolio.sheets.headings import wording
from core.remembered import remembered
from core.values import DAYS_BETWEEN_SYSTEMS, SERIAL_OF_1970

SCALE_ROWS: Final = 10
"""Rows from the top of a page in which a line may say in what its amounts are."""

SCALE_CELLS: Final = 2
"""Cells of such a row."""

AMOUNT_MAX: Final = 2e10
"""Currency units that no amount of a deal has."""

PAGES_MAX: Final = 200
"""Sheets of a workbook that are looked at."""

ROWS_MAX: Final = 2_000
"""Rows of a page that are looked at."""

COLUMNS_MAX: Final = 64
"""Columns of a page that are looked at."""

CELLS_MAX: Final = 20_000
"""Cells of a page that are looked at, from the top: a page of notes, accounts or tests has hundreds."""

TEXT_BYTES_MAX: Final = 400
"""UTF-8 bytes of a text that is looked at; a longer one is prose."""

TEXTS_BYTES_MAX: Final = 60_000
"""UTF-8 bytes of all texts of a page that are looked at, from the top, each text once: a dense page of tests has
10,000."""

MEMORY_MAX: Final = 16_384
"""Texts of which is remembered whether they are a limit: those of one workbook come again with the next request."""

NAN: Final = float("nan")


class PageCell(NamedTuple):
    """What one cell says; "" and NaN for what it does not."""

    text: str
    """Of a text cell, one space between words."""
    number: float = NAN
    """As shown: 1.25 formatted as a percentage is 125; of a text, what it reads as ("130.08%", "(1,000.00)")."""
    is_percent: bool = False
    day: float = NAN
    """Of a date cell, days since 1970-01-01."""
    decimals: int | None = None
    """Digits behind the point that the page shows, by the number's format or its text; None: nothing says it."""
    bound: Literal["min", "max"] | None = None
    """That the figure is a limit, and of which side: ">= 5 %", "Min 5 %", "5 % (max)"."""

    @property
    def is_blank(self) -> bool:
        """Return whether it stands for nothing ("N/A", "-", "***")."""
        return self.number != self.number and self.day != self.day and self.text.upper() in _NULLS

    @property
    def is_words(self) -> bool:
        """Return whether it is text, no number, and stands for something."""
        text = self.text
        if self.number == self.number or not text:
            return False
        return len(text) > _NULL_LENGTH_MAX or text.upper() not in _NULLS

    @property
    def has_number(self) -> bool:
        """Return whether it is or reads as a number."""
        return self.number == self.number


_NOTHING: Final = PageCell("")

_NULLS: Final = string_pool.NULL_WORDS | {"*", "**", ".", "NIL", "NOT APPLICABLE"}

_NULL_LENGTH_MAX: Final = max(map(len, _NULLS))

_LEAST: Final = (
    r">|≥|at least|(?:not|no) (?:be )?(?:less|lower) than|greater than|minimum|min\b|mindestens|au moins|al menos"
)
_MOST: Final = (
    r"<|≤|at most|(?:not|no) (?:be )?(?:more|greater|higher) than|less than|not (?:to )?exceed(?:ing)?|up to|maximum"
    r"|max\b|höchstens|au plus"
)
_BOUND: Final = re.compile(
    rf"^\s*(?:(?:must|shall|should|may|to) (?:be )?)?"
    rf"(?:(?:(?P<min>{_LEAST})|(?P<max>{_MOST})|=)(?: or equal to| of\b)?[\s=:.]*)+",
    re.IGNORECASE,
)
"""What may stand before a limit's figure."""

_BEHIND: Final = re.compile(
    r"\s*\(?\s*(?:(?P<min>min(?:imum)?)|(?P<max>max(?:imum)?))\.?\s*\)?\s*$|(?<=\d)\s?x\s*$"
    r"|(?:(?<=[.,]\d)|(?<=[.,]\d\d))\s?(?:years?|yrs?\.?|jahre)\s*$"
    r"|(?<=%)\s*(?:of (?:the )?[a-z][^%]{0,60}|\([^%)]*\d[^%)]*\))$",
    re.IGNORECASE,
)
"""What may stand behind a figure: that it is a limit, times ("1.3142x"), years, or the base of a share."""

_NOTE: Final = re.compile(r"(?<=[\d%])(?:\s*[*\u2020\u2021^]+|\s+\((?:\d{1,2}|[a-z])\))\s*$", re.IGNORECASE)
"""A mark of a footnote behind a figure."""

_IN_FORMAT: Final = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]|[_*].')
"""What a number format shows beside digits."""

_POINTS_APART: Final = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+")
"""Thousands set apart by points, as a text with decimal commas has them."""

FORMAT_LENGTH_MAX: Final = 255
"""Characters of a number format that is looked at."""


@lru_cache(256)
def decimals_of_format(code: str) -> int | None:
    """Return a number format's decimals; None for dates and unclear formats."""
    positive_part = _IN_FORMAT.sub("", code[:FORMAT_LENGTH_MAX].partition(";")[0])
    if re.search(r"[a-df-zA-DF-Z/]|[eE][+-]|,(?![#0?])", positive_part) or not re.search(r"[0#?]", positive_part):
        return None
    _, _, behind = positive_part.partition(".")
    return len(re.findall(r"[0?#]", behind))


def decimals_of_text(text: str, decimal_comma: bool) -> int:
    """Return digits behind the point of a figure that is written as a text."""
    match = re.search(r",(\d+)\D*$" if decimal_comma else r"\.(\d+)\D*$", text)
    return len(match[1]) if match else 0


class ReportPage:
    """The cells of some rows of a sheet."""

    def __init__(self, book: Workbook, sheet: Sheet, spans: Iterable[tuple[int, int]]) -> None:
        """Read rows `first` to `last - 1` of each span.

        At most `CELLS_MAX` cells and `TEXTS_BYTES_MAX` bytes of text from the top.

        `end`: the row from which on nothing is looked at because of these limits; None: all rows of the spans are.
        """
        self.sheet = sheet
        spans = list(spans)
        self._cells: dict[int, dict[int, PageCell]] = {}
        pool = StringPool(sheet.text, book.number_formats, date_1904=book.date_1904)
        stored = sorted(_stored_cells(sheet, pool, spans))
        count = _within_limits(sheet, stored)
        self.end: int | None = stored[count][0] if count < len(stored) else None
        stored = [stored_cell for stored_cell in stored[:count] if self.end is None or stored_cell[0] < self.end]
        texts = _texts(sheet, pool, {code for _, _, kind, _, code, _, _ in stored if kind == TEXT})
        shift = (DAYS_BETWEEN_SYSTEMS if book.date_1904 else 0) - SERIAL_OF_1970
        decimals = [decimals_of_format(code) for code in book.number_formats]
        for row, column, kind, number, code, is_percent, style in stored:
            if kind == TEXT:
                cell = texts.get(code, _NOTHING)
                if code in texts and not cell.text:
                    continue
            elif kind == DATE:
                cell = PageCell("", NAN, False, number // 1 + shift)
            elif kind in (BOOLEAN, ERROR):
                continue
            else:
                cell = PageCell("", round(number * 100, 9) if is_percent else number, is_percent, NAN, decimals[style])
            self._cells.setdefault(row, {})[column] = cell
        self.rows = sorted(self._cells)
        """Rows with a cell, from the top."""
        self.starts = sorted(first for first, _ in spans)
        """First rows of the spans: between two of them stands what is not looked at."""

    def cut(self, columns: Container[int]) -> ReportPage:
        """Return the page with these columns alone."""
        part = copy(self)
        part.__dict__.pop("scale", None)
        within = {row: {at: cell for at, cell in cells.items() if at in columns} for row, cells in self._cells.items()}
        part._cells = {row: cells for row, cells in within.items() if cells}
        part.rows = sorted(part._cells)
        return part

    @property
    def cell_count(self) -> int:
        """Return how many cells hold something."""
        return sum(map(len, self._cells.values()))

    @cached_property
    def scale(self) -> float:
        """Return what a line at the top multiplies amounts by: "($ in thousands)".

        1 where none does, or where they would be more than any pool has.
        """
        rows = sorted(self._cells)
        for row in rows[:SCALE_ROWS]:
            cells = self._cells[row]
            for cell in cells.values() if len(cells) <= SCALE_CELLS else ():
                scale = wording.magnitude_of_title(cell.text) if cell.is_words else 1.0
                if scale != 1.0:
                    return scale if self._most() * scale <= AMOUNT_MAX else 1.0
        return 1.0

    def _most(self) -> float:
        figures = (abs(cell.number) for cells in self._cells.values() for cell in cells.values() if cell.has_number)
        return max(figures, default=0.0)

    @property
    def text_length(self) -> int:
        """Return characters of all texts of words, each text once."""
        distinct = {cell.text: cell for cells in self._cells.values() for cell in cells.values()}
        return sum(len(text) for text, cell in distinct.items() if cell.is_words)

    def row(self, row: int) -> dict[int, PageCell]:
        """Return the cells of a row by column, from the left."""
        return self._cells.get(row, {})

    def cell(self, row: int, column: int) -> PageCell:
        """Return one cell; nothing where there is none."""
        return self._cells.get(row, {}).get(column, _NOTHING)

    def place(self, row: int, column: int) -> str:
        """Return where a cell stands, with the sheet's name."""
        return cell_place(self.sheet, row, column)

    def range_place(self, rows: tuple[int, int], columns: tuple[int, int]) -> str:
        """Return where the first to the last cell stand, with the sheet's name."""
        return range_place(self.sheet, rows[0], columns[0], rows[1], columns[1])

    def texts(self) -> Iterator[tuple[int, int, str]]:
        """Yield (row, column, text) of every text cell, row by row."""
        for row in self.rows:
            for column, cell in self._cells[row].items():
                if cell.text:
                    yield row, column, cell.text


class TurnedPage(ReportPage):
    """Some rows of a page as columns, and its columns as rows.

    A row's number is behind all of the page: no other part of it has the same.
    """

    def __init__(self, page: ReportPage, rows: Iterable[int]) -> None:
        """Turn some rows of a page."""
        self.sheet, self.starts, self.end, self._page = page.sheet, [], page.end, page
        self.first = page.sheet.row_count
        self._cells = {}
        for row in rows:
            for column, cell in page.row(row).items():
                self._cells.setdefault(self.first + column, {})[row] = cell
        self.rows = sorted(self._cells)

    @property
    def scale(self) -> float:
        """Return what a line at the top of the page multiplies amounts by."""
        return self._page.scale

    def place(self, row: int, column: int) -> str:
        """Return where a cell stands on the page, with the sheet's name."""
        return self._page.place(column, row - self.first)

    def range_place(self, rows: tuple[int, int], columns: tuple[int, int]) -> str:
        """Return where the first to the last cell stand on the page."""
        return self._page.range_place(columns, (rows[0] - self.first, rows[1] - self.first))


_Stored = tuple[int, int, int, float, int, bool, int]
"""Row, column, kind, number, code, is shown as a percentage, format."""


def _within_limits(sheet: Sheet, stored: list[_Stored]) -> int:
    """Return how many cells from the top are looked at."""
    codes: set[int] = set()
    left = TEXTS_BYTES_MAX
    for at, (_, _, kind, _, code, _, _) in enumerate(stored[:CELLS_MAX]):
        if kind != TEXT or code in codes:
            continue
        codes.add(code)
        size = int(sheet.text.offsets[code + 1] - sheet.text.offsets[code])
        left -= size if size <= TEXT_BYTES_MAX else 0
        if left < 0:
            return at
    return min(len(stored), CELLS_MAX)


def _stored_cells(sheet: Sheet, pool: StringPool, spans: list[tuple[int, int]]) -> Iterator[_Stored]:
    """Yield the cells that hold something."""
    for column, stored in enumerate(sheet.columns[:COLUMNS_MAX]):
        if stored is None:
            continue
        for first, last in spans:
            first, last = max(first, stored.start), min(last, stored.stop, first + ROWS_MAX)
            if first >= last:
                continue
            cut = stored.span(first, last)
            at = np.flatnonzero(cut.kinds != BLANK)
            yield from zip(
                (at + first).tolist(),
                [column] * len(at),
                cut.kinds[at].tolist(),
                cut.numbers[at].tolist(),
                cut.codes[at].tolist(),
                pool.percent_formats[cut.formats[at]].tolist(),
                cut.formats[at].tolist(),
                strict=True,
            )


def _texts(sheet: Sheet, pool: StringPool, codes: set[int]) -> dict[int, PageCell]:
    """Return what some strings of a sheet say; prose is left out."""
    used = np.array(sorted(codes), np.int64)
    sizes = sheet.text.offsets[used + 1] - sheet.text.offsets[used]
    used = used[sizes <= TEXT_BYTES_MAX]
    strings = [" ".join(string.split()) for string in string_pool.decode(sheet.text, used)]
    figures, bounds = zip(*map(_without_bound, strings), strict=True) if strings else ((), ())
    written, text = text_cells.pool_of(list(figures))
    comma = pool.decimal_comma()
    values, marks = _parse.numbers(text.offsets, text.data, written, False, comma)
    texts: dict[int, PageCell] = {}
    for code, string, figure, bound, value, mark in zip(
        used.tolist(), strings, figures, bounds, values.tolist(), marks.tolist(), strict=True
    ):
        if value != value or figure.upper() in string_pool.NULL_WORDS:
            texts[code] = PageCell(string)
        else:
            is_percent = bool(mark & _parse.PERCENT)
            if comma and _POINTS_APART.fullmatch(figure):
                value = float(figure.replace(".", ""))
            texts[code] = PageCell(string, value, is_percent, NAN, decimals_of_text(figure, comma), bound)
    return texts


@remembered(MEMORY_MAX)
def _without_bound(text: str) -> tuple[str, Literal["min", "max"] | None]:
    """Return a text without the words of a limit, and the limit's side."""
    before = _BOUND.match(text)
    figure = text[before.end() :] if before else text
    figure = _NOTE.sub("", figure)
    behind = _BEHIND.search(figure)
    figure = figure[: behind.start()] if behind else figure
    for match in (before, behind):
        if match is not None and (match["min"] or match["max"]):
            return figure, "min" if match["min"] else "max"
    return figure, None
