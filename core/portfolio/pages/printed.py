"""What a file's printed totals say of its loans: all there, what masks hide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from core.portfolio.model import ratings
from core.portfolio.model.facts import AGENCIES, Agency, Facts, Identity
from core.portfolio.model.portfolio import AnyPortfolio, ByRank, PortfolioData
from core.portfolio.pages.families import with_families
from core.portfolio.pages.rating_columns import with_rating_columns
from core.portfolio.pages.report.adding import LINE_TOLERANCE
from core.portfolio.pages.report.strata import ccc_share, rating_tables

TOLERANCE_MAX: Final = 5.0
"""Currency units by which the loans' par may differ from a printed one, whatever their number: rounding of rows."""


def beside_loans(portfolio: AnyPortfolio) -> AnyPortfolio:
    """Return the portfolio with what the file's totals say of its loans.

    It has one obligor for each family that the file shows, and those columns of ratings that its own tests go by.

    Whether the loans' par and cash make the printed collateral principal amount stands as an identity where the file
    prints no par of its own. Where ratings are masked or blank and the agency's rating table adds up to the loans' par,
    `Deal.masked_ccc_x` is what of it the rows do not show as CCC.
    """
    if not portfolio.facts.all or "par_value" not in portfolio.numbers:
        return portfolio
    par = np.nan_to_num(portfolio.numbers["par_value"])
    defaulted = portfolio.defaulted()
    performing, lost = float(par[~defaulted].sum()), float(par[defaulted].sum())
    portfolio = with_families(portfolio, np.where(defaulted, 0.0, par))
    portfolio = with_rating_columns(portfolio, np.where(defaulted, 0.0, par))
    facts = _identity(portfolio, performing, lost)
    figures: dict[str, Any] = {}
    cells = dict(portfolio.source_cells)
    for agency in AGENCIES:
        weights = np.where(defaulted, 0.0, par)
        masked = _masked_ccc(portfolio, agency, weights, performing, lost)
        if masked is not None:
            figures[f"masked_ccc_{agency}"], cells[f"deal.masked_ccc_{agency}"] = masked
        by_rank = _by_rank(portfolio, agency, weights, performing)
        if by_rank is not None:
            figures[f"masked_ratings_{agency}"], cells[f"deal.masked_ratings_{agency}"] = by_rank
    if not figures and facts is portfolio.facts:
        return portfolio
    return replace(portfolio, facts=facts, deal=replace(portfolio.deal, **figures), source_cells=cells)


def _tolerance(rows: int) -> float:
    return min(TOLERANCE_MAX, LINE_TOLERANCE * (rows + 2))


# ---- the collateral principal amount -------------------------------------------------------------------------------


def _identity(portfolio: PortfolioData, performing: float, lost: float) -> Facts:
    """Add the identity of the loans' par where no par of the file was there."""
    facts = portfolio.facts
    total = _total(facts)
    if total is None or facts.identity("collateral_principal_amount") is not None:
        return facts
    deal = portfolio.deal
    cash = deal.principal_cash or 0.0
    carried = deal.defaulted_carried
    ways = [performing, performing + lost, *([] if carried is None else [performing + carried])]
    par = min(ways, key=lambda way: abs(way + cash - total))
    own = Identity(
        name="collateral_principal_amount",
        total=total,
        parts=(("par", par), ("cash", cash)),
        holds=abs(par + cash - total) <= _tolerance(portfolio.row_count),
        is_proved=False,
        places=_places(portfolio),
    )
    return replace(facts, identities=(own, *facts.identities))


def _total(facts: Facts) -> float | None:
    """Return the printed collateral principal amount."""
    return next((fact.value for fact in facts.of("component", "cpa") if fact.value), None)


def _places(portfolio: PortfolioData) -> tuple[str, ...]:
    total = next(fact.place for fact in portfolio.facts.of("component", "cpa") if fact.value)
    cells = portfolio.source_cells
    return (total, *(cells[name] for name in ("par_value", "deal.principal_cash") if name in cells))


# ---- masked ratings ------------------------------------------------------------------------------------------------


def _masked_ccc(
    portfolio: PortfolioData, agency: Agency, par: np.ndarray[Any, np.dtype[np.float64]], performing: float, lost: float
) -> tuple[float, str] | None:
    """Return (par of CCC+ and below that no row shows, places) by a rating table.

    None where every row shows its rating, or no table of the agency adds up to the loans' par.
    """
    field = f"rating_agency_{agency}"
    ranks = portfolio.ranks.get(field)
    hidden = np.ones(portfolio.row_count, np.bool_) if ranks is None else ranks == 0
    if not float(par[hidden].sum()):
        return None
    table = ccc_share(portfolio.facts, agency, performing) or ccc_share(portfolio.facts, agency, performing + lost)
    if table is None or table.value is None:
        return None
    visible = 0.0 if ranks is None else float(par[(ranks >= ratings.CCC) & (ranks < ratings.DEFAULTED)].sum())
    more = table.value - visible
    if more < -_tolerance(portfolio.row_count) or more > float(par[hidden].sum()) + _tolerance(portfolio.row_count):
        return None
    return round(max(0.0, more), 2), ", ".join((table.place, *table.also))


def _by_rank(
    portfolio: PortfolioData, agency: Agency, par: np.ndarray[Any, np.dtype[np.float64]], performing: float
) -> tuple[ByRank, str] | None:
    """Return (par by rank of loans that no row rates, places) by a rating table.

    None where every row shows its rating, or not just one table has at least what the rows show of each rating, and all
    of the loans.
    """
    ranks = portfolio.ranks.get(f"rating_agency_{agency}")
    if ranks is None or not float(par[ranks == 0].sum()):
        return None
    visible = np.bincount(ranks, par, ratings.DEFAULTED + 1)
    candidates = []
    for table, places in rating_tables(portfolio.facts, agency, performing):
        rest = np.array([table.get(rank, 0.0) for rank in range(1, ratings.DEFAULTED)]) - visible[1 : ratings.DEFAULTED]
        rest[np.abs(rest) <= LINE_TOLERANCE] = 0.0
        if not (rest < 0).any() and ratings.DEFAULTED not in table:
            amounts = tuple((at + 1, round(amount, 2)) for at, amount in enumerate(rest.tolist()) if amount)
            candidates.append((amounts, ", ".join(places)))
    return candidates[0] if len({amounts for amounts, _ in candidates}) == 1 else None
