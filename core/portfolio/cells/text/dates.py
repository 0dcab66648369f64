"""Dates in words and figures, each text alone: "31st of May 2018", "29.09.32"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Final

import numpy as np

from core.portfolio.cells.text.footnotes import without_marks
from core.values import EPOCH

_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (("jan", "gen", "ene"), ("feb", "fév", "fev"), ("mar", "mär", "mrz", "mae"), ("apr", "avr", "abr"),
         ("may", "mai", "mag"), ("jun", "juin", "giu"), ("jul", "juil", "lug"), ("aug", "aoû", "aou", "ago"),
         ("sep", "set"), ("oct", "okt", "ott", "out"), ("nov",), ("dec", "dez", "déc", "dic")), 1,
    )
    for name in names
}  # fmt: skip
"""Months by the first letters of their names: English, German, French, Spanish, Italian."""


def month_of_name(name: str) -> int:
    """Return a month's number by its name or the start of it; 0 for none."""
    lowered = name.lower()
    return _MONTHS.get(lowered[:4]) or _MONTHS.get(lowered[:3], 0)


_CLOCK: Final = r"(?:(?:[T ]|, ?)\d.*|[Zz]|[+-]\d\d:?\d\d)?"
"""A time, a zone, or both, behind a day."""
_WEEKDAY: Final = re.compile(
    r"\A(?:mon|tue|wed|thu|fri|sat|sun)(?:s|rs|nes|ur|urs)?(?:day)?\.?,?\s+(?=\d|[a-z])", re.IGNORECASE
)
_ISO: Final = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:[T ].*|{_CLOCK})")
_COMPACT: Final = re.compile(rf"((?:19|20|21)\d\d)(\d\d)(\d\d){_CLOCK}")
_NAMED: Final = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|er|\u00ba)?(?: day)?(?: (?:of|de|di|d'))?[-\s./]*([^\W\d_]{3,10})\.?[-\s,./]*"
    rf"(?:(?:de|del|di) )?(\d{{4}}|\d\d){_CLOCK}"
)
_NAMED_FIRST: Final = re.compile(
    rf"([^\W\d_]{{3,9}})\.?[-\s]*(?:the )?(\d{{1,2}})(?:st|nd|rd|th)?[-\s,]+(\d{{4}}){_CLOCK}"
)
_DOTTED: Final = re.compile(rf"(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}|\d\d){_CLOCK}")
_SLASHED: Final = re.compile(rf"(\d{{1,2}})([/-])(\d{{1,2}})\2(\d{{4}}|\d\d){_CLOCK}")
DATE_LENGTH_MAX: Final = 40
"""Characters of a text that may be a date."""


def day_order(texts: Iterable[str]) -> bool | None:
    """Return whether slashed dates have the day first: some first part is above 12.

    None where no part of any is.
    """
    parts = slashed_dates(texts)
    if any(first > 12 for first, _ in parts):
        return True
    return None if parts and all(second <= 12 for _, second in parts) else False


def slashed_dates(texts: Iterable[str]) -> list[tuple[int, int]]:
    """Return the first and the second part of each slashed date among some texts."""
    matches = (_SLASHED.fullmatch(text.strip()) for text in texts if len(text) <= DATE_LENGTH_MAX)
    return [(int(match[1]), int(match[3])) for match in matches if match is not None]


def date_days(text: str, *, day_first: bool) -> float:
    """Return a date's text as days since 1970-01-01; NaN where it is none.

    A year of two digits is in this century.
    """
    if len(text) > DATE_LENGTH_MAX:
        return np.nan
    parts = _parts(text.strip(), day_first=day_first)
    if parts is None:
        # A weekday before the day, or a footnote mark behind it.
        parts = _parts(without_marks(_WEEKDAY.sub("", text.strip())), day_first=day_first)
    if parts is None:
        return np.nan
    year, month, day = parts
    years = int(year) + (2000 if len(year) == 2 else 0)
    if years <= 1900:
        return np.nan
    try:
        return float((date(years, month, day) - EPOCH).days)
    except ValueError:
        return np.nan


def _parts(text: str, *, day_first: bool) -> tuple[str, int, int] | None:
    """Return year, month and day of a date's text."""
    if match := _ISO.fullmatch(text):
        return match[1], int(match[3]), int(match[4])
    if match := _COMPACT.fullmatch(text):
        return match[1], int(match[2]), int(match[3])
    if match := _NAMED.fullmatch(text):
        return match[3], month_of_name(match[2]), int(match[1])
    if match := _NAMED_FIRST.fullmatch(text):
        return match[3], month_of_name(match[1]), int(match[2])
    if match := _DOTTED.fullmatch(text):
        return match[3], int(match[2]), int(match[1])
    if match := _SLASHED.fullmatch(text):
        first, second = int(match[1]), int(match[3])
        return match[4], *((second, first) if day_first else (first, second))
    return None
