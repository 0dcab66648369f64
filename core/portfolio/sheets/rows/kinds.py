"""Name each row that is not plainly a loan: blank, header, total, heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import spread_out
from core.portfolio.sheets.headings.scan import STACK_MAX
from core.portfolio.sheets.rows import words
from core.portfolio.sheets.rows.odd import OddRows, RowColumns, RowMarks, called_total_of, has_words, repeats_header
from core.portfolio.sheets.rows.sums import SumDoubt, running_sums
from core.portfolio.sheets.rows.total_names import companies
from core.portfolio.sheets.rows.vocabulary import is_industry

HEADING_CELLS_MAX: Final = 3
"""Cells of a group's heading: its name, and figures such as a share of net assets."""

HEADINGS_MAX: Final = 20_000
"""Distinct headings that are looked at for industries: no list has as many."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class RowKinds:
    """What each odd row is; masks over `OddRows.rows`."""

    par: Mask
    name: Mask
    identified: Mask
    detail: Mask
    cash: Mask
    thin: Mask
    """What `RowMarks` says of these rows."""
    blank: Mask
    header: Mask
    """The header again."""
    marker: Mask
    """A total or a footer by its words."""
    label: Mask
    """Words that name no loan: a heading, the rest of a header, a page's title."""
    solid: Mask
    """Neither of these."""
    rest: Mask
    """With a par, and no cash: a loan, or the sum of some."""
    footer: Mask
    page_title: Mask
    """Words for a further part of the pool."""
    called_total: Mask
    others: NDArray[np.int64]
    """Places among the odd rows of another table's headers."""
    like_total: Mask
    """Loans of a company whose name begins as a total's row does."""


def kinds_of(columns: RowColumns, odd: OddRows, has: RowMarks) -> RowKinds:
    """Name each odd row."""
    rows = odd.rows
    par, name, identified, detail, cash, thin = (
        mask[rows] for mask in (has.par, has.name, has.identifier, has.detail, has.cash, has.thin)
    )
    blank = odd.filled == 0
    header = repeats_header(columns, rows)
    if columns.par is not None:
        header &= ~par
    same, unlike = odd.headers(~par & ~header, columns.places)
    header[same] = True
    others = _without_upper_rows(header, rows, np.array(unlike, np.int64))
    called_total = _called_total(columns, odd)
    bare = called_total & ~identified
    wordy = odd.matches(words.MARKER, whole=False) & (~detail | thin) & (odd.texts <= 1) & (columns.has_detail | ~par)
    footer = odd.matches(words.FOOTER, whole=False) | odd.matches(words.PAGE, whole=True, codes=odd.last_text)
    footer &= ~par if columns.par is not None else ~(name & detail)
    called = (bare | wordy | footer) & ~blank & ~header
    counted = _counted(has, rows, called | header)
    like_total = companies(columns, odd, wordy & ~bare & ~footer & par, bare, counted)
    marker = called & ~like_total
    is_ruled = odd.matches(words.RULED, whole=True) & (odd.texts == odd.filled)
    is_words = (odd.texts == odd.filled) & ~blank & (is_ruled | ~par & ~name & ~detail)
    is_alone = (odd.filled == 1) & (odd.texts == 1)
    if columns.par is None:  # an identifier alone names a loan
        is_alone &= ~identified | has_words(columns, odd)
    label = (is_alone | is_words) & ~marker & ~header
    label |= _headings(columns, odd, par, detail, name) & ~marker & ~header
    solid = ~(blank | header | marker | label)
    titles = odd.matches(words.POOL_TITLE, whole=True) & ~odd.matches(words.NOT_POOL, whole=True)
    return RowKinds(
        par,
        name,
        identified,
        detail,
        cash,
        thin,
        blank,
        header,
        marker,
        label,
        solid,
        par & solid & ~cash,
        footer,
        titles,
        called_total,
        others,
        like_total,
    )


def _counted(has: RowMarks, rows: NDArray[np.int64], left_out: Mask) -> Mask:
    """Return the rows of the sheet with a par, without some odd ones."""
    counted = has.par & ~has.cash
    counted[rows[left_out]] = False
    return counted


def _without_upper_rows(header: Mask, rows: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Drop headers of other tables that are this one's own upper rows."""
    goes_on = np.zeros(len(places), np.bool_)
    for distance in range(1, STACK_MAX):
        below = np.minimum(places + distance, len(rows) - 1)
        goes_on |= header[below] & (rows[below] == rows[places] + distance)
    return places[~goes_on]


def _called_total(columns: RowColumns, odd: OddRows) -> Mask:
    """Return rows called total, but for loans such as Total Safety's.

    Their row says more.
    """
    called = odd.matches(words.BARE, whole=True)
    for named in (columns.borrower, columns.facility, *columns.identifiers):
        if named is not None:  # the first text may be the deal's name, as on every row
            called |= odd.matches(words.BARE, whole=True, codes=named.codes[odd.rows])
    called |= _summaries(columns, odd)
    return called & ~(odd.matches(words.SUMMARY, whole=True) & (odd.texts >= COMPANY_TEXTS_MIN))


COMPANY_TEXTS_MIN: Final = 4
"""Texts of a row from which "Median" is a company: with a rating, a country and a lien, which no statistic has."""


def _summaries(columns: RowColumns, odd: OddRows) -> Mask:
    """Return rows with a summary's word for an identifier, or for their only name."""
    names = [named.codes[odd.rows] for named in (columns.borrower, columns.facility) if named is not None]
    is_one_name = np.sum([codes >= 0 for codes in names], axis=0) == (1 if len(names) > 1 else 0)
    called = np.zeros(len(odd.rows), np.bool_)
    for codes in names:
        called |= is_one_name & odd.matches(words.SUMMARY, whole=True, codes=codes)
    for identifiers in columns.identifiers:
        called |= odd.matches(words.SUMMARY, whole=True, codes=identifiers.codes[odd.rows])
    return called


def _headings(columns: RowColumns, odd: OddRows, par: Mask, detail: Mask, name: Mask) -> Mask:
    """Return rows with one text, without par, that head a group.

    In spite of a figure beside it, such as its share of net assets: the next row that says anything has no name of its
    own, or the text is an industry.
    """
    may_be: Mask = ~par & ~detail & (odd.texts == 1) & (odd.filled > 1) & (odd.filled <= HEADING_CELLS_MAX)
    if columns.par is None or not may_be.any():
        return np.zeros(len(may_be), np.bool_)
    filled = np.flatnonzero(odd.filled > 0)
    after = np.append(filled, len(may_be))[np.searchsorted(filled, np.arange(len(may_be)), side="right")]
    goes_on = np.append(par & detail & ~name, False)[after]
    goes_on &= np.append(odd.rows, -1)[after] == odd.rows + 1
    return np.asarray(may_be & (goes_on & name | industries(odd, may_be)), np.bool_)


def industries(odd: OddRows, among: Mask) -> Mask:
    """Return which of some rows with one text have the name of an industry."""
    local, used = _parse.distinct(np.where(among & (odd.texts == 1), odd.first_text, np.int32(-1)), len(odd.text))
    if len(used) > HEADINGS_MAX:
        return np.zeros(len(among), np.bool_)
    says = [is_industry(words.start_of(odd.text, code)) for code in used.tolist()]
    return spread_out(np.array(says, np.bool_), False, local)


def doubt_of(columns: RowColumns, odd: OddRows, kinds: RowKinds) -> SumDoubt:
    """Return the rows with a par that may be a sum of others."""
    rows, rest, name = odd.rows, kinds.rest, kinds.name
    detail = kinds.detail & ~kinds.thin
    # A total may have the number of loans in a column of identifiers; its sum tells it from a company of that name.
    described = kinds.identified & (odd.texts == 1) & (has_words(columns, odd) & ~name | called_total_of(columns, odd))
    # An id or a facility makes a nameless row a loan under a merged issuer, a date or a word one without a name.
    nameless = rest & ~name & ~detail
    height = int(rows[-1]) + 1 if columns.par is None else len(columns.par)
    averaged = rest & ~kinds.identified & running_sums(columns, height)[rows]
    return SumDoubt(
        markers=rows[kinds.marker],
        nameless=rows[nameless],
        elsewhere=rows[nameless & (odd.texts > 0)],
        lone=rows[nameless & (odd.texts == 0)],
        bare_names=rows[rest & name & ~detail & (kinds.thin | _says_little(columns, odd, rest))],
        described=rows[rest & described],
        doubtful=rows[rest & detail & (kinds.called_total | described | averaged)],
        labels=rows[kinds.label],
    )


def _says_little(columns: RowColumns, odd: OddRows, rest: Mask) -> Mask:
    """Return rows that lack what tells of a loan, or a text that most have."""
    if columns.has_detail:
        return np.ones(len(rest), np.bool_)
    usual = int(np.median(odd.texts[rest])) if rest.any() else 0
    return np.asarray(odd.texts < usual, np.bool_)
