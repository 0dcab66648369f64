"""Webhooks' decisions: where they may go, their secrets, their tests and replays."""

from __future__ import annotations

import base64
import secrets
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import UNSET

from service.platform.base.problem import ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Page
from service.platform.unit.context import Context
from service.platform.work import outgoing
from service.webhooks import store
from service.webhooks.delivery_actions import PURPOSE, hasten, host_of, send
from service.webhooks.schema import (
    Delivery,
    DeliveryList,
    NewWebhook,
    RotatedSecret,
    SecretRotation,
    Webhook,
    WebhookCreate,
    WebhookDisabled,
    WebhookLimitExceeded,
    WebhookPatch,
)

SECRET_BYTES: Final = 32
SHOWN_CHARACTERS: Final = 4
TEST: Final = "webhook.test"


async def create(ctx: Context, body: WebhookCreate) -> NewWebhook:
    """A webhook, with its secret."""
    _check_url(ctx, body.url)
    if await store.lock_count(ctx) >= ctx.settings.max_webhooks:
        raise WebhookLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_webhooks:,} webhooks")
    webhook_id = new_id()
    secret, kept = _new_secret(ctx)
    await store.create(
        ctx,
        {
            "tenant_id": ctx.tenant,
            "id": webhook_id,
            "url": body.url,
            "events": list(dict.fromkeys(body.events)),
            "description": body.description,
            "enabled": body.enabled,
            "disabled_at": None if body.enabled else ctx.now(),
            "created_by": await ctx.email(),
            **kept,
        },
    )
    ctx.concerns("webhook", webhook_id, host_of(body.url), events=body.events)
    made = await store.get(ctx, webhook_id)
    return NewWebhook(**msgspec.structs.asdict(made), secret=secret)


async def update(ctx: Context, webhook_id: UUID, body: WebhookPatch) -> Webhook:
    """Change what is given. What waits is tried at once: whoever changes a webhook may have mended it."""
    held = await store.target(ctx, webhook_id, locked=True)
    given: dict[str, Any] = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not UNSET}
    if body.url is not UNSET:
        _check_url(ctx, body.url)
    if body.events is not UNSET:
        given["events"] = list(dict.fromkeys(body.events))
    if not given:
        ctx.changed_nothing()
        return await store.get(ctx, webhook_id)
    ctx.concerns("webhook", webhook_id, host_of(given.get("url", held.url)), changed=sorted(given))
    given["updated_at"] = ctx.now()
    if body.enabled is not UNSET and body.enabled is not held.enabled:
        given |= {
            "disabled_at": None if body.enabled else ctx.now(),
            "disabled_reason": None,
            "failing_since": None,
        }
    await store.change(ctx, webhook_id, given)
    await hasten(ctx, webhook_id)
    return await store.get(ctx, webhook_id)


async def delete(ctx: Context, webhook_id: UUID) -> None:
    """Delete a webhook; a job removes its deliveries."""
    url = await store.delete(ctx, webhook_id)
    await ctx.enqueue("webhooks.wake", queue="webhooks", arguments={"webhook_id": str(webhook_id)})
    ctx.concerns("webhook", webhook_id, host_of(url))


async def rotate(ctx: Context, webhook_id: UUID, body: SecretRotation) -> RotatedSecret:
    """Another secret; the present one signs beside it for some hours yet, and one before that no more."""
    held = await store.target(ctx, webhook_id, locked=True)
    secret, kept = _new_secret(ctx)
    until = ctx.now() + timedelta(hours=body.overlap_hours) if body.overlap_hours else None
    old = {"old_secret": held.secret if until else None, "old_secret_until": until}
    await store.change(ctx, webhook_id, {**kept, **old, "updated_at": ctx.now()})
    ctx.concerns("webhook", webhook_id, host_of(held.url), overlap_hours=body.overlap_hours)
    return RotatedSecret(id=webhook_id, secret=secret, old_secret_until=until)


async def deliveries(ctx: Context, webhook_id: UUID, query: DeliveryList) -> Page[Delivery]:
    """A page of what a webhook was told, or is to be."""
    await store.target(ctx, webhook_id)
    return await store.deliveries(ctx, webhook_id, query)


async def test(ctx: Context, webhook_id: UUID) -> Delivery:
    """Send a test event at once, past what waits; it is tried once, and counts for nothing."""
    target = await store.target(ctx, webhook_id)
    ctx.concerns("webhook", webhook_id, host_of(target.url))
    await ctx.email()
    await ctx.commit()  # no connection is held while the receiver takes its time
    message_id, moment = f"msg_{new_id().hex}", ctx.now()
    payload = msgspec.json.encode(
        {"type": TEST, "timestamp": moment, "data": {"tenant_id": ctx.tenant, "webhook_id": webhook_id}}
    ).decode()
    made = await send(ctx, target, message_id, payload)
    delivery_id = new_id()
    row = {
        "tenant_id": ctx.tenant,
        "id": delivery_id,
        "webhook_id": webhook_id,
        "message_id": message_id,
        "event": TEST,
        "payload": payload,
        "status": "delivered" if made.error is None else "failed",
        "attempts": msgspec.json.encode([made]).decode(),
        "error": made.error,
        "completed_at": ctx.now(),
    }
    await store.add_delivery(ctx, row)
    return await store.delivery(ctx, webhook_id, delivery_id)


async def replay(ctx: Context, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Send a delivery's message once more, behind all that waits: a delivery of its own, of the same message id."""
    target = await store.target(ctx, webhook_id)
    if not target.enabled:
        raise WebhookDisabled
    again = new_id()
    await store.repeat(ctx, webhook_id, delivery_id, again)
    await ctx.enqueue("webhooks.wake", queue="webhooks", arguments={"webhook_id": str(webhook_id)})
    ctx.concerns("webhook", webhook_id, host_of(target.url), delivery_id=again, replay_of=delivery_id)
    return await store.delivery(ctx, webhook_id, again)


def _check_url(ctx: Context, url: str) -> None:
    try:
        outgoing.target(url, private=ctx.settings.allow_private_webhooks)
    except outgoing.UnfitTarget as error:
        raise ValidationFailed.at(["body", "url"], str(error)) from None


def _new_secret(ctx: Context) -> tuple[str, dict[str, str]]:
    """A secret, and the columns that keep it."""
    secret = f"whsec_{base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()}"
    sealed = ctx.resources.vault.seal(PURPOSE, secret.encode())
    return secret, {"secret": sealed, "secret_hint": f"…{secret[-SHOWN_CHARACTERS:]}"}
