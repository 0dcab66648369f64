"""Answers of this process, for the time in which the database is away.

They are bounded, and none is of a tenant that changed something since.
"""

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
    """Return the key of an answer: what a handler may know of a caller, but e-mail."""
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


class CachedAnswer(NamedTuple):
    """An answer as it went out."""

    content: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    """Of the answer itself: its ETag, say."""
    at: float
    """When it was made, by the monotonic clock."""


class Counts(NamedTuple):
    """What a process reports of its cache."""

    entries: int = 0
    size_bytes: int = 0
    served: int = 0
    missed: int = 0
    dropped: int = 0
    cleared: int = 0


class FallbackCache(Lru[Key, CachedAnswer]):
    """The answers of one process, by caller, path and query.

    What a tenant changes drops all that is kept of it. An answer that was begun before that change, and ends after it,
    is not kept either.
    """

    def __init__(
        self, *, most: int, bytes_most: int, seconds_most: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep at most `most` answers of `bytes_most`, no older than `seconds_most`."""
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
        """The number of changes so far: read before an answer is made, passed to `add`."""
        return self._turn

    def add(self, key: Key, content: bytes, headers: tuple[tuple[bytes, bytes], ...], turn: int) -> None:
        """Keep an answer that was begun at this turn, unless its tenant changed since."""
        tenant_id: Any = key[0]
        if self.most == 0 or len(content) > ANSWER_BYTES_MAX or self._changed.get(tenant_id, self._forgotten) > turn:
            return
        self.keep(key, CachedAnswer(content, headers, self._now()), len(content) + ENTRY_BYTES)
        if key in self._kept:
            self._of_tenant.setdefault(tenant_id, set()).add(key)

    def find(self, key: Key) -> tuple[CachedAnswer, int] | None:
        """Return the kept answer and its age in whole seconds; None without a young one."""
        answer = self.get(key)
        if answer is not None:
            age_seconds = self._now() - answer.at
            if age_seconds <= self.seconds_most:
                self.served += 1
                return answer, int(age_seconds)
            self._drop(key)
        self.missed += 1
        return None

    def drop_tenant(self, tenant_id: UUID | None) -> None:
        """Drop all answers of a tenant that changed something, or may have."""
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
        """Drop all; return how many answers."""
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
        """What this process reports of it."""
        return Counts(len(self), self.size_bytes, self.served, self.missed, self.dropped, self.cleared)

    def _drop(self, key: Key) -> int:
        of_tenant = self._of_tenant.get(key[0])
        if of_tenant is not None:
            of_tenant.discard(key)
            if not of_tenant:
                del self._of_tenant[key[0]]
        return super()._drop(key)
