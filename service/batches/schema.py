"""What batches say: the records, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.portfolio.model.portfolio import AsOfSource
from service.compliance.schema import RunOrder
from service.platform.base.problem import Problem
from service.platform.route.api import SliceQuery

BATCH_WORKBOOKS_MAX = 10_000
"""Workbooks of a batch."""

Status = Literal["pending", "running", "completed", "failed", "cancelled"]
ResultFormat = Literal["csv", "parquet", "jsonl"]
BUSY = frozenset({"pending", "running"})
"""States in which something of a batch is still to be done."""

Ids = Annotated[list[UUID], Meta(min_length=1, max_length=BATCH_WORKBOOKS_MAX)]
BatchName = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S")]


class BatchCreate(RunOrder, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which workbooks to run, and by what: `workbook_ids` or `deal_ids`."""

    workbook_ids: Ids | None = None
    """Workbooks, each named once. One that is still read is waited for, ten minutes at most."""
    deal_ids: Ids | None = None
    """Deals, each named once and run by its current workbook, definition and mapping."""
    name: BatchName | None = None
    """What people call it. Null: made of the suite and the number of workbooks."""
    format: ResultFormat = "csv"
    """Of the result file: csv, parquet or jsonl."""


class BatchList(SliceQuery, frozen=True, kw_only=True):
    """Which batches."""

    status: Status | None = None
    """pending, running, completed, failed or cancelled."""


class BatchCounts(Struct, frozen=True, kw_only=True):
    """How far a batch is, and what its runs came to."""

    total: int
    """Workbooks, or deals, of the batch."""
    done: int
    """Those that were run."""
    refused: int
    """Those that could not be run; the result file says why."""
    passed: int
    """Tests of all runs that passed."""
    failed: int
    """Tests of all runs that failed."""
    warnings: int
    """Tests of all runs that are near their limit."""
    skipped: int
    """Tests of all runs without a figure or a status."""
    doubtful: int
    """Tests of all runs whose status may be wrong; counted in the others, too."""


class Batch(Struct, frozen=True, kw_only=True):
    """A suite on many workbooks."""

    id: UUID
    name: str
    status: Status
    """pending: waits; running; completed: the result file is there until `expires_at`; failed: see `error_details`;
    cancelled."""
    test_suite: str
    format: ResultFormat
    """Of the result file."""
    counts: BatchCounts
    """How far it is, and what its runs came to."""
    progress: Annotated[int, Meta(ge=0, le=100)]
    """Percent of its workbooks that were run or refused."""
    file_size_bytes: int | None
    download_url: str | None
    """Where the result file is. Null: it is not written, or has expired."""
    expires_at: datetime | None
    """From when on it cannot be downloaded, in UTC. Null: not written yet."""
    error_details: str | None
    """Why it failed. Null: it did not."""
    created_by: str
    created_at: datetime
    started_at: datetime | None
    """When its first workbook's turn came, in UTC."""
    completed_at: datetime | None
    """When it ended, in UTC."""


class StoredItem(Struct, frozen=True, kw_only=True):
    """A workbook of a batch that had its turn, with its run."""

    position: int
    deal: str
    files: str
    sha256: str
    step: Literal["read", "suite"] | None
    """At which it was refused."""
    reason: str | None
    as_of: date | None
    as_of_source: AsOfSource | None
    test_suite: str | None
    results: str | None
    """JSON, as is the next."""
    skipped: str | None


# Refusals -------------------------------------------------------------------------------------------------------------


class BatchNotFound(Problem, status=404):
    """Batch not found"""


class BatchNotReady(Problem, status=409):
    """Batch has no results yet"""


class BatchEnded(Problem, status=409):
    """Batch has ended"""


class BatchExpired(Problem, status=410):
    """Results of the batch have expired"""


class BatchLimitExceeded(Problem, status=403):
    """Batch limit exceeded"""
