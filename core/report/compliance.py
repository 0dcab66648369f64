"""The content of a compliance report from a run's results and its portfolio.

Every figure is one that the run has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from math import inf
from typing import Final

from msgspec import UnsetType

from core.compliance.conventions import definition_for
from core.compliance.measuring import pools_of
from core.compliance.pool_sums import Pool
from core.compliance.printed import printed_words
from core.compliance.result import Results, Skipped, Status, TestResult
from core.compliance.suites import DEAL_SUITE, SUITES, TESTS
from core.deals.movements import Movement
from core.deals.tie_out import TieOut
from core.definition import Definition
from core.labels import LABELS
from core.portfolio import Portfolio
from core.portfolio.model.portfolio import AsOfSource, Deal
from core.report.content import (
    UNNAMED,
    Category,
    ComplianceReport,
    KeyFigure,
    LineageLine,
    MaskedEnds,
    MoverLine,
    Origin,
    PartLine,
    ReportChanges,
    Series,
    SkippedLine,
    TestChange,
    TestLine,
    Unit,
)
from core.report.coverage import coverage_of, notes_of
from core.report.figures import day
from core.report.lineage import lineage_of, method_of, rules_of
from core.report.pool import concentrations_of, distributions_of
from core.report.verdict import headroom_of, verdict_of
from core.values import day_of

THINNEST_SHOWN: Final = 5
KEY_FIGURES_SHOWN: Final = 12
MOVERS_SHOWN: Final = 3
"""Loans of a part of a change."""

PARTIAL: Final = "partial run"
"""What the title says of a run of a part of its suite."""

CATEGORIES: Final = {
    "coverage": "Coverage",
    "rating": "Collateral quality",
    "portfolio": "Portfolio profile",
    "concentration": "Concentration limits",
    "liquidity": "Liquidity",
}
"""Category -> its title, in the order of the report."""

_SAID_BY: Final[dict[AsOfSource | None, str]] = {
    "request": "asked for",
    "workbook": "recorded with the workbook",
    "file": "stated by the file",
    "column": "stated by a column of the loans",
    "modified": "the day the file was last changed: the file states none",
    "upload": "the day of the upload: the file states none",
    None: "",
}


def compliance_content(  # noqa: PLR0913 - the options of the library's function
    results: Results,
    portfolio: Portfolio | None,
    *,
    origin: Origin,
    generated_at: datetime,
    suite: str = "standard",
    definition: Definition | None = None,
    pool: Pool | None = None,
    earlier: Results | None = None,
    moved: Sequence[Movement] = (),
    history: Sequence[Series] = (),
    tie_out: Sequence[TieOut] = (),
    labels: Mapping[str, str] = LABELS,
) -> ComplianceReport:
    """Return what a report on a run shows.

    Figures of tests, and the steps of the coverage ratios, are those of the results: a run without details has no
    steps. Concentrations and distributions are sums of the pool over which the run went.

    Args:
        results: of the run that is reported on.
        portfolio: its loans; None where they can no longer be read as the run read them: then nothing is shown that is
            summed over them.
        suite: the run's.
        definition: the rules by which it was run, where a deal's.
        pool: the sums of the portfolio where they are known already.
        earlier: the run of an earlier day with which it is compared.
        moved: why the tests moved since then, from `core.deals.movements`.
        history: tests through the months; one without a second day is left out.
        tie_out: the trustee's figures beside ours.
        labels: what people read in place of an agency's name.
    """
    if pool is None and portfolio is not None:
        pool = next(iter(pools_of(portfolio, definition_for(portfolio, definition))), None)
    known = _Units(definition)
    lines = [_line(result, known) for result in results]
    categories = _categories(lines)
    if results.partial:
        named = {each.test_id for each in (*results, *results.skipped)}
        earlier = None if earlier is None else _only(earlier, named)
        moved = [each for each in moved if each.test_id in named]
    return ComplianceReport(
        title=f"{origin.name or UNNAMED} ({PARTIAL})" if results.partial else origin.name,
        suite="Deal" if suite == DEAL_SUITE else SUITES[suite].name if suite in SUITES else suite,
        currency=(portfolio and portfolio.deal.currency) or (definition.conventions.currency if definition else None),
        as_of=results.as_of,
        as_of_source=_SAID_BY[results.as_of_source],
        generated_at=generated_at,
        origin=origin,
        verdict=verdict_of(lines, len(results.skipped), partial=results.partial),
        summary=results.summary,
        warnings=results.warnings,
        read_as=results.read_as,
        key_figures=[] if pool is None else _key_figures(pool, lines, definition),
        thinnest=thinnest(lines),
        changes=_changes(lines, results.skipped, known, earlier, moved),
        categories=categories,
        skipped=[_skipped_line(each, known) for each in results.skipped],
        deal_days=[] if pool is None else list(_deal_days(pool.portfolio.deal)),
        notes=[] if portfolio is None else list(notes_of(portfolio.tranches)),
        coverage=list(coverage_of(results, pool)),
        concentrations=[] if pool is None else list(concentrations_of(pool, results, suite, definition, labels)),
        distributions=[] if pool is None else list(distributions_of(pool, suite, labels)),
        history=_in_order(categories, history),
        tie_out=list(tie_out),
        methods=[method_of(result) for result in results if result.details is not None],
        definition_name=None if definition is None else definition.name,
        rules=[] if definition is None else list(rules_of(definition)),
        lineage=lineage_of(portfolio, origin, definition, labels),
    )


# ---- tests


class _Units:
    """The unit of a test by its id."""

    def __init__(self, definition: Definition | None) -> None:
        self._definition = definition

    def of(self, test_id: str, result: TestResult | None = None) -> Unit:
        if result is not None and result.unit:
            return result.unit  # type: ignore[return-value]
        if self._definition is not None and test_id not in TESTS:
            from core.compliance.deal_suite import test_named  # with it comes the formula engine

            test = test_named(self._definition, test_id)
            return "percent" if test is None else test.unit
        return TESTS[test_id].unit if test_id in TESTS else "percent"


def _set(value: float | UnsetType) -> float | None:
    return None if isinstance(value, UnsetType) else value


def _ends(row: TestResult | Skipped) -> MaskedEnds | None:
    low, high = _set(row.low), _set(row.high)
    return None if low is None or high is None else (low, high)


def _line(test_result: TestResult, known: _Units) -> TestLine:
    return TestLine(
        test_id=test_result.test_id,
        name=test_result.test_name,
        category=test_result.category,
        unit=known.of(test_result.test_id, test_result),
        status=test_result.status,
        value=test_result.current_value,
        threshold=test_result.threshold_value,
        warning=None if test_result.details is None else test_result.details.breakdown.get("warning_threshold"),
        direction=test_result.threshold_type,
        cushion=test_result.cushion,
        cushion_pct=test_result.cushion_pct,
        message=test_result.message,
        masked=_ends(test_result),
        published=test_result.published,
        doubt=list(test_result.doubt),
        doubtful=test_result.doubtful,
        decimals=test_result.decimals,
    )


def _skipped_line(skipped: Skipped, known: _Units) -> SkippedLine:
    return SkippedLine(
        test_id=skipped.test_id,
        name=skipped.test_name,
        reason=skipped.reason.removeprefix("Skipped: "),
        value=_set(skipped.current_value),
        masked=_ends(skipped),
        unit=known.of(skipped.test_id),
    )


def _categories(lines: Sequence[TestLine]) -> list[Category]:
    names = sorted({line.category for line in lines}, key=lambda name: [*CATEGORIES, name].index(name))
    return [Category(CATEGORIES.get(name, name), [line for line in lines if line.category == name]) for name in names]


_GRAVITY: Final[dict[Status | None, int]] = {"fail": 0, "warning": 1, "pass": 2, None: 3}


def thinnest(lines: Iterable[TestLine]) -> list[TestLine]:
    """Return the tests with the least headroom in percent of their limits, those whose status is doubtful behind the
    others. A limit of 0 has no such percent: a test that fails one comes first, and one that passes it is left out."""
    known = [line for line in lines if line.cushion_pct is not None or line.status == "fail"]
    return sorted(known, key=lambda line: (line.doubtful, headroom_of(line)))[:THINNEST_SHOWN]


def _only(results: Results, test_ids: Collection[str]) -> Results:
    """These tests of a run."""
    kept = [result for result in results if result.test_id in test_ids]
    return Results(kept, [each for each in results.skipped if each.test_id in test_ids], as_of=results.as_of)


# ---- the cover


def _key_figures(pool: Pool, lines: Iterable[TestLine], definition: Definition | None) -> list[KeyFigure]:
    """Return size of the pool, then its averages as the run's tests have them."""
    tally = pool.tally
    averages = (
        _AVERAGES | {test.id for test in definition.tests if test.measure in _MEASURES} if definition else _AVERAGES
    )
    figures = [
        KeyFigure("Performing par", float(pool.par), "amount"),
        KeyFigure("Collateral principal amount", float(pool.cpa), "amount"),
        KeyFigure("Defaulted par", tally.defaulted_par, "amount"),
        KeyFigure("Performing loans", tally.performing_rows, "number"),
        *([KeyFigure("Obligors", tally.obligor_count, "number")] if tally.obligor_count else []),
        *(KeyFigure(line.name, line.value, line.unit, _beside(line)) for line in lines if line.test_id in averages),
    ]
    return figures[:KEY_FIGURES_SHOWN]


def _beside(line: TestLine) -> str:
    """Return what stands with a figure of the cover that is not the file's, or that its inputs leave open."""
    is_other = line.published is not None and line.published.agrees is False
    parts = ("doubtful" if line.doubtful else "", printed_words(line.published) if is_other else "")
    return ": ".join(filter(None, parts))


_AVERAGES: Final = frozenset(
    ("average_rating_factor", "weighted_average_recovery_rate", "wal", "was", "diversity_score")
)
_MEASURES: Final = frozenset(("warf", "warr", "wal", "was", "diversity"))
"""The measures of a definition that are averages of the pool."""


def _deal_days(deal: Deal) -> Iterator[LineageLine]:
    """Yield days of the deal's life, as the file or the definition says them."""
    for label, known in (
        ("Closing", deal.closing_date),
        ("Reinvestment until", deal.reinvestment_end),
        ("Stated maturity", deal.stated_maturity),
        ("Next payment", deal.next_payment),
    ):
        if (deal_day := day_of(known)) is not None:
            yield LineageLine(label, day(deal_day))


def _in_order(categories: Iterable[Category], history: Iterable[Series]) -> list[Series]:
    """Return the series of more than one day, in the order of the report's tests."""
    places = {line.test_id: at for at, line in enumerate(line for category in categories for line in category.tests)}
    several = [each for each in history if len(each.points) > 1]
    return sorted(several, key=lambda each: places.get(each.test_id, len(places)))


def _changes(
    lines: Sequence[TestLine],
    skipped: Sequence[Skipped],
    known: _Units,
    earlier: Results | None,
    moved: Sequence[Movement],
) -> ReportChanges | None:
    if earlier is None and not moved:
        return None
    then = {} if earlier is None else {each.test_id: each for each in earlier}
    parts = {each.test_id: each for each in moved}
    now = {line.test_id: line for line in lines}
    names = {each.test_id: each.test_name for each in moved}
    names |= {each.test_id: each.test_name for each in then.values()}
    names |= {each.test_id: each.test_name for each in skipped}
    names |= {line.test_id: line.name for line in lines}
    changes = [
        _change(test_id, name, now.get(test_id), then.get(test_id), parts.get(test_id), known)
        for test_id, name in names.items()
    ]
    compared = earlier is not None
    shown = [each for each in changes if _shows(each, compared=compared)]
    unmoved = sum(each.change == 0 and not _shows(each, compared=compared) for each in changes)
    shown.sort(key=lambda each: _weight(each, now.get(each.test_id), compared=compared))
    since = None if earlier is None else earlier.as_of
    return ReportChanges(since, shown, unmoved)


def _shows(change: TestChange, *, compared: bool) -> bool:
    return bool(change.change) or (compared and change.status_before != change.status_after)


def _change(
    test_id: str, name: str, now: TestLine | None, then: TestResult | None, why: Movement | None, known: _Units
) -> TestChange:
    after = now.value if now is not None else why.after if why is not None else None
    before = then.current_value if then is not None else why.before if why is not None else None
    change = None if before is None or after is None else after - before
    better = None
    if change and now is not None and now.direction != "exact":
        better = (change > 0) == (now.direction == "min")
    lines = (
        []
        if why is None or change is None
        else [
            PartLine(part.part, part.change, [MoverLine(loan.name, loan.effect) for loan in part.loans[:MOVERS_SHOWN]])
            for part in sorted(why.parts, key=lambda part: -abs(part.change))
            if part.change
        ]
    )
    return TestChange(
        test_id=test_id,
        name=name,
        unit=now.unit if now is not None else known.of(test_id, then),
        before=before,
        after=after,
        change=change,
        better=better,
        status_before=None if then is None else then.status,
        status_after=None if now is None else now.status,
        parts=lines,
        doubtful_before=then is not None and then.doubtful,
        doubtful_after=now is not None and now.doubtful,
    )


def _weight(change: TestChange, now: TestLine | None, *, compared: bool) -> tuple[bool, int, float]:
    """Return what sorts changes.

    Those to another status first, the gravest first of them, then by their part of the limit.
    """
    same = not compared or change.status_before == change.status_after
    limit = abs(now.threshold) if now is not None and now.threshold else inf
    return same, 0 if same else _GRAVITY[change.status_after], -abs(change.change or 0.0) / limit
