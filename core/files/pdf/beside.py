"""Tables that stand beside each other on a page.

Their lines, one table after the other.

A wide strip parts them. One wide table has such strips too, so that more must speak for two: a title or a total on
either side, the same headings again, labels with colons, or rows that keep different heights or end apart. Each side
needs labels of its own. Strips of nearly the same width part more than two tables.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from core.files.pdf.phrases import has_gaps, is_value, phrases
from core.files.pdf.words import TextLine

STRIP: Final = 1.5
"""Of the font's size: how wide the strip between two tables is at least."""
WIDEST: Final = 1.2
"""How much wider it is than any strip in them, where no words prove it."""
SPACE: Final = 2.2
"""Of the font's size: lines that stand further apart belong to different parts of the page."""
SPACE_OF_USUAL: Final = 1.3
"""Likewise, of the usual distance of lines on a page."""
NEAR: Final = 3.0
"""Likewise, of headings and titles above them."""
LABELLED: Final = 0.8
"""Of a table's rows with figures, how many begin with words."""
FIGURED: Final = 0.5
"""Of its lines, how many have figures."""
COLONS: Final = 0.7
"""Of the lines of a list of labels and values, how many have a colon behind their label."""
ROWS: Final = 2
"""Rows that a table has at least, and rows of either side alone that show that their heights differ."""
ROWS_BELOW: Final = 3
"""Rows of one side alone, below the end of the other, that show that it ends there."""
TITLE_ABOVE: Final = 3
"""Lines below a title in which its table begins."""
HEADINGS: Final = 2
"""Headings of a table that stand again in the same line, at least."""
STRIPS_MAX: Final = 3
"""Strips of nearly the same width between tables."""


@dataclass(frozen=True, slots=True)
class _Sides:
    """The lines left and right of a strip, None where a line has no words there."""

    left: list[TextLine | None]
    right: list[TextLine | None]
    left_figures: list[bool]
    right_figures: list[bool]
    """Whether each line has a figure on a side."""
    is_widest: bool


def parted(lines: list[TextLine]) -> list[list[TextLine]]:
    """Return the lines of a page in parts.

    All of them, or tables that stand beside each other one after the other.
    """
    for first, stop in _chunks(lines):
        strip = _strip_between(lines[first:stop])
        if strip is None:
            continue
        first, stop = _extended(lines, first, stop, strip)
        left, right = _halves(lines[first:stop], strip)
        above = lines[:first]
        if any(has_gaps(line) for line in above):
            return [above, *parted(left), *parted(right), *_rest(lines[stop:])]
        return [*parted([*above, *left]), *parted(right), *_rest(lines[stop:])]
    return [lines]


def _rest(lines: list[TextLine]) -> list[list[TextLine]]:
    return parted(lines) if lines else []


def _chunks(lines: list[TextLine]) -> list[tuple[int, int]]:
    """Return runs of lines that no wide space parts from the next.

    The first, and one past the last.

    Lines above and below that have one phrase alone are titles and remarks.
    """
    spaces = [_space(lines, at) for at in range(1, len(lines))]
    wide = max(SPACE, SPACE_OF_USUAL * median(spaces)) if spaces else SPACE
    starts = [0, *(at for at, space in enumerate(spaces, 1) if space > wide)]
    chunks: list[tuple[int, int]] = []
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        within = [at for at in range(start, stop) if has_gaps(lines[at])]
        if len(within) > ROWS:
            chunks.append((within[0], within[-1] + 1))
    return chunks


def _space(lines: list[TextLine], at: int) -> float:
    """Return the distance of a line from the one above, by the larger font's size."""
    above, line = lines[at - 1], lines[at]
    return (above.baseline - line.baseline) / max(above.size, line.size)


def _extended(lines: list[TextLine], first: int, stop: int, strip: tuple[float, float]) -> tuple[int, int]:
    """Return a run of lines with those near it that do not touch the strip.

    Such are headings.
    """
    while first > 0 and _space(lines, first) < NEAR and not _touches(lines[first - 1], strip):
        first -= 1
    while stop < len(lines) and _space(lines, stop) < NEAR and not _touches(lines[stop], strip):
        stop += 1
    return first, stop


def _touches(line: TextLine, strip: tuple[float, float]) -> bool:
    return any(word.left < strip[1] and word.right > strip[0] for word in line.words)


def _halves(lines: list[TextLine], strip: tuple[float, float]) -> tuple[list[TextLine], list[TextLine]]:
    """Return the lines left and right of a strip."""
    middle = (strip[0] + strip[1]) / 2
    sides = _sides(lines, [[False] * len(line.words) for line in lines], middle, is_widest=True)
    left, right = ([line for line in side if line is not None] for side in (sides.left, sides.right))
    return left, right


def _strip_between(lines: list[TextLine]) -> tuple[float, float] | None:
    """Return the strip between two tables; None for one table.

    The first, where there are more.
    """
    strips = _strips(lines)
    if not strips:
        return None
    flags = [[is_value(word.text) for word in line.words] for line in lines]
    alike = _alike(strips)
    for at, (begin, end) in enumerate(strips):
        if _are_two(_sides(lines, flags, (begin + end) / 2, is_widest=at == 0 and alike == 1)):
            return begin, end
    if 1 < alike <= STRIPS_MAX and _are_several(lines, flags, sorted(strips[:alike])):
        return min(strips[:alike])
    return None


def _alike(strips: list[tuple[float, float]]) -> int:
    """Return how many strips are nearly as wide as the next, the widest first."""
    widths = [end - begin for begin, end in strips]
    for at in range(1, len(widths)):
        if widths[at - 1] > WIDEST * widths[at]:
            return at
    return len(widths)


def _are_several(lines: list[TextLine], flags: list[list[bool]], strips: list[tuple[float, float]]) -> bool:
    """Return whether each strip parts two tables."""
    middles = [-math.inf, *((begin + end) / 2 for begin, end in strips), math.inf]
    for before, middle, after in zip(middles, middles[1:], middles[2:], strict=False):
        sides = _sides(*_between(lines, flags, before, after), middle, is_widest=True)
        if not _are_two(sides):
            return False
    return True


def _between(
    lines: list[TextLine], flags: list[list[bool]], begin: float, end: float
) -> tuple[list[TextLine], list[list[bool]]]:
    """Return the words between two places of each line, and which are figures."""
    within: list[TextLine] = []
    figures: list[list[bool]] = []
    for line, are_figures in zip(lines, flags, strict=True):
        first, stop = (bisect_left(line.words, edge, key=lambda word: word.left) for edge in (begin, end))
        if first < stop:
            within.append(replace(line, words=line.words[first:stop]))
            figures.append(are_figures[first:stop])
    return within, figures


def _strips(lines: list[TextLine]) -> list[tuple[float, float]]:
    """Return the wide strips that no word of the lines touches, the widest first."""
    size = max(line.size for line in lines)
    strips: list[tuple[float, float]] = []
    reach = None
    for left, right in sorted((word.left, word.right) for line in lines for word in line.words):
        if reach is not None and left - reach > STRIP * size:
            strips.append((reach, left))
        reach = right if reach is None else max(reach, right)
    return sorted(strips, key=lambda strip: strip[0] - strip[1])


def _sides(lines: list[TextLine], flags: list[list[bool]], middle: float, *, is_widest: bool) -> _Sides:
    sides = _Sides([], [], [], [], is_widest)
    for line, figures in zip(lines, flags, strict=True):
        at = bisect_left(line.words, middle, key=lambda word: word.left)
        sides.left.append(replace(line, words=line.words[:at]) if at else None)
        sides.right.append(replace(line, words=line.words[at:]) if at < len(line.words) else None)
        sides.left_figures.append(any(figures[:at]))
        sides.right_figures.append(any(figures[at:]))
    return sides


def _are_two(sides: _Sides) -> bool:
    """Return whether two tables stand on the sides of a strip."""
    if _has_labels(sides.left) and _has_labels(sides.right):
        return True
    if not (_is_table(sides.left, sides.left_figures) and _is_table(sides.right, sides.right_figures)):
        return False
    if _has_total(sides.left, sides.left_figures) and _has_total(sides.right, sides.right_figures):
        return True
    if _have_same_headings(sides):
        return True
    return sides.is_widest and (_have_titles(sides) or _keep_other_heights(sides))


def _have_same_headings(sides: _Sides) -> bool:
    """Return whether one side has the other's headings, once or several times.

    They stand above all figures. The first may differ in each where the strip is the widest or a title stands above
    each.
    """
    for at, (left, right) in enumerate(zip(sides.left, sides.right, strict=True)):
        if sides.left_figures[at] or sides.right_figures[at]:
            return False
        if left is None or right is None:
            continue
        texts = [*_phrase_texts(left), *_phrase_texts(right)]
        count = min(len(phrases(left)), len(phrases(right)))
        tables = [texts[begin : begin + count] for begin in range(0, len(texts), count)]
        if count < HEADINGS or any(table[1:] != tables[0][1:] for table in tables):
            continue
        if all(table == tables[0] for table in tables):
            return True
        if count > HEADINGS and (sides.is_widest or _has_titles_above(sides, at, count)):
            return True
    return False


def _has_titles_above(sides: _Sides, at: int, count: int) -> bool:
    """Return whether a line above headings has a title at each table's left edge.

    `count` is how many headings each table has.

    And nothing else.
    """
    edges = _phrase_edges(sides, at)[::count]
    for above in range(at):
        titles = _phrase_edges(sides, above)
        near = 0.5 * max(line.size for line in (sides.left[at], sides.right[at]) if line is not None)
        if len(titles) == len(edges) and all(
            abs(title - edge) < near for title, edge in zip(titles, edges, strict=True)
        ):
            return True
    return False


def _phrase_edges(sides: _Sides, at: int) -> list[float]:
    """Return the left edges of the phrases of a line, on both sides."""
    lines = [line for line in (sides.left[at], sides.right[at]) if line is not None]
    return [line.words[first].left for line in lines for first, _ in phrases(line)]


def _phrase_texts(line: TextLine) -> list[str]:
    return [" ".join(word.text for word in line.words[first:stop]).casefold() for first, stop in phrases(line)]


def _has_labels(side: list[TextLine | None]) -> bool:
    """Return whether a side is a list of labels, each with a colon, and values."""
    lines = [line for line in side if line is not None]
    first = [line.words[phrases(line)[0][1] - 1].text for line in lines if len(line.words) > 1]
    labels = sum(text.endswith(":") for text in first)
    return labels >= ROWS and labels >= COLONS * len(lines)


def _is_table(side: list[TextLine | None], figures: list[bool]) -> bool:
    """Return whether a side has rows with figures behind labels of their own."""
    lines = [line for line in side if line is not None]
    rows = [line for line, figured in zip(side, figures, strict=True) if line is not None and figured]
    if len(rows) < ROWS or len(rows) < FIGURED * len(lines):
        return False
    labelled = sum(not is_value(line.words[0].text) and any(map(str.isalpha, line.words[0].text)) for line in rows)
    return labelled >= LABELLED * len(rows)


def _has_total(side: list[TextLine | None], figures: list[bool]) -> bool:
    return any(
        line is not None and figured and line.words[0].text.casefold().startswith("total")
        for line, figured in zip(side, figures, strict=True)
    )


def _have_titles(sides: _Sides) -> bool:
    """Return whether a line has a title at the left edge of either side.

    It stands above headings or rows of several columns.
    """
    left_edge, right_edge = (
        min(line.words[0].left for line in side if line is not None) for side in (sides.left, sides.right)
    )
    for at, (left, right) in enumerate(zip(sides.left, sides.right, strict=True)):
        if sides.left_figures[at] or sides.right_figures[at]:
            return False
        if left is None or right is None or len(phrases(left)) > 1 or len(phrases(right)) > 1:
            continue
        near = 0.5 * left.size
        if left.words[0].left - left_edge > near or right.words[0].left - right_edge > near:
            continue
        below = slice(at + 1, at + 1 + TITLE_ABOVE)
        if _has_columns(sides.left[below]) and _has_columns(sides.right[below]):
            return True
    return False


def _has_columns(side: list[TextLine | None]) -> bool:
    return any(line is not None and len(phrases(line)) > 1 for line in side)


def _keep_other_heights(sides: _Sides) -> bool:
    """Return whether the rows of the two sides stand on different lines.

    Or one side ends above the other.
    """
    alone = [_alone(sides.left_figures, sides.right), _alone(sides.right_figures, sides.left)]
    if min(map(sum, alone)) >= ROWS:
        return True
    return any(
        sum(rows[_end(across) :]) >= ROWS_BELOW for rows, across in zip(alone, (sides.right, sides.left), strict=True)
    )


def _alone(figures: list[bool], across: list[TextLine | None]) -> list[bool]:
    """Return which lines have figures on a side and no word on the other."""
    return [figured and line is None for figured, line in zip(figures, across, strict=True)]


def _end(side: list[TextLine | None]) -> int:
    return max(at for at, line in enumerate(side) if line is not None) + 1
