"""What several portfolios have in common.

The tightest test of all, and obligors that several hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from core.compliance.result import TestResult
from core.insights.insight import FigureCondition, InsightFigure
from core.insights.limits import NAMED, doubted, headroom_of
from core.insights.study import FindingDraft, Study, StudyFinding
from core.insights.words import plain

SHARED_LOOKED_AT: Final = 2_000
"""Obligors of each portfolio that are compared, the largest first."""


def between(studies: Sequence[Study]) -> Iterator[StudyFinding]:
    """Yield what is said of several portfolios together."""
    yield from _tightest(studies)
    yield from _share(studies)


def _tightest(studies: Sequence[Study]) -> Iterator[StudyFinding]:
    """Yield the test with the least headroom of each portfolio, the tightest first."""
    thinnest = []
    for study in studies:
        tests = [result for result in study.results if result.cushion_pct is not None]
        if tests:
            thinnest.append((min(tests, key=_nearest), study))
    if len(thinnest) < 2:
        return
    thinnest.sort(key=lambda each: _nearest(each[0]))
    draft = FindingDraft(studies[0], "tightest")
    texts = []
    for at, (each, study) in enumerate(thinnest[:NAMED]):
        own = FindingDraft(study, "tightest")
        own.test("value", each.test_id)
        own.test("limit", each.test_id, "limit")
        draft.tests.append(each.test_id)
        draft.say(f"test_{at}", each.test_name)
        draft.say(f"deal_{at}", study.subject.name)
        text = f"{{deal_{at}}}: {{test_{at}}} {{value_{at}}} against {{limit_{at}}}"
        if clause := doubted(own, each):
            text += f", doubtful: {clause.replace('{printed}', f'{{printed_{at}}}')}"
        for part, figure in own.figures.items():
            _take(draft, f"{part}_{at}", figure, study)
        texts.append(text)
    fails = sum(any(result.status == "fail" and not result.doubtful for result in study.results) for study in studies)
    surely = " beyond doubt" if any(result.doubtful for study in studies for result in study.results) else ""
    draft.quote("deals", len(studies), "count", "portfolios looked at", noun="portfolio")
    draft.quote("failing", fails, "count", "portfolios with a failing test", noun="portfolio")
    yield draft.finding(
        "risk_compliance",
        "act" if fails else "context",
        f"{{failing}} of {{deals}} fail a test{surely}" if fails else "{deal_0} has the tightest test",
        f"Of {{deals}}, {{failing}} fail a test{surely}. The tightest of each: {'; '.join(texts)}.",
        weight=10.0,
        methodology="The test of each portfolio with the least cushion in percent of its limit.",
    )


def _nearest(test_result: TestResult) -> tuple[bool, float]:
    """Return what sorts tests by headroom, those whose status is doubtful behind the others."""
    return test_result.doubtful, headroom_of(test_result)


def _share(studies: Sequence[Study]) -> Iterator[StudyFinding]:
    """Obligors that several portfolios of one currency hold."""
    par_by_deal: dict[str, dict[int, float]] = defaultdict(dict)
    for at, study in enumerate(studies):
        if study.columns.has("obligor"):
            for name, par in study.columns.by_name("obligor")[:SHARED_LOOKED_AT]:
                par_by_deal[name][at] = par
    shared = {name: by for name, by in par_by_deal.items() if len(by) > 1}
    if not shared or len({study.subject.currency for study in studies}) > 1:
        return
    draft = FindingDraft(studies[0], "shared")
    largest = sorted(shared, key=lambda name: (-sum(shared[name].values()), name))[:NAMED]
    texts = []
    for at, name in enumerate(largest):
        keys = []
        for place in shared[name]:
            own = FindingDraft(studies[place], "shared")
            own.loans("par", "sum", "amount", FigureCondition("obligor", "equal", name), name=f"par of {plain(name)}")
            _take(draft, f"par_{at}_{place}", own.figures["par"], studies[place])
            keys.append(f"par_{at}_{place}")
        draft.combined(f"par_{at}", "total", "amount", *keys)
        draft.quote(f"deals_{at}", len(keys), "count", f"portfolios that hold obligor {at + 1}", noun="portfolio")
        draft.say(f"obligor_{at}", _name(studies, shared[name], name))
        texts.append(f"{{obligor_{at}}} {{par_{at}}} in {{deals_{at}}}")
    draft.quote("count", len(shared), "count", "obligors that several portfolios hold", noun="obligor")
    yield draft.finding(
        "portfolio_composition",
        "context",
        "{count} " + ("are" if len(shared) != 1 else "is") + " held by several portfolios",
        "{count} " + ("are" if len(shared) != 1 else "is") + f" held by more than one portfolio: {', '.join(texts)}.",
        weight=float(len(shared)),
        methodology="Performing par of obligors of the same name or identifier, added up over the portfolios.",
    )


def _name(studies: Sequence[Study], by: dict[int, float], name: str) -> str:
    study = studies[next(iter(by))]
    rows = study.columns.largest(study.columns.chosen([FigureCondition("obligor", "equal", name)]))
    return study.borrower(int(rows[0]))


def _take(draft: FindingDraft, key: str, figure: InsightFigure, study: Study) -> None:
    """Another portfolio's figure, under a name that says whose it is."""
    draft.figures[key] = replace(figure, name=f"{plain(study.subject.name)}: {figure.name}")
