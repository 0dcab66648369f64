"""The root address: where a browser goes on to, and what a program reads."""

from __future__ import annotations

import httpx
import pytest

import core
from tests.conftest import Stack

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"


def vary(answer: httpx.Response) -> set[str]:
    return {name.strip() for line in answer.headers.get_list("vary") for name in line.split(",")}


@pytest.mark.parametrize("accept", [CHROMIUM, "TEXT/HTML", "application/json, text/html"])
def test_a_browser_is_redirected_to_the_console(stack: Stack, accept: str) -> None:
    answer = httpx.get(stack.url, headers={"accept": accept})
    assert (answer.status_code, answer.headers["location"], answer.content) == (303, "/console/", b"")
    assert "accept" in vary(answer)
    page = httpx.get(stack.url, headers={"accept": accept}, follow_redirects=True)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")


@pytest.mark.parametrize("accept", ["application/json", "*/*", "text/plain", "application/problem+json"])
def test_a_program_reads_where_to_look(stack: Stack, accept: str) -> None:
    answer = httpx.get(stack.url, headers={"accept": accept})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert "accept" in vary(answer)
    body = answer.json()
    assert (body["name"], body["version"]) == ("Cushion", core.__version__)
    assert body["description"].startswith("Portfolio workbooks")
    assert body["links"] == {
        "console": "/console/",
        "docs": "/docs",
        "redoc": "/redoc",
        "docs_guide": "/docs/guide/",
        "health": "/health",
        "openapi": "/openapi.json",
    }
    with httpx.Client(base_url=stack.url) as client:
        assert {path: client.get(path).status_code for path in body["links"].values()} == dict.fromkeys(
            body["links"].values(), 200
        )
