"""A sheet and a workbook: columns by position, formulas by cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from core.frames.brief import brief, missing, value_shown
from core.frames.frame import Frame, Framed
from core.frames.notebook import card, table
from core.grid.address import move_formula
from core.grid.calculation import DEFAULT as CALCULATION
from core.grid.calculation import Calculation, CalculationDoubt
from core.grid.column import Column, Text, frozen
from core.grid.framed import frame_of, html_of
from core.grid.pivot import Pivot
from core.values import ERRORS, Kind
from core.words import counted

_BLANK, _TEXT, _BOOLEAN, _ERROR = int(Kind.BLANK), int(Kind.TEXT), int(Kind.BOOLEAN), int(Kind.ERROR)
"""Kinds as plain numbers: a cell's kind is asked for thousands of times."""

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
    """Array formulas (legacy or dynamic) and data tables: index in these arrays -> the A1 range that they fill. The
    text of a data table is TABLE(row input,column input), as Excel shows it."""
    dynamic: frozenset[int] = frozenset()
    """Which of `arrays` spill: their range is what they filled when the file was saved."""

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.rows)


def no_formulas() -> Formulas:
    """Return the formulas of a sheet without any."""
    empty = frozen(np.empty(0, np.int32))
    return Formulas(empty, empty, empty, empty, Text(frozen(np.zeros(1, np.int64)), frozen(np.empty(0, np.uint8))), {})


@dataclass(frozen=True, slots=True)
class Sheet(Framed):
    """One worksheet.

    `row` and `column` are 0-based; A1 notation is 1-based and lives at the edge.
    """

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
    date_1904: bool = False
    """The date system of its workbook, by which a frame reads serials."""
    page_lines: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """Page and line of each row in the document that the sheet was read from, both from 1: (row_count, 2). Without a
    row where the file has no pages, and without rows that a calculation put below the last one."""

    def __repr__(self) -> str:
        counts = (counted(self.row_count, "row"), counted(self.column_count, "column"))
        hidden = "" if self.state == "visible" else f", {self.state}"
        return f"Sheet({value_shown(self.name)}, {', '.join(counts)}, {counted(len(self.formulas), 'formula')}{hidden})"

    def _repr_html_(self) -> str:
        return html_of(self)

    def frame(self, header: int | None = 1) -> Frame:
        """Return the cells below the row with the headings as columns of one type each.

        They have values, no formulas.

        A column of numbers is float64, a percentage as the cell has it: 5 % is 0.05. One of booleans is boolean. One of
        dates is a day, or a moment to the millisecond where one of them has a time, without a zone. One of cells of
        several kinds is text: numbers in full, dates ISO. Blanks are null, and so are errors: their number stands in
        `attrs` ("error_cells", by column), and a UserWarning says so.

        Args:
            header: the number of the row with the headings, from 1; None for none. A column without a heading is named
                by its letters.

        Raises:
            ValueError: no row's number; the sheet has more cells than a frame holds.
        """
        return frame_of(self, header)

    @property
    def column_count(self) -> int:
        return len(self.columns)

    def value(self, row: int, column: int) -> Value:
        """Return the value of one cell; blank outside the stored cells."""
        stored = self.columns[column] if column < len(self.columns) else None
        at = -1 if stored is None else stored.slot(row)
        if stored is None or at < 0:
            return None
        stored = stored.dense
        kind = int(stored.kinds[at])
        if kind == _BLANK:
            return None
        if kind == _TEXT:
            return self.text[int(stored.codes[at])]
        if kind == _BOOLEAN:
            return bool(stored.numbers[at])
        return ERRORS[int(stored.numbers[at])] if kind == _ERROR else float(stored.numbers[at])

    def page_line(self, row: int) -> tuple[int, int] | None:
        """Return page and line of a row, both from 1; None where the file has no pages."""
        if row >= len(self.page_lines):
            return None
        page, line = self.page_lines[row].tolist()
        return page, line

    def kind(self, row: int, column: int) -> Kind:
        """Return the kind of one cell."""
        stored = self.columns[column] if column < len(self.columns) else None
        at = -1 if stored is None else stored.slot(row)
        return Kind.BLANK if stored is None or at < 0 else Kind(stored.dense.kinds[at])

    def formula(self, row: int, column: int) -> str | None:
        """Return the formula of one cell without its leading '='.

        None where there is none.

        A shared member's is its origin's, moved by their distance. The text is the file's own: newer functions carry
        Excel's `_xlfn.` prefix.
        """
        stored = self.formulas
        first, last = np.searchsorted(stored.rows, (row, row + 1))
        at = int(first) + int(np.searchsorted(stored.columns[first:last], column))
        if at >= last or stored.columns[at] != column:
            return None
        origin = int(stored.origins[at])
        text = stored.text[int(stored.texts[origin])]
        if origin == at:
            return text
        return move_formula(text, row - int(stored.rows[origin]), column - int(stored.columns[origin]))


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

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class BlankFormulas:
    """What became of formulas that a file brought without values, as programs write them that do not calculate."""

    cells: int
    """Formula cells that came without a value."""
    blank: int
    """Those of them that still have none."""
    message: str
    """For a reader: how many, and what to doubt."""
    engine: str = ""
    """The version of Cushion that calculated them, where somebody notes it."""

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class ReadingRemark:
    """What the reader of a document guessed, could not read, or found not to add up."""

    code: Literal["page_not_read", "total_differs", "layout_guessed"]
    message: str
    """With page and line."""
    sheet: str = ""
    """"" where it is about no sheet."""
    rows: tuple[int, ...] = ()
    """0-based."""

    __repr__ = brief


@dataclass(frozen=True, slots=True)
class BookFacts:
    """What a workbook and its record say of the whole book; their sheets come first."""

    sheets: tuple[Any, ...]
    date_1904: bool = False
    number_formats: tuple[str, ...] = ("General",)
    """Format codes by the index that `Column.formats` uses; index 0 is General."""
    defined_names: dict[str, str] = field(default_factory=dict)
    local_names: dict[tuple[str, str], str] = field(default_factory=dict)
    """Names that belong to one sheet: (sheet, name) -> formula without '='."""
    tables: tuple[Table, ...] = ()
    pivots: tuple[Pivot, ...] | None = ()
    """The pivot tables as they were saved; None where they were not read, or not all."""
    left_out: tuple[str, ...] = ()
    """Names of files that came along and were not read: none that a spreadsheet has."""
    language: str | None = None
    """The language that the file's properties name, such as de-DE; Excel writes none."""
    filled: BlankFormulas | None = None
    """Formulas that came without values and were calculated when the file was read; None where all came with one."""
    calculation: Calculation = CALCULATION
    """How the file says that it is to be calculated."""
    doubts: tuple[CalculationDoubt, ...] = ()
    """What to doubt of the values since their last calculation here; none of those that a file came with."""
    remarks: tuple[ReadingRemark, ...] = ()
    """What the reader has to say of a document whose tables had to be found (PDF)."""


@dataclass(frozen=True, slots=True)
class Workbook(BookFacts):
    """A parsed spreadsheet file."""

    sheets: tuple[Sheet, ...]

    def __post_init__(self) -> None:
        if self.date_1904 and not all(sheet.date_1904 for sheet in self.sheets):
            object.__setattr__(self, "sheets", tuple(replace(sheet, date_1904=True) for sheet in self.sheets))

    def __getitem__(self, name: str) -> Sheet:
        """Return the sheet of that name, matched without case as Excel does.

        Raises:
            KeyError: no sheet has the name; the message has what is near.
        """
        folded = name.casefold() if isinstance(name, str) else None
        for sheet in self.sheets:
            if sheet.name.casefold() == folded:
                return sheet
        raise missing("sheet", name, (sheet.name for sheet in self.sheets))

    def __len__(self) -> int:
        return len(self.sheets)

    def __iter__(self) -> Iterator[Sheet]:
        return iter(self.sheets)

    def __contains__(self, name: object) -> bool:
        """Return whether a sheet has the name."""
        return isinstance(name, str) and any(sheet.name.casefold() == name.casefold() for sheet in self.sheets)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({counted(len(self.sheets), 'sheet')}, {self._formula_counts()})"

    def _formula_counts(self) -> str:
        return counted(sum(len(sheet.formulas) for sheet in self.sheets), "formula")

    def _repr_html_(self) -> str:
        rows = [
            [sheet.name, sheet.row_count, sheet.column_count, len(sheet.formulas), sheet.state]
            for sheet in self.sheets[:SHEETS_SHOWN]
        ]
        lines = [self.filled.message] if self.filled is not None else []
        if len(self.sheets) > SHEETS_SHOWN:
            lines.append(f"{len(self.sheets) - SHEETS_SHOWN:,} more sheets are not shown")
        return card(repr(self), lines, table(["sheet", "rows", "columns", "formulas", "state"], rows))


SHEETS_SHOWN = 20
