"""The time: a clock that tests can stop, and time zones."""

from datetime import UTC, datetime, timezone
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """Anything that tells the time."""

    def now(self) -> datetime:
        """Return the present moment, in UTC."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name; UTC where this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def local_time(moment: datetime, zone: ZoneInfo) -> datetime:
    """Convert a moment to a zone, whose distance from UTC `%Z` prints as UTC+01:00."""
    if zone.key == "UTC":
        return moment
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None, "every zone of the database has one"
    return moment.astimezone(timezone(offset))
