"""The recalc command: every formula of a workbook from scratch, beside the values that the file carries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import App, Parameter

from service.commands.draft import replacing
from service.commands.limits import limited
from service.commands.progress import busy, counted
from service.commands.reading import read_workbook
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.recalc.book import Book
    from core.recalc.result import Recalculation, Row

EXIT_DIFFERENT: Final = 1
SHOWN_MAX: Final = 500
"""Mismatches that are printed one by one; a file with more has one cause, and --json has them all."""

PLACES_MAX: Final = 5
_CHUNK_ROWS: Final = 2_000


def register(app: App) -> None:
    """Add the command."""
    app.command(recalc)


def recalc(
    file: Path,
    /,
    *,
    check: Annotated[bool, Parameter(negative=())] = False,
    json: Path | None = None,
) -> int:
    """Recompute every formula cell of a workbook from scratch.

    The exit code is 0 when the run completed, 1 when --check found a mismatch, and 2 when the file cannot be read, or
    takes more time or memory than the service gives a recalculation.
    Functions that Cushion does not have give #NAME?, references to other workbooks keep the carried value; both are
    listed.

    Parameters
    ----------
    file:
        The workbook (.xlsx or .xlsm). It is not changed.
    check:
        Compare with the values that the file carries and print the mismatches: cell, formula, computed, carried.
    json:
        Write a JSON array with a row for every formula cell, array-formula member and spilled cell:
        {sheet, cell, formula, value, cached, match}.
    """
    different: list[Row] = []
    count = 0
    book = _read(file)
    with limited(file):
        result = _calculated(file, book)
        if check or json is not None:
            with counted("Comparing", result.cell_count) as advance:
                rows = _watched(result, different, advance)
                count = sum(not row.match for row in rows) if json is None else _write(rows, json)
    _report(file, book, result, different, count, check=check, compared=check or json is not None)
    return EXIT_DIFFERENT if check and count else 0


_NO_FORMULAS: Final = {
    "folder": "a folder has no formulas; name a workbook",
    "zip": "an archive has no formulas; name a workbook",
    "csv": "plain text has no formulas; name a workbook",
}
_SAVE: Final = "formulas of an .{} file are not read; save it as .xlsx"


def _read(file: Path) -> Book:
    with busy(f"Reading {file.name}"):
        from core.files.errors import FileRefused
        from core.files.kinds import file_kind
        from core.recalc.book import Book

        with suppress(FileRefused, OSError):  # which reading says
            kind = "folder" if file.is_dir() else file_kind(file)
            if kind != "xlsx":
                raise Refused(f"{file}: {_NO_FORMULAS.get(kind, _SAVE.format(kind))}")
        return Book(read_workbook(file))


def _calculated(file: Path, book: Book) -> Recalculation:
    from datetime import datetime
    from random import random

    with busy(f"Recalculating {file.name}"):
        return book.recalculate(now=datetime.now(), random=random)  # noqa: DTZ005 - a spreadsheet has no zone


def _watched(rows: Iterable[Row], different: list[Row], advance: Any) -> Iterator[Row]:
    """The rows as they are, the first mismatches noted."""
    for at, row in enumerate(rows):
        if at % _CHUNK_ROWS == 0:
            advance(_CHUNK_ROWS)
        if not row.match and len(different) < SHOWN_MAX:
            different.append(row)
        yield row


def _write(rows: Iterable[Row], target: Path) -> int:
    """Write the rows as a JSON array; how many do not match."""
    import msgspec

    encoder = msgspec.json.Encoder()
    count = 0
    with replacing(target) as out:
        between = b"[\n"
        for row in rows:
            count += not row.match
            out.write(between + encoder.encode(row))
            between = b",\n"
        out.write(b"\n]\n" if between == b",\n" else b"[]\n")
    return count


def _report(
    file: Path, book: Book, result: Recalculation, different: list[Row], count: int, *, check: bool, compared: bool
) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from service.commands.table import console_for

    console = console_for()
    if check and different:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for heading in ("Cell", "Formula", "Computed", "Carried"):
            table.add_column(heading, overflow="fold")
        for row in different:
            place = Text(one_line(f"{row.sheet}!{row.cell}"))
            table.add_row(place, Text(one_line(row.formula)), _shown(row.value), _shown(row.cached))
        console.print(table)
        if count > len(different):
            console.print(f"... and {count - len(different):,} more mismatches (--json writes every row)")
        console.print()
    for label, words in _remarks(result):
        console.print(Text(f"{label}  ", style="yellow").append(one_line(words)), soft_wrap=True)
    line = Text(f"{one_line(file.name)}: {result.cell_count:,} formula cells in {len(book.sheets)} sheets, ")
    line.append(f"{result.elapsed_seconds:.2f} s")
    if compared:
        line.append(", ").append(
            f"{count:,} mismatches" if count != 1 else "1 mismatch", style="bold red" if count else "green"
        )
    console.print(line, soft_wrap=True)


def _remarks(result: Recalculation) -> Iterator[tuple[str, str]]:
    """What kept cells from being computed as they stand."""
    for name, cells in result.unsupported.items():
        yield "unsupported", f"{name}: {_listed(cells)}"
    for cycle in result.cycles:
        yield "cycle", _listed(cycle)
    if result.external:
        yield "other workbook", _listed(result.external)
    for fault in result.faults:
        yield "fault", f"{fault.reason}: {_listed(fault.cells)}"


def _listed(cells: tuple[str, ...]) -> str:
    more = len(cells) - PLACES_MAX
    return ", ".join(cells[:PLACES_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _shown(value: float | str | bool | None) -> Any:
    from rich.text import Text

    if value is None:
        return Text("(blank)", style="dim")
    if isinstance(value, bool):
        return Text("TRUE" if value else "FALSE")
    return Text(repr(value) if isinstance(value, float) else one_line(value))
