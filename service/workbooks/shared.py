"""What workbooks lend.

Records, uploads, and mapped columns; the recently used stay open, and all share them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from uuid import UUID

from core.grid.codec import WorkbookRecord, open_workbook
from core.grid.sheet import Workbook
from core.portfolio.cells.identifiers import is_sound
from core.portfolio.model.fields import Mapping
from service.auth.shared import labels_of
from service.mappings.schema import MappingTooSlow
from service.mappings.shared import mapping_time
from service.platform.base.lru import Lru, bytes_of
from service.platform.base.problem import ValidationFailed
from service.platform.http.files import file_answer
from service.platform.route.api import Raw, Streamed
from service.platform.unit.context import Context, Unit
from service.processes.shared import OutOfMemory, OutOfTime, in_child
from service.workbooks import child
from service.workbooks.schema import ORIGINAL, StorageLimitExceeded, WorkbookNotReady, WorkbookRow, readable_key
from service.workbooks.store import SourceFile, begin_writing, book, check_deal, end_writing, room, sheet, workbooks
from service.workbooks.stored_actions import keep_columns
from service.workbooks.upload_actions import Extensions, WorkbookAbout, check_storage, receive, take_in

get = workbooks.get

__all__ = [
    "Extensions",
    "Parsed",
    "SourceFile",
    "StoredBook",
    "WorkbookAbout",
    "begin_writing",
    "book",
    "check_deal",
    "check_storage",
    "check_stream",
    "detect",
    "end_writing",
    "get",
    "keep_columns",
    "locate_book",
    "open_book",
    "original",
    "receive",
    "room",
    "sheet",
    "take_in",
]

BOOKS_BYTES_MAX: Final = 128 * 1024 * 1024
"""Of all mapped workbooks: their cells are the files', but each column takes a kilobyte beside them."""
DETECTION_TIME: Final = 10
"""How many times as long a workbook may take as a sample of rows: what a run on it has."""
MANIFESTS = 64
"""Kept of so many workbooks, since every run asks for the files that its portfolio came from."""
MANIFESTS_BYTES_MAX: Final = 32 * 1024 * 1024


async def original(ctx: Context, file: SourceFile) -> Streamed:
    """Return an uploaded file as it came, or the requested range.

    Raises:
        Damaged: its bytes are missing, short or altered.
        RangeNotSatisfiable: it ends before the range begins.
    """
    path = await ctx.resources.blobs.path(file.content_hash)
    return file_answer(
        ctx.headers, path, size_bytes=file.file_size, tag=file.content_hash, name=file.file_name, kind=ORIGINAL
    )


def check_stream(ctx: Context, key: str | None) -> None:
    """Refuse a stream key of an unknown scheme or a wrong identifier.

    Raises:
        ValidationFailed: with the reason.
    """
    if key is None:
        return
    _, scheme, written = key.split(":", 2)
    schemes = ctx.settings.stream_key_schemes
    if scheme not in schemes:
        raise ValidationFailed.at(["body", "stream_key"], f"the schemes are {', '.join(schemes)}")
    if not is_sound(scheme, written):
        message = f"{written!r} is no {scheme.upper()}: its signs or its check digits do not fit"
        raise ValidationFailed.at(["body", "stream_key"], message)


class Parsed(Protocol):
    """A workbook as it was read from the database."""

    @property
    def id(self) -> UUID: ...
    @property
    def status(self) -> str: ...
    @property
    def book_key(self) -> str | None: ...


class _Manifest(NamedTuple):
    manifest: str
    keys: list[str]
    """The blobs of its sheets."""


async def open_book(unit: Unit, row: Parsed) -> Workbook:
    """Return the columns of a workbook, mapped read-only.

    Raises:
        WorkbookNotReady, Damaged: as `locate_book`.
    """
    return await open_stored(unit, await locate_book(unit, row))


async def open_stored(unit: Unit, stored: StoredBook) -> Workbook:
    """Return a stored book's columns, mapped read-only."""
    cache: Lru[str, Workbook] = unit.resources.memory.cache(
        "workbooks", most=unit.settings.mapped_workbooks, bytes_most=BOOKS_BYTES_MAX
    )
    cached = cache.get(stored.key)
    if cached is not None:
        return cached
    if not stored.is_there:
        raise unit.resources.blobs.away()
    paths = [Path(path) for path in stored.paths]
    book, size_bytes = await unit.compute(_open, WorkbookRecord.from_json(stored.manifest), paths)
    cache.keep(stored.key, book, size_bytes)
    return book


def _open(manifest: WorkbookRecord, paths: list[Path]) -> tuple[Workbook, int]:
    book = open_workbook(manifest, paths)
    return book, bytes_of(book)


async def detect(ctx: Context, row: WorkbookRow, mapping: Mapping, sheet: str | None = None) -> Raw:
    """Return how a workbook's loans are read, encoded by a child.

    Args:
        sheet: the name of the only sheet to look at.

    Raises:
        WorkbookNotReady, Damaged: as `locate_book`.
        MappingTooSlow: it takes longer, or more memory, than it may.
    """
    day = row.as_of or (await ctx.local_time(row.created_at)).date()
    order = child.DetectionOrder(
        workbook_id=row.id,
        mapping=mapping,
        sheet=sheet,
        day=day,
        day_source="upload" if row.as_of is None else "workbook",
        labels=await labels_of(ctx),
    )
    stored = await locate_book(ctx, row)
    seconds_max = DETECTION_TIME * ctx.settings.mapping_seconds
    if not stored.is_there:
        book = await open_book(ctx, row)
        await ctx.commit()
        return await ctx.compute(_detect_here, book, order, seconds_max)
    await ctx.commit()
    try:
        return await in_child(ctx, seconds_max, child.detection, stored.key, stored.manifest, stored.paths, order)
    except OutOfTime:
        raise MappingTooSlow.at(["path", "workbook_id"], f"the limit is {seconds_max:g} seconds") from None
    except OutOfMemory:
        limit = f"the limit is {ctx.settings.calculator_memory_mb:,} MB of memory"
        raise MappingTooSlow.at(["path", "workbook_id"], limit) from None


def _detect_here(book: Workbook, order: child.DetectionOrder, seconds_max: float) -> Raw:
    with mapping_time(seconds_max):
        return child.detect_in(book, order)


class StoredBook(NamedTuple):
    """What a workbook is opened from, by another process too."""

    key: str
    """Of the columns and of the files that hold them: a file that was replaced is mapped anew."""
    manifest: str
    paths: tuple[str, ...]
    is_there: bool = True
    """False while the files cannot be opened: whoever has opened them before goes on with what they have."""


async def locate_book(unit: Unit, row: Parsed) -> StoredBook:
    """Return where the columns of a workbook are, all of them whole.

    Raises:
        WorkbookNotReady: it is not parsed, or something changes it.
        Damaged: the bytes of a sheet are missing, short or altered.
    """
    book_key = readable_key(row.status, row.book_key)
    if book_key is None:
        raise WorkbookNotReady
    cache: Lru[str, _Manifest] = unit.resources.memory.cache(
        "manifests", most=MANIFESTS, bytes_most=MANIFESTS_BYTES_MAX
    )
    cached = cache.get(book_key)
    if cached is None:
        manifest = await book(unit, row.id)
        if hashlib.sha256(manifest.encode()).hexdigest() != book_key:  # it was changed since the row was read
            raise WorkbookNotReady
        cached = _Manifest(manifest, [record.file for record in WorkbookRecord.from_json(manifest).sheets])
        cache.keep(book_key, cached, bytes_of(cached))
    return await _locate(unit, book_key, cached)


async def locate_columns(unit: Unit, book_key: str, manifest: str) -> StoredBook:
    """Return a manifest's columns, all whole; the workbook may be gone.

    Raises:
        Damaged: the bytes of a sheet are missing, short or altered.
    """
    return await _locate(
        unit, book_key, _Manifest(manifest, [record.file for record in WorkbookRecord.from_json(manifest).sheets])
    )


async def _locate(unit: Unit, book_key: str, manifest: _Manifest) -> StoredBook:
    files = [await unit.resources.blobs.locate(key) for key in manifest.keys]
    key = f"{book_key} {hash(tuple(file.identity for file in files)):x}"
    is_there = all(file.is_there for file in files)
    return StoredBook(key, manifest.manifest, tuple(str(file.path) for file in files), is_there)


def reason_of(refusal: Exception) -> str:
    """Return why a job's result was not stored, with the limit where there is one."""
    if isinstance(refusal, StorageLimitExceeded):
        return f"{refusal.detail}. {refusal.errors[0].message}"
    return str(refusal)
