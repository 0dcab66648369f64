"""What a heading says of units and of footnotes, and how it is spelt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from core.portfolio.cells.string_pool import key

_SIGNS: Final = str.maketrans({"$": " usd ", "€": " eur ", "£": " gbp ", "¥": " jpy ", "%": " percent "})
_CODES: Final = "usd|eur|gbp|jpy|chf|cad|aud|sek|nok|dkk"
_CURRENCY: Final = rf"(?:us )?dollars?|euros?|deal currency|us usd|{_CODES}"
_THOUSANDS: Final = r"000 ?s?|thousands?|tsd|tausend|milliers|migliaia|duizend(?:en)?"
_MILLIONS: Final = r"mm|mn|mln|mio|millions?|millionen|millones|milioni|miljoen(?:en)?"
_THOUSAND_CODES: Final = rf"[tk] ?(?:{_CODES})|x ?1 ?000"
"""Thousands that need no other word: "TEUR", "k€", "x 1.000"."""
_MILLION_CODES: Final = rf"m ?(?:{_CODES})|x ?1 ?000 ?000"
_OF: Final = r"(?:of|de|d|di) "
_UNIT: Final = (
    rf"(?:(?:in|en) )?(?:(?P<thousands_a>{_THOUSAND_CODES})|(?P<millions_a>{_MILLION_CODES})"
    rf"|(?:{_CURRENCY})(?: in)?(?: ?(?:(?P<thousands_b>{_THOUSANDS}|k|th|miles|{_THOUSAND_CODES})"
    rf"|(?P<millions_b>{_MILLIONS}|m|{_MILLION_CODES})))?"
    rf"|(?:(?P<thousands_c>{_THOUSANDS})|(?P<millions_c>{_MILLIONS}))(?: (?:{_OF})?(?:{_CURRENCY}))?"
    rf"|(?P<thousands_d>miles|mila) (?:{_OF})?(?:{_CURRENCY})"
    r"|bps?|basis points?|(?:percent|percentage|pct)(?: of (?:par|face))?|of (?:par|face)"
    r"|years?|yrs?|months?|days?|y n|yes no|(?:dd?|mm?m?|yyyy|yy)(?: (?:dd?|mm?m?|yyyy|yy)){1,2}|[dmy]{8})"
)
_TITLE_UNIT: Final = re.compile(
    rf" (?:(?<!\d )(?:(?P<thousands_a>[tk](?:{_CODES})|x ?1 ?000)|(?P<millions_a>m(?:{_CODES})|x ?1 ?000 ?000))"
    rf"|(?:in|en) (?:(?P<thousands_e>[tk] (?:{_CODES}))|(?P<millions_e>m (?:{_CODES})))"
    rf"|(?:in|en|{_CURRENCY})(?: (?:{_CURRENCY}))?(?: in)? "
    rf"(?:(?P<thousands_b>{_THOUSANDS}|k|miles)|(?P<millions_b>{_MILLIONS}|m))"
    rf"|(?:{_CURRENCY})(?: in)? (?P<thousands_f>th)"
    rf"|(?P<thousands_c>{_THOUSANDS}) omitted|(?P<millions_c>{_MILLIONS}) omitted"
    rf"|(?<!\d )(?:(?P<thousands_d>(?!000){_THOUSANDS}|miles|mila)|(?P<millions_d>{_MILLIONS}))"
    rf" (?:{_OF})?(?:{_CURRENCY})) "
)
"""A number before them tells of an amount, not of a unit: "USD 400 million". A letter apart from its currency is a
fund's or a series': "Fund K EUR"."""
_LETTER_AT_SIGN: Final = re.compile(r"(?<![^\W_])([tkm])([$€£¥])", re.IGNORECASE)
_BARE_UNIT: Final = re.compile(r"[(\[]\s*(?:in )?(?:(k)|m)\s*[)\]]$", re.IGNORECASE)
"""A letter alone, in brackets: a unit where the figures are small enough for it."""
TITLE_LETTERS_MAX: Final = 2
"""Letters of a lone text that may be anything: "mm" is a part of a date, too."""
_UNIT_WORDS: Final = re.compile(rf" {_UNIT}$")
UNIT_CELL: Final = re.compile(_UNIT)

_FOOTNOTE: Final = re.compile(
    r"(?:\(\s?(?:\d\d?|[a-j])\s?\)|\[\s?(?:\d\d?|[a-j])\s?\]|[*\u2020\u2021\u00a7\u00b9\u00b2\u00b3\u2070-\u2079])$"
)
"""A footnote's mark at the end of a header; (k) and (m) may be units."""

_FOOTNOTE_LENGTH_MAX: Final = 6


def unit(header: str) -> str:
    """Return the unit that a header states: "bps", "%" or ""."""
    words = key(header).split()
    if "bps" in words or "bp" in words or "basis points" in key(header):
        return "bps"
    return "%" if "%" in header or "percent" in words or "pct" in words else ""


def magnitude(header: str) -> float:
    """Return 1,000 for thousands ("Par ($000s)"), 1,000,000 for millions, else 1."""
    return _scale(_UNIT_WORDS.search(f" {spelt(without_footnotes(header))}"))


def _scale(match: re.Match[str] | None) -> float:
    group = "" if match is None else match.lastgroup or ""
    return 1_000.0 if group.startswith("thousands") else 1_000_000.0 if group else 1.0


def magnitude_of_letter(header: str) -> float:
    """Return the same of a letter in brackets that may be a unit: "Par (K)"."""
    match = _BARE_UNIT.search(without_footnotes(header))
    return 1.0 if match is None else 1_000.0 if match[1] else 1_000_000.0


def magnitude_of_title(title: str) -> float:
    """Return the same of a line above a table: "Portfolio (USD thousands)"."""
    words = spelt(_LETTER_AT_SIGN.sub(lambda match: match[1] + spelt(match[2]), title))
    alone = UNIT_CELL.fullmatch(words) if len(words) > TITLE_LETTERS_MAX else None
    return _scale(_TITLE_UNIT.search(f" {words} ") or alone)


def without_footnotes(header: str) -> str:
    """Strip footnote marks of a header: "Par Amount (1)" is "Par Amount"."""
    rest = header.rstrip()
    while match := _FOOTNOTE.search(rest[-_FOOTNOTE_LENGTH_MAX:]):
        rest = rest[: -len(match[0])].rstrip()
    return rest


def without_unit(words: str) -> str:
    """Return a key less the words for its unit at the end."""
    return _UNIT_WORDS.sub("", words)


def spelt(text: str) -> str:
    """Return the key of a text with currencies and percent as words.

    A second time changes nothing.
    """
    return key(text.translate(_SIGNS))


def squeeze(text: str) -> str:
    return " ".join(text.split())


def distinct(texts: Iterable[str]) -> Iterator[str]:
    used: set[str] = set()
    count: dict[str, int] = {}
    for column, text in enumerate(texts):
        name = base = squeeze(text) or f"Column {column + 1}"
        while name in used:
            count[base] = count.get(base, 1) + 1
            name = f"{base} ({count[base]})"
        used.add(name)
        yield name
