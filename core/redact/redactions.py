"""What is collected of all sheets while they are redacted.

Counts, columns, formulas, words that must not show.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

Counts = dict[str, dict[str, int]]
"""Kind -> "Sheet!Column" (the column's letters) -> cells in which it was redacted; or a place in brackets that is no
cell, "(sheet names)"."""

WORDS: Final = re.compile(r"[^\W_]{3,}")
"""What a formula may take out of a cell: shorter pieces say nothing."""


@dataclass(slots=True)
class Redactions:
    """What was redacted on all sheets."""

    counts: Counts = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)
    """The words of what was redacted, in lower case, and the kind of each."""
    people: set[str] = field(default_factory=set)
    """Names of people as they were written."""

    def add(self, kind: str, place: str, cells: int) -> None:
        if cells:
            places = self.counts.setdefault(kind, {})
            places[place] = places.get(place, 0) + cells

    def hide(self, kind: str, written: str) -> None:
        """Keep the words of what was redacted: formulas that read it may show them."""
        for word in WORDS.findall(written.casefold()):
            self.words.setdefault(word, kind)
        if kind == "person":
            self.people.add(written)

    def rename_sheets(self, names: Mapping[str, str]) -> None:
        """Have places of cells name sheets as they are called now.

        `names` are the new ones by the old.
        """

        def place_of(place: str) -> str:
            sheet, mark, column = place.rpartition("!")
            return f"{names.get(sheet, sheet)}{mark}{column}"

        self.columns = {place_of(place): kind for place, kind in self.columns.items()}
        self.formulas = {place_of(place): count for place, count in self.formulas.items()}
        for kind, places in self.counts.items():
            self.counts[kind] = {place_of(place): count for place, count in places.items()}


class SecretWords:
    """Words that must not show, whole, by their beginnings and by their ends."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self.kinds = words
        self.forward = sorted(words)
        self.backward = sorted(word[::-1] for word in words)

    def kind(self, word: str) -> str | None:
        """Return the kind of redacted word that a word is, begins or ends, or None."""
        for ordered, step in ((self.forward, 1), (self.backward, -1)):
            seen = word[::step]
            at = bisect_left(ordered, seen)
            if at < len(ordered) and ordered[at].startswith(seen):
                return self.kinds[ordered[at][::step]]
        return None
