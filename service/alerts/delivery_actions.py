"""Bringing triggered alerts to their channels.

Lines of deliveries, what an attempt comes to, and what follows it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID

from msgspec.structs import asdict

from service.alerts import delivery_store, store
from service.alerts.channel_actions import open_channels
from service.alerts.channel_schema import EmailConfig, OpenChannel, WebhookConfig
from service.alerts.delivery_store import DeliveryLine, DueDelivery
from service.alerts.message_actions import notice_of
from service.alerts.schema import AlertRow
from service.alerts.sending_actions import SEALED, SendResult, failure, send, too_many_mails
from service.platform.base.secrets import BadSeal
from service.platform.data.blobs import Damaged
from service.platform.metrics import ALERT_ATTEMPTS
from service.platform.unit.context import Unit
from service.platform.work.attempt import pause_seconds
from service.platform.work.jobs import PermanentError
from service.platform.work.mail import ATTACHED_BYTES, Attachment
from service.reports import shared as reports

DELIVER: Final = "alerts.deliver"
QUEUE: Final = "webhooks"
"""Whose deliveries wait for others just so."""
DISABLED: Final = "the alert was disabled before it could be sent"
TAKEN_OFF: Final = "the channel was taken off the alert before it could be sent"


async def queue(unit: Unit, history_ids: Sequence[UUID]) -> None:
    """Queue a delivery for each channel of the triggered alerts.

    It locks the alerts' rows, so that deliveries keep the order of the triggers.
    """
    for line in await delivery_store.add(unit, history_ids):
        await serve(unit, line)


async def serve(unit: Unit, line: DeliveryLine, delay_seconds: float = 0.0) -> None:
    """Have the first delivery of a line attempted."""
    arguments = {name: str(value) for name, value in asdict(line).items()}
    await unit.enqueue(DELIVER, queue=QUEUE, arguments=arguments, delay_seconds=delay_seconds)


async def hasten(unit: Unit, alert_id: UUID) -> None:
    """Try at once what waits: a change of the alert may have mended it."""
    await unit.make_due(DELIVER, queue=QUEUE, arguments={"alert_id": str(alert_id)})


async def hand_on(unit: Unit, line: DeliveryLine) -> None:
    """Have what is the first of a line now attempted."""
    await delivery_store.lock_alert(unit, line.alert_id)
    following = await delivery_store.first(unit, line.alert_id, line.channel_id)
    if following is not None:
        await serve(unit, following)


async def deliver(unit: Unit, line: DeliveryLine) -> None:
    """Attempt the first delivery of a line.

    A failed one is attempted once more beside its line: somebody retried the dead letter.

    Raises:
        PermanentError: it failed, and no further attempt is made.
    """
    due = await delivery_store.due(unit, line.id)
    if due is None:  # it went with its trigger
        await hand_on(unit, line)
    elif due.status != "delivered":
        alert = await store.alerts.get(unit, due.alert_id)
        try:
            channel = next(
                (candidate for candidate in open_channels(unit, alert) if candidate.id == due.channel_id), None
            )
        except BadSeal:
            await _record(unit, due, failure(unit.now(), SEALED, is_final=True))
        else:
            await _attempt(unit, due, alert, channel)


async def _attempt(unit: Unit, due: DueDelivery, alert: AlertRow, channel: OpenChannel | None) -> None:
    if channel is None or not alert.enabled:
        await end(unit, due.line, TAKEN_OFF if channel is None else DISABLED)
        return
    most = (
        channel.config.retry_count + 1 if isinstance(channel.config, WebhookConfig) else unit.settings.webhook_attempts
    )
    if due.status == "pending" and len(due.attempts) >= most:  # a worker died before it could say so
        raise PermanentError(due.error)
    about = await delivery_store.about(unit, due.workbook_id)
    if isinstance(channel.config, EmailConfig) and not due.attempts:
        limited = await too_many_mails(unit, about.tier, channel.config)
        if limited is not None:
            if limited.seconds is None:
                await end(unit, due.line, limited.reason)
                return
            next_at = unit.now() + timedelta(seconds=limited.seconds)
            await delivery_store.put_off(unit, due.id, limited.reason, next_at)
            await serve(unit, due.line, limited.seconds)
            return
    notice = notice_of(unit.settings, alert, about, due.triggered_at, due.details)
    report = await _report(unit, due) if channel.type == "email" else None
    if channel.type != "in_app":  # a notification commits with its delivery
        await unit.commit()  # no connection is held while the receiver takes its time
    only = due.attempts[-1].left if due.attempts else None
    came = await send(unit, channel, notice, due.id, only=only, report=report)
    ALERT_ATTEMPTS.labels(channel.type, "success" if came.attempt.error is None else "failure").inc()
    await _record(unit, due, came, most)


async def _report(unit: Unit, due: DueDelivery) -> Attachment | str | None:
    """Return a schedule's report as an attachment, or why it is missing."""
    report_id = due.details.get("report_id")
    if report_id is None:
        return None
    try:
        file = await reports.file_of(unit, UUID(report_id))
    except Damaged:
        return "The report is damaged: ask for it again."
    if file is None:
        return "The report has expired or was deleted."
    size_bytes = (await asyncio.to_thread(file.path.stat)).st_size
    if size_bytes > ATTACHED_BYTES:
        return f"The report is too large for a letter ({size_bytes:,} bytes): download it from Cushion."
    return Attachment(file.name, file.media_type, await asyncio.to_thread(file.path.read_bytes))


async def _record(unit: Unit, due: DueDelivery, came: SendResult, most: int = 1) -> None:
    """Write down what an attempt came to.

    Raises:
        PermanentError: it was the last one, and failed.
    """
    tries, error = len(due.attempts) + 1, came.attempt.error
    if error is None:
        refusals = [
            refusal for refusal in (*(attempt.refusal for attempt in due.attempts), came.attempt.refusal) if refusal
        ]
        await delivery_store.lock_alert(unit, due.alert_id)
        await delivery_store.write_attempt(unit, due.id, came.attempt, "delivered", "; ".join(refusals) or None, None)
        if due.status == "pending":
            await hand_on(unit, due.line)
    elif came.is_final or tries >= most:
        await delivery_store.write_attempt(unit, due.id, came.attempt, due.status, error, None)
        await unit.commit()
        raise PermanentError(error)
    else:
        seconds = pause_seconds(unit.settings, tries)
        next_at = unit.now() + timedelta(seconds=seconds)
        await delivery_store.write_attempt(unit, due.id, came.attempt, due.status, error, next_at)
        await serve(unit, due.line, seconds)


async def end(unit: Unit, line: DeliveryLine, error: str | None) -> None:
    """Fail a waiting delivery, and attempt the next one of its line."""
    await delivery_store.lock_alert(unit, line.alert_id)
    if await delivery_store.give_up(unit, line.id, error):
        await hand_on(unit, line)
