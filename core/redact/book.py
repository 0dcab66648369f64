"""A workbook without its personal data: every cell, formula and name of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import is_not
from typing import Final

import numpy as np

from core.grid.sheet import Table, Workbook
from core.redact.find import find
from core.redact.kinds import KINDS
from core.redact.names import redact_names
from core.redact.people import People
from core.redact.readers import Hidden, Readers
from core.redact.redactions import Counts, Redactions, SecretWords
from core.redact.replace import Policy, redacted_text
from core.redact.sheet import SheetPass
from core.words import agreed, counted

ROUNDS_MAX: Final = 8
"""Formulas, each reading the one before, that are followed from a redacted cell."""


@dataclass(frozen=True, slots=True)
class RedactedBook:
    """A workbook as others may read it, and what was taken out."""

    workbook: Workbook
    """Shares the arrays of the given one where nothing changed; a sheet without personal data is the same object."""
    counts: Counts
    columns: dict[str, str]
    """"Sheet!Column" -> the kind that its heading or most of its values said, so that odd cells went too."""
    formulas: dict[str, int]
    """"Sheet!Column" -> formulas that were replaced by their values."""
    warnings: tuple[str, ...] = ()


def redact_text(text: str, policy: Policy) -> tuple[str, dict[str, int]]:
    """Return a text without its personal data, and how often each kind stood there."""
    spans = find(text, policy.kinds, policy.regions)
    return redacted_text(text, spans, policy), dict(Counter(span.kind for span in spans))


def redact(workbook: Workbook, policy: Policy) -> RedactedBook:
    """Return the workbook without the personal data that the policy's threshold covers.

    A person who is known from one place is masked in all of them: texts of every column, names of sheets.

    A formula that holds personal data, or whose value did, is replaced by its redacted value. One that reads a redacted
    cell is replaced by the value that it had, without the words of that cell: calculated anew it would give another.
    """
    report = Redactions()
    look = partial(find, kinds=policy.kinds, regions=policy.regions)
    named = redact_names(workbook, policy, look, report.add, report.warnings.append)
    passes = [SheetPass(sheet, named, policy, report) for sheet in named.sheets]
    for each in passes:
        each.redact_cells()
    people = People(report.people if "person" in policy.kinds else ())
    for each in passes if people else ():
        each.redact_people(people)
    _redact_readers(passes, Readers(named), report)
    sheets = tuple(each.written_anew() for each in passes)
    tables = tuple(table for table in named.tables if not _lost_heading(table, passes))
    if lost := len(named.tables) - len(tables):
        report.warnings.append(
            f"headings of {counted(lost, 'table')} were redacted: {agreed(lost, 'it is/they are')} plain cells"
        )
        named = replace(named, tables=tables)
    redacted_book = replace(named, sheets=sheets) if any(map(is_not, sheets, named.sheets)) else named
    if people:
        before = [sheet.name for sheet in redacted_book.sheets]
        redacted_book = redact_names(redacted_book, policy, people.find, report.add, report.warnings.append)
        report.rename_sheets(dict(zip(before, (sheet.name for sheet in redacted_book.sheets), strict=True)))
    return RedactedBook(
        workbook=redacted_book,
        counts={kind: report.counts[kind] for kind in KINDS if kind in report.counts},
        columns=report.columns,
        formulas=report.formulas,
        warnings=tuple(report.warnings),
    )


def _lost_heading(table: Table, passes: Sequence[SheetPass]) -> bool:
    """Return whether a heading of a table was redacted.

    A file whose table is not headed as its cells are wants repair.
    """
    rows = range(table.first_row, table.first_row + table.header_rows)
    columns = range(table.first_column, table.last_column + 1)
    return any(
        bool(np.isin(rows, hidden[column]).any())
        for each in passes
        if each.sheet.name.casefold() == table.sheet.casefold() and (hidden := each.hidden())
        for column in columns
        if column in hidden
    )


def _redact_readers(passes: Sequence[SheetPass], readers: Readers, report: Redactions) -> None:
    """Formulas that read redacted cells become values, and what these show of them is redacted; then their readers."""
    if not any(len(each.sheet.formulas) for each in passes):
        return
    for _ in range(ROUNDS_MAX):
        hidden: Hidden = {each.sheet.name.casefold(): rows for each in passes if (rows := each.hidden())}
        words = SecretWords(report.words)
        shown = [each.redact_shown(each.new_readers(readers, hidden), words) for each in passes]
        if not any(shown):
            return
    for each in passes:
        each.redact_shown(np.arange(len(each.sheet.formulas)), words)
    report.warnings.append(
        f"redacted cells are read over more than {ROUNDS_MAX} formulas in a row: all with a redacted word went"
    )
