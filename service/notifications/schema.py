"""What notifications say: their record, the list, the refusal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.http.api import PageQuery
from service.platform.http.problem import Problem

Priority = Literal["low", "normal", "high", "urgent"]


class Notification(Struct, frozen=True, kw_only=True):
    """Something that a user is told."""

    id: UUID
    type: str
    """entity.verb"""
    priority: Priority
    title: str
    message: str
    resource_type: str | None
    resource_id: str | None
    created_at: datetime
    read_at: datetime | None


class NotificationList(PageQuery, frozen=True, kw_only=True):
    """Which notifications, the newest first."""

    unread: Annotated[bool | None, Meta(description="Those that are not read yet; false: those that are")] = None


class NotificationNotFound(Problem, status=404):
    """Notification not found"""
