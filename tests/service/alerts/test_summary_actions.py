"""Schedules: each moment once, what was missed not made up for, and the report of the newest run comes along."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from service.alerts.jobs import dispatch_due
from service.alerts.summary_actions import ORDER, SEND
from service.platform.unit.context import Resources
from tests.conftest import Member, Stack, wait_until
from tests.rows import every
from tests.service.alerts.test_evaluation_actions import history_of, moment, run, watched
from tests.service.platform.conftest import Apart

HOURLY = {"schedule": "0 * * * *", "report_type": "compliance_summary"}


def fall_due(stack: Stack, alert_id: str) -> None:
    """The alert's next moment is the last full hour."""
    stack.sql("UPDATE alerts SET next_at = date_trunc('hour', now()) WHERE id = %s", [alert_id])


def triggered(who: Member, alert_id: str, count: int = 1) -> dict[str, Any]:
    """The alert once it was triggered so often."""
    result: dict[str, Any] = wait_until(
        lambda: (alert := history_of(who, alert_id))["trigger_count"] >= count and alert, what="the trigger", seconds=60
    )
    return result


def test_a_schedule_brings_the_report_of_the_newest_run(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    alert_id = watched(owner, None, HOURLY, alert_type="schedule")
    new_alert = run(owner, own_g1)
    fall_due(stack, alert_id)
    alert = triggered(owner, alert_id)
    (entry,) = alert["history"]
    assert (entry["metric_value"], entry["workbook_id"], entry["run_id"]) == (None, own_g1["id"], new_alert["id"])
    details, counts = entry["details"], new_alert["summary"]
    report = owner.get(f"/api/v1/reports/{details['report_id']}").json()
    assert (report["status"], report["run_id"], report["created_by"]) == ("completed", new_alert["id"], owner.email)
    assert details["summary"] == counts
    assert f"of {counts['total']} tests {counts['failed']} failed" in details["sentence"]
    hours = (moment(alert["next_at"]) - moment(details["due_at"])) / timedelta(hours=1)
    assert hours in (1, 2), "two where one has just ended"
    stack.sql(
        "INSERT INTO jobs (tenant_id, id, queue, name, arguments) SELECT tenant_id, 'task_' || %s, queue, name,"
        " arguments || %s::jsonb FROM jobs WHERE tenant_id = %s AND name = %s LIMIT 1",
        [uuid4().hex, json.dumps({"report_id": str(uuid4())}), owner.tenant_id, SEND],
    )
    later = triggered(owner, alert_id, 2)["history"][0]["details"]
    assert later["report_id"] is None
    assert later["sentence"] == f"{details['sentence']}. There is no report: it was deleted"


def test_without_a_run_it_says_so(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    alert_id = watched(owner, own_g1, HOURLY, alert_type="schedule")
    fall_due(stack, alert_id)
    (entry,) = triggered(owner, alert_id)["history"]
    assert entry["details"]["report_id"] is None
    assert entry["details"]["sentence"] == "There is no report: no full compliance run of the workbook is stored"


# Handing over ---------------------------------------------------------------------------------------------------------


def due(apart: Apart, tenant: UUID, row: dict[str, Any]) -> UUID:
    """A schedule, without channels."""
    whole = {
        "tenant_id": tenant, "name": "Weekly", "alert_type": "schedule", "channels": "[]", "enabled": True,
        "conditions": '{"schedule": "0 * * * *"}', "cooldown_minutes": 60, "created_by": "olive@example.com", **row,
    }  # fmt: skip
    names = ", ".join(whole)
    ((alert_id,),) = apart.sql(
        f"INSERT INTO alerts (id, {names}) VALUES (gen_random_uuid(), {', '.join(['%s'] * len(whole))}) RETURNING id",
        list(whole.values()),
    )
    return alert_id  # type: ignore[no-any-return]


def handed_over(apart: Apart, alert_id: UUID) -> list[str]:
    """The moments for which it was."""
    sql = "SELECT arguments ->> 'due_at' FROM jobs WHERE name = %s AND arguments ->> 'alert_id' = %s"
    return [due_at for (due_at,) in apart.sql(sql, [ORDER, str(alert_id)])]


def test_several_workers_hand_over_once(alone: Apart) -> None:
    tenant, hour = alone.tenant(), datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    missed = [due(alone, tenant, {"next_at": hour - timedelta(days=days)}) for days in range(20)]

    async def workers(shared: Resources) -> None:
        await asyncio.gather(*(dispatch_due(shared) for _ in range(4)))

    alone.run(workers)
    for days, alert_id in enumerate(missed):
        assert [datetime.fromisoformat(item) for item in handed_over(alone, alert_id)] == [hour - timedelta(days=days)]
        ((next_at,),) = alone.sql("SELECT next_at FROM alerts WHERE id = %s", [alert_id])
        assert next_at > datetime.now(UTC) - timedelta(minutes=1), "what was missed is not made up for"


@every(
    "minutes_since, cooldown, schedule, zone, is_served",
    [
        (59, 60, "0 * * * *", "UTC", True),  # the last one took a minute to be served
        (59, 61, "0 * * * *", "UTC", False),
        (119, 61, "0 * * * *", "UTC", True),
        (59, 0, "0 * * * *", "UTC", True),
        (None, 600, "0 * * * *", "UTC", True),
        (None, 0, "30 * * * *", "UTC", False),  # of another schedule
        (None, 0, "0 * * * *", "Asia/Kolkata", False),  # of another time zone: half an hour apart
        (None, 0, "30 * * * *", "Asia/Kolkata", True),
    ],
)
def test_a_moment_is_served_where_it_is_meant(
    alone: Apart, minutes_since: int | None, cooldown: int, schedule: str, zone: str, is_served: bool
) -> None:
    tenant, hour = alone.tenant(), datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    alone.sql("UPDATE tenants SET settings = jsonb_build_object('timezone', %s::text) WHERE id = %s", [zone, tenant])
    last = None if minutes_since is None else hour - timedelta(minutes=minutes_since)
    conditions = f'{{"schedule": "{schedule}"}}'
    row = {"next_at": hour, "last_triggered": last, "cooldown_minutes": cooldown, "conditions": conditions}
    alert_id = due(alone, tenant, row)
    alone.run(dispatch_due)
    assert len(handed_over(alone, alert_id)) == is_served
    ((next_at,),) = alone.sql("SELECT next_at FROM alerts WHERE id = %s", [alert_id])
    assert next_at > datetime.now(UTC)
