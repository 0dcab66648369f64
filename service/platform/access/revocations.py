"""Revocations: written to PostgreSQL, and copied into Redis to work at once.

A marker says that Redis has every live one. While it is gone no token passes before they are copied again.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from uuid import UUID

import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.platform.access.caller_cache import COPY_LEASE_SECONDS, GRACE_SECONDS, REDIS_LOADED
from service.platform.base.problem import Unavailable
from service.platform.config import Settings
from service.platform.data.database import Database, Transaction
from service.platform.data.redis_breaker import RedisBreaker

MARKER = "cushion:revocations"
"""While it is there, Redis has every live revocation."""
MARKER_SECONDS = 300
"""Then they are copied anew: a Redis that fell back to a replica or an old file may have lost some."""
MEND_SECONDS = 30
"""Between two rounds of the worker."""
MARGIN_SECONDS = 5
"""So much longer than the last token that it concerns does a revocation live."""

# Generations only rise, whichever of two writers comes last.
_RAISE_GENERATION = """
if tonumber(ARGV[1]) >= tonumber(redis.call('GET', KEYS[1]) or '-1') then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
"""

# Which run of Redis has them all.
_NAME_RUN = """
redis.call('SET', KEYS[1], redis.call('INFO', 'server'):match('run_id:(%w+)'), 'EX', ARGV[1])
"""
_HOLD_MARKER = """
if redis.call('GET', KEYS[2]) ~= redis.call('INFO', 'server'):match('run_id:(%w+)') then return 0 end
redis.call('SET', KEYS[1], 'held', 'EX', ARGV[1])
return 1
"""

log = structlog.get_logger()


class _Revocation(Struct):
    kind: str
    subject: UUID
    generation: int
    seconds_left: float


class Revocations:
    """Tokens that end early: those of a session, or of a user's earlier generations."""

    def __init__(self, redis: Redis, database: Database, settings: Settings, breaker: RedisBreaker) -> None:
        self._redis = redis
        self._database = database
        self._breaker = breaker
        self._live_seconds = settings.access_token_seconds + MARGIN_SECONDS
        breaker.first(self._copy_all)

    async def record(self, tx: Transaction, tenant_id: UUID, kind: str, subject: UUID, generation: int = 0) -> None:
        """Write a revocation to PostgreSQL; `publish` copies it.

        `kind`: session, or user with the first generation that holds again.
        """
        await tx.execute(
            """
            INSERT INTO revocations (tenant_id, kind, subject, generation, expires_at)
            VALUES (%s, %s, %s, %s, now() + make_interval(secs => %s))
            ON CONFLICT (tenant_id, kind, subject) DO UPDATE
            SET generation = greatest(revocations.generation, EXCLUDED.generation),
                expires_at = EXCLUDED.expires_at
            """,
            [tenant_id, kind, subject, generation, self._live_seconds],
        )

    async def publish(self, kind: str, subject: UUID, generation: int) -> None:
        """Copy a revocation into Redis, so that it works at once.

        Raises:
            Unavailable: Redis is away.
        """
        async with self._breaker.open_pipeline() as pipe:
            _copy(pipe, kind, subject, generation, self._live_seconds)

    async def withdraw(self, kind: str, subject: UUID) -> None:
        """Remove the copy of a revocation that was not committed; load those that are.

        Raises:
            Unavailable: Redis is away.
        """
        async with self._breaker.open_pipeline() as pipe:
            pipe.delete(_name(kind, subject), MARKER, REDIS_LOADED)

    async def load(self) -> None:
        """Copy every revocation that still matters.

        When the marker is gone, and now and then in case a copy failed. While PostgreSQL is away none is added: the
        Redis that had them all has them still, for as long as copies of callers are kept.

        Raises:
            Unavailable: PostgreSQL is away, and this Redis is another one, or too much time went by.
        """
        if self._database.is_away:
            hold: Any = self._redis.eval
            if await hold(_HOLD_MARKER, 2, MARKER, REDIS_LOADED, COPY_LEASE_SECONDS):
                return
        await self._copy_all()

    async def _copy_all(self) -> None:
        async with self._database.transaction() as tx:
            rows = await tx.fetch_all(_Revocation, "SELECT * FROM live_revocations()")
        # In one transaction: a flush half-way would leave a marker that promises revocations which are gone.
        async with self._redis.pipeline(transaction=True) as pipe:
            for row in rows:
                _copy(pipe, row.kind, row.subject, row.generation, row.seconds_left)
            pipe.set(MARKER, "loaded", ex=MARKER_SECONDS)
            pipe.eval(_NAME_RUN, 1, REDIS_LOADED, str(MARKER_SECONDS + GRACE_SECONDS))
            await pipe.execute()

    async def mend(self, stopping: asyncio.Event) -> None:
        """Copy them again every so often, until the process stops."""
        while not stopping.is_set():
            try:
                await self.load()
            except (RedisError, Unavailable) as error:
                log.warning("revocations.copy_failed", error=type(error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), MEND_SECONDS)


def _name(kind: str, subject: UUID) -> str:
    return f"cushion:revoked:{subject}" if kind == "session" else f"cushion:generation:{subject}"


def _copy(pipe: Any, kind: str, subject: UUID, generation: int, seconds_left: float) -> None:
    seconds = max(1, int(seconds_left) + 1)
    name = _name(kind, subject)
    if kind == "session":
        pipe.set(name, "1", ex=seconds)
    else:
        pipe.eval(_RAISE_GENERATION, 1, name, generation, seconds)
