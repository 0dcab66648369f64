"""One request through its row, over rows of the test's own on the real database and Redis."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncGenerator, Awaitable
from typing import Any

import pytest
from msgspec import Struct

from service.platform.access.caller_status import Window
from service.platform.base.problem import Problem
from service.platform.config import Settings
from service.platform.events.stream import STREAM
from service.platform.http import application
from service.platform.http.connections import Connections
from service.platform.http.dispatch import address_of
from service.platform.http.intake import Message
from service.platform.route.api import Area, Raw, Streamed
from service.platform.unit.context import Context, Resources, Unit
from service.platform.work.jobs import QUEUES
from tests.service.platform.callers import Here, client_of
from tests.service.platform.conftest import Apart


class Teapot(Problem, status=409):
    """Short and stout"""


class Unlisted(Problem, status=409):
    """Nobody lists this"""


class Late(Problem, status=409, constraint="revocations_pkey"):
    """Twice the same"""


class Echo(Struct, frozen=True):
    """What was understood."""

    tags: list[str] = []
    count: int = 0


DONE: list[str] = []
area = Area("/api/v1/tests", tag="tests", scope="workbooks")


async def _leave_a_trace(ctx: Context) -> None:
    await ctx.execute("UPDATE tenants SET name = name || '+' WHERE id = %s", [ctx.tenant])
    ctx.set_subject("thing", "7", "Seven", colour="red")

    async def committed() -> None:
        DONE.append("committed")

    async def undone() -> None:
        DONE.append("undone")

    ctx.after_commit(committed)
    ctx.on_rollback(undone)


@area.post("/good", status=201, event="thing.made")
async def good(ctx: Context) -> Echo:
    """Do it."""
    await _leave_a_trace(ctx)
    return Echo(count=1)


@area.post("/refused", event="thing.made", errors=(Teapot,))
async def refused(ctx: Context) -> None:
    """Do it, then refuse."""
    await _leave_a_trace(ctx)
    raise Teapot.at(["body"], "full")


@area.post("/full", event="thing.made")
async def full(ctx: Context) -> None:
    """Do it, then find no room on the disk."""
    await _leave_a_trace(ctx)
    raise OSError(errno.ENOSPC, "No space left on device", "/a/secret/path")


@area.post("/broken", event="thing.made")
async def broken(ctx: Context) -> None:
    """Do it, then fail."""
    await _leave_a_trace(ctx)
    raise RuntimeError("svc_live_verysecretkey")


@area.post("/unlisted", event="thing.made")
async def unlisted(ctx: Context) -> None:
    """Do it, then refuse in a way that the row does not know."""
    await _leave_a_trace(ctx)
    raise Unlisted


@area.post("/late", event="thing.made", errors=(Late,))
async def late(ctx: Context) -> None:
    """Do it, and let the commit find what is wrong."""
    await _leave_a_trace(ctx)
    sql = """
        INSERT INTO revocations (tenant_id, kind, subject, expires_at)
        VALUES (%s, 'session', '00000000-0000-0000-0000-000000000000', now())
    """
    await (await ctx.begin()).post(sql, [ctx.tenant])
    await (await ctx.begin()).post(sql, [ctx.tenant])


@area.post("/streamed", event="thing.counted", streamed=True, errors=(Teapot,))
async def streamed(ctx: Context, body: Echo) -> Echo:
    """An event that goes out through the stream."""
    if body.count:
        raise Teapot
    ctx.set_subject("thing", "8")
    return body


@area.get("/raw", media_type="text/plain")
async def raw(ctx: Context) -> Raw:
    """Text."""
    ctx.set_etag(3)
    return Raw(b"text", "text/plain", [("X-Own", "1")], status=203)


@area.get("/endless", access="public", media_type="text/plain")
async def endless(ctx: Context) -> Streamed:
    """Text without an end."""

    async def chunks() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"more"
                await asyncio.sleep(0)
        finally:
            DONE.append("ended")

    return Streamed(chunks(), "text/plain")


@area.patch("/versioned")
async def versioned(ctx: Context) -> None:
    """A record in its version 4."""
    ctx.check_if_match(4)


@area.post("/limited", windows=lambda settings, address, user: [Window(f"limited:{user}", 1, 3600)])
async def limited(ctx: Context) -> None:
    """Once an hour."""


@pytest.fixture
def here(clean: Apart) -> Here:
    DONE.clear()
    return client_of(area, clean)


def test_a_success_commits_its_effect_and_its_event_together(here: Here) -> None:
    answer = here.call("POST", "/good", headers={"x-request-id": "r-1", "user-agent": "curl/8"})
    assert (answer.status_code, answer.json()) == (201, {"tags": [], "count": 1})
    assert here.name == "Tenant+"
    assert here.audited == [
        ("thing.made", "thing", "7", "Seven", {"colour": "red"}, "r-1", "192.0.2.9", "curl/8", True)
    ]
    assert DONE == ["committed"]


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/refused", 409, "Short and stout"),
        ("/full", 503, "Service temporarily unavailable"),
        ("/broken", 500, "Internal server error"),
        ("/unlisted", 500, "Internal server error"),
        ("/late", 409, "Twice the same"),
    ],
)
def test_a_failing_handler_leaves_neither_effect_nor_event(here: Here, path: str, status: int, detail: str) -> None:
    answer = here.call("POST", path)
    assert (answer.status_code, answer.json()["detail"]) == (status, detail)
    assert here.name == "Tenant"
    assert here.audited == []
    assert DONE == ["undone"]


def test_a_failure_tells_the_caller_nothing(here: Here) -> None:
    answer = here.call("POST", "/broken", headers={"x-request-id": "r-500"})
    assert answer.json() == {
        "detail": "Internal server error",
        "error_code": "INTERNAL_ERROR",
        "request_id": "r-500",
        "help": "/docs/guide/errors/#internal_server_error",
    }
    assert answer.headers["x-request-id"] == "r-500"
    assert {"x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"} <= set(answer.headers)


def test_an_unlisted_refusal_passes_where_nothing_is_strict(here: Here) -> None:
    answer = here.call("POST", "/unlisted", settings={"strict": False})
    assert (answer.status_code, answer.json()["detail"]) == (409, "Nobody lists this")
    assert here.name == "Tenant"


def test_a_streamed_event_follows_a_success_only(here: Here) -> None:
    assert here.call("POST", "/streamed", json={"count": 1}).status_code == 409
    assert here.apart.redis.xlen(STREAM) == 0
    assert here.call("POST", "/streamed", json={}).status_code == 200
    assert here.apart.redis.xlen(STREAM) == 1
    assert here.audited == []


def test_nothing_is_made_any_more_for_a_caller_who_left(here: Here) -> None:
    """A server takes what is sent to nobody as if it arrived."""
    sent: list[Message] = []
    three = asyncio.Event()

    async def receive() -> Message:
        if sent:
            await three.wait()
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)
        if len(sent) == 4:
            three.set()

    async def main(shared: Resources) -> None:
        app = application.build(area.routes, None, Connections(Settings()))
        app.state.resources = shared
        asked = {"method": "GET", "path": area.prefix + "/endless", "query_string": b"", "headers": []}
        scope = {"type": "http", "http_version": "1.1", **asked}
        async with asyncio.timeout(20):
            await app(scope, receive, send)

    here.apart.run(main)
    assert sent[0]["status"] == 200
    assert {message["body"] for message in sent[1:]} == {b"more"}
    assert DONE == ["ended"]


def test_an_answer_that_is_not_json(here: Here) -> None:
    answer = here.call("GET", "/raw")
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (203, "text", "text/plain")
    assert (answer.headers["x-own"], answer.headers["etag"]) == ("1", '"3"')
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("wanted", "status"),
    [(None, 204), ("*", 204), ('"4"', 204), ('W/"4"', 204), ('"3", "4"', 204), ('"3"', 409), ("", 409), ('"44"', 409)],
)
def test_a_stale_version_is_refused(here: Here, wanted: str | None, status: int) -> None:
    answer = here.call("PATCH", "/versioned", headers={} if wanted is None else {"if-match": wanted})
    assert answer.status_code == status
    assert status == 204 or answer.json()["detail"] == "Concurrent modification"


def test_a_route_may_have_a_limit_of_its_own(here: Here) -> None:
    assert here.call("POST", "/limited").status_code == 204
    answer = here.call("POST", "/limited", headers={"x-request-id": "r-429"})
    seconds = int(answer.headers["retry-after"])
    assert 0 < seconds <= 3600
    assert answer.json() == {
        "error": "rate_limit_exceeded",
        "message": f"Rate limit exceeded. Try again in {seconds} seconds.",
        "retry_after": seconds,
        "detail": "Rate limit exceeded",
        "error_code": "RATE_LIMIT_EXCEEDED",
        "request_id": "r-429",
        "help": "/docs/guide/errors/#rate_limit_exceeded",
        "errors": [{"loc": [], "message": "the limit is 1 limited an hour"}],
    }
    assert here.call("POST", "/limited", settings={"rate_limits": "off"}).status_code == 204


def test_a_row_that_cannot_work_is_refused_when_it_is_declared() -> None:
    async def undescribed(ctx: Context) -> None: ...

    async def other_name(ctx: Context, thing: str) -> None:
        """A handler."""

    async def surplus(ctx: Context, surprise: int) -> None:
        """A handler."""

    for path, handler, words in (
        ("", undescribed, "no description"),
        ("/{id}", other_name, "the path names"),
        ("", surplus, "nothing gives"),
    ):
        with pytest.raises(AssertionError, match=words):
            Area("/x", tag="x", scope="x").get(path)(handler)
    with pytest.raises(AssertionError, match="access"):
        Area("/x", tag="x").get("")(good)


# Where a call comes from --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "address"),
    [
        ("192.0.2.1", None, ("192.0.2.0/24",), "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", (), "192.0.2.1"),
        ("192.0.2.1", "198.51.100.7", ("10.0.0.0/8",), "192.0.2.1"),
        ("10.0.0.1", "198.51.100.7", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.9.9.9", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", ("10.0.0.0/8",), "10.0.0.3"),
        ("10.0.0.1", "'; DROP TABLE users", ("10.0.0.0/8",), "10.0.0.1"),
        ("10.0.0.1", "198.51.100.7, noise, 10.0.0.2", ("10.0.0.0/8",), "10.0.0.2"),
        ("::1", "2001:db8::1", ("::1/128",), "2001:db8::1"),
        # A socket for both kinds spells IPv4 as IPv6.
        ("::ffff:192.0.2.1", None, (), "192.0.2.1"),
        ("::ffff:10.0.0.1", "198.51.100.7", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "::ffff:198.51.100.7, ::ffff:10.0.0.2", ("10.0.0.0/8",), "198.51.100.7"),
        ("10.0.0.1", "198.51.100.7", ("::ffff:10.0.0.0/104",), "198.51.100.7"),
        # A proxy may write a line of its own.
        ("10.0.0.1", "6.6.6.6, 198.51.100.7|10.0.0.3|10.0.0.2", ("10.0.0.0/8",), "198.51.100.7"),
    ],
)
def test_the_callers_address(peer: str, forwarded: str | None, trusted: tuple[str, ...], address: str) -> None:
    lines = forwarded.split("|") if forwarded else []
    headers = [(b"x-forwarded-for", line.encode()) for line in lines]
    assert address_of({"client": (peer, 1), "headers": headers}, trusted) == address


def test_a_peer_without_an_address_is_this_machine() -> None:
    assert address_of({"client": None, "headers": []}, ()) == "127.0.0.1"


# A unit of work -----------------------------------------------------------------------------------------------------


def test_a_unit_finds_its_tenant_on_the_way(clean: Apart) -> None:
    tenant = clean.tenant()

    async def walk(shared: Resources) -> list[Any]:
        unit = Unit(shared, None, request_id="r")
        seen = [await unit.fetch_value("SELECT count(*) FROM tenants")]
        await unit.enter_tenant(tenant)
        seen.append(await unit.fetch_value("SELECT count(*) FROM tenants"))
        await unit.commit()
        return seen

    assert clean.run(walk) == [0, 1]


def test_a_bounded_pool_sheds_load_until_a_thread_is_free(clean: Apart) -> None:
    async def walk(shared: Resources) -> list[str]:
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()

        def wait() -> None:
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result()

        running: list[Awaitable[None]] = [asyncio.ensure_future(shared.compute(whose, wait)) for whose in range(3)]
        await asyncio.sleep(0.05)
        outcomes = []
        try:
            await shared.compute(None, int)
        except Problem as refusal:
            outcomes.append(refusal.detail)
        running[0].cancel()  # type: ignore[attr-defined]  # the caller is gone, its thread is not
        await asyncio.sleep(0.05)
        try:
            await shared.compute(None, int)
        except Problem as refusal:
            outcomes.append(refusal.detail)
        gate.set()
        await asyncio.gather(*running, return_exceptions=True)
        outcomes.append(str(await shared.compute(None, int, "5")))
        return outcomes

    full = "Service temporarily unavailable"
    assert clean.run(walk, compute_threads=2, compute_queue=1) == [full, full, "5"]


def test_the_queues_are_the_specifications_and_one_for_webhooks() -> None:
    assert set(QUEUES) == {"default", "calculate", "parse", "priority", "export", "webhooks"}
