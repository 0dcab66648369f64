"""What a cell can hold: kinds, Excel's error codes, date serials."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import IntEnum
from math import floor, isfinite
from typing import Final

Scalar = float | str | bool | None
"""One value of an answer; a date and an error are text, None is a blank."""

FormulaValue = Scalar | list[list[Scalar]]
"""What a formula comes to: one value, or an array's rows of values."""


class Kind(IntEnum):
    """The kind of a cell, one byte in a column's `kinds`."""

    BLANK = 0
    NUMBER = 1
    TEXT = 2
    BOOLEAN = 3
    ERROR = 4
    DATE = 5
    """A number that its format shows as a date or a time; the serial stands in `numbers`."""


ERRORS: Final = (
    "#NULL!",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
    "#N/A",
    "#GETTING_DATA",
    "#SPILL!",
    "#CALC!",
)
"""Error texts by code; a cell of kind ERROR carries the code in `numbers`. The order of the first seven is that of
Excel's ERROR.TYPE, less one."""

ERROR_CODE: Final = {text: code for code, text in enumerate(ERRORS)}

SERIALS_STOP: Final = 2_958_466
"""The serial after the last day of the year 9999."""

_EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 - a spreadsheet's dates have no zone
_EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001

EPOCH: Final = date(1970, 1, 1)
"""The day from which days are counted wherever no spreadsheet counts them."""


def day_of(days: float | None) -> date | None:
    """Days since 1970-01-01 as a day, or None where no calendar has it."""
    if days is None or not isfinite(days):
        return None
    ordinal = EPOCH.toordinal() + floor(days)
    return date.fromordinal(ordinal) if date.min.toordinal() <= ordinal <= date.max.toordinal() else None


SERIAL_OF_1970: Final = 25_569
"""The 1900-system serial of 1970-01-01: days since 1970 = serial - SERIAL_OF_1970."""

DAYS_BETWEEN_SYSTEMS: Final = 1_462
"""A 1904-system serial plus this is the 1900-system serial of the same day."""


def from_serial(serial: float, *, date_1904: bool = False) -> datetime | None:
    """Return the moment that a date serial stands for, to the millisecond as Excel shows it; None where Excel shows
    none.

    In the 1900 system serial 60 is the 29 February 1900 that never was: it comes back as 28 February, and the serials
    below it one day later than plain counting would give.
    """
    stop = SERIALS_STOP - DAYS_BETWEEN_SYSTEMS if date_1904 else SERIALS_STOP
    if not 0 <= serial < stop:
        return None
    days = int(serial)
    milliseconds = round((serial - days) * 86_400_000)
    if days + milliseconds // 86_400_000 == stop:
        return None
    if date_1904:
        return _EPOCH_1904 + timedelta(days=days, milliseconds=milliseconds)
    if days < 60:
        days += 1
    return _EPOCH_1900 + timedelta(days=days, milliseconds=milliseconds)


def to_serial(moment: date | datetime, *, date_1904: bool = False) -> float:
    """Return the date serial of a day or a moment without a zone.

    The inverse of `from_serial`.
    """
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001
    epoch = _EPOCH_1904 if date_1904 else _EPOCH_1900
    serial = (moment - epoch) / timedelta(days=1)
    if not date_1904 and serial < 61:
        serial -= 1
    return serial
