"""What reports say: their records, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.redact.kinds import Level, Strategy
from service.compliance.schema import SuiteId
from service.platform.base.problem import Problem
from service.platform.route.api import PageSize, SliceQuery
from service.reconciliation.schema import TapeId

FILENAME_CHARACTERS = 255

ReportType = Literal["compliance", "reconciliation"]
ReportFormat = Literal["pdf", "xlsx"]
ReportStatus = Literal["pending", "generating", "completed", "failed"]
FileName = Annotated[
    str, Meta(min_length=1, max_length=FILENAME_CHARACTERS, description="A name without a folder; unset: one is made")
]

# Records --------------------------------------------------------------------------------------------------------------


class ReportOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a report is made; those of the other format do nothing."""

    sanitize_pii: bool = True
    classification_threshold: Level = "confidential"
    redaction_strategy: Strategy = "mask"
    xlsx_include_styles: bool = True
    xlsx_freeze_header: bool = True
    xlsx_auto_width: bool = True


class Report(Struct, frozen=True, kw_only=True):
    """A document on a run or a comparison, and how far it is."""

    id: UUID
    report_type: ReportType
    """compliance: of a run; reconciliation: of a comparison."""
    status: ReportStatus
    """pending: waits; generating; completed: can be downloaded; failed: see `error_details`."""
    format: ReportFormat
    filename: str
    """Name that the download has."""
    workbook_id: UUID
    """The workbook that it is about; of a reconciliation the one that the tape was compared with."""
    run_id: UUID | None
    """The compliance run that it shows. Null: it shows none."""
    tape_id: str | None
    """The tape that it is about. Null: it is about none."""
    job_id: str | None
    """The comparison that it shows. Null: it shows none."""
    file_size_bytes: int | None
    download_url: str | None
    error_details: str | None
    options: ReportOptions
    created_by: str
    created_at: datetime
    completed_at: datetime | None
    expires_at: datetime | None
    """From when on it cannot be downloaded, in UTC. Null: not made yet."""


class ReportRow(Report, frozen=True, kw_only=True):
    """A stored report."""

    document_id: UUID | None


class ReportList(SliceQuery, frozen=True, kw_only=True):
    """Which reports, in which order."""

    limit: PageSize = 20
    report_type: ReportType | None = None
    """compliance or reconciliation."""
    sort_by: Literal["created_at", "completed_at", "report_type", "status"] = "created_at"
    sort_dir: Literal["asc", "desc"] = "desc"
    """asc: smallest or oldest first; desc: largest or newest first."""


# Requests -------------------------------------------------------------------------------------------------------------


class ReportWish(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every request for a report may say."""

    format: ReportFormat = "pdf"
    filename: FileName | None = None
    options: ReportOptions = ReportOptions()


class ComplianceReportRequest(ReportWish, frozen=True, kw_only=True):
    """Which run of a workbook."""

    workbook_id: UUID
    run_id: UUID | None = None
    """Any run, a partial one too. Unset: the newest full run."""
    suite: SuiteId | None = None
    """Suite whose newest full run is shown. Unset: whichever was run last."""


class ReconciliationReportRequest(ReportWish, frozen=True, kw_only=True):
    """Which tape: its newest completed comparison is shown."""

    tape_id: TapeId


class ReportRequest(ReportWish, frozen=True, kw_only=True):
    """A report of either kind."""

    report_type: ReportType
    """compliance: of a run; reconciliation: of a comparison."""
    workbook_id: UUID | None = None
    """The workbook of a compliance report, which cannot do without."""
    tape_id: TapeId | None = None
    """The tape of a reconciliation report, which cannot do without."""
    run_id: UUID | None = None
    """Any run, a partial one too. Unset: the newest full run."""
    suite: SuiteId | None = None
    """Suite whose newest full run is shown. Unset: whichever was run last."""


# Refusals -------------------------------------------------------------------------------------------------------------


class ReportNotFound(Problem, status=404):
    """Report not found"""


class ReportNotReady(Problem, status=409):
    """Report is not ready"""


class ReportExpired(Problem, status=410):
    """Report has expired"""


class ReportLimitExceeded(Problem, status=403):
    """Report limit exceeded"""


class NothingRun(Problem, status=409):
    """Workbook has no compliance run"""


class NothingCompared(Problem, status=409):
    """Tape has no completed comparison"""
