"""The circuit breaker of Redis, and what is done before Redis is asked again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.platform.base.breaker import NO_PASS, Breaker
from service.platform.base.problem import Problem, Unavailable

T = TypeVar("T")

log = structlog.get_logger()


class RedisBreaker:
    """Whether Redis is there, by this process's own requests."""

    def __init__(self, redis: Redis, breaker: Breaker) -> None:
        self._redis = redis
        self._breaker = breaker
        self._returning: asyncio.Task[None] | None = None
        self._is_behind = False
        """Whether Redis may lack something of this process; who resets the breaker does not give it that."""
        self._first: list[Callable[[], Awaitable[None]]] = []
        self._recoveries: list[Callable[[], Awaitable[bool]]] = []

    @property
    def away(self) -> bool:
        """Whether Redis was away when it was last asked, or lacks what it then missed."""
        return self._is_behind or not self._breaker.is_closed

    def first(self, load: Callable[[], Awaitable[None]]) -> None:
        """Do this once before Redis is asked again. Where it fails, Redis stays away."""
        self._first.append(load)

    def on_recovery(self, catch_up: Callable[[], Awaitable[bool]]) -> None:
        """Do this before Redis is asked again, until it returns that nothing was left.

        Where nothing is to do it must not await, lest more come up after it looked. Where it fails, Redis stays away.
        """
        self._recoveries.append(catch_up)

    async def choose(self, ask: Callable[[], Awaitable[T]], otherwise: Callable[[], Awaitable[T]]) -> T:
        """Return Redis's answer, or this process's own while Redis is away."""
        if passed := self._pass():
            try:
                answer = await ask()
            except RedisError as error:
                self._note_loss(passed, error)
            else:
                self._breaker.succeed(passed)
                return answer
        self._try_again()
        answer = await otherwise()
        if not self.away:  # it came back meanwhile, and does not have what was counted just now
            self._try_again()
        return answer

    @asynccontextmanager
    async def open_pipeline(self) -> AsyncIterator[Any]:
        """Open a pipeline for commands that must reach Redis, sent at the end.

        Raises:
            Unavailable: Redis is away.
        """
        passed = self._pass()
        if not passed:
            self._try_again()
            raise Unavailable
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                yield pipe
                await pipe.execute()
        except RedisError as error:
            self._note_loss(passed, error)
            raise Unavailable from error
        self._breaker.succeed(passed)

    def _pass(self) -> int:
        """Return a pass while Redis is there; no request tries one that is away."""
        if not self.away:
            return self._breaker.enter()
        self._breaker.reject()
        return NO_PASS

    def _note_loss(self, passed: int, error: RedisError) -> None:
        if not self.away:
            log.warning("cache.unavailable", error=type(error).__name__, detail=str(error)[:200])
        self._is_behind = True
        self._breaker.fail(passed, type(error).__name__)

    def _try_again(self) -> None:
        """Try Redis when it is time, beside the request: it may take its time to fail."""
        if self._returning is None and self._breaker.state != "open":
            self._returning = asyncio.get_running_loop().create_task(self._return(self._breaker.enter()))

    async def _return(self, passed: int) -> None:
        try:
            await self._redis.ping()
            for load in self._first:
                await load()
            while any([await catch_up() for catch_up in self._recoveries]):
                pass
            self._is_behind = False
            self._breaker.succeed(passed)
            log.info("cache.back")
        except (RedisError, Problem) as error:
            log.debug("cache.still_away", error=type(error).__name__)
            self._breaker.fail(passed, type(error).__name__)
        except BaseException:
            self._breaker.abandon(passed)
            raise
        finally:
            self._returning = None
