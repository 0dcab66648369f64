"""The rows that are not plainly loans, by all columns of the sheet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import TEXT, Cells, bit, spread_out
from core.portfolio.sheets.below import RowsBelow
from core.portfolio.sheets.headings.header import SCORE_MIN
from core.portfolio.sheets.headings.matcher import Matcher
from core.portfolio.sheets.rows.words import MARKER, SEVERAL_WORDS, start_of

HEADERS_MAX: Final = 1_000
"""Rows of text that are looked at for another header."""

HEADER_CELLS_MAX: Final = 2_000_000
"""Cells of such rows that are looked at, blank ones included."""

ABOVE_ROWS: Final = 40
"""Rows above the first loan in which the titles of the page stand."""

UNKNOWN_MAX: Final = 1
"""Cells under mapped columns that a header repeated after a page break may have without naming a field."""

MISSES_MAX: Final = 8
"""Cells that name no field, more than those that do, after which a row is no header."""


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The mapped columns by what they say about a row; all over the same rows."""

    par: NDArray[np.float64] | None
    borrower: Cells | None
    identifiers: list[Cells]
    facility: Cells | None
    maturity: Cells | None
    headers: list[tuple[Cells, NDArray[np.int32]]]
    """Mapped columns with the text codes of their header's rows."""
    places: dict[str, int]
    """Target -> its column."""
    types: tuple[Cells, ...] = ()
    """Columns that say what kind of asset a row is, the facility's among them."""
    counters: frozenset[int] = frozenset()
    """Columns of the sheet that number the rows."""
    ratings: tuple[Cells, ...] = ()
    prices: tuple[Cells, ...] = ()
    """Spreads, rates and prices."""

    @property
    def has_detail(self) -> bool:
        """Return whether a column is known that tells a loan from its borrower."""
        return bool(self.identifiers or self.types) or self.facility is not None or self.maturity is not None


@dataclass(frozen=True, slots=True)
class RowMarks:
    """What each row has."""

    par: NDArray[np.bool_]
    name: NDArray[np.bool_]
    identifier: NDArray[np.bool_]
    detail: NDArray[np.bool_]
    """An identifier, a facility, a maturity or a kind of asset."""
    cash: NDArray[np.bool_]
    """A name like cash or account, and neither identifier nor maturity."""
    plain: NDArray[np.bool_]
    """A loan without question."""
    silent: NDArray[np.bool_]
    """A par, and neither maturity, rating nor identifier."""
    thin: NDArray[np.bool_]
    """The same where most rows have one of them."""
    bare: NDArray[np.bool_]
    """Of these the rows without a rate or a price, too."""


def _is_figure(cells: Cells) -> NDArray[np.bool_]:
    """Return cells whose text is a number."""
    if not cells.seen & bit(TEXT):
        return np.zeros(len(cells.kinds), np.bool_)
    text = cells.pool.text
    local, used = _parse.distinct(cells.codes, len(text))
    values, _ = _parse.numbers(text.offsets, text.data, used, False)
    return spread_out(~np.isnan(values), False, local)


class OddRows:
    """The rows that are not plainly loans, and what all columns say of them."""

    def __init__(
        self, below: RowsBelow, rows: NDArray[np.int64], aliases: Matcher | None, counters: frozenset[int]
    ) -> None:
        self.rows = rows
        self._below, self._aliases = below, aliases
        sheet = below.sheet
        self.filled = np.zeros(len(rows), np.int32)
        self.texts = np.zeros(len(rows), np.int32)
        self.first_text = np.full(len(rows), -1, np.int32)
        self.last_text = np.full(len(rows), -1, np.int32)
        self.text = sheet.text
        low, high = below.row(int(rows[0])), below.row(int(rows[-1])) + 1
        for column, stored in enumerate(sheet.columns):
            if stored is None or stored.stop <= low or stored.start >= high or column in counters:
                continue
            cells = below.part(column, rows)
            present = cells.present()
            is_text = present & (cells.kinds == TEXT) & ~_is_figure(cells)
            self.filled += present
            self.texts += is_text
            self.first_text = np.where((self.first_text < 0) & is_text, cells.codes, self.first_text)
            self.last_text = np.where(is_text, cells.codes, self.last_text)

    def text_of(self, at: int) -> str:
        """Return the first text of an odd row."""
        return start_of(self.text, int(self.first_text[at]))

    def texts_above(self) -> NDArray[np.int32]:
        """Return the codes of the texts above the first row that is looked at."""
        first = self._below.first
        codes = [
            part.codes[part.codes >= 0]
            for stored in self._below.sheet.columns
            if stored is not None and stored.start < first
            for part in (stored.span(max(stored.start, first - ABOVE_ROWS), min(first, stored.stop)),)
        ]
        return np.unique(np.concatenate(codes)) if codes else np.zeros(0, np.int32)

    def headers(self, among: NDArray[np.bool_], places: dict[str, int]) -> tuple[list[int], list[int]]:
        """Return odd rows that read like this header, and like another table's."""
        same: list[int] = []
        unlike: list[int] = []
        if self._aliases is None:
            return same, unlike
        rows_max = min(HEADERS_MAX, HEADER_CELLS_MAX // max(1, self._below.sheet.column_count))
        mapped = set(places.values())
        for at in np.flatnonzero(among & (self.texts >= SCORE_MIN))[:rows_max].tolist():
            named, unknown = self._find_targets(int(self.rows[at]), mapped)
            if len(named) >= SCORE_MIN:
                agrees = all(places.get(target) == column for target, column in named.items())
                is_whole = 2 * len(named) >= len(places) and unknown <= UNKNOWN_MAX
                (same if agrees and is_whole else unlike).append(at)
        return same, unlike

    def _find_targets(self, row: int, mapped: set[int]) -> tuple[dict[str, int], int]:
        """Return target -> column of a row's cells, and how many name none."""
        assert self._aliases is not None
        named: dict[str, int] = {}
        balance = unknown = 0
        row = self._below.row(row)
        for column, stored in enumerate(self._below.sheet.columns):
            at = -1 if stored is None else stored.slot(row)
            if stored is None or at < 0 or stored.dense.kinds[at] != TEXT:
                continue
            options = self._aliases.options(start_of(self.text, int(stored.dense.codes[at])))
            balance += 1 if options else -1
            unknown += not options and column in mapped
            if balance < -MISSES_MAX:
                break
            for target, _, auxiliary in options:
                if not auxiliary:
                    named.setdefault(target, column)
        return named, unknown

    def matches(
        self, pattern: re.Pattern[str], *, whole: bool, codes: NDArray[np.int32] | None = None
    ) -> NDArray[np.bool_]:
        """Return rows whose first text fits the pattern, whole or from its start."""
        local, used = _parse.distinct(self.first_text if codes is None else codes, len(self.text))
        matches = pattern.fullmatch if whole else pattern.match
        fit = [matches(start_of(self.text, code)) is not None for code in used.tolist()]
        return spread_out(np.array(fit, np.bool_), False, local)


def has_words(columns: RowColumns, odd: OddRows) -> NDArray[np.bool_]:
    """Return rows with several words for an identifier: "Retail: 5 assets"."""
    in_words = np.zeros(len(odd.rows), np.bool_)
    for cells in columns.identifiers:
        in_words |= odd.matches(SEVERAL_WORDS, whole=True, codes=cells.codes[odd.rows])
    return in_words


def called_total_of(columns: RowColumns, odd: OddRows) -> NDArray[np.bool_]:
    """Return rows whose borrower reads like a total of something: "Total B2"."""
    borrower = columns.borrower
    return (
        np.zeros(len(odd.rows), np.bool_)
        if borrower is None
        else odd.matches(MARKER, whole=False, codes=borrower.codes[odd.rows])
    )


def repeats_header(columns: RowColumns, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return rows with the header's own words again, after a page break.

    Under a header of one row these are half of its columns at least, and no mapped column has another word: two tables
    may begin with the same columns.
    """
    if not columns.headers:
        return np.zeros(len(rows), np.bool_)
    alike, unlike = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    for cells, header in columns.headers:
        codes = cells.codes[rows]
        is_alike = codes == header[0] if len(header) == 1 else np.isin(codes, header)
        alike += is_alike
        unlike += (codes >= 0) & ~is_alike
    is_one_row = all(len(header) == 1 for _, header in columns.headers)
    half = (len(columns.headers) + 1) // 2 if is_one_row else 0
    return np.asarray((alike >= max(min(2, len(columns.headers)), half)) & (unlike == 0), np.bool_)
