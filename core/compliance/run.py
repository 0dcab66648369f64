"""A suite over a portfolio: thresholds, status, cushion and the words of each result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from functools import cached_property, partial
from math import copysign, floor, isfinite
from types import ModuleType
from typing import Any, Final, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import UNSET

from core.checked import checked
from core.compliance.beside import beside_tests, other_figures
from core.compliance.conventions import DEFAULT, definition_for
from core.compliance.coverage import TOLERANCE, Held, Role
from core.compliance.doubt import Doubter, Judged
from core.compliance.file_figures import NOT_PRINTED
from core.compliance.findings import findings
from core.compliance.home import at_home
from core.compliance.kernels import rounded
from core.compliance.matching import Match, Terms, Unmatched, pair, pair_alone
from core.compliance.measures import (
    COVERAGE_LEAST_PCT,
    NO_TRANCHES,
    TOO_LARGE,
    ZERO_CPA,
    Measured,
    Pool,
    Unmeasurable,
)
from core.compliance.other_deal import of_other_deal, of_other_limits
from core.compliance.published import SheetLimit, limits_of
from core.compliance.result import (
    Details,
    Direction,
    Doubts,
    Results,
    Skipped,
    Source,
    Status,
    TestResult,
    Threshold,
    Verdict,
    deferred,
    settle,
)
from core.compliance.stand_ins import with_stand_ins
from core.compliance.stated import with_stated
from core.compliance.suites import DEAL_SUITE, SUITES, TESTS, UNIT_SIGNS, Suite, Test
from core.definition.definition import DealTest, Definition
from core.definition.terms import AGENCIES, SUITE_TESTS, TOTALS
from core.frames.figures import decimals_of
from core.portfolio import Portfolio
from core.portfolio.assemble.plausibility import with_days
from core.portfolio.assemble.portfolio import DEFINITION_DAYS
from core.portfolio.cells.checkpoint import checkpoint
from core.portfolio.model.facts import AGENCY_NAMES, Fact
from core.portfolio.model.notes import DataWarning
from core.values import day_of
from core.words import suggestion

STOPPED: Final = "not run: an earlier test failed and the run stops at the first failure"

DISABLED: Final = "disabled by the {source}'s threshold"

LEFT_OUT: Final = frozenset({STOPPED, DISABLED.format(source="request")})
"""Why a test did not run that the caller did not want to: what such a run says is not of the whole suite."""

NO_TRIGGER: Final = "the file gives no trigger for this class"

STANDARD: Final = "no definition of the deal decides: the ready-made one of its market is used, {name}"
NO_BASE: Final = "the definition names no base: what it says nothing of is that of its market's ready-made one, {base}"

_NO_THRESHOLDS: Final[Mapping[str, Threshold]] = {}


class UnknownSuite(ValueError):
    """No suite has this name."""


class UnknownTest(ValueError):
    """No test of the suite has this id."""


class InvalidThreshold(ValueError):
    """A threshold that cannot be a limit."""


class Sheet(NamedTuple):
    """What the file itself says of tests."""

    matches: tuple[Match, ...] = ()
    limits: Mapping[str, SheetLimit] = {}
    """By test id."""
    listed: tuple[Unmatched, ...] = ()
    """Figures that are beside no test."""


_NO_SHEET: Final = Sheet()


class Limits(NamedTuple):
    """Who set limits, by test id: callers, workbooks and deals before the definition, a tenant after it."""

    first: tuple[tuple[Source, Mapping[str, Threshold]], ...] = ()
    """Request, workbook, deal; those that set any."""
    tenant: Mapping[str, Threshold] = _NO_THRESHOLDS
    definition: Definition | None = None
    tests: Mapping[str, DealTest] = {}
    """The definition's tests by id."""
    day: date | None = None
    """The as-of day: limits step with it."""
    reinvestment_end: date | None = None
    sheet: Sheet = _NO_SHEET


class ResolvedThreshold(NamedTuple):
    """The limit that a test is held to, and who set it. Figures in the test's unit."""

    value: float
    direction: Direction
    warning: float | None
    source: Source


@checked
@np.errstate(over="ignore", invalid="ignore")  # a sum that overflows is no figure: its test says so
def run_suite(
    portfolio: Portfolio,
    suite: str = "standard",
    *,
    test_ids: Iterable[str] | None = None,
    request_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
    workbook_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
    deal_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
    tenant_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
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
    `deal` its tests; without one, a portfolio in euros
    or sterling goes by the European standard. A warning says where a ready-made definition decides; in the suite `deal`
    such a one has the coverage tests of the classes that the file has. Limits are looked up by test id: the request's,
    the workbook's, the deal's own thresholds, its definition, the file's (the triggers of its notes, and what it
    publishes for a test that is certainly this one), the tenant's, the suite's default; each result says whose it was.
    (A definition that is a market's standard comes after the tenant.) One that is not enabled takes its test out of the
    run. `fail_fast` stops after the first failed test. `parallel` changes nothing: one pass over the rows feeds every
    test, so there is nothing to spread. No test ids, or an empty list of them, means all; the figures that these need
    are worked out, too. The results are `partial` where test ids were given, `fail_fast` stopped the run, or one of
    `request_thresholds` took a test out.

    Where a definition takes masked ratings for a range, a result carries the low and the high end of its figure, and a
    test that the two would decide differently is skipped, with both.

    Each result has the figure that the file publishes for it beside ours, and what makes it doubtful; `compare=False`
    leaves the file's figures out, for loans of which it does not speak, as after trades.

    `pools` are the portfolio's sums where they are known already, as `pools_of` gives them.

    Raises:
        UnknownSuite: no suite has the name, or it is `deal` and there is no definition.
        UnknownTest: a test id is not in the suite.
        UnknownDefinition: no ready-made definition has the name.
    """
    rules = definition_for(portfolio, definition)
    other_deal = [] if definition is None else list(of_other_deal(portfolio, rules))
    if pools is None:
        pools = pools_of(portfolio, rules)
    portfolio = pools[0].portfolio if pools else portfolio
    warnings = _first_warnings(portfolio, rules, definition, other_deal)
    present = columns_present(portfolio)
    pool = pools[0] if pools else None
    triggers: dict[str, SheetLimit | None] = {}
    if suite == DEAL_SUITE and rules is not None and rules.standard:
        rules, triggers = _deal_suite().with_coverage(rules, pool)
    tests = _chosen(suite, test_ids, rules)
    wanted = frozenset(test_ids or ())
    results: list[TestResult] = []
    skipped: list[Skipped] = []
    deal = portfolio.deal
    day = day_of(deal.as_of)
    sources: tuple[tuple[Source, Mapping[str, Threshold]], ...] = (
        ("request", request_thresholds), ("workbook", workbook_thresholds), ("deal", deal_thresholds),
    )  # fmt: skip
    # Details may be made later, when the caller's mappings have changed.
    tenant_thresholds = dict(tenant_thresholds)
    own = {} if rules is None else {test.id: test for test in rules.tests}
    limits = Limits(
        tuple((source, dict(thresholds)) for source, thresholds in sources if thresholds),
        tenant_thresholds,
        rules,
        own,
        day,
        day_of(deal.reinvestment_end),
        _sheet(tests, own, pool, triggers) if pool is not None else _sheet_alone(tests, own, portfolio, rules),
    )
    ends = pools[1:]
    has_defaults = not (limits.first or limits.tenant or rules is not None or limits.sheet.limits)
    resolved: dict[int, ResolvedThreshold] = {}
    facts = beside_tests(limits.sheet.matches, pool, own)
    doubter = Doubter(pool, own, facts, limits.sheet.listed, compares=compare)
    maker = _Maker(portfolio, pool, limits, resolved, include_cushion, details, doubter)
    cushions: dict[str, float] = {}
    exact: dict[str, tuple[float, float]] = {}
    stopped = False
    for test in tests:
        is_wanted = not wanted or test.test_id in wanted
        checkpoint()
        try:
            if stopped:
                raise Unmeasurable(STOPPED)
            if has_defaults and test.sheet_trigger is None:
                limit: ResolvedThreshold | None = _DEFAULTS[test.test_id]
            else:
                limit = resolve(test, pool, limits) if suite != DEAL_SUITE or _has_limit(test, limits) else None
                if limit is not None:
                    resolved[id(test)] = limit
                    for each in pools if rules is not None else ():
                        each.limits[test.test_id] = limit.value
            measured = measure_test(test, pool, portfolio, present)
            if test.test_id == WARR and limit is not None and pool is not None:
                _check_scale(test, limit, limits, pool)
            low, high = _span(test, measured, ends, portfolio, present) if ends else (None, None)
        except Unmeasurable as reason:
            if is_wanted:
                skipped.append(Skipped(test.test_id, test.name, str(reason)))
            continue
        if not is_wanted:
            continue
        if limit is None:
            if test.test_id in triggers:
                skipped.append(Skipped(test.test_id, test.name, NO_TRIGGER))
            continue
        rounding = None if rules is None else _decimals(test, limits)
        if low is not None and high is not None:
            statuses = {_judged(value, limit, rounding)[1] for value in (low, high, measured.value)}
            if len({status == "fail" for status in statuses}) > 1:
                skipped.append(_left_open(test, measured, limit, low, high, rules))
                continue
        judged = _judged(measured.value, limit, rounding)
        figures = _figures(test, measured.value, limit, judged, include_cushion)
        results.append(deferred(figures, maker, test, measured, limit, judged, low, high))
        cushions[test.test_id] = judged[0]
        exact[test.test_id] = measured.value, measured.denominator
        stopped = fail_fast and judged[1] == "fail"
    if pool is not None:
        warnings += findings(pool, _ran(cushions, limits))
    if compare and rules is not None and not rules.has_market_limits:
        warnings += of_other_limits(_defined_limits(tests, resolved, facts))
    doubter.warnings = warnings
    if portfolio.row_count > DEFERRED_ROWS_MAX or not (rules is None or rules.standard):
        settle(results)
    if facts and compare:
        warnings = [*warnings, *other_figures(results)]
        skipped = [_with_published(item, tests, doubter) for item in skipped]
    order = {test.id: at for at, test in enumerate(rules.tests)} if suite == DEAL_SUITE and rules else {}
    return Results(
        sorted(results, key=lambda result: order[result.test_id]) if order else results,
        sorted(skipped, key=lambda item: order[item.test_id]) if order else skipped,
        as_of=day,
        as_of_source=deal.as_of_source,
        warnings=warnings,
        partial=bool(wanted) or any(item.reason in LEFT_OUT for item in skipped),
        figures=None if pool is None else pool.figures,
        cushions=cushions,
        exact=exact,
        interpretation=portfolio.interpretation,
    )


def _first_warnings(
    portfolio: Portfolio,
    rules: Definition | None,
    definition: Definition | str | None,
    other_deal: Iterable[DataWarning],
) -> list[DataWarning]:
    """What is known before a test runs: the portfolio's warnings, that the definition is another deal's, that there are
    no loans, and which ready-made definition decides."""
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
    """The definition's limits of the tests that the file prints, each with the file's figure."""
    for test in tests:
        limit, fact = resolved.get(id(test)), facts.get(test.test_id)
        if limit is not None and fact is not None and limit.source == "definition":
            yield limit.value, fact


def _with_published(skipped: Skipped, tests: Iterable[Test], doubter: Doubter) -> Skipped:
    """A test without a figure of ours, with the file's."""
    theirs = next((doubter.beside(test, None) for test in tests if test.test_id == skipped.test_id), None)
    return skipped if theirs is None else msgspec.structs.replace(skipped, published=theirs.figure)


def _sheet(
    tests: tuple[Test, ...], own: Mapping[str, DealTest], pool: Pool, triggers: Mapping[str, SheetLimit | None]
) -> Sheet:
    """What the file publishes of these tests; the triggers of its classes come first."""
    if not (pool.portfolio.facts.all or triggers):
        return _NO_SHEET
    pairs = pair(tests, own, pool)
    by_test_id = {test_id: limit for test_id, limit in triggers.items() if limit is not None}
    return Sheet(pairs.matches, limits_of(pairs.matches, pool) | by_test_id, pairs.listed)


def _sheet_alone(
    tests: tuple[Test, ...], own: Mapping[str, DealTest], portfolio: Portfolio, rules: Definition | None
) -> Sheet:
    """The same of a file without loans that can be measured: its figures stand beside the tests that are skipped."""
    if not portfolio.facts.all:
        return _NO_SHEET
    pairs = pair_alone(tests, own, Terms((rules or DEFAULT).conventions.home_countries), portfolio.facts)
    return Sheet(pairs.matches, {}, pairs.listed)


def _check_scale(test: Test, limit: ResolvedThreshold, limits: Limits, pool: Pool) -> None:
    """Refuse the suites' recovery test where limit and rates are two agencies': each has a scale of its own.

    Raises:
        Unmeasurable: they are.
    """
    if (rates := pool.view.recovery_agency) is None:
        return
    if limit.source == "suite":
        scale = "a"
    elif limit.source == "definition" and (own := limits.tests.get(WARR)) is not None and own.agency is not None:
        scale = own.agency
    else:
        return
    if scale != rates:
        raise Unmeasurable(
            f"Skipped: the recovery rates are {AGENCY_NAMES[rates]}'s and the limit of {limit.value:g} is for those of "
            f"{AGENCY_NAMES[scale]}: set a limit for them, or name the agency in a definition (ratings.recovery)"
        )


WARR: Final = "weighted_average_recovery_rate"

_LIKE: Final = {measure: test_id for test_id, measure in reversed(SUITE_TESTS.items())}
"""The first test of the suites that a measure of a definition is like."""

_ON_MOODYS_SCALE: Final = "warf"


def _ran(test_ids: Iterable[str], limits: Limits) -> set[str]:
    """The tests that ran, those of a definition under the suites' names, too: of rating factors only Moody's."""
    ran = set(test_ids)
    own = [limits.tests[test_id] for test_id in ran if test_id in limits.tests]
    return ran | {
        _LIKE[test.measure]
        for test in own
        if test.measure in _LIKE and (test.measure != _ON_MOODYS_SCALE or test.agency in (None, "a"))
    }


def pools_of(portfolio: Portfolio, definition: Definition | None) -> tuple[Pool, ...]:
    """The sums of a portfolio, then, where masked ratings are taken for a range, with the best and with the worst that
    they may be; empty without loans."""
    if not portfolio.row_count or "par_value" not in portfolio.numbers:
        return ()
    if definition is not None:
        conventions = definition.conventions
        days = {name: getattr(conventions, name) for name in DEFINITION_DAYS}
        portfolio = with_stated(with_days(portfolio, days, "the definition", first=True), definition)
        portfolio = with_stand_ins(portfolio, definition)
    pool = Pool(portfolio, definition)
    if definition is None or not pool.view.has_bounds:
        return (pool,)
    return pool, Pool(portfolio, definition, "best"), Pool(portfolio, definition, "worst")


def _span(
    test: Test, measured: Measured, ends: tuple[Pool, ...], portfolio: Portfolio, present: set[str]
) -> tuple[float | None, float | None]:
    """The low and the high end of a figure; None where masked ratings do not move it."""
    values = [measured.value, *(measure_test(test, end, portfolio, present).value for end in ends)]
    low, high = min(values), max(values)
    return (low, high) if high - low > TOLERANCE else (None, None)


def _left_open(
    test: Test, measured: Measured, limit: ResolvedThreshold, low: float, high: float, rules: Definition | None
) -> Skipped:
    """A test whose status ratings leave open that a definition takes for a range."""
    ratings = DEFAULT.ratings if rules is None else rules.ratings
    bounded = [kind for kind in ("masked", "unrated") if any(
        getattr(getattr(ratings, agency), kind) == "bounds" for agency in AGENCIES
    )]  # fmt: skip
    what = " or ".join({"masked": "masked", "unrated": "missing"}[kind] for kind in bounded)
    reason = f"{what} ratings leave it open: between {low:.2f} and {high:.2f} around the limit {limit.value:.2f}"
    return Skipped(test.test_id, test.name, reason, rounded(measured.value), rounded(low), rounded(high))


def _has_limit(test: Test, limits: Limits) -> bool:
    """Whether anybody limits a test of a definition; one without a limit is a figure for others."""
    own = limits.tests.get(test.test_id)
    if own is not None and own.class_ is not None and test.test_id in limits.sheet.limits:
        return True
    sources = (*(thresholds for _, thresholds in limits.first), limits.tenant)
    return any(test.test_id in each for each in sources) or (
        own is not None and (own.max is not None or own.min is not None or own.matrix is not None)
    )


def _decimals(test: Test, limits: Limits) -> int | None:
    """The decimals to which a figure is rounded before it is compared; None for all that it has."""
    if limits.definition is None:
        return None
    own = limits.tests.get(test.test_id)
    if own is not None and own.decimals is not None:
        return own.decimals
    if own is not None and own.measure in ("oc", "ic"):
        for note_class in limits.definition.classes:
            decimals = note_class.oc_decimals if own.measure == "oc" else note_class.ic_decimals
            if decimals is not None and own.class_ in (note_class.name, *note_class.name.split("/")):
                return decimals
    return dict(limits.definition.conventions.decimals).get(test.unit)


def suite_named(suite: str) -> Suite:
    """The suite of that name.

    Raises:
        UnknownSuite: there is none.
    """
    if suite not in SUITES:
        raise UnknownSuite(f"Unknown suite {suite[:100]!r}: there are {' and '.join(SUITES)}")
    return SUITES[suite]


def _deal_suite() -> ModuleType:
    """The tests of definitions; loaded by the runs that have one, since the formula engine comes with them."""
    from core.compliance import deal_suite

    return deal_suite


def _chosen(suite: str, test_ids: Iterable[str] | None, definition: Definition | None) -> tuple[Test, ...]:
    if suite == DEAL_SUITE:
        if definition is None:
            raise UnknownSuite("the suite deal needs a definition")
        tests: tuple[Test, ...] = _deal_suite().tests_of(definition)
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


def check_threshold(
    test_id: str,
    threshold_value: float,
    threshold_type: Direction | None = None,
    warning_threshold: float | None = None,
    *,
    definition: Definition | None = None,
) -> Test:
    """The test of a threshold that a run can use; a definition has tests beside those of the suites.

    Raises:
        UnknownTest: no test has the id.
        InvalidThreshold: a figure is not finite, or the warning stands on the wrong side of the limit.
    """
    test = TESTS.get(test_id)
    if test is None and definition is not None:
        test = _deal_suite().test_named(definition, test_id)
    if test is None:
        known = [*TESTS, *(() if definition is None else (each.id for each in definition.tests))]
        raise UnknownTest(f"Unknown test {test_id[:100]!r}; {suggestion(test_id, known)}")
    direction = threshold_type or test.threshold_type
    if not isfinite(threshold_value) or (warning_threshold is not None and not isfinite(warning_threshold)):
        raise InvalidThreshold("a threshold must be a finite number")
    if warning_threshold is None:
        return test
    if direction == "exact":
        raise InvalidThreshold("an exact threshold has no warning band: leave warning_threshold out")
    if not _warns_first(direction, threshold_value, warning_threshold):
        side = "above its maximum" if direction == "max" else "below its minimum"
        raise InvalidThreshold(f"warning_threshold {warning_threshold:g} must not be {side} {threshold_value:g}")
    return test


def _warns_first(direction: Direction, limit: float, warning: float) -> bool:
    return warning <= limit if direction == "max" else warning >= limit


def resolve(test: Test, pool: Pool | None, limits: Limits) -> ResolvedThreshold:
    """The limit that applies to a test.

    Raises:
        Unmeasurable: the threshold that applies has taken the test out of runs, or its matrix needs what is not known.
    """
    for source, thresholds in limits.first:
        if (threshold := thresholds.get(test.test_id)) is not None:
            return _resolved(test, threshold, source)
    is_standard = limits.definition is not None and limits.definition.has_market_limits
    if limits.definition is not None and not is_standard and (limit := _defined(test, pool, limits)) is not None:
        return limit
    of_tenant = limits.tenant.get(test.test_id)
    # What a tenant has taken out of its runs stays out, though the sheet has a trigger for it.
    if of_tenant is None or of_tenant.enabled:
        trigger = None
        if test.sheet_trigger and pool is not None and pool.structure is not None:
            trigger = pool.structure.sheet_trigger(test.sheet_trigger)
        elif test.test_id in limits.sheet.limits:
            trigger = limits.sheet.limits[test.test_id].value
        if trigger is not None:
            warning = _scaled_warning(test, trigger, test.threshold_type)
            return ResolvedThreshold(trigger, test.threshold_type, warning, "sheet")
    if of_tenant is not None:
        return _resolved(test, of_tenant, "tenant")
    if is_standard and (limit := _defined(test, pool, limits)) is not None:
        return limit
    return _DEFAULTS[test.test_id]


def _defined(test: Test, pool: Pool | None, limits: Limits) -> ResolvedThreshold | None:
    """The limit that the definition gives: that of its test of this id, or the trigger of the class that is tested."""
    definition = limits.definition
    if definition is None:
        return None
    own = limits.tests.get(test.test_id)
    if own is not None and own.matrix is not None:
        if pool is None:
            return None
        matrix = next(matrice for matrice in definition.quality.matrices if matrice.id == own.matrix)
        assert own.matrix_limit is not None
        known = frozenset((*(each.id for each in definition.tests), *TOTALS))
        value = _deal_suite().matrix_limit(matrix, pool, known)
        return ResolvedThreshold(value, own.matrix_limit, own.warning, "definition")
    if own is not None:
        limit, level = _deal_suite().step_of(own, limits.day, limits.reinvestment_end)
        if limit is not None:
            direction: Direction = "max" if own.max is not None else "min"
            if level is None and test.test_id in TESTS:
                level = _scaled_warning(TESTS[test.test_id], limit, direction)
            return ResolvedThreshold(limit, direction, level, "definition")
    trigger = None
    if test.sheet_trigger == "diversion" and definition.reinvestment_oc is not None:
        trigger = definition.reinvestment_oc.trigger
    elif test.sheet_trigger is not None and definition.classes and pool is not None and pool.structure is not None:
        trigger = pool.structure.sheet_trigger(test.sheet_trigger)
    if trigger is None:
        return None
    return ResolvedThreshold(
        trigger, test.threshold_type, _scaled_warning(test, trigger, test.threshold_type), "definition"
    )


_DEFAULTS: Final = {
    test.test_id: ResolvedThreshold(test.limit, test.threshold_type, test.warning, "suite") for test in TESTS.values()
}


def _resolved(test: Test, threshold: Threshold, source: Source) -> ResolvedThreshold:
    if not threshold.enabled:
        raise Unmeasurable(DISABLED.format(source=source))
    direction = threshold.threshold_type or test.threshold_type
    warning = threshold.warning_threshold
    if warning is None:
        warning = _scaled_warning(test, threshold.threshold_value, direction)
    elif direction == "exact":
        warning = None
    return ResolvedThreshold(threshold.threshold_value, direction, warning, source)


def _scaled_warning(test: Test, limit: float, direction: Direction) -> float | None:
    """The warning at the default's relative distance from another limit; none for another direction or a limit of 0."""
    if direction != test.threshold_type or limit == 0.0 or test.limit == 0.0 or test.warning == test.limit:
        return None
    warning = limit * (test.warning / test.limit)
    return warning if _warns_first(direction, limit, warning) else None


_RECOVERIES: Final = tuple(f"recovery_rate_{agency}" for agency in AGENCIES)


def columns_present(portfolio: Portfolio) -> set[str]:
    """The catalogue's names of the columns that the portfolio has."""
    present = {*portfolio.numbers, *portfolio.names, *portfolio.flags, *portfolio.ranks}
    if portfolio.lien is not None:
        present.add("lien_type")
    if "is_fixed" in present:
        present.add("coupon_type")
    if not present.isdisjoint(_RECOVERIES):
        present.add("recovery_rate")
    deal = portfolio.deal
    if deal.defaulted_par is not None:
        present.add("is_defaulted")
    if (deal.masked_ccc_a, deal.masked_ccc_b, deal.masked_ccc_c) != NOT_PRINTED:
        present.add("rating")
    if deal.is_interest_given:
        present.add("all_in_rate")
    if "industry" not in present and portfolio.facts.of("stratification", "industry"):
        present.add("industry")
    # The obligor tests read one key, whichever of the two columns it was made from.
    present -= {"borrower_name", "issuer_id"}
    if "obligor" in present:
        present.add("borrower_name")
    return present


def measure_test(test: Test, pool: Pool | None, portfolio: Portfolio, present: set[str]) -> Measured:
    """The test's figure.

    Raises:
        Unmeasurable: columns are missing or empty, what the test divides by is not above zero, or a sum overflows.
    """
    if not test.required <= present:  # one look at the plain ones; "a or b" below
        raise _lacking(test, portfolio, present)
    for options in test.choices:
        if present.isdisjoint(options):
            raise _lacking(test, portfolio, present)
    if test.category == "coverage" and portfolio.tranches is None:
        raise Unmeasurable(NO_TRANCHES)
    if pool is None:
        raise Unmeasurable(f"no loans in sheet '{portfolio.sheet_name}'")
    if pool.fault is not None:
        raise Unmeasurable(pool.fault)
    if pool.least_divisor <= 0 and any(pool.divisors[divisor] <= 0 for divisor in test.divides_by):
        raise Unmeasurable(ZERO_CPA)
    measured = test.measure(pool)
    if not isfinite(measured.value):
        raise Unmeasurable(TOO_LARGE)
    pool.figures[test.test_id] = measured.value
    return measured


def _lacking(test: Test, portfolio: Portfolio, present: set[str]) -> Unmeasurable:
    missing = [" or ".join(options) for options in test.alternatives if present.isdisjoint(options)]
    return Unmeasurable(f"Skipped: required column(s) {', '.join(missing)} not found in sheet '{portfolio.sheet_name}'")


def _judged(value: float, limit: ResolvedThreshold, decimals: int | None) -> tuple[float, Status]:
    """(cushion, status) of a figure, rounded half away from zero before it is compared where the deal says so."""
    if decimals is not None:
        value = rounded_half_away(value, decimals)
    cushion = cushion_of(value, limit)
    return cushion, status_of(value, cushion, limit)


def rounded_half_away(value: float, decimals: int) -> float:
    """The figure as it is printed: halves go away from zero, what is one but for the rounding of a double too."""
    scale = 10.0**decimals
    if not abs(value) * scale < WHOLE_FROM:
        return value
    return copysign(floor(abs(value) * scale + 0.5 + TOLERANCE) / scale, value)


WHOLE_FROM: Final = 2.0**52
"""From here on a double has no half left to round away."""


DEFERRED_ROWS_MAX: Final = 1_000
"""Loans up to which messages and details are made when they are read: results hold the run's portfolio and its sums. Of
more loans, that would be much memory for a small part of the run's time."""


def _figures(
    test: Test,
    value: float,
    limit: ResolvedThreshold,
    judged: tuple[float, Status],
    include_cushion: bool,
) -> tuple[Any, ...]:
    """The fields of a result that are no texts and no doubts, in order."""
    cushion, status = judged
    bound, direction, _, source = limit
    shown = shown_pct = None
    if include_cushion:
        shown = rounded(cushion)
        shown_pct = rounded(cushion / bound * 100) if bound else None
    return (
        test.test_id, test.name, test.category, status, rounded(value), bound, direction, shown, shown_pct, source,
    )  # fmt: skip


def cushion_of(value: float, limit: ResolvedThreshold) -> float:
    """The headroom of a figure, in its unit; negative is a breach."""
    if limit.direction == "max":
        return limit.value - value
    if limit.direction == "min":
        return value - limit.value
    return -abs(value - limit.value)


def status_of(value: float, cushion: float, limit: ResolvedThreshold) -> Status:
    """Fail below a cushion of zero, warning within the warning band, else pass; full precision but for `TOLERANCE`."""
    if cushion < -TOLERANCE:
        return "fail"
    if limit.warning is not None:
        if limit.direction == "max" and value >= limit.warning - TOLERANCE:
            return "warning"
        if limit.direction == "min" and value <= limit.warning + TOLERANCE:
            return "warning"
    return "pass"


_WORDS: Final[dict[tuple[Direction, bool], tuple[str, str]]] = {
    ("max", True): ("is within the", "limit"),
    ("max", False): ("is above the", "limit"),
    ("min", True): ("meets the", "minimum"),
    ("min", False): ("is below the", "minimum"),
    ("exact", True): ("is at the required", "level"),
    ("exact", False): ("differs from the required", "level"),
}


def _message(test: Test, measured: Measured, limit: ResolvedThreshold, status: Status, cushion: float | None) -> str:
    """One readable line, such as: Largest obligor 2.30 % is within the 2.50 % limit (cushion 0.20)."""
    sign = UNIT_SIGNS[test.unit]
    verb, noun = _WORDS[limit.direction, status != "fail"]
    places = ".2f"
    if status == "fail" and f"{measured.value:.2f}" == f"{limit.value:.2f}":
        places = ".6f"  # a breach that two decimals do not show
    text = f"{test.name} {measured.value:{places}}{sign} {verb} {limit.value:{places}}{sign} {noun}"
    if status == "warning":
        side = "above" if limit.direction == "max" else "below"
        text += f" but at or {side} the {limit.warning:.2f}{sign} warning level"
    if cushion is not None:
        text += f" (cushion {cushion:{places}})"
    if measured.coverage_pct is not None and measured.coverage_pct < COVERAGE_LEAST_PCT:
        text += f" (covers {measured.coverage_pct:.2f}% of par)"
    return text


def _rows(portfolio: Portfolio, pool: Pool) -> dict[str, Any]:
    """What became of the sheet's rows; the same for every test of a run."""
    tally, notes = pool.tally, portfolio.notes
    return {
        "loans": portfolio.row_count,
        "performing": tally.performing_rows,
        "defaulted": tally.defaulted_rows,
        "ignored_blank_par": tally.blank_rows if notes.ignored_blank_par is None else notes.ignored_blank_par,
        "negative_par_rows": tally.negative_rows if notes.negative_par_rows is None else notes.negative_par_rows,
        **{name: count for name in _LOSSES if (count := getattr(notes, name))},
    }


_LOSSES: Final = (
    "sheets_not_read", "rows_after_end", "no_collateral_rows", "unidentified_rows", "placeholder_identifiers",
    "destroyed_identifiers", "unreadable_cells", "error_cells", "zero_prices", "zero_purchase_prices", "lots",
    "conflicting_lots",
)  # fmt: skip
"""Fields of `Notes` that are shown where there are any: sheets and rows left out, rows added up, cells of no use."""


_SURE: Final = Verdict(UNSET, UNSET, doubtful=False)
"""Of a figure whose status nothing leaves open."""


_CELLS_OF: Final = {"coupon_type": ("is_fixed", "coupon_type")}


class _Maker:
    """Makes the messages, the details and the doubts of a run."""

    def __init__(
        self,
        portfolio: Portfolio,
        pool: Pool | None,
        limits: Limits,
        resolved: Mapping[int, ResolvedThreshold],
        include_cushion: bool,
        details: bool,
        doubter: Doubter,
    ) -> None:
        self._doubter = doubter
        self._portfolio = portfolio
        self._limits = limits
        self._resolved = resolved
        self._pool = pool
        self._include_cushion = include_cushion
        self._has_details = details

    def texts(
        self, test: Test, measured: Measured, limit: ResolvedThreshold, judged: tuple[float, Status], *_: Any
    ) -> tuple[str, Details | None]:
        """The message and the details of a test."""
        cushion = rounded(judged[0]) if self._include_cushion else None
        message = _message(test, measured, limit, judged[1], cushion)
        return message, self._details(test, measured, limit) if self._has_details else None

    def form(self, test: Test, measured: Measured, limit: ResolvedThreshold, *_: Any) -> tuple[str, int]:
        """The unit of a test's figures, and the decimals to show them with."""
        rounding = None if self._limits.definition is None else _decimals(test, self._limits)
        return test.unit, decimals_of(test.unit, measured.value, limit.value, rounding)

    def doubts(self, test: Test, measured: Measured, *args: Any) -> Doubts:
        """What to doubt of a test."""
        if self._doubter.is_sure(test, measured):
            return Doubts(None, [])
        return self._doubter.doubts(self._judged(test, measured, *args))

    def verdict(
        self,
        test: Test,
        measured: Measured,
        limit: ResolvedThreshold,
        judged: tuple[float, Status],
        low: float | None,
        high: float | None,
    ) -> Verdict:
        """How far a test may be wrong; `low` and `high` are the ends of its figure where masked ratings move it."""
        if self.is_settled(test, measured, limit, judged, low, high):
            return _SURE
        return self._doubter.verdict(self._judged(test, measured, limit, judged, low, high))

    def is_settled(self, test: Test, measured: Measured, *rest: Any) -> bool:
        """Whether nothing leaves the status of a test open; `rest` is as `verdict` has it."""
        _, _, low, _ = rest
        return low is None and self._doubter.is_settled(test, measured)

    def _judged(
        self,
        test: Test,
        measured: Measured,
        limit: ResolvedThreshold,
        judged: tuple[float, Status],
        low: float | None,
        high: float | None,
    ) -> Judged:
        decimals = None if self._limits.definition is None else _decimals(test, self._limits)
        return Judged(
            test, measured, judged[1], limit.value, limit.source, low, high,
            lambda value: _judged(value, limit, decimals)[1],
        )  # fmt: skip

    @cached_property
    def _rows(self) -> dict[str, Any]:
        assert self._pool is not None  # something was measured
        return _rows(self._portfolio, self._pool)

    @cached_property
    def _classes(self) -> _Classes:
        assert self._pool is not None
        return _Classes(self._pool, self._limits, self._resolved)

    def _details(self, test: Test, measured: Measured, limit: ResolvedThreshold) -> Details:
        portfolio, limits = self._portfolio, self._limits
        cells = portfolio.source_cells
        refs = [
            cells[field]
            for options in test.alternatives
            for option in options
            for field in _CELLS_OF.get(option, (option,))
            if field in cells
        ] if cells else []  # fmt: skip
        breakdown: dict[str, Any] = {
            "unit": test.unit,
            "numerator": rounded(measured.numerator),
            "denominator": rounded(measured.denominator),
            "coverage_pct": 100.0 if measured.coverage_pct is None else rounded(measured.coverage_pct),
            "warning_threshold": limit.warning,
            "threshold_source": limit.source,
            "rows": self._rows,
        }
        if limit.source == "sheet" and (printed := limits.sheet.limits.get(test.test_id)) is not None:
            breakdown["threshold_from"] = f"{printed.name}, {printed.cell}" if printed.cell else printed.name
        breakdown.update(measured.break_down())
        if test.sheet_trigger is not None:
            breakdown["classes"] = self._classes.of(test, limit)
        if portfolio.deal.principal_cash is None and "cpa" in test.divides_by:
            breakdown["principal_cash"] = "not given: counted as 0"
        return Details(test.formula, refs, breakdown)


_Kind = Literal["oc", "ic"]
_Held = dict[int, tuple[ResolvedThreshold, int | None]]
"""Limit and decimals by a class's place among the tested ones."""


class _Classes:
    """The classes that coverage tests look at, each as this run judges it."""

    def __init__(self, pool: Pool, limits: Limits, resolved: Mapping[int, ResolvedThreshold]) -> None:
        self._pool = pool
        self._limits = limits
        self._resolved = resolved  # by the test's identity: a definition's test may have the id of one of the suites
        self._usual: dict[_Kind, tuple[_Held, list[dict[str, Any]]]] = {}

    def of(self, test: Test, limit: ResolvedThreshold) -> list[dict[str, Any]]:
        """Judged by this test the class that it looks at, by the suites' other tests of the kind theirs, by the file's
        triggers the rest.
        """
        structure, role = self._pool.structure, test.sheet_trigger
        assert structure is not None
        assert role is not None
        kind: _Kind = "ic" if role.endswith("_ic") else "oc"
        last = len(structure.oc if kind == "oc" else structure.ic) - 1
        if kind not in self._usual:
            usual: _Held = {}
            for other_class_test in _CLASS_TESTS[kind]:
                with suppress(Unmeasurable):  # taken out of runs, it holds its class to nothing
                    resolved = self._resolved.get(id(other_class_test)) or resolve(
                        other_class_test, self._pool, self._limits
                    )
                    usual[_place(other_class_test.sheet_trigger, last)] = (
                        resolved,
                        _decimals(other_class_test, self._limits),
                    )
            self._usual[kind] = usual, self._rows(kind, usual)
        usual, rows = self._usual[kind]
        place, own = _place(role, last), (limit, _decimals(test, self._limits))
        if usual.get(place) == own:
            return rows
        return [*rows[:place], *self._rows(kind, {place: own}, [place]), *rows[place + 1 :]]

    def _rows(self, kind: _Kind, limits: _Held, places: Iterable[int] | None = None) -> list[dict[str, Any]]:
        return self._pool.classes(kind, {
            place: Held(limit.value, limit.direction, partial(_judged, limit=limit, decimals=decimals))
            for place, (limit, decimals) in limits.items()
        }, places)  # fmt: skip


def _place(role: Role | None, last: int) -> int:
    return 0 if role in ("senior_oc", "senior_ic") else last


_CLASS_TESTS: Final = {
    kind: [test for test in TESTS.values() if test.sheet_trigger in (f"junior_{kind}", f"senior_{kind}")]
    for kind in ("oc", "ic")
}
"""The suites' tests of the most junior and the most senior tested class."""
