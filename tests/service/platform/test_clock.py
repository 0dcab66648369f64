"""Clocks: a moment as it is shown where a tenant is."""

from __future__ import annotations

from datetime import UTC, datetime

from service.platform.clock import local_time, zone_of
from tests.rows import every


@every(
    "zone, moment, shown",
    [
        ("UTC", "2026-03-01T00:30", "2026-03-01 00:30 UTC"),
        ("America/New_York", "2026-03-01T00:30", "2026-02-28 19:30 UTC-05:00"),
        ("America/New_York", "2026-07-01T00:30", "2026-06-30 20:30 UTC-04:00"),
        ("Asia/Kathmandu", "2026-12-31T20:00", "2027-01-01 01:45 UTC+05:45"),
        ("Europe/London", "2026-01-01T00:30", "2026-01-01 00:30 UTC"),
        ("Gone/Away", "2026-03-01T00:30", "2026-03-01 00:30 UTC"),
    ],
)
def test_a_moment_is_shown_as_clocks_are_there(zone: str, moment: str, shown: str) -> None:
    at = local_time(datetime.fromisoformat(moment).replace(tzinfo=UTC), zone_of(zone))
    assert f"{at:%Y-%m-%d %H:%M %Z}" == shown
    assert at == datetime.fromisoformat(moment).replace(tzinfo=UTC)
