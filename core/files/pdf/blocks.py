"""Lines to blocks: runs of lines that share their columns.

A column's edge is a vertical strip that no word of the block crosses. A line joins the block above it if every wide gap
of both keeps such a strip; else a block begins. Blocks that a line or two part, such as the words of a group above the
headings, or a long remark, become one again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.pdf.phrases import gaps, has_figures, has_gaps, sure_gaps
from core.files.pdf.words import TextLine

STEP: Final = 0.03
"""Of the smallest page's font size: how finely strips are measured."""
STEPS_MAX: Final = 30_000
"""Steps across the widest page; they grow where it has more."""
STRIP: Final = 0.15
"""Of the font's size: how wide a strip is at least."""
PIECE_STRIP: Final = 0.04
"""Likewise, where cells are printed in one piece each."""
GROUP_DISTANCE: Final = 2.4
"""Of the font's size: words of groups stand closer above the headings of their columns."""
FOREIGN_MAX: Final = 3
"""Lines between two parts of a block that do not keep its columns."""
HEADINGS_BELOW: Final = 0.5
"""What speaks for a cut with headings alone between it and the place where columns differ, in lines of space."""
LAST_ROW: Final = 2.0
"""Of the font's size: how close a table's last row stands, if it does not keep the columns."""
RUNNING_SPACE: Final = 2.2
"""Of the font's size: what parts a running header from the page."""
FOREIGN_SHARE: Final = 0.1
"""Of the lines of a page that goes on with a block, how many may not keep its columns."""


@dataclass(frozen=True, slots=True)
class Ruler:
    """Steps across the pages of a document."""

    origin: float
    """The leftmost edge of a word."""
    step: float
    """In points."""
    count: int

    @classmethod
    def across(cls, lines: Iterable[TextLine]) -> Ruler:
        """Return the ruler of all these lines."""
        every = list(lines)
        places = [place for line in every for word in line.words for place in (word.left, word.right)]
        low, high = min(places), max(places)
        sizes: dict[int, list[float]] = {}
        for line in every:
            sizes.setdefault(line.page, []).append(line.size)
        step = max(STEP * min(map(median, sizes.values())), (high - low) / STEPS_MAX)
        return cls(low, step, int((high - low) / step) + 2)

    def at(self, place: float) -> int:
        """Return the step of a place."""
        return min(max(int((place - self.origin) / self.step), 0), self.count - 1)

    def place(self, step: float) -> float:
        """Return where a step begins."""
        return self.origin + step * self.step


@dataclass(slots=True)
class BlockCover:
    """Which strips of the page words cover, and which gaps must keep a free one."""

    covered: NDArray[np.bool_]
    needed: NDArray[np.int32]
    """Sure gaps without another in them, from the left: with a free strip in each, each sure gap has one."""
    strip: int
    """Steps of the narrowest strip."""
    gaps: list[NDArray[np.int32]]
    """All gaps, from and to (exclusive), line by line."""

    def joined(self, below: BlockCover) -> BlockCover | None:
        """Return both together; None where a gap keeps no strip."""
        covered = self.covered | below.covered
        needed = without_others(np.concatenate((self.needed, below.needed)))
        strip = min(self.strip, below.strip)
        if len(needed):
            free = np.concatenate(([0], np.cumsum(~covered)))
            if (free[needed[:, 1]] - free[needed[:, 0]] < strip).any():
                return None
        return BlockCover(covered, needed, strip, self.gaps + below.gaps)


def without_others(gaps: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the gaps that have no other in them, from the left."""
    gaps = gaps[np.lexsort((-gaps[:, 0], gaps[:, 1]))]
    if len(gaps) < 2:
        return gaps
    begun = np.maximum.accumulate(gaps[:, 0])
    return gaps[np.concatenate(([True], gaps[1:, 0] > begun[:-1]))]


@dataclass(slots=True)
class LineBlock:
    """Lines from the top, and what they cover."""

    lines: list[TextLine]
    cover: BlockCover
    """Of the lines with wide gaps, but for the foreign ones."""
    foreign: set[int] = field(default_factory=set)
    """Which lines do not keep the columns, by identity."""
    table_lines: int = 0
    """Lines with wide gaps that keep the columns."""
    is_apart: bool = False
    """A running header, which much space parts from what stands below."""


def cover_of(line: TextLine, ruler: Ruler) -> BlockCover:
    """Return what a line covers."""
    covered = np.zeros(ruler.count, np.bool_)
    for word in line.words:
        covered[ruler.at(word.left) : ruler.at(word.right) + 1] = True
    strip = max(1, round((PIECE_STRIP if line.has_pieces else STRIP) * line.size / ruler.step))
    every, sure = _steps(gaps(line), ruler), _steps(sure_gaps(line), ruler)
    return BlockCover(covered, sure, strip, [every] if len(every) else [])


def _steps(gaps: Iterable[tuple[float, float]], ruler: Ruler) -> NDArray[np.int32]:
    return np.array([(ruler.at(start) + 1, ruler.at(stop)) for start, stop in gaps], np.int32).reshape(-1, 2)


def blocks_of(lines: list[TextLine], ruler: Ruler) -> list[LineBlock]:
    """Return the blocks of a page's lines.

    A line of one phrase belongs to the block that goes on around or below it.
    """
    blocks: list[LineBlock] = []
    waiting: list[TextLine] = []
    for line in lines:
        cover = cover_of(line, ruler)
        if not cover.gaps:
            waiting.append(line)
            continue
        if len(blocks) == 1 and _is_running(blocks[0], (*waiting, line)[0]):
            blocks[0].is_apart = True
        joined = blocks[-1].cover.joined(cover) if blocks and not blocks[-1].is_apart else None
        if joined is not None:
            blocks[-1].lines += [*waiting, line]
            blocks[-1].cover = joined
            blocks[-1].table_lines += 1
        else:
            blocks.append(LineBlock([*waiting, line], cover, table_lines=1))
        waiting = []
    if waiting:
        if blocks:
            blocks[-1].lines += waiting
        else:
            blocks.append(LineBlock(waiting, cover_of(waiting[0], ruler)))
    for at in range(len(blocks) - 1, 0, -1):
        if not blocks[at - 1].is_apart:
            _move_cut(blocks, at, ruler)
    blocks = _around_foreign_lines([block for block in blocks if block.lines])
    for at in range(len(blocks) - 1, 0, -1):
        _move_groups(blocks, at, ruler)
    return [block for block in blocks if block.lines]


def _is_running(block: LineBlock, below: TextLine) -> bool:
    """Return whether a block is the line at the top of a page, with space below it."""
    line = block.lines[-1]
    return len(block.lines) == 1 and line.baseline - below.baseline > RUNNING_SPACE * line.size


def _move_cut(blocks: list[LineBlock], at: int, ruler: Ruler) -> None:
    """Cut between two blocks where most space or a title is.

    Both keep their columns at each of the places that are tried.
    """
    above, below = blocks[at - 1], blocks[at]
    if not below.lines:
        return
    cover = below.cover
    covers = {len(above.lines): cover}
    for start in range(len(above.lines) - 1, -1, -1):
        own = cover_of(above.lines[start], ruler)
        joined = cover.joined(own) if own.gaps else cover
        if joined is None:
            break
        cover = covers[start] = joined
    lines = above.lines + below.lines
    for start in range(len(above.lines) + 1, len(lines)):
        if has_gaps(lines[start - 1]):
            break
        covers[start] = below.cover
    first = len(above.lines)
    while first - 1 in covers and not has_figures(lines[first - 1]):
        first -= 1
    best = max(covers, key=lambda start: (round(_parting(lines, start) + HEADINGS_BELOW * (start >= first), 1), -start))
    if best >= len(above.lines):
        above.lines[:], below.lines[:] = lines[:best], lines[best:]
        return
    moved = above.lines[best:]
    blocks[at] = LineBlock(moved + below.lines, covers[best], table_lines=below.table_lines + _table_lines(moved))
    blocks[at - 1] = _block_of(above.lines[:best], above, ruler)


def _move_groups(blocks: list[LineBlock], at: int, ruler: Ruler) -> None:
    """Move words of groups to the block of the headings right below them.

    They stand over several columns.
    """
    above, below = blocks[at - 1], blocks[at]
    if above.is_apart or below.table_lines <= FOREIGN_MAX:
        return
    lines = above.lines + below.lines
    start = len(above.lines)
    while start > max(0, len(above.lines) - FOREIGN_MAX) and _is_group(lines[start - 1], lines[start]):
        start -= 1
    moved = above.lines[start:]
    if not moved:
        return
    cover, foreign = below.cover, set(below.foreign)
    for line in moved:
        joined = cover.joined(cover_of(line, ruler))
        if joined is None:
            foreign.add(id(line))
        else:
            cover = joined
    count = below.table_lines + len(moved) - len(foreign - below.foreign)
    blocks[at] = LineBlock(moved + below.lines, cover, foreign, count)
    blocks[at - 1] = _block_of(above.lines[:start], above, ruler)


def _is_group(line: TextLine, below: TextLine) -> bool:
    """Return whether a line has words of groups.

    Several phrases without a figure, close above another line.
    """
    near = line.page == below.page and line.baseline - below.baseline < GROUP_DISTANCE * line.size
    return near and has_gaps(line) and not has_figures(line)


def _block_of(lines: list[TextLine], block: LineBlock, ruler: Ruler) -> LineBlock:
    """Return the block of those of a block's lines that are left.

    A title above its columns covers none of them.
    """
    covers = [own for line in lines if (own := cover_of(line, ruler)).gaps]
    cover = covers[0] if covers else cover_of(lines[0], ruler) if lines else block.cover
    for own in covers[1:]:
        cover = cover.joined(own) or cover
    return LineBlock(lines, cover, table_lines=_table_lines(lines))


def _parting(lines: list[TextLine], start: int) -> float:
    """Return how much parts a line from the one above.

    Their distance in lines, and one more for a title.
    """
    if start == 0:
        return 3.0
    above, line = lines[start - 1], lines[start]
    is_title = not has_gaps(line) and has_gaps(above)
    return min(3.0, max(0.0, above.baseline - line.baseline) / min(above.size, line.size)) + is_title


def _table_lines(lines: list[TextLine]) -> int:
    return sum(has_gaps(line) for line in lines)


def _around_foreign_lines(blocks: list[LineBlock]) -> list[LineBlock]:
    """Join blocks that only a few lines part, such as words of groups and remarks."""
    at = 0
    while at + 1 < len(blocks):
        if (joined := joined_blocks(blocks[at], blocks[at + 1])) is not None:
            blocks[at : at + 2] = [joined]
            at = max(0, at - 2)
        elif at + 2 < len(blocks) and blocks[at + 1].table_lines <= FOREIGN_MAX < blocks[at].table_lines:
            cover = blocks[at].cover.joined(blocks[at + 2].cover)
            if cover is None:
                at += 1
                continue
            first, between, last = blocks[at : at + 3]
            foreign = first.foreign | last.foreign | {id(line) for line in between.lines}
            lines = first.lines + between.lines + last.lines
            blocks[at : at + 3] = [LineBlock(lines, cover, foreign, first.table_lines + last.table_lines)]
            at = max(0, at - 2)
        elif at + 2 == len(blocks) and _is_last_row(blocks[at], blocks[at + 1]):
            first, last = blocks[at : at + 2]
            foreign = first.foreign | {id(line) for line in last.lines}
            blocks[at : at + 2] = [LineBlock(first.lines + last.lines, first.cover, foreign, first.table_lines)]
        else:
            at += 1
    return blocks


def _is_last_row(above: LineBlock, below: LineBlock) -> bool:
    """Return whether a block is a line close below a table.

    It is a total that is wider than its columns.
    """
    distance = above.lines[-1].baseline - below.lines[0].baseline
    return len(below.lines) == 1 and above.table_lines > FOREIGN_MAX and distance < LAST_ROW * below.lines[0].size


def joined_blocks(above: LineBlock, below: LineBlock) -> LineBlock | None:
    """Return two blocks as one; None where their columns differ."""
    if above.is_apart:
        return None
    cover = above.cover.joined(below.cover)
    if cover is None:
        return None
    lines = above.lines + below.lines
    return LineBlock(lines, cover, above.foreign | below.foreign, above.table_lines + below.table_lines)


def continued_block(above: LineBlock, below: LineBlock, ruler: Ruler) -> LineBlock | None:
    """Return a block and how its next page goes on with it.

    Lines that do not keep its columns are foreign.

    None where these are more than a few.
    """
    if above.is_apart:
        return None
    cover, foreign, count = above.cover, set(below.foreign), 0
    for line in below.lines:
        own = cover_of(line, ruler)
        if not own.gaps or id(line) in foreign:
            continue
        with_own = cover.joined(own)
        if with_own is None:
            foreign.add(id(line))
        else:
            cover, count = with_own, count + 1
    if len(foreign) > max(FOREIGN_MAX, FOREIGN_SHARE * count):
        return None
    return LineBlock(above.lines + below.lines, cover, above.foreign | foreign, above.table_lines + count)
