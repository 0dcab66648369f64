"""A calculated book as plain sheets again.

What the portfolio reader, the codec and the writers take.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.formula.machine import lifts, may_be_array
from core.formula.values import TextPool
from core.grid._cells import mark
from core.grid.address import range_name
from core.grid.column import BLANKS_MAX, Column, GappedColumn, LongerText, Text, column_of, frozen
from core.grid.sheet import Formulas, Sheet
from core.recalc.regions import Region
from core.recalc.store import CellColumn, SheetCells
from core.values import SERIALS_STOP, Kind

if TYPE_CHECKING:
    from core.recalc.engine import Engine


def sheets_of(engine: Engine, changed: Container[int] | None = None) -> tuple[Sheet, ...]:
    """Return the sheets with the values and the formulas that the book has now.

    Nothing is shared with its cells.

    Where it is known which sheets `changed`, by their places, the others are those of the workbook.
    """
    by_sheet: list[list[Region]] = [[] for _ in engine.cells]
    if engine.formulas_changed:
        for region in engine.regions:
            if region is not None:
                by_sheet[region.cells.index].append(region)
    sheets = []
    for cells, sheet in zip(engine.cells, engine.workbook.sheets, strict=True):
        if changed is not None and sheet.index not in changed:
            sheets.append(sheet)
            continue
        columns, text = _with_text(_columns(cells, sheet, engine.date_formats), cells, engine.pool)
        formulas = _formulas(by_sheet[cells.index]) if engine.formulas_changed else sheet.formulas
        sheets.append(replace(sheet, columns=columns, row_count=cells.rows_used, text=text, formulas=formulas))
    return tuple(sheets)


def _text(strings: Sequence[str]) -> Text:
    joined = "".join(strings)
    encoded = joined.encode(errors="replace")
    parts = strings if joined.isascii() else [string.encode(errors="replace") for string in strings]
    offsets = np.zeros(len(strings) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(strings)), out=offsets[1:])
    return Text(frozen(offsets), frozen(np.frombuffer(encoded, np.uint8)))


def _columns(cells: SheetCells, sheet: Sheet, dates: NDArray[np.bool_]) -> list[Column | None]:
    """Return the columns.

    Those that nobody wrote as they are stored, all others with the book's codes of text.
    """
    return [
        cells.unwritten[at]
        if at in cells.unwritten
        else None
        if column is None
        else _column(column, sheet.columns[at] if at < sheet.column_count else None, dates)
        for at, column in enumerate(cells.columns)
    ]


def _with_text(
    columns: list[Column | None], cells: SheetCells, pool: TextPool
) -> tuple[tuple[Column | None, ...], Text]:
    """Return the columns of a sheet with the codes of its own text, which is the stored one with what is new behind it.

    Where more than half of that text would be used by no cell, it is made anew.
    """
    text = _text([]) if cells.text is None else cells.text
    written = [at for at, column in enumerate(columns) if column is not None and at not in cells.unwritten]
    used = np.zeros(len(pool) + 1, np.bool_)
    for at in written:
        _mark(used, columns[at])
    if used[:-1].any():
        own = np.full(len(pool) + 2, -1, np.int32)  # the sheet's code by the book's; behind them that of no text
        own[cells.entered[:-1]] = np.arange(len(cells.entered) - 1, dtype=np.int32)
        own[-2:] = -1  # of texts that the book has not met, too
        new = np.flatnonzero(used[:-1] & (own[:-2] < 0))
        own[new] = np.arange(len(text), len(text) + len(new))
        for at in written:
            columns[at] = _recode(columns[at], own)
        text = LongerText(text, _text([pool.text(code) for code in new.tolist()])) if len(new) else text
    used = np.zeros(len(text) + 1, np.bool_)
    for column in columns:
        _mark(used, column)
        if 2 * np.count_nonzero(used[:-1]) >= len(text):
            break
    if 2 * np.count_nonzero(used[:-1]) >= len(text):
        return tuple(columns), text
    kept = np.flatnonzero(used[:-1])
    own = np.full(len(text) + 1, -1, np.int32)
    own[kept] = np.arange(len(kept))
    return tuple(_recode(column, own) for column in columns), _text([text[code] for code in kept.tolist()])


def _mark(used: NDArray[np.bool_], column: Column | None) -> None:
    """Mark the codes of a column."""
    if column is not None:
        mark(used.view(np.uint8), column.dense.codes)


def _recode(column: Column | None, codes: NDArray[np.int32]) -> Column | None:
    """Return a column with other codes, by those that it has.

    The last of them is that of no text.
    """
    if column is None:
        return None
    cells = replace(column.dense, codes=frozen(codes[column.dense.codes]))
    return GappedColumn(cells, *column.runs) if isinstance(column, GappedColumn) else cells


def _column(column: CellColumn, carried: Column | None, dates: NDArray[np.bool_]) -> Column | None:
    """Return the span from the first cell that is not blank, or has a format, to the last one; without its long
    gaps."""
    spans = _filled_whole(column) if carried is None else []
    if not spans:
        filled = np.flatnonzero(column.kinds) + column.base
        if _has_gap(filled, carried):
            return _cut(column, filled, carried, dates)
        spans = [(int(filled[0]), int(filled[-1]) + 1)] if len(filled) else []
    spans += [(carried.start, carried.stop)] if carried is not None else []
    if not spans:
        return None
    first, stop = min(low for low, _ in spans), max(high for _, high in spans)
    span = column.span(first, stop - first)
    kinds, numbers, codes = np.array(span.kinds), np.array(span.numbers), np.array(span.codes)
    formats = np.zeros(stop - first, np.uint16)
    if carried is not None:
        cut = slice(carried.start - first, carried.stop - first)
        formats[cut] = carried.formats
        kinds[cut] = _dated(kinds[cut], numbers[cut], carried.kinds, carried.formats, dates)
    return Column(first, frozen(kinds), frozen(numbers), frozen(codes), frozen(formats))


def _filled_whole(column: CellColumn) -> list[tuple[int, int]]:
    """Return the span of a column without a blank in between, or nothing."""
    is_filled = column.kinds != 0
    first, last = int(is_filled.argmax()), column.size - int(is_filled[::-1].argmax())
    whole = column.size > 0 and is_filled[first] and is_filled[first:last].all()
    return [(column.base + first, column.base + last)] if whole else []


def _dated(
    kinds: NDArray[np.uint8],
    numbers: NDArray[np.float64],
    carried: NDArray[np.uint8],
    formats: NDArray[np.uint16],
    dates: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """Return the kinds of cells with dates among them, as the file's reader says.

    What was one, and a blank that became a number under the format of a date.
    """
    new = (carried == Kind.BLANK) & dates[formats] & (numbers >= 0) & (numbers < SERIALS_STOP)
    return np.where((kinds == Kind.NUMBER) & ((carried == Kind.DATE) | new), np.uint8(Kind.DATE), kinds)


def _has_gap(filled: NDArray[np.intp], carried: Column | None) -> bool:
    """Return whether a column of these rows, and of those that the file stored, is one with gaps."""
    if isinstance(carried, GappedColumn) or np.diff(filled).max(initial=0) > BLANKS_MAX + 1:
        return True
    if carried is None or not len(filled):
        return False
    return max(int(filled[0]), carried.start) - min(int(filled[-1]) + 1, carried.stop) > BLANKS_MAX


def _cut(column: CellColumn, rows: NDArray[np.intp], carried: Column | None, dates: NDArray[np.bool_]) -> Column | None:
    """Return the cells of these rows, and those that have a format in the file, in runs."""
    places = np.zeros(0, np.int64) if carried is None else carried.rows()
    if carried is not None:
        rows = np.union1d(rows, places[carried.dense.formats != 0])
    if not len(rows):
        return None
    at = rows - column.base
    kinds, formats = column.kinds[at], np.zeros(len(rows), np.uint16)
    if carried is not None:
        _, ours, theirs = np.intersect1d(rows, places, assume_unique=True, return_indices=True)
        cells = carried.dense
        formats[ours] = cells.formats[theirs]
        numbers = column.numbers[at[ours]]
        kinds[ours] = _dated(kinds[ours], numbers, cells.kinds[theirs], cells.formats[theirs], dates)
    return column_of(rows, kinds, column.numbers[at], column.codes[at], formats)


def _formulas(regions: list[Region]) -> Formulas:
    """Return the formulas of one sheet, each region's text kept once, at its first cell."""
    rows: list[NDArray[np.int32]] = []
    columns: list[NDArray[np.int32]] = []
    heads: list[NDArray[np.int32]] = []
    texts: list[str] = []
    areas: list[tuple[int, str, bool]] = []
    count = 0
    for region in regions:
        for own, text, area in _parts(region):
            rows.append(own)
            columns.append(np.full(len(own), region.left, np.int32))
            heads.append(np.full(len(own), count, np.int32))
            texts.append(text[1:])
            if area is not None:
                areas.append((count, area, not region.fills or region.spills))
            count += len(own)
    if not rows:
        nothing = np.zeros(0, np.int32)
        return Formulas(nothing, nothing, nothing, nothing, _text([]), {})
    if len(rows) == 1 and not areas:
        own, head = frozen(rows[0]), frozen(heads[0])
        return Formulas(own, frozen(columns[0]), head, head, _text(texts), {})
    all_rows, all_columns, all_heads = map(np.concatenate, (rows, columns, heads))
    order = np.lexsort((all_columns, all_rows))
    place = np.empty(count, np.int32)
    place[order] = np.arange(count, dtype=np.int32)
    text_of = np.zeros(count, np.int32)
    text_of[np.unique(all_heads)] = np.arange(len(texts), dtype=np.int32)
    return Formulas(
        frozen(all_rows[order]),
        frozen(all_columns[order]),
        frozen(text_of[all_heads][order]),
        frozen(place[all_heads][order]),
        _text(texts),
        {int(place[at]): area for at, area, _ in areas},
        frozenset(int(place[at]) for at, _, spills in areas if spills),
    )


def _parts(region: Region) -> Iterator[tuple[NDArray[np.int32], str, str | None]]:
    """Yield the rows of a region that share one text, the text in the first of them, and the range of an array
    formula."""
    own = [np.arange(first, last + 1, dtype=np.int32) for first, last in region.pieces(region.first, region.last)]
    if not own:
        return
    rows, tree = np.concatenate(own), region.shape.tree
    fixed = region.fills and not region.spills
    spread = region.fills and (region.bottom, region.right) != (region.first, region.left)
    # A formula that spills over its own cell alone is a plain one, unless it would mean something else as such.
    if not (fixed or spread or (region.shape.arrays and (tree is None or may_be_array(tree) or lifts(tree)))):
        yield rows, region.formula(int(rows[0]), region.left), None
    elif region.fills:
        area = range_name(region.first, region.left, region.bottom, region.right)
        yield rows, region.formula(region.first, region.left), area
    else:
        for row in rows.tolist():
            area = range_name(row, region.left, row, region.left)
            yield np.array([row], np.int32), region.formula(row, region.left), area
