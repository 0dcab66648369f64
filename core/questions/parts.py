"""What every reading of a question takes of its phrases: tests, rankings, directions, whether it asks for yes or no."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.insights.subject import Subject
from core.questions.named import Found
from core.questions.reading import Lexeme, Reader
from core.questions.tokens import Token
from core.questions.vocabulary import QUANTITIES

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

LIMIT_SHOWN: Final = 10
"""Of a ranking whose length the question leaves open."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A question that is not understood."""

    words: tuple[str, ...]
    """Those that have no part in a query; none where all have a meaning, and together none."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    order: Any
    by: str | None
    limit: int | None
    place: int | None


class Parts:
    """The phrases of a question, from which a query takes its parts."""

    def __init__(self, lexemes: list[Lexeme], as_of: float | None, subjects: Sequence[Subject]) -> None:
        entities = {one.get("group") for one in lexemes if one.has("group")}
        sets = bool(
            entities & {"obligor", "industry", "country", "rating", "lien", "rating_a", "rating_b", "currency", "year"}
        )
        self.r = Reader(lexemes, as_of, groups_are_sets=sets and "loan" not in entities)
        self.subjects = subjects

    def _name(self, at: int, field: str) -> Found | None:
        name: Found | None = self.r.lexemes[at].get("name")
        return name if name is not None and name.field == field else None

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

    def _take_ranking(self, at: int | None = None) -> Ranking | None:
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
        return Ranking(order, by_name, limit, place)

    @staticmethod
    def _count_of(lexeme: Lexeme) -> int | None:
        if lexeme.has("numeral"):
            return int(lexeme.get("numeral"))
        if lexeme.has("number"):
            number: Token = lexeme.get("number")
            if not number.unit and number.value.is_integer() and 1 <= number.value <= 500:
                return int(number.value)
        return None
