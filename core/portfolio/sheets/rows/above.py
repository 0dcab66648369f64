"""Names from headings of groups: companies, and industries, above loans."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import BLANK, Cells, key, spread_out
from core.portfolio.sheets.rows.kinds import RowKinds, industries
from core.portfolio.sheets.rows.no_loans import new_headings
from core.portfolio.sheets.rows.odd import OddRows, RowColumns
from core.portfolio.sheets.rows.vocabulary import only_instrument
from core.portfolio.sheets.rows.words import MARKER, PAGE_TOTAL, RULED, TOTAL, markers, start_of

SAMPLE_ROWS: Final = 2_000
"""Rows by which a column of companies and instruments is known."""

TEXTS_MAX: Final = 50_000
"""Distinct texts of such a column: no pool has as many companies and instruments."""

INSTRUMENTS_MIN: Final = 3
"""Rows with the name of an instrument alone that make a column one of companies and instruments."""

INSTRUMENTS_SHARE: Final = 0.4
"""Their share of the column's texts."""

COMPANY_SHARE: Final = 1 / 15
"""Companies for each instrument, at least."""

TOTALS_MAX: Final = 2_000
"""Totals whose words are compared with the name of the company above."""

HEADINGS_MIN: Final = 2
"""Headings that name industries from which these are the loans' industries."""


def split_column(columns: RowColumns) -> RowColumns | None:
    """Split a column of companies with their instruments below in two.

    "Acme Holdings" over "First lien term loan"; None where there is no such column.
    """
    both = columns.borrower if columns.facility is None else columns.facility if columns.borrower is None else None
    if both is None or not _is_both(columns, both):
        return None
    is_instrument = _instruments(both)
    company, facility = _only(both, ~is_instrument), _only(both, is_instrument)
    types = tuple(facility if cells is both else cells for cells in columns.types) or (facility,)
    return replace(columns, borrower=company, facility=facility, types=types)


def _instruments(cells: Cells) -> NDArray[np.bool_]:
    """Return rows in which a column names an instrument alone."""
    local, used = _parse.distinct(cells.codes, len(cells.pool.text))
    says = [only_instrument(key(start_of(cells.pool.text, code))) for code in used.tolist()]
    return spread_out(np.array(says, np.bool_), False, local)


def _is_both(columns: RowColumns, both: Cells) -> bool:
    """Return whether a column has companies first, then instruments alone.

    By its first rows; nothing else tells the company to be a loan.
    """
    sample = slice(0, SAMPLE_ROWS)
    cells = both.take(sample)
    is_instrument = _instruments(cells)
    header = [codes for named, codes in columns.headers if named is both]
    none = [cells.codes[:0], np.flatnonzero(markers(cells.pool.text)).astype(np.int32), *header]
    is_company = (cells.codes >= 0) & ~is_instrument & ~np.isin(cells.codes, np.concatenate(none))
    count, companies = np.count_nonzero(is_instrument), np.count_nonzero(is_company)
    if count < INSTRUMENTS_MIN or count < INSTRUMENTS_SHARE * (count + companies) or companies < COMPANY_SHARE * count:
        return False
    for named in (*columns.identifiers, columns.maturity):
        if named is not None and (named.take(sample).present() & is_company).any():
            return False
    if len(_parse.distinct(both.codes, len(both.pool.text))[1]) > TEXTS_MAX:
        return False
    return bool(np.argmax(is_company) < np.argmax(is_instrument))


def _only(cells: Cells, rows: NDArray[np.bool_]) -> Cells:
    """Return a column's cells in some rows, blank in the others."""
    return Cells(
        np.where(rows, cells.kinds, np.uint8(BLANK)).astype(np.uint8),
        np.where(rows, cells.numbers, 0.0),
        np.where(rows, cells.codes, np.int32(-1)).astype(np.int32),
        cells.formats,
        cells.pool,
    )


def fill_blanks(own: Cells, cells: Cells) -> Cells:
    """Return a column's cells, where they say nothing another one's."""
    says = own.present()
    return Cells(
        np.where(says, own.kinds, cells.kinds),
        np.where(says, own.numbers, cells.numbers),
        np.where(says, own.codes, cells.codes),
        np.where(says, own.formats, cells.formats),
        own.pool,
    )


def industries_above(
    odd: OddRows, kinds: RowKinds, subtotals: NDArray[np.int64], again: NDArray[np.int64], loan_rows: NDArray[np.int64]
) -> NDArray[np.int32] | None:
    """Return the text code of each loan's industry heading, -1 for none.

    None where no headings name one.

    A subtotal with an industry's name does, too; where the first one stands below loans, it names those above it.

    Args:
        loan_rows: the rows that are loans.
        again: rows of titles of pages.
    """
    heads = industries(odd, kinds.label)
    below = False
    if not heads.any():
        heads = industries(odd, np.isin(odd.rows, subtotals))
        below = bool(heads.any() and len(loan_rows) and loan_rows[0] < odd.rows[np.argmax(heads)])
    if np.count_nonzero(heads) < HEADINGS_MIN or not len(loan_rows):
        return None
    codes = np.where(heads, odd.first_text, np.int32(-1))
    if below:
        place = np.searchsorted(odd.rows[heads], loan_rows)
        return np.append(codes[heads], np.int32(-1))[place]
    ends = heads | other_headings(odd, kinds, again)
    place = np.searchsorted(odd.rows[ends], loan_rows) - 1
    codes_of_loans = np.append(codes[ends], np.int32(-1))[place]
    return codes_of_loans if (codes_of_loans >= 0).any() else None


def other_headings(odd: OddRows, kinds: RowKinds, again: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return headings that end an industry, not the names of companies.

    Those have rows without a name below them.
    """
    at = np.flatnonzero(kinds.label & ~kinds.name)
    is_heading = np.zeros(len(odd.rows), np.bool_)
    is_heading[at] = new_headings(odd, at, again)
    return is_heading


def group_headings(
    odd: OddRows, kinds: RowKinds, again: NDArray[np.int64], borrower: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    """Return headings that begin another group than the one above.

    All but titles of pages, lines of signs and companies with their loans below.

    Args:
        again: rows of titles of pages.
        borrower: the row of each loan's company; None where each stands in the loan's own row.
    """
    heads = kinds.label & ~np.isin(odd.first_text, odd.texts_above()) & ~np.isin(odd.rows, again)
    heads &= ~odd.matches(RULED, whole=True)
    if borrower is not None:
        heads &= ~np.isin(odd.rows, borrower) | industries(odd, kinds.label)
    return heads


def group_totals(
    odd: OddRows, kinds: RowKinds, sums: NDArray[np.int64], names: Cells | None, borrower: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return rows that are totals of a group, not of a page or of a company above.

    Args:
        sums: rows that are sums of others.
        borrower: the row of each loan's company, its own or one above.
    """
    is_worded = odd.matches(MARKER, whole=False) & odd.matches(TOTAL, whole=False)
    totals = np.isin(odd.rows, sums) | (kinds.marker & kinds.par) | (is_worded & ~kinds.par & ~kinds.identified)
    totals &= ~odd.matches(PAGE_TOTAL, whole=False)
    at = np.flatnonzero(totals & (odd.first_text >= 0))
    if names is None or len(at) > TOTALS_MAX:
        return totals
    above = np.searchsorted(borrower, odd.rows[at]) - 1
    for place, company in zip(at[above >= 0].tolist(), names.codes[borrower[above[above >= 0]]].tolist(), strict=True):
        name = key(start_of(names.pool.text, company)) if company >= 0 else ""
        totals[place] = not name or name not in key(odd.text_of(place))
    return totals
