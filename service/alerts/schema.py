"""What alerts say: their records, their history, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.alerts.conditions import AlertType
from service.alerts.channel_schema import CHANNELS_MAX, Channel, ChannelGiven, ChannelType
from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery
from service.platform.route.patch import Patch, patch_of

COOLDOWN_MINUTES_MAX = 366 * 24 * 60

DeliveryStatus = Literal["pending", "delivered", "failed"]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Channels = Annotated[list[ChannelGiven], Meta(min_length=1, max_length=CHANNELS_MAX)]
Cooldown = Annotated[int, Meta(ge=0, le=COOLDOWN_MINUTES_MAX)]

# Records --------------------------------------------------------------------------------------------------------------


class AlertItem(Struct, frozen=True, kw_only=True):
    """An alert in a list."""

    id: UUID
    name: str
    description: str | None
    alert_type: AlertType
    enabled: bool
    workbook_id: UUID | None
    """The workbook that it watches. Null: every workbook of the tenant."""
    last_triggered: datetime | None
    """When it last triggered, in UTC. Null: never."""
    trigger_count: int
    """How often it has triggered."""
    created_at: datetime


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one channel's message."""

    channel_id: UUID
    channel: ChannelType
    status: DeliveryStatus
    """pending: it will be tried again; delivered; failed: given up."""
    attempts: int
    """How often sending was tried."""
    error: str | None
    """Why the last attempt failed. Null: it did not."""
    completed_at: datetime | None


class Trigger(Struct, frozen=True, kw_only=True):
    """One time that an alert triggered."""

    id: UUID
    triggered_at: datetime
    """When the condition came to hold, in UTC."""
    metric_value: float | None
    """The figure that triggered it. Null: no single one did."""
    notifications_sent: int
    """How many channels took their message."""
    channels_notified: list[ChannelType]
    """Types of the channels that took their message, in the order of the channels."""
    workbook_id: UUID | None
    """The workbook that it was about. Null: none, or deleted since."""
    run_id: UUID | None
    """The compliance run whose figures were looked at. Null: none."""
    details: dict[str, Any]
    """What was compared: metric, figures, limit, and the sentence that was sent."""
    deliveries: list[Outcome]
    """What became of each channel's message."""


class AlertFields(AlertItem, frozen=True, kw_only=True):
    """An alert as it is read and as it is stored."""

    conditions: dict[str, Any]
    channels: list[Channel]
    cooldown_minutes: int
    next_at: datetime | None
    """When an enabled schedule is due next, in UTC. Null: it has none."""
    last_evaluation: dict[str, Any] | None
    """What the last look at its conditions came to. Null: nobody looked yet."""
    created_by: str
    updated_at: datetime


class Alert(AlertFields, frozen=True, kw_only=True):
    """Conditions that are watched, and whom to tell."""

    history: list[Trigger] | UnsetType = UNSET
    """Its last triggers, the newest first; only with include_history."""


class AlertRow(AlertFields, frozen=True, kw_only=True):
    """A stored alert."""

    channel_secrets: str | None
    version: int


class ChannelTest(Struct, frozen=True, kw_only=True):
    """What came of a test message to one channel."""

    channel: ChannelType
    channel_id: UUID
    status: Literal["delivered", "failed"]
    """delivered, or failed."""
    message: str
    """What the receiver answered, or why it could not be reached."""


class AlertTest(Struct, frozen=True, kw_only=True):
    """What came of a test of an alert."""

    test_id: UUID
    """Identifier of this test of the alert."""
    alert_id: UUID
    """The alert that was tested."""
    results: list[ChannelTest]
    """What came of each channel."""
    tested_at: datetime
    """When the messages were sent, in UTC."""


# Requests -------------------------------------------------------------------------------------------------------------


class AlertCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An alert to be."""

    name: Name
    alert_type: Annotated[str, Meta(max_length=100)]
    conditions: dict[str, Any]
    channels: Channels
    description: Description | None = None
    workbook_id: UUID | None = None
    """The workbook to watch. Unset: every workbook of the tenant."""
    enabled: bool = True
    cooldown_minutes: Cooldown = 60


@patch_of(AlertCreate, "name description conditions channels enabled cooldown_minutes")
class AlertPatch(Patch, frozen=True):
    """What to change of an alert; conditions and channels are replaced as a whole."""


class AlertList(PageQuery, frozen=True, kw_only=True):
    """Which alerts, the newest first."""

    workbook_id: UUID | None = None
    alert_type: AlertType | None = None
    enabled: bool | None = None
    """true: those that are switched on; false: the others."""


class AlertDetail(Struct, frozen=True, kw_only=True):
    """How much to say of an alert."""

    include_history: bool = False
    """Add the last triggers as `history`."""
    history_limit: Annotated[int, Meta(ge=1, le=100)] = 10
    """Most triggers in `history`, the newest first."""


# Refusals -------------------------------------------------------------------------------------------------------------


class AlertNotFound(Problem, status=404):
    """Alert not found"""


class InvalidAlertType(Problem, status=400):
    """Invalid alert type"""


class InvalidConditions(Problem, status=400):
    """Invalid conditions"""


class AlertLimitExceeded(Problem, status=403):
    """Alert limit exceeded"""
