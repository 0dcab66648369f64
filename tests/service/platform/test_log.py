"""Logs: one JSON object a line, and no secret in any of them."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
import structlog

from service.platform import log
from service.platform.log import redact


@pytest.mark.parametrize(
    "name",
    ["password", "new_password", "access_token", "refresh_token", "invitation_token", "secret", "Authorization", "api_key", "cookie", "secret_key"],
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
