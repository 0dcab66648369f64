"""The tenant as its admins see it: settings with their defaults, quotas, usage."""

from __future__ import annotations

from tests.conftest import Member, Stack

TENANT = "/api/v1/admin/tenant"


def test_a_tenant_has_the_stated_fields(owner: Member) -> None:
    answer = owner.get(TENANT)
    tenant = answer.json()
    assert answer.headers["etag"] == '"1"'
    assert set(tenant) == {
        "id",
        "name",
        "slug",
        "subscription_tier",
        "status",
        "settings",
        "quotas",
        "usage",
        "created_at",
        "updated_at",
    }
    assert (tenant["id"], tenant["subscription_tier"], tenant["status"]) == (owner.tenant_id, "enterprise", "active")
    assert tenant["settings"] == {
        "default_currency": "USD",
        "timezone": "UTC",
        "date_format": "YYYY-MM-DD",
        "number_format": "en-US",
        "default_date_format": "YYYY-MM-DD",
        "default_number_format": "en-US",
        "two_factor_required": False,
        "session_timeout_minutes": None,
        "allowed_ip_ranges": [],
        "max_workbook_size_mb": 100,
        "max_users": -1,
    }
    assert tenant["quotas"] == {
        name: {"used": used, "limit": -1}
        for name, used in (("workbooks", 0), ("users", 1), ("api_keys", 0), ("storage_gb", 0))
    }
    assert set(tenant["usage"]) == {"users", "workbooks", "api_calls_this_month", "storage_used_mb"}


def test_usage_counts_users_keys_and_calls(owner: Member) -> None:
    before = owner.get(TENANT).json()["usage"]["api_calls_this_month"]
    owner.invite("viewer")
    owner.key("workbooks:read").get("/api/v1/auth/me")
    after = owner.get(TENANT).json()
    assert (after["quotas"]["users"]["used"], after["quotas"]["api_keys"]["used"], after["usage"]["users"]) == (2, 1, 2)
    assert after["usage"]["api_calls_this_month"] == before + 5  # invite, the new one's me, key, the key's me, this one


def test_the_tenants_own_number_of_users_counts_where_it_is_lower(stack: Stack, owner: Member) -> None:
    stack.sql("""UPDATE tenants SET settings = '{"max_users": 1}' WHERE id = %s""", [owner.tenant_id])
    assert owner.get(TENANT).json()["quotas"]["users"] == {"used": 1, "limit": 1}
    answer = owner.post(
        "/api/v1/admin/users/invite", json={"email": "x@example.com", "full_name": "X", "role": "viewer"}
    )
    assert (answer.status_code, answer.json()["detail"]) == (403, "User limit exceeded")
