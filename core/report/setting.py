"""What reports that are set as pages share: texts that a page can hold, and a word on letters that no font shows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from core.typeset.pdf import UNSHOWN, typeset

TEXT_MAX: Final = 400
"""Characters of a name or a message; more are cut with a mark."""

WORD_MAX: Final = 24
"""Letters of a word that is kept whole; a longer one may break after so many, so that it stays in its cell."""

PIECE: Final = 12

UNSHOWN_LISTED: Final = 8


def set_pages(template: Path, view: Callable[[Sequence[str]], dict[str, Any]], created: datetime) -> bytes:
    """The PDF of a template and its data, which `view` makes with further remarks for the first page: letters that no
    font of ours has stand as a mark, and the remark says so."""
    made = typeset(template, view(()), created=created)
    if made.replaced:
        codes = ", ".join(" ".join(f"U+{ord(one):04X}" for one in text) for text in made.replaced[:UNSHOWN_LISTED])
        more = "" if len(made.replaced) <= UNSHOWN_LISTED else f" and {len(made.replaced) - UNSHOWN_LISTED} more"
        remark = f"Letters that this document's fonts lack are shown as a mark: {codes}{more}."
        made = typeset(template, view((remark,)), created=created)
    return made.data


def page_text(words: str, length: int = TEXT_MAX) -> str:
    """A text for a cell: as `plain_text` has it, breakable where it has no blanks."""
    return " ".join(map(_breakable, plain_text(words, length).split(" ")))


def plain_text(words: str, length: int = TEXT_MAX) -> str:
    """A text without what turns or hides others, cut to what a page has room for."""
    shown = "".join(_seen(one) for one in words if unicodedata.category(one) not in _HIDDEN or one in _JOINERS)
    return cut(" ".join(shown.split()), length)


_HIDDEN: Final = frozenset(("Cc", "Cf"))
_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\n\t"


def _seen(letter: str) -> str:
    """The letter; a mark for half of a pair, which no encoding has."""
    return UNSHOWN if unicodedata.category(letter) == "Cs" else letter


def cut(words: str, length: int) -> str:
    """A text of so many characters at most, with a mark where it was longer."""
    return words if len(words) <= length else f"{words[: length - 1]}\N{HORIZONTAL ELLIPSIS}"


def _breakable(word: str) -> str:
    if len(word) <= WORD_MAX:
        return word
    pieces: list[str] = []
    for part in _PARTS_OF_WORD.findall(word):
        letters = _letters(part)
        step = len(letters) if len(letters) <= WORD_MAX else PIECE
        pieces += ["".join(letters[at : at + step]) for at in range(0, len(letters), step)]
    return "\N{ZERO WIDTH SPACE}".join(pieces)


def _letters(word: str) -> list[str]:
    """Letters with the marks that belong to them: a line that breaks between the two stops the compiler."""
    letters: list[str] = []
    for one in word:
        if letters and unicodedata.category(one).startswith(_JOINED_ON):
            letters[-1] += one
        else:
            letters.append(one)
    return letters


_PARTS_OF_WORD: Final = re.compile(r"[^\s._/:-]*[._/:-]+|[^\s._/:-]+")
_JOINED_ON: Final = ("M", "Cf")
