"""GET /activity: every filter, the sentence of each item, and only the tenant's own."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from service.activity.schema import Occurrence, to_item
from service.app import routes
from tests.conftest import Member, Stack, register

ACTIVITY = "/api/v1/activity"
FIELDS = {
    *("id", "action", "type", "status", "description", "entity_type", "entity_id", "entity_name", "user_id"),
    "created_at",
}


def fed(member: Member, **query: Any) -> dict[str, Any]:
    answer = member.get(ACTIVITY, params=query)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


@pytest.fixture(scope="module")
def team(stack: Stack) -> Member:
    """A tenant with some days behind it; its tests read only."""
    owner = register(stack.url)
    entries = [
        {
            "id": str(uuid4()),
            "occurred_at": f"2026-03-{1 + number // 10:02}T12:00:{number:02}Z",
            "action": f"workbook.{'uploaded' if number % 2 else 'deleted'}",
            "resource_type": "workbook" if number % 3 else "tape",
            "user_id": owner.user_id if number < 5 else None,
            "details": {},
        }
        for number in range(30)
    ]
    with psycopg.connect(stack.database_url) as connection:
        connection.execute("SELECT set_config('cushion.tenant', %s, true)", [owner.tenant_id])
        connection.execute("SELECT append_audit(%s, %s)", [owner.tenant_id, json.dumps(entries)])
    return owner


def test_an_item_tells_what_happened(owner: Member) -> None:
    response = owner.post("/api/v1/admin/api-keys", json={"name": "robot", "permissions": ["workbooks:read"]})
    feed = fed(owner)
    assert feed.keys() == {"items", "total", "limit", "offset"}
    assert (feed["total"], feed["limit"], feed["offset"]) == (2, 20, 0)
    item = feed["items"][0]
    assert item.keys() == FIELDS
    by_name = {name: value for name, value in item.items() if name not in ("id", "created_at")}
    assert by_name == {
        "action": "api_key.created",
        "type": "created",
        "status": "completed",
        "description": f'API key "robot" was created by {owner.email}.',
        "entity_type": "api_key",
        "entity_id": response.json()["id"],
        "entity_name": "robot",
        "user_id": owner.user_id,
    }


def test_limit_and_offset_walk_through_all_of_it(team: Member) -> None:
    assert len(fed(team)["items"]) == 20
    whole = fed(team, limit=100)
    assert (whole["total"], len(whole["items"])) == (31, 31)
    moments = [item["created_at"] for item in whole["items"]]
    assert moments == sorted(moments, reverse=True)
    parts = [item for offset in range(0, 40, 7) for item in fed(team, limit=7, offset=offset)["items"]]
    assert parts == whole["items"]
    assert fed(team, offset=31)["items"] == []
    for wrong in ({"limit": 0}, {"limit": 101}, {"offset": -1}, {"limit": "x"}, {"user_id": "x"}, {"end_date": "x"}):
        assert team.get(ACTIVITY, params=wrong).status_code == 422, wrong


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"entity_type": "tape"}, 10),
        ({"entity_type": "workbook"}, 20),
        ({"entity_type": "tapes"}, 0),
        ({"action": "workbook.uploaded"}, 15),
        ({"action": "workbook.uploaded", "entity_type": "tape"}, 5),
        ({"start_date": "2026-03-02", "end_date": "2026-03-02"}, 10),
        ({"end_date": "2026-03-02"}, 20),
        ({"start_date": "2026-03-03T12:00:29Z", "end_date": "2026-03-31"}, 1),
        ({"start_date": "2026-03-01T12:00:00Z", "end_date": "2026-03-01T12:00:01Z"}, 2),
    ],
)
def test_filters(team: Member, query: dict[str, str], count: int) -> None:
    feed = fed(team, limit=100, **query)
    assert (feed["total"], len(feed["items"])) == (count, count)


def test_a_filter_by_user(team: Member) -> None:
    feed = fed(team, user_id=team.user_id, end_date="2026-03-31")
    assert feed["total"] == 5
    assert {item["user_id"] for item in feed["items"]} == {team.user_id}


def test_whoever_may_read_workbooks_may_read_it(stack: Stack, owner: Member) -> None:
    for role in ("admin", "analyst", "viewer"):
        assert owner.invite(role).get(ACTIVITY).status_code == 200
    assert owner.key("workbooks:read").get(ACTIVITY).status_code == 200
    assert owner.key("workbooks:write").get(ACTIVITY).status_code == 403
    assert httpx.get(stack.url + ACTIVITY).status_code == 401


def test_nobody_sees_another_tenants_activity(team: Member, stranger: Member) -> None:
    assert fed(stranger, user_id=team.user_id)["total"] == 0
    assert fed(stranger)["total"] == 1
    assert fed(stranger)["items"][0]["user_id"] == stranger.user_id


def occurrence(action: str, **changed: Any) -> Occurrence:
    value = {"entity_type": None, "entity_id": None, "entity_name": None, "user_id": None, "user_email": None}
    return Occurrence(**{"id": uuid4(), "action": action, "api_key_id": None, "created_at": None, **value, **changed})


@pytest.mark.parametrize(
    ("action", "seen", "sentence"),
    [
        ("tape.uploaded", {"entity_name": "{x}", "user_email": "o@x.org"}, 'Tape "{x}" was uploaded by o@x.org.'),
        (
            "calculation.completed",
            {"user_email": "o@x.org", "api_key_id": UUID(int=1)},
            "A calculation was completed by an API key of o@x.org.",
        ),
        ("calculation.completed", {"calls": 1, "entity_name": "Q3"}, 'A calculation "Q3" was completed.'),
        (
            "calculation.completed",
            {"calls": 1037, "entity_name": "Q3", "user_email": "o@x.org"},
            '1,037 calculations of "Q3" were completed by o@x.org.',
        ),
        ("user.logged_in", {"user_email": "o@x.org"}, "o@x.org logged in."),
        ("user.login_failed", {"entity_name": "o@x.org"}, 'A login of user "o@x.org" failed.'),
        ("calculation.failed", {"entity_name": "Q3"}, 'A calculation of workbook "Q3" failed.'),
        ("reconciliation.failed", {}, "A reconciliation failed."),
        ("alert.triggered", {}, "Alert was triggered."),
        ("user.revoked_all", {}, "User was revoked all."),
    ],
)
def test_the_sentence(action: str, seen: dict[str, Any], sentence: str) -> None:
    item = to_item(occurrence(action, **seen))
    assert item.description == sentence
    assert item.type == action.split(".")[1]
    assert item.status == ("failed" if action.endswith("failed") else "completed")


def test_every_event_of_a_route_has_a_sentence() -> None:
    events = {route.event for route in routes() if route.event}
    assert len(events) > 15
    for event in events:
        described = to_item(occurrence(event, entity_name="N", user_email="o@x.org")).description
        assert described.endswith(".")
        assert not set(described) & set("{}_"), described
        assert "N" in described or "o@x.org" in described
