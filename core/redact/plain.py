"""A text as its reader sees it.

Entities read, look-alike characters as themselves, invisible ones gone.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final, NamedTuple

_UNUSUAL: Final = re.compile(
    r"&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|commat|period|nbsp|plus|hyphen|lpar|rpar|amp|shy|lowbar);|%(?:40|20|2[bBeE])"
    r"|[\t\r\n\x0b\x0c]|[^\x00-\x7f]"
)
_CIRCLED_AT: Final = "ⓐⒶ"
"""Circled letters that are used for an @; its wide and its small form are found by what they are compatible with."""
_INVISIBLE: Final = re.compile("[\u034f\u115f\u1160\u3164\ufe00-\ufe0f]")
"""What shows nothing and is of no category that says so."""


class Plain(NamedTuple):
    """A plain text with its characters' places in the original; None if equal."""

    text: str
    starts: list[int] | None
    ends: list[int] | None

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original that a span of one or more characters was read from."""
        if self.starts is None or self.ends is None:
            return start, end
        return self.starts[start], self.ends[end - 1]


def plain_of(text: str) -> Plain:
    """Return the text without what hides its meaning from a pattern.

    Time linear in its length.
    """
    if not _UNUSUAL.search(text):
        return Plain(text, None, None)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for match in _UNUSUAL.finditer(text):
        start, end = match.span()
        pieces.append(text[at:start])
        starts.extend(range(at, start))
        ends.extend(range(at + 1, start + 1))
        at = end
        if each := _read(match[0]):
            pieces.append(each)
            starts.append(start)
            ends.append(end)
    pieces.append(text[at:])
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return Plain("".join(pieces), starts, ends)


def _read(escape: str) -> str:
    """Return the character that an unusual one or an escape stands for, or ""."""
    if escape[0] == "%":
        return chr(int(escape[1:], 16))
    if len(escape) > 1:
        character = html.unescape(escape)
        return _read(character) if len(character) == 1 and not " " <= character <= "~" else character[:1]
    if escape < "\x80":
        return " "
    if escape in _CIRCLED_AT:
        return "@"
    category = unicodedata.category(escape)
    if category == "Cf" or _INVISIBLE.match(escape):
        return ""
    if category == "Pd" or escape == "\u2212":
        return "-"
    if category in ("Zs", "Zl", "Zp"):
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(escape))
    same = unicodedata.normalize("NFKC", escape)
    return same if len(same) == 1 and same.isascii() else escape
