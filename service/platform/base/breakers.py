"""The circuit breakers of one process, and the level of service that they leave."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple
from uuid import uuid4

from msgspec import Struct

from service.platform.base.breaker import Breaker, BreakerFigures, Limits, State

HISTORY_MAX: Final = 500
"""Changes that are kept, here and in Redis."""


Service = Literal["database", "cache", "task_queue", "blobs", "mail", "webhooks", "language_model"]
SERVICES: tuple[Service, ...] = ("database", "cache", "task_queue", "blobs", "mail", "webhooks", "language_model")

Level = Literal["normal", "reduced", "limited", "offline"]
LEVELS: tuple[Level, ...] = ("normal", "reduced", "limited", "offline")
"""In this order, the best first."""

SeenBy = Literal["all_processes", "this_process"]
"""Whose states a view is made of: of every living process, or, while Redis is away, of the one that answers."""


class Change(Struct, frozen=True, kw_only=True):
    """A change of a breaker's state, or of a level."""

    at: datetime
    process: str
    """The process that saw it, by a name that it made up at its start."""
    kind: Literal["breaker", "level"]
    """breaker: of one service; level: of the whole."""
    service: Service | None
    """The service of the breaker, or whose breaker changed the level."""
    before: str
    """State or level until then."""
    after: str
    """State or level from then on."""
    reason: str | None
    """Class of the failure that brought it, or reset where somebody closed it. Null: there was none."""


class BreakerRow(NamedTuple):
    """A service: when its breaker opens, and what is lost without it."""

    limits: Limits
    level: Level
    """While its breaker is not closed; see also `OFFLINE`."""
    behaviour: str
    lost: str


TABLE: Final[dict[Service, BreakerRow]] = {
    "database": BreakerRow(
        # A failure is a look that found nobody, after somebody had a reason to look.
        Limits(failures_max=1, open_seconds=1.0, open_seconds_max=2.0),
        "limited",
        "Formulas with a supplied context are calculated; reads are answered from the fallback cache, marked as stale.",
        "Everything that is written, and what nobody has read here lately: 503 with Retry-After.",
    ),
    "cache": BreakerRow(
        # All that needs it has another way, and a Redis that hangs costs each caller five seconds.
        Limits(failures_max=1, open_seconds=1.0, open_seconds_max=1.0),
        "reduced",
        "Each process counts limits by itself and asks PostgreSQL who calls.",
        "Exact limits across processes; logging out, ending a key and other changes of rights: 503 with Retry-After.",
    ),
    "task_queue": BreakerRow(
        Limits(failures_max=1, open_seconds=5.0, open_seconds_max=5.0),
        "limited",
        "Jobs wait in the outbox of the database; small uploads and exports are worked on by the API itself.",
        "Large uploads, recalculations, reports and deliveries are done later.",
    ),
    "blobs": BreakerRow(
        Limits(failures_max=3, open_seconds=5.0, open_seconds_max=60.0),
        "limited",
        "Workbooks that a process has in its caches are read and calculated.",
        "Uploads, and workbooks that were not used lately: 503 with Retry-After.",
    ),
    "mail": BreakerRow(
        Limits(failures_max=3, open_seconds=30.0, open_seconds_max=600.0),
        "reduced",
        "Letters wait, and are sent once the mail server answers.",
        "Invitations, password resets and alerts by e-mail come late.",
    ),
    "webhooks": BreakerRow(
        # Of several tenants and several receivers, see `Breaker.failed`.
        Limits(failures_max=5, open_seconds=15.0, open_seconds_max=60.0),
        "reduced",
        "Deliveries wait, and are sent once receivers can be reached.",
        "Webhooks and alerts by HTTP come late.",
    ),
    "language_model": BreakerRow(
        Limits(failures_max=3, open_seconds=30.0, open_seconds_max=600.0),
        "reduced",
        "The built-in analyst answers in its own words.",
        "The language model's wording.",
    ),
}
OFFLINE: Final = frozenset[Service](("database", "cache"))
"""Without all of these nobody can be let in."""
DESCRIPTIONS: Final[dict[Level, str]] = {
    "normal": "Everything works.",
    "reduced": "Everything is served; some of it late, or in a simpler form.",
    "limited": "A part of the service answers 503 with Retry-After, or works later.",
    "offline": "Nobody can be let in: 503 with Retry-After until the database or the cache is back.",
}


def level_of(states: Mapping[Service, State]) -> Level:
    """Return the level of service with breakers in these states."""
    away = {service for service, state in states.items() if state != "closed"}
    if away >= OFFLINE:
        return "offline"
    return max((TABLE[service].level for service in away), key=LEVELS.index, default="normal")


class Breakers:
    """The seven breakers of a process; `breakers["database"]` is one of them."""

    def __init__(self) -> None:
        self.process = uuid4().hex[:12]
        """A random name of the process."""
        self._breakers = {service: Breaker(service, TABLE[service].limits, changed=self._note) for service in SERVICES}
        self.history: deque[Change] = deque(maxlen=HISTORY_MAX)
        """What this process saw, the newest last."""
        self._level: Level = "normal"
        self._resetting = False
        self._listeners: list[Callable[[Change], None]] = []

    def __getitem__(self, service: Service) -> Breaker:
        return self._breakers[service]

    def states(self) -> dict[Service, State]:
        """Return the state of each in this process."""
        return {service: breaker.state for service, breaker in self._breakers.items()}

    def figures(self) -> dict[Service, BreakerFigures]:
        """Return what each has counted in this process."""
        return {service: breaker.figures for service, breaker in self._breakers.items()}

    @property
    def level(self) -> Level:
        """Return the level of service, by this process's breakers."""
        return level_of(self.states())

    def on_change(self, listen: Callable[[Change], None]) -> None:
        """Call a function at each change; it must not await, nor raise."""
        self._listeners.append(listen)

    def reset(self, services: tuple[Service, ...]) -> None:
        """Close these in this process."""
        self._resetting = True
        try:
            for service in services:
                self._breakers[service].reset()
        finally:
            self._resetting = False

    def _note(self, breaker: Breaker, before: State, after: State) -> None:
        service: Service = breaker.service  # type: ignore[assignment]
        reason = "reset" if self._resetting else breaker.figures.last_failure if after == "open" else None
        self._publish(service, "breaker", before, after, reason)
        level = self.level
        if level != self._level:
            before_level, self._level = self._level, level
            self._publish(service, "level", before_level, level, reason)

    def _publish(self, service: Service, kind: str, before: str, after: str, reason: str | None) -> None:
        change = Change(
            at=datetime.now(UTC),
            process=self.process,
            kind="breaker" if kind == "breaker" else "level",
            service=service,
            before=before,
            after=after,
            reason=reason,
        )
        self.history.append(change)
        for listen in self._listeners:
            listen(change)
