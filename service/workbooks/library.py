"""Parsed workbooks as mapped columns; the recently used ones stay open, and whoever reads shares one mapping."""

from __future__ import annotations

from typing import NamedTuple

from core.grid.codec import Manifest, open_workbook
from core.grid.sheet import Workbook
from service.platform.context import Unit
from service.platform.shelf import Shelf
from service.workbooks import store
from service.workbooks.schema import WorkbookNotReady, WorkbookRow


async def open_book(unit: Unit, row: WorkbookRow) -> Workbook:
    """The columns of a workbook, mapped read-only.

    Raises:
        WorkbookNotReady: it is not parsed, or something changes it.
    """
    if row.status != "ready" or row.book_key is None:
        raise WorkbookNotReady
    shelf: Shelf[Workbook] = vars(unit.resources).setdefault("workbook_shelf", Shelf(unit.settings.mapped_workbooks))
    book = shelf.get(row.book_key)
    if book is None:
        manifest = Manifest.from_json(await store.book(unit, row.id))
        paths = [await unit.resources.blobs.path(record.file) for record in manifest.sheets]
        book = await unit.resources.compute(open_workbook, manifest, paths)
        shelf.keep(row.book_key, book)
    return book


class StoredBook(NamedTuple):
    """What another process opens a workbook from."""

    key: str
    manifest: str
    paths: tuple[str, ...]


async def stored_book(unit: Unit, row: WorkbookRow) -> StoredBook:
    """Where the columns of a workbook are.

    Raises:
        WorkbookNotReady: as `open_book`.
    """
    if row.status != "ready" or row.book_key is None:
        raise WorkbookNotReady
    shelf: Shelf[str] = vars(unit.resources).setdefault("manifest_shelf", Shelf(unit.settings.mapped_workbooks))
    manifest = shelf.get(row.book_key)
    if manifest is None:
        manifest = await store.book(unit, row.id)
        shelf.keep(row.book_key, manifest)
    paths = [str(await unit.resources.blobs.path(record.file)) for record in Manifest.from_json(manifest).sheets]
    return StoredBook(row.book_key, manifest, tuple(paths))
