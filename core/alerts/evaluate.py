"""Whether an alert's conditions hold.

A run's results and the history of its figures to a verdict.

Three answers, not two. A test that was skipped, that the run does not have, or that masked ratings leave open says
nothing: it fires no alert, and it neither ends nor begins the time for which a condition has held.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from math import isfinite
from typing import Any, Final, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from core.alerts.conditions import (
    ComplianceConditions,
    Conditions,
    Operator,
    ScheduleConditions,
    ThresholdConditions,
    TrendConditions,
)
from core.alerts.metrics import Metric, has_every_test, metric_test, unit_of
from core.compliance.limits import ResolvedThreshold
from core.compliance.printed import doubtful_words
from core.compliance.result import Skipped, TestResult
from core.compliance.run import LEFT_OUT
from core.compliance.verdicts import cushion_of
from core.definition.definition import Definition
from core.frames.figures import decimals_apart
from core.words import counted

TESTS_SHOWN: Final = 50
"""Tests that a verdict lists; the rest are counted."""
LOOKBACKS: Final = 2
"""A trend starts from the figure that stood `lookback_days` ago, unless that was older than so many times the span."""


class RunPoint(NamedTuple):
    """A figure of the history."""

    at: datetime
    """When it was worked out."""
    day: date
    """Of the workbook's figures."""
    value: float


class AlertVerdict(Struct, frozen=True, kw_only=True):
    """What a run says of an alert."""

    holds: bool | None
    """None: it cannot be told."""
    sentence: str
    """What was found, in one plain line; where it cannot be told, why."""
    metric_value: float | None = None
    """The figure, where the alert is about one."""
    details: dict[str, Any] = {}
    due_at: datetime | None = None
    """When the condition will have held for long enough, if no run says otherwise."""


@dataclass(frozen=True)
class AlertReading:
    """What a run says."""

    at: datetime
    """When it was made."""
    day: date
    """Of the workbook's figures."""
    suite: str
    results: Sequence[TestResult]
    skipped: Sequence[Skipped]
    partial: bool = False
    """Tests of the suite were left out by the request."""
    definition: Definition | None = None
    """By which it went."""
    by_day: bool = False
    """It is a deal's, of which each workbook is a month: a trend goes by the days of the figures, not by those of the
    runs."""

    @cached_property
    def ran(self) -> Mapping[str, TestResult]:
        """The results by test."""
        return {result.test_id: result for result in self.results}

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why a test was skipped."""
        return {result.test_id: result.reason for result in self.skipped}

    @cached_property
    def tried(self) -> frozenset[str]:
        """The tests that the request did not leave out."""
        return frozenset((*self.ran, *(test_id for test_id, reason in self.reasons.items() if reason not in LEFT_OUT)))

    @cached_property
    def _tests(self) -> dict[Metric, str | None]:
        return {}

    def test_of(self, metric: Metric) -> str | None:
        """The test that a metric is in this run."""
        if metric not in self._tests:
            self._tests[metric] = metric_test(metric, self.suite, self.results, self.reasons, self.definition)
        return self._tests[metric]

    def measured(self, metric: Metric) -> TestResult | None:
        """Return the result that a metric is; None where it is unknown."""
        result = self.ran.get(self.test_of(metric) or "")
        return result if result is not None and isfinite(result.current_value) else None


def is_covered(conditions: Conditions, reading: AlertReading) -> bool:
    """Return whether a run ran every test that an alert is about: a full run did."""
    if not reading.partial:
        return True
    if isinstance(conditions, ComplianceConditions):
        return bool(conditions.test_ids) and reading.tried.issuperset(conditions.test_ids)
    assert not isinstance(conditions, ScheduleConditions), "a schedule asks for no figures"
    return has_every_test(conditions.metric, reading.suite, reading.tried, reading.definition)


class Need(NamedTuple):
    """The history that a verdict takes.

    What a test gave since then, and the last figure before.
    """

    test_id: str
    since: datetime


def history_of(conditions: Conditions, reading: AlertReading, now: datetime) -> Need | None:
    """Return what of the history `judge` is to be given; None where it needs none."""
    if isinstance(conditions, ThresholdConditions) and conditions.duration_minutes:
        measured = reading.measured(conditions.metric)
        if measured is not None and _compare(conditions, measured):
            return Need(measured.test_id, now - timedelta(minutes=conditions.duration_minutes))
    if isinstance(conditions, TrendConditions) and (measured := reading.measured(conditions.metric)) is not None:
        return Need(measured.test_id, _earlier(_moment(reading), LOOKBACKS * timedelta(days=conditions.lookback_days)))
    return None


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def judge(
    conditions: Conditions,
    reading: AlertReading,
    history: Sequence[RunPoint],
    now: datetime,
    there: Callable[[datetime], datetime] = _in_utc,
) -> AlertVerdict:
    """Return whether the conditions of an alert hold.

    Args:
        history: what `history_of` asks for: figures of earlier runs, in the order of the runs.
        now: when it is asked; a condition that held at the run has held since.
        there: a moment as the reader's clocks show it.
    """
    verdict = _judge(conditions, reading, history, now, there)
    return replace(verdict, details={**verdict.details, "as_of": reading.day}) if verdict.details else verdict


def _judge(
    conditions: Conditions,
    reading: AlertReading,
    history: Sequence[RunPoint],
    now: datetime,
    there: Callable[[datetime], datetime],
) -> AlertVerdict:
    if isinstance(conditions, ThresholdConditions):
        return _threshold(conditions, reading, history, now, there)
    if isinstance(conditions, TrendConditions):
        return _trend(conditions, reading, history)
    assert not isinstance(conditions, ScheduleConditions), "a schedule asks for no figures"
    return _compliance(conditions, reading)


# Metrics --------------------------------------------------------------------------------------------------------------


def _unknown(metric: Metric, reading: AlertReading) -> AlertVerdict:
    test_id = reading.test_of(metric)
    reason = reading.reasons.get(test_id or "")
    if test_id is None:
        why = f"the run has no test that is the metric {metric}"
    else:
        why = f"{test_id} was skipped: {reason}" if reason else f"{test_id} has no finite figure"
    return AlertVerdict(holds=None, sentence=f"It cannot be told: {why}")


_CLOSE: Final = 1e-6
"""Figures are stored to six decimals: what is closer is equal."""


def _equal(value: float, to: float) -> bool:
    return abs(value - to) <= _CLOSE * max(1.0, abs(to))


COMPARISONS: Final[dict[Operator, tuple[Callable[[float, float], bool], str]]] = {
    "gt": (lambda value, to: value > to, "above"),
    "gte": (lambda value, to: value >= to, "at or above"),
    "lt": (lambda value, to: value < to, "below"),
    "lte": (lambda value, to: value <= to, "at or below"),
    "eq": (_equal, "equal to"),
    "ne": (lambda value, to: not _equal(value, to), "not equal to"),
}
"""Each operator: what it asks, and how a sentence says it."""


def _compare(conditions: ThresholdConditions, test_result: TestResult) -> bool | None:
    """Return whether a result meets the comparison.

    None where the ends of its range differ in that. A doubtful one goes by its figure, and the sentence says that it is
    doubtful.
    """
    compare, _ = COMPARISONS[conditions.operator]
    ends = () if test_result.doubtful else (test_result.low, test_result.high)
    values = {test_result.current_value, *(end for end in ends if end is not UNSET)}
    answers = {compare(value, conditions.value) for value in values}
    return answers.pop() if len(answers) == 1 else None


def _threshold(
    conditions: ThresholdConditions,
    reading: AlertReading,
    history: Sequence[RunPoint],
    now: datetime,
    there: Callable[[datetime], datetime],
) -> AlertVerdict:
    measured = reading.measured(conditions.metric)
    if measured is None:
        return _unknown(conditions.metric, reading)
    value, sign = measured.current_value, unit_of(conditions.metric)
    compare, words = COMPARISONS[conditions.operator]
    details = {
        "metric": conditions.metric,
        "current_value": value,
        "threshold_value": conditions.value,
        "operator": conditions.operator,
        "test_id": measured.test_id,
        "test_name": measured.test_name,
        **_form_of(measured, conditions.value),
        **_doubt_of(measured),
    }
    answer = _compare(conditions, measured)
    shown, limit = _show(measured, value, conditions.value)
    comparison = f"{'' if answer else 'not '}{words} {limit}{sign}"
    sentence = f"{measured.test_name} is {shown}{sign}, {comparison}{_doubt_words(measured)}"
    verdict = AlertVerdict(holds=answer, sentence=sentence, metric_value=value, details=details)
    if answer is None:
        assert measured.low is not UNSET
        assert measured.high is not UNSET
        low, high = (f"{end}{sign}" for end in _show(measured, measured.low, measured.high))
        return replace(
            verdict, sentence=f"It cannot be told: masked ratings leave {measured.test_name} between {low} and {high}"
        )
    if not answer or not conditions.duration_minutes:
        return verdict
    since = _unbroken(reading, history, lambda point: compare(point.value, conditions.value))
    due = since + timedelta(minutes=conditions.duration_minutes)
    text = f"{sentence}, since {there(since):%Y-%m-%d %H:%M %Z}"
    if due > now:
        text = f"{text}: not yet for {counted(conditions.duration_minutes, 'minute')}"
        return replace(verdict, holds=False, sentence=text, due_at=due)
    return replace(verdict, sentence=text, details={**details, "since": since})


def _unbroken(reading: AlertReading, history: Sequence[RunPoint], holds: Callable[[RunPoint], bool]) -> datetime:
    """Since when a condition has held without a break, by the times of the runs."""
    since = reading.at
    for point in reversed(_newest(reading, history)):
        if not holds(point):
            break
        since = point.at
    return since


def _newest(reading: AlertReading, history: Sequence[RunPoint]) -> list[RunPoint]:
    """Return the figures that were the newest ones when they were worked out.

    Without those of a deal's older months.
    """
    kept: list[RunPoint] = []
    for point in history:
        if not reading.by_day or not kept or point.day >= kept[-1].day:
            kept.append(point)
    return kept


def _moment(reading: AlertReading) -> datetime:
    """Where a reading stands on the line of a trend."""
    return _midnight(reading.day) if reading.by_day else reading.at


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


def _earlier(moment: datetime, span: timedelta) -> datetime:
    """Return a moment before another one, or the first that there is.

    The days of files may be anything.
    """
    return max(moment, _FIRST + span) - span


_FIRST: Final = datetime.min.replace(tzinfo=UTC)


def _trend(conditions: TrendConditions, reading: AlertReading, history: Sequence[RunPoint]) -> AlertVerdict:
    measured = reading.measured(conditions.metric)
    if measured is None:
        return _unknown(conditions.metric, reading)
    value, sign, here = measured.current_value, unit_of(conditions.metric), _moment(reading)
    span = timedelta(days=conditions.lookback_days)
    placed = [(_midnight(point.day) if reading.by_day else point.at, point) for point in history]
    # Of the runs on one day's figures the last one stands.
    line = {at: point for at, point in placed if _earlier(here, LOOKBACKS * span) <= at < here}
    before = [at for at in line if at <= _earlier(here, span)]
    start = max(before) if before else min(line, default=None)
    if start is None:
        why = f"no earlier figure of {measured.test_name} within {counted(conditions.lookback_days or 0, 'day')}"
        return AlertVerdict(holds=None, sentence=f"It cannot be told: there is {why}", metric_value=value)
    earlier = line[start].value
    change = value - earlier
    details = {
        "metric": conditions.metric,
        "current_value": value,
        "threshold_value": conditions.change_threshold,
        "operator": conditions.direction,
        "test_id": measured.test_id,
        "test_name": measured.test_name,
        "change": round(change, 6),
        "earlier_value": earlier,
        "earlier_day": start.date(),
        "lookback_days": conditions.lookback_days,
        **_form_of(measured, earlier),
        **_doubt_of(measured),
    }
    signed = {"increasing": change, "decreasing": -change, "either": abs(change)}[conditions.direction]
    was, now_is = _show(measured, earlier, value)
    verb = "rose" if change > 0 else "fell" if change < 0 else "has not moved"
    sentence = f"{measured.test_name} {verb} from {was}{sign} on {start.date()} to {now_is}{sign}"
    if not change:
        sentence = f"{measured.test_name} has stood at {was}{sign} since {start.date()}"
    sentence += _doubt_words(measured)
    return AlertVerdict(
        holds=signed >= conditions.change_threshold - _CLOSE, sentence=sentence, metric_value=value, details=details
    )


# Tests ----------------------------------------------------------------------------------------------------------------


def _compliance(conditions: ComplianceConditions, reading: AlertReading) -> AlertVerdict:
    asked = conditions.test_ids or [*reading.ran, *reading.reasons]
    unknown = [test_id for test_id in asked if test_id not in reading.ran]
    raised = [
        result
        for test_id in dict.fromkeys(asked)
        if (result := reading.ran.get(test_id)) is not None and _raises(conditions, result)
    ]
    raised.sort(key=lambda test_result: _WORST_FIRST.index(test_result.status))
    details: dict[str, Any] = {
        "metric": None,
        "current_value": None,
        "threshold_value": None,
        "operator": None,
        "tests": [_test(test_result) for test_result in raised[:TESTS_SHOWN]],
        "tests_in_all": len(raised),
        "not_run": unknown[:TESTS_SHOWN],
    }
    if not raised:
        why = f"{', '.join(unknown[:5])} did not run" if unknown else "no test is in the statuses asked for"
        sentence = f"It cannot be told: {why}" if unknown else why.capitalize()
        return AlertVerdict(holds=None if unknown else False, sentence=sentence, details=details)
    if len(raised) == 1:
        (result,) = raised
        details |= {
            "metric": result.test_id,
            "current_value": result.current_value,
            "threshold_value": result.threshold_value,
        }
        details |= {"test_id": result.test_id, "test_name": result.test_name, **_form_of(result), **_doubt_of(result)}
        sentence = result.message + _doubt_words(result)
        return AlertVerdict(holds=True, sentence=sentence, metric_value=result.current_value, details=details)
    counts = [(status, sum(test_result.status == status for test_result in raised)) for status in _STATUS_WORDS]
    text = ", ".join(f"{count} {_STATUS_WORDS[status]}" for status, count in counts if count)
    names = ", ".join(test_result.test_name for test_result in raised[:5]) + (", ..." if len(raised) > 5 else "")
    doubtful = [test_result for test_result in raised if test_result.doubtful]
    details |= {"doubtful": bool(doubtful), "doubtful_tests": len(doubtful)}
    sentence = f"{len(raised)} tests ({text}): {names}"
    if doubtful:
        why = "; ".join(
            f"{test_result.test_name}, {doubtful_words(test_result).removeprefix('doubtful: ')}"
            for test_result in doubtful
        )
        sentence += f". Doubtful {'is' if len(doubtful) == 1 else 'are'} {len(doubtful)} of them: {why}"
    return AlertVerdict(holds=True, sentence=sentence, details=details)


_STATUS_WORDS: Final = {"fail": "failing", "warning": "in warning", "pass": "passing"}
_WORST_FIRST: Final = tuple(_STATUS_WORDS)


def _raises(conditions: ComplianceConditions, test_result: TestResult) -> bool:
    if test_result.status in conditions.status:
        return True
    return conditions.cushion_threshold is not None and _cushion(test_result) < conditions.cushion_threshold


def _cushion(test_result: TestResult) -> float:
    """Return a result's cushion, which a run may have been told to leave out."""
    if test_result.cushion is not None:
        return test_result.cushion
    return cushion_of(
        test_result.current_value,
        ResolvedThreshold(test_result.threshold_value, test_result.threshold_type, None, "suite"),
    )


def _test(test_result: TestResult) -> dict[str, Any]:
    return {
        "test_id": test_result.test_id,
        "test_name": test_result.test_name,
        "status": test_result.status,
        "current_value": test_result.current_value,
        "threshold_value": test_result.threshold_value,
        **_form_of(test_result),
        **_doubt_of(test_result),
    }


def _form_of(test_result: TestResult, beside: float | None = None) -> dict[str, Any]:
    """Return a result against its own limit, and how to show its figures.

    `beside`: another figure that is shown with them.
    """
    decimals = (
        test_result.decimals
        if beside is None
        else decimals_apart(test_result.current_value, beside, test_result.decimals)
    )
    return {
        "limit": test_result.threshold_value,
        "limit_type": test_result.threshold_type,
        "cushion": _cushion(test_result),
        "unit": test_result.unit,
        "decimals": decimals,
    }


def _doubt_of(test_result: TestResult) -> dict[str, Any]:
    """Return what a receiver needs to tell a doubtful status from a plain one."""
    published = None if test_result.published is None else test_result.published.value
    return {
        "doubtful": test_result.doubtful,
        "published_value": published,
        "doubts": [doubt.message for doubt in test_result.doubt],
    }


def _doubt_words(test_result: TestResult) -> str:
    words = doubtful_words(test_result)
    return f" ({words})" if words else ""


# Words ----------------------------------------------------------------------------------------------------------------


def _show(result: TestResult, first: float, second: float) -> tuple[str, str]:
    """Two figures of a test with its decimals.

    With more where different ones would look alike.
    """
    decimals = decimals_apart(first, second, result.decimals)
    return f"{first:,.{decimals}f}", f"{second:,.{decimals}f}"
