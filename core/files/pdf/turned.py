"""Headings that run up or down the page above narrow columns.

Other text in such a direction, such as a page's number at the foot of a turned page, belongs to no table.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from typing import Final, NamedTuple

from core.files.pdf.phrases import phrases
from core.files.pdf.words import PageLines, TextLine, Word

ASCENT: Final = 0.75
"""Of the font's size: how far its letters rise above their baseline."""
DESCENT: Final = 0.25
"""Likewise, how far they sink below."""
NEXT_LINE: Final = 0.6
"""Of the font's size: the lines of one heading stand closer."""
SAME_HEIGHT: Final = 0.5
"""Of the font's size: how far a heading may end from the baseline of those beside it."""
BELOW: Final = 5.0
"""Of the font's size: how near the first row of its column is."""
ASIDE: Final = 1.5
"""Of the font's size: how far aside the figures of its column may stand."""
LEAST: Final = 2
"""Headings that stand beside each other."""


class _Heading(NamedTuple):
    """Where a heading stands on the upright page."""

    left: float
    right: float
    bottom: float
    top: float
    size: float
    text: str
    is_upward: bool


def with_headings(page: PageLines) -> PageLines:
    """Return the page with its turned headings as words of the line at their foot."""
    headings = sorted([*_placed(page.upward, is_upward=True), *_placed(page.downward, is_upward=False)])
    for group in _beside(_whole(headings)):
        if len(group) >= LEAST and _has_columns(group, page.lines):
            _put(group, page)
    return page


def _placed(lines: list[TextLine], *, is_upward: bool) -> Iterator[_Heading]:
    for line in lines:
        for start, stop in phrases(line):
            words = line.words[start:stop]
            text = " ".join(word.text for word in words)
            first, last = words[0].left, words[-1].right
            if is_upward:
                base = -line.baseline
                left, right, bottom, top = base - ASCENT * line.size, base + DESCENT * line.size, first, last
            else:
                base = line.baseline
                left, right, bottom, top = base - DESCENT * line.size, base + ASCENT * line.size, -last, -first
            yield _Heading(left, right, bottom, top, line.size, text, is_upward)


def _whole(headings: list[_Heading]) -> list[_Heading]:
    """Return the headings, those of several lines as one."""
    whole: list[_Heading] = []
    for heading in headings:
        last = whole[-1] if whole else None
        if last is None or heading.left - last.right > NEXT_LINE * last.size or not _overlap(last, heading):
            whole.append(heading)
            continue
        whole[-1] = last._replace(
            right=heading.right,
            bottom=min(last.bottom, heading.bottom),
            top=max(last.top, heading.top),
            text=f"{last.text} {heading.text}" if last.is_upward else f"{heading.text} {last.text}",
        )
    return whole


def _overlap(first: _Heading, second: _Heading) -> bool:
    return first.bottom < second.top and second.bottom < first.top


def _beside(headings: list[_Heading]) -> list[list[_Heading]]:
    """Return the headings in groups that stand on the same height."""
    groups: list[list[_Heading]] = []
    for heading in headings:
        group = next((group for group in groups if _overlap(group[-1], heading)), None)
        if group is None:
            groups.append([heading])
        else:
            group.append(heading)
    return groups


def _has_columns(group: list[_Heading], lines: list[TextLine]) -> bool:
    """Return whether upright text stands below each heading, and none where they are."""
    foot = min(heading.bottom for heading in group)
    return all(
        any(
            foot - BELOW * heading.size < line.baseline < foot and _stands_at(heading, line, ASIDE * heading.size)
            for line in lines
        )
        and not any(
            foot + SAME_HEIGHT * heading.size < line.baseline < heading.top and _stands_at(heading, line, 0.0)
            for line in lines
        )
        for heading in group
    )


def _stands_at(heading: _Heading, line: TextLine, tolerance: float) -> bool:
    return any(word.left < heading.right + tolerance and word.right > heading.left - tolerance for word in line.words)


def _put(group: list[_Heading], page: PageLines) -> None:
    """Put headings on the line at their foot, or on a line of their own."""
    foot, size = min(heading.bottom for heading in group), group[0].size
    line = next((line for line in page.lines if abs(line.baseline - foot) <= SAME_HEIGHT * size), None)
    if line is None:
        line = TextLine(page.number, 0, foot, size, 0.3 * size)
        insort(page.lines, line, key=lambda line: -line.baseline)
        for number, own in enumerate(page.lines, 1):
            own.number = number
    words = [Word(own.left, own.right, own.text, -at, -at) for at, own in enumerate(group, 1)]
    line.words[:] = sorted([*line.words, *words])
