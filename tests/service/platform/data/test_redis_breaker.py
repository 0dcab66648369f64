"""Redis away and back.

What must reach it is refused, nobody waits for it, and it returns with all that it missed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from redis import Redis

from service.platform.access.caller_status import GateVerdict, TenantUsage
from service.platform.base.breakers import SERVICES, TABLE
from service.platform.base.problem import Unavailable
from service.platform.data.pipeline import ROUND_TRIP_SECONDS
from service.platform.unit.context import Resources
from service.platform.work.usage import keep
from tests.redis_server import RedisServer, redis_server
from tests.service.platform.callers import as_user, back, make_key, metered, settings
from tests.service.platform.conftest import Apart


def test_what_must_reach_redis_is_refused(apart: Apart, nowhere: str) -> None:
    async def changes(shared: Resources) -> None:
        copies, revocations = shared.caller_cache, shared.revocations
        asked: list[Callable[[], Awaitable[None]]] = [
            lambda: revocations.publish("user", uuid4(), 1),
            lambda: revocations.withdraw("user", uuid4()),
            lambda: copies.drop_keys([b"x" * 32]),
            lambda: copies.drop_tenant(uuid4()),
            lambda: copies.drop_user(uuid4()),
        ]
        for ask in asked:
            with pytest.raises(Unavailable):
                await ask()
        await copies.drop_keys([])

    apart.run(changes, redis_url=nowhere)


def test_it_comes_back_with_every_count_revocation_and_drop(apart: Apart, server: RedisServer) -> None:
    """Redis dies and returns empty.

    Nothing that happened in between is lost, on either side.
    """
    tenant = apart.tenant()
    user, session = apart.user(tenant), uuid4()
    key_id, key_hash = make_key(apart, tenant, user, permissions=["calculations:execute"])

    async def outage(shared: Resources) -> list[Any]:
        gate = shared.gate
        for _ in range(3):
            await as_user(gate, tenant, user=user, session=session)
        await gate.key(key_hash, (), metered(most=-1))
        await keep(shared)
        server.stop()
        for _ in range(5):
            await as_user(gate, tenant, user=user, session=session)
        await gate.key(key_hash, (), metered(amount=4, most=-1))
        during = await gate.usage(tenant)
        with pytest.raises(Unavailable):
            await shared.caller_cache.drop_tenant(tenant)
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "session", session)
        server.start()
        await back(shared)
        outcome = (await as_user(gate, tenant, user=user, session=session)).outcome
        await as_user(gate, tenant, user=user)
        after = await gate.usage(tenant)
        await keep(shared)
        return [during, outcome, after]

    during, outcome, after = apart.run(outage, redis_url=server.url)
    assert during == TenantUsage(calls=10, calculations=5)
    assert outcome == "revoked"
    assert after == TenantUsage(calls=11, calculations=5)
    kept = apart.sql("SELECT name, amount FROM tenant_usage WHERE tenant_id = %s ORDER BY 1", [tenant])
    assert kept == [("calculations", 5), ("calls", 11)]
    assert apart.sql("SELECT usage_count FROM api_keys WHERE id = %s", [key_id]) == [(2,)]


def test_what_was_decided_while_it_came_back_is_handed_over_too(apart: Apart, server: RedisServer) -> None:
    """A request that began without Redis ends with it.

    Its count does not wait for the next outage.
    """
    tenant = apart.tenant()

    async def outage(shared: Resources) -> TenantUsage:
        server.stop()
        with psycopg.connect(apart.database_url) as second:
            second.execute("LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE")
            await shared.gate.windows([])  # finds it gone
            late = asyncio.create_task(as_user(shared.gate, tenant))
            server.start()
            await back(shared)
            second.rollback()
        assert (await late).outcome == "ok"
        returning = shared.breaker._returning
        assert returning is not None
        await returning
        return await shared.gate.usage(tenant)

    assert apart.run(outage, redis_url=server.url) == TenantUsage(calls=1, calculations=0)


@pytest.mark.parametrize("reset", [False, True])
def test_a_drop_that_could_not_be_made_is_made_before_redis_is_asked_again(apart: Apart, reset: bool) -> None:
    """The change was committed, and Redis died before its copy could be dropped.

    It comes back with the copy. Who resets the breaker then has it tried, and not trusted.
    """
    tenant = apart.tenant()
    user = apart.user(tenant)
    _, key_hash = make_key(apart, tenant, user, permissions=["workbooks:read"])
    settings(apart, tenant, two_factor_required=True)

    with redis_server(keeps=True) as server:

        async def outage(shared: Resources) -> list[GateVerdict]:
            gate, copies = shared.gate, shared.caller_cache
            verdicts = [await as_user(gate, tenant, user=user), await gate.key(key_hash)]
            server.stop()
            apart.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [user])
            apart.sql("UPDATE api_keys SET status = 'revoked' WHERE tenant_id = %s", [tenant])
            apart.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [tenant])
            drops = [copies.drop_user(user), copies.drop_keys([key_hash]), copies.drop_tenant(tenant)]
            for drop in drops:
                with pytest.raises(Unavailable):
                    await drop
            server.start()
            with Redis.from_url(server.url) as client:
                assert client.hget(f"cushion:tenant:{tenant}", "tier") == b"enterprise", "it did come back with it"
            if reset:
                shared.breakers.reset(SERVICES)
            else:
                await back(shared)
            return [*verdicts, await as_user(gate, tenant, user=user), await gate.key(key_hash)]

        user_before, key_before, user_after, key_after = apart.run(outage, redis_url=server.url)
    assert (user_before.must_enroll, user_before.tier) == (True, "enterprise")
    assert (user_after.must_enroll, user_after.tier) == (False, "free")
    assert key_before.key is not None
    assert key_before.key.active
    assert key_after.key is not None
    assert not key_after.key.active


def test_a_redis_that_hangs_holds_up_nobody_but_who_met_it_first(apart: Apart, server: RedisServer) -> None:
    """That one waits for the time limit of a round trip; then only the look-out does."""
    tenant = apart.tenant()

    async def outage(shared: Resources) -> list[float]:
        await as_user(shared.gate, tenant)
        server.hang()
        seconds = []
        for pause in (0.0, 0.0, TABLE["cache"].limits.open_seconds + 0.1, 0.0):
            await asyncio.sleep(pause)
            started = time.monotonic()
            assert (await as_user(shared.gate, tenant)).outcome == "ok"
            seconds.append(time.monotonic() - started)
        server.go_on()
        await back(shared)
        return seconds

    first, *others = apart.run(outage, redis_url=server.url)
    assert first > ROUND_TRIP_SECONDS / 2
    assert max(others) < ROUND_TRIP_SECONDS / 2, "on a busy machine, too"


def test_with_redis_gone_it_is_looked_for_once_a_while(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def outage(shared: Resources) -> list[float]:
        looks: list[float] = []
        while len(looks) < 3:
            await as_user(shared.gate, tenant)
            retry_at = shared.breaker._breaker._retry_at
            if retry_at is not None and retry_at not in looks:
                looks.append(retry_at)
            await asyncio.sleep(0.01)
        return looks

    looks = apart.run(outage, redis_url=nowhere)
    assert min(later - sooner for sooner, later in pairwise(looks)) >= TABLE["cache"].limits.open_seconds


def test_what_comes_up_while_it_comes_back_is_done_too(apart: Apart, server: RedisServer) -> None:
    """A drop is refused while counts are handed over.

    It is made before Redis is asked again.
    """
    tenant = apart.tenant()
    done: list[str] = []

    async def outage(shared: Resources) -> None:
        async def meanwhile() -> bool:
            if done:
                return False
            done.append("refused")
            assert shared.breaker.away
            with pytest.raises(Unavailable):
                await shared.caller_cache.drop_tenant(tenant)
            return True

        await as_user(shared.gate, tenant)
        shared.breaker.on_recovery(meanwhile)
        with Redis.from_url(server.url) as client:
            copy = client.hgetall(f"cushion:tenant:{tenant}")
            assert copy
            server.stop()
            await shared.gate.windows([])  # finds it gone
            server.start()
            client.hset(f"cushion:tenant:{tenant}", mapping=copy)
            await back(shared)
            assert not client.exists(f"cushion:tenant:{tenant}")

    apart.run(outage, redis_url=server.url)
    assert done == ["refused"]


def test_requests_on_their_way_when_redis_dies_are_answered(apart: Apart, server: RedisServer) -> None:
    tenant = apart.tenant()

    async def outage(shared: Resources) -> set[str]:
        async def ask(number: int) -> str:
            await asyncio.sleep(number / 1000)
            return (await as_user(shared.gate, tenant)).outcome

        asked = [asyncio.create_task(ask(number)) for number in range(200)]
        await asyncio.sleep(0.1)
        server.stop()
        return set(await asyncio.gather(*asked))

    assert apart.run(outage, redis_url=server.url) == {"ok"}


def test_a_redis_that_is_full_is_as_good_as_away(apart: Apart, server: RedisServer) -> None:
    tenant = apart.tenant()

    async def outage(shared: Resources) -> TenantUsage:
        with Redis.from_url(server.url) as client:
            await as_user(shared.gate, tenant)
            client.config_set("maxmemory", "100kb")
            for _ in range(3):
                assert (await as_user(shared.gate, tenant)).outcome == "ok"
            await asyncio.sleep(TABLE["cache"].limits.open_seconds + 0.1)
            assert (await as_user(shared.gate, tenant)).outcome == "ok"
            assert shared.breaker.away, "it answers a ping, and takes nothing"
            client.config_set("maxmemory", "0")
            await back(shared)
            return await shared.gate.usage(tenant)

    assert apart.run(outage, redis_url=server.url) == TenantUsage(calls=5, calculations=0)
