"""Reports' decisions: what a report is to show, what its file is called, who gets it."""

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
from service.reconciliation import shared as reconciliation
from service.reports import store
from service.reports.schema import (
    FILENAME_CHARACTERS,
    Asked,
    ComplianceReportRequest,
    NothingCompared,
    NothingRun,
    ReconciliationReportRequest,
    Report,
    ReportExpired,
    ReportFormat,
    ReportLimitExceeded,
    ReportNotReady,
    ReportOptions,
    ReportRequest,
)
from service.workbooks import shared as workbooks

_NO_NAME: Final = re.compile(r"[/\\]|\A[ .]|[ .]\Z")
"""What would make a folder of a file's name, or hide it."""

NO_FULL_RUN: Final = "no full run is stored, of this suite where one is named; name a partial run by run_id"


async def of_run(ctx: Context, body: ComplianceReportRequest) -> Report:
    """A report on a run, to be made.

    Raises:
        WorkbookNotFound, ResultNotFound: what is named is not there.
        NothingRun: no whole suite was run on the workbook yet, or not that one.
    """
    book = await workbooks.get(ctx, body.workbook_id)
    run = await compliance.stored_run(ctx, book.id, run_id=body.run_id, suite=body.suite)
    if run is None:
        if body.run_id is not None:
            raise ResultNotFound
        raise NothingRun.at(["body", "workbook_id"], NO_FULL_RUN)
    return await _ordered(ctx, body, "compliance", name_of(run), workbook_id=book.id, run_id=run.id)


def name_of(run: StoredRun) -> str:
    """What the report on a run is called."""
    what = "partial compliance" if run.partial else "compliance"
    return f"{run.deal_name or stem_of(run.workbook_name)} {what} {run.as_of}"


async def of_tape(ctx: Context, body: ReconciliationReportRequest) -> Report:
    """A report on a tape's newest comparison, to be made.

    Raises:
        TapeNotFound: there is none of that identifier.
        NothingCompared: it was not compared yet, or with no success.
    """
    await reconciliation.get_tape(ctx, body.tape_id)
    found = await reconciliation.stored_comparison(ctx, body.tape_id)
    if found is None:
        raise NothingCompared
    name = f"{stem_of(found.workbook_name)} reconciliation {found.tape_as_of or found.statement_date}"
    named = {"workbook_id": found.workbook_id, "tape_id": found.tape_id, "job_id": found.job_id}
    return await _ordered(ctx, body, "reconciliation", name, **named)


async def of_either(ctx: Context, body: ReportRequest) -> Report:
    """A report of the kind that the request names.

    Raises:
        ValidationFailed: it names nothing that this kind is made of, or what it is not made of.
    """
    given = {name: value for name, value in msgspec.structs.asdict(body).items() if value is not None}
    kind = ComplianceReportRequest if given.pop("report_type") == "compliance" else ReconciliationReportRequest
    missing = next(
        (field.name for field in msgspec.structs.fields(kind) if field.required and field.name not in given), ""
    )
    strange = next((name for name in given if name not in kind.__struct_fields__), "")
    if missing or strange:
        message = f"a {body.report_type} report {'needs it' if missing else 'is not made of it'}"
        raise ValidationFailed.at(["body", missing or strange], message)
    asked = kind(**given)
    return await (of_run(ctx, asked) if isinstance(asked, ComplianceReportRequest) else of_tape(ctx, asked))


async def _ordered(ctx: Context, body: Asked, report_type: str, name: str, **shown: Any) -> Report:
    report_id, subject = await ordered(ctx, body, report_type, name, created_by=await ctx.email(), **shown)
    ctx.subject = subject
    return await detail(ctx, report_id)


async def ordered(
    unit: Unit, body: Asked, report_type: str, name: str, *, created_by: str, **shown: Any
) -> tuple[UUID, Subject]:
    """A report that a job is to make, and what an event says of it.

    Args:
        name: what its file is called, where the request does not say.
        shown: columns of the record that say what it shows.

    Raises:
        StorageLimitExceeded, ReportLimitExceeded: there is no room for it, or too many are in work.
    """
    workbooks.check_storage(unit.settings, ["body"], await workbooks.room(unit))
    if await store.lock_count(unit) >= unit.settings.max_exports:
        raise ReportLimitExceeded.at(["body"], f"the limit is {unit.settings.max_exports} reports in work")
    report_id = new_id()
    if policy := policy_of(unit, body.options):  # what a file is called of itself is as clean as what stands in it
        name, _ = await unit.compute(redact_text, name, policy)
    row = {
        "tenant_id": unit.tenant,
        "id": report_id,
        "report_type": report_type,
        "format": body.format,
        "filename": file_name(body.filename, name, body.format),
        "options": msgspec.json.encode(body.options).decode(),
        "created_by": created_by,
        **shown,
    }
    await store.create(unit, row)
    await unit.enqueue("reports.make", queue="export", arguments={"report_id": str(report_id)})
    details = {"report_type": report_type, "format": body.format, **shown}
    return report_id, Subject("report", str(report_id), row["filename"], details)


def policy_of(unit: Unit, options: ReportOptions) -> Policy | None:
    """What is redacted of a report's texts; None: nothing is."""
    if not options.sanitize_pii:
        return None
    key = unit.resources.vault.sign("redaction", unit.tenant.bytes)
    return Policy(options.classification_threshold, options.redaction_strategy, key)


def file_name(given: str | None, made: str, format: ReportFormat) -> str:  # noqa: A002 - the record's word
    """The name of a report's file, with the extension of its format.

    Args:
        made: what it is called where nothing is given; of any characters.

    Raises:
        ValidationFailed: the given name is none, or would be too long.
    """
    extension = f".{format}"
    if given is None:
        (plain,) = file_names([" ".join(made.split())])
        return f"{plain}{extension}"
    named = given if given.lower().endswith(extension) else f"{given}{extension}"
    if _NO_NAME.search(given) or not given.isprintable():
        raise ValidationFailed.at(["body", "filename"], "expected the name of a file, without a folder")
    if len(named) > FILENAME_CHARACTERS:
        message = f"has {len(named)} characters with its extension; the limit is {FILENAME_CHARACTERS}"
        raise ValidationFailed.at(["body", "filename"], message)
    return named


async def detail(ctx: Context, report_id: UUID) -> Report:
    """A report."""
    row = await store.get(ctx, report_id)
    return Report(**{name: getattr(row, name) for name in Report.__struct_fields__})


async def download(ctx: Context, report_id: UUID) -> Streamed:
    """A report's file.

    Raises:
        ReportNotReady: it is not made, or could not be.
        ReportExpired: its time is over.
        RangeNotSatisfiable, Damaged: as `documents.download`.
    """
    row = await store.get(ctx, report_id)
    if row.document_id is None:
        raise ReportNotReady.at(["path", "report_id"], row.error_details or f"its status is {row.status}")
    ctx.concerns("report", report_id, row.filename, report_type=row.report_type, format=row.format)
    return await documents.download(ctx, row.document_id, gone=ReportExpired)


async def delete(ctx: Context, report_id: UUID) -> None:
    """Delete a report and its file."""
    row = await store.get(ctx, report_id, locked=True)
    await store.delete(ctx, report_id)
    if row.document_id is not None:
        await documents.remove(ctx, row.document_id)
    ctx.concerns("report", report_id, row.filename, report_type=row.report_type, status=row.status)
