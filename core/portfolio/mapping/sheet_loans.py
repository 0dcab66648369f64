"""Read the loans of a located workbook, by the column of par that ties."""

from __future__ import annotations

from typing import NamedTuple

from core.portfolio.cells.loans import Loans
from core.portfolio.mapping.joined import warn_of_units
from core.portfolio.mapping.par_column import by_printed
from core.portfolio.mapping.reader import LoanReader
from core.portfolio.model.notes import DataWarning
from core.portfolio.pages.currency import DEAL_CURRENCY, mark
from core.portfolio.pages.report.read import PageReport, read_report
from core.portfolio.sheets.located import LocatedBook, LocatedTable


class SheetLoans(NamedTuple):
    """The loans of one sheet, and what the pages beside them print."""

    reader: LoanReader
    loans: Loans
    report: PageReport


def read_loans(located: LocatedBook, table: LocatedTable) -> SheetLoans:
    """Type the loans of a table and read the pages beside it, not yet joined."""
    reader = LoanReader(located.book, table, located.mapping)
    loans = reader.loans()
    report = read_report(located, reader.end)
    par = by_printed(reader, report.facts, report.deal)
    if par is None:
        loans.notes.warnings += warn_of_units(table)
        return SheetLoans(reader, loans, report)
    reader = LoanReader(located.book, table, located.mapping, par_place=par.place)
    loans = reader.loans()
    mark(loans, DEAL_CURRENCY)
    loans.notes.warnings += [*warn_of_units(table), DataWarning("par_by_printed", par.message)]
    return SheetLoans(reader, loans, report)
