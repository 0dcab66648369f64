"""A workbook without its personal data: every cell, formula and name of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from operator import is_not
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid._intern import intern
from core.grid.address import column_name
from core.grid.column import Column, GappedColumn, Text, frozen
from core.grid.sheet import Formulas, Sheet, Workbook
from core.redact.find import Span, find, is_card, is_organisation
from core.redact.formulas import covering, quoted, without
from core.redact.headings import Region, heading_codes, looks_like, regions
from core.redact.kinds import KINDS, PersonalKind
from core.redact.names import redact_names
from core.redact.replace import Policy, redacted_text, replaced
from core.redact.sieve import candidates
from core.values import Kind, from_serial

Counts = dict[str, dict[str, int]]
"""Kind -> "Sheet!Column" (the column's letters) -> cells in which it was redacted; or a place in brackets that is no
cell, "(sheet names)"."""

MOST: Final = 0.6
"""The share of a column's texts that must be of one kind for the odd ones between them to be taken for it too."""
MOST_CELLS: Final = 3
"""Texts of one kind that say so much of a column."""
_EXACT_MAX: Final = 2.0**53
"""Above it a cell's number has lost its last digit, the check digit among them."""
_PLAIN_FORMATS: Final = frozenset(("General", "0", "@", ""))
"""Formats of numbers that are no amounts."""
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
_RANKED: Final = ("", *KINDS)
_AROUND: Final = " \t\r\n.,;:<>()[]'\""
"""What may stand around personal data in a cell that holds nothing else."""

_SAYS_NOTHING: Final = re.compile(
    r"(?i)\W*|n/?a|none|nil|null|tbd|tbc|unknown|not (?:available|applicable|provided)|various"
    rf"|(?:{'|'.join(KINDS)})_[a-s]{{20}}|(?:\S*\*\*\S*|[A-Z\d]{{4}})(?: (?:\S*\*\*\S*|[A-Z\d]{{4}})){{0,5}}"
)
"""What a cell says that holds nothing, or what has been redacted before."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A workbook as others may read it, and what was taken out."""

    workbook: Workbook
    """Shares the arrays of the given one where nothing changed; a sheet without personal data is the same object."""
    counts: Counts
    columns: dict[str, str]
    """"Sheet!Column" -> the kind that its heading or most of its values said, so that odd cells went too."""
    formulas: dict[str, int]
    """"Sheet!Column" -> formulas that were replaced by their values."""
    warnings: tuple[str, ...] = ()


def redact_text(text: str, policy: Policy) -> tuple[str, dict[str, int]]:
    """A text without its personal data, and how often each kind stood there."""
    spans = find(text, policy.kinds, policy.regions)
    return redacted_text(text, spans, policy), dict(Counter(span.kind for span in spans))


def redact(workbook: Workbook, policy: Policy) -> Redacted:
    """The workbook without the personal data that the policy's threshold covers.

    A formula that holds personal data, or whose value did, is replaced by its redacted value.
    """
    told = _Told()
    named = redact_names(workbook, policy, told.add, told.warnings.append)
    sheets = tuple(_SheetPass(sheet, named, policy, told).run() for sheet in named.sheets)
    return Redacted(
        workbook=replace(named, sheets=sheets) if any(map(is_not, sheets, named.sheets)) else named,
        counts={kind: told.counts[kind] for kind in KINDS if kind in told.counts},
        columns=told.columns,
        formulas=told.formulas,
        warnings=tuple(told.warnings),
    )


@dataclass(slots=True)
class _Told:
    """What is told of all sheets, collected."""

    counts: Counts = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    formulas: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def add(self, kind: str, place: str, cells: int) -> None:
        if cells:
            places = self.counts.setdefault(kind, {})
            places[place] = places.get(place, 0) + cells


class _SheetPass:
    """One sheet: each text is looked at once, headings claim columns, and what changed is written anew."""

    def __init__(self, sheet: Sheet, workbook: Workbook, policy: Policy, told: _Told) -> None:
        self.sheet, self.policy, self.told = sheet, policy, told
        self.is_plain_format = np.array([code in _PLAIN_FORMATS for code in workbook.number_formats])
        self.date_1904 = workbook.date_1904
        self.strings: list[str] = []
        """Texts that take the place of others; their codes follow those of the sheet's own."""
        self.codes: dict[str, int] = {}
        self.found: dict[int, list[Span]] = {}
        """The personal data of each of the sheet's texts that has some."""
        self.content = np.arange(-1, len(sheet.text), dtype=np.int32)
        """By a code plus one: the code that takes its place for what the text says by itself."""
        self.whole = np.zeros(len(sheet.text) + 1, np.uint8)
        """By a code plus one: the place in `_RANKED` of the kind that the whole text is of, 0 for none."""
        self.labels: dict[int, PersonalKind] = {}

    def run(self) -> Sheet:
        """The sheet as it may be read: itself where nothing is to be hidden."""
        sheet, kinds = self.sheet, self.policy.kinds
        for code, likely in candidates(sheet.text, kinds):
            text = sheet.text[code]
            if spans := find(text, likely, self.policy.regions):
                self.found[code] = spans
                self.content[code + 1] = self.code(redacted_text(text, spans, self.policy))
                if len(spans) == 1 and not (text[: spans[0].start] + text[spans[0].end :]).strip(_AROUND):
                    self.whole[code + 1] = _RANKED.index(spans[0].kind)
        labels = heading_codes(sheet).items()
        self.labels = {code: kind for code, kind in labels if kind.name in kinds and code not in self.found}
        claims: dict[int, list[Region]] = {}
        for region in regions(sheet, self.labels):
            claims.setdefault(region.column, []).append(region)
        columns: list[Column | None] = list(sheet.columns)
        changed: dict[int, NDArray[np.bool_]] = {}
        for at, column in enumerate(sheet.columns):
            if column is not None:
                work = _ColumnPass(self, column, f"{sheet.name}!{column_name(at)}")
                if (written := work.run(claims.get(at, []), self._is_formula(at, column))) is not None:
                    columns[at], changed[at] = written, work.changed
        formulas = self._formulas(changed)
        if not changed and formulas is sheet.formulas and not self._left_over():
            return sheet
        texts, columns = self._interned(columns)
        return replace(sheet, columns=tuple(columns), text=texts, formulas=formulas)

    def written(self, number: float, kind: str) -> str:
        """A number as it stands for a kind: digits, or the day of a date."""
        moment = from_serial(number, date_1904=self.date_1904) if kind == "birth_date" else None
        return f"{number:.0f}" if moment is None else moment.date().isoformat()

    def code(self, text: str) -> int:
        """The code of a text that takes another's place; -1 for an empty one."""
        if not text:
            return -1
        if text not in self.codes:
            self.codes[text] = len(self.sheet.text) + len(self.strings)
            self.strings.append(text)
        return self.codes[text]

    def _is_formula(self, at: int, column: Column) -> NDArray[np.bool_]:
        """Which stored cells of a column are formulas."""
        found = np.zeros(len(column.held.kinds), np.bool_)
        rows = self.sheet.formulas.rows[self.sheet.formulas.columns == at]
        found[column.meeting(rows.astype(np.int64))[1]] = True
        return found

    def _formulas(self, changed: dict[int, NDArray[np.bool_]]) -> Formulas:
        """The sheet's formulas but for those that hold personal data, or whose values were redacted."""
        formulas = self.sheet.formulas
        if not len(formulas):
            return formulas
        holds = np.zeros(len(formulas.text), np.bool_)
        for code, likely in candidates(formulas.text, self.policy.kinds):
            holds[code] = bool(find(quoted(formulas.text[code]), likely, self.policy.regions))
        dropped = holds[formulas.texts]
        for at, cells in changed.items():
            column = self.sheet.columns[at]
            assert column is not None
            own = np.flatnonzero(formulas.columns == at)
            met, slots = column.meeting(formulas.rows[own].astype(np.int64))
            dropped[own[met]] |= cells[slots]
        for anchor, (top, left, bottom, right) in covering(formulas):
            for at in range(left, right + 1):
                if at in changed:
                    column = self.sheet.columns[at]
                    assert column is not None
                    dropped[anchor] |= bool(changed[at][column.begin(top) : column.begin(bottom + 1)].any())
        if not dropped.any():
            return formulas
        columns, counts = np.unique(formulas.columns[dropped], return_counts=True)
        for at, count in zip(columns.tolist(), counts.tolist(), strict=True):
            self.told.formulas[f"{self.sheet.name}!{column_name(at)}"] = count
        return without(formulas, dropped)

    def _left_over(self) -> bool:
        """Whether personal data stands among the texts that no cell has."""
        used = [np.unique(column.held.codes) for column in self.sheet.columns if column is not None and self.found]
        return bool(set(self.found) - set(np.concatenate(used).tolist() if used else ()))

    def _interned(self, columns: list[Column | None]) -> tuple[Text, list[Column | None]]:
        """The texts that some cell still has, and the columns by their codes: what was redacted is in no byte."""
        first = len(self.sheet.text)
        needed = np.zeros(first + len(self.strings) + 1, np.bool_)
        for column in columns:
            if column is not None:
                needed[column.held.codes] = True  # the last place is that of -1
        kept = np.flatnonzero(needed[:-1])
        own = self.sheet.text.strings()
        codes, offsets, data = intern([own[at] if at < first else self.strings[at - first] for at in kept.tolist()])
        moved = np.full(len(needed), -1, np.int32)
        moved[kept] = codes
        for at, column in enumerate(columns):
            if column is not None:
                held = column.held
                columns[at] = _like(column, replace(held, codes=frozen(moved[held.codes])))
        return Text(frozen(offsets), frozen(data)), columns


def _like(column: Column, held: Column) -> Column:
    """A column with other stored cells at the places of a given one."""
    return GappedColumn(held, *column.runs) if isinstance(column, GappedColumn) else held


class _ColumnPass:
    """One column of a sheet: its cells before and after."""

    def __init__(self, sheet: _SheetPass, column: Column, place: str) -> None:
        self.sheet, self.column, self.place = sheet, column, place
        self.held = column.held
        self.codes = self.held.codes
        self.kinds = self.held.kinds
        self.changed = np.zeros(0, np.bool_)

    def run(self, claims: list[Region], is_formula: NDArray[np.bool_]) -> Column | None:
        """The column written anew; None where no cell changes."""
        held, sheet = self.held, self.sheet
        whole = sheet.whole[held.codes + 1]
        self.codes = sheet.content[held.codes + 1]
        self.changed = self.codes != held.codes
        cards = self._card_numbers(is_formula)
        if not claims and not self.changed.any() and not cards.any():
            return None
        self.kinds = held.kinds.copy()
        for rank in self._of_identifiers(whole):
            self.changed &= whole != rank
            whole[whole == rank] = 0
        self.codes = np.where(self.changed, self.codes, held.codes)
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
            sheet.told.columns[self.place] = kind
            self._redact(span, kind, lambda value: True)
        if not self.changed.any():
            return None
        self.kinds[self.changed] = np.where(self.codes[self.changed] < 0, Kind.BLANK, Kind.TEXT)
        numbers = np.where(self.changed, 0.0, held.numbers)
        return _like(
            self.column, replace(held, kinds=frozen(self.kinds), numbers=frozen(numbers), codes=frozen(self.codes))
        )

    def _count_content(self) -> None:
        codes, cells = np.unique(self.held.codes[self.changed], return_counts=True)
        for code, count in zip(codes.tolist(), cells.tolist(), strict=True):
            for kind in {span.kind for span in self.sheet.found[code]}:
                self.sheet.told.add(kind, self.place, count)

    def _card_numbers(self, is_formula: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which numbers are cards': plain integers, no sums, and most numbers of the column are like them."""
        held = self.held
        large: NDArray[np.bool_] = (held.kinds == Kind.NUMBER) & (held.numbers >= 1e13) & (held.numbers <= _EXACT_MAX)
        if not large.any():
            return large
        large &= ~is_formula & self.sheet.is_plain_format[held.formats]
        numbers, back = np.unique(held.numbers[large], return_inverse=True)
        large[large] = np.array([_is_card_number(number) for number in numbers.tolist()], np.bool_)[back]
        if 2 * large.sum() < (held.kinds == Kind.NUMBER).sum():
            large[:] = False
        return large

    def _of_identifiers(self, whole: NDArray[np.uint8]) -> Iterator[int]:
        """The kinds that a column's texts only seem to be of: of those written alike, most fail the check.

        One account number in ten has a card's check digit.
        """
        for kind in _CHECKED:
            rank = _RANKED.index(kind)
            seeming = np.unique(self.held.codes[whole == rank])
            shapes = {_shape(self.sheet.sheet.text[code]) for code in seeming.tolist()}
            if not shapes or any(shape.startswith("+") for shape in shapes):
                continue
            others = np.unique(self.held.codes[self.held.codes >= 0])
            alike = sum(_shape(self.sheet.sheet.text[code]) in shapes for code in others.tolist())
            if 2 * len(seeming) < alike:
                yield rank

    def _most(self, whole: NDArray[np.uint8]) -> tuple[str, slice] | None:
        """The kind that most texts of the column are of, and the stored cells from its first to its last."""
        counts = np.bincount(whole, minlength=len(_RANKED))
        rank = int(counts[1:].argmax()) + 1
        if counts[rank] < MOST_CELLS:
            return None
        places = np.flatnonzero(whole == rank)
        span = slice(int(places[0]), int(places[-1]) + 1)
        texts = int((self.held.kinds[span] == Kind.TEXT).sum())
        return (_RANKED[rank], span) if counts[rank] >= MOST * texts else None

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
            self.sheet.told.columns[self.place] = kind.name
        # Under "Contact" stand companies too: one that is called like a person goes, the others stay.
        every = region.pair or kind.columns or most
        self._redact(slots, kind.name, lambda value: every or looks_like(kind, value))

    def _values(self, slots: slice) -> Iterator[tuple[str | float, int]]:
        """The different texts and numbers of some cells that say something, and how many cells have each."""
        held = self.held
        codes, counts = np.unique(held.codes[slots], return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            if code >= 0 and not _SAYS_NOTHING.fullmatch(text := self.sheet.sheet.text[code]):
                yield text, count
        is_number = (held.kinds[slots] == Kind.NUMBER) | (held.kinds[slots] == Kind.DATE)
        numbers, counts = np.unique(held.numbers[slots][is_number], return_counts=True)
        yield from zip(numbers.tolist(), counts.tolist(), strict=True)

    def _redact(self, slots: slice, kind: str, chosen: Callable[[str | float], bool]) -> None:
        """Put a mask or a token in the place of those of some cells that are chosen and not redacted yet."""
        sheet, held = self.sheet, self.held
        changed, codes = self.changed[slots], self.codes[slots]  # views: what is put there is put into the column
        texts, counts = np.unique(held.codes[slots][~changed], return_counts=True)
        into = np.full(len(sheet.content), -2, np.int32)
        total = 0
        for code, count in zip(texts.tolist(), counts.tolist(), strict=True):
            if code < 0 or code in sheet.labels or _SAYS_NOTHING.fullmatch(text := sheet.sheet.text[code]):
                continue
            if chosen(text) and not (kind == "person" and is_organisation(text)):
                into[code + 1] = sheet.code(replaced(kind, text, sheet.policy))
                total += count
        new = into[held.codes[slots] + 1]
        put = ~changed & (new > -2)
        numeric = _NUMERIC.get(kind, ())
        is_number = ~changed & np.isin(held.kinds[slots], numeric)
        numbers, back = np.unique(held.numbers[slots][is_number], return_inverse=True)
        if len(numbers):
            taken = [chosen(number) for number in numbers.tolist()]
            masks = [
                sheet.code(replaced(kind, sheet.written(number, kind), sheet.policy)) if take else -2
                for number, take in zip(numbers.tolist(), taken, strict=True)
            ]
            new[is_number] = np.array(masks, np.int32)[back]
            put |= is_number & (new > -2)
        codes[put] = new[put]
        changed |= put
        sheet.told.add(kind, self.place, int(put.sum()))


def _shape(text: str) -> str:
    """A text with a 9 for each digit and an A for each letter: how it is written."""
    return re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", text))


def _is_card_number(number: str | float) -> bool:
    return isinstance(number, float) and 1e13 <= number <= _EXACT_MAX and is_card(f"{number:.0f}")
