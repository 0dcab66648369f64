"""Reports' rows."""

from __future__ import annotations

from uuid import UUID

from core.files.write.formats import PDF, XLSX
from service.compliance.schema import ResultNotFound
from service.platform.base.problem import RangeNotSatisfiable
from service.platform.data.blobs import Damaged
from service.platform.route.api import Area, Slice, Streamed, WaitQuery, Waits
from service.platform.unit.context import Context
from service.reconciliation.schema import TapeNotFound
from service.reports import actions, schema, store
from service.workbooks.schema import StorageLimitExceeded, WorkbookNotFound

area = Area("/api/v1/reports", tag="reports", scope="reports")

GENERATE = "reports:generate"
BUSY = frozenset({"pending", "generating"})
OF_RUN = (WorkbookNotFound, ResultNotFound, schema.NothingRun)
OF_TAPE = (TapeNotFound, schema.NothingCompared)
LIMITS = (StorageLimitExceeded, schema.ReportLimitExceeded)


@area.post(
    "/compliance", status=201, access=GENERATE, errors=(*OF_RUN, *LIMITS), event="report.created", flag="reports"
)
async def report_compliance(ctx: Context, body: schema.ComplianceReportRequest) -> schema.Report:
    """Make a report of a compliance run.

    It is the run in the body, else the newest full run of the workbook (and suite).
    """
    return await actions.of_run(ctx, body)


@area.post(
    "/reconciliation", status=201, access=GENERATE, errors=(*OF_TAPE, *LIMITS), event="report.created", flag="reports"
)
async def report_reconciliation(ctx: Context, body: schema.ReconciliationReportRequest) -> schema.Report:
    """Make a report of a tape's newest completed comparison."""
    return await actions.of_tape(ctx, body)


@area.post(
    "/generate",
    status=201,
    access=GENERATE,
    errors=(*OF_RUN, *OF_TAPE, *LIMITS),
    event="report.created",
    flag="reports",
)
async def generate_report(ctx: Context, body: schema.ReportRequest) -> schema.Report:
    """Make a report of either kind."""
    return await actions.of_either(ctx, body)


@area.get()
async def list_reports(ctx: Context, query: schema.ReportList) -> Slice[schema.Report]:
    """List the reports of the tenant."""
    return await store.read_page(ctx, query)


@area.get(
    "/{report_id}", errors=(schema.ReportNotFound,), waits=Waits("report_id", BUSY, lambda report: (report.status,))
)
async def get_report(ctx: Context, report_id: UUID, query: WaitQuery) -> schema.Report:
    """Give a report.

    A completed one says where it can be downloaded.
    """
    return await actions.detail(ctx, report_id)


@area.get(
    "/{report_id}/download",
    errors=(schema.ReportNotFound, schema.ReportNotReady, schema.ReportExpired, RangeNotSatisfiable, Damaged),
    media_type=PDF.mime_type,
    also_media=(XLSX.mime_type,),
    ranged=True,
    event="report.downloaded",
)
async def download_report(ctx: Context, report_id: UUID) -> Streamed:
    """Give the file of a completed report, or the range that is asked for."""
    return await actions.download(ctx, report_id)


@area.delete("/{report_id}", access=GENERATE, errors=(schema.ReportNotFound,), event="report.deleted")
async def delete_report(ctx: Context, report_id: UUID) -> None:
    """Delete a report and its file.

    A report in work is stopped.
    """
    await actions.delete(ctx, report_id)
