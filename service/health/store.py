"""Health's queries.

Of the whole deployment, in transactions of no tenant, but for what an operator changes.
"""

from __future__ import annotations

from msgspec import Struct

from service.platform.access.switches import State
from service.platform.data.migrations import load_scripts
from service.platform.unit.context import Context, Resources
from service.platform.unit.records import to_json
from service.platform.work.queues import LISTENER

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
        rows = await tx.fetch_all(_Depth, "SELECT queue, depth FROM queue_depths()")
    return {row.queue: row.depth for row in rows}


async def missing_migrations(resources: Resources) -> int:
    """Return how many of this version's migrations the database does not have."""
    async with resources.database.transaction() as tx:
        applied = await tx.fetch_value("SELECT array_agg(name) FROM migrations")
    return len(load_scripts().keys() - set(applied or ()))


async def workers(resources: Resources) -> int:
    """Workers that are connected, by the connection that each hears of new jobs on."""
    async with resources.database.transaction() as tx:
        count = await tx.fetch_value("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [LISTENER])
    return int(count)


async def lock_switches(ctx: Context) -> State:
    """Lock all switches until the transaction ends, and return them."""
    state = await ctx.fetch_one_or_none(State, "SELECT version, maintenance, flags FROM switches FOR UPDATE")
    assert state is not None, "the row is there from the migration on"
    return state


async def write_switches(ctx: Context, state: State) -> None:
    """Set all switches as a new version, and wake the workers."""
    await ctx.execute(
        "UPDATE switches SET version = version + 1, maintenance = %s, flags = %s",
        [
            to_json(state.maintenance) if state.maintenance else None,
            to_json(state.flags),
        ],
    )
    await ctx.execute("SELECT pg_notify('cushion_jobs', '')")


async def tenants_called(ctx: Context, names: list[str]) -> dict[str, str]:
    """Return identifiers of tenants by identifier or slug."""
    rows = await ctx.fetch_all(_Called, "SELECT name, id::text FROM tenants_called(%s)", [names])
    return {row.name: row.id for row in rows}


async def slugs_beginning(ctx: Context, beginning: str) -> list[str]:
    """Return some slugs that begin like this."""
    slugs = await ctx.fetch_value("SELECT array_agg(slug) FROM slugs_beginning(%s, %s) AS slug", [beginning, SLUGS_MAX])
    return list(slugs or ())
