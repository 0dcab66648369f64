"""Looking at alerts.

What a run or a recalculation says of each one that it concerns, and what a trigger leaves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple
from uuid import UUID

import structlog

from core.alerts.conditions import Conditions, InvalidConditions, conditions_of, named_tests
from core.alerts.evaluate import AlertReading, AlertVerdict, RunPoint, history_of, is_covered, judge
from core.compliance.suites import DEAL_SUITE
from service.alerts import evaluation_store as store
from service.alerts.delivery_actions import queue
from service.alerts.evaluation_store import AlertWorkbook, EnabledAlert, LockedAlert
from service.compliance import shared as compliance
from service.compliance.schema import InvalidDefinition, RunTooSlow
from service.compliance.shared import StoredRun
from service.mappings.schema import MappingNotFound, MappingTooSlow
from service.platform.base.problem import Problem, ValidationFailed
from service.platform.base.secrets import new_id
from service.platform.clock import local_time
from service.platform.unit.context import Subject, Unit
from service.workbooks.schema import WorkbookNotFound, WorkbookNotReady

EVALUATE: Final = "alerts.evaluate"
EVALUATE_BATCH: Final = "alerts.evaluate_batch"
LOOK_AGAIN: Final = "alerts.look_again"
SLACK: Final = timedelta(seconds=10)
"""By which a look may come later than it is due."""
BATCH_RUNS_AT_A_TIME: Final = 100
"""Runs of a batch for which evaluations are ordered at a time; the next ones stand behind them in the queue."""
FIRST_SUITE: Final = "standard"
"""Of a workbook that was recalculated and never run."""
NOT_RUN: Final = (InvalidDefinition, MappingNotFound, MappingTooSlow, RunTooSlow, ValidationFailed)
"""Why a recalculated workbook cannot be run."""

log = structlog.get_logger()


class Look(NamedTuple):
    """Figures that alerts are held against."""

    book: AlertWorkbook
    reading: AlertReading | None
    run_id: UUID | None = None
    fault: str = ""
    """Why there is no reading."""


async def after_run(unit: Unit, workbook_id: UUID, run_id: UUID) -> None:
    """Look at the alerts that a run concerns."""
    book = await store.workbook_for_alerts(unit, workbook_id)
    if book is None:
        return
    alerts = await store.alerts_for(unit, book)
    run = await compliance.find_run(unit, workbook_id, run_id=run_id) if alerts else None
    if run is not None:
        reading = await _reading(unit, book, run)
        await _look_at(unit, alerts, Look(book, reading, run_id), reading.at)


async def after_batch(unit: Unit, batch_id: UUID, after: int) -> None:
    """Order an evaluation for each run of an ended batch that concerns alerts."""
    batch_runs = await store.batch_runs(unit, batch_id, after, BATCH_RUNS_AT_A_TIME)
    for run in batch_runs:
        if run.is_concerned:
            arguments = {"workbook_id": str(run.workbook_id), "run_id": str(run.run_id)}
            await unit.enqueue(EVALUATE, queue="default", arguments=arguments)
    if len(batch_runs) == BATCH_RUNS_AT_A_TIME:
        following = {"batch_id": str(batch_id), "after": batch_runs[-1].position}
        await unit.enqueue(EVALUATE_BATCH, queue="default", arguments=following)


async def after_recalculation(unit: Unit, workbook_id: UUID) -> None:
    """Evaluate the alerts of a recalculated workbook, without keeping the run."""
    book = await store.workbook_for_alerts(unit, workbook_id)
    alerts = [] if book is None else await store.alerts_for(unit, book)
    if book is None or not alerts:
        return
    now = unit.now()
    look = await _recalculate(unit, book, now)
    if look is not None:
        if look.reading is not None:
            figures = {result.test_id: result.current_value for result in look.reading.results}
            await store.keep_figures(unit, workbook_id, now, look.reading.day, figures)
        await _look_at(unit, alerts, look, now)


async def look_again(unit: Unit, alert_id: UUID, workbook_id: UUID) -> None:
    """Evaluate an alert whose condition may have held long enough.

    Only where the newest figures are still the same.
    """
    newest = await store.newest_of(unit, workbook_id)
    book = None if newest is None else await store.workbook_for_alerts(unit, newest)
    if book is None:
        return
    alerts = await store.alerts_for(unit, book, alert_id=alert_id)
    look: Look | None = None
    for alert in alerts:  # at most the one
        run = await _newest_for(unit, book, alert)
        recalculated_at = await store.last_look(unit, book, None if run is None else run.executed_at)
        if recalculated_at is not None:
            look = await _recalculate(unit, book, recalculated_at)
        elif run is not None:
            look = Look(book, await _reading(unit, book, run), run.id)
    if look is not None:
        await _look_at(unit, alerts, look, unit.now())


# Figures --------------------------------------------------------------------------------------------------------------


async def _newest_for(unit: Unit, book: AlertWorkbook, alert: EnabledAlert) -> StoredRun | None:
    """Return the newest run that has all of the alert's tests."""
    full = await compliance.find_run(unit, book.workbook_id)
    try:
        conditions = conditions_of(alert.alert_type, alert.conditions)
    except InvalidConditions:  # of another version of this program
        return full
    tests = named_tests(conditions)
    since = None if full is None else full.executed_at
    runs = await store.partial_runs(unit, book.workbook_id, since, tests, other_suite=DEAL_SUITE) if tests else []
    for partial_run in runs:
        run = await compliance.find_run(unit, book.workbook_id, run_id=partial_run.id)
        if run is not None and is_covered(conditions, await _reading(unit, book, run)):
            return run
    return full


async def _reading(unit: Unit, book: AlertWorkbook, run: StoredRun) -> AlertReading:
    return AlertReading(
        at=run.executed_at,
        day=book.as_of or run.as_of,
        suite=run.test_suite,
        results=run.results,
        skipped=run.skipped,
        partial=run.partial,
        # only the suite of a definition has tests under names of its own
        definition=await compliance.definition_of(unit, run) if run.test_suite == DEAL_SUITE else None,
        by_day=book.deal_id is not None,
    )


async def _recalculate(unit: Unit, book: AlertWorkbook, at: datetime) -> Look | None:
    """Return a workbook's figures by its last suite; None while it changes."""
    suite = await store.last_suite(unit, book.workbook_id) or FIRST_SUITE
    try:
        ready = await compliance.prepare(unit, book.workbook_id, suite=suite)
        await unit.commit()  # no connection is held while it is worked out
        results = await ready.run(unit, suite, details=False)
    except (WorkbookNotFound, WorkbookNotReady):
        return None
    except NOT_RUN as why:
        return Look(book, None, fault=f"the workbook could not be run: {_reason_of(why)}")
    reading = AlertReading(
        at=at,
        day=results.as_of or ready.as_of.day,
        suite=suite,
        results=results,
        skipped=results.skipped,
        definition=None if ready.definition is None else ready.definition.definition,
        by_day=book.deal_id is not None,
    )
    return Look(book, reading)


def _reason_of(why: Problem) -> str:
    return "; ".join([why.detail, *(fault.message for fault in why.errors[:1])])


# Verdicts -------------------------------------------------------------------------------------------------------------


async def _look_at(unit: Unit, alerts: Sequence[EnabledAlert], look: Look, now: datetime) -> None:
    """Judge each alert that the figures concern, and trigger some."""
    verdicts = await _verdicts(unit, alerts, look, now)
    judged = [alert for alert in alerts if alert.id in verdicts]
    versions = await store.lock_alerts(unit, verdicts)
    if changed := {alert.id for alert in judged if versions.get(str(alert.id)) != alert.version}:
        verdicts = {alert_id: verdict for alert_id, verdict in verdicts.items() if alert_id not in changed}
        again = [alert for alert in await store.alerts_for(unit, look.book) if alert.id in changed]
        verdicts |= await _verdicts(unit, again, look, now)
    moment = unit.now()
    holding = [alert_id for alert_id, verdict in verdicts.items() if verdict.holds]
    locked = await store.locked_alerts(unit, holding, look.book) if holding else []
    raised = {alert.id: alert for alert in locked if not _cools(alert, moment)}
    outcomes = [
        {"id": alert_id, "outcome": _outcome(verdict, look, moment, is_raised=alert_id in raised)}
        for alert_id, verdict in verdicts.items()
    ]
    await store.write_evaluations(unit, outcomes)
    if raised:
        about = {"workbook_id": look.book.workbook_id, "run_id": look.run_id}
        await trigger(unit, list(raised.values()), verdicts, **about)
    due = {alert_id: verdict.due_at for alert_id, verdict in verdicts.items() if verdict.due_at is not None}
    if due:
        await _await(unit, look.book.workbook_id, due)


async def _verdicts(unit: Unit, alerts: Sequence[EnabledAlert], look: Look, now: datetime) -> dict[UUID, AlertVerdict]:
    """Return a verdict for each alert whose tests the run has."""
    if look.reading is None:
        unknown = AlertVerdict(holds=None, sentence=f"It cannot be told: {look.fault}")
        return {alert.id: unknown for alert in alerts}
    verdicts: dict[UUID, AlertVerdict] = {}
    covered: dict[UUID, Conditions] = {}
    for alert in alerts:
        try:
            conditions = conditions_of(alert.alert_type, alert.conditions)
            if is_covered(conditions, look.reading):
                covered[alert.id] = conditions
        except InvalidConditions as error:  # of another version of this program
            verdicts[alert.id] = AlertVerdict(holds=None, sentence=f"It cannot be told: {error}")
    needs = {alert_id: history_of(conditions, look.reading, now) for alert_id, conditions in covered.items()}
    since: dict[str, datetime] = {}
    for need in filter(None, needs.values()):
        since[need.test_id] = min(need.since, since.get(need.test_id, need.since))
    history: dict[str, list[RunPoint]] = {test_id: [] for test_id in since}
    for figure in await store.history(unit, look.book, since, look.reading.at) if since else ():
        history[figure.test_id].append(RunPoint(figure.at, figure.day, figure.value))
    clocks = partial(local_time, zone=await unit.zone())
    for alert_id, conditions in covered.items():
        wanted = needs[alert_id]
        verdicts[alert_id] = judge(
            conditions, look.reading, () if wanted is None else history[wanted.test_id], now, clocks
        )
    return verdicts


def _cools(alert: LockedAlert, now: datetime) -> bool:
    """Return whether an alert was raised too short a while ago."""
    return alert.last_triggered is not None and now - alert.last_triggered < timedelta(minutes=alert.cooldown_minutes)


def _outcome(verdict: AlertVerdict, look: Look, now: datetime, *, is_raised: bool) -> dict[str, Any]:
    return {
        "evaluated_at": now,
        "figures_at": now if look.reading is None else look.reading.at,
        "holds": verdict.holds,
        "triggered": is_raised,
        "sentence": verdict.sentence,
        "metric_value": verdict.metric_value,
        "workbook_id": look.book.workbook_id,
        "run_id": look.run_id,
    }


async def _await(unit: Unit, workbook_id: UUID, due: Mapping[UUID, datetime]) -> None:
    """Queue another look for alerts that wait for their duration."""
    queued = {look.alert_id: look.at for look in await store.coming_looks(unit, workbook_id)}
    for alert_id, due_at in due.items():
        if alert_id not in queued or queued[alert_id] - due_at > SLACK:
            arguments = {"alert_id": str(alert_id), "workbook_id": str(workbook_id)}
            seconds = max(0.0, (due_at - unit.now()).total_seconds())
            await unit.enqueue(LOOK_AGAIN, queue="default", arguments=arguments, delay_seconds=seconds)


# Triggers -------------------------------------------------------------------------------------------------------------


async def trigger(
    unit: Unit,
    raised: Sequence[LockedAlert],
    verdicts: Mapping[UUID, AlertVerdict],
    *,
    workbook_id: UUID | None,
    run_id: UUID | None,
) -> None:
    """Write triggers of locked alerts, and queue their deliveries."""
    now = unit.now()
    triggers: list[dict[str, Any]] = []
    about = {"workbook_id": workbook_id, "run_id": run_id}
    for alert in raised:
        verdict = verdicts[alert.id]
        figures = {"metric_value": verdict.metric_value, "details": {"sentence": verdict.sentence, **verdict.details}}
        triggers.append({"id": new_id(), "alert_id": alert.id, "triggered_at": now, **about, **figures})
    await store.write_triggers(unit, triggers)
    await queue(unit, [row["id"] for row in triggers])
    for alert, row in zip(raised, triggers, strict=True):
        details = {
            "alert_type": alert.alert_type,
            "history_id": row["id"],
            **about,
            "metric_value": row["metric_value"],
        }
        details["sentence"] = verdicts[alert.id].sentence
        await unit.audit("alert.triggered", Subject("alert", str(alert.id), alert.name, details))
    log.info("alerts.triggered", count=len(raised))
