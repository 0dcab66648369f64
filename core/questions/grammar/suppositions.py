"""Queries that suppose something.

What is done to which loans, and which tests are asked after it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from core.questions.grammar.chart import Cover, Edge
from core.questions.grammar.conditions import Days, later, matures
from core.questions.grammar.phrases import Ranking
from core.questions.grammar.question import Outcome, Question, Unread, settle_ranking, test_ids_of
from core.questions.query import Action, Condition, Query
from core.questions.tokens import Token, names

_HARD_IFS: Final = frozenset(
    (
        "if", "suppose", "supposing", "assume", "assuming", "what if", "what happens if", "what would happen if",
        "if we were to", "in case", "once", "say we", "if i", "assuming that", "suppose that", "what happens when",
    )
)  # fmt: skip
"""Words right behind which something is supposed."""
_ASKING: Final = frozenset(["what", "how", "which", "where", "would", "does"])
_DEALT: Final = frozenset(("sell", "buy"))
_OF_RATINGS: Final = frozenset(("downgrade", "upgrade"))
_SUPPOSED: Final = frozenset(
    names("where size at_price ranking to_rating action fraction group agency each pays pays_rate span")
)
"""Phrases of what is supposed, which stand nowhere else."""

_POOL_FIGURES: Final = frozenset(("average_rating_factor", "diversity_score", "was", "wal"))
"""Figures that no loan has, wherever they stand in a question."""

_RATES: Final = frozenset(("coupon", "spread", "was", "floor"))
"""Quantities that cannot be supposed."""


def build_trade(question: Question, cover: Cover) -> Outcome:
    """Build the query of whether something may be done."""
    is_room = question.lexemes[0].text == "room for"
    if not is_room and (question.tokens[0].text not in ("can", "could", "may", "is") or not question.is_yes_no):
        return None
    outcome = _suppose(question, cover, range(len(question.lexemes)), is_hard=True)
    if not isinstance(outcome, list):
        return outcome
    if any(action.kind not in ("buy", "sell") for action in outcome) or not outcome:
        return None
    if any(action.kind == "buy" and action.par is None for action in outcome):
        return None
    return Query(
        kind="what_if", actions=tuple(outcome), tests=test_ids_of(cover), status="pass", is_yes_no=True,
        category=cover.first("category"),
    )  # fmt: skip


def build_what_if(question: Question, cover: Cover) -> Outcome:
    """Build the query of tests after something that is supposed."""
    region, is_hard = _region(question, cover)
    if not region:
        return None
    outcome = _suppose(question, cover, region, is_hard=is_hard)
    if not isinstance(outcome, list):
        return outcome
    faces, states, fact = cover.values("face"), cover.values("state"), cover.first("fact")
    if fact not in (None, "principal_cash") or (len(states) > 1 and states != ["fail", "pass"]):
        return None
    is_first = cover.has("first")
    if is_first and [(action.kind, action.points) for action in outcome] != [("price", None)]:
        return None
    return Query(
        kind="what_if",
        actions=tuple(outcome),
        tests=test_ids_of(cover),
        category=cover.first("category"),
        aspect="first" if is_first else faces[-1] if faces else None,
        status=states[0] if states else None,
        fact=fact,
        is_yes_no=question.is_yes_no,
    )


def _region(question: Question, cover: Cover) -> tuple[range, bool]:
    """(the places at which something is supposed)."""
    ifs = [at for at, lexeme in enumerate(question.lexemes) if lexeme.get("if")]
    hard = [at for at in ifs if question.lexemes[at].text in _HARD_IFS]
    hard += [edge.start for edge in cover.all("after_word")]
    if question.lexemes[0].get("action") in ("sell", "buy") or question.lexemes[0].get("swap"):
        hard = [0]  # sell everything below 80: where is WAS then?
    colon = next((at for at in range(1, len(question.lexemes)) if _ends_a_clause(question, at)), 0)
    if not ifs and any(edge.start < colon for edge in cover.all("action")):
        hard = [0]  # Alpha defaults: what is the OC?
    if not (ifs or hard):
        return range(0), False
    start = hard[0] if hard else ifs[0]
    for at in range(start + 1, len(question.lexemes)):
        lexeme = question.lexemes[at]
        goes_on = any(meaning.kind in ("name", "letter", "number") for meaning in lexeme.meanings)
        goes_on |= lexeme.get("action") in _DEALT and question.lexemes[start].get("action") in _DEALT
        if ("," in lexeme.before and not goes_on) or ":" in lexeme.before or lexeme.tokens[0].text in _ASKING:
            return range(start, at), bool(hard)
    return range(start, len(question.lexemes)), bool(hard)


def _ends_a_clause(question: Question, at: int) -> bool:
    """Return whether a colon stands before a phrase, or a comma behind a verb: Alpha defaults, OC?"""
    mark, verb = question.lexemes[at].before, question.lexemes[at - 1]
    return ":" in mark or ("," in mark and verb.get("action") == "default" and verb.tokens[0].raw.endswith("s"))


def _suppose(question: Question, cover: Cover, region: range, *, is_hard: bool) -> list[Action] | Unread | None:
    rates = [edge for edge in cover.all("quantity") if edge.value in _RATES and edge.start in region]
    if rates:
        return Unread((question.words(rates[0]),), "trades, ratings, defaults and prices can be supposed")
    if any(not _stands_well(edge, cover, is_inside=edge.start in region, is_hard=is_hard) for edge in cover.edges):
        return None
    if question.is_at_par and 100.0 not in cover.values("at_price"):
        return None
    verbs = _verbs(cover)
    if cover.has("swap") and not cover.has("bought_for"):
        return None
    if not verbs:
        return Unread((), "it supposes nothing that can be worked out")
    ands = [edge.start for edge in cover.all("and")]
    bounds = [region.start]
    for verb, following in pairwise(verbs):  # sell A and B defaults: the last "and" parts them
        between = [at for at in ands if verb.start <= at < following.start]
        bounds.append(max(between, default=following.start))
    bounds.append(region.stop)
    actions: list[Action] = []
    for verb, (first, last) in zip(verbs, pairwise(bounds), strict=True):
        action = _Clause(question, cover, verb, first, last).action()
        if not isinstance(action, Action):
            return action
        actions.append(action)
    return actions


def _stands_well(edge: Edge, cover: Cover, *, is_inside: bool, is_hard: bool) -> bool:
    """Return whether a phrase stands where what it means here can stand."""
    if edge.kind in _SUPPOSED:
        return is_inside
    if edge.kind in ("bucket", "change"):
        return not is_inside
    if edge.kind == "figure":
        return not is_inside or edge.value in _POOL_FIGURES
    if edge.kind == "quantity":
        is_sum = edge.value in ("share", "par")
        return not (is_inside and is_hard and is_sum) and _goes_with(edge.value, cover)
    return True


def _goes_with(name: str, cover: Cover) -> bool:
    """Return whether a quantity that is named changes nothing of what is supposed."""
    kinds = {kind for edge in cover.edges if (kind := _kind_of(edge)) is not None}
    if name == "price":
        return any(kind.startswith("price") for kind in kinds)
    if name in ("rating", "moodys_rating"):
        return bool(kinds & _OF_RATINGS)
    return name in ("share", "par")


def _verbs(cover: Cover) -> list[Edge]:
    """The verbs of a question."""
    verbs: list[Edge] = []
    ands = [edge.start for edge in cover.all("and")]
    for edge in cover.edges:
        kind = _kind_of(edge)
        if kind is None:
            continue
        if edge.kind == "bought_for" and not (verbs and verbs[-1].kind == "swap"):
            is_alone = sum(_kind_of(verb) is not None for verb in cover.edges) == 1
            return [edge] if is_alone and cover.has("at_price") else []
        if verbs and not any(verbs[-1].start < at < edge.start for at in ands):
            last = _kind_of(verbs[-1])
            if last == kind or {kind, last} == {"price_to", "price_down"}:
                if edge.kind == "to_rating" and verbs[-1].kind == "to_rating":
                    return []
                continue
        verbs.append(edge)
    return verbs


def _kind_of(edge: Edge) -> str | None:
    if edge.kind == "action":
        return str(edge.value)
    if edge.kind == "to_rating":
        return edge.value[0] or None
    if edge.kind in ("swap", "bought_for"):
        return "sell" if edge.kind == "swap" else "buy"
    return None


class _Clause:
    """One verb of a supposition with the phrases about it."""

    def __init__(self, question: Question, cover: Cover, verb: Edge, first: int, last: int) -> None:
        self.question = question
        self.verb = verb
        self.kind = _kind_of(verb) or ""
        self.parts = Cover(tuple(edge for edge in cover.edges if first <= edge.start < last), ())
        self.sizes: dict[str, Token] = {size.unit: size for size in self.parts.values("size")}
        once = all(len(self.parts.all(kind)) <= 1 for kind in ("at_price", "pays", "pays_rate", "span", "agency"))
        self.is_clear = once and len(self.sizes) == len(self.parts.all("size"))
        self.lexemes = question.lexemes[first:last]
        self.lexeme = question.lexemes[verb.start]
        self.is_among_others = len(_verbs(cover)) > 1

    def action(self) -> Action | Unread | None:
        """Return what is done; None where the phrases do not go with the verb."""
        if not self.is_clear:
            return None
        for kinds, build in _CLAUSES:
            if self.kind in kinds:
                fields = build(self)
                break
        else:
            return None
        if not isinstance(fields, dict):
            return fields
        if self.sizes:
            return None
        if self.kind == "buy":
            return Action(kind="buy", **fields)
        return self._of_loans(fields)

    def _of_loans(self, fields: dict[str, Any]) -> Action | Unread | None:
        where = tuple(self._by_own_agency(condition) for condition in self.parts.values("where"))
        ranking = settle_ranking(self.question, self.parts, self.parts.first("ranking"))
        if not self._go_with_verb(where, ranking):
            return None
        if (fault := self._fault(where, ranking)) is not None:
            return fault
        if self.parts.has("fraction"):
            fields["part"] = 0.5
        if ranking is not None:
            groups = self.parts.values("group")
            fields |= {
                "order": ranking.order, "order_by": ranking.by or "par", "limit": ranking.limit,
                "place": ranking.place, "group": groups[-1] if groups else "loan",
            }  # fmt: skip
        kind: Any = "price" if self.kind.startswith("price") else self.kind
        return Action(kind=kind, where=where, **fields)

    def _go_with_verb(self, where: tuple[Condition, ...], ranking: Ranking | None) -> bool:
        """Return whether each of the phrases says something of what is done."""
        parts, is_rating = self.parts, self.kind in _OF_RATINGS
        return not (
            (is_rating and any(" to " in condition.words for condition in where))  # from B3 to Caa1 is no range
            or (is_rating and not where and ranking is None and self.is_among_others)  # default and are downgraded
            or (parts.has("at_price") and self.kind not in ("sell", "price_to"))
            or (parts.has("agency") and not is_rating)
            or parts.has("pays", "pays_rate", "span", "bought_for")
            or (parts.has("ranking") and ranking is None)
            or any(self.question.text(edge).startswith(("for", "of")) for edge in parts.all("each"))
            or (ranking is not None and set(parts.values("group")) - {"loan", "obligor", "industry"})
        )

    def _fault(self, where: tuple[Condition, ...], ranking: Ranking | None) -> Unread | None:
        """Return why it is not said which loans are meant, or how much of them."""
        if self.parts.has("fraction") and (self.kind != "sell" or not self._leads_to_loans()):
            words = tuple(self.question.words(edge) for edge in self.parts.all("fraction"))
            return Unread(words, "a part can be sold, and nothing else be done to it")
        if self._is_any_loan(where) and ranking is None:
            words = tuple(self.question.words(edge) for edge in self.parts.all("where", "group"))
            return Unread((f"a {' '.join(words)}",), "which loan is meant is not said")
        most = [edge for edge in self.parts.all("ranking") if self.question.text(edge) == "most"]
        if most:
            return Unread((self.question.words(most[0]),), "how many of them is not said")
        says_all = self.parts.has("each") or any(lexeme.text == "all" for lexeme in self.lexemes)
        if not where and ranking is None and self.kind in ("default", "sell", "repay") and not says_all:
            return Unread((self.lexeme.raw,), "which loans are meant is not said")
        return None

    def _by_own_agency(self, condition: Condition) -> Condition:
        """Return the ratings of Fitch where Fitch is who changes them."""
        is_fitch = self.kind in _OF_RATINGS and self.parts.first("agency") == "c"
        is_open = condition.field == "rating" and condition.agency == "b" and "s&p" not in condition.words.lower()
        return replace(condition, agency="c") if is_fitch and is_open else condition

    def _leads_to_loans(self) -> bool:
        """Return whether a fraction stands right before what it is of."""
        edges = self.parts.edges
        at = next(at for at, edge in enumerate(edges) if edge.kind == "fraction")
        return at + 1 < len(edges) and edges[at + 1].kind in ("where", "group", "ranking", "each")

    def _is_any_loan(self, where: tuple[Condition, ...]) -> bool:
        """Return whether a loan is meant that is not said: if a B3 loan defaults."""
        singular = [edge for edge in self.parts.all("group") if not self.question.lexemes[edge.start].is_plural]
        is_named = any(condition.field in ("obligor", "facility", "cusip", "loanx", "isin") for condition in where)
        return bool(singular) and not is_named and any(lexeme.text in ("a", "an") for lexeme in self.lexemes)

    def take(self, *units: str) -> float | None:
        """Take the number with one of some units."""
        for unit in units:
            if unit in self.sizes:
                return self.sizes.pop(unit).value
        return None


Fields = dict[str, Any] | Unread | None


def _rerated(clause: _Clause) -> Fields:
    agency = clause.parts.first("agency")
    fields: dict[str, Any] = {} if agency is None else {"agency": agency}
    targets = [rank for _, rank, _ in clause.parts.values("to_rating")]
    whose = [name for _, _, name in clause.parts.values("to_rating") if name]
    if whose and agency is None:
        fields["agency"] = whose[0]
    notches = clause.take("notches")
    if notches is not None:
        return None if targets else fields | {"notches": int(notches)}
    if targets:
        return fields | {"rank": targets[0]} if len(targets) == 1 else None
    if any(meaning.kind == "action" and str(meaning.value).startswith("price") for meaning in clause.lexeme.meanings):
        return Unread((clause.lexeme.raw,), "by how much is not said")
    return fields | {"notches": 1}


def _moved_by(clause: _Clause) -> Fields:
    sign = -1.0 if clause.kind == "price_down" else 1.0
    if clause.parts.has("to_rating"):
        return None
    points, percent = clause.take("points", ""), clause.take("percent")
    if clause.question.has_word("first") and points is percent is None:
        return {}
    if (points is None) == (percent is None):
        return Unread((clause.lexeme.raw,), "by how much is not said")
    return {"points": points * sign} if points is not None else {"percent": (percent or 0.0) * sign}


def _priced_at(clause: _Clause) -> Fields:
    price = clause.parts.first("at_price") or clause.take("", "points", "percent")
    return {"price": price} if price is not None else Unread((clause.lexeme.raw,), "at what price is not said")


def _traded(clause: _Clause) -> Fields:
    fields: dict[str, Any] = {}
    swapped = clause.parts.first("bought_for")
    if swapped is not None:
        fields["par"] = swapped.value
    elif (par := clause.take("amount")) is not None:
        fields["par"] = par
    elif clause.kind != "buy" and (percent := clause.take("percent")) is not None:
        fields["part"] = percent / 100
    if (price := clause.parts.first("at_price")) is not None:
        fields["price"] = price
    return fields


def _bought(clause: _Clause) -> Fields:
    fields = _traded(clause)
    assert isinstance(fields, dict)
    if "par" not in fields:
        return Unread((clause.lexeme.raw,), "how much is bought is not said")
    where = list(clause.parts.values("where"))
    spread = clause.parts.first("pays") or clause.take("bps")
    if spread is not None:
        fields["spread"] = spread
    if (coupon := clause.parts.first("pays_rate")) is not None:
        fields["coupon"] = coupon
    as_of = clause.question.context.as_of
    if "years" in clause.sizes and as_of is not None:
        size = clause.sizes.pop("years")
        day = later(as_of, size)
        where.append(matures(Days(day, day), f"{size.raw} loan"))
    where += [matures(days, clause.question.words(edge)) for edge in clause.parts.all("span") for days in [edge.value]]
    matured = [
        condition
        for condition in where
        if as_of and condition.field == "maturity" and (condition.high or as_of) < as_of
    ]
    if matured:
        return Unread((matured[0].words,), "a loan to buy matures later than that")
    if clause.parts.has("ranking", "fraction", "agency", "each"):
        return None
    return fields | {"where": tuple(where)}


def _nothing_more(clause: _Clause) -> Fields:
    return None if clause.parts.has("to_rating") else {}


_CLAUSES: Final[tuple[tuple[tuple[str, ...], Callable[[_Clause], Fields]], ...]] = (
    (("downgrade", "upgrade"), _rerated),
    (("price_down", "price_up"), _moved_by),
    (("price_to",), _priced_at),
    (("sell", "repay"), _traded),
    (("buy",), _bought),
    (("default",), _nothing_more),
)
"""Verbs, and what makes the fields of what they do."""
