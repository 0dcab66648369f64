"""What the tests of identity ask of the service, and what it leaves behind.

Rows, letters, codes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import httpx
import pyotp
import pytest
import redis

from tests.conftest import PASSWORD, Stack, wait_until

AUTH = "/api/v1/auth"
STEP_SECONDS = 30


@pytest.fixture(scope="session")
def stack(stack: Stack) -> Iterator[Stack]:
    """One where a hash takes its time, for what may happen meanwhile."""
    with stack.waiting() as waiting:
        yield waiting


def login(stack: Stack, email: str, password: str = PASSWORD, url: str = "", **more: Any) -> httpx.Response:
    """A login; `more` is a code, or headers."""
    headers = more.pop("headers", {})
    form = {"username": email, "password": password, **more}
    return httpx.post(f"{url or stack.url}{AUTH}/login", data=form, headers=headers, timeout=60)


def refresh(stack: Stack, token: str, url: str = "", **headers: str) -> httpx.Response:
    return httpx.post(f"{url or stack.url}{AUTH}/refresh", json={"refresh_token": token}, headers=headers, timeout=60)


def me(stack: Stack, token: str) -> httpx.Response:
    return httpx.get(f"{stack.url}{AUTH}/me", headers={"Authorization": f"Bearer {token}"}, timeout=60)


def refused(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["detail"], body["error_code"]


def faults(answer: httpx.Response) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for fault in answer.json()["errors"]:
        result.setdefault(".".join(fault["loc"]), []).append(fault["message"])
    return result


def audited(stack: Stack, tenant_id: str, action: str) -> list[tuple[Any, ...]]:
    return stack.sql(
        "SELECT user_id::text, user_email, resource_type, request_id FROM audit_log"
        " WHERE tenant_id = %s AND action = %s",
        [tenant_id, action],
    )


def drained(stack: Stack, tenant_id: str, action: str, count: int = 1) -> list[dict[str, Any]]:
    """The details of audit rows that come through the stream, once there are so many."""

    def there() -> list[tuple[Any, ...]] | None:
        rows = stack.sql(
            "SELECT details FROM audit_log WHERE tenant_id = %s AND action = %s ORDER BY occurred_at",
            [tenant_id, action],
        )
        return rows if len(rows) >= count else None

    return [details for (details,) in wait_until(there, what=f"{count} {action}")]


def configure(stack: Stack, tenant_id: str, **settings: Any) -> None:
    """Change a tenant's settings behind the service's back, so that a test can shut itself out."""
    stack.sql("UPDATE tenants SET settings = settings || %s::jsonb WHERE id = %s", [json.dumps(settings), tenant_id])
    with redis.Redis.from_url(stack.redis_url) as server:
        server.delete(f"cushion:tenant:{tenant_id}", f"cushion:tenant:{tenant_id}:ticket")


def letters(stack: Stack, to: str, count: int = 1, about: str = "Reset") -> list[EmailMessage]:
    """The letters to an address, the oldest first, once there are so many whose subject begins so."""

    def there() -> list[EmailMessage] | None:
        folder = stack.data_dir / "mail"
        files = sorted(folder.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns) if folder.exists() else []
        read = [message_from_bytes(path.read_bytes(), policy=policy.SMTP) for path in files]
        mine = [letter for letter in read if letter["to"] == to and letter["subject"].startswith(about)]
        return mine if len(mine) >= count else None

    email_messages: list[EmailMessage] = wait_until(there, what=f"{count} letters to {to}") if count else there() or []
    return email_messages


def token_of(letter: EmailMessage) -> str:
    """The token of the link in a letter."""
    (link,) = [line.strip() for line in str(letter.get_content()).splitlines() if line.startswith("    ")]
    address, _, token = link.partition("?token=")
    assert "/console/#/" in address, link
    return token


class Authenticator:
    """What a user has in the hand.

    Codes by RFC 6238, each step's once, and good for half a minute at least.
    """

    def __init__(self, secret: str) -> None:
        self.totp = pyotp.TOTP(secret)
        self.last_step = 0

    def next(self) -> str:
        """The code of the present step, or of the next one where that was given already."""
        present = int(time.time()) // STEP_SECONDS
        step = max(self.last_step + 1, present)
        if step > present + 1:
            time.sleep((step - 1) * STEP_SECONDS - time.time() + 0.1)
        self.last_step = step
        return self.totp.generate_otp(step)

    def wrong(self) -> str:
        """Six digits that are nobody's around now."""
        present = int(time.time()) // STEP_SECONDS
        near = {self.totp.generate_otp(step) for step in range(present - 3, present + 4)}
        return next(code for code in (f"{number:06d}" for number in range(10)) if code not in near)


def enrolled(url: str, access_token: str) -> tuple[Authenticator, list[str]]:
    """Turn two-factor login on; the authenticator and the recovery codes."""
    with httpx.Client(base_url=url + AUTH, headers={"Authorization": f"Bearer {access_token}"}, timeout=60) as client:
        begun = client.post("/2fa/enroll")
        assert begun.status_code == 200, begun.text
        authenticator = Authenticator(begun.json()["secret"])
        verified = client.post("/2fa/verify", json={"code": authenticator.next()})
        assert verified.status_code == 200, verified.text
        return authenticator, verified.json()["recovery_codes"]


def as_user(stack: Stack, access_token: str) -> httpx.Client:
    """A client with a token; close it."""
    return httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {access_token}"}, timeout=60)
