"""What the audit log says: its entries, what may be asked of them, and its refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.data.audit_filter import Action, ResourceType, Since, Until
from service.platform.http.api import PageNumber, PageSize
from service.platform.http.problem import Problem


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
    user_id: UUID | None
    user_email: str | None
    action: str
    resource_type: str | None
    resource_id: str | None
    resource_name: str | None
    ip_address: str | None
    user_agent: str | None
    details: dict[str, Any]
    api_key_id: UUID | None
    request_id: str | None
    sequence: int
    """Place in the tenant's chain, from 1."""
    hash: str
    """SHA-256 over the entry and the hash of the one before it, 64 hexadecimal digits."""


class EnterpriseTierRequired(Problem, status=403):
    """Enterprise tier required"""
