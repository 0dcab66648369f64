"""Connections that are opened to be held.

Silent, trickling, or announcing what never comes. Others are served.
"""

from __future__ import annotations

import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest

from service.platform.config import Settings
from tests.conftest import Member, Stack, register, wait_until
from tests.records import small_book

CROWD = 2_100
"""More connections than one process has places."""
ELSEWHERE, PROXY = "127.0.0.2", "127.0.0.3"
SERVED_SECONDS = 15.0
"""In which somebody else is served however many wait: half of the time that a connection has for its head."""
ANSWER_SECONDS = 60.0
FEW_FILES = 256
"""The limit of open files that a shell may give: less than there are connections."""
SHARE, HEAD_SECONDS, BODY_SECONDS, BODY_RATE, JSON_SECONDS = 40, 4, 2, 1_000, 1
OF_EACH = 7
"""Bodies that stay away, of each kind: within a share, and so many that one which is held too long shows."""
ENDED_SECONDS = 8.0
"""In which a refusal, its connection's end and an API's stop come, each; they take tenths of a second."""
STRICT = {
    "CUSHION_CONNECTIONS_PER_ADDRESS": f"{SHARE}",
    "CUSHION_HEAD_SECONDS": f"{HEAD_SECONDS}",
    "CUSHION_BODY_SECONDS": f"{BODY_SECONDS}",
    "CUSHION_JSON_SECONDS": f"{JSON_SECONDS}",
    "CUSHION_BODY_BYTES_PER_SECOND": f"{BODY_RATE}",
    "CUSHION_TRUSTED_PROXIES": f"{PROXY}/32",
}

JSON = b"POST /api/v1/auth/register HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
FORM = b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
LIVE = b"GET /health/live HTTP/1.1\r\nHost: x\r\n"
KINDS = {
    "silent": b"",
    "half a head": JSON,
    "no body": JSON + b"Content-Length: 100\r\n\r\n",
    "part of a body": FORM + b"Transfer-Encoding: chunked\r\n\r\n1\r\nu\r\n",
    "kept": LIVE + b"\r\n",
}


@contextmanager
def files(least: int, most: int) -> Iterator[None]:
    """This process, and what it starts, may open so many files."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(before[0], least), most, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


@contextmanager
def crowd(url: str, count: int, request_bytes: bytes, address: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """So many connections from an address, each of which has said so much."""
    place = urlsplit(url)
    assert place.hostname is not None
    assert place.port is not None
    with files(least=CROWD + 512, most=1 << 20), ExitStack() as stack:
        opened = []
        for _ in range(count):
            connection = socket.create_connection((place.hostname, place.port), ANSWER_SECONDS, (address, 0))
            opened.append(stack.enter_context(connection))
            connection.sendall(request_bytes)
        yield opened


def served(url: str) -> None:
    """Somebody who has just come, from elsewhere, is served."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=ELSEWHERE), timeout=SERVED_SECONDS) as client:
        assert client.get(url + "/health/live").status_code == 200


def rest(connection: socket.socket) -> bytes:
    """What is still said on a connection, until the service ends it."""
    words = b""
    try:
        while part := connection.recv(65_536):
            words += part
    except ConnectionResetError:
        pass
    return words


def is_open(connection: socket.socket) -> bool:
    """Whether the service has not ended a connection; what it said is passed over."""
    connection.setblocking(False)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return True
    except ConnectionResetError:
        pass
    return False


@pytest.fixture(scope="module")
def strict(stack: Stack) -> Iterator[str]:
    """An API with little patience, begun where few files may be open; its URL."""
    with files(least=0, most=FEW_FILES), stack.another_api(**STRICT) as url:
        yield url


@pytest.fixture(scope="module")
def uploader(strict: str) -> Member:
    return register(strict)


@pytest.mark.parametrize("kind", KINDS)
def test_a_crowd_from_one_address_keeps_nobody_else_out(stack: Stack, kind: str) -> None:
    """With every setting as it is by default."""
    share = Settings().connections_of_address
    assert share == Settings().connections // 10
    with crowd(stack.url, CROWD, KINDS[kind]) as opened:
        for _ in range(3):
            served(stack.url)
            time.sleep(0.1)
        if "body" in kind:
            refused = rest(opened[share + 100])  # one of the first that came too many
            assert re.match(rb"HTTP/1.1 503 .*\r\nretry-after: [1-9].*\r\nconnection: close\r\n", refused, re.S | re.I)
            assert b'"detail":"Too many connections from this address","error_code":"SERVICE_UNAVAILABLE"' in refused
            assert b"the limit is %d requests at a time from one address" % share in refused
        wait_until(lambda: sum(map(is_open, opened)) <= share, what="its share")


def test_a_few_addresses_keep_nobody_else_out_either(stack: Stack) -> None:
    """Bodies that stay away, of five addresses together more than there are places."""
    with ExitStack() as several:
        opened = [
            several.enter_context(crowd(stack.url, CROWD // 5, KINDS["no body"], f"127.0.0.{number}"))
            for number in range(11, 16)
        ]
        served(stack.url)
        for of_one in opened:
            wait_until(
                lambda of_one=of_one: sum(map(is_open, of_one)) <= Settings().connections_of_address, what="its share"
            )  # type: ignore[misc]


def test_a_head_that_does_not_come_ends_its_connection(strict: str) -> None:
    """Also the next one of a connection that is kept, and one of which a little comes all the time."""
    with ExitStack() as several:
        opened = {kind: several.enter_context(crowd(strict, 1, actual_kind))[0] for kind, actual_kind in KINDS.items()}
        trickle = several.enter_context(crowd(strict, 1, LIVE))[0]
        end = time.monotonic() + ANSWER_SECONDS

        def more() -> bool:
            try:
                trickle.sendall(b"X-Y: z\r\n")
            except OSError:
                return False
            return time.monotonic() < end

        while more():
            time.sleep(HEAD_SECONDS / 10)
        assert time.monotonic() < end
        assert rest(opened["silent"]) == b""
        assert rest(opened["half a head"]) == b""
        assert rest(opened["kept"]).endswith(b'{"status":"alive"}')


def upload(member: Member, file: bytes) -> tuple[bytes, bytes]:
    """The head and the body of an upload."""
    part = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.xlsx"\r\n\r\n'
    body = part + file + b"\r\n--x--\r\n"
    authorization = str(member.http.headers["Authorization"]).encode()
    lines = [
        b"POST /api/v1/workbooks/upload HTTP/1.1",
        b"Host: x",
        b"Content-Type: multipart/form-data; boundary=x",
        b"Authorization: " + authorization,
        b"Content-Length: %d" % len(body),
    ]
    return b"\r\n".join([*lines, b"", b""]), body


def too_slow(answer: bytes, *, upload: bool = False) -> bool:
    assert re.match(rb"HTTP/1.1 400 .*\r\nconnection: close\r\n", answer, re.S | re.I), answer
    assert b'"detail":"Request body too slow","error_code":"VALIDATION_ERROR"' in answer
    rate = b"expected at least %d bytes in %d seconds" % (BODY_RATE * BODY_SECONDS, BODY_SECONDS)
    assert (rate if upload else b"expected the whole body in %d seconds" % JSON_SECONDS) in answer
    return True


@contextmanager
def late_bodies(url: str, member: Member) -> Iterator[list[socket.socket]]:
    """Connections whose bodies stay away.

    Where nothing comes, where a little comes at first, and where very much does.

    Others are refused while they wait: what the process holds of them grows old, and is not collected at once.
    """
    head, body = upload(member, b"PK\x03\x04" + bytes(4_000_000))
    starts = [KINDS["no body"], KINDS["part of a body"], head, head + body[:100], head + body[:-2_000_000]]
    with ExitStack() as several:
        opened = [each for start in starts for each in several.enter_context(crowd(url, OF_EACH, start))]
        for _ in range(100):
            assert member.post("/api/v1/auth/register", content=b"{").status_code == 422
        for connection in opened:
            connection.settimeout(ENDED_SECONDS)
        yield opened


def test_a_body_that_stays_away_is_refused_and_ends_its_connection(strict: str, uploader: Member) -> None:
    with late_bodies(strict, uploader) as opened:
        small = 2 * OF_EACH
        assert all(too_slow(rest(connection), upload=at >= small) for at, connection in enumerate(opened))


def test_bodies_that_stayed_away_do_not_keep_a_process_from_stopping(stack: Stack) -> None:
    """Whether its callers have gone or not."""
    with ExitStack() as several:
        with stack.another_api(**STRICT) as url:
            opened = several.enter_context(late_bodies(url, register(url)))
            assert all(connection.recv(12) == b"HTTP/1.1 400" for connection in opened)
            for connection in opened[::2]:
                connection.close()
            begun = time.monotonic()
        assert time.monotonic() - begun < ENDED_SECONDS


def test_a_body_that_trickles_is_refused(strict: str) -> None:
    """A tenth of the rate that is asked of an upload, so that there is no silence."""
    with crowd(strict, 1, JSON + b"Content-Length: 1000000\r\n\r\n{") as (trickle,):
        sent, seconds = 0, 0.2
        trickle.settimeout(seconds)
        while sent < 100 * BODY_RATE:
            try:
                answer = trickle.recv(65_536)
                break
            except TimeoutError:
                sent += trickle.send(b" " * int(BODY_RATE * seconds / 10))
        trickle.settimeout(ANSWER_SECONDS)
        assert too_slow(answer + rest(trickle))


def test_json_has_a_deadline_however_fast_its_parts_come(strict: str) -> None:
    """Faster than an upload must be, and without an end."""
    with crowd(strict, 1, JSON + b"Content-Length: 1000000\r\n\r\n{") as (busy,):
        began = time.monotonic()
        busy.settimeout(0.05)
        while time.monotonic() < began + ANSWER_SECONDS:
            try:
                answer = busy.recv(65_536)
                break
            except TimeoutError:
                busy.sendall(b" " * (2 * BODY_RATE // 20))
        assert JSON_SECONDS < time.monotonic() - began < JSON_SECONDS + ENDED_SECONDS
        busy.settimeout(ANSWER_SECONDS)
        assert too_slow(answer + rest(busy))


def test_a_slow_but_honest_upload_succeeds(strict: str, uploader: Member) -> None:
    """It takes several times as long as a silence may last, and is a few times as fast as it must be."""
    head, body = upload(uploader, small_book([["Cell"], *([number] for number in range(4_000))]))
    piece = len(body) // 20
    with crowd(strict, 1, head) as (slow,):
        for start in range(0, len(body), piece):
            slow.sendall(body[start : start + piece])
            time.sleep(3 * BODY_SECONDS / 20)
        assert slow.recv(65_536).startswith(b"HTTP/1.1 201 ")


def test_behind_a_trusted_proxy_the_share_is_the_clients(strict: str) -> None:
    """The proxy itself may hold as many connections as it likes.

    Also more than the start allowed files.
    """
    mine, second = (LIVE + b"X-Forwarded-For: 192.0.2.%d\r\n" % number for number in (1, 2))
    waiting = JSON + b"X-Forwarded-For: 192.0.2.1\r\nContent-Length: 100\r\n\r\n"
    with ExitStack() as several:

        def ask(count: int, words: bytes) -> list[socket.socket]:
            return several.enter_context(crowd(strict, count, words, PROXY))

        idle = ask(FEW_FILES, b"")
        ask(SHARE, waiting)
        wait_until(lambda: ask(1, mine + b"\r\n")[0].recv(12) == b"HTTP/1.1 503", what="the refusal")
        (answered,) = ask(1, second + b"\r\n")
        assert answered.recv(12) == b"HTTP/1.1 200"
        assert sum(map(is_open, idle)) == FEW_FILES


def test_what_an_address_has_finished_counts_no_more(strict: str) -> None:
    with httpx.Client(base_url=strict, timeout=ANSWER_SECONDS) as client:
        for _ in range(2 * SHARE):
            for method, path, status in (("GET", "/health/live", 200), ("POST", "/api/v1/nobody", 404)):
                assert client.request(method, path).status_code == status
