"""The threads of a process that work beside its event loop."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import ParamSpec, TypeVar

from prometheus_client import Histogram

from service.platform.base.fair import FairSemaphore
from service.platform.metrics import KERNEL_SECONDS, THREAD_WAIT_SECONDS, THREADS, THREADS_WAITING, kernel_of

T = TypeVar("T")
P = ParamSpec("P")

EVENT_LOOP = "event_loop"
"""In the place of a pool's name."""


class Compute:
    """Threads for one kind of work, shared fairly between tenants.

    For work that releases the GIL or waits for a child. Past the queue's length load is shed.
    """

    def __init__(self, name: str, *, threads: int, queue: int, nice: int = 0) -> None:
        """`nice`: how much less urgent the threads are, for work without a lock."""
        self.name = name
        THREADS.labels(name).set_function(lambda: self._semaphore.in_use)
        THREADS_WAITING.labels(name).set_function(lambda: self._semaphore.waiting)
        self._waited = THREAD_WAIT_SECONDS.labels(name)
        self._pool = ThreadPoolExecutor(
            threads, thread_name_prefix="compute", initializer=partial(_lower_priority, nice)
        )
        self._semaphore = FairSemaphore(threads, waiting=queue)

    async def __call__(self, whose: Hashable, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread, for a tenant or an address.

        Raises:
            Unavailable: too much waits already.
        """
        asked = time.perf_counter()
        await self._semaphore.acquire(whose)
        self._waited.observe(time.perf_counter() - asked)
        loop = asyncio.get_running_loop()
        timer = KERNEL_SECONDS.labels(self.name, kernel_of(function))
        running = self._pool.submit(_time_call, timer, partial(function, *args, **kwargs))
        running.add_done_callback(  # not before it ends, though the caller may long be gone
            lambda _: loop.call_soon_threadsafe(self._semaphore.release, whose)
        )
        return await asyncio.wrap_future(running)

    def close(self) -> None:
        """Finish what runs, take nothing more."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _lower_priority(nice: int) -> None:
    """Make this thread, and those that it starts, less urgent."""
    if nice and sys.platform == "linux":
        own = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, own, os.getpriority(os.PRIO_PROCESS, own) + nice)


def at_once(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a kernel in the event loop, where a thread would cost more than its work."""
    started = time.perf_counter()
    try:
        return function(*args, **kwargs)
    finally:
        _loop_timer(function).observe(time.perf_counter() - started)


@lru_cache(maxsize=256)
def _loop_timer(function: Callable[..., object]) -> Histogram:
    return KERNEL_SECONDS.labels(EVENT_LOOP, kernel_of(function))


def _time_call(timer: Histogram, function: Callable[[], T]) -> T:
    started = time.perf_counter()
    try:
        return function()
    finally:
        timer.observe(time.perf_counter() - started)
