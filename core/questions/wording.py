"""Queries and figures in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, Final

from core.compliance.home import FOREIGN, OUTSIDE
from core.compliance.suites import TESTS
from core.insights.words import UNIT_SUFFIXES, listed, plain
from core.portfolio.model.ratings import SCALE_A, SCALE_B
from core.questions.answer import Unit
from core.questions.query import Action, Condition, Having, Query
from core.questions.vocabulary import QUANTITIES, labels_of
from core.report.figures import day, figure, with_sign
from core.values import day_of
from core.words import counted, plural

RANK_LOWEST: Final = 21
"""The lowest rating; a loan of the rank behind it is in default."""

DECIMALS: Final[dict[str, int]] = {"count": 0, "days": 0, "factor": 0, "bps": 0, "amount": 0}


def shown(value: Any, unit: Unit, *, currency: str | None = None, sign: bool = False) -> str:
    """Return a figure with its unit; "not known" for none."""
    if value is None:
        return "not known"
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, date):
        return day(value)
    decimals = DECIMALS.get(unit, 2)
    if decimals == 0 and unit in ("bps", "factor") and abs(value - round(value)) > 1e-9:
        decimals = 2
    text = (with_sign if sign else figure)(float(value), decimals)
    if unit == "amount":
        return f"{plain(currency, 10)} {text}" if currency else text
    return text + UNIT_SUFFIXES.get(unit, "")


NOUNS: Final = labels_of("group")
FLAG_WORDS: Final = labels_of("flag")
MOVES: Final = labels_of("move")
FIELD_WORDS: Final = {name: quantity.name for name, quantity in QUANTITIES.items()} | {
    "spread": "contractual spread",
    "recovery": "recovery rate",
    "count": "number of loans",
    "years": "years to maturity",
    "obligor": "obligor",
    "facility": "facility",
    "cushion": "cushion",
    "change": "change",
}
"""A field of a loan, or what a group or a test must be, in words."""

FIELD_UNITS: Final[dict[str, Unit]] = {name: quantity.unit for name, quantity in QUANTITIES.items()} | {
    "years": "years"
}
_AGENCIES: Final = {"a": " by Moody's", "b": " by S&P", "c": " by Fitch"}
_OPERATORS: Final = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "of", "!=": "other than"}


def symbol(rank: float, agency: str | None) -> str:
    """Return a rank as an agency writes it."""
    scale = SCALE_A if agency in (None, "a") else SCALE_B
    at = int(rank) - 1
    return scale[at] if 0 <= at < len(scale) else "D"


def _top_words(condition: Condition) -> str:
    low, high = int(condition.low or 1), int(condition.high or 1)
    way, first, last = "largest" if low > 0 else "smallest", abs(low), abs(high)
    noun = NOUNS[condition.field]
    if first < last:
        return f"in the {last} {way} {plural(noun)}"
    return f"in the {f'{first}. ' if first > 1 else ''}{way} {noun}"


def _flag_words(condition: Condition) -> str:
    agency = _AGENCIES.get(condition.agency or "", "")
    words = FLAG_WORDS[condition.values[0]]
    if agency:
        words = (
            f"rated Caa1/CCC+ or lower{agency}, or by none" if condition.values[0] == "ccc" else f"not rated{agency}"
        )
    return f"not {words}" if condition.op == "is not" else words


def _rating_words(condition: Condition) -> str:
    low, high = (symbol(rank or 0.0, condition.agency) for rank in (condition.low, condition.high))
    agency = _AGENCIES.get(condition.agency or "", "")
    if condition.low == condition.high:
        return f"rated {low}{agency}"
    if (condition.high or 0) >= RANK_LOWEST:
        return f"rated {low} or lower{agency}"
    return f"rated {high} or better{agency}" if (condition.low or 0) <= 1 else f"rated {low} to {high}{agency}"


def _maturity_words(condition: Condition) -> str:
    first, last = (None if end is None else day(day_of(end)) for end in (condition.low, condition.high))
    if first is None:
        return f"maturing on or before {last}"
    return f"maturing on or after {first}" if last is None else f"maturing from {first} to {last}"


def _than_words(condition: Condition) -> str:
    agency = _AGENCIES.get(condition.agency or "", "")
    than = _AGENCIES.get(condition.than, f" its {FIELD_WORDS.get(condition.than, condition.than)}")
    way = {"<": "lower", "<=": "not higher", ">": "higher", ">=": "not lower"}[condition.op]
    field = "rated" if condition.field == "rating" else FIELD_WORDS.get(condition.field, condition.field)
    return f"{field} {way}{agency} than{than}"


def condition_words(condition: Condition) -> str:
    """Return what a loan must be."""
    field = FIELD_WORDS.get(condition.field, condition.field)
    if condition.field == "not":
        return f"not ({condition_words(condition.any_of[0])})"
    if condition.any_of:
        return " or ".join(condition_words(part) for part in condition.any_of)
    if condition.field == "flag":
        return _flag_words(condition)
    if condition.op in _NAMED:
        values = " or ".join(plain(value) for value in condition.values)
        agency = _AGENCIES.get(condition.agency or "", "")
        return _NAMED[condition.op].format(field=field, values=values, agency=agency)
    special = _top_words if condition.op == "top" else _than_words if condition.than else _SPECIAL.get(condition.field)
    return special(condition) if special is not None else _comparison_words(condition, field)


def _comparison_words(condition: Condition, field: str) -> str:
    unit = FIELD_UNITS.get(condition.field, "count")
    low, high = shown(condition.low, unit), shown(condition.high, unit)
    if condition.op == "between":
        return f"{field} from {low} to {high}, both included"
    return f"{field} {_OPERATORS.get(condition.op, condition.op)} {low}"


_SPECIAL: Final[dict[str, Callable[[Condition], str]]] = {"rating": _rating_words, "maturity": _maturity_words}
_NAMED: Final = {
    "blank": "without {field}{agency}",
    "known": "with {field}{agency}",
    "in": "{field} {values}",
    "not in": "{field} not {values}",
}


def conditions_words(where: Sequence[Condition]) -> str:
    return " and ".join(condition_words(condition) for condition in where)


def having_words(having: Having) -> str:
    """Return what a group, or a test, must be."""
    quantity, op = having.quantity, _OPERATORS.get(having.op, having.op)
    if quantity in ("test", "cushion"):
        return f"{'cushion ' if quantity == 'cushion' else ''}{op} {having.value:,g}"
    unit = FIELD_UNITS.get(quantity, "points")
    word, value = FIELD_WORDS.get(quantity, quantity), shown(having.value, unit)
    if having.op == "between":
        return f"{word} from {value} to {shown(having.high, unit)}"
    return f"{word} {op} {value}"


def test_word(test_id: str) -> str:
    """Return a test's name for a reader, of whichever deal."""
    if test_id.startswith("name:"):
        return plain(test_id[5:])
    if test_id == FOREIGN:
        return OUTSIDE[0]
    return TESTS[test_id].name if test_id in TESTS else test_id


# ---- suppositions ----


def _loans_words(action: Action) -> str:
    loans = conditions_words(action.where) or "all loans"
    if action.order is not None:
        which = {"most": "largest", "least": "smallest"}[action.order]
        by = "" if action.order_by == "par" else f" by {FIELD_WORDS.get(action.order_by, action.order_by)}"
        count = f"{action.limit} " if action.limit else f"{action.place}. " if action.place and action.place > 1 else ""
        among = f" of the loans {conditions_words(action.where)}" if action.where else ""
        loans = f"the {count}{which} {plural(action.group) if action.limit else action.group}{by}{among}"
    elif action.where:
        loans = f"the loans with {loans}"
    return loans if action.part is None else f"{action.part:.0%} of {loans}"


def _trade_words(action: Action) -> str:
    price = "" if action.price is None else f" at {action.price:g} % of par"
    par = "" if action.par is None else f"{action.par:,.0f} par of "
    if action.kind == "sell":
        return f"selling {par}{_loans_words(action)}{price or ' at their prices (100 where a loan has none)'}"
    if action.kind == "repay":
        return f"repayment at par of {par}{_loans_words(action)}"
    terms = [conditions_words(action.where)] if action.where else []
    terms += [f"spread {action.spread:g} bps"] if action.spread is not None else []
    terms += [f"all-in rate {action.coupon:g} %"] if action.coupon is not None else []
    return f"buying {par[:-4]}{price or ' at 100 % of par'} of a loan with {', '.join(terms) or 'nothing else said'}"


def _price_words(action: Action) -> str:
    loans = _loans_words(action)
    if action.price is not None:
        return f"prices of {loans} at {action.price:g} % of par"
    if action.points is None and action.percent is None:
        return f"falling prices of {loans}"
    by = f"{action.points:+g} points" if action.points is not None else f"{action.percent:+g} %"
    return f"prices of {loans} moved by {by}"


def action_words(action: Action) -> str:
    """Return what is supposed."""
    if action.kind in ("sell", "repay", "buy"):
        return _trade_words(action)
    if action.kind == "price":
        return _price_words(action)
    if action.kind == "default":
        return f"default of {_loans_words(action)}"
    to = f" by {counted(action.notches or 1, 'notch')}"
    if action.rank is not None:
        to = f" to {symbol(action.rank, 'a')}/{symbol(action.rank, 'b')}"
    who = _AGENCIES[action.agency] if action.agency is not None else ", by every agency that rates them"
    return f"{action.kind} of {_loans_words(action)}{to}{who}"


# ---- queries ----

_HOW: Final = {"average": "average ", "simple": "unweighted average ", "median": "median ", "total": "total "}
_PERIODS: Final = {"now": "", "previous": ", in the month before", "change": ", against the month before"}
_DATA: Final = {
    "missing": "what the data lack",
    "warnings": "what was assumed or could not be read",
    "breaks": "differences from the trustee",
}
_ASPECTS: Final = {
    "cushion": "cushion of ", "limit": "limit of ", "status": "status of ", "difference": "difference between ",
    "first": "the first to fail of ",
}  # fmt: skip
_STATUSES: Final = {
    "pass": ", passing", "fail": ", failing", "warning": ", in their warning band", "skipped": ", skipped",
}  # fmt: skip
_DIRECTIONS: Final = {"better": ", improved", "worse": ", worsened", "up": ", risen", "down": ", fallen"}
_MOVED: Final = {"down": ", lower", "up": ", higher", "worse": ", lower", "better": ", higher"}


def _of_tests(query: Query) -> str:
    if query.tests:
        return listed([test_word(test_id) for test_id in query.tests])
    if query.category is None:
        return "all tests"
    kind = query.category.upper() if query.category in ("oc", "ic") else query.category
    return f"{kind} tests"


def _havings(query: Query) -> str:
    return "".join(f", {having_words(having)}" for having in query.having)


def _room_words(query: Query) -> str:
    where = conditions_words(query.where)
    if query.having:
        return f"how much more there may be of loans {where} up to {query.having[0].value:g} %"
    return f"how much more {test_word(query.tests[0])} bears" + (f", for {where}" if where else "")


def _why_words(query: Query) -> str:
    if query.period == "now":
        return f"what makes {_of_tests(query)} what it is"
    return f"what moved {_of_tests(query)} since the month before"


def _what_if_words(query: Query) -> str:
    what = (
        "principal cash" if query.fact and not query.tests else _ASPECTS.get(query.aspect or "", "") + _of_tests(query)
    )
    return f"{what} after {listed([action_words(action) for action in query.actions])}"


def _notes_words(query: Query) -> str:
    classes = "all classes of notes" if query.classes == ("*",) else f"class {' and '.join(query.classes)}"
    names = ["balance" if name == "par" else QUANTITIES[name].name for name in query.quantities]
    return f"{listed(names)} of {classes}"


def _deals_words(query: Query) -> str:
    what = _of_tests(query) if query.tests else listed([QUANTITIES[name].name for name in query.quantities])
    return f"the portfolio with the {'highest' if query.order == 'most' else 'lowest'} {what}"


def _tests_words(query: Query) -> str:
    tests = _of_tests(query)
    classes = f" of class {' and '.join(query.classes)}" if query.classes else ""
    classes = " for each class" if query.classes == ("*",) else classes
    order = ""
    if query.order is not None:
        order = f", {'the thinnest' if query.order == 'least' else 'the widest'} cushion first"
        order += f", {query.limit}" if query.limit else ""
    unit = f", in {query.unit}" if query.unit else ""
    aspect, status = _ASPECTS.get(query.aspect or "", ""), _STATUSES.get(query.status or "", "")
    moved = _DIRECTIONS.get(query.direction or "", "")
    return f"{aspect}{tests}{classes}{status}{order}{unit}{_havings(query)}{_PERIODS[query.period]}{moved}"


def _moves_words(query: Query) -> str:
    where = f", {conditions_words(query.where)}" if query.where else ""
    ratings = "".join(f", {QUANTITIES[name].name}" for name in query.quantities if name.endswith("_rating"))
    moved = _MOVED.get(query.direction or "", "")
    return f"{plural(query.group or 'loan')} {MOVES[query.move or 'added']}{where}{moved}{_havings(query)}{ratings}"


def _ranked_words(query: Query, what: str) -> str:
    noun = NOUNS[query.group or "loan"]
    by = FIELD_WORDS.get(query.order_by or "par", query.order_by or "par")
    which = f"with the {query.order} {by}"
    if query.period == "change":
        first = query.quantities[0] if query.quantities else "share"
        way = "fell" if query.direction == "down" else "rose"
        which = f"whose {FIELD_WORDS.get(first, first)} {way} {query.order}"
    count = f"{query.limit} " if query.limit else f"{query.place}. " if query.place and query.place > 1 else ""
    return f"{what} of the {count}{plural(noun) if query.limit else noun} {which}"


def _measure_words(query: Query) -> str:
    where = f", loans {conditions_words(query.where)}" if query.where else ""
    if query.aspect == "place":
        return f"place of {conditions_words(query.where)} by par"
    names = [f"number of {plural(NOUNS.get(query.group or 'loan', 'loan'))}"] if query.is_count else []
    names += [_HOW.get(query.aggregate or "", "") + QUANTITIES[name].name for name in query.quantities]
    what = listed(names) if names else "par and share"
    if query.each:
        what += " of each of: " + "; ".join(condition_words(part) for part in query.each)
    if query.group and not query.is_count:
        what = _ranked_words(query, what) if query.order is not None else f"{what} by {NOUNS[query.group]}"
    limit = ", and the limits" if query.aspect == "limit" else ""
    whole = f", of the loans {conditions_words(query.whole)}" if query.whole else ""
    return f"{what}{where}{whole}{_havings(query)}{limit}{_PERIODS[query.period]}"


_QUERIES: Final[dict[str, Callable[[Query], str]]] = {
    "measure": _measure_words,
    "tests": _tests_words,
    "what_if": _what_if_words,
    "room": _room_words,
    "moves": _moves_words,
    "why": _why_words,
    "notes": _notes_words,
    "deals": _deals_words,
    "overview": lambda query: "what changed since the month before",
    "history": lambda query: f"{_of_tests(query)} over the stored runs",
    "fact": lambda query: f"{(query.fact or '').replace('_', ' ')}{_PERIODS[query.period]}",
    "data": lambda query: _DATA[query.fact or ""],
}


def query_words(query: Query) -> str:
    """Return a query as it was understood."""
    return _QUERIES[query.kind](query)
