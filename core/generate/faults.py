"""Fault modes: edits of a clean book that break one thing each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.generate.book import LoanBook, draw_days_in_default, draw_prices, round_par
from core.generate.tables import AS_OF, HOME, INDUSTRIES, RANK_B1, RANK_B3, RANK_CA, RANK_CAA1, RANK_CAA2
from core.portfolio.model.ratings import DEFAULTED, FACTOR

_OBLIGOR_SHARE: Final = 0.03
_CCC_SHARE: Final = 0.06
_RATING_FACTOR_MAX: Final = 2_975.0
"""Below the limit of 3,000 by what one more name can add."""
_DEFAULTED_SHARE: Final = 0.10
_WAL_YEARS: Final = 5.75
_DAYS_A_YEAR: Final = 365.25
_SMALL_INDUSTRY_WEIGHT: Final = 5.0
_GOLDEN_FRACTION: Final = (5.0**0.5 - 1.0) / 2.0


def breach_obligor(book: LoanBook) -> None:
    """One obligor grows to 3 % of the target par (limit 2.5 %).

    The others give way, and the total stays.

    It is a B1 or B2 name at home in a small industry, so that no other limit is near.
    """
    small = np.array([weight <= _SMALL_INDUSTRY_WEIGHT for _, weight in INDUSTRIES])
    quiet = small[book.industry] & (book.country == HOME) & ~book.is_defaulted & ~book.is_pik
    quiet &= (book.rank_a >= RANK_B1) & (book.rank_a < RANK_B3)
    sums = np.bincount(book.obligor, book.par)
    chosen = int(book.obligor[np.argmax(np.where(quiet, sums[book.obligor], 0.0))])
    total, target = float(book.par.sum()), _OBLIGOR_SHARE * book.target_par
    own = float(sums[chosen])
    factor = np.where(book.obligor == chosen, target / own, (total - target) / (total - own))
    book.par = round_par(book.par * factor)


def breach_ccc(book: LoanBook) -> None:
    """B3 names worth 6 % of the target par become Caa2 with all agencies (limit 7.5 %); their prices stand still.

    On a small book whose rating factor is high already they are a little less, so that this test stays whole.
    """
    performing = ~book.is_defaulted
    par = book.par[performing]
    factor = float(par @ FACTOR[book.rank_a[performing]]) / float(par.sum())
    share = min(_CCC_SHARE, (_RATING_FACTOR_MAX - factor) / (FACTOR[RANK_CAA2] - FACTOR[RANK_B3]))
    moved = _obligors_worth(book, book.rank_a == RANK_B3, share, "downgrades")
    book.rank_a[moved] = book.rank_b[moved] = RANK_CAA2
    book.rank_c[moved & (book.rank_c > 0)] = RANK_CAA2


def breach_oc(book: LoanBook) -> None:
    """Let a tenth of the target par default, alike in all industries.

    The junior overcollateralisation falls below its trigger, and with it the interest diversion test (the same ratio
    against a higher trigger) and the share of defaulted loans. The senior ratio holds, as fresh defaults are marked no
    lower than what their lenders expect to recover.
    """
    moved = _obligors_worth(book, (book.rank_a < RANK_CAA1) & ~book.is_dip, _DEFAULTED_SHARE, "defaults")
    book.rank_a[moved] = RANK_CA
    book.rank_b[moved] = DEFAULTED
    book.rank_c[moved & (book.rank_c > 0)] = DEFAULTED
    book.is_defaulted |= moved
    book.is_current_pay &= ~moved
    book.is_pik &= ~moved
    fresh = np.maximum(draw_prices(book.chance, "prices of the defaulted", book.rank_a), book.recovery_rate)
    book.price[moved] = fresh[moved]
    book.days_past_due[moved] = draw_days_in_default(book.chance, "days of the defaulted", int(moved.sum()))


def warn_wal(book: LoanBook) -> None:
    """All maturities move out by the same days, until the average life is 5.75 years (warning 5.5, limit 6)."""
    performing = ~book.is_defaulted
    days = book.maturity - np.datetime64(AS_OF, "D").astype(np.float64)
    average = float(book.par[performing] @ days[performing]) / float(book.par[performing].sum())
    book.maturity = book.maturity + round(_WAL_YEARS * _DAYS_A_YEAR - average)


FAULTS: Final[dict[str, Callable[[LoanBook], None]]] = {
    fault.__name__: fault for fault in (breach_obligor, breach_ccc, breach_oc, warn_wal)
}
"""Fault modes by name, in the order in which several are applied."""


def _obligors_worth(book: LoanBook, eligible: NDArray[np.bool_], share: float, question: str) -> NDArray[np.bool_]:
    """Return the loans of obligors that are together worth `share` of the target par, as evenly from all industries as
    can be.

    Only obligors all of whose loans are eligible. They stand by industry, and the fractions of the golden ratio's
    multiples pick among them: any first part of that order is spread evenly over the line.
    """
    sums = np.bincount(book.obligor, book.par)
    barred = np.bincount(book.obligor, ~eligible) > 0
    industry = np.zeros(len(sums), np.int64)
    industry[book.obligor] = book.industry
    line = np.lexsort((book.chance.stream(question).random(len(sums)), industry))
    line = line[~barred[line]]
    line = line[np.argsort(np.arange(len(line)) * _GOLDEN_FRACTION % 1.0)]
    worth = sums[line]
    chosen = np.zeros(len(sums), np.bool_)
    chosen[line[np.cumsum(worth) - worth / 2.0 < share * book.target_par]] = True
    return chosen[book.obligor]
