"""The words, numbers, days and marks of a question, with their places in its text."""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date
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
  | (?:(?P<sign>us\$|\$|€|£|usd\s|eur\s|gbp\s)\s?)?(?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)
    (?:(?P<letter>[kmbyx])|\s*-?\s*(?:{_UNIT}))?(?!\w)
  | (?P<rating>\b{_RATING}[+-])(?![\w+-])
  | (?P<word>[^\W_]+(?:'[^\W_]+)*)
  | (?P<mark><=|>=|≤|≥|[<>=/&+?,;:()!.%-])
    """,
    re.VERBOSE,
)

_CONTRACTIONS: Final = {
    "what's": "what is",
    "whats": "what is",
    "hows": "how is",
    "whos": "who is",
    "wheres": "where is",
    "who's": "who is",
    "where's": "where is",
    "how's": "how is",
    "that's": "that is",
    "it's": "it is",
    "there's": "there is",
    "let's": "let us",
    "isn't": "is not",
    "aren't": "are not",
    "don't": "do not",
    "doesn't": "does not",
    "didn't": "did not",
    "hasn't": "has not",
    "haven't": "have not",
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "wasn't": "is not",
    "weren't": "are not",
    "we're": "we are",
    "we've": "we have",
    "i'd": "i would",
    "we'd": "we would",
    "i'm": "i am",
    "which's": "which is",
    "they're": "they are",
    "you're": "you are",
    "we'll": "we will",
    "i've": "i have",
    "dont": "do not",
    "isnt": "is not",
    "arent": "are not",
    "havent": "have not",
    "couldn't": "could not",
}
_CONTRACTION: Final = re.compile(r"\b(?:" + "|".join(_CONTRACTIONS) + r")\b", re.IGNORECASE)
_SPELLINGS: Final = (
    (re.compile(r"\bs\s?&\s?p\b|\bstandard\s+(?:&|and)\s+poor'?s\b", re.IGNORECASE), "SP"),
    (re.compile(r"\bo\s?/\s?c\b", re.IGNORECASE), "OC"),
    (re.compile(r"\bi\s?/\s?c\b", re.IGNORECASE), "IC"),
    (re.compile(r"\bu\.\s?s\.(?:\s?a\.)?", re.IGNORECASE), "US"),
    (re.compile(r"\bu\.\s?k\.", re.IGNORECASE), "UK"),
    (re.compile(r"\bm[\s-]?(?:o|/)[\s-]?m\b", re.IGNORECASE), "month over month"),
    (re.compile(r"\b1(?:\s?l|st[\s-]+lien)\b", re.IGNORECASE), "first lien"),
    (re.compile(r"\b2(?:\s?l|nd[\s-]+lien)\b", re.IGNORECASE), "second lien"),
    (re.compile(r"\b1ls\b", re.IGNORECASE), "first liens"),
    (re.compile(r"\b2ls\b", re.IGNORECASE), "second liens"),
    (
        re.compile(r"(?<!as )\b(?:a|one)[\s-](?=(?:notch|point|year|month|percent(?:age point)?)\b)", re.IGNORECASE),
        "1 ",
    ),
    *(
        (
            re.compile(
                rf"\b{word}[\s-](?=(?:notch|point|year|month|million|percent|bps|basis point)(?:es|s)?\b)",
                re.IGNORECASE,
            ),
            f"{number} ",
        )
        for number, word in enumerate(
            ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 2
        )
    ),
    (re.compile(r"\b(break|split)\s+(.{1,60}?)\s+(?:down|up|out)\s+by\b", re.IGNORECASE), r"breakdown of \2 by"),
    (re.compile(r"\bsingle[\s-]b\b", re.IGNORECASE), "B rated"),
    (re.compile(r"\bdouble[\s-]b\b", re.IGNORECASE), "BB"),
    (re.compile(r"\btriple[\s-]b\b", re.IGNORECASE), "BBB"),
    (
        re.compile(
            r"\b(price[ds]?|trad(?:ing|es?)|marked|quoted|bid)\s+(above|below|over|under|at)\s+par\b", re.IGNORECASE
        ),
        r"\1 \2 100",
    ),
    (
        re.compile(
            r"\b(?:buy|bought|purchased|acquired)\s+(above|below|under|over|at|for\s+less\s+than|for\s+more\s+than)(?=\s+\d)",
            re.IGNORECASE,
        ),
        r"purchase price \1",
    ),
    (re.compile(r"\bat\s+or\s+(?:below|under)\b", re.IGNORECASE), "at most"),
    (re.compile(r"\bat\s+or\s+(?:above|over)\b", re.IGNORECASE), "at least"),
    (re.compile(r"\bw/o\b", re.IGNORECASE), "without"),
    (re.compile(r"\bw/(?=\s)", re.IGNORECASE), "with"),
    (re.compile(r"\bvs\.|\bv\.(?=\s)", re.IGNORECASE), "vs"),
    (re.compile(r"\b(no|avg|approx|incl|excl|max|min)\.", re.IGNORECASE), r"\1"),
)


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
    """A word without the ending of its plural or genitive: loans is loan, industries is industry."""
    word = word.removesuffix("'s").replace("'", "")
    if word in _KEPT or len(word) < 4 or word.endswith(("ss", "us", "is")) or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1]


def tokens_of(question: str) -> list[Token]:
    """The tokens of a question; signs that are none are passed over, punctuation is a mark."""
    text = unicodedata.normalize("NFKC", question).translate(_QUOTES)
    text = _CONTRACTION.sub(lambda found: _CONTRACTIONS[found[0].lower()], text)
    for pattern, said in _SPELLINGS:
        text = pattern.sub(said, text)
    lowered = text.lower()
    if len(lowered) != len(text):  # a sign whose lower case is two: places would differ
        text = lowered
    tokens: list[Token] = []
    before = ""
    for found in _TOKEN.finditer(lowered):
        if (mark := found["mark"]) in _PUNCTUATION:
            before += mark
            continue
        tokens.append(replace(_token(found, text), before=before))
        before = ""
    return tokens


_PUNCTUATION: Final = frozenset("/+?,;:()!.-")


_QUOTES: Final = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "\u00a0": " "})


def _token(found: re.Match[str], text: str) -> Token:
    raw = text[found.start() : found.end()].strip()
    if found["quoted"] is not None:
        return Token("quoted", found["quoted"].strip(), raw)
    if found["iso"] is not None:
        try:
            day = date.fromisoformat(found["iso"])
        except ValueError:
            return Token("word", found["iso"], raw)
        return _period(raw, day, day)
    for day_of_month, month, year in (("day", "day_month", "day_year"), ("us_day", "us_month", "us_year")):
        if found[year] is not None:
            try:
                day = date(int(found[year]), _MONTHS[found[month][:3]], int(found[day_of_month]))
            except ValueError:
                return Token("word", raw.lower(), raw)
            return _period(raw, day, day)
    if found["month_year"] is not None:
        return _months(raw, int(found["month_year"]), _MONTHS[found["month"][:3]], 1)
    if found["quarter"] is not None:
        return _months(raw, int(found["quarter_year"]), 3 * int(found["quarter"]) - 2, 3)
    if found["half"] is not None:
        return _months(raw, int(found["half_year"]), 6 * int(found["half"]) - 5, 6)
    if found["end_year"] is not None:
        return _months(raw, int(found["end_year"]), 12, 1, last_day_only=True)
    if found["margin"] is not None:
        scale = 100.0 if found["margin_unit"] == "%" else 1.0
        return Token("number", raw.lower(), raw, float(found["margin"]) * scale, "bps")
    if found["ordinal"] is not None:
        return Token("word", f"{found['ordinal']}th", raw, float(found["ordinal"]))
    if found["number"] is not None:
        return _number(found, raw)
    if found["rating"] is not None:
        return Token("rating", found["rating"], raw)
    if found["mark"] is not None:
        return Token("word" if raw == "&" else "mark", _MARKS.get(raw, raw), raw)
    return Token("word", stem(found["word"]), raw)


_MARKS: Final = {"≤": "<=", "≥": ">=", "&": "and"}


def _number(found: re.Match[str], raw: str) -> Token:
    value = float(found["number"].replace(",", ""))
    unit = next((name for name in _UNITS if found[name] is not None), _LETTERS.get(found["letter"] or "", ""))
    if unit in _AMOUNTS:
        value, unit = value * _AMOUNTS[unit], "amount"
    elif found["sign"] and not unit:
        unit = "amount"
    if not unit and found["number"].isdigit() and 1990 <= value <= 2100:
        year = int(value)
        return Token("number", raw.lower(), raw, value, "", _span(year, 1, 12))
    return Token("number", raw.lower(), raw, value, unit)


def _period(raw: str, first: date, last: date) -> Token:
    start, end = (float((day - EPOCH).days) for day in (first, last))
    return Token("period", raw.lower(), raw, days=(start, end))


def _months(raw: str, year: int, month: int, count: int, *, last_day_only: bool = False) -> Token:
    if not 1900 <= year <= 2200:
        return Token("word", raw.lower(), raw)
    first, last = _span(year, month, count)
    return Token("period", raw.lower(), raw, days=(last if last_day_only else first, last))


def _span(year: int, month: int, count: int) -> tuple[float, float]:
    end = month + count - 1
    first, last = date(year, month, 1), date(year, end, monthrange(year, end)[1])
    return float((first - EPOCH).days), float((last - EPOCH).days)
