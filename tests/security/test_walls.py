"""What shuts a caller out shuts them out of every endpoint.

Before the body is read, whatever the role or scope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest

from service.platform.base.caller import KEY_SCOPES
from service.platform.route.api import Route
from tests.conftest import PASSWORD, Member, Stack, register
from tests.records import GUARDED, each, error_of, identity, path_of

TENANT = "/api/v1/admin/tenant"
ENROLLING = {
    "GET /api/v1/auth/me",
    "POST /api/v1/auth/logout",
    "POST /api/v1/auth/2fa/enroll",
    "POST /api/v1/auth/2fa/verify",
}
"""All that a user may do who has yet to enrol."""


@dataclass
class Wall:
    """Somebody who is shut out, and how they are told."""

    caller: Member
    refusal: tuple[int, str, str]
    open_: frozenset[str] = frozenset()


def _set(owner: Member, **settings: object) -> None:
    changed = owner.patch(TENANT, json={"settings": settings, "confirm": True})
    assert changed.status_code == 200, changed.text


def of_a_suspended_tenant(stack: Stack) -> tuple[Member, Member]:
    """An owner who deleted the tenant, and a key of it."""
    owner = register(stack.url)
    key = owner.key(*KEY_SCOPES)
    assert owner.delete(TENANT).status_code == 204
    return owner, key


def of_elsewhere(stack: Stack) -> tuple[Member, Member]:
    owner = register(stack.url)
    key = owner.key(*KEY_SCOPES)
    _set(owner, allowed_ip_ranges=["198.51.100.0/24", "2001:db8::/32"])
    return owner, key


def revoked(stack: Stack) -> tuple[Member, Member]:
    owner = register(stack.url)
    key = owner.key(*KEY_SCOPES)
    items = owner.get("/api/v1/admin/api-keys").json()["items"]
    assert [owner.delete(f"/api/v1/admin/api-keys/{item['id']}").status_code for item in items] == [204]
    assert owner.post("/api/v1/auth/revoke-all-tokens").status_code == 204
    return owner, key


def removed(stack: Stack) -> tuple[Member, Member]:
    owner = register(stack.url)
    admin = owner.invite("admin")
    key = admin.key(*KEY_SCOPES)
    assert owner.delete(f"/api/v1/admin/users/{admin.user_id}").status_code == 204
    return admin, key


def yet_to_enrol(stack: Stack) -> tuple[Member, ...]:
    owner = register(stack.url)
    _set(owner, two_factor_required=True)
    return (owner,)


SUSPENDED = (403, "PERMISSION_DENIED", "Tenant is suspended")
ELSEWHERE = (403, "PERMISSION_DENIED", "IP address not allowed")
TOKEN_GONE = (401, "TOKEN_REVOKED", "Token has been revoked")
KEY_GONE = (401, "AUTHENTICATION_FAILED", "Invalid API key")
MUST_ENROL = (403, "PERMISSION_DENIED", "Two-factor enrolment required")

WALLS: list[tuple[Callable[[Stack], tuple[Member, ...]], list[tuple[int, str, str]]]] = [
    (of_a_suspended_tenant, [SUSPENDED, SUSPENDED]),
    (of_elsewhere, [ELSEWHERE, ELSEWHERE]),
    (revoked, [TOKEN_GONE, KEY_GONE]),
    (removed, [TOKEN_GONE, KEY_GONE]),
    (yet_to_enrol, [MUST_ENROL]),
]


@pytest.fixture(scope="module")
def walls(stack: Stack) -> list[Wall]:
    """Everybody who is shut out: tokens, and keys of every scope."""
    return [
        Wall(caller, refusal, frozenset(ENROLLING) if refusal == MUST_ENROL else frozenset())
        for result, refusals in WALLS
        for caller, refusal in zip(result(stack), refusals, strict=True)
    ]


@each(GUARDED)
def test_who_is_shut_out_is_told_why_by_every_endpoint(walls: list[Wall], row: Route) -> None:
    rubbish = {"content": b"{", "headers": {"content-type": "application/json", "Idempotency-Key": uuid4().hex}}
    for wall in walls:
        if identity(row) in wall.open_:
            continue
        for path, more in ((path_of(row), {}), (path_of(row) + "?page=x&x=%ff", rubbish)):
            answer = wall.caller.http.request(row.method, path, **more)
            body = error_of(answer)
            assert (answer.status_code, body["error_code"], body["detail"]) == wall.refusal, answer.text


@each([row for row in GUARDED if identity(row) in ENROLLING])
def test_who_has_yet_to_enrol_may_do_that_much(stack: Stack, row: Route) -> None:
    (owner,) = yet_to_enrol(stack)
    answer = owner.http.request(row.method, path_of(row))
    assert answer.status_code in (row.status, 422), answer.text


def test_a_wall_leaves_the_open_views_open(stack: Stack, walls: list[Wall]) -> None:
    for wall in walls:
        for path in ("/health", "/health/live", "/openapi.json"):
            assert wall.caller.get(path).status_code == 200


def test_walls_stand_for_every_way_to_a_token(stack: Stack) -> None:
    """No new token goes to a session of a tenant that is gone, or to one from elsewhere."""
    for result, refused in ((of_a_suspended_tenant, SUSPENDED), (of_elsewhere, ELSEWHERE)):
        owner = result(stack)[0]
        answers = [
            httpx.post(stack.url + "/api/v1/auth/refresh", json={"refresh_token": owner.tokens["refresh_token"]}),
            httpx.post(stack.url + "/api/v1/auth/login", data={"username": owner.email, "password": PASSWORD}),
        ]
        for answer in answers:
            body = error_of(answer)
            assert (answer.status_code, body["error_code"], body["detail"]) == refused
