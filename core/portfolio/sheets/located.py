"""What is known of a workbook's sheets once each is matched."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from core.grid.sheet import Sheet, Workbook
from core.portfolio.model.fields import KEYS, Mapping
from core.portfolio.sheets.headings.match import HeaderMatch

TELLING: Final = (*KEYS, "borrower_name", "facility_name")
"""Targets that tell which loan a row is about."""

TEMPLATE: Final = "its name is that of a template or of an older copy"
"""Why a sheet adds to none."""

FIELDS_OF_ROWS: Final = 2.2
"""Fields of a header that ten times the rows below it outweigh."""

ROWS_ENOUGH: Final = 30
"""Rows from which a sheet is as good as one with more."""


@dataclass(frozen=True, slots=True)
class SheetCandidate:
    """What makes a sheet the one with the loans, or not."""

    sheet: Sheet
    header: HeaderMatch | None
    """Its best header; None without one."""
    has_rows: bool
    """Whether a column that makes the header one of loans has a cell below it."""
    has_figures: bool
    """Whether the column of its par has a figure; True where the header names none."""
    refused: str
    """Why it cannot be the one in spite of its header; "" where it can."""

    other_assets: str = ""
    """Why its assets are none of a CLO; "" where nothing says so."""
    only_adds: str = ""
    """Why it should only add to the loans of another sheet: no par, the title of a list; "" where it may be first."""

    row_count: int = 0
    """Cells below the header in the column of its anchor that has most."""

    @property
    def rank(self) -> tuple[bool, int, float, bool, bool]:
        """Return what ranks a sheet: rows, par and no list, no template, fields.

        Then figures, then whether it is shown.

        Ten times the rows count as much as `FIELDS_OF_ROWS` fields, up to `ROWS_ENOUGH`: a sheet of two examples is
        none of the loans, and one of lots has more rows than one of loans.
        """
        score = 0 if self.header is None else self.header.score
        weight = score + FIELDS_OF_ROWS * math.log10(1 + min(self.row_count, ROWS_ENOUGH))
        first = 0 if self.only_adds == TEMPLATE else 1 if self.only_adds else 2
        return self.has_rows, first, weight, self.has_figures, self.sheet.state == "visible"

    @property
    def has_loans(self) -> bool:
        """Return whether it lists loans, so that no other table is looked for among them."""
        named = frozenset[str]() if self.header is None else self.header.columns.keys()
        return self.has_rows and not self.refused and not named.isdisjoint(TELLING)


@dataclass(frozen=True, slots=True)
class LocatedTable:
    """A table with rows of loans: the portfolio's, or one that adds to it."""

    sheet: Sheet
    header: HeaderMatch
    """Its header, with the evidence for the role of each column."""
    title: str = ""
    """Of a list that stands below another one on its sheet: what its title says."""
    end: int | None = None
    """One past its last row, 0-based; None where it may reach down to the end of the sheet."""
    lists: str = ""
    """The flag that is true of all its loans by its title: is_defaulted on a page of defaulted obligations; else ""."""
    left_out: str = ""
    """Why nothing is taken from it; "" where something may be."""
    shows_changes: bool = False
    """Whether its header names a rating of before."""
    scale_line: str = ""
    """The line above the header that says what amounts are multiplied by; "" without one. `header.units` have it."""
    scale: float = 1.0
    """What amounts are multiplied by for that line."""


@dataclass(frozen=True, slots=True)
class LocatedBook:
    """A workbook whose sheets were each matched once to a mapping."""

    book: Workbook
    """The workbook, or that of the tables of its only sheet."""
    mapping: Mapping
    sheets: tuple[SheetCandidate, ...]
    """Every sheet with its best header."""
    considered: tuple[SheetCandidate, ...]
    """Those among which the loans were looked for."""
    loans: LocatedTable | None
    """The table with the loans; None where no sheet has a header of loans."""
    pages: tuple[LocatedTable, ...] = ()
    """The other tables that may say something of the loans, those that name most fields first."""
    old: frozenset[int] = frozenset()
    """Indexes of the sheets whose names are those of pages of another day."""

    @property
    def tops(self) -> dict[int, int]:
        """Return the first header row of each sheet with loans, by sheet index."""
        return {sheet.sheet.index: sheet.header.top for sheet in self.sheets if sheet.header and sheet.has_loans}
