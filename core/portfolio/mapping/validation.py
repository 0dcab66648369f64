"""The loans of a workbook under a mapping's rules: faults row by row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.grid.sheet import Sheet, Workbook
from core.portfolio.cells.typed import either, text_column
from core.portfolio.mapping.joined import join_pages
from core.portfolio.mapping.normalise import CellFault, NormalisationReport, NormalisedRows
from core.portfolio.mapping.pipeline import FieldColumn
from core.portfolio.mapping.reader import LoanReader
from core.portfolio.model.fields import Mapping
from core.portfolio.sheets.locate import locate
from core.threads import working


def validate(book: Workbook, mapping: Mapping, *, sheet: str | None = None, threads: int = 1) -> NormalisedRows | None:
    """Map and check the rows of the sheet with the loans.

    These are loans, and rows that would be but for a blank par.

    They are typed as for a portfolio, and have what other sheets say of them. Loans that only other sheets have are not
    among them. None where no sheet has a header.

    Args:
        sheet: look at this sheet only, and join no others to it.
        threads: how many may work at once, each on a column of its own; the answer is the same for any number.

    Raises:
        KeyError: no sheet has that name.
    """
    located = locate(book, mapping, sheet=sheet)
    if located.loans is None:
        return None
    reader = LoanReader(located.book, located.loans, mapping, with_blank_par=True)
    with working(threads) as workers:
        outcomes = dict(zip(reader.columns, workers.map(reader.outcome, reader.columns), strict=True))
        if located.pages or "borrower_name" not in outcomes:
            alone = LoanReader(located.book, located.loans, mapping)
            loans = alone.loans(all_ruled=True)
            join_pages(located, loans, all_ruled=True)
            at = np.full(len(reader.row_numbers), -1, np.int64)
            at[np.searchsorted(reader.row_numbers, alone.row_numbers)] = np.arange(len(alone.row_numbers))
            if "borrower_name" not in outcomes and "borrower_name" in loans.texts:  # it stands in the facility's name
                loans.ruled.setdefault("borrower_name", text_column(loans.texts["borrower_name"]))
            for target, column in loans.ruled.items():
                joined, own = column.take(at), outcomes.get(target)
                if own is None:
                    outcomes[target] = FieldColumn(joined)
                else:
                    own.column = either(~own.column.blank(), own.column, joined)
        report = NormalisationReport(mapping, reader.row_numbers, reader.unmapped_headings())
        report.take(outcomes, workers)
    rows = report.finish()
    if not len(located.loans.sheet.page_lines):
        return rows
    errors, warnings = (
        [_with_page(fault, located.loans.sheet) for fault in faults] for faults in (rows.errors, rows.warnings)
    )
    return replace(rows, errors=errors, warnings=warnings)


def _with_page(fault: CellFault, sheet: Sheet) -> CellFault:
    page_line = None if fault.row is None else sheet.page_line(fault.row - 1)
    return fault if page_line is None else replace(fault, page=page_line[0], line=page_line[1])
