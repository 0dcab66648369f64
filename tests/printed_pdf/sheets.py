"""The printed rows of a generated report, sheet by sheet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final, Literal

from core.files.write import Formats, FormattedValue, sheet_of
from core.grid.sheet import Sheet, Workbook
from tests.made_reports.cells import KINDS
from tests.made_reports.model import (
    Column,
    Extra,
    Page,
    Report,
    Rows,
    Section,
    Subtotal,
    head_rows,
    merged_ranges,
    page_rows,
    sheet_rows,
)
from tests.printed_pdf.cells import Cell, NumberStyle, PrintedCell, number_style, print_value

RowKind = Literal["title", "group", "head", "data", "section", "total", "foot", "blank"]


@dataclass(frozen=True, slots=True)
class PrintedRow:
    """A row of a printed sheet."""

    kind: RowKind
    cells: tuple[Cell, ...]
    table: int
    """Counts the tables of a report, from 0."""
    is_repeat: bool = False
    """A title or heading that the sheet prints again."""

    @property
    def is_blank(self) -> bool:
        return not any(self.cells)


@dataclass(slots=True)
class PrintedSheet:
    """A sheet: rows from the top, and merged cells."""

    name: str
    rows: list[PrintedRow]
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    """First row, first column, last row, last column, from 0."""

    @property
    def width(self) -> int:
        return max((len(row.cells) for row in self.rows), default=0)


@dataclass(frozen=True, slots=True)
class PrintHabits:
    """How a report prints days and negative amounts."""

    day_code: str = "dd-mmm-yyyy"
    brackets: bool = False


def sheets_of(report: Report, habits: PrintHabits) -> list[PrintedSheet]:
    """Return the visible sheets of a report as printed rows."""
    if report.carrier == "csv":
        stem = report.file_name.rpartition(".")[0]
        page = report.pages[0]
        return [PrintedSheet(stem, _page(page, page_rows(page), habits, 0))]
    sheets = [PrintedSheet(name, _plain(rows, habits, at)) for at, (name, rows) in enumerate(report.others)]
    pages = [page for page in report.pages if report.is_stacked or page.state == "visible"]
    for page in pages:
        page.foot = [line for line in page.foot if not line.startswith("Page ")]  # the paper has its own
    texts = {name: rows for name, rows, _ in sheet_rows(report)} if report.is_text and not report.is_stacked else {}
    for table, page in enumerate(pages, len(sheets)):
        rows = _page(page, texts.get(page.name, page_rows(page)), habits, table)
        if not report.is_stacked:
            sheets.append(PrintedSheet(page.name, rows, merged_ranges(page)))
        elif table == len(report.others):
            sheets.append(PrintedSheet("Report", rows))
        else:
            gap = PrintedRow("blank", (), table)
            sheets[-1].rows += [gap, gap, *rows]
    return sheets


def _page(page: Page, rows: Rows, habits: PrintHabits, table: int) -> list[PrintedRow]:
    kinds = list(_kinds(page))
    assert len(kinds) == len(rows), (page.name, len(kinds), len(rows))
    bodies = [row for (kind, _), row in zip(kinds, rows, strict=True) if kind in ("data", "total")]
    styles = []
    for at, column in enumerate(page.columns, page.left):
        values = [row[at] for row in bodies if at < len(row)]
        styles.append(number_style(values, column.heading, is_code=_is_code(column)))
    styles = [NumberStyle(0, grouped=False)] * page.left + styles
    return [
        PrintedRow(kind, _cells(row, styles, habits), table, is_repeat)
        for (kind, is_repeat), row in zip(kinds, rows, strict=True)
    ]


def _is_code(column: Column) -> bool:
    return KINDS.get(column.item) == "date" or all(
        isinstance(cell, int) and cell > 10_000_000 for cell in column.cells if cell is not None
    )


def _cells(row: list[Any], styles: list[NumberStyle], habits: PrintHabits) -> tuple[Cell, ...]:
    return tuple(
        print_value(value, styles[at], habits.day_code, brackets=habits.brackets) for at, value in enumerate(row)
    )


def _kinds(page: Page) -> Any:
    """What each row of a page is, and whether it repeats an earlier one; as `page_rows` puts them."""
    head: list[RowKind] = ["head"] * len(head_rows(page))
    if any(column.group for column in page.columns):
        head[0] = "group"
    top: list[RowKind] = [*(["title"] * len(page.titles)), *(["blank"] if page.titles else []), *head]
    yield from (("blank", False) for _ in range(page.top))
    yield from ((kind, False) for kind in top)
    since = 0
    for line in page.lines:
        if page.repeat and since == page.repeat:
            yield "blank", False
            yield from ((kind, True) for kind in top)
            since = 0
        yield _LINES.get(type(line), "data"), False
        since += 1
    if page.total:
        yield "total", False
    if page.foot:
        yield "blank", False
        yield from (("foot", False) for _ in page.foot)


_LINES: Final[dict[type, RowKind]] = {Section: "section", Subtotal: "total", Extra: "data", int: "data"}


def _plain(rows: Rows, habits: PrintHabits, table: int) -> list[PrintedRow]:
    """Print a sheet without loans: titles, a blank row, and a table whose first row of texts alone is its head."""
    start = next((at for at, row in enumerate(rows) if not row), 0) + 1
    has_head = start < len(rows) and len(rows[start]) > 1 and all(isinstance(cell, str) for cell in rows[start])
    width = max(map(len, rows))
    styles = [NumberStyle(0, grouped=False)] * width
    if has_head:
        body = rows[start + 1 :]
        styles = [number_style([row[at] for row in body if at < len(row)], str(rows[start][at])) for at in range(width)]
    result = []
    for at, row in enumerate(rows):
        kind: RowKind = "title" if at < start else "head" if has_head and at == start else "data"
        if not row:
            kind = "blank"
        elif kind == "data" and row[0] == "Total":
            kind = "total"
        own = styles if has_head else [number_style([cell], "") for cell in row]
        result.append(PrintedRow(kind, _cells(row, own, habits), table))
    return result


def workbook_of_prints(sheets: list[PrintedSheet]) -> Workbook:
    """Return a workbook that holds the printed values under their number formats."""
    formats = Formats()
    result: list[Sheet] = []
    for index, sheet in enumerate(sheets):
        rows = [[None if cell is None else _written(cell) for cell in row.cells] for row in sheet.rows]
        result.append(replace(sheet_of(rows, formats, name=sheet.name, merged=sheet.merged), index=index))
    return Workbook(tuple(result), number_formats=tuple(formats[at] for at in range(len(formats))))


def _written(cell: PrintedCell) -> Any:
    if isinstance(cell.value, float | date):
        return FormattedValue(cell.value, cell.code)
    return cell.value
