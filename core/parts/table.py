"""The parts of a figure as CSV, of which no spreadsheet runs a cell."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

from core.parts.content import FigureParts

FIRST: Final = ("kind", "name", "place", "row", "amount")
"""Columns before those that the parts of this figure have."""

PAGES: Final = ("page", "line")
"""Columns behind `row` where the file has pages."""

_RUNS: Final = ("=", "+", "-", "@", "\t", "\r")
"""Characters at which a spreadsheet takes a text for a formula."""


def parts_csv(parts: FigureParts) -> str:
    """Return a header and a row for each part.

    A text that a spreadsheet would run has an apostrophe before it.
    """
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\r\n")
    pages = PAGES if any(item.page is not None for item in parts.items) else ()
    rows.writerow((*FIRST[:-1], *pages, FIRST[-1], *parts.columns))
    for item in parts.items:
        place = (item.kind, item.name, item.place, item.row, *(getattr(item, name) for name in pages))
        rows.writerow(map(_cell, (*place, item.amount, *map(item.fields.get, parts.columns))))
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_RUNS):
        return f"'{value}"
    return value
