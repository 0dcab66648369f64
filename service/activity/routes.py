"""The activity feed's row."""

from __future__ import annotations

from service.activity import actions
from service.activity.schema import ActivityFeed, ActivityQuery
from service.platform.context import Context
from service.platform.http.api import Area

area = Area("/api/v1/activity", tag="activity", scope="workbooks")


@area.get(lags=True)
async def list_activity(ctx: Context, query: ActivityQuery) -> ActivityFeed:
    """List what happened in the tenant, the newest first."""
    return await actions.feed(ctx, query)
