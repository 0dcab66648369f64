"""The audit log's rows."""

from __future__ import annotations

from service.audit import actions
from service.audit.schema import AuditEntry, AuditExport, AuditList, EnterpriseTierRequired
from service.platform.route.api import Area, Page, Streamed
from service.platform.unit.context import Context

area = Area("/api/v1/admin/audit-logs", tag="admin")


@area.get(access="role:admin", errors=(EnterpriseTierRequired,), lags=True, summary="List audit entries")
async def list_audit_logs(ctx: Context, query: AuditList) -> Page[AuditEntry]:
    """List the entries of the tenant's audit log, the newest first."""
    return await actions.list_entries(ctx, query)


@area.get(
    "/export",
    access="role:admin",
    errors=(EnterpriseTierRequired,),
    event="audit_log.exported",
    media_type="text/csv",
    also_media=("application/jsonl",),
    heavy=True,
    summary="Export audit log",
)
async def export_audit_logs(ctx: Context, query: AuditExport) -> Streamed:
    """Give the tenant's audit log as a file, the oldest entry first.

    JSON lines carry what it takes to check the chain.
    """
    return await actions.export(ctx, query)
