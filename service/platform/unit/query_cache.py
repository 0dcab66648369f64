"""Answers of views that have no limit: asked once for all callers, kept a moment."""

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


class QueryCache:
    """Cached answers: one query of a kind at a time, good for a while."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._answers: dict[Hashable, tuple[float, Any]] = {}
        self._looking: dict[Hashable, asyncio.Task[Any]] = {}

    async def of(self, key: Hashable, look: Look[T], *, seconds: float = LOOK_SECONDS) -> T:
        """Return the answer of `look`, or an earlier one that is young enough.

        Raises:
            Problem: as `look`; the next caller looks again.
        """
        at, answer = self._answers.get(key, (-seconds, None))
        if time.monotonic() - at < seconds:
            kept: T = answer
            return kept
        looking = self._looking.get(key)
        if looking is None:
            looking = self._looking[key] = asyncio.create_task(self._run(key, look))
        result: T = await asyncio.shield(looking)
        return result

    async def _run(self, key: Hashable, look: Look[T]) -> T:
        try:
            answer = await look(self._resources)
            self._answers[key] = (time.monotonic(), answer)
            return answer
        finally:
            del self._looking[key]
