"""Complex numbers, written as text: 3+4i, -j, 2.5."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.values.coerce import to_text
from core.formula.values.locales import current
from core.formula.values.value import DIV0, NA, NUM, VALUE, Array, Error, Failure


class Complex(NamedTuple):
    """A complex number and the letter it was written with; empty for a real one."""

    real: float
    imaginary: float
    suffix: str


_UNSIGNED: Final = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_FORM: Final = re.compile(
    rf"(?P<real>[+-]?{_UNSIGNED})?(?:(?P<imaginary>(?:(?<=.)[+-]|(?<!.)[+-]?)(?:{_UNSIGNED})?)(?P<suffix>[ij]))?"
)
"""A real part, an imaginary one, or both; the second of two needs its sign."""

DIGITS_MAX: Final = 1_000
"""Characters of a complex number's text."""


def read(value: Any) -> Complex:
    """Return a complex number from a number or text; blank is 0.

    Raises:
        Failure: VALUE for a boolean, NUM for text that is no complex number.
    """
    if isinstance(value, float):
        return Complex(value, 0.0, "")
    if value is None or value == "":
        return Complex(0.0, 0.0, "")
    if value is OMITTED:
        raise Failure(NA)
    if not isinstance(value, str):
        raise Failure(VALUE)
    decimal = current().decimal
    written = value if decimal == "." else value.replace(".", " ").replace(decimal, ".")
    match = _FORM.fullmatch(written) if len(value) <= DIGITS_MAX else None
    if match is None:
        raise Failure(NUM)
    real, imaginary, suffix = match["real"], match["imaginary"], match["suffix"]
    if imaginary in ("", "+", "-"):
        imaginary += "1"
    numbers = float(real or 0), float(imaginary or 0)
    if not all(map(math.isfinite, numbers)):
        raise Failure(NUM)
    return Complex(*numbers, suffix or "")


def write(real: float, imaginary: float, suffix: str) -> str:
    """Return the text of a complex number.

    Each part with 15 digits, no part that is 0, no 1 before the letter.

    Raises:
        Failure: NUM for a part that is no number.
    """
    if not (math.isfinite(real) and math.isfinite(imaginary)):
        raise Failure(NUM)
    if imaginary == 0:
        return str(to_text(real))
    size = to_text(abs(imaginary))
    part = f"{'' if size == '1' else size}{suffix or 'i'}"
    if real == 0:
        return f"-{part}" if imaginary < 0 else part
    return f"{to_text(real)}{'-' if imaginary < 0 else '+'}{part}"


_NUMBER: Final = toolpak.required("inumber", "The complex number.")


@function(
    "COMPLEX", "engineering", "The complex number of two parts.",
    toolpak.required("real_num", "The real part."), toolpak.required("i_num", "The imaginary part."),
    toolpak.single("suffix", "i or j.", optional=True),
    examples=(("=COMPLEX(3,4)", "3+4i"), ('=COMPLEX(3,-1,"j")', "3-j"), ('=COMPLEX(1,2,"k")', VALUE)),
)  # fmt: skip
def complex_(real_num: Any, i_num: Any, suffix: Any = "i") -> str:
    real, imaginary = toolpak.numbers(real_num, i_num)
    if suffix is not None and suffix not in ("i", "j", ""):
        raise Failure(VALUE)
    return write(real, imaginary, suffix or "i")


@function(
    "IMREAL", "engineering", "The real part of a complex number.", _NUMBER,
    examples=(('=IMREAL("6-9i")', 6.0), ('=IMREAL("x")', NUM), ("=IMREAL(TRUE)", VALUE)),
)  # fmt: skip
def imreal(inumber: Any) -> float:
    return read(inumber).real


@function(
    "IMAGINARY", "engineering", "The imaginary part of a complex number.", _NUMBER,
    examples=(('=IMAGINARY("3+4i")', 4.0), ('=IMAGINARY("0-j")', -1.0), ("=IMAGINARY(4)", 0.0)),
)  # fmt: skip
def imaginary(inumber: Any) -> float:
    return read(inumber).imaginary


@function(
    "IMABS", "engineering", "How far a complex number is from 0.", _NUMBER,
    examples=(('=IMABS("5+12i")', 13.0),),
)  # fmt: skip
def imabs(inumber: Any) -> float:
    number = read(inumber)
    return math.hypot(number.real, number.imaginary)


@function(
    "IMARGUMENT", "engineering", "The angle of a complex number, in radians.", _NUMBER,
    examples=(('=ROUND(IMARGUMENT("3+4i"),8)', 0.92729522), ("=IMARGUMENT(0)", DIV0)),
)  # fmt: skip
def imargument(inumber: Any) -> float:
    number = read(inumber)
    if number.real == number.imaginary == 0:
        raise Failure(DIV0)
    return math.atan2(number.imaginary, number.real)


# Arithmetic: both letters at once are refused


def _suffix(*numbers: Complex) -> str:
    letters = {number.suffix for number in numbers} - {""}
    if len(letters) > 1:
        raise Failure(VALUE)
    return letters.pop() if letters else "i"


def _all(values: tuple[Any, ...]) -> list[Complex]:
    """Return every complex number among values and ranges, without blanks."""
    numbers = []
    for value in values:
        if isinstance(value, Error):
            raise Failure(value)
        cells = toolpak.every(value) if isinstance(value, Array) else [value]
        numbers += [read(cell) for cell in cells if cell is not None or not isinstance(value, Array)]
    return numbers


_MANY: Final = (
    Argument("inumber1", Takes.RANGE, "A complex number, or cells of them."),
    Argument("inumber2", Takes.RANGE, "Further ones.", required=False, repeats=True),
)


@function(
    "IMSUM", "engineering", "Adds complex numbers up.", *_MANY,
    examples=(('=IMSUM("3+4i","5-3i")', "8+i"), ('=IMSUM("3+4i","5-3j")', VALUE)),
)  # fmt: skip
def imsum(*values: Any) -> str:
    numbers = _all(values)
    return write(sum(n.real for n in numbers), sum(n.imaginary for n in numbers), _suffix(*numbers))


@function(
    "IMPRODUCT", "engineering", "Multiplies complex numbers.", *_MANY,
    examples=(('=IMPRODUCT("3+4i","5-3i")', "27+11i"), ('=IMPRODUCT("1+2i",30)', "30+60i")),
)  # fmt: skip
def improduct(*values: Any) -> str:
    numbers = _all(values)
    if any(toolpak.is_blank_cell(value) for value in values):  # 0, where blanks of larger ranges are passed over
        numbers.append(Complex(0.0, 0.0, ""))
    real, imaginary = 1.0, 0.0
    for number in numbers:
        real, imaginary = (
            real * number.real - imaginary * number.imaginary,
            real * number.imaginary + imaginary * number.real,
        )
    return write(real, imaginary, _suffix(*numbers))


@function(
    "IMSUB", "engineering", "The difference of two complex numbers.",
    toolpak.required("inumber1", "The complex number."), toolpak.required("inumber2", "What is taken off."),
    examples=(('=IMSUB("13+4i","5+3i")', "8+i"),),
)  # fmt: skip
def imsub(inumber1: Any, inumber2: Any) -> str:
    first, second = read(inumber1), read(inumber2)
    return write(first.real - second.real, first.imaginary - second.imaginary, _suffix(first, second))


@function(
    "IMDIV", "engineering", "The quotient of two complex numbers.",
    toolpak.required("inumber1", "The complex number."), toolpak.required("inumber2", "What it is divided by."),
    examples=(('=IMDIV("-238+240i","10+24i")', "5+12i"), ('=IMDIV("1+i",0)', NUM)),
)  # fmt: skip
def imdiv(inumber1: Any, inumber2: Any) -> str:
    first, second = read(inumber1), read(inumber2)
    suffix = _suffix(first, second)
    size = second.real**2 + second.imaginary**2
    toolpak.need(size > 0)
    real = (first.real * second.real + first.imaginary * second.imaginary) / size
    return write(real, (first.imaginary * second.real - first.real * second.imaginary) / size, suffix)


@function(
    "IMPOWER", "engineering", "A complex number to a real power.",
    _NUMBER, toolpak.required("number", "The power."),
    examples=(('=IMPOWER("2+3i",3)', "-46+9.00000000000001i"), ("=IMPOWER(0,0)", NUM)),
)  # fmt: skip
def impower(inumber: Any, number: Any) -> str:
    base, power = read(inumber), toolpak.number(number)
    size = math.hypot(base.real, base.imaginary)
    if size == 0:
        toolpak.need(power > 0)
        return "0"
    angle = math.atan2(base.imaginary, base.real) * power
    try:
        grown = size**power
    except OverflowError:
        raise Failure(NUM) from None
    return write(grown * math.cos(angle), grown * math.sin(angle), base.suffix)


# Functions of one complex number

ANGLE_MAX: Final = 2.0**27
"""Excel takes no sine of a larger angle."""


def _enter(
    name: str, description: str, example: tuple[str, str], compute: Callable[[float, float], tuple[float, float]]
) -> None:
    """A row for a function that turns the parts of a number into those of its value."""
    argument, result = example

    @function(
        name, "engineering", description, _NUMBER,
        examples=((f'={name}("{argument}")', result), (f"={name}(TRUE)", VALUE)),
    )  # fmt: skip
    def body(inumber: Any) -> str:
        number = read(inumber)
        try:
            real, imaginary = compute(number.real, number.imaginary)
        except (OverflowError, ZeroDivisionError, ValueError):
            raise Failure(NUM) from None
        return write(real, imaginary, number.suffix)


def _square_root(real: float, imaginary: float) -> tuple[float, float]:
    size, angle = math.sqrt(math.hypot(real, imaginary)), math.atan2(imaginary, real) / 2
    return size * math.cos(angle), size * math.sin(angle)


def _logarithm(base: float) -> Callable[[float, float], tuple[float, float]]:
    scale = math.log(base)
    return lambda real, imaginary: (
        math.log(math.hypot(real, imaginary)) / scale,
        math.atan2(imaginary, real) / scale,
    )


def _exponential(real: float, imaginary: float) -> tuple[float, float]:
    size = math.exp(real)
    return size * _cos(imaginary), size * _sin(imaginary)


def _sin(angle: float) -> float:
    toolpak.need(abs(angle) < ANGLE_MAX)
    return math.sin(angle)


def _cos(angle: float) -> float:
    toolpak.need(abs(angle) < ANGLE_MAX)
    return math.cos(angle)


def _sine(real: float, imaginary: float) -> tuple[float, float]:
    return _sin(real) * math.cosh(imaginary), _cos(real) * math.sinh(imaginary)


def _cosine(real: float, imaginary: float) -> tuple[float, float]:
    return _cos(real) * math.cosh(imaginary), -_sin(real) * math.sinh(imaginary)


def _hyperbolic_sine(real: float, imaginary: float) -> tuple[float, float]:
    return math.sinh(real) * _cos(imaginary), math.cosh(real) * _sin(imaginary)


def _hyperbolic_cosine(real: float, imaginary: float) -> tuple[float, float]:
    return math.cosh(real) * _cos(imaginary), math.sinh(real) * _sin(imaginary)


# The quotients in double angles: the form whose last digits are those of Excel's help


NEAR_ZERO: Final = 1e-3
"""Below it a difference of two numbers near 1 has lost digits that count."""


def _tangents(real: float, imaginary: float) -> float:
    """Return what the tangent and the secant divide by: 2 |cos|^2."""
    return _cos(2 * real) + math.cosh(2 * imaginary)


def _cotangents(real: float, imaginary: float) -> float:
    """Return what the cotangent and the cosecant divide by: 2 |sin|^2."""
    size = math.cosh(2 * imaginary) - _cos(2 * real)
    return size if size > NEAR_ZERO else 2 * (_sin(real) ** 2 + math.sinh(imaginary) ** 2)


def _tangent(real: float, imaginary: float) -> tuple[float, float]:
    size = _tangents(real, imaginary)
    return _sin(2 * real) / size, math.sinh(2 * imaginary) / size


def _cotangent(real: float, imaginary: float) -> tuple[float, float]:
    size = _cotangents(real, imaginary)
    return _sin(2 * real) / size, -math.sinh(2 * imaginary) / size


def _secant(real: float, imaginary: float) -> tuple[float, float]:
    size = _tangents(real, imaginary)
    return 2 * _cos(real) * math.cosh(imaginary) / size, 2 * _sin(real) * math.sinh(imaginary) / size


def _cosecant(real: float, imaginary: float) -> tuple[float, float]:
    size = _cotangents(real, imaginary)
    return 2 * _sin(real) * math.cosh(imaginary) / size, -2 * _cos(real) * math.sinh(imaginary) / size


def _hyperbolic_secant(real: float, imaginary: float) -> tuple[float, float]:
    size = _tangents(imaginary, real)
    return 2 * math.cosh(real) * _cos(imaginary) / size, -2 * math.sinh(real) * _sin(imaginary) / size


def _hyperbolic_cosecant(real: float, imaginary: float) -> tuple[float, float]:
    size = _cotangents(imaginary, real)
    return 2 * math.sinh(real) * _cos(imaginary) / size, -2 * math.cosh(real) * _sin(imaginary) / size


_enter(
    "IMCONJUGATE", "The complex number mirrored on the real axis.",
    ("3+4i", "3-4i"), lambda real, imaginary: (real, -imaginary),
)  # fmt: skip
_enter(
    "IMSQRT", "The square root of a complex number.",
    ("1+i", "1.09868411346781+0.455089860562227i"), _square_root,
)  # fmt: skip
_enter(
    "IMEXP", "e to the power of a complex number.",
    ("1+i", "1.46869393991589+2.28735528717884i"), _exponential,
)  # fmt: skip
_enter(
    "IMLN", "The natural logarithm of a complex number.",
    ("3+4i", "1.6094379124341+0.927295218001612i"), _logarithm(math.e),
)  # fmt: skip
_enter(
    "IMLOG10", "The common logarithm of a complex number.",
    ("3+4i", "0.698970004336019+0.402719196273373i"), _logarithm(10),
)  # fmt: skip
_enter(
    "IMLOG2", "The logarithm of a complex number to base 2.",
    ("3+4i", "2.32192809488736+1.33780421245098i"), _logarithm(2),
)  # fmt: skip
_enter(
    "IMSIN", "The sine of a complex number.",
    ("4+3i", "-7.61923172032141-6.548120040911i"), _sine,
)  # fmt: skip
_enter(
    "IMCOS", "The cosine of a complex number.",
    ("1+i", "0.833730025131149-0.988897705762865i"), _cosine,
)  # fmt: skip
_enter(
    "IMTAN", "The tangent of a complex number.",
    ("4+3i", "0.00490825806749606+1.00070953606723i"), _tangent,
)  # fmt: skip
_enter(
    "IMSEC", "The secant of a complex number.",
    ("4+3i", "-0.0652940278579471-0.0752249603027732i"), _secant,
)  # fmt: skip
_enter(
    "IMCSC", "The cosecant of a complex number.",
    ("4+3i", "-0.0754898329158637+0.0648774713706355i"), _cosecant,
)  # fmt: skip
_enter(
    "IMCOT", "The cotangent of a complex number.",
    ("4+3i", "0.00490118239430447-0.999266927805902i"), _cotangent,
)  # fmt: skip
_enter(
    "IMSINH", "The hyperbolic sine of a complex number.",
    ("4+3i", "-27.0168132580039+3.85373803791938i"), _hyperbolic_sine,
)  # fmt: skip
_enter(
    "IMCOSH", "The hyperbolic cosine of a complex number.",
    ("4+3i", "-27.0349456030742+3.85115333481178i"), _hyperbolic_cosine,
)  # fmt: skip
_enter(
    "IMSECH", "The hyperbolic secant of a complex number.",
    ("4+3i", "-0.0362534969158689-0.00516434460775318i"), _hyperbolic_secant,
)  # fmt: skip
_enter(
    "IMCSCH", "The hyperbolic cosecant of a complex number.",
    ("4+3i", "-0.036275889628626-0.0051744731840194i"), _hyperbolic_cosecant,
)  # fmt: skip
