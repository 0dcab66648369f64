"""A job's state, and its refusal."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from service.platform.base.problem import Problem

Status = Literal["pending", "running", "completed", "failed"]


class JobState(Struct, frozen=True, kw_only=True):
    """A job of the tenant."""

    job_id: str
    kind: Annotated[
        str, Meta(description="What the job does: workbooks.parse, reconciliation.read_tape, exports.make, ...")
    ]
    status: Status
    """pending: waits; running; completed; failed: see `error`."""
    progress: Annotated[int, Meta(ge=0, le=100)] | None
    """Percent that is done. Null: it runs, and does not say."""
    resource_type: str | None
    resource_id: str | None
    failures: int
    """How many runs of it failed; another one may follow."""
    created_at: datetime
    started_at: datetime | None
    """When a worker last began with it, in UTC. Null: none has."""
    finished_at: datetime | None
    """When it ended, in UTC. Null: not yet."""
    error: str | None
    """Why it failed. Null: it did not."""


class JobNotFound(Problem, status=404):
    """Job not found"""
