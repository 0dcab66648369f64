"""The gate: limits to the request, one round trip, meters of the month, who may pass."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.platform.access.caller_status import GateVerdict, Meter, TenantRecord, TenantUsage, Window
from service.platform.access.fallback import Fallback
from service.platform.access.gate import Gate
from service.platform.base.secrets import digest
from service.platform.clock import Clock
from service.platform.config import ByTier
from service.platform.unit.context import Resources
from tests.conftest import early_in
from tests.service.platform.callers import as_user, flat, make_key, metered, settings
from tests.service.platform.conftest import Apart

# Limits -------------------------------------------------------------------------------------------------------------


def test_the_minute_window_admits_its_figure_and_tells_the_rest(clean: Apart) -> None:
    tenant = clean.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[GateVerdict]:
        return [await as_user(shared.gate, tenant) for _ in range(7)]

    verdicts = clean.run(calls, requests_per_minute=flat(5), request_burst=flat(100))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 5 + ["limited"] * 2
    assert [verdict.remaining for verdict in verdicts] == [4, 3, 2, 1, 0, 0, 0]
    assert {verdict.limit for verdict in verdicts} == {5}
    assert all(verdict.reset % 60 == 0 and 0 < verdict.reset - time.time() <= 60 for verdict in verdicts)
    assert all(0 < verdict.retry_after_seconds <= 60 for verdict in verdicts[5:])
    assert [verdict.passed and verdict.passed.words for verdict in verdicts[4:6]] == [None, "5 requests a minute"]


def test_the_bucket_bounds_a_burst_and_fills_at_the_minutes_rate(clean: Apart) -> None:
    tenant = clean.tenant()

    async def calls(shared: Resources) -> list[str]:
        verdicts = [await as_user(shared.gate, tenant) for _ in range(4)]
        outcomes = [verdict.outcome for verdict in verdicts]
        assert verdicts[3].passed is not None
        assert verdicts[3].passed.words == "3 requests at once"
        await asyncio.sleep(1.05)  # 120 a minute: two a second, so two more
        return outcomes + [(await as_user(shared.gate, tenant)).outcome for _ in range(2)]

    assert clean.run(calls, requests_per_minute=flat(120), request_burst=flat(3)) == [
        "ok",
        "ok",
        "ok",
        "limited",
        "ok",
        "ok",
    ]


def test_the_day_has_a_cap(clean: Apart) -> None:
    tenant = clean.tenant()

    async def calls(shared: Resources) -> list[GateVerdict]:
        return [await as_user(shared.gate, tenant) for _ in range(4)]

    verdicts = clean.run(calls, requests_per_minute=flat(1000), request_burst=flat(1000), requests_per_day=flat(3))
    assert [verdict.outcome for verdict in verdicts] == ["ok", "ok", "ok", "limited"]
    assert verdicts[3].retry_after_seconds > 60 or time.time() % 86400 > 86300
    assert verdicts[3].remaining == 997, "a refused request uses nothing up"
    assert verdicts[3].passed == ("requests", 3, 86_400)


@pytest.mark.parametrize("bound", ["window", "minute", "bucket"])
def test_under_200_requests_at_once_not_one_more_passes(clean: Apart, bound: str) -> None:
    tenant = clean.tenant()
    early_in(60)
    window = [Window(f"w:{uuid4()}", 17, 3600)]

    async def calls(shared: Resources) -> tuple[int, float]:
        ask: dict[str, Callable[[], Awaitable[GateVerdict]]] = {
            "window": partial(shared.gate.windows, window),
            "minute": partial(as_user, shared.gate, tenant),
            "bucket": partial(as_user, shared.gate, tenant),
        }
        started = time.monotonic()
        verdicts = await asyncio.gather(*(ask[bound]() for _ in range(200)))
        return sum(verdict.outcome == "ok" for verdict in verdicts), time.monotonic() - started

    per_minute, burst = {"window": (1, 1), "minute": (17, 1000), "bucket": (60, 17)}[bound]
    passed, seconds = clean.run(calls, requests_per_minute=flat(per_minute), request_burst=flat(burst))
    if bound == "bucket":
        assert 17 <= passed <= 17 + int(seconds) + 1  # one token a second comes back
    else:
        assert passed == 17


def test_a_limit_of_its_own_holds_in_any_span_of_its_length(clean: Apart) -> None:
    """Three a minute: two calls stood at the end of one minute by the clock, and count in the next one."""
    name, at = f"w:{uuid4()}", time.time()
    window = [Window(name, 3, 60)]
    clean.redis.rpush(f"cushion:window:{name}", at - 61, at - 50, at - 20)

    async def calls(shared: Resources) -> list[GateVerdict]:
        verdicts = [await shared.gate.windows(window) for _ in range(2)]
        await shared.gate.refund(window[0], verdicts[0].moment)
        return [*verdicts, await shared.gate.windows(window), await shared.gate.windows(window)]

    first, refused, forgiven, again = clean.run(calls)
    assert [item.outcome for item in (first, refused, forgiven, again)] == ["ok", "limited", "ok", "limited"]
    assert (first.remaining, refused.remaining) == (0, 0)
    assert (first.passed, refused.passed) == (None, window[0])
    assert 0 < refused.retry_after_seconds <= 10, "until the oldest call that counts is a minute old"
    assert abs(first.reset - (at + 10)) < 5
    assert clean.redis.llen(f"cushion:window:{name}") == 3, "what no longer counts is gone, and a refusal adds nothing"
    assert 60 < clean.redis.ttl(f"cushion:window:{name}") <= 120


def test_limits_off_counts_on_but_refuses_nothing(clean: Apart) -> None:
    tenant = clean.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[GateVerdict]:
        return [await as_user(shared.gate, tenant) for _ in range(4)]

    verdicts = clean.run(calls, requests_per_minute=flat(2), request_burst=flat(1), rate_limits="off")
    assert [(verdict.outcome, verdict.limit, verdict.remaining) for verdict in verdicts] == [
        ("ok", 2, 1),
        ("ok", 2, 0),
        ("ok", 2, 0),
        ("ok", 2, 0),
    ]


def test_figures_follow_the_tier(clean: Apart) -> None:
    async def limits(shared: Resources) -> list[int]:
        return [
            (await as_user(shared.gate, clean.tenant(tier=tier))).limit
            for tier in ("free", "standard", "premium", "enterprise")
        ]

    assert clean.run(limits, requests_per_minute=ByTier(60, 300, 1000, 10_000)) == [60, 300, 1000, 10_000]


def keys_of(apart: Apart, tenant: UUID, count: int) -> list[bytes]:
    creator = apart.user(tenant)
    return [make_key(apart, tenant, creator, permissions=["workbooks:read"])[1] for _ in range(count)]


@pytest.mark.parametrize("bound", ["minute", "bucket", "day"])
def test_as_many_keys_as_there_may_be_lift_no_limit(clean: Apart, bound: str) -> None:
    """A key's requests count in its own limits and in its tenant's.

    Other tenants have theirs.
    """
    tenant, second = clean.tenant(), clean.tenant()
    keys, elsewhere = keys_of(clean, tenant, 9), keys_of(clean, second, 1)
    early_in(60)

    async def calls(shared: Resources) -> tuple[list[GateVerdict], list[str]]:
        verdicts = [await shared.gate.key(key) for key in keys]
        return verdicts, [(await shared.gate.key(elsewhere[0])).outcome, (await as_user(shared.gate, tenant)).outcome]

    figures = {"minute": (5, 100, -1), "bucket": (60, 5, -1), "day": (1000, 1000, 5)}[bound]
    per_minute, burst, per_day = map(flat, figures)
    verdicts, others = clean.run(calls, requests_per_minute=per_minute, request_burst=burst, requests_per_day=per_day)
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 5 + ["limited"] * 4
    assert others == ["ok", "limited"]
    words = {"minute": "a minute", "bucket": "at once", "day": "a day"}[bound]
    assert verdicts[5].passed is not None
    assert verdicts[5].passed.words == f"5 requests of the whole tenant {words}"
    (used,) = {
        clean.redis.hget(f"cushion:key_usage:{verdict.key.id}", "count") for verdict in verdicts[5:] if verdict.key
    }
    assert used == b"0", "a refused request uses nothing up"


def test_a_key_is_told_of_the_minute_with_less_left(clean: Apart) -> None:
    tenant = clean.tenant()
    first, second = keys_of(clean, tenant, 2)
    early_in(60)

    async def calls(shared: Resources) -> list[tuple[str, int, int]]:
        asked = [shared.gate.key(first), shared.gate.key(first), shared.gate.key(second), as_user(shared.gate, tenant)]
        asked += [shared.gate.key(second, counted=False), shared.gate.key(first)]
        return [(verdict.outcome, verdict.limit, verdict.remaining) for verdict in [await item for item in asked]]

    answer = clean.run(calls, requests_per_minute=flat(5), request_burst=flat(100))
    assert answer == [("ok", 5, 4), ("ok", 5, 3), ("ok", 5, 2), ("ok", 5, 1), ("ok", 5, 1), ("ok", 5, 0)]


def test_tenants_are_counted_apart(clean: Apart) -> None:
    item, second = clean.tenant(), clean.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[str]:
        return [(await as_user(shared.gate, tenant)).outcome for tenant in (item, item, second)]

    assert clean.run(calls, requests_per_minute=flat(1), request_burst=flat(10)) == ["ok", "limited", "ok"]


# Round trips --------------------------------------------------------------------------------------------------------


def test_one_round_trip_and_no_statement_once_the_copies_are_there(clean: Apart) -> None:
    tenant = clean.tenant()
    settings(clean, tenant, two_factor_required=True, session_timeout_minutes=30, allowed_ip_ranges=["10.0.0.0/8"])
    _, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"])

    async def calls(shared: Resources) -> list[str]:
        await as_user(shared.gate, tenant)  # loads the copies
        await shared.gate.key(key_hash)
        await shared.database.close()  # a statement would fail from here on
        with clean.redis.monitor() as monitor:
            clean.redis.echo("now")
            commands_before_echo(monitor)  # the connection of ECHO itself
            for _ in range(5):
                await as_user(shared.gate, tenant)
                await shared.gate.key(key_hash)
            clean.redis.echo("done")
            return commands_before_echo(monitor)

    assert clean.run(calls) == ["EVALSHA"] * 10


def commands_before_echo(monitor: Any) -> list[str]:
    """What clients sent to this database until an ECHO.

    Neither a script's own calls nor the running worker's.
    """
    names: list[str] = []
    while True:
        seen = monitor.next_command()
        if seen["client_type"] == "lua" or seen["db"] != 1:
            continue
        name = seen["command"].split()[0].upper()
        if name == "ECHO":
            return names
        names.append(name)


# What is not there ---------------------------------------------------------------------------------------------------


def test_an_unknown_tenant_is_not_active(clean: Apart) -> None:
    assert clean.run(lambda shared: as_user(shared.gate, uuid4())).tenant_status == "cancelled"


def test_an_unknown_key_has_no_record(clean: Apart) -> None:
    verdict = clean.run(lambda shared: shared.gate.key(digest("svc_live_nothing")))
    assert (verdict.outcome, verdict.key) == ("ok", None)


def test_dropped_scripts_are_loaded_again(clean: Apart) -> None:
    tenant = clean.tenant()

    async def ask(shared: Resources) -> str:
        await as_user(shared.gate, tenant)
        clean.redis.script_flush()
        return (await as_user(shared.gate, tenant)).outcome

    assert clean.run(ask) == "ok"


# Meters -------------------------------------------------------------------------------------------------------------


def test_a_meter_counts_the_month_and_refuses_what_would_pass_it(clean: Apart) -> None:
    """What is refused uses nothing, so a smaller call still fits."""
    tenant = clean.tenant()

    async def calls(shared: Resources) -> tuple[list[str], int, int]:
        user = (tenant, UUID(int=1), UUID(int=2), 0, ())
        outcomes = [(await shared.gate.user(*user, metered())).outcome]
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=3))).outcome)
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=2, most=4))).outcome)
        outcomes.append((await shared.gate.user(*user, metered())).outcome)
        outcomes.append((await shared.gate.user(*user)).outcome)
        used = (await shared.gate.usage(tenant)).calculations
        return outcomes, used, shared.gate.seconds_left_of_month()

    outcomes, used, seconds = clean.run(calls)
    assert outcomes == ["ok", "used_up", "ok", "used_up", "ok"]
    assert used == 3
    assert 0 < seconds <= 31 * 86_400


def test_a_meter_stands_though_the_rate_limits_are_off_and_unlimited_is_counted(clean: Apart) -> None:
    tenant = clean.tenant()

    async def calls(shared: Resources) -> list[str]:
        uses = [metered(), metered(amount=3), metered(amount=5, most=-1)]
        return [(await shared.gate.use(tenant, "free", meter)).outcome for meter in uses]

    assert clean.run(calls, rate_limits="off") == ["ok", "used_up", "ok"]


def test_the_tier_picks_the_figure(clean: Apart) -> None:
    tenant = clean.tenant(tier="standard")
    meter = Meter("calculations", ByTier(0, 2, 0, 0))

    async def calls(shared: Resources) -> list[str]:
        return [(await shared.gate.user(tenant, UUID(int=1), UUID(int=2), 0, (), meter)).outcome for _ in range(3)]

    assert clean.run(calls) == ["ok", "ok", "used_up"]


def test_a_key_without_the_scope_uses_nothing(clean: Apart) -> None:
    tenant = clean.tenant()
    creator = clean.user(tenant)
    _, reader = make_key(clean, tenant, creator, permissions=["workbooks:read"])
    _, calculator = make_key(clean, tenant, creator, permissions=["workbooks:read", "calculations:execute"])

    async def calls(shared: Resources) -> list[int]:
        used = []
        for key_hash in (reader, calculator):
            await shared.gate.key(key_hash, (), metered())
            used.append((await shared.gate.usage(tenant)).calculations)
        return used

    assert clean.run(calls) == [0, 1]


# The month -----------------------------------------------------------------------------------------------------------


class Still:
    """A clock that stands."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def gate_at(shared: Resources, clock: Clock) -> Gate:
    return Gate(
        shared.pipeline,
        shared.settings,
        clock,
        breaker=shared.breaker,
        caller_cache=shared.caller_cache,
        revocations=shared.revocations,
        fallback=Fallback(shared.database, shared.settings, clock),
        switches=shared.switches,
    )


def test_each_month_begins_at_nothing_and_an_earlier_one_stays(clean: Apart) -> None:
    tenant = clean.tenant()

    async def months(shared: Resources) -> list[TenantUsage]:
        clock = Still(datetime(2031, 12, 31, 23, 59, 59, tzinfo=UTC))
        gate = gate_at(shared, clock)
        user = (tenant, UUID(int=1), UUID(int=2), 0, ())
        usage = []
        for moment in (clock.moment, datetime(2032, 1, 1, tzinfo=UTC), datetime(2031, 12, 31, 23, tzinfo=UTC)):
            clock.moment = moment
            assert (await gate.user(*user, metered(amount=2, most=4))).outcome == "ok"
            usage.append(await gate.usage(tenant))
        return usage

    assert clean.run(months) == [(1, 2), (1, 2), (2, 4)]


def test_who_is_refused_uses_nothing_of_the_month(clean: Apart) -> None:
    tenant, suspended = clean.tenant(), clean.tenant(status="suspended")

    async def calls(shared: Resources) -> list[Any]:
        outcomes = [(await as_user(shared.gate, tenant)).outcome for _ in range(5)]
        outcomes += [(await as_user(shared.gate, suspended)).remaining for _ in range(2)]
        return [*outcomes, await shared.gate.usage(tenant), await shared.gate.usage(suspended)]

    *outcomes, used, nothing = clean.run(calls, requests_per_minute=flat(3), request_burst=flat(100))
    assert outcomes == ["ok", "ok", "ok", "limited", "limited", 3, 3]
    assert (used, nothing) == (TenantUsage(3, 0), TenantUsage(0, 0))


# Keys ----------------------------------------------------------------------------------------------------------------


def test_a_dead_key_takes_nothing_from_anybody(clean: Apart) -> None:
    tenant = clean.tenant()
    creator = clean.user(tenant)
    over_id, over = make_key(clean, tenant, creator, permissions=["workbooks:read"], expires="-1 second")
    gone_id, gone = make_key(clean, tenant, creator, permissions=["workbooks:read"])
    clean.sql("UPDATE api_keys SET status = 'revoked' WHERE id = %s", [gone_id])

    async def calls(shared: Resources) -> list[bool]:
        alive = []
        for key_hash in (over, gone):
            for _ in range(3):
                verdict = await shared.gate.key(key_hash, (), metered())
                assert verdict.outcome == "ok"
                assert verdict.key is not None
                alive.append(verdict.key.lives_at(time.time()))
        return alive

    assert clean.run(calls, requests_per_minute=flat(1), request_burst=flat(1)) == [False] * 6
    left = {name.decode().split(":")[1] for name in clean.redis.keys("cushion:*")}
    assert left <= {"key", "key_usage", "switches"}, "no bucket, no window, no usage"
    assert [int(clean.redis.hget(f"cushion:key_usage:{key}", "count") or 0) for key in (over_id, gone_id)] == [0, 0]


def test_a_key_expires_while_its_copy_stands(clean: Apart) -> None:
    tenant = clean.tenant()
    _, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"], expires="1 second")

    async def calls(shared: Resources) -> list[tuple[bool, str]]:
        seen = []
        for pause in (1.1, 0.0):
            verdict = await shared.gate.key(key_hash)
            assert verdict.key is not None
            seen.append((verdict.key.lives_at(time.time()), verdict.tier))
            await asyncio.sleep(pause)
        return seen

    assert clean.run(calls) == [(True, "enterprise"), (False, "")]


# Two-factor, session timeout, the deployment's own key ----------------------------------------------------------------


def test_a_user_must_enrol_where_the_tenant_requires_it(clean: Apart) -> None:
    tenant = clean.tenant()
    settings(clean, tenant, two_factor_required=True)
    without, having = clean.user(tenant), clean.user(tenant)
    clean.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [having])
    _, key_hash = make_key(clean, tenant, without, permissions=["workbooks:read"])

    async def calls(shared: Resources) -> list[bool]:
        verdicts = [await as_user(shared.gate, tenant, user=user) for user in (without, having, uuid4())]
        verdicts.append(await shared.gate.key(key_hash))
        clean.sql("UPDATE users SET two_factor_enabled = true WHERE id = %s", [without])
        verdicts.append(await as_user(shared.gate, tenant, user=without))
        await shared.caller_cache.drop_user(without)
        verdicts.append(await as_user(shared.gate, tenant, user=without))
        assert {verdict.outcome for verdict in verdicts} == {"ok"}
        return [verdict.must_enroll for verdict in verdicts]

    assert clean.run(calls) == [True, False, True, False, True, False]


def test_where_it_is_not_required_two_factor_is_not_looked_at(clean: Apart) -> None:
    tenant = clean.tenant()
    user = clean.user(tenant)
    assert clean.run(lambda shared: as_user(shared.gate, tenant, user=user)).must_enroll is False
    assert not clean.redis.exists(f"cushion:two_factor:{user}")


def test_a_session_is_noted_where_the_tenant_has_a_timeout(clean: Apart) -> None:
    timed, another = clean.tenant(), clean.tenant()
    settings(clean, timed, session_timeout_minutes=15)
    session, refused = uuid4(), uuid4()

    async def calls(shared: Resources) -> list[float | None]:
        await as_user(shared.gate, timed, session=session)
        first = await shared.gate.last_seen(session)
        await asyncio.sleep(0.05)
        await as_user(shared.gate, timed, session=session)
        assert (await as_user(shared.gate, timed, session=refused)).outcome == "limited"
        await as_user(shared.gate, another, session=refused)
        return [first, await shared.gate.last_seen(session), await shared.gate.last_seen(refused)]

    early_in(60)
    before = time.time()
    first, second, never = clean.run(calls, requests_per_minute=flat(2))
    assert first is not None
    assert second is not None
    assert before - 1 < first < second < time.time() + 1
    assert never is None
    assert 4000 < clean.redis.ttl(f"cushion:seen:{session}") <= 15 * 60 + 3600


def test_the_systems_own_key_has_the_figures_of_the_enterprise_tier(clean: Apart) -> None:
    early_in(60)

    async def calls(shared: Resources) -> list[GateVerdict]:
        window = [Window(f"w:{uuid4()}", 3, 3600)]
        return [await shared.gate.system() for _ in range(2)] + [await shared.gate.system(window) for _ in range(4)]

    verdicts = clean.run(
        calls, requests_per_minute=ByTier(1, 1, 1, 20), request_burst=ByTier(1, 1, 1, 10), requests_per_day=flat(100)
    )
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 5 + ["limited"]
    assert [verdict.remaining for verdict in verdicts] == [19, 18, 17, 16, 15, 15]
    assert {(verdict.limit, verdict.tenant, verdict.key) for verdict in verdicts} == {(20, None, None)}
    assert clean.redis.keys("cushion:usage*") == []


def test_a_tenants_record_for_who_has_no_verdict(clean: Apart) -> None:
    tenant = clean.tenant(tier="standard")

    async def ask(shared: Resources) -> list[TenantRecord | None]:
        result = [await shared.gate.tenant(tenant), await shared.gate.tenant(uuid4())]
        await shared.database.close()
        return [*result, await shared.gate.tenant(tenant)]

    first, nobody, copied = clean.run(ask)
    assert first == copied == TenantRecord(id=tenant, status="active", tier="standard", slug=f"tenant-{tenant.hex}")
    assert nobody is None
