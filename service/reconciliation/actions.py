"""Reconciliation's decisions.

What a tape must be, what may be compared, what a review changes.
"""

from __future__ import annotations

import hashlib
from typing import Final

from core.reconciliation.rules import RULES, tolerances_of
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.base.problem import Fault
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.route.api import Page, Streamed, page_of
from service.platform.unit.context import Context
from service.platform.unit.records import to_json
from service.reconciliation import issue_store, loan_actions, schema, store
from service.reconciliation.tape_actions import TapeAbout, have_read, take_in_tape
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotReady, readable_key

FAULTS_TOLD: Final = 10


# Tapes ----------------------------------------------------------------------------------------------------------------


async def upload_tape(ctx: Context, form: schema.TapeForm) -> schema.TapeUploaded:
    """Take in a trustee's tape, a spreadsheet."""
    about = TapeAbout(form.trustee_name, form.statement_date, form.mapping_id or None, form.deal_id, form.as_of)
    return await take_in_tape(ctx, "file", form.file, about)


async def file(ctx: Context, tape_id: str) -> Streamed:
    """Return the file that a tape was uploaded as.

    Raises:
        TapeNotFound: there is none of that identifier.
        Damaged, RangeNotSatisfiable: as `workbooks.original`.
    """
    row = await store.tapes.get(ctx, tape_id)
    ctx.set_subject("tape", tape_id, row.file_name)
    source = workbooks.SourceFile(file_name=row.file_name, file_size=row.file_size, content_hash=row.content_hash)
    return await workbooks.original(ctx, source)


async def update_tape(ctx: Context, tape_id: str, patch: schema.TapePatch) -> schema.Tape:
    """Change a tape; read its loans anew where its mapping changed."""
    row = await store.tapes.get(ctx, tape_id, lock=True)
    changes = patch.changes()
    if not changes:
        ctx.skip_event()
        return await store.show_tape(ctx, tape_id)
    if changes.get("deal_id") is not None:
        await workbooks.check_deal(ctx, changes["deal_id"])
    changed = await store.tapes.update(ctx, tape_id, changes)
    if changed.read_by != row.read_by:
        if row.processing_status == "processing":
            raise schema.TapeNotReady.at(["path", "tape_id"], "its loans are still being read, by another mapping")
        await store.read_again(ctx, tape_id, await have_read(ctx, tape_id, row.file_size))
    ctx.set_subject("tape", tape_id, row.file_name, changed=sorted(changes))
    return await store.show_tape(ctx, tape_id)


async def loans(ctx: Context, tape_id: str, query: schema.LoanList) -> Page[schema.TapeLoan]:
    """Return a page of a tape's loans, in the tape's order."""
    tape = await store.tapes.get(ctx, tape_id)
    sheet = await loan_actions.open_loans(ctx, tape)
    await ctx.commit()
    first = (query.page - 1) * query.page_size
    items = await ctx.compute(loan_actions.loans, sheet, tape.id, first, first + query.page_size)
    return page_of(items, tape.loan_count, query)


# Comparisons ----------------------------------------------------------------------------------------------------------


async def compare(ctx: Context, body: schema.CompareRequest) -> schema.CompareStarted:
    """Compare a tape with a workbook, or join the same comparison."""
    rules = _rules(body.rules)
    tape = await store.tapes.get(ctx, body.tape_id, lock=True)  # held: two callers at once begin one comparison
    book = await workbooks.get(ctx, body.workbook_id)
    loan_actions.loans_key(tape, ["body", "tape_id"])
    if readable_key(book.status, book.book_key) is None:
        raise WorkbookNotReady
    mapping = await get_mapping(ctx, book.read_by or DEFAULT_MAPPING)
    tolerances = tolerances_of({**_deployment_tolerances(ctx.settings), **await store.own_tolerances(ctx)})
    inputs = to_json([rules, tolerances, tape.loans_key, book.book_key, book.as_of, mapping.json])
    job_id = f"rec_{new_id().hex}"
    row = {
        "id": job_id,
        "tape_id": tape.id,
        "workbook_id": book.id,
        "status": "processing",
        "rules": rules,
        "tolerances": to_json(tolerances),
        "inputs_key": hashlib.sha256(inputs.encode()).hexdigest(),
        "created_by": await ctx.email(),
    }
    running = await store.running_job(ctx, row)
    if running is None:
        await store.comparisons.add(ctx, row)
        await ctx.enqueue("reconciliation.compare", queue="calculate", arguments={"job_id": job_id})
    else:
        job_id = running.job_id
        ctx.skip_event()
    ctx.set_subject("reconciliation", job_id, tape.file_name, tape_id=tape.id, workbook_id=str(book.id), rules=rules)
    message = "The comparison has begun." if running is None else "The same comparison is under way already."
    return schema.CompareStarted(
        job_id=job_id, tape_id=tape.id, workbook_id=book.id, status="processing", message=message
    )


def _rules(names: list[str] | None) -> list[str]:
    """Return the rules asked for, each once, in the order of the catalogue."""
    unknown = [name for name in dict.fromkeys(names or ()) if name not in RULES]
    if unknown:
        faults = (Fault(["body", "rules"], f"{name[:100]!r} is no rule") for name in unknown[:FAULTS_TOLD])
        raise schema.InvalidRules(*faults, Fault(["body", "rules"], f"the rules are {', '.join(RULES)}"))
    return [name for name in RULES if not names or name in names]


def _deployment_tolerances(settings: Settings) -> dict[str, float]:
    return {
        "par_value": settings.reconciliation_tolerance_par,
        "price": settings.reconciliation_tolerance_price,
        "spread": settings.reconciliation_tolerance_spread_bps,
        "maturity_date": settings.reconciliation_tolerance_maturity_days,
        "all_in_rate": settings.reconciliation_tolerance_all_in_bps,
    }


# Issues ---------------------------------------------------------------------------------------------------------------


async def issues(ctx: Context, query: schema.IssueList) -> Page[schema.Issue]:
    """Return a page of issues; refuse a tape that is not there.

    An empty page would read as a clean one.
    """
    await _check_tape(ctx, query.tape_id)
    return await issue_store.list_issues(ctx, query)


async def summary(ctx: Context, query: schema.SummaryQuery) -> schema.IssueSummary:
    """Counts of issues; a tape that is not there is refused."""
    await _check_tape(ctx, query.tape_id)
    return await issue_store.summary(ctx, query)


async def _check_tape(ctx: Context, tape_id: str | None) -> None:
    if tape_id is not None:
        await store.tapes.get(ctx, tape_id)
