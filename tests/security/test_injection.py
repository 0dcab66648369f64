"""SQL, header lines and control characters through every text that a request can carry: they stay text.

The texts are found in the rows: path, query, body and form fields, at any depth of a body that the row would take.
"""

from __future__ import annotations

import copy
import itertools
import os
import re
import socket
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import msgspec
import pytest

from service.app import routes
from service.platform.route.api import Route, Upload, Uploads
from tests.conftest import Member, Stack, register
from tests.records import ALL_ROWS, GUARDED, ROWS, asked_of, body_of, each, identity, path_of, quoted, records_of, sent

SLEEP_SECONDS = 5
"""What an injected pg_sleep would add; every answer must come sooner."""

SQL = ["' OR '1'='1", "'; DROP TABLE users; --", "') UNION SELECT email, password_hash FROM users --"]
SLEEPS = [
    f"' || (SELECT pg_sleep({SLEEP_SECONDS})) || '",
    f"1; SELECT pg_sleep({SLEEP_SECONDS}) --",
    "%s %(tenant_id)s {} %",
]
LINES = ["x\r\nX-Injected: yes", "x\rX-Injected: yes\r\r", "x\u0085X-Injected: yes\u2028X-Injected: yes"]
OTHER = ["\x1b[31m\x07", "\u202etxet", "\ufeff", "\U0001f984" * 8, "../../../../etc/passwd", "{{7*7}}${7*7}", "=1+1"]
KINDS = [SQL, SLEEPS, LINES, OTHER]
TEXTS = [text for kind in KINDS for text in kind]
PLACE = itertools.count()
TOLD = re.compile(r"syntax error|psycopg|pg_catalog|SQLSTATE|unterminated|relation \"|Traceback|redis\.", re.IGNORECASE)
"""What only an engine behind the service would say."""

ENDING = {"POST /api/v1/auth/logout", "POST /api/v1/auth/revoke-all-tokens", "DELETE /api/v1/admin/tenant"}
OWN_TENANT = {"PATCH /api/v1/admin/tenant", *ENDING}


def some_texts() -> list[str]:
    """One of each kind, at each place the next; all of them with SEARCH=1."""
    place = next(PLACE)
    return TEXTS if "SEARCH" in os.environ else [kind[place % len(kind)] for kind in KINDS]


def takes_texts(row: Route) -> bool:
    """Whether a request has a body, or a form of more than files."""
    fields = () if row.form is None else msgspec.structs.fields(row.form)
    return row.body is not None or any(field.type not in (Upload, Uploads) for field in fields)


WITH_TEXTS = [row for row in ALL_ROWS if takes_texts(row)]


@pytest.fixture(scope="module")
def target(stack: Stack) -> Member:
    """An owner whose tenant the texts are sent to."""
    return register(stack.url)


@pytest.fixture(scope="module")
def records(target: Member) -> dict[str, str]:
    return records_of(target)


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_lost(stack: Stack, attacker: Member) -> Iterator[None]:
    """The tables stand and the other tenant is as it was, whatever was sent."""

    def rows_of_all() -> list[tuple[Any, ...]]:
        return stack.sql(
            "SELECT users.id, email, role, users.status, password_hash, tenants.status, subscription_tier "
            "FROM users JOIN tenants ON tenants.id = tenant_id WHERE tenant_id = %s",
            [attacker.tenant_id],
        )

    before = rows_of_all()
    yield
    assert rows_of_all() == before != []


RAISED = re.compile(r'"exception":{"type":"[A-Z][A-Za-z]+","message":"(?:[^"\\]|\\.)*","traceback":"(?:[^"\\]|\\.)*"}')
"""What a task raised before: a dead letter tells it."""


def unharmed(answer: httpx.Response, seconds: float) -> httpx.Response:
    """The answer, which is no fault and tells nothing of what lies behind."""
    assert answer.status_code < 500, answer.text
    lines = RAISED.sub("", answer.text.replace(answer.request.url.path, ""))
    assert not TOLD.search(lines), answer.text
    assert seconds < SLEEP_SECONDS
    only_our_headers(answer)
    return answer


def only_our_headers(answer: httpx.Response) -> None:
    names = {name.lower() for name in answer.headers}
    assert not [name for name in names if "inject" in name]
    for value in answer.headers.values():
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value), answer.headers


def timed(call: Any, *arguments: Any, **options: Any) -> httpx.Response:
    """What is asked, unharmed.

    A machine that stalls does so once, an injected sleep each time.
    """
    for _ in range(2):
        started = time.monotonic()
        answer: httpx.Response = call(*arguments, **options)
        seconds = time.monotonic() - started
        if seconds < SLEEP_SECONDS:
            break
    return unharmed(answer, seconds)


@each([row for row in GUARDED if row.parameters])
def test_texts_in_a_path(target: Member, records: dict[str, str], row: Route) -> None:
    for name in row.parameters:
        for text in some_texts():
            path = path_of(row, **(quoted(records) | {name: quote(text, safe="")}))
            answer = timed(sent, target, row, path, body_of(row, records) if row.body else None)
            assert answer.status_code in (404, 422), answer.text


@each([row for row in GUARDED if row.query is not None and identity(row) not in ENDING])
def test_texts_in_a_query(target: Member, records: dict[str, str], row: Route) -> None:
    path = path_of(row, **quoted(records)) + asked_of(row)
    for field in msgspec.structs.fields(row.query):
        for text in some_texts():
            answer = timed(target.http.request, row.method, f"{path}&{field.encode_name}={quote(text, safe='')}")
            assert answer.status_code in (row.status, 400, 404, 422), answer.text
    # A name of a field is a text too.
    for text in some_texts():
        timed(target.http.request, row.method, f"{path}&{quote(text, safe='')}=1")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a body holds texts.

    Values, and the keys of objects, which may be names that the caller chose.
    """
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, index))


def replaced(body: dict[str, Any], path: tuple[Any, ...], text: str) -> dict[str, Any]:
    """The body with a text in one place."""
    body = copy.deepcopy(body)
    place: Any = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = text
    return body


def renamed(body: dict[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """The body with a text as a key of each of its objects."""
    yield body | {text: text}
    for name, inner in body.items():
        if isinstance(inner, dict):
            yield body | {name: {**inner, text: next(iter(inner.values()), text)}}


def round_trips(answer: httpx.Response, row: Route, path: tuple[Any, ...], text: str) -> None:
    """What was stored is what was sent; of a record that tells its fields."""
    if answer.status_code != row.status or len(path) != 1 or "json" not in answer.headers.get("content-type", ""):
        return
    body = answer.json()
    if (
        isinstance(body, dict)
        and isinstance(body.get(path[0]), str)
        and path[0] in ("name", "description", "full_name")
    ):
        assert body[path[0]] == text.strip() or body[path[0]] == text


@each(WITH_TEXTS)
def test_texts_in_a_body(stack: Stack, target: Member, records: dict[str, str], row: Route) -> None:
    caller = register(stack.url) if identity(row) in OWN_TENANT else target
    path = path_of(row, **quoted(records))
    for place in places(body_of(row, records)):
        for text in some_texts():
            answer = timed(sent, caller, row, path, replaced(body_of(row, records), place, text))
            round_trips(answer, row, place, text)
    if row.body is not None:
        for text in some_texts():
            for body in renamed(body_of(row, records), text):
                timed(sent, caller, row, path, body)


@each([row for row in ROWS if row.form is not None and row.path.endswith(("/upload", "/files"))])
def test_texts_as_the_name_of_a_file(target: Member, records: dict[str, str], row: Route) -> None:
    field = row.path.rpartition("/")[2].replace("upload", "file")
    for text in TEXTS:
        file = (f"{text}.xlsx", b"PK\x03\x04 no file", "text/plain\r\nX-Injected: yes")
        answer = timed(target.post, path_of(row, **records), files={field: file}, data=body_of(row, records))
        assert answer.status_code in (201, 400, 422), answer.text


HEADERS = [
    "User-Agent",
    "X-Request-ID",
    "X-Forwarded-For",
    "Forwarded",
    "X-Real-IP",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Accept",
    "Accept-Language",
    "Accept-Encoding",
    "Origin",
    "Referer",
    "Cookie",
]


@pytest.mark.parametrize("header", HEADERS)
def test_texts_in_a_header(target: Member, records: dict[str, str], header: str) -> None:
    for text in TEXTS:
        value = re.sub(r"[\r\n\x07\x1b]", " ", text).strip().encode()
        for method, path, options in (
            ("GET", "/api/v1/auth/me", {}),
            ("POST", "/api/v1/compliance/thresholds", {"json": {"test_id": "ccc_bucket_pct", "threshold_value": 7.0}}),
            ("PATCH", f"/api/v1/workbooks/{records['workbook_id']}", {"json": {"description": "of a header"}}),
        ):
            answer = timed(target.http.request, method, path, headers={header: value}, **options)
            assert answer.status_code in (200, 201, 400, 409, 422), answer.text


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key", "X-Tenant-ID", "Content-Type"])
def test_texts_in_a_header_that_says_who_and_what(stack: Stack, target: Member, header: str) -> None:
    for text in TEXTS:
        value = re.sub(r"[\r\n\x07\x1b]", " ", text).strip().encode()
        credentials = {} if header in ("Authorization", "X-API-Key") else dict(target.http.headers)
        with httpx.Client(base_url=stack.url) as client:
            for prefix in (b"", b"Bearer ", b"svc_live_"):
                answer = timed(
                    client.post,
                    "/api/v1/calculations/validate",
                    headers={**credentials, header: prefix + value},
                    content=b"{}",
                )
                assert answer.status_code in (401, 403, 415), answer.text


@pytest.mark.parametrize(
    "line",
    [
        b"X-Request-ID: a\r\n X-Injected: yes",
        b"X-Request-ID: a\rX-Injected: yes",
        b"X-Request-ID: a\x00b",
        b"X-Request-ID : a",
        b"X Injected: yes",
        b": nameless",
        b"Transfer-Encoding: chunked\r\nContent-Length: 4",
        b"Content-Length: 4\r\nContent-Length: 5",
        b"Content-Length: -1",
        b"Content-Length: 99999999999999999999",
        b"Transfer-Encoding: chunked, identity",
    ],
)
def test_lines_that_no_client_writes(stack: Stack, line: bytes) -> None:
    """What two servers in a row might read differently is refused, or read as one request with one answer."""
    address = urlsplit(stack.url)
    assert address.hostname is not None
    assert address.port is not None
    request = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + line + b"\r\n\r\n0\r\n\r\n"
    smuggled = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(request + smuggled)
        connection.shutdown(socket.SHUT_WR)
        answered = b""
        while chunk := connection.recv(65_536):
            answered += chunk
    statuses = re.findall(rb"HTTP/1\.1 (\d{3})", answered)
    assert len(statuses) <= 1, answered
    assert not [status for status in statuses if not status.startswith(b"4")], answered
    assert b"x-injected" not in answered.lower()


def test_a_path_is_not_a_header(stack: Stack) -> None:
    """Unknown paths and wrong methods are answered without the path, and with the methods alone."""
    with httpx.Client(base_url=stack.url) as client:
        for text in TEXTS:
            for path in (f"/{quote(text, safe='')}", f"/api/v1/workbooks/{quote(text, safe='')}/x/y/z"):
                answer = timed(client.get, path)
                assert answer.status_code == 404
                answer = timed(client.request, "PUT", "/api/v1/auth/me", params={"x": text})
                assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_every_row_with_a_body_is_tried(records: dict[str, str]) -> None:
    assert [identity(row) for row in routes() if takes_texts(row)] == [identity(row) for row in WITH_TEXTS]
    assert not [identity(row) for row in WITH_TEXTS if row.path and not body_of(row, records)]
