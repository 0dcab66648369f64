"""HEAD, pages of other origins, and a slash too many."""

from __future__ import annotations

from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx

from service import guide
from tests.conftest import Member, Stack, register
from tests.records import ALL_ROWS, assert_limits, path_of
from tests.rows import every

ORIGIN = "https://desk.example"


def test_the_head_of_what_is_streamed_and_recorded_goes_out_alone_and_is_no_event(owner: Member) -> None:
    path = "/api/v1/admin/audit-logs/export"
    head = owner.http.head(path, params={"format": "csv"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"].startswith("text/csv")
    recorded = owner.get("/api/v1/admin/audit-logs", params={"action": "audit_log.exported"}).json()["items"]
    assert recorded == []


def test_pages_of_the_origins_of_the_setting_call_the_api_and_no_others(stack: Stack) -> None:
    with stack.another_api(CUSHION_CORS_ORIGINS=f"{ORIGIN}, http://localhost:5173") as url:
        owner = register(url)
        path = "/api/v1/workbooks"
        asks = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization, if-match"}
        for origin in (ORIGIN, "http://localhost:5173"):
            preflight = httpx.options(url + path, headers={"Origin": origin, **asks})
            assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, origin)
            assert "PATCH" in preflight.headers["access-control-allow-methods"]
            assert preflight.headers["access-control-max-age"] == "600"
            answer = owner.get(path, headers={"Origin": origin})
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
            assert "X-RateLimit-Remaining" in answer.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in answer.headers
            refused = httpx.get(url + path, headers={"Origin": origin})
            assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, origin)
        evil = {"Origin": "https://evil.example"}
        assert httpx.options(url + path, headers={**evil, **asks}).status_code == 400
        assert "access-control-allow-origin" not in owner.get(path, headers=evil).headers
        strange = httpx.options(
            url + path, headers={"Origin": ORIGIN, **asks, "Access-Control-Request-Headers": "cookie"}
        )
        assert strange.status_code == 400


# A slash too many -----------------------------------------------------------------------------------------------------


def test_every_path_is_found_with_a_slash_at_its_end(stack: Stack) -> None:
    """The answer says where it is, on this host and with the query, whatever the method and whoever asks."""
    wrong = []
    with httpx.Client(base_url=stack.url) as http:
        for row in ALL_ROWS:
            path = path_of(row)
            if path == "/" or path.startswith((guide.PREFIX.rstrip("/"), "/console")):  # their pages are folders
                continue
            answer = http.request(row.method, f"{path}/?a=1&b=%2F%20x")
            lines = (answer.status_code, answer.headers.get("location"), answer.content)
            if lines != (308, f"{path}?a=1&b=%2F%20x", b"") or not answer.headers["x-request-id"]:
                wrong.append((row.method, path, lines))
            assert_limits(answer)
    assert wrong == []


@every(
    "target",
    [
        "//evil.example/",
        "//evil.example//",
        "///",
        "//",
        "/\\evil.example/",
        "/nothing/",
        "/health//",
        "//health/",
        "/api/v1/",
        "/api/v1/workbooks//",
        "/health%2f",
        "/health/%2e%2e/",
        "/health;x/",
        "http://evil.example/nothing/",
    ],
)
def test_nobody_is_led_anywhere_else(stack: Stack, target: str) -> None:
    with closing(HTTPConnection(urlsplit(stack.url).netloc, timeout=30)) as connection:
        connection.putrequest("GET", target)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
    assert answer.status in (400, 404), (answer.status, answer.getheader("location"))
    assert answer.getheader("location") is None


def test_who_follows_arrives_with_method_and_body(shared_owner: Member) -> None:
    answer = shared_owner.http.post("/api/v1/calculations/evaluate/", json={"formula": "=1+1"}, follow_redirects=True)
    assert (answer.status_code, answer.json()["value"]) == (200, 2)
