"""A trustee's tape: its loans, or a message that tells its sender why none."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from core.grid.sheet import Sheet, Workbook
from core.portfolio import Portfolio
from core.portfolio.assemble.read import portfolio_of
from core.portfolio.assemble.stored import SHEET_ROW
from core.portfolio.model.fields import IDENTIFIERS, Mapping
from core.portfolio.model.notes import DataWarning, Notes, limit_warnings
from core.portfolio.sheets.headings import header
from core.portfolio.sheets.locate import locate
from core.portfolio.sheets.located import LocatedTable
from core.words import counted, first_of

LOANS_FILE: Final = "loans.safetensors"
"""The loans of a tape in the folder where they are stored: a sheet of `core.portfolio.assemble.stored`."""
HEADERS_SHOWN: Final = 30
"""Columns that a message names."""
HEADER_CHARACTERS: Final = 60
"""Of each."""
SHEETS_SHOWN: Final = 3
"""Sheets without a header that a message describes."""

COMPARED: Final = frozenset(
    (
        "cusip", "loanx_id", "isin", "borrower_name", "facility_name", "obligor", "par_value", "price", "rating",
        "rating_agency_a", "rating_agency_b", "rating_agency_c", "spread", "base_rate", "all_in_rate",
        "maturity_date", "industry", "country", "days_past_due", SHEET_ROW,
    )
)  # fmt: skip
"""Fields of a tape that a comparison or a reader of its loans needs; the others are not stored."""


class TapeRefused(Exception):
    """The file is no tape that can be used; the message says why, for its sender."""


def read_loans(book: Workbook, mapping: Mapping) -> Portfolio:
    """Return the loans of a tape by a trustee's mapping.

    Raises:
        TapeRefused: no sheet has a header of loans, or the one that has names no identifier, or none of its rows can be
            used, or it has none.
    """
    located = locate(book, mapping)
    holdings = located.loans
    if holdings is None:
        raise TapeRefused(_no_header(book, mapping))
    sheet, header = holdings.sheet, holdings.header
    where = f"Sheet {_quote(sheet.name)}, whose header is in row {header.row + 1},"
    text = f"Its columns are {_list(list(header.texts.values()))}."
    if not header.columns.keys() & set(IDENTIFIERS):
        raise TapeRefused(f"{where} has no column with an identifier (CUSIP, LoanX ID or ISIN). {text}")
    if "par_value" not in header.columns:
        raise TapeRefused(f"{where} has no column with the loans' par. {text}")
    loans = portfolio_of(located, None, into=Portfolio)
    if loans.row_count == 0:
        raise TapeRefused(f"{where} {_nothing_usable(holdings, loans.notes)} {text}")
    if not math.isfinite(total_par(loans)):
        raise TapeRefused(f"{where} has par values that add up to no number. {text}")
    return loans


def total_par(loans: Portfolio) -> float:
    """Return the sum of the loans' par, in the tape's currency."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.nansum(loans.numbers["par_value"]))


def warnings_of(loans: Portfolio) -> list[DataWarning]:
    """Return what makes the loans of one side of a comparison doubtful.

    What a run of them says first, and what a tape of them lacks.
    """
    warnings = list(loans.notes.warnings)
    if not any((loans.names[name].codes >= 0).any() for name in IDENTIFIERS if name in loans.names):
        message = "no loan has an identifier: loans are matched by borrower and maturity"
        warnings.append(DataWarning("no_identifier", message))
    return limit_warnings(warnings)


def _no_header(book: Workbook, mapping: Mapping) -> str:
    sentences = []
    for sheet in book.sheets[:SHEETS_SHOWN]:
        columns = _columns(sheet, mapping)
        if columns:
            sentences.append(f"sheet {_quote(sheet.name)} has the columns {_list(columns)}")
        else:
            sentences.append(f"sheet {_quote(sheet.name)} is empty")
    rest = len(book.sheets) - len(sentences)
    if rest:
        sentences.append(f"{counted(rest, 'more sheet')} likewise")
    return (
        f"No sheet has a header that names par or an identifier and two more fields of a loan: {'; '.join(sentences)}."
    )


def _columns(sheet: Sheet, mapping: Mapping) -> list[str]:
    """Return what comes nearest to a sheet's header."""
    nearest = header.nearest(sheet, mapping)
    if nearest is not None:
        return list(nearest.texts.values())
    return header.detect(sheet).names if any(column is not None for column in sheet.columns) else []


def _nothing_usable(holdings: LocatedTable, notes: Notes) -> str:
    below = holdings.sheet.row_count - holdings.header.row - 1
    if below <= 0:
        return "has no loans below it."
    rows = f"{counted(below, 'row')} below it"
    par = _quote(holdings.header.texts.get(holdings.header.columns["par_value"][0], "par"))
    if notes.ignored_blank_par:
        return f"has {rows}, of which none can be used: no par can be read in column {par}."
    return f"has {rows}, of which none is a loan."


def _list(headers: list[str]) -> str:
    return first_of([text for text in headers if text.strip()], HEADERS_SHOWN, _quote) or "without names"


def _quote(text: str) -> str:
    """Return a name from an uploaded file: on one line, of bounded length."""
    words = " ".join(text.replace("\x00", "").split())
    return f"'{words[:HEADER_CHARACTERS]}{'...' if len(words) > HEADER_CHARACTERS else ''}'"
