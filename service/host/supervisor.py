"""The process tree of `cushion serve`: the embedded servers, the API and the workers, started, watched and drained."""

from __future__ import annotations

import contextlib
import errno
import http
import http.client
import logging
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self

import psycopg

from service.host.child import RunAccount, bound, processes
from service.host.data_folder import HOME, EmbeddedError, app_account, hand_over_files, open_data_dir
from service.host.embedded import Embedded
from service.platform.config import ConfigError, Settings
from service.platform.data import migrations
from service.platform.data.database import as_service
from service.platform.welcome import address, lines, reachable_host

LOG = logging.getLogger("cushion.supervisor")

EXIT_FAILED = 1
EXIT_REFUSED = 2

DEATHS_MAX = 5
DEATHS_WINDOW_SECONDS = 60.0
"""A process that dies more often than this within the window brings the service down."""
BACKOFF_FIRST_SECONDS = 0.2
"""Before the first restart; doubled with every further death in the window: 0.2, 0.4, 0.8, 1.6, 3.2."""
CHECK_SECONDS = 1.0
ROOM_BYTES = 64 * 1024 * 1024
"""What the embedded servers need to start: PostgreSQL a few segments of its log, of 16 MB each."""
FULL_PAUSE_SECONDS = 5.0
"""Between two looks at a full disk."""
READY_POLL_SECONDS = 0.1
READY_ANSWER_SECONDS_MAX = 1.0
READY_WARNING_SECONDS = 60.0
KILLED_SECONDS_MAX = 5.0
"""How long the kernel may take to end a process group that got SIGKILL."""

API_DRAIN_SECONDS = 25
"""Granian ends the requests that are then still in flight; its own process is given 5 s more."""
WORKER_STOP_SECONDS = 15.0
"""For a worker to give back what it could not end in its own time."""
BACKLOG = 2048
"""Connections that wait until one is accepted: then they have a place, of which each process has as many as is set."""
PORT_MAX = 65_535
HASTENING_STOPS = 2
"""The second SIGTERM or SIGINT ends the draining: what still works is killed."""
READY_PATH = "/health/ready"

OWNERS = "CUSHION_MIGRATION_URL"
"""What no child is told: nothing that serves requests holds the owner's rights."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process of the service: what runs, and how it is asked to stop."""

    name: str
    argv: Sequence[str]
    """Its first item is an absolute path."""
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 30.0
    """How long it may take over that before it is killed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `cushion serve` was asked for."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 8000
    settings: Settings = field(default_factory=Settings)
    """What the API's command line says of them."""
    database_url: str | None = None
    redis_url: str | None = None

    @property
    def embedded(self) -> bool:
        return self.database_url is None and self.redis_url is None


class RefusedError(Exception):
    """The service cannot start as it was asked to; the message says why."""


class FailedError(Exception):
    """The service cannot start, or not go on; the message says why."""


def api_command(settings: Settings, *, host: str, port: int) -> list[str]:
    """What runs the API; its last item is what is served.

    Whoever tests or times the API runs it with these options.
    """
    options = {
        "--interface": "asgi",
        "--loop": "uvloop",
        "--http": "1",
        "--host": host,
        "--port": str(port),
        "--workers": str(settings.workers),
        "--workers-kill-timeout": str(settings.draining_seconds + API_DRAIN_SECONDS),
        "--backlog": str(BACKLOG),
        "--backpressure": str(settings.connections),
        "--http1-header-read-timeout": str(settings.head_seconds * 1000),
        "--log-level": "warning",
    }
    flags = ["--no-ws", "--factory", "--no-access-log", "--respawn-failed-workers"]
    granian = [sys.executable, "-m", "granian", *(part for option in options.items() for part in option), *flags]
    return [*granian, "service.app:create"]


def standard_children(plan: Plan) -> list[Child]:
    """The API, and on the embedded default the worker, in the order in which they are drained."""
    command = api_command(plan.settings, host=plan.host, port=plan.port)
    api = Child("api", command, stop_seconds=plan.settings.draining_seconds + API_DRAIN_SECONDS + 5.0)
    stop_seconds = plan.settings.worker_drain_seconds + WORKER_STOP_SECONDS
    worker = Child("worker", [sys.executable, "-m", "service.worker"], stop_seconds=stop_seconds)
    return [api, worker] if plan.embedded else [api]


def child_environment(environment: Mapping[str, str], plan: Plan, database_url: str, redis_url: str) -> dict[str, str]:
    """What the children are told.

    Where the databases are, and whether these are the embedded ones.
    """
    own = {
        "CUSHION_DATABASE_URL": database_url,
        "CUSHION_REDIS_URL": redis_url,
        "CUSHION_DATA_DIR": os.path.abspath(plan.data_dir),
        "CUSHION_HOST": plan.host,
        "CUSHION_PORT": str(plan.port),
    }
    rest = {name: value for name, value in environment.items() if name not in ("CUSHION_EMBEDDED", OWNERS)}
    return {**rest, **own, **({"CUSHION_EMBEDDED": "1"} if plan.embedded else {})}


def serve(
    plan: Plan,
    *,
    children: Callable[[Plan], Sequence[Child]] = standard_children,
    migrate: Callable[[str], object] | None = None,
) -> int:
    """Run the service until a signal ends it.

    Gives the exit code (0 drained, 1 failed, 2 refused).

    Call it from the main thread: it owns SIGTERM, SIGINT and SIGCHLD meanwhile, and its children die with the thread.
    `migrate` brings the database of a URL up to date: the embedded one. Another one is only looked at.
    """
    try:
        with _Signals() as signals:
            plan = _with_port(plan)
            if plan.embedded:
                with Embedded(plan.data_dir, checkpoint=signals.check) as servers:
                    with signals.breaking():
                        _migrate(servers.database_url, migrate)
                    _serve(plan, servers, as_service(servers.database_url), servers.redis_url, children, signals)
            elif plan.database_url is None or plan.redis_url is None:
                raise RefusedError("set both CUSHION_DATABASE_URL and CUSHION_REDIS_URL, or neither")
            else:
                with signals.breaking():
                    _migrate(plan.database_url, migrate or migrations.verify)
                _serve(plan, None, plan.database_url, plan.redis_url, children, signals)
    except (RefusedError, FailedError, EmbeddedError) as error:
        print(f"cushion: {error}", file=sys.stderr)
        return EXIT_REFUSED if isinstance(error, RefusedError) else EXIT_FAILED
    except _StoppedError:
        pass
    return 0


def _serve(
    plan: Plan,
    servers: Embedded | None,
    database_url: str,
    redis_url: str,
    children: Callable[[Plan], Sequence[Child]],
    signals: _Signals,
) -> None:
    environment = child_environment(os.environ, plan, database_url, redis_url)
    account = app_account()
    if account is not None and servers is None:
        open_data_dir(plan.data_dir, account)
        hand_over_files(plan.data_dir, account)
    _Tree(plan, servers, [_Process(child, environment, account) for child in children(plan)], signals).run()


def _migrate(database_url: str, migrate: Callable[[str], object] | None) -> None:
    try:
        (migrate or migrations.migrate)(database_url)
    except ConfigError as error:
        raise RefusedError(str(error)) from error
    except (psycopg.Error, migrations.MigrationError) as error:
        raise FailedError(f"the database cannot be brought up to date: {error}") from error


class _Tree:
    """The children and the embedded servers: kept alive until a signal, then drained in order."""

    def __init__(self, plan: Plan, servers: Embedded | None, processes: list[_Process], signals: _Signals) -> None:
        self._plan = plan
        self._servers = servers
        self._processes = processes
        self._signals = signals
        self._server_deaths = Deaths()
        self._full = False
        self._started = time.monotonic()
        self._ready = False
        self._warned = False

    def run(self) -> None:
        try:
            for process in self._processes:
                process.start()
            while not self._signals.stops:
                self._tend()
                self._signals.wait(self._pause())
        finally:
            self._drain()

    def _tend(self) -> None:
        """One round: restart what died, and tell once when the service is ready."""
        for process in self._processes:
            process.tend()
        if self._servers is not None:
            self._tend_servers(self._servers)
        if not self._ready:
            self._ask_ready()

    def _tend_servers(self, servers: Embedded) -> None:
        """Restart what died, once there is room on the disk.

        PostgreSQL ends, and starts no more, when it is full.
        """
        try:
            servers.check()
            self._full = False
        except EmbeddedError as error:
            if not self._full:
                LOG.error("%s", error)
            self._full = shutil.disk_usage(self._plan.data_dir).free < ROOM_BYTES
            if self._full:
                LOG.error("the disk of %s is full; waiting for %d MB", self._plan.data_dir, ROOM_BYTES >> 20)
                self._signals.wait(FULL_PAUSE_SECONDS)
                return
            self._server_deaths.count("an embedded server", time.monotonic())
            with contextlib.suppress(EmbeddedError):  # the next look tells
                servers.restart()

    def _ask_ready(self) -> None:
        waited = time.monotonic() - self._started
        if answers_ready(self._plan.host, self._plan.port):
            self._ready = True
            url = address(self._plan.host, self._plan.port)
            print("\n".join(lines(url, embedded=self._plan.embedded)), flush=True)
        elif waited > READY_WARNING_SECONDS and not self._warned:
            self._warned = True
            LOG.warning("not ready after %.0f s; still waiting", waited)

    def _pause(self) -> float:
        idle = CHECK_SECONDS if self._ready else READY_POLL_SECONDS
        return min([idle, *(process.seconds_to_restart() for process in self._processes)])

    def _drain(self) -> None:
        """Stop the children one after the other, in their order.

        A second signal kills what is left.
        """
        for process in self._processes:
            process.stop(self._signals)


class _Process:
    """One child, its restarts and its stop."""

    def __init__(self, child: Child, environment: Mapping[str, str], account: RunAccount | None) -> None:
        self._child = child
        self._environment = environment
        self._account = account
        self._popen: subprocess.Popen[bytes] | None = None
        self._deaths = Deaths()
        self._restart_at = 0.0

    def start(self) -> None:
        self._popen = subprocess.Popen(  # noqa: S603  (the service's own commands)
            # Nobody is left to drain it in order, and while it drained by itself the next start found its port taken.
            bound(self._child.argv, death_signal=signal.SIGKILL, account=self._account),
            cwd=HOME,  # so that no other folder shadows `service` and `core`
            env=dict(self._environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in a terminal must reach the supervisor only, which drains in order
        )

    def tend(self) -> None:
        """Notice a death, and start again when its pause is over."""
        now = time.monotonic()
        if self._popen is not None and self._popen.poll() is not None:
            _end_group(self._popen)
            LOG.error("%s stopped with code %s", self._child.name, self._popen.returncode)
            self._popen = None
            self._restart_at = now + self._deaths.count(self._child.name, now)
        if self._popen is None and now >= self._restart_at:
            self.start()

    def seconds_to_restart(self) -> float:
        """How long until `tend` has something to do; infinite while the child runs."""
        return float("inf") if self._popen is not None else max(0.0, self._restart_at - time.monotonic())

    def stop(self, signals: _Signals) -> None:
        """Ask it to finish and wait, unless a second signal hastens.

        Then end what is left of its process group.
        """
        if self._popen is None:
            return
        deadline = time.monotonic() + self._child.stop_seconds
        self._popen.send_signal(self._child.stop_signal)
        while self._popen.poll() is None and signals.stops < HASTENING_STOPS:
            left = deadline - time.monotonic()
            if left <= 0:
                LOG.warning("%s did not finish in %g s", self._child.name, self._child.stop_seconds)
                break
            signals.wait(left)
        _end_group(self._popen)
        self._popen = None


@dataclass(slots=True)
class Deaths:
    """When one process died of late."""

    times: deque[float] = field(default_factory=deque)

    def count(self, name: str, now: float) -> float:
        """Note a death; gives the seconds to wait before the restart, raises when there were too many."""
        self.times.append(now)
        while self.times[0] <= now - DEATHS_WINDOW_SECONDS:
            self.times.popleft()
        if len(self.times) > DEATHS_MAX:
            raise FailedError(f"{name} died {len(self.times)} times in {DEATHS_WINDOW_SECONDS:.0f} s; giving up")
        return float(BACKOFF_FIRST_SECONDS * 2 ** (len(self.times) - 1))


class _StoppedError(BaseException):
    """A signal to stop came while the service was still starting."""


class _Signals:
    """SIGTERM and SIGINT counted, and any signal (SIGCHLD too) ending a wait at once."""

    def __init__(self) -> None:
        self.stops = 0
        self._raising = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        self._wakeup_before = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup_before)
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGCHLD:
            return
        self.stops += 1
        if self._raising:
            self._raising = False
            raise _StoppedError

    def check(self) -> None:
        """Break off a start between two of its steps, once a signal to stop has come."""
        if self.stops:
            raise _StoppedError

    @contextlib.contextmanager
    def breaking(self) -> Iterator[None]:
        """Within, a signal breaks off what runs, wherever it is.

        For what may wait long and leaves nothing behind.
        """
        self.check()
        self._raising = True
        try:
            yield
        finally:
            self._raising = False

    def wait(self, seconds: float) -> None:
        """Sleep, but not past the next signal."""
        readable, _, _ = select.select([self._reader], [], [], seconds)
        if readable:
            with contextlib.suppress(BlockingIOError):
                self._reader.recv(4096)


def _end_group(popen: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the session that a child led.

    Workers that outlive their master would keep the port.
    """
    deadline = time.monotonic() + KILLED_SECONDS_MAX
    with contextlib.suppress(ProcessLookupError):
        os.killpg(popen.pid, signal.SIGKILL)
    popen.wait()
    while _group_works(popen.pid) and time.monotonic() < deadline:
        time.sleep(0.01)


def _group_works(group: int) -> bool:
    """Whether a process of the group still runs.

    Killpg would count the dead that nobody has collected, too.
    """
    return any(int(fields[2]) == group for _, fields in processes())


def _with_port(plan: Plan) -> Plan:
    """The plan with a numeric host and a port that can be listened on, a free one for 0; raises RefusedError."""
    where = f"port {plan.port} on {plan.host or 'an empty host'}"
    if not 0 <= plan.port <= PORT_MAX:
        raise RefusedError(f"cannot listen on {where}: a port is a number from 0 to {PORT_MAX}")
    try:
        addresses = socket.getaddrinfo(plan.host, plan.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, place = addresses[0]
        with socket.socket(family, kind, protocol) as listener:
            # As the server does: the connections of a service that just ended do not hold the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(1)
            host, port = listener.getsockname()[:2]
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"{where} is already in use; stop what listens there, or choose another with --port"
            raise RefusedError(message) from error
        raise RefusedError(f"cannot listen on {where}: {error.strerror}") from error
    return replace(plan, host=str(host), port=int(port))


def answers_ready(host: str, port: int) -> bool:
    """Whether the API says that it is ready to work."""
    connection = http.client.HTTPConnection(reachable_host(host), port, timeout=READY_ANSWER_SECONDS_MAX)
    try:
        connection.request("GET", READY_PATH)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
