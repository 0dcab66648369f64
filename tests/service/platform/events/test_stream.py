"""High-rate events.

Through the Redis stream into the audit log, each once, whatever dies in between.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import msgspec
import psycopg
import pytest
from redis import Redis

from service.platform.base.caller import SCOPES, Caller
from service.platform.base.problem import Unavailable
from service.platform.events.stream import GROUP, STREAM, Event, drain, event_of, publish
from service.platform.unit.context import Context, Resources
from service.platform.work.process import resources
from tests.conftest import Stack, calls, free_port, register, start_worker, wait_until
from tests.redis_server import redis_server
from tests.service.platform.conftest import Apart


def caller(tenant: UUID, user: UUID) -> Caller:
    return Caller(
        kind="user",
        tenant_id=tenant,
        user_id=user,
        role="owner",
        scopes=SCOPES["owner"],
        tier="free",
        email="olive@example.com",
    )


async def happens(shared: Resources, tenant: UUID, *, count: int = 1, counted: bool = False) -> None:
    for number in range(count):
        ctx = Context(shared, request_id=f"request-{number}", ip_address="192.0.2.7", headers={})
        ctx.admit(caller(tenant, UUID(int=5)))
        ctx.set_subject("workbook", number, "Book", cells=3)
        await publish(shared, event_of(ctx, "calculation.completed", counted=counted))


async def drained(shared: Resources, consumer: str = "one") -> int:
    await drain(shared, consumer, block_milliseconds=1)  # the first makes the group
    return await drain(shared, consumer, block_milliseconds=1)


def rows(apart: Apart, tenant: UUID) -> list[tuple[Any, ...]]:
    return apart.sql(
        "SELECT action, user_email, resource_type, resource_id, resource_name, ip_address, request_id, details"
        " FROM audit_log WHERE tenant_id = %s ORDER BY request_id",
        [tenant],
    )


def test_events_arrive_in_the_audit_log_with_who_and_what(clean: Apart) -> None:
    item, second = clean.tenant(), clean.tenant()

    async def walk(shared: Resources) -> int:
        await happens(shared, item, count=2)
        await happens(shared, second)
        return await drained(shared)

    assert clean.run(walk) == 3
    assert rows(clean, item) == [
        (
            "calculation.completed",
            "olive@example.com",
            "workbook",
            str(n),
            "Book",
            "192.0.2.7",
            f"request-{n}",
            {"cells": 3},
        )
        for n in range(2)
    ]
    assert len(rows(clean, second)) == 1
    assert clean.redis.xlen(STREAM) == 0


def test_two_drains_at_once_write_each_event_once(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant, count=40)
        return sum(await asyncio.gather(*(drain(shared, f"consumer-{n}", block_milliseconds=1) for n in range(4))))

    assert clean.run(walk) == 40
    assert len(rows(clean, tenant)) == 40


def test_a_crash_between_commit_and_acknowledgement_writes_nothing_twice(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant, count=3)
        entries = clean.redis.xrange(STREAM)
        assert await drain(shared, "one", block_milliseconds=1) == 3
        clean.redis.delete(STREAM)
        for entry_id, fields in entries:  # the stream as it was: committed above, never acknowledged
            clean.redis.xadd(STREAM, fields, id=entry_id)
        return await drained(shared)

    assert clean.run(walk) == 3
    assert len(rows(clean, tenant)) == 3


def test_a_call_that_arrives_twice_counts_once(clean: Apart) -> None:
    """In one batch, or again in a later one."""
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant, count=3, counted=True)
        arrived = 0
        sent = [fields for _, fields in clean.redis.xrange(STREAM)]
        for again in (sent, sent):
            for fields in again:
                clean.redis.xadd(STREAM, fields)
            arrived += await drain(shared, "one", block_milliseconds=1)
        return arrived

    assert clean.run(walk) == 9
    assert clean.sql("SELECT sum(calls)::int, count(*) FROM calls WHERE tenant_id = %s", [tenant]) == [(3, 3)]


def test_what_a_dead_consumer_took_is_handed_to_the_next(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = clean.tenant()
    monkeypatch.setattr("service.platform.events.stream.ABANDONED_MILLISECONDS", 0)

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant, count=3)
        taken = clean.redis.xreadgroup(GROUP, "dead", {STREAM: ">"}, count=500)
        assert len(taken[0][1]) == 3
        return await drain(shared, "two", block_milliseconds=1)

    assert clean.run(walk) == 3
    assert len(rows(clean, tenant)) == 3


def test_an_entry_that_nobody_can_read_does_not_stand_in_the_way(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        clean.redis.xadd(STREAM, {"event": "{"})
        clean.redis.xadd(STREAM, {"other": "x"})
        clean.redis.xadd(STREAM, {"event": msgspec.json.encode({"tenant_id": "nobody"})})
        await happens(shared, tenant)
        return await drain(shared, "one", block_milliseconds=1)

    assert clean.run(walk) == 4
    assert len(rows(clean, tenant)) == 1
    assert clean.redis.xlen(STREAM) == 0


def test_entries_that_were_trimmed_while_taken_are_passed_over(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = clean.tenant()
    monkeypatch.setattr("service.platform.events.stream.ABANDONED_MILLISECONDS", 0)

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant)
        clean.redis.xreadgroup(GROUP, "dead", {STREAM: ">"}, count=500)
        clean.redis.xtrim(STREAM, maxlen=0)
        await happens(shared, tenant, count=2)
        return await drain(shared, "two", block_milliseconds=1)

    assert clean.run(walk) == 2
    assert len(rows(clean, tenant)) == 2


def test_a_user_who_is_known_by_the_token_alone_gets_an_e_mail(clean: Apart) -> None:
    tenant, second = clean.tenant(), clean.tenant()
    user, stranger = clean.user(tenant), clean.user(second)

    async def walk(shared: Resources) -> int:
        for number, who in enumerate((user, stranger, None)):
            event = Event(
                occurred_at=shared.clock.now(), tenant_id=tenant, action="a.b", request_id=str(number), user_id=who
            )
            await publish(shared, event)
        return await drained(shared)

    assert clean.run(walk) == 3
    assert [row[1] for row in rows(clean, tenant)] == [f"{user.hex}@example.com", None, None]


def test_an_event_keeps_its_moment_and_its_identifier(clean: Apart) -> None:
    tenant, moment = clean.tenant(), datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    event = Event(occurred_at=moment, tenant_id=tenant, action="a.b", request_id="r")

    async def walk(shared: Resources) -> int:
        await publish(shared, event)
        await publish(shared, event)
        return await drained(shared)

    assert clean.run(walk) == 2
    actual_rows = clean.sql("SELECT id, occurred_at FROM audit_log WHERE tenant_id = %s", [tenant])
    assert actual_rows == [(event.id, moment)]


def test_without_redis_an_event_goes_straight_into_the_log(clean: Apart) -> None:
    tenant = clean.tenant()
    clean.run(lambda shared: happens(shared, tenant, count=3), redis_url="unix:///nowhere/redis.sock")
    assert [row[6] for row in rows(clean, tenant)] == ["request-0", "request-1", "request-2"]


def test_an_event_that_neither_takes_is_refused(clean: Apart) -> None:
    """So that nobody is answered what the audit log will not know."""

    async def walk(shared: Resources) -> None:
        await shared.database.close()
        with pytest.raises(Unavailable):
            await happens(shared, clean.tenant())

    clean.run(walk, redis_url="unix:///nowhere/redis.sock")


def test_an_event_that_redis_took_and_did_not_confirm_is_written_once(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        event = Event(occurred_at=shared.clock.now(), tenant_id=tenant, action="a.b", request_id="r")
        await publish(shared, event)
        away = msgspec.structs.replace(shared.settings, redis_url="unix:///nowhere/redis.sock")
        async with resources(away) as without:
            await publish(without, event)
        return await drained(shared)

    assert clean.run(walk) == 1
    assert len(rows(clean, tenant)) == 1


def test_an_event_that_the_database_cannot_hold_keeps_no_other_back(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> int:
        for name in ("one", "nu\x00ll", "two"):
            event = Event(occurred_at=shared.clock.now(), tenant_id=tenant, action="a.b", request_id=name)
            await publish(shared, event)
        return await drained(shared)

    assert clean.run(walk) == 3
    assert [row[6] for row in rows(clean, tenant)] == ["one", "two"]
    assert clean.redis.xlen(STREAM) == 0


def test_a_tenant_whose_events_cannot_be_written_keeps_no_other_tenants_back(
    clean: Apart, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, whole = clean.tenant(), clean.tenant()
    clean.run(lambda shared: happens(shared, broken))
    clean.run(drained)
    head = "UPDATE audit_heads SET sequence = %s WHERE tenant_id = %s"
    clean.sql(head, [0, broken])  # the number that it would give next is taken

    async def walk(shared: Resources) -> int:
        await happens(shared, broken, count=2)
        await happens(shared, whole, count=2)
        return await drain(shared, "one", block_milliseconds=1)

    assert clean.run(walk) == 4
    assert (len(rows(clean, broken)), len(rows(clean, whole))) == (1, 2)
    clean.sql(head, [1, broken])
    monkeypatch.setattr("service.platform.events.stream.ABANDONED_MILLISECONDS", 0)
    assert clean.run(lambda shared: drain(shared, "two", block_milliseconds=1)) == 2
    assert (len(rows(clean, broken)), clean.redis.xlen(STREAM)) == (3, 0)


def test_what_no_stream_can_carry_is_refused(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> None:
        event = Event(occurred_at=shared.clock.now(), tenant_id=tenant, action="\ud800", request_id="r")
        with pytest.raises(Unavailable):
            await publish(shared, event)

    clean.run(walk)
    assert rows(clean, tenant) == []


def test_workers_that_come_and_go_leave_one_name_at_the_stream(stack: Stack) -> None:
    def names() -> set[bytes]:
        with Redis.from_url(stack.redis_url) as redis:
            groups = redis.xinfo_groups(STREAM)  # none until the first worker has begun
            return {consumer["name"] for consumer in redis.xinfo_consumers(STREAM, GROUP)} if groups else set()

    register(stack.url).post("/api/v1/calculations/evaluate", json={"formula": "=1"})
    with stack.another_worker():
        wait_until(names, what="a worker at the stream")
    assert len(names()) == 1


def test_what_a_killed_api_process_has_answered_is_in_the_log(stack: Stack) -> None:
    """Killed at the very moment of the last answer.

    The event was on the stream before it.
    """
    port = free_port()
    command = [sys.executable, "-m", "granian", "--interface", "asgi", "--factory", "--no-ws", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--log-level", "warning", "service.app:create"], env=stack.environment, start_new_session=True
    )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: _answers(url), seconds=60, what="readiness")
        owner = register(url)

        def calculate(number: int) -> None:
            answer = owner.post(
                "/api/v1/calculations/evaluate", json={"formula": "=1+1"}, headers={"X-Request-ID": f"r{number}"}
            )
            assert answer.status_code == 200, answer.text

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(calculate, range(40)))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    wait_until(lambda: calls(stack, owner) >= 40, what="the events")
    assert calls(stack, owner) == 40


@pytest.mark.parametrize("ends", ["stop", "hang"])
def test_while_redis_is_away_the_answers_events_are_in_the_log_already(stack: Stack, ends: str) -> None:
    with redis_server() as redis, stack.another_api(CUSHION_REDIS_URL=redis.url) as url:
        owner = register(url)
        getattr(redis, ends)()
        begun = time.monotonic()
        for number in range(10):
            answer = owner.post("/api/v1/calculations/evaluate", json={"formula": f"={number}"})
            assert answer.status_code == 200, answer.text
            assert calls(stack, owner) == number + 1
        assert time.monotonic() - begun < 30, "only who meets it first waits (5 seconds) for a Redis that hangs"


def _answers(url: str) -> bool:
    try:
        return httpx.get(url + "/health/ready").status_code == 200
    except httpx.TransportError:
        return False


def test_what_a_worker_held_when_it_was_killed_is_written_once(
    clean: Apart, stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has taken a batch and waits for the tenant's chain, which somebody else holds, when it is killed."""
    tenant = clean.tenant()
    monkeypatch.setattr("service.platform.events.stream.ABANDONED_MILLISECONDS", 0)
    clean.run(lambda shared: happens(shared, tenant))
    clean.run(drained)  # the tenant has a chain to hold
    clean.run(lambda shared: happens(shared, tenant, count=20))
    environment = {
        **stack.environment,
        "CUSHION_DATABASE_URL": str(clean.settings.database_url),
        "CUSHION_REDIS_URL": str(clean.settings.redis_url),
    }
    with psycopg.connect(clean.database_url) as holder:
        holder.execute("SELECT FROM audit_heads WHERE tenant_id = %s FOR UPDATE", [tenant])
        worker = start_worker(environment)
        try:
            waiting = (
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock' AND query LIKE '%append_audit%'"
            )
            wait_until(lambda: clean.sql(waiting), seconds=60, what="the worker's write")
        finally:
            worker.kill()
            worker.wait()
    assert len(rows(clean, tenant)) == 1

    async def rest(shared: Resources) -> int:
        return sum([await drain(shared, "heir", block_milliseconds=1) for _ in range(3)])

    assert clean.run(rest) >= 20
    wait_until(lambda: len(rows(clean, tenant)) == 21, what="the events")
    assert clean.redis.xlen(STREAM) == 0
    actual_rows = clean.sql("SELECT count(*), max(sequence) FROM audit_log WHERE tenant_id = %s", [tenant])
    assert actual_rows == [(21, 21)]
