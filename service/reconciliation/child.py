"""What a confined child does for a comparison.

It compares a tape's loans with a workbook, and writes the issues.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from core.confined.table import GIGABYTE, ConfinedWork, texts
from core.grid.codec import WorkbookRecord, open_sheet, open_workbook
from core.portfolio import Portfolio
from core.portfolio.assemble import stored
from core.portfolio.model.errors import MappingError
from core.portfolio.model.fields import Mapping
from core.portfolio.model.notes import DataWarning
from core.reconciliation import ReconcileError, reconcile, tape
from core.values import day_of
from service.reconciliation.copy_child import write_issues

ISSUES_FILE: Final = "issues.copy"
"""What the child writes, as `service.reconciliation.copy_child` does."""


class ComparisonFailed(Exception):
    """The comparison could not be made; the message says why, for its user."""


class Comparison(Struct, frozen=True, kw_only=True):
    """What is to be compared, and how."""

    loans: str
    """Path of the tape's stored loans."""
    manifest: str
    """The workbook's manifest, as `Manifest.to_json` writes it."""
    paths: tuple[str, ...]
    """Its sheets' files, in the manifest's order."""
    mapping: str
    """JSON of the workbook's `Mapping`."""
    day: float | None
    """The workbook's own record of its day, days since 1970-01-01."""
    rules: tuple[str, ...]
    tolerances: dict[str, float]


class ComparisonResult(Struct, frozen=True, kw_only=True):
    """What a comparison found, beside its issues."""

    summary: dict[str, int]
    stages: dict[str, int]
    ambiguous: dict[str, int]
    warnings: list[DataWarning]
    book_warnings: list[DataWarning]
    not_compared: dict[str, str]
    as_of: date | None
    """The day that the workbook is of, where it says one."""


COMPARE: Final = ConfinedWork(
    does="service.reconciliation.child.compare",
    order=Comparison,
    answer=ComparisonResult,
    refusals=("service.reconciliation.child.ComparisonFailed",),
    texts=texts("Comparing"),
    memory_bytes_max=4 * GIGABYTE,
    seconds_max=300.0,
)


def compare(order: Comparison, folder: Path) -> ComparisonResult:
    """Compare stored loans with a stored workbook and write the issues into a folder.

    Raises:
        ComparisonFailed: it cannot be made.
        CodecError: something stored is damaged.
        OSError: the machine's fault.
    """
    loans = stored.from_sheet(open_sheet(Path(order.loans)))
    book = open_workbook(WorkbookRecord.from_json(order.manifest), [Path(path) for path in order.paths])
    mapping = msgspec.json.decode(order.mapping, type=Mapping)
    try:
        portfolio = Portfolio.from_workbook(book, mapping, as_of=order.day, as_of_source="workbook")
        if portfolio.row_count == 0:
            raise ComparisonFailed(_no_loans(portfolio))
        comparison = reconcile(loans, portfolio, order.rules, tolerances=order.tolerances)
    except (MappingError, ReconcileError) as refusal:
        raise ComparisonFailed(f"The workbook cannot be compared: {refusal}.") from refusal
    write_issues(comparison.issues, folder / ISSUES_FILE)
    return ComparisonResult(
        summary={field: getattr(comparison.summary, field) for field in comparison.summary.__slots__},
        stages=comparison.stages,
        ambiguous=comparison.ambiguous,
        warnings=list(comparison.warnings),
        book_warnings=tape.warnings_of(portfolio),
        not_compared=comparison.not_compared,
        as_of=day_of(portfolio.deal.as_of),
    )


def _no_loans(book: Portfolio) -> str:
    if not book.notes.holdings_found:
        return f"The workbook has no loans: {book.notes.message}."
    return f"The workbook has no loans: sheet {book.sheet_name!r} has none below its header that can be used."
