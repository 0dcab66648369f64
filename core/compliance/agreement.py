"""Whether a printed figure and ours are the same.

Numerator and denominator to the cent, a value to its last digit.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, log
from typing import Final, Literal, NamedTuple

from core.portfolio.model.facts import Fact

Part = Literal["numerator", "denominator", "value"]

CENT: Final = 0.005 + 1e-6
"""Amounts that differ by at most half a cent are the same; the rest is the arithmetic of floating point."""

RELATIVE_LEAST: Final = 1e-12
"""Of amounts so large that a cent is finer than their arithmetic."""

RATIO_MOST: Final = 0.15
"""How far, as a part, a printed value may be from its numerator over its denominator: a value near zero is printed with
few digits."""

VALUE_LEAST: Final = 0.05
"""Values up to here are too coarse to say whether a ratio is in percent."""


VALUE_SLACK: Final = 0.2
"""How far, in its unit, a printed value may be from ours where its numerator and denominator are ours to the cent:
files store values with fewer digits than they show."""

VALUE_SLACK_PART: Final = 0.01
"""The same as a part of the value."""


class Agreement(NamedTuple):
    """A printed figure beside ours."""

    differs: Part | None
    """The first of numerator, denominator and value that is another; None: none that is known to both."""
    agrees: bool | None
    """Whether both are the same: by numerator and denominator where both are printed and the value is near; else by
    all that is printed. None: one of the values is not known."""


class Ours(NamedTuple):
    """Our figure, in full precision or to six decimals."""

    value: float
    numerator: float | None = None
    denominator: float | None = None


def agreement_of(fact: Fact, ours: Ours | None) -> Agreement:
    """Compare a printed figure with ours, its numerator first, then its denominator, then its value.

    A numerator may be printed in percent or as a part, where ours is the other: the values say which.
    """
    if fact.value is None or ours is None:
        return Agreement(None, None)
    printed = fact.value
    is_value_alike = abs(ours.value - printed) <= fact.tolerance
    fact = _without_repetition(fact)
    numerator = _in_printed_scale(fact, ours)
    if numerator is None:
        counterpart = _other_part(fact, ours) if is_value_alike else None
        return Agreement(counterpart or (None if is_value_alike else "value"), is_value_alike and counterpart is None)
    if fact.numerator is not None and not _is_cent(fact.numerator, numerator):
        return Agreement("numerator", False)
    if (
        fact.denominator is not None
        and ours.denominator is not None
        and not _is_cent(fact.denominator, ours.denominator)
    ):
        return Agreement("denominator", False)
    if fact.numerator is not None and fact.denominator is not None:
        is_value_alike = abs(ours.value - printed) <= fact.tolerance + max(VALUE_SLACK, VALUE_SLACK_PART * abs(printed))
    return Agreement(None if is_value_alike else "value", is_value_alike)


def ties_of(fact: Fact, ours: Ours) -> frozenset[Part]:
    """Return the parts of a printed figure that are ours.

    Each amount to the cent, the value to its last digit.
    """
    parts: set[Part] = set()
    if fact.value is not None and abs(ours.value - fact.value) <= fact.tolerance:
        parts.add("value")
    fact = _without_repetition(fact)
    numerator = None if fact.value is None else _in_printed_scale(fact, ours)
    if numerator is None:
        return frozenset(parts)
    if fact.numerator is not None and _is_cent(fact.numerator, numerator):
        parts.add("numerator")
    if fact.denominator is not None and ours.denominator is not None and _is_cent(fact.denominator, ours.denominator):
        parts.add("denominator")
    return frozenset(parts)


def _other_part(fact: Fact, ours: Ours) -> Part | None:
    """Return the part of a ratio that is another, where the printed amounts do not make the printed value and one of
    them is ours. Where neither is, they are the parts of something else."""
    if None in (fact.numerator, fact.denominator, ours.numerator, ours.denominator):
        return None
    assert fact.numerator is not None and fact.denominator is not None  # noqa: PT018
    assert ours.numerator is not None and ours.denominator is not None  # noqa: PT018
    has_numerator, has_denominator = (
        _is_cent(fact.numerator, ours.numerator),
        _is_cent(fact.denominator, ours.denominator),
    )
    if has_numerator == has_denominator:
        return None
    return "denominator" if has_numerator else "numerator"


def _without_repetition(fact: Fact) -> Fact:
    """Return the figure without its numerator where that is the value again, in the column of numerators."""
    is_repeated = (
        fact.denominator is None
        and fact.numerator is not None
        and fact.value is not None
        and abs(fact.numerator - fact.value) <= fact.tolerance
    )
    return replace(fact, numerator=None) if is_repeated else fact


def _is_cent(printed: float, ours: float) -> bool:
    return abs(printed - ours) <= max(CENT, abs(printed) * RELATIVE_LEAST)


def _in_printed_scale(fact: Fact, ours: Ours) -> float | None:
    """Our numerator as the page would print it, or None if it cannot be scaled."""
    if ours.numerator is None or ours.denominator is None or (fact.numerator is None and fact.denominator is None):
        return None
    own = _scale(ours.value, ours.numerator, ours.denominator)
    if own is None:
        return None
    if fact.numerator is None or fact.denominator is None or abs(fact.value or 0.0) <= VALUE_LEAST:
        return ours.numerator
    printed = _scale(fact.value or 0.0, fact.numerator, fact.denominator)
    return None if printed is None else ours.numerator * own / printed


def _scale(value: float, numerator: float, denominator: float) -> float | None:
    """1 where a value is the plain ratio, 100 where it is in percent; None: neither."""
    if not denominator:
        return None
    ratio = numerator / denominator
    if not ratio or not value:
        return 100.0 if not ratio and not value else None
    if ratio * value < 0:
        return None
    distance, scale = min((abs(log(value / (ratio * scale))), scale) for scale in (1.0, 100.0)) if ratio else (inf, 1.0)
    return scale if distance <= RATIO_MOST else None
