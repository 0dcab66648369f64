"""POST and GET /compliance/thresholds.

Limits of a tenant and of a workbook, replaced, listed, refused.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

PATH = "/api/v1/compliance/thresholds"
FIELDS = {
    "id", "workbook_id", "deal_id", "test_id", "threshold_value", "threshold_type", "warning_threshold", "enabled",
    "created_at", "updated_at",
}  # fmt: skip


def put(member: Any, **body: Any) -> dict[str, Any]:
    answer = member.post(PATH, json=body)
    assert answer.status_code == 201, answer.text
    threshold: dict[str, Any] = answer.json()
    return threshold


def listed(member: Any, **query: Any) -> list[dict[str, Any]]:
    answer = member.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert set(body) == {"items", "total"}
    assert body["total"] >= len(body["items"])
    items: list[dict[str, Any]] = body["items"]
    return items


def test_a_threshold_has_its_fields_and_defaults(owner: Any) -> None:
    result = put(owner, test_id="ccc_bucket_pct", threshold_value=8)
    assert set(result) == FIELDS
    assert UUID(result["id"]).version == 4
    assert (result["workbook_id"], result["test_id"], result["threshold_value"]) == (None, "ccc_bucket_pct", 8.0)
    assert (result["threshold_type"], result["warning_threshold"], result["enabled"]) == ("max", None, True)
    assert datetime.fromisoformat(result["created_at"]) == datetime.fromisoformat(result["updated_at"])
    assert listed(owner) == [result]


@pytest.mark.parametrize(("test_id", "own"), [("oc_ratio", "min"), ("wal", "max")])
def test_the_type_is_the_tests_own_unless_given(owner: Any, test_id: str, own: str) -> None:
    assert put(owner, test_id=test_id, threshold_value=5)["threshold_type"] == own
    assert put(owner, test_id=test_id, threshold_value=5, threshold_type=None)["threshold_type"] == own
    assert put(owner, test_id=test_id, threshold_value=5, threshold_type="exact")["threshold_type"] == "exact"


def test_the_same_test_again_replaces_it(owner: Any, own_g1: dict[str, Any]) -> None:
    for workbook_id in (None, own_g1["id"]):
        first = put(owner, test_id="wal", threshold_value=5, warning_threshold=4, workbook_id=workbook_id)
        second = put(owner, test_id="wal", threshold_value=7, enabled=False, workbook_id=workbook_id)
        assert second["id"] == first["id"]
        assert second["created_at"] == first["created_at"]
        assert datetime.fromisoformat(second["updated_at"]) > datetime.fromisoformat(first["updated_at"])
        assert (second["threshold_value"], second["warning_threshold"], second["enabled"]) == (7, None, False)
    assert len(listed(owner)) == 2


def test_filters(owner: Any, own_g1: dict[str, Any]) -> None:
    result = [
        put(owner, test_id="wal", threshold_value=5),
        put(owner, test_id="ccc_bucket_pct", threshold_value=5),
        put(owner, test_id="price_below_80_pct", threshold_value=5),
        put(owner, test_id="wal", threshold_value=6, workbook_id=own_g1["id"]),
    ]
    assert listed(owner) == result
    assert listed(owner, workbook_id=own_g1["id"]) == [result[3]]
    assert listed(owner, workbook_id=str(uuid4())) == []
    assert listed(owner, test_id="wal") == [result[0], result[3]]
    assert listed(owner, test_id="no_such_test") == []
    assert listed(owner, category="portfolio") == [result[0], result[3]]
    assert listed(owner, category="liquidity") == [result[2]]
    assert listed(owner, category="coverage") == []
    assert listed(owner, category="rating", test_id="wal") == []
    assert listed(owner, limit=2, offset=1) == result[1:3]


@pytest.mark.parametrize(
    "query",
    [
        {"category": "Rating"},
        {"category": ""},
        {"workbook_id": "x"},
        {"test_id": "x" * 201},
        {"limit": 1001},
        {"offset": -1},
    ],
)
def test_queries_that_cannot_be(shared_owner: Any, query: dict[str, Any]) -> None:
    assert shared_owner.get(PATH, params=query).status_code == 422


def test_an_unknown_test(shared_owner: Any) -> None:
    for test_id in ("nonsense", "", "WAL"):
        answer = shared_owner.post(PATH, json={"test_id": test_id, "threshold_value": 1})
        assert answer.status_code == 400
        assert answer.json()["detail"] == "Unknown test"


def test_an_unknown_workbook(owner: Any, stranger: Any, own_g1: dict[str, Any]) -> None:
    body = {"test_id": "wal", "threshold_value": 1, "workbook_id": own_g1["id"]}
    assert owner.delete(f"/api/v1/workbooks/{own_g1['id']}").status_code == 204
    for member, workbook_id in ((stranger, own_g1["id"]), (owner, own_g1["id"]), (owner, str(uuid4()))):
        answer = member.post(PATH, json={**body, "workbook_id": workbook_id})
        assert answer.status_code == 404
        assert answer.json()["detail"] == "Workbook not found"
    assert listed(owner) == listed(stranger) == []


@pytest.mark.parametrize(
    "body",
    [
        {"test_id": "wal"},
        {"threshold_value": 1},
        {"test_id": "wal", "threshold_value": "6"},
        {"test_id": "wal", "threshold_value": None},
        {"test_id": "wal", "threshold_value": True},
        {"test_id": "wal", "threshold_value": 6, "threshold_type": "between"},
        {"test_id": "wal", "threshold_value": 6, "enabled": "no"},
        {"test_id": "wal", "threshold_value": 6, "workbook_id": "x"},
        {"test_id": "x" * 201, "threshold_value": 6},
        # A warning that would only come after the breach.
        {"test_id": "wal", "threshold_value": 6, "warning_threshold": 6.1},
        {"test_id": "oc_ratio", "threshold_value": 104, "warning_threshold": 103.9},
        {"test_id": "wal", "threshold_value": 6, "threshold_type": "min", "warning_threshold": 5.9},
        {"test_id": "wal", "threshold_value": 6, "threshold_type": "exact", "warning_threshold": 6},
    ],
)
def test_bodies_that_cannot_be(shared_owner: Any, body: dict[str, Any]) -> None:
    answer = shared_owner.post(PATH, json=body)
    assert answer.status_code == 422
    assert answer.json()["error_code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity"])
def test_numbers_that_are_none(shared_owner: Any, number: str) -> None:
    for field in ("threshold_value", "warning_threshold"):
        other_text = "" if field == "threshold_value" else ', "threshold_value": 1'
        content = f'{{"test_id": "wal", "{field}": {number}{other_text}}}'
        answer = shared_owner.post(PATH, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422


@pytest.mark.parametrize("value", [0, -0.0, -5, 1e-300, 1.7e308, 0.1 + 0.2])
def test_any_number_is_kept_to_the_last_bit(owner: Any, own_g1: dict[str, Any], value: float) -> None:
    assert put(owner, test_id="wal", threshold_value=value, warning_threshold=value)["threshold_value"] == value
    assert listed(owner)[0]["threshold_value"] == value
    run = owner.post("/api/v1/compliance/run", json={"workbook_id": own_g1["id"]})
    assert run.status_code == 200


def test_a_warning_at_the_limit_is_fine(owner: Any) -> None:
    assert put(owner, test_id="wal", threshold_value=6, warning_threshold=6)["warning_threshold"] == 6
    assert put(owner, test_id="oc_ratio", threshold_value=104, warning_threshold=104)["warning_threshold"] == 104


def test_the_change_is_recorded(stack: Any, owner: Any) -> None:
    """Each with the limit before and after it."""
    result = put(owner, test_id="wal", threshold_value=6.25)
    put(owner, test_id="wal", threshold_value=5, warning_threshold=4, enabled=False)
    assert owner.delete(f"{PATH}/{result['id']}").status_code == 204
    rows = stack.sql(
        """
        SELECT action, resource_type, resource_name, user_email, details -> 'old', details -> 'new'
        FROM audit_log WHERE resource_id = %s ORDER BY sequence
        """,
        [result["id"]],
    )
    first = {"threshold_value": 6.25, "threshold_type": "max", "warning_threshold": None, "enabled": True}
    second = {"threshold_value": 5.0, "threshold_type": "max", "warning_threshold": 4.0, "enabled": False}
    assert {row[1:4] for row in rows} == {("threshold", "wal", owner.email)}
    assert [(row[0], *row[4:]) for row in rows] == [
        ("threshold.updated", None, first),
        ("threshold.updated", first, second),
        ("threshold.deleted", second, None),
    ]


def test_each_of_many_changes_at_once_tells_the_one_before_it(stack: Any, owner: Any) -> None:
    """Also the first ones, which find no limit to lock."""
    with ThreadPoolExecutor(6) as pool:
        result = list(pool.map(lambda value: put(owner, test_id="wal", threshold_value=value), range(1, 7)))
    rows = stack.sql(
        """
        SELECT details -> 'old' -> 'threshold_value', details -> 'new' -> 'threshold_value'
        FROM audit_log WHERE resource_id = %s ORDER BY sequence
        """,
        [result[0]["id"]],
    )
    assert len(rows) == 6
    assert [old for old, _ in rows] == [None, *(new for _, new in rows[:-1])]


def test_a_removed_threshold_holds_no_more(owner: Any, stranger: Any, own_g1: dict[str, Any]) -> None:
    def held_to() -> tuple[float, str]:
        body = {"workbook_id": own_g1["id"], "test_ids": ["ccc_bucket_pct"]}
        [result] = owner.post("/api/v1/compliance/run", json=body).json()["results"]
        return result["threshold_value"], result["threshold_source"]

    put(owner, test_id="ccc_bucket_pct", threshold_value=7)
    outcome = put(owner, test_id="ccc_bucket_pct", threshold_value=8, workbook_id=own_g1["id"])
    assert held_to() == (8.0, "workbook")
    assert stranger.delete(f"{PATH}/{outcome['id']}").status_code == 404
    assert owner.delete(f"{PATH}/{outcome['id']}").status_code == 204
    assert held_to() == (7.0, "tenant")
    assert len(listed(owner)) == 1
    gone = owner.delete(f"{PATH}/{outcome['id']}")
    assert (gone.status_code, gone.json()["detail"]) == (404, "Threshold not found")
    assert owner.delete(f"{PATH}/nonsense").status_code == 404


def test_a_deleted_workbooks_thresholds_are_gone(owner: Any, own_g1: dict[str, Any]) -> None:
    kept = put(owner, test_id="wal", threshold_value=7)
    result = put(owner, test_id="wal", threshold_value=8, workbook_id=own_g1["id"])
    assert owner.delete(f"/api/v1/workbooks/{own_g1['id']}").status_code == 204
    assert listed(owner) == [kept]
    assert owner.get(PATH).json()["total"] == 1
    assert listed(owner, workbook_id=own_g1["id"]) == []
    assert owner.delete(f"{PATH}/{result['id']}").status_code == 404


def test_a_tenants_thresholds_are_its_own(owner: Any, stranger: Any) -> None:
    put(owner, test_id="wal", threshold_value=6)
    assert listed(stranger) == []
    put(stranger, test_id="wal", threshold_value=7)
    assert [item["threshold_value"] for item in listed(owner)] == [6]


def test_who_may(stack: Any, owner: Any) -> None:
    body = {"test_id": "wal", "threshold_value": 6}
    assert httpx.post(stack.url + PATH, json=body).status_code == 401
    assert httpx.get(stack.url + PATH).status_code == 401
    viewer, reader, writer = owner.invite("viewer"), owner.key("compliance:read"), owner.key("compliance:write")
    assert [member.post(PATH, json=body).status_code for member in (viewer, reader, writer)] == [403, 403, 201]
    assert [member.get(PATH).status_code for member in (viewer, reader, writer)] == [200, 200, 403]
