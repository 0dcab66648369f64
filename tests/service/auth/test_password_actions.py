"""Passwords: changed by who knows them, reset by who reads the account's mail.

And what ends with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from service.platform.unit.context import PAUSE_SECONDS
from tests.conftest import PASSWORD, Member, Stack, early_in, member, register
from tests.service.auth.conftest import (
    AUTH,
    audited,
    configure,
    enrolled,
    faults,
    letters,
    login,
    me,
    refresh,
    refused,
    token_of,
)

FRESH = "Brand-New-Horse-8"
INCORRECT = (401, "Incorrect password", "AUTHENTICATION_FAILED")
INVALID = (400, "Invalid or expired token", "VALIDATION_ERROR")


def change(user: Member, current: str = PASSWORD, new: str = FRESH) -> httpx.Response:
    return user.post(f"{AUTH}/password/change", json={"current_password": current, "new_password": new})


def forgot(stack: Stack, email: str, url: str = "", **headers: str) -> httpx.Response:
    return httpx.post(f"{url or stack.url}{AUTH}/password/forgot", json={"email": email}, headers=headers, timeout=60)


def reset(stack: Stack, token: str, new: str = FRESH, url: str = "", **headers: str) -> httpx.Response:
    body = {"token": token, "new_password": new}
    return httpx.post(f"{url or stack.url}{AUTH}/password/reset", json=body, headers=headers, timeout=60)


def reset_token(stack: Stack, email: str, count: int = 1) -> str:
    """Ask for a reset; the token of its letter, the `count`th to this address."""
    assert forgot(stack, email).status_code == 202
    return token_of(letters(stack, email, count)[-1])


# Change ---------------------------------------------------------------------------------------------------------------


def test_a_change_of_the_password(stack: Stack, owner: Member) -> None:
    answer = change(owner)
    assert (answer.status_code, answer.content) == (204, b"")
    assert login(stack, owner.email).status_code == 401
    assert login(stack, owner.email, FRESH).status_code == 200
    assert audited(stack, owner.tenant_id, "user.password_changed")[0][:3] == (owner.user_id, owner.email, "user")


def test_a_change_ends_every_session_but_its_own(stack: Stack, owner: Member) -> None:
    recent, idle = (login(stack, owner.email).json() for _ in range(2))
    analyst = owner.invite("analyst")
    sessions = stack.sql("SELECT id FROM sessions WHERE user_id = %s ORDER BY created_at DESC LIMIT 1", [owner.user_id])
    stack.sql("UPDATE sessions SET used_at = now() - interval '1 day' WHERE id = %s", [sessions[0][0]])
    assert change(owner).status_code == 204
    assert refused(me(stack, recent["access_token"])) == (401, "Token has been revoked", "TOKEN_REVOKED")
    for ended in (recent, idle):
        assert refused(refresh(stack, ended["refresh_token"])) == (
            401,
            "Refresh token has been revoked",
            "TOKEN_REVOKED",
        )
    assert owner.get(f"{AUTH}/me").status_code == 200
    assert refresh(stack, owner.tokens["refresh_token"]).status_code == 200
    assert analyst.get(f"{AUTH}/me").status_code == 200


def test_a_wrong_present_password(stack: Stack, owner: Member) -> None:
    assert refused(change(owner, "Wrong-Horse-7")) == INCORRECT
    assert login(stack, owner.email).status_code == 200
    assert audited(stack, owner.tenant_id, "user.password_changed") == []


@pytest.mark.parametrize(
    ("new", "needs"),
    [
        ("short", ["at least 8 characters", "an uppercase letter", "a digit"]),
        ("correct-horse-7", ["an uppercase letter"]),
        ("", ["at least 8 characters", "an uppercase letter", "a lowercase letter", "a digit"]),
    ],
)
def test_a_new_password_keeps_the_rules(owner: Member, new: str, needs: list[str]) -> None:
    answer = change(owner, new=new)
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert faults(answer) == {"body.new_password": [f"the password needs {rule}" for rule in needs]}


def test_the_same_password_again(owner: Member) -> None:
    answer = change(owner, new=PASSWORD)
    assert answer.status_code == 422
    assert faults(answer) == {"body.new_password": ["this is the present password"]}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"current_password": PASSWORD},
        {"new_password": FRESH},
        {"current_password": 7, "new_password": FRESH},
        {"current_password": PASSWORD, "new_password": "Aa1" * 400},
        {"current_password": "x" * 1025, "new_password": FRESH},
    ],
)
def test_what_is_no_change(owner: Member, body: dict[str, Any]) -> None:
    assert owner.post(f"{AUTH}/password/change", json=body).status_code == 422


def test_a_key_changes_no_password(owner: Member) -> None:
    assert change(owner.key("workbooks:read")).status_code == 403


def test_of_many_changes_at_once_one_counts(stack: Stack, owner: Member) -> None:
    wanted = [f"Brand-New-Horse-{number}" for number in range(5)]
    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(lambda new: change(owner, new=new).status_code, wanted))
    assert sorted(statuses) == [204] + [401] * 4
    good = [login(stack, owner.email, new).status_code == 200 for new in wanted]
    assert good == [status == 204 for status in statuses]


def test_no_login_with_the_old_password_outlives_the_change(stack: Stack, owner: Member) -> None:
    """A login that verified the old password just before the change must not begin a session just after it."""
    with ThreadPoolExecutor(7) as pool:
        logins = [pool.submit(login, stack, owner.email) for _ in range(6)]
        assert pool.submit(change, owner).result().status_code == 204
        tokens = [item.result().json() for item in logins if item.result().status_code == 200]
    for pair in tokens:
        assert me(stack, pair["access_token"]).status_code == 401
        assert refresh(stack, pair["refresh_token"]).status_code == 401


# Forgot ---------------------------------------------------------------------------------------------------------------


def test_a_forgotten_password_is_reset_by_mail(stack: Stack, owner: Member) -> None:
    other_body = login(stack, owner.email).json()
    assert forgot(stack, f" {owner.email.upper()} ").status_code == 202
    answer = reset(stack, token_of(letters(stack, owner.email)[0]))
    assert (answer.status_code, answer.content) == (204, b"")
    assert login(stack, owner.email).status_code == 401
    assert login(stack, owner.email, FRESH).status_code == 200
    for pair in (owner.tokens, other_body):
        assert refused(me(stack, pair["access_token"])) == (401, "Token has been revoked", "TOKEN_REVOKED")
        assert refused(refresh(stack, pair["refresh_token"])) == (401, "All tokens have been revoked", "TOKEN_REVOKED")
    for action in ("user.password_reset_requested", "user.password_reset"):
        assert audited(stack, owner.tenant_id, action)[0][:3] == (owner.user_id, owner.email, "user")


def test_the_letter(stack: Stack, owner: Member) -> None:
    assert forgot(stack, owner.email).status_code == 202
    (letter,) = letters(stack, owner.email)
    assert letter["subject"] == "Reset your Cushion password"
    assert letter["from"] == "Cushion <cushion@localhost>"
    assert str(letter.get_content()).startswith("Hello Olive Owner,")
    token = token_of(letter)
    assert stack.sql("SELECT count(*) FROM password_resets WHERE token_hash = %s", [token.encode()]) == [(0,)]
    kept = stack.sql("SELECT arguments::text FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert len(kept) == 1
    assert token not in kept[0][0]
    assert owner.email not in kept[0][0]
    assert token not in str(stack.sql("SELECT details::text FROM audit_log WHERE tenant_id = %s", [owner.tenant_id]))


def test_who_is_nobody_gets_the_same_answer_and_no_letter(stack: Stack, owner: Member, stranger: Member) -> None:
    inactive = owner.invite("viewer")
    owner.patch(f"/api/v1/admin/users/{inactive.user_id}", json={"status": "inactive"}).raise_for_status()
    invited = f"invited-{uuid4().hex[:12]}@example.com"
    body = {"email": invited, "full_name": "I", "role": "viewer", "send_email": False}
    assert owner.post("/api/v1/admin/users/invite", json=body).status_code == 201
    stack.sql("UPDATE tenants SET status = 'suspended' WHERE id = %s", [stranger.tenant_id])
    unheard = [inactive.email, invited, stranger.email, "nobody@example.com", "%", "", "no address", "x" * 254]
    answers = [forgot(stack, email) for email in [*unheard, owner.email]]
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.content for answer in answers}) == 1
    assert set(answers[0].json()) == {"message"}
    letters(stack, owner.email)  # what was asked for last is done
    for email in unheard[:3]:
        assert letters(stack, email, 0) == []
    tenants = [owner.tenant_id, stranger.tenant_id]
    assert stack.sql("SELECT count(*) FROM password_resets WHERE tenant_id::text = ANY(%s)", [tenants]) == [(1,)]


def test_the_work_for_a_known_email_waits_until_nobody_can_time_it(stack: Stack, owner: Member) -> None:
    """Right behind the answer it would slow the caller's next request, and so tell that somebody has the e-mail."""
    (asked,) = stack.sql("SELECT clock_timestamp()")[0]
    assert forgot(stack, owner.email).status_code == 202
    letters(stack, owner.email)
    (result,) = stack.sql("SELECT created_at FROM password_resets WHERE user_id = %s", [owner.user_id])[0]
    assert (result - asked).total_seconds() >= PAUSE_SECONDS[0]


@pytest.mark.parametrize("body", [{}, {"email": 7}, {"email": "x" * 255}, {"email": None}])
def test_what_asks_for_nothing(stack: Stack, body: dict[str, Any]) -> None:
    assert httpx.post(f"{stack.url}{AUTH}/password/forgot", json=body).status_code == 422


# Reset ----------------------------------------------------------------------------------------------------------------


def test_a_reset_is_good_once_even_for_many_at_once(stack: Stack, owner: Member) -> None:
    token = reset_token(stack, owner.email)
    wanted = [f"Brand-New-Horse-{number}" for number in range(5)]
    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(lambda new: reset(stack, token, new).status_code, wanted))
    assert sorted(statuses) == [204] + [400] * 4
    assert refused(reset(stack, token)) == INVALID
    assert login(stack, owner.email, wanted[statuses.index(204)]).status_code == 200


def test_a_reset_and_a_change_end_the_other_resets(stack: Stack, owner: Member) -> None:
    first, second = (reset_token(stack, owner.email, count) for count in (1, 2))
    assert reset(stack, first).status_code == 204
    assert refused(reset(stack, second)) == INVALID
    third = reset_token(stack, owner.email, 3)
    again = member(stack.url, login(stack, owner.email, FRESH).json(), owner.email)
    assert change(again, FRESH, PASSWORD).status_code == 204
    assert refused(reset(stack, third)) == INVALID


def test_a_reset_runs_out(stack: Stack, owner: Member) -> None:
    token = reset_token(stack, owner.email)
    life = stack.sql("SELECT expires_at - created_at FROM password_resets WHERE user_id = %s", [owner.user_id])[0][0]
    assert abs(life.total_seconds() - 3600) < 60
    stack.sql("UPDATE password_resets SET expires_at = now() WHERE user_id = %s", [owner.user_id])
    assert refused(reset(stack, token)) == INVALID
    assert login(stack, owner.email).status_code == 200


@pytest.mark.parametrize("token", ["", "x", "' OR 1=1 --", "ü" * 100])
def test_no_reset_has_that_token(stack: Stack, token: str) -> None:
    assert refused(reset(stack, token)) == INVALID


def test_a_reset_wants_a_good_password_and_stays_good_meanwhile(stack: Stack, owner: Member) -> None:
    token = reset_token(stack, owner.email)
    answer = reset(stack, token, "weak")
    assert answer.status_code == 422
    assert set(faults(answer)) == {"body.new_password"}
    assert reset(stack, token).status_code == 204


def test_an_invitations_token_resets_nothing(stack: Stack, owner: Member) -> None:
    body = {"email": f"i-{uuid4().hex}@example.com", "full_name": "I", "role": "viewer", "send_email": False}
    invitation = owner.post("/api/v1/admin/users/invite", json=body).json()
    assert refused(reset(stack, invitation["invitation_token"])) == INVALID


def test_a_user_who_became_inactive_resets_nothing(stack: Stack, owner: Member) -> None:
    viewer = owner.invite("viewer")
    token = reset_token(stack, viewer.email)
    owner.patch(f"/api/v1/admin/users/{viewer.user_id}", json={"status": "inactive"}).raise_for_status()
    assert refused(reset(stack, token)) == INVALID


def test_a_reset_leaves_the_second_factor_on(stack: Stack, owner: Member) -> None:
    _, codes = enrolled(stack.url, owner.tokens["access_token"])
    assert reset(stack, reset_token(stack, owner.email)).status_code == 204
    assert refused(login(stack, owner.email, FRESH))[1] == "Two-factor code required"
    assert login(stack, owner.email, FRESH, otp_code=codes[0]).status_code == 200


# How often, and from where --------------------------------------------------------------------------------------------


def elsewhere() -> dict[str, str]:
    """An address that nobody has called from."""
    noise = uuid4().hex
    return {"X-Forwarded-For": f"2001:db8:{noise[:4]}:{noise[4:8]}::1"}


@pytest.fixture(scope="module")
def strict(stack: Stack) -> Iterator[str]:
    """An API with small figures; callers tell their addresses by X-Forwarded-For."""
    with stack.another_api(
        CUSHION_PASSWORD_CHANGES_PER_HOUR="2", CUSHION_LOGIN_PER_MINUTE="3", CUSHION_TRUSTED_PROXIES="127.0.0.1/32"
    ) as url:
        yield url


def test_changes_are_counted_by_user(stack: Stack, strict: str) -> None:
    early_in(3600)
    owner = register(stack.url)
    bearer = {"Authorization": f"Bearer {owner.tokens['access_token']}"}
    body = {"current_password": "Wrong-Horse-7", "new_password": FRESH}
    answers = [
        httpx.post(f"{strict}{AUTH}/password/change", json=body, headers={**bearer, **elsewhere()}, timeout=60)
        for _ in range(3)
    ]
    assert [answer.status_code for answer in answers] == [401, 401, 429]


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_forgotten_ones_are_counted_by_email_known_or_not(stack: Stack, strict: str, known: bool) -> None:
    early_in(3600)
    email = register(stack.url).email if known else f"{uuid4().hex}@example.com"
    spelt = [email, email.upper(), f" {email}"]
    answers = [forgot(stack, item, strict, **elsewhere()) for item in spelt]
    assert [answer.status_code for answer in answers] == [202, 202, 429]


def test_forgotten_ones_and_resets_are_counted_by_address(stack: Stack, strict: str) -> None:
    early_in(60)
    here = elsewhere()
    answers = [forgot(stack, f"{uuid4().hex}@example.com", strict, **here) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
    answers = [reset(stack, "x", url=strict, **here) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429]


def test_a_reset_from_an_address_that_the_tenant_bars(stack: Stack, strict: str) -> None:
    owner = register(stack.url)
    token = reset_token(stack, owner.email)
    configure(stack, owner.tenant_id, allowed_ip_ranges=["192.0.2.0/24"])
    words = (403, "IP address not allowed", "PERMISSION_DENIED")
    assert refused(reset(stack, token, url=strict, **elsewhere())) == words
    assert reset(stack, token, url=strict, **{"X-Forwarded-For": "192.0.2.9"}).status_code == 204
