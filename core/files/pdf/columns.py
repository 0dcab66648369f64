"""The columns of a block, and the cells of its lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from core.files.pdf.blocks import STEP, STRIP, Block, place_step
from core.files.pdf.phrases import WIDE_GAP, is_value, phrases
from core.files.pdf.words import Line, Word

NARROW_LINES: Final = 3
"""Lines that must show a gutter of a space's width."""
NARROW_SHARE: Final = 0.9
"""Of them, how many must have a figure on one side and none of the same kind on the other."""
SAMPLE: Final = 400
"""Lines of a block that are looked at for narrow gutters."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Columns across the page: the gutters between them, from the left."""

    starts: list[float]
    """Where each gutter begins: right behind the widest cell of the column before."""
    stops: list[float]

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(self.starts) + 1

    def column(self, place: float) -> int:
        """Return the column of a place; one in a gutter belongs to the nearer column."""
        return int(np.searchsorted(self._middles(), place))

    def _middles(self) -> list[float]:
        return [(start + stop) / 2 for start, stop in zip(self.starts, self.stops, strict=True)]

    def crossed(self, word: Word) -> bool:
        """Return whether a word lies over a whole gutter."""
        return any(word.left < start and word.right > stop for start, stop in zip(self.starts, self.stops, strict=True))

    def first(self, left: float) -> int:
        """Return the column in which something begins: the first that does not end before."""
        return int(np.searchsorted(self.starts, left, side="right"))

    def last(self, right: float) -> int:
        """Return the column in which something ends: the last that does not begin behind it."""
        return int(np.searchsorted(self.stops, right, side="left"))


@dataclass(slots=True)
class Cell:
    """The words of a cell."""

    left: float
    right: float
    text: str
    last_column: int
    """The cell's own, or the last one over which it stands."""


@dataclass(slots=True)
class Row:
    """Cells by column, of one line or of several that were joined."""

    page: int
    line: int
    baseline: float
    size: float
    cells: dict[int, Cell] = field(default_factory=dict)
    is_foreign: bool = False
    """It does not keep the columns."""


def grid_of(block: Block, origin: float) -> Grid:
    """Return the columns of a block."""
    covered = block.cover.covered
    places = np.flatnonzero(covered)
    if not len(places):
        return Grid([], [])
    low, high = int(places[0]), int(places[-1])
    edges = np.flatnonzero(np.diff(np.concatenate(([1], covered[low : high + 1].astype(np.int8), [1]))))
    strips = [(low + start, low + stop) for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]
    wide = _under_gaps(block, strips)
    narrow = [strip for strip, is_wide in zip(strips, wide, strict=True) if not is_wide and strip[1] - strip[0] >= STRIP]
    chosen = [strip for strip, is_wide in zip(strips, wide, strict=True) if is_wide]
    if narrow:
        chosen = sorted([*chosen, *_shown_by_kinds(block, narrow, origin)])
    return Grid([start * STEP + origin for start, _ in chosen], [stop * STEP + origin for _, stop in chosen])


def _under_gaps(block: Block, strips: list[tuple[int, int]]) -> list[bool]:
    """Return which strips are gutters by wide gaps: a strip that is alone in a gap, or itself as wide as one.

    A gap over a blank cell has further strips in it, some of which only part the words of a cell.
    """
    starts, stops = np.array(strips).reshape(-1, 2).T
    firsts = np.searchsorted(starts, block.cover.gaps[:, 0])
    lasts = np.searchsorted(stops, block.cover.gaps[:, 1], side="right")
    alone = set(firsts[lasts - firsts == 1].tolist())
    sizes = [line.size for line in block.lines]
    wide = WIDE_GAP * float(np.median(sizes)) / STEP
    return [
        stop - start >= STRIP and (at in alone or stop - start >= wide) for at, (start, stop) in enumerate(strips)
    ]


def _shown_by_kinds(block: Block, strips: list[tuple[int, int]], origin: float) -> list[tuple[int, int]]:
    """Return the strips of a space's width with a figure beside a text, or beside another figure, on nearly all lines."""
    lines = [line for line in block.lines if id(line) not in block.foreign and len(line.words) > 1]
    lines = lines[:: max(1, len(lines) // SAMPLE)]
    kept = []
    for strip in strips:
        pairs = [pair for line in lines if (pair := _around(line, strip, origin)) is not None]
        parted = sum(is_value(before) or (is_value(after) and not before[-1] in "+-") for before, after in pairs)
        if parted >= NARROW_LINES and parted >= NARROW_SHARE * len(pairs):
            kept.append(strip)
    return kept


def _around(line: Line, strip: tuple[int, int], origin: float) -> tuple[str, str] | None:
    """Return the words on both sides of a strip, where they are neighbours with a space between them."""
    for before, after in zip(line.words, line.words[1:], strict=False):
        if place_step(before.right, origin) < strip[0] + 1 and place_step(after.left, origin) >= strip[1] - 1:
            return (before.text, after.text) if after.left - before.right < 1.5 * line.size else None
    return None


def row_of(line: Line, grid: Grid, *, is_foreign: bool) -> Row:
    """Return the cells of a line."""
    row = Row(line.page, line.number, line.baseline, line.size, is_foreign=is_foreign)
    parts = phrases(line)
    for start, stop in parts:
        words = line.words[start:stop]
        if _stays_whole(words, grid, is_alone=len(parts) == 1):
            _put(row, grid.first(words[0].left), words, grid)
            continue
        groups: dict[int, list[Word]] = {}
        for word in words:
            groups.setdefault(grid.column((word.left + word.right) / 2), []).append(word)
        for column, group in groups.items():
            _put(row, column, group, grid)
    return row


def _stays_whole(words: list[Word], grid: Grid, *, is_alone: bool) -> bool:
    """Return whether a phrase is one cell though it may stand over several columns."""
    if any(grid.crossed(word) for word in words):
        return True
    columns = {grid.column((word.left + word.right) / 2) for word in words}
    return is_alone and len(columns) > 1 and not any(is_value(word.text) for word in words)


def _put(row: Row, column: int, words: Iterable[Word], grid: Grid) -> None:
    every = list(words)
    text = " ".join(word.text for word in every)
    cell = row.cells.get(column)
    if cell is not None:
        cell.text = f"{cell.text} {text}"
        cell.right = max(cell.right, every[-1].right)
        return
    right = every[-1].right
    row.cells[column] = Cell(every[0].left, right, text, max(column, grid.last(right)))
