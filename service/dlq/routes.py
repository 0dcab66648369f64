"""The dead letters' rows."""

from __future__ import annotations

from service.dlq import actions, schema, store
from service.platform.route.api import Area
from service.platform.unit.context import Context

area = Area("/api/v1/dlq", tag="dlq")
ADMIN = {"access": "role:admin", "everywhere": True}


@area.get("/entries", **ADMIN)
async def list_dead_letters(ctx: Context, query: schema.EntryQuery) -> schema.Entries:
    """List background tasks that failed for good, the newest first.

    Operators of the deployment see those of all tenants.
    """
    return await store.read_page(ctx, query)


@area.get("/entries/{task_id}", errors=(schema.EntryNotFound,), **ADMIN)
async def get_dead_letter(ctx: Context, task_id: str) -> schema.Entry:
    """Give a dead letter, by its own identifier or its task's."""
    return await store.get(ctx, task_id)


@area.post(
    "/entries/{task_id}/retry",
    errors=(schema.EntryNotFound, schema.NotPending, schema.RetriesExceeded, schema.NotLifted),
    event="dead_letter.retried",
    **ADMIN,
)
async def retry_dead_letter(ctx: Context, task_id: str, query: schema.RetryQuery) -> schema.Retried:
    """Give the work back to a worker.

    The record that it worked on leaves its error state.
    """
    return await actions.retry(ctx, task_id, query)


@area.post("/entries/{task_id}/resolve", errors=(schema.EntryNotFound,), event="dead_letter.resolved", **ADMIN)
async def resolve_dead_letter(ctx: Context, task_id: str, body: schema.Resolution) -> schema.ResolvedEntry:
    """Record that nothing more is to be done, and why."""
    return await actions.resolve(ctx, task_id, body)


@area.delete("/entries/{task_id}", errors=(schema.EntryNotFound,), event="dead_letter.discarded", **ADMIN)
async def discard_dead_letter(ctx: Context, task_id: str) -> None:
    """Discard a dead letter for good.

    Its work is never given back.
    """
    await actions.discard(ctx, task_id)


@area.get("/stats", **ADMIN, summary="Count dead letters")
async def dead_letter_stats(ctx: Context) -> schema.EntryStats:
    """Count the dead letters, and say whether that is healthy."""
    return await actions.stats(ctx)


@area.post("/report", event="dead_letter.reported", **ADMIN)
async def report_dead_letters(ctx: Context) -> schema.EntryStats:
    """Write the figures of the statistics into the log and the audit log."""
    return await actions.report(ctx)
