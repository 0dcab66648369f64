"""Logs: one JSON object a line, and no secret in any of them."""

from __future__ import annotations

import json
import logging
from typing import Any
from uuid import uuid4

import httpx
import pytest
import structlog

from service.platform import log
from service.platform.log import redact
from tests.conftest import PASSWORD, Stack, register


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "new_password",
        "access_token",
        "refresh_token",
        "invitation_token",
        "secret",
        "Authorization",
        "api_key",
        "cookie",
        "secret_key",
    ],
)
def test_what_is_named_like_a_secret_is_covered(name: str) -> None:
    assert redact(None, "", {name: "s3cr3t", "path": "/x"}) == {name: "***", "path": "/x"}


@pytest.mark.parametrize(
    ("text", "covered"),
    [
        ("key svc_live_abcdefgh1234-_ is bad", "key *** is bad"),
        ("svc_test_abcdefgh1234", "***"),
        ("Bearer eyJhbGciOi.eyJzdWIi.c2ln end", "Bearer *** end"),
        ("postgresql://user:pass@host/db", "postgresql://***@host/db"),
        ("redis://:pass@host:6379/0", "redis://***@host:6379/0"),
        ("connect to postgresql:///db?user=u&password=pass&x=1", "connect to postgresql:///db?user=u&password=***&x=1"),
        ("https://host:8000/path", "https://host:8000/path"),
    ],
)
def test_what_looks_like_a_secret_is_covered(text: str, covered: str) -> None:
    assert redact(None, "", {"event": text}) == {"event": covered}


def test_lines_are_json_from_structlog_and_the_standard_library_alike(capsys: pytest.CaptureFixture[str]) -> None:
    structlog.reset_defaults()
    log.configure("info")
    try:
        structlog.contextvars.bind_contextvars(request_id="r-1")
        structlog.get_logger().info("request", status=200)
        logging.getLogger("somebody.else").warning("token eyJhbGciOi.eyJzdWIi.c2ln in %s", "text")
        try:
            raise ValueError("svc_live_abcdefgh1234")
        except ValueError:
            structlog.get_logger().exception("request.failed")
        structlog.get_logger().debug("quiet")
    finally:
        structlog.contextvars.clear_contextvars()
        structlog.reset_defaults()
    lines: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["request", "token *** in text", "request.failed"]
    assert [line["level"] for line in lines] == ["info", "warning", "error"]
    assert lines[0]["status"] == 200
    assert all(line["request_id"] == "r-1" and line["timestamp"].endswith("Z") for line in lines)
    assert "ValueError: ***" in lines[2]["exception"]


def test_a_session_of_calls_leaves_one_line_each_and_no_secret(stack: Stack, capfd: pytest.CaptureFixture[str]) -> None:
    """What the API process itself writes, at its most talkative."""
    with stack.another_api(CUSHION_LOG_LEVEL="debug") as url:
        owner = register(url)
        invited = {"email": f"a-{uuid4().hex}@example.com", "full_name": "A", "role": "analyst"}
        invitation = owner.post("/api/v1/admin/users/invite", json=invited).json()
        joined = httpx.post(
            url + "/api/v1/auth/accept-invitation",
            json={"token": invitation["invitation_token"], "password": PASSWORD},
            timeout=60,
        ).json()
        key = owner.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": ["workbooks:read"]}).json()[
            "key"
        ]
        httpx.get(url + "/api/v1/auth/me", headers={"X-API-Key": key})
        httpx.get(url + "/api/v1/auth/me", headers={"X-API-Key": key + "x"})
        httpx.get(url + "/api/v1/auth/me", headers={"Authorization": "Bearer " + joined["access_token"] + "x"})
        httpx.get(url + f"/api/v1/workbooks?search={key}&token={joined['refresh_token']}", headers={"X-API-Key": key})
        renewed = httpx.post(url + "/api/v1/auth/refresh", json={"refresh_token": joined["refresh_token"]}).json()
        httpx.post(url + "/api/v1/auth/refresh", json={"refresh_token": joined["refresh_token"]})
        for password in (PASSWORD, "Wrong-Horse-8"):
            httpx.post(url + "/api/v1/auth/login", data={"username": owner.email, "password": password}, timeout=60)
        httpx.post(url + "/api/v1/auth/register", json={"email": "x", "password": "Wrong-Horse-9"})
        httpx.post(url + "/api/v1/auth/register", content=b'{"password": "Wrong-Horse-9"')
        owner.post("/api/v1/auth/logout", headers={"X-Request-ID": "log-me-out"})
    written = capfd.readouterr().err
    lines: list[dict[str, Any]] = [json.loads(line) for line in written.splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert all(
        {"request_id", "method", "path", "status", "milliseconds", "level", "timestamp"} <= set(line)
        for line in requests
    )
    assert len(requests) >= 17
    assert len({line["request_id"] for line in requests}) == len(requests)
    assert [(line["path"], line["status"]) for line in requests if line["request_id"] == "log-me-out"] == [
        ("/api/v1/auth/logout", 204)
    ]
    secrets = [PASSWORD, "Wrong-Horse", key, key.removeprefix("svc_live_"), invitation["invitation_token"]]
    for tokens in (owner.tokens, joined, renewed):
        for token in (tokens["access_token"], tokens["refresh_token"]):
            secrets += [token, token.rpartition(".")[2]]
    assert [secret[:12] for secret in secrets if secret in written] == []


@pytest.mark.parametrize("value", ["\ud800", 1 << 64, {"deep": ["\udfff"]}, object()])
def test_a_line_is_written_whatever_it_holds(capfd: pytest.CaptureFixture[str], value: Any) -> None:
    structlog.reset_defaults()
    log.configure("info")
    try:
        structlog.get_logger().error("odd", value=value)
    finally:
        structlog.reset_defaults()
    (line,) = capfd.readouterr().err.splitlines()
    body = json.loads(line)
    assert (body["event"], body["value"]) == ("odd", value if type(value) is not object else str(value))
