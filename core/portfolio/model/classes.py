"""The names of a deal's classes: which text is one, which a test is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from core.remembered import remembered

NAME_LENGTH_MAX: Final = 120
"""Characters of a text that can be the name of a class."""

NAMED_SHARE: Final = 0.8
"""Share of a column's names that are classes from which it lists notes and not loans."""

_CODE: Final = (
    r"[A-Z](?:\s?-?\s?\d{1,2}(?:[\s-]?[A-Z](?![A-Za-z]))?)?(?:\s?-?\s?[RLNF]{1,3}\d?(?![A-Za-z]))*(?![A-Za-z\d])"
)
"""A letter with its number and the marks of a reset, a loan, a new or a fixed note: A, B-1, A-1-R, CR2, A-1A, BF."""

_CLASS: Final = r"(?:classe?s?|klassen?|clases?)"
"""The word for classes, in other languages too: of "Classe A" the e is no class."""

_KINDS: Final = (
    r"(?:senior|secured|unsecured|mezzanine|junior|deferrable|floating|fixed|rate|revolving|term|delayed|draw|refinancing|"
    r"replacement|exchange|re-?priced|subordinated|x|rule|144a|reg|s|eur|usd|gbp|euro|dollar|due|\d{4}|"
    r"notes?|loans?|debt|securities|tranche)"
)
_INCOME: Final = (
    r"(?:subordinated|sub|income|equity|prefer(?:ence|red)|residual|participating)"
    r"(?:\s+(?:notes?|shares?|interests?|securities|certificates?|tranche|loans?|due|\d{4}))*"
)
_WORDED: Final = re.compile(
    rf"\s*(?:(?:{_CLASS}|tranches?)\s+(?:{_CODE}(?:[\s,-]+{_KINDS})*|(?:[A-Z](?:[\s-]?\d)?\s+)?{_INCOME})"
    rf"|{_CODE}[\s,-]+(?:{_KINDS}[\s,-]+)*(?:notes?|loans?)(?:[\s,-]+{_KINDS})*"
    rf"|(?:[A-Z](?:[\s-]?\d)?\s+)?{_INCOME})\s*",
    re.IGNORECASE,
)
_BARE: Final = re.compile(rf"\s*{_CODE}\s*", re.IGNORECASE)


@remembered(4_096)
def is_class_name(text: str) -> bool:
    """Return whether a text names a class: "Class A-1 Notes", "B-2R", "Equity"."""
    return len(text) <= NAME_LENGTH_MAX and (_WORDED.fullmatch(text) or _BARE.fullmatch(text)) is not None


def are_class_names(texts: Iterable[str]) -> bool:
    """Return whether a column lists notes: nearly all names of classes, one in words."""
    names = [text for text in texts if text.strip()]
    named = sum(is_class_name(text) for text in names)
    return named >= max(1, NAMED_SHARE * len(names)) and any(
        _WORDED.fullmatch(text[:NAME_LENGTH_MAX]) for text in names
    )


# ---- which classes a test is about ---------------------------------------------------------------------------------

_PART: Final = re.compile(rf"(?<![A-Za-z\d])({_CODE})", re.IGNORECASE)
_LISTED: Final = re.compile(
    rf"\b{_CLASS}\s*({_CODE}(?:\s*(?:/|,|&|\+|\band\b|-and-)\s*(?:{_CLASS}\s*)?{_CODE})*)", re.IGNORECASE
)
_JOINED: Final = re.compile(rf"^\W*({_CODE}(?:\s*/\s*{_CODE})*)\W*(?:notes?|$)", re.IGNORECASE)
_MARKS: Final = re.compile(r"(?<=[A-Z\d])[RLNF]{1,3}\d?$")


@remembered(4_096)
def class_keys(text: str) -> tuple[str, ...]:
    """Return the classes that a test's name lists as keys: A1, A2, B.

    For example of "Class A-1/A-2/B Par Value Test".
    """
    text = text[:NAME_LENGTH_MAX]
    match = _LISTED.search(text) or _JOINED.match(text)
    if match is None:
        return ()
    return tuple(dict.fromkeys(class_key(part[1]) for part in _PART.finditer(match[1])))


@remembered(4_096)
def class_key(text: str) -> str:
    """Return letter and number of a class, "Class B-1-R Notes" is B1; "" for income."""
    match = re.search(rf"\b(?:{_CLASS}|tranche)\s+({_CODE})", text[:NAME_LENGTH_MAX], re.IGNORECASE) or re.match(
        rf"\s*({_CODE})", text, re.IGNORECASE
    )
    if match is None:
        return ""
    code = re.sub(r"[^A-Z\d]", "", match[1].upper())
    return _MARKS.sub("", code)


def covers(key: str, note: str) -> bool:
    """Return whether a listed class includes a note, as keys: B includes B1."""
    return bool(key) and (
        note == key or (note.startswith(key) and not (key[-1].isdigit() and note[len(key)].isdigit()))
    )
