"""What reconciliation says: tapes, their loans, comparisons and issues."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.portfolio.notes import DataWarning
from service.platform.http.api import PageNumber, PageQuery, Upload
from service.platform.http.problem import Problem
from service.workbooks.schema import AsOf

Trustee = Literal["trustee_a", "trustee_b", "trustee_c"]
TapeStatus = Literal["processing", "completed", "failed"]
JobStatus = Literal["processing", "completed", "failed"]
Severity = Literal["critical", "error", "warning", "info"]
IssueStatus = Literal["open", "acknowledged", "resolved", "false_positive"]
IssueType = Literal["value_mismatch", "missing_in_internal", "missing_in_trustee", "duplicate_position"]
Category = Literal["calculation", "rating", "identity", "date", "classification", "missing", "duplicate"]
IdentifierType = Literal["cusip", "loanx_id", "isin", "borrower_maturity", "borrower_name"]

RULES_MAX = 100
NOTES_CHARACTERS = 4_000

TapeId = Annotated[str, Meta(max_length=200, description="Identifier of a tape")]
RuleName = Annotated[str, Meta(max_length=200, description="par_value, price, rating, spread, maturity_date, ...")]


# Tapes ----------------------------------------------------------------------------------------------------------------


class TapeForm(Struct, frozen=True, kw_only=True):
    """A tape on its way in; a field left empty counts as not given."""

    file: Upload
    trustee_name: Annotated[str, Meta(max_length=200, description="trustee_a, trustee_b or trustee_c")]
    statement_date: Annotated[str, Meta(max_length=40, description="YYYY-MM-DD")]
    mapping_id: Annotated[
        str,
        Meta(max_length=200, description="Reads the tape; unset: its deal's mapping, else the trustee's own manner"),
    ] = ""
    deal_id: UUID | None = None
    as_of: AsOf | None = None


class TapePatch(Struct, frozen=True, kw_only=True):
    """What to change of a tape; null clears it."""

    deal_id: UUID | UnsetType | None = UNSET
    as_of: AsOf | UnsetType | None = UNSET


class TapeUploaded(Struct, frozen=True, kw_only=True):
    """A tape that was taken in; its loans follow."""

    tape_id: str
    job_id: str
    status: TapeStatus
    message: str


class Facts(Struct, frozen=True, kw_only=True):
    """How a tape was read."""

    sheet_name: str | None = None
    header_row: int | None = None
    """As a spreadsheet counts, from 1."""
    columns: dict[str, str] = {}
    """Field -> the header that feeds it."""
    as_of: date | None = None
    """The day that the file itself says it is of."""
    mapping_id: str | None = None
    """Null: the trustee's own manner."""


class TapeHead(Struct, frozen=True, kw_only=True):
    """What is told of a tape, and what a decision about it needs."""

    id: str
    job_id: str
    trustee_name: Trustee
    statement_date: date
    mapping_id: str | None
    """What the tape is read by; null: its deal's mapping, else the trustee's own manner."""
    deal_id: UUID | None
    as_of: date | None
    """The day that its figures are of, where a user said another than the statement's."""
    file_name: str
    file_size: int
    loan_count: int
    """Positions: lots of one identifier are added up. 0 until it is processed."""
    total_par: float
    processing_status: TapeStatus
    error_message: str | None
    """Why the tape cannot be used; null unless it failed."""


class TapeRow(TapeHead, frozen=True, kw_only=True):
    """A stored tape."""

    content_hash: str
    loans_key: str | None
    deal_mapping_id: str | None

    @property
    def read_by(self) -> str | None:
        """The mapping that reads it; None: the trustee's own manner."""
        return self.mapping_id or self.deal_mapping_id


class Tape(TapeHead, frozen=True, kw_only=True):
    """A trustee's tape."""

    warnings: list[DataWarning]
    """What was guessed, left out or could not be read, and a day that is not the file's."""
    facts: Facts
    created_by: str
    created_at: datetime
    processed_at: datetime | None


def day_differs(said: date | None, day: date, words: str) -> list[DataWarning]:
    """A warning where a file, or a workbook, says that it is of another day than the tape.

    Args:
        words: with a place for what is said and one for the tape's day.
    """
    return [] if said in (None, day) else [DataWarning("days_differ", words.format(said, day))]


FILE_OF_ANOTHER_DAY = "the file says that it is as of {}; its day was given as {}"


class TapeList(PageQuery, frozen=True, kw_only=True):
    """Which tapes."""

    trustee_name: Trustee | None = None
    deal_id: UUID | None = None
    status_filter: TapeStatus | None = None


class LoanList(Struct, frozen=True, kw_only=True):
    """Which loans of a tape."""

    page: PageNumber = 1
    page_size: Annotated[int, Meta(ge=1, le=500, description="Loans on a page")] = 50


class TapeLoan(Struct, frozen=True, kw_only=True):
    """A position on a tape."""

    id: UUID
    tape_id: str
    cusip: str | None
    loanx_id: str | None
    isin: str | None
    primary_identifier: str | None
    """CUSIP, else LoanX id, else ISIN, else the borrower's name."""
    borrower_name: str | None
    facility_name: str | None
    par_value: float | None
    price: float | None
    """Percent of par."""
    rating: str | None
    rating_agency_a: str | None
    rating_agency_b: str | None
    rating_agency_c: str | None
    spread: float | None
    """Basis points."""
    base_rate: str | None
    all_in_rate: float | None
    """Percent."""
    maturity_date: date | None
    industry: str | None
    country: str | None
    days_past_due: int | None


# Comparisons ----------------------------------------------------------------------------------------------------------


class CompareRequest(Struct, frozen=True, kw_only=True):
    """What to compare, and by which rules."""

    tape_id: TapeId
    workbook_id: UUID
    rules: Annotated[list[RuleName], Meta(max_length=RULES_MAX)] | None = None
    """All of them when omitted or empty."""


class CompareStarted(Struct, frozen=True, kw_only=True):
    """A comparison under way."""

    job_id: str
    tape_id: str
    workbook_id: UUID
    status: JobStatus
    message: str


class JobSummary(Struct, frozen=True, kw_only=True):
    """Counts of loans, lots added up, and of issues."""

    total_loans_compared: int
    matched: int
    unmatched_trustee: int
    unmatched_internal: int
    issues_found: int


class Changes(Struct, frozen=True, kw_only=True):
    """What a comparison did to the issues that were there."""

    created: int
    updated: int
    """Values that changed, and issues that came back."""
    resolved: int
    """Issues whose discrepancy is gone."""


class Timings(Struct, frozen=True, kw_only=True):
    """How long a comparison took."""

    comparing_seconds: float
    """Both sides opened, matched and compared, issues written."""
    storing_seconds: float
    """Issues merged with those that were there."""


class Job(Struct, frozen=True, kw_only=True):
    """A comparison."""

    job_id: str
    status: JobStatus
    warnings: list[DataWarning]
    """What makes the comparison doubtful, then what the tape's and the workbook's loans do."""
    summary: JobSummary | None
    """Null until it is completed."""
    completed_at: datetime | None
    tape_id: str
    workbook_id: UUID
    rules: list[str]
    tolerances: dict[str, float]
    """By rule: currency, points of price, basis points, days."""
    match_stages: dict[str, int] | None
    """Pairs by how they were found: cusip, loanx_id, isin, borrower_maturity, borrower_name."""
    ambiguous: dict[str, int] | None
    """Keys of each stage that several loans of a side share."""
    not_compared: dict[str, str]
    """Field -> why it could not be compared."""
    changes: Changes | None
    timings: Timings | None
    error_message: str | None
    created_by: str
    created_at: datetime


# Issues ---------------------------------------------------------------------------------------------------------------


class IssueQuery(Struct, frozen=True, kw_only=True):
    """Which issues."""

    tape_id: TapeId | None = None
    workbook_id: UUID | None = None
    status: IssueStatus | None = None
    severity: Severity | None = None
    category: Category | None = None


class IssueList(IssueQuery, frozen=True, kw_only=True):
    """Which issues, and which page of them."""

    page: PageNumber = 1
    page_size: Annotated[int, Meta(ge=1, le=200, description="Issues on a page")] = 50

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


class SummaryQuery(Struct, frozen=True, kw_only=True):
    """Of which tape, and against which workbook."""

    tape_id: TapeId | None = None
    workbook_id: UUID | None = None


class Issue(Struct, frozen=True, kw_only=True):
    """A discrepancy between a tape and a workbook."""

    id: str
    tape_id: str
    workbook_id: UUID
    primary_identifier: str | None
    cusip: str | None
    identifier_type: IdentifierType
    """How the two loans were found to be one; for a missing loan, what its primary identifier is."""
    borrower_name: str | None
    issue_type: IssueType
    severity: Severity
    category: Category
    rule: str
    field_name: str
    trustee_value: str
    internal_value: str
    status: IssueStatus
    resolution_notes: str | None
    reviewed_by: str | None
    """E-mail of who changed it last; null where nobody did, or where a changed value opened it again."""
    reviewed_at: datetime | None
    created_at: datetime
    updated_at: datetime | None


class SeverityCounts(Struct, frozen=True, kw_only=True):
    """Issues of each severity."""

    critical: int = 0
    error: int = 0
    warning: int = 0
    info: int = 0


class StatusCounts(Struct, frozen=True, kw_only=True):
    """Issues in each status."""

    open: int = 0
    acknowledged: int = 0
    resolved: int = 0
    false_positive: int = 0


class IssueSummary(Struct, frozen=True, kw_only=True):
    """How many issues there are."""

    total: int
    by_severity: SeverityCounts
    by_status: StatusCounts


class IssuePatch(Struct, frozen=True, kw_only=True):
    """What a reviewer says of an issue; null clears the notes."""

    status: Annotated[str, Meta(max_length=200, description="open, acknowledged, resolved or false_positive")] | (
        UnsetType
    ) = UNSET
    resolution_notes: Annotated[str, Meta(max_length=NOTES_CHARACTERS)] | UnsetType | None = UNSET


# Refusals -------------------------------------------------------------------------------------------------------------


class InvalidTrustee(Problem, status=400):
    """Invalid trustee"""


class InvalidDate(Problem, status=400):
    """Invalid date"""


class TapeNotFound(Problem, status=404):
    """Tape not found"""


class TapeNotReady(Problem, status=400):
    """Tape not ready"""


class InvalidRules(Problem, status=400):
    """Invalid rules"""


class JobNotFound(Problem, status=404):
    """Job not found"""


class IssueNotFound(Problem, status=404):
    """Issue not found"""


class InvalidStatus(Problem, status=400):
    """Invalid status"""
