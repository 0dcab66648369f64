"""Parsing an uploaded file into stored columns, and recalculating them, in the worker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import core
from core.confined.tasks import in_thread
from core.files.errors import FileRefused
from core.files.isolate import parse_isolated
from core.grid.codec import WorkbookRecord
from core.recalc.isolate import RecalculationFailed, recalculate_isolated
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.work.jobs import JobTable
from service.workbooks import store
from service.workbooks.schema import DAMAGED, Status, WorkbookNotFound, WorkbookRow
from service.workbooks.stored_actions import keep_columns
from service.workbooks.upload_actions import excess_of

FAILED = "The workbook could not be parsed because of a fault in the service; upload the file again."
RECALCULATION_FAILED = "The workbook could not be recalculated because of a fault in the service; ask for it again."

jobs = JobTable()


async def mark_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark parsing as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, f"parse-{arguments['workbook_id']}")
    await _fail(unit, UUID(arguments["workbook_id"]), "workbook.parsing_failed", _message_of(error, FAILED))


async def retry(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Return the workbook that could not be parsed waits for it once more."""
    return await store.resume_parsing(unit, UUID(arguments["workbook_id"]))


@jobs.job("workbooks.parse", on_failure=mark_failed, on_retry=retry, flag="uploads")
async def parse(unit: Unit, arguments: dict[str, Any]) -> None:
    """Turn uploaded files into stored columns, or say what is wrong.

    Formulas without values get theirs.
    """
    workbook_id = UUID(arguments["workbook_id"])
    row = await _waiting(unit, workbook_id, "processing")
    if row is None:
        return
    files = await store.files(unit, row)
    now = await unit.local_time(unit.now())
    await unit.commit()  # no connection is held while the files are read
    with folder_of(unit.resources.scratch, f"parse-{workbook_id}") as folder:
        paths = [await unit.resources.blobs.path(file.content_hash) for file in files]
        try:
            parsed = await in_thread(
                parse_isolated,
                list(zip([file.file_name for file in files], paths, strict=True)),
                folder,
                now=now.replace(tzinfo=None),
                memory_bytes_max=unit.settings.parse_memory_mb * 1024 * 1024,
                seconds_max=unit.settings.parse_seconds,
            )
        except FileRefused as refusal:
            log_cause(refusal)
            await _fail(unit, workbook_id, "workbook.parsing_failed", refusal.hint)
            return
        if excess := excess_of(unit.settings, parsed.manifest.sheets):
            await _fail(unit, workbook_id, "workbook.parsing_failed", excess.hint)
            return
        manifest, filled = parsed.manifest, parsed.manifest.filled
        if filled is not None:  # evidence has the values: with them, what made them
            manifest = replace(manifest, filled=replace(filled, engine=core.__version__))
        await keep_columns(unit, workbook_id, manifest, parsed.paths)


async def mark_recalculation_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Recalculating failed past its retries."""
    clear(unit.resources.scratch, f"parse-{arguments['workbook_id']}")
    await _fail(unit, UUID(arguments["workbook_id"]), "calculation.failed", _message_of(error, RECALCULATION_FAILED))


async def retry_recalculation(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Return the workbook that could not be recalculated waits for it once more."""
    workbook_id = UUID(arguments["workbook_id"])
    if (await store.workbooks.get(unit, workbook_id, lock=True)).status != "error":
        return False
    await store.begin_recalculation(unit, workbook_id)
    return True


@jobs.job(
    "workbooks.recalculate", on_failure=mark_recalculation_failed, on_retry=retry_recalculation, flag="recalculation"
)
async def recalculate(unit: Unit, arguments: dict[str, Any]) -> None:
    """Calculate every formula of a stored workbook anew."""
    workbook_id = UUID(arguments["workbook_id"])
    row = await _waiting(unit, workbook_id, "recalculating")
    if row is None:
        return
    manifest = WorkbookRecord.from_json(await store.book(unit, workbook_id))
    now = unit.now()
    there = await unit.local_time(now)
    await unit.commit()  # no connection is held while it calculates
    with folder_of(unit.resources.scratch, f"parse-{workbook_id}") as folder:
        try:
            calculation = await in_thread(
                recalculate_isolated,
                manifest,
                [await unit.resources.blobs.path(record.file) for record in manifest.sheets],
                folder,
                now=there.replace(tzinfo=None),
                locale=arguments.get("locale"),
                memory_bytes_max=unit.settings.recalculation_memory_mb * 1024 * 1024,
                seconds_max=unit.settings.recalculation_seconds,
            )
        except RecalculationFailed as failure:
            log_cause(failure)
            await _fail(unit, workbook_id, "calculation.failed", str(failure))
            return
        await keep_columns(unit, workbook_id, calculation.manifest, calculation.paths, calculated_at=now)
    counts = calculation.answer
    details = {
        "cells": counts.cell_count,
        "unsupported_functions": list(counts.unsupported),
        "circular_references": counts.cycle_count,
        "cycles": counts.cycles,
        "iterations": counts.iterations,
        "cells_not_converged": counts.unconverged_count,
        "not_converged": counts.unconverged,
        "faults": counts.fault_count,
        "locale": counts.locale,
    }
    await unit.audit("calculation.completed", Subject("workbook", str(workbook_id), row.name, details))


def _message_of(error: str, otherwise: str) -> str:
    return DAMAGED if error.startswith(Damaged.detail) else otherwise


async def _fail(unit: Unit, workbook_id: UUID, action: str, message: str) -> None:
    """Leave the workbook in error, with an audit row that says why."""
    name = await store.fail(unit, workbook_id, message)
    if name is not None:
        await unit.audit(action, Subject("workbook", str(workbook_id), name, {"error": message}))


async def _waiting(unit: Unit, workbook_id: UUID, status: Status) -> WorkbookRow | None:
    """Return a workbook that still waits in that state, else None."""
    try:
        row = await store.workbooks.get(unit, workbook_id)
    except WorkbookNotFound:
        return None
    return row if row.status == status else None
