"""Which cells a heading or a label says to be personal data.

Those below it, or the one beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import Sheet
from core.redact.find import is_person
from core.redact.kinds import KINDS, NAME_PART, PersonalKind, fold
from core.redact.plain import plain_of
from core.redact.sieve import HEADING_LENGTH_MAX, headings
from core.values import Kind

PAIR_CELLS_MAX: Final = 3
"""Cells of a row in which a label speaks of its right neighbour; a longer row is a table's head."""
PAIR_REACH: Final = 4
"""Columns to the right in which a label's value is looked for."""


@dataclass(frozen=True, slots=True)
class Region:
    """Cells of one column that a heading claims for a kind.

    Rows `first` to `last`, inclusive.
    """

    column: int
    first: int
    last: int
    kind: PersonalKind
    pair: bool
    """Whether it is the one cell beside a label, or under it."""
    strict: bool
    """Whether it is redacted only where most of it looks like the kind: what the label speaks of is not certain."""


def heading_kind(text: str) -> PersonalKind | None:
    """Return the kind of personal data that a heading says, None for other texts."""
    if len(text) > HEADING_LENGTH_MAX:
        return None
    heading = fold(plain_of(text).text)
    return next((kind for kind in (NAME_PART, *KINDS.values()) if kind.heading.fullmatch(heading)), None)


def heading_codes(sheet: Sheet) -> dict[int, PersonalKind]:
    """Return the texts of a sheet that are headings or labels of personal data, by their codes."""
    by_code = {code: heading_kind(sheet.text[code]) for code in headings(sheet.text)}
    return {code: kind for code, kind in by_code.items() if kind is not None}


@dataclass(slots=True)
class _Rows:
    """How many cells and how many texts each row of a sheet has."""

    cells: NDArray[np.int32]
    texts: NDArray[np.int32]
    block_starts: NDArray[np.int64]
    """The first row of each run of rows with cells, rising."""
    block_ends: NDArray[np.int64]
    """The row after the last of each."""

    @classmethod
    def of(cls, sheet: Sheet) -> _Rows:
        cells, texts = np.zeros(sheet.row_count, np.int32), np.zeros(sheet.row_count, np.int32)
        for column in sheet.columns:
            if column is not None:
                places, kinds = column.rows(), column.dense.kinds
                cells[places] += kinds != Kind.BLANK
                texts[places] += kinds == Kind.TEXT
        edges = np.diff(np.concatenate(([0], cells > 0, [0])).astype(np.int8))
        return cls(cells, texts, np.flatnonzero(edges > 0), np.flatnonzero(edges < 0))

    def block(self, row: int, end: int) -> tuple[int, int] | None:
        """Return the first and the last row of the next run of rows with cells between `row` and `end`."""
        at = int(np.searchsorted(self.block_ends, row, side="right"))
        if at == len(self.block_ends) or (first := max(row, int(self.block_starts[at]))) >= end:
            return None
        return first, min(end, int(self.block_ends[at])) - 1

    def begins_anew(self, first: int, last: int) -> bool:
        """Return whether a run of rows looks like a table of its own, with a head above numbers, or like a single
        note."""
        if self.cells[first] == 1:
            return True
        numbers_below = bool((self.cells[first + 1 : last + 1] > self.texts[first + 1 : last + 1]).any())
        return bool(self.cells[first] == self.texts[first] and numbers_below)


def regions(sheet: Sheet, labels: dict[int, PersonalKind]) -> Iterator[Region]:
    """Yield the cells that the headings and labels of a sheet claim, a column after the other, none twice."""
    if not labels:
        return
    is_label = np.zeros(len(sheet.text) + 1, np.bool_)
    is_label[list(labels)] = True
    rows: _Rows | None = None
    for at, column in enumerate(sheet.columns):
        if column is None:
            continue
        slots = np.flatnonzero(is_label[column.dense.codes])
        if not len(slots):
            continue
        rows = rows or _Rows.of(sheet)
        places = column.rows()[slots].tolist()
        for row, code, end in zip(
            places, column.dense.codes[slots].tolist(), [*places[1:], sheet.row_count], strict=True
        ):
            yield from _claims(sheet, rows, row, at, end, labels[code], labels)


def _claims(
    sheet: Sheet, rows: _Rows, row: int, column: int, end: int, kind: PersonalKind, labels: dict[int, PersonalKind]
) -> Iterator[Region]:
    """Yield what one label claims.

    Its neighbour where that is plausible, else the cells below, down to the next label.
    """
    is_short = bool(rows.cells[row] <= PAIR_CELLS_MAX)
    ends = str(sheet.value(row, column)).rstrip().endswith((":", "："))
    reach = range(column + 1, min(column + 1 + PAIR_REACH, sheet.column_count))
    beside = next((right for right in reach if sheet.kind(row, right) != Kind.BLANK), None)
    over = sheet.columns[column]
    below = -1 if over is None else over.slot(row + 1)
    # A heading has something below; "Prepared by" in a line of labels and values has not, or another label.
    is_label = (
        over is None or below < 0 or over.dense.kinds[below] == Kind.BLANK or int(over.dense.codes[below]) in labels
    )
    if beside is not None and (is_short or ends or is_label):
        stored = sheet.columns[beside]
        assert stored is not None
        code = int(stored.dense.codes[stored.slot(row)])
        if code not in labels and looks_like(kind, sheet.value(row, beside)):
            yield Region(beside, row, row, kind, pair=True, strict=False)
            return
    if 2 * rows.texts[row] < rows.cells[row]:
        return  # a heading stands among texts
    first = row + 1
    while (block := rows.block(first, end)) is not None:
        if first > row + 1 and rows.begins_anew(*block):
            return
        if ends:  # "Contact:" is no heading; the name may stand in the next line
            if beside is None and block[0] == first:
                yield Region(column, first, first, kind, pair=True, strict=True)
            return
        yield Region(column, *block, kind, pair=False, strict=is_short)
        first = block[1] + 1


def looks_like(kind: PersonalKind, value: object) -> bool:
    """Return whether a cell's value can be of a kind that a label says."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, float):
        value = f"{value:.0f}" if value == int(value) else str(value)
    text = plain_of(str(value)[: 4 * HEADING_LENGTH_MAX]).text
    return is_person(text) if kind.name == "person" and not kind.columns else kind.likely.search(text) is not None
