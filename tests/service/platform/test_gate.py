"""The gate: limits to the request, one round trip, revocations that survive a flush, copies never stale."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from service.platform.config import ByTier
from service.platform.context import Resources
from service.platform.gate import TENANT_SECONDS, Gate, Meter, Verdict, Window, record_revocation
from service.platform.problem import Unavailable
from service.platform.secrets import digest, new_api_key
from tests.service.platform.conftest import Apart


def flat(figure: int) -> ByTier:
    return ByTier(figure, figure, figure, figure)


def early_in(seconds: int) -> None:
    """Wait for the next window where this one is nearly over, so that a test does not straddle two."""
    if time.time() % seconds > seconds - 5:
        time.sleep(seconds - time.time() % seconds + 0.05)


def as_user(
    gate: Gate, tenant: UUID, *, user: UUID | None = None, session: UUID | None = None, generation: int = 0
) -> Awaitable[Verdict]:
    return gate.user(tenant, user or UUID(int=1), session or UUID(int=2), generation)


def make_key(
    apart: Apart, tenant: UUID, creator: UUID, *, permissions: list[str], expires: str | None = None
) -> tuple[UUID, bytes]:
    _, prefix, key_hash = new_api_key("live")
    key_id = uuid4()
    apart.sql(
        "INSERT INTO api_keys (tenant_id, id, name, key_hash, key_prefix, permissions, environment, expires_at,"
        " creator_id, created_by)"
        " VALUES (%s, %s, 'key', %s, %s, %s, 'live', now() + %s::interval, %s, 'somebody')",
        [tenant, key_id, key_hash, prefix, permissions, expires, creator],
    )
    return key_id, key_hash


# Limits -------------------------------------------------------------------------------------------------------------


def test_the_minute_window_admits_its_figure_and_tells_the_rest(clean: Apart) -> None:
    tenant = clean.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[Verdict]:
        return [await as_user(shared.gate, tenant) for _ in range(7)]

    verdicts = clean.run(calls, requests_per_minute=flat(5), request_burst=flat(100))
    assert [verdict.outcome for verdict in verdicts] == ["ok"] * 5 + ["limited"] * 2
    assert [verdict.remaining for verdict in verdicts] == [4, 3, 2, 1, 0, 0, 0]
    assert {verdict.limit for verdict in verdicts} == {5}
    assert all(verdict.reset % 60 == 0 and 0 < verdict.reset - time.time() <= 60 for verdict in verdicts)
    assert all(0 < verdict.retry_after_seconds <= 60 for verdict in verdicts[5:])


def test_the_bucket_bounds_a_burst_and_fills_at_the_minutes_rate(clean: Apart) -> None:
    tenant = clean.tenant()

    async def calls(shared: Resources) -> list[str]:
        outcomes = [(await as_user(shared.gate, tenant)).outcome for _ in range(4)]
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

    async def calls(shared: Resources) -> list[Verdict]:
        return [await as_user(shared.gate, tenant) for _ in range(4)]

    verdicts = clean.run(calls, requests_per_minute=flat(1000), request_burst=flat(1000), requests_per_day=flat(3))
    assert [verdict.outcome for verdict in verdicts] == ["ok", "ok", "ok", "limited"]
    assert verdicts[3].retry_after_seconds > 60 or time.time() % 86400 > 86300
    assert verdicts[3].remaining == 997, "a refused request uses nothing up"


@pytest.mark.parametrize("bound", ["window", "minute", "bucket"])
def test_under_200_requests_at_once_not_one_more_passes(clean: Apart, bound: str) -> None:
    tenant = clean.tenant()
    early_in(60)
    window = [Window(f"w:{uuid4()}", 17, 3600)]

    async def calls(shared: Resources) -> tuple[int, float]:
        ask: dict[str, Callable[[], Awaitable[Verdict]]] = {
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


def test_limits_off_counts_on_but_refuses_nothing(clean: Apart) -> None:
    tenant = clean.tenant()
    early_in(60)

    async def calls(shared: Resources) -> list[Verdict]:
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


def test_tenants_and_keys_are_counted_apart(clean: Apart) -> None:
    one, other = clean.tenant(), clean.tenant()
    early_in(60)
    _, first = make_key(clean, one, clean.user(one), permissions=["workbooks:read"])
    _, second = make_key(clean, one, clean.user(one), permissions=["workbooks:read"])

    async def calls(shared: Resources) -> list[str]:
        asked = [as_user(shared.gate, one), as_user(shared.gate, one), as_user(shared.gate, other)]
        return [
            (await verdict).outcome
            for verdict in (*asked, shared.gate.key(first), shared.gate.key(second), shared.gate.key(first))
        ]

    assert clean.run(calls, requests_per_minute=flat(1), request_burst=flat(10)) == [
        "ok",
        "limited",
        "ok",
        "ok",
        "ok",
        "limited",
    ]


# Round trips --------------------------------------------------------------------------------------------------------


def test_one_round_trip_and_no_statement_once_the_copies_are_there(clean: Apart) -> None:
    tenant = clean.tenant()
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
    """What clients sent to this database until an ECHO: neither a script's own calls nor the running worker's."""
    names: list[str] = []
    while True:
        seen = monitor.next_command()
        if seen["client_type"] == "lua" or seen["db"] != 1:
            continue
        name = seen["command"].split()[0].upper()
        if name == "ECHO":
            return names
        names.append(name)


# Copies and the truth -----------------------------------------------------------------------------------------------


def test_a_revocation_survives_a_flush_and_bites_before_anything_passes(clean: Apart) -> None:
    tenant = clean.tenant()
    user, session = clean.user(tenant), uuid4()

    async def flushes(shared: Resources) -> list[str]:
        outcomes = [(await as_user(shared.gate, tenant, user=user, session=session)).outcome]
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "session", session)
        clean.redis.flushdb()  # the copy was never written: only PostgreSQL knows
        asked = await asyncio.gather(*(as_user(shared.gate, tenant, user=user, session=session) for _ in range(20)))
        return (
            outcomes
            + sorted({verdict.outcome for verdict in asked})
            + [(await as_user(shared.gate, tenant, user=user)).outcome]
        )

    assert clean.run(flushes) == ["ok", "revoked", "ok"]


def test_a_generation_revokes_the_earlier_ones_only(clean: Apart) -> None:
    tenant = clean.tenant()
    user = clean.user(tenant)

    async def revoke(shared: Resources) -> list[str]:
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "user", user, 3)
        return [
            (await as_user(shared.gate, tenant, user=user, generation=generation)).outcome for generation in (2, 3, 4)
        ]

    assert clean.run(revoke) == ["revoked", "ok", "ok"]


def test_a_copied_generation_never_falls(clean: Apart) -> None:
    """A loader that read an older generation may write after the newer one was published."""
    tenant, user = clean.tenant(), uuid4()

    async def race(shared: Resources) -> str:
        await shared.gate.publish_revocation("user", user, 5)
        await shared.gate.publish_revocation("user", user, 4)
        return (await as_user(shared.gate, tenant, user=user, generation=4)).outcome

    assert clean.run(race) == "revoked"


def test_a_withdrawn_revocation_gives_way_to_what_postgresql_says(clean: Apart) -> None:
    tenant, user = clean.tenant(), uuid4()

    async def withdraw(shared: Resources) -> list[str]:
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "user", user, 1)
        await shared.gate.publish_revocation("user", user, 2)
        before = (await as_user(shared.gate, tenant, user=user, generation=1)).outcome
        await shared.gate.withdraw_revocation("user", user)
        return [before, *[(await as_user(shared.gate, tenant, user=user, generation=g)).outcome for g in (1, 0)]]

    assert clean.run(withdraw) == ["revoked", "ok", "revoked"]


def test_the_worker_mends_a_lost_copy_and_forgets_what_ran_out(clean: Apart) -> None:
    tenant, lost, over = clean.tenant(), uuid4(), uuid4()

    async def keep(shared: Resources) -> list[str]:
        await as_user(shared.gate, tenant)
        async with shared.database.transaction(tenant) as tx:
            await record_revocation(tx, shared.settings, tenant, "session", lost)  # and its copy never arrived
        clean.sql(
            "INSERT INTO revocations (tenant_id, kind, subject, expires_at)"
            " VALUES (%s, 'session', %s, now() - interval '2 hours')",
            [tenant, over],
        )
        before = (await as_user(shared.gate, tenant, session=lost)).outcome
        stopping = asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, stopping.set)
        await shared.gate.keep_copies(stopping)
        return [before, *[(await as_user(shared.gate, tenant, session=session)).outcome for session in (lost, over)]]

    assert clean.run(keep) == ["ok", "revoked", "ok"]
    assert clean.sql("SELECT subject FROM revocations WHERE tenant_id = %s", [tenant]) == [(lost,)]


def test_what_was_read_before_a_change_is_not_written_after_it(clean: Apart) -> None:
    """The loader reads a live key, the key is revoked and its copy dropped, and only then the loader writes."""
    tenant = clean.tenant()
    key_id, key_hash = make_key(clean, tenant, clean.user(tenant), permissions=["workbooks:read"])

    async def race(shared: Resources) -> bool:
        gate, name = shared.gate, f"cushion:key:{key_hash.hex()}"
        record = (await gate.key(key_hash)).key
        assert record is not None
        assert record.active
        ticket = await gate._ticket(name)  # here a second loader reads its row ...
        clean.sql("UPDATE api_keys SET status = 'revoked' WHERE id = %s", [key_id])
        await gate.drop_keys([key_hash])
        await gate._put(name, ticket, 60, msgspec.json.encode(record))  # ... and writes what it read
        record = (await gate.key(key_hash)).key
        assert record is not None
        return record.active

    assert clean.run(race) is False


def test_a_tenants_change_shows_once_its_copy_has_run_out(clean: Apart) -> None:
    tenant = clean.tenant()

    async def suspend(shared: Resources) -> list[str]:
        before = (await as_user(shared.gate, tenant)).tenant_status
        clean.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [tenant])
        left = await shared.redis.ttl(f"cushion:tenant:{tenant}")
        assert 0 < left <= TENANT_SECONDS
        await shared.redis.delete(f"cushion:tenant:{tenant}")  # as its time does
        return [before, (await as_user(shared.gate, tenant)).tenant_status]

    assert clean.run(suspend) == ["active", "suspended"]


def test_an_unknown_tenant_is_not_active(clean: Apart) -> None:
    assert clean.run(lambda shared: as_user(shared.gate, uuid4())).tenant_status == "cancelled"


def test_a_keys_scopes_shrink_with_its_creators_role(clean: Apart) -> None:
    tenant = clean.tenant()
    creator = clean.user(tenant, role="viewer")
    _, key_hash = make_key(clean, tenant, creator, permissions=["workbooks:read", "workbooks:write", "admin:users"])
    record = clean.run(lambda shared: shared.gate.key(key_hash)).key
    assert record is not None
    assert (record.scopes, record.role, record.user_id) == (["workbooks:read"], "viewer", creator)


def test_an_unknown_key_has_no_record(clean: Apart) -> None:
    verdict = clean.run(lambda shared: shared.gate.key(digest("svc_live_nothing")))
    assert (verdict.outcome, verdict.key) == ("ok", None)


def test_without_redis_nothing_passes(clean: Apart) -> None:
    async def ask(shared: Resources) -> None:
        with pytest.raises(Unavailable):
            await as_user(shared.gate, uuid4())

    clean.run(ask, redis_url="redis://127.0.0.1:1/0")


def test_dropped_scripts_are_loaded_again(clean: Apart) -> None:
    tenant = clean.tenant()

    async def ask(shared: Resources) -> str:
        await as_user(shared.gate, tenant)
        clean.redis.script_flush()
        return (await as_user(shared.gate, tenant)).outcome

    assert clean.run(ask) == "ok"


# Meters -------------------------------------------------------------------------------------------------------------


def metered(amount: int = 1, most: int = 3) -> Meter:
    return Meter("calculations", flat(most), amount=amount, scope="calculations:execute")


def test_a_meter_counts_the_month_and_refuses_what_would_pass_it(clean: Apart) -> None:
    """What is refused uses nothing, so a smaller call still fits."""
    tenant = clean.tenant()

    async def calls(shared: Resources) -> tuple[list[str], int, int]:
        user = (tenant, UUID(int=1), UUID(int=2), 0, ())
        outcomes = [(await shared.gate.user(*user, metered())).outcome]
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=3))).outcome)
        outcomes.append((await shared.gate.use(tenant, "enterprise", metered(amount=2))).outcome)
        outcomes.append((await shared.gate.user(*user, metered())).outcome)
        outcomes.append((await shared.gate.user(*user)).outcome)
        return outcomes, await shared.gate.used_this_month(tenant, "calculations"), shared.gate.seconds_left_of_month()

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
            used.append(await shared.gate.used_this_month(tenant, "calculations"))
        return used

    assert clean.run(calls) == [0, 1]
