"""The cells of a page that people made, by row: what each says as text, figure or day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from core.grid.address import cell_name
from core.grid.sheet import Sheet, Workbook
from core.grid.sheet_name import in_quotes
from core.portfolio.cells import _parse, parsing
from core.portfolio.cells.parsing import BLANK, BOOLEAN, DATE, ERROR, TEXT, Pool
from core.values import DAYS_BETWEEN_SYSTEMS, SERIAL_OF_1970

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

NAN: Final = float("nan")


class Cell(NamedTuple):
    """What one cell says; "" and NaN for what it does not."""

    text: str
    """Of a text cell, one space between words."""
    number: float = NAN
    """As shown: 1.25 formatted as a percentage is 125; of a text, what it reads as ("130.08%", "(1,000.00)")."""
    is_percent: bool = False
    day: float = NAN
    """Of a date cell, days since 1970-01-01."""

    @property
    def is_blank(self) -> bool:
        """Whether it stands for nothing ("N/A", "-")."""
        return not self.has_number and self.day != self.day and self.text.upper() in parsing.NULL_WORDS

    @property
    def has_number(self) -> bool:
        """Whether it is or reads as a number."""
        return self.number == self.number


_NOTHING: Final = Cell("")

_BOUND: Final = re.compile(
    r"^\s*(?:(?:>|<|=|≥|≤|at (?:least|most)|(?:not|no) (?:less|more|greater) than|(?:min|max)(?:imum)?\b)[\s=:.]*)+",
    re.IGNORECASE,
)
"""What may stand before a limit's figure."""

_BEHIND: Final = re.compile(r"\s*\(?\s*(?:min(?:imum)?|max(?:imum)?)\.?\s*\)?\s*$|(?<=\d)\s?x\s*$", re.IGNORECASE)
"""What may stand behind a figure: that it is a limit, or times ("1.3142x")."""


class Page:
    """The cells of some rows of a sheet."""

    def __init__(self, book: Workbook, sheet: Sheet, spans: Iterable[tuple[int, int]]) -> None:
        """Rows `first` to `last - 1` of each span, `CELLS_MAX` cells of them from the top."""
        self.sheet = sheet
        spans = list(spans)
        self._cells: dict[int, dict[int, Cell]] = {}
        pool = Pool(sheet.text, book.number_formats, date_1904=book.date_1904)
        found = sorted(_stored(sheet, pool, spans), key=lambda one: one[:2])[:CELLS_MAX]
        texts = _texts(sheet, pool, {code for _, _, kind, _, code, _ in found if kind == TEXT})
        shift = (DAYS_BETWEEN_SYSTEMS if book.date_1904 else 0) - SERIAL_OF_1970
        for row, column, kind, number, code, is_percent in found:
            if kind == TEXT:
                cell = texts.get(code, _NOTHING)
            elif kind == DATE:
                cell = Cell("", NAN, False, number // 1 + shift)
            elif kind in (BOOLEAN, ERROR):
                continue
            else:
                cell = Cell("", round(number * 100, 9) if is_percent else number, is_percent)
            self._cells.setdefault(row, {})[column] = cell
        self.rows = sorted(self._cells)
        """Rows with a cell, from the top."""
        self.starts = sorted(first for first, _ in spans)
        """First rows of the spans: between two of them stands what is not looked at."""

    def cut(self, columns: range) -> Page:
        """The page with these columns alone."""
        part = Page.__new__(Page)
        part.sheet, part.starts = self.sheet, self.starts
        within = {row: {at: cell for at, cell in cells.items() if at in columns} for row, cells in self._cells.items()}
        part._cells = {row: cells for row, cells in within.items() if cells}
        part.rows = sorted(part._cells)
        return part

    def row(self, row: int) -> dict[int, Cell]:
        """The cells of a row by column, from the left."""
        return self._cells.get(row, {})

    def cell(self, row: int, column: int) -> Cell:
        """One cell; nothing where there is none."""
        return self._cells.get(row, {}).get(column, _NOTHING)

    def place(self, row: int, column: int) -> str:
        """Where a cell stands, with the sheet's name."""
        return f"{in_quotes(self.sheet.name)}!{cell_name(row, column)}"

    def texts(self) -> Iterator[tuple[int, int, str]]:
        """(row, column, text) of every text cell, row by row."""
        for row in self.rows:
            for column, cell in self._cells[row].items():
                if cell.text:
                    yield row, column, cell.text


def _stored(sheet: Sheet, pool: Pool, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, float, int, bool]]:
    """(row, column, kind, number, code, is shown as a percentage) of the cells that hold something."""
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
                strict=True,
            )


def _texts(sheet: Sheet, pool: Pool, codes: set[int]) -> dict[int, Cell]:
    """What some strings of a sheet say; prose is left out."""
    used = np.array(sorted(codes), np.int64)
    sizes = sheet.text.offsets[used + 1] - sheet.text.offsets[used]
    used = used[sizes <= TEXT_BYTES_MAX]
    strings = [" ".join(string.split()) for string in parsing.decoded(sheet.text, used)]
    figures = [_BEHIND.sub("", _BOUND.sub("", string, count=1)) for string in strings]
    written, text = parsing.pool_of(figures)
    values, marks = _parse.numbers(text.offsets, text.data, written, False, pool.decimal_comma())
    return {
        code: Cell(string, NAN if figure.upper() in parsing.NULL_WORDS else value, bool(mark & _parse.PERCENT))
        for code, string, figure, value, mark in zip(
            used.tolist(), strings, figures, values.tolist(), marks.tolist(), strict=True
        )
    }
