"""Sends Redis commands of concurrent requests together.

Sending costs the client several times what one more command costs. Under load a few commands share it, and Redis works
on them while the process does on others; an idle process sends each at once.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any, Final

import hiredis
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, DefaultParser

from service.platform import tracing
from service.platform.metrics import REDIS_SECONDS

COMMANDS_MAX = 4
"""Commands that are sent together. Redis works on them while the turn of the loop goes on that brings more."""
ROUND_TRIP_SECONDS = 5.0
"""After which Redis counts as unavailable."""

_INCOMPLETE: Final = object()
"""What the parser returns while an answer is not complete."""

Waiting = tuple[tuple[Any, ...], asyncio.Future[Any]]
"""A command, and the future of its answer."""
Sent = tuple[asyncio.Future[Any], float]
"""The future of the answer to a command that was sent, and when that was."""


class Pipeline(asyncio.Protocol):
    """A pipeline to Redis that requests share; of one event loop, so unlocked.

    It keeps a connection of its own and a time limit for the oldest command: the pool, its checks and a limit for each
    command take as long again as the commands. redis-py opens the connection. From then on bytes come straight from the
    event loop, since its streams and a task cost a command two more turns of the loop.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: list[Waiting] = []
        self._in_flight: deque[Sent] = deque()
        self._is_due = False
        """Whether what waits is about to be sent."""
        self._limit: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[None] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._connection: AbstractConnection | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._reader: hiredis.Reader

    async def __call__(self, *command: Any) -> Any:
        """Return Redis's answer to one command.

        Raises:
            RedisError: Redis refused the command, or is unavailable.
        """
        if tracing.is_on():
            with tracing.step(f"redis {command[0]}", "redis"):
                return await self._answer(command)
        return await self._answer(command)

    def _answer(self, command: tuple[Any, ...]) -> asyncio.Future[Any]:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((command, answer))
        if not self._is_due:
            self._is_due = True
            loop.call_soon(self._flush)  # with what else this turn of the loop brings
        elif len(self._waiting) >= COMMANDS_MAX and self._transport is not None:
            self._send(self._transport)  # Redis works on these while the turn goes on
        return answer

    def _flush(self) -> None:
        """Send what waits, over a new connection where there is none."""
        if self._transport is not None:
            self._is_due = False
            self._send(self._transport)
        elif self._waiting:
            self._opening = asyncio.get_running_loop().create_task(self._open())

    def _send(self, transport: asyncio.WriteTransport) -> None:
        waiting, self._waiting = self._waiting, []
        packed, started = [], time.perf_counter()
        for command, answer in waiting:
            try:
                packed.append(hiredis.pack_command(command))  # redis-py's own way takes seven times as long
            except Exception as error:
                _settle(answer, error)
            else:
                self._in_flight.append((answer, started))
        if packed:
            if self._limit is None:
                self._limit = asyncio.get_running_loop().call_later(ROUND_TRIP_SECONDS, self._look_at_oldest)
            transport.write(b"".join(packed))

    async def _open(self) -> None:
        pool = self._redis.connection_pool
        connection: AbstractConnection = pool.connection_class(
            **{**pool.connection_kwargs, "socket_timeout": None, "health_check_interval": 0}
        )
        try:
            async with asyncio.timeout(ROUND_TRIP_SECONDS):
                await connection.connect()  # type: ignore[no-untyped-call]
        except TimeoutError:
            self._fail(_too_late())
        except Exception as error:
            self._fail(error)
        else:
            # redis-py has no public way to the transport of a connection; everything else here is public.
            assert connection._writer is not None
            self._connection, self._transport = connection, connection._writer.transport
            errors: Any = {"protocolError": exceptions.InvalidResponse, "replyError": DefaultParser.parse_error}
            self._reader = hiredis.Reader(notEnoughData=_INCOMPLETE, **errors)
            self._transport.set_protocol(self)
            self._transport.set_write_buffer_limits(high=0)  # what is written goes at once, not at the end of the turn
            self._flush()

    def data_received(self, data: bytes) -> None:
        """Hand out the answers that came."""
        started = 0.0
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not _INCOMPLETE:
                if isinstance(answer, exceptions.ConnectionError):
                    raise answer
                if not self._in_flight:
                    raise exceptions.InvalidResponse("an answer that nobody waits for")
                waiter, started = self._in_flight.popleft()
                _settle(waiter, answer)
        except exceptions.RedisError as error:
            self._fail(error)
        if started:
            REDIS_SECONDS.observe(time.perf_counter() - started)

    def connection_lost(self, error: Exception | None) -> None:
        """Fail every caller: Redis closed the connection."""
        self._fail(exceptions.ConnectionError("Connection closed by server."))

    def _look_at_oldest(self) -> None:
        """Fail every caller if the oldest has waited too long."""
        self._limit = None
        if not self._in_flight:
            return
        seconds_left = self._in_flight[0][1] + ROUND_TRIP_SECONDS - time.perf_counter()
        if seconds_left <= 0:
            self._fail(_too_late())
        else:
            self._limit = asyncio.get_running_loop().call_later(seconds_left, self._look_at_oldest)

    def _fail(self, error: Exception) -> None:
        """Drop the connection and fail every caller, who would wait for the same error."""
        waiting = [*(waiter for waiter, _ in self._in_flight), *(waiter for _, waiter in self._waiting)]
        self._in_flight.clear()
        self._waiting, self._is_due = [], False
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if connection is not None and transport is not None:
            transport.set_protocol(asyncio.Protocol())  # its end is no news of the next connection
            self._closing = asyncio.get_running_loop().create_task(connection.disconnect(nowait=True))
        for waiter in waiting:
            _settle(waiter, error)

    async def close(self) -> None:
        """Close the connection; the next command opens another."""
        if self._opening is not None:
            self._opening.cancel()
        self._fail(exceptions.ConnectionError("Connection closed."))
        if self._closing is not None:
            await self._closing


def _too_late() -> Exception:
    return exceptions.TimeoutError("Redis did not answer in time")


def _settle(waiter: asyncio.Future[Any], answer: Any) -> None:
    if waiter.done():  # its request was cancelled
        return
    if isinstance(answer, Exception):
        waiter.set_exception(answer)
    else:
        waiter.set_result(answer)
