"""A figure's text without footnote marks, "x" of a multiple, or "per annum"."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from core.portfolio.cells.text.footnotes import is_only_marks, without_marks

LENGTH_MAX: Final = 64
"""Characters of a text that may be a figure."""

_WORDS: Final = (
    (re.compile(r"\s*\b(?:per annum|p\.\s?a\.?|pa)$", re.IGNORECASE), ""),
    (re.compile(r"\s*\b(?:percent|per cent|pct\.?|percentage points?)$", re.IGNORECASE), "%"),
    (re.compile(r"\s*\b(?:basis points?|bps?\.)$", re.IGNORECASE), " bps"),
    (re.compile(r"^(\d{1,4}(?:[.,]\d{1,4})?)\s?(?:x|\u00d7|times)$", re.IGNORECASE), r"\1"),
    (re.compile(r"^(\d{1,3}(?:[.,]\d{1,9})?)\s?(?:years?|yrs?\.?)$", re.IGNORECASE), r"\1"),
    (re.compile(r"(?<=\d),-{1,2}$"), ""),
    (re.compile(r"^(?:C|CA|A|AU|NZ|HK|S|SG)\s?\$\s*|\s*\b(?:C|CA|A|AU|NZ|HK|S|SG)\$$"), ""),
    (
        re.compile(
            r"^(?:kr\.?|z\u0142|Fr\.|SFr\.?|Rs\.?|\u20b9|\u20a9|\u20ba)\s*|\s*\b(?:kr\.?|z\u0142)$", re.IGNORECASE
        ),
        "",
    ),
    (re.compile(r"\s*\b(?:Mio|Mill|million)\.?$", re.IGNORECASE), " MM"),
    (re.compile(r"\s*\b(?:Mrd|billion|bln)\.?$", re.IGNORECASE), " BN"),
    (re.compile(r"\s*\b(?:Tsd|thousand)\.?$", re.IGNORECASE), " K"),
    (re.compile(r"^\u00a3\s?stg\.?\s*", re.IGNORECASE), ""),
)
"""What is left out of a figure, in order, and what stands in for it."""

_MIXED: Final = re.compile(r"(\d{1,3})[ -](\d{1,2})\s?[/\u2044]\s?(2|4|8|16|32|64)")
"""Prices in fractions: 98 1/2."""
_FRACTION: Final = re.compile(r"(?<=\d)([\u00bc-\u00be\u215b-\u215e])")
"""A sign of a fraction behind a figure."""

_QUOTES: Final = re.compile(r"(\d{2,3}\.\d{1,6})\s?(?:/|-|\u2013|to)\s?(\d{2,3}\.\d{1,6})")
_QUOTED: Final = (20.0, 150.0)
_DEPTH_MAX: Final = 12.0
"""A bid and an ask in one cell, within what prices lie, and points by which the two may differ."""

_SIDE: Final = re.compile(r"\s*\b(?:(CR|DR)\.?)$", re.IGNORECASE)


def plain_figure(text: str, *, without_side: bool = False) -> str:
    """Strip footnote marks and words that change nothing from a figure's text.

    Args:
        without_side: whether CR and DR go, too.
    """
    if len(text) > LENGTH_MAX or is_only_marks(text):
        return text
    spaced = _FRACTION.sub(r" \1", without_marks(text))
    plain = unicodedata.normalize("NFKC", spaced).strip()
    if without_side:
        plain = _SIDE.sub("", plain)
    if bid := bid_of(plain):
        return bid
    if match := _MIXED.fullmatch(plain):
        return f"{int(match[1]) + int(match[2]) / int(match[3]):.6f}"  # more than three digits: a decimal point
    for pattern, instead in _WORDS:
        plain = pattern.sub(instead, plain)
    return plain


def bid_of(text: str) -> str:
    """Return the lower one of a bid and an ask: "98.25/99.00"; blank for other texts."""
    match = _QUOTES.fullmatch(text.strip()) if len(text) <= LENGTH_MAX else None
    if match is None:
        return ""
    low, high = sorted(match.groups(), key=float)
    is_quoted = _QUOTED[0] <= float(low) and float(high) <= _QUOTED[1] and float(high) - float(low) <= _DEPTH_MAX
    return low if is_quoted else ""


def side_of(text: str) -> str:
    """Return CR or DR behind a figure; blank without one."""
    match = _SIDE.search(text) if len(text) <= LENGTH_MAX else None
    return match[1].upper() if match else ""
