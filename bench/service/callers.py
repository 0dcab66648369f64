"""Requests over kept-alive connections, as fast as they are answered: the same bare client for us and for the peers."""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import NamedTuple
from urllib.parse import urlsplit

import uvloop


class Load(NamedTuple):
    """What a server bore."""

    median: float
    """Seconds of one request."""
    rate: float
    """Requests a second."""


def request_of(url: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    """A POST in bytes."""
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {urlsplit(url).netloc}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def load(url: str, request: bytes, *, connections: int, requests: int) -> Load:
    """Send `requests` in all; every answer must be a 200."""

    async def run() -> Load:
        taken: list[float] = []
        started = time.perf_counter()
        each = requests // connections
        await asyncio.gather(*(_converse(url, request, each, taken) for _ in range(connections)))
        return Load(statistics.median(taken), len(taken) / (time.perf_counter() - started))

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


async def _converse(url: str, request: bytes, count: int, taken: list[float]) -> None:
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        for _ in range(count):
            started = time.perf_counter()
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            if not head.startswith(b"http/1.1 200"):
                raise RuntimeError(head.decode("latin-1"))
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
            await reader.readexactly(length)
            taken.append(time.perf_counter() - started)
    finally:
        writer.close()
