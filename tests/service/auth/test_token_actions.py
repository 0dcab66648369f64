"""Sessions of browsers.

The refresh token is a cookie, tabs may refresh at once, and a thief is still found out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from service.auth.token_actions import REPEAT_SECONDS
from tests.conftest import PASSWORD, Member, Stack
from tests.service.auth.conftest import AUTH, audited, login, me, refresh, refused

BROWSER = {"X-Session": "cookie"}
COOKIE = "cushion_refresh"
INVALID = (401, "Invalid refresh token", "INVALID_TOKEN")
REVOKED = (401, "Refresh token has been revoked", "TOKEN_REVOKED")
FRESH = "Brand-New-Horse-8"


@pytest.fixture
def browser(stack: Stack, owner: Member) -> Iterator[httpx.Client]:
    """A browser in which the owner is signed in."""
    with httpx.Client(base_url=stack.url, headers=BROWSER, timeout=60) as client:
        signed_in = client.post(f"{AUTH}/login", data={"username": owner.email, "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["Authorization"] = f"Bearer {signed_in.json()['access_token']}"
        yield client


def by_cookie(stack: Stack, token: str, **headers: str) -> httpx.Response:
    """A refresh by whoever has the cookie."""
    headers = BROWSER | {"Cookie": f"{COOKIE}={token}"} | headers
    return httpx.post(f"{stack.url}{AUTH}/refresh", headers=headers, timeout=60)


def cookie_of(answer: httpx.Response) -> tuple[str, set[str]]:
    """The refresh token that an answer sets, and what is said of the cookie."""
    (line,) = answer.headers.get_list("set-cookie")
    pair, *attributes = line.split("; ")
    name, _, value = pair.partition("=")
    assert name == COOKIE
    return value, set(attributes)


def session_of(token: str) -> str:
    read: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return str(read["sid"])


def later(stack: Stack, token: str, seconds: float) -> None:
    """As if the session's last refresh had been longer ago."""
    stack.sql(
        "UPDATE sessions SET rotated_at = rotated_at - make_interval(secs => %s) WHERE id = %s",
        [seconds, session_of(token)],
    )


# Where the refresh token is -------------------------------------------------------------------------------------------


def test_every_answer_with_tokens_has_the_refresh_token_as_a_cookie(stack: Stack, owner: Member) -> None:
    attributes = {"Path=/api/v1/auth", "Max-Age=604800", "HttpOnly", "SameSite=Strict"}
    body = {
        "email": f"owner-{uuid4().hex[:12]}@example.com",
        "password": PASSWORD,
        "full_name": "O",
        "organization_name": "Org",
    }
    invited = owner.post(
        "/api/v1/admin/users/invite",
        json={"email": f"x-{uuid4().hex[:12]}@example.com", "full_name": "X", "role": "viewer"},
    ).json()
    acceptance = {"token": invited["invitation_token"], "password": PASSWORD}
    with httpx.Client(base_url=stack.url + AUTH, headers=BROWSER, timeout=60) as client:
        answers = [
            client.post("/register", json=body),
            client.post("/login", data={"username": owner.email, "password": PASSWORD}),
            client.post("/accept-invitation", json=acceptance),
            client.post("/refresh"),
            client.post("/refresh", json={}),
        ]
    seen = set()
    for answer, status in zip(answers, (201, 200, 200, 200, 200), strict=True):
        assert (answer.status_code, set(answer.json())) == (status, {"access_token", "token_type"}), answer.text
        assert answer.headers["cache-control"] == "no-store"
        token, words = cookie_of(answer)
        assert words == attributes
        claims = jwt.decode(token, options={"verify_signature": False})
        assert (claims["type"], claims["exp"] - claims["iat"]) == ("refresh", 604_800)
        assert me(stack, answer.json()["access_token"]).status_code == 200
        seen.add(token)
    assert len(seen) == 5


def test_it_is_secure_where_the_page_is_not_the_machines_own(stack: Stack, owner: Member) -> None:
    """Whatever proxy stands in between, the browser says where it is."""
    answer = login(stack, owner.email, headers=BROWSER | {"Origin": "https://cushion.example.com"})
    assert "Secure" in cookie_of(answer)[1]


def test_without_the_header_nothing_is_a_cookie(stack: Stack, owner: Member, browser: httpx.Client) -> None:
    answer = login(stack, owner.email)
    assert "set-cookie" not in answer.headers
    assert set(answer.json()) == {"access_token", "refresh_token", "token_type"}
    missing = httpx.post(f"{stack.url}{AUTH}/refresh", cookies=dict(browser.cookies), timeout=60)
    assert refused(missing)[:2] == (422, "Validation error")
    assert missing.json()["errors"] == [{"loc": ["body", "refresh_token"], "message": "is required"}]
    assert browser.post(f"{AUTH}/refresh").status_code == 200  # and the cookie was not used up


@pytest.mark.parametrize("value", ["", "body", "cookies", "Cookie"])
@pytest.mark.parametrize("path", ["login", "refresh", "register", "accept-invitation"])
def test_another_value_of_the_header_is_refused(stack: Stack, path: str, value: str) -> None:
    answer = httpx.post(f"{stack.url}{AUTH}/{path}", headers={"X-Session": value}, timeout=60)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["header", "x-session"]


def test_the_header_is_given_once(stack: Stack) -> None:
    headers = [("X-Session", "cookie"), ("X-Session", "cookie")]
    answer = httpx.post(f"{stack.url}{AUTH}/refresh", headers=headers, timeout=60)
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (400, ["header", "x-session"])


def test_a_browser_without_a_cookie_is_not_signed_in(stack: Stack) -> None:
    for cookies in ("", "theme=dark", f"{COOKIE}=", f"{COOKIE}=x.y.z", f"{COOKIE}=a; {COOKIE}=b"):
        answer = httpx.post(f"{stack.url}{AUTH}/refresh", headers=BROWSER | {"Cookie": cookies}, timeout=60)
        assert refused(answer) == INVALID


def test_a_body_has_no_token_beside_the_header(stack: Stack, browser: httpx.Client) -> None:
    token = browser.cookies[COOKIE]
    answer = browser.post(f"{AUTH}/refresh", json={"refresh_token": token})
    assert (answer.status_code, answer.json()["errors"][0]["loc"]) == (422, ["body", "refresh_token"])
    assert by_cookie(stack, token).status_code == 200


def test_a_browsers_token_is_no_use_in_a_body(stack: Stack, browser: httpx.Client) -> None:
    token = browser.cookies[COOKIE]
    assert refused(refresh(stack, token)) == INVALID
    assert browser.post(f"{AUTH}/refresh").status_code == 200  # it was not used up


def test_a_bodys_token_is_no_use_as_a_cookie(stack: Stack, owner: Member) -> None:
    """Else its thief would have the seconds in which a used token is answered."""
    token = owner.tokens["refresh_token"]
    assert refused(by_cookie(stack, token)) == INVALID
    assert refresh(stack, token).status_code == 200


def test_an_access_token_is_no_cookie(stack: Stack, owner: Member) -> None:
    assert refused(by_cookie(stack, owner.tokens["access_token"])) == INVALID


# Tabs at once ---------------------------------------------------------------------------------------------------------


def test_the_token_just_replaced_is_answered_by_the_same_one(stack: Stack, browser: httpx.Client) -> None:
    first = browser.cookies[COOKIE]
    response = by_cookie(stack, first)
    time.sleep(1.1)  # so that a token of this second would be another one
    two = by_cookie(stack, first)
    assert (response.status_code, two.status_code) == (200, 200)
    assert cookie_of(response)[0] == cookie_of(two)[0] != first
    assert response.json()["access_token"] != two.json()["access_token"]
    assert me(stack, two.json()["access_token"]).status_code == 200
    assert by_cookie(stack, cookie_of(response)[0]).status_code == 200


def test_tabs_refresh_at_once(stack: Stack, browser: httpx.Client) -> None:
    first = browser.cookies[COOKIE]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: by_cookie(stack, first), range(6)))
    assert [answer.status_code for answer in answers] == [200] * 6
    assert len({cookie_of(answer)[0] for answer in answers}) == 1


def test_after_ten_seconds_its_reuse_ends_the_session(stack: Stack, owner: Member, browser: httpx.Client) -> None:
    assert REPEAT_SECONDS == 10
    first = browser.cookies[COOKIE]
    answer = by_cookie(stack, first)
    later(stack, first, 9)
    assert by_cookie(stack, first).status_code == 200
    later(stack, first, 1.5)
    assert refused(by_cookie(stack, first)) == REVOKED
    assert refused(by_cookie(stack, cookie_of(answer)[0])) == REVOKED
    assert me(stack, answer.json()["access_token"]).status_code == 401
    assert len(audited(stack, owner.tenant_id, "user.session_ended")) == 1


def test_an_older_token_ends_the_session_at_once(stack: Stack, browser: httpx.Client) -> None:
    first = browser.cookies[COOKIE]
    second = cookie_of(by_cookie(stack, first))[0]
    third = cookie_of(by_cookie(stack, second))[0]
    assert refused(by_cookie(stack, first)) == REVOKED
    assert refused(by_cookie(stack, third)) == REVOKED


def test_a_repetition_does_not_lengthen_its_time(stack: Stack, browser: httpx.Client) -> None:
    first = browser.cookies[COOKIE]
    by_cookie(stack, first)
    later(stack, first, 6)
    assert by_cookie(stack, first).status_code == 200
    later(stack, first, 6)
    assert refused(by_cookie(stack, first)) == REVOKED


def test_in_a_bodys_session_the_token_just_replaced_ends_it(stack: Stack, owner: Member) -> None:
    first = owner.tokens["refresh_token"]
    second = refresh(stack, first).json()["refresh_token"]
    assert refused(refresh(stack, first)) == REVOKED
    assert refused(refresh(stack, second)) == REVOKED


def test_a_repetition_is_refused_where_the_user_may_not_go_on(
    stack: Stack, owner: Member, browser: httpx.Client
) -> None:
    first = browser.cookies[COOKIE]
    by_cookie(stack, first)
    stack.sql("UPDATE users SET status = 'inactive' WHERE id = %s", [owner.user_id])
    assert refused(by_cookie(stack, first))[:2] == (401, "User account is deactivated")


# Its end --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["logout", "revoke-all-tokens"])
@pytest.mark.parametrize("header", [True, False])
def test_the_end_of_the_session_removes_the_cookie(
    stack: Stack, browser: httpx.Client, path: str, header: bool
) -> None:
    """Also where the header was forgotten: the session knows that it is a browser's."""
    token = browser.cookies[COOKIE]
    if not header:
        del browser.headers["X-Session"]
    answer = browser.post(f"{AUTH}/{path}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert cookie_of(answer) == ("", {"Path=/api/v1/auth", "Max-Age=0", "HttpOnly", "SameSite=Strict"})
    assert COOKIE not in browser.cookies
    assert by_cookie(stack, token).status_code == 401


def test_the_end_of_a_bodys_session_leaves_cookies_alone(owner: Member) -> None:
    assert "set-cookie" not in owner.post(f"{AUTH}/logout").headers


def test_a_new_password_brings_the_browser_a_new_token(stack: Stack, owner: Member, browser: httpx.Client) -> None:
    """The browser's own session goes on.

    A copy of its token that somebody took does not.
    """
    before = browser.cookies[COOKIE]
    second = cookie_of(login(stack, owner.email, headers=BROWSER))[0]
    body = {"current_password": PASSWORD, "new_password": FRESH}
    answer = browser.post(f"{AUTH}/password/change", json=body)
    assert (answer.status_code, answer.content) == (204, b"")
    after = cookie_of(answer)[0]
    assert after != before
    assert refused(by_cookie(stack, second)) == REVOKED
    assert me(stack, browser.headers["Authorization"].removeprefix("Bearer ")).status_code == 200
    assert browser.post(f"{AUTH}/refresh").status_code == 200


def test_the_token_before_a_new_password_is_not_answered_again(stack: Stack, browser: httpx.Client) -> None:
    """It may be a thief's, whom the password is to shut out: no second counts."""
    before = browser.cookies[COOKIE]
    body = {"current_password": PASSWORD, "new_password": FRESH}
    assert browser.post(f"{AUTH}/password/change", json=body).status_code == 204
    assert refused(by_cookie(stack, before)) == REVOKED


def test_a_new_password_makes_no_bodys_session_a_browsers(stack: Stack, owner: Member) -> None:
    body = {"current_password": PASSWORD, "new_password": FRESH}
    answer = owner.post(f"{AUTH}/password/change", json=body, headers=BROWSER)
    assert (answer.status_code, "set-cookie" in answer.headers) == (204, False)
    assert refresh(stack, owner.tokens["refresh_token"]).status_code == 200


def test_no_repeated_answer_has_the_cookie(stack: Stack, owner: Member, browser: httpx.Client) -> None:
    """A kept answer is in the database as it is: the token is not."""
    body = {"current_password": PASSWORD, "new_password": FRESH}
    headers = {"Idempotency-Key": uuid4().hex}
    first = browser.post(f"{AUTH}/password/change", json=body, headers=headers)
    token = cookie_of(first)[0]
    again = browser.post(f"{AUTH}/password/change", json=body, headers=headers)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (204, "true")
    assert "set-cookie" not in again.headers
    kept = stack.sql("SELECT headers::text FROM idempotency_keys WHERE tenant_id = %s", [owner.tenant_id])
    assert kept
    assert not [line for (line,) in kept if token in line]


# Pages of others ------------------------------------------------------------------------------------------------------


def test_nothing_of_identity_is_compressed(owner: Member) -> None:
    for answer in (
        owner.get(f"{AUTH}/me", headers={"Accept-Encoding": "gzip"}),
        owner.post(f"{AUTH}/refresh", json={str(n): n for n in range(200)}, headers={"Accept-Encoding": "gzip"}),
    ):
        assert len(answer.content) > 700
        assert "content-encoding" not in answer.headers
    listed = owner.get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert listed.headers["content-encoding"] == "gzip"


def test_no_page_of_another_origin_may_send_the_header_or_its_cookies(stack: Stack) -> None:
    origin = "https://app.example.com"
    with stack.another_api(CUSHION_CORS_ORIGINS=origin) as url:
        asked = {
            "Origin": origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "x-session",
        }
        preflight = httpx.options(f"{url}{AUTH}/refresh", headers=asked, timeout=60)
        assert preflight.status_code == 400
        assert "x-session" not in preflight.headers.get("access-control-allow-headers", "").lower()
        answer = httpx.post(f"{url}{AUTH}/refresh", headers={"Origin": origin} | BROWSER, timeout=60)
        for each in (preflight, answer):
            assert "access-control-allow-credentials" not in each.headers
