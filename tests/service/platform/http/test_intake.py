"""Answers that are ready before the request has been read to its end, on real connections."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest

from service.platform.config import Settings
from service.platform.http.connections import Connections
from service.platform.http.intake import DRAINED_BYTES, DRAINED_SECONDS, Intake, Message
from tests.conftest import Stack

MIXED = [("POST", "/api/v1/compliance/run", 401), ("POST", "/api/v1/nobody/knows", 404), ("GET", "/health/live", 200)]
"""Refused before the body is looked at; nobody's path; a request that wants no body."""

each = pytest.mark.parametrize(("method", "path", "status"), MIXED)


@pytest.fixture
def connection(stack: Stack) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection(urlsplit(stack.url).netloc, timeout=60)) as opened:
        yield opened


def send(connection: HTTPConnection, method: str, path: str, body: bytes, lines: int | None) -> HTTPResponse:
    """A request whose body is told to be `told` bytes long; None.

    Sent in chunks, as long as it is.
    """
    connection.putrequest(method, path)
    connection.putheader("Content-Type", "application/json")
    if lines is None:
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    else:
        connection.putheader("Content-Length", str(lines))
        connection.endheaders(body)
    answer = connection.getresponse()
    answer.read()
    return answer


@each
@pytest.mark.parametrize("chunked", [False, True])
def test_after_a_small_body_that_nobody_read_the_connection_goes_on(
    connection: HTTPConnection, method: str, path: str, status: int, *, chunked: bool
) -> None:
    body = b"x" * (DRAINED_BYTES - 1)
    answer = send(connection, method, path, body, None if chunked else len(body))
    assert (answer.status, answer.getheader("connection")) == (status, None)
    opened = connection.sock
    assert send(connection, "GET", "/health/live", b"", 0).status == 200
    assert connection.sock is opened


@each
def test_a_large_body_that_nobody_read_ends_the_connection_and_the_answer_says_so(
    connection: HTTPConnection, method: str, path: str, status: int
) -> None:
    answer = send(connection, method, path, b"", DRAINED_BYTES + 1)
    assert (answer.status, answer.getheader("connection")) == (status, "close")


@each
def test_a_small_body_that_does_not_come_is_waited_for_a_while(
    connection: HTTPConnection, method: str, path: str, status: int
) -> None:
    connection.timeout = DRAINED_SECONDS * 20
    answer = send(connection, method, path, b"x", 2)
    assert (answer.status, answer.getheader("connection")) == (status, "close")


def test_a_body_that_was_read_leaves_the_connection_open(connection: HTTPConnection) -> None:
    body = b'{"email":"nobody@example.com","password":"wrong"}'
    answer = send(connection, "POST", "/api/v1/auth/register", body, len(body))
    assert (answer.status, answer.getheader("connection")) == (422, None)


def test_whoever_still_holds_a_request_that_ended_does_not_hold_its_connection() -> None:
    """A refusal holds it until it is collected, and a server leaves a connection open whose body may yet be read."""

    async def receive() -> Message:
        return {}

    async def send(message: Message) -> None:
        pass

    ends = [weakref.ref(receive), weakref.ref(send)]
    intake = Intake({"headers": [], "http_version": "1.1"}, receive, send)
    del receive, send
    connections = Connections(Settings())
    connections.take(intake, "192.0.2.1")
    connections.leave(intake, "192.0.2.1")
    assert [end() for end in ends] == [None, None]
    assert intake.peer == ("", 0)
