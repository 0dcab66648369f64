"""One function per figure of the compliance catalogue, each from the sums of one pass over the loans.

Units: percent points for every share, ratio, spread, recovery and price; plain numbers for the rating factor and the
diversity score; years for the average life. The formula of each test stands in `suites`.
"""

from __future__ import annotations

from functools import partial
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.compliance import coverage, kernels
from core.compliance.file_figures import (
    NOT_PRINTED,
)
from core.compliance.kernels import rounded
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable, no_values
from core.portfolio.model.facts import AGENCY_NAMES
from core.portfolio.model.fields import Lien
from core.portfolio.model.ratings import DEFAULTED, MASKED, UNBUCKETED

COVERAGE_LEAST_PCT: Final = 80.0
"""Share of par below which a figure is not trusted as it stands (and an average life not given at all)."""


ZERO_CPA: Final = "collateral principal amount is zero or negative"
UNKNOWN_INTEREST: Final = "interest due on the notes is not known: add interest_due, coupon, or spread and a base rate"
NO_BASE_RATE: Final = "the loans have spreads, and no base rate is known: add one to the Deal sheet"
NO_TRANCHES: Final = "no tranche data: add a Tranches or Liabilities sheet"


def _diversity_scores() -> NDArray[np.float64]:
    """Industry diversity score by step of 0.1 units.

    Row 0 is nothing, row i begins at 0.1 i - 0.05 units.
    """
    step = np.arange(201, dtype=np.float64)
    scores = np.select(
        [step <= 10, step <= 30, step <= 60, step <= 100],
        [0.1 * step, 1 + 0.05 * (step - 10), np.round(2 + (step - 30) / 30, 4), 3 + 0.025 * (step - 60)],
        4 + 0.01 * (step - 100),
    )
    return np.round(scores, 4).astype(np.float64)


DIVERSITY_SCORES: Final = _diversity_scores()


# Concentration


def single_obligor(pool: Pool) -> Measurement:
    count, _, largest = pool.obligors
    if not count:
        raise no_values("borrower_name or issuer_id")

    def break_down() -> dict[str, Any]:
        sixth = pool.share(largest[5]) if count > 5 else 0.0
        return {"obligors": pool.largest_obligors, "sixth_obligor_pct": rounded(sixth), "obligor_count": count}

    return Measurement(pool.share(largest[0]), largest[0], pool.denominator, pool.obligor_coverage_pct, break_down)


def top_five_obligors(pool: Pool) -> Measurement:
    count, _, largest = pool.obligors
    if not count:
        raise no_values("borrower_name or issuer_id")
    par = sum(largest[:5])

    def break_down() -> dict[str, Any]:
        return {"obligors": pool.largest_obligors, "top_10_pct": rounded(pool.share(sum(largest)))}

    return Measurement(pool.share(par), par, pool.denominator, pool.obligor_coverage_pct, break_down)


def _industry(pool: Pool, place: int) -> Measurement:
    printed = pool.printed_industries
    if printed:
        par = printed[place].value or 0.0 if place < len(printed) else 0.0
        return Measurement(pool.share(par), par, pool.denominator, None, partial(_printed_industries_breakdown, pool))
    _, _, largest = pool.industries
    par = largest[place] if place < len(largest) else 0.0
    return Measurement(
        pool.share(par), par, pool.denominator, pool.industry_coverage_pct, partial(_industries_breakdown, pool)
    )


def _printed_industries_breakdown(pool: Pool) -> dict[str, Any]:
    shown = [
        {
            "name": printed_industry.label,
            "par": rounded(printed_industry.value or 0.0),
            "share_pct": rounded(pool.share(printed_industry.value or 0.0)),
        }
        for printed_industry in pool.printed_industries[:4]
    ]
    return {"industries": shown, "basis": "as the file's table of industries has them"}


def _industries_breakdown(pool: Pool) -> dict[str, Any]:
    more = {"classifications": pool.by_classification} if pool.by_classification else {}
    return {"industries": pool.largest_industries, **more}


def largest_industry(pool: Pool) -> Measurement:
    return _industry(pool, 0)


def second_industry(pool: Pool) -> Measurement:
    return _industry(pool, 1)


def non_senior_secured(pool: Pool) -> Measurement:
    by_lien = pool.tally.par_by_lien
    par = sum(by_lien[Lien.SECOND_LIEN :])
    if pool.definition.ratings.bonds_secured:
        par -= by_lien[Lien.BOND]
    par = max(0.0, par)
    return Measurement(pool.share(par), par, pool.denominator, None, partial(_liens_breakdown, pool))


def _liens_breakdown(pool: Pool) -> dict[str, Any]:
    by_lien = pool.tally.par_by_lien
    return {
        "lien_blank_pct": rounded(pool.covered(by_lien[Lien.BLANK])),
        "second_lien_pct": rounded(pool.share(by_lien[Lien.SECOND_LIEN])),
        "unsecured_pct": rounded(pool.share(by_lien[Lien.UNSECURED])),
        "bond_pct": rounded(pool.share(by_lien[Lien.BOND])),
        "dip_pct": rounded(pool.share(pool.dip_par)),
        "current_pay_pct": rounded(pool.share(pool.current_pay_par)),
        "deferring_pct": rounded(pool.share(pool.deferring_par)),
        "long_dated_pct": rounded(pool.share(pool.long_dated_par)),
        "participation_pct": rounded(pool.share(pool.participation_par)),
    }


def cov_lite(pool: Pool) -> Measurement:
    par = max(0.0, pool.cov_lite_par)
    return Measurement(pool.share(par), par, pool.denominator)


def fixed_rate(pool: Pool) -> Measurement:
    par = max(0.0, pool.fixed_par)
    return Measurement(pool.share(par), par, pool.denominator)


def foreign_country(pool: Pool) -> Measurement:
    tally = pool.tally
    if not tally.country_par:
        raise no_values("country")
    par = max(0.0, tally.foreign_par)

    def break_down() -> dict[str, Any]:
        return {"home_countries": sorted(pool.definition.conventions.home_countries)}

    return Measurement(pool.share(par), par, pool.denominator, pool.covered(tally.country_par), break_down)


# Rating


def _rated_coverage_pct(pool: Pool) -> float:
    if not any(pool.tally.par_by_rank[1:]):
        raise no_values("rating")
    return pool.covered(pool.par - _unrated(pool) - pool.tally.par_by_rank[MASKED])


def _unrated(pool: Pool) -> float:
    """Par that nobody rates."""
    return pool.tally.par_by_rank[0] + pool.tally.par_by_rank[UNBUCKETED]


def ccc_bucket(pool: Pool) -> Measurement:
    coverage_pct = None if pool.masked_ccc != NOT_PRINTED else _rated_coverage_pct(pool)
    _, par = pool.ccc
    return Measurement(pool.share(par), par, pool.denominator, coverage_pct, partial(_buckets_breakdown, pool))


def _buckets_breakdown(pool: Pool) -> dict[str, Any]:
    breakdown: dict[str, Any] = {
        "agencies": {
            name: rounded(pool.share(amount))
            for name, amount, more in zip(kernels.BUCKETS, pool.buckets, pool.masked_ccc, strict=True)
            if name in pool.view.ranks or more is not None
        },
        "unrated_pct": rounded(pool.covered(_unrated(pool))),
    }
    if masked := pool.tally.par_by_rank[MASKED]:
        breakdown["masked_pct"] = rounded(pool.covered(masked))
    return breakdown


def rating_factor(pool: Pool) -> Measurement:
    coverage_pct = _rated_coverage_pct(pool)
    par, left_out, total = pool.par, 0.0, 0.0
    for amount, factor in zip(pool.tally.par_by_rank, pool.view.factors, strict=True):
        if amount and isfinite(factor):
            total += amount * factor
        else:
            left_out += amount
    if (par := par - left_out) <= 0:
        raise no_values("rating")
    total += factor_column_sum(pool, "a")
    return Measurement(total / par, total, par, coverage_pct, partial(_factors_breakdown, pool))


def factor_column_sum(pool: Pool, agency: str) -> float:
    """Return what the sum of par x factor has more where the file's own rating factor is by another column of Moody's,
    and the definition leaves to the file which it is."""
    if agency != "a" or pool.portfolio.deal.factor_ratings is None or not pool.definition.leaves("ratings.a.columns"):
        return 0.0
    return pool.summed(("factor_ratings",), _by_factor_ratings)


def _by_factor_ratings(pool: Pool) -> float:
    """Return what the sum of par x factor has more by the column of the file's own rating factor."""
    return float(factor_changes(pool)[1].sum())


def factor_changes(pool: Pool) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """(loans that both columns rate, what the sum of par x factor has more of each)."""
    own = pool.view.ranks.get("rating_agency_a")
    trustee = pool.portfolio.ranks.get(f"rating_agency_a_{pool.portfolio.deal.factor_ratings}")
    if own is None or trustee is None:
        return np.zeros(0, np.intp), np.zeros(0)
    rated = np.flatnonzero((own > 0) & (own <= DEFAULTED) & (trustee > 0) & (trustee <= DEFAULTED))
    factors = np.array(pool.view.factors[: DEFAULTED + 1])
    return rated, pool.weights[rated] * (factors[trustee[rated]] - factors[own[rated]])


def _factors_breakdown(pool: Pool) -> dict[str, Any]:
    breakdown = {
        "derived_from_other_agency_pct": rounded(pool.covered(pool.tally.par_by_bucket[3])),
        "unrated_pct": rounded(pool.covered(_unrated(pool))),
    }
    if masked := pool.tally.par_by_rank[MASKED]:
        breakdown["masked_pct"] = rounded(pool.covered(masked))
    return breakdown


def recovery_rate(pool: Pool) -> Measurement:
    """By Moody's rates, or those of an agency that the file does not name.

    A loan without one has the rate of its kind. By another agency's where these count: of the loans that have one.
    """
    if (agency := pool.view.recovery_agency) in ("b", "c"):
        return agency_recovery_rate(pool, agency)
    tally, portfolio = pool.tally, pool.portfolio
    given_pct = pool.covered(tally.recovery_given)
    coverage_pct = None if portfolio.lien is not None else given_pct
    if coverage_pct == 0.0:
        raise no_values("recovery_rate")

    def break_down() -> dict[str, Any]:
        breakdown = {"given_pct": rounded(given_pct), "by_lien_type_pct": rounded(100 - given_pct)}
        if portfolio.lien is not None:
            breakdown["lien_blank_pct"] = rounded(pool.covered(tally.par_by_lien[Lien.BLANK]))
        return breakdown

    return Measurement(tally.recovery_sum / pool.par, tally.recovery_sum, pool.par, coverage_pct, break_down)


def agency_recovery_rate(pool: Pool, agency: str) -> Measurement:
    """Of the loans that the agency gives a recovery rate."""
    if f"recovery_rate_{agency}" not in pool.portfolio.numbers:
        raise Unmeasurable(f"no recovery rates of {AGENCY_NAMES[agency]}")
    par, total = recovered(pool, agency)
    if par <= 0:
        raise no_values(f"recovery_rate_{agency}")
    return Measurement(total / par, total, par, pool.covered(par), lambda: {"agency": AGENCY_NAMES[agency]})


def recovered(pool: Pool, agency: str) -> tuple[float, ...]:
    """(par of the loans with a recovery rate of the agency, sum of par x rate)."""

    def added(part: Pool) -> tuple[float, ...]:
        rates = part.portfolio.numbers[f"recovery_rate_{agency}"]
        known = np.isfinite(rates)
        return float(part.weights @ known), float(part.weights @ np.where(known, rates, 0.0))

    return pool.summed(("recovery", agency), added)


# Coverage


def structure_of(pool: Pool) -> coverage.Structure:
    if pool.structure is None or not pool.structure.groups:
        raise Unmeasurable(NO_TRANCHES)
    return pool.structure


def _oc(pool: Pool, place: int) -> Measurement:
    structure = structure_of(pool)
    adjusted, balance = pool.adjustments["adjusted"], structure.balance(structure.oc[place].at)
    if balance <= 0:
        raise Unmeasurable("the balance of the tested notes is zero or negative")

    def break_down() -> dict[str, Any]:
        adjustments = {name: rounded(amount) for name, amount in pool.adjustments.items()}
        return {"tested_class": structure.oc[place].name, "adjustments": adjustments}

    return Measurement(adjusted / balance * 100, adjusted, balance, None, break_down)


def junior_oc(pool: Pool) -> Measurement:
    return _oc(pool, -1)


def senior_oc(pool: Pool) -> Measurement:
    return _oc(pool, 0)


def _ic(pool: Pool, place: int) -> Measurement:
    structure, is_given = structure_of(pool), pool.interest_is_given
    if not pool.tally.interest_par and not is_given:
        if pool.tally.spread_par > 0 and not isfinite(pool.base_rate):
            raise Unmeasurable(NO_BASE_RATE)
        raise no_values("all_in_rate or spread")
    available, due = pool.interest["available"], structure.interest_due(structure.ic[place].at)
    if due is None:
        raise Unmeasurable(UNKNOWN_INTEREST)
    if due <= 0:
        raise Unmeasurable("the interest due on the tested notes is zero or negative")

    def break_down() -> dict[str, Any]:
        return {"tested_class": structure.ic[place].name, "income": shown_income(pool)}

    coverage_pct = None if is_given else pool.covered(pool.tally.interest_par)
    return Measurement(available / due * 100, available, due, coverage_pct, break_down)


def shown_income(pool: Pool) -> dict[str, Any]:
    """Return the IC numerator in its parts, as results show it."""
    return {name: rounded(amount) if isinstance(amount, float) else amount for name, amount in pool.interest.items()}


def junior_ic(pool: Pool) -> Measurement:
    return _ic(pool, -1)


def senior_ic(pool: Pool) -> Measurement:
    return _ic(pool, 0)


# Portfolio


def average_life(pool: Pool) -> Measurement:
    tally = pool.tally
    coverage_pct = pool.covered(tally.life_par)
    if not tally.life_par:
        if "maturity_date" in pool.portfolio.numbers and not isfinite(pool.as_of):
            raise Unmeasurable("no as-of date: add one to the Deal sheet")
        raise no_values("maturity_date or average_life")
    if coverage_pct < COVERAGE_LEAST_PCT:
        raise Unmeasurable(
            f"maturity_date or average_life covers {coverage_pct:.2f}% of par, less than {COVERAGE_LEAST_PCT:.0f}%"
        )

    def break_down() -> dict[str, Any]:
        return {"wal_coverage_pct": rounded(coverage_pct), "past_maturity": tally.past_maturity}

    return Measurement(tally.life_sum / tally.life_par, tally.life_sum, tally.life_par, coverage_pct, break_down)


def diversity_score(pool: Pool) -> Measurement:
    count, _, _ = pool.obligors
    if not count:
        raise no_values("borrower_name or issuer_id")
    if pool.view.diversity_field != "industry":
        return diversity_by(pool, pool.view.diversity_field)
    industry_count, _, _ = pool.industries
    average = pool.par / count
    units = pool.units(average)
    score = kernels.diversity(units, DIVERSITY_SCORES)

    def break_down() -> dict[str, Any]:
        return {
            "obligor_count": count,
            "average_par": rounded(average),
            "industry_count": industry_count,
            "equivalent_units": rounded(float(units.sum())),
        }

    return Measurement(score, score, 1.0, min(pool.obligor_coverage_pct, pool.industry_coverage_pct), break_down)


def diversity_by(pool: Pool, field: str) -> Measurement:
    """Return the score by another column of industries than that of the tests."""
    industries, (count, _, _) = pool.view.names.get(field), pool.obligors
    if industries is None:
        raise Unmeasurable(f"Skipped: required column(s) {field} not found in sheet '{pool.portfolio.sheet_name}'")
    if not count:
        raise no_values("borrower_name or issuer_id")
    average = pool.par / count
    units = kernels.units(pool.tally_by_industry(industries), average)
    *named, blank = pool.par_by_name(field).tolist()
    score = kernels.diversity(units, DIVERSITY_SCORES)

    def break_down() -> dict[str, Any]:
        return {
            "obligor_count": count,
            "average_par": rounded(average),
            "industry_count": sum(par > 0 for par in named),
            "equivalent_units": rounded(float(units.sum())),
        }

    return Measurement(score, score, 1.0, min(pool.obligor_coverage_pct, pool.covered(pool.par - blank)), break_down)


def delinquency(pool: Pool) -> Measurement:
    tally, portfolio = pool.tally, pool.portfolio
    total = pool.par + tally.defaulted_par
    if total <= 0:
        raise Unmeasurable("performing and defaulted par is zero or negative")
    # A flag says of every row whether it is defaulted; without one, only the days past due say anything.
    only_days = "is_defaulted" not in portfolio.flags
    if only_days and not tally.aged_par and not tally.defaulted_rows:
        if portfolio.deal.defaulted_par is not None:
            return _printed_defaults(portfolio.deal.defaulted_par, total)
        raise no_values("days_past_due")
    par = max(0.0, tally.defaulted_par + tally.past_due_par)

    def break_down() -> dict[str, Any]:
        return {"defaulted_par": rounded(tally.defaulted_par), "past_due_par": rounded(tally.past_due_par)}

    coverage_pct = pool.covered(tally.aged_par) if only_days and pool.par > 0 else None
    return Measurement(par / total * 100, par, total, coverage_pct, break_down)


def _printed_defaults(par: float, total: float) -> Measurement:
    """Return what the file prints of its defaulted loans, where no row says which they are."""
    return Measurement(
        par / total * 100, par, total, None, lambda: {"defaulted_par": rounded(par), "basis": "as printed"}
    )


# Liquidity


def _priced(pool: Pool, amount: float, scale: float) -> Measurement:
    priced = pool.tally.priced_par
    if not priced:
        raise no_values("price")
    if priced < 0:
        raise Unmeasurable("priced par is negative")
    share = pool.covered(priced)
    return Measurement(amount / priced * scale, amount, priced, share, lambda: {"priced_share": rounded(share)})


def price_below_80(pool: Pool) -> Measurement:
    return _priced(pool, max(0.0, pool.tally.par_below_80), 100)


def price_below_90(pool: Pool) -> Measurement:
    return _priced(pool, max(0.0, pool.tally.par_below_90), 100)


def average_price(pool: Pool) -> Measurement:
    return _priced(pool, pool.tally.price_sum, 1)


def small_facilities(pool: Pool) -> Measurement:
    tally = pool.tally
    if not tally.sized_par:
        raise no_values("facility_size")
    par = max(0.0, tally.small_par)

    def break_down() -> dict[str, Any]:
        blank_pct = rounded(100 - pool.covered(tally.country_par))
        home = "the US" if pool.definition.conventions.home_countries == ("US",) else "the deal's home"
        more = {"country_blank": f"held to the line for {home}"} if blank_pct else {}
        return {"country_blank_pct": blank_pct, **more}

    return Measurement(pool.share(par), par, pool.denominator, pool.covered(tally.sized_par), break_down)


def quoted_depth(pool: Pool) -> Measurement:
    tally = pool.tally
    if not tally.depth_par:
        raise no_values("quote_depth")
    par = max(0.0, tally.quoted_par)
    # A blank in the column is a depth of 0, so that the figure covers every loan.
    return Measurement(
        par / pool.par * 100, par, pool.par, None, lambda: {"given_pct": rounded(pool.covered(tally.depth_par))}
    )
