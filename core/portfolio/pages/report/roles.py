"""The roles of the columns of a table of tests: name, value, limit and so on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from core.portfolio.model.classes import class_keys
from core.portfolio.model.facts import Status
from core.portfolio.pages.report import words
from core.portfolio.pages.report.blocks import PageTable
from core.portfolio.pages.report.columns import (
    BIG,
    ROLE_SCORE_MIN,
    ROWS_LOOKED_AT,
    ColumnContent,
    assign_roles,
    score_columns,
)
from core.portfolio.pages.report.lines import earlier_by_days
from core.portfolio.pages.report.page import PageCell
from core.portfolio.pages.report.relation import best_relation
from core.portfolio.pages.report.subjects import Side, is_bare_class, is_test_name

TEST_SHARE: Final = 0.3
"""Share of a column's names that are tests from which its table is one of tests."""

DATED: Final = 4.0
"""Weight that days in headings give to the latest column as the value, to others as one of the past."""

OF_THE_PAST: Final = 6.0
"""Weight that a column of outcomes loses by the words for the month before."""

DISTINCT_SHARE: Final = 0.6
"""Share of different texts among a table's names of tests: liens and types of loans come again and again."""

LIST_WORDS: Final = re.compile(
    r"\b(?:obligor|asset|security|securities|instrument|facility|identifier|isin|cusip|loan ?x|loan|parent|description|"
    r"trade date|settle(?:ment)? date)\b"
)
"""Words of headings over loans, obligors or trades."""

_TEST_ROLES: Final = (
    "name", "clause", "value", "prior", "num", "den", "limit", "dir", "status", "cushion", "group",
)  # fmt: skip
_OF_THE_DAY: Final = ("value", "num", "den", "limit", "cushion")
_FIGURES: Final = frozenset((*_OF_THE_DAY, "prior"))


def _test_bonus(role: str, content: ColumnContent) -> float:
    """Return what a column's content adds to a role of a table of tests."""
    if role == "status":
        return 6.0 if content.is_mostly(content.statuses) else 0.0 if _has_outcomes(content) else -8.0
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
        return -4.0  # in millions, it is small
    return 0.0


def _weigh_days(
    table: PageTable, contents: dict[int, ColumnContent], weights: dict[tuple[str, int], float]
) -> frozenset[int]:
    """Weigh columns by days in their headings, and return the earlier ones."""
    earlier = earlier_by_days({column: PageCell(table.headers[column]) for column in contents})
    for column in contents if earlier else ():
        for role in (*_OF_THE_DAY, "status"):
            weights[role, column] -= DATED if column in earlier else 0.0
        if contents[column].numbers:
            weights["prior" if column in earlier else "value", column] += DATED
    for column in contents:
        if "prior" in words.scores("column.t", table.headers[column]):
            weights["status", column] -= OF_THE_PAST
    return earlier


def _has_outcomes(content: ColumnContent) -> bool:
    """Return whether some of a column's words are outcomes, others unknown."""
    return content.is_mostly(content.words) and content.is_mostly(content.statuses, TEST_SHARE)


def as_tests(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    """Write the roles into a table of tests; False where it is none."""
    weights = score_columns(table, contents, "column.t", _TEST_ROLES, _test_bonus)
    earlier = _weigh_days(table, contents, weights)
    figures = [
        column
        for column, content in contents.items()
        if content.numbers and column not in earlier and "prior" not in words.scores("column.t", table.headers[column])
    ]
    relation = best_relation(table, figures) if _may_be_tests(table, contents) else None
    if relation is not None:
        for role, column, weight in zip(("num", "den", "value"), relation.columns, (6.0, 6.0, 3.5), strict=True):
            weights[role, column] += weight
    columns = assign_roles(weights)
    name = _wordiest(contents, columns) if "name" not in columns else None
    if name is not None:
        columns["name"] = name
    classes = _class_column(table, contents, columns)
    if classes is not None:
        columns["class"] = classes
    guessed = False
    if "name" in columns and "status" in columns and not {"value", "limit"} <= columns.keys():
        guessed = _by_comparison(table, contents, columns)
    guessed |= relation is None and _has_rival(contents, columns, weights)
    if not _is_of_tests(table, contents, columns):
        return False
    _choose_outcomes(table, contents, columns)
    second = _second_limit(table, contents, columns)
    if second is not None:
        columns["limit2"] = second
    guessed |= _has_rival_limit(table, contents, columns, weights)
    table.kind, table.columns, table.is_guessed = "tests", columns, guessed
    if relation is not None and relation.columns[2] == columns.get("value"):
        table.by, table.matched = "relation", frozenset(("num", "den", "value"))
    return True


def _class_column(table: PageTable, contents: dict[int, ColumnContent], columns: dict[str, int]) -> int | None:
    """Return a column of the classes of coverage tests beside that of their names."""
    for column in contents:
        texts = [cell.text for row in table.rows if (cell := table.page.cell(row, column)).is_words]
        named = " class " in words.normal(table.headers[column]) and column != columns.get("name")
        if named and texts and all(map(is_bare_class, texts)):
            return column
    return None


def test_name(table: PageTable, row: int) -> str:
    """Return a test's name, with the class of its own column or the row above."""
    name = table.cell(row, "name").text
    if "class" not in table.columns or not name or class_keys(name):
        return name
    above = (text for at in reversed(table.rows) if at <= row and (text := table.cell(at, "class").text))
    text = next(above, "")
    return f"{name} {text if 'lass' in text else f'Class {text}'}" if text else name


def _has_rival(
    contents: dict[int, ColumnContent], columns: dict[str, int], weights: dict[tuple[str, int], float]
) -> bool:
    """Return whether another column could be the value or the only outcome."""
    role = "value" if "value" in columns else "status"
    place = columns.get(role)
    return place is not None and any(
        column not in columns.values()
        and content.is_mostly(content.numbers if role == "value" else content.statuses)
        and weights[role, column] >= max(ROLE_SCORE_MIN, weights[role, place])
        for column, content in contents.items()
    )


def _has_rival_limit(
    table: PageTable,
    contents: dict[int, ColumnContent],
    columns: dict[str, int],
    weights: dict[tuple[str, int], float],
) -> bool:
    """Return whether a column without a role could be the limit by its heading."""
    limit = columns.get("limit")
    return limit is not None and any(
        column not in columns.values()
        and content.is_mostly(content.numbers)
        and not content.big
        and is_limit(table.headers[column])
        and weights["limit", column] >= weights["limit", limit]
        and differ(table, column, limit)
        for column, content in contents.items()
    )


SCALES: Final = (0.01, 1.0, 100.0)
"""What a figure is multiplied by where it is printed again in another unit."""


def differ(table: PageTable, first: int, second: int) -> bool:
    """Return whether two columns have different figures in a row, in whatever unit."""
    pairs = ((table.page.cell(row, first).number, table.page.cell(row, second).number) for row in table.rows)
    apart = [min(abs(upper - scale * lower) for scale in SCALES) for upper, lower in pairs]
    return any(difference > DIFFERENCE_MIN for difference in apart)


DIFFERENCE_MIN: Final = 1e-4
"""Points by which two limits of a row are different."""


def _may_be_tests(table: PageTable, contents: dict[int, ColumnContent]) -> bool:
    """Return whether a column names tests and no heading is over loans.

    Only then are ratios tried.
    """
    has_limit = any(is_limit(table.headers[column]) for column in contents)
    has_names = any(content.is_mostly(content.tests, TEST_SHARE) for content in contents.values())
    return (has_limit or has_names) and (has_limit or not is_of_loans(table))


def _second_limit(table: PageTable, contents: dict[int, ColumnContent], columns: dict[str, int]) -> int | None:
    """Return a second column of limits: minima and maxima, or no row has both."""
    first = columns.get("limit")
    if first is None:
        return None
    for column, content in contents.items():
        if column in columns.values() or not content.numbers or not is_limit(table.headers[column]):
            continue
        sides = {side_of(table.headers[at]) for at in (first, column)}
        if sides == {"min", "max"} or not any(
            table.page.cell(row, column).has_number and table.page.cell(row, first).has_number for row in table.rows
        ):
            return column
    return None


def _wordiest(contents: dict[int, ColumnContent], columns: dict[str, int]) -> int | None:
    """Return the column of most different words without a role.

    A flat file repeats the deal and the day.
    """
    free = [
        (content.tests, content.distinct, -column)
        for column, content in contents.items()
        if column not in columns.values()
        and content.is_mostly(content.words)
        and not content.is_mostly(content.statuses)
    ]
    return -max(free)[2] if free else None


def _is_of_tests(table: PageTable, contents: dict[int, ColumnContent], columns: dict[str, int]) -> bool:
    """Return whether the roles make a table of tests.

    Names that are tests, and two of value, limit and status; figures of two dates are read as these are. Where most
    names are tests, outcomes alone are enough.
    """
    is_judged = len(columns.keys() & {"value", "limit", "status"}) >= 2
    if "name" not in columns:
        return False
    names = contents[columns["name"]]
    has_amounts = any(content.big for content in contents.values())
    has_outcomes = names.is_mostly(names.tests) and not has_amounts and _are_outcomes(table, columns.get("status"))
    if not (is_judged or has_outcomes or {"value", "prior"} <= columns.keys()):
        return False
    if _distinct(replace(table, columns=columns)) < DISTINCT_SHARE or ("limit" not in columns and is_of_loans(table)):
        return False
    if names.is_mostly(names.tests, TEST_SHARE):
        return True
    has_status = "status" in columns and "limit" in columns
    return has_status and names.tests > 0 and not is_of_loans(table)


def _are_outcomes(table: PageTable, column: int | None) -> bool:
    """Return whether a column has outcomes: of yes and no, its heading says so."""
    if column is None:
        return False
    texts = {cell.text.strip(" .").lower() for row in table.rows if (cell := table.page.cell(row, column)).is_words}
    heading = words.normal(table.headers[column])
    return not texts <= _ANSWERS or any(pattern.search(heading) for pattern in (_BREACH, _COMPLIANCE))


def _distinct(table: PageTable) -> float:
    """Return the share of different names; one in two sections is two."""
    named = [
        (table.sections.get(row, ""), test_name(table, row))
        for row in table.rows[:ROWS_LOOKED_AT]
        if table.cell(row, "name").is_words
        and len(table.page.row(row)) > 1
        and not is_limit_label(table.cell(row, "name").text)
    ]
    return len(set(named)) / max(1, len(named))


def _by_comparison(table: PageTable, contents: dict[int, ColumnContent], columns: dict[str, int]) -> bool:
    """Find value and limit as the columns that give the printed status.

    Says whether two pairs fit.
    """
    free = [
        column
        for column, content in contents.items()
        if content.numbers
        and not content.is_mostly(content.big, 0.5)
        and (column not in columns.values() or column in (columns.get("value"), columns.get("limit")))
    ]
    pairs = [
        (value, limit)
        for value in free
        for limit in free
        if value != limit
        and columns.get("value", value) == value
        and columns.get("limit", limit) == limit
        and _gives_status(table, columns, value, limit)
    ]
    if not pairs:
        return False
    columns["value"], columns["limit"] = min(pairs)
    return len(pairs) > 1


def _choose_outcomes(table: PageTable, contents: dict[int, ColumnContent], columns: dict[str, int]) -> None:
    """Take of several columns of outcomes the one with which most comparisons agree."""
    statuses = [column for column, content in contents.items() if content.is_mostly(content.statuses)]
    if len(statuses) < 2 or not {"value", "limit", "status"} <= columns.keys():
        return

    def agreement(column: int) -> tuple[int, bool]:
        candidate = replace(table, columns=columns | {"status": column})
        return _agreeing(candidate, columns["value"], columns["limit"])[0], column == columns["status"]

    columns["status"] = max(statuses, key=agreement)


COMPARISON_SHARE: Final = 0.9
"""Share of rows whose status a comparison of two columns must give."""

COMPARISON_ROWS: Final = 3
"""Rows that it must be found in."""


def _gives_status(table: PageTable, columns: dict[str, int], value: int, limit: int) -> bool:
    right, tried = _agreeing(replace(table, columns=columns), value, limit)
    return tried >= COMPARISON_ROWS and right >= COMPARISON_SHARE * tried


def _agreeing(candidate: PageTable, value: int, limit: int) -> tuple[int, int]:
    """Return how many rows' outcomes are those of a comparison, and of how many."""
    table, right, tried = candidate, 0, 0
    for row in table.rows[:ROWS_LOOKED_AT]:
        figure, bound = table.page.cell(row, value), table.page.cell(row, limit)
        status = status_at(candidate, row)
        measure = words.guess("test", table.cell(row, "name").text).role
        if not (figure.has_number and bound.has_number) or status is None or measure is None:
            continue
        side = bound.bound or words.direction_of(measure)
        passes = figure.number >= bound.number if side == "min" else figure.number <= bound.number
        tried += 1
        right += passes == (status == "pass")
    return right, tried


def is_limit(heading: str) -> bool:
    """Return whether a heading is that of limits."""
    return words.guess("column.t", heading).role == "limit"


LIMIT_WORDS_MAX: Final = 4
"""Words of a label that says no more than that its figure is a limit."""


def is_limit_label(text: str) -> bool:
    """Return whether a label says that its figure is the limit of the test above."""
    is_short = len(text.split()) <= LIMIT_WORDS_MAX and not class_keys(text)
    return is_short and is_limit(text) and not is_test_name(text, "")


def is_of_loans(table: PageTable) -> bool:
    """Return whether headings speak of loans or trades."""
    return sum(LIST_WORDS.search(words.normal(text)) is not None for text in table.headers.values()) >= 2


_LEAST: Final = re.compile(
    r"\b(?:min(?:imum)?|at least|not less than|floor|(?<!or )(?<!and )lower)\b|>|≥", re.IGNORECASE
)
_MOST: Final = re.compile(r"\b(?:max(?:imum)?|at most|not (?:more|greater) than|cap|upper)\b|<|≤", re.IGNORECASE)


def side_of(text: str) -> Side | None:
    """Return the side of a limit that words say; None for neither or both."""
    least, most = _LEAST.search(text) is not None, _MOST.search(text) is not None
    return None if least == most else "min" if least else "max"


def limit_role(table: PageTable, row: int) -> str:
    """Return which column has a test row's limit.

    Of a minimum and a maximum the one on the measure's own side counts.
    """
    filled = [role for role in ("limit", "limit2") if table.cell(row, role).has_number]
    if len(filled) == 1:
        return filled[0]
    measure = words.guess("test", table.cell(row, "name").text).role
    own = None if measure is None else words.direction_of(measure)
    return next((role for role in filled if side_of(table.headers[table.columns[role]]) == own), "limit")


def limit_of(table: PageTable, row: int) -> PageCell:
    """Return a test row's limit."""
    return table.cell(row, limit_role(table, row))


def has_limit(table: PageTable, row: int) -> bool:
    """Return whether a row of a table of tests has a limit or a status."""
    return limit_of(table, row).has_number or status_at(table, row) is not None


_BREACH: Final = re.compile(r"\b(?:breach\w*|exceptions?|violat\w+|failed|failures?|non compliant|out of compliance)\b")
_COMPLIANCE: Final = re.compile(r"\b(?:pass\w*|in compliance|complian\w+|met|satisfied)\b")
_ANSWERS: Final = frozenset(("y", "yes", "true", "n", "no", "false"))


def status_at(table: PageTable, row: int) -> Status | None:
    """Return what a test row says of the outcome: under "Breach" yes is a fail."""
    text = table.cell(row, "status").text
    status = words.status_of(text)
    if status is None or text.strip(" .").lower() not in _ANSWERS:
        return status
    heading = words.normal(table.headers.get(table.columns["status"], ""))
    if _BREACH.search(heading) is None or _COMPLIANCE.search(_BREACH.sub(" ", heading)) is not None:
        return status
    return "pass" if status == "fail" else "fail"


def rows_behind(table: PageTable) -> list[int]:
    """Return the rows behind a table's last test that print amounts.

    These are lines of a calculation that stands below the tests, under the same columns.
    """
    ends = [
        at
        for at, row in enumerate(table.rows)
        if table.cell(row, "value").has_number or status_at(table, row) is not None
    ]
    behind = table.rows[ends[-1] + 1 :] if ends else []
    has_amounts = any(
        abs(table.cell(row, "limit").number) > BIG for row in behind if table.cell(row, "limit").has_number
    )
    return behind if has_amounts else []
