"""Revocations: they survive a flush, bite at once, and PostgreSQL has the say."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from service.platform.unit.context import Resources
from tests.service.platform.callers import as_user
from tests.service.platform.conftest import Apart


def test_a_revocation_survives_a_flush_and_bites_before_anything_passes(clean: Apart) -> None:
    tenant = clean.tenant()
    user, session = clean.user(tenant), uuid4()

    async def flushes(shared: Resources) -> list[str]:
        outcomes = [(await as_user(shared.gate, tenant, user=user, session=session)).outcome]
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "session", session)
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
            await shared.revocations.record(tx, tenant, "user", user, 3)
        return [
            (await as_user(shared.gate, tenant, user=user, generation=generation)).outcome for generation in (2, 3, 4)
        ]

    assert clean.run(revoke) == ["revoked", "ok", "ok"]


def test_a_copied_generation_never_falls(clean: Apart) -> None:
    """A loader that read an older generation may write after the newer one was published."""
    tenant, user = clean.tenant(), uuid4()

    async def race(shared: Resources) -> str:
        await shared.revocations.publish("user", user, 5)
        await shared.revocations.publish("user", user, 4)
        return (await as_user(shared.gate, tenant, user=user, generation=4)).outcome

    assert clean.run(race) == "revoked"


def test_a_withdrawn_revocation_gives_way_to_what_postgresql_says(clean: Apart) -> None:
    tenant, user = clean.tenant(), uuid4()

    async def withdraw(shared: Resources) -> list[str]:
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "user", user, 1)
        await shared.revocations.publish("user", user, 2)
        before = (await as_user(shared.gate, tenant, user=user, generation=1)).outcome
        await shared.revocations.withdraw("user", user)
        return [before, *[(await as_user(shared.gate, tenant, user=user, generation=g)).outcome for g in (1, 0)]]

    assert clean.run(withdraw) == ["revoked", "ok", "revoked"]


def test_the_worker_mends_a_lost_copy_and_copies_none_that_ran_out(clean: Apart) -> None:
    tenant, lost, over = clean.tenant(), uuid4(), uuid4()

    async def keep(shared: Resources) -> list[str]:
        await as_user(shared.gate, tenant)
        async with shared.database.transaction(tenant) as tx:
            await shared.revocations.record(tx, tenant, "session", lost)  # and its copy never arrived
        clean.sql(
            "INSERT INTO revocations (tenant_id, kind, subject, expires_at)"
            " VALUES (%s, 'session', %s, now() - interval '2 hours')",
            [tenant, over],
        )
        before = (await as_user(shared.gate, tenant, session=lost)).outcome
        stopping = asyncio.Event()
        asyncio.get_running_loop().call_later(0.3, stopping.set)
        await shared.revocations.mend(stopping)
        return [before, *[(await as_user(shared.gate, tenant, session=session)).outcome for session in (lost, over)]]

    assert clean.run(keep) == ["ok", "revoked", "ok"]
