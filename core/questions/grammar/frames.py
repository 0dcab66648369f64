"""The kinds of queries and their phrases, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from core.questions.grammar import kinds, suppositions
from core.questions.grammar.chart import covers, parse_slots
from core.questions.grammar.question import QueryFrame, Question, Unread
from core.questions.query import Query

COVERS_MAX: Final = 24
"""Ways to read a question as one kind of query that are tried."""

_ANYWHERE: Final = "subject* and* whole* these? soft_if? "
_TESTS: Final = "test* figure* bucket* "
_SUPPOSED: Final = (
    _TESTS + "action* to_rating* where* size* at_price* pays* pays_rate* span* agency? category? fraction? "
    "group* face* beside? state* quantity* group_test* each? "
)

FRAMES: Final = tuple(
    QueryFrame(tuple(needs.split()), parse_slots(_ANYWHERE + slots), build)
    for needs, slots, build in (
        (
            "action|swap|to_rating|bought_for",
            _SUPPOSED + "if* after_word? swap? bought_for? fact? change* first? ranking?",
            suppositions.build_what_if,
        ),
        ("action", _SUPPOSED, suppositions.build_trade),
        (
            "room",
            _TESTS + "room* where? having* size* face* state* action* group_loan* group_test? quantity* before?",
            kinds.build_room,
        ),
        (
            "move|change|change_by|fell_below",
            "move* change* change_by? fell_below? ranked_count? quantity* where* ranking* group_loan* group_obligor* "
            "agency? period* per_change? compare?",
            kinds.build_moves,
        ),
        ("period", "period* change* move* why? group_deal* compare? biggest?", kinds.build_overview),
        ("data", "data* quantity* group* face* biggest?", kinds.build_data),
        ("why", _TESTS + "why* change* period* face* state? meager? group_test?", kinds.build_why),
        ("history", _TESTS + "history* change* face* group_test* group_deal* quantity* idle_per*", kinds.build_history),
        ("fact", "fact* period* face* change* quantity* group_class* group_deal* span_word*", kinds.build_fact),
        ("group_deal", _TESTS + "group_deal* ranking? more? quantity* face* where*", kinds.build_deals),
        ("superlative figure", _TESTS + "superlative face* period?", kinds.build_minimum),
        ("tests", "tests? compare? face*", kinds.build_pair),
        (
            "ranking|test|figure|bucket|category|state|face|beside|group_test|cushion_bound|figure_bound|class",
            _TESTS + "category? group_test* face* state? over? ranking? ranked_count? cushion_bound* figure_bound? "
            "class* group_class? group_deal* period* change* compare? from? quantity* aggregate_total? each* idle_per* "
            "months? before? beside?",
            kinds.build_tests,
        ),
        ("class|group_class", "class* group_class* quantity* face* idle_per* fact*", kinds.build_notes),
        (
            "",
            "quantity* aggregate* where* both* having* span* bound* ranking? ranked_count? order_by? by_group? "
            "idle_per* group* compare* more? period* change* agency? level* limit?",
            kinds.build_measure,
        ),
    )
)
"""(kinds of phrases that there must be, those that are taken, what makes the query of them)."""

_PRICED: Final = frozenset(("what_if", "room", "measure"))
"""Kinds of queries of which "at par" says something."""

_TELLING: Final = frozenset(
    ("name", "number", "numeral", "days", "month", "letter", "fact", "period", "calendar", "back", "not", "without",
     "data", "unknown", "flag", "comparison", "fraction", "first", "rater", "action", "move", "status")
)  # fmt: skip
"""Kinds of phrases of which it tells most that they have no part in a query."""


def read(question: Question) -> Query | Unread:
    """Return the query of a question by the first frame that takes all its phrases."""
    refusals: list[tuple[int, Unread]] = []
    for frame in FRAMES:
        if not all(question.chart.has(*need.split("|")) for need in frame.needs):
            continue
        for tried, cover in enumerate(covers(question.chart, frame.slots)):
            if cover.unread or tried == COVERS_MAX:
                refusals.append((_vagueness(question, cover.unread), refuse(question, cover.unread)))
                break
            if not all(cover.has(*need.split("|")) for need in frame.needs):
                continue
            outcome = frame.build(question, cover)
            if isinstance(outcome, Query) and question.is_at_par and outcome.kind not in _PRICED:
                outcome = Unread(("at par",), "a price of 100 is asked for as such")
            if isinstance(outcome, Query):
                subjects = tuple(name for names in cover.values("subject") for name in names)
                return replace(outcome, subjects=subjects) if subjects else outcome
            if outcome is not None:
                refusals.append((-1, outcome))
    return min(refusals, key=lambda refusal: refusal[0], default=(0, Unread(())))[1]


def _vagueness(question: Question, places: Sequence[int]) -> int:
    """Return how little phrases tell of why a question is not understood."""
    kinds_of = [{meaning.kind for meaning in question.lexemes[at].meanings} for at in places]
    return len(places) + (0 if any(kinds & _TELLING for kinds in kinds_of) else 8)


def refuse(question: Question, places: Sequence[int]) -> Unread:
    """Return the refusal of a question for some of its phrases."""
    words = tuple(dict.fromkeys(_words_about(question, at) for at in places))
    lexemes = [question.lexemes[at] for at in places]
    reason = ""
    if any(lexeme.get("unknown") for lexeme in lexemes):
        reason = "no file of holdings says that"
    elif any(lexeme.get("month") or lexeme.get("days") for lexeme in lexemes):
        reason = "there is no file of that day"
    return Unread(words, reason, tuple(places), tuple(question.lexemes))


def _words_about(question: Question, at: int) -> str:
    """Return a phrase with the words that it makes a name or an expression with."""
    lexemes = question.lexemes
    first = last = at
    while first > 1 and lexemes[first].raw[:1].isupper() and lexemes[first - 1].raw[:1].isupper():
        first -= 1
    if lexemes[at].text == "ago":
        first = max(0, first - 1)
    while first > 0 and ("-" in lexemes[first].before or lexemes[first - 1].text in ("next", "last", "over", "for")):
        first -= 1
    while last + 1 < len(lexemes) and (
        "-" in lexemes[last + 1].before or lexemes[last].text in ("last", "next", "past")
    ):
        last += 1
    following = next((place for place in range(last + 1, len(lexemes)) if not lexemes[place].is_idle), None)
    if (
        lexemes[at].get("comparison")
        and following
        and (lexemes[following].get("number") or lexemes[following].get("fact"))
    ):
        last = following
    return question.context.words((first, last + 1))
