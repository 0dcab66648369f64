"""Now, a now that tests can hold still, and what it is where somebody is."""

from datetime import UTC, datetime, timezone
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


class Clock(Protocol):
    """Anything that tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        ...


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@lru_cache(maxsize=1024)
def zone_of(name: str) -> ZoneInfo:
    """A time zone by its IANA name; UTC where this machine does not know it any more."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def local_time(moment: datetime, zone: ZoneInfo) -> datetime:
    """A moment as clocks of a zone show it, with their distance from UTC, which `%Z` prints as UTC+01:00."""
    if zone.key == "UTC":
        return moment
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None, "every zone of the database has one"
    return moment.astimezone(timezone(offset))
