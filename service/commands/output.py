"""The output of the commands: a table for people, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import date
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TextIO

from cyclopts import Parameter

from service.commands.draft import replacing
from service.commands.refusal import Refused, escaped, one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from core.portfolio.model.notes import DataWarning

Format = Literal["table", "json", "csv", "md"]

ENDINGS: Final[dict[str, Format]] = {
    ".txt": "table", ".json": "json", ".jsonl": "json", ".csv": "csv", ".md": "md", ".markdown": "md",
}  # fmt: skip
"""What the name of a file ends in -> the format that it is written in."""

WARNINGS_APART: Final = 12
"""Warnings up to which people are shown each on a line; of more, those of a kind share one. None is left out."""

PLAIN_COLUMNS: Final = 100
"""Width of the output where no terminal tells its own."""

# rich, msgspec and NumPy stand inside the functions, so that `cushion --help` answers at once.


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Output:
    """Where the answer goes, and in which format."""

    format: Annotated[
        Format | None,
        Parameter(
            help="table (for people), json (one document), csv (the rows, by RFC 4180) or md (Markdown). What the name "
            "of --out ends in if not given, else table."
        ),
    ] = None
    out: Annotated[
        Path | None,
        Parameter(
            help="A file to write to in place of the standard output, which is replaced if it is there; - for the "
            "standard output.",
            allow_leading_hyphen=True,
        ),
    ] = None
    json: Annotated[bool, Parameter(help="The same as --format json.", negative=())] = False

    def chosen(self) -> Format:
        """The format.

        Raises:
            Refused: --json and another format.
        """
        if self.json and self.format not in (None, "json"):
            raise Refused(f"--json and --format {self.format} are two formats: give one of them")
        if self.json:
            return "json"
        return self.format or (ENDINGS.get(self.out.suffix.lower(), "table") if self.out is not None else "table")


# What is told ---------------------------------------------------------------------------------------------------------

Value = str | float | int | bool | date | None


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """One column of a `Grid`."""

    key: str = ""
    """Its name in CSV; empty where only people are shown it."""
    heading: str = ""
    """Its heading for people; empty where only CSV has it."""
    _: KW_ONLY
    value: Callable[[Any], Value] = None  # type: ignore[assignment]  # set below
    """What takes an item to its typed value, for CSV; the member that `key` names if not given."""
    shown: Callable[[Any], str | Text] | None = None
    """What takes an item to what people read; the value itself if not given."""
    right: bool = False
    folds: bool = False
    """Whether a long text goes on in a further line; else the column keeps its width."""
    least: int = 0
    """Width that it has at the least."""
    from_width: int = 0
    """Width of the terminal from which on it is shown."""

    def __post_init__(self) -> None:
        if self.value is None:
            object.__setattr__(self, "value", member(self.key))

    def text(self, item: Any) -> str | Text:
        """What people read of an item.

        Of a text in a style its own command says what is a label.
        """
        text = self.shown(item) if self.shown is not None else plain(self.value(item))
        return people_read(text) if isinstance(text, str) else text


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rows under columns."""

    columns: Sequence[OutputColumn]
    items: Iterable[Any]
    shown_items: Iterable[Any] | None = None
    """What people are shown where that is less than the whole."""

    @property
    def for_people(self) -> Iterable[Any]:
        """What people are shown."""
        return self.items if self.shown_items is None else self.shown_items


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page, behind a label where it has one. An empty one parts what stands above from what follows."""

    words: str = ""
    label: str = ""
    style: str = ""
    """Of the label, else of the words."""
    is_exact: bool = False
    """Whether its blanks and tabs count, as in the text of a cell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPage:
    """What a command found."""

    blocks: Sequence[Line | Grid | Text]
    """What people read, from top to bottom, below the title and the warnings."""
    rows: Grid
    """What CSV has."""
    document: Callable[[], Iterable[str]]
    """JSON in pieces."""
    title: str = ""
    warnings: Sequence[DataWarning] = ()
    notes: Iterable[Line] = ()
    """Said on stderr, when all is written, where the format has no place for them: beside CSV."""
    in_json: bool = True
    """Whether the JSON has the notes, too."""


def emit(page: OutputPage, output: Output) -> None:
    """Write a page where the user wants it.

    Raises:
        Refused: two formats, or a file that cannot be written.
    """
    form = output.chosen()
    with stream_of(output) as stream:
        if form == "json":
            for piece in page.document():
                stream.write(piece)
        elif form == "csv":
            _write_csv(page.rows, stream)
        elif form == "md":
            _write_markdown(page, stream)
        elif _is_plain(page):
            stream.writelines(f"{_safe(block)}\n" for block in page.blocks if isinstance(block, Line))
        else:
            print_page(page, console_for(stream))
        stream.flush()
    if form == "csv" or (form == "json" and not page.in_json):
        if form == "csv":
            for warning in page.warnings:
                print(f"warning: {one_line(f'{warning.code}: {warning.message}')}", file=sys.stderr)
        for line in page.notes:
            print(one_line(f"{line.label}: {line.words}" if line.label else line.words), file=sys.stderr)


def _is_plain(page: OutputPage) -> bool:
    """Whether a page is lines without a style, which need no time for importing what styles them."""
    lines = (isinstance(block, Line) and not block.label and not block.style for block in page.blocks)
    return not page.title and not page.warnings and all(lines)


def _safe(line: Line) -> str:
    if not line.is_exact:
        return one_line(people_read(line.words))
    return "".join(char if char.isprintable() or char == "\t" else "?" for char in line.words)


@contextmanager
def stream_of(output: Output) -> Iterator[TextIO]:
    """The file of --out, which gets its name when it is whole.

    Else the standard output.

    Raises:
        Refused: it cannot be written.
    """
    if output.out in (None, Path("-")):
        yield sys.stdout
        return
    assert output.out is not None
    with replacing(output.out) as raw:
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="")
        yield stream
        stream.flush()
        stream.detach()


def member(name: str) -> Callable[[Any], Any]:
    """A function from an item to its plain member of that name, or to None."""

    def value(item: Any) -> Any:
        attribute = getattr(item, name, None)
        return attribute if isinstance(attribute, str | float | int | date) else None

    return value


def plain(value: Value) -> str:
    """A value as people read it."""
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def people_read(text: str) -> str:
    """A text with the labels of agencies and trustees in the place of their names, by `core.labels`."""
    from core.labels import labelled

    return labelled(text)


def counted(count: float, noun: str, verb: str = "") -> str:
    """A count with its noun, and the half of a verb that goes with it, by `core.words`."""
    from core.words import counted as count_words

    return count_words(count, noun, verb)


# JSON -----------------------------------------------------------------------------------------------------------------


def json_of(document: Any) -> Callable[[], Iterator[str]]:
    """A document, indented; figures that are none (NaN) are null."""

    def pieces() -> Iterator[str]:
        import msgspec

        yield escaped(msgspec.json.format(msgspec.json.encode(document), indent=2).decode()) + "\n"

    return pieces


def json_with_rows(head: dict[str, Any], key: str, rows: Iterable[Any]) -> Callable[[], Iterator[str]]:
    """A document whose last member is a list that may be long, with an item a line, encoded as it is written."""

    def pieces() -> Iterator[str]:
        import msgspec

        encoder = msgspec.json.Encoder()
        opening = msgspec.json.format(encoder.encode(head), indent=2).decode().removesuffix("\n}")
        yield escaped(f'{opening},\n  "{key}": [')
        between = "\n"
        for row in rows:
            yield f"{between}    {escaped(encoder.encode(row).decode())}"
            between = ",\n"
        yield "\n  ]\n}\n" if between == ",\n" else "]\n}\n"

    return pieces


def json_rows(rows: Iterable[Any]) -> Callable[[], Iterator[str]]:
    """An array with an item a line, encoded as it is written."""

    def pieces() -> Iterator[str]:
        import msgspec

        encoder = msgspec.json.Encoder()
        between = "[\n"
        for row in rows:
            yield between + escaped(encoder.encode(row).decode())
            between = ",\n"
        yield "\n]\n" if between == ",\n" else "[]\n"

    return pieces


# CSV ------------------------------------------------------------------------------------------------------------------


def _write_csv(grid: Grid, stream: TextIO) -> None:
    """By RFC 4180; texts that a spreadsheet would calculate get an apostrophe in front, as exports have it."""
    from core.files.write.delimited import guarded

    columns = [column for column in grid.columns if column.key]
    takes = [column.value for column in columns]
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow([column.key for column in columns])
    for item in grid.items:
        writer.writerow([_field(take(item), guarded) for take in takes])


def _field(value: Value, guarded: Callable[[str], str]) -> Any:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        # A terminal obeys what is not printable; within a field a line may end.
        safe = value if value.isprintable() else "".join(c if c.isprintable() or c == "\n" else "?" for c in value)
        return guarded(safe)
    if isinstance(value, float):
        return (repr(value) if value % 1 or abs(value) >= 1e15 else str(int(value))) if isfinite(value) else ""
    return "" if value is None else str(value)


# Markdown -------------------------------------------------------------------------------------------------------------

_MARKS: Final = re.compile(r"[\\`*\[\]<|~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=#?\w+;)")


def _markdown(text: str | Text) -> str:
    """A text on one line that Markdown shows as it is."""
    return _MARKS.sub(r"\\\g<0>", one_line(str(text)))


def _write_markdown(page: OutputPage, stream: TextIO) -> None:
    """A heading, a list of warnings, then the page's blocks.

    Tables in GitHub's manner, lines as paragraphs.
    """
    if page.title:
        stream.write(f"# {_markdown(page.title)}\n\n")
    for line in _warning_lines(page.warnings):
        stream.write(_paragraph(line))
    for block in page.blocks:
        if isinstance(block, Grid):
            _write_markdown_table(block, stream)
        elif isinstance(block, Line):
            stream.write(_paragraph(block))
        else:
            stream.write(f"{_markdown(block)}\n\n")


def _paragraph(line: Line) -> str:
    if not line.words:
        return ""
    words = _markdown(line.words if line.is_exact else people_read(line.words))
    return f"**{_markdown(line.label)}** {words}\n\n" if line.label else f"{words}\n\n"


def _write_markdown_table(grid: Grid, stream: TextIO) -> None:
    columns = [column for column in grid.columns if column.heading]
    stream.write(f"| {' | '.join(_markdown(column.heading) for column in columns)} |\n")
    stream.write(f"|{'|'.join('---:' if column.right else '---' for column in columns)}|\n")
    for item in grid.for_people:
        stream.write(f"| {' | '.join(_markdown(column.text(item)) for column in columns)} |\n")
    stream.write("\n")


# Tables ---------------------------------------------------------------------------------------------------------------


def console_for(stream: TextIO | None = None) -> Console:
    """A console on stdout (or `stream`).

    Coloured on a terminal without NO_COLOR; plain, 100 columns wide in a pipe.
    """
    from rich.console import Console

    class Unending(Console):
        def on_broken_pipe(self) -> None:
            raise  # as it was caught: rich would end with code 1, as if a check had found something

    stream = stream or sys.stdout
    return Unending(file=stream, width=None if stream.isatty() else PLAIN_COLUMNS, highlight=False)


def print_page(page: OutputPage, console: Console) -> None:
    """Print the title, what makes the figures doubtful, and the blocks."""
    from rich.text import Text

    # A terminal would break a long line within a word; in a pipe one line stays one.
    stays = not console.is_terminal
    if page.title:
        console.print(Text(one_line(page.title), style="bold"), soft_wrap=stays)
    for line in _warning_lines(page.warnings):
        _print_line(line, console)
    if page.warnings:
        console.print()
    for block in page.blocks:
        if isinstance(block, Grid):
            table = _rich_table(block, console.width)
            if table.row_count:
                console.print(table, crop=False)
        elif isinstance(block, Line):
            _print_line(block, console)
        else:
            console.print(block, soft_wrap=stays)


def _print_line(line: Line, console: Console) -> None:
    from rich.text import Text

    text = Text(_safe(line), style="" if line.label else line.style)
    if line.label:
        text = Text(f"{one_line(line.label)}  ", style=line.style).append(text.plain, style="default")
    console.print(text, soft_wrap=line.is_exact or not console.is_terminal)


def _warning_lines(warnings: Sequence[DataWarning]) -> Iterator[Line]:
    from core.portfolio.model.notes import warning_texts

    apart = [f"{warning.code}: {warning.message}" for warning in warnings]
    for text in apart if len(apart) <= WARNINGS_APART else warning_texts(warnings):
        yield Line(text, "warning", "yellow")


def _rich_table(grid: Grid, width: int) -> RichTable:
    """The columns that such a terminal shows, set closer together where they need it.

    Texts fold; no figure is ever cut: what is wider than the terminal at its closest is left so.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns = [column for column in grid.columns if column.heading and column.from_width <= width]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(
            column.heading,
            justify="right" if column.right else "left",
            overflow="fold" if column.folds else "ellipsis",
            no_wrap=not column.folds,
        )
    widths = [max(column.least, len(column.heading)) for column in columns]
    longest = [len(column.heading) for column in columns]
    for item in grid.for_people:
        texts = [column.text(item) for column in columns]
        cells = [Text(one_line(text)) if isinstance(text, str) else text for text in texts]
        widths = [max(wide, cell.cell_len) for wide, cell in zip(widths, cells, strict=True)]
        longest = [max(most, _longest_word(cell.plain)) for most, cell in zip(longest, cells, strict=True)]
        table.add_row(*cells)
    floors = _floors(columns, widths, [_FOLDED_CELLS] * len(columns))
    by_word = _floors(columns, widths, [max(_FOLDED_CELLS, min(most, _WORD_CELLS)) for most in longest])
    if sum(by_word) + _CLOSER[-1][1] * (len(columns) - 1) <= width:
        floors = by_word
    widths = [max(floor, min(wide, width)) for floor, wide in zip(floors, widths, strict=True)]
    for table.padding, between in _CLOSER:
        room = width - between * (len(columns) - 1)
        if sum(floors) <= room:
            break
    while sum(widths) > max(room, sum(floors)):
        widest = max(range(len(widths)), key=lambda at: (widths[at] > floors[at], widths[at]))
        widths[widest] -= 1
    for shown, wide in zip(table.columns, widths, strict=True):
        shown.width = wide
    table.width = sum(widths) + between * (len(columns) - 1)
    return table


def _floors(columns: Sequence[OutputColumn], widths: Sequence[int], folded: Sequence[int]) -> list[int]:
    """The least width of each column; folding ones may be narrower than their text."""
    return [
        max(column.least, min(wide, least)) if column.folds else wide
        for column, wide, least in zip(columns, widths, folded, strict=True)
    ]


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


_FOLDED_CELLS: Final = 12
"""Width to which a column of texts may shrink that names no other."""

_WORD_CELLS: Final = 24
"""Longest word that is kept whole where the terminal has room for it."""

_CLOSER: Final = (((0, 1), 3), ((0, 0, 0, 1), 2), ((0, 0), 1))
"""Blanks around a cell (as rich takes them) -> blanks that then part two columns, from the widest on."""


BAR_CELLS: Final = 10
BAR_FULL_PCT: Final = 50.0
"""The cushion, in percent of the threshold, at which its bar is full."""

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


def bar(percent: float | None, encoding: str | None = None) -> str:
    """A cushion, in percent of its threshold, as a bar that is full at `BAR_FULL_PCT`.

    A breach is drawn in another character. Where the encoding (of stdout if not given) lacks blocks, in ASCII.
    """
    if percent is None or not isfinite(percent):
        return ""
    is_breach = percent < 0
    part = min(abs(percent) / BAR_FULL_PCT, 1.0) * BAR_CELLS
    try:
        "█▏░".encode(encoding or sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ("x" if is_breach else "#") * max(1, round(part))
    if is_breach:
        return "░" * max(1, round(part))
    eighths = max(1, round(part * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
