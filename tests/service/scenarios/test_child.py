"""What a child keeps between simulations.

The run before the trades, by all that it is made from.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from core.portfolio import Portfolio
from core.scenario.trades import Trade
from service.scenarios import child

SELL = Trade(trade_type="sell", borrower_name="Acme", par_value=1e6, price=99.0)
BUY = Trade(trade_type="buy", borrower_name="Nova", par_value=2e6, price=98.0, spread=400.0)


@pytest.fixture
def portfolio(monkeypatch: pytest.MonkeyPatch) -> Portfolio:
    monkeypatch.setattr(child, "_simulators", {})
    return Portfolio.from_columns(
        {"borrower_name": ["Acme", "Bolt"], "par_value": [5e6, 7e6], "spread": [350.0, 500.0]}
    )


def plain(value: Any) -> Any:
    """What the child's caller decodes."""
    return msgspec.to_builtins(value)


def test_a_kept_run_gives_the_same_results_for_any_trades(portfolio: Portfolio) -> None:
    for trades in ([SELL], [BUY], [SELL, BUY], [], [SELL]):
        expected = plain(child.simulate(portfolio, trades, "enhanced", {}))
        assert plain(child.simulate_again("a", portfolio, trades, "enhanced", {})) == expected
    assert len(child._simulators) == 1
    wrong = child.simulate_again("a", portfolio, [BUY, Trade(trade_type="sell", par_value=1.0)], "enhanced", {})
    assert isinstance(wrong, child.WrongTrade)
    assert wrong.place == 1


def test_another_fingerprint_or_suite_is_another_run(portfolio: Portfolio) -> None:
    second = Portfolio.from_columns(
        {"borrower_name": ["Acme", "Bolt"], "par_value": [5e6, 9e6], "spread": [350.0, 1.0]}
    )
    child.simulate_again("a", portfolio, [SELL], "enhanced", {})
    for name, loans, suite in (("b", second, "enhanced"), ("a", portfolio, "standard")):
        expected = plain(child.simulate(loans, [SELL], suite, {}))
        assert plain(child.simulate_again(name, loans, [SELL], suite, {})) == expected
    assert [*child._simulators] == [("a", "enhanced"), ("b", "enhanced"), ("a", "standard")]


def test_few_runs_of_short_portfolios_are_kept(portfolio: Portfolio, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(child.KEPT_MAX + 1):
        child.simulate_again(str(number), portfolio, [SELL], "standard", {})
        child.simulate_again("0", portfolio, [SELL], "standard", {})
    names = [name for name, _ in child._simulators]
    assert len(names) == child.KEPT_MAX
    assert "1" not in names, "the one that was not used for longest"
    assert names[-1] == "0"
    monkeypatch.setattr(child, "KEPT_LOANS_MAX", 1)
    child.simulate_again("long", portfolio, [SELL], "standard", {})
    assert ("long", "standard") not in child._simulators
