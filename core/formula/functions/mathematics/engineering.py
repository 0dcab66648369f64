"""Numbers in other bases, units of measure, and Bessel functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Takes, function
from core.formula.functions.mathematics import bessel
from core.formula.values.coerce import to_text
from core.formula.values.value import NA, NUM, VALUE, Error, Failure

# Bases: ten digits at most, the first of them a sign (two's complement)

DIGITS_MAX: Final = 10

_BASES: Final = {"BIN": 2, "OCT": 8, "HEX": 16}
_WORDS: Final = {"BIN": "binary", "OCT": "octal", "HEX": "hexadecimal", "DEC": "decimal"}
_FORMATS: Final = {2: "b", 8: "o", 16: "X"}
_DIGITS: Final = {2: "01", 8: "01234567", 16: "0123456789abcdefABCDEF"}


def _text(value: Any) -> str:
    """Return a number or text as text; booleans are refused."""
    if value is OMITTED:
        raise Failure(NA)
    if isinstance(value, bool):
        raise Failure(VALUE)
    text = to_text(value)
    if isinstance(text, Error):
        raise Failure(text)
    return text


def _read(value: Any, base: int) -> int:
    """Return the number that digits of a base stand for; no digits stand for 0."""
    text = _text(value)
    if len(text) > DIGITS_MAX or text.strip(_DIGITS[base]):
        raise Failure(NUM)
    number = int(text or "0", base)
    full = base**DIGITS_MAX
    return number - full if number >= full // 2 else number


def _places(value: Any) -> int:
    """Return how many digits to write at least, 0 where that is left open.

    NUM outside 1 to ten (a blank cell is 0).
    """
    if value is OMITTED:
        return 0
    count = toolpak.whole(value)
    toolpak.need(1 <= count <= DIGITS_MAX)
    return count


def _write(number: int, base: int, count: int) -> str:
    """Return the digits of a number, with leading zeros to fill the places.

    A negative one always has ten digits.
    """
    full = base**DIGITS_MAX
    if not -full // 2 <= number < full // 2:
        raise Failure(NUM)
    if number < 0:
        return format(full + number, _FORMATS[base])
    digits = format(number, _FORMATS[base])
    if count and len(digits) > count:
        raise Failure(NUM)
    return digits.zfill(count)


def _enter_base(source: str, target: str, example: Any, result: str) -> None:
    """A row that turns one base into another."""
    base = _BASES[target]
    read: Callable[[Any], int] = toolpak.whole if source == "DEC" else lambda value: _read(value, _BASES[source])

    @function(
        f"{source}2{target}", "engineering", f"Writes a {_WORDS[source]} number as a {_WORDS[target]} one.",
        toolpak.required("number", f"The {_WORDS[source]} number."),
        toolpak.single("places", "How many digits to fill with zeros.", optional=True, empty=OMITTED),
        examples=((f"={source}2{target}({example})", result), (f"={source}2{target}(1,11)", NUM)),
    )  # fmt: skip
    def body(number: Any, places: Any = OMITTED) -> str:
        count = _places(places)  # Excel refuses these before it reads the number
        return _write(read(number), base, count)


_enter_base("BIN", "OCT", "1001,3", "011")
_enter_base("BIN", "HEX", "1110", "E")
_enter_base("OCT", "BIN", "3,3", "011")
_enter_base("OCT", "HEX", '"7777777533"', "FFFFFFFF5B")
_enter_base("HEX", "BIN", '"F",8', "00001111")
_enter_base("HEX", "OCT", '"3B4E"', "35516")
_enter_base("DEC", "BIN", "-100", "1110011100")
_enter_base("DEC", "OCT", "58,3", "072")
_enter_base("DEC", "HEX", "-54", "FFFFFFFFCA")


def _enter_decimal(source: str, example: str, result: float) -> None:
    """A row that reads a number of another base."""

    @function(
        f"{source}2DEC", "engineering", f"The decimal value of a {_WORDS[source]} number.",
        toolpak.required("number", f"The {_WORDS[source]} number."),
        examples=((f"={source}2DEC({example})", result), (f'={source}2DEC("x")', NUM), (f"={source}2DEC(TRUE)", VALUE)),
    )  # fmt: skip
    def body(number: Any) -> int:
        return _read(number, _BASES[source])


_enter_decimal("BIN", "1111111111", -1.0)
_enter_decimal("OCT", '"7777777533"', -165.0)
_enter_decimal("HEX", '"FFFFFFFF5B"', -165.0)


# Units: what one is in grams, metres, seconds, ... as Excel has it

UNITS: Final[dict[str, dict[str, float]]] = {
    "mass": {
        "g": 1.0, "sg": 14593.9029372064, "lbm": 453.59237, "u": 1.660538782e-24, "ozm": 28.349523125,
        "grain": 0.06479891, "cwt": 45359.237, "shweight": 45359.237, "uk_cwt": 50802.34544, "lcwt": 50802.34544,
        "hweight": 50802.34544, "stone": 6350.29318, "ton": 907184.74, "uk_ton": 1016046.9088, "LTON": 1016046.9088,
        "brton": 1016046.9088,
    },
    "distance": {
        "m": 1.0, "mi": 1609.344, "Nmi": 1852.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "ang": 1e-10, "ell": 1.143,
        "ly": 9460730472580800.0, "parsec": 30856775812815500.0, "pc": 30856775812815500.0, "Picapt": 0.0254 / 72,
        "Pica": 0.0254 / 72, "pica": 0.0254 / 6, "survey_mi": 6336000 / 3937,
    },
    "time": {
        "yr": 31557600.0, "day": 86400.0, "d": 86400.0, "hr": 3600.0, "mn": 60.0, "min": 60.0, "sec": 1.0, "s": 1.0,
    },
    "pressure": {
        "Pa": 1.0, "p": 1.0, "atm": 101325.0, "at": 101325.0, "mmHg": 133.322, "psi": 6894.75729316836,
        "Torr": 101325 / 760,
    },
    "force": {"N": 1.0, "dyn": 1e-5, "dy": 1e-5, "lbf": 4.4482216152605, "pond": 0.00980665},
    "energy": {
        "J": 1.0, "e": 1e-7, "c": 4.184, "cal": 4.1868, "eV": 1.602176487e-19, "ev": 1.602176487e-19,
        "HPh": 2684519.53769617, "hh": 2684519.53769617, "Wh": 3600.0, "wh": 3600.0, "flb": 1.3558179483314,
        "BTU": 1055.05585262, "btu": 1055.05585262,
    },
    "power": {"W": 1.0, "w": 1.0, "HP": 745.69987158227, "h": 745.69987158227, "PS": 735.49875},
    "magnetism": {"T": 1.0, "ga": 1e-4},
    "volume": {
        "tsp": 4.92892159375e-6, "tspm": 5e-6, "tbs": 1.478676478125e-5, "oz": 2.95735295625e-5, "cup": 2.365882365e-4,
        "pt": 4.73176473e-4, "us_pt": 4.73176473e-4, "uk_pt": 5.6826125e-4, "qt": 9.46352946e-4, "uk_qt": 1.1365225e-3,
        "gal": 3.785411784e-3, "uk_gal": 4.54609e-3, "l": 1e-3, "L": 1e-3, "lt": 1e-3, "ang3": 1e-30, "ang^3": 1e-30,
        "barrel": 0.158987294928, "bushel": 0.03523907016688, "ft3": 0.3048**3, "ft^3": 0.3048**3, "in3": 0.0254**3,
        "in^3": 0.0254**3, "ly3": 9460730472580800.0**3, "ly^3": 9460730472580800.0**3, "m3": 1.0, "m^3": 1.0,
        "mi3": 1609.344**3, "mi^3": 1609.344**3, "yd3": 0.9144**3, "yd^3": 0.9144**3, "Nmi3": 1852.0**3,
        "Nmi^3": 1852.0**3, "Picapt3": (0.0254 / 72) ** 3, "Picapt^3": (0.0254 / 72) ** 3, "Pica3": (0.0254 / 72) ** 3,
        "Pica^3": (0.0254 / 72) ** 3, "GRT": 2.8316846592, "regton": 2.8316846592, "MTON": 1.13267386368,
    },
    "area": {
        "uk_acre": 4046.8564224, "us_acre": 62726400000 / 15499969, "ang2": 1e-20, "ang^2": 1e-20, "ar": 100.0,
        "ft2": 0.3048**2, "ft^2": 0.3048**2, "ha": 10000.0, "in2": 0.0254**2, "in^2": 0.0254**2,
        "ly2": 9460730472580800.0**2, "ly^2": 9460730472580800.0**2, "m2": 1.0, "m^2": 1.0, "Morgen": 2500.0,
        "mi2": 1609.344**2, "mi^2": 1609.344**2, "Nmi2": 1852.0**2, "Nmi^2": 1852.0**2, "Picapt2": (0.0254 / 72) ** 2,
        "Picapt^2": (0.0254 / 72) ** 2, "Pica2": (0.0254 / 72) ** 2, "Pica^2": (0.0254 / 72) ** 2, "yd2": 0.9144**2,
        "yd^2": 0.9144**2,
    },
    "information": {"bit": 1.0, "byte": 8.0},
    "speed": {
        "admkn": 1853.184 / 3600, "kn": 1852 / 3600, "m/h": 1 / 3600, "m/hr": 1 / 3600, "m/s": 1.0, "m/sec": 1.0,
        "mph": 0.44704,
    },
    "temperature": {"C": 1.0, "cel": 1.0, "F": 5 / 9, "fah": 5 / 9, "K": 1.0, "kel": 1.0, "Rank": 5 / 9, "Reau": 1.25},
}  # fmt: skip

_ZEROS: Final = {"C": 273.15, "cel": 273.15, "F": 459.67, "fah": 459.67, "Reau": 218.52}
"""What a thermometer shows less at absolute zero, in its own degrees."""

_METRIC: Final = frozenset({
    "g", "u", "m", "ang", "ly", "parsec", "pc", "sec", "s", "Pa", "p", "atm", "at", "mmHg", "N", "dyn", "dy", "pond",
    "J", "e", "c", "cal", "eV", "ev", "Wh", "wh", "W", "w", "T", "ga", "uk_pt", "l", "L", "lt", "ang3", "ang^3", "m3",
    "m^3", "ang2", "ang^2", "ar", "m2", "m^2", "bit", "byte", "m/h", "m/hr", "m/s", "m/sec", "mph", "K", "kel",
})  # fmt: skip
"""The units that take a prefix."""

_POWERS: Final = {"m2": 2, "m^2": 2, "ang2": 2, "ang^2": 2, "m3": 3, "m^3": 3, "ang3": 3, "ang^3": 3}
"""A prefix counts for the length, so it is raised with it."""

PREFIXES: Final = {
    "Y": 1e24, "Z": 1e21, "E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "h": 1e2, "da": 1e1, "e": 1e1,
    "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15, "a": 1e-18, "z": 1e-21, "y": 1e-24,
}  # fmt: skip
BINARY_PREFIXES: Final = {
    name: 2.0 ** (10 * power) for power, name in enumerate(("ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"), start=1)
}

_KINDS: Final = {unit: (kind, factor) for kind, units in UNITS.items() for unit, factor in units.items()}


def _unit(name: str) -> tuple[str, str, float]:
    """Return the kind, the unit without its prefix, and the factor of a unit with or without one; capitals count."""
    if name in _KINDS:
        kind, factor = _KINDS[name]
        return kind, name, factor
    for length in (1, 2):
        prefix, unit = name[:length], name[length:]
        scale = PREFIXES.get(prefix)
        if scale is None and unit in UNITS["information"]:
            scale = BINARY_PREFIXES.get(prefix)
        if scale is not None and unit in _METRIC:
            kind, factor = _KINDS[unit]
            return kind, unit, scale ** _POWERS.get(unit, 1) * factor
    raise Failure(NA)


@function(
    "CONVERT", "engineering", "A number in another unit of measure.",
    toolpak.required("number", "The number."),
    toolpak.single("from_unit", "Its unit; capitals count.", kind=Takes.TEXT),
    toolpak.single("to_unit", "The unit asked for.", kind=Takes.TEXT),
    examples=(
        ('=ROUND(CONVERT(1,"lbm","kg"),7)', 0.4535924),
        ('=CONVERT(68,"F","C")', 20.0),
        ('=CONVERT(2.5,"ft","sec")', NA),
        ('=CONVERT(1,"kibyte","bit")', 8192.0),
    ),
)  # fmt: skip
def convert(number: Any, from_unit: str, to_unit: str) -> float:
    value = toolpak.number(number)
    kind, source, factor = _unit(from_unit)
    target_kind, target, divisor = _unit(to_unit)
    if kind != target_kind:
        raise Failure(NA)
    if kind == "temperature" and source != target:
        return _degrees(value, source, factor, target, divisor)
    return value * factor / divisor


def _degrees(value: float, source: str, factor: float, target: str, divisor: float) -> float:
    """Convert by kelvin; the two common scales directly, for round numbers."""
    if source in ("C", "cel") and target in ("F", "fah"):
        return value * 9 / 5 + 32
    if source in ("F", "fah") and target in ("C", "cel"):
        return (value - 32) * 5 / 9
    return (value + _ZEROS.get(source, 0.0)) * factor / divisor - _ZEROS.get(target, 0.0)


# Bessel functions


def _enter_bessel(letter: str, description: str, body: Callable[[float, int], float], *, positive: bool) -> None:
    """A row for one kind; `positive` where it has no value at and below 0."""
    x, order, result = _BESSEL_EXAMPLES[letter]

    @function(
        f"BESSEL{letter}", "engineering", description,
        toolpak.required("x", "Where the function is taken."),
        toolpak.required("n", "The order, 0 or more; cut to a whole number."),
        examples=((f"=ROUND(BESSEL{letter}({x},{order}),9)", result), (f"=BESSEL{letter}(1,-1)", NUM)),
    )  # fmt: skip
    def entered(x: Any, n: Any) -> float:
        at, degree = toolpak.number(x), toolpak.whole(n)
        toolpak.need(0 <= degree <= bessel.ORDER_MAX, at > 0 or not positive)
        try:
            value = body(at, degree)
        except (OverflowError, ZeroDivisionError):
            raise Failure(NUM) from None
        toolpak.need(math.isfinite(value))
        return value


_BESSEL_EXAMPLES: Final = {
    "J": (1.9, 2, 0.329925829),
    "Y": (2.5, 1, 0.145918138),
    "I": (1.5, 1, 0.981666428),
    "K": (1.5, 1, 0.277387804),
}
"""Excel's help's own: x, order and value."""

_enter_bessel("J", "The Bessel function of the first kind.", bessel.bessel_j, positive=False)
_enter_bessel("Y", "The Bessel function of the second kind.", bessel.bessel_y, positive=True)
_enter_bessel("I", "The modified Bessel function of the first kind.", bessel.bessel_i, positive=False)
_enter_bessel("K", "The modified Bessel function of the second kind.", bessel.bessel_k, positive=True)
