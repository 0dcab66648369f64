"""Dead letters' decisions.

Who sees which, and what giving work back asks of the record that it worked on.
"""

from __future__ import annotations

from typing import Final

import msgspec
import structlog

from service.dlq import schema, store
from service.platform.base.problem import Problem
from service.platform.unit.context import Context
from service.platform.work.jobs import table_of

WARNING_ENTRIES: Final = 10
"""More than these wait for review: critical."""
TASK: Final = ["path", "task_id"]
MOVED_ON: Final = "its record is no longer in the state that the failure left it in"
ELSEWHERE: Final = "work of this kind is not given back: what it left undone is asked for where it was asked for first"

log = structlog.get_logger()


async def _take(ctx: Context, name: str) -> schema.Task:
    """Return an entry, locked, in the name of the tenant that it is of."""
    entry: schema.Entry = await store.get(ctx, name)
    if entry.tenant_id != ctx.tenant_id:
        await ctx.act_for(entry.tenant_id)
    task = await store.lock(ctx, entry.dlq_id)
    ctx.set_subject("dead_letter", task.dlq_id, task.task_name, task_id=task.original_task_id)
    return task


async def retry(ctx: Context, name: str, query: schema.RetryQuery) -> schema.Retried:
    """Give work back to a worker, and its record to the work.

    Raises:
        EntryNotFound, NotPending, RetriesExceeded, NotLifted: it cannot be.
    """
    task, most = await _take(ctx, name), ctx.settings.job_retries
    if task.status != "pending_review":
        raise schema.NotPending.at(TASK, f"it is {task.status}")
    if task.retry_count >= most and not query.force:
        raise schema.RetriesExceeded.at(
            TASK, f"it was given back {task.retry_count} times, the limit is {most}: force it"
        )
    retry_id = await _give_back(ctx, task)
    await store.set_retried(ctx, task.dlq_id, retry_id)
    about = {"task_id": task.original_task_id, "retry_task_id": retry_id, "force": query.force}
    ctx.set_subject("dead_letter", task.dlq_id, task.task_name, **about)
    message = "The task was given back to a worker."
    return schema.Retried(
        original_task_id=task.original_task_id, retry_task_id=retry_id, status="retried", message=message
    )


async def _give_back(ctx: Context, task: schema.Task) -> str:
    job = ctx.resources.once(table_of)().jobs.get(task.task_name)
    if job is None or job.on_retry is None:
        raise schema.NotLifted.at(TASK, ELSEWHERE)
    retry_id = await ctx.enqueue(task.task_name, queue=task.queue, arguments=task.arguments)
    try:
        is_accepted = await job.on_retry(ctx, task.arguments, retry_id)
    except Problem as refusal:
        if refusal.status >= 500:
            raise
        raise schema.NotLifted.at(
            TASK, "; ".join([refusal.detail, *(fault.message for fault in refusal.errors)])
        ) from refusal
    if not is_accepted:
        raise schema.NotLifted.at(TASK, MOVED_ON)
    return retry_id


async def resolve(ctx: Context, name: str, body: schema.Resolution) -> schema.ResolvedEntry:
    """Mark an entry as resolved, whatever it was."""
    task = await _take(ctx, name)
    moment = await store.set_resolved(ctx, task.dlq_id, body.resolution_notes)
    return schema.ResolvedEntry(
        task_id=task.original_task_id, status="resolved", resolved_at=moment, resolution_notes=body.resolution_notes
    )


async def discard(ctx: Context, name: str) -> None:
    """Discard an entry: its work is never retried."""
    task = await _take(ctx, name)
    if task.status == "discarded":
        ctx.skip_event()
        return
    await store.set_discarded(ctx, task.dlq_id)


async def stats(ctx: Context) -> schema.EntryStats:
    """Return how many of the entries that the caller may see there are."""
    counts = await store.counts(ctx)
    pending = sum(count.pending for count in counts)
    return schema.EntryStats(
        timestamp=ctx.now(),
        total_failures=sum(count.entries for count in counts),
        pending_entries=pending,
        by_task={count.task_name: count.entries for count in counts},
        health="healthy" if pending == 0 else "warning" if pending <= WARNING_ENTRIES else "critical",
    )


async def report(ctx: Context) -> schema.EntryStats:
    """Return the counts, and write them to the logs.

    To the audit log of the caller's tenant, where there is one.
    """
    totals = await stats(ctx)
    figures = msgspec.to_builtins(totals)
    del figures["timestamp"]
    log.info("dead_letters.reported", **figures)
    if ctx.caller.system and ctx.caller.runs_deployment:
        ctx.skip_event()
    else:
        ctx.set_subject("dead_letter", ctx.tenant, None, **figures)
    return totals
