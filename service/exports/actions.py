"""Exports' decisions: what may be exported and how, and who gets the files."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import asdict

from core.export.compliance import compliance_rows
from core.export.order import Lineage, Options
from core.files.kinds import stem_of
from core.files.write import formats
from core.grid.codec import WorkbookRecord
from core.labels import labelled
from service.auth import shared as identity
from service.compliance import shared as compliance
from service.documents import shared as documents
from service.exports import schema, store
from service.exports.signing_actions import can_seal
from service.mappings.shared import DEFAULT_MAPPING, get_mapping
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.http.faults import read
from service.platform.route.api import Streamed
from service.platform.unit.context import Context
from service.platform.unit.records import lock_count, to_json
from service.platform.work.jobs import SMALL_ROWS
from service.workbooks import shared as workbooks
from service.workbooks.schema import SheetNotFound, WorkbookRow

OPTIONS: Final = ["body", "options"]

STALE: Final = "The compliance run is of the workbook as it was before its cells were changed: run it again."
FORMATS: Final = [
    msgspec.convert(file_format, schema.FormatInfo, from_attributes=True) for file_format in formats.FORMATS.values()
]


async def create(ctx: Context, body: schema.ExportCreate) -> schema.Export:
    """Create an export of a workbook as it is now."""
    options = _check_options(ctx, body)
    row = await workbooks.get(ctx, body.workbook_id)
    stored = await workbooks.locate_book(ctx, row)
    sheets = None if body.sheet_ids is None else await _chosen(ctx, row, body.sheet_ids)
    source = await _source(ctx, row, stored.manifest, sheets)
    workbooks.check_storage(ctx.settings, ["body", "workbook_id"], await workbooks.room(ctx))
    if await lock_count(ctx, store.IN_WORK) >= ctx.settings.max_exports:
        raise schema.ExportLimitExceeded.at(["body"], f"the limit is {ctx.settings.max_exports} exports in work")
    export_id = f"exp_{new_id().hex}"
    await store.exports.add(
        ctx,
        {
            "id": export_id,
            "workbook_id": row.id,
            "format": body.format,
            "status": "processing",
            "options": to_json(options),
            "source": to_json(source),
            "source_keys": [sheet.file for sheet in WorkbookRecord.from_json(stored.manifest).sheets],
            "progress": to_json(schema.QUEUED),
            "created_by": await ctx.email(),
        },
    )
    small = sum(sheet.row_count for sheet in WorkbookRecord.from_json(stored.manifest).sheets) <= SMALL_ROWS
    await ctx.enqueue("exports.make", queue="export", arguments={"export_id": export_id}, small=small)
    ctx.set_subject("export", export_id, row.name, workbook_id=str(row.id), format=body.format, **asdict(body.options))
    return await store.exports.get(ctx, export_id)


def _check_options(ctx: Context, body: schema.ExportCreate) -> Options:
    """Return the options as they are gone by.

    Raises:
        InvalidRequest: one cannot be, or the deployment lacks what it needs.
    """
    try:
        options: Options = read(asdict(body.options), Options, OPTIONS)
    except ValidationFailed as refusal:
        raise schema.InvalidRequest(*refusal.errors) from None
    if body.format == "xlsx":
        if options.xlsx_signing and ctx.settings.signing_url is None:
            raise schema.InvalidRequest.at([*OPTIONS, "xlsx_signing"], "this deployment has no signing service")
        if options.xlsx_sealed_pdf and not can_seal(ctx.settings):
            raise schema.InvalidRequest.at([*OPTIONS, "xlsx_sealed_pdf"], "this deployment has no certificate")
    return options


async def _chosen(ctx: Context, row: WorkbookRow, wanted: list[str]) -> tuple[str, ...]:
    """Return the names of the sheets that are asked for.

    Raises:
        InvalidRequest: none is, or one that the workbook does not have.
    """
    where = ["body", "sheet_ids"]
    if not wanted:
        raise schema.InvalidRequest.at(where, "names no sheet; leave it out for all")
    names, faults = dict[str, None](), []
    for place, sheet in enumerate(wanted):
        try:
            names[(await workbooks.sheet(ctx, row.id, sheet)).name] = None
        except SheetNotFound:
            faults.append(Fault([*where, str(place)], f"the workbook has no sheet {sheet!r}"))
    if faults:
        raise schema.InvalidRequest(*faults)
    return tuple(names)


async def _source(ctx: Context, row: WorkbookRow, manifest: str, sheets: tuple[str, ...] | None) -> schema.Source:
    mapping = await get_mapping(ctx, row.read_by or DEFAULT_MAPPING)
    run = await compliance.find_run(ctx, row.id)
    labels = await identity.labels_of(ctx)
    warnings = [warning.message for warning in run.warnings] if run else []
    if run is not None and run.book_key != row.book_key:
        warnings.insert(0, STALE)
    lineage = Lineage(
        workbook_name=stem_of(row.name),
        file_name=row.file_name,
        source_hash=row.content_hash,
        uploaded_at=await ctx.local_time(row.created_at),
        as_of=run.as_of if run else row.as_of,
        as_of_source=run.as_of_source if run else "workbook" if row.as_of else None,
        mapping=mapping.mapping.name,
        definition=f"{run.deal_name}, version {run.definition_version}" if run and run.definition_version else None,
        suite=run.test_suite if run else None,
        run_id=str(run.id) if run else None,
        run_at=await ctx.local_time(run.executed_at) if run else None,
        warnings=tuple(labelled(warning, labels) for warning in warnings),
    )
    rows = compliance_rows(run.results, run.skipped, labels=labels) if run else ()
    return schema.Source(manifest=manifest, lineage=lineage, sheets=sheets, mapping=mapping.json, compliance=rows)


async def cancel(ctx: Context, export_id: str) -> None:
    """End an export that is in work; the worker notices."""
    ended = await store.end(ctx, export_id, {"status": "cancelled"})
    if ended is None:
        export = await store.exports.get(ctx, export_id)
        raise schema.ExportEnded.at(["path", "export_id"], f"the export is {export.status}")
    ctx.set_subject("export", export_id, ended.workbook_name, workbook_id=str(ended.workbook_id))


async def download(ctx: Context, export_id: str, query: schema.Download) -> Streamed:
    """Return one of an export's files.

    Raises:
        ExportNotReady: it is still made, or was not.
        NoSealedPdf: it has none.
        ExportExpired, Damaged, RangeNotSatisfiable: as `documents.download`.
    """
    documents_of_export = await store.documents.get(ctx, export_id)
    document_id = documents_of_export.document_id if query.artifact is None else documents_of_export.sealed_id
    if documents_of_export.status != "completed":
        raise schema.ExportNotReady.at(["path", "export_id"], f"the export is {documents_of_export.status}")
    if document_id is None:
        raise schema.NoSealedPdf
    about = {"workbook_id": str(documents_of_export.workbook_id), "artifact": query.artifact or "export"}
    ctx.set_subject("export", export_id, documents_of_export.workbook_name, **about)
    return await documents.download(ctx, document_id, gone=schema.ExportExpired)
