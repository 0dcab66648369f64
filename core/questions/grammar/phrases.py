"""The rows of the grammar.

Which phrases make conditions, rankings, groups, periods, tests and trades.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from core.portfolio.model.ratings import CCC
from core.questions.grammar import conditions as of
from core.questions.grammar.chart import GrammarRow, compile_rules
from core.questions.grammar.conditions import PRICE_LIKE_MAX, Days, Rated
from core.questions.tokens import Token, names
from core.questions.vocabulary import QUANTITIES, RATING_AGENCIES

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

RATING_NAMES: Final = {agency: name for name, agency in RATING_AGENCIES.items()}
GROUPS_OF_LOANS: Final = frozenset(
    names("loan obligor industry country rating rating_a rating_b rating_c lien year currency index coupon_type")
)
GROUP_OF: Final = {
    "maturity": "year", "rating": "rating", "moodys_rating": "rating_a", "sp_rating": "rating_b",
    "fitch_rating": "rating_c", "lien": "lien", "index": "index",
}  # fmt: skip
_NOUNS_OF_PER: Final = frozenset(
    (
        *names("split breakdown distribution composition mix profile stratification stratify"),
        "broken down",
        "break down",
    )
)
"""Words for a breakdown that may stand behind what it is by: the industry mix."""

_OF_ALL: Final = frozenset(("across", "distribution of", "breakdown of", "composition", "mix", "breakdown"))
SOFT_IFS: Final = frozenset(
    (
        "what does", "what would", "how would", "would", "what happens to", "what would happen to", "happen to",
        "what happens", "where does", "where would", "if", "what would happen", "in case",
    )
)  # fmt: skip
"""What may say that something is supposed, and may as well say nothing."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A superlative with its number and what it is by."""

    order: str
    """most, least, worst or best."""
    by: str | None
    limit: int | None = None
    place: int | None = None


def count_of(number: Token | None, numeral: int | None = None) -> int | None:
    """Return the number of a ranking, None where it is no such number."""
    if number is None:
        return numeral
    is_count = not number.unit and number.value.is_integer() and 1 <= number.value <= 500
    return int(number.value) if is_count else None


def _count(ranking: Ranking, number: Token | None, numeral: int | None) -> Ranking | None:
    count = count_of(number, numeral)
    return None if count is None or ranking.limit or ranking.place else replace(ranking, limit=count)


def _rank_by(ranking: Ranking, quantity: str) -> Ranking | None:
    return None if ranking.by is not None or quantity == "count" else replace(ranking, by=quantity)


def _rank_by_agency(ranking: Ranking, by: str | None, agency: str | None) -> Ranking | None:
    """The lowest rating by S&P."""
    name = RATING_NAMES[agency or (by or "")[-1]]
    return replace(ranking, by=name) if ranking.by == "rank" else None


def _rank_twice(ranking: Ranking, last: Ranking) -> Ranking | None:
    """The top 5 largest; the largest is the main word."""
    if ranking.by is not None or ranking.place or last.limit or last.place or ranking.order != "most":
        return None
    return replace(last, limit=ranking.limit)


def _group_of(name: str) -> str | None:
    return name if name in GROUPS_OF_LOANS else GROUP_OF.get(name)


def _by(group: str | None, quantity: str | None, text: str) -> str | None:
    name = _group_of(group or quantity or "")
    return None if name == "loan" and text in _OF_ALL else name


def _by_agency(context: of.Context, by: str, span: tuple[int, int]) -> str | None:
    """Return what a breakdown is by; B- by S&P is none."""
    return None if span[0] and context.lexemes[span[0] - 1].get("letter") else by


def _by_behind(group: str | None, quantity: str | None, last_text: str) -> str | None:
    return _group_of(group or quantity or "") if last_text in _NOUNS_OF_PER else None


def _idle_per(group: str | None, text: str) -> str | None:
    """Across all loans, in each deal; a second word for a breakdown."""
    is_noun = text in _NOUNS_OF_PER or (text.endswith(" of") and text != "of each")
    is_idle = {None: is_noun, "loan": text in _OF_ALL, "deal": True}.get(group, False)
    return "per" if is_idle else None


def _since(moment: str, last: str | None) -> str | None:
    return "change" if moment == "previous" and last in (None, "now") else None


def _largest(ranking: Ranking, group: str) -> str | None:
    if ranking.order != "most" or ranking.by not in (None, "par"):
        return None
    return _LARGEST.get((group, ranking.place or 1, ranking.limit or 1))


def _price_at(number: Token) -> float | None:
    is_price = number.unit in ("", "points", "percent") and number.days is None and 1 <= number.value <= PRICE_LIKE_MAX
    return number.value if is_price else None


def _pays(number: Token) -> float | None:
    is_spread = number.unit in ("bps", "percent", "") and number.days is None
    return of.convert("spread", number.value, number.unit) if is_spread else None


def _becomes(action: str | None, rated: Rated | None, agency: str | None, text: str, raw: str) -> Any:
    """Return (what is done, if a verb says it, the rank that ratings become."""
    is_to = text.endswith(" to") or raw.lower().endswith(" to") or "become" in text
    if action is not None and not is_to:
        return None
    if rated is None:
        return action or "", CCC, agency
    return (action or "", int(rated.low), agency) if rated.low == rated.high else None


def _buying(text: str) -> str | None:
    return {"for": "buy", "buy": "buy", "add": "buy", "purchase": "buy", "sell": "sell"}.get(text.split()[-1])


def _group_in(*groups: str) -> Callable[[str], str | None]:
    return lambda group: group if group in groups else None


def _word(*texts: str) -> Callable[[str], str | None]:
    """Pass a phrase over that is one of these."""
    return lambda text: "word" if text in texts else None


ALIASES: Final = {
    "@rating": "quantity:rating|moodys_rating|sp_rating|fitch_rating",
    "@rates": "comparison:>|>=|<|<=",
    "@op": "comparison:>|>=|<|<=|=|!=",
    "@or_so": "or_so:>=|<=",
    "@when": "comparison:before|after|by|from|in|within|>|<|>=|<=",
    "@bucket": "flag:ccc|unrated|investment_grade",
    "@largest": "group:industry|obligor|country",
}

ROWS: Final[tuple[GrammarRow, ...]] = (
    # ratings
    ("rated", "letter", of.rate, 1.0),
    ("rated", "letter or_so", of.rate_or_so, 1.0),
    ("rated", "@rates letter", of.rate_beside, 1.0),
    ("rated", "comparison:between letter and last=letter; letter 'to' last=letter", of.rate_between, 1.0),
    ("rated", "comparison:<|<= flag:ccc", of.rate_below_ccc, 1.0),
    ("rating_range", "agency? @rating? rated after=agency?; rated @rating after=agency?", of.rated_by, 1.0),
    ("rating_range", "agency rater rated; rater rated agency", lambda rated, agency: rated.by(agency), 1.0),
    ("rating_range", "rater rated", None, 1.0),
    ("simple", "rating_range", lambda rating_range, words: of.rating_condition(rating_range, words), 1.0),
    ("simple", "quantity:moodys_rating|sp_rating|fitch_rating", of.known_rating, 1.6),
    ("simple", "agency rater comparison:<|> than? last=agency", of.beside_agency, 1.0),
    ("simple", "quantity:rating change:down|up agency than last=agency", of.beside_agency, 1.0),
    # flags and names
    ("simple", "flag", of.flag_condition, 1.0),
    ("simple", "@rating? agency? @bucket after=agency?", of.flag_by, 1.0),
    ("simple", "name", of.name_condition, 1.0),
    ("test", "name", of.test_name, 1.0),
    ("subject", "name", lambda name: name.values if name.field == "subject" else None, 1.0),
    ("simple", "without agency? quantity after=agency?; without group:industry|country|lien|currency",
        of.blank_condition, 1.0),
    ("simple", "not simple", of.negate, 1.0),
    ("simple", "without simple", of.deny, 1.0),
    # comparisons
    ("bound", "op=@op number; op=@op numeral; number op=@or_so; numeral op=@or_so", of.bound_of, 1.0),
    ("bound", "comparison:after number", lambda number:
        of.bound_of(">", number, None) if number.unit == "days" else None,
        1.0),
    ("bound", "comparison:between number and last=number; number 'to' last=number", of.bound_between, 1.0),
    ("simple", "quantity bound; bound quantity; quantity comparison:from bound", of.compare_quantity, 1.0),
    ("both", "quantity bound and last=bound", of.compare_both, 1.0),
    ("simple", "bound flag:past_due", lambda bound, words: of.compare("days_past_due", bound, words), 1.0),
    ("simple", "bound", of.compare_alone, 1.2),
    ("simple", "group:loan|obligor bound", of.price_of_loan, 1.3),
    ("simple", "quantity:maturity bound", of.years_to_maturity, 1.0),
    ("simple", "quantity bound op=@or_so number; quantity bound or op=@rates number", of.compare_either, 1.0),
    ("simple", "quantity 'of' number", of.equals, 1.3),
    ("simple", "number quantity:quote_depth; numeral quantity:quote_depth", of.equals, 1.0),
    ("fell_below", "change:down comparison:<|<= number; change:up comparison:>|>= number", of.price_crossed, 1.0),
    ("simple", "field=quantity op=@rates than=quantity", of.compare_fields, 1.0),
    ("simple", "move:added op=@rates quantity:price", lambda op, words:
        of.compare_fields("purchase_price", op, "price", words), 1.0),
    ("simple", "'in' ranking @largest; 'in_our' ranking @largest", of.in_largest, 1.2),
    ("having", "quantity bound", of.having_of, 1.0),
    ("having", "bound quantity", lambda context, quantity, bound:
        None if quantity == "count" else of.having_of(context, quantity, bound), 1.0),
    ("having", "aggregate quantity bound", lambda context, quantity, bound:
        None if quantity == "par" else of.having_of(context, quantity, bound), 1.0),
    ("having", "bound", of.having_alone, 1.2),
    ("having", "bound group:loan", lambda bound: None if bound.unit else of.require("count", bound), 1.0),
    ("cushion_bound", "aspect:cushion bound; bound aspect:cushion", lambda bound:
        of.require("cushion", bound) if bound.unit in ("", "percent", "points", "years", "bps") else None, 1.0),
    ("figure_bound", "test=figure bound; test bound", of.require_figure, 1.0),
    ("change_by", "change? bound", of.change_by, 1.0),
    ("change_by", "per bound", lambda bound, text: of.change_by("change", bound) if text == "by" else None, 1.0),
    # days
    ("day", "days", of.days_of, 1.0),
    ("day", "number", lambda number: None if number.days is None else Days(*number.days), 1.0),
    ("day", "calendar", of.calendar_year, 1.0),
    ("day", "fact", of.day_of_deal, 1.0),
    ("span", "day", None, 1.2),
    ("span", "op=@when day", of.limit_days, 1.0),
    ("span", "per day", lambda day, text: of.limit_days("by", day) if text == "by" else None, 1.0),
    ("span", "day and last=day; comparison:in day and last=day", of.consecutive_days, 1.0),
    ("span", "number @or_so", of.year_or_so, 1.0),
    ("span", "comparison:between day and last=day", lambda day, last: Days(day.low, last.high), 1.0),
    ("span", "comparison:within number", of.within, 1.0),
    ("simple", "quantity:maturity dates=span", lambda dates, words: of.matures(dates, words), 1.0),
    ("simple", "dates=span quantity:maturity", lambda dates, words: of.matures(dates, words), 1.1),
    ("simple", "quantity:maturity comparison:after|> fact:stated_maturity",
        lambda words: of.flag_condition("long_dated", words), 0.9),
    ("moment", "month", lambda context, month: context.month_of(lambda day: day.month == month), 1.0),
    ("moment", "days", lambda context, days: context.month_of(
        lambda day: days[0] <= day.toordinal() - of.EPOCH_ORDINAL <= days[1]), 1.0),
    ("period", "moment; fact:as_of moment", None, 1.0),
    ("period", "comparison:from|after moment 'to'? last=moment?", _since, 1.0),
    ("period", "compare moment; compare period:previous; than moment; than 'in' moment; than period:previous",
        lambda: "change", 1.0),
    # together
    ("where", "simple", None, 1.0),
    ("where", "where group:loan? or last=simple", lambda where, last: of.join(where, last, "or"), 1.0),
    ("where", "where group:loan? and last=simple", lambda where, last: of.join(where, last, "and"), 1.0),
    ("where", "where last=simple", of.join_marked, 1.0),
    # rankings
    ("ranking", "superlative", lambda superlative: Ranking(superlative[0], superlative[1] or None), 1.0),
    ("ranking", "number ranking; numeral ranking; ranking number; ranking numeral", _count, 1.0),
    ("ranking", "ordinal ranking", lambda ordinal, ranking:
        None if ranking.limit or ranking.place else replace(ranking, place=ordinal), 1.0),
    ("ranking", "ranking aggregate? quantity", _rank_by, 1.0),
    ("ranking", "ranking by:rating_a|rating_b|rating_c; ranking agency", _rank_by_agency, 0.9),
    ("ranking", "ranking aspect:cushion", lambda ranking: _rank_by(ranking, "cushion"), 1.0),
    ("ranking", "ranking last=ranking", _rank_twice, 1.0),
    ("ranked_count", "numeral; number", lambda number, numeral: count_of(number, numeral), 1.1),
    ("order_by", "per aggregate:average? quantity", lambda quantity, text: quantity if text == "by" else None, 1.0),
    # groups
    ("by_group", "by", _by_agency, 1.0),
    ("by_group", "per group; per quantity", _by, 1.0),
    ("by_group", "per agency @rating; per agency group:rating", lambda agency: f"rating_{agency}", 1.0),
    ("by_group", "group per; quantity per", _by_behind, 1.0),
    ("idle_per", "per group?", _idle_per, 1.0),
    ("idle_per", "per whole", lambda: "per", 1.0),
    # tests
    ("figure", "quantity", lambda quantity: QUANTITIES[quantity].test_id, 0.9),
    ("figure", "aggregate:average|total figure", None, 1.0),
    ("bucket", "flag", lambda flag: FLAG_TESTS.get(flag), 1.0),
    ("bucket", "flag and last=flag; flag or last=flag", lambda flag, last: FLAG_TESTS["not_senior"]
        if {flag, last} <= {"second_lien", "unsecured", "not_senior"} else None, 1.0),
    ("bucket", "group:industry|obligor", lambda group: GROUP_TESTS[group], 1.1),
    ("bucket", "ranking group:industry|obligor", _largest, 1.0),
    ("tests", "senior and test:oc_ratio|ic_ratio", lambda test: (f"{test}_senior", test), 1.0),
    ("state", "status", None, 1.0),
    ("state", "not status", lambda status: {"pass": "fail", "fail": "pass"}.get(status), 1.0),
    ("over", "@rates aspect:limit", lambda comparison: comparison, 1.0),
    ("face", "aspect", None, 1.0),
    ("face", "aspect:cushion comparison? last=aspect:limit", lambda: "cushion", 1.0),
    # trades and other suppositions
    ("size", "number", lambda number: number if number.days is None else None, 1.0),
    ("size", "per number", lambda number, text: number if number.days is None and text == "by" else None, 1.0),
    ("at_price", "'at' number; 'for' number; quantity:price number; 'at' quantity:price number", _price_at, 1.0),
    ("at_price", "'at' quantity:par", lambda: 100.0, 1.0),
    ("pays", "quantity:spread|was number", _pays, 1.0),
    ("pays", "number quantity:spread|was", lambda number:
        _pays(number) if number.unit or number.value > PRICE_LIKE_MAX else None, 1.0),
    ("pays", "quantity:coupon? number", lambda number: number.value if number.unit == "bps" else None, 0.9),
    ("pays_rate", "quantity:coupon number; number quantity:coupon",
        lambda number: number.value if number.unit == "percent" else None, 1.0),
    ("to_rating", "'to' rated agency?; 'to' flag:ccc; action:downgrade|upgrade rated agency?; "
        "action:downgrade|upgrade flag:ccc", _becomes, 1.0),
    ("bought_for", "'for' number; 'pro_forma_for' number; 'what_does' number; 'what_would' number",
        lambda number: number if number.unit == "amount" else None, 0.9),
    ("action", "room", _buying, 1.1),
    # words that a query has no field for
    *((f"group_{name}", "group", _group_in(name), 0.5) for name in ("loan", "obligor", "deal", "class", "test")),
    ("these", "numeral group:deal", lambda context, numeral:
        numeral if numeral == len(context.subjects) else None, 0.5),
    ("soft_if", "if", _word(*SOFT_IFS), 0.5),
    ("level", "aspect:level",
        _word("level", "value", "current level", "current value", "figure", "ratio", "stand"), 0.5),
    ("limit", "aspect:limit; beside", None, 1.0),
    ("each", "per", _word("each", "every", "for each", "for every", "of each"), 0.5),
    ("from", "comparison", _word("from", "below", "under", "above", "over"), 0.6),
    ("before", "comparison", _word("before", "until"), 0.5),
    ("span_word", "comparison", _word("until", "by", "in"), 0.5),
    ("after_word", "comparison:after", _word("after"), 0.3),
    ("per_change", "per", _word("by"), 0.5),
    ("biggest", "superlative", _word("main", "largest", "biggest", "major", "most"), 0.5),
    ("aggregate_total", "aggregate:total", None, 0.6),
)  # fmt: skip
"""(kind, patterns, what makes its value, its cost)."""

RULES: Final = compile_rules(ROWS, ALIASES)
