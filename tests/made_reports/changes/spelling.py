"""Other spellings of a heading.

Abbreviations, case, underscores, footnote marks, words without vowels.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Final

ABBREVIATIONS: Final = {
    "moody's": "Mdy", "rating": "Rtg", "amount": "Amt", "balance": "Bal", "principal": "Prin", "maturity": "Mat",
    "date": "Dt", "coupon": "Cpn", "price": "Px", "market": "Mkt", "description": "Desc", "industry": "Ind",
    "country": "Ctry", "currency": "Ccy", "frequency": "Freq", "payment": "Pmt", "recovery": "Rec",
    "average": "Avg", "weighted": "Wtd", "facility": "Fac", "purchase": "Purch", "commitment": "Cmt",
    "current": "Curr", "defaulted": "Dflt", "default": "Dflt", "outstanding": "O/S", "number": "No.",
    "classification": "Class", "probability": "Prob", "corporate": "Corp", "acquisition": "Acq.",
}  # fmt: skip
_MARKS: Final = ("(1)", "*", " (a)", "\u00b9", " (2)", "\u2020", ":")
_LONG: Final = 7
"""Letters of a word that may lose its vowels."""


def _abbreviated(rng: Random, words: str) -> str:
    return " ".join(ABBREVIATIONS.get(word.lower(), word) for word in words.split(" "))


def _without_vowels(rng: Random, words: str) -> str:
    """Drop the vowels of the longest word, as OTSTNDNG."""
    longest = max(words.split(" "), key=len)
    if len(longest) < _LONG or not longest.isalpha():
        return words.upper()
    return words.replace(longest, longest[0] + re.sub("[aeiouAEIOU]", "", longest[1:])).upper()


def _snake(rng: Random, words: str) -> str:
    text = re.sub("[^A-Za-z0-9]+", "_", words.replace("S&P", "SP").replace("'", "")).strip("_")
    return rng.choice((text.upper(), text.lower()))


def _camel(rng: Random, words: str) -> str:
    parts = re.split("[^A-Za-z0-9]+", words.replace("S&P", "SP").replace("'", ""))
    return "".join(part[:1].upper() + part[1:] for part in parts)


SPELLINGS: Final[tuple[tuple[str, Callable[[Random, str], str]], ...]] = (
    ("abbreviated", _abbreviated),
    ("without vowels", _without_vowels),
    ("snake", _snake),
    ("camel", _camel),
    ("upper", lambda rng, words: words.upper()),
    ("lower", lambda rng, words: words.lower()),
    ("footnote", lambda rng, words: words + rng.choice(_MARKS)),
    ("broken", lambda rng, words: words.replace(" ", "\n", 1)),
    ("curly", lambda rng, words: words.replace("'", "\u2019")),
    ("spaces", lambda rng, words: f" {words.replace(' ', '  ', 1)} "),
    ("no apostrophe", lambda rng, words: words.replace("'s", "s")),
)
"""Name and what it makes of a heading."""


def respelled(rng: Random, words: str) -> str:
    """Spell a heading in one other way, or in two."""
    for _, spell in rng.sample(SPELLINGS, rng.choice((1, 1, 1, 2))):
        words = spell(rng, words)
    return words
