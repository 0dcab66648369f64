"""Which rows under a header are loans: where the table ends, totals, subtotals, section labels, repeated headers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.grid.sheet import Sheet
from core.portfolio import _parse
from core.portfolio.parsing import TEXT, Cells, Pool, bit, spread_out

TOTAL_TOLERANCE: Final = 0.02
"""Currency units by which an unlabelled total may differ from the sum above it."""

NAMED_TOTAL_LOANS: Final = 3
"""Loans above a row with a name and their sum from which it is a total: a loan may be as large as one or two others."""

BLANK_ROWS: Final = 3
"""Blank rows in a row that end a table."""

_BARE: Final = re.compile(
    r"\s*(?:(?:grand|sub|page|report|portfolio|overall)[\s-]*)?totals?\s*[:.]?\s*"
    r"|\s*(?:sum|count|average|weighted average|avg\.?|notes?)\s*:?\s*",
    re.IGNORECASE,
)
_MARKER: Final = re.compile(
    r"\s*(?:(?:grand |sub[\s-]?)?\s*total|sum\b|count\b|average|weighted|footnote|note[s:]|\*|source|©)"
    r"|.*\btotals?\s*:?\s*$",
    re.IGNORECASE | re.DOTALL,
)
_SUBTOTAL: Final = re.compile(r"\s*sub[\s-]?total", re.IGNORECASE)
TEXT_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that is looked at for the words above; of a longer one only its start."""


@dataclass(frozen=True, slots=True)
class Loans:
    """The rows of a table that are loans."""

    rows: NDArray[np.int64] | slice
    """0-based offsets below the first data row, ascending; a slice where the loans follow one another."""
    stop: int
    """One past the last row of the table, as an offset."""
    borrower: NDArray[np.int64] | None
    """The row that each loan takes its borrower from; None when each has its own."""
    counts: dict[str, int]
    """ignored_blank_par, section_rows, total_rows, subtotal_rows, repeated_headers, unidentified_rows,
    filled_borrowers, rows_after_end: those that are not 0."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The mapped columns by what they say about a row; all over the same rows."""

    par: NDArray[np.float64] | None
    borrower: Cells | None
    identifiers: list[Cells]
    facility: Cells | None
    maturity: Cells | None
    headers: list[tuple[Cells, int]]
    """Mapped columns with the text code of their header."""


@dataclass(frozen=True, slots=True)
class _Has:
    """What each row has."""

    par: NDArray[np.bool_]
    name: NDArray[np.bool_]
    identifier: NDArray[np.bool_]
    detail: NDArray[np.bool_]
    """An identifier, a facility or a maturity."""
    plain: NDArray[np.bool_]
    """A loan without question."""


def loans(sheet: Sheet, pool: Pool, columns: Columns, first: int, last: int) -> Loans:
    """Sort out rows `first` to `last - 1` of a sheet.

    A row with par, a borrower, and an identifier, facility or maturity is a loan unless its borrower reads like a
    total. Only the other rows are looked at one by one.
    """
    height = last - first
    has_par = np.ones(height, np.bool_) if columns.par is None else ~np.isnan(columns.par)
    has_name = _present(columns.borrower, height)
    has_id = np.zeros(height, np.bool_)
    markers = _markers(pool.text)
    for cells in columns.identifiers:
        has_id |= cells.present() & ~markers[cells.codes]
    has_facility = _present(columns.facility, height)
    if columns.facility is not None:
        has_facility &= ~markers[columns.facility.codes]
    has_detail = has_id | has_facility | _present(columns.maturity, height)
    plain = has_par & has_name & has_detail
    if columns.borrower is not None:
        plain &= ~markers[columns.borrower.codes]
    if plain.all():
        return Loans(slice(0, height), height, None, {})
    odd = _Odd(sheet, pool, first, np.flatnonzero(~plain))
    return _sort(columns, odd, _Has(has_par, has_name, has_id, has_detail, plain))


def _present(cells: Cells | None, height: int) -> NDArray[np.bool_]:
    return np.zeros(height, np.bool_) if cells is None else cells.present()


def _markers(text: Text) -> NDArray[np.bool_]:
    """Strings that read like a total or a footer, by code, with a False at the end for the code -1."""
    markers = np.zeros(len(text) + 1, np.bool_)
    for code in _parse.may_mark(text.offsets, text.data).tolist():
        markers[code] = _MARKER.match(_start(text, code)) is not None
    return markers


def _start(text: Text, code: int) -> str:
    begin, end = int(text.offsets[code]), int(text.offsets[code + 1])
    return text.data[begin : min(end, begin + TEXT_BYTES_MAX)].tobytes().decode(errors="replace")


def _is_figure(cells: Cells) -> NDArray[np.bool_]:
    """Cells whose text is a number."""
    if not cells.seen & bit(TEXT):
        return np.zeros(len(cells.kinds), np.bool_)
    text = cells.pool.text
    local, used = _parse.distinct(cells.codes, len(text))
    values, _ = _parse.numbers(text.offsets, text.data, used, False)
    return spread_out(~np.isnan(values), False, local)


class _Odd:
    """The rows that are not plainly loans, and what all columns of the sheet say about them."""

    def __init__(self, sheet: Sheet, pool: Pool, first: int, rows: NDArray[np.int64]) -> None:
        self.rows = rows
        self.filled = np.zeros(len(rows), np.int32)
        self.texts = np.zeros(len(rows), np.int32)
        self.first_text = np.full(len(rows), -1, np.int32)
        self.text = sheet.text
        low, high = (first + int(rows[0]), first + int(rows[-1]) + 1) if len(rows) else (first, first)
        for stored in sheet.columns:
            if stored is None or stored.stop <= low or stored.start >= high:
                continue
            cells = Cells.of(stored, low, high, pool).take(rows - rows[0])
            present = cells.present()
            is_text = present & (cells.kinds == TEXT) & ~_is_figure(cells)
            self.filled += present
            self.texts += is_text
            self.first_text = np.where((self.first_text < 0) & is_text, cells.codes, self.first_text)

    def matches(self, pattern: re.Pattern[str], *, whole: bool) -> NDArray[np.bool_]:
        """Rows whose first text fits the pattern, as a whole or from its start."""
        distinct, index = np.unique(self.first_text, return_inverse=True)
        fit = [
            code >= 0 and bool((pattern.fullmatch if whole else pattern.match)(_start(self.text, code)))
            for code in distinct.tolist()
        ]
        return np.array(fit, np.bool_)[index]


def _sort(columns: Columns, odd: _Odd, has: _Has) -> Loans:
    """Name each odd row, find the end, and keep what is left."""
    rows = odd.rows
    par, name, identified, detail = (mask[rows] for mask in (has.par, has.name, has.identifier, has.detail))
    blank = odd.filled == 0
    header = _repeats_header(columns, rows) & ~par
    # A loan may be called Total Safety or Source Photonics: its row says more than its name.
    bare = odd.matches(_BARE, whole=True) & ~identified
    has_detail_column = bool(columns.identifiers) or columns.facility is not None or columns.maturity is not None
    wordy = odd.matches(_MARKER, whole=False) & ~detail & (odd.texts <= 1) & (has_detail_column | ~par)
    marker = (bare | wordy) & ~blank & ~header
    label = (odd.filled == 1) & (odd.texts == 1) & ~marker & ~header
    solid = ~(blank | header | marker | label)
    rest = par & solid
    ends = marker & ~odd.matches(_SUBTOTAL, whole=False)
    loans_after = np.flatnonzero(has.plain | has.par & has.identifier)
    stop, resumed = _stop(len(has.plain), rows[blank], rows[ends], rows[solid], loans_after, rows[header])
    # An id or a facility makes a nameless row a loan under a merged issuer, a date or a word one without a name.
    nameless = rest & ~name & ~detail
    counted = has.plain.copy()
    counted[rows[rest & detail]] = True
    totals = _unlabelled_totals(columns, rows[nameless], rows[marker], counted)
    lone = rows[nameless & (odd.texts == 0)]
    bare_names = rows[rest & name & ~detail] if has_detail_column else rows[:0]
    subtotals = _company_subtotals(columns, bare_names, has)
    totals = np.union1d(totals, _named_totals(columns, np.setdiff1d(bare_names, subtotals), counted))
    kept = has.plain.copy()
    kept[rows[rest]] = True
    for dropped in (totals, lone, subtotals):
        kept[dropped] = False
    for end, again in resumed:
        kept[end:again] = False
    kept[stop:] = False
    chosen = np.flatnonzero(kept)
    borrower, filled = _borrowers(columns, chosen, rows[marker | header])
    counts = {
        "ignored_blank_par": int(np.count_nonzero(solid & ~par & (rows < stop))),
        "section_rows": int(np.count_nonzero(label & (rows < stop))),
        "total_rows": int(np.count_nonzero(marker & (rows <= stop))) + int(np.count_nonzero(totals < stop)),
        "subtotal_rows": int(np.count_nonzero(subtotals < stop)),
        "repeated_headers": int(np.count_nonzero(header & (rows < stop))),
        "unidentified_rows": int(np.count_nonzero(np.setdiff1d(lone, totals) < stop)),
        "filled_borrowers": filled,
        "rows_after_end": int(np.count_nonzero(has.plain[stop:])),
    }
    together = len(chosen) > 0 and int(chosen[-1] - chosen[0]) == len(chosen) - 1
    picked = slice(int(chosen[0]), int(chosen[-1]) + 1) if together else chosen
    return Loans(picked, stop, borrower, {what: count for what, count in counts.items() if count})


def _repeats_header(columns: Columns, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows that show the header's own words in two columns or more: the header again, after a page break."""
    alike = np.zeros(len(rows), np.int32)
    for cells, header in columns.headers:
        alike += cells.codes[rows] == header
    return alike >= min(2, len(columns.headers)) if columns.headers else np.zeros(len(rows), np.bool_)


def _stop(
    height: int,
    blank: NDArray[np.int64],
    ends: NDArray[np.int64],
    solid: NDArray[np.int64],
    loans_after: NDArray[np.int64],
    headers: NDArray[np.int64],
) -> tuple[int, list[tuple[int, int]]]:
    """One past the table's last row, and the gaps in it: three blank rows end it, or a total that no loan follows at
    once.

    A total with a loan as the next row that says anything is a subtotal, and one with the header again before the next
    loan is a page's, with titles in the gap between; anything else after it is a footer, or another table.
    """
    runs = np.flatnonzero(blank[BLANK_ROWS - 1 :] - blank[: len(blank) - BLANK_ROWS + 1] == BLANK_ROWS - 1)
    stop = int(blank[runs[0]]) if len(runs) else height
    next_loan = np.append(loans_after, height)[np.searchsorted(loans_after, ends)]
    others = np.setdiff1d(solid, loans_after, assume_unique=True)
    next_other = np.append(others, height)[np.searchsorted(others, ends)]
    next_header = np.append(headers, height)[np.searchsorted(headers, ends)]
    pages = next_header < np.minimum(next_loan, stop)
    last = ends[(next_loan >= np.minimum(next_other, stop)) & (ends < stop) & ~pages]
    gaps = list(zip(ends[pages].tolist(), next_header[pages].tolist(), strict=True))
    return int(last[0]) if len(last) else stop, gaps


def _unlabelled_totals(
    columns: Columns, nameless: NDArray[np.int64], markers: NDArray[np.int64], counted: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Rows with nothing that names a loan and a par that is the sum of the loans above, or of those since a total."""
    if columns.par is None or len(nameless) == 0:
        return nameless[:0]
    sums = np.concatenate(([0.0], np.cumsum(np.where(counted, columns.par, 0.0))))
    totals: list[int] = []
    since = 0.0
    places = np.sort(np.concatenate((nameless, markers)))
    for row, is_marker in zip(places.tolist(), np.isin(places, markers).tolist(), strict=True):
        above = float(sums[row])
        figure = float(columns.par[row])
        if is_marker:
            since = above
        elif above and min(abs(figure - above), abs(figure - (above - since))) <= TOTAL_TOLERANCE:
            totals.append(row)
            since = above
    return np.array(totals, np.int64)


def _named_totals(columns: Columns, rows: NDArray[np.int64], counted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Rows with a name and a par alone that is the sum of all loans above: a count or the deal stands in the name."""
    if columns.par is None or len(rows) == 0:
        return rows[:0]
    sums = np.cumsum(np.where(counted, columns.par, 0.0))[rows]
    is_total = (np.abs(columns.par[rows] - sums) <= TOTAL_TOLERANCE) & (np.cumsum(counted)[rows] >= NAMED_TOTAL_LOANS)
    return np.asarray(rows[is_total], np.int64)


def _company_subtotals(columns: Columns, rows: NDArray[np.int64], has: _Has) -> NDArray[np.int64]:
    """Rows with a borrower and a par alone that is the sum of the borrower's other rows next to it."""
    if columns.par is None or columns.borrower is None or len(rows) == 0:
        return rows[:0]
    codes = columns.borrower.codes
    height = len(codes)
    own = np.maximum.accumulate(np.where(has.name, np.arange(height), 0))
    filled = np.where(has.par, codes[own], np.int32(-2))
    starts = np.concatenate(([0], np.flatnonzero(filled[1:] != filled[:-1]) + 1, [height]))
    is_sum = np.zeros(height, np.bool_)
    is_sum[rows] = True
    sums = np.concatenate(([0.0], np.cumsum(np.where(has.par & has.detail & ~is_sum, columns.par, 0.0))))
    run = np.searchsorted(starts, rows, side="right") - 1
    others = sums[starts[run + 1]] - sums[starts[run]]
    is_subtotal = (np.abs(columns.par[rows] - others) <= TOTAL_TOLERANCE) & (others != 0)
    return np.asarray(rows[is_subtotal], np.int64)


def _borrowers(
    columns: Columns, chosen: NDArray[np.int64], skipped: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | None, int]:
    """The row that each loan takes its borrower from: its own, else the nearest above (merged cells); and how many."""
    if columns.borrower is None:
        return None, 0
    named = columns.borrower.present()
    fillable = np.zeros(len(named), np.bool_)
    for cells in (*columns.identifiers, columns.facility):
        if cells is not None:
            fillable |= cells.present()
    needs = ~named[chosen] & fillable[chosen]
    if not needs.any():
        return None, 0
    named[skipped] = False
    above = np.maximum.accumulate(np.where(named, np.arange(len(named)), -1))
    source = np.where(needs & (above[chosen] >= 0), above[chosen], chosen)
    return source, int(np.count_nonzero(source != chosen))
