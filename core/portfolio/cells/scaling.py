"""Which unit the numbers of a field are in: par, prices and rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells.number_cells import (
    Numbers,
    median_at_most,
    read_numbers,
    values_without_unit,
    with_usual_sign,
)
from core.portfolio.cells.string_pool import Cells


def price_place(places: list[int], cells: Callable[[int], Cells]) -> int:
    """Return which of some price columns is the first with prices and no amounts.

    0 where none is.
    """
    for at, place in enumerate(places):
        if median_at_most(with_usual_sign("price", read_numbers(cells(place))).values, CURRENCY_PRICE):
            return at
    return 0


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit of a column's figures, and what decided it; cells may say their own."""

    unit: Literal["bps", "percent", "fraction", "currency", "thousands", "millions", "as written"]
    """The unit of the cells that say none."""
    because: Literal["header", "median", "largest", "cells", "nothing", "other rates", "level", "par"]
    """The header's words, the median of the absolute values, the largest of them, every cell itself, no value, the
    other rates of the loans, the usual level of the rate, which is a guess, or par, which they come near to."""
    factor: float = 1.0
    """What a cell that says no unit is multiplied by."""
    percent: float = 1.0
    """The same for a cell marked with a %."""
    basis_points: float = 0.01
    """The same for a cell marked with bps."""
    limit: float | None = None
    """What the median or the largest value was held against."""


PRICES: Final = frozenset(("price", "purchase_price"))
"""Targets in percent of par."""

RATES: Final = {
    "all_in_rate": 0.25,
    "recovery_rate": 1.0,
    "recovery_rate_a": 1.0,
    "recovery_rate_b": 1.0,
    "recovery_rate_c": 1.0,
}
"""Targets in percent with the median up to which their column holds fractions."""

SMALL_RATES: Final = frozenset(("floor", "base_rate_level"))
"""Targets in percent that are often below 1 %."""

SLIPS_AMONG: Final = 20
"""Of how many values of such a column one may be in another unit than the rest."""

SMALL_FRACTION_MAX: Final = 0.25
"""The greatest value of a column of floors or base rates that may be fractions."""

BASE_FRACTIONS: Final = (0.02, 0.065)
"""Between these lies the median of a column of base rates that are fractions where no other rate decides: 2 to 6.5 %.
As percentages these would be 2 to 6.5 basis points."""

BASE_FIT_MAX: Final = 0.1
"""Percentage points by which a base rate may differ, in the median, from all-in rate less spread."""

AMOUNTS: Final = frozenset(("par_value", "facility_size", "unfunded", "purchased_accrued_interest"))
"""Targets in units of currency."""

CURRENCY_PRICE: Final = 200.0
"""A price column with a greater median holds amounts of currency, not percent of par."""


@dataclass(frozen=True, slots=True)
class RatesBeside:
    """The other rates of the same loans, which decide the unit of small ones."""

    spread_unit: str = ""
    """The unit that the column of spreads was read in; blank without one, or where each cell states its own."""
    base: NDArray[np.float64] | None = None
    """All-in rate less spread, in percent: what a base rate should come to."""


def scale(
    target: str,
    numbers: Numbers,
    unit: str = "",
    magnitude: float = 1.0,
    *,
    has_par: bool = False,
    beside: Callable[[], RatesBeside] | None = None,
) -> Scale:
    """Find the unit of a column for `target`: basis points, percent or currency.

    Args:
        unit: what the header says: "bps", "%" or nothing.
        magnitude: what the header multiplies amounts by: 1,000 or 1,000,000.
        has_par: whether amounts of currency can be told as a price.
        beside: tells of the other rates, where figures alone leave the unit open.
    """
    if target == "spread":
        return spread_scale(numbers, unit)
    if target in PRICES:
        return price_scale(numbers, magnitude, has_par=has_par)
    if target in RATES:
        return rate_scale(numbers, RATES[target], unit)
    if target in SMALL_RATES:
        return small_rate_scale(numbers, unit, beside, is_base=target == "base_rate_level")
    if target in AMOUNTS and magnitude != 1.0:
        return Scale(_MAGNITUDES[magnitude], "header", magnitude)
    return Scale("as written", "nothing")


_MAGNITUDES: Final[dict[float, Literal["thousands", "millions"]]] = {1_000.0: "thousands", 1_000_000.0: "millions"}


def scale_values(numbers: Numbers, scale: Scale, par: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the values in the target's unit; `par` turns amounts into prices.

    Blank is what is too large for a double then.
    """
    if scale.unit == "currency":
        assert par is not None
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return _finite(numbers.values * scale.factor / par * 100.0)
    if scale.unit in ("as written", "thousands", "millions"):
        # To the sixth decimal, so that 1234.56789 thousands are the amount that the other side wrote in full.
        return numbers.values if scale.factor == 1.0 else _times(numbers.values, scale.factor, 6)
    if numbers.marks is None:
        # To the ninth decimal, so that 0.57 is 57 and not a hair below a limit.
        return numbers.values if scale.factor == 1.0 else _times(numbers.values, scale.factor, 9)
    by_mark = np.array([scale.factor, scale.percent, scale.basis_points], np.float64)
    return _times(numbers.values, by_mark[numbers.marks], 9)


def _times(values: NDArray[np.float64], factor: float | NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return _finite(np.round(values * factor, decimals))


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with blanks in place of infinities."""
    values[np.isinf(values)] = np.nan
    return values


def spread_scale(numbers: Numbers, unit: str = "") -> Scale:
    """Return the unit of a column of spreads; to basis points.

    Cells with their own unit keep it; the unit of all others is one for the column: the header's, else by the median
    (at most 0.25 a fraction, at most 25 percent, above basis points). Fractions stay such under a header with a %.
    """
    rest = values_without_unit(numbers)
    if unit == "bps":
        return Scale("bps", "header", 1.0, 100.0, 1.0)
    if median_at_most(rest, 0.25):
        return Scale("fraction", "median", 10_000.0, 100.0, 1.0, 0.25)
    if unit == "%":
        return Scale("percent", "header", 100.0, 100.0, 1.0)
    if median_at_most(rest, 25.0):
        return Scale("percent", "median", 100.0, 100.0, 1.0, 25.0)
    return Scale("bps", _scale_source(numbers, rest), 1.0, 100.0, 1.0, 25.0)


def price_scale(numbers: Numbers, magnitude: float = 1.0, *, has_par: bool = False) -> Scale:
    """Return the unit of a column of prices; to percent of par.

    A column with a median of at most 2 holds fractions; one above `CURRENCY_PRICE`, or whose header says thousands or
    millions, market values in currency, where there is a par to divide them by.
    """
    rest = values_without_unit(numbers)
    if has_par and magnitude != 1.0:
        return Scale("currency", "header", magnitude)
    if has_par and not median_at_most(numbers.values, CURRENCY_PRICE) and bool((np.abs(numbers.values) > 0).any()):
        return Scale("currency", "median", limit=CURRENCY_PRICE)
    if median_at_most(rest, 2.0):
        return Scale("fraction", "median", 100.0, limit=2.0)
    return Scale("percent", _scale_source(numbers, rest), limit=2.0)


VALUE_OF_PAR: Final = (0.3, 1.3)
"""Market value over par within which a loan's lies; prices in percent are much more or much less."""

VALUES_SHARE: Final = 0.8
"""Share of a column's figures that must lie there for a column of market values in the unit of par."""


def are_values_of(values: NDArray[np.float64], par: NDArray[np.float64]) -> bool:
    """Return whether figures are market values in the unit of par, and no prices."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(values / par)
        known = np.isfinite(ratio) & (values != 0)
        near = known & (ratio >= VALUE_OF_PAR[0]) & (ratio <= VALUE_OF_PAR[1])
    return bool(known.any()) and int(np.count_nonzero(near)) >= VALUES_SHARE * int(np.count_nonzero(known))


def rate_scale(numbers: Numbers, fraction_max: float = 0.25, unit: str = "") -> Scale:
    """Find the unit of a column of rates, to percent.

    With a median of at most `fraction_max` it has fractions.

    `unit` is what the header says: "bps" is believed.
    """
    if unit == "bps":
        return Scale("bps", "header", 0.01)
    rest = values_without_unit(numbers)
    if median_at_most(rest, fraction_max):
        return Scale("fraction", "median", 100.0, limit=fraction_max)
    return Scale("percent", _scale_source(numbers, rest), limit=fraction_max)


def small_rate_scale(
    numbers: Numbers, unit: str = "", beside: Callable[[], RatesBeside] | None = None, *, is_base: bool = False
) -> Scale:
    """Return the unit of a column of floors or base rates; to percent.

    Fractions when every value but zero is at most 0.05 (0.50 is 0.50 %). Above, up to `SMALL_FRACTION_MAX`, the other
    rates of the loans decide: what the all-in rates leave for a base rate, then fractions of a spread, then the level
    that a base rate mostly has, which is a guess. Of twenty values the largest may be a slip, and decides nothing.

    `unit` is what the header says: "bps" is believed.
    """
    if unit == "bps":
        return Scale("bps", "header", 0.01)
    rest = np.abs(values_without_unit(numbers))
    known = np.sort(rest[rest > 0])
    largest = float(known[-1 - len(known) // SLIPS_AMONG]) if len(known) else 0.0
    if 0 < largest <= 0.05:
        return Scale("fraction", "largest", 100.0, limit=0.05)
    percent = Scale("percent", _scale_source(numbers, rest, "largest"), limit=0.05)
    if beside is None or not 0.05 < largest <= SMALL_FRACTION_MAX:
        return percent
    others = beside()
    if is_base and others.base is not None:
        is_fraction = _fits_as_fraction(numbers.values, others.base)
        if is_fraction is not None:
            return Scale("fraction", "other rates", 100.0) if is_fraction else Scale("percent", "other rates")
    if others.spread_unit == "fraction":
        return Scale("fraction", "other rates", 100.0)
    low, high = BASE_FRACTIONS
    is_level = (
        is_base
        and bool((values_without_unit(numbers) >= 0).sum())
        and low <= float(np.nanmedian(rest[rest > 0])) <= high
    )
    if is_level and not (values_without_unit(numbers) < 0).any():
        return Scale("fraction", "level", 100.0, limit=high)
    return percent


def _fits_as_fraction(levels: NDArray[np.float64], base: NDArray[np.float64]) -> bool | None:
    """Return whether base rates as fractions fit all-in rates and spreads.

    None where no unit fits.
    """
    known = ~np.isnan(levels) & ~np.isnan(base) & (levels != 0)
    if not known.any():
        return None
    as_fraction, as_percent = (
        float(np.median(np.abs(levels[known] * factor - base[known]))) for factor in (100.0, 1.0)
    )
    return as_fraction < as_percent if min(as_fraction, as_percent) <= BASE_FIT_MAX else None


def _scale_source(
    numbers: Numbers, rest: NDArray[np.float64], figure: Literal["median", "largest"] = "median"
) -> Literal["median", "largest", "cells", "nothing"]:
    """Return what decided the unit where the header does not say it."""
    if bool((np.abs(rest) > 0).any()):
        return figure
    return "nothing" if numbers.marks is None else "cells"


def spread_bps(numbers: Numbers, unit: str = "") -> NDArray[np.float64]:
    """Return spreads in basis points; see `spread_scale`."""
    return scale_values(numbers, spread_scale(numbers, unit))


def rate_percent(numbers: Numbers, fraction_max: float = 0.25, unit: str = "") -> NDArray[np.float64]:
    """Return rates in percent; see `rate_scale`."""
    return scale_values(numbers, rate_scale(numbers, fraction_max, unit))


def small_rate_percent(numbers: Numbers, unit: str = "") -> NDArray[np.float64]:
    """Return floors and base rates in percent; see `small_rate_scale`."""
    return scale_values(numbers, small_rate_scale(numbers, unit))
