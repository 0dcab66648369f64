"""Text that Excel takes for a number, a date or a time (en-US), as VALUE, DATEVALUE and arithmetic read it."""

from __future__ import annotations

import re
from typing import Final

from core.formula.values import days
from core.values import DAYS_BETWEEN_SYSTEMS

TEXT_MAX: Final = 255
"""Characters that may spell a number; Excel reads none from longer text."""

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

_DIGITS_KEPT: Final = 15
"""Significant digits that Excel keeps of a written number; the others count as zeros."""

_GAPS_MAX: Final = 16
"""Runs of spaces in a date with its time: four in `1 - May - 2024`, five in `1 : 2 : 3.5 PM`, a few between them."""

_PIVOT_YEAR: Final = 30
"""Two-digit years below it are of the 2000s."""

# Spaces are taken possessively (`*+`): given back one by one, 250 of them cost a third of a second to refuse.
_DIGIT: Final = re.compile(r"[0-9]")
_PLAIN: Final = re.compile(r"[+-]?[0-9]{1,15}(?:\.[0-9]{0,4})?")
_NUMBER: Final = re.compile(
    r"""
    (?P<marks>(?:[-+$€%]\ *+)*+)
    (?P<open>\(\ *+(?P<inside>[$€]?)\ *+)?
    (?P<whole>[0-9]+(?:,[0-9]{3,})*|)(?P<decimals>\.[0-9]*)?(?P<exponent>[eE][+-]?[0-9]{1,5})?
    (?P<close>\ *+\))?
    \ *+(?P<unit>[%€]?)
    """,
    re.VERBOSE,
)
_FRACTION: Final = re.compile(r"([+-]?) *+([0-9]{1,15}) ++([0-9]{1,15})/([0-9]{1,15})")
_TIME: Final = re.compile(
    r"(?P<first>[0-9]{1,4})(?: *+: *+(?P<second>[0-9]{0,4}))?(?:(?<=[0-9]) *+: *+(?P<third>[0-9]{1,4}))?"
    r"(?P<fraction>\.[0-9]{0,9})?(?: *+(?P<half>AM|PM|A|P))?",
    re.IGNORECASE,
)
_DATE_NUMBERS: Final = re.compile(r"([0-9]{1,4}) *+[/-] *+([0-9]{1,4})(?: *+[/-] *+([0-9]{1,4}))?")
_GAP: Final = r"(?: *+[-/] *+| *+)"
_SPACES: Final = re.compile(r" +")
_DAY_NAME: Final = re.compile(rf"([0-9]{{1,2}}){_GAP}([A-Za-z]{{3,9}})(?:{_GAP}([0-9]{{1,4}}))?")
_NAME_DAY: Final = re.compile(rf"([A-Za-z]{{3,9}}){_GAP}([0-9]{{1,4}})(?:(?: *+[-/,] *+| ++)([0-9]{{1,4}}))?")


def read_number(text: str, date_1904: bool = False, year: int | None = None) -> float | None:
    """The number that a text stands for; None where Excel sees none (#VALUE!).

    `year` is the one that a date without a year gets ("1/31"); without it such a date is not read. Spaces around a
    number count for nothing; around a date or time they make it a mere text.
    """
    if _PLAIN.fullmatch(text):
        return float(text)
    bare = text.strip(" ")
    if len(bare) > TEXT_MAX or not _DIGIT.search(bare):
        return None
    number = _decimal(bare)
    if number is None:
        number = _fraction(bare)
    if number is None and bare == text:
        moment = _moment(text, date_1904, year)
        number = None if moment is None else moment[0] + moment[1]
    return number


def read_date(text: str, date_1904: bool = False, year: int | None = None) -> float | None:
    """The serial of the day that a text names, with the whole days of its time (0 for a time alone); None for none."""
    moment = _moment(text.strip(" "), date_1904, year) if len(text) <= TEXT_MAX else None
    return None if moment is None else moment[0] + moment[1] // 1


def read_time(text: str, year: int | None = None) -> float | None:
    """The part of a day, 0 up to 1, that a text with a time stands for (0 for a date alone); None for neither."""
    moment = _moment(text.strip(" "), False, year or 1904) if len(text) <= TEXT_MAX else None
    return None if moment is None else moment[1] % 1.0


def serial_of(year: int, month: int, day: int, date_1904: bool = False) -> float | None:
    """The serial of a day, the phantom 29 February 1900 included; None for no such day or one before the system's."""
    if not (1900 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days.month_length(year, month)):
        return None
    serial = days.join(year, month, day) - (DAYS_BETWEEN_SYSTEMS if date_1904 else 0)
    return float(serial) if serial >= 0 else None


def kept_digits(text: str) -> float:
    """The float of a decimal numeral of which only the first 15 significant digits count, as Excel keeps them."""
    mantissa, mark, exponent = text.lower().partition("e")
    seen, kept = 0, []
    for character in mantissa:
        if character.isdigit() and (seen or character != "0"):
            seen += 1
            character = character if seen <= _DIGITS_KEPT else "0"
        kept.append(character)
    return float("".join(kept) + mark + exponent)


def _decimal(text: str) -> float | None:
    """A number with signs, currency, thousands, percent or accountant's parentheses, each at most once."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    decimals = found["decimals"] or ""
    marks = found["marks"].replace(" ", "") + (found["inside"] or "") + found["unit"]
    signs = marks.count("+") + marks.count("-")
    currencies = marks.count("$") + marks.count("€")
    if not found["whole"] and len(decimals) < 2:
        return None
    if currencies + marks.count("%") > 1 or signs + bool(found["open"]) > 1:
        return None
    if bool(found["open"]) != bool(found["close"]):
        return None
    number = kept_digits((found["whole"].replace(",", "") or "0") + decimals + (found["exponent"] or ""))
    if number in (float("inf"), float("-inf")):
        return None
    if "%" in marks:
        number /= 100.0
    return -number if "-" in marks or found["open"] else number


def _fraction(text: str) -> float | None:
    """A mixed fraction: 1 1/2."""
    found = _FRACTION.fullmatch(text)
    if found is None or not int(found[4]):
        return None
    number = int(found[2]) + int(found[3]) / int(found[4])
    return -number if found[1] == "-" else number


def _moment(text: str, date_1904: bool, year: int | None) -> tuple[float, float] | None:
    """(day, part of a day) of a date, a time, or both in either order."""
    if not any(mark in text for mark in ":/-") and not any(character.isalpha() for character in text):
        return None
    time = _time(text)
    if time is not None:
        return 0.0, time
    day = _day(text, date_1904, year)
    if day is not None:
        return day, 0.0
    gaps = [found.start() for found in _SPACES.finditer(text)]
    for gap in gaps if len(gaps) <= _GAPS_MAX else ():
        first, second = text[:gap].rstrip(" ,"), text[gap:].lstrip(" ")
        for dates, hours in ((first, second), (second, first)):
            time = _time(hours)
            day = None if time is None else _day(dates, date_1904, year)
            if time is not None and day is not None:
                return day, time
    return None


def _time(text: str) -> float | None:
    """12:30, 12:30:15.5 PM, 6 pm; 12:30.5 is minutes and seconds. One part may be past its limit: 25:00, 0:90."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    half = (found["half"] or "").upper()
    if found["second"] is None and (not half or found["fraction"]):
        return None
    fraction = float("0" + (found["fraction"] or ".0"))
    parts = [int(found[name] or 0) for name in ("first", "second", "third")]
    if found["fraction"] is not None and found["third"] is None:
        parts = [0, *parts[:2]]
    hours, minutes, seconds = parts
    past = (hours >= 24) + (minutes >= 60) + (seconds >= 60)
    if past > 1:
        return None
    if half:
        if past or hours > 12:
            return None
        hours = hours % 12 + (12 if half.startswith("P") else 0)
    return (hours * 3600 + minutes * 60 + seconds + fraction) / 86_400


def _day(text: str, date_1904: bool, year: int | None) -> float | None:
    """The serial of a written day: numbers apart by / or -, or a month's name with a day or a year."""
    found = _DATE_NUMBERS.fullmatch(text)
    if found:
        return _numbered(found[1], found[2], found[3], date_1904, year)
    for pattern, order in ((_DAY_NAME, (3, 2, 1)), (_NAME_DAY, (3, 1, 2))):
        found = pattern.fullmatch(text)
        month = _month(found[order[1]]) if found else None
        if found is None or month is None:
            continue
        years, number = found[order[0]], found[order[2]]
        if years is None:
            return _without_year(month, number, date_1904, year)
        return _serial(years, month, int(number), date_1904)
    return None


def _numbered(first: str, second: str, third: str | None, date_1904: bool, year: int | None) -> float | None:
    """m/d/y, y/m/d with a whole year, m/d or m/y."""
    if len(first) >= 3:
        return None if third is None else _serial(first, int(second), int(third), date_1904)
    if third is not None:
        return _serial(third, int(first), int(second), date_1904)
    return _without_year(int(first), second, date_1904, year)


def _without_year(month: int, number: str, date_1904: bool, year: int | None) -> float | None:
    """A month and one number: a day of the given year where it can be one, else a year."""
    if not 1 <= month <= 12:
        return None
    if len(number) <= 2 and 1 <= int(number) <= days.month_length(1904, month):
        serial = None if year is None else serial_of(year, month, int(number), date_1904)
        if serial is not None or year is None:  # no such day that year: 2/29 is February 2029
            return serial
    return _serial(number, month, 1, date_1904)


def _serial(years: str, month: int, day: int, date_1904: bool) -> float | None:
    year = int(years)
    if len(years) <= 2:
        year += 2000 if year < _PIVOT_YEAR else 1900
    return serial_of(year, month, day, date_1904)


def _month(name: str) -> int | None:
    """1 to 12 for an English month's name or the first letters of one, three at least."""
    lowered = name.lower()
    return next((place for place, month in enumerate(MONTHS, 1) if month.lower().startswith(lowered)), None)
