"""Whole numbers: factorials, choices, divisors, numerals and bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from core.formula.functions import toolpak
from core.formula.functions.catalogue import OMITTED, Argument, Takes, function
from core.formula.functions.describe import many, number, whole
from core.formula.values.coerce import to_number
from core.formula.values.value import NUM, VALUE, Array, Error, Failure

_EXACT_MAX = 2.0**53
"""Up to here doubles are exact whole numbers: the bound of GCD, LCM and BASE."""


@function(
    "FACT", "math", "The factorial.", number("number", "0 to 170; decimals are cut."),
    examples=(("=FACT(5)", 120.0), ("=FACT(1.9)", 1.0), ("=FACT(-1)", NUM)),
)  # fmt: skip
def fact(value: float) -> float:
    value = whole(value)
    if not 0 <= value <= 170:
        raise Failure(NUM)
    return float(math.factorial(int(value)))


@function(
    "FACTDOUBLE", "math", "The product of every second whole number down to 1 or 2.",
    toolpak.required("number", "-1 to 300; decimals are cut."),
    examples=(("=FACTDOUBLE(6)", 48.0), ("=FACTDOUBLE(7)", 105.0)),
)  # fmt: skip
def fact_double(value: Any) -> float:
    value = whole(toolpak.number(value))
    if not -1 <= value <= 300:
        raise Failure(NUM)
    return float(math.prod(range(int(value), 0, -2)))


def _choices(total: float, chosen: float) -> float:
    """total over chosen, exact until it is past the largest double."""
    chosen = min(chosen, total - chosen)
    result, top = 1, int(total - chosen)
    for step in range(1, int(chosen) + 1):  # at least doubles each time, so it ends after some 1,030 steps
        result = result * (top + step) // step
        if result > 1 << 1024:
            raise Failure(NUM)
    return float(result)


_CHOSEN = (number("number", "How many there are."), number("number_chosen", "How many are taken."))


@function(
    "COMBIN", "math", "How many ways there are to choose, order aside.", *_CHOSEN,
    examples=(("=COMBIN(8,2)", 28.0), ("=COMBIN(2,3)", NUM)),
)  # fmt: skip
def combin(total: float, chosen: float) -> float:
    total, chosen = whole(total), whole(chosen)
    if chosen < 0 or total < chosen:
        raise Failure(NUM)
    return _choices(total, chosen)


@function(
    "COMBINA", "math", "How many ways there are to choose with repetition, order aside.", *_CHOSEN,
    examples=(("=COMBINA(4,3)", 20.0), ("=COMBINA(0,0)", 1.0)),
)  # fmt: skip
def combina(total: float, chosen: float) -> float:
    total, chosen = whole(total), whole(chosen)
    if total < 0 or chosen < 0 or total < chosen == 0 or (total == 0 and chosen > 0):
        raise Failure(NUM)
    return _choices(total + chosen - 1, chosen) if chosen else 1.0


@function(
    "PERMUT", "statistical", "How many ways there are to choose in order.", *_CHOSEN,
    examples=(("=PERMUT(100,3)", 970200.0), ("=PERMUT(2,3)", NUM)),
)  # fmt: skip
def permut(total: float, chosen: float) -> float:
    total, chosen = whole(total), whole(chosen)
    if total <= 0 or chosen < 0 or total < chosen:
        raise Failure(NUM)
    result, factor = 1.0, total
    while factor > total - chosen and result != math.inf:
        result *= factor
        factor -= 1
    return result


@function(
    "PERMUTATIONA", "statistical", "How many ways there are to choose in order with repetition.", *_CHOSEN,
    examples=(("=PERMUTATIONA(3,2)", 9.0), ("=PERMUTATIONA(0,2)", 0.0), ("=PERMUTATIONA(-1,1)", NUM)),
)  # fmt: skip
def permutation_a(total: float, chosen: float) -> float:
    total, chosen = whole(total), whole(chosen)
    if total < 0 or chosen < 0:
        raise Failure(NUM)
    try:
        return math.pow(total, chosen)
    except OverflowError:
        raise Failure(NUM) from None


def _whole_numbers(arguments: tuple[Any, ...]) -> list[int]:
    """Return the whole numbers of a ToolPak function's arguments, those in ranges read alike; blank cells are 0.

    Raises:
        Failure: NUM for a negative or inexact one.
    """
    sizes = []
    for argument in arguments:
        for value in argument.cells() if isinstance(argument, Array) else (argument,):
            if isinstance(value, Error):
                raise Failure(value)
            size = toolpak.number(value)
            if not 0 <= size < _EXACT_MAX:
                raise Failure(NUM)
            sizes.append(int(whole(size)))
    return sizes


@function(
    "MULTINOMIAL", "math", "The factorial of a sum by the product of the factorials.",
    *many("number1", "number2", "A number or a range of numbers, 0 or more.", empty=OMITTED),
    examples=(("=MULTINOMIAL(2,3,4)", 1260.0),),
)  # fmt: skip
def multinomial(*arguments: Any) -> float:
    result, total = 1.0, 0
    for size in _whole_numbers(arguments):
        total += size
        result *= _choices(float(total), float(size))
    return result


_DIVIDED = many("number1", "number2", "A whole number, 0 or more, or a range of them.", empty=OMITTED)


def _divided(arguments: tuple[Any, ...]) -> list[int]:
    """Return the whole numbers, without those of references to one blank cell (blanks of larger ranges are 0).

    Raises:
        Failure: VALUE where nothing is left, else as `_whole_numbers`.
    """
    there = tuple([argument for argument in arguments if not toolpak.is_blank_cell(argument)])
    if not there:
        raise Failure(VALUE)
    return _whole_numbers(there)


@function(
    "GCD", "math", "The greatest whole number that divides all.", *_DIVIDED,
    examples=(("=GCD(24,36)", 12.0), ("=GCD(5,0)", 5.0), ("=GCD(-1)", NUM)),
)  # fmt: skip
def gcd(*arguments: Any) -> float:
    return float(math.gcd(*_divided(arguments)))


@function(
    "LCM", "math", "The least whole number that all divide.", *_DIVIDED,
    examples=(("=LCM(24,36)", 72.0), ("=LCM(5,0)", 0.0)),
)  # fmt: skip
def lcm(*arguments: Any) -> float:
    result = math.lcm(*_divided(arguments))
    if result >= _EXACT_MAX:
        raise Failure(NUM)
    return float(result)


# Numerals.

_ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
          (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip
_SHORTER = (
    ((950, "LM"), (450, "LD"), (95, "VC"), (45, "VL")),
    ((990, "XM"), (490, "XD"), (99, "IC"), (49, "IL")),
    ((995, "VM"), (495, "VD")),
    ((999, "IM"), (499, "ID")),
)
"""What each form allows beyond the one before it: ever smaller letters before a great one."""
_ROMAN_FORMS = tuple(
    tuple(sorted((*_ROMAN, *(pair for pairs in _SHORTER[:form] for pair in pairs)), reverse=True)) for form in range(5)
)


@function(
    "ROMAN", "math", "A number in Roman numerals.",
    number("number", "0 to 3999."),
    Argument("form", Takes.VALUE, "0 (classic) to 4 (shortest); TRUE is 0, FALSE is 4.", required=False),
    examples=(("=ROMAN(499)", "CDXCIX"), ("=ROMAN(499,2)", "XDIX"), ("=ROMAN(499,4)", "ID"), ("=ROMAN(4000)", VALUE)),
)  # fmt: skip
def roman(value: float, form: Any = 0.0) -> str:
    if isinstance(form, bool):
        form = 0.0 if form else 4.0
    form, value = to_number(form), whole(value)
    if isinstance(form, Error):
        raise Failure(form)
    if not 0 <= value <= 3999 or not 0 <= int(form) <= 4:
        raise Failure(VALUE)
    letters, rest = "", int(value)
    for size, pair in _ROMAN_FORMS[int(form)]:
        count, rest = divmod(rest, size)
        letters += pair * count
    return letters


_LETTERS = {letter: size for size, letter in _ROMAN if len(letter) == 1}


@function(
    "ARABIC", "math", "The number that Roman numerals say.",
    Argument("text", Takes.TEXT, "In either case; - may lead."),
    examples=(('=ARABIC("LVII")', 57.0), ('=ARABIC("-mcmxii")', -1912.0), ('=ARABIC("IIIIMIXVC")', 1080.0)),
)  # fmt: skip
def arabic(text: str) -> float:
    text = text.strip(" ").upper()
    negative = text.startswith("-")
    letters = text[negative:]
    if len(text) > 255 or not all(letter in _LETTERS for letter in letters) or (negative and not letters):
        raise Failure(VALUE)
    total = greatest = 0
    for letter in reversed(letters):  # whatever is smaller than a letter to its right is taken off
        size = _LETTERS[letter]
        total += size if size >= greatest else -size
        greatest = max(greatest, size)
    return float(-total if negative else total)


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@function(
    "BASE", "math", "A number written in another base.",
    number("number", "0 or more."), number("radix", "2 to 36."),
    number("min_length", "Zeros fill up to here.", optional=True),
    examples=(("=BASE(7,2)", "111"), ("=BASE(100,16)", "64"), ("=BASE(15,2,10)", "0000001111")),
)  # fmt: skip
def base(value: float, radix: float, length: float = 0.0) -> str:
    if not (0 <= value < _EXACT_MAX and 2 <= radix < 37 and 0 <= length < 256):
        raise Failure(NUM)
    digits, rest = "", int(value)
    while rest:
        rest, digit = divmod(rest, int(radix))
        digits = _DIGITS[digit] + digits
    return (digits or "0").rjust(int(length), "0")


@function(
    "DECIMAL", "math", "The number that text in another base says.",
    Argument("text", Takes.TEXT, "Digits, then letters in either case."), number("radix", "2 to 36."),
    examples=(('=DECIMAL("FF",16)', 255.0), ('=DECIMAL("111",2)', 7.0), ('=DECIMAL("2",2)', NUM)),
)  # fmt: skip
def decimal(text: str, radix: float) -> float:
    if len(text) > 255:
        raise Failure(VALUE)
    if not 2 <= radix < 37:
        raise Failure(NUM)
    result = 0
    for letter in text.strip(" ").upper():
        digit = _DIGITS.find(letter)
        if not 0 <= digit < int(radix):
            raise Failure(NUM)
        result = result * int(radix) + digit
    return float(result) if result < 1 << 1023 else math.inf


# Bits.

_BITS_MAX = 2**48


def _bits(value: float) -> int:
    if not 0 <= value < _BITS_MAX or value != int(value):
        raise Failure(NUM)
    return int(value)


def _combined(operation: Callable[[int, int], int]) -> Callable[[float, float], float]:
    return lambda first, second: float(operation(_bits(first), _bits(second)))


_TWO_BITS = (number("number1", "A whole number below 2^48."), number("number2", "Another one."))
for _name, _description, _operation, _example in (
    ("BITAND", "The bits that both numbers have.", int.__and__, ("=BITAND(13,25)", 9.0)),
    ("BITOR", "The bits that either number has.", int.__or__, ("=BITOR(23,10)", 31.0)),
    ("BITXOR", "The bits that just one of the numbers has.", int.__xor__, ("=BITXOR(5,3)", 6.0)),
):
    function(_name, "engineering", _description, *_TWO_BITS, examples=(_example,))(_combined(_operation))


def _shifted(value: float, places: float, direction: int) -> float:
    bits, count = _bits(value), int(places) * direction
    if abs(places) > 53:
        raise Failure(NUM)
    result = bits << count if count >= 0 else bits >> -count
    if result >= _BITS_MAX:
        raise Failure(NUM)
    return float(result)


_SHIFT = (number("number", "A whole number below 2^48."), number("shift_amount", "Places, -53 to 53."))


@function("BITLSHIFT", "engineering", "The bits moved to the left.", *_SHIFT, examples=(("=BITLSHIFT(4,2)", 16.0),))
def bit_left(value: float, places: float) -> float:
    return _shifted(value, places, 1)


@function("BITRSHIFT", "engineering", "The bits moved to the right.", *_SHIFT, examples=(("=BITRSHIFT(13,2)", 3.0),))
def bit_right(value: float, places: float) -> float:
    return _shifted(value, places, -1)
