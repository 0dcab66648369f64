"""A request's body as it arrives; a late or unread one ends the connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, NamedTuple

from service.platform.base.problem import BodyTooSlow

DRAINED_BYTES = 65_536
"""Of a body that nobody read: more is left where it is."""
DRAINED_SECONDS = 1.0

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Pace(NamedTuple):
    """How fast a body must come."""

    whole_seconds: int
    """In which one that is no upload must be there."""
    span_seconds: int
    least_bytes: int
    """Of an upload, in any span of so many seconds."""


class Intake:
    """The two ends of a connection while a request with a body is on it.

    A server closes a connection whose request it did not read to the end. A client that is still sending may then miss
    the answer, and one that does not know of it may send its next request into the closing connection.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self._declared = int(length) if length.isdigit() else 0
        self._pending = self._declared > 0 or b"transfer-encoding" in headers
        # HTTP/2 has no header `connection`: it closes a stream, never the connection.
        self._tells = scope["http_version"].startswith("1")
        self._receive = receive
        self._send = send
        self.peer: tuple[str, int] = tuple(scope.get("client") or ("", 0))
        self._waiting: asyncio.Task[Any] | None = None
        """The task that waits for the next part of the body."""
        self.waited_seconds = 0.0
        """In which the body, as far as it is there, was waited for."""
        self._silent_seconds = 0.0
        self._arrived_bytes = 0
        """Both since the body last kept up."""
        self._all_seconds = 0.0
        """As many looks found it waited for."""
        kind = headers.get(b"content-type", b"").lstrip().lower()
        self._is_upload = kind.startswith(b"multipart/")
        self._late = ""
        """What the body did not keep up with, for the refusal; empty while it does."""

    async def receive(self) -> Message:
        """Return the next part of the request.

        Raises:
            BodyTooSlow: it was waited for too long.
        """
        if not self._pending:
            return await self._receive()
        self._waiting = asyncio.current_task()
        began = time.perf_counter()
        try:
            message = await self._receive()
        except asyncio.CancelledError:
            if not self._late or (self._waiting and self._waiting.uncancel()):
                raise
            raise BodyTooSlow.at(["body"], self._late) from None
        finally:
            self._waiting = None
            self.waited_seconds += time.perf_counter() - began
        self._pending = bool(message.get("more_body"))
        self._arrived_bytes += len(message.get("body", b""))
        return message

    def wait(self, seconds: float, pace: Pace) -> None:
        """Count seconds of waiting for the body; end the connection when it is late.

        A small body must be whole in its time. An upload must keep up: bring the least bytes in any span, so that a
        fast beginning does not pay for a long silence.
        """
        if self._waiting is None:
            return
        if self._arrived_bytes >= pace.least_bytes:
            self._arrived_bytes, self._silent_seconds = 0, 0.0
        self._silent_seconds += seconds
        self._all_seconds += seconds
        late = ""
        if self._silent_seconds > pace.span_seconds:
            late = f"expected at least {pace.least_bytes} bytes in {pace.span_seconds} seconds, or the end"
        if not self._is_upload and self._all_seconds > pace.whole_seconds:
            late = f"expected the whole body in {pace.whole_seconds} seconds"
        if late and not self._late:
            self._late = late
            self._waiting.cancel()

    async def send(self, message: Message) -> None:
        """Send the next part of the answer; first read the rest of a small body."""
        if self._pending and message["type"] == "http.response.start":
            if self._declared <= DRAINED_BYTES and not self._late:
                await self._drain()
            if self._pending and self._tells:
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            # Nobody reads the rest of the body: what comes from now on is only that the caller has left.
            self._pending = False
        await self._send(message)

    def end(self) -> None:
        """Let go of the connection, so that the server closes one with an unread body.

        A refusal and the frames of its traceback refer to each other, and so to this object, until the garbage
        collector runs; therefore the ends are deleted here.
        """
        del self._receive, self._send

    async def _drain(self) -> None:
        taken = 0
        with suppress(TimeoutError, BodyTooSlow):  # then the rest stays unread, and the answer that is ready is sent
            async with asyncio.timeout(DRAINED_SECONDS):
                while self._pending and taken <= DRAINED_BYTES:
                    taken += len((await self.receive()).get("body", b""))
