"""What a column of spreads states beside them, where no column says it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import number_cells
from core.portfolio.cells.loans import UNSAID, Loans, put_column
from core.portfolio.cells.rate_cells import RateColumn, rate_column, states_spreads
from core.portfolio.cells.string_pool import Cells, key
from core.portfolio.cells.typed import text_column
from core.portfolio.model.notes import DataWarning
from core.words import agreed, counted

RATE_TARGETS: Final = ("all_in_rate", "base_rate")
"""Fields whose column may hold spreads with their index, in order."""


_FLOATING_TOLD: Final = frozenset(("base_rate", "coupon_type", "is_fixed"))
"""Fields whose columns say whether a loan floats."""


_OF_ANOTHER_RATE: Final = re.compile(
    r"\b(?:prior|previous|old|orig|original|initial|closing|amended|new|proposed|hedge|swap|default|undrawn|fee|comment)"
)
"""Words of headings over rates that are not those of today."""


def spread_place(
    columns: dict[str, int], cells: Callable[[int], Cells], spare: Mapping[int, str]
) -> tuple[str, int] | None:
    """Return the field and column that states spreads under "Rate" or "Index".

    None where a column of spreads is there, or none states them ("S+575").

    Args:
        spare: headings of columns that feed no field: the only one of them that states spreads does, with the field "".
    """
    if "spread" in columns:
        return None
    places = ((target, columns[target]) for target in RATE_TARGETS if target in columns)
    known = next((place for place in places if states_spreads(cells(place[1]))), None)
    if known is not None:
        return known
    stating = [
        place
        for place, heading in spare.items()
        if not _OF_ANOTHER_RATE.search(key(heading)) and states_spreads(cells(place))
    ]
    return ("", stating[0]) if len(stating) == 1 else None


def put_rates(loans: Loans, cells: Cells, own: Collection[str]) -> list[str]:
    """Give the loans index, floor, PIK and coupon of a column of spreads.

    Only of fields that no column of `own` feeds.

    Returns:
        The fields that it now feeds.
    """
    rates = rate_column(cells)
    if rates is None:
        return []
    if not _names_index(loans):
        own = set(own) - {"base_rate"}  # a column of levels alone
    fed = [target for target in ("floor",) if _put_percent(loans, target, rates.percents(target), own)]
    index = rates.index()
    if "base_rate" not in own and (index.codes >= 0).any():
        put_column(loans, "base_rate", text_column(index))
        fed.append("base_rate")
    pays = rates.pays_in_kind()
    if "is_pik" not in own and pays.any():
        loans.flags["is_pik"] = np.where(rates.codes < 0, np.uint8(UNSAID), pays).astype(np.uint8)
        fed.append("is_pik")
    return fed + _put_coupons(loans, cells, rates, own)


def _names_index(loans: Loans) -> bool:
    """Return whether a column names the index of some loan."""
    codes = loans.categories["base_rate"][0] if "base_rate" in loans.categories else None
    return codes is not None and bool((codes >= 0).any())


def _put_percent(loans: Loans, target: str, values: NDArray[np.float64], own: Collection[str]) -> bool:
    """Give the loans a field in percent that no column of its own says."""
    if target in own or np.isnan(values).all():
        return False
    loans.numbers[target] = values
    return True


def _put_coupons(loans: Loans, cells: Cells, rates: RateColumn, own: Collection[str]) -> list[str]:
    """Put fixed coupons, who has one, and all-in rates beside the margins."""
    coupon = rates.percents("coupon")
    is_told_elsewhere = not _FLOATING_TOLD.isdisjoint(own)
    if not is_told_elsewhere and rates.bare.any() and rates.floats().any():
        percents = number_cells.read_numbers(cells).values
        is_coupon = rates.bare_are_fixed(percents)
        if is_coupon:
            coupon[rates.bare] = percents[rates.bare]
            loans.numbers["spread"] = np.where(rates.bare, np.nan, loans.numbers["spread"])
        loans.notes.warnings.append(_bare(int(np.count_nonzero(rates.bare)), is_coupon=is_coupon))
    is_fixed = ~np.isnan(coupon)
    fed = []
    if _put_percent(loans, "all_in_rate", np.where(is_fixed, coupon, rates.percents("all_in")), own):
        fed.append("all_in_rate")
    if not is_told_elsewhere and is_fixed.any():
        loans.coupon_fixed = np.where(is_fixed, 1, np.where(rates.floats(), 0, -1)).astype(np.int8)
        fed.append("coupon_type")
    return fed


def _bare(count: int, *, is_coupon: bool) -> DataWarning:
    """Warn how percentages without an index count in a mixed column."""
    what = "a fixed coupon/fixed coupons" if is_coupon else "a spread/spreads"
    singular, plural = what.split("/")
    message = (
        f"{counted(count, 'cell')} of the column of spreads {agreed(count, 'states/state')} a percentage without an "
        f"index, beside cells with one: {agreed(count, f'it counts as {singular}/they count as {plural}')}."
    )
    return DataWarning("bare_rates", message, count, ("spread", "coupon_type"))
