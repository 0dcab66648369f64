"""What the words of reports mean: roles by summed weights from `words.tsv`."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

TEXT_LENGTH_MAX: Final = 300
"""Characters of a text that is looked at."""

MEMORY_MAX: Final = 4_096
"""Texts whose roles are remembered: the words of one report come again in the next."""

SCORE_MIN: Final = 2.5
"""Weight from which a text has a role."""

SIDE_SHARE: Final = 0.4
"""What a phrase counts behind a word that opens a side clause."""

_SOURCE: Final = Path(__file__).with_name("words.tsv")

_SIDE: Final = re.compile(
    r"\b(?:(?:that|which|who) (?:is|are|has|have)|in respect of|with respect to|subject to|excluding|including|"
    r"other than those|of (?:the )?collateralobligation|issued by|to the extent|with excess)\b"
)
"""Words behind which a text says more of its subject, and no subject of its own."""

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_QUOTES: Final = str.maketrans({"\u2019": "'", "\u2018": "'", "`": "'", "\u201c": '"', "\u201d": '"',
                                "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u00a0": " ", "_": " "})  # fmt: skip
_APART: Final = re.compile(r"\s*([/&()+=<>#])\s*")
_HYPHEN: Final = re.compile(r"(?<=[a-z])-(?=[a-z])|(?<=non)- (?=[a-z])")
_DROPPED: Final = re.compile(r"[,;:\"!?*\[\]{}|]|\.(?!\d)|'(?!s\b)")


_NOTED_STATUS: Final = re.compile(r"(pass(?:ed)?|fail(?:ed)?)(?: ?[*\u2020\u2021^]+| ?\(.*\)| - .*)$")
"""An outcome with a mark or a note behind it."""


_SIGNS: Final = " *!●•■▲▼►○✓✔✅☑✗✘✖❌☒"
"""Signs beside an outcome in words."""


class Guess(NamedTuple):
    """The role that a text's words say."""

    role: str | None
    """None where no role reaches `SCORE_MIN`."""
    score: float
    lead: float
    """By how much it leads the next one: below 1.5 the two are hard to tell apart."""


_NONE: Final = Guess(None, 0.0, 0.0)


@cache
def _rows() -> tuple[tuple[str, str, str], ...]:
    """Return (role, phrase, what it counts or becomes) of every row of the words."""
    rows = [line.split("\t") for line in _SOURCE.read_text("utf-8").splitlines() if line and line[0] != "#"]
    return tuple((role, phrase, value) for role, phrase, value in rows)


@cache
def _normal_rows() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(phrase), f" {value} ") for role, phrase, value in _rows() if role == "normal")


@cache
def _phrases(group: str) -> tuple[tuple[str, re.Pattern[str], float], ...]:
    """Return (role without its group, phrase, weight) of a group, such as "test"."""
    start = f"{group}."
    return tuple(
        (role.removeprefix(start), re.compile(rf"(?<![a-z0-9])(?:{phrase})(?![a-z0-9])"), float(value))
        for role, phrase, value in _rows()
        if role.startswith(start)
    )


@cache
def _values(role: str) -> dict[str, str]:
    """Return phrase -> value of a role whose phrases are plain words."""
    return {phrase: value for group, phrase, value in _rows() if group == role}


@cache
def _alone(role: str) -> re.Pattern[str]:
    """Return one pattern of all phrases of a role."""
    return re.compile("|".join(f"(?:{phrase})" for group, phrase, _ in _rows() if group == role))


@lru_cache(MEMORY_MAX)
def normal(text: str) -> str:
    """Return the normal form of a text, with a blank before and behind it."""
    text = _CAMEL.sub(" ", text[:TEXT_LENGTH_MAX].translate(_QUOTES)).lower()
    for phrase, value in _normal_rows():
        text = phrase.sub(value, text)
    text = _HYPHEN.sub(" ", _APART.sub(r" \1 ", text))
    return f" {' '.join(_DROPPED.sub(' ', text).split())} "


@lru_cache(MEMORY_MAX)
def scores(group: str, text: str) -> dict[str, float]:
    """Return role -> what the words of a text count for it, roles above 0 only."""
    return scores_of_normal(group, normal(text))


def scores_of_normal(group: str, words: str) -> dict[str, float]:
    """Return the same of words that are in their normal form."""
    matches = [
        (role, match.start(), weight)
        for role, phrase, weight in _phrases(group)
        if (match := phrase.search(words)) is not None
    ]
    side = _SIDE.search(words, 2)
    behind = side.end() if side else len(words)
    if not any(start < behind for _, start, _ in matches):
        behind = len(words)  # "collateral obligations that are bridge loans": the clause is all that is said
    scores: dict[str, float] = {}
    for role, start, weight in matches:
        scores[role] = scores.get(role, 0.0) + (weight if start < behind else SIDE_SHARE * weight)
    return {role: score for role, score in scores.items() if score > 0}


@lru_cache(MEMORY_MAX)
def guess(group: str, text: str) -> Guess:
    """Return the role of a group that a text's words say."""
    return guess_of(scores(group, text))


def guess_of(scores: dict[str, float]) -> Guess:
    """Return the role that leads."""
    if not scores:
        return _NONE
    (role, score), *others = sorted(scores.items(), key=lambda pair: -pair[1])
    lead = score - (others[0][1] if others else 0.0)
    return Guess(role if score >= SCORE_MIN else None, score, lead)


@lru_cache(MEMORY_MAX)
def status_of(text: str) -> Literal["pass", "fail"] | None:
    """Return what a cell says of a test's outcome."""
    plain = " ".join(text.lower().split())
    spellings = (plain, plain.replace("-", " "), plain.strip(_SIGNS))
    value = next((value for spelling in spellings if (value := _values("status").get(spelling))), None)
    if value is None and (noted := _NOTED_STATUS.match(plain)) is not None:
        value = _values("status").get(noted[1])
    return "pass" if value == "pass" else "fail" if value == "fail" else None


def direction_of(measure: str) -> Literal["min", "max"]:
    """Return a measure's usual side of the limit; a share has a maximum."""
    return "min" if _values("direction").get(f"test.{measure}") == "min" else "max"


@lru_cache(MEMORY_MAX)
def basis_of(text: str) -> str:
    """Return the basis of a column's amounts: "traded", "settled", or ""."""
    plain = normal(text)
    return next((value for phrase, value in _values("basis").items() if re.search(phrase, plain)), "")


@lru_cache(MEMORY_MAX)
def is_less(text: str) -> bool:
    """Return whether a label subtracts its amount, whatever its sign."""
    return _alone("line sign").search(normal(text)) is not None


@lru_cache(MEMORY_MAX)
def is_rating_label(text: str) -> bool:
    """Return whether a text is the first cell of a rating table's row."""
    return _alone("rating label").search(" ".join(text.lower().split())) is not None


@lru_cache(MEMORY_MAX)
def says_none(text: str) -> bool:
    """Return whether a text says that its page has nothing ("No data available")."""
    plain = " ".join(text.translate(_QUOTES).lower().split())
    return plain.startswith("no data available") or _alone("page.empty").search(plain) is not None


@lru_cache(MEMORY_MAX)
def is_total(text: str) -> bool:
    """Return whether a row's label begins or ends with the word for a total."""
    plain = normal(text).strip()
    return (
        re.match(r"(?:grand )?(?:sub ?)?totals?\b", plain) is not None
        or re.search(r"\b(?:sub ?)?totals?$", plain) is not None
    )
