"""Tell columns that number the rows: they name no borrower and identify no loan."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.cells.string_pool import BLANK, NUMBER, TEXT, decode, key

SAMPLE_ROWS: Final = 500
"""Rows below a header that tell whether a column counts them."""

COUNTED_MIN: Final = 3
"""Figures from which a column may count rows."""

COUNTED_SHARE: Final = 0.9
"""Share of the figures that are one more than the one before."""

FIGURES_SHARE: Final = 0.6
"""Share of the cells that must be figures: titles of groups of loans may stand among them."""

SHUFFLED: Final = 1.5
"""Times the count of figures that the largest may be, where rows stand in another order than their numbers."""

DIGITS_MAX: Final = 6
"""Digits of a text that can number a row."""

HEADINGS: Final = frozenset(
    (
        "", "no", "nr", "num", "row", "line", "item", "index", "idx", "row no", "line no", "item no", "s no", "sr no",
        "row number", "line number", "item number", "row id", "count", "seq", "sequence", "unnamed 0",
    )
)  # fmt: skip
"""Headings of such a column, as keys ("#" has none)."""


def counts_rows(sheet: Sheet, at: int, heading: str, first: int) -> bool:
    """Return whether a column numbers rows: 1, 2, 3 under "#", "No." or blank.

    Args:
        at: the column, 0-based.
    """
    column = sheet.columns[at]
    if column is None or key(heading) not in HEADINGS:
        return False
    cut = column.span(first, min(first + SAMPLE_ROWS, max(column.stop, first)))
    figures = _figures(sheet, cut)
    if len(figures) < max(COUNTED_MIN, FIGURES_SHARE * np.count_nonzero(cut.kinds != BLANK)):
        return False  # a total's word may stand among them, and titles of groups
    if np.mod(figures, 1).any():
        return False
    steps = np.diff(figures)
    is_shuffled = (
        len(np.unique(figures)) == len(figures) and figures.min() >= 0 and figures.max() <= SHUFFLED * len(figures)
    )
    return bool(is_shuffled or np.count_nonzero(steps == 1) >= COUNTED_SHARE * len(steps))


def _figures(sheet: Sheet, cut: Column) -> NDArray[np.float64]:
    """Return figures of cells, also those written as a few digits."""
    figures = np.where(cut.kinds == NUMBER, cut.numbers, np.nan)
    is_text = cut.kinds == TEXT
    if is_text.any():
        codes, places = np.unique(cut.codes[is_text], return_inverse=True)
        texts = decode(sheet.text, codes.astype(np.int64))
        values = [float(text) if len(text) <= DIGITS_MAX and text.isdecimal() else np.nan for text in texts]
        figures[is_text] = np.array(values)[places]
    return np.asarray(figures[~np.isnan(figures)], np.float64)
