"""Commands that need no server: they work straight on the calculation core."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import App, Parameter

from service.commands.progress import busy, counted
from service.commands.refusal import Refused

SECONDS_A_DAY: Final = 86_400

# Heavy imports (NumPy, core) stand inside the commands, so that `cushion --help` answers at once.


def register(app: App) -> None:
    """Add the commands of this group."""
    app.command(compliance)
    app.command(generate)


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
        The workbook (.xlsx, .xlsm or .xls) with a sheet of holdings and, for the coverage tests, one of tranches.
    suite:
        standard (15 tests) or enhanced (25 tests).
    json:
        Print one JSON document instead of the table: file, suite, summary, results, skipped.
    """
    with busy(f"Reading {file.name}"):
        from core.compliance.run import run_suite
        from core.files.errors import FileRefused
        from core.files.read import read
        from core.portfolio.portfolio import Portfolio

        try:
            book = read(file)
            changed = file.stat().st_mtime
        except FileRefused as refused:
            raise Refused(f"{file}: {refused.message}: {refused.hint}") from refused
        except OSError as error:
            raise Refused(f"{file}: {error.strerror or error}") from error
        # Where the workbook names no date, the day of the file stands in, as the day of upload does in the service.
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
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
        return
    from service.commands.table import print_results

    print_results(results, results.skipped, results.summary, title=f"{file.name}, {suite} suite")


def generate(
    *,
    out: Path,
    loans: int = 300,
    seed: int = 7,
    fault: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    messy: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    format: Literal["xlsx"] = "xlsx",  # noqa: A002 - the option's name
) -> None:
    """Write a made-up deal: a workbook with the sheets Holdings, Tranches and Deal; print its path.

    The same arguments always make the same book. The exit code is 0 when the file is written, else 2.

    Parameters
    ----------
    out:
        The folder for the file; made if missing. A file of the same name is replaced.
    loans:
        Number of loans, 200 to 999,999.
    seed:
        Which book; a whole number from 0.
    fault:
        What to break: breach_obligor, breach_ccc, breach_oc, warn_wal. Several are separated by commas or spaces.
    messy:
        Habits of managers' files: title_rows, two_row_header, totals_row, merged_issuers, error_cells, blanks,
        percent_spreads, text_numbers, trailing_space_header, negative_par, duplicate_lots; or all.
    format:
        The file's format.
    """
    faults, habits = _words(fault), _words(messy)
    with busy("Drawing loans"):
        from core.generate import MESSY, GenerateError
        from core.generate import generate as draw

        try:
            deal = draw(loans=loans, seed=seed, faults=faults, messy=MESSY if habits == ["all"] else habits)
        except GenerateError as error:
            raise Refused(str(error)) from error
    name = "-".join(["clo", str(loans), str(seed), *faults, *(["messy"] if habits else [])]) + f".{format}"
    target = out / name
    try:
        out.mkdir(parents=True, exist_ok=True)
        # A folder of its own beside the target: an interrupted run leaves no half file, and the move stays on one disk.
        with tempfile.TemporaryDirectory(dir=out, prefix=".cushion-") as folder, counted("Writing", loans) as advance:
            deal.write(Path(folder) / name, progress=advance)
            (Path(folder) / name).replace(target)
    except OSError as error:
        raise Refused(f"{error.filename or out}: {error.strerror or error}") from error
    print(target)


def _words(given: tuple[str, ...]) -> list[str]:
    """Each word once, in the order given: options come separated by spaces, by commas, or repeated."""
    return list(dict.fromkeys(word for words in given for word in words.split(",") if word))
