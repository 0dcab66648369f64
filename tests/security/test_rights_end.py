"""Rights that end while a request is under way.

It is refused, whichever endpoint it is for, and leaves nothing.

A body that comes slowly keeps a request open past the gate. And what is quick may still be overtaken by its COMMIT.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from service.platform.access.rights import _lock
from service.platform.base.caller import KEY_SCOPES, SCOPES
from service.platform.route.api import Route
from tests.conftest import PASSWORD, Member, Stack, member, register
from tests.records import ALL_ROWS, MAPPING, body_of, identity, path_of, sent, small_book
from tests.security.conftest import SYSTEM_KEY, Deployment

CHANGING = [row for row in ALL_ROWS if row.method != "GET" and row.access != "public"]
SLOW = [row for row in CHANGING if row.body is not None or row.form is not None]
ADMITTED_SECONDS = 0.6
"""In which the heads of all of them have passed the gate."""
ANSWER_SECONDS = 60.0
SAID_BY_CALLERS = ("authorization", "x-api-key", "x-tenant-id", "idempotency-key")
USER_ONLY = ("user", "role:admin", "role:owner", "operator")

TOKEN_ENDED = (401, "TOKEN_REVOKED", "Token has been revoked")
KEY_ENDED = (401, "AUTHENTICATION_FAILED", "Invalid API key")
RIGHT_LOST = (403, "PERMISSION_DENIED", "Insufficient permissions")
SUSPENDED = (403, "PERMISSION_DENIED", "Tenant is suspended")

Refusal = tuple[int, str, str]


@dataclass
class Begun:
    """A request whose body is not there yet."""

    row: Route
    request_id: str
    connection: socket.socket
    rest: bytes

    def answer(self) -> Refusal | int:
        """What it is refused with, or the status of a success."""
        answer = HTTPResponse(self.connection)
        answer.begin()
        content = httpx.Response(answer.status, content=answer.read())
        if answer.status < 300:
            return answer.status
        body = content.json()
        return answer.status, body["error_code"], body["detail"]


def end(begun: list[Begun]) -> dict[str, Refusal | int]:
    """Bring the rest of each body; the answers by the rows' names."""
    for item in begun:
        item.connection.sendall(item.rest)
    return {identity(item.row): item.answer() for item in begun}


def begin(caller: Member, row: Route, path: str, body: dict[str, Any] | None) -> Begun:
    """The head of a call, and the first half of its body."""
    asked: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        request.read()
        asked.append(request)
        return httpx.Response(200)

    headers = {name: value for name, value in caller.http.headers.items() if name in SAID_BY_CALLERS}
    base = str(caller.http.base_url)
    with httpx.Client(base_url=base, headers=headers, transport=httpx.MockTransport(take)) as client:
        sent(Member(client, {}, caller.email, caller.tenant_id, caller.user_id), row, path, body)
    (request,) = asked
    request_id = str(uuid4())
    lines = [f"{request.method} {request.url.raw_path.decode()} HTTP/1.1", f"x-request-id: {request_id}"]
    lines += [f"{name}: {value}" for name, value in request.headers.items()]
    place = urlsplit(base)
    assert place.hostname is not None
    assert place.port is not None
    connection = socket.create_connection((place.hostname, place.port), ANSWER_SECONDS)
    half = max(1, len(request.content) // 2)
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + request.content[:half])
    return Begun(row, request_id, connection, request.content[half:])


@contextmanager
def under_way(caller: Member, rows: list[Route], resources: dict[str, str]) -> Iterator[list[Begun]]:
    """A request for each row that has passed the gate and waits for its body."""
    with ExitStack() as stack:
        begun = [begin(caller, row, path_of(row, **resources), body_of(row, resources)) for row in rows]
        for item in begun:
            stack.enter_context(item.connection)
        time.sleep(ADMITTED_SECONDS)
        yield begun


def untouched(stack: Stack, begun: list[Begun]) -> bool:
    """Whether the audit log knows nothing of the requests."""
    asked = [[item.request_id for item in begun]]
    return stack.sql("SELECT count(*) FROM audit_log WHERE request_id = ANY(%s)", asked) == [(0,)]


# Users ----------------------------------------------------------------------------------------------------------------


def done(answer: httpx.Response) -> None:
    assert answer.status_code in (200, 204), answer.text


def log_in(url: str, email: str) -> Member:
    form = {"username": email, "password": PASSWORD}
    answer = httpx.post(f"{url}/api/v1/auth/login", data=form, timeout=60)
    assert answer.status_code == 200, answer.text
    return member(url, answer.json(), email)


def _user(owner: Member, user: Member) -> str:
    return f"/api/v1/admin/users/{user.user_id}"


ENDINGS: dict[str, Callable[[Member, Member], None]] = {
    "removed": lambda owner, user: done(owner.delete(_user(owner, user))),
    "demoted": lambda owner, user: done(owner.patch(_user(owner, user), json={"role": "viewer"})),
    "promoted": lambda owner, user: done(owner.patch(_user(owner, user), json={"role": "owner"})),
    "deactivated": lambda owner, user: done(owner.patch(_user(owner, user), json={"status": "inactive"})),
    "logged out": lambda _, user: done(user.post("/api/v1/auth/logout")),
    "all tokens revoked": lambda _, user: done(
        log_in(str(user.http.base_url), user.email).post("/api/v1/auth/revoke-all-tokens")
    ),
    "another password": lambda _, user: done(
        log_in(str(user.http.base_url), user.email).post(
            "/api/v1/auth/password/change", json={"current_password": PASSWORD, "new_password": f"{PASSWORD}9"}
        )
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_user_whose_session_ends_before_the_body(
    stack: Stack, shared_owner: Member, resources: dict[str, str], ending: str
) -> None:
    admin = shared_owner.invite("admin")
    with under_way(admin, SLOW, resources) as begun:
        ENDINGS[ending](shared_owner, admin)
        answers = end(begun)
        assert {name: answer for name, answer in answers.items() if answer != TOKEN_ENDED} == {}
        assert untouched(stack, begun)


def test_a_tenant_that_is_suspended_before_the_body(
    deployment: Deployment, stack: Stack, resources: dict[str, str]
) -> None:
    owner = register(stack.url)
    with under_way(owner, SLOW, resources) as begun:
        suspended = httpx.patch(
            f"{deployment.url}/api/v1/admin/tenant",
            headers={"X-API-Key": SYSTEM_KEY, "X-Tenant-ID": owner.tenant_id},
            json={"status": "suspended"},
            timeout=60,
        )
        done(suspended)
        answers = end(begun)
        assert {name: answer for name, answer in answers.items() if answer != SUSPENDED} == {}
        assert untouched(stack, begun)


@pytest.mark.parametrize("ending", ["removed", "demoted"])
def test_an_operator_in_another_tenant_who_ends_before_the_body(
    deployment: Deployment, stack: Stack, shared_owner: Member, resources: dict[str, str], ending: str
) -> None:
    headers = {"Authorization": deployment.callers["owner"].http.headers["Authorization"]}
    with httpx.Client(base_url=deployment.url, headers=headers, timeout=60) as client:
        me = client.get("/api/v1/auth/me").json()
        owner = Member(client, {}, me["email"], me["tenant_id"], me["id"])
        operator = owner.invite("admin")
        operator.http.headers["X-Tenant-ID"] = shared_owner.tenant_id
        rows = [row for row in SLOW if row.access != "operator" and row.name in ("create_mapping", "invite_user")]
        assert len(rows) == 2
        with under_way(operator, rows, resources) as begun:
            ENDINGS[ending](owner, operator)
            assert set(end(begun).values()) == {TOKEN_ENDED}
            assert untouched(stack, begun)


def test_a_repetition_whose_session_ends_before_the_body_reads_no_answer(
    shared_owner: Member, resources: dict[str, str]
) -> None:
    (row,) = (row for row in SLOW if row.name == "create_mapping")
    admin = shared_owner.invite("admin")
    admin.http.headers["Idempotency-Key"] = str(uuid4())
    body = MAPPING | {"name": str(uuid4())}
    path = path_of(row, **resources)
    first, again = (sent(admin, row, path, body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["idempotent-replayed"] == "true"
    late = begin(admin, row, path, body)
    with late.connection:
        time.sleep(ADMITTED_SECONDS)
        done(shared_owner.delete(_user(shared_owner, admin)))
        assert list(end([late]).values()) == [TOKEN_ENDED]


def test_a_body_that_is_slow_and_rights_that_stay(shared_owner: Member, resources: dict[str, str]) -> None:
    """What waits for its body, while its caller does other things, succeeds."""
    rows = [row for row in SLOW if row.name in ("create_mapping", "evaluate_formula", "upload_workbook", "invite_user")]
    assert len(rows) == 4, sorted(row.name for row in SLOW)
    with under_way(shared_owner, rows, resources) as begun:
        assert shared_owner.post("/api/v1/mappings", json=MAPPING | {"name": str(uuid4())}).status_code == 201
        answers = end(begun)
        assert {name: answer for name, answer in answers.items() if answer not in (200, 201)} == {}


# Keys -----------------------------------------------------------------------------------------------------------------

KEYED = [row for row in SLOW if row.access not in USER_ONLY]


def _keys(owner: Member, key: Member) -> str:
    name = key.http.headers["x-api-key"][:16]
    listed = owner.get("/api/v1/admin/api-keys", params={"page_size": 100}).json()["items"]
    (result,) = (
        item["id"] for item in listed if name.startswith(item["key_prefix"][:16]) and item["status"] == "active"
    )
    return f"/api/v1/admin/api-keys/{result}"


KEY_ENDINGS: dict[str, tuple[Callable[[Member, Member, Member], None], Refusal]] = {
    "revoked": (lambda owner, _, key: done(owner.delete(_keys(owner, key))), KEY_ENDED),
    "creator removed": (lambda owner, creator, _: done(owner.delete(_user(owner, creator))), KEY_ENDED),
    "creator inactive": (
        lambda owner, creator, _: done(owner.patch(_user(owner, creator), json={"status": "inactive"})),
        KEY_ENDED,
    ),
    "creator demoted": (
        lambda owner, creator, _: done(owner.patch(_user(owner, creator), json={"role": "viewer"})),
        RIGHT_LOST,
    ),
}


@pytest.mark.parametrize("ending", KEY_ENDINGS)
def test_a_key_that_ends_before_the_body(
    stack: Stack, shared_owner: Member, resources: dict[str, str], ending: str
) -> None:
    creator = shared_owner.invite("admin")
    key = creator.key(*KEY_SCOPES)
    end_key, expected = KEY_ENDINGS[ending]
    kept = SCOPES["viewer"] if expected == RIGHT_LOST else frozenset()
    rows = [row for row in KEYED if row.access not in kept]
    with under_way(key, rows, resources) as begun:
        end_key(shared_owner, creator, key)
        answers = end(begun)
        assert {name: answer for name, answer in answers.items() if answer != expected} == {}
        assert untouched(stack, begun)


# The COMMIT -----------------------------------------------------------------------------------------------------------

WITHOUT_COMMIT = {
    *("POST /api/v1/calculations/batch", "POST /api/v1/calculations/validate", "POST /api/v1/formulas/validate"),
    *("POST /health/reset/{service}", "POST /health/reset-all", "POST /health/fallback-cache/clear"),
}
"""What, with these bodies, asks the database for nothing."""
ENDING_ITSELF = {"POST /api/v1/auth/logout", "POST /api/v1/auth/revoke-all-tokens"}
AT_A_TIME = 4
"""Connections of one tenant: half of those that a process has."""


@contextmanager
def before_commits(stack: Stack, id_: str) -> Iterator[psycopg.Connection[Any]]:
    """No request that rests on this tenant, user or key commits, as while somebody ends its rights."""
    with psycopg.connect(stack.database_url, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", [_lock(UUID(id_))])
        yield connection


def waiting(connection: psycopg.Connection[Any], calls: Sequence[Future[httpx.Response]]) -> None:
    """Wait until each call stands before its COMMIT, or behind one that does, or is answered without one."""
    sql = "SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted"
    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        answered = sum(call.done() for call in calls)
        ((count,),) = connection.execute(sql).fetchall()
        if answered + count >= len(calls):
            return
        time.sleep(0.02)


def test_no_call_commits_after_its_session_has_ended(
    stack: Stack, shared_owner: Member, resources: dict[str, str]
) -> None:
    """Every endpoint that changes something, with a call that it would take, ended after all of its work."""
    refused, others = [], {}
    asked = [row for row in CHANGING if identity(row) not in ENDING_ITSELF]
    for start in range(0, len(asked), AT_A_TIME):
        rows = asked[start : start + AT_A_TIME]
        admin = shared_owner.invite("admin")
        session = stack.sql("SELECT id::text FROM sessions WHERE user_id = %s", [admin.user_id])[0][0]
        with ThreadPoolExecutor(AT_A_TIME) as pool, before_commits(stack, admin.user_id) as connection:
            bodies = [body_of(row, resources) if row.body or row.form else None for row in rows]
            calls = [
                pool.submit(sent, admin, row, path_of(row, **resources), body)
                for row, body in zip(rows, bodies, strict=True)
            ]
            waiting(connection, calls)
            connection.execute("UPDATE sessions SET revoked_at = now() WHERE id = %s", [session])
            connection.execute("SELECT pg_advisory_unlock_all()")
            for row, call in zip(rows, calls, strict=True):
                answer = call.result()
                if answer.status_code == 401:
                    assert answer.json()["error_code"] == "TOKEN_REVOKED", answer.text
                    refused.append(identity(row))
                else:
                    others[identity(row)] = answer
    succeeded = {name for name, answer in others.items() if answer.status_code < 300}
    assert succeeded <= WITHOUT_COMMIT
    assert len(refused) > 3 * len(others), sorted((name, answer.status_code) for name, answer in others.items())


@pytest.mark.parametrize(
    ("sql", "status", "detail"),
    [
        ("UPDATE api_keys SET status = 'revoked' WHERE tenant_id = %(tenant)s", 401, "Invalid API key"),
        ("UPDATE api_keys SET expires_at = now() WHERE tenant_id = %(tenant)s", 401, "Invalid API key"),
        ("UPDATE users SET status = 'inactive' WHERE tenant_id = %(tenant)s", 401, "Invalid API key"),
        ("UPDATE users SET role = 'viewer' WHERE tenant_id = %(tenant)s", 403, "Insufficient permissions"),
        ("UPDATE tenants SET status = 'suspended' WHERE id = %(tenant)s", 403, "Tenant is suspended"),
        ("SELECT", 201, None),
    ],
)
def test_no_key_commits_after_its_end(stack: Stack, owner: Member, sql: str, status: int, detail: str | None) -> None:
    key, path, limit = owner.key("compliance:write"), "/api/v1/compliance/thresholds", {"threshold_value": 20}
    assert key.post(path, json=limit | {"test_id": "wal"}).status_code == 201
    with ThreadPoolExecutor(1) as pool, before_commits(stack, owner.tenant_id) as connection:
        call = pool.submit(key.post, path, json=limit | {"test_id": "was"})
        waiting(connection, [call])
        connection.execute(sql.encode(), {"tenant": owner.tenant_id})
        connection.execute("SELECT pg_advisory_unlock_all()")
        answer = call.result()
    assert answer.status_code == status, answer.text
    assert answer.json().get("detail") == detail
    kept = stack.sql("SELECT count(*) FROM thresholds WHERE tenant_id = %s", [owner.tenant_id])
    assert kept == [(1 + (status == 201),)]


def test_whoever_ends_rights_waits_for_those_who_commit(stack: Stack, owner: Member) -> None:
    """What rests on rights commits before they end, or not at all.

    A removal is answered after it.
    """
    admin = owner.invite("admin")
    with ThreadPoolExecutor(2) as pool, psycopg.connect(stack.database_url) as holding:
        holding.execute("SELECT FROM audit_heads WHERE tenant_id = %s FOR UPDATE", [owner.tenant_id])
        result = pool.submit(admin.post, "/api/v1/mappings", json=MAPPING)  # its COMMIT waits for the chain
        time.sleep(0.5)
        removed = pool.submit(owner.delete, f"/api/v1/admin/users/{admin.user_id}")
        time.sleep(0.5)
        assert not result.done()
        assert not removed.done()
        holding.rollback()
        assert result.result().status_code == 201
        assert removed.result().status_code == 204
    assert admin.post("/api/v1/mappings", json=MAPPING | {"name": "after"}).status_code == 401


def test_an_upload_that_is_refused_at_its_commit_leaves_nothing(stack: Stack, owner: Member) -> None:
    key = owner.key("workbooks:write")
    file = small_book([["Cell"], [str(uuid4())]])
    with ThreadPoolExecutor(1) as pool, before_commits(stack, owner.tenant_id) as connection:
        call = pool.submit(key.post, "/api/v1/workbooks/upload", files={"file": ("a.xlsx", file)})
        waiting(connection, [call])
        connection.execute("UPDATE api_keys SET status = 'revoked' WHERE tenant_id = %s", [owner.tenant_id])
        connection.execute("SELECT pg_advisory_unlock_all()")
        assert call.result().status_code == 401
    for table in ("workbooks", "blobs", "jobs"):
        assert stack.sql(f"SELECT count(*) FROM {table} WHERE tenant_id = %s", [owner.tenant_id]) == [(0,)], table
