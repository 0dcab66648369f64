"""Headroom against simulations at its edge.

Up to it the test holds, a unit further it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import msgspec
import pytest

import core
from core.compliance.result import Threshold
from core.portfolio import Portfolio
from core.scenario.headroom import CLOSE, TradeRoom, first_failure, headroom
from core.scenario.simulate import Simulator
from core.scenario.trades import Trade, TradeError

Build = Callable[..., Portfolio]

OBLIGOR = "single_obligor_concentration"
SELL = Trade(trade_type="sell", par_value=1.0, borrower_name="Alpha", price=60.0)
BUY = Trade(
    trade_type="buy", par_value=1.0, borrower_name="Nova", price=99.0, rating_agency_a="Caa2", industry="Retail"
)


def failing(simulator: Simulator, trade: Trade, amount: float) -> set[str]:
    after = simulator.simulate([msgspec.structs.replace(trade, par_value=amount)]).after
    return {result.test_id for result in after if result.status == "fail"}


@pytest.mark.parametrize("trade", [SELL, BUY], ids=["sell", "buy"])
def test_a_test_holds_up_to_its_headroom_and_no_further(g1: Build, trade: Trade) -> None:
    simulator = core.Simulator(g1(), "enhanced", details=False)
    room: TradeRoom = headroom(simulator, trade)
    wrong, bound = [], 0
    for row in room.tests:
        if row.status == "fail":
            wrong += [row] if row.headroom != 0 else []
        elif row.headroom is None:
            wrong += [row] if row.test_id in failing(simulator, trade, room.most) else []
        else:
            bound += 1
            below = row.headroom > 0 and row.test_id in failing(simulator, trade, row.headroom)
            above = row.test_id in failing(simulator, trade, min(room.most, row.headroom + 2 * CLOSE))
            wrong += [row] if below or not above else []
    assert (wrong, bound > 0) == ([], True)
    assert [row.test_id for row in room.tests] == [result.test_id for result in simulator.before]


def test_purchases_of_another_par_are_those_that_are_read_with_it(g1: Build) -> None:
    again = msgspec.structs.replace(BUY, price=None, borrower_name="Alpha")
    holdings = core.Simulator(g1(), "enhanced", details=False).holdings
    for par in (0.01, 333.33, 1e9):
        trades = [msgspec.structs.replace(trade, par_value=par) for trade in (BUY, again, BUY)]
        assert holdings.traded([BUY, again, BUY]).of_par(par) == holdings.traded(trades)


def test_a_share_binds_where_the_arithmetic_says(g1: Build) -> None:
    """Nova's h of 400m, which its price moves by a hundredth of it.

    H / (400m + h - 0.99 h) = 15 %.
    """
    own = {OBLIGOR: Threshold(test_id=OBLIGOR, threshold_value=15.0)}
    simulator = core.Simulator(g1(), "standard", details=False, workbook_thresholds=own)
    row = next(row for row in headroom(simulator, BUY).tests if row.test_id == OBLIGOR)
    assert row.headroom == pytest.approx(0.15 * 400e6 / (1 - 0.15 * 0.01), abs=2 * CLOSE)


def test_a_sell_ends_with_what_is_held(g1: Build) -> None:
    simulator = core.Simulator(g1(), "standard", details=False)
    assert headroom(simulator, SELL).most == 40e6
    for wrong in ({"borrower_name": "Zulu"}, {"price": nan}):
        with pytest.raises(TradeError):
            headroom(simulator, msgspec.structs.replace(SELL, **wrong))


def test_the_first_failure_is_the_least_headroom_of_the_tests_that_pass(g1: Build) -> None:
    simulator = core.Simulator(g1(), "enhanced", details=False)
    for trade in (SELL, BUY):
        room = headroom(simulator, trade)
        bound = {row.test_id: row.headroom for row in room.tests if row.status != "fail" and row.headroom is not None}
        first = first_failure(simulator, [trade])
        assert first.amount == pytest.approx(min(bound.values()), abs=2 * CLOSE)
        assert first.most == room.most
        assert first.test_ids == [test_id for test_id, par in bound.items() if par <= first.amount + 2 * CLOSE]


def test_what_is_spread_over_borrowers_meets_no_limit_of_one(g1: Build) -> None:
    """Four parts of h each bear the limit that one of h meets, until the industry's limit comes."""
    own = {
        test_id: Threshold(test_id=test_id, threshold_value=limit)
        for test_id, limit in ((OBLIGOR, 15.0), ("industry_concentration", 45.0))
    }
    simulator = core.Simulator(g1(), "standard", details=False, test_ids=[*own], workbook_thresholds=own)
    several = [msgspec.structs.replace(BUY, borrower_name=f"Nova {at}") for at in "ABCD"]
    alone, spread = first_failure(simulator, several[:1]), first_failure(simulator, several)
    assert alone.test_ids == [OBLIGOR]
    assert alone.amount < spread.amount
    assert spread.test_ids == ["industry_concentration"]
