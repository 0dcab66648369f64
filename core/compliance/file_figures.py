"""What a file's own calculation decides.

Where there is no definition of the deal's own, or where it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from operator import attrgetter
from typing import Final, NamedTuple

import numpy as np

from core.compliance.ladders import own_ranks
from core.compliance.view import View
from core.definition.definition import Definition, ParValue
from core.definition.terms import AGENCIES
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import ByRank

OTHER: Final = "par_value_other"
CARRIED: Final = "defaulted_carried"

CENTS: Final = 0.01
"""Currency units for each loan by which a printed amount may differ from the one of the loans."""


class NumeratorPart(NamedTuple):
    """A field of `Deal` that is a part of the OC numerator."""

    words: str
    """What a warning calls it; "" where no loan says anything of it."""
    keys: tuple[str, ...]
    """Keys of a definition that say how it is calculated; a part without one is the file's under any definition."""
    columns: tuple[str, ...]
    """Columns of loans without all of which nothing but the file says it."""
    is_on: Callable[[ParValue], bool]
    """Whether a definition's rules count it."""


PARTS: Final[dict[str, NumeratorPart]] = {
    "ccc_haircut": NumeratorPart(
        "a CCC haircut of",
        ("par_value.ccc_limit", "par_value.ccc_agencies", "par_value.ccc_excess", "par_value.ccc_unpriced"),
        ("rating", "rating_agency_a", "rating_agency_b", "rating_agency_c"),
        lambda rules: rules.ccc_excess,
    ),
    "discount_haircut": NumeratorPart(
        "a discount haircut of",
        (
            "par_value.discount", "par_value.discount_below", "par_value.discount_below_fixed",
            "par_value.discount_release", "par_value.discount_release_fixed",
        ),
        ("purchase_price",),
        lambda rules: rules.discount,
    ),
    "other_haircut": NumeratorPart(
        "other haircuts of",
        (
            "par_value.deferring", "par_value.long_dated", "par_value.long_dated_limit", "par_value.current_pay",
            "par_value.current_pay_limit",
        ),
        ("is_deferring", "is_long_dated", "is_current_pay"),
        lambda rules: rules.deferring or rules.long_dated != "par" or rules.current_pay != "par",
    ),
    CARRIED: NumeratorPart(
        "defaulted loans carried at",
        ("par_value.defaulted", "par_value.defaulted_zero_after_years", "ratings.recovery"),
        ("price", "recovery_rate", "lien"),
        lambda rules: rules.defaulted != "none",
    ),
    OTHER: NumeratorPart(
        "",
        ("par_value.purchased_accrued_interest",),
        ("purchased_accrued_interest",),
        lambda rules: rules.purchased_accrued_interest,
    ),
}  # fmt: skip

MASKED_BY_TABLE: Final = ("left_out", "other_agency", "bounds")
"""Policies of masked ratings that give way to a rating table, which says what they are. A symbol or a factor stays."""

ByAgency = tuple[float | None, float | None, float | None]
"""An amount of Moody's, S&P and Fitch."""

NOT_PRINTED: Final = (None, None, None)
"""What `printed_ccc` gives where no rating table of the file says what masks hide."""

_RATINGS: Final = attrgetter("masked_ratings_a", "masked_ratings_b", "masked_ratings_c")
_TABLES: Final = attrgetter("masked_ccc_a", "masked_ccc_b", "masked_ccc_c")
_parts_of: Final = attrgetter(*PARTS)
_NO_PARTS: Final = (None,) * len(PARTS)


def printed_parts(portfolio: Portfolio, definition: Definition, view: View) -> dict[str, float]:
    """Return the parts of the OC numerator that count as the file prints them.

    Those of which the definition says nothing; of what it says to count, those of which the loans say nothing; and what
    defaulted loans are carried at, where that is their value by its rule and the rates of an agency that it leaves out.
    """
    deal = portfolio.deal
    amounts = _parts_of(deal)
    if amounts == _NO_PARTS and deal.par_value_kept is None:
        return {}
    printed = {
        name: amount
        for (name, part), amount in zip(PARTS.items(), amounts, strict=True)
        if amount is not None
        and isfinite(amount)
        and (_is_left(part, definition, view) or (name == CARRIED and _by_some_rates(portfolio, definition, amount)))
    }
    if deal.par_value_kept is not None:
        printed[OTHER] = printed.get(OTHER, 0.0) + deal.par_value_kept
    return printed


def _is_left(part: NumeratorPart, definition: Definition, view: View) -> bool:
    if definition.leaves(*part.keys):
        return True
    return part.is_on(definition.par_value) and not any(_has(view, name) for name in part.columns)


def _by_some_rates(portfolio: Portfolio, definition: Definition, amount: float) -> bool:
    """Return whether the defaulted loans are worth an amount by the definition's rule, and some agency's recovery
    rates, where it does not say whose."""
    rule, numbers = definition.par_value.defaulted, portfolio.numbers
    rates = [numbers[name] for agency in AGENCIES if (name := f"recovery_rate_{agency}") in numbers]
    if rule not in _BY_RECOVERY or not definition.leaves("ratings.recovery") or not rates:
        return False
    rows = np.flatnonzero(portfolio.defaulted())
    par, price = numbers["par_value"][rows], numbers.get("price", np.full(portfolio.row_count, np.nan))[rows]
    rates = [rate[rows] for rate in rates]
    for each in (*rates, np.fmin.reduce(rates)):
        value = np.fmin(price, each) if rule == "lower" else each
        if abs(float((par * value).sum()) / 100 - amount) <= CENTS * (len(rows) + 1):
            return True
    return False


_BY_RECOVERY: Final = ("lower", "recovery")


def _has(view: View, name: str) -> bool:
    if name == "lien":
        return view.lien is not None
    return name in view.numbers or name in view.flags or name in view.ranks


def printed_ccc(portfolio: Portfolio, definition: Definition) -> ByAgency:
    """By agency the par of CCC ratings that its rating table has and no row shows.

    None where no table says it, or the definition says otherwise.
    """
    ccc = _TABLES(portfolio.deal)
    if ccc == NOT_PRINTED:
        return NOT_PRINTED
    a, b, c = (
        more if more is not None and _goes_by_table(portfolio, definition, agency) else None
        for agency, more in zip(AGENCIES, ccc, strict=True)
    )
    return a, b, c


def printed_ratings(portfolio: Portfolio, definition: Definition) -> tuple[ByRank | None, ...]:
    """By agency the par by rank of the loans that no row rates.

    None where no rating table says it, or the definition says otherwise.
    """
    tables = _RATINGS(portfolio.deal)
    if tables == NOT_PRINTED:
        return NOT_PRINTED
    return tuple(
        by_rank if by_rank is not None and _goes_by_table(portfolio, definition, agency) else None
        for agency, by_rank in zip(AGENCIES, tables, strict=True)
    )


def _goes_by_table(portfolio: Portfolio, definition: Definition, agency: str) -> bool:
    """Return whether an agency's rating table says what masks hide of the ratings that the definition reads."""
    ratings, section = getattr(definition.ratings, agency), f"ratings.{agency}"
    if not definition.leaves(f"{section}.masked") and ratings.masked not in MASKED_BY_TABLE:
        return False
    keys = ("columns", "watch_negative", "watch_positive")
    if definition.leaves(*(f"{section}.{key}" for key in keys)):
        return True
    shown, printed = own_ranks(portfolio, agency, definition), portfolio.ranks.get(f"rating_agency_{agency}")
    return shown is not None and printed is not None and np.array_equal(shown, printed)
