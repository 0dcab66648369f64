"""Who calls and what they may, and whether somebody without an account may register."""

from __future__ import annotations

import time
from uuid import uuid4

import httpx
import pytest

from service.platform.base.caller import KEY_SCOPES, SCOPES, Role
from service.platform.unit.query_cache import LOOK_SECONDS
from tests.conftest import PASSWORD, Member, Stack, register
from tests.service.auth.conftest import AUTH, configure
from tests.service.auth.test_actions_registration import SYSTEM_KEY, new_api

ROLES: tuple[Role, ...] = ("owner", "admin", "analyst", "viewer")


@pytest.mark.parametrize("role", ROLES)
def test_the_scopes_of_a_role(shared_owner: Member, role: Role) -> None:
    somebody = shared_owner if role == "owner" else shared_owner.invite(role)
    assert somebody.get(f"{AUTH}/me").json()["scopes"] == [scope for scope in KEY_SCOPES if scope in SCOPES[role]]


def test_a_key_has_its_own_scopes(shared_owner: Member) -> None:
    key = shared_owner.key("mappings:read", "workbooks:read")
    assert key.get(f"{AUTH}/me").json()["scopes"] == ["workbooks:read", "mappings:read"]


def test_the_tenant_with_what_was_never_set(owner: Member) -> None:
    assert owner.get(f"{AUTH}/me").json()["tenant"] == {
        "name": owner.get("/api/v1/admin/tenant").json()["name"],
        "tier": "enterprise",
        "date_format": "YYYY-MM-DD",
        "number_format": "en-US",
        "timezone": "UTC",
        "two_factor_required": False,
        "session_timeout_minutes": None,
        "labels": {
            "rating_agency_a": "Moody's",
            "rating_agency_b": "S&P",
            "rating_agency_c": "Fitch",
            "trustee_a": "Trustee A",
            "trustee_b": "Trustee B",
            "trustee_c": "Trustee C",
        },
    }


def test_the_tenant_with_its_choices(stack: Stack, owner: Member) -> None:
    chosen = {
        "date_format": "%d.%m.%Y",
        "number_format": "de-DE",
        "timezone": "Europe/Dublin",
        "session_timeout_minutes": 30,
        "trustee_b_label": "First Trust",
    }
    configure(stack, owner.tenant_id, **chosen)
    stack.sql("UPDATE tenants SET subscription_tier = 'standard' WHERE id = %s", [owner.tenant_id])
    tenant = owner.get(f"{AUTH}/me").json()["tenant"]
    assert {name: tenant[name] for name in chosen if name in tenant} == {
        name: value for name, value in chosen.items() if name in tenant
    }
    assert (tenant["tier"], tenant["labels"]["trustee_b"], tenant["labels"]["trustee_a"]) == (
        "standard",
        "First Trust",
        "Trustee A",
    )


def test_who_must_enrol_reads_it(stack: Stack, owner: Member) -> None:
    """The console leads them to the second factor."""
    configure(stack, owner.tenant_id, two_factor_required=True)
    assert owner.get("/api/v1/workbooks").status_code == 403
    assert owner.get(f"{AUTH}/me").json()["tenant"]["two_factor_required"] is True


# Without an account ---------------------------------------------------------------------------------------------------


def registration_open(url: str) -> bool:
    answer = httpx.get(f"{url}{AUTH}/options", timeout=60)
    assert (answer.status_code, set(answer.json())) == (200, {"registration_open"}), answer.text
    return bool(answer.json()["registration_open"])


def test_registration_is_open_unless_somebody_closes_it(stack: Stack) -> None:
    assert registration_open(stack.url)


def test_of_a_closed_deployment_the_first_tenant_may_be_registered(stack: Stack) -> None:
    with new_api(stack, CUSHION_OPEN_REGISTRATION="off") as url:
        assert registration_open(url)
        register(url)
        time.sleep(LOOK_SECONDS)  # an earlier look is good for so long
        assert not registration_open(url)
        answer = httpx.get(f"{url}{AUTH}/options", headers={"X-API-Key": SYSTEM_KEY}, timeout=60)
        assert answer.json() == {"registration_open": False}  # it is said to visitors


def test_the_feature_flag_closes_it_as_it_closes_register(stack: Stack) -> None:
    with new_api(stack) as url:
        for enabled, status in ((False, 503), (True, 201)):
            asked = {"flags": {"registration": enabled}}
            changed = httpx.post(
                f"{url}/health/feature-flags", headers={"X-API-Key": SYSTEM_KEY}, json=asked, timeout=60
            )
            assert changed.status_code == 200, changed.text
            body = {
                "email": f"x-{uuid4().hex}@example.com",
                "password": PASSWORD,
                "full_name": "X",
                "organization_name": "X",
            }
            registered = httpx.post(f"{url}{AUTH}/register", json=body, timeout=60)
            assert (registration_open(url), registered.status_code) == (enabled, status)
