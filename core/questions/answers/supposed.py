"""Suppositions: what is sold, bought, cut or defaulted, and the tests after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from core.compliance.result import Skipped, TestResult
from core.insights.subject import Subject
from core.insights.words import plain
from core.portfolio import Portfolio
from core.portfolio.model.ratings import AGENCY_OF, MASKED, SCALE_A, SCALE_B
from core.questions.answer import ROWS_SHOWN
from core.questions.answers.book import RATING_COLUMNS, LoanSet, Unavailable
from core.questions.answers.quantities import flat
from core.questions.answers.statement import SUM_OF_PAR, Basis, Rows, Statement, loans_of, unit_apart, yes_no
from core.questions.answers.tests import Tests, of_category, relative_cushion, resolve, results_of, unit_of_test
from core.questions.query import Action, Condition, Query
from core.questions.vocabulary import NAME_COLUMNS
from core.questions.wording import condition_words, conditions_words, shown
from core.scenario.changed import changed
from core.scenario.holdings import Holdings, TradeEffect
from core.scenario.trades import Trade, TradeError
from core.values import day_of
from core.words import counted

PRICE_UNKNOWN: Final = 100.0
"""Percent of par at which a loan without a price is sold."""

RANK_LOWEST: Final = 21
"""The rank below which no downgrade goes: a default is another thing."""

MOVED_LEAST: Final = 1e-9

FALL_STEP: Final = 0.25
FALL_MAX: Final = 40.0
"""Points by which prices fall at a step, and at most, in the search of the test that fails first."""

_TRADES: Final = frozenset(("sell", "buy", "repay"))
_WORDS: Final = {"pass": "pass", "fail": "fail", "warning": "pass, in its warning band"}
_DEEDS: Final = {
    "sell": ("is sold", "are sold"),
    "repay": ("is repaid", "are repaid"),
    "default": ("defaults", "default"),
    "downgrade": ("is downgraded", "are downgraded"),
    "upgrade": ("is upgraded", "are upgraded"),
    "price": ("is marked otherwise", "are marked otherwise"),
}


def answer_what_if(query: Query, subject: Subject) -> Statement:
    """Answer what tests are before and after what is supposed.

    Raises:
        Unavailable: it cannot be supposed of these loans, or a test has no figure.
    """
    statement = Statement(subject)
    ids = resolve(subject, query.tests)
    before = results_of(subject, subject.portfolio, ids)
    if query.aspect == "first":
        return _state_first(query, statement, before)
    portfolio = subject.portfolio
    for action in query.actions:
        portfolio = _apply(action, subject, portfolio, statement)
    cash = portfolio.deal.principal_cash or 0.0
    if query.fact == "principal_cash":
        _state_cash(query, statement, cash)
        if not ids:
            return statement
    after = results_of(subject, portfolio, ids, details=False)
    pairs, is_named = _pairs_of(query, ids, before, after)
    if not is_named or query.status is not None:
        _state_verdict(query, statement, pairs, is_paid=cash >= 0, is_named=is_named)
    if is_named and query.status == "fail" and not query.is_yes_no:
        every, _ = _pairs_of(Query(kind="what_if"), (), before, after)
        _state_verdict(query, statement, every, is_paid=cash >= 0, is_named=False)
    if not is_named:
        if query.fact is None:
            _state_cash(query, statement, cash)
        pairs = _moved(statement, pairs)
    for first, last in pairs[:ROWS_SHOWN]:
        _state_pair(statement, first, last, of=None if is_named else first.test_name)
    return statement


def _moved(statement: Statement, pairs: Pairs) -> Pairs:
    """Return the tests that would move, by how much of their cushions they would."""
    pairs = [pair for pair in pairs if abs(pair[1].current_value - pair[0].current_value) > MOVED_LEAST]
    pairs.sort(key=lambda pair: -abs(relative_cushion(pair[1]) - relative_cushion(pair[0])))
    statement.add(f"{counted(len(pairs), 'test')} would move{':' if pairs else '.'}")
    return pairs


def _state_cash(query: Query, statement: Statement, cash: float) -> None:
    """State the principal cash that trades leave."""
    if any(action.kind in _TRADES for action in query.actions):
        then = statement.figure(
            "principal cash after", cash, "amount", "principal cash and what the trades bring or cost"
        )
        now = statement.figure(
            "principal cash", statement.subject.portfolio.deal.principal_cash or 0.0, "amount", "as the file has it"
        )
        statement.add(f"Principal cash would be {then}, from {now}.")


Pairs = list[tuple[TestResult, TestResult]]


def _pairs_of(query: Query, ids: Sequence[str], before: Tests, after: Tests) -> tuple[Pairs, bool]:
    """(the tests before and after, whether they are named)."""
    names = list(ids)
    if query.category is not None and not ids:
        names = of_category(before, query.category)
    pairs = []
    for test_id in names or before:
        first, last = before.get(test_id), after.get(test_id)
        if isinstance(first, TestResult) and isinstance(last, TestResult):
            pairs.append((first, last))
        elif names:
            reasons = [side.reason for side in (first, last) if isinstance(side, Skipped)]
            reason = plain(reasons[0], 300) if reasons else "the run does not have it"
            raise Unavailable(f"{plain(test_id)} has no figure: {reason}")
    return pairs, bool(names)


def _state_verdict(query: Query, statement: Statement, pairs: Pairs, *, is_paid: bool, is_named: bool) -> None:
    """State which tests fail only then, and whether that is what is asked."""
    failing = [last for first, last in pairs if last.status == "fail" != first.status]
    if query.is_yes_no and query.status is not None:
        is_trade = all(action.kind in _TRADES for action in query.actions)
        fails = any(last.status == "fail" for _, last in pairs)
        is_so = fails
        if query.status == "pass":
            is_so = is_paid and not failing if is_trade and not is_named else not fails
        statement.sentences.insert(0, yes_no(is_so))
        if query.status == "pass" and is_trade and not is_paid:
            statement.add("There is not enough principal cash to pay for it.")
    if (query.status is None and not failing) or is_named:
        return
    basis = "tests of the run that fail after and not before"
    count = statement.figure("tests that fail only then", len(failing), "count", basis)
    names = f": {statement.listed_names([result.test_name for result in failing])}" if failing else ""
    do = "do" if len(failing) != 1 else "does"
    statement.add(f"{count} test{'s' * (len(failing) != 1)} would fail that {do} not now{names}.")


def _state_pair(statement: Statement, first: TestResult, last: TestResult, *, of: str | None) -> None:
    """State a test before and after."""
    test_id, unit, name = first.test_id, unit_of_test(first.test_id, first), statement.name(first.test_name)
    operation = f"result of the test {test_id} over the portfolio after the supposition"
    value, earlier = last.current_value, first.current_value
    then = statement.figure(f"{name} after", value, unit, Basis(operation, test_id=test_id), of=of)
    basis = Basis(f"result of the test {test_id}", test_id=test_id)
    now = statement.figure(f"{name} before", earlier, unit, basis, of=of)
    basis = Basis("after less before", test_id=test_id)
    change = statement.figure(f"change of {name}", value - earlier, unit_apart(unit), basis, of=of, sign=True)
    text = f"{name} would be {then}, {change} from {now}; it would {_WORDS[last.status]}"
    if last.status != first.status:
        text += f" (now it {_WORDS[first.status].replace('pass', 'passes').replace('fail', 'fails')})"
    if last.cushion is not None:
        basis = Basis("limit beside the figure after", test_id=test_id)
        cushion = statement.figure(f"cushion of {name} after", last.cushion, unit_apart(unit), basis, of=of)
        text += f", with a cushion of {cushion}"
    statement.add(f"{text}.")


def _state_first(query: Query, statement: Statement, before: Tests) -> Statement:
    """State which test fails first while prices fall, of those that pass now."""
    subject, where = statement.subject, query.actions[0].where
    passing = {name for name, result in before.items() if isinstance(result, TestResult) and result.status != "fail"}
    for step in range(1, int(FALL_MAX / FALL_STEP) + 1):
        points = step * FALL_STEP
        action = Action(kind="price", where=where, points=-points)
        portfolio = _apply(action, subject, subject.portfolio, Statement(subject))
        after = results_of(subject, portfolio, details=False)
        failing = [
            result for name in passing if isinstance(result := after[name], TestResult) and result.status == "fail"
        ]
        if failing:
            names = statement.listed_names([result.test_name for result in failing])
            fall = statement.figure("fall of prices", points, "points", f"prices by steps of {FALL_STEP:g} points")
            statement.add(f"{names} would fail first, when prices are {fall} lower.")
            return statement
    raise Unavailable(f"no test that passes now fails while prices fall by up to {FALL_MAX:g} points")


# ---- what is done ----


def _apply(action: Action, subject: Subject, portfolio: Portfolio, statement: Statement) -> Portfolio:
    """Return the portfolio after something is done."""
    if action.kind == "buy":
        return _buy(action, portfolio, statement)
    book = LoanSet(subject, portfolio) if portfolio is not subject.portfolio else LoanSet(subject)
    rows = np.flatnonzero(book.select(action.where))
    if action.order is not None:
        rows = _rank(action, book, rows)
    statement.warn(*book.remarks)
    if not len(rows):
        raise Unavailable(f"no loan is held {conditions_words(action.where)}")
    basis = Basis(SUM_OF_PAR, book, rows)
    par = statement.figure("par of the loans meant", float(book.par[rows].sum()), "amount", basis)
    count = statement.figure("loans meant", len(rows), "count", Basis("number of loans", book, rows))
    names = sorted({book.name_of(int(row)) for row in rows.tolist()}) if len(rows) <= 5 else []
    who = f" ({statement.listed_names(names)})" if names else ""
    statement.add(f"{loans_of(count, len(rows))} of {par} par{who} {_DEEDS[action.kind][len(rows) != 1]}.")
    for leaf in flat(action.where):
        if leaf.op == "in" and len(leaf.values) > 1:
            statement.warn(f"{plain(leaf.words)!r} can be {len(leaf.values)} names, which were taken together")
    return _DONE[action.kind](action, book, rows, statement)


def _rank(action: Action, book: LoanSet, rows: Rows) -> Rows:
    sign = -1.0 if action.order == "most" else 1.0
    first = action.place - 1 if action.place else 0
    last = action.place or action.limit
    if action.group in ("obligor", "industry"):
        groups = book.groups(action.group, book.mask_of(rows))
        groups.sort(key=lambda group: sign * float(book.par[group.rows].sum()))
        return np.concatenate([np.zeros(0, np.intp), *(group.rows for group in groups[first:last])])
    values = book.number(action.order_by)
    known = rows[np.isfinite(values[rows])]
    return known[np.argsort(sign * values[known], kind="stable")][first:last]


def _sell(action: Action, book: LoanSet, rows: Rows, statement: Statement) -> Portfolio:
    """Sell at a price or at each loan's own, or repay at par."""
    portfolio = book.portfolio
    prices = book.view.numbers.get("price", np.full(portfolio.row_count, np.nan))[rows]
    unknown = int((~np.isfinite(prices)).sum())
    at = np.where(np.isfinite(prices), prices, PRICE_UNKNOWN)
    if action.kind == "repay" or action.price is not None:
        at = np.full(len(rows), 100.0 if action.kind == "repay" else action.price)
    elif unknown:
        is_are = "is" if unknown == 1 else "are"
        statement.warn(f"{counted(unknown, 'loan')} without a price {is_are} sold at {PRICE_UNKNOWN:g} % of par")
    par = book.par[rows]
    total = float(par.sum())
    part = action.part or 1.0
    if action.par is not None:
        if action.par > total * (1 + 1e-12) or total <= 0:
            available = shown(total, "amount", currency=statement.subject.currency)
            raise Unavailable(f"no more than {available} of these loans can be sold")
        part = action.par / total
    left = np.where(np.abs(par * (1 - part)) < 0.005, 0.0, par - par * part)
    cash = float((par * part * at / 100).sum())
    money = statement.figure("proceeds", cash, "amount", Basis("par sold x price / 100", book, rows))
    statement.add(f"Proceeds of {money} go to principal cash.")
    change = TradeEffect(par=dict(zip(rows.tolist(), left.tolist(), strict=True)), cash=cash)
    return changed(Holdings(portfolio), change)


def _default(action: Action, book: LoanSet, rows: Rows, statement: Statement) -> Portfolio:
    portfolio = book.portfolio
    if already := int(book.defaulted[rows].sum()):
        statement.warn(f"{already:,} of them {'is' if already == 1 else 'are'} in default already")
    flags = dict(portfolio.flags)
    defaulted = flags.get("is_defaulted", np.zeros(portfolio.row_count, np.uint8)).copy()
    defaulted[rows] = 1
    flags["is_defaulted"] = defaulted
    if "is_current_pay" in flags:
        current_pay = flags["is_current_pay"].copy()
        current_pay[rows] = 0
        flags["is_current_pay"] = current_pay
    return replace(portfolio, flags=flags)


def _mark(action: Action, book: LoanSet, rows: Rows, statement: Statement) -> Portfolio:
    portfolio = book.portfolio
    price = portfolio.numbers.get("price")
    if price is None:
        raise Unavailable("the file has no prices")
    price = price.copy()
    if action.price is not None:
        price[rows] = action.price
    elif action.points is not None:
        price[rows] += action.points
        if blank := int((~np.isfinite(price[rows])).sum()):
            statement.warn(f"{counted(blank, 'loan')} without a price {'stays' if blank == 1 else 'stay'} so")
    else:
        price[rows] *= 1 + (action.percent or 0.0) / 100
    price[rows] = np.maximum(price[rows], 0.0)
    return replace(portfolio, numbers=portfolio.numbers | {"price": price})


def _rerate(action: Action, book: LoanSet, rows: Rows, statement: Statement) -> Portfolio:
    """Move the ratings of the loans by some notches, or to one rating."""
    portfolio = book.portfolio
    columns = [RATING_COLUMNS[action.agency]] if action.agency is not None else list(AGENCY_OF)
    ranks = dict(portfolio.ranks)
    is_down = action.kind == "downgrade"
    seen = False
    rated = np.zeros(len(rows), np.bool_)
    for column in columns:
        if column not in ranks:
            continue
        own = ranks[column][rows].astype(np.int64)
        rated |= (own > 0) & (own < MASKED)
        moves = (own > 0) & (own < RANK_LOWEST)
        target = np.clip(own + (action.notches or 1) * (1 if is_down else -1), 1, RANK_LOWEST)
        if action.rank is not None:
            target = np.full(len(own), action.rank)
            moves &= (own < action.rank) if is_down else (own > action.rank)
        seen = seen or bool(moves.any())
        ranks[column] = ranks[column].copy()
        ranks[column][rows] = np.where(moves, target, own)
    if not seen:
        raise Unavailable(f"no rating of these loans can be {'lowered' if is_down else 'raised'} so")
    if unrated := int((~rated).sum()):
        statement.warn(f"{counted(unrated, 'loan')} without a rating {'stays' if unrated == 1 else 'stay'} so")
    return replace(portfolio, ranks=ranks)


_DONE: Final[dict[str, Callable[[Action, LoanSet, Rows, Statement], Portfolio]]] = {
    "sell": _sell,
    "repay": _sell,
    "default": _default,
    "price": _mark,
    "downgrade": _rerate,
    "upgrade": _rerate,
}


# ---- what is bought ----

_LIENS: Final = {"second_lien": "Second Lien", "first_lien": "First Lien", "unsecured": "Unsecured", "bond": "Bond"}
_EXPECTED: Final = {
    "rating": "rating_agency_a", "spread": "spread", "industry": "industry", "maturity": "maturity_date",
}  # fmt: skip


def _buy(action: Action, portfolio: Portfolio, statement: Statement) -> Portfolio:
    """Buy a loan that is described; one that is named is another lot of it."""
    fields: dict[str, Any] = {
        "trade_type": "buy", "par_value": action.par, "price": 100.0 if action.price is None else action.price,
    }  # fmt: skip
    data: dict[str, Any] = {}
    for condition in action.where:
        if not _describe(condition, fields, data, portfolio):
            raise Unavailable(
                f"a loan to buy cannot be described as {condition_words(condition)} ({plain(condition.words)!r})"
            )
    if set(fields) == {"trade_type", "par_value", "price", "borrower_name"} and not data:
        _take_loan(fields, portfolio, statement)
    if action.spread is not None:
        fields["spread"] = action.spread
    if action.coupon is not None:
        data["all_in_rate"] = action.coupon
    if not {"borrower_name", "cusip", "loanx_id"} & fields.keys() and "isin" not in data:
        fields["borrower_name"] = "A new borrower"
        for absent, name in _EXPECTED.items():
            if name not in fields and not (absent == "rating" and "rating_agency_b" in fields):
                statement.warn(f"the loan to buy has no {absent}: it counts as one without")
    holdings = Holdings(portfolio, statement.subject.definition)
    try:
        change = holdings.traded([Trade(**fields, loan_data=data or None)])
    except TradeError as error:
        raise Unavailable(plain(error.reason, 300)) from None
    statement.warn(*(plain(warning.message, 300) for warning in change.warnings))
    cost = statement.figure("cost", -change.cash, "amount", "par bought x price / 100")
    statement.add(f"Bought for {cost} out of principal cash.")
    return changed(Holdings(portfolio, statement.subject.definition), change)


def _take_loan(fields: dict[str, Any], portfolio: Portfolio, statement: Statement) -> None:
    """Make a borrower of whom nothing else is said its largest loan."""
    book = LoanSet(statement.subject, portfolio)
    rows = np.flatnonzero(book.select((Condition(field="obligor", op="in", values=(fields["borrower_name"],)),)))
    for row in rows[np.argsort(-book.par[rows], kind="stable")].tolist():
        for column in ("cusip", "loanx_id"):
            if identifier := book.text_in(column, row):
                del fields["borrower_name"]
                fields[column] = identifier
                statement.warn(f"more is bought of {statement.loan(book, row)}")
                return


def _describe(condition: Condition, fields: dict[str, Any], data: dict[str, Any], portfolio: Portfolio) -> bool:
    """Make a condition a field of the loan to buy; return whether it can be one."""
    field, low, high = condition.field, condition.low, condition.high
    if condition.op == "in" and len(condition.values) == 1:
        if field in ("obligor", "industry", "cusip", "loanx"):
            fields[NAME_COLUMNS[field]] = condition.values[0]
        elif field in ("country", "isin"):
            data[field] = condition.values[0]
        else:
            return False
    elif field == "rating" and low is not None and low == high and 0 < low <= len(SCALE_A):
        for agency, scale in (("a", SCALE_A), ("b", SCALE_B)):
            if f"rating_agency_{agency}" in portfolio.ranks or condition.agency == agency:
                fields[f"rating_agency_{agency}"] = scale[int(low) - 1]
    elif field == "flag" and condition.op == "is":
        return _describe_flag(condition.values[0], fields, data)
    elif field == "maturity" and low is not None and high is not None:
        fields["maturity_date"] = day_of(high)
    else:
        return False
    return True


def _describe_flag(flag: str, fields: dict[str, Any], data: dict[str, Any]) -> bool:
    if flag in _LIENS:
        data["lien_type"] = _LIENS[flag]
    elif flag in ("fixed", "floating"):
        data["coupon_type"] = flag
    elif flag == "cov_lite":
        data["cov_lite"] = True
    elif flag == "ccc":
        fields["rating_agency_a"], fields["rating_agency_b"] = "Caa1", "CCC+"
    else:
        return False
    return True
