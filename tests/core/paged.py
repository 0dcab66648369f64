"""Workbooks as a document with pages gives them, so that these tests depend on no reader of documents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.grid.sheet import Sheet, Workbook

LINES = 10
"""Lines of a page of these documents; the first three are a running header."""
ABOVE = 3


def paged(sheet: Sheet) -> Sheet:
    """The sheet with page and line of each row: seven rows on each page, below its running header."""
    rows = np.arange(sheet.row_count)
    pages, lines = rows // (LINES - ABOVE) + 1, rows % (LINES - ABOVE) + ABOVE + 1
    return replace(sheet, page_lines=np.stack((pages, lines), axis=1).astype(np.int32))


def paged_book(book: Workbook) -> Workbook:
    return replace(book, sheets=tuple(map(paged, book.sheets)))
