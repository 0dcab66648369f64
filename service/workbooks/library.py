"""Parsed workbooks as mapped columns; the recently used ones stay open, and whoever reads shares one mapping."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

from core.grid.codec import Manifest, open_workbook
from core.grid.sheet import Workbook
from core.recalc.book import Book
from service.platform.context import Unit
from service.workbooks import store
from service.workbooks.schema import WorkbookNotReady, WorkbookRow

T = TypeVar("T")


class Calculating:
    """A workbook with what it takes to evaluate formulas over its cells; one thread at a time."""

    def __init__(self, workbook: Workbook) -> None:
        self.book = Book(workbook)
        self.lock = Lock()


class Shelf(Generic[T]):
    """Opened workbooks by `book_key`, the least recently used first out; of one event loop, so nothing is locked.

    The key is a hash of what the stored columns are made of, blobs included, so an entry never grows stale, and two
    tenants share one only where both uploaded the same file.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._books: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str) -> T | None:
        """The opened workbook, if it is still here."""
        if key in self._books:
            self._books.move_to_end(key)
        return self._books.get(key)

    def keep(self, key: str, book: T) -> None:
        """Remember an opened workbook; the one that was not used for longest goes past the bound."""
        self._books[key] = book
        self._books.move_to_end(key)
        while len(self._books) > self._most:
            self._books.popitem(last=False)

    def __len__(self) -> int:
        return len(self._books)


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


async def open_calculating(unit: Unit, row: WorkbookRow) -> Calculating:
    """The same workbook, ready to have formulas evaluated over its cells as they were last calculated.

    Raises:
        WorkbookNotReady: as `open_book`.
    """
    book = await open_book(unit, row)
    assert row.book_key is not None
    shelf: Shelf[Calculating] = vars(unit.resources).setdefault(
        "calculating_shelf", Shelf(unit.settings.calculating_workbooks)
    )
    found = shelf.get(row.book_key)
    if found is None:
        found = Calculating(book)
        shelf.keep(row.book_key, found)
    return found
