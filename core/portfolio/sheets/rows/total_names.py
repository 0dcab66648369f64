"""Companies whose names begin as a total's row does, such as Total Safety."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.category_cells import country
from core.portfolio.cells.string_pool import key, spread_out
from core.portfolio.sheets.rows.odd import OddRows, RowColumns
from core.portfolio.sheets.rows.sums import GROUP_LOANS_MIN, TOTAL_TOLERANCE, union
from core.portfolio.sheets.rows.vocabulary import is_of_pools
from core.portfolio.sheets.rows.words import LEGAL, start_of

NEAR_SHARE: Final = 1e-3
"""Share of a sum of loans by which the figure of a row called total may differ from it: it leaves a few out."""

EXACT_SHARE: Final = 1e-8
"""Share of a printed total by which the loans that it holds may differ from it."""

NAMES_MAX: Final = 2_000
"""Distinct names of such rows that are looked at."""

_START: Final = re.compile(
    r"\s*(?:(?:grand |sub[\s-]?)?\s*totals?|sum|counts?|averages?|avg|weighted(?: average| avg)?|wtd(?: avg)?"
    r"|notes?|sources?)\b[\s:.-]*(?:of|for)?",
    re.IGNORECASE,
)
"""What a row of a total begins with."""

_END: Final = re.compile(r".*\btotals?\s*:?\s*", re.IGNORECASE | re.DOTALL)

Mask = NDArray[np.bool_]


def companies(columns: RowColumns, odd: OddRows, called: Mask, bare: Mask, counted: Mask) -> Mask:
    """Return which rows that are called a total are loans of a company of that name.

    Their figure is the sum of no loans beside them, and their name has words that no total has. Then a printed total
    has to hold them, or, where none tells, their name ends as only a company's does and no such row is a sum.

    Args:
        called: the rows, over the odd ones.
        bare: further ones that are called a total and nothing else.
        counted: the rows with a par that nothing calls a total, over all.
    """
    par, borrower = columns.par, columns.borrower
    if par is None or borrower is None or not called.any() or not counted.any():
        return np.zeros(len(odd.rows), np.bool_)
    is_named = called & (borrower.codes[odd.rows] == odd.first_text) & ~np.isnan(par[odd.rows])
    named = np.where(is_named, odd.first_text, np.int32(-1))
    local, used = _parse.distinct(named, len(odd.text))
    if not len(used) or len(used) > NAMES_MAX:
        return np.zeros(len(odd.rows), np.bool_)
    own = [_own_words(start_of(odd.text, code)) for code in used.tolist()]
    borrowers = _keys_in_order(columns, odd.rows[called], odd) if any(own) else []
    are_names = np.array([bool(words) and not _begin_one(words, borrowers) for words in own], np.bool_)
    are_sums = _are_sums(par, odd.rows, called, counted)
    may_be = is_named & spread_out(are_names, False, local) & ~are_sums
    printed = odd.rows[(called | bare) & ~may_be & ~np.isnan(par[odd.rows])]
    counts_in, left_out = _told_by_totals(par, printed, odd.rows[may_be], counted)
    is_told = odd.matches(LEGAL, whole=True, codes=named) & ~(are_sums & called).any()
    return np.asarray(may_be & (counts_in[odd.rows] | is_told & ~left_out[odd.rows]), np.bool_)


def _told_by_totals(
    par: NDArray[np.float64], printed: NDArray[np.int64], maybe: NDArray[np.int64], counted: Mask
) -> tuple[Mask, Mask]:
    """Return which rows are loans by a printed total, and which are none.

    Args:
        printed: rows of totals.
        maybe: the rows in question.
        counted: the rows of loans, over all.
    """
    height = len(counted)
    is_maybe = np.zeros(height, np.bool_)
    is_maybe[maybe] = True
    sums, more = (np.concatenate(([0.0], np.cumsum(np.where(mask, par, 0.0)))) for mask in (counted, is_maybe))
    edges = np.concatenate(([0], printed, [height]))
    starts, ends = np.zeros(len(printed), np.int64), np.full(len(printed), height)
    low = np.concatenate((starts, edges[:-2], printed, printed, starts))
    high = np.concatenate((printed, printed, edges[2:], ends, ends))
    figures = np.tile(par[printed], 5)
    loans, doubtful = sums[high] - sums[low], more[high] - more[low]
    tolerance = np.maximum(TOTAL_TOLERANCE, EXACT_SHARE * np.abs(figures))

    def rows(fits: Mask) -> Mask:
        steps = np.zeros(height + 1, np.int64)
        np.add.at(steps, low[fits], 1)
        np.add.at(steps, high[fits], -1)
        return np.asarray(np.cumsum(steps[:-1]) > 0, np.bool_)

    is_told = np.abs(doubtful) > 2 * tolerance
    return (
        rows(is_told & (np.abs(loans + doubtful - figures) <= tolerance)),
        rows(is_told & (np.abs(loans - figures) <= tolerance)),
    )


def _keys_in_order(columns: RowColumns, called: NDArray[np.int64], odd: OddRows) -> list[str]:
    """Return the keys of the borrowers of all rows that are not called a total."""
    assert columns.borrower is not None
    codes = np.unique(np.delete(columns.borrower.codes, called))
    return sorted(key(start_of(odd.text, code)) for code in codes[codes >= 0].tolist())


def _own_words(text: str) -> str:
    """Return the key of what stands behind the word for a total.

    "" where that is of a total, too.
    """
    start = _START.match(text)
    rest = key(text[start.end() :] if start else text)
    return "" if _END.fullmatch(text) or is_of_pools(rest) or country(rest) != rest else rest


def _begin_one(words: str, keys: Sequence[str]) -> bool:
    """Return whether one of the keys, which are in order, begins with the words."""
    at = bisect_left(keys, words)
    return at < len(keys) and keys[at].startswith(words)


def _are_sums(par: NDArray[np.float64], rows: NDArray[np.int64], called: Mask, counted: Mask) -> Mask:
    """Return which rows have about the sum of loans above or below them.

    Of all, or of those up to the next row that is called a total.
    """
    sums = np.concatenate(([0.0], np.cumsum(np.where(counted, par, 0.0))))
    many = np.concatenate(([0], np.cumsum(counted)))
    height = len(counted)
    edges = np.concatenate(([0], union(height, rows[called]), [height]))
    at = np.searchsorted(edges[1:-1], rows) + 1
    fits, alone = np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
    whole = np.zeros(len(rows), np.int64)
    for low, high in (
        (whole, rows),
        (rows, whole + height),
        (edges[at - 1], rows),
        (rows, edges[np.minimum(at + 1, len(edges) - 1)]),
        (whole, whole + height),
    ):
        total = sums[high] - sums[low]
        is_near = np.abs(total - par[rows]) <= np.maximum(TOTAL_TOLERANCE, NEAR_SHARE * np.abs(total))
        loans = many[high] - many[low]
        fits |= is_near & (loans >= GROUP_LOANS_MIN)
        alone |= is_near & (loans == 1)
    # Where groups have totals, a group of one loan has its own.
    return fits | alone if (fits & called).any() else fits
