"""What webhooks say: their records, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery, Secret
from service.platform.route.patch import Patch, patch_of
from service.platform.work.attempt import Attempt

OVERLAP_HOURS_MAX = 168

Event = Literal[
    "workbook.uploaded", "calculation.completed", "compliance.completed", "batch.completed", "alert.triggered"
]  # fmt: skip
DeliveryStatus = Literal["pending", "delivered", "failed"]
Url = Annotated[str, Meta(min_length=1, max_length=2048)]
Events = Annotated[list[Event], Meta(min_length=1, max_length=5)]
Description = Annotated[str, Meta(max_length=1000)]

# Records --------------------------------------------------------------------------------------------------------------


class LastDelivery(Struct, frozen=True, kw_only=True):
    """The last attempt of any delivery."""

    delivery_id: UUID
    """The delivery that it belonged to."""
    status: Literal["delivered", "failed"]
    """delivered, or failed."""
    status_code: int | None
    """HTTP status of the answer. Null: none came."""
    at: datetime


class Webhook(Struct, frozen=True, kw_only=True):
    """A URL that is told of events."""

    id: UUID
    url: str
    events: list[Event]
    description: str | None
    enabled: bool
    secret_hint: str
    """Last characters of the secret, to tell it by."""
    old_secret_until: datetime | None
    failing_since: datetime | None
    """Since when nothing but failures came back, in UTC. Null: the last attempt succeeded."""
    last_delivery: LastDelivery | None
    """The last attempt. Null: nothing was sent yet."""
    waiting: int
    """How many deliveries wait, roughly."""
    events_passed_over: int
    """How many events are not told, since too many deliveries were waiting."""
    disabled_at: datetime | None
    """When it was switched off, in UTC. Null: it is on."""
    disabled_reason: str | None
    """Why the service switched it off. Null: it is on, or somebody did."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class NewWebhook(Webhook, frozen=True, kw_only=True):
    """A webhook with its secret."""

    secret: Secret
    """Secret that signs its messages (whsec_...); shown in this answer only."""


class RotatedSecret(Struct, frozen=True, kw_only=True):
    """A webhook's new secret."""

    id: UUID
    secret: Secret
    """Secret that signs its messages from now on (whsec_...); shown in this answer only."""
    old_secret_until: datetime | None


class Delivery(Struct, frozen=True, kw_only=True):
    """An event on its way to a webhook."""

    id: UUID
    message_id: str
    """Header webhook-id of the message: the same in every attempt and replay."""
    event: str
    status: DeliveryStatus
    """pending: it will be tried, again if need be; delivered; failed: given up."""
    attempts: list[Attempt]
    """Every attempt, the oldest first."""
    next_attempt_at: datetime | None
    """When it is tried next, in UTC. Null: no more."""
    error: str | None
    """Why the last attempt failed. Null: it did not."""
    payload: dict[str, Any]
    """What is sent: type, timestamp and data."""
    created_at: datetime
    completed_at: datetime | None


class DeliveryList(PageQuery, frozen=True, kw_only=True):
    """Which deliveries of a webhook, the newest first."""

    status: DeliveryStatus | None = None
    """pending, delivered or failed."""
    event: Annotated[str, Meta(max_length=100)] | None = None


# Requests -------------------------------------------------------------------------------------------------------------


class WebhookCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A webhook to be."""

    url: Url
    events: Events
    description: Description | None = None
    enabled: bool = True


@patch_of(WebhookCreate)
class WebhookPatch(Patch, frozen=True):
    """What changes of a webhook."""


class SecretRotation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to replace a secret."""

    overlap_hours: Annotated[
        int, Meta(ge=0, le=OVERLAP_HOURS_MAX, description="Hours that the old secret still signs beside the new one")
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
