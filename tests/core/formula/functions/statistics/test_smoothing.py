"""Forecasts by exponential smoothing.

A plain twin of the published model, and what must hold for any series.

Values of Excel itself stand in `cases/forecast.json`.
"""

from __future__ import annotations

import math
import random
from itertools import pairwise
from statistics import NormalDist, linear_regression
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.core.formula.calculated import Cells, calculated, same
from tests.rows import every

LINE = "{2,4,6,8,10,12}"
DAYS = "{1,2,3,4,5,6}"
MONTH_ENDS = "{43861,43890,43921,43951}"  # January to April 2020
CASES: tuple[tuple[str, Any], ...] = (
    # Timelines: any order, fractions, months of unlike lengths, their ends, a day between.
    ("=FORECAST.ETS(7,{12,2,8,4,10,6},{6,1,4,2,5,3})", 14), ("=FORECAST.ETS(3,{1,2,3,4},{1.25,1.5,1.75,2})", 8),
    (f"=FORECAST.ETS(DATE(2020,5,31),{{1,2,3,4}},{MONTH_ENDS})", 5),
    (f"=FORECAST.ETS(DATE(2021,4,30),{{1,2,3,4}},{MONTH_ENDS})", 16),
    ("=FORECAST.ETS(DATE(2021,2,1),{1,2,4},{44136,44166,44228})", "#NUM!"),  # the last point itself
    ("=FORECAST.ETS(DATE(2021,3,1),{1,2,4},{44136,44166,44228})", 5),  # January is missing
    ("=FORECAST.ETS(DATE(2024,1,1),{1,2,3},{43831,44197,44562})", 5),  # years
    ("=FORECAST.ETS.STAT({1,2,3},{43831,44197,44562},8)", 365), (f"=FORECAST.ETS(6.5,{LINE},{DAYS})", 13),
    ("=FORECAST.ETS(3000000,{1,2,3},{43831,44197,44562})", "#NUM!"),  # behind the last day
    # Missing points and several values of one.
    ("=FORECAST.ETS(7,{2,4,6,10,12},{1,2,3,5,6})", 14),
    ("=FORECAST.ETS.STAT({2,4,6,10,12},{1,2,3,5,6},6,0)", 0), ("=FORECAST.ETS.STAT({2,4,6,10,12},{1,2,3,5,6},8)", 1),
    ("=FORECAST.ETS.STAT({2,4,6,10,12},{1,2,3,5,6},6,0,0)>1", True),
    ('=FORECAST.ETS(7,{2,4,6,"x",10,12},{1,2,3,4,5,6})', 14), ("=FORECAST.ETS(9,{1,2,3,4,5},{1,2,3,4,8})", "#NUM!"),
    ("=FORECAST.ETS(8,{1,2,3,6,7},{1,2,3,6,7})", 8), ("=FORECAST.ETS(10,{1,2,3,7,8},{1,2,3,7,8})", "#NUM!"),
    ("=FORECAST.ETS(4,{1,3,4,6},{1,1,2,3})", 8), ("=FORECAST.ETS(4,{1,3,2,3},{1,1,2,3},0,1,6)", 4),
    ("=FORECAST.ETS(4,{-1,1,3,5},{1,1,2,3},0,1,4)", 7), ("=FORECAST.ETS(4,{1,0,3,5},{1,1,2,3},0,1,7)", 7),
    ("=FORECAST.ETS(4,{0,1,9,3,5},{1,1,1,2,3},0,1,5)", 7), ("=FORECAST.ETS(4,{7,7,9,9},{1,1,2,3},0,1,2)=4", False),
    ("=FORECAST.ETS(4,{7,7,8,9,9,9},{1,1,1,2,2,3},0,1,3)", 0),  # 3, 2, 1 of them
    # What is refused.
    (f"=FORECAST.ETS(7,{LINE},{DAYS},-1)", "#NUM!"), (f"=FORECAST.ETS(7,{LINE},{DAYS},4)", "#NUM!"),
    (f"=FORECAST.ETS(7,{LINE},{DAYS},,2)", "#NUM!"), (f"=FORECAST.ETS(7,{LINE},{DAYS},,,8)", "#NUM!"),
    (f"=FORECAST.ETS(7,{LINE},{DAYS},,,0)", "#NUM!"), (f"=FORECAST.ETS(7,{LINE},{DAYS},,,)", 14),
    (f"=FORECAST.ETS(1E+300,{LINE},{DAYS})", "#NUM!"), ("=FORECAST.ETS(5,{1,2,#REF!,4},{1,2,3,4})", "#REF!"),
    ('=FORECAST.ETS(5,{"a","b"},{1,2})', "#VALUE!"), ("=FORECAST.ETS(5,{1,2,3},{-1E+308,0,1E+308})", "#NUM!"),
    ("=FORECAST.ETS(5,{1,2,3},{1,2,1E+300})", "#NUM!"), ("=FORECAST.ETS(4,{3,3},{2,2})", "#DIV/0!"),
    (f"=FORECAST.ETS.CONFINT(7,{LINE},{DAYS},-0.1)", "#NUM!"), (f"=FORECAST.ETS({{7,8}},{LINE},{DAYS})", [[14, 16]]),
    ("=FORECAST.ETS.STAT({5,5,5},{1,2,3},4)", 0), ("=FORECAST.ETS.SEASONALITY({5,5,5,5,5},{1,2,3,4,5})", 0),
    # Huge and tiny values keep their digits.
    ("=FORECAST.ETS(4,{1E+308,1.1E+308,1.2E+308},{1,2,3})", 1.3e308),
    ("=FORECAST.ETS(4,{1E+308,1.3E+308,1.6E+308},{1,2,3})", "#NUM!"),
    ("=FORECAST.ETS(5,{1E+200,2E+200,3.5E+200,4E+200},{1,2,3,4})/FORECAST.ETS(5,{1,2,3.5,4},{1,2,3,4})", 1e200),
    ("=FORECAST.ETS.STAT({1E-200,2E-200,3.5E-200,4E-200},{1,2,3,4},7)*1E+200/FORECAST.ETS.STAT({1,2,3.5,4},{1,2,3,4},7)",
     1),
)  # fmt: skip


@every("formula, expected", CASES)
def test_values(formula: str, expected: Any) -> None:
    result = calculated(formula)
    assert same(result, expected, 1e-9) or (expected == 0 and abs(result) < 1e-12), result


VALUES = st.lists(st.integers(-50, 50).map(float), min_size=3, max_size=14)


def sheet(values: list[float]) -> Cells:
    cells = Cells(
        {f"{column}{row}": at for row, value in enumerate(values, 1) for column, at in (("A", row), ("B", value))}
    )
    cells.deadline = math.inf
    return cells


def smoothed(values: list[float], alpha: float, beta: float) -> tuple[float, float, list[float]]:
    """Holt's linear method with additive error.

    Y = level + trend + error, from the first value on.
    """
    trend = linear_regression(range(len(values)), values).slope
    level, errors = values[0], [0.0]
    for value in values[1:]:
        error = value - (level + trend)
        level, trend = level + trend + alpha * error, trend + beta * error
        errors.append(error)
    return level, trend, errors


@given(VALUES, st.integers(1, 40))
def test_without_a_season_it_is_holts_method(values: list[float], ahead: int) -> None:
    last = len(values)
    cells, series = sheet(values), f"B1:B{last},A1:A{last}"
    statistic = [calculated(f"=FORECAST.ETS.STAT({series},{which},0)", cells) for which in range(1, 9)]
    alpha, beta, gamma, mase, smape, mae, rmse, step = statistic
    level, trend, errors = smoothed(values, alpha, beta)
    near = {"rel_tol": 1e-9, "abs_tol": 1e-9}
    assert math.isclose(calculated(f"=FORECAST.ETS({last + ahead},{series},0)", cells), level + ahead * trend, **near)
    assert math.isclose(rmse, math.sqrt(math.fsum(error * error for error in errors) / last), **near)
    assert math.isclose(mae, math.fsum(map(abs, errors)) / last, **near)
    changes = math.fsum(abs(after - before) for before, after in pairwise(values)) / (last - 1)
    assert math.isclose(mase * changes, mae if changes else 0.0, **near)
    assert 0 <= smape <= 2
    assert (gamma, step) == (0, 1)
    variance = 1 + sum((alpha + beta * before) ** 2 for before in range(1, ahead))
    half = NormalDist().inv_cdf(0.9) * rmse * math.sqrt(variance)
    assert math.isclose(calculated(f"=FORECAST.ETS.CONFINT({last + ahead},{series},0.8,0)", cells), half, **near)
    for second in ((0.1, 0.001), (0.25, 0.1), (0.5, 0.5), (0.9, 0.25)):  # no other weights do better
        assert rmse <= math.sqrt(math.fsum(error * error for error in smoothed(values, *second)[2]) / last) + 1e-9


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=7), st.integers(-3, 3), st.integers(2, 4), st.integers(1, 20)
)
def test_what_repeats_exactly_goes_on(pattern: list[int], slope: int, cycles: int, ahead: int) -> None:
    season = len(pattern)
    values = [float(pattern[at % season] + slope * at) for at in range(cycles * season)]
    cells, series = sheet(values), f"B1:B{len(values)},A1:A{len(values)}"
    at = len(values) - 1 + ahead
    result = calculated(f"=FORECAST.ETS({at + 1},{series},{season})", cells)
    assert math.isclose(result, pattern[at % season] + slope * at, rel_tol=1e-9, abs_tol=1e-9)
    assert abs(calculated(f"=FORECAST.ETS.CONFINT({at + 1},{series},,{season})", cells)) < 1e-9


def test_a_season_is_found_within_noise_and_not_in_noise() -> None:
    chance = random.Random(7)
    result = []
    for season in (3, 4, 7, 12):
        wave = [10 * math.sin(2 * math.pi * at / season) + at + chance.gauss(0, 3) for at in range(season * 5)]
        cells = sheet(wave)
        result.append(calculated(f"=FORECAST.ETS.SEASONALITY(B1:B{len(wave)},A1:A{len(wave)})", cells))
    assert result == [3.0, 4.0, 7.0, 12.0]
    noise = [sheet([chance.gauss(0, 1) for _ in range(24)]) for _ in range(20)]
    seasons = [calculated("=FORECAST.ETS.SEASONALITY(B1:B24,A1:A24)", cells) for cells in noise]
    assert seasons.count(0.0) >= 17
    assert calculated("=FORECAST.ETS(61,B1:B60,A1:A60,12)", sheet([float(at % 12) for at in range(60)])) == 0.0
