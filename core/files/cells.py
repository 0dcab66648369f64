"""Cells of a file as they are read, one after another, to the columns of a sheet."""

from __future__ import annotations

from array import array
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.files.errors import ParseFailed
from core.files.limits import MERGED_MAX, REPEATED_MAX, SLOTS_MAX, TEXT_BYTES_MAX
from core.files.parts import SheetState
from core.grid._intern import intern
from core.grid.address import COLUMNS_MAX, ROWS_MAX
from core.grid.column import Column, Text, column_of, frozen
from core.grid.sheet import Formulas, Sheet, no_formulas

Merged = tuple[int, int, int, int]


class Cell(NamedTuple):
    """What a cell holds."""

    kind: int
    number: float = 0.0
    text: str | None = None
    format: int = 0
    """Index into the number formats of the workbook."""


class Budget:
    """What is left of a workbook's limits; its sheets share one."""

    def __init__(self) -> None:
        self._slots = self._repeated = self._text_bytes = 0

    def take_slots(self, count: int, sheet: str) -> None:
        """Count cells, blanks between the first and the last of a column among them.

        Raises:
            ParseFailed: they pass the limit.
        """
        self._slots += count
        if self._slots > SLOTS_MAX:
            raise ParseFailed(
                f"The workbook's sheets span more cells than the limit of {SLOTS_MAX:,}, blanks between the first and "
                f"the last of each column counted; sheet {sheet!r} passes it."
            )

    def take_repeated(self, count: int) -> None:
        """Count cells or rows that the file has by a number of repetitions only, before any of them is made.

        Raises:
            ParseFailed: they pass the limit.
        """
        self._repeated += count
        if self._repeated > REPEATED_MAX:
            raise ParseFailed(
                f"The workbook repeats cells or rows more often than the limit of {REPEATED_MAX:,} times."
            )

    def take_text(self, characters: int) -> None:
        """Count text.

        Raises:
            ParseFailed: it passes the limit.
        """
        self._text_bytes += characters
        if self._text_bytes > TEXT_BYTES_MAX:
            raise ParseFailed(f"The file holds more text than the limit of {TEXT_BYTES_MAX:,} bytes.")


class _Cells:
    """The cells of one column, in equally long arrays."""

    __slots__ = ("codes", "formats", "kinds", "numbers", "repeats", "rows")

    def __init__(self) -> None:
        self.rows = array("i")
        self.repeats = array("i")
        self.kinds = array("B")
        self.numbers = array("d")
        self.codes = array("i")
        self.formats = array("H")

    def column(self, codes: NDArray[np.int32]) -> Column:
        """Return the column.

        `codes` are those of the sheet's text by ours, and -1 for the last.
        """
        rows, repeats = np.array(self.rows, np.int32), np.array(self.repeats, np.int32)
        own = codes[np.array(self.codes, np.int32)]
        kinds, numbers = np.array(self.kinds, np.uint8), np.array(self.numbers, np.float64)
        formats = np.array(self.formats, np.uint16)
        if (repeats > 1).any():
            ends = np.cumsum(repeats)
            rows = (np.arange(ends[-1]) + np.repeat(rows - (ends - repeats), repeats)).astype(np.int32)
            kinds, numbers = np.repeat(kinds, repeats), np.repeat(numbers, repeats)
            own, formats = np.repeat(own, repeats), np.repeat(formats, repeats)
        return column_of(rows, kinds, numbers, own, formats)

    @property
    def blanks(self) -> int:
        """Slots between the first and the last cell that hold none."""
        return self.rows[-1] + self.repeats[-1] - self.rows[0] - sum(self.repeats)


class SheetBuilder:
    """A sheet under construction; each column's cells come from the top down."""

    def __init__(self, name: str, budget: Budget) -> None:
        self.name: Final = name
        self.merged: Final[list[Merged]] = []
        self.hidden_rows: Final[list[int]] = []
        self._budget = budget
        self._columns: list[_Cells | None] = []
        self._codes: dict[str, int] = {}

    def put(self, row: int, column: int, cell: Cell, *, rows: int = 1, columns: int = 1) -> None:
        """Store a cell, repeated down `rows` and across `columns`.

        Raises:
            ParseFailed: past a limit.
        """
        self.check_place(row + rows - 1, column + columns - 1)
        if rows > 1 or columns > 1:
            self._budget.take_repeated(rows * columns - 1)
        self._budget.take_slots(rows * columns, self.name)
        code = -1 if cell.text is None else self._codes.setdefault(cell.text, len(self._codes))
        while len(self._columns) < column + columns:
            self._columns.append(None)
        for at in range(column, column + columns):
            cells = self._columns[at]
            if cells is None:
                cells = self._columns[at] = _Cells()
            cells.rows.append(row)
            cells.repeats.append(rows)
            cells.kinds.append(cell.kind)
            cells.numbers.append(cell.number)
            cells.codes.append(code)
            cells.formats.append(cell.format)

    def check_place(self, row: int, column: int) -> None:
        """Raises ParseFailed where a sheet has no such cell."""
        if column >= COLUMNS_MAX:
            raise ParseFailed(
                f"Sheet {self.name!r} has a cell past column {COLUMNS_MAX:,}, the limit of columns per sheet."
            )
        if row >= ROWS_MAX:
            raise ParseFailed(f"Sheet {self.name!r} has a cell below row {ROWS_MAX:,}, the limit of rows per sheet.")

    def merge(self, top: int, left: int, bottom: int, right: int) -> None:
        """Have a range be one cell.

        Raises:
            ParseFailed: past a limit.
        """
        self.check_place(bottom, right)
        if len(self.merged) == MERGED_MAX:
            raise ParseFailed(f"Sheet {self.name!r} has more merged ranges than the limit of {MERGED_MAX:,}.")
        self.merged.append((top, left, bottom, right))

    def sheet(
        self, index: int, *, state: SheetState = "visible", formulas: Formulas | None = None, filtered: bool = False
    ) -> Sheet:
        """Return the sheet of what was put.

        Raises:
            ParseFailed: blanks between cells pass the limit.
        """
        self._budget.take_slots(sum(cells.blanks for cells in self._columns if cells is not None), self.name)
        codes, offsets, data = intern(list(self._codes))
        codes = np.append(codes, np.int32(-1))  # which is what index -1 finds
        columns = tuple(None if cells is None else cells.column(codes) for cells in self._columns)
        return Sheet(
            name=self.name,
            index=index,
            state=state,
            columns=columns,
            row_count=max((column.stop for column in columns if column is not None), default=0),
            text=Text(frozen(offsets), frozen(data)),
            formulas=no_formulas() if formulas is None else formulas,
            merged=tuple(self.merged),
            hidden_rows=frozen(np.unique(np.array(self.hidden_rows, np.int32))),
            filtered=filtered,
        )
