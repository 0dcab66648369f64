"""When schedules are due.

Five fields of cron, in a time zone whose days may have 23 or 25 hours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter  # type: ignore[import-untyped]  # no stubs

YEARS_MAX: Final = 9
"""Within which a schedule must be due once: a 29 February may be so far off."""
SHIFT: Final = timedelta(hours=3)
"""Longer than clocks are ever put forward or back at once."""

_FIELD: Final = r"[0-9a-z*,/#-]+"
_FIVE: Final = re.compile(rf"{_FIELD}(?: {_FIELD}){{4}}")
_WORD: Final = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat|l")
_OTHER: Final = re.compile(r"[a-z]")


class UnfitSchedule(ValueError):
    """No times come of this; the message says why."""


def check(schedule: str) -> None:
    """Refuse what gives no times.

    Raises:
        UnfitSchedule: it is not five fields of cron, or never due.
    """
    plain = " ".join(schedule.lower().split())
    if not _FIVE.fullmatch(plain) or _OTHER.search(_WORD.sub("", plain)) or not croniter.is_valid(plain):
        raise UnfitSchedule("expected five fields of cron, such as 0 8 * * 1-5")
    if next_time(plain, "UTC", datetime(2026, 1, 1, tzinfo=UTC)) is None:
        raise UnfitSchedule("there is no such day")


def next_time(schedule: str, zone: str, after: datetime) -> datetime | None:
    """Return when a schedule is due next in UTC; None if not in the next years."""
    there = ZoneInfo(zone)
    try:
        local = next(_times(schedule, _naive(after, there)))
        due = _moment(local, there)
        if _is_steady(after, there) and _is_steady(due, there):
            return due
        is_hourly = schedule.split()[1] == "*"
        moments = []
        for time in _times(schedule, _naive(after - SHIFT, there)):
            moments.append(_moment(time, there))
            if is_hourly and _naive(again := _moment(time.replace(fold=1), there), there) == time:
                moments.append(again)
            if time > local + SHIFT:
                return min(moment for moment in moments if moment > after)
    except CroniterError:
        pass
    return None


def _times(schedule: str, start: datetime) -> Iterator[datetime]:
    """Yield the times after one, as a wall clock shows them that is never moved."""
    times = croniter(schedule, start, max_years_between_matches=YEARS_MAX)
    while True:
        yield times.get_next(datetime)


def _naive(moment: datetime, there: ZoneInfo) -> datetime:
    return moment.astimezone(there).replace(tzinfo=None, fold=0)


def _moment(time: datetime, there: ZoneInfo) -> datetime:
    return time.replace(tzinfo=there).astimezone(UTC)


def _is_steady(moment: datetime, there: ZoneInfo) -> bool:
    """Return whether no clock is moved around a moment."""
    return (moment - SHIFT).astimezone(there).utcoffset() == (moment + SHIFT).astimezone(there).utcoffset()
