"""The health views, public, unlimited, and without any tenant's data; and what operators order."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict

import core
from service.health import actions, switch_actions
from service.health.actions import DEEP_SECONDS
from service.health.schema import (
    ChangesQuery,
    Check,
    Deep,
    DegradationView,
    Detailed,
    FeatureFlags,
    FlagChanges,
    FlagsChanged,
    Health,
    Live,
    MaintenanceQuery,
    MaintenanceStatus,
    QueueDepths,
    Readiness,
    ResilienceView,
)
from service.platform.base.breaker_schema import (
    Cleared,
    DegradationFull,
    FallbackCacheStats,
    History,
    Reset,
    Service,
    ServiceMetrics,
    Services,
    SyncFallbackStats,
    UnknownService,
)
from service.platform.resilience import views
from service.platform.resilience.looks import LOOK_SECONDS, Look, Looks
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context

T = TypeVar("T")

area = Area("/health", tag="health", in_maintenance=True)
VIEW: dict[str, Any] = {"access": "public", "limited": False}
ORDER: dict[str, Any] = {"access": "operator", "limited": False, "everywhere": True}


async def _look(ctx: Context, key: Any, look: Look[T], seconds: float = LOOK_SECONDS) -> T:
    return await ctx.resources.once(Looks).of(key, look, seconds=seconds)


# Views ----------------------------------------------------------------------------------------------------------------


@area.get("", **VIEW, summary="Check health")
async def health(ctx: Context) -> Health:
    """Say that the service answers."""
    return Health("healthy", core.__version__, ctx.now())


@area.get("/live", **VIEW, summary="Check process")
async def live(ctx: Context) -> Live:
    """Say that the process is alive, whatever its dependencies do."""
    return Live("alive")


@area.get("/ready", also={503: Readiness}, **VIEW, summary="Check readiness")
async def ready(ctx: Context) -> Readiness:
    """Say whether requests can be served; if not, the same body comes with 503.

    Without the cache they are, more slowly.
    """
    if ctx.resources.stopping.is_set():
        stopping = {"process": Check("error", "the process is stopping")}
        return _told(Readiness("not_ready", core.__version__, ctx.now(), stopping, False), well=False)
    found = await _look(ctx, "ready", actions.readiness)
    return _told(found, well=found.status == "ready")


@area.get("/detailed", **VIEW, summary="Get process health")
async def health_detailed(ctx: Context) -> Detailed:
    """Give what the answering process knows of the service.

    That is dependencies, breakers, maintenance, and features that are off.
    """
    return await actions.detailed(ctx.resources)


@area.get("/deep", also={503: Deep}, **VIEW, summary="Check dependencies")
async def health_deep(ctx: Context) -> Deep:
    """Ask every dependency for real.

    Where requests cannot be served, the same body comes with 503. There is one look in a few seconds, whoever asks how
    often.
    """
    found = await _look(ctx, "deep", actions.deep, DEEP_SECONDS)
    return _told(found, well=found.status != "unhealthy")


@area.get("/resilience", **VIEW, summary="List circuit breakers")
async def get_resilience(ctx: Context) -> ResilienceView:
    """List all circuit breakers at a look."""
    found = await _look(ctx, "resilience", views.resilience)
    return ResilienceView(**asdict(found), maintenance=switch_actions.maintenance(ctx.resources))


@area.get("/degradation", **VIEW)
async def get_degradation(ctx: Context) -> DegradationView:
    """Say how much of the service there is."""
    found = await _look(ctx, "degradation", views.degradation)
    return DegradationView(**asdict(found), maintenance=switch_actions.maintenance(ctx.resources))


@area.get("/degradation/full", **VIEW, summary="Get full degradation")
async def get_degradation_full(ctx: Context) -> DegradationFull:
    """Give all about services, breakers and fallbacks, with the newest changes."""
    return await _look(ctx, "degradation full", views.degradation_full)


@area.get("/degradation/history", **VIEW, summary="List degradation changes")
async def get_degradation_history(ctx: Context, query: ChangesQuery) -> History:
    """List the newest changes of breakers and levels."""
    return await actions.history(ctx.resources, query.limit)


@area.get("/services", **VIEW, summary="List services")
async def get_services(ctx: Context) -> Services:
    """Say what each service is for, how it is, and what is lost without it."""
    return await _look(ctx, "services", views.services)


@area.get("/circuit-breaker/{service}", errors=(UnknownService,), **VIEW)
async def get_circuit_breaker(ctx: Context, service: Service) -> ServiceMetrics:
    """Give the circuit breaker of a service."""
    return await actions.breaker(ctx.resources, service)


@area.get("/feature-flags", **VIEW, summary="List feature flags")
async def get_feature_flags(ctx: Context) -> FeatureFlags:
    """List what can be switched off, and whether it is."""
    return switch_actions.flags(ctx.resources)


@area.get("/fallback-cache", **VIEW)
async def get_fallback_cache(ctx: Context) -> FallbackCacheStats:
    """Count the answers that are kept for a time without the database."""
    return await _look(ctx, "fallback cache", views.fallback_cache)


@area.get("/sync-fallback", **VIEW, summary="List fallback jobs")
async def get_sync_fallback(ctx: Context) -> SyncFallbackStats:
    """List the jobs that API processes run themselves while no worker does."""
    return await _look(ctx, "sync fallback", views.sync_fallback)


@area.get("/queue-depths", **VIEW, summary="Get queue depths")
async def queue_depths(ctx: Context) -> QueueDepths:
    """Count the jobs that wait in each queue."""
    return await _look(ctx, "depths", actions.depths)


# Orders ---------------------------------------------------------------------------------------------------------------


@area.post("/reset/{service}", errors=(UnknownService,), event="circuit_breaker.reset", streamed=True, **ORDER)
async def reset_circuit_breaker(ctx: Context, service: Service) -> Reset:
    """Close the circuit breaker of a service, in every process."""
    return await actions.reset(ctx, service)


@area.post("/reset-all", event="circuit_breaker.reset", streamed=True, **ORDER)
async def reset_circuit_breakers(ctx: Context) -> Reset:
    """Close all circuit breakers, in every process."""
    return await actions.reset(ctx, None)


@area.post("/maintenance", event="maintenance.changed", **ORDER)
async def set_maintenance(ctx: Context, query: MaintenanceQuery) -> MaintenanceStatus:
    """Begin or end maintenance.

    Meanwhile all but health, login and operators is answered 503 with the message.
    """
    return await switch_actions.maintain(ctx, query)


@area.post("/feature-flags", event="feature_flags.changed", **ORDER)
async def set_feature_flags(ctx: Context, body: FlagChanges) -> FlagsChanged:
    """Switch features on or off, for all and for single tenants.

    An empty change only reads them.
    """
    return await switch_actions.change_flags(ctx, body)


@area.post("/fallback-cache/clear", event="fallback_cache.cleared", streamed=True, **ORDER)
async def clear_fallback_cache(ctx: Context) -> Cleared:
    """Forget, in every process, the answers kept for a time without the database."""
    return await actions.clear(ctx)


def _told(found: T, *, well: bool) -> T:
    if well:
        return found
    headers = [("Retry-After", "1")]
    return Raw(msgspec.json.encode(found), "application/json", headers, status=503)  # type: ignore[return-value]
