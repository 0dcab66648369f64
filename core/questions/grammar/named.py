"""Names out of the data in a question.

Obligors, industries, countries, identifiers, tests and portfolios, by value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.portfolio.cells.category_cells import country
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.cells.identifiers import standard
from core.portfolio.model.fields import COUNTRIES
from core.questions.tokens import Token, names
from core.questions.vocabulary import INDUSTRY_WORDS, NAME_COLUMNS, ROWS, phrases, stems_of

NAMES_MAX: Final = 100_000
"""Distinct names of a column that are looked at; of more only identifiers are found."""

ALIKE_MAX: Final = 12
"""Names that a part of a name may mean."""

LEGAL_FORMS: Final = frozenset(
    names(
        "inc llc ltd limited corp corporation co company plc lp llp sa sarl sas sca spa gmbh ag bv nv ab as "
        "oy dac kg se l p s a r"
    )
)

COUNTRY_ADJECTIVES: Final = {
    word: row.value for row in ROWS if row.kind == "country" for word in row.phrases.split("|")
}
COUNTRY_CODES: Final = frozenset(
    ("US", "USA", "UK", "GB", "CA", "DE", "FR", "NL", "LU", "IE", "AU", "KY", "CH", "SE", "UAE")
)
"""Codes that are read where they are written in capitals."""
_NAMES_OF_COUNTRIES: Final = {
    stems_of(name): code for code, names in COUNTRIES.items() for name in names if len(name) > 3
} | {("holland",): "NL"}


@dataclass(frozen=True, slots=True)
class NameMatch:
    """Names that some words of a question mean."""

    field: str
    """obligor, facility, industry, country, currency, cusip, loanx, isin, test, subject."""
    values: tuple[str, ...]
    length: int
    """Words of the question."""
    words: str
    is_whole: bool
    """Whether the words are a whole name, but for its legal form."""
    also: str = ""
    """Another field that has a whole name of these words."""


class Named:
    """The names that a question may have."""

    def __init__(self, subjects: Sequence[Subject], tokens: Sequence[Token] = ()) -> None:
        """Args:
        tokens: the question, so that only names with one of its words are looked at closely.
        """
        self.subjects = subjects
        rare = (
            token.text
            for token in tokens
            if len(token.text) > 2
            and ((token.text,) not in phrases() or token.raw[:1].isupper() or token.kind == "quoted")
        )
        self._probes = tuple(dict.fromkeys(text.split()[0].rstrip("y") for text in rare if text.strip()))

    def at(self, tokens: Sequence[Token], start: int) -> NameMatch | None:
        """The longest name that begins at a word."""
        token = tokens[start]
        if token.kind == "quoted":
            return self._quoted(token)
        candidates = (
            self._identifier(token),
            self._country(tokens, start),
            self._currency(token),
            *(self._of(field, tokens, start) for field in ("industry", "obligor", "facility", "subject", "test")),
        )
        matches = [match for match in candidates if match is not None]
        best = max(matches, key=lambda match: (match.length, match.is_whole), default=None)
        if best is None or not best.is_whole:
            return best
        others = [
            match.field
            for match in matches
            if match.is_whole and match.length == best.length and match.field != best.field
        ]
        return replace(best, also=others[0] if others else "")

    def _quoted(self, token: Token) -> NameMatch | None:
        for field in ("obligor", "facility", "industry", "test", "subject"):
            exact = [value for value in self._values(field) if value.casefold() == token.text.casefold()]
            if exact:
                return NameMatch(field, tuple(exact), 1, token.text, True)
        if (words := stems_of(token.text)) and len(words) <= 20:
            for field in ("obligor", "facility", "industry", "test", "subject"):
                matches = self._lookup(field).longest(words)
                if matches is not None and matches[0] == len(words):
                    return NameMatch(field, tuple(matches[1]), 1, token.text, matches[2])
        return None

    def _identifier(self, token: Token) -> NameMatch | None:
        text = standard(token.raw)
        if not 6 <= len(text) <= 14 or not text.isalnum() or not any(sign.isdigit() for sign in text):
            return None
        for field, column in (("cusip", "cusip"), ("loanx", "loanx_id"), ("isin", "isin")):
            for subject in self.subjects:
                names = subject.portfolio.names.get(column)
                if names is not None and text in names.values:
                    return NameMatch(field, (text,), 1, token.raw, True)
        return None

    def _currency(self, token: Token) -> NameMatch | None:
        if len(token.raw) == 3 and token.raw.isupper() and token.raw in self._values("currency"):
            return NameMatch("currency", (token.raw,), 1, token.raw, True)
        return None

    def _country(self, tokens: Sequence[Token], start: int) -> NameMatch | None:
        for length in (4, 3, 2, 1):
            words = tuple(token.text for token in tokens[start : start + length])
            if len(words) == length and (code := _NAMES_OF_COUNTRIES.get(words)) is not None:
                return NameMatch("country", (code,), length, _words(tokens[start : start + length]), True)
        token = tokens[start]
        if token.raw in COUNTRY_CODES:
            return NameMatch("country", (country(token.raw),), 1, token.raw, True)
        if token.text in COUNTRY_ADJECTIVES:
            return NameMatch("country", (COUNTRY_ADJECTIVES[token.text],), 1, token.raw, True)
        return None

    def _of(self, field: str, tokens: Sequence[Token], start: int) -> NameMatch | None:
        window = tokens[start : start + 24]
        words = tuple(token.text for token in window)
        matches = self._lookup(field).longest(words)
        if matches is None:
            return None
        length, values, is_whole = matches
        used = window[:length]
        known = [
            (word,) in phrases() or token.kind != "word" or len(word) < 3
            for word, token in zip(words[:length], used, strict=True)
        ]
        if all(known):
            capitals = all(token.raw[:1].isupper() or token.kind != "word" for token in used)
            is_sure = length > 1 and (capitals or field in ("test", "subject"))
            if not is_whole or not (is_sure or field == "industry"):
                return None
        if field in ("test", "facility", "subject") and not is_whole:
            return None
        is_part = length == 1 and not is_whole and used[0].raw.islower() and field == "obligor"
        if is_part and not all(stems_of(value)[:1] == words[:1] for value in values):
            return None
        if field == "industry" and not is_whole:  # a word of one name is one of every name that has it
            part = words[:length]
            values = [value for value in self._values(field) if _holds(stems_of(value), part)]
        if len(values) > ALIKE_MAX:
            return None
        if field in ("obligor", "facility") and is_whole:
            while (
                length < len(window)
                and window[length].text in LEGAL_FORMS
                and window[length].raw != window[length].raw.lower()
            ):
                length += 1
        return NameMatch(field, tuple(values), length, _words(tokens[start : start + length]), is_whole)

    def _values(self, field: str) -> list[str]:
        values: dict[str, None] = {}
        for subject in self.subjects:
            if field == "subject":
                values[subject.name] = None
            elif field == "test":
                results = (*subject.results, *subject.results.skipped)
                values |= {result.test_name: None for result in results if result.test_id not in TESTS}
            else:
                names = subject.portfolio.names
                column = names.get(NAME_COLUMNS[field], names.get("obligor") if field == "obligor" else None)
                if column is not None and len(column.values) <= NAMES_MAX:
                    values |= dict.fromkeys(column.values)
        return list(values)

    def _with_a_word(self, values: Sequence[str]) -> Iterator[str]:
        """Those of many names that hold a word of the question."""
        for at, value in enumerate(values):
            if at % 1_000 == 0:
                checkpoint()
            lowered = value.casefold()
            if any(probe in lowered for probe in self._probes):
                yield value

    def _lookup(self, field: str) -> Lookup:
        if field not in self._lookups:
            values = self._values(field)
            if field in ("obligor", "facility"):
                values = list(self._with_a_word(values))
            names = {value: stems_of(value[:200]) for value in values}
            if field in ("obligor", "facility"):
                names = {value: _without_form(words) for value, words in names.items()}
            more: list[tuple[tuple[str, ...], str]] = []
            if field == "industry":
                more = [
                    (stems_of(word), value)
                    for phrases_of, value in INDUSTRY_WORDS.items()
                    for word in phrases_of.split("|")
                    if value in names
                ]
                for value in values:  # what stands before the first comma, colon or "and"
                    if words := stems_of(_FIRST_PART.split(value, maxsplit=1)[0]):
                        more.append((words, value))
            self._lookups[field] = Lookup(names, more, anywhere=field == "obligor")
        return self._lookups[field]

    @cached_property
    def _lookups(self) -> dict[str, Lookup]:
        return {}


_FIRST_PART: Final = re.compile(r"[:,&/]| and ")


class Lookup:
    """Names by their words."""

    def __init__(
        self, names: dict[str, tuple[str, ...]], more: Iterable[tuple[tuple[str, ...], str]], *, anywhere: bool
    ) -> None:
        """Args:
        more: further words for some of the names, which stand for the whole.
        anywhere: whether words from the middle of a name mean it.
        """
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        for value, words in names.items():
            for start in range(len(words) if anywhere else min(1, len(words))):
                self._by_first.setdefault(words[start], []).append((words[start:], value, start == 0))
        self._more: dict[tuple[str, ...], list[str]] = {}
        for words, value in more:
            self._more.setdefault(words, []).append(value)

    def longest(self, words: tuple[str, ...]) -> tuple[int, list[str], bool] | None:
        """(how many of the words, names that begin with or have them)."""
        best, matches, whole = 0, [], False
        for name, value, from_start in self._by_first.get(words[0], ()) if words else ():
            length = 0
            while length < min(len(name), len(words)) and name[length] == words[length]:
                length += 1
            is_whole = length == len(name) and from_start
            if (length, is_whole) > (best, whole):
                best, matches, whole = length, [value], is_whole
            elif (length, is_whole) == (best, whole):
                matches.append(value)
        for length in range(min(5, len(words)), max(0, best - 1), -1):
            values = self._more.get(words[:length])
            if length >= best and values is not None and not (whole and length == best):
                return length, list(dict.fromkeys(values)), True
        return (best, list(dict.fromkeys(matches)), whole) if best else None


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))


def _without_form(words: tuple[str, ...]) -> tuple[str, ...]:
    """A name's words without its legal form."""
    kept = list(words)
    while len(kept) > 1 and kept[-1] in LEGAL_FORMS:
        kept.pop()
    return tuple(kept)


def _words(tokens: Sequence[Token]) -> str:
    return " ".join(token.raw for token in tokens)
