"""Read the levels of reference rates from a page: "LIBOR | 3M | 2.31 %"."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from core.grid.places import cell_place
from core.grid.sheet import Sheet
from core.portfolio.cells import category_cells, number_cells, scaling, string_pool, text_cells
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.string_pool import StringPool, key
from core.portfolio.sheets.located import LocatedBook
from core.portfolio.sheets.titles import first_line, first_row

RATE_ROWS_MAX: Final = 200
"""Rows of a page of rates that are looked at."""

RATE_COLUMNS_MAX: Final = 12
"""Columns of it."""

RATE_MAX: Final = 25.0
"""Percent above which a figure is no reference rate."""

FRACTION_MAX: Final = 0.25
"""Figure up to which a rate may be a fraction: 25 %."""

_PAGES: Final = re.compile(
    r"\b(?:base|index|reference|benchmark|floating) ?rates?\b|\brate ?(?:sets?|resets?|fixings?)\b"
)
_TENOR: Final = re.compile(r"\s*0*(1|2|3|6|12)\s*(?:m|mo|mos|mth|months?)\s*", re.IGNORECASE)
_FAMILY: Final = re.compile(
    r"(?:(?:CHF|EUR|GBP|JPY) )?(?:LIBOR|SOFR|EURIBOR|SONIA|SARON|ESTR|CORRA|CDOR|BBSY|TIBOR)(?:-\d+M)?"
)
_MAIN_TENOR: Final = "-3M"
"""What an index without a tenor is taken for where a page has several."""


class Level(NamedTuple):
    """One line of a page of rates."""

    name: str
    """Of the index, with its tenor."""
    rate: float
    """As written, in percent where its own sign says so."""
    is_percent: bool
    place: str


def base_rate_of(located: LocatedBook, loans: Loans) -> tuple[float, str] | None:
    """Find the level, in percent, of the index of most loans, and its place.

    None where no page says one level of it.

    Of an index without a tenor it is the level of three months where a page has several.
    """
    levels = [
        level
        for sheet in located.book.sheets
        if sheet.index not in located.old
        and sheet.state == "visible"
        and _PAGES.search(key(f"{sheet.name} {first_line(sheet)}"))
        for level in _levels(sheet)
    ]
    if not levels:
        return None
    index = _main_index(loans)
    family = index.partition("-")[0]
    ways = (
        [level for level in levels if level.name == index],
        [level for level in levels if level.name == f"{index}{_MAIN_TENOR}"],
        [level for level in levels if level.name.partition("-")[0] == family or not family],
    )
    for near in ways:
        if len({level.rate for level in near}) == 1:
            return _percent(near[0], loans), near[0].place
    return None


def _percent(level: Level, loans: Loans) -> float:
    """Give a level in percent."""
    if level.is_percent:
        return level.rate
    return in_percent(level.rate, float(scaling.small_rate_percent(Numbers(np.array([level.rate]), None))[0]), loans)


def in_percent(written: float, read: float, loans: Loans) -> float:
    """Take a small level for a fraction or for percent by the loans' rates.

    By what all-in rates usually are above spreads; elsewhere the level stays as it was `read`.
    """
    spread, all_in = (loans.numbers.get(name) for name in ("spread", "all_in_rate"))
    if spread is None or all_in is None or not 0 < abs(written) <= FRACTION_MAX:
        return read
    above = all_in - spread / 100
    above = above[np.isfinite(above) & (spread > 0)]
    if not len(above):
        return read
    usual = float(np.median(above))
    return min((written, round(written * 100, 10)), key=lambda rate: abs(rate - usual))


def _main_index(loans: Loans) -> str:
    """Return the index of most loans, with its tenor; "" where none is known."""
    if "base_rate" not in loans.categories:
        return ""
    codes, names = loans.categories["base_rate"]
    counts = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
    known = {name: count for name, count in zip(names, counts, strict=True) if _FAMILY.fullmatch(name)}
    return max(known, key=known.__getitem__) if known else ""


def _levels(sheet: Sheet) -> Iterator[Level]:
    """Yield rows that name an index, then maybe a tenor, then a rate."""
    first = first_row(sheet)
    for row in range(first, min(sheet.row_count, first + RATE_ROWS_MAX)):
        cells = [sheet.value(row, column) for column in range(min(sheet.column_count, RATE_COLUMNS_MAX))]
        index, column = _index(cells)
        if not index:
            continue
        for at in range(column + 1, len(cells)):
            rate, is_percent = _rate(cells[at])
            if abs(rate) <= RATE_MAX:
                yield Level(index, rate, is_percent, cell_place(sheet, row, at))
                break


def _index(cells: Sequence[object]) -> tuple[str, int]:
    """Return the index and tenor that a row names, and its last column."""
    for column, cell in enumerate(cells):
        if not isinstance(cell, str) or len(cell) > string_pool.FIGURE_BYTES_MAX:
            continue
        index = category_cells.base_rate(cell)
        if not _FAMILY.fullmatch(index):
            continue
        beside = cells[column + 1] if column + 1 < len(cells) else None
        is_short = isinstance(beside, str) and len(beside) <= string_pool.FIGURE_BYTES_MAX and "-" not in index
        tenor = _TENOR.fullmatch(str(beside)) if is_short else None
        return (f"{index}-{tenor[1]}M", column + 1) if tenor else (index, column)
    return "", 0


def _rate(cell: object) -> tuple[float, bool]:
    """Return a cell as a rate, NaN for none, and whether it is in percent."""
    if isinstance(cell, str):
        codes, text = text_cells.pool_of([cell[: string_pool.FIGURE_BYTES_MAX]])
        numbers = number_cells.text_numbers(codes, StringPool(text))
        return float(numbers.values[0]), numbers.marks is not None
    if isinstance(cell, float | int) and not isinstance(cell, bool):
        return float(cell), False
    return math.nan, False
