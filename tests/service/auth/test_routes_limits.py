"""Limits as they stand by default.

By address, by user, by tier; and the headers that tell of them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import jwt
import pytest
from redis import Redis

from tests.conftest import GENEROUS, PASSWORD, Member, Stack, early_in, register, wait_until
from tests.records import TAPE, small_book
from tests.redis_server import RedisServer, redis_server

RAISED = [name for name in GENEROUS if "_PER_" in name or "BURST" in name]
DEFAULTS = dict.fromkeys(RAISED, "")
"""An empty variable counts as unset."""
LOCAL = {"CUSHION_TRUSTED_PROXIES": "127.0.0.1/32"}


@pytest.fixture(scope="module")
def usual(stack: Stack) -> Iterator[str]:
    """An API with the limits of the specification.

    Callers tell their addresses by X-Forwarded-For.
    """
    with stack.another_api(**DEFAULTS, **LOCAL, CUSHION_DEFAULT_TIER="free") as url:
        yield url


def address() -> dict[str, str]:
    """Somebody whom no window knows yet."""
    noise = uuid4().hex
    return {"X-Forwarded-For": f"2001:db8:{noise[:4]}:{noise[4:8]}:{noise[8:12]}::1"}


def limited(answer: httpx.Response) -> None:
    """The one shape of a 429."""
    assert answer.status_code == 429, answer.text
    seconds = int(answer.headers["retry-after"])
    assert seconds >= 1
    body = answer.json()
    (fault,) = body.pop("errors")
    assert re.fullmatch(r"the limit is [\d,]+ [a-z -]+ (an hour|a minute|a day|at once)", fault["message"]), fault
    assert body == {
        "error": "rate_limit_exceeded",
        "message": f"Rate limit exceeded. Try again in {seconds} seconds.",
        "retry_after": seconds,
        "detail": "Rate limit exceeded",
        "error_code": "RATE_LIMIT_EXCEEDED",
        "request_id": answer.headers["x-request-id"],
        "help": "/docs/guide/errors/#rate_limit_exceeded",
    }
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(answer.headers)


def together(count: int, ask: Callable[[httpx.Client], httpx.Response]) -> list[httpx.Response]:
    """The answers to so many requests, sixteen on their way at any moment."""
    with httpx.Client(timeout=60) as http, ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda _: ask(http), range(count)))


def registration() -> dict[str, Any]:
    return {
        "email": f"o-{uuid4().hex}@example.com",
        "password": PASSWORD,
        "full_name": "O",
        "organization_name": "Acme",
    }


def test_five_registrations_an_hour_from_an_address(usual: str) -> None:
    early_in(3600)
    here = address()
    weak = {**registration(), "password": "x"}  # counts before it is looked at
    answers = [httpx.post(f"{usual}/api/v1/auth/register", json=weak, headers=here) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [422] * 5 + [429]
    limited(answers[5])
    assert [answer.headers["x-ratelimit-remaining"] for answer in answers] == ["4", "3", "2", "1", "0", "0"]
    there = address()
    at_once = together(200, lambda http: http.post(f"{usual}/api/v1/auth/register", json=weak, headers=there))
    assert sorted(answer.status_code for answer in at_once) == [422] * 5 + [429] * 195
    assert answers[0].headers["x-ratelimit-limit"] == "5"
    assert 3500 < int(answers[0].headers["x-ratelimit-reset"]) - time.time() <= 3601
    assert httpx.post(f"{usual}/api/v1/auth/register", json=weak, headers=address()).status_code == 422


def test_ten_logins_a_minute_from_an_address(usual: str) -> None:
    early_in(60)
    here = address()
    form = {"username": "nobody@example.com", "password": "x"}
    answers = together(200, lambda http: http.post(f"{usual}/api/v1/auth/login", data=form, headers=here))
    assert sorted(answer.status_code for answer in answers) == [401] * 10 + [429] * 190
    limited(next(answer for answer in answers if answer.status_code == 429))
    assert httpx.post(f"{usual}/api/v1/auth/login", data=form, headers=address()).status_code == 401


def test_an_untrusted_peer_cannot_choose_its_address(stack: Stack) -> None:
    with stack.another_api(**{**DEFAULTS, "CUSHION_LOGIN_PER_MINUTE": "2"}) as url:
        early_in(60)
        form = {"username": "nobody@example.com", "password": "x"}
        statuses = [httpx.post(f"{url}/api/v1/auth/login", data=form, headers=address()).status_code for _ in range(3)]
    assert statuses[-1] == 429


def test_thirty_refreshes_a_minute_by_a_user(stack: Stack, usual: str, owner: Member) -> None:
    early_in(60)
    token = owner.tokens["refresh_token"]
    with httpx.Client(base_url=usual, headers=address()) as http:
        for _ in range(30):
            answer = http.post("/api/v1/auth/refresh", json={"refresh_token": token})
            assert answer.status_code == 200
            token = answer.json()["refresh_token"]
        answer = http.post("/api/v1/auth/refresh", json={"refresh_token": token}, headers=address())
        limited(answer)
        assert answer.headers["x-ratelimit-limit"] == "30"
        guess = {"refresh_token": "x"}
        guesses = together(200, lambda _: http.post("/api/v1/auth/refresh", json=guess))
        statuses = sorted(answer.status_code for answer in guesses)
        assert statuses == [401] * 30 + [429] * 170, "guesses count by their address"
    assert httpx.post(f"{stack.url}/api/v1/auth/refresh", json={"refresh_token": token}).status_code == 200, (
        "nothing was used up"
    )


def test_ten_logouts_a_minute_by_a_user(usual: str, owner: Member) -> None:
    tokens = []
    for _ in range(11):
        form = {"username": owner.email, "password": PASSWORD}
        tokens.append(
            httpx.post(f"{usual}/api/v1/auth/login", data=form, headers=address(), timeout=60).json()["access_token"]
        )
    early_in(60)
    with ThreadPoolExecutor(11) as pool:
        answers = list(
            pool.map(
                lambda token: httpx.post(
                    f"{usual}/api/v1/auth/logout", headers={"Authorization": f"Bearer {token}"}, timeout=60
                ),
                tokens,
            )
        )
    answers.sort(key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [204] * 10 + [429]
    limited(answers[10])


def joined(url: str, stack: Stack, tier: str = "free") -> Member:
    """The owner of a new tenant of that tier, whose bucket is full and whose minute is young."""
    early_in(60)
    tokens = httpx.post(f"{url}/api/v1/auth/register", json=registration(), headers=address(), timeout=60).json()
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    stack.sql("UPDATE tenants SET subscription_tier = %s WHERE id = %s", [tier, claims["tenant_id"]])
    with Redis.from_url(stack.redis_url) as redis:
        redis.delete(f"cushion:tenant:{claims['tenant_id']}")
    client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {tokens['access_token']}"}, timeout=60)
    return Member(client, tokens, "", claims["tenant_id"], claims["sub"])


def used_before(stack: Stack, member: Member, span: str, seconds: int, used: int) -> None:
    """As if the tenant had made so many calls in this minute or day already."""
    with Redis.from_url(stack.redis_url) as redis:
        redis.set(f"cushion:{span}:tenant:{member.tenant_id}:{int(time.time()) // seconds}", used, ex=seconds)


ME = "/api/v1/auth/me"
FIGURES = [("free", 60, 10), ("standard", 300, 50), ("premium", 1_000, 100)]


@pytest.mark.parametrize(("tier", "per_minute", "burst"), FIGURES)
def test_under_200_requests_at_once_the_bucket_bounds_the_burst(
    stack: Stack, usual: str, tier: str, per_minute: int, burst: int
) -> None:
    member = joined(usual, stack, tier)
    started = time.monotonic()
    answers = together(200, lambda _: member.get(ME))
    came_back = int((time.monotonic() - started) * per_minute / 60) + 1
    passed = [answer for answer in answers if answer.status_code == 200]
    assert burst <= len(passed) <= burst + came_back
    refused = [answer for answer in answers if answer.status_code != 200]
    for answer in refused:
        limited(answer)
    assert {answer.headers["x-ratelimit-limit"] for answer in answers} == {str(per_minute)}
    assert {int(answer.headers["x-ratelimit-reset"]) for answer in answers} == {(int(time.time()) // 60 + 1) * 60}
    remaining = sorted((int(answer.headers["x-ratelimit-remaining"]) for answer in passed), reverse=True)
    assert remaining == list(range(per_minute - 1, per_minute - 1 - len(passed), -1)), "each one lower than the last"


def test_an_enterprise_tenant_may_burst_to_500(stack: Stack, usual: str) -> None:
    member = joined(usual, stack, "enterprise")
    used_before(stack, member, "day", 86_400, 1_000_000)  # it has no day
    answers = together(200, lambda _: member.get(ME))
    assert {answer.status_code for answer in answers} == {200}
    remaining = sorted((int(answer.headers["x-ratelimit-remaining"]) for answer in answers), reverse=True)
    assert remaining == list(range(9_999, 9_799, -1))
    with Redis.from_url(stack.redis_url) as redis:
        tokens = float(redis.hget(f"cushion:bucket:tenant:{member.tenant_id}", "tokens") or 0)
        assert 300 <= tokens <= 500


@pytest.mark.parametrize(("tier", "per_minute", "_"), FIGURES)
def test_under_200_requests_at_once_the_minute_is_exact(
    stack: Stack, usual: str, tier: str, per_minute: int, _: int
) -> None:
    member = joined(usual, stack, tier)
    used_before(stack, member, "minute", 60, per_minute - 7)
    answers = together(200, lambda _: member.get(ME))
    passed = [answer for answer in answers if answer.status_code == 200]
    assert sorted(answer.headers["x-ratelimit-remaining"] for answer in passed) == list("0123456")
    reset = (int(time.time()) // 60 + 1) * 60
    for answer in answers:
        if answer.status_code != 200:
            limited(answer)
            assert answer.headers["x-ratelimit-remaining"] in "0123456"
    last = member.get(ME)
    limited(last)
    assert reset - time.time() - 2 < int(last.headers["retry-after"]) <= 60


@pytest.mark.parametrize(("tier", "per_day"), [("free", 1_000), ("standard", 10_000), ("premium", 50_000)])
def test_under_200_requests_at_once_the_day_is_exact(stack: Stack, usual: str, tier: str, per_day: int) -> None:
    member = joined(usual, stack, tier)
    used_before(stack, member, "day", 86_400, per_day - 5)
    answers = together(200, lambda _: member.get(ME))
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 195
    before = 86_400 - time.time() % 86_400
    last = member.get(ME)
    after = 86_400 - time.time() % 86_400
    limited(last)
    assert after <= int(last.headers["retry-after"]) <= before + 1
    assert int(last.headers["x-ratelimit-remaining"]) > 0, "the minute has room; the header tells of the minute"


def test_new_keys_lift_no_limit(stack: Stack, usual: str) -> None:
    """Those of a tenant, and its users, have one bucket together, and each key has one besides."""
    member = joined(usual, stack)
    keys = [
        httpx.Client(
            base_url=usual,
            headers={"X-API-Key": member.post("/api/v1/admin/api-keys", json=body).json()["key"]},
            timeout=60,
        )
        for body in [{"name": name, "permissions": ["workbooks:read"]} for name in ("one", "other")]
    ]
    started = time.monotonic()
    answers = []
    for key in keys:
        with key:
            answers += together(100, lambda _, key=key: key.get("/api/v1/workbooks"))
    answers += together(40, lambda _: member.get(ME))
    passed = [answer for answer in answers if answer.status_code == 200]
    assert 1 <= len(passed) <= 10 + int(time.monotonic() - started) + 1
    limits = {answer.json()["errors"][0]["message"] for answer in answers if answer.status_code == 429}
    assert "the limit is 10 requests of the whole tenant at once" in limits


@pytest.mark.parametrize(("tier", "per_hour"), [("free", 3), ("standard", 7)])
def test_uploads_an_hour(stack: Stack, tier: str, per_hour: int) -> None:
    """What is refused as no spreadsheet does not count; other requests pass on."""
    with stack.another_api(CUSHION_UPLOADS_PER_HOUR="3 7 7 7", **LOCAL) as url:
        early_in(3600)
        member = joined(url, stack, tier)
        upload = "/api/v1/workbooks/upload"
        for _ in range(per_hour + 2):
            assert member.post(upload, files={"file": ("loans.xlsx", b"no spreadsheet")}).status_code == 422
        files = {"file": ("loans.xlsx", small_book(TAPE))}
        answers = together(20, lambda _: member.post(upload, files=files))
        assert sorted(answer.status_code for answer in answers) == [201] * per_hour + [429] * (20 - per_hour)
        refused = next(answer for answer in answers if answer.status_code == 429)
        limited(refused)
        assert int(refused.headers["retry-after"]) <= 3600
        assert refused.headers["x-ratelimit-limit"] == "1000000", "the headers tell of the requests"
        assert member.get("/api/v1/workbooks").status_code == 200


# Without Redis -------------------------------------------------------------------------------------------------------


class Outage(NamedTuple):
    """An API, and the Redis that only it and its worker use."""

    url: str
    redis: RedisServer


@pytest.fixture
def outage(stack: Stack) -> Iterator[Outage]:
    with redis_server() as redis:
        settings = {**DEFAULTS, **LOCAL, "CUSHION_DEFAULT_TIER": "free", "CUSHION_REDIS_URL": redis.url}
        with stack.another_api(**settings) as url, stack.another_worker(CUSHION_REDIS_URL=redis.url):
            yield Outage(url, redis)


def test_without_redis_it_serves_limits_and_believes_nobody_revoked(stack: Stack, outage: Outage) -> None:
    url = outage.url
    member, second = joined(url, stack), joined(url, stack, "standard")
    body = {"name": "key", "permissions": ["workbooks:read", "calculations:execute"]}
    key = httpx.Client(
        base_url=url, headers={"X-API-Key": second.post("/api/v1/admin/api-keys", json=body).json()["key"]}
    )
    early_in(60, needed=25)
    outage.redis.stop()

    started = time.monotonic()
    answers = together(200, lambda _: member.get(ME))
    passed = [answer for answer in answers if answer.status_code == 200]
    assert 10 <= len(passed) <= 10 + int(time.monotonic() - started) + 1, "the bucket"
    remaining = sorted((int(answer.headers["x-ratelimit-remaining"]) for answer in passed), reverse=True)
    assert remaining == list(range(59, 59 - len(passed), -1))
    for answer in answers:
        assert answer.status_code in (200, 429), answer.text
        if answer.status_code == 429:
            limited(answer)

    with key:
        assert key.get("/api/v1/workbooks").status_code == 200
        assert key.post("/api/v1/calculations/evaluate", json={"formula": "=1+1"}).json()["value"] == 2
        stack.sql("UPDATE api_keys SET status = 'revoked' WHERE tenant_id = %s", [second.tenant_id])
        assert key.get("/api/v1/workbooks").status_code == 401
    assert second.post("/api/v1/admin/users/invite", json=INVITATION).status_code == 201
    wait_until(lambda: httpx.get(f"{url}/health/ready").json()["degraded"], what="a new look at what is there")

    here = address()
    form = {"username": "nobody@example.com", "password": "x"}
    logins = together(14, lambda http: http.post(f"{url}/api/v1/auth/login", data=form, headers=here))
    assert sorted(answer.status_code for answer in logins) == [401] * 10 + [429] * 4

    assert second.post("/api/v1/auth/logout").status_code == 503, "it could not bite at once elsewhere"
    assert second.get(ME).status_code == 200
    stack.sql(
        "INSERT INTO revocations (tenant_id, kind, subject, generation, expires_at)"
        " VALUES (%s, 'user', %s, 1, now() + interval '15 minutes')",
        [second.tenant_id, second.user_id],
    )
    answer = second.get(ME)
    assert (answer.status_code, answer.json()["error_code"]) == (401, "TOKEN_REVOKED")
    stack.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [member.tenant_id])
    wait_until(lambda: member.get(ME).status_code == 403, what="a token of the bucket, and the refusal")


INVITATION = {"email": f"i-{uuid4().hex}@example.com", "full_name": "I", "role": "viewer", "send_email": False}


def test_when_redis_is_back_nothing_that_was_counted_is_missing(stack: Stack, outage: Outage) -> None:
    member = joined(outage.url, stack, "enterprise")
    evaluate = "/api/v1/calculations/evaluate"
    for _ in range(3):
        assert member.post(evaluate, json={"formula": "=1+1"}).status_code == 200
    wait_until(lambda: kept(stack, member) == {"calls": 3, "calculations": 3}, what="the first totals")
    outage.redis.stop()
    for _ in range(4):
        assert member.post(evaluate, json={"formula": "=1+1"}).status_code == 200
    outage.redis.start()
    calls = 7

    def handed_over() -> bool:
        nonlocal calls
        calls += 1
        assert member.get(ME).status_code == 200
        return kept(stack, member).get("calculations") == 7

    # A worker that finds its queue gone ends, and the supervisor starts another.
    with stack.another_worker(CUSHION_REDIS_URL=outage.redis.url):
        wait_until(handed_over, what="the totals of the outage")
        wait_until(lambda: kept(stack, member) == {"calls": calls, "calculations": 7}, what="every call")
    assert member.post("/api/v1/auth/logout").status_code == 204
    assert member.get(ME).status_code == 401


def kept(stack: Stack, member: Member) -> dict[str, int]:
    return dict(stack.sql("SELECT name, amount FROM tenant_usage WHERE tenant_id = %s", [member.tenant_id]))  # type: ignore[arg-type]


def test_off_lifts_the_limits_and_keeps_the_headers(stack: Stack) -> None:
    with stack.another_api(**DEFAULTS, **LOCAL, CUSHION_DEFAULT_TIER="free", CUSHION_RATE_LIMITS="off") as url:
        here = address()
        answers = [
            httpx.post(f"{url}/api/v1/auth/register", json=registration(), headers=here, timeout=60) for _ in range(7)
        ]
        assert [answer.status_code for answer in answers] == [201] * 7
        early_in(60)
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
        "calculations": {"used": 0, "limit": 100},
    }
    assert tenant["settings"]["max_users"] == 2
