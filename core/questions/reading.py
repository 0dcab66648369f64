"""The words of a question put together: which belong to a phrase, and which phrases make conditions and comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.portfolio.model.ratings import CCC, SCALE_A, SCALE_B
from core.questions.named import Found, Named
from core.questions.query import Condition, Having, Operator
from core.questions.tokens import Token
from core.questions.vocabulary import QUANTITIES, Meaning, longest_phrase, phrases

DAYS_A_YEAR: Final = 365.25
AMOUNTS: Final = frozenset(("par", "facility_size", "unfunded", "market_value"))
AMOUNT_LEAST: Final = 1_000.0
"""An amount of a loan below it is written in thousands or millions, and does not say so."""

PRICE_LIKE_MAX: Final = 200.0
"""A market value up to here, without a unit, is a price."""
MONTH_NAMES: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]

_LETTER: Final = re.compile(
    r"(aaa|aa[123]|a[123]|baa[123]|ba[123]|b[123]|caa[123]|bbb|bb|cc|ca|[abcd]|(?:aa|a|bbb|bb|b|ccc)[+-])s?"
)
_CLASS: Final = re.compile(r"[a-fx](?:\d[a-z]?)?")
_RANKS_A: Final = {symbol.lower(): rank for rank, symbol in enumerate(SCALE_A, 1)}
_RANKS_B: Final = {symbol.lower(): rank for rank, symbol in enumerate(SCALE_B, 1)}
_FAMILIES: Final = {
    "aa": (2, 4),
    "a": (5, 7),
    "bbb": (8, 10),
    "bb": (11, 13),
    "b": (14, 16),
    "ccc": (CCC, 21),
    "cc": (20, 20),
}
"""Letters without a sign stand for all of their signs."""


@dataclass(slots=True)
class Lexeme:
    """A phrase of the question."""

    tokens: tuple[Token, ...]
    meanings: tuple[Meaning, ...] = ()
    used: bool = False
    parts: list[Any] = field(default_factory=list)

    def has(self, kind: str, *values: object) -> bool:
        """Whether it can mean this."""
        return any(one.kind == kind and (not values or one.value in values) for one in self.meanings)

    def get(self, kind: str) -> Any:
        """What it means as this kind."""
        return next((one.value for one in self.meanings if one.kind == kind), None)

    @property
    def said(self) -> str:
        return " ".join(token.raw for token in self.tokens)

    @property
    def text(self) -> str:
        return " ".join(token.text for token in self.tokens)

    @property
    def is_plural(self) -> bool:
        last = self.tokens[-1]
        return last.raw.lower().endswith("s") and last.text != last.raw.lower()

    @property
    def is_filler(self) -> bool:
        return self.has("filler")


def segment(tokens: Sequence[Token], named: Named) -> list[Lexeme]:
    """The question in its longest phrases; words that are in none are phrases of no meaning."""
    found: list[Lexeme] = []
    at = 0
    while at < len(tokens):
        length, meanings = _meant(tokens, at, named)
        found.append(Lexeme(tuple(tokens[at : at + length]), meanings))
        at += length
    return found


def _meant(tokens: Sequence[Token], at: int, named: Named) -> tuple[int, tuple[Meaning, ...]]:
    if classes := _classes(tokens, at):
        return classes
    token = tokens[at]
    known, meanings = _phrase(tokens, at)
    name = named.at(tokens, at)
    if name is not None and (name.length > known or (name.length == known and _yields(meanings, name))):
        return name.length, (Meaning("name", name),)
    if known <= 1 and (letter := _letter(tokens, at)) is not None:
        return 1, (Meaning("letter", letter),)
    if known:
        if token.kind == "number" and known == 1:
            meanings = (Meaning("number", token), *meanings)
        return known, meanings
    if token.kind == "number":
        return 1, (Meaning("number", token),)
    if token.kind == "period":
        return 1, (Meaning("days", token.days),)
    if re.fullmatch(r"\d+th", token.text):
        return 1, (Meaning("ordinal", int(token.value)),)
    if token.text in MONTH_NAMES and token.raw[:1].isupper():
        return 1, (Meaning("month", MONTH_NAMES.index(token.text) + 1),)
    return 1, ()


def _yields(meanings: tuple[Meaning, ...], name: Found) -> bool:
    """Whether a name goes before a phrase of as many words."""
    if any(one.kind == "group" for one in meanings):
        return False
    return name.field in ("industry", "country", "currency", "cusip", "loanx", "isin") or (
        name.is_whole and all(one.kind in ("filler", "ask") for one in meanings)
    )


def _phrase(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Meaning, ...]]:
    for length in range(min(longest_phrase(), len(tokens) - at), 0, -1):
        window = tokens[at : at + length]
        words = tuple(word for token in window for word in token.text.split())
        if any(mark in token.before for token in window[1:] for mark in ",;:?()"):
            continue
        if window[-1].kind in ("period", "quoted"):
            continue
        following = tokens[at + length].text if at + length < len(tokens) else ""
        if words == ("not", "rated") and (
            _LETTER.fullmatch(following) or following in ("ccc", "caa", "below", "above")
        ):
            continue  # not rated B3
        if words[-1] == "at" and following in ("least", "most"):
            continue  # priced at least
        if words[-1] == "next" and length > 1 and following in ("year", "month", "quarter"):
            continue
        meanings = phrases().get(words)
        if meanings is not None:
            if words == ("was",) and not _is_the_spread(tokens, at):
                meanings = tuple(one for one in meanings if one.kind != "quantity")
            return length, meanings
    return 0, ()


def _is_the_spread(tokens: Sequence[Token], at: int) -> bool:
    """Whether "was" is the weighted average spread and no verb."""
    before = tokens[at - 1].text if at else ""
    after = tokens[at + 1].text if at + 1 < len(tokens) else ""
    return tokens[at].raw == "WAS" or (
        before in ("the", "our", "current") and after in ("", "test", "level", "covenant", "limit", "cushion")
    )


def _classes(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Meaning, ...]] | None:
    """Classes of notes: class B, classes A and B, class A/B, the D notes."""
    texts = [token.text for token in tokens[at : at + 8]]
    raws = [token.raw for token in tokens[at : at + 8]]
    if texts[0] in ("class", "tranche"):
        place, names = 1, []
        while place < len(texts) and _CLASS.fullmatch(texts[place]):
            names.append(raws[place].upper())
            place += 1
            if place < len(texts) and tokens[at + place].before == "-" and texts[place].isdigit():
                names[-1] += f"-{texts[place]}"
                place += 1
            if place + 1 < len(texts) and texts[place] in ("and", "or") and _CLASS.fullmatch(texts[place + 1]):
                place += 1
            elif not (place < len(texts) and tokens[at + place].before == "/"):
                break
        if names:
            while place < len(texts) and texts[place] in ("note", "debt", "tranche"):
                place += 1
            return place, (Meaning("class", tuple(names)),)
    elif len(texts) > 1 and re.fullmatch(r"[A-F]", raws[0]) and texts[1] in ("note", "tranche", "oc", "ic", "class"):
        return (1 if texts[1] in ("oc", "ic") else 2), (Meaning("class", (raws[0],)),)
    elif (
        len(texts) > 2
        and re.fullmatch(r"[A-F]", raws[0])
        and re.fullmatch(r"[A-F]", raws[1])
        and tokens[at + 1].before == "/"
    ):
        return 2, (Meaning("class", (raws[0], raws[1])),)
    elif texts[:2] in (["subordinated", "note"], ["sub", "note"], ["income", "note"]) or texts[0] == "equity":
        return (1 if texts[0] == "equity" else 2), (Meaning("class", ("SUB",)),)
    return None


@dataclass(frozen=True, slots=True)
class Letter:
    """A rating as it is written: the best and the worst rank that it may be, and on whose scale."""

    best: int
    worst: int
    agency: str | None


def _letter(tokens: Sequence[Token], at: int) -> Letter | None:
    token = tokens[at]
    if token.kind not in ("word", "rating") or not (found := _LETTER.fullmatch(token.text)):
        return None
    text = found[1]
    if text in ("a", "c", "d", "ca", "cc", "b", "bb", "aa") and not token.raw[:1].isupper():
        return None
    around = {one.text for one in (*tokens[max(0, at - 3) : at], *tokens[at + 1 : at + 2])}
    if text in ("a", "c", "d", "ca") and not around & {"rated", "rating", "to", "moodys", "sp", "fitch"}:
        return None
    if text in _FAMILIES:
        return Letter(*_FAMILIES[text], "b" if text in _RANKS_B else None)
    if any(one.isdigit() for one in text) or text in ("aaa", "ca"):
        return Letter(_RANKS_A[text], _RANKS_A[text], "a" if token.raw != "AAA" else "b")
    return Letter(_RANKS_B[text], _RANKS_B[text], "b")


# ---- conditions ----


FLAG_FAMILIES: Final = (
    frozenset(("first_lien", "second_lien", "unsecured", "bond", "not_senior")),
    frozenset(("fixed", "floating")),
    frozenset(("performing", "defaulted")),
)
"""Flags of which a loan has one: and between two of them means or."""

COMPARED: Final = {
    "par": "par",
    "price": "price",
    "purchase_price": "purchase_price",
    "spread": "spread",
    "was": "spread",
    "coupon": "coupon",
    "floor": "floor",
    "recovery": "recovery",
    "facility_size": "facility_size",
    "days_past_due": "days_past_due",
    "quote_depth": "quote_depth",
    "unfunded": "unfunded",
    "maturity": "maturity",
    "wal": "years",
    "rating": "rating",
    "moodys_rating": "rating",
    "sp_rating": "rating",
    "fitch_rating": "rating",
    "market_value": "market_value",
}
"""Quantities whose name may stand before a comparison of loans -> the field."""

OF_AGENCY: Final = {"moodys_rating": "a", "sp_rating": "b", "fitch_rating": "c"}

BLANKS: Final = {
    "price": "price",
    "spread": "spread",
    "coupon": "coupon",
    "maturity": "maturity",
    "recovery": "recovery",
    "rating": "rating",
    "moodys_rating": "rating",
    "sp_rating": "rating",
    "fitch_rating": "rating",
    "floor": "floor",
    "cusip": "cusip",
    "loanx": "loanx",
    "isin": "isin",
    "industry": "industry",
    "country": "country",
    "purchase_price": "purchase_price",
    "facility_size": "facility_size",
    "quote_depth": "quote_depth",
    "par": "par",
    "lien": "lien",
    "index": "index",
    "days_past_due": "days_past_due",
    "currency": "currency",
}
"""Quantities that may be blank -> the field."""


@dataclass
class Placed:
    """A condition with its place in the question."""

    at: int
    end: int
    condition: Condition


class Reader:
    """The phrases of one question, used up as conditions and parts of the query are made of them."""

    def __init__(self, lexemes: list[Lexeme], as_of: float | None, *, groups_are_sets: bool) -> None:
        self.lexemes = lexemes
        self.as_of = as_of
        self.groups_are_sets = groups_are_sets
        """Whether a share that is compared is a group's."""
        self.conditions: list[Placed] = []
        self.having: list[Having] = []
        self.change_by: list[Having] = []

    # Places

    def next(self, at: int) -> int | None:
        """The next phrase that is more than filler."""
        return next((one for one in range(at + 1, len(self.lexemes)) if not self._is_idle(one)), None)

    def previous(self, at: int) -> int | None:
        return next((one for one in range(at - 1, -1, -1) if not self._is_idle(one)), None)

    def _is_idle(self, at: int) -> bool:
        lexeme = self.lexemes[at]
        return bool(lexeme.meanings) and all(one.kind in ("filler", "ask") for one in lexeme.meanings)

    def unused(self, kind: str, *values: object) -> Iterator[int]:
        for at, lexeme in enumerate(self.lexemes):
            if not lexeme.used and lexeme.has(kind, *values):
                yield at

    def first(self, kind: str, *values: object) -> int | None:
        return next(self.unused(kind, *values), None)

    def use(self, *places: int | None) -> None:
        for at in places:
            if at is not None:
                self.lexemes[at].used = True

    def any(self, kind: str, *values: object) -> bool:
        return any(one.has(kind, *values) for one in self.lexemes)

    def has_word(self, *words: str) -> bool:
        return any(token.text in words or token.raw.lower() in words for one in self.lexemes for token in one.tokens)

    # Conditions

    def read_conditions(self) -> None:
        """Make conditions of comparisons, ratings, flags and names."""
        for at, lexeme in enumerate(self.lexemes):
            if not lexeme.used and lexeme.has("comparison"):
                self._compare(at)
        for at, lexeme in enumerate(self.lexemes):
            after = self.next(at) if lexeme.has("number") and not lexeme.used else None
            if after is not None and self.lexemes[after].has("or_so", ">=", "<=") and not self.lexemes[after].used:
                self._number_or_so(at, after)
        for at in range(len(self.lexemes)):
            lexeme = self.lexemes[at]
            if lexeme.used:
                continue
            if lexeme.has("without"):
                self._without(at)
            value = self.next(at) if lexeme.has("per") and lexeme.text == "by" else None
            if value is not None and not self.lexemes[value].used and (by := self._days(self.lexemes[value])):
                self._dated(at, value, "by", by)
            if lexeme.has("quantity", *OF_AGENCY) and lexeme.said.lower().startswith(
                ("rated by", "rating from", "rated from")
            ):
                agency = OF_AGENCY[lexeme.get("quantity")]
                before = self.previous(at)
                if not self.conditions or self.conditions[-1].end != before:
                    self._place(at, at, Condition(field="rating", op="known", agency=agency, said=lexeme.said))
            if lexeme.used:
                continue
            if lexeme.has("letter"):
                self._rated(at)
            elif lexeme.has("name"):
                name: Found = lexeme.get("name")
                if name.field not in ("test", "subject"):
                    self._place(
                        at, at, Condition(field=name.field, op="in", values=name.values, also=name.also, said=name.said)
                    )
            elif lexeme.has("flag"):
                self._flag(at)
            elif lexeme.has("calendar"):
                self._calendar(at)
            elif (days := self._days(lexeme)) is not None and self.any("quantity", "maturity"):
                self._dated(at, at, "in", days)

    def _place(self, at: int, end: int, condition: Condition) -> None:
        for place in range(at, end + 1):
            if not self._is_idle(place):
                self.lexemes[place].used = True
        before = self.previous(at)
        if before is not None and self.lexemes[before].has("not") and not self.lexemes[before].used:
            self.lexemes[before].used = True
            at = before
            condition = negated(condition)
        self.conditions.append(Placed(at, end, condition))

    def _flag(self, at: int) -> None:
        lexeme = self.lexemes[at]
        flag: str = lexeme.get("flag")
        after = self.next(at)
        agency = None
        if flag in ("unrated", "ccc") and after is not None and self.lexemes[after].has("agency"):
            agency = self.lexemes[after].get("agency")
            self.use(after)
        before = self.previous(at)
        is_free = before is not None and not self.lexemes[before].used
        if agency is None and flag == "ccc" and before is not None and is_free and self.lexemes[before].has("agency"):
            agency = self.lexemes[before].get("agency")
            self.use(before)
        if (
            flag in ("unrated", "ccc", "investment_grade")
            and before is not None
            and self.lexemes[before].has("quantity", "rating", *OF_AGENCY)
        ) and not self.lexemes[before].used:
            agency = OF_AGENCY.get(self.lexemes[before].get("quantity"), agency)
            self.use(before)
        self._place(at, at, Condition(field="flag", values=(flag,), agency=agency, said=lexeme.said))

    def _calendar(self, at: int) -> None:
        if self.as_of is None or not self.any("quantity", "maturity"):
            return
        import datetime

        year = datetime.date.fromordinal(719163 + int(self.as_of)).year + (
            self.lexemes[at].get("calendar") == "next_year"
        )
        first, last = (float(datetime.date(year, *day).toordinal() - 719163) for day in ((1, 1), (12, 31)))
        if self.lexemes[at].get("calendar") == "this_year":
            first = self.as_of
        self.use(self.first("quantity", "maturity"))
        self._place(at, at, Condition(field="maturity", op="between", low=first, high=last, said=self.lexemes[at].said))

    def _without(self, at: int) -> None:
        """No price, without a rating by Fitch, missing maturity."""
        after = self.next(at)
        if after is None or self.lexemes[after].used:
            return
        lexeme = self.lexemes[after]
        end, agency = after, None
        if (following := self.next(after)) is not None and self.lexemes[following].has("agency"):
            agency, end = self.lexemes[following].get("agency"), following
        if lexeme.has("agency") and following is not None and self.lexemes[following].has("quantity", "rating"):
            agency, end = lexeme.get("agency"), following
            lexeme = self.lexemes[following]
        name = lexeme.get("quantity")
        if name is None and lexeme.has("group", "industry", "country", "lien", "currency"):
            name = lexeme.get("group")
        if name in BLANKS:
            agency = OF_AGENCY.get(name, agency)
            said = " ".join(one.said for one in self.lexemes[at : end + 1])
            self._place(at, end, Condition(field=BLANKS[name], op="blank", agency=agency, said=said))
        elif lexeme.has("name") and lexeme.get("name").field not in ("test", "subject"):
            self.lexemes[at].used = True
            name_found: Found = lexeme.get("name")
            condition = Condition(field=name_found.field, op="not in", values=name_found.values, said=name_found.said)
            self._place(after, after, condition)
        elif lexeme.has("flag") and (self.lexemes[at].has("not") or self.lexemes[at].text == "without"):
            self.lexemes[at].used = True
            self._flag(after)
            last = self.conditions.pop()
            self.conditions.append(Placed(at, last.end, negated(last.condition)))

    def _rated(self, at: int) -> None:
        """A rating, perhaps "or lower", with who gives it and the word rated."""
        lexeme = self.lexemes[at]
        letter: Letter = lexeme.get("letter")
        low, high = float(letter.best), float(letter.worst)
        end = at
        after = self.next(at)
        before = self.previous(at)
        sides = [self.lexemes[one] for one in (before, after) if one is not None]
        is_precise = any(one.has("or_so") or one.has("agency") or one.has("quantity", *OF_AGENCY) for one in sides)
        if is_precise and letter.best != letter.worst and lexeme.text.upper() in SCALE_B:
            low = high = float(SCALE_B.index(lexeme.text.upper()) + 1)  # BB by S&P, or better: the symbol itself
        if after is not None and not self.lexemes[after].used:
            following = self.lexemes[after]
            if following.has("or_so", "worse", "<="):
                high, end = 22.0, after
            elif following.has("or_so", "better", ">="):
                low, end = 1.0, after
        self._end_of_rating(at, end, low, high, letter.agency)

    def _end_of_rating(self, start: int, end: int, low: float, high: float, agency: str | None) -> None:
        after = self.next(end)
        if after is not None and self.lexemes[after].has("agency") and not self.lexemes[after].used:
            agency, end = self.lexemes[after].get("agency"), after
            after = self.next(end)
        elif (
            after is not None
            and self.lexemes[after].has("quantity", "rating", *OF_AGENCY)
            and self.lexemes[after].said.lower().startswith(("rated", "rating"))
        ):
            name = self.lexemes[after].get("quantity")
            agency, end = OF_AGENCY.get(name, agency), after
        before = self.previous(start)
        if (
            before is not None
            and self.lexemes[before].has("quantity", "rating", *OF_AGENCY)
            and not self.lexemes[before].used
        ):
            agency = OF_AGENCY.get(self.lexemes[before].get("quantity"), agency)
            start = before
        before = self.previous(start)
        if before is not None and self.lexemes[before].has("agency") and not self.lexemes[before].used:
            agency, start = self.lexemes[before].get("agency"), before
        said = " ".join(one.said for one in self.lexemes[start : end + 1])
        self._place(start, end, Condition(field="rating", op="between", low=low, high=high, agency=agency, said=said))

    # Comparisons

    def _compare(self, at: int) -> None:
        op: str = self.lexemes[at].get("comparison")
        after = self.next(at)
        if after is None or self.lexemes[after].used:
            return
        value = self.lexemes[after]
        if op == "between":
            self._between(at, after)
        elif value.has("letter") and op in (">", ">=", "<", "<=", "after", "before"):
            letter: Letter = value.get("letter")
            bounds = {
                ">": (1.0, letter.best - 1.0),
                ">=": (1.0, float(letter.worst)),
                "<": (letter.worst + 1.0, 22.0),
                "<=": (float(letter.best), 22.0),
            }.get(op)
            if bounds is not None:
                self.lexemes[at].used = True
                self._end_of_rating(at, after, *bounds, letter.agency)
        elif value.has("flag", "ccc") and op in ("<", "<="):
            bound = CCC if op == "<=" else 20  # below the CCC ratings
            self.lexemes[at].used = True
            self._end_of_rating(at, after, float(bound), 22.0, None)
        elif (days := self._days(value)) is not None and op in (
            "before",
            "after",
            "by",
            "from",
            "in",
            ">",
            "<",
            ">=",
            "<=",
            "within",
        ):
            self._dated(at, after, op, days)
        elif value.has("number"):
            number: Token = value.get("number")
            if op == "within" and number.unit in ("years", "months", "days"):
                self._within(at, after, number)
            elif op in (">", ">=", "<", "<=", "="):
                self._number(at, after, op, number)  # type: ignore[arg-type]
            elif (op == "after" and number.unit == "days") or (op == "after" and self.lexemes[at].text == "past"):
                self._number(at, after, ">", number)
        elif value.has("numeral") and op in (">", ">=", "<", "<=", "="):
            self._number(at, after, op, Token("number", value.text, value.said, float(value.get("numeral"))))  # type: ignore[arg-type]
        elif value.has("fact", "stated_maturity") and op in ("after", ">"):
            self.use(self.first("quantity", "maturity"))
            self._place(at, after, Condition(field="flag", values=("long_dated",), said=value.said))

    @staticmethod
    def _days(lexeme: Lexeme) -> tuple[float, float] | None:
        if lexeme.has("days"):
            days: tuple[float, float] = lexeme.get("days")
            return days
        if lexeme.has("number"):
            number: Token = lexeme.get("number")
            return number.days
        return None

    def _maturity_word(self, at: int) -> int | None:
        """The word for maturity that a period is about: right before it, else any."""
        before = self.previous(at)
        if before is not None and self.lexemes[before].has("quantity", "maturity"):
            return before
        return self.first("quantity", "maturity")

    def _dated(self, at: int, value: int, op: str, days: tuple[float, float]) -> None:
        word = self._maturity_word(at)
        if word is None and not self.any("quantity", "maturity", "wal"):
            return
        is_end = days[0] == days[1] and "end" in self.lexemes[value].text.split()
        low, high = {
            "before": (None, days[0] - (not is_end)),
            "<": (None, days[0] - 1),
            "after": (days[1] + 1, None),
            ">": (days[1] + 1, None),
            "by": (None, days[1]),
            "<=": (None, days[1]),
            "from": (days[0], None),
            ">=": (days[0], None),
            "in": days,
            "within": days,
        }[op]
        self.use(word)
        said = " ".join(one.said for one in self.lexemes[at : value + 1])
        self._place(at, value, Condition(field="maturity", op="between", low=low, high=high, said=said))

    def _within(self, at: int, value: int, number: Token) -> None:
        word = self._maturity_word(at)
        if self.as_of is None or (word is None and not self.any("quantity", "maturity")):
            return
        end = later(self.as_of, number)
        self.use(word)
        said = " ".join(one.said for one in self.lexemes[at : value + 1])
        self._place(at, value, Condition(field="maturity", op="between", low=self.as_of, high=end, said=said))

    def _between(self, at: int, first: int) -> None:
        middle = self.next(first)
        if middle is None or not self.lexemes[middle].has("and"):
            return
        second = self.next(middle)
        if second is None:
            return
        one, other = self.lexemes[first], self.lexemes[second]
        if (low := self._days(one)) is not None and (high := self._days(other)) is not None:
            word = self._maturity_word(at)
            if word is not None or self.any("quantity", "maturity"):
                self.use(word)
                said = " ".join(part.said for part in self.lexemes[at : second + 1])
                self._place(at, second, Condition(field="maturity", op="between", low=low[0], high=high[1], said=said))
                return
        if one.has("letter") and other.has("letter"):
            ends = (one.get("letter"), other.get("letter"))
            self.lexemes[at].used = True
            self._end_of_rating(at, second, min(e.best for e in ends), max(e.worst for e in ends), ends[0].agency)
        elif one.has("number") and other.has("number"):
            low_number, high_number = one.get("number"), other.get("number")
            unit = high_number.unit or low_number.unit
            scale = 1.0
            if high_number.unit == "amount" and not low_number.unit:
                scale = high_number.value and next((s for s in (1e9, 1e6, 1e3) if high_number.value >= s), 1.0)
            field_name, start, end = self._field(at, second, unit)
            if field_name is None:
                return
            low_value, high_value = low_number.value * scale, high_number.value
            if isinstance(field_name, Having):
                self.having.append(
                    Having(quantity=field_name.quantity, op="between", value=low_value, high=high_value, unit=unit)
                )
                self.use(at, first, middle, second, start, end)
                return
            low_value, high_value = (convert(field_name, one_value, unit) for one_value in (low_value, high_value))
            said = " ".join(part.said for part in self.lexemes[min(start, at) : max(end, second) + 1])
            self._place(
                min(start, at),
                max(end, second),
                Condition(field=field_name, op="between", low=low_value, high=high_value, said=said),
            )

    def _number_or_so(self, at: int, after: int) -> None:
        number: Token = self.lexemes[at].get("number")
        op: Operator = self.lexemes[after].get("or_so")
        if number.days is not None and self.any("quantity", "maturity"):
            self._dated(at, after, ">=" if op == ">=" else "<=", number.days)
        else:
            self._number(at, at, op, number, end=after)

    def _number(self, at: int, value: int, op: Operator, number: Token, end: int | None = None) -> None:
        end = value if end is None else end
        before = self.previous(at)
        changed = before is not None and self.lexemes[before].has("change", "up", "down", "change")
        if number.unit == "points" or (changed and number.unit != "amount" and self.any("period", "change")):
            self.change_by.append(Having(quantity="change", op=op, value=number.value, unit=number.unit))
            self.use(at, value, end)
            return
        name, start, last = self._field(at, end, number.unit)
        if "+" in number.raw:  # S+450 is a spread, whatever is paid
            name = "spread"
        if name is None:
            return
        if isinstance(name, Having):
            self.having.append(Having(quantity=name.quantity, op=op, value=number.value, unit=number.unit))
            for place in range(min(start, at), max(last, end) + 1):
                if not self._is_idle(place) and (place >= at or place == start):
                    self.lexemes[place].used = True
            return
        if name == "rating":
            return
        if name in AMOUNTS and not number.unit and number.value < AMOUNT_LEAST:
            return
        said = " ".join(one.said for one in self.lexemes[min(start, at) : max(last, end) + 1])
        self.use(at, value, end)
        if name == "market_value" and not number.unit and number.value <= PRICE_LIKE_MAX:
            name = "price"  # a market value below 80 is percent of par
        amount = convert(name, number.value, number.unit)
        self._place(min(start, at), max(last, end), Condition(field=name, op=op, low=amount, said=said))

    def _asks_of_a_test(self, at: int) -> bool:
        """Whether a yes or no is asked of a test's figure: is WARF above 2,700."""
        lexeme = self.lexemes[at]
        first = self.lexemes[0].tokens[0].text
        if first not in ("is", "are", "was") or any(
            one.has("group") or one.has("name") or one.has("flag") for one in self.lexemes
        ):
            return False
        name = lexeme.get("quantity")
        if name == "price":
            return any(one.has("aggregate", "average") for one in self.lexemes)
        return lexeme.has("test") or (name is not None and QUANTITIES[name].test_id is not None)

    def _field(self, at: int, end: int, unit: str) -> tuple[str | Having | None, int, int]:
        """(the field that a comparison is of, or what of a group; where the words of it begin and end)."""
        before, after = self.previous(at), self.next(end)
        left = self.lexemes[before] if before is not None else None
        if left is not None and not left.used and self._asks_of_a_test(before or 0):
            return Having(quantity="test", op="<", value=0.0), at, end
        right = self.lexemes[after] if after is not None else None
        if (
            right is not None
            and after is not None
            and not right.used
            and not unit
            and right.has("quantity", "quote_depth", "days_past_due")
        ):
            return right.get("quantity"), at, after
        if left is not None and before is not None and not left.used:
            if left.has("aspect", "cushion") and not left.has("flag"):
                return Having(quantity="cushion", op="<", value=0.0), before, end
            name = left.get("quantity")
            if name is not None and name in COMPARED and not (name == "par" and unit == "percent"):
                further = self.previous(before)
                if (
                    self.groups_are_sets
                    and further is not None
                    and self.lexemes[further].has("aggregate")
                    and name != "par"
                ):
                    self.lexemes[further].used = True
                    return Having(quantity=name, op="<", value=0.0), before, end
                if self.groups_are_sets and name == "par":
                    return Having(quantity="par", op="<", value=0.0), before, end
                return COMPARED[name], before, end
            if name in ("share", "count") or (name == "par" and unit == "percent"):
                return Having(quantity="share" if name != "count" else "count", op="<", value=0.0), before, end
            if name is not None and QUANTITIES[name].test_id is not None and self.groups_are_sets:
                return Having(quantity=name, op="<", value=0.0), before, end
        if right is not None and after is not None and not right.used:
            name = right.get("quantity")
            if name == "share" and self.groups_are_sets and unit in ("percent", ""):
                return Having(quantity="share", op="<", value=0.0), at, after
            if (
                name is not None
                and name in COMPARED
                and name not in ("maturity", "rating", "market_value")
                and not (name == "par" and self.groups_are_sets)
            ):
                return COMPARED[name], at, after
            if name == "par" and self.groups_are_sets:
                return Having(quantity="par" if unit == "amount" else "share", op="<", value=0.0), at, after
            if right.has("flag", "past_due") or right.has("flag", "late"):
                return "days_past_due", at, after
            if right.has("group", "loan") and not unit:
                return Having(quantity="count", op="<", value=0.0), at, after
        if unit == "amount":
            if left is not None and left.has("group", "loan") and left.tokens[-1].text == "facility":
                return "facility_size", at, end
            return (Having(quantity="par", op="<", value=0.0) if self.groups_are_sets else "par"), at, end
        if unit == "bps":
            return "spread", at, end
        if unit == "percent":
            return Having(quantity="share", op="<", value=0.0), at, end
        if unit == "days":
            return "days_past_due", at, end
        if unit in ("years", "months"):
            if right is not None and after is not None and right.has("quantity", "maturity") and not right.used:
                return "years", at, after
            return "years", at, end
        if not unit:
            for name in ("price", "spread", "coupon", "floor"):
                if any(one.has("quantity", name) for one in self.lexemes):
                    return name, at, end
        return None, at, end

    # Together

    def joined(self) -> list[Placed]:
        """The conditions, with those that stand for alternatives made one."""
        ordered = sorted(self.conditions, key=lambda one: one.at)
        found: list[Placed] = []
        for one in ordered:
            if found and (way := self._between_words(found[-1].end, one.at)) is not None:
                merged = merged_of(found[-1].condition, one.condition, way)
                if merged is not None:
                    found[-1] = Placed(found[-1].at, one.end, merged)
                    continue
            found.append(one)
        return found

    def _between_words(self, end: int, at: int) -> str | None:
        """What stands between two conditions, where that is and, or, a comma or a stroke alone."""
        apart = self.lexemes[end + 1 : at]
        if [one.text for one in apart] == ["to"] and not self.has_word("ratio"):
            return "to"
        between = [one for one in apart if not (one.is_filler and not one.has("and"))]
        nouns = [one for one in between if not one.has("group", "loan") and not one.has("whole")]
        words = {"or" if one.has("or") else "and" if one.has("and") else "" for one in nouns}
        if words <= {"and"} and "/" in self.lexemes[at].tokens[0].before:
            return "or"
        if not nouns:
            return "and" if "," in self.lexemes[at].tokens[0].before else None
        if "" in words:
            return None
        for one in nouns:
            one.used = True
        return "or" if "or" in words else "and"


def merged_of(one: Condition, other: Condition, way: str) -> Condition | None:
    """Two conditions as alternatives, or as the ends of a range; None where both must hold."""
    if way == "to":
        ends = (one, other)
        if any(end.field != "rating" or end.op != "between" or end.any_of for end in ends):
            return None
        low, high = (min(end.low or 0.0 for end in ends), max(end.high or 0.0 for end in ends))
        said = f"{one.said} to {other.said}"
        return Condition(field="rating", op="between", low=low, high=high, agency=one.agency, said=said)
    parts = [*(one.any_of or (one,)), *(other.any_of or (other,))]
    if any(part.op == "not in" for part in parts):
        same = (
            all(part.op == "not in" or part is parts[-1] for part in parts) and len({part.field for part in parts}) == 1
        )
        if same:  # not in A or B
            return Condition(
                field=one.field,
                op="not in",
                values=tuple(value for part in parts for value in part.values),
                said=f"{one.said} {way} {other.said}",
            )
        return None
    fields = {part.field for part in parts}
    alike = len(fields) == 1 and fields <= {
        "rating",
        "obligor",
        "industry",
        "country",
        "facility",
        "currency",
        "cusip",
        "loanx",
        "isin",
    }
    if fields == {"flag"}:
        flags = {part.values[0] for part in parts}
        alike = any(flags <= family for family in FLAG_FAMILIES)
    named = fields <= {"obligor", "facility", "cusip", "loanx", "isin"}
    if way == "or" or alike or named:
        return Condition(any_of=tuple(parts), said=f"{one.said} {way} {other.said}")
    return None


def negated(condition: Condition) -> Condition:
    """The loans that a condition leaves."""
    from msgspec.structs import replace

    flips: dict[str, Operator] = {
        "is": "is not",
        "is not": "is",
        "in": "not in",
        "not in": "in",
        "blank": "known",
        "known": "blank",
    }
    if condition.op in flips:
        return replace(condition, op=flips[condition.op], said=f"not {condition.said}")
    return Condition(field="not", any_of=(condition,), said=f"not {condition.said}")


def convert(name: str, value: float, unit: str) -> float:
    """A value in the unit of its field."""
    if name == "spread" and unit == "percent":
        return value * 100.0
    if name in ("coupon", "floor", "recovery") and unit == "bps":
        return value / 100.0
    if name == "years" and unit == "months":
        return value / 12.0
    return value


def later(day: float, number: Token) -> float:
    """The day so many years, months or days after another."""
    from calendar import monthrange
    from datetime import date

    if number.unit == "days":
        return day + number.value
    start = date.fromordinal(719163 + int(day))
    months = round(number.value * (12 if number.unit == "years" else 1))
    year, month = divmod(start.month - 1 + months, 12)
    year += start.year
    last = min(start.day, monthrange(year, month + 1)[1]) if year <= 9998 else start.day
    return float(date(min(year, 9998), month + 1, last).toordinal() - 719163)
