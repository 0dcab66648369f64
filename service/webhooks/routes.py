"""Webhooks' rows."""

from __future__ import annotations

from uuid import UUID

from service.platform.route.api import Area, Page, PageQuery, limit_by_user
from service.platform.unit.context import Context
from service.webhooks import actions, schema, store

area = Area("/api/v1/webhooks", tag="webhooks")

ADMIN = "role:admin"
REPLAY = "/{webhook_id}/deliveries/{delivery_id}/replay"
SENDING_LIMIT = limit_by_user("webhook", lambda settings: settings.webhook_tests_per_minute)


@area.get(access=ADMIN)
async def list_webhooks(ctx: Context, query: PageQuery) -> Page[schema.Webhook]:
    """List the webhooks of the tenant, the oldest first."""
    return await store.read_page(ctx, query)


@area.post(access=ADMIN, status=201, errors=(schema.WebhookLimitExceeded,), event="webhook.created")
async def create_webhook(ctx: Context, body: schema.WebhookCreate) -> schema.NewWebhook:
    """Send events to a URL.

    The secret, by which the receiver verifies them, is shown this once.
    """
    return await actions.create(ctx, body)


@area.get("/{webhook_id}", access=ADMIN, errors=(schema.WebhookNotFound,))
async def get_webhook(ctx: Context, webhook_id: UUID) -> schema.Webhook:
    """Give a webhook and how its deliveries fare."""
    return await store.webhooks.get(ctx, webhook_id)


@area.patch("/{webhook_id}", access=ADMIN, errors=(schema.WebhookNotFound,), event="webhook.updated")
async def update_webhook(ctx: Context, webhook_id: UUID, body: schema.WebhookPatch) -> schema.Webhook:
    """Change the fields in the body.

    A delivery that waits for its next attempt is tried at once.
    """
    return await actions.update(ctx, webhook_id, body)


@area.delete("/{webhook_id}", access=ADMIN, errors=(schema.WebhookNotFound,), event="webhook.deleted")
async def delete_webhook(ctx: Context, webhook_id: UUID) -> None:
    """Delete a webhook with its deliveries.

    What waits is not sent.
    """
    await actions.delete(ctx, webhook_id)


@area.get("/{webhook_id}/deliveries", access=ADMIN, errors=(schema.WebhookNotFound,))
async def list_deliveries(ctx: Context, webhook_id: UUID, query: schema.DeliveryList) -> Page[schema.Delivery]:
    """List a webhook's deliveries, sent and waiting, the newest first.

    Each has its attempts.
    """
    return await actions.deliveries(ctx, webhook_id, query)


@area.post(
    "/{webhook_id}/test", access=ADMIN, errors=(schema.WebhookNotFound,), event="webhook.tested", windows=SENDING_LIMIT
)
async def test_webhook(ctx: Context, webhook_id: UUID) -> schema.Delivery:
    """Send a test event (`webhook.test`) once, even to a disabled webhook.

    The answer says what came of it.
    """
    return await actions.test(ctx, webhook_id)


@area.post("/{webhook_id}/rotate", access=ADMIN, errors=(schema.WebhookNotFound,), event="webhook.secret_rotated")
async def rotate_webhook_secret(ctx: Context, webhook_id: UUID, body: schema.SecretRotation) -> schema.RotatedSecret:
    """Replace the secret.

    For `overlap_hours` the old one signs too.
    """
    return await actions.rotate(ctx, webhook_id, body)


@area.post(
    REPLAY,
    access=ADMIN,
    errors=(schema.WebhookNotFound, schema.DeliveryNotFound, schema.WebhookDisabled),
    event="webhook.replayed",
    windows=SENDING_LIMIT,
)
async def replay_delivery(ctx: Context, webhook_id: UUID, delivery_id: UUID) -> schema.Delivery:
    """Send a message again, behind what waits.

    It is a delivery of its own, whose message has the same `webhook-id`.
    """
    return await actions.replay(ctx, webhook_id, delivery_id)
