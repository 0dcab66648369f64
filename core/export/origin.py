"""The sheet Pages of an export.

It says on which page and line of a document each row of the exported sheets stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from core.files.write import Formats
from core.files.write.rows import Writable, sheet_of
from core.grid.address import ROWS_MAX
from core.grid.sheet import Sheet
from core.grid.sheet_name import free_name

NAME: Final = "Pages"
HEADER: Final = ("Sheet", "Row", "Page", "Line")


def pages_sheet(sheets: Sequence[Sheet]) -> Sheet | None:
    """Return page and line of each row of some sheets.

    None where none of them has pages. Sheets have the names under which they are exported, and the
    first million rows are listed.
    """
    if not any(len(sheet.page_lines) for sheet in sheets):
        return None
    taken: set[str] = set()
    names = [free_name(sheet.name, taken) for sheet in sheets]
    rows = islice(_rows(names, sheets), ROWS_MAX - 1)
    return sheet_of(
        (HEADER, *rows), Formats(), name=free_name(NAME, taken | {sheet.name.casefold() for sheet in sheets})
    )


def _rows(names: Sequence[str], sheets: Sequence[Sheet]) -> Iterator[Sequence[Writable]]:
    for name, sheet in zip(names, sheets, strict=True):
        for row, (page, line) in enumerate(sheet.page_lines.tolist(), 1):
            yield name, row, page, line
