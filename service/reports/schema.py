"""What reports say: their records, the requests, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.redact.kinds import Level, Strategy
from service.compliance.schema import SuiteId
from service.platform.http.api import PageSize, SliceQuery
from service.platform.http.problem import Problem
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
    """Personal data in texts is redacted."""
    classification_threshold: Level = "confidential"
    """From which class on."""
    redaction_strategy: Strategy = "mask"
    xlsx_include_styles: bool = True
    xlsx_freeze_header: bool = True
    xlsx_auto_width: bool = True


class Report(Struct, frozen=True, kw_only=True):
    """A report."""

    id: UUID
    report_type: ReportType
    status: ReportStatus
    format: ReportFormat
    filename: str
    workbook_id: UUID
    """Of a reconciliation: what the tape was compared with."""
    run_id: UUID | None
    """The compliance run that it shows."""
    tape_id: str | None
    job_id: str | None
    """The comparison that it shows."""
    file_size_bytes: int | None
    download_url: str | None
    """Null until it is completed, and once it has expired."""
    error_details: str | None
    options: ReportOptions
    created_by: str
    created_at: datetime
    completed_at: datetime | None
    expires_at: datetime | None


class ReportRow(Report, frozen=True, kw_only=True):
    """A stored report."""

    document_id: UUID | None


class ReportList(SliceQuery, frozen=True, kw_only=True):
    """Which reports, in which order."""

    limit: PageSize = 20
    report_type: ReportType | None = None
    sort_by: Literal["created_at", "completed_at", "report_type", "status"] = "created_at"
    sort_dir: Literal["asc", "desc"] = "desc"


# Requests -------------------------------------------------------------------------------------------------------------


class Asked(Struct, frozen=True, kw_only=True):
    """What every request for a report may say."""

    format: ReportFormat = "pdf"
    filename: FileName | None = None
    options: ReportOptions = ReportOptions()


class ComplianceReportRequest(Asked, frozen=True, kw_only=True):
    """Which run of a workbook."""

    workbook_id: UUID
    run_id: UUID | None = None
    """Unset: the newest."""
    suite: SuiteId | None = None
    """Unset: whichever was run last."""


class ReconciliationReportRequest(Asked, frozen=True, kw_only=True):
    """Which tape: its newest completed comparison is shown."""

    tape_id: TapeId


class ReportRequest(Asked, frozen=True, kw_only=True):
    """A report of either kind."""

    report_type: ReportType
    workbook_id: UUID | None = None
    """What a compliance report cannot do without; so is the tape to the other."""
    tape_id: TapeId | None = None
    run_id: UUID | None = None
    suite: SuiteId | None = None


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
