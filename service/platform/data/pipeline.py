"""Redis commands of concurrent requests, sent together: what comes during one round trip waits for the next.

A round trip costs the client several times what one more command in it costs, so under load the commands share it; an
idle process sends each at once.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

import hiredis
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection

from service.platform import tracing
from service.platform.metrics import REDIS_SECONDS

TOGETHER_MOST = 128
"""Commands of one round trip."""
ROUND_TRIP_SECONDS = 5.0
"""After which Redis counts as gone."""


_MORE: Final = object()
"""What the parser says while an answer is not whole."""

Waiting = tuple[tuple[Any, ...], asyncio.Future[Any]]
"""A command, and who waits for its answer."""


class Pipeline(asyncio.Protocol):
    """A pipeline to Redis that concurrent requests share; of one event loop, so nothing is locked.

    It keeps a connection of its own and sets one time limit for a whole round trip: the pool, its checks and a limit
    for each command take as long again as the commands. redis-py opens the connection; from then on bytes come straight
    from the event loop, since its streams and a task cost a round trip two more turns of the loop.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: list[Waiting] = []
        self._travelling: list[Waiting] = []
        self._answers: list[Any] = []
        """To those that travel, as far as they came."""
        self._is_due = False
        """Whether a round trip is under way, or about to be."""
        self._started = 0.0
        self._limit: asyncio.TimerHandle | None = None
        self._opening: asyncio.Task[None] | None = None
        self._connection: AbstractConnection | None = None
        self._transport: asyncio.WriteTransport | None = None
        self._reader: hiredis.Reader

    async def __call__(self, *command: Any) -> Any:
        """What Redis answers to one command.

        Raises:
            RedisError: Redis refused the command, or is not there.
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
            loop.call_soon(self._depart)  # with what else this turn of the loop brings
        return answer

    # A round trip -----------------------------------------------------------------------------------------------------

    def _depart(self) -> None:
        """Begin a round trip, where anybody waits."""
        loop = asyncio.get_running_loop()
        if self._waiting and self._transport is None:
            self._opening = loop.create_task(self._open())
            return
        packed = []
        while self._waiting and not self._travelling:
            batch, self._waiting = self._waiting[:TOGETHER_MOST], self._waiting[TOGETHER_MOST:]
            for command, answer in batch:
                try:
                    packed.append(hiredis.pack_command(command))  # redis-py's own way takes seven times as long
                except Exception as error:
                    _tell(answer, error)
                else:
                    self._travelling.append((command, answer))
        self._is_due = bool(self._travelling)
        if self._is_due:
            assert self._transport is not None
            self._started = time.perf_counter()
            self._limit = loop.call_later(ROUND_TRIP_SECONDS, self._late)
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
            self._fail(exceptions.TimeoutError("Redis did not answer in time"))
        except Exception as error:
            self._fail(error)
        else:
            assert connection._writer is not None
            faults: Any = {"protocolError": exceptions.InvalidResponse, "replyError": connection._parser.parse_error}
            self._reader = hiredis.Reader(notEnoughData=_MORE, **faults)
            self._connection, self._transport = connection, connection._writer.transport
            connection._writer.transport.set_protocol(self)
            self._depart()

    def data_received(self, data: bytes) -> None:
        """Part of the answers came."""
        try:
            self._reader.feed(data)
            while (answer := self._reader.gets()) is not _MORE:
                if isinstance(answer, exceptions.ConnectionError):
                    raise answer
                self._answers.append(answer)
        except exceptions.RedisError as error:
            self._fail(error)
            return
        if len(self._answers) < len(self._travelling) or not self._travelling:
            return
        answers, self._answers = self._answers, []
        for (_, waiter), answer in zip(self._ended(), answers, strict=True):
            _tell(waiter, answer)
        asyncio.get_running_loop().call_soon(self._depart)  # with what those who have their answers ask next

    def connection_lost(self, error: Exception | None) -> None:
        """Redis closed the connection."""
        self._fail(exceptions.ConnectionError("Connection closed by server."))

    def _late(self) -> None:
        self._fail(exceptions.TimeoutError("Redis did not answer in time"))

    def _ended(self) -> list[Waiting]:
        """The round trip is over; who was on it."""
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
            REDIS_SECONDS.observe(time.perf_counter() - self._started)
        travelled, self._travelling = self._travelling, []
        return travelled

    def _fail(self, error: Exception) -> None:
        """Give the connection up: what was half sent or half read is no use to anybody else, and who waits already
        would wait as long for the same."""
        waiting, self._waiting = self._ended() + self._waiting, []
        self._answers, self._is_due = [], False
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if connection is not None and transport is not None:
            transport.set_protocol(asyncio.Protocol())  # its end is no news of the next connection
            connection._close()  # type: ignore[no-untyped-call]
        for _, waiter in waiting:
            _tell(waiter, error)

    async def close(self) -> None:
        """Give the connection up; the next command makes another."""
        if self._opening is not None:
            self._opening.cancel()
        self._fail(exceptions.ConnectionError("Connection closed."))


def _tell(waiter: asyncio.Future[Any], answer: Any) -> None:
    if waiter.done():  # its request was cancelled
        return
    if isinstance(answer, Exception):
        waiter.set_exception(answer)
    else:
        waiter.set_result(answer)
