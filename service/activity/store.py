"""The activity feed's query over the audit log."""

from __future__ import annotations

from service.activity.schema import ActivityFeed, ActivityQuery, Occurrence, told
from service.platform.context import Context
from service.platform.data.audit_filter import AuditFilter

_SEEN = """
    id, action, resource_type AS entity_type, resource_id AS entity_id, resource_name AS entity_name,
    user_id, user_email, api_key_id, occurred_at AS created_at
"""


async def feed(ctx: Context, asked: AuditFilter, query: ActivityQuery) -> ActivityFeed:
    """A part of the feed, the newest first."""
    where = asked.where
    seen = await ctx.all(
        Occurrence,
        f"SELECT {_SEEN} FROM audit_log WHERE {where}"
        " ORDER BY occurred_at DESC, sequence DESC LIMIT %(limit)s OFFSET %(offset)s",
        {**asked.values, "limit": query.limit, "offset": query.offset},
    )
    total = await ctx.value(f"SELECT count(*) FROM audit_log WHERE {where}", asked.values)
    return ActivityFeed([told(one) for one in seen], total, query.limit, query.offset)
