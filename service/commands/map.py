"""The map command: what is detected in a portfolio workbook and why, and what a mapping makes of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Final

from service.commands.limits import limited
from service.commands.output import (
    PLAIN_COLUMNS,
    Grid,
    Line,
    Output,
    OutputColumn,
    OutputPage,
    counted,
    emit,
    json_of,
    member,
    people_read,
)
from service.commands.progress import busy
from service.commands.reading import read_mapping, read_workbook, some
from service.commands.refusal import Refused, one_line

if TYPE_CHECKING:
    from rich.text import Text

    from core.grid.sheet import Workbook
    from core.portfolio.mapping.detected import (
        DetectedColumn,
        DetectedSheet,
        Detection,
        LeftOut,
        PageColumn,
        PageColumns,
        Unmapped,
    )
    from core.portfolio.mapping.normalise import CellFault, NormalisedRows
    from core.portfolio.model.fields import Mapping
    from core.portfolio.model.notes import DataWarning, PageNote

EXIT_INVALID: Final = 1
SHOWN_DEFAULT: Final = 20
SHOWN_MAX: Final = 1_000
"""Errors and warnings that are printed one by one, of each."""

_REASONS: Final = {
    "ignored_blank_par": "without a par",
    "section_rows": "section labels",
    "total_rows": "totals and footers",
    "subtotal_rows": "subtotals",
    "part_rows": "parts of the row above",
    "equity_rows": "shares or warrants",
    "contract_rows": "swaps, bills or money funds",
    "cash_rows": "cash and accounts",
    "repeated_headers": "header again",
    "unidentified_rows": "a figure alone",
    "no_collateral_rows": "no collateral by their heading",
    "earlier_rows": "of an earlier day",
    "rows_after_end": "after the table's end",
}
_MATCHES: Final = {
    "alias less its unit": "less its unit",
    "alias less a footnote": "less a footnote",
    "auxiliary alias": "auxiliary",
    "words": "by its words",
    "cells": "by its cells",
}
"""What is said of a header that is no plain alias of its field."""

FIELD_COLUMNS: Final = 14
"""Width that a column of text has at the least."""

ROLE_COLUMNS: Final = 18
"""Width of a role with its mark."""

BECAUSE_COLUMNS: Final = 110
"""Width of the terminal from which on reasons stand beside the weights."""

OTHER_COLUMNS: Final = 40
"""Width of the fields' table less that of the fields, the headers and the first values."""

LONG_FIGURE: Final = 1e6
"""Figures from here on are shown without an exponent."""

_UNITS: Final = {"spread": "basis points", "par_value": "currency", "facility_size": "currency", "unfunded": "currency"}
"""The unit of a field; percent for all others that have one."""

# Heavy imports (NumPy, core) stand inside the functions, so that `cushion --help` answers at once.


def map_columns(
    file: Path,
    /,
    *,
    mapping: str | None = None,
    sheet: str | None = None,
    limit: int = SHOWN_DEFAULT,
    output: Output | None = None,
) -> int:
    """Show which sheet, header, rows, columns and units are detected in a portfolio workbook, and why.

    The exit code is 0 when the rows are mapped, and 1 when a required column is missing or a row is invalid. It is 2
    when the file cannot be read or the mapping document is wrong. The JSON has file, mapping, warnings, detection and
    validation; CSV has a row for each column that was detected.

    Parameters
    ----------
    file:
        The workbook: .xlsx, .xlsm, .xls, .xlsb, .ods, .pdf, .csv, a .zip of these, or a folder.
    mapping:
        A JSON file with the mapping, the same document that POST /api/v1/mappings takes, or the name of a built-in one;
        standard_clo if not given.
    sheet:
        Look at this sheet only.
    limit:
        How many errors and warnings to print, of each; 0 to 1,000.
    """
    if not 0 <= limit <= SHOWN_MAX:
        raise Refused(f"--limit must be between 0 and {SHOWN_MAX:,}, not {limit:,}")
    with busy(f"Reading {file.name}"):
        from core.portfolio.mapping.detection import detect_columns
        from core.portfolio.mapping.validation import validate

        chosen = read_mapping(mapping)
        book = read_workbook(file)
        with limited(file):
            try:
                detection = detect_columns(book, chosen, sheet=sheet)
            except KeyError as error:
                raise Refused(f"{file}: no sheet is called {sheet!r}; {_sheets_of(book)}") from error
            result = validate(book, chosen, sheet=sheet)
            doubts = _doubts(book, chosen, has_loans=sheet is None and result is not None)
    page = OutputPage(
        title=f"{file.name}, mapping {chosen.name}",
        warnings=doubts,
        blocks=list(_blocks(detection, result, limit, _pages_of_loans(book, detection))),
        rows=Grid(columns=_field_columns(detection), items=detection.columns),
        document=json_of(_document(file, chosen, detection, result, doubts)),
    )
    emit(page, output or Output())
    return 0 if result is not None and result.is_valid else EXIT_INVALID


def _sheets_of(book: Workbook) -> str:
    return "its sheets are " + some([repr(sheet.name) for sheet in book.sheets])


def _doubts(book: Workbook, mapping: Mapping, *, has_loans: bool) -> list[DataWarning]:
    """What a compliance run of the workbook says before its results.

    Without loans it is what its reader says.
    """
    from core.portfolio import Portfolio
    from core.portfolio.model.notes import limit_warnings, warn_of_reading

    if not has_loans:
        return limit_warnings(warn_of_reading(book))
    return limit_warnings(Portfolio.from_workbook(book, mapping).notes.warnings)


def _pages_of_loans(book: Workbook, detection: Detection) -> str:
    """The pages on which the loans stand, as a place ends with them."""
    from core.grid.places import pages_of

    if detection.sheet is None or detection.first_row is None or detection.last_row is None:
        return ""
    return pages_of(book[detection.sheet], detection.first_row - 1, detection.last_row - 1)


# ---- one JSON document ---------------------------------------------------------------------------------------------


def _document(
    file: Path, mapping: Mapping, detection: Detection, result: NormalisedRows | None, doubts: list[DataWarning]
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "file": str(file), "mapping": mapping.id, "warnings": doubts, "detection": detection, "validation": None,
    }  # fmt: skip
    if result is not None:
        document["validation"] = {
            "valid": result.is_valid,
            "rows_processed": result.row_count,
            "rows_valid": result.row_count - result.rows_invalid,
            "rows_invalid": result.rows_invalid,
            "error_count": result.error_count,
            "warning_count": result.warning_count,
            "errors": result.errors,
            "warnings": result.warnings,
            "unmapped_columns": result.unmapped_columns,
            "missing_required_columns": result.missing_required_columns,
            "missing_columns": result.missing_columns,
        }
    return document


# ---- tables --------------------------------------------------------------------------------------------------------


def _blocks(
    detection: Detection, result: NormalisedRows | None, limit: int, pages: str
) -> Iterator[Line | Grid | Text]:
    yield _sheet_grid(detection)
    yield Line()
    if result is None:
        yield Line(detection.message, style="red")
        return
    yield from _table_lines(detection, pages)
    yield Line()
    yield Grid(columns=_field_columns(detection), items=detection.columns)
    yield Line()
    yield from _role_grids(detection)
    if any(column.unit_reason for column in detection.columns):
        yield Grid(columns=_UNIT_COLUMNS, items=[column for column in detection.columns if column.unit_reason])
        yield Line()
    yield from _remarks(detection)
    yield from _faults("errors", result.errors, result.error_count, limit)
    yield from _faults("warnings", result.warnings, result.warning_count, limit)
    yield _last_line(detection, result)


def _sheet_grid(detection: Detection) -> Grid:
    def style(sheet: DetectedSheet) -> str:
        return "green" if sheet.is_chosen else ""

    def name(sheet: DetectedSheet) -> Text:
        return _text(sheet.name if sheet.state == "visible" else f"{sheet.name} (hidden)", style(sheet))

    def why(sheet: DetectedSheet) -> Text:
        if sheet.is_chosen:
            return _text(people_read(f"chosen: {sheet.reason}"), style(sheet))
        if sheet.kind != "other":
            return _text(sheet.kind_reason)
        reason = f"{sheet.reason}: {some(list(sheet.nearest))}" if sheet.nearest else sheet.reason
        return _text(people_read(reason))

    columns = [
        OutputColumn(heading="Sheet", shown=name, folds=True),
        *(_PAGE_COLUMNS if any(sheet.first_page is not None for sheet in detection.sheets) else ()),
        OutputColumn(heading="Kind", shown=lambda sheet: "-" if sheet.kind == "other" else sheet.kind),
        OutputColumn(heading="Header", shown=lambda sheet: _rows(sheet.header_rows) or "-"),
        OutputColumn(heading="Fields", shown=lambda sheet: f"{sheet.score}", right=True),
        OutputColumn(heading="Why", shown=why, folds=True),
    ]
    return Grid(columns=columns, items=detection.sheets)


def _pages(sheet: DetectedSheet) -> str:
    return f"{sheet.first_page}" if sheet.first_page == sheet.last_page else f"{sheet.first_page}-{sheet.last_page}"


_PAGE_COLUMNS: Final = [
    OutputColumn(heading="Pages", shown=_pages),
    OutputColumn(heading="Rows", shown=lambda sheet: f"{sheet.row_count:,}", right=True),
]
"""Of the tables of a document with pages, page by page."""


def _rows(rows: tuple[int, ...]) -> str:
    if not rows:
        return ""
    return f"row {rows[0]}" if len(rows) == 1 else f"rows {rows[0]}-{rows[-1]}"


def _table_lines(detection: Detection, pages: str) -> Iterator[Line]:
    """Where the header and the loans stand, and which rows below the header are none."""
    assert detection.header is not None
    line = f"{_rows(detection.header.rows)} of sheet {detection.sheet}: {detection.header.kind} of names"
    if detection.header.units_row is not None:
        line += f", units in row {detection.header.units_row}"
    if detection.header.numbers_row is not None:
        line += f", column numbers in row {detection.header.numbers_row}"
    yield _labelled("header", line)
    loans = f"{detection.loan_count:,}"
    if detection.loan_count:
        loans += f" in rows {detection.first_row:,} to {detection.last_row:,}{pages}"
    if detection.filled_borrowers:
        loans += f"; {detection.filled_borrowers:,} take their borrower from a row above"
    yield _labelled("loans", loans)
    for reason in detection.left_out:
        yield _labelled("left out", _left_out(reason))
    for page in detection.pages:
        yield _labelled("page", _page(page))
    used = {(page.sheet, page.title) for page in detection.pages if page.part != "left out"}
    for listed in detection.page_columns:
        if (listed.sheet, listed.title) in used:
            yield _labelled("page columns", f"{listed.title or listed.sheet}: {_fed(listed)}")


def _page(page: PageNote) -> str:
    """What was done with another sheet."""
    if page.part == "left out":
        return f"{page.sheet}, left out: {page.reason}"
    by = ", ".join(f"{count:,} by {how}" for how, count in page.by.items())
    text = f"{page.sheet}, {page.part}: {counted(page.rows, 'row')}" + (f", {by}" if by else "")
    if page.part == "added":
        text += f"; {counted(page.rows_without_loan, 'loan')} more"
    elif page.rows_without_loan:
        text += f"; {page.rows_without_loan:,} found no loan"
    return text + (f"; gives {', '.join(page.fields)}" if page.fields else "")


def _fed(page: PageColumns) -> str:
    """The columns of another sheet that feed fields, each with the first of them."""
    return ", ".join(
        f"{column.column} {column.fields[0]}{' ?' if column.is_ambiguous else ''}"
        for column in page.columns
        if column.fields
    )


def _left_out(reason: LeftOut) -> str:
    places = [f"{row:,} {text!r}" if text else f"{row:,}" for row, text in zip(reason.rows, reason.texts, strict=True)]
    more = f" and {reason.count - len(places):,} more" if reason.count > len(places) else ""
    return f"{_REASONS[reason.reason]}: row {', '.join(places)}{more}"


def _field_columns(detection: Detection) -> list[OutputColumn]:
    headers = max((len(_header_cell(column)) for column in detection.columns), default=0)
    names = max((len(people_read(column.target)) for column in detection.columns), default=0)
    most = max(FIELD_COLUMNS, get_terminal_size((PLAIN_COLUMNS, 0)).columns - OTHER_COLUMNS - names - headers)

    def samples(column: DetectedColumn) -> str:
        return ", ".join(_sample(value) for value in column.samples)

    def bad(column: DetectedColumn) -> int:
        return column.error_count + column.unreadable_count

    return [
        OutputColumn("field", "Field", folds=True, least=FIELD_COLUMNS, value=member("target"),
               shown=lambda column: _text(people_read(column.target), "bold" if column.is_required else "")),
        OutputColumn("column", "Col"),
        OutputColumn("header", "Header", folds=True, least=FIELD_COLUMNS,
               shown=_header_cell),
        OutputColumn("match"),
        OutputColumn("values", "Values", right=True, value=member("value_count")),
        OutputColumn("blank", "Blank", right=True, value=member("blank_count"),
               shown=lambda column: f"{column.blank_count:,}" if column.blank_count else "-"),
        OutputColumn("bad", "Bad", right=True, value=bad,
               shown=lambda column: _text(f"{bad(column):,}", "red") if bad(column) else "-"),
        OutputColumn("unit"),
        OutputColumn("factor"),
        OutputColumn("unit_reason"),
        OutputColumn("role"),
        OutputColumn("runner_up"),
        OutputColumn("margin"),
        OutputColumn("ambiguous", value=member("is_ambiguous")),
        OutputColumn("weight_of_words", value=lambda column: column.evidence.words),
        OutputColumn("weight_of_cells", value=lambda column: column.evidence.content),
        OutputColumn("weight_of_others", value=lambda column: column.evidence.relations),
        OutputColumn("first_values", "First values", folds=True, least=FIELD_COLUMNS, value=samples,
               shown=lambda column: _shown([_sample(value) for value in column.samples], most)),
    ]  # fmt: skip


def _header_cell(column: DetectedColumn) -> Text:
    """A header as written and, where it is no plain alias of its field, how it names it."""
    header = _text(column.header)
    if column.match in _MATCHES:
        header.append(f" ({_MATCHES[column.match]})", style="dim")
    return header


def _shown(values: Sequence[str], most: int) -> str:
    """As many whole values as there is room for.

    Of a first one that is too long, as many whole words.
    """
    for count in range(len(values), 0, -1):
        text = ", ".join(values[:count]) + (", ..." if count < len(values) else "")
        if len(text) <= most:
            return text
    words = values[0].split() if values else []
    for count in range(len(words) - 1, 0, -1):
        if len(text := " ".join(words[:count]) + " ...") <= most:
            return text
    return words[0] if words else ""


def _sample(value: float | str | bool | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    return f"{value:,.6g}" if abs(value) < LONG_FIGURE else f"{value:,.2f}".removesuffix(".00")


def _by_doubt(detection: Detection) -> list[DetectedColumn | Unmapped]:
    """Each column of the sheet once, the ambiguous ones first, then from the left."""
    every: list[DetectedColumn | Unmapped] = [*detection.unmapped, *detection.columns]
    return sorted(
        {column.column: column for column in every}.values(),
        key=lambda each: (not each.is_ambiguous, len(each.column), each.column),
    )


def _role(column: DetectedColumn | Unmapped | PageColumn) -> Text:
    """The role of a column, with a mark where it is ambiguous."""
    return _text(f"{column.role} ?", "bold yellow") if column.is_ambiguous else _text(column.role or "-")


def _weight(weight: float) -> str:
    return f"{weight:.1f}" if weight else "-"


def _because(column: DetectedColumn | Unmapped | PageColumn) -> str:
    """What speaks for a role beside its words, whose weight says all."""
    return "; ".join(reason for reason in column.evidence.reasons if not reason.startswith(_OF_WORDS))


_OF_WORDS: Final = ("a heading of the mapping", "its heading counts", "the heading is a name of")

_ROLE_COLUMNS: Final = [
    OutputColumn(heading="Col", value=member("column")),
    OutputColumn(heading="Header", value=member("header"), folds=True, least=FIELD_COLUMNS),
    OutputColumn(heading="Role", shown=_role, folds=True, least=ROLE_COLUMNS),
    OutputColumn(heading="Runner-up", shown=lambda column: column.runner_up or "-", folds=True, least=ROLE_COLUMNS),
    OutputColumn(
        heading="Lead", shown=lambda column: "-" if column.margin is None else f"{column.margin:.1f}", right=True
    ),
    OutputColumn(heading="Words", shown=lambda column: _weight(column.evidence.words), right=True),
    OutputColumn(heading="Cells", shown=lambda column: _weight(column.evidence.content), right=True),
    OutputColumn(heading="Others", shown=lambda column: _weight(column.evidence.relations), right=True),
    OutputColumn(heading="Because", shown=_because, folds=True, least=FIELD_COLUMNS, from_width=BECAUSE_COLUMNS),
]
"""What each column is, what it could be as well, and what speaks for it: its words, its cells, other columns."""


def _role_grids(detection: Detection) -> Iterator[Line | Grid]:
    """The roles of the sheet's columns, then those of other sheets' columns that are ambiguous."""
    yield Line("Roles by weight of heading, cells and other columns; those that are ambiguous (?) come first")
    yield Grid(columns=_ROLE_COLUMNS, items=_by_doubt(detection))
    yield Line()
    ambiguous = [(page, column) for page in detection.page_columns for column in page.columns if column.is_ambiguous]
    if ambiguous:
        yield Line("Columns of other sheets that are ambiguous")
        sheet = OutputColumn(heading="Sheet", shown=lambda pair: pair[0].title or pair[0].sheet, folds=True)
        yield Grid(columns=[sheet, *(_of_second(column) for column in _ROLE_COLUMNS)], items=ambiguous)
        yield Line()


def _of_second(column: OutputColumn) -> OutputColumn:
    """A column for pairs whose second one has its values."""
    return replace(column, shown=lambda pair: column.text(pair[1]))


def _becomes(column: DetectedColumn) -> str:
    unit = _UNITS.get(column.target, "percent")
    if column.unit == "currency":
        return f"{unit}, divided by par"
    return unit if column.factor == 1.0 else f"{unit}, x {column.factor:,g}"


_UNIT_COLUMNS: Final = [
    OutputColumn(heading="Field", value=member("target"), folds=True),
    OutputColumn(heading="Unit", shown=lambda column: column.unit or "-"),
    OutputColumn(heading="Becomes", shown=_becomes),
    OutputColumn(heading="Because", value=member("unit_reason"), folds=True),
]


def _remarks(detection: Detection) -> Iterator[Line]:
    """Columns that lost, that stand twice, that feed nothing, and fields without a column."""
    for column in detection.columns:
        for runner_up in column.alternatives:
            yield _labelled(
                "not used",
                f"{runner_up.header} ({runner_up.column}) for {column.target}: {runner_up.reason}",
            )
    for name, places in detection.duplicates.items():
        yield _labelled("same header", f"{name}: {', '.join(places)}")
    plain = [f"{unused.header} ({unused.column})" for unused in detection.unmapped if not unused.reason]
    if plain:
        yield _labelled("unmapped", ", ".join(plain))
    for unused in detection.unmapped:
        if unused.reason:
            yield _labelled("unmapped", f"{unused.header} ({unused.column}): {unused.reason}")
    for warning in detection.warnings:
        yield _labelled("warning", warning.message, "bold yellow")
    if detection.missing_optional:
        yield _labelled("no column for", ", ".join(detection.missing_optional))
    if detection.missing_required:
        yield _labelled("required column missing", ", ".join(detection.missing_required), "bold red")


def _faults(what: str, faults: list[CellFault], count: int, limit: int) -> Iterator[Line | Grid]:
    """Errors or warnings of single rows; those of whole columns are told above."""
    shown = [fault for fault in faults if fault.row is not None][:limit]
    if not shown:
        return
    columns = [
        OutputColumn(heading="Row", value=member("row"), right=True),
        *(_LINE_COLUMNS if any(fault.page is not None for fault in shown) else ()),
        OutputColumn(heading="Field", value=member("field")),
        OutputColumn(heading=what.capitalize(), value=member("message"), folds=True),
        OutputColumn(
            heading="Value", folds=True, shown=lambda fault: "" if fault.value is None else _sample(fault.value)
        ),
    ]
    yield Line()
    yield Grid(columns=columns, items=shown)
    more = count - sum(fault.row is None for fault in faults) - len(shown)
    if more > 0:
        yield Line(f"... and {more:,} more {what} (--limit shows more of them)")
    yield Line()


_LINE_COLUMNS: Final = [
    OutputColumn(heading="Page", value=member("page"), right=True),
    OutputColumn(heading="Line", value=member("line"), right=True),
]
"""Where the row of a fault stands in a document with pages."""


def _last_line(detection: Detection, result: NormalisedRows) -> Text:
    mapped = len({column.column for column in detection.columns})
    line = _text(f"{counted(mapped, 'column')} mapped, {counted(result.row_count, 'row')}: ")
    invalid = f"{result.rows_invalid:,} invalid"
    line.append(invalid, style="bold red" if result.rows_invalid else "green")
    line.append(f", {counted(result.error_count, 'error')}, {counted(result.warning_count, 'warning')}")
    return line


def _labelled(label: str, words: str, style: str = "yellow") -> Line:
    return Line(words, label, style)


def _text(words: str, style: str = "") -> Text:
    """Text from a file on one line, safe for a terminal, never read as markup."""
    from rich.text import Text

    return Text(one_line(words) + (" " * (len(words) - len(words.rstrip()))), style=style)
