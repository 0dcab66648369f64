"""Words of a line to phrases: what stands together, and what a wide gap parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.files.pdf.words import Line, Word

WIDE_GAP: Final = 0.7
"""Of the font's size: more than two spaces. Words of a sentence stand closer, even where it is justified."""

_CURRENCY: Final = re.compile(r"(?:US|C|CA|A|AU|HK|S)?[$€£¥]|(?:USD|EUR|GBP|CAD|AUD|CHF|JPY)")
_FIGURE: Final = re.compile(r"\(?[-+]?\(?[$€£¥]?[\d.,]*\d[\d.,]*\)?%?\)?(?:bps)?|[-–—]+", re.IGNORECASE)
_AFTER_FIGURE: Final = re.compile(r"%|\)|%\)|bps|x", re.IGNORECASE)
_LEADERS: Final = re.compile(r"\s*(?:[.·…]\s?){3,}$|^[.·…]{2,}$")
_DATE: Final = re.compile(
    r"\d{1,2}[-/.][A-Za-z]{3,9}[-/.]\d{2,4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}/\d{4}", re.IGNORECASE
)
"""What may stand in a column of figures: with figures on both sides a gap of a space parts cells."""


def is_figure(text: str) -> bool:
    """Return whether a word is a number, an amount, a percentage or a dash for none."""
    return _FIGURE.fullmatch(text) is not None


def is_value(text: str) -> bool:
    """Return whether a word is a figure or a date."""
    return is_figure(text) or _DATE.fullmatch(text) is not None


def tidy(line: Line) -> None:
    """Join currency signs to their amounts and percent signs to their figures; drop dotted leaders."""
    words: list[Word] = []
    for word in line.words:
        text = _LEADERS.sub("", word.text)
        if not text:
            continue
        if text != word.text:
            word = Word(word.left, word.left + (word.right - word.left) * len(text) / len(word.text), text)
        before = words[-1] if words else None
        if before is not None and is_figure(text) and _CURRENCY.fullmatch(before.text):
            words[-1] = Word(before.left, word.right, f"{before.text} {text}")
        elif before is not None and _AFTER_FIGURE.fullmatch(text) and _joins(before, word, line.size):
            words[-1] = Word(before.left, word.right, before.text + text)
        else:
            words.append(word)
    line.words = words


def _joins(before: Word, word: Word, size: float) -> bool:
    return before.text[-1].isdigit() and word.left - before.right < 2.5 * size


def phrases(line: Line) -> list[tuple[int, int]]:
    """Return the phrases of a line: first word, and one past the last."""
    bounds = [0]
    words = line.words
    gap = WIDE_GAP * line.size
    bounds += [at for at in range(1, len(words)) if words[at].left - words[at - 1].right > gap]
    return list(zip(bounds, [*bounds[1:], len(words)], strict=True)) if words else []


def gaps(line: Line) -> Iterator[tuple[float, float]]:
    """Yield the wide gaps of a line, from and to."""
    words = line.words
    gap = WIDE_GAP * line.size
    for before, word in zip(words, words[1:], strict=False):
        if word.left - before.right > gap:
            yield before.right, word.left
