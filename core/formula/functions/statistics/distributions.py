"""Probability distributions, their inverses, and the gamma and error functions.

Densities come from `density`; cumulated probabilities and inverses from `special`.
Counts and degrees of freedom are cut to whole numbers, after the check of their sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Argument, Body, function
from core.formula.functions.describe import logical, number
from core.formula.functions.statistics import density, special
from core.formula.functions.toolpak import need
from core.formula.values.value import DIV0, NUM, Failure

_NORMAL = NormalDist()
_FREEDOM_MAX = 1e10
"""Degrees of freedom above this are #NUM!."""


_X = number("x", "Where to look.")
_P = number("probability", "Between 0 and 1.")
_MEAN = number("mean", "The mean.")
_DEVIATION = number("standard_dev", "The standard deviation, above 0.")
_FREEDOM = number("deg_freedom", "Degrees of freedom, from 1.")
_FREEDOM1 = number("deg_freedom1", "Degrees of freedom of the numerator, from 1.")
_FREEDOM2 = number("deg_freedom2", "Degrees of freedom of the denominator, from 1.")
_ALPHA = number("alpha", "A shape, above 0.")
_BETA = number("beta", "The other shape or the scale, above 0.")
_CUMULATIVE = logical("cumulative", "TRUE: up to x; FALSE: the density or the probability of just x.")


def _enter(names: str, description: str, *arguments: Argument, example: tuple[str, Any]) -> Callable[[Body], Body]:
    """Enter a body under several names; NAME stands for the name in the example."""

    def enter(body: Body) -> Body:
        for name in names.split():
            rows = ((example[0].replace("NAME", name), example[1]),)
            function(name, "statistical", description, *arguments, examples=rows)(body)
        return body

    return enter


# Normal.


def normal_below(z: float) -> float:
    """Return the standard normal distribution up to z."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def _normal_density(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


@_enter("NORM.DIST NORMDIST", "The normal distribution.", _X, _MEAN, _DEVIATION, _CUMULATIVE,
        example=("=ROUND(NAME(42,40,1.5,TRUE),6)", 0.908789))  # fmt: skip
def norm_dist(x: float, mean: float, deviation: float, cumulative: bool) -> float:
    need(deviation > 0)
    z = (x - mean) / deviation
    return normal_below(z) if cumulative else _normal_density(z) / deviation


@_enter("NORM.S.DIST", "The standard normal distribution.", number("z", "Where to look."), _CUMULATIVE,
        example=("=NAME(0,TRUE)", 0.5))  # fmt: skip
def norm_s_dist(z: float, cumulative: bool) -> float:
    return normal_below(z) if cumulative else _normal_density(z)


_enter("NORMSDIST", "The standard normal distribution up to z.", number("z", "Where to look."),
       example=("=NAME(0)", 0.5))(normal_below)  # fmt: skip
_enter("PHI", "The density of the standard normal distribution.", _X,
       example=("=ROUND(NAME(0.75),6)", 0.301137))(_normal_density)  # fmt: skip


@_enter("GAUSS", "The standard normal distribution from 0 to z.", number("z", "Where to look."),
        example=("=ROUND(NAME(2),6)", 0.477250))  # fmt: skip
def gauss(z: float) -> float:
    return math.erf(z / math.sqrt(2)) / 2


@_enter("NORM.INV NORMINV", "The number below which a share of a normal distribution lies.", _P, _MEAN, _DEVIATION,
        example=("=ROUND(NAME(0.908789,40,1.5),4)", 42.0))  # fmt: skip
def norm_inv(p: float, mean: float, deviation: float) -> float:
    need(0 < p < 1, deviation > 0)
    return mean + deviation * _NORMAL.inv_cdf(p)


@_enter("NORM.S.INV NORMSINV", "The number below which a share of the standard normal distribution lies.", _P,
        example=("=NAME(0.5)", 0.0))  # fmt: skip
def norm_s_inv(p: float) -> float:
    need(0 < p < 1)
    return _NORMAL.inv_cdf(p)


@_enter("LOGNORM.DIST", "The distribution of what has a normal logarithm.", _X, _MEAN, _DEVIATION, _CUMULATIVE,
        example=("=ROUND(NAME(4,3.5,1.2,TRUE),6)", 0.039084))  # fmt: skip
def lognorm_dist(x: float, mean: float, deviation: float, cumulative: bool) -> float:
    need(x > 0, deviation > 0)
    z = (math.log(x) - mean) / deviation
    return normal_below(z) if cumulative else _normal_density(z) / (deviation * x)


@_enter("LOGNORMDIST", "The distribution of what has a normal logarithm, up to x.", _X, _MEAN, _DEVIATION,
        example=("=ROUND(NAME(4,3.5,1.2),6)", 0.039084))  # fmt: skip
def lognorm_below(x: float, mean: float, deviation: float) -> float:
    return lognorm_dist(x, mean, deviation, True)


@_enter("LOGNORM.INV LOGINV", "The number below which a share lies whose logarithm is normal.", _P, _MEAN, _DEVIATION,
        example=("=ROUND(NAME(0.039084,3.5,1.2),4)", 4.0))  # fmt: skip
def lognorm_inv(p: float, mean: float, deviation: float) -> float:
    exponent = norm_inv(p, mean, deviation)
    need(exponent < 709.78)
    return math.exp(exponent)


# Student's t.


def t_above(x: float, freedom: float) -> float:
    """Return the share of Student's t beyond x; degrees of freedom need not be whole."""
    if x < 0:
        return 1 - t_above(-x, freedom)
    square = x * x
    if square < freedom:
        return 0.5 - special.beta_below(0.5, freedom / 2, square / (freedom + square)) / 2
    return special.beta_below(freedom / 2, 0.5, freedom / (freedom + square)) / 2


def _t_beyond(p: float, freedom: float) -> float:
    """Return the t beyond which a share lies."""
    return -special.student_inverse(freedom, p) if p <= 0.5 else special.student_inverse(freedom, 1 - p)


@_enter("T.DIST", "Student's t.", _X, _FREEDOM, _CUMULATIVE, example=("=ROUND(NAME(1,10,TRUE),6)", 0.829553))
def t_dist(x: float, freedom: float, cumulative: bool) -> float:
    if 0 <= freedom < 1 and not cumulative:
        raise Failure(DIV0)
    need(freedom >= 1)
    return t_above(-x, int(freedom)) if cumulative else density.student(x, int(freedom))


@_enter("T.DIST.RT", "Student's t beyond x.", _X, _FREEDOM, example=("=ROUND(NAME(1.959999998,60),6)", 0.027322))
def t_dist_above(x: float, freedom: float) -> float:
    need(freedom >= 1)
    return t_above(x, int(freedom))


@_enter("T.DIST.2T", "Student's t beyond x on both sides.", _X, _FREEDOM,
        example=("=ROUND(NAME(1.959999998,60),6)", 0.054645))  # fmt: skip
def t_dist_both(x: float, freedom: float) -> float:
    need(x >= 0, freedom >= 1)
    return 2 * t_above(x, int(freedom))


@_enter("TDIST", "Student's t beyond x.", _X, _FREEDOM, number("tails", "1 or 2."),
        example=("=ROUND(NAME(1.959999998,60,2),6)", 0.054645))  # fmt: skip
def t_dist_tails(x: float, freedom: float, tails: float) -> float:
    need(x >= 0, freedom >= 1, int(tails) in (1, 2))
    return int(tails) * t_above(x, int(freedom))


@_enter("T.INV", "The t below which a share lies.", _P, _FREEDOM, example=("=ROUND(NAME(0.75,2),6)", 0.816497))
def t_inv(p: float, freedom: float) -> float:
    need(0 < p < 1, freedom >= 1)
    return -_t_beyond(p, int(freedom))


@_enter("T.INV.2T", "The t beyond which a share lies on both sides.", _P, _FREEDOM,
        example=("=ROUND(NAME(0.546449,60),6)", 0.606533))  # fmt: skip
def t_inv_both(p: float, freedom: float) -> float:
    need(0 < p < 2, freedom >= 1)  # up to 2: Excel goes on past 1, T.INV.2T(1.5,10) is -0.6998
    return _t_beyond(p / 2, int(freedom))


@_enter("TINV", "The t beyond which a share lies on both sides.", _P, _FREEDOM,
        example=("=ROUND(NAME(0.054645,60),4)", 1.96))  # fmt: skip
def t_inv_both_old(p: float, freedom: float) -> float:
    need(p <= 1)
    return t_inv_both(p, freedom)


# Fisher's F.


def f_above(x: float, first: float, second: float) -> float:
    """Return the share of F beyond x."""
    scaled = first * x
    if scaled > second:
        return special.beta_below(second / 2, first / 2, second / (second + scaled))
    return special.beta_above(first / 2, second / 2, scaled / (second + scaled))


def _f_freedom(first: float, second: float) -> tuple[int, int]:
    need(1 <= first < _FREEDOM_MAX, 1 <= second < _FREEDOM_MAX)
    return int(first), int(second)


@_enter(
    "F.DIST",
    "Fisher's F.",
    _X,
    _FREEDOM1,
    _FREEDOM2,
    _CUMULATIVE,
    example=("=ROUND(NAME(15.20686486,6,4,TRUE),6)", 0.99),
)
def f_dist(x: float, first: float, second: float, cumulative: bool) -> float:
    first, second = _f_freedom(first, second)
    need(x >= 0)
    if cumulative:
        return special.beta_below(first / 2, second / 2, first * x / (second + first * x))
    if x == 0:
        need(first >= 2)
        return 1.0 if first == 2 else 0.0
    return density.fisher(x, first, second)


@_enter(
    "F.DIST.RT FDIST",
    "Fisher's F beyond x.",
    _X,
    _FREEDOM1,
    _FREEDOM2,
    example=("=ROUND(NAME(15.20686486,6,4),6)", 0.01),
)
def f_dist_above(x: float, first: float, second: float) -> float:
    first, second = _f_freedom(first, second)
    need(x >= 0)
    return f_above(x, first, second)


@_enter(
    "F.INV", "The F below which a share lies.", _P, _FREEDOM1, _FREEDOM2, example=("=ROUND(NAME(0.01,6,4),6)", 0.109310)
)
def f_inv(p: float, first: float, second: float) -> float:
    first, second = _f_freedom(first, second)
    need(0 <= p < 1)
    share = special.beta_inverse(first / 2, second / 2, p)
    return second * share / (first * (1 - share))


@_enter(
    "F.INV.RT FINV",
    "The F beyond which a share lies.",
    _P,
    _FREEDOM1,
    _FREEDOM2,
    example=("=ROUND(NAME(0.01,6,4),5)", 15.20686),
)
def f_inv_above(p: float, first: float, second: float) -> float:
    first, second = _f_freedom(first, second)
    need(0 < p <= 1)
    share = special.beta_inverse(second / 2, first / 2, p)  # of the mirrored distribution: exact for small p
    return second * (1 - share) / (first * share)


# Chi-squared.


def chi_above(x: float, freedom: float) -> float:
    """Return the share of the chi-squared distribution beyond x."""
    return special.gamma_above(freedom / 2, x / 2)


def _chi_freedom(freedom: float) -> int:
    need(1 <= freedom <= _FREEDOM_MAX)
    return int(freedom)


@_enter(
    "CHISQ.DIST",
    "The chi-squared distribution.",
    _X,
    _FREEDOM,
    _CUMULATIVE,
    example=("=ROUND(NAME(0.5,1,TRUE),6)", 0.520500),
)
def chi_dist(x: float, freedom: float, cumulative: bool) -> float:
    freedom = _chi_freedom(freedom)
    need(x >= 0)
    if cumulative:
        return special.gamma_below(freedom / 2, x / 2)
    if x == 0:
        need(freedom >= 2)
        return 0.5 if freedom == 2 else 0.0
    return density.gamma(x / 2, freedom / 2) / 2


@_enter(
    "CHISQ.DIST.RT CHIDIST",
    "The chi-squared distribution beyond x.",
    _X,
    _FREEDOM,
    example=("=ROUND(NAME(18.307,10),6)", 0.050001),
)
def chi_dist_above(x: float, freedom: float) -> float:
    freedom = _chi_freedom(freedom)
    need(x >= 0)
    return chi_above(x, freedom)


@_enter(
    "CHISQ.INV",
    "The number below which a share of chi-squared lies.",
    _P,
    _FREEDOM,
    example=("=ROUND(NAME(0.93,1),6)", 3.283020),
)
def chi_inv(p: float, freedom: float) -> float:
    freedom = _chi_freedom(freedom)
    need(0 <= p < 1)
    return 2 * special.gamma_inverse(freedom / 2, p)


@_enter("CHISQ.INV.RT CHIINV", "The number beyond which a share of chi-squared lies.", _P, _FREEDOM,
        example=("=ROUND(NAME(0.050001,10),3)", 18.307))  # fmt: skip
def chi_inv_above(p: float, freedom: float) -> float:
    freedom = _chi_freedom(freedom)
    need(0 < p <= 1)
    return 2 * special.gamma_inverse_above(freedom / 2, p)


# Beta and gamma.

_LOW = number("A", "The lower bound; 0 where not given.", optional=True)
_HIGH = number("B", "The upper bound; 1 where not given.", optional=True, empty=OMITTED)


@_enter("BETA.DIST", "The beta distribution.", _X, _ALPHA, _BETA, _CUMULATIVE, _LOW, _HIGH,
        example=("=ROUND(NAME(2,8,10,TRUE,1,3),6)", 0.685471))  # fmt: skip
def beta_dist(x: float, a: float, b: float, cumulative: bool, low: float = 0.0, high: Any = 1.0) -> float:
    width: float = (1.0 if high is OMITTED else high) - low
    need(a > 0, b > 0, 0 <= x - low <= width, width != 0)
    share = (x - low) / width
    if cumulative:
        return special.beta_below(a, b, share)
    if share in (0, 1):
        at_edge = a if share == 0 else b
        need(at_edge >= 1)
        return (b if share == 0 else a) / width if at_edge == 1 else 0.0
    return density.beta(share, a, b) / width


@_enter(
    "BETADIST",
    "The beta distribution up to x.",
    _X,
    _ALPHA,
    _BETA,
    _LOW,
    _HIGH,
    example=("=ROUND(NAME(2,8,10,1,3),6)", 0.685471),
)
def beta_below(x: float, a: float, b: float, low: float = 0.0, high: Any = 1.0) -> float:
    return beta_dist(x, a, b, True, low, high)


@_enter("BETA.INV BETAINV", "The number below which a share of the beta distribution lies.",
        _P, _ALPHA, _BETA, _LOW, _HIGH, example=("=ROUND(NAME(0.685470581,8,10,1,3),6)", 2.0))  # fmt: skip
def beta_inv(p: float, a: float, b: float, low: float = 0.0, high: Any = 1.0) -> float:
    width: float = (1.0 if high is OMITTED else high) - low
    need(a > 0, b > 0, 0 < p < 1, width > 0)
    return low + width * special.beta_inverse(a, b, p)


@_enter("GAMMA.DIST GAMMADIST", "The gamma distribution.", _X, _ALPHA, _BETA, _CUMULATIVE,
        example=("=ROUND(NAME(10.00001131,9,2,TRUE),6)", 0.068094))  # fmt: skip
def gamma_dist(x: float, shape: float, scale: float, cumulative: bool) -> float:
    need(x >= 0, shape > 0, scale > 0)
    if cumulative:
        return special.gamma_below(shape, x / scale)
    if x == 0:
        need(shape > 1)  # Excel's #NUM! for a shape of 1, where the density is 1 / scale
        return 0.0
    return density.gamma(x / scale, shape) / scale


@_enter("GAMMA.INV GAMMAINV", "The number below which a share of the gamma distribution lies.", _P, _ALPHA, _BETA,
        example=("=ROUND(NAME(0.068094,9,2),4)", 10.0))  # fmt: skip
def gamma_inv(p: float, shape: float, scale: float) -> float:
    need(0 <= p < 1, shape > 0, scale > 0)
    return scale * special.gamma_inverse(shape, p)


@_enter(
    "GAMMA", "The gamma function.", number("number", "Not 0, no negative whole number."), example=("=NAME(5)", 24.0)
)
def gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except (ValueError, OverflowError):
        raise Failure(NUM) from None


@_enter("GAMMALN GAMMALN.PRECISE", "The logarithm of the gamma function.", number("x", "Above 0."),
        example=("=ROUND(NAME(4),6)", 1.791759))  # fmt: skip
def log_gamma(x: float) -> float:
    need(x > 0)
    return math.lgamma(x)


@_enter("EXPON.DIST EXPONDIST", "The exponential distribution.", _X, number("lambda", "Above 0."), _CUMULATIVE,
        example=("=ROUND(NAME(0.2,10,TRUE),6)", 0.864665))  # fmt: skip
def expon_dist(x: float, rate: float, cumulative: bool) -> float:
    need(x >= 0, rate > 0)
    return -math.expm1(-rate * x) if cumulative else rate * math.exp(-rate * x)


@_enter("WEIBULL.DIST WEIBULL", "The Weibull distribution.", _X, _ALPHA, _BETA, _CUMULATIVE,
        example=("=ROUND(NAME(105,20,100,TRUE),6)", 0.929581))  # fmt: skip
def weibull_dist(x: float, shape: float, scale: float, cumulative: bool) -> float:
    need(x >= 0, shape > 0, scale > 0)
    try:
        power = math.pow(x / scale, shape)
        if cumulative:
            return -math.expm1(-power)
        return shape / scale * math.pow(x / scale, shape - 1) * math.exp(-power)
    except (ValueError, OverflowError):
        raise Failure(NUM) from None


# Of counts.

_SUCCESSES = number("number_s", "Successes.")
_TRIALS = number("trials", "Trials.")
_CHANCE = number("probability_s", "The chance of success, 0 to 1.")


@_enter("BINOM.DIST BINOMDIST", "The chance of so many successes in a number of trials.",
        _SUCCESSES, _TRIALS, _CHANCE, _CUMULATIVE, example=("=ROUND(NAME(6,10,0.5,FALSE),6)", 0.205078))  # fmt: skip
def binom_dist(successes: float, trials: float, p: float, cumulative: bool) -> float:
    need(successes >= 0, 0 <= p <= 1)
    successes, trials = int(successes), int(trials)
    need(successes <= trials < _TRIALS_MAX)
    return _binomial_below(successes, trials, p) if cumulative else density.binomial(successes, trials, p, 1 - p)


_TRIALS_MAX = 2.0**53
"""Up to here counts are exact."""


def _binomial_below(successes: int, trials: int, p: float) -> float:
    if successes >= trials:
        return 1.0
    return special.beta_above(successes + 1, trials - successes, p)


@_enter("BINOM.DIST.RANGE", "The chance of successes within bounds.", _TRIALS, _CHANCE, _SUCCESSES,
        number("number_s2", "The upper bound; only number_s where not given.", optional=True, empty=OMITTED),
        example=("=ROUND(NAME(60,0.75,45,50),6)", 0.523630))  # fmt: skip
def binom_range(trials: float, p: float, low: float, high: Any = OMITTED) -> float:
    need(trials >= 0, 0 <= p <= 1, low >= 0)
    trials, low = int(trials), int(low)
    high = low if high is OMITTED else int(high)
    need(low <= high <= trials)
    if high - low > 1000:  # more would be slow one by one; the difference is accurate to 1e-15 of the whole
        return _binomial_below(high, trials, p) - (_binomial_below(low - 1, trials, p) if low else 0.0)
    return math.fsum(density.binomial(count, trials, p, 1 - p) for count in range(low, high + 1))


@_enter("BINOM.INV CRITBINOM", "The least number of successes that reaches a share.",
        _TRIALS, _CHANCE, number("alpha", "Between 0 and 1."), example=("=NAME(6,0.5,0.75)", 4.0))  # fmt: skip
def binom_inv(trials: float, p: float, alpha: float) -> float:
    need(trials >= 0, 0 < p < 1, 0 < alpha < 1)
    low, high = 0, int(trials)
    while low < high:
        middle = (low + high) // 2
        if _binomial_below(middle, int(trials), p) >= alpha:
            high = middle
        else:
            low = middle + 1
    return float(low)


def _negative_binomial(failures: float, successes: float, p: float) -> tuple[int, int]:
    need(failures >= 0, successes >= 1, 0 < p < 1)
    return int(failures), int(successes)


_FAILURES = (number("number_f", "Failures."), number("number_s", "Successes, from 1."), _CHANCE)


@_enter("NEGBINOM.DIST", "The chance of so many failures before a number of successes.", *_FAILURES, _CUMULATIVE,
        example=("=ROUND(NAME(10,5,0.25,FALSE),6)", 0.055049))  # fmt: skip
def negbinom_dist(failures: float, successes: float, p: float, cumulative: bool) -> float:
    failures, successes = _negative_binomial(failures, successes, p)
    if cumulative:
        return special.beta_below(successes, failures + 1, p)
    share = successes / (successes + failures)
    return share * density.binomial(successes, successes + failures, p, 1 - p)


@_enter("NEGBINOMDIST", "The chance of so many failures before a number of successes.", *_FAILURES,
        example=("=ROUND(NAME(10,5,0.25),6)", 0.055049))  # fmt: skip
def negbinom_exactly(failures: float, successes: float, p: float) -> float:
    return negbinom_dist(failures, successes, p, False)


@_enter("POISSON.DIST POISSON", "The chance of so many events.",
        number("x", "Events."), number("mean", "How many to expect."), _CUMULATIVE,
        example=("=ROUND(NAME(2,5,TRUE),6)", 0.124652))  # fmt: skip
def poisson_dist(x: float, mean: float, cumulative: bool) -> float:
    need(x >= 0, mean >= 0)
    return special.gamma_above(int(x) + 1, mean) if cumulative else density.poisson(int(x), mean)


_DRAWN = (
    number("sample_s", "Successes in the sample."),
    number("number_sample", "Size of the sample."),
    number("population_s", "Successes in the population."),
    number("number_pop", "Size of the population."),
)
_TERMS_MAX = 1_000_000
"""Terms that a cumulated hypergeometric probability may take."""


@_enter("HYPGEOM.DIST", "The chance of so many successes in a sample drawn without putting back.", *_DRAWN, _CUMULATIVE,
        example=("=ROUND(NAME(1,4,8,20,FALSE),6)", 0.363261))  # fmt: skip
def hypgeom_dist(x: float, sample: float, successes: float, population: float, cumulative: bool) -> float:
    need(x >= 0, sample >= 0, successes >= 0, population > 0)
    x, sample, successes, population = int(x), int(sample), int(successes), int(population)
    least = max(0, sample - population + successes)
    need(sample <= population, successes <= population)
    if not least <= x <= min(sample, successes):
        return float(cumulative and x >= least)  # not NUM, whatever the help says
    result = term = density.hypergeometric(x, sample, successes, population)
    need(not cumulative or x - least <= _TERMS_MAX)
    while cumulative and x > least and term > result * 1e-18:
        term *= x * (population - successes - sample + x) / ((successes - x + 1) * (sample - x + 1))
        result += term
        x -= 1
    return min(result, 1.0)


@_enter("HYPGEOMDIST", "The chance of so many successes in a sample drawn without putting back.", *_DRAWN,
        example=("=ROUND(NAME(1,4,8,20),6)", 0.363261))  # fmt: skip
def hypgeom_exactly(x: float, sample: float, successes: float, population: float) -> float:
    return hypgeom_dist(x, sample, successes, population, False)


# Fisher's transformation, and what stands with the engineering functions.


@_enter(
    "FISHER", "Fisher's transformation.", number("x", "Between -1 and 1."), example=("=ROUND(NAME(0.75),6)", 0.972955)
)
def fisher(x: float) -> float:
    need(-1 < x < 1)
    return math.atanh(x)


_enter("FISHERINV", "Fisher's transformation backwards.", number("y", "Any number."),
       example=("=ROUND(NAME(0.972955),6)", 0.75))(math.tanh)  # fmt: skip


@function("ERF", "engineering", "The error function from one bound to another, or from 0.",
          toolpak.required("lower_limit", "The bound."),
          toolpak.optional("upper_limit", "The upper one; then the other is the lower."),
          examples=(("=ROUND(ERF(0.745),6)", 0.707929), ("=ROUND(ERF(0,1),6)", 0.842701)))  # fmt: skip
def erf(lower: Any, upper: Any = OMITTED) -> float:
    low = toolpak.number(lower)
    if upper is OMITTED:
        return math.erf(low)
    high = toolpak.number(upper)
    return math.erf(high) - math.erf(low) if min(low, high) < 1 else math.erfc(low) - math.erfc(high)


def _erf(value: Any) -> float:
    return math.erf(toolpak.number(value))


def _erfc(value: Any) -> float:
    return math.erfc(toolpak.number(value))


for _name, _description, _body, _value in (
    ("ERF.PRECISE", "The error function.", _erf, 0.842701),
    ("ERFC", "What the error function lacks to 1.", _erfc, 0.157299),
    ("ERFC.PRECISE", "What the error function lacks to 1.", _erfc, 0.157299),
):
    _examples = ((f"=ROUND({_name}(1),6)", _value),)
    function(_name, "engineering", _description, toolpak.required("x", "The bound."), examples=_examples)(_body)


@function("DELTA", "engineering", "1 for two equal numbers, else 0.",
          toolpak.required("number1", "A number."), toolpak.optional("number2", "Another one; 0 where not given."),
          examples=(("=DELTA(5,4)", 0.0), ("=DELTA(5,5)", 1.0)))  # fmt: skip
def delta(first: Any, second: Any = 0.0) -> float:
    return float(toolpak.number(first) == toolpak.number(second))


@function("GESTEP", "engineering", "1 for a number that reaches a step, else 0.",
          toolpak.required("number", "A number."), toolpak.optional("step", "The step; 0 where not given."),
          examples=(("=GESTEP(5,4)", 1.0), ("=GESTEP(-4,-3)", 0.0)))  # fmt: skip
def gestep(value: Any, step: Any = 0.0) -> float:
    return float(toolpak.number(value) >= toolpak.number(step))
