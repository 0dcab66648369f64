"""Webhooks' queries.

Nothing that holds a row of webhook_queues writes an audit entry: an event locks the two in the other order.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

from service.platform.route.api import Page, PageQuery
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page
from service.platform.unit.records import Records, insert
from service.platform.work.attempt import TRIED, Attempt, attempt_parameters
from service.webhooks.schema import Delivery, DeliveryList, DeliveryNotFound, Webhook, WebhookNotFound

_LINE = "(SELECT q.{0} FROM webhook_queues q WHERE q.tenant_id = webhooks.tenant_id AND q.webhook_id = webhooks.id)"
_MADE = {
    "waiting": _LINE.format("waiting"),
    "events_passed_over": _LINE.format("passed_over"),
    "old_secret_until": "CASE WHEN old_secret_until > now() THEN old_secret_until END",
}
webhooks = Records("webhooks", Webhook, missing=WebhookNotFound, derived=_MADE)
_DELIVERY = columns_of(Delivery, payload="payload::json")
_ITS_LINE = "UPDATE webhook_queues SET {0} WHERE webhook_id = %s"


class Target(Struct, frozen=True, kw_only=True):
    """Where a webhook's deliveries go, and what signs them: sealed."""

    id: UUID
    url: str
    enabled: bool
    secret: str
    old_secret: str | None
    old_secret_until: datetime | None
    failing_since: datetime | None


class WaitingDelivery(Struct, frozen=True, kw_only=True):
    """The delivery whose turn it is."""

    id: UUID
    message_id: str
    payload: str
    tries: int


targets = Records("webhooks", Target, missing=WebhookNotFound)
"""The same records, as their deliveries need them."""


async def create(ctx: Context, row: dict[str, Any]) -> None:
    """Create a webhook and its line."""
    await webhooks.add(ctx, row)
    await insert(ctx, "webhook_queues", {"webhook_id": row["id"]})


async def read_page(ctx: Context, query: PageQuery) -> Page[Webhook]:
    """Return a page of the tenant's webhooks, the oldest first."""
    return await fetch_page(ctx, Webhook, webhooks.columns, "webhooks WHERE true", {}, query, order="created_at, id")


# Deliveries -----------------------------------------------------------------------------------------------------------


async def deliveries(ctx: Context, webhook_id: UUID, query: DeliveryList) -> Page[Delivery]:
    """Return a page of a webhook's deliveries, the newest first."""
    return await fetch_page(
        ctx,
        Delivery,
        _DELIVERY,
        "webhook_deliveries WHERE true",
        {"webhook_id": webhook_id, "status": query.status, "event": query.event},
        query,
        order="sequence DESC",
    )


async def delivery(ctx: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Return a delivery of a webhook."""
    sql = f"SELECT {_DELIVERY} FROM webhook_deliveries WHERE webhook_id = %s AND id = %s"
    return await ctx.fetch_one(Delivery, sql, [webhook_id, delivery_id], missing=DeliveryNotFound)


async def add_delivery(ctx: Context, row: dict[str, Any]) -> None:
    """Add a delivery that no event brought."""
    await insert(ctx, "webhook_deliveries", row)


async def repeat(ctx: Context, webhook_id: UUID, delivery_id: UUID, new_id: UUID) -> None:
    """Add the same message once more, behind all that waits.

    Raises:
        DeliveryNotFound: the webhook has no such delivery.
    """
    done = await ctx.execute(
        """
        INSERT INTO webhook_deliveries (tenant_id, id, webhook_id, message_id, event, payload)
        SELECT tenant_id, %s, webhook_id, message_id, event, payload FROM webhook_deliveries
        WHERE webhook_id = %s AND id = %s
        """,
        [new_id, webhook_id, delivery_id],
    )
    if not done:
        raise DeliveryNotFound


async def next_waiting(unit: Unit, webhook_id: UUID) -> WaitingDelivery | None:
    """Return the first waiting delivery; without one, stop serving."""
    await unit.execute("SELECT FROM webhook_queues WHERE webhook_id = %s FOR UPDATE", [webhook_id])
    delivery = await unit.fetch_one_or_none(
        WaitingDelivery,
        """
        SELECT id, message_id, payload, jsonb_array_length(attempts) AS tries FROM webhook_deliveries
        WHERE webhook_id = %s AND status = 'pending' ORDER BY sequence LIMIT 1
        """,
        [webhook_id],
    )
    if delivery is None:
        await unit.execute(_ITS_LINE.format("is_served = false, waiting = 0"), [webhook_id])
    return delivery


async def take_service(unit: Unit, webhook_id: UUID) -> bool:
    """Reserve a line's service; return whether it was free."""
    sql = _ITS_LINE.format("is_served = true, waiting = waiting + 1") + " AND NOT is_served"
    return bool(await unit.execute(sql, [webhook_id]))


async def write_attempt(
    unit: Unit, delivery_id: UUID, attempt: Attempt, status: str, error: str | None, next_attempt_at: datetime | None
) -> None:
    """Write the outcome of an attempt."""
    sql = f"UPDATE webhook_deliveries SET {TRIED} WHERE id = %(id)s AND status = 'pending'"
    await unit.execute(sql, {"id": delivery_id, **attempt_parameters(attempt, status, error, next_attempt_at)})


async def leave_line(unit: Unit, webhook_id: UUID) -> None:
    """Count one waiting delivery less."""
    await unit.execute(_ITS_LINE.format("waiting = greatest(waiting - 1, 0)"), [webhook_id])


async def fail_waiting(unit: Unit, webhook_id: UUID, error: str, *, most: int | None = None) -> None:
    """Fail what waits for a webhook, or the first of it."""
    await unit.execute(
        """
        UPDATE webhook_deliveries SET status = 'failed', error = %s, next_attempt_at = NULL, completed_at = now()
        WHERE id IN (SELECT id FROM webhook_deliveries WHERE webhook_id = %s AND status = 'pending'
                     ORDER BY sequence LIMIT %s)
        """,
        [error, webhook_id, most],
    )


async def clear(unit: Unit, webhook_id: UUID) -> None:
    """Remove what a deleted webhook left."""
    await unit.execute("DELETE FROM webhook_queues WHERE webhook_id = %s", [webhook_id])
    await unit.execute("DELETE FROM webhook_deliveries WHERE webhook_id = %s", [webhook_id])
