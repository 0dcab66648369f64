"""Which texts of many can hold personal data.

One pass of two patterns over all their bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from core.grid.column import Text
from core.redact.patterns import linear

_PIECE_BYTES: Final = 1 << 22
"""Bytes of texts that are laid end to end at a time: a copy of all of them could be as large as the sheet."""

_SIEVES: Final = {
    "us_ssn": linear(rb"[0-9]{3}-[0-9]{2}-[0-9]{4}|\b(?:ssn|social security|itin)\b"),
    "iban": linear(rb"\b[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11}"),
    "payment_card": linear(rb"[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}|[0-9]{4}[ -][0-9]{6}[ -][0-9]{4}|[0-9]{14}"),
    "identity_document": linear(rb"\b(?:passport|national|driv|identity|id card|nino)"),
    "birth_date": linear(rb"\b(?:dob|d\.o\.b|date of birth|birth|born|geb|n..? le)"),
    "email": linear(rb"@|[(\[{<] ?at ?[)\]}>]| dot "),
    "phone": linear(
        rb"\+ ?[1-9](?:[ ./()-]{0,4}[0-9]){6}|\b00 ?[1-9](?:[ ./()-]{1,4}[0-9]{1,4}){2}|\b011[ -][1-9]"
        rb"|\([0-9]{2,5}\)[ -]?[0-9]{2}|[0-9]{3}[-.][0-9]{3}[-.][0-9]{4}"
        rb"|\b0[1-9](?:[ -][0-9]{2}){4}|\b0[1-9][0-9]{0,3}[ /-][0-9]{3,8}"
        rb"|\b(?:(?:tele)?phone|tele?|telefon|tel|t..?l|fax|mob|cell|handy|direct dial|dial-?in|whatsapp|ph)"
        rb"[^0-9]{0,12}[0-9]"
    ),
    "person": linear(
        rb"\b(?:contact|analyst|attn|attention|ansprechpartner|trader|signatory|preparer|reviewer)\b"
        rb"|\b(?:prepared|reviewed|approved|checked|signed|verified) by|(?:portfolio|relationship) manager"
    ),
    "ip_address": linear(rb"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]|:[0-9a-f]{0,4}:[0-9a-f]{0,4}:"),
}
"""All that `find` can find of a kind contains a match of this; identifiers, amounts and names of companies none."""

_UNUSUAL: Final = linear(
    rb"&(?:#[0-9x]|commat|period|nbsp|plus|hyphen|lpar|shy|lowbar)|%(?:40|2B|2E)"
    rb"|[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{180e}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{206f}\x{3164}"
    rb"\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e007f}]"
    rb"|[\x{660}-\x{669}\x{6f0}-\x{6f9}\x{7c0}-\x{7c9}\x{966}-\x{96f}\x{9e6}-\x{9ef}\x{e50}-\x{e59}\x{ff0b}-\x{ff20}"
    rb"\x{fe6b}\x{24d0}\x{24b6}\x{1d7ce}-\x{1d7ff}]"
    rb"|[0-9)\n\r\t][\n\r\t\x{a0}\x{2000}-\x{200a}\x{2010}-\x{2015}\x{2212}\x{202f}\x{205f}\x{3000}\x{fe58}\x{fe63}]"
    rb"[0-9(+]"
)
"""What `plain_of` reads as something else, so that any kind may come to light."""

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


def candidates(text: Text, kinds: Collection[str]) -> Iterator[tuple[int, Collection[str]]]:
    """Yield codes of the texts that can hold personal data of some kinds, rising, and of which kinds."""
    wanted = [(frozenset((name,)), pattern) for name, pattern in _SIEVES.items() if name in kinds]
    for piece in _pieces(text):
        names_by_code: dict[int, set[str]] = {}
        for names, pattern in (*wanted, (frozenset(kinds), _UNUSUAL)):
            for code in piece.caught(pattern):
                names_by_code.setdefault(code, set()).update(names)
        yield from sorted(names_by_code.items())


def headings(text: Text) -> list[int]:
    """Return codes of the texts that can be a heading or a label of personal data, rising."""
    lengths = np.diff(text.offsets)
    caught = (code for piece in _pieces(text) for code in piece.caught(_HEADINGS))
    return [code for code in caught if lengths[code] <= 2 * HEADING_LENGTH_MAX]


class _Piece(NamedTuple):
    """Some texts end to end, a zero byte after each, which none can hold.

    No match reaches from one into the next.
    """

    first: int
    """The code of the first."""
    ends: list[int]
    """Where the zero byte of each stands."""
    data: bytes

    def caught(self, pattern: Any) -> Iterator[int]:
        """Yield codes of the texts in which a pattern is found.

        Of each text the first match alone is looked for.
        """
        at = 0
        while (match := pattern.search(self.data, at)) is not None:
            place = bisect_left(self.ends, match.start())
            yield self.first + place
            at = self.ends[place] + 1


def _pieces(text: Text) -> Iterator[_Piece]:
    first = 0
    while first < len(text):
        begin = int(text.offsets[first])
        stop = max(first + 1, int(np.searchsorted(text.offsets, begin + _PIECE_BYTES, side="right")) - 1)
        data = text.data[begin : int(text.offsets[stop])].tobytes()
        places = (text.offsets[first : stop + 1] - begin).tolist()
        parts = [data[a:b] for a, b in pairwise(places)]
        yield _Piece(first, [end + at for at, end in enumerate(places[1:])], b"\0".join([*parts, b""]))
        first = stop
