"""What phrases make together.

Ratings, flags, names, comparisons and days to conditions of loans, groups and tests.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, Final

from msgspec.structs import replace as with_fields

from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.portfolio.model.ratings import CCC
from core.questions.grammar.lexemes import Letter, Lexeme
from core.questions.grammar.named import NameMatch
from core.questions.query import Condition, Having, Operator
from core.questions.tokens import Token, names
from core.questions.vocabulary import QUANTITIES, RATING_AGENCIES

EPOCH_ORDINAL: Final = 719163
RANK_WORST: Final = 22.0
AMOUNT_LEAST: Final = 1_000.0
"""An amount of a loan below it is written in thousands or millions, and does not say so."""

PRICE_LIKE_MAX: Final = 200.0
"""A market value up to here, without a unit, is a price."""

COUPON_MAX: Final = 30.0
"""A rate above it, without a unit, is basis points."""

LOAN_PRICES: Final = (20.0, 120.0)
"""A loan under a number between these two is one of that price."""

AMOUNTS: Final = frozenset(("par", "facility_size", "unfunded", "market_value"))
SETS: Final = frozenset(names("obligor industry country rating rating_a rating_b lien currency year"))
"""Groups of which a share or an amount that is compared is theirs, and not a loan's."""

FLAG_FAMILIES: Final = tuple(
    frozenset(names(family))
    for family in ("first_lien second_lien unsecured bond not_senior", "fixed floating", "performing defaulted")
)
"""Flags of which a loan has one: and between two of them means or."""

COMPARED: Final = {"was": "spread", "wal": "years"} | {
    name: name
    for name in names(
        "par price purchase_price spread coupon floor recovery facility_size days_past_due quote_depth unfunded "
        "market_value"
    )
}
"""Quantities whose name may stand beside a comparison of loans -> the field."""

BLANKS: Final = dict.fromkeys(RATING_AGENCIES, "rating") | {
    name: name
    for name in names(
        "price spread coupon maturity recovery rating floor cusip loanx isin industry country purchase_price "
        "facility_size quote_depth par lien index days_past_due currency"
    )
}
"""Quantities that may be blank -> the field."""

_FIELDS_OF: Final = {
    "amount": AMOUNTS,
    "bps": frozenset(("spread", "coupon", "floor")),
    "percent": frozenset(("spread", "coupon", "floor", "recovery", "price", "purchase_price")),
    "days": frozenset(("days_past_due",)),
    "years": frozenset(("years",)),
    "months": frozenset(("years",)),
    "points": frozenset(("price", "purchase_price")),
}
"""The fields that a number with a unit may be compared with."""

_UNITS_OF: Final = {
    "percent": ("", "percent", "points"), "bps": ("", "bps", "percent"), "price": ("", "points", "percent"),
    "years": ("", "years"), "amount": ("", "amount"),
}  # fmt: skip
"""What a number beside a figure of a unit may be in; nothing for others."""

_ALIKE: Final = frozenset(names("rating obligor industry country facility currency cusip loanx isin"))
_NAMES: Final = frozenset(("obligor", "facility", "cusip", "loanx", "isin"))
_FLIPS: Final[dict[str, Operator]] = {
    "is": "is not", "is not": "is", "in": "not in", "not in": "in", "blank": "known", "known": "blank",
}  # fmt: skip
DATED: Final = ("as_of", "reinvestment_end", "stated_maturity", "next_payment", "closing_date")


@dataclass(frozen=True, slots=True)
class Rated:
    """Ratings from one rank to another, and who gives them."""

    low: float
    high: float
    agency: str | None
    symbol: int | None = None
    """Of a letter that stands for several ratings: the rank of the letter itself, which an agency's own scale has."""

    def by(self, agency: str | None) -> Rated:
        """Return them by an agency; BB by S&P is the symbol itself."""
        if agency is None:
            return self
        if self.symbol is not None:
            return Rated(self.symbol, self.symbol, agency)
        return replace(self, agency=agency)


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

    def words(self, span: tuple[int, int]) -> str:
        return " ".join(lexeme.raw for lexeme in self.lexemes[slice(*span)])

    @cached_property
    def groups_are_sets(self) -> bool:
        groups = {lexeme.get("group") for lexeme in self.lexemes}
        return bool(groups & SETS) and "loan" not in groups

    def month_of(self, is_of: Any) -> str | None:
        """Return which of the two months at hand has its file on such a day."""
        for subject in self.subjects[:1]:
            for name, month in (("previous", subject.previous), ("now", subject)):
                if month is not None and month.day is not None and is_of(month.day):
                    return name
        return None


# ---- ratings ----


def rate(letter: Letter) -> Rated:
    return Rated(letter.best, letter.worst, letter.agency, letter.symbol if letter.best != letter.worst else None)


def rate_or_so(letter: Letter, or_so: str) -> Rated:
    if or_so in ("worse", "<="):
        return Rated(letter.symbol, RANK_WORST, letter.agency)
    return Rated(1.0, letter.symbol, letter.agency)


def rate_beside(letter: Letter, comparison: str) -> Rated:
    low, high = {
        ">": (1.0, letter.best - 1.0),
        ">=": (1.0, float(letter.worst)),
        "<": (letter.worst + 1.0, RANK_WORST),
        "<=": (float(letter.best), RANK_WORST),
    }[comparison]
    return Rated(low, high, letter.agency)


def rate_between(context: Context, letter: Letter, last: Letter) -> Rated | None:
    if any(lexeme.text == "ratio" for lexeme in context.lexemes):
        return None
    return Rated(min(letter.best, last.best), max(letter.worst, last.worst), letter.agency)


def rate_below_ccc(comparison: str) -> Rated:
    return Rated(float(CCC if comparison == "<=" else CCC + 3), RANK_WORST, None)


def rated_by(rated: Rated, agency: str | None, quantity: str | None, after: str | None) -> Rated:
    return rated.by(after or RATING_AGENCIES.get(quantity or "") or agency)


def rating_condition(rated: Rated, words: str) -> Condition:
    low, high = float(rated.low), float(rated.high)
    return Condition(field="rating", op="between", low=low, high=high, agency=rated.agency, words=words)


def known_rating(quantity: str, words: str) -> Condition | None:
    if not words.lower().startswith(("rated by", "rating from", "rated from")):
        return None
    return Condition(field="rating", op="known", agency=RATING_AGENCIES[quantity], words=words)


def beside_agency(agency: str, last: str, comparison: str | None, change: str | None, words: str) -> Condition | None:
    if agency == last:
        return None
    op: Operator = "<" if comparison == "<" or change == "down" else ">"
    return Condition(field="rating", op=op, agency=agency, than=last, words=words)


# ---- flags and names ----


def flag_condition(flag: str, words: str) -> Condition:
    return Condition(field="flag", values=(flag,), words=words)


def flag_by(flag: str, quantity: str | None, agency: str | None, after: str | None, words: str) -> Condition | None:
    agency = after or agency or RATING_AGENCIES.get(quantity or "")
    if agency is None and quantity is None:
        return None
    return Condition(field="flag", values=(flag,), agency=agency, words=words)


def name_condition(name: NameMatch) -> Condition | None:
    if name.field in ("test", "subject"):
        return None
    return Condition(field=name.field, op="in", values=name.values, also=name.also, words=name.words)


def test_name(name: NameMatch) -> str | None:
    return f"name:{name.values[0]}" if name.field == "test" and len(name.values) == 1 else None


def blank_condition(
    quantity: str | None, group: str | None, agency: str | None, after: str | None, words: str
) -> Condition | None:
    name = quantity or group or ""
    if name not in BLANKS or ((agency or after) and name != "rating"):
        return None
    return Condition(field=BLANKS[name], op="blank", agency=RATING_AGENCIES.get(name, agency or after), words=words)


def negate(simple: Condition) -> Condition:
    """Return the condition of the loans that a condition leaves."""
    words = f"not {simple.words}"
    if simple.op in _FLIPS and not simple.any_of:
        return with_fields(simple, op=_FLIPS[simple.op], words=words)
    return Condition(field="not", any_of=(simple,), words=words)


def deny(simple: Condition, words: str) -> Condition | None:
    """Return what "without" or "no" makes of a condition."""
    is_flag = simple.field == "flag" and words.lower().startswith(("without", "no ", "not "))
    return negate(simple) if simple.op == "in" or is_flag else None


# ---- comparisons ----


def bound_of(op: str, number: Token | None, numeral: int | None) -> Bound | None:
    """Return a comparison with a number that is no year."""
    if number is None:
        return Bound(op, float(numeral or 0), "")  # type: ignore[arg-type]
    if number.days is not None:
        return None
    return Bound(op, number.value, number.unit, is_margin="+" in number.raw)  # type: ignore[arg-type]


def bound_between(number: Token, last: Token) -> Bound | None:
    if number.days is not None or last.days is not None:
        return None
    scale = 1.0
    if last.unit == "amount" and not number.unit:
        scale = next((size for size in (1e9, 1e6, 1e3) if last.value >= size), 1.0)
    return Bound("between", number.value * scale, last.unit or number.unit, last.value)


def convert(field: str, value: float, unit: str) -> float:
    """Convert a value to the unit of its field."""
    if field == "spread" and unit == "percent":
        return value * 100.0
    if field in ("coupon", "floor", "recovery") and unit == "bps":
        return value / 100.0
    return value / 12.0 if field == "years" and unit == "months" else value


def compare(field: str, bound: Bound, words: str) -> Condition | None:
    """Make a condition of a field and a comparison."""
    is_basis_points = bound.unit == "bps" or (not bound.unit and bound.value > COUPON_MAX)
    if bound.is_margin or (field == "coupon" and is_basis_points and "pay" in words.lower()):
        field = "spread"
    if bound.unit and field not in _FIELDS_OF.get(bound.unit, frozenset()):
        return None
    if field in AMOUNTS and not bound.unit and bound.value < AMOUNT_LEAST:
        if field != "market_value" or bound.value > PRICE_LIKE_MAX:
            return None
        field = "price"  # a market value below 80 is percent of par
    low, high = (None if value is None else convert(field, value, bound.unit) for value in (bound.value, bound.high))
    return Condition(field=field, op=bound.op, low=low, high=high, words=words)


def compare_quantity(context: Context, quantity: str, bound: Bound, words: str) -> Condition | None:
    if quantity not in COMPARED or (quantity == "par" and context.groups_are_sets):
        return None
    return compare(COMPARED[quantity], bound, words)


def compare_alone(context: Context, bound: Bound, words: str) -> Condition | None:
    field = "spread" if bound.is_margin else {"bps": "spread", "amount": "par"}.get(bound.unit, "")
    if not field or (field == "par" and context.groups_are_sets):
        return None
    return compare(field, bound, words)


def compare_either(
    context: Context, quantity: str, bound: Bound, op: str, number: Token, words: str
) -> Condition | None:
    """Below 80 or above 100."""
    last = Bound(">" if op[0] == ">" else "<", number.value, number.unit or bound.unit)
    ends = [compare_quantity(context, quantity, end, words) for end in (bound, last)]
    if None in ends or number.days is not None or last.op[0] == bound.op[0]:
        return None
    return Condition(any_of=tuple(end for end in ends if end is not None), words=words)


def compare_both(context: Context, quantity: str, bound: Bound, last: Bound, words: str) -> Any:
    """Over 400 and under 500."""
    ends = tuple(compare_quantity(context, quantity, end, words) for end in (bound, last))
    return None if None in ends else ends


def compare_fields(field: str, op: str, than: str, words: str) -> Condition | None:
    """Marked below what we paid, a spread below the average one."""
    if field == "was" or {field, than} not in ({"price", "purchase_price"}, {"spread", "was"}):
        return None
    return Condition(field=field, op=op, than=than, words=words)  # type: ignore[arg-type]


def price_of_loan(context: Context, bound: Bound, words: str, span: tuple[int, int]) -> Condition | None:
    """A loan under 80; a facility larger than 500 million."""
    if bound.unit == "amount":
        is_facility = context.lexemes[span[0]].tokens[-1].text == "facility"
        return compare("facility_size", bound, words) if is_facility else None
    first, last = LOAN_PRICES
    is_price = not bound.unit and all(first <= value <= last for value in (bound.value, bound.high or first))
    return compare("price", bound, words) if is_price else None


def equals(context: Context, quantity: str, number: Token | None, numeral: int | None, words: str) -> Condition | None:
    """A floor of 0.75 %, two quotes."""
    bound = bound_of("=", number, numeral)
    return None if bound is None else compare_quantity(context, quantity, bound, words)


def price_crossed(comparison: str, number: Token, words: str) -> Condition | None:
    """Return the condition of a price that fell below a number, or rose above it."""
    is_price = not number.unit and LOAN_PRICES[0] <= number.value <= LOAN_PRICES[1]
    return compare("price", Bound(comparison, number.value, ""), words) if is_price else None  # type: ignore[arg-type]


def years_to_maturity(bound: Bound, words: str) -> Condition | None:
    return compare("years", bound, words) if bound.unit in ("years", "months") else None


def in_largest(context: Context, ranking: Any, group: str, words: str, span: tuple[int, int]) -> Condition | None:
    """Return the loans of the largest industry, or of some of them."""
    if ranking.by not in (None, "par") or ranking.order not in ("most", "least"):
        return None
    if context.lexemes[span[1] - 1].is_plural != (ranking.limit is not None):
        return None
    first, last = (1, ranking.limit) if ranking.limit else (ranking.place or 1,) * 2
    sign = 1.0 if ranking.order == "most" else -1.0
    return Condition(field=group, op="top", low=sign * first, high=sign * last, words=words)


def require(quantity: str, bound: Bound) -> Having:
    return Having(quantity=quantity, op=bound.op, value=bound.value, high=bound.high, unit=bound.unit)


def having_of(context: Context, quantity: str, bound: Bound) -> Having | None:
    """Return what groups must be."""
    if quantity in ("share", "count"):
        return require(quantity, bound)
    if quantity == "par" and bound.unit == "percent":
        return require("share", bound)
    if not context.groups_are_sets or (quantity == "par") != (bound.unit == "amount"):
        return None
    if quantity == "par":
        return require(quantity, bound)
    is_known = QUANTITIES[quantity].is_average and bound.unit in _UNITS_OF.get(QUANTITIES[quantity].unit, ("",))
    return require(quantity, bound) if is_known else None


def require_figure(test: str, bound: Bound) -> tuple[str, Having] | None:
    """Return a test and what its figure must be, where the number can be of its unit."""
    unit = TESTS[test].unit if test in TESTS else "percent"
    return (test, require("test", bound)) if bound.unit in _UNITS_OF.get(unit, ("",)) else None


def having_alone(context: Context, bound: Bound) -> Having | None:
    if bound.unit == "percent":
        return require("share", bound)
    return require("par", bound) if bound.unit == "amount" and context.groups_are_sets else None


def change_by(change: str | None, bound: Bound) -> Any:
    if bound.unit in ("amount", "years", "months", "days") or (change is None and bound.unit != "points"):
        return None
    return change, require("change", bound)


# ---- days ----


def days_of(days: tuple[float, float], words: str) -> Days:
    return Days(*days, is_end=days[0] == days[1] and "end" in words.lower())


def calendar_year(context: Context, calendar: str) -> Days | None:
    if context.as_of is None:
        return None
    year = date.fromordinal(EPOCH_ORDINAL + int(context.as_of)).year + (calendar == "next_year")
    first, last = (float(date(year, *day).toordinal() - EPOCH_ORDINAL) for day in ((1, 1), (12, 31)))
    return Days(context.as_of if calendar == "this_year" else first, last)


def day_of_deal(context: Context, fact: str) -> Days | None:
    """Return a day of the deal, where all portfolios that are asked have the same."""
    days = {getattr(subject.measured.deal, fact) for subject in context.subjects} if fact in DATED else set()
    day = days.pop() if len(days) == 1 else None
    return None if day is None else Days(day, day)


def consecutive_days(day: Days, last: Days) -> Days | None:
    """Return two years, or two months, of which the second follows the first."""
    follows = day.high is not None and last.low == day.high + 1
    return Days(day.low, last.high) if follows else None


def limit_days(op: str, day: Days) -> Days:
    """Return the days before, after, until or within some days."""
    assert day.low is not None
    assert day.high is not None
    ends = {
        "before": (None, day.low - (not day.is_end)),
        "<": (None, day.low - 1),
        "after": (day.high + 1, None),
        ">": (day.high + 1, None),
        "by": (None, day.high),
        "<=": (None, day.high),
        "from": (day.low, None),
        ">=": (day.low, None),
    }
    return Days(*ends.get(op, (day.low, day.high)))


def year_or_so(number: Token, or_so: str) -> Days | None:
    return None if number.days is None else limit_days(or_so, Days(*number.days))


def within(context: Context, number: Token) -> Days | None:
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


def matures(span: Days, words: str) -> Condition:
    """Make a condition of the days between which a loan matures."""
    return Condition(field="maturity", op="between", low=span.low, high=span.high, words=words)


# ---- together ----


def join(where: Condition, last: Condition, way: str) -> Condition | None:
    """Return two conditions as alternatives; None where both must hold."""
    words = f"{where.words} {way} {last.words}"
    parts = [*(where.any_of or (where,)), *(last.any_of or (last,))]
    if where.field == "not" or last.field == "not":
        return None
    fields = {part.field for part in parts}
    if way == "and" and fields == {"rating"} and _names_agency(where) and _names_agency(last):
        return None  # rated B3 by Moody's and B- by S&P
    if any(part.op in ("not in", "is not") for part in parts):
        if len(fields) > 1 or any(part.op != "not in" for part in parts[:-1]) or parts[-1].op not in ("not in", "in"):
            return None
        values = tuple(value for part in parts for value in part.values)
        return Condition(field=where.field, op="not in", values=values, words=words)  # not in A or B
    alike = len(fields) == 1 and fields <= _ALIKE
    if fields == {"flag"}:
        alike = any({part.values[0] for part in parts} <= family for family in FLAG_FAMILIES)
    buckets = [part for part in parts if part.field == "flag"]
    if fields == {"rating", "flag"}:  # B3 and CCC loans: none is both
        alike = all(part.values[0] in ("ccc", "unrated") and part.agency is None for part in buckets)
    if way != "or" and not alike and not fields <= _NAMES:
        return None
    return Condition(any_of=tuple(parts), words=words)


def _names_agency(condition: Condition) -> bool:
    return any(name in condition.words.lower() for name in ("moody", "s&p", "sp", "fitch"))


def join_marked(context: Context, where: Condition, last: Condition, span: tuple[int, int]) -> Condition | None:
    """Return two conditions with a comma or a stroke between them as alternatives."""
    marks = "".join(lexeme.before for lexeme in context.lexemes[span[0] + 1 : span[1]])
    if "/" in marks:
        return join(where, last, "or")
    return join(where, last, "and") if "," in marks else None
