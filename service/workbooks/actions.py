"""Workbooks' decisions: what may be uploaded, changed, deleted and read."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from msgspec import UNSET
from msgspec.structs import replace

from core.grid.address import parse_cell
from core.words import first_of
from service.mappings.shared import DEFAULT_MAPPING, check_mapping, get_mapping
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.route.api import Raw, Streamed
from service.platform.unit.context import Context
from service.platform.unit.records import narrow
from service.processes.shared import run_limited_in_child
from service.workbooks import child, schema, shared, sheet_actions, store
from service.workbooks.upload_actions import WorkbookAbout, head, take_in

FILES_SHOWN: Final = 10
SMALL_CELLS: Final = 5_000
"""Cells of a page that a thread makes in two milliseconds; of more a child makes it."""
SMALL_FORMULAS: Final = 500
"""The same where each may have a formula, which is printed anew."""


async def upload(ctx: Context, form: schema.UploadForm) -> schema.Uploaded:
    """Take a file in as a workbook."""
    shared.check_stream(ctx, form.stream_key)
    about = WorkbookAbout(
        form.name, form.description or None, form.mapping_id or None, form.stream_key, form.deal_id, form.as_of
    )
    return await take_in(ctx, "file", [form.file], about)


async def detail(ctx: Context, workbook_id: UUID, query: schema.Detail) -> schema.Workbook:
    """Return a workbook, with as much as was asked for."""
    row = await store.workbooks.get(ctx, workbook_id)
    ctx.set_etag(row.version)
    return schema.Workbook(
        **head(row),
        sheets=await store.sheets(ctx, workbook_id) if query.include_sheets else UNSET,
        stats=_stats(row) if query.include_stats else UNSET,
    )


async def sheets(ctx: Context, workbook_id: UUID) -> list[schema.Sheet]:
    """Return the sheets of a workbook."""
    await store.workbooks.get(ctx, workbook_id)
    return await store.sheets(ctx, workbook_id)


async def sheet_data(ctx: Context, workbook_id: UUID, sheet_name: str, query: schema.DataQuery) -> Raw:
    """Return rows of a sheet, encoded in a thread, or in a child."""
    row = await store.workbooks.get(ctx, workbook_id)
    sheet = await store.sheet(ctx, workbook_id, sheet_name)
    parsed = replace(row, book_key=sheet.book_key)
    stored = await shared.locate_book(ctx, parsed)
    is_small = query.page_size * len(sheet.types) <= (SMALL_FORMULAS if query.include_formulas else SMALL_CELLS)
    if is_small or not stored.is_there:
        book = await shared.open_book(ctx, parsed)
        await ctx.commit()
        return await ctx.compute(sheet_actions.page, book, sheet, query)
    await ctx.commit()
    return await run_limited_in_child(ctx, child.page, stored.key, stored.manifest, stored.paths, sheet, query)


async def cell(ctx: Context, workbook_id: UUID, sheet_name: str, ref: str) -> schema.Cell:
    """Return one cell."""
    row = await store.workbooks.get(ctx, workbook_id)
    sheet = await store.sheet(ctx, workbook_id, sheet_name)
    book = await shared.open_book(ctx, replace(row, book_key=sheet.book_key))
    try:
        at_row, at_column = parse_cell(ref)
    except ValueError:
        raise ValidationFailed(Fault(["path", "ref"], "expected a cell such as B7, in A1 to XFD1048576")) from None
    return sheet_actions.cell(book, sheet.index, at_row, at_column)


async def detection(ctx: Context, workbook_id: UUID, query: schema.DetectionQuery) -> Raw:
    """Return how a workbook's loans are read, and why.

    Raises:
        WorkbookNotFound, SheetNotFound, MappingNotFound: there is none.
        WorkbookNotReady, Damaged, MappingTooSlow: as `shared.detect`.
    """
    row = await store.workbooks.get(ctx, workbook_id)
    name = None
    if query.sheet is not None:
        sheet = await store.sheet(ctx, workbook_id, query.sheet)
        row, name = replace(row, book_key=sheet.book_key), sheet.name
    mapping = (await get_mapping(ctx, query.mapping_id or row.read_by or DEFAULT_MAPPING)).mapping
    return await shared.detect(ctx, row, mapping, name)


async def file(ctx: Context, workbook_id: UUID, query: schema.FileQuery) -> Streamed:
    """Return the file that a workbook was uploaded as, or one of several.

    Raises:
        WorkbookNotFound: there is none, or it was deleted.
        SeveralFiles: nothing says which of them.
        FileNotFound: it has none of that number.
        Damaged, RangeNotSatisfiable: as `shared.original`.
    """
    row = await store.workbooks.get(ctx, workbook_id)
    files = await store.files(ctx, row)
    if query.number is None and len(files) > 1:
        names = first_of([f"{at} {source.file_name!r}" for at, source in enumerate(files, 1)], FILES_SHOWN)
        raise schema.SeveralFiles.at(["query", "number"], f"say which one: {names}")
    number = query.number or 1
    if number > len(files):
        raise schema.FileNotFound.at(["query", "number"], f"the workbook's files are 1 to {len(files)}")
    chosen = files[number - 1]
    ctx.set_subject("workbook", workbook_id, row.name, file_name=chosen.file_name)
    return await shared.original(ctx, chosen)


async def update(ctx: Context, workbook_id: UUID, patch: schema.WorkbookPatch) -> schema.Workbook:
    """Change what is said about a workbook."""
    row = await store.workbooks.get(ctx, workbook_id, lock=True)
    ctx.check_if_match(row.version)
    changes = patch.changes()
    if not changes:
        ctx.skip_event()
        ctx.set_etag(row.version)
        return schema.Workbook(**head(row))
    shared.check_stream(ctx, changes.get("stream_key"))
    if changes.get("mapping_id") is not None:
        await check_mapping(ctx, changes["mapping_id"])
    if changes.get("deal_id") is not None:
        await store.check_deal(ctx, changes["deal_id"])
    changed = await store.workbooks.update(ctx, workbook_id, changes)
    ctx.set_subject("workbook", workbook_id, changed.name, changed=sorted(changes))
    ctx.set_etag(changed.version)
    return schema.Workbook(**head(changed))


async def recalculate(ctx: Context, workbook_id: UUID, locale: schema.LocaleTag | None) -> schema.Workbook:
    """Hand a workbook to the worker that calculates; two callers cannot both."""
    row = await store.begin_recalculation(ctx, workbook_id)
    await ctx.enqueue(
        "workbooks.recalculate", queue="calculate", arguments={"workbook_id": str(workbook_id), "locale": locale}
    )
    ctx.set_subject("workbook", workbook_id, row.name)
    ctx.set_etag(row.version)
    return schema.Workbook(**head(row))


async def delete(ctx: Context, workbook_id: UUID) -> None:
    """Delete a workbook that nothing works on or needs."""
    row = await store.workbooks.get(ctx, workbook_id, lock=True)
    if row.status in schema.BUSY or row.written_by:
        raise schema.WorkbookInUse
    await store.hide(ctx, workbook_id)
    ctx.set_subject("workbook", workbook_id, row.name)


# From the stored row --------------------------------------------------------------------------------------------------


def _stats(row: schema.WorkbookRow) -> schema.Stats:
    return narrow(schema.Stats, row)
