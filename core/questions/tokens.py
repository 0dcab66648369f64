"""The words, numbers, days and marks of a question, with their places."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal

from core.values import EPOCH

Kind = Literal["word", "number", "period", "rating", "mark", "quoted"]

TOKENS_MAX: Final = 200
"""Words of a question that are read; a longer one is not understood."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a question."""

    kind: Kind
    text: str
    """As the vocabulary has it: lower case, without plural and possessive endings."""
    raw: str
    """As it was written."""
    value: float = 0.0
    unit: str = ""
    """Of a number: percent, points, bps, amount, years, months, days, notches, times, or nothing."""
    days: tuple[float, float] | None = None
    """Of a period, and of a number that may be a year: its first and last day, in days since 1970-01-01."""
    before: str = ""
    """The punctuation before it."""


_UNITS: Final = {
    "percent": r"%|percent(?:age)?(?!\s+points?)|per\s+cent|pct",
    "points": r"percentage\s+points?|points?|pts?|cents?|ppts?",
    "bps": r"bps?|basis\s+points?",
    "thousand": r"thousand",
    "million": r"mm|mn|mio|mil|millions?",
    "billion": r"bn|billions?",
    "years": r"years?|yrs?",
    "months": r"months?|mos?",
    "days": r"days?",
    "notches": r"notch(?:es)?",
    "times": r"times",
}
_LETTERS: Final = {"k": "thousand", "m": "million", "b": "billion", "y": "years", "x": "times"}
"""Units of a letter, which stand right behind their number: 5m, but not the 5 B loans."""
_AMOUNTS: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_MONTHS: Final = {
    name: at
    for at, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_UNIT: Final = "|".join(f"(?P<{name}>{words})" for name, words in _UNITS.items())
_RATING: Final = r"(?:aaa|aa|a|bbb|bb|b|ccc|cc|c|d)"
_TOKEN: Final = re.compile(
    rf"""
    "(?P<quoted>[^"]{{1,200}})"
  | (?P<iso>\d{{4}}-\d{{2}}-\d{{2}})(?!\w)
  | (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<day_month>{_MONTH})\.?,?\s+(?P<day_year>\d{{4}})(?!\w)
  | (?P<us_month>{_MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<us_year>\d{{4}})(?!\w)
  | (?P<month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<month_year>\d{{4}})(?!\w)
  | q(?P<quarter>[1-4])\s*(?:of\s+)?(?P<quarter_year>\d{{4}})(?!\w)
  | (?P<half>[12])h\s*(?P<half_year>\d{{4}})(?!\w)
  | (?P<year_end>(?:the\s+)?(?:year[\s-]*end|end\s+of(?:\s+the)?(?:\s+year)?)\s+(?P<end_year>\d{{4}}))(?!\w)
  | (?P<index>\b(?:term\s+)?(?:sofr|libor|euribor|sonia|s|l|e))\s*\+\s*
    (?P<margin>\d+(?:\.\d+)?)\s*(?P<margin_unit>bps?|%)?(?!\w)
  | (?P<ordinal>\d+)(?:st|nd|rd|th)(?!\w)
  | (?:(?P<sign>us\$|\$|€|£|usd\s|eur\s|gbp\s)\s?)?(?P<number>(?:\d{{1,3}}(?:,\d{{3}})+|\d+)(?:\.\d+)?|\.\d+)
    (?:(?P<letter>[kmbyx])|\s*-?\s*(?:{_UNIT}))?(?!\w)
  | (?P<rating>\b{_RATING}[+-])(?![\w+-])
  | (?P<word>[^\W_]+(?:'[^\W_]+)*)
  | (?P<mark><=|>=|!=|<>|≤|≥|[<>=/&+?,;:()!.%-])
    """,
    re.VERBOSE,
)

_SPELLINGS: Final = [
    line.split("\t")
    for line in Path(__file__).with_name("spellings.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
_CONTRACTIONS: Final = {written: words for kind, written, words in _SPELLINGS if kind == "word"}
_CONTRACTION: Final = re.compile(r"\b(?:" + "|".join(_CONTRACTIONS) + r")\b", re.IGNORECASE)
_EXPRESSIONS: Final = [
    (re.compile(written, re.IGNORECASE), words) for kind, written, words in _SPELLINGS if kind == "expression"
]


def names(text: str) -> tuple[str, ...]:
    """Return the words of a line of them."""
    return tuple(text.split())


_KEPT: Final = frozenset(
    names(
        "was is has does its this us less loss as ics yes gas plus status basis versus previous business across access "
        "always perhaps"
    )
)


def stem(word: str) -> str:
    """Return a word without the ending of its plural or genitive."""
    word = word.removesuffix("'s").replace("'", "")
    if word in _KEPT or len(word) < 4 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def tokens_of(question: str) -> list[Token]:
    """Return the tokens of a question."""
    text = unicodedata.normalize("NFKC", question).translate(_QUOTES)
    text = _CONTRACTION.sub(lambda match: _CONTRACTIONS[match[0].lower()], text)
    for pattern, words in _EXPRESSIONS:
        text = pattern.sub(words, text)
    lowered = text.lower()
    if len(lowered) != len(text):  # a sign whose lower case is two: places would differ
        text = lowered
    tokens: list[Token] = []
    before = ""
    for match in _TOKEN.finditer(lowered):
        if (mark := match["mark"]) in _PUNCTUATION:
            before += mark
            continue
        token = replace(_token(match, text), before=before)
        if token.kind == "number" and before.endswith("-") and text[: match.start() - 1].endswith((" ", "(")):
            token = Token("word", f"-{token.text}", f"-{token.raw}")  # no number of a question is below zero
        tokens.append(token)
        before = ""
    return tokens


_PUNCTUATION: Final = frozenset("/+?,;:()!.-")


_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def _token(match: re.Match[str], text: str) -> Token:
    raw = text[match.start() : match.end()].strip()
    return next(build(match, raw) for group, build in _FORMS if match[group] is not None)


def _day(raw: str, year: str, month: int, day_of_month: str) -> Token:
    try:
        day = date(int(year), month, int(day_of_month))
    except ValueError:
        return Token("word", raw.lower(), raw)
    return _period(raw, day, day)


def _margin(match: re.Match[str], raw: str) -> Token:
    scale = 100.0 if match["margin_unit"] == "%" else 1.0
    return Token("number", raw.lower(), raw, float(match["margin"]) * scale, "bps")


def _number(match: re.Match[str], raw: str) -> Token:
    value = float(match["number"].replace(",", ""))
    unit = next((name for name in _UNITS if match[name] is not None), _LETTERS.get(match["letter"] or "", ""))
    if unit in _AMOUNTS:
        value, unit = value * _AMOUNTS[unit], "amount"
    elif match["sign"] and not unit:
        unit = "amount"
    is_year = not unit and match["number"].isdigit() and 1990 <= value <= 2100
    return Token("number", raw.lower(), raw, value, unit, _span(int(value), 1, 12) if is_year else None)


_MARKS: Final = {"<>": "!=", "≤": "<=", "≥": ">=", "&": "and"}
_FORMS: Final[tuple[tuple[str, Callable[[re.Match[str], str], Token]], ...]] = (
    ("quoted", lambda match, raw: Token("quoted", match["quoted"].strip(), raw)),
    ("iso", lambda match, raw: _day(raw, raw[:4], int(raw[5:7]), raw[8:])),
    ("day", lambda match, raw: _day(raw, match["day_year"], _MONTHS[match["day_month"][:3]], match["day"])),
    ("us_day", lambda match, raw: _day(raw, match["us_year"], _MONTHS[match["us_month"][:3]], match["us_day"])),
    ("month_year", lambda match, raw: _months(raw, match["month_year"], _MONTHS[match["month"][:3]], 1)),
    ("quarter", lambda match, raw: _months(raw, match["quarter_year"], 3 * int(match["quarter"]) - 2, 3)),
    ("half", lambda match, raw: _months(raw, match["half_year"], 6 * int(match["half"]) - 5, 6)),
    ("end_year", lambda match, raw: _months(raw, match["end_year"], 12, 1, last_day_only=True)),
    ("margin", _margin),
    ("ordinal", lambda match, raw: Token("word", f"{match['ordinal']}th", raw, float(match["ordinal"]))),
    ("number", _number),
    ("rating", lambda match, raw: Token("rating", match["rating"], raw)),
    ("mark", lambda match, raw: Token("word" if raw == "&" else "mark", _MARKS.get(raw, raw), raw)),
    ("word", lambda match, raw: Token("word", stem(match["word"]), raw)),
)
"""A group of the expression, and the token that it is."""


def _period(raw: str, first: date, last: date) -> Token:
    start, end = (float((day - EPOCH).days) for day in (first, last))
    return Token("period", raw.lower(), raw, days=(start, end))


def _months(raw: str, year: str, month: int, count: int, *, last_day_only: bool = False) -> Token:
    if not 1900 <= int(year) <= 2200:
        return Token("word", raw.lower(), raw)
    first, last = _span(int(year), month, count)
    return Token("period", raw.lower(), raw, days=(last if last_day_only else first, last))


def _span(year: int, month: int, count: int) -> tuple[float, float]:
    end = month + count - 1
    first, last = date(year, month, 1), date(year, end, monthrange(year, end)[1])
    return float((first - EPOCH).days), float((last - EPOCH).days)
