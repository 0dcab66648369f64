"""Rows of one list of loans to those of another, by identifier or name, and the columns that follow them.

All steps take time and memory that grow with the rows of both lists: a key that stands on several rows of the page
joins nothing, so no row meets more than one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Mapping as Dict
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse, parsing
from core.portfolio.cells.identifiers import Prints, may_be_one
from core.portfolio.cells.loans import UNSAID, Loans
from core.portfolio.cells.parsing import (
    NO_TEXT,
    Scalar,
    TextColumn,
    key,
    letters_and_digits,
    spread_out,
)
from core.portfolio.cells.typed import blank_column, either
from core.portfolio.model.fields import IDENTIFIERS, Lien
from core.portfolio.pages.identify import SUMMED, name_keys

STARTS_MAX: Final = 20_000
"""Rows of a page without a loan up to which the starts of identifiers are tried."""

PAR_SHARE: Final = 0.01
"""Share by which the par of two rows may differ that a name alone joins."""

EQUAL_SHARE: Final = 1e-6
"""Share by which two figures for one field may differ without being a conflict."""

_NAMES: Final = (("borrower_name", "facility_name"), ("facility_name",), ("borrower_name",))
"""What joins rows where no identifier does, most telling first."""

BY_START: Final = "start of an identifier"
"""What joins rows whose identifiers are cut short on a page."""

_OF_FACILITIES: Final = frozenset((
    "price", "purchase_price", "spread", "floor", "all_in_rate", "maturity_date", "facility_size", "unfunded",
))  # fmt: skip
"""Figures that two loans of one issuer do not share: a page with one of them is not about issuers."""

_UNCOMPARED: Final = frozenset((*IDENTIFIERS, "borrower_name", "facility_name", "issuer_id", "base_rate"))
"""Texts that pages spell differently: a difference is no conflict."""

BY_HEADER: Final = frozenset(("industry", "recovery_rate", "rating"))
"""Fields that mean another thing under another header: a blank is not filled from there."""


@dataclass(slots=True)
class Match:
    """Which row of a page each loan has."""

    at: NDArray[np.int64]
    """-1 for a loan without one."""
    by: dict[str, int] = field(default_factory=dict)
    """What joined them -> loans: an identifier's target, "start of an identifier", or names."""
    contradictions: int = 0
    """Loans whose identifiers stand on different rows of the page: the first in the order of `IDENTIFIERS` counts."""

    @property
    def rows(self) -> NDArray[np.bool_]:
        """Loans that have a row."""
        return np.asarray(self.at >= 0, np.bool_)

    def take(self, loans: NDArray[np.int64], rows: NDArray[np.int64], how: str) -> None:
        """Give rows to loans that had none."""
        if len(loans):
            self.at[loans] = rows
            self.by[how] = self.by.get(how, 0) + len(loans)


def together(columns: Sequence[TextColumn]) -> tuple[list[NDArray[np.int32]], Text]:
    """The codes of some columns into one pool, in which equal strings are one."""
    offsets, data, codes = [np.zeros(1, np.int64)], [], []
    count, size = 0, 0
    for column in columns:
        text = column.text
        codes.append(np.where(column.codes >= 0, column.codes + np.int32(count), np.int32(-1)))
        offsets.append(text.offsets[1:] - text.offsets[0] + size)
        data.append(text.data[text.offsets[0] : text.offsets[-1]])
        count += len(text)
        size += int(text.offsets[-1] - text.offsets[0])
    local, used = _parse.distinct(np.concatenate(codes), count)
    table, ends, signs = _parse.clean(np.concatenate(offsets), np.concatenate(data), used, False, False)
    merged = spread_out(table, -1, local)
    stops = np.cumsum([len(one) for one in codes])[:-1]
    return list(np.split(merged, stops)), Text(ends, signs)


# ---- rows ----------------------------------------------------------------------------------------------------------


def match(loans: Loans, page: Loans) -> Match:
    """The row of a page that speaks of each loan.

    By identifier, whichever column it stands in; then by one that is the start of the other, where only one fits and
    the names agree; then by borrower and facility, or one of them where the other is not on both sides. Names join only
    rows whose identifiers do not differ, and one name alone only rows of the same par.
    """
    found = Match(np.full(loans.row_count, -1, np.int64))
    _by_identifier(_columns(loans), _columns(page), found)
    contradictions = found.contradictions
    _by_identifier(*_bare_columns(loans, page, found), found)
    found.contradictions = contradictions
    _by_start(loans, page, found)
    for names in _NAMES:
        _by_name(loans, page, found, names)
    _by_issuer(loans, page, found)
    return found


def unused(found: Match, page: Loans) -> NDArray[np.int64]:
    """Rows of the page that found no loan, ascending."""
    used = np.zeros(page.row_count, np.bool_)
    used[found.at[found.rows]] = True
    return np.flatnonzero(~used)


def strangers(loans: Loans, page: Loans, found: Match) -> NDArray[np.int64]:
    """Rows of the page that found no loan, and whose loan is none of these: by an identifier of a kind that these have,
    or by a borrower whom these do not name.
    """
    free = unused(found, page)
    own, other = _columns(loans), _columns(page)
    is_other = np.zeros(page.row_count, np.bool_)
    for target in own.keys() & other.keys():
        if (own[target].codes >= 0).any():
            is_other |= other[target].codes >= 0
    borrower = page.texts.get("borrower_name")
    if borrower is not None and "borrower_name" in loans.texts:
        (mine, its), text = together([name_keys(loans.texts["borrower_name"]), name_keys(borrower)])
        is_known = np.zeros(len(text) + 1, np.bool_)
        is_known[mine[mine >= 0]] = True
        is_other |= (its >= 0) & ~is_known[its]
    return free[is_other[free]]


def _columns(loans: Loans) -> dict[str, TextColumn]:
    return {target: loans.texts[target] for target in IDENTIFIERS if target in loans.texts}


def _bare_columns(loans: Loans, page: Loans, found: Match) -> tuple[dict[str, TextColumn], dict[str, TextColumn]]:
    """The identifiers of both by their letters and digits, without those that several identifiers of the loans or of
    the page share; none where no row is left to be joined."""
    if found.rows.all():
        return {}, {}
    own, other = _columns(loans), _columns(page)
    return {target: _bare(own[target]) for target in own}, {target: _bare(other[target]) for target in other}


def _bare(column: TextColumn) -> TextColumn:
    used = np.unique(column.codes[column.codes >= 0])
    (own,), text = together([TextColumn(used, parsing.bare(column.text))])
    counts = np.bincount(own[own >= 0], minlength=len(text))
    single = np.where((own >= 0) & (counts[own] == 1), own, np.int32(-1))
    table = np.full(len(column.text) + 1, -1, np.int32)
    table[used] = single
    return TextColumn(table[column.codes], text)


def _by_identifier(own: dict[str, TextColumn], other: dict[str, TextColumn], found: Match) -> None:
    """Join by identifiers, whichever column they stand in."""
    if not own or not other:
        return
    codes, text = together([*own.values(), *other.values()])
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
        found.contradictions += int(np.count_nonzero((rows >= 0) & found.rows & (rows != found.at)))
        fresh = np.flatnonzero((rows >= 0) & ~found.rows)
        found.take(fresh, rows[fresh], target)


def _by_start(loans: Loans, page: Loans, found: Match) -> None:
    """Join rows whose identifiers are printed in another way: XS2250154 for XS2250154494, LX284437 for LX28443T7."""
    free = unused(found, page)
    own, other = _columns(loans), _columns(page)
    if found.rows.all() or not 0 < len(free) <= STARTS_MAX or not own or not other:
        return
    codes, text = together(list(own.values()))
    strings = text.strings()
    prints = Prints(strings)
    pairs: dict[int, set[int]] = {}
    for row in free.tolist():
        for column in other.values():
            written = str(column.text[int(column.codes[row])]) if column.codes[row] >= 0 else ""
            for code in prints.of(written):
                pairs.setdefault(row, set()).add(code)
    single = {row: next(iter(of_row)) for row, of_row in pairs.items() if len(of_row) == 1}
    taken: dict[int, int] = {}
    for code in single.values():
        taken[code] = taken.get(code, 0) + 1
    row_of = np.full(len(strings) + 1, -1, np.int64)
    for row, code in single.items():
        if taken[code] == 1:
            row_of[code] = row
    for of_column in codes:
        rows = np.where(of_column >= 0, row_of[of_column], np.int64(-1))
        fresh = np.flatnonzero((rows >= 0) & ~found.rows)
        agrees = _names_agree(loans, page, fresh, rows[fresh])
        found.take(fresh[agrees], rows[fresh][agrees], BY_START)


def _names_agree(loans: Loans, page: Loans, at: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pairs of rows that have a name in common; without names on both sides the same par."""
    agrees, said = np.zeros(len(at), np.bool_), np.zeros(len(at), np.bool_)
    for target in ("borrower_name", "facility_name"):
        if len(at) and target in loans.texts and target in page.texts:
            own, other = (parsing.subset(one.texts[target], places) for one, places in ((loans, at), (page, rows)))
            (mine, its), _ = together([name_keys(own), name_keys(other)])
            both = (mine >= 0) & (its >= 0)
            said |= both
            agrees |= both & (mine == its)
    return np.where(said, agrees, _par_agrees(loans, page, at, rows, unsaid=False))


def _par_agrees(
    loans: Loans, page: Loans, at: NDArray[np.int64], rows: NDArray[np.int64], *, unsaid: bool
) -> NDArray[np.bool_]:
    """Pairs of rows of the same par; `unsaid` where one of them has none."""
    own, other = loans.numbers.get("par_value"), page.numbers.get("par_value")
    if own is None or other is None:
        return np.full(len(at), unsaid)
    mine, its = own[at], other[rows]
    alike = np.abs(mine - its) <= PAR_SHARE * np.maximum(np.abs(mine), np.abs(its))
    return np.where(np.isnan(mine) | np.isnan(its), unsaid, alike)


def _by_name(loans: Loans, page: Loans, found: Match, names: tuple[str, ...]) -> None:
    """Join what is left by names that stand on one row of the page."""
    free = unused(found, page)
    rest = np.flatnonzero(~found.rows)
    on_both = {target for target in _NAMES[0] if target in loans.texts and target in page.texts}
    if not len(free) or not len(rest) or not set(names) <= on_both or (len(names) == 1 and len(on_both) > 1):
        return
    own, other, count = np.zeros(loans.row_count, np.int64), np.zeros(page.row_count, np.int64), 1
    for target in names:
        (mine, its), text = together([name_keys(loans.texts[target]), name_keys(page.texts[target])])
        count = len(text) + 1
        own = np.where((own < 0) | (mine < 0), np.int64(-1), own * count + mine)
        other = np.where((other < 0) | (its < 0), np.int64(-1), other * count + its)
    distinct, first, many = np.unique(other, return_index=True, return_counts=True)
    usable = (many == 1) & (distinct >= 0) & np.isin(first, free)
    if len(names) == 1:
        mine, often = np.unique(own, return_counts=True)
        usable &= np.isin(distinct, mine[often == 1])
    if not usable.any():
        return
    distinct, first = distinct[usable], first[usable]
    place = np.minimum(np.searchsorted(distinct, own[rest]), len(distinct) - 1)
    fits = distinct[place] == own[rest]
    at, rows = rest[fits], first[place[fits]]
    agrees = ~_identifiers_differ(loans, page, at, rows)
    if len(names) == 1:
        agrees &= _par_agrees(loans, page, at, rows, unsaid=True)
    found.take(at[agrees], rows[agrees], " and ".join(name.removesuffix("_name") for name in names))


def _by_issuer(loans: Loans, page: Loans, found: Match) -> None:
    """Give the rows of a page about issuers, none about a facility, to all loans of each."""
    own, other = loans.texts.get("borrower_name"), page.texts.get("borrower_name")
    if own is None or other is None or not _OF_FACILITIES.isdisjoint(page.numbers):
        return
    par, sums = loans.numbers.get("par_value"), page.numbers.get("par_value")
    if "facility_name" in page.texts or any((column.codes >= 0).any() for column in _columns(page).values()):
        return
    (mine, its), text = together([name_keys(own), name_keys(other)])
    row_of = np.full(len(text) + 1, -1, np.int64)
    rows = np.flatnonzero(its >= 0)
    row_of[its[rows]] = rows
    row_of[np.flatnonzero(np.bincount(its[rows], minlength=len(text) + 1) > 1)] = -1
    fresh = np.flatnonzero(~found.rows & (mine >= 0))
    fresh = fresh[row_of[mine[fresh]] >= 0]
    if par is not None and sums is not None:  # the sum of the issuer's loans, or of another day
        total = np.bincount(row_of[mine[fresh]], np.nan_to_num(par[fresh]), page.row_count)
        agrees = np.abs(total - sums) <= EQUAL_SHARE * np.maximum(np.abs(total), 1.0)
        fresh = fresh[agrees[row_of[mine[fresh]]]]
    found.take(fresh, row_of[mine[fresh]], "borrower of several loans")


def _identifiers_differ(loans: Loans, page: Loans, at: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Pairs of rows that have different identifiers of one kind, neither of them the start of the other."""
    differ = np.zeros(len(at), np.bool_)
    own, other = _columns(loans), _columns(page)
    for target in own.keys() & other.keys():
        if len(at):
            (mine, its), pool = together([parsing.subset(own[target], at), parsing.subset(other[target], rows)])
            unlike = np.flatnonzero((mine >= 0) & (its >= 0) & (mine != its))
            for pair in unlike.tolist():
                one, two = pool[int(mine[pair])], pool[int(its[pair])]
                differ[pair] |= not may_be_one(one, two) and letters_and_digits(one) != letters_and_digits(two)
    return differ


def par_by_row(loans: Loans, page: Loans, found: Match) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The par that the loans of each joined row add up to, and the row's own; rows without either are left out."""
    own, other = loans.numbers.get("par_value"), page.numbers.get("par_value")
    if own is None or other is None or not found.rows.any():
        return np.zeros(0), np.zeros(0)
    at = found.at[found.rows]
    sums = np.bincount(at, np.nan_to_num(own[found.rows]), page.row_count).astype(np.float64)
    said = (np.bincount(at, minlength=page.row_count) > 0) & ~np.isnan(other)
    return sums[said], other[said]


# ---- columns -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Widened:
    """What a page gave to the loans."""

    taken: list[str] = field(default_factory=list)
    """Fields that the loans did not have."""
    filled: dict[str, int] = field(default_factory=dict)
    """Field -> blanks filled."""
    conflicts: dict[str, int] = field(default_factory=dict)
    """Field -> loans for which both say something, and not the same; the loans' own counts."""


def widen(loans: Loans, page: Loans, found: Match, *, unlike: Iterable[str] = ()) -> Widened:
    """Give the loans what the page says of them: fields that they lack, and what is blank of the others.

    Par stays the loans' own. Amounts that lots add up go to the first loan of a row.

    Args:
        unlike: fields whose column has another meaning on the page: neither compared nor filled.
    """
    widened, skipped = Widened(), frozenset(unlike)
    at, has = found.at, found.rows
    firsts = np.zeros(loans.row_count, np.bool_)
    firsts[np.flatnonzero(has)[np.unique(at[has], return_index=True)[1]]] = True

    def spread(values: NDArray[Scalar], blank: float) -> NDArray[Scalar]:
        return spread_out(values, blank, np.asarray(at, np.int32))

    for target, values in page.numbers.items():
        if target == "par_value" or target in skipped:
            continue
        figures = spread(values, np.nan)
        if target in SUMMED:
            figures = np.where(firsts, figures, np.nan)
        loans.numbers[target] = _merged(widened, target, loans.numbers.get(target), figures, np.isnan, _figures_differ)
    for target in page.ranks.keys() - skipped:
        _take_ranks(loans, page, target, widened, spread)
    for target in page.texts.keys() - page.ranks.keys() - skipped:
        if target in IDENTIFIERS and not (page.texts[target].codes >= 0).any():
            continue  # all were of another kind
        _take_text(loans, page.texts[target], target, widened, spread)
    for target in page.flags.keys() - skipped:
        loans.flags[target] = _merged(
            widened, target, loans.flags.get(target), spread(page.flags[target], UNSAID), lambda one: one == UNSAID,
            np.not_equal,
        )  # fmt: skip
    if page.lien is not None and "lien_type" not in skipped:
        loans.lien = _merged(
            widened, "lien_type", loans.lien, spread(page.lien, Lien.BLANK), lambda one: one == Lien.BLANK, np.not_equal
        )
    if page.coupon_fixed is not None and "coupon_type" not in skipped:
        loans.coupon_fixed = _merged(
            widened, "coupon_type", loans.coupon_fixed, spread(page.coupon_fixed, -1), lambda one: one < 0, np.not_equal
        )
    for target in page.categories.keys() - skipped:
        codes, names = page.categories[target]
        _take_category(loans, target, spread(codes, -1), names, widened)
    for target in page.ruled.keys() - skipped:
        other, mine = page.ruled[target].take(at), loans.ruled.get(target)
        loans.ruled[target] = other if mine is None else either(~mine.blank(), mine, other)
    return widened


def _count(counts: dict[str, int], target: str, rows: NDArray[np.bool_]) -> None:
    if count := int(np.count_nonzero(rows)):
        counts[target] = counts.get(target, 0) + count


def _figures_differ(mine: NDArray[np.float64], its: NDArray[np.float64]) -> NDArray[np.bool_]:
    size = np.maximum(np.maximum(np.abs(mine), np.abs(its)), 1.0)
    return np.asarray(np.abs(mine - its) > EQUAL_SHARE * size, np.bool_)


def _merged(
    widened: Widened,
    target: str,
    own: NDArray[Scalar] | None,
    other: NDArray[Scalar],
    blank: Callable[[NDArray[Scalar]], NDArray[np.bool_]],
    differ: Callable[[NDArray[Scalar], NDArray[Scalar]], NDArray[np.bool_]],
) -> NDArray[Scalar]:
    """A column of the loans with its blanks filled from the page's, which is already spread over the loans."""
    if own is None:
        widened.taken.append(target)
        return other
    said = ~blank(other)
    both = said & ~blank(own)
    conflicting = np.zeros(len(own), np.bool_)
    conflicting[both] = differ(own[both], other[both])
    _count(widened.conflicts, target, conflicting)
    fill = said & blank(own)
    _count(widened.filled, target, fill)
    return np.where(fill, other, own) if fill.any() else own


def _take_ranks(
    loans: Loans, page: Loans, target: str, widened: Widened, spread: Callable[[NDArray[Any], float], NDArray[Any]]
) -> None:
    """A rating with its symbol: a blank is one without a symbol, a masked one is none."""
    ranks, text = spread(page.ranks[target], 0), page.texts.get(target)
    codes = None if text is None else spread(text.codes, -1)
    if target not in loans.ranks:
        widened.taken.append(target)
        loans.ranks[target] = ranks
        if text is not None and codes is not None:
            loans.texts[target] = TextColumn(codes, text.text)
        return
    own, symbols = loans.ranks[target], loans.texts.get(target)
    _count(widened.conflicts, target, (own > 0) & (ranks > 0) & (own != ranks))
    fill = (own == 0) & (ranks > 0)
    if symbols is not None:
        fill &= symbols.codes < 0
    if not fill.any():
        return
    _count(widened.filled, target, fill)
    loans.ranks[target] = np.where(fill, ranks, own)
    if symbols is not None and text is not None and codes is not None:
        (mine, its), pool = together([symbols, TextColumn(codes, text.text)])
        loans.texts[target] = TextColumn(np.where(fill, its, mine), pool)


def _take_text(
    loans: Loans,
    column: TextColumn,
    target: str,
    widened: Widened,
    spread: Callable[[NDArray[Any], float], NDArray[Any]],
) -> None:
    other, own = TextColumn(spread(column.codes, -1), column.text), loans.texts.get(target)
    if own is None:
        widened.taken.append(target)
        loans.texts[target] = other
        return
    (mine, its), pool = together([own, other])
    if target not in _UNCOMPARED:
        differ = np.flatnonzero((mine >= 0) & (its >= 0) & (mine != its))
        if len(differ):
            said = {code: _meaning(target, pool[code]) for code in np.unique((mine[differ], its[differ])).tolist()}
            unlike = [
                said[one] != said[two] for one, two in zip(mine[differ].tolist(), its[differ].tolist(), strict=True)
            ]
            _count(widened.conflicts, target, np.array(unlike, np.bool_))
    fill = (mine < 0) & (its >= 0)
    _count(widened.filled, target, fill)
    if fill.any():
        loans.texts[target] = TextColumn(np.where(fill, its, mine), pool)


def _meaning(target: str, text: str) -> str:
    """What a text says, for comparison."""
    if target == "country":
        return parsing.country(text)
    return parsing.currency(text) if target == "currency" else key(text) or text


def _take_category(
    loans: Loans, target: str, codes: NDArray[np.int32], values: tuple[str, ...], widened: Widened
) -> None:
    """Names that are canonical already."""
    if target not in loans.categories:
        widened.taken.append(target)
        loans.categories[target] = (codes, values)
        return
    own, known = loans.categories[target]
    names, (mine, its) = _one_list((known, values), (own, codes))
    differ = np.not_equal if target not in _UNCOMPARED else lambda one, two: np.zeros(len(one), np.bool_)
    loans.categories[target] = (_merged(widened, target, mine, its, lambda one: one < 0, differ), names)


def _one_list(
    lists: Sequence[tuple[str, ...]], codes: Sequence[NDArray[np.int32]]
) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """Codes into several lists of names as codes into one."""
    names = tuple(sorted(set().union(*lists)))
    place = {name: at for at, name in enumerate(names)}
    tables = [np.array([place[name] for name in of], np.int32) for of in lists]
    return names, [spread_out(table, -1, one) for table, one in zip(tables, codes, strict=True)]


# ---- more loans ----------------------------------------------------------------------------------------------------


def append(loans: Loans, more: Loans) -> None:
    """Put the rows of another sheet below the loans; a field that one of them lacks is blank there."""
    low, high = loans.row_count, more.row_count
    loans.numbers = _below(loans.numbers, more.numbers, low, high, np.nan, np.float64)
    loans.flags = _below(loans.flags, more.flags, low, high, UNSAID, np.uint8)
    loans.ranks = _below(loans.ranks, more.ranks, low, high, 0, np.uint8)
    texts: dict[str, TextColumn] = {}
    for target in loans.texts.keys() | more.texts.keys():
        columns = [
            one.texts.get(target, TextColumn(np.full(one.row_count, -1, np.int32), NO_TEXT)) for one in (loans, more)
        ]
        codes, pool = together(columns)
        texts[target] = TextColumn(np.concatenate(codes), pool)
    loans.texts = texts
    for target in loans.categories.keys() | more.categories.keys():
        parts = [one.categories.get(target, (np.full(one.row_count, -1, np.int32), ())) for one in (loans, more)]
        names, listed = _one_list([values for _, values in parts], [one for one, _ in parts])
        loans.categories[target] = (np.concatenate(listed), names)
    loans.lien = _column_below(loans.lien, more.lien, low, high, Lien.BLANK, np.uint8)
    loans.coupon_fixed = _column_below(loans.coupon_fixed, more.coupon_fixed, low, high, -1, np.int8)
    places = np.arange(low + high)
    for target, column in (loans.ruled | more.ruled).items():
        own, its = (one.ruled.get(target, blank_column(column.type, one.row_count)) for one in (loans, more))
        above, below = np.where(places < low, places, -1), np.where(places < low, -1, places - low)
        loans.ruled[target] = either(places < low, own.take(above), its.take(below))
    loans.row_count = low + high


def _below(
    own: Dict[str, NDArray[Any]], more: Dict[str, NDArray[Any]], low: int, high: int, blank: float, kind: type
) -> dict[str, NDArray[Any]]:
    columns = {
        target: _column_below(own.get(target), more.get(target), low, high, blank, kind)
        for target in (*own, *(target for target in more if target not in own))
    }
    return {target: column for target, column in columns.items() if column is not None}


def _column_below(
    own: NDArray[Any] | None, more: NDArray[Any] | None, low: int, high: int, blank: float, kind: type
) -> NDArray[Any] | None:
    if own is None and more is None:
        return None
    above = np.full(low, blank, kind) if own is None else own
    return np.concatenate((above, np.full(high, blank, kind) if more is None else more))
