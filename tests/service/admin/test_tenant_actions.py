"""Tenants by the deployment's own key, and ownership that passes on.

Whole, at once, audited, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import PASSWORD, Member, Stack, member, register
from tests.rows import every

TENANTS = "/api/v1/admin/tenants"
TRANSFER = "/api/v1/admin/tenant/transfer-ownership"
SECRET = "the deployment's own key, forty letters!"


@pytest.fixture(scope="module")
def run_by(stack: Stack) -> Iterator[str]:
    with stack.another_api(CUSHION_SYSTEM_API_KEY=SECRET, CUSHION_OPERATOR_TENANTS="the-operators") as url:
        yield url


@pytest.fixture(scope="module")
def system(run_by: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=run_by, headers={"X-API-Key": SECRET}, timeout=60) as http:
        yield http


def wanted(**more: Any) -> dict[str, Any]:
    owner = f"owner-{uuid4().hex[:12]}@example.com"
    return {"name": "Ridge Capital", "owner_email": owner, "owner_full_name": "Ona Ridge", **more}


def events(stack: Stack, tenant_id: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT action, user_email, resource_id, details FROM audit_log WHERE tenant_id = %s ORDER BY sequence",
        [tenant_id],
    )


def test_a_tenant_is_made_and_its_owner_joins(stack: Stack, system: httpx.Client, run_by: str) -> None:
    slug = f"ridge-{uuid4().hex[:8]}"
    body = wanted(slug=slug, subscription_tier="premium", settings={"timezone": "Europe/Paris", "max_users": 3})
    response = system.post(TENANTS, json=body)
    assert response.status_code == 201, response.text
    tenant, owner = response.json()["tenant"], response.json()["owner"]
    assert (tenant["name"], tenant["slug"], tenant["subscription_tier"]) == ("Ridge Capital", slug, "premium")
    assert (tenant["status"], tenant["settings"]["timezone"], tenant["usage"]["users"]) == ("active", "Europe/Paris", 1)
    assert (owner["role"], owner["status"], owner["email"]) == ("owner", "pending", body["owner_email"])
    details = {"subscription_tier": "premium", "owner": body["owner_email"]}
    assert events(stack, tenant["id"]) == [("tenant.created", "system", tenant["id"], details)]
    token = {"token": owner["invitation_token"], "password": PASSWORD}
    joined = httpx.post(run_by + "/api/v1/auth/accept-invitation", json=token)
    assert joined.status_code == 200, joined.text
    founder = member(run_by, joined.json(), body["owner_email"])
    mine = founder.get("/api/v1/admin/tenant").json()
    assert (mine["id"], mine["quotas"]["users"]["limit"]) == (tenant["id"], 3)
    assert founder.get("/api/v1/auth/me").json()["role"] == "owner"


def test_what_is_unset_is_as_with_a_registration(system: httpx.Client, owner: Member) -> None:
    first, second = (system.post(TENANTS, json=wanted(name="  Ünset Ltd. ")).json()["tenant"] for _ in range(2))
    assert first["slug"].startswith("unset-ltd")
    assert first["slug"] != second["slug"]
    assert first["subscription_tier"] == owner.get("/api/v1/admin/tenant").json()["subscription_tier"]


def test_duplicates_are_refused_and_leave_nothing(stack: Stack, system: httpx.Client, owner: Member) -> None:
    slug = f"taken-{uuid4().hex[:8]}"
    assert system.post(TENANTS, json=wanted(slug=slug)).status_code == 201
    before = stack.sql("SELECT count(*) FROM tenants")
    for body, words in (
        (wanted(slug=slug), "Tenant slug already exists"),
        (wanted(slug="the-operators"), "Tenant slug already exists"),
        (wanted(owner_email=owner.email.upper()), "User already exists"),
    ):
        answer = system.post(TENANTS, json=body)
        assert (answer.status_code, answer.json()["detail"]) == (409, words)
    assert stack.sql("SELECT count(*) FROM tenants") == before


def test_two_who_want_one_slug(system: httpx.Client) -> None:
    slug = f"race-{uuid4().hex[:8]}"
    with ThreadPoolExecutor(6) as pool:
        codes = [
            item.status_code for item in pool.map(lambda _: system.post(TENANTS, json=wanted(slug=slug)), range(6))
        ]
    assert sorted(codes) == [201, *[409] * 5]


def test_a_repetition_makes_no_second_tenant_and_shows_no_token(stack: Stack, system: httpx.Client) -> None:
    body, headers = wanted(), {"Idempotency-Key": f"tenant-{uuid4()}"}
    first, again = (system.post(TENANTS, json=body, headers=headers) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 409)
    assert again.json()["detail"] == "Already processed"
    assert "no-store" in first.headers["cache-control"]
    rows = stack.sql("SELECT count(*) FROM users WHERE email = %s", [body["owner_email"]])
    assert rows == [(1,)]


def test_who_may_not_make_tenants(run_by: str, system: httpx.Client, owner: Member) -> None:
    for headers in (
        {"Authorization": f"Bearer {owner.tokens['access_token']}"},
        {"X-API-Key": owner.key("admin:users").http.headers["x-api-key"]},
    ):
        assert httpx.post(run_by + TENANTS, json=wanted(), headers=headers).status_code == 403
    named = system.post(TENANTS, json=wanted(), headers={"X-Tenant-ID": owner.tenant_id})
    assert named.status_code == 422
    assert named.json()["errors"][0]["loc"] == ["header", "x-tenant-id"]


@every(
    "more",
    [
        {"slug": "Upper"},
        {"slug": "-a"},
        {"slug": "a--b"},
        {"slug": "a\n"},
        {"slug": "a" * 61},
        {"slug": ""},
        {"name": " "},
        {"name": "n" * 201},
        {"owner_email": "nobody"},
        {"owner_email": "a@b.example\r\nBcc: x@y.example"},
        {"owner_full_name": ""},
        {"subscription_tier": "gold"},
        {"settings": {"timezone": "Nowhere/At All"}},
    ],
)
def test_what_is_no_tenant_is_refused(system: httpx.Client, more: dict[str, Any]) -> None:
    assert system.post(TENANTS, json=wanted(**more)).status_code == 422


def role_of(stack: Stack, who: Member) -> str:
    return str(stack.sql("SELECT role FROM users WHERE id = %s", [who.user_id])[0][0])


def test_ownership_passes_on(stack: Stack, owner: Member) -> None:
    heir = owner.invite("analyst")
    answer = owner.post(TRANSFER, json={"user_id": heir.user_id})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["owner"]["id"], body["owner"]["role"]) == (heir.user_id, "owner")
    assert [(former_owner["id"], former_owner["role"]) for former_owner in body["former_owners"]] == [
        (owner.user_id, "admin")
    ]
    assert (role_of(stack, heir), role_of(stack, owner)) == ("owner", "admin")
    for ended in (owner, heir):  # tokens that say the old role
        assert ended.get("/api/v1/auth/me").status_code == 401
    actual_events = [event for event in events(stack, owner.tenant_id) if event[0] == "tenant.ownership_transferred"]
    assert actual_events == [
        ("tenant.ownership_transferred", owner.email, heir.user_id, {"former_owners": [owner.user_id]})
    ]


def test_the_system_key_passes_it_on_from_all_owners(stack: Stack, system: httpx.Client, owner: Member) -> None:
    second, heir = owner.invite("owner"), owner.invite("viewer")
    answer = system.post(TRANSFER, json={"user_id": heir.user_id}, headers={"X-Tenant-ID": owner.tenant_id})
    assert answer.status_code == 200, answer.text
    assert {former_owner["id"] for former_owner in answer.json()["former_owners"]} == {owner.user_id, second.user_id}
    assert [role_of(stack, item) for item in (owner, second, heir)] == ["admin", "admin", "owner"]


def test_a_co_owner_stays_one(stack: Stack, owner: Member) -> None:
    second, heir = owner.invite("owner"), owner.invite("viewer")
    assert owner.post(TRANSFER, json={"user_id": heir.user_id}).status_code == 200
    assert [role_of(stack, item) for item in (owner, second, heir)] == ["admin", "owner", "owner"]


def test_who_cannot_become_owner(stack: Stack, owner: Member, system: httpx.Client) -> None:
    idle, removed = owner.invite("admin"), owner.invite("admin")
    assert owner.patch(f"/api/v1/admin/users/{idle.user_id}", json={"status": "inactive"}).status_code == 200
    assert owner.delete(f"/api/v1/admin/users/{removed.user_id}").status_code == 204
    invite = {"email": f"late-{uuid4().hex[:12]}@example.com", "full_name": "Late", "role": "viewer"}
    invited = owner.post("/api/v1/admin/users/invite", json=invite).json()["id"]
    stranger = register(stack.url)
    for user_id, status in (
        (idle.user_id, 409),
        (invited, 409),
        (owner.user_id, 409),
        (removed.user_id, 404),
        (stranger.user_id, 404),
        (str(uuid4()), 404),
        ("nobody", 422),
    ):
        assert owner.post(TRANSFER, json={"user_id": user_id}).status_code == status, user_id
        in_tenant = {"X-Tenant-ID": owner.tenant_id}
        assert system.post(TRANSFER, json={"user_id": user_id}, headers=in_tenant).status_code == status, user_id
    assert role_of(stack, owner) == "owner"
    assert owner.get("/api/v1/auth/me").status_code == 200


def test_of_two_transfers_at_once_one_comes_first(stack: Stack, owner: Member) -> None:
    heirs = [owner.invite("admin") for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda heir: owner.post(TRANSFER, json={"user_id": heir.user_id}), heirs)
        codes = [answer.status_code for answer in answers]
    assert codes.count(200) == 1
    assert set(codes) <= {200, 401, 403}
    assert sorted(role_of(stack, item) for item in (owner, *heirs)) == ["admin"] * 4 + ["owner"]
