"""Words of the views of breakers, levels and fallbacks.

They hold nothing of a tenant, no address, no message of an error.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.platform.base.breaker import State
from service.platform.base.breakers import Change, Level, SeenBy, Service
from service.platform.base.problem import Problem

HistoryLimit = Annotated[int, Meta(ge=1, le=500, description="Most changes of an answer, the newest first")]


class UnknownService(Problem, status=404):
    """Unknown service"""


class ServiceMetrics(Struct, frozen=True, kw_only=True):
    """One service's circuit breaker: its state is the worst of the processes', its counts are their sums."""

    service: Service
    state: State
    configured: bool
    """Whether this deployment uses the service at all; what is not used stays closed."""
    processes: dict[State, int]
    """How many processes have their breaker in each state."""
    seen_by: SeenBy
    failures_max: int
    """Failures in a row after which it opens."""
    open_seconds: float
    """Seconds that it then stays open at first."""
    failures_in_row: int
    """Failures in a row, of the process that has most."""
    successes: int
    """Calls that succeeded since the processes started."""
    failures: int
    """Calls that failed since the processes started."""
    rejected: int
    """Calls that were refused because it was open."""
    times_opened: int
    """How often it opened since the processes started."""
    opened_at: datetime | None
    """When it first opened, in UTC. Null: it is closed everywhere."""
    retry_at: datetime | None
    """When it is tried next, in UTC. Null: it is closed."""
    last_failure_at: datetime | None
    """When a call last failed, in UTC. Null: none did."""
    last_failure: str | None
    """Class of the last failure. Null: none."""
    timestamp: datetime


class ServiceStatus(Struct, frozen=True, kw_only=True):
    """What a service is for, and what is lost without it."""

    service: Service
    state: State
    configured: bool
    """Whether this deployment uses the service."""
    critical: bool
    """Whether without it the level is limited, and not only reduced."""
    is_degraded: bool
    """Whether its breaker is not closed."""
    behaviour: str
    """What goes on without it, and how."""
    lost: str
    """What callers have to do without meanwhile."""


class Services(Struct, frozen=True, kw_only=True):
    """All services."""

    services: list[ServiceStatus]
    """Every service, with what it is for."""
    total: int
    """How many services there are."""
    healthy: int
    """How many have a closed breaker."""
    degraded: int
    """How many have a breaker that is not closed."""
    seen_by: SeenBy
    processes: int
    timestamp: datetime


class Resilience(Struct, frozen=True, kw_only=True):
    """All breakers at a look."""

    level: Level
    breakers: dict[Service, State]
    open_breakers: list[Service]
    """Services whose breaker is not closed."""
    seen_by: SeenBy
    processes: int
    timestamp: datetime


class Degradation(Struct, frozen=True, kw_only=True):
    """How much of the service there is."""

    level: Level
    description: str
    """The level in a sentence."""
    degraded_services: list[Service]
    """Services whose breaker is not closed."""
    since: datetime | None
    """When the first of these breakers opened, in UTC. Null: all are closed."""
    seen_by: SeenBy
    processes: int
    timestamp: datetime


class History(Struct, frozen=True, kw_only=True):
    """Changes of breakers and levels, the newest first."""

    events: list[Change]
    """The changes, the newest first."""
    total: int
    """How many changes are kept."""
    limit: int
    seen_by: SeenBy
    timestamp: datetime


class FallbackCacheStats(Struct, frozen=True, kw_only=True):
    """The answers that are kept for the time in which the database is away; sums of all API processes."""

    enabled: bool
    """Whether answers are kept at all."""
    serving: bool
    """Whether requests are answered out of it at this moment."""
    entries: int
    """Answers that are kept."""
    size_bytes: int
    """Their size in bytes."""
    entries_max: int
    """Most answers that a process keeps."""
    bytes_max: int
    """Most bytes that a process keeps."""
    age_seconds_max: int
    """Age of the oldest answer that is given out, in seconds."""
    served: int
    """Requests that were answered out of it."""
    missed: int
    """Requests for which no answer was kept."""
    dropped: int
    """Answers that were dropped because their tenant changed something."""
    cleared: int
    """How often it was cleared."""
    seen_by: SeenBy
    processes: int
    timestamp: datetime


class SyncFallbackStats(Struct, frozen=True, kw_only=True):
    """Small jobs that API processes run by themselves while no worker does; sums of all API processes."""

    enabled: bool
    """Whether API processes may run jobs at all."""
    active: bool
    """Whether a process takes jobs at this moment."""
    places: int
    """Jobs that one process runs at a time."""
    bytes_max: int
    """Size of the largest file that is parsed so, in bytes."""
    loans_max: int
    """Most rows of a workbook that is exported so."""
    running: int
    """Jobs that run so at this moment."""
    waiting: int | None
    """Small jobs that are due. Null: the database does not tell."""
    completed: int
    """Jobs that were run so and succeeded."""
    failed: int
    """Jobs that were run so and failed."""
    too_large: int | None
    """Jobs that wait for a worker, being too large or of another kind. Null: the database does not tell."""
    seen_by: SeenBy
    processes: int
    timestamp: datetime


class DegradationFull(Struct, frozen=True, kw_only=True):
    """Services, breakers and fallbacks in one view."""

    degradation: Degradation
    """How much of the service there is."""
    services: list[ServiceStatus]
    """Every service, with what it is for."""
    breakers: list[ServiceMetrics]
    fallback_cache: FallbackCacheStats
    """Answers that are kept for when the database is away."""
    sync_fallback: SyncFallbackStats
    """Jobs that API processes run while no worker does."""
    recent: list[Change]
    """The newest changes."""


class Reset(Struct, frozen=True, kw_only=True):
    """What a reset came to."""

    services: list[Service]
    """Services whose breakers were closed."""
    state: Literal["closed"]
    """closed: calls go out again."""
    processes_reached: int
    """How many processes heard of it, this one included."""
    seen_by: SeenBy
    message: str
    timestamp: datetime


class Cleared(Struct, frozen=True, kw_only=True):
    """What clearing the fallback cache came to."""

    entries: int
    """Answers that this process forgot."""
    processes_reached: int
    """How many processes heard of it, this one included."""
    seen_by: SeenBy
    message: str
    timestamp: datetime
