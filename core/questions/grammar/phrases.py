"""The rows of the grammar: which phrases make conditions, comparisons, rankings, periods and tests."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, Final

from msgspec.structs import replace

from core.insights.subject import Subject
from core.portfolio.model.ratings import CCC
from core.questions.grammar.chart import Row, compile_rules
from core.questions.grammar.lexemes import Letter, Lexeme
from core.questions.grammar.named import NameMatch
from core.questions.query import Condition, Having, Operator
from core.questions.tokens import Token, names
from core.questions.vocabulary import QUANTITIES

EPOCH_ORDINAL: Final = 719163
AMOUNTS: Final = frozenset(("par", "facility_size", "unfunded", "market_value"))
AMOUNT_LEAST: Final = 1_000.0
"""An amount of a loan below it is written in thousands or millions, and does not say so."""

PRICE_LIKE_MAX: Final = 200.0
"""A market value up to here, without a unit, is a price."""

COUPON_MAX: Final = 30.0
"""A rate above it, without a unit, is basis points."""

RANK_WORST: Final = 22.0
OF_AGENCY: Final = {"moodys_rating": "a", "sp_rating": "b", "fitch_rating": "c"}
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
_LARGEST: Final = {
    ("industry", 1, 1): "industry_concentration",
    ("industry", 2, 1): "second_industry_concentration",
    ("obligor", 1, 1): "single_obligor_concentration",
    ("obligor", 1, 5): "top_5_concentration",
}
"""A group, its place and how many there are -> the test that limits them."""

SETS: Final = frozenset(names("obligor industry country rating rating_a rating_b lien currency year"))
"""Groups of which a share or an amount that is compared is theirs, and not a loan's."""

FLAG_FAMILIES: Final = (
    frozenset(("first_lien", "second_lien", "unsecured", "bond", "not_senior")),
    frozenset(("fixed", "floating")),
    frozenset(("performing", "defaulted")),
)
"""Flags of which a loan has one: and between two of them means or."""

COMPARED: Final = {
    name: name
    for name in (
        names(
            "par price purchase_price spread coupon floor recovery facility_size days_past_due quote_depth "
            "unfunded market_value"
        )
    )
} | {"was": "spread", "wal": "years"}
"""Quantities whose name may stand beside a comparison of loans -> the field."""

BLANKS: Final = {
    name: name
    for name in (
        names(
            "price spread coupon maturity recovery rating floor cusip loanx isin industry country purchase_price "
            "facility_size quote_depth par lien index days_past_due currency"
        )
    )
} | dict.fromkeys(OF_AGENCY, "rating")
"""Quantities that may be blank -> the field."""

_ALIKE: Final = frozenset(names("rating obligor industry country facility currency cusip loanx isin"))
_NAMES: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))
_FLIPS: Final[dict[str, Operator]] = {
    "is": "is not", "is not": "is", "in": "not in", "not in": "in", "blank": "known", "known": "blank",
}  # fmt: skip
_DATED: Final = ("as_of", "reinvestment_end", "stated_maturity", "next_payment", "closing_date")

Span = tuple[int, int]
Build = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A superlative with its number and what it is by."""

    order: str
    """most, least, worst or best."""
    by: str | None
    limit: int | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings from one rank to another, and who gives them."""

    low: float
    high: float
    agency: str | None
    symbol: int | None = None
    """Of a letter that stands for several ratings: the rank of the letter itself, which an agency's own scale has."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison with a number."""

    op: Operator
    value: float
    unit: str
    high: float | None = None
    is_margin: bool = False
    """Whether it is written over an index (S+450)."""


@dataclass(frozen=True, slots=True)
class Days:
    """Some days, both ends included; an end that is open is None."""

    low: float | None
    high: float | None
    is_end: bool = False
    """Whether it is the end of a period, so that "before" it includes it."""


class Context:
    """What the rows know of the question beside the phrases that they take."""

    def __init__(self, lexemes: Sequence[Lexeme], subjects: Sequence[Subject]) -> None:
        self.lexemes = lexemes
        self.subjects = subjects
        self.as_of = subjects[0].portfolio.deal.as_of if subjects else None

    def words(self, span: Span) -> str:
        return " ".join(lexeme.raw for lexeme in self.lexemes[slice(*span)])

    @cached_property
    def groups_are_sets(self) -> bool:
        groups = {lexeme.get("group") for lexeme in self.lexemes}
        return bool(groups & SETS) and "loan" not in groups

    def day_of(self, fact: str) -> float | None:
        """A day of the deal, where all portfolios that are asked have the same."""
        days = {getattr(subject.measured.deal, fact) for subject in self.subjects}
        return days.pop() if len(days) == 1 else None

    def month_of(self, first: float, last: float) -> str:
        """Which of the two months at hand has its file between two days: now, previous, or neither."""
        for subject in self.subjects[:1]:
            for name, month in (("previous", subject.previous), ("now", subject)):
                day = None if month is None else month.day
                if day is not None and first <= day.toordinal() - EPOCH_ORDINAL <= last:
                    return name
        return ""


# ---- ratings ----


def _letters(_: Context, span: Span, letter: Letter) -> Rated:
    return Rated(letter.best, letter.worst, letter.agency, letter.symbol if letter.best != letter.worst else None)


def _letters_or_so(_: Context, span: Span, letter: Letter, way: str) -> Rated:
    if way in ("worse", "<="):
        return Rated(letter.symbol, RANK_WORST, letter.agency)
    return Rated(1.0, letter.symbol, letter.agency)


def _letters_compared(_: Context, span: Span, op: str, letter: Letter) -> Rated:
    low, high = {
        ">": (1.0, letter.best - 1.0),
        ">=": (1.0, float(letter.worst)),
        "<": (letter.worst + 1.0, RANK_WORST),
        "<=": (float(letter.best), RANK_WORST),
    }[op]
    return Rated(low, high, letter.agency)


def _letters_between(_: Context, span: Span, first: Letter, __: Any, last: Letter) -> Rated:
    return Rated(min(first.best, last.best), max(first.worst, last.worst), first.agency)


def _letters_to(context: Context, span: Span, first: Letter, _: str, last: Letter) -> Rated | None:
    if any(lexeme.text == "ratio" for lexeme in context.lexemes):
        return None
    return _letters_between(context, span, first, None, last)


def _below_ccc(_: Context, span: Span, op: str, __: str) -> Rated:
    return Rated(float(CCC if op == "<=" else 20), RANK_WORST, None)


def _by_agency(_: Context, span: Span, before: str | None, rating: str | None, rated: Rated, after: str | None) -> Any:
    agency = after or OF_AGENCY.get(rating or "") or before
    if agency is None:
        return Rated(rated.low, rated.high, rated.agency, rated.symbol)
    return _rated_by(rated, agency)


def _rated_by(rated: Rated, agency: str) -> Rated:
    if rated.symbol is not None:  # BB by S&P: the symbol itself
        return Rated(rated.symbol, rated.symbol, agency)
    return Rated(rated.low, rated.high, agency)


def _rated_behind(context: Context, span: Span, rated: Rated, rating: str, agency: str | None) -> Any:
    if rating == "rating" and agency is None:
        return rated
    return _rated_by(rated, agency or OF_AGENCY[rating])


def _rating(context: Context, span: Span, rated: Rated) -> Condition:
    return Condition(
        field="rating", op="between", low=float(rated.low), high=float(rated.high), agency=rated.agency,
        words=context.words(span),
    )  # fmt: skip


def _known_rating(context: Context, span: Span, rating: str) -> Condition | None:
    words = context.words(span)
    if not words.lower().startswith(("rated by", "rating from", "rated from")):
        return None
    return Condition(field="rating", op="known", agency=OF_AGENCY[rating], words=words)


# ---- flags and names ----


def _flag(context: Context, span: Span, flag: str) -> Condition:
    return Condition(field="flag", values=(flag,), words=context.words(span))


def _flag_by(context: Context, span: Span, rating: str | None, before: Any, flag: str, after: Any) -> Condition | None:
    agency = after or before or OF_AGENCY.get(rating or "")
    if agency is None and rating is None:
        return None
    return Condition(field="flag", values=(flag,), agency=agency, words=context.words(span))


def _name(context: Context, span: Span, name: NameMatch) -> Condition | None:
    if name.field in ("test", "subject"):
        return None
    return Condition(field=name.field, op="in", values=name.values, also=name.also, words=name.words)


def _test_name(context: Context, span: Span, name: NameMatch) -> str | None:
    return f"name:{name.values[0]}" if name.field == "test" and len(name.values) == 1 else None


def _subject_name(context: Context, span: Span, name: NameMatch) -> tuple[str, ...] | None:
    return name.values if name.field == "subject" else None


def _without(context: Context, span: Span, _: str, before: str | None, what: str, after: str | None) -> Any:
    if what not in BLANKS or ((before or after) and what != "rating"):
        return None
    agency = OF_AGENCY.get(what, before or after)
    return Condition(field=BLANKS[what], op="blank", agency=agency, words=context.words(span))


def _not(context: Context, span: Span, _: str, condition: Condition) -> Condition:
    return negate(condition)


def _without_condition(context: Context, span: Span, _: str, condition: Condition) -> Condition | None:
    word = context.lexemes[span[0]].text
    if condition.op == "in" or (condition.field == "flag" and word in ("without", "no", "not", "without any")):
        return negate(condition)
    return None


def negate(condition: Condition) -> Condition:
    """Return the condition of the loans that a condition leaves."""
    words = f"not {condition.words}"
    if condition.op in _FLIPS and not condition.any_of:
        return replace(condition, op=_FLIPS[condition.op], words=words)
    return Condition(field="not", any_of=(condition,), words=words)


# ---- comparisons ----


def _bound(_: Context, span: Span, op: Operator, number: Token | int) -> Bound | None:
    if isinstance(number, int):
        return Bound(op, float(number), "")
    if number.days is not None:
        return None
    return Bound(op, number.value, number.unit, is_margin="+" in number.raw)


def _bound_or_so(context: Context, span: Span, number: Token | int, op: Operator) -> Bound | None:
    return _bound(context, span, op, number)


def _bound_past(context: Context, span: Span, _: str, number: Token) -> Bound | None:
    return Bound(">", number.value, "days") if number.unit == "days" else None


def _between(_: Context, span: Span, first: Token, __: Any, last: Token) -> Bound | None:
    if first.days is not None or last.days is not None:
        return None
    scale = 1.0
    if last.unit == "amount" and not first.unit:
        scale = next((size for size in (1e9, 1e6, 1e3) if last.value >= size), 1.0)
    return Bound("between", first.value * scale, last.unit or first.unit, last.value)


def convert(field: str, value: float, unit: str) -> float:
    """Convert a value to the unit of its field."""
    if field == "spread" and unit == "percent":
        return value * 100.0
    if field in ("coupon", "floor", "recovery") and unit == "bps":
        return value / 100.0
    if field == "years" and unit == "months":
        return value / 12.0
    return value


_FIELD_UNITS: Final = {
    "amount": AMOUNTS,
    "bps": frozenset(("spread", "coupon", "floor")),
    "percent": frozenset(("spread", "coupon", "floor", "recovery", "price", "purchase_price")),
    "days": frozenset(("days_past_due",)),
    "years": frozenset(("years",)),
    "months": frozenset(("years",)),
    "points": frozenset(("price", "purchase_price")),
}
"""The fields that a number with a unit may be compared with."""


def compare(context: Context, span: Span, field: str, bound: Bound) -> Condition | None:
    """Make a condition of a field and a comparison; None where the number cannot be of the field."""
    if bound.is_margin or (field == "coupon" and _pays_spread(context, span, bound)):
        field = "spread"
    if bound.unit and field not in _FIELD_UNITS.get(bound.unit, frozenset()):
        return None
    if field in AMOUNTS and not bound.unit and bound.value < AMOUNT_LEAST:
        if field != "market_value" or bound.value > PRICE_LIKE_MAX:
            return None
        field = "price"  # a market value below 80 is percent of par
    return Condition(
        field=field,
        op=bound.op,
        low=convert(field, bound.value, bound.unit),
        high=None if bound.high is None else convert(field, bound.high, bound.unit),
        words=context.words(span),
    )


def _pays_spread(context: Context, span: Span, bound: Bound) -> bool:
    """Return whether what a loan pays is told in basis points over its index."""
    is_basis_points = bound.unit == "bps" or (not bound.unit and bound.value > COUPON_MAX)
    return is_basis_points and any("pay" in lexeme.text for lexeme in context.lexemes[slice(*span)])


def _compared(context: Context, span: Span, name: str, bound: Bound) -> Condition | None:
    if name not in COMPARED or (name == "par" and context.groups_are_sets):
        return None
    return compare(context, span, COMPARED[name], bound)


def _compared_before(context: Context, span: Span, bound: Bound, name: str) -> Condition | None:
    return None if name == "market_value" else _compared(context, span, name, bound)


def _past_due(context: Context, span: Span, bound: Bound, _: str) -> Condition | None:
    return compare(context, span, "days_past_due", bound)


_BY_UNIT: Final = {"bps": "spread", "amount": "par"}


def _compared_alone(context: Context, span: Span, bound: Bound) -> Condition | None:
    field = "spread" if bound.is_margin else _BY_UNIT.get(bound.unit, "")
    if not field or (field == "par" and context.groups_are_sets):
        return None
    return compare(context, span, field, bound)


def _loan_priced(context: Context, span: Span, _: str, bound: Bound) -> Condition | None:
    """A loan under 80."""
    is_price = not bound.unit and all(20 <= value <= 120 for value in (bound.value, bound.high or 100.0))
    return compare(context, span, "price", bound) if is_price else None


def _matures_in(context: Context, span: Span, _: str, bound: Bound) -> Condition | None:
    return compare(context, span, "years", bound) if bound.unit in ("years", "months") else None


def _other_field(context: Context, span: Span, field: str, op: Operator, than: str) -> Condition | None:
    if field == than or {field, than} not in ({"price", "purchase_price"}, {"spread", "was"}) or field == "was":
        return None
    return Condition(field=field, op=op, than=than, words=context.words(span))


def _either_end(context: Context, span: Span, name: str, bound: Bound, op: str, number: Token) -> Condition | None:
    """Below 80 or above 100."""
    second = Bound(">" if op[0] == ">" else "<", number.value, number.unit or bound.unit)
    ends = [_compared(context, span, name, end) for end in (bound, second)]
    if None in ends or number.days is not None or second.op[0] == bound.op[0]:
        return None
    return Condition(any_of=tuple(end for end in ends if end is not None), words=context.words(span))


def _either_end_or(context: Context, span: Span, name: str, bound: Bound, _: str, op: str, number: Token) -> Any:
    return _either_end(context, span, name, bound, op, number)


def _other_agency(context: Context, span: Span, first: str, __: Any, op: str, ___: Any, last: str) -> Condition | None:
    if first == last:
        return None
    way: Operator = "<" if op in ("<", "down") else ">"
    return Condition(field="rating", op=way, agency=first, than=last, words=context.words(span))


def _in_the_largest(context: Context, span: Span, _: str, ranking: Ranking, group: str) -> Condition | None:
    if ranking.by not in (None, "par") or ranking.order not in ("most", "least"):
        return None
    if context.lexemes[span[1] - 1].is_plural != (ranking.limit is not None):
        return None
    first, last = (1, ranking.limit) if ranking.limit else (ranking.place or 1,) * 2
    sign = 1.0 if ranking.order == "most" else -1.0
    return Condition(field=group, op="top", low=sign * first, high=sign * last, words=context.words(span))


def _facility(context: Context, span: Span, _: str, bound: Bound) -> Condition | None:
    is_facility = context.lexemes[span[0]].tokens[-1].text == "facility"
    return compare(context, span, "facility_size", bound) if is_facility and bound.unit == "amount" else None


def _having(quantity: str, bound: Bound) -> Having:
    return Having(quantity=quantity, op=bound.op, value=bound.value, high=bound.high, unit=bound.unit)


def _having_of(context: Context, span: Span, name: str, bound: Bound) -> Having | None:
    if name in ("share", "count"):
        return _having(name, bound)
    if name == "par" and bound.unit == "percent":
        return _having("share", bound)
    if not context.groups_are_sets or (name == "par") != (bound.unit == "amount"):
        return None
    return _having(name, bound) if name == "par" or (name in QUANTITIES and QUANTITIES[name].is_average) else None


def _having_average(context: Context, span: Span, _: str, name: str, bound: Bound) -> Having | None:
    return _having_of(context, span, name, bound) if name != "par" else None


def _having_before(context: Context, span: Span, bound: Bound, name: str) -> Having | None:
    return None if name == "count" else _having_of(context, span, name, bound)


def _having_alone(context: Context, span: Span, bound: Bound) -> Having | None:
    if bound.unit == "percent":
        return _having("share", bound)
    return _having("par", bound) if bound.unit == "amount" and context.groups_are_sets else None


def _having_count(context: Context, span: Span, bound: Bound, _: str) -> Having | None:
    return None if bound.unit else _having("count", bound)


def _cushion_bound(context: Context, span: Span, _: str, bound: Bound) -> Having:
    return _having("cushion", bound)


def _cushion_bound_before(context: Context, span: Span, bound: Bound, _: str) -> Having:
    return _having("cushion", bound)


def _figure_bound(context: Context, span: Span, test_id: str, bound: Bound) -> tuple[str, Having]:
    return test_id, _having("test", bound)


def _change_by(context: Context, span: Span, change: str | None, bound: Bound) -> Any:
    if bound.unit in ("amount", "years", "months", "days") or (change is None and bound.unit != "points"):
        return None
    return change, Having(quantity="change", op=bound.op, value=bound.value, unit=bound.unit)


# ---- days ----


def _days(context: Context, span: Span, days: tuple[float, float]) -> Days:
    is_end = days[0] == days[1] and "end" in context.lexemes[span[0]].text.split()
    return Days(days[0], days[1], is_end)


def _year(_: Context, span: Span, number: Token) -> Days | None:
    return None if number.days is None else Days(*number.days)


def _calendar(context: Context, span: Span, which: str) -> Days | None:
    if context.as_of is None:
        return None
    year = date.fromordinal(EPOCH_ORDINAL + int(context.as_of)).year + (which == "next_year")
    first, last = (float(date(year, *day).toordinal() - EPOCH_ORDINAL) for day in ((1, 1), (12, 31)))
    return Days(context.as_of if which == "this_year" else first, last)


def _fact_day(context: Context, span: Span, fact: str) -> Days | None:
    if fact not in _DATED or (day := context.day_of(fact)) is None:
        return None
    return Days(day, day)


def _span(_: Context, span: Span, op: str, days: Days) -> Days:
    low, high = days.low, days.high
    assert low is not None
    assert high is not None
    return Days(
        *{
            "before": (None, low - (not days.is_end)),
            "<": (None, low - 1),
            "after": (high + 1, None),
            ">": (high + 1, None),
            "by": (None, high),
            "<=": (None, high),
            "from": (low, None),
            ">=": (low, None),
        }.get(op, (low, high))
    )


def _span_by(context: Context, span: Span, _: str, days: Days) -> Days | None:
    return Days(None, days.high) if context.lexemes[span[0]].text == "by" else None


def _span_or_so(_: Context, span: Span, number: Token, op: str) -> Days | None:
    if number.days is None:
        return None
    return Days(number.days[0], None) if op == ">=" else Days(None, number.days[1])


def _span_between(_: Context, span: Span, first: Days, __: Any, last: Days) -> Days:
    return Days(first.low, last.high)


def _within(context: Context, span: Span, _: str, number: Token) -> Days | None:
    if context.as_of is None or number.unit not in ("years", "months", "days"):
        return None
    return Days(context.as_of, later(context.as_of, number))


def later(day: float, number: Token) -> float:
    """Return the day so many years, months or days after another."""
    if number.unit == "days":
        return day + number.value
    start = date.fromordinal(EPOCH_ORDINAL + int(day))
    months = round(number.value * (12 if number.unit == "years" else 1))
    year, month = divmod(start.month - 1 + months, 12)
    year = min(start.year + year, 9998)
    last = min(start.day, monthrange(year, month + 1)[1])
    return float(date(year, month + 1, last).toordinal() - EPOCH_ORDINAL)


def matures(days: Days, words: str) -> Condition:
    """Make a condition of the days between which a loan matures."""
    return Condition(field="maturity", op="between", low=days.low, high=days.high, words=words)


def _matures(context: Context, span: Span, _: str, days: Days) -> Condition:
    return matures(days, context.words(span))


def _matures_before(context: Context, span: Span, days: Days, _: str) -> Condition:
    return matures(days, context.words(span))


def _matures_after_deal(context: Context, span: Span, *_: str) -> Condition:
    return Condition(field="flag", values=("long_dated",), words=context.words((span[1] - 1, span[1])))


def _month(context: Context, span: Span, month: int) -> str | None:
    for subject in context.subjects[:1]:
        for name, file in (("previous", subject.previous), ("now", subject)):
            if file is not None and file.day is not None and file.day.month == month:
                return name
    return None


def _moment(context: Context, span: Span, days: tuple[float, float]) -> str | None:
    return context.month_of(*days) or None


def _period_at(_: Context, span: Span, moment: str) -> str:
    return moment


def _period_since(_: Context, span: Span, __: str, moment: str, to: str | None, last: str | None) -> str | None:
    return "change" if moment == "previous" and last in (None, "now") else None


def _period_compared(_: Context, span: Span, *__: str) -> str:
    return "change"


# ---- together ----


def _join(context: Context, span: Span, first: Condition, noun: str | None, way: str, last: Condition) -> Any:
    words = f"{first.words} {way} {last.words}"
    return merge(first, last, way, words)


def _join_marked(context: Context, span: Span, first: Condition, last: Condition) -> Condition | None:
    """Two conditions with a comma or a stroke between them."""
    for at in range(span[0] + 1, span[1]):
        before = context.lexemes[at].before
        if "/" in before:
            return merge(first, last, "or", f"{first.words} or {last.words}")
        if "," in before:
            return merge(first, last, "and", f"{first.words}, {last.words}")
    return None


def merge(first: Condition, last: Condition, way: str, words: str) -> Condition | None:
    """Merge two conditions that stand for alternatives; None where both must hold."""
    parts = [*(first.any_of or (first,)), *(last.any_of or (last,))]
    if first.field == "not" or last.field == "not":
        return None
    fields = {part.field for part in parts}
    if any(part.op in ("not in", "is not") for part in parts):
        if len(fields) > 1 or any(part.op != "not in" for part in parts[:-1]) or parts[-1].op not in ("not in", "in"):
            return None
        values = tuple(value for part in parts for value in part.values)
        return Condition(field=first.field, op="not in", values=values, words=words)  # not in A or B
    alike = len(fields) == 1 and fields <= _ALIKE
    if fields == {"flag"}:
        alike = any({part.values[0] for part in parts} <= family for family in FLAG_FAMILIES)
    if way != "or" and not alike and not fields <= _NAMES:
        return None
    return Condition(any_of=tuple(parts), words=words)


# ---- rankings ----


def count_of(number: Token | int) -> int | None:
    """Return the number of a ranking, None where it is no such number."""
    if isinstance(number, int):
        return number
    is_count = not number.unit and number.value.is_integer() and 1 <= number.value <= 500
    return int(number.value) if is_count else None


def _rank(_: Context, span: Span, way: tuple[str, str]) -> Ranking:
    return Ranking(way[0], way[1] or None)


def _rank_count(_: Context, span: Span, number: Any, ranking: Ranking) -> Ranking | None:
    count = count_of(number)
    if count is None or ranking.limit or ranking.place:
        return None
    return Ranking(ranking.order, ranking.by, limit=count)


def _rank_count_behind(context: Context, span: Span, ranking: Ranking, number: Any) -> Ranking | None:
    return _rank_count(context, span, number, ranking)


def _rank_place(_: Context, span: Span, place: int, ranking: Ranking) -> Ranking | None:
    return None if ranking.limit or ranking.place else Ranking(ranking.order, ranking.by, place=place)


def _rank_by(_: Context, span: Span, ranking: Ranking, aggregate: str | None, name: str) -> Ranking | None:
    if ranking.by is not None or name == "count":
        return None
    return Ranking(ranking.order, name, ranking.limit, ranking.place)


def _rank_twice(_: Context, span: Span, first: Ranking, last: Ranking) -> Ranking | None:
    """The top 5 largest; the largest is the main word."""
    if first.by is not None or first.place or last.limit or last.place or first.order != "most":
        return None
    return Ranking(last.order, last.by, first.limit)


def _ordered_by(_: Context, span: Span, __: str, name: str) -> str:
    return name


# ---- groups ----

_GROUP_OF: Final = {
    "maturity": "year", "rating": "rating", "moodys_rating": "rating_a", "sp_rating": "rating_b",
    "fitch_rating": "rating_c", "lien": "lien", "index": "index",
}  # fmt: skip
_AGENCY_GROUPS: Final = {"a": "rating_a", "b": "rating_b", "c": "rating_c"}
NOUNS_OF_PER: Final = frozenset(
    names("split breakdown distribution composition mix profile stratification stratify")
) | {"broken down", "break down"}
"""Words for a breakdown that may stand behind what it is by: the industry mix."""
_OF_ALL: Final = frozenset(("across", "distribution of", "breakdown of", "composition", "mix", "breakdown"))


def _by(context: Context, span: Span, _: str, name: str) -> str | None:
    group = name if name in GROUPS_OF_LOANS else _GROUP_OF.get(name)
    if group == "loan" and context.lexemes[span[0]].text in _OF_ALL:
        return None
    return group


def _by_agency_group(context: Context, span: Span, _: str, agency: str, __: str) -> str:
    return _AGENCY_GROUPS[agency]


def _by_behind(context: Context, span: Span, name: str, _: str) -> str | None:
    if context.lexemes[span[1] - 1].text not in NOUNS_OF_PER:
        return None
    return name if name in GROUPS_OF_LOANS else _GROUP_OF.get(name)


def _by_given(_: Context, span: Span, name: str) -> str:
    return name


def _idle_per(context: Context, span: Span, _: str, noun: str | None) -> str | None:
    """Across all loans, in each deal; a second word for a breakdown."""
    text = context.lexemes[span[0]].text
    if noun is None:
        return "per" if text != "by" else None
    if noun == "loan":
        return "per" if text in _OF_ALL else None
    return "per" if noun in ("deal", "whole") else None


SOFT_IFS: Final = frozenset(
    (
        "what does", "what would", "how would", "would", "what happens to", "what would happen to", "happen to",
        "what happens", "where does", "where would", "if", "what would happen", "in case",
    )
)  # fmt: skip
"""What may say that something is supposed, and may as well say nothing."""

GROUPS_OF_LOANS: Final = frozenset(
    names("loan obligor industry country rating rating_a rating_b rating_c lien year currency index coupon_type")
)


# ---- tests ----


def _figure(_: Context, span: Span, name: str) -> str | None:
    return QUANTITIES[name].test_id


def _figure_of(_: Context, span: Span, __: str, test_id: str) -> str:
    return test_id


def _bucket(_: Context, span: Span, flag: str) -> str | None:
    return FLAG_TESTS.get(flag)


def _largest(_: Context, span: Span, ranking: Ranking, group: str) -> str | None:
    if ranking.order != "most" or ranking.by not in (None, "par"):
        return None
    return _LARGEST.get((group, ranking.place or 1, ranking.limit or 1))


def _bucket_of_liens(_: Context, span: Span, first: str, __: str, last: str) -> str | None:
    return FLAG_TESTS["not_senior"] if {first, last} <= {"second_lien", "unsecured", "not_senior"} else None


def _flipped_status(_: Context, span: Span, __: str, status: str) -> str | None:
    return {"pass": "fail", "fail": "pass"}.get(status)


def _status(_: Context, span: Span, status: str) -> str:
    return status


def _over(_: Context, span: Span, op: str, __: str) -> str:
    return op


def _aspect(_: Context, span: Span, aspect: str) -> str:
    return aspect


def _aspect_from(_: Context, span: Span, aspect: str, *__: str | None) -> str:
    return aspect


def _price_at(_: Context, span: Span, __: str, number: Token) -> float | None:
    is_price = number.unit in ("", "points", "percent") and number.days is None and 0 < number.value <= PRICE_LIKE_MAX
    return number.value if is_price else None


def _at_par(_: Context, span: Span, *__: str) -> float:
    return 100.0


def _pays(_: Context, span: Span, name: str, number: Token) -> float | None:
    return convert("spread", number.value, number.unit) if number.unit in ("bps", "percent", "") else None


def _pays_before(context: Context, span: Span, number: Token, name: str) -> float | None:
    return _pays(context, span, name, number)


def _pays_rate(_: Context, span: Span, name: str, number: Token) -> float | None:
    return number.value if number.unit == "percent" else None


def _pays_rate_before(context: Context, span: Span, number: Token, name: str) -> float | None:
    return _pays_rate(context, span, name, number)


def _size(_: Context, span: Span, number: Token) -> Token | None:
    return number if number.days is None else None


def _to_rating(_: Context, span: Span, __: str, rated: Rated, agency: str | None) -> Any:
    return ("", int(rated.low), agency) if rated.low == rated.high else None


def _to_ccc(_: Context, span: Span, *__: str) -> Any:
    return "", CCC, None


def _becomes(context: Context, span: Span, kind: str, rated: Rated, agency: str | None) -> Any:
    text = context.lexemes[span[0]].text
    raw = context.lexemes[span[0]].raw.lower()
    if not (text.endswith(" to") or raw.endswith(" to") or text.startswith("become")) or rated.low != rated.high:
        return None
    return kind, int(rated.low), agency


def _becomes_ccc(context: Context, span: Span, kind: str, _: str) -> Any:
    return (kind, CCC, None) if context.lexemes[span[0]].text.endswith(" to") else None


def _buying(context: Context, span: Span, _: str) -> str | None:
    last = context.lexemes[span[0]].text.split()[-1]
    return {"buy": "buy", "add": "buy", "purchase": "buy", "sell": "sell"}.get(last)


def _group_in(*names: str) -> Build:
    return lambda _, span, group: group if group in names else None


def _these(context: Context, span: Span, number: int, _: str) -> int | None:
    return number if number == len(context.subjects) else None


def _soft_if(context: Context, span: Span, _: str) -> str | None:
    return context.lexemes[span[0]].text if context.lexemes[span[0]].text in SOFT_IFS else None


def _word_in(*texts: str) -> Build:
    """Pass a phrase over that is one of these."""
    return lambda context, span, *_: "word" if context.lexemes[span[0]].text in texts else None


def _test(_: Context, span: Span, test_id: str) -> str:
    return test_id


def _take(_: Context, span: Span, value: Any) -> Any:
    return value


ALIASES: Final = {
    "@rating": "quantity:rating|moodys_rating|sp_rating|fitch_rating",
    "@rates": "comparison:>|>=|<|<=",
    "@op": "comparison:>|>=|<|<=|=",
    "@or_so": "or_so:>=|<=",
    "@noun": "group:industry|country|lien|currency",
    "@when": "comparison:before|after|by|from|in|within|>|<|>=|<=",
}

ROWS: Final[tuple[Row, ...]] = (
    # ratings
    ("rated", "letter", _letters, 1.0),
    ("rated", "letter or_so", _letters_or_so, 1.0),
    ("rated", "@rates letter", _letters_compared, 1.0),
    ("rated", "comparison:between letter and letter", lambda *parts: _letters_between(*parts[:2], *parts[3:]), 1.0),
    ("rated", "letter 'to' letter", _letters_to, 1.0),
    ("rated", "comparison:<|<= flag:ccc", _below_ccc, 1.0),
    ("rating_range", "agency? @rating? rated agency?", _by_agency, 1.0),
    ("rating_range", "rated @rating agency?", _rated_behind, 1.0),
    ("rating_range", "agency rater rated", lambda _, span, agency, rater, rated: _rated_by(rated, agency), 1.0),
    ("rating_range", "rater rated agency?", lambda _, span, rater, rated, agency:
        _rated_by(rated, agency) if agency else rated, 1.0),
    ("simple", "rating_range", _rating, 1.0),
    ("simple", "quantity:moodys_rating|sp_rating|fitch_rating", _known_rating, 1.6),
    # flags and names
    ("simple", "flag", _flag, 1.0),
    ("simple", "@rating? agency? flag:ccc|unrated|investment_grade agency?", _flag_by, 1.0),
    ("simple", "name", _name, 1.0),
    ("test", "name", _test_name, 1.0),
    ("subject", "name", _subject_name, 1.0),
    ("simple", "without agency? quantity agency?", _without, 1.0),
    ("simple", "without agency? @noun agency?", _without, 1.0),
    ("simple", "not simple", _not, 1.0),
    ("simple", "without simple", _without_condition, 1.0),
    # comparisons
    ("bound", "@op number", _bound, 1.0),
    ("bound", "@op numeral", _bound, 1.0),
    ("bound", "number @or_so", _bound_or_so, 1.0),
    ("bound", "numeral @or_so", _bound_or_so, 1.0),
    ("bound", "comparison:after number", _bound_past, 1.0),
    ("bound", "comparison:between number and number", lambda *parts: _between(*parts[:2], *parts[3:]), 1.0),
    ("bound", "number 'to' number", _between, 1.0),
    ("simple", "quantity bound", _compared, 1.0),
    ("simple", "bound quantity", _compared_before, 1.0),
    ("simple", "bound flag:past_due", _past_due, 1.0),
    ("simple", "bound", _compared_alone, 1.2),
    ("simple", "group:loan bound", _facility, 1.0),
    ("simple", "group:loan|obligor bound", _loan_priced, 1.3),
    ("simple", "quantity:maturity bound", _matures_in, 1.0),
    ("simple", "move:added @rates quantity:price", lambda context, span, move, op, price:
        _other_field(context, span, "purchase_price", op, price), 1.0),
    ("simple", "quantity bound @or_so number", _either_end, 1.0),
    ("simple", "quantity bound or @rates number", _either_end_or, 1.0),
    ("simple", "quantity @rates quantity", _other_field, 1.0),
    ("simple", "agency rater comparison:<|> than? agency", _other_agency, 1.0),
    ("simple", "quantity:rating change:down|up agency than agency", lambda context, span, _, op, first, than, last:
        _other_agency(context, span, first, None, op, than, last), 1.0),
    ("simple", "'in' ranking group:industry|obligor|country", _in_the_largest, 1.2),
    ("simple", "'in_our' ranking group:industry|obligor|country", _in_the_largest, 1.2),
    ("having", "quantity bound", _having_of, 1.0),
    ("having", "aggregate quantity bound", _having_average, 1.0),
    ("having", "bound quantity", _having_before, 1.0),
    ("having", "bound", _having_alone, 1.2),
    ("having", "bound group:loan", _having_count, 1.0),
    ("cushion_bound", "aspect:cushion bound", _cushion_bound, 1.0),
    ("cushion_bound", "bound aspect:cushion", _cushion_bound_before, 1.0),
    ("figure_bound", "figure bound", _figure_bound, 1.0),
    ("figure_bound", "test bound", _figure_bound, 1.0),
    ("change_by", "change? bound", _change_by, 1.0),
    # days
    ("day", "days", _days, 1.0),
    ("day", "number", _year, 1.0),
    ("day", "calendar", _calendar, 1.0),
    ("day", "fact", _fact_day, 1.0),
    ("span", "day", _take, 1.2),
    ("span", "@when day", _span, 1.0),
    ("span", "per day", _span_by, 1.0),
    ("span", "number @or_so", _span_or_so, 1.0),
    ("span", "comparison:between day and day", lambda *parts: _span_between(*parts[:2], *parts[3:]), 1.0),
    ("span", "comparison:within number", _within, 1.0),
    ("simple", "quantity:maturity span", _matures, 1.0),
    ("simple", "span quantity:maturity", _matures_before, 1.1),
    ("simple", "quantity:maturity comparison:after|> fact:stated_maturity", _matures_after_deal, 0.9),
    ("moment", "month", _month, 1.0),
    ("moment", "days", _moment, 1.0),
    ("period", "moment", _period_at, 1.0),
    ("period", "comparison:from|after moment 'to'? moment?", _period_since, 1.0),
    ("period", "compare moment", _period_compared, 1.0),
    ("period", "fact:as_of moment", lambda _, span, fact, moment: moment, 1.0),
    ("period", "compare period:previous", _period_compared, 1.0),
    # together
    ("where", "simple", _take, 1.0),
    ("where", "where group:loan? or simple", _join, 1.0),
    ("where", "where group:loan? and simple", _join, 1.0),
    ("where", "where simple", _join_marked, 1.0),
    # rankings
    ("ranking", "superlative", _rank, 1.0),
    ("ranking", "number ranking", _rank_count, 1.0),
    ("ranking", "numeral ranking", _rank_count, 1.0),
    ("ranking", "ranking number", _rank_count_behind, 1.0),
    ("ranking", "ranking numeral", _rank_count_behind, 1.0),
    ("ranking", "ranking aspect:cushion", lambda _, span, ranking, __: _rank_by(_, span, ranking, None, "cushion"), 1.0),
    ("ranking", "ordinal ranking", _rank_place, 1.0),
    ("ranking", "ranking aggregate? quantity", _rank_by, 1.0),
    ("ranking", "ranking ranking", _rank_twice, 1.0),
    ("ranked_count", "numeral", lambda _, span, number: number, 1.1),
    ("ranked_count", "number", lambda _, span, number: count_of(number), 1.1),
    ("order_by", "per aggregate:average? quantity", lambda context, span, per, aggregate, name: name
        if context.lexemes[span[0]].text == "by" else None, 1.0),
    # groups
    ("by_group", "by", _by_given, 1.0),
    ("by_group", "per group", _by, 1.0),
    ("by_group", "per quantity", _by, 1.0),
    ("by_group", "per agency @rating", _by_agency_group, 1.0),
    ("by_group", "per agency group:rating", _by_agency_group, 1.0),
    ("by_group", "group per", _by_behind, 1.0),
    ("by_group", "quantity per", _by_behind, 1.0),
    ("idle_per", "per group?", _idle_per, 1.0),
    ("idle_per", "per whole", _idle_per, 1.0),
    # tests
    ("figure", "quantity", _figure, 0.9),
    ("figure", "aggregate:average|total figure", _figure_of, 1.0),
    ("bucket", "flag", _bucket, 1.0),
    ("bucket", "group:industry|obligor", lambda _, span, group: GROUP_TESTS[group], 1.1),
    ("bucket", "ranking group:industry|obligor", _largest, 1.0),
    ("bucket", "flag and flag", _bucket_of_liens, 1.0),
    ("bucket", "flag or flag", _bucket_of_liens, 1.0),
    ("state", "status", _status, 1.0),
    ("state", "not status", _flipped_status, 1.0),
    ("over", "@rates aspect:limit", _over, 1.0),
    ("face", "aspect", _aspect, 1.0),
    ("face", "aspect:cushion comparison? aspect:limit", _aspect_from, 1.0),
    # suppositions
    ("size", "number", _size, 1.0),
    ("at_price", "'at' number", _price_at, 1.0),
    ("at_price", "'for' number", _price_at, 1.0),
    ("at_price", "quantity:price number", _price_at, 1.0),
    ("at_price", "'at' quantity:price number", lambda *parts: _price_at(*parts[:3], parts[4]), 1.0),
    ("at_price", "'at' quantity:par", _at_par, 1.0),
    ("pays", "quantity:spread|was number", _pays, 1.0),
    ("pays", "quantity:coupon? number", lambda _, span, name, number: number.value if number.unit == "bps" else None, 0.9),
    ("tests", "senior and test:oc_ratio|ic_ratio", lambda _, span, senior, __, test_id:
        (f"{test_id}_senior", test_id), 1.0),
    ("bought_for", "'for' number", lambda _, span, __, number: number if number.unit == "amount" else None, 0.9),
    ("pays", "number quantity:spread|was", _pays_before, 1.0),
    ("pays_rate", "quantity:coupon number", _pays_rate, 1.0),
    ("pays_rate", "number quantity:coupon", _pays_rate_before, 1.0),
    ("to_rating", "'to' rated agency?", _to_rating, 1.0),
    ("to_rating", "'to' flag:ccc", _to_ccc, 1.0),
    ("to_rating", "action:downgrade|upgrade rated agency?", _becomes, 1.0),
    ("to_rating", "action:downgrade|upgrade flag:ccc", _becomes_ccc, 1.0),
    ("action", "room", _buying, 1.1),
    # words that a query has no field for
    ("group_loan", "group", _group_in("loan"), 0.5),
    ("group_obligor", "group", _group_in("obligor"), 0.5),
    ("group_deal", "group", _group_in("deal"), 0.5),
    ("group_class", "group", _group_in("class"), 0.5),
    ("group_test", "group", _group_in("test"), 0.5),
    ("these", "numeral group:deal", _these, 0.5),
    ("soft_if", "if", _soft_if, 0.5),
    ("level", "aspect:level", _word_in("level", "value", "current level", "current value", "figure", "ratio", "stand"), 0.5),
    ("limit", "aspect:limit", _take, 1.0),
    ("each", "per", _word_in("each", "every", "for each", "for every", "of each"), 0.5),
    ("from", "comparison", _word_in("from", "below", "under", "above", "over"), 0.6),
    ("before", "comparison", _word_in("before", "until"), 0.5),
    ("span_word", "comparison", _word_in("until", "by", "in", "through"), 0.5),
    ("after_word", "comparison:after", _word_in("after"), 0.3),
    ("per_change", "per", _word_in("by"), 0.5),
    ("biggest", "superlative", _word_in("main", "largest", "biggest", "major", "most"), 0.5),
    ("aggregate_total", "aggregate:total", _take, 0.6),
)  # fmt: skip
"""(kind, pattern, what makes it, its cost)."""

RULES: Final = compile_rules(ROWS, ALIASES)
