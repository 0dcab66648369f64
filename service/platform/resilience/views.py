"""What the health endpoints tell of breakers, levels, history and fallbacks, and what they do to them.

Each answers without the database, and with what this process knows where Redis is away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from service.platform.base.breaker import State
from service.platform.base.breaker_schema import (
    SERVICES,
    Cleared,
    Degradation,
    DegradationFull,
    FallbackCacheStats,
    History,
    Reset,
    Resilience,
    SeenBy,
    Service,
    ServiceMetrics,
    Services,
    ServiceStatus,
    SyncFallbackStats,
    UnknownService,
)
from service.platform.base.breakers import DESCRIPTIONS, TABLE, level_of
from service.platform.data.breaker_sharing import Snapshot
from service.platform.resilience.sync_fallback import sync_fallback_of
from service.platform.unit.context import Resources
from service.platform.work.jobs import SMALL_BYTES, SMALL_ROWS

WORST: Final[tuple[State, ...]] = ("closed", "half_open", "open")
"""The worst last."""
RECENT: Final = 10
"""Changes in the full view."""


class _Seen:
    """What is known of all processes at one moment."""

    def __init__(self, resources: Resources, snapshots: list[Snapshot], seen_by: SeenBy) -> None:
        self.resources = resources
        self.snapshots = snapshots
        self.seen_by: SeenBy = seen_by
        self.processes = len(snapshots)
        self.timestamp = resources.clock.now()
        self.states: dict[Service, State] = {service: self._state(service) for service in SERVICES}

    def _state(self, service: Service) -> State:
        return max((one.breakers[service].state for one in self._with(service)), key=WORST.index, default="closed")

    def _with(self, service: Service) -> list[Snapshot]:
        return [one for one in self.snapshots if service in one.breakers]

    def configured(self, service: Service) -> bool:
        settings = self.resources.settings
        if service == "language_model":
            return settings.llm_url is not None
        return service != "mail" or settings.smtp_url is not None

    def metrics(self, service: Service) -> ServiceMetrics:
        figures = [one.breakers[service] for one in self._with(service)]
        limits = TABLE[service].limits
        failed = max((one for one in figures if one.last_failure_at), key=_failed_at, default=None)
        return ServiceMetrics(
            service=service,
            state=self.states[service],
            configured=self.configured(service),
            processes=dict(Counter(one.state for one in figures)),
            seen_by=self.seen_by,
            failures_max=limits.failures_max,
            open_seconds=limits.open_seconds,
            failures_in_row=max((one.failures_in_row for one in figures), default=0),
            successes=sum(one.successes for one in figures),
            failures=sum(one.failures for one in figures),
            rejected=sum(one.rejected for one in figures),
            times_opened=sum(one.times_opened for one in figures),
            opened_at=_earliest(one.opened_at for one in figures),
            retry_at=_earliest(one.retry_at for one in figures),
            last_failure_at=failed.last_failure_at if failed else None,
            last_failure=failed.last_failure if failed else None,
            timestamp=self.timestamp,
        )

    def status(self, service: Service) -> ServiceStatus:
        row, state = TABLE[service], self.states[service]
        return ServiceStatus(
            service=service,
            state=state,
            configured=self.configured(service),
            critical=row.level == "limited",
            is_degraded=state != "closed",
            behaviour=row.behaviour,
            lost=row.lost,
        )

    def degradation(self) -> Degradation:
        level = level_of(self.states)
        return Degradation(
            level=level,
            description=DESCRIPTIONS[level],
            degraded_services=self.degraded,
            since=_earliest(self.metrics(service).opened_at for service in self.degraded),
            seen_by=self.seen_by,
            processes=self.processes,
            timestamp=self.timestamp,
        )

    @property
    def degraded(self) -> list[Service]:
        return [service for service in SERVICES if self.states[service] != "closed"]

    def fallback_cache(self) -> FallbackCacheStats:
        counts = [one.cache for one in self.snapshots]
        cache = self.resources.fallback_cache
        return FallbackCacheStats(
            enabled=cache.most > 0,
            serving=cache.most > 0 and self.states["database"] != "closed",
            entries=sum(one.entries for one in counts),
            size_bytes=sum(one.size_bytes for one in counts),
            entries_max=cache.most,
            bytes_max=cache.bytes_most,
            age_seconds_max=int(cache.seconds_most),
            served=sum(one.served for one in counts),
            missed=sum(one.missed for one in counts),
            dropped=sum(one.dropped for one in counts),
            cleared=sum(one.cleared for one in counts),
            seen_by=self.seen_by,
            processes=self.processes,
            timestamp=self.timestamp,
        )

    async def sync_fallback(self) -> SyncFallbackStats:
        counts = [one.sync for one in self.snapshots]
        here = self.resources.once(sync_fallback_of)
        due = await here.due()
        return SyncFallbackStats(
            enabled=here.enabled,
            active=any(one.active for one in counts),
            places=here.places,
            bytes_max=SMALL_BYTES,
            loans_max=SMALL_ROWS,
            running=sum(one.running for one in counts),
            waiting=due.small if due else None,
            completed=sum(one.completed for one in counts),
            failed=sum(one.failed for one in counts),
            too_large=due.large if due else None,
            seen_by=self.seen_by,
            processes=self.processes,
            timestamp=self.timestamp,
        )


async def _seen(resources: Resources) -> _Seen:
    return _Seen(resources, *await resources.sharing.snapshots())


def service_of(name: str) -> Service:
    """The service of that name.

    Raises:
        UnknownService: there is none.
    """
    for service in SERVICES:
        if service == name:
            return service
    raise UnknownService


# Views ----------------------------------------------------------------------------------------------------------------


async def metrics(resources: Resources, name: str) -> ServiceMetrics:
    """One service's breaker.

    Raises:
        UnknownService: there is none of that name.
    """
    service = service_of(name)
    return (await _seen(resources)).metrics(service)


async def resilience(resources: Resources) -> Resilience:
    """All breakers at a look."""
    seen = await _seen(resources)
    return Resilience(
        level=level_of(seen.states),
        breakers=seen.states,
        open_breakers=seen.degraded,
        seen_by=seen.seen_by,
        processes=seen.processes,
        timestamp=seen.timestamp,
    )


async def services(resources: Resources) -> Services:
    """What each service is for, and what is lost without it."""
    seen = await _seen(resources)
    return Services(
        services=[seen.status(service) for service in SERVICES],
        total=len(SERVICES),
        healthy=len(SERVICES) - len(seen.degraded),
        degraded=len(seen.degraded),
        seen_by=seen.seen_by,
        processes=seen.processes,
        timestamp=seen.timestamp,
    )


async def degradation(resources: Resources) -> Degradation:
    """How much of the service there is."""
    return (await _seen(resources)).degradation()


async def degradation_full(resources: Resources) -> DegradationFull:
    """All of it, with the newest changes."""
    seen = await _seen(resources)
    return DegradationFull(
        degradation=seen.degradation(),
        services=[seen.status(service) for service in SERVICES],
        breakers=[seen.metrics(service) for service in SERVICES],
        fallback_cache=seen.fallback_cache(),
        sync_fallback=await seen.sync_fallback(),
        recent=(await history(resources, RECENT)).events,
    )


async def history(resources: Resources, limit: int) -> History:
    """The newest changes of breakers and levels."""
    events, total, seen_by = await resources.sharing.changes(limit)
    return History(events=events, total=total, limit=limit, seen_by=seen_by, timestamp=resources.clock.now())


async def fallback_cache(resources: Resources) -> FallbackCacheStats:
    """The fallback cache of all processes."""
    return (await _seen(resources)).fallback_cache()


async def sync_fallback(resources: Resources) -> SyncFallbackStats:
    """The jobs that API processes run while no worker does."""
    return await (await _seen(resources)).sync_fallback()


# Orders ---------------------------------------------------------------------------------------------------------------


async def reset(resources: Resources, name: str | None = None) -> Reset:
    """Close one breaker, or all of them, in every process that can be reached.

    Raises:
        UnknownService: there is none of that name.
    """
    chosen = SERVICES if name is None else (service_of(name),)
    resources.breakers.reset(chosen)
    heard = await resources.sharing.order("reset", services=chosen)
    reached, seen_by = _reached(heard)
    return Reset(
        services=list(chosen),
        state="closed",
        processes_reached=reached,
        seen_by=seen_by,
        message=_told("closed", reached, seen_by),
        timestamp=resources.clock.now(),
    )


async def clear_fallback_cache(resources: Resources) -> Cleared:
    """Forget every kept answer, in every process that can be reached."""
    entries = resources.fallback_cache.clear()
    heard = await resources.sharing.order("clear")
    reached, seen_by = _reached(heard)
    return Cleared(
        entries=entries,
        processes_reached=reached,
        seen_by=seen_by,
        message=_told("cleared", reached, seen_by),
        timestamp=resources.clock.now(),
    )


def _reached(heard: int | None) -> tuple[int, SeenBy]:
    """How many processes an order reached, of those that listen this one is one; None: Redis is away."""
    return (1, "this_process") if heard is None else (max(1, heard), "all_processes")


def _told(done: str, reached: int, seen_by: SeenBy) -> str:
    if seen_by == "this_process":
        return f"{done} in the process that answered; Redis is away, so no other one was told"
    return f"{done} in {reached} {'process' if reached == 1 else 'processes'}"


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)


def _failed_at(figures: object) -> datetime:
    moment: datetime = getattr(figures, "last_failure_at")  # noqa: B009
    return moment
