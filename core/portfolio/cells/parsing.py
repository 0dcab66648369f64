"""The cells of one column to numbers, dates, flags and text, each string once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.grid._intern import TextIndex, intern
from core.grid.column import Column, Text
from core.portfolio.cells import _parse, dates
from core.portfolio.cells.figures import plain_figure, side_of
from core.portfolio.cells.footnotes import NO_SUPERSCRIPTS, without_marks
from core.portfolio.model.fields import COUNTRIES, INDUSTRIES, Lien
from core.remembered import remembered
from core.values import DAYS_BETWEEN_SYSTEMS, SERIAL_OF_1970, Kind

Scalar = TypeVar("Scalar", bound=np.generic)
Index = TypeVar("Index", bound=np.signedinteger[Any])

NULL_WORDS: Final = frozenset(
    (
        "",
        "N/A",
        "NA",
        "N.A.",
        "#N/A",
        "#N/A N/A",
        "-",
        "--",
        "---",
        "—",
        "–",
        "***",
        "TBD",
        "TBA",
        "NM",
        "N.M.",
        "N/M",
        "NMF",
        "NULL",
        "NONE",
    )
)
"""What stands for nothing in a cell, in upper case."""

_BEGINS_NULL: Final = np.array(
    [
        byte >= 0x80 or not chr(byte).strip() or chr(byte).upper() in {word[:1] for word in NULL_WORDS}
        for byte in range(256)
    ],
    np.bool_,
)
"""Whether a text whose first byte is this one may be such a word, with spaces about it."""

DASHES: Final = frozenset(("-", "--", "---", "—", "–"))
"""Those of them that in a column of flags say no."""

MASK: Final = "***"
"""The one of them that in a column of ratings stands for a rating that is not shown."""

NULL_BYTES_MAX: Final = 6
"""A null word with a space about it is not longer than this; "#N/A N/A" is, and begins like no identifier."""

HASH_BYTES_MAX: Final = 9

ASCII_STOP: Final = 0x80

CATEGORY_LENGTH_MAX: Final = 200
"""Characters of a category's text that are looked at (lien, industry, country, ...); a longer one is kept as it is."""

FIGURES_MAX: Final = 5_000
"""Strings of a sheet that are looked at to tell its decimal sign."""

FIGURE_BYTES_MAX: Final = 24
"""UTF-8 bytes of a string that is looked at as a figure there."""

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


@remembered(16_384)
def key(text: str) -> str:
    """Return a text for comparison: lower case, signs as one space.

    "&" is "and"; accents, superscripts and signs without a width are left out.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.replace(_BREAK, " ").translate(NO_SUPERSCRIPTS))
        text = "".join(
            sign for sign in text if not unicodedata.combining(sign) and unicodedata.category(sign) != _WITHOUT_WIDTH
        )
    return " ".join(_OTHER_SIGNS.sub(" ", text.lower().replace("&", " and ")).split())


_OTHER_SIGNS: Final = re.compile(r"[\W_]+")
_WITHOUT_WIDTH: Final = "Cf"
"""The category of soft hyphens, joiners and marks of direction."""
_BREAK: Final = "\u200b"
"""A space without a width: words may break there."""


BLANK, NUMBER, TEXT, BOOLEAN, ERROR, DATE = (int(kind) for kind in Kind)
"""The kinds as plain integers: looking one up in an enumeration costs as much as a small column."""


def bit(*kinds: int) -> int:
    """Return the bits of some kinds, as `Cells.seen` has them."""
    return sum(1 << kind for kind in kinds)


_NUMERIC: Final = bit(NUMBER, DATE)


class Cells:
    """One column's cells of the rows that count, with the pool of their codes."""

    __slots__ = ("codes", "formats", "kinds", "numbers", "pool", "seen")

    def __init__(
        self,
        kinds: NDArray[np.uint8],
        numbers: NDArray[np.float64],
        codes: NDArray[np.int32],
        formats: NDArray[np.uint16],
        pool: StringPool,
    ) -> None:
        self.kinds, self.numbers, self.codes, self.formats, self.pool = kinds, numbers, codes, formats, pool
        self.seen = _parse.kinds_seen(kinds)
        """Bit k is set when some cell is of kind k."""

    @classmethod
    def of(cls, column: Column | None, first: int, last: int, pool: StringPool) -> Cells:
        """Return rows `first` to `last - 1` of a column; blanks where it has none."""
        if column is None:
            column = Column(first, *_NOTHING)
        cut = column.span(first, last)
        return cls(cut.kinds, cut.numbers, cut.codes, cut.formats, pool)

    @classmethod
    def at(cls, column: Column | None, rows: NDArray[np.int64], pool: StringPool) -> Cells:
        """Return some rows of a column, which ascend; blanks where it has none."""
        height = len(rows)
        kinds, numbers = np.zeros(height, np.uint8), np.zeros(height, np.float64)
        codes, formats = np.full(height, -1, np.int32), np.zeros(height, np.uint16)
        if column is not None:
            stored, (met, slots) = column.dense, column.meeting(rows)
            kinds[met], numbers[met] = stored.kinds[slots], stored.numbers[slots]
            codes[met], formats[met] = stored.codes[slots], stored.formats[slots]
        return cls(kinds, numbers, codes, formats, pool)

    def take(self, rows: NDArray[np.int64] | slice) -> Cells:
        """Return the cells of these rows."""
        return Cells(self.kinds[rows], self.numbers[rows], self.codes[rows], self.formats[rows], self.pool)

    def present(self) -> NDArray[np.bool_]:
        """Return cells that say something: not blank, no error, no null word."""
        present = self.kinds != BLANK
        if self.seen & bit(ERROR):
            present &= self.kinds != ERROR
        if self.pool.has_null and self.seen & bit(TEXT):
            present &= ~self.pool.null[self.codes]
        return np.asarray(present, np.bool_)

    def error_count(self) -> int:
        """Return cells that hold an error."""
        return int(np.count_nonzero(self.kinds == ERROR)) if self.seen & bit(ERROR) else 0


_NOTHING: Final = (np.zeros(0, np.uint8), np.zeros(0, np.float64), np.zeros(0, np.int32), np.zeros(0, np.uint16))


class StringPool:
    """The distinct strings of a sheet, and what is known before a column is read."""

    __slots__ = (
        "_day_first", "_decimal_comma", "_tells_order", "date_1904", "has_null", "has_percent", "null",
        "number_formats", "percent_formats", "text",
    )  # fmt: skip

    def __init__(self, text: Text, number_formats: tuple[str, ...] = ("General",), *, date_1904: bool = False) -> None:
        self.text = text
        self.date_1904 = date_1904
        self.number_formats = number_formats
        self.percent_formats = np.array([shows_percent(code) for code in number_formats], np.bool_)
        self.has_percent = bool(self.percent_formats.any())
        # One element more than there are strings, so that the code -1 of other cells finds a False at the end.
        self.null = np.zeros(len(text) + 1, np.bool_)
        size = np.diff(text.offsets)
        may_be = size <= NULL_BYTES_MAX
        longer = np.flatnonzero(~may_be & (size <= HASH_BYTES_MAX))
        data = np.frombuffer(text.data, np.uint8)
        may_be[longer] = data[text.offsets[longer]] == ord("#")
        short = np.flatnonzero(may_be)
        if len(data):
            first = data[np.minimum(text.offsets[short], len(data) - 1)]
            short = short[_BEGINS_NULL[first] | (size[short] == 0)]
        for code, string in zip(short.tolist(), decode(text, short), strict=True):
            if string.strip().upper() in NULL_WORDS:
                self.null[code] = True
        self.has_null = bool(self.null.any())
        self._decimal_comma: bool | None = None
        self._day_first: bool | None = None
        self._tells_order: bool | None = None

    @property
    def month_formats(self) -> NDArray[np.bool_]:
        """Return which number formats show a date's month and year, and no day."""
        return np.array([shows_month(code) for code in self.number_formats], np.bool_)

    def day_first(self) -> bool:
        """Return whether slashed dates have the day first: some must, none the month."""
        if self._day_first is None:
            short = np.flatnonzero(np.diff(self.text.offsets) <= FIGURE_BYTES_MAX)[:FIGURES_MAX]
            parts = dates.slashed_dates(decode(self.text, short))
            self._day_first = any(first > 12 for first, _ in parts) and all(second <= 12 for _, second in parts)
        return self._day_first

    def tells_day_order(self) -> bool:
        """Return whether some slashed date of the sheet has a part above 12."""
        if self._tells_order is None:
            short = np.flatnonzero(np.diff(self.text.offsets) <= FIGURE_BYTES_MAX)[:FIGURES_MAX]
            self._tells_order = any(max(parts) > 12 for parts in dates.slashed_dates(decode(self.text, short)))
        return self._tells_order

    def decimal_comma(self) -> bool:
        """Return whether text writes decimals with a comma: some must, none a point.

        It decides "98,375", which alone is either; the first `FIGURES_MAX` short strings are looked at.
        """
        if self._decimal_comma is None:
            short = np.flatnonzero(np.diff(self.text.offsets) <= FIGURE_BYTES_MAX)[:FIGURES_MAX]
            texts = decode(self.text, short)
            self._decimal_comma = any("," in text and _COMMA_FIGURE.fullmatch(text) for text in texts) and not any(
                "." in text and _POINT_FIGURE.fullmatch(text) for text in texts
            )
        return self._decimal_comma


_GROUP: Final = r"[.'\u2019\s]"
_BEFORE, _AFTER = r"[^\w.,]*(?:[A-Z]{3}\s*)?", r"\s*(?:%|bps?|[A-Za-z]{1,3})?[^\w.,]*"
_COMMA_FIGURE: Final = re.compile(rf"{_BEFORE}(?:\d{{1,3}}(?:{_GROUP}\d{{3}})+,\d+|\d+,(?:\d\d?|\d{{4,}})){_AFTER}")
_POINT_FIGURE: Final = re.compile(rf"{_BEFORE}(?:\d{{1,3}}(?:,\d{{3}})+\.\d+|\d+\.(?:\d\d?|\d{{4,}})){_AFTER}")


def decode(text: Text, codes: NDArray[np.int32] | NDArray[np.int64]) -> list[str]:
    """Return some strings of a pool."""
    data = memoryview(text.data)  # type: ignore[arg-type]  # an array is a buffer
    starts, ends = text.offsets[codes].tolist(), text.offsets[1:][codes].tolist()
    return [str(data[start:end], "utf-8") for start, end in zip(starts, ends, strict=True)]


def spread_out(table: NDArray[Scalar], blank: float, codes: NDArray[np.int32]) -> NDArray[Scalar]:
    """Return `table[codes]`, with `blank` for the code -1."""
    extended = np.empty(len(table) + 1, table.dtype)
    extended[:-1] = table
    extended[-1] = blank
    spread, bits = np.empty(len(codes), table.dtype), f"u{table.itemsize}"
    _parse.spread(extended.view(bits), np.ascontiguousarray(codes, np.int32), spread.view(bits))
    return spread


@remembered(1_024)
def shows_percent(number_format: str) -> bool:
    """Return whether a number format multiplies by 100: a % that is not quoted."""
    return "%" in re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", number_format)


@remembered(1_024)
def shows_month(number_format: str) -> bool:
    """Return whether a number format shows month and year of a date, and no day."""
    codes = set(re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", number_format).lower())
    return {"m", "y"} <= codes and not codes & set("dhs")


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


def price_place(places: list[int], cells: Callable[[int], Cells]) -> int:
    """Return which of some price columns is the first with prices and no amounts.

    0 where none is.
    """
    for at, place in enumerate(places):
        if median_at_most(with_usual_sign("price", read_numbers(cells(place))).values, CURRENCY_PRICE):
            return at
    return 0


def values_without_unit(numbers: Numbers) -> NDArray[np.float64]:
    """Return the values whose unit the column has to tell."""
    return numbers.values if numbers.marks is None else numbers.values[numbers.marks == 0]


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit of a column's figures, and what decided it; cells may say their own."""

    unit: Literal["bps", "percent", "fraction", "currency", "thousands", "millions", "as written"]
    """The unit of the cells that say none."""
    because: Literal["header", "median", "largest", "cells", "nothing", "other rates", "level", "par"]
    """The header's words, the median of the absolute values, the largest of them, every cell itself, no value, the
    other rates of the loans, the usual level of the rate, which is a guess, or par, which they come near to."""
    factor: float = 1.0
    """What a cell that says no unit is multiplied by."""
    percent: float = 1.0
    """The same for a cell marked with a %."""
    basis_points: float = 0.01
    """The same for a cell marked with bps."""
    limit: float | None = None
    """What the median or the largest value was held against."""


PRICES: Final = frozenset(("price", "purchase_price"))
"""Targets in percent of par."""

RATES: Final = {
    "all_in_rate": 0.25,
    "recovery_rate": 1.0,
    "recovery_rate_a": 1.0,
    "recovery_rate_b": 1.0,
    "recovery_rate_c": 1.0,
}
"""Targets in percent with the median up to which their column holds fractions."""

SMALL_RATES: Final = frozenset(("floor", "base_rate_level"))
"""Targets in percent that are often below 1 %."""

SLIPS_AMONG: Final = 20
"""Of how many values of such a column one may be in another unit than the rest."""

SMALL_FRACTION_MAX: Final = 0.25
"""The greatest value of a column of floors or base rates that may be fractions."""

BASE_FRACTIONS: Final = (0.02, 0.065)
"""Between these lies the median of a column of base rates that are fractions where no other rate decides: 2 to 6.5 %.
As percentages these would be 2 to 6.5 basis points."""

BASE_FIT_MAX: Final = 0.1
"""Percentage points by which a base rate may differ, in the median, from all-in rate less spread."""

AMOUNTS: Final = frozenset(("par_value", "facility_size", "unfunded", "purchased_accrued_interest"))
"""Targets in units of currency."""

CURRENCY_PRICE: Final = 200.0
"""A price column with a greater median holds amounts of currency, not percent of par."""


@dataclass(frozen=True, slots=True)
class RatesBeside:
    """The other rates of the same loans, which decide the unit of small ones."""

    spread_unit: str = ""
    """The unit that the column of spreads was read in; blank without one, or where each cell states its own."""
    base: NDArray[np.float64] | None = None
    """All-in rate less spread, in percent: what a base rate should come to."""


def scale(
    target: str,
    numbers: Numbers,
    unit: str = "",
    magnitude: float = 1.0,
    *,
    has_par: bool = False,
    beside: Callable[[], RatesBeside] | None = None,
) -> Scale:
    """Find the unit of a column for `target`: basis points, percent or currency.

    Args:
        unit: what the header says: "bps", "%" or nothing.
        magnitude: what the header multiplies amounts by: 1,000 or 1,000,000.
        has_par: whether amounts of currency can be told as a price.
        beside: tells of the other rates, where figures alone leave the unit open.
    """
    if target == "spread":
        return spread_scale(numbers, unit)
    if target in PRICES:
        return price_scale(numbers, magnitude, has_par=has_par)
    if target in RATES:
        return rate_scale(numbers, RATES[target], unit)
    if target in SMALL_RATES:
        return small_rate_scale(numbers, unit, beside, is_base=target == "base_rate_level")
    if target in AMOUNTS and magnitude != 1.0:
        return Scale(_MAGNITUDES[magnitude], "header", magnitude)
    return Scale("as written", "nothing")


_MAGNITUDES: Final[dict[float, Literal["thousands", "millions"]]] = {1_000.0: "thousands", 1_000_000.0: "millions"}


def scale_values(numbers: Numbers, scale: Scale, par: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the values in the target's unit; `par` turns amounts into prices.

    Blank is what is too large for a double then.
    """
    if scale.unit == "currency":
        assert par is not None
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return _finite(numbers.values * scale.factor / par * 100.0)
    if scale.unit in ("as written", "thousands", "millions"):
        # To the sixth decimal, so that 1234.56789 thousands are the amount that the other side wrote in full.
        return numbers.values if scale.factor == 1.0 else _times(numbers.values, scale.factor, 6)
    if numbers.marks is None:
        # To the ninth decimal, so that 0.57 is 57 and not a hair below a limit.
        return numbers.values if scale.factor == 1.0 else _times(numbers.values, scale.factor, 9)
    by_mark = np.array([scale.factor, scale.percent, scale.basis_points], np.float64)
    return _times(numbers.values, by_mark[numbers.marks], 9)


def _times(values: NDArray[np.float64], factor: float | NDArray[np.float64], decimals: int) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        return _finite(np.round(values * factor, decimals))


def _finite(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values with blanks in place of infinities."""
    values[np.isinf(values)] = np.nan
    return values


def spread_scale(numbers: Numbers, unit: str = "") -> Scale:
    """Return the unit of a column of spreads; to basis points.

    Cells with their own unit keep it; the unit of all others is one for the column: the header's, else by the median
    (at most 0.25 a fraction, at most 25 percent, above basis points). Fractions stay such under a header with a %.
    """
    rest = values_without_unit(numbers)
    if unit == "bps":
        return Scale("bps", "header", 1.0, 100.0, 1.0)
    if median_at_most(rest, 0.25):
        return Scale("fraction", "median", 10_000.0, 100.0, 1.0, 0.25)
    if unit == "%":
        return Scale("percent", "header", 100.0, 100.0, 1.0)
    if median_at_most(rest, 25.0):
        return Scale("percent", "median", 100.0, 100.0, 1.0, 25.0)
    return Scale("bps", _scale_source(numbers, rest), 1.0, 100.0, 1.0, 25.0)


def price_scale(numbers: Numbers, magnitude: float = 1.0, *, has_par: bool = False) -> Scale:
    """Return the unit of a column of prices; to percent of par.

    A column with a median of at most 2 holds fractions; one above `CURRENCY_PRICE`, or whose header says thousands or
    millions, market values in currency, where there is a par to divide them by.
    """
    rest = values_without_unit(numbers)
    if has_par and magnitude != 1.0:
        return Scale("currency", "header", magnitude)
    if has_par and not median_at_most(numbers.values, CURRENCY_PRICE) and bool((np.abs(numbers.values) > 0).any()):
        return Scale("currency", "median", limit=CURRENCY_PRICE)
    if median_at_most(rest, 2.0):
        return Scale("fraction", "median", 100.0, limit=2.0)
    return Scale("percent", _scale_source(numbers, rest), limit=2.0)


VALUE_OF_PAR: Final = (0.3, 1.3)
"""Market value over par within which a loan's lies; prices in percent are much more or much less."""

VALUES_SHARE: Final = 0.8
"""Share of a column's figures that must lie there for a column of market values in the unit of par."""


def are_values_of(values: NDArray[np.float64], par: NDArray[np.float64]) -> bool:
    """Return whether figures are market values in the unit of par, and no prices."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(values / par)
        known = np.isfinite(ratio) & (values != 0)
        near = known & (ratio >= VALUE_OF_PAR[0]) & (ratio <= VALUE_OF_PAR[1])
    return bool(known.any()) and int(np.count_nonzero(near)) >= VALUES_SHARE * int(np.count_nonzero(known))


def rate_scale(numbers: Numbers, fraction_max: float = 0.25, unit: str = "") -> Scale:
    """Find the unit of a column of rates, to percent.

    With a median of at most `fraction_max` it has fractions.

    `unit` is what the header says: "bps" is believed.
    """
    if unit == "bps":
        return Scale("bps", "header", 0.01)
    rest = values_without_unit(numbers)
    if median_at_most(rest, fraction_max):
        return Scale("fraction", "median", 100.0, limit=fraction_max)
    return Scale("percent", _scale_source(numbers, rest), limit=fraction_max)


def small_rate_scale(
    numbers: Numbers, unit: str = "", beside: Callable[[], RatesBeside] | None = None, *, is_base: bool = False
) -> Scale:
    """Return the unit of a column of floors or base rates; to percent.

    Fractions when every value but zero is at most 0.05 (0.50 is 0.50 %). Above, up to `SMALL_FRACTION_MAX`, the other
    rates of the loans decide: what the all-in rates leave for a base rate, then fractions of a spread, then the level
    that a base rate mostly has, which is a guess. Of twenty values the largest may be a slip, and decides nothing.

    `unit` is what the header says: "bps" is believed.
    """
    if unit == "bps":
        return Scale("bps", "header", 0.01)
    rest = np.abs(values_without_unit(numbers))
    known = np.sort(rest[rest > 0])
    largest = float(known[-1 - len(known) // SLIPS_AMONG]) if len(known) else 0.0
    if 0 < largest <= 0.05:
        return Scale("fraction", "largest", 100.0, limit=0.05)
    percent = Scale("percent", _scale_source(numbers, rest, "largest"), limit=0.05)
    if beside is None or not 0.05 < largest <= SMALL_FRACTION_MAX:
        return percent
    others = beside()
    if is_base and others.base is not None:
        is_fraction = _fits_as_fraction(numbers.values, others.base)
        if is_fraction is not None:
            return Scale("fraction", "other rates", 100.0) if is_fraction else Scale("percent", "other rates")
    if others.spread_unit == "fraction":
        return Scale("fraction", "other rates", 100.0)
    low, high = BASE_FRACTIONS
    is_level = (
        is_base
        and bool((values_without_unit(numbers) >= 0).sum())
        and low <= float(np.nanmedian(rest[rest > 0])) <= high
    )
    if is_level and not (values_without_unit(numbers) < 0).any():
        return Scale("fraction", "level", 100.0, limit=high)
    return percent


def _fits_as_fraction(levels: NDArray[np.float64], base: NDArray[np.float64]) -> bool | None:
    """Return whether base rates as fractions fit all-in rates and spreads.

    None where no unit fits.
    """
    known = ~np.isnan(levels) & ~np.isnan(base) & (levels != 0)
    if not known.any():
        return None
    as_fraction, as_percent = (
        float(np.median(np.abs(levels[known] * factor - base[known]))) for factor in (100.0, 1.0)
    )
    return as_fraction < as_percent if min(as_fraction, as_percent) <= BASE_FIT_MAX else None


def _scale_source(
    numbers: Numbers, rest: NDArray[np.float64], figure: Literal["median", "largest"] = "median"
) -> Literal["median", "largest", "cells", "nothing"]:
    """Return what decided the unit where the header does not say it."""
    if bool((np.abs(rest) > 0).any()):
        return figure
    return "nothing" if numbers.marks is None else "cells"


def spread_bps(numbers: Numbers, unit: str = "") -> NDArray[np.float64]:
    """Return spreads in basis points; see `spread_scale`."""
    return scale_values(numbers, spread_scale(numbers, unit))


def rate_percent(numbers: Numbers, fraction_max: float = 0.25, unit: str = "") -> NDArray[np.float64]:
    """Return rates in percent; see `rate_scale`."""
    return scale_values(numbers, rate_scale(numbers, fraction_max, unit))


def small_rate_percent(numbers: Numbers, unit: str = "") -> NDArray[np.float64]:
    """Return floors and base rates in percent; see `small_rate_scale`."""
    return scale_values(numbers, small_rate_scale(numbers, unit))


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


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column's strings: trimmed, distinct, null words blank."""

    codes: NDArray[np.int32]
    """Index into `text`; -1 is blank."""
    text: Text


def read_text(cells: Cells, *, masks: bool = False, written: Callable[[float], str | None] | None = None) -> TextColumn:
    """Read a column's text: numbers as typed, flags as TRUE or FALSE, errors blank.

    Args:
        masks: `MASK` is a text, as in a column of ratings, and not nothing.
        written: what a date's serial is written as, None for blank; without it a date stands as its number.
    """
    pool = cells.pool
    local, used = _parse.distinct(cells.codes, len(pool.text))
    table, offsets, data = _parse.clean(pool.text.offsets, pool.text.data, used, False, True)
    if pool.has_null:
        null = pool.null[used]
        if masks and null.any():
            null[null] = [text.strip() != MASK for text in decode(pool.text, used[null])]
        table[null] = -1
    column = TextColumn(spread_out(table, -1, local), Text(offsets, data))
    for kind, write in ((NUMBER, plain), (DATE, written or plain), (BOOLEAN, _flag)):
        if cells.seen & bit(kind):
            column = _with_written(column, cells, cells.kinds == kind, write)
    return column


def _with_written(
    column: TextColumn, cells: Cells, rows: NDArray[np.bool_], write: Callable[[float], str | None]
) -> TextColumn:
    """Return the text column with the cells of some rows written out."""
    figures, index = np.unique(cells.numbers[rows], return_inverse=True)
    codes, extra = pool_of([write(figure) for figure in figures.tolist()])
    merged = column.codes.copy()
    merged[rows] = np.where(codes < 0, np.int32(-1), codes + np.int32(len(column.text)))[index]
    return merged_pool(merged, column.text, extra)


def _flag(figure: float) -> str:
    """Return TRUE or FALSE, as a sheet shows it."""
    return "TRUE" if figure else "FALSE"


NO_TEXT: Final = Text(np.zeros(1, np.int64), np.zeros(0, np.uint8))
"""A pool without strings."""


def pool_of(strings: Sequence[str | None]) -> tuple[NDArray[np.int32], Text]:
    """Return strings as codes and their pool; None has the code -1."""
    codes, offsets, data = intern(strings)
    return codes, Text(offsets, data)


def without_footnotes(column: TextColumn, *, brackets: bool = True) -> TextColumn:
    """Return a column of names without footnote marks (`footnotes.without_marks`)."""
    data = column.text.data
    may_have = _parse.may_have_marks(column.text.offsets, data, bool(data.max(initial=0) >= ASCII_STOP))
    written = decode(column.text, may_have)
    bare = [without_marks(text, brackets=brackets) for text in written]
    changed = [at for at, (old, new) in enumerate(zip(written, bare, strict=True)) if old != new]
    if not changed:
        return column
    codes, extra = pool_of([bare[at] for at in changed])
    table = np.arange(len(column.text), dtype=np.int32)
    table[may_have[changed]] = codes + np.int32(len(column.text))
    return merged_pool(spread_out(table, -1, column.codes), column.text, extra)


def is_distinct(text: Text) -> bool:
    """Return whether no two strings of a pool are equal.

    It takes half the time of making equal ones one.
    """
    return TextIndex(text.offsets, text.data).is_distinct


def end_to_end(first: Text, second: Text) -> Text:
    """Join the strings of two pools; the second's codes move up."""
    offsets = np.concatenate((first.offsets, second.offsets[1:] + first.offsets[-1]))
    return Text(offsets, np.concatenate((first.data[: first.offsets[-1]], second.data)))


def merged_pool(codes: NDArray[np.int32], first: Text, second: Text, *, upper: bool = False) -> TextColumn:
    """Return codes into two pools end to end, equal strings made one."""
    pool = end_to_end(first, second)
    local, used = _parse.distinct(codes, len(pool))
    table, offsets, data = _parse.clean(pool.offsets, pool.data, used, upper, False)
    return TextColumn(spread_out(table, -1, local), Text(offsets, data))


def upper(column: TextColumn) -> TextColumn:
    """Return the column in upper case."""
    if column.text.data.max(initial=0) < ord("a"):
        return column
    return merged_pool(column.codes, column.text, NO_TEXT, upper=True)


@remembered(16_384)
def letters_and_digits(text: str) -> str:
    """Return a text's letters and digits in upper case, whatever their width.

    Identifiers are compared by them.
    """
    text = unicodedata.normalize("NFKC", text.translate(NO_SUPERSCRIPTS))
    return "".join(sign for sign in text.upper() if sign.isalnum())


def bare(text: Text) -> Text:
    """Return `letters_and_digits` of a pool, each under its code.

    Strings that become equal stay apart.
    """
    offsets, data = _parse.letters_and_digits(text.offsets, text.data)
    if not len(data) or data.max() < ASCII_STOP:
        return Text(offsets, data)
    wide = np.unique(np.searchsorted(text.offsets, np.flatnonzero(text.data >= ASCII_STOP), side="right") - 1)
    pieces, lengths, done = [], np.diff(offsets), 0
    for code, string in zip(wide.tolist(), decode(text, wide), strict=True):
        written = np.frombuffer(letters_and_digits(string).encode(), np.uint8)
        pieces += [data[done : offsets[code]], written]
        lengths[code], done = len(written), offsets[code + 1]
    return Text(np.concatenate(([0], np.cumsum(lengths))), np.concatenate([*pieces, data[done:]]))


def subset(column: TextColumn, rows: NDArray[Index]) -> TextColumn:
    """Return some rows of a text column, with a pool of their strings alone."""
    local, used = _parse.distinct(column.codes[rows], len(column.text))
    _, offsets, data = _parse.clean(column.text.offsets, column.text.data, used, False, True)
    return TextColumn(local, Text(offsets, data))


def plain(figure: float) -> str:
    """Return a number as it would be typed: no trailing .0, no exponent below 1e15."""
    return str(int(figure)) if figure.is_integer() and abs(figure) < 1e15 else repr(figure)


def categories(column: TextColumn, meanings: list[str]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return (code of each row, sorted names) by the canonical names of its strings.

    A "" is blank.
    """
    names = tuple(sorted(set(meanings) - {""}))
    code_of = {name: code for code, name in enumerate(names)} | {"": -1}
    table = np.array([code_of[name] for name in meanings], np.int32)
    return spread_out(table, -1, column.codes), names


_INDUSTRY_OF: Final = {}  # filled below, when the function that makes its keys is known


def _industry_key(text: str) -> str:
    lowered = text.lower()
    lowered = lowered.removeprefix("corp - ")
    return key(lowered).replace(" ", "")


_INDUSTRY_OF.update({_industry_key(name): name for name in INDUSTRIES})


_CODE_BESIDE: Final = re.compile(r"^[A-Z]?\d{1,8}\s*[-\u2013:.|)]?\s+|\s*[(\[]\d{1,8}[)\]]$")
"""The code of an industry before its name, or in brackets behind it."""


def _industry_beside_code(text: str) -> str | None:
    """Return the list's spelling of "31 - Transportation: Cargo"; None for others."""
    return _INDUSTRY_OF.get(_industry_key(name)) if (name := _CODE_BESIDE.sub("", text[:CATEGORY_LENGTH_MAX])) else None


def industries(texts: Iterable[str]) -> list[str]:
    """Return canonical industries: the list's spelling, else the least alike one."""
    texts = list(texts)
    keys = [_industry_key(text) if len(text) <= CATEGORY_LENGTH_MAX else text for text in texts]
    spelling: dict[str, str] = {}
    for text, text_key in zip(texts, keys, strict=True):
        known = _INDUSTRY_OF.get(text_key) or _industry_beside_code(text)
        spelling[text_key] = known or min(spelling.get(text_key, text), text)
    return [spelling[text_key] for text_key in keys]


_COUNTRY_OF: Final = {key(name): code for code, names in COUNTRIES.items() for name in (code, *names)}


def country(text: str) -> str:
    """Return the ISO code of a country that has one here, else the text.

    Beside a country may stand its code or one of its states: "Delaware, USA", "US-DE".
    """
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    return _COUNTRY_OF.get(key(text)) or _country_of_parts(text) or text


@remembered(4_096)
def _country_of_parts(text: str) -> str:
    """Return the country of a text of nothing but parts of its name, else "".

    Two letters alone count where no name tells the country: "CA" may be California.
    """
    parts = [words for part in _PARTS.split(text) if (words := key(part)) and words not in _BESIDE_NAMES]
    states = [_STATE_OF.get(part, "") for part in parts]
    if not all(state or part in _COUNTRY_OF for part, state in zip(parts, states, strict=True)):
        return ""
    names = {_COUNTRY_OF[part] for part in parts if part in _COUNTRY_OF and (len(part) > 2 or part in ("us", "uk"))}
    names = names or {state for part, state in zip(parts, states, strict=True) if len(part) > 2 and part != "georgia"}
    if names:
        return names.pop() if len(names) == 1 else ""
    return _COUNTRY_OF.get(parts[0], "") if parts and _SUBDIVISION.fullmatch(text.strip()) else ""


_PARTS: Final = re.compile(r"[,;:()/|\u2013\u2014-]")
_SUBDIVISION: Final = re.compile(r"[A-Z]{2}\s?(?:-\s?[A-Z]{2}|\([A-Z]{2}\))")
"""A country's code and that of a part of it, as ISO 3166-2 has them: "CA-ON"."""
_STATE_OF: Final = {
    name: code
    for code, names in {
        "US": "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii idaho illinois "
        "indiana iowa kansas kentucky louisiana maine maryland massachusetts michigan minnesota mississippi missouri "
        "montana nebraska nevada new_hampshire new_jersey new_mexico new_york north_carolina north_dakota ohio "
        "oklahoma oregon pennsylvania rhode_island south_carolina south_dakota tennessee texas utah vermont virginia "
        "georgia washington west_virginia wisconsin wyoming district_of_columbia "
        "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok "
        "or pa ri sc sd tn tx ut vt va wa wv wi wy dc",
        "CA": "alberta british_columbia manitoba new_brunswick nova_scotia ontario quebec saskatchewan ab bc mb ns on "
        "qc sk",
        "GB": "england_and_wales scotland wales northern_ireland eng sct wls nir",
    }.items()
    for name in (words.replace("_", " ") for words in names.split())
}
"""States and provinces by name and by code; Georgia alone is a country, too."""
_BESIDE_NAMES: Final = frozenset(("the", "republic of", "kingdom of", "grand duchy of"))


_CURRENCY_OF: Final = {
    word: code
    for code, words in {
        "USD": ("us dollar", "us dollars", "dollar", "dollars", "u s dollar", "united states dollar"),
        "EUR": ("euro", "euros"),
        "GBP": ("pound", "pounds", "sterling", "pound sterling", "british pound", "great british pound"),
        "CHF": ("swiss franc", "swiss francs"),
        "SEK": ("swedish krona",),
        "NOK": ("norwegian krone",),
        "DKK": ("danish krone",),
        "CAD": ("canadian dollar", "canadian dollars"),
        "AUD": ("australian dollar", "australian dollars"),
        "JPY": ("yen", "japanese yen"),
        "PLN": ("zloty", "polish zloty"),
    }.items()
    for word in words
}
_CURRENCY_SIGNS: Final = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}


def currency(text: str) -> str:
    """Return the ISO 4217 code of a currency's name or sign, else upper case."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    return _CURRENCY_SIGNS.get(text.strip()) or _CURRENCY_OF.get(key(text)) or text.upper()


# In order: the first rule whose words stand in the text decides.
_LIENS: Final = (
    (
        re.compile(
            r"\b(second|2nd|third|3rd|2 ?l|junior) ?(lien|l|secured)?\b|\bnon (senior secured|first lien)\b"
            r"|\b1 5 lien\b|^[23]$|\bjr (lien|sec\w*)\b"
            r"|\b(zweit|dritt)rang\w*|\b([23]|2eme|2e|deuxieme|segundo|segunda|tweede|secondo) "
            r"(rang|rango|gravamen|pandrecht|hypotheek|grado)\b|\brang [23]\b|^segund[oa]$"
        ),
        Lien.SECOND_LIEN,
    ),
    (
        re.compile(
            r"\b(unsec\w*|non? secured|not secured|mezzanine?|mezz|subordinated|sub debt|(senior|snr|sr) (sub|uns))\b"
            r"|^(sub|uns|sun)$"
            r"|\b(unbesichert\w*|ungesichert\w*|nachrangig\w*|chirographaire|non (garanti|securise)e?s?|subordonnee?s?"
            r"|subordinad[oa]s?|no garantizad[oa]s?|sin garantia|quirografari[oa]s?|achtergesteld\w*|ongedekt\w*)\b"
        ),
        Lien.UNSECURED,
    ),
    # A bond that is not said to be unsecured or junior is senior secured as often as not: kept apart.
    (re.compile(r"\b(bonds?|notes?|fixed income|high yield)\b|^ssn$"), Lien.BOND),
    (
        re.compile(
            r"\b(first|1st|1 ?l|senior|sr|snr|secured|term loan|term loans|loan|loans|revolver|revolving|delayed draw"
            r"|ddtl|tl|tl ?[a-z]\d?|rcf|dip|unitranche|first out|last out|fllo|folo)\b|^1$|^sen sec\b"
            r"|\b(erstrang\w*|vorrangig\w*|besichert\w*|garantie?s?|garantizad[oa]s?)\b|\brang 1\b|^primer[oa]$"
            r"|\b(1|1er|1ere|premiere?|primera?|eerste|primo) (rang|rango|gravamen|pandrecht|hypotheek|grado)\b"
        ),
        Lien.FIRST_LIEN,
    ),
)  # fmt: skip


@remembered(4_096)
def lien(text: str) -> Lien:
    """Return the lien that the words of a text name; OTHER where they name none."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return Lien.OTHER
    words = key(text)
    return next((place for rule, place in _LIENS if rule.search(words)), Lien.OTHER)


_FAMILIES: Final = (
    (re.compile(r"\bfixed\b"), "FIXED"),
    (re.compile(r"sofr|\btsfr"), "SOFR"),
    (re.compile(r"euribor|\beur0|^e$"), "EURIBOR"),
    (re.compile(r"libor|\bus0|^l$"), "LIBOR"),
    (re.compile(r"sonia"), "SONIA"),
    (re.compile(r"saron"), "SARON"),
    (re.compile(r"estr\b"), "ESTR"),
    (re.compile(r"corra"), "CORRA"),
    (re.compile(r"cdor"), "CDOR"),
    (re.compile(r"bbsy|bbsw"), "BBSY"),
    (re.compile(r"tibor"), "TIBOR"),
    (re.compile(r"prime|\bbase rate\b|\babr\b"), "PRIME"),
    (re.compile(r"^s$"), "SOFR"),
)
FLOATING_INDEXES: Final = tuple(dict.fromkeys(name for _, name in _FAMILIES if name != "FIXED"))
"""Families of reference rates, as `base_rate` names them."""

_OTHER_LIBOR: Final = re.compile(r"\b(chf|eur|gbp|jpy)\b")
"""Currencies of LIBOR but the dollar, which it is of where none is named."""
_TENOR: Final = re.compile(r"(?:^|[^0-9])0*(1|2|3|6|12) ?(?:m|mo|mos|mth|months?)\b")
_YEAR: Final = re.compile(r"\b(?:1 ?y|1 ?yr|1 ?years?|12 months)\b")


@remembered(4_096)
def base_rate(text: str) -> str:
    """Return a reference rate's index: "SOFR-3M", "PRIME", "FIXED"; else upper case."""
    if len(text) > CATEGORY_LENGTH_MAX:
        return text
    words = key(text)
    family = next((name for rule, name in _FAMILIES if rule.search(words)), None)
    if family is None:
        return " ".join(text.upper().split())
    if family == "LIBOR" and (currency := _OTHER_LIBOR.search(words)):
        family = f"{currency[1].upper()} LIBOR"
    tenor = "12" if _YEAR.search(words) else match[1] if (match := _TENOR.search(words)) else ""
    return f"{family}-{tenor}M" if tenor and family not in ("FIXED", "PRIME") else family


_FIXED_WORDS: Final = frozenset(("fxd", "fx", "fixd"))
_FLOATING_WORDS: Final = frozenset(("fl", "flt", "fltg", "fltr", "var", "frn", "adj", "arm"))
"""Abbreviations of the kinds of coupon."""


def coupon_is_fixed(text: str) -> int:
    """Return 1 for a fixed coupon, 0 for a floating one, -1 where unknown."""
    words = key(text)
    word_set = set(words.split())
    is_floating = "flo" in words or "variable" in words or "adjust" in words or bool(word_set & _FLOATING_WORDS)
    if ("fix" in words or word_set & _FIXED_WORDS) and "float" not in words:
        return 1
    return 0 if is_floating else -1
