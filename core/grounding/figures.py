"""The figures of an English text.

Numbers with their units, in digits and in words, days, names that hold digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

Kind = Literal["number", "count", "percent", "points", "money", "factor", "years", "days", "day", "name"]


DIGITS_MAX: Final = 30
"""Digits of a number; longer ones are names."""
_WORDS_MAX: Final = 1e18
"""The largest number that words say."""


@dataclass(frozen=True, slots=True)
class FigureReading:
    """What a figure says."""

    kind: Kind
    value: float = 0.0
    """Percent points, units of a currency, years or days where the kind is one of these."""
    step: float = 0.0
    """What its last place is worth: 0.1 of 12.5, a million of $400m; 0 of what is known exactly."""
    zeros: float = 0.0
    """What the last place that is no zero is worth: 1,000 of 3,000."""
    what: str = ""
    """What is counted, a currency, a name in small letters, or a day as far as it is said: 2027-05-01, 2027-05."""
    factor: float = 1.0
    """By which the number as written was multiplied for its unit: 0.01 of basis points."""


@dataclass(frozen=True, slots=True)
class TextFigure:
    """A figure where it stands, characters `start` to `end - 1` with its unit, and all that it may say."""

    start: int
    end: int
    readings: tuple[FigureReading, ...]


# Words ----------------------------------------------------------------------------------------------------------------

_NOUNS: Final = {
    word: words[0]
    for words in (
        ("loan", "asset", "position", "holding", "facility", "loans", "assets", "positions", "holdings", "facilities"),
        ("obligor", "issuer", "borrower", "company", "name", "obligors", "issuers", "borrowers", "companies", "names"),
        ("test", "tests"), ("workbook", "portfolio", "deal", "workbooks", "portfolios", "deals"),
        ("industry", "sector", "industries", "sectors"), ("row", "record", "rows", "records"), ("cell", "cells"),
        ("country", "countries"), ("notch", "downgrade", "notches", "downgrades"), ("run", "runs"),
        ("price", "quote", "prices", "quotes"), ("column", "field", "columns", "fields"), ("class", "classes"),
        ("break", "difference", "issue", "breaks", "differences", "issues"), ("warning", "warnings"),
        ("trade", "purchase", "sale", "trades", "purchases", "sales"), ("rating", "ratings"),
        ("default", "defaults"), ("maturity", "maturities"),
    )
    for word in words
}  # fmt: skip
"""What is counted; words for the same thing in one row, whose first is shown."""
_STOPS: Final = (
    "and or but while with is are was were which that in to against at for by on from below above than as after before"
    " under over has have had does fails fail passes pass"
)
_ENDS_A_COUNT: Final = frozenset(_STOPS.split())
"""Words behind which a noun is no longer what the number before them counts."""
_WORDS_BEHIND: Final = re.compile(r"(?:[ \t-]+[A-Za-z][A-Za-z/&']*){1,5}")

CURRENCIES: Final = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "€": "EUR", "eur": "EUR", "euro": "EUR",
    "euros": "EUR", "£": "GBP", "gbp": "GBP", "pounds": "GBP", "¥": "JPY", "jpy": "JPY", "yen": "JPY", "chf": "CHF",
    "cad": "CAD", "aud": "AUD", "sek": "SEK", "nok": "NOK", "dkk": "DKK",
}  # fmt: skip
_SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mln": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9,
    "billion": 1e9, "tn": 1e12, "trillion": 1e12, "hundred": 1e2, "dozen": 12.0,
}  # fmt: skip
_UNITS: Final[dict[str, tuple[Kind, float]]] = {
    "%": ("percent", 1.0), "percent": ("percent", 1.0), "per cent": ("percent", 1.0), "pct": ("percent", 1.0),
    "pp": ("percent", 1.0), "ppts": ("percent", 1.0), "percentage point": ("percent", 1.0),
    "percentage points": ("percent", 1.0), "percent point": ("percent", 1.0), "percent points": ("percent", 1.0),
    "cents": ("percent", 1.0), "% of par": ("points", 1.0), "bp": ("percent", 0.01), "bps": ("percent", 0.01),
    "basis point": ("percent", 0.01), "basis points": ("percent", 0.01), "point": ("points", 1.0),
    "points": ("points", 1.0), "x": ("factor", 1.0), "times": ("factor", 1.0), "fold": ("factor", 1.0),
    "year": ("years", 1.0), "years": ("years", 1.0), "yr": ("years", 1.0), "yrs": ("years", 1.0),
    "month": ("years", 1 / 12), "months": ("years", 1 / 12), "day": ("days", 1.0), "days": ("days", 1.0),
    "week": ("days", 7.0), "weeks": ("days", 7.0),
}  # fmt: skip
"""Units as they stand behind a number."""
_UNITS_OF_FACTS: Final[dict[str, tuple[Kind, float]]] = _UNITS | {
    "fraction": ("percent", 100.0), "percent of par": ("points", 1.0),
    "amount": ("money", 1.0), "currency": ("money", 1.0), "count": ("count", 1.0), "price": ("points", 1.0),
}  # fmt: skip

_COUNTING: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMERALS: Final = {word: float(value) for value, word in enumerate(_COUNTING.split())} | {
    word: 10.0 * tens for tens, word in enumerate(_TENS.split(), start=2)
}
_MULTIPLES: Final = {
    "doubled": 2.0, "doubles": 2.0, "twice": 2.0, "twofold": 2.0, "tripled": 3.0, "triples": 3.0, "threefold": 3.0,
    "quadrupled": 4.0, "fourfold": 4.0, "fivefold": 5.0, "tenfold": 10.0, "halved": 0.5, "halves": 0.5,
}  # fmt: skip
_PARTS: Final = {
    "half": 50.0, "third": 100 / 3, "thirds": 100 / 3, "quarter": 25.0, "quarters": 25.0, "fifth": 20.0,
    "fifths": 20.0, "eighth": 12.5, "eighths": 12.5, "tenth": 10.0, "tenths": 10.0,
}  # fmt: skip
_MONTHS: Final = {
    word: month
    for month, words in enumerate(
        ("Jan January", "Feb February", "Mar March", "Apr April", "May", "Jun June", "Jul July", "Aug August",
         "Sep Sept September", "Oct October", "Nov November", "Dec December"),
        start=1,
    )
    for word in words.split()
}  # fmt: skip
_OF_A_YEAR: Final = re.compile(
    r"(?i)(?:\b(?:in|by|until|till|since|through|during|before|after|from|to|and|or|year|end|between|due|maturing|of)"
    r"|[-/])[ ]?$"
)
"""What stands before a number that may be a year."""


# A text as it is read -------------------------------------------------------------------------------------------------

_LIKE: Final = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"), "-") | {
    ord("\u066a"): "%", ord("\u066b"): ".", ord("\u066c"): ",", ord("\u00d7"): "x", ord("\u2044"): "/",
    ord("\u2019"): "'",
}  # fmt: skip
_STRANGE: Final = "\ue000"
"""Stands for a numeral that is no digit: a fraction, a Roman or a Chinese one."""
_CHINESE: Final = frozenset("〇零一二两三四五六七八九十百千万億亿兆")


def plain(text: str) -> str:
    """Return the text in signs that patterns know, each in its own place.

    Digits of every script, dashes, spaces.
    """
    return text if text.isascii() else "".join(map(_plain_sign, text.translate(_LIKE)))


def _plain_sign(sign: str) -> str:
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category == "Nd":
        return str(unicodedata.decimal(sign))
    if category == "Zs":
        return " "
    same = unicodedata.normalize("NFKC", sign)  # wide letters, circled ones, those of mathematics
    if len(same) == 1 and same.isascii():
        return same
    return _STRANGE if category in ("No", "Nl") or sign in _CHINESE else sign


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_MONTH: Final = f"(?-i:{_any(_MONTHS)})"
_NTH: Final = "(?:st|nd|rd|th)?"
_BEHIND: Final = rf"""
    (?: [ ]?-?(?P<scale{{0}}>{_any(word for word in _SCALES if len(word) > 3)})s?(?!\w)
      | (?P<letter{{0}}>{_any(word for word in _SCALES if len(word) < 4)})(?!\w)
      | [ ](?P<spaced{{0}}>mm|mn|mln|bn|tn)(?!\w) )?
    (?: [ ]?(?P<currency{{0}}>[€£]|(?:{_any(word for word in CURRENCIES if word.isalpha())})(?!\w)) )?
    (?: [ -]?(?P<unit{{0}}>%[ ]of[ ]par(?!\w)|%|(?:{_any(word for word in _UNITS if "%" not in word)})(?!\w)) )?
    """
"""A scale, a currency and a unit, as they follow a number."""
_WORD: Final = f"(?:{_any(NUMERALS)}|hundred|thousand|million|billion|dozen)"
_DAYS: Final = ("iso", "us", "dmy", "mdy", "my", "md", "dm", "quarter")
_FIGURE: Final = re.compile(
    rf"""
      (?P<iso>(?<![\w-])\d{{4}}-\d\d-\d\d(?!\d))
    | (?P<us>(?<![\w/])\d{{1,2}}/\d{{1,2}}/\d{{4}}(?![\w/]))
    | (?P<dmy>(?<!\w)\d{{1,2}}{_NTH}[ -](?:of[ ])?{_MONTH}\.?,?[ -]\d{{4}}(?!\w))
    | (?P<mdy>(?<!\w){_MONTH}\.?[ ]\d{{1,2}}{_NTH},?[ ]\d{{4}}(?!\w))
    | (?P<my>(?<!\w){_MONTH}\.?,?[ -](?:of[ ])?\d{{4}}(?!\w))
    | (?P<md>(?<!\w){_MONTH}\.?[ ]\d{{1,2}}{_NTH}(?![\w%]|[.,]\w|[ ]%))
    | (?P<dm>(?<!\w)\d{{1,2}}{_NTH}[ ](?:of[ ])?{_MONTH}(?!\w))
    | (?P<quarter>(?<!\w)Q[1-4][ -]?(?:of[ ])?\d{{4}}(?!\w))
    | (?P<name>(?<!\w)(?:[A-Za-z_]+\d\w*|(?-i:[A-Z]{{1,4}})-\d\w*)(?:[-/&]\w+)*(?:[+-](?![\w.$]))?)
    | (?P<number>(?<![\w.])
        (?P<minus>(?:(?<![%)])-|(?:minus|negative)[ ])(?=US\$|[$€£¥.\d]))?
        (?P<sign>US\$|[$€£¥]|(?:USD|EUR|GBP|CHF|CAD|AUD|JPY)[ ]?)?
        (?P<inner>-(?=[.\d]))?
        (?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
        (?:e(?P<power>[+-]?\d{{1,2}}))?
        {_BEHIND.format(1)}
        (?!\w|[.,:/]\d))
    | (?P<odd>(?<!\w)\d[\d.,:/]*\w*(?:[-/&]\w+)*)
    | (?P<roman>(?<!\w)(?!CCC?\b)
        (?-i:(?=[MDCLXVI]{{2}})M*(?:CM|CD|D?C{{0,3}})(?:XC|XL|L?X{{0,3}})(?:IX|IV|V?I{{0,3}}))(?!\w))
    | (?P<strange>{_STRANGE}+)
    | (?P<part>(?<!\w)(?:(?:a|one|two|three|four|five|seven|nine)[ -])?(?:{_any(_PARTS)})(?=[ ](?:of|the)\b))
    | (?P<words>(?<!\w){_WORD}(?:[ -](?:and[ ])?{_WORD})*(?!\w){_BEHIND.format(2)})
    | (?P<multiple>(?<!\w)(?:{_any(_MULTIPLES)})(?!\w))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FORMS: Final = (*_DAYS, "name", "number", "odd", "roman", "strange", "part", "words", "multiple")
_JOINS: Final = re.compile(r"(?i)\s*(?:,|-|/|to|and|or|versus|vs\.?|against)(?:\s*(?:and|or))?\s*")
"""What stands between two figures that one unit serves."""


def figures(text: str) -> Iterator[TextFigure]:
    """Yield the figures of a text, from the left."""
    read = plain(text)
    all_readings = [
        TextFigure(match.start(), match.start() + len(match[0].rstrip(".,:/")), readings)
        for match in _FIGURE.finditer(read)
        if (readings := tuple(_readings(match, read)))
    ]
    for figure, following in zip(all_readings, (*all_readings[1:], None), strict=False):
        if following is not None and _JOINS.fullmatch(read, figure.end, following.start):
            yield replace(figure, readings=(*figure.readings, *_sharing(figure.readings[0], following.readings[0])))
        else:
            yield figure


def reading_of(value: float, unit: str) -> FigureReading:
    """Return a value that is known exactly, by the unit of a fact."""
    word = unit.strip().lower()
    if word in _UNITS_OF_FACTS:
        kind, factor = _UNITS_OF_FACTS[word]
        return FigureReading(kind, value * factor)
    if word in CURRENCIES:
        return FigureReading("money", value, what=CURRENCIES[word])
    if word in _NOUNS:
        return FigureReading("count", value, what=_NOUNS[word])
    return FigureReading("number", value)


def counted(text: str) -> frozenset[str]:
    """Return what a text names that can be counted."""
    return frozenset(_NOUNS[word] for word in re.findall("[a-z]+", text.lower()) if word in _NOUNS)


def _readings(match: re.Match[str], text: str) -> Iterator[FigureReading]:
    form = next(name for name in _FORMS if match[name] is not None)
    written = match[0].lower()
    if form in _DAYS:
        yield FigureReading("day", what=_day(form, match[0]))
    elif form == "number":
        yield from _numbers(match, text)
    elif form == "words":
        yield from _in_words(match, text)
    elif form == "part":
        *count, part = re.split("[ -]", written)
        yield FigureReading("percent", NUMERALS.get("".join(count), 1.0) * _PARTS[part], step=1.0, zeros=1.0)
    elif form == "multiple":
        yield FigureReading("factor", _MULTIPLES[written])
    else:
        yield FigureReading("name", what=written.rstrip(".,:/"))


def _day(form: str, written: str) -> str:
    if form == "iso":
        return written
    numbers = [int(digits) for digits in re.findall(r"\d+", written)]
    if form == "quarter":
        return f"{numbers[1]:04}-Q{numbers[0]}"
    if form == "us":
        first, second, year = numbers
        month, day = (second, first) if first > 12 else (first, second)
        return f"{year:04}-{month:02}-{day:02}"
    month = _MONTHS[next(word for word in re.findall("[A-Za-z]+", written) if word in _MONTHS)]
    if form == "my":
        return f"{numbers[0]:04}-{month:02}"
    return f"{numbers[1]:04}-{month:02}-{numbers[0]:02}" if len(numbers) > 1 else f"-{month:02}-{numbers[0]:02}"


def _numbers(match: re.Match[str], text: str) -> Iterator[FigureReading]:
    digits = match["digits"].replace(",", "")
    if len(digits) > DIGITS_MAX:
        yield FigureReading("name", what=digits)
        return
    whole, _, decimals = digits.partition(".")
    power = 10.0 ** int(match["power"] or 0)
    significant = whole.rstrip("0")
    zeros = (
        10.0 ** (len(whole) - len(significant)) if significant and not decimals.strip("0") else 10.0 ** -len(decimals)
    )
    first = FigureReading("number", float(digits) * power, 10.0 ** -len(decimals) * power, zeros * power)
    if match["minus"] or match["inner"]:
        first = replace(first, value=-first.value)
    read = _with_unit(first, match, "1", text)
    yield read
    is_year = re.fullmatch(r"(?:19|20|21)\d\d", match["digits"]) and read.kind in ("number", "count")
    if is_year and match[0] == match["digits"] and _OF_A_YEAR.search(text, max(0, match.start() - 12), match.start()):
        yield FigureReading("day", what=digits)


def _in_words(match: re.Match[str], text: str) -> Iterator[FigureReading]:
    worth = total = 0.0
    words = [word for word in re.findall("[a-z]+", match[0].lower()) if word in NUMERALS or word in _SCALES]
    for word in words:
        if word in NUMERALS:
            worth += NUMERALS[word]
        elif word in ("hundred", "dozen"):
            worth = (worth or 1.0) * _SCALES[word]
        else:
            total += (worth or 1.0) * _SCALES[word]
            worth = 0.0
    value = total + worth
    if value > _WORDS_MAX:
        yield FigureReading("name", what=match[0].lower())
        return
    digits = f"{value:.0f}"
    read = _with_unit(
        FigureReading("number", value, 1.0, 10.0 ** (len(digits) - len(digits.rstrip("0")))), match, "2", text
    )
    if words not in (["one"], ["zero"]) or read.kind != "number":  # "one of them" and "below zero" say no figure
        yield read


def _with_unit(read: FigureReading, match: re.Match[str], which: str, text: str) -> FigureReading:
    scale = match[f"scale{which}"] or match[f"letter{which}"] or match[f"spaced{which}"]
    worth = _SCALES[scale.lower()] if scale and which == "1" else 1.0  # words have had theirs
    read = replace(read, value=read.value * worth, step=read.step * worth, zeros=read.zeros * worth)
    currency = (match["sign"] if which == "1" else None) or match[f"currency{which}"]
    if currency:
        return replace(read, kind="money", what=CURRENCIES[currency.strip().lower()])
    if unit := match[f"unit{which}"]:
        kind, factor = _UNITS[unit.lower()]
        return _in_units(read, kind, factor)
    if noun := _noun_behind(text, match.end()):
        return replace(read, kind="count", what=noun)
    return read


def _in_units(read: FigureReading, kind: Kind, factor: float, what: str = "") -> FigureReading:
    return FigureReading(kind, read.value * factor, read.step * factor, read.zeros * factor, what, factor)


def _noun_behind(text: str, end: int) -> str:
    """Return what a number counts that ends there: "12 distressed loans"."""
    behind = _WORDS_BEHIND.match(text, end)
    for word in re.findall(r"[A-Za-z/&']+", behind[0].lower()) if behind else ():
        if word in _NOUNS:
            return _NOUNS[word]
        if word in _ENDS_A_COUNT:
            return ""
    return ""


def _sharing(read: FigureReading, following: FigureReading) -> Iterator[FigureReading]:
    """Yield a number whose unit stands behind the next one: 5 to 10 %."""
    if read.kind in ("number", "count") and following.kind not in ("number", "day", "name", "money"):
        yield _in_units(read, following.kind, following.factor, following.what)
