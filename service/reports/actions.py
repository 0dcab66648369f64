"""Reports' decisions: content, file name, and who gets the file."""

from __future__ import annotations

import re
from typing import Any, Final
from uuid import UUID

import msgspec

from core.files.kinds import stem_of
from core.files.write.delimited import file_names
from core.redact.book import redact_text
from core.redact.replace import Policy
from service.compliance import shared as compliance
from service.compliance.schema import ResultNotFound
from service.compliance.shared import StoredRun
from service.documents import shared as documents
from service.platform.base.problem import ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.route.api import Streamed
from service.platform.unit.context import Context, Subject, Unit
from service.platform.unit.records import lock_count, narrow, to_json
from service.reconciliation import shared as reconciliation
from service.reports import schema, store
from service.workbooks import shared as workbooks

_NO_NAME: Final = re.compile(r"[/\\]|\A[ .]|[ .]\Z")
"""What would make a folder of a file's name, or hide it."""

NO_FULL_RUN: Final = "no full run is stored, of this suite where one is named; name a partial run by run_id"


async def of_run(ctx: Context, body: schema.ComplianceReportRequest) -> schema.Report:
    """Return a report on a run, to be made.

    Raises:
        WorkbookNotFound, ResultNotFound: what is named is not there.
        NothingRun: no whole suite was run on the workbook yet, or not that one.
    """
    book = await workbooks.get(ctx, body.workbook_id)
    run = await compliance.find_run(ctx, book.id, run_id=body.run_id, suite=body.suite)
    if run is None:
        if body.run_id is not None:
            raise ResultNotFound
        raise schema.NothingRun.at(["body", "workbook_id"], NO_FULL_RUN)
    return await _order_for_caller(ctx, body, "compliance", name_of(run), workbook_id=book.id, run_id=run.id)


def name_of(run: StoredRun) -> str:
    """Return what the report on a run is called."""
    what = "partial compliance" if run.partial else "compliance"
    return f"{run.deal_name or stem_of(run.workbook_name)} {what} {run.as_of}"


async def of_tape(ctx: Context, body: schema.ReconciliationReportRequest) -> schema.Report:
    """Return a report on a tape's newest comparison, to be made.

    Raises:
        TapeNotFound: there is none of that identifier.
        NothingCompared: it was not compared yet, or with no success.
    """
    await reconciliation.get_tape(ctx, body.tape_id)
    comparison = await reconciliation.find_comparison(ctx, body.tape_id)
    if comparison is None:
        raise schema.NothingCompared
    name = f"{stem_of(comparison.workbook_name)} reconciliation {comparison.tape_as_of or comparison.statement_date}"
    sources = {"workbook_id": comparison.workbook_id, "tape_id": comparison.tape_id, "job_id": comparison.job_id}
    return await _order_for_caller(ctx, body, "reconciliation", name, **sources)


async def of_either(ctx: Context, body: schema.ReportRequest) -> schema.Report:
    """Return a report of the kind that the request names.

    Raises:
        ValidationFailed: it names nothing that this kind is made of, or what it is not made of.
    """
    fields = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not None}
    kind = (
        schema.ComplianceReportRequest
        if fields.pop("report_type") == "compliance"
        else schema.ReconciliationReportRequest
    )
    missing = next(
        (field.name for field in msgspec.structs.fields(kind) if field.required and field.name not in fields), ""
    )
    strange = next((name for name in fields if name not in kind.__struct_fields__), "")
    if missing or strange:
        message = f"a {body.report_type} report {'needs it' if missing else 'is not made of it'}"
        raise ValidationFailed.at(["body", missing or strange], message)
    request = kind(**fields)
    return await (
        of_run(ctx, request) if isinstance(request, schema.ComplianceReportRequest) else of_tape(ctx, request)
    )


async def _order_for_caller(
    ctx: Context, body: schema.ReportWish, report_type: str, name: str, **sources: Any
) -> schema.Report:
    report_id, subject = await order(ctx, body, report_type, name, created_by=await ctx.email(), **sources)
    ctx.subject = subject
    return await detail(ctx, report_id)


async def order(
    unit: Unit, body: schema.ReportWish, report_type: str, name: str, *, created_by: str, **sources: Any
) -> tuple[UUID, Subject]:
    """Return a report that a job is to make, and what an event says of it.

    Args:
        name: what its file is called, where the request does not say.
        shown: columns of the record that say what it shows.

    Raises:
        StorageLimitExceeded, ReportLimitExceeded: there is no room for it, or too many are in work.
    """
    workbooks.check_storage(unit.settings, ["body"], await workbooks.room(unit))
    if await lock_count(unit, store.IN_WORK) >= unit.settings.max_exports:
        raise schema.ReportLimitExceeded.at(["body"], f"the limit is {unit.settings.max_exports} reports in work")
    report_id = new_id()
    if policy := policy_of(unit, body.options):  # what a file is called of itself is as clean as what stands in it
        name, _ = await unit.compute(redact_text, name, policy)
    row = {
        "id": report_id,
        "report_type": report_type,
        "format": body.format,
        "filename": file_name(body.filename, name, body.format),
        "options": to_json(body.options),
        "created_by": created_by,
        **sources,
    }
    await store.reports.add(unit, row)
    await unit.enqueue("reports.make", queue="export", arguments={"report_id": str(report_id)})
    details = {"report_type": report_type, "format": body.format, **sources}
    return report_id, Subject("report", str(report_id), row["filename"], details)


def policy_of(unit: Unit, options: schema.ReportOptions) -> Policy | None:
    """Return what is redacted of a report's texts; None: nothing is."""
    if not options.sanitize_pii:
        return None
    key = unit.resources.vault.sign("redaction", unit.tenant.bytes)
    return Policy(options.classification_threshold, options.redaction_strategy, key)


def file_name(wanted: str | None, default: str, format: schema.ReportFormat) -> str:  # noqa: A002 - the record's word
    """Return the name of a report's file, with the extension of its format.

    Args:
        made: what it is called where nothing is given; of any characters.

    Raises:
        ValidationFailed: the given name is none, or would be too long.
    """
    extension = f".{format}"
    if wanted is None:
        (plain,) = file_names([" ".join(default.split())])
        return f"{plain}{extension}"
    full_name = wanted if wanted.lower().endswith(extension) else f"{wanted}{extension}"
    if _NO_NAME.search(wanted) or not wanted.isprintable():
        raise ValidationFailed.at(["body", "filename"], "expected the name of a file, without a folder")
    if len(full_name) > schema.FILENAME_CHARACTERS:
        message = f"has {len(full_name)} characters with its extension; the limit is {schema.FILENAME_CHARACTERS}"
        raise ValidationFailed.at(["body", "filename"], message)
    return full_name


async def detail(ctx: Context, report_id: UUID) -> schema.Report:
    """Return a report."""
    row = await store.reports.get(ctx, report_id)
    return narrow(schema.Report, row)


async def download(ctx: Context, report_id: UUID) -> Streamed:
    """Return a report's file.

    Raises:
        ReportNotReady: it is not made, or could not be.
        ReportExpired: its time is over.
        RangeNotSatisfiable, Damaged: as `documents.download`.
    """
    row = await store.reports.get(ctx, report_id)
    if row.document_id is None:
        raise schema.ReportNotReady.at(["path", "report_id"], row.error_details or f"its status is {row.status}")
    ctx.set_subject("report", report_id, row.filename, report_type=row.report_type, format=row.format)
    return await documents.download(ctx, row.document_id, gone=schema.ReportExpired)


async def delete(ctx: Context, report_id: UUID) -> None:
    """Delete a report and its file."""
    row = await store.reports.get(ctx, report_id, lock=True)
    await store.reports.delete(ctx, report_id)
    if row.document_id is not None:
        await documents.remove(ctx, row.document_id)
    ctx.set_subject("report", report_id, row.filename, report_type=row.report_type, status=row.status)
