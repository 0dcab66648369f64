"""Spreadsheet files on their way in: counted, bounded, looked at and kept; what is refused leaves nothing behind."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from core.confined.run import ChildKilled
from core.confined.table import GIGABYTE, MEGABYTE
from core.files import errors
from core.files.errors import FileRefused, InvalidFormat
from core.files.kinds import WORKBOOK_EXTENSIONS, WORKBOOK_KINDS, check_file_name, file_kind
from core.files.probe import SheetProbe
from core.files.read import probe
from core.grid.codec import SheetRecord
from service.mappings.shared import check_mapping
from service.platform.access.caller_status import Window
from service.platform.base.problem import Problem, Unavailable
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.data.scratch import folder_for
from service.platform.route.api import Upload
from service.platform.unit.context import Context
from service.platform.unit.storage import keep
from service.platform.work.jobs import SMALL_BYTES
from service.workbooks import store
from service.workbooks.schema import (
    FileTooLarge,
    InvalidFile,
    ParseError,
    SheetSize,
    StorageLimitExceeded,
    TooManySheets,
    Uploaded,
    WorkbookHead,
    WorkbookLimitExceeded,
    WorkbookRow,
)
from service.workbooks.store import NewSheet, Room, SourceFile

COPY_BYTES = MEGABYTE

Extensions = Sequence[str]

OTHER_FORMATS = " POST /api/v1/deals/{deal_id}/files takes other formats, such as .csv and .zip; a tape with kind=tape."

_REFUSALS: dict[type[FileRefused], type[Problem]] = {
    errors.InvalidFormat: ParseError,
    errors.FileTooLarge: FileTooLarge,
    errors.TooManySheets: TooManySheets,
    errors.ParseFailed: ParseError,
}
"""Of a file's content, by what its reader says."""


class Received(NamedTuple):
    """A file that was kept."""

    key: str
    """SHA-256 of its bytes, in hexadecimal: its key in the blob store."""
    sheets: tuple[SheetProbe, ...]
    """Of a workbook; the sheets of other files are known once they are parsed."""


class About(NamedTuple):
    """What a user says of a workbook that is uploaded; `name` "" stands for that of its file."""

    name: str
    description: str | None = None
    mapping_id: str | None = None
    stream_key: str | None = None
    deal_id: UUID | None = None
    as_of: date | None = None


async def take_in(
    ctx: Context, field: str, files: Sequence[Upload], about: About, extensions: Extensions = WORKBOOK_EXTENSIONS
) -> Uploaded:
    """Look at files, keep them, and have them parsed as one workbook; what is refused leaves nothing behind.

    Its sheets are told at once where one file is a workbook itself; what several come to shows when they are parsed.

    Raises:
        MappingNotFound, DealNotFound: what it names is not there.
        WorkbookLimitExceeded: the tenant has as many as it may.
        Problem: as `receive`; InvalidFile also where two files are the same.
    """
    if about.mapping_id is not None:
        await check_mapping(ctx, about.mapping_id)
    if about.deal_id is not None:
        await store.check_deal(ctx, about.deal_id)
    received = await receive(ctx, field, files, extensions, partial(_check_count, ctx, field))
    sources = [
        SourceFile(file_name=file.file_name, file_size=file.size_bytes, content_hash=one.key)
        for file, one in zip(files, received, strict=True)
    ]
    keys = [source.content_hash for source in sources]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            hint = f"The file is the same as {sources[keys.index(key)].file_name!r}: its loans would count twice."
            raise InvalidFile.at(["body", field, str(number)], hint)
    file_name = sources[0].file_name if len(sources) == 1 else f"{sources[0].file_name} and {len(sources) - 1} more"
    found = received[0].sheets if len(received) == 1 else ()
    row = await store.create(
        ctx,
        {
            **about._asdict(),
            "tenant_id": ctx.tenant,
            "id": new_id(),
            "name": about.name.strip() or file_name,
            "file_name": file_name,
            "file_size": sum(source.file_size for source in sources),
            "content_hash": keys[0] if len(keys) == 1 else hashlib.sha256("\n".join(keys).encode()).hexdigest(),
            "status": "processing",
            "sheet_count": len(found),
            "created_by": await ctx.email(),
        },
    )
    if len(sources) > 1:
        await store.put_files(ctx, row.id, sources)
    sheets = [
        NewSheet(
            id=new_id(), index=s.index, name=s.name, state=s.state, row_count=s.row_count, column_count=s.column_count
        )
        for s in found
    ]
    await store.put_sheets(ctx, row.id, sheets)
    small = row.file_size <= SMALL_BYTES
    await ctx.enqueue("workbooks.parse", queue="parse", arguments={"workbook_id": str(row.id)}, small=small)
    ctx.concerns("workbook", row.id, row.name, file_name=row.file_name, file_size=row.file_size)
    ctx.tag(row.version)
    sizes = [SheetSize(name=s.name, row_count=s.row_count, column_count=s.column_count) for s in sheets]
    return Uploaded(**head(row), sheets=sizes)


def head(row: WorkbookRow) -> dict[str, Any]:
    """What is told of a stored workbook everywhere."""
    return {name: getattr(row, name) for name in WorkbookHead.__struct_fields__}


def _check_count(ctx: Context, field: str, room: Room) -> None:
    most = ctx.settings.max_workbooks.of(room.tier)
    if 0 <= most <= room.workbooks:
        raise WorkbookLimitExceeded.at(["body", field], f"The limit is {most} workbooks.")


async def receive(
    ctx: Context,
    field: str,
    files: Sequence[Upload],
    extensions: Extensions = WORKBOOK_EXTENSIONS,
    check: Callable[[Room], None] = lambda room: None,
) -> list[Received]:
    """Keep uploaded files as blobs that go again should the request fail; the tenant's row stays locked.

    `field` is that of the form, `extensions` what the files' names may end in. `check` raises where the tenant may not
    have one more; it is asked before the files are looked at, and again when the tenant's room is held still.

    Raises:
        RateLimited: the tenant's uploads of this hour are used up; one that is refused counts for nothing.
        FileTooLarge, StorageLimitExceeded: there is no room for them.
        InvalidFile: the name of one has another extension.
        TooManySheets, ParseError: one is no spreadsheet that can be read.
        Unavailable: the process that looked at one was ended from outside.
    """
    room = await store.room(ctx)
    give_back = await ctx.limit([Window(f"uploads:{ctx.tenant}", ctx.settings.uploads_per_hour.of(room.tier), 3600)])
    try:
        received = await _received(ctx, ["body", field], files, extensions, room, check)
    except BaseException:
        await give_back()
        raise
    ctx.on_rollback(give_back)
    return received


async def _received(
    ctx: Context,
    where: list[str],
    files: Sequence[Upload],
    extensions: Extensions,
    room: Room,
    check: Callable[[Room], None],
) -> list[Received]:
    check(room)
    size_bytes = sum(file.size_bytes for file in files)
    _check_size(ctx, where, room, size_bytes)
    await ctx.commit()  # no connection is held while the files are looked at
    with folder_for(ctx.resources.scratch, "upload") as folder:
        paths = [folder / str(number) for number in range(len(files))]
        received = []
        for number, file in enumerate(files):
            at = where if len(files) == 1 else [*where, str(number)]
            received.append(await _looked_at(ctx, at, file, paths[number], extensions))
        if excess := excess_of(ctx.settings, [sheet for one in received for sheet in one.sheets]):
            raise excess.problem.at(where, excess.hint)
        room = await store.lock_room(ctx)
        check(room)
        _check_size(ctx, where, room, size_bytes)
        for key, path in sorted({one.key: path for one, path in zip(received, paths, strict=True)}.items()):
            await keep(ctx, path, key)
    return received


async def _looked_at(ctx: Context, where: list[str], file: Upload, path: Path, extensions: Extensions) -> Received:
    try:
        check_file_name(file.file_name, extensions)  # before 100 MB are copied
    except InvalidFormat as refusal:
        others = OTHER_FORMATS if extensions == WORKBOOK_EXTENSIONS else ""
        raise InvalidFile.at(where, refusal.hint + others) from None
    try:
        return await ctx.resources.probes(
            ctx.payer,
            _take,
            file,
            path,
            keeps_all=extensions != WORKBOOK_EXTENSIONS,
            memory_bytes_max=ctx.settings.parse_memory_mb * MEGABYTE,
            seconds_max=ctx.settings.probe_seconds,
        )
    except FileRefused as refusal:
        raise _REFUSALS[type(refusal)].at(where, refusal.hint) from None
    except ChildKilled as killed:  # which says nothing of the file
        raise Unavailable from killed


def _take(upload: Upload, path: Path, *, keeps_all: bool, **limits: int) -> Received:
    """Copy an upload to a file of its own and look at it; `keeps_all` takes what is no workbook, too."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while chunk := upload.file.read(COPY_BYTES):
            digest.update(chunk)
            file.write(chunk)
    if keeps_all and file_kind(path) not in WORKBOOK_KINDS:
        return Received(digest.hexdigest(), ())
    return Received(digest.hexdigest(), probe(path, file_name=upload.file_name, **limits).sheets)


def _check_size(ctx: Context, where: list[str], room: Room, size_bytes: int) -> None:
    """The limits of an upload's size and of the tenant's storage."""
    settings = ctx.settings
    most_mb = min(settings.max_upload_mb, room.max_workbook_size_mb or settings.max_upload_mb)
    if size_bytes > most_mb * MEGABYTE:
        raise FileTooLarge.at(where, f"The upload has {size_bytes:,} bytes; the limit is {most_mb} MB.")
    check_storage(settings, where, room, size_bytes)


def check_storage(settings: Settings, where: list[str], room: Room, size_bytes: int = 0) -> None:
    """Ask whether so much more may be stored.

    Raises:
        StorageLimitExceeded: it is more than the tenant may keep.
    """
    most_gb = settings.max_storage_gb.of(room.tier)
    if 0 <= most_gb * GIGABYTE < room.storage_bytes + size_bytes:
        raise StorageLimitExceeded.at(where, f"The limit is {most_gb} GB of stored files.")


class Excess(NamedTuple):
    """What passes a limit, and how it is refused."""

    problem: type[Problem]
    hint: str


def excess_of(settings: Settings, sheets: Sequence[SheetProbe | SheetRecord]) -> Excess | None:
    """What passes the deployment's own limits, where they are lower than the readers'."""
    if len(sheets) > settings.max_sheets:
        return Excess(TooManySheets, f"The upload has {len(sheets)} sheets; the limit is {settings.max_sheets}.")
    for sheet in sheets:
        if sheet.row_count > settings.max_sheet_rows:
            hint = f"Sheet {sheet.name!r} has {sheet.row_count:,} rows; the limit is {settings.max_sheet_rows:,}."
            return Excess(ParseError, hint)
        most = settings.max_sheet_columns
        if sheet.column_count > most:
            hint = f"Sheet {sheet.name!r} has {sheet.column_count:,} columns; the limit is {most:,}."
            return Excess(ParseError, hint)
    return None
