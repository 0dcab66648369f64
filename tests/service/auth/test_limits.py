"""Limits as they stand by default: by address, by user, by tier; and the headers that tell of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import GENEROUS, PASSWORD, Member, Stack, register

RAISED = [name for name in GENEROUS if "_PER_" in name or "BURST" in name]
DEFAULTS = dict.fromkeys(RAISED, "")
"""An empty variable counts as unset."""
LOCAL = {"CUSHION_TRUSTED_PROXIES": "127.0.0.1/32"}


@pytest.fixture(scope="module")
def usual(stack: Stack) -> Iterator[str]:
    """An API with the limits of the specification; callers tell their addresses by X-Forwarded-For."""
    with stack.another_api(**DEFAULTS, **LOCAL, CUSHION_DEFAULT_TIER="free") as url:
        yield url


def address() -> dict[str, str]:
    """Somebody whom no window knows yet."""
    noise = uuid4().hex
    return {"X-Forwarded-For": f"2001:db8:{noise[:4]}:{noise[4:8]}:{noise[8:12]}::1"}


def within(seconds: int, needed: float = 12.0) -> None:
    """Wait for the next window where this one is nearly over."""
    left = seconds - time.time() % seconds
    if left < needed:
        time.sleep(left + 0.1)


def limited(answer: httpx.Response) -> None:
    """The one shape of a 429."""
    assert answer.status_code == 429, answer.text
    seconds = int(answer.headers["retry-after"])
    assert seconds >= 1
    assert answer.json() == {
        "error": "rate_limit_exceeded",
        "message": f"Rate limit exceeded. Try again in {seconds} seconds.",
        "retry_after": seconds,
        "detail": "Rate limit exceeded",
        "error_code": "RATE_LIMIT_EXCEEDED",
        "request_id": answer.headers["x-request-id"],
    }
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(answer.headers)


def registration() -> dict[str, Any]:
    return {
        "email": f"o-{uuid4().hex}@example.com",
        "password": PASSWORD,
        "full_name": "O",
        "organization_name": "Acme",
    }


def test_five_registrations_an_hour_from_an_address(usual: str) -> None:
    within(3600)
    here = address()
    weak = {**registration(), "password": "x"}  # counts before it is looked at
    answers = [httpx.post(f"{usual}/api/v1/auth/register", json=weak, headers=here) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    limited(answers[5])
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
    assert answers[0].headers["x-ratelimit-limit"] == "5"
    assert int(answers[0].headers["x-ratelimit-reset"]) % 3600 == 0
    assert httpx.post(f"{usual}/api/v1/auth/register", json=weak, headers=address()).status_code == 422


def test_ten_logins_a_minute_from_an_address(usual: str) -> None:
    within(60)
    here = address()
    form = {"username": "nobody@example.com", "password": "x"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(lambda _: httpx.post(f"{usual}/api/v1/auth/login", data=form, headers=here, timeout=60), range(14))
        )
    assert sorted(answer.status_code for answer in answers) == [401] * 10 + [429] * 4
    limited(next(answer for answer in answers if answer.status_code == 429))
    assert httpx.post(f"{usual}/api/v1/auth/login", data=form, headers=address()).status_code == 401


def test_an_untrusted_peer_cannot_choose_its_address(stack: Stack) -> None:
    with stack.another_api(**{**DEFAULTS, "CUSHION_LOGIN_PER_MINUTE": "2"}) as url:
        within(60)
        form = {"username": "nobody@example.com", "password": "x"}
        statuses = [httpx.post(f"{url}/api/v1/auth/login", data=form, headers=address()).status_code for _ in range(3)]
    assert statuses[-1] == 429


def test_thirty_refreshes_a_minute_by_a_user(stack: Stack, usual: str, owner: Member) -> None:
    within(60)
    token = owner.tokens["refresh_token"]
    with httpx.Client(base_url=usual, headers=address()) as http:
        for _ in range(30):
            answer = http.post("/api/v1/auth/refresh", json={"refresh_token": token})
            assert answer.status_code == 200
            token = answer.json()["refresh_token"]
        answer = http.post("/api/v1/auth/refresh", json={"refresh_token": token}, headers=address())
        limited(answer)
        assert answer.headers["x-ratelimit-limit"] == "30"
        malformed = [http.post("/api/v1/auth/refresh", json={"refresh_token": "x"}).status_code for _ in range(31)]
        assert malformed == [401] * 30 + [429], "guesses count by their address"
    assert httpx.post(f"{stack.url}/api/v1/auth/refresh", json={"refresh_token": token}).status_code == 200, (
        "nothing was used up"
    )


def test_ten_logouts_a_minute_by_a_user(usual: str, owner: Member) -> None:
    within(60)
    tokens = []
    for _ in range(11):
        form = {"username": owner.email, "password": PASSWORD}
        tokens.append(
            httpx.post(f"{usual}/api/v1/auth/login", data=form, headers=address(), timeout=60).json()["access_token"]
        )
    answers = [
        httpx.post(f"{usual}/api/v1/auth/logout", headers={"Authorization": f"Bearer {token}"}) for token in tokens
    ]
    assert [answer.status_code for answer in answers] == [204] * 10 + [429]
    limited(answers[10])


def test_a_free_tenant_has_a_burst_of_ten_and_sixty_a_minute(usual: str) -> None:
    within(60)
    tokens = httpx.post(f"{usual}/api/v1/auth/register", json=registration(), headers=address(), timeout=60).json()
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    started = time.monotonic()
    with httpx.Client(base_url=usual, headers=headers) as http, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: http.get("/api/v1/auth/me"), range(200)))
    passed = [answer for answer in answers if answer.status_code == 200]
    assert 10 <= len(passed) <= 10 + int(time.monotonic() - started) + 1, "the bucket gives one back each second"
    refused = next(answer for answer in answers if answer.status_code == 429)
    limited(refused)
    assert refused.headers["x-ratelimit-limit"] == "60"
    assert sorted((int(answer.headers["x-ratelimit-remaining"]) for answer in passed), reverse=True) == list(
        range(59, 59 - len(passed), -1)
    )


def test_off_lifts_the_limits_and_keeps_the_headers(stack: Stack) -> None:
    with stack.another_api(**DEFAULTS, **LOCAL, CUSHION_DEFAULT_TIER="free", CUSHION_RATE_LIMITS="off") as url:
        within(60)
        here = address()
        answers = [
            httpx.post(f"{url}/api/v1/auth/register", json=registration(), headers=here, timeout=60) for _ in range(7)
        ]
        assert [answer.status_code for answer in answers] == [201] * 7
        headers = {"Authorization": f"Bearer {answers[0].json()['access_token']}"}
        with httpx.Client(base_url=url, headers=headers) as http:
            last = [http.get("/api/v1/auth/me") for _ in range(70)][-1]
        assert (last.status_code, last.headers["x-ratelimit-limit"], last.headers["x-ratelimit-remaining"]) == (
            200,
            "60",
            "0",
        )


# Quotas by tier -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def free_url(stack: Stack) -> Iterator[str]:
    with stack.another_api(CUSHION_DEFAULT_TIER="free") as url:
        yield url


def test_a_free_tenant_has_two_users_invitations_included(free_url: str) -> None:
    owner = register(free_url)

    def invite(_: int) -> httpx.Response:
        return owner.post(
            "/api/v1/admin/users/invite",
            json={"email": f"u-{uuid4().hex}@example.com", "full_name": "U", "role": "viewer"},
        )

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(invite, range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] + [403] * 5, "also when they come at once"
    refused = next(answer for answer in answers if answer.status_code == 403).json()
    assert (refused["detail"], refused["error_code"]) == ("User limit exceeded", "PERMISSION_DENIED")


def test_a_free_tenant_has_two_keys_and_a_revoked_one_makes_room(free_url: str) -> None:
    owner = register(free_url)

    def make(_: int = 0) -> httpx.Response:
        return owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]})

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(make, range(6)))
    assert sorted(answer.status_code for answer in answers) == [201] * 2 + [403] * 4
    assert make().json()["detail"] == "API key limit exceeded"
    key_id = next(answer for answer in answers if answer.status_code == 201).json()["id"]
    assert owner.delete(f"/api/v1/admin/api-keys/{key_id}").status_code == 204
    assert make().status_code == 201


def test_a_free_tenant_is_told_its_quotas(free_url: str) -> None:
    tenant = register(free_url).get("/api/v1/admin/tenant").json()
    assert tenant["subscription_tier"] == "free"
    assert tenant["quotas"] == {
        "workbooks": {"used": 0, "limit": 5},
        "users": {"used": 1, "limit": 2},
        "api_keys": {"used": 0, "limit": 2},
        "storage_gb": {"used": 0, "limit": 1},
    }
    assert tenant["settings"]["max_users"] == 2
