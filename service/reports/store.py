"""Reports' queries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from service.platform.route.api import Slice
from service.platform.unit.context import Context, Unit
from service.platform.unit.listing import columns_of, insert_of, rows_of, set_of
from service.reports.schema import Report, ReportList, ReportNotFound, ReportRow

_MADE = {
    "id": "reports.id",
    "created_at": "reports.created_at",
    "file_size_bytes": "d.size_bytes",
    "download_url": "CASE WHEN d.expires_at > now() THEN '/api/v1/reports/' || reports.id || '/download' END",
    "expires_at": "d.expires_at",
}
_REPORT, _ROW = columns_of(Report, **_MADE), columns_of(ReportRow, **_MADE)
_FROM = "reports LEFT JOIN documents d ON d.tenant_id = reports.tenant_id AND d.id = reports.document_id"
_LOCKED = ("", " FOR UPDATE OF reports")

_ORDER = {
    "created_at": "reports.created_at {0}, reports.id",
    "completed_at": "completed_at {0} NULLS LAST, reports.id",
    "report_type": "report_type {0}, reports.created_at DESC, reports.id",
    "status": "status {0}, reports.created_at DESC, reports.id",
}


async def lock_count(unit: Unit) -> int:
    """How many reports of the tenant are in work, held still until the transaction ends."""
    await unit.execute("SELECT FROM tenants WHERE id = %s FOR UPDATE", [unit.tenant])
    return int(await unit.value("SELECT count(*) FROM reports WHERE status IN ('pending', 'generating')"))


async def create(unit: Unit, row: dict[str, Any]) -> None:
    """A report that is to be made."""
    await unit.execute(insert_of("reports", row), row)


async def get(unit: Unit, report_id: UUID, *, locked: bool = False) -> ReportRow:
    """A report, where asked for locked until the transaction ends.

    Raises:
        ReportNotFound: there is none of that identifier.
    """
    sql = f"SELECT {_ROW} FROM {_FROM} WHERE reports.id = %s{_LOCKED[locked]}"
    return await unit.one(ReportRow, sql, [report_id], missing=ReportNotFound)


async def listed(ctx: Context, query: ReportList) -> Slice[Report]:
    """Some of the reports."""
    rows = await rows_of(
        ctx,
        Report,
        _REPORT,
        f"{_FROM} WHERE true",
        {"report_type": query.report_type},
        order=_ORDER[query.sort_by].format(query.sort_dir),
        limit=query.limit,
        offset=query.skip,
    )
    return Slice(*rows, query.skip, query.limit)


async def change(unit: Unit, report_id: UUID, row: dict[str, Any]) -> None:
    """What has become of a report."""
    await unit.execute(f"UPDATE reports SET {set_of(row)} WHERE id = %(id)s", {**row, "id": report_id})


async def delete(ctx: Context, report_id: UUID) -> None:
    """Delete a report's record."""
    await ctx.execute("DELETE FROM reports WHERE id = %s", [report_id])
