"""What pages repeat at their top and at their end.

Titles, headings, remarks, numbers of pages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from core.files.pdf.phrases import gaps, has_figures
from core.files.pdf.words import PageLines, TextLine

HEAD_MAX: Final = 14
"""Lines at the top of a page that may repeat."""
FOOT_MAX: Final = 6
"""Lines at its end."""
OVERLAP: Final = 0.85
"""Of the font's size: lines closer than that belong to one row."""
FOOT_SPACE: Final = 1.5
"""Of the font's size: what parts the running lines at the end of a page from its last row."""
SAME_HEIGHT: Final = 1.0
"""Points: how far a running line may stand from its place on the page before, upwards."""
SHIFT: Final = 3.0
"""Points: how far a repeated line may stand from its place on the page before, sideways."""

_PAGE_NUMBER: Final = re.compile(
    r"(?:page|seite|p\.)?\s*(?:[A-Z]{1,3}-)?\d{1,4}(?:\s*(?:of|/|von)\s*\d{1,4})?(?:\s*\|.*)?|-\s*\d{1,4}\s*-",
    re.IGNORECASE,
)
_NUMBER_IN_LINE: Final = re.compile(r"\b(page|seite)\s*:?\s*\d{1,4}(\s*(?:of|/|von)\s*\d{1,4})?", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\d[.,]\d{2,3}(?!\d*[-/])")
_CONTINUED: Final = re.compile(
    r"(?<![\s(\[–—-])[\s(\[–—-]*(?:continued|cont'?d\.?|fortsetzung)\s*[)\]]*", re.IGNORECASE
)
"""With all that leads to it: a run of signs is looked at once, however long it is."""


def is_page_number(line: TextLine) -> bool:
    """Return whether a line has the number of its page and nothing else."""
    return len(line.words) <= 5 and _PAGE_NUMBER.fullmatch(line.text) is not None


def repeated_text(line: TextLine) -> str:
    """Return a line's text as it stands on each of its pages.

    Without the page's number and "continued".
    """
    return _repeated(line.text)


@lru_cache(maxsize=4_096)
def _repeated(text: str) -> str:
    return _CONTINUED.sub("", _NUMBER_IN_LINE.sub("page", text)).strip().casefold()


def drop_page_numbers(page: PageLines) -> None:
    """Take the numbers of pages off the top and the end of a page.

    One that stands close to the line above is the end of a date there.
    """
    lines = page.lines
    while lines and is_page_number(lines[-1]) and (len(lines) == 1 or _is_apart(lines[-2], lines[-1])):
        lines.pop()
    while len(lines) > 1 and is_page_number(lines[0]):
        lines.pop(0)


def same_head(before: list[TextLine], lines: list[TextLine]) -> int:
    """Return how many lines at the top of a page stand on a page before, too.

    Its first lines, and headings below them.

    Between them that page may have titles that this one lacks.
    """
    at = count = 0
    for line in lines[:HEAD_MAX]:
        again = next((place for place in range(at, len(before)) if _same(before[place], line)), None)
        if again is None or (again > count and not _is_heading(line)):
            break
        at, count = again + 1, count + 1
    while 0 < count < len(lines) and _prints_over(lines[count - 1], lines[count]):
        count -= 1
    return count


def _prints_over(line: TextLine, below: TextLine) -> bool:
    """Return whether a line is the upper one of a cell that others stand in the middle of."""
    return line.baseline - below.baseline < OVERLAP * line.size


def _is_heading(line: TextLine) -> bool:
    """Return whether a line may be a title, or headings: columns without a figure."""
    return not has_figures(line) or not any(True for _ in gaps(line))


def same_foot(before: list[TextLine], lines: list[TextLine]) -> int:
    """Return how many lines at the end of a page are those of another."""
    count = 0
    for old, new in zip(before[: -FOOT_MAX - 1 : -1], lines[: -FOOT_MAX - 1 : -1], strict=False):
        if not _same(old, new) or _has_amount(new):
            break
        count += 1
    while 0 < count < len(lines) and not _is_apart(lines[-count - 1], lines[-count]):
        count -= 1
    return count


def _is_apart(above: TextLine, line: TextLine) -> bool:
    """Return whether a line stands apart from the one above.

    A wrapped cell's last line does not.
    """
    return above.baseline - line.baseline > FOOT_SPACE * line.size


def _has_amount(line: TextLine) -> bool:
    """Return whether a line has an amount.

    So have the totals of two tables that end alike.
    """
    return any(_AMOUNT.search(word.text) for word in line.words)


def without_running(foot: list[TextLine], pages: list[list[TextLine]]) -> list[TextLine]:
    """Return the lines at a page's end but those at the same height on others."""
    ends = [line for lines in pages for line in lines[-FOOT_MAX:]]
    return [
        line
        for line in foot
        if not any(abs(old.baseline - line.baseline) <= SAME_HEIGHT and _same(old, line) for old in ends)
    ]


def _same(old: TextLine, new: TextLine) -> bool:
    if is_page_number(old) and is_page_number(new):
        return True
    return repeated_text(old) == repeated_text(new) and abs(old.words[0].left - new.words[0].left) <= SHIFT * 20
