"""Forecasts of evenly spaced series by exponential smoothing.

Error, trend and season are added up (ETS AAA).

Excel does not publish its algorithm, so this is one that its few published answers bear out, no more. Without a season
the first value is met, the trend begins with the slope of the straight line through all values, and the weights are
those of a few that leave the least squared error. Of two published series without a season that are no straight lines
one is met; which weights Excel tries besides is a guess. How it begins a season is not known: forecasts agree where
the values repeat exactly with their trend, and in the one other published case ours is 0.3 % below. Intervals, weights
and a season that is found share these doubts. `_CAUTION` says so to whoever asks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.formula.functions.catalogue import OMITTED, function
from core.formula.functions.describe import array, number
from core.formula.ranges.environment import Environment
from core.formula.ranges.reduce import pairs
from core.formula.values import days
from core.formula.values.value import DIV0, NUM, VALUE, Array, Failure
from core.values import DAYS_BETWEEN_SYSTEMS

Vector = NDArray[np.float64]

SEASON_MAX: Final = 8760
"""The longest season: the hours of a year."""
MISSING_MAX: Final = 0.3
"""This share of a series' points may be missing."""
STEPS_AHEAD_MAX: Final = 1_000_000
"""How far behind the last point a forecast may be."""


_CAUTION: Final = (
    "Excel's algorithm is not published. Where values are not a straight line or an exact pattern, "
    "the answer may differ from Excel's."
)

# Series.


@dataclass(frozen=True, slots=True)
class _Series:
    """Values at even steps, those that are missing filled in."""

    values: Vector
    """Divided by the scale, a power of two: their squares stay within range, and their digits as they are."""
    scale: float
    step: float
    """In the timeline's unit."""
    months: int
    """The step, where the timeline is the same day of several months, or their last; else 0."""
    last: float
    """The last point of the timeline."""


_AGGREGATIONS: Final[tuple[Callable[[list[float]], Any], ...]] = (
    np.mean, len, len, np.max, np.median, np.min, np.sum,
)  # fmt: skip
"""What becomes of several values of one point, by the number of the option from 1."""


def _months(places: Sequence[float]) -> list[int] | None:
    """Return the months of days that are the same of their months, or the last of each; None for other places."""
    if min(np.diff(places)) < 28 or any(place != int(place) or not 1 <= place <= days.SERIAL_MAX for place in places):
        return None
    split = [days.split(int(place)) for place in places]
    if len({day for _, _, day in split}) > 1 and not all(days.is_month_end(int(place)) for place in places):
        return None
    return [12 * year + month for year, month, _ in split]


@np.errstate(over="ignore", invalid="ignore")
def _series(
    environment: Environment, values: Array, timeline: Array, completion: Any = OMITTED, aggregation: Any = OMITTED
) -> _Series:
    """Brings values in order, one for each step.

    Raises:
        Failure: as `pairs` (a pair of which one is no number is a missing point); NUM for a wrong option, for steps
            that are not even, too many missing points and a value too large; DIV0 for a single point, VALUE for none.
    """
    complete = 1 if completion is OMITTED else int(completion)
    which = 1 if aggregation is OMITTED else int(aggregation)
    if complete not in (0, 1) or not 1 <= which <= len(_AGGREGATIONS):
        raise Failure(NUM)
    points: dict[float, list[float]] = {}
    for value, place in zip(*pairs(values, timeline), strict=True):
        points.setdefault(place, []).append(value)
    environment.spend(values.rows * values.columns)
    if len(points) < 2:
        raise Failure(DIV0 if points else VALUE)
    places = sorted(points)
    shift = DAYS_BETWEEN_SYSTEMS if environment.date_1904 else 0
    months = _months([place + shift for place in places])
    units = np.array(places if months is None else months, dtype=np.float64)
    gaps = np.diff(units)
    step = float(gaps.min())
    count = (units[-1] - units[0]) / step + 1  # may be too large for a whole number
    if not count * (1 - MISSING_MAX) <= len(places) + 1e-9:
        raise Failure(NUM)
    at = np.rint((units - units[0]) / step)
    if (np.abs(np.diff(at) * step - gaps) > 1e-6 * step).any():
        raise Failure(NUM)
    known = np.array([_AGGREGATIONS[which - 1](points[place]) for place in places], dtype=np.float64)
    if not np.isfinite(known).all():
        raise Failure(NUM)
    filled = np.interp(np.arange(at[-1] + 1), at, known) if complete else np.zeros(int(at[-1]) + 1)
    filled[at.astype(int)] = known
    scale = 2.0 ** min(math.frexp(float(np.abs(filled).max()))[1], 1023)
    if months is None:
        return _Series(filled / scale, scale, step, 0, places[-1])
    shown = 31.0 if step == 1 else float(np.diff(places).min())  # a month is 31 days to Excel
    return _Series(filled / scale, scale, shown, int(step), places[-1])


def _ahead(environment: Environment, series: _Series, target: float) -> float:
    """Return how many steps a place is behind the last point.

    Raises:
        Failure: NUM unless it is behind it, and within STEPS_AHEAD_MAX.
    """
    steps = (target - series.last) / series.step
    if series.months:
        start, end = days.cut(series.last, environment.date_1904), days.cut(target, environment.date_1904)
        (year, month, day), (last_year, last_month, last_day) = days.split(end), days.split(start)
        between = 12.0 * (year - last_year) + month - last_month
        if not (days.is_month_end(start) and days.is_month_end(end)):
            between += (day - last_day) / days.month_length(year, month)
        steps = between / series.months
    if not 1e-6 <= steps <= STEPS_AHEAD_MAX:
        raise Failure(NUM)
    return float(round(steps)) if abs(steps - round(steps)) < 1e-6 else steps


def _season(values: Vector) -> int:
    """Return the length of the pattern that values repeat, 0 for none.

    What is left of them beside their straight line is correlated with itself, shifted. Of the shifts that do better
    than their neighbours it is the first that is as good as any, if it is clear.
    """
    count = len(values)
    longest = min(count // 2, SEASON_MAX)
    rest = values - _trend_line(values)
    if longest < 2 or float(rest @ rest) <= 1e-18 * float(values @ values):
        return 0
    shifts = np.arange(longest + 2)
    left = count - shifts  # values that a shifted series has in common with itself
    spectrum = np.fft.rfft(rest, 1 << (2 * count - 1).bit_length())
    products = np.fft.irfft(spectrum * spectrum.conj())[: longest + 2]
    sums, squares = np.append(0.0, np.cumsum(rest)), np.append(0.0, np.cumsum(rest * rest))
    early, late = sums[left], sums[-1] - sums[shifts]
    powers = (squares[left] - early**2 / left) * (squares[-1] - squares[shifts] - late**2 / left)
    fits = np.where(powers > 0, (products - early * late / left) / np.sqrt(np.maximum(powers, 1e-300)), 0.0)
    inner = fits[2:-1]
    clear = (inner > fits[1:-2]) & (inner >= fits[3:]) & (inner > np.maximum(0.5, 2 / np.sqrt(left[2:-1])))
    if not clear.any():
        return 0
    return 2 + int(np.argmax(clear & (inner > inner[clear].max() - 0.05)))


def _trend_line(values: Vector) -> Vector:
    """Return the straight line through values, at their places."""
    places = np.arange(len(values)) - (len(values) - 1) / 2
    slope = float(places @ (values - values.mean())) / float(places @ places)
    line: Vector = values.mean() + slope * places
    return line


# Smoothing.


@dataclass(frozen=True, slots=True)
class _Model:
    """A smoothed series.

    Its weights, and where its level, trend and season stand behind the last value.
    """

    alpha: float
    beta: float
    gamma: float
    level: float
    trend: float
    season: Vector
    """What comes on top at the next steps, in their order; empty without a season."""
    values: Vector
    errors: Vector
    """Each value less its forecast from those before it."""
    deviation: float
    """The root of the mean squared error."""


_ALPHAS: Final = (0.1, 0.25, 0.5, 0.75, 0.9)
_BETAS: Final = (0.001, 0.1, 0.25, 0.5, 0.75, 0.9)
_SEASONAL: Final = tuple(0.001 + step / 8 for step in range(8))
"""Weights that are tried: of the level and the trend without a season; of the level and the season with one. A guess
from the few that Excel is known to give."""


def _walked(
    values: Vector, start: tuple[float, float, Vector], weights: tuple[Vector, Vector, Vector], errors: Vector | None
) -> tuple[Vector, Vector, list[Vector], Vector]:
    """Return level, trend, season and the summed squares of the errors behind the last value, for each triple of
    weights."""
    alpha, beta, gamma = weights
    level, trend = np.full(len(alpha), start[0]), np.full(len(alpha), start[1])
    season = [np.full(len(alpha), part) for part in start[2]]
    squares = np.zeros(len(alpha))
    for at, value in enumerate(values.tolist()):
        forecast = level + trend
        turn = at % len(season) if season else 0
        error = value - forecast - season[turn] if season else value - forecast
        squares += error * error
        level, trend = forecast + alpha * error, trend + beta * error
        if season:
            season[turn] = season[turn] + gamma * error
        if errors is not None:
            errors[at] = error[0]
    return level, trend, season, squares


def _start(values: Vector, season: int) -> tuple[float, float, Vector]:
    """Return level and trend before the first value, and the parts of the season.

    The first forecast is the first value.
    """
    places = np.arange(len(values), dtype=np.float64)
    if not season:
        line = _trend_line(values)
        slope = float(line[-1] - line[0]) / (len(values) - 1)
        return float(values[0]) - slope, slope, np.zeros(0)
    turns = np.arange(len(values)) % season
    sizes = np.bincount(turns)
    mean_places, mean_values = np.bincount(turns, places) / sizes, np.bincount(turns, values) / sizes
    apart = places - mean_places[turns]
    slope = float(apart @ (values - mean_values[turns])) / float(apart @ apart)
    parts = mean_values - slope * mean_places
    parts -= parts.mean()
    return float(values[0] - parts[0]) - slope, slope, parts


@np.errstate(over="ignore", invalid="ignore")
def _fitted(environment: Environment, series: _Series, season: int) -> _Model:
    """Return the model with the least squared error.

    Raises:
        Failure: NUM for a season of which there are not two.
    """
    values, scale, count = series.values, series.scale, len(series.values)
    if season and count < 2 * season:
        raise Failure(NUM)
    tried = (_SEASONAL, (0.001,), _SEASONAL) if season else (_ALPHAS, _BETAS, (0.0,))
    alpha, beta, gamma = (grid.ravel() for grid in np.meshgrid(*tried, indexing="ij"))
    start = _start(values, season)
    environment.spend(count * len(alpha))
    squares = _walked(values, start, (alpha, beta, gamma), None)[3]
    best = int(np.argmin(np.where(np.isnan(squares), np.inf, squares)))  # those of unsteady weights leave all range
    if squares[best] <= 1e-20 * float(values @ values):  # all weights fit: what is left is rounding
        best = int(np.argmin(beta - alpha))
    errors = np.zeros(count)
    chosen = (alpha[best : best + 1], beta[best : best + 1], gamma[best : best + 1])
    level, trend, parts, _ = _walked(values, start, chosen, errors)
    return _Model(
        alpha=float(alpha[best]),
        beta=float(beta[best]),
        gamma=float(gamma[best]),
        level=float(level[0]) * scale,
        trend=float(trend[0]) * scale,
        season=np.array([parts[(count + at) % season][0] for at in range(season)]) * scale,
        values=values * scale,
        errors=errors * scale,
        deviation=float(np.linalg.norm(errors)) / math.sqrt(count) * scale,
    )


def _model(environment: Environment, series: _Series, seasonality: Any) -> _Model:
    """Return the model of a series whose season is given (0 for none), or found where it is 1 or not given.

    Raises:
        Failure: NUM for a season beyond SEASON_MAX, and as `_fitted`.
    """
    season = 1 if seasonality is OMITTED else int(seasonality)
    if not 0 <= season <= SEASON_MAX:
        raise Failure(NUM)
    return _fitted(environment, series, _season(series.values) if season == 1 else season)


# Answers.


def _between(steps: float, answer: Callable[[int], float]) -> float:
    """Return an answer at a number of steps, on the line between its neighbours."""
    below = int(steps)
    part = steps - below
    return answer(below) if part == 0 else answer(below) * (1 - part) + answer(below + 1) * part


def _forecast(model: _Model, steps: int) -> float:
    """Return a value some steps behind the last; 0 steps is the last level."""
    season = len(model.season)
    return model.level + steps * model.trend + (float(model.season[(steps - 1) % season]) if season else 0.0)


def _spread(model: _Model, steps: int) -> float:
    """Return the standard deviation of a forecast.

    Errors of the steps before it are carried on by the weights.
    """
    before = max(steps - 1, 0)
    squares, sums = before * (before + 1) * (2 * before + 1) / 6, before * (before + 1) / 2
    carried = before * model.alpha**2 + 2 * model.alpha * model.beta * sums + model.beta**2 * squares
    if len(model.season):
        turns = before // len(model.season)
        sums = len(model.season) * turns * (turns + 1) / 2
        carried += turns * (model.gamma**2 + 2 * model.alpha * model.gamma) + 2 * model.beta * model.gamma * sums
    return model.deviation * math.sqrt(1 + carried)


_TARGET = number("target_date", "The point of the timeline to forecast, behind its last one.")
_VALUES = array("values", "The values so far.")
_TIMELINE = array("timeline", "Their points, dates or numbers at even steps, in any order.")
_SEASONALITY = number(
    "seasonality",
    "How long a pattern repeats; 1 or not given: it is looked for; 0: none does.",
    optional=True,
    empty=OMITTED,
)
_COMPLETION = number(
    "data_completion",
    "Missing points: 1 or not given, between their neighbours; 0, zeros.",
    optional=True,
    empty=OMITTED,
)
_AGGREGATION = number(
    "aggregation",
    "Of values of one point: 1 AVERAGE, 2 COUNT, 3 COUNTA, 4 MAX, 5 MEDIAN, 6 MIN, 7 SUM.",
    optional=True,
    empty=OMITTED,
)
_LINE = "{10,12,14,16,18,20},{1,2,3,4,5,6}"
_QUARTERS = "{110,130,150,145,130,150,170,165,150,170,190,185},{1,2,3,4,5,6,7,8,9,10,11,12}"
_WAVE = "{10,20,15,5,12,22,17,7,14,24,19,9},{1,2,3,4,5,6,7,8,9,10,11,12}"


@function(
    "FORECAST.ETS", "statistical", "The value to expect next, with trend and season (exponential smoothing).",
    _TARGET, _VALUES, _TIMELINE, _SEASONALITY, _COMPLETION, _AGGREGATION, environment=True, caution=_CAUTION,
    examples=((f"=ROUND(FORECAST.ETS(8,{_LINE}),9)", 24.0), (f"=ROUND(FORECAST.ETS(13,{_WAVE}),9)", 16.0),
              (f"=FORECAST.ETS(3,{_LINE})", NUM)),
)  # fmt: skip
def forecast_ets(
    environment: Environment,
    target: float,
    values: Array,
    timeline: Array,
    seasonality: Any = OMITTED,
    completion: Any = OMITTED,
    aggregation: Any = OMITTED,
) -> float:
    series = _series(environment, values, timeline, completion, aggregation)
    steps = _ahead(environment, series, target)
    model = _model(environment, series, seasonality)
    return _between(steps, lambda whole: _forecast(model, whole))


@function(
    "FORECAST.ETS.CONFINT", "statistical", "Half of the confidence interval of FORECAST.ETS.",
    _TARGET, _VALUES, _TIMELINE,
    number("confidence_level", "The share of values within, 0 to below 1; 0.95 where not given.",
           optional=True, empty=OMITTED),
    _SEASONALITY, _COMPLETION, _AGGREGATION, environment=True, caution=_CAUTION,
    examples=((f"=ROUND(FORECAST.ETS.CONFINT(13,{_QUARTERS},0.95,0),6)", 25.070268),
              (f"=FORECAST.ETS.CONFINT(7,{_LINE},1)", NUM)),
)  # fmt: skip
def forecast_ets_confint(
    environment: Environment,
    target: float,
    values: Array,
    timeline: Array,
    confidence: Any = OMITTED,
    seasonality: Any = OMITTED,
    completion: Any = OMITTED,
    aggregation: Any = OMITTED,
) -> float:
    share = (1 + (0.95 if confidence is OMITTED else float(confidence))) / 2
    if not 0.5 <= share < 1:
        raise Failure(NUM)
    series = _series(environment, values, timeline, completion, aggregation)
    steps = _ahead(environment, series, target)
    model = _model(environment, series, seasonality)
    return NormalDist().inv_cdf(share) * _between(steps, lambda whole: _spread(model, whole))


@function(
    "FORECAST.ETS.SEASONALITY", "statistical", "The length of the pattern that FORECAST.ETS finds; 0 for none.",
    _VALUES, _TIMELINE, _COMPLETION, _AGGREGATION, environment=True, caution=_CAUTION,
    examples=((f"=FORECAST.ETS.SEASONALITY({_WAVE})", 4.0), (f"=FORECAST.ETS.SEASONALITY({_LINE})", 0.0)),
)  # fmt: skip
def forecast_ets_seasonality(
    environment: Environment, values: Array, timeline: Array, completion: Any = OMITTED, aggregation: Any = OMITTED
) -> float:
    return float(_season(_series(environment, values, timeline, completion, aggregation).values))


def _scaled_error(model: _Model) -> float:
    """Return the mean error as a multiple of that of taking each value for the next one; 0 where nothing changes."""
    naive = float(np.mean(np.abs(np.diff(model.values))))
    return _mean_error(model) / naive if naive else 0.0


def _symmetric_error(model: _Model) -> float:
    """Return the mean error as a share of the mean of value and forecast."""
    sizes = np.abs(model.values) + np.abs(model.values - model.errors)
    return float(np.mean(2 * np.abs(model.errors) / np.where(sizes == 0, 1.0, sizes)))


def _mean_error(model: _Model) -> float:
    return float(np.mean(np.abs(model.errors)))


_STATISTICS: Final[tuple[Callable[[_Model], float], ...]] = (
    lambda model: model.alpha,
    lambda model: model.beta,
    lambda model: model.gamma,
    _scaled_error,
    _symmetric_error,
    _mean_error,
    lambda model: model.deviation,
)
"""By number, from 1; the eighth is the series' step."""


@function(
    "FORECAST.ETS.STAT", "statistical", "How FORECAST.ETS fits.",
    _VALUES, _TIMELINE,
    number("statistic_type", "1 to 3 the weights alpha, beta, gamma; errors: 4 MASE, 5 SMAPE, 6 MAE, 7 RMSE; 8 step."),
    _SEASONALITY, _COMPLETION, _AGGREGATION, environment=True, caution=_CAUTION,
    examples=((f"=FORECAST.ETS.STAT({_LINE},8)", 1.0), (f"=FORECAST.ETS.STAT({_LINE},1)", 0.9),
              (f"=FORECAST.ETS.STAT({_LINE},9)", NUM)),
)  # fmt: skip
def forecast_ets_stat(
    environment: Environment,
    values: Array,
    timeline: Array,
    which: float,
    seasonality: Any = OMITTED,
    completion: Any = OMITTED,
    aggregation: Any = OMITTED,
) -> float:
    if not 1 <= which < 9:
        raise Failure(NUM)
    series = _series(environment, values, timeline, completion, aggregation)
    model = _model(environment, series, seasonality)
    return series.step if int(which) == 8 else _STATISTICS[int(which) - 1](model)
