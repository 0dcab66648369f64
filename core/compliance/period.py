"""The interest period as a part of a year."""

from __future__ import annotations

from math import isfinite
from typing import Final

PERIOD_YEARS: Final = 0.25
"""The interest period where the deal does not give its days."""

DAYS_IN_INTEREST_YEAR: Final = 360.0
"""Floating-rate interest is counted actual/360."""

DAYS_A_MONTH: Final = 30.4375


def period_years(days: float | None, day_count: str) -> float:
    """Return the interest period as a part of a year.

    A quarter where its days are not known.
    """
    if days is None or not isfinite(days) or days <= 0:
        return PERIOD_YEARS
    if day_count == "30/360":
        return round(days / DAYS_A_MONTH) * 30 / DAYS_IN_INTEREST_YEAR
    return days / (365.0 if day_count == "actual/365" else DAYS_IN_INTEREST_YEAR)
