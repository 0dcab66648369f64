"""Relations of columns of figures: par x price, base + spread, par + unfunded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

COLUMNS_MAX: Final = 10
"""Columns of amounts, and of rates, among which relations are looked for: their triples grow with the third power."""

ROWS_MIN: Final = 6
"""Rows that must tell."""

SHARE_MIN: Final = 0.9
"""Share of the telling rows on which a relation holds."""

OF_RATES: Final = 4.0
OF_VALUES: Final = 3.5
OF_PAR: Final = 3.0
"""What a relation counts for each of its columns."""

RATE_DIGITS: Final = 0.011
"""Percent by which an all-in rate may differ from base rate and spread."""

AMOUNT_SHARE: Final = 2e-5
"""Share by which an amount may differ from the product or sum of two others."""

Figures = NDArray[np.float64]
Bonus = dict[tuple[int, str], tuple[float, str]]
"""(column, role) -> weight and reason."""


def relations(columns: Mapping[int, Figures], likely: Mapping[int, frozenset[str]]) -> Bonus:
    """Return weights that relations among columns of figures give to their roles.

    Args:
        columns: the figures of each, NaN where a row has none; equally long.
        likely: the roles that each column may have: only triples of these are tried.
    """
    bonus: Bonus = {}
    places = list(columns)
    amounts = [column for column in places if likely.get(column, frozenset()) & _AMOUNTS][:COLUMNS_MAX]
    rates = [column for column in places if likely.get(column, frozenset()) & _RATES][:COLUMNS_MAX]
    floors = [column for column in places if likely.get(column) == frozenset(("floor",))]
    prices = [column for column in places if likely.get(column, frozenset()) & _PRICES][:COLUMNS_MAX]
    _market_values(columns, amounts, prices, bonus)
    _commitments(columns, amounts, bonus)
    _all_in(columns, rates, floors, bonus)
    _constant_base(columns, likely, rates, bonus)
    return bonus


_AMOUNTS: Final = frozenset(("par_value", "commitment", "unfunded", "market_value", "par_settled", "cost_amount"))
_RATES: Final = frozenset(("spread", "all_in_rate", "base_rate_level"))
_PRICES: Final = frozenset(("price", "purchase_price"))


def _keep_best(bonus: Bonus, roles: Iterable[tuple[int, str, float, str]]) -> None:
    """Keep the best reason for each column and role."""
    for column, role, weight, reason in roles:
        if weight > bonus.get((column, role), (0.0, ""))[0]:
            bonus[column, role] = weight, reason


def _holds(left: Figures, right: Figures, tolerance: Figures | float, telling: NDArray[np.bool_]) -> bool:
    """Return whether two columns agree on nearly all of the telling rows."""
    rows = telling & ~np.isnan(left) & ~np.isnan(right)
    count = int(np.count_nonzero(rows))
    if count < ROWS_MIN:
        return False
    with np.errstate(invalid="ignore"):
        close = np.abs(left - right) <= tolerance
    return int(np.count_nonzero(close & rows)) >= SHARE_MIN * count


def _market_values(columns: Mapping[int, Figures], amounts: list[int], prices: list[int], bonus: Bonus) -> None:
    """Find market value = par x price, on rows whose price is not 100."""
    for price in prices:
        figures = columns[price]
        with np.errstate(invalid="ignore"):
            factor = figures / 100.0 if np.nanmedian(figures) > 2 else figures
            telling = np.abs(factor - 1.0) > 1e-4
        for par in amounts:
            product = columns[par] * factor
            for value in amounts:
                if value != par and _holds(columns[value], product, AMOUNT_SHARE * np.abs(product) + 0.01, telling):
                    reason = "market value is par x price"
                    _keep_best(
                        bonus,
                        (
                            (value, "market_value", OF_VALUES, reason),
                            (par, "par_value", OF_VALUES, reason),
                            (price, "price", OF_VALUES, reason),
                        ),
                    )


def _commitments(columns: Mapping[int, Figures], amounts: list[int], bonus: Bonus) -> None:
    """Find commitment = par + unfunded, where unfunded is not 0 or all."""
    for unfunded in amounts:
        undrawn = columns[unfunded]
        with np.errstate(invalid="ignore"):
            telling = undrawn > 0
        if np.count_nonzero(telling) < 2:
            continue
        for par in amounts:
            if par == unfunded:
                continue
            total = columns[par] + undrawn
            with np.errstate(invalid="ignore"):
                both = telling & (columns[par] > 0)
                # Unfunded amounts are mostly 0, funded ones hardly ever.
                if np.count_nonzero(undrawn > 0) > np.count_nonzero(columns[par] > 0):
                    continue
            for whole in amounts:
                if whole in (par, unfunded) or np.count_nonzero(both) < 2:
                    continue
                with np.errstate(invalid="ignore"):
                    close = np.abs(columns[whole] - total) <= AMOUNT_SHARE * np.abs(total) + 0.01
                if np.count_nonzero(close & both) >= SHARE_MIN * np.count_nonzero(both):
                    reason = "commitment is par + unfunded"
                    _keep_best(
                        bonus,
                        (
                            (whole, "commitment", OF_PAR, reason),
                            (par, "par_value", OF_PAR, reason),
                            (unfunded, "unfunded", OF_PAR, reason),
                        ),
                    )


def _all_in(columns: Mapping[int, Figures], rates: list[int], floors: list[int], bonus: Bonus) -> None:
    """Find all-in rate = base rate or floor + spread; base rates come again."""
    percent = {column: _percent(columns[column]) for column in (*rates, *floors)}
    floor = np.nan_to_num(percent[floors[0]]) if floors else None
    for whole in rates:
        for spread in rates:
            for base in rates:
                if (
                    len({whole, spread, base}) < 3
                    or len(np.unique(percent[base])) > len(np.unique(percent[spread])) * 2
                ):
                    continue
                with np.errstate(invalid="ignore"):
                    telling = (percent[base] > 0) & (percent[spread] > 0)
                level = percent[base] if floor is None else np.maximum(percent[base], floor)
                if _holds(percent[whole], level + percent[spread], RATE_DIGITS, telling):
                    reason = "all-in rate is base rate + spread"
                    _keep_best(
                        bonus,
                        (
                            (whole, "all_in_rate", OF_RATES, reason),
                            (spread, "spread", OF_RATES, reason),
                            (base, "base_rate_level", OF_RATES, reason),
                        ),
                    )


def _constant_base(
    columns: Mapping[int, Figures], likely: Mapping[int, frozenset[str]], rates: list[int], bonus: Bonus
) -> None:
    """Find all-in rate less spread with few values, if no base rate is there."""
    spreads = [rate for rate in rates if "spread" in likely[rate] and "all_in_rate" not in likely[rate]]
    for spread in spreads[:1]:
        for whole in rates:
            if whole == spread or "all_in_rate" not in likely[whole] or len(likely[whole]) == 1:
                continue
            rest = _percent(columns[whole]) - _percent(columns[spread])
            rest = np.round(rest[~np.isnan(rest)], 2)
            if len(rest) < ROWS_MIN:
                continue
            counts = np.sort(np.unique(rest, return_counts=True)[1])[::-1]
            if float(np.median(rest)) > 0 and int(counts[:FEW_LEVELS].sum()) >= LEVELS_SHARE * len(rest):
                _keep_best(
                    bonus, ((whole, "all_in_rate", OF_RATES, "all-in rate less spread is the same on most rows"),)
                )


FEW_LEVELS: Final = 3
LEVELS_SHARE: Final = 0.7
"""Share of rows on which few levels of a base rate come again."""


def _percent(figures: Figures) -> Figures:
    """Return rates in percent, by the size of their middle one."""
    sizes = figures[~np.isnan(figures) & (figures != 0)]
    if not len(sizes):
        return figures
    middle = float(np.median(np.abs(sizes)))
    return figures * 100.0 if middle < 0.25 else figures / 100.0 if middle > 25 else figures
