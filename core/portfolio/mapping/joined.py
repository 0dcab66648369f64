"""Join the pages of a workbook to its loans, then apply the rules of the mapping."""

from __future__ import annotations

from core.portfolio.cells.loans import Loans, put_column
from core.portfolio.mapping import pipeline
from core.portfolio.mapping.names import liens_of_names, split_names
from core.portfolio.mapping.pipeline import FieldColumn, FieldWork, is_ruled
from core.portfolio.mapping.reader import LoanReader
from core.portfolio.model.notes import DataWarning
from core.portfolio.pages.joined import PageLoans, join_loans, note_empty
from core.portfolio.sheets.locate import TOO_MANY, lists_without_loans, passed_over
from core.portfolio.sheets.located import LocatedBook, LocatedTable
from core.words import agreed, counted


def warn_of_units(table: LocatedTable) -> list[DataWarning]:
    """Warn that a line above the loans says what their amounts are multiplied by."""
    line, by = table.scale_line, f"{table.scale:,.0f}"
    message = f"Amounts of sheet {table.sheet.name!r} are multiplied by {by}: {line!r} stands above them."
    return [DataWarning("units_of_title", message)] if line else []


def join_pages(located: LocatedBook, loans: Loans, *, all_ruled: bool = False) -> None:
    """Join what the other sheets say to the loans, and note which are left out.

    Then the mapping says what stands in for fields that no sheet has, and which rows break its rules.
    """
    read, unread = [], 0
    for page in located.pages:
        if page.left_out == TOO_MANY:
            unread += 1
            continue
        of_page = LoanReader(located.book, page, located.mapping).loans(all_ruled=all_ruled)
        of_page.notes.warnings += warn_of_units(page)
        read.append(PageLoans(of_page, page.lists, page.left_out, page.title, page.shows_changes))
    join_loans(loans, read)
    split_names(loans)
    liens_of_names(loans)
    if unread:
        message = (
            f"{counted(unread, 'more sheet')} may say something of the loans, and {agreed(unread, 'was/were')} not "
            f"read: {TOO_MANY}."
        )
        loans.notes.warnings.append(DataWarning("page_left_out", message))
    for sheet, empty in lists_without_loans(located):
        note_empty(loans, sheet, empty)
    used = {note.sheet for note in loans.notes.pages if note.part != "left out"}
    left_out = {note.sheet for note in loans.notes.pages} - used
    loans.notes.sheets_not_read = [name for name in passed_over(located) if name in left_out]
    for target, work in pipeline.works(located.mapping).items():
        if is_ruled(work, located.mapping):
            _rule(loans, target, work)


def _rule(loans: Loans, target: str, work: FieldWork) -> None:
    """Give the loans the default of a field, and count rows that break its rules.

    Lots are not yet added up.
    """
    column, notes = loans.ruled.get(target), loans.notes
    if column is None:
        column = pipeline.constant(work, loans.row_count).column
        if work.field.default is not None:
            put_column(loans, target, column)
            notes.missing_required = [name for name in notes.missing_required if name != target]
        elif not work.rules:
            return  # it is reported as a required column that is missing
    outcome = FieldColumn(column)
    pipeline.check(work, outcome)
    counts: dict[str, int] = {}
    for finding in outcome.findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + len(finding.rows)
    for rule, count in counts.items():
        message = f"{counted(count, 'row', 'breaks/break')} the rule {rule!r} of the mapping for {target}."
        notes.warnings.append(DataWarning("rule_broken", message, count, (target,)))
    if counts:
        notes.rule_failures[target] = counts
