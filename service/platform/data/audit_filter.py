"""Filters of the audit log, as a condition with its values."""

from __future__ import annotations

from datetime import datetime, time
from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.base.moments import Moment, moment

Action = Annotated[str, Meta(max_length=100, description="What was done, as entity.verb: workbook.uploaded")]
ResourceType = Annotated[str, Meta(max_length=100, description="Kind of record: workbook, user, api_key, ...")]
Since = Annotated[Moment, Meta(description="First moment, as an ISO 8601 date-time or date")]
Until = Annotated[Moment, Meta(description="Last moment, inclusive, as an ISO 8601 date-time or date (its whole day)")]


class AuditFilter(Struct, frozen=True, kw_only=True):
    """What entries have to match; None matches every one."""

    user_id: UUID | None = None
    action: str | None = None
    resource_type: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Inclusive."""

    @property
    def where(self) -> str:
        """Return the condition on the columns of audit_log; the tenant is row security's.

        Only what is asked stands in it, so that a prepared statement's plan is the one for its index.
        """
        return " AND ".join(["true", *(CONDITIONS[name] for name in self.values)])

    @property
    def values(self) -> dict[str, Any]:
        """Return the condition's parameters, by name."""
        values = {name: getattr(self, name) for name in CONDITIONS}
        return {name: value for name, value in values.items() if value is not None}


CONDITIONS = {
    "user_id": "user_id = %(user_id)s",
    "action": "action = %(action)s",
    "resource_type": "resource_type = %(resource_type)s",
    "since": "occurred_at >= %(since)s",
    "until": "occurred_at <= %(until)s",
}


def audit_filter(
    *,
    user_id: UUID | None,
    action: str | None,
    resource_type: str | None,
    start_date: str | None,
    end_date: str | None,
) -> AuditFilter:
    """Return the filter that a query asks for.

    Raises:
        ValidationFailed: `start_date` or `end_date` is no moment.
    """
    return AuditFilter(
        user_id=user_id,
        action=action,
        resource_type=resource_type,
        since=moment(["query", "start_date"], start_date) if start_date is not None else None,
        until=moment(["query", "end_date"], end_date, at=time.max) if end_date is not None else None,
    )
