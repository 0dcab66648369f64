"""High-rate events: through a Redis stream, by a worker, into the audit log.

An event is on the stream before the answer goes out.

Redis is not trusted: an entry is signed, and one that is not becomes no audit row. Nor does it keep what it is given:
entries are numbered (`numbers`), and what is missing is told.
"""

from __future__ import annotations

import asyncio
import hmac
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
import psycopg
import structlog
from msgspec import Struct, field
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.platform.base.caller import NOBODY
from service.platform.base.problem import Unavailable
from service.platform.base.secrets import new_id
from service.platform.data.audit import APPEND, ChainEntry, encode_entries
from service.platform.events.calls import LOOKS, count, emails_of, write_calls
from service.platform.events.numbers import (
    TIMES_A_GAP,
    EventNumber,
    not_arrived,
    note_arrived,
    numbers_of,
    report_missing,
)
from service.platform.unit.context import Context, Resources, Subject

STREAM = "cushion:events"
GROUP = "audit"
SIGNED = "events"  # the purpose of the key that signs them
MOST_WAITING = 1_000_000  # entries; older ones fall off a stream that nobody drains
BATCH = 500
PAUSE_SECONDS = 0.2  # after a batch that was not full: the next one is worth its round trips and its commit
ABANDONED_MILLISECONDS = 30_000  # an entry that a consumer took so long ago is handed to the next one
CLAIM_SECONDS = 3.0  # between two looks for such entries

log = structlog.get_logger()
_encode = msgspec.json.Encoder().encode


class Event(Struct, frozen=True, kw_only=True):
    """Something that happened in a tenant, on its way to the audit log."""

    id: UUID = field(default_factory=new_id)
    """The audit row's, however often the event arrives."""
    occurred_at: datetime
    tenant_id: UUID
    action: str
    """entity.verb"""
    request_id: str
    user_id: UUID | None = None
    user_email: str | None = None
    """Looked up on the way where only the user is known."""
    api_key_id: UUID | None = None
    ip_address: str | None = None
    user_agent: str | None = None
    subject: Subject | None = None
    counted: bool = False
    """Whether it is counted with others of its kind: see `calls`."""


class Sent(Struct, frozen=True):
    """An event with its place among those of its process, as the stream carries it."""

    event: Event
    place: EventNumber


def event_of(ctx: Context, action: str, *, counted: bool = False) -> Event:
    """Return the event of a request: who called from where about which record."""
    caller = ctx.caller
    return Event(
        occurred_at=ctx.now(),
        tenant_id=caller.tenant_id,
        action=action,
        request_id=ctx.request_id,
        user_id=caller.user_id if caller.user_id != NOBODY else None,
        user_email=caller.email,
        api_key_id=caller.api_key_id,
        ip_address=ctx.ip_address,
        user_agent=ctx.user_agent,
        subject=ctx.subject,
        counted=counted,
    )


def number_event(resources: Resources, event: Event) -> Sent:
    """Give an event its place among those of its process."""
    return Sent(event, numbers_of(resources).next(event.tenant_id))


def command_of(resources: Resources, sent: Sent) -> tuple[Any, ...]:
    """Return the command that puts an event on the stream."""
    raw = _encode(sent)
    signature = resources.vault.sign(SIGNED, raw)
    return "XADD", STREAM, "MAXLEN", "~", MOST_WAITING, "*", "event", raw, "signature", signature


async def publish(resources: Resources, event: Event) -> None:
    """Put an event on the stream; where Redis does not take it, into the audit log.

    Once this returns, a crash of this process loses nothing.

    Raises:
        Unavailable: neither takes it; it is logged.
    """
    await publish_numbered(resources, number_event(resources, event))


async def publish_numbered(resources: Resources, sent: Sent) -> None:
    """Do the same with an event that has its place, which is written once."""
    event = sent.event
    try:
        if not resources.breaker.away:  # else every caller would wait for Redis to be silent again
            await resources.events(*command_of(resources, sent))
            return
    except Exception as error:
        log.warning("event.written_directly", action=event.action, request_id=event.request_id, error=repr(error))
    try:
        await _write(resources, event.tenant_id, [sent])
    except Exception as error:
        log.error("event.lost", lost=msgspec.to_builtins(event), error=repr(error))
        raise Unavailable from error


async def drain(resources: Resources, consumer: str, *, claiming: bool = True, block_milliseconds: int = 1000) -> int:
    """Move a batch from the stream into the audit log; return how many events.

    `claiming`: what another consumer left comes first. An entry is acknowledged after its commit, so a crash in between
    hands it out again; the audit row has the event's identifier, so it is written once.
    """
    try:
        entries = await _read(resources.redis, consumer, claiming, block_milliseconds)
    except ResponseError as error:
        if "NOGROUP" not in str(error):
            raise
        await resources.redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        return 0
    by_tenant: dict[UUID, list[tuple[bytes, Sent]]] = {}
    refused: list[bytes] = []
    for entry_id, fields in entries:
        sent = _verify(resources, fields)
        if sent is None:
            refused.append(entry_id)
        else:
            by_tenant.setdefault(sent.event.tenant_id, []).append((entry_id, sent))
    if refused:  # must not stand in the way of all that follow
        log.error("events.refused", entries=len(refused), first=refused[0].decode())
        await _acknowledge(resources.redis, refused)
    for tenant_id, events in by_tenant.items():
        try:
            await _write_all(resources, tenant_id, [sent for _, sent in events])
        except Unavailable:
            raise
        except Exception as error:  # one tenant's fault keeps no other back; these are handed out again later
            log.error("events.write_failed", tenant_id=tenant_id, events=len(events), error=repr(error))
            continue
        await _acknowledge(resources.redis, [entry_id for entry_id, _ in events])
    return len(entries)


async def _read(redis: Redis, consumer: str, claiming: bool, block_milliseconds: int) -> list[tuple[bytes, Any]]:
    if claiming:
        claimed = await redis.xautoclaim(STREAM, GROUP, consumer, min_idle_time=ABANDONED_MILLISECONDS, count=BATCH)
        entries = [entry for entry in claimed[1] if entry[0] is not None]  # Redis 6 gives trimmed entries as nothing
        if entries:
            return entries
    answer = await redis.xreadgroup(GROUP, consumer, {STREAM: ">"}, count=BATCH, block=block_milliseconds)
    return list(answer[0][1]) if answer else []


async def waiting_since(resources: Resources) -> datetime | None:
    """Return when the oldest event came that no worker is done with."""
    oldest = await resources.redis.xrange(STREAM, count=1)
    return datetime.fromtimestamp(int(oldest[0][0].partition(b"-")[0]) / 1000, UTC) if oldest else None


def _verify(resources: Resources, fields: dict[bytes, bytes]) -> Sent | None:
    """Return the event of an entry; None where this deployment has not signed it."""
    raw = fields.get(b"event", b"")
    if not hmac.compare_digest(fields.get(b"signature", b""), resources.vault.sign(SIGNED, raw)):
        return None
    try:
        return msgspec.json.decode(raw, type=Sent)
    except msgspec.DecodeError:  # another version's
        return None


async def _acknowledge(redis: Redis, entry_ids: list[bytes]) -> None:
    async with redis.pipeline() as pipe:
        pipe.xack(STREAM, GROUP, *entry_ids)
        pipe.xdel(STREAM, *entry_ids)
        await pipe.execute()


async def _write_all(resources: Resources, tenant_id: UUID, events: list[Sent]) -> None:
    """Write a batch; an event that the database cannot hold does not stop the others."""
    try:
        await _write(resources, tenant_id, events)
    except psycopg.DataError as error:
        if len(events) == 1:
            log.error("event.lost", lost=msgspec.to_builtins(events[0].event), error=repr(error))
            return
        for event in events:
            await _write_all(resources, tenant_id, [event])


async def _write(resources: Resources, tenant_id: UUID, events: list[Sent]) -> None:
    alone = [sent.event for sent in events if not sent.event.counted]
    many = [sent for sent in events if sent.event.counted]
    async with resources.database.transaction(tenant_id) as tx:
        emails = await emails_of(tx, {event.user_id for event in alone if event.user_email is None})
        fresh = await not_arrived(tx, tenant_id, [sent.place for sent in many]) if many else set()
        counted = {sent.place: sent.event for sent in many if sent.place in fresh}  # one may be twice in a batch
        await count(tx, tenant_id, counted.values(), resources.settings.calls_together_seconds)
        await note_arrived(tx, tenant_id, [sent.place for sent in events])
        if alone:
            await tx.execute(APPEND, [tenant_id, encode_entries([_entry(event, emails) for event in alone])])


def _entry(event: Event, emails: dict[UUID | None, str]) -> ChainEntry:
    subject = event.subject
    return ChainEntry(
        id=event.id,
        occurred_at=event.occurred_at,
        user_id=event.user_id,
        user_email=event.user_email or emails.get(event.user_id),
        api_key_id=event.api_key_id,
        action=event.action,
        resource_type=subject.type if subject else None,
        resource_id=subject.id if subject else None,
        resource_name=subject.name if subject else None,
        ip_address=event.ip_address,
        user_agent=event.user_agent,
        request_id=event.request_id,
        details=msgspec.Raw(msgspec.json.encode(subject.details if subject else {})),
    )


async def drain_forever(resources: Resources, consumer: str, stopping: asyncio.Event) -> None:
    """Drain until the process stops; in between report counts and missing events."""
    loop = asyncio.get_running_loop()
    look_at = count_at = claim_at = 0.0
    while not stopping.is_set():
        try:
            if loop.time() >= count_at:  # without Redis, too
                await write_calls(resources)
                count_at = loop.time() + resources.settings.calls_together_seconds / LOOKS
            claiming = loop.time() >= claim_at
            drained = await drain(resources, consumer, claiming=claiming)
            if claiming and drained < BATCH:  # else there may be more of it
                claim_at = loop.time() + CLAIM_SECONDS
            if drained < BATCH and loop.time() >= look_at:  # else much waits, and is not missing
                await report_missing(resources, await waiting_since(resources))
                look_at = loop.time() + resources.settings.event_gap_seconds / TIMES_A_GAP
            if 0 < drained < BATCH:
                await asyncio.sleep(PAUSE_SECONDS)
        except Exception as error:
            log.warning("events.drain_failed", error=repr(error))
            await asyncio.sleep(1)
