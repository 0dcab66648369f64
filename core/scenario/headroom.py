"""How much of a trade each test bears: the par at which it fails first."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf
from typing import Final, NamedTuple

import msgspec

from core.compliance.kernels import rounded
from core.compliance.result import Results, Status
from core.frames.brief import brief
from core.portfolio.cells.checkpoint import checkpoint
from core.scenario.holdings import TradeEffect
from core.scenario.simulate import Simulator
from core.scenario.trades import AMOUNT_MAX, Trade

STEPS: Final = 32
"""Amounts up to the most at which every test is looked at: a test that fails and passes again between two is missed."""

FIRST_STEPS: Final = 8
"""The same where only the first failure is asked for."""

CLOSE: Final = 1.0
"""Currency: how near to the amount at which a test fails its headroom is."""


class Headroom(msgspec.Struct, frozen=True, kw_only=True):
    """One test beside a trade of more and more of a loan."""

    test_id: str
    test_name: str
    test_category: str
    status: Status
    """Outcome before the trade."""
    cushion: float
    headroom: float | None
    """Par that may be traded until the test fails, to the unit; 0: it fails already. Null: no amount up to `most` makes
    it fail."""

    __repr__ = brief


class TradeRoom(msgspec.Struct, frozen=True, kw_only=True):
    """What every test bears of a trade."""

    most: float
    """Par up to which was looked: of a sell all that is held, of a buy as much as the pool has."""
    tests: list[Headroom]
    """In the order of the suite."""

    __repr__ = brief


class _Seen(NamedTuple):
    """An amount, and the slack of each test that has a figure there.

    (cushion x divisor), which is linear for most.
    """

    amount: float
    slack: dict[str, float]
    failing: frozenset[str]


def headroom(simulator: Simulator, trade: Trade) -> TradeRoom:
    """Return what every test bears of a trade; its own par counts for nothing.

    Raises:
        TradeError: it cannot be made at all.
    """
    most = _most(simulator, trade)
    trial = _Trial(simulator, [trade])
    amounts = (most * (step / STEPS) ** 2 for step in range(1, STEPS + 1))  # nearer to each other where they are small
    at = [_seen(0.0, simulator.before), *map(trial.run, amounts)]
    return TradeRoom(
        most=most,
        tests=[
            Headroom(
                test_id=result.test_id,
                test_name=result.test_name,
                test_category=result.category,
                status=result.status,
                cushion=rounded(simulator.before.cushions[result.test_id]),
                headroom=_first(trial, result.test_id, at),
            )
            for result in simulator.before
        ],
    )


class First(NamedTuple):
    """How much of a trade can be made until a test fails that did not."""

    amount: float
    """Par, a multiple of `close`; `most` where no test fails."""
    test_ids: list[str]
    """The tests that fail just beyond it, in the order of the suite."""
    most: float
    """As in `TradeRoom`."""


def first_failure(simulator: Simulator, trades: Sequence[Trade], *, close: float = CLOSE) -> First:
    """Return the par up to which no test fails that does not fail before, in equal parts of these trades; their own par
    counts for nothing. It is looked up to what the pool has, or to what is held of the first loan.

    Args:
        close: how near to the amount at which a test fails is near enough, in currency.

    Raises:
        TradeError: it cannot be made at all.
    """
    most = _most(simulator, trades[0])
    trial = _Trial(simulator, trades)
    hold = [result.test_id for result in simulator.before if result.status != "fail"]
    low, high = _seen(0.0, simulator.before), None
    for step in range(1, FIRST_STEPS + 1):
        seen = trial.run(most * (step / FIRST_STEPS) ** 2)
        if seen.failing.intersection(hold):
            high = seen
            break
        low = seen
    if high is None:
        return First(most, [], most)
    pad = close / 4  # where every test is linear, two amounts are enough
    while (gap := high.amount - low.amount) > close:
        guess = min(_crossing(low, high, test_id) for test_id in hold if test_id in high.failing)
        for amount in (guess - pad, guess + pad):
            if low.amount < amount < high.amount:
                low, high = _narrow(low, high, trial.run(amount), hold)
        if high.amount - low.amount > gap / 4:
            low, high = _narrow(low, high, trial.run((low.amount + high.amount) / 2), hold)
        pad = max(close / 4, (high.amount - low.amount) / 32)  # a figure that is rounded first is near to linear
    return First(floor(low.amount / close) * close, [test_id for test_id in hold if test_id in high.failing], most)


def _narrow(low: _Seen, high: _Seen, seen: _Seen, hold: Sequence[str]) -> tuple[_Seen, _Seen]:
    return (low, seen) if seen.failing.intersection(hold) else (seen, high)


def _most(simulator: Simulator, trade: Trade) -> float:
    """Return the par up to which it is looked."""
    portfolio = simulator.holdings.portfolio
    par = portfolio.numbers["par_value"]
    if trade.trade_type == "buy":
        simulator.holdings.traded([msgspec.structs.replace(trade, par_value=1.0)])  # it can be made
        return float(min(AMOUNT_MAX, max(1.0, par[par > 0].sum())))
    rows = simulator.holdings.traded([msgspec.structs.replace(trade, par_value=0.01)]).par
    return float(sum(par[row] for row in rows))


class _Trial:
    """Trades that are made in more and more par."""

    def __init__(self, simulator: Simulator, trades: Sequence[Trade]) -> None:
        self._simulator, self._trades = simulator, trades
        self._bought: TradeEffect | None = None
        """What the trades do where all are buys, which are read once: their loans are the same at any par."""

    def run(self, amount: float) -> _Seen:
        """Return the tests after equal parts of the trades, of so much par together."""
        checkpoint()
        return _seen(amount, self._simulator.run(self._effect(amount / len(self._trades))))

    def _effect(self, par_of_each: float) -> TradeEffect:
        if self._bought is None:
            effect = self._simulator.holdings.traded(
                [msgspec.structs.replace(trade, par_value=par_of_each) for trade in self._trades]
            )
            if any(trade.trade_type != "buy" for trade in self._trades):
                return effect
            self._bought = effect
        return self._bought.of_par(par_of_each)


def _seen(amount: float, results: Results) -> _Seen:
    slack = {test_id: cushion * results.exact[test_id][1] for test_id, cushion in results.cushions.items()}
    return _Seen(amount, slack, frozenset(result.test_id for result in results if result.status == "fail"))


def _first(trial: _Trial, test_id: str, at: list[_Seen]) -> float | None:
    """Return the amount up to which the test does not fail; None where it never does."""
    fails = next((place for place, each in enumerate(at) if test_id in each.failing), None)
    if not fails:
        return None if fails is None else 0.0
    low, high = at[fails - 1], at[fails]
    while high.amount - low.amount > CLOSE:
        middle = (low.amount + high.amount) / 2
        guess = _crossing(low, high, test_id)
        for amount in (guess - CLOSE / 4, guess + CLOSE / 4, middle):  # where it is linear two are enough
            if low.amount < amount < high.amount:
                seen = trial.run(amount)
                low, high = (low, seen) if test_id in seen.failing else (seen, high)
    return floor(low.amount / CLOSE) * CLOSE


def _crossing(low: _Seen, high: _Seen, test_id: str) -> float:
    """Where the slack between two amounts would be none, were it linear."""
    above, below = low.slack.get(test_id, inf), high.slack.get(test_id, -inf)
    if not above - below > 0 or inf in (above, -below):
        return inf
    return low.amount + (high.amount - low.amount) * above / (above - below)
