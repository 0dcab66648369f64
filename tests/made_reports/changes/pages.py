"""Changes of a report's pages.

Split, merged, stacked, grouped, with heads again, with older and template copies.
"""

from __future__ import annotations

from copy import deepcopy
from datetime import timedelta
from random import Random
from typing import Any, Final

from tests.made_reports.cells import KINDS
from tests.made_reports.changes.columns import is_carried_down
from tests.made_reports.model import Column, Line, Page, Report, Section, Subtotal

_GROUPS: Final = ("industry", "industry_moodys", "industry_sp", "country", "lien", "currency", "frequency")
_KEYS: Final = (("cusip",), ("isin",), ("asset_id",), ("borrower", "facility"), ("description",))
_TITLES: Final = ("Confidential", "Prepared by the Collateral Administrator", "Run Date: see cover")
_PRIOR_NAMES: Final = ("Prior Month", "Old", "Holdings (2)", "Copy of Holdings", "Last Month")


def reorder_rows(rng: Random, report: Report) -> bool:
    """Put the loans of each page in another order, and the pages."""
    for page in report.pages:
        if all(isinstance(line, int) for line in page.lines):
            rng.shuffle(page.lines)
    rng.shuffle(report.pages)
    return True


def split(rng: Random, report: Report) -> bool:
    """Break a page into two that are keyed in the same way."""
    if report.carrier == "csv":
        return False
    pages = [page for page in report.pages if _key_of(page) and len(page.columns) > 8]
    if not pages:
        return False
    page = rng.choice(pages)
    keys = _key_of(page)
    movable = [column for column in page.columns if column.item not in (*keys, "par", "borrower", "facility")]
    second_half = rng.sample(movable, len(movable) // 2)
    page.columns = [column for column in page.columns if not any(column is moved for moved in second_half)]
    key_columns = [deepcopy(column) for column in page.columns if column.item in keys]
    rows: list[Line] = list(range(len(page.loans)))
    if rng.random() < 0.6:
        rng.shuffle(rows)
    second = Page(f"{page.name} (cont)", list(page.titles), [*key_columns, *second_half], page.loans, rows)
    report.pages.insert(report.pages.index(page) + 1, second)
    return True


def _key_of(page: Page) -> tuple[str, ...]:
    """The columns by which the loans of a page are told apart.

    None where a loan has several rows.
    """
    if len(set(page.loans)) < len(page.loans) or is_carried_down(page):
        return ()
    for items in _KEYS:
        columns = [page.column(item) for item in items]
        if all(column is not None and all(column.cells) for column in columns):
            return items
    return ()


def merge_pages(rng: Random, report: Report) -> bool:
    """Write all pages of the report side by side into one."""
    if len(report.pages) < 2:
        return False
    first, *others = report.pages
    if any(sorted(page.loans) != sorted(first.loans) for page in others):
        return False
    for page in others:
        place = {loan: row for row, loan in enumerate(page.loans)}
        order = [place[loan] for loan in first.loans]
        items = {column.item for column in first.columns}
        for column in page.columns:
            if column.item not in items:
                first.columns.append(_ordered(column, order))
    report.pages = [first]
    return True


def _ordered(column: Column, order: list[int]) -> Column:
    def picked(values: list[Any] | None) -> list[Any] | None:
        return None if values is None else [values[row] for row in order]

    column.cells, column.values, column.marks = picked(column.cells) or [], picked(column.values), picked(column.marks)
    column.also = {item: picked(values) or [] for item, values in column.also.items()}
    return column


def stack(rng: Random, report: Report) -> bool:
    """Print the pages below each other on one sheet."""
    if len(report.pages) < 2:
        return False
    report.is_stacked = True
    return True


def group(rng: Random, report: Report) -> bool:
    """Sort a page by a column, and put the group's name above its loans and a subtotal below."""
    pages = [page for page in report.pages if all(isinstance(line, int) for line in page.lines)]
    for page in rng.sample(pages, len(pages)):
        columns = [column for column in page.columns if column.item in _GROUPS and column.values is not None]
        if columns and len(set(page.loans)) == len(page.loans):
            _group_by(rng, page, rng.choice(columns))
            return True
    return False


def _group_by(rng: Random, page: Page, column: Column) -> None:
    label = rng.choice(("Total {}", "Subtotal", "{} Total", "Sub-Total {}"))
    names = [str(cell) for cell in column.cells]
    has_subtotals = any(page_column.adds for page_column in page.columns) and rng.random() < 0.7
    page.lines = []
    for name in sorted(set(names)):
        rows = tuple(row for row, own in enumerate(names) if own == name)
        page.lines += [Section(name), *rows]
        if has_subtotals:
            page.lines.append(Subtotal(label.format(name), rows))


def repeat_heads(rng: Random, report: Report) -> bool:
    """Print titles and head again after so many lines."""
    for page in report.pages:
        page.repeat = rng.randrange(18, 60)
    return True


def break_heads(rng: Random, report: Report) -> bool:
    """Break the headings over two or three lines."""
    for page in report.pages:
        page.head_lines = rng.choice((2, 3))
    return True


def add_total(rng: Random, report: Report) -> bool:
    """Print the sums of all loans below them."""
    for page in report.pages:
        if any(column.adds for column in page.columns):
            page.total = rng.choice(("Total", "Totals:", "Grand Total", "Portfolio Total"))
    return True


def add_titles(rng: Random, report: Report) -> bool:
    """Put more lines above the head."""
    for page in report.pages:
        page.titles += rng.sample(
            ("Confidential", "Prepared by the Collateral Administrator", "Run Date: see cover"), 2
        )
    return True


def add_foot(rng: Random, report: Report) -> bool:
    """Put words below the table."""
    for page in report.pages:
        page.foot.append("Amounts may not add up because of rounding. For information only.")
    return True


def add_gaps(rng: Random, report: Report) -> bool:
    """Put empty lines between loans."""
    for page in report.pages:
        for _ in range(rng.randrange(1, 5)):
            page.lines.insert(rng.randrange(1, len(page.lines)), Section(""))
    return True


def add_prior(rng: Random, report: Report) -> bool:
    """Put the loans of the month before on a sheet of their own, hidden or named as such."""
    if report.carrier == "csv":
        return False
    page = max(report.pages, key=lambda candidate: len(candidate.columns))
    prior = deepcopy(page)
    prior.is_current = False
    prior.name = rng.choice(_PRIOR_NAMES)
    prior.state = "hidden" if prior.name in ("Holdings (2)", "Copy of Holdings") or rng.random() < 0.6 else "visible"
    day = report.deal.as_of - timedelta(days=30)
    prior.titles = [report.deal.name, f"As of {day:%B %d, %Y}"]
    for column in prior.columns:
        if column.item in ("par", "price", "market_value_amount", "unfunded"):
            column.cells = [_moved(rng, cell) for cell in column.cells]
    report.pages.insert(rng.randrange(len(report.pages) + 1), prior)
    return True


def _moved(rng: Random, cell: Any) -> Any:
    return round(cell * rng.uniform(0.93, 1.04), 2) if isinstance(cell, int | float) and cell else cell


def add_template(rng: Random, report: Report) -> bool:
    """Put a sheet with the headings and two examples in front."""
    if report.carrier == "csv":
        return False
    page = max(report.pages, key=lambda candidate: len(candidate.columns))
    template = deepcopy(page)
    template.name, template.is_current = rng.choice(("Template", "Upload Template", "Format")), False
    template.titles, template.foot, template.total = ["Template - do not edit"], [], ""
    loans = [line for line in template.lines if isinstance(line, int)]
    template.lines = [*loans[:2]]
    report.pages.insert(0, template)
    return True


def write_texts(rng: Random, report: Report) -> bool:
    """Write every cell as a text."""
    report.is_text = report.carrier != "csv"
    return report.is_text


def blank_repeats(rng: Random, report: Report) -> bool:
    """Leave out a borrower's name below itself, as lists do that are sorted by it."""
    changed = False
    for page in report.pages:
        column = page.column("borrower")
        if column is None or is_carried_down(page):
            continue
        before = None
        for line in page.lines:
            name = column.cells[line] if isinstance(line, int) else None
            if isinstance(line, int) and name is not None and name == before:
                column.cells[line] = None
                changed = True
            before = name
    return changed


def cut_names(rng: Random, report: Report) -> bool:
    """Cut names at the page's width on every page but the first that has them, where they stay apart."""
    is_second, width, changed = False, rng.randrange(24, 34), False
    for page in report.pages:
        columns = [column for column in page.columns if column.item in ("borrower", "facility", "description")]
        if not columns or is_carried_down(page):
            continue
        if is_second and page.is_current and not page.column("par"):
            changed |= _cut(page, columns, width)
        is_second = True
    return changed


def _cut(page: Page, columns: list[Column], width: int) -> bool:
    cells = [[cell[:width].rstrip() for cell in column.cells] for column in columns]
    keys = list(zip(*cells, strict=True))
    if len(set(keys)) < len(set(page.loans)):
        return False
    for column, own in zip(columns, cells, strict=True):
        column.cells, column.values, column.also, column.marks = own, None, {}, None
    return True


def merge_titles(rng: Random, report: Report) -> bool:
    """Merge the cells of titles and of groups."""
    for page in report.pages:
        page.is_merged = True
    return report.carrier != "csv"


def center_titles(rng: Random, report: Report) -> bool:
    """Put titles above the middle of the table."""
    for page in report.pages:
        page.title_column = len(page.columns) // 2 if page.titles else 0
    return any(page.titles for page in report.pages)


def shift(rng: Random, report: Report) -> bool:
    """Begin every sheet of loans some columns to the right and some rows below its corner."""
    left, top = rng.randrange(1, 3), rng.randrange(4)
    for page in report.pages:
        page.left, page.top = left, top
    return True


def add_units(rng: Random, report: Report) -> bool:
    """Put the units of numbers into a line below the headings."""
    for page in report.pages:
        for column in page.columns:
            column.unit = _unit(report, column)
    return True


def _unit(report: Report, column: Column) -> str:
    habits, kind = report.habits, KINDS.get(column.item)
    if kind == "money":
        in_heading = any(words in column.heading for words in ("000", "thousands"))
        return "" if in_heading or habits.money != 1.0 else f"({report.deal.market.currency})"
    if column.also or column.values is None or habits.rate not in ("percent", "comma"):
        return ""
    if kind == "spread":
        return "(bps)" if habits.spread == "points" else "(%)"
    return "(%)" if kind in ("rate", "recovery") else ""
