"""What a process checks and clears before it serves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from service.platform.config import ConfigError, Settings
from service.platform.work.process import check

URLS: dict[str, Any] = {"database_url": "postgresql://host/x", "redis_url": "redis://host"}


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (URLS, "CUSHION_SECRET_KEY is needed"),
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
