"""Angles, circles and hyperbolas."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core.formula.functions.catalogue import function
from core.formula.functions.describe import number
from core.formula.values.value import DIV0, NUM, Failure

_ANGLE_MAX = 2.0**27
"""From this many radians on Excel gives #NUM!."""

_PI_EXCESS = 5.016557612668332e-20
"""Excel reduces angles with the processor's pi of 66 bits, which is greater than pi by this: SIN(PI()) is
1.22514845490862E-16 and not 1.2246E-16. Only results near 0 show it."""

_NEAR_ZERO = 1e-8


def _sine(angle: float) -> float:
    if abs(angle) >= _ANGLE_MAX:
        raise Failure(NUM)
    result = math.sin(angle)
    if abs(result) < _NEAR_ZERO:
        turns = round(angle / math.pi)
        result += (turns if turns % 2 else -turns) * _PI_EXCESS
    return result


def _cosine(angle: float) -> float:
    if abs(angle) >= _ANGLE_MAX:
        raise Failure(NUM)
    result = math.cos(angle)
    if abs(result) < _NEAR_ZERO:
        halves = round(angle / math.pi * 2)  # odd; the cosine falls at 1, 5, 9, ... and rises at 3, 7, ...
        result += (halves if halves % 4 == 1 else -halves) * _PI_EXCESS / 2
    return result


def _tangent(angle: float) -> float:
    sine, cosine = _sine(angle), _cosine(angle)
    return sine / cosine if min(abs(sine), abs(cosine)) < _NEAR_ZERO else math.tan(angle)


def _inverse(operation: Callable[[float], float]) -> Callable[[float], float]:
    """Return one by the operation; #DIV/0! where that is 0."""

    def body(value: float) -> float:
        below = operation(value)
        if below == 0:
            raise Failure(DIV0)
        return 1 / below

    return body


def _guarded(operation: Callable[[float], float]) -> Callable[[float], float]:
    """Return values outside the domain and results past the largest double are #NUM!."""

    def body(value: float) -> float:
        try:
            return operation(value)
        except (ValueError, OverflowError):
            raise Failure(NUM) from None

    return body


def _cosecant_hyperbolic(value: float) -> float:
    if value == 0:
        raise Failure(DIV0)
    return 1 / math.sinh(value) if abs(value) < 700 else math.copysign(2 * math.exp(-abs(value)), value)


def _secant_hyperbolic(value: float) -> float:
    return 1 / math.cosh(value) if abs(value) < 700 else 2 * math.exp(-abs(value))


def _arc_cotangent_hyperbolic(value: float) -> float:
    if abs(value) <= 1:
        raise Failure(NUM)
    return math.atanh(1 / value)


_ROWS: tuple[tuple[str, str, str, Callable[[float], float], tuple[tuple[str, Any], ...]], ...] = (
    ("SIN", "The sine.", "An angle in radians.", _sine, (("=SIN(0)", 0.0), ("=ROUND(SIN(PI()/6),9)", 0.5))),
    ("COS", "The cosine.", "An angle in radians.", _cosine, (("=COS(0)", 1.0), ("=ROUND(COS(PI()/3),9)", 0.5))),
    ("TAN", "The tangent.", "An angle in radians.", _tangent, (("=ROUND(TAN(PI()/4),9)", 1.0),)),
    ("CSC", "One by the sine.", "An angle in radians.", _inverse(_sine), (("=ROUND(CSC(15),4)", 1.5378),)),
    ("SEC", "One by the cosine.", "An angle in radians.", _inverse(_cosine), (("=SEC(0)", 1.0),)),
    ("COT", "One by the tangent.", "An angle in radians.", _inverse(_tangent), (("=COT(0)", DIV0),)),
    ("ASIN", "The angle with this sine.", "-1 to 1.", _guarded(math.asin), (("=ASIN(0)", 0.0), ("=ASIN(2)", NUM))),
    ("ACOS", "The angle with this cosine.", "-1 to 1.", _guarded(math.acos), (("=ACOS(1)", 0.0), ("=ACOS(2)", NUM))),
    ("ATAN", "The angle with this tangent.", "Any number.", math.atan, (("=ROUND(ATAN(1),6)", 0.785398),)),
    ("ACOT", "The angle, from 0 to pi, with this cotangent.", "Any number.",
     lambda x: math.pi / 2 - math.atan(x) if x < 1 else math.atan(1 / x), (("=ROUND(ACOT(-1),6)", 2.356194),)),
    ("SINH", "The hyperbolic sine.", "Any number.", _guarded(math.sinh), (("=SINH(0)", 0.0), ("=SINH(1000)", NUM))),
    ("COSH", "The hyperbolic cosine.", "Any number.", _guarded(math.cosh), (("=COSH(0)", 1.0),)),
    ("TANH", "The hyperbolic tangent.", "Any number.", math.tanh, (("=TANH(0)", 0.0),)),
    ("CSCH", "One by the hyperbolic sine.", "Not 0.", _cosecant_hyperbolic, (("=ROUND(CSCH(1.5),4)", 0.4696),)),
    ("SECH", "One by the hyperbolic cosine.", "Any number.", _secant_hyperbolic, (("=SECH(0)", 1.0),)),
    ("COTH", "One by the hyperbolic tangent.", "Not 0.", _inverse(math.tanh), (("=ROUND(COTH(2),4)", 1.0373),)),
    ("ASINH", "The inverse hyperbolic sine.", "Any number.", math.asinh, (("=ASINH(0)", 0.0),)),
    ("ACOSH", "The inverse hyperbolic cosine.", "1 or more.", _guarded(math.acosh), (("=ACOSH(1)", 0.0),)),
    ("ATANH", "The inverse hyperbolic tangent.", "Between -1 and 1.", _guarded(math.atanh), (("=ATANH(1)", NUM),)),
    ("ACOTH", "The inverse hyperbolic cotangent.", "Above 1 or below -1.", _arc_cotangent_hyperbolic,
     (("=ROUND(ACOTH(6),4)", 0.1682), ("=ACOTH(1)", NUM))),
    ("DEGREES", "Radians as degrees.", "An angle in radians.", math.degrees, (("=DEGREES(PI())", 180.0),)),
    ("RADIANS", "Degrees as radians.", "An angle in degrees.", math.radians, (("=ROUND(RADIANS(270),6)", 4.712389),)),
)  # fmt: skip

for _name, _description, _argument, _body, _examples in _ROWS:
    function(_name, "math", _description, number("number", _argument), examples=_examples)(_body)


@function(
    "ATAN2", "math", "The angle of a point, from -pi to pi.",
    number("x_num", "Its x."), number("y_num", "Its y."),
    examples=(("=ROUND(ATAN2(1,1),6)", 0.785398), ("=ATAN2(0,0)", DIV0)),
)  # fmt: skip
def atan2(x: float, y: float) -> float:
    if x == 0 and y == 0:
        raise Failure(DIV0)
    return math.atan2(y, x)
