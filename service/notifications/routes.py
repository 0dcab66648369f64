"""Notifications' rows."""

from __future__ import annotations

from uuid import UUID

from service.notifications import store
from service.notifications.schema import Notification, NotificationList, NotificationNotFound
from service.platform.route.api import Area, Page
from service.platform.unit.context import Context

area = Area("/api/v1/notifications", tag="notifications")


@area.get(access="any", lags=True)
async def list_notifications(ctx: Context, query: NotificationList) -> Page[Notification]:
    """List the caller's messages, the newest first.

    An API key reads its creator's.
    """
    return await store.read_page(ctx, query)


@area.post("/read-all", access="user")
async def read_all_notifications(ctx: Context) -> None:
    """Mark every notification of the caller as read.

    Those that are read already keep their moment.
    """
    await store.read_all(ctx)


@area.post("/{notification_id}/read", access="any", errors=(NotificationNotFound,))
async def read_notification(ctx: Context, notification_id: UUID) -> None:
    """Mark a notification of the caller as read.

    A second time changes nothing.
    """
    await store.read(ctx, notification_id)
