"""Webhooks' decisions: where they may go, their secrets, their tests and replays."""

from __future__ import annotations

import base64
import secrets
from datetime import timedelta
from typing import Final
from uuid import UUID

import msgspec

from service.platform.base.problem import ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Page
from service.platform.unit.context import Context
from service.platform.unit.records import to_json
from service.platform.work import outgoing
from service.webhooks import schema, store
from service.webhooks.delivery_actions import PURPOSE, hasten, host_of, send

SECRET_BYTES: Final = 32
SHOWN_CHARACTERS: Final = 4
TEST: Final = "webhook.test"


async def create(ctx: Context, body: schema.WebhookCreate) -> schema.NewWebhook:
    """Create a webhook; return it with its secret."""
    _check_url(ctx, body.url)
    if await store.webhooks.lock_count(ctx) >= ctx.settings.max_webhooks:
        raise schema.WebhookLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_webhooks:,} webhooks")
    webhook_id = new_id()
    secret, columns = _new_secret(ctx)
    await store.create(
        ctx,
        {
            "id": webhook_id,
            "url": body.url,
            "events": list(dict.fromkeys(body.events)),
            "description": body.description,
            "enabled": body.enabled,
            "disabled_at": None if body.enabled else ctx.now(),
            "created_by": await ctx.email(),
            **columns,
        },
    )
    ctx.set_subject("webhook", webhook_id, host_of(body.url), events=body.events)
    webhook = await store.webhooks.get(ctx, webhook_id)
    return schema.NewWebhook(**msgspec.structs.asdict(webhook), secret=secret)


async def update(ctx: Context, webhook_id: UUID, patch: schema.WebhookPatch) -> schema.Webhook:
    """Change a webhook, and try at once what waits."""
    target = await store.targets.get(ctx, webhook_id, lock=True)
    changes = patch.changes()
    if "url" in changes:
        _check_url(ctx, changes["url"])
    if "events" in changes:
        changes["events"] = list(dict.fromkeys(changes["events"]))
    if not changes:
        ctx.skip_event()
        return await store.webhooks.get(ctx, webhook_id)
    ctx.set_subject("webhook", webhook_id, host_of(changes.get("url", target.url)), changed=sorted(changes))
    changes["updated_at"] = ctx.now()
    enabled = changes.get("enabled", target.enabled)
    if enabled is not target.enabled:
        changes |= {"disabled_at": None if enabled else ctx.now(), "disabled_reason": None, "failing_since": None}
    await store.targets.change(ctx, webhook_id, changes)
    await hasten(ctx, webhook_id)
    return await store.webhooks.get(ctx, webhook_id)


async def delete(ctx: Context, webhook_id: UUID) -> None:
    """Delete a webhook; a job removes its deliveries."""
    url = (await store.targets.pop(ctx, webhook_id)).url
    await ctx.enqueue("webhooks.wake", queue="webhooks", arguments={"webhook_id": str(webhook_id)})
    ctx.set_subject("webhook", webhook_id, host_of(url))


async def rotate(ctx: Context, webhook_id: UUID, body: schema.SecretRotation) -> schema.RotatedSecret:
    """Create another secret; the present one signs for some hours yet."""
    target = await store.targets.get(ctx, webhook_id, lock=True)
    secret, columns = _new_secret(ctx)
    until = ctx.now() + timedelta(hours=body.overlap_hours) if body.overlap_hours else None
    old = {"old_secret": target.secret if until else None, "old_secret_until": until}
    await store.targets.change(ctx, webhook_id, {**columns, **old, "updated_at": ctx.now()})
    ctx.set_subject("webhook", webhook_id, host_of(target.url), overlap_hours=body.overlap_hours)
    return schema.RotatedSecret(id=webhook_id, secret=secret, old_secret_until=until)


async def deliveries(ctx: Context, webhook_id: UUID, query: schema.DeliveryList) -> Page[schema.Delivery]:
    """Return a page of a webhook's deliveries."""
    await store.targets.get(ctx, webhook_id)
    return await store.deliveries(ctx, webhook_id, query)


async def test(ctx: Context, webhook_id: UUID) -> schema.Delivery:
    """Send a test event at once; it is tried once."""
    target = await store.targets.get(ctx, webhook_id)
    ctx.set_subject("webhook", webhook_id, host_of(target.url))
    await ctx.email()
    await ctx.commit()  # no connection is held while the receiver takes its time
    message_id, moment = f"msg_{new_id().hex}", ctx.now()
    payload = to_json({"type": TEST, "timestamp": moment, "data": {"tenant_id": ctx.tenant, "webhook_id": webhook_id}})
    result = await send(ctx, target, message_id, payload)
    delivery_id = new_id()
    row = {
        "id": delivery_id,
        "webhook_id": webhook_id,
        "message_id": message_id,
        "event": TEST,
        "payload": payload,
        "status": "delivered" if result.error is None else "failed",
        "attempts": to_json([result]),
        "error": result.error,
        "completed_at": ctx.now(),
    }
    await store.add_delivery(ctx, row)
    return await store.delivery(ctx, webhook_id, delivery_id)


async def replay(ctx: Context, webhook_id: UUID, delivery_id: UUID) -> schema.Delivery:
    """Send a delivery's message once more, behind all that waits.

    A delivery of its own, of the same message id.
    """
    target = await store.targets.get(ctx, webhook_id)
    if not target.enabled:
        raise schema.WebhookDisabled
    again = new_id()
    await store.repeat(ctx, webhook_id, delivery_id, again)
    await ctx.enqueue("webhooks.wake", queue="webhooks", arguments={"webhook_id": str(webhook_id)})
    ctx.set_subject("webhook", webhook_id, host_of(target.url), delivery_id=again, replay_of=delivery_id)
    return await store.delivery(ctx, webhook_id, again)


def _check_url(ctx: Context, url: str) -> None:
    try:
        outgoing.target(url, private=ctx.settings.allow_private_webhooks)
    except outgoing.UnfitTarget as error:
        raise ValidationFailed.at(["body", "url"], str(error)) from None


def _new_secret(ctx: Context) -> tuple[str, dict[str, str]]:
    """Return a secret, and the columns that keep it."""
    secret = f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"
    sealed = ctx.resources.vault.seal(PURPOSE, secret.encode())
    return secret, {"secret": sealed, "secret_hint": f"…{secret[-SHOWN_CHARACTERS:]}"}
