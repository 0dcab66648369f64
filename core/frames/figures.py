"""Figures as people are shown them, in a terminal, a notebook and a report alike."""

from __future__ import annotations

from typing import Final

DECIMALS: Final = 2
DECIMALS_MAX: Final = 6
"""Results have no more."""

LARGEST: Final = 1e15
"""From here on a figure is shown with an exponent."""


def decimals_apart(first: float, second: float) -> int:
    """The decimals at which two different figures are shown as such, from two on."""
    return next(
        (at for at in range(DECIMALS, DECIMALS_MAX) if first == second or f"{first:.{at}f}" != f"{second:.{at}f}"),
        DECIMALS_MAX,
    )


def decimals_of(value: float, limit: float) -> int:
    """The decimals of a test: two, or as many as tell its figure from its limit, and its limit from zero."""
    return max(decimals_apart(value, limit), decimals_apart(limit, 0.0))


def figure_shown(value: float, sign: str = "", decimals: int = DECIMALS) -> str:
    """A figure with its thousands apart; a very large one with an exponent."""
    return f"{value:{sign},.{decimals}f}" if abs(value) < LARGEST else f"{value:{sign}.3g}"


def change_shown(change: float, decimals: int = DECIMALS) -> str:
    """A change with its sign; one that would be shown as zero as less than the last decimal, and none as a dash."""
    if change == 0:
        return "-"
    least = 10.0**-decimals
    if abs(change) < least / 2:
        return f"{'+' if change > 0 else '-'}<{least:.{decimals}f}"
    return figure_shown(change, "+", decimals)
