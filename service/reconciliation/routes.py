"""Reconciliation's rows."""

from __future__ import annotations

from service.mappings.schema import MappingNotFound
from service.platform.base.problem import ConcurrentModification, RangeNotSatisfiable
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Page, Streamed, WaitQuery, Waits
from service.platform.unit.context import Context
from service.reconciliation import actions, review_actions, row_actions, schema, store
from service.workbooks import schema as workbooks_schema

area = Area("/api/v1/reconciliation", tag="reconciliation", scope="compliance")
BUSY = frozenset({"processing"})


@area.post(
    "/tapes/upload",
    status=201,
    errors=(
        workbooks_schema.InvalidFile,
        schema.InvalidTrustee,
        schema.InvalidDate,
        workbooks_schema.FileTooLarge,
        workbooks_schema.TooManySheets,
        workbooks_schema.ParseError,
        workbooks_schema.StorageLimitExceeded,
        MappingNotFound,
        workbooks_schema.DealNotFound,
    ),
    event="tape.uploaded",
    flag="uploads",
    heavy=True,
)
async def upload_tape(ctx: Context, form: schema.TapeForm) -> schema.TapeUploaded:
    """Take a trustee's tape (.xlsx, .xlsm, .xls).

    Its loans follow once it is completed.
    """
    return await actions.upload_tape(ctx, form)


@area.get("/tapes")
async def list_tapes(ctx: Context, query: schema.TapeList) -> Page[schema.Tape]:
    """List the tapes of the tenant, the newest first."""
    return await store.list_tapes(ctx, query)


@area.get(
    "/tapes/{tape_id}",
    errors=(schema.TapeNotFound,),
    waits=Waits("tape_id", BUSY, lambda tape: (tape.processing_status,)),
)
async def get_tape(ctx: Context, tape_id: str, query: WaitQuery) -> schema.Tape:
    """Give a tape: how far it is, what its file holds, or why it cannot be used."""
    return await store.show_tape(ctx, tape_id)


@area.patch(
    "/tapes/{tape_id}",
    errors=(schema.TapeNotFound, schema.TapeNotReady, workbooks_schema.DealNotFound),
    event="tape.updated",
)
async def update_tape(ctx: Context, tape_id: str, body: schema.TapePatch) -> schema.Tape:
    """Change a tape's deal or its day.

    If another mapping then reads it, it is processed once more.
    """
    return await actions.update_tape(ctx, tape_id, body)


@area.get(
    "/tapes/{tape_id}/file",
    errors=(schema.TapeNotFound, RangeNotSatisfiable, Damaged),
    media_type=workbooks_schema.ORIGINAL,
    ranged=True,
    event="tape.downloaded",
)
async def download_tape(ctx: Context, tape_id: str) -> Streamed:
    """Give the file as the trustee sent it, even if its loans could not be read."""
    return await actions.file(ctx, tape_id)


@area.get("/tapes/{tape_id}/loans", errors=(schema.TapeNotFound, schema.TapeNotReady, Damaged))
async def list_tape_loans(ctx: Context, tape_id: str, query: schema.LoanList) -> Page[schema.TapeLoan]:
    """List the loans of a tape, in its order, lots of one identifier added up.

    A tape that is not completed is refused.
    """
    return await actions.loans(ctx, tape_id, query)


@area.post(
    "/compare",
    errors=(
        schema.TapeNotReady,
        schema.InvalidRules,
        schema.TapeNotFound,
        workbooks_schema.WorkbookNotFound,
        workbooks_schema.WorkbookNotReady,
        MappingNotFound,
    ),
    event="reconciliation.started",
)
async def compare_tape(ctx: Context, body: schema.CompareRequest) -> schema.CompareStarted:
    """Compare a tape with a workbook.

    While the same comparison is under way, a second request gets that one.
    """
    return await actions.compare(ctx, body)


@area.get(
    "/compare/{job_id}/status",
    errors=(schema.ComparisonNotFound,),
    waits=Waits("job_id", BUSY, lambda job: (job.status,)),
)
async def get_comparison(ctx: Context, job_id: str, query: WaitQuery) -> schema.Job:
    """Give a comparison and how far it is.

    It has its summary, how loans were matched, and what could not be compared.
    """
    return await store.comparisons.get(ctx, job_id)


@area.get("/issues", errors=(schema.TapeNotFound,))
async def list_issues(ctx: Context, query: schema.IssueList) -> Page[schema.Issue]:
    """List issues: of one tape the gravest first, of all tapes the newest first."""
    return await actions.issues(ctx, query)


@area.get("/issues/summary", errors=(schema.TapeNotFound,), summary="Count issues")
async def summarize_issues(ctx: Context, query: schema.SummaryQuery) -> schema.IssueSummary:
    """Count issues by severity and by status."""
    return await actions.summary(ctx, query)


@area.get(
    "/issues/{issue_id}/rows", errors=(schema.IssueNotFound, workbooks_schema.WorkbookNotReady, Damaged), heavy=True
)
async def get_issue_rows(ctx: Context, issue_id: str) -> schema.IssueRows:
    """Give both rows of an issue, of the workbook and of the trustee's file.

    Each column has its header, field and value. A side that lacks the loan, or whose workbook was deleted, is null, and
    its note says why.
    """
    return await row_actions.rows(ctx, issue_id)


@area.patch(
    "/issues",
    errors=(
        schema.IssueNotFound,
        schema.TapeNotFound,
        schema.ComparisonNotFound,
        schema.InvalidStatus,
        ConcurrentModification,
    ),
    event="issues.updated",
)
async def review_issues(ctx: Context, body: schema.IssuesPatch) -> schema.IssuesReviewed:
    """Set the status of many issues, by identifier or by filter.

    Notes are set if they are in the body.
    """
    return await review_actions.review_many(ctx, body)


@area.patch(
    "/issues/{issue_id}",
    errors=(schema.IssueNotFound, schema.InvalidStatus, ConcurrentModification),
    event="issue.updated",
)
async def review_issue(ctx: Context, issue_id: str, body: schema.IssuePatch) -> schema.Issue:
    """Set an issue's status, its notes, or both.

    A review counts as long as both values stay as they are.
    """
    return await review_actions.review(ctx, issue_id, body)
