"""Without Redis: what need not bite is changed all the same.

What must is refused, and nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.conftest import Member, Stack, member, register
from tests.redis_server import redis_server
from tests.service.auth.conftest import refused

ADMIN = "/api/v1/admin"
TENANT = f"{ADMIN}/tenant"
AWAY = (503, "Service temporarily unavailable", "SERVICE_UNAVAILABLE")


@pytest.fixture(scope="module")
def cut_off(stack: Stack) -> Iterator[tuple[Member, Member]]:
    """The owner of a tenant and one of its analysts, at an API whose Redis has just died."""
    with redis_server() as server, stack.another_api(CUSHION_REDIS_URL=server.url) as url:
        founder = register(url)
        analyst = founder.invite("analyst")
        assert founder.get(TENANT).status_code == 200
        server.stop()
        yield member(url, founder.tokens, founder.email), analyst


def test_what_need_not_bite_is_changed(cut_off: tuple[Member, Member]) -> None:
    owner, analyst = cut_off
    answer = owner.patch(TENANT, json={"name": "Renamed", "settings": {"default_currency": "EUR"}})
    assert (answer.status_code, answer.json()["name"]) == (200, "Renamed")
    assert owner.get(TENANT).json()["settings"]["default_currency"] == "EUR"
    named = owner.patch(f"{ADMIN}/users/{analyst.user_id}", json={"full_name": "Anna"})
    assert (named.status_code, named.json()["full_name"]) == (200, "Anna")
    assert owner.key("workbooks:read").get("/api/v1/auth/me").status_code == 200
    invitation = {"email": "n@example.org", "full_name": "N", "role": "viewer"}
    assert owner.post(f"{ADMIN}/users/invite", json=invitation).status_code == 201


def test_what_must_bite_is_refused_and_undone(stack: Stack, cut_off: tuple[Member, Member]) -> None:
    owner, analyst = cut_off
    key = owner.post(f"{ADMIN}/api-keys", json={"name": "key", "permissions": ["workbooks:read"]}).json()
    before = owner.get(TENANT)
    calls = [
        ("PATCH", TENANT, {"settings": {"allowed_ip_ranges": ["203.0.113.0/24"]}, "confirm": True}),
        ("PATCH", TENANT, {"settings": {"two_factor_required": True}}),
        ("PATCH", TENANT, {"settings": {"session_timeout_minutes": 15}}),
        ("DELETE", TENANT, None),
        ("PATCH", f"{ADMIN}/users/{analyst.user_id}", {"role": "viewer"}),
        ("PATCH", f"{ADMIN}/users/{analyst.user_id}", {"status": "inactive"}),
        ("DELETE", f"{ADMIN}/users/{analyst.user_id}", None),
        ("DELETE", f"{ADMIN}/api-keys/{key['id']}", None),
        ("POST", f"{ADMIN}/api-keys/{key['id']}/rotate", {}),
    ]
    for method, path, body in calls:
        assert refused(owner.http.request(method, path, json=body)) == AWAY, (method, path, body)
    after = owner.get(TENANT)
    assert (after.json()["settings"], after.headers["etag"]) == (before.json()["settings"], before.headers["etag"])
    user = owner.get(f"{ADMIN}/users/{analyst.user_id}").json()
    assert (user["role"], user["status"]) == ("analyst", "active")
    assert analyst.get("/api/v1/auth/me").status_code == 200
    with httpx.Client(base_url=str(owner.http.base_url), headers={"X-API-Key": key["key"]}, timeout=60) as http:
        assert http.get("/api/v1/auth/me").status_code == 200
    kept = ("user.removed", "tenant.deleted", "api_key.revoked", "api_key.rotated")
    assert stack.sql(
        "SELECT count(*) FROM audit_log WHERE tenant_id = %s AND action = ANY(%s)", [owner.tenant_id, list(kept)]
    ) == [(0,)]
