"""Reconciliation's rows."""

from __future__ import annotations

from service.mappings.schema import MappingNotFound
from service.platform.base.problem import ConcurrentModification, RangeNotSatisfiable
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Page, Streamed, WaitQuery, Waits
from service.platform.unit.context import Context
from service.reconciliation import actions, review_actions, row_actions, store
from service.reconciliation.schema import (
    CompareRequest,
    CompareStarted,
    InvalidDate,
    InvalidRules,
    InvalidStatus,
    InvalidTrustee,
    Issue,
    IssueList,
    IssueNotFound,
    IssuePatch,
    IssueRows,
    IssuesPatch,
    IssuesReviewed,
    IssueSummary,
    Job,
    JobNotFound,
    LoanList,
    SummaryQuery,
    Tape,
    TapeForm,
    TapeList,
    TapeLoan,
    TapeNotFound,
    TapeNotReady,
    TapePatch,
    TapeUploaded,
)
from service.workbooks.schema import (
    ORIGINAL,
    DealNotFound,
    FileTooLarge,
    InvalidFile,
    ParseError,
    StorageLimitExceeded,
    TooManySheets,
    WorkbookNotFound,
    WorkbookNotReady,
)

area = Area("/api/v1/reconciliation", tag="reconciliation", scope="compliance")
BUSY = frozenset({"processing"})


@area.post(
    "/tapes/upload",
    status=201,
    errors=(
        InvalidFile,
        InvalidTrustee,
        InvalidDate,
        FileTooLarge,
        TooManySheets,
        ParseError,
        StorageLimitExceeded,
        MappingNotFound,
        DealNotFound,
    ),
    event="tape.uploaded",
    flag="uploads",
    heavy=True,
)
async def upload_tape(ctx: Context, form: TapeForm) -> TapeUploaded:
    """Upload a trustee's tape (.xlsx, .xlsm, .xls). Its loans follow once it is completed."""
    return await actions.upload_tape(ctx, form)


@area.get("/tapes")
async def list_tapes(ctx: Context, query: TapeList) -> Page[Tape]:
    """The tapes of the tenant, the newest first."""
    return await store.list_tapes(ctx, query)


@area.get(
    "/tapes/{tape_id}",
    errors=(TapeNotFound,),
    waits=Waits("tape_id", BUSY, lambda tape: (tape.processing_status,)),
)
async def get_tape(ctx: Context, tape_id: str, query: WaitQuery) -> Tape:
    """A tape: how far it is, what was found in its file, or why it cannot be used."""
    return await store.show_tape(ctx, tape_id)


@area.patch("/tapes/{tape_id}", errors=(TapeNotFound, TapeNotReady, DealNotFound), event="tape.updated")
async def update_tape(ctx: Context, tape_id: str, body: TapePatch) -> Tape:
    """Change a tape's deal or its day; where another mapping reads it then, it is processed once more."""
    return await actions.update_tape(ctx, tape_id, body)


@area.get(
    "/tapes/{tape_id}/file",
    errors=(TapeNotFound, RangeNotSatisfiable, Damaged),
    media_type=ORIGINAL,
    ranged=True,
    event="tape.downloaded",
)
async def download_tape(ctx: Context, tape_id: str) -> Streamed:
    """The file as the trustee sent it, whether or not its loans could be read."""
    return await actions.file(ctx, tape_id)


@area.get("/tapes/{tape_id}/loans", errors=(TapeNotFound, TapeNotReady, Damaged))
async def list_tape_loans(ctx: Context, tape_id: str, query: LoanList) -> Page[TapeLoan]:
    """The loans of a tape, in its order, lots of one identifier added up; a tape that is not completed is refused."""
    return await actions.loans(ctx, tape_id, query)


@area.post(
    "/compare",
    errors=(TapeNotReady, InvalidRules, TapeNotFound, WorkbookNotFound, WorkbookNotReady, MappingNotFound),
    event="reconciliation.started",
)
async def compare_tape(ctx: Context, body: CompareRequest) -> CompareStarted:
    """Compare a tape with a workbook; asked again while the very same comparison is under way, that one is told."""
    return await actions.compare(ctx, body)


@area.get("/compare/{job_id}/status", errors=(JobNotFound,), waits=Waits("job_id", BUSY, lambda job: (job.status,)))
async def get_comparison(ctx: Context, job_id: str, query: WaitQuery) -> Job:
    """A comparison: how far it is, its summary, how loans were matched, and what could not be compared."""
    return await store.get_job(ctx, job_id)


@area.get("/issues", errors=(TapeNotFound,))
async def list_issues(ctx: Context, query: IssueList) -> Page[Issue]:
    """Issues: of one tape the gravest first, of all tapes the newest first."""
    return await actions.issues(ctx, query)


@area.get("/issues/summary", errors=(TapeNotFound,))
async def summarize_issues(ctx: Context, query: SummaryQuery) -> IssueSummary:
    """How many issues there are, by severity and by status."""
    return await actions.summary(ctx, query)


@area.get("/issues/{issue_id}/rows", errors=(IssueNotFound, WorkbookNotReady, Damaged), heavy=True)
async def get_issue_rows(ctx: Context, issue_id: str) -> IssueRows:
    """Both rows of an issue: every column of the workbook and of the trustee's file, with header, field and value.

    A side that lacks the loan, or whose workbook was deleted, is null, and its note says why.
    """
    return await row_actions.rows(ctx, issue_id)


@area.patch(
    "/issues",
    errors=(IssueNotFound, TapeNotFound, JobNotFound, InvalidStatus, ConcurrentModification),
    event="issues.updated",
)
async def review_issues(ctx: Context, body: IssuesPatch) -> IssuesReviewed:
    """Set the status, and the notes where given, of many issues, chosen by identifier or by filter."""
    return await review_actions.review_many(ctx, body)


@area.patch("/issues/{issue_id}", errors=(IssueNotFound, InvalidStatus, ConcurrentModification), event="issue.updated")
async def review_issue(ctx: Context, issue_id: str, body: IssuePatch) -> Issue:
    """Set an issue's status, its notes, or both. What is reviewed stays so while neither of its values changes."""
    return await review_actions.review(ctx, issue_id, body)
