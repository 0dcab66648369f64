"""Exports' queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from msgspec import Struct

from service.exports.schema import QUEUED, Export, ExportFormat, ExportList, ExportNotFound, Progress, Source
from service.platform.route.api import Slice
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, fetch_slice, set_of
from service.platform.unit.records import Records, to_json
from service.platform.unit.storage import reclaim, release

_JOINED: Final = """
    exports e LEFT JOIN documents d ON d.tenant_id = e.tenant_id AND d.id = e.document_id
"""
_THERE: Final = "coalesce(d.blob_key IS NOT NULL AND d.expires_at > now(), false)"
_NAME: Final = "source -> 'lineage' ->> 'workbook_name'"
exports = Records(
    "exports",
    Export,
    missing=ExportNotFound,
    derived={
        "id": "e.id",
        "created_at": "e.created_at",
        "file_size_bytes": "d.size_bytes",
        "expires_at": "d.expires_at",
        "is_downloadable": _THERE,
        "download_url": f"CASE WHEN {_THERE} THEN '/api/v1/exports/' || e.id || '/download' END",
    },
    source=_JOINED,
    key="e.id",
)
IN_WORK: Final = "exports WHERE source_keys IS NOT NULL"


class Work(Struct, frozen=True, kw_only=True):
    """An export as the worker makes it."""

    id: str
    workbook_id: UUID
    format: ExportFormat
    options: dict[str, Any]
    source: Source
    source_keys: list[str]
    created_at: datetime


class Documents(Struct, frozen=True, kw_only=True):
    """What there is of an export besides its record."""

    status: str
    document_id: UUID | None
    sealed_id: UUID | None
    fingerprints_id: UUID | None
    workbook_id: UUID
    workbook_name: str
    provenance: dict[str, Any] | None


documents = Records("exports", Documents, missing=ExportNotFound, derived={"workbook_name": _NAME})


async def read_page(ctx: Context, query: ExportList) -> Slice[Export]:
    """Return some of the exports, the newest first."""
    rows = await fetch_slice(
        ctx,
        Export,
        exports.columns,
        f"{_JOINED} WHERE true",
        {"workbook_id": query.workbook_id, "status": query.status},
        order="e.created_at DESC, e.id",
        part=(query.limit, query.skip),
    )
    return Slice(*rows, query.skip, query.limit)


async def start(unit: Unit, export_id: str) -> Work | None:
    """Begin an export, or begin it again; None once it has ended."""
    return await unit.fetch_one_or_none(
        Work,
        f"""
        UPDATE exports SET started_at = coalesce(started_at, now()) WHERE id = %s AND status = 'processing'
        RETURNING {columns_of(Work)}
        """,
        [export_id],
    )


async def set_progress(unit: Unit, export_id: str, progress: Progress) -> bool:
    """Store how far an export is; return whether it is still in work."""
    document = to_json(progress)
    sql = "UPDATE exports SET progress = %s WHERE id = %s AND status = 'processing'"
    return bool(await unit.execute(sql, [document, export_id]))


class EndedExport(Struct, frozen=True, kw_only=True):
    """What an export was of."""

    workbook_id: UUID
    workbook_name: str
    keys: list[str]
    """The blobs that it names no more."""


async def end(unit: Unit, export_id: str, row: dict[str, Any]) -> EndedExport | None:
    """End an export; return what it was of, None where it had ended."""
    ended = await unit.fetch_one_or_none(
        EndedExport,
        f"""
        WITH held AS (SELECT tenant_id, id, source_keys FROM exports
                      WHERE id = %(id)s AND status IN ('pending', 'processing') FOR UPDATE)
        UPDATE exports e SET {set_of(row)}, source_keys = NULL, completed_at = now()
        FROM held WHERE e.tenant_id = held.tenant_id AND e.id = held.id
        RETURNING e.workbook_id, {_NAME} AS workbook_name, held.source_keys AS keys
        """,
        {**row, "id": export_id},
    )
    if ended is not None:
        await release(unit, ended.keys)
    return ended


async def resume(unit: Unit, export_id: str) -> bool:
    """Put a failed export to work again; return whether it could be.

    What it reads must still be there.
    """
    sql = """
        SELECT ARRAY(SELECT sheet ->> 'file'
                     FROM json_array_elements((source ->> 'manifest')::json -> 'sheets') AS sheet)
        FROM exports WHERE id = %s AND status = 'failed' FOR UPDATE
    """
    keys = await unit.fetch_value(sql, [export_id])
    if keys is None or not await reclaim(unit, keys):
        return False
    sql = """
        UPDATE exports SET status = 'processing', source_keys = %s, progress = %s, error_details = NULL,
                           started_at = NULL, completed_at = NULL WHERE id = %s
    """
    return bool(await unit.execute(sql, [keys, to_json(QUEUED), export_id]))
