"""The gate without Redis. It serves, limits, and trusts nothing that it remembers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from service.platform.access.caller_status import GateVerdict, TenantRecord, TenantUsage, Window
from service.platform.access.fallback import MOST_REMEMBERED, Fallback
from service.platform.base.problem import Unavailable
from service.platform.base.secrets import digest
from service.platform.clock import Clock
from service.platform.config import ByTier
from service.platform.unit.context import Resources
from tests.conftest import early_in
from tests.service.platform.callers import as_user, flat, make_key, metered, settings
from tests.service.platform.conftest import Apart

# It goes on limiting --------------------------------------------------------------------------------------------------


def test_the_minute_window_is_exact_and_told(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[GateVerdict]:
        return [await as_user(shared.gate, tenant) for _ in range(5)]

    verdicts = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(3), request_burst=flat(100))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 3 + ["limited"] * 2
    assert verdicts[3].passed is not None
    assert verdicts[3].passed.words == "3 requests a minute"
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
        async def ask() -> GateVerdict:
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


def test_tenants_and_the_systems_key_are_counted_apart(apart: Apart, nowhere: str) -> None:
    item, second = apart.tenant(), apart.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[str]:
        gate = shared.gate
        asked: list[Awaitable[GateVerdict]] = [as_user(gate, item), as_user(gate, item), as_user(gate, second)]
        asked += [gate.system(), gate.system()]
        return [(await verdict).outcome for verdict in asked]

    outcomes = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(1), request_burst=flat(10))
    assert outcomes == ["ok", "limited", "ok", "ok", "limited"]


@pytest.mark.parametrize("bound", ["minute", "bucket", "day"])
def test_as_many_keys_as_there_may_be_lift_no_limit(apart: Apart, nowhere: str, bound: str) -> None:
    tenant = apart.tenant()
    creator = apart.user(tenant)
    keys = [make_key(apart, tenant, creator, permissions=["workbooks:read"])[1] for _ in range(7)]
    early_in(60)

    async def calls(shared: Resources) -> list[GateVerdict]:
        return [*[await shared.gate.key(key) for key in keys], await as_user(shared.gate, tenant)]

    figures = {"minute": (5, 100, -1), "bucket": (60, 5, -1), "day": (1000, 1000, 5)}[bound]
    per_minute, burst, per_day = map(flat, figures)
    verdicts = apart.run(
        calls, redis_url=nowhere, requests_per_minute=per_minute, request_burst=burst, requests_per_day=per_day
    )
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 5 + ["limited"] * 3
    words = {"minute": "a minute", "bucket": "at once", "day": "a day"}[bound]
    assert verdicts[5].passed is not None
    assert verdicts[5].passed.words == f"5 requests of the whole tenant {words}"
    if bound == "minute":
        assert [verdict.remaining for verdict in verdicts] == [4, 3, 2, 1, 0, 0, 0, 0]


def test_a_key_is_limited_by_its_own_figures_too(apart: Apart, nowhere: str) -> None:
    """What its tenant has left does not lift them.

    What is counted uncounted, counts nowhere.
    """
    tenant = apart.tenant()
    _, key = make_key(apart, tenant, apart.user(tenant), permissions=["workbooks:read"])
    early_in(60)

    async def calls(shared: Resources) -> list[tuple[str, int]]:
        verdicts = [await shared.gate.key(key, counted=counted) for counted in (True, False, False, True, True)]
        return [(verdict.outcome, verdict.remaining) for verdict in verdicts]

    answer = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(2), request_burst=flat(100))
    assert answer == [("ok", 1), ("ok", 1), ("ok", 1), ("ok", 0), ("limited", 0)]


def test_limits_off_counts_on_but_refuses_nothing(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[tuple[str, int, int]]:
        verdicts = [await as_user(shared.gate, tenant) for _ in range(3)]
        return [(verdict.outcome, verdict.limit, verdict.remaining) for verdict in verdicts]

    answer = apart.run(calls, redis_url=nowhere, requests_per_minute=flat(2), request_burst=flat(1), rate_limits="off")
    assert answer == [("ok", 2, 1), ("ok", 2, 0), ("ok", 2, 0)]


def test_figures_follow_the_tier_and_a_windows_own_is_told_without_a_caller(apart: Apart, nowhere: str) -> None:
    async def limits(shared: Resources) -> list[tuple[int, int]]:
        tiers = ("free", "standard", "premium", "enterprise")
        verdicts = [await as_user(shared.gate, apart.tenant(tier=tier)) for tier in tiers]
        verdicts.append(await shared.gate.windows([Window("login:192.0.2.1", 10, 60), Window("unlimited", -1, 60)]))
        verdicts.append(await shared.gate.windows([]))
        return [(verdict.limit, verdict.remaining) for verdict in verdicts]

    answer = apart.run(limits, redis_url=nowhere, requests_per_minute=ByTier(60, 300, 1000, 10_000))
    assert answer == [(60, 59), (300, 299), (1000, 999), (10_000, 9999), (10, 9), (0, 0)]


def test_it_remembers_no_more_than_its_figure(apart: Apart, nowhere: str) -> None:
    async def many(shared: Resources) -> tuple[int, str, str]:
        fallback = Fallback(shared.database, shared.settings, shared.clock)
        first, last = Window("first", 1, 86_400), Window(f"w:{MOST_REMEMBERED - 1}", 1, 86_400)
        fallback.windows([first])
        for number in range(MOST_REMEMBERED):
            fallback.windows([Window(f"w:{number}", 1, 86_400)])
        return len(fallback._calls), fallback.windows([last]).outcome, fallback.windows([first]).outcome

    assert apart.run(many) == (MOST_REMEMBERED, "limited", "ok")


def test_a_limit_of_its_own_holds_in_any_span_of_its_length(apart: Apart) -> None:
    class Hand:
        at = 1_000_059.0

        def now(self) -> datetime:
            return datetime.fromtimestamp(self.at, UTC)

    async def calls(shared: Resources) -> list[tuple[str, int]]:
        clock, window = Hand(), [Window("w", 2, 60)]
        fallback = Fallback(shared.database, shared.settings, cast(Clock, clock))
        answer = []
        for seconds in (0, 0, 2, 57, 2):  # the clock's minute ends within the first two seconds
            clock.at += seconds
            verdict = fallback.windows(window)
            answer.append((verdict.outcome, verdict.retry_after_seconds))
        fallback.refund(window[0], verdict.moment)
        return [*answer, (fallback.windows(window).outcome, 0)]

    assert apart.run(calls) == [("ok", 0), ("ok", 0), ("limited", 58), ("limited", 1), ("ok", 0), ("ok", 0)]


# It trusts nothing that it remembers ----------------------------------------------------------------------------------


def test_what_changes_in_postgresql_bites_at_the_next_request(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant(tier="free")
    user, session, another = apart.user(tenant), uuid4(), uuid4()

    async def changes(shared: Resources) -> list[Any]:
        async def ask(generation: int = 0, at: UUID = session) -> GateVerdict:
            return await as_user(shared.gate, tenant, user=user, session=at, generation=generation)

        first = (await ask()).tenant
        settings(apart, tenant, allowed_ip_ranges=["10.0.0.0/8"], two_factor_required=True, session_timeout_minutes=15)
        second = await ask()
        apart.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [user])
        third = await ask()
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "session", session)
        outcomes = [(await ask()).outcome, (await ask(at=another)).outcome]
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "user", user, 2)
        outcomes += [(await ask(generation, another)).outcome for generation in (1, 2)]
        apart.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [tenant])
        return [first, second, third.must_enroll, outcomes, await ask(2, another), await shared.gate.last_seen(session)]

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

    async def calls(shared: Resources) -> list[GateVerdict]:
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


def test_without_postgresql_either_nothing_passes(apart: Apart, nowhere: str) -> None:
    tenant = apart.tenant()

    async def ask(shared: Resources) -> None:
        await shared.database.close()
        with pytest.raises(Unavailable):
            await as_user(shared.gate, tenant)

    apart.run(ask, redis_url=nowhere)


# Months ---------------------------------------------------------------------------------------------------------------


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
