"""Workbooks' rows."""

from __future__ import annotations

from uuid import UUID

from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.base.problem import RangeNotSatisfiable
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Page, Raw, Streamed, Waits
from service.platform.unit.context import Context
from service.workbooks import actions, schema, store

WRITTEN = "written"
"""The state of a workbook that a formula writes a column into; its status stays `ready`."""
area = Area("/api/v1/workbooks", tag="workbooks", scope="workbooks")


@area.get(lags=True)
async def list_workbooks(ctx: Context, query: schema.WorkbookList) -> Page[schema.Workbook]:
    """List the workbooks of the tenant."""
    return await store.read_page(ctx, query)


@area.post(
    "/upload",
    status=201,
    errors=(
        schema.InvalidFile,
        schema.FileTooLarge,
        schema.TooManySheets,
        schema.ParseError,
        MappingNotFound,
        schema.DealNotFound,
        schema.WorkbookLimitExceeded,
        schema.StorageLimitExceeded,
    ),
    event="workbook.uploaded",
    flag="uploads",
    versioned=True,
    heavy=True,
)
async def upload_workbook(ctx: Context, form: schema.UploadForm) -> schema.Uploaded:
    """Take a spreadsheet (.xlsx, .xlsm, .xls).

    The answer names its sheets; its cells follow once it is ready.
    """
    return await actions.upload(ctx, form)


@area.get(
    "/{workbook_id}",
    errors=(schema.WorkbookNotFound,),
    versioned=True,
    waits=Waits(
        "workbook_id",
        frozenset({*schema.BUSY, WRITTEN}),
        lambda book: (book.status, WRITTEN if book.written_by else None),
    ),
)
async def get_workbook(ctx: Context, workbook_id: UUID, query: schema.Detail) -> schema.Workbook:
    """Give a workbook.

    Its ETag is what If-Match of a change compares.
    """
    return await actions.detail(ctx, workbook_id, query)


@area.get("/{workbook_id}/sheets", errors=(schema.WorkbookNotFound,))
async def list_sheets(ctx: Context, workbook_id: UUID) -> list[schema.Sheet]:
    """List the sheets of a workbook, hidden ones included."""
    return await actions.sheets(ctx, workbook_id)


@area.get(
    "/{workbook_id}/sheets/{sheet_name}/data",
    errors=(schema.WorkbookNotFound, schema.SheetNotFound, schema.WorkbookNotReady, Damaged),
    also_media=("text/csv",),
    heavy=True,
)
async def get_sheet_data(
    ctx: Context, workbook_id: UUID, sheet_name: str, query: schema.DataQuery
) -> schema.SheetData | Raw:
    """Give rows of a sheet, by its name or identifier.

    Columns are named by the header row, or by their letters where the sheet has none; rows are those below the header.
    With `letters` every row comes, and columns are named by their letters. Dates are ISO 8601, error cells their code
    (`#N/A`), blanks null. With `format=csv` the rows come as text/csv (RFC 4180), unaltered: text that begins with `=`
    stays so. With `include_formulas` a row of JSON has its formulas beside its values; in CSV a cell's formula stands
    in place of its value.
    """
    return await actions.sheet_data(ctx, workbook_id, sheet_name, query)


@area.get(
    "/{workbook_id}/sheets/{sheet_name}/cells/{ref}",
    errors=(schema.WorkbookNotFound, schema.SheetNotFound, schema.WorkbookNotReady, Damaged),
)
async def get_cell(ctx: Context, workbook_id: UUID, sheet_name: str, ref: str) -> schema.Cell:
    """Give a cell by its A1 name.

    One without content is blank.
    """
    return await actions.cell(ctx, workbook_id, sheet_name, ref)


@area.get(
    "/{workbook_id}/detection",
    errors=(
        schema.WorkbookNotFound,
        schema.SheetNotFound,
        MappingNotFound,
        schema.WorkbookNotReady,
        MappingTooSlow,
        Damaged,
    ),
    heavy=True,
    summary="Explain reading",
)
async def get_detection(
    ctx: Context, workbook_id: UUID, query: schema.DetectionQuery
) -> schema.WorkbookDetection | Raw:
    """Explain how the loans of a workbook are read.

    The answer says what each sheet is, where the header is, and which rows are no loans. Each column has its role, the
    runner-up and the evidence, each field its unit. A column that is ambiguous could as well be the runner-up.
    `validation` says what the mapping's rules say of the rows, with the first 100 errors and warnings. Columns that
    feed no field, and those of other sheets, are told up to 2,000; `columns_not_shown` counts the rest. Nothing is
    stored.
    """
    return await actions.detection(ctx, workbook_id, query)


@area.get(
    "/{workbook_id}/file",
    errors=(schema.WorkbookNotFound, schema.FileNotFound, schema.SeveralFiles, RangeNotSatisfiable, Damaged),
    media_type=schema.ORIGINAL,
    ranged=True,
    event="workbook.downloaded",
)
async def download_workbook(ctx: Context, workbook_id: UUID, query: schema.FileQuery) -> Streamed:
    """Give the file as it was uploaded, whatever became of the workbook since.

    `number` picks one of several files.
    """
    return await actions.file(ctx, workbook_id, query)


@area.patch(
    "/{workbook_id}",
    errors=(schema.WorkbookNotFound, MappingNotFound, schema.DealNotFound),
    event="workbook.updated",
    versioned=True,
)
async def update_workbook(ctx: Context, workbook_id: UUID, body: schema.WorkbookPatch) -> schema.Workbook:
    """Change the fields in the body.

    A stale If-Match is refused.
    """
    return await actions.update(ctx, workbook_id, body)


@area.post(
    "/{workbook_id}/recalculate",
    access="calculations:execute",
    errors=(schema.WorkbookNotFound, schema.WorkbookNotReady),
    event="workbook.recalculation_started",
    flag="recalculation",
)
async def recalculate_workbook(ctx: Context, workbook_id: UUID, body: schema.RecalculateRequest) -> schema.Workbook:
    """Calculate every formula of a workbook.

    It is `recalculating` until then, and `ready` afterwards.
    """
    return await actions.recalculate(ctx, workbook_id, body.locale)


@area.delete("/{workbook_id}", errors=(schema.WorkbookNotFound, schema.WorkbookInUse), event="workbook.deleted")
async def delete_workbook(ctx: Context, workbook_id: UUID) -> None:
    """Delete a workbook.

    One in use is refused.
    """
    await actions.delete(ctx, workbook_id)
