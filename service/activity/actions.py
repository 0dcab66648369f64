"""The activity feed's decisions: what its filters mean."""

from __future__ import annotations

from service.activity import store
from service.activity.schema import ActivityFeed, ActivityQuery
from service.platform.data.audit_filter import audit_filter
from service.platform.unit.context import Context


async def feed(ctx: Context, query: ActivityQuery) -> ActivityFeed:
    """Return the part of the feed that a query asks for."""
    filters = audit_filter(
        user_id=query.user_id,
        action=query.action,
        resource_type=query.entity_type,
        start_date=query.start_date,
        end_date=query.end_date,
    )
    return await store.feed(ctx, filters, query)
