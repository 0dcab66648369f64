"""A stranger's text as plain text.

No markup, links, images, control characters or signs that nobody sees.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

ROUNDS_MAX: Final = 20
"""Looks at a text, each of which takes away what the one before it brought to light: &amp;amp;lt;b>."""

_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
"""What colours a terminal, moves in it or names its window."""
_THOUGHT: Final = re.compile(r"(?is)<(think|thinking|reasoning)>.*?(?:</\1>|$)")
"""What some models say to themselves first."""
_DROPPED: Final = re.compile(
    r"(?is)<(script|style|iframe|object|svg|math|template|noscript|title)\b.*?(?:</\1\s*>|$)|<!--.*?(?:-->|$)"
)
"""Elements whose content is no text either."""
_TAG: Final = re.compile(r"<(?=[a-zA-Z/!?])[^<>]*>")
_OPENING: Final = re.compile("<(?=[a-zA-Z/!?])")
_IMAGE: Final = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])?")
_LINK: Final = re.compile(r"\[([^\[\]]*)\](?:\((?:[^()]|\([^()]*\))*\)|\[[^\[\]]*\])")
_REFERENCE: Final = re.compile(r"(?m)^[ ]{0,3}\[[^\]\n]+\]:[^\n]*$")
_ADDRESS: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?:[a-z0-9]*:/{2,3}\S*|https?:/?\S+|www\.\S+|//[a-z0-9-]+\.\S+"
    r"|(?:javascript|vbscript|mailto)\s*:\S*|data:\s?[a-z]+/\S*|tel:\s?\+?\d\S*)"
)
_HOST: Final = re.compile(
    r"(?<![\w@.*])(?:(?:[A-Za-z0-9-]+\.)+[a-z]{2,}(?:[:/]\S*)?|(?:[0-9]{1,3}\.){3}[0-9]{1,3}[:/]\S*)(?![\w@])"
)
REMOVED: Final = "[link removed]"
_SIGNS: Final = str.maketrans(
    {
        "\uff1c": "<",
        "\uff1e": ">",
        "\ufe64": "<",
        "\ufe65": ">",
        "\u2028": "\n",
        "\u2029": "\n",
        "\u3002": ".",
        "\uff61": ".",
    }
)
_UNSEEN: Final = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2800\u3164\uffa0\ufe00-\ufe0f\u20d0-\u20f0]")
_LIST_NUMBER: Final = re.compile(r"(?m)^[ ]{0,8}\d{1,3}[.)](?=\s)")
_MARKS_MAX: Final = 2
"""Marks on one letter; more of them cover the lines around it."""


def clean(text: str, *, known: str = "") -> str:
    """Return a text as plain text, its paragraphs kept.

    Numbered lists have dashes, since a number there says nothing.

    Args:
        known: texts whose host names may stand: companies have names such as Booking.com.
    """
    names = known.casefold()
    for _ in range(ROUNDS_MAX):
        if (read := _read_text(text, names)) == text:
            return text
        text = read
    return text.replace("<", " ").replace("&", " ").replace("://", " ")  # nobody writes so who means well


def _read_text(text: str, names: str) -> str:
    """Return one round: what it takes away may leave more of the same."""
    text = _visible(html.unescape(_SEQUENCE.sub("", text)).translate(_SIGNS))
    text = _TAG.sub("", _DROPPED.sub("", _THOUGHT.sub("", text)))
    text = _REFERENCE.sub("", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _HOST.sub(lambda match: match[0] if match[0].casefold() in names else REMOVED, _ADDRESS.sub(REMOVED, text))
    text = _LIST_NUMBER.sub("-", _OPENING.sub("< ", text))
    lines = (line.rstrip(" ") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _visible(text: str) -> str:
    """Return the text without what is not seen, or covers what is."""
    if text.isascii() and text.isprintable():
        return text
    text = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " "))
    kept: list[str] = []
    marks = 0
    for sign in text:
        category = unicodedata.category(sign)
        if category[0] == "C" and sign != "\n":
            continue
        marks = marks + 1 if category in ("Mn", "Me") else 0
        if marks <= _MARKS_MAX:
            kept.append(sign)
    return "".join(kept)
