"""The health views, public, unlimited, and without any tenant's data.

And what operators order.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import asdict

import core
from service.health import actions, breaker_actions, breaker_schema, schema, switch_actions
from service.health.actions import DEEP_SECONDS
from service.platform.base.breakers import Service
from service.platform.route.api import Area, Raw
from service.platform.unit.context import Context
from service.platform.unit.query_cache import LOOK_SECONDS, Look, QueryCache

T = TypeVar("T")

area = Area("/health", tag="health", in_maintenance=True)
VIEW: dict[str, Any] = {"access": "public", "limited": False}
ORDER: dict[str, Any] = {"access": "operator", "limited": False, "everywhere": True}


async def _cached(ctx: Context, key: Any, look: Look[T], seconds: float = LOOK_SECONDS) -> T:
    return await ctx.resources.once(QueryCache).of(key, look, seconds=seconds)


# Views ----------------------------------------------------------------------------------------------------------------


@area.get("", **VIEW, summary="Check health")
async def health(ctx: Context) -> schema.Health:
    """Say that the service answers."""
    return schema.Health("healthy", core.__version__, ctx.now())


@area.get("/live", **VIEW, summary="Check process")
async def live(ctx: Context) -> schema.Live:
    """Say that the process is alive, whatever its dependencies do."""
    return schema.Live("alive")


@area.get("/ready", also={503: schema.Readiness}, **VIEW, summary="Check readiness")
async def ready(ctx: Context) -> schema.Readiness:
    """Say whether requests can be served; if not, the same body comes with 503.

    Without the cache they are, more slowly.
    """
    if ctx.resources.stopping.is_set():
        stopping = {"process": schema.Check("error", "the process is stopping")}
        return _with_status(schema.Readiness("not_ready", core.__version__, ctx.now(), stopping, False), well=False)
    readiness = await _cached(ctx, "ready", actions.readiness)
    return _with_status(readiness, well=readiness.status == "ready")


@area.get("/detailed", **VIEW, summary="Get process health")
async def health_detailed(ctx: Context) -> schema.Detailed:
    """Give what the answering process knows of the service.

    That is dependencies, breakers, maintenance, and features that are off.
    """
    return await actions.details(ctx.resources)


@area.get("/deep", also={503: schema.Deep}, **VIEW, summary="Check dependencies")
async def health_deep(ctx: Context) -> schema.Deep:
    """Ask every dependency for real.

    Where requests cannot be served, the same body comes with 503. There is one look in a few seconds, whoever asks how
    often.
    """
    health = await _cached(ctx, "deep", actions.deep, DEEP_SECONDS)
    return _with_status(health, well=health.status != "unhealthy")


@area.get("/resilience", **VIEW, summary="List circuit breakers")
async def get_resilience(ctx: Context) -> schema.ResilienceView:
    """List all circuit breakers at a look."""
    resilience = await _cached(ctx, "resilience", breaker_actions.resilience)
    return schema.ResilienceView(**asdict(resilience), maintenance=switch_actions.maintenance(ctx.resources))


@area.get("/degradation", **VIEW)
async def get_degradation(ctx: Context) -> schema.DegradationView:
    """Say how much of the service there is."""
    degradation = await _cached(ctx, "degradation", breaker_actions.degradation)
    return schema.DegradationView(**asdict(degradation), maintenance=switch_actions.maintenance(ctx.resources))


@area.get("/degradation/full", **VIEW, summary="Get full degradation")
async def get_degradation_full(ctx: Context) -> breaker_schema.DegradationFull:
    """Give all about services, breakers and fallbacks, with the newest changes."""
    return await _cached(ctx, "degradation full", breaker_actions.degradation_full)


@area.get("/degradation/history", **VIEW, summary="List degradation changes")
async def get_degradation_history(ctx: Context, query: schema.ChangesQuery) -> breaker_schema.History:
    """List the newest changes of breakers and levels."""
    return await actions.history(ctx.resources, query.limit)


@area.get("/services", **VIEW, summary="List services")
async def get_services(ctx: Context) -> breaker_schema.Services:
    """Say what each service is for, how it is, and what is lost without it."""
    return await _cached(ctx, "services", breaker_actions.services)


@area.get("/circuit-breaker/{service}", errors=(breaker_schema.UnknownService,), **VIEW)
async def get_circuit_breaker(ctx: Context, service: Service) -> breaker_schema.ServiceMetrics:
    """Give the circuit breaker of a service."""
    return await actions.breaker(ctx.resources, service)


@area.get("/feature-flags", **VIEW, summary="List feature flags")
async def get_feature_flags(ctx: Context) -> schema.FeatureFlags:
    """List what can be switched off, and whether it is."""
    return switch_actions.flags(ctx.resources)


@area.get("/fallback-cache", **VIEW)
async def get_fallback_cache(ctx: Context) -> breaker_schema.FallbackCacheStats:
    """Count the answers that are kept for a time without the database."""
    return await _cached(ctx, "fallback cache", breaker_actions.fallback_cache)


@area.get("/sync-fallback", **VIEW, summary="List fallback jobs")
async def get_sync_fallback(ctx: Context) -> breaker_schema.SyncFallbackStats:
    """List the jobs that API processes run themselves while no worker does."""
    return await _cached(ctx, "sync fallback", breaker_actions.sync_fallback)


@area.get("/queue-depths", **VIEW, summary="Get queue depths")
async def queue_depths(ctx: Context) -> schema.QueueDepths:
    """Count the jobs that wait in each queue."""
    return await _cached(ctx, "depths", actions.depths)


# Orders ---------------------------------------------------------------------------------------------------------------


@area.post(
    "/reset/{service}",
    errors=(breaker_schema.UnknownService,),
    event="circuit_breaker.reset",
    streamed=True,
    **ORDER,
)
async def reset_circuit_breaker(ctx: Context, service: Service) -> breaker_schema.Reset:
    """Close the circuit breaker of a service, in every process."""
    return await actions.reset(ctx, service)


@area.post("/reset-all", event="circuit_breaker.reset", streamed=True, **ORDER)
async def reset_circuit_breakers(ctx: Context) -> breaker_schema.Reset:
    """Close all circuit breakers, in every process."""
    return await actions.reset(ctx, None)


@area.post("/maintenance", event="maintenance.changed", **ORDER)
async def set_maintenance(ctx: Context, query: schema.MaintenanceQuery) -> schema.MaintenanceStatus:
    """Begin or end maintenance.

    Meanwhile all but health, login and operators is answered 503 with the message.
    """
    return await switch_actions.maintain(ctx, query)


@area.post("/feature-flags", event="feature_flags.changed", **ORDER)
async def set_feature_flags(ctx: Context, body: schema.FlagChanges) -> schema.FlagsChanged:
    """Switch features on or off, for all and for single tenants.

    An empty change only reads them.
    """
    return await switch_actions.change_flags(ctx, body)


@area.post("/fallback-cache/clear", event="fallback_cache.cleared", streamed=True, **ORDER)
async def clear_fallback_cache(ctx: Context) -> breaker_schema.Cleared:
    """Forget, in every process, the answers kept for a time without the database."""
    return await actions.clear(ctx)


def _with_status(answer: T, *, well: bool) -> T:
    if well:
        return answer
    headers = [("Retry-After", "1")]
    return Raw(msgspec.json.encode(answer), "application/json", headers, status=503)  # type: ignore[return-value]
