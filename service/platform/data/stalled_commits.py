"""Commits that the database does not confirm: its synchronous replica is away.

PostgreSQL lets such a commit wait without a limit. It has written it, holds its locks, and shows it to nobody. A client
that gives up leaves all of that to the server. A cancel would make it visible without the replica, so none is sent.
While one is known to wait, no further one is begun: connections stay for reads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

from service.platform.base.problem import Problem

STALLED_SECONDS: Final = 5.0
"""After which a commit counts as one that waits for the replica: on a slow disk it takes tenths of a second."""
LOOK_SECONDS: Final = 1.0
"""Between two looks at what was given up."""
WAITING: Final = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s) AND wait_event = 'SyncRep'"

log = structlog.get_logger()

Count = Callable[[list[int]], Awaitable[int]]
"""Counts those of these server processes that wait for the replica."""


class StalledCommits:
    """The commits of one process that wait, and those that it gave up."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._slow: set[int] = set()
        """Server processes whose commit is long under way."""
        self._left: set[int] = set()
        """Server processes whose connection was given up within its commit."""
        self._looking: asyncio.Task[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._slow or self._left)

    @asynccontextmanager
    async def watch(self, backend: int) -> AsyncIterator[Callable[[], None]]:
        """Watch a server process, from the call of what this yields on: it commits then."""
        timer: asyncio.TimerHandle | None = None

        def committing() -> None:
            nonlocal timer
            timer = asyncio.get_running_loop().call_later(STALLED_SECONDS, self._note, backend)

        try:
            yield committing
        except BaseException:
            if backend in self._slow:
                self._left.add(backend)
                self._looking = self._looking or asyncio.get_running_loop().create_task(self._poll())
            raise
        finally:
            if timer is not None:
                timer.cancel()
            self._slow.discard(backend)

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()

    def _note(self, backend: int) -> None:
        self._slow.add(backend)
        log.warning("database.commit_waits", seconds=STALLED_SECONDS, backend=backend)

    async def _poll(self) -> None:
        try:
            while self._left:
                await asyncio.sleep(LOOK_SECONDS)
                asked = set(self._left)
                try:
                    if not await self._count(list(asked)):
                        self._left -= asked
                except Problem:
                    continue  # the server is away: those who ask it hear of that
        finally:
            self._looking = None
