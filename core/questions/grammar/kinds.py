"""Queries on tests, on what the file says, on moves and on loans.

What their phrases make of their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as with_fields
from typing import Any, Final

from msgspec.structs import replace

from core.compliance.suites import TESTS
from core.questions.grammar.chart import Cover, Edge
from core.questions.grammar.conditions import Bound, compare, matures, require
from core.questions.grammar.phrases import GROUP_OF, GROUP_TESTS, GROUPS_OF_LOANS, RATING_NAMES, Ranking
from core.questions.grammar.question import (
    LIMIT_SHOWN,
    Outcome,
    Question,
    Unread,
    direction_of,
    first_ranking,
    settle_ranking,
    test_ids_of,
)
from core.questions.query import Condition, Having, Query
from core.questions.tokens import names
from core.questions.vocabulary import QUANTITIES, RATINGS
from core.questions.wording import FIELD_WORDS

_LOOKED_UP: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))


# ---- tests ----


def build_tests(question: Question, cover: Cover) -> Outcome:
    """Build the query of the figures, limits, cushions and statuses of tests."""
    tests = _TestPhrases(question, cover)
    if not tests.go_together():
        return None
    ranking = settle_ranking(question, cover, tests.ranking)
    if cover.has("ranking") and (ranking is None or ranking.by not in (None, "cushion")):
        return None
    if not _counts(cover, ranking):
        return None
    aspect, status = tests.aspect(ranking)
    period = "change" if cover.has("change") else tests.period
    if period != tests.period and (not tests.ids or cover.has("cushion_bound")):
        return None
    unit = "months" if cover.has("months") else None
    if unit and (aspect != "cushion" or tests.ids != ("wal",)):
        return None
    if not tests.are_named(ranking):
        return Unread((), "which test is meant is not said")
    return Query(
        kind="tests",
        tests=tests.ids,
        category=tests.category,
        aspect=aspect,
        status=status,
        **({} if ranking is None else _fields_of(ranking, by="cushion")),
        classes=tests.classes,
        period=period,  # type: ignore[arg-type]
        direction=direction_of(cover.values("change")),
        having=tests.bounds,
        is_yes_no=question.is_yes_no,
        is_count=(question.has_word("many") or "count" in cover.values("quantity")) and not tests.ids,
        unit=unit,
    )


_BY_WORTH: Final = {"worst": "least", "best": "most"}


class _TestPhrases:
    """The phrases of a question on tests."""

    def __init__(self, question: Question, cover: Cover) -> None:
        self.question, self.cover = question, cover
        self.ids = test_ids_of(cover)
        self.faces = [face for face in cover.values("face") if face != "level"]
        self.state: str | None = cover.first("state")
        self.category: str | None = cover.first("category")
        self.has_entity = cover.has("group_test")
        self.ranking: Ranking | None = cover.first("ranking")
        is_of_tests = self.has_entity or self.category is not None
        if is_of_tests and self.ranking is not None and self.ranking.by is None and self.ranking.order in _BY_WORTH:
            self.ranking = with_fields(self.ranking, order=_BY_WORTH[self.ranking.order], by="cushion")
        figures = [having for _, having in cover.values("figure_bound")]
        if "cushion" in self.faces:  # is the cushion of the OC below 5 %
            figures = [replace(having, quantity="cushion") for having in figures]
        self.bounds: tuple[Having, ...] = (*cover.values("cushion_bound"), *figures)
        self.period = _period(cover)
        self.classes = tuple(name for names in cover.values("class") for name in names)
        if not self.classes and cover.has("group_class"):
            self.classes = ("*",)

    def go_together(self) -> bool:
        """Return whether these phrases make a question on tests."""
        cover, by_cushion = self.cover, self.ranking is not None and self.ranking.by == "cushion"
        is_limited = bool(self.faces or self.state or self.bounds or cover.has("over", "beside"))
        is_about = bool(self.ids or self.category or self.has_entity or self.state or self.faces or self.bounds)
        return not (
            set(cover.values("quantity")) - {"share", "par", "count"}
            or (cover.has("bucket") and not is_limited and not self._is_bucket())
            or (cover.has("figure_bound") and (not self.question.is_yes_no or "limit" in self.faces))
            or (self.ranking is not None and self.ids and not self.has_entity and not by_cushion)
            or (cover.has("ranked_count") and (self.ranking is None or not (self.has_entity or by_cushion)))
            or not (is_about or by_cushion)
            or (self.period != "change" and any("newly" in self.question.text(edge) for edge in cover.all("state")))
            or (cover.has("before") and not ("cushion" in self.faces and self.state == "fail"))
            or (len(self.ids) > 1 and any(self.question.text(edge) == "price" for edge in cover.all("figure")))
            or (self.classes and any(not test_id.startswith(("oc_", "ic_")) for test_id in self.ids))
            or (self.ids == ("weighted_average_price",) and any(self._is_extreme(edge) for edge in cover.all("face")))
            or (cover.has("group_class") and not (self.ids or self.category or cover.has("class")))
        )

    def _is_extreme(self, edge: Edge) -> bool:
        return self.question.text(edge) in ("max", "min", "maximum", "minimum")

    def are_named(self, ranking: Ranking | None) -> bool:
        """Return whether it is said which tests are meant."""
        is_said = self.ids or self.state or self.category or self.has_entity or self.bounds or self.classes
        return bool(is_said) or ranking is not None or self.cover.has("group_deal", "whole")

    def aspect(self, ranking: Ranking | None) -> tuple[Any, Any]:
        """(what of the tests is asked for, which status they have)."""
        over, state = self.cover.first("over"), self.state
        aspect = "cushion" if ranking is not None else _aspect_of(self.faces)
        if over is not None:
            upper = all(TESTS[test_id].threshold_type == "max" for test_id in self.ids if test_id in TESTS)
            aspect, state = "status", "fail" if (over in (">", ">=")) == upper else "pass"
        if state == "fail" and self.question.has_word("much"):
            aspect = "cushion"
        return aspect, state

    def _is_bucket(self) -> bool:
        """Return whether the CCC bucket as a share is the figure of its test."""
        cover, names = self.cover, [name for name in self.cover.values("quantity") if name != "count"]
        if self.ids != ("ccc_bucket_pct",) or cover.has("group_loan") or names == ["par"]:
            return False
        if "count" in cover.values("quantity"):
            return False
        is_bucket = any("bucket" in self.question.words(edge).lower() for edge in cover.all("bucket"))
        return is_bucket or self.period == "change" or cover.has("change") or "share" in names


def build_pair(question: Question, cover: Cover) -> Outcome:
    """Build the query of the senior and the junior test beside each other."""
    return Query(kind="tests", tests=cover.first("tests"), aspect="difference" if cover.has("compare") else None)


def _aspect_of(faces: Sequence[Any]) -> Any:
    aspect = None
    for face in faces:
        aspect = face if aspect in (None, "limit", "status") else aspect
    return aspect


def _counts(cover: Cover, ranking: Ranking | None) -> bool:
    """Return whether a number that stands apart is that of the ranking."""
    return not cover.has("ranked_count") or (ranking is not None and ranking.limit == cover.first("ranked_count"))


def _fields_of(ranking: Ranking, *, by: str | None) -> dict[str, Any]:
    return {"order": ranking.order, "order_by": by, "limit": ranking.limit, "place": ranking.place}


def _period(cover: Cover) -> Any:
    periods = cover.values("period")
    if "change" in periods:
        return "change"
    if "previous" in periods:
        return "change" if cover.has("change", "compare") else "previous"
    return "now"


def build_minimum(question: Question, cover: Cover) -> Outcome:
    """The minimum WARR is its limit."""
    ids = test_ids_of(cover)
    limited = {"average_rating_factor", "was", "diversity_score", "wal", "weighted_average_recovery_rate"}
    if not ids or not set(ids) <= limited:
        return None
    return Query(kind="tests", tests=ids, aspect="limit", period=_period(cover))


def build_deals(question: Question, cover: Cover) -> Outcome:
    """Which of several portfolios has the most of something."""
    if not question.has_word("which"):
        return None
    ids = test_ids_of(cover)
    ranking = settle_ranking(question, cover, cover.first("ranking"))
    more = cover.first("more")
    if (ranking is None) == (more is None):
        return None
    order: Any = more if ranking is None else ranking.order
    place = 1 if ranking is None else ranking.place or 1
    if cover.has("where"):
        return Unread((), "portfolios are ranked by a test" if ids else "portfolios are ranked by one figure")
    by = None if ranking is None else ranking.by
    names = cover.values("quantity")
    by = "warf" if by == "rank" else by or (names[0] if names else "par")
    test_id = QUANTITIES[by].test_id if by in QUANTITIES else None
    if len({*ids, *([test_id] if test_id else [])}) > 1:
        return None
    if ids or test_id is not None:
        tests = (*ids, test_id or "")[:1]
        return Query(kind="deals", tests=tests, order=order, place=place, aspect=_aspect_of(cover.values("face")))
    if names and names != [by]:
        return Unread((), "portfolios are ranked by one figure")
    return Query(kind="deals", quantities=(by,), order=order, place=place)


def build_room(question: Question, cover: Cover) -> Outcome:
    """How much more of something there may be."""
    if question.is_yes_no or set(cover.values("quantity")) - {"par", "share", "count"} or question.has_word("sell"):
        return None
    where = cover.values("where")
    ids = test_ids_of(cover)
    own = [having for having in cover.values("having") if having.quantity == "share"]
    if len(own) < len(cover.all("having")):
        return None
    percents = [size.value for size in cover.values("size") if size.unit == "percent"]
    if len(percents) < len(cover.all("size")):
        return None
    own += [Having(quantity="share", op="<=", value=value, unit="percent") for value in percents]
    if own and not ids and len(where) == 1 and len(own) == 1:
        return Query(kind="room", where=(where[0],), having=(own[0],))
    if own:
        return Unread((f"{own[0].value:g}%",), "the limit is the test's own")
    if len(where) == 1 and where[0].field in GROUP_TESTS and ids in ((), (GROUP_TESTS[where[0].field],)):
        if len(where[0].values) != 1:
            return Unread((where[0].words,), "it is the name of several")
        return Query(kind="room", tests=(GROUP_TESTS[where[0].field],), where=(where[0],))
    if len(ids) != 1 or where:
        return Unread((), "room is known for what one test limits")
    return Query(kind="room", tests=ids)


def build_history(question: Question, cover: Cover) -> Outcome:
    ids = test_ids_of(cover)
    if set(cover.values("quantity")) - {"count", "share"}:
        return None
    if not ids:
        return Unread((), "a history is kept of tests: which one is meant is not said")
    changes = cover.values("change")
    return Query(kind="history", tests=ids, direction=direction_of(changes), is_yes_no=question.is_yes_no)


def build_why(question: Question, cover: Cover) -> Outcome:
    """Build the query of what makes a test what it is, or of what moved it."""
    ids = test_ids_of(cover)
    words = tuple(question.words(edge) for edge in cover.all("why")[:1])
    if not ids:
        return Unread(words, "of tests only it is known why they moved")
    if cover.has("change", "period") or _period(cover) == "change":
        return Query(kind="why", tests=ids, period="change")
    if not cover.has("meager", "state", "face") and "why" not in words[0].lower():
        return Unread(words, "definitions are not known here")
    return Query(kind="why", tests=ids, aspect="cushion")


def build_overview(question: Question, cover: Cover) -> Outcome:
    """Build the query of what changed since the month before."""
    if _period(cover) != "change" or not (cover.has("change", "move") or "moved" in question.text(cover.edges[0])):
        return None
    if (
        cover.has("move")
        or set(cover.values("change")) - {"change"}
        or not question.has_word("what", "summarise", "summary", "summarize", "main", "major")
    ):
        return None
    return Query(kind="overview", period="change")


# ---- what the file says ----


def build_fact(question: Question, cover: Cover) -> Outcome:
    facts = cover.all("fact")
    if len({edge.value for edge in facts}) > 1:
        return None
    fact = facts[0].value
    if set(cover.values("quantity")) - {"par", "maturity"} or set(cover.values("face")) - {"level"}:
        return None
    if fact == "base_rate" and cover.has("group_loan"):
        return Unread((question.words(facts[0]),), "it is asked for by itself, and not of loans")
    return Query(kind="fact", fact=fact, period=_period(cover))


def build_data(question: Question, cover: Cover) -> Outcome:
    what = cover.first("data")
    if set(cover.values("group")) - {"loan", "deal", "test"} or set(cover.values("quantity")) - {"count", "par"}:
        return None
    return Query(kind="data", fact=what, is_count=question.is_many)


_OF_NOTES: Final = frozenset(names("par coupon spread was rating share count unfunded maturity"))


def build_notes(question: Question, cover: Cover) -> Outcome:
    classes = tuple(name for names in cover.values("class") for name in names)
    names = tuple("spread" if name == "was" else name for name in cover.values("quantity"))
    if set(cover.values("fact")) - {"liabilities"} or set(cover.values("face")) - {"level"}:
        return None
    strange = [edge for edge in cover.all("quantity") if edge.value not in _OF_NOTES]
    if strange:
        return Unread(
            tuple(map(question.words, strange)), "of the notes, balance, coupon, spread and triggers are known"
        )
    if question.is_yes_no and not names:
        return Unread((question.tokens[-1].raw,), "of the notes, balance, coupon, spread and triggers are known")
    names = tuple(name for name in names if name != "count")
    return Query(
        kind="notes", classes=classes or ("*",), quantities=names or ("par",), is_count=question.has_word("many")
    )


# ---- moves ----

_MOVED_BY_RATING: Final = {"down": "downgraded", "up": "upgraded", "worse": "downgraded", "better": "upgraded"}
_OF_RATINGS: Final = ("downgraded", "upgraded", "rerated")
_MEASURED_BY: Final = {
    "repriced": frozenset(("spread",)),
    "entered": RATINGS | {"price"},
    **dict.fromkeys(_OF_RATINGS, RATINGS),
}
"""Quantities that may be named beside a move, since it is of them."""

_MOVING: Final = ("price", "spread", "par", "coupon", *RATINGS)


def build_moves(question: Question, cover: Cover) -> Outcome:
    """Which loans came, went or moved between two months."""
    changes = [*cover.values("change"), *(change for change, _ in cover.values("change_by") if change)]
    having = tuple(having for _, having in cover.values("change_by"))
    quantity = next((name for name in cover.values("quantity") if name in _MOVING), None)
    crossed = cover.values("fell_below")
    move = "entered" if crossed else _move_of(question, cover, changes, having, quantity)
    is_by_notches = {limit.unit for limit in having} == {"notches"}
    if (having and is_by_notches != (move in _OF_RATINGS)) or (having and move in ("added", "removed", "entered")):
        return None
    if any(edge.start and question.lexemes[edge.start - 1].text == "from" for edge in cover.all("where")):
        return None  # downgraded from B3: what they were is not what they are
    if move is None or (crossed and cover.has("move", "change", "change_by", "ranking")):
        return None
    if crossed and set(cover.values("quantity")) - {"price", "par", "count"}:
        return None
    where = (*crossed, *cover.values("where"))
    direction = direction_of(changes)
    text = question.text(cover.all("move")[0]) if cover.has("move") else ""
    if move == "repriced" and text != "repriced" and direction is None:
        direction = "down" if any(word in text for word in ("cut", "fell", "decreas", "reduc", "tight")) else None
    if move == "entered" and not where:
        return Unread((question.words(cover.all("move")[0]),), "into what is not said")
    ranking = settle_ranking(question, cover, first_ranking(cover))
    if cover.has("ranking") and (ranking is None or ranking.by not in (None, quantity, "par")):
        return None
    if not _counts(cover, ranking):
        return None
    group = next(iter(cover.values("group_loan", "group_obligor")), None)
    names = [name for name in cover.values("quantity") if name in ("par", "share") and move != "par"]
    is_by_change = ranking is not None and move in ("price", "spread", "par", "coupon")
    agencies = [name for name in cover.values("quantity") if name in RATINGS - {"rating"}]
    agencies += [RATING_NAMES[agency] for agency in cover.values("agency")]
    if agencies and move not in ("downgraded", "upgraded", "rerated"):
        return None
    return Query(
        kind="moves",
        move=move,
        quantities=tuple(dict.fromkeys([*names, *agencies])),
        where=where,
        group=group or "loan",
        direction=direction,
        having=having,
        period="change",
        is_count=question.is_many,
        is_yes_no=question.is_yes_no,
        order=None if ranking is None else ranking.order,  # type: ignore[arg-type]
        order_by="change" if is_by_change else None,
        limit=None if ranking is None else ranking.limit or (ranking.place if group is not None else LIMIT_SHOWN),
    )


def _move_of(
    question: Question, cover: Cover, changes: Sequence[str], having: Sequence[Having], quantity: str | None
) -> str | None:
    moves = cover.values("move")
    measured = set(cover.values("quantity")) - {"par", "share", "count"}
    if len(measured) > 1 or (moves and measured - _MEASURED_BY.get(moves[0], frozenset())):
        return None
    if moves:
        if len(set(moves)) > 1:
            return "rerated" if set(moves) == {"upgraded", "downgraded"} else None
        if quantity == "price" and moves[0] != "added":
            return None
        if moves[0] == "downgraded" and cover.has("where") and _goes_into(question, cover):
            return "entered"
        return str(moves[0])
    listed = (
        bool(having)
        or cover.has("group_loan", "group_obligor", "ranking")
        or question.has_word("which", "who", "list", "name", "names", "anything", "any", "biggest", "largest")
    )
    if quantity is None and having and having[0].unit == "points":
        quantity = "price"
    if not changes or not listed or quantity is None:
        return None
    if quantity in RATINGS:
        return _MOVED_BY_RATING.get(changes[0], "rerated")
    return quantity


def _goes_into(question: Question, cover: Cover) -> bool:
    start, end = cover.all("move")[0].end, cover.all("where")[0].start
    return any(lexeme.text in ("to", "into") for lexeme in question.lexemes[start:end])


# ---- loans ----


class _Measure:
    """The fields of a query on loans, as its phrases fill them one after another."""

    def __init__(self, question: Question, cover: Cover) -> None:
        self.question = question
        self.cover = cover
        self.where = cover.all("where")
        self.where += [_as_where(edge, condition) for edge in cover.all("both") for condition in edge.value]
        self.names: list[str] = []
        for edge in cover.all("quantity"):
            if edge.value not in self.names and edge.value != "count":
                self.names.append(edge.value)
        self.having: list[Having] = cover.values("having")
        self.is_count = "count" in cover.values("quantity")
        self.period = _period(cover)
        by = cover.first("by_group")
        self.says_by = by is not None
        ranked = [edge.value for edge in cover.all("group") if edge.value in GROUPS_OF_LOANS]
        self.group = by or next((name for name in ranked if name != "loan"), "loan" if ranked else None)
        ratings = [edge.value for edge in cover.all("quantity") if edge.value in RATINGS]
        if cover.has("ranking") and self.group is None and ratings and question.tokens[0].text == "which":
            self.group = GROUP_OF[ratings[0]]  # which rating has the most par
            self.names.remove(ratings[0])
        aggregates = cover.values("aggregate")
        self.aggregate: Any = next((how for how in aggregates if how != "total"), "total" if aggregates else None)
        self.ranking: Ranking | None = None
        self.order_by: str | None = cover.first("order_by")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return tuple(edge.value for edge in self.where)

    def take_days(self) -> bool:
        """Make conditions of days and numbers that stand apart from what they are of."""
        for edge in self.cover.all("span"):
            if "maturity" not in self.names:
                return False
            self.where.append(_as_where(edge, matures(edge.value, self.question.words(edge))))
        if self.cover.has("span"):
            spans = self.cover.values("span")
            first = max((days.low for days in spans if days.low is not None), default=None)
            last = min((days.high for days in spans if days.high is not None), default=None)
            if first is not None and last is not None and first > last:
                return False
            self.names.remove("maturity")
        for edge in self.cover.all("bound"):
            if self.question.is_yes_no and self.names and not edge.value.unit:
                self.having.append(require(self.names[0], edge.value))  # is their average price above 70
                continue
            condition = self._bound(edge, edge.value)
            if condition is None:
                return False
            self.where.append(_as_where(edge, condition))
        self.where.sort(key=lambda edge: edge.start)
        return True

    def _bound(self, edge: Edge, bound: Bound) -> Condition | None:
        names = [*self.names, *([self.order_by] if self.order_by else [])]
        field = next((name for name in ("price", "spread", "coupon", "floor") if name in names), None)
        if bound.unit:
            return None
        return None if field is None else compare(field, bound, self.question.words(edge))

    def is_of_one_group(self) -> bool:
        """Return whether no group, and no agency, stands beside what the answer is by."""
        groups = set(self.cover.values("group")) - {"loan", "deal", self.group}
        if groups or self._chooses_a_deal() or (self.cover.has("agency") and "rating" not in self.names):
            return False
        is_named = any(edge.value.field == self.group and not edge.value.any_of for edge in self.where)
        if is_named and self.cover.has("ranking"):
            return False
        if self.question.has_word("whose") and self.question.has_word("all"):
            return False  # obligors whose loans are all so
        needs_by = self.group in ("year", "rating", "lien", "currency", "index", "coupon_type")
        return self.says_by or not needs_by or self.is_count or self.cover.has("ranking") or self.question.is_listing

    def _chooses_a_deal(self) -> bool:
        """Return whether one of several portfolios is asked for: which deal has the most."""
        lexemes = self.question.lexemes
        deals = [at for at, lexeme in enumerate(lexemes) if at and lexeme.get("group") == "deal"]
        is_choice = any(lexemes[at - 1].tokens[-1].text == "which" for at in deals)
        return is_choice and self.cover.has("ranking", "more")

    def goes_together(self) -> bool:
        """Return whether none of the phrases would be passed over."""
        if self.is_count and not self.says_by and set(self.names) & set(RATING_NAMES.values()):
            return False  # how many are rated by Fitch: it is no figure, but a condition
        if self.cover.has("limit") and not (self.cover.has("ranking") and self.group in GROUP_TESTS):
            return False
        if self.cover.has("ranking") and self.where and (self.question.is_yes_no or self._counts_the_largest()):
            return False  # is the largest obligor in Retail
        joined = [edge.value for edge in self.where if edge.value.any_of or edge.value.op == "not in"]
        if self.question.has_word("both") and any(" and " in condition.words for condition in joined):
            return False  # obligors in both Retail and Telecommunications
        return self.is_of_one_group() and not self.changes_by_number()

    def _counts_the_largest(self) -> bool:
        ranking: Ranking = self.cover.first("ranking")
        return self.is_count and (ranking.limit is not None or self.cover.has("ranked_count"))

    def is_compared(self, each: tuple[Condition, ...]) -> bool:
        """Return whether what says a comparison has something to compare."""
        if not self.cover.has("compare", "more") or each:
            return True
        if len(self.question.context.subjects) > 1 or self.period == "change":
            return True
        return self.group == "coupon_type" and not self.cover.has("more")

    def changes_by_number(self) -> bool:
        """Return whether a number stands right behind a change."""
        ends = {edge.end for edge in self.cover.all("change")}
        starts = {
            edge.start
            for edge in self.cover.all("where", "bound", "having")
            if isinstance(edge.value, Bound | Having) or edge.value.op in ("<", "<=", ">", ">=", "=")
        }
        lexemes = self.question.lexemes
        for end in ends:
            while end < len(lexemes) and lexemes[end].is_idle:
                end += 1
            if end in starts:
                return True
        return False

    def take_names(self) -> None:
        """Settle what is measured."""
        lists = self.question.has_word("list") and self.conditions and self.names and self.aggregate is None
        if (self.is_count or lists) and self.group is None:
            self.group = "loan"
        if self.is_count and self.says_by and self.group != "loan":
            self.names, self.is_count = ["count", *self.names], False  # the number of loans by industry
        loans = "loan" in self.cover.values("group")
        if self.says_by and self.group not in (None, "loan") and not self.names and loans:
            self.names = ["count", "par", "share"]  # loans by industry
        if self.group == "year" and "maturity" in self.names:
            self.names.remove("maturity")
        if self.where or self.group is not None:
            self.names = ["spread" if name == "was" else name for name in self.names]
        if self.period == "now" and self.cover.has("change"):
            self.period = "change"
        if not self.names and self.question.tokens[0].text == "where" and self.conditions:
            self.names = ["country"]
        agency = self.cover.first("agency")
        if agency is not None:
            self.names = [RATING_NAMES[agency] if name == "rating" else name for name in self.names]

    def take_ranking(self) -> None:
        """Settle what a ranking is of and by."""
        ranking = self.cover.first("ranking")
        if ranking is not None and ranking.by is None and self._is_by_count():
            ranking = with_fields(ranking, by="count")
        ranking = settle_ranking(self.question, self.cover, ranking)
        if ranking is None or ranking.by == "cushion":
            return
        at = self.cover.all("ranking")[0].start
        by = ranking.by or self.order_by
        apart = self.cover.has("and") or self.question.has_word("their", "its")  # the top 5 and their prices
        before = apart or any(edge.start < at for edge in self.cover.all("quantity"))
        if by is None and self.names and not before and self.names[0] != "share":
            by = self.names[0]
        if self.group is None:
            self.group = "loan" if by not in (None, "par", "share") or self.where else "obligor"
        if by == "count" and self.group == "loan":
            self.group = "obligor"
        by = by or "par"
        if by == "maturity" and self.group == "loan":
            self.names = self.names or ["maturity"]
        self.ranking = Ranking(ranking.order, by, ranking.limit, ranking.place)

    def _is_by_count(self) -> bool:
        """Return whether the most of something is the most loans."""
        text = self.question.text(self.cover.all("ranking")[0])
        groups = self.cover.values("group")
        if text.split()[-1] in ("most", "fewest", "least") and "loan" in groups:
            return len(groups) > 1 or self.question.has_word("who")
        return False

    @property
    def is_free(self) -> bool:
        """Whether neither a ranking, nor a list, nor a breakdown is asked for."""
        return self.ranking is None and not self.question.is_listing and not self.says_by

    def settle_group(self) -> None:
        """Take loans as a set, where a figure of all of them is asked for."""
        looked_up = any(condition.field in _LOOKED_UP for condition in self.conditions)
        is_set = self.is_free or (self.aggregate is not None and self.ranking is None and not self.says_by)
        if self.group == "loan" and is_set and not self.is_count and self.names and not looked_up:
            self.group = None

    def take_each(self) -> tuple[Condition, ...]:
        """Take the sets that are set beside each other."""
        if not self.cover.has("compare", "more"):
            return ()
        alternatives = [edge for edge in self.where if edge.value.any_of and edge.value.field != "not"]
        if len(alternatives) == 1:
            self.where.remove(alternatives[0])
            each: tuple[Condition, ...] = alternatives[0].value.any_of
            return each
        if len(self.where) == 2 and not alternatives and self.where[0].value.op == self.where[1].value.op:
            each, self.where = self.conditions, []
            return each
        named = [edge for edge in self.where if len(edge.value.values) > 1 and edge.value.op == "in"]
        if len(named) == 1:
            self.where.remove(named[0])
            return tuple(replace(named[0].value, values=(value,)) for value in named[0].value.values)
        return ()

    def take_whole(self) -> tuple[Condition, ...]:
        """Take the conditions that say what a share is of."""
        share = next((edge for edge in self.cover.all("quantity") if edge.value == "share"), None)
        if share is None or len(self.where) < 2:
            return ()
        start = share.start if share.start < self.where[0].start else -1
        for at in range(start + 1, len(self.question.lexemes)):
            if self.question.lexemes[at].tokens[-1].raw.lower() in _VERBS:
                before = [edge for edge in self.where if start < edge.start < edge.end <= at]
                if before and any(edge.start >= at for edge in self.where):
                    self.where = [edge for edge in self.where if edge not in before]
                    return tuple(edge.value for edge in before)
        return ()


_VERBS: Final = frozenset(names("is are have has carry carries mature matures pay pays trade trades"))


def _as_where(edge: Edge, condition: Condition) -> Edge:
    return Edge("where", condition, edge.start, edge.end)


def build_measure(question: Question, cover: Cover) -> Outcome:
    """Build the query of what is measured of loans."""
    query = _Measure(question, cover)
    if cover.has("ranking") and (place := _place(query)) is not None:
        return place
    if not query.goes_together() or not query.take_days():
        return None
    query.take_names()
    query.take_ranking()
    if not _counts(cover, query.ranking):
        return None
    if cover.has("ranking") and query.ranking is None:
        return Unread((question.words(cover.all("ranking")[0]),), "by what is not said")
    whole, each = query.take_whole(), query.take_each()
    if not query.is_compared(each):
        return None
    if whole and not query.names:
        query.names = ["share"]
    query.settle_group()
    return _fault_of(query, each) or _query_of(query, whole, each)


_OF_A_PLACE: Final = frozenset(names("ranking where group quantity whole subject soft_if"))


def _place(query: _Measure) -> Query | None:
    """Where does Retail rank among the industries?"""
    ranking: Ranking = query.cover.first("ranking")
    if {edge.kind for edge in query.cover.edges} - _OF_A_PLACE:
        return None
    own = [edge.value for edge in query.where if edge.value.field == query.group and edge.value.op == "in"]
    text = query.question.text(query.cover.all("ranking")[0])
    if len(own) != 1 or len(query.where) > 1 or not text.startswith("rank") or set(query.names) - {"par", "share"}:
        return None
    if ranking.limit or ranking.place or ranking.by not in (None, "par") or query.period != "now":
        return None
    return Query(kind="measure", where=(own[0],), group=query.group, order="most", order_by="par", aspect="place")


Check = tuple[Callable[[_Measure, tuple[Condition, ...]], Any], Callable[[_Measure], str] | None, str]


def _lists_a_change(query: _Measure) -> bool:
    is_of_loans = query.period == "change" and query.group == "loan" and not query.is_count
    return is_of_loans and not any(condition.field in _LOOKED_UP for condition in query.conditions)


def _ranks_a_change(query: _Measure) -> bool:
    is_by_group = query.says_by or set(query.cover.values("group")) - {"loan"}
    return query.period == "change" and query.ranking is not None and not is_by_group


def _shares_of_names(query: _Measure) -> bool:
    is_set = query.where and not query.says_by and query.ranking is None
    return bool("share" in query.names and query.group in ("obligor", "industry", "country") and is_set)


def _averages_nothing(query: _Measure) -> bool:
    has_by = query.ranking is not None and query.ranking.by is not None
    return query.aggregate in ("average", "simple", "median") and not query.names and not has_by


def _measures_nothing(query: _Measure, each: tuple[Condition, ...]) -> bool:
    is_named = query.names or query.is_count or query.where or query.group or each
    return not is_named and not query.question.has_word("big", "large", "much", "size")


# fmt: off
_CHECKS: Final[tuple[Check, ...]] = (
    (lambda query, _: _averages_nothing(query),
     lambda query: query.question.words(query.cover.all("aggregate")[0]), "of what is not said"),
    (lambda query, _: query.order_by is not None and query.ranking is None and query.group is None,
     lambda query: FIELD_WORDS.get(query.order_by or "", query.order_by or ""), "loans are not grouped by it"),
    (lambda query, _: query.period == "change" and "maturity" in query.names,
     lambda query: "mature", "what matured between two months is not known"),
    (lambda query, _: query.aggregate is not None and "count" in query.names,
     None, "averages are of loans, and not of numbers of them"),
    (lambda query, _: query.question.is_at_par, lambda query: "at par", "a price of 100 is asked for as such"),
    (lambda query, _: _shares_of_names(query), None, "shares are of par, and not of a number of names"),
    (lambda query, _: _lists_a_change(query), None, "what loans are listed by is not said"),
    (lambda query, _: _ranks_a_change(query), None, "what is ranked between two months is not said"),
    (lambda query, _: bool(query.having) and query.group is None and not (query.question.is_yes_no and query.where),
     None, "what is compared is not said"),
    (_measures_nothing, None, "it names nothing that can be measured"),
)
# fmt: on
"""What a query on loans must not be, the words of the question that say so, and why it is refused."""


def _fault_of(query: _Measure, each: tuple[Condition, ...]) -> Unread | None:
    for is_so, words, reason in _CHECKS:
        if is_so(query, each):
            return Unread(() if words is None else (words(query),), reason)
    clash = clash_of(query.conditions)
    return Unread((clash,), "no loan is both") if clash else None


def clash_of(where: Sequence[Condition]) -> str:
    """Return the words of two conditions that no loan fulfils together."""
    seen: dict[tuple[str, str | None], Condition] = {}
    for condition in where:
        if condition.any_of or condition.op not in ("between", "in"):
            continue
        if condition.field not in ("rating", "industry", "country"):
            continue
        first = seen.setdefault((condition.field, condition.agency), condition)
        if first is condition:
            continue
        apart = (condition.low or 0) > (first.high or 0) or (first.low or 0) > (condition.high or 0)
        if condition.field != "rating" or apart:
            return f"{first.words} and {condition.words}"
    return ""


def _query_of(query: _Measure, whole: tuple[Condition, ...], each: tuple[Condition, ...]) -> Query:
    question, names, group = query.question, query.names, query.group
    where = query.conditions
    if not (names or query.is_count or where or group or each):
        names = ["par"]
    nothing_said = not (names or query.is_count or group or each or query.aggregate)
    if where and nothing_said and not question.has_word("much") and not question.is_yes_no:
        group = "loan"  # the second liens rated B3: a list
    over_groups = (
        group in ("obligor", "industry", "country")
        and query.aggregate in ("average", "median")
        and query.is_free
        and names in ([], ["par"])
    )
    if over_groups:
        names = ["par"]
    ranking = query.ranking
    more = query.cover.first("more")
    fields: dict[str, Any] = {"order": None}
    if ranking is not None:
        fields = _fields_of(ranking, by=ranking.by)
    elif query.order_by is not None:
        fields = {"order": "most", "order_by": query.order_by, "limit": LIMIT_SHOWN}
    if each and more is not None:
        fields = {"order": more}
    return Query(
        kind="measure",
        quantities=tuple(names),
        aggregate=query.aggregate,
        where=where,
        whole=whole,
        each=each,
        group=group,
        having=tuple(query.having),
        period=query.period,
        aspect="limit" if query.cover.has("limit") else None,
        over_groups=over_groups,
        is_yes_no=question.is_yes_no,
        is_count=query.is_count,
        direction=direction_of(query.cover.values("change")) if query.period == "change" else None,
        **fields,
    )
