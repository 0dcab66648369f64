"""The cells of mapped sheets as JSON and CSV, and a sheet's contents.

A plain read gives the data as it is: text that a spreadsheet program would take for a formula (`=1+1`, `@SUM`) is not
altered, in CSV either. Who opens such a CSV in a spreadsheet program should import it as text.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import time
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType
from numpy.typing import NDArray

from core.files.parts import Shows, shown
from core.grid.address import cell_name, column_name
from core.grid.column import Column, Text
from core.grid.sheet import Sheet, Workbook
from core.portfolio.model.notes import DataWarning, warn_of_formulas, warn_of_reading
from core.portfolio.sheets.headings.header import detect
from core.values import ERRORS, Kind, from_serial
from service.platform.base.problem import Fault, ValidationFailed
from service.platform.route.api import Raw
from service.workbooks import schema

Value = float | str | bool | None

ROW_NUMBER: Final = "_row_number"
PAGE_LINE: Final = ("_page", "_line")
FORMULAS: Final = "_formulas"

NAME_CHARACTERS_MAX: Final = 255
"""Of a column's name; a longer header is cut."""

HEADER_CHARACTERS_MAX: Final = 1_000_000
"""Of all names of a sheet: they stand in its record and in every answer about it. A row of more is no header."""

TYPES: Final[dict[str, schema.ColumnType]] = {
    "n": "number",
    "s": "string",
    "b": "boolean",
    "d": "date",
    "m": "mixed",
    "-": "blank",
}
"""Types of columns by the letter that is stored."""

_LETTERS: Final = {Kind.NUMBER: "n", Kind.TEXT: "s", Kind.BOOLEAN: "b", Kind.DATE: "d"}
_CELL_TYPES: Final[dict[Kind, schema.CellType]] = {
    Kind.BLANK: "blank",
    Kind.NUMBER: "number",
    Kind.TEXT: "string",
    Kind.BOOLEAN: "boolean",
    Kind.ERROR: "error",
    Kind.DATE: "date",
}

T = TypeVar("T")


# A sheet's contents ---------------------------------------------------------------------------------------------------


class Contents(NamedTuple):
    """What a sheet's record says of its cells."""

    header_row: int | None
    """0-based."""
    headers: list[str]
    types: str
    """A letter of `TYPES` for each column."""
    cell_count: int
    """Cells with a value or a formula."""
    formula_count: int


def contents(sheet: Sheet) -> Contents:
    """Return a sheet's header, its columns' types and its counts."""
    header = detect(sheet)
    names = [] if header.row is None else _distinct(header.names)
    row = header.row
    if sum(map(len, names)) > HEADER_CHARACTERS_MAX:
        row, names = None, []
    first = 0 if row is None else row + 1
    types = "".join(_type_letter(column, first) for column in sheet.columns)
    return Contents(row, names, types, _cell_count(sheet), len(sheet.formulas))


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names that are cut, distinct, and free of reserved words."""
    used = {ROW_NUMBER, *PAGE_LINE, FORMULAS}
    count: dict[str, int] = {}
    unique_names = []
    for name in names:
        base = unique = name.replace("\x00", "")[:NAME_CHARACTERS_MAX]
        while unique in used:
            count[base] = count.get(base, 1) + 1
            mark = f" ({count[base]})"
            unique = base[: NAME_CHARACTERS_MAX - len(mark)] + mark
        used.add(unique)
        unique_names.append(unique)
    return unique_names


def _type_letter(column: Column | None, first: int) -> str:
    if column is None:
        return "-"
    counts = np.bincount(column.dense.kinds[column.begin(first) :], minlength=len(Kind))
    letters = [kind for kind in _LETTERS if counts[kind]]
    if len(letters) == 1:
        return _LETTERS[letters[0]]
    return "m" if letters or counts[Kind.ERROR] else "-"


def _cell_count(sheet: Sheet) -> int:
    """Cells with a value, and cells with a formula that left none."""
    count = sum(int(np.count_nonzero(column.dense.kinds)) for column in sheet.columns if column is not None)
    order = np.argsort(sheet.formulas.columns, kind="stable")
    bounds = np.searchsorted(sheet.formulas.columns[order], np.arange(sheet.column_count + 1))
    for index in np.flatnonzero(np.diff(bounds)).tolist():
        rows = sheet.formulas.rows[order[bounds[index] : bounds[index + 1]]]
        column = sheet.columns[index]
        if column is None:
            count += len(rows)
            continue
        inside = rows[(rows >= column.start) & (rows < column.stop)] - column.start
        count += len(rows) - int(np.count_nonzero(column.kinds[inside]))
    return count


# Rows -----------------------------------------------------------------------------------------------------------------


class _Chosen(NamedTuple):
    """The part of a sheet that a page shows."""

    sheet: Sheet
    names: list[str]
    columns: list[int]
    """0-based, beside their names."""
    first: int
    """First row, 0-based."""
    stop: int
    total_rows: int
    date_1904: bool
    shows: list[Shows]
    """By its number what a format shows of a moment."""


def page(book: Workbook, row: schema.SheetRow, query: schema.DataQuery) -> Raw:
    """Return a page of a sheet's data, encoded.

    Raises:
        ValidationFailed: an unknown column, a range that ends before it begins, or more than one answer may hold.
    """
    chosen = _choose(book, row, query)
    _check_size(chosen)
    if query.format == "csv":
        disposition = f"attachment; filename*=UTF-8''{quote(row.name, safe='')}.csv"
        text = _csv(chosen, with_formulas=query.include_formulas)
        return Raw(text, "text/csv; charset=utf-8", [("Content-Disposition", disposition)])
    data = _data(chosen, row, query, [*warn_of_formulas(book), *warn_of_reading(book)] or UNSET)
    return Raw(msgspec.json.encode(data), "application/json")


def _choose(book: Workbook, row: schema.SheetRow, query: schema.DataQuery) -> _Chosen:
    sheet = book.sheets[row.index]
    headers = [] if query.letters else row.headers
    names = headers or [column_name(column) for column in range(sheet.column_count)]
    columns = _columns(names, query.columns)
    if query.end_row is not None and query.end_row < query.start_row:
        raise ValidationFailed(Fault(["query", "end_row"], "lies before start_row"))
    data_first = 0 if query.letters or row.header_row is None else row.header_row + 1
    first = max(query.start_row - 1, data_first)
    last = sheet.row_count if query.end_row is None else min(query.end_row, sheet.row_count)
    total = max(0, last - first)
    begin = min(first + (query.page - 1) * query.page_size, first + total)
    return _Chosen(
        sheet,
        [names[column] for column in columns],
        columns,
        begin,
        min(begin + query.page_size, first + total),
        total,
        book.date_1904,
        [shown(code) for code in book.number_formats],
    )


def _columns(names: Sequence[str], wanted: str) -> list[int]:
    """Return the positions of the wanted names, in their order."""
    try:
        asked = next(csv.reader([wanted], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise ValidationFailed(Fault(["query", "columns"], "expected names separated by commas")) from None
    position = {name: index for index, name in enumerate(names)}
    cleaned = [name.strip() for name in asked if name.strip()]
    unknown = [name for name in cleaned if name not in position]
    if unknown:
        raise ValidationFailed(*(Fault(["query", "columns"], f"no column {name[:255]!r}") for name in unknown[:10]))
    return list(dict.fromkeys(position[name] for name in cleaned)) or list(range(len(names)))


def _check_size(chosen: _Chosen) -> None:
    """Refuse what would not fit one answer; counted before anything of it is built."""
    height = chosen.stop - chosen.first
    if height * len(chosen.columns) > schema.CELLS_MAX:
        raise _too_large(f"{height} rows of {len(chosen.columns)} columns are more than {schema.CELLS_MAX:,} cells")
    text_bytes = height * sum(map(len, chosen.names))
    for _, column in _filled_columns(chosen):
        text_bytes += _text_bytes(chosen.sheet.text, column.codes[column.codes >= 0])
    if text_bytes > schema.TEXT_BYTES_MAX:
        raise _too_large(f"the text of these rows is more than {schema.TEXT_BYTES_MAX:,} bytes")


def _text_bytes(text: Text, codes: NDArray[np.int32]) -> int:
    return int((text.offsets[codes + 1] - text.offsets[codes]).sum())


def _too_large(why: str) -> ValidationFailed:
    hint = f"{why}, the limit of one answer: ask for fewer rows or columns"
    return ValidationFailed(Fault(["query", "page_size"], hint))


def _filled_columns(chosen: _Chosen) -> Iterator[tuple[int, Column]]:
    """Yield each chosen column with cells and its place, cut to the page."""
    for place, index in enumerate(chosen.columns):
        column = chosen.sheet.columns[index]
        if column is not None and column.start < chosen.stop and column.stop > chosen.first:
            yield place, column.span(chosen.first, chosen.stop)


def _data(
    chosen: _Chosen, row: schema.SheetRow, query: schema.DataQuery, warnings: list[DataWarning] | UnsetType
) -> schema.SheetData:
    sheet = chosen.sheet
    with_formula = np.zeros(sheet.column_count, np.bool_)
    if query.include_formulas:
        data_first = 0 if query.letters or row.header_row is None else row.header_row + 1
        with_formula[sheet.formulas.columns[np.searchsorted(sheet.formulas.rows, data_first) :]] = True
    columns = [
        schema.DataColumn(
            name=name,
            type=TYPES[row.types[index]],
            index=index,
            has_formula=bool(with_formula[index]) if query.include_formulas else UNSET,
        )
        for name, index in zip(chosen.names, chosen.columns, strict=True)
    ]
    rows = _rows(chosen)
    if query.include_formulas:
        for cells, formulas in zip(rows, _formulas(chosen), strict=True):
            cells[FORMULAS] = formulas
    return schema.SheetData(
        sheet_name=row.name,
        columns=columns,
        rows=rows,
        total_rows=chosen.total_rows,
        page=query.page,
        page_size=query.page_size,
        total_pages=-(-chosen.total_rows // query.page_size),
        warnings=warnings,
    )


def _rows(chosen: _Chosen) -> list[dict[str, Any]]:
    numbers = range(chosen.first + 1, chosen.stop + 1)
    names, values = [ROW_NUMBER, *chosen.names], [numbers, *_values(chosen)]
    if len(chosen.sheet.page_lines):
        places = [chosen.sheet.page_line(row - 1) or (None, None) for row in numbers]
        names, values = [*names, *PAGE_LINE], [*values, *([place[at] for place in places] for at in range(2))]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*values, strict=True)]


def _values(chosen: _Chosen) -> list[list[Value]]:
    """Return the values of each chosen column."""
    values: list[list[Value]] = [[None] * (chosen.stop - chosen.first)] * len(chosen.columns)
    for place, column in _filled_columns(chosen):
        values[place] = _column_values(chosen.sheet, column, chosen.date_1904, chosen.shows)
    return values


def _column_values(sheet: Sheet, column: Column, date_1904: bool, shows: Sequence[Shows]) -> list[Value]:
    numbers = column.numbers.tolist()
    values: list[Value] = numbers
    kinds = column.kinds
    for at in np.flatnonzero(kinds == Kind.BLANK).tolist():
        values[at] = None
    for at in np.flatnonzero(kinds == Kind.BOOLEAN).tolist():
        values[at] = numbers[at] != 0
    for at in np.flatnonzero(kinds == Kind.ERROR).tolist():
        values[at] = ERRORS[int(numbers[at])]
    for at in np.flatnonzero(kinds == Kind.DATE).tolist():
        values[at] = iso_date(numbers[at], date_1904, shows[int(column.formats[at])])
    places = np.flatnonzero(kinds == Kind.TEXT)
    for at, string in zip(places.tolist(), _strings(sheet.text, column.codes[places]), strict=True):
        values[at] = string
    return values


def _strings(text: Text, codes: NDArray[np.int32]) -> list[str]:
    """Return the strings of these codes, without small arrays for each."""
    data = text.data.data
    bounds = zip(text.offsets[codes].tolist(), text.offsets[codes + 1].tolist(), strict=True)
    return [str(data[start:stop], "utf-8") for start, stop in bounds]


def iso_date(serial: float, date_1904: bool, shows: Shows) -> str | float:
    """Return a date serial as ISO 8601: a day, a moment or a time.

    The first day of the 1904 system is none under a format that shows a time alone. A serial that stands for no date
    stays the number that it is, and so does a length of time, in days.
    """
    moment = None if shows & Shows.ELAPSED else from_serial(serial, date_1904=date_1904)
    if moment is None:
        return serial
    is_time = serial < 1 and (not date_1904 or shows == Shows.TIME)
    if moment.time() == time() and not is_time:
        return moment.date().isoformat()
    precision = "milliseconds" if moment.microsecond else "seconds"
    if is_time:
        return moment.time().isoformat(precision)
    return moment.isoformat(timespec=precision)


def _formulas(chosen: _Chosen) -> list[dict[str, str]]:
    """Return the formulas of each row by column name."""
    sheet, names = chosen.sheet, dict(zip(chosen.columns, chosen.names, strict=True))
    low, high = np.searchsorted(sheet.formulas.rows, (chosen.first, chosen.stop)).tolist()
    wanted = low + np.flatnonzero(np.isin(sheet.formulas.columns[low:high], chosen.columns))
    _check_formulas(sheet, wanted)
    formulas: list[dict[str, str]] = [{} for _ in range(chosen.first, chosen.stop)]
    for at in wanted.tolist():
        row, column = int(sheet.formulas.rows[at]), int(sheet.formulas.columns[at])
        formulas[row - chosen.first][names[column]] = f"={sheet.formula(row, column)}"
    return formulas


def _check_formulas(sheet: Sheet, wanted: NDArray[np.intp]) -> None:
    if len(wanted) > schema.FORMULAS_MAX:
        raise _too_large(f"{len(wanted)} formulas are more than {schema.FORMULAS_MAX:,}")
    texts = sheet.formulas.texts[sheet.formulas.origins[wanted]]
    if _text_bytes(sheet.formulas.text, texts) > schema.TEXT_BYTES_MAX:
        raise _too_large(f"the formulas of these rows are more than {schema.TEXT_BYTES_MAX:,} bytes")


def _csv(chosen: _Chosen, *, with_formulas: bool) -> bytes:
    """Return rows as CSV (RFC 4180), blanks empty.

    Booleans are TRUE and FALSE. Where asked for, a formula stands in place of its value.
    """
    columns = [[_plain(value) for value in column] for column in _values(chosen)]
    if with_formulas:
        column_of = dict(zip(chosen.names, columns, strict=True))
        for place, formulas in enumerate(_formulas(chosen)):
            for name, formula in formulas.items():
                column_of[name][place] = formula
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(chosen.names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def _plain(value: Value) -> str | None:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return repr(value).removesuffix(".0") if isinstance(value, float) else value


# One cell -------------------------------------------------------------------------------------------------------------


def _format_code(book: Workbook, sheet: Sheet, row: int, column: int) -> str:
    stored = sheet.columns[column]
    assert stored is not None
    return book.number_formats[int(stored.dense.formats[stored.slot(row)])]


def cell(book: Workbook, sheet_index: int, row: int, column: int) -> schema.Cell:
    """Return a cell by 0-based row and column; outside it is blank."""
    sheet = book.sheets[sheet_index]
    kind = sheet.kind(row, column)
    value = sheet.value(row, column)
    if kind == Kind.DATE and isinstance(value, float):
        value = iso_date(value, book.date_1904, shown(_format_code(book, sheet, row, column)))
    formula = sheet.formula(row, column)
    page, line = sheet.page_line(row) or (None, None)
    return schema.Cell(
        ref=cell_name(row, column),
        row=row + 1,
        column=column + 1,
        page=page,
        line=line,
        value=value,
        type=_CELL_TYPES[kind],
        formula=None if formula is None else f"={formula}",
    )
