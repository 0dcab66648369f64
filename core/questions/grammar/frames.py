"""The kinds of queries: which phrases each takes, in the order in which they are tried."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from core.questions.grammar import kinds, suppositions
from core.questions.grammar.chart import Cover, covers, parse_slots
from core.questions.grammar.question import Frame, Question, Unread, reason_of
from core.questions.query import Query

COVERS_MAX: Final = 24
"""Ways to read a question as one kind of query that are tried."""

_ANYWHERE: Final = "subject* and* whole* these? soft_if? "

_TESTS: Final = "test* figure* bucket* "

FRAMES: Final = tuple(
    Frame(tuple(needs.split()), parse_slots(_ANYWHERE + slots), build)
    for needs, slots, build in (
        (
            "action",
            _TESTS
            + "if* after_word? bought_for? swap? fraction? per_change* action* to_rating* where* ranking? group* size* at_price? pays? pays_rate? span? agency? "
            "category? face* state? quantity* group_test* each?",
            suppositions.build_what_if,
        ),
        (
            "action",
            _TESTS
            + "fraction? per_change* action* where* size* at_price? pays? pays_rate? span? agency? group* face* state? "
            "quantity* group_test* each?",
            suppositions.build_trade,
        ),
        (
            "room",
            _TESTS + "room* where? having* size* face* state* action* group_limited? group_loan* group_test? "
            "quantity* before? bought?",
            kinds.build_room,
        ),
        (
            "move|change|change_by",
            "move* change* change_by? ranked_count? quantity* where* ranking* group_loan* group_obligor* agency? period* per_change? "
            "compare?",
            kinds.build_moves,
        ),
        ("data", "data* quantity_count? quantity* group* face* biggest? idle_without?", kinds.build_data),
        ("why", _TESTS + "why* change* period* face* group_test?", kinds.build_why),
        ("history", _TESTS + "history* change* face* group_test* group_deal* quantity* idle_per*", kinds.build_history),
        ("fact", "fact* period* face* change* quantity* group_class* group_deal* span_word*", kinds.build_fact),
        (
            "group_deal",
            _TESTS + "group_deal* ranking? more? quantity* face* where*",
            kinds.build_deals,
        ),
        ("superlative figure", _TESTS + "superlative face* period?", kinds.build_minimum),
        (
            "tests|ranking|test|figure|bucket|category|state|face|group_test|cushion_bound|figure_bound|class",
            _TESTS
            + "category? group_test* face* state? over? ranking? cushion_bound* figure_bound? class* group_class? "
            "group_limited? group_deal* period* change* compare? from? ranked_count? quantity* aggregate_total? each* idle_per*",
            kinds.build_tests,
        ),
        ("class|group_class", "class* group_class* quantity* face* idle_per* fact*", kinds.build_notes),
        (
            "",
            "quantity* aggregate* where* having* span* bound* ranking? order_by? by_group? idle_per* group* compare* "
            "more? period* change* agency? level* ranked_count?",
            kinds.build_measure,
        ),
    )
)


def read(question: Question) -> Query | Unread:
    """Return the query that the phrases of a question make by the first frame that takes them all."""
    refusals: list[Unread] = []
    for frame in FRAMES:
        if not all(question.chart.has(*need.split("|")) for need in frame.needs):
            continue
        for tried, cover in enumerate(covers(question.chart, frame.slots)):
            if cover.unread or tried == COVERS_MAX:
                words = tuple(question.lexemes[at].raw for at in cover.unread)
                refusals.append(Unread(words, reason_of(question, cover.unread)))
                break
            if not all(cover.has(*need.split("|")) for need in frame.needs):
                continue
            outcome = frame.build(question, cover)
            if isinstance(outcome, Query):
                return _with_subjects(outcome, cover)
            if outcome is not None:
                refusals.append(outcome)
    return min(refusals, key=lambda refusal: len(refusal.words), default=Unread(()))


def _with_subjects(query: Query, cover: Cover) -> Query:
    subjects = tuple(name for names in cover.values("subject") for name in names)
    return replace(query, subjects=subjects) if subjects else query
