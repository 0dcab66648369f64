"""A sheet of ours before it is written.

Cells with a style and a number format each, put down row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from textwrap import wrap
from typing import Final, Literal

from core.files.write import Formats, FormattedValue, Formula, SheetPage, Writable, sheet_of
from core.files.write.ranges import Range
from core.files.write.styles import StyleName
from core.grid.address import cell_name
from core.grid.sheet import Workbook, no_formulas
from core.recalc.book import Book
from core.typeset.texts import cut

Style = Literal["figure", "text", "aside", "status", "heading", "figures", "title", "note", "section", "input", "total"]
"""What a cell is; how it looks, the writer says. `aside` is text of less weight in a table, `note` outside of one;
`figures` is a heading over numbers; a `status` is coloured by what it says."""

Given = str | float | bool | date | None

_LOOKS: Final[dict[Style, StyleName]] = {
    "text": "text", "aside": "aside", "status": "text", "heading": "heading",
    "figures": "figures", "title": "title", "note": "note", "section": "section", "input": "input", "total": "total",
}  # fmt: skip
FLAGS: Final[dict[StyleName, tuple[str, ...]]] = {
    "good": ("pass", "OK"), "warning": ("warning", "doubtful"), "bad": ("fail", "CHECK")
}  # fmt: skip
"""The words of a status."""

TEXT_MAX: Final = 300
"""Characters of a text of ours: names that come from a file may have any length."""

GENERAL: Final = "General"
WHOLE: Final = "#,##0"
AMOUNT: Final = "#,##0.00"
SHARE: Final = "0.00%"
DAY: Final = "yyyy-mm-dd"
MOMENT: Final = "yyyy-mm-dd hh:mm"


@dataclass(frozen=True, slots=True)
class DraftCell:
    """One cell: a constant, or a formula with the value that it gives."""

    value: Given = None
    formula: str | None = None
    """Without its '='; `settle` gives the value."""
    style: Style = "text"
    number_format: str = GENERAL

    @property
    def written(self) -> Writable:
        """The cell as the writer takes it."""
        if self.formula is not None:
            assert not isinstance(self.value, date)
            return FormattedValue(Formula(self.formula, self.value), self.number_format)
        return None if self.value is None else FormattedValue(self.value, self.number_format)


@dataclass(slots=True)
class SheetDraft:
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
        self,
        column: int,
        value: Given = None,
        style: Style = "text",
        number_format: str = GENERAL,
        formula: str | None = None,
    ) -> str:
        """Put a cell into the present row, a text cut to `TEXT_MAX`; gives its name."""
        if isinstance(value, str):
            value = cut(value, TEXT_MAX)
        self.cells[self.row, column] = DraftCell(value, formula, style, number_format)
        return cell_name(self.row, column)

    def line(self, *values: Given, style: Style = "text") -> None:
        """Put a row of constants from the first column on, and go to the next row."""
        for column, value in enumerate(values):
            if value is not None:
                self.put(column, value, style)
        self.row += 1

    def heading(self, *names: str, figures: Sequence[int] = ()) -> None:
        """Put a table's header; `figures` are its columns of numbers."""
        for column, name in enumerate(names):
            self.put(column, name, "figures" if column in figures else "heading")
        self.row += 1

    def section(self, title: str) -> None:
        """Leave a row and put a section's title."""
        self.row += 1
        for column in range(len(self.widths)):
            self.put(column, title if column == 0 else None, "section")
        self.row += 1

    def prose(self, text: str, style: Style = "note") -> None:
        """Put a text over the whole width, on as many rows as it takes.

        Cells that are blank let it run over them.
        """
        for piece in wrap(text, int(sum(self.widths))) or [""]:
            self.line(piece, style=style)


def page_of(
    draft: SheetDraft, foundation: Workbook, formats: Formats, *, tab_colour: str, protected: bool, styled: bool
) -> SheetPage:
    """Return the page of a settled draft in the Foundation's workbook.

    `formats` are its number formats, which grow.
    """
    height = max((row for row, _ in draft.cells), default=-1) + 1
    rows: list[list[Writable]] = [[None] * len(draft.widths) for _ in range(height)]
    fills: list[tuple[Range, StyleName]] = []
    for (row, column), cell in sorted(draft.cells.items(), key=lambda each: each[0][::-1]):
        rows[row][column] = cell.written
        look = _LOOKS.get(cell.style)
        if look is None:
            continue
        if fills and fills[-1][1] == look and fills[-1][0][1:] == (column, row - 1, column):
            fills[-1] = ((fills[-1][0][0], column, row, column), look)
        else:
            fills.append(((row, column, row, column), look))
    return SheetPage(
        draft.name,
        sheet_of(rows, formats, name=draft.name, date_1904=foundation.date_1904),
        styled=styled,
        widths=draft.widths,
        protected=protected,
        tab_colour=tab_colour,
        gridlines=False,
        fills=fills,
        flags=[(status, FLAGS) for status in draft.statuses],
    )


def settle(drafts: Sequence[SheetDraft], foundation: Workbook) -> None:
    """Calculate the drafts' formulas over the Foundation's cells as they are shown.

    Its own formulas are not run.

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
            content = f"={cell.formula}" if cell.formula is not None else cell.value
            if cell.formula is not None or not (isinstance(content, str) and content.startswith("=")):
                book.set(draft.name, cell_name(row, column), content)
    calculated = book.recalculate()
    assert not calculated.faults, calculated.faults
    assert not calculated.cycles, calculated.cycles
    for draft in drafts:
        for (row, column), cell in draft.cells.items():
            if cell.formula is not None:
                draft.cells[row, column] = replace(cell, value=book.value(draft.name, cell_name(row, column)))
