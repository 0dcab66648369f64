"""Figures as people are shown them, in a terminal, a notebook and a report alike."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

DECIMALS: Final = 2
DECIMALS_MAX: Final = 6
"""Results have no more."""

LIMITS_MAX: Final = 4_096
"""Limits whose printed decimals are kept: a suite's are the same from run to run."""

LARGEST: Final = 1e15
"""From here on a figure is shown with an exponent."""


_APART: Final = 2.0
"""Figures that are further apart are shown as different ones without a decimal."""


def decimals_apart(first: float, second: float, least: int = DECIMALS) -> int:
    """Return the decimals at which two different figures are shown as such, from `least` on."""
    if first == second or abs(first - second) > _APART:
        return min(least, DECIMALS_MAX)
    return next((at for at in range(least, DECIMALS_MAX) if f"{first:.{at}f}" != f"{second:.{at}f}"), DECIMALS_MAX)


_UNIT_DECIMALS: Final = {"factor": 0, "number": 0, "bps": 0, "days": 0}
"""Decimals of a figure by its unit, where trustees do not print two."""

SMALL_FACTOR: Final = 100.0
"""Rating factors below it are of Fitch's scale, and have decimals."""


def unit_decimals(unit: str, value: float) -> int:
    """Return the decimals with which trustees print a figure of a unit."""
    return DECIMALS if unit == "factor" and abs(value) < SMALL_FACTOR else _UNIT_DECIMALS.get(unit, DECIMALS)


def decimals_of(unit: str, value: float, limit: float, rounding: int | None = None) -> int:
    """Return the decimals of a test's figures.

    Those of its unit, or as many as its limit is printed with, as tell its figure from its limit, and its limit from
    zero.

    Args:
        unit: the unit of the test, as the suite names it.
        value: the test's figure.
        limit: what the figure is compared with.
        rounding: decimals to which the figure is rounded before it is compared; None: it is not rounded.
    """
    least = unit_decimals(unit, value) if rounding is None else min(rounding, DECIMALS_MAX)
    if unit == "number" and value % 1:
        least = max(least, DECIMALS)  # no count
    least = max(least, _printed_decimals(limit, least))
    if rounding is not None:
        return least
    return max(decimals_apart(value, limit, least), decimals_apart(limit, 0.0, least))


@lru_cache(maxsize=LIMITS_MAX)
def _printed_decimals(limit: float, least: int) -> int:
    """Return the decimals with which a limit is printed.

    `least` where it is the result of a division.
    """
    for at in range(least, LIMIT_DECIMALS_MAX + 1):
        if abs(limit - round(limit, at)) < _SAME:
            return at
    return least


LIMIT_DECIMALS_MAX: Final = 4
"""Documents print no limit with more."""

_SAME: Final = 1e-9


def figure_shown(value: float, sign: str = "", decimals: int = DECIMALS) -> str:
    """Return a figure with its thousands apart; a very large one with an exponent."""
    return f"{value:{sign},.{decimals}f}" if abs(value) < LARGEST else f"{value:{sign}.3g}"


def change_shown(change: float, decimals: int = DECIMALS) -> str:
    """Return a change with its sign.

    One that would be shown as zero as less than the last decimal, and none as a dash.
    """
    if change == 0:
        return "-"
    least = 10.0**-decimals
    if abs(change) < least / 2:
        return f"{'+' if change > 0 else '-'}<{least:.{decimals}f}"
    return figure_shown(change, "+", decimals)
