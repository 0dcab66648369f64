"""Notifications' queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from service.notifications.schema import Notification, NotificationList, NotificationNotFound
from service.platform.route.api import Page
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_page

_READ = {True: "read_at IS NULL", False: "read_at IS NOT NULL"}

TO_USERS = "id = ANY (%(user_ids)s)"
TO_ADMINS = "role IN ('owner', 'admin')"


async def read_page(ctx: Context, query: NotificationList) -> Page[Notification]:
    """Return the caller's own."""
    return await fetch_page(
        ctx,
        Notification,
        columns_of(Notification),
        "notifications WHERE true",
        {"user_id": ctx.caller.user_id, "unread": query.unread},
        query,
        order="created_at DESC, id",
        conditions={"unread": _READ.get(query.unread, "")} if query.unread is not None else None,
    )


async def read(ctx: Context, notification_id: UUID) -> None:
    """Note that the caller has read one; when it was first."""
    count = await ctx.execute(
        "UPDATE notifications SET read_at = coalesce(read_at, now()) WHERE id = %s AND user_id = %s",
        [notification_id, ctx.caller.user_id],
    )
    if not count:
        raise NotificationNotFound


async def read_all(ctx: Context) -> None:
    """Note that the caller has read all that they have not read yet."""
    await ctx.execute(
        "UPDATE notifications SET read_at = now() WHERE user_id = %s AND read_at IS NULL", [ctx.caller.user_id]
    )


async def add(unit: Unit, where: str, user_ids: Sequence[UUID], row: dict[str, Any]) -> int:
    """Notify the active users who match; return their number."""
    return await unit.execute(
        f"""
        INSERT INTO notifications (tenant_id, id, user_id, type, priority, title, message, resource_type, resource_id)
        SELECT tenant_id, gen_random_uuid(), id, %(type)s, %(priority)s, %(title)s, %(message)s, %(resource_type)s,
               %(resource_id)s
        FROM users WHERE status = 'active' AND {where}
        """,
        {**row, "user_ids": list(user_ids)},
    )
