"""Sending a message through a channel once.

Of an alert that triggered, or to try its channels.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from msgspec import Struct
from msgspec.structs import asdict

from core.words import counted
from service.alerts import channel_schema, delivery_store
from service.alerts.channel_actions import open_channels
from service.alerts.message_actions import CONTENT_TYPE, Notice, chat_message, letter, notice_of, notification, request
from service.alerts.schema import AlertRow, ChannelTest
from service.notifications.shared import notify
from service.platform.access.caller_status import Window
from service.platform.base.problem import Away
from service.platform.base.secrets import BadSeal, new_id
from service.platform.unit.context import Unit
from service.platform.work.attempt import GONE, Attempt, attempt, failed_attempt
from service.platform.work.jobs import PermanentError
from service.platform.work.mail import Attachment, Mail, MailDelivery, NotAccepted, NotReached, UnfitMail, deliver
from service.platform.work.mail_address import UnfitAddress, envelope

MAIL_SECONDS: Final = 60.0
"""In which a mail server must take a letter."""
HOUR: Final = 3600
SEALED: Final = "the channel's secrets were sealed with another secret key: give them anew"
NOBODY: Final = "none of its users is active"

_CHAT_WORD: Final = re.compile("[a-z_]{1,60}")
"""What chats answer where they take no message: channel_not_found, invalid_payload."""


class AlertAttempt(Attempt, frozen=True, kw_only=True):
    """An attempt at a channel, as the delivery keeps it."""

    refusal: str | None = None
    """Of some addresses of a letter, for good."""
    left: list[str] | None = None
    """Addresses of a letter that it is still to be sent to, where others have it."""


class SendResult(Struct, frozen=True, kw_only=True):
    """What an attempt came to."""

    attempt: AlertAttempt
    words: str
    """For whoever asked for a test."""
    is_final: bool = False
    """A further attempt would fail as well."""


def failure(at: datetime, error: str, *, is_final: bool = False, addresses_left: list[str] | None = None) -> SendResult:
    """Return an attempt that came to nothing."""
    return _result_without_answer(at, error, error=error, left=addresses_left, is_final=is_final)


def _result_without_answer(
    at: datetime,
    words: str,
    *,
    error: str | None = None,
    refusal: str | None = None,
    left: list[str] | None = None,
    is_final: bool = False,
) -> SendResult:
    """Return what came of an attempt without an HTTP answer."""
    result = AlertAttempt(**asdict(failed_attempt(at, error)), refusal=refusal, left=left)
    return SendResult(attempt=result, words=words, is_final=is_final)


class TooManyMails(NamedTuple):
    """A letter that does not go now."""

    reason: str
    seconds: int | None
    """Until it may; None: never, it has more addresses than an hour is given."""


async def too_many_mails(unit: Unit, tier: str, config: channel_schema.EmailConfig) -> TooManyMails | None:
    """Count a letter of the tenant's alerts, once for each address; None: it may go."""
    addresses, most = len({*config.recipients, *config.cc}), unit.settings.alert_mails_per_hour.of(tier)
    verdict = await unit.resources.gate.windows([Window(f"alert_mail:{unit.tenant}", most, HOUR)] * addresses)
    if verdict.outcome != "limited":
        return None
    reason = f"the letters of alerts are limited to {most:,} an hour"
    if addresses > most:
        return TooManyMails(f"{reason}, and this one has {counted(addresses, 'address')}", None)
    return TooManyMails(reason, max(1, verdict.retry_after_seconds))


async def send(
    unit: Unit,
    channel: channel_schema.OpenChannel,
    notice: Notice,
    delivery_id: UUID,
    *,
    mail_seconds: float = MAIL_SECONDS,
    only: Collection[str] | None = None,
    report: Attachment | str | None = None,
) -> SendResult:
    """Send a message through a channel.

    What goes out is sent between two transactions, a notification within one.

    Args:
        only: those of a letter's addresses that have not got it yet; None for all.
        report: comes along with a letter, or why it does not.
    """
    config = channel.config
    if isinstance(config, channel_schema.InAppConfig):
        return await _notify(unit, config, notice)
    if isinstance(config, channel_schema.EmailConfig):
        return await _mail(unit, letter(notice, config, report), notice, delivery_id, only, mail_seconds)
    if isinstance(config, channel_schema.WebhookConfig):
        headers, content = request(notice, config, delivery_id)
        result = await attempt(unit, config.method, config.url, headers=headers, content=content)
    else:
        assert isinstance(config, channel_schema.ChatWebhookConfig)
        headers, content = {"content-type": CONTENT_TYPE}, chat_message(notice, config)
        result = await attempt(unit, "POST", config.webhook_url, headers=headers, content=content)
    error = result.error
    if error and channel.type == "chat_webhook" and _CHAT_WORD.fullmatch(result.answer or ""):
        error = f"{error}: {result.answer}"
    words = error or f"the receiver answers with the status {result.status_code}"
    # of the answer nothing else is kept: it may repeat the URL and the headers, which are secret
    stored_attempt = AlertAttempt(**{**asdict(result), "error": error, "answer": None})
    return SendResult(attempt=stored_attempt, words=words, is_final=result.status_code == GONE)


async def _notify(unit: Unit, config: channel_schema.InAppConfig, notice: Notice) -> SendResult:
    title, message = notification(notice)
    users = await notify(
        unit,
        config.user_ids,
        type_="alert.tested" if notice.is_test else "alert.triggered",
        title=title,
        message=message,
        priority=config.priority,
        resource=("alert", str(notice.alert_id)),
    )
    if not users:
        return failure(unit.now(), NOBODY, is_final=True)
    return _result_without_answer(unit.now(), f"{users:,} of {counted(len(config.user_ids), 'user')} notified")


async def _mail(
    unit: Unit, mail: Mail, notice: Notice, delivery_id: UUID, only: Collection[str] | None, seconds: float
) -> SendResult:
    now = unit.now()
    left = None if only is None else list(only)
    try:
        to = [address for address in map(envelope, mail.recipients) if left is None or address in left]
        if not to:
            return _result_without_answer(now, "whoever has not got it has been taken off the channel")
        async with asyncio.timeout(seconds):
            handed = await deliver(
                unit.settings, unit.resources.breakers["mail"], delivery_id.hex, notice.triggered_at, mail, to
            )
    except (UnfitAddress, UnfitMail, PermanentError) as refused:
        if left is not None:  # the others have it
            return _result_without_answer(now, str(refused), refusal=f"for the rest {refused}")
        return failure(now, str(refused), is_final=True)
    except (NotReached, OSError):  # their words name what only the network's own people should learn
        return failure(now, "the mail server cannot be reached, or takes too long", addresses_left=left)
    except NotAccepted as refused:
        return failure(now, str(refused), addresses_left=left)
    return _handover(now, len(to), handed)


def _handover(now: datetime, addresses: int, handed: MailDelivery) -> SendResult:
    lost, later = handed.refused, handed.postponed
    taken = addresses - len(lost) - len(later)
    if handed.path is not None:
        words = "written into the data folder, since no mail server is set"
    else:
        words = f"the mail server took it for {taken:,} of {counted(addresses, 'address')}"
    refusal = (
        f"refused for {len(lost):,} of {counted(addresses, 'address')}: {next(iter(lost.values()))}" if lost else None
    )
    error = (
        f"not taken for {len(later):,} of {counted(addresses, 'address')}: {next(iter(later.values()))}"
        if later
        else None
    )
    words = "; ".join(filter(None, [words, refusal, error]))
    return _result_without_answer(now, words, error=error, refusal=refusal, left=list(later) if later else None)


# Tests ----------------------------------------------------------------------------------------------------------------


async def send_test(unit: Unit, alert: AlertRow) -> list[ChannelTest]:
    """Send a test message through each channel now.

    It is no trigger, and waiting deliveries go on.
    """
    about = await delivery_store.about(unit, alert.workbook_id)
    notice = notice_of(unit.settings, alert, about, unit.now())
    try:
        channels = open_channels(unit, alert)
    except BadSeal:
        return [_result(channel_, failure(unit.now(), SEALED)) for channel_ in alert.channels]
    await unit.commit()  # no connection is held while the receivers take their time
    outwards = {
        channel_.id: _test(unit, channel_, notice, about.tier) for channel_ in channels if channel_.type != "in_app"
    }
    came = dict(zip(outwards, await asyncio.gather(*outwards.values()), strict=True))
    for channel in channels:
        if channel.type == "in_app":  # one after the other: they share the transaction
            came[channel.id] = await send(unit, channel, notice, new_id())
    return [_result(channel_, came[channel_.id]) for channel_ in channels]


async def _test(unit: Unit, channel: channel_schema.OpenChannel, notice: Notice, tier: str) -> SendResult:
    if isinstance(channel.config, channel_schema.EmailConfig):
        limited = await too_many_mails(unit, tier, channel.config)
        if limited is not None:
            return failure(unit.now(), limited.reason)
    try:
        return await send(unit, channel, notice, new_id(), mail_seconds=unit.settings.webhook_seconds)
    except Away as away:
        return failure(unit.now(), f"nothing of the kind could be reached lately; try again in {away.seconds} seconds")


def _result(channel: channel_schema.Channel | channel_schema.OpenChannel, came: SendResult) -> ChannelTest:
    return ChannelTest(
        channel=channel.type,
        channel_id=channel.id,
        status="delivered" if came.attempt.error is None else "failed",
        message=came.words,
    )
