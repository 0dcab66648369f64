"""Dead letters' decisions: who sees which, and what giving work back asks of the record that it worked on."""

from __future__ import annotations

from typing import Final

import msgspec
import structlog

from service.dlq import store
from service.dlq.schema import (
    Entry,
    EntryStats,
    NotLifted,
    NotPending,
    Resolution,
    ResolvedEntry,
    Retried,
    RetriesExceeded,
    RetryQuery,
    Task,
)
from service.platform.base.problem import Problem
from service.platform.unit.context import Context
from service.platform.work.jobs import table_of

WARNING_ENTRIES: Final = 10
"""More than these wait for review: critical."""
TASK: Final = ["path", "task_id"]
MOVED_ON: Final = "its record is no longer in the state that the failure left it in"
ELSEWHERE: Final = "work of this kind is not given back: what it left undone is asked for where it was asked for first"

log = structlog.get_logger()


async def _taken(ctx: Context, named: str) -> Task:
    """An entry, locked, in the name of the tenant that it is of."""
    entry: Entry = await store.get(ctx, named)
    if entry.tenant_id != ctx.tenant_id:
        await ctx.act_for(entry.tenant_id)
    task = await store.lock(ctx, entry.dlq_id)
    ctx.concerns("dead_letter", task.dlq_id, task.task_name, task_id=task.original_task_id)
    return task


async def retry(ctx: Context, named: str, query: RetryQuery) -> Retried:
    """Give the work of an entry back to a worker, and its record back to the work, in one transaction.

    Raises:
        EntryNotFound, NotPending, RetriesExceeded, NotLifted: it cannot be.
    """
    task, most = await _taken(ctx, named), ctx.settings.job_retries
    if task.status != "pending_review":
        raise NotPending.at(TASK, f"it is {task.status}")
    if task.retry_count >= most and not query.force:
        raise RetriesExceeded.at(TASK, f"it was given back {task.retry_count} times, the limit is {most}: force it")
    retry_id = await _given_back(ctx, task)
    await store.retried(ctx, task.dlq_id, retry_id)
    ctx.concerns(
        "dead_letter", task.dlq_id, task.task_name,
        task_id=task.original_task_id, retry_task_id=retry_id, force=query.force,
    )  # fmt: skip
    message = "The task was given back to a worker."
    return Retried(original_task_id=task.original_task_id, retry_task_id=retry_id, status="retried", message=message)


async def _given_back(ctx: Context, task: Task) -> str:
    job = ctx.resources.once(table_of)().jobs.get(task.task_name)
    if job is None or job.lifted is None:
        raise NotLifted.at(TASK, ELSEWHERE)
    retry_id = await ctx.enqueue(task.task_name, queue=task.queue, arguments=task.arguments)
    try:
        is_lifted = await job.lifted(ctx, task.arguments, retry_id)
    except Problem as refusal:
        if refusal.status >= 500:
            raise
        raise NotLifted.at(TASK, "; ".join([refusal.detail, *(fault.message for fault in refusal.errors)])) from refusal
    if not is_lifted:
        raise NotLifted.at(TASK, MOVED_ON)
    return retry_id


async def resolve(ctx: Context, named: str, body: Resolution) -> ResolvedEntry:
    """Nothing more is to be done for an entry, whatever it was.

    Raises:
        EntryNotFound: there is none that the caller may see.
    """
    task = await _taken(ctx, named)
    moment = await store.resolved(ctx, task.dlq_id, body.resolution_notes)
    return ResolvedEntry(
        task_id=task.original_task_id, status="resolved", resolved_at=moment, resolution_notes=body.resolution_notes
    )


async def discard(ctx: Context, named: str) -> None:
    """An entry's work is never given back.

    Raises:
        EntryNotFound: as `resolve`.
    """
    task = await _taken(ctx, named)
    if task.status == "discarded":
        ctx.changed_nothing()
        return
    await store.discarded(ctx, task.dlq_id)


async def stats(ctx: Context) -> EntryStats:
    """How many of the entries that the caller may see there are."""
    counts = await store.counts(ctx)
    pending = sum(count.pending for count in counts)
    return EntryStats(
        timestamp=ctx.now(),
        total_failures=sum(one.entries for one in counts),
        pending_entries=pending,
        by_task={one.task_name: one.entries for one in counts},
        health="healthy" if pending == 0 else "warning" if pending <= WARNING_ENTRIES else "critical",
    )


async def report(ctx: Context) -> EntryStats:
    """The same, written down: in the log, and in the audit log of the caller's tenant where there is one."""
    told = await stats(ctx)
    figures = msgspec.to_builtins(told)
    del figures["timestamp"]
    log.info("dead_letters.reported", **figures)
    if ctx.caller.system and ctx.caller.runs_deployment:
        ctx.changed_nothing()
    else:
        ctx.concerns("dead_letter", ctx.tenant, None, **figures)
    return told
