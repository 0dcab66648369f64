"""A suite over a portfolio: thresholds, status, cushion and words of results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
import numpy as np

from core.checked import checked
from core.compliance.beside import beside_tests, other_figures
from core.compliance.conventions import definition_for
from core.compliance.doubt import Doubter
from core.compliance.findings import findings
from core.compliance.home import at_home
from core.compliance.judging import WARR, check_scale, left_open
from core.compliance.limits import (
    DEFAULT_LIMITS,
    DISABLED,
    NO_THRESHOLDS,
    ResolvedThreshold,
    RunLimits,
    SettledLimit,
    UnknownTest,
    decimals_for,
    has_limit,
    limits_of_run,
    load_deal_suite,
    resolve,
    settled_limits,
)
from core.compliance.measuring import columns_present, measure_test, pools_of, span_of
from core.compliance.other_deal import of_other_deal, of_other_limits
from core.compliance.pool_sums import Measurement, Pool, Unmeasurable
from core.compliance.published import SheetLimit
from core.compliance.result import (
    Results,
    RunFigures,
    Skipped,
    Source,
    Threshold,
    settle,
)
from core.compliance.suites import DEAL_SUITE, SUITES, Suite, Test
from core.compliance.verdicts import Verdicts, judge
from core.compliance.wording import ResultMaker
from core.definition.definition import Definition
from core.definition.terms import SUITE_TESTS
from core.portfolio import Portfolio
from core.portfolio.cells.checkpoint import current_check
from core.portfolio.model.facts import Fact
from core.portfolio.model.notes import DataWarning
from core.remembered import remembered_by_object
from core.words import suggestion

STOPPED: Final = "not run: an earlier test failed and the run stops at the first failure"

LEFT_OUT: Final = frozenset({STOPPED, DISABLED.format(source="request")})
"""Why a test did not run that the caller did not want to: what such a run says is not of the whole suite."""

NO_TRIGGER: Final = "the file gives no trigger for this class"

STANDARD: Final = "no definition of the deal decides: the ready-made one of its market is used, {name}"

NO_BASE: Final = "the definition names no base: what it says nothing of is that of its market's ready-made one, {base}"


class UnknownSuite(ValueError):
    """No suite has this name."""


@checked
@np.errstate(over="ignore", invalid="ignore")  # a sum that overflows is no figure: its test says so
def run_suite(  # noqa: PLR0913 - the options of the library's function
    portfolio: Portfolio,
    suite: str = "standard",
    *,
    test_ids: Iterable[str] | None = None,
    request_thresholds: Mapping[str, Threshold] = NO_THRESHOLDS,
    workbook_thresholds: Mapping[str, Threshold] = NO_THRESHOLDS,
    deal_thresholds: Mapping[str, Threshold] = NO_THRESHOLDS,
    tenant_thresholds: Mapping[str, Threshold] = NO_THRESHOLDS,
    definition: Definition | str | None = None,
    include_cushion: bool = True,
    fail_fast: bool = False,
    parallel: bool = True,
    details: bool = True,
    compare: bool = True,
    pools: tuple[Pool, ...] | None = None,
) -> Results:
    """Run a suite, or the tests of it that `test_ids` names, in catalogue order.

    A definition, or the name of a ready-made one (us_bsl, euro), gives its conventions to every suite, and the suite
    `deal` its tests. Without one, a portfolio in euros or sterling goes by the European standard. A warning says where
    a ready-made definition decides. In the suite `deal` it has the coverage tests of the classes that the file has.
    Limits are looked up by test id. They are the request's, the workbook's, the deal's own thresholds, its definition,
    the file's, the tenant's, the suite's default. The file's are the triggers of its notes, and what it publishes for a
    test that is certainly this one. Each result says whose limit it has. (A definition that is a market's standard
    comes after the tenant.) One that is not enabled takes its test out of the run. `fail_fast` stops after the first
    failed test. `parallel` changes nothing: one pass over the rows feeds every test, so there is nothing to spread. No
    test ids, or an empty list of them, means all; the figures that these need are worked out, too. The results are
    `partial` where test ids were given, `fail_fast` stopped the run, or one of `request_thresholds` took a test out.

    Where a definition takes masked ratings for a range, a result has the low and the high end of its figure. A test
    that the two would decide differently is skipped, with both.

    Each result has the figure that the file publishes for it beside ours, and what makes it doubtful. `compare=False`
    leaves the file's figures out, for loans of which it does not speak, as after trades.

    `pools` are the portfolio's sums where they are known already, as `pools_of` gives them.

    Raises:
        UnknownSuite: no suite has the name, or it is `deal` and there is no definition.
        UnknownTest: a test id is not in the suite.
        UnknownDefinition: no ready-made definition has the name.
    """
    rules = definition_for(portfolio, definition)
    other_deal = [] if definition is None else list(of_other_deal(portfolio, rules))
    own_pools = () if pools is not None else pools_of(portfolio, rules)
    pools = own_pools if pools is None else pools
    portfolio = pools[0].portfolio if pools else portfolio
    warnings = _first_warnings(portfolio, rules, definition, other_deal)
    pool = pools[0] if pools else None
    triggers: dict[str, SheetLimit | None] = {}
    if suite == DEAL_SUITE and rules is not None and rules.standard:
        rules, triggers = load_deal_suite().with_coverage(rules, pool)
    tests = _choose(suite, test_ids, rules)
    wanted = frozenset(test_ids or ())
    sources: tuple[tuple[Source, Mapping[str, Threshold]], ...] = (
        ("request", request_thresholds),
        ("workbook", workbook_thresholds),
        ("deal", deal_thresholds),
    )
    limits = limits_of_run(sources, tenant_thresholds, rules, tests, portfolio, pool, triggers)
    facts = beside_tests(limits.sheet.matches, pool, limits.tests)
    doubter = Doubter(pool, limits.tests, facts, limits.sheet.listed, compares=compare)
    run = _SuiteRun(portfolio, pools, limits, triggers, is_deal=suite == DEAL_SUITE)
    maker = ResultMaker(portfolio, pool, limits, run.resolved, doubter, include_cushion, details)
    verdicts = Verdicts(maker, include_cushion)
    run.judge_tests(tests, wanted, verdicts, fail_fast=fail_fast)
    if pool is not None:
        warnings += findings(pool, _ran(verdicts.cushions, limits))
    if facts and compare and rules is not None and not rules.has_market_limits:
        warnings += of_other_limits(_defined_limits(tests, run.resolved, facts))
    doubter.warnings = warnings
    kept_rows = portfolio.row_count if pool is None else pool.kept_rows
    if kept_rows > DEFERRED_ROWS_MAX:
        settle(verdicts.results)
    for each in own_pools:
        each.let_go()
    if facts and compare:
        warnings = [*warnings, *other_figures(verdicts.results)]
        run.skipped = [_with_published(item, tests, doubter) for item in run.skipped]
    return run.in_order(verdicts, warnings, is_partial=bool(wanted))


class _SuiteRun:
    """The tests of one run, one after another.

    Each gives a result, or the reason why it was skipped.
    """

    def __init__(
        self,
        portfolio: Portfolio,
        pools: tuple[Pool, ...],
        limits: RunLimits,
        triggers: Mapping[str, SheetLimit | None],
        *,
        is_deal: bool,
    ) -> None:
        self._portfolio = portfolio
        self._present = columns_present(portfolio)
        self._pools = pools
        self._pool = pools[0] if pools else None
        self._limits = limits
        self._triggers = triggers
        self._is_deal = is_deal
        self._settled = settled_limits(limits) if is_deal else {}
        self._has_defaults = not (limits.first or limits.tenant or limits.sheet.limits) and limits.definition is None
        self.resolved: dict[int, ResolvedThreshold] = {}
        """By the test's identity, what is no default of the suites."""
        self.skipped: list[Skipped] = []

    def judge_tests(
        self, tests: Iterable[Test], wanted: frozenset[str], verdicts: Verdicts, *, fail_fast: bool
    ) -> None:
        """Measure the tests in order, and judge those that are wanted: for none, all."""
        portfolio, present, pool = self._portfolio, self._present, self._pool
        has_ends, has_default = len(self._pools) > 1, self._has_defaults
        is_stopped, check = False, current_check()
        for test in tests:
            test_id = test.test_id
            is_wanted = not wanted or test_id in wanted
            check(0)
            try:
                if is_stopped:
                    raise Unmeasurable(STOPPED)
                limit, decimals = (
                    (DEFAULT_LIMITS[test_id], None) if has_default and test.sheet_trigger is None else self._limit(test)
                )
                measured = measure_test(test, pool, portfolio, present)
                low, high = self._ends(test, limit, measured) if has_ends or test_id == WARR else (None, None)
            except Unmeasurable as reason:
                if is_wanted:
                    self.skipped.append(Skipped(test_id, test.name, str(reason)))
                continue
            if is_wanted and limit is not None:
                if low is not None and high is not None and self._is_open(test, limit, decimals, measured, low, high):
                    continue
                is_stopped = verdicts.add(test, measured, limit, decimals, low, high) == "fail" and fail_fast
            elif is_wanted and test_id in self._triggers:
                self.skipped.append(Skipped(test_id, test.name, NO_TRIGGER))

    def _limit(self, test: Test) -> SettledLimit:
        """Return what a test is held to; no limit for a test of a definition that nobody limits."""
        rules, test_id = self._limits.definition, test.test_id
        settled = self._settled.get(test_id)
        if settled is None:
            if self._is_deal and not has_limit(test, self._limits):
                return None, None
            resolved = resolve(test, self._pool, self._limits)
            settled = resolved, None if rules is None else decimals_for(test, self._limits)
        if (limit := settled[0]) is not None:
            self.resolved[id(test)] = limit
            if rules is not None:
                for pool in self._pools:
                    pool.limits[test_id] = limit.value
        return settled

    def _ends(
        self, test: Test, limit: ResolvedThreshold | None, measured: Measurement
    ) -> tuple[float | None, float | None]:
        """Return the low and the high end of a figure.

        None where masked ratings do not move it.

        Raises:
            Unmeasurable: limit and recovery rates are of two scales, or an end has no figure.
        """
        if test.test_id == WARR and limit is not None and self._pool is not None:
            check_scale(test, limit, self._limits, self._pool)
        if len(self._pools) < 2:
            return None, None
        return span_of(test, measured, self._pools[1:], self._portfolio, self._present)

    def _is_open(
        self,
        test: Test,
        limit: ResolvedThreshold,
        decimals: int | None,
        measured: Measurement,
        low: float,
        high: float,
    ) -> bool:
        """Return whether masked ratings leave the status open, and add the test to those that are skipped then."""
        fails = {judge(value, limit, decimals)[1] == "fail" for value in (low, high, measured.value)}
        if len(fails) > 1:
            self.skipped.append(left_open(test, measured, limit, low, high, self._limits.definition))
        return len(fails) > 1

    def in_order(self, verdicts: Verdicts, warnings: list[DataWarning], *, is_partial: bool) -> Results:
        """Return the results and what was skipped, in the order of the catalogue or of the deal's definition."""
        rules, deal = self._limits.definition, self._portfolio.deal
        results, skipped = verdicts.results, self.skipped
        if self._is_deal and rules is not None:
            order, by_id = _places(rules), dict(zip(verdicts.cushions, results, strict=True))
            results = [by_id[test_id] for test_id in order if test_id in by_id]
            skipped = sorted(skipped, key=lambda item: order[item.test_id])
        return Results(
            results,
            skipped,
            as_of=self._limits.day,
            as_of_source=deal.as_of_source,
            warnings=warnings,
            partial=is_partial or any(item.reason in LEFT_OUT for item in skipped),
            figures=RunFigures({} if self._pool is None else self._pool.figures, verdicts.cushions, verdicts.exact),
            interpretation=self._portfolio.interpretation,
        )


def _first_warnings(
    portfolio: Portfolio,
    rules: Definition | None,
    definition: Definition | str | None,
    other_deal: Iterable[DataWarning],
) -> list[DataWarning]:
    """Return what is known before a test runs.

    The portfolio's warnings, that the definition is another deal's, that there are no loans, and which ready-made
    definition decides.
    """
    warnings = [*portfolio.notes.warnings, *other_deal]
    if not portfolio.row_count:
        reason = portfolio.notes.message or f"sheet {portfolio.sheet_name!r} has none below its header"
        warnings.insert(0, DataWarning("no_loans", f"no loans were found: {reason}"))
    if rules is not None and rules.standard and rules.name is not None:
        warnings.append(DataWarning("standard_definition", STANDARD.format(name=rules.name)))
    elif rules is not None and isinstance(definition, Definition) and rules.base != definition.base:
        warnings.append(DataWarning("definition_without_base", NO_BASE.format(base=rules.base)))
    return warnings


def _defined_limits(
    tests: Iterable[Test], resolved: Mapping[int, ResolvedThreshold], facts: Mapping[str, Fact]
) -> Iterator[tuple[float, Fact]]:
    """Yield the definition's limits of the tests that the file prints, each with the file's figure."""
    for test in tests:
        limit, fact = resolved.get(id(test)), facts.get(test.test_id)
        if limit is not None and fact is not None and limit.source == "definition":
            yield limit.value, fact


def _with_published(skipped: Skipped, tests: Iterable[Test], doubter: Doubter) -> Skipped:
    """Return a test without a figure of ours, with the file's."""
    theirs = next((doubter.beside(test, None) for test in tests if test.test_id == skipped.test_id), None)
    return skipped if theirs is None else msgspec.structs.replace(skipped, published=theirs.figure)


_LIKE: Final = {measure: test_id for test_id, measure in reversed(SUITE_TESTS.items())}
"""The first test of the suites that a measure of a definition is like."""


_ON_MOODYS_SCALE: Final = "warf"


def _ran(test_ids: Iterable[str], limits: RunLimits) -> frozenset[str]:
    """Return the tests that ran, those of a definition under the suites' names, too.

    Of rating factors only Moody's.
    """
    ran = frozenset(test_ids)
    like = {} if limits.definition is None else _suites_names(limits.definition)
    return ran | {name for test_id, name in like.items() if test_id in ran}


@remembered_by_object(32)
def _suites_names(definition: Definition) -> dict[str, str]:
    """Return the suites' names of a definition's tests, by id."""
    return {
        test.id: _LIKE[test.measure]
        for test in definition.tests
        if test.measure in _LIKE and (test.measure != _ON_MOODYS_SCALE or test.agency in (None, "a"))
    }


@remembered_by_object(32)
def _places(definition: Definition) -> dict[str, int]:
    """Return where each test of a definition stands."""
    return {test.id: at for at, test in enumerate(definition.tests)}


def suite_named(suite: str) -> Suite:
    """Return the suite of that name.

    Raises:
        UnknownSuite: there is none.
    """
    if suite not in SUITES:
        raise UnknownSuite(f"Unknown suite {suite[:100]!r}: there are {' and '.join(SUITES)}")
    return SUITES[suite]


def _choose(suite: str, test_ids: Iterable[str] | None, definition: Definition | None) -> tuple[Test, ...]:
    if suite == DEAL_SUITE:
        if definition is None:
            raise UnknownSuite("the suite deal needs a definition")
        tests: tuple[Test, ...] = load_deal_suite().tests_of(definition)
    else:
        tests = at_home(suite_named(suite).tests, definition)
    wanted = frozenset(test_ids or ())
    if not wanted:
        return tests
    known = frozenset(test.test_id for test in tests)
    if unknown := sorted(wanted - known):
        names = ", ".join(name[:100] for name in unknown[:5])
        raise UnknownTest(f"Unknown test in suite {suite}: {names}; {suggestion(unknown[0], sorted(known))}")
    # The tests of a definition read one another's figures.
    return tests if suite == DEAL_SUITE else tuple(test for test in tests if test.test_id in wanted)


DEFERRED_ROWS_MAX: Final = 20_000
"""Loans up to which messages and details are made when they are read: results hold the run's portfolio and its sums. Of
more loans, that would be much memory for a small part of the run's time."""
