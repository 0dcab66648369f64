"""Sending a message through a channel once: of an alert that triggered, or to try its channels."""

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
from service.alerts import delivery_store
from service.alerts.channel_actions import opened
from service.alerts.channel_schema import (
    Channel,
    ChatWebhookConfig,
    EmailConfig,
    InAppConfig,
    OpenChannel,
    WebhookConfig,
)
from service.alerts.message_actions import CONTENT_TYPE, Notice, chat_message, letter, notice_of, notification, request
from service.alerts.schema import AlertRow, ChannelTest
from service.notifications.shared import notify
from service.platform.access.caller_status import Window
from service.platform.base.problem import Away
from service.platform.base.secrets import BadSeal, new_id
from service.platform.unit.context import Unit
from service.platform.work.attempt import GONE, Attempt, attempt, unanswered
from service.platform.work.jobs import Hopeless
from service.platform.work.mail import Attachment, Handed, Mail, NotReached, NotTaken, UnfitMail, hand
from service.platform.work.mail_address import UnfitAddress, envelope

MAIL_SECONDS: Final = 60.0
"""In which a mail server must take a letter."""
HOUR: Final = 3600
SEALED: Final = "the channel's secrets were sealed with another secret key: give them anew"
NOBODY: Final = "none of its users is active"

_CHAT_WORD: Final = re.compile("[a-z_]{1,60}")
"""What chats answer where they take no message: channel_not_found, invalid_payload."""


class Made(Attempt, frozen=True, kw_only=True):
    """An attempt at a channel, as the delivery keeps it."""

    refusal: str | None = None
    """Of some addresses of a letter, for good."""
    left: list[str] | None = None
    """Addresses of a letter that it is still to be sent to, where others have it."""


class Came(Struct, frozen=True, kw_only=True):
    """What an attempt came to."""

    made: Made
    words: str
    """For whoever asked for a test."""
    is_final: bool = False
    """A further attempt would fail as well."""


def failed(at: datetime, error: str, *, is_final: bool = False, left: list[str] | None = None) -> Came:
    """An attempt that came to nothing."""
    return _came(at, error, error=error, left=left, is_final=is_final)


def _came(
    at: datetime,
    words: str,
    *,
    error: str | None = None,
    refusal: str | None = None,
    left: list[str] | None = None,
    is_final: bool = False,
) -> Came:
    """What came of an attempt without an HTTP answer."""
    made = Made(**asdict(unanswered(at, error)), refusal=refusal, left=left)
    return Came(made=made, words=words, is_final=is_final)


class TooManyMails(NamedTuple):
    """A letter that does not go now."""

    reason: str
    seconds: int | None
    """Until it may; None: never, it has more addresses than an hour is given."""


async def too_many_mails(unit: Unit, tier: str, config: EmailConfig) -> TooManyMails | None:
    """Count a letter of the tenant's alerts, once for each address; None: it may go."""
    addresses, most = len({*config.recipients, *config.cc}), unit.settings.alert_mails_per_hour.of(tier)
    verdict = await unit.resources.gate.windows([Window(f"alert_mail:{unit.tenant}", most, HOUR)] * addresses)
    if verdict.outcome != "limited":
        return None
    reason = f"the letters of alerts are limited to {most:,} an hour"
    if addresses > most:
        return TooManyMails(f"{reason}, and this one has {counted(addresses, 'address')}", None)
    return TooManyMails(reason, max(1, verdict.retry_after_seconds))


async def sent(
    unit: Unit,
    channel: OpenChannel,
    notice: Notice,
    delivery_id: UUID,
    *,
    mail_seconds: float = MAIL_SECONDS,
    only: Collection[str] | None = None,
    report: Attachment | str | None = None,
) -> Came:
    """Send a message through a channel. What goes out is sent between two transactions, a notification within one.

    Args:
        only: those of a letter's addresses that have not got it yet; None for all.
        report: comes along with a letter, or why it does not.
    """
    config = channel.config
    if isinstance(config, InAppConfig):
        return await _notified(unit, config, notice)
    if isinstance(config, EmailConfig):
        return await _mailed(unit, letter(notice, config, report), notice, delivery_id, only, mail_seconds)
    if isinstance(config, WebhookConfig):
        headers, content = request(notice, config, delivery_id)
        made = await attempt(unit, config.method, config.url, headers=headers, content=content)
    else:
        assert isinstance(config, ChatWebhookConfig)
        headers, content = {"content-type": CONTENT_TYPE}, chat_message(notice, config)
        made = await attempt(unit, "POST", config.webhook_url, headers=headers, content=content)
    error = made.error
    if error and channel.type == "chat_webhook" and _CHAT_WORD.fullmatch(made.answer or ""):
        error = f"{error}: {made.answer}"
    words = error or f"the receiver answers with the status {made.status_code}"
    # of the answer nothing else is kept: it may repeat the URL and the headers, which are secret
    kept = Made(**{**asdict(made), "error": error, "answer": None})
    return Came(made=kept, words=words, is_final=made.status_code == GONE)


async def _notified(unit: Unit, config: InAppConfig, notice: Notice) -> Came:
    title, message = notification(notice)
    told = await notify(
        unit,
        config.user_ids,
        type_="alert.tested" if notice.is_test else "alert.triggered",
        title=title,
        message=message,
        priority=config.priority,
        resource=("alert", str(notice.alert_id)),
    )
    if not told:
        return failed(unit.now(), NOBODY, is_final=True)
    return _came(unit.now(), f"{told:,} of {counted(len(config.user_ids), 'user')} notified")


async def _mailed(
    unit: Unit, mail: Mail, notice: Notice, delivery_id: UUID, only: Collection[str] | None, seconds: float
) -> Came:
    now = unit.now()
    left = None if only is None else list(only)
    try:
        to = [address for address in map(envelope, mail.recipients) if left is None or address in left]
        if not to:
            return _came(now, "whoever has not got it has been taken off the channel")
        async with asyncio.timeout(seconds):
            handed = await hand(
                unit.settings, unit.resources.breakers["mail"], delivery_id.hex, notice.triggered_at, mail, to
            )
    except (UnfitAddress, UnfitMail, Hopeless) as refused:
        if left is not None:  # the others have it
            return _came(now, str(refused), refusal=f"for the rest {refused}")
        return failed(now, str(refused), is_final=True)
    except (NotReached, OSError):  # their words name what only the network's own people should learn
        return failed(now, "the mail server cannot be reached, or takes too long", left=left)
    except NotTaken as refused:
        return failed(now, str(refused), left=left)
    return _handed(now, len(to), handed)


def _handed(now: datetime, asked: int, handed: Handed) -> Came:
    lost, later = handed.refused, handed.postponed
    taken = asked - len(lost) - len(later)
    if handed.path is not None:
        words = "written into the data folder, since no mail server is set"
    else:
        words = f"the mail server took it for {taken:,} of {counted(asked, 'address')}"
    refusal = f"refused for {len(lost):,} of {counted(asked, 'address')}: {next(iter(lost.values()))}" if lost else None
    error = (
        f"not taken for {len(later):,} of {counted(asked, 'address')}: {next(iter(later.values()))}" if later else None
    )
    words = "; ".join(filter(None, [words, refusal, error]))
    return _came(now, words, error=error, refusal=refusal, left=list(later) if later else None)


# Tests ----------------------------------------------------------------------------------------------------------------


async def send_test(unit: Unit, alert: AlertRow) -> list[ChannelTest]:
    """Send a test message through each channel of an alert now; what came of each. It is no trigger, and what stands
    in line does not wait for it."""
    about = await delivery_store.about(unit, alert.workbook_id)
    notice = notice_of(unit.settings, alert, about, unit.now())
    try:
        channels = opened(unit, alert)
    except BadSeal:
        return [_result(one, failed(unit.now(), SEALED)) for one in alert.channels]
    await unit.commit()  # no connection is held while the receivers take their time
    outwards = {one.id: _tested(unit, one, notice, about.tier) for one in channels if one.type != "in_app"}
    came = dict(zip(outwards, await asyncio.gather(*outwards.values()), strict=True))
    for channel in channels:
        if channel.type == "in_app":  # one after the other: they share the transaction
            came[channel.id] = await sent(unit, channel, notice, new_id())
    return [_result(one, came[one.id]) for one in channels]


async def _tested(unit: Unit, channel: OpenChannel, notice: Notice, tier: str) -> Came:
    if isinstance(channel.config, EmailConfig):
        limited = await too_many_mails(unit, tier, channel.config)
        if limited is not None:
            return failed(unit.now(), limited.reason)
    try:
        return await sent(unit, channel, notice, new_id(), mail_seconds=unit.settings.webhook_seconds)
    except Away as away:
        return failed(unit.now(), f"nothing of the kind could be reached lately; try again in {away.seconds} seconds")


def _result(channel: Channel | OpenChannel, came: Came) -> ChannelTest:
    return ChannelTest(
        channel=channel.type,
        channel_id=channel.id,
        status="delivered" if came.made.error is None else "failed",
        message=came.words,
    )
