"""Callers beyond their own tenant, and where and how a tenant lets its users call: asked over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import PASSWORD, Member, Stack, register

SYSTEM_KEY = "svc_system_0123456789abcdef0123456789abcdef"
TENANT = "/api/v1/admin/tenant"


@dataclass
class Operated:
    """An API with a system key and one operator tenant, and that tenant's owner."""

    url: str
    operator: Member
    stack: Stack

    def request(self, method: str, path: str, caller: Member | None, tenant: str | None, **more: Any) -> httpx.Response:
        """As the caller, or with the system key, in a tenant."""
        who = {"Authorization": caller.http.headers["authorization"]} if caller else {"X-API-Key": SYSTEM_KEY}
        where = {} if tenant is None else {"X-Tenant-ID": tenant}
        return httpx.request(method, self.url + path, headers={**who, **where}, timeout=60, **more)


@pytest.fixture(scope="module")
def operated(stack: Stack) -> Iterator[Operated]:
    operator = register(stack.url)
    slug = operator.get(TENANT).json()["slug"]
    with stack.another_api(CUSHION_SYSTEM_API_KEY=SYSTEM_KEY, CUSHION_OPERATOR_TENANTS=f"nobody, {slug}") as url:
        yield Operated(url, operator, stack)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["detail"]


FORBIDDEN = (403, "Insufficient permissions")


# The system key -----------------------------------------------------------------------------------------------------


def test_the_system_key_administers_the_tenant_that_it_names(operated: Operated, owner: Member) -> None:
    seen = operated.request("GET", TENANT, None, owner.tenant_id)
    assert (seen.status_code, seen.json()["id"]) == (200, owner.tenant_id)
    users = operated.request("GET", "/api/v1/admin/users", None, owner.tenant_id)
    assert [user["email"] for user in users.json()["items"]] == [owner.email]


def test_the_system_key_names_a_tenant(operated: Operated) -> None:
    answer = operated.request("GET", TENANT, None, None)
    assert refusal(answer) == (422, "Validation error")
    assert answer.json()["errors"][0]["loc"] == ["header", "x-tenant-id"]
    for unknown in (str(uuid4()), "x", "", "%00"):
        assert refusal(operated.request("GET", TENANT, None, unknown)) == (404, "Tenant not found")


def test_the_system_key_sees_nobodys_data(operated: Operated, owner: Member) -> None:
    for path in ("/api/v1/workbooks", "/api/v1/mappings", "/api/v1/auth/me", "/api/v1/activity"):
        assert refusal(operated.request("GET", path, None, owner.tenant_id)) == FORBIDDEN
    for path in ("/api/v1/auth/logout", "/api/v1/auth/2fa/enroll"):
        assert refusal(operated.request("POST", path, None, owner.tenant_id)) == FORBIDDEN
    assert refusal(operated.request("DELETE", TENANT, None, owner.tenant_id)) == FORBIDDEN


def test_the_system_key_changes_tier_and_status(operated: Operated, owner: Member) -> None:
    changed = operated.request(
        "PATCH", TENANT, None, owner.tenant_id, json={"subscription_tier": "standard", "status": "suspended"}
    )
    assert changed.status_code == 200, changed.text
    assert (changed.json()["subscription_tier"], changed.json()["status"]) == ("standard", "suspended")
    assert refusal(owner.get(TENANT)) == (403, "Tenant is suspended")
    back = operated.request("PATCH", TENANT, None, owner.tenant_id, json={"status": "active"})
    assert back.json()["status"] == "active"
    assert owner.get(TENANT).json()["subscription_tier"] == "standard"
    rows = operated.stack.sql(
        "SELECT user_id, user_email FROM audit_log WHERE tenant_id = %s AND action = 'tenant.updated'",
        [owner.tenant_id],
    )
    assert rows == [(None, "system")] * 2


def test_without_the_setting_there_is_no_system_key(owner: Member) -> None:
    answer = httpx.get(
        str(owner.http.base_url.join(TENANT)), headers={"X-API-Key": SYSTEM_KEY, "X-Tenant-ID": owner.tenant_id}
    )
    assert refusal(answer) == (401, "Invalid API key")


@pytest.mark.parametrize("key", [SYSTEM_KEY[:-1], SYSTEM_KEY + "0", SYSTEM_KEY.upper(), f"{SYSTEM_KEY} x"])
def test_what_is_nearly_the_system_key(operated: Operated, owner: Member, key: str) -> None:
    answer = httpx.get(operated.url + TENANT, headers={"X-API-Key": key, "X-Tenant-ID": owner.tenant_id})
    assert refusal(answer) == (401, "Invalid API key")


# Operators ----------------------------------------------------------------------------------------------------------


def test_an_operators_admins_work_in_another_tenant(operated: Operated, owner: Member) -> None:
    admin = operated.operator.invite("admin")
    for caller in (operated.operator, admin):
        seen = operated.request("GET", TENANT, caller, owner.tenant_id)
        assert (seen.status_code, seen.json()["id"]) == (200, owner.tenant_id)
    result = operated.request("POST", "/api/v1/mappings", operated.operator, owner.tenant_id, json=_mapping())
    assert result.status_code == 201, result.text
    assert result.json()["created_by"] == operated.operator.email
    assert owner.get("/api/v1/mappings").json()["total"] == 1
    assert operated.operator.get("/api/v1/mappings").json()["total"] == 0
    rows = operated.stack.sql(
        "SELECT user_id::text, user_email FROM audit_log WHERE tenant_id = %s AND action = 'mapping.created'",
        [owner.tenant_id],
    )
    assert rows == [(operated.operator.user_id, operated.operator.email)]


def _mapping() -> dict[str, Any]:
    columns = {"ID": {"target": "id", "type": "string", "required": False, "aliases": []}}
    return {"name": "Operated", "source_type": "custom", "mappings": columns}


def test_an_operator_is_no_owner_there(operated: Operated, owner: Member) -> None:
    def call(method: str, path: str, **more: Any) -> tuple[int, str]:
        return refusal(operated.request(method, path, operated.operator, owner.tenant_id, **more))

    assert call("DELETE", TENANT) == FORBIDDEN
    assert call("PATCH", f"/api/v1/admin/users/{owner.user_id}", json={"role": "viewer"}) == FORBIDDEN
    assert call("PATCH", TENANT, json={"subscription_tier": "premium"}) == FORBIDDEN
    assert call("POST", "/api/v1/auth/revoke-all-tokens") == FORBIDDEN
    assert call("GET", "/api/v1/auth/me") == FORBIDDEN
    keys = {"name": "key", "permissions": ["workbooks:read"]}
    assert call("POST", "/api/v1/admin/api-keys", json=keys) == FORBIDDEN


def test_the_others_of_an_operator_tenant_stay_at_home(operated: Operated, owner: Member) -> None:
    for role in ("analyst", "viewer"):
        second = operated.operator.invite(role)
        assert refusal(operated.request("GET", "/api/v1/workbooks", second, owner.tenant_id)) == FORBIDDEN
    key = operated.operator.post("/api/v1/admin/api-keys", json={"name": "k", "permissions": ["workbooks:read"]})
    headers = {"X-API-Key": key.json()["key"], "X-Tenant-ID": owner.tenant_id}
    assert refusal(httpx.get(operated.url + "/api/v1/workbooks", headers=headers)) == FORBIDDEN


def test_no_other_tenant_reaches_across(operated: Operated, owner: Member, stranger: Member) -> None:
    for unknown in (owner.tenant_id, str(uuid4()), "x", ""):
        assert refusal(operated.request("GET", TENANT, stranger, unknown)) == FORBIDDEN


def test_an_operator_names_a_tenant_that_is_none(operated: Operated) -> None:
    for unknown in (str(uuid4()), "x"):
        assert refusal(operated.request("GET", TENANT, operated.operator, unknown)) == (404, "Tenant not found")


# Where from ---------------------------------------------------------------------------------------------------------


def _allow(owner: Member, *ranges: str) -> None:
    answer = owner.patch(TENANT, json={"settings": {"allowed_ip_ranges": list(ranges)}, "confirm": True})
    assert answer.status_code == 200, answer.text


def test_a_tenant_lets_in_who_calls_from_its_addresses(operated: Operated, owner: Member) -> None:
    key = owner.key("workbooks:read")
    _allow(owner, "127.0.0.0/8", "2001:db8::/32")
    assert owner.get(TENANT).status_code == 200
    _allow(owner, "10.0.0.0/8")
    blocked = (403, "IP address not allowed")
    assert refusal(owner.get(TENANT)) == blocked
    assert refusal(key.get("/api/v1/workbooks")) == blocked
    login = owner.http.post("/api/v1/auth/login", data={"username": owner.email, "password": PASSWORD})
    assert refusal(login) == blocked
    refresh = owner.post("/api/v1/auth/refresh", json={"refresh_token": owner.tokens["refresh_token"]})
    assert refusal(refresh) == blocked
    opened = operated.request("PATCH", TENANT, None, owner.tenant_id, json={"settings": {"allowed_ip_ranges": []}})
    assert opened.status_code == 200
    assert owner.get(TENANT).status_code == 200


def test_behind_a_trusted_proxy_the_callers_own_address_counts(stack: Stack, owner: Member) -> None:
    _allow(owner, "203.0.113.0/24", "2001:db8::/32")
    bearer = {"Authorization": owner.http.headers["authorization"]}
    forwarded = {
        "203.0.113.7": 200,
        "198.51.100.1, 203.0.113.7": 200,
        "203.0.113.7, 198.51.100.1": 403,  # the last hop is who called the proxy; what stands before it is hearsay
        "2001:db8::1": 200,
        "::ffff:203.0.113.7": 200,
        "2001:db9::1": 403,
        "nonsense": 403,
        "": 403,
    }
    with stack.another_api(CUSHION_TRUSTED_PROXIES="127.0.0.1/32") as url:
        for hops, status in forwarded.items():
            answer = httpx.get(url + TENANT, headers={**bearer, "X-Forwarded-For": hops})
            assert answer.status_code == status, (hops, answer.text)
    spoofed = owner.get(TENANT, headers={"X-Forwarded-For": "203.0.113.7"})
    assert refusal(spoofed) == (403, "IP address not allowed")


# How: two-factor required -------------------------------------------------------------------------------------------


def test_who_has_yet_to_enrol_may_only_do_that(owner: Member) -> None:
    analyst, key = owner.invite("analyst"), owner.key("workbooks:read")
    assert owner.patch(TENANT, json={"settings": {"two_factor_required": True}}).status_code == 200
    wanted = (403, "Two-factor enrolment required")
    for member in (owner, analyst):
        assert refusal(member.get("/api/v1/workbooks")) == wanted
        assert refusal(member.post("/api/v1/auth/password/change", json={})) == wanted
        assert member.get("/api/v1/auth/me").status_code == 200
    assert key.get("/api/v1/workbooks").status_code == 200, "a key has no second factor"
    assert analyst.post("/api/v1/auth/2fa/enroll").status_code == 200
    assert analyst.post("/api/v1/auth/logout").status_code == 204


# Limits -------------------------------------------------------------------------------------------------------------


def test_a_user_beyond_the_limit_is_refused(stack: Stack) -> None:
    few = {f"CUSHION_{name}": "3 3 3 3" for name in ("REQUESTS_PER_MINUTE", "REQUEST_BURST")}
    with stack.another_api(CUSHION_RATE_LIMITS="on", **few) as url:
        owner = register(url)
        answers = [owner.get("/api/v1/workbooks") for _ in range(6)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused, "none of them"
    assert {refusal(answer) for answer in refused} == {(429, "Rate limit exceeded")}
    assert all(0 < int(answer.headers["retry-after"]) <= 60 for answer in refused)
