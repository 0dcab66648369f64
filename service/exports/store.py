"""Exports' queries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final
from uuid import UUID

import msgspec
from msgspec import Struct

from service.exports.schema import QUEUED, Export, ExportFormat, ExportList, ExportNotFound, Progress, Source
from service.platform.route.api import Slice
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of, rows_of, set_of
from service.platform.unit.storage import keep_again, leave

_JOINED: Final = """
    exports e LEFT JOIN documents d ON d.tenant_id = e.tenant_id AND d.id = e.document_id
"""
_THERE: Final = "coalesce(d.blob_key IS NOT NULL AND d.expires_at > now(), false)"
_NAME: Final = "source -> 'lineage' ->> 'workbook_name'"
_EXPORT: Final = columns_of(
    Export,
    id="e.id",
    created_at="e.created_at",
    file_size_bytes="d.size_bytes",
    expires_at="d.expires_at",
    is_downloadable=_THERE,
    download_url=f"CASE WHEN {_THERE} THEN '/api/v1/exports/' || e.id || '/download' END",
)


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


async def get(unit: Unit, export_id: str) -> Export:
    """An export.

    Raises:
        ExportNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_EXPORT} FROM {_JOINED} WHERE e.id = %s"
    return await unit.one(Export, sql, [export_id], missing=ExportNotFound)


async def documents(unit: Unit, export_id: str) -> Documents:
    """The documents of an export.

    Raises:
        ExportNotFound: as `get`.
    """
    sql = f"SELECT {columns_of(Documents, workbook_name=_NAME)} FROM exports WHERE id = %s"
    return await unit.one(Documents, sql, [export_id], missing=ExportNotFound)


async def listed(ctx: Context, query: ExportList) -> Slice[Export]:
    """Some of the exports, the newest first."""
    rows = await rows_of(
        ctx,
        Export,
        _EXPORT,
        f"{_JOINED} WHERE true",
        {"workbook_id": query.workbook_id, "status": query.status},
        order="e.created_at DESC, e.id",
        limit=query.limit,
        offset=query.skip,
    )
    return Slice(*rows, query.skip, query.limit)


async def lock_count(ctx: Context) -> int:
    """How many exports of the tenant are in work, held still until the transaction ends."""
    await ctx.execute("SELECT FROM tenants WHERE id = %s FOR NO KEY UPDATE", [ctx.tenant])
    return int(await ctx.value("SELECT count(*) FROM exports WHERE source_keys IS NOT NULL"))


async def create(ctx: Context, row: dict[str, Any]) -> Export:
    """An export that waits for its worker."""
    await ctx.execute(insert_of("exports", row), row)
    return await get(ctx, row["id"])


async def start(unit: Unit, export_id: str) -> Work | None:
    """An export that is begun, or begun again; None once it has ended."""
    return await unit.one_or_none(
        Work,
        f"""
        UPDATE exports SET started_at = coalesce(started_at, now()) WHERE id = %s AND status = 'processing'
        RETURNING {columns_of(Work)}
        """,
        [export_id],
    )


async def tell(unit: Unit, export_id: str, progress: Progress) -> bool:
    """How far an export is; whether it still is in work."""
    document = msgspec.json.encode(progress).decode()
    sql = "UPDATE exports SET progress = %s WHERE id = %s AND status = 'processing'"
    return bool(await unit.execute(sql, [document, export_id]))


class Ended(Struct, frozen=True, kw_only=True):
    """What an export was of."""

    workbook_id: UUID
    workbook_name: str
    keys: list[str]
    """The blobs that it names no more."""


async def end(unit: Unit, export_id: str, row: dict[str, Any]) -> Ended | None:
    """An export completed, failed or cancelled, whoever comes first; None where it had ended before."""
    ended = await unit.one_or_none(
        Ended,
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
        await leave(unit, ended.keys)
    return ended


async def resume(unit: Unit, export_id: str) -> bool:
    """A failed export is in work again; whether it could be: it had failed, and what it reads is still there."""

    class Row(Struct):
        keys: list[str]

    row = await unit.one_or_none(
        Row,
        """
        SELECT ARRAY(SELECT sheet ->> 'file'
                     FROM json_array_elements((source ->> 'manifest')::json -> 'sheets') AS sheet) AS keys
        FROM exports WHERE id = %s AND status = 'failed' FOR UPDATE
        """,
        [export_id],
    )
    if row is None or not await keep_again(unit, row.keys):
        return False
    sql = """
        UPDATE exports SET status = 'processing', source_keys = %s, progress = %s, error_details = NULL,
                           started_at = NULL, completed_at = NULL WHERE id = %s
    """
    return bool(await unit.execute(sql, [row.keys, msgspec.json.encode(QUEUED).decode(), export_id]))
