"""The generate command: a made-up deal as a workbook, with a trustee's tape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from service.commands.draft import drafts
from service.commands.progress import busy, counting
from service.commands.reading import words
from service.commands.refusal import Refused

if TYPE_CHECKING:
    from core.generate import GeneratedDeal, GeneratedTape

ANSWERS: Final = "answers.json"
"""The name of the file with what a reconciliation must find."""

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


def generate(  # noqa: PLR0913 - a command's options
    *,
    out: Path,
    loans: int = 300,
    seed: int = 7,
    fault: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    messy: Annotated[tuple[str, ...], Parameter(consume_multiple=True, negative=(), show_default=False)] = (),
    tape: Literal["trustee_a", "trustee_b", "trustee_c"] | None = None,
    edits: int | None = None,
    report: Literal["pages", "flat", "sheet", "months"] | None = None,
    format: Literal["xlsx"] = "xlsx",  # noqa: A002 - the option's name
) -> None:
    """Write a made-up deal: a workbook with Holdings, Tranches and Deal.

    Its path is printed.

    With --tape also a trustee's tape of that deal, seeded with discrepancies, and answers.json with the issues that
    `cushion reconcile` must find; print the three paths. With --report the deal's monthly report in place of the
    workbook, and answers.json with what it says. The same arguments always make the same files. The exit code is 0 when
    they are written, else 2.

    Parameters
    ----------
    out:
        The folder for the files; made if missing. Files of the same names are replaced.
    loans:
        Number of loans, 200 to 999,999.
    seed:
        Which book; a whole number from 0.
    fault:
        What to break: breach_obligor, breach_ccc, breach_oc, warn_wal. Several are separated by commas or spaces.
    messy:
        Habits of managers' files: title_rows, two_row_header, totals_row, merged_issuers, error_cells, blanks,
        percent_spreads, text_numbers, trailing_space_header, negative_par, duplicate_lots; or all.
    tape:
        The trustee in whose manner a tape is written, beside holdings that have a few loans more for it to leave out.
    edits:
        Discrepancies and harmless differences of each kind on the tape, up to 1,000; one for every 500 loans if not
        given.
    report:
        The manner of a report: pages (a workbook in which a loan's fields stand on several pages) or flat (an archive
        of delimited files). Which habits it has, the seed decides.
    format:
        The files' format.
    """
    if edits is not None and tape is None:
        raise Refused("--edits needs --tape")
    if report is not None and (tape is not None or messy):
        raise Refused("--report goes with neither --tape nor --messy")
    faults, habits = words(fault), words(messy)
    stem = "-".join(["clo", str(loans), str(seed), *faults, *(["messy"] if habits else [])])
    deal, generated = _drawn(loans, seed, faults, habits, tape, edits)
    if report is not None:
        _write_report(out, stem, deal, report, seed)
        return
    if generated is None:
        _write(out, {f"{stem}.{format}": deal.write}, rows=loans)
        return
    files = {
        f"{stem}-{tape}-holdings.{format}": generated.deal.write,
        f"{stem}-{tape}-tape.{format}": generated.write,
        ANSWERS: lambda path, _: generated.write_answers(path),
    }
    _write(out, files, rows=loans + generated.sheet().row_count)


def _drawn(
    loans: int, seed: int, faults: list[str], habits: list[str], trustee: str | None, edits: int | None
) -> tuple[GeneratedDeal, GeneratedTape | None]:
    with busy("Drawing loans"):
        from core.generate import MESSY, GenerateError, generate_tape
        from core.generate import generate as draw

        try:
            deal = draw(loans=loans, seed=seed, faults=faults, messy=MESSY if habits == ["all"] else habits)
            if trustee is None:
                return deal, None
            tape = generate_tape(deal, trustee, seed, edits)
            tape.sheet()  # refuses what does not fit a sheet before a file is begun
            return deal, tape
        except GenerateError as error:
            raise Refused(str(error)) from error


def _write_report(out: Path, stem: str, deal: GeneratedDeal, manner: str, seed: int) -> None:
    from core.generate import GenerateError, generate_report

    try:
        report = generate_report(deal, manner, seed)
    except GenerateError as error:
        raise Refused(str(error)) from error
    files: dict[str, Callable[[Path, Callable[[int], None]], None]] = {
        f"{stem}-report-{manner}.{report.extension}": report.write,
        ANSWERS: lambda path, _: report.write_answers(path),
    }
    _write(out, files, rows=sum(len(page.rows) for page in report.pages))


def _write(out: Path, files: dict[str, Callable[[Path, Callable[[int], None]], None]], rows: int) -> None:
    """Write all of the files, then give them their names."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with drafts(out) as folder, counting("Writing", rows) as advance:
            for name, write in files.items():
                write(folder / name, advance)
            for name in files:
                (folder / name).replace(out / name)
    except OSError as error:
        raise Refused(f"{error.filename or out}: {error.strerror or error}") from error
    for name in files:
        print(out / name)
