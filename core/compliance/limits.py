"""Which limit applies to a test, and who set it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from math import isfinite
from types import ModuleType
from typing import Final, NamedTuple

from msgspec import Struct

from core.compliance.conventions import DEFAULT
from core.compliance.matching import Match, Terms, UnmatchedFigure, pair, pair_alone
from core.compliance.pool_sums import Pool, Unmeasurable
from core.compliance.published import SheetLimit, limits_of
from core.compliance.result import (
    Direction,
    Source,
    Threshold,
)
from core.compliance.suites import TESTS, Test
from core.definition.definition import DealTest, Definition
from core.definition.terms import TOTALS
from core.portfolio import Portfolio
from core.remembered import remembered_by_object
from core.values import day_of
from core.words import suggestion

DISABLED: Final = "disabled by the {source}'s threshold"


class UnknownTest(ValueError):
    """No test of the suite has this id."""


class InvalidThreshold(ValueError):
    """A threshold that cannot be a limit."""


NO_THRESHOLDS: Final[Mapping[str, Threshold]] = {}


class SheetFigures(NamedTuple):
    """What the file itself says of tests."""

    matches: tuple[Match, ...] = ()
    limits: Mapping[str, SheetLimit] = {}
    """By test id."""
    listed: tuple[UnmatchedFigure, ...] = ()
    """Figures that are beside no test."""


_NO_SHEET: Final = SheetFigures()


class RunLimits(NamedTuple):
    """Who set limits, by test id.

    Callers, workbooks and deals before the definition, a tenant after it.
    """

    first: tuple[tuple[Source, Mapping[str, Threshold]], ...] = ()
    """Request, workbook, deal; those that set any."""
    tenant: Mapping[str, Threshold] = NO_THRESHOLDS
    definition: Definition | None = None
    tests: Mapping[str, DealTest] = {}
    """The definition's tests by id."""
    day: date | None = None
    """The as-of day: limits step with it."""
    reinvestment_end: date | None = None
    sheet: SheetFigures = _NO_SHEET


class ResolvedThreshold(Struct, frozen=True):
    """The limit that a test is held to, and who set it. Figures in the test's unit."""

    value: float
    direction: Direction
    warning: float | None
    source: Source


def limits_of_run(
    sources: Iterable[tuple[Source, Mapping[str, Threshold]]],
    tenant: Mapping[str, Threshold],
    rules: Definition | None,
    tests: tuple[Test, ...],
    portfolio: Portfolio,
    pool: Pool | None,
    triggers: Mapping[str, SheetLimit | None],
) -> RunLimits:
    """Return all limits of a run, in copies.

    Details may be made later, when the caller's mappings have changed.
    """
    own = {} if rules is None else tests_by_id(rules)
    if pool is None:
        sheet = figures_without_loans(tests, own, portfolio, rules)
    else:
        sheet = figures_of_sheet(tests, own, pool, triggers)
    return RunLimits(
        tuple((source, dict(thresholds)) for source, thresholds in sources if thresholds),
        dict(tenant),
        rules,
        own,
        day_of(portfolio.deal.as_of),
        day_of(portfolio.deal.reinvestment_end),
        sheet,
    )


@remembered_by_object(32)
def tests_by_id(definition: Definition) -> Mapping[str, DealTest]:
    """Return the tests of a definition by id."""
    return {test.id: test for test in definition.tests}


def figures_of_sheet(
    tests: tuple[Test, ...], own: Mapping[str, DealTest], pool: Pool, triggers: Mapping[str, SheetLimit | None]
) -> SheetFigures:
    """Return what the file publishes of these tests.

    The triggers of its classes come first.
    """
    if not (pool.portfolio.facts.all or triggers):
        return _NO_SHEET
    pairs = pair(tests, own, pool)
    by_test_id = {test_id: limit for test_id, limit in triggers.items() if limit is not None}
    return SheetFigures(pairs.matches, limits_of(pairs.matches, pool) | by_test_id, pairs.listed)


def figures_without_loans(
    tests: tuple[Test, ...], own: Mapping[str, DealTest], portfolio: Portfolio, rules: Definition | None
) -> SheetFigures:
    """Return the same of a file without loans that can be measured.

    Its figures stand beside the tests that are skipped.
    """
    if not portfolio.facts.all:
        return _NO_SHEET
    pairs = pair_alone(tests, own, Terms((rules or DEFAULT).conventions.home_countries), portfolio.facts)
    return SheetFigures(pairs.matches, {}, pairs.listed)


def has_limit(test: Test, limits: RunLimits) -> bool:
    """Return whether anybody limits a test of a definition.

    One without a limit is a figure for others.
    """
    own = limits.tests.get(test.test_id)
    if own is not None and own.class_ is not None and test.test_id in limits.sheet.limits:
        return True
    sources = (*(thresholds for _, thresholds in limits.first), limits.tenant)
    return any(test.test_id in each for each in sources) or (
        own is not None and (own.max is not None or own.min is not None or own.matrix is not None)
    )


def decimals_for(test: Test, limits: RunLimits) -> int | None:
    """Return the decimals that a comparison rounds a figure to; None for all."""
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


SettledLimit = tuple[ResolvedThreshold | None, int | None]
"""The limit of a test, None for none, and the decimals to which its figure is rounded before it is compared."""


def settled_limits(limits: RunLimits) -> Mapping[str, SettledLimit]:
    """Return the limits, by test id, that a definition's day decides alone.

    Nothing where anybody else sets limits.
    """
    definition = limits.definition
    if definition is None or definition.has_market_limits or limits.first or limits.tenant or limits.sheet.limits:
        return {}
    return _settled_limits(definition, limits.day, limits.reinvestment_end)


@remembered_by_object(32)
def _settled_limits(definition: Definition, day: date | None, reinvestment_end: date | None) -> dict[str, SettledLimit]:
    own = tests_by_id(definition)
    limits = RunLimits(definition=definition, tests=own, day=day, reinvestment_end=reinvestment_end)
    return {
        test.test_id: (resolve(test, None, limits) if has_limit(test, limits) else None, decimals_for(test, limits))
        for test in load_deal_suite().tests_of(definition)
        if own[test.test_id].matrix is None
    }


def load_deal_suite() -> ModuleType:
    """Return the tests of definitions.

    Loaded by the runs that have one, since the formula engine comes with them.
    """
    from core.compliance import deal_suite

    return deal_suite


def check_threshold(
    test_id: str,
    threshold_value: float,
    threshold_type: Direction | None = None,
    warning_threshold: float | None = None,
    *,
    definition: Definition | None = None,
) -> Test:
    """Return the test of a threshold that a run can use.

    A definition has tests beside those of the suites.

    Raises:
        UnknownTest: no test has the id.
        InvalidThreshold: a figure is not finite, or the warning stands on the wrong side of the limit.
    """
    test = TESTS.get(test_id)
    if test is None and definition is not None:
        test = load_deal_suite().test_named(definition, test_id)
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


def resolve(test: Test, pool: Pool | None, limits: RunLimits) -> ResolvedThreshold:
    """Return the limit that applies to a test.

    Raises:
        Unmeasurable: the threshold that applies has taken the test out of runs, or its matrix needs what is not known.
    """
    for source, thresholds in limits.first:
        if (threshold := thresholds.get(test.test_id)) is not None:
            return _resolved(test, threshold, source)
    is_standard = limits.definition is not None and limits.definition.has_market_limits
    if (
        limits.definition is not None
        and not is_standard
        and (limit := _limit_of_definition(test, pool, limits)) is not None
    ):
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
    if is_standard and (limit := _limit_of_definition(test, pool, limits)) is not None:
        return limit
    return DEFAULT_LIMITS[test.test_id]


def _limit_of_definition(test: Test, pool: Pool | None, limits: RunLimits) -> ResolvedThreshold | None:
    """Return the limit that the definition gives.

    That of its test of this id, or the trigger of the class that is tested.
    """
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
        value = load_deal_suite().matrix_limit(matrix, pool, known)
        return ResolvedThreshold(value, own.matrix_limit, own.warning, "definition")
    if own is not None:
        limit, level = load_deal_suite().step_of(own, limits.day, limits.reinvestment_end)
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


DEFAULT_LIMITS: Final = {
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
    """Return the warning at the default's relative distance from a limit, or None."""
    if direction != test.threshold_type or limit == 0.0 or test.limit == 0.0 or test.warning == test.limit:
        return None
    warning = limit * (test.warning / test.limit)
    return warning if _warns_first(direction, limit, warning) else None
