"""A sheet of ours before it is written: cells with a style and a number format each, put down row by row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from textwrap import wrap
from typing import Final, Literal

from core.grid.address import cell_name
from core.grid.sheet import Workbook, no_formulas
from core.recalc.book import Book

Style = Literal["plain", "title", "note", "section", "header", "figures", "label", "figure", "input", "total", "status"]
"""What a cell is; how it looks, the writer says. `figures` is a header over numbers."""

Given = str | float | bool | date | None

GENERAL: Final = "General"
WHOLE: Final = "#,##0"
AMOUNT: Final = "#,##0.00"
PERCENT: Final = '0.00" %"'
"""Of a figure that is in percent already."""
SHARE: Final = "0.00%"
DAY: Final = "yyyy-mm-dd"
MOMENT: Final = "yyyy-mm-dd hh:mm"


@dataclass(frozen=True, slots=True)
class DraftCell:
    """One cell: a constant, or a formula with the value that it gives."""

    value: Given = None
    formula: str | None = None
    """Without its '='; `settle` gives the value."""
    style: Style = "plain"
    number_format: str = GENERAL


@dataclass(slots=True)
class Draft:
    """A sheet that is being made; rows and columns 0-based."""

    name: str
    widths: Sequence[float]
    """Of the columns, in characters."""
    cells: dict[tuple[int, int], DraftCell] = field(default_factory=dict)
    statuses: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Ranges whose cells say a status in words, which may change with the next calculation."""
    row: int = 0
    """Where the next row is put."""

    def put(
        self, column: int, given: Given = None, style: Style = "plain", number_format: str = GENERAL,
        formula: str | None = None,
    ) -> str:  # fmt: skip
        """Put a cell into the present row; gives its name."""
        self.cells[self.row, column] = DraftCell(given, formula, style, number_format)
        return cell_name(self.row, column)

    def line(self, *values: Given, style: Style = "plain") -> None:
        """Put a row of constants from the first column on, and go to the next row."""
        for column, value in enumerate(values):
            if value is not None:
                self.put(column, value, style)
        self.row += 1

    def heading(self, *names: str, figures: Sequence[int] = ()) -> None:
        """Put a table's header; `figures` are its columns of numbers."""
        for column, name in enumerate(names):
            self.put(column, name, "figures" if column in figures else "header")
        self.row += 1

    def section(self, title: str) -> None:
        """Leave a row and put a section's title."""
        self.row += 1
        for column in range(len(self.widths)):
            self.put(column, title if column == 0 else None, "section")
        self.row += 1

    def prose(self, text: str, style: Style = "note") -> None:
        """Put a text over the whole width, on as many rows as it takes: cells that are blank let it run over them."""
        for piece in wrap(text, int(sum(self.widths))) or [""]:
            self.line(piece, style=style)

    def name_of(self, column: int) -> str:
        """The name of a cell of the present row."""
        return cell_name(self.row, column)


def settle(drafts: Sequence[Draft], foundation: Workbook) -> None:
    """Calculate the drafts' formulas over the Foundation's cells as they are shown: its own formulas are not run.

    The drafts may name each other. A formula that cannot be calculated is a mistake of ours.
    """
    there = [replace(sheet, formulas=no_formulas()) for sheet in foundation.sheets]
    blank = [
        replace(there[0], name=draft.name, index=len(there) + at, columns=(), row_count=0, merged=())
        for at, draft in enumerate(drafts)
    ]
    book = Book(Workbook((*there, *blank), foundation.date_1904, foundation.number_formats))
    for draft in drafts:
        for (row, column), cell in draft.cells.items():
            given = f"={cell.formula}" if cell.formula is not None else cell.value
            if cell.formula is not None or not (isinstance(given, str) and given.startswith("=")):
                book.set(draft.name, cell_name(row, column), given)
    calculated = book.recalculate()
    assert not calculated.faults, calculated.faults
    assert not calculated.cycles, calculated.cycles
    for draft in drafts:
        for (row, column), cell in draft.cells.items():
            if cell.formula is not None:
                draft.cells[row, column] = replace(cell, value=book.value(draft.name, cell_name(row, column)))
