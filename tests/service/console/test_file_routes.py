"""The console as it is served: at one address, to everybody, without a limit."""

from __future__ import annotations

import gzip

import httpx
import pytest

from service.console.file_actions import FILES, POLICY
from tests.conftest import Stack


def test_the_address_without_a_slash_leads_to_the_console(stack: Stack) -> None:
    answer = httpx.get(f"{stack.url}/console")
    assert (answer.status_code, answer.headers["location"]) == (308, "/console/")


def test_the_page_is_there_for_everybody(stack: Stack) -> None:
    answer = httpx.get(f"{stack.url}/console/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.content == FILES.files().page
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-cache"
    head = httpx.head(f"{stack.url}/console/")
    assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", answer.headers["etag"])
    known = httpx.get(f"{stack.url}/console/", headers={"If-None-Match": answer.headers["etag"]})
    assert (known.status_code, known.content, known.headers["vary"]) == (304, b"", "accept-encoding")


def test_every_file_is_there_and_compressed(stack: Stack) -> None:
    files = FILES.files()
    with httpx.Client(base_url=stack.url, headers={"Accept-Encoding": "gzip"}) as client:
        for name, content in files.others.items():
            answer = client.get(f"/console/{files.hash}/{name}")
            assert (answer.status_code, answer.content == content) == (200, True), name
            assert answer.headers["cache-control"].endswith("immutable")
            if len(content) >= 1024 and not name.endswith(".png"):
                assert answer.headers["content-encoding"] == "gzip", name
                assert int(answer.headers["content-length"]) <= len(gzip.compress(content, 9)) + 16


@pytest.mark.parametrize(
    "path",
    [
        *("nothing.js", "{hash}/nothing.js", "{hash}", "{hash}/", "{hash}/file_routes.py", "{hash}/%2e%2e/app.py"),
        *("{hash}/..%2fapp.py", "%2e%2e/%2e%2e/app.py", "%00", "0123456789abcdef/app.js", "index.html"),
    ],
)
def test_nothing_else_is_served(stack: Stack, path: str) -> None:
    answer = httpx.get(f"{stack.url}/console/{path.format(hash=FILES.files().hash)}")
    assert (answer.status_code, answer.json()["error_code"]) == (404, "RESOURCE_NOT_FOUND")
    assert "immutable" not in answer.headers.get("cache-control", "")
