"""Words that make rows totals, footers, page headings, or cash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.grid.column import Text
from core.portfolio.cells import _parse
from core.portfolio.cells.string_pool import Cells, key

_STATISTIC: Final = r"totals?|tot|ttl|sums?|averages?|avg|wavg|wa|mean|median"
_OF_POOL: Final = (
    r"grand|sub|page|report|portfolio|overall|pool|fund|net|weighted|wtd|count|collateral|assets?|loans?|par|principal"
    r"|balances?|and|performing|aggregate"
)
BARE: Final = re.compile(
    r"\s*(?:(?:grand|sub|page|report|portfolio|overall)[\s-]*)?totals?\s*[:.]?\s*"
    r"|\s*(?:count|aggregate|weighted|notes?)\s*:?\s*"
    rf"|\W{{0,9}}(?=.*\b(?:{_STATISTIC})\b)(?:(?:{_STATISTIC}|{_OF_POOL})\b[\W_]{{0,9}})+"
    r"|\s*(?:(?:(?:gesamt|zwischen|end|teil)-?)?summe|(?:ins)?gesamt|somme|sous[\s-]?total|(?:sub)?tota(?:le|les|li|al)"
    r"|total(?:e)? (?:g[eé]n[eé]ra(?:l|le)|generale?)|suma|somma|totaal|subtotaal)\s*[:.]?\s*",
    re.IGNORECASE,
)
MARKER: Final = re.compile(
    r"\s*(?:(?:grand |sub[\s-]?)?\s*total|sum\b|count\b|average|avg\b|weighted|wtd\b|footnote|note[s:]|\*|source|©"
    r"|(?:(?:gesamt|zwischen|end|teil)-?)?summe\b|(?:ins)?gesamt\b|somme\b|sous[\s-]?total|suma\b|somma\b|(?:sub)?totaal\b)"
    r"|.*\btotals?\s*:?\s*$",
    re.IGNORECASE | re.DOTALL,
)
TOTAL: Final = re.compile(r".*\b(?:sub[\s-]?)?totals?\b", re.IGNORECASE | re.DOTALL)
PAGE_TOTAL: Final = re.compile(
    r"\s*(?:page\b.*\btotals?\b|(?:sub[\s-]?)?totals?\b.*\bpage\b)", re.IGNORECASE | re.DOTALL
)
"""A total of a group, and of a page."""

STATISTIC: Final = re.compile(
    r"\W{0,9}(?:max(?:imum)?|min(?:imum)?|mean|median|(?:simple |wtd\.? |weighted )?(?:average|avg)|weighted|wa|wavg)"
    r"\W{0,9}",
    re.IGNORECASE,
)
SUMMARY: Final = re.compile(
    rf"{STATISTIC.pattern}|\W{{0,9}}(?:(?:entire |whole |overall )?(?:portfolio|pool|deal|fund))\W{{0,9}}",
    re.IGNORECASE,
)
"""A statistic of the loans, and this or the whole of them: no loan has such an identifier."""

RULED: Final = re.compile(r"[\s=_.*+|~\u2010-\u2015\u2500-\u257f-]{2,}")
"""A line drawn with signs, as under a header or above a total."""

SEVERAL_WORDS: Final = re.compile(r"\s*\S+\s+\S.*", re.DOTALL)
"""What an identifier never is: several words."""

FOOTER: Final = re.compile(r"\s*(?:©|\(c\) ?\d|copyright\b|page \d+)", re.IGNORECASE)
PAGE: Final = re.compile(r".*\bpage \d+(?: (?:of|/) \d+)?\s*", re.IGNORECASE | re.DOTALL)
"""A page's number, at the end of its footer."""

POOL_TITLE: Final = re.compile(
    r".*\b(?:loans?|bonds?|notes?|obligations|securities|assets|collateral|continued|cont'?d)\b.*",
    re.IGNORECASE | re.DOTALL,
)
NOT_POOL: Final = re.compile(
    r".*\b(?:sold|sales?|purchase[sd]?|traded?s?|paid|paydowns?|prior|previous|redeemed|equity|class)\b.*",
    re.IGNORECASE | re.DOTALL,
)
"""Words of a title above a header that stands again: of a further part of the pool, and of what is none."""

_LEGAL_FORMS: Final = (
    r"l\.?l\.?c|inc|incorporated|ltd|limited|corp|corporation|l\.?l?\.?p|plc|gmbh|ag|s\.?a|s\.?e|s\.?a\.?s|s\.?l|s\.?a\.?r\.?l"
    r"|s\.?p\.?a|b\.?v|n\.?v"
)

LEGAL: Final = re.compile(rf".*[\s,](?:{_LEGAL_FORMS})\.?\s*", re.IGNORECASE | re.DOTALL)
"""A name with the ending of a company's legal form, which the name of no group of loans has."""

COMPANY: Final = re.compile(
    rf".*[\s,](?:{_LEGAL_FORMS}|co|company|holdings?|holdco|midco|bidco|topco|buyer|group|services|software|solutions|systems"
    r"|technologies|partners|international|labs|health|brands)\.?\s*",
    re.IGNORECASE | re.DOTALL,
)
"""A name with a company's ending."""

SUBTOTAL: Final = re.compile(r"\s*sub[\s-]?total", re.IGNORECASE)
CASH_ROWS: Final = 20_000
"""Rows without a maturity up to which each name is looked at; of more, those that have the letters."""

_CASH_STARTS: Final = (b"cash", b"acc", b"money")
_CASH_NAME: Final = frozenset(("cash", "account", "accounts", "acct", "accts"))
_CASH_WORDS: Final = _CASH_NAME | frozenset(
    (
        "a", "and", "at", "balance", "balances", "bank", "clo", "closing", "collateral", "collection", "collections",
        "currency", "custodial", "custody", "date", "deposit", "deposits", "discretionary", "dollar", "dollars",
        "equivalents", "eur", "euro", "euros", "expense", "expenses", "fund", "funding", "funds", "fx", "gbp", "hand",
        "held", "hedge", "in", "interest", "investment", "investments", "issuer", "margin", "market", "money", "note",
        "of", "on", "or", "other", "payment", "pounds", "principal", "proceeds", "ramp", "reinvestment", "reserve",
        "revolver", "revolving", "sterling", "sub", "sundry", "supplemental", "suspense", "sweep", "the", "to", "total",
        "trade", "trustee", "uninvested", "unsettled", "unused", "up", "us", "usd",
    )
)  # fmt: skip
"""Words of which the name of cash or of a bank account is made; a company's name has others."""

_BANK_ACCOUNT: Final = re.compile(
    r"\b(?:collection|payment|reserve|expense|principal|interest|funding|custod(?:y|ial)|proceeds|ramp up|deposit)"
    r"(?: cash)? acc(?:oun)?ts?(?: balance)?$"
)

_CASH_FUND: Final = re.compile(r"\b(?:cash management|money market)(?: (?:funds?|portfolio|trust))?$")

_CASH_ABROAD: Final = frozenset(
    (
        "barmittel", "bankguthaben", "guthaben", "kasse", "kassenbestand", "liquiditat", "liquide mittel", "liquidites",
        "tresorerie", "disponibilites", "efectivo", "tesoreria", "liquidez", "liquidita", "disponibilita liquide",
        "cassa", "liquide middelen", "kasmiddelen",
    )
)  # fmt: skip
"""Names of cash in other languages, as keys."""

CURRENCIES: Final = frozenset(("aud", "cad", "chf", "eur", "gbp", "jpy", "sek", "usd"))
"""Words that alone are the name of a balance in this currency."""

_CURRENCY_BYTES: Final = 3

TEXT_BYTES_MAX: Final = 400
"""UTF-8 bytes of a cell that is looked at for the words above; of a longer one only its start."""


def markers(text: Text) -> NDArray[np.bool_]:
    """Return strings that read like totals or footers by code, False at the end."""
    marked = np.zeros(len(text) + 1, np.bool_)
    for code in _parse.may_mark(text.offsets, text.data).tolist():
        start = start_of(text, code)
        marked[code] = MARKER.match(start) is not None or SUMMARY.fullmatch(start) is not None
    return marked


def start_of(text: Text, code: int) -> str:
    begin, end = int(text.offsets[code]), int(text.offsets[code + 1])
    return text.data[begin : min(end, begin + TEXT_BYTES_MAX)].tobytes().decode(errors="replace")


def cash_names(named: Iterable[Cells | None], text: Text, rows: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Return strings that name cash by code, where some rows could be cash.

    With a False for the code -1.
    """
    if not len(rows):
        return None
    names = np.zeros(len(text) + 1, np.bool_)
    if len(rows) > CASH_ROWS:
        data = text.data.tobytes().lower()
        places = np.array([place for start in _CASH_STARTS for place in places_of(data, start)], np.int64)
        short = np.flatnonzero(np.diff(text.offsets) == _CURRENCY_BYTES)
        codes = np.concatenate((np.searchsorted(text.offsets, places, side="right") - 1, short))
    else:
        codes = np.concatenate([np.zeros(0, np.int64), *(cells.codes[rows] for cells in named if cells is not None)])
    codes = np.unique(codes)
    for code in codes[codes >= 0].tolist():
        names[code] = _is_cash(key(start_of(text, code)))
    return names


def places_of(data: bytes, part: bytes) -> Iterator[int]:
    """Yield where a part stands in some bytes: five times as fast as a pattern."""
    place = data.find(part)
    while place >= 0:
        yield place
        place = data.find(part, place + 1)


def _is_cash(name: str) -> bool:
    if name in CURRENCIES or name in _CASH_ABROAD or _CASH_FUND.search(name) is not None:
        return True
    words = name.split()
    if _CASH_NAME.isdisjoint(words):
        return False
    return _BANK_ACCOUNT.search(name) is not None or all(word in _CASH_WORDS or word.isdigit() for word in words)
