"""The health views: public, unlimited, and without any tenant's data."""

from __future__ import annotations

import msgspec

import core
from core import warm
from service.health import store
from service.health.schema import Check, Health, Live, QueueDepths, Readiness
from service.platform.context import Context
from service.platform.http.api import Area, Raw
from service.platform.http.problem import Unavailable
from service.platform.work.jobs import QUEUES

area = Area("/health", tag="health")


@area.get("", access="public", limited=False)
async def health(ctx: Context) -> Health:
    """The service answers."""
    return Health("healthy", core.__version__, ctx.now())


@area.get("/live", access="public", limited=False)
async def live(ctx: Context) -> Live:
    """The process is alive, whatever its dependencies do."""
    return Live("alive")


@area.get("/ready", access="public", limited=False, also={503: Readiness})
async def ready(ctx: Context) -> Readiness:
    """Whether requests can be served; 503 with the same body when not. Without the cache they are, more slowly."""
    checks = {"database": await _database(ctx), "cache": await _cache(ctx), "kernels": _kernels()}
    good = all(checks[name].status == "ok" for name in ("database", "kernels"))
    degraded = good and checks["cache"].status != "ok"
    readiness = Readiness("ready" if good else "not_ready", core.__version__, ctx.now(), checks, degraded)
    if good:
        return readiness
    return Raw(msgspec.json.encode(readiness), "application/json", status=503)  # type: ignore[return-value]


@area.get("/queue-depths", access="public", limited=False)
async def queue_depths(ctx: Context) -> QueueDepths:
    """How many jobs wait in each queue."""
    depths = await store.queue_depths(ctx)
    return QueueDepths({queue: depths.get(queue, 0) for queue in QUEUES}, sum(depths.values()), ctx.now())


async def _database(ctx: Context) -> Check:
    try:
        await ctx.resources.database.check()
    except Unavailable:
        return Check("error", "PostgreSQL does not answer")
    return Check("ok", "connected")


async def _cache(ctx: Context) -> Check:
    there = await ctx.resources.breaker.either(ctx.resources.redis.ping, _away)
    return Check("ok", "connected") if there else Check("error", "Redis does not answer")


async def _away() -> bool:
    return False


def _kernels() -> Check:
    return Check("ok", "loaded") if warm.is_warm() else Check("error", "the kernels are not loaded yet")
