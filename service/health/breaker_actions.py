"""Answers of the health endpoints about breakers, levels, history and fallbacks.

Each answers without the database, and with what this process knows where Redis is away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from service.health.breaker_schema import (
    Cleared,
    Degradation,
    DegradationFull,
    FallbackCacheStats,
    History,
    Reset,
    Resilience,
    ServiceMetrics,
    Services,
    ServiceStatus,
    SyncFallbackStats,
)
from service.platform.base.breaker import State
from service.platform.base.breakers import DESCRIPTIONS, SERVICES, TABLE, SeenBy, Service, level_of
from service.platform.data.breaker_sharing import Snapshot
from service.platform.unit.context import Resources
from service.platform.work.jobs import SMALL_BYTES, SMALL_ROWS
from service.platform.work.sync_fallback import SyncFallback

WORST: Final[tuple[State, ...]] = ("closed", "half_open", "open")
"""The worst last."""
RECENT: Final = 10
"""Changes in the full view."""


class _Reports:
    """The reports of all processes at one moment."""

    def __init__(self, resources: Resources, snapshots: list[Snapshot], seen_by: SeenBy) -> None:
        self.resources = resources
        self.snapshots = snapshots
        self.seen_by: SeenBy = seen_by
        self.processes = len(snapshots)
        self.timestamp = resources.clock.now()
        self.states: dict[Service, State] = {service: self._state(service) for service in SERVICES}

    def _state(self, service: Service) -> State:
        return max((item.breakers[service].state for item in self._with(service)), key=WORST.index, default="closed")

    def _with(self, service: Service) -> list[Snapshot]:
        return [item for item in self.snapshots if service in item.breakers]

    def configured(self, service: Service) -> bool:
        settings = self.resources.settings
        if service == "language_model":
            return settings.llm_url is not None
        return service != "mail" or settings.smtp_url is not None

    def metrics(self, service: Service) -> ServiceMetrics:
        figures = [item.breakers[service] for item in self._with(service)]
        limits = TABLE[service].limits
        failed = max((item for item in figures if item.last_failure_at), key=_failed_at, default=None)
        return ServiceMetrics(
            service=service,
            state=self.states[service],
            configured=self.configured(service),
            processes=dict(Counter(item.state for item in figures)),
            seen_by=self.seen_by,
            failures_max=limits.failures_max,
            open_seconds=limits.open_seconds,
            failures_in_row=max((item.failures_in_row for item in figures), default=0),
            successes=sum(item.successes for item in figures),
            failures=sum(item.failures for item in figures),
            rejected=sum(item.rejected for item in figures),
            times_opened=sum(item.times_opened for item in figures),
            opened_at=_earliest(item.opened_at for item in figures),
            retry_at=_earliest(item.retry_at for item in figures),
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
        counts = [item.cache for item in self.snapshots]
        cache = self.resources.fallback_cache
        return FallbackCacheStats(
            enabled=cache.most > 0,
            serving=cache.most > 0 and self.states["database"] != "closed",
            entries=sum(item.entries for item in counts),
            size_bytes=sum(item.size_bytes for item in counts),
            entries_max=cache.most,
            bytes_max=cache.bytes_most,
            age_seconds_max=int(cache.seconds_most),
            served=sum(item.served for item in counts),
            missed=sum(item.missed for item in counts),
            dropped=sum(item.dropped for item in counts),
            cleared=sum(item.cleared for item in counts),
            seen_by=self.seen_by,
            processes=self.processes,
            timestamp=self.timestamp,
        )

    async def sync_fallback(self) -> SyncFallbackStats:
        counts = [item.sync for item in self.snapshots]
        here = self.resources.once(SyncFallback)
        due = await here.due()
        return SyncFallbackStats(
            enabled=here.enabled,
            active=any(item.active for item in counts),
            places=here.places,
            bytes_max=SMALL_BYTES,
            loans_max=SMALL_ROWS,
            running=sum(item.running for item in counts),
            waiting=due.small if due else None,
            completed=sum(item.completed for item in counts),
            failed=sum(item.failed for item in counts),
            too_large=due.large if due else None,
            seen_by=self.seen_by,
            processes=self.processes,
            timestamp=self.timestamp,
        )


async def _read_reports(resources: Resources) -> _Reports:
    return _Reports(resources, *await resources.sharing.snapshots())


# Views ----------------------------------------------------------------------------------------------------------------


async def metrics(resources: Resources, service: Service) -> ServiceMetrics:
    """Return one service's breaker."""
    return (await _read_reports(resources)).metrics(service)


async def resilience(resources: Resources) -> Resilience:
    """Return all breakers at a glance."""
    seen = await _read_reports(resources)
    return Resilience(
        level=level_of(seen.states),
        breakers=seen.states,
        open_breakers=seen.degraded,
        seen_by=seen.seen_by,
        processes=seen.processes,
        timestamp=seen.timestamp,
    )


async def services(resources: Resources) -> Services:
    """Return what each service is for, and what is lost without it."""
    seen = await _read_reports(resources)
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
    """Return the level of service."""
    return (await _read_reports(resources)).degradation()


async def degradation_full(resources: Resources) -> DegradationFull:
    """Return all views in one, with the newest changes."""
    seen = await _read_reports(resources)
    return DegradationFull(
        degradation=seen.degradation(),
        services=[seen.status(service) for service in SERVICES],
        breakers=[seen.metrics(service) for service in SERVICES],
        fallback_cache=seen.fallback_cache(),
        sync_fallback=await seen.sync_fallback(),
        recent=(await history(resources, RECENT)).events,
    )


async def history(resources: Resources, limit: int) -> History:
    """Return the newest changes of breakers and levels."""
    events, total, seen_by = await resources.sharing.changes(limit)
    return History(events=events, total=total, limit=limit, seen_by=seen_by, timestamp=resources.clock.now())


async def fallback_cache(resources: Resources) -> FallbackCacheStats:
    """Return the fallback cache of all processes."""
    return (await _read_reports(resources)).fallback_cache()


async def sync_fallback(resources: Resources) -> SyncFallbackStats:
    """Return the jobs that API processes run while no worker does."""
    return await (await _read_reports(resources)).sync_fallback()


# Orders ---------------------------------------------------------------------------------------------------------------


async def reset(resources: Resources, service: Service | None = None) -> Reset:
    """Close one breaker, or all of them, in every process that can be reached."""
    chosen = SERVICES if service is None else (service,)
    resources.breakers.reset(chosen)
    heard = await resources.sharing.order("reset", services=chosen)
    reached, seen_by = _count_reached(heard)
    return Reset(
        services=list(chosen),
        state="closed",
        processes_reached=reached,
        seen_by=seen_by,
        message=_message("closed", reached, seen_by),
        timestamp=resources.clock.now(),
    )


async def clear_fallback_cache(resources: Resources) -> Cleared:
    """Drop every cached answer, in every process that can be reached."""
    entries = resources.fallback_cache.clear()
    heard = await resources.sharing.order("clear")
    reached, seen_by = _count_reached(heard)
    return Cleared(
        entries=entries,
        processes_reached=reached,
        seen_by=seen_by,
        message=_message("cleared", reached, seen_by),
        timestamp=resources.clock.now(),
    )


def _count_reached(heard: int | None) -> tuple[int, SeenBy]:
    """Return how many processes an order reached, this one included; 1 without Redis."""
    return (1, "this_process") if heard is None else (max(1, heard), "all_processes")


def _message(done: str, reached: int, seen_by: SeenBy) -> str:
    if seen_by == "this_process":
        return f"{done} in the process that answered; Redis is away, so no other one was told"
    return f"{done} in {reached} {'process' if reached == 1 else 'processes'}"


def _earliest(moments: Iterable[datetime | None]) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)


def _failed_at(figures: object) -> datetime:
    moment: datetime = getattr(figures, "last_failure_at")  # noqa: B009
    return moment
