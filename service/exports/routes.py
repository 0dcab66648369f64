"""Exports' rows."""

from __future__ import annotations

from core.files.write.formats import CSV, JSON, PDF, XLSX, ZIP_MIME_TYPE
from service.exports import actions, schema, store, verify_actions
from service.mappings.schema import MappingNotFound
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Slice, Streamed, WaitQuery, Waits
from service.platform.unit.context import Context
from service.workbooks.schema import StorageLimitExceeded, WorkbookNotFound, WorkbookNotReady

area = Area("/api/v1/exports", tag="exports", scope="reports")
GENERATE = "reports:generate"
BUSY = frozenset({"pending", "processing"})


@area.get()
async def list_exports(ctx: Context, query: schema.ExportList) -> Slice[schema.Export]:
    """List the exports of the tenant, the newest first."""
    return await store.read_page(ctx, query)


@area.post(
    access=GENERATE,
    status=201,
    errors=(
        schema.InvalidRequest,
        WorkbookNotFound,
        MappingNotFound,
        WorkbookNotReady,
        schema.ExportLimitExceeded,
        StorageLimitExceeded,
        Damaged,
    ),
    event="export.created",
    flag="exports",
)
async def create_export(ctx: Context, body: schema.ExportCreate) -> schema.Export:
    """Export a workbook as it is now.

    The export is `processing` until its files can be downloaded. What is done to the workbook meanwhile, its deletion
    too, changes nothing of the export.
    """
    return await actions.create(ctx, body)


@area.get("/formats/list")
async def list_export_formats(ctx: Context) -> list[schema.FormatInfo]:
    """List the formats that an export may have."""
    return actions.FORMATS


@area.post(
    "/verify",
    access="reports:read",
    errors=(schema.InvalidRequest, schema.OtherTenantsFile),
    event="export.verified",
    heavy=True,
)
async def verify_export(ctx: Context, form: schema.VerifyForm) -> schema.Verification:
    """Say whether an .xlsx file is an export as it was written.

    Cells that were changed are named. `original`: its cells are those of the record. `modified`: they are not.
    `invalid_provenance`: what it says of itself was not signed here. `unknown`: it says nothing of itself, or there is
    no such export.
    """
    return await verify_actions.verify(ctx, form)


@area.get(
    "/{export_id}",
    errors=(schema.ExportNotFound,),
    waits=Waits("export_id", BUSY, lambda export: (export.status, export.progress.percent)),
)
async def get_export(ctx: Context, export_id: str, query: WaitQuery) -> schema.Export:
    """Give an export: how far it is, and what came of it."""
    return await store.exports.get(ctx, export_id)


@area.delete(
    "/{export_id}", access=GENERATE, errors=(schema.ExportNotFound, schema.ExportEnded), event="export.cancelled"
)
async def cancel_export(ctx: Context, export_id: str) -> None:
    """Stop an export that is in work.

    One that has ended stays as it is (409).
    """
    await actions.cancel(ctx, export_id)


@area.get(
    "/{export_id}/download",
    errors=(schema.ExportNotFound, schema.NoSealedPdf, schema.ExportNotReady, schema.ExportExpired, Damaged),
    event="export.downloaded",
    media_type=XLSX.mime_type,
    also_media=(CSV.mime_type, ZIP_MIME_TYPE, JSON.mime_type, PDF.mime_type),
    ranged=True,
)
async def download_export(ctx: Context, export_id: str, query: schema.Download) -> Streamed:
    """Give the file of a completed export, until it expires.

    With `artifact=pdf` it is the sealed PDF beside it.
    """
    return await actions.download(ctx, export_id, query)
