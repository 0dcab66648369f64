"""The database: a transaction of one tenant, refusals by their names, connections that heal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from msgspec import Struct, ValidationError

from service.platform.base.problem import ConcurrentModification, NotFound, Problem, Unavailable
from service.platform.data.database import Transaction
from service.platform.unit.context import Resources
from tests.service.platform.conftest import Apart

NEW_TENANT = "INSERT INTO tenants (id, name, slug, subscription_tier) VALUES (%s, 'Name', %s, 'free')"


class SlugTaken(Problem, status=409, constraint="tenants_slug_key"):
    """Slug taken"""


class Named(Struct):
    id: UUID
    name: str


def stored(apart: Apart, tenant: UUID) -> bool:
    return bool(apart.sql("SELECT 1 FROM tenants WHERE id = %s", [tenant]))


def test_what_was_done_is_committed_together(apart: Apart) -> None:
    tenant = uuid4()

    async def both(shared: Resources) -> Named:
        async with shared.database.transaction(tenant) as tx:
            await tx.post(NEW_TENANT, [tenant, tenant.hex])
            assert await tx.execute("UPDATE tenants SET name = 'Other' WHERE id = %s", [tenant]) == 1
            assert not stored(apart, tenant)
            return await tx.fetch_one(Named, "SELECT id, name FROM tenants", missing=NotFound)

    assert apart.run(both) == Named(tenant, "Other")
    assert stored(apart, tenant)


def test_many_rows_are_copied_and_committed_together(apart: Apart) -> None:
    tenant = uuid4()

    async def copied(shared: Resources) -> Named:
        async with shared.database.bulk(tenant, seconds_max=7) as tx:
            assert await tx.fetch_value("SHOW statement_timeout") == "7s"
            await tx.execute("CREATE TEMPORARY TABLE arrived (id uuid, name text) ON COMMIT DROP")
            await tx.copy("COPY arrived FROM STDIN", iter([f"{tenant}\tCop".encode(), b"ied\n"]))
            moved = await tx.execute(
                "INSERT INTO tenants (id, name, slug, subscription_tier) SELECT id, name, id::text, 'free' FROM arrived"
            )
            assert moved == 1
            assert not stored(apart, tenant)
        async with shared.database.transaction(tenant) as tx:
            return await tx.fetch_one(Named, "SELECT id, name FROM tenants", missing=NotFound)

    assert apart.run(copied) == Named(tenant, "Copied")


def test_one_tenant_holds_half_of_the_connections_at_most(apart: Apart) -> None:
    item, second = uuid4(), uuid4()

    async def locked(shared: Resources) -> None:
        at_work = 0
        enough, end = asyncio.Event(), asyncio.Event()

        async def work(kind: Callable[[], AbstractAsyncContextManager[Transaction]]) -> None:
            nonlocal at_work
            async with kind() as tx:
                await tx.fetch_value("SELECT 1")
                at_work += 1
                if at_work == 2:
                    enough.set()
                await end.wait()

        kinds = [lambda: shared.database.transaction(item), lambda: shared.database.bulk(item, seconds_max=5)]
        running = [asyncio.create_task(work(kind)) for kind in kinds * 4]
        await enough.wait()
        async with shared.database.transaction(second) as tx, shared.database.transaction() as nobodys:
            assert [await tx.fetch_value("SELECT 1"), await nobodys.fetch_value("SELECT 1")] == [1, 1]
        assert at_work == 2
        end.set()
        await asyncio.gather(*running)
        assert at_work == 8

    apart.run(locked, database_connections=4)


def test_a_bulk_transaction_is_bound_to_its_tenant_and_leaves_nothing_after_an_error(apart: Apart) -> None:
    tenant, second = uuid4(), uuid4()

    async def fails(shared: Resources) -> None:
        async with shared.database.bulk(tenant, seconds_max=5) as tx:
            await tx.execute(NEW_TENANT, [tenant, tenant.hex])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await tx.execute(NEW_TENANT, [second, second.hex])

    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        apart.run(fails)
    assert not stored(apart, tenant)
    assert not stored(apart, second)


def test_an_error_rolls_back_and_the_connection_lives_on(apart: Apart) -> None:
    tenant = uuid4()

    async def fails(shared: Resources) -> int:
        async def raises() -> None:
            async with shared.database.transaction(tenant) as tx:
                await tx.execute(NEW_TENANT, [tenant, tenant.hex])
                raise KeyError

        with pytest.raises(KeyError):
            await raises()
        async with shared.database.transaction(tenant) as tx:
            return int(await tx.fetch_value("SELECT count(*) FROM tenants"))

    assert apart.run(fails, database_connections=2) == 0


def test_a_posted_statement_that_fails_fails_the_transaction(apart: Apart) -> None:
    tenant, twin = uuid4(), apart.tenant()
    slug = apart.sql("SELECT slug FROM tenants WHERE id = %s", [twin])[0][0]

    async def fails(shared: Resources) -> None:
        with pytest.raises(SlugTaken):
            async with shared.database.transaction(tenant) as tx:
                await tx.post(NEW_TENANT, [tenant, slug])

    apart.run(fails)
    assert not stored(apart, tenant)


def test_what_a_failed_transaction_skipped_is_prepared_anew(apart: Apart) -> None:
    """Whatever ended before on the same connections, with statements prepared or none."""
    tenant, twin = apart.tenant(), apart.tenant()
    slug = apart.sql("SELECT slug FROM tenants WHERE id = %s", [twin])[0][0]

    async def goes_on(shared: Resources) -> list[int]:
        async def refused(_: int) -> None:
            with pytest.raises(NotFound):
                async with shared.database.transaction(tenant):
                    raise NotFound

        async def fails(number: int) -> None:
            second = uuid4()
            async with shared.database.transaction(second) as tx:
                await tx.post(NEW_TENANT, [second, slug])
                await tx.post(f"SELECT {number}")

        async def failed(number: int) -> None:
            with pytest.raises(SlugTaken):
                await fails(number)

        async def good(number: int) -> int:
            async with shared.database.transaction(tenant) as tx:
                value = await tx.fetch_value("SELECT 7")
                await tx.post(f"SELECT {number}")
            return int(value)

        answers = []
        for _ in range(4):
            for number in range(3):
                await asyncio.gather(*(refused(number) for _ in range(2)))
                await asyncio.gather(*(failed(number) for _ in range(2)))
                answers += await asyncio.gather(*(good(number) for _ in range(2)))
        return answers

    assert set(apart.run(goes_on, database_connections=2)) == {7}


def test_a_refusal_that_somebody_swallows_does_not_pass_for_a_commit(apart: Apart) -> None:
    tenant, second, twin = uuid4(), uuid4(), apart.tenant()
    slug = apart.sql("SELECT slug FROM tenants WHERE id = %s", [twin])[0][0]

    async def swallows(shared: Resources) -> None:
        async def deaf() -> None:
            async with shared.database.transaction(tenant) as tx:
                await tx.execute(NEW_TENANT, [tenant, tenant.hex])
                with pytest.raises(SlugTaken):
                    await tx.execute("UPDATE tenants SET slug = %s WHERE id = %s", [slug, tenant])

        with pytest.raises(psycopg.Error):
            await deaf()
        async with shared.database.transaction(second) as tx:
            await tx.execute(NEW_TENANT, [second, second.hex])

    apart.run(swallows, database_connections=2)
    assert not stored(apart, tenant)
    assert stored(apart, second)


def test_a_cancelled_statement_leaves_a_sound_connection(apart: Apart) -> None:
    async def cancelled(shared: Resources) -> list[int]:
        async def sleeps() -> None:
            async with shared.database.transaction() as tx:
                await tx.fetch_value("SELECT pg_sleep(30)")

        for _ in range(3):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(sleeps(), 0.1)
        answers = []
        for number in range(4):
            async with shared.database.transaction() as tx:
                answers.append(int(await tx.fetch_value("SELECT %s::integer", [number])))
        return answers

    assert apart.run(cancelled, database_connections=2) == [0, 1, 2, 3]


def test_the_tenant_ends_with_its_transaction(apart: Apart) -> None:
    tenant = apart.tenant()

    async def after(shared: Resources) -> tuple[Any, Any]:
        async with shared.database.transaction(tenant) as tx:
            during = await tx.fetch_value("SELECT current_tenant()")
        async with shared.database.transaction() as tx:
            return during, await tx.fetch_value("SELECT current_tenant()")

    assert apart.run(after, database_connections=2) == (tenant, None)


def test_a_look_sees_the_rows_of_its_tenant_and_leaves_no_tenant_behind(apart: Apart) -> None:
    item, second = uuid4(), uuid4()
    looked = "SELECT id, name, (SELECT count(*) FROM tenants) FROM tenants WHERE name = %s"

    async def looks(shared: Resources) -> None:
        for tenant in (item, second):
            async with shared.database.transaction(tenant) as tx:
                await tx.execute(NEW_TENANT, [tenant, tenant.hex])
        for _ in range(3):  # as it is, prepared, and by the prepared plan
            for tenant in (item, second):
                assert await shared.database.fetch_counted(tenant, Named, looked, ["Name"]) == [
                    (Named(tenant, "Name"), 1)
                ]
            async with shared.database.transaction() as tx:
                assert await tx.fetch_value("SELECT current_setting('cushion.tenant')") == ""
                assert await tx.fetch_value("SELECT count(*) FROM tenants") == 0
        assert await shared.database.fetch_counted(None, Named, looked, ["Name"]) == []
        async with shared.database.transaction(item) as tx:
            assert await tx.fetch_counted(Named, looked, ["Name"]) == [(Named(item, "Name"), 1)]

    apart.run(looks)


def test_a_look_that_fails_is_refused_by_name_and_its_connection_lives_on(apart: Apart) -> None:
    async def looks(shared: Resources) -> None:
        for sql in ("SELECT pg_sleep(60), 1", "SELECT 1 / 0, 1", "SELECT pg_sleep(60), 1"):
            with pytest.raises(TimeoutError if "sleep" in sql else psycopg.errors.DivisionByZero):
                async with asyncio.timeout(0.2):
                    await shared.database.fetch_counted(uuid4(), Named, sql)
        tenant = uuid4()
        assert await shared.database.fetch_counted(
            tenant, Named, "SELECT %s::uuid AS id, 'x' AS name, 7", [tenant]
        ) == [(Named(tenant, "x"), 7)]
        with pytest.raises(Unavailable):
            await shared.database.fetch_counted(tenant, Named, "SELECT pg_terminate_backend(pg_backend_pid()), 1")

    apart.run(looks)


def test_a_statement_that_takes_too_long_is_unavailable(apart: Apart) -> None:
    async def slow(shared: Resources) -> None:
        with pytest.raises(Unavailable):
            async with shared.database.transaction() as tx:
                await tx.fetch_value("SELECT pg_sleep(30)")

    apart.run(slow, statement_seconds=1)


def test_a_deadlock_is_a_concurrent_modification(apart: Apart) -> None:
    tenant = apart.tenant()
    users = [apart.user(tenant), apart.user(tenant)]

    async def locks(shared: Resources) -> list[Any]:
        both = asyncio.Barrier(2)

        async def each(first: UUID, second: UUID) -> str:
            async with shared.database.transaction(tenant) as tx:
                await tx.execute("UPDATE users SET full_name = 'A' WHERE id = %s", [first])
                await both.wait()
                await tx.execute("UPDATE users SET full_name = 'B' WHERE id = %s", [second])
            return "done"

        return await asyncio.gather(each(*users), each(*reversed(users)), return_exceptions=True)

    outcomes = apart.run(locks)
    assert sorted(type(outcome) for outcome in outcomes if outcome != "done") == [ConcurrentModification]


def test_a_lost_server_is_unavailable_and_comes_back(apart: Apart) -> None:
    async def lost(shared: Resources) -> int:
        async def asks() -> None:
            async with shared.database.transaction() as tx:
                backend = await tx.fetch_value("SELECT pg_backend_pid()")
                apart.sql("SELECT pg_terminate_backend(%s)", [backend])
                await tx.fetch_value("SELECT 1")

        with pytest.raises(Unavailable):
            await asks()
        async with shared.database.transaction() as tx:
            return int(await tx.fetch_value("SELECT 7"))

    assert apart.run(lost, database_connections=2) == 7


WAYS: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "execute": lambda tx: tx.execute("SELECT 1"),
    "post": lambda tx: tx.post("SELECT 1"),
    "all": lambda tx: tx.fetch_all(Named, "SELECT id, name FROM tenants"),
    "one_or_none": lambda tx: tx.fetch_one_or_none(Named, "SELECT id, name FROM tenants"),
    "value": lambda tx: tx.fetch_value("SELECT 1"),
    "copy": lambda tx: tx.copy("COPY arrived FROM STDIN", [b"1\n"]),
}


@pytest.mark.parametrize(
    ("kind", "way"),
    [(kind, way) for kind in ("transaction", "bulk") for way in WAYS if (kind, way) != ("transaction", "copy")],
)
def test_a_server_lost_in_a_transaction_is_unavailable_to_every_statement_and_at_the_end(
    apart: Apart, kind: str, way: str
) -> None:
    """The statement says so itself: what a handler raises is what the caller is told."""

    async def until_lost(tx: Any) -> None:
        for _ in range(100):  # what is only posted may be sent before the end is seen
            await WAYS[way](tx)

    async def lost(shared: Resources) -> None:
        database, tenant = shared.database, uuid4()
        begun: Any = database.transaction(tenant) if kind == "transaction" else database.bulk(tenant, seconds_max=5)
        async with begun as tx:
            await tx.execute("CREATE TEMPORARY TABLE arrived (number int) ON COMMIT DROP")
            apart.sql("SELECT pg_terminate_backend(%s, 5000)", [await tx.fetch_value("SELECT pg_backend_pid()")])
            with pytest.raises(Unavailable):
                await until_lost(tx)

    with pytest.raises(Unavailable):
        apart.run(lost, database_connections=2)


def test_no_row_is_the_problem_that_the_caller_names(apart: Apart) -> None:
    async def none(shared: Resources) -> None:
        async with shared.database.transaction(uuid4()) as tx:
            assert await tx.fetch_one_or_none(Named, "SELECT id, name FROM tenants") is None
            assert await tx.fetch_value("SELECT name FROM tenants") is None
            with pytest.raises(NotFound):
                await tx.fetch_one(Named, "SELECT id, name FROM tenants", missing=NotFound)

    apart.run(none)


def test_a_row_that_does_not_fit_its_struct_is_refused(apart: Apart) -> None:
    async def misfit(shared: Resources) -> None:
        with pytest.raises(ValidationError, match="Expected `str`"):
            async with shared.database.transaction() as tx:
                await tx.fetch_all(Named, "SELECT gen_random_uuid() AS id, 5 AS name")

    apart.run(misfit)
