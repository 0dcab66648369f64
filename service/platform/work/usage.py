"""Lasting usage: a worker writes totals that changed in Redis to PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError

from service.platform.access.caller_cache import KEY_USAGE_CHANGED, USAGE_CHANGED
from service.platform.base.problem import Problem
from service.platform.unit.context import Resources

USAGE_SECONDS = 1.0
"""Between two write-backs: a Redis that loses everything loses the counts of so long a time."""
BATCH = 500
"""Tenants, or keys, of one statement."""

# An entry's mark is removed once PostgreSQL holds its present totals; where one rose meanwhile the mark stays. Where
# PostgreSQL holds more than was written, Redis came back with an older file: it gets PostgreSQL's figure, and what it
# counted since the write on top.
_SETTLE = """
for _, entry in ipairs(cjson.decode(ARGV[1])) do
  local settled = redis.call('HLEN', entry.name) == entry.fields
  for field, amounts in pairs(entry.amounts) do
    local written, stored = amounts[1], amounts[2]
    local current = tonumber(redis.call('HGET', entry.name, field))
    if current and current < stored then
      redis.call('HSET', entry.name, field, string.format('%.0f', stored + math.max(0, current - written)))
    end
    settled = settled and current == written
  end
  if settled then redis.call('SREM', KEYS[1], entry.member) end
end
"""

log = structlog.get_logger()


class _TenantTotal(Struct, frozen=True):
    tenant_id: UUID
    month: str
    name: str
    amount: int


class _KeyTotal(Struct, frozen=True):
    tenant_id: UUID
    id: UUID
    count: int
    at: float


class _KeptKey(Struct, frozen=True):
    id: UUID
    usage_count: int


class _Entry(Struct, frozen=True):
    """One hash of totals for the script: amounts as written, and as in PostgreSQL."""

    member: str
    name: str
    fields: int
    amounts: dict[str, tuple[int, int]]


async def keep_usage(resources: Resources, stopping: asyncio.Event) -> None:
    """Write what changed until the process stops, and once more then.

    A write is of absolute totals that never fall, so whoever writes them again, or beside another, does no harm.
    """
    while True:
        last = stopping.is_set()
        try:
            await keep(resources)
        except (RedisError, Problem) as error:
            log.warning("usage.write_failed", error=type(error).__name__, detail=str(error)[:200])
        if last:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), USAGE_SECONDS)


async def keep(resources: Resources) -> None:
    """Write every total that changed."""
    if not await resources.pipeline("EXISTS", USAGE_CHANGED, KEY_USAGE_CHANGED):  # an idle worker asks this alone
        return
    await _keep_marked(resources, USAGE_CHANGED, _keep_tenants)
    await _keep_marked(resources, KEY_USAGE_CHANGED, _keep_keys)


async def _keep_marked(
    resources: Resources, marks: str, write: Callable[[Resources, list[str]], Awaitable[list[_Entry]]]
) -> None:
    redis: Any = resources.redis
    members = [member.decode() for member in await redis.smembers(marks)]
    for start in range(0, len(members), BATCH):
        entries = await write(resources, members[start : start + BATCH])
        await redis.eval(_SETTLE, 1, marks, msgspec.json.encode(entries))


async def _keep_tenants(resources: Resources, members: list[str]) -> list[_Entry]:
    names = [f"cushion:usage:{member}" for member in members]
    totals = await _totals(resources.redis, names)
    rows = []
    for member, amounts in zip(members, totals, strict=True):
        tenant, _, month = member.partition(":")
        rows += [_TenantTotal(UUID(tenant), month, name, int(amount)) for name, amount in amounts.items()]
    async with resources.database.transaction() as tx:
        kept = await tx.fetch_all(
            _TenantTotal, "SELECT * FROM keep_tenant_usage(%s)", [msgspec.json.encode(rows).decode()]
        )
    stored = {(f"{row.tenant_id}:{row.month}", row.name): row.amount for row in kept}
    return [
        _Entry(
            member,
            name,
            len(amounts),
            {field: (int(amount), stored.get((member, field), 0)) for field, amount in amounts.items()},
        )
        for member, name, amounts in zip(members, names, totals, strict=True)
    ]


async def _keep_keys(resources: Resources, members: list[str]) -> list[_Entry]:
    places = [member.partition(":")[::2] for member in members]
    names = [f"cushion:key_usage:{key}" for _, key in places]
    totals = await _totals(resources.redis, names)
    rows = [
        _KeyTotal(UUID(tenant), UUID(key), int(total["count"]), float(total["at"]))
        for (tenant, key), total in zip(places, totals, strict=True)
        if total
    ]
    async with resources.database.transaction() as tx:
        kept = await tx.fetch_all(_KeptKey, "SELECT * FROM keep_key_usage(%s)", [msgspec.json.encode(rows).decode()])
    stored = {str(row.id): row.usage_count for row in kept}
    return [
        _Entry(
            member,
            name,
            len(total),
            {"count": (int(total["count"]), stored.get(key, 0))} if total else {},
        )
        for member, name, (_, key), total in zip(members, names, places, totals, strict=True)
    ]


async def _totals(redis: Redis, names: list[str]) -> list[dict[str, bytes]]:
    async with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.hgetall(name)
        answers = await pipe.execute()
    return [{field.decode(): value for field, value in answer.items()} for answer in answers]
