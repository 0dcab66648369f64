"""A portfolio's loans as a sheet of canonical columns, and back, exactly.

Row 0 says what each column holds, the loans follow. A cell takes 15 bytes; trailing blanks take none, and a rank is
left out where its symbol tells it.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from core.grid.address import ROWS_MAX
from core.grid.column import Column, Text
from core.grid.sheet import Formulas, Sheet
from core.portfolio.assemble.portfolio import Portfolio
from core.portfolio.model import ratings
from core.portfolio.model.notes import Notes
from core.portfolio.model.portfolio import Names, Strings
from core.values import Kind

LOANS_MAX: Final = ROWS_MAX - 1
"""Loans of one stored portfolio: the rows of a sheet below its first."""

_Sort = Literal["number", "name", "flag", "rank", "lien", "lots", "conflicting"]
_SORTS: Final = get_args(_Sort)


SHEET_ROW: Final = "sheet_row"
"""Number of each loan's row in its sheet, among what is stored where `fields` names it."""


class StoredError(ValueError):
    """The portfolio cannot be stored, or the sheet holds no stored portfolio."""


@dataclass(frozen=True, slots=True)
class _Head:
    """What row 0 says of a column."""

    sort: _Sort
    target: str
    first: int = 0
    """Of a name: its strings are the sheet's from `first` up to, not including, `last`."""
    last: int = 0

    def text(self) -> str:
        return f"{self.sort}:{self.target}:{self.first}:{self.last}"

    @classmethod
    def of(cls, text: object, text_count: int) -> _Head:
        parts = text.split(":") if isinstance(text, str) else []
        if len(parts) != 4 or parts[0] not in _SORTS or not (parts[2] + parts[3]).isdecimal():
            raise StoredError(f"a stored portfolio has no column {text!r}")
        head = cls(cast(_Sort, parts[0]), parts[1], int(parts[2]), int(parts[3]))
        if not head.first <= head.last <= text_count:
            raise StoredError(f"the names of {head.target} lie outside of the sheet's strings")
        return head


# To a sheet -----------------------------------------------------------------------------------------------------------


def to_sheet(portfolio: Portfolio, *, fields: Container[str] | None = None) -> Sheet:
    """Return the loans as a sheet: one column a field, in the units of `Portfolio`.

    `fields` (targets; also `lien_type`) narrows what is stored; None stores every column of the loans. Notes, tranches,
    deal and amortization are not stored.

    Raises:
        StoredError: there are more than `LOANS_MAX` loans.
    """
    if portfolio.row_count > LOANS_MAX:
        raise StoredError(f"{portfolio.row_count} loans are more than {LOANS_MAX}")
    writer = _Writer(portfolio.row_count)
    wanted = {*portfolio.numbers, *portfolio.names, *portfolio.flags, *portfolio.ranks, "lien_type"}
    wanted = wanted if fields is None else {target for target in wanted if target in fields}
    for target in sorted(wanted):
        if target in portfolio.numbers:
            writer.numbers("number", target, portfolio.numbers[target], blank=np.isnan(portfolio.numbers[target]))
        if target in portfolio.names:
            writer.names(target, portfolio.names[target])
        if target in portfolio.flags:
            writer.numbers("flag", target, portfolio.flags[target])
        if target in portfolio.ranks and not _ranks_follow_symbols(portfolio, target):
            writer.numbers("rank", target, portfolio.ranks[target])
    is_without_rows = fields is None or SHEET_ROW not in fields
    others: tuple[tuple[_Sort, str, NDArray[Any] | None], ...] = (
        ("lien", "lien_type", portfolio.lien if "lien_type" in wanted else None),
        ("lots", "", portfolio.lots),
        ("conflicting", "", portfolio.conflicting),
        ("number", SHEET_ROW, None if is_without_rows else portfolio.sheet_rows),
    )
    for sort, target, values in others:
        if values is not None:
            writer.numbers(sort, target, values)
    sheet = writer.sheet(portfolio.sheet_name)
    return sheet if is_without_rows else replace(sheet, page_lines=_page_lines_of_loans(portfolio))


def _page_lines_of_loans(portfolio: Portfolio) -> NDArray[np.int32]:
    """Return page and line of each row of the stored sheet.

    The heads count as page 1, line 1, and so does a loan that stands on no row.
    """
    page_lines, rows = portfolio.page_lines, portfolio.sheet_rows
    if page_lines is None or rows is None:
        return np.zeros((0, 2), np.int32)
    known = np.concatenate((np.ones((1, 2), np.int32), page_lines))
    return known[np.concatenate((np.zeros(1, np.int32), rows))]


def _ranks_follow_symbols(portfolio: Portfolio, target: str) -> bool:
    """Return whether a rating's ranks are those of its symbols."""
    names = portfolio.names.get(target)
    return names is not None and np.array_equal(_ranks(target, names), portfolio.ranks[target])


def _ranks(target: str, names: Names) -> NDArray[np.uint8]:
    """Return the rank of each loan's symbol."""
    agency = ratings.AGENCY_OF.get(target)
    return np.array([*(ratings.rank(symbol, agency) for symbol in names.values), 0], np.uint8)[names.codes]


class _Writer:
    """Gathers the columns of a sheet and their strings."""

    def __init__(self, height: int) -> None:
        self._height = height
        self._heads: list[_Head] = []
        self._columns: list[tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.int32]]] = []
        self._texts: list[Text] = []
        self._text_count = 0
        self._places: dict[int, int] = {}

    def numbers(
        self, sort: _Sort, target: str, values: NDArray[Any], *, blank: NDArray[np.bool_] | None = None
    ) -> None:
        """Add a column of numbers; zeros are blank unless `blank` says otherwise."""
        is_filled = values != 0 if blank is None else ~blank
        kinds = np.where(is_filled, np.uint8(Kind.NUMBER), np.uint8(Kind.BLANK))
        self._heads.append(_Head(sort, target))
        self._columns.append((kinds, np.where(is_filled, values, 0.0), np.full(self._height, -1, np.int32)))

    def names(self, target: str, names: Names) -> None:
        """Add a column of strings, which keep their codes."""
        first, count = self._place(names)
        written = names.codes >= 0
        kinds = np.where(written, np.uint8(Kind.TEXT), np.uint8(Kind.BLANK))
        codes = np.where(written, names.codes + np.int32(first), np.int32(-1))
        self._heads.append(_Head("name", target, first, first + count))
        self._columns.append((kinds, np.zeros(self._height), codes))

    def _place(self, names: Names) -> tuple[int, int]:
        """Return where the strings stand in the sheet's, and how many.

        Columns that share a pool share it here.
        """
        pool = names.values.text if isinstance(names.values, Strings) else names.values
        first = self._places.get(id(pool))
        if first is None:
            first = self._places[id(pool)] = self._text_count
            self._add(pool if isinstance(pool, Text) else _text(list(pool)))
        return first, len(pool)

    def _add(self, text: Text) -> None:
        self._texts.append(text)
        self._text_count += len(text)

    def sheet(self, name: str) -> Sheet:
        """Return the sheet of the columns so far."""
        first_head = self._text_count
        self._add(_text([head.text() for head in self._heads]))
        columns = tuple(_column(first_head + at, *column) for at, column in enumerate(self._columns))
        nothing = np.zeros(0, np.int32)
        empty = Text(np.zeros(1, np.int64), np.zeros(0, np.uint8))
        formulas = Formulas(nothing, nothing, nothing, nothing, empty, {})
        return Sheet(name, 0, "visible", columns, self._height + 1, _concatenate(self._texts), formulas)


def _column(head: int, kinds: NDArray[np.uint8], numbers: NDArray[np.float64], codes: NDArray[np.int32]) -> Column:
    """Return a column below its head, up to its last cell."""
    filled = np.flatnonzero(kinds)
    height = int(filled[-1]) + 1 if len(filled) else 0
    return Column(
        0,
        np.concatenate(([np.uint8(Kind.TEXT)], kinds[:height])),
        np.concatenate(([0.0], numbers[:height])),
        np.concatenate(([np.int32(head)], codes[:height])),
        np.zeros(height + 1, np.uint16),
    )


def _text(strings: list[str]) -> Text:
    """Return strings as a pool, in their order; they are distinct."""
    encoded = [string.encode() for string in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(string) for string in encoded], out=offsets[1:])
    return Text(offsets, np.frombuffer(b"".join(encoded), np.uint8))


def _concatenate(texts: list[Text]) -> Text:
    """Return pools end to end."""
    shifts = np.cumsum([0, *(len(text.data) for text in texts)])
    offsets = [text.offsets[:-1] + shift for text, shift in zip(texts, shifts.tolist(), strict=False)]
    return Text(np.concatenate([*offsets, shifts[-1:]]), np.concatenate([text.data for text in texts]))


# From a sheet ---------------------------------------------------------------------------------------------------------


def from_sheet(sheet: Sheet, notes: Notes | None = None) -> Portfolio:
    """Read the loans of a sheet that `to_sheet` wrote.

    `notes` are what the mapping that read them saw.

    Raises:
        StoredError: the sheet is not such a one.
    """
    numbers, names, flags, ranks = {}, {}, {}, {}
    marks: dict[str, NDArray[np.float64]] = {}
    for at, head in _heads(sheet):
        if head.sort == "number":
            numbers[head.target] = _numbers(sheet, at, blank=np.nan)
        elif head.sort == "name":
            names[head.target] = _names(sheet, at, head)
        elif head.sort == "flag":
            flags[head.target] = _numbers(sheet, at).astype(np.uint8)
        elif head.sort == "rank":
            ranks[head.target] = _numbers(sheet, at).astype(np.uint8)
        else:
            marks[head.sort] = _numbers(sheet, at)
    for target in ratings.AGENCY_OF.keys() & names.keys() - ranks.keys():
        ranks[target] = _ranks(target, names[target])
    row_numbers = numbers.pop(SHEET_ROW, None)
    sheet_rows = None if row_numbers is None else np.nan_to_num(row_numbers).astype(np.int32)
    return Portfolio(
        sheet.row_count - 1,
        numbers,
        names,
        flags,
        ranks,
        lien=marks["lien"].astype(np.uint8) if "lien" in marks else None,
        sheet_name=sheet.name,
        notes=Notes() if notes is None else replace(notes),
        lots=marks["lots"].astype(np.int32) if "lots" in marks else None,
        conflicting=marks["conflicting"] != 0 if "conflicting" in marks else None,
        sheet_rows=sheet_rows,
        page_lines=_page_lines_of_rows(sheet, sheet_rows),
    )


def _page_lines_of_rows(sheet: Sheet, rows: NDArray[np.int32] | None) -> NDArray[np.int32] | None:
    """Return page and line by row of the rows that loans came from; of others 0."""
    if rows is None or not len(rows) or not len(sheet.page_lines):
        return None
    page_lines = np.zeros((int(rows.max()), 2), np.int32)
    has_row = rows > 0
    page_lines[rows[has_row] - 1] = sheet.page_lines[1:][has_row]
    return page_lines


def loans_at(sheet: Sheet, first: int, last: int) -> dict[str, list[Any]]:
    """Return loans `first` to `last - 1` (0-based) of a stored portfolio, by target.

    None is blank.

    Only these loans' cells are touched, however many there are. Dates are days since 1970-01-01.

    Raises:
        StoredError: the sheet holds no stored portfolio.
    """
    first, last = (min(max(0, at), sheet.row_count - 1) for at in (first, last))
    loans: dict[str, list[Any]] = {}
    for at, head in _heads(sheet):
        if head.sort in ("number", "name"):
            cut = _stored_column(sheet, at).span(first + 1, max(first, last) + 1)
            values = cut.codes.tolist() if head.sort == "name" else cut.numbers.tolist()
            cells = zip(cut.kinds.tolist(), values, strict=True)
            loans[head.target] = [
                None if kind == Kind.BLANK else sheet.text[value] if head.sort == "name" else value
                for kind, value in cells
            ]
    return loans


def _heads(sheet: Sheet) -> list[tuple[int, _Head]]:
    """Return what each column holds, by its position."""
    if sheet.row_count < 1:
        raise StoredError("a stored portfolio has a row of heads")
    return [(at, _Head.of(sheet.value(0, at), len(sheet.text))) for at in range(sheet.column_count)]


def _stored_column(sheet: Sheet, at: int) -> Column:
    column = sheet.columns[at]
    assert column is not None, "a column with a head is there"
    return column


def _numbers(sheet: Sheet, at: int, *, blank: float = 0.0) -> NDArray[np.float64]:
    """Return one value a loan."""
    column = _stored_column(sheet, at).span(1, sheet.row_count)
    return column.numbers if blank == 0.0 else np.where(column.kinds == Kind.BLANK, blank, column.numbers)


def _names(sheet: Sheet, at: int, head: _Head) -> Names:
    """Return one code a loan, into the column's own part of the strings."""
    codes = _stored_column(sheet, at).span(1, sheet.row_count).codes
    codes = np.where(codes >= 0, codes - np.int32(head.first), np.int32(-1))
    if codes.max(initial=-1) >= head.last - head.first or codes.min(initial=-1) < -1:
        raise StoredError(f"the names of {head.target} lie outside of their strings")
    offsets = sheet.text.offsets[head.first : head.last + 1]
    data = sheet.text.data[offsets[0] : offsets[-1]]
    return Names(codes, Strings(Text(offsets - offsets[0], data)))
