"""Batches in the worker: a lane's next workbooks, and the result file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from core.batch.table import DealMonth, ResultRow, Step, refused_row, rows_of
from core.batch.write import Format, write_rows
from core.compliance.result import Results, Skipped, TestResult
from core.confined.table import MEGABYTE
from service.batches import store
from service.batches.actions import LANES, MEDIA_TYPES, QUEUE, RUN, proof, run_order
from service.batches.schema import StoredItem
from service.compliance import shared as compliance
from service.compliance.schema import AlreadyRunning, RunRequest
from service.documents import shared as documents
from service.platform.base.problem import Problem
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.unit.records import to_json
from service.platform.unit.storage import report_damage
from service.platform.work.jobs import JobTable
from service.workbooks import shared as workbooks
from service.workbooks.schema import StorageLimitExceeded, WorkbookNotFound, WorkbookNotReady

WRITE: Final = "batches.write"
WORKBOOKS_A_JOB: Final = 20
SECONDS_A_JOB: Final = 20.0
"""After which a job gives its place away, before its next workbook."""
BUSY_SECONDS: Final = 60.0
"""For which a batch waits for somebody else's run of a workbook."""
BUSY_PAUSE_SECONDS: Final = 0.25
UNREAD_PAUSE_SECONDS: Final = 2.0
"""Until a lane looks again at workbooks that are still read; it keeps no place meanwhile."""
ITEMS_AT_A_TIME: Final = 50
"""Runs that are read at a time for the result file: their results take some 50 kB each."""

NO_WORKBOOK: Final = "The deal has no workbook; upload one."
GONE: Final = "The workbook was deleted, or taken out of its deal, before its turn."
FAULT: Final = "The workbook could not be run because of a fault in the service; run it again."
FAILED: Final = "The result file could not be written because of a fault in the service; the runs are in the history."

jobs = JobTable()


class ItemRefusal(NamedTuple):
    """Why a workbook is not run, and at which step."""

    step: Step
    reason: str


# Runs -----------------------------------------------------------------------------------------------------------------


async def pass_over(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Go on after a job's last attempt.

    A workbook that has had as many turns as a job has attempts is refused.
    """
    batch_id = UUID(arguments["batch_id"])
    item = await store.take_item(unit, batch_id, arguments["lane"], LANES)
    if item is not None and item.attempts > unit.settings.job_attempts:
        await _refuse(unit, batch_id, item, ItemRefusal("suite", FAULT))
    await _go_on(unit, arguments)


@jobs.job(RUN, on_failure=pass_over)
async def run(unit: Unit, arguments: dict[str, Any]) -> None:
    """Run the next workbooks of a lane, and write the next job.

    Each has a transaction of its own.
    """
    batch = await store.start(unit, UUID(arguments["batch_id"]))
    if batch is None:
        return
    end = time.monotonic() + SECONDS_A_JOB
    for _ in range(WORKBOOKS_A_JOB):
        item = await store.take_item(unit, batch.id, arguments["lane"], LANES)
        await unit.commit()
        if item is None:
            break
        await _run_item(unit, batch, item)
        if time.monotonic() > end:
            break
    await _go_on(unit, arguments)


async def _go_on(unit: Unit, arguments: dict[str, Any]) -> None:
    """Write the next job of a lane, unless nothing is left of it."""
    waits = await store.waits(unit, UUID(arguments["batch_id"]), arguments["lane"], LANES)
    if waits is not None:
        pause = UNREAD_PAUSE_SECONDS if waits else 0.0
        await unit.enqueue(RUN, queue=QUEUE, arguments=arguments, delay_seconds=pause)


async def _run_item(unit: Unit, batch: store.BatchWork, item: store.Item) -> None:
    """Run a workbook, or refuse it; either is committed, unless the batch has ended."""
    try:
        outcome = await _run_when_free(unit, batch, item)
        if outcome in ("counted", "last"):
            await unit.commit()
            return
    except Problem as refusal:
        if refusal.status >= 500 and not isinstance(refusal, Damaged):
            raise  # the service's fault: the job is tried again
        await unit.rollback(refusal)
        log_cause(refusal)
        if isinstance(refusal, Damaged):
            await report_damage(unit.resources, refusal.key, unit.request_id)
        outcome = await _refuse(unit, batch.id, item, await _why(unit, item, refusal))
        if outcome in ("counted", "last"):
            await unit.commit()
            return
    await unit.rollback(_Stopped())


class _Stopped(Exception):
    """The item, or its batch, has ended meanwhile."""


async def _run_when_free(unit: Unit, batch: store.BatchWork, item: store.Item) -> store.ItemEnd:
    """Run a workbook once nobody else runs it.

    Raises:
        Problem: it cannot be run.
    """
    if item.workbook_id is None:
        return await _refuse(unit, batch.id, item, ItemRefusal("read", NO_WORKBOOK))
    request = RunRequest(**msgspec.structs.asdict(run_order(batch.request)), workbook_id=item.workbook_id)
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            kept = await compliance.run_and_keep(unit, request, deal_id=item.deal_id)
            break
        except AlreadyRunning as busy:
            if time.monotonic() > end:
                raise
            await unit.rollback(busy)
            await asyncio.sleep(BUSY_PAUSE_SECONDS)
    row = {"status": "done", "run_id": kept.run.id, "entry": to_json(kept.entry)}
    return await _end_item(unit, batch.id, item, row, kept.run.summary)


async def _refuse(unit: Unit, batch_id: UUID, item: store.Item, refusal: ItemRefusal) -> store.ItemEnd:
    row = {"status": "refused", "step": refusal.step, "reason": refusal.reason}
    return await _end_item(unit, batch_id, item, row, None)


async def _end_item(unit: Unit, batch_id: UUID, item: store.Item, row: dict[str, Any], summary: Any) -> store.ItemEnd:
    """End an item; the last one orders the result file."""
    outcome = await store.end_item(unit, batch_id, item.position, row, summary)
    if outcome == "last":
        await unit.enqueue(WRITE, queue="export", arguments={"batch_id": str(batch_id)})
    return outcome


async def _why(unit: Unit, item: store.Item, refusal: Problem) -> ItemRefusal:
    """Return a refusal in the words of the result file."""
    if isinstance(refusal, WorkbookNotFound | WorkbookNotReady):
        assert item.workbook_id is not None
        workbook = await store.unread_workbook(unit, item.workbook_id)
        if workbook is None or isinstance(refusal, WorkbookNotFound):
            return ItemRefusal("read", GONE)
        return ItemRefusal("read", workbook.error_message or f"The workbook is not ready: it is {workbook.status}.")
    step: Step = "read" if isinstance(refusal, Damaged) else "suite"
    return ItemRefusal(step, ": ".join([refusal.detail, *(fault.message for fault in refusal.errors[:1])]))


# The result file ------------------------------------------------------------------------------------------------------


async def mark_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark a batch as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, arguments["batch_id"])
    await _fail(unit, UUID(arguments["batch_id"]), FAILED)


@jobs.job(WRITE, on_failure=mark_failed)
async def write(unit: Unit, arguments: dict[str, Any]) -> None:
    """Write the result file of a batch whose workbooks have all had their turn."""
    batch = await store.in_work(unit, UUID(arguments["batch_id"]))
    if batch is None:
        return
    with folder_of(unit.resources.scratch, str(batch.id)) as folder:
        rows, path = folder / "rows", folder / f"results.{batch.format}"
        await _gather(unit, batch.id, rows)
        await asyncio.to_thread(_write_file, rows, path, batch.format)
        try:
            await _keep(unit, batch, path)
        except (_TooLarge, StorageLimitExceeded) as refusal:
            await unit.rollback(refusal)
            await _fail(unit, batch.id, workbooks.reason_of(refusal))


async def _gather(unit: Unit, batch_id: UUID, rows: Path) -> None:
    """Write the rows of all items to a file, as JSON lines.

    No connection is held while they are made.
    """
    position = -1
    while items := await store.items_after(unit, batch_id, position, ITEMS_AT_A_TIME):
        await unit.commit()
        await asyncio.to_thread(_append, rows, items)
        position = items[-1].position


def _append(path: Path, items: list[StoredItem]) -> None:
    encoder = msgspec.json.Encoder()
    with path.open("ab") as file:
        for item in items:
            file.writelines(encoder.encode(row) + b"\n" for row in _rows_of_item(item))


def _rows_of_item(item: StoredItem) -> Iterator[ResultRow]:
    month = DealMonth(
        deal=item.deal, files=item.files, sha256=item.sha256, as_of=item.as_of, as_of_source=item.as_of_source
    )
    if item.results is None or item.skipped is None:
        yield refused_row(month, item.step or "suite", item.reason or FAULT)
        return
    results = msgspec.json.decode(item.results, type=list[TestResult])
    skipped = msgspec.json.decode(item.skipped, type=list[Skipped])
    yield from rows_of(month, item.test_suite or "", Results(results, skipped))


def _write_file(rows: Path, path: Path, form: Format) -> None:
    decoder = msgspec.json.Decoder(ResultRow)
    with rows.open("rb") as lines:
        write_rows(path, map(decoder.decode, lines), form)


class _TooLarge(Exception):
    """The result file is larger than it may be."""


async def _keep(unit: Unit, batch: store.BatchWork, path: Path) -> None:
    """Store the result file and complete the batch.

    Raises:
        _TooLarge, StorageLimitExceeded: there is no room for it.
    """
    size_bytes, most_mb = (await asyncio.to_thread(path.stat)).st_size, unit.settings.max_export_mb
    if size_bytes > most_mb * MEGABYTE:
        raise _TooLarge(f"The result file takes more than the limit of {most_mb:,} MB; run fewer workbooks.")
    workbooks.check_storage(unit.settings, [], await workbooks.room(unit), size_bytes)
    document = await documents.keep_document(
        unit,
        path,
        name=f"{batch.name}.{batch.format}",
        media_type=MEDIA_TYPES[batch.format],
        seconds=unit.settings.export_ttl_seconds,
    )
    ended = await store.end(unit, batch.id, {"status": "completed", "document_id": document.id})
    if ended is None:  # cancelled meanwhile: the file is not needed
        await documents.remove(unit, document.id)
        return
    details = {**await proof(unit, ended), "file_size": document.size_bytes}
    await unit.audit("batch.completed", Subject("batch", str(batch.id), ended.name, details))


async def _fail(unit: Unit, batch_id: UUID, message: str) -> None:
    ended = await store.end(unit, batch_id, {"status": "failed", "error_details": message})
    if ended is not None:
        details = {**await proof(unit, ended), "error": message}
        await unit.audit("batch.failed", Subject("batch", str(batch_id), ended.name, details))
