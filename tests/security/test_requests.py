"""Requests as no decent client writes them.

Headers twice or huge, methods in disguise, paths with tricks.
"""

from __future__ import annotations

import json
import re
import socket
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import msgspec
import pytest

from service.app import routes
from service.platform.base.caller import KEY_SCOPES
from service.platform.route.api import Route
from tests.conftest import Member, Stack
from tests.records import GUARDED, asked_of, each, error_of, path_of, quoted

ME = "/api/v1/auth/me"
HEADER_BYTES = 1 << 20
"""More than any server reads of headers."""


def spoken(stack: Stack, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """The answer to these bytes: its status, its headers, its body."""
    address = urlsplit(stack.url)
    assert address.hostname is not None
    assert address.port is not None
    answered = b""
    with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
        try:
            connection.sendall(request)
            while chunk := connection.recv(65_536):
                answered += chunk
        except (ConnectionResetError, BrokenPipeError):  # it stopped listening before all was said
            pass
    head, _, body = answered.partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.1 (\d{3})", head)
    lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
    headers = {name.decode().lower(): value.strip().decode("latin-1") for name, _, value in lines}
    return int(status[1]) if status else 0, headers, body


def asked(*lines: str, path: str = ME, method: str = "GET") -> bytes:
    """A request with these header lines."""
    head = [f"{method} {path} HTTP/1.1", "Host: x", "Connection: close", *lines]
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n"


def bearer(member: Member) -> str:
    return str(member.http.headers["Authorization"])


# Who calls, said twice ----------------------------------------------------------------------------------------------


def test_two_tokens_are_nobody(stack: Stack, shared_owner: Member, attacker: Member) -> None:
    """A proxy may have read the first and the service the last: neither is taken."""
    mine, theirs = bearer(shared_owner), bearer(attacker)
    for first, second in ((mine, theirs), (mine, mine), (mine, "Bearer x"), ("Bearer x", mine), ("", mine)):
        status, _, body = spoken(stack, asked(f"Authorization: {first}", f"authorization: {second}"))
        assert status in (400, 401), (first[:10], second[:10], body)


def test_two_keys_are_nobody(stack: Stack, keys: dict[str, Member], attacker: Member) -> None:
    mine, theirs = keys["workbooks:read"], attacker.key(*KEY_SCOPES)
    lines = [f"X-API-Key: {member.http.headers['X-API-Key']}" for member in (mine, theirs)]
    for pair in (lines, lines[::-1], [lines[0], "X-API-Key: x"], ["X-API-Key: x", lines[0]]):
        status, _, body = spoken(stack, asked(*pair))
        assert status in (400, 401), body


def test_two_tenants_are_none(stack: Stack, shared_owner: Member, attacker: Member) -> None:
    own, second = f"X-Tenant-ID: {shared_owner.tenant_id}", f"X-Tenant-ID: {attacker.tenant_id}"
    for pair in ((own, second), (second, own)):
        status, _, body = spoken(stack, asked(f"Authorization: {bearer(shared_owner)}", *pair))
        assert status in (400, 401, 403), body


def test_a_token_and_a_key(stack: Stack, shared_owner: Member, attacker: Member, keys: dict[str, Member]) -> None:
    """The token counts, whatever the key is.

    A call is never let in, or in as somebody else, by the other one.
    """
    key = keys["workbooks:read"].http.headers["X-API-Key"]

    def call(authorization: str, key: str, path: str = ME) -> httpx.Response:
        return httpx.get(stack.url + path, headers={"Authorization": authorization, "X-API-Key": key}, timeout=60)

    assert call(bearer(attacker), key).json()["id"] == attacker.user_id
    assert call(bearer(attacker), "x").json()["id"] == attacker.user_id
    for wrong in ("Bearer x.y.z", "Bearer", "", "Basic x"):
        answer = call(wrong, key, "/api/v1/workbooks")
        assert (answer.status_code, error_of(answer)["error_code"]) == (401, "INVALID_TOKEN")


def test_credentials_elsewhere_are_not_read(stack: Stack, shared_owner: Member, keys: dict[str, Member]) -> None:
    """What stands in an address or a cookie gets into logs and comes from other pages."""
    token = bearer(shared_owner).removeprefix("Bearer ")
    key = keys["all"].http.headers["X-API-Key"]
    for query in (
        f"access_token={token}",
        f"token={token}",
        f"api_key={key}",
        f"X-API-Key={key}",
        f"Authorization=Bearer {token}",
    ):
        assert httpx.get(f"{stack.url}{ME}?{query}", timeout=60).status_code == 401
    for cookie in (f"access_token={token}", f"Authorization=Bearer {token}", f"X-API-Key={key}"):
        assert httpx.get(stack.url + ME, headers={"Cookie": cookie}, timeout=60).status_code == 401
    for header in (
        "Proxy-Authorization",
        "X-Authorization",
        "X-Access-Token",
        "X-Auth-Token",
        "X-User-ID",
        "X-Forwarded-User",
    ):
        for value in (f"Bearer {token}", token, shared_owner.user_id, key):
            assert httpx.get(stack.url + ME, headers={header: value}, timeout=60).status_code == 401
    with httpx.Client(base_url=stack.url, auth=("svc", key)) as client:
        assert client.get(ME).status_code == 401
    assert "set-cookie" not in shared_owner.get(ME).headers


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer "])
def test_ways_to_spell_a_scheme(stack: Stack, shared_owner: Member, scheme: str) -> None:
    token = bearer(shared_owner).removeprefix("Bearer ")
    assert httpx.get(stack.url + ME, headers={"Authorization": f"{scheme} {token}"}, timeout=60).status_code == 200
    for wrong in (f"{scheme}{token}", f"{scheme} {token} {token}", f"{scheme} {token},", f"Token {token}", token):
        if wrong != f"{scheme}{token}" or not scheme.endswith(" "):
            answer = httpx.get(stack.url + ME, headers={"Authorization": wrong}, timeout=60)
            assert answer.status_code == 401, wrong[:12]


# Sizes --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "X-API-Key",
        "X-Tenant-ID",
        "X-Request-ID",
        "Idempotency-Key",
        "If-Match",
        "User-Agent",
        "Cookie",
        "X-Forwarded-For",
        "X-Any",
    ],
)
def test_a_huge_header_is_refused_or_passed_over(stack: Stack, shared_owner: Member, name: str) -> None:
    with_token = [] if name == "Authorization" else [f"Authorization: {bearer(shared_owner)}"]
    for size in (8_000, 60_000, HEADER_BYTES):
        status, _, _ = spoken(stack, asked(*with_token, f"{name}: {'a' * size}"))
        passed_over = size < HEADER_BYTES and name not in ("Authorization", "X-Tenant-ID")
        assert status in ((200, 0, 400, 431) if passed_over else (0, 400, 401, 403, 404, 431)), (name, size)
        assert status != 200 or size < HEADER_BYTES
    assert shared_owner.get(ME).status_code == 200, "and the service goes on"


def test_many_headers_are_refused_or_passed_over(stack: Stack, shared_owner: Member) -> None:
    for number in (90, 2_000, 20_000):
        lines = [f"X-Filler-{line}: {line}" for line in range(number)]
        status, _, _ = spoken(stack, asked(f"Authorization: {bearer(shared_owner)}", *lines))
        assert status in (0, 200, 400, 431)
    assert shared_owner.get(ME).status_code == 200


def test_long_texts_of_a_header_do_not_reach_the_records(stack: Stack, shared_owner: Member) -> None:
    """The audit log keeps who called with what, within bounds."""
    agent = "a" * 5_000
    response = shared_owner.post(
        "/api/v1/compliance/thresholds",
        json={"test_id": "ccc_bucket_pct", "threshold_value": 7.0},
        headers={"User-Agent": agent, "X-Forwarded-For": "198.51.100.7", "X-Request-ID": "b" * 5_000},
    )
    assert response.status_code == 201
    ((kept, address, request_id),) = stack.sql(
        "SELECT user_agent, ip_address::text, request_id FROM audit_log "
        "WHERE tenant_id = %s AND action = 'threshold.updated' ORDER BY occurred_at DESC LIMIT 1",
        [shared_owner.tenant_id],
    )
    assert kept == agent[:500]
    assert address.partition("/")[0] == "127.0.0.1", "no proxy is trusted"
    assert len(request_id) == 36


# Methods in disguise ------------------------------------------------------------------------------------------------

OVERRIDES = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-Method"]


@pytest.mark.parametrize("header", OVERRIDES)
def test_no_header_makes_another_method(shared_owner: Member, resources: dict[str, str], header: str) -> None:
    path = f"/api/v1/workbooks/{resources['workbook_id']}"
    assert shared_owner.get(path, headers={header: "DELETE"}).json()["id"] == resources["workbook_id"]
    assert shared_owner.get(path + "?_method=DELETE").status_code == 422
    posted = shared_owner.post(path, headers={header: "DELETE"}, data={"_method": "DELETE"})
    assert posted.status_code == 405
    assert shared_owner.get(path).status_code == 200


@pytest.mark.parametrize(
    "header", ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Path", "X-Forwarded-Prefix", "X-Forwarded-Host"]
)
def test_no_header_makes_another_path(stack: Stack, members: dict[str, Member], header: str) -> None:
    answer = httpx.get(stack.url + "/health/live", headers={header: ME}, timeout=60)
    assert (answer.status_code, answer.json().keys()) == (200, httpx.get(stack.url + "/health/live").json().keys())
    refused = members["viewer"].get("/api/v1/admin/tenant", headers={header: "/health/live"})
    assert refused.status_code == 403


@pytest.mark.parametrize(
    "method", ["get", "Get", "GETX", "PROPFIND", "CONNECT", "TRACE", "TRACK", "DEBUG", "OPTIONS", "QUERY"]
)
def test_other_methods_are_refused(stack: Stack, shared_owner: Member, method: str) -> None:
    token = f"Authorization: {bearer(shared_owner)}"
    status, headers, body = spoken(stack, asked(token, "X-Secret: told-back", method=method))
    assert status in (0, 400, 405), body
    assert "told-back" not in body.decode("latin-1") + str(headers)


@pytest.mark.parametrize("version", ["HTTP/0.9", "HTTP/1.0", "HTTP/2.0", "HTTP/9.9", "ICY/1.1", ""])
def test_other_versions_are_refused_or_spoken(stack: Stack, version: str) -> None:
    status, _, body = spoken(stack, f"GET {ME} {version}\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert status in (0, 400, 401, 505), body


# Paths --------------------------------------------------------------------------------------------------------------

TRICKS = [
    "//api/v1/auth/me",
    "/api//v1/auth/me",
    "/api/v1/auth//me",
    "/api/v1/auth/me//",
    "/api/v1/auth/me;x=1",
    "/api/v1/auth/me.json",
    "/api/v1/auth/me%00",
    "/api/v1/auth/me%20",
    "/api/v1/auth/me%2f",
    "/api/v1/auth%2fme",
    "/api/v1/auth/./me",
    "/api/v1/auth/x/../me",
    "/api/v1/auth/%2e/me",
    "/api/v1/x/%2e%2e/auth/me",
    "/api/v1/../v1/auth/me",
    "/health/live/../../api/v1/auth/me",
    "/health/live/..;/..;/api/v1/auth/me",
    "/docs/assets/../../api/v1/auth/me",
    "/api\\v1\\auth\\me",
    "/API/V1/AUTH/ME",
    "/api/V1/auth/me",
    "/api/v1/auth/ME",
    "/api/v1/auth/m%65%00",
    "/api/v1/auth/%6d%65%2e",
    "/api/v1/auth/mé",
    "/api/v1/auth/ｍe",
]


@pytest.mark.parametrize("path", TRICKS)
def test_a_path_is_what_it_is(stack: Stack, shared_owner: Member, path: str) -> None:
    """Nothing is normalised.

    A wall in front of the service and the service see the same path.
    """
    request = asked(f"Authorization: {bearer(shared_owner)}").replace(ME.encode(), path.encode(), 1)
    status, headers, body = spoken(stack, request)
    assert status in (400, 404), body
    assert "location" not in headers
    if status == 404:
        assert json.loads(body)["detail"] == "Not found"


def test_a_percent_is_read_once(stack: Stack, shared_owner: Member) -> None:
    """`%61` is an `a` in a path, for every method alike; `%2561` is not."""
    token = f"Authorization: {bearer(shared_owner)}"
    once = spoken(stack, asked(token, path="/api/v1/%61uth/me"))[0]
    assert once in (200, 404)
    assert spoken(stack, asked(path="/api/v1/%61uth/me"))[0] in (401, 404), "and no way around the caller's token"
    assert spoken(stack, asked(token, path="/api/v1/%2561uth/me"))[0] == 404


@pytest.mark.parametrize(
    "target",
    ["http://other.example/api/v1/auth/me", "http://169.254.169.254/latest/meta-data", "other.example:443", "*"],
)
def test_the_service_is_no_proxy(stack: Stack, target: str) -> None:
    status, headers, body = spoken(stack, asked(path=target))
    assert status in (0, 400, 401, 404, 405), body
    assert "location" not in headers


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "a\tb", "", "evil.example/x?y#z"])
def test_the_host_is_not_told_back(stack: Stack, shared_owner: Member, host: str) -> None:
    """A link that a mail or an answer carries is never made of what the caller says."""
    request = asked(f"Authorization: {bearer(shared_owner)}", f"X-Forwarded-Host: {host}").replace(
        b"Host: x", f"Host: {host}".encode()
    )
    _, headers, body = spoken(stack, request)
    assert "evil" not in (body.decode("latin-1") + str(headers))


# What is said twice ---------------------------------------------------------------------------------------------------


@each([row for row in GUARDED if row.query is not None])
def test_a_parameter_that_is_given_twice_is_refused(
    shared_owner: Member, resources: dict[str, str], row: Route
) -> None:
    """A filter in front of the service may have read the other one.

    Lists may be given so.
    """
    path = path_of(row, **quoted(resources)) + asked_of(row)
    for field in msgspec.structs.fields(row.query):
        if "list[" in str(field.type):
            continue
        value = "5" if field.type in (int, float) else "true"
        twice = f"{path}&{field.encode_name}={value}&{field.encode_name}={value}"
        answer = shared_owner.http.request(row.method, twice)
        assert answer.status_code == 422, (field.encode_name, answer.text)
        assert error_of(answer)["errors"][0]["loc"] == ["query", field.encode_name]


# Bodies where none is read ------------------------------------------------------------------------------------------


def test_a_body_of_a_get_is_not_read(shared_owner: Member, resources: dict[str, str]) -> None:
    for path in ("/api/v1/workbooks", f"/api/v1/workbooks/{resources['workbook_id']}", ME):
        plain = shared_owner.get(path)
        with_body = shared_owner.http.request("GET", path, json={"tenant_id": str(uuid4()), "page": -1})
        assert with_body.status_code == plain.status_code == 200
        assert with_body.json() == plain.json()


@pytest.mark.parametrize(
    "content",
    [
        b'{"test_id": "ccc_bucket_pct", "threshold_value": 1, "threshold_value": 2}',
        b'\xef\xbb\xbf{"test_id": "ccc_bucket_pct", "threshold_value": 1}',
        '{"test_id": "ccc_bucket_pct", "threshold_value": 1}'.encode("utf-16"),
        b'{"test_id": "ccc_bucket_pct", "threshold_value": 1e400}',
        b'{"test_id": "ccc_bucket_pct", "threshold_value": Infinity}',
        b'{"test_id": "ccc_bucket_pct", "threshold_value": 1}' + b" " * 1000 + b"x",
        b'{"test_id": "ccc_bucket_pct", "threshold_value": ' + b"9" * 5000 + b"}",
        b'{"test_id": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    ],
    ids=["twice", "mark", "utf-16", "huge", "infinite", "trailing", "digits", "deep"],
)
def test_json_that_parsers_read_differently(shared_owner: Member, content: bytes) -> None:
    answer = shared_owner.post(
        "/api/v1/compliance/thresholds", content=content, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (201, 422), answer.text
    if answer.status_code == 201:
        assert answer.json()["threshold_value"] == 2.0, "the last of two counts, as everywhere"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "identity, gzip"])
def test_a_packed_body_is_not_unpacked(shared_owner: Member, encoding: str) -> None:
    """A few bytes cannot become gigabytes."""
    answer = shared_owner.post(
        "/api/v1/compliance/thresholds",
        content=b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
        headers={"Content-Type": "application/json", "Content-Encoding": encoding},
    )
    assert answer.status_code in (415, 422)


# Answers ------------------------------------------------------------------------------------------------------------


def test_an_answer_says_nothing_of_what_stands_behind(stack: Stack, shared_owner: Member) -> None:
    answers: list[Any] = [
        shared_owner.get(ME),
        httpx.get(stack.url + "/nowhere"),
        httpx.put(stack.url + ME),
        httpx.get(stack.url + ME),
    ]
    for answer in answers:
        lines = str(answer.headers).lower() + answer.text.lower()
        assert not re.search(r"starlette|python|uvicorn|psycopg|traceback|x-powered-by", lines), lines
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_page_of_another_origin_reads_answers(stack: Stack, shared_owner: Member) -> None:
    """No endpoint allows other origins, and tokens are no cookies, so that a page can do nothing in a user's name."""
    for row in routes():
        if row.method == "GET" and not row.parameters:
            answer = shared_owner.get(row.path, headers={"Origin": "https://evil.example"})
            assert not [name for name in answer.headers if name.lower().startswith("access-control-")]
    preflight = httpx.options(
        stack.url + ME, headers={"Origin": "https://evil.example", "Access-Control-Request-Method": "GET"}
    )
    assert preflight.status_code == 405


def test_who_is_refused_unread_gets_an_answer_each_time(stack: Stack) -> None:
    """On one connection, bodies and all.

    What is refused before its body is read does not break off.
    """
    with httpx.Client(base_url=stack.url, timeout=60) as client:
        answers = [client.post("/api/v1/mappings", content=b"x" * 60_000) for _ in range(200)]
    assert {answer.status_code for answer in answers} == {401}
