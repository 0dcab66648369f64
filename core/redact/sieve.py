"""Which texts of many can hold personal data: one pass of two patterns over all their bytes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np

from core.grid.column import Text
from core.redact.patterns import linear

_PIECE: Final = 1 << 16
"""Texts that are laid end to end at a time; a copy of all of them could be as large as the sheet."""


_CONTENT: Final = linear(
    rb"@"
    rb"|[(\[{<] ?at ?[)\]}>]| dot "
    rb"|\+ ?[1-9](?:[ ./()-]{0,4}[0-9]){6}|\b00 ?[1-9](?:[ ./()-]{1,4}[0-9]{1,4}){2}|\b011[ -][1-9]"
    rb"|\([0-9]{2,5}\)[ -]?[0-9]{2}|[0-9]{3}[-.][0-9]{3}[-.][0-9]{4}|\b0[1-9][0-9]{0,4}[ /-][0-9]{2,8}"
    rb"|[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4}|[0-9]{14}"
    rb"|[0-9]{3}-[0-9]{2}-[0-9]{4}|\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11}"
    rb"|\b(?:(?:tele)?phone|tele?|telefon|tel|t..?l|fax|mob|cell|handy|direct dial|dial-?in|whatsapp|ph)"
    rb"[^0-9]{0,12}[0-9]"
    rb"|\b(?:ssn|social security|itin)\b|\b(?:dob|d\.o\.b|date of birth|birth|born|geb|n..? le)"
    rb"|\b(?:passport|national|driv|identity|id card|nino)"
    rb"|\b(?:contact|analyst|attn|attention|ansprechpartner|trader|signatory|preparer|reviewer)\b"
    rb"|\b(?:prepared|reviewed|approved|checked|signed|verified) by|(?:portfolio|relationship) manager"
    rb"|[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|:[0-9a-f]{0,4}:[0-9a-f]{0,4}:"
    # What is read as something else before any of these is looked for.
    rb"|&(?:#[0-9x]|commat|period|nbsp|plus|hyphen|lpar|shy|lowbar)|%(?:40|2B|2E)"
    rb"|[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{180e}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}"
    rb"\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e007f}]"
    rb"|[\x{660}-\x{669}\x{6f0}-\x{6f9}\x{7c0}-\x{7c9}\x{966}-\x{96f}\x{9e6}-\x{9ef}\x{e50}-\x{e59}\x{ff0b}-\x{ff20}"
    rb"\x{fe6b}\x{24d0}\x{24b6}\x{1d7ce}-\x{1d7ff}]"
    rb"|[0-9)\n\r\t][\n\r\t\x{a0}\x{2000}-\x{200a}\x{2010}-\x{2015}\x{2212}\x{202f}\x{205f}\x{3000}\x{fe58}\x{fe63}][0-9(+]"
)
"""All that `find` can find contains a match of this; identifiers, amounts and names of companies contain none."""

_HEADINGS: Final = linear(
    rb"mail|courriel|phone|t.?.?l.?.?phone|telefon|mobile?|handy|direct.?dial|social.?sec|soc.?sec|card|passport|national"
    rb"|identity|licen[cs]e|ausweis|reisepass|birth|geburt|naissance|contact|analyst|[a-z]ed.?by|preparer|reviewer|approver"
    rb"|signator|manager|trader|attention|names?|beneficial|ansprech|bearbeiter|vorname|interlocut|pr..?nom|forename"
    rb"|account.number|d.o.b"
    rb"|(?:\b|_)(?:tel|telefax|fax|cell|ssn|itin|iban|pan|nino|dob|attn|ip|ips|ipv[46])(?:\b|_)"
)
"""The words of headings that say a kind, loosely: who is caught is looked at closely."""
HEADING_LENGTH_MAX: Final = 60
"""Characters of a heading; longer texts are sentences."""


def candidates(text: Text) -> list[int]:
    """Codes of the texts that can hold personal data, rising."""
    return list(_caught(_CONTENT, text))


def headings(text: Text) -> list[int]:
    """Codes of the texts that can be a heading or a label of personal data, rising."""
    lengths = np.diff(text.offsets)
    return [code for code in _caught(_HEADINGS, text) if lengths[code] <= 2 * HEADING_LENGTH_MAX]


def _caught(pattern: Any, text: Text) -> Iterator[int]:
    """Codes of the texts in which a pattern is found."""
    for first in range(0, len(text), _PIECE):
        offsets = text.offsets[first : first + _PIECE + 1]
        begin = int(offsets[0])
        data = text.data[begin : int(offsets[-1])].tobytes()
        places = (offsets - begin).tolist()
        # A zero byte between two texts, which neither can hold: no match reaches from one into the next.
        joined = b"\0".join([data[a:b] for a, b in pairwise(places)])
        ends = np.asarray(places[1:], np.int64) + np.arange(len(places) - 1)
        found = np.fromiter((match.start() for match in pattern.finditer(joined)), np.int64)
        yield from (first + np.unique(np.searchsorted(ends, found, side="right"))).tolist()
