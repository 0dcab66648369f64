"""Records of what the reader of a workbook detected, for a person to check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.portfolio.model.fields import FieldType
from core.portfolio.model.notes import DataWarning, PageNote
from core.portfolio.pages.sheet_kinds import SheetKind

Value = float | str | bool | None
Match = Literal[
    "alias", "alias less its unit", "alias less a footnote", "field name", "auxiliary alias", "words", "cells"
]
"""words: no heading of the mapping, but its words say the field. cells: only what stands below says it."""


@dataclass(frozen=True, slots=True)
class DetectedSheet:
    """A sheet and whether it has the loans."""

    name: str
    state: Literal["visible", "hidden", "veryHidden"]
    score: int
    """Distinct fields that its best header names."""
    header_rows: tuple[int, ...]
    """Rows of that header, or of the row that comes nearest to one; 1-based."""
    nearest: tuple[str, ...]
    """The headers of those rows that name a field, where they are no header all the same."""
    is_chosen: bool
    """Whether its loans are those that other sheets add to."""
    reason: str
    """Why it was chosen or not."""
    kind: SheetKind = "other"
    """What it is."""
    kind_reason: str = ""
    """Why it counts as that."""
    row_count: int = 0
    """Its rows, those above and below its table, too."""
    first_page: int | None = None
    """Page of the document on which it begins, from 1. Null: the file has no pages."""
    last_page: int | None = None
    """Page of the document on which it ends, from 1. Null: the file has no pages."""


@dataclass(frozen=True, slots=True)
class DetectedHeader:
    """The header of the sheet with the loans."""

    rows: tuple[int, ...]
    """1-based, from the top."""
    kind: Literal["one row", "two rows", "three rows"]
    """Rows of names; those of units and of numbers below come on top of them."""
    units_row: int | None
    """1-based; a row of units below the names."""
    numbers_row: int | None
    """1-based; a row that counts the columns (1, 2, 3, ...)."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows below the header that are no loans, for one reason."""

    reason: str
    """A key of `core.portfolio.sheets.table.LoanRows.counts`."""
    count: int
    """How many rows there are."""
    rows: tuple[int, ...]
    """The first few, 1-based."""
    texts: tuple[str, ...]
    """What the first cell with a value says in each of `rows`."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another column that could have fed a field, and why it does not."""

    column: str
    """Its letter."""
    header: str
    """Its heading, as written."""
    reason: str
    """Why it does not feed the field."""


@dataclass(frozen=True, slots=True)
class ColumnEvidence:
    """What speaks for the role of a column, by weight.

    What is above 0 in sum speaks for it.
    """

    words: float = 0.0
    """What its heading says, less what a role needs: 12 is a heading that the mapping lists."""
    content: float = 0.0
    """What its cells look like; below 0 where they speak against the role."""
    relations: float = 0.0
    """What other columns and printed totals say: par x price, base + spread."""
    reasons: tuple[str, ...] = ()
    """What was found, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRole:
    """What a column is, and what it could be as well."""

    role: str = ""
    """What it is: a field, or something that feeds none, such as x_amount (another amount); "" where nothing says."""
    runner_up: str = ""
    """The role that comes next; "" where none comes near."""
    margin: float | None = None
    """Lead in weight over the runner-up, or over another column of the same role. Null: nothing comes near."""
    is_ambiguous: bool = False
    """Whether the runner-up, or another column, could as well be meant."""
    evidence: ColumnEvidence = ColumnEvidence()
    """What speaks for the role."""


@dataclass(frozen=True, slots=True)
class DetectedColumn(ColumnRole):
    """The column that feeds a field."""

    target: str
    """The field that it feeds."""
    type: FieldType
    """What its cells are read as."""
    is_required: bool
    """Whether the mapping requires the field."""
    column: str
    """Its letter."""
    header: str
    """As written, rows of names joined."""
    match: Match
    """How the heading names the field."""
    alternatives: tuple[Alternative, ...]
    """The first few."""
    unit: str
    """What the figures are in: bps, percent, fraction, currency, thousands, millions; "" for a field without units."""
    unit_reason: str
    """What told the unit; "" for a field without units."""
    factor: float
    """What a figure that says no unit itself is multiplied by."""
    value_count: int
    """Cells with a value of the field."""
    blank_count: int
    """Cells with nothing in them."""
    error_count: int
    """Cells with an error such as #N/A."""
    unreadable_count: int
    """Cells with something in them that is no value of the field."""
    samples: tuple[Value, ...]
    """The first values as read, dates as YYYY-MM-DD."""


@dataclass(frozen=True, slots=True)
class Unmapped(ColumnRole):
    """A column that feeds no field."""

    column: str
    """Its letter."""
    header: str
    """Its heading, as written."""
    reason: str
    """Why it feeds none though its header names one; else ""."""


@dataclass(frozen=True, slots=True)
class PageColumn(ColumnRole):
    """A column of another sheet that says something of loans."""

    column: str
    """Its letter."""
    header: str
    """As written, rows of names joined."""
    fields: tuple[str, ...]
    """The fields that it feeds there; none where it feeds none."""


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The columns of another sheet, or of a list on one, that says something of loans."""

    sheet: str
    """Name of the sheet."""
    title: str
    """Of a list that stands below another one on the sheet; else ""."""
    header_rows: tuple[int, ...]
    """1-based, from the top."""
    columns: tuple[PageColumn, ...]
    """Those with a cell below the heading, from the left."""


@dataclass(frozen=True, slots=True)
class Detection:
    """What was detected in a workbook, and why."""

    sheet: str | None
    """The sheet with the loans; None without one."""
    sheets: tuple[DetectedSheet, ...]
    """All sheets of the workbook, or the one that was asked for."""
    header: DetectedHeader | None
    """Where its header stands. Null: without one."""
    first_row: int | None
    """Of the first loan, 1-based."""
    last_row: int | None
    """Of the last loan, 1-based."""
    loan_count: int
    """How many loans it has, before lots are added up."""
    left_out: tuple[LeftOut, ...]
    """Rows below its header that are no loans, by reason."""
    filled_borrowers: int
    """Loans that take their borrower from a row above, as under merged cells."""
    columns: tuple[DetectedColumn, ...]
    """In the order of the mapping's fields, auxiliary ones last."""
    unmapped: tuple[Unmapped, ...]
    """Its columns that feed no field, from the left."""
    duplicates: dict[str, tuple[str, ...]]
    """Header that stands more than once -> its columns' letters."""
    missing_required: tuple[str, ...]
    """Fields that the mapping requires, without a column or a default."""
    missing_optional: tuple[str, ...]
    """Other fields of the mapping without a column."""
    message: str
    """What was looked for, where no sheet has it; else ""."""
    pages: tuple[PageNote, ...] = ()
    """The other sheets that say something of loans, and what was taken from each."""
    page_columns: tuple[PageColumns, ...] = ()
    """Their columns, sheet by sheet, whether something was taken or not."""
    warnings: tuple[DataWarning, ...] = ()
    """What may make a figure wrong that is made of all this."""
    columns_not_shown: int = 0
    """Columns that are left out above, those that feed no field and those of other sheets: there are very many."""
