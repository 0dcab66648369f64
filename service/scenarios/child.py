"""What a confined child does for scenarios.

Make trades, look for better ones, and see how much of one fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final, NamedTuple

from msgspec import Struct

from core.compliance.limits import UnknownTest
from core.compliance.result import TestResult
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning
from core.portfolio.model.portfolio import AsOfSource
from core.scenario.headroom import TradeRoom, headroom
from core.scenario.optimize import Constraints, InfeasibleError, ObjectiveError, UniverseError, after, optimize
from core.scenario.simulate import Impacts, NotCompared, Projected, Simulation, Simulator
from core.scenario.trades import Trade, TradeError, loan_of
from core.scenario.universe import offers

KEPT_MAX: Final = 8
"""Runs before trades that a child keeps: whoever types a ticket asks for the same one again."""
KEPT_LOANS_MAX: Final = 10_000
"""Of a longer portfolio none is kept."""

Rules = Mapping[str, Any]
"""Options of `run_suite`: a definition, and limits by who set them."""


class SimulationResult(Struct, frozen=True, kw_only=True, tag=True):
    """What trades do to the tests, and the day that these are of."""

    results: list[Projected]
    skipped: list[NotCompared]
    impact_summary: Impacts
    new_failures: int
    total_tests: int
    message: str
    warnings: list[DataWarning]
    as_of: date | None
    as_of_source: AsOfSource | None


class WrongTrade(Struct, frozen=True, tag=True):
    """A trade that cannot be made: its place in its list, and why."""

    place: int
    reason: str


class WrongOffer(Struct, frozen=True, tag=True):
    """The same of what may be bought."""

    place: int
    reason: str


class TooManyOffers(Struct, frozen=True, tag=True):
    """More loans may be bought than are looked at."""

    count: int


class NotFeasible(Struct, frozen=True, tag=True):
    """No trades keep these tests."""

    binding: list[TestResult]


class NoObjective(Struct, frozen=True, tag=True):
    """The objective has no figure, or there is too much to choose from."""

    message: str


class UnknownObjective(Struct, frozen=True, tag=True):
    """The suite lacks the objective."""

    message: str


class ProposalFound(Struct, frozen=True, kw_only=True, tag=True):
    """Trades that improve the objective, and what they do to the tests."""

    trades: list[Trade]
    simulation: SimulationResult
    cushion_before: float
    cushion_after: float
    turnover: float
    candidates: int
    is_complete: bool
    warnings: list[DataWarning]


NoProposal = WrongTrade | WrongOffer | TooManyOffers | NotFeasible | NoObjective | UnknownObjective


def simulate(portfolio: Portfolio, trades: Sequence[Trade], suite: str, rules: Rules) -> SimulationResult | WrongTrade:
    """Return every test of a suite before the trades and after them."""
    return _simulate_trades(Simulator(portfolio, suite, details=False, **rules), trades)


def simulate_again(
    fingerprint: str, portfolio: Portfolio, trades: Sequence[Trade], suite: str, rules: Rules
) -> SimulationResult | WrongTrade:
    """Simulate; the run before the trades is made once a fingerprint."""
    key = fingerprint, suite
    simulator = _simulators.pop(key, None) or Simulator(portfolio, suite, details=False, **rules)
    if portfolio.row_count <= KEPT_LOANS_MAX:
        _simulators[key] = simulator  # behind the others
        while len(_simulators) > KEPT_MAX:
            del _simulators[next(iter(_simulators))]
    return _simulate_trades(simulator, trades)


_simulators: dict[tuple[str, str], Simulator] = {}
"""Of this child, the one that was used last behind the others."""


def _simulate_trades(simulator: Simulator, trades: Sequence[Trade]) -> SimulationResult | WrongTrade:
    try:
        return _to_simulated(simulator.simulate(trades))
    except TradeError as error:
        return WrongTrade(error.trade, error.reason)


def _to_simulated(simulation: Simulation) -> SimulationResult:
    same = ("results", "skipped", "impact_summary", "new_failures", "total_tests", "message", "warnings")
    return SimulationResult(
        **{name: getattr(simulation, name) for name in same},
        as_of=simulation.before.as_of,
        as_of_source=simulation.before.as_of_source,
    )


class SearchLimits(NamedTuple):
    """What a search may take."""

    offers: int
    seconds: float


def propose(
    portfolio: Portfolio,
    suite: str,
    rules: Rules,
    objective: str,
    universe: Portfolio | Sequence[Trade],
    constraints: Constraints,
    trades: Sequence[Trade],
    limits: SearchLimits,
) -> ProposalFound | NoProposal:
    """Propose trades behind those of a scenario that improve a test."""
    offered: Sequence[Trade]
    if isinstance(universe, Portfolio):
        offered = offers(universe)
        if len(offered) > limits.offers:
            return TooManyOffers(len(offered))
    else:
        offered = universe
        for place, trade in enumerate(offered):
            try:
                loan_of(trade, 0)
            except TradeError as error:
                return WrongOffer(place, error.reason)
    try:
        simulator = Simulator(portfolio, suite, details=False, **rules)
        optimum = optimize(simulator, objective, offered, constraints, prior_trades=trades, seconds=limits.seconds)
    except TradeError as error:
        return WrongTrade(error.trade, error.reason)
    except InfeasibleError as error:
        return NotFeasible(error.binding)
    except UnknownTest as error:
        return UnknownObjective(str(error))
    except (ObjectiveError, UniverseError) as error:
        return NoObjective(str(error))
    same = ("trades", "cushion_before", "cushion_after", "turnover", "candidates", "is_complete", "warnings")
    return ProposalFound(
        simulation=_to_simulated(optimum.simulation), **{name: getattr(optimum, name) for name in same}
    )


class NoRoom(Struct, frozen=True, tag=True):
    """Why there is no room for a trade: it cannot be made itself."""

    reason: str


class Rooms(Struct, frozen=True, tag=True):
    """How much of a trade each test bears."""

    room: TradeRoom


def bear(
    portfolio: Portfolio, suite: str, rules: Rules, trades: Sequence[Trade], trade: Trade
) -> Rooms | NoRoom | WrongTrade:
    """Return how much more of a trade each test bears."""
    try:
        simulator = after(Simulator(portfolio, suite, details=False, **rules), trades)
    except TradeError as error:
        return WrongTrade(error.trade, error.reason)
    try:
        return Rooms(headroom(simulator, trade))
    except TradeError as error:
        return NoRoom(error.reason)
