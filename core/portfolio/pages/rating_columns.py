"""Choose the columns of ratings whose sums are those that the file prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from core.portfolio.model.facts import AGENCIES, Agency, Fact, Facts
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AnyPortfolio, FactorRatings, PortfolioData
from core.portfolio.model.ratings import CCC, DEFAULTED, FACTORS

CENT: Final = 0.005 + 1e-6
"""Currency units by which a sum of par may differ from a printed one that is the same."""

_KINDS: Final[tuple[FactorRatings, ...]] = get_args(FactorRatings)

Par = NDArray[np.float64]
Ranks = NDArray[np.uint8]


def with_rating_columns(portfolio: AnyPortfolio, par: Par) -> AnyPortfolio:
    """Take each agency's column whose CCC par is the printed one to the cent.

    And of the rating factor the column that gives the printed one, where that of the agency's rating does not.

    Args:
        par: of the performing loans, 0 for the others.
    """
    for agency in AGENCIES:
        portfolio = _by_ccc(portfolio, agency, par)
    return _by_factor(portfolio, par)


def with_agency_ratings(portfolio: AnyPortfolio) -> AnyPortfolio:
    """Let a further column stand in for an agency's missing obligor ratings.

    Without it a Moody's facility rating would be left out of the rating factor and the CCC bucket, and another agency's
    letters would make both.
    """
    for agency in AGENCIES:
        field = f"rating_agency_{agency}"
        if field in portfolio.ranks:
            continue
        named = [f"{field}_{kind}" for kind in _KINDS] + [f"facility_rating_agency_{agency}"]
        stand_in = next((name for name in named if name in portfolio.ranks and portfolio.ranks[name].any()), None)
        if stand_in is None:
            continue
        message = (
            f"{_header(portfolio, stand_in)} stands in for {field}: no column is the agency's rating of the obligor"
        )
        portfolio = _with_column(portfolio, field, stand_in)
        portfolio.notes.warnings.append(DataWarning("column_stands_in", message, fields=(field,)))
    return portfolio


def _others(portfolio: PortfolioData, agency: Agency) -> Iterator[tuple[FactorRatings, Ranks]]:
    """Yield the agency's further columns of ratings."""
    for kind in _KINDS:
        ranks = portfolio.ranks.get(f"rating_agency_{agency}_{kind}")
        if ranks is not None:
            yield kind, ranks


def _printed_tests(facts: Facts, measure: str, agency: Agency) -> list[Fact]:
    """Return the tests of a measure on all loans, by one agency's ratings."""
    return [
        fact
        for fact in facts.figures
        if (subject := fact.subject) is not None
        and subject.measure == measure
        and subject.agency == agency
        and subject.detail is None
        and subject.subset is None
        and not subject.is_complement
        and not fact.conflict
    ]


def _by_ccc(portfolio: AnyPortfolio, agency: Agency, par: Par) -> AnyPortfolio:
    field = f"rating_agency_{agency}"
    amounts = {fact.numerator for fact in _printed_tests(portfolio.facts, "ccc", agency)} - {None}
    if field not in portfolio.ranks or len(amounts) != 1:
        return portfolio
    (printed,) = amounts

    def ties(ranks: Ranks) -> bool:
        return printed is not None and printed > 0 and abs(_ccc(ranks, par) - printed) <= CENT

    if ties(portfolio.ranks[field]):
        return portfolio
    kind = next((kind for kind, ranks in _others(portfolio, agency) if ties(ranks)), None)
    if kind is None:
        return portfolio
    other_text = f"{field}_{kind}"
    heading = _header(portfolio, other_text)
    message = f"{field} is by {heading}: its CCC par is {printed:,.2f} as the file prints it, that of others is not"
    changed = _with_column(portfolio, field, other_text)
    changed.notes.warnings.append(DataWarning("ratings_by_printed", message, fields=(field,)))
    return changed


def _ccc(ranks: Ranks, par: Par) -> float:
    return float(par[(ranks >= CCC) & (ranks < DEFAULTED)].sum())


def _with_column(portfolio: AnyPortfolio, field: str, source: str) -> AnyPortfolio:
    """Return the portfolio with one column of ratings in another's place."""
    names = _in_place(dict(portfolio.names), field, source)
    cells = _in_place(dict(portfolio.source_cells), field, source)
    ranks = portfolio.ranks | {field: portfolio.ranks[source]}
    return replace(portfolio, ranks=ranks, names=names, source_cells=cells)


Entry = TypeVar("Entry")


def _in_place(entries: dict[str, Entry], field: str, source: str) -> dict[str, Entry]:
    """Return what is said of fields, of one what is said of another."""
    entries.pop(field, None)
    return entries | {field: entries[source]} if source in entries else entries


def _by_factor(portfolio: AnyPortfolio, par: Par) -> AnyPortfolio:
    """Find the column that gives the printed Moody's factor, if not the CCC's."""
    printed = {(fact.value, fact.tolerance) for fact in _printed_tests(portfolio.facts, "warf", "a")}
    own = portfolio.ranks.get("rating_agency_a")
    has_own_column = "rating" in portfolio.ranks and bool(portfolio.ranks["rating"].any())
    if own is None or has_own_column or len(printed) != 1:
        return portfolio
    ((value, tolerance),) = printed

    def ties(ranks: Ranks) -> bool:
        factor = _factor(np.where(ranks > 0, ranks, own), par)
        return value is not None and abs(factor - value) <= tolerance

    tied = [] if ties(own) else [kind for kind, ranks in _others(portfolio, "a") if ties(ranks)]
    if not tied:
        return portfolio
    heading = _header(portfolio, f"rating_agency_a_{tied[0]}")
    message = (
        f"the rating factor is by {heading}, which gives the printed {value:,.6g}; the CCC bucket is by another column"
    )
    portfolio.notes.warnings.append(DataWarning("factor_by_printed", message))
    return replace(portfolio, deal=replace(portfolio.deal, factor_ratings=tied[0]))


def _factor(ranks: Ranks, par: Par) -> float:
    """Return the weighted average rating factor over the loans that are rated."""
    has_factor = (ranks > 0) & (ranks <= len(FACTORS))
    total = float(par[has_factor].sum())
    if not total:
        return float("nan")
    factors: NDArray[Any] = np.asarray(FACTORS, np.float64)[ranks[has_factor] - 1]
    return float((factors * par[has_factor]).sum()) / total


def _header(portfolio: PortfolioData, field: str) -> str:
    """Return a column by its header, else by its field."""
    header = portfolio.notes.matched_columns.get(field)
    place = portfolio.source_cells.get(field)
    return f"{header!r} ({place})" if header and place else place or field
