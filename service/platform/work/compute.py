"""The threads of a process that work beside its event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from service.platform.work.fair import FairSemaphore

T = TypeVar("T")
P = ParamSpec("P")


class Compute:
    """Threads for one kind of work that releases the GIL or waits for a child, shared fairly between those it is for.

    Bounded: past the queue's length load is shed.
    """

    def __init__(self, *, threads: int, queue: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._semaphore = FairSemaphore(threads, waiting=queue)

    async def __call__(self, whose: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread, for the sake of a tenant or an address.

        Raises:
            Unavailable: too much waits already.
        """
        await self._semaphore.acquire(whose)
        loop = asyncio.get_running_loop()
        running = self._pool.submit(function, *args, **kwargs)
        running.add_done_callback(  # not before it ends, though the caller may long be gone
            lambda _: loop.call_soon_threadsafe(self._semaphore.release, whose)
        )
        return await asyncio.wrap_future(running)

    def close(self) -> None:
        """Finish what runs, take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
