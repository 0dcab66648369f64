"""What was opened lately stays open, within a bound."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

T = TypeVar("T")


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
