"""The calendar of serials in whole numbers.

A day's year, month and day, month ends, and how finance counts days.

Serials here are those of the 1900 system, with 29 February 1900 (serial 60) that Excel believes in.
"""

from __future__ import annotations

from typing import Final

from core.formula.values.value import NUM, Failure
from core.values import DAYS_BETWEEN_SYSTEMS

SERIAL_MAX: Final = 2_958_465
"""31 December 9999."""

SECONDS_PER_DAY: Final = 86_400

_BEFORE_MONTH: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_BEFORE_MONTH_LEAP: Final = (0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335)
_LENGTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def is_leap(year: int) -> bool:
    """Return whether a year has 366 days; 1900 has, as in Lotus 1-2-3."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0 or year == 1900)


def month_length(year: int, month: int) -> int:
    """Return how many days a month (1 to 12) has."""
    return 29 if month == 2 and is_leap(year) else _LENGTHS[month - 1]


def _new_year(year: int) -> int:
    """Return the serial of 1 January."""
    before = year - 1
    serial = 365 * (year - 1900) + before // 4 - before // 100 + before // 400 - 459
    return serial if year <= 1900 else serial + 1


_NEW_YEARS: Final = tuple(_new_year(year) for year in range(1900, 10_001))


def join(year: int, month: int, day: int) -> int:
    """Return the serial of a day of a year from 1900 to 9999.

    A month or day past its end runs on, backwards too.

    Raises:
        Failure: NUM where the day is none of Excel's.
    """
    year += (month - 1) // 12
    month = (month - 1) % 12
    if not 1900 <= year <= 9999:
        raise Failure(NUM)
    before = _BEFORE_MONTH_LEAP if is_leap(year) else _BEFORE_MONTH
    serial = _NEW_YEARS[year - 1900] + before[month] + day - 1
    if not 0 <= serial <= SERIAL_MAX:
        raise Failure(NUM)
    return serial


def split(serial: int) -> tuple[int, int, int]:
    """Return year, month and day of a serial.

    Serial 0 is the 0 January 1900 that Excel shows.
    """
    if serial == 0:
        return 1900, 1, 0
    year = 1900 + int(serial / 365.2425)
    if serial < _NEW_YEARS[year - 1900]:
        year -= 1
    elif serial >= _NEW_YEARS[year - 1899]:
        year += 1
    day = serial - _NEW_YEARS[year - 1900]
    before = _BEFORE_MONTH_LEAP if is_leap(year) else _BEFORE_MONTH
    month = min(day // 29, 11)
    if day < before[month]:
        month -= 1
    return year, month + 1, day - before[month] + 1


def add_months(serial: int, months: int, *, month_end: bool = False) -> int:
    """Return the same day some months on, or the last of that month where it is shorter, or always with `month_end`.

    Raises:
        Failure: NUM where the day is none of Excel's.
    """
    year, month, day = split(serial)
    month += months
    year += (month - 1) // 12
    month = (month - 1) % 12 + 1
    if not 1900 <= year <= 9999:
        raise Failure(NUM)
    length = month_length(year, month)
    return join(year, month, length if month_end else min(day, length))


def is_month_end(serial: int) -> bool:
    """Return whether a day is the last of its month."""
    year, month, day = split(serial)
    return day == month_length(year, month)


def weekday(serial: int) -> int:
    """0 for Monday to 6 for Sunday, as Excel counts: serial 1 is a Sunday."""
    return (serial + 5) % 7


def cut(value: float, date_1904: bool) -> int:
    """Return the 1900-system serial of a number that stands for a day, its time cut off.

    Raises:
        Failure: NUM outside Excel's days.
    """
    if not 0 <= value < SERIAL_MAX + 1:
        raise Failure(NUM)
    serial = int(value) + DAYS_BETWEEN_SYSTEMS if date_1904 else int(value)
    if serial > SERIAL_MAX:
        raise Failure(NUM)
    return serial


def moment(value: float, date_1904: bool) -> tuple[int, int]:
    """Return serial and second of the day of a number.

    Half a second and more counts as the next, into the next day too.
    """
    serial = cut(value, date_1904)
    second = int((value - int(value)) * SECONDS_PER_DAY + 0.5)
    if second == SECONDS_PER_DAY:
        return cut(serial + 1.0, False), 0
    return serial, second


def back(serial: int, date_1904: bool) -> float:
    """Return the number that a formula shows for a 1900-system serial.

    Raises:
        Failure: NUM for a day before the 1904 system.
    """
    if not date_1904:
        return float(serial)
    if serial < DAYS_BETWEEN_SYSTEMS:
        raise Failure(NUM)
    return float(serial - DAYS_BETWEEN_SYSTEMS)


def days_360(start: int, end: int, *, february_end: bool = True, both: bool = False) -> int:
    """Return days of the US (NASD) 30/360 year.

    A start on the 31st or the last of February counts as the 30th; an end on the 31st does where the start is past
    the 29th. `february_end`: an end on the last of February counts as the 30th where the start is one too (YEARFRAC
    and the bonds; DAYS360 does without). `both`: ends of months count as the 30th whatever the start is.
    """
    year_1, month_1, day_1 = split(start)
    year_2, month_2, day_2 = split(end)
    february_start = month_1 == 2 and day_1 == month_length(year_1, 2)
    if february_end and month_2 == 2 and day_2 == month_length(year_2, 2) and (february_start or both):
        day_2 = 30
    if day_2 == 31 and (both or day_1 >= 30 or (february_start and not february_end)):
        day_2 = 30
    if day_1 == 31 or february_start:
        day_1 = 30
    return (year_2 - year_1) * 360 + (month_2 - month_1) * 30 + day_2 - day_1


def days_360_european(start: int, end: int) -> int:
    """Return days of the European 30/360 year: the 31st counts as the 30th."""
    year_1, month_1, day_1 = split(start)
    year_2, month_2, day_2 = split(end)
    return (year_2 - year_1) * 360 + (month_2 - month_1) * 30 + min(day_2, 30) - min(day_1, 30)


def days_between(start: int, end: int, basis: int) -> int:
    """Return days from start to end: 30/360 for basis 0 and 4, else true days."""
    if basis == 0:
        return days_360(start, end)
    if basis == 4:
        return days_360_european(start, end)
    return end - start


def year_length(start: int, end: int, basis: int) -> float:
    """Return days of the year that a basis divides by.

    Basis 1 takes the year itself up to a year apart, 366 where a 29 February lies between; else the mean of all
    the years touched (D. Wheeler's finding of 2008 on what Excel does).
    """
    if basis != 1:
        return 365.0 if basis == 3 else 360.0
    year_1, month_1, day_1 = split(start)
    year_2, month_2, day_2 = split(end)
    if year_1 == year_2:
        return 366.0 if _is_true_leap(year_1) else 365.0
    if year_2 == year_1 + 1 and (month_1, day_1) >= (month_2, day_2):
        across = (_is_true_leap(year_1) and month_1 <= 2) or (
            _is_true_leap(year_2) and (month_2 > 2 or (month_2 == 2 and day_2 == 29))
        )
        return 366.0 if across else 365.0
    years = range(year_1, year_2 + 1)
    return sum(366 if _is_true_leap(year) else 365 for year in years) / len(years)


def year_fraction(start: int, end: int, basis: int) -> float:
    """Return the years from start to end (start not after end)."""
    return days_between(start, end, basis) / year_length(start, end, basis)


def _is_true_leap(year: int) -> bool:
    return is_leap(year) and year != 1900
