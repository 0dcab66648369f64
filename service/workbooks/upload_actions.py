"""A spreadsheet file on its way in: counted, bounded, looked at and kept; what is refused leaves nothing behind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from core.confined.run import ChildKilled
from core.files import errors
from core.files.errors import FileRefused
from core.files.kinds import check_file_name
from core.files.probe import Probe
from core.files.read import probe
from service.platform.access.caller_status import Window
from service.platform.context import Context
from service.platform.data.scratch import folder_for
from service.platform.data.storage import keep
from service.platform.http.api import Upload
from service.platform.http.problem import Fault, Problem, Unavailable
from service.workbooks import store
from service.workbooks.schema import FileTooLarge, InvalidFile, ParseError, StorageLimitExceeded, TooManySheets
from service.workbooks.store import Room

MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE
COPY_BYTES = MEGABYTE

_REFUSALS: dict[type[FileRefused], type[Problem]] = {
    errors.InvalidFormat: InvalidFile,
    errors.FileTooLarge: FileTooLarge,
    errors.TooManySheets: TooManySheets,
    errors.ParseFailed: ParseError,
}


class Received(NamedTuple):
    """A file that was kept."""

    key: str
    """SHA-256 of its bytes, in hexadecimal: its key in the blob store."""
    probe: Probe


async def receive(ctx: Context, file: Upload, check: Callable[[Room], None] = lambda room: None) -> Received:
    """Keep an uploaded file as a blob that goes again should the request fail; the tenant's row stays locked.

    `check` raises where the tenant may not have one more; it is asked before the file is looked at, and again when the
    tenant's room is held still.

    Raises:
        RateLimited: the tenant's uploads of this hour are used up.
        FileTooLarge, StorageLimitExceeded: there is no room for it.
        InvalidFile, TooManySheets, ParseError: it is no spreadsheet that can be read.
        Unavailable: the process that looked at it was ended from outside.
    """
    room = await store.room(ctx)
    await ctx.limit([Window(f"uploads:{ctx.tenant}", ctx.settings.uploads_per_hour.of(room.tier), 3600)])
    check(room)
    _check_size(ctx, room, file)
    await ctx.commit()  # no connection is held while the file is looked at
    with folder_for(ctx.resources.scratch, "upload") as folder:
        path = folder / "file"
        try:
            received = await ctx.resources.probes(
                ctx.payer,
                _take,
                file,
                path,
                memory_bytes_max=ctx.settings.parse_memory_mb * MEGABYTE,
                seconds_max=ctx.settings.probe_seconds,
            )
        except FileRefused as refusal:
            raise _refused(refusal.hint, _REFUSALS[type(refusal)]) from None
        except ChildKilled as killed:  # which says nothing of the file
            raise Unavailable from killed
        _check_extents(ctx, received.probe)
        room = await store.lock_room(ctx)
        check(room)
        _check_size(ctx, room, file)
        await keep(ctx, path, received.key)
    return received


def _take(upload: Upload, path: Path, **limits: int) -> Received:
    """Copy an upload to a file of its own and look at it."""
    check_file_name(upload.file_name)  # before 100 MB are copied
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while chunk := upload.file.read(COPY_BYTES):
            digest.update(chunk)
            file.write(chunk)
    return Received(digest.hexdigest(), probe(path, file_name=upload.file_name, **limits))


def _refused(hint: str, problem: type[Problem]) -> Problem:
    return problem(Fault(["body", "file"], hint))


def _check_size(ctx: Context, room: Room, file: Upload) -> None:
    """The limits of the file's size and of the tenant's storage."""
    settings = ctx.settings
    most_mb = min(settings.max_upload_mb, room.max_workbook_size_mb or settings.max_upload_mb)
    if file.size_bytes > most_mb * MEGABYTE:
        raise _refused(f"The file has {file.size_bytes:,} bytes; the limit is {most_mb} MB.", FileTooLarge)
    most_gb = settings.max_storage_gb.of(room.tier)
    if 0 <= most_gb * GIGABYTE < room.storage_bytes + file.size_bytes:
        raise _refused(f"The limit is {most_gb} GB of stored files.", StorageLimitExceeded)


def _check_extents(ctx: Context, found: Probe) -> None:
    """The deployment's own limits, where they are lower than the readers'."""
    settings = ctx.settings
    if len(found.sheets) > settings.max_sheets:
        raise _refused(f"The file has {len(found.sheets)} sheets; the limit is {settings.max_sheets}.", TooManySheets)
    for sheet in found.sheets:
        if sheet.row_count > settings.max_sheet_rows:
            hint = f"Sheet {sheet.name!r} has {sheet.row_count:,} rows; the limit is {settings.max_sheet_rows:,}."
            raise _refused(hint, ParseError)
        most = settings.max_sheet_columns
        if sheet.column_count > most:
            hint = f"Sheet {sheet.name!r} has {sheet.column_count:,} columns; the limit is {most:,}."
            raise _refused(hint, ParseError)
