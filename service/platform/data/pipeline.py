"""Redis commands of concurrent requests, sent together: what comes during one round trip waits for the next.

A round trip costs the client several times what one more command in it costs, so under load the commands share it; an
idle process sends each at once.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from hiredis import pack_command
from redis import exceptions
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection

from service.platform import tracing
from service.platform.metrics import REDIS_SECONDS

TOGETHER_MOST = 128
"""Commands of one round trip."""
ROUND_TRIP_SECONDS = 5.0
"""After which Redis counts as gone."""


class Pipeline:
    """A pipeline to Redis that concurrent requests share; of one event loop, so nothing is locked.

    It keeps a connection of its own and sets one time limit for a whole round trip: the pool, its checks and a limit
    for each command take as long again as the commands.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._travelling = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._connection: AbstractConnection | None = None

    async def __call__(self, *command: Any) -> Any:
        """What Redis answers to one command.

        Raises:
            RedisError: Redis refused the command, or is not there.
        """
        if tracing.is_on():
            with tracing.step(f"redis {command[0]}", "redis"):
                return await self._answer(command)
        return await self._answer(command)

    async def _answer(self, command: tuple[Any, ...]) -> Any:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((command, answer))
        if not self._travelling:
            self._start()
        return await answer

    def _start(self) -> None:
        task = asyncio.get_running_loop().create_task(self._travel())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._travelling = True

    async def _travel(self) -> None:
        """Round trips until nobody waits."""
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:TOGETHER_MOST], self._waiting[TOGETHER_MOST:]
                await self._send(batch)
        finally:
            self._travelling = False
            for _, future in self._waiting:  # only where this task was cancelled: at the end of the process
                future.cancel()

    async def _send(self, batch: list[tuple[tuple[Any, ...], asyncio.Future[Any]]]) -> None:
        answers: list[Any]
        started = time.perf_counter()
        try:
            answers = await self._exchange([command for command, _ in batch])
        except Exception as error:
            if isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError):
                batch += self._waiting  # who waits already would wait as long for the same
                self._waiting = []
            answers = [error] * len(batch)
        except BaseException:
            for _, future in batch:
                future.cancel()
            raise
        finally:
            REDIS_SECONDS.observe(time.perf_counter() - started)
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():  # its request was cancelled
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)

    async def _exchange(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        """The answers to these commands, a refusal of one in its place."""
        try:
            async with asyncio.timeout(ROUND_TRIP_SECONDS):
                connection = await self._connected()
                packed = b"".join(map(pack_command, commands))  # redis-py's own way takes seven times as long
                await connection.send_packed_command(packed, check_health=False)
                return [await _answer(connection) for _ in commands]
        except TimeoutError:
            await self.close()
            raise exceptions.TimeoutError("Redis did not answer in time") from None
        except BaseException:
            await self.close()  # what was half sent or half read is no use to anybody else
            raise

    async def _connected(self) -> AbstractConnection:
        """The connection; a new one where Redis closed it since."""
        if self._connection is not None and (self._connection._reader is None or self._connection._reader.at_eof()):
            await self.close()
        if self._connection is None:
            pool = self._redis.connection_pool
            self._connection = pool.connection_class(
                **{**pool.connection_kwargs, "socket_timeout": None, "health_check_interval": 0}
            )
            await self._connection.connect()  # type: ignore[no-untyped-call]
        return self._connection

    async def close(self) -> None:
        """Give the connection up; the next command makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


async def _answer(connection: AbstractConnection) -> Any:
    try:
        return await connection.read_response()
    except exceptions.ResponseError as refusal:
        return refusal
