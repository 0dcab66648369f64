"""Numbers brought to decimals and to multiples, as their 15 significant digits read."""

from __future__ import annotations

import math
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Argument, Work, function
from core.formula.functions.describe import number
from core.formula.ranges.reduce import (
    round_down,
    round_down_of,
    round_of,
    round_up,
    round_up_of,
    whole_above,
    whole_below,
)
from core.formula.values.value import DIV0, NUM, VALUE, Failure

_HALF: Final = 0.4999999999999995
"""What spells 0.5 with 15 digits."""

_DECIMALS = (number("number", "What is rounded."), number("num_digits", "Decimals to keep; negative for tens."))

function(
    "ROUND", "math", "Rounds to decimals, halves away from zero.", *_DECIMALS,
    work=Work(call=2_000),
    examples=(("=ROUND(2.675,2)", 2.68), ("=ROUND(-2.5,0)", -3.0), ("=ROUND(1550,-2)", 1600.0)),
)(round_of)  # fmt: skip
function(
    "ROUNDUP", "math", "Rounds to decimals, away from zero.", *_DECIMALS,
    work=Work(call=2_000),
    examples=(("=ROUNDUP(3.14159,2)", 3.15), ("=ROUNDUP(-31415.9,-2)", -31500.0)),
)(round_up_of)  # fmt: skip
function(
    "ROUNDDOWN", "math", "Rounds to decimals, toward zero.", *_DECIMALS,
    work=Work(call=2_000),
    examples=(("=ROUNDDOWN(3.14159,3)", 3.141), ("=ROUNDDOWN(-31415.9,-2)", -31400.0)),
)(round_down_of)  # fmt: skip
function(
    "TRUNC", "math", "Cuts decimals off.",
    number("number", "What is cut."), number("num_digits", "Decimals to keep; 0 where not given.", optional=True),
    work=Work(call=2_000),
    examples=(("=TRUNC(-8.9)", -8.0), ("=TRUNC(3.14159,2)", 3.14)),
)(round_down_of)  # fmt: skip


@function(
    "MROUND", "math", "Rounds to the nearest multiple, halves away from zero as far as binary fractions are halves.",
    toolpak.required("number", "What is rounded."), toolpak.required("multiple", "Of the number's sign."),
    examples=(
        ("=MROUND(10,3)", 9.0), ("=MROUND(-10,-3)", -9.0), ("=MROUND(5,-2)", NUM), ("=MROUND(6.05,0.1)", 6.0),
        ("=MROUND(7.05,0.1)", 7.1),
    ),
)  # fmt: skip
def mround(value: Any, multiple: Any) -> float:
    size, step = toolpak.numbers(value, multiple)
    if size == 0 or step == 0:
        return 0.0
    if (size < 0) != (step < 0):
        raise Failure(NUM)
    # Unlike ROUND: 6.05/0.1 is 60.499..., and Microsoft's page says 6.0. All 25 values that people have reported from
    # Excel come out so: the rest of the division is a half where it spells one with 15 digits.
    ratio = size / step
    if not math.isfinite(ratio):
        raise Failure(NUM)
    whole = math.floor(ratio)
    return (whole + 1 if ratio - whole >= _HALF else whole) * step


@function(
    "QUOTIENT", "math", "The whole part of a division.",
    toolpak.required("numerator", "What is divided."), toolpak.required("denominator", "What it is divided by."),
    examples=(("=QUOTIENT(5,2)", 2.0), ("=QUOTIENT(-10,3)", -3.0), ("=QUOTIENT(TRUE,1)", VALUE)),
)  # fmt: skip
def quotient(value: Any, divisor: Any) -> float:
    value, divisor = toolpak.number(value), toolpak.number(divisor)
    if divisor == 0:
        raise Failure(DIV0)
    return round_down(value / divisor, 0)


def _away(value: float, step: float) -> float:
    """Return the nearest multiple of a step, away from zero."""
    count = round_up(value / step, 0)
    return count * step


def _toward(value: float, step: float) -> float:
    """Return the nearest multiple of a step, toward zero."""
    return round_down(value / step, 0) * step


_SIGNIFICANCE = "The multiple to round to"
_BOTH = (number("number", "What is rounded."), number("significance", f"{_SIGNIFICANCE}."))


@function(
    "CEILING", "math", "Rounds up to a multiple; away from zero where both are negative.", *_BOTH,
    work=Work(call=2_000),
    examples=(("=CEILING(2.5,1)", 3.0), ("=CEILING(-2.5,-2)", -4.0), ("=CEILING(-2.5,2)", -2.0)),
)  # fmt: skip
def ceiling(value: float, step: float) -> float:
    if value > 0 > step:
        raise Failure(NUM)
    return whole_above(value / step) * step + 0.0 if step else 0.0


@function(
    "FLOOR", "math", "Rounds down to a multiple; toward zero where both are negative.", *_BOTH,
    work=Work(call=2_000),
    examples=(("=FLOOR(3.7,2)", 2.0), ("=FLOOR(-2.5,-2)", -2.0), ("=FLOOR(-2.5,2)", -4.0), ("=FLOOR(2.5,0)", DIV0)),
)  # fmt: skip
def floor(value: float, step: float) -> float:
    if value > 0 > step:
        raise Failure(NUM)
    if step == 0 and value != 0:
        raise Failure(DIV0)
    return whole_below(value / step) * step + 0.0 if step else 0.0


def _optional_significance(name: str) -> Argument:
    return number(name, f"{_SIGNIFICANCE}, without its sign; 1 where not given.", optional=True, empty=OMITTED)


_MATH = (
    number("number", "What is rounded."),
    _optional_significance("significance"),
    number("mode", "Not 0: negative numbers go the other way.", optional=True),
)


@function(
    "CEILING.MATH", "math", "Rounds up to a multiple, or negative numbers down.", *_MATH,
    examples=(("=CEILING.MATH(24.3,5)", 25.0), ("=CEILING.MATH(-8.1,2)", -8.0), ("=CEILING.MATH(-5.5,2,-1)", -6.0)),
)  # fmt: skip
def ceiling_math(value: float, step: Any = 1.0, mode: float = 0.0) -> float:
    step = 1.0 if step is OMITTED else abs(step)
    if step == 0:
        return 0.0
    return (_away if value >= 0 or mode else _toward)(value, step) + 0.0


@function(
    "FLOOR.MATH", "math", "Rounds down to a multiple, or negative numbers up.", *_MATH,
    examples=(("=FLOOR.MATH(24.3,5)", 20.0), ("=FLOOR.MATH(-8.1,2)", -10.0), ("=FLOOR.MATH(-5.5,2,-1)", -4.0)),
)  # fmt: skip
def floor_math(value: float, step: Any = 1.0, mode: float = 0.0) -> float:
    step = 1.0 if step is OMITTED else abs(step)
    if step == 0:
        return 0.0
    return (_toward if value >= 0 or mode else _away)(value, step) + 0.0


_PRECISE = (number("number", "What is rounded."), _optional_significance("significance"))

for _name in ("CEILING.PRECISE", "ECMA.CEILING", "ISO.CEILING"):
    function(
        _name, "math", "Rounds up to a multiple, whatever the signs.", *_PRECISE,
        examples=((f"={_name}(4.3)", 5.0), (f"={_name}(-4.3,-2)", -4.0)),
    )(ceiling_math)  # fmt: skip
function(
    "FLOOR.PRECISE", "math", "Rounds down to a multiple, whatever the signs.", *_PRECISE,
    examples=(("=FLOOR.PRECISE(-3.2,-1)", -4.0), ("=FLOOR.PRECISE(3.2)", 3.0)),
)(floor_math)  # fmt: skip


@function(
    "EVEN", "math", "The next even number away from zero.", number("number", "Any number."),
    examples=(("=EVEN(1.5)", 2.0), ("=EVEN(-1)", -2.0)),
)  # fmt: skip
def even(value: float) -> float:
    return _away(value, 2.0)


@function(
    "ODD", "math", "The next odd number away from zero.", number("number", "Any number."),
    examples=(("=ODD(1.5)", 3.0), ("=ODD(0)", 1.0), ("=ODD(-2)", -3.0)),
)  # fmt: skip
def odd(value: float) -> float:
    size = max(1.0, round_up((abs(value) - 1) / 2, 0) * 2 + 1)
    return -size if value < 0 else size
