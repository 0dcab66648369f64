"""Making reports, in the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from uuid import UUID

from core.confined.run import run, workplace
from core.confined.table import MEGABYTE
from core.confined.tasks import in_thread
from core.files.write.formats import FORMATS
from core.report.tables import Looks
from service.auth import shared as identity
from service.documents import shared as documents
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.work.jobs import JobTable
from service.reports import content_actions, store
from service.reports.actions import policy_of
from service.reports.child import CONTENT, FILE, MAKE, TEMPLATES, ReportFailed, ReportOrder, ReportResult
from service.reports.schema import ReportNotFound, ReportRow
from service.workbooks.schema import DAMAGED

FAILED: Final = "The report could not be made because of a fault in the service; ask for it again."

jobs = JobTable()


async def mark_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark a report as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, arguments["report_id"])
    await _fail(unit, UUID(arguments["report_id"]), DAMAGED if error.startswith(Damaged.detail) else FAILED)


async def retry(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Queue a failed report again, as ordered; return whether it had failed."""
    report = await store.reports.get(unit, UUID(arguments["report_id"]), lock=True)
    if report.status != "failed":
        return False
    await store.reports.change(unit, report.id, {"status": "pending", "error_details": None, "completed_at": None})
    return True


@jobs.job("reports.make", on_failure=mark_failed, on_retry=retry, flag="reports")
async def make(unit: Unit, arguments: dict[str, Any]) -> None:
    """Make a report's file: it is completed, or says why it cannot be made."""
    try:
        report = await store.reports.get(unit, UUID(arguments["report_id"]))
    except ReportNotFound:  # it was deleted
        return
    if report.status not in ("pending", "generating"):  # an earlier attempt ended it
        return
    await store.reports.change(unit, report.id, {"status": "generating"})
    await unit.commit()
    with folder_of(unit.resources.scratch, str(report.id)) as folder:
        try:
            labels = await identity.labels_of(unit)
            await content_actions.write(unit, report, folder / CONTENT, labels)
            await unit.commit()  # no connection is held while it is set
            order = _order(unit, report, folder / CONTENT, labels)
            with workplace(folder) as workspace:
                written = await in_thread(
                    run,
                    MAKE,
                    order,
                    reads=[order.content, *TEMPLATES],
                    writes=workspace,
                    memory_bytes_max=unit.settings.export_memory_mb * MEGABYTE,
                    seconds_max=unit.settings.export_seconds,
                )
        except ReportFailed as refusal:
            log_cause(refusal)
            await _fail(unit, report.id, str(refusal))
            return
        await _keep(unit, report, folder / FILE, written)


def _order(unit: Unit, report: ReportRow, content: Path, labels: dict[str, str]) -> ReportOrder:
    options = report.options
    return ReportOrder(
        content=str(content),
        report_type=report.report_type,
        format=report.format,
        policy=policy_of(unit, options),
        looks=Looks(
            styled=options.xlsx_include_styles, frozen=options.xlsx_freeze_header, fitted=options.xlsx_auto_width
        ),
        labels=labels,
    )


async def _keep(unit: Unit, report: ReportRow, path: Path, written: ReportResult) -> None:
    try:
        await store.reports.get(unit, report.id, lock=True)
    except ReportNotFound:  # it was deleted meanwhile
        return
    document = await documents.keep_document(
        unit,
        path,
        name=report.filename,
        media_type=FORMATS[report.format].mime_type,
        seconds=unit.settings.export_ttl_seconds,
    )
    await store.reports.change(
        unit, report.id, {"status": "completed", "document_id": document.id, "completed_at": unit.now()}
    )
    details: dict[str, Any] = {"report_type": report.report_type, "format": report.format}
    details |= {"size_bytes": document.size_bytes, "redacted": written.redacted}
    await unit.audit("report.generated", Subject("report", str(report.id), report.filename, details))


async def _fail(unit: Unit, report_id: UUID, message: str) -> None:
    try:
        report = await store.reports.get(unit, report_id, lock=True)
    except ReportNotFound:
        return
    if report.status in ("pending", "generating"):
        row = {"status": "failed", "error_details": message, "completed_at": unit.now()}
        await store.reports.change(unit, report_id, row)
        details = {"report_type": report.report_type, "format": report.format, "error": message}
        await unit.audit("report.failed", Subject("report", str(report_id), report.filename, details))
