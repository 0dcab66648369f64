"""Nobody grants a scope that they lack.

Not by a role, not by an invitation, not by a key, not by a chain of these.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from uuid import uuid4

import httpx
import pytest

from service.platform.base.caller import KEY_SCOPES, ROLES, SCOPES, Role
from tests.conftest import PASSWORD, Member, Stack, member
from tests.records import error_of

ADMIN = "/api/v1/admin"
DENIED = (403, "Insufficient permissions")

GRANTING = frozenset({"admin:users", "admin:api-keys"})
HELD: list[frozenset[str]] = [
    *(frozenset({way}) for way in sorted(GRANTING)),
    *(frozenset({way}) | SCOPES["analyst"] for way in sorted(GRANTING)),
    GRANTING | SCOPES["viewer"],
    (GRANTING | SCOPES["viewer"]) - {"reports:read"},
    frozenset(KEY_SCOPES) - {"reports:read"},
    frozenset(KEY_SCOPES),
]
"""What a key may carry: a way of granting alone, with a role's all, and with all but one."""


def invitation(by: Member, role: str, email: str | None = None) -> httpx.Response:
    body = {"email": email or f"{uuid4().hex}@example.com", "full_name": "Gus", "role": role, "send_email": False}
    return by.post(f"{ADMIN}/users/invite", json=body)


def new_key(by: Member, *scopes: str) -> httpx.Response:
    return by.post(f"{ADMIN}/api-keys", json={"name": "made", "permissions": list(scopes)})


def expected(way: str, current: frozenset[str], granted: frozenset[str], *, owner: bool = False) -> bool:
    return way in current and granted <= current and not owner


def done(answer: httpx.Response) -> bool:
    """Whether it was granted; else it was refused in the stated words."""
    if answer.status_code in (200, 201):
        return True
    assert (answer.status_code, error_of(answer)["detail"]) == DENIED, answer.text
    return False


# Every way of granting a role, by a key, to a user who has another one or is out -------------------------------------


def by_inviting(stack: Stack, owner: Member, by: Member, role: Role) -> httpx.Response:
    return invitation(by, role)


def by_inviting_again(stack: Stack, owner: Member, by: Member, role: Role) -> httpx.Response:
    email = f"{uuid4().hex}@example.com"
    body = invitation(owner, "viewer", email).json()
    stack.sql("UPDATE invitations SET expires_at = now() WHERE id = %s", [body["id"]])
    return invitation(by, role, email)


def by_changing_an_invited_user(stack: Stack, owner: Member, by: Member, role: Role) -> httpx.Response:
    body = invitation(owner, "viewer" if role != "viewer" else "analyst").json()
    return by.patch(f"{ADMIN}/users/{body['id']}", json={"role": role})


def by_letting_back_in(stack: Stack, owner: Member, by: Member, role: Role) -> httpx.Response:
    body = invitation(owner, role).json()
    stack.sql("UPDATE users SET status = 'inactive' WHERE id = %s", [body["id"]])
    return by.patch(f"{ADMIN}/users/{body['id']}", json={"status": "active"})


WAYS = [by_inviting, by_inviting_again, by_changing_an_invited_user, by_letting_back_in]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_key_gives_a_role_that_has_more_than_itself(
    stack: Stack, shared_owner: Member, way: Callable[[Stack, Member, Member, Role], httpx.Response]
) -> None:
    value = 0
    for current in (scopes for scopes in HELD if "admin:users" in scopes):
        by = shared_owner.key(*current)
        for role in ROLES:
            wanted = expected("admin:users", current, SCOPES[role], owner=role == "owner")
            assert done(way(stack, shared_owner, by, role)) == wanted, (sorted(current), role)
            value += wanted
    assert value == 6, "a key that has what a role has may give it"


def test_taking_gives_nothing_and_needs_no_more_than_users(owner: Member) -> None:
    """A key that may do nothing else still shuts a user out, as whoever runs it must.

    It lets nobody back in.
    """
    by, analyst = owner.key("admin:users"), owner.invite("analyst")
    path = f"{ADMIN}/users/{analyst.user_id}"
    assert by.patch(path, json={"full_name": "Renamed"}).status_code == 200
    assert by.patch(path, json={"status": "inactive"}).status_code == 200
    assert not done(by.patch(path, json={"status": "active"}))
    assert not done(by.patch(path, json={"role": "viewer"}))
    assert owner.patch(path, json={"status": "active"}).status_code == 200
    assert by.delete(path).status_code == 204


# Keys ----------------------------------------------------------------------------------------------------------------


def test_no_key_makes_or_rotates_a_key_that_has_more_than_itself(owner: Member) -> None:
    others = {scope: new_key(owner, scope).json()["id"] for scope in KEY_SCOPES}
    for current in (scopes for scopes in HELD if "admin:api-keys" in scopes):
        by = owner.key(*current)
        for scope in KEY_SCOPES:
            wanted = expected("admin:api-keys", current, frozenset({scope}))
            assert done(new_key(by, scope)) == wanted, (sorted(current), scope)
            if not wanted:
                assert not done(by.post(f"{ADMIN}/api-keys/{others[scope]}/rotate", json={})), (sorted(current), scope)
        assert done(new_key(by, *KEY_SCOPES)) == (current == frozenset(KEY_SCOPES)), sorted(current)


# Chains --------------------------------------------------------------------------------------------------------------


def reached(stack: Stack, by: Member) -> list[tuple[frozenset[str], Member]]:
    """Whoever a caller can make, with the scopes that came along.

    Users who joined and logged in, and keys.
    """
    result: list[tuple[frozenset[str], Member]] = []
    for role in ROLES:
        answer = invitation(by, role)
        if done(answer):
            email, token = answer.json()["email"], answer.json()["invitation_token"]
            joined = {"token": token, "password": PASSWORD}
            httpx.post(f"{stack.url}/api/v1/auth/accept-invitation", json=joined, timeout=60).raise_for_status()
            form = {"username": email, "password": PASSWORD}
            tokens = httpx.post(f"{stack.url}/api/v1/auth/login", data=form, timeout=60)
            result.append((SCOPES[role], member(stack.url, tokens.json(), email)))
    for scopes in [*combinations(KEY_SCOPES, 1), KEY_SCOPES]:
        answer = new_key(by, *scopes)
        if done(answer):
            http = httpx.Client(base_url=stack.url, headers={"X-API-Key": answer.json()["key"]}, timeout=60)
            result.append((frozenset(scopes), Member(http, {}, by.email, by.tenant_id, by.user_id)))
    return result


@pytest.mark.parametrize("scope", KEY_SCOPES)
def test_no_chain_leads_from_one_scope_to_another(stack: Stack, owner: Member, scope: str) -> None:
    start = owner.key(scope)
    seen, waiting = {frozenset({scope})}, [start]
    while waiting:
        for scopes, new in reached(stack, waiting.pop()):
            assert scopes <= {scope}, f"a key with {scope} came to {sorted(scopes)}"
            assert (new.get("/api/v1/workbooks").status_code == 200) == (scope == "workbooks:read")
            if scopes not in seen:
                seen.add(scopes)
                waiting.append(new)


def test_the_way_in_that_was_found(stack: Stack, owner: Member) -> None:
    """A key for users invites an analyst, reads the token in the answer, joins, and reads workbooks."""
    assert not done(invitation(owner.key("admin:users"), "analyst"))
    able = owner.key("admin:users", *SCOPES["viewer"])
    assert {scopes for scopes, _ in reached(stack, able)} == {SCOPES["viewer"]}
