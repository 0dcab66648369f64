"""The commands on a deal's definition and files, with no server: check, run, tie-out, movements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter

from service.commands.document import print_json
from service.commands.limits import limited
from service.commands.progress import busy
from service.commands.reading import definition_text, read_definition, read_loans
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.portfolio.notes import DataWarning
    from core.portfolio.portfolio import Portfolio

EXIT_DIFFERENT: Final = 1
SHOWN_LEAST: Final = 0.005
"""A smaller part shows as nothing in two decimals."""

Json = Annotated[bool, Parameter(negative=())]

deal = App(name="deal", help="A deal's definition checked and run; its figures beside the trustee's, and through time.")

# Heavy imports (NumPy, core) stand inside the commands, so that `cushion --help` answers at once.


def register(app: App) -> None:
    """Add the commands."""
    app.command(deal)


@deal.command
def check(file: Path, /, *, json: Json = False) -> int:
    """Check a definition (deal.toml) and tell every fault with its place.

    The exit code is 0 for a definition, 1 for one with faults, and 2 when the file cannot be read.

    Parameters
    ----------
    file:
        The definition, as TOML.
    json:
        Print one JSON document: file, name, tests, faults.
    """
    from core.definition import DefinitionError, parse_toml

    name, tests, faults = None, 0, []
    text = definition_text(file)
    try:
        definition = parse_toml(text)
        name, tests = definition.name, len(definition.tests)
    except DefinitionError as error:
        faults = [{"place": place, "message": message} for place, message in error.faults]
    if json:
        print_json({"file": str(file), "name": name, "tests": tests, "faults": faults})
    else:
        for fault in faults:
            print(one_line(f"{fault['place'] or 'the document'}: {fault['message']}"))
        print(f"{len(faults)} fault{'s' * (len(faults) != 1)}" if faults else f"a definition with {tests} tests")
    return EXIT_DIFFERENT if faults else 0


@deal.command(name="run")
def run_tests(*files: Path, deal: Path, json: Json = False) -> None:
    """Run a definition's tests on the files of one month.

    The exit code is 0 when the run completed, also with failing tests, and 2 when a file cannot be read.

    Parameters
    ----------
    files:
        The files, or a folder or .zip of them.
    deal:
        The definition, as TOML.
    json:
        Print one JSON document instead of the table: files, as_of, warnings, summary, results, skipped.
    """
    definition = read_definition(deal)
    portfolio = _portfolio(files)
    from core.compliance.run import run_suite
    from core.compliance.suites import DEAL_SUITE

    with limited(files[0]):
        results = run_suite(portfolio, DEAL_SUITE, definition=definition)
    if json:
        print_json({"files": [str(file) for file in files]}, results)
        return
    from service.commands.table import print_results

    title = f"{files[0].name}, as of {results.as_of}"
    print_results(results, results.skipped, results.summary, title=title, warnings=results.warnings)


@deal.command(name="tie-out")
def tie_out(*files: Path, deal: Path | None = None, json: Json = False) -> int:
    """Set the tests that the trustee's files publish beside ours.

    The exit code is 0 when every figure that is known to both agrees, 1 when one differs, and 2 when a file cannot be
    read.

    Parameters
    ----------
    files:
        The files, or a folder or .zip of them.
    deal:
        The definition, as TOML; the suites' defaults if not given.
    json:
        Print one JSON document: files, warnings, items.
    """
    definition = None if deal is None else read_definition(deal)
    portfolio = _portfolio(files)
    from core.deals.tie_out import tie_out as tied

    with limited(files[0]):
        items = tied(portfolio, definition)
    if json:
        print_json({"files": [str(file) for file in files], "warnings": portfolio.notes.warnings, "items": items})
    else:
        _print_table(
            portfolio.notes.warnings,
            ("Trustee's test", "Trustee", "Ours", "Difference", "Explained by"),
            [
                (
                    one.trustee_name,
                    _figure(one.trustee_value),
                    _figure(one.our_value),
                    "-" if one.agrees else _figure(one.difference),
                    ", ".join(one.explained_by) or one.reason or ("" if one.test_id else "not matched"),
                )
                for one in items
            ],
        )
    return EXIT_DIFFERENT if any(one.agrees is False for one in items) else 0


@deal.command
def movements(before: Path, after: Path, /, *, deal: Path | None = None, json: Json = False) -> None:
    """Explain why each test moved between two months, by parts that add up to the change.

    Parameters
    ----------
    before:
        The earlier file, or a folder or .zip of files.
    after:
        The later one.
    deal:
        The definition, as TOML, whose tests are explained; the enhanced suite if not given.
    json:
        Print one JSON document: from, to, warnings, items.
    """
    definition = None if deal is None else read_definition(deal)
    earlier, later = _portfolio([before]), _portfolio([after])
    from core.compliance.run import run_suite
    from core.compliance.suites import DEAL_SUITE
    from core.deals.movements import movements as moved
    from core.portfolio.notes import bounded, of_side

    suite = DEAL_SUITE if definition is not None else "enhanced"
    with limited(after), busy("Running each step"):
        items = moved(earlier, later, lambda one: run_suite(one, suite, definition=definition, details=False))
    warnings = bounded([*of_side("from", earlier.notes.warnings), *of_side("to", later.notes.warnings)])
    if json:
        print_json({"from": str(before), "to": str(after), "warnings": warnings, "items": items})
        return
    rows = []
    for one in items:
        told = (part for part in one.parts if abs(part.change) >= SHOWN_LEAST)
        parts = [f"{part.part.replace('_', ' ')} {part.change:+,.2f}" for part in told]
        if (why := one.after_open or one.before_open) is not None:
            parts.append(why.reason)
        rows.append((one.test_name, _figure(one.before), _figure(one.after), _figure(one.change), ", ".join(parts)))
    _print_table(warnings, ("Test", "From", "To", "Change", "Of which"), rows)


def _portfolio(files: Sequence[Path]) -> Portfolio:
    """The loans of files that make one workbook.

    Raises:
        Refused: none is named, they cannot be read, or hold no loans.
    """
    if not files:
        raise Refused("name at least one file")
    with busy(f"Reading {files[0].name}"):
        return read_loans(*files)


# What is printed ------------------------------------------------------------------------------------------------------


def _print_table(warnings: Sequence[DataWarning], head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich import box
    from rich.table import Table

    from service.commands.table import console_for, print_warnings

    console = console_for()
    print_warnings(warnings, console)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for at, name in enumerate(head):
        table.add_column(name, overflow="fold", justify="left" if at in (0, 4) else "right")
    for row in rows:
        table.add_row(*map(one_line, row))
    console.print(table)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"
