"""Jobs' query."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final, NamedTuple

from msgspec import Struct

from service.jobs.schema import JobNotFound, JobState, Status
from service.platform.unit.context import Context
from service.platform.unit.records import narrow

_NAMED: Final = re.compile(r"(job|task|rec)_([0-9a-f]{32})")
_UNKNOWN: Final = "The job failed; the tenant's administrators find out more among the dead letters."


class _Record(NamedTuple):
    """The record of a kind of job: its type, its argument, and its statement."""

    type: str
    argument: str
    statement: str


_WORKBOOK: Final = "SELECT error_message AS error, NULL::integer AS percent FROM workbooks WHERE id = %s"
_TAPE: Final = "SELECT error_message AS error, NULL::integer AS percent FROM tapes WHERE id = %s"
_COMPARISON: Final = "SELECT error_message AS error, NULL::integer AS percent FROM reconciliations WHERE id = %s"
_RUN: Final = "SELECT error_details AS error, NULL::integer AS percent FROM formula_runs WHERE id = %s"
_REPORT: Final = "SELECT error_details AS error, NULL::integer AS percent FROM reports WHERE id = %s"
_EXPORT: Final = "SELECT error_details AS error, (progress ->> 'percent')::int AS percent FROM exports WHERE id = %s"
_RECORDS: Final = {
    "workbooks.parse": _Record("workbook", "workbook_id", _WORKBOOK),
    "workbooks.recalculate": _Record("workbook", "workbook_id", _WORKBOOK),
    "reconciliation.read_tape": _Record("tape", "tape_id", _TAPE),
    "reconciliation.compare": _Record("reconciliation", "job_id", _COMPARISON),
    "formulas.apply": _Record("formula_run", "run_id", _RUN),
    "exports.make": _Record("export", "export_id", _EXPORT),
    "reports.make": _Record("report", "report_id", _REPORT),
}
_PERCENT: Final[dict[Status, int]] = {"pending": 0, "completed": 100}
_JOB: Final = """
    SELECT name, arguments, CASE status WHEN 'queued' THEN 'pending' ELSE status END AS status,
           failures, created_at, started_at, finished_at
    FROM jobs WHERE id = %s
"""
_COMPARED: Final = """
    SELECT 'reconciliation.compare' AS name, json_build_object('job_id', id) AS arguments,
           CASE status WHEN 'processing' THEN 'running' ELSE status END AS status,
           0 AS failures, created_at, created_at AS started_at, completed_at AS finished_at
    FROM reconciliations WHERE id = %s
"""
"""A comparison is asked for by its own identifier."""


class _Row(Struct):
    name: str
    arguments: dict[str, Any]
    status: Status
    failures: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class _Outcome(Struct):
    error: str | None
    percent: int | None


def announced_id(job_id: str) -> str:
    """Return the identifier by which a job's changes are announced."""
    return job_id.replace("job_", "task_", 1) if job_id.startswith("job_") else job_id


async def get(ctx: Context, job_id: str) -> JobState:
    """Return a job of the tenant."""
    spelt = _NAMED.fullmatch(job_id)
    if spelt is None:
        raise JobNotFound
    sql, key = (_COMPARED, job_id) if spelt[1] == "rec" else (_JOB, f"task_{spelt[2]}")
    row = await ctx.fetch_one(_Row, sql, [key], missing=JobNotFound)
    record = _RECORDS.get(row.name)
    resource_id = str(row.arguments[record.argument]) if record is not None else None
    outcome = await ctx.fetch_one_or_none(_Outcome, record.statement, [resource_id]) if record is not None else None
    error = (outcome.error if outcome is not None else None) or _UNKNOWN
    return narrow(
        JobState,
        row,
        job_id=job_id,
        kind=row.name,
        progress=_PERCENT.get(row.status, outcome.percent if outcome is not None else None),
        resource_type=record.type if record is not None else None,
        resource_id=resource_id,
        error=error if row.status == "failed" else None,
    )
