"""The cells of one column, and the distinct strings of a sheet."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column, Text
from core.portfolio.cells import _parse
from core.portfolio.cells.text import dates
from core.portfolio.cells.text.footnotes import NO_SUPERSCRIPTS
from core.remembered import remembered
from core.values import Kind

Scalar = TypeVar("Scalar", bound=np.generic)

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

NULL_BYTES_MAX: Final = 6
"""A null word with a space about it is not longer than this; "#N/A N/A" is, and begins like no identifier."""

HASH_BYTES_MAX: Final = 9

FIGURES_MAX: Final = 5_000
"""Strings of a sheet that are looked at to tell its decimal sign."""

FIGURE_BYTES_MAX: Final = 24
"""UTF-8 bytes of a string that is looked at as a figure there."""


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
