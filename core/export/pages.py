"""Sheets as tables on pages.

Which columns go side by side, what each cell shows, and a first page on their source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.export.order import ExportOrder, Provenance
from core.formula.values import format_value
from core.grid.address import column_name
from core.grid.column import Column
from core.grid.sheet import Sheet, Workbook
from core.portfolio.sheets.headings import header
from core.typeset.pdf import Typeset, typeset
from core.typeset.texts import TEXT_MAX, breakable, plain_text
from core.values import ERRORS, Kind
from core.words import counted

CELLS_MAX: Final = 50_000
"""Cells of all sheets that are set, with the rows' numbers: about 200 pages, which take Typst 4 s and 0.8 GB. The rows
beyond are left out with a warning."""

TAGGED_CELLS_MAX: Final = 20_000
"""Cells up to which the pages are tagged: tags of 20,000 are 7 MB of the file, which has 0.3 MB without them."""

COLUMNS_MAX: Final = 400
"""Columns of a sheet that are set, likewise."""

LINE_CHARACTERS: Final = 196
"""Characters that stand side by side on a page, at the size of the tables."""

WIDE: Final = 0.6
"""Share of a line from which a table takes the whole page."""

CELL_CHARACTERS: Final = (5, 30)
"""Least and greatest width of a column; what is longer is broken into lines."""

GAP_CHARACTERS: Final = 2
"""Around the text of a cell."""

CELL_TEXT: Final = 40
"""Characters of a cell that count as one cell of `CELLS_MAX`, so that long texts do not take longer."""

WORD_MAX: Final = 12
"""Letters of a word that is kept whole; a longer one may break, so that it does not run out of a narrow cell."""

REDACTED_MAX: Final = 200
"""Lines of redacted columns that are set; the export's record has all of them."""

_TEMPLATE: Final = Path(__file__).with_name("tables.typ")


def set_pages(
    book: Workbook,
    order: ExportOrder,
    provenance: Provenance,
    redacted: Mapping[str, Mapping[str, int]],
    warnings: Sequence[str],
) -> tuple[Typeset, list[str]]:
    """Return the chosen sheets as a PDF, and what it does not show."""
    content, remarks, cells = contents(book, order, provenance, redacted, warnings)
    document = typeset(_TEMPLATE, content, created=order.created, tagged=cells <= TAGGED_CELLS_MAX)
    if document.remark is not None:
        remarks.append(document.remark)
    return document, remarks


def contents(
    book: Workbook,
    order: ExportOrder,
    provenance: Provenance,
    redacted: Mapping[str, Mapping[str, int]],
    warnings: Sequence[str],
) -> tuple[dict[str, Any], list[str], int]:
    """Return the template's data, which sheets are not whole, and how many cells are set."""
    sheets, remarks = [], []
    cells = 0
    sizes = [_size(sheet) for sheet in book.sheets]
    for sheet, room in zip(book.sheets, shared_out(CELLS_MAX, sizes), strict=True):
        shown = _sheet(sheet, book, room)
        cells += shown.pop("cells")
        sheets.append(shown)
        if shown["cut"]:
            remarks.append(f"Sheet {sheet.name!r} is not whole in the PDF: {shown['cut']}.")
    lineage = order.lineage
    content = {
        "title": lineage.workbook_name,
        "facts": list(_facts(order, provenance)),
        "compliance": [
            {
                "name": row.label, "value": _figure(row.value), "limit": _figure(row.limit),
                "direction": row.threshold_type, "cushion": _figure(row.cushion), "status": row.status,
                "published": _figure(row.published), "difference": _figure(row.difference), "doubtful": row.doubtful,
                "doubts": list(row.doubts),
            }
            for row in order.compliance
        ],
        "redacted": _redaction_rows(redacted),
        "sanitized": order.options.sanitize_pii,
        "warnings": [*lineage.warnings, *warnings, *remarks],
        "sheets": sheets,
        "export_id": order.export_id,
    }  # fmt: skip
    return content, remarks, cells


def _redaction_rows(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, str]]:
    """Return column, kind and cells of what was redacted."""
    lines = [
        (column, kind.replace("_", " "), f"{count:,}")
        for kind, columns in counts.items()
        for column, count in columns.items()
    ]
    left = len(lines) - REDACTED_MAX
    return lines if left <= 0 else [*lines[:REDACTED_MAX], (f"and {counted(left, 'column')} more", "", "")]


def shared_out(room: int, sizes: Sequence[int]) -> list[int]:
    """Return how much of `room` each size gets.

    One below an even share all of itself, so that none yields to a large one.
    """
    shares = [0] * len(sizes)
    for count, at in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[at] = min(sizes[at], room // (len(sizes) - count))
        room -= shares[at]
    return shares


def _facts(order: ExportOrder, provenance: Provenance) -> Iterator[tuple[str, str]]:
    lineage = order.lineage
    as_of = (
        f"{lineage.as_of}" + (f" ({lineage.as_of_source})" if lineage.as_of_source else "") if lineage.as_of else None
    )
    for name, fact in (
        ("As of", as_of),
        ("Source file", lineage.file_name),
        ("Source hash", provenance.source_hash),
        ("Uploaded", _moment(lineage.uploaded_at)),
        ("Mapping", lineage.mapping),
        ("Definition", lineage.definition),
        ("Compliance run", lineage.run_id),
        ("Export", order.export_id),
        ("Created", _moment(order.created)),
        ("Data hash", f"{provenance.data_hash} ({provenance.manifest_version}, {provenance.hash_scope})"),
    ):
        if fact is not None:
            yield name, fact


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else f"{moment:%Y-%m-%d %H:%M %Z}"


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _sheet(sheet: Sheet, book: Workbook, room: int) -> dict[str, Any]:
    """Return a sheet's parts.

    Columns that fit side by side, each part with the row's number and the first column again.
    """
    head = header.detect(sheet)
    width = min(sheet.column_count, COLUMNS_MAX)
    shown_rows = min(sheet.row_count, room // (width + 1))
    columns = [_texts(sheet, column, shown_rows, book) for column in sheet.columns[:width]]
    shown_rows = _rows_within(columns, room, shown_rows)
    cut = []
    if shown_rows < sheet.row_count:
        cut.append(f"{shown_rows:,} of {counted(sheet.row_count, 'row')}")
    if width < sheet.column_count:
        cut.append(f"{width:,} of {counted(sheet.column_count, 'column')}")
    first_row = min(head.first_row, shown_rows)
    heads = [breakable(plain_text(name), WORD_MAX) for name in head.names[:width]]
    widths = [_width(texts, head.names[at]) for at, texts in enumerate(columns)]
    rows = [
        row
        for row in range(shown_rows)
        if row != head.row and any(texts[row] for texts in columns)  # rows without a cell are not set
    ]
    parts = [
        {
            "heads": [heads[at] for at in group],
            "letters": [column_name(at) for at in group],
            "widths": [widths[at] for at in group],
            "right": [_is_figures(sheet.columns[at], first_row) for at in group],
            "wide": sum(widths[at] + GAP_CHARACTERS for at in group) > LINE_CHARACTERS * WIDE,
            "rows": [[str(row + 1), *(breakable(columns[at][row], WORD_MAX) for at in group)] for row in rows],
        }
        for group in _groups(widths)
    ]
    return {
        "name": sheet.name,
        "state": sheet.state,
        "size": f"{counted(sheet.row_count, 'row')}, {counted(sheet.column_count, 'column')}",
        "cut": ", ".join(cut),
        "parts": parts if rows else [],
        "cells": len(rows) * (width + 1),
    }


def _size(sheet: Sheet) -> int:
    """Return the cells that a sheet takes, the row's number among them.

    One more for each `CELL_TEXT` characters of a text.
    """
    columns = sheet.columns[:COLUMNS_MAX]
    size = sheet.row_count * (len(columns) + 1)
    longer = np.minimum(np.diff(sheet.text.offsets), TEXT_MAX) // CELL_TEXT
    for column in columns:
        if column is not None:
            codes = column.dense.codes
            size += int(longer[codes[codes >= 0]].sum())
    return size


def _rows_within(columns: Sequence[Sequence[str]], room: int, rows: int) -> int:
    """Return how many of the rows take no more than `room` cells, counted as in `_size`."""
    used = 0
    for row in range(rows):
        used += 1 + sum(1 + len(texts[row]) // CELL_TEXT for texts in columns)
        if used > room:
            return row
    return rows


def _groups(widths: Sequence[int]) -> list[list[int]]:
    """Return columns by part, the first of all at the head of each."""
    if not widths:
        return []
    groups = [[0]]
    room = LINE_CHARACTERS - widths[0] - GAP_CHARACTERS
    left = room
    for at, width in enumerate(widths[1:], 1):
        if left < width + GAP_CHARACTERS and len(groups[-1]) > 1:
            groups.append([0])
            left = room
        groups[-1].append(at)
        left -= width + GAP_CHARACTERS
    return groups


def _width(texts: Sequence[str], name: str) -> int:
    """Return characters of a column.

    What nine of ten of its cells need, and its name on two lines.
    """
    lengths = sorted(len(text) for text in texts if text)
    usual = lengths[len(lengths) * 9 // 10] if lengths else 0
    words = max((len(word) for word in name.split()), default=0)
    least, most = CELL_CHARACTERS
    return max(least, min(most, max(usual, (len(name) + 1) // 2, min(words, 12)) + 1))


def _texts(sheet: Sheet, column: Column | None, rows: int, book: Workbook) -> list[str]:
    """Return what the cells of a column show, as their number formats have it."""
    if column is None:
        return [""] * rows
    span = column.span(0, rows)
    texts = [""] * rows
    for row in np.flatnonzero(span.kinds != Kind.BLANK).tolist():
        value = _value(sheet, span, row)
        if isinstance(value, str):
            texts[row] = plain_text(value)
        else:
            shown = format_value(value, book.number_formats[span.formats[row]], book.date_1904)
            texts[row] = plain_text(shown if isinstance(shown, str) else repr(value))
    return texts


def _value(sheet: Sheet, span: Column, row: int) -> float | str | bool:
    kind = span.kinds[row]
    if kind == Kind.TEXT:
        return sheet.text[int(span.codes[row])]
    if kind == Kind.BOOLEAN:
        return bool(span.numbers[row])
    return ERRORS[int(span.numbers[row])] if kind == Kind.ERROR else float(span.numbers[row])


def _is_figures(column: Column | None, first_row: int) -> bool:
    if column is None:
        return False
    kinds = column.dense.kinds[column.begin(first_row) :]
    filled = int(np.count_nonzero(kinds != Kind.BLANK))
    return 2 * int(np.count_nonzero((kinds == Kind.NUMBER) | (kinds == Kind.DATE))) > filled
