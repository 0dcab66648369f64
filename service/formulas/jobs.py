"""Writing a formula as a column of a workbook, in the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.confined.run import run as run_confined
from core.confined.run import workplace
from core.confined.tasks import in_thread
from core.grid.codec import WorkbookRecord
from service.formulas import column_actions, store
from service.formulas.actions import whole
from service.formulas.child import APPLY, ApplyOrder, ApplyResult, ColumnFailed
from service.formulas.schema import Run
from service.platform.data.blobs import Damaged
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.work.jobs import JobTable, PermanentError
from service.workbooks import shared as workbooks
from service.workbooks.schema import DAMAGED

FAILED = "The formula could not be applied because of a fault in the service; apply it again."

jobs = JobTable()


async def mark_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark a run as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, arguments["run_id"])
    await _fail(unit, arguments["run_id"], DAMAGED if error.startswith(Damaged.detail) else FAILED)


async def retry(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Retry a run where the column may still be written."""
    return await column_actions.resume(unit, arguments["run_id"])


@jobs.job("formulas.apply", on_failure=mark_failed, on_retry=retry, flag="recalculation")
async def apply(unit: Unit, arguments: dict[str, Any]) -> None:
    """Write a column, or leave the workbook as it was."""
    run = await store.start_run(unit, arguments["run_id"])
    if run is None:  # an earlier attempt ended it
        return
    version = await store.version(unit, run.config_id, run.version_id)
    row = await workbooks.get(unit, run.workbook_id)
    sheet = await workbooks.sheet(unit, row.id, str(run.sheet_id))
    stored = await workbooks.locate_book(unit, row)
    now = await unit.local_time(unit.now())
    await unit.commit()  # no connection is held while it calculates
    order = ApplyOrder(
        place=column_actions.place_of(stored, sheet, now),
        formula=(await whole(unit, version.graph)).text,
        target_column=run.target_column,
        names_row=await unit.compute(column_actions.names_row, Path(stored.paths[sheet.index]), sheet),
        output_mode=run.output_mode,
    )
    with folder_of(unit.resources.scratch, run.run_id) as folder:
        try:
            with workplace(folder) as workspace:
                applied = await in_thread(
                    run_confined,
                    APPLY,
                    order,
                    reads=stored.paths,
                    writes=workspace,
                    memory_bytes_max=unit.settings.recalculation_memory_mb * column_actions.MEGABYTE,
                    seconds_max=unit.settings.recalculation_seconds,
                )
        except ColumnFailed as refusal:
            log_cause(refusal)
            await _fail(unit, run.run_id, str(refusal))
            return
        await _keep(unit, run, applied, stored, folder)


async def _keep(unit: Unit, run: Run, applied: ApplyResult, stored: workbooks.StoredBook, folder: Path) -> None:
    """Give the workbook the changed sheets, and complete the run."""
    manifest, before = WorkbookRecord.from_json(applied.manifest), WorkbookRecord.from_json(stored.manifest)
    keys = {Path(path): record.file for path, record in zip(stored.paths, before.sheets, strict=True)}
    files = {key: path for path, key in keys.items()}
    paths = [files.get(record.file, folder / record.file) for record in manifest.sheets]
    if not await workbooks.keep_columns(unit, run.workbook_id, manifest, paths, stored=keys, written_by=run.run_id):
        raise PermanentError(Damaged.detail)  # which was found meanwhile
    outcome = {
        "status": "completed",
        "rows_affected": applied.rows_affected,
        "rows_failed": applied.rows_failed,
        "error_details": _error_details(applied),
    }
    await _end(unit, run.run_id, "formula.applied", outcome, cells_recalculated=applied.cells_recalculated)


def _error_details(applied: ApplyResult) -> str | None:
    """Return which rows came to an error."""
    if not applied.rows_failed:
        return None
    rows = ", ".join(f"{row} ({error})" for row, error in applied.failed)
    more = applied.rows_failed - len(applied.failed)
    return f"Rows with an error: {rows}" + (f" and {more:,} more." if more else ".")


async def _fail(unit: Unit, run_id: str, message: str) -> None:
    outcome = {"status": "failed", "rows_affected": 0, "rows_failed": 0, "error_details": message}
    run = await _end(unit, run_id, "formula.application_failed", outcome)
    if run is not None:
        await workbooks.end_writing(unit, run.workbook_id, run_id)


async def _end(unit: Unit, run_id: str, action: str, outcome: dict[str, Any], **more: Any) -> Run | None:
    """End a run with an audit entry, and return it; None if it had ended."""
    run = await store.end_run(unit, run_id, outcome)
    if run is not None:
        config = await store.get(unit, run.config_id)
        about = {"run_id": run_id, "version_id": run.version_id, "workbook_id": str(run.workbook_id)}
        details = {**about, "target_column": run.target_column, **outcome, **more}
        await unit.audit(action, Subject("formula", config.id, config.name, details))
    return run
