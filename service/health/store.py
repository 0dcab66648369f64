"""Health's queries: of the whole deployment, in transactions of no tenant, but for what an operator changes."""

from __future__ import annotations

from importlib import resources as files

import msgspec
from msgspec import Struct

from service.platform.access.switches import State
from service.platform.unit.context import Context, Resources
from service.platform.work.jobs import LISTENER

SLUGS_MAX = 1_000
"""Slugs among which a misspelt one is looked for."""


class _Depth(Struct):
    queue: str
    depth: int


class _Called(Struct):
    name: str
    id: str


async def queue_depths(resources: Resources) -> dict[str, int]:
    """Jobs that wait, by queue; a queue where none waits is absent."""
    async with resources.database.transaction() as tx:
        rows = await tx.all(_Depth, "SELECT queue, depth FROM queue_depths()")
    return {row.queue: row.depth for row in rows}


async def missing_migrations(resources: Resources) -> int:
    """How many of this version's migrations the database does not have."""
    known = {entry.name for entry in files.files("service.migrations").iterdir() if entry.name.endswith(".sql")}
    async with resources.database.transaction() as tx:
        applied = await tx.value("SELECT array_agg(name) FROM migrations")
    return len(known.difference(applied or ()))


async def workers(resources: Resources) -> int:
    """Workers that are connected, by the connection that each hears of new jobs on."""
    async with resources.database.transaction() as tx:
        found = await tx.value("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [LISTENER])
    return int(found)


async def lock_switches(ctx: Context) -> State:
    """All switches; nobody else changes them before the transaction ends."""
    found = await ctx.one_or_none(State, "SELECT version, maintenance, flags FROM switches FOR UPDATE")
    assert found is not None, "the row is there from the migration on"
    return found


async def write_switches(ctx: Context, state: State) -> None:
    """Set all switches, in another version, and wake the workers, who may have waited for that."""
    await ctx.execute(
        "UPDATE switches SET version = version + 1, maintenance = %s, flags = %s",
        [
            msgspec.json.encode(state.maintenance).decode() if state.maintenance else None,
            msgspec.json.encode(state.flags).decode(),
        ],
    )
    await ctx.execute("SELECT pg_notify('cushion_jobs', '')")


async def tenants_called(ctx: Context, names: list[str]) -> dict[str, str]:
    """Identifiers of tenants by what they were called: the identifier itself, or the slug."""
    rows = await ctx.all(_Called, "SELECT name, id::text FROM tenants_called(%s)", [names])
    return {row.name: row.id for row in rows}


async def slugs_beginning(ctx: Context, beginning: str) -> list[str]:
    """Some slugs that begin like this."""
    found = await ctx.value("SELECT array_agg(slug) FROM slugs_beginning(%s, %s) AS slug", [beginning, SLUGS_MAX])
    return list(found or ())
