"""The gate: revocation, tenant, API key and every limit of a request, decided in one Redis round trip.

Redis holds copies only. What is missing there (after a flush, or for a tenant not seen for a while) is loaded from
PostgreSQL and the question asked again; nothing passes before the copy is whole.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from importlib import resources
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from service.platform.access import KEY_SCOPES, SCOPES, Role
from service.platform.clock import Clock
from service.platform.config import ByTier, Settings
from service.platform.database import Database, Transaction
from service.platform.lane import Lane
from service.platform.problem import Unavailable
from service.platform.secrets import new_id

COPY_SECONDS = 30
TENANT_SECONDS = 300  # nothing here changes a tenant's status or tier: what an operator changes shows after so long
KEY_SECONDS = 300  # dropped when the key or its creator changes; so long at most, should that ever be lost
UNKNOWN_KEY_SECONDS = 30
REVOCATIONS_SECONDS = (
    300  # then they are loaded anew: a Redis that fell back to a replica or an old file may have lost some
)
TICKET_SECONDS = 60

# A reader of the truth writes its copy only while it holds the ticket that it took before it read: a change takes the
# ticket away, so what was read before the change cannot be written after it.
_PUT_COPY = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if #ARGV == 3 then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('HSET', KEYS[1], unpack(ARGV, 3)) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# Generations only rise, whichever of two writers comes last.
_RAISE_GENERATION = """
if tonumber(ARGV[1]) >= tonumber(redis.call('GET', KEYS[1]) or '-1') then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
"""

REVOCATIONS = "cushion:revocations"
"""The marker: while it is there, Redis has every live revocation."""

log = structlog.get_logger()


class Window(NamedTuple):
    """A limit of its own: at most `most` calls in each span of `seconds`; -1 is unlimited."""

    name: str
    most: int
    seconds: int


class Meter(NamedTuple):
    """What a tenant may use in a calendar month (UTC), by tier."""

    name: str
    most: ByTier
    amount: int = 1
    scope: str = ""
    """What an API key needs for its request to be counted."""


NO_METER = Meter("", ByTier(-1, -1, -1, -1), amount=0)


class KeyRecord(Struct, frozen=True, kw_only=True):
    """What the gate remembers of an API key."""

    id: UUID
    tenant_id: UUID
    user_id: UUID
    email: str
    role: Role
    scopes: list[str]
    active: bool
    """Neither revoked nor made by a user who is no longer active."""
    expires_at: float | None


class Verdict(NamedTuple):
    """What the gate says of a request."""

    outcome: str
    """ok, limited, used_up, revoked."""
    limit: int = 0
    remaining: int = 0
    reset: int = 0
    retry_after_seconds: int = 0
    tenant_status: str = ""
    tier: str = ""
    key: KeyRecord | None = None

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The rate-limit headers."""
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset),
        ]


class _KeyRow(Struct):
    tenant_id: UUID
    id: UUID
    permissions: list[str]
    status: str
    expires_at: datetime | None
    creator_id: UUID
    creator_email: str
    creator_role: Role
    creator_status: str


class _TenantRow(Struct):
    status: str
    subscription_tier: str


class _Revocation(Struct):
    kind: str
    subject: UUID
    generation: int
    seconds_left: float


_decode_key = msgspec.json.Decoder(KeyRecord).decode


class Gate:
    """Asks Redis whether a request may pass."""

    def __init__(self, redis: Redis, lane: Lane, database: Database, settings: Settings, clock: Clock) -> None:
        self._redis = redis
        self._lane = lane
        self._database = database
        self._settings = settings
        self._clock = clock
        self._enforce = "1" if settings.rate_limits == "on" else "0"
        self._script = resources.files("service.platform").joinpath("gate.lua").read_text(encoding="utf-8")
        self._digest = ""

    async def user(
        self,
        tenant_id: UUID,
        user_id: UUID,
        session_id: UUID,
        generation: int,
        windows: Sequence[Window] = (),
        meter: Meter = NO_METER,
    ) -> Verdict:
        """The verdict on a request with a user's token."""
        return await self._ask("user", str(tenant_id), str(user_id), str(session_id), generation, "", windows, meter)

    async def key(self, key_hash: bytes, windows: Sequence[Window] = (), meter: Meter = NO_METER) -> Verdict:
        """The verdict on a request with an API key; `key` of the verdict is None for one that does not exist."""
        return await self._ask("key", "", "", "", 0, key_hash.hex(), windows, meter)

    async def use(self, tenant_id: UUID, tier: str, meter: Meter) -> Verdict:
        """The verdict on a use that only the request's body tells the amount of."""
        figure = meter.most.of(tier)
        return await self._ask(
            "none", str(tenant_id), "", "", 0, "", (), meter._replace(most=ByTier(figure, figure, figure, figure))
        )

    async def windows(self, windows: Sequence[Window]) -> Verdict:
        """The verdict on a call that has no caller yet, or on a quota of its own within a request."""
        return await self._ask("none", "", "", "", 0, "", windows)

    async def _ask(
        self,
        mode: str,
        tenant: str,
        user: str,
        session: str,
        generation: int,
        key_hash: str,
        windows: Sequence[Window],
        meter: Meter = NO_METER,
    ) -> Verdict:
        arguments: list[Any] = [mode, self._enforce, tenant, user, session, generation, key_hash, self._month()]
        arguments += (meter.name, meter.amount, meter.scope, *meter.most)
        for window in windows:
            arguments += window
        for _ in range(6):  # at most one load of each kind, and a flush in between
            try:
                answer = await self._run(arguments)
                match answer[0]:
                    case b"load_revocations":
                        await self.copy_revocations()
                    case b"load_tenant":
                        tenant = tenant or str(await self._tenant_of_key(key_hash))
                        await self._load_tenant(UUID(tenant))
                    case b"load_key":
                        await self._load_key(bytes.fromhex(key_hash))
                    case b"revoked":
                        return Verdict("revoked")
                    case outcome:
                        key = _decode_key(answer[7]) if answer[7] else None
                        limit, remaining, reset, retry_after = answer[1:5]
                        return Verdict(
                            outcome.decode(),
                            limit,
                            remaining,
                            reset,
                            retry_after,
                            answer[5].decode(),
                            answer[6].decode(),
                            key,
                        )
            except RedisError as error:
                log.warning("cache.unavailable", error=type(error).__name__)
                raise Unavailable from error
        raise Unavailable

    async def calls_this_month(self, tenant_id: UUID) -> int:
        """Requests of a tenant in this calendar month (UTC): Redis's count, so a flush begins it anew."""
        try:
            return int(await self._redis.get(f"cushion:calls:{tenant_id}:{self._month()}") or 0)
        except RedisError as error:
            raise Unavailable from error

    async def used_this_month(self, tenant_id: UUID, meter: str) -> int:
        """What a tenant used of a meter in this calendar month (UTC): Redis's count."""
        try:
            return int(await self._redis.get(f"cushion:meter:{meter}:{tenant_id}:{self._month()}") or 0)
        except RedisError as error:
            raise Unavailable from error

    def seconds_left_of_month(self) -> int:
        """Until every meter begins anew."""
        now = self._clock.now()
        first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return math.ceil(((first + timedelta(days=32)).replace(day=1) - now).total_seconds())

    def _month(self) -> str:
        now = self._clock.now()
        return f"{now.year}-{now.month:02d}"

    async def _run(self, arguments: list[Any]) -> list[Any]:
        if not self._digest:
            self._digest = await self._redis.script_load(self._script)
        try:
            return await self._lane("EVALSHA", self._digest, 0, *arguments)  # type: ignore[no-any-return]
        except NoScriptError:  # a flush or a restart dropped it
            self._digest = ""
            return await self._run(arguments)

    async def keep_copies(self, stopping: asyncio.Event) -> None:
        """Until told to stop: mend the copies of revocations, forget those that no live token can meet any more."""
        while not stopping.is_set():
            try:
                await self.copy_revocations()
                async with self._database.transaction() as tx:
                    await tx.execute("SELECT forget_revocations()")
            except (RedisError, Unavailable) as error:
                log.warning("revocations.copy_failed", error=type(error).__name__)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), COPY_SECONDS)

    # Copies: loaded when missing, dropped when the truth changes -----------------------------------------------------

    async def copy_revocations(self) -> None:
        """Copy every revocation that still matters: when the marker is gone, and now and then in case a copy failed."""
        async with self._database.transaction() as tx:
            rows = await tx.all(_Revocation, "SELECT * FROM live_revocations()")
        async with self._redis.pipeline(
            transaction=True
        ) as pipe:  # a flush in the midst must not spare the marker alone
            for row in rows:
                _copy_revocation(pipe, row.kind, row.subject, row.generation, row.seconds_left)
            pipe.set(REVOCATIONS, "loaded", ex=REVOCATIONS_SECONDS)
            await pipe.execute()

    async def _load_tenant(self, tenant_id: UUID) -> None:
        name = f"cushion:tenant:{tenant_id}"
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            row = await tx.one_or_none(_TenantRow, "SELECT * FROM find_tenant(%s)", [tenant_id])
        row = row or _TenantRow("cancelled", "free")
        settings, tier = self._settings, row.subscription_tier
        copy: dict[str, str | int] = {
            "status": row.status,
            "tier": tier,
            "per_minute": settings.requests_per_minute.of(tier),
            "burst": settings.request_burst.of(tier),
            "per_day": settings.requests_per_day.of(tier),
        }
        await self._put(name, ticket, TENANT_SECONDS, *(part for field in copy.items() for part in field))

    async def _load_key(self, key_hash: bytes) -> None:
        name = f"cushion:key:{key_hash.hex()}"
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            row = await tx.one_or_none(_KeyRow, "SELECT * FROM find_api_key(%s)", [key_hash])
        if row is None:
            await self._put(name, ticket, UNKNOWN_KEY_SECONDS, b"")
            return
        allowed = SCOPES[row.creator_role]  # a key never exceeds its creator's present role
        record = KeyRecord(
            id=row.id,
            tenant_id=row.tenant_id,
            user_id=row.creator_id,
            email=row.creator_email,
            role=row.creator_role,
            scopes=[scope for scope in KEY_SCOPES if scope in row.permissions and scope in allowed],
            active=row.status in ("active", "deprecated") and row.creator_status == "active",
            expires_at=row.expires_at.timestamp() if row.expires_at else None,
        )
        await self._put(name, ticket, KEY_SECONDS, msgspec.json.encode(record))

    async def _ticket(self, name: str) -> bytes:
        await self._redis.set(
            f"{name}:ticket", new_id().hex, nx=True, ex=TICKET_SECONDS
        )  # readers at the same time share one
        return await self._redis.get(f"{name}:ticket") or b""

    async def _put(self, name: str, ticket: bytes, seconds: int, *copy: str | int | bytes) -> None:
        evaluate: Any = self._redis.eval  # its hints know text only
        await evaluate(_PUT_COPY, 2, name, f"{name}:ticket", ticket, seconds, *copy)

    async def _tenant_of_key(self, key_hash: str) -> UUID:
        record = await self._redis.get(f"cushion:key:{key_hash}")
        return _decode_key(record).tenant_id if record else UUID(int=0)

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[Any]:
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                yield pipe
                await pipe.execute()
        except RedisError as error:
            log.error("cache.change_lost", error=type(error).__name__)
            raise Unavailable from error

    async def drop_keys(self, key_hashes: Sequence[bytes]) -> None:
        """Forget the copies of keys which, or whose creators, changed."""
        if key_hashes:
            names = [f"cushion:key:{key_hash.hex()}" for key_hash in key_hashes]
            async with self._changing() as pipe:
                pipe.delete(*names, *(f"{name}:ticket" for name in names))

    async def publish_revocation(self, kind: str, subject: UUID, generation: int) -> None:
        """Copy a revocation, so that it bites at once."""
        async with self._changing() as pipe:
            _copy_revocation(pipe, kind, subject, generation, self._settings.access_token_seconds + 5)

    async def withdraw_revocation(self, kind: str, subject: UUID) -> None:
        """Take back the copy of a revocation that was not committed; what does hold is loaded again."""
        async with self._changing() as pipe:
            pipe.delete(_revocation_name(kind, subject), REVOCATIONS)


def _revocation_name(kind: str, subject: UUID) -> str:
    return f"cushion:revoked:{subject}" if kind == "session" else f"cushion:generation:{subject}"


def _copy_revocation(pipe: Any, kind: str, subject: UUID, generation: int, seconds_left: float) -> None:
    seconds = max(1, int(seconds_left) + 1)
    name = _revocation_name(kind, subject)
    if kind == "session":
        pipe.set(name, "1", ex=seconds)
    else:
        pipe.eval(_RAISE_GENERATION, 1, name, generation, seconds)


async def record_revocation(
    tx: Transaction, settings: Settings, tenant_id: UUID, kind: str, subject: UUID, generation: int = 0
) -> None:
    """Write a revocation to the truth; `Gate.publish_revocation` copies it."""
    await tx.execute(
        """
        INSERT INTO revocations (tenant_id, kind, subject, generation, expires_at)
        VALUES (%s, %s, %s, %s, now() + make_interval(secs => %s))
        ON CONFLICT (tenant_id, kind, subject) DO UPDATE
        SET generation = greatest(revocations.generation, EXCLUDED.generation),
            expires_at = EXCLUDED.expires_at
        """,
        [tenant_id, kind, subject, generation, settings.access_token_seconds + 5],
    )
