"""One attempt of a delivery.

Signed by the Standard Webhooks, sent, and what it comes to.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

import structlog
from standardwebhooks import Webhook as Signer

from service.notifications.shared import notify
from service.platform.base.secrets import BadSeal
from service.platform.metrics import WEBHOOK_ATTEMPTS
from service.platform.unit.context import Subject, Unit
from service.platform.unit.records import to_json
from service.platform.work import outgoing
from service.platform.work.attempt import GONE, Attempt, attempt, failed_attempt, pause_seconds
from service.webhooks import store
from service.webhooks.schema import LastDelivery, WebhookNotFound
from service.webhooks.store import Target, WaitingDelivery

DELIVER: Final = "webhooks.deliver"
PURPOSE: Final = "webhook"
"""Of the key that seals the secrets."""

log = structlog.get_logger()


async def send(unit: Unit, target: Target, message_id: str, payload: str) -> Attempt:
    """Sign a message and send it once."""
    now = unit.now()
    secrets = [target.secret]
    if target.old_secret is not None and target.old_secret_until is not None and now < target.old_secret_until:
        secrets.append(target.old_secret)
    try:
        signers = [Signer(unit.resources.vault.open(PURPOSE, secret).decode()) for secret in secrets]
    except BadSeal:
        return failed_attempt(now, "the secret was sealed with another secret key: rotate it")
    headers = {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signer.sign(message_id, now, payload) for signer in signers),
    }
    return await attempt(unit, "POST", target.url, headers=headers, content=payload.encode())


async def record(unit: Unit, target: Target, waiting: WaitingDelivery, result: Attempt) -> float | None:
    """Write an attempt; return the seconds until the next one.

    None where there is none. A webhook that has failed for days is disabled. All but what comes of disabling is
    left to commit.
    """
    settings = unit.settings
    WEBHOOK_ATTEMPTS.labels("success" if result.error is None else "failure").inc()
    tries = waiting.tries + 1
    is_gone = result.status_code == GONE
    failing_since = None if result.error is None else target.failing_since or result.at
    pause, status = None, "delivered"
    if result.error is not None:
        status = "failed" if is_gone or tries >= settings.webhook_attempts else "pending"
    if status == "pending":
        pause = pause_seconds(settings, tries)
    last = LastDelivery(
        delivery_id=waiting.id,
        status="delivered" if result.error is None else "failed",
        status_code=result.status_code,
        at=result.at,
    )
    # The webhook's row comes first: one order of locks, so no deadlock.
    await store.targets.change(unit, target.id, {"last_delivery": to_json(last), "failing_since": failing_since})
    next_at = None if pause is None else unit.now() + timedelta(seconds=pause)
    await store.write_attempt(unit, waiting.id, result, status, result.error, next_at)
    if pause is None:
        await store.leave_line(unit, target.id)
    days = timedelta(days=settings.webhook_failure_days)
    if status == "failed" and (is_gone or (failing_since is not None and unit.now() - failing_since >= days)):
        await unit.commit()  # no event's line is held while the audit log's is waited for
        reason = "The receiver answered 410 Gone"
        if not is_gone:
            most = settings.webhook_failure_days
            reason = f"Every delivery of the last {most:g} days failed; the last one: {result.error}"
        await _disable(unit, target.id, reason)
    return pause


async def _disable(unit: Unit, webhook_id: UUID, reason: str) -> None:
    try:
        target = await store.targets.get(unit, webhook_id, lock=True)
    except WebhookNotFound:
        return
    if target.enabled:
        host = host_of(target.url)
        row = {"enabled": False, "disabled_at": unit.now(), "disabled_reason": reason}
        await store.targets.change(unit, webhook_id, row)
        await notify(
            unit,
            None,
            type_="webhook.disabled",
            title=f"The webhook to {host} was disabled",
            message=f"{reason}. Events are not sent to it until it is enabled again.",
            priority="high",
            resource=("webhook", str(webhook_id)),
        )
        await unit.audit("webhook.disabled", Subject("webhook", str(webhook_id), host, {"reason": reason}))
        log.info("webhook.disabled", webhook_id=str(webhook_id), reason=reason)
    await unit.commit()


async def hasten(unit: Unit, webhook_id: UUID) -> None:
    """Try at once what waits for its next attempt."""
    await unit.make_due(DELIVER, queue="webhooks", arguments={"webhook_id": str(webhook_id)})


def host_of(url: str) -> str:
    """Return what records show of a URL: its path may be a secret."""
    return outgoing.target(url, private=True).host
