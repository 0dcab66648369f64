"""A report before it is printed.

Pages of columns, lines between loans, and how both become rows of cells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from random import Random
from typing import Any, Literal

from core.grid.sheet import Sheet, Workbook
from tests.core.portfolio.conftest import Shown, sheet_from_rows
from tests.made_reports.cells import Habits, print_cell
from tests.made_reports.deal import Deal

Rows = list[list[Any]]


@dataclass
class Column:
    """One column of a page of loans."""

    item: str
    """Item of the loans that it carries, or what it is beside them."""
    heading: str
    cells: list[Any]
    """By row of the page."""
    values: list[Any] | None = None
    """What the cells say in standard units. None: it carries no field."""
    group: str = ""
    """Words above the heading, which stand once above neighbours with the same words."""
    adds: bool = False
    """An amount, with a sum in totals."""
    also: dict[str, list[Any]] = field(default_factory=dict)
    """Further items that the cells say, such as the index of SF+525, with their values."""
    unit: str = ""
    """In a line of its own below the heading."""
    marks: list[str] | None = None
    """Footnote marks behind the cells, by row."""


@dataclass(frozen=True)
class Section:
    """A line with the name of a group above its loans."""

    text: str


@dataclass(frozen=True)
class Subtotal:
    """A line with sums of the page's rows."""

    text: str
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Extra:
    """A line of something that is no loan, such as shares: cells by item."""

    cells: dict[str, Any]


Line = int | Section | Subtotal | Extra


@dataclass
class Page:
    """A sheet with loans."""

    name: str
    titles: list[str]
    columns: list[Column]
    loans: list[int]
    """The deal's loan of each row."""
    lines: list[Line]
    """Rows of loans, and what stands between them, from the top."""
    total: str = ""
    """Label of the line with the sums of all rows; empty: none."""
    repeat: int = 0
    """The head stands again after so many lines; 0: never."""
    foot: list[str] = field(default_factory=list)
    head_lines: int = 1
    """Lines over which headings are broken, at most."""
    left: int = 0
    """Empty columns before the table."""
    top: int = 0
    """Empty rows above the titles."""
    title_column: int = 0
    """Column of the titles, counted from the table's first."""
    is_merged: bool = False
    """Titles and words of groups stand in merged cells."""
    state: Literal["visible", "hidden", "veryHidden"] = "visible"
    is_current: bool = True
    """The loans of this report, and not an older copy of them or a template."""

    def column(self, item: str) -> Column | None:
        return next((column for column in self.columns if column.item == item), None)


@dataclass
class Report:
    """A deal as one trustee or manager prints it."""

    style: str
    seed: int
    deal: Deal
    pages: list[Page]
    habits: Habits = field(default_factory=Habits)
    others: list[tuple[str, Rows]] = field(default_factory=list)
    """Sheets without loans."""
    changes: list[str] = field(default_factory=list)
    """What the mutator did."""
    carrier: Literal["workbook", "csv"] = "workbook"
    separator: str = ","
    file_name: str = "holdings.csv"
    says_day: bool = True
    """A title, a page or the file's name says the day."""
    is_text: bool = False
    """Every cell of the loans' pages is a text."""
    is_stacked: bool = False
    """The pages of loans stand below each other on one sheet."""


def make_column(
    deal: Deal, loans: list[int], item: str, heading: str, habits: Habits, *, source: str = "", group: str = ""
) -> Column:
    """Print an item of the page's loans.

    `source` is the item of the deal where the page calls it by another.
    """
    pairs = [print_cell(source or item, deal.items[source or item][at], habits, deal.market.currency) for at in loans]
    cells = [pair.cell for pair in pairs]
    return Column(item, heading, cells, [pair.value for pair in pairs], group, adds=item in ("par", "unfunded"))


def page_rows(page: Page) -> Rows:
    """Print a page: titles, head, lines, totals and foot."""
    titles: Rows = [[None] * page.title_column + [title] for title in page.titles]
    top = [*titles, *([[]] if titles else []), *head_rows(page)]
    rows, since = list(top), 0
    for line in page.lines:
        if page.repeat and since == page.repeat:
            rows += [[], *top]
            since = 0
        rows.append(_line(page, line))
        since += 1
    if page.total:
        rows.append(_line(page, Subtotal(page.total, tuple(range(len(page.loans))))))
    rows += [*([[]] if page.foot else []), *([text] for text in page.foot)]
    return [*([[]] * page.top), *([None] * page.left + row for row in rows)]


def merged_ranges(page: Page) -> list[tuple[int, int, int, int]]:
    """The merged cells of the first head.

    Titles over the table's width, and words of groups over their columns.
    """
    if not page.is_merged:
        return []
    last = page.left + len(page.columns) - 1
    rows = range(page.top, page.top + len(page.titles))
    ranges = [(row, page.left + page.title_column, row, last) for row in rows]
    head = page.top + len(page.titles) + bool(page.titles)
    starts = [at for at, column in enumerate(page.columns) if at == 0 or column.group != page.columns[at - 1].group]
    for at, end in zip(starts, [*starts[1:], len(page.columns)], strict=True):
        if page.columns[at].group and end - at > 1:
            ranges.append((head, page.left + at, head, page.left + end - 1))
    return ranges


def head_rows(page: Page) -> Rows:
    """Print the head: a line of groups where there are any, and headings that are broken over lines from below."""
    pieces = [_broken(column.heading, page.head_lines) for column in page.columns]
    height = max(map(len, pieces), default=1)
    lines: Rows = [
        [piece[at - height + len(piece)] or None if at >= height - len(piece) else None for piece in pieces]
        for at in range(height)
    ]
    units: Rows = [[column.unit or None for column in page.columns]]
    lines += units if any(units[0]) else []
    groups = [column.group for column in page.columns]
    if not any(groups):
        return lines
    return [
        [group if group and group != before else None for before, group in zip(["", *groups], groups, strict=False)],
        *lines,
    ]


def _broken(heading: str, lines: int) -> list[str]:
    words = heading.split(" ")
    count = min(lines, len(words))
    if count < 2:
        return [heading]
    return [*words[: count - 1], " ".join(words[count - 1 :])]


def _line(page: Page, line: Line) -> list[Any]:
    if isinstance(line, Section):
        return [line.text or None]
    if isinstance(line, Extra):
        return [line.cells.get(column.item) for column in page.columns]
    if isinstance(line, int):
        return [_marked(column, line) for column in page.columns]
    cells: list[Any] = [_total(column, line.rows) if column.adds else None for column in page.columns]
    if cells and cells[0] is None:
        cells[0] = line.text
    return cells


def _marked(column: Column, row: int) -> Any:
    cell = column.cells[row]
    mark = column.marks[row] if column.marks else ""
    if mark and isinstance(cell, str):
        return f"{cell}{mark}"
    return cell


def _total(column: Column, rows: tuple[int, ...]) -> Any:
    cells = [column.cells[row] for row in rows if column.cells[row] is not None]
    texts = [cell for cell in cells if isinstance(cell, str) and any(sign.isdigit() for sign in cell)]
    numbers = [cell for cell in cells if not isinstance(cell, str)]
    if not texts:
        return round(sum(numbers), 2)
    if any(cell.startswith("$") for cell in texts):
        return f"${sum(float(cell.strip('$').replace(',', '')) for cell in texts):,.2f}"
    total = sum(_comma_number(cell) for cell in texts)
    return f"{total:,.2f}".translate(str.maketrans(",.", ".,"))


def _comma_number(cell: str) -> float:
    """Read an amount with a decimal comma."""
    sign = -1.0 if cell.startswith("(") else 1.0
    return sign * float(cell.strip("()").replace(".", "").replace(",", "."))


def workbook_of(report: Report) -> Workbook:
    """Print a report as a workbook in memory."""
    formats = ["General"]
    sheets: list[Sheet] = []
    merged = {} if report.is_stacked else {page.name: merged_ranges(page) for page in report.pages}
    for name, rows, state in sheet_rows(report):
        sheet = sheet_from_rows(rows, name, index=len(sheets), formats=formats, merged=merged.get(name, []))
        sheets.append(sheet if state == "visible" else replace(sheet, state=state))
    return Workbook(tuple(sheets), number_formats=tuple(formats))


def sheet_rows(report: Report) -> list[tuple[str, Rows, Literal["visible", "hidden", "veryHidden"]]]:
    """Print every sheet: pages of loans in their order, the others before them."""
    sheets = [(name, rows, "visible") for name, rows in report.others]
    pages = [(page, _texts(page_rows(page)) if report.is_text else page_rows(page)) for page in report.pages]
    if report.is_stacked:
        stacked: Rows = []
        for _, rows in pages:
            stacked += [*rows, [], []]
        return [*sheets, ("Report", stacked, "visible")]  # type: ignore[list-item]
    sheets += [(page.name, rows, page.state) for page, rows in pages]
    return sheets  # type: ignore[return-value]


def _texts(rows: Rows) -> Rows:
    """Print cells as a program does that writes texts alone."""
    return [[_text(cell) for cell in row] for row in rows]


def _text(cell: Any) -> str | None:
    match cell:
        case None | str():
            return cell
        case bool():
            return "TRUE" if cell else "FALSE"
        case Shown():
            return f"{cell.number:.4%}"
        case date():
            return f"{cell:%d-%b-%Y}"
        case int():
            return str(cell)
        case _:
            return f"{cell:,}"


def csv_of(report: Report) -> bytes:
    """Print the first page as delimited text."""
    lines = []
    for row in page_rows(report.pages[0]):
        lines.append(report.separator.join(_field(cell, report.separator) for cell in row))
    return ("\ufeff" + "\r\n".join(lines) + "\r\n").encode()


def _field(cell: Any, separator: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Shown):
        return f"{cell.number:.10g}"
    text = str(cell)
    return f'"{text}"' if any(sign in text for sign in (separator, '"', "\n")) else text


def shuffled(rng: Random, count: int) -> list[int]:
    """Draw an order of rows."""
    order = list(range(count))
    rng.shuffle(order)
    return order
