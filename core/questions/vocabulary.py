"""What an analyst's words mean.

Phrases to the quantities, fields, groups, tests and relations of a query.

`words.tsv` and `quantities.tsv` have the phrases as people write them; they are brought to the stems of `tokens`. Of
two phrases at a place the longer one counts. A word that is in no table is a name out of the data, or the question is
not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from core.questions.answer import Unit
from core.questions.tokens import tokens_of

STEMS_KEPT: Final = 20_000
"""Phrases and names whose stems are remembered."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """What can be said of a set of loans, or of each of them."""

    name: str
    unit: Unit
    column: str | None
    """The field of a loan that it is, or averages."""
    test_id: str | None
    """The test of the catalogue whose measure it is over a set of loans."""
    is_average: bool
    """Whether a set has the average, weighted by par, where nothing is said of how."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a phrase can mean."""

    kind: str
    value: object


class PhraseRow(NamedTuple):
    """A row of `words.tsv`."""

    kind: str
    value: str
    label: str
    """Its words in an answer."""
    phrases: str


def _table(name: str) -> list[list[str]]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


_QUANTITY_ROWS: Final = _table("quantities.tsv")
ROWS: Final = [PhraseRow(*cells) for cells in _table("words.tsv")]

QUANTITIES: Final = {
    key: Quantity(name, cast("Unit", unit), column or None, test_id or None, how == "average")
    for key, name, unit, column, test_id, how, _ in _QUANTITY_ROWS
}
RATING_AGENCIES: Final = {"moodys_rating": "a", "sp_rating": "b", "fitch_rating": "c"}
"""A quantity that is one agency's rating -> the agency."""
RATINGS: Final = frozenset(("rating", *RATING_AGENCIES))
NAME_COLUMNS: Final = {
    "obligor": "borrower_name", "facility": "facility_name", "industry": "industry", "country": "country",
    "currency": "currency", "index": "base_rate", "cusip": "cusip", "loanx": "loanx_id", "isin": "isin",
}  # fmt: skip
"""A name that a question may have -> the column of it."""
INDUSTRY_WORDS: Final = {row.phrases: row.value for row in ROWS if row.kind == "industry"}
"""What people say for an industry of the standard list."""


def labels_of(kind: str) -> dict[str, str]:
    """Return the words in an answer of each value of a kind."""
    return {row.value: row.label for row in ROWS if row.kind == kind}


def _value_of(row: PhraseRow) -> Any:
    if row.kind == "superlative":  # which end, and of which quantity; "" for what else is named
        order, _, by = row.value.partition(" ")
        return order, by
    return int(row.value) if row.kind in ("ordinal", "numeral") else row.value


def _entries() -> Iterator[tuple[str, Meaning]]:
    for key, *_, words in _QUANTITY_ROWS:
        yield words, Meaning("quantity", key)
    for row in ROWS:
        if row.kind not in ("industry", "country"):  # names, which are read by value
            yield row.phrases, Meaning(row.kind, _value_of(row))


@cache
def phrases() -> dict[tuple[str, ...], tuple[Meaning, ...]]:
    """Return what each phrase can mean, by its stems."""
    meanings: dict[tuple[str, ...], dict[Meaning, None]] = {}
    for words, meaning in _entries():
        for phrase in words.split("|"):
            if stems := stems_of(phrase):
                meanings.setdefault(stems, {})[meaning] = None
    return {stems: tuple(values) for stems, values in meanings.items()}


@lru_cache(STEMS_KEPT)
def stems_of(phrase: str) -> tuple[str, ...]:
    """Return a phrase as the tokens of a question are written."""
    return tuple(word for token in tokens_of(phrase) for word in token.text.split())


@cache
def longest_phrase() -> int:
    """Return how many words the longest phrase has."""
    return max(map(len, phrases()))
