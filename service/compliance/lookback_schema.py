"""What a look back says.

Past events of compliance, with what each was decided by and what proves it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.data.audit_filter import Action, Since, Until
from service.platform.route.api import Offset
from service.workbooks.schema import StreamKey

Category = Literal[
    "alert", "batch", "calculation", "compliance", "deal", "document", "export", "formula", "issue", "mapping",
    "reconciliation", "report", "scenario", "stream_profile", "tape", "threshold", "trade", "workbook",
]  # fmt: skip
"""The first word of an event's type. Of logins, users, keys and settings the audit log alone tells, and admins only."""


class Lookback(Struct, frozen=True, kw_only=True):
    """Which events, and how much of each."""

    event_type: Action | None = None
    event_category: Category | None = None
    subject_id: (
        Annotated[str, Meta(max_length=100, description="Record that an event is about: a run, a workbook, a deal")]
        | None
    ) = None
    actor_id: UUID | None = None
    """Events that this user caused. Unset: whoever did."""
    stream_key: StreamKey | None = None
    start_date: Since | None = None
    end_date: Until | None = None
    include_inputs: Annotated[bool, Meta(description="Add what a run was made by")] = False
    include_outputs: Annotated[bool, Meta(description="Add every result of a run")] = False
    include_changes: Annotated[bool, Meta(description="Add what the event says of the record")] = False
    include_proof: Annotated[bool, Meta(description="Add the place in the tenant's chain")] = False
    offset: Offset = 0
    limit: Annotated[int, Meta(ge=1, le=100, description="Most events of an answer")] = 50


class Proof(Struct, frozen=True, kw_only=True):
    """An event's place in the tenant's hash chain."""

    sequence: int
    hash: str
    """SHA-256 over the audit log's entry and the hash before it, 64 hexadecimal digits."""
    previous_hash: str
    """Hash of the entry before it, 64 hexadecimal digits."""
    is_whole: bool
    """Whether the stored entry still gives that hash."""
    evidence_hash: str | None
    """SHA-256 of a run's inputs and outputs, as the entry has it. Null: no run, or one of an earlier version."""
    evidence_verified: bool | None
    """Whether the stored run still gives that hash. Null: there is none."""
    engine_version: str | None
    """Version of the engine that made the run. Null: no run."""
    is_present_engine: bool | None
    """Whether that is the engine of today; another one may give other figures. Null: no run."""
    inputs_kept: bool | None
    """Whether the columns that the run read are still stored, so that it can be replayed bit for bit. Null: no run."""
    inputs_kept_until: datetime | None
    """When the retention of every run of these columns ends, in UTC. Null: never, or no run."""


class LookbackBody(Lookback, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events, and how much of each, in a body."""


class LookbackEvent(Struct, frozen=True, kw_only=True):
    """Something that happened, as the audit log has it."""

    event_id: UUID
    """Identifier of the audit entry."""
    event_type: str
    """What happened, as entity.verb: compliance.run_completed."""
    event_category: str
    """First word of `event_type`."""
    occurred_at: datetime
    """When it happened, in UTC."""
    actor_id: UUID | None
    """User who did it, or who made the API key that did. Null: the service itself."""
    actor_email: str | None
    """E-mail address of that user at the time."""
    subject_type: str | None
    """Kind of record that it is about: compliance_run, workbook, deal, ..."""
    subject_id: str | None
    """Identifier of that record."""
    stream_key: str | None
    """The stream of a run as it was then; of other events what they name, or their workbook or deal does now."""
    summary: str
    """The event in one sentence."""
    inputs: dict[str, Any] | None
    """What a run was made by, such as its definition and thresholds; only with include_inputs."""
    outputs: dict[str, Any] | None
    """What a run came to; only with include_outputs."""
    changes: dict[str, Any] | None
    """What the event says of the record; only with include_changes."""
    proof: Proof | None
    """Its place in the tenant's chain; only with include_proof."""


class Chain(Struct, frozen=True, kw_only=True):
    """Whether what was answered can be trusted."""

    verified: bool
    """Whether every answered event and run gives its hash, and every entry from the first to the last number here
    does."""
    first_sequence: int | None
    """Lowest number of the entries that were checked. Null: none."""
    last_sequence: int | None
    """Highest number of the entries that were checked. Null: none."""


class LookbackEvents(Struct, frozen=True, kw_only=True):
    """A part of the events, the newest first."""

    items: list[LookbackEvent]
    total: int
    offset: int
    limit: int
    chain: Chain
    """Whether the entries behind this answer are whole."""
