"""Bessel functions to the digits that Excel gives, which are those of short approximations, not the true ones.

Excel evaluates the polynomials of Abramowitz and Stegun (9.4, 9.8) and the rational functions of Hart (1968) in the
form of Numerical Recipes, goes up in order by recurrence where that is stable and down by Miller's method where not;
its J1 beyond 8 has one coefficient twice, which its own values show (a step of 8e-6 at x = 8). All of it is repeated
here: relative to the true values the answers are off by up to 1e-7, and J1 by 3e-5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

J0_TOP: Final = (57568490574.0, -13362590354.0, 651619640.7, -11214424.18, 77392.33017, -184.9052456)
J0_BOTTOM: Final = (57568490411.0, 1029532985.0, 9494680.718, 59272.64853, 267.8532712, 1.0)
J1_TOP: Final = (72362614232.0, -7895059235.0, 242396853.1, -2972611.439, 15704.48260, -30.16036606)
J1_BOTTOM: Final = (144725228442.0, 2300535178.0, 18583304.74, 99447.43394, 376.9991397, 1.0)
Y0_TOP: Final = (-2957821389.0, 7062834065.0, -512359803.6, 10879881.29, -86327.92757, 228.4622733)
Y0_BOTTOM: Final = (40076544269.0, 745249964.8, 7189466.438, 47447.26470, 226.1030244, 1.0)
Y1_TOP: Final = (-0.4900604943e13, 0.1275274390e13, -0.5153438139e11, 0.7349264551e9, -0.4237922726e7, 0.8511937935e4)
Y1_BOTTOM: Final = (
    0.2499580570e14, 0.4244419664e12, 0.3733650367e10, 0.2245904002e8, 0.1020426050e6, 0.3549632885e3, 1.0,
)  # fmt: skip
FAR_0_COSINE: Final = (1.0, -0.1098628627e-2, 0.2734510407e-4, -0.2073370639e-5, 0.2093887211e-6)
FAR_0_SINE: Final = (-0.1562499995e-1, 0.1430488765e-3, -0.6911147651e-5, 0.7621095161e-6, -0.934945152e-7)
FAR_1_COSINE: Final = (1.0, 0.183105e-2, -0.3516396496e-4, 0.2457520174e-5, -0.240337019e-6)
FAR_J1_COSINE: Final = (1.0, 0.183105e-2, -0.3516396496e-4, -0.3516396496e-4, 0.2457520174e-5, -0.240337019e-6)
"""As FAR_1_COSINE with Excel's slip: the third coefficient stands twice."""
FAR_1_SINE: Final = (0.04687499995, -0.2002690873e-3, 0.8449199096e-5, -0.88228987e-6, 0.105787412e-6)
I0_NEAR: Final = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2)
I0_FAR: Final = (
    0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
    0.392377e-2,
)  # fmt: skip
I1_NEAR: Final = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3)
I1_FAR: Final = (
    0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
    -0.420059e-2,
)  # fmt: skip
K0_NEAR: Final = (-0.57721566, 0.42278420, 0.23069756, 0.3488590e-1, 0.262698e-2, 0.10750e-3, 0.74e-5)
K0_FAR: Final = (1.25331414, -0.7832358e-1, 0.2189568e-1, -0.1062446e-1, 0.587872e-2, -0.251540e-2, 0.53208e-3)
K1_NEAR: Final = (1.0, 0.15443144, -0.67278579, -0.18156897, -0.1919402e-1, -0.110404e-2, -0.4686e-4)
K1_FAR: Final = (1.25331414, 0.23498619, -0.3655620e-1, 0.1504268e-1, -0.780353e-2, 0.325614e-2, -0.68245e-3)

TWO_OVER_PI: Final = 0.636619772
PHASE_0: Final = 0.785398164
PHASE_1: Final = 2.356194491

ORDER_MAX: Final = 100_000
"""Orders that a recurrence goes through."""


def _polynomial(coefficients: Sequence[float], at: float) -> float:
    """Return the coefficients in rising powers, evaluated from the last (Horner)."""
    value = 0.0
    for coefficient in reversed(coefficients):
        value = value * at + coefficient
    return value


def _wave(x: float, phase: float, cosine: Sequence[float], sine: Sequence[float]) -> tuple[float, float]:
    """J and Y far from 0: a damped wave."""
    part = 8 / x
    size, angle = math.sqrt(TWO_OVER_PI / x), x - phase
    even, odd = _polynomial(cosine, part * part), part * _polynomial(sine, part * part)
    return (
        size * (math.cos(angle) * even - math.sin(angle) * odd),
        size * (math.sin(angle) * even + math.cos(angle) * odd),
    )


def _j0(x: float) -> float:
    if x < 8:
        return _polynomial(J0_TOP, x * x) / _polynomial(J0_BOTTOM, x * x)
    return _wave(x, PHASE_0, FAR_0_COSINE, FAR_0_SINE)[0]


def _j1(x: float) -> float:
    if x < 8:
        return x * _polynomial(J1_TOP, x * x) / _polynomial(J1_BOTTOM, x * x)
    return _wave(x, PHASE_1, FAR_J1_COSINE, FAR_1_SINE)[0]


def _y0(x: float) -> float:
    if x < 8:
        return _polynomial(Y0_TOP, x * x) / _polynomial(Y0_BOTTOM, x * x) + TWO_OVER_PI * _j0(x) * math.log(x)
    return _wave(x, PHASE_0, FAR_0_COSINE, FAR_0_SINE)[1]


def _y1(x: float) -> float:
    if x < 8:
        regular = x * _polynomial(Y1_TOP, x * x) / _polynomial(Y1_BOTTOM, x * x)
        return regular + TWO_OVER_PI * (_j1(x) * math.log(x) - 1 / x)
    return _wave(x, PHASE_1, FAR_1_COSINE, FAR_1_SINE)[1]


def _i0(x: float) -> float:
    if x < 3.75:
        return _polynomial(I0_NEAR, (x / 3.75) ** 2)
    return math.exp(x) / math.sqrt(x) * _polynomial(I0_FAR, 3.75 / x)


def _i1(x: float) -> float:
    if x < 3.75:
        return x * _polynomial(I1_NEAR, (x / 3.75) ** 2)
    return math.exp(x) / math.sqrt(x) * _polynomial(I1_FAR, 3.75 / x)


def _k0(x: float) -> float:
    if x <= 2:
        return -math.log(x / 2) * _i0(x) + _polynomial(K0_NEAR, x * x / 4)
    return math.exp(-x) / math.sqrt(x) * _polynomial(K0_FAR, 2 / x)


def _k1(x: float) -> float:
    if x <= 2:
        return math.log(x / 2) * _i1(x) + _polynomial(K1_NEAR, x * x / 4) / x
    return math.exp(-x) / math.sqrt(x) * _polynomial(K1_FAR, 2 / x)


def _upward(x: float, order: int, first: float, second: float, sign: float) -> float:
    """From orders 0 and 1 to a higher one."""
    for index in range(1, order):
        first, second = second, index * 2 / x * second + sign * first
    return second


def _miller_start(order: int) -> int:
    """Return the even order from which the way down begins.

    40 for single precision, as in Numerical Recipes.
    """
    return 2 * ((order + int(math.sqrt(40 * order))) // 2)


def bessel_j(x: float, order: int) -> float:
    """J of a whole order from 0 to ORDER_MAX."""
    size = abs(x)
    if order < 2:
        value = _j1(size) if order else _j0(size)
    elif size == 0:
        return 0.0
    elif size > order:
        value = _upward(size, order, _j0(size), _j1(size), -1.0)
    else:
        value = _j_downward(size, order)
    return -value if x < 0 and order % 2 else value


def _j_downward(x: float, order: int) -> float:
    above, at, wanted, total = 0.0, 1.0, 0.0, 0.0
    for index in range(_miller_start(order), 0, -1):
        above, at = at, index * 2 / x * at - above
        if abs(at) > 1e10:
            above, at, wanted, total = above * 1e-10, at * 1e-10, wanted * 1e-10, total * 1e-10
        if index % 2 and index > 1:
            total += at
        if index == order:
            wanted = above
    return wanted / (2 * total + at)


def bessel_y(x: float, order: int) -> float:
    """Y of a whole order from 0 to ORDER_MAX, x > 0."""
    if order == 0:
        return _y0(x)
    return _upward(x, order, _y0(x), _y1(x), -1.0)


def bessel_i(x: float, order: int) -> float:
    """I of a whole order from 0 to ORDER_MAX."""
    size = abs(x)
    if order < 2:
        value = _i1(size) if order else _i0(size)
    elif size == 0:
        return 0.0
    else:
        above, at, value = 0.0, 1.0, 0.0
        for index in range(2 * (order + int(math.sqrt(40 * order))), 0, -1):
            above, at = at, above + index * 2 / size * at
            if at > 1e10:
                above, at, value = above * 1e-10, at * 1e-10, value * 1e-10
            if index == order:
                value = above
        value *= _i0(size) / at
    return -value if x < 0 and order % 2 else value


def bessel_k(x: float, order: int) -> float:
    """K of a whole order from 0 to ORDER_MAX, x > 0."""
    if order == 0:
        return _k0(x)
    return _upward(x, order, _k0(x), _k1(x), 1.0)
