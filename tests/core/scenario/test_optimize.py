"""Proposed trades beside every choice that there was, and what they may not break."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, combinations, count

import numpy as np
import pytest

import core
from core.compliance.limits import UnknownTest
from core.compliance.result import Threshold
from core.definition import parse
from core.generate import generate
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Deal
from core.scenario.optimize import Constraints, InfeasibleError, ObjectiveError, Proposal, optimize
from core.scenario.simulate import Simulation, Simulator
from core.scenario.trades import Trade
from core.scenario.universe import offers, sales
from tests.core.compliance.conftest import portfolio_of
from tests.rows import every

LIMITS = {"average_rating_factor": 3000.0, "oc_ratio": 104.2, "was": 3.25, "single_obligor_concentration": 2.5}
WHOLE = Constraints(min_trade=1e12, max_trades=3, max_turnover=12e6)
"""A loan is traded as a whole or not at all, so there are few choices."""


def pool(seed: int) -> Portfolio:
    result = generate(loans=200, seed=seed)
    return Portfolio.from_columns(result.portfolio_columns(), tranches=result.tranches, deal=result.deal)


def priced(portfolio: Portfolio, rows: Sequence[int]) -> Portfolio:
    """With the prices of these rows alone: a loan without a price is not sold."""
    price = np.full(portfolio.row_count, np.nan)
    price[rows] = portfolio.numbers["price"][rows]
    return replace(portfolio, numbers=portfolio.numbers | {"price": price})


@pytest.fixture(scope="module")
def base() -> Simulator:
    return core.Simulator(pool(7), "enhanced", details=False)


@pytest.fixture(scope="module")
def universe() -> list[Trade]:
    return offers(pool(11))


def cushion_of(simulation: Simulation, objective: str) -> float:
    return simulation.after.cushions[objective]


def broken(simulation: Simulation, rules: Constraints) -> list[str]:
    """The tests that a list of trades may not leave so."""
    return [
        row.test_id
        for row in simulation.results
        if row.status_projected == "fail"
        and (
            rules.tests == "pass"
            or (rules.tests == "maintain" and row.cushion_projected < min(0.0, row.cushion_current) - 1e-6)
        )
    ]


def assert_kept(proposal: Proposal, rules: Constraints, cash: float) -> None:
    """Every constraint, by the trades alone and a simulation of its own."""
    trades = proposal.trades
    par = [trade.par_value or 0.0 for trade in trades]
    assert len(trades) <= rules.max_trades
    assert sum(par) == pytest.approx(proposal.turnover)
    assert sum(par) <= (sum(par) if rules.max_turnover is None else rules.max_turnover)
    assert broken(proposal.simulation, rules) == []
    moved = sum(
        (trade.par_value or 0.0) * (trade.price or 0.0) / 100 * (1 if trade.trade_type == "sell" else -1)
        for trade in trades
    )
    assert cash + moved >= min(rules.min_cash, cash) - 0.01
    named = [trade.cusip for trade in trades]
    assert len(named) == len(set(named))
    for trade in trades:
        if trade.trade_type == "buy":
            assert (rules.min_price or 0.0) <= (trade.price or 0.0) <= (rules.max_price or 1e9)
        assert rules.allow_sells or trade.trade_type == "buy"


@every("objective", list(LIMITS))
def test_nothing_that_could_be_chosen_is_better(base: Simulator, universe: list[Trade], objective: str) -> None:
    """Of few loans every choice is tried.

    The oracle knows nothing of programs and tangents.
    """
    few = priced(base.holdings.portfolio, range(20, 24))
    sold, bought = sales(few), universe[5:9]
    simulator = core.Simulator(few, "enhanced", details=False)
    cash = few.deal.principal_cash or 0.0
    best = cushion_of(simulator.simulate([]), objective)
    counts = range(1, WHOLE.max_trades + 1)
    for chosen in chain.from_iterable(combinations([*sold, *bought], many) for many in counts):
        moved = sum(
            (item.par_value or 0) * (item.price or 0) / 100 * (1 if item.trade_type == "sell" else -1)
            for item in chosen
        )
        turnover = sum(item.par_value or 0 for item in chosen)
        if cash + moved >= min(0.0, cash) and turnover <= (WHOLE.max_turnover or 0):
            result = simulator.simulate(chosen)
            if not broken(result, WHOLE):
                best = max(best, cushion_of(result, objective))
    proposal = optimize(simulator, objective, bought, WHOLE)
    assert_kept(proposal, WHOLE, cash)
    assert proposal.cushion_after >= best - 1e-5 * abs(LIMITS[objective])
    assert proposal.cushion_after > proposal.cushion_before
    assert proposal.is_complete


def test_every_constraint_holds(base: Simulator, universe: list[Trade]) -> None:
    cash = base.holdings.portfolio.deal.principal_cash or 0.0
    for rules in (
        Constraints(max_trades=3, max_turnover=5e6),
        Constraints(max_trades=4, min_trade=500e3, max_trade=1e6, min_price=97.0, max_price=99.0, min_cash=2e6),
        Constraints(tests="maintain", max_trades=3, allow_sells=False),
        Constraints(max_trades=3, min_sell_price=99.5, max_turnover=6e6),
        Constraints(max_trades=0),
        Constraints(max_trade=0.0),
        Constraints(max_turnover=0.0, tests="maintain"),
    ):
        proposal = optimize(base, "average_rating_factor", universe[:15], rules)
        assert_kept(proposal, rules, cash)
        for trade in proposal.trades:
            if trade.trade_type == "sell":
                assert (trade.price or 0.0) >= (rules.min_sell_price or 0.0)
            assert (trade.par_value or 0.0) <= (rules.max_trade or 1e12)
        assert proposal.cushion_after >= proposal.cushion_before
        assert (proposal.trades == []) == (0 in (rules.max_trades, rules.max_trade, rules.max_turnover))


def test_what_bends_is_found_by_the_search(base: Simulator, universe: list[Trade]) -> None:
    """Diversity is a step function of each industry: no program has it."""
    rules = Constraints(max_trades=2, max_turnover=4e6)
    proposal = optimize(base, "diversity_score", universe[:30], rules)
    single = max(
        cushion_of(base.simulate([trade]), "diversity_score") for trade in universe[:30] if (trade.par_value or 0) < 4e6
    )
    assert proposal.cushion_after >= min(single, proposal.cushion_before + 0.1) > proposal.cushion_before


def test_a_test_that_fails_is_cured_or_named(base: Simulator, universe: list[Trade]) -> None:
    portfolio = base.holdings.portfolio
    value = next(row.current_value for row in base.before if row.test_id == "average_rating_factor")

    def under(limit: float) -> Simulator:
        own = {"average_rating_factor": Threshold(test_id="average_rating_factor", threshold_value=limit)}
        return core.Simulator(portfolio, "enhanced", details=False, workbook_thresholds=own)

    rules = Constraints(max_trades=5, max_turnover=20e6)
    cured = optimize(under(value - 20), "oc_ratio", universe[:25], rules)
    assert broken(cured.simulation, rules) == []
    assert cured.simulation.new_failures == 0
    with pytest.raises(InfeasibleError) as refused:
        optimize(under(value - 1000), "oc_ratio", universe[:25], rules)
    (binding,) = refused.value.binding
    assert binding.test_id == "average_rating_factor"
    assert value - 1000 < binding.current_value < value, "the nearest that was found"
    kept = optimize(under(value - 1000), "oc_ratio", universe[:25], Constraints(tests="maintain", max_trades=3))
    row = next(row for row in kept.simulation.results if row.test_id == "average_rating_factor")
    assert row.cushion_projected >= row.cushion_current
    with pytest.raises(UnknownTest, match="no test with a limit"):
        optimize(base, "colour", universe, rules)
    lifeless = {name: column for name, column in portfolio.numbers.items() if name != "maturity_date"}
    with pytest.raises(ObjectiveError, match="wal: Skipped"):
        optimize(core.Simulator(replace(portfolio, numbers=lifeless)), "wal", universe, rules)


def test_time_that_ends_before_every_loan_is_measured_is_not_lost(
    base: Simulator, universe: list[Trade], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What helps among the loans that were seen is proposed, and that there were more is told. A look at the clock
    takes a second here."""
    monkeypatch.setattr("core.scenario.optimize.time.monotonic", count().__next__)
    proposal = optimize(base, "average_rating_factor", universe, Constraints(max_trades=2), seconds=400)
    assert proposal.cushion_after > proposal.cushion_before
    assert not proposal.is_complete


def test_a_figure_that_a_definition_rounds_stays_on_the_side_of_its_limit() -> None:
    """6.678 % of 150m would be within 6.678, were it not compared as 6.68.

    Below 6.675 % it is 6.67.
    """
    names = [f"Tree {at}" for at in range(10)]
    columns = {"par_value": [10e6] * 10, "obligor": names, "price": [100.0] * 10, "spread": [300.0] * 10}
    tests = [
        {"id": "largest", "name": "Largest", "measure": "obligor", "max": 6.678},
        {"id": "was", "name": "WAS", "measure": "was", "min": 2.0},
    ]
    rules = parse({"conventions": {"decimals": {"percent": 2}}, "tests": tests})
    simulator = core.Simulator(portfolio_of(columns, deal=Deal(principal_cash=50e6)), "deal", definition=rules)
    nova = Trade(trade_type="buy", par_value=20e6, borrower_name="Nova", price=100.0, spread=900.0)
    result = optimize(simulator, "was", [nova], Constraints(allow_sells=False))
    assert [row.status_projected for row in result.simulation.results] == ["pass", "pass"]
    assert [trade.par_value for trade in result.trades] == [pytest.approx(0.06675 * 150e6, rel=1e-3)]


def test_trades_that_were_made_come_first(base: Simulator, universe: list[Trade]) -> None:
    sale = sales(base.holdings.portfolio)[0]
    proposal = optimize(base, "was", universe[:10], Constraints(max_trades=2), prior_trades=[sale])
    assert proposal.cushion_before == pytest.approx(cushion_of(base.simulate([sale]), "was"), abs=1e-9)
    assert sale.cusip not in {trade.cusip for trade in proposal.trades if trade.trade_type == "sell"}
    assert proposal.cushion_after == pytest.approx(cushion_of(proposal.simulation, "was"), abs=1e-9)
