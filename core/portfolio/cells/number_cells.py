"""The cells of one column to numbers and to days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import DATE, FIGURES_MAX, NUMBER, TEXT, Cells, StringPool, bit, decode, spread_out
from core.portfolio.cells.text import dates
from core.portfolio.cells.text.figures import plain_figure, side_of
from core.portfolio.cells.text_cells import pool_of
from core.values import DAYS_BETWEEN_SYSTEMS, SERIAL_OF_1970

RATE_LEVEL_MAX: Final = 10_000.0
"""The greatest level of a base rate, 100 % in basis points: "US0003M" and "EUR003M" are names, not three millions."""

MARK_MAX: Final = 99.0
"""The greatest number of a footnote."""

AMOUNT_MIN: Final = 1_000.0
"""The median of a column of amounts, among which (1) is a footnote and no figure."""

YEAR_1901: Final = 367
"""The 1900-system serial of 1901-01-01: a smaller one is a zero or a slip that a format shows as a date."""

SERIAL_MAX: Final = 2_958_465
"""The serial of 9999-12-31."""


_NUMERIC: Final = bit(NUMBER, DATE)


# ---- numbers -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers as written, and the units that single cells state."""

    values: NDArray[np.float64]
    """NaN is blank. A cell shown as a percentage has its shown figure: 0.035 formatted 0.0 % is 3.5."""
    marks: NDArray[np.uint8] | None
    """`_parse.PERCENT` or `_parse.BASIS_POINTS` for cells that say their unit; None when none does."""
    unreadable: int = 0
    """Text cells that are neither a number nor a null word."""
    swapped: NDArray[np.float64] | None = None
    """The values with the other decimal sign, where no text of the column tells it; see `with_usual_sign`."""


def read_numbers(cells: Cells, *, is_spread: bool = False) -> Numbers:
    """Read the numbers of a column; text as the market writes figures, errors blank."""
    marks: NDArray[np.uint8] | None = None
    swapped: NDArray[np.float64] | None = None
    unreadable = 0
    values = cells.numbers
    if cells.seen & ~_NUMERIC:
        values = np.where(_numeric(cells), values, np.nan)
        if cells.seen & bit(TEXT):
            has_numbers = bool(cells.seen & _NUMERIC)
            of_text = text_numbers(cells.codes, cells.pool, is_spread=is_spread, has_numbers=has_numbers)
            values, marks = np.where(cells.kinds == TEXT, of_text.values, values), of_text.marks
            swapped = of_text.swapped
            unreadable = of_text.unreadable
            values, marked = _without_lone_marks(cells, values)
            unreadable += marked
    if cells.pool.has_percent:
        is_percent = _numeric(cells) & cells.pool.percent_formats[cells.formats]
        if is_percent.any():
            values = np.where(is_percent, np.round(values * 100.0, 9), values)
            marks = np.zeros(len(values), np.uint8) if marks is None else marks
            marks[is_percent] = _parse.PERCENT
    if swapped is not None:
        swapped = np.where(cells.kinds == TEXT, swapped, values)
    return Numbers(values, marks, unreadable, swapped)


def _without_lone_marks(cells: Cells, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Drop the values of lone footnote marks, and count them.

    (1) is minus 1 where the column has other negative figures, or figures of that size.
    """
    rows = np.flatnonzero((values < 0) & (values >= -MARK_MAX) & (values == np.floor(values)) & (cells.kinds == TEXT))
    if not len(rows):
        return values, 0
    codes, place = np.unique(cells.codes[rows], return_inverse=True)
    rows = rows[np.array([_LONE_MARK.fullmatch(text) is not None for text in decode(cells.pool.text, codes)])[place]]
    others = np.delete(values, rows)
    others = others[~np.isnan(others)]
    if not len(rows) or not len(others) or (others < 0).any() or float(np.median(others)) < AMOUNT_MIN:
        return values, 0
    values = values.copy()
    values[rows] = np.nan
    return values, len(rows)


_LONE_MARK: Final = re.compile(r"\s*\(\d{1,2}\)\s*")


def rate_levels(numbers: Numbers) -> Numbers:
    """Read a column of reference rates; too large ones, as a name's, are blank."""
    is_name = np.abs(numbers.values) > RATE_LEVEL_MAX
    if not is_name.any():
        return numbers
    return Numbers(np.where(is_name, np.nan, numbers.values), numbers.marks, numbers.unreadable, numbers.swapped)


def _numeric(cells: Cells) -> NDArray[np.bool_]:
    numeric = cells.kinds == NUMBER
    if cells.seen & bit(DATE):
        numeric |= cells.kinds == DATE
    return np.asarray(numeric, np.bool_)


def text_numbers(
    codes: NDArray[np.int32], pool: StringPool, *, is_spread: bool = False, has_numbers: bool = False
) -> Numbers:
    """Read the numbers of a column of texts, codes into a pool.

    `has_numbers`: beside them cells are numbers.

    Where a figure leaves open which sign is the decimal one (98,375 and 4.500), the column's other figures tell, and
    where none of these does, the sheet's.
    """
    local, used = _parse.distinct(codes, len(pool.text))
    null = pool.null[used]

    def read(*, uses_comma: bool) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        return _read_texts(pool, used, null, (is_spread, has_numbers, uses_comma))

    values, marks = read(uses_comma=False)
    swapped: NDArray[np.float64] | None = None
    all_marks = int(np.bitwise_or.reduce(marks, initial=0))
    if all_marks & (_parse.THOUSANDS_COMMA | _parse.THOUSANDS_DOT):
        signs = all_marks & (_parse.DECIMAL_COMMA | _parse.DECIMAL_POINT)
        if signs in (0, _parse.DECIMAL_COMMA):
            with_comma, comma_marks = read(uses_comma=True)
            if signs == _parse.DECIMAL_COMMA or pool.decimal_comma():
                values, with_comma, marks = with_comma, values, comma_marks
            swapped = spread_out(with_comma, np.nan, local) if signs == 0 else None
    bad = (marks == _parse.UNREADABLE) & ~null
    unreadable = int(np.count_nonzero(spread_out(bad, False, local))) if bad.any() else 0
    marks &= _parse.PERCENT | _parse.BASIS_POINTS
    unit_marks = spread_out(marks, 0, local) if marks.any() else None
    return Numbers(spread_out(values, np.nan, local), unit_marks, unreadable, swapped)


def _read_texts(
    pool: StringPool, used: NDArray[np.int32], null: NDArray[np.bool_], how: tuple[bool, bool, bool]
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the numbers of some strings of a pool and their marks.

    Args:
        null: those that stand for nothing.
        how: whether they are spreads, stand beside cells with numbers, and have a decimal comma where that is open.
    """
    is_spread, has_numbers, uses_comma = how
    read, marks = _parse.numbers(pool.text.offsets, pool.text.data, used, is_spread, uses_comma)
    read[null] = np.nan
    bad = (marks == _parse.UNREADABLE) & ~null
    if bad.any():
        texts = decode(pool.text, used[bad][:FIGURES_MAX])
        # CR or DR behind every figure says that all are of one side; behind some of them, it may be a sign.
        is_one_side = not has_numbers and bool((bad | null).all()) and len({side_of(text) for text in texts}) == 1
        plain_texts = [plain_figure(text, without_side=is_one_side) for text in texts]
        again, again_marks = _numbers_of(plain_texts, is_spread=is_spread, uses_comma=uses_comma)
        at = np.flatnonzero(bad)[:FIGURES_MAX]
        read[at], marks[at] = again, again_marks
    return read, marks


def _numbers_of(
    texts: Sequence[str], *, is_spread: bool, uses_comma: bool
) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """Return the numbers of some texts and their marks."""
    codes, text = pool_of(texts)
    every = np.arange(len(text), dtype=np.int32)
    values, marks = _parse.numbers(text.offsets, text.data, every, is_spread, uses_comma)
    return spread_out(values, np.nan, codes), spread_out(marks, _parse.UNREADABLE, codes)


def median_at_most(values: NDArray[np.float64], limit: float) -> bool:
    """Return whether the median of absolute values is at most `limit`.

    Zeros and blanks are left out; False without any.

    Counting is ten times as fast as finding the median; only a tie needs it.
    """
    size = np.abs(values)
    counted = int(np.count_nonzero(size > 0))
    within = int(np.count_nonzero((size > 0) & (size <= limit)))
    if 2 * within != counted:
        return 2 * within > counted
    return counted > 0 and float(np.median(size[size > 0])) <= limit


USUAL_SIZES: Final = {
    "par_value": (25e3, 1e9), "facility_size": (1e6, 2e10), "price": (20.0, 130.0), "purchase_price": (20.0, 130.0),
    "spread": (0.5, 1_500.0), "all_in_rate": (1.0, 40.0), "base_rate_level": (0.05, 25.0), "floor": (0.05, 25.0),
    "recovery_rate": (1.0, 100.0), "recovery_rate_a": (1.0, 100.0), "recovery_rate_b": (1.0, 100.0),
    "recovery_rate_c": (1.0, 100.0),
}  # fmt: skip
"""Within what the median of a column lies, in any unit that it may have; amounts in units of currency."""


def with_usual_sign(target: str, numbers: Numbers, magnitude: float = 1.0) -> Numbers:
    """Return the numbers with the decimal sign that makes them usual for a target.

    "88,754" is a price of 88.754 and a par of 88,754. Only where no text of the column tells the sign, and one of both
    is usual.
    """
    usual = USUAL_SIZES.get(target)
    if numbers.swapped is None or usual is None:
        return numbers
    low, high = (limit / magnitude for limit in usual)

    def is_usual(values: NDArray[np.float64]) -> bool:
        return median_at_most(values, high) and not median_at_most(values, np.nextafter(low, 0.0))

    if is_usual(numbers.values) or not is_usual(numbers.swapped):
        return numbers
    return Numbers(numbers.swapped, numbers.marks, numbers.unreadable)


def values_without_unit(numbers: Numbers) -> NDArray[np.float64]:
    """Return the values whose unit the column has to tell."""
    return numbers.values if numbers.marks is None else numbers.values[numbers.marks == 0]


# ---- dates ---------------------------------------------------------------------------------------------------------


def read_dates(cells: Cells) -> NDArray[np.float64]:
    """Read days since 1970-01-01 from serials or text; NaN where there is no date.

    A slashed date has the month first unless some value of the column has a first part above 12; where no value of the
    column can tell, the other texts of the sheet do.
    """
    numeric = _numeric(cells)
    shift = DAYS_BETWEEN_SYSTEMS if cells.pool.date_1904 else 0
    serials = np.floor(cells.numbers)
    days = serials + (shift - SERIAL_OF_1970)
    days[~numeric | (serials < (1 if shift else YEAR_1901)) | (serials > SERIAL_MAX)] = np.nan
    written = numeric & (serials >= 19_010_101) & (serials <= 21_991_231)
    if written.any():
        known, place = np.unique(serials[written], return_inverse=True)
        days[written] = np.array([dates.date_days(str(int(number)), day_first=False) for number in known.tolist()])[
            place
        ]
    if cells.seen & bit(TEXT):
        local, strings = _strings(cells)
        order = dates.day_order(strings)
        day_first = cells.pool.day_first() if order is None else order
        table = np.array([dates.date_days(text, day_first=day_first) for text in strings], np.float64)
        days = np.where(cells.kinds == TEXT, spread_out(table, np.nan, local), days)
    return days


def open_dates(cells: Cells) -> int:
    """Count slashed dates that could have day and month the other way round.

    No date of the sheet decides, and they are not all the first day of a month as they are read.
    """
    if not cells.seen & bit(TEXT):
        return 0
    local, strings = _strings(cells)
    if dates.day_order(strings) is not None or cells.pool.tells_day_order():
        return 0
    parts = [next(iter(dates.slashed_dates((text,))), (0, 0)) for text in strings]
    if all(second == 1 for first, second in parts if first):
        return 0
    are_open = np.array([*(first != second for first, second in parts), False], np.bool_)
    return int(np.count_nonzero(are_open[local]))


# ---- text ----------------------------------------------------------------------------------------------------------


def _strings(cells: Cells) -> tuple[NDArray[np.int32], list[str]]:
    """Return distinct strings and each row's index into them; -1 without text."""
    local, used = _parse.distinct(cells.codes, len(cells.pool.text))
    return local, decode(cells.pool.text, used)
