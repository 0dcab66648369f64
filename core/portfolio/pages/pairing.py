"""Pair loans with page rows that share a key, by their number and par.

One loan and one row are a pair. Several of one side are the lots of one of the other where their par adds up to it, and
several of both are pairs by equal par; whatever else shares a key is ambiguous, and is joined to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

CENTS: Final = 0.02
"""Currency units a row by which par may differ between pages that print cents."""

STEPS: Final = (10.0, 100.0, 1e3, 1e4)
"""Units larger than one in which a page may print its par."""

STEP_ROWS: Final = 3
"""Distinct figures from which a page is one of whole units."""

STEP_FIGURES: Final = 20
"""Distinct figures from which it is one of larger units."""

SIZE_SHARE: Final = 1e-3
"""Share of a usual par by which a row may differ at most."""

NEAR_SHARE: Final = 0.01
"""Share by which the par of a loan and a row may differ where both are the only ones of a name."""

ROUND: Final = 10_000.0
"""Currency units: a par that is a multiple of it is met by chance."""


PAIRED_SHARE: Final = 0.5
"""Share of a name's rows that must have the par of a loan: among many loans some par is met by chance."""


@dataclass(frozen=True, slots=True)
class PairingSide:
    """Loans, or the rows of a page."""

    keys: Ints
    """-1 without one."""
    par: NDArray[np.float64]
    """NaN where nothing is said."""
    free: Flags
    """Which are not joined yet."""


@dataclass(frozen=True, slots=True)
class PairingRule:
    """What a key may join."""

    is_whole: bool
    """Whether the key names a loan, not only a borrower or a kind of facility."""
    is_loose: bool = False
    """Whether names that differ in brackets have one key: what is left of a key after others is no pair by that."""
    is_generic: bool = False
    """Whether loans of several borrowers may share the key: a round par is met by chance then."""
    needs_par: bool = False
    """Whether nothing is joined that does not have the same par."""


@dataclass(slots=True)
class RowPairs:
    """Loans and rows that belong together, with the group of each pair."""

    loans: Ints
    rows: Ints
    groups: Ints
    ambiguous: Flags
    """Rows of the page that fit several loans, or that are several for one."""


def tolerance(own: NDArray[np.float64] | None, of_page: NDArray[np.float64] | None) -> float:
    """Return by how much a row's par may differ: what the coarser page rounds.

    A page prints whole units where all its figures are whole; thousands only where most figures of the other are none.
    """
    figures = [_figures(own), _figures(of_page)]
    if min(map(len, figures)) == 0:
        return CENTS
    most = SIZE_SHARE * float(np.median(np.concatenate(figures)))
    best = CENTS
    for coarse, fine in (figures, figures[::-1]):
        best = max(best, 1.0 if len(coarse) >= STEP_ROWS and _are_multiples(coarse, 1.0).all() else CENTS)
        for step in STEPS:
            is_printed = len(coarse) >= STEP_FIGURES and _are_multiples(coarse, step).all()
            if is_printed and np.count_nonzero(_are_multiples(fine, step)) <= len(fine) / 2:
                best = max(best, step)
    return min(best, most)


def _figures(par: NDArray[np.float64] | None) -> NDArray[np.float64]:
    return np.zeros(0) if par is None else np.unique(np.abs(par[np.isfinite(par) & (par != 0)]))


def _are_multiples(figures: NDArray[np.float64], step: float) -> Flags:
    return np.asarray(figures % step == 0, np.bool_)


@dataclass(slots=True)
class _Groups:
    """Loans and rows by the keys that stand on both sides, numbered from 0."""

    own: Ints
    of_page: Ints
    count: int
    loans: PairingSide
    page: PairingSide
    done: Flags
    pairs: list[tuple[Ints, Ints]] = field(default_factory=list)
    groups: list[Ints] = field(default_factory=list)

    def add(self, loans: Ints, rows: Ints, groups: Ints) -> None:
        """Take pairs; no member of a group may be in two that are added apart."""
        if len(loans):
            self.pairs.append((loans, rows))
            self.groups.append(groups)

    def per(self, members: Ints, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return a count, or a sum of weights, by group."""
        known = members >= 0
        own = None if weights is None else weights[known]
        return np.bincount(members[known], own, self.count).astype(np.float64)

    def first(self, members: Ints, among: Flags) -> Ints:
        """Return the first member of each group among some; -1 without one."""
        places = np.flatnonzero((members >= 0) & among)[::-1]
        first = np.full(self.count, -1, np.int64)
        first[members[places]] = places
        return first


def pair(
    loans: PairingSide,
    page: PairingSide,
    at: Ints,
    per_row: float,
    rule: PairingRule,
    loans_alike: Callable[[Ints, int], Flags],
    rows_alike: Callable[[Ints, int], Flags],
) -> RowPairs:
    """Pair what shares a key.

    Args:
        at: the row that each loan has already; -1 without one.
        per_row: currency units a row by which par may differ.
        loans_alike: whether all loans of each group may be lots of one, by the group of each loan.
        rows_alike: whether all rows of each group say the same, by the group of each row.
    """
    groups = _group(loans, page)
    if groups.count:
        _alone(groups, per_row, rule)
        _by_sums(groups, at, per_row, rule, loans_alike)
        _by_par(groups, per_row, rule, loans_alike)
        if not rule.needs_par:
            _without_par(groups, at, rule, loans_alike, rows_alike)
    return _result(groups)


def _group(loans: PairingSide, page: PairingSide) -> _Groups:
    shared = np.intersect1d(loans.keys, page.keys)
    shared = shared[shared >= 0]

    def numbered(keys: Ints) -> Ints:
        if not len(shared):
            return np.full(len(keys), -1, np.int64)
        place = np.minimum(np.searchsorted(shared, keys), len(shared) - 1)
        return np.where(shared[place] == keys, place, -1)

    own, of_page = numbered(loans.keys), numbered(page.keys)
    return _Groups(own, of_page, len(shared), loans, page, np.zeros(len(shared), np.bool_))


def _has_par(par: NDArray[np.float64]) -> Flags:
    """Return where a par can be compared: a 0 says as little as a blank."""
    return np.asarray(~np.isnan(par) & (par != 0))


def _alone(groups: _Groups, per_row: float, rule: PairingRule) -> None:
    """Pair the only loan with the only row that is left of a key."""
    loans, page = groups.loans, groups.page
    only = (groups.per(np.where(loans.free, groups.own, -1)) == 1) & (
        groups.per(np.where(page.free, groups.of_page, -1)) == 1
    )
    loan, row = groups.first(groups.own, loans.free), groups.first(groups.of_page, page.free)
    mine = np.where(only, loans.par[loan], np.nan)
    its = np.where(only, page.par[row], np.nan)
    has_both = _has_par(mine) & _has_par(its)
    apart = np.abs(mine - its)
    same = has_both & (apart <= per_row)
    is_only_row = groups.per(groups.of_page) == 1
    is_only_pair = is_only_row & (groups.per(groups.own) == 1)
    if rule.needs_par:
        takes = same
    elif rule.is_loose:
        takes = is_only_pair | same
    elif rule.is_whole:
        takes = is_only_row | ~has_both | same
    else:
        near = apart <= NEAR_SHARE * np.maximum(np.abs(mine), np.abs(its))
        takes = same | is_only_pair & (~has_both | near)
    pairs_at = np.flatnonzero(only & takes)
    groups.done |= only
    groups.add(loan[pairs_at], row[pairs_at], pairs_at)


def _by_sums(
    groups: _Groups, at: Ints, per_row: float, rule: PairingRule, loans_alike: Callable[[Ints, int], Flags]
) -> None:
    """Pair several loans with one row, or rows with one loan, by sums of par.

    Joined ones are among them, too.
    """
    loans, page = groups.loans, groups.page
    many, rows = groups.per(groups.own), groups.per(groups.of_page)
    some_free = groups.per(np.where(loans.free, groups.own, -1)) + groups.per(np.where(page.free, groups.of_page, -1))
    candidates = ~groups.done & (np.minimum(many, rows) == 1) & (some_free > 0)
    if not candidates.any():
        return
    candidates &= (rows == 1) & rule.is_whole | (many == 1) | loans_alike(groups.own, groups.count)
    candidates &= groups.per(np.where(np.isnan(page.par), groups.of_page, -1)) == 0
    its = groups.per(groups.of_page, np.nan_to_num(page.par))
    if np.isnan(loans.par).all():  # the page is the one that says par
        candidates &= rule.is_whole & (many == 1)
    else:
        candidates &= groups.per(np.where(np.isnan(loans.par), groups.own, -1)) == 0
        mine = groups.per(groups.own, np.nan_to_num(loans.par))
        candidates &= (np.abs(mine - its) <= per_row * np.maximum(many, rows)) & (its != 0)
    _add_all(groups, candidates & ~_crossing(groups, at))


def _crossing(groups: _Groups, at: Ints) -> Flags:
    """Return groups with a loan that has a row of another key, or the reverse."""
    crossing = np.zeros(groups.count, np.bool_)
    has = np.flatnonzero(at >= 0)
    has = has[groups.own[has] != groups.of_page[at[has]]]
    for members in (groups.own[has], groups.of_page[at[has]]):
        crossing[members[members >= 0]] = True
    return crossing


def _add_all(groups: _Groups, candidates: Flags) -> None:
    """Pair all loans with all rows of groups of which one side is a single one."""
    loan, row = (groups.first(members, np.ones(len(members), np.bool_)) for members in (groups.own, groups.of_page))
    is_single = candidates & (groups.per(groups.own) == 1)
    rows = np.flatnonzero((groups.of_page >= 0) & is_single[groups.of_page])
    groups.add(loan[groups.of_page[rows]], rows, groups.of_page[rows])
    loans = np.flatnonzero((groups.own >= 0) & (candidates & ~is_single)[groups.own])
    groups.add(loans, row[groups.own[loans]], groups.own[loans])
    groups.done |= candidates


def _by_par(groups: _Groups, per_row: float, rule: PairingRule, loans_alike: Callable[[Ints, int], Flags]) -> None:
    """Pair loans with rows of the same par, as many of each.

    Equal lots of one loan are interchangeable.
    """
    places: list[Ints] = []
    for side, members in ((groups.loans, groups.own), (groups.page, groups.of_page)):
        candidates = (members >= 0) & side.free & _has_par(side.par)
        candidates[candidates] &= ~groups.done[members[candidates]]
        places.append(np.flatnonzero(candidates))
    low = len(places[0])
    if not low or not len(places[1]):
        return
    keys = np.concatenate((groups.own[places[0]], groups.of_page[places[1]]))
    par = np.concatenate((groups.loans.par[places[0]], groups.page.par[places[1]]))
    order = np.lexsort((par, keys))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(keys[order]) != 0) | (np.diff(par[order]) > per_row)
    cluster = np.zeros(len(order), np.int64)
    cluster[order] = np.cumsum(begins) - 1
    count = int(cluster.max()) + 1
    mine, its = np.bincount(cluster[:low], minlength=count), np.bincount(cluster[low:], minlength=count)
    equal = (mine == its) & (mine > 0)
    group_of = np.zeros(count, np.int64)
    group_of[cluster] = keys
    if rule.is_generic:
        is_round = np.zeros(count, np.bool_)
        is_round[cluster] = par % ROUND == 0
        unlike = np.bincount(group_of[~equal], minlength=groups.count) > 0
        equal &= ~is_round | ~unlike[group_of]
        paired = np.bincount(group_of, np.where(equal, its, 0), groups.count)
        equal &= (paired >= PAIRED_SHARE * np.bincount(group_of, its, groups.count))[group_of]
    if (equal & (mine > 1)).any():
        members = np.full(len(groups.own), -1, np.int64)
        members[places[0]] = cluster[:low]
        equal &= (mine == 1) | loans_alike(members, count)
    takes = equal[cluster]
    loans, rows = np.flatnonzero(takes[:low]), np.flatnonzero(takes[low:])
    loans = loans[np.argsort(cluster[:low][loans], kind="stable")]
    rows = rows[np.argsort(cluster[low:][rows], kind="stable")]
    groups.add(places[0][loans], places[1][rows], cluster[:low][loans] + groups.count)


def _without_par(
    groups: _Groups,
    at: Ints,
    rule: PairingRule,
    loans_alike: Callable[[Ints, int], Flags],
    rows_alike: Callable[[Ints, int], Flags],
) -> None:
    """Pair the loans of a key with its only row where the page has no par.

    Or one loan with rows that say the same.
    """
    loans, page = groups.loans, groups.page
    silent = ~groups.done & (groups.per(np.where(_has_par(page.par), groups.of_page, -1)) == 0)
    many, rows = groups.per(groups.own), groups.per(groups.of_page)
    free_rows = groups.per(np.where(page.free, groups.of_page, -1))
    silent &= (free_rows > 0) & ~_crossing(groups, at)
    one_row = silent & (rows == 1) & (groups.per(np.where(loans.free, groups.own, -1)) == many)
    if one_row.any() and not rule.is_whole:
        one_row &= loans_alike(groups.own, groups.count)
    one_loan = silent & (many == 1) & (rows > 1)
    if one_loan.any():
        one_loan &= rows_alike(
            np.where((groups.of_page >= 0) & one_loan[groups.of_page], groups.of_page, -1), groups.count
        )
    _add_all(groups, one_row | one_loan)


def _result(groups: _Groups) -> RowPairs:
    nothing = np.zeros(0, np.int64)
    loans = np.concatenate([pair_loans for pair_loans, _ in groups.pairs] or [nothing])
    rows = np.concatenate([pair_rows for _, pair_rows in groups.pairs] or [nothing])
    own, of_page = groups.own, groups.of_page
    ambiguous = (of_page >= 0) & groups.page.free
    if groups.count:
        open_groups = groups.per(np.where(groups.loans.free, own, -1)) > 0
        open_groups &= ~groups.done
        ambiguous &= open_groups[of_page]
    ambiguous[rows] = False
    return RowPairs(loans, rows, np.concatenate(groups.groups or [nothing]), ambiguous)
