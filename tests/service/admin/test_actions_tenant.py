"""The tenant as its admins see it: settings with their defaults, quotas, usage."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import httpx
import pyotp
import pytest
import xlsxwriter

from tests.conftest import PASSWORD, Member, Stack
from tests.service.auth.conftest import refused

TENANT = "/api/v1/admin/tenant"
ME = "/api/v1/auth/me"
DENIED = (403, "Insufficient permissions", "PERMISSION_DENIED")

CHOICES: dict[str, Any] = {
    "default_currency": "EUR",
    "timezone": "America/New_York",
    "date_format": "%d.%m.%Y",
    "number_format": "de-DE",
    "default_date_format": "DD/MM/YYYY",
    "default_number_format": "zh-Hant-TW",
    "two_factor_required": True,
    "session_timeout_minutes": 15,
    "allowed_ip_ranges": ["203.0.113.0/24", "2001:db8::/32", "::/0", "127.0.0.0/8"],
    "max_workbook_size_mb": 1,
    "max_users": 7,
    "reconciliation_tolerances": {"par_value": 0.5, "price": 0, "spread": 1.5, "maturity_date": 3, "all_in_rate": 2.25},
    "rating_agency_a_label": "Agence A",
    "rating_agency_b_label": "S & P",
    "rating_agency_c_label": "F" * 60,
    "trustee_a_label": "First Trust",
    "trustee_b_label": "=2+3",
    "trustee_c_label": "T",
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
        "rating_agency_a_label": "Moody's",
        "rating_agency_b_label": "S&P",
        "rating_agency_c_label": "Fitch",
        "trustee_a_label": "Trustee A",
        "trustee_b_label": "Trustee B",
        "trustee_c_label": "Trustee C",
    }
    assert tenant["quotas"] == {
        name: {"used": used, "limit": -1}
        for name, used in (("workbooks", 0), ("users", 1), ("api_keys", 0), ("storage_gb", 0), ("calculations", 0))
    }
    assert set(tenant["usage"]) == {
        "users",
        "workbooks",
        "api_calls_this_month",
        "calculations_this_month",
        "storage_used_mb",
    }


def test_usage_counts_users_keys_and_calls(owner: Member) -> None:
    before = owner.get(TENANT).json()["usage"]["api_calls_this_month"]
    owner.invite("viewer")
    owner.key("workbooks:read").get("/api/v1/auth/me")
    after = owner.get(TENANT).json()
    assert (after["quotas"]["users"]["used"], after["quotas"]["api_keys"]["used"], after["usage"]["users"]) == (2, 1, 2)
    assert after["usage"]["api_calls_this_month"] == before + 5  # invite, the new one's me, key, the key's me, this one


def test_usage_counts_calculations_and_bytes(stack: Stack, owner: Member, stranger: Member, tmp_path: Path) -> None:
    for _ in range(2):
        assert owner.post("/api/v1/calculations/evaluate", json={"formula": "=1+1"}).status_code == 200
    batch = owner.post("/api/v1/calculations/batch", json={"formulas": [{"formula": "=1"}, {"formula": "=2"}]})
    assert batch.status_code == 200
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(book) as written:
        sheet = written.add_worksheet("Loans")
        for row in range(3_000):
            sheet.write_row(row, 0, [random.random() for _ in range(4)])
    result = owner.uploaded(book)
    ((columns,),) = stack.sql("SELECT blob_key FROM sheets WHERE workbook_id = %s", [result["id"]])
    size = book.stat().st_size + (stack.data_dir / "blobs" / columns[:2] / columns).stat().st_size
    tenant = owner.get(TENANT).json()
    assert tenant["usage"]["calculations_this_month"] == 4
    assert tenant["quotas"]["calculations"] == {"used": 4, "limit": -1}
    assert (tenant["usage"]["workbooks"], tenant["quotas"]["workbooks"]["used"]) == (1, 1)
    assert tenant["usage"]["storage_used_mb"] == round(size / 1_048_576, 3) > 0
    assert tenant["quotas"]["storage_gb"]["used"] == round(size / 1_073_741_824, 6) > 0
    usage = stranger.get(TENANT).json()["usage"]
    assert (usage["calculations_this_month"], usage["storage_used_mb"], usage["workbooks"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("tier", "figures"),
    [
        ("free", (5, 2, 2, 1, 100)),
        ("standard", (25, 10, 10, 10, 1_000)),
        ("premium", (100, 25, 50, 100, 10_000)),
        ("enterprise", (-1, -1, -1, -1, -1)),
    ],
)
def test_the_quotas_of_a_tier(stack: Stack, shared_owner: Member, tier: str, figures: tuple[int, ...]) -> None:
    stack.sql("UPDATE tenants SET subscription_tier = %s WHERE id = %s", [tier, shared_owner.tenant_id])
    quotas = shared_owner.get(TENANT).json()["quotas"]
    stack.sql("UPDATE tenants SET subscription_tier = 'enterprise' WHERE id = %s", [shared_owner.tenant_id])
    names = ("workbooks", "users", "api_keys", "storage_gb", "calculations")
    assert {name: quotas[name]["limit"] for name in names} == dict(zip(names, figures, strict=True))


def test_the_tenants_own_number_of_users_counts_where_it_is_lower(stack: Stack, owner: Member) -> None:
    stack.sql("""UPDATE tenants SET settings = '{"max_users": 1}' WHERE id = %s""", [owner.tenant_id])
    assert owner.get(TENANT).json()["quotas"]["users"] == {"used": 1, "limit": 1}
    answer = owner.post(
        "/api/v1/admin/users/invite", json={"email": "x@example.com", "full_name": "X", "role": "viewer"}
    )
    assert (answer.status_code, answer.json()["detail"]) == (403, "User limit exceeded")


def enrol(member: Member) -> None:
    """Turn two-factor on, so that requiring it shuts nobody out."""
    secret = member.post("/api/v1/auth/2fa/enroll").json()["secret"]
    verified = member.post("/api/v1/auth/2fa/verify", json={"code": pyotp.TOTP(secret).now()})
    assert verified.status_code == 200, verified.text


# Changes ------------------------------------------------------------------------------------------------------------


def test_every_choice_can_be_changed_and_stays(owner: Member, stranger: Member) -> None:
    enrol(owner)
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
    enrol(owner)
    before = owner.get(TENANT).json()
    after = change(owner, **{name: CHOICES[name]}).json()
    assert after["settings"] == {**before["settings"], name: CHOICES[name]}
    assert after["name"] == before["name"]
    assert owner.patch(TENANT, json={"name": "Other"}).json()["settings"] == after["settings"]


def test_an_empty_change_and_what_was_read_change_nothing(owner: Member) -> None:
    before = owner.get(TENANT).json()
    for body in ({}, {"settings": {}}, {"slug": "x", "created_at": 99}, before):
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


LABELS = [name for name in CHOICES if name.endswith("_label")]


@pytest.mark.parametrize(
    "text", ["", "x" * 61, " Moody's", "Moody's ", "two\nlines", "a\tb", "\x1b[2J", "\u202eyb", "\u2028", 7]
)
def test_a_label_is_one_line_of_sixty_characters(shared_owner: Member, text: Any) -> None:
    for name in LABELS:
        answer = change(shared_owner, **{name: text})
        assert answer.status_code == 422, answer.text
        assert answer.json()["errors"][0]["loc"] == ["body", "settings", name]


def test_everybody_of_the_tenant_reads_its_labels(owner: Member, stranger: Member) -> None:
    labels = {name: CHOICES[name] for name in LABELS}
    assert change(owner, **labels).status_code == 200
    read = owner.invite("viewer").get("/api/v1/auth/me").json()["tenant"]["labels"]
    assert read == {name.removesuffix("_label"): text for name, text in labels.items()}
    assert stranger.get("/api/v1/auth/me").json()["tenant"]["labels"]["rating_agency_a"] == "Moody's"


@pytest.mark.parametrize("unlimited", [0, -1])
def test_an_unlimited_number_of_users_comes_back_as_it_is_shown(owner: Member, unlimited: int) -> None:
    change(owner, max_users=3)
    assert change(owner, max_users=unlimited).json()["settings"]["max_users"] == -1
    shown = owner.get(TENANT).json()["settings"]
    assert change(owner, **shown).json()["settings"] == shown


@pytest.mark.parametrize(
    ("name", "value", "place"),
    [
        *(("default_currency", value, []) for value in ("usd", "US", "XXX", "EURO", "", "$")),
        *(("timezone", value, []) for value in ("Mars/Phobos", "utc+1", "../UTC", "/etc/localtime", "", "x" * 65)),
        *(("number_format", value, []) for value in ("english", "en_US", "EN-us", "", "en-US-x", "xq-US", "en-QQ")),
        ("default_number_format", "1,234.56", []),
        *(
            ("date_format", value, [])
            for value in ("", " ", "x" * 65, "banana", "MM/YYYY", "DD DD YYYY", "%Q", "hello")
        ),
        ("default_date_format", "", []),
        *(("two_factor_required", value, []) for value in ("yes", 1, [])),
        *(("session_timeout_minutes", value, []) for value in (14, 1441, 0, -1, 15.5, "60", True)),
        *(("max_workbook_size_mb", value, []) for value in (0, -1, 1.5, "5", 10**12, 101)),
        *(("max_users", value, []) for value in (-2, 2.5, 10**12)),
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
        *(
            ("reconciliation_tolerances", {"par_value": value}, ["par_value"])
            for value in (-0.01, 1e16, "1", True, None)
        ),
        ("colour", "blue", []),
        *(("reconciliation_tolerances", {rule: 1}, [rule]) for rule in ("rating", "missing_loan", "Price", "", "x")),
        ("reconciliation_tolerances", [1], []),
    ],
)
def test_a_value_that_is_none_is_refused_where_it_stands(
    shared_owner: Member, name: str, value: Any, place: list[str]
) -> None:
    before = shared_owner.get(TENANT).json()["settings"]
    answer = change(shared_owner, **{name: value, "date_format": value if name == "date_format" else "DD.MM.YY"})
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
        assert owner.patch(TENANT, json={"name": "Next"}, headers={"If-Match": tag}).status_code == 200, tag


def test_a_change_leaves_its_event(stack: Stack, owner: Member) -> None:
    before = owner.get(TENANT).json()["name"]
    owner.patch(TENANT, json={"name": "Audited", "settings": {"timezone": "Europe/Dublin"}})
    assert stack.sql(
        """
        SELECT user_email, resource_type, resource_id, resource_name, details
        FROM audit_log WHERE tenant_id = %s AND action = 'tenant.updated'
        """,
        [owner.tenant_id],
    ) == [(owner.email, "tenant", owner.tenant_id, "Audited", {
        "changed": ["name", "timezone"],
        "name": {"old": before, "new": "Audited"},
        "timezone": {"old": "UTC", "new": "Europe/Dublin"},
    })]  # fmt: skip


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


# What the gate knows bites at once ----------------------------------------------------------------------------------


def test_an_allowlist_shuts_out_at_once(owner: Member) -> None:
    analyst, key = owner.invite("analyst"), owner.key("workbooks:read")
    words = (403, "IP address not allowed", "PERMISSION_DENIED")
    assert analyst.get(ME).status_code == key.get(ME).status_code == 200
    assert change(owner, allowed_ip_ranges=["127.0.0.0/8", "2001:db8::/32"]).status_code == 200
    assert analyst.get(ME).status_code == key.get(ME).status_code == 200
    ranges = {"allowed_ip_ranges": ["203.0.113.0/24", "::/0"]}
    unsure = owner.patch(TENANT, json={"settings": ranges, "name": "Not this either"})
    assert (unsure.status_code, unsure.json()["error_code"]) == (409, "CONFLICT"), unsure.text
    assert "confirm" in unsure.json()["detail"]
    assert owner.get(TENANT).json()["name"] != "Not this either"
    assert owner.patch(TENANT, json={"settings": ranges, "confirm": True}).status_code == 200
    for member in (analyst, key, owner):
        assert refused(member.get(ME)) == words
    login = {"username": analyst.email, "password": PASSWORD}
    assert refused(httpx.post(f"{owner.http.base_url}/api/v1/auth/login", data=login, timeout=60)) == words


def test_required_two_factor_bites_at_once(owner: Member) -> None:
    analyst, key = owner.invite("analyst"), owner.key("workbooks:read")
    assert analyst.get("/api/v1/workbooks").status_code == 200
    assert change(owner, two_factor_required=True).status_code == 200
    for member, path in ((analyst, "/api/v1/workbooks"), (owner, TENANT)):
        assert refused(member.get(path)) == (403, "Two-factor enrolment required", "PERMISSION_DENIED")
    assert analyst.get(ME).status_code == 200
    assert key.get("/api/v1/workbooks").status_code == 200, "a key has no second factor"


def test_a_session_timeout_bites_at_once(stack: Stack, owner: Member) -> None:
    analyst = owner.invite("analyst")
    stack.sql("UPDATE sessions SET used_at = now() - interval '16 minutes' WHERE user_id = %s", [analyst.user_id])
    assert change(owner, session_timeout_minutes=15).status_code == 200
    renewed = analyst.post("/api/v1/auth/refresh", json={"refresh_token": analyst.tokens["refresh_token"]})
    assert refused(renewed) == (401, "Invalid refresh token", "INVALID_TOKEN")


# Tier and status ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", [{"subscription_tier": "free"}, {"status": "suspended"}, {"status": "cancelled"}])
def test_only_the_system_key_sets_tier_and_status(stack: Stack, shared_owner: Member, fields: dict[str, str]) -> None:
    for headers in ({}, {"X-Tenant-ID": shared_owner.tenant_id}):
        answer = shared_owner.patch(TENANT, json={"name": "Taken", **fields}, headers=headers)
        assert refused(answer) == DENIED
    tenant = shared_owner.get(TENANT).json()
    assert (tenant["subscription_tier"], tenant["status"]) == ("enterprise", "active")
    assert tenant["name"] != "Taken"


def test_a_change_of_nothing_leaves_the_version_and_no_trace_in_the_audit(stack: Stack, owner: Member) -> None:
    before = owner.get(TENANT)
    for nothing in ({}, {"settings": {}}, {"status": "active"}):
        answer = owner.patch(TENANT, json=nothing)
        assert (answer.status_code, answer.headers["etag"]) == (200, before.headers["etag"])
        assert answer.json()["updated_at"] == before.json()["updated_at"]
    traces = "SELECT FROM audit_log WHERE tenant_id = %s AND action = 'tenant.updated'"
    assert stack.sql(traces, [owner.tenant_id]) == []


def test_naming_the_present_tier_and_status_changes_nothing(stack: Stack, owner: Member) -> None:
    before = owner.get(TENANT).json()
    own = {name: before[name] for name in ("subscription_tier", "status", "id", "slug", "created_at")}
    answer = owner.patch(TENANT, json={**own, "name": "As read"})
    assert (answer.status_code, answer.json()["name"]) == (200, "As read")
    assert stack.sql(
        "SELECT details FROM audit_log WHERE tenant_id = %s AND action = 'tenant.updated'", [owner.tenant_id]
    ) == [({"changed": ["name"], "name": {"old": before["name"], "new": "As read"}},)]


@pytest.mark.parametrize(
    "fields", [{"subscription_tier": "gold"}, {"subscription_tier": None}, {"status": "closed"}, {"status": 1}]
)
def test_a_tier_and_a_status_that_do_not_exist(shared_owner: Member, fields: dict[str, Any]) -> None:
    answer = shared_owner.patch(TENANT, json=fields)
    assert refused(answer)[::2] == (422, "VALIDATION_ERROR")
    assert answer.json()["errors"][0]["loc"] == ["body", next(iter(fields))]


# The end ------------------------------------------------------------------------------------------------------------


def test_a_deleted_tenant_refuses_everybody_at_once(stack: Stack, owner: Member, stranger: Member) -> None:
    analyst, key = owner.invite("analyst"), owner.key("workbooks:read")
    with stack.another_api() as url:
        elsewhere = {"Authorization": f"Bearer {analyst.tokens['access_token']}"}
        assert httpx.get(url + ME, headers=elsewhere, timeout=60).status_code == 200
        answer = owner.delete(TENANT)
        assert (answer.status_code, answer.content) == (204, b"")
        words = (403, "Tenant is suspended", "PERMISSION_DENIED")
        assert refused(httpx.get(url + ME, headers=elsewhere, timeout=60)) == words
    for member in (owner, analyst, key):
        assert refused(member.get(ME)) == words
    base = f"{stack.url}/api/v1/auth"
    login = {"username": analyst.email, "password": PASSWORD}
    assert refused(httpx.post(f"{base}/login", data=login, timeout=60)) == words
    refresh = {"refresh_token": analyst.tokens["refresh_token"]}
    assert refused(httpx.post(f"{base}/refresh", json=refresh, timeout=60)) == words
    assert stack.sql("SELECT status, version FROM tenants WHERE id = %s", [owner.tenant_id]) == [("cancelled", 2)]
    assert stack.sql(
        "SELECT user_email, resource_type, resource_id FROM audit_log"
        " WHERE tenant_id = %s AND action = 'tenant.deleted'",
        [owner.tenant_id],
    ) == [(owner.email, "tenant", owner.tenant_id)]
    assert stranger.get(ME).status_code == 200


def test_only_the_owner_deletes_the_tenant(owner: Member) -> None:
    key = owner.key("admin:users", "admin:api-keys")
    for member in (owner.invite("admin"), owner.invite("analyst"), owner.invite("viewer"), key):
        assert refused(member.delete(TENANT)) == DENIED
    assert owner.get(TENANT).json()["status"] == "active"
