"""A read replica, and which reads it may answer.

Each commit of a tenant is noted in Redis with the primary's position in its log. A replica answers a tenant's reads
once it has replayed past that note, and is behind by no more than a bound; in every other case the primary does.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final
from uuid import UUID

import structlog
from msgspec import Struct
from redis.exceptions import RedisError

from service.platform.base.problem import Problem
from service.platform.data.database import LOGIN, SERVICE_ROLE, Database
from service.platform.data.redis_breaker import RedisBreaker

LOOK_SECONDS: Final = 1.0
"""Between two looks at how far the replica is; what was found holds for twice as long."""
ANSWER_SECONDS: Final = 5.0
"""After which a read that the replica does not answer is the primary's."""
NOTES: Final = "cushion:written"
"""A sorted set: by tenant the position of its last commit, and under EVERYBODY one that holds for all."""
EVERYBODY: Final = "*"

_PRIMARY: Final = """
    SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint AS position,
           (SELECT system_identifier FROM pg_control_system()) AS cluster
"""
_REPLICA: Final = f"""
    SELECT pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint AS position,
           (SELECT system_identifier FROM pg_control_system()) AS cluster, ({LOGIN}) AS login
"""  # noqa: S608  (a constant)

log = structlog.get_logger()

Ask = Callable[..., Awaitable[Any]]
"""A command of Redis, shared with other requests."""


class _Place(Struct):
    position: int | None
    """None of a server that replays nothing: it is no replica, or no more."""
    cluster: int
    login: str = SERVICE_ROLE


class Replica:
    """The state of the replica, by a check now and then beside the requests."""

    def __init__(
        self, database: Database, primary: Database, ask: Ask, breaker: RedisBreaker, lag_seconds: int
    ) -> None:
        self._database = database
        self._primary = primary
        self._ask = ask
        self._breaker = breaker
        self._lag_seconds = lag_seconds
        self._seen: deque[tuple[float, int]] = deque(maxlen=lag_seconds + 2)
        """Moments and where the primary was then, the newest that is replayed first."""
        self._replayed = -1
        self._holds_until = 0.0
        self._looked_at = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._state = ""
        """What was last logged of it."""
        self._unnoted = -1
        """The last position that Redis was not there to take."""
        primary.committed = self._note
        breaker.on_recovery(self._catch_up)

    async def open(self) -> None:
        """Begin to connect; a replica that is away keeps nobody waiting."""
        await self._database.open_later()

    async def close(self) -> None:
        """Close every connection."""
        if self._looking is not None:
            self._looking.cancel()
        await self._database.close()

    async def for_reads(self, tenant_id: UUID) -> Database | None:
        """Return the replica where it has all that this tenant wrote, else None."""
        now = time.monotonic()
        if self._looking is None and now >= self._looked_at + LOOK_SECONDS:
            self._looking = asyncio.get_running_loop().create_task(self._compare_positions())
        if now >= self._holds_until:
            return None
        needed = await self._breaker.choose(lambda: self._needed_position(tenant_id), _unknown)
        return self._database if needed is not None and needed <= self._replayed else None

    def avoid(self) -> None:
        """Ask the primary until the next check: the replica did not answer."""
        self._holds_until = 0.0

    async def _needed_position(self, tenant_id: UUID) -> float | None:
        everybody, own = await self._ask("ZMSCORE", NOTES, EVERYBODY, str(tenant_id))
        return None if everybody is None else max(float(everybody), float(own or 0))

    async def _note(self, tenant_id: UUID | str, position: int) -> None:
        async def missed() -> None:
            self._unnoted = max(self._unnoted, position)

        await self._breaker.choose(lambda: self._ask("ZADD", NOTES, "GT", position, str(tenant_id)), missed)

    async def _catch_up(self) -> bool:
        if self._unnoted < 0:
            return False
        missed, self._unnoted = self._unnoted, -1
        try:
            await self._ask("ZADD", NOTES, "GT", missed, EVERYBODY)
        except RedisError:
            self._unnoted = max(self._unnoted, missed)
            raise
        return True

    async def _compare_positions(self) -> None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                whole = await self._breaker.choose(lambda: self._ask("ZSCORE", NOTES, EVERYBODY), _unknown) is not None
                now = time.monotonic()
                async with self._primary.transaction() as tx:
                    there = await tx.fetch_one_or_none(_Place, _PRIMARY)
                async with self._database.transaction() as tx:
                    here = await tx.fetch_one_or_none(_Place, _REPLICA)
                assert there is not None
                assert there.position is not None
                if not whole:  # Redis lost its notes: whatever they said lies before this position
                    await self._breaker.choose(
                        lambda: self._ask("ZADD", NOTES, "GT", there.position, EVERYBODY), _unknown
                    )
            self._note_place(now, there, here)
        except (Problem, TimeoutError) as error:
            self._unused("unavailable", error=type(error).__name__)
        finally:
            self._looked_at = time.monotonic()
            self._looking = None

    def _note_place(self, now: float, there: _Place, here: _Place | None) -> None:
        if here is None or here.position is None or here.cluster != there.cluster or here.login != SERVICE_ROLE:
            self._unused("unfit", login=None if here is None else here.login)
            return
        assert there.position is not None
        self._replayed = here.position
        self._seen.append((now, there.position))
        while len(self._seen) > 1 and self._seen[1][1] <= here.position:
            self._seen.popleft()
        moment, position = self._seen[0]
        if position <= here.position and now - moment <= self._lag_seconds:
            self._holds_until = now + 2 * LOOK_SECONDS
            self._log_state("used")
        else:
            self._unused("behind", seconds=round(now - moment, 1))

    def _unused(self, why: str, **more: Any) -> None:
        self.avoid()
        self._log_state(why, **more)

    def _log_state(self, state: str, **more: Any) -> None:
        if state != self._state:
            self._state = state
            log.warning(f"replica.{state}", **more)


async def _unknown() -> None:
    return None
