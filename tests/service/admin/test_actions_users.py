"""Users: listed, invited, changed.

A new role or status bites at once, and owners are safe from all but owners.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email import message_from_bytes, policy
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from service.admin.actions import permissions_of
from service.platform.base.caller import KEY_SCOPES, SCOPES, Role
from service.platform.config import Settings
from tests.conftest import PASSWORD, Member, Stack, early_in, register, wait_until
from tests.service.auth.conftest import refused

USERS = "/api/v1/admin/users"


@pytest.fixture(scope="module")
def stack(stack: Stack) -> Iterator[Stack]:
    """One where a hash takes its time, for what may happen meanwhile."""
    with stack.waiting() as waiting:
        yield waiting


def change(by: Member, whom: Member, **fields: Any) -> httpx.Response:
    return by.patch(f"{USERS}/{whom.user_id}", json=fields)


def invite(by: Member, **changed: Any) -> httpx.Response:
    return by.post(
        f"{USERS}/invite",
        json={"email": f"n-{uuid4().hex}@example.com", "full_name": "Nora", "role": "analyst", **changed},
    )


def listed(by: Member, email: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = by.get(f"{USERS}?search={email}").json()["items"]
    return result


def accept(stack: Stack, token: str) -> httpx.Response:
    body = {"token": token, "password": PASSWORD}
    return httpx.post(f"{stack.url}/api/v1/auth/accept-invitation", json=body, timeout=60)


def run_out(stack: Stack, owner: Member) -> None:
    stack.sql("UPDATE invitations SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])


NOT_FOUND = (404, "User not found", "RESOURCE_NOT_FOUND")
EXISTS = (409, "User already exists", "CONFLICT")
FULL = (403, "User limit exceeded", "PERMISSION_DENIED")
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

    def search(query: str) -> set[str]:
        return {user["id"] for user in owner.get(f"{USERS}?{query}").json()["items"]}

    assert search("role=analyst") == {analyst.user_id}
    everybody = search("")
    pending = everybody - {owner.user_id, analyst.user_id}
    assert len(pending) == 1
    assert search("status=invited") == search("status=pending") == pending
    assert search("status=inactive") == set()
    assert (
        search("search=wanda")
        == search("search=WAITING")
        == search(f"search={waiting['email'][:12].upper()}")
        == pending
    )
    assert search("search=100%25_%5C") == pending, "wildcards are taken literally"
    for literal in ("%25", "_", "%5C"):
        assert search(f"search={literal}") <= pending
    assert search("search=%25%25%25") == search("search=' OR 1=1 --") == set()
    assert search("role=owner&status=active") == {owner.user_id}


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


# One of them --------------------------------------------------------------------------------------------------------


PERMISSIONS: dict[Role, dict[str, list[str]]] = {
    "owner": {
        "workbooks": ["read", "write"],
        "calculations": ["execute"],
        "compliance": ["read", "write"],
        "scenarios": ["read", "write"],
        "reports": ["read", "generate"],
        "admin": ["users", "api-keys", "tenant", "audit-logs", "tenant-deletion"],
    },
    "admin": {
        "workbooks": ["read", "write"],
        "calculations": ["execute"],
        "compliance": ["read", "write"],
        "scenarios": ["read", "write"],
        "reports": ["read", "generate"],
        "admin": ["users", "api-keys", "tenant", "audit-logs"],
    },
    "analyst": {
        "workbooks": ["read", "write"],
        "calculations": ["execute"],
        "compliance": ["read", "write"],
        "scenarios": ["read", "write"],
        "reports": ["read", "generate"],
        "admin": [],
    },
    "viewer": {
        "workbooks": ["read"],
        "calculations": [],
        "compliance": ["read"],
        "scenarios": ["read"],
        "reports": ["read"],
        "admin": [],
    },
}
"""By hand, from the table of roles."""


@pytest.mark.parametrize("role", PERMISSIONS)
def test_what_a_role_may_do(role: Role) -> None:
    assert msgspec.to_builtins(permissions_of(role)) == PERMISSIONS[role]


def test_one_user_with_logins_and_permissions(stack: Stack, owner: Member) -> None:
    analyst = owner.invite("analyst")
    for _ in range(2):
        login = {"username": analyst.email, "password": PASSWORD}
        httpx.post(f"{stack.url}/api/v1/auth/login", data=login, timeout=60).raise_for_status()
    (row,) = listed(owner, analyst.email)
    answer = owner.get(f"{USERS}/{analyst.user_id}")
    assert answer.status_code == 200
    assert answer.json() == {**row, "login_count": 3, "permissions": PERMISSIONS["analyst"]}
    assert (row["role"], row["status"]) == ("analyst", "active")


def test_one_user_is_for_admins(owner: Member, stranger: Member) -> None:
    analyst, key = owner.invite("analyst"), owner.key("admin:users")
    path = f"{USERS}/{analyst.user_id}"
    assert key.get(path).json() == owner.invite("admin").get(path).json() == owner.get(path).json()
    assert refused(analyst.get(path)) == DENIED
    assert refused(owner.key("workbooks:read").get(path)) == DENIED
    for whom in (stranger, owner):
        for unknown in (stranger.user_id if whom is owner else analyst.user_id, str(uuid4()), "x"):
            assert refused(whom.get(f"{USERS}/{unknown}")) == NOT_FOUND


# Invitations --------------------------------------------------------------------------------------------------------


def test_an_invitation_has_the_stated_fields(stack: Stack, owner: Member) -> None:
    answer = invite(owner, email="Mixed.Case@Example.COM", send_email=False)
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


def test_an_email_that_somebody_has_here(owner: Member) -> None:
    assert refused(invite(owner, email=owner.email.upper())) == EXISTS
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
    assert refused(invite(owner.key("admin:users"), role="owner")) == DENIED, "a key that is lost costs no tenant"
    assert invite(owner, role="owner").status_code == 201


def test_an_open_invitation_is_not_repeated(owner: Member) -> None:
    email = f"n-{uuid4().hex}@example.com"
    assert invite(owner, email=email).status_code == 201
    assert refused(invite(owner, email=email)) == EXISTS
    assert refused(invite(owner, email=email.upper())) == EXISTS


def test_an_invitation_that_ran_out_is_renewed(stack: Stack, owner: Member, stranger: Member) -> None:
    email = f"n-{uuid4().hex}@example.com"
    first = invite(owner, email=email, full_name="Nora", role="viewer").json()
    (before,) = listed(owner, email)
    run_out(stack, owner)
    assert invite(stranger, email=email).status_code == 201, "whoever else asks learns nothing of it"
    second = invite(owner, email=email.upper(), full_name="Nora New", role="analyst")
    assert second.status_code == 201
    assert refused(accept(stack, first["invitation_token"]))[:2] == (400, "Invalid or expired invitation")
    (after,) = listed(owner, email)
    assert (after["id"], after["full_name"], after["role"], after["status"]) == (
        before["id"],
        "Nora New",
        "analyst",
        "invited",
    )
    assert accept(stack, second.json()["invitation_token"]).status_code == 200
    run_out(stack, owner)
    assert refused(invite(owner, email=email)) == EXISTS, "who has joined is no late guest"


def test_one_of_many_renewals_at_once_counts(stack: Stack, owner: Member) -> None:
    email = f"n-{uuid4().hex}@example.com"
    invite(owner, email=email)
    run_out(stack, owner)
    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(lambda _: invite(owner, email=email).status_code, range(6)))
    assert statuses == [201] + [409] * 5
    assert stack.sql("SELECT count(*) FROM invitations WHERE tenant_id = %s", [owner.tenant_id]) == [(1,)]


def test_only_an_owner_takes_an_owners_role_from_an_invitation(stack: Stack, owner: Member) -> None:
    admin, email = owner.invite("admin"), f"n-{uuid4().hex}@example.com"
    invite(owner, email=email, role="owner")
    run_out(stack, owner)
    assert refused(invite(admin, email=email, role="viewer")) == DENIED
    assert listed(owner, email)[0]["role"] == "owner"
    assert invite(owner, email=email, role="viewer").status_code == 201


def test_as_many_users_as_there_are_places(owner: Member) -> None:
    owner.patch("/api/v1/admin/tenant", json={"settings": {"max_users": 3}}).raise_for_status()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: invite(owner), range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [403] * 6
    assert {refused(answer) for answer in answers if answer.status_code == 403} == {FULL}
    assert owner.get("/api/v1/admin/tenant").json()["quotas"]["users"] == {"used": 3, "limit": 3}


def test_who_is_there_already_is_told_so_even_where_no_place_is_left(owner: Member) -> None:
    owner.patch("/api/v1/admin/tenant", json={"settings": {"max_users": 2}}).raise_for_status()
    email = f"n-{uuid4().hex}@example.com"
    assert invite(owner, email=email).status_code == 201
    assert refused(invite(owner, email=email)) == EXISTS
    assert refused(invite(owner, email=owner.email)) == EXISTS
    assert refused(invite(owner)) == FULL


def test_an_invitation_is_withdrawn_by_its_id(stack: Stack, owner: Member) -> None:
    invitation = invite(owner, send_email=False).json()
    body = owner.get(f"{USERS}/{invitation['id']}").json()
    assert (body["email"], body["status"]) == (invitation["email"], "invited")
    assert owner.delete(f"{USERS}/{invitation['id']}").status_code == 204
    assert accept(stack, invitation["invitation_token"]).status_code == 400


def test_a_late_guest_keeps_the_place(stack: Stack, owner: Member) -> None:
    owner.patch("/api/v1/admin/tenant", json={"settings": {"max_users": 2}}).raise_for_status()
    email = f"n-{uuid4().hex}@example.com"
    assert invite(owner, email=email).status_code == 201
    run_out(stack, owner)
    assert refused(invite(owner)) == FULL
    assert invite(owner, email=email).status_code == 201
    owner.patch("/api/v1/admin/tenant", json={"settings": {"max_users": 1}}).raise_for_status()
    run_out(stack, owner)
    assert refused(invite(owner, email=email)) == FULL, "the tenant has become smaller"


# Their letters ------------------------------------------------------------------------------------------------------


def letters_to(stack: Stack, address: str) -> list[str]:
    """The texts of the letters that were written to this address."""
    result = []
    for path in (stack.data_dir / "mail").glob("*.eml"):
        letter = message_from_bytes(path.read_bytes(), policy=policy.default)
        if letter["To"] == address:
            body = letter.get_body()
            assert body is not None
            result.append(body.get_content())
    return result


def test_an_invitation_comes_by_mail_unless_it_shall_not(stack: Stack, owner: Member) -> None:
    quiet = invite(owner, send_email=False).json()
    assert stack.sql("SELECT count(*) FROM jobs WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    loud = invite(owner, send_email=True, full_name="Lotte Loud").json()
    ((arguments,),) = stack.sql("SELECT arguments::text FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert loud["invitation_token"] not in arguments
    assert loud["email"] not in arguments
    (letter,) = wait_until(lambda: letters_to(stack, loud["email"]), what="the letter")
    assert loud["invitation_token"] in letter
    assert "Lotte Loud" in letter
    assert owner.email in letter
    assert letters_to(stack, quiet["email"]) == []
    assert accept(stack, loud["invitation_token"]).status_code == 200


def test_who_has_an_account_elsewhere_is_told_so_and_nobody_else(stack: Stack, owner: Member, stranger: Member) -> None:
    """The inviter sees what is seen of any invitation.

    Whoever reads the mailbox sees that it cannot be accepted.
    """
    free, taken = invite(owner), invite(owner, email=stranger.email.upper())
    assert free.status_code == taken.status_code == 201
    assert set(free.json()) == set(taken.json())
    item, second = (owner.get(f"{USERS}/{answer.json()['id']}").json() for answer in (free, taken))
    own = dict.fromkeys(("id", "email", "created_at", "updated_at"))
    assert item | own == second | own
    (letter,) = wait_until(lambda: letters_to(stack, taken.json()["email"]), what="the letter")
    assert "already has a Cushion account" in letter
    assert taken.json()["invitation_token"] not in letter
    words = (400, "Invalid or expired invitation", "VALIDATION_ERROR")
    assert refused(accept(stack, taken.json()["invitation_token"])) == words
    assert owner.get(f"{USERS}/{taken.json()['id']}").json()["status"] == "invited"
    login = {"username": stranger.email, "password": PASSWORD}
    assert stranger.post("/api/v1/auth/login", data=login).status_code == 200, "the account is as it was"
    assert refused(invite(owner, email=stranger.email)) == EXISTS, "of its own invitation a tenant is told"


def test_whoever_joins_first_has_the_email(stack: Stack, owner: Member, stranger: Member) -> None:
    """Two tenants ask the same person, who may also found one of their own.

    One e-mail has one account.
    """
    email = f"n-{uuid4().hex}@example.com"
    tokens = [invite(by, email=email).json()["invitation_token"] for by in (owner, stranger)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda token: accept(stack, token), tokens))
    assert sorted(answer.status_code for answer in answers) == [200, 400]
    late = invite(owner).json()
    register(stack.url, late["email"])
    assert accept(stack, late["invitation_token"]).status_code == 400


def test_a_refused_invitation_sends_nothing(stack: Stack, owner: Member) -> None:
    assert refused(invite(owner, email=owner.email)) == EXISTS
    answer = invite(owner, email="=?utf-8?q?a?=@example.com")
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["body", "email"]
    assert stack.sql("SELECT count(*) FROM jobs WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)]
    assert owner.get(USERS).json()["total"] == 1


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
    key = owner.key("admin:users")
    for whom, fields in ((second, {"role": "viewer"}), (second, {"status": "inactive"}), (admin, {"role": "owner"})):
        assert refused(change(key, whom, **fields)) == DENIED
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


def test_what_changes_nothing_leaves_no_trace_in_the_audit(stack: Stack, owner: Member) -> None:
    change(owner, owner, role="admin")  # refused
    before = owner.get(f"{USERS}/{owner.user_id}").json()
    for same in ({}, {"role": "owner"}, {"status": "active", "full_name": before["full_name"]}):
        answer = owner.patch(f"{USERS}/{owner.user_id}", json=same)
        assert (answer.status_code, answer.json()["updated_at"]) == (200, before["updated_at"])
    change(owner, owner, full_name="Other")
    rows = stack.sql(
        "SELECT details FROM audit_log WHERE tenant_id = %s AND action = 'user.updated'", [owner.tenant_id]
    )
    assert rows == [({"role": "owner", "status": "active"},)]


# Removal ------------------------------------------------------------------------------------------------------------


def remove(by: Member, whom: Member) -> httpx.Response:
    return by.delete(f"{USERS}/{whom.user_id}")


def test_a_removed_user_is_out_at_once(stack: Stack, owner: Member) -> None:
    admin = owner.invite("admin")
    key = admin.key("workbooks:read")
    assert admin.get("/api/v1/auth/me").status_code == key.get("/api/v1/auth/me").status_code == 200
    answer = remove(owner, admin)
    assert (answer.status_code, answer.content) == (204, b"")
    assert refused(admin.get("/api/v1/auth/me")) == (401, "Token has been revoked", "TOKEN_REVOKED")
    assert refused(key.get("/api/v1/auth/me")) == (401, "Invalid API key", "AUTHENTICATION_FAILED")
    renewed = admin.post("/api/v1/auth/refresh", json={"refresh_token": admin.tokens["refresh_token"]})
    assert refused(renewed) == (401, "All tokens have been revoked", "TOKEN_REVOKED")
    again = admin.post("/api/v1/auth/login", data={"username": admin.email, "password": PASSWORD})
    assert refused(again) == (401, "Incorrect email or password", "AUTHENTICATION_FAILED")
    assert [row["status"] for row in owner.get("/api/v1/admin/api-keys").json()["items"]] == ["revoked"]
    assert owner.get("/api/v1/admin/tenant").json()["quotas"]["api_keys"]["used"] == 0
    assert stack.sql(
        "SELECT user_email, resource_type, resource_id, resource_name FROM audit_log"
        " WHERE tenant_id = %s AND action = 'user.removed'",
        [owner.tenant_id],
    ) == [(owner.email, "user", admin.user_id, admin.email)]


def test_a_removed_user_is_nowhere(stack: Stack, owner: Member) -> None:
    analyst = owner.invite("analyst")
    assert remove(owner, analyst).status_code == 204
    assert listed(owner, analyst.email) == []
    assert owner.get(USERS).json()["total"] == 1
    assert owner.get(f"{USERS}?status=inactive").json()["total"] == 0
    tenant = owner.get("/api/v1/admin/tenant").json()
    assert (tenant["quotas"]["users"]["used"], tenant["usage"]["users"]) == (1, 1)
    assert refused(owner.get(f"{USERS}/{analyst.user_id}")) == NOT_FOUND
    assert refused(change(owner, analyst, status="active")) == NOT_FOUND
    assert refused(remove(owner, analyst)) == NOT_FOUND
    assert stack.sql(
        "SELECT password_hash, two_factor_secret, removed_at IS NOT NULL FROM users WHERE id = %s", [analyst.user_id]
    ) == [(None, None, True)]


def test_a_removed_users_email_and_place_are_free_again(stack: Stack, owner: Member) -> None:
    owner.patch("/api/v1/admin/tenant", json={"settings": {"max_users": 2}}).raise_for_status()
    first, second = owner.invite("analyst"), f"n-{uuid4().hex}@example.com"
    assert refused(invite(owner, email=second)) == FULL
    assert remove(owner, first).status_code == 204
    back = invite(owner, email=first.email.upper())
    assert back.status_code == 201
    assert accept(stack, back.json()["invitation_token"]).status_code == 200
    (user,) = listed(owner, first.email)
    assert user["id"] != first.user_id
    assert owner.delete(f"{USERS}/{user['id']}").status_code == 204
    assert register(stack.url, first.email).email == first.email, "in whichever tenant"


def test_a_removed_guest_cannot_join(stack: Stack, owner: Member) -> None:
    email = f"n-{uuid4().hex}@example.com"
    token = invite(owner, email=email).json()["invitation_token"]
    assert owner.delete(f"{USERS}/{listed(owner, email)[0]['id']}").status_code == 204
    assert refused(accept(stack, token)) == (400, "Invalid or expired invitation", "VALIDATION_ERROR")
    assert invite(owner, email=email).status_code == 201


def test_who_cannot_be_removed(owner: Member, stranger: Member) -> None:
    second, admin = owner.invite("owner"), owner.invite("admin")
    for by, whom in ((owner, owner), (owner, second), (admin, owner), (owner.key("admin:users"), second)):
        assert refused(remove(by, whom)) == (403, "Cannot remove owner", "PERMISSION_DENIED")
    for by in (admin, admin.key("admin:users")):
        assert refused(remove(by, admin)) == (403, "Cannot remove self", "PERMISSION_DENIED")
    for unknown in (stranger.user_id, str(uuid4()), "x"):
        assert refused(owner.delete(f"{USERS}/{unknown}")) == NOT_FOUND
    assert stranger.get("/api/v1/auth/me").status_code == 200
    assert admin.get("/api/v1/auth/me").status_code == 200, "a refusal revokes nothing"


def test_who_may_remove(owner: Member) -> None:
    admin, analyst, victim = owner.invite("admin"), owner.invite("analyst"), owner.invite("admin")
    for by in (analyst, owner.invite("viewer"), owner.key("workbooks:write")):
        assert refused(remove(by, victim)) == DENIED
    assert remove(admin, victim).status_code == 204
    assert remove(owner.key("admin:users"), analyst).status_code == 204


def test_two_owners_who_would_be_rid_of_each_other(stack: Stack, owner: Member) -> None:
    second = owner.invite("owner")

    def oust(pair: tuple[Member, Member]) -> tuple[int, int]:
        by, whom = pair
        return change(by, whom, role="admin").status_code, remove(by, whom).status_code

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(oust, [(owner, second), (second, owner)]))
    left = stack.sql("SELECT role, status FROM users WHERE tenant_id = %s AND removed_at IS NULL", [owner.tenant_id])
    assert left == [("owner", "active")], outcomes
    assert sorted(outcome == (200, 204) for outcome in outcomes) == [False, True]


def test_a_guest_joins_or_is_removed(stack: Stack, owner: Member) -> None:
    """Whichever of the two comes first.

    Neither waits for the other in vain, and a removed user has no session.
    """
    for _ in range(4):
        email = f"n-{uuid4().hex}@example.com"
        token = invite(owner, email=email).json()["invitation_token"]
        path = f"{USERS}/{listed(owner, email)[0]['id']}"
        with ThreadPoolExecutor(2) as pool:
            joining, removing = pool.submit(accept, stack, token), pool.submit(owner.delete, path)
            joined, removed = joining.result(), removing.result()
        assert (removed.status_code, joined.status_code) in {(204, 200), (204, 400)}
        if joined.status_code == 200:
            headers = {"Authorization": f"Bearer {joined.json()['access_token']}"}
            assert httpx.get(f"{stack.url}/api/v1/auth/me", headers=headers, timeout=60).status_code == 401


# What a caller grants -----------------------------------------------------------------------------------------------


def test_a_key_that_lacks_what_an_admin_has_makes_no_admin(owner: Member) -> None:
    viewer = owner.invite("viewer")
    few, all_scopes = owner.key(*SCOPES["analyst"], "admin:users"), owner.key(*KEY_SCOPES)
    for role, status in (("viewer", 201), ("analyst", 201), ("admin", 403), ("owner", 403)):
        body = {"email": f"{uuid4().hex}@example.com", "full_name": "Guy Granted", "role": role, "send_email": False}
        assert few.post("/api/v1/admin/users/invite", json=body).status_code == status, role
    path = f"/api/v1/admin/users/{viewer.user_id}"
    assert few.patch(path, json={"role": "admin"}).status_code == 403
    assert few.patch(path, json={"role": "analyst"}).status_code == 200
    assert all_scopes.patch(path, json={"role": "admin"}).status_code == 200
    assert few.patch(path, json={"full_name": "Renamed", "role": "admin"}).status_code == 200, "it was one before"


def test_invitations_have_a_limit(stack: Stack, owner: Member) -> None:
    assert Settings().invitations_per_hour == 100
    with stack.another_api(CUSHION_INVITATIONS_PER_HOUR="2") as url:
        early_in(3600)
        answers = [
            httpx.post(
                f"{url}/api/v1/admin/users/invite",
                json={"email": f"{uuid4().hex}@example.com", "full_name": "Sam Stranger", "role": "viewer"},
                headers={"Authorization": owner.http.headers["authorization"]},
            )
            for _ in range(3)
        ]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert answers[2].json()["detail"] == "Rate limit exceeded"
    assert 0 < int(answers[2].headers["retry-after"]) <= 3600
