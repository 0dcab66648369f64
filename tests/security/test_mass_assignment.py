"""Fields that a request has no business with.

Sent along with every body, form and query, they change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest

from service.platform.route.api import Route
from tests.conftest import PASSWORD, Member, Stack, member, register
from tests.records import ROWS, body_of, each_alone, identity, path_of, quoted, records_of, sent, without_unknown

CHANGING = [row for row in ROWS if row.method in ("POST", "PUT", "PATCH")]
ENDING = {
    "POST /api/v1/auth/logout",
    "POST /api/v1/auth/revoke-all-tokens",
    "POST /api/v1/auth/password/change",
    "POST /api/v1/auth/2fa/enroll",
    "PATCH /api/v1/admin/users/{user_id}",
    "POST /api/v1/admin/users/{user_id}/erase",
    "POST /api/v1/admin/api-keys/{key_id}/rotate",
    "PATCH /api/v1/admin/tenant",
}
"""Endpoints after which the caller or the records are no longer what they were: they get a tenant of their own."""

WITHOUT_CREDENTIALS = {
    f"POST /api/v1/auth/{name}"
    for name in (
        "login",
        "refresh",
        "accept-invitation",
        "password/change",
        "password/reset",
        "2fa/verify",
        "2fa/disable",
    )
} | {"POST /api/v1/admin/tenants", "POST /api/v1/admin/tenant/transfer-ownership"}
"""What the bodies of the tests are refused by: the other calls have their effect, smuggled fields or not."""
CHANGING_PEOPLE = {
    "PATCH /api/v1/admin/users/{user_id}",
    "POST /api/v1/admin/users/{user_id}/erase",
    "POST /api/v1/admin/users/invite",
    "POST /api/v1/auth/revoke-all-tokens",
}


def smuggled(victim: Member, known: set[str]) -> dict[str, Any]:
    """Fields of records, settings and tables, apart from those that the request has."""
    fields = {
        "id": str(uuid4()),
        "tenant_id": victim.tenant_id,
        "tenant": {"id": victim.tenant_id, "subscription_tier": "free"},
        "organization_id": victim.tenant_id,
        "user_id": victim.user_id,
        "created_by": victim.email,
        "creator_id": victim.user_id,
        "created_at": "1999-01-01T00:00:00Z",
        "updated_at": "1999-01-01T00:00:00Z",
        "role": "owner",
        "roles": ["owner"],
        "scopes": ["admin:users"],
        "permissions": ["admin:users"],
        "is_admin": True,
        "is_system": True,
        "system": True,
        "kind": "system",
        "status": "cancelled",
        "subscription_tier": "free",
        "tier": "free",
        "slug": "stolen",
        "email": victim.email,
        "password": "Stolen-Horse-7",
        "password_hash": "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$4wX5cRj0",
        "key": "svc_live_stolen",
        "key_hash": "00" * 32,
        "key_prefix": "svc_live_stol",
        "usage_count": 99,
        "version": 99,
        "gen": 99,
        "token_generation": 99,
        "two_factor_enabled": True,
        "two_factor_secret": "JBSWY3DPEHPK3PXP",
        "removed_at": "1999-01-01T00:00:00Z",
        "deleted_at": "1999-01-01T00:00:00Z",
        "revoked_at": None,
        "replaced_by": str(uuid4()),
        "expires_at": "2999-01-01T00:00:00Z",
        "__proto__": {"role": "owner"},
        "__class__": "Owner",
    }
    return {name: value for name, value in fields.items() if name not in known}


def known_to(row: Route) -> set[str]:
    """The fields of the row's body, form and query, which a request may well change."""
    kinds = [kind for kind in (row.body, row.form, row.query) if kind is not None]
    return {field.encode_name for kind in kinds for field in msgspec.structs.fields(kind)}


def posted(stack: Stack, name: str) -> Callable[[dict[str, Any]], httpx.Response]:
    """What sends a body to an endpoint of authentication."""
    return lambda body: httpx.post(f"{stack.url}/api/v1/auth/{name}", json=body, timeout=60)


def people(stack: Stack, tenant_id: str) -> list[tuple[Any, ...]]:
    """What nobody may give themselves: of the tenant's users, and of the tenant."""
    return stack.sql(
        "SELECT users.id, email, role, users.status, password_hash, token_generation, two_factor_enabled, removed_at, "
        "       tenants.slug, tenants.status, subscription_tier "
        "FROM users JOIN tenants ON tenants.id = tenant_id WHERE tenant_id = %s ORDER BY users.created_at",
        [tenant_id],
    )


def own_record(answer: httpx.Response, extra: dict[str, Any], caller: Member) -> None:
    """The record that was made or changed has no field of what was smuggled in."""
    if answer.status_code >= 300 or "json" not in answer.headers.get("content-type", "") or not answer.content:
        return
    body = answer.json()
    assert isinstance(body, dict)
    for name in ("id", "key", "key_prefix", "slug", "created_at", "usage_count", "tier", "subscription_tier"):
        if name in body and name in extra:
            assert body[name] != extra[name], name
    assert (body.get("tenant_id") or caller.tenant_id) == caller.tenant_id  # null: of a file that is nobody's
    assert body.get("created_by", caller.email) == caller.email


@pytest.fixture(scope="module")
def admin(stack: Stack) -> Member:
    """An admin, who could still rise, of a tenant with records."""
    return register(stack.url).invite("admin")


@pytest.fixture(scope="module")
def records(admin: Member) -> dict[str, str]:
    return records_of(admin)


@pytest.fixture
def caller(stack: Stack, admin: Member, row: Route) -> Member:
    return register(stack.url).invite("admin") if identity(row) in ENDING else admin


@each_alone(CHANGING)
def test_a_body_changes_what_its_row_declares(
    stack: Stack, attacker: Member, caller: Member, admin: Member, records: dict[str, str], row: Route
) -> None:
    extra = smuggled(attacker, known_to(row))
    own = records
    if caller is not admin:
        viewer = caller.invite("viewer")
        own = records | {"user_id": viewer.user_id, "user_email": viewer.email}
    if "key_id" in row.parameters and caller is not admin:
        response = caller.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
        own = own | {"key_id": response.json()["id"]}
    admin.parsed(records["workbook_id"])  # no test before works on it any more
    before, theirs = people(stack, caller.tenant_id), people(stack, attacker.tenant_id)
    path = path_of(row, **quoted(own))
    body = None if row.body is None and row.form is None else body_of(row, own)
    texts = {name: str(value) for name, value in extra.items()}
    if row.form is not None:
        form = dict(list(texts.items())[:20]) | (body or {})
        if row.path.endswith("/login"):  # which takes what OAuth 2 adds
            answer = sent(caller, row, path, form)
        else:
            answer = without_unknown(lambda some: sent(caller, row, path, some), form)
    elif row.body is not None:
        answer = without_unknown(lambda some: sent(caller, row, path, some), extra | (body or {}))
    else:
        answer = caller.http.request(row.method, path, json=extra)
    assert answer.status_code == row.status or identity(row) in WITHOUT_CREDENTIALS, answer.text
    own_record(answer, extra, caller)
    if row.method != "POST" or row.query is None:
        sent(caller, row, path, body, params=texts)
    after = people(stack, caller.tenant_id)
    assert people(stack, attacker.tenant_id) == theirs
    assert identity(row) in CHANGING_PEOPLE or after == before
    assert [user[2] for user in after].count("owner") == 1
    assert {user[8:] for user in after} == {before[0][8:]}


def test_who_registers_founds_their_own_tenant(stack: Stack, attacker: Member) -> None:
    """Of a registration, everything but the four fields is the service's to say."""
    before = people(stack, attacker.tenant_id)
    body = {"email": f"mass-{uuid4().hex[:12]}@example.com", "full_name": "Max Mass", "organization_name": "Mass"}
    extra = smuggled(attacker, {"email", "password"})
    answer = without_unknown(posted(stack, "register"), extra | body | {"password": PASSWORD})
    assert answer.status_code == 201, answer.text
    founded = member(stack.url, answer.json(), body["email"])
    assert founded.tenant_id != attacker.tenant_id
    assert founded.user_id not in (extra["id"], attacker.user_id)
    ((_, email, role, status, _, generation, two_factor, removed, slug, tenant_status, tier),) = people(
        stack, founded.tenant_id
    )
    assert (email, role, status, generation, two_factor, removed) == (body["email"], "owner", "active", 0, False, None)
    assert (slug != "stolen", tenant_status, tier) == (True, "active", "enterprise")
    assert people(stack, attacker.tenant_id) == before


def test_who_is_invited_joins_as_invited(stack: Stack, owner: Member, attacker: Member) -> None:
    email = f"mass-{uuid4().hex[:12]}@example.com"
    invited = without_unknown(
        lambda body: owner.post("/api/v1/admin/users/invite", json=body),
        smuggled(attacker, {"email", "role"}) | {"email": email, "full_name": "Max Mass", "role": "viewer"},
    )
    assert invited.status_code == 201, invited.text
    joined = without_unknown(
        posted(stack, "accept-invitation"),
        smuggled(attacker, {"password"}) | {"token": invited.json()["invitation_token"], "password": PASSWORD},
    )
    assert joined.status_code == 200, joined.text
    who = member(stack.url, joined.json(), email).get("/api/v1/auth/me").json()
    assert (who["tenant_id"], who["role"], who["two_factor_enabled"]) == (owner.tenant_id, "viewer", False)
    assert who["id"] not in (owner.user_id, attacker.user_id)


@pytest.mark.parametrize("field", ["subscription_tier", "status"])
def test_an_owner_does_not_set_what_the_deployment_sets(stack: Stack, owner: Member, field: str) -> None:
    before = people(stack, owner.tenant_id)
    for value in ("free", "standard", "premium", "suspended", "cancelled"):
        answer = owner.patch("/api/v1/admin/tenant", json={field: value, "name": "Changed"})
        assert answer.status_code in (403, 422), answer.text
    assert people(stack, owner.tenant_id) == before
    assert owner.get("/api/v1/admin/tenant").json()["name"] != "Changed"


def test_an_admin_does_not_rise(stack: Stack, owner: Member) -> None:
    admin = owner.invite("admin")
    second = owner.invite("admin")
    before = people(stack, owner.tenant_id)
    for user in (admin, second):
        for change in ({"role": "owner"}, {"role": "owner", "status": "active"}):
            answer = admin.patch(f"/api/v1/admin/users/{user.user_id}", json=change)
            assert answer.status_code == 403, answer.text
    for change in ({"role": "viewer"}, {"status": "inactive"}):
        assert admin.patch(f"/api/v1/admin/users/{owner.user_id}", json=change).status_code == 403
    invitation = {"email": f"mass-{uuid4().hex[:12]}@example.com", "full_name": "Max Mass", "role": "owner"}
    assert admin.post("/api/v1/admin/users/invite", json=invitation).status_code == 403
    assert people(stack, owner.tenant_id) == before


def test_a_key_does_not_rise(owner: Member) -> None:
    """A key that makes keys or invites users hands on no more than it has itself."""
    maker = owner.key("admin:api-keys")
    for scope in ("workbooks:read", "admin:users"):
        answer = maker.post("/api/v1/admin/api-keys", json={"name": "more", "permissions": [scope]})
        assert answer.status_code == 403, answer.text
    admin = owner.invite("admin")
    inviter = admin.key("admin:users")
    body = {"email": f"mass-{uuid4().hex[:12]}@example.com", "full_name": "Max Mass", "role": "owner"}
    assert inviter.post("/api/v1/admin/users/invite", json=body).status_code == 403
    for user, change in ((owner, {"role": "viewer"}), (owner, {"status": "inactive"}), (admin, {"role": "owner"})):
        assert inviter.patch(f"/api/v1/admin/users/{user.user_id}", json=change).status_code == 403
