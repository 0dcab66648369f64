"""The gate: revocation, tenant, API key and every limit of a request, decided in one Redis round trip.

Redis holds copies only. What is missing there (after a flush, or for a tenant not seen for a while) is loaded from
PostgreSQL and the question asked again; nothing passes before the copy is whole. While Redis is away each process
decides for itself (`fallback`), and what must reach Redis is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import lru_cache, partial
from importlib import resources
from typing import Any, TypeVar
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import NoScriptError, RedisError

from service.platform.clock import Clock
from service.platform.config import ByTier, Settings
from service.platform.database import Database, Transaction
from service.platform.fallback import CALLS, Fallback, KeyUse, Owed, figures_of
from service.platform.lane import Lane
from service.platform.problem import Problem, Unavailable
from service.platform.secrets import new_id
from service.platform.standing import (
    NO_METER,
    KeyRecord,
    Meter,
    TenantRecord,
    TenantUsage,
    Verdict,
    Window,
    read_amounts,
    read_key,
    read_tenant,
    read_two_factor,
)

__all__ = [
    "NO_METER",
    "Gate",
    "KeyRecord",
    "Meter",
    "TenantRecord",
    "TenantUsage",
    "Verdict",
    "Window",
    "record_revocation",
]

COPY_SECONDS = 30
TENANT_SECONDS = 300  # dropped when the tenant changes; so long at most, should that ever be lost
KEY_SECONDS = 300  # likewise, when the key or its creator changes
TWO_FACTOR_SECONDS = 300  # likewise, when the user does
UNKNOWN_KEY_SECONDS = 30
REVOCATIONS_SECONDS = (
    300  # then they are loaded anew: a Redis that fell back to a replica or an old file may have lost some
)
TICKET_SECONDS = 60
TOTALS_SECONDS = 40 * 86_400  # a month's totals outlive the month
RETRY_SECONDS = 1.0
"""How long a Redis that failed is left alone before it is tried again."""
MOST_LOADS = 10
"""At most one load of each kind, and a flush in between."""

USAGE_CHANGED = "cushion:usage_changed"
KEY_USAGE_CHANGED = "cushion:key_usage_changed"
"""Which totals PostgreSQL does not have yet: tenant:month, and tenant:key."""

# A reader of the truth writes its copy only while it holds the ticket that it took before it read: a change takes the
# ticket away, so what was read before the change cannot be written after it.
_PUT_COPY = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if #ARGV == 3 then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('HSET', KEYS[1], unpack(ARGV, 3)) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# Totals that are counted on already stay; a flush takes the ticket of whoever read them before it.
_PUT_TOTALS = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], unpack(ARGV, 3)) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
"""

# What a process counted while Redis was away, onto totals that are there: a mark, the moment of a key's use (or
# nothing), then names and amounts.
_ADD_TOTALS = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end
if ARGV[2] ~= '' and tonumber(redis.call('HGET', KEYS[1], 'at') or '0') < tonumber(ARGV[2]) then
  redis.call('HSET', KEYS[1], 'at', ARGV[2])
end
redis.call('SADD', KEYS[2], ARGV[1])
return 1
"""

# A window's number is the server's to say, as when it was counted.
_FORGIVE = """
local name = KEYS[1] .. ':' .. math.floor(tonumber(redis.call('TIME')[1]) / tonumber(ARGV[1]))
if tonumber(redis.call('GET', name) or '0') > 0 then redis.call('DECR', name) end
"""

# Generations only rise, whichever of two writers comes last.
_RAISE_GENERATION = """
if tonumber(ARGV[1]) >= tonumber(redis.call('GET', KEYS[1]) or '-1') then
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
end
"""

REVOCATIONS = "cushion:revocations"
"""The marker: while it is there, Redis has every live revocation."""

T = TypeVar("T")

log = structlog.get_logger()


class _Revocation(Struct):
    kind: str
    subject: UUID
    generation: int
    seconds_left: float


# The same bytes come with every request of a tenant or key.
_decode_tenant = lru_cache(maxsize=4096)(msgspec.json.Decoder(TenantRecord).decode)
_decode_key = lru_cache(maxsize=4096)(msgspec.json.Decoder(KeyRecord).decode)


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
        self._fallback = Fallback(database, settings, clock)
        self._away = False
        self._retry_at = 0.0
        self._returning: asyncio.Task[None] | None = None
        self._undropped: set[str] = set()

    # Verdicts ---------------------------------------------------------------------------------------------------------

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
        month = self._month()
        return await self._either(
            partial(
                self._ask, "user", str(tenant_id), str(user_id), str(session_id), generation, "", windows, meter, month
            ),
            partial(self._fallback.user, tenant_id, user_id, session_id, generation, windows, meter, month),
        )

    async def key(self, key_hash: bytes, windows: Sequence[Window] = (), meter: Meter = NO_METER) -> Verdict:
        """The verdict on a request with an API key; `key` of the verdict is None for one that does not exist.

        The key of a verdict may be dead: that is for the caller to refuse, and nothing was counted.
        """
        month = self._month()
        return await self._either(
            partial(self._ask, "key", "", "", "", 0, key_hash.hex(), windows, meter, month),
            partial(self._fallback.key, key_hash, windows, meter, month),
        )

    async def system(self, windows: Sequence[Window] = ()) -> Verdict:
        """The verdict on a request with the deployment's own key, which has the enterprise tier's figures."""
        per_minute, burst, per_day = figures_of(self._settings, "enterprise")
        return await self._either(
            partial(
                self._ask, "system", "", str(per_minute), str(burst), per_day, "", windows, NO_METER, self._month()
            ),
            partial(_at_once, self._fallback.system, windows),
        )

    async def use(self, tenant_id: UUID, tier: str, meter: Meter) -> Verdict:
        """The verdict on a use that only the request's body tells the amount of."""
        figure, month = meter.most.of(tier), self._month()
        flat = meter._replace(most=ByTier(figure, figure, figure, figure))
        return await self._either(
            partial(self._ask, "none", str(tenant_id), "", "", 0, "", (), flat, month),
            partial(self._fallback.use, tenant_id, figure, meter, month),
        )

    async def windows(self, windows: Sequence[Window]) -> Verdict:
        """The verdict on a call that has no caller yet, or on a quota of its own within a request."""
        return await self._either(
            partial(self._ask, "none", "", "", "", 0, "", windows, NO_METER, self._month()),
            partial(_at_once, self._fallback.windows, windows),
        )

    async def forgive(self, window: Window) -> None:
        """Take one call out of a window again: it turned out to be none of those that the window is about."""
        await self._either(
            partial(self._evaluate, _FORGIVE, [f"cushion:window:{window.name}"], window.seconds),
            partial(_at_once, self._fallback.forgive, window),
        )

    async def _ask(
        self,
        mode: str,
        tenant: str,
        user: str,
        session: str,
        generation: int,
        key_hash: str,
        windows: Sequence[Window],
        meter: Meter,
        month: str,
    ) -> Verdict:
        arguments: list[Any] = [mode, self._enforce, tenant, user, session, generation, key_hash, month]
        arguments += (meter.name, meter.amount, meter.scope, *meter.most)
        for window in windows:
            arguments += window
        for _ in range(MOST_LOADS):
            answer = await self._run(arguments)
            match answer[0]:
                case b"load_revocations":
                    await self.copy_revocations()
                case b"load_tenant":
                    await self._load_tenant(UUID(answer[1].decode()))
                case b"load_key":
                    await self._load_key(bytes.fromhex(key_hash))
                case b"load_user":
                    await self._load_two_factor(UUID(user))
                case b"load_usage":
                    await self._load_usage(UUID(answer[1].decode()), month)
                case b"revoked":
                    return Verdict("revoked")
                case outcome:
                    limit, remaining, reset, retry_after = answer[1:5]
                    return Verdict(
                        outcome.decode(),
                        limit,
                        remaining,
                        reset,
                        retry_after,
                        _decode_tenant(answer[5]) if answer[5] else None,
                        _decode_key(answer[6]) if answer[6] else None,
                        answer[7] == 1,
                    )
        raise Unavailable

    async def _run(self, arguments: list[Any]) -> list[Any]:
        if not self._digest:
            self._digest = await self._redis.script_load(self._script)
        try:
            return await self._lane("EVALSHA", self._digest, 0, *arguments)  # type: ignore[no-any-return]
        except NoScriptError:  # a flush or a restart dropped it
            self._digest = ""
            return await self._run(arguments)

    # What is known ----------------------------------------------------------------------------------------------------

    async def tenant(self, tenant_id: UUID) -> TenantRecord | None:
        """A tenant's record, for who has no verdict that tells it; None where there is no such tenant."""
        record = await self._either(partial(self._tenant_copy, tenant_id), partial(self._fallback.tenant, tenant_id))
        return record if record.slug else None

    async def _tenant_copy(self, tenant_id: UUID) -> TenantRecord:
        for _ in range(MOST_LOADS):
            raw = await self._redis.hget(_tenant_name(tenant_id), "record")  # type: ignore[misc]
            if raw:
                return _decode_tenant(raw)
            await self._load_tenant(tenant_id)
        raise Unavailable

    async def usage(self, tenant_id: UUID) -> TenantUsage:
        """What a tenant used in this calendar month (UTC)."""
        month = self._month()
        amounts = await self._either(
            partial(self._totals, tenant_id, month), partial(self._fallback.amounts, tenant_id, month)
        )
        return TenantUsage(amounts.get(CALLS, 0), amounts.get("calculations", 0))

    async def _totals(self, tenant_id: UUID, month: str) -> dict[str, int]:
        for _ in range(MOST_LOADS):
            totals = await self._redis.hgetall(_usage_name(tenant_id, month))  # type: ignore[misc]
            if totals:
                return {name.decode(): int(amount) for name, amount in totals.items()}
            await self._load_usage(tenant_id, month)
        raise Unavailable

    async def last_seen(self, session_id: UUID) -> float | None:
        """When a session of a tenant with a session timeout last passed (epoch seconds), as far as that is known.

        Redis alone remembers it, and while that is away this process: None tells nothing.
        """
        here = self._fallback.seen(session_id)
        there = await self._either(partial(self._seen_copy, session_id), partial(_at_once, lambda: None))
        return max((moment for moment in (here, there) if moment is not None), default=None)

    async def _seen_copy(self, session_id: UUID) -> float | None:
        moment = await self._redis.get(f"cushion:seen:{session_id}")
        return float(moment) if moment else None

    def seconds_left_of_month(self) -> int:
        """Until every meter begins anew."""
        now = self._clock.now()
        first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return math.ceil(((first + timedelta(days=32)).replace(day=1) - now).total_seconds())

    def _month(self) -> str:
        now = self._clock.now()
        return f"{now.year}-{now.month:02d}"

    # Redis away and back ----------------------------------------------------------------------------------------------

    @property
    def away(self) -> bool:
        """Whether Redis was not there when it was last asked."""
        return self._away

    async def _either(self, ask: Callable[[], Awaitable[T]], otherwise: Callable[[], Awaitable[T]]) -> T:
        """What Redis says, or while it is away what this process does."""
        if not self._away:
            try:
                return await ask()
            except RedisError as error:
                self._lost(error)
        self._look_for_redis()
        answer = await otherwise()
        if not self._away:  # it came back meanwhile, and does not have what was counted just now
            self._look_for_redis()
        return answer

    def _lost(self, error: RedisError) -> None:
        if not self._away:
            log.warning("cache.unavailable", error=type(error).__name__, detail=str(error)[:200])
            self._away = True
            self._retry_at = time.monotonic() + RETRY_SECONDS

    def _look_for_redis(self) -> None:
        """Try Redis when it is time, beside the request: it may take its time to fail."""
        if self._returning is None and time.monotonic() >= self._retry_at:
            self._returning = asyncio.get_running_loop().create_task(self._return())

    async def _return(self) -> None:
        """Ask Redis again only once it has what it missed: every revocation, every drop, every count."""
        try:
            await self._redis.ping()
            while self._undropped:
                names = list(self._undropped)
                await self._redis.delete(*names)
                self._undropped.difference_update(names)
            await self.copy_revocations()
            while any(owed := self._fallback.take_owed()):
                await self._hand_over(owed)
            self._away = False
            log.info("cache.back")
        except (RedisError, Problem) as error:
            log.debug("cache.still_away", error=type(error).__name__)
            self._retry_at = time.monotonic() + RETRY_SECONDS
        finally:
            self._returning = None

    async def _hand_over(self, owed: Owed) -> None:
        """Add to Redis's totals what was counted here; where an answer is lost on its way, it is added twice."""
        try:
            for (tenant_id, month), amounts in list(owed.tenants.items()):
                await self._add_usage(tenant_id, month, amounts)
                del owed.tenants[tenant_id, month]
            for key_hash, use in list(owed.keys.items()):
                await self._add_key_usage(key_hash, use)
                del owed.keys[key_hash]
        finally:
            self._fallback.give_back(owed)

    async def _add_usage(self, tenant_id: UUID, month: str, amounts: dict[str, int]) -> None:
        name, pairs = _usage_name(tenant_id, month), [part for pair in amounts.items() for part in pair]
        for _ in range(MOST_LOADS):
            if await self._evaluate(_ADD_TOTALS, [name, USAGE_CHANGED], f"{tenant_id}:{month}", "", *pairs):
                return
            await self._load_usage(tenant_id, month)
        raise Unavailable

    async def _add_key_usage(self, key_hash: bytes, use: KeyUse) -> None:
        for _ in range(MOST_LOADS):
            raw = await self._redis.get(_key_name(key_hash))
            if raw == b"":
                return  # the key is gone, and its count with it
            if raw is not None:
                key = _decode_key(raw)
                keys = [_key_usage_name(key.id), KEY_USAGE_CHANGED]
                if await self._evaluate(_ADD_TOTALS, keys, f"{key.tenant_id}:{key.id}", use.at, "count", use.times):
                    return
            await self._load_key(key_hash)
        raise Unavailable

    async def keep_copies(self, stopping: asyncio.Event) -> None:
        """Until told to stop: mend the copies of revocations."""
        while not stopping.is_set():
            try:
                await self.copy_revocations()
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
        name = _tenant_name(tenant_id)
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            record = await read_tenant(tx, tenant_id)
        per_minute, burst, per_day = figures_of(self._settings, record.tier)
        copy: dict[str, str | int | bytes] = {
            "status": record.status,
            "tier": record.tier,
            "per_minute": per_minute,
            "burst": burst,
            "per_day": per_day,
            "two_factor": int(record.two_factor_required),
            "timeout_minutes": record.session_timeout_minutes or 0,
            "record": msgspec.json.encode(record),
        }
        await self._put(name, ticket, TENANT_SECONDS, *(part for field in copy.items() for part in field))

    async def _load_key(self, key_hash: bytes) -> None:
        name = _key_name(key_hash)
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            row = await read_key(tx, key_hash)
        if row is None:
            await self._put(name, ticket, UNKNOWN_KEY_SECONDS, b"")
            return
        at = row.last_used_at.timestamp() if row.last_used_at else 0.0
        await self._put_totals(_key_usage_name(row.id), name, ticket, {"count": row.usage_count, "at": at})
        await self._put(name, ticket, KEY_SECONDS, msgspec.json.encode(row.record()))

    async def _load_two_factor(self, user_id: UUID) -> None:
        name = _two_factor_name(user_id)
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            enabled = await read_two_factor(tx, user_id)
        await self._put(name, ticket, TWO_FACTOR_SECONDS, int(enabled))

    async def _load_usage(self, tenant_id: UUID, month: str) -> None:
        name = _usage_name(tenant_id, month)
        ticket = await self._ticket(name)
        async with self._database.transaction(tenant_id) as tx:
            amounts = {CALLS: 0, **await read_amounts(tx, month)}
        await self._put_totals(name, name, ticket, amounts)

    async def _ticket(self, name: str) -> bytes:
        await self._redis.set(
            f"{name}:ticket", new_id().hex, nx=True, ex=TICKET_SECONDS
        )  # readers at the same time share one
        return await self._redis.get(f"{name}:ticket") or b""

    async def _put(self, name: str, ticket: bytes, seconds: int, *copy: str | int | bytes) -> None:
        await self._evaluate(_PUT_COPY, [name, f"{name}:ticket"], ticket, seconds, *copy)

    async def _put_totals(
        self, name: str, under: str, ticket: bytes, totals: dict[str, int] | dict[str, int | float]
    ) -> None:
        pairs = [part for pair in totals.items() for part in pair]
        await self._evaluate(_PUT_TOTALS, [name, f"{under}:ticket"], ticket, TOTALS_SECONDS, *pairs)

    async def _evaluate(self, script: str, keys: list[str], *arguments: str | int | float | bytes) -> Any:
        evaluate: Any = self._redis.eval  # its hints know text only
        return await evaluate(script, len(keys), *keys, *arguments)

    @asynccontextmanager
    async def _changing(self) -> AsyncIterator[Any]:
        if self._away:
            self._look_for_redis()
            raise Unavailable
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                yield pipe
                await pipe.execute()
        except RedisError as error:
            self._lost(error)
            raise Unavailable from error

    async def _drop(self, names: Iterable[str]) -> None:
        """Forget copies, and stop whoever is about to write one.

        Raises:
            Unavailable: Redis is away; they are dropped before this process asks it again.
        """
        dropped = [part for name in names for part in (name, f"{name}:ticket")]
        if not dropped:
            return
        try:
            async with self._changing() as pipe:
                pipe.delete(*dropped)
        except Unavailable:
            self._undropped.update(dropped)
            raise

    async def drop_keys(self, key_hashes: Sequence[bytes]) -> None:
        """Forget the copies of keys which, or whose creators, changed.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop(_key_name(key_hash) for key_hash in key_hashes)

    async def drop_tenant(self, tenant_id: UUID) -> None:
        """Forget the copy of a tenant whose status, tier or settings changed: before the commit and after it.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop([_tenant_name(tenant_id)])

    async def drop_user(self, user_id: UUID) -> None:
        """Forget whether a user has two-factor enabled: before the commit of a change and after it.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop([_two_factor_name(user_id)])

    async def publish_revocation(self, kind: str, subject: UUID, generation: int) -> None:
        """Copy a revocation, so that it bites at once.

        Raises:
            Unavailable: Redis is away.
        """
        async with self._changing() as pipe:
            _copy_revocation(pipe, kind, subject, generation, self._settings.access_token_seconds + 5)

    async def withdraw_revocation(self, kind: str, subject: UUID) -> None:
        """Take back the copy of a revocation that was not committed; what does hold is loaded again.

        Raises:
            Unavailable: Redis is away.
        """
        async with self._changing() as pipe:
            pipe.delete(_revocation_name(kind, subject), REVOCATIONS)


async def _at_once(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def _tenant_name(tenant_id: UUID) -> str:
    return f"cushion:tenant:{tenant_id}"


def _key_name(key_hash: bytes) -> str:
    return f"cushion:key:{key_hash.hex()}"


def _key_usage_name(key_id: UUID) -> str:
    return f"cushion:key_usage:{key_id}"


def _two_factor_name(user_id: UUID) -> str:
    return f"cushion:two_factor:{user_id}"


def _usage_name(tenant_id: UUID, month: str) -> str:
    return f"cushion:usage:{tenant_id}:{month}"


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
