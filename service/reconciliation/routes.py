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
    """Upload a trustee's tape (.xlsx, .xlsm, .xls). Its loans follow once it is completed."""
    return await actions.upload_tape(ctx, form)


@area.get("/tapes")
async def list_tapes(ctx: Context, query: schema.TapeList) -> Page[schema.Tape]:
    """The tapes of the tenant, the newest first."""
    return await store.list_tapes(ctx, query)


@area.get(
    "/tapes/{tape_id}",
    errors=(schema.TapeNotFound,),
    waits=Waits("tape_id", BUSY, lambda tape: (tape.processing_status,)),
)
async def get_tape(ctx: Context, tape_id: str, query: WaitQuery) -> schema.Tape:
    """A tape: how far it is, what was found in its file, or why it cannot be used."""
    return await store.show_tape(ctx, tape_id)


@area.patch(
    "/tapes/{tape_id}",
    errors=(schema.TapeNotFound, schema.TapeNotReady, workbooks_schema.DealNotFound),
    event="tape.updated",
)
async def update_tape(ctx: Context, tape_id: str, body: schema.TapePatch) -> schema.Tape:
    """Change a tape's deal or its day; where another mapping reads it then, it is processed once more."""
    return await actions.update_tape(ctx, tape_id, body)


@area.get(
    "/tapes/{tape_id}/file",
    errors=(schema.TapeNotFound, RangeNotSatisfiable, Damaged),
    media_type=workbooks_schema.ORIGINAL,
    ranged=True,
    event="tape.downloaded",
)
async def download_tape(ctx: Context, tape_id: str) -> Streamed:
    """The file as the trustee sent it, whether or not its loans could be read."""
    return await actions.file(ctx, tape_id)


@area.get("/tapes/{tape_id}/loans", errors=(schema.TapeNotFound, schema.TapeNotReady, Damaged))
async def list_tape_loans(ctx: Context, tape_id: str, query: schema.LoanList) -> Page[schema.TapeLoan]:
    """The loans of a tape, in its order, lots of one identifier added up; a tape that is not completed is refused."""
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
    """Compare a tape with a workbook; asked again while the very same comparison is under way, that one is told."""
    return await actions.compare(ctx, body)


@area.get(
    "/compare/{job_id}/status",
    errors=(schema.ComparisonNotFound,),
    waits=Waits("job_id", BUSY, lambda job: (job.status,)),
)
async def get_comparison(ctx: Context, job_id: str, query: WaitQuery) -> schema.Job:
    """A comparison: how far it is, its summary, how loans were matched, and what could not be compared."""
    return await store.comparisons.get(ctx, job_id)


@area.get("/issues", errors=(schema.TapeNotFound,))
async def list_issues(ctx: Context, query: schema.IssueList) -> Page[schema.Issue]:
    """Issues: of one tape the gravest first, of all tapes the newest first."""
    return await actions.issues(ctx, query)


@area.get("/issues/summary", errors=(schema.TapeNotFound,))
async def summarize_issues(ctx: Context, query: schema.SummaryQuery) -> schema.IssueSummary:
    """How many issues there are, by severity and by status."""
    return await actions.summary(ctx, query)


@area.get(
    "/issues/{issue_id}/rows", errors=(schema.IssueNotFound, workbooks_schema.WorkbookNotReady, Damaged), heavy=True
)
async def get_issue_rows(ctx: Context, issue_id: str) -> schema.IssueRows:
    """Both rows of an issue: every column of the workbook and of the trustee's file, with header, field and value.

    A side that lacks the loan, or whose workbook was deleted, is null, and its note says why.
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
    """Set the status, and the notes where given, of many issues, chosen by identifier or by filter."""
    return await review_actions.review_many(ctx, body)


@area.patch(
    "/issues/{issue_id}",
    errors=(schema.IssueNotFound, schema.InvalidStatus, ConcurrentModification),
    event="issue.updated",
)
async def review_issue(ctx: Context, issue_id: str, body: schema.IssuePatch) -> schema.Issue:
    """Set an issue's status, its notes, or both. What is reviewed stays so while neither of its values changes."""
    return await review_actions.review(ctx, issue_id, body)
