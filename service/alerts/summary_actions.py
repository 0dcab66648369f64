"""Scheduled alerts: handing over those that are due, and the compliance report that they bring."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core.alerts.evaluate import AlertVerdict
from core.words import counted
from service.alerts import evaluation_store as store
from service.alerts.evaluation_actions import trigger
from service.alerts.evaluation_store import Schedule
from service.alerts.schedule_actions import next_time
from service.alerts.schema import AlertNotFound, AlertRow
from service.alerts.store import get
from service.compliance import shared as compliance
from service.compliance.shared import StoredRun
from service.platform.unit.context import Unit
from service.reports import shared as reports
from service.reports.schema import ReportLimitExceeded, ReportNotFound
from service.workbooks.schema import StorageLimitExceeded

ORDER: Final = "alerts.order_summary"
SEND: Final = "alerts.send_summary"
LOOKS_SECONDS: Final = 1.0
"""Before the first look at whether a report is made; each further one waits so much longer."""
LOOKS_MAX: Final = 80
"""Within an hour: then the alert goes without its report."""


async def hand_over(unit: Unit, alert_id: UUID) -> None:
    """Have a schedule served that is due, once whoever else tries; what it missed meanwhile is not made up for."""
    held = await store.take_due(unit, alert_id)
    if held is None:
        return
    after = max(unit.now(), held.next_at)
    await store.due_next(unit, alert_id, next_time(held.conditions["schedule"], held.zone, after))
    if _is_meant(held):
        arguments = {"alert_id": str(alert_id), "due_at": held.next_at.isoformat()}
        await unit.enqueue(ORDER, queue="default", arguments=arguments)


def _is_meant(held: Schedule) -> bool:
    """Whether a moment is the schedule's: the tenant may have another time zone by now, and the cooldown of the moment
    at which it was served last may not be over. That one is told by the schedule, since serving takes a while."""
    schedule, zone, due = held.conditions["schedule"], held.zone, held.next_at
    if next_time(schedule, zone, due - timedelta(seconds=1)) != due:
        return False
    within = next_time(schedule, zone, due - timedelta(minutes=held.cooldown_minutes))
    return held.last_triggered is None or within is None or within > held.last_triggered


async def order(unit: Unit, alert_id: UUID, due_at: str) -> None:
    """Order the report of a schedule that is due, or tell at once why there is none."""
    alert = await _enabled(unit, alert_id)
    if alert is None:
        return
    about = alert.workbook_id
    book_id = await (store.last_run_workbook(unit) if about is None else store.newest_of(unit, about))
    run = None if book_id is None else await compliance.stored_run(unit, book_id)
    if run is None:
        await _raise(unit, alert, due_at, None, "There is no report: no full compliance run of the workbook is stored")
        return
    try:
        report_id = await reports.order_of_run(unit, run, created_by=alert.created_by)
    except (ReportLimitExceeded, StorageLimitExceeded) as full:
        await _raise(unit, alert, due_at, run, f"There is no report: {full.detail}")
        return
    arguments = {
        "alert_id": str(alert_id),
        "due_at": due_at,
        "workbook_id": str(run.workbook_id),
        "run_id": str(run.id),
        "report_id": str(report_id),
        "looks": 0,
    }
    await unit.enqueue(SEND, queue="default", arguments=arguments, delay_seconds=LOOKS_SECONDS)


async def send(unit: Unit, arguments: dict[str, Any]) -> None:
    """Send what a schedule ordered once its report is made, or cannot be."""
    alert = await _enabled(unit, UUID(arguments["alert_id"]))
    if alert is None:
        return
    why = ""
    try:
        report = await reports.get(unit, UUID(arguments["report_id"]))
    except ReportNotFound:
        why = "it was deleted"
    else:
        if report.status in ("pending", "generating"):
            if arguments["looks"] < LOOKS_MAX:
                again = {**arguments, "looks": arguments["looks"] + 1}
                pause_seconds = LOOKS_SECONDS * (again["looks"] + 1)
                await unit.enqueue(SEND, queue="default", arguments=again, delay_seconds=pause_seconds)
                return
            why = "it is not made yet"
        elif report.status == "failed":
            why = report.error_details or "it could not be made"
    run = await compliance.stored_run(unit, UUID(arguments["workbook_id"]), run_id=UUID(arguments["run_id"]))
    told = f"There is no report: {why}" if why else ""
    await _raise(unit, alert, arguments["due_at"], run, told, report_id=None if why else arguments["report_id"])


async def _enabled(unit: Unit, alert_id: UUID) -> AlertRow | None:
    try:
        alert = await get(unit, alert_id)
    except AlertNotFound:
        return None
    return alert if alert.enabled else None


async def _raise(
    unit: Unit, alert: AlertRow, due_at: str, run: StoredRun | None, told: str, *, report_id: str | None = None
) -> None:
    details: dict[str, Any] = {
        "report_type": alert.conditions.get("report_type", "compliance_summary"),
        "due_at": due_at,
        "report_id": report_id,
    }
    sentences = [told] if told else []
    if run is not None:
        details |= {"as_of": run.as_of, "suite": run.test_suite, "summary": run.summary}
        sentences.insert(0, _summary(run, await unit.there(run.executed_at)))
    verdict = AlertVerdict(holds=True, sentence=". ".join(sentences), details=details)
    await store.hold(unit, [alert.id])
    await trigger(
        unit,
        await store.held(unit, [alert.id], None),
        {alert.id: verdict},
        workbook_id=alert.workbook_id if run is None else run.workbook_id,
        run_id=None if run is None else run.id,
    )


def _summary(run: StoredRun, at: datetime) -> str:
    counts = run.summary
    told = f"{counts.failed} failed, {counts.warnings} in warning, {counts.passed} passed, {counts.skipped} skipped"
    if counts.doubtful:
        told += f"; {counts.doubtful} of these are doubtful" if counts.doubtful > 1 else "; 1 of these is doubtful"
        told += f" ({', '.join(result.test_name for result in run.results if result.doubtful)})"
    name = run.deal_name or run.workbook_name
    return f"{name} as of {run.as_of}, run on {at:%Y-%m-%d %H:%M %Z}: of {counted(counts.total, 'test')} {told}"
