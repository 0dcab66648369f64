"""Printed totals against the sums of their rows.

What does not add up is remarked, with page and line.

A total adds the rows since a total, a heading or the start of the table. Which of them, the columns decide that tie.
A column is added up where most of its totals tie, or where its heading names an amount and the total is near the sum.
A row that is called a total and ties in no column adds all rows above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.sheet import ReadingRemark, Sheet
from core.values import Kind

TOTALS_BACK: Final = 30
"""Totals before a total that may begin its rows,"""
HEADINGS_BACK: Final = 8
"""and headings."""
NEAR: Final = 0.25
"""Of a printed total, how far the sum of its rows may be from it to be meant by it."""
CERTAIN: Final = 20.0
"""Times what rounding may differ: a smaller total ties by chance."""
ROWS_MIN: Final = 3
"""Rows of a column that no other total shows to be added up."""
BARE_SHARE: Final = 0.6
"""Of the rows of figures alone, how many must tie for all of them to be totals."""

_LABEL: Final = re.compile(r"^\W*(?:grand |net |sub-? ?)?totals?\b|\b(?:sub-?)?totals?\W*$", re.IGNORECASE)
_LABEL_ALONE: Final = re.compile(r"\W*(?:grand |net |sub-? ?)?totals?\W*", re.IGNORECASE)
_LABEL_FIRST: Final = re.compile(r"\W*(?:grand |net |sub-? ?)?totals?\b", re.IGNORECASE)
_PART: Final = re.compile(r"\W*(?:less|minus|deduct\w*|of which|thereof|including|excluding)\b", re.IGNORECASE)
"""A row that a total takes away, or that is a part of another row."""
_AMOUNT: Final = re.compile(
    r"amount|balance|\bpar\b|cost|value|principal|commitment|outstanding|notional", re.IGNORECASE
)
_NO_AMOUNT: Final = re.compile(r"price|rate|%|average|spread|yield|ratio|factor", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]


@dataclass(slots=True)
class _Figures:
    """The figures of a sheet, by row and column."""

    sheet: Sheet
    codes: Sequence[str]
    numbers: _Floats
    """NaN where there is none."""
    formats: NDArray[np.uint16]
    halves: _Floats
    """Half a unit of the last printed digit."""
    texts: list[list[str]]
    """Texts with letters, of each row."""

    @property
    def rows(self) -> int:
        return len(self.texts)


@dataclass(slots=True)
class _Sum:
    """A total with the rows that it adds."""

    row: int
    first: int
    last: int
    """One past its last row."""
    counts: NDArray[np.int64]
    """Figures that it adds, by column."""
    sums: _Floats
    ties: _Flags
    """By column: the printed total is the sum, which is no chance."""
    ties_somehow: _Flags
    """By column: it is the sum of some rows that it could add."""


def total_remarks(sheets: Iterable[Sheet], codes: Sequence[str]) -> list[ReadingRemark]:
    """Return a remark for each printed total that its rows do not make.

    `codes` are the number formats.
    """
    remarks: list[ReadingRemark] = []
    for sheet in sheets:
        figures = _figures(sheet, codes)
        labelled, bare = _candidates(figures)
        if labelled or bare:
            remarks += _differences(figures, _totals(figures, labelled, bare))
    return remarks


def tied_totals(sheet: Sheet, codes: Sequence[str]) -> tuple[int, int]:
    """Return how many rows called totals tie in some column, and how many in none.

    `codes` are the number formats.
    """
    figures = _figures(sheet, codes)
    called = {row for row, texts in enumerate(figures.texts) if len(texts) <= 2 and any(map(_LABEL.search, texts))}
    called = {row for row in called if _has_digit(sheet, row)}
    sums = _sums(figures, called & set(np.flatnonzero(~np.isnan(figures.numbers).all(axis=1)).tolist()))
    tied = sum(bool((each.ties & (each.counts > 1)).any()) for each in sums)
    return tied, len(called) - tied


def _has_digit(sheet: Sheet, row: int) -> bool:
    values = [sheet.value(row, column) for column in range(sheet.column_count)]
    return any(isinstance(value, float) or (isinstance(value, str) and _DIGIT.search(value)) for value in values)


def _figures(sheet: Sheet, codes: Sequence[str]) -> _Figures:
    shape = sheet.row_count, sheet.column_count
    numbers, formats = np.full(shape, np.nan), np.zeros(shape, np.uint16)
    texts: list[list[str]] = [[] for _ in range(sheet.row_count)]
    for column, stored in enumerate(sheet.columns):
        if stored is None:
            continue
        cells = stored.span(0, sheet.row_count)
        are_numbers = cells.kinds == Kind.NUMBER
        numbers[are_numbers, column] = cells.numbers[are_numbers]
        formats[:, column] = cells.formats
        for row in np.flatnonzero(cells.kinds == Kind.TEXT).tolist():
            text = sheet.text[int(cells.codes[row])]
            if _LETTER.search(text):
                texts[row].append(text)
    halves = np.array([_half_unit(code) for code in codes])[formats] if len(codes) else np.zeros(shape)
    return _Figures(sheet, codes, numbers, formats, halves, texts)


def _half_unit(code: str) -> float:
    """Return half a unit of the last digit that a number format prints."""
    decimals = code.partition(";")[0].partition(".")[2].count("0")
    return float(0.5 * 10.0**-decimals / (100.0 if "%" in code else 1.0))


def _candidates(figures: _Figures) -> tuple[set[int], set[int]]:
    """Return the rows that are called totals, and those of figures alone.

    The latter not where most rows are such.
    """
    filled = ~np.isnan(figures.numbers)
    rows = np.flatnonzero(filled.any(axis=1)).tolist()
    labelled = {row for row in rows if 0 < len(figures.texts[row]) <= 2 and any(map(_LABEL.search, figures.texts[row]))}
    bare = {row for row in rows if not figures.texts[row]}
    return labelled, bare if len(bare) * 3 < len(rows) else set()


def _totals(figures: _Figures, labelled: set[int], bare: set[int]) -> list[_Sum]:
    """Return the totals; rows that only look like one are rows that totals add."""
    sums = _sums(figures, labelled | bare)
    tied = {each.row for each in sums if each.ties.any()}
    if bare and len(bare & tied) < BARE_SHARE * len(bare):
        sums = _sums(figures, labelled)
        tied = {each.row for each in sums if each.ties.any()}
    for fewer in (tied, {row for row in labelled if any(map(_LABEL_ALONE.fullmatch, figures.texts[row]))}):
        others = _sums(figures, fewer)
        if _count_ties(others) > _count_ties(each for each in sums if each.row in fewer):
            return others
    return sums


def _count_ties(sums: Iterable[_Sum]) -> int:
    return sum(int(each.ties.sum()) for each in sums)


def _sums(figures: _Figures, totals: set[int]) -> list[_Sum]:
    """Return for each total the rows by which most of its columns tie."""
    is_row = np.ones(figures.rows, bool)
    is_row[list(totals)] = False
    filled = ~np.isnan(figures.numbers) & is_row[:, None]
    cumulated = _cumulated(np.where(filled, figures.numbers, 0.0))
    rounding = _cumulated(np.where(filled, figures.halves, 0.0))
    counts = _cumulated(filled.astype(np.int64))
    order = sorted(totals)
    headings = [row for row, texts in enumerate(figures.texts) if texts and np.isnan(figures.numbers[row]).all()]
    result = []
    for at, row in enumerate(order):
        first, last = _ranges(order, at, headings, figures.rows)
        sums = cumulated[last] - cumulated[first]
        printed, many = figures.numbers[row], counts[last] - counts[first]
        within = figures.halves[row] + rounding[last] - rounding[first] + 1e-9 * np.abs(printed)
        with np.errstate(invalid="ignore"):
            ties = (np.abs(sums - printed) <= within) & (many > 0)
            certain = ties & (np.abs(printed) > CERTAIN * within)
        best = _best(certain, sums, printed, many)
        result.append(
            _Sum(row, int(first[best]), int(last[best]), many[best], sums[best], certain[best], ties.any(axis=0))
        )
    return result


def _cumulated(values: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of the rows before each row."""
    return np.concatenate((np.zeros((1, values.shape[1]), values.dtype), np.cumsum(values, axis=0)))


def _ranges(order: list[int], at: int, headings: list[int], rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first and last rows (one past it) that a total may add.

    Those above it, all or without the last sections, or those below up to the next total or heading.
    """
    row = order[at]
    starts = [*(total + 1 for total in reversed(order[max(0, at - TOTALS_BACK) : at])), 0]
    above = int(np.searchsorted(headings, row))
    near = headings[max(0, above - HEADINGS_BACK) : above]
    ranges = [(start, row) for start in (*starts, *(heading + 1 for heading in near))]
    ranges += [(start, heading) for start in {starts[0], 0} for heading in near if heading > start]
    below = order[at + 1] if at + 1 < len(order) else rows
    ranges += [(row + 1, end) for end in (below, *headings[above : above + 1])]
    first, last = zip(*ranges, strict=True)
    return np.array(first), np.array(last)


def _best(certain: NDArray[np.bool_], sums: _Floats, printed: _Floats, counts: NDArray[np.float64]) -> int:
    """Return the rows by which most columns tie.

    Where none does, those whose sum is nearest.
    """
    ties = certain.sum(axis=1)
    if ties.any():
        return int(np.argmax(ties))
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.abs(sums - printed) / np.abs(printed)
    apart[(counts < 2) | ~np.isfinite(apart)] = np.inf
    return int(np.argmin(apart.min(axis=1, initial=np.inf)))


def _differences(figures: _Figures, sums: list[_Sum]) -> list[ReadingRemark]:
    if not sums:
        return []
    ties = np.sum([each.ties & (each.counts > 1) for each in sums], axis=0)
    misses = np.sum([~np.isnan(figures.numbers[each.row]) & ~each.ties_somehow for each in sums], axis=0)
    remarks = []
    for each in sums:
        columns = np.flatnonzero(~np.isnan(figures.numbers[each.row]) & ~each.ties_somehow & (each.counts > 1)).tolist()
        added = [column for column in columns if ties[column] > misses[column]]
        if len(added) > 1 and not each.ties.any():
            continue  # it adds other rows than any that are looked at
        open_columns = [column for column in columns if misses[column] == max(1, ties[column])]
        added += [column for column in open_columns if _is_meant(figures, each, column, int(ties[column]))]
        if near := [column for column in added if _is_near(figures, each, column)]:
            remarks.append(_remark(figures, each, near[0]))
        elif whole := _whole_difference(figures, sums, each):
            remarks.append(whole)
    return remarks


def _whole_difference(figures: _Figures, sums: list[_Sum], total: _Sum) -> ReadingRemark | None:
    """Return a remark where a total that does not tie is near the amounts above.

    Those since the total before, or all.
    """
    if total.ties_somehow.any() or not _is_called_total(figures, total.row):
        return None
    rows = {each.row for each in sums}
    before = max((row for row in rows if row < total.row), default=-1)
    for first in sorted({before + 1, 0}, reverse=True):
        added = [row for row in range(first, total.row) if row not in rows]
        if any(_PART.match(text) for row in added for text in figures.texts[row]):
            continue
        numbers = figures.numbers[added]
        counts, own = (~np.isnan(numbers)).sum(axis=0), np.nansum(numbers, axis=0)
        whole = replace(total, first=first, last=total.row, counts=counts, sums=own)
        for column in np.flatnonzero(counts >= ROWS_MIN).tolist():
            if _is_amount(figures, whole, column, numbers[:, column]) and _is_near(figures, whole, column):
                return _remark(figures, whole, column)
    return None


def _is_called_total(figures: _Figures, row: int) -> bool:
    """Return whether a row is a total by its name.

    That alone, or the first word of the table's last row.
    """
    texts = figures.texts[row]
    if any(map(_LABEL_ALONE.fullmatch, texts)):
        return True
    is_last = row + 1 == figures.rows or bool(np.isnan(figures.numbers[row + 1]).all())
    return is_last and len(texts) == 1 and _LABEL_FIRST.match(texts[0]) is not None


def _is_amount(figures: _Figures, total: _Sum, column: int, numbers: _Floats) -> bool:
    """Return whether a column has amounts, by its heading.

    Or the total, which has the decimals of its rows, is larger than each of them: no average is.
    """
    heading = _heading(figures, total, column)
    if _NO_AMOUNT.search(heading) or "%" in figures.codes[int(figures.formats[total.row, column])]:
        return False
    if _AMOUNT.search(heading):
        return True
    half = figures.halves[total.row, column]
    added = ~np.isnan(numbers)
    rows = slice(total.first, total.last)
    are_alike = bool((figures.halves[rows, column][~np.isnan(figures.numbers[rows, column])] == half).all())
    return are_alike and bool(abs(figures.numbers[total.row, column]) > np.abs(numbers[added]).max())


def _is_near(figures: _Figures, total: _Sum, column: int) -> bool:
    printed = float(figures.numbers[total.row, column])
    return abs(float(total.sums[column]) - printed) <= NEAR * abs(printed)


def _is_meant(figures: _Figures, total: _Sum, column: int, ties: int) -> bool:
    """Return whether a total adds up a column.

    By its heading and other columns, or other totals that tie in it.
    """
    heading = _heading(figures, total, column)
    is_amount = _AMOUNT.search(heading) is not None and _NO_AMOUNT.search(heading) is None
    return is_amount and (ties > 1 or bool(total.ties.any())) and total.counts[column] >= ROWS_MIN


def _heading(figures: _Figures, total: _Sum, column: int) -> str:
    """Return the texts above the first figure of a total's column."""
    filled = np.flatnonzero(~np.isnan(figures.numbers[:, column]))
    row = int(filled[max(0, int(np.searchsorted(filled, total.first)))]) if len(filled) else 0
    words: list[str] = []
    while row > 0 and not (words and figures.sheet.kind(row - 1, column) == Kind.BLANK):
        row -= 1
        value = figures.sheet.value(row, column)
        if isinstance(value, str) and _LETTER.search(value):
            words.insert(0, value)
        elif isinstance(value, float):
            filled = filled[filled < row]
    return " ".join(words)


def _remark(figures: _Figures, total: _Sum, column: int) -> ReadingRemark:
    page, line = figures.sheet.page_line(total.row) or (0, total.row + 1)
    code = figures.codes[int(figures.formats[total.row, column])]
    printed, own = (_shown(float(value), code) for value in (figures.numbers[total.row, column], total.sums[column]))
    heading = _heading(figures, total, column)
    name = f" of {heading!r}" if heading else ""
    message = f"page {page}, line {line}: the printed total{name} is {printed}, its rows make {own}"
    return ReadingRemark("total_differs", message, figures.sheet.name, (total.row,))


def _shown(value: float, code: str) -> str:
    percent = "%" in code
    half = _half_unit(code) * (100.0 if percent else 1.0)
    decimals = max(0, round(-np.log10(2.0 * half)))
    return f"{value * (100.0 if percent else 1.0):,.{decimals}f}{'%' if percent else ''}"
