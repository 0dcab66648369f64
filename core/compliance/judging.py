"""The cushion and the status of a figure beside its limit."""

from __future__ import annotations

from math import copysign, floor
from typing import Any, Final

from core.compliance.conventions import DEFAULT
from core.compliance.coverage import TOLERANCE
from core.compliance.kernels import rounded
from core.compliance.limits import ResolvedThreshold, RunLimits
from core.compliance.measures import (
    Measurement,
    Pool,
    Unmeasurable,
)
from core.compliance.result import (
    Skipped,
    Status,
)
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


def judge(value: float, limit: ResolvedThreshold, decimals: int | None) -> tuple[float, Status]:
    """(cushion, status) of a figure, rounded half away from zero before it is compared where the deal says so."""
    if decimals is not None:
        value = rounded_half_away(value, decimals)
    cushion = cushion_of(value, limit)
    return cushion, status_of(value, cushion, limit)


def rounded_half_away(value: float, decimals: int) -> float:
    """Return the figure as it is printed.

    Halves go away from zero, what is one but for the rounding of a double too.
    """
    scale = 10.0**decimals
    if not abs(value) * scale < WHOLE_FROM:
        return value
    return copysign(floor(abs(value) * scale + 0.5 + TOLERANCE) / scale, value)


WHOLE_FROM: Final = 2.0**52
"""From here on a double has no half left to round away."""


def cushion_of(value: float, limit: ResolvedThreshold) -> float:
    """Return the headroom of a figure, in its unit; negative is a breach."""
    if limit.direction == "max":
        return limit.value - value
    if limit.direction == "min":
        return value - limit.value
    return -abs(value - limit.value)


def status_of(value: float, cushion: float, limit: ResolvedThreshold) -> Status:
    """Fail below a cushion of zero, warning within the warning band, else pass.

    Full precision but for `TOLERANCE`.
    """
    if cushion < -TOLERANCE:
        return "fail"
    if limit.warning is not None:
        if limit.direction == "max" and value >= limit.warning - TOLERANCE:
            return "warning"
        if limit.direction == "min" and value <= limit.warning + TOLERANCE:
            return "warning"
    return "pass"


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


def fields_of_result(
    test: Test,
    value: float,
    limit: ResolvedThreshold,
    judgement: tuple[float, Status],
    include_cushion: bool,
) -> tuple[Any, ...]:
    """Return the fields of a result that are no texts and no doubts, in order."""
    cushion, status = judgement
    bound, direction, _, source = limit
    shown = shown_pct = None
    if include_cushion:
        shown = rounded(cushion)
        shown_pct = rounded(cushion / bound * 100) if bound else None
    return (
        test.test_id,
        test.name,
        test.category,
        status,
        rounded(value),
        bound,
        direction,
        shown,
        shown_pct,
        source,
    )
