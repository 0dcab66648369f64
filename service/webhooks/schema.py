"""What webhooks say: their records, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.platform.http.api import PageQuery, Secret
from service.platform.http.problem import Problem
from service.platform.work.attempt import Attempt

OVERLAP_HOURS_MAX = 168

Event = Literal["workbook.uploaded", "calculation.completed", "compliance.completed", "alert.triggered"]
DeliveryStatus = Literal["pending", "delivered", "failed"]
Url = Annotated[str, Meta(min_length=1, max_length=2048, description="https://, on a public host, port 443 or 8443")]
Events = Annotated[list[Event], Meta(min_length=1, max_length=4, description="What it is told of")]
Description = Annotated[str, Meta(max_length=1000)]

# Records --------------------------------------------------------------------------------------------------------------


class LastDelivery(Struct, frozen=True, kw_only=True):
    """The last attempt of any delivery."""

    delivery_id: UUID
    status: Literal["delivered", "failed"]
    status_code: int | None
    """Null where no answer came."""
    at: datetime


class Webhook(Struct, frozen=True, kw_only=True):
    """A webhook."""

    id: UUID
    url: str
    events: list[Event]
    description: str | None
    enabled: bool
    secret_hint: str
    """The end of the secret, to tell it by."""
    old_secret_until: datetime | None
    """Until then the secret before the present one signs too."""
    failing_since: datetime | None
    last_delivery: LastDelivery | None
    waiting: int
    """Deliveries that wait, or a few more."""
    events_passed_over: int
    """That found too many deliveries waiting, and are not told."""
    disabled_at: datetime | None
    disabled_reason: str | None
    """Null where somebody disabled it."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class NewWebhook(Webhook, frozen=True, kw_only=True):
    """A webhook with its secret."""

    secret: Secret


class RotatedSecret(Struct, frozen=True, kw_only=True):
    """A webhook's new secret."""

    id: UUID
    secret: Secret
    old_secret_until: datetime | None
    """Until then both sign."""


class Delivery(Struct, frozen=True, kw_only=True):
    """An event on its way to a webhook."""

    id: UUID
    message_id: str
    """webhook-id: the same of every attempt and replay."""
    event: str
    status: DeliveryStatus
    attempts: list[Attempt]
    next_attempt_at: datetime | None
    error: str | None
    payload: dict[str, Any]
    """What is sent: type, timestamp, data."""
    created_at: datetime
    completed_at: datetime | None


class DeliveryList(PageQuery, frozen=True, kw_only=True):
    """Which deliveries of a webhook, the newest first."""

    status: DeliveryStatus | None = None
    event: Annotated[str, Meta(max_length=100)] | None = None


# Requests -------------------------------------------------------------------------------------------------------------


class WebhookCreate(Struct, frozen=True, kw_only=True):
    """A webhook to be."""

    url: Url
    events: Events
    description: Description | None = None
    enabled: bool = True


class WebhookPatch(Struct, frozen=True, kw_only=True):
    """What changes of a webhook."""

    url: Url | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET


class SecretRotation(Struct, frozen=True, kw_only=True):
    """How to replace a secret."""

    overlap_hours: Annotated[
        int, Meta(ge=0, le=OVERLAP_HOURS_MAX, description="How long the old secret still signs beside the new one")
    ] = 24


# Refusals -------------------------------------------------------------------------------------------------------------


class WebhookNotFound(Problem, status=404):
    """Webhook not found"""


class DeliveryNotFound(Problem, status=404):
    """Delivery not found"""


class WebhookLimitExceeded(Problem, status=403):
    """Webhook limit exceeded"""


class WebhookDisabled(Problem, status=409):
    """Webhook is disabled"""
