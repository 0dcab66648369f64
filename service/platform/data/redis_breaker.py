"""The circuit breaker of Redis: what a process does while it is away, and what comes before it is asked again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.platform.http.problem import Problem, Unavailable

RETRY_SECONDS = 1.0
"""How long a Redis that failed is left alone before it is tried again."""

T = TypeVar("T")

log = structlog.get_logger()


class RedisBreaker:
    """What one process knows of Redis being there, from its own requests."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._away = False
        self._retry_at = 0.0
        self._returning: asyncio.Task[None] | None = None
        self._first: list[Callable[[], Awaitable[None]]] = []
        self._owed: list[Callable[[], Awaitable[bool]]] = []

    @property
    def away(self) -> bool:
        """Whether Redis was not there when it was last asked."""
        return self._away

    def first(self, load: Callable[[], Awaitable[None]]) -> None:
        """Do this once before Redis is asked again. Where it fails, Redis stays away."""
        self._first.append(load)

    def owed(self, catch_up: Callable[[], Awaitable[bool]]) -> None:
        """Do this before Redis is asked again, until none says any more that there was something to do.

        Where nothing is to do it must not await, lest more come up after it looked. Where it fails, Redis stays away.
        """
        self._owed.append(catch_up)

    async def either(self, ask: Callable[[], Awaitable[T]], otherwise: Callable[[], Awaitable[T]]) -> T:
        """What Redis says, or while it is away what this process does."""
        if not self._away:
            try:
                return await ask()
            except RedisError as error:
                self._lost(error)
        self._look()
        answer = await otherwise()
        if not self._away:  # it came back meanwhile, and does not have what was counted just now
            self._look()
        return answer

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[Any]:
        """A pipeline for what must reach Redis, sent at the end.

        Raises:
            Unavailable: Redis is away.
        """
        if self._away:
            self._look()
            raise Unavailable
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                yield pipe
                await pipe.execute()
        except RedisError as error:
            self._lost(error)
            raise Unavailable from error

    def _lost(self, error: RedisError) -> None:
        if not self._away:
            log.warning("cache.unavailable", error=type(error).__name__, detail=str(error)[:200])
            self._away = True
            self._retry_at = time.monotonic() + RETRY_SECONDS

    def _look(self) -> None:
        """Try Redis when it is time, beside the request: it may take its time to fail."""
        if self._returning is None and time.monotonic() >= self._retry_at:
            self._returning = asyncio.get_running_loop().create_task(self._return())

    async def _return(self) -> None:
        try:
            await self._redis.ping()
            for load in self._first:
                await load()
            while any([await catch_up() for catch_up in self._owed]):
                pass
            self._away = False
            log.info("cache.back")
        except (RedisError, Problem) as error:
            log.debug("cache.still_away", error=type(error).__name__)
            self._retry_at = time.monotonic() + RETRY_SECONDS
        finally:
            self._returning = None
