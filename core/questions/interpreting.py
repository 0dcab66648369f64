"""The phrases of a question to its query; or the words that have no part in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any, Final, Literal

from msgspec.structs import replace

from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.questions.answer import QUESTION_LENGTH_MAX, QuestionError
from core.questions.named import Found, Named
from core.questions.query import Action, Condition, Having, Period, Query
from core.questions.reading import Letter, Lexeme, Reader, segment
from core.questions.tokens import TOKENS_MAX, Token, tokens_of
from core.questions.vocabulary import QUANTITIES
from core.questions.wording import FIELD_WORDS

FLAG_TESTS: Final = {
    "ccc": "ccc_bucket_pct",
    "not_senior": "non_senior_secured_concentration",
    "second_lien": "non_senior_secured_concentration",
    "cov_lite": "cov_lite_concentration",
    "fixed": "fixed_rate_concentration",
    "foreign": "foreign_country_concentration",
    "small": "small_facility_concentration",
    "past_due": "delinquency_pct",
}
"""The test that limits the loans with a flag."""

GROUP_TESTS: Final = {"industry": "industry_concentration", "obligor": "single_obligor_concentration"}

FLAG_OF_TEST: Final = {test_id: flag for flag, test_id in FLAG_TESTS.items() if flag != "second_lien"}

LOAN_COLUMNS: Final = frozenset(
    (
        "par",
        "price",
        "purchase_price",
        "spread",
        "coupon",
        "floor",
        "recovery",
        "maturity",
        "rating",
        "moodys_rating",
        "sp_rating",
        "fitch_rating",
        "facility_size",
        "days_past_due",
        "quote_depth",
        "unfunded",
        "wal",
        "market_value",
        "share",
        "warf",
        "lien",
        "industry",
        "country",
        "cusip",
        "loanx",
        "isin",
        "index",
        "was",
    )
)
"""Quantities that one loan has."""

WORST_IS_MOST: Final = {
    "warf": True,
    "rank": True,
    "rating": True,
    "days_past_due": True,
    "price": False,
    "recovery": False,
    "diversity": False,
    "cushion": False,
    "moodys_rating": True,
    "sp_rating": True,
    "fitch_rating": True,
}
"""Quantities of which it is certain which end is the worst."""
_LIMITED: Final = frozenset(("warf", "was", "diversity", "wal", "recovery"))
"""Quantities of the whole whose minimum or maximum is their limit."""

NOUNS_OF_PER: Final = frozenset(
    ("split", "breakdown", "distribution", "composition", "mix", "profile", "stratification", "stratify", "broken down",
     "break down")
)  # fmt: skip
"""Words for a breakdown that stand behind what it is by: the industry mix."""
SOFT_IFS: Final = frozenset(
    (
        "what does",
        "what would",
        "how would",
        "would",
        "what happens to",
        "what would happen to",
        "happen to",
        "what happens",
        "where does",
        "where would",
        "if",
        "what would happen",
        "in case",
    )
)
LIMIT_SHOWN: Final = 10
"""Of a ranking whose length the question leaves open."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A question that is not understood."""

    words: tuple[str, ...]
    """Those that have no part in a query; none where all have a meaning, and together none."""
    reason: str = ""


def interpret(question: str, subjects: Sequence[Subject]) -> Query | Unread:
    """The query of a question.

    Raises:
        QuestionError: it is empty or too long.
    """
    if not question.strip():
        raise QuestionError("a question has at least one word")
    if len(question) > QUESTION_LENGTH_MAX:
        raise QuestionError(f"a question has at most {QUESTION_LENGTH_MAX:,} characters")
    tokens = tokens_of(question)
    if not tokens or len(tokens) > TOKENS_MAX:
        return Unread((), "it has no word that can be read" if not tokens else f"it has more than {TOKENS_MAX} words")
    lexemes = segment(tokens, Named(subjects, tokens))
    unknown = tuple(one.said for one in lexemes if not one.meanings)
    if unknown:
        return Unread(unknown)
    as_of = subjects[0].portfolio.deal.as_of if subjects else None
    return _Interpreter(lexemes, as_of, subjects).query()


class _Interpreter:
    def __init__(self, lexemes: list[Lexeme], as_of: float | None, subjects: Sequence[Subject]) -> None:
        entities = {one.get("group") for one in lexemes if one.has("group")}
        sets = bool(
            entities & {"obligor", "industry", "country", "rating", "lien", "rating_a", "rating_b", "currency", "year"}
        )
        self.r = Reader(lexemes, as_of, groups_are_sets=sets and "loan" not in entities)
        self.subjects = subjects
        self.where: tuple[Condition, ...] = ()

    # The whole

    def query(self) -> Query | Unread:
        r = self.r
        chosen = tuple(value for at in r.unused("name") if (one := self._name(at, "subject")) for value in one.values)
        for at in list(r.unused("name")):
            if self._name(at, "subject"):
                r.use(at)
        if (unknown := r.first("unknown")) is not None:
            return Unread((r.lexemes[unknown].said,), "no file of holdings says that")
        if r.has_word("should", "recommend", "advise"):
            return Unread(("should",), "it asks for advice")
        found = self._by_mode()
        if isinstance(found, Unread):
            return found
        left = tuple(one.said for one in r.lexemes if not one.used and not self._may_be_left(one))
        if left:
            return Unread(left)
        return replace(found, subjects=chosen) if chosen else found

    def _name(self, at: int, field: str) -> Found | None:
        name: Found | None = self.r.lexemes[at].get("name")
        return name if name is not None and name.field == field else None

    def _may_be_left(self, lexeme: Lexeme) -> bool:
        if lexeme.has("not") or lexeme.has("without") or lexeme.has("number") or lexeme.has("letter"):
            return False
        return (
            lexeme.is_filler
            or lexeme.has("ask")
            or lexeme.has("whole")
            or lexeme.has("and")
            or lexeme.has("group", "loan", "deal")
            or (lexeme.has("numeral") and len(self.subjects) == lexeme.get("numeral"))
            or lexeme.has("aspect", "level")
            or lexeme.has("aggregate", "total")
            or (lexeme.has("if") and lexeme.text in SOFT_IFS)
        )

    def _by_mode(self) -> Query | Unread:
        r = self.r
        changed = r.any("period", "change") or r.any("period", "previous") or self._month() is not None
        has_if = any(one.has("if") for one in r.lexemes)
        if has_if and r.any("action") and not changed:
            return self._what_if()
        if r.any("room"):
            return self._room()
        return self._plain()

    # Periods

    def _month(self) -> tuple[int, str] | None:
        """A month, or a day, that the question names, and which of the two months at hand it is; "" for neither."""
        r = self.r
        for at, lexeme in enumerate(r.lexemes):
            if lexeme.used or not (lexeme.has("month") or lexeme.has("days")):
                continue
            if lexeme.has("days") and r.any("quantity", "maturity"):
                continue
            for subject in self.subjects[:1]:
                for name, one in (("previous", subject.previous), ("now", subject)):
                    day = None if one is None else one.day
                    if day is not None and self._is_of(lexeme, day):
                        return at, name
                return at, ""
        return None

    @staticmethod
    def _is_of(lexeme: Lexeme, day: date) -> bool:
        if lexeme.has("month"):
            return bool(day.month == lexeme.get("month"))
        first, last = lexeme.get("days")
        return bool(first <= day.toordinal() - 719163 <= last)

    def _period(self) -> Period | Literal["history"] | Unread:
        """now, previous, change or history."""
        r = self.r
        if (at := r.first("period", "history")) is not None:
            r.use(at)
            return "history"
        month = self._month()
        if month is not None:
            at, which = month
            if not which:
                return Unread((r.lexemes[at].said,), "there is no file of that day")
            before = next((one for one in range(at - 1, -1, -1)), None)
            since = before is not None and (
                r.lexemes[before].has("comparison", "from", "after")
                or r.lexemes[before].has("compare")
                or r.lexemes[before].text == "from"
            )
            r.use(at)
            if since:
                r.use(before)
            if which == "now" and not since:
                return "now"
            if which == "previous" and since:
                until = self._month()
                if until is not None and until[1] != "now":
                    return Unread((r.lexemes[until[0]].said,), "there is no file of that day")
                r.use(None if until is None else until[0])
                return "change"
            if which == "now":
                return Unread((r.lexemes[at].said,), "the figures are of that month themselves")
            if r.any("change"):
                return "change"
            return "previous"
        if (at := r.first("period", "change")) is not None:
            r.use(at)
            return "change"
        if (at := r.first("period", "previous")) is not None:
            r.use(at)
            if (other := r.first("compare")) is not None or r.any("change"):
                r.use(other)
                return "change"
            return "previous"
        return "now"

    # Without suppositions

    def _plain(self) -> Query | Unread:
        r = self.r
        period = self._period()
        if isinstance(period, Unread):
            return period
        if period == "previous" and r.first("move") is not None:
            period = "change"
        falls = r.first("change", "up", "down") is not None and r.first("group", "loan", "obligor") is not None
        if period == "change" or (r.any("move") and not r.any("status")) or (falls and period == "now"):
            moves = self._moves("change")
            if moves is not None:
                return moves
        r.read_conditions()
        placed = r.joined()
        if (at := r.first("data")) is not None and (data := self._data(at, placed)) is not None:
            return data
        if (at := r.first("why")) is not None:
            if r.lexemes[at].text == "explain" and not r.any("change"):
                return Unread((r.lexemes[at].said,), "definitions are not known here")
            return self._why(at)
        if period == "history":
            return self._history()
        if (at := r.first("fact")) is not None and not placed and not any(self._is_test(one) for one in r.lexemes):
            return self._fact(at, period)
        tests = self._tests(placed, period)
        if tests is not None:
            return tests
        return self._measure(placed, period)

    @staticmethod
    def _is_test(lexeme: Lexeme) -> bool:
        return lexeme.has("test") or lexeme.has("status")

    # Facts and data

    def _fact(self, at: int, period: str) -> Query | Unread:
        r = self.r
        fact = r.lexemes[at].get("fact")
        if fact == "base_rate" and r.any("group", "loan"):
            return Unread((r.lexemes[at].said,), "it is asked for by itself, and not of loans")
        for other in list(r.unused("fact", fact)):
            r.use(other)
        for kind, value in (
            ("period", None),
            ("quantity", "par"),
            ("quantity", "maturity"),
            ("aspect", "level"),
            ("group", None),
        ):
            for other in list(r.unused(kind)) if value is None else list(r.unused(kind, value)):
                if kind != "group" or r.lexemes[other].has("group", "class", "deal"):
                    r.use(other)
        for other in list(r.unused("comparison")):
            if r.lexemes[other].text in ("until", "by", "in", "through"):
                r.use(other)
        for other in list(r.unused("aspect")) + list(r.unused("change")):
            r.use(other)
        return Query(
            kind="fact",
            fact=fact,
            period="previous" if period == "previous" else "change" if period == "change" else "now",
        )

    def _data(self, at: int, placed: list[Any]) -> Query | None:
        r = self.r
        what = r.lexemes[at].get("data")
        if what == "missing" and placed:
            return None
        if what == "warnings" and (r.any("test") or r.any("group", "test")):
            return None
        r.use(at)
        for kind in ("quantity", "group", "aspect", "data", "ask", "superlative", "without"):
            for other in list(r.unused(kind)):
                if kind == "quantity" and not r.lexemes[other].has("quantity", "count", "par"):
                    continue
                if kind == "superlative" and r.lexemes[other].text not in (
                    "main",
                    "largest",
                    "biggest",
                    "major",
                    "most",
                ):
                    continue
                r.use(other)
        counted = r.has_word("many", "number", "count")
        return Query(kind="data", fact=what, is_count=counted)

    # Tests

    def _test_ids(self, placed: list[Any], *, flags: bool) -> tuple[str, ...]:
        """The tests that the question names, by name, by quantity, by flag, or as the largest of a group."""
        r = self.r
        found: dict[str, None] = {}
        for at, lexeme in enumerate(r.lexemes):
            if lexeme.used and not lexeme.has("test"):
                continue
            if lexeme.has("test") and not lexeme.used:
                found[lexeme.get("test")] = None
                r.use(at)
            elif lexeme.has("name") and (name := self._name(at, "test")) is not None:
                for value in name.values:
                    found[f"name:{value}"] = None
                r.use(at)
            elif lexeme.has("quantity") and (test_id := QUANTITIES[lexeme.get("quantity")].test_id) is not None:
                found[test_id] = None
                r.use(at)
        if flags:
            for one in list(placed):
                condition = one.condition
                flag = condition.values[0] if condition.field == "flag" and condition.op == "is" else None
                if condition.any_of and {part.values[:1] for part in condition.any_of} <= {
                    ("second_lien",),
                    ("unsecured",),
                    ("not_senior",),
                }:
                    flag = "not_senior"
                if flag in FLAG_TESTS and condition.agency is None:
                    found[FLAG_TESTS[flag]] = None
                    placed.remove(one)
            at_group = next(r.unused("group", *GROUP_TESTS), None)
            if not found and at_group is not None:
                group = r.lexemes[at_group].get("group")
                place = self._take_ranking()
                found[GROUP_TESTS[group]] = None
                if place is not None:
                    if group == "industry" and place.place == 2:
                        found = {"second_industry_concentration": None}
                    elif group == "obligor" and place.limit == 5:
                        found = {"top_5_concentration": None}
                    elif place.place not in (None, 1) or place.limit not in (None, 1):
                        return ()  # no test is of so many: the group stays unread
                r.use(at_group)
        return tuple(found)

    def _tests(self, placed: list[Any], period: Period) -> Query | Unread | None:
        """A question on tests, where this is one."""
        r = self.r
        cushion_order = next(
            (at for at in r.unused("superlative") if r.lexemes[at].get("superlative")[1] == "cushion"), None
        )
        aspects = [at for at in r.unused("aspect") if r.lexemes[at].get("aspect") != "level"]
        figures = [r.lexemes[at].get("quantity") for at in r.unused("quantity")]
        if not placed and figures and set(figures) <= _LIMITED and r.first("group") is r.first("comparison") is None:
            ends = [at for at in r.unused("superlative") if r.lexemes[at].text in ("minimum", "min", "maximum", "max")]
            if ends:  # the minimum WARR is its limit
                r.use(*ends)
                return Query(kind="tests", tests=self._test_ids(placed, flags=False), aspect="limit", period=period)
        aspects = [
            at
            for at in aspects
            if not r.lexemes[at].has("superlative")
            or ((before := r.previous(at)) is not None and r.lexemes[before].has("comparison", ">", "<", "from"))
        ]
        statuses = list(r.unused("status"))
        entity = next((at for at in r.unused("group", "test")), None)
        named = any(
            one.has("test") or (one.has("name") and one.get("name").field == "test")
            for one in r.lexemes
            if not one.used
        )
        category = r.first("category")
        quantities = [
            at for at in r.unused("quantity") if QUANTITIES[r.lexemes[at].get("quantity")].test_id is not None
        ]
        simple = (
            bool(quantities)
            and not placed
            and not any(one.quantity != "test" for one in r.having)
            and not any(
                r.lexemes[at].has("group") and not r.lexemes[at].has("group", "loan", "deal", "test")
                for at in r.unused("group")
            )
            and not any(True for _ in r.unused("superlative"))
            and r.first("per") is None
            and r.first("by") is None
            and not any(r.lexemes[at].has("aggregate", "simple", "median") for at in r.unused("aggregate"))
        )
        limits_of_flags = any(
            (one.condition.field == "flag" and one.condition.op == "is" and one.condition.values[0] in FLAG_TESTS)
            for one in placed
        )
        limited = bool(aspects) or bool(statuses) or cushion_order is not None
        over_limit = any(True for _ in r.unused("comparison", ">", ">=", "<", "<=")) and any(
            r.lexemes[at].has("aspect", "limit") for at in aspects
        )
        cushions = [one for one in r.having if one.quantity in ("cushion", "test")]
        if not (named or category is not None or entity is not None or simple or limited or cushions):
            return self._bucket(placed, period) if limits_of_flags else None
        about_tests = named or category is not None or entity is not None or bool(quantities) or limits_of_flags
        about_tests = about_tests or cushion_order is not None or bool(statuses) or (bool(placed) and bool(aspects))
        about_tests = about_tests or r.first("group", *GROUP_TESTS) is not None
        if limited and not (about_tests or (aspects and (r.any("group", "deal") or r.any("whole")))):
            return None
        ids = self._test_ids(placed, flags=limited or bool(cushions))
        categories = r.lexemes[category].get("category") if category is not None else None
        if category is not None:
            r.use(category)
        if entity is not None:
            r.use(entity)
        aspect = None
        for at in aspects:
            value = r.lexemes[at].get("aspect")
            aspect = value if aspect in (None, "limit", "status") else aspect
            r.use(at)
        status = None
        for at in statuses:
            lexeme = r.lexemes[at]
            if lexeme.used:
                continue
            status = lexeme.get("status")
            before = r.previous(at)
            if (
                before is not None
                and r.lexemes[before].has("not")
                and not r.lexemes[before].used
                and status in ("pass", "fail")
            ):
                status = "fail" if status == "pass" else "pass"
                r.use(before)
            r.use(at)
        order = place = limit = None
        if cushion_order is not None:
            ranking = self._take_ranking(cushion_order)
            assert ranking is not None
            order, limit, place = ranking.order, ranking.limit, ranking.place
            aspect = "cushion"
        elif ids and (deal_at := self._which_deal()) is not None and (more_at := r.first("more")) is not None:
            r.use(deal_at, more_at)
            if placed:
                return Unread((), "portfolios are ranked by a test")
            order = r.lexemes[more_at].get("more")
            return Query(kind="deals", tests=ids[:1], order=order, place=1, aspect=aspect)
        elif ids and (deal_at := self._which_deal()) is not None and r.first("superlative") is not None:
            ranking = self._take_ranking()
            r.use(deal_at)
            if ranking is None or placed:
                return Unread((), "portfolios are ranked by a test")
            return Query(kind="deals", tests=ids[:1], order=ranking.order, place=ranking.place or 1, aspect=aspect)
        elif entity is not None or not ids:
            ranking = self._take_ranking()
            if ranking is not None:
                order, limit, place = ranking.order, ranking.limit, ranking.place
                aspect = "cushion"
        if over_limit:
            over = list(r.unused("comparison", ">", ">=", "<", "<="))
            op = r.lexemes[over[0]].get("comparison")
            r.use(*over)
            aspect = "status"
            upper = all(TESTS[one].threshold_type == "max" for one in ids if one in TESTS)
            status = "fail" if (op in (">", ">=")) == upper else "pass"
        for at in list(r.unused("compare")) + list(r.unused("comparison", "from")):
            r.use(at)
        if aspect == "cushion":
            r.use(*r.unused("comparison", ">", "<"))  # the room below a limit
        for at in list(r.unused("per")):
            if r.lexemes[at].text in ("each", "every") or entity is not None or categories is not None:
                r.use(at)
        classes = tuple(value for at in list(r.unused("class")) for value in self._take(at, "class"))
        if not classes and (ids or categories) and (class_at := r.first("group", "class")) is not None:
            r.use(class_at)
            classes = ("*",)
            for per in list(r.unused("per")):
                r.use(per)
        direction = self._direction() if period == "change" else None
        counted = r.has_word("many") or any(True for _ in r.unused("quantity", "count"))
        for at in list(r.unused("quantity", "count", "share", "par")):
            r.use(at)
        for at in list(r.unused("aggregate", "average", "total")):
            if ids and r.lexemes[at].text != "mean":
                r.use(at)
        if placed:
            return self._subset_of(ids, placed, period, aspect, status)
        if not (ids or status or categories or entity is not None or order or aspect or cushions or classes):
            return Unread((), "which test is meant is not said")
        if period == "now" and self._has_changed() and ids:
            period = "change"
            direction = self._direction()
        return Query(
            kind="tests",
            tests=ids,
            category=categories,
            aspect=aspect,
            status=status,
            order=order,
            limit=limit,
            place=place,
            classes=classes,
            period=period,
            direction=direction,
            having=tuple(cushions),
            is_yes_no=self._is_yes_no(),
            is_count=counted and not ids,
            order_by="cushion" if order is not None else None,
        )

    def _take(self, at: int, kind: str) -> Any:
        self.r.use(at)
        return self.r.lexemes[at].get(kind)

    def _subset_of(
        self, ids: tuple[str, ...], placed: list[Any], period: Period, aspect: str | None, status: str | None
    ) -> Query | Unread:
        """A test's quantity over some of the loans: the WARF of the second liens."""
        by_test = {one.test_id: name for name, one in QUANTITIES.items() if one.test_id is not None}
        if not ids or aspect in ("cushion", "limit") or status is not None or any(one not in by_test for one in ids):
            return Unread((placed[0].condition.said,), "tests are of the whole portfolio")
        return self._measure(placed, period, quantities=tuple(by_test[one] for one in ids))

    def _bucket(self, placed: list[Any], period: Period) -> Query | None:
        """The CCC bucket as a share is the figure of its test."""
        r = self.r
        if (
            len(placed) != 1
            or placed[0].condition.field != "flag"
            or placed[0].condition.values[0] != "ccc"
            or placed[0].condition.agency
        ):
            return None
        if any(True for _ in r.unused("group", "loan", "obligor", "industry", "country", "rating", "year")) or any(
            True for _ in r.unused("superlative")
        ):
            return None
        quantities = [r.lexemes[at].get("quantity") for at in r.unused("quantity")]
        bucket = "bucket" in placed[0].condition.said.lower()
        if any(one not in ("share", "par") for one in quantities) or not (
            bucket or period == "change" or "share" in quantities
        ):
            return None
        if "par" in quantities and "share" not in quantities:
            return None
        for at in list(r.unused("quantity")):
            r.use(at)
        direction = self._direction() if period == "change" or self._has_changed() else None
        if direction is not None and period == "now":
            period = "change"
        return Query(
            kind="tests", tests=("ccc_bucket_pct",), period=period, direction=direction, is_yes_no=self._is_yes_no()
        )

    def _is_yes_no(self) -> bool:
        first = self.r.lexemes[0].tokens[0].text
        return first in (
            "is",
            "are",
            "do",
            "does",
            "did",
            "has",
            "have",
            "will",
            "can",
            "could",
            "am",
        ) and not self.r.has_word("which", "what", "how")

    def _which_deal(self) -> int | None:
        """The word for a portfolio where one is to be chosen: which deal, which of our deals."""
        before: list[str] = []
        for at, lexeme in enumerate(self.r.lexemes):
            if not lexeme.used and lexeme.has("group", "deal") and "which" in before[-3:]:
                return at
            before += [token.text for token in lexeme.tokens]
        return None

    def _has_changed(self) -> bool:
        """Whether a word says a change by itself: higher and lower may compare two things as well."""
        return any(not self.r.lexemes[at].has("more") for at in self.r.unused("change"))

    def _direction(self) -> Any:
        direction = None
        for at in list(self.r.unused("change")):
            value = self.r.lexemes[at].get("change")
            direction = value if value != "change" else direction
            self.r.use(at)
        return direction or "any"

    # Why and history

    def _why(self, at: int) -> Query | Unread:
        r = self.r
        r.use(at)
        ids = self._test_ids(sorted(r.joined(), key=lambda one: one.at), flags=True)
        if not ids:
            return Unread((r.lexemes[at].said,), "of tests only it is known why they moved")
        self._direction()
        for other in list(r.unused("why")):
            r.use(other)
        return Query(kind="why", tests=ids, period="change")

    def _history(self) -> Query | Unread:
        r = self.r
        placed = r.joined()
        ids = self._test_ids(placed, flags=True)
        direction = self._direction() if r.any("change") else None
        for kind in ("quantity", "aspect", "group", "per"):
            for at in list(r.unused(kind)):
                if kind == "quantity" and not r.lexemes[at].has("quantity", "share", "count"):
                    continue
                if kind == "group" and not r.lexemes[at].has("group", "test", "deal"):
                    continue
                r.use(at)
        if not ids or placed:
            return Unread((), "a history is kept of tests: which one is meant is not said")
        return Query(
            kind="history",
            tests=ids,
            period="now",
            direction=None if direction in (None, "any") else direction,
            is_yes_no=self._is_yes_no(),
        )

    # Moves between two months

    def _moves(self, period: Period) -> Query | Unread | None:
        r = self.r
        quantity = next(
            (
                r.lexemes[at].get("quantity")
                for at in r.unused("quantity")
                if r.lexemes[at].get("quantity")
                in ("price", "spread", "par", "rating", "coupon", "moodys_rating", "sp_rating")
            ),
            None,
        )
        move_at = next((at for at in r.unused("move")), None)
        change_at = r.first("change")
        if quantity is None and move_at is None and change_at is not None:
            points = any(
                one.has("number") and one.get("number").unit in ("points", "price") for one in r.lexemes if not one.used
            )
            quantity = "price" if points else None
        entity = next((at for at in r.unused("group", "loan", "obligor")), None)
        listing = (
            entity is not None
            or r.first("superlative") is not None
            or r.has_word("which", "who", "list", "name", "names", "anything", "any", "biggest", "largest")
        )
        if move_at is not None:
            move = r.lexemes[move_at].get("move")
            if quantity == "price" and move != "added":
                return None
            r.use(move_at)
            for at in list(r.unused("move")):
                r.use(at)
        elif (
            change_at is not None
            and quantity in ("price", "spread", "rating", "coupon", "moodys_rating", "sp_rating", "par")
            and listing
            and not any(True for _ in r.unused("test"))
        ):
            if quantity in ("rating", "moodys_rating", "sp_rating"):
                direction = r.lexemes[change_at].get("change")
                move = {"down": "downgraded", "up": "upgraded", "worse": "downgraded", "better": "upgraded"}.get(
                    direction, "rerated"
                )
            else:
                move = quantity
            r.use(change_at)
        else:
            return None
        r.read_conditions()
        placed = r.joined()
        direction = None
        if change_at is not None:
            value = r.lexemes[change_at].get("change")
            direction = None if value == "change" else value
            r.use(change_at)
        for at in list(r.unused("change")):
            value = r.lexemes[at].get("change")
            direction = direction or (None if value == "change" else value)
            r.use(at)
        ranking = self._take_ranking()
        group = "loan"
        for at in list(r.unused("group", "loan", "obligor")):
            group = r.lexemes[at].get("group")
            r.use(at)
        measured = None
        for at in list(r.unused("quantity")):
            name = r.lexemes[at].get("quantity")
            if name in ("par", "share") and move not in ("par",):
                measured = name
            if name in ("par", "share", "count", quantity):
                r.use(at)
        for at in list(r.unused("period")):
            r.use(at)
        if move == "repriced" and r.lexemes[move_at or 0].text != "repriced" and direction is None:
            direction = "down" if re.search(r"cut|fell|decreas|reduc|tight", r.lexemes[move_at or 0].text) else None
        if move == "entered" or (
            move == "downgraded"
            and placed
            and any(
                one.has("comparison") is False and one.text in ("to", "into")
                for one in r.lexemes[move_at or 0 : placed[0].at]
            )
        ):
            if not placed:
                return Unread((r.lexemes[move_at or 0].said,), "into what is not said")
            move = "entered"
        if r.change_by and direction is None:
            direction = "down" if move in ("price", "spread") else None
        order_by = None
        if ranking is not None and move in ("price", "spread", "par", "coupon"):
            order_by = "change"
        return Query(
            kind="moves",
            move=move,
            quantities=() if measured is None else (measured,),
            where=tuple(one.condition for one in placed),
            group=group,
            direction=direction,
            having=tuple(r.change_by),
            period="change",
            is_count=r.has_word("many", "number", "count"),
            is_yes_no=self._is_yes_no(),
            order=None if ranking is None else ranking.order,
            order_by=order_by,
            limit=None if ranking is None else ranking.limit or (ranking.place if entity is not None else LIMIT_SHOWN),
        )

    # Rankings

    def _take_ranking(self, at: int | None = None) -> _Ranking | None:
        """A superlative with its number and what it is by."""
        r = self.r
        if at is None:
            at = next((one for one in r.unused("superlative")), None)
        if at is None:
            return None
        order, by = r.lexemes[at].get("superlative")
        r.use(at)
        limit = place = None
        for other in (r.previous(at), r.next(at)):
            if other is None or r.lexemes[other].used:
                continue
            lexeme = r.lexemes[other]
            if lexeme.has("ordinal") and other < at:
                place = lexeme.get("ordinal")
                r.use(other)
            elif (count := self._count_of(lexeme)) is not None and limit is None:
                limit = count
                r.use(other)
        for other in list(r.unused("numeral")):
            if limit is None and place is None:
                limit = r.lexemes[other].get("numeral")
                r.use(other)
        for other in list(r.unused("superlative", ("most", ""))):
            count_at = r.next(other)
            if r.lexemes[other].text == "top" and limit is None and count_at is not None:
                limit = self._count_of(r.lexemes[count_at])
                r.use(*((other, count_at) if limit is not None else ()))
        by_name: str | None = by or None
        after = r.next(at)
        if limit is not None and after is not None and r.lexemes[after].used and r.lexemes[after].has("number"):
            after = r.next(after)
        if by_name is None and after is not None and not r.lexemes[after].used and r.lexemes[after].has("quantity"):
            name = r.lexemes[after].get("quantity")
            if name not in ("count",):
                by_name = name
                r.use(after)
        elif (
            by_name is None
            and after is not None
            and r.lexemes[after].has("aggregate")
            and (following := r.next(after)) is not None
        ) and r.lexemes[following].has("quantity"):
            by_name = r.lexemes[following].get("quantity")
            r.use(after, following)
        mains = [one for one in r.lexemes if one.has("group")]
        has_most = r.lexemes[at].text in ("most", "fewest", "least") and by_name is None
        has_most = has_most and (len(mains) > 1 or r.has_word("who"))
        if has_most and after is not None and r.lexemes[after].has("group", "loan"):  # who has the most loans
            by_name = "count"
            r.use(after)
            mains = [one for one in mains if one is not r.lexemes[after]]
        plural = any(one.is_plural for one in mains)
        if limit is None and place is None:
            if plural:
                limit = LIMIT_SHOWN
            else:
                place = 1
        elif place is None and limit == 1:
            place, limit = 1, None
        if order in ("worst", "best"):
            if by_name is None:
                by_name = next(
                    (name for one in r.unused("quantity") if (name := r.lexemes[one].get("quantity")) in WORST_IS_MOST),
                    None,
                )
            if by_name not in WORST_IS_MOST:
                r.lexemes[at].used = False
                return None
            order = "most" if WORST_IS_MOST[by_name] == (order == "worst") else "least"
        return _Ranking(order, by_name, limit, place)

    @staticmethod
    def _count_of(lexeme: Lexeme) -> int | None:
        if lexeme.has("numeral"):
            return int(lexeme.get("numeral"))
        if lexeme.has("number"):
            number: Token = lexeme.get("number")
            if not number.unit and number.value.is_integer() and 1 <= number.value <= 500:
                return int(number.value)
        return None

    # Measures of loans

    def _group(self) -> tuple[str | None, bool]:
        """(what the answer is by, whether the question says by or each)."""
        r = self.r
        if (at := r.first("by")) is not None:
            r.use(at)
            self._use_nouns_of_per()
            by: str = r.lexemes[at].get("by")
            return by, True
        pers = list(r.unused("per"))
        pers.sort(key=lambda at: r.lexemes[at].text not in ("by", "per", "each", "every", "for each", "for every"))
        for at in pers:
            if r.lexemes[at].text in NOUNS_OF_PER:
                continue
            after = r.next(at)
            if after is None or r.lexemes[after].used:
                continue
            name = self._group_of(r.lexemes[after])
            if name is None and (further := r.next(after)) is not None and r.lexemes[after].has("agency"):
                name = {"a": "rating_a", "b": "rating_b", "c": "rating_c"}[r.lexemes[after].get("agency")]
                if not (r.lexemes[further].has("quantity", "rating") or r.lexemes[further].has("group", "rating")):
                    name = None
                else:
                    r.use(further)
            if name is None and r.lexemes[after].has("group", "deal"):
                r.use(at, after)
                continue
            if name is None and r.lexemes[after].has("whole"):
                continue
            if name == "loan" and r.lexemes[at].text in (
                "across",
                "distribution of",
                "breakdown of",
                "composition",
                "mix",
            ):
                r.use(at, after)
                continue
            if name is not None:
                r.use(at, after)
                self._use_nouns_of_per()
                for other in list(r.unused("quantity")) + list(r.unused("group")):
                    if self._group_of(r.lexemes[other]) == name:
                        r.use(other)
                return name, True
        for at in list(r.unused("per")):  # maturity profile, industry breakdown
            before = r.previous(at)
            if (
                before is not None
                and not r.lexemes[before].used
                and (name := self._group_of(r.lexemes[before])) is not None
            ):
                r.use(at, before)
                return name, True
        ranked = (
            "obligor",
            "industry",
            "country",
            "rating",
            "rating_a",
            "rating_b",
            "rating_c",
            "year",
            "lien",
            "currency",
            "index",
            "coupon_type",
        )
        for at in list(r.unused("group", *ranked)):
            r.use(at)
            return r.lexemes[at].get("group"), False
        for at in list(r.unused("group", "loan")):
            r.use(at)
            return "loan", False
        return None, False

    def _use_nouns_of_per(self) -> None:
        """The breakdown of the pool by ...: one word for it is enough."""
        for at in list(self.r.unused("per")):
            if self.r.lexemes[at].text != "by":
                self.r.use(at)

    @staticmethod
    def _group_of(lexeme: Lexeme) -> str | None:
        if lexeme.has("group"):
            name: str = lexeme.get("group")
            return name if name not in ("test", "class", "deal") else None
        return {
            "maturity": "year",
            "rating": "rating",
            "moodys_rating": "rating_a",
            "sp_rating": "rating_b",
            "fitch_rating": "rating_c",
            "lien": "lien",
            "index": "index",
        }.get(lexeme.get("quantity") or "")

    def _measure(self, placed: list[Any], period: Period, quantities: tuple[str, ...] = ()) -> Query | Unread:
        r = self.r
        aggregate_at = next((at for at in r.unused("aggregate")), None)
        more_at = r.first("more")
        compare_at = r.first("compare")
        set_first = self._whole(placed)
        group, says_by = self._group()
        count_at = r.first("quantity", "count")
        is_count = count_at is not None
        if is_count and group is None and not quantities:
            group = "loan"
        r.use(count_at)
        ranking = self._take_ranking()
        order_from_per = self._ordered_by()
        if r.any("quantity", "count") and group is None:
            group = "loan"
        names = list(quantities)
        before_ranking = False
        for at in list(r.unused("quantity")):
            name = r.lexemes[at].get("quantity")
            if name not in names:
                names.append(name)
            if ranking is not None and any(
                r.lexemes[other].has("superlative") and other > at for other in range(len(r.lexemes))
            ):
                before_ranking = True
            r.use(at)
        if is_count and says_by and group != "loan":
            names, is_count = ["count", *names], False  # the number of loans by industry
        aggregate = None
        if aggregate_at is not None:
            aggregate = r.lexemes[aggregate_at].get("aggregate")
            r.use(aggregate_at)
            for at in list(r.unused("aggregate")):
                value = r.lexemes[at].get("aggregate")
                if value in ("simple", "median", "average") and aggregate in (None, "total"):
                    aggregate = value
                r.use(at)
        if says_by and group not in (None, "loan") and not names and r.any("group", "loan"):
            names = ["count", "par", "share"]  # loans by industry
        if group == "year" and "maturity" in names:
            names.remove("maturity")
        if "was" in names and (placed or group is not None):
            names = ["spread" if name == "was" else name for name in names]
        if "rating" in names and (agency_at := r.first("agency")) is not None:
            name = {"a": "moodys_rating", "b": "sp_rating", "c": "fitch_rating"}[r.lexemes[agency_at].get("agency")]
            names = [name if one == "rating" else one for one in names]
            r.use(agency_at)
        having = tuple(r.having)
        if any(one.quantity == "test" for one in having):
            return Unread((), "a test is of the whole portfolio")
        if r.change_by:
            return Unread((), "a change in points is meant of loans or tests between two months")
        direction = None
        if period == "change" or (period == "now" and self._has_changed()):
            direction = self._direction()
            period = "change"
        classes = tuple(value for at in list(r.unused("class")) for value in self._take(at, "class"))
        class_entity = r.first("group", "class")
        if classes or class_entity is not None:
            return self._notes(classes, class_entity, names, ranking, period, aggregate)
        order = limit = place = None
        order_by = None
        if ranking is not None:
            order, limit, place, order_by = ranking.order, ranking.limit, ranking.place, ranking.by or order_from_per
            if order_by is None and is_count and group not in (None, "loan"):
                order_by = "count"
            if order_by is None and names and not before_ranking and names[0] != "share":
                order_by = names[0]
            if (deal_at := self._which_deal()) is not None and group is None:
                r.use(deal_at)
                by = "warf" if order_by == "rank" else order_by or (names[0] if names else "par")
                if names and names != [by]:
                    return Unread((), "portfolios are ranked by one figure")
                names = [by]
                return Query(
                    kind="deals",
                    quantities=tuple(names) or ((order_by,) if order_by else ()),
                    order=order,
                    place=place or 1,
                )
            if group is None:
                group = self._default_group(placed, order_by)
            if order_by == "count" and group == "loan":
                group = "obligor"
            order_by = order_by or "par"
            if order_by == "maturity" and group == "loan":
                names = names or ["maturity"]
        elif order_from_per is not None:
            order, order_by, limit = "most", order_from_per, LIMIT_SHOWN
        each: tuple[Condition, ...] = ()
        alternatives = [one for one in placed if one.condition.any_of and one.condition.field != "not"]
        if compare_at is not None or more_at is not None:
            found = self._each(placed, alternatives)
            if found is not None:
                each, placed = found
                r.use(compare_at, more_at)
                for at in list(r.unused("or")) + list(r.unused("more")) + list(r.unused("compare")):
                    r.use(at)
                if more_at is not None:
                    order, place, order_by = r.lexemes[more_at].get("more"), None, None
        if compare_at is not None and len(self.subjects) > 1 and not r.lexemes[compare_at].used:
            r.use(compare_at)
        where = tuple(one.condition for one in placed if one.at not in set_first)
        whole = tuple(one.condition for one in placed if one.at in set_first)
        if whole:
            names = ["share"] if not names or names == ["share"] else names
        r.use(*(r.unused("compare", "compare") if group == "coupon_type" else ()))
        if aggregate in ("average", "simple", "median") and not names and (ranking is None or ranking.by is None):
            return Unread((r.lexemes[aggregate_at or 0].said,), "of what is not said")
        if order_from_per is not None and ranking is None and group is None:
            return Unread((FIELD_WORDS.get(order_from_per, order_from_per),), "loans are not grouped by it")
        texts = [token.text for one in r.lexemes for token in one.tokens]
        if any(pair == ("at", "par") for pair in pairwise(texts)):
            return Unread(("at par",), "a price of 100 is asked for as such")
        if (
            "share" in names
            and group in ("obligor", "industry", "country")
            and where
            and not says_by
            and ranking is None
        ):
            return Unread((), "shares are of par, and not of a number of names")
        if clash := _clash(where):
            return Unread((clash,), "no loan is both")
        looked_up = any(one.condition.field in ("obligor", "facility", "cusip", "loanx", "isin") for one in placed)
        if period == "change" and group == "loan" and not is_count and not looked_up:
            return Unread((), "what loans are listed by is not said")
        if period == "change" and ranking is not None and group in (None, "loan"):
            return Unread((), "what is ranked between two months is not said")
        if having and group is None and not (self._is_yes_no() and where):
            return Unread((), "what is compared is not said")
        if not names and not is_count and not where and group is None and not each:
            if r.any("whole") and r.has_word("big", "large", "much", "size"):
                names = ["par"]
            else:
                return Unread((), "it names nothing that can be measured")
        listing = r.has_word("which", "who", "list", "show", "name", "names", "whose", "identify", "find", "display")
        if (
            where
            and not (names or is_count or group or each or aggregate)
            and not r.has_word("much")
            and not self._is_yes_no()
        ):
            group = "loan"  # the second liens rated B3: a list
        is_of_groups = group in ("obligor", "industry", "country") and aggregate in ("average", "median")
        if is_of_groups and not says_by and names in ([], ["par"]) and ranking is None and not listing:
            return Query(
                kind="measure",
                quantities=("par",),
                aggregate=aggregate,
                where=where,
                group=group,
                period=period,
                over_groups=True,
            )
        if group == "loan" and not listing and not is_count and ranking is None and names and not says_by:
            plain_lookup = any(one.field in ("obligor", "facility", "cusip", "loanx", "isin") for one in where)
            if not plain_lookup:
                group = None  # the average price of the CCC loans
        return Query(
            kind="measure",
            quantities=tuple(names),
            aggregate=aggregate,
            where=where,
            whole=whole,
            each=each,
            group=group,
            order=order,
            order_by=order_by,
            limit=limit,
            place=place,
            having=having,
            period=period,
            is_yes_no=self._is_yes_no(),
            is_count=is_count,
            direction=direction if direction != "any" else None,
        )

    def _ordered_by(self) -> str | None:
        """By par, by spread: what a ranking is ordered by."""
        r = self.r
        for at in list(r.unused("per")):
            after = r.next(at)
            if (
                r.lexemes[at].text == "by"
                and after is not None
                and r.lexemes[after].has("quantity")
                and not r.lexemes[after].used
            ):
                r.use(at, after)
                name: str = r.lexemes[after].get("quantity")
                return name
        return None

    @staticmethod
    def _default_group(placed: list[Any], order_by: str | None) -> str:
        return "loan" if order_by not in (None, "par", "share") or placed else "obligor"

    def _whole(self, placed: list[Any]) -> set[int]:
        """Places of the conditions that say what a share is of: what share of the B3 loans is cov-lite."""
        r = self.r
        share = next((at for at in r.unused("quantity") if r.lexemes[at].has("quantity", "share")), None)
        much = share is None and r.has_word("much")
        if (share is None and not much) or len(placed) < 2:
            return set()
        start = share if share is not None else 0
        for verb in range(start + 1, len(r.lexemes)):
            if r.lexemes[verb].tokens[-1].raw.lower() in _VERBS:
                before = {one.at for one in placed if start < one.end < verb}
                after = {one.at for one in placed if one.at > verb}
                if before and after and share is not None:
                    return before
        return set()

    def _each(self, placed: list[Any], alternatives: list[Any]) -> tuple[tuple[Condition, ...], list[Any]] | None:
        if len(alternatives) == 1:
            return alternatives[0].condition.any_of, [one for one in placed if one is not alternatives[0]]
        if len(placed) == 2 and not alternatives and placed[0].condition.op == placed[1].condition.op:
            return tuple(one.condition for one in placed), []
        named = [
            one
            for one in placed
            if one.condition.field in ("industry", "country", "obligor") and len(one.condition.values) > 1
        ]
        if len(named) == 1:
            values = named[0].condition.values
            return tuple(replace(named[0].condition, values=(value,)) for value in values), [
                one for one in placed if one is not named[0]
            ]
        return None

    def _notes(
        self,
        classes: tuple[str, ...],
        entity: int | None,
        names: list[str],
        ranking: _Ranking | None,
        period: str,
        aggregate: str | None,
    ) -> Query | Unread:
        r = self.r
        r.use(entity)
        allowed = {"par", "coupon", "spread", "was", "rating", "share", "count", "unfunded", "maturity"}
        if any(name not in allowed for name in names) or ranking is not None or period == "change":
            return Unread((), "of the notes, balance, coupon, spread and triggers are known")
        r.use(*r.unused("aspect", "level"), *r.unused("per"), *r.unused("fact"))
        counted = r.has_word("many")
        return Query(
            kind="notes",
            classes=classes or ("*",),
            quantities=tuple("spread" if name == "was" else name for name in names) or ("par",),
            is_count=counted,
        )

    # Suppositions

    def _room(self) -> Query | Unread:
        r = self.r
        for at in list(r.unused("room")):
            r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if not lexeme.used and lexeme.has("aspect") and not lexeme.has("quantity"):
                r.use(at)
            if not lexeme.used and (
                lexeme.has("status") or lexeme.has("action", "buy", "sell") or lexeme.text in ("before", "until")
            ):
                r.use(at)
        r.read_conditions()
        placed = r.joined()
        ids = self._test_ids(placed, flags=True)
        for at in list(r.unused("group", "loan", "test")) + list(r.unused("quantity", "par", "share", "count")):
            r.use(at)
        own = tuple(one for one in r.having if one.quantity == "share")
        for at in list(r.unused("number")):
            number: Token = r.lexemes[at].get("number")
            if number.unit == "percent" and not own:
                own = (Having(quantity="share", op="<=", value=number.value, unit="percent"),)
                r.use(at, *r.unused("comparison", "<="))
        if own and not ids and len(placed) == 1:
            return Query(kind="room", where=(placed[0].condition,), having=own[:1])
        if own:
            return Unread((f"{own[0].value:g}%",), "the limit is the test's own")
        if (
            not ids
            and len(placed) == 1
            and placed[0].condition.field in ("industry", "obligor")
            and len(placed[0].condition.values) == 1
        ):
            for at in list(r.unused("group", "industry", "obligor")):
                r.use(at)
            return Query(kind="room", tests=(GROUP_TESTS[placed[0].condition.field],), where=(placed[0].condition,))
        if len(ids) != 1 or placed:
            return Unread((), "room is known for what one test limits")
        return Query(kind="room", tests=ids)

    def _what_if(self) -> Query | Unread:
        """Split at the verbs: what stands about each is done, what is a test is asked."""
        r = self.r
        if_at = next(at for at, one in enumerate(r.lexemes) if one.has("if"))
        hard = [
            at
            for at, one in enumerate(r.lexemes)
            if one.has("if")
            and one.text
            in (
                "if",
                "suppose",
                "supposing",
                "assume",
                "assuming",
                "what if",
                "what happens if",
                "what would happen if",
                "if we were to",
                "in case",
                "say we",
                "if i",
                "assuming that",
                "suppose that",
            )
        ]
        start = hard[0] if hard else if_at
        end = next(
            (
                at
                for at in range(start + 1, len(r.lexemes))
                if ("," in r.lexemes[at].tokens[0].before and not self._continues(at))
                or r.lexemes[at].tokens[0].text in ("what", "how", "which", "where", "would", "does")
            ),
            len(r.lexemes),
        )
        verbs = [at for at in range(start, end) if r.lexemes[at].has("action") and not self._is_noun(at, start)]
        verbs = self._one_verb_each(verbs)
        if not verbs:
            return Unread((r.lexemes[if_at].said,), "it supposes nothing that can be worked out")
        clauses: list[tuple[int, int, int]] = []
        bounds = [start]
        for at, following in pairwise(verbs):  # sell A and B defaults: the last "and" parts them
            bounds.append(max((one for one in range(at, following) if r.lexemes[one].has("and")), default=following))
        clauses.extend(zip(verbs, bounds, [*bounds[1:], end], strict=True))
        for at in range(len(r.lexemes)):
            if r.lexemes[at].has("if"):
                r.use(at)
        r.use(*verbs)
        actions: list[Action] = []
        # Consequences stand outside of the clauses, or are tests inside.
        consequences: dict[str, None] = {}
        inside = range(start, end)
        for at, lexeme in enumerate(r.lexemes):
            if lexeme.used or not lexeme.has("test"):
                continue
            consequences[lexeme.get("test")] = None
            r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if (
                lexeme.used
                or not lexeme.has("quantity")
                or (test_id := QUANTITIES[lexeme.get("quantity")].test_id) is None
            ):
                continue
            if (
                at not in inside
                or lexeme.get("quantity") in ("warf", "diversity", "was", "wal")
                or (lexeme.get("quantity") == "recovery" and at > verbs[-1])
            ):
                if lexeme.get("quantity") == "price" and at in inside:
                    continue
                consequences[test_id] = None
                r.use(at)
        for at, lexeme in enumerate(r.lexemes):
            if at not in inside and not lexeme.used and lexeme.has("flag", *FLAG_TESTS) and not lexeme.has("action"):
                consequences[FLAG_TESTS[lexeme.get("flag")]] = None
                r.use(at)
        numbers = {at for at in range(len(r.lexemes)) if r.lexemes[at].has("number") and not r.lexemes[at].used}
        for verb, first, last in clauses:
            action = self._action(verb, first, last, numbers)
            if isinstance(action, Unread):
                return action
            actions.append(action)
        category = r.first("category")
        categories = None
        if category is not None:
            categories = r.lexemes[category].get("category")
            r.use(category)
        r.use(*r.unused("group", "test"), *r.unused("change"))
        if consequences:
            r.use(*r.unused("quantity", "share", "par"))
        aspect = None
        for at in list(r.unused("aspect")):
            aspect = r.lexemes[at].get("aspect")
            r.use(at)
        status = None
        for at in list(r.unused("status")):
            status = r.lexemes[at].get("status")
            r.use(at)
        for at in list(r.unused("per")):
            if r.lexemes[at].text in ("each", "every"):
                r.use(at)
        return Query(
            kind="what_if",
            actions=tuple(actions),
            tests=tuple(consequences),
            category=categories,
            aspect=aspect,
            status=status,
            is_yes_no=self._is_yes_no(),
        )

    def _continues(self, at: int) -> bool:
        """Whether a comma goes on with a list."""
        lexeme = self.r.lexemes[at]
        return lexeme.has("name") or lexeme.has("letter") or lexeme.has("number")

    def _is_noun(self, at: int, start: int) -> bool:
        """Whether an action's word stands for loans: the defaulted loans."""
        r = self.r
        lexeme = r.lexemes[at]
        after = r.next(at)
        if lexeme.has("flag", "defaulted") and after is not None and r.lexemes[after].has("group") and at > start:
            before = r.previous(at)
            return before is not None and r.lexemes[before].has("action")
        if lexeme.has("quantity", "price") and after is not None:
            return r.lexemes[after].has("comparison") or r.lexemes[after].has("action")
        return False

    def _one_verb_each(self, verbs: list[int]) -> list[int]:
        """Of verbs that say one thing together (is downgraded ... to, marked down ... by) the first."""
        r = self.r
        kept: list[int] = []
        for at in verbs:
            kind = r.lexemes[at].get("action")
            if kept and not any(r.lexemes[one].has("and") for one in range(kept[-1], at)):
                last = r.lexemes[kept[-1]]
                if last.has("action", kind) or (
                    kind in ("price_to", "price_down") and last.has("action", "price_down", "price_to")
                ):
                    r.use(at)
                    continue
            kept.append(at)
        return kept

    def _action(self, verb: int, first: int, last: int, numbers: set[int]) -> Action | Unread:
        r = self.r
        lexeme = r.lexemes[verb]
        kinds = [str(one.value) for one in lexeme.meanings if one.kind == "action"]
        said = [r.lexemes[at] for at in range(first, last)]
        values = [(at, r.lexemes[at].get("number")) for at in sorted(numbers) if first <= at < last]
        by = {unit: (at, number) for at, number in values for unit in (number.unit,)}
        notched = "notches" in by
        kind: str = kinds[0]
        about_price = any(one.has("quantity", "price") for one in said)
        if notched or (
            len(kinds) > 1
            and any(one.has("letter") or one.has("flag", "ccc") for one in said)
            and "downgrade" in kinds
            and not about_price
            and "points" not in by
        ):
            kind = (
                "upgrade" if "upgrade" in kinds or ("price_up" in kinds and "downgrade" not in kinds) else "downgrade"
            )
        elif ("points" in by or "percent" in by or about_price) and any(one.startswith("price") for one in kinds):
            kind = next(one for one in kinds if one.startswith("price"))
        elif (
            kind == "downgrade"
            and any(one.startswith("price") for one in kinds)
            and not any(one.has("letter") for one in said)
        ):
            return Unread((lexeme.said,), "by how much is not said")
        if kind == "price_down" and "downgrade" in kinds and any(one.has("letter") for one in said):
            kind = "downgrade"
        action: dict[str, Any] = {}

        def take(unit: str, name: str, scale: float = 1.0) -> bool:
            if unit not in by:
                return False
            at, number = by[unit]
            action[name] = number.value * scale
            r.use(at)
            return True

        if kind.startswith("price"):
            sign = -1.0 if kind == "price_down" else 1.0
            for at in range(first, last):
                if r.lexemes[at].has("quantity", "price") and not r.lexemes[at].used:
                    after = r.next(at)
                    if after is None or not r.lexemes[after].has("comparison"):
                        r.use(at)
            if kind == "price_to":
                if not (take("", "price") or take("points", "price") or take("percent", "price")):
                    return Unread((lexeme.said,), "at what price is not said")
            elif not (take("points", "points", sign) or take("percent", "percent", sign) or take("", "points", sign)):
                return Unread((lexeme.said,), "by how much is not said")
            kind = "price"
        elif kind in ("downgrade", "upgrade"):
            if notched:
                at, number = by["notches"]
                action["notches"] = int(number.value)
                r.use(at)
            else:
                target = next(
                    (
                        at
                        for at in range(verb, last)
                        if r.lexemes[at].has("letter") and not r.lexemes[at].used and self._after_to(at)
                    ),
                    None,
                )
                if target is None:
                    ccc = next(
                        (
                            at
                            for at in range(verb, last)
                            if r.lexemes[at].has("flag", "ccc") and not r.lexemes[at].used and self._after_to(at)
                        ),
                        None,
                    )
                    if ccc is not None:
                        action["rank"] = 17
                        r.use(ccc)
                    else:
                        action["notches"] = 1
                else:
                    letter: Letter = r.lexemes[target].get("letter")
                    if letter.best != letter.worst:
                        return Unread((r.lexemes[target].said,), "it stands for several ratings")
                    action["rank"] = letter.best
                    r.use(target)
                    if (after := r.next(target)) is not None and r.lexemes[after].has("agency") and after < last:
                        r.use(after)
        elif kind in ("sell", "buy"):
            take("amount", "par")
            at_price = next(
                (
                    at
                    for at, number in values
                    if number.unit in ("", "points", "percent")
                    and at > 0
                    and r.lexemes[at - 1].text in ("at", "at a price of", "price", "for", "priced at", "at price", "of")
                    and number.days is None
                    and number.value <= 200
                ),
                None,
            )
            if (at_price is not None and not r.lexemes[at_price].used and r.lexemes[at_price - 1].text != "of") or (
                at_price is not None and any(one.has("quantity", "price") for one in said)
            ):
                action["price"] = r.lexemes[at_price].get("number").value
                r.use(at_price)
            else:
                at_par = next(
                    (
                        at
                        for at in range(verb, last - 1)
                        if r.lexemes[at].text == "at" and r.lexemes[at + 1].has("quantity", "par")
                    ),
                    None,
                )
                if at_par is not None:
                    action["price"] = 100.0
                    r.use(at_par + 1)
            for at in range(first, last):
                after = r.next(at)
                if (
                    r.lexemes[at].has("quantity", "price", "par")
                    and (after is None or not r.lexemes[after].has("comparison"))
                    and (action.get("price") is not None or r.lexemes[at].has("quantity", "par"))
                ):
                    r.use(at)
        if kind == "buy":
            return self._bought(first, last, by, action)
        scope = Reader(r.lexemes[first:last], r.as_of, groups_are_sets=False)
        ranking = self._ranking_in(first, last)
        scope.read_conditions()
        placed = scope.joined()
        where = tuple(one.condition for one in placed)
        group = "loan"
        for at in range(first, last):
            one = r.lexemes[at]
            if one.has("group", "loan", "obligor", "industry") and not one.used:
                group = one.get("group")
                r.use(at)
            if one.has("whole") or one.has("per"):
                r.use(at)
        if ranking is not None:
            action.update(order=ranking.order, order_by=ranking.by or "par", limit=ranking.limit, place=ranking.place)
            action["group"] = group
        if not where and ranking is None and kind in ("default", "sell", "repay"):
            return Unread((lexeme.said,), "which loans are meant is not said")
        return Action(kind=kind, where=where, **action)  # type: ignore[arg-type]

    def _after_to(self, at: int) -> bool:
        before = self.r.lexemes[at - 1]
        verbs = (
            "to",
            "cut to",
            "fall to",
            "drop to",
            "downgraded to",
            "downgrade to",
            "move to",
            "moved to",
            "lowered to",
            "slip to",
            "migrate to",
            "goes to",
            "go to",
            "becomes",
            "become",
            "falls to",
            "drops to",
            "slips to",
            "upgraded to",
            "a",
            "an",
        )
        raw = before.said.lower()
        return before.text in verbs or raw in verbs or raw.endswith(" to") or raw.startswith("become")

    def _ranking_in(self, first: int, last: int) -> _Ranking | None:
        at = next(
            (
                one
                for one in range(first, last)
                if self.r.lexemes[one].has("superlative") and not self.r.lexemes[one].used
            ),
            None,
        )
        return None if at is None else self._take_ranking(at)

    def _bought(
        self, first: int, last: int, by: dict[str, tuple[int, Token]], action: dict[str, Any]
    ) -> Action | Unread:
        r = self.r
        if "par" not in action:
            return Unread((r.lexemes[first].said,), "how much is bought is not said")
        if "bps" in by:
            at, number = by["bps"]
            action["spread"] = number.value
            r.use(at)
            for place in range(first, last):
                if r.lexemes[place].has("quantity", "spread", "was"):
                    r.use(place)
        for place in range(first, last):  # a coupon of 8 %
            if r.lexemes[place].has("quantity", "coupon") and "percent" in by:
                action["coupon"] = by["percent"][1].value
                r.use(place, by["percent"][0])
        if "years" in by:
            return Unread((r.lexemes[by["years"][0]].said,), "a loan to buy has a maturity by its date")
        scope = Reader(r.lexemes[first:last], r.as_of, groups_are_sets=False)
        scope.read_conditions()
        for place in range(first, last):
            one = r.lexemes[place]
            if (
                one.has("group", "loan", "obligor", "industry")
                or one.has("move", "added")
                or one.has("quantity", "rating")
            ):
                r.use(place)
        return Action(kind="buy", where=tuple(one.condition for one in scope.joined()), **action)


def _clash(where: Sequence[Condition]) -> str:
    """The words of two conditions that no loan fulfils together."""
    seen: dict[tuple[str, str | None], Condition] = {}
    for one in where:
        if one.any_of or one.op not in ("between", "in") or one.field not in ("rating", "industry", "country"):
            continue
        other = seen.setdefault((one.field, one.agency), one)
        if other is not one and (
            one.field != "rating" or (one.low or 0) > (other.high or 0) or (other.low or 0) > (one.high or 0)
        ):
            return f"{other.said} and {one.said}"
    return ""


_VERBS: Final = frozenset(
    ("is", "are", "have", "has", "carry", "carries", "mature", "matures", "pay", "pays", "trade", "trades")
)


@dataclass(frozen=True, slots=True)
class _Ranking:
    order: Any
    by: str | None
    limit: int | None
    place: int | None
