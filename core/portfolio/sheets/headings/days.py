"""Days, months and quarters in names of sheets, titles and headings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from core.portfolio.cells.string_pool import key
from core.portfolio.cells.text.dates import month_of_name

_MONTH: Final = (
    r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)(?:uary|ruary|ch|il|e|y|ust|t|tember|ober|ember)?\.?"
)
_DATED: Final = re.compile(
    rf"(?<![a-z0-9])(?:(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s._-]*)?{_MONTH}[\s._'-]*(?P<year>20\d\d|\d\d)"
    r"|(?P<y>20\d\d)[./_-]?(?P<m>0[1-9]|1[0-2])(?:[./_-]?(?P<d>[0-3]\d))?)(?![0-9])",
    re.IGNORECASE,
)
"""A month or a day: "Nov 2024", "7-Nov-24", "2024-11", "20241107"."""

_MONTH_FIRST: Final = re.compile(
    rf"(?<![a-z0-9]){_MONTH}[\s._-]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s,._-]+(?P<year>20\d\d)(?!\d)", re.IGNORECASE
)
"""A day behind its month: "June 30, 2026"."""

_ANY_MONTH: Final = re.compile(r"(?<!\d)(?P<day>\d{1,2})[\s.]*(?P<month>[^\W\d_]{3,10})\.?\s*(?P<year>20\d\d)(?!\d)")
"""A day with a month in any language: "30. Juni 2026"."""

_MONTH_ALONE: Final = re.compile(rf"(?<![a-z0-9])(?:(?P<day>\d{{1,2}})[\s._-]*)?{_MONTH}(?![a-z0-9])", re.IGNORECASE)
_QUARTER: Final = re.compile(
    r"(?<![a-z0-9])(?:q(?P<quarter>[1-4])|(?P<q>[1-4])q)(?:[\s._'-]*(?P<year>20\d\d|\d\d))?(?![a-z0-9])", re.IGNORECASE
)
"""A month or a quarter without a year, which another one beside it can be before: "June", "31-Aug", "Q2", "2Q"."""

_FIGURES: Final = re.compile(
    r"(?<!\d)(?:(?P<day>1[3-9]|2\d|3[01])[./-](?P<m>0?[1-9]|1[0-2])|(?P<mm>0?[1-9]|1[0-2])[./-](?P<dd>1[3-9]|2\d|3[01]))"
    r"[./-](?P<year>20\d\d|\d\d)(?!\d)"
)
"""A day in figures of which only one can be the month: "31.03.2024", "3/31/24"."""

_PATTERNS: Final = (_FIGURES, _MONTH_FIRST, _DATED, _QUARTER, _MONTH_ALONE, _ANY_MONTH)
"""Ways to write a day, those that say most of it first."""

_OPEN: Final = re.compile(r"(?<!\d)(?:\d{1,2}([./-])\d{1,2}\1(?:20\d\d|\d\d)|20\d\d)(?!\d)")
"""Figures that may be several days, or a year alone: "03/04/2026"."""

MONTHS_APART: Final = 6
"""Months between two without a year, up to which the later name is the later day."""


class StatedDay(NamedTuple):
    """A day in a text, and the rest of its words."""

    stem: str
    has_year: bool
    day: tuple[int, int, int]
    """Year, month and day of the month: 0 where it has none."""


def stated_day(text: str) -> StatedDay | None:
    """Return the day, month or quarter that a text states, with the other words."""
    match = next((hit for pattern in _PATTERNS if (hit := pattern.search(text))), None)
    if match is None:
        return None
    parts = match.groupdict()
    year, month = parts.get("year") or parts.get("y"), parts.get("m") or parts.get("mm")
    if quarter := parts.get("quarter") or parts.get("q"):
        month = str(3 * int(quarter))
    number = int(month) if month else month_of_name(parts["month"])
    if not number:
        return None
    stem = key(text[: match.start()] + " " + text[match.end() :])
    day = (int(year) % 100 if year else 0, number, int(parts.get("day") or parts.get("d") or parts.get("dd") or 0))
    return StatedDay(stem, year is not None, day)


def of_earlier_days(texts: Iterable[tuple[int, str]]) -> frozenset[int]:
    """Return which of some texts are alike but for an earlier day than another's.

    Args:
        texts: each with what it is called.
    """
    alike: dict[tuple[str, bool], list[tuple[tuple[int, int, int], int]]] = {}
    for name, text in texts:
        stated = stated_day(text)
        if stated is not None:
            alike.setdefault((stated.stem, stated.has_year), []).append((stated.day, name))
    earlier: set[int] = set()
    for (_, has_year), listed in alike.items():
        days = [day for day, _ in listed]
        if has_year or max(days)[1] - min(days)[1] <= MONTHS_APART:
            earlier |= {name for day, name in listed if day < max(days)}
    return frozenset(earlier)


def states_day(text: str) -> bool:
    """Return whether a text states a day, though figures alone may be several."""
    return stated_day(text) is not None or _OPEN.search(text) is not None


def of_open_days(texts: Iterable[tuple[int, str]]) -> frozenset[int]:
    """Return which texts are alike but for days of which none is the latest.

    Args:
        texts: each with what it is called, less those of earlier days.
    """
    alike: dict[str, dict[object, list[int]]] = {}
    for name, text in texts:
        stated, figures = stated_day(text), _OPEN.search(text)
        if stated is not None:
            alike.setdefault(stated.stem, {}).setdefault(stated.day, []).append(name)
        elif figures is not None:
            stem = key(text[: figures.start()] + " " + text[figures.end() :])
            alike.setdefault(stem, {}).setdefault(figures[0], []).append(name)
    several = (days for days in alike.values() if len(days) > 1)
    return frozenset(name for days in several for names in days.values() for name in names)


_BEFORE: Final = re.compile(
    r"\b(?:t 1|bop|prev(?:ious)?|prior|opening|beginning|begin|beg|starting|start|before|brought forward|b f|anfang\w*"
    r"|pr[eé]c[eé]dente?|anterior|vorige?|ouverture|apertura|iniziale|inicial|vormonat|vorperiode|last month)\b"
)
"""Words of a heading, as a key, over the figures of an earlier day."""


def is_before(heading: str) -> bool:
    """Return whether a heading is that of an earlier day than another one: "Px T-1"."""
    return _BEFORE.search(key(heading)) is not None


_CURRENT: Final = re.compile(r"\b(?:current(?:ly)?|today|now|latest|this (?:month|period|quarter|report))\b")


def is_current(heading: str) -> bool:
    """Return whether a heading is that of the report's own day: "Current Price"."""
    return _CURRENT.search(key(heading)) is not None
