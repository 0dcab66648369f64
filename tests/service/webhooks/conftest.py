"""Receivers of webhooks on this machine.

Honest, refusing, slow, redirecting, endless.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from tests.conftest import Member, serving, wait_until

URL = "/api/v1/webhooks"


class Message(NamedTuple):
    """What a receiver got."""

    method: str
    path: str
    id: str
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.body)
        return result

    def is_signed_by(self, secret: str) -> bool:
        try:
            Verifier(secret).verify(self.body, self.headers)
        except WebhookVerificationError:
            return False
        return True


class Receiver(ThreadingHTTPServer):
    """Answers by the path.

    /200 with that status, /slow late, /huge without an end, /elsewhere with a redirection, /closing not at all,
    /word with a refusal in one.

    `refusals` of a path are statuses that come first. While `free` is not set, nobody is answered.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[Message] = []
        self.refusals: dict[str, list[int]] = {}
        self.free = threading.Event()
        self.free.set()
        super().__init__(("127.0.0.1", 0), Handler)

    def url(self, path: str = "/200") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def at(self, path: str = "/200") -> list[Message]:
        return [message for message in self.got if message.path == path]

    def wait_for(self, count: int, path: str = "/200") -> list[Message]:
        """What came to a path, once it is so much."""
        messages: list[Message] = wait_until(
            lambda: len(self.at(path)) >= count and self.at(path), what=f"{count} messages at {path}"
        )
        return messages


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.got.append(Message(self.command, self.path, headers.get("webhook-id", ""), headers, body))
        self.server.free.wait(5)
        first = self.server.refusals.get(self.path)
        word = self.path.strip("/").partition("?")[0]
        status = 404 if word == "word" else first.pop(0) if first else int(word) if word.isdigit() else 200
        if word == "slow":
            time.sleep(4)
        if word == "closing":
            self.close_connection = True
            return
        try:
            self.send_response(302 if word == "elsewhere" else status)
            if word == "elsewhere":
                self.send_header("location", self.server.url())
            self.end_headers()
            if word == "word":
                self.wfile.write(b"channel_not_found")
                return
            self.wfile.write(b"said \x00" + "ä".encode())
            while word == "huge":
                self.wfile.write(b"x" * 65_536)
        except OSError:
            pass  # the other side has enough

    do_PUT = do_PATCH = do_POST  # noqa: N815 - the server's names

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with serving(Receiver()) as server:
        yield server


def hooked(who: Member, url: str, *events: str, **body: Any) -> dict[str, Any]:
    """A webhook, with its secret."""
    answer = who.post(URL, json={"url": url, "events": events or ("workbook.uploaded",), **body})
    assert answer.status_code == 201, answer.text
    webhook: dict[str, Any] = answer.json()
    return webhook


def evaluated(who: Member) -> None:
    """An event of its own, calculation.completed, some seconds later: it is counted with others of its caller.

    Of a caller who calculates nothing else.
    """
    answer = who.key("calculations:execute").post("/api/v1/calculations/evaluate", json={"formula": "=1+1"})
    assert answer.status_code == 200, answer.text


def log_of(who: Member, webhook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """A webhook's deliveries, the oldest first."""
    answer = who.get(f"{URL}/{webhook['id']}/deliveries", params=query)
    assert answer.status_code == 200, answer.text
    return list(reversed(answer.json()["items"]))


def ended(who: Member, webhook: dict[str, Any], count: int = 1) -> list[dict[str, Any]]:
    """A webhook's deliveries once so many are there and none waits."""

    def done() -> list[dict[str, Any]] | None:
        log = log_of(who, webhook)
        return log if len(log) >= count and all(item["status"] != "pending" for item in log) else None

    result: list[dict[str, Any]] = wait_until(done, what="the end of the deliveries")
    return result


Hook = Callable[..., dict[str, Any]]
