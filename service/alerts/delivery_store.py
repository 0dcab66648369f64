"""Alerts' deliveries: queries.

Those of one channel of one alert stand in a line. Its first has a job; whoever ends it makes the job of the next one.
Whatever adds to a line or takes its first away holds the alert's row, so that none is left without a job.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from service.alerts.schema import AlertNotFound, DeliveryStatus
from service.auth.tenant_schema import TenantSettings
from service.platform.unit.context import Unit
from service.platform.work.attempt import TRIED, Attempt, attempt_parameters

FAULT: Final = "a fault in the service"
"""Why one failed where no attempt says it."""


class DeliveryLine(Struct, frozen=True, kw_only=True):
    """The first delivery that waits for a channel."""

    id: UUID
    alert_id: UUID
    channel_id: UUID


class EarlierAttempt(Struct, frozen=True):
    """What counts of an earlier attempt."""

    refusal: str | None = None
    left: list[str] | None = None


class DueDelivery(Struct, frozen=True, kw_only=True):
    """A delivery, and what it is to say."""

    id: UUID
    alert_id: UUID
    channel_id: UUID
    status: DeliveryStatus
    attempts: list[EarlierAttempt]
    error: str | None
    triggered_at: datetime
    workbook_id: UUID | None
    details: dict[str, Any]

    @property
    def line(self) -> DeliveryLine:
        """Return its place in the line."""
        return DeliveryLine(id=self.id, alert_id=self.alert_id, channel_id=self.channel_id)


class MessageNames(Struct, frozen=True, kw_only=True):
    """Names that a message says."""

    workbook_id: UUID | None
    workbook_name: str | None
    as_of: date | None
    """Day of the workbook's figures, where it is known."""
    deal_id: UUID | None
    deal_name: str | None
    organization: str
    tier: str
    timezone: str
    settings: TenantSettings


async def add(unit: Unit, history_ids: Sequence[UUID]) -> list[DeliveryLine]:
    """Add a delivery for each channel of the triggered alerts.

    The caller holds the alerts' rows. Return the deliveries that none stands before.
    """
    return await unit.fetch_all(
        DeliveryLine,
        """
        WITH added AS (
            INSERT INTO alert_deliveries (tenant_id, id, history_id, alert_id, channel_id, channel)
            SELECT h.tenant_id, gen_random_uuid(), h.id, h.alert_id, (c.channel ->> 'id')::uuid, c.channel ->> 'type'
            FROM unnest(%s::uuid[]) WITH ORDINALITY AS asked (id, place)
            JOIN alert_history h ON h.id = asked.id
            JOIN alerts a ON a.tenant_id = h.tenant_id AND a.id = h.alert_id
            CROSS JOIN json_array_elements(a.channels) WITH ORDINALITY AS c (channel, place)
            ORDER BY asked.place, c.place
            RETURNING tenant_id, id, alert_id, channel_id, sequence
        )
        SELECT DISTINCT ON (alert_id, channel_id) id, alert_id, channel_id FROM added
        WHERE NOT EXISTS (  -- in what was there before this statement
            SELECT FROM alert_deliveries d
            WHERE d.tenant_id = added.tenant_id AND d.alert_id = added.alert_id AND d.channel_id = added.channel_id
              AND d.status = 'pending')
        ORDER BY alert_id, channel_id, sequence
        """,
        [list(history_ids)],
    )


async def due(unit: Unit, delivery_id: UUID) -> DueDelivery | None:
    """Return a delivery; None where it has gone with its trigger."""
    return await unit.fetch_one_or_none(
        DueDelivery,
        """
        SELECT d.id, d.alert_id, d.channel_id, d.status, d.attempts, d.error, h.triggered_at, h.workbook_id, h.details
        FROM alert_deliveries d JOIN alert_history h ON h.tenant_id = d.tenant_id AND h.id = d.history_id
        WHERE d.id = %s
        """,
        [delivery_id],
    )


async def write_attempt(
    unit: Unit, delivery_id: UUID, attempt: Attempt, status: DeliveryStatus, error: str | None, next_at: datetime | None
) -> None:
    """Write the outcome of an attempt."""
    sql = f"UPDATE alert_deliveries SET {TRIED} WHERE id = %(id)s AND status <> 'delivered'"
    await unit.execute(sql, {"id": delivery_id, **attempt_parameters(attempt, status, error, next_at)})


async def put_off(unit: Unit, delivery_id: UUID, error: str, next_at: datetime) -> None:
    """Postpone a delivery without counting an attempt."""
    await unit.execute(
        "UPDATE alert_deliveries SET error = %s, next_attempt_at = %s WHERE id = %s", [error, next_at, delivery_id]
    )


async def give_up(unit: Unit, delivery_id: UUID, error: str | None) -> bool:
    """Fail a waiting delivery; return whether it waited.

    The reason is this one, else that of its last attempt.
    """
    done = await unit.execute(
        """
        UPDATE alert_deliveries SET status = 'failed', error = coalesce(%s, error, %s), next_attempt_at = NULL,
            completed_at = now()
        WHERE id = %s AND status = 'pending'
        """,
        [error, FAULT, delivery_id],
    )
    return bool(done)


async def lock_alert(unit: Unit, alert_id: UUID) -> None:
    """Hold an alert's row until the transaction ends, and its lines with it."""
    await unit.execute("SELECT FROM alerts WHERE id = %s FOR NO KEY UPDATE", [alert_id])


async def first(unit: Unit, alert_id: UUID, channel_id: UUID) -> DeliveryLine | None:
    """Return the first delivery that waits for a channel."""
    return await unit.fetch_one_or_none(
        DeliveryLine,
        """
        SELECT id, alert_id, channel_id FROM alert_deliveries
        WHERE alert_id = %s AND channel_id = %s AND status = 'pending' ORDER BY sequence LIMIT 1
        """,
        [alert_id, channel_id],
    )


async def about(unit: Unit, workbook_id: UUID | None) -> MessageNames:
    """Return what a message calls the tenant, a workbook and its deal."""
    return await unit.fetch_one(
        MessageNames,
        """
        SELECT %s::uuid AS workbook_id, t.name AS organization, t.subscription_tier AS tier, w.name AS workbook_name,
               w.as_of, d.id AS deal_id, d.name AS deal_name, coalesce(t.settings ->> 'timezone', 'UTC') AS timezone,
               t.settings
        FROM tenants t
        LEFT JOIN workbooks w ON w.tenant_id = t.id AND w.id = %s
        LEFT JOIN deals d ON d.tenant_id = w.tenant_id AND d.id = w.deal_id
        WHERE t.id = %s
        """,
        [workbook_id, workbook_id, unit.tenant],
        missing=AlertNotFound,
    )
