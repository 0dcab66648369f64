"""What reading a portfolio saw beside its loans: where they stood, what was left out, what could not be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import msgspec

WARNING_CODES: Final = {
    "as_of_stands_in": "the day is that of the file or of its upload: nothing in the file says one",
}
"""What may be said of a source whose figures could be wrong, or less than they seem, by code."""


class DataWarning(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was guessed, left out or could not be read, said at the top of every result."""

    code: str
    """One of `WARNING_CODES`."""
    message: str
    """For a reader: what was seen, where, and what was done."""
    rows: int | None = None
    """How many rows it is about."""


@dataclass(slots=True, kw_only=True)
class Notes:
    """Written while a source is read; counts are of rows where nothing else is said, before lots are added up."""

    # The source

    holdings_found: bool = False
    """False where no sheet has loans: `message` says why."""
    message: str = ""
    header_row: int | None = None
    """0-based; None where the loans come from no sheet."""
    matched_columns: dict[str, str] = field(default_factory=dict)
    """Field -> the header of its column."""
    missing_required: list[str] = field(default_factory=list)
    """Fields that the mapping requires and no column feeds."""
    sheets_not_read: list[str] = field(default_factory=list)
    """Other sheets with a header of loans."""
    as_of_column: float | None = None
    """The latest day of an as_of column given as an array, days since 1970-01-01."""

    # Rows that are no loans

    ignored_blank_par: int | None = None
    """Without a par that can be read; None where nobody counted them."""
    section_rows: int = 0
    """Headings of groups."""
    total_rows: int = 0
    subtotal_rows: int = 0
    cash_rows: int = 0
    repeated_headers: int = 0
    unidentified_rows: int = 0
    """Without a name and an identifier."""
    rows_after_end: int = 0
    """Below the end of the table, those that look like loans."""

    # Loans

    filled_borrowers: int = 0
    """With the borrower of a row above."""
    negative_par_rows: int | None = None
    """None where nobody counted them."""
    lien_blank_rows: int = 0
    lien_unrecognised_rows: int = 0
    zero_prices: int = 0
    """Performing, with a price of 0 that is read as blank."""
    zero_purchase_prices: int = 0
    """Read as blank, too."""
    rule_failures: dict[str, dict[str, int]] = field(default_factory=dict)
    """Field -> rule of the mapping -> rows that break it."""
    lots: int = 0
    """Added up with other rows of one identifier."""
    conflicting_lots: int = 0
    """Positions whose lots differ in a rating or in the maturity."""
    rows_without_obligor: int = 0
    """After lots are added up."""

    # What a result says first

    warnings: list[DataWarning] = field(default_factory=list)

    # Cells

    error_cells: int = 0
    """With an error, in the columns that were read."""
    unreadable_cells: dict[str, int] = field(default_factory=dict)
    """Field -> cells with something in them that is no value of it."""
    destroyed_identifiers: int = 0
    """Which a spreadsheet made numbers in scientific notation of."""
    placeholder_identifiers: int = 0
    """Which stand for an unknown one ("PRIVATE", nine zeros)."""
