"""What exports say: the jobs, their options, what is verified of a file, the refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.export.order import ComplianceRow, Lineage
from service.platform.http.api import SliceQuery, Upload
from service.platform.http.problem import Problem

ExportFormat = Literal["xlsx", "csv", "json", "pdf"]
Status = Literal["pending", "processing", "completed", "failed", "cancelled"]

SHEETS_MAX = 50
"""As many as a workbook has."""

SheetId = Annotated[str, Meta(max_length=255, description="A sheet's identifier or its name")]
Word = Annotated[str, Meta(max_length=40)]


# What is asked --------------------------------------------------------------------------------------------------------


class ExportOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an export is written; the options of other formats than the asked one do nothing."""

    xlsx_include_styles: bool = True
    xlsx_freeze_header: bool = True
    xlsx_auto_width: bool = True
    xlsx_three_zone: bool = True
    """Foundation, Workspace and Control, instead of the sheets alone."""
    xlsx_sealed_pdf: bool = False
    """A signed PDF of the same sheets beside the .xlsx: `artifact=pdf` of the download."""
    xlsx_signing: bool = False
    """The deployment's signing service signs the file's hash."""
    csv_delimiter: Word = ","
    csv_encoding: Word = "utf-8-sig"
    json_pretty_print: bool = True
    sanitize_pii: bool = True
    """Personal data is redacted."""
    classification_threshold: Word = "confidential"
    """From which class on: public, internal, confidential or restricted."""
    redaction_strategy: Word = "mask"
    """mask, hash or remove."""


class ExportCreate(Struct, frozen=True, kw_only=True):
    """An export to be made."""

    workbook_id: UUID
    format: ExportFormat
    sheet_ids: Annotated[list[SheetId], Meta(max_length=SHEETS_MAX)] | None = None
    """All sheets when omitted."""
    options: ExportOptions = ExportOptions()


class ExportList(SliceQuery, frozen=True, kw_only=True):
    """Which exports."""

    workbook_id: UUID | None = None
    status: Status | None = None


class Download(Struct, frozen=True, kw_only=True):
    """Which of an export's files."""

    artifact: Literal["pdf"] | None = None
    """The sealed PDF beside an .xlsx; unset: the export itself."""


class VerifyForm(Struct, frozen=True, kw_only=True):
    """A file of which to tell whether it is an export as it was made."""

    file: Upload


# Records --------------------------------------------------------------------------------------------------------------


class Progress(Struct, frozen=True, kw_only=True):
    """How far an export is."""

    current: int
    total: int
    message: str
    percent: int


QUEUED = Progress(current=0, total=100, message="Queued", percent=0)


class Export(Struct, frozen=True, kw_only=True):
    """An export job."""

    id: str
    workbook_id: UUID
    format: ExportFormat
    status: Status
    file_size_bytes: int | None
    download_url: str | None
    """Null while there is nothing to download, and from its expiry on."""
    expires_at: datetime | None
    progress: Progress
    options: dict[str, Any]
    result_summary: dict[str, Any] | None
    """Of a completed one: what it holds, its provenance, what was redacted, its sealed PDF, its signature."""
    error_details: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    is_downloadable: bool


class Source(Struct, frozen=True, kw_only=True):
    """What an export is made of, as it was when it was asked for."""

    manifest: str
    """Of the stored columns, as JSON; `file` of each sheet is its blob's key."""
    lineage: Lineage
    sheets: tuple[str, ...] | None
    """Names of the chosen ones; None for all."""
    mapping: str
    """JSON of the mapping that finds the loans' columns."""
    compliance: tuple[ComplianceRow, ...]
    """Of the workbook's newest run."""


class FormatInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A format that an export may have."""

    format: ExportFormat
    name: str
    description: str
    mime_type: str
    extension: str
    multi_sheet: bool
    notes: str | None = None


class CellDiff(Struct, frozen=True, kw_only=True):
    """A cell or a sheet that is not as it was exported."""

    sheet: str
    cell: str | None
    """Null where it is the whole sheet."""
    status: str
    """changed, added, removed; of a sheet also renamed or moved."""


class Verification(Struct, frozen=True, kw_only=True):
    """What a file is, measured by the record of the export that it says it is."""

    status: Literal["original", "modified", "invalid_provenance", "unknown"]
    reason: str
    export_id: str | None
    workbook_id: str | None
    tenant_id: str | None
    data_hash: str | None
    """Of the file's cells, calculated now."""
    expected_hash: str | None
    """Of the cells as they were exported."""
    hmac_valid: bool
    """Whether this service signed the file's manifest."""
    manifest_version: str | None
    hash_scope: str | None
    diffs: list[CellDiff]
    diffs_truncated: bool
    sheets_not_covered: list[str]
    """Of these nothing is said: what they show may be changed, as a workspace is meant to be."""


# Refusals -------------------------------------------------------------------------------------------------------------


class ExportNotFound(Problem, status=404):
    """Export not found"""


class NoSealedPdf(Problem, status=404):
    """Sealed PDF not found"""


class InvalidRequest(Problem, status=400):
    """Invalid request"""


class ExportNotReady(Problem, status=409):
    """Export is not ready"""


class ExportEnded(Problem, status=409):
    """Export has ended"""


class ExportExpired(Problem, status=410):
    """Export has expired"""


class ExportLimitExceeded(Problem, status=403):
    """Export limit exceeded"""


class OtherTenantsFile(Problem, status=403):
    """File belongs to another tenant"""
