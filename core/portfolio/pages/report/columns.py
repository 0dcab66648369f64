"""What the columns of a table have, and the roles by headings and content."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from core.portfolio.pages.report import words
from core.portfolio.pages.report.blocks import PageTable
from core.portfolio.pages.report.page import PageCell
from core.portfolio.pages.report.subjects import coverage_of, is_test_name

ROLE_SCORE_MIN: Final = 2.0
"""Weight from which a column has a role."""

CONTENT_SHARE: Final = 0.6
"""Share of a column's cells from which they tell its role."""

BIG: Final = 20_000.0
"""Figures above it are amounts, neither a test's value nor its limit."""

NAMES_LOOKED_AT: Final = 40
"""Texts of a column whose words are looked at for tests."""

ROWS_LOOKED_AT: Final = 200
"""Rows of a table whose content tells roles."""

_SIDE_WORDS: Final = frozenset((
    "min", "max", "min.", "max.", "minimum", "maximum", ">=", "<=", ">", "<", "≥", "≤", "=>", "=<",
    "at least", "at most", "not less than", "not more than", "floor", "cap", "lower", "upper",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ColumnContent:
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
        """Return whether so many cells are a share of those that are filled."""
        return self.filled > 0 and count >= share * self.filled


def contents_of(table: PageTable, columns: Iterable[int]) -> dict[int, ColumnContent]:
    """Return what some columns hold, totals and lone texts left out."""
    rows = [cells for row in table.rows[:ROWS_LOOKED_AT] if len(cells := table.page.row(row)) > 1]
    rows = [cells for cells in rows if not words.is_total(first_text(cells))]
    context = context_of(table)
    return {column: _content([cells[column] for cells in rows if column in cells], context) for column in columns}


def _content(page_cells: list[PageCell], context: str) -> ColumnContent:
    """Return what some cells are."""
    cells = [cell for cell in page_cells if not cell.is_blank]
    texts = [cell.text for cell in cells if cell.is_words]
    figures = [cell for cell in cells if cell.has_number]
    sides = sum(text.lower() in _SIDE_WORDS for text in texts)
    return ColumnContent(
        filled=len(cells),
        numbers=len(figures),
        percents=sum(cell.is_percent for cell in cells),
        words=len(texts),
        statuses=sum(words.status_of(text) is not None for text in texts),
        bounds=sides + sum(cell.bound is not None for cell in figures),
        sides=sides,
        big=sum(abs(cell.number) > BIG for cell in figures),
        tests=_tests_among(texts, context),
        distinct=len(set(texts)),
    )


def _tests_among(texts: list[str], context: str) -> int:
    """Return how many of a column's texts are names of tests, by the first of them."""
    sample = texts[:NAMES_LOOKED_AT]
    return round(sum(is_test_name(text, context) for text in sample) * len(texts) / max(1, len(sample)))


def context_of(table: PageTable) -> str:
    """Return what stands over a table's names: title, sheet and headings."""
    sheet = "" if coverage_of(table.title) is not None else table.page.sheet.name
    return " . ".join((table.title, sheet, *table.headers.values()))


def first_text(cells: dict[int, PageCell]) -> str:
    """Return the first words of a row."""
    for cell in cells.values():
        if cell.is_words:
            return cell.text
    return ""


Bonus = Callable[[str, ColumnContent], float]
"""What a column's content adds to a role."""


def assign_roles(weights: dict[tuple[str, int], float]) -> dict[str, int]:
    """Assign roles to columns, the most certain pair first, each once."""
    columns: dict[str, int] = {}
    for (role, column), score in sorted(weights.items(), key=lambda entry: (-entry[1], entry[0][1])):
        if score >= ROLE_SCORE_MIN and role not in columns and column not in columns.values():
            columns[role] = column
    return columns


def score_columns(
    table: PageTable, contents: dict[int, ColumnContent], group: str, roles: tuple[str, ...], bonus: Bonus
) -> dict[tuple[str, int], float]:
    """Score each role by the words and the content of each column."""
    weights: dict[tuple[str, int], float] = {}
    for column, content in contents.items():
        by_words = words.scores(group, table.headers[column])
        for role in roles:
            weights[role, column] = by_words.get(role, 0.0) + bonus(role, content)
    return weights
