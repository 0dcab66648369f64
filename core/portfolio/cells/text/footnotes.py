"""Footnote marks: superscripts, daggers, brackets at the end ("Acme(1)(2)")."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.remembered import remembered

LENGTH_MAX: Final = 500
"""Characters of a text whose marks are looked for; a longer one is kept as it is."""

SUPERSCRIPTS: Final = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a\u1d43\u1d47\u1d9c\u1d48"
"""Figures and letters that are typed as a mark."""

NO_SUPERSCRIPTS: Final = str.maketrans("", "", SUPERSCRIPTS)
"""For `str.translate`."""

DAGGERS: Final = "\u2020\u2021\u00a7\u00b6\u2051"

MARKS_MAX: Final = 12
"""Marks at the end of a text that are dropped."""

TAIL: Final = 40
"""Characters at the end of a text in which one mark stands."""

_ITEM: Final = r"(?:\d{1,2}|[a-z]|\*{1,3})"
_BRACKET: Final = re.compile(
    rf"[,;]?\s{{0,4}}(?:\({_ITEM}(?:\s?[,;&]\s?{_ITEM}){{0,9}}\)|\[{_ITEM}(?:\s?[,;&]\s?{_ITEM}){{0,9}}\])$"
)
"""(1), (a), (1,2), [2]: a bracket that says more is part of a name."""
_LETTERS: Final = re.compile(r"\s{0,4}\([a-z]{2}\)$")
"""(aa), which is a mark only beside another one."""
_SIGNS: Final = re.compile(rf"\s{{0,4}}[{SUPERSCRIPTS}{DAGGERS}*^]{{1,6}}$")
_INSIDE: Final = re.compile(rf"(?<=[^\W\d_])[{SUPERSCRIPTS}]{{1,6}}")
_AT_START: Final = re.compile(rf"\A[*^{SUPERSCRIPTS}{DAGGERS}]{{1,6}}\s{{0,4}}(?=\w)")
_LAST_BYTES: Final = np.zeros(256, np.bool_)
_LAST_BYTES[list(b")]*^ \t\n\r")] = True
_LAST_BYTES[0x80:] = True
_FIRST_BYTES: Final = np.zeros(256, np.bool_)
_FIRST_BYTES[list(b"*^ ")] = True
_FIRST_BYTES[0x80:] = True


@remembered(16_384)
def without_marks(text: str, *, brackets: bool = True) -> str:
    """Strip the footnote marks of a text; one of nothing but marks stays.

    Superscripts behind a letter go wherever they stand, other marks at the end (daggers and asterisks at the start,
    too). With `brackets` False, (1) and (a) stay.
    """
    if len(text) > LENGTH_MAX:
        return text
    bare = _INSIDE.sub("", _AT_START.sub("", text.strip()))
    is_marked = False
    for _ in range(MARKS_MAX):
        tail = bare[-TAIL:]
        mark = _SIGNS.search(tail) or (_bracket(tail, is_beside_mark=is_marked) if brackets else None)
        if mark is None:
            break
        bare, is_marked = bare[: len(bare) - len(mark[0])], True
    return bare if any(map(str.isalnum, bare)) else text


def _bracket(tail: str, *, is_beside_mark: bool) -> re.Match[str] | None:
    """Return the bracket at the end of a text that is a mark."""
    match = _BRACKET.search(tail)
    if match is None and (letters := _LETTERS.search(tail)):
        before = tail[: letters.start()]
        match = letters if is_beside_mark or _BRACKET.search(before) or _LETTERS.search(before) else None
    return match


def is_only_marks(text: str) -> bool:
    """Return whether a text is only footnote marks: "(5)(8)", "†"; not "(1)"."""
    if len(text) > TAIL:
        return False
    bare, count = text.strip(), 0
    while bare and count < MARKS_MAX and (mark := _SIGNS.search(bare) or _BRACKET.search(bare)):
        bare, count = bare[: mark.start()], count + 1
    return not bare and (count > 1 or (count == 1 and not text.strip().startswith(("(", "["))))


def may_have_marks(text: Text) -> NDArray[np.intp]:
    """Return the codes of strings that look as if they had a footnote mark."""
    if not len(text.data):
        return np.zeros(0, np.intp)
    starts, ends = text.offsets[:-1], text.offsets[1:]
    filled = ends > starts
    marked = filled & _LAST_BYTES[text.data[np.maximum(ends - 1, 0)]]
    marked |= filled & _FIRST_BYTES[text.data[np.minimum(starts, len(text.data) - 1)]]
    wide = np.flatnonzero(text.data >= 0x80)
    if len(wide):
        marked[np.unique(np.searchsorted(text.offsets, wide, side="right") - 1)] = True
    return np.flatnonzero(marked)
