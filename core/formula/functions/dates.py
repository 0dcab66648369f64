"""Days, times, and the distances between them."""

from __future__ import annotations

import math
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import Argument, Takes, Work, function
from core.formula.ranges.environment import Environment
from core.formula.values import days
from core.formula.values.numerals import read_date, read_time
from core.formula.values.value import NUM, OMITTED, VALUE, Date, Failure

_SERIAL: Final = Argument("serial_number", Takes.NUMBER, "The day or moment.")
_START: Final = toolpak.required("start_date", "The first day.")
_END: Final = toolpak.required("end_date", "The last day.")
_MONTHS: Final = toolpak.required("months", "How many months on; negative for back.")
_HOLIDAYS: Final = Argument("holidays", Takes.RANGE, "Further days that are not worked.", required=False)
_WEEKEND: Final = toolpak.single(
    "weekend", "1 to 7, 11 to 17, or seven digits from Monday on, 1 for a day off.", optional=True, empty=OMITTED
)


# Days from and to their parts


@function(
    "DATE", "date", "The day of a year, month and day; months and days past their end run on.",
    Argument("year", Takes.NUMBER, "The year; one below 1900 counts from 1900."),
    Argument("month", Takes.NUMBER, "The month, 1 to 12 or beyond."),
    Argument("day", Takes.NUMBER, "The day of the month, 1 to 31 or beyond."),
    environment=True,
    work=Work(call=5_000),
    examples=(("=DATE(2024,2,30)", 45_352.0), ("=DATE(108,1,2)", 39_449.0), ("=DATE(-1,1,1)", NUM)),
)  # fmt: skip
def date(environment: Environment, year: float, month: float, day: float) -> Date:
    if not 0 <= year < 10_000 or abs(month) > 1e6 or abs(day) > 1e7:
        raise Failure(NUM)
    full = math.floor(year)
    serial = days.join(full + 1900 if full < 1900 else full, math.floor(month), math.floor(day))
    return Date(days.back(serial, environment.date_1904))


@function(
    "YEAR", "date", "The year of a day.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(("=YEAR(45000)", 2023.0), ("=YEAR(0)", 1900.0), ("=YEAR(-1)", NUM)),
)  # fmt: skip
def year(environment: Environment, serial_number: float) -> int:
    return days.split(days.moment(serial_number, environment.date_1904)[0])[0]


@function(
    "MONTH", "date", "The month of a day, 1 to 12.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(("=MONTH(45000)", 3.0), ("=MONTH(60)", 2.0)),
)  # fmt: skip
def month(environment: Environment, serial_number: float) -> int:
    return days.split(days.moment(serial_number, environment.date_1904)[0])[1]


@function(
    "DAY", "date", "The day of its month, 1 to 31.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(("=DAY(45000)", 15.0), ("=DAY(60)", 29.0), ("=DAY(0)", 0.0)),
)  # fmt: skip
def day(environment: Environment, serial_number: float) -> int:
    return days.split(days.moment(serial_number, environment.date_1904)[0])[2]


@function(
    "DATEVALUE", "date", "The day that a text names.",
    Argument("date_text", Takes.VALUE, "The text of a date."),
    environment=True,
    examples=(('=DATEVALUE("22-MAY-2011")', 40_685.0), ("=DATEVALUE(5)", VALUE)),
)  # fmt: skip
def datevalue(environment: Environment, date_text: Any) -> Date:
    serial = read_date(date_text, environment.date_1904) if isinstance(date_text, str) else None
    if serial is None:
        raise Failure(VALUE)
    return Date(math.floor(serial))


@function(
    "TODAY", "date", "The day of the calculation.",
    volatile=True, environment=True,
    work=Work(call=5_000),
    examples=(("=TODAY()-INT(NOW())", 0.0),),
)  # fmt: skip
def today(environment: Environment) -> Date:
    now = environment.moment()
    return Date(days.back(days.join(now.year, now.month, now.day), environment.date_1904))


@function(
    "NOW", "date", "The moment of the calculation.",
    volatile=True, environment=True,
    work=Work(call=5_000),
    examples=(("=INT(NOW())-TODAY()", 0.0),),
)  # fmt: skip
def now(environment: Environment) -> Date:
    moment = environment.moment()
    seconds = moment.hour * 3600 + moment.minute * 60 + moment.second + moment.microsecond / 1e6
    return Date(float(today(environment)) + seconds / days.SECONDS_PER_DAY)


# Times


@function(
    "TIME", "date", "The part of a day that hours, minutes and seconds make.",
    Argument("hour", Takes.NUMBER, "Hours, up to 32767."),
    Argument("minute", Takes.NUMBER, "Minutes, up to 32767."),
    Argument("second", Takes.NUMBER, "Seconds, up to 32767."),
    work=Work(call=5_000),
    examples=(("=TIME(12,0,0)", 0.5), ("=TIME(27,0,0)", 0.125), ("=TIME(0,0,-1)", NUM)),
)  # fmt: skip
def time(hour: float, minute: float, second: float) -> float:
    if max(abs(hour), abs(minute), abs(second)) >= 32_768:
        raise Failure(NUM)
    seconds = int(hour) * 3600 + int(minute) * 60 + int(second)
    if seconds < 0:
        raise Failure(NUM)
    return seconds % days.SECONDS_PER_DAY / days.SECONDS_PER_DAY


@function(
    "HOUR", "date", "The hour of a moment, 0 to 23.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(("=HOUR(0.75)", 18.0), ('=HOUR("7:45 PM")', 19.0)),
)  # fmt: skip
def hour(environment: Environment, serial_number: float) -> int:
    return days.moment(serial_number, environment.date_1904)[1] // 3600


@function(
    "MINUTE", "date", "The minute of a moment, 0 to 59.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(('=MINUTE("12:45:00 PM")', 45.0),),
)  # fmt: skip
def minute(environment: Environment, serial_number: float) -> int:
    return days.moment(serial_number, environment.date_1904)[1] // 60 % 60


@function(
    "SECOND", "date", "The second of a moment, rounded, 0 to 59.", _SERIAL,
    environment=True,
    work=Work(call=5_000),
    examples=(('=SECOND("4:48:18 PM")', 18.0),),
)  # fmt: skip
def second(environment: Environment, serial_number: float) -> int:
    return days.moment(serial_number, environment.date_1904)[1] % 60


@function(
    "TIMEVALUE", "date", "The part of a day that a text with a time names.",
    Argument("time_text", Takes.VALUE, "The text of a time, a date before it or not."),
    examples=(('=TIMEVALUE("2:24 AM")', 0.1), ('=TIMEVALUE("noon")', VALUE)),
)  # fmt: skip
def timevalue(time_text: Any) -> float:
    part = read_time(time_text) if isinstance(time_text, str) else None
    if part is None:
        raise Failure(VALUE)
    return part


# Weeks

_WEEK_STARTS: Final = {1: 6, 2: 0} | {code: code - 11 for code in range(11, 18)}
"""The weekday (0 Monday) that a return_type begins its week with."""


@function(
    "WEEKDAY", "date", "Which day of the week a day is.", _SERIAL,
    Argument("return_type", Takes.INTEGER, "1 from Sunday 1, 2 from Monday 1, 3 from Monday 0, 11 to 17 from that day.",
             required=False),
    environment=True,
    work=Work(call=5_000),
    examples=(("=WEEKDAY(45000)", 4.0), ("=WEEKDAY(45000,2)", 3.0), ("=WEEKDAY(1,99)", NUM)),
)  # fmt: skip
def weekday(environment: Environment, serial_number: float, return_type: int = 1) -> int:
    day_number = days.weekday(days.moment(serial_number, environment.date_1904)[0])
    if return_type == 3:
        return day_number
    if return_type not in _WEEK_STARTS:
        raise Failure(NUM)
    return (day_number - _WEEK_STARTS[return_type]) % 7 + 1


@function(
    "WEEKNUM", "date", "The week of the year in which a day falls.",
    toolpak.required("serial_number", "The day."),
    toolpak.single(
        "return_type", "1 weeks from Sunday, 2 from Monday, 11 to 17 from that day, 21 ISO weeks.",
        kind=Takes.ANY, optional=True,  # the day is looked at before an error here
    ),
    environment=True,
    examples=(("=WEEKNUM(DATE(2012,3,9))", 10.0), ("=WEEKNUM(DATE(2012,3,9),2)", 11.0), ("=WEEKNUM(45000,99)", NUM)),
)  # fmt: skip
def weeknum(environment: Environment, serial_number: Any, return_type: Any = 1.0) -> int:
    serial, kind = toolpak.day(environment, serial_number), toolpak.whole(return_type)
    if kind == 21:
        return _iso_week(serial)
    if kind not in _WEEK_STARTS:
        raise Failure(NUM)
    new_year = days.join(days.split(serial)[0], 1, 1)
    return (serial - new_year + (days.weekday(new_year) - _WEEK_STARTS[kind]) % 7) // 7 + 1


@function(
    "ISOWEEKNUM", "date", "The ISO 8601 week in which a day falls.",
    Argument("date", Takes.NUMBER, "The day."),
    environment=True,
    examples=(("=ISOWEEKNUM(DATE(2012,3,9))", 10.0), ("=ISOWEEKNUM(DATE(2021,1,3))", 53.0)),
)  # fmt: skip
def isoweeknum(environment: Environment, date: float) -> int:
    return _iso_week(days.cut(date, environment.date_1904))


def _iso_week(serial: int) -> int:
    thursday = serial - days.weekday(serial) + 3
    if thursday < 1:
        return 52  # that of 28 December 1899
    return (thursday - days.join(days.split(thursday)[0], 1, 1)) // 7 + 1


# Months on


@function(
    "EDATE", "date", "The same day some months on, or the month's last where it has no such day.",
    _START, _MONTHS,
    environment=True,
    work=Work(call=3_000, reads=True),
    examples=(("=EDATE(DATE(2011,1,31),1)", 40_602.0), ("=EDATE(45000,-1)", 44_972.0), ("=EDATE(TRUE,1)", VALUE)),
)  # fmt: skip
def edate(environment: Environment, start_date: Any, months: Any) -> Date:
    serial = days.add_months(toolpak.day(environment, start_date), toolpak.whole(months))
    return Date(days.back(serial, environment.date_1904))


@function(
    "EOMONTH", "date", "The last day of the month some months on.",
    _START, _MONTHS,
    environment=True,
    work=Work(call=3_000, reads=True),
    examples=(("=EOMONTH(DATE(2011,1,1),1)", 40_602.0), ("=EOMONTH(45000,0)", 45_016.0)),
)  # fmt: skip
def eomonth(environment: Environment, start_date: Any, months: Any) -> Date:
    serial = days.add_months(toolpak.day(environment, start_date), toolpak.whole(months), month_end=True)
    return Date(days.back(serial, environment.date_1904))


# Distances


@function(
    "DAYS", "date", "How many days lie between two days.",
    Argument("end_date", Takes.NUMBER, "The later day."),
    Argument("start_date", Takes.NUMBER, "The earlier day."),
    environment=True,
    work=Work(call=5_000),
    examples=(('=DAYS("2021-03-15","2021-02-01")', 42.0), ("=DAYS(1,10)", -9.0)),
)  # fmt: skip
def days_apart(environment: Environment, end_date: float, start_date: float) -> int:
    return days.cut(end_date, environment.date_1904) - days.cut(start_date, environment.date_1904)


@function(
    "DAYS360", "date", "How many days lie between two days in a year of twelve months of 30.",
    Argument("start_date", Takes.NUMBER, "The earlier day."),
    Argument("end_date", Takes.NUMBER, "The later day."),
    Argument("method", Takes.LOGICAL, "TRUE for the European method, else that of the US.", required=False),
    environment=True,
    examples=(("=DAYS360(DATE(2011,1,30),DATE(2011,2,1))", 1.0), ("=DAYS360(DATE(2024,2,29),DATE(2025,2,28))", 358.0)),
)  # fmt: skip
def days360(environment: Environment, start_date: float, end_date: float, method: bool = False) -> int:
    start, _ = days.moment(start_date, environment.date_1904)
    end, _ = days.moment(end_date, environment.date_1904)
    return days.days_360_european(start, end) if method else days.days_360(start, end, february_end=False)


@function(
    "YEARFRAC", "date", "How many years lie between two days, by a day count.",
    # The basis is looked at before the days, and errors in their turn.
    toolpak.single("start_date", "The first day.", kind=Takes.ANY, empty=OMITTED),
    toolpak.single("end_date", "The last day.", kind=Takes.ANY, empty=OMITTED),
    toolpak.single("basis", toolpak.BASIS.description, kind=Takes.ANY, optional=True),
    environment=True,
    examples=(
        ("=YEARFRAC(DATE(2012,1,1),DATE(2012,7,30),3)", 211 / 365),
        ("=YEARFRAC(DATE(2012,1,1),DATE(2012,7,30),1)", 211 / 366),
        ("=YEARFRAC(1,2,5)", NUM),
    ),
)  # fmt: skip
def yearfrac(environment: Environment, start_date: Any, end_date: Any, basis: Any = 0.0) -> float:
    count = toolpak.basis_of(basis)
    start, end = toolpak.day(environment, start_date), toolpak.day(environment, end_date)
    return days.year_fraction(min(start, end), max(start, end), count)


@function(
    "DATEDIF", "date", "How many whole years, months or days lie between two days.",
    Argument("start_date", Takes.NUMBER, "The earlier day."),
    Argument("end_date", Takes.NUMBER, "The later day."),
    Argument("unit", Takes.TEXT, "Y, M or D; MD days beyond months, YM months beyond years, YD days beyond years."),
    environment=True,
    work=Work(call=5_000),
    examples=(('=DATEDIF(DATE(2001,6,1),DATE(2002,8,15),"D")', 440.0), ('=DATEDIF(2,1,"D")', NUM)),
)  # fmt: skip
def datedif(environment: Environment, start_date: float, end_date: float, unit: str) -> int:
    start, end = days.cut(start_date, environment.date_1904), days.cut(end_date, environment.date_1904)
    if start > end or unit.upper() not in _DISTANCES:
        raise Failure(NUM)
    return int(_DISTANCES[unit.upper()](start, end))


def _full_months(start: int, end: int) -> int:
    year_1, month_1, day_1 = days.split(start)
    year_2, month_2, day_2 = days.split(end)
    return (year_2 - year_1) * 12 + month_2 - month_1 - (day_2 < day_1)


def _days_beyond_months(start: int, end: int) -> int:
    """From the start's day in the month before the end's, which may not have such a day: then it runs on (and the
    difference can even be negative), as Excel warns."""
    year, month, day_2 = days.split(end)
    day_1 = days.split(start)[2]
    return day_2 - day_1 if day_1 <= day_2 else end - days.join(year, month - 1, day_1)


def _days_beyond_years(start: int, end: int) -> int:
    """To the end's day and month in the start's year or the one after it.

    Excel's leap days are those of the start.
    """
    year, month_1, day_1 = days.split(start)
    _, month_2, day_2 = days.split(end)
    return days.join(year if (month_2, day_2) >= (month_1, day_1) else year + 1, month_2, day_2) - start


_DISTANCES: Final = {
    "Y": lambda start, end: _full_months(start, end) // 12,
    "M": _full_months,
    "D": lambda start, end: end - start,
    "YM": lambda start, end: _full_months(start, end) % 12,
    "MD": _days_beyond_months,
    "YD": _days_beyond_years,
}


# Working days

_DAYS_OFF: Final = {code: {(code + 4) % 7, (code + 5) % 7} for code in range(1, 8)} | {
    code: {(code - 12) % 7} for code in range(11, 18)
}
"""The weekdays (0 Monday) off by the number of a weekend."""


class _Week:
    """Which days of the week are worked; counts workdays without walking over them."""

    def __init__(self, off: set[int]) -> None:
        self.places = [place for place in range(1, 8) if days.weekday(place) not in off]
        """The serials 1 to 7 that are worked."""

    def until(self, serial: int) -> int:
        """Return workdays from serial 1 to this one."""
        weeks, rest = divmod(serial, 7)
        return weeks * len(self.places) + sum(place <= rest for place in self.places)

    def number(self, count: int) -> int:
        """Return the serial of the workday of that number, serial 1 counting first."""
        weeks, rest = divmod(count - 1, len(self.places))
        return weeks * 7 + self.places[rest]

    def works(self, serial: int) -> bool:
        return (serial - 1) % 7 + 1 in self.places


_FIVE_DAYS: Final = _Week({5, 6})


def _week_of(weekend: Any) -> _Week:
    if isinstance(weekend, str):
        if len(weekend) != 7 or weekend.strip("01"):
            raise Failure(VALUE)
        return _Week({place for place, digit in enumerate(weekend) if digit == "1"})
    code = toolpak.whole(float(weekend) if isinstance(weekend, bool) else weekend)
    if code not in _DAYS_OFF:
        raise Failure(NUM)
    return _Week(_DAYS_OFF[code])


def _days_of(environment: Environment, holidays: Any, week: _Week) -> list[int]:
    """Return the holidays that would be worked otherwise, in order."""
    holiday_days = {toolpak.day(environment, cell) for cell in toolpak.every(holidays) if cell is not None}
    return sorted(filter(week.works, holiday_days))


def _count(environment: Environment, start_date: Any, end_date: Any, week: _Week, holidays: Any) -> int:
    start, end = toolpak.day(environment, start_date), toolpak.day(environment, end_date)
    first, last = min(start, end), max(start, end)
    free = sum(first <= holiday <= last for holiday in _days_of(environment, holidays, week))
    count = week.until(last) - week.until(first - 1) - free
    return count if start <= end else -count


def _steps(value: Any) -> int:
    """Return a number of working days; part of one back is a whole one."""
    return math.floor(toolpak.number(value))


def _move(environment: Environment, start_date: Any, steps: int, week: _Week, holidays: Any) -> Date:
    start = toolpak.day(environment, start_date)
    if not week.places:
        raise Failure(VALUE)
    if abs(steps) > days.SERIAL_MAX:
        raise Failure(NUM)
    free = _days_of(environment, holidays, week)
    if steps > 0:
        count = week.until(start) + steps
        for holiday in free:
            count += start < holiday <= week.number(count)
    elif steps < 0:
        count = week.until(start - 1) + 1 + steps
        for holiday in reversed(free):
            count -= week.number(count) <= holiday < start
    serial = week.number(count) if steps else start
    if not 0 <= serial <= days.SERIAL_MAX:
        raise Failure(NUM)
    return Date(days.back(serial, environment.date_1904))


@function(
    "NETWORKDAYS", "date", "How many working days lie between two days, both included.",
    _START, _END, _HOLIDAYS,
    environment=True,
    examples=(
        ("=NETWORKDAYS(DATE(2012,10,1),DATE(2013,3,1))", 110.0),
        ("=NETWORKDAYS(DATE(2012,10,1),DATE(2013,3,1),DATE(2012,11,22))", 109.0),
    ),
)  # fmt: skip
def networkdays(environment: Environment, start_date: Any, end_date: Any, holidays: Any = None) -> int:
    return _count(environment, start_date, end_date, _FIVE_DAYS, holidays)


@function(
    "NETWORKDAYS.INTL", "date", "How many working days lie between two days, with a weekend of one's own.",
    _START, _END, _WEEKEND, _HOLIDAYS,
    environment=True,
    examples=(
        ("=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,1,31))", 22.0),
        ('=NETWORKDAYS.INTL(DATE(2006,1,1),DATE(2006,2,1),"0010001",{38719,38733})', 20.0),
    ),
)  # fmt: skip
def networkdays_intl(
    environment: Environment, start_date: Any, end_date: Any, weekend: Any = OMITTED, holidays: Any = None
) -> int:
    week = _FIVE_DAYS if weekend is OMITTED else _week_of(weekend)
    return _count(environment, start_date, end_date, week, holidays)


@function(
    "WORKDAY", "date", "The day some working days on.",
    _START, toolpak.required("days", "How many working days on; negative for back."), _HOLIDAYS,
    environment=True,
    examples=(
        ("=WORKDAY(DATE(2008,10,1),151)", 39_933.0),
        ("=WORKDAY(DATE(2008,10,1),151,{39778,39786,39834})", 39_938.0),
    ),
)  # fmt: skip
def workday(environment: Environment, start_date: Any, steps: Any, holidays: Any = None) -> Date:
    return _move(environment, start_date, _steps(steps), _FIVE_DAYS, holidays)


@function(
    "WORKDAY.INTL", "date", "The day some working days on, with a weekend of one's own.",
    _START, toolpak.required("days", "How many working days on; negative for back."), _WEEKEND, _HOLIDAYS,
    environment=True,
    examples=(
        ("=WORKDAY.INTL(DATE(2012,1,1),90,11)", 41_013.0),
        ("=WORKDAY.INTL(DATE(2012,1,1),30,0)", NUM),
        ('=WORKDAY.INTL(1,1,"1111111")', VALUE),
    ),
)  # fmt: skip
def workday_intl(
    environment: Environment, start_date: Any, steps: Any, weekend: Any = OMITTED, holidays: Any = None
) -> Date:
    week = _FIVE_DAYS if weekend is OMITTED else _week_of(weekend)
    return _move(environment, start_date, _steps(steps), week, holidays)
