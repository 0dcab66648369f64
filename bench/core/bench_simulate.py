"""How long what-if trades take.

10 on 1,000,000 loans beside the suite again, and 1,000 lists of 10 on 400 loans.

Half of the trades sell, part of a loan or all of it; half buy loans of new obligors. At a million loans the figures
after them must be those of the suite over the changed portfolio before a time counts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from bench.core.bench_compliance import portfolio
from bench.questions import OURS, Prepared, Question
from bench.rows import asked
from core.compliance.run import run_suite
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import Names
from core.scenario.changed import changed
from core.scenario.simulate import Simulator, simulate_many
from core.scenario.trades import Trade

LARGE, SMALL, SCENARIOS, TRADES = 1_000_000, 400, 1_000, 10
SUITE_AGAIN = "the suite again"
RATIO_LEAST = 20.0
"""10 trades against the suite again, at a million loans."""
MANY_SECONDS_MOST = 1.0


def book(loans: int) -> Portfolio:
    """The book of the compliance benchmark, with a CUSIP for each loan."""
    plain = portfolio(loans)
    cusips = Names(np.arange(loans, dtype=np.int32), tuple(f"{at:09d}" for at in range(loans)))
    return replace(plain, names=plain.names | {"cusip": cusips})


def trades(portfolio: Portfolio, chance: np.random.Generator) -> list[Trade]:
    """Sells of held loans and buys of new ones."""
    trades = []
    for at, row in enumerate(chance.choice(portfolio.row_count, TRADES, replace=False).tolist()):
        if at % 2:
            par = float(portfolio.numbers["par_value"][row]) * (0.5 if at % 4 == 1 else 1.0)
            trades.append(Trade(trade_type="sell", par_value=par, cusip=f"{row:09d}", price=98.5))
        else:
            trades.append(
                Trade(
                    trade_type="buy", par_value=2e6, cusip=f"N{row:08d}", borrower_name=f"Nova {row}", price=99.0,
                    rating_agency_a="B2", rating_agency_b="B", industry="Industry 3", spread=400.0,
                    loan_data={"country": "US", "lien_type": "First Lien", "recovery_rate": 45, "facility_size": 5e8},
                )
            )  # fmt: skip
    return trades


def _simulated() -> Prepared:
    large = book(LARGE)
    simulator = Simulator(large, "enhanced")
    orders = trades(large, np.random.default_rng(5))
    simulation = simulator.simulate(orders)
    again = run_suite(changed(simulator.holdings, simulator.holdings.traded(orders)), "enhanced")
    assert len(again) == len(simulation.after) == 25
    for ours, theirs in zip(simulation.after, again, strict=True):
        assert abs(ours.current_value - theirs.current_value) <= 1e-6 + 1e-9 * abs(theirs.current_value), ours.test_id
    return Prepared(
        works={OURS: partial(simulator.simulate, orders), SUITE_AGAIN: partial(run_suite, large, "enhanced")}
    )


def _simulated_many() -> Prepared:
    small, chance = book(SMALL), np.random.default_rng(5)
    lists = [trades(small, chance) for _ in range(SCENARIOS)]
    return Prepared(works={OURS: partial(simulate_many, small, lists)})


bench_simulate = asked(
    Question(
        name=f"simulate, {TRADES} trades of {LARGE:,} loans", prepare=_simulated, peers=(SUITE_AGAIN,), repeats=15,
        ratio_least={SUITE_AGAIN: RATIO_LEAST},
    ),
    Question(
        name=f"simulate_many, {SCENARIOS:,} of {TRADES} trades, {SMALL} loans", prepare=_simulated_many, repeats=3,
        seconds_most=MANY_SECONDS_MOST, quick=True,
    ),
)  # fmt: skip
