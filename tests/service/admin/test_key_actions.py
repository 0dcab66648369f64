"""API keys: made once, shown once, never stronger than their creator, gone when they are revoked or run out."""

from __future__ import annotations

import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from service.platform.base.caller import KEY_SCOPES
from tests.conftest import Member, Stack, wait_until
from tests.service.auth.conftest import refused

KEYS = "/api/v1/admin/api-keys"
ME = "/api/v1/auth/me"
INVALID = (401, "Invalid API key", "AUTHENTICATION_FAILED")
DENIED = (403, "Insufficient permissions", "PERMISSION_DENIED")


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
    *unknown, choices = [fault["message"] for fault in answer.json()["errors"]]
    assert unknown == ["'a' is not a scope", "'b' is not a scope"]
    assert choices.removeprefix("the scopes are ").split(", ") == list(KEY_SCOPES)


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
    revoked = "SELECT count(*) FROM audit_log WHERE resource_id = %s AND action = 'api_key.revoked'"
    assert stack.sql(revoked, [key["id"]]) == [(1,)], "the second time nothing happened"
    (listed,) = owner.get(f"{KEYS}?status=revoked").json()["items"]
    assert (listed["id"], listed["status"]) == (key["id"], "revoked")
    assert owner.get(f"{KEYS}?status=active").json()["total"] == 0


def test_a_key_runs_out_at_its_moment(owner: Member) -> None:
    moment = datetime.now(UTC) + timedelta(seconds=4)
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
    body = make(maker).json()
    rows = stack.sql(
        "SELECT user_id::text, user_email, api_key_id IS NOT NULL FROM audit_log WHERE resource_id = %s", [body["id"]]
    )
    assert rows == [(owner.user_id, owner.email, True)]
    assert body["created_by"] == owner.email


def test_pages_of_keys(owner: Member) -> None:
    for _ in range(3):
        make(owner)
    pages = [owner.get(f"{KEYS}?page={page}&page_size=2").json() for page in (1, 2)]
    assert [len(page["items"]) for page in pages] == [2, 1]
    assert {page["total"] for page in pages} == {3}
    assert "svc_live_" not in "".join(str(item["key"]) for page in pages for item in page["items"])


def test_what_a_key_did_is_counted(owner: Member) -> None:
    key, idle = make(owner).json(), make(owner).json()
    assert (key["usage_count"], key["last_used"], key["last_used_at"]) == (0, None, None)
    with using(owner, key["key"]) as http:
        for _ in range(3):
            assert http.get(ME).status_code == 200
        assert refused(http.get("/api/v1/admin/users")) == DENIED

    def counted() -> dict[str, Any] | None:
        result = {item["id"]: item for item in owner.get(KEYS).json()["items"]}
        assert (result[idle["id"]]["usage_count"], result[idle["id"]]["last_used"]) == (0, None)
        row: dict[str, Any] = result[key["id"]]
        assert row["usage_count"] <= 4
        return row if row["usage_count"] == 4 else None  # each call passes the gate, whatever the route says to it

    row = wait_until(counted, what="the use of the key")
    moment = datetime.fromisoformat(row["last_used"])
    assert row["last_used_at"] == row["last_used"]
    assert timedelta(0) <= datetime.now(UTC) - moment < timedelta(minutes=1)


# Quota --------------------------------------------------------------------------------------------------------------


def free_tier(stack: Stack, owner: Member) -> None:
    """The free tier's figures: two keys."""
    stack.sql("UPDATE tenants SET subscription_tier = 'free' WHERE id = %s", [owner.tenant_id])


def used(owner: Member) -> int:
    result: int = owner.get("/api/v1/admin/tenant").json()["quotas"]["api_keys"]["used"]
    return result


def test_as_many_keys_as_there_are_places(stack: Stack, owner: Member) -> None:
    free_tier(stack, owner)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: make(owner), range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [403] * 4
    full = (403, "API key limit exceeded", "PERMISSION_DENIED")
    assert {refused(answer) for answer in answers if answer.status_code == 403} == {full}
    assert used(owner) == owner.get(KEYS).json()["total"] == 2
    key_id = next(answer.json()["id"] for answer in answers if answer.status_code == 201)
    assert owner.delete(f"{KEYS}/{key_id}").status_code == 204
    assert make(owner).status_code == 201, "a revoked key has no place"


def test_a_rotation_needs_no_place(stack: Stack, owner: Member) -> None:
    free_tier(stack, owner)
    keys = [make(owner).json() for _ in range(2)]
    for key in keys:
        assert rotate(owner, key, grace_period_hours=24).status_code == 200
    assert used(owner) == 2
    assert owner.get(KEYS).json()["total"] == 4
    assert make(owner).status_code == 403


# Rotation -----------------------------------------------------------------------------------------------------------

NOT_ACTIVE = (409, "API key is not active", "CONFLICT")
NOT_FOUND = (404, "API key not found", "RESOURCE_NOT_FOUND")


def rotate(by: Member, key: dict[str, Any], **body: Any) -> httpx.Response:
    return by.post(f"{KEYS}/{key['id']}/rotate", json=body)


def answers_to(owner: Member, key: dict[str, Any]) -> bool:
    with using(owner, key["key"]) as http:
        return http.get(ME).status_code == 200


def test_a_rotated_key_is_replaced_at_once(stack: Stack, owner: Member) -> None:
    until = (datetime.now(UTC) + timedelta(days=30)).replace(microsecond=0)
    old = make(
        owner,
        "workbooks:read",
        "mappings:read",
        name="Batch",
        description="Nightly",
        environment="test",
        expires_at=until.isoformat(),
    ).json()
    assert answers_to(owner, old)
    before = datetime.now(UTC)
    answer = rotate(owner, old)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"new_key", "old_key"}
    new, replaced = body["new_key"], body["old_key"]
    assert set(new) == set(old)
    same = ("name", "description", "permissions", "environment", "expires_at", "status", "created_by", "usage_count")
    assert {name: new[name] for name in same} == {name: old[name] for name in same}
    assert new["id"] != old["id"]
    assert new["key"] != old["key"]
    assert new["key"].startswith("svc_test_")
    assert new["key"].startswith(new["key_prefix"])
    assert set(replaced) == {"id", "status", "expires_at"}
    assert (replaced["id"], replaced["status"]) == (old["id"], "deprecated")
    assert before <= datetime.fromisoformat(replaced["expires_at"]) <= datetime.now(UTC)
    assert not answers_to(owner, old)
    assert answers_to(owner, new)
    listed = {item["id"]: item for item in owner.get(KEYS).json()["items"]}
    assert {key_id: item["status"] for key_id, item in listed.items()} == {old["id"]: "deprecated", new["id"]: "active"}
    assert listed[old["id"]]["expires_at"] == replaced["expires_at"]
    assert all(item["key"] is None for item in listed.values())
    assert owner.get(f"{KEYS}?status=deprecated").json()["total"] == 1
    assert stack.sql(
        "SELECT user_email, resource_type, resource_id, resource_name, details"
        " FROM audit_log WHERE tenant_id = %s AND action = 'api_key.rotated'",
        [owner.tenant_id],
    ) == [(owner.email, "api_key", old["id"], "Batch", {"new_key_id": new["id"], "expires_at": replaced["expires_at"]})]
    assert stack.sql(
        "SELECT key_hash, replaced_by FROM api_keys WHERE id IN (%s, %s) ORDER BY replaced_by", [old["id"], new["id"]]
    ) == [
        (hashlib.sha256(old["key"].encode()).digest(), UUID(new["id"])),
        (hashlib.sha256(new["key"].encode()).digest(), None),
    ]


def test_a_rotated_key_has_its_hours_of_grace(owner: Member) -> None:
    old = make(owner).json()
    new = rotate(owner, old, grace_period_hours=2).json()
    left = datetime.fromisoformat(new["old_key"]["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=1, minutes=58) < left <= timedelta(hours=2)
    assert new["new_key"]["expires_at"] is None
    assert answers_to(owner, old)
    assert answers_to(owner, new["new_key"])
    assert owner.delete(f"{KEYS}/{old['id']}").status_code == 204
    assert not answers_to(owner, old), "it can still be revoked"
    assert answers_to(owner, new["new_key"])


def test_grace_makes_no_key_live_longer(owner: Member) -> None:
    until = datetime.now(UTC) + timedelta(seconds=5)
    old = make(owner, expires_at=until.isoformat()).json()
    rotated = rotate(owner, old, grace_period_hours=8760).json()
    assert rotated["old_key"]["expires_at"] == rotated["new_key"]["expires_at"] == old["expires_at"]
    assert answers_to(owner, old)
    time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds()) + 0.05)
    assert not answers_to(owner, old)
    assert not answers_to(owner, rotated["new_key"])


def test_what_is_not_active_is_not_rotated(stack: Stack, owner: Member, stranger: Member) -> None:
    revoked, deprecated, expired, fine = (make(owner).json() for _ in range(4))
    owner.delete(f"{KEYS}/{revoked['id']}")
    assert rotate(owner, deprecated, grace_period_hours=1).status_code == 200
    stack.sql("UPDATE api_keys SET expires_at = now() WHERE id = %s", [expired["id"]])
    for key in (revoked, deprecated, expired):
        assert refused(rotate(owner, key)) == NOT_ACTIVE
    assert answers_to(owner, deprecated)
    for unknown in (str(uuid4()), "x"):
        assert refused(rotate(owner, {"id": unknown})) == NOT_FOUND
    assert refused(rotate(stranger, fine)) == NOT_FOUND
    assert answers_to(owner, fine)


@pytest.mark.parametrize("hours", [-1, 8761, 1.5, "1", None, True, 10**30])
def test_a_grace_that_cannot_be(shared_owner: Member, hours: Any) -> None:
    key = make(shared_owner).json()
    answer = rotate(shared_owner, key, grace_period_hours=hours)
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["body", "grace_period_hours"]
    assert answers_to(shared_owner, key)


def test_nobody_rotates_a_key_into_more_than_they_have(owner: Member) -> None:
    key, analyst = make(owner, "workbooks:read", "workbooks:write").json(), owner.invite("analyst")
    assert refused(rotate(owner.key("admin:api-keys", "workbooks:read"), key)) == DENIED
    assert refused(rotate(analyst, key)) == DENIED
    assert answers_to(owner, key)
    able = owner.key("admin:api-keys", "workbooks:read", "workbooks:write")
    rotated = rotate(able, key)
    assert rotated.status_code == 200
    assert rotated.json()["new_key"]["created_by"] == owner.email


def test_the_rotated_key_is_whose_who_rotates_it(owner: Member) -> None:
    admin, old = owner.invite("admin"), make(owner).json()
    new = rotate(admin, old).json()["new_key"]
    assert new["created_by"] == admin.email
    assert answers_to(owner, new)
    owner.delete(f"/api/v1/admin/users/{admin.user_id}").raise_for_status()
    assert not answers_to(owner, new)


def test_a_key_rotates_itself(owner: Member) -> None:
    key = make(owner, "admin:api-keys").json()
    with using(owner, key["key"]) as http:
        rotated = http.post(f"{KEYS}/{key['id']}/rotate", json={})
        assert rotated.status_code == 200
        assert refused(http.get(ME)) == INVALID
    assert answers_to(owner, rotated.json()["new_key"])


def test_one_of_two_rotations_at_once_counts(owner: Member) -> None:
    key = make(owner).json()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: rotate(owner, key, grace_period_hours=1), range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert {refused(answer) for answer in answers if answer.status_code == 409} == {NOT_ACTIVE}
    assert owner.get(KEYS).json()["total"] == 2
