"""Average spread and coupon.

What coupons above their reference add to the one, and spreads to the other.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any, Final

from core.compliance.coverage import TOLERANCE
from core.compliance.kernels import rounded
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable, no_values
from core.portfolio.model.portfolio import Deal

REFERENCE_COUPON: Final = 7.0
"""Percent: the reference coupon by which the excess is shown where the deal gives none."""

NO_LIMIT: Final = "whether the excess counts depends on the test's limit, and it has none"
NO_MINIMUM: Final = "the minimum spread is not known: set conventions.minimum_spread"


def counted_excess(rule: str, excess: float, without: float, limit: float | None) -> float:
    """Return what of an excess counts under a rule of the conventions, in percent.

    `without` is the average before it.

    An excess that counts while a test fails is none below zero: it is there to help.

    Raises:
        Unmeasurable: the rule depends on the limit of a test, and it is not known.
    """
    if rule == "none":
        return 0.0
    if rule == "always":
        return excess
    if rule == "floored":
        return max(0.0, excess)
    if limit is None:
        raise Unmeasurable(NO_LIMIT)
    return max(0.0, excess) if without < limit - TOLERANCE else 0.0


def minimum_spread(pool: Pool, test_id: str | None = None) -> float | None:
    """Return the limit of the spread test, percent.

    What the run holds this test to, else the definition's.
    """
    if test_id in pool.limits:
        return pool.limits[test_id]
    if (stated := pool.definition.conventions.minimum_spread) is not None:
        return stated
    tests = [test for test in pool.definition.tests if test.measure == "was"]
    limits = [pool.limits[test.id] for test in tests if test.id in pool.limits]
    own = [test.min for test in tests if test.min is not None and not test.steps]
    return next(iter((*own, *limits)), None)


def excess_spread(pool: Pool, spread: float) -> float:
    """Return the printed excess spread in percent of the loans with a spread, where the file's own average is ours with
    it and not without it; else 0. No key of a definition says anything of it."""
    deal = pool.portfolio.deal
    amount = deal.excess_spread_kept or deal.excess_spread
    if not amount or not isfinite(amount) or not pool.tally.spread_par:
        return 0.0
    more = amount / pool.tally.spread_par * 100
    if deal.excess_spread_kept:
        return more
    return more if _is_printed(pool, spread + more) and not _is_printed(pool, spread) else 0.0


def _is_printed(pool: Pool, spread: float) -> bool:
    """Return whether the file prints this average spread."""
    return any(
        fact.value is not None and abs(spread - fact.value) <= fact.tolerance
        for fact in pool.portfolio.facts.tests
        if fact.subject is not None and fact.subject.measure == "was" and fact.subject.detail is None
    )


def _excess_rule(pool: Pool, spread: float, excess: float) -> str:
    """How the excess coupon counts.

    Where the definition says nothing of it, coupons below the reference take nothing off where the file's own average
    is ours without that, and not with it.
    """
    rule = pool.definition.conventions.excess_coupon
    if rule != "always" or excess >= 0 or not pool.definition.leaves("conventions.excess_coupon"):
        return rule
    if pool.portfolio.deal.is_excess_floored:
        return "floored"
    return "floored" if _is_printed(pool, spread) and not _is_printed(pool, spread + excess) else rule


def _plain_spread(pool: Pool) -> float:
    """Spread of the floating loans with floor credit, percent.

    Raises:
        Unmeasurable: no loan has one.
    """
    if pool.par - pool.fixed_par <= 0:
        raise Unmeasurable("no floating-rate par")
    if pool.tally.spread_par <= 0:
        raise no_values("spread or all_in_rate")
    return pool.tally.spread_sum / pool.tally.spread_par / 100


def average_spread(pool: Pool, test_id: str | None = None) -> Measurement:
    """Spread of the floating loans with floor credit and, where the deal gives its reference coupon, excess coupon as
    the conventions count it; `test_id` is the test whose limit decides where that depends on one."""
    tally, conventions = pool.tally, pool.definition.conventions
    reference = conventions.reference_coupon
    if reference is None:
        reference = pool.portfolio.deal.reference_coupon
    spread, floating = _plain_spread(pool), pool.par - pool.fixed_par
    average_coupon = tally.coupon_sum / tally.coupon_par if tally.coupon_par else None
    has_reference = reference is not None and isfinite(reference)
    measured_against = reference if reference is not None and has_reference else REFERENCE_COUPON
    excess = 0.0 if average_coupon is None else (average_coupon - measured_against) * pool.fixed_par / floating
    rule, added = _excess_rule(pool, spread, excess), 0.0
    if has_reference:
        added = counted_excess(rule, excess, spread, minimum_spread(pool, test_id) if excess > 0 else 0.0)
    counts = has_reference and (rule == "always" or added != 0.0)
    value = spread + added
    more = excess_spread(pool, value)

    def break_down() -> dict[str, Any]:
        return {
            "spread_pct": rounded(spread),
            "floor_credit_pct": rounded((tally.spread_sum - tally.contractual_sum) / tally.spread_par / 100),
            "weighted_average_coupon_pct": None if average_coupon is None else rounded(average_coupon),
            "excess_coupon_pct": rounded(excess),
            "excess_coupon_counted": counts,
            **({} if rule == "always" else {"excess_coupon_rule": rule}),
            **({"excess_spread_pct": rounded(more)} if more else {}),
        }

    return Measurement(
        value + more, tally.spread_sum / 100, tally.spread_par, tally.spread_par / floating * 100, break_down
    )


def with_spread_rules(deal: Deal, pool: Pool) -> Deal:
    """Return the deal for other loans than a pool's.

    How its average spread counts the excess stays, though the file's own average is that of the loans before.
    """
    try:
        breakdown = average_spread(pool, "was").breakdown
    except Unmeasurable:
        return deal
    is_floored = breakdown.get("excess_coupon_rule") == "floored" != pool.definition.conventions.excess_coupon
    kept = pool.portfolio.deal.excess_spread if "excess_spread_pct" in breakdown else None
    return replace(deal, excess_spread_kept=kept, is_excess_floored=is_floored or None) if kept or is_floored else deal


def average_coupon(pool: Pool, test_id: str | None = None) -> Measurement:
    """Coupon of the fixed-rate loans, with the excess of the spread over its minimum as the conventions count it."""
    tally, rule = pool.tally, pool.definition.conventions.excess_spread
    if not tally.coupon_par > 0:
        raise Unmeasurable("no fixed-rate loan with a coupon")
    coupon = tally.coupon_sum / tally.coupon_par
    if rule == "none":
        return Measurement(coupon, tally.coupon_sum, tally.coupon_par)
    excess = _excess_of_spread(pool)
    added = counted_excess(rule, excess, coupon, pool.limits.get(test_id or ""))

    def break_down() -> dict[str, Any]:
        return {
            "coupon_pct": rounded(coupon),
            "excess_spread_pct": rounded(excess),
            "excess_spread_counted": added != 0.0,
            "excess_spread_rule": rule,
        }

    return Measurement(coupon + added, tally.coupon_sum, tally.coupon_par, None, break_down)


def _excess_of_spread(pool: Pool) -> float:
    """Return what the spread has above its minimum, percent of the fixed-rate loans.

    Nothing where no loan has a spread.
    """
    floating = pool.par - pool.fixed_par
    if floating <= 0 or pool.tally.spread_par <= 0 or pool.fixed_par <= 0:
        return 0.0
    minimum = minimum_spread(pool)
    if minimum is None:
        raise Unmeasurable(NO_MINIMUM)
    return (_plain_spread(pool) - minimum) * floating / pool.fixed_par
