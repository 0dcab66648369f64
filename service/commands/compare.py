"""The compare command: loans and tests between two files of a deal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, counted, emit, json_with_rows, member
from service.commands.progress import busy
from service.commands.reading import DealOption, MappingOption, SuiteOption, chosen_suite, read_interpreted, read_rules
from service.commands.refusal import Refused
from service.commands.table import (
    STYLES,
    by_test,
    doubt_lines,
    impacts_shown,
    not_compared,
    thinness,
    two_files_columns,
)

if TYPE_CHECKING:
    from core.deals.changes import Changes, LoanChange
    from core.scenario.simulate import Simulation

EXIT_FAILS_ANEW: Final = 1
SHOWN_DEFAULT: Final = 20
SHOWN_MAX: Final = 10_000
"""Loans that are printed one by one; JSON and CSV have them all."""

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


def compare(  # noqa: PLR0913 - a command's options
    old: Path,
    new: Path,
    /,
    *,
    suite: SuiteOption = None,
    deal: DealOption = None,
    mapping: MappingOption = None,
    rows: Literal["loans", "tests"] = "loans",
    limit: int = SHOWN_DEFAULT,
    fail_on_new: Annotated[bool, Parameter(negative=())] = False,
    output: Output | None = None,
) -> int:
    """Compare two files of a deal: the tests, and the loans that changed.

    Every test stands before and after, the thinnest cushion first. Loans came, went or changed.

    `cushion deal movements` explains why a test moved. The exit code is 0 when the files were compared, and 2 when a
    file cannot be read or has no loans. With --fail-on-new it is 1 when a test fails in the later file alone. The JSON
    has old, new, suite, as_of, new_failures, impact_summary, changes, warnings, results, skipped and loans.

    Where a file publishes figures of its own, they stand beside ours, with ours less theirs. A question mark stands
    behind a status that may be wrong.

    Parameters
    ----------
    old:
        The earlier file (.xlsx, .xlsm, .xls, .xlsb, .ods, .pdf, .csv, a .zip of these, or a folder). It is a
        workbook of holdings, or a trustee's tape.
    new:
        The later one.
    rows:
        What CSV has a row for: loans that came, went or changed, or tests.
    limit:
        How many loans to print, the largest changes of par first; 0 to 10,000.
    fail_on_new:
        End with 1 when a test that did not fail before fails in the later file.
    """
    if not 0 <= limit <= SHOWN_MAX:
        raise Refused(f"--limit must be between 0 and {SHOWN_MAX:,}, not {limit:,}")
    suite = chosen_suite(suite, deal)
    chosen, definition = read_rules(mapping, deal)
    sides = []
    for file in (old, new):
        with busy(f"Reading {file.name}"):
            sides.append(read_interpreted(file, mapping=chosen, definition=definition))
    from core.compliance.run import run_suite
    from core.deals.changes import changes
    from core.reconciliation import ReconcileError
    from core.scenario.simulate import compared

    with busy("Comparing"), limited(new):
        try:
            loans = changes(*sides)
        except ReconcileError as error:
            raise Refused(str(error)) from error
        before, after = (run_suite(side, suite, definition=definition) for side in sides)
        tests = compared(before, after, [], 0)
    emit(_page(old, new, suite, loans, tests, rows, limit), output or Output())
    return EXIT_FAILS_ANEW if fail_on_new and tests.new_failures else 0


def _page(old: Path, new: Path, suite: str, loans: Changes, tests: Simulation, rows: str, limit: int) -> OutputPage:
    from core.portfolio.model.notes import limit_warnings, of_side

    days = {"from": tests.before.as_of, "to": tests.after.as_of}
    sides = (of_side("from", tests.before.warnings), of_side("to", tests.after.warnings))
    warnings = limit_warnings([*loans.warnings, *sides[0], *sides[1]])
    columns = two_files_columns(tests)
    ordered = sorted(tests.results, key=thinness)
    counts = {name: getattr(loans, name) for name in loans.__struct_fields__ if name not in ("warnings", "loans")}
    head: dict[str, Any] = {
        "old": str(old),
        "new": str(new),
        "suite": suite,
        "as_of": days,
        "new_failures": tests.new_failures,
        "impact_summary": tests.impact_summary,
        "changes": counts,
        "warnings": warnings,
        "results": list(_with_published(tests)),
        "skipped": tests.skipped,
    }
    return OutputPage(
        title=f"{old.name} to {new.name}, {suite} suite, as of {days['from']} and {days['to']}",
        warnings=warnings,
        blocks=list(_blocks(loans, tests, Grid(columns=columns, items=ordered), limit)),
        rows=Grid(columns=columns, items=[*ordered, *tests.skipped])
        if rows == "tests"
        else Grid(columns=_loan_columns(), items=loans.loans),
        document=json_with_rows(head, "loans", loans.loans),
    )


def _with_published(tests: Simulation) -> Iterator[dict[str, Any]]:
    """The tests of both files, each with its published figure, its doubts and whether it is doubtful on either side."""
    import msgspec

    sides = {"current": by_test(tests.before), "projected": by_test(tests.after)}
    for comparison in tests.results:
        row = msgspec.structs.asdict(comparison)
        for side, results in sides.items():
            result = results[comparison.test_id]
            row |= {
                f"published_{side}": result.published, f"doubt_{side}": result.doubt,
                f"doubtful_{side}": result.doubtful,
            }  # fmt: skip
        yield row


def _blocks(loans: Changes, tests: Simulation, grid: Grid, limit: int) -> Iterator[Line | Grid]:
    if tests.results:
        yield grid
        yield Line()
    yield from not_compared(tests)
    yield from doubt_lines(tests.before, "from")
    yield from doubt_lines(tests.after, "to")
    if loans.loans and limit:
        yield Grid(columns=_loan_columns(), items=loans.loans[:limit])
        if len(loans.loans) > limit:
            more = len(loans.loans) - limit
            yield Line(f"... and {more:,} more (--limit shows more of them, --json and --format csv all)")
        yield Line()
    for field, reason in loans.not_compared.items():
        yield Line(f"{field}: {reason}", "not compared", "dim")
    yield Line(
        f"{counted(loans.loans_before, 'loan')} to {loans.loans_after:,}: {loans.loans_in:,} in with "
        f"{loans.par_in:,.2f}, {loans.loans_out:,} out with {loans.par_out:,.2f}, {loans.loans_changed:,} changed, "
        f"their par by {loans.par_changed:+,.2f}"
    )
    moves = impacts_shown(tests)
    summary = (
        f"{counted(tests.total_tests, 'test')}: {moves.improve} with a wider cushion, {moves.worsen} with a thinner "
    )
    summary += f"one, {moves.neutral} as before to the decimals shown; {counted(tests.new_failures, 'new failure')}"
    doubtful = [run.summary.doubtful for run in (tests.before, tests.after)]
    summary += f"; doubtful: {doubtful[0]} before, {doubtful[1]} after" if any(doubtful) else ""
    yield Line(summary, style=STYLES["fail" if tests.new_failures else "pass"])


def _loan_columns() -> list[OutputColumn]:
    from core.reconciliation.rules import FIELDS

    fields = [field for field, rule in FIELDS if rule.name not in ("missing_loan", "duplicate")]
    return [
        OutputColumn("change", "Change", value=member("kind")),
        OutputColumn("identifier", "Loan", folds=True),
        OutputColumn("borrower_name", "Borrower", folds=True, least=14),
        OutputColumn("par_change", "Par", right=True,
               shown=lambda loan: f"{loan.par_change:+,.2f}" if loan.par_change else "-"),
        OutputColumn(heading="What changed", shown=_what, folds=True, least=24),
        *(OutputColumn(f"{field}_{when}", value=_changed(field, when))
          for field in fields for when in ("before", "after")),
    ]  # fmt: skip


def _changed(field: str, when: str) -> Callable[[LoanChange], str | None]:
    return lambda loan: next((getattr(change, when) for change in loan.fields if change.field == field), None)


def _what(loan: LoanChange) -> str:
    return ", ".join(f"{field.field} {_value(field.before)} > {_value(field.after)}" for field in loan.fields)


def _value(text: str) -> str:
    """A figure with its thousands apart; what else there is as it stands."""
    from core.reconciliation.written import figure_text

    return figure_text(text, "calculation") or "-"
