"""The activity feed's row."""

from __future__ import annotations

from service.activity import actions
from service.activity.schema import ActivityFeed, ActivityQuery
from service.platform.route.api import Area
from service.platform.unit.context import Context

area = Area("/api/v1/activity", tag="activity", scope="workbooks")


@area.get(lags=True)
async def list_activity(ctx: Context, query: ActivityQuery) -> ActivityFeed:
    """List what happened in the tenant, the newest first."""
    return await actions.feed(ctx, query)
