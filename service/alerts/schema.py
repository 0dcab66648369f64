"""What alerts say: their records, their history, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.alerts.conditions import AlertType
from service.alerts.channel_schema import CHANNELS_MAX, Channel, ChannelGiven, ChannelType
from service.platform.http.api import PageQuery
from service.platform.http.problem import Problem

COOLDOWN_MINUTES_MAX = 366 * 24 * 60

DeliveryStatus = Literal["pending", "delivered", "failed"]
Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]
Description = Annotated[str, Meta(max_length=2000)]
Conditions = Annotated[dict[str, Any], Meta(description="By type, as the README says")]
Channels = Annotated[list[ChannelGiven], Meta(min_length=1, max_length=CHANNELS_MAX)]
Cooldown = Annotated[int, Meta(ge=0, le=COOLDOWN_MINUTES_MAX, description="Least time between two triggers")]

# Records --------------------------------------------------------------------------------------------------------------


class AlertItem(Struct, frozen=True, kw_only=True):
    """An alert in a list."""

    id: UUID
    name: str
    description: str | None
    alert_type: AlertType
    enabled: bool
    workbook_id: UUID | None
    """Null: every workbook of the tenant."""
    last_triggered: datetime | None
    trigger_count: int
    created_at: datetime


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of one channel's message."""

    channel_id: UUID
    channel: ChannelType
    status: DeliveryStatus
    attempts: int
    error: str | None
    completed_at: datetime | None


class Trigger(Struct, frozen=True, kw_only=True):
    """One time that an alert triggered."""

    id: UUID
    triggered_at: datetime
    metric_value: float | None
    notifications_sent: int
    """Channels that took their message."""
    channels_notified: list[ChannelType]
    """Their types, in the order of the channels."""
    workbook_id: UUID | None
    """What it was about."""
    run_id: UUID | None
    details: dict[str, Any]
    deliveries: list[Outcome]


class Alert(AlertItem, frozen=True, kw_only=True):
    """An alert."""

    conditions: dict[str, Any]
    channels: list[Channel]
    cooldown_minutes: int
    next_at: datetime | None
    """When an enabled schedule is due next."""
    last_evaluation: dict[str, Any] | None
    """What the last look at its conditions came to."""
    created_by: str
    updated_at: datetime
    history: list[Trigger] | UnsetType = UNSET
    """The newest triggers first, where they were asked for."""


class AlertRow(Alert, frozen=True, kw_only=True):
    """A stored alert."""

    channel_secrets: str | None
    version: int


class ChannelTest(Struct, frozen=True, kw_only=True):
    """What came of a test message to one channel."""

    channel: ChannelType
    channel_id: UUID
    status: Literal["delivered", "failed"]
    message: str


class AlertTest(Struct, frozen=True, kw_only=True):
    """What came of a test of an alert."""

    test_id: UUID
    alert_id: UUID
    results: list[ChannelTest]
    tested_at: datetime


# Requests -------------------------------------------------------------------------------------------------------------


class AlertCreate(Struct, frozen=True, kw_only=True):
    """An alert to be."""

    name: Name
    alert_type: Annotated[str, Meta(max_length=100, description="threshold, compliance, trend, schedule")]
    conditions: Conditions
    channels: Channels
    description: Description | None = None
    workbook_id: UUID | None = None
    enabled: bool = True
    cooldown_minutes: Cooldown = 60


class AlertPatch(Struct, frozen=True, kw_only=True):
    """What to change of an alert; conditions and channels are replaced as a whole."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    conditions: Conditions | UnsetType = UNSET
    channels: Channels | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET
    cooldown_minutes: Cooldown | UnsetType = UNSET


class AlertList(PageQuery, frozen=True, kw_only=True):
    """Which alerts, the newest first."""

    workbook_id: UUID | None = None
    alert_type: AlertType | None = None
    enabled: bool | None = None


class AlertDetail(Struct, frozen=True, kw_only=True):
    """How much to say of an alert."""

    include_history: bool = False
    history_limit: Annotated[int, Meta(ge=1, le=100)] = 10


# Refusals -------------------------------------------------------------------------------------------------------------


class AlertNotFound(Problem, status=404):
    """Alert not found"""


class InvalidAlertType(Problem, status=400):
    """Invalid alert type"""


class InvalidConditions(Problem, status=400):
    """Invalid conditions"""


class AlertLimitExceeded(Problem, status=403):
    """Alert limit exceeded"""
