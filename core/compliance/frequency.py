"""How often a loan pays interest.

The words and figures of a column of payment frequencies as payments a year.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.portfolio.cells.string_pool import key

_WORDS: Final = {
    "w": 52, "weekly": 52, "bi weekly": 26, "biweekly": 26, "fortnightly": 26,
    "m": 12, "monthly": 12, "month": 12, "bi monthly": 6, "bimonthly": 6,
    "q": 4, "quarterly": 4, "quarter": 4,
    "s": 2, "sa": 2, "semi": 2, "semi annual": 2, "semi annually": 2, "semiannual": 2, "semiannually": 2,
    "half yearly": 2, "halfyearly": 2, "half year": 2, "bi annual": 2, "biannual": 2, "biannually": 2,
    "twice a year": 2, "semestrial": 2,
    "a": 1, "y": 1, "annual": 1, "annually": 1, "yearly": 1, "year": 1, "per annum": 1, "once a year": 1,
}  # fmt: skip
_NUMBERS: Final = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "twelve": 12}
_EVERY: Final = re.compile(
    r"(?:every )?(?P<n>\d{1,3}|one|two|three|four|six|twelve) ?"
    r"(?P<unit>d|days?|w|weeks?|m|mo|mth|mths|months?|y|yrs?|years?)(?:ly)?"
)
_TIMES: Final = re.compile(
    r"(?P<n>\d{1,2})(?: ?x| times)(?: (?:a|per) (?:year|annum))?|(?P<m>\d{1,2}) (?:a|per) (?:year|annum)"
)
_BARE: Final = re.compile(r"(\d{1,3})(?: 0{1,4})?")
"""A figure alone, as `key` writes 4 and 4.00."""

_YEARS: Final = {"y": 1.0, "m": 12.0, "w": 52.0, "d": 365.0}
"""Units in a year, by their first letter."""

_USUAL: Final = (52.0, 26.0, 12.0, 6.0, 4.0, 3.0, 2.0, 1.0)
_NEAR: Final = 0.05
"""Part by which days may miss a usual frequency: 90, 91 or 92 days are a quarter."""

_PER_YEAR: Final = frozenset((2, 4, 52))
_MONTHS: Final = frozenset((3, 6))
_EITHER: Final = frozenset((1, 12))
"""Bare figures that payments a year have, that months have, and that both have: 3 is hardly three payments a year."""


def payments_a_year(texts: Sequence[str]) -> list[float | None]:
    """Payments a year by each text of a column; None where it says no one number.

    Bare figures are payments a year (MAG17 has 4 and 12) or months, which the column's others tell: with 2 or 4 it has
    payments, with 3 or 6 months. With both, or only 1 and 12, they say nothing.
    """
    words = [key(text) for text in texts]
    bare = {int(match[1]) for word in words if (match := _BARE.fullmatch(word)) is not None} - {0}
    known = bare <= _PER_YEAR | _EITHER or bare <= _MONTHS | _EITHER
    is_months, is_times = bool(bare & _MONTHS), bool(bare & _PER_YEAR)
    unit = None if not known or is_months == is_times else 12.0 if is_months else 1.0
    return [_of_word(word, unit) for word in words]


def _of_word(word: str, unit: float | None) -> float | None:
    """Payments a year by a normal text.

    `unit` is what bare figures divide, 1 where they are payments themselves.
    """
    if word in _WORDS:
        return float(_WORDS[word])
    if (match := _BARE.fullmatch(word)) is not None:
        count = int(match[1])
        return None if unit is None or not count else float(count) if unit == 1.0 else unit / count
    if (match := _TIMES.fullmatch(word)) is not None:
        return float(match["n"] or match["m"]) or None
    if (match := _EVERY.fullmatch(word)) is not None:
        count = _NUMBERS.get(match["n"]) or int(match["n"])
        return _usual(_YEARS[match["unit"][0]] / count) if count else None
    return None


def _usual(often: float) -> float:
    """Return the usual frequency next to one in days or weeks."""
    return next((each for each in _USUAL if abs(often - each) <= _NEAR * each), often)
