"""The memory of one process: its caches, and the limit above which load is shed."""

from __future__ import annotations

import asyncio
import ctypes
import gc
from typing import Any, Final

import structlog

from service.platform.base.lru import Lru, anonymous_bytes

LOOK_SECONDS: Final = 0.25
RELIEF_SECONDS: Final = 2.0
"""The least time between two rounds of collecting, which hold up the event loop for tens of milliseconds."""
RETRY_SECONDS: Final = 2
"""When a caller who was turned away may try again."""

log = structlog.get_logger()


class Memory:
    """The caches of a process by name, and whether its memory is short."""

    def __init__(self, bytes_most: int) -> None:
        self._bytes_most = bytes_most
        self.caches: dict[str, Lru[Any, Any]] = {}
        self.is_short = False
        """Nothing that takes memory is begun."""

    def cache(self, name: str, *, most: int, bytes_most: int) -> Lru[Any, Any]:
        """Return the cache of that name; make it the first time."""
        lru = self.caches.get(name)
        if lru is None:
            lru = self.caches[name] = Lru(most=most, bytes_most=bytes_most)
        return lru

    async def watch(self) -> None:
        """Watch the process's memory; above its limit drop what was least recently used."""
        relieved = 0.0
        loop = asyncio.get_running_loop()
        while True:
            if anonymous_bytes() > self._bytes_most and loop.time() - relieved >= RELIEF_SECONDS:
                await self._free_memory(anonymous_bytes() - self._bytes_most)
                relieved = loop.time()
            taken = anonymous_bytes()
            if self.is_short != (taken > self._bytes_most):
                self.is_short = not self.is_short
                log.warning("memory.short" if self.is_short else "memory.enough", megabytes=taken >> 20)
            await asyncio.sleep(LOOK_SECONDS)

    async def _free_memory(self, excess_bytes: int) -> None:
        """Drop cached values, and give what is free back to the system."""
        while excess_bytes > 0 and (filled := [cache for cache in self.caches.values() if len(cache)]):
            excess_bytes -= min(filled, key=lambda cache: cache.oldest).drop_oldest()
        gc.collect()
        await asyncio.to_thread(_trim_heap)


def _trim_heap() -> None:
    """Have the C library return free memory to the system."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
