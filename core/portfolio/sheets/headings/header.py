"""Finding the header row of a sheet and what its columns are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.grid.address import column_name
from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import BLANK, TEXT
from core.portfolio.cells.text_cells import plain
from core.portfolio.model.fields import PROFILES, Mapping
from core.portfolio.sheets.headings.feeds import assign_columns, complete
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.matcher import matcher
from core.portfolio.sheets.headings.scan import CELLS_MAX, ROWS_MAX, STACK_MAX, HeaderCandidate, HeaderScan
from core.portfolio.sheets.headings.wording import distinct

DEEP_ROWS_MAX: Final = 1_000
"""Rows in which it is looked for, forty after forty, where those before have none."""

SCORE_MIN: Final = 3
"""Distinct targets that a header row must name."""

UNANCHORED_MIN: Final = 3
"""Distinct targets that a header row must name where the heading of what makes it one is blank."""

SCORE_LOSS_MAX: Final = 1
"""Targets fewer that a header with one row more may name, where that row tells more of its columns."""

PAGE_COLUMNS_MIN: Final = 2
"""Columns that the header of a page must name to add to loans of another sheet: what tells them, and one more."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of any sheet and the rows below it."""

    row: int | None
    """0-based; the lowest one of several; None where no row is a header and the columns go by their letters."""
    names: list[str]
    """One for each column of the sheet, distinct."""
    first_row: int
    """First row of data, 0-based."""
    last_row: int
    """One past the last row with a cell: totals and footers are cells of the sheet like all others."""


def detect(sheet: Sheet) -> Header:
    """Detect any sheet's header: the best standard_clo one, else a row of text.

    Without either `row` is None, the columns are named by their letters, and the data starts at the sheet's first row.
    """
    header = find(sheet, PROFILES["standard_clo"])
    if header is not None:
        return Header(header.row, names(sheet, header), header.row + 1, sheet.row_count)
    row = _first_row(sheet)
    if row is not None and _is_all_text(sheet, row):
        return Header(row, names(sheet, HeaderMatch(row, row, 0)), row + 1, sheet.row_count)
    return Header(None, [column_name(column) for column in range(sheet.column_count)], 0, sheet.row_count)


def find(sheet: Sheet, mapping: Mapping, first: int = 0) -> HeaderMatch | None:
    """Find the best header for a mapping: most targets, then the topmost.

    Up to `STACK_MAX` rows are read as one where that names more than each alone. A row of units or of the columns'
    numbers below belongs to the header. Where the first rows have none, as below a summary on the same sheet, the
    next ones are looked at.

    Args:
        first: the row to begin with.
    """
    cells_left = CELLS_MAX
    for start in range(first, max(first + 1, min(sheet.row_count, first + DEEP_ROWS_MAX)), ROWS_MAX):
        scan = HeaderScan(sheet, matcher(mapping), start, cells_left)
        header = _best_match(scan, min(SCORE_MIN, len(mapping.fields)), frozenset(mapping.anchors))
        if header is not None:
            return header
        cells_left -= scan.cell_count
        if cells_left <= 0:
            break
    return None


def find_page(
    sheet: Sheet,
    mapping: Mapping,
    anchors: frozenset[str] | None,
    first: int = 0,
    rows: int = ROWS_MAX,
    before: int | None = None,
) -> HeaderMatch | None:
    """Find the best header of a sheet that adds to loans of another one.

    It names one of the anchors and one more column's target, auxiliary ones included; None without.

    Args:
        anchors: None for any two columns' targets.
        first: the row to begin with.
        rows: how many are looked at.
        before: the row above which its lowest row must stand.
    """
    scan = HeaderScan(sheet, matcher(mapping), first, rows=rows)
    header = _best_match(scan, PAGE_COLUMNS_MIN, anchors, by_column=True, before=before)
    return header if header is not None and (before is None or header.row < before) else None


def _best_match(
    scan: HeaderScan, least: int, anchors: frozenset[str] | None, *, by_column: bool = False, before: int | None = None
) -> HeaderMatch | None:
    """Return the best candidate's header that has an anchor.

    One whose anchor's own heading is blank or unknown where it names more and stands over the same columns: its cells
    tell the anchor.
    """
    best, wider = _best(scan, least, anchors, by_column=by_column)
    if best is not None and before is not None and best.row >= before:
        return None
    is_open = wider is not None and anchors is not None and scan.aliases.is_of_loans
    if wider is not None and is_open and (best is None or _is_part(best, wider)):
        header = complete(scan, wider)
        if anchors is not None and header.columns.keys() & anchors:
            return header
    return None if best is None else complete(scan, best)


def _is_part(best: HeaderCandidate, wider: HeaderCandidate) -> bool:
    """Return whether a candidate has only some rows of another one that names more."""
    return wider.top <= best.row and best.top <= wider.row and wider.score > best.score + 1


def nearest(sheet: Sheet, mapping: Mapping) -> HeaderMatch | None:
    """Return the row nearest to a header, to say what a sheet without one has."""
    scan = HeaderScan(sheet, matcher(mapping))
    best, _ = _best(scan, 1, None)
    return None if best is None else HeaderMatch(best.row, best.top, best.score, assign_columns(best.feeds), best.texts)


def _best(
    scan: HeaderScan, least: int, anchors: frozenset[str] | None, *, by_column: bool = False
) -> tuple[HeaderCandidate | None, HeaderCandidate | None]:
    """Return the best candidate by score, and the best with many targets.

    By score, then most targets, then the topmost, then, within its rows, the one of fewest rows; the second with
    `UNANCHORED_MIN` targets, anchors or none.

    Args:
        least: the score that it must have; the columns that feed anything, where they are counted `by_column`.
    """
    best: HeaderCandidate | None = None
    candidates: list[HeaderCandidate] = []
    wider: HeaderCandidate | None = None
    for row in scan.rows:
        for height in range(1, min(STACK_MAX, scan.end - row) + 1):
            if height > 1 and scan.has_figures_or_nothing(row + height - 1):
                break
            candidate = scan.stack(row, height)
            if candidate is None:
                break
            candidates.append(candidate)
            if candidate.score >= UNANCHORED_MIN and candidate.is_better(wider):
                wider = candidate
            if (len(candidate.feeds) if by_column else candidate.score) < least:
                continue
            if anchors is not None and not candidate.targets & anchors:
                continue
            if candidate.is_better(best):
                best = candidate
    if best is None:
        return None, wider
    whole = _whole(scan, best, candidates)
    return whole if anchors is None or whole.targets & anchors else None, wider


def _whole(scan: HeaderScan, best: HeaderCandidate, candidates: Sequence[HeaderCandidate]) -> HeaderCandidate:
    """Add upper rows that the heading's own words left out.

    They tell more of its columns, though fewer fields.

    "S&P" over "Issuer" names one field, where the bare word could be another one as well.
    """
    for candidate in candidates:
        # What stands below "Prior" or "Original" feeds nothing.
        fewer = SCORE_LOSS_MAX if candidate.is_dated else 0
        if candidate.row == best.row and candidate.top < best.top and len(candidate.feeds) >= len(best.feeds) - fewer:
            is_wrapped = len(candidate.targets) > len(best.targets) and candidate.score >= best.score - SCORE_LOSS_MAX
            if scan.is_below_agencies(candidate) or (is_wrapped and scan.is_wordy(candidate.top)):
                best = candidate
    for candidate in candidates:
        is_near = (
            candidate.row == best.row + 1
            and candidate.top == best.top
            and candidate.score >= best.score - SCORE_LOSS_MAX
        )
        if is_near and len(candidate.feeds) > len(best.feeds) and scan.is_wordy(candidate.row):
            best = candidate
    return best


def names(sheet: Sheet, header: HeaderMatch) -> list[str]:
    """Return the columns' names, distinct: "Column N" for blank, " (2)" for seconds."""
    return list(distinct(_heading_text(sheet, header, column) for column in range(sheet.column_count)))


def _heading_text(sheet: Sheet, header: HeaderMatch, column: int) -> str:
    text = header.texts.get(column)
    if text is not None:
        return text
    cell = sheet.value(header.named_row, column)
    return "" if cell is None else plain(cell) if isinstance(cell, float) else str(cell)


def _first_row(sheet: Sheet) -> int | None:
    """Return the first row with a cell that is not blank."""
    first: int | None = None
    for stored in sheet.columns:
        if stored is not None and (first is None or stored.start < first):
            filled = stored.kinds != BLANK
            at = int(np.argmax(filled)) if len(filled) else 0
            if len(filled) and filled[at] and (first is None or stored.start + at < first):
                first = stored.start + at
    return first


def _is_all_text(sheet: Sheet, row: int) -> bool:
    return all(sheet.kind(row, column) in (BLANK, TEXT) for column in range(sheet.column_count))
