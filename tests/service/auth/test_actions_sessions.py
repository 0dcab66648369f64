"""Sessions: registration, login, refresh, logout, revocation, and what each of them refuses."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any
from uuid import UUID, uuid4

import httpx
import jwt
import psycopg
import pytest
import redis

from tests.conftest import PASSWORD, Member, Stack, early_in, member, register, wait_until
from tests.service.auth.conftest import AUTH, as_user, audited, configure, drained, faults, login, me, refresh, refused


def registration(**changed: Any) -> dict[str, Any]:
    return {
        "email": f"owner-{uuid4().hex[:12]}@example.com",
        "password": PASSWORD,
        "full_name": "Olive Owner",
        "organization_name": "Acme",
        **changed,
    }


# Registration -------------------------------------------------------------------------------------------------------


def test_registration_makes_a_tenant_and_its_owner(stack: Stack) -> None:
    body = registration(organization_name="Ünïcode & Söhne 株式会社 / CLO")
    answer = httpx.post(f"{stack.url}{AUTH}/register", json=body, headers={"x-request-id": "reg-1"})
    assert answer.status_code == 201
    tokens = answer.json()
    assert set(tokens) == {"access_token", "refresh_token", "token_type"}
    assert tokens["token_type"] == "bearer"
    known = me(stack, tokens["access_token"]).json()
    stated = {"id", "email", "full_name", "tenant_id", "role", "two_factor_enabled"}
    assert set(known) == stated | {"scopes", "tenant"}
    assert (known["email"], known["full_name"], known["role"]) == (body["email"], "Olive Owner", "owner")
    tenant = stack.sql("SELECT name, slug, subscription_tier, status FROM tenants WHERE id = %s", [known["tenant_id"]])[
        0
    ]
    assert (tenant[0], tenant[2], tenant[3]) == (body["organization_name"], "enterprise", "active")
    assert tenant[1].startswith("unicode-sohne-clo")
    assert audited(stack, known["tenant_id"], "user.registered") == [(known["id"], body["email"], "user", "reg-1")]


def test_tokens_carry_the_stated_claims(stack: Stack, owner: Member) -> None:
    access, renewal = (
        jwt.decode(owner.tokens[name], options={"verify_signature": False})
        for name in ("access_token", "refresh_token")
    )
    assert {"sub", "tenant_id", "role", "type", "jti", "iat", "exp"} <= set(access)
    assert {"sub", "tenant_id", "type", "jti", "iat", "exp"} <= set(renewal)
    assert (access["sub"], access["tenant_id"], access["role"], access["type"]) == (
        owner.user_id,
        owner.tenant_id,
        "owner",
        "access",
    )
    assert renewal["type"] == "refresh"
    assert (access["exp"] - access["iat"], renewal["exp"] - renewal["iat"]) == (900, 604_800)
    assert access["jti"] != renewal["jti"]
    assert abs(access["iat"] - time.time()) < 60


def test_one_name_for_many_tenants(stack: Stack) -> None:
    result = [register(stack.url, organization="!!!") for _ in range(3)]
    slugs = {stack.sql("SELECT slug FROM tenants WHERE id = %s", [item.tenant_id])[0][0] for item in result}
    assert len(slugs) == 3


@pytest.mark.parametrize("spell", [str, str.upper, str.title, lambda email: f"  {email} "])
def test_one_email_one_user_whatever_its_case_and_tenant(stack: Stack, owner: Member, spell: Any) -> None:
    answer = httpx.post(f"{stack.url}{AUTH}/register", json=registration(email=spell(owner.email)))
    assert refused(answer) == (400, "Email already registered", "VALIDATION_ERROR")


def test_a_removed_users_email_is_free_again(stack: Stack, owner: Member) -> None:
    viewer = owner.invite("viewer")
    stack.sql("UPDATE users SET status = 'inactive', removed_at = now() WHERE id = %s", [viewer.user_id])
    assert refused(login(stack, viewer.email)) == (401, "Incorrect email or password", "AUTHENTICATION_FAILED")
    again = register(stack.url, viewer.email)
    assert again.user_id != viewer.user_id
    assert me(stack, login(stack, viewer.email).json()["access_token"]).json()["id"] == again.user_id


def test_two_registrations_of_one_email_at_once(stack: Stack) -> None:
    body = registration()
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: httpx.post(f"{stack.url}{AUTH}/register", json=body, timeout=60).status_code, range(8))
        )
    assert sorted(answers) == [201] + [400] * 7
    assert stack.sql("SELECT count(*) FROM users WHERE email = %s", [body["email"]]) == [(1,)]


def test_a_refused_registration_leaves_nothing(stack: Stack, owner: Member) -> None:
    name = f"Nobody {uuid4().hex}"
    assert (
        httpx.post(
            f"{stack.url}{AUTH}/register", json=registration(email=owner.email, organization_name=name)
        ).status_code
        == 400
    )
    assert stack.sql("SELECT count(*) FROM tenants WHERE name = %s", [name]) == [(0,)]


@pytest.mark.parametrize(
    ("password", "needs"),
    [
        ("Short-7", ["at least 8 characters"]),
        ("correct-horse-7", ["an uppercase letter"]),
        ("CORRECT-HORSE-7", ["a lowercase letter"]),
        ("Correct-Horse", ["a digit"]),
        ("", ["at least 8 characters", "an uppercase letter", "a lowercase letter", "a digit"]),
        ("        ", ["an uppercase letter", "a lowercase letter", "a digit"]),
    ],
)
def test_a_weak_password_is_told_every_rule_that_it_breaks(stack: Stack, password: str, needs: list[str]) -> None:
    answer = httpx.post(f"{stack.url}{AUTH}/register", json=registration(password=password))
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert faults(answer) == {"body.password": [f"the password needs {rule}" for rule in needs]}
    assert not password or password.strip() == "" or password not in answer.text


@pytest.mark.parametrize(
    "email",
    [
        "",
        "olive",
        "@example.com",
        "olive@",
        "olive@example",
        "a b@example.com",
        "olive@exa mple.com",
        "olive@@example.com",
        "olive@example.com\r\nBcc: all@example.com",
        "olive\n@example.com",
        "<olive@example.com>",
        '"olive"@example.com',
        "olive@example.com,other@example.com",
        "olive\x01@example.com",
        "x" * 65 + "@example.com",
        "x" * 64 + "@" + "y" * 250 + ".com",
    ],
)
def test_what_is_no_email_is_refused(stack: Stack, email: str) -> None:
    answer = httpx.post(f"{stack.url}{AUTH}/register", json=registration(email=email))
    assert refused(answer) == (422, "Validation error", "VALIDATION_ERROR")
    assert set(faults(answer)) == {"body.email"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("full_name", ""),
        ("full_name", " \t"),
        ("full_name", "x" * 201),
        ("organization_name", ""),
        ("organization_name", "   "),
        ("password", "Aa1" * 400),
    ],
)
def test_bounds_of_a_registration(stack: Stack, field: str, value: str) -> None:
    answer = httpx.post(f"{stack.url}{AUTH}/register", json=registration(**{field: value}))
    assert (answer.status_code, set(faults(answer))) == (422, {f"body.{field}"})


# Login --------------------------------------------------------------------------------------------------------------


def test_a_login_by_any_case_of_the_email(stack: Stack, owner: Member) -> None:
    for email in (owner.email, owner.email.upper(), f" {owner.email} "):
        answer = login(stack, email)
        assert answer.status_code == 200
        assert me(stack, answer.json()["access_token"]).json()["id"] == owner.user_id
    assert stack.sql("SELECT login_count, last_login IS NOT NULL FROM users WHERE id = %s", [owner.user_id]) == [
        (4, True)
    ]
    assert len(audited(stack, owner.tenant_id, "user.logged_in")) == 3
    assert audited(stack, owner.tenant_id, "user.logged_in")[0][:3] == (owner.user_id, owner.email, "user")


@pytest.mark.parametrize(
    "email",
    ["", "nobody@example.com", "%", "_wner%@example.com", "' OR '1'='1", "olive@example.com'; DROP TABLE users; --"],
)
def test_an_unknown_email_is_refused_as_a_wrong_password_is(stack: Stack, owner: Member, email: str) -> None:
    wrong = refused(login(stack, owner.email, "Wrong-Horse-7"))
    assert wrong == (401, "Incorrect email or password", "AUTHENTICATION_FAILED")
    assert refused(login(stack, email)) == wrong


def test_a_login_that_failed_is_recorded(stack: Stack, owner: Member) -> None:
    answers = [login(stack, owner.email, "Wrong-Horse-7", headers={"x-request-id": f"bad-{n}"}) for n in range(2)]
    assert {answer.status_code for answer in answers} == {401}
    assert drained(stack, owner.tenant_id, "user.login_failed", 2) == [{"wrong": "password"}] * 2
    rows = audited(stack, owner.tenant_id, "user.login_failed")
    assert sorted(row[3] for row in rows) == ["bad-0", "bad-1"]
    assert {row[:3] for row in rows} == {(owner.user_id, owner.email, "user")}


def test_a_login_takes_as_long_for_who_does_not_exist(stack: Stack) -> None:
    """A hash that is skipped would take nearly all of the time with it.

    A busy machine slows both alike.
    """
    known, unknown = [], []
    with stack.hashing() as hashing:
        email = register(hashing.url).email
        for number in range(7):
            for tried, times in ((email, known), (f"nobody-{number}@example.com", unknown)):
                begun = time.perf_counter()
                assert login(hashing, tried, "Wrong-Horse-7").status_code == 401
                times.append(time.perf_counter() - begun)
    assert 0.6 < median(unknown) / median(known) < 1 / 0.6


@pytest.fixture(scope="module")
def strict(stack: Stack) -> Iterator[str]:
    """An API that takes three wrong passwords an hour.

    Callers tell their addresses by X-Forwarded-For.
    """
    with stack.another_api(CUSHION_FAILED_LOGINS_PER_HOUR="3", CUSHION_TRUSTED_PROXIES="127.0.0.1/32") as url:
        yield url


def elsewhere() -> dict[str, str]:
    """An address that nobody has called from."""
    noise = uuid4().hex
    return {"X-Forwarded-For": f"2001:db8:{noise[:4]}:{noise[4:8]}::1"}


@pytest.mark.parametrize("known", [True, False], ids=["known", "unknown"])
def test_wrong_passwords_of_one_account_are_counted_wherever_they_come_from(
    stack: Stack, strict: str, known: bool
) -> None:
    early_in(3600)
    email = register(stack.url).email if known else f"{uuid4().hex}@example.com"
    spelt = [email, email.upper(), f" {email}", email.title(), email]
    answers = [login(stack, item, "Wrong-Horse-7", url=strict, headers=elsewhere()) for item in spelt]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert refused(answers[3]) == (429, "Rate limit exceeded", "RATE_LIMIT_EXCEEDED")
    assert int(answers[3].headers["retry-after"]) >= 1
    assert login(stack, email, url=strict, headers=elsewhere()).status_code == 429, "used up for the right one, too"


def test_spellings_that_find_one_account_share_its_tries(stack: Stack, strict: str) -> None:
    early_in(3600)
    email = register(stack.url, f"ivi-{uuid4().hex[:12]}@example.com").email
    spellings = [email, email.upper(), email.replace("i", "\u0130", 1), email.replace("i", "\u0130")]
    assert login(stack, spellings[-1]).status_code == 200, "the database takes it for an i"
    answers = [login(stack, spelling, "Wrong-Horse-7", strict, headers=elsewhere()) for spelling in spellings]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429]


def test_right_passwords_count_for_nothing(stack: Stack, owner: Member, strict: str) -> None:
    answers = [login(stack, owner.email, url=strict, headers=elsewhere()) for _ in range(6)]
    assert {answer.status_code for answer in answers} == {200}


def test_of_many_wrong_passwords_at_once_not_one_too_many_counts(stack: Stack, owner: Member, strict: str) -> None:
    early_in(3600)
    with ThreadPoolExecutor(10) as pool:
        tries = [
            pool.submit(login, stack, owner.email, "Wrong-Horse-7", url=strict, headers=elsewhere()) for _ in range(10)
        ]
        statuses = sorted(item.result().status_code for item in tries)
    assert statuses == [401] * 3 + [429] * 7


def test_a_login_that_a_demotion_overtakes_gets_the_new_role(stack: Stack, owner: Member) -> None:
    """The login read the user before it hashed the password.

    Its tokens must not carry what it read then.
    """
    admin = owner.invite("admin")
    with ThreadPoolExecutor(1) as pool, psycopg.connect(stack.database_url) as changing:
        changing.execute("SELECT FROM users WHERE id = %s FOR UPDATE", [admin.user_id])
        overtaken = pool.submit(login, stack, admin.email)
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%login_count + 1%'"
        wait_until(lambda: stack.sql(waiting), what="the login that waits for the user")
        changing.execute(
            "UPDATE users SET role = 'viewer', token_generation = token_generation + 1 WHERE id = %s", [admin.user_id]
        )
    token = overtaken.result().json()["access_token"]
    assert jwt.decode(token, options={"verify_signature": False})["role"] == "viewer"
    with as_user(stack, token) as demoted:
        assert demoted.get("/api/v1/admin/users").status_code == 403


def test_an_invited_user_has_no_password_to_log_in_with(stack: Stack, owner: Member) -> None:
    email = f"invited-{uuid4().hex}@example.com"
    owner.post(
        "/api/v1/admin/users/invite", json={"email": email, "full_name": "I", "role": "analyst"}
    ).raise_for_status()
    for password in ("", PASSWORD):
        assert refused(login(stack, email, password)) == (401, "Incorrect email or password", "AUTHENTICATION_FAILED")


def test_a_deactivated_user_is_told_so_with_the_right_password_only(stack: Stack, owner: Member) -> None:
    analyst = owner.invite("analyst")
    owner.patch(f"/api/v1/admin/users/{analyst.user_id}", json={"status": "inactive"}).raise_for_status()
    assert refused(login(stack, analyst.email)) == (401, "User account is deactivated", "AUTHENTICATION_FAILED")
    assert refused(login(stack, analyst.email, "Wrong-Horse-7"))[1] == "Incorrect email or password"


# Refresh ------------------------------------------------------------------------------------------------------------


def test_a_refresh_token_is_good_once(stack: Stack, owner: Member) -> None:
    second = refresh(stack, owner.tokens["refresh_token"])
    assert second.status_code == 200
    assert set(second.json()) == {"access_token", "refresh_token", "token_type"}
    third = refresh(stack, second.json()["refresh_token"])
    assert third.status_code == 200
    assert me(stack, third.json()["access_token"]).status_code == 200


def test_a_used_refresh_token_that_comes_back_ends_the_whole_family(stack: Stack, owner: Member) -> None:
    second = refresh(stack, owner.tokens["refresh_token"]).json()
    again = refresh(stack, owner.tokens["refresh_token"])
    assert refused(again) == (401, "Refresh token has been revoked", "TOKEN_REVOKED")
    assert refused(refresh(stack, second["refresh_token"])) == (401, "Refresh token has been revoked", "TOKEN_REVOKED")
    for token in (owner.tokens["access_token"], second["access_token"]):
        assert refused(me(stack, token)) == (401, "Token has been revoked", "TOKEN_REVOKED")
    assert login(stack, owner.email).status_code == 200, "other sessions go on"
    ended = drained(stack, owner.tenant_id, "user.session_ended")
    assert ended == [{"reason": "refresh_token_reused"}], "told once, and not for the refusals that follow"
    assert audited(stack, owner.tenant_id, "user.session_ended")[0][:3] == (owner.user_id, owner.email, "user")


def test_one_of_two_refreshes_at_once_wins_and_the_family_ends(stack: Stack, owner: Member) -> None:
    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(lambda _: refresh(stack, owner.tokens["refresh_token"]).status_code, range(6)))
    assert statuses == [200] + [401] * 5


@pytest.mark.parametrize("token", ["", "x", "x.y.z", "\U0001f984", "eyJhbGciOiJub25lIn0.e30."])
def test_a_malformed_refresh_token(stack: Stack, token: str) -> None:
    assert refused(refresh(stack, token)) == (401, "Invalid refresh token", "INVALID_TOKEN")


def test_an_access_token_is_no_refresh_token(stack: Stack, owner: Member) -> None:
    assert refused(refresh(stack, owner.tokens["access_token"])) == (401, "Invalid refresh token", "INVALID_TOKEN")
    assert refused(me(stack, owner.tokens["refresh_token"])) == (401, "Invalid or expired token", "INVALID_TOKEN")


def test_a_refresh_token_of_a_session_that_is_gone(stack: Stack, owner: Member) -> None:
    stack.sql("DELETE FROM sessions WHERE tenant_id = %s", [owner.tenant_id])
    assert refused(refresh(stack, owner.tokens["refresh_token"])) == (401, "Invalid refresh token", "INVALID_TOKEN")


def test_tokens_run_out(stack: Stack) -> None:
    with stack.another_api(CUSHION_ACCESS_TOKEN_SECONDS="1", CUSHION_REFRESH_TOKEN_SECONDS="2") as url:
        tokens = httpx.post(f"{url}{AUTH}/register", json=registration(), timeout=60).json()
    time.sleep(
        max(0.0, jwt.decode(tokens["refresh_token"], options={"verify_signature": False})["exp"] - time.time()) + 0.1
    )
    assert refused(me(stack, tokens["access_token"])) == (401, "Invalid or expired token", "INVALID_TOKEN")
    assert refused(refresh(stack, tokens["refresh_token"])) == (401, "Invalid refresh token", "INVALID_TOKEN")


def test_another_deployments_token(stack: Stack, owner: Member) -> None:
    claims = jwt.decode(owner.tokens["access_token"], options={"verify_signature": False})
    for forged in (jwt.encode(claims, "k" * 40, "HS256"), jwt.encode(claims, None, "none")):
        assert refused(me(stack, forged)) == (401, "Invalid or expired token", "INVALID_TOKEN")


# The end of a session -----------------------------------------------------------------------------------------------


def test_logout_ends_its_session_and_no_other(stack: Stack, owner: Member) -> None:
    other_body = login(stack, owner.email).json()
    answer = owner.post(f"{AUTH}/logout")
    assert (answer.status_code, answer.content) == (204, b"")
    assert refused(me(stack, owner.tokens["access_token"])) == (401, "Token has been revoked", "TOKEN_REVOKED")
    assert refused(refresh(stack, owner.tokens["refresh_token"])) == (
        401,
        "Refresh token has been revoked",
        "TOKEN_REVOKED",
    )
    assert me(stack, other_body["access_token"]).status_code == 200
    assert refresh(stack, other_body["refresh_token"]).status_code == 200
    assert audited(stack, owner.tenant_id, "user.logged_out")[0][:3] == (owner.user_id, owner.email, "user")


def test_revoke_all_ends_every_session_of_the_user_and_of_nobody_else(stack: Stack, owner: Member) -> None:
    second, analyst = login(stack, owner.email).json(), owner.invite("analyst")
    assert owner.post(f"{AUTH}/revoke-all-tokens").status_code == 204
    for tokens in (owner.tokens, second):
        assert refused(me(stack, tokens["access_token"])) == (401, "Token has been revoked", "TOKEN_REVOKED")
        assert refused(refresh(stack, tokens["refresh_token"])) == (
            401,
            "All tokens have been revoked",
            "TOKEN_REVOKED",
        )
    assert analyst.get(f"{AUTH}/me").status_code == 200
    assert me(stack, login(stack, owner.email).json()["access_token"]).status_code == 200
    assert len(audited(stack, owner.tenant_id, "user.tokens_revoked")) == 1


def test_revocations_outlive_a_flush_of_redis(stack: Stack, owner: Member) -> None:
    """Whatever is asked first after the flush, the revoked tokens stay so, and the good ones stay good."""
    logged_out, good = (member(stack.url, login(stack, owner.email).json(), owner.email) for _ in range(2))
    assert logged_out.post(f"{AUTH}/logout").status_code == 204
    analyst = owner.invite("analyst")
    owner.patch(f"/api/v1/admin/users/{analyst.user_id}", json={"role": "viewer"}).raise_for_status()
    with redis.Redis.from_url(stack.redis_url) as server:
        server.flushdb()
    dead = [logged_out.tokens["access_token"], analyst.tokens["access_token"]] * 8
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda token: refused(me(stack, token)), dead))
    assert set(answers) == {(401, "Token has been revoked", "TOKEN_REVOKED")}
    assert good.get(f"{AUTH}/me").status_code == 200


def test_logging_out_needs_a_token_that_is_still_good(stack: Stack, owner: Member) -> None:
    assert owner.post(f"{AUTH}/logout").status_code == 204
    assert refused(owner.post(f"{AUTH}/logout")) == (401, "Token has been revoked", "TOKEN_REVOKED")
    assert refused(owner.post(f"{AUTH}/revoke-all-tokens"))[0] == 401


# A tenant that may not work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["suspended", "cancelled"])
def test_a_suspended_tenant(stack: Stack, owner: Member, status: str) -> None:
    key = owner.key("workbooks:read")
    stack.sql("UPDATE tenants SET status = %s WHERE id = %s", [status, owner.tenant_id])
    with redis.Redis.from_url(stack.redis_url) as server:
        server.delete(f"cushion:tenant:{owner.tenant_id}")
    words = (403, "Tenant is suspended", "PERMISSION_DENIED")
    assert refused(owner.get(f"{AUTH}/me")) == words
    assert refused(key.get(f"{AUTH}/me")) == words
    assert refused(login(stack, owner.email)) == words
    assert refused(refresh(stack, owner.tokens["refresh_token"])) == words
    assert {"x-ratelimit-limit"} <= set(owner.get(f"{AUTH}/me").headers)


# A tenant's own rules ------------------------------------------------------------------------------------------------

BARRED = (403, "IP address not allowed", "PERMISSION_DENIED")


def test_only_addresses_on_the_tenants_list_get_tokens(stack: Stack, owner: Member, strict: str) -> None:
    token = invited(owner)["invitation_token"]
    configure(stack, owner.tenant_id, allowed_ip_ranges=["192.0.2.0/24", "2001:db8:aaaa::/48"])
    body = {"token": token, "password": PASSWORD}
    outside = {"X-Forwarded-For": "198.51.100.7"}
    assert refused(login(stack, owner.email, url=strict, headers=outside)) == BARRED
    assert refused(refresh(stack, owner.tokens["refresh_token"], strict, **outside)) == BARRED
    assert refused(httpx.post(f"{strict}{AUTH}/accept-invitation", json=body, headers=outside)) == BARRED
    for address in ("192.0.2.200", "2001:db8:aaaa:1::5", "::ffff:192.0.2.1"):
        assert login(stack, owner.email, url=strict, headers={"X-Forwarded-For": address}).status_code == 200
    inside = {"X-Forwarded-For": "192.0.2.200"}
    assert refresh(stack, owner.tokens["refresh_token"], strict, **inside).status_code == 200
    assert httpx.post(f"{strict}{AUTH}/accept-invitation", json=body, headers=inside, timeout=60).status_code == 200


def test_a_wrong_password_does_not_tell_of_the_list(stack: Stack, owner: Member, strict: str) -> None:
    configure(stack, owner.tenant_id, allowed_ip_ranges=["192.0.2.0/24"])
    answer = login(stack, owner.email, "Wrong-Horse-7", url=strict, headers=elsewhere())
    assert refused(answer)[1] == "Incorrect email or password"


def test_reuse_of_a_refresh_token_ends_the_family_from_any_address(stack: Stack, owner: Member, strict: str) -> None:
    configure(stack, owner.tenant_id, allowed_ip_ranges=["192.0.2.0/24"])
    inside = {"X-Forwarded-For": "192.0.2.200"}
    second = refresh(stack, owner.tokens["refresh_token"], strict, **inside).json()
    assert refused(refresh(stack, owner.tokens["refresh_token"], strict, **elsewhere()))[2] == "TOKEN_REVOKED"
    assert refused(refresh(stack, second["refresh_token"], strict, **inside))[2] == "TOKEN_REVOKED"


def unused_for(stack: Stack, owner: Member, minutes: int) -> None:
    """The session's last refresh was so long ago, and no request is known of."""
    session = jwt.decode(owner.tokens["access_token"], options={"verify_signature": False})["sid"]
    stack.sql("UPDATE sessions SET used_at = now() - make_interval(mins => %s) WHERE id = %s", [minutes, session])
    with redis.Redis.from_url(stack.redis_url) as server:
        server.delete(f"cushion:seen:{session}")


def test_an_idle_session_ends(stack: Stack, owner: Member) -> None:
    configure(stack, owner.tenant_id, session_timeout_minutes=20)
    unused_for(stack, owner, 21)
    invalid = (401, "Invalid refresh token", "INVALID_TOKEN")
    assert refused(refresh(stack, owner.tokens["refresh_token"])) == invalid
    assert refused(owner.get(f"{AUTH}/me")) == (401, "Token has been revoked", "TOKEN_REVOKED")
    assert refused(refresh(stack, owner.tokens["refresh_token"]))[2] == "TOKEN_REVOKED"
    assert drained(stack, owner.tenant_id, "user.session_ended") == [{"reason": "idle"}]


def test_a_session_in_use_goes_on(stack: Stack, owner: Member) -> None:
    configure(stack, owner.tenant_id, session_timeout_minutes=20)
    unused_for(stack, owner, 19)
    second = refresh(stack, owner.tokens["refresh_token"])
    assert second.status_code == 200, "a minute was left"
    unused_for(stack, owner, 21)
    assert owner.get(f"{AUTH}/me").status_code == 200
    third = refresh(stack, second.json()["refresh_token"])
    assert third.status_code == 200, "a request was made just now"
    session = jwt.decode(third.json()["access_token"], options={"verify_signature": False})["sid"]
    assert stack.sql("SELECT now() - used_at < interval '1 minute' FROM sessions WHERE id = %s", [session]) == [(True,)]


def test_without_a_timeout_a_session_lasts_as_long_as_its_tokens(stack: Stack, owner: Member) -> None:
    unused_for(stack, owner, 6 * 24 * 60)
    assert refresh(stack, owner.tokens["refresh_token"]).status_code == 200


# Invitations --------------------------------------------------------------------------------------------------------


def invited(owner: Member, **changed: Any) -> dict[str, Any]:
    body = {"email": f"new-{uuid4().hex}@example.com", "full_name": "Nora New", "role": "analyst", **changed}
    answer = owner.post("/api/v1/admin/users/invite", json=body)
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


def accept(stack: Stack, token: str, password: str = PASSWORD) -> httpx.Response:
    return httpx.post(f"{stack.url}{AUTH}/accept-invitation", json={"token": token, "password": password}, timeout=60)


def test_an_invited_user_joins(stack: Stack, owner: Member) -> None:
    invitation = invited(owner)
    answer = accept(stack, invitation["invitation_token"])
    assert answer.status_code == 200
    known = me(stack, answer.json()["access_token"]).json()
    assert (known["email"], known["role"], known["tenant_id"]) == (invitation["email"], "analyst", owner.tenant_id)
    assert login(stack, invitation["email"]).status_code == 200
    assert audited(stack, owner.tenant_id, "user.joined")[0][:3] == (known["id"], invitation["email"], "user")
    assert stack.sql(
        "SELECT count(*) FROM invitations WHERE token_hash = %s", [invitation["invitation_token"].encode()]
    ) == [(0,)]


def test_an_invitation_is_good_once(stack: Stack, owner: Member) -> None:
    token = invited(owner)["invitation_token"]
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: accept(stack, token).status_code, range(4)))
    assert statuses == [200, 400, 400, 400]
    assert refused(accept(stack, token)) == (400, "Invalid or expired invitation", "VALIDATION_ERROR")


@pytest.mark.parametrize("token", ["", "x", "' OR 1=1 --", "ü" * 100])
def test_no_invitation_has_that_token(stack: Stack, token: str) -> None:
    assert refused(accept(stack, token)) == (400, "Invalid or expired invitation", "VALIDATION_ERROR")


def test_an_invitation_runs_out(stack: Stack, owner: Member) -> None:
    invitation = invited(owner)
    stack.sql("UPDATE invitations SET expires_at = now() WHERE tenant_id = %s", [owner.tenant_id])
    assert refused(accept(stack, invitation["invitation_token"]))[1] == "Invalid or expired invitation"


def test_an_invitation_wants_a_good_password_and_stays_good_meanwhile(stack: Stack, owner: Member) -> None:
    token = invited(owner)["invitation_token"]
    answer = accept(stack, token, "weak")
    assert answer.status_code == 422
    assert set(faults(answer)) == {"body.password"}
    assert accept(stack, token).status_code == 200


def test_me_with_a_key_is_its_creator(stack: Stack, owner: Member) -> None:
    known = owner.key("workbooks:read").get(f"{AUTH}/me").json()
    assert known == owner.get(f"{AUTH}/me").json() | {"scopes": ["workbooks:read"]}
    assert UUID(owner.user_id).version == 4
