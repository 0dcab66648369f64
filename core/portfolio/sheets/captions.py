"""Give columns the captions of a table of user fields: "UserFlag1"."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from core.grid.column import Text, frozen
from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells.string_pool import key
from core.portfolio.cells.text_cells import pool_of
from core.portfolio.sheets.titles import first_line

ROWS_MAX: Final = 1_000
"""Rows of a sheet that can be a table of captions."""

COLUMNS_MAX: Final = 12
"""Columns of it."""

HEADER_ROWS: Final = 5
"""Rows of it in which its header stands."""

CAPTION_LENGTH_MAX: Final = 80
"""Characters of a caption; a longer text explains."""

_FIELDS: Final = frozenset(("field", "field name", "user field", "column", "column name", "field code", "userfield"))
_CAPTIONS: Final = frozenset(
    ("caption", "label", "display name", "user label", "field caption", "heading", "field label")
)
_TABLES: Final = frozenset(("table", "table name", "view", "extract", "dataset"))

Captions = dict[tuple[str, str], str]
"""Table ("" for any) and field -> caption."""


def with_captions(book: Workbook) -> list[Sheet]:
    """List a book's sheets with headings of user fields as their captions."""
    captions: Captions = {}
    for sheet in book.sheets:
        if sheet.row_count <= ROWS_MAX and 2 <= sheet.column_count <= COLUMNS_MAX:
            captions |= dict(_captions(sheet))
    if captions and any(len(sheet.page_lines) for sheet in book.sheets):
        captions = _of_pages(captions, book)
    return [_with(sheet, captions) for sheet in book.sheets] if captions else list(book.sheets)


def _of_pages(captions: Captions, book: Workbook) -> Captions:
    """Return the captions for any sheet, where no page prints their table's name."""
    tables = {table for table, _ in captions}
    if len(tables) > 1 or any(tables & set(_names(sheet)) for sheet in book.sheets):
        return captions
    return {("", field): caption for (_, field), caption in captions.items()}


def _names(sheet: Sheet) -> tuple[str, ...]:
    """List the names by which a table of captions may call a sheet."""
    return "", key(sheet.name), key(first_line(sheet))


def _captions(sheet: Sheet) -> Iterator[tuple[tuple[str, str], str]]:
    """List what a sheet says if it is a table of captions."""
    for row in range(min(sheet.row_count, HEADER_ROWS)):
        names = {column: key(text) for column in range(sheet.column_count) if (text := _text(sheet, row, column))}
        fields, captions, tables = (
            [column for column, name in names.items() if name in known] for known in (_FIELDS, _CAPTIONS, _TABLES)
        )
        if len(fields) != 1 or len(captions) != 1:
            continue
        for below in range(row + 1, sheet.row_count):
            field, caption = _text(sheet, below, fields[0]), _text(sheet, below, captions[0])
            table = _text(sheet, below, tables[0]) if tables else ""
            if field and caption and len(caption) <= CAPTION_LENGTH_MAX:
                yield (key(table), field), caption
        return


def _text(sheet: Sheet, row: int, column: int) -> str:
    value = sheet.value(row, column)
    return value.strip() if isinstance(value, str) else ""


def _with(sheet: Sheet, captions: Captions) -> Sheet:
    """Put captions in place of the fields that a sheet has as texts."""
    names = _names(sheet)
    own = {field: caption for (table, field), caption in captions.items() if table in names}
    if not own or any(_is_table(sheet, row) for row in range(min(sheet.row_count, HEADER_ROWS))):
        return sheet
    sizes = np.diff(sheet.text.offsets)
    lengths = {len(field.encode()) for field in own}
    codes = np.flatnonzero(np.isin(sizes, list(lengths)))
    replacements = {int(code): own[text] for code in codes if (text := sheet.text[int(code)]) in own}
    return replace(sheet, text=_replace_strings(sheet.text, replacements)) if replacements else sheet


def _is_table(sheet: Sheet, row: int) -> bool:
    """Return whether a row is the header of a table of captions."""
    names = {key(_text(sheet, row, column)) for column in range(min(sheet.column_count, COLUMNS_MAX))}
    return bool(names & _FIELDS) and bool(names & _CAPTIONS)


def _replace_strings(text: Text, captions: dict[int, str]) -> Text:
    """Give a pool other strings for some codes."""
    pieces, sizes, at = [], np.diff(text.offsets), 0
    for code in sorted(captions):
        _, own = pool_of([captions[code]])
        pieces += [text.data[text.offsets[at] : text.offsets[code]], own.data]
        sizes[code] = len(own.data)
        at = code + 1
    pieces.append(text.data[text.offsets[at] :])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))
    return Text(frozen(offsets), frozen(np.concatenate(pieces)))
