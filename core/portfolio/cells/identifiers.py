"""Identifiers: their check digits, and one identifier in two spellings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from core.portfolio.cells.text_cells import letters_and_digits

START_LEAST: Final = 6
"""Characters of an identifier that is taken for the start of a longer one."""

LENGTH_MAX: Final = 200
"""Characters of an identifier that are looked at."""

_LOANX: Final = re.compile(r"(LX\d{5})(T?)(\d?)")
_WHOLE_LOANX: Final = re.compile(r"LX\d{5,6}(T\d)?")


_SHAPES: Final = {
    "isin": re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]"),
    "cusip": re.compile(r"[A-Z0-9*@#]{8}[0-9]"),
    "lei": re.compile(r"[A-Z0-9]{18}[0-9]{2}"),
    "figi": re.compile(r"(?!BS|BM|GG|GB|GH|KY|VG)[B-DF-HJ-NP-TV-Z]{2}G[0-9B-DF-HJ-NP-TV-Z]{8}[0-9]"),
}


def is_sound(scheme: str, written: str) -> bool:
    """Return whether an ISIN, CUSIP, LEI or FIGI has its shape and check digits.

    Capitals are expected; any text of another scheme is sound.

    An ISIN's digits, letters as two of them, have a Luhn sum that is a multiple of ten; so has a CUSIP's, every second
    value doubled from the left, and a FIGI's, whose last digit is not; an LEI's leave 1 when they are divided by 97
    (ISO 7064).
    """
    shape = _SHAPES.get(scheme)
    if shape is None:
        return True
    if not shape.fullmatch(written):
        return False
    if scheme in ("cusip", "figi"):
        values = [36 + "*@#".index(sign) if sign in "*@#" else int(sign, 36) for sign in written[:-1]]
        doubled = sum(sum(divmod(value << at % 2, 10)) for at, value in enumerate(values))
        return (doubled + int(written[-1])) % 10 == 0
    digits = "".join(str(int(sign, 36)) for sign in written)
    if scheme == "lei":
        return int(digits) % 97 == 1
    return sum(sum(divmod(int(digit) << at % 2, 10)) for at, digit in enumerate(reversed(digits))) % 10 == 0


def standard(written: str) -> str:
    """Return an identifier in upper case and its standard form.

    12A4567B7 for 12A456 7B 7, where its letters and digits are one by check digit or shape.
    """
    upper = written.strip().upper()
    bare = letters_and_digits(upper)
    if bare == upper or is_known(upper):
        return upper
    return bare if is_known(bare) else upper


def is_known(written: str) -> bool:
    """Return whether a text is a CUSIP, ISIN or FIGI by check digit, or a LoanX id."""
    return bool(_WHOLE_LOANX.fullmatch(written)) or any(
        is_sound(scheme, written) for scheme in ("cusip", "isin", "figi")
    )


class IdentifierIndex:
    """The identifiers of some loans, and which of them a short spelling may mean.

    Reports print LX28443T7 also as LX284437, and cut what a column is too narrow for. Both say less than the
    identifier, so whoever asks takes an answer only where it is a single one, and looks whether the names agree.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        """Args:
        strings: distinct, in upper case.
        """
        self.strings = strings
        self._order = sorted(range(len(strings)), key=strings.__getitem__)
        self._ranked = [strings[at] for at in self._order]
        self._place = {text: at for at, text in enumerate(strings)}
        self._stems: dict[str, list[int]] = {}
        for at, text in enumerate(strings):
            if match := _LOANX.fullmatch(text):
                self._stems.setdefault(match[1], []).append(at)

    def of(self, written: str) -> set[int]:
        """Return places of strings that may be the same identifier, at most two.

        LoanX ids that share their five digits count, whatever follows; any other identifier that is the start of the
        written one, or begins with it.
        """
        if loanx := _LOANX.fullmatch(written):
            return set(self._stems.get(loanx[1], ())[:3])
        places: set[int] = set()
        if not START_LEAST <= len(written) <= LENGTH_MAX:
            return places
        at = bisect_left(self._ranked, written)
        for place in range(at, min(at + 2, len(self._ranked))):
            if self._ranked[place].startswith(written):
                places.add(self._order[place])
        for length in range(START_LEAST, len(written)):
            if (longer := self._place.get(written[:length])) is not None:
                places.add(longer)
        return places


def pairs(strings: Sequence[str], others: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield places of strings that are two spellings of one identifier, and no other.

    Spellings of one identifier begin alike, so that of many loans a few are looked at.
    """
    starts = {text[:START_LEAST] for text in strings}.intersection(text[:START_LEAST] for text in others)
    kept = [[at for at, text in enumerate(side) if text[:START_LEAST] in starts] for side in (strings, others)]
    prints, other_prints = (
        IdentifierIndex([side[at] for at in places]) for side, places in zip((strings, others), kept, strict=True)
    )
    for at, written in enumerate(prints.strings):
        places = other_prints.of(written)
        if len(places) == 1:
            (place,) = places
            text = other_prints.strings[place]
            if text != written and may_be_one(written, text) and prints.of(text) == {at}:
                yield kept[0][at], kept[1][place]


def may_be_one(first: str, second: str) -> bool:
    """Return whether two strings can be one identifier.

    Two LoanX ids of six digits are two loans.
    """
    mine, its = _LOANX.fullmatch(first), _LOANX.fullmatch(second)
    if mine is None or its is None:
        return first.startswith(second) or second.startswith(first)
    return mine[1] == its[1] and (mine[2] != its[2] or not mine[3] or not its[3])


def agrees(first: str, second: str) -> bool:
    """Return whether two spellings of an identifier nowhere contradict each other.

    No LoanX id ends in another digit.
    """
    mine, its = _LOANX.fullmatch(first), _LOANX.fullmatch(second)
    return mine is None or its is None or mine[3] == its[3] or not mine[3] or not its[3]
