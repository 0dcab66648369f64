"""Redis commands of concurrent requests, sent together: what comes during one round trip waits for the next.

A round trip costs the client several times what one more command in it costs, so under load the commands share it; an
idle process sends each at once.
"""

from __future__ import annotations

import asyncio
from typing import Any

from redis import exceptions
from redis.asyncio import Redis

TOGETHER_MOST = 128
"""Commands of one round trip."""


class Lane:
    """One way to Redis; of one event loop, so nothing is locked.

    With `gather_seconds` a round trip waits for so long for company: for commands that nobody is in a hurry for.
    """

    def __init__(self, redis: Redis, *, gather_seconds: float = 0.0) -> None:
        self._redis = redis
        self._gather_seconds = gather_seconds
        self._waiting: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._travelling = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, *command: Any) -> Any:
        """What Redis answers to one command.

        Raises:
            RedisError: Redis refused the command, or is not there.
        """
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
                if self._gather_seconds:
                    await asyncio.sleep(self._gather_seconds)
                batch, self._waiting = self._waiting[:TOGETHER_MOST], self._waiting[TOGETHER_MOST:]
                await self._send(batch)
        finally:
            self._travelling = False
            for _, future in self._waiting:  # only where this task was cancelled: at the end of the process
                future.cancel()

    async def _send(self, batch: list[tuple[tuple[Any, ...], asyncio.Future[Any]]]) -> None:
        answers: list[Any]
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for command, _ in batch:
                    pipe.execute_command(*command)
                answers = await pipe.execute(raise_on_error=False)
        except Exception as error:
            if isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError):
                batch += self._waiting  # who waits already would wait as long for the same
                self._waiting = []
            answers = [error] * len(batch)
        except BaseException:
            for _, future in batch:
                future.cancel()
            raise
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():  # its request was cancelled
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)
