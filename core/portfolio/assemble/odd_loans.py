"""Find loans with a value that is unusual by itself, or beside the others."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells.identifiers import is_sound
from core.portfolio.cells.string_pool import key
from core.portfolio.model.fields import COUNTRIES, OTHER_COUNTRIES
from core.portfolio.model.notes import row_texts, with_rows
from core.portfolio.model.portfolio import PortfolioData

Rows = NDArray[np.bool_]

OF_THE_MIDDLE: Final = 500.0
"""How many times smaller than the middle one a par is that may be in thousands."""

OF_ALL: Final = 0.25
"""Share of all par that no loan of many has."""

PEERS_MIN: Final = 20
"""Loans of a list from which the others tell what is unusual."""

KNOWN_SHARE: Final = 0.9
"""Share of a column's values that are known from which the others are mistakes."""

RATE_SLACK: Final = 1.0
"""Percent by which an all-in rate may be below its spread: base rates were negative for years."""

SPREAD_MAX: Final = 2_500.0
"""Basis points of a spread, above which it is in another unit."""

LIFE_YEARS_MAX: Final = 15.0
"""Years that a loan or bond of a deal lives at most: leveraged loans are made for seven, bonds for ten."""


class OddLoans(NamedTuple):
    """One row of the table."""

    code: str
    fields: tuple[str, ...]
    find: Callable[[PortfolioData], Rows]
    words: str
    """What is said of so many loans."""


def _is_unusual(target: str, low: float, high: float, portfolio: PortfolioData) -> Rows:
    """Return loans whose value other than 0 is beyond what is usual."""
    values = portfolio.numbers.get(target)
    if values is None:
        return _none(portfolio)
    rows = np.asarray((values != 0) & ((values < low) | (values > high)), np.bool_)
    if target == "price" and rows.any():  # next to nothing may be paid for a defaulted one
        rows &= (values > high) | np.where(values < 0, ~_is_undrawn(portfolio), ~portfolio.defaulted())
    return rows


def _is_below_parts(portfolio: PortfolioData) -> Rows:
    """Return loans with an all-in rate below its spread or its floor."""
    rate, spread, floor = (portfolio.numbers.get(target) for target in ("all_in_rate", "spread", "floor"))
    rows = _none(portfolio)
    if rate is not None and spread is not None:
        rows |= (rate > 0) & (rate < spread / 100.0 - RATE_SLACK) & (spread <= SPREAD_MAX)
    if rate is not None and floor is not None:
        rows |= (rate > 0) & (rate < floor)
    if rows.any():  # a fee is paid for what is undrawn, and a part in kind is no part of a rate in cash
        in_kind = portfolio.flags.get("is_pik")
        rows &= ~_is_undrawn(portfolio) & (True if in_kind is None else in_kind == 0)
    return rows


def _is_undrawn(portfolio: PortfolioData) -> Rows:
    """Return loans of which a part is unfunded."""
    unfunded = portfolio.numbers.get("unfunded")
    return _none(portfolio) if unfunded is None else np.asarray(unfunded > 0, np.bool_)


def _is_of_another_size(portfolio: PortfolioData) -> Rows:
    """Return loans of a sheet that are tiny beside the middle one, or much of all."""
    par = portfolio.numbers.get("par_value")
    if par is None or portfolio.sheet_rows is None or np.count_nonzero(par > 0) < PEERS_MIN:
        return _none(portfolio)
    middle = float(np.median(par[par > 0]))
    is_tiny = (par > 0) & (par + np.nan_to_num(portfolio.numbers.get("unfunded", 0.0)) < middle / OF_THE_MIDDLE)
    return np.asarray(is_tiny | (par > OF_ALL * np.nansum(par)), np.bool_)


def _is_of_no_country(portfolio: PortfolioData) -> Rows:
    """Return loans of a sheet whose country is none, where those of most are."""
    column = portfolio.names.get("country")
    if column is None or portfolio.sheet_rows is None:
        return _none(portfolio)
    odd = np.array(
        [*(value not in COUNTRIES and key(value) not in OTHER_COUNTRIES for value in column.values), False], np.bool_
    )
    return _few(odd[column.codes], column.codes >= 0)


def _is_without_check(target: str, portfolio: PortfolioData) -> Rows:
    """Return loans of a sheet whose identifier has the shape, and not the check digit."""
    column = portfolio.names.get(target)
    if column is None or portfolio.sheet_rows is None:
        return _none(portfolio)
    shape = _SHAPES[target]
    odd = [bool(shape.fullmatch(value)) and not is_sound(target, value) for value in column.values]
    return _few(np.array([*odd, False], np.bool_)[column.codes], column.codes >= 0)


_SHAPES: Final = {
    "isin": re.compile(r"[A-Z]{2}[A-Z0-9]{9}[0-9]"),
    "cusip": re.compile(r"(?=(?:[A-Z]*[0-9]){4})(?:[0-9]{2}[A-Z0-9]|[A-Z][0-9]{2})[A-Z0-9]{5}[0-9]"),
}
"""How they look; that of a Bloomberg or an own number, BL0512342, is another."""


def _few(odd: Rows, known: Rows) -> Rows:
    """Return the odd ones of a column's values where most are not."""
    is_few = np.count_nonzero(odd) <= (1 - KNOWN_SHARE) * np.count_nonzero(known)
    return odd if is_few else np.zeros_like(odd)


def _is_past(portfolio: PortfolioData) -> Rows:
    """Return performing loans that matured before the day."""
    day, maturity = portfolio.deal.as_of, portfolio.numbers.get("maturity_date")
    if day is None or maturity is None:
        return _none(portfolio)
    past = np.asarray(maturity < day, np.bool_)
    return past & ~portfolio.defaulted() if past.any() else past


def _is_far(portfolio: PortfolioData) -> Rows:
    """Return loans that mature longer after the day than one lives."""
    day, maturity = portfolio.deal.as_of, portfolio.numbers.get("maturity_date")
    if day is None or maturity is None:
        return _none(portfolio)
    return np.asarray(maturity - day > LIFE_YEARS_MAX * 365.25, np.bool_)


def _none(portfolio: PortfolioData) -> Rows:
    return np.zeros(portfolio.row_count, np.bool_)


USUAL: Final = {
    "spread": (10.0, SPREAD_MAX, "bps"), "all_in_rate": (0.5, 40.0, "%"), "price": (2.0, 150.0, "% of par"),
    "recovery_rate": (1.0, 100.0, "%"), "floor": (0.0, 10.0, "%"),
}  # fmt: skip
"""Within what a value other than 0 lies."""

ODD: Final[tuple[OddLoans, ...]] = (
    *(
        OddLoans("unit_doubtful", (target,), partial(_is_unusual, target, low, high),
                 f"{target} of {{}} is not within {low:g} to {high:,g} {unit}: the header or some rows give another "
                 "unit")
        for target, (low, high, unit) in USUAL.items()
    ),
    OddLoans("unit_doubtful", ("par_value",), _is_of_another_size,
             f"par of {{}} is below 1/{OF_THE_MIDDLE:g} of the middle one, or above {OF_ALL:.0%} of all: "
             "it may be in another unit"),
    OddLoans("rates_differ", ("all_in_rate", "spread", "floor"), _is_below_parts,
             "all_in_rate of {} is below the spread or the floor that is in it"),
    OddLoans("country_unrecognised", ("country",), _is_of_no_country,
             "country of {} is none that is known: it counts as a foreign one"),
    *(
        OddLoans("check_digit", (target,), partial(_is_without_check, target),
                 f"{target} of {{}} has a wrong check digit")
        for target in _SHAPES
    ),
)  # fmt: skip
"""What is unusual of a loan, and what is said of it."""

OF_DAYS: Final = {"past": _is_past, "far": _is_far}
"""What depends on the day."""


def with_places(message: str, portfolio: PortfolioData, find: Callable[[PortfolioData], Rows]) -> str:
    """Return a message with the sheet's rows of some loans, where they are not most."""
    numbers = portfolio.sheet_rows
    if numbers is None:
        return message
    rows = numbers[find(portfolio)]
    rows = rows[rows > 0]
    if 2 * len(rows) > portfolio.row_count:
        return message
    return with_rows(message, portfolio.sheet_name, row_texts(rows, portfolio.page_lines), len(rows))
