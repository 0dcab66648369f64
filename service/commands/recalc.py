"""The recalc command: every formula from scratch, beside the carried values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, counted, emit, json_rows
from service.commands.progress import busy, counting
from service.commands.reading import read_workbook, some
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from rich.text import Text

    from core.recalc.book import Book
    from core.recalc.result import Recalculation, Row

EXIT_DIFFERENT: Final = 1
SHOWN_MAX: Final = 500
"""Mismatches that are printed one by one; a file with more has one cause, and --json has them all."""

PLACES_MAX: Final = 5
_CHUNK_ROWS: Final = 2_000


def recalc(
    file: Path,
    /,
    *,
    check: Annotated[bool, Parameter(negative=())] = False,
    locale: str | None = None,
    overwrite: Annotated[bool, Parameter(negative=())] = False,
    output: Output | None = None,
) -> int:
    """Recompute every formula cell of a workbook from scratch.

    The exit code is 0 when the run completed, and 1 when --check shows a mismatch. It is 2 when the file cannot be
    read, or takes more time or memory than the service gives a recalculation. Functions that Cushion does not have give
    #NAME?, references to other workbooks keep the carried value; both are listed, on stderr beside JSON and CSV.

    With --json or --format csv a row for every formula cell, array-formula member and spilled cell: sheet, cell,
    formula, value, cached, match. Where --out ends in .xlsx or .xlsm, it is a copy of the workbook with the computed
    values. All else is kept (formats, charts, pivot tables, macros), and the results go to the standard output.

    Parameters
    ----------
    file:
        The workbook (.xlsx or .xlsm). It is not changed, unless --out names it and --overwrite is given.
    check:
        Compare with the values that the file carries and print the mismatches: cell, formula, computed, carried.
    locale:
        How texts write dates and numbers (de-DE: 31.12.2024 and 1.234,50), in what formulas read and in what they make.
        Without it the language that the file names, else en-US.
    overwrite:
        --out may name the workbook itself.
    """
    begun = perf_counter()
    output = output or Output()
    copy = output.out if output.out is not None and output.out.suffix.lower() in _WORKBOOKS else None
    if copy is not None:
        output = replace(output, out=None)
    has_rows = output.chosen() in ("json", "csv")
    book = _read(file)
    with limited(file):
        result = _calculated(file, book, locale)
        seen = _Seen()
        if check and not has_rows:
            with counting("Comparing", result.cell_count) as advance:
                for _ in seen.rows(result, advance):
                    pass
        if copy is not None:
            _save(file, book, copy, overwrite=overwrite)
    elapsed = perf_counter() - begun
    rows = seen.rows(result, lambda _: None) if has_rows else ()
    emit(_page(file, book, result, seen, elapsed, rows, check=check), output)
    return EXIT_DIFFERENT if check and seen.count else 0


_WORKBOOKS: Final = (".xlsx", ".xlsm")

_WITH_FORMULAS: Final = frozenset({"xlsx", "xml", "encrypted"})
_NO_FORMULAS: Final = {
    "folder": "a folder has no formulas; name a workbook",
    "zip": "an archive has no formulas; name a workbook",
    "csv": "plain text has no formulas; name a workbook",
    "html": "a web page has no formulas; name a workbook",
}
_SAVE: Final = "formulas of an .{} file are not read; save it as .xlsx"


def _read(file: Path) -> Book:
    with busy(f"Reading {file.name}"):
        from core.files.errors import FileRefused
        from core.files.kinds import file_kind
        from core.files.source import FileState
        from core.recalc.book import Book

        with suppress(FileRefused, OSError):  # which reading says
            kind = "folder" if file.is_dir() else file_kind(file)
            if kind not in _WITH_FORMULAS:
                raise Refused(f"{file}: {_NO_FORMULAS.get(kind, _SAVE.format(kind))}")
        try:
            origin = FileState.of(file)
        except OSError as error:
            raise Refused(f"{file}: {error.strerror or error}") from error
        Thread(target=_load_engine).start()
        return Book(read_workbook(file, filled=False), origin)


def _load_engine() -> None:
    """What the reading child leaves time for."""
    import core.recalc.engine  # noqa: F401


def _calculated(file: Path, book: Book, locale: str | None) -> Recalculation:
    from datetime import datetime
    from random import random

    from core.formula.values import UnknownLocale

    with busy(f"Recalculating {file.name}"):
        now = datetime.now()  # noqa: DTZ005 - a spreadsheet has no zone
        try:
            return book.recalculate(now=now, random=random, locale=locale)
        except UnknownLocale as unknown:
            raise Refused(f"--locale: {unknown}") from None


def _save(file: Path, book: Book, out: Path, *, overwrite: bool) -> None:
    from core.files.errors import FileRefused
    from core.recalc.errors import NotSaved

    with busy(f"Writing {out.name}"):
        try:
            book.save(out, overwrite=overwrite)
        except NotSaved as refused:
            raise Refused(str(refused)) from refused
        except FileRefused as refused:
            raise Refused(f"{file}: {refused.message}: {refused.hint}") from refused
        except OSError as error:
            raise Refused(f"{out}: {error.strerror or error}") from error


class _Seen:
    """The mismatches among the rows that went by."""

    def __init__(self) -> None:
        self.count: int | None = None
        self.first: list[Row] = []

    def rows(self, rows: Iterable[Row], advance: Callable[[int], None]) -> Iterator[Row]:
        """The rows as they are."""
        self.count = 0
        for at, row in enumerate(rows):
            if at % _CHUNK_ROWS == 0:
                advance(_CHUNK_ROWS)
            if not row.match:
                self.count += 1
                if len(self.first) < SHOWN_MAX:
                    self.first.append(row)
            yield row


def _page(
    file: Path,
    book: Book,
    result: Recalculation,
    seen: _Seen,
    elapsed: float,
    rows: Iterable[Row],
    *,
    check: bool,
) -> OutputPage:
    """People read the mismatches; JSON and CSV have every row."""
    remarks = [Line(words, label, "yellow") for label, words in _remarks(result)]
    last = (
        f"{file.name}: {counted(result.cell_count, 'formula cell')} in {counted(len(book.sheets), 'sheet')}, "
        f"{elapsed:.2f} s with reading, {result.elapsed_seconds:.2f} s of it calculating"
    )
    blocks: list[Line | Grid | Text] = []
    if check and seen.first:
        blocks.append(Grid(columns=_COLUMNS, items=seen.first))
        if more := (seen.count or 0) - len(seen.first):
            blocks.append(Line(f"... and {counted(more, 'more mismatch')} (--json writes every row)"))
        blocks.append(Line())
    blocks += remarks
    blocks.append(_last_line(last, seen.count))
    return OutputPage(
        blocks=blocks,
        rows=Grid(columns=_COLUMNS, items=rows),
        document=json_rows(rows),
        notes=_notes(remarks, last, seen),
        in_json=False,
    )


def _notes(remarks: list[Line], last: str, seen: _Seen) -> Iterator[Line]:
    """What stands beside the rows, once these have gone by."""
    yield from remarks
    yield Line(str(_last_line(last, seen.count)))


def _last_line(words: str, mismatches: int | None) -> Text:
    from rich.text import Text

    line = Text(one_line(words))
    if mismatches is not None:
        summary = counted(mismatches, "mismatch")
        line.append(", ").append(summary, style="bold red" if mismatches else "green")
    return line


def _remarks(result: Recalculation) -> Iterator[tuple[str, str]]:
    """What kept cells from being computed as they stand."""
    for name, cells in result.unsupported.items():
        yield "unsupported", f"{name}: {_listed(cells)}"
    for cycle in result.cycles:
        yield "cycle", _listed(cycle)
    if result.unconverged:
        yield "not converged", f"after {counted(result.iterations, 'iteration')}: {_listed(result.unconverged)}"
    if result.external:
        yield "other workbook", _listed(result.external)
    if result.locale != "en-US":
        yield "locale", f"{result.locale}: dates and numbers as text are read and written so"
    for fault in result.faults:
        yield "fault", f"{fault.reason}: {_listed(fault.cells)}"


def _listed(cells: tuple[str, ...]) -> str:
    return some(cells, most=PLACES_MAX)


def _shown(value: float | str | bool | None) -> Text:
    from rich.text import Text

    if value is None:
        return Text("(blank)", style="dim")
    if isinstance(value, bool):
        return Text("TRUE" if value else "FALSE")
    return Text(repr(value) if isinstance(value, float) else one_line(value))


_COLUMNS: Final = [
    OutputColumn(heading="Cell", shown=lambda row: f"{row.sheet}!{row.cell}", folds=True),
    OutputColumn("sheet"),
    OutputColumn("cell"),
    OutputColumn("formula", "Formula", folds=True),
    OutputColumn("value", "Computed", shown=lambda row: _shown(row.value), folds=True),
    OutputColumn("cached", "Carried", shown=lambda row: _shown(row.cached), folds=True),
    OutputColumn("match"),
]
