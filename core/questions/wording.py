"""Queries and figures in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from core.compliance.home import FOREIGN, OUTSIDE
from core.compliance.suites import TESTS
from core.insights.words import listed, plain
from core.portfolio.model.ratings import SCALE_A, SCALE_B
from core.questions.answer import Unit
from core.questions.query import Action, Condition, Having, Query
from core.questions.vocabulary import QUANTITIES, labels_of
from core.report.figures import day, figure, signed
from core.values import day_of
from core.words import counted, plural

DECIMALS: Final[dict[str, int]] = {"count": 0, "days": 0, "factor": 0, "bps": 0, "amount": 0}
SUFFIX: Final[dict[str, str]] = {
    "percent": " %",
    "points": " points",
    "price": " % of par",
    "years": " years",
    "bps": " bps",
    "days": " days",
}


def shown(value: Any, unit: Unit, *, currency: str | None = None, sign: bool = False) -> str:
    """A figure with its unit; "not known" for none."""
    if value is None:
        return "not known"
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, date):
        return day(value)
    decimals = DECIMALS.get(unit, 2)
    if decimals == 0 and unit in ("bps", "factor") and abs(value - round(value)) > 1e-9:
        decimals = 2
    text = (signed if sign else figure)(float(value), decimals)
    if unit == "amount":
        return f"{plain(currency, 10)} {text}" if currency else text
    return text + SUFFIX.get(unit, "")


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
_OPERATORS: Final = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "of"}


def symbol(rank: float, agency: str | None) -> str:
    """A rank as an agency writes it."""
    scale = SCALE_A if agency in (None, "a") else SCALE_B
    at = int(rank) - 1
    return scale[at] if 0 <= at < len(scale) else "D"


def condition_words(condition: Condition) -> str:
    """What a loan must be."""
    if condition.field == "not":
        return f"not ({condition_words(condition.any_of[0])})"
    if condition.any_of:
        return " or ".join(condition_words(one) for one in condition.any_of)
    agency = _AGENCIES.get(condition.agency or "", "")
    if condition.field == "flag":
        words = FLAG_WORDS[condition.values[0]]
        if condition.agency and condition.values[0] == "ccc":
            words = f"rated Caa1/CCC+ or lower{agency}, or by none"
        elif condition.agency:
            words = f"not rated{agency}"
        return f"not {words}" if condition.op == "is not" else words
    field = FIELD_WORDS.get(condition.field, condition.field)
    if condition.op == "top":
        return _top_words(condition)
    if condition.than:
        other = _AGENCIES.get(condition.than, f" its {FIELD_WORDS.get(condition.than, condition.than)}")
        way = {"<": "lower", ">": "higher"}[condition.op]
        return f"{'rated' if field == 'rating' else field} {way}{agency} than{other}"
    if condition.op in ("blank", "known"):
        return f"{'without' if condition.op == 'blank' else 'with'} {field}{agency}"
    if condition.op in ("in", "not in"):
        names = [plain(value) for value in condition.values]
        return f"{field} {'' if condition.op == 'in' else 'not '}{' or '.join(names)}"
    if condition.field == "rating":
        assert condition.low is not None
        assert condition.high is not None
        low, high = symbol(condition.low, condition.agency), symbol(condition.high, condition.agency)
        if condition.low == condition.high:
            return f"rated {low}{agency}"
        if condition.high >= 21:
            return f"rated {low} or lower{agency}"
        if condition.low <= 1:
            return f"rated {high} or better{agency}"
        return f"rated {low} to {high}{agency}"
    if condition.field == "maturity":
        ends = [None if one is None else day(day_of(one)) for one in (condition.low, condition.high)]
        if ends[0] is None:
            return f"maturing on or before {ends[1]}"
        return f"maturing on or after {ends[0]}" if ends[1] is None else f"maturing from {ends[0]} to {ends[1]}"
    unit = FIELD_UNITS.get(condition.field, "count")
    if condition.op == "between":
        return f"{field} from {shown(condition.low, unit)} to {shown(condition.high, unit)}, both included"
    return f"{field} {_OPERATORS.get(condition.op, condition.op)} {shown(condition.low, unit)}"


def _top_words(condition: Condition) -> str:
    assert condition.low is not None
    assert condition.high is not None
    way = "largest" if condition.low > 0 else "smallest"
    first, last = int(abs(condition.low)), int(abs(condition.high))
    noun = NOUNS[condition.field]
    if first < last:
        return f"in the {last} {way} {plural(noun)}"
    return f"in the {f'{first}. ' if first > 1 else ''}{way} {noun}"


def conditions_words(where: Sequence[Condition]) -> str:
    return " and ".join(condition_words(one) for one in where)


def having_words(having: Having) -> str:
    quantity = having.quantity
    unit: Unit = (
        "percent" if having.unit in ("percent", "") and quantity == "cushion" else FIELD_UNITS.get(quantity, "points")
    )
    if quantity == "test":
        return f"{_OPERATORS.get(having.op, having.op)} {having.value:,g}"
    if quantity == "cushion":
        return f"cushion {_OPERATORS.get(having.op, having.op)} {having.value:g}"
    if having.op == "between":
        return f"{FIELD_WORDS.get(quantity, quantity)} from {shown(having.value, unit)} to {shown(having.high, unit)}"
    return f"{FIELD_WORDS.get(quantity, quantity)} {_OPERATORS.get(having.op, having.op)} {shown(having.value, unit)}"


_HOW: Final = {"average": "average ", "simple": "unweighted average ", "median": "median ", "total": "total "}
_PERIODS: Final = {"now": "", "previous": ", in the month before", "change": ", against the month before"}


def test_word(test_id: str) -> str:
    """A test's name for a reader, of whichever deal: its home is not known here."""
    if test_id.startswith("name:"):
        return plain(test_id[5:])
    if test_id == FOREIGN:
        return OUTSIDE[0]
    return TESTS[test_id].name if test_id in TESTS else test_id


def action_words(action: Action) -> str:
    """What is supposed."""
    loans = conditions_words(action.where) or "all loans"
    if action.order is not None:
        which = {"most": "largest", "least": "smallest"}[action.order]
        by = "" if action.order_by == "par" else f" by {FIELD_WORDS.get(action.order_by, action.order_by)}"
        count = f"{action.limit} " if action.limit else f"{action.place}. " if action.place and action.place > 1 else ""
        among = f" of the loans {conditions_words(action.where)}" if action.where else ""
        loans = f"the {count}{which} {plural(action.group) if action.limit else action.group}{by}{among}"
    elif action.where:
        loans = f"the loans with {loans}" if action.kind != "buy" else loans
    if action.part is not None:
        loans = f"{action.part:.0%} of {loans}"
    price = "" if action.price is None else f" at {action.price:g} % of par"
    par = "" if action.par is None else f"{action.par:,.0f} par of "
    if action.kind == "sell":
        return f"selling {par}{loans}{price or ' at their prices (100 where a loan has none)'}"
    if action.kind == "repay":
        return f"repayment at par of {par}{loans}"
    if action.kind == "buy":
        said = [conditions_words(action.where)] if action.where else []
        said += [f"spread {action.spread:g} bps"] if action.spread is not None else []
        said += [f"all-in rate {action.coupon:g} %"] if action.coupon is not None else []
        return (
            f"buying {action.par:,.0f} par{price or ' at 100 % of par'} "
            f"of a loan with {', '.join(said) or 'nothing else said'}"
        )
    if action.kind == "default":
        return f"default of {loans}"
    if action.kind == "price":
        if action.price is not None:
            return f"prices of {loans} at {action.price:g} % of par"
        if action.points is action.percent is None:
            return f"falling prices of {loans}"
        by_words = f"{action.points:+g} points" if action.points is not None else f"{action.percent:+g} %"
        return f"prices of {loans} moved by {by_words}"
    to = (
        f" to {symbol(action.rank, 'a')}/{symbol(action.rank, 'b')}"
        if action.rank is not None
        else f" by {counted(action.notches or 1, 'notch')}"
    )
    who = _AGENCIES[action.agency] if action.agency is not None else ", by every agency that rates them"
    return f"{action.kind} of {loans}{to}{who}"


def query_words(query: Query) -> str:
    """A query as it was understood."""
    period = _PERIODS[query.period]
    tests = listed([test_word(one) for one in query.tests]) if query.tests else "all tests"
    if query.kind == "what_if":
        return f"{tests} after {listed([action_words(one) for one in query.actions])}"
    if query.kind == "room" and query.having:
        return f"how much more there may be of loans {conditions_words(query.where)} up to {query.having[0].value:g} %"
    if query.kind == "room":
        return f"how much more {test_word(query.tests[0])} bears" + (
            f", for {conditions_words(query.where)}" if query.where else ""
        )
    if query.kind == "why":
        return f"what moved {tests} since the month before"
    if query.kind == "overview":
        return "what changed since the month before"
    if query.kind == "history":
        return f"{tests} over the stored runs"
    if query.kind == "fact":
        return f"{(query.fact or '').replace('_', ' ')}{period}"
    if query.kind == "data":
        return {
            "missing": "what the data lack",
            "warnings": "what was assumed or could not be read",
            "breaks": "differences from the trustee",
        }[query.fact or ""]
    if query.kind == "notes":
        classes = "all classes of notes" if query.classes == ("*",) else f"class {' and '.join(query.classes)}"
        return (
            f"{listed([QUANTITIES[one].name if one != 'par' else 'balance' for one in query.quantities])} of {classes}"
        )
    if query.kind == "deals":
        return (
            f"the portfolio with the {'highest' if query.order == 'most' else 'lowest'} "
            f"{tests if query.tests else listed([QUANTITIES[one].name for one in query.quantities])}"
        )
    if query.kind == "tests":
        parts = {"cushion": "cushion of ", "limit": "limit of ", "status": "status of "}.get(query.aspect or "", "")
        if query.category is not None and not query.tests:
            tests = f"{query.category.upper() if len(query.category) == 2 else query.category} tests"
        classes = (
            ""
            if not query.classes
            else " for each class"
            if query.classes == ("*",)
            else f" of class {' and '.join(query.classes)}"
        )
        status = {
            "pass": ", passing",
            "fail": ", failing",
            "warning": ", in their warning band",
            "skipped": ", skipped",
            None: "",
        }[query.status]
        order = (
            ""
            if query.order is None
            else f", {'the thinnest' if query.order == 'least' else 'the widest'} cushion first"
            + (f", {query.limit}" if query.limit else "")
        )
        having = "".join(f", {having_words(one)}" for one in query.having)
        moved = {"better": ", improved", "worse": ", worsened", "up": ", risen", "down": ", fallen"}.get(
            query.direction or "", ""
        )
        return f"{parts}{tests}{classes}{status}{order}{having}{period}{moved}"
    where = conditions_words(query.where)
    if query.kind == "moves":
        noun = plural(query.group or "loan")
        limits = "".join(f", {having_words(one)}" for one in query.having)
        limits += "".join(f", {QUANTITIES[name].name}" for name in query.quantities if name.endswith("_rating"))
        return (
            f"{noun} {MOVES[query.move or 'added']}"
            + (f", {where}" if where else "")
            + (
                {"down": ", lower", "up": ", higher", "worse": ", lower", "better": ", higher"}.get(
                    query.direction or "", ""
                )
            )
            + limits
        )
    names = [("number of " + plural(NOUNS.get(query.group or "loan", "loan"))) if query.is_count else ""]
    names += [_HOW.get(query.aggregate or "", "") + QUANTITIES[one].name for one in query.quantities]
    names = [one for one in names if one]
    what = listed(names) if names else "par and share"
    if query.each:
        what += " of each of: " + "; ".join(condition_words(one) for one in query.each)
    if query.group and not query.is_count:
        if query.order is not None:
            by = FIELD_WORDS.get(query.order_by or "par", query.order_by or "par")
            which = f"with the {query.order} {by}"
            if query.period == "change":
                first = query.quantities[0] if query.quantities else "share"
                way = "fell" if query.direction == "down" else "rose"
                which = f"whose {FIELD_WORDS.get(first, first)} {way} {query.order}"
            count = f"{query.limit} " if query.limit else f"{query.place}. " if query.place and query.place > 1 else ""
            what = f"{what} of the {count}{plural(NOUNS[query.group]) if query.limit else NOUNS[query.group]} {which}"
        else:
            what = f"{what} by {NOUNS[query.group]}"
    having = "".join(f", {having_words(one)}" for one in query.having)
    whole = f", of the loans {conditions_words(query.whole)}" if query.whole else ""
    return what + (f", loans {where}" if where else "") + whole + having + period
