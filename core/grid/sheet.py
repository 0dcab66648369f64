"""A sheet and a workbook: columns by position, formulas by cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.grid.address import move_formula
from core.grid.column import Column, Text, frozen
from core.values import ERRORS, Kind

Value = float | str | bool | None
"""What one cell gives to Python: a number (dates as serials), a string (errors as their text), a boolean, None for
blank."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """The formula cells of a sheet in (row, column) order, in equally long arrays.

    A formula that was filled down is kept once: a shared member names the cell that it was filled from and is
    re-written relative to it when it is read (`Sheet.formula`).
    """

    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    texts: NDArray[np.int32]
    """Index into `Text` of the formula without its leading '='; of the origin's for a shared member."""
    origins: NDArray[np.int32]
    """Index in these arrays of the cell that a shared member was filled from; its own index for every other cell."""
    text: Text
    arrays: dict[int, str]
    """Array formulas (legacy or dynamic): index in these arrays -> the A1 range that they fill."""
    dynamic: frozenset[int] = frozenset()
    """Which of `arrays` spill: their range is what they filled when the file was saved."""

    def __len__(self) -> int:
        return len(self.rows)


def no_formulas() -> Formulas:
    """The formulas of a sheet without any."""
    empty = frozen(np.empty(0, np.int32))
    return Formulas(empty, empty, empty, empty, Text(frozen(np.zeros(1, np.int64)), frozen(np.empty(0, np.uint8))), {})


@dataclass(frozen=True, slots=True)
class Sheet:
    """One worksheet. `row` and `column` are 0-based; A1 notation is 1-based and lives at the edge."""

    name: str
    index: int
    """Position among the workbook's sheets, 0-based."""
    state: Literal["visible", "hidden", "veryHidden"]
    columns: tuple[Column | None, ...]
    """By position; None for a column without a cell. Its length is `column_count`."""
    row_count: int
    """One past the last row with a cell."""
    text: Text
    formulas: Formulas
    merged: tuple[tuple[int, int, int, int], ...] = ()
    """Merged ranges as (first row, first column, last row, last column), inclusive."""
    hidden_rows: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Rows that are not shown, in order."""
    filtered: bool = False
    """Whether a filter hides them (then no row counts as hidden by hand: a file does not tell them apart)."""

    @property
    def column_count(self) -> int:
        return len(self.columns)

    def value(self, row: int, column: int) -> Value:
        """The value of one cell; blank outside the stored cells."""
        stored = self.columns[column] if column < len(self.columns) else None
        at = -1 if stored is None else stored.slot(row)
        if stored is None or at < 0:
            return None
        stored = stored.held
        kind = stored.kinds[at]
        if kind == Kind.TEXT:
            return self.text[int(stored.codes[at])]
        if kind == Kind.BOOLEAN:
            return bool(stored.numbers[at])
        if kind == Kind.ERROR:
            return ERRORS[int(stored.numbers[at])]
        return None if kind == Kind.BLANK else float(stored.numbers[at])

    def kind(self, row: int, column: int) -> Kind:
        """The kind of one cell."""
        stored = self.columns[column] if column < len(self.columns) else None
        at = -1 if stored is None else stored.slot(row)
        return Kind.BLANK if stored is None or at < 0 else Kind(stored.held.kinds[at])

    def formula(self, row: int, column: int) -> str | None:
        """The formula of one cell without its leading '='; None where there is none.

        A shared member's is its origin's, moved by their distance. The text is the file's own: newer functions carry
        Excel's `_xlfn.` prefix.
        """
        found = self.formulas
        first, last = np.searchsorted(found.rows, (row, row + 1))
        at = int(first) + int(np.searchsorted(found.columns[first:last], column))
        if at >= last or found.columns[at] != column:
            return None
        origin = int(found.origins[at])
        text = found.text[int(found.texts[origin])]
        if origin == at:
            return text
        return move_formula(text, row - int(found.rows[origin]), column - int(found.columns[origin]))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a worksheet: what structured references such as Table1[Par] mean."""

    name: str
    sheet: str
    first_row: int
    first_column: int
    last_row: int
    last_column: int
    columns: tuple[str, ...]
    """Headings, from the left; as many as the table is wide."""
    header_rows: int = 1
    totals_rows: int = 0


@dataclass(frozen=True, slots=True)
class Workbook:
    """A parsed spreadsheet file."""

    sheets: tuple[Sheet, ...]
    date_1904: bool = False
    number_formats: tuple[str, ...] = ("General",)
    """Format codes by the index that `Column.formats` uses; index 0 is General."""
    defined_names: dict[str, str] = field(default_factory=dict)
    local_names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names that belong to one sheet: (sheet, name) -> formula without '='."""
    tables: tuple[Table, ...] = ()
    left_out: tuple[str, ...] = ()
    """Names of files that came along and were not read: none that a spreadsheet has."""

    def __getitem__(self, name: str) -> Sheet:
        """The sheet of that name, matched without case as Excel does.

        Raises:
            KeyError: no sheet has the name.
        """
        for sheet in self.sheets:
            if sheet.name.casefold() == name.casefold():
                return sheet
        raise KeyError(name)
