"""Shares the states of breakers between processes, through Redis.

Each writes what it has counted into one hash, and hears a channel for what all are to do. While Redis is away every
process has its own state alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Literal
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.platform.base.breaker import BreakerFigures
from service.platform.base.breakers import HISTORY_MAX, Breakers, Change, SeenBy, Service
from service.platform.data.fallback_cache import Counts, FallbackCache
from service.platform.data.pipeline import Pipeline

BEAT_SECONDS: Final = 30.0
"""Between two signs of life of a process where nothing changes."""
GONE_SECONDS: Final = 75
"""Silence after which a process is no longer reported."""
RETURN_SECONDS: Final = 2.0
"""Between two looks for a Redis that is away."""
CHANGES_WAITING_MAX: Final = HISTORY_MAX
HISTORY_SECONDS: Final = 30 * 86_400

PROCESSES: Final = "cushion:resilience:processes"
HISTORY: Final = "cushion:resilience:history"
CHANNEL: Final = "cushion:resilience"

# A process's figures behind the second in which they came, by Redis's clock; who has been silent goes.
_REPORT: Final = """
local now = redis.call('TIME')[1]
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
    if tonumber(now) - tonumber(all[i + 1]:match('^%d+') or '0') > tonumber(ARGV[3]) then
        redis.call('HDEL', KEYS[1], all[i])
    end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
for i = 6, #ARGV do redis.call('LPUSH', KEYS[2], ARGV[i]) end
if #ARGV > 5 then
    redis.call('LTRIM', KEYS[2], 0, ARGV[4] - 1)
    redis.call('EXPIRE', KEYS[2], ARGV[5])
end
return 1
"""

log = structlog.get_logger()


class SyncCounts(Struct, frozen=True, kw_only=True):
    """What a process reports of the jobs that it ran in place of a worker."""

    active: bool = False
    running: int = 0
    completed: int = 0
    failed: int = 0


class Snapshot(Struct, frozen=True, kw_only=True):
    """What a process reports of itself."""

    process: str
    breakers: dict[Service, BreakerFigures]
    cache: Counts = Counts()
    sync: SyncCounts = SyncCounts()


CLOSING_SECONDS: Final = 1.0
"""In which a process that ends sends its last reports."""
TOGETHER_SECONDS: Final = 0.01
"""For which changes are gathered, so that many of them are one message."""


class Order(Struct, frozen=True, kw_only=True):
    """What every process has to do."""

    sender: str
    kind: Literal["reset", "clear", "changed"]
    services: tuple[Service, ...] = ()
    tenants: tuple[UUID, ...] = ()
    """Who changed something."""


_decode_order = msgspec.json.Decoder(Order).decode
_decode_snapshot = msgspec.json.Decoder(Snapshot).decode
_decode_change = msgspec.json.Decoder(Change).decode
_encode = msgspec.json.Encoder().encode


class Sharing:
    """The exchange of one process with the others."""

    def __init__(self, redis: Redis, pipeline: Pipeline, breakers: Breakers, cache: FallbackCache) -> None:
        self._redis = redis
        self._pipeline = pipeline
        self._breakers = breakers
        self._unreported: list[Change] = []
        """Changes that Redis does not have yet, the oldest first."""
        self._is_reporting = False
        self._is_closed = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._cache = cache
        self._changed: set[UUID] = set()
        """Tenants whose change the other processes have not heard of yet."""
        self.sync: Callable[[], SyncCounts] = SyncCounts
        """What this process reports of jobs in place of a worker."""
        breakers.on_change(self._note)

    # Told -------------------------------------------------------------------------------------------------------------

    @property
    def own(self) -> Snapshot:
        """What this process reports."""
        return Snapshot(
            process=self._breakers.process,
            breakers=self._breakers.figures(),
            cache=self._cache.counts,
            sync=self.sync(),
        )

    def announce_change(self, tenant_id: UUID) -> None:
        """Drop cached answers, everywhere, of a tenant that may have changed something.

        Other processes do it a moment later, and not while Redis is away: the age of cached answers bounds that.
        """
        self._cache.drop_tenant(tenant_id)
        if self._cache.most > 0 and self._breakers["cache"].is_closed:
            if not self._changed:
                self._start(self._report_changed())
            self._changed.add(tenant_id)

    async def _report_changed(self) -> None:
        await asyncio.sleep(TOGETHER_SECONDS)
        tenants, self._changed = tuple(self._changed), set()
        await self.order("changed", tenants=tenants)

    async def close(self) -> None:
        """Send what waits, and begin nothing more."""
        self._is_closed = True
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=CLOSING_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, Any]) -> None:
        if self._is_closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def order(self, kind: Literal["reset", "clear", "changed"], **what: Any) -> int | None:
        """Have all other processes do something; return how many heard it, or None."""
        order = Order(sender=self._breakers.process, kind=kind, **what)
        try:
            heard: int = await self._pipeline("PUBLISH", CHANNEL, _encode(order))
        except RedisError:
            return None
        return heard

    async def snapshots(self) -> tuple[list[Snapshot], SeenBy]:
        """Return the last report of every living process; without Redis this one's alone."""
        others: list[Snapshot] = []
        try:
            now, _ = await self._pipeline("TIME")
            entries = await self._pipeline("HGETALL", PROCESSES)
        except RedisError:
            return [self.own], "this_process"
        for name, value in zip(entries[::2], entries[1::2], strict=True):
            if name != self._breakers.process.encode() and (snapshot := _read_living(value, int(now))) is not None:
                others.append(snapshot)
        return [self.own, *others], "all_processes"

    async def changes(self, most: int) -> tuple[list[Change], int, SeenBy]:
        """Return the newest changes first, how many are kept, and who saw them."""
        own = list(self._breakers.history)[::-1]
        try:
            total = await self._pipeline("LLEN", HISTORY)
            raw = await self._pipeline("LRANGE", HISTORY, 0, most - 1)
        except RedisError:
            return own[:most], len(own), "this_process"
        known = []
        for item in raw:
            with suppress(msgspec.MsgspecError):
                known.append(_decode_change(item))
        waiting = self._unreported[:]
        newest = sorted([*waiting, *known], key=lambda change: change.at, reverse=True)
        return newest[:most], min(total + len(waiting), HISTORY_MAX), "all_processes"

    def _note(self, change: Change) -> None:
        self._unreported = [*self._unreported, change][-CHANGES_WAITING_MAX:]
        if not self._is_reporting:
            self._is_reporting = True
            self._start(self._report_soon())

    async def _report_soon(self) -> None:
        await asyncio.sleep(0)  # what changes together goes out together
        self._is_reporting = False
        with suppress(RedisError):  # the next beat reports it
            await self.report()

    async def report(self) -> None:
        """Report what this process has counted, and what changed."""
        untold, self._unreported = self._unreported, []
        try:
            own = self.own
            figures = (own.process, _encode(own), GONE_SECONDS, HISTORY_MAX, HISTORY_SECONDS)
            await self._pipeline("EVAL", _REPORT, 2, PROCESSES, HISTORY, *figures, *map(_encode, untold))
        except BaseException:
            self._unreported = [*untold, *self._unreported][-CHANGES_WAITING_MAX:]
            raise

    # Heard ------------------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Report now and then that this process lives, and obey orders, until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
                        await channel.subscribe(CHANNEL)
                        beat = loop.time()
                        while True:
                            if loop.time() >= beat:
                                await self.report()
                                beat = loop.time() + BEAT_SECONDS
                            message = await channel.get_message(timeout=max(0.01, beat - loop.time()))
                            if message is not None and message["type"] == "message":
                                self._follow(message["data"])
                except (RedisError, OSError) as error:
                    log.debug("resilience.redis_away", error=type(error).__name__)
                await asyncio.sleep(RETURN_SECONDS)
        finally:
            with suppress(RedisError, OSError, asyncio.CancelledError, TimeoutError):
                async with asyncio.timeout(1):
                    await self._pipeline("HDEL", PROCESSES, self._breakers.process)

    def _follow(self, raw: bytes) -> None:
        try:
            order = _decode_order(raw)
        except msgspec.MsgspecError:
            log.warning("resilience.unknown_order")
            return
        if order.sender == self._breakers.process:
            return
        match order.kind:
            case "reset":
                self._breakers.reset(order.services)
            case "clear":
                self._cache.clear()
                self._start(self._report_soon())
            case "changed":
                for tenant_id in order.tenants:
                    self._cache.drop_tenant(tenant_id)


def _read_living(value: bytes, now: int) -> Snapshot | None:
    at, _, raw = value.partition(b" ")
    try:
        return _decode_snapshot(raw) if now - int(at) <= GONE_SECONDS else None
    except (ValueError, msgspec.MsgspecError):
        return None  # of another version, or somebody else's
