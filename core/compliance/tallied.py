"""The sums of a tally by name.

Those of several parts of a pool are, added, those of the pool.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.compliance.kernels import Tally

COUNTS: Final = ("performing_rows", "defaulted_rows", "blank_rows", "negative_rows", "past_maturity")
"""Numbers of rows."""

DIVISORS: Final = (
    "par", "priced_par", "coupon_par", "spread_par", "interest_par", "life_par", "country_par", "sized_par",
    "depth_par", "aged_par", "recovery_given",
)  # fmt: skip
"""Amounts that averages divide by."""

AMOUNTS: Final = (
    *DIVISORS, "defaulted_par", "defaulted_carried", "obligor_blank", "recovery_sum", "price_sum", "par_below_80",
    "par_below_90", "discount_par", "discount_haircut", "deferring_haircut", "category_haircut", "coupon_sum",
    "spread_sum", "contractual_sum", "interest_sum", "life_sum", "foreign_par", "small_par", "quoted_par",
    "past_due_par",
)  # fmt: skip

TABLES: Final = (("par_by_rank", 25), ("par_by_bucket", 4), ("par_by_lien", 8), ("par_by_flag", 7))
"""Sums by a category, and how many categories there are."""


_AMOUNTS: Final = attrgetter(*AMOUNTS)
_COUNTS: Final = attrgetter(*COUNTS)


class Tallied:
    """What a `kernels.Tally` has to read, of sums that were added up elsewhere."""

    row_count: int
    obligor_count: int
    top_obligors: tuple[list[int], list[float]]
    industry_par: NDArray[np.float64]
    obligor_blank: float

    def __init__(self, row_count: int, counts: dict[str, int], amounts: NDArray[np.float64]) -> None:
        """Take counts by name, and amounts in the order of `amounts_of`."""
        self.row_count = row_count
        values = amounts.tolist()
        self.__dict__.update(counts)
        self.__dict__.update(zip(AMOUNTS, values, strict=False))
        at = len(AMOUNTS)
        for name, size in TABLES:
            setattr(self, name, tuple(values[at : at + size]))
            at += size


def amounts_of(tally: Tally) -> NDArray[np.float64]:
    """Return the amounts of a tally in one array: `AMOUNTS`, then the tables."""
    amounts = list(_AMOUNTS(tally))
    for name, _ in TABLES:
        amounts += getattr(tally, name)
    return np.array(amounts)


def counts_of(tally: Tally) -> dict[str, int]:
    """Return the counts of a tally by name."""
    return dict(zip(COUNTS, _COUNTS(tally), strict=True))
