"""Text that Excel takes for a number, a date or a time, as VALUE, DATEVALUE and arithmetic read it in a locale."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from core.formula.values import days
from core.formula.values.locales import DEFAULT, Locale, current
from core.formula.values.value import year_in_use
from core.values import DAYS_BETWEEN_SYSTEMS

TEXT_MAX: Final = 255
"""Characters that may spell a number; Excel reads none from longer text."""

_DIGITS_KEPT: Final = 15
"""Significant digits that Excel keeps of a written number; the others count as zeros."""

_GAPS_MAX: Final = 16
"""Runs of spaces in a date with its time: four in `1 - May - 2024`, five in `1 : 2 : 3.5 PM`, a few between them."""

_PIVOT_YEAR: Final = 30
"""Two-digit years below it are of the 2000s."""

# Spaces are taken possessively (`*+`): given back one by one, 250 of them cost a third of a second to refuse.
_DIGIT: Final = re.compile(r"[0-9]")
_FRACTION: Final = re.compile(r"([+-]?) *+([0-9]{1,15}) ++([0-9]{1,15})/([0-9]{1,15})")
_SPACES: Final = re.compile(r" +")
_MARKED: Final = re.compile(r"(?:([0-9]{2}|[0-9]{4})年)?([0-9]{1,2})月(?:([0-9]{1,2})日)?")
_BLANKS: Final = " \u00a0\u202f"
_GROUP_CHARACTERS: Final = {"\u202f": _BLANKS, "\u00a0": _BLANKS, "’": "’'"}
"""What stands for a character between thousands where keyboards have none of its own."""


Year = Callable[[], int | None]
"""Gives the year of a date that is written without one ("1/31"); None where such a text is no date."""


def read_number(text: str, date_1904: bool = False, year: Year = year_in_use) -> float | None:
    """Return the number that a text stands for; None where Excel sees none (#VALUE!).

    `year` is that of a date without one: by the calculation's clock unless the caller knows another. Spaces around a
    number count for nothing; around a date or time they make it a mere text.

    Raises:
        FormulaError: the date has no year, and the calculation has no clock.
    """
    return _reader(current()).number(text, date_1904, year)


def read_cell(text: str, date_1904: bool = False) -> float | None:
    """Return the same for a cell's text beside a criterion.

    Without a clock a date without a year is a mere text.
    """
    return _reader(current()).number(text, date_1904, _year_if_known)


def read_full_number(text: str, date_1904: bool = False) -> float | None:
    """Return the same, where a date without a year is a mere text."""
    return _reader(current()).number(text, date_1904, _no_year)


def read_plain_number(text: str) -> float | None:
    """Return the same with a point before the decimals and the first of two numbers of a date a month, whatever the
    locale."""
    return _reader(DEFAULT).number(text, False, _no_year)


def read_date(text: str, date_1904: bool = False, year: Year = year_in_use) -> float | None:
    """Return the serial of the day that a text names, with the whole days of its time (0 for a time alone); None for
    none."""
    moment = _reader(current()).moment(text.strip(" "), date_1904, year) if len(text) <= TEXT_MAX else None
    return None if moment is None else moment[0] + moment[1] // 1


def read_time(text: str) -> float | None:
    """Return the part of a day, 0 up to 1, that a text with a time stands for (0 for a date alone); None for
    neither."""
    moment = _reader(current()).moment(text.strip(" "), False, _leap_year) if len(text) <= TEXT_MAX else None
    return None if moment is None else moment[1] % 1.0


def _year_if_known() -> int | None:
    return year_in_use(True)


def _no_year() -> None:
    return None


def _leap_year() -> int:
    return 1904


def serial_of(year: int, month: int, day: int, date_1904: bool = False) -> float | None:
    """Return a day's serial, the phantom 29 February 1900 included, or None."""
    if not (1900 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days.month_length(year, month)):
        return None
    serial = days.join(year, month, day) - (DAYS_BETWEEN_SYSTEMS if date_1904 else 0)
    return float(serial) if serial >= 0 else None


def kept_digits(text: str) -> float:
    """Return the float of a decimal numeral of which only the first 15 significant digits count, as Excel keeps
    them."""
    mantissa, mark, exponent = text.lower().partition("e")
    seen, kept = 0, []
    for character in mantissa:
        if character.isdigit() and (seen or character != "0"):
            seen += 1
            character = character if seen <= _DIGITS_KEPT else "0"
        kept.append(character)
    return float("".join(kept) + mark + exponent)


class _Reader:
    """The forms of one locale."""

    def __init__(self, locale: Locale) -> None:
        point, group = re.escape(locale.decimal), re.escape(_GROUP_CHARACTERS.get(locale.group, locale.group))
        symbols = sorted({"$", "€", locale.currency}, key=len, reverse=True)
        money = "|".join(map(re.escape, symbols))
        behind = "|".join(map(re.escape, sorted({"€", locale.currency} - {"$"}, key=len, reverse=True)))
        gap = "[ ]*+" if locale.decimal == "." else f"[{_BLANKS}]*+"
        # Where a point stands between thousands and between the numbers of a date, 1.2024 is a month of a year.
        digits = "{3}" if locale.group == "." else "{3,}"
        apart = "[-/.]" if locale.has_dotted_dates else "[-/]"
        gap_of_date = rf"(?: *+{apart} *+| *+)"
        name = r"([^\W\d_]{3,10}\.?)" if locale.months[0] != DEFAULT.months[0] else "([A-Za-z]{3,9})"
        ordinal = r"(?:\. ++)?" if locale.has_dotted_dates else ""
        self.locale = locale
        self.plain = re.compile(rf"[+-]?[0-9]{{1,15}}(?:{point}[0-9]{{0,4}})?")
        self.decimal_form = re.compile(
            rf"""
            (?P<marks>(?:(?:[-+%]|{money}){gap})*+)
            (?P<open>\({gap}(?P<inside>(?:{money})?){gap})?
            (?P<whole>[0-9]+(?:[{group}][0-9]{digits})*|)(?P<decimals>{point}[0-9]*)?(?P<exponent>[eE][+-]?[0-9]{{1,5}})?
            (?P<close>{gap}\))?
            {gap}(?P<unit>(?:%|{behind})?)
            """,
            re.VERBOSE,
        )
        self.currencies = re.compile(money)
        self.groups = re.compile(f"[{group}]")
        self.time_form = re.compile(
            r"(?P<first>[0-9]{1,4})(?: *+: *+(?P<second>[0-9]{0,4}))?(?:(?<=[0-9]) *+: *+(?P<third>[0-9]{1,4}))?"
            rf"(?P<fraction>{point}[0-9]{{0,9}})?(?: ++(?P<half>AM|PM|A|P))?",
            re.IGNORECASE,
        )
        self.numbers_form = re.compile(rf"([0-9]{{1,4}}) *+{apart} *+([0-9]{{1,4}})(?: *+{apart} *+([0-9]{{1,4}}))?")
        self.day_first = re.compile(rf"([0-9]{{1,2}}){ordinal}{gap_of_date}{name}(?:{gap_of_date}([0-9]{{1,4}}))?")
        self.name_first = re.compile(rf"{name}{gap_of_date}([0-9]{{1,4}})(?:(?: *+[-/,] *+| ++)([0-9]{{1,4}}))?")
        self.date_marks = ":/-." if locale.has_dotted_dates else ":/-"

    def number(self, text: str, date_1904: bool, year: Year) -> float | None:
        """`read_number`."""
        if self.plain.fullmatch(text):
            return float(text.replace(self.locale.decimal, "."))
        bare = text.strip(" ")
        if len(bare) > TEXT_MAX or not _DIGIT.search(bare):
            return None
        number = self.decimal(bare)
        if number is None:
            number = _fraction(bare)
        if number is None and bare == text:
            moment = self.moment(text, date_1904, year)
            number = None if moment is None else moment[0] + moment[1]
        return number

    def decimal(self, text: str) -> float | None:
        """Return a number with signs, currency, thousands, percent or accountant's parentheses, each at most once."""
        match = self.decimal_form.fullmatch(text)
        if match is None:
            return None
        decimals = (match["decimals"] or "").replace(self.locale.decimal, ".")
        marks = match["marks"] + (match["inside"] or "") + match["unit"]
        bare, currencies = self.currencies.subn("", marks)
        signs = bare.count("+") + bare.count("-")
        if not match["whole"] and len(decimals) < 2:
            return None
        if currencies + bare.count("%") > 1 or signs + bool(match["open"]) > 1:
            return None
        if bool(match["open"]) != bool(match["close"]):
            return None
        number = kept_digits((self.groups.sub("", match["whole"]) or "0") + decimals + (match["exponent"] or ""))
        if number in (float("inf"), float("-inf")):
            return None
        if "%" in bare:
            number /= 100.0
        return -number if "-" in bare or match["open"] else number

    def moment(self, text: str, date_1904: bool, year: Year) -> tuple[float, float] | None:
        """Return (day, part of a day) of a date, a time, or both in either order."""
        if not any(mark in text for mark in self.date_marks) and not any(character.isalpha() for character in text):
            return None
        time = self.time(text)
        if time is not None:
            return 0.0, time
        day = self.day(text, date_1904, year)
        if day is not None:
            return day, 0.0
        gaps = [match.start() for match in _SPACES.finditer(text)]
        for gap in gaps if len(gaps) <= _GAPS_MAX else ():
            first, second = text[:gap].rstrip(" ,"), text[gap:].lstrip(" ")
            for dates, hours in ((first, second), (second, first)):
                time = self.time(hours)
                day = None if time is None else self.day(dates, date_1904, year)
                if time is not None and day is not None:
                    return day, time
        return None

    def time(self, text: str) -> float | None:
        """12:30, 12:30:15.5 PM, 6 pm; 12:30.5 is minutes and seconds.

        One part may be past its limit: 25:00, 0:90.
        """
        match = self.time_form.fullmatch(text)
        if match is None:
            return None
        half = (match["half"] or "").upper()
        if match["second"] is None and (not half or match["fraction"]):
            return None
        fraction = float("0" + (match["fraction"] or ".0").replace(self.locale.decimal, "."))
        parts = [int(match[name] or 0) for name in ("first", "second", "third")]
        if match["fraction"] is not None and match["third"] is None:
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

    def day(self, text: str, date_1904: bool, year: Year) -> float | None:
        """Return the serial of a written day.

        Numbers apart by / or -, or a month's name with a day or a year.
        """
        match = self.numbers_form.fullmatch(text)
        if match:
            return self.numbered(match[1], match[2], match[3], date_1904, year)
        for pattern, order in ((self.day_first, (3, 2, 1)), (self.name_first, (3, 1, 2))):
            match = pattern.fullmatch(text)
            month = self.month(match[order[1]]) if match else None
            if match is None or month is None:
                continue
            years, number = match[order[0]], match[order[2]]
            if years is None:
                return _without_year(month, number, date_1904, year)
            return _serial(years, month, int(number), date_1904)
        return self.marked(text, date_1904, year) if self.locale.native_days else None

    def numbered(self, first: str, second: str, third: str | None, date_1904: bool, year: Year) -> float | None:
        """Return numbers in the locale's order or y/m/d with a whole year.

        Two of them are a day and a month, or m/y.
        """
        order = self.locale.order
        if len(first) >= 3:
            return None if third is None else _serial(first, int(second), int(third), date_1904)
        if order == "dmy":
            if third is not None:
                return _serial(third, int(second), int(first), date_1904)
            if len(second) <= 2 and 1 <= int(second) <= 12:
                return _without_year(int(second), first, date_1904, year, is_day=True)
            return _serial(second, int(first), 1, date_1904)
        if third is None:
            return _without_year(int(first), second, date_1904, year)
        if order == "ymd":  # with the year behind it is nobody's order there
            return _serial(first, int(second), int(third), date_1904) if len(third) <= 2 else None
        return _serial(third, int(first), int(second), date_1904)

    def marked(self, text: str, date_1904: bool, year: Year) -> float | None:
        """2024年1月31日, with a part left out at either end."""
        match = _MARKED.fullmatch(text)
        if match is None or (match[1] is None and match[3] is None):
            return None
        if match[1] is None:
            return _without_year(int(match[2]), match[3], date_1904, year, is_day=True)
        return _serial(match[1], int(match[2]), int(match[3] or 1), date_1904)

    def month(self, name: str) -> int | None:
        """1 to 12 for a month's name, its short form, or the first letters of either, three at least."""
        wanted = name.rstrip(".").lower()
        forms = [
            {full.lower(), short.rstrip(".").lower()}
            for full, short in zip(self.locale.months, self.locale.months_short, strict=True)
        ]
        near = []
        for place, names in enumerate(forms, 1):
            if wanted in names:
                return place
            if any(form.startswith(wanted) for form in names):
                near.append(place)
        return near[0] if len(near) == 1 else None


@lru_cache
def _reader(locale: Locale) -> _Reader:
    return _Reader(locale)


def _fraction(text: str) -> float | None:
    """Return a mixed fraction: 1 1/2."""
    match = _FRACTION.fullmatch(text)
    if match is None or not int(match[4]):
        return None
    number = int(match[2]) + int(match[3]) / int(match[4])
    return -number if match[1] == "-" else number


def _without_year(month: int, number: str, date_1904: bool, year: Year, *, is_day: bool = False) -> float | None:
    """Return a month and one number.

    A day of that year where it can be one, else a year (unless it `is_day`).
    """
    if not 1 <= month <= 12:
        return None
    if len(number) <= 2 and 1 <= int(number) <= days.month_length(1904, month):
        known = year()
        serial = None if known is None else serial_of(known, month, int(number), date_1904)
        if serial is not None or known is None:  # no such day that year: 2/29 is February 2029
            return serial
    return None if is_day else _serial(number, month, 1, date_1904)


def _serial(years: str, month: int, day: int, date_1904: bool) -> float | None:
    year = int(years)
    if len(years) <= 2:
        year += 2000 if year < _PIVOT_YEAR else 1900
    return serial_of(year, month, day, date_1904)
