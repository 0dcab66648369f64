"""Merge columns that a table scraper took apart.

Spanned cells again in each column, signs in cells of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from core.grid.column import Column, Text, frozen
from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import BLANK, NUMBER, TEXT, decode, key
from core.portfolio.cells.text_cells import plain
from core.portfolio.sheets.headings.match import HeaderMatch

ROWS_MAX: Final = 20_000
"""Rows of a sheet that is looked at: a scraped table is one that people read."""

COLUMNS_MAX: Final = 300
"""Columns of it."""

WIDTH_MAX: Final = 12
"""Columns that one heading spans."""

ODD_SHARE: Final = 0.02
"""Share of rows that may have two figures under one heading: a footnote's, a total's."""

SIGN_BYTES: Final = 4
"""UTF-8 bytes of a text that can be a sign alone."""

_CURRENCIES: Final = frozenset(("$", "€", "£", "¥", "A$", "C$", "US$", "AU$", "CA$", "NZ$", "($"))
_OPENING: Final = _CURRENCIES | {"("}
_CLOSING: Final = frozenset((")", "%", ")%", "%)"))
SIGNS: Final = _OPENING | _CLOSING | {""}
"""What stands in a cell of its own before or behind a figure."""


class Slot(NamedTuple):
    """One cell as a column stores it."""

    kind: int
    number: float
    code: int
    format: int


_BLANK: Final = Slot(BLANK, 0.0, -1, 0)


def merge_columns(sheet: Sheet, header: HeaderMatch) -> Sheet | None:
    """Return the sheet with each heading's columns as one; None for none."""
    if sheet.row_count > ROWS_MAX or sheet.column_count > COLUMNS_MAX:
        return None
    signs = _sign_codes(sheet.text)
    if not signs and not any(heading == next_heading for heading, next_heading in _neighbours(header)):
        return None
    return _Spans(sheet, header, signs).merge()


def currency_signs(stored: Sheet, merged_sheet: Sheet, place: int) -> dict[str, int]:
    """Count each currency's sign in cells of its own among merged columns.

    Args:
        stored: the sheet as it came.
    """
    signs = _sign_codes(stored.text)
    counts: Counter[str] = Counter()
    for column in range(place, min(place + WIDTH_MAX, stored.column_count)):
        if column > place and merged_sheet.columns[column] is not None:
            break
        own = stored.columns[column]
        if own is not None:
            codes, many = np.unique(own.dense.codes, return_counts=True)
            pairs = zip(codes.tolist(), many.tolist(), strict=True)
            counts.update({signs[code].lstrip("("): count for code, count in pairs if signs.get(code) in _CURRENCIES})
    return dict(counts)


def _neighbours(header: HeaderMatch) -> Iterator[tuple[str, str]]:
    """Yield the headings of each two columns side by side, as keys."""
    for column, text in header.texts.items():
        if column + 1 in header.texts and key(text):
            yield key(text), key(header.texts[column + 1])


def _sign_codes(text: Text) -> dict[int, str]:
    """Return the strings of a pool that are signs, by code."""
    short = np.flatnonzero(np.diff(text.offsets) <= SIGN_BYTES)
    return {
        code: string.strip()
        for code, string in zip(short.tolist(), decode(text, short), strict=True)
        if string.strip() in SIGNS
    }


class _Spans:
    """The columns under each heading of one sheet."""

    def __init__(self, sheet: Sheet, header: HeaderMatch, signs: dict[int, str]) -> None:
        self._sheet, self._header, self._signs = sheet, header, signs
        self._first = header.row + 1
        self._slots: dict[int, list[Slot]] = {}
        self._texts: list[str] = []
        """Strings that come to the sheet's pool."""
        self._codes: dict[str, int] = {}

    def merge(self) -> Sheet | None:
        columns = list(self._sheet.columns)
        is_changed = False
        for start, stop in self._groups():
            cells = self._join_cells(start, stop)
            if cells is None:
                continue
            is_changed = True
            columns[start] = _column([*self._of(start)[: self._first], *cells])
            for column in range(start + 1, stop):
                columns[column] = _column(self._of(column)[: self._header.top])
        if not is_changed:
            return None
        return replace(self._sheet, columns=tuple(columns), text=_with(self._sheet.text, self._texts))

    def _groups(self) -> Iterator[tuple[int, int]]:
        """Yield the first column of each spanning heading, and one past its last."""
        count, column = self._sheet.column_count, 0
        names = {at: key(text) for at, text in self._header.texts.items() if key(text)}
        while column < count:
            start, column = column, column + 1
            if start not in names:
                continue
            while column < min(count, start + WIDTH_MAX) and self._goes_on(start, column, names):
                column += 1
            if column - start > 1:
                yield start, column

    def _goes_on(self, start: int, column: int, names: dict[int, str]) -> bool:
        """Return whether a column is under the heading that begins at `start`.

        By the same words; or without any, where it has signs alone, or the columns before it have.
        """
        if column in names:
            return names[column] == names[start]
        return not self._has_values(column) or not any(self._has_values(before) for before in range(start, column))

    def _has_values(self, column: int) -> bool:
        """Return whether a column has a cell below the heading that is no sign."""
        return any(slot.kind != BLANK and slot.code not in self._signs for slot in self._of(column)[self._first :])

    def _of(self, column: int) -> list[Slot]:
        """Return a column's cells from the top of the sheet."""
        known = self._slots.get(column)
        if known is None:
            stored = self._sheet.columns[column]
            height = self._sheet.row_count
            if stored is None:
                known = [_BLANK] * height
            else:
                cut = stored.span(0, height)
                known = [
                    Slot(*parts)
                    for parts in zip(
                        cut.kinds.tolist(), cut.numbers.tolist(), cut.codes.tolist(), cut.formats.tolist(), strict=True
                    )
                ]
            self._slots[column] = known
        return known

    def _join_cells(self, start: int, stop: int) -> list[Slot] | None:
        """Join the cells of some columns; None where rows have several values."""
        rows = list(zip(*(self._of(column)[self._first :] for column in range(start, stop)), strict=True))
        odd = filled = 0
        joined: list[Slot] = []
        for row in rows:
            values = [slot for slot in row if slot.kind != BLANK and slot.code not in self._signs]
            distinct = {(slot.kind, slot.number, slot.code) for slot in values}
            filled += bool(values)
            odd += len(distinct) > 1
            signs = [self._signs[slot.code] for slot in row if slot.code in self._signs]
            joined.append(self._with_signs(values[0], signs) if values else _BLANK)
        return joined if filled and odd <= ODD_SHARE * filled else None

    def _with_signs(self, slot: Slot, signs: Sequence[str]) -> Slot:
        """Return a figure with the signs beside it: a bracket, or percent."""
        closing = "".join(dict.fromkeys(sign for sign in signs if sign in _CLOSING))
        opening = "(" if any(sign.startswith("(") for sign in signs) else ""
        if not closing and not opening:
            return slot
        if slot.kind == TEXT:
            text = self._sheet.text[slot.code].strip()
        elif slot.kind == NUMBER:
            text = plain(slot.number)
        else:
            return slot
        opening = "" if text.startswith("(") else opening
        has_bracket = bool(opening) or text.startswith("(")
        closing = closing if has_bracket else closing.replace(")", "")
        closing = closing.replace(")", "") if text.endswith(")") else closing
        if not closing and not opening:
            return slot
        return Slot(TEXT, 0.0, self._code(f"{opening}{text}{closing}"), slot.format)

    def _code(self, string: str) -> int:
        """Return the code of a string, which may come to the pool."""
        if not self._codes:
            self._codes = {known: code for code, known in enumerate(self._sheet.text.strings())}
        code = self._codes.setdefault(string, len(self._sheet.text) + len(self._texts))
        if code == len(self._sheet.text) + len(self._texts):
            self._texts.append(string)
        return code


def _column(slots: Sequence[Slot]) -> Column | None:
    """Return a column of some cells from the top of a sheet; None without any."""
    kinds = np.array([slot.kind for slot in slots], np.uint8)
    filled = np.flatnonzero(kinds)
    if not len(filled):
        return None
    first, last = int(filled[0]), int(filled[-1]) + 1
    return Column(
        first,
        frozen(kinds[first:last].copy()),
        frozen(np.array([slot.number for slot in slots[first:last]], np.float64)),
        frozen(np.array([slot.code for slot in slots[first:last]], np.int32)),
        frozen(np.array([slot.format for slot in slots[first:last]], np.uint16)),
    )


def _with(text: Text, strings: list[str]) -> Text:
    """Return a pool with some strings behind its own."""
    data = [encoded.encode() for encoded in strings]
    ends = np.cumsum([len(encoded) for encoded in data], dtype=np.int64) + text.offsets[-1]
    return Text(
        frozen(np.concatenate((text.offsets, ends))),
        frozen(np.concatenate((text.data[: text.offsets[-1]], np.frombuffer(b"".join(data), np.uint8)))),
    )
