"""Maturities that name a month and no day ("Mar 2029", "06/2030"): its last day."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse, string_pool
from core.portfolio.cells.string_pool import DATE, NUMBER, TEXT, Cells, bit, spread_out
from core.portfolio.cells.text.dates import month_of_name
from core.portfolio.cells.text.footnotes import without_marks
from core.values import EPOCH

LENGTH_MAX: Final = 24
"""Characters of a text that names a month."""

YEARS: Final = (1950, 2199)
"""Years of a maturity; a number among them is a year alone, and no serial of a day in 1905."""

SHORT_YEARS: Final = (20, 69)
"""Years of two digits that a column of 06/29 must have throughout, or they could be days."""

_NAMED: Final = re.compile(r"([^\W\d_]{3,9})\.?[-\s,/']{0,3}(\d{4}|\d\d)")
_YEAR_NAMED: Final = re.compile(r"(\d{4})[-\s,/]{1,3}([^\W\d_]{3,9})\.?")
_MONTH_FIRST: Final = re.compile(r"(\d{1,2})\s?[-/.]\s?(\d{4})")
_YEAR_FIRST: Final = re.compile(r"(\d{4})\s?[-/.]?\s?(\d\d)")
_SHORT: Final = re.compile(r"(\d{1,2})[-/.'](\d\d)")


def last_day(year: int, month: int) -> float:
    """Return a month's last day since 1970-01-01; NaN for no month of a maturity."""
    year += 2000 if year < 100 else 0
    if not (1 <= month <= 12 and YEARS[0] <= year <= YEARS[1]):
        return np.nan
    return float((date(year, month, monthrange(year, month)[1]) - EPOCH).days)


def month_days(text: str) -> float:
    """Return the last day of the month that a text names; NaN where it names none."""
    if len(text) > LENGTH_MAX:
        return np.nan
    written = without_marks(text).strip()
    if match := _NAMED.fullmatch(written):
        return last_day(int(match[2]), month_of_name(match[1]))
    if match := _YEAR_NAMED.fullmatch(written):
        return last_day(int(match[1]), month_of_name(match[2]))
    if match := _MONTH_FIRST.fullmatch(written):
        return last_day(int(match[2]), int(match[1]))
    if match := _YEAR_FIRST.fullmatch(written):
        return last_day(int(match[1]), int(match[2]))
    return np.nan


def short_month_days(text: str) -> float:
    """Return the same of 06/29, which could be a day of a year that is not there."""
    match = _SHORT.fullmatch(text.strip()) if len(text) <= LENGTH_MAX else None
    if match is None or not SHORT_YEARS[0] <= int(match[2]) <= SHORT_YEARS[1]:
        return np.nan
    return last_day(int(match[2]), int(match[1]))


def with_months(cells: Cells, days: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return maturities with those of cells that name a month, and how many.

    Args:
        days: of the cells, NaN where `parsing.read_dates` reads none.
    """
    guessed = 0
    if cells.seen & bit(DATE) and cells.pool.month_formats.any():
        days = _days_as_months(cells, days)
    if cells.seen & bit(NUMBER):
        days = _numbers(cells, days)
    if cells.seen & bit(TEXT) and np.isnan(days[cells.kinds == TEXT]).any():
        days, guessed = _texts(cells, days)
    return days, guessed


def _days_as_months(cells: Cells, days: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return whether the format hides the day.

    The day counts where some cell has another format than the first.
    """
    is_month = (cells.kinds == DATE) & cells.pool.month_formats[cells.formats] & ~np.isnan(days)
    dates = days[is_month].astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    if not is_month.any() or (dates != months.astype("datetime64[D]")).any():
        return days
    days = days.copy()
    days[is_month] = ((months + 1).astype("datetime64[D]") - 1).astype(np.int64)
    return days


def _numbers(cells: Cells, days: NDArray[np.float64]) -> NDArray[np.float64]:
    """Read numbers such as 202903 as months where all of the column are.

    2029 names no day.
    """
    rows = cells.kinds == NUMBER
    numbers = cells.numbers[rows]
    years, months = np.divmod(numbers, 100)
    low, high = YEARS
    if (np.isfinite(numbers) & (years >= low) & (years <= high) & (months >= 1) & (months <= 12)).all():
        days = days.copy()
        days[rows] = [last_day(int(year), int(month)) for year, month in zip(years, months, strict=True)]
    elif ((numbers >= low) & (numbers <= high)).any():
        days = np.where(rows & (cells.numbers >= low) & (cells.numbers <= high), np.nan, days)
    return days


def _texts(cells: Cells, days: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    rows = (cells.kinds == TEXT) & np.isnan(days)
    codes, used = _parse.distinct(np.where(rows, cells.codes, np.int32(-1)), len(cells.pool.text))
    strings = string_pool.decode(cells.pool.text, used)
    table = np.array([month_days(text) for text in strings], np.float64)
    guessed = 0
    if np.isnan(days).all() and not cells.seen & bit(NUMBER, DATE):
        null = cells.pool.null[used]
        short = np.array([short_month_days(text) for text in strings], np.float64)
        if (~null).any() and not np.isnan(short[~null]).any():
            table = short
            guessed = int(np.count_nonzero(~np.isnan(spread_out(table, np.nan, codes))))
    return np.where(rows, spread_out(table, np.nan, codes), days), guessed
