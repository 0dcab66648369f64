"""Dead letters: their records, requests and refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from service.platform.base.problem import Problem
from service.platform.route.api import Offset, PageSize

Status = Literal["pending_review", "retried", "resolved", "discarded"]
NOTES_CHARACTERS = 4_000
ARGUMENTS_CHARACTERS = 10_000
"""Shown of a task's arguments: a sealed letter may be far longer."""


class EntryQuery(Struct, frozen=True, kw_only=True):
    """Which entries."""

    limit: PageSize = 50
    offset: Offset = 0
    status: Status | None = None
    """pending_review, retried (given back to a worker), resolved or discarded."""
    task_name: Annotated[str, Meta(max_length=100)] | None = None
    """Kind of task, such as workbooks.parse."""
    tenant_id: (
        Annotated[
            UUID, Meta(description="Whose entries: for who runs the deployment, since others see their own alone")
        ]
        | None
    ) = None


class RetryQuery(Struct, frozen=True, kw_only=True):
    """How a task is given back."""

    force: Annotated[bool, Meta(description="Retry even when that was done as often as is allowed")] = False


class Resolution(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why nothing more is to be done."""

    resolution_notes: Annotated[str, Meta(max_length=NOTES_CHARACTERS)] | None = None


class Failure(Struct, frozen=True):
    """What the last run raised."""

    type: str
    """Class of the error."""
    message: str
    """What the error says."""
    traceback: str
    """Where in the code it came up."""


class Entry(Struct, frozen=True, kw_only=True):
    """A task that failed for good."""

    dlq_id: str
    """Identifier of this entry."""
    original_task_id: str
    task_name: str
    task_args: str
    """Always an empty JSON list: arguments go by name."""
    task_kwargs: str
    """The task's arguments as JSON, cut off where they are long; what is sealed stays so."""
    exception: Failure
    """What the last attempt raised."""
    tenant_id: UUID
    retries_attempted: int
    """Runs after the first, of the task itself."""
    failed_at: datetime
    """When it failed for good, in UTC."""
    processed_at: datetime
    """Same as `failed_at`."""
    status: Status
    """pending_review; retried: given back to a worker; resolved or discarded: nothing more is to be done."""
    retry_count: int
    """How often the work was given back to a worker, as this task and as those before it."""
    last_retry_at: datetime | None
    """When it was last given back, in UTC. Null: never."""
    retry_task_id: str | None
    """The task that does the work again. Null: none."""
    resolved_at: datetime | None
    resolution_notes: str | None


class Entries(Struct, frozen=True):
    """Some of the entries, the newest first."""

    items: list[Entry]
    total: int
    limit: int
    offset: int


class Task(Struct, frozen=True, kw_only=True):
    """What it takes to do the work of an entry again."""

    dlq_id: str
    original_task_id: str
    task_name: str
    queue: str
    arguments: dict[str, Any]
    status: Status
    retry_count: int


class Retried(Struct, frozen=True, kw_only=True):
    """A task that was given back."""

    original_task_id: str
    retry_task_id: str
    """The task that does the work again."""
    status: Literal["retried"]
    """retried: the work waits for a worker."""
    message: str


class ResolvedEntry(Struct, frozen=True, kw_only=True):
    """An entry that nothing more is to be done for."""

    task_id: str
    """The background task that failed."""
    status: Literal["resolved"]
    """resolved: nothing more is to be done."""
    resolved_at: datetime
    resolution_notes: str | None


class EntryStats(Struct, frozen=True, kw_only=True):
    """How many tasks failed for good."""

    timestamp: datetime
    total_failures: int
    """Entries of every status."""
    pending_entries: int
    """Entries that wait for review."""
    by_task: dict[str, int]
    """Entries of every status, by the task's name."""
    health: Literal["healthy", "warning", "critical"]
    """healthy: nothing waits for review; warning: up to ten do; critical: more."""


class EntryNotFound(Problem, status=404):
    """Dead letter not found"""


class NotPending(Problem, status=409):
    """Dead letter is not pending review"""


class RetriesExceeded(Problem, status=409):
    """Maximum retries exceeded"""


class NotLifted(Problem, status=409):
    """Task cannot be retried"""
