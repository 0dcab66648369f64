"""The two rows behind an issue.

What the workbook and the trustee's file have of the loan, column by column.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from core.portfolio.assemble.source_row import SourceRow
from core.reconciliation.rules import IssueType
from service.mappings.schema import MappingNotFound
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.unit.context import Context
from service.processes.shared import run_limited_in_child
from service.reconciliation import issue_store, row_child, store
from service.reconciliation.issue_store import IssuePlace
from service.reconciliation.schema import IssueRows, IssueTapeRow, IssueWorkbookRow
from service.workbooks import shared as workbooks
from service.workbooks.schema import WorkbookNotFound

NO_LOAN: Final = "It has no such loan."
NOT_KEPT: Final = "Which row it is was not kept: compare the tape with the workbook again."
NOT_THERE: Final = "Its loans are read otherwise since the comparison: compare the tape with the workbook again."
GONE: Final = {
    "workbook": "The workbook or its mapping was deleted.",
    "tape": "The mapping that the tape was read by was deleted.",
}
LACKED_BY: Final[dict[IssueType, str]] = {"missing_in_internal": "workbook", "missing_in_trustee": "tape"}

Side = tuple[SourceRow | None, str | None]
"""A row, or why there is none."""


async def rows(ctx: Context, issue_id: str) -> IssueRows:
    """Both rows of an issue; a side without one says why.

    Raises:
        IssueNotFound: there is none of that identifier.
        WorkbookNotReady, Damaged: the workbook's columns, or the tape's bytes, cannot be read.
    """
    issue = await issue_store.place_of(ctx, issue_id)
    book, book_note = await _side(ctx, issue, "workbook", issue.internal_row)
    tape, tape_note = await _side(ctx, issue, "tape", issue.trustee_row)
    return IssueRows(
        issue_id=issue.id,
        workbook=None if book is None else IssueWorkbookRow(workbook_id=issue.workbook_id, **structs.asdict(book)),
        workbook_note=book_note,
        tape=None if tape is None else IssueTapeRow(tape_id=issue.tape_id, **structs.asdict(tape)),
        tape_note=tape_note,
    )


async def _side(ctx: Context, issue: IssuePlace, side: str, row: int | None) -> Side:
    if LACKED_BY.get(issue.issue_type) == side:
        return None, NO_LOAN
    if row is None:
        return None, NOT_KEPT
    try:
        read = _tape_row(ctx, issue.tape_id, row) if side == "tape" else _workbook_row(ctx, issue, row)
        sheet_row = await read
    except (WorkbookNotFound, MappingNotFound):
        return None, GONE[side]
    return sheet_row, NOT_THERE if sheet_row is None else None


async def _workbook_row(ctx: Context, issue: IssuePlace, row: int) -> SourceRow | None:
    book = await workbooks.get(ctx, issue.workbook_id)
    mapping = await get_mapping(ctx, book.read_by or DEFAULT_MAPPING)
    stored = await workbooks.locate_book(ctx, book)
    if not stored.is_there:
        raise ctx.resources.blobs.away()
    await ctx.commit()
    work = stored.key, stored.manifest, stored.paths, mapping.json, row
    return await run_limited_in_child(ctx, row_child.workbook_row, *work)


async def _tape_row(ctx: Context, tape_id: str, row: int) -> SourceRow | None:
    tape = await store.tapes.get(ctx, tape_id)
    mapping = (await store.show_tape(ctx, tape_id)).facts.mapping_id
    read_by = None if mapping is None else (await get_mapping(ctx, mapping)).json
    stored = await ctx.resources.blobs.locate(tape.content_hash)
    if not stored.is_there:
        raise ctx.resources.blobs.away()
    await ctx.commit()
    work = str(stored.path), tape.file_name, tape.trustee_name, read_by, row
    return await run_limited_in_child(ctx, row_child.tape_row, *work)
