"""Figures and names as the analyst's sentences print them."""

from __future__ import annotations

import unicodedata
from datetime import date
from typing import Final

from core.frames.figures import decimals_apart, unit_decimals
from core.insights.insight import Unit
from core.report.figures import day, figure, with_sign
from core.words import counted

NAME_CHARACTERS: Final = 80
"""Of a name out of the file; a cell may hold 32,767."""

UNIT_SUFFIXES: Final[dict[str, str]] = {
    "percent": " %", "points": " points", "price": " % of par", "years": " years", "bps": " bps", "days": " days",
}  # fmt: skip

_LIKE: Final = str.maketrans({"<": "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}",
                              ">": "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}",
                              "[": "(", "]": ")", "`": "'", "{": "(", "}": ")", "|": "/"})  # fmt: skip


def plain(text: str, most: int = NAME_CHARACTERS) -> str:
    """Return a name out of a file as one short line that no reader takes for markup.

    What a cell says is data.

    Control and format characters go, brackets of markup become others, and an address is no link any more.
    """
    kept = text[: 4 * most]
    if not kept.isprintable():  # what is printable has no such characters but the space
        kept = "".join(" " if unicodedata.category(character)[0] in "CZ" else character for character in kept)
    line = " ".join(kept.translate(_LIKE).replace("://", ": //").split())
    return line if len(line) <= most else line[: most - 3].rstrip() + "..."


def printed(
    value: float | date,
    unit: Unit,
    *,
    currency: str | None = None,
    noun: str = "",
    sign: bool = False,
    decimals: int | None = None,
) -> str:
    """Return a figure with its unit: 7.50 %, USD 12.35m, 3 loans.

    Args:
        noun: what is counted, in the singular.
        sign: whether a positive figure has one.
        decimals: those that tell it from another figure; by its unit where None.
    """
    if isinstance(value, date):
        return day(value)
    shown = with_sign if sign else figure
    if unit == "amount":
        return _money(value, currency, sign=sign)
    if unit == "count":
        return counted(value, noun).rstrip()
    if decimals is None:
        decimals = unit_decimals(unit, value)
    return shown(value, decimals) + UNIT_SUFFIXES.get(unit, "")


def decimals_between(value: float, second_value: float, unit: Unit) -> int:
    """Return the decimals at which two different figures are printed as such, from those of their unit on."""
    return decimals_apart(value, second_value, max(unit_decimals(unit, value), unit_decimals(unit, second_value)))


_SCALES: Final = ((1e9, "bn"), (1e6, "m"))


def _money(value: float, currency: str | None, *, sign: bool) -> str:
    scale, mark = next(((size, word) for size, word in _SCALES if abs(value) >= size), (1.0, ""))
    text = (with_sign if sign else figure)(value / scale, 2 if mark else 0) + mark
    return f"{plain(currency, 10)} {text}" if currency else text


def listed(items: list[str]) -> str:
    """One, two and three."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
