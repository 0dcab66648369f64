"""A request's body as it arrives; what is unread when the answer is ready is taken in, or ends the connection."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any

DRAINED_BYTES = 65_536
"""Of a body that nobody read: more is left where it is."""
DRAINED_SECONDS = 1.0

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Intake:
    """The two ends of a connection while a request with a body is on it.

    A server closes a connection whose request it did not read to the end. A client that is still sending may then miss
    the answer, and one that is not told may send its next request into the closing connection.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        self._declared = int(length) if length.isdigit() else 0
        self._pending = self._declared > 0 or b"transfer-encoding" in headers
        self._tells = scope["http_version"].startswith("1")  # later versions close a stream, never the connection
        self._receive = receive
        self._send = send

    async def receive(self) -> Message:
        """The next part of the request."""
        message = await self._receive()
        self._pending = bool(message.get("more_body"))
        return message

    async def send(self, message: Message) -> None:
        """The next part of the answer; before the first one, the rest of a small body is taken in."""
        if self._pending and message["type"] == "http.response.start":
            if self._declared <= DRAINED_BYTES:
                await self._drain()
            if self._pending and self._tells:
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
        await self._send(message)

    async def _drain(self) -> None:
        taken = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAINED_SECONDS):
                while self._pending and taken <= DRAINED_BYTES:
                    taken += len((await self.receive()).get("body", b""))
