"""Copies of tenants, API keys and second factors in Redis, and totals of use.

A copy is loaded when it is missing and dropped when the truth changes. A drop must reach Redis and is refused while it
is away; of all else the caller says what happens then.

Redis is not trusted with who may do what: the records of tenants and keys are signed, each for its place and for as
long as a copy lives. One that is not ours is loaded anew.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec
import structlog
from redis.asyncio import Redis

from service.platform.access.caller_status import (
    CALLS,
    KeyRecord,
    TenantRecord,
    figures_of,
    read_amounts,
    read_key,
    read_tenant,
    read_two_factor,
)
from service.platform.base.problem import Unavailable
from service.platform.base.secrets import CLOCKS_APART_SECONDS, Vault, new_id
from service.platform.config import Settings
from service.platform.data.database import Database
from service.platform.data.redis_breaker import RedisBreaker

TENANT_SECONDS = 300  # dropped when the tenant changes; so long at most, should that ever be lost
KEY_SECONDS = 300  # likewise, when the key or its creator changes
TWO_FACTOR_SECONDS = 300  # likewise, when the user does
UNKNOWN_KEY_SECONDS = 30
TICKET_SECONDS = 60
TOTALS_SECONDS = 40 * 86_400  # a month's totals outlive the month
GRACE_SECONDS: Final = 3600
"""So much longer a copy is kept that could not be renewed since PostgreSQL is away: nothing changes meanwhile, and what
another process, which reaches it, does change is dropped here too."""
COPY_LEASE_SECONDS: Final = 10
"""For which such a copy is good, before PostgreSQL is asked for again."""
SIGNATURE_BYTES: Final = 32
UNTIL_BYTES: Final = 8
"""In front of a record: its signature, and the second until which it holds; gate.lua reads what follows."""
MOST_LOADS = 10
"""At most one load of each kind, and a flush in between."""

REDIS_LOADED: Final = "cushion:revocations:kept"
"""The run of Redis that has every revocation: written with their marker, and kept so much longer."""

USAGE_CHANGED = "cushion:usage_changed"
KEY_USAGE_CHANGED = "cushion:key_usage_changed"
"""Which totals PostgreSQL does not have yet: tenant:month, and tenant:key."""

# A reader of the truth writes its copy only while it holds the ticket that it took before it read: a change takes the
# ticket away, so what was read before the change cannot be written after it.
_PUT_COPY = f"""
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if #ARGV == 3 then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('HSET', KEYS[1], unpack(ARGV, 3)) end
redis.call('COPY', KEYS[1], KEYS[3], 'REPLACE')
redis.call('EXPIRE', KEYS[1], ARGV[2])
redis.call('EXPIRE', KEYS[3], ARGV[2] + {GRACE_SECONDS})
return 1
"""

# What was kept of a copy takes its place again, in the Redis that it was written to: one that was started anew may have
# come back with a file from before a drop.
_HOLD_COPY = """
if redis.call('GET', KEYS[3]) ~= redis.call('INFO', 'server'):match('run_id:(%w+)') then return 0 end
if redis.call('COPY', KEYS[2], KEYS[1], 'REPLACE') == 0 then return 0 end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""

# Totals that are counted on already stay; a flush takes the ticket of everyone who read them before it.
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

log = structlog.get_logger()
_decode_tenant = msgspec.json.Decoder(TenantRecord).decode
_decode_key = msgspec.json.Decoder(KeyRecord).decode

T = TypeVar("T")
K = TypeVar("K")


class CallerCache:
    """Copies of callers in one Redis; PostgreSQL has the truth."""

    def __init__(
        self, redis: Redis, database: Database, settings: Settings, breaker: RedisBreaker, vault: Vault
    ) -> None:
        self._redis = redis
        self._vault = vault
        # The same bytes come with every request of a tenant or key.
        self._opened_tenant = lru_cache(maxsize=4096)(partial(self._open, _decode_tenant, _tenant_name))
        self._opened_key = lru_cache(maxsize=4096)(partial(self._open, _decode_key, _key_name))
        self._database = database
        self._settings = settings
        self._breaker = breaker
        self._undropped: set[str] = set()
        self.hits = self.misses = 0
        """Verdicts that found all copies, and those that had to load some."""
        breaker.on_recovery(self._drop_again)

    # Read -------------------------------------------------------------------------------------------------------------

    async def tenant(self, tenant_id: UUID) -> TenantRecord:
        """Return a tenant's record; load it first where it is missing.

        Raises:
            Unavailable: it was gone as often as it was loaded.
        """
        for _ in range(MOST_LOADS):
            raw = await self._redis.hget(_tenant_name(tenant_id), "record")  # type: ignore[misc]
            record = self.open_tenant(tenant_id, raw) if raw else None
            if record is not None:
                return record
            await self.load_tenant(tenant_id)
        raise Unavailable

    async def totals(self, tenant_id: UUID, month: str) -> dict[str, int]:
        """Return a tenant's use of a month by name; load it first where it is missing.

        Raises:
            Unavailable: it was gone as often as it was loaded.
        """
        for _ in range(MOST_LOADS):
            totals = await self._redis.hgetall(_usage_name(tenant_id, month))  # type: ignore[misc]
            if totals:
                return {name.decode(): int(amount) for name, amount in totals.items()}
            await self.load_usage(tenant_id, month)
        raise Unavailable

    # Signed -----------------------------------------------------------------------------------------------------------

    def open_tenant(self, tenant_id: UUID, raw: bytes) -> TenantRecord | None:
        """Open a tenant's record from Redis; None where it is not ours or too old."""
        until, record = self._opened_tenant(tenant_id, raw)
        return record if self._is_good(until) else None

    def open_key(self, key_hash: bytes, raw: bytes) -> KeyRecord | None:
        """Open a key's record from Redis; None where it is not ours or too old."""
        until, record = self._opened_key(key_hash, raw)
        return record if self._is_good(until) else None

    def _is_good(self, until: int) -> bool:
        now = time.time()
        return until > now or (self._database.is_away and until + GRACE_SECONDS > now)

    def _sign(self, name: str, seconds: int, content: bytes) -> bytes:
        until = (int(time.time()) + seconds + CLOCKS_APART_SECONDS).to_bytes(UNTIL_BYTES)
        return self._signature(name, until + content) + until + content

    def _open(
        self, decode: Callable[[bytes], T], name_of: Callable[[K], str], subject: K, raw: bytes
    ) -> tuple[int, T | None]:
        name = name_of(subject)
        signature, content = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(name, content)):
            log.error("copy.refused", name=name)
            return 0, None
        return int.from_bytes(content[:UNTIL_BYTES]), decode(content[UNTIL_BYTES:])

    def _signature(self, name: str, content: bytes) -> bytes:
        return self._vault.sign("copies", b"%s %s" % (name.encode(), content))

    # Loaded -----------------------------------------------------------------------------------------------------------

    async def load_tenant(self, tenant_id: UUID) -> None:
        """Copy a tenant with its tier's figures; one that does not exist is cancelled."""
        name = _tenant_name(tenant_id)
        if await self._can_use_old_copy(name):
            return
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
            "record": self._sign(name, TENANT_SECONDS, msgspec.json.encode(record)),
        }
        await self._put(name, ticket, TENANT_SECONDS, *(part for field in copy.items() for part in field))

    async def load_key(self, key_hash: bytes) -> None:
        """Copy an API key, or that there is none, and how often it was used."""
        name = _key_name(key_hash)
        if await self._can_use_old_copy(name):
            return
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            row = await read_key(tx, key_hash)
        if row is None:
            await self._put(name, ticket, UNKNOWN_KEY_SECONDS, b"")
            return
        at = row.last_used_at.timestamp() if row.last_used_at else 0.0
        await self._put_totals(_key_usage_name(row.id), name, ticket, {"count": row.usage_count, "at": at})
        await self._put(name, ticket, KEY_SECONDS, self._sign(name, KEY_SECONDS, msgspec.json.encode(row.record())))

    async def load_two_factor(self, user_id: UUID) -> None:
        """Copy whether a user has enabled two-factor."""
        name = _two_factor_name(user_id)
        if await self._can_use_old_copy(name):
            return
        ticket = await self._ticket(name)
        async with self._database.transaction() as tx:
            enabled = await read_two_factor(tx, user_id)
        await self._put(name, ticket, TWO_FACTOR_SECONDS, int(enabled))

    async def _can_use_old_copy(self, name: str) -> bool:
        """Return whether PostgreSQL is away and an old copy may be used."""
        kept = [name, _kept_name(name), REDIS_LOADED]
        return self._database.is_away and bool(await self._evaluate(_HOLD_COPY, kept, COPY_LEASE_SECONDS))

    async def load_usage(self, tenant_id: UUID, month: str) -> None:
        """Copy a tenant's use of a month, unless its totals are there already."""
        name = _usage_name(tenant_id, month)
        ticket = await self._ticket(name)
        async with self._database.transaction(tenant_id) as tx:
            amounts = {CALLS: 0, **await read_amounts(tx, month)}
        await self._put_totals(name, name, ticket, amounts)

    # Counted on -------------------------------------------------------------------------------------------------------

    async def add_usage(self, tenant_id: UUID, month: str, amounts: dict[str, int]) -> None:
        """Add to a tenant's use of a month.

        Raises:
            Unavailable: it was gone as often as it was loaded.
        """
        name, pairs = _usage_name(tenant_id, month), [part for pair in amounts.items() for part in pair]
        for _ in range(MOST_LOADS):
            if await self._evaluate(_ADD_TOTALS, [name, USAGE_CHANGED], f"{tenant_id}:{month}", "", *pairs):
                return
            await self.load_usage(tenant_id, month)
        raise Unavailable

    async def add_key_usage(self, key_hash: bytes, times: int, at: float) -> None:
        """Add to how often a key was used, and when last (epoch seconds).

        A key that is gone has no count.

        Raises:
            Unavailable: it was gone as often as it was loaded.
        """
        for _ in range(MOST_LOADS):
            raw = await self._redis.get(_key_name(key_hash))
            if raw == b"":
                return
            key = self.open_key(key_hash, raw) if raw is not None else None
            if key is not None:
                keys = [_key_usage_name(key.id), KEY_USAGE_CHANGED]
                if await self._evaluate(_ADD_TOTALS, keys, f"{key.tenant_id}:{key.id}", at, "count", times):
                    return
            await self.load_key(key_hash)
        raise Unavailable

    # Dropped ----------------------------------------------------------------------------------------------------------

    async def drop_keys(self, key_hashes: Sequence[bytes]) -> None:
        """Drop the copies of keys that changed, or whose creators did.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop(_key_name(key_hash) for key_hash in key_hashes)

    async def drop_tenant(self, tenant_id: UUID) -> None:
        """Drop the copy of a tenant that changed: before the commit and after it.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop([_tenant_name(tenant_id)])

    async def drop_user(self, user_id: UUID) -> None:
        """Drop the copy of a user's second factor: before the commit and after it.

        Raises:
            Unavailable: Redis is away.
        """
        await self._drop([_two_factor_name(user_id)])

    async def _drop(self, names: Iterable[str]) -> None:
        """Drop copies, and stop every process that is about to write one.

        Raises:
            Unavailable: Redis is away; they are dropped before this process asks it again.
        """
        dropped = [part for name in names for part in (name, f"{name}:ticket", _kept_name(name))]
        if not dropped:
            return
        try:
            async with self._breaker.open_pipeline() as pipe:
                pipe.delete(*dropped)
        except Unavailable:
            self._undropped.update(dropped)
            raise

    async def _drop_again(self) -> bool:
        """Drop copies that could not be dropped while Redis was away; return if any."""
        if not self._undropped:
            return False
        names = list(self._undropped)
        await self._redis.delete(*names)
        self._undropped.difference_update(names)
        return True

    # Tickets ----------------------------------------------------------------------------------------------------------

    async def _ticket(self, name: str) -> bytes:
        await self._redis.set(
            f"{name}:ticket", new_id().hex, nx=True, ex=TICKET_SECONDS
        )  # readers at the same time share one
        return await self._redis.get(f"{name}:ticket") or b""

    async def _put(self, name: str, ticket: bytes, seconds: int, *copy: str | int | bytes) -> None:
        await self._evaluate(_PUT_COPY, [name, f"{name}:ticket", _kept_name(name)], ticket, seconds, *copy)

    async def _put_totals(
        self, name: str, under: str, ticket: bytes, totals: dict[str, int] | dict[str, int | float]
    ) -> None:
        pairs = [part for pair in totals.items() for part in pair]
        await self._evaluate(_PUT_TOTALS, [name, f"{under}:ticket"], ticket, TOTALS_SECONDS, *pairs)

    async def _evaluate(self, script: str, keys: list[str], *arguments: str | int | float | bytes) -> Any:
        evaluate: Any = self._redis.eval  # its hints know text only
        return await evaluate(script, len(keys), *keys, *arguments)


def _kept_name(name: str) -> str:
    return f"{name}:kept"


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
