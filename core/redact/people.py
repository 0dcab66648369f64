"""The names of people that were found somewhere in a workbook, wherever else they stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from core.redact.find import Span, is_organisation
from core.redact.plain import plain_of

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SEVERAL: Final = re.compile(r"\s*(?:[;/&|\n]|\band\b)\s*")
"""What stands between the names of two people."""
_JOINS: Final = re.compile(r"[\s.,_-]{0,4}")
"""What may stand between two words of a name."""
_HUMP: Final = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
"""Where a word goes on with a capital."""
_HUMPS_MAX: Final = 4
"""Such places within a name, and one: IngridMcLaren."""
_ORGANISATION_REACH: Final = 40
"""Characters behind a name in which a word of an organisation makes it the organisation's: Jane Doe Holdings LLC."""


class People:
    """Known names, found by two of their words that stand side by side, in either order and with an initial between.

    A single word names nobody: surnames are names of companies, too.
    """

    def __init__(self, written: Iterable[str]) -> None:
        self._parts: set[str] = set()
        """Single names, of columns that have given names and surnames apart: any two of them are a person."""
        self._pairs: set[tuple[str, str]] = set()
        self._whole: set[str] = set()
        """Names without what joins their words, as names of sheets and ranges are written: JaneDoe."""
        for name in written:
            for person in _SEVERAL.split(name):
                words = [word[0].casefold() for word in _WORD.finditer(plain_of(person).text)]
                long = [word for word in words if len(word) > 1]
                if len(words) == 1:
                    self._parts.update(long)
                elif len(long) > 1:
                    self._pairs.update(pairwise(long))
                    self._pairs.add((long[0], long[-1]))
                    self._pairs.add((long[0][0], long[-1]))
                    self._whole |= {"".join(long), "".join(reversed(long)), long[-1] + long[0], long[0] + long[-1]}
        self._pairs |= {(second, first) for first, second in self._pairs}
        self._words = {word for pair in self._pairs for word in pair} | self._parts

    def __bool__(self) -> bool:
        return bool(self._words)

    def find(self, text: str) -> list[Span]:
        """Return the known names of a text, from the left; none overlaps another."""
        spans: list[Span] = []
        for start, end in self._places(text):
            if is_organisation(text[end : end + _ORGANISATION_REACH]):
                continue
            if spans and start < spans[-1].end:
                spans[-1] = Span(spans[-1].start, end, "person")
            else:
                spans.append(Span(start, end, "person"))
        return spans

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        words = [(word.start(), word.end(), word[0].casefold()) for word in _WORD.finditer(text)]
        for at, (start, end, word) in enumerate(words):
            if (within := self._within(text[start:end], word)) is not None:
                yield start + within[0], start + within[1]
                continue
            if word not in self._words:
                continue
            for next_start, next_end, following in words[at + 1 : at + 3]:
                if not _JOINS.fullmatch(text, end, next_start):
                    break
                if self._are_one(word, following):
                    yield start, next_end
                    break
                if len(following) > 1:  # no initial
                    break
                end = next_end

    def _within(self, written: str, word: str) -> tuple[int, int] | None:
        """Return where a known name stands in a word whose parts nothing joins, each begun with a capital; or all of
        it."""
        if word in self._whole:
            return 0, len(written)
        cuts = [0, *(hump.start() for hump in _HUMP.finditer(written)), len(written)]
        for at, begin in enumerate(cuts[:-2]):
            for end in cuts[at + 2 : at + 2 + _HUMPS_MAX]:
                if written[begin:end].casefold() in self._whole:
                    return begin, end
            middle, end = cuts[at + 1 : at + 3]
            if {written[begin:middle].casefold(), written[middle:end].casefold()} <= self._parts:
                return begin, end
        return None

    def _are_one(self, word: str, following: str) -> bool:
        return (word, following) in self._pairs or (word in self._parts and following in self._parts)
