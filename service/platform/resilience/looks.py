"""What anybody may ask without a limit is found out once for all callers, and kept for a moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from service.platform.unit.context import Resources

T = TypeVar("T")
Look = Callable[["Resources"], Awaitable[T]]
"""What a view finds out of a process's resources."""

LOOK_SECONDS: Final = 1.0
"""How long what a view found is good for."""


class Looks:
    """What views found: one look of a kind at a time, good for a while, so that who asks more often costs no more."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._found: dict[Hashable, tuple[float, Any]] = {}
        self._looking: dict[Hashable, asyncio.Task[Any]] = {}

    async def of(self, key: Hashable, look: Look[T], *, seconds: float = LOOK_SECONDS) -> T:
        """What `look` finds, or found under its key so many seconds ago at most.

        Raises:
            Problem: as `look`; the next caller looks again.
        """
        at, found = self._found.get(key, (-seconds, None))
        if time.monotonic() - at < seconds:
            kept: T = found
            return kept
        looking = self._looking.get(key)
        if looking is None:
            looking = self._looking[key] = asyncio.create_task(self._look(key, look))
        result: T = await asyncio.shield(looking)
        return result

    async def _look(self, key: Hashable, look: Look[T]) -> T:
        try:
            found = await look(self._resources)
            self._found[key] = (time.monotonic(), found)
            return found
        finally:
            del self._looking[key]
