"""Answers that this process gave, for the time in which the database is away: bounded, and none that was changed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Final, NamedTuple
from uuid import UUID

from service.platform.base.caller import Caller
from service.platform.base.lru import Lru

ANSWER_BYTES_MAX: Final = 64 * 1024
"""Of one answer; a larger one is not kept."""
ENTRY_BYTES: Final = 1_500
"""What a key and its places in the tables take beside the answer, measured."""
TENANTS_REMEMBERED: Final = 20_000
"""Whose last change is known; of who is forgotten, answers that were begun before are not kept."""

Key = tuple[Hashable, ...]
"""The tenant first; then who calls with which rights, the path and the query."""


def key_of(caller: Caller, path: str, query: bytes) -> Key:
    """What an answer is kept under: all that a handler may know of who calls, but for their e-mail."""
    return (
        caller.tenant_id,
        caller.kind,
        caller.user_id,
        caller.role,
        caller.scopes,
        caller.tier,
        caller.session_id,
        caller.generation,
        caller.api_key_id,
        caller.runs_deployment,
        path,
        query,
    )


class Kept(NamedTuple):
    """An answer as it went out."""

    content: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    """Of the answer itself: its ETag, say."""
    at: float
    """When it was made, by the monotonic clock."""


class Counts(NamedTuple):
    """What a process tells of its cache."""

    entries: int = 0
    size_bytes: int = 0
    served: int = 0
    missed: int = 0
    dropped: int = 0
    cleared: int = 0


class FallbackCache(Lru[Key, Kept]):
    """The answers of one process, by caller, path and query.

    What a tenant changes drops all that is kept of it. An answer that was begun before that change, and ends after it,
    is not kept either.
    """

    def __init__(
        self, *, most: int, bytes_most: int, seconds_most: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        """`most` and `bytes_most` are entries and bytes, `seconds_most` the oldest answer that is given out; 0 entries
        keep nothing."""
        super().__init__(most=most, bytes_most=bytes_most)
        self.most, self.bytes_most, self.seconds_most = most, bytes_most, seconds_most
        self._now = now
        self._of_tenant: dict[Hashable, set[Key]] = {}
        self._turn = 0
        """Counts changes."""
        self._changed: OrderedDict[UUID | None, int] = OrderedDict()
        self._forgotten = 0
        """The last change of a tenant that is not remembered any more."""
        self.served = self.missed = self.dropped = self.cleared = 0

    @property
    def turn(self) -> int:
        """Where the changes stand: asked before an answer is made, told to `add` behind it."""
        return self._turn

    def add(self, key: Key, content: bytes, headers: tuple[tuple[bytes, bytes], ...], turn: int) -> None:
        """Keep an answer that was begun at this turn, unless its tenant has changed something since."""
        tenant_id: Any = key[0]
        if self.most == 0 or len(content) > ANSWER_BYTES_MAX or self._changed.get(tenant_id, self._forgotten) > turn:
            return
        self.keep(key, Kept(content, headers, self._now()), len(content) + ENTRY_BYTES)
        if key in self._kept:
            self._of_tenant.setdefault(tenant_id, set()).add(key)

    def find(self, key: Key) -> tuple[Kept, int] | None:
        """What is kept of this and its age in whole seconds; None where there is nothing that is young enough."""
        found = self.get(key)
        if found is not None:
            age_seconds = self._now() - found.at
            if age_seconds <= self.seconds_most:
                self.served += 1
                return found, int(age_seconds)
            self._drop(key)
        self.missed += 1
        return None

    def changed(self, tenant_id: UUID | None) -> None:
        """A tenant changed something, or may have: nothing of it is true any more."""
        self._turn += 1
        self._changed[tenant_id] = self._turn
        self._changed.move_to_end(tenant_id)
        if len(self._changed) > TENANTS_REMEMBERED:
            _, self._forgotten = self._changed.popitem(last=False)
        for key in self._of_tenant.pop(tenant_id, ()):
            if key in self._kept:
                self._drop(key)
                self.dropped += 1

    def clear(self) -> int:
        """Forget all; how many answers that were."""
        entries = len(self)
        while len(self):
            self.drop_oldest()
        self._turn += 1
        self._forgotten = self._turn  # what is on its way was begun before
        self._changed.clear()
        self.cleared += 1
        return entries

    @property
    def counts(self) -> Counts:
        """What this process has to tell of it."""
        return Counts(len(self), self.size_bytes, self.served, self.missed, self.dropped, self.cleared)

    def _drop(self, key: Key) -> int:
        of_tenant = self._of_tenant.get(key[0])
        if of_tenant is not None:
            of_tenant.discard(key)
            if not of_tenant:
                del self._of_tenant[key[0]]
        return super()._drop(key)
