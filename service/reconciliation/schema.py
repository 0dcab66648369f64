"""What reconciliation says: tapes, their loans, comparisons and issues."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

from core.portfolio.assemble.source_row import SourceCell
from core.portfolio.model.notes import DataWarning
from core.reconciliation.rules import Category, IdentifierType, IssueType, Severity
from service.platform.base.problem import Problem
from service.platform.route.api import PageNumber, PageQuery, Upload
from service.platform.route.patch import Patch
from service.workbooks.schema import AsOf

Trustee = Literal["trustee_a", "trustee_b", "trustee_c"]
TapeStatus = Literal["processing", "completed", "failed"]
JobStatus = Literal["processing", "completed", "failed"]
IssueStatus = Literal["open", "acknowledged", "resolved", "false_positive"]

RULES_MAX = 100
NOTES_CHARACTERS = 4_000
REVIEW_MAX = 10_000
"""Issues that one call reviews."""
REVIEW_PAIRS_MAX = 100
"""Pairs of tape and workbook that one call reviews issues of: each is locked until the review is over."""

TapeId = Annotated[str, Meta(max_length=200)]
IssueId = Annotated[str, Meta(max_length=200)]
RuleName = Annotated[
    str,
    Meta(
        max_length=200,
        description="par_value, price, rating, spread, maturity_date, base_rate, all_in_rate, industry or missing_loan",
    ),
]


# Tapes ----------------------------------------------------------------------------------------------------------------


class TapeForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tape on its way in; a field left empty counts as not given."""

    file: Upload
    """The tape as a spreadsheet: .xlsx, .xlsm or .xls."""
    trustee_name: Annotated[str, Meta(max_length=200)]
    statement_date: Annotated[str, Meta(max_length=40)]
    mapping_id: Annotated[
        str,
        Meta(max_length=200, description="Reads the tape; unset: its deal's mapping, else the trustee's own manner"),
    ] = ""
    """Mapping that reads the tape. Unset: its deal's, else the trustee's own manner."""
    deal_id: UUID | None = None
    """Unset: none."""
    as_of: AsOf | None = None
    """Unset: the day of the statement."""


class TapePatch(Patch, frozen=True, kw_only=True):
    """What to change of a tape; null clears it."""

    deal_id: UUID | UnsetType | None = UNSET
    """Null: none."""
    as_of: AsOf | UnsetType | None = UNSET
    """Null: the day of the statement."""


class TapeUploaded(Struct, frozen=True, kw_only=True):
    """A tape that was taken in; its loans follow."""

    tape_id: str
    job_id: str
    status: TapeStatus
    """processing: its loans follow."""
    message: str


class Facts(Struct, frozen=True, kw_only=True):
    """How a tape was read."""

    sheet_name: str | None = None
    header_row: int | None = None
    """Row of the header, from 1. Null: none."""
    columns: dict[str, str] = {}
    """Fields by name, each with the header that feeds it."""
    as_of: date | None = None
    """The day that the file itself says it is of. Null: it says none."""
    mapping_id: str | None = None
    """Mapping that it was read by. Null: the trustee's own manner."""


class TapeHead(Struct, frozen=True, kw_only=True):
    """A stored tape with what decisions about it need."""

    id: str
    job_id: str
    trustee_name: Trustee
    statement_date: date
    mapping_id: str | None
    """Mapping that reads the tape. Null: its deal's, else the trustee's own manner."""
    deal_id: UUID | None
    """Null: none."""
    as_of: date | None
    """The day that its figures are of, where a user said another than the statement's. Null: nobody did."""
    file_name: str
    file_size: int
    loan_count: int
    """Positions, lots of one identifier added up; 0 until it is processed."""
    total_par: float
    """Sum of their par in the tape's currency; 0 until it is processed."""
    processing_status: TapeStatus
    """processing; completed: may be compared; failed: see `error_message`."""
    error_message: str | None
    """Why the tape cannot be used; null unless it failed."""


class TapeRow(TapeHead, frozen=True, kw_only=True):
    """A stored tape."""

    content_hash: str
    loans_key: str | None
    deal_mapping_id: str | None

    @property
    def read_by(self) -> str | None:
        """Return the mapping that reads it; None: the trustee's own manner."""
        return self.mapping_id or self.deal_mapping_id


class Tape(TapeHead, frozen=True, kw_only=True):
    """A trustee's tape."""

    warnings: list[DataWarning]
    facts: Facts
    """How its file was read."""
    created_by: str
    created_at: datetime
    processed_at: datetime | None
    """When its loans were read, or could not be, in UTC. Null: not yet."""


def day_differs(stated_day: date | None, day: date, words: str) -> list[DataWarning]:
    """Warn where a file is of another day than the tape.

    Args:
        words: with a place for what is said and one for the tape's day.
    """
    return [] if stated_day in (None, day) else [DataWarning("days_differ", words.format(stated_day, day))]


FILE_OF_ANOTHER_DAY = "the file says that it is as of {}; its day was given as {}"


class TapeList(PageQuery, frozen=True, kw_only=True):
    """Which tapes."""

    trustee_name: Trustee | None = None
    deal_id: UUID | None = None
    status_filter: TapeStatus | None = None
    """processing, completed or failed."""


class LoanList(Struct, frozen=True, kw_only=True):
    """Which loans of a tape."""

    page: PageNumber = 1
    page_size: Annotated[int, Meta(ge=1, le=500, description="Loans on a page")] = 50


class TapeLoan(Struct, frozen=True, kw_only=True):
    """A position on a tape."""

    id: UUID
    """Identifier of this position."""
    tape_id: str
    cusip: str | None
    loanx_id: str | None
    """LoanX identifier, such as LX123456. Null: none."""
    isin: str | None
    """ISIN of the loan or bond. Null: none."""
    primary_identifier: str | None
    borrower_name: str | None
    facility_name: str | None
    """Name of the facility, as the tape spells it."""
    par_value: float | None
    """Funded par in the tape's currency."""
    price: float | None
    """Price in percent of par."""
    rating: str | None
    """Rating of no named agency, as the tape has it."""
    rating_agency_a: str | None
    rating_agency_b: str | None
    rating_agency_c: str | None
    spread: float | None
    """Basis points over the base rate."""
    base_rate: str | None
    """Index that the coupon floats on, as the tape spells it."""
    all_in_rate: float | None
    """Coupon with its base rate, in percent."""
    maturity_date: date | None
    industry: str | None
    country: str | None
    """Country of the borrower, as the tape has it."""
    days_past_due: int | None
    """Days that a payment is late."""


# Comparisons ----------------------------------------------------------------------------------------------------------


class CompareRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to compare, and by which rules."""

    tape_id: TapeId
    workbook_id: UUID
    rules: Annotated[list[RuleName], Meta(max_length=RULES_MAX)] | None = None
    """Rules to apply. Null or empty: all of them."""


class CompareStarted(Struct, frozen=True, kw_only=True):
    """A comparison under way."""

    job_id: str
    tape_id: str
    workbook_id: UUID
    status: JobStatus
    """processing: GET /api/v1/reconciliation/compare/{job_id}/status tells more."""
    message: str


class JobSummary(Struct, frozen=True, kw_only=True):
    """Counts of loans, lots added up, and of issues."""

    total_loans_compared: int
    """Loans of both sides, a matched pair counted once."""
    matched: int
    """Pairs that were found to be one loan."""
    unmatched_trustee: int
    """Loans of the tape that the workbook lacks."""
    unmatched_internal: int
    """Loans of the workbook that the tape lacks."""
    issues_found: int
    """Discrepancies of all severities."""


class Changes(Struct, frozen=True, kw_only=True):
    """What a comparison did to the issues that were there."""

    created: int
    """Issues that were not there before."""
    updated: int
    """Values that changed, and issues that came back."""
    resolved: int
    """Issues whose discrepancy is gone."""


class Timings(Struct, frozen=True, kw_only=True):
    """How long a comparison took."""

    comparing_seconds: float
    """Seconds in which both sides were opened, matched and compared, and issues written."""
    storing_seconds: float
    """Seconds in which issues were merged with those that were there."""


class Job(Struct, frozen=True, kw_only=True):
    """A comparison of a tape with a workbook."""

    job_id: str
    status: JobStatus
    """processing; completed: see `summary`; failed: see `error_message`."""
    warnings: list[DataWarning]
    """What makes the comparison doubtful, then what was guessed, left out or could not be read of either side."""
    summary: JobSummary | None
    """Counts of loans and issues. Null: not completed."""
    completed_at: datetime | None
    tape_id: str
    workbook_id: UUID
    rules: list[str]
    """Rules that were applied."""
    tolerances: dict[str, float]
    """Largest difference that is none, by rule: currency, points of price, basis points, days."""
    match_stages: dict[str, int] | None
    """Pairs by how they were found: cusip, loanx_id, isin, borrower_maturity, borrower_name. Null: not completed."""
    ambiguous: dict[str, int] | None
    """Keys that several loans of a side share, by stage. Null: not completed."""
    not_compared: dict[str, str]
    """Fields that could not be compared, each with the reason."""
    changes: Changes | None
    """What it did to the issues that were there. Null: not completed."""
    timings: Timings | None
    """How long it took. Null: not completed."""
    error_message: str | None
    """Why it failed. Null: it did not."""
    created_by: str
    created_at: datetime


# Issues ---------------------------------------------------------------------------------------------------------------


class IssueQuery(Struct, frozen=True, kw_only=True):
    """Which issues."""

    tape_id: TapeId | None = None
    workbook_id: UUID | None = None
    status: IssueStatus | None = None
    """open, acknowledged, resolved or false_positive."""
    severity: Severity | None = None
    category: Category | None = None
    """Group of the field that differs."""


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
    """value_mismatch: a field differs; missing_in_internal or missing_in_trustee: that side lacks the loan;
    duplicate_position: one side has it twice."""
    severity: Severity
    category: Category
    """Group of the field that differs."""
    rule: str
    """Rule that found it: par_value, price, rating, ..."""
    field_name: str
    """The loan's field that differs."""
    trustee_value: str
    """What the tape says, as text."""
    internal_value: str
    """What the workbook says, as text."""
    status: IssueStatus
    """open; acknowledged: seen; resolved: settled; false_positive: no discrepancy after all."""
    resolution_notes: str | None
    reviewed_by: str | None
    """E-mail of who changed it last; null where nobody did, or where a changed value opened it again."""
    reviewed_at: datetime | None
    """When its status or notes were last changed by a user, in UTC. Null: never, or a changed value opened it again."""
    created_at: datetime
    updated_at: datetime | None
    """When it was last changed, in UTC. Null: never."""


class IssueWorkbookRow(Struct, frozen=True, kw_only=True):
    """The loan of an issue in the workbook."""

    workbook_id: UUID
    sheet: str
    """The name of the sheet with the loans."""
    row: int
    """The row of the sheet, from 1; of several lots that of the largest."""
    page: int | None
    """Page of the document on which the row stands, from 1. Null: the file has no pages."""
    line: int | None
    """The row's line on its page, from 1. Null: see `page`."""
    cells: list[SourceCell]
    """The row's cells from left to right, those without header and value left out; at most 500."""


class IssueTapeRow(Struct, frozen=True, kw_only=True):
    """The loan of an issue in the trustee's file."""

    tape_id: str
    sheet: str
    """The name of the sheet with the loans."""
    row: int
    """The row of the sheet, from 1; of several lots that of the largest."""
    page: int | None
    """Page of the document on which the row stands, from 1. Null: the file has no pages."""
    line: int | None
    """The row's line on its page, from 1. Null: see `page`."""
    cells: list[SourceCell]
    """The row's cells from left to right, those without header and value left out; at most 500."""


class IssueRows(Struct, frozen=True, kw_only=True):
    """Both rows of an issue, with all columns of their files."""

    issue_id: str
    """The issue that was asked for."""
    workbook: IssueWorkbookRow | None
    """Null: see `workbook_note`."""
    workbook_note: str | None
    """Why there is no row of the workbook. Null: there is one."""
    tape: IssueTapeRow | None
    """Null: see `tape_note`."""
    tape_note: str | None
    """Why there is no row of the tape. Null: there is one."""


class SeverityCounts(Struct, frozen=True, kw_only=True):
    """Issues of each severity."""

    critical: int = 0
    """Par off by more than 5 %, or a loan of more than 1,000,000 missing."""
    error: int = 0
    """Par off by 1 to 5 %, or a loan of 100,000 and more missing."""
    warning: int = 0
    """A rating, a spread or another field differs, or a smaller loan is missing."""
    info: int = 0
    """Spelling and rounding."""


class StatusCounts(Struct, frozen=True, kw_only=True):
    """Issues in each status."""

    open: int = 0
    """Issues that nobody has decided on."""
    acknowledged: int = 0
    """Issues that were seen."""
    resolved: int = 0
    """Issues that are settled."""
    false_positive: int = 0
    """Issues that turned out to be none."""


class IssueSummary(Struct, frozen=True, kw_only=True):
    """How many issues there are."""

    total: int
    """Issues of every severity and status."""
    by_severity: SeverityCounts
    """How many of each severity."""
    by_status: StatusCounts
    """How many in each status."""


StatusName = Annotated[str, Meta(max_length=200, description="open, acknowledged, resolved or false_positive")]


class IssuePatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a reviewer says of an issue; null clears the notes."""

    status: StatusName | UnsetType = UNSET
    """open; acknowledged: seen; resolved: settled; false_positive: no discrepancy after all."""
    resolution_notes: Annotated[str, Meta(max_length=NOTES_CHARACTERS)] | UnsetType | None = UNSET


class IssueFilter(IssueQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which issues to review: those that meet every condition; at least one condition is required."""

    job_id: Annotated[str, Meta(max_length=200)] | None = None
    """Comparison: the issues of its tape and workbook."""
    reviewed_at: datetime | None = None
    """Moment of an earlier review of several issues, as its answer states it: the issues that it changed."""


class IssuesPatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A review of several issues, named by `ids` or by `filter`; null clears their notes."""

    status: StatusName
    """open; acknowledged: seen; resolved: settled; false_positive: no discrepancy after all."""
    resolution_notes: Annotated[str, Meta(max_length=NOTES_CHARACTERS)] | UnsetType | None = UNSET
    """Unset: each keeps its own."""
    ids: Annotated[list[IssueId], Meta(min_length=1, max_length=REVIEW_MAX)] | None = None
    """Identifiers of the issues. Null: `filter` says which."""
    filter: IssueFilter | None = None
    """Conditions on the issues, at most 10,000 of them. Null: `ids` says which."""


class IssuesReviewed(Struct, frozen=True, kw_only=True):
    """How many issues a review changed."""

    updated: int
    """Issues that now have the status and the notes."""
    reviewed_at: datetime | None
    """What these issues have as `reviewed_at`, so that a filter finds them again. Null: nothing was to be changed."""


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


class ComparisonNotFound(Problem, status=404):
    """Job not found"""


class IssueNotFound(Problem, status=404):
    """Issue not found"""


class InvalidStatus(Problem, status=400):
    """Invalid status"""
