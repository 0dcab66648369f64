"""Tests of hypotheses, confidence, and probabilities that a table gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from core.formula.functions.catalogue import OMITTED, function
from core.formula.functions.describe import array, cells, number
from core.formula.functions.mathematics.math import paired, some_pairs
from core.formula.functions.statistics.distributions import chi_above, f_above, norm_s_inv, normal_below, t_above, t_inv
from core.formula.functions.toolpak import need
from core.formula.ranges.reduce import numbers, spread
from core.formula.values.value import DIV0, NA, NUM, Array, Failure

_ARRAYS = (array("array1", "The first sample."), array("array2", "The second sample."))


def _variance(values: list[float]) -> tuple[float, float]:
    """Return the mean and the variance of a sample of two or more."""
    if len(values) < 2:
        raise Failure(DIV0)
    mean, squares = spread(values)
    return mean, squares / (len(values) - 1)


def t_test(first: Array, second: Array, tails: float, kind: float) -> float:
    tails, kind = int(tails), int(kind)
    need(tails in (1, 2), kind in (1, 2, 3))
    if kind == 1:
        x, y = paired(first, second)
        mean, variance = _variance((x - y).tolist())
        error, freedom = variance / len(x), float(len(x) - 1)
    else:
        a, b = numbers((first,)), numbers((second,))
        (mean_a, variance_a), (mean_b, variance_b) = _variance(a), _variance(b)
        mean, error_a, error_b = mean_a - mean_b, variance_a / len(a), variance_b / len(b)
        if kind == 2:
            freedom = float(len(a) + len(b) - 2)
            pooled = ((len(a) - 1) * variance_a + (len(b) - 1) * variance_b) / freedom
            error = pooled * (1 / len(a) + 1 / len(b))
        else:
            error = error_a + error_b
            below = error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1)
            freedom = error**2 / below if below else 0.0
    if error == 0:
        raise Failure(DIV0)
    return tails * t_above(abs(mean) / math.sqrt(error), freedom)


def f_test(first: Array, second: Array) -> float:
    a, b = numbers((first,)), numbers((second,))
    variance_a, variance_b = _variance(a)[1], _variance(b)[1]
    if variance_a == 0 or variance_b == 0:
        raise Failure(DIV0)
    above = f_above(variance_a / variance_b, len(a) - 1, len(b) - 1)
    below = f_above(variance_b / variance_a, len(b) - 1, len(a) - 1)
    return 2 * min(above, below)


def z_test(values: Array, x: float, sigma: Any = OMITTED) -> float:
    sample = numbers((values,))
    if not sample:
        raise Failure(NA)
    if sigma is OMITTED:
        sigma = math.sqrt(_variance(sample)[1])
        if sigma == 0:
            raise Failure(DIV0)
    need(sigma > 0)
    return normal_below((x - spread(sample)[0]) / (sigma / math.sqrt(len(sample))))


def chi_test(actual: Array, expected: Array) -> float:
    rows, columns = actual.rows, actual.columns
    if rows * columns == expected.rows * expected.columns == 1:
        raise Failure(NA)
    x, y = some_pairs(actual, expected)
    if not np.all(y):
        raise Failure(DIV0)
    total = float(np.sum((x - y) ** 2 / y))
    need(total >= 0)
    return chi_above(total, (rows - 1) * (columns - 1) if rows > 1 < columns else rows * columns - 1)


for _names, _description, _arguments, _body, _example in (
    (
        "T.TEST TTEST",
        "The chance that two samples with Student's t differ so much by chance.",
        (*_ARRAYS, number("tails", "1 or 2."), number("type", "1 paired, 2 of one variance, 3 of two.")),
        t_test,
        ("=ROUND(NAME({3,4,5,8,9,1,2,4,5},{6,19,3,2,14,4,5,17,1},2,1),6)", 0.196016),
    ),
    (
        "F.TEST FTEST",
        "The chance that two samples' variances differ so much by chance.",
        _ARRAYS,
        f_test,
        ("=ROUND(NAME({6,7,9,15,21},{20,28,31,38,40}),6)", 0.648318),
    ),
    (
        "Z.TEST ZTEST",
        "The chance of a sample's mean above the one given.",
        (
            cells("array", "The sample."),
            number("x", "The mean to test."),
            number("sigma", "The known standard deviation; else that of the sample.", optional=True, empty=OMITTED),
        ),
        z_test,
        ("=ROUND(NAME({3,6,7,8,6,5,4,2,1,9},4),6)", 0.090574),
    ),
    (
        "CHISQ.TEST CHITEST",
        "The chance that counts differ so much from the expected ones.",
        (array("actual_range", "The counts."), array("expected_range", "As many expected ones.")),
        chi_test,
        ("=ROUND(NAME({58,35;11,25;10,23},{45.35,47.65;17.56,18.44;16.09,16.91}),6)", 0.000308),
    ),
):
    for _name in _names.split():
        _rows = ((_example[0].replace("NAME", _name), _example[1]),)
        function(_name, "statistical", _description, *_arguments, examples=_rows)(_body)


_CONFIDENCE = (
    number("alpha", "What the confidence lacks to 1."),
    number("standard_dev", "The standard deviation, above 0."),
    number("size", "The size of the sample, from 1."),
)


def confidence_norm(alpha: float, deviation: float, size: float) -> float:
    need(0 < alpha < 1, deviation > 0, size >= 1)
    return -norm_s_inv(alpha / 2) * deviation / math.sqrt(int(size))


for _name in ("CONFIDENCE", "CONFIDENCE.NORM"):
    function(
        _name, "statistical", "Half of the normal confidence interval of a mean.", *_CONFIDENCE,
        examples=((f"=ROUND({_name}(0.05,2.5,50),6)", 0.692952),),
    )(confidence_norm)  # fmt: skip


@function(
    "CONFIDENCE.T", "statistical", "Half of the confidence interval of a mean by Student's t.", *_CONFIDENCE,
    examples=(("=ROUND(CONFIDENCE.T(0.05,1,50),6)", 0.284197),),
)  # fmt: skip
def confidence_t(alpha: float, deviation: float, size: float) -> float:
    need(0 < alpha < 1, deviation > 0, size >= 1)
    if size < 2:
        raise Failure(DIV0)
    return -t_inv(alpha / 2, int(size) - 1) * deviation / math.sqrt(int(size))


@function(
    "PROB", "statistical", "The sum of the probabilities of the values within bounds.",
    array("x_range", "The values."), array("prob_range", "Their probabilities, 1 in all."),
    number("lower_limit", "The least."),
    number("upper_limit", "The greatest; only the lower one where not given.", optional=True, empty=OMITTED),
    examples=(("=PROB({0,1,2,3},{0.2,0.3,0.1,0.4},1,3)", 0.8), ("=PROB({0,1},{0.2,0.3},1)", NUM)),
)  # fmt: skip
def prob(values: Array, probabilities: Array, low: float, high: Any = OMITTED) -> float:
    x, p = paired(values, probabilities)
    if not len(x):
        raise Failure(DIV0)
    need(bool(np.all(p >= 0)), bool(np.all(p <= 1)), abs(float(np.sum(p)) - 1) < 1e-10)
    within = (x == low) if high is OMITTED else (x >= low) & (x <= high)
    return float(np.sum(p[within]))
