"""Dead letters' queries: of one tenant by row security, of all of them by the view."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec import Struct

from service.dlq.schema import ARGUMENTS_CHARACTERS, Entries, Entry, EntryNotFound, EntryQuery, Task
from service.platform.unit.context import Context
from service.platform.unit.listing import columns_of, rows_of

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


async def listed(ctx: Context, query: EntryQuery) -> Entries:
    """Some of the entries, the newest first."""
    rows = await rows_of(
        ctx,
        Entry,
        _ENTRY,
        f"{_TABLES[ctx.caller.runs_deployment]} WHERE true",
        {"status": query.status, "task_name": query.task_name, "tenant_id": query.tenant_id},
        order="failed_at DESC, id",
        limit=query.limit,
        offset=query.offset,
    )
    return Entries(*rows, query.limit, query.offset)


async def get(ctx: Context, named: str) -> Entry:
    """An entry by its own identifier or its task's.

    Raises:
        EntryNotFound: there is none that the caller may see.
    """
    table = _TABLES[ctx.caller.runs_deployment]
    sql = f"SELECT {_ENTRY} FROM {table} WHERE (id = %(named)s OR original_task_id = %(named)s) LIMIT 1"
    return await ctx.one(Entry, sql, {"named": named}, missing=EntryNotFound)


async def lock(ctx: Context, dlq_id: str) -> Task:
    """What an entry of the present tenant takes to be done again, locked until the transaction ends.

    Raises:
        EntryNotFound: as `get`.
    """
    sql = f"SELECT {columns_of(Task, dlq_id='id')} FROM dead_letters WHERE id = %s FOR UPDATE"
    return await ctx.one(Task, sql, [dlq_id], missing=EntryNotFound)


async def retried(ctx: Context, dlq_id: str, task_id: str) -> None:
    """The entry's work was given back."""
    sql = """
        UPDATE dead_letters SET status = 'retried', retry_count = retry_count + 1, last_retry_at = now(),
                                retry_task_id = %s WHERE id = %s
    """
    await ctx.execute(sql, [task_id, dlq_id])


async def resolved(ctx: Context, dlq_id: str, notes: str | None) -> datetime:
    """Nothing more is to be done; the moment of that."""
    sql = """
        UPDATE dead_letters SET status = 'resolved', resolved_at = now(), resolution_notes = %s WHERE id = %s
        RETURNING resolved_at
    """
    moment: datetime = await ctx.value(sql, [notes, dlq_id])
    return moment


async def discarded(ctx: Context, dlq_id: str) -> None:
    """The entry is discarded: its work is never given back."""
    await ctx.execute("UPDATE dead_letters SET status = 'discarded' WHERE id = %s", [dlq_id])


class Count(Struct, frozen=True):
    """Entries of one kind of task."""

    task_name: str
    entries: int
    pending: int


async def counts(ctx: Context) -> list[Count]:
    """How many entries there are, by the name of their task."""
    table = _TABLES[ctx.caller.runs_deployment]
    return await ctx.all(
        Count,
        f"""
        SELECT task_name, count(*) AS entries, count(*) FILTER (WHERE status = 'pending_review') AS pending
        FROM {table} GROUP BY task_name ORDER BY task_name
        """,
    )
