"""The evaluate command: formulas over values or a workbook, without a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from service.commands.limits import limited
from service.commands.output import Grid, Line, Output, OutputColumn, OutputPage, counted, emit, json_of
from service.commands.progress import busy
from service.commands.reading import read_workbook
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from core.formula import Evaluation
    from core.formula.language import FormulaError
    from core.recalc.book import Book
    from core.recalc.result import Recalculation

EXIT_NO_VALUE: Final = 1
STDIN: Final = "-"
FORMULAS_MAX: Final = 100_000
INPUT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Size of a context, and of a list of formulas."""

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


@dataclass(frozen=True, slots=True)
class Found:
    """A formula with its value, or with what keeps it from having one."""

    formula: str
    value: Any = None
    type: str = "error"
    cell: str | None = None
    error: str | None = None
    trace: list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """The value as people read it."""
        return f"({self.error})" if self.error else _text(self.value)


def evaluate(  # noqa: PLR0913 - a command's options
    *formulas: str,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative=(), show_default=False)] = (),
    context: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    file: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None,
    book: Path | None = None,
    sheet: str | None = None,
    cell: Annotated[tuple[str, ...], Parameter(negative=(), show_default=False)] = (),
    locale: str | None = None,
    explain: Annotated[bool, Parameter(negative=())] = False,
    output: Output | None = None,
) -> int:
    """Evaluate formulas, such as "=SUM(A1:A3)*rate".

    cushion evaluate "=SUM(A1:A3)*rate" --set "A1:A3=[1,2,3]" --set rate=5%.

    A formula alone prints its value and nothing else; several print a table. The JSON has results (cell, formula,
    value, type, error, and with --explain trace). It has warnings where cells of the workbook need each other's
    results, or an iterative calculation did not converge. Beside a value alone they are on stderr. The exit code is 0
    when every formula has a value, which may be an error such as #DIV/0!. It is 1 when some formula of several is none,
    or lacks a value that it needs. It is 2 when the only formula does, or a file cannot be read.

    Parameters
    ----------
    formulas:
        The formulas, each in quotes.
    set_:
        The value of a cell or a name, as NAME=VALUE, read as if it were typed into a cell: 5, 1,234.5, 5%, 2026-03-31,
        TRUE. In double quotes it is a text whatever it looks like (id="007"), in brackets a list or rows
        ([[1,2],[3,4]]), and nothing is a blank. Repeat the option for several.
    context:
        A JSON file with an object of such values, as POST /api/v1/evaluate takes it; - for the standard input. --set
        comes before it.
    file:
        A text file with a formula on each line; - for the standard input.
    book:
        A workbook that the formulas read where nothing is set. Cells that --set names (Inputs!B3) are changed in it and
        what depends on them is calculated anew; its file stays as it is.
    sheet:
        The sheet of --book that references without a sheet are to; the first if not given.
    cell:
        A cell of --book whose formula and value are told, such as Summary!D5. Given several times for several.
    locale:
        How texts write dates and numbers (de-DE: 31.12.2024 and 1.234,50), the values of --set too. Without it that of
        the book, else en-US.
    explain:
        Tell the value of each part of a formula, in the order in which they are calculated.
    """
    if STDIN in (context, file) and context == file:
        raise Refused("--context - and --file - both read the standard input: name a file for one of them")
    if book is None and (cell or sheet is not None):
        raise Refused("--cell and --sheet are of a workbook: name it with --book")
    asked = [*formulas, *_lines(file)]
    if not asked and not cell:
        raise Refused('no formula: give one in quotes, such as "=1+2", or a file of them with --file')
    inputs = _document(context) | _set(set_, locale)
    opened, result = (None, None) if book is None else _opened(book, inputs, sheet, locale)
    circular = set() if result is None else {name for cycle in result.cycles for name in cycle}
    with nullcontext() if book is None else limited(book):
        answers = [_of_cell(opened, sheet, place, circular) for place in cell] if opened is not None else []
        answers += _evaluated(asked, inputs, opened, sheet, locale, explain=explain)
    if len(answers) == 1 and answers[0].error:
        raise Refused(answers[0].error)
    output = output or Output()
    doubts = [] if opened is None else _doubts(opened, result)
    emit(_page(answers, opened, doubts), output)
    if len(answers) == 1 and output.chosen() == "table":  # where a value stands alone
        for doubt in doubts:
            print(f"warning: {one_line(doubt)}", file=sys.stderr)
    return EXIT_NO_VALUE if any(answer.error for answer in answers) else 0


# What is given --------------------------------------------------------------------------------------------------------


def _input(name: str, what: str) -> str:
    """The text of a file, or of the standard input.

    Raises:
        Refused: it cannot be read, is too large, or is no text.
    """
    try:
        if name == STDIN:
            data = sys.stdin.buffer.read(INPUT_BYTES_MAX + 1)
        else:
            with Path(name).open("rb") as opened:
                data = opened.read(INPUT_BYTES_MAX + 1)
        if len(data) > INPUT_BYTES_MAX:
            raise Refused(f"{name}: {what} has at most {INPUT_BYTES_MAX:,} bytes")
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{name}: no text in UTF-8") from error
    except OSError as error:
        raise Refused(f"{name}: {error.strerror or error}") from error


def _lines(file: str | None) -> list[str]:
    if file is None:
        return []
    lines = [line.strip() for line in _input(file, "a list of formulas").splitlines()]
    formulas = [line for line in lines if line]
    if len(formulas) > FORMULAS_MAX:
        raise Refused(f"{file}: {len(formulas):,} formulas are more than the limit of {FORMULAS_MAX:,}")
    return formulas


def _document(name: str | None) -> dict[str, Any]:
    if name is None:
        return {}
    import msgspec

    try:
        return msgspec.json.decode(_input(name, "a context"), type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(f"{name}: no context, which is a JSON object of values by their names: {error}") from error


def _set(options: Sequence[str], locale: str | None) -> dict[str, Any]:
    values = {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals or not name.strip():
            raise Refused(f"--set must be NAME=VALUE, not {option[:200]!r}")
        values[name.strip()] = _typed(text.strip(), option, locale)
    return values


def _typed(text: str, option: str, locale: str | None) -> Any:
    """What stands in a cell when this was typed into it."""
    import msgspec

    from core.formula.values import DEFAULT, Date, Locally, UnknownLocale, locale_of, read_date, read_number

    if not text:
        return None
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1].replace('""', '"')
    if text.upper() in ("TRUE", "FALSE"):
        return text.upper() == "TRUE"
    if text.startswith("["):
        try:
            return msgspec.json.decode(text, type=list[Any])
        except (msgspec.DecodeError, RecursionError) as error:
            raise Refused(f"--set {option[:200]!r}: no JSON list: {error}") from error
    try:
        with Locally(DEFAULT if locale is None else locale_of(locale)):
            number, day = read_number(text, year=_this_year), read_date(text, year=_this_year)
    except UnknownLocale as unknown:
        raise Refused(f"--locale: {unknown}") from None
    return text if number is None else Date(number) if day else number


def _this_year() -> int:
    from datetime import datetime

    return datetime.now().year  # noqa: DTZ005 - a spreadsheet has no zone


def _opened(
    path: Path, inputs: dict[str, Any], sheet: str | None, locale: str | None
) -> tuple[Book, Recalculation | None]:
    """The workbook with the cells that are set, which are then no part of what is given any more, and what its
    calculation came to where it was calculated.

    Raises:
        Refused: it cannot be read, has no such sheet, or a cell cannot be set.
    """
    from datetime import datetime
    from random import random

    from core.formula.values import UnknownLocale
    from core.recalc.book import Book
    from core.recalc.errors import BookError

    result = None
    with busy(f"Reading {path.name}"):
        book = Book(read_workbook(path))
        home = book.sheets[0].name if sheet is None else sheet
        with limited(path):
            try:
                book.environment(sheet=home)
                cells = {key: place for key in inputs if (place := _place(key, home)) is not None}
                for key, (where, ref) in cells.items():
                    book.set(where, ref, inputs.pop(key))
                if cells or locale is not None:
                    now = datetime.now()  # noqa: DTZ005 - a spreadsheet has no zone
                    result = book.recalculate(now=now, random=random, locale=locale)
            except UnknownLocale as unknown:
                raise Refused(f"--locale: {unknown}") from None
            except BookError as error:
                raise Refused(f"{path}: {error}") from error
    return book, result


def _doubts(book: Book, result: Recalculation | None) -> list[str]:
    """What to doubt of the workbook's values, as they were read or as they were calculated."""
    from core.recalc.doubts import doubts_of

    return [doubt.message for doubt in (book.doubts if result is None else doubts_of(result))]


def _place(key: str, home: str) -> tuple[str, str] | None:
    """Sheet and cell that a key names; None where it is another name, or a range."""
    from core.grid.address import parse_cell

    sheet, mark, ref = key.rpartition("!")
    try:
        parse_cell(ref.replace("$", ""))
    except ValueError:
        return None
    if len(sheet) > 1 and sheet[0] == sheet[-1] == "'":
        sheet = sheet[1:-1].replace("''", "'")
    return (sheet if mark else home), ref.replace("$", "")


# Values ---------------------------------------------------------------------------------------------------------------


def _of_cell(book: Book, sheet: str | None, name: str, circular: set[str]) -> Found:
    """A cell's formula and value; a cell that needs its own result has none.

    Raises:
        Refused: there is no such cell.
    """
    from core.recalc.errors import BookError

    place = _place(name, book.sheets[0].name if sheet is None else sheet)
    if place is None:
        raise Refused(f"--cell must be a cell such as Summary!D5, not {name[:200]!r}")
    try:
        reference = "='{}'!{}".format(place[0].replace("'", "''"), place[1])
        (answer,) = _evaluated([reference], {}, book, place[0], None, explain=False)
        formula = book.formula(*place) or ""
        if (own := _own_name(book, *place)) in circular:
            from core.recalc.doubts import circular_message

            cells = [own, *sorted(circular - {own})]
            return Found(formula, cell=name, error=f"circular reference: {circular_message(cells)}")
        return replace(answer, formula=formula, cell=name)
    except BookError as error:
        raise Refused(f"--cell {name[:200]}: {error}") from error


def _own_name(book: Book, sheet: str, ref: str) -> str:
    """A cell as a calculation names it."""
    from core.grid.address import parse_cell, place_name

    row, column = parse_cell(ref)
    return place_name(book[sheet].name, row, row, column)


def _evaluated(
    formulas: Sequence[str],
    inputs: dict[str, Any],
    book: Book | None,
    sheet: str | None,
    locale: str | None,
    *,
    explain: bool,
) -> Iterator[Found]:
    from datetime import datetime
    from random import random

    from core.formula import ContextEnvironment
    from core.formula.evaluate import compile as compiled
    from core.formula.evaluate import evaluate_batch
    from core.formula.language import FormulaError
    from core.formula.values import UnknownLocale, locale_of

    if not formulas:
        return
    now = datetime.now()  # noqa: DTZ005 - a spreadsheet has no zone
    try:
        environment = ContextEnvironment(
            inputs,
            None if book is None else book.environment(now, random, sheet),
            sheet=sheet,
            clock=lambda: now,
            random=random,
            locale=None if locale is None else locale_of(locale),
        )
        if len(formulas) == 1 or explain:
            for formula in formulas:
                try:
                    yield _answer_of(formula, compiled(formula).evaluate(environment=environment, debug=explain))
                except FormulaError as fault:
                    yield _fault(formula, fault)
            return
        answers = evaluate_batch(formulas, environment=environment)
    except UnknownLocale as unknown:
        raise Refused(f"--locale: {unknown}") from None
    except FormulaError as fault:
        raise Refused(str(fault)) from fault
    for formula, answer in zip(formulas, answers, strict=True):
        yield _fault(formula, answer) if isinstance(answer, FormulaError) else _answer_of(formula, answer)


def _answer_of(formula: str, answer: Evaluation) -> Found:
    return Found(formula, answer.value, answer.type, trace=answer.trace)


def _fault(formula: str, fault: FormulaError) -> Found:
    from core.formula.language import MissingContext

    message = fault.message
    if fault.position is not None:
        message += f" at character {fault.position + 1}"
    if fault.suggestions:
        message += f"; {'; '.join(fault.suggestions)}"
    if isinstance(fault, MissingContext):
        message += f": give it by --set {fault.references[0]}=..."
    return Found(formula, error=message)


# What is told ---------------------------------------------------------------------------------------------------------


def _page(answers: list[Found], book: Book | None, doubts: list[str]) -> OutputPage:
    blocks: list[Line | Grid]
    if len(answers) == 1:
        blocks = [Line(line, is_exact=True) for line in answers[0].text.split("\n")]
    else:
        faults = sum(bool(item.error) for item in answers)
        columns = [_CELL, *_COLUMNS] if any(item.cell for item in answers) else _COLUMNS
        blocks = [Grid(columns=columns, items=answers), Line()]
        blocks.append(Line(f"{counted(len(answers), 'formula')}, {faults:,} without a value"))
    for answer in answers:
        if answer.trace is not None:
            blocks[:0] = [Grid(columns=_STEPS, items=answer.trace), Line()]
    documents = []
    for answer in answers:
        document = {name: getattr(answer, name) for name in ("cell", "formula", "value", "type", "error")}
        documents.append(document if answer.trace is None else document | {"trace": answer.trace})
    notes = [] if book is None or book.filled is None else [Line(book.filled.message, "note", "yellow")]
    notes += [Line(doubt, "warning", "yellow") for doubt in doubts]
    return OutputPage(
        blocks=[*notes, *blocks] if len(answers) > 1 else blocks,
        rows=Grid(columns=[_CELL, *_COLUMNS], items=answers),
        document=json_of({"results": documents} | ({"warnings": doubts} if doubts else {})),
        notes=notes,
    )


def _text(value: Any) -> str:
    """A value as a cell shows it that has no format.

    Rows of values as lines, parted by tabs.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, list):
        return "\n".join("\t".join(map(_text, row)) if isinstance(row, list) else _text(row) for row in value)
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return str(value)


_STEPS: Final = [
    OutputColumn(heading="Step", shown=lambda step: step["expression"], folds=True),
    OutputColumn(heading="Value", shown=lambda step: one_line(_text(step["value"]).replace("\n", "; ")), folds=True),
    OutputColumn(heading="Type", shown=lambda step: step["type"]),
]

_CELL: Final = OutputColumn("cell", "Cell", shown=lambda answer: answer.cell or "")

_COLUMNS: Final = [
    OutputColumn("formula", "Formula", folds=True),
    OutputColumn(
        "value",
        "Value",
        value=lambda answer: _text(answer.value) if isinstance(answer.value, list) else answer.value,
        shown=lambda answer: answer.text.replace("\n", "; "),
        folds=True,
    ),
    OutputColumn("type", "Type"),
    OutputColumn("error"),
]
