"""The phrases of a question to its query; or the words that have no part in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Any, Final, Literal

from msgspec.structs import replace

from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.questions.answer import QUESTION_LENGTH_MAX, QuestionError
from core.questions.named import Named
from core.questions.parts import FLAG_TESTS, GROUP_TESTS, LIMIT_SHOWN, Ranking, Unread
from core.questions.query import Condition, Period, Query
from core.questions.reading import Lexeme, segment
from core.questions.tokens import TOKENS_MAX, tokens_of
from core.questions.vocabulary import QUANTITIES
from core.questions.what_if import Suppositions
from core.questions.wording import FIELD_WORDS

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


class _Interpreter(Suppositions):
    """A question's query, by what its phrases are about."""

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
        ranking: Ranking | None,
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
