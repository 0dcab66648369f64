"""Guessing passwords, codes, keys and tokens.

Where the tries end, and that nothing a client says begins them anew.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from uuid import uuid4

import httpx
import pyotp
import pytest

from tests.conftest import PASSWORD, Member, Stack, early_in, register
from tests.records import error_of

LOGINS, FAILED, CODES, REGISTRATIONS = 6, 4, 4, 5
LIMITS = {
    "CUSHION_LOGIN_PER_MINUTE": str(LOGINS),
    "CUSHION_FAILED_LOGINS_PER_HOUR": str(FAILED),
    "CUSHION_TWO_FACTOR_CODES_PER_HOUR": str(CODES),
    "CUSHION_REGISTER_PER_HOUR": str(REGISTRATIONS),
}
_addresses = (f"203.0.{third}.{fourth}" for third in count(1) for fourth in range(1, 255))


@pytest.fixture(scope="module")
def stack(stack: Stack) -> Iterator[Stack]:
    """One where a hash takes its time, for what may happen meanwhile."""
    with stack.waiting() as waiting:
        yield waiting


@dataclass
class Door:
    """An API with real limits."""

    url: str

    def login(self, email: str, password: str, address: str | None = None, **more: str) -> httpx.Response:
        headers = {} if address is None else {"X-Forwarded-For": address}
        form = {"username": email, "password": password, **more}
        return httpx.post(self.url + "/api/v1/auth/login", data=form, headers=headers, timeout=60)


@pytest.fixture(scope="module")
def doors(stack: Stack) -> Iterator[tuple[Door, Door]]:
    """Behind a proxy that is trusted, and open to the world."""
    with ExitStack() as both:
        behind = both.enter_context(stack.another_api(CUSHION_TRUSTED_PROXIES="127.0.0.0/8, 10.0.0.0/8", **LIMITS))
        open_ = both.enter_context(stack.another_api(**LIMITS))
        yield Door(behind), Door(open_)


@pytest.fixture
def behind(doors: tuple[Door, Door]) -> Door:
    """Where the proxy tells the caller's address."""
    return doors[0]


@pytest.fixture
def open_door(doors: tuple[Door, Door]) -> Door:
    """Where the caller's address is the connection's, whatever headers say."""
    return doors[1]


@pytest.fixture
def address() -> str:
    """An address that no test has used."""
    return next(_addresses)


@pytest.fixture
def _in_one_window() -> None:
    early_in(60, needed=6)  # and so in one hour


pytestmark = pytest.mark.usefixtures("_in_one_window")

WRONG = "Wrong-Horse-7"
REFUSED = (401, "Incorrect email or password")


def status_and_detail(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, error_of(answer)["detail"]


def refused(answer: httpx.Response) -> bool:
    """Whether a limit ended the tries."""
    if answer.status_code != 429:
        return False
    assert status_and_detail(answer) == (429, "Rate limit exceeded")
    assert int(answer.headers["retry-after"]) >= 1
    return True


# Passwords ----------------------------------------------------------------------------------------------------------


def test_tries_from_one_address_end(behind: Door, owner: Member, address: str) -> None:
    """Whoever is guessed at: a list of many accounts is no way around."""
    for number in range(LOGINS):
        assert status_and_detail(behind.login(f"nobody-{number}@example.com", WRONG, address)) == REFUSED
    assert refused(behind.login(owner.email, WRONG, address))
    assert refused(behind.login(owner.email, PASSWORD, address)), "the right password is no exception"
    assert behind.login(owner.email, PASSWORD, next(_addresses)).status_code == 200, "others are not concerned"


@pytest.mark.parametrize("known", [True, False], ids=["somebody", "nobody"])
def test_tries_at_one_account_end_wherever_they_come_from(behind: Door, owner: Member, known: bool) -> None:
    """And a stranger does not learn from it whether the account exists."""
    email = owner.email if known else f"nobody-{uuid4().hex}@example.com"
    spellings = [email, email.upper(), f" {email} ", email.title()]
    for number in range(FAILED):
        assert status_and_detail(behind.login(spellings[number % len(spellings)], WRONG, next(_addresses))) == REFUSED
    for spelling in spellings:
        assert refused(behind.login(spelling, WRONG, next(_addresses)))
    assert refused(behind.login(email, PASSWORD, next(_addresses))), "the right password is no exception"


def test_who_knows_the_password_is_not_counted(behind: Door, owner: Member) -> None:
    for _ in range(FAILED + 2):
        assert behind.login(owner.email, PASSWORD, next(_addresses)).status_code == 200


def test_tries_at_once_are_counted_as_well(behind: Door, owner: Member) -> None:
    """Not one more than allowed, though they all ask before the first is answered."""
    places = [next(_addresses) for _ in range(4 * FAILED)]
    with ThreadPoolExecutor(len(places)) as pool:
        answers = list(pool.map(lambda place: behind.login(owner.email, WRONG, place), places))
    assert sum(not refused(answer) for answer in answers) == FAILED


# Nobody is shut out by strangers -----------------------------------------------------------------------------------


def use_up(door: Door, email: str) -> None:
    """What a stranger can do to anybody."""
    for _ in range(FAILED):
        assert status_and_detail(door.login(email, WRONG, next(_addresses))) == REFUSED
    assert refused(door.login(email, PASSWORD, next(_addresses)))


def test_strangers_do_not_shut_a_user_out_from_where_they_are_known(
    stack: Stack, behind: Door, owner: Member, address: str
) -> None:
    """There they have tries of their own, which end as well."""
    own = next(_addresses)
    for place in (address, own):
        assert behind.login(owner.email, PASSWORD, place).status_code == 200
    use_up(behind, owner.email)
    assert behind.login(owner.email.upper(), PASSWORD, address).status_code == 200
    second = register(stack.url)
    use_up(behind, second.email)
    assert refused(behind.login(second.email, PASSWORD, address)), "known is an address to a user, not to all"
    for _ in range(FAILED):
        assert status_and_detail(behind.login(owner.email, WRONG, own)) == REFUSED
    assert refused(behind.login(owner.email, PASSWORD, own))
    remembered = stack.sql("SELECT origin FROM known_origins WHERE user_id = %s", [owner.user_id])
    assert {len(origin) for (origin,) in remembered} == {32}, "by keyed hashes"
    assert len(remembered) == 3


def test_the_places_of_a_user_are_the_last_few(stack: Stack, behind: Door, owner: Member) -> None:
    places = [next(_addresses) for _ in range(4)]
    with stack.another_api(
        CUSHION_TRUSTED_PROXIES="127.0.0.0/8", CUSHION_KNOWN_ORIGINS="3", CUSHION_FAILED_LOGINS_PER_HOUR=str(FAILED)
    ) as url:
        for place in [*places, places[1]]:
            assert Door(url).login(owner.email, PASSWORD, place).status_code == 200
    use_up(behind, owner.email)
    outcomes = [behind.login(owner.email, PASSWORD, place).status_code for place in places]
    assert outcomes == [429, 200, 200, 200]


def test_the_second_factor_leads_past_used_up_tries_and_tells_nothing(
    stack: Stack, behind: Door, owner: Member
) -> None:
    """Password and code together, from anywhere.

    Whoever lacks one of them reads what everybody reads.
    """
    secret = enrolled(owner)
    plain, nobody = register(stack.url), f"nobody-{uuid4().hex}@example.com"
    for email in (owner.email, plain.email, nobody):
        use_up(behind, email)
    soon = pyotp.TOTP(secret).at(int(time.time()) + 30)
    wrong = next(c for c in map("{:06}".format, range(10)) if not pyotp.TOTP(secret).verify(c, valid_window=3))
    for email, password, code in (
        (owner.email, PASSWORD, wrong),
        (owner.email, WRONG, wrong),
        (owner.email, PASSWORD, ""),
        (owner.email, WRONG, "ABCD-EFGH-IJKL-MNOP"),
        (plain.email, PASSWORD, soon),
        (plain.email, WRONG, soon),
        (nobody, PASSWORD, soon),
    ):
        assert refused(behind.login(email, password, next(_addresses), otp_code=code)), (email, password, code)
    assert behind.login(owner.email, PASSWORD, next(_addresses), otp_code=soon).status_code == 200
    again = behind.login(owner.email, PASSWORD, next(_addresses), otp_code=soon)
    assert refused(again), "a code is good once"


def test_codes_end_where_tries_are_used_up_too(behind: Door, owner: Member) -> None:
    """Who knows the password tries no more codes for it.

    Who does not uses up none of the user's.
    """
    secret = enrolled(owner)
    use_up(behind, owner.email)
    for _ in range(CODES + 2):
        assert refused(behind.login(owner.email, WRONG, next(_addresses), otp_code="000000"))
    soon = pyotp.TOTP(secret).at(int(time.time()) + 30)
    assert behind.login(owner.email, PASSWORD, next(_addresses), otp_code=soon).status_code == 200
    for _ in range(CODES):
        assert refused(behind.login(owner.email, PASSWORD, next(_addresses), otp_code="000000"))
    later = pyotp.TOTP(secret).at(int(time.time()) + 60)
    assert refused(behind.login(owner.email, PASSWORD, next(_addresses), otp_code=later))


# What a client says of where it is ----------------------------------------------------------------------------------

CLAIMS = [
    "X-Forwarded-For",
    "X-Real-IP",
    "Forwarded",
    "X-Client-IP",
    "True-Client-IP",
    "CF-Connecting-IP",
    "X-Cluster-Client-IP",
]


def test_no_header_makes_another_address_where_no_proxy_is_trusted(open_door: Door, stack: Stack) -> None:
    email = f"nobody-{uuid4().hex}@example.com"

    def attempt(header: str, place: str) -> httpx.Response:
        value = f"for={place}" if header == "Forwarded" else place
        form = {"username": f"{uuid4().hex}-{email}", "password": WRONG}
        return httpx.post(open_door.url + "/api/v1/auth/login", data=form, headers={header: value}, timeout=60)

    answers = [attempt(header, next(_addresses)) for _ in range(2) for header in CLAIMS]
    assert sum(not refused(answer) for answer in answers) <= LOGINS < len(answers)


@pytest.mark.parametrize(
    "spoofed", ["{}, {mine}", "{},10.0.0.7,{mine}", "{}, {mine}, 10.9.9.9", "x, {}, {mine}", "{}, {mine}, 127.0.0.1"]
)
def test_what_stands_before_the_trusted_proxies_is_not_believed(behind: Door, address: str, spoofed: str) -> None:
    """A proxy adds the address that it sees at the end.

    What its client wrote stands in front of that.
    """
    answers = [
        behind.login(f"{uuid4().hex}@example.com", WRONG, spoofed.format(next(_addresses), mine=address))
        for _ in range(LOGINS + 2)
    ]
    assert [refused(answer) for answer in answers] == [False] * LOGINS + [True] * 2


def test_what_is_no_address_is_the_proxys_own(behind: Door, stack: Stack) -> None:
    """Else noise would be as good as a new address at each try."""
    noises = [
        "",
        "unknown",
        "_hidden",
        "999.1.1.1",
        "1.2.3.4:80",
        "[::1]:80",
        "a" * 500,
        "1.2.3",
        "0x7f.1",
        "%00",
        ",,,",
    ]
    answers = [behind.login(f"{uuid4().hex}@example.com", WRONG, noise) for noise in noises + noises]
    assert sum(not refused(answer) for answer in answers) <= LOGINS


def test_an_allowlist_is_held_against_the_connection(stack: Stack, open_door: Door, owner: Member) -> None:
    """A tenant's wall does not open to a header."""
    ranges = {"settings": {"allowed_ip_ranges": ["198.51.100.0/24"]}, "confirm": True}
    assert owner.patch("/api/v1/admin/tenant", json=ranges).status_code == 200
    for header in CLAIMS:
        for url in (stack.url, open_door.url):
            with httpx.Client(base_url=url, headers=dict(owner.http.headers), timeout=60) as client:
                answer = client.get("/api/v1/auth/me", headers={header: "198.51.100.7"})
                assert status_and_detail(answer) == (403, "IP address not allowed"), header
    form = {"username": owner.email, "password": PASSWORD}
    answer = httpx.post(stack.url + "/api/v1/auth/login", data=form, headers={"X-Forwarded-For": "198.51.100.7"})
    assert status_and_detail(answer) == (403, "IP address not allowed")
    refresh = {"refresh_token": owner.tokens["refresh_token"]}
    assert status_and_detail(httpx.post(stack.url + "/api/v1/auth/refresh", json=refresh)) == (
        403,
        "IP address not allowed",
    )


def test_an_allowlist_is_held_against_what_a_trusted_proxy_tells(behind: Door, owner: Member) -> None:
    ranges = {"settings": {"allowed_ip_ranges": ["198.51.100.0/24", "2001:db8::/32", "127.0.0.1/32"]}}
    assert owner.patch("/api/v1/admin/tenant", json=ranges).status_code == 200
    inside = ["198.51.100.7", "::ffff:198.51.100.7", "2001:db8::7", "203.0.113.1, 198.51.100.7"]
    outside = ["198.51.101.7", "::ffff:198.51.101.7", "2001:db9::7", "198.51.100.7, 203.0.113.1"]
    with httpx.Client(base_url=behind.url, headers=dict(owner.http.headers), timeout=60) as client:
        for place in inside:
            assert client.get("/api/v1/auth/me", headers={"X-Forwarded-For": place}).status_code == 200, place
        for place in outside:
            answer = client.get("/api/v1/auth/me", headers={"X-Forwarded-For": place})
            assert status_and_detail(answer) == (403, "IP address not allowed"), place


# Codes --------------------------------------------------------------------------------------------------------------


def enrolled(owner: Member) -> str:
    """The secret of the owner's second factor, which is on."""
    secret: str = owner.post("/api/v1/auth/2fa/enroll").json()["secret"]
    verified = owner.post("/api/v1/auth/2fa/verify", json={"code": pyotp.TOTP(secret).now()})
    assert verified.status_code == 200, verified.text
    return secret


def test_codes_end_wherever_they_come_from(behind: Door, owner: Member) -> None:
    """Ten thousandths of all codes fit at any time.

    Without an end, a few hours of tries would find one.
    """
    secret = enrolled(owner)
    wrong = [code for code in map("{:06}".format, range(10)) if not pyotp.TOTP(secret).verify(code, valid_window=3)]
    ended = 0
    for number in range(CODES + 3):
        answer = behind.login(owner.email, PASSWORD, next(_addresses), otp_code=wrong[number % len(wrong)])
        if refused(answer):
            ended += 1
        else:
            assert not ended, "once they have ended they stay so"
            assert status_and_detail(answer) == (401, "Invalid two-factor code")
    assert ended >= 3
    later = pyotp.TOTP(secret).at(int(time.time()) + 30)
    assert refused(behind.login(owner.email, PASSWORD, next(_addresses), otp_code=later)), "the right code neither"


def test_codes_tell_nothing_before_the_password(behind: Door, owner: Member) -> None:
    """Who lacks the password does not learn whether the second factor is on."""
    enrolled(owner)
    for code in ({}, {"otp_code": "000000"}, {"otp_code": ""}):
        assert status_and_detail(behind.login(owner.email, WRONG, next(_addresses), **code)) == REFUSED


# Keys and tokens ----------------------------------------------------------------------------------------------------


def test_a_key_is_right_or_wrong_and_nothing_between(stack: Stack, owner: Member) -> None:
    """Unknown, cut, altered, revoked, expired.

    The same words, so that no part of a key can be found alone.
    """
    key = owner.key("workbooks:read").http.headers["X-API-Key"]
    revoked = owner.post("/api/v1/admin/api-keys", json={"name": "k", "permissions": ["workbooks:read"]}).json()
    assert owner.delete(f"/api/v1/admin/api-keys/{revoked['id']}").status_code == 204
    other_text = "A" if key[-1] != "A" else "B"
    guesses = [
        key[:-1],
        key + "A",
        key[:-1] + other_text,
        key.upper(),
        key.replace("live", "test"),
        key.removeprefix("svc_live_"),
        key[:13],
        revoked["key"],
        revoked["key_prefix"],
        revoked["id"],
        "%",
        "svc_live_%",
        "svc_live_" + "_" * 43,
        "*",
        "null",
    ]
    with httpx.Client(base_url=stack.url, timeout=60) as client:
        bodies = set()
        for guess in guesses:
            answer = client.get("/api/v1/workbooks", headers={"X-API-Key": guess})
            assert answer.status_code == 401, guess
            bodies.add((answer.json()["detail"], answer.json()["error_code"]))
        assert bodies == {("Invalid API key", "AUTHENTICATION_FAILED")}
        assert client.get("/api/v1/workbooks", headers={"X-API-Key": key}).status_code == 200


@pytest.mark.parametrize(
    ("path", "body"), [("accept-invitation", {"password": PASSWORD}), ("password/reset", {"new_password": PASSWORD})]
)
def test_tokens_cannot_be_guessed_at_length(behind: Door, address: str, path: str, body: dict[str, str]) -> None:
    answers = [
        httpx.post(
            f"{behind.url}/api/v1/auth/{path}",
            json=body | {"token": uuid4().hex},
            headers={"X-Forwarded-For": address},
            timeout=60,
        )
        for _ in range(LOGINS + 2)
    ]
    assert [refused(answer) for answer in answers] == [False] * LOGINS + [True] * 2
    assert {answer.status_code for answer in answers[:LOGINS]} == {400}


def test_registrations_from_one_address_end(behind: Door, address: str) -> None:
    answers = [
        httpx.post(
            behind.url + "/api/v1/auth/register",
            json={"email": "x", "password": PASSWORD, "full_name": "X", "organization_name": "X"},
            headers={"X-Forwarded-For": address},
            timeout=60,
        )
        for _ in range(REGISTRATIONS + 2)
    ]
    assert [refused(answer) for answer in answers] == [False] * REGISTRATIONS + [True] * 2


def test_forgotten_passwords_tell_nothing_and_end(behind: Door, owner: Member, address: str) -> None:
    def ask(email: str) -> httpx.Response:
        return httpx.post(
            behind.url + "/api/v1/auth/password/forgot",
            json={"email": email},
            headers={"X-Forwarded-For": address},
            timeout=60,
        )

    known, unknown = ask(owner.email), ask(f"nobody-{uuid4().hex}@example.com")
    assert known.status_code == unknown.status_code == 202
    assert known.content == unknown.content
    answers = [ask(f"nobody-{uuid4().hex}@example.com") for _ in range(LOGINS)]
    assert [refused(answer) for answer in answers] == [False] * (LOGINS - 2) + [True] * 2


def test_a_registered_address_is_told_to_whoever_registers_only(stack: Stack, owner: Member) -> None:
    """The one place where the specification lets an e-mail be found is limited by address; no other tells it."""
    stranger = register(stack.url)
    invited = stranger.post(
        "/api/v1/admin/users/invite", json={"email": owner.email, "full_name": "X", "role": "viewer"}
    )
    assert invited.status_code == 201
    assert owner.user_id not in invited.text
    assert owner.tenant_id not in invited.text
