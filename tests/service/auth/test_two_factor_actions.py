"""Two-factor login.

Enrolment, codes that are good once, recovery codes, and tenants that require it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pyotp
import pytest

from tests.conftest import Member, Stack, early_in, register
from tests.service.auth.conftest import (
    AUTH,
    STEP_SECONDS,
    Authenticator,
    audited,
    configure,
    drained,
    enrolled,
    login,
    me,
    refused,
)

REQUIRED = (401, "Two-factor code required", "AUTHENTICATION_FAILED")
WRONG = (401, "Invalid two-factor code", "AUTHENTICATION_FAILED")
LIMITED = (429, "Rate limit exceeded", "RATE_LIMIT_EXCEEDED")


def enroll(user: Member) -> httpx.Response:
    return user.post(f"{AUTH}/2fa/enroll")


def verify(user: Member, code: str) -> httpx.Response:
    return user.post(f"{AUTH}/2fa/verify", json={"code": code})


def disable(user: Member, code: str) -> httpx.Response:
    return user.post(f"{AUTH}/2fa/disable", json={"code": code})


# Enrolment ------------------------------------------------------------------------------------------------------------


def test_enrolment_gives_what_an_authenticator_reads(stack: Stack, owner: Member) -> None:
    answer = enroll(owner)
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"secret", "otpauth_uri"}
    read = pyotp.parse_uri(body["otpauth_uri"])
    assert isinstance(read, pyotp.TOTP)
    assert (read.secret, read.name, read.issuer) == (body["secret"], owner.email, "Cushion")
    assert (read.digits, read.interval) == (6, 30)
    assert len(body["secret"]) == 32
    begun = audited(stack, owner.tenant_id, "user.two_factor_enrolment_begun")
    assert [row[:3] for row in begun] == [(owner.user_id, owner.email, "user")]
    rows = stack.sql("SELECT details::text FROM audit_log WHERE tenant_id = %s", [owner.tenant_id])
    assert body["secret"] not in str(rows)


def test_nothing_changes_until_a_code_is_verified(stack: Stack, owner: Member) -> None:
    assert enroll(owner).status_code == 200
    assert login(stack, owner.email).status_code == 200
    assert owner.get(f"{AUTH}/me").json()["two_factor_enabled"] is False
    assert audited(stack, owner.tenant_id, "user.two_factor_enabled") == []


def test_verifying_turns_it_on(stack: Stack, owner: Member) -> None:
    authenticator = Authenticator(enroll(owner).json()["secret"])
    answer = verify(owner, authenticator.next())
    assert answer.status_code == 200
    assert set(answer.json()) == {"recovery_codes"}
    codes = answer.json()["recovery_codes"]
    assert len(set(codes)) == 10
    assert all(len(code.replace("-", "")) == 16 for code in codes)
    assert owner.get(f"{AUTH}/me").json()["two_factor_enabled"] is True
    assert refused(login(stack, owner.email)) == REQUIRED
    assert audited(stack, owner.tenant_id, "user.two_factor_enabled")[0][:3] == (owner.user_id, owner.email, "user")


def test_nothing_of_it_is_stored_in_the_clear(stack: Stack, owner: Member) -> None:
    begun = enroll(owner).json()["secret"]
    pending = stack.sql("SELECT two_factor_pending FROM users WHERE id = %s", [owner.user_id])[0][0]
    assert begun not in pending
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])
    sealed, left = stack.sql("SELECT two_factor_secret, two_factor_pending FROM users WHERE id = %s", [owner.user_id])[
        0
    ]
    assert authenticator.totp.secret not in sealed
    assert left is None
    hashes = {bytes(row[0]) for row in stack.sql("SELECT code_hash FROM recovery_codes")}
    assert not any(code.replace("-", "").encode() in hashed for code in codes for hashed in hashes)
    details = stack.sql("SELECT details::text FROM audit_log WHERE tenant_id = %s", [owner.tenant_id])
    assert not any(authenticator.totp.secret in row[0] for row in details)


def test_the_last_secret_that_was_given_counts(stack: Stack, owner: Member) -> None:
    first, second = (Authenticator(enroll(owner).json()["secret"]) for _ in range(2))
    assert refused(verify(owner, first.next())) == WRONG
    assert verify(owner, second.next()).status_code == 200


def test_verifying_without_enrolment(owner: Member) -> None:
    assert refused(verify(owner, "123456")) == (409, "Two-factor enrolment has not begun", "CONFLICT")


@pytest.mark.parametrize("code", ["", "12345", "1234567", "abcdef", "１２３４５６", "-1", "0x1f", "' OR 1=1 --"])
def test_verifying_with_what_is_no_code(owner: Member, code: str) -> None:
    assert enroll(owner).status_code == 200
    assert refused(verify(owner, code)) == WRONG
    assert owner.get(f"{AUTH}/me").json()["two_factor_enabled"] is False


def test_enrolling_twice(stack: Stack, owner: Member) -> None:
    enrolled(stack.url, owner.tokens["access_token"])
    assert refused(enroll(owner)) == (409, "Two-factor is already enabled", "CONFLICT")
    assert refused(verify(owner, "123456")) == (409, "Two-factor enrolment has not begun", "CONFLICT")


def test_a_key_has_no_second_factor(owner: Member) -> None:
    key = owner.key("workbooks:read")
    for path, body in (("enroll", None), ("verify", {"code": "1"}), ("disable", {"code": "1"})):
        assert key.post(f"{AUTH}/2fa/{path}", json=body).status_code == 403


# Codes ----------------------------------------------------------------------------------------------------------------


def enrolled_long_ago(stack: Stack, owner: Member) -> Authenticator:
    """Two-factor login is on, and no code of these days is used up."""
    authenticator, _ = enrolled(stack.url, owner.tokens["access_token"])
    stack.sql("UPDATE users SET two_factor_step = 0 WHERE id = %s", [owner.user_id])
    return Authenticator(authenticator.totp.secret)


def test_a_login_with_its_code(stack: Stack, owner: Member) -> None:
    authenticator, _ = enrolled(stack.url, owner.tokens["access_token"])
    assert refused(login(stack, owner.email, otp_code=authenticator.wrong())) == WRONG
    assert refused(login(stack, owner.email, otp_code="")) == refused(login(stack, owner.email))
    answer = login(stack, owner.email, otp_code=authenticator.next())
    assert answer.status_code == 200
    assert me(stack, answer.json()["access_token"]).json()["id"] == owner.user_id
    assert [row["wrong"] for row in drained(stack, owner.tenant_id, "user.login_failed", 1)] == ["two_factor_code"]


def test_people_write_blanks_into_codes(stack: Stack, owner: Member) -> None:
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])
    code = authenticator.next()
    assert login(stack, owner.email, otp_code=f" {code[:3]} {code[3:]}").status_code == 200
    assert login(stack, owner.email, otp_code=codes[0].replace("-", " ").lower()).status_code == 200


def test_a_code_is_accepted_once(stack: Stack, owner: Member) -> None:
    """RFC 6238, 5.2: neither the code that proved the enrolment nor that of a login is good again."""
    authenticator = Authenticator(enroll(owner).json()["secret"])
    proof = authenticator.next()
    assert verify(owner, proof).status_code == 200
    assert refused(login(stack, owner.email, otp_code=proof)) == WRONG
    code = authenticator.next()
    assert login(stack, owner.email, otp_code=code).status_code == 200
    assert refused(login(stack, owner.email, otp_code=code)) == WRONG
    assert refused(disable(owner, code)) == WRONG


def test_a_code_from_before_the_last_one_is_void(stack: Stack, owner: Member) -> None:
    authenticator = enrolled_long_ago(stack, owner)
    earlier, later = authenticator.next(), authenticator.next()
    assert login(stack, owner.email, otp_code=later).status_code == 200
    assert refused(login(stack, owner.email, otp_code=earlier)) == WRONG


def test_the_clocks_of_a_phone_and_of_the_service_may_differ_by_a_step(stack: Stack, owner: Member) -> None:
    authenticator = enrolled_long_ago(stack, owner)
    early_in(STEP_SECONDS, needed=15)
    present = int(time.time()) // STEP_SECONDS
    for step in (present - 1, present, present + 1):
        assert login(stack, owner.email, otp_code=authenticator.totp.generate_otp(step)).status_code == 200


@pytest.mark.parametrize("distance", [-3, 3])
def test_a_code_of_another_time(stack: Stack, owner: Member, distance: int) -> None:
    authenticator, _ = enrolled(stack.url, owner.tokens["access_token"])
    code = authenticator.totp.generate_otp(int(time.time()) // STEP_SECONDS + distance)
    assert refused(login(stack, owner.email, otp_code=code)) == WRONG


def test_one_code_and_many_logins_at_once(stack: Stack, owner: Member) -> None:
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])
    for code in (authenticator.next(), codes[0]):
        with ThreadPoolExecutor(6) as pool:
            tries = [pool.submit(login, stack, owner.email, otp_code=code) for _ in range(6)]
            statuses = sorted(item.result().status_code for item in tries)
        assert statuses == [200] + [401] * 5


def test_a_recovery_code_is_good_once(stack: Stack, owner: Member) -> None:
    _, codes = enrolled(stack.url, owner.tokens["access_token"])
    for code in codes[:3]:
        assert login(stack, owner.email, otp_code=code).status_code == 200
        assert refused(login(stack, owner.email, otp_code=code)) == WRONG
    used = stack.sql("SELECT count(*) FROM recovery_codes WHERE user_id = %s AND used_at IS NOT NULL", [owner.user_id])
    assert used == [(3,)]


def test_codes_are_their_users_own(stack: Stack, owner: Member) -> None:
    analyst = owner.invite("analyst")
    _, my_codes = enrolled(stack.url, owner.tokens["access_token"])
    theirs, their_codes = enrolled(stack.url, analyst.tokens["access_token"])
    assert refused(login(stack, owner.email, otp_code=their_codes[0])) == WRONG
    assert refused(login(stack, owner.email, otp_code=theirs.next())) == WRONG
    assert refused(disable(analyst, my_codes[0])) == WRONG
    assert login(stack, analyst.email, otp_code=their_codes[0]).status_code == 200


def test_a_wrong_password_does_not_tell_that_there_is_a_second_factor(stack: Stack, owner: Member) -> None:
    authenticator, _ = enrolled(stack.url, owner.tokens["access_token"])
    for more in ({}, {"otp_code": authenticator.wrong()}, {"otp_code": authenticator.totp.now()}):
        answer = login(stack, owner.email, "Wrong-Horse-7", **more)
        assert refused(answer) == (401, "Incorrect email or password", "AUTHENTICATION_FAILED")


def test_a_code_that_nobody_asked_for_does_no_harm(stack: Stack, owner: Member) -> None:
    assert login(stack, owner.email, otp_code="123456").status_code == 200


def test_with_another_secret_key_no_code_is_known_and_nothing_breaks(stack: Stack, owner: Member) -> None:
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])
    with stack.another_api(CUSHION_SECRET_KEY="another-secret-" * 4) as url:
        for code in (authenticator.next(), codes[0]):
            assert refused(login(stack, owner.email, url=url, otp_code=code)) == WRONG
    assert login(stack, owner.email, otp_code=codes[0]).status_code == 200


# The end of it --------------------------------------------------------------------------------------------------------


def test_turning_it_off(stack: Stack, owner: Member) -> None:
    authenticator, _ = enrolled(stack.url, owner.tokens["access_token"])
    assert refused(disable(owner, authenticator.wrong())) == WRONG
    answer = disable(owner, authenticator.next())
    assert (answer.status_code, answer.content) == (204, b"")
    assert login(stack, owner.email).status_code == 200
    assert owner.get(f"{AUTH}/me").json()["two_factor_enabled"] is False
    assert stack.sql("SELECT count(*) FROM recovery_codes WHERE user_id = %s", [owner.user_id]) == [(0,)]
    assert audited(stack, owner.tenant_id, "user.two_factor_disabled")[0][:3] == (owner.user_id, owner.email, "user")
    assert refused(disable(owner, authenticator.wrong())) == (409, "Two-factor is not enabled", "CONFLICT")


def test_turning_it_off_by_a_recovery_code_and_on_again(stack: Stack, owner: Member) -> None:
    _, codes = enrolled(stack.url, owner.tokens["access_token"])
    assert login(stack, owner.email, otp_code=codes[0]).status_code == 200
    assert refused(disable(owner, codes[0])) == WRONG
    assert disable(owner, codes[1]).status_code == 204
    _, fresh = enrolled(stack.url, owner.tokens["access_token"])
    assert refused(login(stack, owner.email, otp_code=codes[2])) == WRONG
    assert login(stack, owner.email, otp_code=fresh[0]).status_code == 200


# How often ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def strict(stack: Stack) -> Iterator[str]:
    """An API that takes three codes of each kind an hour.

    Callers tell their addresses by X-Forwarded-For.
    """
    figures = dict.fromkeys(("CUSHION_TWO_FACTOR_CODES_PER_HOUR", "CUSHION_RECOVERY_CODES_PER_HOUR"), "3")
    with stack.another_api(**figures, CUSHION_TRUSTED_PROXIES="127.0.0.1/32") as url:
        yield url


def test_codes_cannot_be_guessed(stack: Stack, strict: str) -> None:
    """Wherever the guesses come from, and whichever door they try."""
    early_in(3600)
    owner = register(stack.url)
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])  # uses one code of the three
    elsewhere = [{"X-Forwarded-For": f"2001:db8:{uuid4().hex[:4]}::1"} for _ in range(3)]
    guesses = [login(stack, owner.email, url=strict, otp_code=authenticator.wrong(), headers=elsewhere[0])]
    behind = {"Authorization": f"Bearer {owner.tokens['access_token']}", **elsewhere[1]}
    guesses.append(
        httpx.post(f"{strict}{AUTH}/2fa/disable", json={"code": authenticator.wrong()}, headers=behind, timeout=60)
    )
    assert [guess.status_code for guess in guesses] == [401, 401]
    code = authenticator.next()
    over = login(stack, owner.email, url=strict, otp_code=code, headers=elsewhere[2])
    assert refused(over) == LIMITED
    assert over.json()["errors"][0]["message"] == "the limit is 3 codes of an authenticator an hour"
    assert int(over.headers["retry-after"]) >= 1
    assert httpx.post(f"{strict}{AUTH}/2fa/disable", json={"code": code}, headers=behind).status_code == 429
    assert refused(login(stack, owner.email, url=strict)) == REQUIRED, "no code is no guess"
    # The recovery codes are no guesses either, and let their user in, from wherever.
    assert login(stack, owner.email, url=strict, otp_code=codes[0], headers=elsewhere[0]).status_code == 200
    assert httpx.post(f"{strict}{AUTH}/2fa/disable", json={"code": codes[1]}, headers=behind).status_code == 204


def test_wrong_recovery_codes_shut_out_nobody_elsewhere(stack: Stack, strict: str) -> None:
    """They are counted by address, of IPv6 by the /64, whoever's they would be."""
    early_in(3600)
    owner, second = register(stack.url), register(stack.url)
    authenticator, codes = enrolled(stack.url, owner.tokens["access_token"])
    enrolled(stack.url, second.tokens["access_token"])
    street = uuid4().hex[:4]
    thief = [{"X-Forwarded-For": f"2001:db8:{street}::{number}"} for number in range(1, 6)]
    wrong = "ABCD-EFGH-IJKL-MNOP"
    tried = [
        login(stack, who.email, url=strict, otp_code=wrong, headers=at)
        for who, at in zip([owner, second, owner], thief, strict=False)
    ]
    assert [refused(item) for item in tried] == [WRONG] * 3
    over = login(stack, owner.email, url=strict, otp_code=codes[0], headers=thief[3])
    assert refused(over) == LIMITED
    assert over.json()["errors"][0]["message"] == "the limit is 3 recovery codes from one address an hour"
    behind = {"Authorization": f"Bearer {owner.tokens['access_token']}", **thief[4]}
    assert httpx.post(f"{strict}{AUTH}/2fa/disable", json={"code": codes[0]}, headers=behind).status_code == 429
    home = {"X-Forwarded-For": f"2001:db8:{street}:1::1"}
    assert login(stack, owner.email, url=strict, otp_code=codes[0], headers=home).status_code == 200
    assert login(stack, owner.email, url=strict, otp_code=authenticator.next(), headers=thief[0]).status_code == 200


# Tenants that require it ----------------------------------------------------------------------------------------------

ENROL = (403, "Two-factor enrolment required", "PERMISSION_DENIED")


def test_where_it_is_required_a_user_without_may_only_enrol(stack: Stack, owner: Member) -> None:
    viewer = owner.invite("viewer")
    configure(stack, owner.tenant_id, two_factor_required=True)
    for path in ("/api/v1/workbooks", "/api/v1/compliance/suites"):
        assert refused(viewer.get(path)) == ENROL
    assert refused(viewer.post(f"{AUTH}/revoke-all-tokens")) == ENROL
    assert refused(disable(viewer, "123456")) == ENROL
    assert viewer.get(f"{AUTH}/me").json()["two_factor_enabled"] is False
    assert login(stack, viewer.email).status_code == 200
    authenticator, _ = enrolled(stack.url, viewer.tokens["access_token"])
    assert viewer.get("/api/v1/workbooks").status_code == 200, "at once"
    assert refused(owner.get("/api/v1/workbooks")) == ENROL, "nobody else has enrolled"
    assert disable(viewer, authenticator.next()).status_code == 204
    assert refused(viewer.get("/api/v1/workbooks")) == ENROL, "at once"
    assert viewer.post(f"{AUTH}/logout").status_code == 204
