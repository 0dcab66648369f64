"""Switches as each process has them.

At once by the gate, in a second without it, and kept while PostgreSQL is away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest

from service.platform.access.switches import LOOK_SECONDS, NAME, FlagState, Maintenance, State
from service.platform.base.flags import FLAGS
from service.platform.base.problem import SwitchedOff
from service.platform.unit.context import Resources
from tests.rows import every
from tests.service.platform.conftest import Apart

TENANT, OTHER = uuid4(), uuid4()


@pytest.fixture
def switched(clean: Apart) -> Iterator[Apart]:
    yield clean
    clean.sql("UPDATE switches SET version = version + 1, maintenance = NULL, flags = '{}'")


def maintain(apart: Apart, message: str) -> None:
    """What another process commits, and tells nobody."""
    value = msgspec.json.encode(Maintenance(message, datetime(2026, 1, 1, tzinfo=UTC))).decode()
    apart.sql("UPDATE switches SET version = version + 1, maintenance = %s", [value])


def message_of(shared: Resources) -> str | None:
    now = shared.switches.maintenance
    return now.message if now else None


@every(
    "set_, tenant, expected",
    [
        (None, None, True), (None, TENANT, True), (FlagState(), TENANT, True),
        (FlagState(enabled=False), TENANT, False),
        (FlagState(enabled=False, tenants={str(TENANT): True}), TENANT, True),
        (FlagState(enabled=False, tenants={str(TENANT): True}), OTHER, False),
        (FlagState(enabled=False, tenants={str(TENANT): True}), None, False),
        (FlagState(enabled=True, tenants={str(TENANT): False}), TENANT, False),
        (FlagState(tenants={str(TENANT): False}), OTHER, True),
    ],
)  # fmt: skip
def test_a_tenants_override_comes_before_what_holds_for_all(
    set_: FlagState | None, tenant: UUID | None, expected: bool
) -> None:
    state = State(flags={"exports": set_} if set_ else {})
    assert state.is_on("exports", tenant) is expected


def test_every_flag_is_on_unless_somebody_set_it() -> None:
    assert [name for name in FLAGS if not State().is_on(name, TENANT)] == []
    with pytest.raises(KeyError):
        State().is_on("no such flag")


@every("minutes, least, most", [(None, 60, 60), (-5, 60, 60), (10, 590, 600), (600, 3600, 3600)])
def test_a_refused_caller_is_told_when_to_come_again(minutes: int | None, least: int, most: int) -> None:
    now = datetime.now(UTC)
    end = now + timedelta(minutes=minutes) if minutes is not None else None
    refusal = Maintenance("No", now, end).refusal(now)
    assert (refusal.detail, least <= int(refusal.headers["Retry-After"]) <= most) == ("No", True)


def test_a_change_comes_in_a_second_without_any_request_and_at_once_with_one(switched: Apart) -> None:
    async def see(shared: Resources) -> list[str | None]:
        maintain(switched, "first")
        await asyncio.sleep(LOOK_SECONDS + 0.4)
        seen = [message_of(shared)]
        version = shared.switches.state.version
        switched.redis.hset(NAME, "version", version + 1)  # another process published what it committed
        maintain(switched, "second")
        await shared.gate.windows(())
        return [*seen, message_of(shared)]

    assert switched.run(see) == ["first", "second"]


def test_the_copy_in_redis_is_believed_where_it_is_ours_and_newer(switched: Apart) -> None:
    """PostgreSQL is away.

    A process that missed the change has it from Redis, signed; and nothing else from there.
    """

    async def see(shared: Resources) -> list[str | None]:
        async def expected_text(copy: dict[str, Any]) -> str | None:
            switched.redis.hset(NAME, mapping=copy)
            await shared.gate.windows(())
            return message_of(shared)

        def signed(version: int, message: str) -> dict[str, Any]:
            state = State(version, Maintenance(message, datetime(2026, 1, 1, tzinfo=UTC)))
            content = msgspec.json.encode(state)
            return {"version": version, "record": shared.vault.sign("switches", content) + content}

        await shared.database.close()
        version = shared.switches.state.version
        good = signed(version + 5, "ours")
        return [
            await expected_text({"version": version + 1, "record": b"x" * 40}),
            await expected_text({"version": version + 2, "record": good["record"][:-1] + b" "}),
            await expected_text(signed(version - 1, "older")),
            await expected_text(good),
            await expected_text(signed(version + 4, "older than that")),
            await expected_text({"version": b"rubbish", "record": b""}),
        ]

    assert switched.run(see) == [None, None, None, "ours", "ours", "ours"]


def test_what_redis_lost_or_has_wrong_is_mended_by_the_next_request(switched: Apart) -> None:
    async def see(shared: Resources) -> list[Any]:
        result = []
        for break_ in (lambda: switched.redis.delete(NAME), lambda: switched.redis.hset(NAME, "version", "7777")):
            break_()
            await shared.gate.windows(())
            result.append(switched.redis.hget(NAME, "version") == b"%d" % shared.switches.state.version)
        return result

    assert switched.run(see) == [True, True]


def test_without_postgresql_the_copy_holds(switched: Apart) -> None:
    async def see(shared: Resources) -> str | None:
        maintain(switched, "kept")
        await shared.switches.look()
        await shared.database.close()
        switched.redis.flushdb()
        await asyncio.sleep(LOOK_SECONDS + 0.2)
        for _ in range(3):
            await shared.gate.windows(())
        return message_of(shared)

    assert switched.run(see) == "kept"


def test_a_refusal_has_the_flags_own_words(switched: Apart) -> None:
    switched.sql("""UPDATE switches SET version = version + 1, flags = '{"exports": {"enabled": false}}'""")

    async def see(shared: Resources) -> None:
        with pytest.raises(SwitchedOff) as refused:
            shared.switches.check("exports", TENANT)
        assert refused.value.detail == FLAGS["exports"].refusal
        shared.switches.check("reports", TENANT)

    switched.run(see)
