"""Suppositions: loans sold, bought, downgraded, defaulted, repaid or marked otherwise, and every test after that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from core.compliance.result import Results, Skipped, TestResult
from core.compliance.run import run_suite
from core.compliance.suites import TESTS
from core.insights.subject import Subject
from core.insights.words import listed, plain
from core.portfolio import Portfolio
from core.portfolio.model.ratings import AGENCY_OF, MASKED, SCALE_A, SCALE_B
from core.questions.answer import ROWS_SHOWN
from core.questions.judging import by_id, resolved, unit_of
from core.questions.loans import Book, Unavailable
from core.questions.query import Action, Condition, Query
from core.questions.saying import Said, unit_of_a_cushion
from core.questions.wording import condition_words, conditions_words, shown
from core.scenario.changed import changed
from core.scenario.holdings import Change, Holdings
from core.scenario.trades import Trade, TradeError
from core.values import day_of
from core.words import counted

PRICE_UNKNOWN: Final = 100.0
"""Percent of par at which a loan without a price is sold."""

WORST: Final = 21
"""The rank below which no downgrade goes: a default is another thing."""

MOVED_LEAST: Final = 1e-9


def supposed(query: Query, subject: Subject) -> Said:
    """Tests before and after what is supposed.

    Raises:
        Unavailable: it cannot be supposed of these loans, or a test has no figure.
    """
    said = Said(subject)
    portfolio = subject.portfolio
    before_all = Book(subject)
    for action in query.actions:
        portfolio = _done(action, subject, portfolio, said)
    ids = resolved(subject, query.tests)
    before = _run(subject, subject.portfolio, ids, before_all)
    after = _run(subject, portfolio, ids, None)
    chosen = list(ids)
    is_named = bool(ids)
    if query.category is not None and not ids:
        prefix = {"oc": "oc_", "ic": "ic_"}.get(query.category)
        chosen = [
            one
            for one in before
            if (prefix is not None and one.startswith(prefix))
            or (prefix is None and one in TESTS and TESTS[one].category == query.category)
        ]
        is_named = True
    rows = []
    for test_id in chosen or before:
        one, other = before.get(test_id), after.get(test_id)
        if not isinstance(one, TestResult) or not isinstance(other, TestResult):
            if is_named:
                reason = next(
                    (side.reason for side in (one, other) if isinstance(side, Skipped)), "the run does not have it"
                )
                raise Unavailable(f"{plain(test_id)} has no figure: {plain(reason, 300)}")
            continue
        rows.append((one, other))
    failing = [other for one, other in rows if other.status == "fail" and one.status != "fail"]
    if not is_named:
        if query.status is not None:
            if query.is_yes_no:
                fails = any(other.status == "fail" for _, other in rows)
                said.sentences.append("Yes." if fails == (query.status == "fail") else "No.")
            count = said.figure(
                "tests that fail only then", len(failing), "count", "tests of the run that fail after and not before"
            )
            said.sentences.append(
                f"{count} test{'s' * (len(failing) != 1)} would fail that {'do' if len(failing) != 1 else 'does'} "
                f"not now{': ' + listed([said.name(one.test_name) for one in failing]) if failing else ''}."
            )
        moved = [(one, other) for one, other in rows if abs(other.current_value - one.current_value) > MOVED_LEAST]
        said.sentences.append(f"{counted(len(moved), 'test')} of {len(rows)} would move{':' if moved else '.'}")
        rows = sorted(moved, key=lambda row: -abs(_relative(row[1]) - _relative(row[0])))
    for one, other in rows[:ROWS_SHOWN]:
        if is_named and query.is_yes_no and query.status is not None:
            said.sentences.append("Yes." if (other.status == "fail") == (query.status == "fail") else "No.")
        _line(said, one, other, is_named=is_named)
    return said


def _relative(one: TestResult) -> float:
    return (one.cushion or 0.0) / abs(one.threshold_value or 1.0)


def _line(said: Said, one: TestResult, other: TestResult, *, is_named: bool) -> None:
    unit, name = unit_of(one.test_id, one), said.name(one.test_name)
    of = None if is_named else one.test_name
    then = said.figure(
        f"{name} after",
        other.current_value,
        unit,
        f"result of the test {one.test_id} over the portfolio after the supposition",
        of=of,
        test_id=one.test_id,
    )
    now = said.figure(
        f"{name} before", one.current_value, unit, f"result of the test {one.test_id}", of=of, test_id=one.test_id
    )
    change = said.figure(
        f"change of {name}",
        other.current_value - one.current_value,
        "points" if unit == "percent" else unit,
        "after less before",
        of=of,
        test_id=one.test_id,
        sign=True,
    )
    words = {"pass": "pass", "fail": "fail", "warning": "pass, in its warning band"}
    text = f"{name} would be {then}, {change} from {now}; it would {words[other.status]}"
    if other.status != one.status:
        text += f" (now it would {words[one.status]})".replace("now it would pass", "now it passes").replace(
            "now it would fail", "now it fails"
        )
    if other.cushion is not None:
        word = f"cushion of {name} after"
        apart, operation = unit_of_a_cushion(unit), "limit beside the figure after"
        left = said.figure(word, other.cushion, apart, operation, of=of, test_id=one.test_id)
        text += f", with a cushion of {left}"
    said.sentences.append(f"{text}.")


def _run(
    subject: Subject, portfolio: Portfolio, ids: Sequence[str], known: Book | None
) -> dict[str, TestResult | Skipped]:
    results: Results = subject.results if known is not None else subject.run(portfolio)
    found = by_id(results)
    missing = [one for one in ids if one not in found and one in TESTS]
    if missing:
        found |= by_id(run_suite(portfolio, "enhanced", test_ids=missing, **subject.rules, details=False))
    return found


# ---- what is done ----


def _done(action: Action, subject: Subject, portfolio: Portfolio, said: Said) -> Portfolio:
    if action.kind == "buy":
        return _bought(action, portfolio, subject, said)
    book = Book(subject, portfolio) if portfolio is not subject.portfolio else Book(subject)
    mask = book.chosen(action.where)
    rows = np.flatnonzero(mask)
    if action.order is not None:
        rows = _ranked(action, book, rows)
    said.warnings.update(book.remarks)
    if not len(rows):
        raise Unavailable(f"no loan is held {conditions_words(action.where)}")
    chosen = np.zeros(portfolio.row_count, np.bool_)
    chosen[rows] = True
    par = said.figure(
        "par of the loans meant", float(book.par[rows].sum()), "amount", "sum of par_value", book=book, rows=rows
    )
    count = said.figure("loans meant", len(rows), "count", "number of loans", book=book, rows=rows)
    what = {
        "sell": "are sold",
        "repay": "are repaid",
        "default": "default",
        "downgrade": "are downgraded",
        "upgrade": "are upgraded",
        "price": "are marked otherwise",
    }[action.kind]
    named = {book.name_of(int(row)) for row in rows[:6].tolist()} if len(rows) <= 5 else set()
    who = f" ({listed([said.name(one) for one in sorted(named)])})" if named else ""
    said.sentences.append(
        f"{count} loan{'s' * (len(rows) != 1)} of {par} par{who} "
        f"{what if len(rows) != 1 else what.replace('are ', 'is ').replace('default', 'defaults')}."
    )
    for one in action.where:
        for leaf in one.any_of if one.any_of else (one,):
            if leaf.op == "in" and len(leaf.values) > 1:
                said.warnings[f"{plain(leaf.words)!r} can be {len(leaf.values)} names, which were taken together"] = (
                    None
                )
    if action.kind in ("sell", "repay"):
        return _sold(action, portfolio, book, rows, said)
    if action.kind == "default":
        if already := int((book.defaulted & chosen).sum()):
            said.warnings[f"{already:,} of them {'is' if already == 1 else 'are'} in default already"] = None
        flags = dict(portfolio.flags)
        flags["is_defaulted"] = np.where(
            chosen, np.uint8(1), flags.get("is_defaulted", np.zeros(portfolio.row_count, np.uint8))
        )
        if "is_current_pay" in flags:
            flags["is_current_pay"] = np.where(chosen, np.uint8(0), flags["is_current_pay"])
        return replace(portfolio, flags=flags)
    if action.kind == "price":
        return _marked(action, portfolio, chosen, said)
    return _rerated(action, portfolio, chosen, said)


def _ranked(action: Action, book: Book, rows: Any) -> Any:
    sign = -1.0 if action.order == "most" else 1.0
    if action.group in ("obligor", "industry"):
        mask = np.zeros(book.portfolio.row_count, np.bool_)
        mask[rows] = True
        groups = book.groups(action.group, mask)
        values = [(float(book.par[one.rows].sum()), one) for one in groups]
        values.sort(key=lambda one: sign * one[0])
        chosen = values[action.place - 1 : action.place] if action.place else values[: action.limit]
        return np.concatenate([one.rows for _, one in chosen]) if chosen else np.zeros(0, np.intp)
    values_of = book.number(action.order_by)[rows]
    known = rows[np.isfinite(values_of)]
    order = known[np.argsort(sign * book.number(action.order_by)[known], kind="stable")]
    return order[action.place - 1 : action.place] if action.place else order[: action.limit]


def _sold(action: Action, portfolio: Portfolio, book: Book, rows: Any, said: Said) -> Portfolio:
    """Sold at a price, at each loan's own, or repaid at par; of several loans pro rata."""
    prices = book.view.numbers.get("price", np.full(portfolio.row_count, np.nan))[rows]
    if action.kind == "repay":
        at = np.full(len(rows), 100.0)
    elif action.price is not None:
        at = np.full(len(rows), action.price)
    else:
        at = np.where(np.isfinite(prices), prices, PRICE_UNKNOWN)
        if unknown := int((~np.isfinite(prices)).sum()):
            said.warnings[
                (
                    f"{counted(unknown, 'loan')} without a price "
                    f"{'is' if unknown == 1 else 'are'} sold at {PRICE_UNKNOWN:g} % of par"
                )
            ] = None
    par = book.par[rows]
    held = float(par.sum())
    part = 1.0
    if action.par is not None:
        if action.par > held * (1 + 1e-12) or held <= 0:
            raise Unavailable(f"only {shown(held, 'amount', currency=said.currency)} of these loans is held")
        part = action.par / held
    sold = par * part
    left = np.where(np.abs(par - sold) < 0.005, 0.0, par - sold)
    cash = float((sold * at / 100).sum())
    money = said.figure("proceeds", cash, "amount", "par sold x price / 100", book=book, rows=rows)
    said.sentences.append(f"Proceeds of {money} go to principal cash.")
    change = Change(par=dict(zip(rows.tolist(), left.tolist(), strict=True)), cash=cash)
    return changed(Holdings(portfolio), change)


def _marked(action: Action, portfolio: Portfolio, chosen: Any, said: Said) -> Portfolio:
    price = portfolio.numbers.get("price")
    if price is None:
        raise Unavailable("the file has no prices")
    if action.price is not None:
        moved = np.full(len(price), action.price)
    elif action.points is not None:
        moved = price + action.points
        if blank := int((chosen & ~np.isfinite(price)).sum()):
            said.warnings[f"{counted(blank, 'loan')} without a price {'stays' if blank == 1 else 'stay'} so"] = None
    else:
        assert action.percent is not None
        moved = price * (1 + action.percent / 100)
    moved = np.maximum(moved, 0.0)
    return replace(portfolio, numbers=portfolio.numbers | {"price": np.where(chosen, moved, price)})


def _rerated(action: Action, portfolio: Portfolio, chosen: Any, said: Said) -> Portfolio:
    """Every agency's rating of the loans by some notches, or to one rating."""
    ranks, names = dict(portfolio.ranks), dict(portfolio.names)
    is_down = action.kind == "downgrade"
    seen = False
    for column in AGENCY_OF:
        if column not in ranks:
            continue
        own = ranks[column].astype(np.int64)
        rated = chosen & (own > 0) & (own < WORST)
        if action.rank is not None:
            moved = np.full(len(own), action.rank)
            rated &= (own < action.rank) if is_down else (own > action.rank)
        else:
            steps = (action.notches or 1) * (1 if is_down else -1)
            moved = np.clip(own + steps, 1, WORST)
        if rated.any():
            seen = True
        ranks[column] = np.where(rated, moved, own).astype(np.uint8)
    if not seen:
        raise Unavailable(f"no rating of these loans can be {'lowered' if is_down else 'raised'} so")
    unrated = chosen.copy()
    for column in AGENCY_OF:
        if column in ranks:
            unrated &= (ranks[column] == 0) | (ranks[column] >= MASKED)
    if unrated.any():
        said.warnings[
            f"{counted(int(unrated.sum()), 'loan')} without a rating {'stays' if unrated.sum() == 1 else 'stay'} so"
        ] = None
    return replace(portfolio, ranks=ranks, names=names)


_BOUGHT: Final = {"second_lien": "Second Lien", "first_lien": "First Lien", "unsecured": "Unsecured", "bond": "Bond"}


def _bought(action: Action, portfolio: Portfolio, subject: Subject, said: Said) -> Portfolio:
    """A loan that is described; one that is named is another lot of it."""
    fields: dict[str, Any] = {
        "trade_type": "buy",
        "par_value": action.par,
        "price": action.price if action.price is not None else 100.0,
    }
    data: dict[str, Any] = {}
    for one in action.where:
        _describe(one, fields, data, portfolio)
    if action.spread is not None:
        fields["spread"] = action.spread
    if action.coupon is not None:
        data["all_in_rate"] = action.coupon
    if not {"borrower_name", "cusip", "loanx_id"} & fields.keys() and "isin" not in data:
        fields["borrower_name"] = "A new borrower"
        for name, absent in (
            ("rating_agency_a", "rating"),
            ("spread", "spread"),
            ("industry", "industry"),
            ("maturity_date", "maturity"),
        ):
            if name not in fields and (name != "rating_agency_a" or "rating_agency_b" not in fields):
                said.warnings[f"the loan to buy has no {absent}: it counts as one without"] = None
    trade = Trade(**fields, loan_data=data or None)
    try:
        change = Holdings(portfolio, subject.definition).traded([trade])
    except TradeError as error:
        raise Unavailable(plain(error.reason, 300)) from None
    for warning in change.warnings:
        said.warnings[plain(warning.message, 300)] = None
    cost = said.figure("cost", -change.cash, "amount", "par bought x price / 100")
    said.sentences.append(f"Bought for {cost} out of principal cash.")
    return changed(Holdings(portfolio, subject.definition), change)


def _describe(one: Condition, fields: dict[str, Any], data: dict[str, Any], portfolio: Portfolio) -> None:
    if one.op == "in" and len(one.values) == 1:
        name = {"obligor": "borrower_name", "industry": "industry", "cusip": "cusip", "loanx": "loanx_id"}.get(
            one.field
        )
        if name is not None:
            fields[name] = one.values[0]
            return
        if one.field in ("country", "isin"):
            data[one.field] = one.values[0]
            return
    if one.field == "rating" and one.low == one.high and one.low is not None and 0 < one.low <= len(SCALE_A):
        rank = int(one.low)
        for agency, scale in (("a", SCALE_A), ("b", SCALE_B)):
            if f"rating_agency_{agency}" in portfolio.ranks or one.agency == agency:
                fields[f"rating_agency_{agency}"] = scale[rank - 1]
        return
    if one.field == "flag" and one.op == "is":
        flag = one.values[0]
        if flag in _BOUGHT:
            data["lien_type"] = _BOUGHT[flag]
            return
        if flag in ("fixed", "floating"):
            data["coupon_type"] = flag
            return
        if flag == "cov_lite":
            data["cov_lite"] = True
            return
        if flag == "ccc":
            fields["rating_agency_a"], fields["rating_agency_b"] = "Caa1", "CCC+"
            return
    if one.field == "maturity" and one.low is not None and one.high is not None:
        fields["maturity_date"] = day_of(one.high)
        return
    if one.field == "spread" and one.low is not None:
        fields["spread"] = one.low
        return
    raise Unavailable(f"a loan to buy cannot be described as {condition_words(one)}")
