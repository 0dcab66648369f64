"""When schedules are due, on days of 23, 24 and 25 hours, and what is no schedule."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from service.alerts.schedule_actions import UnfitSchedule, check, next_time
from tests.rows import every

PARIS, LORD_HOWE, NEW_YORK = "Europe/Paris", "Australia/Lord_Howe", "America/New_York"


@every(
    "schedule, zone, after, due",
    [
        ("0 8 * * 1-5", PARIS, "2026-03-27T09:00+01:00", "2026-03-30T08:00+02:00 2026-03-31T08:00+02:00"),
        ("0  8 * * MON-fri", PARIS, "2026-03-27T09:00+01:00", "2026-03-30T08:00+02:00"),
        ("0 8 * * 1-5", NEW_YORK, "2026-03-06T09:00-05:00", "2026-03-09T08:00-04:00"),
        # put forward at 02:00: what is passed over is due an hour later by the clock
        ("30 2 * * *", PARIS, "2026-03-28T12:00+01:00", "2026-03-29T03:30+02:00 2026-03-30T02:30+02:00"),
        ("0,30 2-3 * * *", PARIS, "2026-03-29T00:00+01:00", "2026-03-29T03:00+02:00 2026-03-29T03:30+02:00"),
        ("0 * * * *", PARIS, "2026-03-29T00:30+01:00", "2026-03-29T01:00+01:00 2026-03-29T03:00+02:00"),
        # put back at 03:00: once, unless it is every hour
        ("30 2 * * *", PARIS, "2026-10-24T12:00+02:00", "2026-10-25T02:30+02:00 2026-10-26T02:30+01:00"),
        ("30 2 * * *", PARIS, "2026-10-25T02:10+01:00", "2026-10-26T02:30+01:00"),
        ("0 2-3 * * *", PARIS, "2026-10-25T00:00+02:00", "2026-10-25T02:00+02:00 2026-10-25T03:00+01:00"),
        (
            "*/30 * * * *",
            PARIS,
            "2026-10-25T02:10+02:00",
            "2026-10-25T02:30+02:00 2026-10-25T02:00+01:00 2026-10-25T02:30+01:00 2026-10-25T03:00+01:00",
        ),
        ("15 2 * * *", LORD_HOWE, "2026-10-03T12:00+10:30", "2026-10-04T02:45+11:00 2026-10-05T02:15+11:00"),
        ("0 0 L 2 *", "UTC", "2027-12-31T00:00+00:00", "2028-02-29T00:00+00:00"),
        ("0 0 29 2 *", "UTC", "2097-01-01T00:00+00:00", "2104-02-29T00:00+00:00"),
    ],
)
def test_when_it_is_due(schedule: str, zone: str, after: str, due: str) -> None:
    check(schedule)
    moment = datetime.fromisoformat(after)
    for wanted in due.split():
        result = next_time(schedule, zone, moment)
        assert result is not None
        assert result.astimezone(ZoneInfo(zone)).isoformat(timespec="minutes") == wanted
        moment = result


def test_every_minute_of_a_year_s_longest_days_is_due_once() -> None:
    """By real time: whatever the clocks on the wall do."""
    moment, result = datetime(2026, 10, 24, 23, 30, tzinfo=UTC), []
    while moment < datetime(2026, 10, 25, 2, 30, tzinfo=UTC):
        moment = next_time("*/15 * * * *", PARIS, moment) or moment
        result.append(moment)
    assert len(result) == 12
    assert {(later - earlier).total_seconds() for earlier, later in pairwise(result)} == {900.0}


@every(
    "schedule",
    [
        *("", "@daily", "* * * *", "* * * * * *", "60 * * * *", "*/0 * * * *", "a b c d e", "jan * * * *", "R R * * *"),
        *("H H * * *", "0 8 * * 8", "0 8 * * 1;2", "0 0 30 2 *", "0 0 31 4,6 *", "0 0 1 1 * 2030", "0 8 * * \u0661"),
    ],
)
def test_what_is_no_schedule(schedule: str) -> None:
    with pytest.raises(UnfitSchedule):
        check(schedule)
