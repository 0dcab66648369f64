"""Secrets that answers give out once.

Nothing of them stands in the database, in Redis or in the log.
"""

from __future__ import annotations

import email
import os
from pathlib import Path
from uuid import uuid4

import httpx
import pyotp
import pytest
import redis

from service.platform.base.caller import KEY_SCOPES
from tests.conftest import PASSWORD, Member, Stack, member, wait_until
from tests.security.conftest import SYSTEM_KEY

NEW_PASSWORD = "Another-Horse-8"


def letter_to(stack: Stack, address: str) -> str:
    """The text of the mail that went to an address."""
    folder = stack.data_dir / "mail"

    def first_leak() -> str | None:
        for path in folder.glob("*.eml") if folder.exists() else ():
            message = email.message_from_bytes(path.read_bytes())
            if message["To"] == address and "reset" in str(message["Subject"]).lower():
                return message.get_payload(decode=True).decode()  # type: ignore[union-attr, no-any-return]
        return None

    text: str = wait_until(first_leak, what="the mail")
    return text


def lived(stack: Stack, url: str) -> tuple[Member, dict[str, str]]:
    """A user's life with every secret that it meets."""
    address = f"secret-{uuid4().hex[:12]}@example.com"
    answer: dict[str, str] = {}
    with httpx.Client(base_url=url, timeout=60) as http:
        registration = {"email": address, "password": PASSWORD, "full_name": "S", "organization_name": "Secrets"}
        tokens = http.post("/api/v1/auth/register", json=registration, headers={"Idempotency-Key": uuid4().hex}).json()
        owner = member(url, tokens, address)
        answer |= {
            "access token": tokens["access_token"],
            "refresh token": tokens["refresh_token"],
            "password": PASSWORD,
        }
        refreshed = http.post("/api/v1/auth/refresh", json={"refresh_token": tokens["refresh_token"]}).json()
        answer |= {f"second {name}": refreshed[name] for name in ("access_token", "refresh_token")}
        key = {"name": "key", "permissions": [KEY_SCOPES[0]]}
        body = owner.post("/api/v1/admin/api-keys", json=key, headers={"Idempotency-Key": uuid4().hex}).json()
        rotated = owner.post(f"/api/v1/admin/api-keys/{body['id']}/rotate", json={}).json()
        answer |= {"key": body["key"], "rotated key": rotated["new_key"]["key"]}
        for secret in (body["key"], rotated["new_key"]["key"], "svc_live_" + uuid4().hex):
            http.get("/api/v1/workbooks", headers={"X-API-Key": secret})
        hook = {"url": "http://127.0.0.1:9/", "events": ["alert.triggered"]}
        body = owner.post("/api/v1/webhooks", json=hook, headers={"Idempotency-Key": uuid4().hex}).json()
        rotated = owner.post(f"/api/v1/webhooks/{body['id']}/rotate", json={}).json()
        owner.post(f"/api/v1/webhooks/{body['id']}/test")
        answer |= {"webhook's secret": body["secret"][6:], "webhook's new secret": rotated["secret"][6:]}
        there, header, chat = (uuid4().hex for _ in range(3))
        channels = [
            {"type": "webhook", "config": {"url": f"http://127.0.0.1:9/{there}", "headers": {"X-Token": header}}},
            {"type": "chat_webhook", "config": {"webhook_url": f"http://127.0.0.1:9/{chat}"}},
        ]
        alert = {"name": "alert", "alert_type": "schedule", "conditions": {"schedule": "0 8 * * *"}}
        body = owner.post(
            "/api/v1/alerts/configure", json=alert | {"channels": channels}, headers={"Idempotency-Key": uuid4().hex}
        ).json()
        assert owner.post(f"/api/v1/alerts/{body['id']}/test").status_code == 200
        answer |= {"alert's URL": there, "alert's header": header, "alert's chat": chat}
        guest = {"email": f"guest-{uuid4().hex[:12]}@example.com", "full_name": "G", "role": "viewer"}
        answer["invitation"] = owner.post("/api/v1/admin/users/invite", json=guest).json()["invitation_token"]
        answer["two-factor secret"] = owner.post("/api/v1/auth/2fa/enroll").json()["secret"]
        code = pyotp.TOTP(answer["two-factor secret"]).now()
        codes = owner.post("/api/v1/auth/2fa/verify", json={"code": code}).json()["recovery_codes"]
        answer |= {f"recovery code {number}": code for number, code in enumerate(codes)}
        login = {"username": address, "password": PASSWORD, "otp_code": codes[0]}
        assert http.post("/api/v1/auth/login", data=login).status_code == 200
        http.post("/api/v1/auth/login", data=login | {"password": "Wrong-Secret-77"})
        answer["wrong password"] = "Wrong-Secret-77"
        http.post("/api/v1/auth/password/forgot", json={"email": address})
        token = letter_to(stack, address).partition("?token=")[2].split()[0]
        reset = http.post("/api/v1/auth/password/reset", json={"token": token, "new_password": NEW_PASSWORD})
        assert reset.status_code == 204, reset.text
        answer |= {"reset token": token, "new password": NEW_PASSWORD}
        for broken in ({"new_password": NEW_PASSWORD, "token": 5}, {"password": PASSWORD, "email": []}):
            http.post("/api/v1/auth/password/reset", json=broken)
    return owner, answer


def tables(stack: Stack) -> str:
    """Every row of every table, as text."""
    names = stack.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    rows = [row for (name,) in names for row in stack.sql(f"SELECT row::text FROM {name} AS row")]
    assert len(rows) > 20
    return "\n".join(text for (text,) in rows)


def memory(stack: Stack) -> str:
    """Every key of Redis with its value."""
    with redis.Redis.from_url(stack.redis_url) as client:
        result = []
        for name in client.scan_iter(count=1_000):
            result += [name, client.dump(name) or b""]
    assert result
    return b"\n".join(result).decode("latin-1")


def test_nothing_of_a_secret_is_kept(stack: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    settings = {"CUSHION_LOG_LEVEL": "debug", "CUSHION_SYSTEM_API_KEY": SYSTEM_KEY}
    with stack.another_api(**settings) as url, stack.another_worker(CUSHION_LOG_LEVEL="debug"):
        owner, answer = lived(stack, url)
        administered = {"X-API-Key": SYSTEM_KEY, "X-Tenant-ID": owner.tenant_id}
        assert httpx.get(url + "/api/v1/admin/tenant", headers=administered, timeout=60).status_code == 200
        seen = {"the database": tables(stack), "Redis": memory(stack)}
    captured = capfd.readouterr()
    seen["the log"] = captured.out + captured.err
    assert "/api/v1/auth/login" in seen["the log"], "the log is what is looked at"
    assert owner.user_id in seen["the database"]
    # By halves too: a secret cut for a message is still a secret. What a key shows of itself is its prefix.
    parts = {name: secret[len(secret) // 2 :] for name, secret in answer.items()} | {"system key": SYSTEM_KEY}
    assert [(name, place) for place, text in seen.items() for name, part in parts.items() if part in text] == []
    assert [(name, place) for place, text in seen.items() for name, secret in answer.items() if secret in text] == []


def test_files_of_secrets_are_their_owners_alone(stack: Stack) -> None:
    """What must be written, mails and the deployment's secret, nobody else on the machine reads."""

    def mode(path: Path) -> int:
        return os.stat(path).st_mode & 0o077

    assert stack.data_dir.exists()
    secrets = [path for path in stack.data_dir.rglob("*") if path.suffix == ".eml" or "secret" in path.name]
    assert secrets
    assert [path for path in secrets if mode(path)] == []
    assert [path for path in (stack.data_dir / "mail",) if path.exists() and mode(path)] == []
