"""Printed cells: a text, the value that it says, and the number format that prints it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final

from tests.core.portfolio.conftest import Shown

DATES: Final = {
    "dd-mmm-yyyy": "%d-%b-%Y",
    "d mmm yyyy": "%-d %b %Y",
    "yyyy-mm-dd": "%Y-%m-%d",
    "mm/dd/yyyy": "%m/%d/%Y",
}
"""Number format of a day -> how Python prints it."""

DECIMALS_MAX: Final = 6


@dataclass(frozen=True, slots=True)
class PrintedCell:
    """A cell as the paper has it."""

    text: str
    value: float | str | bool | date
    """At the printed precision."""
    code: str = "General"
    """The number format."""
    unit: float = 0.0
    """One unit of the last printed digit of a number."""
    sign: str = ""
    """A currency sign that stands apart, before the number; it is no part of the text."""

    @property
    def is_number(self) -> bool:
        return isinstance(self.value, float)


Cell = PrintedCell | None


def print_text(text: str) -> PrintedCell:
    """Return a cell of text."""
    return PrintedCell(text, text)


def print_date(day: date, code: str) -> PrintedCell:
    """Return a cell with a day."""
    return PrintedCell(f"{day:{DATES[code]}}", day, code)


def print_number(value: float, decimals: int, *, grouped: bool, percent: bool = False, brackets: bool = False) -> Cell:
    """Return a cell with a number; `brackets` puts negative numbers in parentheses."""
    scale = 100.0 if percent else 1.0
    plain = f"{abs(value) * scale:{',' if grouped else ''}.{decimals}f}" + ("%" if percent else "")
    is_negative = value < 0 and any(sign in "123456789" for sign in plain)
    code = ("#,##0" if grouped else "0") + ("." + "0" * decimals if decimals else "") + ("%" if percent else "")
    if brackets:
        code = f"{code};({code})"
    text = (f"({plain})" if brackets else f"-{plain}") if is_negative else plain
    rounded = float(plain.strip("%").replace(",", "")) / scale
    return PrintedCell(text, -rounded if is_negative else rounded, code, 10.0**-decimals / scale)


_PERCENT: Final = re.compile(r"0\.?(0*)%")


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How the numbers of one column are printed."""

    decimals: int
    grouped: bool
    percent: bool = False


def number_style(values: list[Any], heading: str, *, is_code: bool = False) -> NumberStyle:
    """Return how a column prints its numbers; `is_code` keeps digits together, as in 20291231."""
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if is_code or not numbers:
        return NumberStyle(0, grouped=False)
    if "%" in heading and max(map(abs, numbers)) <= 1.0 and all(isinstance(value, float) for value in numbers):
        return NumberStyle(4, grouped=False, percent=True)
    is_large = max(map(abs, numbers)) >= 1000
    if all(isinstance(value, int) for value in numbers):
        return NumberStyle(0, grouped=is_large)
    return NumberStyle(max(2, max(map(_decimals, numbers))), grouped=is_large)


def _decimals(value: float) -> int:
    plain = f"{round(value, DECIMALS_MAX):.{DECIMALS_MAX}f}".rstrip("0")
    return len(plain) - plain.index(".") - 1


def print_value(value: Any, style: NumberStyle, day_code: str, *, brackets: bool) -> Cell:
    """Return the printed cell of any value of the generator."""
    match value:
        case None | "":
            return None
        case str():
            return print_text(value)
        case bool():
            return PrintedCell("TRUE" if value else "FALSE", value)
        case date():
            return print_date(value, day_code)
        case Shown():
            fits = _PERCENT.fullmatch(value.number_format)
            assert fits, value.number_format
            return print_number(value.number, len(fits[1]), grouped=False, percent=True, brackets=brackets)
        case _:
            return print_number(
                float(value), style.decimals, grouped=style.grouped, percent=style.percent, brackets=brackets
            )


def with_sign(cell: PrintedCell, sign: str) -> PrintedCell:
    """Return the amount with a currency sign that stands apart."""
    code = ";".join(f'"{sign}"{part}' for part in cell.code.split(";"))
    return replace(cell, sign=sign, code=code)
