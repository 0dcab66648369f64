"""What stands between the service and its servers.

Passes bytes on, late, not at all, or no more.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

CHUNK_BYTES: Final = 65_536


class Proxy:
    """A TCP port of this machine in front of a server's Unix socket.

    Its methods may be called from any thread.
    """

    def __init__(self, target: Path) -> None:
        self._target = target
        self._delay_seconds = 0.0
        self._refuses = False
        self._loop = asyncio.new_event_loop()
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def delay(self, seconds: float) -> None:
        """Each piece that passes, either way, comes so much later."""
        self._delay_seconds = seconds

    def stall(self) -> None:
        """Connections are taken, and nothing passes."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def cut(self) -> None:
        """Every connection ends, and so does each new one."""

        def end() -> None:
            self._refuses = True
            for task in self._tasks:
                task.cancel()

        self._loop.call_soon_threadsafe(end)

    def go_on(self) -> None:
        """All passes again."""

        def mend() -> None:
            self._delay_seconds, self._refuses = 0.0, False
            self._open.set()

        self._loop.call_soon_threadsafe(mend)

    def close(self) -> None:
        """End what is open, and serve no more."""

        async def end() -> None:
            self._server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._refuses:
                return
            with suppress(OSError, asyncio.CancelledError):
                there = await asyncio.open_unix_connection(str(self._target))
                try:
                    ways = [self._pass(reader, there[1]), self._pass(there[0], writer)]
                    await asyncio.wait([asyncio.ensure_future(way) for way in ways], return_when="FIRST_COMPLETED")
                finally:
                    there[1].transport.abort()
        finally:
            writer.transport.abort()
            self._tasks.discard(task)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(CHUNK_BYTES):
                if self._delay_seconds:
                    await asyncio.sleep(self._delay_seconds)
                await self._open.wait()
                writer.write(piece)
                await writer.drain()


@contextmanager
def proxy(target: Path) -> Iterator[Proxy]:
    """A proxy, until the end."""
    new_proxy = Proxy(target)
    try:
        yield new_proxy
    finally:
        new_proxy.close()
