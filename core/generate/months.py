"""The history of a generated deal: its months, the last the deal itself."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields, replace
from datetime import date, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.generate.book import LoanBook, draw_book, round_par
from core.generate.deal import NEWEST, GeneratedDeal, check_number, generate
from core.generate.sheets import LoanTexts
from core.generate.tables import RANK_B1, RANK_CAA2

MONTHS_MAX: Final = 24

BOUGHT_PERCENT: Final = 5.0
"""Of the loans: bought in the course of the months, out of principal cash."""
DOWNGRADED_PERCENT: Final = 5.0
"""Of the obligors: lost a notch in the course of the months, beside what a fault does."""
AMORTIZED: Final = 0.0008
"""Part of its par that a loan repays in a month."""
PRICE_DEVIATION: Final = 0.25
"""Points by which a price moves in a month."""
PRICE_MAX: Final = 101.0


def generate_months(
    loans: int = 300, seed: int = 7, faults: Collection[str] = (), messy: Collection[str] = (), months: int = 6
) -> list[GeneratedDeal]:
    """Return the months of a deal, the oldest first.

    The last is `generate` of the same arguments.

    Loans are bought, repay, are downgraded and change their price. A fault builds up over the months.

    Args:
        months: 1 to MONTHS_MAX, each of the last day of a calendar month.

    Raises:
        GenerateError: as `generate`, or a number of months outside its range.
    """
    check_number("months", months, 1, MONTHS_MAX)
    newest = generate(loans, seed, faults, messy)
    clean = draw_book(seed, loans)
    earlier = [_month(newest, clean, ago, months) for ago in range(months - 1, 0, -1)]
    return [*earlier, newest]


def _month(newest: GeneratedDeal, clean: LoanBook, ago: int, months: int) -> GeneratedDeal:
    """Return the deal as it was some months before its newest one."""
    share = 1.0 - ago / months
    book = _change(clean, newest.book, share)
    drift = book.chance.stream(f"prices {ago} months ago").normal(0.0, PRICE_DEVIATION * ago**0.5, book.count)
    has_drift = ~book.is_defaulted
    book.price = np.where(has_drift, np.clip(np.round(book.price + drift, 3), 1.0, PRICE_MAX), book.price)
    book.par = round_par(book.par * (1.0 + AMORTIZED * ago))
    kept = ~book.chance.share("bought", book.count, BOUGHT_PERCENT)
    kept |= book.chance.stream("month of purchase").random(book.count) <= share
    return replace(newest, book=_part(book, kept), texts=_texts(newest.texts, kept), as_of=_month_end(ago))


def _change(before: LoanBook, after: LoanBook, share: float) -> LoanBook:
    """Return a book on its way to another one.

    Obligors change one after the other, par and maturities by degrees.
    """
    chance = before.chance
    obligors = len(before.obligor_country)
    is_late = (chance.stream("month of change").random(obligors) > share)[before.obligor]
    falls = chance.share("downgrades of months", obligors, DOWNGRADED_PERCENT)[before.obligor] & is_late
    falls &= (after.rank_a > RANK_B1) & (after.rank_a <= RANK_CAA2)

    book = replace(after)
    for name in _SWITCHED:
        setattr(book, name, np.where(is_late, getattr(before, name), getattr(after, name)))
    for name in ("rank_a", "rank_b", "rank_c"):
        rank = getattr(book, name)
        setattr(book, name, np.where(falls & (rank > 1), rank - 1, rank))
    book.par = round_par(before.par + (after.par - before.par) * share)
    book.maturity = np.round(before.maturity + (after.maturity - before.maturity) * share)
    return book


_SWITCHED: Final = (
    "rank_a", "rank_b", "rank_c", "price", "is_defaulted", "is_current_pay", "is_pik", "days_past_due",
)  # fmt: skip
"""What a fault changes of single obligors."""
_NOT_OF_LOANS: Final = {"chance", "target_par", "obligor_country"}


def _part(book: LoanBook, kept: NDArray[np.bool_]) -> LoanBook:
    """Return the book of some of its loans; what the others cost is cash."""
    part = replace(book)
    for name in {field.name for field in fields(book)} - _NOT_OF_LOANS:
        setattr(part, name, getattr(book, name)[kept])
    return part


def _texts(texts: LoanTexts, kept: NDArray[np.bool_]) -> LoanTexts:
    names = ("cusip", "isin", "loanx", "facility")
    return replace(texts, **{name: getattr(texts, name)[kept] for name in names})


def _month_end(ago: int) -> date:
    """Return the last day of the month so many months before that of the newest book."""
    day = NEWEST
    for _ in range(ago):
        day = day.replace(day=1) - timedelta(days=1)
    return day
