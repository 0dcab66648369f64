"""Tell what the reader of a workbook detected: the records, for a person to check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.portfolio.model.fields import FieldType
from core.portfolio.model.notes import DataWarning, PageNote
from core.portfolio.pages.sheet_kinds import SheetKind

Value = float | str | bool | None
Match = Literal["alias", "alias less its unit", "alias less a footnote", "field name", "auxiliary alias"]


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
    reason: str
    """Why it was chosen or not."""
    kind: SheetKind = "other"
    """What it is."""
    kind_reason: str = ""
    """Why it counts as that."""


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
    """A key of `core.portfolio.sheets.table.Loans.counts`."""
    count: int
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
    reason: str


@dataclass(frozen=True, slots=True)
class ColumnEvidence:
    """What speaks for the role of a column, by weight: from 4 on the words alone name a field."""

    words: float = 0.0
    """What its heading says."""
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
    type: FieldType
    is_required: bool
    column: str
    """Its letter."""
    header: str
    """As written, rows of names joined."""
    match: Match
    alternatives: tuple[Alternative, ...]
    """The first few."""
    unit: str
    """What the figures are in: bps, percent, fraction, currency, thousands, millions; "" for a field without units."""
    unit_reason: str
    factor: float
    """What a figure that says no unit itself is multiplied by."""
    value_count: int
    blank_count: int
    error_count: int
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
    title: str
    """Of a list that stands below another one on the sheet; else ""."""
    header_rows: tuple[int, ...]
    """1-based, from the top."""
    columns: tuple[PageColumn, ...]


@dataclass(frozen=True, slots=True)
class Detection:
    """What was detected in a workbook, and why."""

    sheet: str | None
    """The sheet with the loans; None without one."""
    sheets: tuple[DetectedSheet, ...]
    header: DetectedHeader | None
    first_row: int | None
    """Of the first loan, 1-based."""
    last_row: int | None
    """Of the last loan, 1-based."""
    loan_count: int
    left_out: tuple[LeftOut, ...]
    filled_borrowers: int
    """Loans that take their borrower from a row above, as under merged cells."""
    columns: tuple[DetectedColumn, ...]
    """In the order of the mapping's fields, auxiliary ones last."""
    unmapped: tuple[Unmapped, ...]
    duplicates: dict[str, tuple[str, ...]]
    """Header that stands more than once -> its columns' letters."""
    missing_required: tuple[str, ...]
    missing_optional: tuple[str, ...]
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
