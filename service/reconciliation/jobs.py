"""Reading tapes and comparing them with workbooks, in the worker."""

from __future__ import annotations

import secrets
import time
from pathlib import Path
from typing import Any

import msgspec

from core.confined.run import run, workplace
from core.confined.tasks import in_thread
from core.portfolio.model.notes import DataWarning, of_side
from core.reconciliation.isolate import read_tape_isolated
from core.reconciliation.rules import ALWAYS
from core.reconciliation.tape import LOANS_FILE, TapeRefused
from service.mappings.shared import get_mapping
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.work.jobs import JobTable
from service.reconciliation import loan_actions, merge_store, store
from service.reconciliation.child import COMPARE, ISSUES_FILE, ComparisonFailed, ComparisonResult
from service.reconciliation.copy_child import COPIED
from service.reconciliation.schema import FILE_OF_ANOTHER_DAY, ComparisonNotFound, Facts, TapeNotFound, day_differs

TAPE_FAILED = "The tape could not be read because of a fault in the service; upload the file again."
TAPE_DAMAGED = "The stored bytes of the tape are damaged; upload the file again."
COMPARISON_DAMAGED = "The stored bytes of the tape or the workbook are damaged; upload the file again."
COMPARISON_FAILED = "The comparison could not be made because of a fault in the service; ask for it again."

jobs = JobTable()


async def mark_tape_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark a tape as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, arguments["tape_id"])
    await _fail_tape(unit, arguments["tape_id"], TAPE_DAMAGED if error.startswith(Damaged.detail) else TAPE_FAILED)


async def retry_tape(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Return the tape that could not be read waits for it once more."""
    tape = await store.tapes.get(unit, arguments["tape_id"], lock=True)
    if tape.processing_status != "failed":
        return False
    await store.read_again(unit, tape.id, job_id.replace("task_", "job_"))
    return True


@jobs.job("reconciliation.read_tape", on_failure=mark_tape_failed, on_retry=retry_tape, flag="uploads")
async def read_tape(unit: Unit, arguments: dict[str, Any]) -> None:
    """Read a trustee's file into loans, or say what is wrong with it."""
    try:
        tape = await store.tapes.get(unit, arguments["tape_id"])
    except TapeNotFound:
        return
    if tape.processing_status != "processing":  # an earlier run finished it
        return
    mapping = None if tape.read_by is None else (await get_mapping(unit, tape.read_by)).json
    now = await unit.local_time(unit.now())
    await unit.commit()  # no connection is held while the file is read
    with folder_of(unit.resources.scratch, tape.id) as folder:
        try:
            read = await in_thread(
                read_tape_isolated,
                await unit.resources.blobs.path(tape.content_hash),
                folder,
                trustee=tape.trustee_name,
                name=tape.file_name,
                mapping=mapping,
                now=now.replace(tzinfo=None),
                memory_bytes_max=unit.settings.parse_memory_mb * 1024 * 1024,
                seconds_max=unit.settings.parse_seconds,
            )
        except TapeRefused as refusal:
            log_cause(refusal)
            await _fail_tape(unit, tape.id, str(refusal))
            return
        key = await loan_actions.keep_loans(unit, folder / LOANS_FILE)
    facts = {name: getattr(read, name) for name in Facts.__struct_fields__ if name != "mapping_id"}
    row = {"loans_key": key, "loan_count": read.loan_count, "total_par": read.total_par}
    row["warnings"] = [DataWarning(*warning) for warning in read.warnings]
    await store.finish_tape(unit, tape, {**row, "facts": {**facts, "mapping_id": tape.read_by}})


async def _fail_tape(unit: Unit, tape_id: str, message: str) -> None:
    name = await store.fail_tape(unit, tape_id, message)
    if name is not None:
        await unit.audit("tape.reading_failed", Subject("tape", tape_id, name, {"error": message}))


async def mark_comparison_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Comparing failed past its retries."""
    clear(unit.resources.scratch, arguments["job_id"])
    damaged = error.startswith(Damaged.detail)
    await _fail_job(unit, arguments["job_id"], COMPARISON_DAMAGED if damaged else COMPARISON_FAILED)


async def retry_comparison(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Retry a comparison where no later one took its place."""
    job = await store.job_row(unit, arguments["job_id"])
    await store.tapes.get(unit, job.tape_id, lock=True)  # as whoever asks for a comparison does
    return await store.resume_job(unit, job.id)


@jobs.job("reconciliation.compare", on_failure=mark_comparison_failed, on_retry=retry_comparison)
async def compare(unit: Unit, arguments: dict[str, Any]) -> None:
    """Compare a tape with a workbook and bring the issues of the two up to date."""
    try:
        job = await store.job_row(unit, arguments["job_id"])
    except ComparisonNotFound:
        return
    if job.status != "processing":
        return
    comparison = await loan_actions.comparison(unit, job)
    if comparison is None:
        await _fail_job(unit, job.id, loan_actions.GONE)
        return
    await unit.commit()
    settings, begun = unit.settings, time.perf_counter()
    with folder_of(unit.resources.scratch, job.id) as folder:
        try:
            with workplace(folder) as workspace:
                outcome = await in_thread(
                    run,
                    COMPARE,
                    comparison,
                    reads=[comparison.loans, *comparison.paths],
                    writes=workspace,
                    memory_bytes_max=settings.reconciliation_memory_mb * 1024 * 1024,
                    seconds_max=settings.reconciliation_seconds,
                )
        except ComparisonFailed as failure:
            log_cause(failure)
            await _fail_job(unit, job.id, str(failure))
            return
        compared = time.perf_counter()
        changes = await merge_store.merge(
            unit,
            _merge(job, outcome, folder / ISSUES_FILE),
            series=_series(unit),
            seconds_max=settings.reconciliation_seconds,
        )
        stored = time.perf_counter()
    if changes is not None:
        timings = {
            "comparing_seconds": round(compared - begun, 3),
            "storing_seconds": round(stored - compared, 3),
        }
        await _finish(unit, job, outcome, msgspec.structs.asdict(changes), timings)


async def _fail_job(unit: Unit, job_id: str, message: str) -> None:
    name = await store.fail_job(unit, job_id, message)
    if name is not None:
        await unit.audit("reconciliation.failed", Subject("reconciliation", job_id, name, {"error": message}))


def _merge(job: store.JobRow, compared: ComparisonResult, path: Path) -> merge_store.Merge:
    return merge_store.Merge(
        job=job,
        path=path,
        columns=COPIED,
        looked_at=[*job.rules, *ALWAYS],
        passed_over=sorted(compared.not_compared),
    )


def _series(unit: Unit) -> str:
    """Return the beginning of a comparison's issue identifiers.

    Later ones sort behind earlier ones.
    """
    return f"{int(unit.now().timestamp() * 1000):012x}{secrets.token_hex(4)}"


async def _finish(
    unit: Unit, job: store.JobRow, compared: ComparisonResult, changes: dict[str, int], timings: dict[str, float]
) -> None:
    days = day_differs(compared.as_of, job.day, "the workbook is as of {}, the tape of {}")
    of_tape = [*job.warnings, *day_differs(job.facts.as_of, job.day, FILE_OF_ANOTHER_DAY)]
    of_book = of_side("workbook", compared.book_warnings)
    row = {
        "summary": compared.summary,
        "match_stages": compared.stages,
        "ambiguous": compared.ambiguous,
        "warnings": [*compared.warnings, *days, *of_side("tape", of_tape), *of_book],
        "not_compared": compared.not_compared,
        "timings": timings,
    }
    if await store.finish_job(unit, job.id, row):
        details = {"tape_id": job.tape_id, "workbook_id": str(job.workbook_id), **compared.summary, **changes}
        await unit.audit("reconciliation.completed", Subject("reconciliation", job.id, job.file_name, details))
