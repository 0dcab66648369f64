"""Dead letters' queries: of a tenant by row security, of all by the view."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from service.dlq.schema import ARGUMENTS_CHARACTERS, Entries, Entry, EntryNotFound, EntryQuery, Task
from service.platform.unit.context import Context
from service.platform.unit.listing import columns_of, fetch_slice

_TABLES: Final = {False: "dead_letters", True: "every_dead_letter"}
"""By whether the caller runs the deployment."""
_TEXT: Final = "arguments::text"
_ENTRY: Final = columns_of(
    Entry,
    dlq_id="id",
    task_args="'[]'",
    task_kwargs=f"CASE WHEN length({_TEXT}) <= {ARGUMENTS_CHARACTERS} THEN {_TEXT}"
    f" ELSE left({_TEXT}, {ARGUMENTS_CHARACTERS}) || '…' END",
    exception="json_build_object('type', exception_type, 'message', exception_message, 'traceback', traceback)",
    processed_at="failed_at",
)


async def read_page(ctx: Context, query: EntryQuery) -> Entries:
    """Return some of the entries, the newest first."""
    rows = await fetch_slice(
        ctx,
        Entry,
        _ENTRY,
        f"{_TABLES[ctx.caller.runs_deployment]} WHERE true",
        {"status": query.status, "task_name": query.task_name, "tenant_id": query.tenant_id},
        order="failed_at DESC, id",
        part=(query.limit, query.offset),
    )
    return Entries(*rows, query.limit, query.offset)


async def get(ctx: Context, name: str) -> Entry:
    """Return an entry by its own identifier or its task's."""
    table = _TABLES[ctx.caller.runs_deployment]
    sql = f"SELECT {_ENTRY} FROM {table} WHERE (id = %(named)s OR original_task_id = %(named)s) LIMIT 1"
    return await ctx.fetch_one(Entry, sql, {"named": name}, missing=EntryNotFound)


async def lock(ctx: Context, dlq_id: str) -> Task:
    """Lock an entry of the tenant; return what a retry needs."""
    sql = f"SELECT {columns_of(Task, dlq_id='id')} FROM dead_letters WHERE id = %s FOR UPDATE"
    return await ctx.fetch_one(Task, sql, [dlq_id], missing=EntryNotFound)


async def set_retried(ctx: Context, dlq_id: str, task_id: str) -> None:
    """Mark an entry as retried."""
    sql = """
        UPDATE dead_letters SET status = 'retried', retry_count = retry_count + 1, last_retry_at = now(),
                                retry_task_id = %s WHERE id = %s
    """
    await ctx.execute(sql, [task_id, dlq_id])


async def set_resolved(ctx: Context, dlq_id: str, notes: str | None) -> datetime:
    """Mark an entry as resolved; return the moment."""
    sql = """
        UPDATE dead_letters SET status = 'resolved', resolved_at = now(), resolution_notes = %s WHERE id = %s
        RETURNING resolved_at
    """
    moment: datetime = await ctx.fetch_value(sql, [notes, dlq_id])
    return moment


async def set_discarded(ctx: Context, dlq_id: str) -> None:
    """Mark an entry as discarded: its work is never retried."""
    await ctx.execute("UPDATE dead_letters SET status = 'discarded' WHERE id = %s", [dlq_id])


class Count(Struct, frozen=True):
    """Entries of one kind of task."""

    task_name: str
    entries: int
    pending: int


async def counts(ctx: Context) -> list[Count]:
    """Return how many entries there are, by the name of their task."""
    table = _TABLES[ctx.caller.runs_deployment]
    return await ctx.fetch_all(
        Count,
        f"""
        SELECT task_name, count(*) AS entries, count(*) FILTER (WHERE status = 'pending_review') AS pending
        FROM {table} GROUP BY task_name ORDER BY task_name
        """,
    )
