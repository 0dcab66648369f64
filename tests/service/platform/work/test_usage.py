"""Usage that lasts.

Totals reach PostgreSQL whole, whoever writes them, however often, and whatever Redis forgets.
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

from service.platform.access.caller_cache import KEY_USAGE_CHANGED, USAGE_CHANGED
from service.platform.access.caller_status import TenantUsage
from service.platform.unit.context import Resources
from service.platform.work.usage import BATCH, USAGE_SECONDS, keep, keep_usage
from tests.conftest import Member, Stack, wait_until
from tests.redis_server import RedisServer
from tests.service.platform.callers import as_user, flat, make_key, metered
from tests.service.platform.conftest import Apart


def kept(apart: Apart, tenant: UUID) -> dict[str, int]:
    return dict(apart.sql("SELECT name, amount FROM tenant_usage WHERE tenant_id = %s", [tenant]))  # type: ignore[arg-type]


def key_use(apart: Apart, key_id: UUID) -> tuple[Any, ...]:
    return apart.sql(
        "SELECT usage_count, last_used_at > now() - interval '1 minute' FROM api_keys WHERE id = %s", [key_id]
    )[0]


def test_totals_survive_a_flush(clean: Apart) -> None:
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["calculations:execute"])

    async def calls(shared: Resources) -> list[TenantUsage]:
        gate, usage = shared.gate, []
        for _ in range(3):
            for _ in range(2):
                await as_user(gate, tenant)
                await gate.key(key_hash, (), metered(amount=5, most=-1))
            await keep(shared)
            clean.redis.flushdb()
            usage.append(await gate.usage(tenant))
        return usage

    assert clean.run(calls) == [(4, 10), (8, 20), (12, 30)]
    assert kept(clean, tenant) == {"calls": 12, "calculations": 30}
    assert key_use(clean, key_id) == (6, True)


def test_what_was_never_used_has_no_row_and_no_moment(clean: Apart) -> None:
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"], expires="-1 second")

    async def calls(shared: Resources) -> TenantUsage:
        await shared.gate.key(key_hash)  # expired: it does not pass
        await keep(shared)
        return await shared.gate.usage(tenant)

    assert clean.run(calls) == TenantUsage(0, 0)
    assert kept(clean, tenant) == {}
    assert clean.sql("SELECT usage_count, last_used_at FROM api_keys WHERE id = %s", [key_id]) == [(0, None)]


def test_a_refused_request_is_no_use_of_its_key(clean: Apart) -> None:
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["calculations:execute"])

    async def calls(shared: Resources) -> list[str]:
        outcomes = [(await shared.gate.key(key_hash, (), metered(most=2))).outcome for _ in range(4)]
        await keep(shared)
        return outcomes

    assert clean.run(calls) == ["ok", "ok", "used_up", "used_up"]
    assert key_use(clean, key_id) == (2, True)
    assert kept(clean, tenant) == {"calls": 2, "calculations": 2}


def test_a_repeat_and_a_late_older_total_change_nothing(clean: Apart) -> None:
    """A worker may die after the write and before the marks go; another may be slow."""
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"])

    async def calls(shared: Resources) -> None:
        for _ in range(4):
            await shared.gate.key(key_hash)
        marks = {name: clean.redis.smembers(name) for name in (USAGE_CHANGED, KEY_USAGE_CHANGED)}
        await keep(shared)
        for name, members in marks.items():
            assert clean.redis.smembers(name) == set()
            clean.redis.sadd(name, *members)
        await keep(shared)
        month = shared.gate._month()
        async with shared.database.transaction() as tx:
            await tx.execute(
                "SELECT keep_tenant_usage(json_build_array(json_build_object("
                "'tenant_id', %s::text, 'month', %s::text, 'name', 'calls', 'amount', 2)))",
                [tenant, month],
            )
            await tx.execute(
                "SELECT keep_key_usage(json_build_array(json_build_object("
                "'tenant_id', %s::text, 'id', %s::text, 'count', 1, 'at', 5.5)))",
                [tenant, key_id],
            )

    clean.run(calls)
    assert kept(clean, tenant) == {"calls": 4}
    assert key_use(clean, key_id) == (4, True)


def test_what_rises_while_a_batch_is_written_keeps_its_mark(clean: Apart) -> None:
    """Four writers and eight callers at once.

    One more write at the end, and nothing is missing.
    """
    tenants = [clean.tenant() for _ in range(3)]
    keys = [make_key(clean, tenant, clean.user(tenant), permissions=["calculations:execute"]) for tenant in tenants]

    async def calls(shared: Resources) -> None:
        calling = True

        async def write() -> None:
            while calling:
                await keep(shared)
                await asyncio.sleep(0)

        async def call(number: int) -> None:
            for _ in range(30):
                await as_user(shared.gate, tenants[number % 3])
                await shared.gate.key(keys[number % 3][1], (), metered(most=-1))

        writers = [asyncio.create_task(write()) for _ in range(4)]
        await asyncio.gather(*(call(number) for number in range(9)))
        calling = False
        await asyncio.gather(*writers)
        await keep(shared)

    clean.run(calls, request_burst=flat(10_000))
    assert [kept(clean, tenant) for tenant in tenants] == [{"calls": 180, "calculations": 90}] * 3
    assert [key_use(clean, key_id) for key_id, _ in keys] == [(90, True)] * 3
    assert clean.redis.scard(USAGE_CHANGED) == clean.redis.scard(KEY_USAGE_CHANGED) == 0


def test_a_redis_that_came_back_with_an_older_file_goes_on_from_what_postgresql_has(clean: Apart) -> None:
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"])

    async def calls(shared: Resources) -> TenantUsage:
        for _ in range(3):
            await shared.gate.key(key_hash)
        before = {
            name: clean.redis.hgetall(name) for name in clean.redis.keys("cushion:*usage:*") if b"ticket" not in name
        }
        for _ in range(4):
            await shared.gate.key(key_hash)
        await keep(shared)
        for name, totals in before.items():
            clean.redis.hset(name, mapping=totals)
        for _ in range(2):
            await shared.gate.key(key_hash)
        await keep(shared)
        usage = await shared.gate.usage(tenant)
        await shared.gate.key(key_hash)
        await keep(shared)
        return usage

    assert clean.run(calls) == TenantUsage(calls=7, calculations=0)
    assert kept(clean, tenant) == {"calls": 8}
    assert key_use(clean, key_id) == (8, True)


def test_more_than_one_batch(clean: Apart) -> None:
    """Marks of tenants that are gone, or whose totals ran out, are in nobody's way."""
    tenant = clean.tenant()

    async def calls(shared: Resources) -> None:
        await as_user(shared.gate, tenant)
        month = shared.gate._month()
        with clean.redis.pipeline() as pipe:
            for number in range(BATCH + 50):
                gone = uuid4()
                pipe.sadd(USAGE_CHANGED, f"{gone}:{month}")
                pipe.sadd(KEY_USAGE_CHANGED, f"{gone}:{gone}")
                if number % 2:
                    pipe.hset(f"cushion:usage:{gone}:{month}", "calls", number)
                    pipe.hset(f"cushion:key_usage:{gone}", mapping={"count": number, "at": 7.5})
            pipe.execute()
        await keep(shared)

    clean.run(calls)
    assert kept(clean, tenant) == {"calls": 1}
    assert clean.redis.scard(USAGE_CHANGED) == clean.redis.scard(KEY_USAGE_CHANGED) == 0


def test_the_task_writes_each_second_through_an_outage_and_once_more_at_its_end(
    apart: Apart, server: RedisServer
) -> None:
    tenant = apart.tenant()

    async def serve(shared: Resources) -> list[dict[str, int]]:
        stopping = asyncio.Event()
        task = asyncio.create_task(keep_usage(shared, stopping))
        await as_user(shared.gate, tenant)
        await asyncio.sleep(USAGE_SECONDS + 0.7)
        seen = [kept(apart, tenant)]
        server.stop()
        await asyncio.sleep(USAGE_SECONDS + 0.3)
        assert not task.done()
        server.start()
        while shared.breaker.away or not (await shared.redis.exists(USAGE_CHANGED)):
            await as_user(shared.gate, tenant)
            await asyncio.sleep(0.02)
        counted = await shared.gate.usage(tenant)
        stopping.set()
        await task
        return [*seen, {"calls": counted.calls}]

    first, counted = apart.run(serve, redis_url=server.url)
    assert first == {"calls": 1}
    assert kept(apart, tenant) == counted


def test_the_running_worker_keeps_what_tenants_and_keys_use(stack: Stack, owner: Member) -> None:
    key = owner.key("calculations:execute", "workbooks:read")
    for _ in range(3):
        assert key.post("/api/v1/calculations/evaluate", json={"formula": "=1+1"}).status_code == 200
    assert key.get("/api/v1/admin/tenant").status_code == 403

    def stored() -> bool:
        rows = stack.sql("SELECT name, amount FROM tenant_usage WHERE tenant_id = %s ORDER BY 1", [owner.tenant_id])
        return rows == [("calculations", 3), ("calls", 6)]  # the owner's me and the making of the key

    def key_row() -> dict[str, Any] | None:
        (row,) = owner.get("/api/v1/admin/api-keys").json()["items"]
        return row if row["usage_count"] else None

    wait_until(stored, what="the totals")
    row = wait_until(key_row, what="the key's count, which is written after them")
    assert row["usage_count"] == 4
    assert row["last_used"] is not None
