"""State changes that PostgreSQL announces: one connection wakes the reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn
from uuid import UUID

import psycopg
import structlog

from service.platform.data.database import connect_alone, readable

CHANNEL: Final = "cushion_states"
"""Its messages are a tenant's identifier, a blank, and that of a record."""
LISTENER: Final = "cushion api"
"""The name of the connection that listens."""
CHECK_SECONDS: Final = 30.0
"""After which a connection that was silent is asked whether it is there."""
PAUSE_SECONDS: Final = 1.0
"""Between two attempts to connect."""

log = structlog.get_logger()


class Announcements:
    """The reads of one process that wait, and the connection that wakes them."""

    def __init__(self, url: str, stopping: asyncio.Event, *, tenant_waiters: int, statement_seconds: int) -> None:
        self._url = url
        self._stopping = stopping
        self._tenant_waiters = tenant_waiters
        self._statement_seconds = statement_seconds
        self._places: dict[str, set[asyncio.Event]] = {}
        """By tenant and record, as the messages name them."""
        self._waiting: dict[UUID, int] = {}

    @property
    def waiting(self) -> int:
        """How many reads wait, or may."""
        return sum(self._waiting.values())

    @contextmanager
    def place(self, tenant_id: UUID, record: str) -> Iterator[asyncio.Event | None]:
        """Return an event that is set when the record changes, or the process stops.

        None where the process stops already, or as many reads of the tenant wait as may.
        """
        count = self._waiting.get(tenant_id, 0)
        if count >= self._tenant_waiters or self._stopping.is_set():
            yield None
            return
        key, woken = f"{tenant_id} {record}", asyncio.Event()
        self._waiting[tenant_id] = count + 1
        self._places.setdefault(key, set()).add(woken)
        try:
            yield woken
        finally:
            self._places[key].discard(woken)
            if not self._places[key]:
                del self._places[key]
            self._waiting[tenant_id] -= 1
            if not self._waiting[tenant_id]:
                del self._waiting[tenant_id]

    async def run(self) -> NoReturn:
        """Listen until cancelled, over a new connection where one is lost."""
        ending = asyncio.create_task(self._wake_at_stop())
        is_away = False
        try:
            while True:
                try:
                    async with await connect_alone(
                        self._url, LISTENER, statement_seconds=self._statement_seconds
                    ) as connection:
                        is_away = False
                        await self._listen(connection)
                except (psycopg.Error, OSError) as error:
                    if not is_away:
                        log.warning("announcements.lost", error=repr(error))
                    is_away = True
                    await asyncio.sleep(PAUSE_SECONDS)
        finally:
            ending.cancel()

    async def _listen(self, connection: psycopg.AsyncConnection[Any]) -> NoReturn:
        connection.add_notify_handler(lambda message: self._wake(message.payload))
        await connection.execute(f"LISTEN {CHANNEL}")
        self._wake_all()  # what changed while nobody listened
        while True:
            if not await readable(connection.fileno(), CHECK_SECONDS):
                await connection.execute("SELECT 1")
                continue
            connection.pgconn.consume_input()
            while message := connection.pgconn.notifies():
                self._wake(message.extra.decode())

    def _wake(self, key: str) -> None:
        for woken in self._places.get(key, ()):
            woken.set()

    def _wake_all(self) -> None:
        for key in self._places:
            self._wake(key)

    async def _wake_at_stop(self) -> None:
        await self._stopping.wait()
        self._wake_all()
