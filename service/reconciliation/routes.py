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
    """Take a trustee's tape (.xlsx, .xlsm, .xls).

    Its loans follow once it is completed.
    """
    return await actions.upload_tape(ctx, form)


@area.get("/tapes")
async def list_tapes(ctx: Context, query: TapeList) -> Page[Tape]:
    """List the tapes of the tenant, the newest first."""
    return await store.list_tapes(ctx, query)


@area.get(
    "/tapes/{tape_id}",
    errors=(TapeNotFound,),
    waits=Waits("tape_id", BUSY, lambda tape: (tape.processing_status,)),
)
async def get_tape(ctx: Context, tape_id: str, query: WaitQuery) -> Tape:
    """Give a tape: how far it is, what its file holds, or why it cannot be used."""
    return await store.show_tape(ctx, tape_id)


@area.patch("/tapes/{tape_id}", errors=(TapeNotFound, TapeNotReady, DealNotFound), event="tape.updated")
async def update_tape(ctx: Context, tape_id: str, body: TapePatch) -> Tape:
    """Change a tape's deal or its day.

    If another mapping then reads it, it is processed once more.
    """
    return await actions.update_tape(ctx, tape_id, body)


@area.get(
    "/tapes/{tape_id}/file",
    errors=(TapeNotFound, RangeNotSatisfiable, Damaged),
    media_type=ORIGINAL,
    ranged=True,
    event="tape.downloaded",
)
async def download_tape(ctx: Context, tape_id: str) -> Streamed:
    """Give the file as the trustee sent it, even if its loans could not be read."""
    return await actions.file(ctx, tape_id)


@area.get("/tapes/{tape_id}/loans", errors=(TapeNotFound, TapeNotReady, Damaged))
async def list_tape_loans(ctx: Context, tape_id: str, query: LoanList) -> Page[TapeLoan]:
    """List the loans of a tape, in its order, lots of one identifier added up.

    A tape that is not completed is refused.
    """
    return await actions.loans(ctx, tape_id, query)


@area.post(
    "/compare",
    errors=(TapeNotReady, InvalidRules, TapeNotFound, WorkbookNotFound, WorkbookNotReady, MappingNotFound),
    event="reconciliation.started",
)
async def compare_tape(ctx: Context, body: CompareRequest) -> CompareStarted:
    """Compare a tape with a workbook.

    While the same comparison is under way, a second request gets that one.
    """
    return await actions.compare(ctx, body)


@area.get("/compare/{job_id}/status", errors=(JobNotFound,), waits=Waits("job_id", BUSY, lambda job: (job.status,)))
async def get_comparison(ctx: Context, job_id: str, query: WaitQuery) -> Job:
    """Give a comparison and how far it is.

    It has its summary, how loans were matched, and what could not be compared.
    """
    return await store.get_job(ctx, job_id)


@area.get("/issues", errors=(TapeNotFound,))
async def list_issues(ctx: Context, query: IssueList) -> Page[Issue]:
    """List issues: of one tape the gravest first, of all tapes the newest first."""
    return await actions.issues(ctx, query)


@area.get("/issues/summary", errors=(TapeNotFound,), summary="Count issues")
async def summarize_issues(ctx: Context, query: SummaryQuery) -> IssueSummary:
    """Count issues by severity and by status."""
    return await actions.summary(ctx, query)


@area.get("/issues/{issue_id}/rows", errors=(IssueNotFound, WorkbookNotReady, Damaged), heavy=True)
async def get_issue_rows(ctx: Context, issue_id: str) -> IssueRows:
    """Give both rows of an issue, of the workbook and of the trustee's file.

    Each column has its header, field and value. A side that lacks the loan, or whose workbook was deleted, is null, and
    its note says why.
    """
    return await row_actions.rows(ctx, issue_id)


@area.patch(
    "/issues",
    errors=(IssueNotFound, TapeNotFound, JobNotFound, InvalidStatus, ConcurrentModification),
    event="issues.updated",
)
async def review_issues(ctx: Context, body: IssuesPatch) -> IssuesReviewed:
    """Set the status of many issues, by identifier or by filter.

    Notes are set if they are in the body.
    """
    return await review_actions.review_many(ctx, body)


@area.patch("/issues/{issue_id}", errors=(IssueNotFound, InvalidStatus, ConcurrentModification), event="issue.updated")
async def review_issue(ctx: Context, issue_id: str, body: IssuePatch) -> Issue:
    """Set an issue's status, its notes, or both.

    A review counts as long as both values stay as they are.
    """
    return await review_actions.review(ctx, issue_id, body)
