"""The memory of one process: its caches, and the limit above which these go and load is shed."""

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
    """The caches of a process by their names, and whether it has more memory than it may."""

    def __init__(self, bytes_most: int) -> None:
        self._bytes_most = bytes_most
        self.caches: dict[str, Lru[Any, Any]] = {}
        self.is_short = False
        """Nothing that takes memory is begun."""

    def cache(self, name: str, *, most: int, bytes_most: int) -> Lru[Any, Any]:
        """The cache of that name, made when it is first asked for."""
        found = self.caches.get(name)
        if found is None:
            found = self.caches[name] = Lru(most=most, bytes_most=bytes_most)
        return found

    async def watch(self) -> None:
        """Look at the process's memory again and again; above its limit forget the least recently used first, and turn
        callers away for as long as that does not help."""
        relieved = 0.0
        loop = asyncio.get_running_loop()
        while True:
            if anonymous_bytes() > self._bytes_most and loop.time() - relieved >= RELIEF_SECONDS:
                await self._relieve(anonymous_bytes() - self._bytes_most)
                relieved = loop.time()
            taken = anonymous_bytes()
            if self.is_short != (taken > self._bytes_most):
                self.is_short = not self.is_short
                log.warning("memory.short" if self.is_short else "memory.enough", megabytes=taken >> 20)
            await asyncio.sleep(LOOK_SECONDS)

    async def _relieve(self, excess_bytes: int) -> None:
        """Forget so much of what is kept, and give what is free back to the system."""
        while excess_bytes > 0 and (filled := [cache for cache in self.caches.values() if len(cache)]):
            excess_bytes -= min(filled, key=lambda cache: cache.oldest).drop_oldest()
        gc.collect()
        await asyncio.to_thread(_give_back)


def _give_back() -> None:
    """Have the C library return free memory to the system; elsewhere than on Linux it does so by itself."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
