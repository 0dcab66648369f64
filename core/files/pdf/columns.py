"""The columns of a block, and the cells of its lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.pdf.blocks import LineBlock, Ruler, without_others
from core.files.pdf.phrases import are_parted, is_figure, is_value, phrases
from core.files.pdf.words import TextLine, Word

NARROW_LINES: Final = 3
"""Lines that must show a gutter of a space's width."""
NARROW_SHARE: Final = 0.9
"""Of them, how many must have a figure on one side and none of the same kind on the other."""
ALIKE_LINES: Final = 6
"""Lines that must show a gutter between texts by where they begin,"""
ALIKE_SHARE: Final = 0.5
"""how many of the texts before them must be unlike the others,"""
ALIKE: Final = 0.05
"""and how far apart they may begin, of the font's size."""
FIGURES_SHARE: Final = 0.5
"""Likewise, where any figure may be a cell, for a total to decide."""
SAMPLE: Final = 400
"""Lines of a block that are looked at for narrow gutters."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns across the page: the gutters between them, from the left."""

    starts: list[float]
    """Where each gutter begins: right behind the widest cell of the column before."""
    stops: list[float]
    middles: list[float]

    @classmethod
    def of(cls, gutters: Iterable[tuple[float, float]]) -> Grid:
        """Return the columns between gutters, from and to, from the left."""
        every = list(gutters)
        return cls(
            [start for start, _ in every], [stop for _, stop in every], [(start + stop) / 2 for start, stop in every]
        )

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.starts) + 1

    def column(self, place: float) -> int:
        """Return the column of a place; one in a gutter belongs to the nearer column."""
        return bisect_left(self.middles, place)

    def crossed(self, word: Word) -> bool:
        """Return whether a word lies over a whole gutter."""
        return any(word.left < start and word.right > stop for start, stop in zip(self.starts, self.stops, strict=True))

    def first(self, left: float) -> int:
        """Return the column in which something begins: the first not to end before it."""
        return bisect_right(self.starts, left)

    def last(self, right: float) -> int:
        """Return the column in which something ends: the last not begun behind it."""
        return bisect_left(self.stops, right)


@dataclass(slots=True)
class PrintedCell:
    """The words of a cell."""

    left: float
    right: float
    text: str
    last_column: int
    """The cell's own, or the last one over which it stands."""
    first_width: float = 0.0
    """Of its first word."""


@dataclass(slots=True)
class PrintedRow:
    """Cells by column, of one line or of several that were joined."""

    page: int
    line: int
    baseline: float
    size: float
    last_baseline: float
    """Of its last line."""
    cells: dict[int, PrintedCell] = field(default_factory=dict)
    is_foreign: bool = False
    """It does not keep the columns."""

    def has_values(self) -> bool:
        """Return whether a cell of it is a value."""
        return any(is_value(cell.text) for cell in self.cells.values())


def grid_of(block: LineBlock, ruler: Ruler, *, any_figure: bool = False) -> Grid:
    """Return the columns of a block.

    With `any_figure` a figure is a cell of its own where only a space parts it from a text, on nearly all lines.
    """
    strips = _strips(block)
    if not len(strips):
        return Grid.of(())
    is_gutter = _under_gaps(block, strips, _shown_by_kinds(block, strips, ruler, any_figure=any_figure))
    chosen = strips[is_gutter].tolist()
    return Grid.of((ruler.place(start), ruler.place(stop)) for start, stop in chosen)


def _strips(block: LineBlock) -> NDArray[np.int64]:
    """Return the free strips between the first and the last word.

    Each from and to (exclusive).
    """
    covered = block.cover.covered
    places = np.flatnonzero(covered)
    if not len(places):
        return np.zeros((0, 2), np.int64)
    low, high = int(places[0]), int(places[-1])
    edges = np.flatnonzero(np.diff(covered[low : high + 1].astype(np.int8))) + low + 1
    strips = edges.reshape(-1, 2)
    return strips[strips[:, 1] - strips[:, 0] >= block.cover.strip]


def _under_gaps(block: LineBlock, strips: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which strips are gutters, beside known ones.

    The fewest that give each wide gap one: of the gap that ends first without one the last strip, and so on. Of a gap
    over a blank cell or beside a short one some strips only part the words of a cell; the last one of the gap that ends
    first stands right before the longest cell of its column.
    """
    chosen = known.copy()
    if not block.cover.gaps:
        return chosen
    gaps = without_others(np.concatenate((*block.cover.gaps, block.cover.needed)))
    starts, stops = strips.T.tolist()
    last = -1
    for start, stop in gaps.tolist():
        inside = range(bisect_left(starts, start), bisect_right(stops, stop))
        if inside and last < inside.start and not chosen[inside.start : inside.stop].any():
            last = inside.stop - 1
            chosen[last] = True
    return chosen


def _shown_by_kinds(
    block: LineBlock, strips: NDArray[np.int64], ruler: Ruler, *, any_figure: bool
) -> NDArray[np.bool_]:
    """Return which strips have words on both sides that can only be two cells.

    So it must be on nearly all lines where words stand close by.
    """
    lines = [line for line in block.lines if id(line) not in block.foreign and len(line.words) > 1]
    lines = lines[:: max(1, len(lines) // SAMPLE)]
    shown = np.zeros(len(strips), np.bool_)
    if not lines:
        return shown
    for at, strip in enumerate(strips.tolist()):
        pairs = [pair for line in lines if (pair := _around(line, strip, ruler)) is not None]
        parted = sum(are_parted(before, after, has_pieces=lines[0].has_pieces) for before, after in pairs)
        shown[at] = parted >= NARROW_LINES and parted >= NARROW_SHARE * len(pairs)
        if any_figure:
            parted = sum(is_figure(before.text) or is_figure(after.text) for before, after in pairs)
            shown[at] |= parted >= NARROW_LINES and parted >= FIGURES_SHARE * len(pairs)
        shown[at] |= not lines[0].has_pieces and _begin_alike(pairs, lines[0].size)
    return shown


def _begin_alike(pairs: list[tuple[Word, Word]], size: float) -> bool:
    """Return whether words begin on one place behind words of many texts.

    Only those of a column do.
    """
    if len(pairs) < ALIKE_LINES or len({before.text for before, _ in pairs}) < ALIKE_SHARE * len(pairs):
        return False
    lefts = sorted(word.left for _, word in pairs)
    cut = int(len(lefts) * (1 - NARROW_SHARE) / 2)
    return lefts[-1 - cut] - lefts[cut] < ALIKE * size


def _around(line: TextLine, strip: list[int], ruler: Ruler) -> tuple[Word, Word] | None:
    """Return the words on both sides of a strip, where only a space is between them."""
    for before, after in zip(line.words, line.words[1:], strict=False):
        if ruler.at(before.right) < strip[0] + 1 and ruler.at(after.left) >= strip[1] - 1:
            return (before, after) if after.left - before.right < 1.5 * line.size else None
    return None


def row_of(line: TextLine, grid: Grid, *, is_foreign: bool, is_heading: bool = False) -> PrintedRow:
    """Return the cells of a line.

    Words that stand close are cells of their own in a heading.
    """
    row = PrintedRow(line.page, line.number, line.baseline, line.size, line.baseline, is_foreign=is_foreign)
    parts = phrases(line)
    for start, stop in parts:
        words = line.words[start:stop]
        if start and line.words[start - 1].text[-1] == ":" and (column := _after_label(row, words, grid)) is not None:
            _put(row, column, words, grid)
            continue
        if line.has_pieces:
            _put(row, _column_of(words, grid), words, grid)
            continue
        if _stays_whole(words, grid, is_alone=len(parts) == 1 and not is_heading):
            _put(row, grid.first(words[0].left), words, grid)
            continue
        groups: dict[int, list[Word]] = {}
        for word in words:
            groups.setdefault(grid.column((word.left + word.right) / 2), []).append(word)
        for column, group in groups.items():
            _put(row, column, group, grid)
    return row


def _column_of(words: list[Word], grid: Grid) -> int:
    """Return the column of a whole phrase.

    The one it lies in, else the first of those over which it stands.
    """
    left, right = words[0].left, words[-1].right
    first = grid.first(left)
    return first if first <= grid.last(right) else grid.column((left + right) / 2)


def _after_label(row: PrintedRow, words: list[Word], grid: Grid) -> int | None:
    """Return the column behind a label, or None if the value has one of its own."""
    last = max(row.cells)
    return last + 1 if grid.column((words[0].left + words[-1].right) / 2) <= last else None


def _stays_whole(words: list[Word], grid: Grid, *, is_alone: bool) -> bool:
    """Return whether a phrase is one cell though it may stand over several columns."""
    if any(grid.crossed(word) for word in words):
        return True
    columns = {grid.column((word.left + word.right) / 2) for word in words}
    return is_alone and len(columns) > 1 and not any(is_value(word.text) for word in words)


def _put(row: PrintedRow, column: int, words: Iterable[Word], grid: Grid) -> None:
    every = list(words)
    text = " ".join(word.text for word in every)
    cell = row.cells.get(column)
    if cell is not None:
        cell.text = f"{cell.text} {text}"
        cell.right = max(cell.right, every[-1].right)
        return
    right = every[-1].right
    width = every[0].right - every[0].left
    row.cells[column] = PrintedCell(every[0].left, right, text, max(column, grid.last(right)), width)


def merged_grid(grid: Grid, rows: list[PrintedRow]) -> Grid:
    """Return the grid without gutters inside of a column.

    Such are those between a heading and figures that stand beside it.

    A heading at the left edge of its column and figures at the right one share no strip. Such a column of figures has
    no heading, its neighbour has one, and no row has both.
    """
    filled = max(2, min(grid.count // 3, max((len(row.cells) for row in rows), default=0)))
    start = next((at for at, row in enumerate(rows) if row.has_values() and len(row.cells) >= filled), 0)
    headings = {column for row in rows[:start] for column, cell in row.cells.items() if cell.last_column == column}
    both = {column for row in rows for column in row.cells if column + 1 in row.cells}
    dropped: set[int] = set()
    for column in range(1, grid.count):
        if column in headings or start == 0:
            continue
        if column - 1 in headings and column - 1 not in both and column - 2 not in dropped:
            dropped.add(column - 1)
        elif column + 1 in headings and column not in both and not _has_figures(rows[start:], column + 1):
            dropped.add(column)
    if not dropped:
        return grid
    kept = [at for at in range(grid.count - 1) if at not in dropped]
    return Grid.of((grid.starts[at], grid.stops[at]) for at in kept)


def _has_figures(rows: list[PrintedRow], column: int) -> bool:
    return any(is_value(row.cells[column].text) for row in rows if column in row.cells)
