"""Tests whose status cannot be decided: limits of another scale, ratings between two ends."""

from __future__ import annotations

from typing import Final

from core.compliance.conventions import DEFAULT
from core.compliance.kernels import rounded
from core.compliance.limits import ResolvedThreshold, RunLimits
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.result import Skipped
from core.compliance.suites import Test
from core.definition.definition import Definition
from core.definition.terms import AGENCIES
from core.portfolio.model.facts import AGENCY_NAMES

WARR: Final = "weighted_average_recovery_rate"


def check_scale(test: Test, limit: ResolvedThreshold, limits: RunLimits, pool: Pool) -> None:
    """Refuse the suites' recovery test where limit and rates are two agencies'.

    Each has a scale of its own.

    Raises:
        Unmeasurable: they are.
    """
    if (rates := pool.view.recovery_agency) is None:
        return
    if limit.source == "suite":
        scale = "a"
    elif limit.source == "definition" and (own := limits.tests.get(WARR)) is not None and own.agency is not None:
        scale = own.agency
    else:
        return
    if scale != rates:
        raise Unmeasurable(
            f"Skipped: the recovery rates are {AGENCY_NAMES[rates]}'s and the limit of {limit.value:g} is for those of "
            f"{AGENCY_NAMES[scale]}: set a limit for them, or name the agency in a definition (ratings.recovery)"
        )


def left_open(
    test: Test, measured: Measurement, limit: ResolvedThreshold, low: float, high: float, rules: Definition | None
) -> Skipped:
    """Return a test whose status ratings leave open that a definition takes for a range."""
    ratings = DEFAULT.ratings if rules is None else rules.ratings
    bounded = [
        kind
        for kind in ("masked", "unrated")
        if any(getattr(getattr(ratings, agency), kind) == "bounds" for agency in AGENCIES)
    ]
    what = " or ".join({"masked": "masked", "unrated": "missing"}[kind] for kind in bounded)
    reason = f"{what} ratings leave it open: between {low:.2f} and {high:.2f} around the limit {limit.value:.2f}"
    return Skipped(test.test_id, test.name, reason, rounded(measured.value), rounded(low), rounded(high))
