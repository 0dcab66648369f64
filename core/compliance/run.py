"""A suite over a portfolio: thresholds, status, cushion and the words of each result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, Final, Literal, NamedTuple

from core.compliance.coverage import TOLERANCE
from core.compliance.kernels import rounded
from core.compliance.measures import COVERAGE_LEAST_PCT, NO_TRANCHES, ZERO_CPA, Measured, Pool, Unmeasurable
from core.compliance.result import Details, Direction, Results, Skipped, Status, TestResult, Threshold
from core.compliance.suites import SUITES, TESTS, Suite, Test
from core.portfolio.portfolio import Portfolio
from core.values import day_of

Source = Literal["workbook", "tenant", "sheet", "suite"]

STOPPED: Final = "not run: an earlier test failed and the run stops at the first failure"
TOO_LARGE: Final = "the figures are too large to compute with"

_NO_THRESHOLDS: Final[Mapping[str, Threshold]] = {}


class UnknownSuite(ValueError):
    """No suite has this name."""


class UnknownTest(ValueError):
    """No test of the suite has this id."""


class InvalidThreshold(ValueError):
    """A threshold that cannot be a limit."""


class ResolvedThreshold(NamedTuple):
    """The limit that a test is held to, and who set it. Figures in the test's unit."""

    value: float
    direction: Direction
    warning: float | None
    source: Source


def run_suite(
    portfolio: Portfolio,
    suite: str = "standard",
    *,
    test_ids: Iterable[str] | None = None,
    workbook_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
    tenant_thresholds: Mapping[str, Threshold] = _NO_THRESHOLDS,
    include_cushion: bool = True,
    fail_fast: bool = False,
    parallel: bool = True,
    details: bool = True,
) -> Results:
    """Run a suite, or the tests of it that `test_ids` names, in catalogue order.

    Thresholds are looked up by test id: the workbook's own, then the tenant's, then the trigger in the tranche sheet,
    then the suite's default. One that is not enabled takes its test out of the run. `fail_fast` stops after the first
    failed test. `parallel` changes nothing: one pass over the rows feeds every test, so there is nothing to spread.
    No test ids, or an empty list of them, means all.

    Raises:
        UnknownSuite: no suite has the name.
        UnknownTest: a test id is not in the suite.
    """
    tests = _chosen(suite, test_ids)
    results: list[TestResult] = []
    skipped: list[Skipped] = []
    present = _present(portfolio)
    pool = Pool(portfolio) if portfolio.row_count and "par_value" in portfolio.numbers else None
    rows = _rows(portfolio, pool) if details and pool is not None else {}
    stopped = False
    for test in tests:
        try:
            if stopped:
                raise Unmeasurable(STOPPED)
            limit = resolve(test, pool, workbook_thresholds, tenant_thresholds)
            measured = _measure(test, pool, portfolio, present)
        except Unmeasurable as reason:
            skipped.append(Skipped(test.test_id, test.name, str(reason)))
            continue
        explanation = _details(test, portfolio, measured, limit, rows) if details else None
        result = _result(test, measured, limit, explanation, include_cushion=include_cushion)
        results.append(result)
        stopped = fail_fast and result.status == "fail"
    deal = portfolio.deal
    return Results(
        results,
        skipped,
        as_of=day_of(deal.as_of),
        as_of_source=deal.as_of_source,
        warnings=portfolio.notes.warnings,
    )


def suite_named(suite: str) -> Suite:
    """The suite of that name.

    Raises:
        UnknownSuite: there is none.
    """
    if suite not in SUITES:
        raise UnknownSuite(f"Unknown suite {suite[:100]!r}: there are {' and '.join(SUITES)}")
    return SUITES[suite]


def _chosen(suite: str, test_ids: Iterable[str] | None) -> tuple[Test, ...]:
    tests = suite_named(suite).tests
    wanted = frozenset(test_ids or ())
    if not wanted:
        return tests
    known = frozenset(test.test_id for test in tests)
    if unknown := sorted(wanted - known):
        raise UnknownTest(f"Unknown test in suite {suite}: {', '.join(name[:100] for name in unknown[:5])}")
    return tuple(test for test in tests if test.test_id in wanted)


def check_threshold(
    test_id: str,
    threshold_value: float,
    threshold_type: Direction | None = None,
    warning_threshold: float | None = None,
) -> None:
    """Refuse a threshold that no run could use.

    Raises:
        UnknownTest: no test has the id.
        InvalidThreshold: a figure is not finite, or the warning stands on the wrong side of the limit.
    """
    test = TESTS.get(test_id)
    if test is None:
        raise UnknownTest(f"Unknown test {test_id[:100]!r}")
    direction = threshold_type or test.threshold_type
    if not isfinite(threshold_value) or (warning_threshold is not None and not isfinite(warning_threshold)):
        raise InvalidThreshold("a threshold must be a finite number")
    if warning_threshold is None:
        return
    if direction == "exact":
        raise InvalidThreshold("an exact threshold has no warning band: leave warning_threshold out")
    if not _warns_first(direction, threshold_value, warning_threshold):
        side = "above its maximum" if direction == "max" else "below its minimum"
        raise InvalidThreshold(f"warning_threshold {warning_threshold:g} must not be {side} {threshold_value:g}")


def _warns_first(direction: Direction, limit: float, warning: float) -> bool:
    return warning <= limit if direction == "max" else warning >= limit


def resolve(
    test: Test, pool: Pool | None, workbook: Mapping[str, Threshold], tenant: Mapping[str, Threshold]
) -> ResolvedThreshold:
    """The limit that applies to a test.

    Raises:
        Unmeasurable: the threshold that applies has taken the test out of runs.
    """
    if (threshold := workbook.get(test.test_id)) is not None:
        return _resolved(test, threshold, "workbook")
    if (threshold := tenant.get(test.test_id)) is not None:
        return _resolved(test, threshold, "tenant")
    if test.sheet_trigger is not None and pool is not None and pool.structure is not None:
        trigger = pool.structure.sheet_trigger(test.sheet_trigger)
        if trigger is not None:
            warning = _scaled_warning(test, trigger, test.threshold_type)
            return ResolvedThreshold(trigger, test.threshold_type, warning, "sheet")
    return _DEFAULTS[test.test_id]


_DEFAULTS: Final = {
    test.test_id: ResolvedThreshold(test.limit, test.threshold_type, test.warning, "suite") for test in TESTS.values()
}


def _resolved(test: Test, threshold: Threshold, source: Source) -> ResolvedThreshold:
    if not threshold.enabled:
        raise Unmeasurable(f"disabled by the {source}'s threshold")
    direction = threshold.threshold_type or test.threshold_type
    warning = threshold.warning_threshold
    if warning is None:
        warning = _scaled_warning(test, threshold.threshold_value, direction)
    elif direction == "exact":
        warning = None
    return ResolvedThreshold(threshold.threshold_value, direction, warning, source)


def _scaled_warning(test: Test, limit: float, direction: Direction) -> float | None:
    """The warning at the default's relative distance from another limit; none for another direction or a limit of 0."""
    if direction != test.threshold_type or limit == 0.0:
        return None
    warning = limit * (test.warning / test.limit)
    return warning if _warns_first(direction, limit, warning) else None


def _present(portfolio: Portfolio) -> set[str]:
    """The catalogue's names of the columns that the portfolio has."""
    present = {*portfolio.numbers, *portfolio.names, *portfolio.flags, *portfolio.ranks}
    if portfolio.lien is not None:
        present.add("lien_type")
    if "is_fixed" in present:
        present.add("coupon_type")
    # The obligor tests read one key, whichever of the two columns it was made from.
    present -= {"borrower_name", "issuer_id"}
    if "obligor" in present:
        present.add("borrower_name")
    return present


def _measure(test: Test, pool: Pool | None, portfolio: Portfolio, present: set[str]) -> Measured:
    """The test's figure.

    Raises:
        Unmeasurable: columns are missing or empty, what the test divides by is not above zero, or a sum overflows.
    """
    for options in test.alternatives:
        if present.isdisjoint(options):
            missing = [" or ".join(options) for options in test.alternatives if present.isdisjoint(options)]
            raise Unmeasurable(
                f"Skipped: required column(s) {', '.join(missing)} not found in sheet '{portfolio.sheet_name}'"
            )
    if test.category == "coverage" and portfolio.tranches is None:
        raise Unmeasurable(NO_TRANCHES)
    if pool is None:
        raise Unmeasurable(f"no loans in sheet '{portfolio.sheet_name}'")
    if not isfinite(pool.held):
        raise Unmeasurable(TOO_LARGE)
    if pool.tally.blank_rows == portfolio.row_count:
        raise Unmeasurable("Skipped: required column(s) par_value has no values")
    if pool.least_divisor <= 0 and any(pool.divisors[divisor] <= 0 for divisor in test.divides_by):
        raise Unmeasurable(ZERO_CPA)
    measured = test.measure(pool)
    if not isfinite(measured.value):
        raise Unmeasurable(TOO_LARGE)
    return measured


def _result(
    test: Test, measured: Measured, limit: ResolvedThreshold, details: Details | None, *, include_cushion: bool
) -> TestResult:
    value = measured.value
    cushion = cushion_of(value, limit)
    status = status_of(value, cushion, limit)
    shown = rounded(cushion) if include_cushion else None
    return TestResult(
        test_id=test.test_id,
        test_name=test.name,
        category=test.category,
        status=status,
        current_value=rounded(value),
        threshold_value=limit.value,
        threshold_type=limit.direction,
        cushion=shown,
        cushion_pct=rounded(cushion / limit.value * 100) if include_cushion and limit.value else None,
        message=_message(test, measured, limit, status, shown),
        details=details,
    )


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


_UNIT_SIGNS: Final = {"percent": " %", "years": " years", "factor": "", "score": ""}

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
    sign = _UNIT_SIGNS[test.unit]
    verb, noun = _WORDS[limit.direction, status != "fail"]
    value, bound = f"{measured.value:.2f}", f"{limit.value:.2f}"
    hidden = status == "fail" and value == bound
    if hidden:  # a breach that two decimals do not show
        value, bound = f"{measured.value:.6f}", f"{limit.value:.6f}"
    text = f"{test.name} {value}{sign} {verb} {bound}{sign} {noun}"
    if status == "warning":
        side = "above" if limit.direction == "max" else "below"
        text += f" but at or {side} the {limit.warning:.2f}{sign} warning level"
    if cushion is not None:
        text += f" (cushion {cushion:.6f})" if hidden else f" (cushion {cushion:.2f})"
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
    "sheets_not_read", "rows_after_end", "unidentified_rows", "placeholder_identifiers", "destroyed_identifiers",
    "unreadable_cells", "error_cells", "zero_prices", "zero_purchase_prices", "lots", "conflicting_lots",
)  # fmt: skip
"""Fields of `Notes` that are shown where there are any: sheets and rows left out, rows added up, cells of no use."""


_CELLS_OF: Final = {"coupon_type": ("is_fixed", "coupon_type")}


def _details(
    test: Test, portfolio: Portfolio, measured: Measured, limit: ResolvedThreshold, rows: dict[str, Any]
) -> Details:
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
        "rows": rows,
    }
    breakdown.update(measured.breakdown)
    if portfolio.deal.principal_cash is None and "cpa" in test.divides_by:
        breakdown["principal_cash"] = "not given: counted as 0"
    return Details(test.formula, refs, breakdown)
