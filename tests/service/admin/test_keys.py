"""API keys: made once, shown once, never stronger than their creator, gone when they are revoked or run out."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from service.platform.access import KEY_SCOPES
from tests.conftest import Member, Stack

KEYS = "/api/v1/admin/api-keys"
ME = "/api/v1/auth/me"
INVALID = (401, "Invalid API key", "AUTHENTICATION_FAILED")
DENIED = (403, "Insufficient permissions", "PERMISSION_DENIED")


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["detail"], body["error_code"]


def make(by: Member, *scopes: str, **more: Any) -> httpx.Response:
    return by.post(KEYS, json={"name": "key", "permissions": list(scopes) or ["workbooks:read"], **more})


def using(owner: Member, key: str) -> httpx.Client:
    return httpx.Client(base_url=owner.http.base_url, headers={"X-API-Key": key}, timeout=60)


def test_the_secret_is_shown_once_and_stored_as_its_hash(stack: Stack, owner: Member) -> None:
    answer = make(owner, "workbooks:write", "workbooks:read", description="For the batch", environment="test")
    assert answer.status_code == 201
    key = answer.json()
    assert set(key) == {
        "id",
        "name",
        "description",
        "key",
        "key_prefix",
        "permissions",
        "environment",
        "status",
        "last_used",
        "last_used_at",
        "usage_count",
        "expires_at",
        "created_by",
        "created_at",
    }
    assert key["key"].startswith("svc_test_")
    assert key["key"].startswith(key["key_prefix"])
    assert (key["permissions"], key["status"], key["created_by"]) == (
        ["workbooks:read", "workbooks:write"],
        "active",
        owner.email,
    )
    (listed,) = owner.get(KEYS).json()["items"]
    assert listed == {**key, "key": None}
    assert stack.sql("SELECT key_hash FROM api_keys WHERE id = %s", [key["id"]]) == [
        (hashlib.sha256(key["key"].encode()).digest(),)
    ]
    assert stack.sql(
        "SELECT details, resource_name FROM audit_log WHERE tenant_id = %s AND action = 'api_key.created'",
        [owner.tenant_id],
    ) == [({"permissions": key["permissions"]}, "key")]


def test_keys_are_live_unless_said_otherwise(owner: Member) -> None:
    assert make(owner).json()["key"].startswith("svc_live_")


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"permissions": []}, "permissions"),
        ({"permissions": ["workbooks:delete"]}, "permissions"),
        ({"permissions": ["*"]}, "permissions"),
        ({"permissions": ["workbooks:read"] * 51}, "permissions"),
        ({"environment": "prod"}, "environment"),
        ({"name": ""}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"description": "x" * 2001}, "description"),
        ({"expires_at": "yesterday"}, "expires_at"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"expires_at": "2001-01-01T00:00:00"}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-12:00"}, "expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "expires_at"),
    ],
)
def test_a_key_that_cannot_be(owner: Member, fields: dict[str, Any], where: str) -> None:
    answer = owner.post(KEYS, json={"name": "key", "permissions": ["workbooks:read"], **fields})
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"][:2] == ["body", where]
    assert owner.get(KEYS).json()["total"] == 0


def test_every_unknown_scope_is_named(owner: Member) -> None:
    answer = make(owner, "a", "workbooks:read", "b")
    assert [fault["message"] for fault in answer.json()["errors"]] == ["'a' is not a scope", "'b' is not a scope"]


def test_the_scopes_are_the_specifications() -> None:
    assert set(KEY_SCOPES) == {
        *(
            "workbooks:read",
            "workbooks:write",
            "calculations:execute",
            "compliance:read",
            "compliance:write",
            "scenarios:read",
        ),
        *(
            "scenarios:write",
            "reports:read",
            "reports:generate",
            "alerts:read",
            "alerts:write",
            "mappings:read",
            "mappings:write",
        ),
        *("admin:users", "admin:api-keys"),
    }


def test_a_key_makes_no_stronger_key(owner: Member) -> None:
    maker = owner.key("admin:api-keys", "workbooks:read")
    assert refused(make(maker, "workbooks:write")) == DENIED
    assert make(maker, "workbooks:read").status_code == 201


def test_a_key_shrinks_and_dies_with_its_creator(owner: Member) -> None:
    admin = owner.invite("admin")
    key = admin.key("workbooks:write", "admin:users", "workbooks:read")
    assert key.get("/api/v1/admin/users").status_code == 200
    change = f"/api/v1/admin/users/{admin.user_id}"
    owner.patch(change, json={"role": "analyst"}).raise_for_status()
    assert refused(key.get("/api/v1/admin/users")) == DENIED
    assert key.delete(f"/api/v1/workbooks/{admin.user_id}").status_code == 404
    owner.patch(change, json={"role": "viewer"}).raise_for_status()
    assert refused(key.delete(f"/api/v1/workbooks/{admin.user_id}")) == DENIED
    assert key.get(ME).json()["role"] == "viewer"
    owner.patch(change, json={"status": "inactive"}).raise_for_status()
    assert refused(key.get(ME)) == INVALID
    owner.patch(change, json={"status": "active", "role": "admin"}).raise_for_status()
    assert key.get("/api/v1/admin/users").status_code == 200, "what it may do follows the creator's present role"


def test_a_revoked_key_is_dead_at_once_and_for_good(stack: Stack, owner: Member) -> None:
    key = make(owner).json()
    with using(owner, key["key"]) as http:
        assert http.get(ME).status_code == 200
        assert owner.delete(f"{KEYS}/{key['id']}").status_code == 204
        assert refused(http.get(ME)) == INVALID
    assert owner.delete(f"{KEYS}/{key['id']}").status_code == 204
    (listed,) = owner.get(f"{KEYS}?status=revoked").json()["items"]
    assert (listed["id"], listed["status"]) == (key["id"], "revoked")
    assert owner.get(f"{KEYS}?status=active").json()["total"] == 0


def test_a_key_runs_out_at_its_moment(owner: Member) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=1.5)
    key = make(owner, expires_at=moment.isoformat()).json()
    with using(owner, key["key"]) as http:
        assert http.get(ME).status_code == 200
        time.sleep(max(0.0, (moment - datetime.now(UTC)).total_seconds()) + 0.05)
        assert refused(http.get(ME)) == INVALID
    assert [item["status"] for item in owner.get(KEYS).json()["items"]] == ["expired"]
    assert owner.get(f"{KEYS}?status=expired").json()["total"] == 1
    assert owner.get(f"{KEYS}?status=active").json()["total"] == 0
    assert owner.get("/api/v1/admin/tenant").json()["quotas"]["api_keys"]["used"] == 0


def test_an_expiry_without_a_zone_is_utc(owner: Member) -> None:
    assert make(owner, expires_at="2090-01-02").json()["expires_at"] == "2090-01-02T00:00:00Z"
    assert make(owner, expires_at="2090-01-02T03:04:05").json()["expires_at"] == "2090-01-02T03:04:05Z"
    assert make(owner, expires_at="2090-01-02T03:04:05+02:00").json()["expires_at"] == "2090-01-02T01:04:05Z"


def test_a_key_ends_no_session_and_answers_for_nobody(owner: Member) -> None:
    key = owner.key(*KEY_SCOPES)
    for method, path in (
        ("POST", "/api/v1/auth/logout"),
        ("POST", "/api/v1/auth/revoke-all-tokens"),
        ("GET", "/api/v1/admin/tenant"),
    ):
        assert refused(key.http.request(method, path)) == DENIED


def test_what_a_key_does_is_audited_with_the_key_and_its_creator(stack: Stack, owner: Member) -> None:
    maker = owner.key("admin:api-keys", "workbooks:read")
    made = make(maker).json()
    rows = stack.sql(
        "SELECT user_id::text, user_email, api_key_id IS NOT NULL FROM audit_log WHERE resource_id = %s", [made["id"]]
    )
    assert rows == [(owner.user_id, owner.email, True)]
    assert made["created_by"] == owner.email


def test_pages_of_keys(owner: Member) -> None:
    for _ in range(3):
        make(owner)
    pages = [owner.get(f"{KEYS}?page={page}&page_size=2").json() for page in (1, 2)]
    assert [len(page["items"]) for page in pages] == [2, 1]
    assert {page["total"] for page in pages} == {3}
    assert "svc_live_" not in "".join(str(item["key"]) for page in pages for item in page["items"])
