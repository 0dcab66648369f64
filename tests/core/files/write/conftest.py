"""Workbooks made of rows, without a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.grid._intern import intern
from core.grid.column import Column, Text, column_of
from core.grid.sheet import Sheet, no_formulas
from core.values import ERROR_CODE, Kind


@dataclass(frozen=True, slots=True)
class Error:
    """An error by its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Moment:
    """A date serial and the place of its number format."""

    serial: float
    place: int


class Length(float):
    """A number of days under [h]:mm, the fifth of the tests' formats."""

    place = 4


def sheet_of(rows: Sequence[Sequence[Any]], name: str = "Sheet") -> Sheet:
    """A sheet of rows: None, numbers, texts, booleans, `Error` and `Moment`."""
    width = max(map(len, rows), default=0)
    flat = [[row[at] if at < len(row) else None for row in rows] for at in range(width)]
    words = [value if isinstance(value, str) else None for column in flat for value in column]
    codes, offsets, data = intern(words)
    height = len(rows)
    columns = [_column(values, codes[at * height : (at + 1) * height]) for at, values in enumerate(flat)]
    return Sheet(name, 0, "visible", tuple(columns), height, Text(offsets, data), no_formulas())


def _column(values: list[Any], codes: Any) -> Column | None:
    current = [at for at, value in enumerate(values) if value is not None]
    if not current:
        return None
    kinds = np.array([_kind(values[at]) for at in current], np.uint8)
    numbers = np.array([_number(values[at]) for at in current], np.float64)
    formats = np.array([getattr(values[at], "place", 0) for at in current], np.uint16)
    return column_of(np.array(current, np.int64), kinds, numbers, codes[current], formats)


def _kind(value: Any) -> Kind:
    if isinstance(value, Error):
        return Kind.ERROR
    if isinstance(value, Moment):
        return Kind.DATE
    return Kind.TEXT if isinstance(value, str) else Kind.BOOLEAN if isinstance(value, bool) else Kind.NUMBER


def _number(value: Any) -> float:
    if isinstance(value, Error):
        return ERROR_CODE[value.text]
    if isinstance(value, Moment):
        return value.serial
    return 0.0 if isinstance(value, str) else float(value)
