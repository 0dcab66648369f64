"""What pages repeat at their top and at their end.

Titles, headings, remarks, numbers of pages.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from statistics import median
from typing import Final

from core.files.pdf.phrases import has_figures, has_gaps, phrases
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
PITCH_SPACE: Final = 1.3
"""Of the usual distance of the lines above: likewise."""
LINES_ABOVE: Final = 12
"""Lines above that tell it."""
PART_OF_HEADING: Final = 0.5
"""Of the phrases of a heading, how many another line of it may have that is not known as one."""

_PAGE_NUMBER: Final = re.compile(
    r"(?:page|seite|p\.)?\s*(?:[A-Z]{1,3}-)?\d{1,4}(?:\s*(?:of|/|von)\s*\d{1,4})?(?:\s*\|.*)?|-\s*\d{1,4}\s*-",
    re.IGNORECASE,
)
_NUMBER_IN_LINE: Final = re.compile(r"\b(page|seite)\s*:?\s*\d{1,4}(\s*(?:of|/|von)\s*\d{1,4})?", re.IGNORECASE)
_TIME: Final = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?", re.IGNORECASE)
"""When a page was printed."""
_AMOUNT: Final = re.compile(r"\d[.,]\d{2,3}(?!\d*[-/])")
_COUNT: Final = re.compile(r"\d+\s*(?:of|/|von)\s*\d+", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d+")
_CONTINUED: Final = re.compile(
    r"(?<![\s(\[–—-])[\s(\[–—-]*(?:continued|cont'?d\.?|fortsetzung)\s*[)\]]*", re.IGNORECASE
)
"""With all that leads to it: a run of signs is looked at once, however long it is."""


def is_page_number(line: TextLine) -> bool:
    """Return whether a line has the number of its page and nothing else."""
    return len(line.words) <= 5 and _PAGE_NUMBER.fullmatch(line.text) is not None


def repeated_text(line: TextLine) -> str:
    """Return a line's text as it stands on each of its pages.

    Without the page's number, the time of printing and "continued".
    """
    return _repeated(line.text)


@lru_cache(maxsize=4_096)
def _repeated(text: str) -> str:
    return _CONTINUED.sub("", _TIME.sub("", _NUMBER_IN_LINE.sub("page", text))).strip().casefold()


def drop_page_numbers(page: PageLines) -> None:
    """Take the numbers of pages off the top and the end of a page.

    One that stands close to the line above is the end of a date there.
    """
    lines = page.lines
    while lines and is_page_number(lines[-1]) and (len(lines) == 1 or _is_apart(lines, len(lines) - 1)):
        lines.pop()
    while len(lines) > 1 and is_page_number(lines[0]):
        lines.pop(0)


def same_head(before: list[TextLine], lines: list[TextLine], headings: set[str]) -> list[tuple[TextLine, TextLine]]:
    """Return the lines at the top of a page that stand on a page before, too.

    Each behind its line there.

    They are its first lines, and headings below them. Between them that page may have titles that this one lacks. Below
    a table's headings a line with columns is a row, even if it is the same on both pages.
    """
    pairs: list[tuple[TextLine, TextLine]] = []
    at, columns = 0, 0
    for line in lines[:HEAD_MAX]:
        again = next((place for place in range(at, len(before)) if _same(before[place], line)), None)
        if again is None and at < len(before) and _changes(before[at], line):
            again = at
        if again is None or (again > len(pairs) and not _is_heading(line)) or _is_row(line, headings, columns):
            break
        if columns and again > at and repeated_text(line) not in headings and not _CONTINUED.search(line.text):
            break  # a name that stands further down there, too
        if repeated_text(line) in headings:
            columns = max(columns, len(phrases(line)))
        at = again + 1
        pairs.append((before[again], line))
    while 0 < len(pairs) < len(lines) and _prints_over(lines[len(pairs) - 1], lines[len(pairs)]):
        pairs.pop()
    return pairs


def _changes(old: TextLine, new: TextLine) -> bool:
    """Return whether a title differs in its count only, as "Section 2 of 5" does."""
    if has_gaps(new) or _COUNT.search(new.text) is None:
        return False
    return _DIGITS.sub("#", repeated_text(old)) == _DIGITS.sub("#", repeated_text(new))


def _is_row(line: TextLine, headings: set[str], columns: int) -> bool:
    """Return whether a line is a row of a table.

    It has an amount in columns, or columns below headings of so many.
    """
    if not has_gaps(line) or repeated_text(line) in headings:
        return False
    return _has_amount(line) or (columns > 0 and (has_figures(line) or len(phrases(line)) > PART_OF_HEADING * columns))


def _prints_over(line: TextLine, below: TextLine) -> bool:
    """Return whether a line is the upper one of a cell with others in its middle."""
    return line.baseline - below.baseline < OVERLAP * line.size


def _is_heading(line: TextLine) -> bool:
    """Return whether a line may be a title, or headings: columns without a figure."""
    return not has_figures(line) or not has_gaps(line)


def same_foot(before: list[TextLine], lines: list[TextLine]) -> int:
    """Return how many lines at the end of a page are those of another."""
    count = 0
    for old, new in zip(before[: -FOOT_MAX - 1 : -1], lines[: -FOOT_MAX - 1 : -1], strict=False):
        if not _same(old, new) or _has_amount(new):
            break
        count += 1
    while 0 < count < len(lines) and not _is_apart(lines, len(lines) - count):
        count -= 1
    return count


def _is_apart(lines: list[TextLine], at: int) -> bool:
    """Return whether a line stands further from the one above than lines do there.

    A wrapped cell's last line does not, nor a table's last row.
    """
    distance = lines[at - 1].baseline - lines[at].baseline
    above = lines[max(0, at - LINES_ABOVE) : at]
    pitches = [line.baseline - below.baseline for line, below in pairwise(above)]
    usual = median(pitches) if len(pitches) > 1 else 0.0
    return distance > max(FOOT_SPACE * lines[at].size, PITCH_SPACE * usual)


def _has_amount(line: TextLine) -> bool:
    """Return whether a line has an amount, as totals that repeat may have."""
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
    return repeated_text(old) == repeated_text(new)
