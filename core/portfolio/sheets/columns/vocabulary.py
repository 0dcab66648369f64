"""Weigh a heading's words: for each role the sum of its phrases' weights."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from core.portfolio.model.facts import AGENCIES

HEADING_LENGTH_MAX: Final = 160
"""Characters of a heading that are looked at."""

TOKENS_MAX: Final = 24
"""Words of a heading that are weighed."""

PHRASE_TOKENS_MAX: Final = 4
"""Words of the longest phrase."""

MEMORY_MAX: Final = 8_192
"""Headings whose weights are remembered: those of one workbook come again with the next request."""

READINGS_MAX: Final = 8
"""Ways to read the doubtful abbreviations of one heading."""

FULL_WEIGHT: Final = 6.0
"""Of what lies above it only `REST_SHARE` counts: a heading that says a thing twice is not twice as sure."""
REST_SHARE: Final = 0.35
WEIGHT_MIN: Final = -9.0

UNKNOWN_WEIGHT: Final = -0.3
"""What a word counts that no phrase knows, down to `UNKNOWN_MIN`."""
UNKNOWN_MIN: Final = -1.2

OWN_AGENCY: Final = 3.0
OTHER_AGENCY: Final = -8.0
NO_AGENCY: Final = -0.7
"""What a role of one agency gains or loses by the agency that a heading names."""
NO_AGENCY_BESIDE: Final = -1.3
"""The same where a role without an agency exists (rating, industry, recovery)."""

ALTERNATIVE_LEAD: Final = 0.8
"""By how much the second meaning of a doubtful abbreviation must score better."""

BRACKETED: Final = 0.7
"""What words in brackets count that give a unit or a basis; other short ones count `BRACKETED_OTHER`."""
BRACKETED_OTHER: Final = 0.5
EXPLANATION: Final = 0.15
"""What words of a longer bracket count."""
EXPLANATION_TOKENS: Final = 4
AFTER_INCLUDING: Final = 0.25
"""What words count behind "incl.", "for", "if", "with", up to the next comma; behind "excl." they count nothing."""
GROUP_SHARE: Final = 0.45
"""What the words of an upper row of the header count; those that speak against a role count in full."""

OTHER_LANGUAGES: Final = "languages"
"""Source of the words that stand for English ones."""

WORD_LENGTH_MIN: Final = 3
"""Letters of an unknown word that may be a known one with letters left out."""

ROLES_BESIDE: Final = frozenset(("rating_@", "industry_@", "recovery_@"))

_SOURCE: Final = Path(__file__).with_name("words.tsv")
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'", "\u00a0": " ", "\u2013": "-", "\u2014": "-"})
_WHOLE: Final = (
    (re.compile(r"s\s?&\s?p", re.IGNORECASE), " sp "),
    (re.compile(r"standard (?:and|&) poor'?s?|(?<![a-z])s and p(?![a-z])", re.IGNORECASE), " sp "),
    (re.compile(r"moody'?s?(?![a-z])", re.IGNORECASE), " moodys "),
    (re.compile(r"\b(?:used )?for warf\b", re.IGNORECASE), " warf "),
    (re.compile(r"piking|\bpik'ing", re.IGNORECASE), " piking "),
    (re.compile(r"loan\s?x(?![a-z])", re.IGNORECASE), " loanx "),
    (re.compile(r"\by/n\b", re.IGNORECASE), " yn "),
    (re.compile(r"\bo/s\b", re.IGNORECASE), " outstanding "),
    (
        re.compile(
            r"\bno(?:n)? (?:tir|dispuest|utilis|utilizad|utilizzat)(?:ee?s?|es?|[aoi]s?)?\b"
            r"|\bnicht (?:gezogen|genutzt|in anspruch genommen)(?:e[rs]?)?\b",
            re.IGNORECASE,
        ),
        " unfunded ",
    ),
    (re.compile(r"\b(?:us)?\$|[€£¥]"), " "),
    (re.compile(r"%"), " percent "),
    (re.compile(r"#"), " number "),
)
"""Names that must not be cut at their case or signs."""
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_TOKEN: Final = re.compile(r"[a-z]+|\d+|,|;")
_BRACKET: Final = re.compile(r"\(([^()]{0,160})\)|\[([^\[\]]{0,160})\]")
_INCLUDING: Final = frozenset(("incl", "including", "for", "if", "with", "as"))
_EXCLUDING: Final = frozenset(("excl", "excluding", "ex"))
_UNITS: Final = frozenset(
    (
        "percent", "bps", "bp", "usd", "eur", "gbp", "million", "millions", "mm", "mn", "m", "thousand", "thousands",
        "000", "000s", "k", "yn", "years", "days", "settled", "traded", "funded", "local", "deal", "native", "currency",
        "issue", "points", "of", "par", "in",
    )
)  # fmt: skip
"""Words of a bracket that gives a unit or a basis."""
_IGNORED: Final = frozenset(("the", "a", "an", "of", "and", "or", "in", "per", "by", "at", "to", "is", "s", "on"))
"""Words that are not counted as unknown."""


class HeadingWords(NamedTuple):
    """The rows of `words.tsv`, by what they are for."""

    phrases: dict[tuple[str, ...], list[tuple[str, float]]]
    """Phrase -> (role, weight); a role of agencies with its "@"; "*" for all roles that are fields."""
    abbreviations: dict[str, tuple[str, ...]]
    alternatives: dict[str, tuple[str, ...]]
    roles: tuple[str, ...]
    """All roles, those of agencies once each agency."""
    vocabulary: frozenset[str]
    """Words of phrases and abbreviations, whose letters may be left out: none of another language."""
    kinds: dict[str, dict[tuple[str, ...], float]]
    """Kind of a sheet -> the weights of phrases in its name and title."""
    priors: dict[str, float]
    """Role -> what it gains where a column has no known heading."""


class Heading(NamedTuple):
    """What the words of one heading say."""

    weights: dict[str, float]
    """Role -> weight; roles that no phrase speaks for or against are left out."""
    known: int
    """Words that a phrase knows."""
    total: int = 0
    """Words, but for those that mean nothing alone, and numbers."""
    names_agency: bool = False
    against: float = 0.0
    """Weight of words that speak against every field: prior, at purchase, change."""

    def best(self, beside: Iterable[str] = ()) -> tuple[str, float]:
        """Return the role with the highest weight; ("", 0) for none above 0."""
        left_out = frozenset(beside)
        candidates = [(weight, role) for role, weight in self.weights.items() if weight > 0 and role not in left_out]
        if not candidates:
            return "", 0.0
        weight, role = max(candidates)
        return role, weight


@cache
def words() -> HeadingWords:
    """Read the table of words, once."""
    phrases: dict[tuple[str, ...], list[tuple[str, float]]] = {}
    abbreviations: dict[str, tuple[str, ...]] = {}
    alternatives: dict[str, tuple[str, ...]] = {}
    kinds: dict[str, dict[tuple[str, ...], float]] = {}
    priors: dict[str, float] = {}
    roles: dict[str, None] = {}
    whole: set[str] = set()
    for line in _SOURCE.read_text("utf-8").splitlines():
        if not line or line[0] == "#":
            continue
        role, phrase, weight, source, *_ = *line.split("\t"), ""
        if role in ("@abbr", "@alt"):
            short, _, long = phrase.partition(" = ")
            if source == OTHER_LANGUAGES:
                whole.add(short)
            (abbreviations if role == "@abbr" else alternatives)[short] = tuple(long.split())
        elif role.startswith("@kind "):
            kinds.setdefault(role.removeprefix("@kind "), {})[tuple(phrase.split())] = float(weight)
        elif role == "@prior":
            priors[phrase] = float(weight)
        elif role != "@agency":
            phrases.setdefault(tuple(phrase.split()), []).append((role, float(weight)))
            roles |= dict.fromkeys([role] if role != "*" else [])
    expanded = tuple(of_agency for role in roles for of_agency in _of_agencies(role))
    known = {word for phrase in phrases for word in phrase} | abbreviations.keys()
    known = known - whole | {word for long in abbreviations.values() for word in long}
    return HeadingWords(phrases, abbreviations, alternatives, expanded, frozenset(known), kinds, priors)


def _of_agencies(role: str) -> tuple[str, ...]:
    return tuple(role.replace("@", agency) for agency in AGENCIES) if "@" in role else (role,)


def is_sink(role: str) -> bool:
    """Return whether a role is no field: another date, another amount, a comment."""
    return role.startswith("x_")


def heading(text: str, groups: tuple[str, ...] = ()) -> Heading:
    """Weigh the words of a heading for every role.

    Args:
        groups: the words of the header's upper rows over the column, the highest first.
    """
    return _heading(text[:HEADING_LENGTH_MAX], tuple(group[:HEADING_LENGTH_MAX] for group in groups))


@lru_cache(maxsize=MEMORY_MAX)
def _heading(text: str, groups: tuple[str, ...]) -> Heading:
    table = words()
    parts = [(token, GROUP_SHARE, True) for group in groups for token, _ in _tokens(group)]
    parts += [(token, factor, False) for token, factor in _tokens(text)]
    best: tuple[float, Heading] | None = None
    for at, reading in enumerate(_readings(parts[:TOKENS_MAX], table)):
        candidate = _weigh(reading, table)
        score = candidate.best()[1] - (ALTERNATIVE_LEAD if at else 0.0)
        if best is None or score > best[0]:
            best = score, candidate
    assert best is not None
    return best[1]


@lru_cache(maxsize=MEMORY_MAX)
def tokens_of(text: str) -> frozenset[str]:
    """Return the words of a heading, abbreviations spelt out."""
    return frozenset(word for token, _ in _tokens(text[:HEADING_LENGTH_MAX]) for word in _meaning(token))


# ---- tokens --------------------------------------------------------------------------------------------------------


def _tokens(text: str) -> Iterator[tuple[str, float]]:
    """Yield the words of a heading in lower case, each with what it counts."""
    text = text.translate(_QUOTES)
    if not text.isascii():
        text = "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))
    for pattern, whole in _WHOLE:
        text = pattern.sub(whole, text)
    place = 0
    for bracket in _BRACKET.finditer(text):
        yield from _behind_including(_split_words(text[place : bracket.start()]))
        place = bracket.end()
        inside = [split_word for split_word in _split_words(bracket[1] or bracket[2] or "") if split_word.isalnum()]
        is_unit = all(word in _UNITS for word in inside)
        factor = BRACKETED if is_unit else BRACKETED_OTHER if len(inside) < EXPLANATION_TOKENS else EXPLANATION
        factor = 0.0 if inside and inside[0] in _EXCLUDING else factor
        yield from ((token, factor) for token in inside)
    yield from _behind_including(_split_words(text[place:]))


def _split_words(text: str) -> list[str]:
    """Split words, numbers and commas at case, signs and digits.

    A word that a line's end parted is one again.
    """
    if "-" in text:
        text = _PARTED.sub(_rejoin, text)
    return _TOKEN.findall(_CAMEL.sub(" ", text).lower())


_PARTED: Final = re.compile(r"([A-Za-z]{2,})-\s*([a-z]{2,})")


def _rejoin(match: re.Match[str]) -> str:
    whole = f"{match[1]}{match[2]}".lower()
    known = words().vocabulary
    return whole if whole in known and not (match[1].lower() in known and match[2] in known) else match[0]


def _behind_including(tokens: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Yield words with factors: what stands behind "incl." only explains.

    What stands behind "excl." counts nothing.
    """
    factor, is_first = 1.0, True
    for token in tokens:
        if token in (",", ";"):
            factor = 1.0
        elif token in _EXCLUDING and not is_first:
            factor = 0.0
        elif token in _INCLUDING and not is_first:
            factor = AFTER_INCLUDING
        else:
            yield token, factor
            is_first = False


def _readings(parts: list[tuple[str, float, bool]], table: HeadingWords) -> Iterator[list[tuple[str, float, bool]]]:
    """Yield the heading with abbreviations spelt out, then second meanings."""
    yield _spelt(parts, table, -1)
    doubtful = [at for at, (token, _, _) in enumerate(parts) if token in table.alternatives]
    for at in doubtful[: READINGS_MAX - 1]:
        yield _spelt(parts, table, at)


def _spelt(
    parts: list[tuple[str, float, bool]], table: HeadingWords, alternative: int
) -> list[tuple[str, float, bool]]:
    """Return the words that the tokens stand for.

    Args:
        alternative: the token that has its second meaning; -1 for none.
    """
    words: list[tuple[str, float, bool]] = []
    for at, (token, factor, is_group) in enumerate(parts):
        if at == alternative:
            meaning: tuple[str, ...] = table.alternatives[token]
        else:
            meaning = _meaning(token)
        words += [(word, factor, is_group) for word in meaning]
    return words


@lru_cache(maxsize=MEMORY_MAX)
def _meaning(token: str) -> tuple[str, ...]:
    """Return a token's words: spelt out, split in two, or completed."""
    table = words()
    if token in table.abbreviations:
        return table.abbreviations[token]
    if token in table.vocabulary or token.isdigit() or len(token) < WORD_LENGTH_MIN:
        return (token,)
    for cut in range(len(token) - 2, 1, -1):
        left, right = token[:cut], token[cut:]
        if left in table.vocabulary and right in table.vocabulary:
            return (*_meaning(left), *_meaning(right))
    return _expand(token, table) or _two_words(token, table) or (token,)


def _two_words(token: str, table: HeadingWords) -> tuple[str, ...]:
    """Split two words written as one, perhaps shortened: OTSTNDNGPRIN; else ()."""
    for cut in range(len(token) - WORD_LENGTH_MIN, WORD_LENGTH_MIN - 1, -1):
        left, right = token[:cut], token[cut:]
        if left in table.vocabulary and (whole := _expand(right, table)):
            return (*_meaning(left), *whole)
        if right in table.vocabulary and (whole := _expand(left, table)):
            return (*whole, *_meaning(right))
    return ()


def _expand(token: str, table: HeadingWords) -> tuple[str, ...]:
    """Return the known word that a token shortens: OTSTNDNG; () for none."""
    if len(token) < WORD_LENGTH_MIN + 1:
        return ()
    words = {
        word
        for word in table.vocabulary
        if len(word) > len(token)
        and word[0] == token[0]
        and _is_within(token, word)
        and (word[-1] == token[-1] or word[:3] == token[:3])
        and len(token) * 2 >= len(word)
    }
    meanings = {table.abbreviations.get(word, (word,)) for word in words}
    return meanings.pop() if len(meanings) == 1 else ()


def _is_within(token: str, word: str) -> bool:
    letters = iter(word)
    return all(letter in letters for letter in token)


# ---- weights -------------------------------------------------------------------------------------------------------


def _weigh(tokens: list[tuple[str, float, bool]], table: HeadingWords) -> Heading:
    """Return the weights of all roles by the phrases among some words."""
    sums: dict[str, float] = {}
    against = 0.0
    known: set[int] = set()
    texts = [token for token, _, _ in tokens]
    for at in range(len(tokens)):
        for length in range(1, min(PHRASE_TOKENS_MAX, len(tokens) - at) + 1):
            rows = table.phrases.get(tuple(texts[at : at + length]))
            if rows is None:
                continue
            part = tokens[at : at + length]
            factor = min(share for _, share, _ in part)
            is_group = all(group for _, _, group in part)
            known.update(range(at, at + length))
            for role, weight in rows:
                counted = weight * (1.0 if weight < 0 and is_group else factor)
                if role == "*":
                    against += counted
                else:
                    sums[role] = sums.get(role, 0.0) + counted
    unknown = sum(1 for at, text in enumerate(texts) if at not in known and text not in _IGNORED and not text.isdigit())
    penalty = max(UNKNOWN_MIN, UNKNOWN_WEIGHT * unknown)
    named = {str(agency) for agency, word in zip(AGENCIES, ("moodys", "sp", "fitch"), strict=True) if word in texts}
    weights: dict[str, float] = {}
    for role, total in sums.items():
        base = total + penalty + (0.0 if is_sink(role) else against)
        for of_agency in _of_agencies(role):
            weights[of_agency] = _clip(base + (_of_agency(role, of_agency[-1], named) if "@" in role else 0.0))
    return Heading(weights, len(known), len(known) + unknown, bool(named), against)


def _of_agency(role: str, agency: str, named: set[str]) -> float:
    if not named:
        return NO_AGENCY_BESIDE if role in ROLES_BESIDE else NO_AGENCY
    return OWN_AGENCY if agency in named else OTHER_AGENCY


def _clip(weight: float) -> float:
    if weight > FULL_WEIGHT:
        return FULL_WEIGHT + REST_SHARE * (weight - FULL_WEIGHT)
    return max(weight, WEIGHT_MIN)


# ---- names of sheets -----------------------------------------------------------------------------------------------


_OLD: Final = frozenset(("copy",))
"""Words of names of sheets that would be read as others with letters left out: a copy is no company."""


@lru_cache(maxsize=MEMORY_MAX)
def kind_weights(text: str) -> dict[str, float]:
    """Return kind of a sheet -> what the words of its name say for it."""
    table = words()
    tokens = [token for token, _ in _tokens(text[:HEADING_LENGTH_MAX])]
    texts = [word for token in tokens for word in ((token,) if token in _OLD else _meaning(token))][:TOKENS_MAX]
    runs = {tuple(texts[at : at + size]) for at in range(len(texts)) for size in range(1, PHRASE_TOKENS_MAX + 1)}
    return {
        kind: total
        for kind, phrases in table.kinds.items()
        if (total := sum(weight for phrase, weight in phrases.items() if phrase in runs))
    }
