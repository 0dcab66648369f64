"""Cells with a rate in words: "SF+525, 0.75% floor", "11.2% Cash + 5.3% PIK"."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.portfolio.cells import _parse, category_cells, string_pool, text_cells
from core.portfolio.cells.number_cells import Numbers
from core.portfolio.cells.string_pool import TEXT, Cells, bit, spread_out
from core.portfolio.cells.text.footnotes import without_marks
from core.portfolio.cells.text_cells import TextColumn
from core.portfolio.model.ratings import is_not_rated, rank
from core.remembered import remembered

LENGTH_MAX: Final = 120
"""Characters of a cell that is read as a rate."""

FLOOR_BPS_FROM: Final = 10.0
"""A floor without a unit is in basis points from here on, and in percent below."""

PIK_BPS_FROM: Final = 25.0
"""The same of a rate paid in kind."""

COUPON_BPS_FROM: Final = 100.0
"""The same of a fixed coupon."""

MARGIN_PERCENT_MAX: Final = 25.0
"""A greater margin without a unit is in basis points, whatever its column's other cells are in."""

BARE_SHARE_MAX: Final = 0.5
"""Percentages without an index per cell with one, up to which they are fixed coupons."""

FLOOR_MAX: Final = 6.0
"""The greatest floor of an index, percent; a greater one is the least coupon of the loan."""

ADJUSTMENT_MAX: Final = 0.5
"""The greatest credit spread adjustment, percent, that may stand between an index and its margin."""

SAMPLE: Final = 500
"""Distinct texts that are looked at to tell a column of spreads."""

TEXTS_MAX: Final = 20_000
"""Distinct texts of a column that are read as rates; a reading takes some microseconds."""

RATE_SHARE_MIN: Final = 0.5
"""Share of a column's texts that state an index and a margin, from which it is a column of spreads."""

INDEXES: Final = {
    "S": "SOFR", "SF": "SOFR", "SOFR": "SOFR", "TSFR": "SOFR", "SFR": "SOFR", "TSOFR": "SOFR",
    "E": "EURIBOR", "EU": "EURIBOR", "EUR": "EURIBOR", "EB": "EURIBOR", "EURIBOR": "EURIBOR", "EURI": "EURIBOR",
    "L": "LIBOR", "LIBOR": "LIBOR", "LIB": "LIBOR",
    "SN": "SONIA", "SA": "SONIA", "SONIA": "SONIA", "SON": "SONIA",
    "P": "PRIME", "PR": "PRIME", "PRIME": "PRIME", "ABR": "PRIME", "BASE": "PRIME",
    "C": "CORRA", "CA": "CORRA", "CORRA": "CORRA", "CDOR": "CDOR", "CD": "CDOR",
    "B": "BBSY", "BB": "BBSY", "BBSY": "BBSY", "BBSW": "BBSY", "BKBM": "BKBM", "N": "NIBOR", "NIBOR": "NIBOR",
    "STIBOR": "STIBOR", "ST": "STIBOR", "CIBOR": "CIBOR", "SARON": "SARON", "SR": "SARON", "ESTR": "ESTR",
    "TIBOR": "TIBOR", "TONA": "TONA", "WIBOR": "WIBOR", "SORA": "SORA", "TIIE": "TIIE",
}  # fmt: skip
"""Abbreviations of an index before a margin, as schedules of investments and grids of holdings write them."""

_ROLES: Final = {
    "FLOOR": "floor", "FLR": "floor", "MIN": "floor", "MINIMUM": "floor",
    "PIK": "pik", "DEFERRED": "pik", "CASH": "cash", "FIXED": "fixed", "COUPON": "fixed",
    "MAX": "cap", "MAXIMUM": "cap", "CAP": "cap", "UPTO": "cap", "CSA": "csa", "CAS": "csa",
    "INCL": "part", "INCLUDING": "part", "INCLUDES": "part", "WHICH": "part", "ALLIN": "all_in", "YIELD": "all_in",
}  # fmt: skip
"""What a word beside a figure makes of it."""

_FILLERS: Final = frozenset(
    ("TERM", "ADJ", "ADJUSTED", "CME", "DAILY", "COMPOUNDED", "SIMPLE", "RFR", "USD", "GBP", "CAD", "AUD", "SYNTHETIC",
     "MARGIN", "SPREAD", "RATE", "INTEREST", "OF", "WITH", "W", "A", "AN", "THE", "AND", "IN", "IS", "AT", "CURRENT",
     "CURRENTLY", "UP", "TO", "ON", "US", "PER", "ANNUM", "PA", "TOTAL", "TOGGLE", "FLOATING", "APPLICABLE", "INDEX",
     "PLUS", "LENDING", "REFERENCE", "BENCHMARK", "FORWARD", "LOOKING")
)  # fmt: skip
"""Words that change nothing."""

_TENOR: Final = re.compile(r"(?<![\d.,])(0?[1-9]|1[012])[ -]?(M|MO|MOS|MTH|MTHS|MONTH|MONTHS|Y|YR|YEAR)(?![A-Z])")
_GLUED: Final = re.compile(r"(?<![A-Z])(TSFR|EUR|EURIBOR|SOFR|LIBOR|US)0*([1-9]|1[012])M(?![A-Z])")
_PERIOD: Final = re.compile(r"\((M|Q|S|A)\)")
_MONTHS_OF: Final = {"M": "1M", "Q": "3M", "S": "6M", "A": "12M"}
"""How often the index is set, as schedules of investments write it: SOFR (Q)."""
_LETTER: Final = re.compile(r"(?<!\d)(\d{1,2})M(?=[LES]\b)")
_FRACTIONS: Final = str.maketrans(
    {
        "\u00bc": ".25",
        "\u00bd": ".5",
        "\u00be": ".75",
        "\u215b": ".125",
        "\u215c": ".375",
        "\u215d": ".625",
        "\u215e": ".875",
    }
)
_TOKEN: Final = re.compile(r"\d{1,8}(?:[.,]\d{1,8})?|\.\d{1,8}|[A-Z]+|[-+,;:/()\[\]%&@]")
_HAS_LETTER: Final = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class RateCell:
    """One cell, in percent but for the margin; NaN is what it does not state."""

    index: str = ""
    """Family and tenor ("SOFR-3M")."""
    margin: float = np.nan
    """As it is written; its unit is in `mark`."""
    mark: int = 0
    """`_parse.PERCENT`, `_parse.BASIS_POINTS`, or 0 where the cell does not state a unit."""
    floor: float = np.nan
    pik: float = np.nan
    coupon: float = np.nan
    """Fixed: a rate without an index."""
    all_in: float = np.nan
    is_pik: bool = False


@dataclass(slots=True)
class _Figure:
    """A figure of a cell with the words about it."""

    value: float
    sign: str
    """The sign between it and what stands before."""
    roles: set[str]
    is_after_index: bool
    unit: int = 0

    def percent(self, bps_from: float) -> float:
        """Return the percentage; without a unit, basis points from `bps_from` on."""
        is_bps = self.unit == _parse.BASIS_POINTS or (self.unit == 0 and self.value >= bps_from)
        return round(self.value / 100.0, 9) if is_bps else self.value


@remembered(16_384)
def rate_cell(text: str) -> RateCell | None:
    """Read a cell's rate.

    None where a part has no known meaning, or it has neither margin nor coupon. A rating such as "B3" is none.
    """
    if len(text) > LENGTH_MAX or _are_ratings(text):
        return None
    bare = without_marks(_PERIOD.sub(lambda match: f" {_MONTHS_OF[match[1]]} ", text)).translate(_FRACTIONS)
    written = _one_word_each(_LETTER.sub(r"\1M ", unicodedata.normalize("NFKC", bare).upper()))
    tenor = _TENOR.search(written) or _GLUED.search(written)
    scan = _Scan()
    if not scan.read(_GLUED.sub(r" \1 ", _TENOR.sub(" ", written))):
        return None
    known = _meaning(scan)
    if known is None:
        return None
    month = int(tenor[1] if tenor.re is _TENOR else tenor[2]) if tenor else 0
    month *= 12 if tenor and tenor.re is _TENOR and tenor[2].startswith("Y") else 1
    index = f"{scan.index}-{month}M" if scan.index and month and scan.index != "PRIME" else scan.index
    mark = int(known.pop("mark", 0))
    return RateCell(index, mark=mark, is_pik="pik" in scan.roles and known.get("pik") != 0, **known)


_BETWEEN_RATINGS: Final = re.compile(r"[\s/|;,()]+|-(?=\s)")


def _are_ratings(text: str) -> bool:
    """Return whether a text has nothing but ratings: "B3", "B2 - B"."""
    parts = [part for part in _BETWEEN_RATINGS.split(text) if part]
    return any(map(rank, parts)) and all(rank(part) or is_not_rated(part) for part in parts)


_ALONE: Final = frozenset(("SF", "SFR", "SN", "SA", "P", "TSFR"))
"""Abbreviations that name an index where they stand alone; others are countries, currencies or flags, too."""


def index_name(text: str) -> str:
    """Return the index of a reference rate, also from a cell that states a margin."""
    word = text.strip().upper()
    if word in _ALONE:
        return INDEXES[word]
    rate = rate_cell(text) if "+" in text else None
    return rate.index if rate is not None and rate.index else category_cells.base_rate(text)


def _one_word_each(text: str) -> str:
    """Return the text with phrases of several words as one word."""
    for phrase, word in _PHRASES:
        text = text.replace(phrase, word)
    return text


_PHRASES: Final = (
    ("\u2013", "-"), ("\u2212", "-"), ("ALL-IN", "ALLIN"), ("ALL IN", "ALLIN"), ("PAID IN KIND", "PIK"),
    ("PAYMENT IN KIND", "PIK"), ("PAID-IN-KIND", "PIK"), ("PAYMENT-IN-KIND", "PIK"), ("PLUS", "+"), ("OVER", "+"),
    ("UP TO", "UPTO"), ("PER CENT", "%"), ("PERCENT", "%"), ("BASIS POINTS", "BPS"), ("BASE RATE", "BASE"),
    ("T-SOFR", "SOFR"),
)  # fmt: skip


class _Scan:
    """The pieces of a cell from left to right."""

    def __init__(self) -> None:
        self.index = ""
        self.figures: list[_Figure] = []
        self.roles: set[str] = set()
        self._sign, self._waiting = "", set[str]()

    def read(self, text: str) -> bool:
        """Return whether every piece has a known meaning."""
        tokens = list(_TOKEN.finditer(text))
        at = 0
        for place, token in enumerate(tokens):
            if text[at : token.start()].strip(_PASSED_OVER):
                return False
            at = token.end()
            before_figure = place + 1 < len(tokens) and tokens[place + 1][0][0] in _FIGURE_START
            if not self._take(token[0], before_figure=before_figure):
                return False
        return not text[at:].strip(_PASSED_OVER) and not self._waiting & {"floor", "cash"}

    def _take(self, token: str, *, before_figure: bool) -> bool:
        if token[0] in _FIGURE_START:
            value = float(token.replace(",", "."))
            self.figures.append(_Figure(value, self._sign, self._waiting, bool(self.index)))
            self._sign, self._waiting = "", set()
        elif token in _UNITS:
            if not self.figures or self.figures[-1].unit:
                return False
            self.figures[-1].unit = _UNITS[token]
        elif token in _ROLES:
            self._role(_ROLES[token], before_figure=before_figure)
        elif token[0].isalpha():
            return self._word(token)
        elif token in _CLOSING:
            self._sign = ""
        elif token not in _EMPTY_SIGNS:
            self._sign = token
        return True

    def _role(self, role: str, *, before_figure: bool) -> None:
        """Note whether a word is about the figure before it or what follows.

        One behind a sign, or a floor before a figure, is about what follows.
        """
        if role == "csa" and not before_figure and (self._sign or not self.figures):
            return  # SOFR + CSA + 5.00 %: the adjustment has no figure
        self.roles.add(role)
        last = self.figures[-1] if self.figures else None
        is_next = last is None or self._sign or (before_figure and (role == "floor" or role not in last.roles != set()))
        (self._waiting if is_next or last is None else last.roles).add(role)

    def _word(self, token: str) -> bool:
        if token in INDEXES and not self.index:
            self.index = INDEXES[token]
            return True
        return token in _FILLERS or (token in INDEXES and INDEXES[token] == self.index)


_FIGURE_START: Final = frozenset("0123456789.")
_CLOSING: Final = frozenset(")]")
_EMPTY_SIGNS: Final = frozenset("%&@:")
_PASSED_OVER: Final = " .*\t\n\r"
_UNITS: Final = {"%": _parse.PERCENT, "PCT": _parse.PERCENT, "BPS": _parse.BASIS_POINTS, "BP": _parse.BASIS_POINTS}


def _meaning(scan: _Scan) -> dict[str, float] | None:
    """Return what the figures of a cell are, by words, else by place.

    None where one is nothing known.
    """
    known: dict[str, float] = {}
    by_part: dict[str, _Figure] = {}
    for figure in scan.figures:
        part = _part(figure, scan.index, by_part.get("margin"))
        if part == "coupon" and part in known and "cash" in figure.roles:
            continue  # 12.00% (10.00% Cash, 2.00% PIK): the parts of what stands before
        if part == "instead":
            part = "margin"
            del known[part]
        if part in known or part == "unknown" or (part == "margin" and figure.sign == "-"):
            return None
        if part:
            known[part], by_part[part] = figure.percent(_BPS_FROM.get(part, COUPON_BPS_FROM)), figure
    if "margin" not in by_part and "coupon" not in by_part:
        # "S + 6.00% PIK" and "5.75% over SOFR"; "10 % PIK" alone.
        stands_in = next((part for part in ("pik", "all_in") if part in by_part), None)
        if stands_in is None or (not scan.index and stands_in == "all_in"):
            return None
        by_part["margin" if scan.index else "coupon"] = by_part[stands_in]
        known["margin" if scan.index else "coupon"] = known[stands_in]
        if stands_in == "all_in":
            del known[stands_in]
    if "margin" in by_part:
        margin = by_part["margin"]
        unit = margin.unit or (_parse.BASIS_POINTS if margin.value > MARGIN_PERCENT_MAX else 0)
        known |= {"margin": margin.value, "mark": unit}
    return known


def _part(figure: _Figure, index: str, margin: _Figure | None) -> str:
    """Return the part of a rate that a figure is.

    "" for one that counts in none (a cap, an adjustment of the index), "unknown" where neither word nor place says it,
    "instead" for a margin behind an adjustment that looked like one.
    """
    named = next((part for role, part in _PART_OF_ROLE if role in figure.roles), None)
    if named is not None:
        # The least coupon of a loan, not of its index.
        return "" if named == "floor" and figure.percent(FLOOR_BPS_FROM) > FLOOR_MAX else named
    if not index:
        # Without an index 10.50 alone is a plain number, which its column has to explain.
        return "coupon" if figure.unit == _parse.PERCENT or figure.roles else "unknown"
    if not figure.is_after_index:
        return "all_in"
    return "margin" if margin is None else _part_behind(figure, margin)


def _part_behind(figure: _Figure, margin: _Figure) -> str:
    """Return the part that a figure without a word is, behind a margin: by its size."""
    size, least = figure.percent(MARGIN_PERCENT_MAX), margin.percent(MARGIN_PERCENT_MAX)
    if figure.sign == "+" and least <= ADJUSTMENT_MAX < size:
        return "instead"
    if figure.sign in _ASIDE and figure.unit == _parse.PERCENT and size > least:
        return "all_in"
    return "floor" if figure.sign == "/" and size <= min(least, FLOOR_MAX) else "unknown"


_ASIDE: Final = frozenset("/(,;")
_PART_OF_ROLE: Final = (("cap", ""), ("csa", ""), ("floor", "floor"), ("all_in", "all_in"), ("pik", "pik"))
_BPS_FROM: Final = {"floor": FLOOR_BPS_FROM, "pik": PIK_BPS_FROM}


# ---- columns -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RateColumn:
    """What the cells of a column of spreads state, row by row."""

    texts: tuple[RateCell | None, ...]
    """The meaning of each distinct text; None for one that is no rate in words."""
    codes: NDArray[np.int32]
    """Row -> distinct text, -1 for a cell without text."""
    bare: NDArray[np.bool_]
    """Rows that hold a percentage without an index."""
    unclear: NDArray[np.bool_]
    """Rows that add several figures up and have no known meaning: the last figure is no margin."""

    def index(self) -> TextColumn:
        """Return the index of each row."""
        codes, text = text_cells.pool_of([rate.index or None if rate else None for rate in self.texts])
        return TextColumn(spread_out(codes, -1, self.codes), text)

    def percents(self, part: str) -> NDArray[np.float64]:
        """Return a part of the rates in percent: floor, pik, coupon or all_in."""
        table = np.array([np.nan if text is None else getattr(text, part) for text in self.texts], np.float64)
        return spread_out(table, np.nan, self.codes)

    def is_fixed(self) -> NDArray[np.bool_]:
        """Return rows whose cell states a coupon, and no index."""
        return ~np.isnan(self.percents("coupon"))

    def floats(self) -> NDArray[np.bool_]:
        """Return rows whose cell states an index."""
        table = np.array([text is not None and bool(text.index) for text in self.texts], np.bool_)
        return spread_out(table, False, self.codes)

    def bare_are_fixed(self, percents: NDArray[np.float64]) -> bool:
        """Return whether percentages without an index are fixed coupons.

        They are few beside cells with one, or above any margin.

        Args:
            percents: of each row.
        """
        floating = int(np.count_nonzero(self.floats()))
        if np.count_nonzero(self.bare) <= BARE_SHARE_MAX * floating:
            return True
        margins = [text.margin / (100.0 if text.mark == _parse.BASIS_POINTS else 1.0) for text in self.texts if text]
        return floating > 0 and float(np.median(percents[self.bare])) > max(margins)

    def pays_in_kind(self) -> NDArray[np.bool_]:
        """Return rows whose cell says that interest is paid in kind."""
        table = np.array([text is not None and text.is_pik for text in self.texts], np.bool_)
        return spread_out(table, False, self.codes)


def rate_column(cells: Cells) -> RateColumn | None:
    """Return the rates that a column's texts state; None without any, or too many."""
    if not cells.seen & bit(TEXT):
        return None
    codes, used = _parse.distinct(cells.codes, len(cells.pool.text))
    if len(used) > TEXTS_MAX:
        return None
    strings = string_pool.decode(cells.pool.text, used)
    rates = tuple(rate_cell(text) if _HAS_LETTER.search(text) else None for text in strings)
    if not any(rates):
        return None
    several = [rate is None and text.count("+") > 1 for rate, text in zip(rates, strings, strict=True)]
    unclear = spread_out(np.array(several, np.bool_), False, codes)
    return RateColumn(rates, codes, _bare_percents(cells, strings, codes), unclear)


def _bare_percents(cells: Cells, strings: list[str], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return rows that hold nothing but a percentage."""
    table = np.array([_BARE_PERCENT.fullmatch(text) is not None for text in strings], np.bool_)
    bare = spread_out(table, False, codes)
    if cells.pool.has_percent:
        bare |= ((cells.kinds == string_pool.NUMBER) & cells.pool.percent_formats[cells.formats]) & (cells.numbers > 0)
    return bare


_BARE_PERCENT: Final = re.compile(r"\s*\d{1,2}(?:[.,]\d{1,6})?\s*%\s*")


def spreads(numbers: Numbers, rates: RateColumn) -> Numbers:
    """Read spreads with the margins of stated rates; blank for fixed coupons."""
    margin = np.array([np.nan if text is None else text.margin for text in rates.texts], np.float64)
    mark = np.array([0 if text is None else text.mark for text in rates.texts], np.uint8)
    values = spread_out(margin, np.nan, rates.codes)
    in_words = ~np.isnan(values)
    marks = np.zeros(len(values), np.uint8) if numbers.marks is None else numbers.marks.copy()
    marks[in_words] = spread_out(mark, 0, rates.codes)[in_words]
    values = np.where(in_words, values, numbers.values)
    without = rates.is_fixed() | rates.unclear
    values[without], marks[without] = np.nan, 0
    unreadable = numbers.unreadable + int(np.count_nonzero(rates.unclear))
    swapped = numbers.swapped
    if swapped is not None:
        swapped = np.where(in_words | without, values, swapped)
    return Numbers(values, marks if marks.any() else None, unreadable, swapped)


def states_spreads(cells: Cells) -> bool:
    """Return whether at least half of a column's texts state index and margin."""
    if not cells.seen & bit(TEXT):
        return False
    _, used = _parse.distinct(cells.codes, len(cells.pool.text))
    strings = string_pool.decode(cells.pool.text, used[~cells.pool.null[used]][:SAMPLE])
    count = sum((rate := rate_cell(text)) is not None and bool(rate.index) for text in strings)
    return count > 0 and count >= RATE_SHARE_MIN * len(strings)
