"""What notifications say: their record, the list, the refusal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.base.problem import Problem
from service.platform.route.api import PageQuery

Priority = Literal["low", "normal", "high", "urgent"]


class Notification(Struct, frozen=True, kw_only=True):
    """Something that a user is told."""

    id: UUID
    type: str
    """What happened, as entity.verb: export.completed."""
    priority: Priority
    """How much it matters."""
    title: str
    message: str
    """The text of the notification."""
    resource_type: str | None
    resource_id: str | None
    """Null: no record."""
    created_at: datetime
    read_at: datetime | None
    """When it was marked as read, in UTC. Null: unread."""


class NotificationList(PageQuery, frozen=True, kw_only=True):
    """Which notifications, the newest first."""

    unread: Annotated[
        bool | None, Meta(description="true: only those that are not read yet; false: only the others")
    ] = None


class NotificationNotFound(Problem, status=404):
    """Notification not found"""
