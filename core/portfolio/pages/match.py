"""Match loans with the rows of a page, by identifier, own ids, or name.

All steps take time and memory that grow with the rows of both lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import string_pool, text_cells
from core.portfolio.cells.identifiers import IdentifierIndex, may_be_one
from core.portfolio.cells.loans import Loans
from core.portfolio.cells.text_cells import TextColumn, letters_and_digits
from core.portfolio.model.fields import IDENTIFIERS
from core.portfolio.pages import keys
from core.portfolio.pages.alike import loans_alike, rows_alike
from core.portfolio.pages.identify import add_up, name_keys
from core.portfolio.pages.keys import Pair, together
from core.portfolio.pages.pairing import NEAR_SHARE, Flags, Ints, PairingRule, PairingSide, RowPairs, pair, tolerance

STARTS_MAX: Final = 20_000
"""Rows of a page without a loan up to which the starts of identifiers are tried."""

BY_START: Final = "start of an identifier"
"""What joins rows whose identifiers are cut short on a page."""

ISSUER_SHARE: Final = 1e-6
"""Share by which the par of an issuer's loans may differ from the issuer's own on a page about issuers."""

_OF_FACILITIES: Final = frozenset((
    "price", "purchase_price", "spread", "floor", "all_in_rate", "maturity_date", "facility_size", "unfunded",
))  # fmt: skip
"""Figures that two loans of one issuer do not share: a page with one of them is not about issuers."""

_NAMES: Final = ("borrower_name", "facility_name")


Keys = Callable[[Loans, Loans], Pair | None]
"""The keys of loans and of a page."""


class _Pass(NamedTuple):
    """One way to join rows that are left."""

    how: str
    keys: Keys
    rule: PairingRule


def _both_have_both(loans: Loans, page: Loans) -> bool:
    return all(target in side.texts for target in _NAMES for side in (loans, page))


def _one_name(target: str, *, exact: bool = True) -> Keys:
    """Return keys by one name where the other one is not on both sides."""

    def keys_of(loans: Loans, page: Loans) -> Pair | None:
        return None if _both_have_both(loans, page) else keys.names(loans, page, (target,), exact=exact)

    return keys_of


def _borrower(loans: Loans, page: Loans) -> Pair | None:
    """Return keys by borrower where facilities do not decide which loan is meant."""
    return keys.names(loans, page, ("borrower_name",), exact=False) if _both_have_both(loans, page) else None


_WHOLE: Final = PairingRule(is_whole=True)
_LOOSE: Final = PairingRule(is_whole=True, is_loose=True)
_PART: Final = PairingRule(is_whole=False)
_GENERIC: Final = PairingRule(is_whole=False, is_generic=True)
_PASSES: Final = (
    _Pass("asset_id", keys.asset_ids, _WHOLE),
    _Pass("borrower and facility", lambda loans, page: keys.names(loans, page, _NAMES), _WHOLE),
    _Pass("description", keys.descriptions, _WHOLE),
    _Pass("borrower and facility", lambda loans, page: keys.names(loans, page, _NAMES, exact=False), _LOOSE),
    _Pass("description", lambda loans, page: keys.descriptions(loans, page, exact=False), _LOOSE),
    _Pass("facility", _one_name("facility_name"), _GENERIC),
    _Pass("facility", _one_name("facility_name", exact=False), _GENERIC),
    _Pass("borrower", _one_name("borrower_name"), _PART),
    _Pass("borrower", _one_name("borrower_name", exact=False), _PART),
    _Pass("description", keys.crossed_names, _PART),
    _Pass("beginning of a description", keys.begun_names, _PART),
    _Pass("borrower and par", _borrower, PairingRule(is_whole=False, needs_par=True)),
)
"""What joins rows where no identifier does, most telling first."""


@dataclass(slots=True)
class PageMatch:
    """Which row of a page each loan has."""

    at: Ints
    """-1 for a loan without one."""
    leads: Ints
    """Of each row of the page the one that it is added up with: the first lot; itself for most."""
    ambiguous: Flags
    """Rows that fit several loans, or several of which fit one: joined to none."""
    per_row: float = 0.0
    """Currency units a row by which the par of both may differ: what the page or the loans round away."""
    by: dict[str, int] = field(default_factory=dict)
    """What joined them -> loans: an identifier's target, "start of an identifier", or names."""
    contradictions: int = 0
    """Loans whose identifiers stand on different rows of the page: the first in the order of `KEYS` counts."""

    @property
    def rows(self) -> Flags:
        """Return loans that have a row."""
        return np.asarray(self.at >= 0, np.bool_)

    def take(self, loans: Ints, rows: Ints, how: str) -> None:
        """Give rows to loans that had none."""
        if len(loans):
            self.at[loans] = rows
            self.by[how] = self.by.get(how, 0) + len(loans)


def match(loans: Loans, page: Loans) -> PageMatch:
    """Find the row of a page that speaks of each loan.

    By identifier, whichever column it stands in; then by one that is the start of the other, where only one fits and
    the names agree; then by the file's own ids, by borrower and facility, or by one of them where the other is not on
    both sides. Names join only rows whose identifiers do not differ, and several loans or rows only where par adds up.
    """
    rows = np.arange(page.row_count)
    per_row = tolerance(loans.numbers.get("par_value"), page.numbers.get("par_value"))
    page_match = PageMatch(np.full(loans.row_count, -1, np.int64), rows, np.zeros(page.row_count, np.bool_), per_row)
    own, of_page = _columns(loans, page)
    _by_identifier(own, of_page, page_match)
    contradictions = page_match.contradictions
    if not page_match.rows.all():
        own, of_page = ({target: keys.bare(column) for target, column in side.items()} for side in (own, of_page))
        _by_identifier(own, of_page, page_match)
    page_match.contradictions = contradictions
    _by_start(loans, page, page_match)
    for rule in _PASSES:
        _by_key(loans, page, page_match, rule)
    _by_issuer(loans, page, page_match)
    free = np.zeros(page.row_count, np.bool_)
    free[unused_rows(page_match)] = True
    page_match.ambiguous &= free
    return page_match


def add_up_rows(page: Loans, page_match: PageMatch) -> None:
    """Add up the rows of a page that are lots or contracts of one loan."""
    places = add_up(page, page_match.leads)
    if places is None:
        return
    has = page_match.rows
    page_match.at[has] = places[page_match.at[has]]
    ambiguous = np.zeros(page.row_count, np.bool_)
    ambiguous[places[page_match.ambiguous]] = True
    page_match.ambiguous, page_match.leads = ambiguous, np.arange(page.row_count)


def unused_rows(page_match: PageMatch) -> Ints:
    """Return rows of the page that found no loan, ascending."""
    used = np.zeros(len(page_match.leads), np.bool_)
    used[page_match.at[page_match.rows]] = True
    return np.flatnonzero(~used[page_match.leads])


def strangers(loans: Loans, page: Loans, page_match: PageMatch) -> Ints:
    """Return rows of the page whose loan is none of these.

    By an identifier of a kind that these have, or by a borrower whom these do not name.
    """
    free = unused_rows(page_match)
    own, of_page = _identifiers(loans), _identifiers(page)
    is_other = np.zeros(page.row_count, np.bool_)
    for target in own.keys() & of_page.keys():
        if (own[target].codes >= 0).any():
            is_other |= of_page[target].codes >= 0
    borrower = page.texts.get("borrower_name")
    if borrower is not None and "borrower_name" in loans.texts:
        (mine, its), text = together([name_keys(loans.texts["borrower_name"]), name_keys(borrower)])
        is_known = np.zeros(len(text) + 1, np.bool_)
        is_known[mine[mine >= 0]] = True
        is_other |= (its >= 0) & ~is_known[its]
    return free[is_other[free]]


def _identifiers(loans: Loans) -> dict[str, TextColumn]:
    return {target: loans.texts[target] for target in IDENTIFIERS if target in loans.texts}


def _columns(loans: Loans, page: Loans) -> tuple[dict[str, TextColumn], dict[str, TextColumn]]:
    """Return the ids of both, own asset ids only where each is one loan's.

    None where both only count.
    """
    own, of_page = keys.id_columns(loans), keys.id_columns(page)
    asset = own.get("asset_id")
    if asset is None:
        return own, of_page
    if "asset_id" in of_page and keys.is_counter(asset) and keys.is_counter(of_page["asset_id"]):
        del own["asset_id"], of_page["asset_id"]
        return own, of_page
    often = np.bincount(asset.codes + 1, minlength=len(asset.text) + 1)[1:] > 1
    several = string_pool.spread_out(often, False, asset.codes)
    own["asset_id"] = TextColumn(np.where(several, np.int32(-1), asset.codes), asset.text)
    return own, of_page


def _by_identifier(own: dict[str, TextColumn], text_columns: dict[str, TextColumn], page_match: PageMatch) -> None:
    """Join by identifiers, whichever column they stand in."""
    if not own or not text_columns:
        return
    codes, text = together([*own.values(), *text_columns.values()])
    row_of = np.full(len(text) + 1, -1, np.int64)
    is_twice = np.zeros(len(text) + 1, np.bool_)
    for column in codes[len(own) :]:
        rows = np.flatnonzero(column >= 0)
        known = row_of[column[rows]]
        row_of[column[rows]] = rows
        is_twice[column[rows][(row_of[column[rows]] != rows) | (known >= 0) & (known != rows)]] = True
    row_of[is_twice] = -1
    for target, column in zip(own, codes, strict=False):
        rows = np.where(column >= 0, row_of[column], np.int64(-1))
        page_match.contradictions += int(np.count_nonzero((rows >= 0) & page_match.rows & (rows != page_match.at)))
        fresh = np.flatnonzero((rows >= 0) & ~page_match.rows)
        page_match.take(fresh, rows[fresh], target)


def _by_start(loans: Loans, page: Loans, page_match: PageMatch) -> None:
    """Join rows whose identifiers are spelt otherwise: LX284437 for LX28443T7."""
    free = unused_rows(page_match)
    own, of_page = keys.id_columns(loans), keys.id_columns(page)
    if page_match.rows.all() or not 0 < len(free) <= STARTS_MAX or not own or not of_page:
        return
    codes, text = together(list(own.values()))
    strings = text.strings()
    prints = IdentifierIndex(strings)
    pairs: dict[int, set[int]] = {}
    for row in free.tolist():
        for column in of_page.values():
            written = str(column.text[int(column.codes[row])]) if column.codes[row] >= 0 else ""
            for code in prints.of(written):
                pairs.setdefault(row, set()).add(code)
    single = {row: next(iter(of_row)) for row, of_row in pairs.items() if len(of_row) == 1}
    counts: dict[int, int] = {}
    for code in single.values():
        counts[code] = counts.get(code, 0) + 1
    row_of = np.full(len(strings) + 1, -1, np.int64)
    for row, code in single.items():
        if counts[code] == 1:
            row_of[code] = row
    for of_column in codes:
        rows = np.where(of_column >= 0, row_of[of_column], np.int64(-1))
        fresh = np.flatnonzero((rows >= 0) & ~page_match.rows)
        agrees = _names_agree(loans, page, fresh, rows[fresh])
        page_match.take(fresh[agrees], rows[fresh][agrees], BY_START)


def _names_agree(loans: Loans, page: Loans, at: Ints, rows: Ints) -> Flags:
    """Return pairs of rows with a name in common, or without names the same par."""
    agrees, is_known = np.zeros(len(at), np.bool_), np.zeros(len(at), np.bool_)
    for target in _NAMES:
        if len(at) and target in loans.texts and target in page.texts:
            own, of_page = (
                text_cells.subset(part.texts[target], places) for part, places in ((loans, at), (page, rows))
            )
            (mine, its), _ = together([name_keys(own), name_keys(of_page)])
            both = (mine >= 0) & (its >= 0)
            is_known |= both
            agrees |= both & (mine == its)
    return np.where(is_known, agrees, _par_agrees(loans, page, at, rows))


def _par_agrees(loans: Loans, page: Loans, at: Ints, rows: Ints) -> Flags:
    """Return pairs of rows of the same par."""
    own, of_page = loans.numbers.get("par_value"), page.numbers.get("par_value")
    if own is None or of_page is None:
        return np.zeros(len(at), np.bool_)
    mine, its = own[at], of_page[rows]
    return np.asarray(np.abs(mine - its) <= NEAR_SHARE * np.maximum(np.abs(mine), np.abs(its)), np.bool_)


# ---- own ids and names ---------------------------------------------------------------------------------------------


def _by_key(loans: Loans, page: Loans, page_match: PageMatch, pairing: _Pass) -> None:
    """Join what is left by a key."""
    free = np.zeros(page.row_count, np.bool_)
    free[unused_rows(page_match)] = True
    if not free.any():
        return
    of_key = pairing.keys(loans, page)
    if of_key is None:
        return
    own, of_page = PairingSide(of_key[0], _par(loans), ~page_match.rows), PairingSide(of_key[1], _par(page), free)
    rows_at = np.where(page_match.rows, page_match.leads[page_match.at], -1)
    pairs = pair(
        own,
        of_page,
        rows_at,
        page_match.per_row,
        pairing.rule,
        lambda groups, count: loans_alike(loans, groups, count),
        lambda groups, count: rows_alike(page, groups, count),
    )
    page_match.ambiguous |= pairs.ambiguous
    _take_pairs(loans, page, page_match, pairs, pairing.how)


def _par(loans: Loans) -> NDArray[np.float64]:
    par = loans.numbers.get("par_value")
    return np.full(loans.row_count, np.nan) if par is None else par


def _take_pairs(loans: Loans, page: Loans, page_match: PageMatch, pairs: RowPairs, how: str) -> None:
    """Take pairs but for the groups in which identifiers differ."""
    if not len(pairs.loans):
        return
    differ = _identifiers_differ(loans, page, pairs.loans, pairs.rows)
    agrees = ~np.isin(pairs.groups, pairs.groups[differ])
    at, rows = pairs.loans[agrees], pairs.rows[agrees]
    if not len(at):
        return
    lead = np.full(loans.row_count, page.row_count, np.int64)
    np.minimum.at(lead, at, rows)
    page_match.leads[rows] = lead[at]
    each = np.unique(at)
    fresh = each[page_match.at[each] < 0]
    page_match.at[each] = lead[each]
    page_match.by[how] = page_match.by.get(how, 0) + len(fresh)
    if not page_match.by[how]:
        del page_match.by[how]


def is_about_issuers(page: Loans) -> bool:
    """Return whether a page says nothing that tells loans of one issuer apart."""
    has_ids = any((column.codes >= 0).any() for column in _identifiers(page).values())
    return not has_ids and "facility_name" not in page.texts and _OF_FACILITIES.isdisjoint(page.numbers)


def _by_issuer(loans: Loans, page: Loans, page_match: PageMatch) -> None:
    """Give the rows of a page about issuers to all loans of each."""
    if not is_about_issuers(page) or page_match.rows.all():
        return
    ways = (keys.names(loans, page, ("borrower_name",), exact=False), keys.begun_names(loans, page))
    for of_key in ways:
        if of_key is not None:
            _take_issuers(loans, page, page_match, *of_key)


def _take_issuers(loans: Loans, page: Loans, page_match: PageMatch, mine: Ints, its: Ints) -> None:
    par, sums = loans.numbers.get("par_value"), page.numbers.get("par_value")
    row_of = np.full(int(max(mine.max(initial=-1), its.max(initial=-1))) + 2, -1, np.int64)
    rows = np.flatnonzero(its >= 0)
    row_of[its[rows]] = rows
    row_of[np.flatnonzero(np.bincount(its[rows], minlength=len(row_of)) > 1)] = -1
    fresh = np.flatnonzero(~page_match.rows & (mine >= 0))
    fresh = fresh[row_of[mine[fresh]] >= 0]
    if par is not None and sums is not None:  # the sum of the issuer's loans, or of another day
        total = np.bincount(row_of[mine[fresh]], np.nan_to_num(par[fresh]), page.row_count)
        many = np.bincount(row_of[mine[fresh]], minlength=page.row_count)
        most = np.maximum(ISSUER_SHARE * np.maximum(np.abs(total), 1.0), page_match.per_row * many)
        agrees = np.abs(total - sums) <= most
        fresh = fresh[agrees[row_of[mine[fresh]]]]
    page_match.take(fresh, row_of[mine[fresh]], "borrower of several loans")


def _identifiers_differ(loans: Loans, page: Loans, at: Ints, rows: Ints) -> Flags:
    """Return pairs of rows with different identifiers of one kind, neither cut."""
    differ = np.zeros(len(at), np.bool_)
    own, of_page = _identifiers(loans), _identifiers(page)
    for target in own.keys() & of_page.keys():
        if len(at):
            (mine, its), pool = together([text_cells.subset(own[target], at), text_cells.subset(of_page[target], rows)])
            unlike = np.flatnonzero((mine >= 0) & (its >= 0) & (mine != its))
            for at_pair in unlike.tolist():
                mine_text, its_text = pool[int(mine[at_pair])], pool[int(its[at_pair])]
                differ[at_pair] |= not may_be_one(mine_text, its_text) and letters_and_digits(
                    mine_text
                ) != letters_and_digits(its_text)
    return differ


class RowPar(NamedTuple):
    """Par of the rows that found loans, those that say theirs."""

    of_loans: NDArray[np.float64]
    """What the loans of each row add up to."""
    own: NDArray[np.float64]
    differs: Flags
    """Rows whose par is another than the page's and the loans' rounding explains."""


def par_by_row(loans: Loans, page: Loans, page_match: PageMatch) -> RowPar:
    """Return the par that the loans of each joined row add up to, and the row's.

    Rows without either are left out.
    """
    own, of_page = loans.numbers.get("par_value"), page.numbers.get("par_value")
    if own is None or of_page is None or not page_match.rows.any():
        return RowPar(np.zeros(0), np.zeros(0), np.zeros(0, np.bool_))
    at = page_match.at[page_match.rows]
    sums = np.bincount(at, np.nan_to_num(own[page_match.rows]), page.row_count).astype(np.float64)
    many = np.bincount(at, minlength=page.row_count)
    has_both = (many > 0) & ~np.isnan(of_page)
    lots = many if page.lots is None else np.maximum(many, page.lots)
    differs = np.abs(sums - of_page) > page_match.per_row * lots
    return RowPar(sums[has_both], of_page[has_both], np.asarray(differs[has_both], np.bool_))
