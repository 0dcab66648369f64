"""Questions that can be answered over the portfolios at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from core.insights.subject import Subject

SUGGESTIONS: Final = 3


def _has(column: str) -> Callable[[Subject], bool]:
    def has(subject: Subject) -> bool:
        portfolio = subject.portfolio
        return column in portfolio.numbers or column in portfolio.names or column in portfolio.ranks

    return has


_ALWAYS: Final[Callable[[Subject], bool]] = lambda subject: True  # noqa: E731

_QUESTIONS: Final[tuple[tuple[str, Callable[[Subject], bool]], ...]] = (
    ("Which tests have the thinnest cushion?", lambda subject: bool(subject.results)),
    ("Which loans are new since last month?", lambda subject: subject.previous is not None),
    ("What are the 5 largest industries?", _has("industry")),
    ("Who are the 10 largest obligors?", _has("obligor")),
    ("Which loans are priced below 80?", _has("price")),
    ("How much par matures within 2 years?", _has("maturity_date")),
    ("How many loans are there?", _ALWAYS),
    ("What is the total par?", _ALWAYS),
    ("Which tests are failing?", _ALWAYS),
)
"""A question, and whether a portfolio has what it asks for; the best first."""


def suggestions(subjects: Sequence[Subject]) -> list[str]:
    """Three questions that can be answered over these portfolios; none without loans."""
    if not subjects or not any(one.portfolio.row_count for one in subjects):
        return []
    return [text for text, is_there in _QUESTIONS if any(is_there(one) for one in subjects)][:SUGGESTIONS]
