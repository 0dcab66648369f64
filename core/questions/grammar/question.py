"""A question's phrases, what its words say of how it wants to be answered, and what several kinds of queries share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from core.questions.grammar.chart import Cover, Edge, PhraseChart
from core.questions.grammar.conditions import Context
from core.questions.grammar.lexemes import Lexeme
from core.questions.grammar.phrases import Ranking
from core.questions.query import Query
from core.questions.tokens import names

LIMIT_SHOWN: Final = 10
"""Of a ranking whose length the question leaves open."""

WORST_IS_MOST: Final = {
    "warf": True, "rank": True, "rating": True, "days_past_due": True, "price": False, "recovery": False,
    "diversity": False, "cushion": False, "moodys_rating": True, "sp_rating": True, "fitch_rating": True,
}  # fmt: skip
"""Quantities of which it is certain which end is the worst."""

_YES_NO: Final = frozenset(names("is are do does did has have will can could may am"))
_LISTING: Final = frozenset(names("which who list show name names whose identify find display"))


@dataclass(frozen=True, slots=True)
class Unread:
    """A question that is not understood."""

    words: tuple[str, ...]
    """Those that have no part in a query; none where all have a meaning, and together none."""
    reason: str = ""
    places: tuple[int, ...] = ()
    """Of these phrases among `lexemes`."""
    lexemes: tuple[Lexeme, ...] = ()


class Question:
    """The phrases of a question."""

    def __init__(self, chart: PhraseChart, context: Context) -> None:
        self.chart = chart
        self.context = context
        self.lexemes = context.lexemes
        self.tokens = [token for lexeme in self.lexemes for token in lexeme.tokens]

    def has_word(self, *words: str) -> bool:
        return any(token.text in words or token.raw.lower() in words for token in self.tokens)

    @property
    def is_yes_no(self) -> bool:
        return self.tokens[0].text in _YES_NO and not self.has_word("which", "what", "how")

    @property
    def is_listing(self) -> bool:
        return self.has_word(*_LISTING)

    @property
    def is_many(self) -> bool:
        return self.has_word("many", "number", "count")

    @property
    def is_at_par(self) -> bool:
        texts = [token.text for token in self.tokens]
        return any(pair == ("at", "par") for pair in pairwise(texts))

    def text(self, edge: Edge) -> str:
        """The words of an edge, as the vocabulary has them."""
        return " ".join(lexeme.text for lexeme in self.lexemes[edge.start : edge.end])

    def words(self, edge: Edge) -> str:
        return self.context.words((edge.start, edge.end))


Outcome = Query | Unread | None
"""None: these phrases are no query of this kind."""


@dataclass(frozen=True, slots=True)
class QueryFrame:
    """One kind of query."""

    needs: tuple[str, ...]
    """Kinds of edges of which it has one each; alternatives are separated by bars."""
    slots: Mapping[str, int]
    build: Callable[[Question, Cover], Outcome]


def settle_ranking(question: Question, cover: Cover, ranking: Ranking | None) -> Ranking | None:
    """Return a ranking with its length."""
    if ranking is None:
        return None
    order, by, limit, place = ranking.order, ranking.by, ranking.limit, ranking.place
    if limit is None and place is None:
        limit = cover.first("ranked_count")
    if limit is None and place is None:
        groups = cover.all("group")
        mains = [edge for edge in groups if edge.value != "loan"] or groups
        if by != "count" and any(question.lexemes[edge.start].is_plural for edge in mains):
            limit = LIMIT_SHOWN
        else:
            place = 1
    elif place is None and limit == 1:
        place, limit = 1, None
    if order in ("worst", "best"):
        by = by or next((name for name in cover.values("quantity") if name in WORST_IS_MOST), None)
        if by not in WORST_IS_MOST:
            return None
        order = "most" if WORST_IS_MOST[by] == (order == "worst") else "least"
    return Ranking(order, by, limit, place)


def first_ranking(cover: Cover) -> Ranking | None:
    """Return the ranking of a question, with the number of a second one."""
    rankings = cover.values("ranking")
    if len(rankings) == 2:
        main, more = sorted(rankings, key=lambda ranking: ranking.limit is not None)
        return Ranking(main.order, main.by or more.by, more.limit, more.place)
    return rankings[0] if rankings else None


def direction_of(changes: Sequence[str]) -> Any:
    return next((change for change in reversed(changes) if change != "change"), None)


def test_ids_of(cover: Cover) -> tuple[str, ...]:
    edges = cover.all("test", "figure", "bucket", "figure_bound")
    return tuple(dict.fromkeys(edge.value[0] if edge.kind == "figure_bound" else edge.value for edge in edges))
