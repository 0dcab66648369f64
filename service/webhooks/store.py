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
from service.platform.unit.listing import columns_of, insert_of, page, set_of
from service.platform.work.attempt import TRIED, Attempt, tried_with
from service.webhooks.schema import Delivery, DeliveryList, DeliveryNotFound, Webhook, WebhookNotFound

_LINE = "(SELECT q.{0} FROM webhook_queues q WHERE q.tenant_id = webhooks.tenant_id AND q.webhook_id = webhooks.id)"
_MADE = {
    "waiting": _LINE.format("waiting"),
    "events_passed_over": _LINE.format("passed_over"),
    "old_secret_until": "CASE WHEN old_secret_until > now() THEN old_secret_until END",
}
_WEBHOOK = columns_of(Webhook, **_MADE)
_DELIVERY = columns_of(Delivery, payload="payload::json")
_LOCKED = ("", " FOR UPDATE")
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


class Waiting(Struct, frozen=True, kw_only=True):
    """The delivery whose turn it is."""

    id: UUID
    message_id: str
    payload: str
    tries: int


_TARGET = columns_of(Target)


async def lock_count(ctx: Context) -> int:
    """How many webhooks the tenant has, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM webhooks"))


async def create(ctx: Context, row: dict[str, Any]) -> None:
    """A webhook, and the line of what it will be told."""
    await ctx.execute(insert_of("webhooks", row), row)
    await ctx.execute(
        "INSERT INTO webhook_queues (tenant_id, webhook_id) VALUES (%s, %s)", [row["tenant_id"], row["id"]]
    )


async def get(ctx: Context, webhook_id: UUID) -> Webhook:
    """A webhook.

    Raises:
        WebhookNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_WEBHOOK} FROM webhooks WHERE id = %s"
    return await ctx.one(Webhook, sql, [webhook_id], missing=WebhookNotFound)


async def listed(ctx: Context, query: PageQuery) -> Page[Webhook]:
    """A page of the tenant's webhooks, the oldest first."""
    return await page(ctx, Webhook, _WEBHOOK, "webhooks WHERE true", {}, query, order="created_at, id")


async def target(unit: Unit, webhook_id: UUID, *, locked: bool = False) -> Target:
    """Where its deliveries go; where asked for locked until the transaction ends.

    Raises:
        WebhookNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_TARGET} FROM webhooks WHERE id = %s{_LOCKED[locked]}"
    return await unit.one(Target, sql, [webhook_id], missing=WebhookNotFound)


async def change(unit: Unit, webhook_id: UUID, row: dict[str, Any]) -> int:
    """Change these columns of a webhook; whether it is there."""
    return await unit.execute(
        f"UPDATE webhooks SET {set_of(row)} WHERE id = %(webhook_id)s", {**row, "webhook_id": webhook_id}
    )


async def delete(ctx: Context, webhook_id: UUID) -> str:
    """Delete a webhook; the URL that it had. Its deliveries are left to a job.

    Raises:
        WebhookNotFound: there is none of that identifier.
    """
    url = await ctx.value("DELETE FROM webhooks WHERE id = %s RETURNING url", [webhook_id])
    if url is None:
        raise WebhookNotFound
    return str(url)


# Deliveries -----------------------------------------------------------------------------------------------------------


async def deliveries(ctx: Context, webhook_id: UUID, query: DeliveryList) -> Page[Delivery]:
    """A page of a webhook's deliveries, the newest first."""
    return await page(
        ctx,
        Delivery,
        _DELIVERY,
        "webhook_deliveries WHERE true",
        {"webhook_id": webhook_id, "status": query.status, "event": query.event},
        query,
        order="sequence DESC",
    )


async def delivery(ctx: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """A delivery of a webhook.

    Raises:
        DeliveryNotFound: it has none of that identifier.
    """
    sql = f"SELECT {_DELIVERY} FROM webhook_deliveries WHERE webhook_id = %s AND id = %s"
    return await ctx.one(Delivery, sql, [webhook_id, delivery_id], missing=DeliveryNotFound)


async def add_delivery(ctx: Context, row: dict[str, Any]) -> None:
    """A delivery that no event brought."""
    await ctx.execute(insert_of("webhook_deliveries", row), row)


async def repeat(ctx: Context, webhook_id: UUID, delivery_id: UUID, new_id: UUID) -> None:
    """The same message once more, behind all that waits.

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


async def next_waiting(unit: Unit, webhook_id: UUID) -> Waiting | None:
    """The first delivery that waits; where there is none the line is served no more, until an event comes."""
    await unit.execute("SELECT FROM webhook_queues WHERE webhook_id = %s FOR UPDATE", [webhook_id])
    found = await unit.one_or_none(
        Waiting,
        """
        SELECT id, message_id, payload, jsonb_array_length(attempts) AS tries FROM webhook_deliveries
        WHERE webhook_id = %s AND status = 'pending' ORDER BY sequence LIMIT 1
        """,
        [webhook_id],
    )
    if found is None:
        await unit.execute(_ITS_LINE.format("is_served = false, waiting = 0"), [webhook_id])
    return found


async def take_service(unit: Unit, webhook_id: UUID) -> bool:
    """Whether nobody serves the line: from now on the caller does."""
    sql = _ITS_LINE.format("is_served = true, waiting = waiting + 1") + " AND NOT is_served"
    return bool(await unit.execute(sql, [webhook_id]))


async def tried(
    unit: Unit, delivery_id: UUID, attempt: Attempt, status: str, error: str | None, next_attempt_at: datetime | None
) -> None:
    """What an attempt came to."""
    sql = f"UPDATE webhook_deliveries SET {TRIED} WHERE id = %(id)s AND status = 'pending'"
    await unit.execute(sql, {"id": delivery_id, **tried_with(attempt, status, error, next_attempt_at)})


async def leave_line(unit: Unit, webhook_id: UUID) -> None:
    """One delivery waits less."""
    await unit.execute(_ITS_LINE.format("waiting = greatest(waiting - 1, 0)"), [webhook_id])


async def fail_waiting(unit: Unit, webhook_id: UUID, error: str, *, most: int | None = None) -> None:
    """What waits for a webhook, or the first of it, has failed."""
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
