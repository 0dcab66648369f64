"""What a look back says: past events of compliance, with what each was decided by and what proves it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.data.audit_filter import Action, Since, Until
from service.platform.http.api import Offset
from service.workbooks.schema import StreamKey

Category = Literal[
    "alert", "calculation", "compliance", "deal", "document", "export", "formula", "issue", "mapping",
    "reconciliation", "report", "scenario", "stream_profile", "tape", "threshold", "trade", "workbook",
]  # fmt: skip
"""The first word of an event's type. Of logins, users, keys and settings the audit log alone tells, and admins only."""


class Lookback(Struct, frozen=True, kw_only=True):
    """Which events, and how much of each."""

    event_type: Action | None = None
    event_category: Category | None = None
    subject_id: Annotated[str, Meta(max_length=100, description="Of the record: a run, a workbook, a deal")] | None = (
        None
    )
    actor_id: UUID | None = None
    stream_key: StreamKey | None = None
    start_date: Since | None = None
    end_date: Until | None = None
    include_inputs: Annotated[bool, Meta(description="What a run was made by")] = False
    include_outputs: Annotated[bool, Meta(description="What a run came to: every result")] = False
    include_changes: Annotated[bool, Meta(description="What the event says of the record")] = False
    include_proof: Annotated[bool, Meta(description="Its place in the tenant's chain")] = False
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=100, description="Events in the answer")] = 50


class Proof(Struct, frozen=True, kw_only=True):
    """An event's place in the tenant's hash chain."""

    sequence: int
    hash: str
    """SHA-256 over the audit log's entry and the hash before it, 64 hexadecimal digits."""
    previous_hash: str
    is_whole: bool
    """Whether the entry gives that hash."""
    evidence_hash: str | None
    """Of a run's inputs and outputs, as the entry has it; null in other events, and those of earlier versions."""
    evidence_verified: bool | None
    """Whether the stored run still gives it; null where there is none."""


class LookbackEvent(Struct, frozen=True, kw_only=True):
    """Something that happened, as the audit log has it."""

    event_id: UUID
    event_type: str
    event_category: str
    occurred_at: datetime
    actor_id: UUID | None
    actor_email: str | None
    subject_type: str | None
    subject_id: str | None
    stream_key: str | None
    """Of a run, as it was run; else as the event says, or the workbook or deal does now."""
    summary: str
    inputs: dict[str, Any] | None
    outputs: dict[str, Any] | None
    changes: dict[str, Any] | None
    proof: Proof | None


class Chain(Struct, frozen=True, kw_only=True):
    """Whether what was answered can be trusted."""

    verified: bool
    """Every answered event and run gives its hash, and so does every entry from the first to the last number here."""
    first_sequence: int | None
    last_sequence: int | None


class LookbackEvents(Struct, frozen=True, kw_only=True):
    """A part of the events, the newest first."""

    items: list[LookbackEvent]
    total: int
    offset: int
    limit: int
    chain: Chain
