"""One real service for the tests of a process.

PostgreSQL, Redis, the API and a worker, reached over HTTP.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from secrets import randbelow
from socketserver import BaseServer
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

import httpx
import hypothesis
import psycopg
import pytest
from httpx._transports import default

from service.host.child import bound
from service.host.data_folder import app_account
from tests.forks import Fork
from tests.quick_app import HASH_SECONDS

if TYPE_CHECKING:
    from service.platform.unit.context import Resources

# A slow machine is no fault. The examples are the same ones each time; with SEARCH=1 the tests go on looking.
hypothesis.settings.register_profile("cushion", deadline=None, derandomize="SEARCH" not in os.environ)
hypothesis.settings.load_profile("cushion")

# A shell starts what it puts into the background with SIGINT ignored, and every process below inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# httpx reads the bundle of authorities for every client that is made: 16 ms and more, for connections that are plain.
# The clients of a process share one context.
default.create_ssl_context = cache(default.create_ssl_context)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect without the garbage collector, which would go through 16,000 tests again and again.

    They stay to the end, so it leaves them alone afterwards, too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """Give back what libraries ask for at the end of a process, when pytest has looked for the last rubbish."""
    atexit.register(gc.unfreeze)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file comes first, the short ones of the core last.

    No process works long after the others ended.
    """
    items.sort(key=lambda item: (item.path.relative_to(ROOT).parts[1] == "core", item.path.name != "test_image.py"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why each test failed that was run once more, whatever became of it."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"run once more: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext[-FIRST_FAILURE_MAX:])


FIRST_FAILURE_MAX = 4_000
"""Characters of a failure, its last ones."""

PASSWORD = "Correct-Horse-7"
READY_SECONDS = 60.0
ROOT = Path(__file__).parents[1]
APPLICATION = "TESTS_APPLICATION"
"""What an API process serves where this is among its environment."""

GENEROUS = {
    # The checks stay on; the figures are raised so that a test meets only the limits that it is about.
    "CUSHION_REGISTER_PER_HOUR": "1000000",
    "CUSHION_LOGIN_PER_MINUTE": "1000000",
    "CUSHION_REFRESH_PER_MINUTE": "1000000",
    "CUSHION_LOGOUT_PER_MINUTE": "1000000",
    "CUSHION_FAILED_LOGINS_PER_HOUR": "1000000",
    "CUSHION_TWO_FACTOR_CODES_PER_HOUR": "1000000",
    "CUSHION_RECOVERY_CODES_PER_HOUR": "1000000",
    "CUSHION_PASSWORD_CHANGES_PER_HOUR": "1000000",
    "CUSHION_INVITATIONS_PER_HOUR": "1000000",
    "CUSHION_REQUESTS_PER_MINUTE": "1000000 1000000 1000000 1000000",
    "CUSHION_REQUEST_BURST": "100000 100000 100000 100000",
    "CUSHION_UPLOADS_PER_HOUR": "1000000 1000000 1000000 1000000",
    # Receivers of the tests are this machine's, and are tried again at once.
    "CUSHION_ALLOW_PRIVATE_WEBHOOKS": "on",
    "CUSHION_WEBHOOK_ATTEMPTS": "3",
    "CUSHION_WEBHOOK_BACKOFF_SECONDS": "0",
    "CUSHION_WEBHOOK_SECONDS": "2",
    "CUSHION_WEBHOOK_TESTS_PER_MINUTE": "1000000",
    # A lost job is noticed fast.
    "CUSHION_JOB_LEASE_SECONDS": "3",
    "CUSHION_JOB_BACKOFF_SECONDS": "0",
    "CUSHION_CALLS_TOGETHER_SECONDS": "1",
    "CUSHION_LOG_LEVEL": "warning",
    "CUSHION_METRICS_ON_API": "on",
    "CUSHION_STRICT": "1",
}


def wait_until(true: Callable[[], Any], *, seconds: float = 20.0, what: str = "the condition") -> Any:
    """Ask until the answer is true, soon at first; what it was."""
    end, pause = time.monotonic() + seconds, 0.005
    while time.monotonic() < end:
        if answer := true():
            return answer
        time.sleep(pause)
        pause = min(0.05, pause * 1.5)
    raise AssertionError(f"{what} did not come within {seconds} seconds")


@contextmanager
def within(seconds: float, what: object = "") -> Iterator[None]:
    """See that this process works no longer than that; what others have of a busy machine is not counted."""
    begun = time.process_time()
    yield
    assert time.process_time() - begun < seconds, what


def early_in(seconds: int, *, needed: float = 0.0) -> None:
    """Wait for the next window of a limit where this one is nearly over.

    A test wants all its calls in one.

    `needed` seconds, however busy the machine is; by default a quarter of a minute, and a minute of an hour.
    """
    left = seconds - time.time() % seconds
    if left < (needed or min(60.0, seconds / 4)):
        time.sleep(left + 0.1)


def free_port() -> int:
    """A port that nothing listens on, below those that connections are given."""
    while True:
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port := 20_000 + randbelow(12_000)))
            return port


@contextmanager
def serving(server: Serves) -> Iterator[Serves]:
    """A server of a test's own, at work in a thread."""
    with server, ThreadPoolExecutor(1) as thread:
        thread.submit(server.serve_forever, 0.05)
        try:
            yield server
        finally:
            server.shutdown()


Process = subprocess.Popen[bytes] | Fork
Serves = TypeVar("Serves", bound=BaseServer)


class Asked:
    """A database as its owner asks it, over connections that wait for the next question.

    One that is new costs the time of ten questions.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[psycopg.Connection] = []
        weakref.finalize(self, _close, self._idle)  # as for a member's client

    def sql(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """The rows of an answer."""
        while self._idle:
            connection = self._idle.pop()
            try:
                return self._rows(connection, statement, parameters)
            except psycopg.OperationalError:
                if not connection.broken:  # else a test has ended it, and nothing was asked
                    raise
        return self._rows(psycopg.connect(self._url, autocommit=True), statement, parameters)

    def _rows(self, connection: psycopg.Connection, statement: str, parameters: Any) -> list[tuple[Any, ...]]:
        connection.prepare_threshold = None  # a test may change a table that a plan is of
        try:
            cursor = connection.execute(statement, parameters)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []
        finally:
            if connection.broken:
                connection.close()
            else:
                self._idle.append(connection)


def _close(connections: list[psycopg.Connection]) -> None:
    while connections:
        connections.pop().close()


class HasSql(Protocol):
    """A database that can be asked."""

    def sql(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]: ...


@dataclass
class Stack:
    """A running service and what stands behind it."""

    url: str
    database_url: str
    """The owner's connection: row security does not bind it, so a test can see what is really stored."""
    redis_url: str
    data_dir: Path
    environment: dict[str, str]
    worker: Process = field(repr=False)

    def __post_init__(self) -> None:
        self.sql = Asked(self.database_url).sql

    @contextmanager
    def without_worker(self) -> Iterator[None]:
        """Within, the worker stands still: no job is done."""
        self.worker.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.worker.send_signal(signal.SIGCONT)

    @contextmanager
    def hashing(self) -> Iterator[Stack]:
        """The same with an API that hashes passwords as the product does.

        For tests of what that costs.
        """
        with self._with({name: value for name, value in self.environment.items() if name != APPLICATION}) as second:
            yield second

    @contextmanager
    def waiting(self) -> Iterator[Stack]:
        """The same with an API where a hash takes its time without the work.

        For tests of what happens meanwhile.
        """
        with self._with({**self.environment, HASH_SECONDS: "0.03"}) as second:
            yield second

    @contextmanager
    def _with(self, environment: dict[str, str]) -> Iterator[Stack]:
        with _api(environment) as url:
            yield replace(self, url=url, environment=environment)

    def give(self, path: Path) -> None:
        """Make a file or folder that a test wrote into the data folder the service's own."""
        owner = (self.data_dir / "scratch").stat()
        os.chown(path, owner.st_uid, owner.st_gid)

    @asynccontextmanager
    async def resources(self, **settings: str) -> AsyncIterator[Resources]:
        """What a process of the service works with, in this process, which may be root's.

        What it stored is given to the service at the end: it could write no blob into a folder of root's.
        """
        from service.platform import config
        from service.platform.work.process import resources

        try:
            async with resources(config.load({**self.environment, **settings})) as opened:
                yield opened
        finally:
            for path in (self.data_dir / "blobs").rglob("*"):
                with suppress(FileNotFoundError):  # it has just been removed
                    if path.stat().st_uid == os.geteuid():
                        self.give(path)

    @contextmanager
    def another_api(self, *, fresh: bool = False, port: int = 0, **settings: str) -> Iterator[str]:
        """A second API process on the same database and Redis, with settings of its own.

        Its URL.

        `port`: of one that has ended, for tests of a restart.

        A `fresh` one starts as the service's own does: for tests that look at processes and their memory.
        """
        with _api({**self.environment, **settings}, fresh=fresh, port=port) as url:
            yield url

    @contextmanager
    def another_worker(self, *, fresh: bool = False, **settings: str) -> Iterator[Process]:
        """One more worker; a `fresh` one starts as the service's own does."""
        environment = {**self.environment, **settings}
        process = start_worker(environment) if fresh else Fork("worker", [], environment, [0, 1, 2])
        try:
            yield process
        finally:
            _stop(process)


def start_worker(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A worker process."""
    return subprocess.Popen([sys.executable, "-m", "service.worker"], env=environment, stdout=subprocess.DEVNULL)


def _stop(process: Process) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _api(environment: dict[str, str], *, fresh: bool = False, port: int = 0) -> Iterator[str]:
    from service.host.supervisor import api_command
    from service.platform import config

    port = port or free_port()
    command = api_command(config.load(environment), host="127.0.0.1", port=port)
    command[-1] = environment.get(APPLICATION, command[-1])
    process: Process
    if fresh:
        process = subprocess.Popen(
            bound(command, death_signal=signal.SIGTERM, account=app_account()),
            env=environment,
            cwd=ROOT,
            start_new_session=True,
        )
    else:
        process = Fork("api", command[command.index("granian") + 1 :], environment, [0, 1, 2])
    url = f"http://127.0.0.1:{port}"
    try:

        def ready() -> bool:
            assert process.poll() is None, "the API did not start"
            try:
                return httpx.get(url + "/health/ready").status_code == 200
            except httpx.TransportError:
                return False

        wait_until(ready, seconds=READY_SECONDS, what="readiness")
        yield url
    finally:
        _stop(process)


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    """The service that all tests of this process share."""
    with run_stack() as running:
        yield running


@pytest.fixture(scope="module")
def idle() -> Iterator[Stack]:
    """A service of this module's own.

    Its worker is stopped, and each test starts the one that it needs.

    The API does no worker's jobs: a worker that starts slowly on a busy machine would find them done.
    """
    with run_stack(fresh=False, CUSHION_SYNC_FALLBACK="off") as stack:
        stack.worker.terminate()
        stack.worker.wait(30)
        yield stack


def _write_lazily(database_url: str) -> None:
    """Have a COMMIT wait for no disk: what survives the end of processes needs none, and no test turns power off."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def run_stack(*, fresh: bool = True, **settings: str) -> Iterator[Stack]:
    """A service of its own, for tests that stop its parts.

    A `fresh` one starts as a user's does; else its processes are forked.
    """
    from service.host.embedded import Embedded
    from service.platform.data.database import as_service
    from service.platform.data.migrations import migrate

    folder = Path(tempfile.mkdtemp(prefix="cushion-test-"))
    folder.chmod(0o755)  # the account that PostgreSQL runs as must be able to enter
    data_dir = folder / "data"
    try:
        with Embedded(data_dir) as servers:
            _write_lazily(servers.database_url)
            migrate(servers.database_url)
            environment = {
                **{name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")},
                **GENEROUS,
                APPLICATION: "tests.quick_app:create",
                "CUSHION_DATABASE_URL": as_service(servers.database_url),
                "CUSHION_REDIS_URL": servers.redis_url,
                "CUSHION_DATA_DIR": str(data_dir),
                "CUSHION_EMBEDDED": "1",
                **settings,
            }
            with _api(environment, fresh=fresh) as url:
                worker = start_worker(environment) if fresh else Fork("worker", [], environment, [0, 1, 2])
                try:
                    yield Stack(url, servers.database_url, servers.redis_url, data_dir, environment, worker)
                finally:
                    _stop(worker)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def calls(database: HasSql, *members: Member) -> int:
    """How many calculations of the members' tenants the audit log tells of, those counted that no entry has yet."""
    tenants = [member.tenant_id for member in members]
    ((answer, counted),) = database.sql(
        """
        SELECT (SELECT coalesce(sum((details ->> 'calls')::int), 0) FROM audit_log
                WHERE tenant_id = ANY(%(tenants)s::uuid[]) AND action = 'calculation.completed'),
               (SELECT coalesce(sum(calls), 0) FROM calls WHERE tenant_id = ANY(%(tenants)s::uuid[]))
        """,
        {"tenants": tenants},
    )
    return int(answer) + int(counted)


@dataclass
class Member:
    """A user of a tenant, or an API key, with a client that speaks for it."""

    http: httpx.Client
    tokens: dict[str, str]
    email: str
    tenant_id: str
    user_id: str

    def __post_init__(self) -> None:
        weakref.finalize(self, self.http.close)  # a connection left open would be a warning, and so an error

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self.http.get(path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self.http.post(path, **options)

    def put(self, path: str, **options: Any) -> httpx.Response:
        return self.http.put(path, **options)

    def patch(self, path: str, **options: Any) -> httpx.Response:
        return self.http.patch(path, **options)

    def delete(self, path: str, **options: Any) -> httpx.Response:
        return self.http.delete(path, **options)

    def upload(self, path: Path | str, **fields: str) -> httpx.Response:
        """Upload a workbook file."""
        path = Path(path)
        return self.post("/api/v1/workbooks/upload", files={"file": (path.name, path.read_bytes())}, data=fields)

    def uploaded(self, path: Path | str, **fields: str) -> dict[str, Any]:
        """Upload a workbook and wait until it is parsed; the workbook, ready or in error."""
        response = self.upload(path, **fields)
        assert response.status_code == 201, response.text
        return self.parsed(response.json()["id"])

    def parsed(self, workbook_id: str) -> dict[str, Any]:
        """The workbook once nothing works on it any more."""

        def done() -> dict[str, Any] | None:
            workbook: dict[str, Any] = self.get(f"/api/v1/workbooks/{workbook_id}").json()
            busy = workbook["status"] in ("processing", "recalculating") or workbook["written_by"]
            return None if busy else workbook

        result: dict[str, Any] = wait_until(done, seconds=60, what="the parsed workbook")
        return result

    def invite(self, role: str) -> Member:
        """A further user of this tenant, joined."""
        email = f"{role}-{uuid4().hex[:12]}@example.com"
        invitation = self.post(
            "/api/v1/admin/users/invite", json={"email": email, "full_name": role.title(), "role": role}
        )
        assert invitation.status_code == 201, invitation.text
        accepted = self.post(
            "/api/v1/auth/accept-invitation",
            json={"token": invitation.json()["invitation_token"], "password": PASSWORD},
        )
        assert accepted.status_code == 200, accepted.text
        return member(str(self.http.base_url), accepted.json(), email)

    def key(self, *scopes: str) -> Member:
        """An API key of this tenant."""
        response = self.post("/api/v1/admin/api-keys", json={"name": "key", "permissions": list(scopes)})
        assert response.status_code == 201, response.text
        client = httpx.Client(base_url=self.http.base_url, headers={"X-API-Key": response.json()["key"]}, timeout=60)
        return Member(client, {}, self.email, self.tenant_id, self.user_id)


def member(url: str, tokens: dict[str, str], email: str) -> Member:
    """Somebody who holds these tokens."""
    client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {tokens['access_token']}"}, timeout=60)
    me = client.get("/api/v1/auth/me")
    assert me.status_code == 200, me.text
    return Member(client, tokens, email, me.json()["tenant_id"], me.json()["id"])


def register(url: str, email: str | None = None, organization: str | None = None) -> Member:
    """A new tenant's owner."""
    email = email or f"owner-{uuid4().hex[:12]}@example.com"
    answer = httpx.post(
        url + "/api/v1/auth/register",
        json={
            "email": email,
            "password": PASSWORD,
            "full_name": "Olive Owner",
            "organization_name": organization or f"Org {re.split('[-@]', email)[1]}",
        },
        timeout=60,
    )
    assert answer.status_code == 201, answer.text
    return member(url, answer.json(), email)


@pytest.fixture
def owner(stack: Stack) -> Member:
    """The owner of a fresh tenant."""
    return register(stack.url)


@pytest.fixture(scope="module")
def shared_owner(stack: Stack) -> Member:
    """The owner of a tenant that a module's tests share, where nobody minds what the others left."""
    return register(stack.url)


@pytest.fixture
def stranger(stack: Stack) -> Member:
    """The owner of another tenant."""
    return register(stack.url)
