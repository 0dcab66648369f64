"""Part a sheet with tables below or beside each other, each with its header."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.address import column_name
from core.grid.column import Column
from core.grid.sheet import Sheet, Workbook, no_formulas
from core.portfolio.cells.string_pool import BLANK, ERROR, TEXT, decode, key
from core.portfolio.model.fields import Mapping
from core.portfolio.model.notes import DataWarning
from core.portfolio.sheets.headings.match import HeaderMatch
from core.portfolio.sheets.headings.matcher import matcher
from core.portfolio.sheets.headings.sides import continued_blocks, strangers_beside
from core.portfolio.sheets.located import LocatedTable
from core.words import agreed, counted

ROWS_MAX: Final = 20_000
"""Rows of a sheet that is looked at; a longer one is a plain list."""

COLUMNS_MAX: Final = 200
"""Columns of it."""

TABLES_MAX: Final = 60
"""Tables of a sheet; what stands below is part of the last."""

HEADER_CELLS_MIN: Final = 3
"""Texts of a row that can be a header."""

VALUES_BELOW: Final = 2
"""Rows below a header in which a figure must stand."""

TITLE_ROWS: Final = 6
"""Rows above a header that belong to its table: titles, blank rows, groups of columns."""

FIGURE_LENGTH_MAX: Final = 24
"""Characters of a text that can be a figure or a day."""

_FIGURE: Final = re.compile(
    r"[(+\-]?[$€£]?[(+\-]?\d[\d,.' ]*(?:%|bps|x)?\)?-?"
    r"|\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})[-/. ]\d{2,4}|(?:LX|US|XS)\w{6,12}"
)
"""A text that stands for a figure, a day or an identifier."""


def split_tables(book: Workbook, of_loans: int | None = None) -> Workbook | None:
    """Part a sheet into its tables, each as a sheet of the same name.

    It is the one with cells, or of several the one with the loans; None where there is none, or it has one table.

    Args:
        of_loans: the index of the sheet with the loans.
    """
    filled = [sheet for sheet in book.sheets if sheet.row_count]
    if len(filled) != 1:
        filled = [sheet for sheet in filled if sheet.index == of_loans]
    if not filled or filled[0].row_count > ROWS_MAX or filled[0].column_count > COLUMNS_MAX:
        return None
    sheet = filled[0]
    starts = _starts(sheet) if _may_be_stacked(sheet) else []
    if len(starts) < 2:
        return None
    ends = [*starts[1:], sheet.row_count]
    parts = [_part(sheet, at, low, high) for at, (low, high) in enumerate(zip(starts, ends, strict=True))]
    others = [neighbour for neighbour in book.sheets if neighbour is not sheet and neighbour.row_count]
    return _with_sheets(book, [*parts, *others])


def split_sides(book: Workbook, loans: LocatedTable | None) -> Workbook | None:
    """Part a sheet of loans whose list goes on to the side, under its header again.

    Each part is a sheet of the same name, with its cells in place. None where the list does not go on.
    """
    if loans is None:
        return None
    sheet, header = book.sheets[loans.sheet.index], loans.header
    targets: dict[int, frozenset[str]] = {}
    for target, columns in header.columns.items():
        targets |= {column: targets.get(column, frozenset()) | {target} for column in columns}
    blocks = continued_blocks(sheet, targets, header.texts, header.top)
    if not blocks:
        return None
    again = frozenset(column for block in blocks for column in block) - frozenset(blocks[0])
    parts = [_without(sheet, again, header.top)]
    parts += [_only(sheet, frozenset(block), header.top) for block in blocks[1:]]
    others = [neighbour for neighbour in book.sheets if neighbour is not sheet]
    return _with_sheets(book, [*parts, *others])


def lists_beside(sheet: Sheet, header: HeaderMatch, mapping: Mapping) -> list[DataWarning]:
    """Warn of lists beside the loans that are not read: their borrowers are others."""
    aliases, own = matcher(mapping), header.columns.get("borrower_name")
    feeds = {
        column: {target for target, _, _ in (aliases.options(text) or aliases.by_words(text))}
        for column, text in header.texts.items()
        if column in header.beside
    }
    data_warnings: list[DataWarning] = []
    for column in sorted(feeds) if own else ():
        if "borrower_name" not in feeds[column] or not any("par_value" in feeds[at] for at in feeds if at > column):
            continue
        count = strangers_beside(sheet, own[0], column, header.row + 1) if own else 0
        if count:
            message = (
                f"A list beside the loans of sheet {sheet.name!r} (from column {column_name(column)}) is not read: "
                f"{counted(count, 'borrower')} of it {agreed(count, 'has/have')} no loan there."
            )
            data_warnings.append(DataWarning("list_left_out", message, count))
    return data_warnings


def _without(sheet: Sheet, columns: Container[int], top: int) -> Sheet:
    """Return a sheet without some columns from a row down."""
    parts = tuple(
        column if column is None or at not in columns else _rows(column, 0, top)
        for at, column in enumerate(sheet.columns)
    )
    return replace(sheet, columns=parts)


def _only(sheet: Sheet, columns: Container[int], top: int) -> Sheet:
    """Return some columns of a sheet from a row down."""
    parts = tuple(
        _rows(column, top, sheet.row_count) if column is not None and at in columns else None
        for at, column in enumerate(sheet.columns)
    )
    return replace(sheet, columns=parts, formulas=no_formulas())


def _with_sheets(book: Workbook, sheets: Iterable[Sheet]) -> Workbook:
    """Return a workbook of other sheets, which are numbered anew."""
    numbered = tuple(replace(sheet, index=at) for at, sheet in enumerate(sheets))
    return Workbook(**{field.name: getattr(book, field.name) for field in fields(Workbook)} | {"sheets": numbered})


def _may_be_stacked(sheet: Sheet) -> bool:
    """Return whether several rows have texts and no figure, as headers do."""
    texts, values = np.zeros(sheet.row_count, np.int32), np.zeros(sheet.row_count, np.bool_)
    for column in sheet.columns:
        if column is not None:
            part = column.span(column.start, column.stop)
            at = slice(part.start, part.stop)
            texts[at] += part.kinds == TEXT
            values[at] |= (part.kinds != TEXT) & (part.kinds != BLANK)
    return int(np.count_nonzero((texts >= HEADER_CELLS_MIN) & ~values)) > 1


def _part(sheet: Sheet, at: int, low: int, high: int) -> Sheet:
    """Return rows of a sheet, in their places."""
    columns = tuple(None if column is None else _rows(column, low, high) for column in sheet.columns)
    formulas = sheet.formulas if at == 0 else no_formulas()
    return replace(sheet, index=at, columns=columns, row_count=high, formulas=formulas)


def _rows(column: Column, low: int, high: int) -> Column | None:
    first, last = max(low, column.start), min(high, column.stop)
    return column.span(first, last) if first < last else None


def _starts(sheet: Sheet) -> list[int]:
    """List the first row of each table, its title included; 0 is the first."""
    filled, figures = _counts(sheet)
    starts, known = [0], set[tuple[str, ...]]()
    is_first = True
    for row in _headers(filled, figures):
        names = _names(sheet, row)
        if names in known:
            continue
        known.add(names)
        if not is_first and len(starts) < TABLES_MAX:
            starts.append(_top(row, filled, figures, starts[-1]))
        is_first = False
    return starts


def _counts(sheet: Sheet) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Count each row's filled cells, and those with a figure, day or identifier."""
    filled, figures = np.zeros(sheet.row_count, np.int32), np.zeros(sheet.row_count, np.int32)
    stands_for_figure = _figure_codes(sheet)
    for column in sheet.columns:
        if column is None:
            continue
        part = column.span(column.start, column.stop)
        at = slice(part.start, part.stop)
        is_text = part.kinds == TEXT
        filled[at] += (part.kinds != BLANK) & (part.kinds != ERROR)
        figures[at] += np.where(is_text, stands_for_figure[part.codes], (part.kinds != BLANK) & (part.kinds != ERROR))
    return filled, figures


def _figure_codes(sheet: Sheet) -> NDArray[np.bool_]:
    """Return whether each string stands for a figure; False at the end."""
    sizes = np.diff(sheet.text.offsets)
    is_figure = np.zeros(len(sizes) + 1, np.bool_)
    short = np.flatnonzero(sizes <= FIGURE_LENGTH_MAX)
    texts = decode(sheet.text, short)
    is_figure[short] = [_FIGURE.fullmatch(text.strip()) is not None for text in texts]
    return is_figure


def _headers(filled: NDArray[np.int32], figures: NDArray[np.int32]) -> list[int]:
    """List rows that can be a header's lowest: texts, with figures below."""
    is_text = (filled >= HEADER_CELLS_MIN) & (figures == 0)
    rows = []
    for row in np.flatnonzero(is_text).tolist():
        below = slice(row + 1, row + 1 + VALUES_BELOW)
        if is_text[row + 1 : row + 2].any() or not filled[row + 1 : row + 2].any() or not figures[below].any():
            continue
        first = row
        while first and is_text[first - 1]:
            first -= 1
        if not first or filled[first - 1] <= 1:
            rows.append(row)
    return rows


def _names(sheet: Sheet, row: int) -> tuple[str, ...]:
    values = (sheet.value(row, column) for column in range(sheet.column_count))
    return tuple(key(value) if isinstance(value, str) else "" for value in values)


def _top(row: int, filled: NDArray[np.int32], figures: NDArray[np.int32], above: int) -> int:
    """Return a table's first row: titles, blank rows and groups above it."""
    top = row
    while top - 1 > above and row - top < TITLE_ROWS and figures[top - 1] == 0:
        if filled[top - 1] >= HEADER_CELLS_MIN and filled[top - 1] >= filled[row]:
            break
        top -= 1
    return top
