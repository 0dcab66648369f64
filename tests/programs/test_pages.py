"""The documentation pages in a real browser: they draw every operation, and ask no other host for anything."""

from __future__ import annotations

import html
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.conftest import Stack

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--virtual-time-budget=15000",
    "--window-size=1200,30000",  # operations below the window's edge are drawn once somebody scrolls there
]  # fmt: skip


@pytest.mark.parametrize("page", ["/docs", "/redoc"])
def test_page_is_drawn(stack: Stack, tmp_path: Path, page: str) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert browser, "these tests want chromium"
    # The name resolver answers for nothing but this machine: a page that needs the internet stays empty.
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    drawn = subprocess.run(
        [browser, *FLAGS, rules, f"--user-data-dir={tmp_path}", "--dump-dom", stack.url + page],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    paths = httpx.get(stack.url + "/openapi.json").json()["paths"]
    summaries = [operation["summary"] for path in paths.values() for operation in path.values()]
    missing = [summary for summary in summaries if html.escape(summary, quote=False) not in drawn]
    assert missing == []
