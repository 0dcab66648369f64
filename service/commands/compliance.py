"""The compliance command: a suite on a portfolio workbook, with no server, straight on the calculation core."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import App, Parameter

from service.commands.limits import limited
from service.commands.progress import busy
from service.commands.reading import read_workbook
from service.commands.refusal import Refused, escaped

SECONDS_A_DAY: Final = 86_400

# Heavy imports (NumPy, core) stand inside the command, so that `cushion --help` answers at once.


def register(app: App) -> None:
    """Add the command."""
    app.command(compliance)


def compliance(
    file: Path,
    /,
    *,
    suite: Literal["standard", "enhanced"] = "standard",
    json: Annotated[bool, Parameter(negative=())] = False,
) -> None:
    """Run a compliance suite on a portfolio workbook and print the results.

    The exit code is 0 when the run completed, also with failing tests, and 2 when the file cannot be read.

    Parameters
    ----------
    file:
        The workbook with a sheet of holdings and, for the coverage tests, one of tranches: .xlsx, .xlsm, .xls, .xlsb,
        .ods, .csv, a .zip of these, or a folder.
    suite:
        standard (15 tests) or enhanced (25 tests).
    json:
        Print one JSON document instead of the table: file, suite, summary, results, skipped.
    """
    with busy(f"Reading {file.name}"):
        from core.compliance.run import run_suite
        from core.portfolio.portfolio import Portfolio

        book = read_workbook(file)
        try:
            changed = file.stat().st_mtime
        except OSError as error:
            raise Refused(f"{file}: {error.strerror or error}") from error
        # Where the workbook names no date, the day of the file stands in, as the day of upload does in the service.
        with limited(file):
            portfolio = Portfolio.from_workbook(book, as_of=changed // SECONDS_A_DAY)
            results = run_suite(portfolio, suite)
    if json:
        import msgspec

        document = {
            "file": str(file),
            "suite": suite,
            "summary": results.summary,
            "results": list(results),
            "skipped": results.skipped,
        }
        print(escaped(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()))
        return
    from service.commands.table import print_results

    print_results(results, results.skipped, results.summary, title=f"{file.name}, {suite} suite")
