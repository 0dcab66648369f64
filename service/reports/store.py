"""Reports' queries."""

from __future__ import annotations

from service.platform.route.api import Slice
from service.platform.unit.context import Context
from service.platform.unit.listing import columns_of, fetch_slice
from service.platform.unit.records import Records
from service.reports.schema import Report, ReportList, ReportNotFound, ReportRow

_DERIVED = {
    "id": "reports.id",
    "created_at": "reports.created_at",
    "file_size_bytes": "d.size_bytes",
    "download_url": "CASE WHEN d.expires_at > now() THEN '/api/v1/reports/' || reports.id || '/download' END",
    "expires_at": "d.expires_at",
}
_REPORT = columns_of(Report, **_DERIVED)
_FROM = "reports LEFT JOIN documents d ON d.tenant_id = reports.tenant_id AND d.id = reports.document_id"
reports = Records(
    "reports",
    ReportRow,
    missing=ReportNotFound,
    derived=_DERIVED,
    source=_FROM,
    key="reports.id",
    lock="FOR UPDATE OF reports",
)
IN_WORK = "reports WHERE status IN ('pending', 'generating')"

_ORDER = {
    "created_at": "reports.created_at {0}, reports.id",
    "completed_at": "completed_at {0} NULLS LAST, reports.id",
    "report_type": "report_type {0}, reports.created_at DESC, reports.id",
    "status": "status {0}, reports.created_at DESC, reports.id",
}


async def read_page(ctx: Context, query: ReportList) -> Slice[Report]:
    """Return some of the reports."""
    rows = await fetch_slice(
        ctx,
        Report,
        _REPORT,
        f"{_FROM} WHERE true",
        {"report_type": query.report_type},
        order=_ORDER[query.sort_by].format(query.sort_dir),
        part=(query.limit, query.skip),
    )
    return Slice(*rows, query.skip, query.limit)
