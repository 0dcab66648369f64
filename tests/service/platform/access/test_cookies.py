"""The cookie of a browser's session: when it is read, and how it is written."""

from __future__ import annotations

import pytest

from service.platform.access.cookies import (
    check_session_header,
    expired_cookie,
    read_cookie,
    token_cookie,
    wants_cookie,
)
from service.platform.base.problem import ValidationFailed


@pytest.mark.parametrize(
    ("headers", "secure"),
    [
        ({b"host": b"localhost:8000"}, False),
        ({b"host": b"127.0.0.1"}, False),
        ({b"host": b"127.4.5.6:8000"}, False),
        ({b"host": b"[::1]:8000"}, False),
        ({b"host": b"cushion.localhost"}, False),
        ({b"host": b"cushion.example.com"}, True),
        ({b"host": b"localhost.example.com"}, True),
        ({b"host": b"127.0.0.1.example.com"}, True),
        ({b"host": b"10.0.0.1:8000"}, True),
        ({}, True),
        ({b"host": b"[::1"}, True),
        # A proxy on the same machine names itself as the host; the browser says where it is.
        ({b"host": b"127.0.0.1:8000", b"origin": b"https://cushion.example.com"}, True),
        ({b"host": b"cushion.example.com", b"origin": b"http://localhost:8000"}, False),
        ({b"host": b"localhost", b"origin": b"https://localhost"}, True),
        ({b"host": b"localhost", b"origin": b"null"}, True),
        ({b"host": b"localhost", b"origin": b"http://localhost@evil.example"}, True),
    ],
)
def test_it_is_secure_but_on_a_page_of_the_own_machine(headers: dict[bytes, bytes], secure: bool) -> None:
    flags = "Path=/api/v1/auth; Max-Age={}; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
    assert token_cookie(headers, "a.b.c", 60) == (b"set-cookie", f"cushion_refresh=a.b.c; {flags.format(60)}".encode())
    assert expired_cookie(headers) == (b"set-cookie", f"cushion_refresh=; {flags.format(0)}".encode())


@pytest.mark.parametrize(
    ("cookie", "token"),
    [
        (b"cushion_refresh=a.b.c", "a.b.c"),
        (b"theme=dark; cushion_refresh=a.b.c; x=1", "a.b.c"),
        (b" cushion_refresh = a.b.c ", "a.b.c"),
        (b"", None),
        (b"cushion_refresh2=a; xcushion_refresh=b", None),
        # One of them was set by another host of the same domain.
        (b"cushion_refresh=a; cushion_refresh=b", None),
    ],
)
def test_one_cookie_counts(cookie: bytes, token: str | None) -> None:
    assert read_cookie({b"cookie": cookie}) == token
    assert read_cookie({}) is None


def test_the_header_says_cookie_or_nothing() -> None:
    check_session_header({})
    check_session_header({b"x-session": b"cookie"})
    assert wants_cookie({b"x-session": b"cookie"})
    assert not wants_cookie({b"cookie": b"cushion_refresh=a"})
    for value in (b"", b"body", b"Cookie", b"cookie, cookie"):
        assert not wants_cookie({b"x-session": value})
        with pytest.raises(ValidationFailed) as refused:
            check_session_header({b"x-session": value})
        assert refused.value.errors[0].loc == ["header", "x-session"]
