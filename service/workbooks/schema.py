"""What workbooks say: the records, the requests, the refusals."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from service.platform.http.api import PageNumber, PageQuery, Upload
from service.platform.http.problem import Problem

Status = Literal["uploading", "processing", "ready", "error", "recalculating"]
BUSY: tuple[Status, ...] = ("uploading", "processing", "recalculating")
"""States in which something works on the workbook, so that it cannot be deleted."""

Name = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"\S", description="As long as a file's name may be")]
Description = Annotated[str, Meta(max_length=2000)]
MappingId = Annotated[str, Meta(max_length=200, description="Names the columns; unset: the built-in one")]

_STREAM_KEY = r"deal:[a-z]+:[A-Za-z0-9][A-Za-z0-9._-]*"
_STREAM = "deal:<scheme>:<id>, by an ISIN, CUSIP, LEI, ...: the stream that the evidence of the runs belongs to"
StreamKey = Annotated[str, Meta(max_length=200, pattern=rf"^{_STREAM_KEY}$(?!\n)", description=_STREAM)]

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
    row_count: int
    column_count: int


class Sheet(Struct, frozen=True, kw_only=True):
    """A sheet of a workbook."""

    id: UUID
    """Accepted wherever the sheet's name is."""
    name: str
    index: int
    state: Literal["visible", "hidden", "veryHidden"]
    row_count: int
    column_count: int
    has_formulas: bool
    formula_count: int
    headers: list[str]
    """Empty where no row is a header, and while the workbook is parsed."""


def served(status: str, book_key: str | None) -> str | None:
    """The stored columns of a workbook in this state that may be read: none while it is parsed or recalculated.

    One whose recalculation failed has its last good ones, and says by its state that they are not new.
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
    last_calculation: datetime | None
    calculation_count: int


class WorkbookHead(Struct, frozen=True, kw_only=True):
    """A workbook without its sheets."""

    id: UUID
    name: str
    description: str | None
    file_name: str
    file_size: int
    sheet_count: int
    status: Status
    error_message: str | None
    """Why the file could not be parsed; null in every state but error."""
    mapping_id: str | None
    """Null: its deal's mapping, else the built-in one."""
    stream_key: str | None
    deal_id: UUID | None
    as_of: date | None
    """The day that its figures are of, where a user said it."""
    written_by: str | None
    """What writes a column of it now, a formula's run; until that has ended nothing else may write."""
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
        """The mapping that reads it; None: the built-in one."""
        return self.mapping_id or self.deal_mapping_id


class Uploaded(WorkbookHead, frozen=True, kw_only=True):
    """A workbook that was just uploaded."""

    sheets: list[SheetSize]


class Workbook(WorkbookHead, frozen=True, kw_only=True):
    """A workbook."""

    sheets: list[Sheet] | UnsetType = UNSET
    stats: Stats | UnsetType = UNSET


# What is asked --------------------------------------------------------------------------------------------------------


class WorkbookList(PageQuery, kw_only=True, frozen=True):
    """Which workbooks, in which order."""

    sort_by: Literal["name", "created_at", "updated_at"] = "created_at"
    sort_order: Literal["asc", "desc"] = "desc"
    search: Annotated[str, Meta(max_length=255, description="Part of the name")] | None = None
    deal_id: UUID | None = None


class UploadForm(Struct, frozen=True, kw_only=True):
    """The file and what to call it; a field left empty counts as not given."""

    file: Upload
    name: Annotated[str, Meta(max_length=255, description="Unset: the file's name")] = ""
    description: Description = ""
    mapping_id: MappingId = ""
    stream_key: StreamKey | None = None
    deal_id: UUID | None = None
    as_of: AsOf | None = None


class Detail(Struct, frozen=True, kw_only=True):
    """How much of a workbook."""

    include_sheets: bool = True
    include_stats: bool = False


class WorkbookPatch(Struct, frozen=True, kw_only=True):
    """What to change of a workbook; null clears all but its name."""

    name: Name | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    mapping_id: MappingId | UnsetType | None = UNSET
    stream_key: StreamKey | UnsetType | None = UNSET
    deal_id: UUID | UnsetType | None = UNSET
    as_of: AsOf | UnsetType | None = UNSET


RowNumber = Annotated[int, Meta(ge=1, le=1_048_576, description="The sheet's own row number, from 1")]


class DataQuery(Struct, frozen=True, kw_only=True):
    """Which rows and columns of a sheet."""

    page: PageNumber = 1
    page_size: Annotated[int, Meta(ge=1, le=1000, description="Rows on a page")] = 100
    start_row: RowNumber = 1
    end_row: RowNumber | None = None
    columns: Annotated[
        str,
        Meta(
            max_length=65_536,
            description='Comma separated names, all when absent; a name with a comma stands in "quotes"',
        ),
    ] = ""
    include_formulas: bool = False
    format: Literal["json", "csv"] = "json"


# What is answered of a sheet ------------------------------------------------------------------------------------------

ColumnType = Literal["number", "string", "boolean", "date", "mixed", "blank"]
CellType = Literal["number", "string", "boolean", "error", "date", "blank"]


class DataColumn(Struct, frozen=True, kw_only=True):
    """A column of sheet data."""

    name: str
    type: ColumnType
    """Of its values below the header; error cells do not count where there are others."""
    index: int
    """Position in the sheet, from 0."""
    has_formula: bool | UnsetType = UNSET
    """Whether a cell below the header has a formula; only when formulas are included."""


class SheetData(Struct, frozen=True, kw_only=True):
    """Rows of a sheet."""

    sheet_name: str
    columns: list[DataColumn]
    rows: list[dict[str, Any]]
    """Values by column name, with `_row_number` and, when formulas are included, `_formulas`."""
    total_rows: int
    page: int
    page_size: int
    total_pages: int


class Cell(Struct, frozen=True, kw_only=True):
    """One cell."""

    ref: str
    row: int
    """From 1, as in `ref`."""
    column: int
    """From 1: 2 is column B."""
    value: float | str | bool | None
    type: CellType
    formula: str | None


# Refusals -------------------------------------------------------------------------------------------------------------


class WorkbookNotFound(Problem, status=404):
    """Workbook not found"""


class DealNotFound(Problem, status=404, constraint=("workbooks_deal", "tapes_deal", "thresholds_deal")):
    """Deal not found"""


class SheetNotFound(Problem, status=404):
    """Sheet not found"""


class WorkbookInUse(Problem, status=409, constraint="scenarios_workbook"):
    """Workbook in use"""


class WorkbookNotReady(Problem, status=409):
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


class ParseError(Problem, status=422, code="FILE_PARSE_ERROR"):
    """Parse error"""
