"""Text functions between numbers and the way they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final

from core.formula.functions.catalogue import OMITTED, Argument, Takes, Work, function
from core.formula.functions.text.text import bounded, gathered
from core.formula.ranges.environment import Environment
from core.formula.values.coerce import to_text
from core.formula.values.formats import fixed, format_value, shows_date
from core.formula.values.locales import current
from core.formula.values.numerals import read_full_number, read_number, read_plain_number
from core.formula.values.value import VALUE, Array, Error, Failure

_DECIMALS_MAX: Final = 127
_BAHT_MAX: Final = 1e15
_DIGITS: Final = re.compile("[1-9]")


@function(
    "TEXT", "text", "Shows a value under a number format.", Argument("value", Takes.VALUE, "The value."),
    Argument("format_text", Takes.TEXT, "The format code."),
    environment=True,
    examples=(
        ('=TEXT(1234.567,"$#,##0.00")', "$1,234.57"), ('=TEXT(0.285,"0.0%")', "28.5%"),
        ('=TEXT(43831,"yyyy-mm-dd")', "2020-01-01"),
    ),
)  # fmt: skip
def text(environment: Environment, value: Any, code: str) -> str | Error:
    if isinstance(value, str):
        # A date without a year is a date under a date's code only: TEXT("3-1","00") is 3-1 in Excel.
        read = read_number if shows_date(code) else read_full_number
        number = read(value, environment.date_1904)
        value = value if number is None else number
    return format_value(value, code, environment.date_1904)


@function(
    "VALUE", "text", "Reads the number, date or time that a text spells.", Argument("text", Takes.VALUE, "The text."),
    environment=True,
    work=Work(call=3_000, reads=True, grows=0),
    examples=(('=VALUE("$1,000")', 1000.0), ('=VALUE("16:48:00")-VALUE("12:00:00")', 0.2)),
)  # fmt: skip
def value_of(environment: Environment, value: Any) -> float:
    if isinstance(value, bool):
        raise Failure(VALUE)
    if not isinstance(value, str):
        return float(value or 0.0)
    number = read_number(value, environment.date_1904)
    if number is None:
        raise Failure(VALUE)
    return number


@function(
    "NUMBERVALUE", "text", "Reads a number written with the given separators.",
    Argument("text", Takes.TEXT, "The text."),
    Argument("decimal_separator", Takes.TEXT, "What stands before the decimals.", required=False, empty=OMITTED),
    Argument("group_separator", Takes.TEXT, "What stands between thousands.", required=False, empty=OMITTED),
    examples=(('=NUMBERVALUE("2.500,27",",",".")', 2500.27), ('=NUMBERVALUE("3.5%")', 0.035)),
)  # fmt: skip
def numbervalue(text: str, decimal: Any = OMITTED, group: Any = OMITTED) -> float:
    text = "".join(text.split())
    decimal = current().decimal if decimal is OMITTED else decimal
    group = current().group if group is OMITTED else group
    if not decimal or not group:
        raise Failure(VALUE)
    whole, point, decimals = text.partition(decimal[0])
    if group[0] != decimal[0]:
        whole = whole.replace(group[0], "")
    bare = (whole + ("." if point else "") + decimals).rstrip("%")
    percents = len(whole + decimals) + len(point and ".") - len(bare)
    if not bare and not percents:
        return 0.0
    if "%" in bare or "," in bare or bare.count(".") > 1:
        raise Failure(VALUE)
    number = read_plain_number(bare)
    if number is None:
        raise Failure(VALUE)
    return number / 100.0**percents


@function(
    "FIXED", "text", "Rounds a number and writes it with its decimals.",
    Argument("number", Takes.NUMBER, "The number."),
    Argument("decimals", Takes.INTEGER, "How many decimals; 2 if left out.", required=False),
    Argument("no_commas", Takes.LOGICAL, "TRUE leaves out commas between thousands.", required=False),
    examples=(("=FIXED(1234.567,1)", "1,234.6"), ("=FIXED(-1234.567,-1,TRUE)", "-1230")),
)  # fmt: skip
def fixed_text(number: float, decimals: int = 2, no_commas: bool = False) -> str:
    written = _written(number, decimals, commas=not no_commas)
    return f"-{written}" if number < 0 and _DIGITS.search(written) else written


@function(
    "DOLLAR", "text", "Rounds a number and writes it as an amount of dollars.",
    Argument("number", Takes.NUMBER, "The number."),
    Argument("decimals", Takes.INTEGER, "How many decimals; 2 if left out.", required=False),
    examples=(("=DOLLAR(1234.567,2)", "$1,234.57"), ("=DOLLAR(-1234.567,-2)", "($1,200)")),
)  # fmt: skip
def dollar(number: float, decimals: int = 2) -> str:
    written, locale = _written(number, decimals, commas=True), current()
    below = number < 0 and _DIGITS.search(written)
    return (locale.amount_below_zero if below else locale.amount).replace("#", written)


def _written(number: float, decimals: int, *, commas: bool) -> str:
    """Return a number without its sign, rounded half away from zero."""
    if not -_DECIMALS_MAX <= decimals <= _DECIMALS_MAX:
        raise Failure(VALUE)
    if decimals < 0:
        digits, rest = fixed(abs(number), 0, decimals)[0], ""
        digits += "0" * -decimals if digits else ""
    else:
        digits, rest = fixed(abs(number), decimals)
    locale = current()
    whole = f"{int(digits or '0'):,}".replace(",", locale.group) if commas else digits or "0"
    return bounded(f"{whole}{locale.decimal}{rest}" if rest else whole)


# -- baht

_THAI_DIGITS: Final = ("ศูนย์", "หนึ่ง", "สอง", "สาม", "สี่", "ห้า", "หก", "เจ็ด", "แปด", "เก้า")
_THAI_PLACES: Final = ("", "สิบ", "ร้อย", "พัน", "หมื่น", "แสน")


@function(
    "BAHTTEXT", "text", "Writes an amount of baht in Thai words.", Argument("number", Takes.NUMBER, "The amount."),
    examples=(("=BAHTTEXT(1234)", "หนึ่งพันสองร้อยสามสิบสี่บาทถ้วน"),),
)  # fmt: skip
def bahttext(number: float) -> str:
    if abs(number) >= _BAHT_MAX:
        raise Failure(VALUE)
    whole, satang = fixed(abs(number), 2)
    baht, hundredths = int(whole or "0"), int(satang)
    written = "ลบ" if number < 0 and (baht or hundredths) else ""
    if baht or not hundredths:
        written += (_thai(baht) or _THAI_DIGITS[0]) + "บาท"
    return written + (_thai(hundredths) + "สตางค์" if hundredths else "ถ้วน")


def _thai(number: int) -> str:
    """Return a whole number in words; nothing for zero."""
    millions, rest = divmod(number, 1_000_000)
    words = _thai(millions) + "ล้าน" if millions else ""
    for place in range(5, -1, -1):
        digit = rest // 10**place % 10
        if not digit:
            continue
        if place == 1 and digit <= 2:
            words += "ยี่" if digit == 2 else ""
        elif place == 0 and digit == 1 and rest > 10:
            words += "เอ็ด" if rest % 100 > 10 else _THAI_DIGITS[1]
        else:
            words += _THAI_DIGITS[digit]
        words += _THAI_PLACES[place]
    return words


# -- values as text

_FORMAT: Final = Argument(
    "format", Takes.INTEGER, "0 for easy reading, 1 as it would stand in a formula.", required=False
)


@function(
    "VALUETOTEXT", "text", "Writes a value as text, errors too.", Argument("value", Takes.ANY, "The value."), _FORMAT,
    examples=(("=VALUETOTEXT(A1)", "10"), ("=VALUETOTEXT(B1,1)", '"apple"')),
)  # fmt: skip
def valuetotext(value: Any, form: int = 0) -> str:
    if form not in (0, 1):
        raise Failure(VALUE)
    return bounded(_spelt(value, strict=form == 1))


@function(
    "ARRAYTOTEXT", "text", "Writes the values of an array as one text.", Argument("array", Takes.RANGE, "The values."),
    _FORMAT,
    examples=(("=ARRAYTOTEXT(A1:B2)", "10, apple, 20, banana"), ("=ARRAYTOTEXT(A1:B2,1)", '{10,"apple";20,"banana"}')),
)  # fmt: skip
def arraytotext(array: Any, form: int = 0) -> str:
    if form not in (0, 1):
        raise Failure(VALUE)
    grid = array.grid() if isinstance(array, Array) else [[array]]
    across, down, start, end = (",", ";", "{", "}") if form else (", ", ", ", "", "")
    return gathered(chain((start,), _separated(grid, across, down, strict=form == 1), (end,)))


def _separated(grid: list[list[Any]], across: str, down: str, *, strict: bool) -> Iterator[str]:
    """Yield the cells of a grid as text, and what stands between them."""
    for row, line in enumerate(grid):
        for column, value in enumerate(line):
            if row or column:
                yield across if column else down
            yield _spelt(value, strict=strict)


def _spelt(value: Any, *, strict: bool) -> str:
    if isinstance(value, Error):
        return value.text
    if strict and isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    shown = to_text(value)
    return shown if isinstance(shown, str) else shown.text
