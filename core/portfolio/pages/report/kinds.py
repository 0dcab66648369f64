"""Of what each table is, and its columns' roles: by words, content, ratios."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, Literal

from core.portfolio.model.classes import are_class_names, class_key, is_class_name
from core.portfolio.pages.report import words
from core.portfolio.pages.report.blocks import Blocks, PageTable, cut_blocks, sections_of
from core.portfolio.pages.report.columns import (
    BIG,
    CONTENT_SHARE,
    ROLE_SCORE_MIN,
    ROWS_LOOKED_AT,
    ColumnContent,
    assign_roles,
    contents_of,
    score_columns,
)
from core.portfolio.pages.report.days import DATE
from core.portfolio.pages.report.lines import PageLine, earlier_by_days, lines_of
from core.portfolio.pages.report.page import PageCell, ReportPage, TurnedPage
from core.portfolio.pages.report.roles import (
    LIST_WORDS,
    as_tests,
    differ,
    has_limit,
    is_limit,
    is_of_loans,
    rows_behind,
)
from core.portfolio.pages.report.subjects import coverage_of, is_bare_class, is_test_name
from core.values import day_of

NOTES_MAX: Final = 25
"""Classes of one table of notes; a longer one lists ratings or loans."""

CLASS_SHARE: Final = 0.7
"""Share of a column's names that are classes from which its table is one of notes."""

COLUMNS_LOOKED_AT: Final = 40
"""Columns of a table that may have roles."""

OPERATORS: Final[dict[str, Literal["min", "max"]]] = {
    ">": "min", ">=": "min", "≥": "min", "=>": "min", "<": "max", "<=": "max", "≤": "max", "=<": "max",
}  # fmt: skip
"""Comparisons -> the side of the limit behind them."""

_STRATA_WORDS: Final = re.compile(
    r"\b(?:rating|industry|country|domicile|jurisdiction|region|maturity|type|currency|lien)\b"
)
_PLACE_WORDS: Final = re.compile(r"\b(?:industry|country|domicile|jurisdiction|region)\b")
_ACCOUNT_WORDS: Final = re.compile(r"\b(?:account|cash)\b")
_MOVEMENT_WORDS: Final = re.compile(r"\b(?:transactions?|payee|debit|counterparty|trade date(?! basis))\b")
"""Words of headings over what moved on accounts."""

_AMOUNT_WORDS: Final = re.compile(r"\b(?:balance|par|principal|amount|exposure|value|notional|face|outstanding)\b")
_SHARE_WORDS: Final = re.compile(r"%|\b(?:percent|percentage|pct|share|concentration)\b")


def read_blocks(page: ReportPage) -> Blocks:
    """Return the tables of a page with kinds and roles, and its lines.

    Rows of tables that are none are lines too.
    """
    blocks = cut_blocks(page)
    blocks.tables[:] = [part for table in blocks.tables for part in _by_coverage(table)]
    blocks.tables.extend(_headless(page, blocks))
    lines: list[PageLine] = []
    blocks.tables[:] = [part for table in blocks.tables for part in _classified(table)]
    for table in blocks.tables:
        if table.kind == "lines":
            lines += _as_lines(table)
        elif table.kind == "tests":
            lines += _behind(table)
            lines += _without_limit(table)
    return Blocks(blocks.tables, sorted([*blocks.lines, *lines], key=lambda line: (line.row, line.column)))


def _classified(table: PageTable) -> list[PageTable]:
    """Return a table with its kind; where classes are its columns, its parts turned."""
    first = min(table.headers)
    names = [text for at, text in table.headers.items() if at != first]
    are_classes = all(is_bare_class(text) or is_class_name(text) for text in names)
    if _is_above_figures(table):
        return [replace(_turned(table, -1), columns={"name": table.heading_rows[-1]})]
    if len(names) > 1 and (are_classes or (len(table.rows) <= TURNED_ROWS_MAX and _are_tests(names))):
        parts = list(_by_coverage(_turned(table, first)))
        for part in parts:
            classify(part)
        if all(part.kind == "tests" or (are_classes and part.kind == "notes") for part in parts):
            return parts
    classify(table)
    return [table]


TURNED_ROWS_MAX: Final = 8
"""Rows of a table with tests as its columns: figure, limit, outcome, month before and the like."""

ABOVE_SCORE: Final = 5.0
"""Weight from which a heading names a test, and not a column of a list."""


def _are_tests(names: list[str]) -> bool:
    return all(words.guess("test", text).score >= ABOVE_SCORE for text in names)


def _is_above_figures(table: PageTable) -> bool:
    """Return whether names of tests stand above one figure each."""
    cells = [cell for row in table.rows for cell in table.page.row(row).values()]
    is_row = len(table.rows) == 1 and len(cells) == len(table.headers) > 1
    return is_row and all(cell.has_number for cell in cells) and _are_tests([*table.headers.values()])


def _turned(table: PageTable, first: int) -> PageTable:
    """Return a table with its rows as columns, named by its first column.

    `first`: -1 where no column has names.
    """
    top = table.heading_rows[-1]
    page = TurnedPage(table.page, (top, *table.rows))
    headers = {top: table.headers.get(first, "")} | {row: table.page.cell(row, first).text for row in table.rows}
    rows = [row for row in page.rows if row > page.first + first]
    return replace(table, page=page, heading_rows=(page.first + first,), headers=headers, rows=rows, sections={})


def _by_coverage(table: PageTable) -> Iterator[PageTable]:
    """Yield a table of OC beside IC as one table of each; any other as it is."""
    columns: dict[str, list[int]] = {measure: [] for measure in _COVERAGE_TITLES}
    last: str | None = None
    for column, text in sorted(table.headers.items()):
        last = coverage_of(text) or last  # "Required" and "Result" stand behind the ratio that they are of
        if last is not None:
            columns[last].append(column)
    first = min(table.headers)
    names = [cell.text for row in table.rows if (cell := table.page.cell(row, first)).is_words]
    are_classes = sum(map(is_bare_class, names)) >= CLASS_SHARE * len(names) > 0
    if not are_classes or min(map(len, columns.values())) < 2:
        yield table
        return
    rest = [column for column in table.headers if column < min(min(some) for some in columns.values())]
    if len(rest) > 1:
        yield replace(table, headers={column: table.headers[column] for column in rest}, sections={})
    for measure, some in columns.items():
        headers = {first: table.headers[first]} | {column: table.headers[column] for column in some}
        yield replace(table, headers=headers, title=_COVERAGE_TITLES[measure], sections={})


_COVERAGE_TITLES: Final = {"oc": "Overcollateralization", "ic": "Interest Coverage"}

HEADLESS_ROWS: Final = 3
"""Rows with a test's name and figures from which they are a table though no heading stands above."""

HEADLESS_BETWEEN: Final = 3
"""Rows between two such rows that are names of sections, or tests without a status."""

HEADLESS_NAMES: Final = 2
"""Texts of such a row of which one is the name: a clause or a group may stand before it."""

HEADLESS_SHARE: Final = 0.5
"""Share of the rows of such a run that are tests by their names: of a list of loans, only a few seem to be."""

HEADLESS_WIDTHS: Final = range(3, 16)
"""Cells of such a row between two others."""

HEADLESS_CELLS: Final = 3
"""Cells of such a row: a name, a figure, and a limit or a status."""


def _headless(page: ReportPage, blocks: Blocks) -> Iterator[PageTable]:
    """Yield runs of rows in no table that begin with tests, limits behind them."""
    table_rows = {row for table in blocks.tables for row in (*table.rows, *table.heading_rows)}
    run: list[int] = []
    between: list[int] = []
    for row in (*page.rows, -1):
        cells = page.row(row)
        if row not in table_rows and row >= 0 and _is_test_row(cells):
            run += [*between, row] if run else [row]
            between = []
        elif row not in table_rows and run and len(between) < HEADLESS_BETWEEN and len(cells) in (1, *HEADLESS_WIDTHS):
            between.append(row)
        else:
            rows = [at_row for at_row in run if len(page.row(at_row)) > 1]
            tests = sum(_is_test_row(page.row(at_row)) for at_row in rows)
            if len(rows) >= HEADLESS_ROWS and tests >= HEADLESS_SHARE * len(rows):
                headers = _days_above(page, run)
                yield PageTable(
                    page=page,
                    title=page.sheet.name,
                    heading_rows=(run[0],),
                    headers=headers,
                    rows=run,
                    sections=dict(sections_of(page, [run[0] - 1, *run])),
                )
            run, between = [], []


def _days_above(page: ReportPage, run: list[int]) -> dict[int, str]:
    """Return the columns of a run, with days right above as their headings."""
    above = page.row(run[0] - 1)
    headings = {column: f"{day_of(cell.day)}" if cell.day == cell.day else cell.text for column, cell in above.items()}
    columns = sorted({column for row in run for column in page.row(row)})
    has_days = any(DATE.search(text) is not None for text in headings.values())
    return {column: headings.get(column, "") if has_days else "" for column in columns}


def _is_test_row(cells: dict[int, PageCell]) -> bool:
    """Return whether a row has a test's name, a figure, and a status or limit."""
    if len(cells) < HEADLESS_CELLS or any(cell.text in OPERATORS for cell in cells.values()):
        return False
    has_status = any(words.status_of(cell.text) is not None or cell.bound is not None for cell in cells.values())
    figures = any(cell.has_number and abs(cell.number) <= BIG for cell in cells.values())
    names = [cell.text for cell in cells.values() if cell.is_words][:HEADLESS_NAMES]
    return has_status and figures and any(is_test_name(name, "") for name in names)


def classify(table: PageTable) -> None:
    """Write a table's kind and the columns of its roles into it."""
    contents = contents_of(table, list(table.headers)[:COLUMNS_LOOKED_AT])
    for kind in (_as_notes, as_tests, _as_accounts, _as_stratification, _as_list):
        if kind(table, contents):
            return
    names = [column for column, content in contents.items() if content.is_mostly(content.words)]
    table.kind, table.columns = "lines", {"name": names[0]} if names else {}


# ---- notes ---------------------------------------------------------------------------------------------------------

_NOTE_ROLES: Final = (
    "class", "orig", "bal", "spread", "cpn", "due", "defer", "oct", "ict", "mat", "ccy", "rating", "other",
)  # fmt: skip


def _as_notes(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    rows = [cells for row in table.rows if len(cells := table.page.row(row)) > 1]
    column = next((column for column in contents if _lists_classes(table, rows, column)), -1)
    if column < 0 or any(content.is_mostly(content.statuses) for content in contents.values()):
        return False
    if coverage_of(table.title) is not None and any(is_limit(text) for text in table.headers.values()):
        return False

    def bonus(role: str, content: ColumnContent) -> float:
        if role in ("orig", "bal", "due", "defer", "spread", "cpn", "oct", "ict"):
            # "SOFR + 1.30%" are words; a column of figures goes first.
            return 0.0 if content.numbers else -3.0 if role in ("spread", "cpn") and content.words else -20.0
        return -20.0 if role == "class" else 0.0

    weights = score_columns(table, contents, "column.n", _NOTE_ROLES, bonus)
    for earlier in earlier_by_days({at: PageCell(text) for at, text in table.headers.items()}):
        for role in ("bal", "due", "defer"):
            weights[role, earlier] = 0.0
    columns = {role: at for role, at in assign_roles(weights).items() if not _may_be_ratio(table, role, at)}
    if not columns.keys() & {"bal", "orig"} and (last := _any_balance(table, contents)) is not None:
        columns["bal"] = last
    if not columns.keys() & {"bal", "orig", "due"}:
        last = _latest_balance(table, contents)
        if last is None:
            return False
        columns["bal"], table.is_guessed = last, True
    table.is_guessed |= _has_rival_balance(table, contents, columns, weights)
    table.kind, table.columns = "notes", {"class": column} | {
        role: at for role, at in columns.items() if role not in ("other", "rating", "ccy") and at != column
    }  # fmt: skip
    return True


def _any_balance(table: PageTable, contents: dict[int, ColumnContent]) -> int | None:
    """Return a column of balances of whatever day, for want of a better one."""
    return next(
        (
            column
            for column, content in contents.items()
            if content.numbers
            and " balance " in words.normal(table.headers[column])
            and " interest " not in words.normal(table.headers[column])
        ),
        None,
    )


def _may_be_ratio(table: PageTable, role: str, column: int) -> bool:
    """Return whether "OC Test" may be the ratio: no other column is of it."""
    if role not in ("oct", "ict") or not words.normal(table.headers[column]).endswith(" test "):
        return False
    measure = coverage_of(table.headers[column])
    return not any(coverage_of(text) == measure for at, text in table.headers.items() if at != column)


def _has_rival_balance(
    table: PageTable,
    contents: dict[int, ColumnContent],
    columns: dict[str, int],
    weights: dict[tuple[str, int], float],
) -> bool:
    """Return whether a column without a role could be the balance by its heading."""
    balance = columns.get("bal")
    return balance is not None and any(
        column not in columns.values()
        and content.is_mostly(content.big)
        and weights["bal", column] >= max(ROLE_SCORE_MIN, weights["bal", balance])
        and differ(table, column, balance)
        for column, content in contents.items()
    )


_OF_BALANCES: Final = re.compile(r"\b(?:note|class|debt|capital structure|balance|outstanding)\b")
_OF_PAYMENTS: Final = re.compile(r"\b(?:interest|paid|payments?|distributions?|due|coupon)\b")


def _latest_balance(table: PageTable, contents: dict[int, ColumnContent]) -> int | None:
    """Return the last of columns of balances that have days as headings."""
    title = words.normal(f"{table.title} . {table.page.sheet.name}")
    if _OF_BALANCES.search(title) is None or _OF_PAYMENTS.search(title) is not None:
        return None
    amounts = [column for column, content in contents.items() if content.is_mostly(content.big)]
    headings = {column: PageCell(table.headers[column]) for column in amounts}
    if len(amounts) < 2 or not all(DATE.fullmatch(cell.text.strip()) for cell in headings.values()):
        return None
    latest = set(amounts) - earlier_by_days(headings)
    return latest.pop() if len(latest) == 1 else None


def _lists_classes(table: PageTable, rows: list[dict[int, PageCell]], column: int) -> bool:
    """Return whether a column lists a deal's classes: unique, few, one A or X."""
    column_cells = [cells[column] for cells in rows if column in cells]
    if not any(map(is_class_name, {cell.text for cell in column_cells})):
        return False
    names = [cell.text for cell in column_cells if cell.is_words and not words.is_total(cell.text)]
    classes = [name for name in names if is_class_name(name)]
    if not 0 < len(names) <= NOTES_MAX or len(set(names)) < len(names) or len(classes) < CLASS_SHARE * len(names):
        return False
    if sum(words.guess("test", name).role in ("oc", "ic") for name in names) * 2 > len(names):
        return False
    is_rating = " rating " in words.normal(table.headers[column])
    has_senior = len(names) > 1 and any(class_key(name)[:1] in ("A", "X") for name in classes)
    return not is_rating and (are_class_names(names) or has_senior)


# ---- accounts, stratifications, lists ------------------------------------------------------------------------------


def _as_accounts(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    text = words.normal(f"{table.title} . {' . '.join(table.headers.values())}")
    if _ACCOUNT_WORDS.search(text) is None:
        return False
    figures = [column for column, content in contents.items() if content.numbers]
    names = {
        column: words.scores("column.a", table.headers[column]).get("name", 0.0)
        for column, content in contents.items()
        if content.is_mostly(content.words)
    }
    if not figures or not names:
        return False
    name = max(names, key=lambda column: (names[column], -column))
    in_heading = _ACCOUNT_WORDS.search(words.normal(table.headers[name])) is not None
    if _MOVEMENT_WORDS.search(text) is not None or (is_of_loans(table) and not in_heading):
        return False
    named = sum(
        words.guess("account", table.page.cell(row, name).text).role is not None for row in table.rows[:ROWS_LOOKED_AT]
    )
    if not in_heading and named < CONTENT_SHARE * contents[name].filled:
        return False
    table.kind, table.columns = "accounts", {"name": name}
    return True


def _as_stratification(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    names = [column for column, content in contents.items() if content.is_mostly(content.words)]
    if not names:
        return False
    name = names[0]
    texts = [cell.text for row in table.rows if (cell := table.page.cell(row, name)).is_words]
    are_ratings = len(names) == 1 and sum(map(words.is_rating_label, texts)) >= CONTENT_SHARE * len(texts)
    heading = words.normal(table.headers[name])
    is_of_obligors = " obligor " in heading and _PLACE_WORDS.search(heading) is None
    are_loans = len(names) > 1 and is_of_loans(table)
    if not are_ratings and (_STRATA_WORDS.search(heading) is None or is_of_obligors or are_loans):
        return False
    columns = _amount_and_share(table, contents)
    if "amount" not in columns:
        return False
    table.kind, table.columns = "stratification", {"name": name} | columns
    return True


def _as_list(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    named = any(LIST_WORDS.search(words.normal(text)) is not None for text in table.headers.values())
    if not named and words.guess("page", table.title).role is None:
        return False
    names = {
        column: len(LIST_WORDS.findall(words.normal(table.headers[column]))) + content.distinct / 1_000
        for column, content in contents.items()
        if content.is_mostly(content.words)
    }
    columns = _amount_and_share(table, contents)
    if (len(table.headers) < 3 and not columns) or _is_of_lines(table, names):
        return False
    obligor = [column for column in names if " obligor " in words.normal(table.headers[column])]
    if names:
        columns["name"] = obligor[0] if obligor else max(names, key=lambda column: names[column])
    table.kind, table.columns = "list", columns
    return True


def _is_of_lines(table: PageTable, names: dict[int, float]) -> bool:
    """Return whether a table's names are lines of a calculation.

    A description, and amounts of this and the last month.
    """
    if len(names) != 1:
        return False
    texts = [cell.text for row in table.rows if (cell := table.page.cell(row, next(iter(names)))).is_words]
    return sum(words.guess("line", text).role is not None for text in texts) >= CONTENT_SHARE * len(texts)


def _amount_and_share(table: PageTable, contents: dict[int, ColumnContent]) -> dict[str, int]:
    """Return the columns of par and of its share, by heading and content."""
    columns: dict[str, int] = {}
    for column, content in contents.items():
        heading = words.normal(table.headers[column])
        if not content.is_mostly(content.numbers):
            continue
        is_share = _SHARE_WORDS.search(heading) is not None or content.is_mostly(content.percents)
        if is_share and not content.big:
            columns.setdefault("share", column)
        elif _AMOUNT_WORDS.search(heading) is not None and not is_share:
            best = columns.get("amount")
            if best is None or _amount_rank(heading, content) > _amount_rank(
                words.normal(table.headers[best]), contents[best]
            ):
                columns["amount"] = column
    return columns


def _amount_rank(heading: str, content: ColumnContent) -> int:
    """Return how surely a column has par: large figures, a balance first."""
    return 3 * content.is_mostly(content.big, 0.5) + _word_rank(heading)


def _word_rank(heading: str) -> int:
    if re.search(r"\b(?:market|carrying|excess|price|interest|unfunded)\b", heading):
        return 0
    return 2 if re.search(r"\b(?:principal|par|balance)\b", heading) else 1


# ---- lines of tables -----------------------------------------------------------------------------------------------


def _as_lines(table: PageTable) -> list[PageLine]:
    lines = lines_of(table.page, table.rows, table.title, table.columns.get("name"))
    return [replace(line, heading=table.headers.get(line.column, "")) for line in lines]


def _behind(table: PageTable) -> list[PageLine]:
    """Return lines of the calculation below the tests, no longer rows."""
    rows = rows_behind(table)
    if not rows:
        return []
    table.rows = table.rows[: -len(rows)]
    return lines_of(table.page, rows, table.title)


def _without_limit(table: PageTable) -> Iterator[PageLine]:
    """Yield the rows of a table of tests with neither a limit nor a status."""
    rows = [row for row in table.rows if not has_limit(table, row) and table.cell(row, "value").has_number]
    if rows:
        cut_page = table.page.cut((table.columns["name"], table.columns["value"]))
        yield from lines_of(cut_page, rows, table.title, table.columns["name"])
