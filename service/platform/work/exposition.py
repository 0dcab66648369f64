"""Metrics over HTTP: one process of a machine answers for all, on its own port.

Each process listens on a socket in the scratch folder, named by its place (api-1, api-2, worker-1) rather than by its
number, so that a restart makes no new series; its samples carry the place as the label `process`. Whoever holds the
lock of the port serves it, and asks the others; when that one dies, the system hands the lock to the next. Nothing of
a dead process is left: its socket refuses, and Prometheus knows a counter that begins anew.

All of it runs in threads, so that a process whose event loop stands still is seen to stand still.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import socket
import socketserver
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from datetime import timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Literal, get_args

import structlog
from msgspec import Struct
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.platform.base.breaker import State
from service.platform.base.lru import anonymous_bytes
from service.platform.events.stream import STREAM, waiting_since
from service.platform.metrics import REGISTRY
from service.platform.unit.context import Resources

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
PATH: Final = "/metrics"

Kind = Literal["api", "worker"]

PLACES_MOST: Final = 128
"""Processes of one kind on a machine."""
ANSWER_SECONDS: Final = 2.0
"""In which another process, PostgreSQL and Redis must have answered; others are reported as missing."""
ANSWER_BYTES_MAX: Final = 16 * 1024 * 1024
KEPT_SECONDS: Final = 1.0
"""How long an answer is given again, so that asking often costs nothing."""
CALLERS_MOST: Final = 8
"""Who are answered at a time; further ones are hung up on."""
CALLER_SECONDS: Final = 5
"""In which a caller must send or take something."""
CALL_SECONDS: Final = 15.0
"""After which a caller who dawdles is hung up on: a byte now and then would hold a place for ever."""
BIND_AGAIN_SECONDS: Final = 5.0
ADDRESS_BYTES_MAX: Final = 100
"""Of a socket's path; the system takes 107."""
_HEAD: Final = b"# HELP "
_SAMPLE: Final = re.compile(rb"^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{)?", re.MULTILINE)

log = structlog.get_logger()


# What the whole deployment has, rather than a process -----------------------------------------------------------------


class _Queue(Struct):
    queue: str
    due: int
    later: int
    running: int
    oldest_seconds: float


async def _queues(resources: Resources) -> list[Metric]:
    async with resources.database.transaction() as tx:
        rows = await tx.fetch_all(_Queue, "SELECT queue, due, later, running, oldest_seconds FROM queue_figures()")
    jobs = GaugeMetricFamily(
        "cushion_queue_jobs",
        "Jobs of a queue in all processes; state due, later (a retry or a schedule) or running",
        labels=("queue", "state"),
    )
    oldest = GaugeMetricFamily(
        "cushion_queue_oldest_seconds", "How long the oldest due job of a queue waits", labels=("queue",)
    )
    for row in rows:
        for state, amount in (("due", row.due), ("later", row.later), ("running", row.running)):
            jobs.add_metric((row.queue, state), amount)
        oldest.add_metric((row.queue,), row.oldest_seconds)
    return [jobs, oldest]


async def _events(resources: Resources) -> list[Metric]:
    length = await resources.redis.xlen(STREAM)
    since = await waiting_since(resources)
    lag = max(timedelta(), resources.clock.now() - since) if since else timedelta()
    return [
        GaugeMetricFamily("cushion_event_stream_entries", "Events that wait for the audit log", length),
        GaugeMetricFamily(
            "cushion_event_stream_lag_seconds", "How long the oldest event waits for the audit log", lag.total_seconds()
        ),
    ]


SHARED: Final = {"queues": _queues, "events": _events}


# A process ------------------------------------------------------------------------------------------------------------


class _Own(Collector):
    """The metrics of a process's caches, breakers and memory."""

    def __init__(self, resources: Resources, kind: Kind) -> None:
        self._resources = resources
        self._is_api = kind == "api"

    def collect(self) -> Iterator[Metric]:
        yield from self._caches()
        yield from self._breakers()
        if self._is_api:
            yield GaugeMetricFamily(
                "cushion_memory_limit_bytes",
                "Memory of its own above which an API process sheds load",
                self._resources.settings.api_memory_mb << 20,
            )
        yield GaugeMetricFamily(
            "cushion_memory_bytes", "Memory of its own that a process holds: what its limit counts", anonymous_bytes()
        )

    def _caches(self) -> Iterator[Metric]:
        reads = CounterMetricFamily(
            "cushion_cache_reads", "Looks into a cache; outcome hit or miss", labels=("cache", "outcome")
        )
        sizes = GaugeMetricFamily("cushion_cache_bytes", "Memory that a cache keeps", labels=("cache",))
        callers, fallback = self._resources.caller_cache, self._resources.fallback_cache
        caches = dict(self._resources.memory.caches)  # a copy: the event loop may add one meanwhile
        figures = {name: (cache.hits, cache.misses) for name, cache in caches.items()}
        figures |= {"callers": (callers.hits, callers.misses), "fallback": (fallback.served, fallback.missed)}
        for name, (hits, misses) in figures.items():
            reads.add_metric((name, "hit"), hits)
            reads.add_metric((name, "miss"), misses)
        for name, cache in {**caches, "fallback": fallback}.items():
            sizes.add_metric((name,), cache.size_bytes)
        yield reads
        yield sizes

    def _breakers(self) -> Iterator[Metric]:
        state = GaugeMetricFamily(
            "cushion_breaker_state", "1 for the state that the breaker of a service is in", labels=("service", "state")
        )
        opens = CounterMetricFamily(
            "cushion_breaker_opens", "Times that the breaker of a service opened", labels=("service",)
        )
        calls = CounterMetricFamily(
            "cushion_breaker_calls",
            "Calls of a service; outcome success, failure, or rejected by its breaker",
            labels=("service", "outcome"),
        )
        for service, figures in self._resources.breakers.figures().items():
            for each in get_args(State):
                state.add_metric((service, each), figures.state == each)
            opens.add_metric((service,), figures.times_opened)
            for outcome, amount in (
                ("success", figures.successes),
                ("failure", figures.failures),
                ("rejected", figures.rejected),
            ):
                calls.add_metric((service, outcome), amount)
        yield from (state, opens, calls)


def merge(texts: dict[str, bytes]) -> bytes:
    """Merge the metrics of several processes, by place, into one text."""
    families: dict[bytes, list[bytes]] = {}
    for place, text in texts.items():
        label = b'{process="%s"' % place.encode()
        for chunk in text.split(_HEAD)[1:]:
            heading, kind, samples = chunk.split(b"\n", 2)
            named = _SAMPLE.sub(partial(_add_label, label), samples)
            # By its name alone: while versions change, two may say it in other words.
            families.setdefault(heading.split(b" ", 1)[0], [_HEAD, heading, b"\n", kind, b"\n"]).append(named)
    return b"".join(part for parts in families.values() for part in parts)


def _add_label(label: bytes, sample: re.Match[bytes]) -> bytes:
    return sample[1] + label + (b"," if sample[2] else b"}")


class Exposition:
    """The metrics of this process for its siblings, and of all for scrapers."""

    def __init__(self, resources: Resources, kind: Kind) -> None:
        """Take a place and listen.

        Raises:
            OSError: the scratch folder has no place, or takes no socket.
        """
        self._resources = resources
        self._loop = asyncio.get_running_loop()
        self._folder = os.open(resources.scratch, os.O_RDONLY | os.O_DIRECTORY)
        self._registry = CollectorRegistry()
        self._registry.register(_Own(resources, kind))
        self._making = threading.Lock()
        self._latest = (b"", 0.0)
        """The last answer, and until when it is given again."""
        self._closed = threading.Event()
        self._server: _Server | None = None
        self.place, self._lock = self._take_place(kind)
        self._listener = self._listen()
        self._run(self._answer_siblings)
        if resources.settings.metrics_port:
            self._run(self._serve, resources.settings.metrics_host, resources.settings.metrics_port)

    def close(self) -> None:
        """Answer nobody any more; free the place and the port."""
        self._closed.set()
        if self._server is not None:
            self._server.shutdown()
        with suppress(OSError):  # which wakes who waits for a sibling
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with suppress(OSError):
            os.unlink(self._socket_of(self.place))
        _unlock_file(self._lock_of(self.place), self._lock)
        os.close(self._folder)

    def own(self) -> bytes:
        """Return the metrics of this process."""
        return generate_latest(REGISTRY) + generate_latest(self._registry)

    def text(self) -> bytes:
        """Return the metrics of all processes of this machine; it blocks."""
        with self._making:
            text, until = self._latest
            if time.monotonic() >= until:
                text = self._all()
                self._latest = text, time.monotonic() + KEPT_SECONDS
            return text

    def _all(self) -> bytes:
        siblings = [place for place in self._places() if place != self.place]
        with ThreadPoolExecutor(len(siblings) + 1, thread_name_prefix="metrics") as pool:
            shared = pool.submit(self._collect_shared)
            answers = dict(zip(siblings, pool.map(self._ask, siblings), strict=True))
        up = GaugeMetricFamily(
            "cushion_process_up",
            "1 for a process that answers, 0 for one that is there and silent",
            labels=("process",),
        )
        up.add_metric((self.place,), 1)
        for place, answer in answers.items():
            if answer is not None:
                up.add_metric((place,), bool(answer))
        texts = {place: answer for place, answer in answers.items() if answer}
        return merge({self.place: self.own(), **texts}) + _text_of([up, *shared.result()])

    def _collect_shared(self) -> list[Metric]:
        """Return the deployment's metrics; missing answers are reported as such."""
        up = GaugeMetricFamily(
            "cushion_figures_up", "1 for figures of the whole deployment that could be read", labels=("figures",)
        )
        families: list[Metric] = [up]
        asked = {
            name: asyncio.run_coroutine_threadsafe(ask(self._resources), self._loop) for name, ask in SHARED.items()
        }
        end = time.monotonic() + ANSWER_SECONDS
        for name, answer in asked.items():
            try:
                families += answer.result(max(0.0, end - time.monotonic()))
                up.add_metric((name,), 1)
            except Exception as error:
                answer.cancel()
                up.add_metric((name,), 0)
                log.info("metrics.missing", figures=name, error=repr(error))
        return families

    # Siblings ---------------------------------------------------------------------------------------------------------

    def _take_place(self, kind: Kind) -> tuple[str, int]:
        for number in range(1, PLACES_MOST + 1):
            place = f"{kind}-{number}"
            try:
                lock = _lock_file(self._lock_of(place), waits=False)
            except PermissionError:
                continue  # a process of another user left it
            if lock is not None:
                return place, lock
        raise OSError(f"there are {PLACES_MOST} processes already")

    def _lock_of(self, name: str) -> Path:
        return self._resources.scratch / f"metrics-{name}.lock"

    def _places(self) -> list[str]:
        sockets = self._resources.scratch.glob("metrics-*.sock")
        return sorted(path.stem.removeprefix("metrics-") for path in sockets)[: 2 * PLACES_MOST]

    def _socket_of(self, place: str) -> str:
        path = str(self._resources.scratch / f"metrics-{place}.sock")
        if len(os.fsencode(path)) <= ADDRESS_BYTES_MAX:
            return path
        return f"/proc/self/fd/{self._folder}/metrics-{place}.sock"

    def _listen(self) -> socket.socket:
        address = self._socket_of(self.place)
        with suppress(FileNotFoundError):
            os.unlink(address)  # of a process that was killed: the place is ours
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(address)
            listener.listen(CALLERS_MOST)
        except OSError:
            listener.close()
            raise
        return listener

    def _answer_siblings(self) -> None:
        while not self._closed.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError:
                self._closed.wait(0.1)  # at its end, or out of files
                continue
            try:
                with closing(caller):
                    caller.settimeout(ANSWER_SECONDS)
                    caller.sendall(self.own())
            except Exception as error:  # the next one is answered none the less
                log.info("metrics.not_served", error=repr(error))

    def _ask(self, place: str) -> bytes | None:
        """Return a sibling's metrics; empty where it is silent, None where it is dead."""
        text = bytearray()
        end = time.monotonic() + ANSWER_SECONDS
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                asking.settimeout(ANSWER_SECONDS)
                asking.connect(self._socket_of(place))
                while block := asking.recv(1 << 20):
                    text += block
                    if time.monotonic() > end or len(text) > ANSWER_BYTES_MAX:
                        return b""
        except (ConnectionRefusedError, FileNotFoundError):
            return None
        except OSError:
            return b""
        return bytes(text)

    # The port ---------------------------------------------------------------------------------------------------------

    def _serve(self, host: str, port: int) -> None:
        """Wait until nobody else serves the port, then serve it."""
        lock = _lock_file(self._lock_of("port"), waits=True)
        try:
            warned = False
            while not self._closed.is_set():
                try:
                    server = _Server(host, port, self.text)
                except OSError as error:
                    if not warned:
                        log.error("metrics.port_unavailable", host=host, port=port, error=error.strerror)
                    warned = True
                    self._closed.wait(BIND_AGAIN_SECONDS)
                    continue
                with server:
                    self._server = server
                    if not self._closed.is_set():
                        server.serve_forever()
        finally:
            if lock is not None:
                _unlock_file(self._lock_of("port"), lock)

    def _run(self, work: Callable[..., None], *arguments: Any) -> None:
        threading.Thread(target=work, args=arguments, name="metrics", daemon=True).start()


class _Server(ThreadingHTTPServer):
    """The HTTP server on the port of the metrics."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, text: Callable[[], bytes]) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.text = text
        self._places = threading.BoundedSemaphore(CALLERS_MOST)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind, without the name of the host, for which the system would be asked."""
        socketserver.TCPServer.server_bind(self)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or hang up where there are enough."""
        if not self._places.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, then give the place back."""
        end = threading.Timer(CALL_SECONDS, _hang_up, (request,))
        end.daemon = True
        end.start()
        try:
            super().process_request_thread(request, client_address)
        finally:
            end.cancel()
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a caller who leaves."""
        log.debug("metrics.caller_left")


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = CALLER_SECONDS
    server_version = "Cushion"
    sys_version = ""

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != PATH:
            self.send_error(404)
            return
        text = self.server.text()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Log nothing: it is asked every few seconds."""


def _hang_up(caller: socket.socket) -> None:
    with suppress(OSError):  # it left, or was answered at this moment
        caller.shutdown(socket.SHUT_RDWR)


def _text_of(families: list[Metric]) -> bytes:
    class _Families(Collector):
        def collect(self) -> list[Metric]:
            return families

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families())
    return generate_latest(registry)


def _lock_file(path: Path, *, waits: bool) -> int | None:
    """Lock a file for this process alone; None where another process has it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
            if os.fstat(handle).st_ino == os.stat(path).st_ino:
                return handle
        except BlockingIOError:
            os.close(handle)
            return None
        except FileNotFoundError:
            pass  # it was swept between the two: another file has the name, or none
        os.close(handle)


def _unlock_file(path: Path, handle: int) -> None:
    """Give a lock up, and remove its file: a waiting process checks the name again."""
    with suppress(OSError):
        os.unlink(path)
    os.close(handle)


def exposition_of(resources: Resources) -> Exposition | None:
    """Return the exposition of this process, where it has one."""
    return None


@asynccontextmanager
async def expose(resources: Resources, kind: Kind) -> AsyncIterator[None]:
    """Expose metrics while the context is open, where a setting asks for it."""
    settings = resources.settings
    exposition = None
    if settings.metrics_port or settings.metrics_on_api:
        try:
            exposition = resources.opened[exposition_of] = Exposition(resources, kind)
        except OSError as error:
            log.error("metrics.failed", error=repr(error))
    try:
        yield
    finally:
        if exposition is not None:
            exposition.close()
