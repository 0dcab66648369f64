"""High-rate events: through the Redis stream into the audit log, each once, whatever dies in between."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import msgspec
import pytest

from service.platform.access import SCOPES, Caller
from service.platform.context import Context, Resources
from service.platform.stream import GROUP, STREAM, drain, publish
from tests.service.platform.conftest import Apart


def caller(tenant: UUID, user: UUID) -> Caller:
    return Caller(
        tenant_id=tenant, user_id=user, role="owner", scopes=SCOPES["owner"], tier="free", email="olive@example.com"
    )


async def happens(shared: Resources, tenant: UUID, *, count: int = 1) -> None:
    for number in range(count):
        ctx = Context(shared, request_id=f"request-{number}", ip_address="192.0.2.7", headers={})
        ctx.admit(caller(tenant, UUID(int=5)))
        ctx.concerns("workbook", number, "Book", cells=3)
        await publish(ctx, "calculation.completed")


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
    one, other = clean.tenant(), clean.tenant()

    async def walk(shared: Resources) -> int:
        await happens(shared, one, count=2)
        await happens(shared, other)
        return await drained(shared)

    assert clean.run(walk) == 3
    assert rows(clean, one) == [
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
    assert len(rows(clean, other)) == 1
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


def test_what_a_dead_consumer_took_is_handed_to_the_next(clean: Apart, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = clean.tenant()
    monkeypatch.setattr("service.platform.stream.ABANDONED_MILLISECONDS", 0)

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
    monkeypatch.setattr("service.platform.stream.ABANDONED_MILLISECONDS", 0)

    async def walk(shared: Resources) -> int:
        await drain(shared, "one", block_milliseconds=1)
        await happens(shared, tenant)
        clean.redis.xreadgroup(GROUP, "dead", {STREAM: ">"}, count=500)
        clean.redis.xtrim(STREAM, maxlen=0)
        await happens(shared, tenant, count=2)
        return await drain(shared, "two", block_milliseconds=1)

    assert clean.run(walk) == 2
    assert len(rows(clean, tenant)) == 2
