"""Where cells stand, as people read it.

A place is 'Tests'!C7, and of a document with pages 'Tests'!C7 (page 3, line 12).
"""

from __future__ import annotations

import re
from typing import Final

from core.grid.address import cell_name, range_name
from core.grid.sheet import Sheet
from core.grid.sheet_name import in_quotes

_PAGES: Final = re.compile(r" \(page(?:s [0-9]+ to [0-9]+| [0-9]+, line(?: [0-9]+|s [0-9]+ to [0-9]+))\)$")
_SEVERAL: Final = re.compile(r"(?<=[0-9)]), (?='(?!'))")


def cell_place(sheet: Sheet, row: int, column: int) -> str:
    """Return where a cell stands: its sheet and name, then its page and line."""
    return f"{in_quotes(sheet.name)}!{cell_name(row, column)}{pages_of(sheet, row, row)}"


def range_place(sheet: Sheet, first_row: int, first_column: int, last_row: int, last_column: int) -> str:
    """Return where a range stands, corners included, and its pages."""
    area = range_name(first_row, first_column, last_row, last_column)
    return f"{in_quotes(sheet.name)}!{area}{pages_of(sheet, first_row, last_row)}"


def pages_of(sheet: Sheet, first_row: int, last_row: int) -> str:
    """Return the pages of some rows as a place ends with them; "" without pages."""
    first, last = sheet.page_line(first_row), sheet.page_line(last_row)
    if first is None or last is None:
        return ""
    if first == last:
        return page_words(*first)
    if first[0] == last[0]:
        return f" (page {first[0]}, lines {first[1]} to {last[1]})"
    return f" (pages {first[0]} to {last[0]})"


def page_words(page: int, line: int) -> str:
    """Return page and line as a place ends with them."""
    return f" (page {page}, line {line})"


def pages_part(place: str) -> str:
    """Return page and line of a place: "page 3, line 12"; "" where it has none."""
    return place.removeprefix(without_pages(place)).strip(" ()")


def without_pages(place: str) -> str:
    """Return a place as a spreadsheet names it: what `pages_of` adds is left out."""
    return _PAGES.sub("", place) if place.endswith(")") else place


def first_place(places: str) -> str:
    """Return the first of several places that are joined by commas."""
    return _SEVERAL.split(places, maxsplit=1)[0]


def sheet_part(place: str) -> str:
    """Return the sheet's name of a place, in its quotes."""
    return without_pages(place).rpartition("!")[0]


def column_part(place: str) -> str:
    """Return a place without its row: of 'Tests'!C7 it is 'Tests'!C."""
    return without_pages(place).rstrip("0123456789")


def row_place(place: str, row: int, pages: str = "") -> str | None:
    """Return the cell of a 0-based row in the first column of a range, or None."""
    sheet, _, area = without_pages(place).rpartition("!")
    letters = area.partition(":")[0].rstrip("0123456789")
    return f"{sheet}!{letters}{row + 1}{pages}" if letters else None
