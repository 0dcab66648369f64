"""Of what each table of a page is, and which column has which role: by words, by content, by ratios."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from core.portfolio.classes import are_class_names, class_key, is_class_name
from core.portfolio.report import words
from core.portfolio.report.blocks import Blocks, PageLine, PageTable, cut, lines_of
from core.portfolio.report.page import Cell, Page
from core.portfolio.report.relation import best_relation

ROLE_SCORE_MIN: Final = 2.0
"""Weight from which a column has a role."""

NOTES_MAX: Final = 25
"""Classes of one table of notes; a longer one lists ratings or loans."""

CLASS_SHARE: Final = 0.7
"""Share of a column's names that are classes from which its table is one of notes."""

TEST_SHARE: Final = 0.3
"""Share of a column's names that are tests from which its table is one of tests."""

DISTINCT_SHARE: Final = 0.6
"""Share of different texts among a table's names of tests: liens and types of loans come again and again."""

CONTENT_SHARE: Final = 0.6
"""Share of a column's cells from which they tell its role."""

BIG: Final = 20_000.0
"""Figures above it are amounts, neither a test's value nor its limit."""

COLUMNS_LOOKED_AT: Final = 40
"""Columns of a table that may have roles."""

ROWS_LOOKED_AT: Final = 200
"""Rows of a table whose content tells roles."""

_SIDE_WORDS: Final = frozenset((
    "min", "max", "min.", "max.", "minimum", "maximum", ">=", "<=", ">", "<", "≥", "≤", "=>", "=<",
    "at least", "at most", "not less than", "not more than", "floor", "cap", "lower", "upper",
))  # fmt: skip

_LIST_WORDS: Final = re.compile(
    r"\b(?:obligor|asset|security|securities|instrument|facility|identifier|isin|cusip|loan ?x|loan|parent|description|"
    r"trade date|settle(?:ment)? date)\b"
)
"""Words of headings over loans, obligors or trades."""

_STRATA_WORDS: Final = re.compile(r"\b(?:rating|industry|country|region|maturity|type|currency|lien)\b")
_ACCOUNT_WORDS: Final = re.compile(r"\b(?:account|cash)\b")
_MOVEMENT_WORDS: Final = re.compile(r"\b(?:transactions?|payee|debit|counterparty|trade date(?! basis))\b")
"""Words of headings over what moved on accounts."""

_AMOUNT_WORDS: Final = re.compile(r"\b(?:balance|par|principal|amount|exposure|value|notional|face|outstanding)\b")
_SHARE_WORDS: Final = re.compile(r"%|\b(?:percent|percentage|pct|share|concentration)\b")


@dataclass(frozen=True, slots=True)
class Content:
    """How many of a column's cells are what; totals and lone texts left out."""

    filled: int
    """Cells that stand for something."""
    numbers: int
    percents: int
    words: int
    statuses: int
    bounds: int
    """Figures with a bound, or words for a limit's side."""
    sides: int
    """Words for a limit's side alone."""
    big: int
    """Figures above `BIG`."""
    tests: int
    """Texts that are the name of a test."""
    distinct: int
    """Different texts."""

    def is_mostly(self, count: int, share: float = CONTENT_SHARE) -> bool:
        """Whether so many cells are at least a share of those that stand for something."""
        return self.filled > 0 and count >= share * self.filled


def read_blocks(page: Page) -> Blocks:
    """The tables of a page with their kinds and roles, and its lines; rows of tables that are none are lines too."""
    found = cut(page)
    lines: list[PageLine] = []
    for table in found.tables:
        classify(table)
        if table.kind == "lines":
            lines += _as_lines(table)
        elif table.kind == "tests":
            lines += _without_limit(table)
    return Blocks(found.tables, sorted([*found.lines, *lines], key=lambda line: (line.row, line.column)))


def classify(table: PageTable) -> None:
    """Write a table's kind and the columns of its roles into it."""
    contents = {column: _content(table, column) for column in list(table.headers)[:COLUMNS_LOOKED_AT]}
    for kind in (_as_notes, _as_tests, _as_accounts, _as_stratification, _as_list):
        if kind(table, contents):
            return
    names = [column for column, content in contents.items() if content.is_mostly(content.words)]
    table.kind, table.columns = "lines", {"name": names[0]} if names else {}


def _content(table: PageTable, column: int) -> Content:
    cells = [
        cell
        for row in table.rows[:ROWS_LOOKED_AT]
        if len(cells := table.page.row(row)) > 1 and (cell := cells.get(column)) is not None and not cell.is_blank
        and not words.is_total(_first_text(cells))
    ]  # fmt: skip
    texts = [cell.text for cell in cells if cell.is_words]
    sides = sum(text.lower() in _SIDE_WORDS for text in texts)
    return Content(
        filled=len(cells),
        numbers=sum(cell.has_number for cell in cells),
        percents=sum(cell.is_percent for cell in cells),
        words=len(texts),
        statuses=sum(words.status_of(text) is not None for text in texts),
        bounds=sides + sum(cell.bound is not None for cell in cells if cell.has_number),
        sides=sides,
        big=sum(cell.has_number and abs(cell.number) > BIG for cell in cells),
        tests=sum(words.guess("test", text).role is not None for text in texts),
        distinct=len(set(texts)),
    )


def _first_text(cells: dict[int, Cell]) -> str:
    return next((cell.text for cell in cells.values() if cell.is_words), "")


# ---- roles ---------------------------------------------------------------------------------------------------------

_Bonus = Callable[[str, Content], float]
"""What a column's content adds to a role."""


def _assigned(table: PageTable, scored: dict[tuple[str, int], float]) -> dict[str, int]:
    """Role -> column, the most certain pair first; each role and each column once."""
    columns: dict[str, int] = {}
    for (role, column), score in sorted(scored.items(), key=lambda one: (-one[1], one[0][1])):
        if score >= ROLE_SCORE_MIN and role not in columns and column not in columns.values():
            columns[role] = column
    return columns


def _scored(
    table: PageTable, contents: dict[int, Content], group: str, roles: tuple[str, ...], bonus: _Bonus
) -> dict[tuple[str, int], float]:
    """What the words of each column's heading and its content say for each role."""
    found: dict[tuple[str, int], float] = {}
    for column, content in contents.items():
        said = words.scores(group, table.headers[column])
        for role in roles:
            found[role, column] = said.get(role, 0.0) + bonus(role, content)
    return found


# ---- notes ---------------------------------------------------------------------------------------------------------

_NOTE_ROLES: Final = (
    "class", "orig", "bal", "spread", "cpn", "due", "defer", "oct", "ict", "mat", "ccy", "rating", "other",
)  # fmt: skip


def _as_notes(table: PageTable, contents: dict[int, Content]) -> bool:
    column = next((column for column in contents if _lists_classes(table, column)), -1)
    if column < 0 or any(content.is_mostly(content.statuses) for content in contents.values()):
        return False

    def bonus(role: str, content: Content) -> float:
        if role in ("orig", "bal", "due", "defer", "spread", "cpn", "oct", "ict"):
            return 0.0 if content.numbers else -20.0
        return -20.0 if role == "class" else 0.0

    columns = _assigned(table, _scored(table, contents, "column.n", _NOTE_ROLES, bonus))
    if not columns.keys() & {"bal", "orig", "due"}:
        return False
    table.kind, table.columns = "notes", {"class": column} | {
        role: at for role, at in columns.items() if role not in ("other", "rating", "ccy") and at != column
    }  # fmt: skip
    return True


def _lists_classes(table: PageTable, column: int) -> bool:
    """Whether a column has the names of a deal's classes: unique, few, one of them A or X."""
    names = [
        cell.text
        for row in table.rows
        if len(table.page.row(row)) > 1 and (cell := table.page.cell(row, column)).is_words
        and not words.is_total(cell.text)
    ]  # fmt: skip
    classes = [name for name in names if is_class_name(name)]
    if not 0 < len(names) <= NOTES_MAX or len(set(names)) < len(names) or len(classes) < CLASS_SHARE * len(names):
        return False
    if sum(words.guess("test", name).role in ("oc", "ic") for name in names) * 2 > len(names):
        return False
    rated = " rating " in words.normal(table.headers[column])
    return not rated and (are_class_names(names) or any(class_key(name)[:1] in ("A", "X") for name in classes))


# ---- tests ---------------------------------------------------------------------------------------------------------

_TEST_ROLES: Final = (
    "name", "clause", "value", "prior", "num", "den", "limit", "dir", "status", "cushion", "group",
)  # fmt: skip
_FIGURES: Final = frozenset(("value", "prior", "num", "den", "limit", "cushion"))


def _test_bonus(role: str, content: Content) -> float:
    """What a column's content adds to a role of a table of tests."""
    if role == "status":
        return 6.0 if content.is_mostly(content.statuses) else -8.0
    if role == "dir":
        return 8.0 if content.is_mostly(content.sides) else -8.0
    if role == "name":
        if not content.is_mostly(content.words) or content.is_mostly(content.statuses):
            return -12.0
        return 4.0 if content.is_mostly(content.tests, TEST_SHARE) else 0.0
    if role in _FIGURES and not content.numbers:
        return -12.0
    if role in ("value", "limit") and content.is_mostly(content.big, 0.5):
        return -4.0
    if role == "limit":
        return 8.0 if content.is_mostly(content.bounds) else 0.0
    if role == "value" and content.is_mostly(content.bounds):
        return -6.0
    if role == "den" and content.numbers and not content.big:
        return -8.0
    return 0.0


def _as_tests(table: PageTable, contents: dict[int, Content]) -> bool:
    scored = _scored(table, contents, "column.t", _TEST_ROLES, _test_bonus)
    relation = best_relation(table, [column for column, content in contents.items() if content.numbers])
    if relation is not None:
        for role, column, weight in zip(("num", "den", "value"), relation.columns, (6.0, 6.0, 3.5), strict=True):
            scored[role, column] += weight
    columns = _assigned(table, scored)
    name = _wordiest(contents, columns) if "name" not in columns else None
    if name is not None:
        columns["name"] = name
    guessed = False
    if "name" in columns and "status" in columns and not {"value", "limit"} <= columns.keys():
        guessed = _by_comparison(table, contents, columns)
    if not _is_of_tests(table, contents, columns):
        return False
    table.kind, table.columns, table.is_guessed = "tests", columns, guessed
    if relation is not None and relation.columns[2] == columns.get("value"):
        table.by, table.matched = "relation", frozenset(("num", "den", "value"))
    return True


def _wordiest(contents: dict[int, Content], columns: dict[str, int]) -> int | None:
    """The column of most different words that has no role: a flat file repeats the deal and the day."""
    free = [
        (content.tests, content.distinct, -column)
        for column, content in contents.items()
        if column not in columns.values() and content.is_mostly(content.words)
        and not content.is_mostly(content.statuses)
    ]  # fmt: skip
    return -max(free)[2] if free else None


def _is_of_tests(table: PageTable, contents: dict[int, Content], columns: dict[str, int]) -> bool:
    """Whether the roles make a table of tests: a name and two of value, limit and status, and names that are tests."""
    if "name" not in columns or len(columns.keys() & {"value", "limit", "status"}) < 2:
        return False
    names = contents[columns["name"]]
    if names.distinct < DISTINCT_SHARE * names.words or ("limit" not in columns and _is_of_loans(table)):
        return False
    if names.is_mostly(names.tests, TEST_SHARE):
        return True
    has_status = "status" in columns and "limit" in columns
    return has_status and names.tests > 0


def _by_comparison(table: PageTable, contents: dict[int, Content], columns: dict[str, int]) -> bool:
    """Find value and limit as the two columns whose comparison gives the printed status; whether two pairs fit."""
    free = [
        column for column, content in contents.items()
        if content.numbers and not content.big
        and (column not in columns.values() or column in (columns.get("value"), columns.get("limit")))
    ]  # fmt: skip
    pairs = [
        (value, limit)
        for value in free for limit in free
        if value != limit and columns.get("value", value) == value and columns.get("limit", limit) == limit
        and _gives_status(table, columns, value, limit)
    ]  # fmt: skip
    if not pairs:
        return False
    columns["value"], columns["limit"] = min(pairs)
    return len(pairs) > 1


COMPARISON_SHARE: Final = 0.9
"""Share of rows whose status a comparison of two columns must give."""

COMPARISON_ROWS: Final = 3
"""Rows that it must be found in."""


def _gives_status(table: PageTable, columns: dict[str, int], value: int, limit: int) -> bool:
    right, tried = 0, 0
    for row in table.rows[:ROWS_LOOKED_AT]:
        figure, bound = table.page.cell(row, value), table.page.cell(row, limit)
        status = words.status_of(table.page.cell(row, columns["status"]).text)
        measure = words.guess("test", table.page.cell(row, columns["name"]).text).role
        if not (figure.has_number and bound.has_number) or status is None or measure is None:
            continue
        side = bound.bound or words.direction_of(measure)
        passes = figure.number >= bound.number if side == "min" else figure.number <= bound.number
        tried += 1
        right += passes == (status == "pass")
    return tried >= COMPARISON_ROWS and right >= COMPARISON_SHARE * tried


# ---- accounts, stratifications, lists ------------------------------------------------------------------------------


def _as_accounts(table: PageTable, contents: dict[int, Content]) -> bool:
    said = words.normal(f"{table.title} . {' . '.join(table.headers.values())}")
    if _ACCOUNT_WORDS.search(said) is None:
        return False
    figures = [column for column, content in contents.items() if content.numbers]
    names = {
        column: words.scores("column.a", table.headers[column]).get("name", 0.0)
        for column, content in contents.items() if content.is_mostly(content.words)
    }  # fmt: skip
    if not figures or not names:
        return False
    name = max(names, key=lambda column: (names[column], -column))
    in_heading = _ACCOUNT_WORDS.search(words.normal(table.headers[name])) is not None
    if _MOVEMENT_WORDS.search(said) is not None or (_is_of_loans(table) and not in_heading):
        return False
    named = sum(
        words.guess("account", table.page.cell(row, name).text).role is not None for row in table.rows[:ROWS_LOOKED_AT]
    )
    if not in_heading and named < CONTENT_SHARE * contents[name].filled:
        return False
    table.kind, table.columns = "accounts", {"name": name}
    return True


def _is_of_loans(table: PageTable) -> bool:
    """Whether headings speak of loans or trades."""
    return sum(_LIST_WORDS.search(words.normal(text)) is not None for text in table.headers.values()) >= 2


def _as_stratification(table: PageTable, contents: dict[int, Content]) -> bool:
    names = [column for column, content in contents.items() if content.is_mostly(content.words)]
    if not names or _is_of_loans(table):
        return False
    name = names[0]
    texts = [cell.text for row in table.rows if (cell := table.page.cell(row, name)).is_words]
    are_ratings = sum(map(words.is_rating_label, texts)) >= CONTENT_SHARE * len(texts)
    said = words.normal(table.headers[name])
    if not are_ratings and (_STRATA_WORDS.search(said) is None or " obligor " in said):
        return False
    columns = _amount_and_share(table, contents)
    if "amount" not in columns:
        return False
    table.kind, table.columns = "stratification", {"name": name} | columns
    return True


def _as_list(table: PageTable, contents: dict[int, Content]) -> bool:
    named = any(_LIST_WORDS.search(words.normal(text)) is not None for text in table.headers.values())
    if not named and words.guess("page", table.title).role is None:
        return False
    names = {
        column: len(_LIST_WORDS.findall(words.normal(table.headers[column]))) + content.distinct / 1_000
        for column, content in contents.items() if content.is_mostly(content.words)
    }  # fmt: skip
    columns = _amount_and_share(table, contents)
    if len(table.headers) < 3 and not columns:
        return False
    obligor = [column for column in names if " obligor " in words.normal(table.headers[column])]
    if names:
        columns["name"] = obligor[0] if obligor else max(names, key=lambda column: names[column])
    table.kind, table.columns = "list", columns
    return True


def _amount_and_share(table: PageTable, contents: dict[int, Content]) -> dict[str, int]:
    """The columns of par and of its share, by heading and content."""
    columns: dict[str, int] = {}
    for column, content in contents.items():
        said = words.normal(table.headers[column])
        if not content.is_mostly(content.numbers):
            continue
        is_share = _SHARE_WORDS.search(said) is not None or content.is_mostly(content.percents)
        if is_share and not content.big:
            columns.setdefault("share", column)
        elif _AMOUNT_WORDS.search(said) is not None and not is_share:
            best = columns.get("amount")
            if best is None or _amount_rank(said, content) > _amount_rank(
                words.normal(table.headers[best]), contents[best]
            ):
                columns["amount"] = column
    return columns


def _amount_rank(said: str, content: Content) -> int:
    """How surely a column has par: large figures first, a balance before an amount, market and carrying values last."""
    return 3 * content.is_mostly(content.big, 0.5) + _word_rank(said)


def _word_rank(said: str) -> int:
    if re.search(r"\b(?:market|carrying|excess|price|interest|unfunded)\b", said):
        return 0
    return 2 if re.search(r"\b(?:principal|par|balance)\b", said) else 1


# ---- lines of tables -----------------------------------------------------------------------------------------------


def _as_lines(table: PageTable) -> list[PageLine]:
    return lines_of(table.page, table.rows, table.title, table.columns.get("name"))


def _without_limit(table: PageTable) -> Iterator[PageLine]:
    """The rows of a table of tests with neither a limit nor a status: balances that stand below them."""
    rows = [row for row in table.rows if not has_limit(table, row) and table.cell(row, "value").has_number]
    if rows:
        cut_page = table.page.cut((table.columns["name"], table.columns["value"]))
        yield from lines_of(cut_page, rows, table.title, table.columns["name"])


def has_limit(table: PageTable, row: int) -> bool:
    """Whether a row of a table of tests has a limit or a status."""
    return table.cell(row, "limit").has_number or words.status_of(table.cell(row, "status").text) is not None
