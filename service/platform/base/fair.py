"""A fair semaphore: a number of places, shared in turn between tenants."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable

from service.platform.base.problem import Unavailable

Turn = asyncio.Future[None]


class FairSemaphore:
    """Places for pieces of work, each for a tenant, or for an address without one.

    Nobody gets more than half of the places, even when the others are free: work that runs is not broken off, so the
    next tenant would wait for its end. Those who wait are served in turn, one piece of work each. The waiting room is
    bounded: when it is full, the tenant with the most in it loses the last of that. Of one event loop, so nothing is
    locked.
    """

    def __init__(self, places: int, *, waiting: int) -> None:
        self._places = self._free = places
        self._most_each = (places + 1) // 2
        self._waiting_most = self._room = waiting
        self._in_use_by: dict[Hashable, int] = {}
        self._waiting: dict[Hashable, deque[Turn]] = {}
        """By key; one that was served goes to the end."""

    @property
    def in_use(self) -> int:
        """Places in use."""
        return self._places - self._free

    @property
    def waiting(self) -> int:
        """Pieces of work that wait for a place."""
        return self._waiting_most - self._room

    async def acquire(self, whose: Hashable, *, seconds: float | None = None) -> None:
        """Wait for a place; `release` gives it back.

        Raises:
            Unavailable: too much waits already, or no place came within `seconds`.
        """
        if whose not in self._waiting and self._may_begin(whose):
            self._begin(whose)
            return
        try:
            async with asyncio.timeout(seconds):
                await self._wait(whose)
        except TimeoutError:
            raise Unavailable from None

    def release(self, whose: Hashable) -> None:
        """Give a place back; the next in turn gets it."""
        self._free += 1
        self._in_use_by[whose] -= 1
        if not self._in_use_by[whose]:
            del self._in_use_by[whose]
        while (following := next(filter(self._may_begin, self._waiting), None)) is not None:
            turns = self._waiting.pop(following)
            turn = turns.popleft()
            self._room += 1
            if turns:
                self._waiting[following] = turns
            if not turn.done():  # else its caller has just gone
                self._begin(following)
                turn.set_result(None)

    async def _wait(self, whose: Hashable) -> None:
        self._make_room(whose)
        turn: Turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(whose, deque()).append(turn)
        self._room -= 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(whose, turn)
            elif turn.exception() is None:  # its place came in the moment that its caller went
                self.release(whose)
            raise

    def _may_begin(self, whose: Hashable) -> bool:
        return self._free > 0 and self._in_use_by.get(whose, 0) < self._most_each

    def _begin(self, whose: Hashable) -> None:
        self._free -= 1
        self._in_use_by[whose] = self._in_use_by.get(whose, 0) + 1

    def _make_room(self, whose: Hashable) -> None:
        if self._room > 0:
            return
        longest = max(self._waiting.values(), key=len)
        if len(longest) <= len(self._waiting.get(whose, ())) + 1:
            raise Unavailable
        last = longest.pop()  # never the only one
        self._room += 1
        if not last.done():
            last.set_exception(Unavailable())

    def _leave(self, whose: Hashable, turn: Turn) -> None:
        turns = self._waiting.get(whose)
        if turns and turn in turns:
            turns.remove(turn)
            self._room += 1
            if not turns:
                del self._waiting[whose]
