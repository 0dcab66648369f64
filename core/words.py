"""Words of messages: counts with their nouns, and what a misspelt name meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

NAMES_MAX: Final = 2_000
"""Names among which near ones are looked for."""

LISTED_MAX: Final = 12
"""Names that a message lists."""

ASKED_MAX: Final = 100
"""Characters of a misspelt name that are looked at and shown."""


# Counts ---------------------------------------------------------------------------------------------------------------


def plural(noun: str) -> str:
    """Return the plural of a regular noun; of several words, of the last."""
    if not noun:
        return ""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")


def counted(count: float, noun: str, verb: str = "") -> str:
    """Return a count with its noun: 1 test, 1,000 loans, 0 industries.

    Of the verb "was/were" the half that goes with it.
    """
    words = f"{count:,.0f} {noun if count == 1 else plural(noun)}"
    return f"{words} {agreed(count, verb)}" if verb else words


def agreed(count: float, words: str) -> str:
    """Return the half of "was/were" that goes with a count."""
    singular, many = words.split("/")
    return singular if count == 1 else many


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case, and the rest as it is."""
    return text[:1].upper() + text[1:]


# Names ----------------------------------------------------------------------------------------------------------------


def first_of(things: Sequence[T], most: int = 5, show: Callable[[T], str] = str, between: str = ", ") -> str:
    """Return the first few things as text, and how many more there are."""
    more = len(things) - most
    return between.join(map(show, things[:most])) + (f" and {more:,} more" if more > 0 else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the name of `known` that a misspelt one may have meant, or None."""
    names = {each.casefold(): each for each in islice(known, NAMES_MAX)}
    close_matches = get_close_matches(name[:ASKED_MAX].casefold(), names, n=1)
    return names[close_matches[0]] if close_matches else None


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return what a message about an unknown name ends with.

    What may have been meant, and the names that there are.
    """
    names = list(islice(known, NAMES_MAX))
    listed = first_of(names, LISTED_MAX)
    if near := nearest(name, names):
        return f"did you mean {near}? There are: {listed}"
    return f"there are: {listed}" if names else ""
