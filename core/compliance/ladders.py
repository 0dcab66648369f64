"""How a definition counts ratings: ladders, watches, what is unrated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from core.compliance.view import AllLoans, Bools, Ranks, View
from core.definition.definition import AgencyRatings, Definition
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names
from core.portfolio.model.ratings import (
    CCC,
    DEFAULTED,
    FACTORS,
    MASKED,
    UNBUCKETED,
    is_masked,
    is_not_rated,
    rank,
    watch,
)

BBB_MINUS: Final = 10
"""The worst rank of investment grade."""

WORST_NOTCHED: Final = 21
"""A rating that is notched down becomes no default."""

UNRATED_SHARE_MAX: Final = 0.5
"""Share of loans without a rating of any agency above which they are private credit, and no CCC for that."""

Assumed = Literal["value", "best", "worst"]
"""What ratings that are masked or missing are taken for under `bounds`: the definition's own word, or the ends of their
range."""


def plain_ranks(portfolio: Portfolio) -> dict[str, Ranks]:
    """Return the ratings as they are, but for those that every agency masks."""
    ranks = portfolio.ranks
    masked = _masked_by_all(portfolio)
    if masked is None:
        return dict(ranks)
    own = ranks.get("rating")
    own = np.zeros(portfolio.row_count, np.uint8) if own is None else own
    return {**ranks, "rating": np.where(masked & (own == 0), np.uint8(MASKED), own)}


def set_apart_unrated(view: View, portfolio: Portfolio, of_all: AllLoans | None) -> None:
    """Take loans that no agency rates out of the CCC buckets, where most are such and no definition says otherwise."""
    if portfolio.names.keys().isdisjoint(AGENCY_FIELDS) and (of_all is None or not of_all.is_mostly_unrated):
        return  # ratings that came as ranks say of no loan that nobody rates it
    unrated = _unrated(portfolio)
    view.unrated_rows = int(np.count_nonzero(unrated))
    view.is_mostly_unrated = (
        are_mostly_unrated(view.unrated_rows, portfolio.row_count) if of_all is None else of_all.is_mostly_unrated
    )
    if view.is_mostly_unrated:
        own = view.ranks.get("rating", np.zeros(portfolio.row_count, np.uint8))
        view.ranks = {**view.ranks, "rating": np.where(unrated & (own == 0), np.uint8(UNBUCKETED), own)}


def are_mostly_unrated(unrated_rows: int, rows: int) -> bool:
    """Return whether so many loans without a rating of any agency are private credit, and no CCC for that."""
    return unrated_rows > UNRATED_SHARE_MAX * rows


def _unrated(portfolio: Portfolio) -> NDArray[np.bool_]:
    """Loans of which the file says that no agency rates them; a blank says nothing."""
    says_none = np.zeros(portfolio.row_count, np.bool_)
    for column in AGENCY_FIELDS:
        texts = portfolio.names.get(column) if column in portfolio.ranks else None
        if texts is not None:
            codes = [code for code, text in enumerate(texts.values) if is_not_rated(text) and not is_masked(text)]
            if codes:
                says_none |= _have_code(texts, codes)
    for ranks in portfolio.ranks.values() if says_none.any() else ():
        says_none &= ranks == 0
    return says_none


def _masked_by_all(portfolio: Portfolio) -> NDArray[np.bool_] | None:
    """Loans that no agency rates openly and one or more rate behind a mask.

    None where there are none.
    """
    masked_by_every: NDArray[np.bool_] | None = None
    for column in AGENCY_FIELDS:
        if column in portfolio.ranks and (masked := masked_rows(portfolio, column)) is not None:
            masked_by_every = masked if masked_by_every is None else masked_by_every | masked
    if masked_by_every is None:
        return None
    for column in AGENCY_FIELDS:
        if column in portfolio.ranks:
            masked_by_every = masked_by_every & (portfolio.ranks[column] == 0)
    return masked_by_every if masked_by_every.any() else None


SAY_UNRATED: Final = ("ratings.unrated_is_ccc", *(f"ratings.{agency}.unrated" for agency in AGENCIES))
"""Keys of a definition that say what a loan without a rating counts as."""

AGENCY_FIELDS: Final = tuple(f"rating_agency_{agency}" for agency in AGENCIES)


def masked_rows(portfolio: Portfolio, field: str) -> NDArray[np.bool_] | None:
    """Rows whose rating is masked in a column; None where none is."""
    texts, ranks = portfolio.names.get(field), portfolio.ranks[field]
    codes = [] if texts is None else [code for code, text in enumerate(texts.values) if is_masked(text)]
    if texts is None or not codes or ranks.all():
        return None
    rows = _have_code(texts, codes) & (ranks == 0)
    return rows if rows.any() else None


CODES_COMPARED_MAX: Final = 4
"""Codes for which comparing all rows with each is faster than a table: 10 us for 100,000 rows beside 90."""


def _have_code(names: Names, codes: list[int]) -> NDArray[np.bool_]:
    """Return which rows have one of some codes."""
    if len(codes) > CODES_COMPARED_MAX:
        table = np.zeros(len(names.values) + 1, np.bool_)  # the last for a blank
        table[codes] = True
        return table[names.codes]
    rows = np.zeros(len(names.codes), np.bool_)
    for code in codes:
        rows |= names.codes == code
    return rows


# ---- ratings


def counted_as(policy: str | float | None, factors: Sequence[float]) -> tuple[int, float]:
    """(rank, factor) of what a rating counts as.

    Rank 0 where it is a factor alone, factor NaN where it is left out.
    """
    if isinstance(policy, float | int):
        return 0, float(policy)
    symbol = rank(policy) if policy is not None else 0
    return (symbol, factors[symbol - 1]) if symbol else (0, nan)


def policy_of(ratings: AgencyRatings, kind: Literal["masked", "unrated"], assumed: Assumed) -> str | float | None:
    """Return what a masked rating, or a loan without one, counts as."""
    policy: str | float = getattr(ratings, kind)
    return getattr(ratings, f"{kind}_{assumed}") if policy == "bounds" else policy


def suite_factors(definition: Definition, assumed: Assumed = "value") -> tuple[float, ...]:
    ratings = definition.ratings.a
    unrated = counted_as(policy_of(ratings, "unrated", assumed), FACTORS)[1]
    masked = counted_as(ratings.masked, FACTORS)[1]
    return (unrated, *map(float, FACTORS), masked, unrated)


def rate_loans(view: View, portfolio: Portfolio, definition: Definition, assumed: Assumed) -> None:
    """Each agency's ranks by its ladder, into the columns of the pass."""
    shown = {agency: show_ratings(portfolio, agency, definition) for agency in AGENCIES}
    nobody: Bools | None = None
    masked_anywhere: Bools | None = None
    for agency in AGENCIES:
        ratings: AgencyRatings = getattr(definition.ratings, agency)
        if shown[agency][0] is None:
            continue  # an agency that rates nothing in the file is none of the deal's
        ranks, has_masks = _ladder(agency, shown, ratings, assumed)
        view.has_bounds |= has_masks and ratings.masked == "bounds"
        column = f"rating_agency_{agency}"
        view.ranks[f"{column}_ladder"] = view.ranks[column] = ranks
        blank = ranks == 0
        nobody = blank if nobody is None else nobody & blank
        view.has_bounds |= ratings.unrated == "bounds" and bool(blank.any())
        if len(ranks) and ranks[ranks.argmax()] >= MASKED:
            masked = ranks == MASKED
            view.ranks[column] = np.where(masked, np.uint8(0), ranks)
            masked_anywhere = masked if masked_anywhere is None else masked_anywhere | masked
    nobody = np.ones(portfolio.row_count, np.bool_) if nobody is None else nobody
    _rate_deal(view, definition, assumed, nobody, masked_anywhere)


def _ladder(
    agency: str, shown: Mapping[str, tuple[Ranks | None, Bools | None]], ratings: AgencyRatings, assumed: Assumed
) -> tuple[Ranks, bool]:
    """(an agency's ranks, whether some of its ratings are masked).

    Its own, else another's notched down.
    """
    own, masked = shown[agency]
    assert own is not None
    ranks, open_rows = own, masked  # copied where one changes
    for source in ratings.notched_from:
        theirs, _ = shown[source]
        if theirs is None:
            continue
        take = (ranks == 0) & (theirs > 0)
        if masked is not None and ratings.masked != "other_agency":
            take &= ~masked
        if np.count_nonzero(take):
            ranks = ranks.copy()
            ranks[take] = notched(theirs[take], ratings)
            open_rows = None if open_rows is None else open_rows & ~take
    if masked is None or open_rows is None or not masked.any():
        return ranks, False
    counts, _ = counted_as(policy_of(ratings, "masked", assumed), FACTORS)
    ranks = ranks.copy()
    ranks[open_rows] = counts or MASKED
    return ranks, True


def _rate_deal(
    view: View, definition: Definition, assumed: Assumed, nobody: Bools, masked_anywhere: Bools | None
) -> None:
    """Set the deal's own ranks for loans that no agency rates, or one masks."""
    deal_ranks = view.ranks.get("rating")
    alone = nobody if deal_ranks is None else nobody & (deal_ranks == 0)
    has_alone = np.count_nonzero(alone) > 0
    if not has_alone and masked_anywhere is None:
        return
    deal = np.zeros(len(nobody), np.uint8) if deal_ranks is None else deal_ranks.copy()
    without = deal == 0
    if has_alone:
        if not _is_unrated_ccc(definition, assumed):
            deal[alone] = UNBUCKETED
        view.has_bounds |= any(getattr(definition.ratings, agency).unrated == "bounds" for agency in AGENCIES)
    if masked_anywhere is not None:
        deal[~nobody & masked_anywhere & without] = MASKED
    if deal_ranks is not None or deal.any():
        view.ranks["rating"] = deal


def _is_unrated_ccc(definition: Definition, assumed: Assumed) -> bool:
    """Return whether a loan that no agency rates is in the CCC buckets.

    Under bounds, whether it may be, or must be.
    """
    bounded = [ratings for agency in AGENCIES if (ratings := getattr(definition.ratings, agency)).unrated == "bounds"]
    symbols = [symbol for ratings in bounded if (symbol := getattr(ratings, f"unrated_{assumed}")) is not None]
    if not symbols:
        return definition.ratings.unrated_is_ccc
    are_ccc = [rank(symbol) >= CCC for symbol in symbols]
    return all(are_ccc) if assumed == "best" else any(are_ccc)


def notched(ranks: Ranks, ratings: AgencyRatings) -> Ranks:
    """Another agency's ranks, as many notches down as the definition says."""
    down = np.where(ranks <= BBB_MINUS, ratings.notches_investment_grade, ratings.notches_below)
    return np.minimum(ranks + down, WORST_NOTCHED).astype(np.uint8)


def own_ranks(portfolio: Portfolio, agency: str, definition: Definition) -> Ranks | None:
    """Return the agency's own ratings as a definition reads them, or None."""
    return show_ratings(portfolio, agency, definition)[0]


def _columns(portfolio: Portfolio, agency: str, definition: Definition) -> tuple[str, ...]:
    """Return the columns of an agency's ratings to read.

    Where the definition leaves that to the file, the one that the file's own tests go by is the first; `derived` stays
    where that is the same column, since its watch has moved it already.
    """
    columns: tuple[str, ...] = getattr(definition.ratings, agency).columns
    if not definition.leaves(f"ratings.{agency}.columns"):
        return columns
    field, cells = f"rating_agency_{agency}", portfolio.source_cells
    if f"{field}_derived" not in portfolio.ranks or cells.get(field) == cells.get(f"{field}_derived"):
        return columns
    return ("any", *(column for column in columns if column != "any"))


def show_ratings(portfolio: Portfolio, agency: str, definition: Definition) -> tuple[Ranks | None, Bools | None]:
    """(ranks, masked) of an agency's own ratings, masked None where none is.

    The first of its columns that shows one, moved by its watch; None where the file has none of its columns.
    """
    worst: Ranks | None = None
    ratings: AgencyRatings = getattr(definition.ratings, agency)
    masked: Bools | None = None
    for column in _columns(portfolio, agency, definition):
        field = f"rating_agency_{agency}" + ("" if column == "any" else f"_{column}")
        ranks = portfolio.ranks.get(field)
        if ranks is None:
            continue
        hidden = masked_rows(portfolio, field)
        if hidden is not None:
            masked = hidden if masked is None else masked | hidden
        moved = ranks if column == "derived" else _watch(portfolio, field, agency, ranks, ratings)
        worst = moved if worst is None else np.where(worst == 0, moved, worst)
    if worst is None:
        return None, None
    return worst, None if masked is None else masked & (worst == 0)


def _watch(portfolio: Portfolio, field: str, agency: str, ranks: Ranks, ratings: AgencyRatings) -> Ranks:
    """Move ratings on watch as the definition says; derived ones are moved already."""
    if not (ratings.watch_negative or ratings.watch_positive):
        return ranks
    moves = np.zeros(portfolio.row_count, np.int16)
    for name in (field, f"watch_{agency}"):
        texts = portfolio.names.get(name)
        if texts is not None and (ways := [watch(text) for text in texts.values]) and any(ways):
            moves_by_row = np.array([*ways, 0], np.int16)[texts.codes]
            moves = np.where(moves_by_row != 0, moves_by_row, moves)
    if not moves.any():
        return ranks
    steps = np.where(moves < 0, ratings.watch_negative, np.where(moves > 0, -ratings.watch_positive, 0))
    moved = np.clip(ranks.astype(np.int16) + steps, 1, WORST_NOTCHED)
    return np.where((ranks == 0) | (ranks == DEFAULTED), ranks, moved).astype(np.uint8)
