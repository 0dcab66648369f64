"""The activity feed's query over the audit log."""

from __future__ import annotations

from service.activity.schema import ActivityFeed, ActivityQuery, Occurrence, told
from service.platform.data.audit_filter import CONDITIONS, AuditFilter
from service.platform.unit.context import Context
from service.platform.unit.listing import rows_of

_SEEN = """
    id, action, resource_type AS entity_type, resource_id AS entity_id, resource_name AS entity_name,
    user_id, user_email, api_key_id, occurred_at AS created_at,
    CASE action WHEN 'calculation.completed' THEN (details ->> 'calls')::bigint END AS calls
"""


async def feed(ctx: Context, asked: AuditFilter, query: ActivityQuery) -> ActivityFeed:
    """A part of the feed, the newest first."""
    seen, total = await rows_of(
        ctx,
        Occurrence,
        _SEEN,
        "audit_log WHERE true",
        asked.values,
        order="occurred_at DESC, sequence DESC",
        limit=query.limit,
        offset=query.offset,
        conditions=CONDITIONS,
    )
    return ActivityFeed([told(one) for one in seen], total, query.limit, query.offset)
