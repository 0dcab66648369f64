"""Loans as trades: what is sold and bought back at its price leaves every test as it was."""

from __future__ import annotations

import pytest

import core
from core.generate import generate
from core.portfolio import Portfolio
from core.scenario.universe import name_of, offers, sales, trade_of


@pytest.fixture(scope="module")
def portfolio() -> Portfolio:
    result = generate(loans=200, seed=7)
    return Portfolio.from_columns(result.portfolio_columns(), tranches=result.tranches, deal=result.deal)


def test_a_loan_that_is_sold_and_bought_back_moves_no_test(portfolio: Portfolio) -> None:
    simulator = core.Simulator(portfolio, "enhanced", details=False)
    moved, seen = [], 0
    for sale in sales(portfolio)[::5]:
        named = ("cusip", sale.cusip) if sale.cusip else ("loanx_id", sale.loanx_id)
        (row,) = [row for row in range(portfolio.row_count) if name_of(portfolio, row) == named]
        purchase = trade_of(portfolio, row, "buy", float(portfolio.numbers["par_value"][row]))
        assert purchase is not None
        outcome = simulator.simulate([sale, purchase])
        bought_low = min(portfolio.numbers[name][row] for name in ("purchase_price", "price")) < 80
        seen += not bought_low  # else a discount obligation, by what its owner paid then or pays now
        moved += [
            (row, result) for result in outcome.results if result.impact_direction != "neutral" and not bought_low
        ]
    assert (moved, seen > 20) == ([], True)


def test_what_may_be_bought_performs_and_has_a_price(portfolio: Portfolio) -> None:
    numbers, gone = portfolio.numbers, portfolio.defaulted()
    rows = [row for row in range(portfolio.row_count) if not gone[row] and numbers["price"][row] > 0]
    offered = offers(portfolio)
    assert [trade.par_value for trade in offered] == [numbers["par_value"][row] for row in rows]
    assert {trade.trade_type for trade in offered} == {"buy"}
    blank = Portfolio(row_count=0, numbers={}, names={}, flags={}, ranks={})
    assert (offers(blank), sales(blank)) == ([], [])
