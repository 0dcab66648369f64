"""Making an export, in the worker.

Written by a child, signed where asked for, stored; a cancelled one is left.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from core.confined.run import run as run_confined
from core.confined.run import workplace
from core.confined.table import MEGABYTE
from core.confined.tasks import in_thread
from core.export.order import ExportedFile, ExportError, ExportOrder, ExportProduct, Keys, Options, Phase
from core.export.seal import SealError, seal
from core.files.write.formats import FORMATS, ZIP_MIME_TYPE
from service.documents import shared as documents
from service.documents.schema import Document
from service.exports import store
from service.exports.child import MAKE, PROGRESS, ExportTask, MakeProgress
from service.exports.schema import Progress
from service.exports.signing_actions import SigningFailed, certificate, manifest_key, sign
from service.platform.data.blobs import Damaged, hash_path
from service.platform.data.scratch import clear, folder_of
from service.platform.log import log_cause
from service.platform.unit.context import Subject, Unit
from service.platform.unit.records import to_json
from service.platform.work.jobs import JobTable
from service.workbooks import shared as workbooks
from service.workbooks.schema import DAMAGED, StorageLimitExceeded

FAILED: Final = "The export could not be made because of a fault in the service; ask for it again."
LOOK_SECONDS: Final = 0.5
"""How often it is looked how far the child is, and whether the export was cancelled."""
PROGRESS_BYTES_MAX: Final = 200

PHASES: Final = frozenset(get_args(Phase))
WRITTEN_PERCENT: Final = (5, 95)
"""From where to where of the whole the child's part goes."""
KINDS: Final = {*(file_format.mime_type for file_format in FORMATS.values()), ZIP_MIME_TYPE, "application/octet-stream"}
"""Media types of what an export comes to, its fingerprints among it."""
NAME_CHARACTERS_MAX: Final = 255

jobs = JobTable()


class _Ended(Exception):
    """Somebody cancelled the export, or an earlier attempt ended it."""


async def mark_failed(unit: Unit, arguments: dict[str, Any], error: str) -> None:
    """Mark an export as failed; the dead letter has the cause."""
    clear(unit.resources.scratch, arguments["export_id"])
    await _fail(unit, arguments["export_id"], DAMAGED if error.startswith(Damaged.detail) else FAILED)


async def retry(unit: Unit, arguments: dict[str, Any], job_id: str) -> bool:
    """Retry an export where the columns of then are still there."""
    return await store.resume(unit, arguments["export_id"])


@jobs.job("exports.make", on_failure=mark_failed, on_retry=retry, flag="exports")
async def make(unit: Unit, arguments: dict[str, Any]) -> None:
    """Make an export: it is completed, or failed with the reason."""
    work = await store.start(unit, arguments["export_id"])
    if work is None:
        return
    options = msgspec.convert(work.options, Options)
    order = ExportTask(
        manifest=work.source.manifest,
        paths=tuple([str(await unit.resources.blobs.path(key)) for key in work.source_keys]),
        order=ExportOrder(
            format=work.format,
            export_id=work.id,
            workbook_id=str(work.workbook_id),
            tenant_id=str(unit.tenant),
            created=await unit.local_time(work.created_at.replace(microsecond=0)),
            lineage=work.source.lineage,
            keys=_keys(unit, work.id),
            options=options,
            sheets=work.source.sheets,
            mapping=work.source.mapping,
            compliance=work.source.compliance,
        ),
    )
    await unit.commit()  # no connection is held while it is written
    with folder_of(unit.resources.scratch, work.id) as folder:
        try:
            with workplace(folder) as writes:
                exported = await _watch(unit, work.id, writes, _write(unit, order, writes))
            await _keep(unit, work, exported, folder, signed=options.xlsx_signing and work.format == "xlsx")
        except (ExportError, SigningFailed, StorageLimitExceeded) as refusal:
            await unit.rollback(refusal)
            log_cause(refusal)
            await _fail(unit, work.id, workbooks.reason_of(refusal))
        except _Ended as ended:
            await unit.rollback(ended)


def _keys(unit: Unit, export_id: str) -> Keys:
    """Return one export's own secrets.

    A file that takes over its child finds none of another export's.
    """
    redaction = unit.resources.vault.sign("redaction", unit.tenant.bytes)
    return Keys(signing=manifest_key(unit, export_id), redaction=redaction, sealed_apart=True)


def _write(unit: Unit, order: ExportTask, folder: Path) -> Coroutine[Any, Any, ExportProduct]:
    return in_thread(
        run_confined,
        MAKE,
        order,
        reads=order.paths,
        writes=folder,
        memory_bytes_max=unit.settings.export_memory_mb * MEGABYTE,
        seconds_max=unit.settings.export_seconds,
    )


# While the child writes -----------------------------------------------------------------------------------------------


async def _watch(
    unit: Unit, export_id: str, folder: Path, writing: Coroutine[Any, Any, ExportProduct]
) -> ExportProduct:
    """Return what the child answers; meanwhile the record tells how far it is.

    Raises:
        _Ended: somebody cancelled the export; the child has ended.
        ExportError: it refuses, or writes more than it may.
    """
    work = asyncio.ensure_future(writing)
    try:
        while not (await asyncio.wait([work], timeout=LOOK_SECONDS))[0]:
            await _check_size(unit, folder)
            if not await store.set_progress(unit, export_id, await asyncio.to_thread(_progress, folder)):
                raise _Ended
            await unit.commit()
        return work.result()
    finally:
        work.cancel()
        await asyncio.wait([work])


async def _check_size(unit: Unit, folder: Path) -> int:
    """Return the bytes of an export's files.

    Raises:
        ExportError: they are more than they may be.
    """
    size_bytes = await asyncio.to_thread(_size_of, folder)
    if size_bytes > unit.settings.max_export_mb * MEGABYTE:
        raise ExportError(f"The export takes more than the limit of {unit.settings.max_export_mb:,} MB.")
    return size_bytes


def _size_of(folder: Path) -> int:
    return sum(entry.stat(follow_symlinks=False).st_size for entry in os.scandir(folder))


def _progress(folder: Path) -> Progress:
    """Return how far the child says that it is: it may say anything."""
    first, last = WRITTEN_PERCENT
    message, percent = "Reading the workbook", first
    with suppress(OSError, msgspec.MsgspecError), (folder / PROGRESS).open("rb") as file:
        progress = msgspec.json.decode(file.read(PROGRESS_BYTES_MAX), type=MakeProgress)
        if progress.phase in PHASES and 0 <= progress.done < progress.of:
            message, percent = progress.phase, first + (last - first) * progress.done // progress.of
    return Progress(current=percent, total=100, message=message, percent=percent)


# The end --------------------------------------------------------------------------------------------------------------


async def _keep(unit: Unit, work: store.Work, exported: ExportProduct, folder: Path, *, signed: bool) -> None:
    """Store what was written, in the transaction that completes the export.

    Raises:
        _Ended: somebody cancelled it in this moment: then nothing is stored.
        ExportError, SigningFailed, StorageLimitExceeded: it cannot be kept.
    """
    main = _file(folder, exported.main)
    if exported.sealed is not None:
        await _seal(unit, work, _file(folder, exported.sealed))
    summary = msgspec.to_builtins(exported.result_summary)
    if signed:
        if not await store.set_progress(unit, work.id, _SIGNING):
            raise _Ended
        await unit.commit()
        about = {"export_id": work.id, "workbook_id": str(work.workbook_id), "tenant_id": str(unit.tenant)}
        data_hash = exported.result_summary.provenance.data_hash
        about |= {
            "hash": await asyncio.to_thread(hash_path, main),
            "file_name": exported.main.name,
            "data_hash": data_hash,
        }
        summary["signature"] = await sign(unit.settings, about)
    sizes = await _check_size(unit, folder)
    workbooks.check_storage(unit.settings, [], await workbooks.room(unit), sizes)
    document = await _document(unit, folder, exported.main)
    sealed = await _document(unit, folder, exported.sealed) if exported.sealed else None
    fingerprints = await _document(unit, folder, exported.fingerprints) if exported.fingerprints else None
    if sealed is not None:
        path = f"/api/v1/exports/{work.id}/download?artifact=pdf"
        summary["sealed_pdf"] = {"storage_path": path, "file_name": sealed.name, "size_bytes": sealed.size_bytes}
    row = {
        "status": "completed",
        "document_id": document.id,
        "sealed_id": sealed and sealed.id,
        "fingerprints_id": fingerprints and fingerprints.id,
        "provenance": to_json(summary["provenance"]),
        "result_summary": to_json(summary),
        "progress": to_json(_DONE),
    }
    ended = await store.end(unit, work.id, row)
    if ended is None:
        raise _Ended
    details = {"format": work.format, "workbook_id": str(work.workbook_id), "file_size": document.size_bytes}
    details |= {"data_hash": exported.result_summary.provenance.data_hash, "redacted": summary["redacted"]}
    await unit.audit("export.completed", Subject("export", work.id, ended.workbook_name, details))


async def _seal(unit: Unit, work: store.Work, path: Path) -> None:
    """Sign a PDF in its place, by the deployment's certificate."""
    try:
        pkcs12, password = await asyncio.to_thread(certificate, unit)
        sealed = await asyncio.to_thread(
            lambda: seal(path.read_bytes(), pkcs12, password, created=work.created_at, reason=f"Export {work.id}")
        )
    except (SealError, OSError) as error:
        log_cause(error)
        raise ExportError("The PDF could not be sealed by the certificate of this deployment.") from error
    await asyncio.to_thread(path.write_bytes, sealed)


_SIGNING: Final = Progress(current=95, total=100, message="Signing", percent=95)
_DONE: Final = Progress(current=100, total=100, message="Completed", percent=100)


async def _document(unit: Unit, folder: Path, file: ExportedFile) -> Document:
    assert file.media_type in KINDS, f"{file.media_type!r} is no kind of an export"
    return await documents.keep_document(
        unit,
        _file(folder, file),
        name=file.name[:NAME_CHARACTERS_MAX],
        media_type=file.media_type,
        seconds=unit.settings.export_ttl_seconds,
    )


def _file(folder: Path, file: ExportedFile) -> Path:
    """Return a plain file in the child's folder, whatever the child says."""
    path = folder / Path(file.path).name
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{file.path} is no file of the export")
    return path


async def _fail(unit: Unit, export_id: str, message: str) -> None:
    row = {"status": "failed", "error_details": message}
    ended = await store.end(unit, export_id, row)
    if ended is not None:
        details = {"error": message, "workbook_id": str(ended.workbook_id)}
        await unit.audit("export.failed", Subject("export", export_id, ended.workbook_name, details))
