"""Sends Redis commands of concurrent requests together, in shared round trips.

A round trip costs the client several times what one more command in it costs. Under load the commands share it; an idle
process sends each at once.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

import hiredis
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, DefaultParser

from service.platform import tracing
from service.platform.metrics import REDIS_SECONDS

COMMANDS_MAX = 128
"""Commands of one round trip."""
ROUND_TRIP_SECONDS = 5.0
"""After which Redis counts as unavailable."""

_INCOMPLETE: Final = object()
"""What the parser returns while an answer is not complete."""

Waiting = tuple[tuple[Any, ...], asyncio.Future[Any]]
"""A command, and the future of its answer."""


class Pipeline(asyncio.Protocol):
    """A pipeline to Redis that requests share; of one event loop, so unlocked.

    It keeps a connection of its own and sets one time limit for a whole round trip: the pool, its checks and a limit
    for each command take as long again as the commands. redis-py opens the connection. From then on bytes come straight
    from the event loop, since its streams and a task cost a round trip two more turns of the loop.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: list[Waiting] = []
        self._in_flight: list[Waiting] = []
        self._answers: list[Any] = []
        """To what is in flight, as far as they came."""
        self._is_due = False
        """Whether a round trip is under way, or about to be."""
        self._started = 0.0
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
        return answer

    # A round trip -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        """Begin a round trip if a command waits."""
        loop = asyncio.get_running_loop()
        if self._waiting and self._transport is None:
            self._opening = loop.create_task(self._open())
            return
        packed = []
        while self._waiting and not self._in_flight:
            batch, self._waiting = self._waiting[:COMMANDS_MAX], self._waiting[COMMANDS_MAX:]
            for command, answer in batch:
                try:
                    packed.append(hiredis.pack_command(command))  # redis-py's own way takes seven times as long
                except Exception as error:
                    _settle(answer, error)
                else:
                    self._in_flight.append((command, answer))
        self._is_due = bool(self._in_flight)
        if self._is_due:
            assert self._transport is not None
            self._started = time.perf_counter()
            self._limit = loop.call_later(ROUND_TRIP_SECONDS, self._on_timeout)
            self._transport.write(b"".join(packed))

    async def _open(self) -> None:
        pool = self._redis.connection_pool
        connection: AbstractConnection = pool.connection_class(
            **{**pool.connection_kwargs, "socket_timeout": None, "health_check_interval": 0}
        )
        try:
            async with asyncio.timeout(ROUND_TRIP_SECONDS):
                await connection.connect()  # type: ignore[no-untyped-call]
        except TimeoutError:
            self._on_timeout()
        except Exception as error:
            self._fail(error)
        else:
            # redis-py has no public way to the transport of a connection; everything else here is public.
            assert connection._writer is not None
            self._connection, self._transport = connection, connection._writer.transport
            errors: Any = {"protocolError": exceptions.InvalidResponse, "replyError": DefaultParser.parse_error}
            self._reader = hiredis.Reader(notEnoughData=_INCOMPLETE, **errors)
            self._transport.set_protocol(self)
            self._flush()

    def data_received(self, data: bytes) -> None:
        """Parse what came; once every answer of the round trip is there, hand them out."""
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not _INCOMPLETE:
                if isinstance(answer, exceptions.ConnectionError):
                    raise answer
                self._answers.append(answer)
        except exceptions.RedisError as error:
            self._fail(error)
            return
        if len(self._answers) < len(self._in_flight) or not self._in_flight:
            return
        answers, self._answers = self._answers, []
        for (_, waiter), answer in zip(self._end_round_trip(), answers, strict=True):
            _settle(waiter, answer)
        asyncio.get_running_loop().call_soon(self._flush)  # with what those who have their answers ask next

    def connection_lost(self, error: Exception | None) -> None:
        """Fail every caller: Redis closed the connection."""
        self._fail(exceptions.ConnectionError("Connection closed by server."))

    def _on_timeout(self) -> None:
        self._fail(exceptions.TimeoutError("Redis did not answer in time"))

    def _end_round_trip(self) -> list[Waiting]:
        """Stop the clock of the round trip and return what was in flight."""
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
            REDIS_SECONDS.observe(time.perf_counter() - self._started)
        in_flight, self._in_flight = self._in_flight, []
        return in_flight

    def _fail(self, error: Exception) -> None:
        """Drop the connection and fail every caller, who would wait for the same error."""
        waiting, self._waiting = self._end_round_trip() + self._waiting, []
        self._answers, self._is_due = [], False
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if connection is not None and transport is not None:
            transport.set_protocol(asyncio.Protocol())  # its end is no news of the next connection
            self._closing = asyncio.get_running_loop().create_task(connection.disconnect(nowait=True))
        for _, waiter in waiting:
            _settle(waiter, error)

    async def close(self) -> None:
        """Close the connection; the next command opens another."""
        if self._opening is not None:
            self._opening.cancel()
        self._fail(exceptions.ConnectionError("Connection closed."))
        if self._closing is not None:
            await self._closing


def _settle(waiter: asyncio.Future[Any], answer: Any) -> None:
    if waiter.done():  # its request was cancelled
        return
    if isinstance(answer, Exception):
        waiter.set_exception(answer)
    else:
        waiter.set_result(answer)
