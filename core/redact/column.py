"""One column of a sheet.

Its cells by what they say themselves, by their heading, and by what most of them are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column, GappedColumn, frozen
from core.redact.find import is_card, is_organisation
from core.redact.headings import Region, looks_like
from core.redact.kinds import KINDS, RANKED
from core.redact.replace import mask_of
from core.redact.texts import SheetTexts
from core.values import Kind

MOST: Final = 0.6
"""The share of a column's texts that must be of one kind for the odd ones between them to be taken for it too."""
MOST_CELLS: Final = 3
"""Texts of one kind that say so much of a column."""
_EXACT_MAX: Final = 2.0**53
"""Above it a cell's number has lost its last digit, the check digit among them."""
_CHECKED: Final = ("us_ssn", "payment_card", "phone")
"""Kinds whose shape identifiers share, so that their check tells something about a whole column."""
_NUMERIC: Final = {
    "us_ssn": (Kind.NUMBER,),
    "payment_card": (Kind.NUMBER,),
    "identity_document": (Kind.NUMBER,),
    "phone": (Kind.NUMBER,),
    "birth_date": (Kind.NUMBER, Kind.DATE),
}
"""Kinds that a number can be of, under a heading that says so."""

_SAYS_NOTHING: Final = re.compile(
    r"(?i)\W*|n/?a|none|nil|null|tbd|tbc|unknown|not (?:available|applicable|provided)|various"
    rf"|(?:{'|'.join(KINDS)})_[a-s]{{20}}|(?=.*\*\*)(?:\S*\*\*\S*|[A-Z\d]{{4}})(?: (?:\S*\*\*\S*|[A-Z\d]{{4}})){{0,5}}"
)
"""What a cell says that holds nothing, or what has been redacted before."""


def like(column: Column, cells: Column) -> Column:
    """Return a column with other stored cells at the places of a given one."""
    return GappedColumn(cells, *column.runs) if isinstance(column, GappedColumn) else cells


class ColumnPass:
    """One column of a sheet: its cells before and after."""

    def __init__(self, texts: SheetTexts, column: Column, place: str) -> None:
        self.texts, self.column, self.place = texts, column, place
        self.dense = column.dense
        self.codes = self.dense.codes
        self.kinds = self.dense.kinds
        self.changed = np.zeros(0, np.bool_)

    def run(self, claims: list[Region], is_formula: NDArray[np.bool_]) -> Column | None:
        """Return the column written anew; None where no cell changes."""
        cells, shared = self.dense, self.texts
        whole = shared.whole[cells.codes + 1]
        self.codes = shared.content[cells.codes + 1]
        self.changed = self.codes != cells.codes
        cards = self._card_numbers(is_formula)
        if not claims and not self.changed.any() and not cards.any():
            return None
        self.kinds = cells.kinds.copy()
        for rank in self._of_identifiers(whole):
            self.changed &= whole != rank
            whole[whole == rank] = 0
        self.codes = np.where(self.changed, self.codes, cells.codes)
        self._count_content()
        if cards.any():
            self._redact(
                slice(None), "payment_card", lambda value: not isinstance(value, str) and _is_card_number(value)
            )
        rows = self.column.rows() if claims else np.zeros(0, np.int64)
        for region in claims:
            low, high = np.searchsorted(rows, (region.first, region.last + 1)).tolist()
            self._claim(region, slice(low, high))
        if not claims and (most := self._most(whole)) is not None:
            kind, span = most
            shared.report.columns[self.place] = kind
            self._redact(span, kind, lambda value: True)
        if not self.changed.any():
            return None
        self.kinds[self.changed] = np.where(self.codes[self.changed] < 0, Kind.BLANK, Kind.TEXT)
        numbers = np.where(self.changed, 0.0, cells.numbers)
        return like(
            self.column, replace(cells, kinds=frozen(self.kinds), numbers=frozen(numbers), codes=frozen(self.codes))
        )

    def _count_content(self) -> None:
        codes, cells = np.unique(self.dense.codes[self.changed], return_counts=True)
        for code, count in zip(codes.tolist(), cells.tolist(), strict=True):
            text = self.texts.sheet.text[code]
            for span in self.texts.spans_by_code[code]:
                self.texts.report.hide(span.kind, text[span.start : span.end])
            for kind in {span.kind for span in self.texts.spans_by_code[code]}:
                self.texts.report.add(kind, self.place, count)

    def _card_numbers(self, is_formula: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which numbers are cards'.

        Plain integers, no sums, and most numbers of the column are like them.
        """
        cells = self.dense
        large: NDArray[np.bool_] = (
            (cells.kinds == Kind.NUMBER) & (cells.numbers >= 1e13) & (cells.numbers <= _EXACT_MAX)
        )
        if not large.any():
            return large
        large &= ~is_formula & self.texts.is_plain_format[cells.formats]
        numbers, back = np.unique(cells.numbers[large], return_inverse=True)
        large[large] = np.array([_is_card_number(number) for number in numbers.tolist()], np.bool_)[back]
        if 2 * large.sum() < (cells.kinds == Kind.NUMBER).sum():
            large[:] = False
        return large

    def _of_identifiers(self, whole: NDArray[np.uint8]) -> Iterator[int]:
        """Yield the kinds that a column's texts only seem to be of.

        Of those written alike, most fail the check.

        One account number in ten has a card's check digit.
        """
        for kind in _CHECKED:
            rank = RANKED.index(kind)
            seeming = np.unique(self.dense.codes[whole == rank])
            shapes = {_shape(self.texts.sheet.text[code]) for code in seeming.tolist()}
            if not shapes or any(shape.startswith("+") for shape in shapes):
                continue
            others = np.unique(self.dense.codes[self.dense.codes >= 0])
            alike = sum(_shape(self.texts.sheet.text[code]) in shapes for code in others.tolist())
            if 2 * len(seeming) < alike:
                yield rank

    def _most(self, whole: NDArray[np.uint8]) -> tuple[str, slice] | None:
        """Return the kind that most texts of the column are of, and the stored cells from its first to its last."""
        counts = np.bincount(whole, minlength=len(RANKED))
        rank = int(counts[1:].argmax()) + 1
        if counts[rank] < MOST_CELLS:
            return None
        places = np.flatnonzero(whole == rank)
        span = slice(int(places[0]), int(places[-1]) + 1)
        texts = int((self.dense.kinds[span] == Kind.TEXT).sum())
        return (RANKED[rank], span) if counts[rank] >= MOST * texts else None

    def _claim(self, region: Region, slots: slice) -> None:
        """Redact what a heading claims, if anything that stands there can be of its kind."""
        kind = region.kind
        cells = likely = 0
        for value, count in self._values(slots):
            cells += count
            likely += count * looks_like(kind, value)
        most = 2 * likely >= cells
        if not likely or (region.strict and not most):
            return
        if not region.pair:
            self.texts.report.columns[self.place] = kind.name
        # Under "Contact" stand companies too: one that is called like a person goes, the others stay.
        every = region.pair or kind.columns or most
        self._redact(slots, kind.name, lambda value: every or looks_like(kind, value))

    def _values(self, slots: slice) -> Iterator[tuple[str | float, int]]:
        """Yield the different texts and numbers of some cells that say something, and how many cells have each."""
        cells = self.dense
        codes, counts = np.unique(cells.codes[slots], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            if code >= 0 and not _SAYS_NOTHING.fullmatch(text := self.texts.sheet.text[code]):
                yield text, count
        is_number = (cells.kinds[slots] == Kind.NUMBER) | (cells.kinds[slots] == Kind.DATE)
        numbers, counts = np.unique(cells.numbers[slots][is_number], return_counts=True)
        yield from zip(numbers.tolist(), counts.tolist(), strict=True)

    def _redact(self, slots: slice, kind: str, chosen: Callable[[str | float], bool]) -> None:
        """Put a mask or a token in the place of those of some cells that are chosen and not redacted yet."""
        shared, cells = self.texts, self.dense
        changed, codes = self.changed[slots], self.codes[slots]  # views: what is put there is put into the column
        texts, counts = np.unique(cells.codes[slots][~changed], return_counts=True)
        into = np.full(len(shared.content), -2, np.int32)
        total = 0
        for code, count in zip(texts.tolist(), counts.tolist(), strict=True):
            if code < 0 or code in shared.labels or _SAYS_NOTHING.fullmatch(text := shared.sheet.text[code]):
                continue
            if chosen(text) and not (kind == "person" and is_organisation(text)):
                into[code + 1] = shared.code(mask_of(kind, text, shared.policy))
                shared.report.hide(kind, text)
                total += count
        new = into[cells.codes[slots] + 1]
        put = ~changed & (new > -2)
        numeric = _NUMERIC.get(kind, ())
        is_number = ~changed & np.isin(cells.kinds[slots], numeric)
        numbers, back = np.unique(cells.numbers[slots][is_number], return_inverse=True)
        if len(numbers):
            taken = [chosen(number) for number in numbers.tolist()]
            masks = [
                shared.code(mask_of(kind, shared.written(number, kind), shared.policy)) if take else -2
                for number, take in zip(numbers.tolist(), taken, strict=True)
            ]
            new[is_number] = np.array(masks, np.int32)[back]
            put |= is_number & (new > -2)
            for number, take in zip(numbers.tolist(), taken, strict=True):
                if take:
                    shared.report.hide(kind, f"{number:.0f} {shared.written(number, kind)}")
        codes[put] = new[put]
        changed |= put
        shared.report.add(kind, self.place, int(put.sum()))


def _shape(text: str) -> str:
    """Return a text's pattern: 9 for each digit, A for each letter."""
    return re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", text))


def _is_card_number(number: str | float) -> bool:
    return isinstance(number, float) and 1e13 <= number <= _EXACT_MAX and is_card(f"{number:.0f}")
