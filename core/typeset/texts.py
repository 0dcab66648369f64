"""Texts that a page can hold, whatever they are made of."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.typeset.pdf import UNSHOWN

TEXT_MAX: Final = 400
"""Characters of a name or a message; more are cut with a mark."""

WHOLE_MAX: Final = 20_000
"""Characters of a text that names everything that it is about, such as a doubt or a warning."""

WORD_MAX: Final = 24
"""Letters of a word that is kept whole; a longer one may break after so many, so that it stays in its cell."""

PIECE: Final = 12
"""Letters of a piece of one that is broken."""


def page_text(words: str) -> str:
    """Return `plain_text` for a cell, breakable where it has no blanks."""
    return breakable(plain_text(words))


def whole_text(words: str) -> str:
    """Return the same, uncut, for a warning, a doubt or a verdict."""
    return breakable(plain_text(words, WHOLE_MAX))


def plain_text(words: str, most: int = TEXT_MAX) -> str:
    """Return a text without what turns or hides others, cut to what a page has room for."""
    shown = words
    if not (words.isascii() and words.isprintable()):
        shown = "".join(
            _visible(word) for word in words if unicodedata.category(word) not in _HIDDEN or word in _JOINERS
        )
    return cut(" ".join(shown.split()), most)


_HIDDEN: Final = frozenset(("Cc", "Cf"))
_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\n\t"


def _visible(letter: str) -> str:
    """Return the letter; a mark for half of a pair, which no encoding has."""
    return UNSHOWN if unicodedata.category(letter) == "Cs" else letter


def cut(words: str, length: int) -> str:
    """Return a text of so many characters at most, with a mark where it was longer."""
    return words if len(words) <= length else f"{words[: length - 1]}\N{HORIZONTAL ELLIPSIS}"


def breakable(words: str, word_max: int = WORD_MAX) -> str:
    """Return a text whose words of more than so many letters may be broken, by a space of no width."""
    return " ".join(_pieces(word, word_max) for word in words.split(" "))


def _pieces(word: str, word_max: int) -> str:
    if len(word) <= word_max:
        return word
    pieces: list[str] = []
    for part in _PARTS_OF_WORD.findall(word):
        letters = _letters(part)
        step = len(letters) if len(letters) <= word_max else PIECE
        pieces += ["".join(letters[at : at + step]) for at in range(0, len(letters), step)]
    return "\N{ZERO WIDTH SPACE}".join(pieces)


def _letters(word: str) -> list[str]:
    """Return letters with the marks that belong to them.

    A line that breaks between the two stops the compiler.
    """
    letters: list[str] = []
    for each in word:
        if letters and unicodedata.category(each).startswith(_JOINED_ON):
            letters[-1] += each
        else:
            letters.append(each)
    return letters


_PARTS_OF_WORD: Final = re.compile(r"[^\s._/:-]*[._/:-]+|[^\s._/:-]+")
_JOINED_ON: Final = ("M", "Cf")
