"""Calls that come by the thousand, counted by caller, record and minute.

A minute becomes one entry of the audit log.

The counts are in PostgreSQL, in the transaction that notes which events arrived: one that arrives twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec
import structlog
from msgspec import Struct

from service.platform.base.problem import Unavailable
from service.platform.base.secrets import new_id
from service.platform.data.audit import APPEND, ChainEntry, encode_entries
from service.platform.data.database import Transaction
from service.platform.unit.context import Resources, Unit

if TYPE_CHECKING:
    from service.platform.events.stream import Event

LATE_SECONDS: Final = 1.0
"""For which the calls of a minute that is over may still be on their way; what comes later is another entry."""
LOOKS: Final = 10
"""For ended minutes, in the time that is counted together."""
ADDRESSES_MAX: Final = 10
"""That an entry names."""

log = structlog.get_logger()

_COUNT: Final = """
    INSERT INTO calls AS known (
        tenant_id, since, action, caller, resource_id, user_id, user_email, api_key_id, resource_type, resource_name,
        calls, formulas, first_at, last_at, ip_addresses, user_agent, request_id)
    SELECT %s, since, action, caller, resource_id, user_id, user_email, api_key_id, resource_type, resource_name,
           calls, formulas, first_at, last_at, ip_addresses, user_agent, request_id
    FROM json_populate_recordset(NULL::calls, %s) ORDER BY since, action, caller, resource_id
    ON CONFLICT (tenant_id, since, action, caller, resource_id) DO UPDATE SET
        calls = known.calls + excluded.calls, formulas = known.formulas + excluded.formulas,
        first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at),
        ip_addresses = (ARRAY(SELECT DISTINCT unnest(known.ip_addresses || excluded.ip_addresses)))[:%s],
        user_agent = excluded.user_agent, request_id = excluded.request_id
"""
_ENDED: Final = "DELETE FROM calls WHERE tenant_id = %s AND since < %s RETURNING *"


class Counted(Struct, kw_only=True):
    """The calls of one caller on one record within one stretch of time."""

    since: datetime
    action: str
    caller: str
    resource_id: str
    user_id: UUID | None
    user_email: str | None
    api_key_id: UUID | None
    resource_type: str | None
    resource_name: str | None
    calls: int
    formulas: int
    first_at: datetime
    last_at: datetime
    ip_addresses: list[str]
    user_agent: str | None
    request_id: str | None


async def count(tx: Transaction, tenant_id: UUID, events: Iterable[Event], seconds: int) -> None:
    """Count events of a tenant, `seconds` of them together."""
    groups: dict[tuple[datetime, str, str, str], Counted] = {}
    for event in events:
        group = _group_of(event, seconds)
        key = (group.since, group.action, group.caller, group.resource_id)
        known = groups.setdefault(key, group)
        if known is not group:
            known.calls += 1
            known.formulas += group.formulas
            known.first_at, known.last_at = min(known.first_at, group.first_at), max(known.last_at, group.last_at)
            known.ip_addresses = list(dict.fromkeys(known.ip_addresses + group.ip_addresses))[:ADDRESSES_MAX]
            known.user_agent, known.request_id = group.user_agent, group.request_id
    if groups:
        await tx.execute(_COUNT, [tenant_id, msgspec.json.encode(list(groups.values())).decode(), ADDRESSES_MAX])


def _group_of(event: Event, seconds: int) -> Counted:
    subject, at = event.subject, event.occurred_at
    return Counted(
        since=datetime.fromtimestamp(at.timestamp() // seconds * seconds, UTC),
        action=event.action,
        caller=str(event.api_key_id or event.user_id or event.user_email or ""),
        resource_id=subject.id if subject is not None else "",
        user_id=event.user_id,
        user_email=event.user_email,
        api_key_id=event.api_key_id,
        resource_type=subject.type if subject is not None else None,
        resource_name=subject.name if subject is not None else None,
        calls=1,
        formulas=int(subject.details.get("formulas", 0)) if subject is not None else 0,
        first_at=at,
        last_at=at,
        ip_addresses=[event.ip_address] if event.ip_address is not None else [],
        user_agent=event.user_agent,
        request_id=event.request_id,
    )


async def write_calls(resources: Resources) -> None:
    """Write audit entries for the counts of minutes that are over."""
    seconds = resources.settings.calls_together_seconds + LATE_SECONDS
    before = resources.clock.now() - timedelta(seconds=seconds)
    tenants = await resources.database.look(_Tenant, "SELECT calls_before(%s) AS tenant_id", [before])
    for tenant in tenants:
        try:
            await _write_entries(resources, tenant.tenant_id, before)
        except Unavailable:
            raise
        except Exception as error:  # one tenant's fault keeps no other back
            log.error("calls.not_written", tenant_id=tenant.tenant_id, error=repr(error))


class _Tenant(Struct):
    tenant_id: UUID


async def _write_entries(resources: Resources, tenant_id: UUID, before: datetime) -> None:
    async with resources.database.transaction(tenant_id) as tx:
        ended = await tx.fetch_all(Counted, _ENDED, [tenant_id, before])
        if ended:  # else another worker was faster
            emails = await emails_of(tx, {group.user_id for group in ended if group.user_email is None})
            await tx.execute(APPEND, [tenant_id, encode_entries([_entry(group, emails) for group in ended])])


async def has_unwritten(unit: Unit, moment: datetime) -> bool:
    """Return whether calls up to a moment are counted that are no audit entries yet."""
    return bool(await unit.fetch_value("SELECT EXISTS (SELECT FROM calls WHERE since <= %s)", [moment]))


def _entry(group: Counted, emails: dict[UUID | None, str]) -> ChainEntry:
    details = {"calls": group.calls, "formulas": group.formulas, "first_at": group.first_at}
    return ChainEntry(
        id=new_id(),
        occurred_at=group.last_at,
        user_id=group.user_id,
        user_email=group.user_email or emails.get(group.user_id),
        api_key_id=group.api_key_id,
        action=group.action,
        resource_type=group.resource_type,
        resource_id=group.resource_id or None,
        resource_name=group.resource_name,
        ip_address=", ".join(group.ip_addresses) or None,  # where an erasure takes them out
        user_agent=group.user_agent,
        request_id=group.request_id,
        details=msgspec.Raw(msgspec.json.encode(details)),
    )


async def emails_of(tx: Transaction, wanted: set[UUID | None]) -> dict[UUID | None, str]:
    """Return the e-mails of users of whom only the identifier is known."""
    known = [user_id for user_id in wanted if user_id is not None]
    if not known:
        return {}
    users = await tx.fetch_all(_Email, "SELECT id, email FROM users WHERE id = ANY(%s)", [known])
    return {user.id: user.email for user in users}


class _Email(Struct):
    id: UUID
    email: str
