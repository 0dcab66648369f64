"""Lines to blocks: runs of lines that share their columns.

A column's edge is a vertical strip that no word of the block crosses. A line joins the block above it if every wide gap
of both keeps such a strip; else a block begins. Blocks that a line or two part, such as the words of a group above the
headings, or a long remark, become one again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.files.pdf.phrases import gaps
from core.files.pdf.words import Line

STEP: Final = 0.5
"""Points: how finely strips are measured."""
STRIP: Final = 2
"""Steps that a strip has at least."""
WIDTH_MAX: Final = 16_000
"""Steps: 8,000 points, more than the widest page that a program prints (14,400 / 2)."""
FOREIGN_MAX: Final = 3
"""Lines between two parts of a block that do not keep its columns."""


@dataclass(slots=True)
class Cover:
    """Which strips of the page words cover, and the wide gaps that must each keep a free one."""

    covered: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(WIDTH_MAX, np.bool_))
    gaps: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    def joined(self, other: Cover) -> Cover | None:
        """Return both together; None where a gap keeps no strip."""
        covered = self.covered | other.covered
        every = np.concatenate((self.gaps, other.gaps))
        free = np.concatenate(([0], np.cumsum(~covered)))
        if len(every) and (free[every[:, 1]] - free[every[:, 0]] < STRIP).any():
            return None
        return Cover(covered, np.unique(every, axis=0))


@dataclass(slots=True)
class Block:
    """Lines from the top, and what they cover."""

    lines: list[Line]
    cover: Cover
    """Of the lines with wide gaps, but for the foreign ones."""
    foreign: set[int] = field(default_factory=set)
    """Which lines do not keep the columns, by identity."""
    table_lines: int = 0
    """Lines with wide gaps that keep the columns."""


def place_step(place: float, origin: float) -> int:
    """Return the step at a place across the page."""
    return min(max(int((place - origin) / STEP), 0), WIDTH_MAX - 1)


def cover_of(line: Line, origin: float) -> Cover:
    """Return what a line covers; `origin` is where steps begin."""
    cover = Cover()
    for word in line.words:
        cover.covered[place_step(word.left, origin) : place_step(word.right, origin) + 1] = True
    own = [(place_step(start, origin) + 1, place_step(stop, origin)) for start, stop in gaps(line)]
    cover.gaps = np.array(own, np.int32).reshape(-1, 2)
    return cover


def blocks_of(lines: list[Line], origin: float) -> list[Block]:
    """Return the blocks of a page's lines; lines of one phrase belong to the block that goes on around or below them."""
    blocks: list[Block] = []
    waiting: list[Line] = []
    for line in lines:
        cover = cover_of(line, origin)
        if not len(cover.gaps):
            waiting.append(line)
            continue
        joined = blocks[-1].cover.joined(cover) if blocks else None
        if joined is not None:
            blocks[-1].lines += [*waiting, line]
            blocks[-1].cover = joined
            blocks[-1].table_lines += 1
        else:
            blocks.append(Block([*waiting, line], cover, table_lines=1))
        waiting = []
    if waiting:
        if blocks:
            blocks[-1].lines += waiting
        else:
            blocks.append(Block(waiting, Cover()))
    return _around_foreign_lines(blocks)


def _around_foreign_lines(blocks: list[Block]) -> list[Block]:
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
            blocks[at : at + 3] = [Block(lines, cover, foreign, first.table_lines + last.table_lines)]
            at = max(0, at - 2)
        else:
            at += 1
    return blocks


def joined_blocks(above: Block, below: Block) -> Block | None:
    """Return two blocks as one; None where their columns differ."""
    cover = above.cover.joined(below.cover)
    if cover is None:
        return None
    lines = above.lines + below.lines
    return Block(lines, cover, above.foreign | below.foreign, above.table_lines + below.table_lines)
