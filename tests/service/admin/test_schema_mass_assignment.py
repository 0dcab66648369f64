"""What a body has no say in stays as it is, whatever the body says of it."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import httpx
import jwt
import pyotp
import pytest

from tests.conftest import PASSWORD, Member, Stack
from tests.records import without_unknown

ADMIN = "/api/v1/admin"
AUTH = "/api/v1/auth"


@pytest.fixture
def foreign(stranger: Member) -> dict[str, Any]:
    """Fields of stored records, each with a value that would help a thief."""
    return {
        "id": str(uuid4()),
        "tenant_id": stranger.tenant_id,
        "user_id": stranger.user_id,
        "sub": stranger.user_id,
        "creator_id": stranger.user_id,
        "created_by": stranger.email,
        "slug": "theirs",
        "version": 99,
        "password_hash": "x",
        "token_generation": 0,
        "two_factor_enabled": True,
        "two_factor_secret": "x",
        "login_count": 99,
        "last_login": "2001-01-01T00:00:00Z",
        "removed_at": "2001-01-01T00:00:00Z",
        "created_at": "2001-01-01T00:00:00Z",
        "updated_at": "2001-01-01T00:00:00Z",
        "key": "svc_live_mine",
        "key_hash": "00" * 32,
        "key_prefix": "svc_live_mine",
        "usage_count": 99,
        "replaced_by": str(uuid4()),
        "token_hash": "00" * 32,
        "invitation_token": "mine",
        "accepted_at": "2001-01-01T00:00:00Z",
        "quotas": {"users": {"used": 0, "limit": 99}},
        "usage": {"users": 0},
        "scopes": ["admin:users"],
        "system": True,
        "kind": "system",
        "audit": False,
    }


RIGHTS = {"role": "owner", "status": "active", "permissions": ["admin:users"], "subscription_tier": "enterprise"}
"""What some bodies do decide."""


def rows(stack: Stack, table: str, member: Member) -> dict[Any, dict[str, Any]]:
    """The rows of a table that belong to a member's tenant, by identifier."""
    column = "id" if table == "tenants" else "tenant_id"
    actual_rows = stack.sql(f"SELECT id, to_jsonb(t) FROM {table} t WHERE {column} = %s", [member.tenant_id])
    return dict(actual_rows)


def differences(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {name for name in after if before[name] != after[name]}


def test_of_the_tenant(stack: Stack, owner: Member, stranger: Member, foreign: dict[str, Any]) -> None:
    (before,), theirs = rows(stack, "tenants", owner).values(), rows(stack, "tenants", stranger)
    body = {**foreign, **RIGHTS, "name": "New", "settings": {"tier": "x", "max_storage_gb": 9}}
    assert without_unknown(lambda some: owner.patch(f"{ADMIN}/tenant", json=some), body).status_code == 200
    (after,) = rows(stack, "tenants", owner).values()
    assert differences(before, after) == {"name", "version", "updated_at"}
    assert after["version"] == before["version"] + 1
    assert rows(stack, "tenants", stranger) == theirs


def test_of_a_user(stack: Stack, owner: Member, stranger: Member, foreign: dict[str, Any]) -> None:
    analyst = owner.invite("analyst")
    before, theirs = rows(stack, "users", owner), rows(stack, "users", stranger)
    body = {**foreign, "email": "thief@example.com", "permissions": ["*"], "full_name": "New"}
    path = f"{ADMIN}/users/{analyst.user_id}"
    assert without_unknown(lambda some: owner.patch(path, json=some), body).status_code == 200
    after = rows(stack, "users", owner)
    changed = {str(key): differences(before[key], after[key]) for key in after}
    assert changed == {owner.user_id: set(), analyst.user_id: {"full_name", "updated_at"}}
    assert rows(stack, "users", stranger) == theirs


def test_of_an_invitation(stack: Stack, owner: Member, foreign: dict[str, Any]) -> None:
    address = f"n-{uuid4().hex}@example.com"
    body = {**foreign, "status": "active", "email": address, "full_name": "N", "role": "viewer"}
    answer = without_unknown(lambda some: owner.post(f"{ADMIN}/users/invite", json=some), body)
    assert answer.status_code == 201
    assert answer.json()["id"] != foreign["id"]
    assert answer.json()["invitation_token"] != "mine"
    (user,) = (row for row in rows(stack, "users", owner).values() if row["email"] == address)
    assert (user["role"], user["status"], user["login_count"], user["password_hash"], user["two_factor_enabled"]) == (
        "viewer",
        "invited",
        0,
        None,
        False,
    )
    (invitation,) = rows(stack, "invitations", owner).values()
    assert (invitation["accepted_at"], invitation["created_by"]) == (None, owner.email)
    body = {**foreign, **RIGHTS, "email": "thief@example.com"}
    body |= {"token": answer.json()["invitation_token"], "password": PASSWORD}
    assert without_unknown(lambda some: owner.post(f"{AUTH}/accept-invitation", json=some), body).status_code == 200
    joined = rows(stack, "users", owner)[UUID(user["id"])]
    assert (joined["role"], joined["email"], joined["tenant_id"]) == ("viewer", address, owner.tenant_id)


def test_of_a_key(stack: Stack, owner: Member, foreign: dict[str, Any]) -> None:
    body = {**foreign, "role": "owner", "status": "revoked", "name": "key", "permissions": ["workbooks:read"]}
    key = without_unknown(lambda some: owner.post(f"{ADMIN}/api-keys", json=some), body).json()
    before = rows(stack, "api_keys", owner)[UUID(key["id"])]
    assert (before["status"], before["creator_id"], before["created_by"], before["usage_count"]) == (
        "active",
        owner.user_id,
        owner.email,
        0,
    )
    assert (before["replaced_by"], key["key"] == foreign["key"]) == (None, False)
    with httpx.Client(base_url=stack.url, headers={"X-API-Key": foreign["key"]}) as thief:
        assert thief.get(f"{AUTH}/me").status_code == 401
    body = {**foreign, **RIGHTS, "name": "Other", "environment": "test", "expires_at": "2090-01-01"}
    path = f"{ADMIN}/api-keys/{key['id']}/rotate"
    rotated = without_unknown(lambda some: owner.post(path, json=some), {**body, "grace_period_hours": 1}).json()
    kept = rows(stack, "api_keys", owner)
    assert differences(before, kept[UUID(key["id"])]) == {"status", "expires_at", "replaced_by"}
    new = kept[UUID(rotated["new_key"]["id"])]
    assert differences(before, new) == {"id", "key_hash", "key_prefix", "created_at"}


def test_of_a_registration_and_a_login(stack: Stack, owner: Member, foreign: dict[str, Any]) -> None:
    address = f"n-{uuid4().hex}@example.com"
    who = {"email": address, "password": PASSWORD, "full_name": "N", "organization_name": "Org"}
    answer = without_unknown(
        lambda some: httpx.post(f"{stack.url}{AUTH}/register", json=some, timeout=60),
        {**who, **foreign, "role": "viewer", "status": "inactive", "subscription_tier": "free"},
    )
    assert answer.status_code == 201
    claims = jwt.decode(answer.json()["access_token"], options={"verify_signature": False})
    assert claims["role"] == "owner"
    assert claims["tenant_id"] not in (owner.tenant_id, foreign["tenant_id"])
    ((row, tier),) = stack.sql(
        "SELECT to_jsonb(u), t.subscription_tier FROM users u JOIN tenants t ON t.id = u.tenant_id WHERE u.id = %s",
        [claims["sub"]],
    )
    assert (row["role"], row["status"], row["login_count"], row["two_factor_enabled"], tier) == (
        "owner",
        "active",
        1,
        False,
        "enterprise",
    )
    form = {name: foreign[name] for name in ("tenant_id", "user_id", "sub")}  # a form has few fields
    login = httpx.post(
        f"{stack.url}{AUTH}/login",
        data={**form, "role": "owner", "username": owner.email, "password": PASSWORD},
        timeout=60,
    )
    again = without_unknown(
        lambda some: httpx.post(f"{stack.url}{AUTH}/refresh", json=some, timeout=60),
        {**foreign, "role": "viewer", "refresh_token": login.json()["refresh_token"]},
    )
    for tokens in (login.json(), again.json()):
        claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
        assert (claims["sub"], claims["tenant_id"], claims["role"]) == (owner.user_id, owner.tenant_id, "owner")


def test_of_ones_own_credentials(stack: Stack, owner: Member, stranger: Member, foreign: dict[str, Any]) -> None:
    analyst = owner.invite("analyst")
    theirs, ours = rows(stack, "users", stranger), rows(stack, "users", owner)
    body = {**foreign, **RIGHTS, "current_password": PASSWORD, "new_password": "Another-Horse-8"}
    assert without_unknown(lambda some: analyst.post(f"{AUTH}/password/change", json=some), body).status_code == 204
    secret = analyst.post(f"{AUTH}/2fa/enroll", json={**foreign, **RIGHTS}).json()["secret"]
    body = {**foreign, **RIGHTS, "code": pyotp.TOTP(secret).now()}
    assert without_unknown(lambda some: analyst.post(f"{AUTH}/2fa/verify", json=some), body).status_code == 200
    assert rows(stack, "users", stranger) == theirs
    after = rows(stack, "users", owner)
    changed = {str(key): differences(ours[key], after[key]) for key in after}
    assert changed.pop(owner.user_id) == set()
    assert changed.pop(analyst.user_id) - {"updated_at"} == {
        "password_hash",
        "two_factor_enabled",
        "two_factor_secret",
        "two_factor_step",
    }
    assert not changed
