"""The cookie of a browser's session.

It is read only beside a header that no other site's page can send.

A page of another origin needs a preflight for `X-Session`, which is answered to nobody (`application.CORS_HEADERS`).
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from service.platform.base.problem import ValidationFailed

SESSION_HEADER: Final = b"x-session"
BY_COOKIE: Final = b"cookie"
NAME: Final = "cushion_refresh"
PATH: Final = "/api/v1/auth"
"""The only paths that a browser sends it to."""

Headers = Mapping[bytes, bytes]


def check_session_header(headers: Headers) -> None:
    """Refuse a value of X-Session other than `cookie`.

    Raises:
        ValidationFailed: it is not `cookie`.
    """
    if headers.get(SESSION_HEADER, BY_COOKIE) != BY_COOKIE:
        raise ValidationFailed.at(["header", SESSION_HEADER.decode()], "expected cookie")


def wants_cookie(headers: Headers) -> bool:
    """Return whether the request is of a browser's session."""
    return headers.get(SESSION_HEADER) == BY_COOKIE


def read_cookie(headers: Headers) -> str | None:
    """Return the refresh token of the cookie; None where there is none, or several."""
    pairs = (pair.partition("=") for pair in headers.get(b"cookie", b"").decode("latin-1").split(";"))
    values = [value.strip() for name, _, value in pairs if name.strip() == NAME]
    return values[0] if len(values) == 1 else None


def token_cookie(headers: Headers, token: str, seconds: int) -> tuple[bytes, bytes]:
    """Return the header of an answer that sets the cookie."""
    return _cookie(headers, token, seconds)


def expired_cookie(headers: Headers) -> tuple[bytes, bytes]:
    """Return the header of an answer that removes the cookie."""
    return _cookie(headers, "", 0)


def _cookie(headers: Headers, value: str, seconds: int) -> tuple[bytes, bytes]:
    secure = "" if _is_loopback_page(headers) else "; Secure"
    text = f"{NAME}={value}; Path={PATH}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}"
    return b"set-cookie", text.encode("ascii")


def _is_loopback_page(headers: Headers) -> bool:
    """Return whether the browser shows a page of its own machine by plain http.

    The browser says so itself in Origin, also where a proxy stands in between; other clients only name the Host.
    """
    origin = headers.get(b"origin") or b"http://" + headers.get(b"host", b"")
    try:
        page = urlsplit(origin.decode("latin-1"))
        return page.scheme == "http" and _is_loopback(page.hostname or "")
    except ValueError:
        return False


def _is_loopback(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost") or ip_address(host).is_loopback
