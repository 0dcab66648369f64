"""What reports that are set as pages share: texts that a page can hold, and a word on letters that no font shows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from core.typeset.pdf import typeset

TEXT_MAX: Final = 400
"""Characters of a name or a message; more are cut with a mark."""

WORD_MAX: Final = 24
"""Letters of a word that is kept whole; a longer one may break after so many, so that it stays in its cell."""

PIECE: Final = 12

UNSHOWN_LISTED: Final = 8

_UNSEEN: Final = frozenset(("Cc", "Cf", "Co", "Cs", "Cn"))
_JOINERS: Final = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\n\t"
_PARTS_OF_WORD: Final = re.compile(r"[^\s._/:-]*[._/:-]+|[^\s._/:-]+")


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
    """A text without what turns or hides others, cut to what a page has room for, breakable where it has no blanks."""
    shown = "".join(one for one in words if unicodedata.category(one) not in _UNSEEN or one in _JOINERS)
    return " ".join(map(_breakable, cut(" ".join(shown.split()), length).split(" ")))


def cut(words: str, length: int) -> str:
    """A text of so many characters at most, with a mark where it was longer."""
    return words if len(words) <= length else f"{words[: length - 1]}\N{HORIZONTAL ELLIPSIS}"


def _breakable(word: str) -> str:
    if len(word) <= WORD_MAX:
        return word
    return "\N{ZERO WIDTH SPACE}".join(
        part[at : at + step]
        for part in _PARTS_OF_WORD.findall(word)
        for step in (len(part) if len(part) <= WORD_MAX else PIECE,)
        for at in range(0, len(part), step)
    )
