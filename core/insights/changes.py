"""Portfolios to which one thing was done: ratings cut, or loans in default."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio import Portfolio

WORST: Final = 21
"""The rank of C: a rating that falls becomes no default."""


def downgraded(portfolio: Portfolio, rows: NDArray[np.bool_], notches: int) -> Portfolio:
    """Every rating of these loans so many notches lower.

    Those of the loan itself, which recoveries go by, stay.
    """

    def lower(ranks: NDArray[np.uint8]) -> NDArray[np.uint8]:
        falls = rows & (ranks > 0) & (ranks < WORST)
        return np.where(falls, np.minimum(ranks + notches, WORST), ranks).astype(np.uint8)

    ranks = {name: lower(column) if name.startswith("rating") else column for name, column in portfolio.ranks.items()}
    return replace(portfolio, ranks=ranks)


def defaulted(portfolio: Portfolio, rows: NDArray[np.bool_]) -> Portfolio:
    """Return these loans in default, with their own prices and recoveries."""
    none = np.zeros(portfolio.row_count, np.uint8)
    flags = {
        **portfolio.flags,
        "is_defaulted": np.where(rows, np.uint8(1), portfolio.flags.get("is_defaulted", none)),
        "is_current_pay": np.where(rows, np.uint8(0), portfolio.flags.get("is_current_pay", none)),
    }
    return replace(portfolio, flags=flags)
