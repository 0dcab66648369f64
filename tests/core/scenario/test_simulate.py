"""Tests before and after trades: the worked example, what counts and what is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import core
from core.compliance.run import run_suite
from core.portfolio.portfolio import Portfolio
from core.scenario.simulate import Simulation
from core.scenario.trades import Trade, TradeError

Build = Callable[..., Portfolio]


def trade(kind: Any, par: float | None, borrower: str | None = None, **more: Any) -> Trade:
    return Trade(trade_type=kind, par_value=par, borrower_name=borrower, **more)


def figures(found: Simulation) -> dict[str, tuple[float, float, str]]:
    return {row.test_id: (row.current_value, row.projected_value, row.impact_direction) for row in found.results}


def test_g10_the_worked_scenario(g1: Build) -> None:
    """Selling a CCC loan above its carrying value builds OC, though par falls."""
    base = g1()
    found = core.simulate(
        base, [trade("sell", 10e6, "Lima", price=55), trade("buy", 8e6, "Nova", rating_agency_a="B2", price=98.5)]
    )
    seen = figures(found)
    assert seen["ccc_bucket_pct"] == (11.25, 8.846873, "improve")
    assert seen["oc_ratio"] == (106.753425, 106.759301, "improve")
    assert seen["average_rating_factor"] == (3041.367089, 2906.870229, "improve")
    oc = next(result for result in found.after if result.test_id == "oc_ratio")
    assert oc.details is not None
    parts = oc.details.breakdown["adjustments"]
    assert (parts["principal_cash"], parts["collateral_principal_amount"]) == (2_620_000, 395_620_000)
    assert (parts["ccc_excess"], parts["ccc_haircut"], parts["adjusted"]) == (5_328_500, 1_598_550, 389_671_450)
    assert list(found.before) == list(run_suite(base, "enhanced"))
    assert base.row_count == 13
    assert base.deal.principal_cash == 5e6


def test_a_portfolio_whose_mapping_names_no_par_is_simulated_as_one_that_has_none(g1: Build) -> None:
    whole = g1()
    portfolio = replace(whole, numbers={name: column for name, column in whole.numbers.items() if name != "par_value"})
    buy = Trade(trade_type="buy", par_value=1e6, borrower_name="Nova", price=99.0, rating_agency_a="B2")
    found = core.simulate(portfolio, [buy])
    assert (found.results, found.before.skipped) == ([], run_suite(portfolio, "enhanced").skipped)
    sell = Trade(trade_type="sell", par_value=1e6, borrower_name="Alpha", price=99.0)
    with pytest.raises(TradeError, match="nothing is held"):
        core.simulate(portfolio, [sell])
