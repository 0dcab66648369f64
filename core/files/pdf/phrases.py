"""Words of a line to phrases: what stands together, and what a wide gap parts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Final

from core.files.pdf.words import TextLine, Word

WIDE_GAP: Final = 0.7
"""Of the font's size: more than two spaces. Words of a sentence stand closer, even where it is justified."""
WIDE_SPACES: Final = 1.6
"""Of a space: likewise, for fonts whose spaces are wide."""
SURE_GAP: Final = 1.2
"""Of the font's size: no gap in a cell is so wide, not even two spaces in a justified line."""
SURE_SPACES: Final = 2.6
"""Of a space: likewise."""
SURE_PIECE_GAP: Final = 0.3
"""Of the font's size: what parts columns where cells are printed in one piece each."""
SEVERAL: Final = 3
"""Gaps of a line that none is so wide: columns that stand close."""
CLOSE_GAP: Final = 0.5
"""Of the font's size: words of a cell stand closer."""
CLOSE_SPACES: Final = 1.3
"""Of a space: likewise."""
PIECES_SHARE: Final = 0.3
"""Of the words that stand close, how many must be of one piece where pieces are cells."""
LINES_SHARE: Final = 0.05
"""Of the words that stand far apart, how many may be of one piece there; more, and pieces are lines."""
PIECE_WIDE_GAP: Final = 2.5
"""Of the font's size: what parts even words of one piece there; less may be several spaces in a cell."""
BROKEN_MAX: Final = 0.02
"""Of the words, how many may be printed in several pieces there."""
LABEL_GAP: Final = 0.18
"""Of the font's size: what parts a label that ends with a colon from its value."""

FIGURE_CHARACTERS_MAX: Final = 40
"""Of a figure or a date; a longer word is a text."""

_CURRENCY: Final = re.compile(r"(?:US|C|CA|A|AU|HK|S)?[$€£¥]")
_FIGURE: Final = re.compile(r"\(?[-+]?\(?(?:[$€£¥] ?)?[.,]*\d[\d.,]*\)?%?\)?(?:bps)?|[-–—]+", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\d[.,]\d|\d{5}|(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{4}|%|[-/.]\d")
"""Not a year alone, as "Term Loan (2021)" has."""
_YEAR: Final = re.compile(r"\((?:19|20)\d\d\)")
"""In brackets: the end of a name, such as "Term Loan (2021)"."""
_MONTH: Final = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,?", re.IGNORECASE)
_AFTER_FIGURE: Final = re.compile(r"%|\)|%\)|bps|x", re.IGNORECASE)
_LEADERS: Final = ".·…"
_LEADERS_LEAST: Final = 3
"""At the end of a word; two alone are some, too."""
_DOTS: Final = re.compile(r"[.·…]+")
_DATE: Final = re.compile(
    r"\d{1,2}[-/.][A-Za-z]{3,9}[-/.]\d{2,4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}/\d{4}", re.IGNORECASE
)
"""What may stand in a column of figures: with figures on both sides a gap of a space parts cells."""


def is_figure(text: str) -> bool:
    """Return whether a word is a number, an amount, a percentage or a dash for none."""
    return len(text) <= FIGURE_CHARACTERS_MAX and _FIGURE.fullmatch(text) is not None and not _YEAR.fullmatch(text)


def is_value(text: str) -> bool:
    """Return whether a word is a figure or a date."""
    return is_figure(text) or (len(text) <= FIGURE_CHARACTERS_MAX and _DATE.fullmatch(text) is not None)


def has_figures(line: TextLine) -> bool:
    """Return whether a line has a number or a date."""
    return any(word.text.strip("-–—") and is_value(word.text) for word in line.words)


def is_amount(text: str) -> bool:
    """Return whether a word can only be a cell of its own.

    A figure with decimals, groups or four digits, or a date.
    """
    return _AMOUNT.search(text) is not None and is_value(text)


def are_parted(before: Word, word: Word, *, has_pieces: bool) -> bool:
    """Return whether two words that stand close can only be cells of their own.

    They are of two pieces where pieces are cells; else one of them is an amount or a date.
    """
    if has_pieces:
        return before.last != word.first
    if _MONTH.fullmatch(before.text) or _MONTH.fullmatch(word.text):
        return False
    return is_amount(before.text) or (is_amount(word.text) and before.text[-1] not in "+-")


def without_leaders(text: str) -> str:
    """Return a word without the points that lead to the next column.

    In time that grows with its length, whatever it is: so do all patterns here.
    """
    rest = text.rstrip(_LEADERS)
    count = len(text) - len(rest)
    return rest if count >= _LEADERS_LEAST or (count == _LEADERS_LEAST - 1 and not rest) else text


def tidy(line: TextLine) -> None:
    """Join currency and percent signs to their figures; drop dotted leaders."""
    words: list[Word] = []
    for word in line.words:
        text = without_leaders(word.text)
        if not text or _DOTS.fullmatch(text):
            continue
        if text != word.text:
            width = (word.right - word.left) * len(text) / len(word.text)
            word = word._replace(right=word.left + width, text=text)
        before = words[-1] if words else None
        if before is not None and is_figure(text) and _CURRENCY.fullmatch(before.text):
            if not text.strip("-–—"):
                words[-1] = word._replace(left=before.left, first=before.first)
                continue
            words[-1] = Word(before.left, word.right, f"{before.text} {text}", before.first, word.last)
        elif before is not None and _AFTER_FIGURE.fullmatch(text) and _joins(before, word, line.size):
            words[-1] = Word(before.left, word.right, before.text + text, before.first, word.last)
        else:
            words.append(word)
    line.words = words


def _joins(before: Word, word: Word, size: float) -> bool:
    return before.text[-1].isdigit() and word.left - before.right < 2.5 * size


def has_gaps(line: TextLine) -> bool:
    """Return whether a line has a wide gap: more than one phrase."""
    return any(True for _ in gaps(line))


def sure_gaps(line: TextLine) -> Iterator[tuple[float, float]]:
    """Yield the gaps of a line that part columns for certain.

    The widest, or several that are wide.
    """
    every = list(gaps(line))
    least = SURE_PIECE_GAP * line.size if line.has_pieces else max(SURE_GAP * line.size, SURE_SPACES * line.space)
    sure = [(start, stop) for start, stop in every if stop - start > least]
    yield from sure or (every if len(every) >= SEVERAL else ())


def mark_pieces(lines: Iterable[TextLine]) -> None:
    """Mark the lines of a document whose program prints each cell in one piece."""
    every = list(lines)
    same = close = broken = count = far = far_same = 0
    for line in every:
        count += len(line.words)
        broken += sum(word.first != word.last for word in line.words)
        for before, word in zip(line.words, line.words[1:], strict=False):
            gap = word.left - before.right
            if gap < max(CLOSE_GAP * line.size, CLOSE_SPACES * line.space):
                close += 1
                same += before.last == word.first
            elif gap > max(SURE_GAP * line.size, SURE_SPACES * line.space):
                far += 1
                far_same += before.last == word.first
    are_words = same < PIECES_SHARE * close or same == 0
    are_lines = far_same > LINES_SHARE * far
    has_pieces = not are_words and not are_lines and broken <= BROKEN_MAX * count
    for line in every:
        line.has_pieces = has_pieces


def _is_wide(before: Word, word: Word, line: TextLine) -> bool:
    """Return whether a gap parts two words.

    A wide one, one between pieces, or a space between a label and its value.
    """
    gap = word.left - before.right
    if line.has_pieces:
        return before.last != word.first or gap > PIECE_WIDE_GAP * line.size
    if gap > max(WIDE_GAP * line.size, WIDE_SPACES * line.space):
        return True
    return gap > LABEL_GAP * line.size and before.text[-1] == ":" and is_value(word.text)


def phrases(line: TextLine) -> list[tuple[int, int]]:
    """Return the phrases of a line: first word, and one past the last."""
    bounds = [0]
    words = line.words
    bounds += [at for at in range(1, len(words)) if _is_wide(words[at - 1], words[at], line)]
    return list(zip(bounds, [*bounds[1:], len(words)], strict=True)) if words else []


def gaps(line: TextLine) -> Iterator[tuple[float, float]]:
    """Yield the wide gaps of a line, from and to."""
    words = line.words
    for before, word in itertools.pairwise(words):
        if _is_wide(before, word, line):
            yield before.right, word.left
