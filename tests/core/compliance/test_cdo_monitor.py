"""The CDO Monitor: the published formula on a published portfolio's measures, and its measures by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.compliance.cdo_monitor import REGION_OF, Monitor, break_even_default_rate, effective_number, monitor, regions


def test_the_scenario_default_rate_of_a_report() -> None:
    """A trustee's own six measures and its own rate.

    The report's inputs have five to seven digits.
    """
    seen = Monitor(1.0, 1.0, 2728.55199, 659.90538, 141.2186, 17.16394, 1.21400, 4.33655)
    assert seen.scenario_default_rate == pytest.approx(60.247776, abs=5e-6)


def test_the_measures_of_a_small_portfolio() -> None:
    """40 of B (2859.50), 40 of BB (1233.63), 20 masked, 10 of CC which it does not look at."""
    par = np.array([40.0, 40.0, 20.0, 10.0])
    seen = monitor(
        par, np.array([15, 12, 23, 20], np.uint8), np.array([0, 1, 1, 2], np.int32), np.array([0, 0, 1, 2], np.int32),
        np.array([0, -1, -1, 0], np.int32), np.array([2.0, 4.0, 6.0, 1.0]),
    )  # fmt: skip
    assert seen is not None
    average = (2859.50 + 1233.63) / 2
    assert (seen.spwarf, seen.dispersion) == (pytest.approx(average), pytest.approx(2859.50 - average))
    assert seen.obligors == pytest.approx(100**2 / (40**2 + 60**2))
    assert seen.industries == pytest.approx(100**2 / (80**2 + 20**2))
    assert seen.regions == pytest.approx(100**2 / (40**2 + 60**2))  # blanks are one region
    assert seen.years == pytest.approx((40 * 2 + 40 * 4 + 20 * 6) / 100)
    assert seen.covered == pytest.approx(80 / 110)


def test_masked_par_that_a_rating_table_gives_ratings_to() -> None:
    """20 masked, of which 15 are B- (3610.11) and 5 are CC, which the monitor does not look at."""
    par = np.array([40.0, 40.0, 20.0])
    item = np.zeros(3, np.int32)
    seen = monitor(par, np.array([15, 12, 23], np.uint8), item, item, item, np.ones(3), hidden=((16, 15.0), (20, 5.0)))
    assert seen is not None
    average = (40 * 2859.50 + 40 * 1233.63 + 15 * 3610.11) / 95
    assert (seen.par, seen.spwarf) == (95.0, pytest.approx(average))
    distance = 40 * abs(2859.50 - average) + 40 * abs(1233.63 - average) + 15 * abs(3610.11 - average)
    assert seen.dispersion == pytest.approx(distance / 95)


def test_the_cut_off_says_down_to_which_rating_it_looks() -> None:
    """B (2859.50), CCC- (5751.10) and CC (10000), a third each."""
    ranks, item = np.array([15, 19, 20], np.uint8), np.zeros(3, np.int32)

    def spwarf(worst: int) -> float:
        seen = monitor(np.full(3, 10.0), ranks, item, item, item, np.ones(3), worst=worst)
        assert seen is not None
        return seen.spwarf

    assert spwarf(15) == pytest.approx(2859.50)
    assert spwarf(19) == pytest.approx((2859.50 + 5751.10) / 2)
    assert spwarf(22) == pytest.approx((2859.50 + 5751.10 + 10000) / 3)


def test_nothing_to_look_at() -> None:
    item = np.zeros(1, np.int32)
    assert monitor(np.ones(1), np.array([22], np.uint8), item, item, item, np.ones(1)) is None
    assert effective_number(np.zeros(0, np.int32), np.zeros(0)) == 0.0


def test_regions() -> None:
    """A country has one region; one that is in none is a region of its own."""
    assert regions(("DE", "FR", "US", "CA", "Atlantis")).tolist() == [0, 0, 1, 1, 2, -1]
    assert REGION_OF["LT"] != REGION_OF["DE"]


def test_the_break_even_default_rate() -> None:
    assert break_even_default_rate(0.15, 4.0, 0.9, 4.0, 40.0) == pytest.approx(15 + 16 + 36)
