"""The threads of a process that calculate beside its event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from service.platform.problem import Unavailable

T = TypeVar("T")
P = ParamSpec("P")


class Compute:
    """The threads that run kernels, which release the GIL. Bounded: past the queue's length load is shed."""

    def __init__(self, *, threads: int, queue: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="compute")
        self._free = threads + queue
        self._lock = threading.Lock()

    async def __call__(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread.

        Raises:
            Unavailable: too many calculations wait already.
        """
        if self._free <= 0:
            raise Unavailable
        self._take(1)
        running = self._pool.submit(function, *args, **kwargs)
        running.add_done_callback(lambda _: self._take(-1))  # not before it ends, though the caller may long be gone
        return await asyncio.wrap_future(running)

    def _take(self, places: int) -> None:
        with self._lock:
            self._free -= places

    def close(self) -> None:
        """Finish what runs, take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)
