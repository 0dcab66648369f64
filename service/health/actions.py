"""What the health views find out, at a bounded cost, however often strangers ask."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace
from redis.exceptions import RedisError

import core
from core import warm
from service.health import breaker_actions, store
from service.health.breaker_schema import Cleared, History, Reset, ServiceMetrics
from service.health.schema import Check, Deep, DeepCheck, Detailed, QueueDepths, Readiness
from service.health.switch_actions import flags, maintenance, note
from service.platform.base.breakers import HISTORY_MAX, Service
from service.platform.base.problem import Problem, Unavailable
from service.platform.data.scratch import has_room
from service.platform.unit.context import Context, Resources
from service.platform.unit.query_cache import Look, QueryCache
from service.platform.work.jobs import QUEUES

DEEP_SECONDS: Final = 5.0
"""Likewise, where each dependency is asked for real."""
CHECK_SECONDS: Final = 3.0
"""The longest wait for one of them."""
FREE_SHARE: Final = 0.05
"""Of the disk: with less of it free files will soon be refused."""
PROBE_BYTES: Final = 32
_NEEDED: Final = frozenset({"database", "migrations", "kernels", "storage"})
"""What no request can be served without."""
_STARTED: Final = time.monotonic()


async def readiness(resources: Resources) -> Readiness:
    """Return whether requests can be served."""
    database, cache, storage = await asyncio.gather(_database(resources), _cache(resources), _storage(resources))
    checks = {"database": database, "cache": cache, "kernels": _kernels(), "storage": storage}
    checks |= {name: Check("error", text) for name, text in resources.faults.items()}
    good = all(checks[name].status == "ok" for name in _needed_checks(resources) & checks.keys())
    degraded = good and checks["cache"].status != "ok"
    return Readiness("ready" if good else "not_ready", core.__version__, resources.clock.now(), checks, degraded)


async def depths(resources: Resources) -> QueueDepths:
    """Return how many jobs wait in each queue."""
    by_queue = await store.queue_depths(resources)
    return QueueDepths(
        {queue: by_queue.get(queue, 0) for queue in QUEUES}, sum(by_queue.values()), resources.clock.now()
    )


async def details(resources: Resources) -> Detailed:
    """Return what the process that answers knows."""
    looks = resources.once(QueryCache)
    ready = await looks.of("ready", readiness)
    try:
        pending = (await looks.of("depths", depths)).total_pending
    except Problem:
        pending = None
    switched, level = maintenance(resources), resources.breakers.level
    return Detailed(
        status=_status(ready.checks, fine=level == "normal" and not switched.enabled, needed=_needed_checks(resources)),
        version=core.__version__,
        uptime_seconds=int(time.monotonic() - _STARTED),
        level=level,
        checks=ready.checks,
        breakers=resources.breakers.states(),
        maintenance=switched,
        features_off=[flag.name for flag in flags(resources).flags if not flag.enabled],
        pending_jobs=pending,
        timestamp=resources.clock.now(),
    )


async def deep(resources: Resources) -> Deep:
    """Return what each dependency answers when it is asked for real, all at a time."""
    answers = await asyncio.gather(*(_ask(ask, resources) for ask in _DEEP.values()))
    checks = dict(zip(_DEEP, answers, strict=True))
    switched = maintenance(resources)
    return Deep(
        status=_status(checks, fine=not switched.enabled),
        version=core.__version__,
        checks=checks,
        maintenance=switched,
        timestamp=resources.clock.now(),
    )


async def breaker(resources: Resources, service: Service) -> ServiceMetrics:
    """Return the circuit breaker of a service."""
    return await resources.once(QueryCache).of(
        ("breaker", service), lambda look: breaker_actions.metrics(look, service)
    )


async def history(resources: Resources, limit: int) -> History:
    """Return the newest changes."""
    events = await resources.once(QueryCache).of("history", lambda look: breaker_actions.history(look, HISTORY_MAX))
    return replace(events, events=events.events[:limit], limit=limit)


async def reset(ctx: Context, service: Service | None) -> Reset:
    """Close one breaker, or all of them."""
    done = await breaker_actions.reset(ctx.resources, service)
    note(ctx, "circuit_breakers", {"services": done.services, "processes_reached": done.processes_reached})
    return done


async def clear(ctx: Context) -> Cleared:
    """Forget the kept answers."""
    done = await breaker_actions.clear_fallback_cache(ctx.resources)
    note(ctx, "fallback_cache", {"entries": done.entries, "processes_reached": done.processes_reached})
    return done


def _needed_checks(resources: Resources) -> frozenset[str]:
    """Return the checks without which no request, or not every one, can be served."""
    return _NEEDED | resources.faults.keys()


def _status(checks: Mapping[str, Check | DeepCheck], *, fine: bool, needed: frozenset[str] = _NEEDED) -> Any:
    failing = {name for name, check in checks.items() if check.status != "ok"}
    return "unhealthy" if failing & needed else "degraded" if failing or not fine else "healthy"


async def _ask(ask: Look[Check], resources: Resources) -> DeepCheck:
    """Return one check; of a failure only its kind."""
    began = time.perf_counter()
    try:
        answer = await asyncio.wait_for(ask(resources), CHECK_SECONDS)
    except TimeoutError:
        answer = Check("error", f"no answer within {CHECK_SECONDS:g} seconds")
    except (Problem, OSError, RedisError) as error:
        answer = Check("error", type(error).__name__)
    return DeepCheck(
        status=answer.status, message=answer.message, milliseconds=round((time.perf_counter() - began) * 1000, 2)
    )


# What is asked --------------------------------------------------------------------------------------------------------


async def _database(resources: Resources) -> Check:
    try:
        await resources.database.check()
    except Unavailable:
        return Check("error", "PostgreSQL does not answer")
    return Check("ok", "connected")


async def _storage(resources: Resources) -> Check:
    """Return whether what is written finds room, wherever it goes."""
    rooms = {
        "data folder": asyncio.to_thread(has_room, resources.scratch),
        "blob store": resources.blobs.has_room(),
        "database volume": resources.database.has_room(),
    }
    answers = await asyncio.gather(*(_has_room(look) for look in rooms.values()))
    full = [name for name, answer in zip(rooms, answers, strict=True) if not answer]
    return Check("error", f"no room on the disk: {', '.join(full)}") if full else Check("ok", "there is room")


async def _has_room(look: Awaitable[bool]) -> bool:
    """Return what a look finds; where it finds nothing out, other checks tell that."""
    try:
        return await asyncio.wait_for(look, CHECK_SECONDS)
    except (TimeoutError, Problem):
        return True


async def _cache(resources: Resources) -> Check:
    there = await resources.breaker.choose(resources.redis.ping, _away)
    return Check("ok", "connected") if there else Check("error", "Redis does not answer")


async def _away() -> bool:
    return False


def _kernels() -> Check:
    return Check("ok", "loaded") if warm.is_warm() else Check("error", "the kernels are not loaded yet")


async def _check_load(resources: Resources) -> Check:
    return _kernels()


async def _migrations(resources: Resources) -> Check:
    missing = await store.missing_migrations(resources)
    return Check("error", f"{missing} not applied") if missing else Check("ok", "all applied")


async def _blobs(resources: Resources) -> Check:
    """Return a blob of chance, written, read back and removed."""
    with tempfile.NamedTemporaryFile(dir=resources.scratch) as file:
        file.write(os.urandom(PROBE_BYTES))
        file.flush()
        key = await resources.blobs.put(Path(file.name))
    try:
        await resources.blobs.check(key)
    finally:
        await resources.blobs.delete(key)
    return Check("ok", "written, read and removed")


async def _disk(resources: Resources) -> Check:
    used = await asyncio.to_thread(shutil.disk_usage, resources.scratch)
    share = used.free / used.total
    return Check("ok" if share >= FREE_SHARE else "error", f"{share:.0%} free")


async def _workers(resources: Resources) -> Check:
    number = await store.workers(resources)
    return Check("ok", f"{number} connected") if number else Check("error", "none is connected")


_DEEP: Final[dict[str, Look[Check]]] = {
    "database": _database,
    "storage": _storage,
    "migrations": _migrations,
    "cache": _cache,
    "workers": _workers,
    "blobs": _blobs,
    "disk": _disk,
    "kernels": _check_load,
}
