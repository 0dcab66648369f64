"""What a process checks and clears before it serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.platform.config import ConfigError, Settings
from service.platform.work.process import check, check_app_url

DATABASES: dict[str, Any] = {"database_url": "postgresql://host/x", "redis_url": "redis://host"}
URLS: dict[str, Any] = {**DATABASES, "app_url": "https://cushion.example.com"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (URLS, "CUSHION_SECRET_KEY is needed"),
        (DATABASES, "CUSHION_APP_URL is needed with a database of your own: the address under which people reach this"),
        ({"app_url": "cushion.example.com"}, "CUSHION_APP_URL cannot be used: expected the address under which people"),
        ({"blob_url": "ftp://host/x"}, "CUSHION_BLOB_URL cannot be used"),
        ({"blob_url": "file:///proc/nothing/here"}, "CUSHION_BLOB_URL cannot be used"),
        ({"signing_url": "signing.example.com/sign"}, "CUSHION_SIGNING_URL cannot be used: expected"),
        ({"llm_url": "models.example.com/v1", "llm_model": "a"}, "CUSHION_LLM_URL cannot be used: expected"),
        ({"llm_url": "https://models.example.com/v1?key=5", "llm_model": "a"}, "CUSHION_LLM_URL cannot be used"),
        ({"llm_url": "https://models.example.com/v1"}, "CUSHION_LLM_MODEL is needed"),
        ({"llm_api_key": "sk\r\nx-admin: 1"}, "CUSHION_LLM_API_KEY cannot be used: expected"),
        ({"signing_certificate": Path("/proc/nothing.p12")}, "CUSHION_SIGNING_CERTIFICATE='/proc/nothing.p12' cannot"),
    ],
)
def test_what_every_process_would_refuse_is_told_at_once(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        check(Settings(**settings))


def test_what_will_do_passes(tmp_path: Path) -> None:
    check(Settings())
    check(Settings(**URLS, secret_key="s" * 32, blob_url=(tmp_path / "blobs").as_uri()))
    check(Settings(**DATABASES, embedded=True, secret_key="s" * 32))


@pytest.mark.parametrize(
    "url",
    [
        *("app.example.com", "javascript:alert(1)", "ftp://a", "//a", "https://", "https://:80", "https:///a"),
        *("https://a b", "https://a/b c", "https://a/?next=", "https://a?x", "https://a#b", "https://a/#/b"),
        *("https://user:pass@a", "https://a\\b", "https://a:port", "https://a:70000", "https://a:0", "https://[::1"),
    ],
)
def test_mails_link_to_nothing_else(url: str) -> None:
    with pytest.raises(ConfigError, match="CUSHION_APP_URL cannot be used") as refused:
        check_app_url(Settings(app_url=url))
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(
    "url", ["https://a", "http://127.0.0.1:8000", "https://[::1]:8443/", "https://app.example.com/base/"]
)
def test_an_absolute_address_will_do(url: str) -> None:
    check_app_url(Settings(app_url=url))
