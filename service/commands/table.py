"""The results of a compliance run, or of two beside each other, as a table for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.commands.refusal import one_line

if TYPE_CHECKING:
    from core.compliance.result import Skipped, Summary, TestResult
    from core.portfolio.notes import DataWarning
    from core.scenario.simulate import Simulation

WARNINGS_SHOWN: Final = 12
"""Warnings that are printed above a table."""

PLAIN_COLUMNS: Final = 100
"""Width of the output where no terminal tells its own."""

_STYLES: Final = {"pass": "green", "warning": "yellow", "fail": "bold red"}


def console_for(stream: TextIO | None = None) -> Console:
    """A console on stdout (or `stream`): coloured on a terminal without NO_COLOR; plain, 100 columns wide in a pipe."""
    stream = stream or sys.stdout
    return Console(file=stream, width=None if stream.isatty() else PLAIN_COLUMNS, highlight=False)


def print_results(
    results: Sequence[TestResult],
    skipped: Sequence[Skipped],
    summary: Summary,
    *,
    title: str,
    warnings: Sequence[DataWarning] = (),
    console: Console | None = None,
) -> None:
    """Print what makes the figures doubtful, the tests that ran, those that were skipped with their reasons, and one
    line that counts them.

    Args:
        title: what was tested, e.g. the file's name and the suite.
    """
    console = console or console_for()
    console.print(Text(one_line(title), style="bold"))
    print_warnings(warnings, console)
    if results:
        console.print(_table(results))
        console.print()
    for test in skipped:
        line = Text("skipped  ", style="dim").append(one_line(f"{test.test_name} ({test.test_id}): {test.reason}"))
        console.print(line, soft_wrap=True)
    if skipped:
        console.print()
    console.print(_summary(summary), soft_wrap=True)


def print_simulation(found: Simulation, *, title: str) -> None:
    """Print what makes the figures doubtful, every test before and after the trades, those that cannot be compared, and
    the sentence that sums it up."""
    console = console_for()
    console.print(Text(one_line(title), style="bold"))
    print_warnings(found.warnings, console)
    if found.results:
        console.print(_compared(found))
        console.print()
    for test in found.skipped:
        reason = test.reason_projected or f"only before: {test.reason_current}"
        line = Text("skipped  ", style="dim").append(one_line(f"{test.test_name} ({test.test_id}): {reason}"))
        console.print(line, soft_wrap=True)
    if found.skipped:
        console.print()
    style = _STYLES["fail" if found.new_failures else "pass"]
    console.print(Text(one_line(found.message), style=style), soft_wrap=True)


def _compared(found: Simulation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Test", overflow="fold")
    for figure in ("Before", "After", "Threshold", "Cushion", "After"):
        table.add_column(figure, justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    units = {result.test_id: _unit(result) for result in found.before}
    for row in found.results:
        unit = units[row.test_id]
        status = Text()
        if row.status_current != row.status_projected:
            status.append(row.status_current.upper(), style=_STYLES[row.status_current]).append(" > ")
        status.append(row.status_projected.upper(), style=_STYLES[row.status_projected])
        moved = {"improve": "green", "worsen": "yellow", "neutral": ""}[row.impact_direction]
        table.add_row(
            Text(one_line(row.test_name)),
            Text(_figure(row.current_value, unit)),
            Text(_figure(row.projected_value, unit)),
            Text(f"{row.threshold_type} {_figure(row.threshold_value, '')}"),
            Text(_figure(row.cushion_current, "", sign="+")),
            Text(_figure(row.cushion_projected, "", sign="+"), style=moved),
            status,
        )
    return table


def print_warnings(warnings: Sequence[DataWarning], console: Console) -> None:
    """Print one line for each of the first `WARNINGS_SHOWN` warnings, and how many more there are."""
    for warning in warnings[:WARNINGS_SHOWN]:
        line = Text("warning  ", style="yellow").append(one_line(f"{warning.code}: {warning.message}"))
        console.print(line)
    if len(warnings) > WARNINGS_SHOWN:
        console.print(f"         and {len(warnings) - WARNINGS_SHOWN} more: --json has all of them", soft_wrap=True)
    if warnings:
        console.print()


def _table(results: Sequence[TestResult]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Test", overflow="fold")
    table.add_column("Category")
    for figure in ("Current", "Threshold", "Cushion"):
        table.add_column(figure, justify="right", no_wrap=True)
    table.add_column("Status", no_wrap=True)
    for result in results:
        unit = _unit(result)
        table.add_row(
            Text(one_line(result.test_name)),
            Text(one_line(result.category)),
            Text(_figure(result.current_value, unit)),
            Text(f"{result.threshold_type} {_figure(result.threshold_value, unit)}"),
            Text("-" if result.cushion is None else _figure(result.cushion, unit, sign="+")),
            Text(result.status.upper(), style=_STYLES[result.status]),
        )
    return table


def _unit(result: TestResult) -> str:
    """The unit that the details name, as a short suffix."""
    unit = result.details.breakdown.get("unit") if result.details else None
    return {"percent": " %", "%": " %", "years": " y"}.get(unit, "") if isinstance(unit, str) else ""


def _figure(value: float, unit: str, sign: str = "") -> str:
    return f"{value:{sign},.2f}{unit}"


def _summary(summary: Summary) -> Text:
    line = Text(f"{summary.total} tests: ")
    parts = (
        (f"{summary.passed} passed", summary.passed, "pass"),
        (f"{summary.warnings} warning" + "s" * (summary.warnings != 1), summary.warnings, "warning"),
        (f"{summary.failed} failed", summary.failed, "fail"),
        (f"{summary.skipped} skipped", 0, "pass"),
    )
    for at, (words, count, status) in enumerate(parts):
        line.append(", " if at else "").append(words, style=_STYLES[status] if count else "")
    return line
