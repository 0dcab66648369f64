"""Scheduled alerts.

Handing over those that are due, and the compliance report that they bring.
"""

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
from service.alerts.store import alerts
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


async def dispatch(unit: Unit, alert_id: UUID) -> None:
    """Serve a due schedule once. Missed times are not made up for."""
    schedule = await store.take_due(unit, alert_id)
    if schedule is None:
        return
    after = max(unit.now(), schedule.next_at)
    await store.due_next(unit, alert_id, next_time(schedule.conditions["schedule"], schedule.zone, after))
    if _is_meant(schedule):
        arguments = {"alert_id": str(alert_id), "due_at": schedule.next_at.isoformat()}
        await unit.enqueue(ORDER, queue="default", arguments=arguments)


def _is_meant(row: Schedule) -> bool:
    """Return whether a moment is the schedule's own.

    The tenant may have another time zone by now, and the cooldown of the last one may not be over. The cooldown
    counts from the schedule's time, since serving takes a while.
    """
    schedule, zone, due = row.conditions["schedule"], row.zone, row.next_at
    if next_time(schedule, zone, due - timedelta(seconds=1)) != due:
        return False
    within = next_time(schedule, zone, due - timedelta(minutes=row.cooldown_minutes))
    return row.last_triggered is None or within is None or within > row.last_triggered


async def order(unit: Unit, alert_id: UUID, due_at: str) -> None:
    """Order the report of a schedule that is due, or tell at once why there is none."""
    alert = await _enabled_alert(unit, alert_id)
    if alert is None:
        return
    about = alert.workbook_id
    book_id = await (store.last_run_workbook(unit) if about is None else store.newest_of(unit, about))
    run = None if book_id is None else await compliance.find_run(unit, book_id)
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
    alert = await _enabled_alert(unit, UUID(arguments["alert_id"]))
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
    run = await compliance.find_run(unit, UUID(arguments["workbook_id"]), run_id=UUID(arguments["run_id"]))
    remark = f"There is no report: {why}" if why else ""
    await _raise(unit, alert, arguments["due_at"], run, remark, report_id=None if why else arguments["report_id"])


async def _enabled_alert(unit: Unit, alert_id: UUID) -> AlertRow | None:
    try:
        alert = await alerts.get(unit, alert_id)
    except AlertNotFound:
        return None
    return alert if alert.enabled else None


async def _raise(
    unit: Unit, alert: AlertRow, due_at: str, run: StoredRun | None, remark: str, *, report_id: str | None = None
) -> None:
    details: dict[str, Any] = {
        "report_type": alert.conditions.get("report_type", "compliance_summary"),
        "due_at": due_at,
        "report_id": report_id,
    }
    sentences = [remark] if remark else []
    if run is not None:
        details |= {"as_of": run.as_of, "suite": run.test_suite, "summary": run.summary}
        sentences.insert(0, _summary(run, await unit.local_time(run.executed_at)))
    verdict = AlertVerdict(holds=True, sentence=". ".join(sentences), details=details)
    await store.lock_alerts(unit, [alert.id])
    await trigger(
        unit,
        await store.locked_alerts(unit, [alert.id], None),
        {alert.id: verdict},
        workbook_id=alert.workbook_id if run is None else run.workbook_id,
        run_id=None if run is None else run.id,
    )


def _summary(run: StoredRun, at: datetime) -> str:
    counts = run.summary
    sentence = f"{counts.failed} failed, {counts.warnings} in warning, {counts.passed} passed, {counts.skipped} skipped"
    if counts.doubtful:
        sentence += f"; {counts.doubtful} of these are doubtful" if counts.doubtful > 1 else "; 1 of these is doubtful"
        sentence += f" ({', '.join(result.test_name for result in run.results if result.doubtful)})"
    name = run.deal_name or run.workbook_name
    return f"{name} as of {run.as_of}, run on {at:%Y-%m-%d %H:%M %Z}: of {counted(counts.total, 'test')} {sentence}"
