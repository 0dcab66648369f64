"""Pages to sections: runs of pages on which the same table goes on.

A section becomes a sheet. A page goes on with the section before it where it repeats its headings, or where it begins
with rows that stand in the columns of the last table.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

from core.files.pdf.beside import parted
from core.files.pdf.blocks import RUNNING_SPACE, LineBlock, Ruler, blocks_of, continued_block, cover_of
from core.files.pdf.phrases import has_figures, has_gaps, is_value, phrases
from core.files.pdf.running import HEAD_MAX, drop_page_numbers, repeated_text, same_foot, same_head, without_running
from core.files.pdf.words import PageLines, TextLine

HEADINGS_WITHIN: Final = 100
"""Lines of a table that tell its headings: all of them for each page would take time by the square of the pages."""
ALIGNED: Final = 0.3
"""Of the font's size: how far the edge of a figure may be from those above it."""
ALIGNED_SHARE: Final = 0.6
"""Of the figures of a page's first row, how many must stand below figures of the page before."""
HEADING_SHARE: Final = 0.4
"""Of the phrases of a table's lines, how many a line of its headings has."""
EDGES_SHARE: Final = 0.9
"""Of the cells of a first row without figures, likewise,"""
CELLS_MIN: Final = 4
"""and how many it has at least."""
MOVED: Final = 1.0
"""Points: what the margins of a left page and a right one differ at least."""
LOOKED_BACK: Final = 60
"""Lines of the page before that are looked at."""


@dataclass(slots=True)
class PageSection:
    """Blocks from the top, and what stands at the end of its pages."""

    blocks: list[LineBlock]
    foot: list[TextLine] = field(default_factory=list)
    first_page: list[TextLine] = field(default_factory=list)
    running: set[str] = field(default_factory=set)
    """Texts at the top of the page before it."""

    @property
    def lines(self) -> list[TextLine]:
        """All lines from the top."""
        return [line for block in self.blocks for line in block.lines]

    @property
    def has_table(self) -> bool:
        """Whether any two lines share columns."""
        return any(block.table_lines > 1 for block in self.blocks)


def sections_of(pages: list[PageLines], ruler: Ruler) -> list[PageSection]:
    """Return the sections of a document; the lines of its pages are tidy."""
    for page in pages:
        drop_page_numbers(page)
    pages = [part for page in pages if page.lines for part in _parts(page)]
    sections: list[PageSection] = []
    before: PageLines | None = None
    for at, page in enumerate(pages):
        after = pages[at + 1] if at + 1 < len(pages) else None
        _add(sections, page, before, after, ruler)
        before = page
    return sections


def _parts(page: PageLines) -> list[PageLines]:
    """Return a page in parts.

    Behind a total, a title above the same headings as before begins another list.
    """
    known: set[str] = set()
    cuts = [0]
    for at, line in enumerate(page.lines):
        if not has_gaps(line) or has_figures(line):
            continue
        text = repeated_text(line)
        title = at
        while title and not has_gaps(page.lines[title - 1]):
            title -= 1
        if (
            text in known
            and cuts[-1] < title < at
            and page.lines[title - 1].words[0].text.casefold().startswith("total")
        ):
            cuts.append(title)
        known.add(text)
    ends = [*cuts[1:], len(page.lines)]
    return [replace(page, lines=page.lines[start:end]) for start, end in zip(cuts, ends, strict=True)]


def _add(
    sections: list[PageSection], page: PageLines, before: PageLines | None, after: PageLines | None, ruler: Ruler
) -> None:
    pages_beside = [near.lines for near in (before, after) if near is not None]
    foot = max((same_foot(lines, page.lines) for lines in pages_beside), default=0)
    foot = min(foot, max(0, len(page.lines) - 1))
    foot_lines = without_running(page.lines[len(page.lines) - foot :], pages_beside)
    pages_before = [before.lines] if before is not None else []
    pages_before += [sections[-1].first_page] if sections else []
    headings = _headings(sections[-1]) if sections else set()
    pairs = max((same_head(lines, page.lines, headings) for lines in pages_before), key=len, default=[])
    _shift(page, [(old, line) for old, line in pairs if repeated_text(line) in headings])
    head = min(len(pairs), len(page.lines) - foot)
    body = page.lines[head : len(page.lines) - foot]
    if sections and before is not None and body:
        section = sections[-1]
        if _goes_on(section, page.lines[:head], body, headings, ruler):
            last = section.blocks[-1]
            whole = continued_block(last, LineBlock(body, cover_of(body[0], ruler)), ruler)
            section.blocks[-1:] = [whole] if whole is not None else _continued(last, _blocks(body, ruler), ruler)
            section.foot = foot_lines if foot else section.foot
            return
    if not body and sections:
        return
    lines = page.lines[: len(page.lines) - foot]
    running = set() if before is None else {repeated_text(line) for line in before.lines[:HEAD_MAX]}
    sections.append(PageSection(_blocks(lines, ruler), foot_lines, page.lines, running))


def _blocks(lines: list[TextLine], ruler: Ruler) -> list[LineBlock]:
    """Return the blocks of lines.

    Those of tables that stand beside each other one after the other.
    """
    return [block for part in parted(lines) for block in blocks_of(part, ruler)]


def _continued(last: LineBlock, blocks: list[LineBlock], ruler: Ruler) -> list[LineBlock]:
    """Return a block and those of its next page.

    The first of these goes on with it where it can.
    """
    joined = continued_block(last, blocks[0], ruler)
    return [last, *blocks] if joined is None else [joined, *blocks[1:]]


def _shift(page: PageLines, pairs: list[tuple[TextLine, TextLine]]) -> None:
    """Move a page's words to where those of the page before stand.

    If its margins are others: by pairs of headings.
    """
    moves = [line.words[0].left - old.words[0].left for old, line in pairs]
    moves += [line.words[-1].right - old.words[-1].right for old, line in pairs]
    move = median(moves) if moves else 0.0
    if abs(move) > MOVED and max(moves) - min(moves) < MOVED:
        for line in page.lines:
            line.words = [word._replace(left=word.left - move, right=word.right - move) for word in line.words]


def _goes_on(
    section: PageSection, head: list[TextLine], body: list[TextLine], headings: set[str], ruler: Ruler
) -> bool:
    """Return whether a page goes on with the last table of a section."""
    last = section.blocks[-1]
    rows = [line for line in body if has_gaps(line)]
    if not rows:
        return not section.has_table or (len(body) <= 2 and bool(head))
    if last.table_lines < 2:
        return False
    if headings & {repeated_text(line) for line in head}:
        return True
    first = next((at for at, line in enumerate(body) if has_figures(line) and has_gaps(line)), 0)
    if headings & {repeated_text(line) for line in body[: min(first, HEAD_MAX)]}:
        return False  # below a title of its own
    if rows[0] is body[0] and _fits(last, rows[0], ruler) and _has_edges(last, rows[0]):
        return True
    titles = {repeated_text(line) for line in section.first_page[:HEAD_MAX]}
    rows = [line for line in rows if repeated_text(line) not in titles] or rows
    leading = next((line for line in rows if has_figures(line)), rows[0])
    if leading is not rows[0] or body.index(leading) > 2:
        return False
    return _fits(last, leading, ruler) and _is_aligned(last, leading)


def _headings(section: PageSection) -> set[str]:
    """Return the lines that may be the headings of a section's last table.

    They have enough columns for it, and do not also stand on the page before the section.
    """
    passing = section.running | _apart(section.first_page)
    lines = [line for line in section.blocks[-1].lines[:HEADINGS_WITHIN] if has_gaps(line)]
    lines = [line for line in lines if repeated_text(line) not in passing] or lines
    if not lines:
        return set()
    first = next((at for at, line in enumerate(lines) if has_figures(line)), 1)
    usual = median(len(phrases(line)) for line in lines[first:] or lines)
    return {repeated_text(line) for line in lines[:first] if len(phrases(line)) >= HEADING_SHARE * usual} - passing


def _apart(page: list[TextLine]) -> set[str]:
    """Return the lines at the top of a page that much space parts from the rest."""
    return {
        repeated_text(line)
        for line, below in itertools.pairwise(page)
        if line.baseline - below.baseline > RUNNING_SPACE * line.size
    }


def _fits(block: LineBlock, line: TextLine, ruler: Ruler) -> bool:
    return block.cover.joined(cover_of(line, ruler)) is not None


def _has_edges(block: LineBlock, line: TextLine) -> bool:
    """Return whether the cells of a line begin or end where those above it do."""
    above = [edges for old in block.lines[-LOOKED_BACK:] for edges in _edges(old)]
    own, near = _edges(line), ALIGNED * line.size
    count = sum(
        any(abs(left - begin) <= near or abs(right - end) <= near for begin, end in above) for left, right in own
    )
    return len(own) >= CELLS_MIN and count >= EDGES_SHARE * len(own)


def _edges(line: TextLine) -> list[tuple[float, float]]:
    return [(line.words[start].left, line.words[stop - 1].right) for start, stop in phrases(line)]


def _is_aligned(block: LineBlock, line: TextLine) -> bool:
    above = [word for old in block.lines[-LOOKED_BACK:] for word in old.words if is_value(word.text)]
    values = [word for word in line.words if is_value(word.text)]
    if not values or not above:
        return False
    near = ALIGNED * line.size
    count = sum(
        any(abs(word.right - old.right) <= near or abs(word.left - old.left) <= near for old in above)
        for word in values
    )
    return count >= ALIGNED_SHARE * len(values)
