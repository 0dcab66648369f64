"""High-rate events: out through a Redis stream after the answer, drained into the audit log by a worker in batches."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import msgspec
import structlog
from msgspec import Struct
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from service.platform.context import Context, Resources, Subject, Unit

STREAM = "cushion:events"
GROUP = "audit"
MOST_WAITING = 1_000_000  # entries; older ones fall off a stream that nobody drains
BATCH = 500
PAUSE_SECONDS = 0.2  # after a batch that was not full: the next one is worth its round trips and its commit
ABANDONED_MILLISECONDS = 30_000  # an entry that a consumer took so long ago is handed to the next one

log = structlog.get_logger()


class _Event(Struct):
    tenant_id: UUID
    action: str
    request_id: str
    user_id: UUID | None
    user_email: str | None
    api_key_id: UUID | None
    ip_address: str
    subject: Subject | None


async def publish(ctx: Context, action: str) -> None:
    """Put an event on the stream; one that cannot be put is logged, the answer having gone out already."""
    caller = ctx.caller
    event = _Event(
        caller.tenant_id,
        action,
        ctx.request_id,
        caller.user_id,
        caller.email,
        caller.api_key_id,
        ctx.ip_address,
        ctx.subject,
    )
    try:
        await ctx.resources.events(
            "XADD", STREAM, "MAXLEN", "~", MOST_WAITING, "*", "event", msgspec.json.encode(event)
        )
    except RedisError as error:
        log.error("event.lost", action=action, request_id=ctx.request_id, error=type(error).__name__)


async def drain(resources: Resources, consumer: str, *, block_milliseconds: int = 1000) -> int:
    """Move one batch from the stream into the audit log; how many events it held.

    An entry is acknowledged after its commit, so a crash in between hands it out again; the audit row's identifier
    comes from the entry's own, so it is written once.
    """
    redis = resources.redis
    try:
        claimed = await redis.xautoclaim(STREAM, GROUP, consumer, min_idle_time=ABANDONED_MILLISECONDS, count=BATCH)
        entries = [
            entry for entry in claimed[1] if entry[0] is not None
        ]  # Redis 6 hands out trimmed entries as nothing
        if not entries:
            answer = await redis.xreadgroup(GROUP, consumer, {STREAM: ">"}, count=BATCH, block=block_milliseconds)
            entries = answer[0][1] if answer else []
    except ResponseError as error:
        if "NOGROUP" not in str(error):
            raise
        await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        return 0
    by_tenant: dict[UUID, list[tuple[bytes, _Event]]] = {}
    for entry_id, fields in entries:
        try:
            event = msgspec.json.decode(fields[b"event"], type=_Event)
        except (KeyError, msgspec.DecodeError) as error:  # must not stand in the way of all that follow
            log.error("event.unreadable", entry=entry_id.decode(), error=type(error).__name__)
            await _done(redis, [entry_id])
            continue
        by_tenant.setdefault(event.tenant_id, []).append((entry_id, event))
    for tenant_id, events in by_tenant.items():
        await _write(resources, tenant_id, events)
        await _done(redis, [entry_id for entry_id, _ in events])
    return len(entries)


async def _done(redis: Redis, entry_ids: list[bytes]) -> None:
    async with redis.pipeline() as pipe:
        pipe.xack(STREAM, GROUP, *entry_ids)
        pipe.xdel(STREAM, *entry_ids)
        await pipe.execute()


async def _write(resources: Resources, tenant_id: UUID, events: list[tuple[bytes, _Event]]) -> None:
    unit = Unit(resources, tenant_id, request_id="stream")
    try:
        await unit.execute(
            _AUDIT_ALL, [tenant_id, msgspec.json.encode([_row(tenant_id, *one) for one in events]).decode()]
        )
        await unit.commit()
    except BaseException as error:
        await unit.rollback(error)
        raise


def _row(tenant_id: UUID, entry_id: bytes, event: _Event) -> dict[str, Any]:
    milliseconds = int(entry_id.partition(b"-")[0])
    subject = event.subject
    return {
        "id": uuid5(tenant_id, entry_id.decode()),
        "occurred_at": datetime.fromtimestamp(milliseconds / 1000, UTC),
        "user_id": event.user_id,
        "user_email": event.user_email,
        "api_key_id": event.api_key_id,
        "action": event.action,
        "resource_type": subject.type if subject else None,
        "resource_id": subject.id if subject else None,
        "resource_name": subject.name if subject else None,
        "ip_address": event.ip_address,
        "request_id": event.request_id,
        "details": subject.details if subject else {},
    }


# One statement for a batch: row by row it took more of the machine than the requests that the events tell of.
_AUDIT_ALL = """
INSERT INTO audit_log (tenant_id, id, occurred_at, user_id, user_email, api_key_id,
                       action, resource_type, resource_id, resource_name, ip_address, request_id, details)
SELECT %s, e.* FROM jsonb_to_recordset(%s::jsonb) AS e (
    id uuid, occurred_at timestamptz, user_id uuid, user_email text, api_key_id uuid,
    action text, resource_type text, resource_id text, resource_name text, ip_address text, request_id text,
    details jsonb)
ON CONFLICT (tenant_id, id) DO NOTHING
"""


async def drain_forever(resources: Resources, consumer: str, stopping: asyncio.Event) -> None:
    """Drain until told to stop, through failures."""
    while not stopping.is_set():
        try:
            if 0 < await drain(resources, consumer) < BATCH:
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception as error:
            log.warning("events.drain_failed", error=repr(error))
            await asyncio.sleep(1)
