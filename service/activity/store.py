"""The activity feed's query over the audit log."""

from __future__ import annotations

from service.activity.schema import ActivityFeed, ActivityQuery, Occurrence, to_item
from service.platform.data.audit_filter import CONDITIONS, AuditFilter
from service.platform.unit.context import Context
from service.platform.unit.listing import fetch_slice

_SEEN = """
    id, action, resource_type AS entity_type, resource_id AS entity_id, resource_name AS entity_name,
    user_id, user_email, api_key_id, occurred_at AS created_at,
    CASE action WHEN 'calculation.completed' THEN (details ->> 'calls')::bigint END AS calls
"""


async def feed(ctx: Context, filters: AuditFilter, query: ActivityQuery) -> ActivityFeed:
    """Return a part of the feed, the newest first."""
    occurrences, total = await fetch_slice(
        ctx,
        Occurrence,
        _SEEN,
        "audit_log WHERE true",
        filters.values,
        order="occurred_at DESC, sequence DESC",
        part=(query.limit, query.offset),
        conditions=CONDITIONS,
    )
    return ActivityFeed([to_item(occurrence) for occurrence in occurrences], total, query.limit, query.offset)
