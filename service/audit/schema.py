"""The audit log: entries, queries, refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.base.problem import Problem
from service.platform.data.audit_filter import Action, ResourceType, Since, Until
from service.platform.route.api import PageNumber, PageSize


class AuditQuery(Struct, frozen=True, kw_only=True):
    """Which entries."""

    user_id: UUID | None = None
    action: Action | None = None
    resource_type: ResourceType | None = None
    start_date: Since | None = None
    end_date: Until | None = None


class AuditList(AuditQuery, frozen=True, kw_only=True):
    """Which page of which entries."""

    page: PageNumber = 1
    page_size: PageSize = 50

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


class AuditExport(AuditQuery, frozen=True, kw_only=True):
    """Which entries, and how they are written."""

    format: Annotated[Literal["csv", "jsonl"], Meta(description="csv, or JSON lines that `cushion audit` checks")] = (
        "csv"
    )


class AuditEntry(Struct, frozen=True, kw_only=True):
    """An entry of the audit log."""

    id: UUID
    timestamp: datetime
    """When it happened, in UTC."""
    user_id: UUID | None
    """Who did it. Null: the service itself."""
    user_email: str | None
    """E-mail address of that user at the time; a token once the person was erased."""
    action: str
    resource_type: str | None
    resource_id: str | None
    resource_name: str | None
    """Name that the record had at the time."""
    ip_address: str | None
    """Where the request came from; of an entry that tells of several calls all of them, parted by commas."""
    user_agent: str | None
    """The program that called, as it names itself."""
    details: dict[str, Any]
    """What else was recorded: what changed, from what, to what."""
    api_key_id: UUID | None
    """The API key that was used. Null: a user's token, or the service itself."""
    request_id: str | None
    sequence: int
    hash: str
    """SHA-256 over the entry and the hash of the one before it, 64 hexadecimal digits."""


class EnterpriseTierRequired(Problem, status=403):
    """Enterprise tier required"""
