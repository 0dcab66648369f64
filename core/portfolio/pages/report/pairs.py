"""Cells with two figures, "129.49% / 121.50%", as two columns."""

from __future__ import annotations

import re
from copy import copy
from typing import Final, Literal

from core.portfolio.pages.report.page import NAN, PageCell, ReportPage, decimals_of_text

FIGURE: Final = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![.,]?\d)(?:\s?(?:%|x\b|years?\b))?"
"""A figure as text; where a comma may be a decimal one, it is none."""

_SIDES: Final[dict[str, Literal["min", "max"]]] = {">": "min", "≥": "min", "<": "max", "≤": "max"}
_APART: Final = re.compile(
    r"\s*(?:/|\||\bvs?\b\.?|\bversus\b|\bagainst\b|(?P<sign>[<>≤≥])=?)\s*|\s*[(\[]", re.IGNORECASE
)
_FIGURE: Final = re.compile(rf"\s*(?P<figure>{FIGURE})\s*[)\]]?\s*", re.IGNORECASE)
_TELLING: Final = re.compile(r"\d\.\d|[%x]")
"""What a date or a count does not have."""


def parse_figure(text: str) -> PageCell:
    """Return the cell of a figure that matches `FIGURE`."""
    digits = re.sub(r"[^\d.+-]", "", text)
    return PageCell(text, float(digits), "%" in text, NAN, decimals_of_text(digits, decimal_comma=False))


def split_pairs(page: ReportPage) -> ReportPage:
    """Return a page with a column of its own for the second figure of pairs."""
    pairs = {
        (row, column): pair
        for row, column, text in page.texts()
        if not page.cell(row, column).has_number and (pair := _pair_of(text)) is not None
    }
    columns = {column for (row, column), pair in pairs.items() if all(_TELLING.search(cell.text) for cell in pair)}
    return SplitPage(page, columns, pairs) if columns else page


def _pair_of(text: str) -> tuple[PageCell, PageCell] | None:
    """Return the two figures of a text that has nothing else."""
    between = _APART.search(text, 1)
    if between is None:
        return None
    matches = [_FIGURE.fullmatch(part) for part in (text[: between.start()], text[between.end() :])]
    first, second = (None if match is None else parse_figure(match["figure"]) for match in matches)
    if first is None or second is None:
        return None
    return first, second._replace(bound=_SIDES.get(between["sign"] or ""))


class SplitPage(ReportPage):
    """A page in which columns with two figures a cell are two columns."""

    def __init__(
        self, page: ReportPage, columns: set[int], pairs: dict[tuple[int, int], tuple[PageCell, PageCell]]
    ) -> None:
        """Split some columns of a page; words above the pairs are split too."""
        self.__dict__.update(copy(page).__dict__)
        self._page = page
        first_rows = {column: min(row for row, at in pairs if at == column) for column in columns}
        self._cells = {}
        for row in page.rows:
            cells: dict[int, PageCell] = {}
            for column, cell in page.row(row).items():
                at = self._at(column, columns)
                cells[at] = cell
                if column not in columns:
                    continue
                if (row, column) in pairs:
                    cells[at], cells[at + 1] = pairs[row, column]
                elif row < first_rows[column] and cell.is_words and len(page.row(row)) > 1:
                    cells[at], cells[at + 1] = _split_words(cell)
            self._cells[row] = cells
        width = page.sheet.column_count
        self._columns = [column for column in range(width) for _ in range(1 + (column in columns))]

    @staticmethod
    def _at(column: int, columns: set[int]) -> int:
        return column + sum(split < column for split in columns)

    def place(self, row: int, column: int) -> str:
        """Return where a cell stands on the page, with the sheet's name."""
        return self._page.place(row, self._columns[column])

    def range_place(self, rows: tuple[int, int], columns: tuple[int, int]) -> str:
        """Return where the first to the last cell stand on the page."""
        return self._page.range_place(rows, (self._columns[columns[0]], self._columns[columns[1]]))


def _split_words(cell: PageCell) -> tuple[PageCell, PageCell]:
    """Return the words over each figure of a pair, all where they are none."""
    between = _APART.search(cell.text, 1)
    if between is None:
        return cell, cell
    first, second = cell.text[: between.start()], cell.text[between.end() :].rstrip(" )]")
    return PageCell(first), PageCell(second)
