"""Questions that can be answered over the portfolios at hand.

The nearest to one that is refused, and useful ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.insights.subject import Subject
from core.questions.grammar.interpreting import interpret
from core.questions.grammar.lexemes import Lexeme
from core.questions.grammar.question import Unread
from core.questions.query import Query
from core.words import capitalize

SUGGESTIONS: Final = 3

WORDS_LEAST: Final = 2
"""Words of the nearest question; a shorter one says too little of what was meant."""

_JOINING: Final = frozenset(("by", "from", "and", "or", "without", "not"))
"""Words that lead to what follows."""


def _has(column: str) -> Callable[[Subject], bool]:
    def has(subject: Subject) -> bool:
        portfolio = subject.portfolio
        return column in portfolio.numbers or column in portfolio.names or column in portfolio.ranks

    return has


_QUESTIONS: Final[tuple[tuple[str, Callable[[Subject], bool]], ...]] = (
    ("Which tests have the thinnest cushion?", lambda subject: bool(subject.results)),
    ("Which loans are new since last month?", lambda subject: subject.previous is not None),
    ("What are the 5 largest industries?", _has("industry")),
    ("Who are the 10 largest obligors?", _has("obligor")),
    ("Which loans are priced below 80?", _has("price")),
    ("How much par matures within 2 years?", _has("maturity_date")),
    ("How many loans are there?", lambda subject: True),
    ("What is the total par?", lambda subject: True),
    ("Which tests are failing?", lambda subject: True),
)
"""A question, and whether a portfolio has what it asks for; the best first."""


def suggest(subjects: Sequence[Subject], unread: Unread | None, is_answered: Callable[[Query], bool]) -> list[str]:
    """Return three questions that can be answered over these portfolios."""
    if not subjects or not any(subject.portfolio.row_count for subject in subjects):
        return []
    texts = [text for text, is_there in _QUESTIONS if any(is_there(subject) for subject in subjects)]
    nearest = None if unread is None else _nearest(unread, subjects, is_answered)
    return list(dict.fromkeys([*([nearest] if nearest else []), *texts]))[:SUGGESTIONS]


def _nearest(unread: Unread, subjects: Sequence[Subject], is_answered: Callable[[Query], bool]) -> str | None:
    """Return a question without the phrases at its end that have no part in a query."""
    first = min(unread.places, default=0)
    kept: list[Lexeme] = list(unread.lexemes[:first])
    while kept and (kept[-1].is_idle or kept[-1].text in _JOINING or (kept[-1].raw[:1].isupper() and len(kept) > 1)):
        kept.pop()
    if sum(not lexeme.is_idle for lexeme in kept) < WORDS_LEAST:
        return None
    text = " ".join(lexeme.raw for lexeme in kept)
    query = interpret(text, subjects)
    if not isinstance(query, Query) or not is_answered(query):
        return None
    return f"{capitalize(text)}?"
