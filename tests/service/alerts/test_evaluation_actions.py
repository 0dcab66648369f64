"""Alerts over HTTP with the real worker.

A run raises those that it concerns, once, and leaves what it was about.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from tests.conftest import Member, Stack, wait_until
from tests.service.alerts.conftest import URL, alerted
from tests.service.webhooks.conftest import hooked, log_of

CCC = {"metric": "ccc_bucket_pct", "operator": "gt", "value": 7.5}
"""True of the worked pool, whose bucket is 45m of 400m."""


def in_app(who: Member) -> list[dict[str, Any]]:
    return [{"type": "in_app", "config": {"user_ids": [who.user_id]}}]


def watched(who: Member, workbook: dict[str, Any] | None, conditions: dict[str, Any] = CCC, **body: Any) -> str:
    """An alert that tells its maker in the application; its identifier."""
    about = {} if workbook is None else {"workbook_id": workbook["id"]}
    alert = alerted(who, channels=in_app(who), conditions=conditions, **about, **body)
    return str(alert["id"])


def run(who: Member, workbook: dict[str, Any], **body: Any) -> dict[str, Any]:
    """A compliance run."""
    answer = who.post("/api/v1/compliance/run", json={"workbook_id": workbook["id"], **body})
    assert answer.status_code == 200, answer.text
    alert: dict[str, Any] = answer.json()
    return alert


def looked_at(stack: Stack, who: Member) -> None:
    """Once no look at the tenant's alerts is due."""
    sql = """
        SELECT 1 FROM jobs WHERE tenant_id = %s AND name LIKE 'alerts.%%' AND name <> 'alerts.deliver'
        AND (status IN ('queued', 'running') OR status = 'pending' AND ready_at <= now())
    """
    wait_until(lambda: not stack.sql(sql, [who.tenant_id]), what="the end of the looks")


def history_of(who: Member, alert_id: str, limit: int = 10) -> dict[str, Any]:
    """An alert with its history."""
    answer = who.get(f"{URL}/{alert_id}", params={"include_history": True, "history_limit": limit})
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def age(stack: Stack, who: Member, minutes: float) -> None:
    """Move all that the tenant's alerts and runs did so far into the past."""
    for table, column in (
        ("compliance_runs", "executed_at"),
        ("alert_figures", "at"),
        ("alerts", "last_triggered"),
        ("alert_history", "triggered_at"),
    ):
        sql = f"UPDATE {table} SET {column} = {column} - make_interval(secs => %s) WHERE tenant_id = %s"
        stack.sql(sql, [minutes * 60, who.tenant_id])


def test_a_run_raises_what_it_concerns(
    stack: Stack, owner: Member, stranger: Member, own_g1: dict[str, Any], g1_file: Path
) -> None:
    second = owner.uploaded(g1_file)
    trend = {"metric": "oc_ratio", "direction": "either", "change_threshold": 0.1, "lookback_days": 30}
    raised = {
        "above": watched(owner, own_g1),
        "anywhere": watched(owner, None),
        "failing": watched(owner, own_g1, {"status": ["fail"]}, alert_type="compliance"),
    }
    quiet = {
        "not above": watched(owner, own_g1, CCC | {"value": 90}),
        "skipped": watched(owner, own_g1, {"metric": "wal", "operator": "gte", "value": 0}),
        "skipped tests do not pass": watched(
            owner, own_g1, {"status": ["pass"], "test_ids": ["wal"]}, alert_type="compliance"
        ),
        "no history": watched(owner, own_g1, trend, alert_type="trend"),
        "of another workbook": watched(owner, second),
        "disabled": watched(owner, own_g1, enabled=False),
    }
    strange = watched(stranger, None)
    hook = hooked(owner, "http://127.0.0.1:9/", "alert.triggered")
    new_alert = run(owner, own_g1)
    looked_at(stack, owner)
    by_id = {result["test_id"]: result for result in new_alert["results"]}
    assert "wal" not in by_id
    for name, alert_id in {**raised, **quiet}.items():
        alert = history_of(owner, alert_id)
        assert (alert["trigger_count"], len(alert["history"])) == ((1, 1) if name in raised else (0, 0)), name
        assert (alert["last_triggered"] is not None) is (name in raised), name
        look = alert["last_evaluation"]
        if name in ("disabled", "of another workbook"):
            assert look is None, name
        else:
            expected = name in raised or (False if name == "not above" else None)
            assert (look["holds"], look["triggered"], look["run_id"]) == (expected, name in raised, new_alert["id"]), (
                name
            )
    assert history_of(stranger, strange)["last_evaluation"] is None
    (entry,) = history_of(owner, raised["above"])["history"]
    assert (entry["metric_value"], entry["workbook_id"]) == (by_id["ccc_bucket_pct"]["current_value"], own_g1["id"])
    stated = {"metric": "ccc_bucket_pct", "current_value": 11.25, "threshold_value": 7.5, "operator": "gt"}
    assert stated.items() <= entry["details"].items()
    assert entry["details"]["sentence"] == "CCC/Caa bucket is 11.25 %, above 7.50 %"
    failing = [result["test_id"] for result in new_alert["results"] if result["status"] == "fail"]
    (entry,) = history_of(owner, raised["failing"])["history"]
    assert [test["test_id"] for test in entry["details"]["tests"]] == failing
    assert len(failing) > 1
    assert entry["metric_value"] is None
    notes = wait_until(
        lambda: len(items := owner.get("/api/v1/notifications").json()["items"]) >= 3 and items,
        what="the notifications",
    )
    assert len(notes) == 3
    (entry,) = wait_until(
        lambda: (history := history_of(owner, raised["above"])["history"])[0]["notifications_sent"] and history,
        what="the outcome",
    )
    assert (entry["notifications_sent"], entry["channels_notified"]) == (1, ["in_app"])
    events = [item["payload"]["data"] for item in log_of(owner, hook)]
    assert {item["resource_id"] for item in events} == set(raised.values())
    (event,) = (item for item in events if item["resource_id"] == raised["above"])
    assert (event["details"]["history_id"], event["details"]["run_id"]) == (entry["id"], new_alert["id"])


def test_a_cooldown_holds_back_and_ends(stack: Stack, owner: Member, own_g1: dict[str, Any], g1_file: Path) -> None:
    second = owner.uploaded(g1_file)
    own, anywhere = watched(owner, own_g1, cooldown_minutes=60), watched(owner, None, cooldown_minutes=60)
    counts = []
    for workbook, minutes in ((own_g1, 0), (own_g1, 0), (second, 59), (own_g1, 2), (own_g1, 0)):
        run(owner, workbook)
        looked_at(stack, owner)
        counts.append(tuple(history_of(owner, item)["trigger_count"] for item in (own, anywhere)))
        age(stack, owner, minutes)
    # An alert of the whole tenant cools for each workbook: another one's breach is news.
    assert counts == [(1, 1), (1, 1), (1, 2), (1, 2), (2, 3)]
    look = history_of(owner, own)["last_evaluation"]
    assert (look["holds"], look["triggered"]) == (True, True)


def test_many_looks_at_once_trigger_once(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    cooled, hot = watched(owner, own_g1, cooldown_minutes=1), watched(owner, None, cooldown_minutes=0)
    alert = run(owner, own_g1)
    looked_at(stack, owner)

    def again(_: int) -> None:
        stack.sql(
            "INSERT INTO jobs (tenant_id, id, queue, name, arguments)"
            " SELECT tenant_id, 'task_' || %s, queue, name, arguments FROM jobs"
            " WHERE tenant_id = %s AND name = 'alerts.evaluate' LIMIT 1",
            [uuid4().hex, owner.tenant_id],
        )

    stack.sql("UPDATE alerts SET last_triggered = NULL WHERE tenant_id = %s", [owner.tenant_id])
    with stack.another_worker(CUSHION_TENANT_JOBS="8"), ThreadPoolExecutor(8) as threads:
        list(threads.map(again, range(16)))
        looked_at(stack, owner)
    assert history_of(owner, cooled)["trigger_count"] == 2
    every = history_of(owner, hot, limit=100)
    assert (every["trigger_count"], len(every["history"])) == (17, 17)
    assert {entry["run_id"] for entry in every["history"]} == {alert["id"]}


def test_a_change_that_comes_in_between_counts(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    to_none, to_some, off, gone = (watched(owner, own_g1, CCC | {"value": value}) for value in (7, 90, 7, 7))
    changes = [
        ("conditions = jsonb_set(conditions::jsonb, '{value}', '90')::json", to_none),
        ("conditions = jsonb_set(conditions::jsonb, '{value}', '7')::json", to_some),
        ("enabled = false", off),
    ]
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM alerts%'"
    with psycopg.connect(stack.database_url) as connection:
        for change, alert_id in changes:
            sql = f"UPDATE alerts SET {change}, version = version + 1 WHERE id = %s"
            connection.execute(sql, [alert_id])  # type: ignore[arg-type]
        connection.execute("DELETE FROM alerts WHERE id = %s", [gone])
        run(owner, own_g1)
        wait_until(lambda: stack.sql(waits), what="the look that waits")
    looked_at(stack, owner)
    assert [history_of(owner, item)["trigger_count"] for item in (to_none, to_some, off)] == [0, 1, 0]
    assert history_of(owner, to_none)["last_evaluation"]["sentence"] == "CCC/Caa bucket is 11.25 %, not above 90.00 %"


# How long, and by how much --------------------------------------------------------------------------------------------


def test_a_duration_is_told_by_the_runs_and_by_the_clock(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    """It holds by earlier runs.

    Without any it comes true by itself; and a run that says otherwise ends it.
    """
    run(owner, own_g1)
    age(stack, owner, 45)
    half, hour = (watched(owner, own_g1, CCC | {"duration_minutes": minutes}) for minutes in (30, 60))
    run(owner, own_g1)
    looked_at(stack, owner)
    assert [history_of(owner, item)["trigger_count"] for item in (half, hour)] == [1, 0]
    (entry,) = history_of(owner, half)["history"]
    assert timedelta(minutes=44) < moment(entry["triggered_at"]) - moment(entry["details"]["since"])
    waiting = "SELECT ready_at - now() FROM jobs WHERE tenant_id = %s AND name = 'alerts.look_again'"
    ((left,),) = stack.sql(waiting, [owner.tenant_id])
    assert timedelta(minutes=14) < left < timedelta(minutes=15)
    look = history_of(owner, hour)["last_evaluation"]
    assert look["holds"] is False
    assert look["sentence"].startswith("CCC/Caa bucket is 11.25 %, above 7.50 %, since ")
    assert look["sentence"].endswith(" UTC: not yet for 60 minutes")
    run(owner, own_g1)
    looked_at(stack, owner)
    assert (
        len(stack.sql("SELECT 1 FROM jobs WHERE tenant_id = %s AND name = 'alerts.look_again'", [owner.tenant_id])) == 1
    )
    age(stack, owner, 16)
    wake(stack, owner)
    assert history_of(owner, hour)["trigger_count"] == 1, "no run says otherwise, and the hour is over"


def test_what_ended_meanwhile_is_not_raised(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    hour = watched(owner, own_g1, CCC | {"duration_minutes": 60})
    run(owner, own_g1)
    looked_at(stack, owner)
    age(stack, owner, 30)
    stack.sql(  # a recalculation that mended it, and was undone
        "INSERT INTO alert_figures (tenant_id, workbook_id, at, as_of, figures)"
        """ VALUES (%s, %s, now() - interval '20 minutes', '2026-03-31', '{"ccc_bucket_pct": {"value": 7.5}}')""",
        [owner.tenant_id, own_g1["id"]],
    )
    run(owner, own_g1)
    looked_at(stack, owner)
    age(stack, owner, 31)
    wake(stack, owner)
    alert = history_of(owner, hour)
    assert (alert["trigger_count"], alert["last_evaluation"]["holds"]) == (0, False)
    age(stack, owner, 30)
    wake(stack, owner)
    assert history_of(owner, hour)["trigger_count"] == 1


def wake(stack: Stack, who: Member) -> None:
    """Have what waits for its time looked at now."""
    sql = "UPDATE jobs SET ready_at = now() WHERE tenant_id = %s AND name = 'alerts.look_again' AND status = 'pending'"
    stack.sql(sql, [who.tenant_id])
    looked_at(stack, who)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_the_newest_month_of_a_deal_counts(stack: Stack, owner: Member, write_book: Any) -> None:
    from tests.service.compliance.conftest import G1_DEAL, G1_LOANS, G1_NOTES, HEADER

    less = [row for row in G1_LOANS if row[1] != "Lima"]  # a CCC bucket of 35m of 390m
    files = {
        "2026-02-28": write_book("feb", Holdings=[HEADER, *less], Tranches=G1_NOTES, Deal=G1_DEAL[:2]),
        "2026-03-31": write_book("mar", Holdings=[HEADER, *G1_LOANS], Tranches=G1_NOTES, Deal=G1_DEAL[:2]),
    }
    deal = owner.post("/api/v1/deals", json={"name": "Deal"}).json()["id"]
    february, march = (owner.uploaded(path, deal_id=deal, as_of=day) for day, path in files.items())
    trend = {"metric": "ccc_bucket_pct", "direction": "increasing", "change_threshold": 2, "lookback_days": 31}
    on_february = watched(owner, february, cooldown_minutes=0)
    rising = watched(owner, february, trend, alert_type="trend", cooldown_minutes=0)
    anywhere = watched(owner, None, cooldown_minutes=0)

    def counts() -> list[int]:
        looked_at(stack, owner)
        return [history_of(owner, item)["trigger_count"] for item in (on_february, rising, anywhere)]

    run(owner, february)
    assert counts() == [0, 0, 0], "the deal has a newer workbook"
    run(owner, march)
    assert counts() == [1, 1, 1]
    (entry,) = history_of(owner, rising)["history"]
    assert entry["workbook_id"] == march["id"]
    assert entry["details"]["sentence"] == "CCC/Caa bucket rose from 8.97 % on 2026-02-28 to 11.25 %"
    by_deal = {"oc_ratio": "oc_class_e", "ccc_bucket_pct": None}
    alert = run(owner, march, test_suite="deal")
    junior = next(result for result in alert["results"] if result["test_id"] == by_deal["oc_ratio"])
    lowest = watched(owner, february, {"metric": "oc_ratio", "operator": "eq", "value": junior["current_value"]})
    run(owner, march, test_suite="deal")
    looked_at(stack, owner)
    (entry,) = history_of(owner, lowest)["history"]
    assert entry["details"]["test_id"] == "oc_class_e"


# Recalculations -------------------------------------------------------------------------------------------------------


def test_a_recalculation_is_looked_at_and_stays_no_run(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    alert_id = watched(owner, own_g1, cooldown_minutes=0)
    assert owner.post(f"/api/v1/workbooks/{own_g1['id']}/recalculate").status_code in (200, 202)
    owner.parsed(own_g1["id"])
    wait_until(lambda: history_of(owner, alert_id)["trigger_count"], what="the trigger")
    (entry,) = history_of(owner, alert_id)["history"]
    assert (entry["run_id"], entry["metric_value"]) == (None, 11.25)
    assert owner.get("/api/v1/compliance/history").json()["items"] == []
    ((figures,),) = stack.sql("SELECT figures FROM alert_figures WHERE tenant_id = %s", [owner.tenant_id])
    assert figures["ccc_bucket_pct"] == {"value": 11.25}


def test_who_watches_nothing_has_no_work(stack: Stack, owner: Member, own_g1: dict[str, Any]) -> None:
    watched(owner, own_g1, {"schedule": "0 9 1 1 *"}, alert_type="schedule")
    watched(owner, own_g1, enabled=False)
    run(owner, own_g1)
    assert stack.sql("SELECT 1 FROM jobs WHERE tenant_id = %s AND name = 'alerts.evaluate'", [owner.tenant_id]) == []


def test_an_alert_goes_by_the_status_and_says_that_it_is_doubtful(
    stack: Stack, owner: Member, contradicted_file: Path
) -> None:
    book = owner.uploaded(contradicted_file)
    conditions = {"status": ["fail"], "test_ids": ["average_rating_factor"]}
    alert_id = watched(owner, book, conditions, alert_type="compliance")
    ran = run(owner, book)
    (warf,) = (result for result in ran["results"] if result["test_id"] == "average_rating_factor")
    assert (warf["status"], warf["doubtful"]) == ("fail", True)
    looked_at(stack, owner)
    (entry,) = history_of(owner, alert_id)["history"]
    details = entry["details"]
    assert (details["doubtful"], details["published_value"]) == (True, 2900.0)
    assert details["doubts"] == [item["message"] for item in warf["doubt"]]
    assert details["sentence"].endswith("(doubtful: the file prints 2,900.00, pass)")

    def notified() -> str | None:
        items = owner.get("/api/v1/notifications").json()["items"]
        return next((item["message"] for item in items if item["type"] == "alert.triggered"), None)

    message = wait_until(notified, what="the notification")
    assert "Doubtful: yes" in message
    assert "The file prints: 2,900" in message
    assert all(f"Doubt: {item['message']}" in message for item in warf["doubt"])
