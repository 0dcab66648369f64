"""What a text that was typed into a cell, or shown by one, is.

A number, a percentage, a day, an error, or just text.

Only what no identifier and no footnote looks like becomes a number: no zero in front, no currency, at most 15 digits.
Days written with slashes stay text, since which of them is the month only their column can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from core.files.parts import Shows, shown
from core.values import ERROR_CODE, Kind, to_serial

CHARACTERS_MAX: Final = 40
"""Of a figure or a day; a longer text is one."""
DIGITS_MAX: Final = 15
"""Digits of a figure: a double does not hold all of more."""

PERCENT, DAY, MOMENT = "0.00%", "yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss"
"""The number formats of what is read here."""

Value = tuple[Kind, float, str]
"""Kind, number or date serial or code of an error, number format."""

_FIGURE: Final = re.compile(
    r"(?P<open>\()?\s*(?P<sign>-)?\s*(?P<digits>[\d.,]*\d)\s*(?P<percent>%)?\s*(?P<minus>-)?\s*(?P<close>\))?"
)
_SCIENTIFIC: Final = re.compile(r"-?\d[.,]\d{1,15}E[+-]\d{1,3}", re.IGNORECASE)
_PLAIN: Final = re.compile(r"0|[1-9]\d*")
_GROUPED: Final = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ",."}

_MONTHS: Final = (
    ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may", "may"), ("jun", "june"),
    ("jul", "july"), ("aug", "august"), ("sep", "september"), ("oct", "october"), ("nov", "november"),
    ("dec", "december"),
)  # fmt: skip
_MONTH: Final = {name: number for number, names in enumerate(_MONTHS, 1) for name in names} | {"sept": 9}
_CLOCK: Final = r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,6})?)?)?"
_DAYS: Final = (
    re.compile(rf"(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}}){_CLOCK}"),
    re.compile(rf"(?P<day>\d{{1,2}})[- ](?P<name>[A-Za-z]{{3,9}})\.?,?[- ](?P<year>\d{{4}}|\d{{2}}){_CLOCK}"),
    re.compile(rf"(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}), (?P<year>\d{{4}}){_CLOCK}"),
)
_PARTS: Final = re.compile(rf"(\d{{1,4}})[-/. ](\d{{1,2}})[-/. ](\d{{1,4}}){_CLOCK}")
_CENTURY_FROM: Final = 30
"""Of a year with two digits, the first that is in the twentieth century, as in Excel."""


def uses_comma(texts: Iterable[str]) -> bool:
    """Return whether figures have a decimal comma.

    Some can only have one, and none only a point.
    """
    comma = False
    for text in texts:
        sign = _sign_of(text)
        if sign == ".":
            return False
        comma = comma or sign == ","
    return comma


def _sign_of(digits: str) -> str:
    """Return a figure's decimal sign; "" where it may have either, or none."""
    for sign, group in (",.", ".,"):
        whole, mark, rest = digits.partition(sign)
        if mark and rest.isdigit():
            if _GROUPED[group].fullmatch(whole):
                return sign
            if _PLAIN.fullmatch(whole) and (len(rest) != 3 or len(whole) > 3 or whole == "0"):
                return sign
        if digits.count(group) > 1 and _GROUPED[group].fullmatch(digits):
            return sign
    return ""


def value_of_text(text: str, *, comma: bool = False) -> Value | None:
    """Return what a text is as a spreadsheet would take it; None for text.

    With `comma`, that is the decimal sign.
    """
    if len(text) > CHARACTERS_MAX or not text:
        return None
    first = text[0]
    if first.isdigit() or first in "(-.,":
        return _figure(text, comma=comma) or _day(text)
    if first == "#" and text in ERROR_CODE:
        return Kind.ERROR, float(ERROR_CODE[text]), "General"
    return _day(text) if first.isalpha() else None


def shown_as(text: str, code: str, *, comma: bool = False) -> Value | None:
    """Return what a text is that a cell with this number format shows; None for text."""
    if code == "@" or not text:
        return None
    if shown(code) & Shows.DAY and (day := _day_by(text, code)) is not None:
        return Kind.DATE, day, code
    value = value_of_text(text, comma=comma)
    if value is None:
        return None
    kind, number, own = value
    keeps = (
        code not in ("", "General") and kind in (Kind.NUMBER, Kind.DATE) and bool(shown(code)) == (kind == Kind.DATE)
    )
    return kind, number, code if keeps else own


def _figure(text: str, *, comma: bool) -> Value | None:
    point, group = (",", ".") if comma else (".", ",")
    if _SCIENTIFIC.fullmatch(text):
        return (Kind.NUMBER, float(text.replace(",", ".")), "General") if point in text else None
    match = _FIGURE.fullmatch(text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    minuses = [match[name] for name in ("open", "sign", "minus") if match[name]]
    whole, mark, rest = match["digits"].partition(point)
    if len(minuses) > 1 or (mark and not rest.isdigit()):
        return None
    if _GROUPED[group].fullmatch(whole):
        whole = whole.replace(group, "")
    if not (_PLAIN.fullmatch(whole) or (not whole and rest)) or len(whole) + len(rest) > DIGITS_MAX:
        return None
    number = float(f"{'-' if minuses else ''}{whole}.{rest}e{-2 if match['percent'] else 0}")
    return Kind.NUMBER, number, PERCENT if match["percent"] else "General"


def _day(text: str) -> Value | None:
    for pattern in _DAYS:
        if match := pattern.fullmatch(text):
            named = match.groupdict().get("name")
            month = int(match["month"]) if named is None else _MONTH.get(named.lower(), 0)
            serial = _serial(int(match["year"]), month, int(match["day"]), match)
            return None if serial is None else (Kind.DATE, serial, DAY if serial.is_integer() else MOMENT)
    return None


def _day_by(text: str, code: str) -> float | None:
    """Return the serial of a day in figures whose order a number format tells."""
    match = _PARTS.fullmatch(text)
    letters = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", code.partition(";")[0]).lower()
    order = "".join(dict.fromkeys(letter for letter in letters if letter in "dmy"))
    if match is None or order not in ("dmy", "mdy", "ymd"):
        return None
    parts = dict(zip(order, (int(match[at]) for at in (1, 2, 3)), strict=True))
    return _serial(parts["y"], parts["m"], parts["d"], match)


def _serial(year: int, month: int, day: int, clock: re.Match[str]) -> float | None:
    if year < 100:
        year += 1900 if year >= _CENTURY_FROM else 2000
    try:
        hour, minute, second = (int(clock[name] or 0) for name in ("hour", "minute", "second"))
        moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001
    except ValueError:
        return None
    serial = to_serial(moment)
    return serial if serial >= 1 else None
