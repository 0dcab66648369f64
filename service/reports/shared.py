"""What reports lend: a report that is ordered without a request, and its file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from service.compliance.shared import StoredRun
from service.documents import shared as documents
from service.platform.unit.context import Unit
from service.reports.actions import name_of, order
from service.reports.schema import ComplianceReportRequest, ReportNotFound
from service.reports.store import reports

get = reports.get

__all__ = ["ReportFile", "file_of", "get", "order_of_run"]


class ReportFile(NamedTuple):
    """The file of a report."""

    name: str
    media_type: str
    path: Path


async def order_of_run(unit: Unit, run: StoredRun, *, created_by: str) -> UUID:
    """Order a run's report without options; return its identifier.

    Raises:
        StorageLimitExceeded, ReportLimitExceeded: there is no room for it, or too many are in work.
    """
    body = ComplianceReportRequest(workbook_id=run.workbook_id, run_id=run.id)
    sources = {"workbook_id": run.workbook_id, "run_id": run.id}
    report_id, subject = await order(unit, body, "compliance", name_of(run), created_by=created_by, **sources)
    await unit.audit("report.created", subject)
    return report_id


async def file_of(unit: Unit, report_id: UUID) -> ReportFile | None:
    """Return a report's file; None where it is not made, was deleted or has expired.

    Raises:
        Damaged: its bytes are missing, short or altered.
    """
    try:
        row = await get(unit, report_id)
    except ReportNotFound:
        return None
    if row.document_id is None:
        return None
    document = await documents.get(unit, row.document_id)
    if not document.is_there or document.key is None:
        return None
    path = await unit.resources.blobs.path(document.key)
    return ReportFile(document.name, document.media_type, path)
