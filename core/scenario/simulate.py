"""Every test of a suite before and after trades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, Literal

import msgspec
import numpy as np

from core.checked import checked
from core.compliance.conventions import currency_of, definition_for
from core.compliance.framed import NOTEBOOK_ROWS, thinnest_first
from core.compliance.kernels import rounded
from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.result import Direction, Doubt, PublishedFigure, Results, Status, TestResult
from core.compliance.run import run_suite
from core.compliance.spreads import with_spread_rules
from core.frames.brief import brief, shortened
from core.frames.figures import DECIMALS, change_shown, figure_shown
from core.frames.notebook import FigureText, bar, card, table, verdict
from core.portfolio import Portfolio
from core.portfolio.model.notes import DataWarning, warning_texts
from core.portfolio.model.portfolio import without_figures_of_loans
from core.scenario.after import NeedsFullPass, pools_after
from core.scenario.base import Base
from core.scenario.changed import changed
from core.scenario.holdings import Holdings, TradeEffect
from core.scenario.trades import Trade
from core.words import agreed, counted, first_of

SCENARIOS_MAX: Final = 100_000
"""Lists of trades of one call."""

INCREMENTAL_ROWS: Final = 20_000
"""Loans from which on it is faster to add up what trades touch than all loans again."""

NEUTRAL: Final = 1e-9
"""The move of a cushion, in the test's unit, up to which it stays as it is."""

Impact = Literal["improve", "worsen", "neutral"]


class Projected(msgspec.Struct, frozen=True, kw_only=True):
    """One test before and after. Figures in the test's unit, to six decimals."""

    test_id: str
    test_name: str
    test_category: str
    current_value: float
    """Figure before the trades, in the test's unit."""
    projected_value: float
    """Figure after the trades."""
    threshold_value: float
    """What the projected figure is held to; the limit of a matrix moves with the portfolio."""
    threshold_type: Direction
    cushion_current: float
    """Distance to the limit before the trades."""
    cushion_projected: float
    """Distance to the limit after the trades; negative: the test fails."""
    status_current: Status
    status_projected: Status
    impact_direction: Impact
    """improve or worsen: the cushion grows or shrinks; neutral: it stays."""
    published: PublishedFigure | None = None
    """The figure that the file prints for this test, beside ours before the trades. Null: it prints none."""
    doubt: Sequence[Doubt] = ()
    """Every reason why the figure before the trades may be wrong; the one after them rests on the same."""
    doubtful: bool = False
    """Whether the status before the trades may be wrong, and with it the one after them."""
    unit: str = ""
    """Unit of the figures, as the suite names it: percent (percent points), years, factor, score, amount or number.
    Empty: not recorded."""
    decimals: int = DECIMALS
    """Decimals to show the figures with, before and after."""

    __repr__ = brief

    @property
    def cushion_change(self) -> float:
        """Cushion after less before."""
        return rounded(self.cushion_projected - self.cushion_current)


class NotCompared(msgspec.Struct, frozen=True, kw_only=True):
    """A test that has no figure on one side, or on both.

    Its status on the other side is reported and counts nowhere.
    """

    test_id: str
    test_name: str
    reason_current: str | None
    """Why there is no figure before the trades. Null: there is one."""
    reason_projected: str | None
    """Why there is no figure after the trades. Null: there is one."""
    status_current: Status | None
    status_projected: Status | None

    __repr__ = brief


class Impacts(msgspec.Struct, frozen=True):
    """Counts of the tests with a figure on both sides."""

    improve: int
    """Tests whose cushion grows."""
    worsen: int
    """Tests whose cushion shrinks."""
    neutral: int
    """Tests whose cushion stays."""

    __repr__ = brief


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """What trades do to every test of a suite."""

    results: list[Projected]
    """In catalogue order; tests with a figure on both sides."""
    skipped: list[NotCompared]
    before: Results
    after: Results
    impact_summary: Impacts
    new_failures: int
    """Tests that pass or warn before and fail after."""
    total_tests: int
    """As many as there are results."""
    message: str
    warnings: list[DataWarning]
    """Of the trades, then of the run before them, then what the run after them says anew."""

    def __repr__(self) -> str:
        return shortened(f"Simulation({self.message!r})")

    def _repr_html_(self) -> str:
        order = {each.test_id: at for at, each in enumerate(thinnest_first(self.after))}
        rows = sorted(self.results, key=lambda row: order.get(row.test_id, 0))[:NOTEBOOK_ROWS]
        cells = [_cells(row) for row in rows]
        headings = ["after", "test", "", "value before", "after", "limit", "cushion", "change", "impact"]
        return card(self.message, warning_texts(self.warnings), table(headings, cells))


def _cells(row: Projected) -> list[Any]:
    """Return a test before and after as a notebook's table has it.

    Figures as the command shows them.
    """
    decimals = row.decimals
    return [
        verdict(row.status_projected),
        row.test_name,
        bar(row.projected_value, row.threshold_value, row.threshold_type, row.status_projected),
        FigureText(figure_shown(row.current_value, decimals=decimals)),
        FigureText(figure_shown(row.projected_value, decimals=decimals)),
        FigureText(f"{row.threshold_type} {figure_shown(row.threshold_value, decimals=decimals)}"),
        FigureText(figure_shown(row.cushion_projected, "+", decimals)),
        FigureText(change_shown(row.cushion_change, decimals)),
        row.impact_direction,
    ]


class Simulator:
    """A portfolio under a suite, ready for any number of lists of trades.

    The run before them is made once.
    """

    @checked
    def __init__(
        self, portfolio: Portfolio, suite: str = "enhanced", *, incremental: bool | None = None, **options: Any
    ) -> None:
        """Args:
        incremental: whether the run after trades adds up the loans that they touch and no others; None where that is
            faster. The figures are the same but for the rounding of their additions.
        options: those of `core.compliance.run.run_suite`, but for fail_fast. The run after trades has details where
            they are asked for.

        Raises:
            UnknownSuite: as `run_suite` has it.
            UnknownTest: as `run_suite` has it.
        """
        if options.get("fail_fast"):
            raise ValueError("a simulation runs every test")
        self.suite = suite
        # Trades change neither the market whose standard decides nor the currency from which it is known.
        self._definition = definition_for(portfolio, options.get("definition"))
        self.options = options | {"definition": self._definition}
        # The file says nothing of the loans after trades.
        self._after = {"details": False} | self.options | {"compare": False}
        pools = pools_of(portfolio, self._definition)
        self.before = run_suite(portfolio, suite, **self.options, pools=pools)
        self._kept = _kept(pools)
        self.holdings = Holdings(_with_deal_for_changes(portfolio, pools[0] if pools else None), self._definition)
        if incremental is None:
            incremental = portfolio.row_count >= INCREMENTAL_ROWS
        self._bases = tuple(map(Base, pools)) if incremental and _is_loan_by_loan(pools) else ()

    def simulate(self, trades: Sequence[Trade]) -> Simulation:
        """Return the tests before and after trades, which are made in their order.

        Raises:
            TradeError: a trade that cannot be made; it names which.
        """
        change = self.holdings.traded(trades)
        return compared(self.before, self.run(change), [*change.warnings, *self._kept], len(trades))

    def __repr__(self) -> str:
        return f"Simulator({self.suite!r}, {counted(self.before.summary.total, 'test')})"

    def run(self, change: TradeEffect) -> Results:
        """Return the suite over the portfolio after a change."""
        if self._bases:
            with suppress(NeedsFullPass):
                pools = pools_after(self._bases, self.holdings, change)
                results = run_suite(pools[0].portfolio, self.suite, **self._after, pools=pools)
                for pool in pools:
                    pool.let_go()
                return results
        return run_suite(changed(self.holdings, change), self.suite, **self._after)


def _with_deal_for_changes(portfolio: Portfolio, pool: Pool | None) -> Portfolio:
    """Return the portfolio to be traded.

    Its currency is known whatever is sold, its haircuts follow its loans; a mapping may name no column of par.
    """
    deal = without_figures_of_loans(portfolio.deal)
    if pool is not None:
        portfolio, deal = pool.portfolio, with_spread_rules(pool.deal_for_changes(), pool)
    deal = replace(deal, currency=currency_of(portfolio))
    par = portfolio.numbers.get("par_value", np.full(portfolio.row_count, np.nan))
    return replace(portfolio, deal=deal, numbers=portfolio.numbers | {"par_value": par})


def _kept(pools: tuple[Pool, ...]) -> list[DataWarning]:
    """Return what trades do not move, though a reader may think so."""
    if not pools or pools[0].structure is None or not pools[0].structure.ic:
        return []
    if "interest_collected" not in (income := pools[0].interest):
        return []
    message = f"the period's interest is {income['interest_basis']}: trades do not move what was collected"
    return [DataWarning("trade_interest", message)]


def _is_loan_by_loan(pools: tuple[Pool, ...]) -> bool:
    """Return whether every rule of the conventions looks at one loan, or at one obligor, at a time."""
    if not pools:
        return False
    rules = pools[0].definition
    if rules.classifications.affiliates_by_name or rules.index_rates:
        return False
    return rules.par_value.long_dated == rules.par_value.current_pay == "par"


@checked
def simulate(portfolio: Portfolio, trades: Sequence[Trade], suite: str = "enhanced", **options: Any) -> Simulation:
    """Every test of a suite before and after trades; the portfolio stays as it is.

    A sell takes par off the loan that its CUSIP, else LoanX id, else ISIN, else borrower names, pro rata over its lots.
    A buy adds a loan, or a lot of a loan in the pool. Principal cash moves with par x price / 100. Accrued interest is
    left out. `options` are those of `core.compliance.run.run_suite`; with the same ones the figures before are its own.

    Raises:
        TradeError: a trade that cannot be made. Its loan is unknown or not named, it sells more than there is, or it
            has no par. Or it has a field or a value that cannot be.
        UnknownSuite: as `run_suite` has it.
        UnknownTest: as `run_suite` has it.
    """
    return Simulator(portfolio, suite, **options).simulate(trades)


@checked
def simulate_many(
    portfolio: Portfolio, scenarios: Iterable[Sequence[Trade]], suite: str = "enhanced", **options: Any
) -> list[Simulation]:
    """Return the simulation of each list of trades, all of the same portfolio.

    Raises:
        TradeError: as `simulate` has it; with a note that says in which of the lists.
        ValueError: more than `SCENARIOS_MAX` lists.
    """
    scenarios = list(scenarios)
    if len(scenarios) > SCENARIOS_MAX:
        raise ValueError(f"{len(scenarios):,} scenarios are more than {SCENARIOS_MAX:,}")
    simulator = Simulator(portfolio, suite, **options)
    simulations = []
    for at, trades in enumerate(scenarios):
        try:
            simulations.append(simulator.simulate(trades))
        except ValueError as error:
            error.add_note(f"in scenario {at + 1}")
            raise
    return simulations


def compared(before: Results, after: Results, warnings: list[DataWarning], trades: int) -> Simulation:
    """Two runs of one suite side by side."""
    projected = {result.test_id: result for result in after}
    current_cushions, projected_cushions = before.cushions, after.cushions
    rows = [
        _row(result, projected[result.test_id], current_cushions, projected_cushions)
        for result in before
        if result.test_id in projected
    ]
    compared_tests = {row.test_id for row in rows}
    skipped = _skipped(before, after, compared_tests)
    counts = Impacts(*(sum(row.impact_direction == way for row in rows) for way in ("improve", "worsen", "neutral")))
    failures = new_failures_of(rows)
    known = {*(warning.code for warning in before.warnings), "published_differs"}  # which is of no traded portfolio
    return Simulation(
        results=rows,
        skipped=skipped,
        before=before,
        after=after,
        impact_summary=counts,
        new_failures=len(failures),
        total_tests=len(rows),
        message=message_of(trades, counts, failures, skipped),
        warnings=[*warnings, *before.warnings, *(warning for warning in after.warnings if warning.code not in known)],
    )


def new_failures_of(rows: Iterable[Projected]) -> list[Projected]:
    """Return tests that pass or warn before and fail after."""
    return [row for row in rows if row.status_projected == "fail" and row.status_current != "fail"]


def _row(
    result_before: TestResult, result_after: TestResult, before: Mapping[str, float], after: Mapping[str, float]
) -> Projected:
    current, projected = before[result_before.test_id], after[result_before.test_id]
    move = projected - current
    return Projected(
        test_id=result_before.test_id,
        test_name=result_before.test_name,
        test_category=result_before.category,
        current_value=result_before.current_value,
        projected_value=result_after.current_value,
        threshold_value=result_after.threshold_value,
        threshold_type=result_after.threshold_type,
        cushion_current=rounded(current),
        cushion_projected=rounded(projected),
        status_current=result_before.status,
        status_projected=result_after.status,
        impact_direction="improve" if move > NEUTRAL else "worsen" if move < -NEUTRAL else "neutral",
        published=result_before.published,
        doubt=result_before.doubt,
        doubtful=result_before.doubtful,
        unit=result_before.unit,
        decimals=max(result_before.decimals, result_after.decimals),
    )


def _skipped(before: Results, after: Results, compared_tests: set[str]) -> list[NotCompared]:
    """Return the tests of the run before without a figure on a side.

    Those that had one before are the first.
    """
    reasons = [{skip.test_id: skip for skip in side.skipped} for side in (before, after)]
    status = [{result.test_id: result.status for result in side} for side in (before, after)]
    names = {each.test_id: each.test_name for each in (*before, *before.skipped)}
    return [
        NotCompared(
            test_id=test_id,
            test_name=name,
            reason_current=reasons[0][test_id].reason if test_id in reasons[0] else None,
            reason_projected=reasons[1][test_id].reason if test_id in reasons[1] else None,
            status_current=status[0].get(test_id),
            status_projected=status[1].get(test_id),
        )
        for test_id, name in names.items()
        if test_id not in compared_tests
    ]


def message_of(
    trades: int, counts: Impacts, failures: list[Projected], skipped: list[NotCompared], *, decimals: str = ""
) -> str:
    """One sentence, such as.

    2 trades: 5 tests improve, 3 worsen and 12 stay the same; 1 new failure (WARF).

    `decimals` says to which figures stay the same, where they are counted as they are shown.
    """
    parts = [
        f"{counted(trades, 'trade')}: {counted(counts.improve, 'test', 'improves/improve')}, "
        f"{counts.worsen} {agreed(counts.worsen, 'worsens/worsen')} "
        f"and {counts.neutral} {agreed(counts.neutral, 'stays/stay')} the same{decimals}"
    ]
    if failures:
        shown = first_of(failures, NAMED, lambda row: f"{row.test_name}{' (doubtful)' * row.doubtful}")
        parts.append(f"{counted(len(failures), 'new failure')} ({shown})")
    else:
        parts.append("no new failure")
    if skipped:
        parts.append(f"{len(skipped)} cannot be compared")
    return "; ".join(parts) + "."


NAMED: Final = 3
"""New failures that the message names."""
