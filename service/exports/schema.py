"""Exports: jobs, options, verification of files, refusals."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from core.export.order import ComplianceRow, Lineage
from service.platform.base.problem import Problem
from service.platform.route.api import SliceQuery, Upload

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
    """Whether the file has Foundation, Workspace and Control sheets, in place of the workbook's own alone."""
    xlsx_sealed_pdf: bool = False
    """Whether a signed PDF of the same sheets is made: `artifact=pdf` of the download."""
    xlsx_signing: bool = False
    """Whether the deployment's signing service signs the file's hash."""
    csv_delimiter: Word = ","
    """What stands between the values of a row."""
    csv_encoding: Word = "utf-8-sig"
    """How text becomes bytes: utf-8-sig (with a mark that Excel reads), utf-8, ..."""
    json_pretty_print: bool = True
    """Whether it is indented."""
    sanitize_pii: bool = True
    classification_threshold: Word = "confidential"
    redaction_strategy: Word = "mask"


class ExportCreate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An export to be made."""

    workbook_id: UUID
    format: ExportFormat
    sheet_ids: Annotated[list[SheetId], Meta(max_length=SHEETS_MAX)] | None = None
    """Sheets by identifier or name. Null: all."""
    options: ExportOptions = ExportOptions()


class ExportList(SliceQuery, frozen=True, kw_only=True):
    """Which exports."""

    workbook_id: UUID | None = None
    status: Status | None = None
    """pending, processing, completed, failed or cancelled."""


class Download(Struct, frozen=True, kw_only=True):
    """Which of an export's files."""

    artifact: Literal["pdf"] | None = None
    """pdf: the sealed PDF beside an .xlsx. Unset: the export itself."""


class VerifyForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of which to tell whether it is an export as it was made."""

    file: Upload
    """An .xlsx file that may be an export."""


# Records --------------------------------------------------------------------------------------------------------------


class Progress(Struct, frozen=True, kw_only=True):
    """How far an export is."""

    current: int
    """Steps that are done."""
    total: int
    """Steps that there are."""
    message: str
    """What is being done."""
    percent: int
    """Share that is done, in percent."""


QUEUED = Progress(current=0, total=100, message="Queued", percent=0)


class Export(Struct, frozen=True, kw_only=True):
    """An export job."""

    id: str
    workbook_id: UUID
    format: ExportFormat
    status: Status
    """pending: waits; processing; completed: can be downloaded until `expires_at`; failed: see `error_details`;
    cancelled."""
    file_size_bytes: int | None
    download_url: str | None
    expires_at: datetime | None
    """From when on it cannot be downloaded, in UTC. Null: not made yet."""
    progress: Progress
    """How far it is."""
    options: Annotated[dict[str, Any], Meta(title="Asked options")]
    """The options that it was asked for with."""
    result_summary: dict[str, Any] | None
    """What a completed export holds, its provenance, what was redacted, its sealed PDF and its signature. Null: not
    completed."""
    error_details: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    is_downloadable: bool
    """Whether the file is there and has not expired."""


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
    """Of the workbook's newest full run."""


class FormatInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A format that an export may have."""

    format: ExportFormat
    name: str
    """Name of the format."""
    description: str
    """What the format is good for."""
    mime_type: str
    """Media type of the download."""
    extension: str
    """Ending of the file's name."""
    multi_sheet: bool
    """Whether one file holds several sheets."""
    notes: str | None = None
    """What else to know of it."""


class CellDiff(Struct, frozen=True, kw_only=True):
    """A cell or a sheet that is not as it was exported."""

    sheet: str
    """Name of the sheet."""
    cell: str | None
    """The cell in A1 notation, a range (A1:B2), row (5:5) or column (B:B). Null: the whole sheet."""
    status: str
    """changed, added, removed; display: its number format is another; of a sheet also renamed or moved; of a sheet, row
    or column hidden or shown; of a range merged, unmerged or table."""


class VerifyFinding(Struct, frozen=True, kw_only=True):
    """Something in a file that no export has, and that neither Excel nor LibreOffice adds when it saves one."""

    status: Literal["invalid_provenance", "modified"]
    """invalid_provenance: programs read different cells because of it; modified: it shows something else than was
    exported."""
    part: str
    """The part of the file. Empty: the file's archive itself, or a formula, whose sheet and cell are named."""
    sheet: str | None
    """Name of the sheet. Null: it stands in no sheet."""
    cell: str | None
    """The cell in A1 notation, a range, row or column. Null: no single one."""
    message: str
    """What is there."""


class Verification(Struct, frozen=True, kw_only=True):
    """What a file is, measured by the record of the export that it says it is."""

    status: Literal["original", "modified", "invalid_provenance", "unknown"]
    """original: it shows what was exported; modified: it shows something else; invalid_provenance: not signed here, or
    programs read different cells in it; unknown: not an export, or none that is on record."""
    reason: str
    """Why; of an original also what was not looked at."""
    export_id: str | None
    """The export that the file says it is. Null: it says nothing."""
    workbook_id: str | None
    """The workbook that the file says it was made of."""
    tenant_id: str | None
    """The organization that the file says it comes from."""
    data_hash: str | None
    """SHA-256 of the file's cells, calculated now. Null: it could not be."""
    expected_hash: str | None
    """SHA-256 of the cells as they were exported. Null: there is no such export."""
    hmac_valid: bool
    """Whether this service signed the file's manifest."""
    manifest_version: str | None
    """How the file's manifest is written: svc_hash_v1."""
    hash_scope: str | None
    """What the hash covers: foundation (all but the Workspace and Control sheets) or validated (every sheet)."""
    diffs: list[CellDiff]
    """Cells that are not as they were exported."""
    diffs_truncated: bool
    """True where there are more than are listed."""
    sheets_not_covered: list[str]
    """Sheets that the hash leaves out, as a Workspace is: what they show may have been changed."""
    findings: list[VerifyFinding]
    """What the file has that no export has, at most 100."""
    not_looked_at: list[str]
    """What may be other than it was exported in an original, too. Empty where the status is another than original or
    modified."""


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


class OtherTenantsFile(Problem, status=403, hint="a user of that tenant verifies it"):
    """File belongs to another tenant"""
