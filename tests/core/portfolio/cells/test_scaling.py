"""The unit of a column: basis points, percent, fractions, thousands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.portfolio.cells import number_cells, scaling
from core.portfolio.cells._parse import BASIS_POINTS, PERCENT
from core.portfolio.cells.scaling import Scale
from core.portfolio.cells.string_pool import Cells
from tests.core.portfolio.cells.compared import NAN, same


@pytest.mark.parametrize(
    ("values", "unit", "bps"),
    [
        ([0.0375, 0.0425, 0.0], "", [375, 425, 0]),
        ([3.75, 4.25], "", [375, 425]),
        ([375, 425.5], "", [375, 425.5]),
        ([375, 3], "", [375, 3]),
        ([12.5, 20.0], "bps", [12.5, 20]),
        ([3.75, 30], "%", [375, 3000]),
        (["L+350", "S + 3.50%", "SOFR+350bps", "E+375", "3M SOFR + 400"], "", [350, 350, 350, 375, 400]),
        (["3.50%", "4.25%"], "", [350, 425]),
        (["0.0375", 0.0425], "", [375, 425]),
        (["350 bps", 0.035], "", [350, 350]),
        ([None, "N/A"], "", [NAN, NAN]),
    ],
)
def test_spread_units_are_told_by_column(
    make_cells: Callable[..., Cells], values: list[Any], unit: str, bps: list[float]
) -> None:
    numbers = number_cells.read_numbers(make_cells(values), is_spread=True)
    assert np.allclose(scaling.spread_bps(numbers, unit), bps, rtol=0, atol=1e-9, equal_nan=True)


def test_a_percent_format_shows_percent(make_cells: Callable[..., Cells], shown: Callable[..., Any]) -> None:
    cells = make_cells([shown(0.035, "0.00%"), 4.0, shown(5.0, '0.0"%"'), "3.5%", "7bps"])
    read = number_cells.read_numbers(cells)
    assert same(read.values, [3.5, 4.0, 5.0, 3.5, 7.0])
    assert read.marks is not None
    assert read.marks.tolist() == [PERCENT, 0, 0, PERCENT, BASIS_POINTS]
    assert same(
        scaling.spread_bps(number_cells.read_numbers(make_cells([shown(0.035, "0%"), shown(0.04, "0%")]))), [350, 400]
    )


@pytest.mark.parametrize(
    ("values", "percent"),
    [
        ([0.99, 1.0, 1.005], [99, 100, 100.5]),
        ([99.5, 1.5, 100], [99.5, 1.5, 100]),
        ([0.57, 0.8, 0.9], [57, 80, 90]),
        (["99.5%", 98], [99.5, 98]),
    ],
)
def test_price_conventions(make_cells: Callable[..., Cells], values: list[Any], percent: list[float]) -> None:
    numbers = number_cells.read_numbers(make_cells(values))
    assert same(scaling.scale_values(numbers, scaling.price_scale(numbers)), percent)


def test_rates_by_their_median_without_zeros(make_cells: Callable[..., Cells]) -> None:
    def rates(values: list[Any], limit: float = 0.25) -> Any:
        return scaling.rate_percent(number_cells.read_numbers(make_cells(values)), limit)

    assert np.allclose(rates([0.0, 0.0, 0.0, 0.085, 0.09]), [0, 0, 0, 8.5, 9])
    assert same(rates([0.0, 0.0, 8.5, 9.0]), [0, 0, 8.5, 9])
    assert same(rates([0.5, 0.45, 0.6], 1.0), [50, 45, 60])
    assert same(rates([50, 45.0, 0.6], 1.0), [50, 45, 0.6])
    # An even count: the median of 0.2 and 0.4 is 0.3.
    assert same(rates([0.2, 0.4]), [0.2, 0.4])
    assert same(rates([0.1, 0.3]), [10, 30])


def test_floors_are_fractions_only_when_all_are_small(
    make_cells: Callable[..., Cells], shown: Callable[..., Any]
) -> None:
    def floors(values: list[Any]) -> Any:
        return scaling.small_rate_percent(number_cells.read_numbers(make_cells(values)))

    assert np.allclose(floors([0.01, 0.0075, 0.0]), [1, 0.75, 0])
    assert same(floors([0.5, 0.01, 0.0]), [0.5, 0.01, 0])
    assert same(floors([0.0, 0.0]), [0, 0])
    assert same(floors([shown(0.005, "0.00%"), shown(0.01, "0.00%")]), [0.5, 1])


@pytest.mark.parametrize(
    ("target", "values", "unit", "expected"),
    [
        ("spread", [3.5], "bps", ("bps", "header", 1.0)),
        ("spread", [0.035], "%", ("fraction", "median", 10_000.0)),
        ("spread", [3.5], "", ("percent", "median", 100.0)),
        ("spread", ["3.5%"], "", ("bps", "cells", 1.0)),
        ("spread", [None, 0.0], "", ("bps", "nothing", 1.0)),
        ("price", [0.99], "", ("fraction", "median", 100.0)),
        ("price", [990.0], "", ("currency", "median", 1.0)),
        ("price", [None, None], "", ("percent", "nothing", 1.0)),
        ("recovery_rate", [0.5], "", ("fraction", "median", 100.0)),
        ("all_in_rate", [850.0], "bps", ("bps", "header", 0.01)),
        ("floor", [0.5], "", ("percent", "largest", 1.0)),
        ("par_value", [5.0], "", ("as written", "nothing", 1.0)),
    ],
)
def test_a_unit_is_told_with_what_told_it(
    make_cells: Callable[..., Cells],
    target: str,
    values: list[Any],
    unit: str,
    expected: tuple[str, str, float],
) -> None:
    numbers = number_cells.read_numbers(make_cells(values))
    scale = scaling.scale(target, numbers, unit, has_par=True)
    assert (scale.unit, scale.because, scale.factor) == expected


@pytest.mark.parametrize(
    ("cells", "scale", "par"),
    [
        ([1e308, 3.5], Scale("percent", "header", 100.0), None),
        ([1e300, "5%"], Scale("percent", "cells", 1.0), None),
        ([1e308, 5], Scale("millions", "header", 1_000_000.0), None),
        ([1e308, 990], Scale("currency", "median", 1.0), np.array([1e-9, 1_000.0])),
    ],
)
def test_what_leaves_the_range_of_a_number_in_its_unit_is_blank(
    make_cells: Callable[..., Cells], cells: list[Any], scale: Scale, par: NDArray[np.float64] | None
) -> None:
    values = scaling.scale_values(number_cells.read_numbers(make_cells(cells)), scale, par)
    assert np.isnan(values[0])
    assert values[1] in (350.0, 5.0, 5_000_000.0, 99.0)


def test_amounts_in_thousands_are_told_by_the_header(make_cells: Callable[..., Cells]) -> None:
    numbers = number_cells.read_numbers(make_cells([1.5, 2.0]))
    par = scaling.scale("par_value", numbers, magnitude=1_000.0)
    assert (par.unit, scaling.scale_values(numbers, par).tolist()) == ("thousands", [1_500.0, 2_000.0])
    # The figure that the other side wrote in full, to its last bit.
    exact = number_cells.read_numbers(make_cells([320.25753429]))
    assert exact.values[0] * 1_000 != 320257.53429
    assert scaling.scale_values(exact, par).tolist() == [320257.53429]
    value = scaling.scale("price", numbers, magnitude=1_000.0, has_par=True)
    assert (value.unit, value.because) == ("currency", "header")
    assert scaling.scale_values(numbers, value, np.array([1_500.0, 2_500.0])).tolist() == [100.0, 80.0]
    # Without a par it can only be a price.
    assert scaling.scale("price", numbers, magnitude=1_000.0).unit == "fraction"
