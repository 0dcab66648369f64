"""The steps of a batch: what is done with a month's loans, as rows."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from core.batch.order import ISSUES_FILE, MonthOrder
from core.batch.read import MonthLoans, MonthRefused, read_book, why_no_loans
from core.batch.table import DealMonth, ResultRow, RowStatus, Step, rows_of
from core.batch.write import guarded
from core.compliance.run import run_suite
from core.export.order import ExportError
from core.portfolio import Portfolio
from core.portfolio.mapping.profiles.trustees import TRUSTEES
from core.portfolio.model.notes import DataWarning, of_side
from core.recalc.book import Book
from core.reconciliation import ReconcileError, Reconciliation
from core.reconciliation import reconcile as compare
from core.reconciliation.issues import COLUMNS as ISSUE_COLUMNS
from core.reconciliation.rules import SEVERITIES
from core.reconciliation.tape import warnings_of
from core.values import day_of
from core.words import counted, first_of

"""Cells that a doubt names."""
_CHUNK_ISSUES: Final = 20_000


_WITH_TESTS: Final = frozenset({"suite", "report", "export"})
"""Steps that show the suite's results."""


class MonthWork:
    """A month whose files were read, and what its steps have made so far."""

    def __init__(self, order: MonthOrder, folder: Path, month: DealMonth, loans: MonthLoans) -> None:
        """Run the suite, where a step shows its results.

        Raises:
            MonthRefused: the suite is that of a definition, and there is none.
        """
        self.order, self.loans, self.outputs = order, loans, list[str]()
        self.folder = folder
        """The folder that may be written."""
        options = order.options
        if _WITH_TESTS.isdisjoint(options.steps):
            self.warnings, day = loans.portfolio.notes.warnings, day_of(loans.portfolio.deal.as_of)
            source = loans.portfolio.deal.as_of_source
        else:
            if options.suite == "deal" and loans.definition is None:
                raise MonthRefused("the suite deal needs a definition: name it with --deal or in the table of deals")
            self.results = run_suite(loans.portfolio, options.suite, definition=loans.definition)
            self.warnings, day, source = self.results.warnings, self.results.as_of, self.results.as_of_source
        self.month = replace(month, as_of=day, as_of_source=source)

    def row(self, step: Step, status: RowStatus, *, name: str | None = None, value: float | None = None) -> ResultRow:
        """Return a row of a step: its outcome, or what it counted under a name."""
        month = self.month
        return ResultRow(
            deal=month.deal,
            as_of=month.as_of,
            as_of_source=month.as_of_source,
            step=step,
            test_id=name,
            status=status,
            value=value,
            unit=None if value is None else "number",
            files=month.files,
            sha256=month.sha256,
        )


def read_row(work: MonthWork) -> ResultRow:
    """Return the row of the reading: loans, and what was guessed or left out."""
    loans = work.loans.portfolio
    notes = list(work.order.notes)
    if work.month.as_of is None:
        notes.append("neither the files nor the table of deals say the day of the figures, and none stands in")
    message = "; ".join([f"{counted(loans.row_count, 'loan')} on sheet {loans.sheet_name!r}", *notes])
    row = work.row("read", "done", name="loans", value=float(loans.row_count))
    return replace(row, doubt=_doubt(work.warnings), message=message)


def _doubt(warnings: Sequence[DataWarning]) -> str | None:
    return "; ".join(f"{warning.code}: {warning.message}" for warning in warnings) or None


def suite_rows(work: MonthWork) -> Iterator[ResultRow]:
    """Yield a row for each test."""
    yield from rows_of(work.month, work.order.options.suite, work.results)


def recalc_rows(work: MonthWork) -> Iterator[ResultRow]:
    """Yield how many formulas there are, and how many come to another value."""
    originals = [book for book in work.loans.read.originals if any(len(sheet.formulas) for sheet in book.sheets)]
    if not originals:
        yield replace(work.row("recalc", "skipped"), message="no file of the deal has formulas")
        return
    cells = mismatches = 0
    doubts: list[str] = []
    for original in originals:
        book = Book(original)
        draw = Random(work.order.sha256).random  # noqa: S311 - what RAND draws is no secret
        result = book.recalculate(now=datetime.fromisoformat(work.order.options.now), random=draw)
        cells += result.cell_count
        mismatches += sum(not row.match for row in result)
        doubts += [f"unsupported: {name}: {first_of(places)}" for name, places in result.unsupported.items()]
        doubts += [f"cycle: {first_of(cycle)}" for cycle in result.cycles]
        doubts += [f"other workbook: {first_of(result.external)}"] if result.external else []
        doubts += [f"not converged: {first_of(result.unconverged)}"] if result.unconverged else []
        doubts += [f"fault: {fault.reason}: {first_of(fault.cells)}" for fault in result.faults]
    yield replace(work.row("recalc", "done", name="formula_cells", value=float(cells)), doubt="; ".join(doubts) or None)
    message = f"{counted(mismatches, 'cell')} of {cells:,} come to another value than the file carries"
    yield replace(work.row("recalc", "done", name="mismatches", value=float(mismatches)), message=message)


def reconcile_rows(work: MonthWork) -> Iterator[ResultRow]:
    """Yield how many loans match the tape, and the issues by severity."""
    order = work.order
    if order.tape is None:
        yield replace(work.row("reconcile", "skipped"), message="no file of the deal is a trustee's tape")
        return
    trustee = order.options.trustee
    tape_book = read_book(order, [order.tape], work.folder).book
    theirs = Portfolio.from_workbook(tape_book, None if trustee is None else TRUSTEES[trustee])
    ours = Portfolio.from_workbook(work.loans.read.book, None)
    for name, book, loans in ((order.tape.name, tape_book, theirs), ("holdings", work.loans.read.book, ours)):
        if not loans.row_count:
            raise MonthRefused(f"{name}: {why_no_loans(book, loans)}")
    try:
        result = compare(theirs, ours, None)
    except ReconcileError as error:
        raise MonthRefused(str(error)) from error
    warnings = [*result.warnings, *of_side("tape", warnings_of(theirs)), *of_side("holdings", warnings_of(ours))]
    counts = _write_issues(work.folder / ISSUES_FILE, result)
    work.outputs.append(ISSUES_FILE)
    summary = result.summary
    message = (
        f"{counted(summary.total_loans_compared, 'loan')}: {summary.matched:,} matched, "
        f"{summary.unmatched_trustee:,} only on the tape, {summary.unmatched_internal:,} only in the holdings"
    )
    first = work.row("reconcile", "done", name="loans_matched", value=float(summary.matched))
    not_compared = [f"not compared: {name}: {why}" for name, why in result.not_compared.items()]
    doubt = "; ".join([*filter(None, [_doubt(warnings)]), *not_compared]) or None
    yield replace(first, message=message, doubt=doubt, output=ISSUES_FILE)
    for severity in SEVERITIES:
        yield work.row("reconcile", "done", name=f"issues_{severity}", value=float(counts[severity]))


def _write_issues(path: Path, result: Reconciliation) -> Counter[str]:
    """Write every issue as CSV; return how many there are of each severity."""
    counts: Counter[str] = Counter()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = (*ISSUE_COLUMNS, *result.issues.page_lines(0, 0))
        writer.writerow(names)
        for start in range(0, len(result.issues), _CHUNK_ISSUES):
            stop = start + _CHUNK_ISSUES
            chunk = result.issues.chunk(start, stop) | result.issues.page_lines(start, stop)
            counts.update(chunk["severity"])
            writer.writerows([guarded(text) for text in texts] for texts in zip(*chunk.values(), strict=True))
    return counts


def report_rows(work: MonthWork) -> Iterator[ResultRow]:
    """Write the report on compliance; yield its row."""
    from core.deals.tie_out import tie_out
    from core.redact.replace import Policy
    from core.report.compliance import compliance_content
    from core.report.content import Origin
    from core.report.files import Cleaner, write_compliance
    from core.report.tables import Looks

    options, loans = work.order.options, work.loans
    only = work.order.files[0] if len(work.order.files) == 1 else None
    content = compliance_content(
        work.results,
        loans.portfolio,
        origin=Origin(
            name=work.month.deal,
            file_name=work.month.files,
            file_sha256=work.month.sha256,
            file_size_bytes=None if only is None else only.size_bytes,
            mapping=loans.mapping.name,
        ),
        generated_at=_moment(work),
        suite=options.suite,
        definition=loans.definition,
        tie_out=() if loans.definition is None else tie_out(loans.portfolio, loans.definition),
    )
    name = f"report.{options.report_format}"
    write_compliance(
        work.folder / name, content, format=options.report_format, cleaner=Cleaner(Policy()), looks=Looks()
    )
    work.outputs.append(name)
    yield replace(work.row("report", "done"), output=name)


def export_rows(work: MonthWork) -> Iterator[ResultRow]:
    """Write the workbook with its tests as a file; yield its row."""
    from core.export.compliance import compliance_rows
    from core.export.order import ExportOrder, Keys, Lineage
    from core.export.run import export_workbook

    month, loans, results = work.month, work.loans, work.results
    key = sha256(
        f"unsigned {month.sha256}".encode()
    ).digest()  # as of a command without --key-file: no proof of anything
    order = ExportOrder(
        format=work.order.options.export_format,
        export_id=f"exp_{month.sha256[:32]}",
        workbook_id=month.sha256,
        tenant_id="",
        created=_moment(work),
        lineage=Lineage(
            workbook_name="export",
            file_name=month.files,
            source_hash=month.sha256,
            mapping=loans.mapping.name,
            as_of=results.as_of,
            as_of_source=results.as_of_source,
            definition=None if loans.definition is None else loans.definition.name,
            suite=work.order.options.suite,
            warnings=tuple(warning.message for warning in results.warnings),
        ),
        keys=Keys(signing=key, redaction=key),
        mapping=work.order.terms.mapping,
        compliance=compliance_rows(results, results.skipped),
    )
    try:
        product = export_workbook(loans.read.book, order, work.folder)
    except ExportError as error:
        raise MonthRefused(str(error)) from error
    name = f"export{Path(product.main.name).suffix}"
    (work.folder / product.main.path).rename(work.folder / name)
    work.outputs.append(name)
    summary = product.result_summary
    message = f"{counted(len(summary.sheets), 'sheet')}, {counted(summary.rows, 'row')}"
    yield replace(work.row("export", "done"), output=name, message=message, doubt="; ".join(summary.warnings) or None)


def _moment(work: MonthWork) -> datetime:
    return datetime.fromisoformat(work.order.options.now).replace(tzinfo=UTC)


StepFunction = Callable[[MonthWork], Iterator[ResultRow]]

STEP_FUNCTIONS: Final[dict[Step, StepFunction]] = {
    "suite": suite_rows,
    "recalc": recalc_rows,
    "reconcile": reconcile_rows,
    "report": report_rows,
    "export": export_rows,
}
