"""The gate without Redis: it serves, limits, trusts nothing that it remembers, and hands over what it counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar
from uuid import UUID, uuid4

import psycopg
import pytest
from redis import Redis

from service.platform.config import ByTier
from service.platform.context import Resources
from service.platform.fallback import MOST_REMEMBERED, Fallback
from service.platform.gate import RETRY_SECONDS, TenantRecord, TenantUsage, Verdict, Window, record_revocation
from service.platform.problem import Unavailable
from service.platform.secrets import digest
from service.platform.usage import keep
from tests.redis_server import RedisServer, redis_server
from tests.service.platform.conftest import Apart
from tests.service.platform.test_gate import as_user, early_in, flat, make_key, metered, settings

T = TypeVar("T")


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with redis_server() as running:
        yield running


@pytest.fixture(scope="module")
def nowhere() -> str:
    """A Redis that never was."""
    return "redis://127.0.0.1:1/0"


async def back(shared: Resources) -> None:
    """Ask until Redis is asked again."""
    end = time.monotonic() + 10
    while shared.gate._away:
        assert time.monotonic() < end
        await shared.gate.windows([])
        await asyncio.sleep(0.05)


# It goes on limiting --------------------------------------------------------------------------------------------------


def test_the_minute_window_is_exact_and_told(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[Verdict]:
        return [await as_user(shared.gate, tenant) for _ in range(5)]

    verdicts = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(3), request_burst=flat(100))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 3 + ["limited"] * 2
    assert [verdict.remaining for verdict in verdicts] == [2, 1, 0, 0, 0]
    assert {verdict.limit for verdict in verdicts} == {3}
    assert all(verdict.reset % 60 == 0 and 0 < verdict.reset - time.time() <= 60 for verdict in verdicts)
    assert [verdict.retry_after_seconds for verdict in verdicts[:3]] == [0, 0, 0]
    assert all(0 < verdict.retry_after_seconds <= 60 for verdict in verdicts[3:])


@pytest.mark.parametrize("bound", ["window", "minute", "bucket", "day"])
def test_under_200_requests_at_once_not_one_more_passes(apart: Apart, nowhere: str, bound: str) -> None:
    tenant = apart.tenant()
    early_in(60)
    window = [Window(f"w:{uuid4()}", 17, 3600)]

    async def calls(shared: Resources) -> tuple[int, float]:
        async def ask() -> Verdict:
            return await (shared.gate.windows(window) if bound == "window" else as_user(shared.gate, tenant))

        started = time.monotonic()
        verdicts = await asyncio.gather(*(ask() for _ in range(200)))
        return sum(verdict.outcome == "ok" for verdict in verdicts), time.monotonic() - started

    figures = {"window": (1, 1, -1), "minute": (17, 1000, -1), "bucket": (60, 17, -1), "day": (1000, 1000, 17)}
    per_minute, burst, per_day = map(flat, figures[bound])
    passed, seconds = apart.run(
        calls, redis_url=nowhere, requests_per_minute=per_minute, request_burst=burst, requests_per_day=per_day
    )
    if bound == "bucket":
        assert 17 <= passed <= 17 + int(seconds) + 1  # one token a second comes back
    else:
        assert passed == 17


def test_the_bucket_fills_again(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def calls(shared: Resources) -> list[str]:
        outcomes = [(await as_user(shared.gate, tenant)).outcome for _ in range(3)]
        await asyncio.sleep(1.05)  # 60 a minute
        return outcomes + [(await as_user(shared.gate, tenant)).outcome for _ in range(2)]

    outcomes = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(60), request_burst=flat(2))
    assert outcomes == ["ok", "ok", "limited", "ok", "limited"]


def test_keys_tenants_and_the_systems_key_are_counted_apart(apart: Apart, nowhere: str) -> None:
    one, other = apart.tenant(), apart.tenant()
    early_in(60)
    _, first = make_key(apart, one, apart.user(one), permissions=["workbooks:read"])
    _, second = make_key(apart, one, apart.user(one), permissions=["workbooks:read"])

    async def calls(shared: Resources) -> list[str]:
        gate = shared.gate
        asked: list[Awaitable[Verdict]] = [as_user(gate, one), as_user(gate, one), as_user(gate, other)]
        asked += [gate.key(first), gate.key(second), gate.key(first), gate.system(), gate.system()]
        return [(await verdict).outcome for verdict in asked]

    outcomes = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(1), request_burst=flat(10))
    assert outcomes == ["ok", "limited", "ok", "ok", "ok", "limited", "ok", "limited"]


def test_limits_off_counts_on_but_refuses_nothing(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[tuple[str, int, int]]:
        verdicts = [await as_user(shared.gate, tenant) for _ in range(3)]
        return [(verdict.outcome, verdict.limit, verdict.remaining) for verdict in verdicts]

    told = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(2), request_burst=flat(1), rate_limits="off")
    assert told == [("ok", 2, 1), ("ok", 2, 0), ("ok", 2, 0)]


def test_figures_follow_the_tier_and_a_windows_own_is_told_without_a_caller(apart: Apart, nowhere: str) -> None:
    async def limits(shared: Resources) -> list[tuple[int, int]]:
        tiers = ("free", "standard", "premium", "enterprise")
        verdicts = [await as_user(shared.gate, apart.tenant(tier=tier)) for tier in tiers]
        verdicts.append(await shared.gate.windows([Window("login:192.0.2.1", 10, 60), Window("unlimited", -1, 60)]))
        verdicts.append(await shared.gate.windows([]))
        return [(verdict.limit, verdict.remaining) for verdict in verdicts]

    told = apart.run(limits, redis_url=nowhere, requests_per_minute=ByTier(60, 300, 1000, 10_000))
    assert told == [(60, 59), (300, 299), (1000, 999), (10_000, 9999), (10, 9), (0, 0)]


def test_it_remembers_no_more_than_its_figure(apart: Apart, nowhere: str) -> None:
    async def many(shared: Resources) -> tuple[int, str, str]:
        fallback = Fallback(shared.database, shared.settings, shared.clock)
        first, last = Window("first", 1, 86_400), Window(f"w:{MOST_REMEMBERED - 1}", 1, 86_400)
        fallback.windows([first])
        for number in range(MOST_REMEMBERED):
            fallback.windows([Window(f"w:{number}", 1, 86_400)])
        return len(fallback._used), fallback.windows([last]).outcome, fallback.windows([first]).outcome

    assert apart.run(many) == (MOST_REMEMBERED, "limited", "ok")


# It trusts nothing that it remembers ----------------------------------------------------------------------------------


def test_what_changes_in_postgresql_bites_at_the_next_request(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant(tier="free")
    user, session, other = apart.user(tenant), uuid4(), uuid4()

    async def changes(shared: Resources) -> list[Any]:
        async def ask(generation: int = 0, at: UUID = session) -> Verdict:
            return await as_user(shared.gate, tenant, user=user, session=at, generation=generation)

        first = (await ask()).tenant
        settings(apart, tenant, allowed_ip_ranges=["10.0.0.0/8"], two_factor_required=True, session_timeout_minutes=15)
        second = await ask()
        apart.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [user])
        third = await ask()
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "session", session)
        outcomes = [(await ask()).outcome, (await ask(at=other)).outcome]
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "user", user, 2)
        outcomes += [(await ask(generation, other)).outcome for generation in (1, 2)]
        apart.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [tenant])
        return [first, second, third.must_enroll, outcomes, await ask(2, other), await shared.gate.last_seen(session)]

    first, second, enrol, outcomes, suspended, seen = apart.run(changes, redis_url=nowhere)
    slug = f"tenant-{tenant.hex}"
    assert first == TenantRecord(id=tenant, status="active", tier="free", slug=slug)
    assert second.must_enroll is True
    assert enrol is False
    assert second.tenant == TenantRecord(
        id=tenant,
        status="active",
        tier="free",
        slug=slug,
        networks=("10.0.0.0/8",),
        two_factor_required=True,
        session_timeout_minutes=15,
    )
    assert outcomes == ["revoked", "ok", "revoked", "ok"]
    assert (suspended.outcome, suspended.tenant_status) == ("ok", "suspended")
    assert time.time() - 30 < seen < time.time() + 1


def test_a_key_is_read_at_every_request(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant(tier="standard")
    creator = apart.user(tenant)
    key_id, key_hash = make_key(apart, tenant, creator, permissions=["workbooks:write", "admin:users"])
    _, over = make_key(apart, tenant, creator, permissions=["workbooks:read"], expires="-1 second")

    async def calls(shared: Resources) -> list[Verdict]:
        verdicts = [await shared.gate.key(key_hash)]
        apart.sql("UPDATE users SET role = 'analyst' WHERE id = %s", [creator])
        verdicts.append(await shared.gate.key(key_hash))
        apart.sql("UPDATE api_keys SET status = 'revoked' WHERE id = %s", [key_id])
        verdicts += [await shared.gate.key(hash_) for hash_ in (key_hash, over, digest("svc_live_nothing"))]
        return verdicts

    early_in(60)
    whole, less, revoked, expired, unknown = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(10))
    assert whole.key is not None
    assert whole.key.scopes == ["workbooks:write", "admin:users"]
    assert (whole.tier, whole.remaining, less.remaining) == ("standard", 9, 8)
    assert less.key is not None
    assert less.key.scopes == ["workbooks:write"]
    for dead in (revoked, expired):
        assert (dead.outcome, dead.tenant) == ("ok", None)
        assert dead.key is not None
        assert not dead.key.lives_at(time.time())
    assert (unknown.outcome, unknown.key) == ("ok", None)


def test_an_unknown_tenant_is_not_active(apart: Apart, nowhere: str) -> None:
    async def ask(shared: Resources) -> tuple[str, TenantRecord | None]:
        return (await as_user(shared.gate, uuid4())).tenant_status, await shared.gate.tenant(uuid4())

    assert apart.run(ask, redis_url=nowhere) == ("cancelled", None)


def test_what_must_reach_redis_is_refused(apart: Apart, nowhere: str) -> None:
    async def changes(shared: Resources) -> None:
        gate = shared.gate
        asked: list[Callable[[], Awaitable[None]]] = [
            lambda: gate.publish_revocation("user", uuid4(), 1),
            lambda: gate.withdraw_revocation("user", uuid4()),
            lambda: gate.drop_keys([b"x" * 32]),
            lambda: gate.drop_tenant(uuid4()),
            lambda: gate.drop_user(uuid4()),
        ]
        for ask in asked:
            with pytest.raises(Unavailable):
                await ask()
        await gate.drop_keys([])

    apart.run(changes, redis_url=nowhere)


def test_without_postgresql_either_nothing_passes(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def ask(shared: Resources) -> None:
        await shared.database.close()
        with pytest.raises(Unavailable):
            await as_user(shared.gate, tenant)

    apart.run(ask, redis_url=nowhere)


# Months, there and back -----------------------------------------------------------------------------------------------


def test_a_meter_goes_on_from_what_postgresql_has(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def calls(shared: Resources) -> tuple[list[str], TenantUsage]:
        month = shared.gate._month()
        apart.sql("INSERT INTO tenant_usage VALUES (%s, %s, 'calculations', 5)", [tenant, month])
        apart.sql("INSERT INTO tenant_usage VALUES (%s, %s, 'calls', 70)", [tenant, month])
        apart.sql("INSERT INTO tenant_usage VALUES (%s, '2001-01', 'calculations', 900)", [tenant])
        user = (tenant, UUID(int=1), UUID(int=2), 0, ())
        outcomes = [(await shared.gate.user(*user, metered(most=7))).outcome]
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=2, most=7))).outcome)
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=1, most=7))).outcome)
        outcomes.append((await shared.gate.user(*user, metered(most=7))).outcome)
        outcomes.append((await shared.gate.user(*user)).outcome)
        outcomes.append((await shared.gate.use(tenant, "free", metered(amount=9, most=-1))).outcome)
        return outcomes, await shared.gate.usage(tenant)

    outcomes, usage = apart.run(calls, redis_url=nowhere)
    assert outcomes == ["ok", "used_up", "ok", "used_up", "ok", "ok"]
    assert usage == TenantUsage(calls=72, calculations=16)


def test_a_key_without_the_scope_uses_nothing(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()
    creator = apart.user(tenant)
    _, reader = make_key(apart, tenant, creator, permissions=["workbooks:read"])
    _, calculator = make_key(apart, tenant, creator, permissions=["calculations:execute"])

    async def calls(shared: Resources) -> list[TenantUsage]:
        used = []
        for key_hash in (reader, calculator):
            await shared.gate.key(key_hash, (), metered())
            used.append(await shared.gate.usage(tenant))
        return used

    assert apart.run(calls, redis_url=nowhere) == [(1, 0), (2, 1)]


def test_it_comes_back_with_every_count_revocation_and_drop(apart: Apart, server: RedisServer) -> None:
    """Redis dies and returns empty: nothing that happened in between is lost, on either side."""
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
            await gate.drop_tenant(tenant)
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "session", session)
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
    """A request that began without Redis ends with it: its count does not wait for the next outage."""
    tenant = apart.tenant()

    async def outage(shared: Resources) -> TenantUsage:
        server.stop()
        with psycopg.connect(apart.database_url) as other:
            other.execute("LOCK TABLE tenants IN ACCESS EXCLUSIVE MODE")
            await shared.gate.windows([])  # finds it gone
            late = asyncio.create_task(as_user(shared.gate, tenant))
            server.start()
            await back(shared)
            other.rollback()
        assert (await late).outcome == "ok"
        returning = shared.gate._returning
        assert returning is not None
        await returning
        return await shared.gate.usage(tenant)

    assert apart.run(outage, redis_url=server.url) == TenantUsage(calls=1, calculations=0)


def test_a_drop_that_could_not_be_made_is_made_before_redis_is_asked_again(apart: Apart) -> None:
    """The change was committed, and Redis died before its copy could be dropped: it comes back with the copy."""
    tenant = apart.tenant()
    user = apart.user(tenant)
    _, key_hash = make_key(apart, tenant, user, permissions=["workbooks:read"])
    settings(apart, tenant, two_factor_required=True)

    with redis_server(keeps=True) as server:

        async def outage(shared: Resources) -> list[Verdict]:
            gate = shared.gate
            verdicts = [await as_user(gate, tenant, user=user), await gate.key(key_hash)]
            server.stop()
            apart.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [user])
            apart.sql("UPDATE api_keys SET status = 'revoked' WHERE tenant_id = %s", [tenant])
            apart.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [tenant])
            drops = [gate.drop_user(user), gate.drop_keys([key_hash]), gate.drop_tenant(tenant)]
            for drop in drops:
                with pytest.raises(Unavailable):
                    await drop
            server.start()
            with Redis.from_url(server.url) as client:
                assert client.hget(f"cushion:tenant:{tenant}", "tier") == b"enterprise", "it did come back with it"
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
        for pause in (0.0, 0.0, RETRY_SECONDS + 0.1, 0.0):
            await asyncio.sleep(pause)
            started = time.monotonic()
            assert (await as_user(shared.gate, tenant)).outcome == "ok"
            seconds.append(time.monotonic() - started)
        server.go_on()
        await back(shared)
        return seconds

    first, *others = apart.run(outage, redis_url=server.url)
    assert first > 2
    assert max(others) < 1


def test_with_redis_gone_it_is_looked_for_once_a_while(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def outage(shared: Resources) -> set[float]:
        looks = set()
        started = time.monotonic()
        while time.monotonic() - started < 2.5 * RETRY_SECONDS:
            await as_user(shared.gate, tenant)
            looks.add(shared.gate._retry_at)
            await asyncio.sleep(0.01)
        return looks

    assert 2 <= len(apart.run(outage, redis_url=nowhere)) <= 3


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
            await asyncio.sleep(RETRY_SECONDS + 0.1)
            assert (await as_user(shared.gate, tenant)).outcome == "ok"
            assert shared.gate._away, "it answers a ping, and takes nothing"
            client.config_set("maxmemory", "0")
            await back(shared)
            return await shared.gate.usage(tenant)

    assert apart.run(outage, redis_url=server.url) == TenantUsage(calls=5, calculations=0)
