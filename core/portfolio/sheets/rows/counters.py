"""Tell columns that number the rows: they name no borrower and identify no loan."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column
from core.portfolio.cells.parsing import BLANK, NUMBER, key

SAMPLE_ROWS: Final = 500
"""Rows below a header that tell whether a column counts them."""

COUNTED_MIN: Final = 3
"""Figures from which a column may count rows."""

COUNTED_SHARE: Final = 0.9
"""Share of the figures that are one more than the one before."""

SHUFFLED: Final = 1.5
"""Times the count of figures that the largest may be, where rows stand in another order than their numbers."""

HEADINGS: Final = frozenset(
    (
        "", "no", "nr", "num", "row", "line", "item", "index", "idx", "row no", "line no", "item no", "s no", "sr no",
        "row number", "line number", "item number", "row id", "count", "seq", "sequence", "unnamed 0",
    )
)  # fmt: skip
"""Headings of such a column, as keys ("#" has none)."""


def counts_rows(column: Column | None, heading: str, first: int) -> bool:
    """Whether a column numbers the rows from `first` on: 1, 2, 3 under "#", "No." or no words at all; in any order."""
    if column is None or key(heading) not in HEADINGS:
        return False
    cut = column.span(first, min(first + SAMPLE_ROWS, max(column.stop, first)))
    is_figure = cut.kinds == NUMBER
    return counts(cut.numbers[is_figure], int(np.count_nonzero(cut.kinds != BLANK)))


def counts(figures: NDArray[np.float64], filled: int) -> bool:
    """Whether the figures of a column with so many filled cells number its rows."""
    if len(figures) < max(COUNTED_MIN, COUNTED_SHARE * filled):
        return False  # a total's word may stand among them
    if np.mod(figures, 1).any():
        return False
    steps = np.diff(figures)
    is_shuffled = (
        len(np.unique(figures)) == len(figures) and figures.min() >= 0 and figures.max() <= SHUFFLED * len(figures)
    )
    return bool(is_shuffled or np.count_nonzero(steps == 1) >= COUNTED_SHARE * len(steps))
