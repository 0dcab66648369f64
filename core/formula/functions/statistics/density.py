"""Probabilities of single outcomes, accurate in the tails and for large counts.

After C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000): with Stirling's error and the
deviance kept apart no large logarithms cancel.
"""

from __future__ import annotations

import math
from typing import Final

_LOG_2PI: Final = math.log(2 * math.pi)
_TERMS_MAX: Final = 100
"""Each term of the deviance's series is a hundredth of the one before it, at most."""
_STIRLING: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def stirling_error(n: float) -> float:
    """ln(n!) less Stirling's approximation of it; n 0 or more."""
    if n <= 15:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _LOG_2PI / 2 if n else 0.0
    inverse, square, total = 1 / n, 1 / (n * n), 0.0
    for coefficient in reversed(_STIRLING):
        total = total * square + coefficient
    return total * inverse


def deviance(x: float, mean: float) -> float:
    """x ln(x / mean) + mean - x, also where x is close to the mean."""
    if not abs(x - mean) < 0.1 * (x + mean):
        quotient = x / mean
        logarithm = math.log(quotient) if 0 < quotient < math.inf else math.log(x) - math.log(mean)
        return x * logarithm + mean - x
    ratio = (x - mean) / (x + mean)
    total, term = (x - mean) * ratio, 2 * x * ratio
    for step in range(1, _TERMS_MAX):
        term *= ratio * ratio
        added = total + term / (2 * step + 1)
        if added == total:
            break
        total = added
    return total


def binomial(x: float, n: float, p: float, q: float) -> float:
    """Return the probability of x successes in n trials; p + q is 1.

    X and n need not be whole.
    """
    if p == 0 or q == 0:
        return float(x == (0 if p == 0 else n))
    if x == 0:
        return math.exp(-deviance(n, n * q) - n * p if p < 0.1 else n * math.log(q)) if n else 1.0
    if x == n:
        return math.exp(-deviance(n, n * p) - n * q if q < 0.1 else n * math.log(p))
    exponent = (
        stirling_error(n) - stirling_error(x) - stirling_error(n - x) - deviance(x, n * p) - deviance(n - x, n * q)
    )
    return math.exp(exponent) * math.sqrt(n / (2 * math.pi * x * (n - x)))


def poisson(x: float, mean: float) -> float:
    """Return the probability of x events, whole or not, where `mean` are expected."""
    if mean == 0:
        return float(x == 0)
    if mean == math.inf:
        return 0.0
    if x == 0:
        return math.exp(-mean)
    return math.exp(-stirling_error(x) - deviance(x, mean)) / math.sqrt(2 * math.pi * x)


def gamma(x: float, shape: float) -> float:
    """Return the density of the gamma distribution of scale 1 at x above 0."""
    if shape < 1:
        return poisson(shape, x) * shape / x
    return poisson(shape - 1, x)


def beta(x: float, a: float, b: float) -> float:
    """Return the density of the beta distribution at x between 0 and 1."""
    if a >= 1 and b >= 1:
        return (a + b - 1) * binomial(a - 1, a + b - 2, x, 1 - x)
    if a >= 1:
        return b / (1 - x) * binomial(a - 1, a + b - 1, x, 1 - x)
    if b >= 1:
        return a / x * binomial(a, a + b - 1, x, 1 - x)
    return a * b / ((a + b) * x * (1 - x)) * binomial(a, a + b, x, 1 - x)


def student(x: float, freedom: float) -> float:
    """Return the density of Student's t."""
    exponent = (
        stirling_error((freedom + 1) / 2)
        - stirling_error(freedom / 2)
        - deviance(freedom / 2, (freedom + 1) / 2)
        - freedom / 2 * math.log1p(x * x / freedom)
    )
    return math.exp(exponent) / math.sqrt(2 * math.pi * (1 + x * x / freedom))


def fisher(x: float, first: float, second: float) -> float:
    """Return the density of F at x above 0."""
    share = 1 / (second + x * first)
    q, p = second * share, x * first * share
    if first >= 2:
        return first * q / 2 * binomial((first - 2) / 2, (first + second - 2) / 2, p, q)
    return first * first * q / (2 * p * (first + second)) * binomial(first / 2, (first + second) / 2, p, q)


def hypergeometric(x: float, sample: float, successes: float, population: float) -> float:
    """Return the probability of x successes in a sample drawn without putting back."""
    failures = population - successes
    if sample == 0:
        return float(x == 0)
    p = sample / population
    q = (population - sample) / population
    return binomial(x, successes, p, q) * binomial(sample - x, failures, p, q) / binomial(sample, population, p, q)
