"""Spreadsheet files on their way in.

Counted, bounded, looked at and kept; what is refused leaves nothing behind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack
from uuid import UUID

from core.confined.run import ChildKilled
from core.confined.table import GIGABYTE, MEGABYTE, Bounds
from core.files import errors
from core.files.errors import FileRefused, InvalidFormat
from core.files.kinds import WORKBOOK_EXTENSIONS, WORKBOOK_KINDS, check_file_name, file_kind
from core.files.probe import SheetProbe
from core.files.read import NO_WORKBOOKS, probe
from core.grid.codec import SheetRecord
from service.mappings.shared import check_mapping
from service.platform.access.caller_status import Window
from service.platform.base.problem import Problem, Unavailable
from service.platform.base.secrets import new_id
from service.platform.config import Settings
from service.platform.data.scratch import folder_for
from service.platform.route.api import Upload
from service.platform.unit.context import Context
from service.platform.unit.storage import count_blob, put_blob
from service.platform.work.jobs import SMALL_BYTES
from service.workbooks import schema, store
from service.workbooks.store import NewSheet, Room, SourceFile

COPY_BYTES = MEGABYTE

Extensions = Sequence[str]

OTHER_FORMATS = (
    " POST /api/v1/deals/{deal_id}/files takes other formats, such as .pdf, .csv and .zip; a tape with kind=tape."
)

_REFUSALS: dict[type[FileRefused], type[Problem]] = {
    errors.InvalidFormat: schema.ParseError,
    errors.FileTooLarge: schema.FileTooLarge,
    errors.TooManySheets: schema.TooManySheets,
    errors.ParseFailed: schema.ParseError,
}
"""Of a file's content, by what its reader says."""


class Receipt(NamedTuple):
    """A file that was kept."""

    key: str
    """SHA-256 of its bytes, in hexadecimal: its key in the blob store."""
    sheets: tuple[SheetProbe, ...]
    """Of a workbook; the sheets of other files are known once they are parsed."""


class WorkbookAbout(NamedTuple):
    """What a user says of a workbook that is uploaded; `name` "" stands for that of its file."""

    name: str
    description: str | None = None
    mapping_id: str | None = None
    stream_key: str | None = None
    deal_id: UUID | None = None
    as_of: date | None = None


async def take_in(
    ctx: Context,
    field: str,
    files: Sequence[Upload],
    about: WorkbookAbout,
    extensions: Extensions = WORKBOOK_EXTENSIONS,
) -> schema.Uploaded:
    """Store files and queue their parsing as one workbook.

    What is refused leaves nothing behind.

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
        SourceFile(file_name=file.file_name, file_size=file.size_bytes, content_hash=receipt.key)
        for file, receipt in zip(files, received, strict=True)
    ]
    keys = [source.content_hash for source in sources]
    for number, key in enumerate(keys):
        if key in keys[:number]:
            hint = f"The file is the same as {sources[keys.index(key)].file_name!r}: its loans would count twice."
            raise schema.InvalidFile.at(["body", field, str(number)], hint)
    file_name = sources[0].file_name if len(sources) == 1 else f"{sources[0].file_name} and {len(sources) - 1} more"
    sheets_seen = received[0].sheets if len(received) == 1 else ()
    row = await store.workbooks.create(
        ctx,
        {
            **about._asdict(),
            "id": new_id(),
            "name": about.name.strip() or file_name,
            "file_name": file_name,
            "file_size": sum(source.file_size for source in sources),
            "content_hash": keys[0] if len(keys) == 1 else hashlib.sha256("\n".join(keys).encode()).hexdigest(),
            "status": "processing",
            "sheet_count": len(sheets_seen),
            "created_by": await ctx.email(),
        },
    )
    if len(sources) > 1:
        await store.put_files(ctx, row.id, sources)
    sheets = [
        NewSheet(
            id=new_id(), index=s.index, name=s.name, state=s.state, row_count=s.row_count, column_count=s.column_count
        )
        for s in sheets_seen
    ]
    await store.put_sheets(ctx, row.id, sheets)
    small = row.file_size <= SMALL_BYTES
    await ctx.enqueue("workbooks.parse", queue="parse", arguments={"workbook_id": str(row.id)}, small=small)
    ctx.set_subject("workbook", row.id, row.name, file_name=row.file_name, file_size=row.file_size)
    ctx.set_etag(row.version)
    sizes = [schema.SheetSize(name=s.name, row_count=s.row_count, column_count=s.column_count) for s in sheets]
    return schema.Uploaded(**head(row), sheets=sizes)


def head(row: schema.WorkbookRow) -> dict[str, Any]:
    """Return the fields of a stored workbook that every answer has."""
    return {name: getattr(row, name) for name in schema.WorkbookHead.__struct_fields__}


def _check_count(ctx: Context, field: str, room: Room) -> None:
    most = ctx.settings.max_workbooks.of(room.tier)
    if 0 <= most <= room.workbooks:
        raise schema.WorkbookLimitExceeded.at(["body", field], f"The limit is {most} workbooks.")


async def receive(
    ctx: Context,
    field: str,
    files: Sequence[Upload],
    extensions: Extensions = WORKBOOK_EXTENSIONS,
    check: Callable[[Room], None] = lambda room: None,
) -> list[Receipt]:
    """Store files as blobs that go should the request fail.

    The tenant's row stays locked.

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
        received = await _receive(ctx, ["body", field], files, extensions, room, check)
    except BaseException:
        await give_back()
        raise
    ctx.on_rollback(give_back)
    return received


async def _receive(
    ctx: Context,
    where: list[str],
    files: Sequence[Upload],
    extensions: Extensions,
    room: Room,
    check: Callable[[Room], None],
) -> list[Receipt]:
    check(room)
    size_bytes = sum(file.size_bytes for file in files)
    _check_size(ctx, where, room, size_bytes)
    await ctx.commit()  # no connection is held while the files are looked at
    with folder_for(ctx.resources.scratch, "upload") as folder:
        paths = [folder / str(number) for number in range(len(files))]
        received = []
        for number, file in enumerate(files):
            at = where if len(files) == 1 else [*where, str(number)]
            received.append(await _look_at(ctx, at, file, paths[number], extensions))
        if excess := excess_of(ctx.settings, [sheet for receipt in received for sheet in receipt.sheets]):
            raise excess.problem.at(where, excess.hint)
        blobs = sorted({receipt.key: path for receipt, path in zip(received, paths, strict=True)}.items())
        sizes = {key: await put_blob(ctx, path, key) for key, path in blobs}
        room = await store.lock_room(ctx)
        check(room)
        _check_size(ctx, where, room, size_bytes)
        for key, blob_bytes in sizes.items():
            await count_blob(ctx, key, blob_bytes)
    return received


async def _look_at(ctx: Context, where: list[str], file: Upload, path: Path, extensions: Extensions) -> Receipt:
    try:
        check_file_name(file.file_name, extensions)  # before 100 MB are copied
    except InvalidFormat as refusal:
        others = OTHER_FORMATS if extensions == WORKBOOK_EXTENSIONS else ""
        raise schema.InvalidFile.at(where, refusal.hint + others) from None
    try:
        return await ctx.resources.probes(
            ctx.tenant_key,
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


def _take(upload: Upload, path: Path, *, keeps_all: bool, **bounds: Unpack[Bounds]) -> Receipt:
    """Copy an upload to a file and probe it; `keeps_all` takes any."""
    digest = hashlib.sha256()
    with path.open("wb") as file:
        while chunk := upload.file.read(COPY_BYTES):
            digest.update(chunk)
            file.write(chunk)
    kind = file_kind(path)
    if kind not in WORKBOOK_KINDS:
        if keeps_all:
            return Receipt(digest.hexdigest(), ())
        raise InvalidFormat(NO_WORKBOOKS[kind] + OTHER_FORMATS)
    return Receipt(digest.hexdigest(), probe(path, file_name=upload.file_name, **bounds).sheets)


def _check_size(ctx: Context, where: list[str], room: Room, size_bytes: int) -> None:
    """Refuse an upload beyond the limits of size and storage."""
    settings = ctx.settings
    most_mb = min(settings.max_upload_mb, room.max_workbook_size_mb or settings.max_upload_mb)
    if size_bytes > most_mb * MEGABYTE:
        raise schema.FileTooLarge.at(where, f"The upload has {size_bytes:,} bytes; the limit is {most_mb} MB.")
    check_storage(settings, where, room, size_bytes)


def check_storage(settings: Settings, where: list[str], room: Room, size_bytes: int = 0) -> None:
    """Ask whether so much more may be stored.

    Raises:
        StorageLimitExceeded: it is more than the tenant may keep.
    """
    most_gb = settings.max_storage_gb.of(room.tier)
    if 0 <= most_gb * GIGABYTE < room.storage_bytes + size_bytes:
        raise schema.StorageLimitExceeded.at(where, f"The limit is {most_gb} GB of stored files.")


class Excess(NamedTuple):
    """What passes a limit, and how it is refused."""

    problem: type[Problem]
    hint: str


def excess_of(settings: Settings, sheets: Sequence[SheetProbe | SheetRecord]) -> Excess | None:
    """Return what passes the deployment's own lower limits."""
    if len(sheets) > settings.max_sheets:
        return Excess(schema.TooManySheets, f"The upload has {len(sheets)} sheets; the limit is {settings.max_sheets}.")
    for sheet in sheets:
        if sheet.row_count > settings.max_sheet_rows:
            hint = f"Sheet {sheet.name!r} has {sheet.row_count:,} rows; the limit is {settings.max_sheet_rows:,}."
            return Excess(schema.ParseError, hint)
        most = settings.max_sheet_columns
        if sheet.column_count > most:
            hint = f"Sheet {sheet.name!r} has {sheet.column_count:,} columns; the limit is {most:,}."
            return Excess(schema.ParseError, hint)
    return None
