"""Users: listed, invited, changed; a new role or status bites at once, and owners are safe from all but owners."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import PASSWORD, Member, Stack

USERS = "/api/v1/admin/users"


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["detail"], body["error_code"]


def change(by: Member, whom: Member, **fields: Any) -> httpx.Response:
    return by.patch(f"{USERS}/{whom.user_id}", json=fields)


def invite(by: Member, **changed: Any) -> httpx.Response:
    return by.post(
        f"{USERS}/invite",
        json={"email": f"n-{uuid4().hex}@example.com", "full_name": "Nora", "role": "analyst", **changed},
    )


DENIED = (403, "Insufficient permissions", "PERMISSION_DENIED")


# The list -----------------------------------------------------------------------------------------------------------


def test_a_user_has_the_stated_fields(owner: Member) -> None:
    page = owner.get(USERS).json()
    assert set(page) == {"items", "total", "page", "page_size", "total_pages"}
    (user,) = page["items"]
    assert set(user) == {
        "id",
        "email",
        "full_name",
        "tenant_id",
        "role",
        "status",
        "two_factor_enabled",
        "last_login",
        "created_at",
        "updated_at",
    }
    assert (user["id"], user["role"], user["status"], user["two_factor_enabled"]) == (
        owner.user_id,
        "owner",
        "active",
        False,
    )
    assert user["last_login"] is not None


def test_users_by_role_status_and_text(owner: Member) -> None:
    analyst = owner.invite("analyst")
    waiting = invite(owner, role="viewer", full_name="Wanda 100%_\\ Waiting").json()

    def found(query: str) -> set[str]:
        return {user["id"] for user in owner.get(f"{USERS}?{query}").json()["items"]}

    assert found("role=analyst") == {analyst.user_id}
    everybody = found("")
    pending = everybody - {owner.user_id, analyst.user_id}
    assert len(pending) == 1
    assert found("status=invited") == found("status=pending") == pending
    assert found("status=inactive") == set()
    assert (
        found("search=wanda") == found("search=WAITING") == found(f"search={waiting['email'][:12].upper()}") == pending
    )
    assert found("search=100%25_%5C") == pending, "wildcards are taken literally"
    for literal in ("%25", "_", "%5C"):
        assert found(f"search={literal}") <= pending
    assert found("search=%25%25%25") == found("search=' OR 1=1 --") == set()
    assert found("role=owner&status=active") == {owner.user_id}


def test_pages_of_users(owner: Member) -> None:
    for _ in range(4):
        assert invite(owner).status_code == 201
    pages = [owner.get(f"{USERS}?page={page}&page_size=2").json() for page in (1, 2, 3, 4)]
    assert [len(page["items"]) for page in pages] == [2, 2, 1, 0]
    assert {(page["total"], page["total_pages"], page["page_size"]) for page in pages} == {(5, 3, 2)}
    seen = [user["id"] for page in pages for user in page["items"]]
    assert len(set(seen)) == 5
    created = [user["created_at"] for page in pages for user in page["items"]]
    assert created == sorted(created, reverse=True)


@pytest.mark.parametrize("query", ["role=root", "status=gone", "page_size=101", "search=" + "x" * 201])
def test_a_filter_that_does_not_exist(owner: Member, query: str) -> None:
    assert refused(owner.get(f"{USERS}?{query}"))[::2] == (422, "VALIDATION_ERROR")


# Invitations --------------------------------------------------------------------------------------------------------


def test_an_invitation_has_the_stated_fields(stack: Stack, owner: Member) -> None:
    answer = invite(owner, email="Mixed.Case@Example.COM", send_email=False, unknown_field=1)
    assert answer.status_code == 201
    body = answer.json()
    assert set(body) == {"id", "email", "full_name", "role", "status", "invitation_token", "expires_at", "created_at"}
    assert (body["email"], body["role"], body["status"]) == ("Mixed.Case@Example.COM", "analyst", "pending")
    assert len(body["invitation_token"]) >= 40
    stored = stack.sql("SELECT token_hash FROM invitations WHERE id = %s", [body["id"]])[0][0]
    assert len(stored) == 32
    assert stack.sql(
        "SELECT user_email, resource_type, resource_name, details FROM audit_log"
        " WHERE tenant_id = %s AND action = 'user.invited'",
        [owner.tenant_id],
    ) == [(owner.email, "user", "Mixed.Case@Example.COM", {"role": "analyst"})]


@pytest.mark.parametrize("role", ["", "root", "Owner", "*", "owner ", "x" * 5000])
def test_an_unknown_role(owner: Member, role: str) -> None:
    assert refused(invite(owner, role=role)) == (400, "Invalid role", "VALIDATION_ERROR")


def test_an_email_that_somebody_has_here_or_elsewhere(owner: Member, stranger: Member) -> None:
    said = (409, "User already exists", "CONFLICT")
    assert refused(invite(owner, email=owner.email)) == said
    assert refused(invite(owner, email=stranger.email.upper())) == said
    email = f"twice-{uuid4().hex}@example.com"
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: invite(owner, email=email).status_code, range(4)))
    assert statuses == [201, 409, 409, 409]


@pytest.mark.parametrize("email", ["", "nobody", "a@b.c\r\nBcc: x@y.zz", "x" * 300 + "@example.com"])
def test_an_email_that_is_none(owner: Member, email: str) -> None:
    answer = invite(owner, email=email)
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["body", "email"]


def test_only_an_owner_makes_owners(owner: Member) -> None:
    admin = owner.invite("admin")
    assert refused(invite(admin, role="owner")) == DENIED
    assert invite(admin, role="admin").status_code == 201
    assert invite(owner, role="owner").status_code == 201


# Changes ------------------------------------------------------------------------------------------------------------


def test_a_new_role_bites_at_once(owner: Member) -> None:
    analyst = owner.invite("analyst")
    answer = change(owner, analyst, role="viewer")
    assert (answer.status_code, answer.json()["role"]) == (200, "viewer")
    assert refused(analyst.get("/api/v1/auth/me")) == (401, "Token has been revoked", "TOKEN_REVOKED")
    renewed = analyst.post("/api/v1/auth/refresh", json={"refresh_token": analyst.tokens["refresh_token"]})
    assert refused(renewed) == (401, "All tokens have been revoked", "TOKEN_REVOKED")
    again = analyst.post("/api/v1/auth/login", data={"username": analyst.email, "password": PASSWORD}).json()
    analyst.http.headers["Authorization"] = f"Bearer {again['access_token']}"
    assert analyst.get("/api/v1/auth/me").json()["role"] == "viewer"


def test_a_name_alone_revokes_nothing(owner: Member) -> None:
    analyst = owner.invite("analyst")
    before = owner.get(USERS).json()["items"]
    answer = change(owner, analyst, full_name="Änne Analyst", role="analyst", status="active")
    assert (answer.status_code, answer.json()["full_name"]) == (200, "Änne Analyst")
    assert analyst.get("/api/v1/auth/me").json()["full_name"] == "Änne Analyst"
    assert next(user["updated_at"] for user in before if user["id"] == analyst.user_id) < answer.json()["updated_at"]


def test_a_deactivated_user_is_out_at_once_and_can_come_back(owner: Member) -> None:
    analyst = owner.invite("analyst")
    assert change(owner, analyst, status="inactive").json()["status"] == "inactive"
    assert analyst.get("/api/v1/auth/me").status_code == 401
    assert change(owner, analyst, status="active").status_code == 200
    assert analyst.post("/api/v1/auth/login", data={"username": analyst.email, "password": PASSWORD}).status_code == 200


def test_admins_leave_owners_alone(owner: Member) -> None:
    admin, second = owner.invite("admin"), owner.invite("owner")
    assert refused(change(admin, second, role="viewer")) == DENIED
    assert refused(change(admin, second, status="inactive")) == DENIED
    assert refused(change(admin, admin, role="owner")) == DENIED
    assert change(admin, second, full_name="Renamed").status_code == 200
    assert change(owner, second, role="analyst").status_code == 200
    assert change(owner, admin, role="owner").status_code == 200


def test_the_last_owner_stays(owner: Member) -> None:
    for fields in ({"role": "admin"}, {"status": "inactive"}):
        assert refused(change(owner, owner, **fields)) == (403, "Cannot demote the last owner", "PERMISSION_DENIED")
    assert owner.get("/api/v1/auth/me").status_code == 200
    invite(owner, role="owner")
    assert refused(change(owner, owner, role="admin"))[1] == "Cannot demote the last owner", (
        "one who has not joined does not count"
    )


def test_two_owners_who_demote_each_other_at_once(stack: Stack, owner: Member) -> None:
    second = owner.invite("owner")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda pair: change(*pair, role="viewer"), [(owner, second), (second, owner)]))
    left = stack.sql(
        "SELECT count(*) FROM users WHERE tenant_id = %s AND role = 'owner' AND status = 'active'", [owner.tenant_id]
    )
    assert left == [(1,)]


def test_an_invited_user_cannot_be_switched_on(owner: Member) -> None:
    email = f"w-{uuid4().hex}@example.com"
    invite(owner, email=email)
    user_id = owner.get(f"{USERS}?search={email}").json()["items"][0]["id"]
    answer = owner.patch(f"{USERS}/{user_id}", json={"status": "active"})
    assert refused(answer) == (409, "User has not accepted the invitation", "CONFLICT")
    assert owner.patch(f"{USERS}/{user_id}", json={"role": "viewer"}).json()["role"] == "viewer"


@pytest.mark.parametrize(
    "fields",
    [
        {"role": "root"},
        {"status": "invited"},
        {"status": "gone"},
        {"full_name": ""},
        {"full_name": " "},
        {"role": None},
    ],
)
def test_a_change_that_does_not_exist(owner: Member, fields: dict[str, Any]) -> None:
    answer = owner.patch(f"{USERS}/{owner.user_id}", json=fields)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", next(iter(fields))])


def test_a_refused_change_leaves_no_trace_in_the_audit(stack: Stack, owner: Member) -> None:
    change(owner, owner, role="admin")
    change(owner, owner, full_name="Other")
    rows = stack.sql(
        "SELECT details FROM audit_log WHERE tenant_id = %s AND action = 'user.updated'", [owner.tenant_id]
    )
    assert rows == [({"role": "owner", "status": "active"},)]
