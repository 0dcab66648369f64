"""Weigh a sample of a column's cells: for which roles it speaks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Column
from core.grid.sheet import Sheet
from core.portfolio.cells import category_cells, string_pool, text_cells
from core.portfolio.cells.flags import FLAG_DENIALS, FLAG_WORDS
from core.portfolio.cells.identifiers import is_sound
from core.portfolio.cells.rate_cells import rate_cell
from core.portfolio.cells.string_pool import BLANK, BOOLEAN, DATE, NUMBER, TEXT, decode, key
from core.portfolio.cells.text.dates import month_of_name
from core.portfolio.model import ratings
from core.portfolio.model.fields import COUNTRIES, Lien

ROWS_MAX: Final = 240
"""Rows below a header that are looked at."""

TEXTS_MAX: Final = 80
"""Distinct texts of a column that are looked at."""

TEXT_LENGTH_MAX: Final = 120
"""Characters of a text that are looked at."""

MEMORY_MAX: Final = 16_384
"""Texts whose marks are remembered."""

FILLED_FULL: Final = 12
"""Filled cells from which evidence counts in full; of fewer it shrinks."""

AMOUNT_MIN: Final = 2_000.0
"""Middle figure from which a column has amounts of currency, and no prices or rates."""

MOST: Final = 0.6
"""Share of a column's cells from which they are what they seem to be."""
NEARLY_ALL: Final = 0.9

WRONG_TYPE: Final = -6.0
"""What cells of another type count against a role."""

WORD_OF_MARK: Final = {
    "cusip": "CUSIPs", "isin": "ISINs", "loanx": "LoanX numbers", "moodys": "ratings of Moody's scale",
    "letters": "ratings", "figures": "figures", "date": "dates", "currency": "currencies", "country": "countries",
    "flag": "yes or no", "legal": "names with a legal form", "facility": "names of facilities", "lien": "liens",
    "type": "kinds of assets", "index": "reference rates", "coupon": "fixed or floating", "frequency": "periods",
    "industry": "industries", "industry_b": "industries of S&P's list", "code": "identifiers", "watch": "watches",
    "rate": "rates with an index", "default": "performing or defaulted",
    "covenant": "covenant-lite or with covenants", "status": "P or D",
}  # fmt: skip
"""What a reader is shown for a mark."""

_LEGAL: Final = re.compile(
    r"\b(?:inc|llc|l\.?l\.?c|ltd|limited|lp|l\.p|corp|corporation|company|co|plc|gmbh|ag|sa|s\.a|sas|sarl|s[aà]\s?r\.?l|bv"
    r"|b\.v|nv|n\.v|spa|s\.p\.a|ab|as|a/s|oy|holdings?|holdco|bidco|midco|topco|finco|group|parent|borrower|acquisition"
    r"|acquiror|merger sub|intermediate|partners|international|kg|se|srl|s\.r\.l|slu|s\.l|pty|ulc|lux|luxembourg|kgaa"
    r"|purchaser|buyer|finance|financing|investments?|enterprises|industries|technologies|solutions|services|global"
    r"|capital|systems)\b\.?",
    re.IGNORECASE,
)
_FACILITY: Final = re.compile(
    r"\b(?:term loans?|term facility|t/?l[abcd]?\d?|tl-?[abcd]|revolv(?:er|ing)|rcf|delayed draw|ddtl|dd ?tl|facility"
    r"|(?:first|1st|second|2nd) lien|incremental|tranche [a-z]\d?|senior (?:secured )?notes?|frn|notes? due"
    r"|\d\d? ?notes|bonds?|b-?\d (?:term )?loan|\d{4} (?:refi|reprice|dollar|euro)|unitranche"
    r"|acquisition facility|capex|last out|first out|bridge loan|dip (?:term )?loan|mezzanine loan)\b",
    re.IGNORECASE,
)
_TYPE: Final = re.compile(
    r"(?:(?:term|revolving|senior|secured|unsecured|leveraged|bank|syndicated|floating|fixed|rate|high|yield|corporate"
    r"|delayed|draw|funded|first|second|lien|mezzanine|bridge|unitranche|1st|2nd|subordinated|collateral|private)"
    r"[ -/]?)*"
    r"(?:loans?|bonds?|notes?|revolvers?|facility|security|obligations?|frn|equity|warrants?|stock|debt|securities)"
    r"(?: [ab]\d?)?",
    re.IGNORECASE,
)
_KIND: Final = re.compile(
    r"loan|bond|note|term|revolv|delay|facilit|equit|warrant|lien|secur|fix|float|rcf|\btl|ddtl|frn|stock|debt|share|senior"
    r"|mezz|junior|bridge|obligation|credit|deposit",
    re.IGNORECASE,
)
_LIEN: Final = re.compile(
    r"(?:senior )?(?:secured |unsecured )?(?:first|second|third|1st|2nd|3rd)[ -]lien|(?:senior |junior )?(?:un)?secured"
    r"|(?:senior )?subordinated|mezzanine|senior|junior|1l|2l",
    re.IGNORECASE,
)
"""A lien and nothing of a facility."""
_INDEX: Final = re.compile(
    r"\b(?:libor|sofr|euribor|sonia|cdor|corra|bbsy|prime|estr|tibor|nibor|stibor|cibor|wibor)\b"
)
_PERIOD: Final = re.compile(
    r"(?:semi ?-?annual(?:ly)?|annual(?:ly)?|quarterly|quarter|monthly|bi ?-?monthly|weekly|yearly"
    r"|\d{1,2} ?m(?:onths?)?|every \w+ months?|half ?-?yearly)",
    re.IGNORECASE,
)
_LOANX: Final = re.compile(r"LX\d{6}")
_CODE: Final = re.compile(r"(?=[A-Za-z0-9-]*\d)[A-Za-z0-9][A-Za-z0-9-]{2,19}")
_RATING: Final = re.compile(
    r"(?:\(p\))?(?:aaa|aa[+-]?|a[+-]?|bbb[+-]?|bb[+-]?|b[+-]?|ccc[+-]?|cc|c|d|sd|rd|nr|wr|aa[123]|a[123]|baa[123]|ba[123]"
    r"|b[123]|caa[123]|caa|ca)(?:sf|u|e|p)?[ *+-]*",
    re.IGNORECASE,
)
_MOODYS: Final = re.compile(r"(?:\(p\))?(?:aaa|aa[123]|a[123]|baa[123]|ba[123]|b[123]|caa[123]|ca)\b", re.IGNORECASE)
_WATCH: Final = re.compile(
    r"(?:possible )?(?:up|down)grade|\*[+-]|(?:rating )?watch.*|(?:positive|negative|stable|developing)(?: outlook)?",
    re.IGNORECASE,
)
_FIGURE: Final = re.compile(
    r"[(+-]?\s*[$€£]?\s*[(+-]?\d[\d,.' \u00a0\u2000-\u200b\u202f\u2019]*(?:%|bps|x)?\s*\)?-?%?", re.IGNORECASE
)
"""Its thousands may be parted by any space that parsing reads, or by a straight or curly apostrophe."""
_DATE: Final = re.compile(
    r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}[/.-]\d{1,2}[/.-]\d{1,2}(?:[ T].*)?"
    r"|\d{1,2}[ -]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ ,-]*\d{2,4}"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?[ -]*(?:\d{1,2},? ?)?(?:'?\d{2}|\d{4})",
    re.IGNORECASE,
)
_DEFAULT_WORDS: Final = (FLAG_WORDS["is_defaulted"] | FLAG_DENIALS["is_defaulted"] | {"not in default"}) - {"d", "p"}
_COVENANT_WORDS: Final = FLAG_WORDS["cov_lite"] | FLAG_DENIALS["cov_lite"]
_FLAGS: Final = frozenset(("y", "n", "yes", "no", "true", "false", "x", "t", "f"))
_COUPONS: Final = frozenset(("fixed", "floating", "float", "fix", "fixed rate", "floating rate", "variable", "flt"))
_COUNTRY_CODES: Final = frozenset(code.lower() for code in COUNTRIES)
_CURRENCIES: Final = frozenset(
    ("usd", "eur", "gbp", "chf", "jpy", "cad", "aud", "sek", "nok", "dkk", "pln", "czk", "huf", "sgd", "nzd", "hkd")
)
_INDUSTRY_WORDS: Final = re.compile(
    r"\b(?:software|healthcare|health care|services|chemicals?|retail|media|telecom\w*|insurance|banking|finance"
    r"|capital (?:equipment|goods|markets)|aerospace|defen[cs]e|automotive|auto|beverage|food|tobacco|construction"
    r"|building|energy|oil|gas|utilities|transportation|hotel|gaming|leisure|high tech|technology|industries"
    r"|packaging|metals|mining"
    r"|pharma\w*|electronics|consumer|diversified|real estate|machinery|airlines?|equipment|products|paper|forest"
    r"|textiles|durable|environmental|education|entertainment|broadcasting|publishing|distribut\w+|wholesale|commercial)\b",
    re.IGNORECASE,
)
_S_AND_P: Final = re.compile(
    r"health ?care (?:equipment|providers|technology)|life sciences|capital markets|food products"
    r"|(?:it|professional|diversified telecommunication|commercial|diversified consumer) services"
    r"|hotels,? restaurants|trading companies|specialty retail|construction & engineering|auto components"
    r"|containers & packaging",
    re.IGNORECASE,
)


@lru_cache(maxsize=MEMORY_MAX)
def marks(text: str) -> frozenset[str]:
    """Return what a text of a cell could be, as words of `WORD_OF_MARK`."""
    text = text.strip()
    if not text or len(text) > TEXT_LENGTH_MAX:
        return frozenset(("long",) if text else ())
    words, lower = key(text), text.lower()
    names: set[str] = set(_marks_of_codes(text))
    simple = (
        ("figures", _FIGURE), ("date", _DATE), ("letters", _RATING), ("frequency", _PERIOD), ("watch", _WATCH),
        ("lien alone", _LIEN),
        ("type", _TYPE),
    )  # fmt: skip
    names |= {mark for mark, pattern in simple if pattern.fullmatch(text)}
    within = (
        ("kind", _KIND),
        ("legal", _LEGAL),
        ("facility", _FACILITY),
        ("industry", _INDUSTRY_WORDS),
        ("industry_b", _S_AND_P),
    )
    names |= {mark for mark, pattern in within if pattern.search(text)}
    if "letters" in names and _MOODYS.match(text) and any(map(str.isdigit, text)):
        names.add("moodys")
    rate, is_flag = rate_cell(text), lower in _FLAGS or words in _FLAGS
    by_words = (
        ("index", _INDEX.search(words) or category_cells.base_rate(text) == "PRIME"),
        ("flag", is_flag),
        ("default", words in _DEFAULT_WORDS),
        ("covenant", words in _COVENANT_WORDS),
        ("status", words in ("p", "d")),
        ("coupon", words in _COUPONS),
        ("currency", lower in _CURRENCIES or category_cells.currency(text).lower() in _CURRENCIES),
        ("country", not is_flag and (category_cells.country(text) != text or lower in _COUNTRY_CODES)),
        ("rate", rate is not None and (rate.index or rate.is_pik)),
        ("lien", category_cells.lien(text) not in (Lien.OTHER, Lien.BLANK)),
        ("letters", ratings.is_masked(text)),
        ("words", " " in words),
    )
    return frozenset(names.union(mark for mark, is_so in by_words if is_so))


def _marks_of_codes(text: str) -> list[str]:
    bare = text_cells.letters_and_digits(text)
    names = []
    if is_sound("cusip", bare):
        names.append("cusip")
    if is_sound("isin", bare):
        names.append("isin")
    if _LOANX.fullmatch(bare):
        names.append("loanx")
    if _CODE.fullmatch(text) and any(map(str.isdigit, text)):
        names.append("code")
    return names


@dataclass(slots=True)
class Features:
    """What a sample of a column's cells is."""

    filled: int = 0
    """Cells with something in them."""
    rows: int = 0
    """Rows looked at."""
    number: float = 0.0
    date: float = 0.0
    text: float = 0.0
    boolean: float = 0.0
    """Shares of the filled cells by kind; a text that reads like a figure or a date counts as one."""
    distinct: float = 0.0
    """Distinct values among the filled cells."""
    shares: dict[str, float] = field(default_factory=dict)
    """Mark -> its share of the distinct texts."""
    numbers: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The figures, NaN where a row has none; one for each row looked at."""
    days: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The dates as serials, NaN where a row has none; of texts to the month only."""
    codes: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """The texts, -1 where a row has none."""

    _sizes: NDArray[np.float64] | None = None
    _middle: float | None = None
    _is_binary: bool | None = None

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Return the figures that are there and not 0, without their signs."""
        if self._sizes is None:
            values = np.abs(self.numbers)
            self._sizes = values[values > 0]
        return self._sizes

    @property
    def middle(self) -> float:
        """Return the middle one of these sizes."""
        if self._middle is None:
            self._middle = float(np.median(self.sizes))
        return self._middle

    @property
    def is_binary(self) -> bool:
        """Return whether all figures are 0 or 1, some of them 1, in rows enough."""
        if self._is_binary is None:
            self._is_binary = self._looks_binary()
        return self._is_binary

    def _looks_binary(self) -> bool:
        if self.filled < FILLED_FULL or self.number < NEARLY_ALL:
            return False
        values = self.numbers[~np.isnan(self.numbers)]
        return bool(((values == 0) | (values == 1)).all() and (values == 1).any())

    @property
    def strength(self) -> float:
        """Return what evidence counts: in full from `FILLED_FULL` cells on."""
        return min(1.0, math.sqrt(self.filled / FILLED_FULL))

    def share(self, mark: str) -> float:
        """Return the share of the distinct texts that have a mark."""
        return self.shares.get(mark, 0.0)


def features(sheet: Sheet, column: Column | None, first: int, last: int) -> Features:
    """Look at a column's cells in rows `first` to `last - 1`, `ROWS_MAX` at most."""
    last = min(last, first + ROWS_MAX)
    rows = max(0, last - first)
    result = Features(rows=rows, numbers=np.full(rows, np.nan), days=np.full(rows, np.nan))
    result.codes = np.full(rows, -1, np.int32)
    if column is None or column.stop <= first or column.start >= last:
        return result
    low = max(first, column.start)
    part = column.span(low, min(last, column.stop))
    kinds = part.kinds
    counts = _Counts(kinds)
    result.filled = filled = counts.filled
    if not filled:
        return result
    at = slice(low - first, low - first + len(kinds))
    is_number, is_text = kinds == NUMBER, kinds == TEXT
    result.numbers[at] = np.where(is_number, part.numbers, np.nan)
    result.days[at] = np.where(kinds == DATE, part.numbers, np.nan)
    result.codes[at] = part.codes
    texts, blank = _texts(sheet, part.codes[is_text]) if counts.of(TEXT) else ({}, [])
    if blank:
        is_text &= ~np.isin(part.codes, blank)
        result.filled = filled = int(np.count_nonzero((kinds != 0) & ((kinds != TEXT) | is_text)))
        if not filled:
            return result
    marked = {code: marks(text) for code, text in texts.items()}
    as_figures, as_dates = _as_values(part.codes, result.numbers[at], result.days[at], texts, marked)
    result.number = (counts.of(NUMBER) + as_figures) / filled
    result.date = (counts.of(DATE) + as_dates) / filled
    result.boolean = counts.of(BOOLEAN) / filled
    result.text = (int(np.count_nonzero(is_text)) - as_figures - as_dates) / filled
    values = len(texts) + len(set(part.numbers[~is_text & (kinds != 0)].tolist()))
    result.distinct = min(1.0, values / filled)
    if texts:
        tally = Counter(chain.from_iterable(marked.values()))
        result.shares = {mark: count / len(texts) for mark, count in tally.items()}
    return result


class _Counts:
    """How many cells are of which kind."""

    __slots__ = ("_kinds", "filled")

    def __init__(self, kinds: NDArray[np.uint8]) -> None:
        self._kinds = kinds.tobytes()
        self.filled = len(self._kinds) - self._kinds.count(BLANK)

    def of(self, kind: int) -> int:
        """Count the cells of one kind."""
        return self._kinds.count(kind)


def _texts(sheet: Sheet, codes: NDArray[np.int32]) -> tuple[dict[int, str], list[int]]:
    """Return a column's first distinct texts by code, and codes that say nothing."""
    distinct = np.array(sorted(set(codes.tolist()))[:TEXTS_MAX], np.int64)
    texts = dict(zip(distinct.tolist(), decode(sheet.text, distinct), strict=True))
    blank = [code for code, text in texts.items() if text.strip().upper() in string_pool.NULL_WORDS]
    return {code: text for code, text in texts.items() if code not in blank}, blank


def _as_values(
    codes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    days: NDArray[np.float64],
    texts: dict[int, str],
    marked: dict[int, frozenset[str]],
) -> tuple[int, int]:
    """Count texts that read like figures, and dates; add the figures' values."""
    figures = dates = 0
    for code, has in marked.items():
        if "date" in has and "figures" not in has:
            rows = codes == code
            dates += int(np.count_nonzero(rows))
            days[rows] = day_of(texts[code])
        elif "figures" in has:
            rows = codes == code
            figures += int(np.count_nonzero(rows))
            numbers[rows] = _figure(texts[code])
    return figures, dates


_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_MONTH: Final = re.compile("jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_SHORT_YEAR: Final = re.compile(r"(\d\d)\s*$")
_DAYS_OF_YEAR: Final = 365.25
_MIDDLE: Final = 182.0


@lru_cache(maxsize=MEMORY_MAX)
def day_of(text: str) -> float:
    """Return the serial of a text's date to month or year; NaN without a year."""
    year = _YEAR.search(text)
    short = None if year else _SHORT_YEAR.search(text)
    if year is None and short is None:
        return float("nan")
    count = int(year[0]) - 1900 if year else 100 + int(short[1]) if short else 0
    month = _MONTH.search(text)
    within = _MIDDLE if month is None else (month_of_name(month[0]) - 1) * _DAYS_OF_YEAR / 12
    return count * _DAYS_OF_YEAR + within


def day_in(text: str) -> float | None:
    """Return the day in a line above a table; None without a year in full."""
    return day_of(text[:TEXT_LENGTH_MAX]) if _YEAR.search(text[:TEXT_LENGTH_MAX]) and _DAY_IN.search(text) else None


_DAY_IN: Final = re.compile(r"\bdate\b|\bas (?:of|at)\b|\bperiod\b|\breport\b|\bended\b", re.IGNORECASE)
"""Words of a line that states the day of a report."""


def _figure(text: str) -> float:
    """Return a rough value of a text that reads like a figure: for its size only."""
    digits = re.sub(r"[^\d.,]", "", text)
    cut = max(digits.rfind("."), digits.rfind(","))
    if cut >= 0 and (len(digits) - cut - 1 != 3 or (digits.count(digits[cut]) == 1 and len(digits) - cut - 1 != 3)):
        digits = re.sub(r"[.,]", "", digits[:cut]) + "." + digits[cut + 1 :]
    else:
        digits = re.sub(r"[.,]", "", digits)
    try:
        value = float(digits)
    except ValueError:
        return float("nan")
    return -value if text.strip().startswith(("(", "-")) else value


# ---- roles ---------------------------------------------------------------------------------------------------------

_AMOUNTS: Final = frozenset(
    ("par_value", "par_original", "par_settled", "commitment", "unfunded", "facility_size", "market_value",
     "cost_amount", "x_amount")
)  # fmt: skip
_RATES: Final = frozenset(
    ("spread", "floor", "all_in_rate", "base_rate_level", "pik_margin", "recovery_a", "recovery_b", "recovery_c")
)
FLAG_ROLES: Final = ("is_", "cov_lite", "has_covenants")
"""How roles of yes or no begin."""
_PRICES: Final = frozenset(("price", "purchase_price"))
_NUMBERS: Final = _AMOUNTS | _RATES | _PRICES | {"average_life", "quote_depth", "days_past_due", "fx_rate", "x_count",
                                                 "x_pct", "x_ratio", "rating_factor_a"}  # fmt: skip
_DATES: Final = frozenset(("maturity_date", "default_date", "as_of", "x_date"))
_TEXTS: Final = frozenset(
    ("borrower_name", "facility_name", "description", "country", "currency", "lien_type", "asset_type", "base_rate",
     "coupon_type", "industry_a", "industry_b", "industry_c", "payment_frequency")
)  # fmt: skip
_IDS: Final = frozenset(("cusip", "isin", "loanx_id", "asset_id", "issuer_id", "x_key"))

_BY_MARK: Final = (
    ("cusip", MOST, 8.0, ("cusip",)), ("isin", MOST, 8.0, ("isin",)), ("loanx", MOST, 8.0, ("loanx_id",)),
    ("cusip", MOST, 2.0, ("asset_id",)), ("isin", MOST, 2.0, ("asset_id",)), ("loanx", MOST, 2.0, ("asset_id",)),
    ("currency", MOST, 5.0, ("currency",)), ("country", MOST, 5.0, ("country",)), ("index", MOST, 5.0, ("base_rate",)),
    ("coupon", MOST, 5.0, ("coupon_type",)), ("frequency", MOST, 4.0, ("payment_frequency",)),
    ("lien", MOST, 4.0, ("lien_type",)), ("type", MOST, 3.0, ("asset_type",)), ("legal", 0.35, 5.0, ("borrower_name",)),
    ("facility", MOST, 4.5, ("facility_name",)), ("facility", MOST, 4.0, ("description",)),
    ("industry", MOST, 3.5, ("industry_a", "industry_b", "industry_c")), ("industry_b", 0.15, 1.2, ("industry_b",)),
    ("flag", NEARLY_ALL, 2.2, ("is_*", "cov_lite", "has_covenants", "participation", "x_flag")),
    ("default", MOST, 4.0, ("is_defaulted", "is_performing")), ("status", NEARLY_ALL, 4.0, ("is_defaulted",)),
    ("covenant", MOST, 4.0, ("cov_lite", "has_covenants")),
    ("rate", 0.5, 5.0, ("spread",)), ("rate", 0.5, -3.0, ("all_in_rate", "base_rate", "base_rate_level")),
    ("watch", MOST, 3.0, ("watch_a", "watch_b", "watch_c")),
)  # fmt: skip
"""Mark, least share, weight, roles that gain it."""


@cache
def _marks_of(role: str) -> tuple[tuple[str, float, float], ...]:
    """Mark, least share and weight of those that speak for or against a role."""
    own = {role, "is_*"} if role.startswith("is_") else {role}
    return tuple((mark, least, weight) for mark, least, weight, roles in _BY_MARK if not own.isdisjoint(roles))


def is_flag(role: str) -> bool:
    """Return whether a role is a field of yes or no."""
    return role.startswith(FLAG_ROLES)


def has_own_words(role: str, features: Features) -> bool:
    """Return whether cells say a flag by its own words, not by yes and no."""
    return any(features.share(mark) >= least for mark, least, _ in _marks_of(role) if mark != "flag")


def evidence(role: str, features: Features) -> tuple[float, str]:
    """Return the weight of a column's cells for a role, and why; (0, "") for none."""
    if not features.filled:
        return 0.0, ""
    wrong = _wrong_type(role, features)
    if wrong:
        return WRONG_TYPE * features.strength, wrong
    gained, reason = 0.0, ""
    for mark, least, weight in _marks_of(role) if features.shares else ():
        if features.share(mark) >= least:
            gained, reason = gained + weight, f"{features.share(mark):.0%} of its texts are {WORD_OF_MARK[mark]}"
    if role.startswith("rating") and not role.startswith("rating_factor"):
        gained, reason = _rating(role, features)
    elif role in _IDS and not gained:
        gained, reason = _identifier(role, features)
    elif not gained and (role in _NUMBERS or role in _DATES):
        gained, reason = _value(role, features)
    return gained * features.strength, reason


def _wrong_type(role: str, features: Features) -> str:
    """Return why the cells cannot be those of a role; "" where they can."""
    return next((reason for is_wrong, reason in _wrong_types_of(role) if is_wrong(features)), "")


def _are_day_numbers(features: Features) -> bool:
    """Return whether figures are days written as 20180531 or as serial numbers."""
    sizes = features.sizes
    if not len(sizes) or features.number < 0.5:
        return False
    return bool(((sizes > 19_900_000) & (sizes < 21_000_000)).all() or ((sizes > 30_000) & (sizes < 80_000)).all())


def _are_no_figures(features: Features) -> bool:
    return (features.date > 0.5 or features.number < 0.3) and features.text + features.date > 0.3


def _are_figures(features: Features) -> bool:
    return features.number > 0.5 and len(features.sizes) > 0 and not features.is_binary


def _are_no_kinds(features: Features) -> bool:
    return features.text > 0.5 and features.filled >= FILLED_FULL and not features.share("kind")


def _are_no_flags(features: Features) -> bool:
    return features.text > 0.5 and max(features.share("flag"), features.share("covenant")) < 0.5


_QUOTED: Final = ("price", "purchase_price", "market_value")

WHOLES: Final = (1.0, 100.0, 2.0, 200.0)
"""What shares add up to, without a total and with it."""

SHARES_MIN: Final = 5
SHARE_MAX: Final = 0.2
SUM_TOLERANCE: Final = 0.003
"""Figures that may be shares, the middle one of them, and how far their sum may be from the whole, as a share of it."""

SHARE_ROWS_MAX: Final = 5_000
"""Rows of a column up to which these are looked for."""

SPREAD_MIN: Final = 0.3
"""Deviation of shares over their mean, which that of prices does not reach."""


def are_shares(figures: NDArray[np.float64]) -> bool:
    """Return whether small figures add up to 100 percent, as shares of a pool do.

    Prices as fractions lie near each other, as shares do not.
    """
    known = figures[np.isfinite(figures)]
    if len(known) < SHARES_MIN or (known < 0).any() or float(known.std()) < SPREAD_MIN * float(known.mean()):
        return False
    total = float(known.sum())
    whole = next((whole for whole in WHOLES if abs(total - whole) <= SUM_TOLERANCE * whole), 0.0)
    return whole > 0 and float(np.median(known)) <= SHARE_MAX * (1.0 if whole <= 2.0 else 100.0)


_WRONG_TYPES: Final[tuple[tuple[Callable[[str], bool], Callable[[Features], bool], str], ...]] = (
    (_DATES.__contains__, lambda cells: cells.date < 0.5 and not _are_day_numbers(cells), "its cells are no dates"),
    ("spread".__eq__, lambda cells: _are_no_figures(cells) and cells.share("rate") > 0.3, ""),
    (_NUMBERS.__contains__, _are_no_figures, "its cells are no figures"),
    (_NUMBERS.__contains__, lambda cells: cells.is_binary, "its cells are 0 or 1"),
    (
        _TEXTS.__contains__,
        lambda cells: cells.text + cells.boolean < 0.3 and cells.number + cells.date > 0.5,
        "its cells are no words",
    ),
    (
        "country".__eq__,
        lambda cells: cells.text > 0.5 and cells.share("country") < 0.2,
        f"its cells are no {WORD_OF_MARK['country']}",
    ),
    (
        "currency".__eq__,
        lambda cells: cells.text > 0.5 and cells.share("currency") < 0.2,
        f"its cells are no {WORD_OF_MARK['currency']}",
    ),
    (
        lambda role: role.startswith("rating") and not role.startswith("rating_factor"),
        lambda cells: cells.share("letters") < 0.3,
        "its cells are no ratings",
    ),
    (("cusip", "isin", "loanx_id").__contains__, lambda cells: cells.date > 0.5, "its cells are dates"),
    (is_flag, _are_figures, "its cells are figures"),
    (_QUOTED.__contains__, lambda cells: are_shares(cells.numbers), "its figures are shares of their sum"),
    ("has_covenants".__eq__, _are_no_flags, "its cells say neither yes nor no"),
    ("asset_type".__eq__, _are_no_kinds, "its cells are no kinds of assets"),
    ("facility_name".__eq__, lambda cells: cells.share("lien alone") >= MOST, "its cells are liens"),
    ("borrower_name".__eq__, lambda cells: cells.share("code") > MOST, "its cells are codes"),
)
"""Which roles, which cells cannot be theirs, and why; the first one that holds counts, "" for cells that may."""


@cache
def _wrong_types_of(role: str) -> list[tuple[Callable[[Features], bool], str]]:
    return [(is_wrong, reason) for is_about, is_wrong, reason in _WRONG_TYPES if is_about(role)]


def _rating(role: str, features: Features) -> tuple[float, str]:
    share = features.share("letters")
    if share < MOST:
        return 0.0, ""
    has_scale = features.share("moodys") > 0.3
    is_moodys = role.endswith("_a")
    if role == "rating":
        return 3.5, "its cells are ratings"
    if is_moodys != has_scale:
        return WRONG_TYPE, "its ratings are of another agency's scale"
    return 5.0, f"{share:.0%} of its texts are ratings"


def _identifier(role: str, features: Features) -> tuple[float, str]:
    if (
        features.number >= NEARLY_ALL
        and len(features.sizes)
        and float(features.sizes.max()) <= COUNT_SPAN * features.filled
    ):
        return COUNTS, "its cells count the rows"
    if role in ("asset_id", "issuer_id", "x_key") and features.share("code") >= MOST:
        return (2.5 if features.distinct > NEARLY_ALL else 0.5), "its cells are codes"
    if role in ("cusip", "isin", "loanx_id") and features.share("words") > 0.5:
        return WRONG_TYPE, "its cells are words"
    return 0.0, ""


def _counts(sizes: NDArray[np.float64]) -> bool:
    """Return whether figures are as many whole numbers up to about their count."""
    is_whole = len(sizes) >= COUNTED_MIN and not np.mod(sizes, 1).any()
    return is_whole and len(np.unique(sizes)) == len(sizes) and float(sizes.max()) <= COUNT_SPAN * len(sizes)


def _value(role: str, features: Features) -> tuple[float, str]:
    """Return evidence of the sizes of figures and days."""
    if role in _DATES:
        return (1.5 if role != "x_date" and features.distinct > 0.1 else 0.5), "its cells are dates"
    sizes = features.sizes
    if not len(sizes):
        return 0.0, ""
    middle = features.middle
    if role in _AMOUNTS:
        if middle >= AMOUNT_MIN:
            return 2.0, f"its middle figure is {middle:,.0f}"
        return (COUNTS, "its cells count the rows") if _counts(sizes) else (SMALL, "its figures are small")
    if middle >= AMOUNT_MIN:
        return -5.0, "its figures are amounts"
    if role in _PRICES:
        near = float(np.mean(((sizes >= 20) & (sizes <= 125)) | ((sizes >= 0.2) & (sizes <= 1.25))))
        several = len(np.unique(sizes)) > 2 or len(sizes) < FILLED_FULL
        is_price = near > 0.8 and middle > 0.5 and several
        return (3.0, "its figures are prices") if is_price else (-3.0, "its figures are no prices")
    return _rate(role, sizes, middle)


def _rate(role: str, sizes: NDArray[np.float64], middle: float) -> tuple[float, str]:
    """Weigh rates by their size in percent and by steps of 12.5 basis points."""
    percent = sizes * (100.0 if middle < 0.25 else 1.0) / (100.0 if middle >= 25 else 1.0)
    steps = percent / 0.125
    on_steps = float(np.mean(np.abs(steps - np.round(steps)) < 1e-6))
    usual = float(np.median(percent))
    if role == "spread":
        if not 1 <= usual <= 12:
            return 0.0, ""
        return (
            (2.5, "its figures are spreads on steps of 12.5 bps") if on_steps > 0.7 else (0.8, "its figures are rates")
        )
    if role == "floor":
        return (2.0, "its figures are floors") if on_steps > 0.7 and usual <= 2 else (-1.0, "")
    if role == "all_in_rate":
        return (1.5, "its figures are rates") if 2 <= usual <= 20 else (-1.0, "")
    if role == "base_rate_level":
        few = len(np.unique(sizes)) <= max(4, len(sizes) // 8)
        return (2.0, "few rates come again") if few and usual <= 8 else (0.0, "")
    if role.startswith("recovery"):
        return (1.0, "its figures are shares") if sizes.max() <= 100 else (-4.0, "its figures are no shares")
    return 0.0, ""


TYPE_ROWS: Final = 64
"""Rows whose kinds tell that cells are of another type."""


def is_of_other_type(column: Column | None, first: int, role: str) -> bool:
    """Return whether the first cells are plainly of another type than the role's."""
    is_flag_role = is_flag(role)
    if column is None or not (is_flag_role or role in _DATES or role in _NUMBERS or role in _TEXTS):
        return False
    low = max(0, first - column.start)
    if role in _QUOTED and _has_shares(column, low):
        return True
    kinds = column.kinds[low : low + TYPE_ROWS]
    counts = _Counts(kinds)
    filled = counts.filled
    if filled < ROWS_FOR_TYPE:
        return False
    if role in _NUMBERS:
        is_days = role not in _AMOUNTS and _are_dates_as_figures(column.numbers[low : low + TYPE_ROWS][kinds == NUMBER])
        return is_days or counts.of(DATE) > 0.8 * filled
    if role == "lien_type" and counts.of(NUMBER) > NEARLY_ALL * filled:
        return len(np.unique(column.numbers[low : low + TYPE_ROWS][kinds == NUMBER])) > LIENS_MAX
    if is_flag_role:
        figures = column.numbers[low : low + TYPE_ROWS][kinds == NUMBER]
        return 2 * len(figures) > filled and bool(((figures != 0) & (figures != 1)).any())
    if role in _TEXTS:
        return counts.of(DATE) > 0.8 * filled or (role not in _CODED and counts.of(NUMBER) > NEARLY_ALL * filled)
    return False


def _has_shares(column: Column, low: int) -> bool:
    is_short = len(column.kinds) <= SHARE_ROWS_MAX
    return is_short and are_shares(column.numbers[low:][column.kinds[low:] == NUMBER])


def _are_dates_as_figures(figures: NDArray[np.float64]) -> bool:
    """Return whether figures are days written as 20180531."""
    return len(figures) >= ROWS_FOR_TYPE and bool(((figures > 19_000_000) & (figures < 21_000_000)).all())


LIENS_MAX: Final = 5
"""Distinct numbers that can be places in a capital structure."""

COUNTS: Final = -4.0
"""What cells that count the rows weigh against an identifier or an amount."""

COUNTED_MIN: Final = 5
"""Figures from which they may count the rows."""

SMALL: Final = -0.5
"""What small figures weigh against an amount: a page may print thousands or millions."""

COUNT_SPAN: Final = 2
"""Times the number of rows up to which figures count them."""

ROWS_FOR_ROLE: Final = 5
"""Filled cells of a column without a known heading from which they can tell its role."""

ROWS_FOR_TYPE: Final = 3
"""Filled cells that tell a column's type."""

_CODED: Final = frozenset(("industry_a", "industry_b", "industry_c", "base_rate", "coupon_type", "payment_frequency",
                           "facility_name", "description", "lien_type"))  # fmt: skip
"""Texts that may be written as numbers: codes, levels, flags, months."""
