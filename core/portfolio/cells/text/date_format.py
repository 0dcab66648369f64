"""Dates by a format: strftime codes (%Y-%m-%d) or spreadsheets' (YYYY-MM-DD)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

FORMAT_LENGTH_MAX: Final = 40
"""Characters of a format."""

TEXT_LENGTH_MAX: Final = 60
"""Characters of a text that can be a date."""

ISO: Final = "YYYY-MM-DD"

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH_OF: Final = {part.lower(): number for number, name in enumerate(MONTHS, 1) for part in (name, name[:3])}


class DateFormatError(ValueError):
    """A format that is not understood, or says too little to read a date by."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """One part of a date: what it says, the text that it reads, how it is written."""

    says: str
    """year, month, day, hour, minute, second; "" for a weekday, which is passed over."""
    reads: str
    """A pattern without groups."""
    writes: Callable[[datetime], str]
    number: Callable[[str], int] = int


def _month_number(text: str) -> int:
    return _MONTH_OF[text.lower()]


_FULL_MONTH: Final = "|".join(MONTHS)
_SHORT_MONTH: Final = "|".join(name[:3] for name in MONTHS)
_FULL_DAY: Final = "|".join(_DAYS)
_SHORT_DAY: Final = "|".join(name[:3] for name in _DAYS)

_ONE_OR_TWO: Final = r"\d{1,2}"

_PIECES: Final = {
    "year": _Piece("year", r"\d{4}", lambda day: f"{day.year:04d}"),
    # Loans mature in this century, whatever the year: no pivot.
    "short year": _Piece("year", r"\d\d", lambda day: f"{day.year % 100:02d}", lambda text: 2000 + int(text)),
    "month": _Piece("month", _ONE_OR_TWO, lambda day: f"{day.month:02d}"),
    "bare month": _Piece("month", _ONE_OR_TWO, lambda day: str(day.month)),
    "short month name": _Piece("month", _SHORT_MONTH, lambda day: MONTHS[day.month - 1][:3], _month_number),
    "month name": _Piece("month", _FULL_MONTH, lambda day: MONTHS[day.month - 1], _month_number),
    "day": _Piece("day", _ONE_OR_TWO, lambda day: f"{day.day:02d}"),
    "bare day": _Piece("day", _ONE_OR_TWO, lambda day: str(day.day)),
    "short weekday": _Piece("", _SHORT_DAY, lambda day: _DAYS[day.weekday()][:3]),
    "weekday": _Piece("", _FULL_DAY, lambda day: _DAYS[day.weekday()]),
    "hour": _Piece("hour", _ONE_OR_TWO, lambda day: f"{day.hour:02d}"),
    "minute": _Piece("minute", _ONE_OR_TWO, lambda day: f"{day.minute:02d}"),
    "second": _Piece("second", _ONE_OR_TWO, lambda day: f"{day.second:02d}"),
}

_STRFTIME: Final = {
    "%Y": "year", "%y": "short year", "%m": "month", "%-m": "bare month", "%b": "short month name",
    "%h": "short month name", "%B": "month name", "%d": "day", "%-d": "bare day", "%e": "bare day",
    "%a": "short weekday", "%A": "weekday", "%H": "hour", "%M": "minute", "%S": "second",
}  # fmt: skip
_SPREADSHEET: Final = {
    "yyyy": "year", "yy": "short year", "mmmm": "month name", "mmm": "short month name", "mm": "month",
    "m": "bare month", "dddd": "weekday", "ddd": "short weekday", "dd": "day", "d": "bare day", "hh": "hour",
    "ss": "second",
}  # fmt: skip
_SHORTHANDS: Final = {"%F": "%Y-%m-%d", "%D": "%m/%d/%y", "%T": "%H:%M:%S", "%R": "%H:%M"}
_STRFTIME_TOKEN: Final = re.compile(r"%-?.|[^%]", re.DOTALL)
_SPREADSHEET_TOKEN: Final = re.compile(r'"[^"]*"|\\.|([A-Za-z])\1*|.', re.DOTALL)


@dataclass(frozen=True, slots=True)
class DateFormat:
    """A format taken apart."""

    parts: tuple[_Piece | str, ...]
    """Pieces of a date, and the text between them."""

    def write(self, moment: datetime) -> str:
        """Return the moment by the format; month names are English."""
        return "".join(part if isinstance(part, str) else part.writes(moment) for part in self.parts)


@dataclass(frozen=True, slots=True)
class DateReader:
    """What reads texts by a format."""

    pattern: re.Pattern[str]
    pieces: tuple[_Piece, ...]

    def read(self, text: str) -> datetime | None:
        """Return the moment that a text names; None where it does not fit the format."""
        if len(text) > TEXT_LENGTH_MAX:
            return None
        match = self.pattern.fullmatch(text.strip())
        if match is None:
            return None
        parts: dict[str, int] = {
            piece.says: piece.number(part) for piece, part in zip(self.pieces, match.groups(), strict=True)
        }
        try:
            return datetime(**parts)  # type: ignore[arg-type]  # noqa: DTZ001 - a spreadsheet's dates have no zone
        except ValueError:
            return None


@lru_cache(maxsize=256)
def date_format(text: str) -> DateFormat:
    """Parse a format: one with a % is in strftime codes, else a spreadsheet's.

    Raises:
        DateFormatError: the format is too long, has an unknown code, or no part of a date.
    """
    if not 0 < len(text) <= FORMAT_LENGTH_MAX:
        raise DateFormatError(f"a date format has 1 to {FORMAT_LENGTH_MAX} characters")
    parts = _strftime_parts(text) if "%" in text else _spreadsheet_parts(text)
    if all(isinstance(part, str) for part in parts):
        raise DateFormatError(f"{text!r} has no part of a date")
    return DateFormat(parts)


@lru_cache(maxsize=256)
def date_reader(text: str) -> DateReader:
    """Return a reader by a format; its blanks fit any white space.

    Raises:
        DateFormatError: as `date_format`, or the format does not have year, month and day once each.
    """
    parts = date_format(text).parts
    pieces = tuple(part for part in parts if not isinstance(part, str) and part.says)
    says = [piece.says for piece in pieces]
    if any(says.count(need) != 1 for need in ("year", "month", "day")) or len(set(says)) != len(says):
        raise DateFormatError(f"{text!r} does not have year, month and day once each")
    pattern = "".join(
        _reading(part, is_abutted=_has_digits(before) or _has_digits(after))
        for before, part, after in zip(("", *parts), parts, (*parts[1:], ""), strict=False)
    )
    return DateReader(re.compile(pattern, re.IGNORECASE | re.ASCII), pieces)


def _reading(part: _Piece | str, *, is_abutted: bool) -> str:
    """Return the pattern of a part.

    Beside other digits it has all of its own, or 2024111 would be two days.
    """
    if isinstance(part, str):
        return r"\s+" if part.isspace() else re.escape(part)
    reads = r"\d\d" if is_abutted and part.reads == _ONE_OR_TWO else part.reads
    return f"({reads})" if part.says else f"(?:{reads})"


def _has_digits(part: _Piece | str) -> bool:
    """Return whether a part is read as digits."""
    return isinstance(part, _Piece) and part.reads.startswith(r"\d")


def _strftime_parts(text: str) -> tuple[_Piece | str, ...]:
    for short, long in _SHORTHANDS.items():
        text = text.replace(short, long)
    parts: list[_Piece | str] = []
    for match in _STRFTIME_TOKEN.finditer(text):
        code = match[0]
        if code in _STRFTIME:
            parts.append(_PIECES[_STRFTIME[code]])
        elif code == "%%" or not code.startswith("%"):
            parts.append(code[0])
        else:
            raise DateFormatError(f"{code!r} is no code of a date; known: {' '.join(_STRFTIME)}")
    if text.endswith("%") and not text.endswith("%%"):
        raise DateFormatError("a % at the end is no code of a date")
    return tuple(parts)


def _spreadsheet_parts(text: str) -> tuple[_Piece | str, ...]:
    parts: list[_Piece | str] = []
    after_hour = False
    for match in _SPREADSHEET_TOKEN.finditer(text):
        code = match[0]
        lowered = code.lower()
        if not code[0].isalpha():
            parts.append(code.strip('"') if code[0] == '"' else code[-1])
        elif lowered == "mm" and after_hour:
            after_hour = False
            parts.append(_PIECES["minute"])
        elif lowered in _SPREADSHEET:
            after_hour = lowered == "hh"
            parts.append(_PIECES[_SPREADSHEET[lowered]])
        elif lowered == "t":
            parts.append(code)  # between day and time: YYYY-MM-DDThh:mm:ss
        else:
            raise DateFormatError(f"{code!r} is no part of a date; known: {' '.join(_SPREADSHEET)}")
    return tuple(parts)


def reading_fault(value: Any, _kind: str) -> str | None:
    """Return why a parameter is no format to read dates by."""
    return _fault(date_reader, value)


def writing_fault(value: Any, _kind: str) -> str | None:
    """Return why a parameter is no format to write dates by."""
    return _fault(date_format, value)


def _fault(make: Callable[[str], object], value: Any) -> str | None:
    if not isinstance(value, str):
        return "is not a text"
    try:
        make(value)
    except DateFormatError as error:
        return str(error)
    return None
