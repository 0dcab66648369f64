"""What workbooks say: the records, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.files.limits import FILES_MAX
from core.portfolio.mapping.detected import Detection
from core.portfolio.model.fields import FieldType
from core.portfolio.model.notes import DataWarning
from service.mappings.schema import Finding
from service.platform.base.problem import Problem
from service.platform.route.api import PageNumber, PageQuery, Upload, WaitQuery
from service.platform.route.patch import Patch

Status = Literal["uploading", "processing", "ready", "error", "recalculating"]
BUSY: tuple[Status, ...] = ("uploading", "processing", "recalculating")
"""States in which something works on the workbook, so that it cannot be deleted."""

ORIGINAL: Final = "application/octet-stream"
"""The type of an uploaded file that is given out: what a browser saves, and never shows."""

Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S", description="What people call it")]
Description = Annotated[str, Meta(max_length=2000)]
MappingId = Annotated[
    str,
    Meta(
        max_length=200,
        description="Mapping that says which column is which field; none: its deal's, else the built-in one",
    ),
]

_STREAM_KEY = r"deal:[a-z]+:[A-Za-z0-9][A-Za-z0-9._-]*"
StreamKey = Annotated[
    str,
    Meta(
        max_length=200,
        pattern=rf"^{_STREAM_KEY}$(?!\n)",
        extra={"words": "a key of the form deal:<scheme>:<id> such as deal:internal:clo-2024-1"},
    ),
]

LocaleTag = Literal[
    "en-US",
    "en-GB",
    "en-IE",
    "en-AU",
    "de-DE",
    "de-CH",
    "fr-FR",
    "es-ES",
    "it-IT",
    "nl-NL",
    "pt-BR",
    "nb-NO",
    "ja-JP",
    "zh-CN",
]
"""The locales of `core.formula.values.locales`."""

AsOf = Annotated[date, Meta(description="The day that the figures are of, whatever the file says")]

CELLS_MAX = 100 * 16_384
"""Cells of one answer: the usual page of the widest sheet; a thousand of its rows would be ten times as many."""

TEXT_BYTES_MAX = 64 * 1024 * 1024
"""Text of one answer, column names on every row included: one long string may stand in every cell."""

FORMULAS_MAX = 100_000
"""Formulas of one answer; each is re-written for its own cell."""


DAMAGED = "The stored bytes of the workbook are damaged; upload the file again."
"""Why a job ended that read a workbook: its record says so."""


# Records --------------------------------------------------------------------------------------------------------------


class SheetSize(Struct, frozen=True, kw_only=True):
    """What an upload says of a sheet before it is parsed."""

    name: str
    """Name of the sheet."""
    row_count: int
    column_count: int


class Sheet(Struct, frozen=True, kw_only=True):
    """A sheet of a workbook."""

    id: UUID
    """Identifier, accepted wherever the sheet's name is."""
    name: str
    """Name of the sheet."""
    index: int
    """Place among the workbook's sheets, from 0."""
    state: Literal["visible", "hidden", "veryHidden"]
    """visible; hidden; veryHidden: only a macro shows it."""
    row_count: int
    column_count: int
    has_formulas: bool
    """Whether a cell holds a formula."""
    formula_count: int
    """How many cells hold a formula."""
    headers: list[str]
    """Names of its columns; none where no row is a header, and while the workbook is parsed."""


def readable_key(status: str, book_key: str | None) -> str | None:
    """Return the stored columns that may be read in this state.

    None while it is parsed or recalculated.
    """
    return book_key if status in ("ready", "error") else None


class SheetRow(Struct, frozen=True, kw_only=True):
    """A stored sheet, as reading needs it."""

    id: UUID
    name: str
    index: int
    header_row: int | None
    headers: list[str]
    types: str
    book_key: str | None
    """Of the workbook's columns that this is told of; they may be newer than a row that was read before."""


class Stats(Struct, frozen=True, kw_only=True):
    """Figures of a workbook."""

    total_cells: int
    """Cells that hold a value or a formula."""
    formula_cells: int
    """Cells that hold a formula."""
    last_calculation: datetime | None
    """When its formulas were last calculated here, in UTC. Null: never."""
    calculation_count: int
    """How often its formulas were calculated here."""


class WorkbookHead(Struct, frozen=True, kw_only=True):
    """A workbook without its sheets."""

    id: UUID
    name: str
    description: str | None
    """Null: nothing was said."""
    file_name: str
    file_size: int
    sheet_count: int
    """How many sheets it has."""
    status: Status
    """uploading; processing: being parsed; ready; recalculating; error: see `error_message`."""
    error_message: str | None
    """Why the file could not be parsed; null in every state but error."""
    mapping_id: str | None
    """Mapping that says which column is which field. Null: its deal's, else the built-in one."""
    stream_key: str | None
    """Null: its deal's."""
    deal_id: UUID | None
    """The deal that it belongs to. Null: none."""
    as_of: date | None
    """The day that its figures are of, where a user said it. Null: the file decides."""
    written_by: str | None
    """The run of a formula that writes a column of it now; nothing else may write until it has ended. Null: none."""
    created_by: str
    created_at: datetime
    updated_at: datetime


class WorkbookRow(WorkbookHead, frozen=True, kw_only=True):
    """A stored workbook."""

    content_hash: str
    """SHA-256 of the uploaded file, in hexadecimal: its key in the blob store."""
    total_cells: int
    formula_cells: int
    book_key: str | None
    """SHA-256 of the stored columns' manifest: the same key, the same columns. None until parsed."""
    deal_mapping_id: str | None
    """What its deal names for a workbook that names no mapping itself."""
    last_calculation: datetime | None
    calculation_count: int
    version: int

    @property
    def read_by(self) -> str | None:
        """Return the mapping that reads it; None: the built-in one."""
        return self.mapping_id or self.deal_mapping_id


class Uploaded(WorkbookHead, frozen=True, kw_only=True):
    """A workbook that was just uploaded."""

    sheets: list[SheetSize]
    """Its sheets, as far as the upload tells."""


class Workbook(WorkbookHead, frozen=True, kw_only=True):
    """An uploaded portfolio, with its sheets and figures where they were asked for."""

    sheets: list[Sheet] | UnsetType = UNSET
    """Its sheets, in order; only with include_sheets."""
    stats: Stats | UnsetType = UNSET
    """Its figures; only with include_stats."""


# What is asked --------------------------------------------------------------------------------------------------------


class WorkbookList(PageQuery, kw_only=True, frozen=True):
    """Which workbooks, in which order."""

    sort_by: Literal["name", "created_at", "updated_at"] = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"
    search: Annotated[str, Meta(max_length=255, description="Part of the name")] | None = None
    deal_id: UUID | None = None


class UploadForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file and what to call it; a field left empty counts as not given."""

    file: Upload
    """A spreadsheet: .xlsx, .xlsm or .xls."""
    name: Annotated[str, Meta(max_length=255, description="What people call it; none: the file's name")] = ""
    description: Description = ""
    mapping_id: MappingId = ""
    stream_key: StreamKey | None = None
    """Unset: its deal's."""
    deal_id: UUID | None = None
    """Unset: none."""
    as_of: AsOf | None = None
    """Unset: the file decides."""


class Detail(WaitQuery, frozen=True, kw_only=True):
    """How much of a workbook."""

    include_sheets: bool = True
    """Add the sheets."""
    include_stats: bool = False
    """Add counts of cells and calculations."""


class FileQuery(Struct, frozen=True, kw_only=True):
    """Which of the files that a workbook is made of."""

    number: Annotated[int, Meta(ge=1, le=FILES_MAX, description="In the order of the upload, from 1")] | None = None
    """Which of several files, in the order of the upload, from 1. Unset: the only one."""


class RecalculateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a workbook is calculated anew; the body may be left out."""

    locale: Annotated[
        LocaleTag | None,
        Meta(description="How its texts write dates and numbers; without it the file's own language, else en-US"),
    ] = None


class WorkbookPatch(Patch, frozen=True, kw_only=True):
    """What to change of a workbook; null clears all but its name."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    mapping_id: MappingId | UnsetType | None = UNSET
    stream_key: StreamKey | UnsetType | None = UNSET
    """Null: its deal's."""
    deal_id: UUID | UnsetType | None = UNSET
    """Null: none."""
    as_of: AsOf | UnsetType | None = UNSET
    """Null: the file decides."""


class DetectionQuery(Struct, frozen=True, kw_only=True):
    """By which mapping, and which sheet."""

    mapping_id: MappingId | None = None
    """Unset: the workbook's own, else its deal's, else the built-in one."""
    sheet: Annotated[str, Meta(max_length=200, description="Name or identifier of a sheet")] | None = None
    """Look at this sheet only, and join no others to it. Unset: the sheets with loans are found."""


RowNumber = Annotated[int, Meta(ge=1, le=1_048_576, description="The sheet's own row number, from 1")]


class DataQuery(Struct, frozen=True, kw_only=True):
    """Which rows and columns of a sheet."""

    page: PageNumber = 1
    page_size: Annotated[int, Meta(ge=1, le=1000, description="Rows on a page")] = 100
    start_row: RowNumber = 1
    """First row, by the sheet's own number."""
    end_row: RowNumber | None = None
    """Last row, by the sheet's own number. Unset: the sheet's last."""
    columns: Annotated[
        str,
        Meta(
            max_length=65_536,
            description='Comma separated names, all when absent; a name with a comma stands in "quotes"',
        ),
    ] = ""
    letters: bool = False
    """Name columns by their letters, and begin with the sheet's first row, above its header."""
    include_formulas: bool = False
    """Add `_formulas` to each row: its formulas by column."""
    format: Literal["json", "csv"] = "json"
    """json, or csv (RFC 4180)."""


# What is answered of a sheet ------------------------------------------------------------------------------------------

ColumnType = Literal["number", "string", "boolean", "date", "mixed", "blank"]
CellType = Literal["number", "string", "boolean", "error", "date", "blank"]


class DataColumn(Struct, frozen=True, kw_only=True):
    """A column of sheet data."""

    name: str
    """Its header, else its letters."""
    type: ColumnType
    """Kind of the values below the header; errors do not count where there are others."""
    index: int
    """Position in the sheet, from 0."""
    has_formula: bool | UnsetType = UNSET
    """Whether a cell below the header has a formula; only when formulas are included."""


class SheetData(Struct, frozen=True, kw_only=True):
    """Rows of a sheet."""

    sheet_name: str
    columns: list[DataColumn]
    """Its columns, in order."""
    rows: list[dict[str, Any]]
    """Values by column name, with `_row_number` and, with include_formulas, `_formulas`; in a document with pages also
    with `_page` and `_line`."""
    total_rows: int
    """Rows that match, on all pages."""
    page: int
    page_size: int
    total_pages: int
    warnings: list[DataWarning] | UnsetType = UNSET
    """What to doubt of the values: that formulas came without any, and what became of them; what the reader of a
    document guessed, could not read or found not to add up."""


class Cell(Struct, frozen=True, kw_only=True):
    """What stands in a cell."""

    ref: str
    """Its name: B7."""
    row: int
    """Its row, from 1."""
    column: int
    """Its column, from 1: 2 is column B."""
    page: int | None
    """Page of the document on which it stands, from 1. Null: the file has no pages."""
    line: int | None
    """Its line on the page, from 1. Null: see `page`."""
    value: float | str | bool | None
    """What it shows; an error as its text (#N/A), a date as ISO 8601. Null: blank."""
    type: CellType
    """Kind of the value."""
    formula: str | None
    """Its formula, with the leading =. Null: it holds none."""


# What is answered of the reading --------------------------------------------------------------------------------------

DETECTED_COLUMNS_MAX: Final = 2_000
"""Columns of one answer that feed no field or are of other sheets; a sheet may have sixteen thousand."""


FINDINGS_MAX: Final = 100
"""Errors, and warnings, of single rows in one answer."""


class RowCheck(Struct, frozen=True, kw_only=True):
    """What the mapping's rules say of the rows."""

    valid: bool
    """Whether no row has an error, and no required column is missing."""
    rows_processed: int
    """Loans, and rows that would be loans but for a blank par."""
    rows_valid: int
    """Those without an error."""
    rows_invalid: int
    """Those with an error."""
    error_count: int
    """How many errors there are, told below or not."""
    warning_count: int
    """How many warnings there are, told below or not."""
    errors: list[Finding]
    """The first errors, by row."""
    warnings: list[Finding]
    """The first warnings: of whole columns, then by row."""
    missing_required_columns: list[str]
    """Required fields that neither a column nor a default feeds."""


class ReadField(Struct, frozen=True, kw_only=True):
    """A field that a column can feed."""

    name: str
    """What a mapping calls it: the target of a column."""
    label: str
    """What people call it, with the names that the tenant has for the rating agencies."""
    type: FieldType
    """What the column's cells are read as."""


class WorkbookDetection(Struct, frozen=True, kw_only=True):
    """How the loans of a workbook are read by a mapping: its sheets, columns, units, and the evidence for each."""

    workbook_id: UUID
    mapping_id: str
    """The mapping that read it."""
    warnings: list[DataWarning]
    """What a compliance run of it says before its results; none where one sheet alone was asked for."""
    fields: list[ReadField]
    """The fields of the mapping, and further ones that come along where a column feeds them."""
    detection: Detection
    """What was detected, and why."""
    validation: RowCheck | None
    """What the mapping's rules say of its rows. Null: no sheet has loans."""


# Refusals -------------------------------------------------------------------------------------------------------------


class WorkbookNotFound(Problem, status=404):
    """Workbook not found"""


class DealNotFound(Problem, status=404, constraint=("workbooks_deal", "tapes_deal", "thresholds_deal")):
    """Deal not found"""


class SheetNotFound(Problem, status=404):
    """Sheet not found"""


class WorkbookInUse(Problem, status=409, constraint="scenarios_workbook"):
    """Workbook in use"""


class WorkbookNotReady(Problem, status=409, constraint="compliance_runs_book_kept"):
    """Workbook is not ready"""


class WorkbookLimitExceeded(Problem, status=403):
    """Workbook limit exceeded"""


class StorageLimitExceeded(Problem, status=403):
    """Storage limit exceeded"""


class InvalidFile(Problem, status=400):
    """Invalid file format"""


class FileTooLarge(Problem, status=400):
    """File too large"""


class TooManySheets(Problem, status=400):
    """Too many sheets"""


class FileNotFound(Problem, status=404):
    """File not found"""


class SeveralFiles(Problem, status=409):
    """Workbook has several files"""


class ParseError(Problem, status=422, code="FILE_PARSE_ERROR"):
    """Parse error"""
