"""Workbooks' decisions: what may be uploaded, changed, deleted and read."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from core.files.probe import Probe
from core.grid.address import parse_cell
from service.mappings.shared import check_mapping
from service.platform.access.secrets import new_id
from service.platform.context import Context
from service.platform.http.api import Raw
from service.platform.http.problem import Fault, ValidationFailed
from service.workbooks import shared, sheet_actions, store
from service.workbooks.schema import (
    BUSY,
    Cell,
    DataQuery,
    Detail,
    Sheet,
    SheetSize,
    Stats,
    Uploaded,
    UploadForm,
    Workbook,
    WorkbookHead,
    WorkbookInUse,
    WorkbookLimitExceeded,
    WorkbookPatch,
    WorkbookRow,
)
from service.workbooks.store import NewSheet, Room
from service.workbooks.upload_actions import receive


async def upload(ctx: Context, form: UploadForm) -> Uploaded:
    """Look at a file, keep it, and have it parsed; what is refused leaves nothing behind."""
    if form.mapping_id:
        await check_mapping(ctx, form.mapping_id)
    key, found = await receive(ctx, form.file, partial(_check_count, ctx))
    row = await store.create(ctx, await _new_row(ctx, form, key, found))
    sheets = [
        NewSheet(
            id=new_id(), index=s.index, name=s.name, state=s.state, row_count=s.row_count, column_count=s.column_count
        )
        for s in found.sheets
    ]
    await store.put_sheets(ctx, row.id, sheets)
    await ctx.enqueue("workbooks.parse", queue="parse", arguments={"workbook_id": str(row.id)})
    ctx.concerns("workbook", row.id, row.name, file_name=row.file_name, file_size=row.file_size)
    ctx.tag(row.version)
    sizes = [SheetSize(name=s.name, row_count=s.row_count, column_count=s.column_count) for s in sheets]
    return Uploaded(**_head(row), sheets=sizes)


async def detail(ctx: Context, workbook_id: UUID, query: Detail) -> Workbook:
    """A workbook, with as much as was asked for."""
    row = await store.get(ctx, workbook_id)
    ctx.tag(row.version)
    return Workbook(
        **_head(row),
        sheets=await store.sheets(ctx, workbook_id) if query.include_sheets else UNSET,
        stats=_stats(row) if query.include_stats else UNSET,
    )


async def sheets(ctx: Context, workbook_id: UUID) -> list[Sheet]:
    """The sheets of a workbook."""
    await store.get(ctx, workbook_id)
    return await store.sheets(ctx, workbook_id)


async def sheet_data(ctx: Context, workbook_id: UUID, sheet_name: str, query: DataQuery) -> Raw:
    """Rows of a sheet, encoded where they were made: in a kernel's thread."""
    row = await store.get(ctx, workbook_id)
    sheet = await store.sheet(ctx, workbook_id, sheet_name)
    book = await shared.open_book(ctx, row)
    await ctx.commit()
    return await ctx.compute(sheet_actions.page, book, sheet, query)


async def cell(ctx: Context, workbook_id: UUID, sheet_name: str, ref: str) -> Cell:
    """One cell."""
    row = await store.get(ctx, workbook_id)
    sheet = await store.sheet(ctx, workbook_id, sheet_name)
    book = await shared.open_book(ctx, row)
    try:
        at_row, at_column = parse_cell(ref)
    except ValueError:
        raise ValidationFailed(Fault(["path", "ref"], "expected a cell such as B7, in A1 to XFD1048576")) from None
    return sheet_actions.cell(book, sheet.index, at_row, at_column)


async def update(ctx: Context, workbook_id: UUID, patch: WorkbookPatch) -> Workbook:
    """Change what is said about a workbook."""
    row = await store.lock(ctx, workbook_id)
    ctx.match(row.version)
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    if not given:
        ctx.changed_nothing()
        ctx.tag(row.version)
        return Workbook(**_head(row))
    if given.get("mapping_id") is not None:
        await check_mapping(ctx, given["mapping_id"])
    kept = {name: getattr(row, name) for name in patch.__struct_fields__}
    changed = await store.update(ctx, workbook_id, {**kept, **given})
    ctx.concerns("workbook", workbook_id, changed.name, changed=sorted(given))
    ctx.tag(changed.version)
    return Workbook(**_head(changed))


async def recalculate(ctx: Context, workbook_id: UUID) -> Workbook:
    """Hand a workbook to the worker that calculates; two callers cannot both."""
    row = await store.begin_recalculation(ctx, workbook_id)
    await ctx.enqueue("workbooks.recalculate", queue="calculate", arguments={"workbook_id": str(workbook_id)})
    ctx.concerns("workbook", workbook_id, row.name)
    ctx.tag(row.version)
    return Workbook(**_head(row))


async def delete(ctx: Context, workbook_id: UUID) -> None:
    """Delete a workbook that nothing works on or needs."""
    row = await store.lock(ctx, workbook_id)
    if row.status in BUSY or await store.is_used(ctx, workbook_id):
        raise WorkbookInUse
    await store.hide(ctx, workbook_id)
    ctx.concerns("workbook", workbook_id, row.name)


# A new workbook -------------------------------------------------------------------------------------------------------


def _check_count(ctx: Context, room: Room) -> None:
    most = ctx.settings.max_workbooks.of(room.tier)
    if 0 <= most <= room.workbooks:
        raise WorkbookLimitExceeded(Fault(["body", "file"], f"The limit is {most} workbooks."))


async def _new_row(ctx: Context, form: UploadForm, key: str, found: Probe) -> dict[str, Any]:
    return {
        "tenant_id": ctx.tenant,
        "id": new_id(),
        "name": form.name.strip() or form.file.file_name,
        "description": form.description or None,
        "file_name": form.file.file_name,
        "file_size": form.file.size_bytes,
        "content_hash": key,
        "sheet_count": len(found.sheets),
        "mapping_id": form.mapping_id or None,
        "stream_key": form.stream_key or None,
        "created_by": await ctx.email(),
    }


# From the stored row --------------------------------------------------------------------------------------------------


def _head(row: WorkbookRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in WorkbookHead.__struct_fields__}


def _stats(row: WorkbookRow) -> Stats:
    return Stats(
        total_cells=row.total_cells,
        formula_cells=row.formula_cells,
        last_calculation=row.last_calculation,
        calculation_count=row.calculation_count,
    )
