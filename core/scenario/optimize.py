"""Trades that improve a test.

A mixed-integer program of what each trade does to the tests, judged by simulations.

A test compares a figure with a limit. Where the figure is a quotient of sums over the loans (shares, averages, OC
with fixed haircuts), (cushion - floor) x divisor is linear in the par of the trades, so the simulated effect of one
trade of each loan is exact for any amounts. Where it is not (largest obligors, CCC excess, diversity), it is the
tangent: whenever a proposal breaks a test that the program thought kept, the tangents there join it, which is exact
again for figures that bend one way. A quotient is improved by Dinkelbach's method: the figure to beat rises with each
solution. For the rest a search tries single trades and pairs of a sale and a purchase. Only what a simulation has
confirmed is proposed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from math import floor, inf, isfinite
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from core.compliance.limits import UnknownTest
from core.compliance.result import Results, TestResult
from core.frames.brief import brief
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.notes import DataWarning
from core.scenario.changed import changed
from core.scenario.simulate import NEUTRAL, Simulation, Simulator
from core.scenario.trades import AMOUNT_MAX, PRICE_MAX, TRADES_MAX, Trade, TradeError
from core.scenario.universe import sales

CANDIDATES_MAX: Final = 5_000
"""Loans that may be bought or sold, together."""

PROPOSED_MAX: Final = 100
"""Trades of one proposal."""

ROUNDS_MAX: Final = 12
"""Programs that are solved: each but the first has the tangents where the last proposal broke a test."""

STEP: Final = 0.01
"""The part of the most that may be traded of a loan by which its effect is measured."""

PAIRED: Final = 10
"""Of the sales and of the purchases that help most alone, so many each are tried in pairs."""

MARGIN: Final = 1e-7
"""Of the limit: by how much the program keeps away from it, since amounts are rounded to whole units."""

LEAST_GAIN: Final = 1e-6
"""Of the limit: what a trade must bring to be worth proposing."""

PENALTY: Final = 1e4
"""What breaking a test by its whole limit costs the program, beside a gain of the objective by its whole limit."""

MILLION: Final = 1e6
"""The program's unit of par, near to its other figures."""

Keep = Literal["pass", "maintain", "free"]


Amount = Annotated[float, Meta(ge=0, le=AMOUNT_MAX)]
Price = Annotated[float, Meta(ge=0, le=PRICE_MAX)]


class Constraints(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What proposed trades keep to.

    Par and cash in the deal's currency, prices in percent of par.
    """

    tests: Keep = "pass"
    """pass: every test passes after them; maintain: none fails anew, and one that fails gets no worse; free: any."""
    max_trades: Annotated[int, Meta(ge=0, le=PROPOSED_MAX)] = 10
    """Most trades to propose."""
    max_turnover: Amount | None = None
    """Most par to buy and sell, together. Null: no limit."""
    min_trade: Amount = 0.0
    """Least par of one trade; of a loan of which there is less, all of it."""
    max_trade: Amount | None = None
    """Most par of one trade. Null: no limit."""
    min_price: Price | None = None
    """Lowest price of what is bought, in percent of par. Null: any."""
    max_price: Price | None = None
    """Highest price of what is bought, in percent of par. Null: any."""
    min_sell_price: Price | None = None
    """Lowest price of what is sold, in percent of par. Null: any."""
    min_cash: Annotated[float, Meta(ge=-AMOUNT_MAX, le=AMOUNT_MAX)] = 0.0
    """Least principal cash after the trades; where there is less before them, it does not fall."""
    allow_sells: bool = True
    """Whether loans that are held may be sold."""

    __repr__ = brief


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """Trades that keep the constraints, simulated; no trades if none improves."""

    trades: list[Trade]
    simulation: Simulation
    """Of the trades that were made already and these, on the portfolio without both."""
    cushion_before: float
    """Of the objective with the trades that were made already, in its unit, before a definition rounds its figure; the
    next with these, too."""
    cushion_after: float
    turnover: float
    candidates: int
    """Trades that were considered."""
    is_complete: bool
    """Not ended by its time."""
    warnings: list[DataWarning]

    __repr__ = brief


class ObjectiveError(ValueError):
    """The test that is to be improved has no figure; the text is the reason."""


class UniverseError(ValueError):
    """There are more loans to choose from than `CANDIDATES_MAX`."""


class InfeasibleError(ValueError):
    """No trades that were found keep every test."""

    def __init__(self, binding: list[TestResult]) -> None:
        """Args:
        binding: the tests that fail by the least that was found.
        """
        super().__init__("no trades keep " + ", ".join(test.test_name for test in binding))
        self.binding = binding


def optimize(
    simulator: Simulator,
    objective: str,
    universe: Sequence[Trade],
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen
    *,
    prior_trades: Sequence[Trade] = (),
    seconds: float = 10.0,
) -> Proposal:
    """Trades that raise the cushion of a test as far as was found.

    Args:
        objective: a test of the simulator's suite.
        universe: buys, each of the most that may be bought of a loan, with a price.
        prior_trades: trades that come before the proposed ones.
        seconds: after which the best that was found is proposed.

    Raises:
        UnknownTest: the suite has no test of the objective's name, or one without a limit.
        ObjectiveError: there is no figure of it.
        InfeasibleError: the constraints ask that tests pass, and no trades were found after which they do.
        TradeError: as `simulate` has it, of the trades that were made.
        UniverseError: there are too many loans to choose from.
    """
    most = min(constraints.max_trades, TRADES_MAX - len(prior_trades))
    constraints = msgspec.structs.replace(constraints, max_trades=most)
    search = _Search(after(simulator, prior_trades), objective, universe, constraints, time.monotonic() + seconds)
    best = search.best()
    trades = search.trades(best)
    return Proposal(
        trades=trades,
        simulation=simulator.simulate([*prior_trades, *trades]),
        cushion_before=float(search.start.cushion[search.objective]),
        cushion_after=float(best.cushion[search.objective]),
        turnover=sum(best.amounts.values()),
        candidates=len(search.candidates),
        is_complete=bool(search.is_measured.all()) and not search.is_late(),
        warnings=search.warnings,
    )


def after(simulator: Simulator, trades: Sequence[Trade]) -> Simulator:
    """Return the portfolio with trades made, under the same suite.

    Raises:
        TradeError: one of them cannot be made.
    """
    if not trades:
        return simulator
    holdings = simulator.holdings
    return Simulator(changed(holdings, holdings.traded(trades)), simulator.suite, **simulator.options)


class _Candidate(NamedTuple):
    """A loan that may be bought or sold."""

    trade: Trade
    least: float
    most: float
    cash: float
    """What a unit of par brings; negative for a buy."""


class _Point(NamedTuple):
    """Amounts of candidates, and the tests after them."""

    amounts: Mapping[int, float]
    results: Results
    cushion: NDArray[np.float64]
    """Of each test, not yet rounded; NaN where it has no figure."""
    divisor: NDArray[np.float64]
    broken: float
    """By how much tests are broken, in parts of their limits."""


class _Tangents(NamedTuple):
    """What trades do to tests around a point.

    `at + slope @ (x - x0)`, of (cushion - floor) x divisor.
    """

    tests: NDArray[np.intp]
    constant: NDArray[np.float64]
    slope: NDArray[np.float64]


class _Search:
    """The state of one optimization."""

    def __init__(
        self,
        simulator: Simulator,
        objective: str,
        universe: Sequence[Trade],
        constraints: Constraints,
        end: float,
    ) -> None:
        self.simulator, self.constraints, self.end = simulator, constraints, end
        self.warnings: list[DataWarning] = []
        before = simulator.before
        self.tests = [result.test_id for result in before]
        if objective not in self.tests:
            reason = next((each.reason for each in before.skipped if each.test_id == objective), None)
            if reason is None:
                raise UnknownTest(f"no test with a limit is called {objective[:100]!r}")
            raise ObjectiveError(f"{objective}: {reason}")
        self.objective = self.tests.index(objective)
        self.scale = np.array([max(abs(result.threshold_value), 1e-3) for result in before])
        self.floor = np.zeros(len(self.tests))
        self.unit = np.ones(len(self.tests))
        failing = np.array([result.status == "fail" for result in before])
        self.may_fail = failing & (constraints.tests == "maintain")
        self.start = self.point({}, before)
        self.floor = np.where(failing & (constraints.tests == "pass"), 0.0, np.minimum(self.start.cushion, 0.0))
        self.unit = np.where(self.start.divisor > 0, self.start.divisor, 1.0)
        self.start = self.point({}, before)
        deal = simulator.holdings.portfolio.deal
        known = deal.principal_cash
        self.cash = known if known is not None and isfinite(known) else 0.0
        self.candidates = self._choose(universe)
        self.pairs = self._pairs()
        self.is_measured = np.ones(len(self.candidates), np.bool_)
        self.nearest = self.start

    def is_late(self) -> bool:
        checkpoint()
        return time.monotonic() >= self.end

    # ---- what may be traded

    def _choose(self, universe: Sequence[Trade]) -> list[_Candidate]:
        rules = self.constraints
        low, high = rules.min_price or 0.0, _limit(rules.max_price)
        priced = [trade for trade in universe if trade.price is not None]
        if len(priced) < len(universe):
            text = f"loans of the universe without a price are not bought: {len(universe) - len(priced):,}"
            self.warnings.append(DataWarning("universe_price", text))
        bought = [trade for trade in priced if trade.price is not None and low <= trade.price <= high]
        sold = sales(self.simulator.holdings.portfolio) if rules.allow_sells else []
        if rules.min_sell_price is not None:
            sold = [trade for trade in sold if (trade.price or 0.0) >= rules.min_sell_price]
        if len(bought) + len(sold) > CANDIDATES_MAX:
            raise UniverseError(f"{len(bought) + len(sold):,} loans to choose from are more than {CANDIDATES_MAX:,}")
        candidates = []
        for trade in (*sold, *bought):
            try:
                self.simulator.holdings.traded([trade])
            except TradeError as error:
                self.warnings.append(DataWarning("universe_trade", f"a loan is not considered: {error.reason}"))
                continue
            there, price = trade.par_value or 0.0, trade.price or 0.0
            most = min(there, _limit(rules.max_trade), _limit(rules.max_turnover))
            least = min(rules.min_trade, there)
            if 0 < most >= least:
                candidates.append(
                    _Candidate(trade, least, most, (1 if trade.trade_type == "sell" else -1) * price / 100)
                )
        return candidates

    def _pairs(self) -> list[tuple[int, int]]:
        """Candidates that are a sale and a purchase of one loan."""
        sold = {
            _name(candidate.trade): at
            for at, candidate in enumerate(self.candidates)
            if candidate.trade.trade_type == "sell"
        }
        return [
            (sold[_name(candidate.trade)], at)
            for at, candidate in enumerate(self.candidates)
            if candidate.trade.trade_type == "buy" and _name(candidate.trade) in sold
        ]

    def trades(self, point: _Point) -> list[Trade]:
        """Return the trades of a point, sales first."""
        return self._as_trades(point.amounts)

    def _as_trades(self, amounts: Mapping[int, float]) -> list[Trade]:
        return [
            msgspec.structs.replace(self.candidates[at].trade, par_value=amount)
            for at, amount in sorted(amounts.items())
        ]

    # ---- what trades come to

    def run(self, amounts: Mapping[int, float]) -> _Point:
        """Return the tests after amounts of candidates."""
        return self.point(amounts, self.simulator.simulate(self._as_trades(amounts)).after)

    def point(self, amounts: Mapping[int, float], results: Results) -> _Point:
        by_id = {result.test_id: result for result in results}
        count = len(self.tests)
        cushion, divisor = np.full(count, np.nan), np.full(count, np.nan)
        broken = 0.0
        for at, test_id in enumerate(self.tests):
            result = by_id.get(test_id)
            if result is not None:
                value, divisor[at] = results.exact[test_id]
                cushion[at] = _cushion(result, value)
            if self.constraints.tests == "free":
                continue
            if result is None:
                broken += 1.0
            elif self._is_broken(at, result, cushion[at]):
                broken += max(0.0, self.floor[at] - cushion[at]) / self.scale[at] + MARGIN
        return _Point(amounts, results, cushion, divisor, broken)

    def _is_broken(self, at: int, result: TestResult, cushion: float) -> bool:
        """Return whether a test may not be so.

        A figure that a definition rounds fails beyond a limit that it has not reached.
        """
        return result.status == "fail" and not (self.may_fail[at] and cushion >= self.floor[at] - NEUTRAL)

    def slack(self, point: _Point, tests: NDArray[np.intp]) -> NDArray[np.float64]:
        """(cushion - floor) x divisor, the divisor in units of what it is at the start."""
        return (point.cushion[tests] - self.floor[tests]) * point.divisor[tests] / self.unit[tests]

    def tangents(self, around: _Point, tests: NDArray[np.intp]) -> tuple[_Tangents, _Tangents] | None:
        """Of the slack of tests, and of the objective's (cushion x divisor, divisor).

        None where time has run out.

        The first ones take half of the time at most: loans are measured in random order, the rest is not traded.
        """
        count, own = len(self.candidates), np.array([self.objective])
        slope = np.zeros((len(tests) + 2, count))

        def seen(point: _Point) -> NDArray[np.float64]:
            size = point.divisor[own] / self.unit[own]
            return np.concatenate((self.slack(point, tests), point.cushion[own] * size, size))

        here = seen(around)
        left = np.flatnonzero(self.is_measured)
        enough = (time.monotonic() + self.end) / 2
        for at in np.random.default_rng(0).permutation(left).tolist():
            if self.is_late():
                return None
            if time.monotonic() >= enough and around is self.start:
                self.is_measured[:] = slope.any(axis=0)
                break
            candidate = self.candidates[at]
            now = around.amounts.get(at, 0.0)
            step = STEP * candidate.most
            if now + step > candidate.most:
                step = -step
            slope[:, at] = (seen(self.run({**around.amounts, at: now + step})) - here) / step * MILLION
        slope[~np.isfinite(slope)] = 0.0
        amounts = np.zeros(count)
        for at, amount in around.amounts.items():
            amounts[at] = amount / MILLION
        constant = here - slope @ amounts
        cut = len(tests)
        objective = _Tangents(own, constant[cut:], slope[cut:])
        return _Tangents(tests, constant[:cut], slope[:cut]), objective

    # ---- the best

    def best(self) -> _Point:
        """Return the best point that was found.

        Raises:
            InfeasibleError: none keeps the tests.
        """
        best = self._programmed(self.start if self.start.broken == 0 else None)
        best = self._search(best or self.nearest) if self.is_bent or best is None else best
        if best.broken:
            raise InfeasibleError(self._broken_by(best))
        return best

    def _programmed(self, best: _Point | None) -> _Point | None:
        """Return what programs lead to; None where no solution keeps the tests."""
        self.is_bent = False
        kept = np.arange(len(self.tests)) if self.constraints.tests != "free" else np.arange(0)
        tangent = self.tangents(self.start, kept)
        if tangent is None or not self.candidates:
            return best
        cuts, (objective, seen) = [tangent[0]], (tangent[1], [self.start])
        for _ in range(ROUNDS_MAX):
            target = (best or self.start).cushion[self.objective]
            amounts = self._solve(cuts, objective, float(target))
            if amounts is None or self.is_late():
                break
            point = self.run(amounts)
            self._note(point)
            if not point.broken and (best is None or self._gain(point, best) > 0):
                gained = inf if best is None else self._gain(point, best)
                best = point
                if gained < LEAST_GAIN:
                    break
            elif not point.broken or any(point.amounts == earlier_point.amounts for earlier_point in seen):
                break
            seen.append(point)
            self._round(point)
            wrong = self._bent(point, cuts, objective)
            if len(wrong) or point.broken:
                self.is_bent = True
                tangent = self.tangents(point, wrong)
                if tangent is None:
                    break
                cuts.append(tangent[0])
                objective = tangent[1]
        return best

    def _bent(self, point: _Point, cuts: Sequence[_Tangents], objective: _Tangents) -> NDArray[np.intp]:
        """Return the tests that are other than the program thought, and nearer to being broken; the objective with
        them."""
        x = np.zeros(len(self.candidates))
        for at, amount in point.amounts.items():
            x[at] = amount / MILLION
        least = np.full(len(self.tests), inf)
        for cut in cuts:
            least[cut.tests] = np.minimum(least[cut.tests], cut.constant + cut.slope @ x)
        actual = self.slack(point, np.arange(len(self.tests)))
        wrong = (actual < least - LEAST_GAIN * self.scale) & np.isfinite(least)
        planned = objective.constant + objective.slope @ x
        own = point.divisor[self.objective] / self.unit[self.objective]
        off = abs(planned[0] - point.cushion[self.objective] * own) > LEAST_GAIN * self.scale[self.objective]
        self.is_bent |= bool(off)
        return np.flatnonzero(wrong)

    def _round(self, point: _Point) -> None:
        """Keep further from the limits that figures reach by a definition's rounding alone: by more each time, until
        they are rounded the other way."""
        for at in np.flatnonzero(~self.may_fail):
            rounded = point.results.cushions.get(self.tests[at], 0.0)
            if rounded < 0.0 <= point.cushion[at]:
                self.floor[at] = max(self.floor[at], point.cushion[at] + (point.cushion[at] - rounded) / 2)

    def _gain(self, point: _Point, rival: _Point) -> float:
        """By how much the objective is better, in parts of its limit."""
        gain = point.cushion[self.objective] - rival.cushion[self.objective]
        return float(gain / self.scale[self.objective]) if isfinite(gain) else -inf

    def _note(self, point: _Point) -> None:
        if point.broken < self.nearest.broken:
            self.nearest = point

    def _broken_by(self, point: _Point) -> list[TestResult]:
        return [
            result
            for at, result in zip(
                (self.tests.index(result.test_id) for result in point.results), point.results, strict=True
            )
            if self._is_broken(at, result, point.cushion[at])
        ]

    # ---- the program

    def _solve(self, cuts: Sequence[_Tangents], objective: _Tangents, target: float) -> dict[int, float] | None:
        """Amounts that raise the objective most over its target, as the tangents tell, and break the tests least."""
        from scipy import sparse  # type: ignore[import-untyped]
        from scipy.optimize import Bounds, LinearConstraint, milp  # type: ignore[import-untyped]

        rules, count, tests = self.constraints, len(self.candidates), len(self.tests)
        most, least = (
            np.array([getattr(candidate, name) for candidate in self.candidates]) / MILLION
            for name in ("most", "least")
        )
        most = np.where(self.is_measured, most, 0.0)
        identity, none = sparse.identity(count, format="csr"), sparse.csr_matrix((count, tests))
        own = self.scale[self.objective]
        gain = (objective.slope[0] - target * objective.slope[1]) / own
        cost = np.concatenate((-gain, np.full(count, LEAST_GAIN), np.full(tests, PENALTY)))
        blank, apart = np.zeros(count), np.zeros(tests)

        def line(x: Any, y: Any) -> Any:
            return sparse.csr_matrix(np.concatenate((x, y, apart)))

        turnover = _limit(rules.max_turnover) / MILLION
        cash = np.array([candidate.cash for candidate in self.candidates])
        held_back = [
            LinearConstraint(sparse.hstack((identity, sparse.diags(-most), none)), -inf, 0.0),
            LinearConstraint(sparse.hstack((identity, sparse.diags(-least), none)), 0.0, inf),
            LinearConstraint(line(blank, blank + 1), -inf, rules.max_trades),
            LinearConstraint(line(blank + 1, blank), -inf, turnover),
            LinearConstraint(line(cash, blank), (min(rules.min_cash, self.cash) - self.cash) / MILLION, inf),
        ]
        for pair in self.pairs:
            either = blank.copy()
            either[list(pair)] = 1
            held_back.append(LinearConstraint(line(blank, either), -inf, 1.0))
        for cut in cuts:
            scale = self.scale[cut.tests]
            loose = sparse.csr_matrix((np.ones(len(scale)), (range(len(scale)), cut.tests)), (len(scale), tests))
            slope = sparse.csr_matrix(cut.slope / scale[:, None])
            rows = sparse.hstack((slope, sparse.csr_matrix(slope.shape), loose))
            held_back.append(LinearConstraint(rows, MARGIN - cut.constant / scale, inf))
        solution = milp(
            cost,
            constraints=held_back,
            integrality=np.concatenate((blank, blank + 1, apart)),
            bounds=Bounds(0.0, np.concatenate((most, blank + 1, apart + inf))),
            options={"time_limit": max(0.05, self.end - time.monotonic()), "mip_rel_gap": 1e-6},
        )
        if solution.x is None:
            return None
        x, y = solution.x[:count] * MILLION, solution.x[count : 2 * count]
        return {at: self._whole(at, float(x[at])) for at in range(count) if y[at] > 0.5 and x[at] >= 1.0}

    def _whole(self, at: int, amount: float) -> float:
        """Return an amount in whole units, or all that there is."""
        candidate = self.candidates[at]
        return candidate.most if amount > candidate.most - 1.0 else max(candidate.least, float(floor(amount)))

    # ---- the search

    def _search(self, best: _Point) -> _Point:
        """Return what single trades and pairs improve, one after the other, until none does or time runs out."""
        while not self.is_late():
            current = best
            alone: list[tuple[tuple[float, float], int]] = []
            for amounts in self._neighbours(best):
                if self.is_late():
                    return self._better(current, best)
                point = self.run(amounts)
                new = amounts.keys() - best.amounts.keys()
                if len(new) == 1:
                    alone.append(((point.broken, -self._gain(point, best)), new.pop()))
                if self._may(amounts):
                    current = self._better(point, current)
            for amounts in self._pair(best, [at for _, at in sorted(alone)]):
                if self.is_late():
                    break
                current = self._better(self.run(amounts), current)
            if current is best:
                return best
            best = current
        return best

    def _better(self, point: _Point, rival: _Point) -> _Point:
        """Return the one that breaks less, of equals the one whose objective is higher."""
        if point.broken != rival.broken:
            return point if point.broken < rival.broken else rival
        return point if self._gain(point, rival) > LEAST_GAIN else rival

    def _may(self, amounts: Mapping[int, float]) -> bool:
        """Return whether amounts keep to what no simulation is needed for."""
        rules = self.constraints
        cash = self.cash + sum(self.candidates[at].cash * amount for at, amount in amounts.items())
        return (
            len(amounts) <= rules.max_trades
            and sum(amounts.values()) <= _limit(rules.max_turnover)
            and cash >= min(rules.min_cash, self.cash) - 0.01
            and not any(left in amounts and right in amounts for left, right in self.pairs)
        )

    def _neighbours(self, point: _Point) -> Iterable[dict[int, float]]:
        amounts = dict(point.amounts)
        for at, amount in amounts.items():
            rest = {place: its for place, its in amounts.items() if place != at}
            yield rest
            if self.candidates[at].least <= floor(amount / 2) > 0:
                yield rest | {at: float(floor(amount / 2))}
        for at, candidate in enumerate(self.candidates):
            if at not in amounts:
                yield amounts | {at: candidate.most}

    def _pair(self, point: _Point, ranked: Sequence[int]) -> Iterable[dict[int, float]]:
        """With a sale and a purchase that help most alone, the purchase of as much as there is cash for."""
        sold = [at for at in ranked if self.candidates[at].cash > 0][:PAIRED]
        bought = [at for at in ranked if self.candidates[at].cash < 0][:PAIRED]
        for sale in sold:
            for purchase in bought:
                candidate = self.candidates[purchase]
                amounts = {**point.amounts, sale: self.candidates[sale].most}
                cash = self.cash + sum(self.candidates[at].cash * amount for at, amount in amounts.items())
                amount = float(
                    floor(min(candidate.most, (cash - min(self.constraints.min_cash, self.cash)) / -candidate.cash))
                )
                amounts[purchase] = amount
                if amount >= max(candidate.least, 1.0) and self._may(amounts):
                    yield amounts


def _limit(most: float | None) -> float:
    return inf if most is None else most


def _cushion(result: TestResult, value: float) -> float:
    limit = result.threshold_value
    if result.threshold_type == "max":
        return limit - value
    return value - limit if result.threshold_type == "min" else -abs(value - limit)


def _name(trade: Trade) -> tuple[str | None, ...]:
    data = trade.loan_data or {}
    named = (trade.cusip, trade.loanx_id or data.get("loanx_id"), data.get("isin"), trade.borrower_name)
    return next(((str(place), text) for place, text in enumerate(named) if text), ())
