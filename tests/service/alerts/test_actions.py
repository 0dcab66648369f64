"""Alerts over HTTP: their records, conditions and history, and every refusal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

from psycopg.types.json import Json

from tests.conftest import Member, Stack, wait_until
from tests.service.alerts.conftest import BODY, EMAIL, THRESHOLD, URL, alerted
from tests.service.compliance.conftest import g1, g1_file, own_g1, write_book  # noqa: F401 - fixtures

COMPLIANCE = {"status": ["fail"], "test_ids": ["ccc_bucket_pct"], "cushion_threshold": 0.5}
TREND = {"metric": "wal", "direction": "increasing", "change_threshold": 0.5, "lookback_days": 30}
SCHEDULE = {"schedule": "0 8 * * 1-5", "report_type": "compliance_summary"}
OF_TYPE = {"threshold": THRESHOLD, "compliance": COMPLIANCE, "trend": TREND, "schedule": SCHEDULE}


def test_an_alert_goes_its_way(owner: Member, own_g1: dict[str, Any]) -> None:  # noqa: F811
    answer = owner.post(f"{URL}/configure", json=BODY | {"workbook_id": own_g1["id"], "description": "of March"})
    assert answer.status_code == 201, answer.text
    alert, tag = answer.json(), answer.headers["etag"]
    channel = alert["channels"][0]["id"]
    assert alert | {"id": 0, "created_at": 0, "updated_at": 0} == BODY | {
        "id": 0,
        "description": "of March",
        "channels": [EMAIL | {"id": channel}],
        "workbook_id": own_g1["id"],
        "enabled": True,
        "cooldown_minutes": 60,
        "last_triggered": None,
        "trigger_count": 0,
        "next_at": None,
        "last_evaluation": None,
        "created_by": owner.email,
        "created_at": 0,
        "updated_at": 0,
    }
    path = f"{URL}/{alert['id']}"
    assert owner.get(path).json() == alert
    assert owner.get(path, params={"include_history": True}).json() == alert | {"history": []}
    assert owner.patch(path, json={}).json() == alert
    patch = {"name": "x" * 200, "description": None, "enabled": False, "cooldown_minutes": 0}
    changed = owner.patch(path, json=patch | {"conditions": THRESHOLD | {"duration_minutes": None}})
    assert changed.json() | {"updated_at": 0} == alert | patch | {"updated_at": 0}
    assert changed.headers["etag"] != tag
    stale = owner.patch(path, json={"name": "y"}, headers={"If-Match": tag})
    assert (stale.status_code, stale.json()["detail"]) == (409, "Concurrent modification")
    assert owner.patch(path, json={"name": "y"}, headers={"If-Match": changed.headers["etag"]}).status_code == 200
    assert owner.delete(path).status_code == 204
    assert {answer.status_code for answer in (owner.get(path), owner.delete(path), owner.patch(path, json={}))} == {404}
    actions = [entry["action"] for entry in owner.get("/api/v1/admin/audit-logs").json()["items"]]
    assert [name for name in actions if name.startswith("alert")] == [
        "alert.deleted", "alert.updated", "alert.updated", "alert.created",
    ]  # fmt: skip


def test_the_list_is_filtered_and_paged(owner: Member, own_g1: dict[str, Any]) -> None:  # noqa: F811
    alert = [alerted(owner, alert_type=kind, conditions=conditions) for kind, conditions in OF_TYPE.items()]
    alert.append(alerted(owner, workbook_id=own_g1["id"], enabled=False))
    fields = (
        *("id", "name", "description", "alert_type", "enabled", "workbook_id", "last_triggered", "trigger_count"),
        "created_at",
    )
    items = [{name: item[name] for name in fields} for item in reversed(alert)]
    page = owner.get(URL, params={"page_size": 2, "page": 2}).json()
    assert page == {"items": items[2:4], "total": 5, "page": 2, "page_size": 2, "total_pages": 3}
    for query, wanted in (
        ({"enabled": "false"}, items[:1]),
        ({"workbook_id": own_g1["id"]}, items[:1]),
        ({"alert_type": "trend"}, items[2:3]),
        ({"alert_type": "threshold", "enabled": True}, items[4:]),
        ({"workbook_id": str(uuid4())}, []),
    ):
        assert owner.get(URL, params=query).json()["items"] == wanted, query
    for query in ({"alert_type": "storm"}, {"enabled": "perhaps"}, {"workbook_id": "x"}, {"page_size": 101}):
        assert owner.get(URL, params=query).status_code == 422, query


def _spoilt(kind: str, **changed: Any) -> dict[str, Any]:
    conditions = OF_TYPE[kind] | changed
    return {"alert_type": kind, "conditions": {name: it for name, it in conditions.items() if it is not ...}}


def test_what_is_refused(owner: Member) -> None:
    """Each refusal of a new alert, and where a change may say as much, of the change, too."""
    long = "x" * 201
    rows: list[tuple[dict[str, Any], int, str, list[str]]] = [
        ({"alert_type": "storm"}, 400, "Invalid alert type", ["alert_type"]),
        (
            {"channels": [EMAIL, {"type": "pigeon", "config": {}}]},
            400,
            "Invalid channel type",
            ["channels", "1", "type"],
        ),
        (_spoilt("threshold", metric=...), 400, "Invalid conditions", ["conditions", "metric"]),
        (_spoilt("threshold", metric="oc"), 400, "Invalid conditions", ["conditions", "metric"]),
        (_spoilt("threshold", metric=None), 400, "Invalid conditions", ["conditions", "metric"]),
        (_spoilt("threshold", operator=">"), 400, "Invalid conditions", ["conditions", "operator"]),
        (_spoilt("threshold", value="7.5"), 400, "Invalid conditions", ["conditions", "value"]),
        (_spoilt("threshold", value=True), 400, "Invalid conditions", ["conditions", "value"]),
        (_spoilt("threshold", duration_minutes=-1), 400, "Invalid conditions", ["conditions", "duration_minutes"]),
        (_spoilt("threshold", duration_minute=5), 400, "Invalid conditions", ["conditions", "duration_minute"]),
        (_spoilt("compliance", status=...), 400, "Invalid conditions", ["conditions", "status"]),
        (_spoilt("compliance", status=[]), 400, "Invalid conditions", ["conditions", "status"]),
        (_spoilt("compliance", status=["failed"]), 400, "Invalid conditions", ["conditions", "status"]),
        (_spoilt("compliance", status="fail"), 400, "Invalid conditions", ["conditions", "status"]),
        (_spoilt("compliance", test_ids=["ccc"]), 400, "Invalid conditions", ["conditions", "test_ids"]),
        (_spoilt("compliance", test_ids=["wal"] * 101), 400, "Invalid conditions", ["conditions", "test_ids"]),
        (_spoilt("trend", direction="up"), 400, "Invalid conditions", ["conditions", "direction"]),
        (_spoilt("trend", change_threshold=...), 400, "Invalid conditions", ["conditions", "change_threshold"]),
        (_spoilt("trend", lookback_days=0), 400, "Invalid conditions", ["conditions", "lookback_days"]),
        (_spoilt("schedule", schedule=...), 400, "Invalid conditions", ["conditions", "schedule"]),
        (_spoilt("schedule", schedule="daily"), 400, "Invalid conditions", ["conditions", "schedule"]),
        (_spoilt("schedule", schedule="0 0 30 2 *"), 400, "Invalid conditions", ["conditions", "schedule"]),
        (_spoilt("schedule", report_type="haiku"), 400, "Invalid conditions", ["conditions", "report_type"]),
        ({"alert_type": "trend"}, 400, "Invalid conditions", ["conditions", "operator"]),
        ({"name": ""}, 422, "Validation error", ["name"]),
        ({"name": long}, 422, "Validation error", ["name"]),
        ({"name": "\u2003"}, 422, "Validation error", ["name"]),
        ({"description": long * 10}, 422, "Validation error", ["description"]),
        ({"cooldown_minutes": -1}, 422, "Validation error", ["cooldown_minutes"]),
        ({"cooldown_minutes": 1.5}, 422, "Validation error", ["cooldown_minutes"]),
        ({"enabled": None}, 422, "Validation error", ["enabled"]),
        ({"conditions": []}, 422, "Validation error", ["conditions"]),
        ({"channels": {}}, 422, "Validation error", ["channels"]),
        ({"channels": []}, 422, "Validation error", ["channels"]),
        ({"channels": [EMAIL] * 11}, 422, "Validation error", ["channels"]),
        ({"channels": [{"type": "email"}]}, 422, "Validation error", ["channels", "0", "config"]),
        ({"channels": [EMAIL | {"cc": []}]}, 422, "Validation error", ["channels", "0"]),
        ({"workbook_id": str(uuid4())}, 404, "Workbook not found", []),
    ]
    # what is wrong first is told first, whatever else is
    rows.append(
        (_spoilt("trend", metric="oc") | {"channels": [{"type": "x", "config": {}}]}, 400, "Invalid channel type", [])
    )
    failing = []
    for changed, status, detail, place in rows:
        body = BODY | changed
        calls = [owner.post(f"{URL}/configure", json=body)]
        if not {"alert_type", "workbook_id"} & set(changed) or body["alert_type"] in OF_TYPE:
            current = alerted(owner, alert_type=body["alert_type"], conditions=OF_TYPE[body["alert_type"]])
            patch = {name: changed[name] for name in changed if name not in ("alert_type", "workbook_id")}
            calls += [owner.patch(f"{URL}/{current['id']}", json=patch)] if patch else []
            assert owner.get(f"{URL}/{current['id']}").json() == current
        for answer in calls:
            actual_body = answer.json()
            places = [fault["loc"] for fault in actual_body.get("errors", [])]
            if (answer.status_code, actual_body.get("detail")) != (status, detail) or (
                place and places[0][1 : len(place) + 1] != place
            ):
                failing.append((changed, answer.status_code, actual_body))
    assert failing == []


def test_a_condition_may_name_a_test_of_a_deals_definition(owner: Member, stranger: Member) -> None:
    deal = {"name": "Deal", "currency": "USD"}
    body = owner.post("/api/v1/deals", json=deal).json()
    definition = {"name": "Deal", "tests": [{"id": "largest", "name": "x", "measure": "obligor", "max": 2.5}]}
    put = owner.http.put(f"/api/v1/deals/{body['id']}/definition", json={"definition": definition})
    assert put.status_code == 200, put.text
    named = {"alert_type": "compliance", "conditions": {"status": ["fail"], "test_ids": ["largest", "wal"]}}
    assert alerted(owner, **named)["conditions"] == named["conditions"]
    answer = stranger.post(f"{URL}/configure", json=BODY | named)
    assert answer.json()["errors"][0]["message"] == "neither the suites nor a deal's definition has 'largest'"


def test_tenants_keep_to_themselves(owner: Member, stranger: Member, own_g1: dict[str, Any]) -> None:  # noqa: F811
    path = f"{URL}/{alerted(owner)['id']}"
    for answer in (stranger.get(path), stranger.patch(path, json={"name": "x"}), stranger.delete(path)):
        assert (answer.status_code, answer.json()["detail"]) == (404, "Alert not found")
    assert stranger.get(URL).json()["items"] == []
    answer = stranger.post(f"{URL}/configure", json=BODY | {"workbook_id": own_g1["id"]})
    assert (answer.status_code, answer.json()["detail"]) == (404, "Workbook not found")
    assert owner.get(path).status_code == 200


def test_a_schedule_goes_by_the_tenants_clock(owner: Member) -> None:
    zone = {"settings": {"timezone": "Asia/Tokyo"}}
    assert owner.patch("/api/v1/admin/tenant", json=zone).status_code == 200
    alert = alerted(owner, alert_type="schedule", conditions={"schedule": "30 8 * * *"})
    path = f"{URL}/{alert['id']}"

    def due(answer: dict[str, Any]) -> str | None:
        if answer["next_at"] is None:
            return None
        moment = datetime.fromisoformat(answer["next_at"])
        assert moment - datetime.now(UTC) <= timedelta(days=1)
        return f"{moment.astimezone(ZoneInfo('Asia/Tokyo')):%H:%M}"

    assert due(alert) == "08:30"
    assert due(owner.patch(path, json={"conditions": {"schedule": "5 17 * * *"}}).json()) == "17:05"
    assert due(owner.patch(path, json={"name": "x"}).json()) == "17:05"
    assert due(owner.patch(path, json={"enabled": False}).json()) is None
    assert due(owner.patch(path, json={"conditions": {"schedule": "6 17 * * *"}}).json()) is None
    assert due(owner.patch(path, json={"enabled": True}).json()) == "17:06"
    owner.patch("/api/v1/admin/tenant", json={"settings": {"timezone": "Asia/Kolkata"}})
    wait_until(lambda: due(owner.get(path).json()) == "20:36", what="the other clock")
    assert owner.get(path).json()["trigger_count"] == 0


def test_the_history_tells_the_last_triggers_and_what_was_sent(stack: Stack, owner: Member) -> None:
    alert = alerted(owner, channels=[EMAIL, EMAIL])
    started = datetime.now(UTC)
    for age in range(12):
        history = uuid4()
        stack.sql(
            "INSERT INTO alert_history (tenant_id, id, alert_id, triggered_at, metric_value, details)"
            " VALUES (%s, %s, %s, %s, %s, %s)",
            [owner.tenant_id, history, alert["id"], started - timedelta(hours=age), age or None, Json({"age": age})],
        )
        for channel, status in zip(
            alert["channels"], ("delivered", ("delivered", "failed", "pending")[age % 3]), strict=True
        ):
            stack.sql(
                "INSERT INTO alert_deliveries (tenant_id, id, history_id, alert_id, channel_id, channel, status,"
                " attempts, error, completed_at) VALUES (%s, %s, %s, %s, %s, 'email', %s, %s, %s, %s)",
                [
                    *(owner.tenant_id, uuid4(), history, alert["id"], channel["id"], status, Json([{}] * age)),
                    "no server" if status == "failed" else None,
                    None if status == "pending" else started,
                ],
            )
    path = f"{URL}/{alert['id']}"

    def history_page(**query: int) -> list[dict[str, Any]]:
        history: list[dict[str, Any]] = owner.get(path, params={"include_history": True, **query}).json()["history"]
        return history

    assert [trigger["details"]["age"] for trigger in history_page()] == list(range(10))
    assert [trigger["details"]["age"] for trigger in history_page(history_limit=100)] == list(range(12))
    first, second = history_page(history_limit=2)
    assert (first["metric_value"], first["notifications_sent"], first["channels_notified"]) == (None, 2, ["email"] * 2)
    assert (second["metric_value"], second["notifications_sent"], second["channels_notified"]) == (1.0, 1, ["email"])
    outcome = second["deliveries"][1]
    assert (outcome["status"], outcome["attempts"], outcome["error"]) == ("failed", 1, "no server")
    assert [delivery["channel_id"] for delivery in second["deliveries"]] == [
        channel["id"] for channel in alert["channels"]
    ]
    assert "history" not in owner.get(path, params={"history_limit": 5}).json()
    for limit in (0, 101):
        assert owner.get(path, params={"history_limit": limit}).status_code == 422
    assert owner.delete(path).status_code == 204
    assert stack.sql("SELECT count(*) FROM alert_deliveries WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
