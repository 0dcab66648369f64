"""Workbooks' decisions: what may be uploaded, changed, deleted and read."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import msgspec
from msgspec import UNSET

from core.files import errors
from core.files.errors import FileRefused
from core.files.probe import Probe
from core.files.read import check_file_name, probe
from core.grid.address import parse_cell
from core.portfolio.fields import PROFILES
from service.platform.api import Raw, Upload
from service.platform.context import Context
from service.platform.gate import Window
from service.platform.problem import Fault, Problem, ValidationFailed
from service.platform.secrets import new_id
from service.workbooks import library, reading, store
from service.workbooks.schema import (
    BUSY,
    Cell,
    DataQuery,
    Detail,
    FileTooLarge,
    InvalidFile,
    MappingNotFound,
    ParseError,
    Sheet,
    SheetSize,
    Stats,
    StorageLimitExceeded,
    TooManySheets,
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

MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE
COPY_BYTES = MEGABYTE

_REFUSALS: dict[type[FileRefused], type[Problem]] = {
    errors.InvalidFormat: InvalidFile,
    errors.FileTooLarge: FileTooLarge,
    errors.TooManySheets: TooManySheets,
    errors.ParseFailed: ParseError,
}


async def upload(ctx: Context, form: UploadForm) -> Uploaded:
    """Look at a file, keep it, and have it parsed; what is refused leaves nothing behind."""
    room = await store.room(ctx)
    await ctx.limit([Window(f"uploads:{ctx.tenant}", ctx.settings.uploads_per_hour.of(room.tier), 3600)])
    _check_mapping(form.mapping_id or None)
    _check_room(ctx, room, form.file)
    await ctx.commit()  # no connection is held while the file is looked at
    with TemporaryDirectory(prefix="upload-", dir=ctx.resources.scratch) as folder:
        path = Path(folder) / "file"
        try:
            key, found = await ctx.compute(_take, form.file, path)
        except FileRefused as refusal:
            raise _refused(refusal.hint, _REFUSALS[type(refusal)]) from None
        _check_extents(ctx, found)
        _check_room(ctx, await store.lock_room(ctx), form.file)
        await _keep_blob(ctx, path, key)
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
    book = await library.open_book(ctx, row)
    await ctx.commit()
    return await ctx.compute(reading.page, book, sheet, query)


async def cell(ctx: Context, workbook_id: UUID, sheet_name: str, ref: str) -> Cell:
    """One cell."""
    row = await store.get(ctx, workbook_id)
    sheet = await store.sheet(ctx, workbook_id, sheet_name)
    book = await library.open_book(ctx, row)
    try:
        at_row, at_column = parse_cell(ref)
    except ValueError:
        raise ValidationFailed(Fault(["path", "ref"], "expected a cell such as B7, in A1 to XFD1048576")) from None
    return reading.cell(book, sheet.index, at_row, at_column)


async def update(ctx: Context, workbook_id: UUID, patch: WorkbookPatch) -> Workbook:
    """Change what is said about a workbook."""
    row = await store.lock(ctx, workbook_id)
    ctx.match(row.version)
    given = {name: value for name, value in msgspec.structs.asdict(patch).items() if value is not UNSET}
    _check_mapping(given.get("mapping_id"))
    kept = {name: getattr(row, name) for name in patch.__struct_fields__}
    changed = await store.update(ctx, workbook_id, {**kept, **given})
    ctx.concerns("workbook", workbook_id, changed.name, changed=sorted(given))
    ctx.tag(changed.version)
    return Workbook(**_head(changed))


async def recalculate(ctx: Context, workbook_id: UUID) -> Workbook:
    """Hand a ready workbook to the worker that calculates; two callers cannot both."""
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


# What an upload passes ------------------------------------------------------------------------------------------------


def _take(upload: Upload, path: Path) -> tuple[str, Probe]:
    """Copy an upload to a file of its own and look at it; the hash of its bytes, and what it holds."""
    check_file_name(upload.file_name)  # before 100 MB are copied
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while chunk := upload.file.read(COPY_BYTES):
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest(), probe(path, file_name=upload.file_name)


def _refused(hint: str, problem: type[Problem]) -> Problem:
    return problem(Fault(["body", "file"], hint))


def _check_mapping(mapping_id: str | None) -> None:
    if mapping_id is not None and mapping_id not in PROFILES:
        raise MappingNotFound


def _check_room(ctx: Context, room: Room, file: Upload) -> None:
    """The limits of the file's size, of the tenant's workbooks and of its storage."""
    settings = ctx.settings
    most_mb = min(settings.max_upload_mb, room.max_workbook_size_mb or settings.max_upload_mb)
    if file.size_bytes > most_mb * MEGABYTE:
        raise _refused(f"The file has {file.size_bytes:,} bytes; the limit is {most_mb} MB.", FileTooLarge)
    most = settings.max_workbooks.of(room.tier)
    if 0 <= most <= room.workbooks:
        raise WorkbookLimitExceeded(Fault(["body", "file"], f"The limit is {most} workbooks."))
    most_gb = settings.max_storage_gb.of(room.tier)
    if 0 <= most_gb * GIGABYTE < room.storage_bytes + file.size_bytes:
        raise StorageLimitExceeded(Fault(["body", "file"], f"The limit is {most_gb} GB of stored files."))


def _check_extents(ctx: Context, found: Probe) -> None:
    """The deployment's own limits, where they are lower than the readers'."""
    settings = ctx.settings
    if len(found.sheets) > settings.max_sheets:
        raise _refused(f"The file has {len(found.sheets)} sheets; the limit is {settings.max_sheets}.", TooManySheets)
    for sheet in found.sheets:
        if sheet.row_count > settings.max_sheet_rows:
            hint = f"Sheet {sheet.name!r} has {sheet.row_count:,} rows; the limit is {settings.max_sheet_rows:,}."
            raise _refused(hint, ParseError)
        most = settings.max_sheet_columns
        if sheet.column_count > most:
            hint = f"Sheet {sheet.name!r} has {sheet.column_count:,} columns; the limit is {most:,}."
            raise _refused(hint, ParseError)


async def _keep_blob(ctx: Context, path: Path, key: str) -> None:
    """Store the file; should the transaction fail it goes again, unless somebody else has the same one."""
    await store.hold_blob(ctx, key)
    ctx.on_rollback(partial(store.drop_blob, ctx.resources, ctx.tenant, key))
    await ctx.resources.blobs.put(path, key)


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
