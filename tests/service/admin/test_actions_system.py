"""The deployment's own key and its operators in other people's tenants.

What they may set there, and what not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.conftest import Member, Stack, register
from tests.service.auth.conftest import refused

ADMIN = "/api/v1/admin"
TENANT = f"{ADMIN}/tenant"
ME = "/api/v1/auth/me"
SECRET = "the deployment's own key, forty letters!"
DENIED = (403, "Insufficient permissions", "PERMISSION_DENIED")
SUSPENDED = (403, "Tenant is suspended", "PERMISSION_DENIED")


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Member:
    """The owner of the tenant that runs the deployment."""
    return register(stack.url, organization=f"Operators {uuid4().hex[:8]}")


@pytest.fixture(scope="module")
def run_by(stack: Stack, operator: Member) -> Iterator[str]:
    """The URL of an API that knows the system key and its operators."""
    slug = operator.get(TENANT).json()["slug"]
    with stack.another_api(CUSHION_SYSTEM_API_KEY=SECRET, CUSHION_OPERATOR_TENANTS=slug) as url:
        yield url


def client(run_by: str, owner: Member, **credentials: str) -> httpx.Client:
    return httpx.Client(base_url=run_by, headers={**credentials, "X-Tenant-ID": owner.tenant_id}, timeout=60)


@pytest.fixture
def system(run_by: str, owner: Member) -> Iterator[httpx.Client]:
    """The deployment's own key in the owner's tenant."""
    with client(run_by, owner, **{"X-API-Key": SECRET}) as http:
        yield http


@pytest.fixture
def operated(run_by: str, owner: Member, operator: Member) -> Iterator[httpx.Client]:
    """An operator in the owner's tenant."""
    with client(run_by, owner, Authorization=f"Bearer {operator.tokens['access_token']}") as http:
        yield http


def events(stack: Stack, owner: Member, action: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT user_id, user_email, details FROM audit_log WHERE tenant_id = %s AND action = %s ORDER BY occurred_at",
        [owner.tenant_id, action],
    )


def test_a_deleted_tenant_comes_back_within_its_grace_only(stack: Stack, owner: Member, system: httpx.Client) -> None:
    for days, status in ((29, 200), (31, 409)):
        owner.delete(TENANT).raise_for_status()
        stack.sql(
            "UPDATE tenants SET cancelled_at = now() - make_interval(days => %s) WHERE id = %s", [days, owner.tenant_id]
        )
        answer = system.patch(TENANT, json={"status": "active"})
        assert answer.status_code == status, answer.text
    assert answer.json()["detail"] == "The days in which the tenant could come back are over"


def test_the_system_key_suspends_and_lets_in_again(stack: Stack, owner: Member, system: httpx.Client) -> None:
    key = owner.key("workbooks:read")
    assert owner.get(ME).status_code == key.get(ME).status_code == 200
    for status in ("suspended", "active", "cancelled", "active"):
        answer = system.patch(TENANT, json={"status": status})
        assert (answer.status_code, answer.json()["status"]) == (200, status)
        for member in (owner, key):
            response = member.get(ME)
            assert response.status_code == 200 if status == "active" else refused(response) == SUSPENDED
    assert events(stack, owner, "tenant.updated")[0] == (
        None,
        "system",
        {"changed": ["status"], "status": {"old": "active", "new": "suspended"}},
    )


def test_the_system_key_sets_the_tier(stack: Stack, owner: Member, system: httpx.Client) -> None:
    name = owner.get(TENANT).json()["name"]
    answer = system.patch(TENANT, json={"subscription_tier": "standard", "name": "Smaller"})
    assert (answer.status_code, answer.json()["subscription_tier"]) == (200, "standard")
    assert answer.json()["quotas"]["workbooks"]["limit"] == 25
    tenant = owner.get(TENANT).json()
    assert (tenant["subscription_tier"], tenant["name"], tenant["quotas"]["calculations"]["limit"]) == (
        "standard",
        "Smaller",
        1000,
    )
    assert refused(owner.get(f"{ADMIN}/audit-logs"))[:2] == (403, "Enterprise tier required"), "at once"
    assert [details for *_, details in events(stack, owner, "tenant.updated")] == [
        {
            "changed": ["name", "subscription_tier"],
            "name": {"old": name, "new": "Smaller"},
            "subscription_tier": {"old": "enterprise", "new": "standard"},
        }
    ]


def test_a_stale_change_of_the_system_key_is_refused(owner: Member, system: httpx.Client) -> None:
    seen = system.get(TENANT).headers["etag"]
    owner.patch(TENANT, json={"name": "Meanwhile"}).raise_for_status()
    answer = system.patch(TENANT, json={"status": "suspended"}, headers={"If-Match": seen})
    assert refused(answer) == (409, "Concurrent modification", "CONFLICT")
    assert owner.get(ME).status_code == 200


def test_the_system_key_manages_users(stack: Stack, owner: Member, system: httpx.Client) -> None:
    email = f"n-{uuid4().hex}@example.com"
    invited = system.post(f"{ADMIN}/users/invite", json={"email": email, "full_name": "N", "role": "owner"})
    assert invited.status_code == 201, invited.text
    assert stack.sql("SELECT created_by FROM invitations WHERE id = %s", [invited.json()["id"]]) == [("system",)]
    assert events(stack, owner, "user.invited")[0][:2] == (None, "system")
    user = system.get(f"{ADMIN}/users?search={email}").json()["items"][0]
    assert system.get(f"{ADMIN}/users/{user['id']}").json()["role"] == "owner"
    assert refused(system.delete(f"{ADMIN}/users/{user['id']}"))[1] == "Cannot remove owner"
    assert system.patch(f"{ADMIN}/users/{user['id']}", json={"role": "viewer"}).status_code == 200
    assert system.delete(f"{ADMIN}/users/{user['id']}").status_code == 204
    last = system.patch(f"{ADMIN}/users/{owner.user_id}", json={"role": "viewer"})
    assert refused(last) == (403, "Cannot demote the last owner", "PERMISSION_DENIED")


@pytest.mark.parametrize("who", ["system", "operated"])
def test_who_is_no_user_of_the_tenant_makes_no_keys_and_does_not_delete_it(
    owner: Member, who: str, request: pytest.FixtureRequest
) -> None:
    http: httpx.Client = request.getfixturevalue(who)
    key = owner.post(f"{ADMIN}/api-keys", json={"name": "key", "permissions": ["workbooks:read"]}).json()
    response = http.post(f"{ADMIN}/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})
    assert refused(response) == DENIED
    assert refused(http.post(f"{ADMIN}/api-keys/{key['id']}/rotate", json={})) == DENIED
    assert refused(http.delete(TENANT)) == DENIED
    assert [item["status"] for item in http.get(f"{ADMIN}/api-keys").json()["items"]] == ["active"]
    assert http.delete(f"{ADMIN}/api-keys/{key['id']}").status_code == 204


def test_an_operator_administers_yet_sets_neither_tier_nor_status(
    stack: Stack, owner: Member, operator: Member, operated: httpx.Client
) -> None:
    before = owner.get(TENANT).json()["name"]
    renamed = operated.patch(TENANT, json={"name": "By an operator", "status": "active"})
    assert (renamed.status_code, renamed.json()["id"]) == (200, owner.tenant_id)
    for fields in ({"status": "suspended"}, {"subscription_tier": "free"}):
        assert refused(operated.patch(TENANT, json=fields)) == DENIED
    answer = {"changed": ["name"], "name": {"old": before, "new": "By an operator"}}
    assert events(stack, owner, "tenant.updated") == [(UUID(operator.user_id), operator.email, answer)]
    second = owner.invite("owner")
    assert refused(operated.patch(f"{ADMIN}/users/{second.user_id}", json={"role": "viewer"})) == DENIED
    analyst = owner.invite("analyst")
    assert operated.delete(f"{ADMIN}/users/{analyst.user_id}").status_code == 204
    assert analyst.get(ME).status_code == 401


def test_the_operators_own_tenant_is_theirs_alone(run_by: str, owner: Member, operator: Member) -> None:
    with client(run_by, operator, Authorization=f"Bearer {owner.tokens['access_token']}") as http:
        assert refused(http.get(TENANT)) == DENIED
        assert refused(http.patch(TENANT, json={"name": "Taken"})) == DENIED
