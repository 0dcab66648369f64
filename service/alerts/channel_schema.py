"""The channels of alerts: what each needs to know, and what of it is secret."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.notifications.schema import Priority
from service.platform.base.problem import Problem
from service.platform.work.mail_address import ADDRESS_CHARACTERS
from service.platform.work.outgoing import HEADER_CHARACTERS, HEADERS_MAX, URL_CHARACTERS

CHANNELS_MAX: Final = 10
RECIPIENTS_MAX: Final = 20
"""Of an e-mail, copies included."""
USERS_MAX: Final = 100
"""Of an in-app notification."""
MENTIONS_MAX: Final = 20
RETRIES_MAX: Final = 10

ChannelType = Literal["email", "webhook", "chat_webhook", "in_app"]

Address = Annotated[str, Meta(min_length=3, max_length=ADDRESS_CHARACTERS)]
Url = Annotated[str, Meta(min_length=1, max_length=URL_CHARACTERS)]
Line = Annotated[str, Meta(max_length=80)]
Header = Annotated[str, Meta(max_length=HEADER_CHARACTERS)]
Emoji = Annotated[
    str,
    Meta(max_length=80, pattern=r"\A:[A-Za-z0-9_+'-]+:\Z", extra={"words": "an emoji's name such as :warning:"}),
]
Mention = Annotated[
    str,
    Meta(
        pattern=r"\A@?[A-Za-z0-9._-]{1,80}\Z",
        extra={"words": "a user's name of at most 80 letters, digits, dots, hyphens and underscores"},
    ),
]


class EmailConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A letter to some addresses."""

    recipients: Annotated[list[Address], Meta(min_length=1, max_length=RECIPIENTS_MAX)]
    cc: Annotated[list[Address], Meta(max_length=RECIPIENTS_MAX)] = []
    subject_prefix: Line = ""
    include_details: bool = True
    """Figures, and a scheduled report, are in the letter too."""


class WebhookConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request with the alert as JSON."""

    url: Url
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: Annotated[dict[str, Header], Meta(max_length=HEADERS_MAX)] = {}
    retry_count: Annotated[int, Meta(ge=0, le=RETRIES_MAX)] = 3
    """Attempts after the first."""


class ChatWebhookConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A message to a chat, in the form that Slack's incoming webhooks take."""

    webhook_url: Url
    channel: Line | None = None
    username: Line | None = None
    icon_emoji: Emoji | None = None
    mention_users: Annotated[list[Mention], Meta(max_length=MENTIONS_MAX)] = []


class InAppConfig(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A notification of some users of the tenant."""

    user_ids: Annotated[list[UUID], Meta(min_length=1, max_length=USERS_MAX)]
    priority: Priority = "normal"


Config = EmailConfig | WebhookConfig | ChatWebhookConfig | InAppConfig
CONFIGS: Final[dict[str, type[Config]]] = {
    "email": EmailConfig,
    "webhook": WebhookConfig,
    "chat_webhook": ChatWebhookConfig,
    "in_app": InAppConfig,
}
SECRET: Final[dict[str, tuple[str, ...]]] = {"webhook": ("url", "headers"), "chat_webhook": ("webhook_url",)}
"""Fields of a configuration that are sealed, and masked wherever it is read."""


class ChannelGiven(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A channel as a request has it."""

    type: Annotated[str, Meta(max_length=100, description="email, webhook, chat_webhook (Slack's format) or in_app")]
    config: dict[str, Any]
    """By type: recipients, cc, subject_prefix, include_details (email); url, method, headers, retry_count (webhook);
    webhook_url, channel, username, icon_emoji, mention_users (chat_webhook); user_ids, priority (in_app)."""
    id: UUID | None = None
    """In a change: which of the alert's channels this is. Unset: it is told by its type, masked values and place."""


class Channel(Struct, frozen=True, kw_only=True):
    """A channel as it is read: what is secret is masked."""

    id: UUID
    type: ChannelType
    """email, webhook, chat_webhook (Slack's format) or in_app."""
    config: dict[str, Any]
    """What the channel was set up with; secrets are masked."""


class OpenChannel(Struct, frozen=True):
    """A channel as it is used."""

    id: UUID
    type: ChannelType
    config: Config


class InvalidChannelType(Problem, status=400):
    """Invalid channel type"""


class ChannelConfigurationError(Problem, status=422):
    """Channel configuration error"""
