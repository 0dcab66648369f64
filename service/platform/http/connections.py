"""The connections of an API process: limits by address, and by a body's pace."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from service.platform.access.caller_status import is_within, origin_of, read_address
from service.platform.base.problem import Fault, TooManyConnections
from service.platform.config import Settings
from service.platform.http.intake import Intake, Pace

ENDING_SECONDS = 10.0
"""For requests that run when an API process has drained; the server's own patience comes after it."""
WATCH_SECONDS = 0.25
"""Between two looks: so long may an address hold more than its share, and a body be overdue."""
RETRY_SECONDS = 5
FILES_OF_THE_PROCESS = 512
"""Open files besides a connection and an upload's file for each place: databases, mapped sheets, evaluators."""
OWN_FILES = "/proc/self/fd"

Peer = tuple[str, int]
Connection = tuple[int, Peer]
"""Its file, and who is at the other end."""

log = structlog.get_logger()


class Connections:
    """The connections of one process: its requests, and its sockets as they are seen.

    The server accepts every connection, and reports one only when a head is complete. So the requests of an
    address are counted as they come, which is what counts behind a trusted proxy; connections that have not asked for
    anything are found among the process's own files. A look takes the place of timers and tasks for each request.
    """

    def __init__(self, settings: Settings) -> None:
        self.trusted_proxies = settings.trusted_proxies
        self._connections = settings.connections
        self._share = settings.connections_of_address
        span_seconds = settings.body_seconds
        self._pace = Pace(settings.json_seconds, span_seconds, settings.body_bytes_per_second * span_seconds)
        self._taken: dict[str, int] = {}
        self._requests: set[Intake] = set()
        self._idle: set[Connection] = set()
        """Connections that had no request when it was last looked."""

    def take(self, intake: Intake, address: str) -> None:
        """Begin a request.

        Raises:
            TooManyConnections: its address has its share of unfinished requests.
        """
        origin = origin_of(address)
        taken = self._taken.get(origin, 0)
        if taken >= self._share:
            limit = Fault([], f"the limit is {self._share:,} requests at a time from one address, of IPv6 from one /64")
            raise TooManyConnections(limit, headers={"Retry-After": f"{RETRY_SECONDS}", "Connection": "close"})
        self._taken[origin] = taken + 1
        self._requests.add(intake)

    def leave(self, intake: Intake, address: str) -> None:
        """End a request."""
        origin = origin_of(address)
        self._requests.discard(intake)
        intake.end()
        if self._taken[origin] == 1:
            del self._taken[origin]
        else:
            self._taken[origin] -= 1

    def requests(self) -> int:
        """How many requests are under way."""
        return len(self._requests)

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Watch the connections while the context is open."""
        needed = FILES_OF_THE_PROCESS + 2 * self._connections
        permitted = room_for(needed)
        if permitted < needed:
            log.warning("connections.few_files", needed=needed, permitted=permitted)
        watch = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watch.cancel()

    def drain_at_sigterm(self, stopping: asyncio.Event, seconds: int) -> None:
        """Set `stopping` at SIGTERM; stop the server some seconds later, when idle.

        The server itself would close its socket at once, while a balancer still sends to it. It stops on SIGINT as on
        SIGTERM, so SIGINT is what ends the draining; a second SIGTERM does so at once. Without seconds the server
        stops at once, and `stopping` ends the reads that wait.
        """
        loop = asyncio.get_running_loop()
        task: asyncio.Task[None] | None = None

        def begin() -> None:
            nonlocal task
            if task is not None:
                task.cancel()
                return
            log.info("api.draining", seconds=seconds)
            stopping.set()
            task = loop.create_task(self._drain(seconds))
            task.add_done_callback(lambda _: os.kill(os.getpid(), signal.SIGINT))

        def stop_at_once() -> None:
            stopping.set()
            os.kill(os.getpid(), signal.SIGINT)

        loop.add_signal_handler(signal.SIGTERM, begin if seconds else stop_at_once)

    async def _drain(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        for _ in range(int(ENDING_SECONDS / WATCH_SECONDS)):
            if not self._requests:
                break
            await asyncio.sleep(WATCH_SECONDS)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                for request in self._requests:
                    # Counted in looks, not by the clock: while this process stood still nobody could bring it anything.
                    request.wait(WATCH_SECONDS, self._pace)
                if len(os.listdir(OWN_FILES)) > self._share:
                    self._close_idle()
                else:
                    self._idle.clear()
            except Exception as error:  # it goes on: without these looks an address may hold every connection
                log.error("connections.watch_failed", exc_info=error)

    def _close_idle(self) -> None:
        """Close idle connections of addresses that have more than their share."""
        asking = {(read_address(request.peer[0]), request.peer[1]) for request in self._requests}
        before, self._idle = self._idle, set()
        counts: dict[str, int] = {}
        idle: dict[str, list[Connection]] = {}
        for connection in _list_connections():
            _, (host, port) = connection
            address = read_address(host)
            if address is None or is_within(address, self.trusted_proxies):
                continue
            origin = origin_of(str(address))
            counts[origin] = counts.get(origin, 0) + 1
            if (address, port) not in asking:
                self._idle.add(connection)
                if connection in before:
                    idle.setdefault(origin, []).append(connection)
        for origin, connections in idle.items():
            if counts[origin] > self._share:
                ended = connections[: counts[origin] - self._share]
                for file, peer in ended:
                    _end(file, peer)
                log.warning("connections.closed", origin=origin, connections=counts[origin], ended=len(ended))


def room_for(files: int) -> int:
    """Raise this process's limit of open files as far as it may; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < files:
        soft = files if hard == resource.RLIM_INFINITY else min(files, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return files if soft == resource.RLIM_INFINITY else soft


def _list_connections() -> list[Connection]:
    """Return connections to this process: files on a port that it listens on."""
    listening = set()
    sockets = []
    for name in os.listdir(OWN_FILES):
        for own in _duplicate(int(name)):
            place: Any = own.getsockname()
            try:
                sockets.append((int(name), own.getpeername()[:2], place[1:2]))
            except OSError:  # not connected
                if own.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listening.add(place[1:2])
    return [(file, peer) for file, peer, port in sockets if port in listening]


def _end(file: int, peer: Peer) -> None:
    for own in _duplicate(file):
        with suppress(OSError):
            if own.getpeername()[:2] == peer:  # else the server has closed it, and another has its number
                own.shutdown(socket.SHUT_RDWR)


def _duplicate(file: int) -> Iterator[socket.socket]:
    """Return a second handle on a socket; None where the file is closed or no socket."""
    try:
        handle = os.dup(file)
    except OSError:
        return
    try:
        # With its kind, so that the kernel is not asked for it.
        own = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=handle)
    except OSError:
        os.close(handle)
        return
    with own:
        yield own
