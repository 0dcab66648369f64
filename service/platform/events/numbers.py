"""Numbers of events by process: one that is lost on its way leaves a gap.

A process counts for each tenant from 1 on, and tells PostgreSQL how far it has counted. The drain notes what arrived;
what has not for a while becomes an entry in the tenant's audit log.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Final
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from service.platform.base.problem import Unavailable
from service.platform.base.secrets import new_id
from service.platform.data.audit import APPEND, ChainEntry, encode_entries
from service.platform.data.database import Transaction
from service.platform.unit.context import Resources

MOST_TENANTS = 10_000
"""That a process keeps count of; the one that was silent for longest begins anew, as another source."""
TIMES_A_GAP = 12
"""How often counts are reported, and gaps looked for, within the time that an event may be missing."""
GAPS_TOLD = 100
MISSING: Final = "audit.events_missing"

_ARRIVED: Final = """
    INSERT INTO event_numbers AS known (tenant_id, source, highest, arrived)
    SELECT %s, source, max(number), range_agg(int8range(number, number, '[]'))
    FROM unnest(%s::uuid[], %s::bigint[]) AS given (source, number)
    GROUP BY source ORDER BY source
    ON CONFLICT (tenant_id, source) DO UPDATE
    SET highest = greatest(known.highest, excluded.highest),
        arrived = known.arrived + excluded.arrived, changed_at = now()
"""
_NOT_ARRIVED: Final = """
    SELECT source, number FROM unnest(%s::uuid[], %s::bigint[]) AS given (source, number)
    WHERE NOT EXISTS (SELECT FROM event_numbers n
                      WHERE n.tenant_id = %s AND n.source = given.source AND n.arrived @> given.number)
"""
_TAKE_MISSING: Final = """
    WITH found AS (
        SELECT tenant_id, source, suspect - arrived AS lost FROM event_numbers
        WHERE tenant_id = %s AND source = %s FOR UPDATE
    ), told AS (
        UPDATE event_numbers n SET arrived = n.arrived + found.lost, suspect = '{}', suspect_at = NULL
        FROM found WHERE n.tenant_id = found.tenant_id AND n.source = found.source
    )
    SELECT lower(gap) AS first, upper(gap) - 1 AS last FROM found, unnest(found.lost) AS gap ORDER BY 1
"""

log = structlog.get_logger()


class EventNumber(Struct, frozen=True):
    """The number of an event among its tenant's, in its process."""

    source: UUID
    number: int


class _Count(Struct):
    tenant_id: UUID
    source: UUID
    highest: int = 0
    reported: int = 0
    void: list[int] = []
    """Of requests that were refused after all. No event takes them again: one may be on its way."""


class Numbers:
    """The counts of this process."""

    def __init__(self) -> None:
        self._counts: OrderedDict[UUID, _Count] = OrderedDict()
        self._untold: list[_Count] = []
        """Of tenants that it keeps no count of any more."""

    def next(self, tenant_id: UUID) -> EventNumber:
        """Return the number of a tenant's next event."""
        count = self._counts.get(tenant_id)
        if count is None:
            count = self._counts[tenant_id] = _Count(tenant_id, new_id())
            if len(self._counts) > MOST_TENANTS:
                self._untold.append(self._counts.popitem(last=False)[1])
        self._counts.move_to_end(tenant_id)
        count.highest += 1
        return EventNumber(count.source, count.highest)

    def withdraw(self, tenant_id: UUID, place: EventNumber) -> None:
        """Take back the number of an event that did not come about."""
        for count in (self._counts.get(tenant_id), *self._untold):
            if count is not None and count.source == place.source:
                count.void.append(place.number)

    async def report(self, resources: Resources) -> None:
        """Report to PostgreSQL how far this process has counted.

        Raises:
            Unavailable: it is to be reported again.
        """
        await self._note_void(resources)
        left, self._untold = self._untold, []
        changed = [
            (count, count.highest) for count in (*left, *self._counts.values()) if count.highest > count.reported
        ]
        if not changed:
            return
        rows = [{"tenant_id": count.tenant_id, "source": count.source, "highest": number} for count, number in changed]
        try:
            async with resources.database.transaction() as tx:
                await tx.execute("SELECT tell_event_numbers(%s)", [msgspec.json.encode(rows).decode()])
        except BaseException:
            self._untold += left
            raise
        for count, number in changed:
            count.reported = number

    async def _note_void(self, resources: Resources) -> None:
        """Note numbers that no event has as arrived: nothing is missing."""
        for count in [count for count in (*self._untold, *self._counts.values()) if count.void]:
            numbers = count.void[:]
            async with resources.database.transaction(count.tenant_id) as tx:
                await note_arrived(tx, count.tenant_id, [EventNumber(count.source, number) for number in numbers])
            del count.void[: len(numbers)]


def _numbers(resources: Resources) -> Numbers:
    return Numbers()


def numbers_of(resources: Resources) -> Numbers:
    """Return the counts of this process."""
    return resources.once(_numbers)


@asynccontextmanager
async def report_counts(resources: Resources) -> AsyncIterator[None]:
    """Report the counts now and then, and at the end."""
    task = asyncio.create_task(_report_forever(resources))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        with suppress(Unavailable):
            await numbers_of(resources).report(resources)


async def _report_forever(resources: Resources) -> None:
    while True:
        await asyncio.sleep(resources.settings.event_gap_seconds / TIMES_A_GAP)
        try:
            await numbers_of(resources).report(resources)
        except Exception as error:
            log.warning("events.not_reported", error=repr(error))


async def note_arrived(tx: Transaction, tenant_id: UUID, numbers: list[EventNumber]) -> None:
    """Note that events are in the audit log, in the transaction that writes them."""
    await tx.execute(_ARRIVED, [tenant_id, [event.source for event in numbers], [event.number for event in numbers]])


async def not_arrived(tx: Transaction, tenant_id: UUID, numbers: list[EventNumber]) -> set[EventNumber]:
    """Return those of these events that are not noted yet, under the tenant's lock."""
    await tx.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"events {tenant_id}"])
    parameters = [[event.source for event in numbers], [event.number for event in numbers], tenant_id]
    return set(await tx.fetch_all(EventNumber, _NOT_ARRIVED, parameters))


async def report_missing(resources: Resources, waiting_since: datetime | None) -> None:
    """Write audit entries for events that have been missing for too long.

    `waiting_since`: when the oldest event came that still waits to be drained; what may be among those is not missing.
    """
    figures = [resources.settings.event_gap_seconds, waiting_since]
    ripe = await resources.database.look(_Source, "SELECT * FROM suspect_events(%s, %s)", figures)
    for source in ripe:
        async with resources.database.transaction(source.tenant_id) as tx:
            gaps = await tx.fetch_all(_Gap, _TAKE_MISSING, [source.tenant_id, source.source])
            if not gaps:  # another worker was faster
                continue
            missing = sum(gap.last - gap.first + 1 for gap in gaps)
            log.error("events.missing", tenant_id=source.tenant_id, source=source.source, missing=missing)
            details = {"missing": missing, "gaps": [[gap.first, gap.last] for gap in gaps[:GAPS_TOLD]]}
            entry = ChainEntry(
                id=new_id(),
                occurred_at=resources.clock.now(),
                action=MISSING,
                resource_type="process",
                resource_id=str(source.source),
                details=msgspec.Raw(msgspec.json.encode(details)),
            )
            await tx.execute(APPEND, [source.tenant_id, encode_entries([entry])])


class _Source(Struct):
    tenant_id: UUID
    source: UUID


class _Gap(Struct):
    first: int
    last: int
