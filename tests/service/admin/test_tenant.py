"""The tenant as its admins see it: settings with their defaults, quotas, usage."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Member, Stack

TENANT = "/api/v1/admin/tenant"

CHOICES: dict[str, Any] = {
    "default_currency": "EUR",
    "timezone": "America/New_York",
    "date_format": "%d.%m.%Y",
    "number_format": "de-DE",
    "default_date_format": "DD/MM/YYYY",
    "default_number_format": "zh-Hant-TW",
    "two_factor_required": True,
    "session_timeout_minutes": 15,
    "allowed_ip_ranges": ["203.0.113.0/24", "2001:db8::/32", "::/0", "198.51.100.7/32"],
    "max_workbook_size_mb": 1,
    "max_users": 7,
    "reconciliation_tolerances": {
        "par_value": 0.5,
        "price": 0,
        "spread": 1.5,
        "maturity_date": 3,
        "all_in_rate": 2.25,
    },
}
"""Every setting, each with another value than its default."""


def change(member: Member, **settings: Any) -> Any:
    return member.patch(TENANT, json={"settings": settings})


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
        "reconciliation_tolerances": {},
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


# Changes ------------------------------------------------------------------------------------------------------------


def test_every_choice_can_be_changed_and_stays(owner: Member, stranger: Member) -> None:
    before = owner.get(TENANT).json()
    answer = owner.patch(TENANT, json={"name": "Renamed", "settings": CHOICES})
    assert answer.status_code == 200, answer.text
    assert answer.headers["etag"] == '"2"'
    changed = answer.json()
    assert changed["settings"] == CHOICES
    assert (changed["name"], changed["slug"]) == ("Renamed", before["slug"])
    assert changed["quotas"]["users"]["limit"] == 7
    assert changed["updated_at"] > before["updated_at"]
    assert {**owner.get(TENANT).json(), "usage": None} == {**changed, "usage": None}
    assert stranger.get(TENANT).json()["settings"]["timezone"] == "UTC"


@pytest.mark.parametrize("name", CHOICES)
def test_what_is_not_given_stays(owner: Member, name: str) -> None:
    before = owner.get(TENANT).json()
    after = change(owner, **{name: CHOICES[name]}).json()
    assert after["settings"] == {**before["settings"], name: CHOICES[name]}
    assert after["name"] == before["name"]
    assert owner.patch(TENANT, json={"name": "Other"}).json()["settings"] == after["settings"]


def test_an_empty_change_and_unknown_fields_change_nothing(owner: Member) -> None:
    before = owner.get(TENANT).json()
    for body in ({}, {"settings": {}}, {"slug": "x", "subscription_tier": "free", "settings": {"colour": "blue"}}):
        answer = owner.patch(TENANT, json=body)
        assert answer.status_code == 200
        same = ("name", "slug", "subscription_tier", "status", "settings")
        assert {name: answer.json()[name] for name in same} == {name: before[name] for name in same}


def test_null_lifts_what_may_be_lifted(owner: Member) -> None:
    change(owner, session_timeout_minutes=60, max_users=3)
    lifted = change(owner, session_timeout_minutes=None, max_users=None).json()["settings"]
    assert (lifted["session_timeout_minutes"], lifted["max_users"]) == (None, -1)
    for name in CHOICES.keys() - {"session_timeout_minutes", "max_users"}:
        assert change(owner, **{name: None}).status_code == 422, name


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        *(("default_currency", value, []) for value in ("usd", "US", "XXX", "EURO", "", "$")),
        *(("timezone", value, []) for value in ("Mars/Phobos", "utc+1", "../UTC", "/etc/localtime", "", "x" * 65)),
        *(("number_format", value, []) for value in ("english", "en_US", "EN-us", "", "en-US-x", "en-US\n")),
        ("default_number_format", "1,234.56", []),
        *(("date_format", value, []) for value in ("", " ", "x" * 65)),
        ("default_date_format", "", []),
        *(("two_factor_required", value, []) for value in ("yes", 1, [])),
        *(("session_timeout_minutes", value, []) for value in (14, 1441, 0, -1, 15.5, "60", True)),
        *(("max_workbook_size_mb", value, []) for value in (0, -1, 1.5, "5", 10**12)),
        *(("max_users", value, []) for value in (0, -1, 2.5, 10**12)),
        *(
            ("allowed_ip_ranges", ["10.0.0.0/8", value], ["1"])
            for value in (
                "10.0.0.1/8",
                "10.0.0.0",
                "10.0.0.0/33",
                "10.0.0.0/255.0.0.0",
                "10.0.0/8",
                "::1/129",
                "fe80::%eth0/64",
                "host/8",
                "",
                "10.0.0.0/8 ",
            )
        ),
        ("allowed_ip_ranges", "10.0.0.0/8", []),
        ("allowed_ip_ranges", ["10.0.0.0/8"] * 101, []),
        ("allowed_ip_ranges", [5], ["0"]),
        ("reconciliation_tolerances", {"par_value": -0.01}, []),
        ("reconciliation_tolerances", {"par_value": 1e16}, []),
        ("reconciliation_tolerances", {"par_value": "1"}, []),
        ("reconciliation_tolerances", {"par_value": True}, []),
        ("reconciliation_tolerances", {"par_value": None}, []),
        *(("reconciliation_tolerances", {rule: 1}, [rule]) for rule in ("rating", "missing_loan", "Price", "", "x")),
        ("reconciliation_tolerances", [1], []),
    ],
)
def test_a_value_that_is_none_is_refused_where_it_stands(
    shared_owner: Member, name: str, value: Any, place: list[str]
) -> None:
    before = shared_owner.get(TENANT).json()["settings"]
    answer = change(shared_owner, **{name: value, "date_format": value if name == "date_format" else "changed"})
    body = answer.json()
    assert (answer.status_code, body["detail"], body["error_code"]) == (422, "Validation error", "VALIDATION_ERROR")
    assert [fault["loc"] for fault in body["errors"]] == [["body", "settings", name, *place]]
    assert all(fault["message"] for fault in body["errors"])
    assert shared_owner.get(TENANT).json()["settings"] == before, "all or nothing"


@pytest.mark.parametrize("number", ["1e400", "NaN", "Infinity", "-Infinity"])
def test_a_tolerance_is_finite(shared_owner: Member, number: str) -> None:
    answer = shared_owner.patch(
        TENANT,
        content=f'{{"settings": {{"reconciliation_tolerances": {{"price": {number}}}}}}}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 422, answer.text


def test_every_fault_is_told_at_once(shared_owner: Member) -> None:
    answer = change(
        shared_owner,
        default_currency="QQQ",
        timezone="Nowhere",
        allowed_ip_ranges=["x"],
        reconciliation_tolerances={"y": 1},
    )
    assert {tuple(fault["loc"][2:]) for fault in answer.json()["errors"]} == {
        ("default_currency",),
        ("timezone",),
        ("allowed_ip_ranges", "0"),
        ("reconciliation_tolerances", "y"),
    }


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, None, 5])
def test_a_tenant_keeps_a_name(shared_owner: Member, name: Any) -> None:
    answer = shared_owner.patch(TENANT, json={"name": name})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "name"])


def test_tolerances_that_are_not_named_go(owner: Member) -> None:
    change(owner, reconciliation_tolerances={"price": 1, "spread": 2})
    assert change(owner, reconciliation_tolerances={"price": 3}).json()["settings"]["reconciliation_tolerances"] == {
        "price": 3
    }
    assert change(owner, reconciliation_tolerances={}).json()["settings"]["reconciliation_tolerances"] == {}


def test_a_stale_change_is_refused(owner: Member) -> None:
    seen = owner.get(TENANT).headers["etag"]
    first = owner.patch(TENANT, json={"name": "First"}, headers={"If-Match": seen})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    stale = owner.patch(TENANT, json={"name": "Second"}, headers={"If-Match": seen})
    body = stale.json()
    assert (stale.status_code, body["detail"], body["error_code"]) == (409, "Concurrent modification", "CONFLICT")
    assert owner.get(TENANT).json()["name"] == "First"
    for tag in ('"2"', 'W/"3"', '"1", "4"', "*"):
        assert owner.patch(TENANT, json={}, headers={"If-Match": tag}).status_code == 200, tag


def test_a_change_leaves_its_event(stack: Stack, owner: Member) -> None:
    owner.patch(TENANT, json={"name": "Audited", "settings": {"timezone": "Europe/Dublin"}})
    assert stack.sql(
        """
        SELECT user_email, resource_type, resource_id, resource_name, details ->> 'changed'
        FROM audit_log WHERE tenant_id = %s AND action = 'tenant.updated'
        """,
        [owner.tenant_id],
    ) == [(owner.email, "tenant", owner.tenant_id, "Audited", '["name", "timezone"]')]


def test_only_admins_change_the_tenant(owner: Member) -> None:
    assert owner.invite("admin").patch(TENANT, json={"name": "By an admin"}).status_code == 200
    for member in (owner.invite("analyst"), owner.invite("viewer"), owner.key("admin:users", "admin:api-keys")):
        assert member.patch(TENANT, json={"name": "By another"}).status_code == 403
    assert owner.get(TENANT).json()["name"] == "By an admin"


def test_the_limits_are_in_force_at_once(owner: Member) -> None:
    change(owner, max_users=1, max_workbook_size_mb=1)
    invited = owner.post(
        "/api/v1/admin/users/invite", json={"email": "x@example.com", "full_name": "X", "role": "viewer"}
    )
    assert (invited.status_code, invited.json()["detail"]) == (403, "User limit exceeded")
    big = owner.post("/api/v1/workbooks/upload", files={"file": ("big.xlsx", b"PK" + bytes(1_100_000))})
    assert (big.status_code, big.json()["detail"]) == (400, "File too large")
    change(owner, max_users=2)
    owner.invite("viewer")
