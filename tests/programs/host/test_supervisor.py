"""The process tree of `cushion serve`, with small programs in the place of the API and the worker."""

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from service.host import supervisor
from service.host.embedded import leading_processes
from service.host.supervisor import Deaths, FailedError, Plan, address, child_environment, standard_children
from service.platform.config import Settings

ROOT = Path(__file__).resolve().parents[3]

# A server that is ready at once, answers slowly on /slow, and ends its requests in flight when it is asked to stop.
API = """
import http.server, os, signal, sys, threading, time
note = lambda text: open(sys.argv[1], "a").write(text + "\\n")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/slow":
            note("api: request")
            time.sleep(0.5)
        self.send_response(200); self.send_header("content-length", "2"); self.end_headers(); self.wfile.write(b"ok")
    def log_message(self, *arguments): pass
class Server(http.server.ThreadingHTTPServer):
    daemon_threads = False
server = Server((os.environ["CUSHION_HOST"], int(os.environ["CUSHION_PORT"])), Handler)
def stop(*_):
    note("api: stopping")
    threading.Thread(target=server.shutdown).start()
signal.signal(signal.SIGTERM, stop)
note(f"api: pid {os.getpid()}")
server.serve_forever()
server.server_close()
note("api: stopped")
"""

# A worker that uses both servers with its last breath.
WORKER = """
import os, signal, sys, time
note = lambda text: open(sys.argv[1], "a").write(text + "\\n")
def stop(*_):
    note("worker: stopping")
    if os.environ.get("CUSHION_EMBEDDED"):
        import psycopg, redis
        with psycopg.connect(os.environ["CUSHION_DATABASE_URL"]) as connection:
            connection.execute("SELECT 1")
        redis.Redis.from_url(os.environ["CUSHION_REDIS_URL"]).ping()
    note("worker: stopped")
    sys.exit()
signal.signal(signal.SIGTERM, stop)
note(f"worker: pid {os.getpid()}")
while True: time.sleep(60)
"""

STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "a").write(f"stubborn: pid {os.getpid()}\\n")
time.sleep(60)
"""

# Dies at once, and leaves a child of its own behind.
MASTER = """
import subprocess, sys
child = subprocess.Popen(["/bin/sleep", "60"])
open(sys.argv[1], "a").write(f"orphan: pid {child.pid}\\n")
"""

SERVE = """
import json, sys
from pathlib import Path
from service.host import supervisor
from service.platform.data import migrations
from service.host.supervisor import Child, Plan, serve
told = json.loads(sys.argv[1])
supervisor.BACKOFF_FIRST_SECONDS = told["backoff_seconds"]
children = [Child(name, argv, stop_seconds=seconds) for name, argv, seconds in told["children"]]
plan = Plan(data_dir=Path(told.pop("data_dir")), **told["plan"])
def migrate(url):
    print("migrating", url, flush=True)
    if plan.embedded:
        migrations.migrate(url)  # the children log in as the role that it makes
sys.exit(serve(plan, children=lambda plan: children, migrate=migrate))
"""

OUTSIDE: dict[str, Any] = {"database_url": "postgresql://db.example/x", "redis_url": "redis://redis.example/0"}


class Service:
    """`serve` in a process of its own, and what its children noted."""

    def __init__(self, folder: Path, children: Sequence[tuple[str, str, float]], **plan: Any) -> None:
        self.notes = folder / "notes"
        self.notes.touch()
        self.notes.chmod(0o666)  # under root the children are somebody else
        commands = [(name, [sys.executable, "-c", code, str(self.notes)], seconds) for name, code, seconds in children]
        answer = {"data_dir": str(folder / "data"), "plan": plan, "children": commands, "backoff_seconds": 0.05}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, json.dumps(answer)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_ready(self) -> int:
        """Wait for the line that tells the address; gives the port."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if match := re.fullmatch(r"Cushion is ready on http://127\.0\.0\.1:(\d+)\n", line):
                return int(match[1])
        raise AssertionError(self.process.communicate()[1])

    def wait_note(self, text: str, *, times: int = 1) -> list[str]:
        deadline = time.monotonic() + 20
        while len(actual_lines := [line for line in self.lines() if text in line]) < times:
            assert time.monotonic() < deadline, f"{text!r} is not in {self.lines()}"
            time.sleep(0.02)
        return actual_lines

    def pid(self, name: str) -> int:
        return int(self.wait_note(f"{name}: pid ")[-1].rpartition(" ")[2])

    def lines(self) -> list[str]:
        return self.notes.read_text().splitlines()

    def events(self) -> list[str]:
        return [line for line in self.lines() if "pid" not in line]

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        self.process.send_signal(signal_number)

    def wait(self) -> tuple[int, str]:
        """The exit code, and what went to standard error beside the note that root's interpreter is closed."""
        _, errors = self.process.communicate(timeout=40)
        return self.process.returncode, re.sub(r"^/.* is closed to the user .*\n", "", errors)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder outside of pytest's own, which the embedded servers' user may pass through."""
    path = Path(tempfile.mkdtemp(prefix="cushion-test-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@contextlib.contextmanager
def running(folder: Path, children: Sequence[tuple[str, str, float]], **plan: Any) -> Iterator[Service]:
    service = Service(folder, children, **plan)
    try:
        yield service
    finally:
        service.process.kill()
        service.process.communicate()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_dead(*pids: int) -> None:
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline, "a process outlived the service"
        time.sleep(0.02)


def get(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    status = connection.getresponse().status
    connection.close()
    return status


class Request(threading.Thread):
    """A request that is in flight while the service is asked to stop."""

    def __init__(self, port: int, path: str) -> None:
        super().__init__()
        self.port, self.path, self.status = port, path, 0
        self.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            self.status = get(self.port, self.path)


BOTH = [("api", API, 20.0), ("worker", WORKER, 20.0)]


def test_drains_in_order_and_finishes_what_is_in_flight(folder: Path) -> None:
    with running(folder, BOTH, port=0, **OUTSIDE) as service:
        request = Request(service.wait_ready(), "/slow")
        service.wait_note("api: request")
        service.pid("worker")
        service.stop()
        assert service.wait() == (0, "")
        request.join()
        assert request.status == 200
        expected = ["api: request", "api: stopping", "api: stopped", "worker: stopping", "worker: stopped"]
        assert service.events() == expected
        assert not (folder / "data" / "postgres").exists(), "with the URLs set, nothing is embedded"


def test_embedded_servers_outlive_the_children_and_end_with_the_service(folder: Path) -> None:
    with running(folder, BOTH, port=0) as service:
        service.wait_ready()
        service.pid("worker")
        service.stop(signal.SIGINT)
        assert service.wait() == (0, "")
        assert service.events() == ["api: stopping", "api: stopped", "worker: stopping", "worker: stopped"]
        assert leading_processes(folder / "data" / "postgres") == []
        assert leading_processes(folder / "data" / "redis") == []
        log = (folder / "data" / "log" / "postgres.log").read_text()
        assert "database system is shut down" in log


def test_ctrl_c_reaches_the_whole_terminal_yet_drains_in_order(folder: Path) -> None:
    with running(folder, BOTH, port=0, **OUTSIDE) as service:
        service.wait_ready()
        service.pid("worker")
        os.killpg(service.process.pid, signal.SIGINT)
        assert service.wait() == (0, "")
        assert service.events() == ["api: stopping", "api: stopped", "worker: stopping", "worker: stopped"]


def test_sigkill_of_the_supervisor_takes_everything_along(folder: Path) -> None:
    with running(folder, BOTH, port=0) as service:
        service.wait_ready()
        data = folder / "data"
        pids = [service.pid("api"), service.pid("worker")]
        pids += leading_processes(data / "postgres") + leading_processes(data / "redis")
        assert len(pids) == 4
        service.process.kill()
        wait_dead(*pids)


def test_a_child_that_dies_is_started_again(folder: Path) -> None:
    with running(folder, BOTH, port=0, **OUTSIDE) as service:
        port = service.wait_ready()
        first = service.pid("api")
        os.kill(first, signal.SIGKILL)
        service.wait_note("api: pid", times=2)
        deadline = time.monotonic() + 10
        while not supervisor.answers_ready("127.0.0.1", port):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        service.stop()
        code, errors = service.wait()
        assert code == 0
        assert errors.strip() == "api stopped with code -9"


def test_embedded_servers_that_die_are_started_again(folder: Path) -> None:
    with running(folder, BOTH, port=0) as service:
        service.wait_ready()
        for name in ("postgres", "redis"):
            (first,) = leading_processes(folder / "data" / name)
            os.kill(first, signal.SIGKILL)
            deadline = time.monotonic() + 20
            log = folder / "data" / "log" / f"{name}.log"
            while log.read_text().lower().count("ready to accept connections") < 2:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        service.pid("worker")
        service.stop()
        code, errors = service.wait()
        assert code == 0
        assert "PostgreSQL stopped with code -9" in errors
        assert "Redis stopped with code -9" in errors
        assert service.events()[-1] == "worker: stopped", "the addresses are the same, so the worker got through"


def test_a_child_that_always_dies_ends_the_service(folder: Path) -> None:
    with running(folder, [*BOTH, ("broken", "import sys; sys.exit(7)", 1.0)], port=0, **OUTSIDE) as service:
        code, errors = service.wait()
        assert code == 1
        assert errors.count("broken stopped with code 7") == supervisor.DEATHS_MAX + 1
        assert errors.endswith("cushion: broken died 6 times in 60 s; giving up\n")
        for name in ("api", "worker"):
            assert not any(alive(int(line.rpartition(" ")[2])) for line in service.lines() if f"{name}: pid" in line)


def test_what_a_dead_child_leaves_behind_is_ended(folder: Path) -> None:
    """The workers of a master that died would keep the port."""
    with running(folder, [("master", MASTER, 1.0)], port=0, **OUTSIDE) as service:
        code, _ = service.wait()
        assert code == 1
        orphans = [int(line.rpartition(" ")[2]) for line in service.lines()]
        assert len(orphans) == supervisor.DEATHS_MAX + 1
        assert not any(alive(pid) for pid in orphans)


def test_a_child_that_does_not_finish_is_killed_at_its_limit(folder: Path) -> None:
    with running(folder, [("stubborn", STUBBORN, 0.5), ("worker", WORKER, 20.0)], port=0, **OUTSIDE) as service:
        pid = service.pid("stubborn")
        service.pid("worker")
        service.stop()
        code, errors = service.wait()
        assert code == 0
        assert errors == "stubborn did not finish in 0.5 s\n"
        assert not alive(pid)
        assert service.events() == ["worker: stopping", "worker: stopped"]


def test_a_second_signal_hastens(folder: Path) -> None:
    with running(folder, [("stubborn", STUBBORN, 60.0), ("worker", WORKER, 60.0)], port=0, **OUTSIDE) as service:
        pid = service.pid("stubborn")
        service.pid("worker")
        service.stop()
        time.sleep(0.3)
        assert alive(pid)
        started = time.monotonic()
        service.stop()
        assert service.wait()[0] == 0
        assert time.monotonic() - started < 10
        assert not alive(pid)


def test_a_signal_during_the_start_leaves_nothing_running(folder: Path) -> None:
    with running(folder, BOTH, port=0) as service:
        deadline = time.monotonic() + 20
        while not (folder / "data" / "redis").exists():
            assert time.monotonic() < deadline
            time.sleep(0.005)
        service.stop()
        assert service.wait() == (0, "")
        assert service.lines() == []
        assert leading_processes(folder / "data" / "postgres") == []
        assert leading_processes(folder / "data" / "redis") == []


def test_a_taken_port_is_told_before_anything_starts(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with running(folder, BOTH, port=port) as service:
            code, errors = service.wait()
    assert code == 2
    assert errors.startswith(f"cushion: port {port} on 127.0.0.1 is already in use")
    assert not (folder / "data").exists()


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({"host": "no.such.host.invalid"}, "cannot listen on port 8000 on no.such.host.invalid: "),
        ({"host": "192.0.2.1", "port": 0}, "cannot listen on port 0 on 192.0.2.1: "),
        ({"port": 70_000}, "a port is a number from 0 to 65535"),
        (
            {"port": 0, "redis_url": "redis://localhost"},
            "set both CUSHION_DATABASE_URL and CUSHION_REDIS_URL, or neither",
        ),
    ],
)
def test_what_cannot_be_served_is_refused(folder: Path, plan: dict[str, Any], message: str) -> None:
    with running(folder, BOTH, **plan) as service:
        code, errors = service.wait()
    assert code == 2
    assert errors.startswith("cushion: ")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_data_folder_in_use_is_told(folder: Path) -> None:
    with running(folder, BOTH, port=0) as first:
        first.wait_ready()
        with running(folder, BOTH, port=0) as second:
            code, errors = second.wait()
        assert code == 1
        assert f"is in use by process {first.process.pid}" in errors
        first.stop()
        assert first.wait()[0] == 0


APPLICATION = """
import asyncio, os
def create():
    async def application(scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] == "/slow":
            open(os.environ["NOTES"], "a").write("api: request\\n")
            await asyncio.sleep(0.7)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"ok"})
    return application
"""


def test_granian_takes_the_options_and_drains(folder: Path) -> None:
    """The real server with a small application.

    The one line of it that the service changes is the target.
    """
    (folder / "stand_in.py").write_text(APPLICATION)
    folder.chmod(0o755)  # the service's user lists it to import from it
    code = f"""
import os, sys
from pathlib import Path
from dataclasses import replace
from service.platform.config import Settings
from service.host.supervisor import Plan, serve, standard_children
def children(plan):
    return [replace(api, argv=[*api.argv[:-1], "stand_in:create"]) for api in standard_children(plan)]
plan = Plan(data_dir=Path({str(folder / "data")!r}), port=0, settings=Settings(workers=2), **{OUTSIDE!r})
sys.exit(serve(plan, children=children, migrate=print))
"""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NOTES": str(folder / "notes")}
    service = Service.__new__(Service)
    service.notes = folder / "notes"
    service.notes.touch()
    service.notes.chmod(0o666)
    pipe = subprocess.PIPE
    argv = [sys.executable, "-c", code]
    service.process = subprocess.Popen(argv, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe, text=True)
    try:
        request = Request(service.wait_ready(), "/slow")
        service.wait_note("api: request")
        service.stop()
        assert service.wait() == (0, "")
        request.join()
        assert request.status == 200
    finally:
        service.process.kill()
        service.process.communicate()


def test_the_standard_children() -> None:
    settings = Settings(workers=3, connections=700, head_seconds=9)
    outside = Plan(data_dir=Path("/data"), host="0.0.0.0", port=9000, settings=settings, **OUTSIDE)
    (api,) = standard_children(outside)
    argv = list(api.argv)
    assert argv[:3] == [sys.executable, "-m", "granian"]
    assert argv[-1] == "service.app:create"
    for option, value in (
        ("--host", "0.0.0.0"),
        ("--port", "9000"),
        ("--workers", "3"),
        ("--interface", "asgi"),
        ("--backpressure", "700"),
        ("--http1-header-read-timeout", "9000"),
    ):
        assert argv[argv.index(option) + 1] == value
    assert [child.name for child in standard_children(Plan(data_dir=Path("/data")))] == ["api", "worker"]


def test_what_the_children_are_told() -> None:
    embedded = Plan(data_dir=Path("relative"), port=9000)
    answer = child_environment({"PATH": "/bin", "CUSHION_PORT": "0"}, embedded, "postgresql://x", "redis://x")
    assert answer == {
        "PATH": "/bin",
        "CUSHION_DATABASE_URL": "postgresql://x",
        "CUSHION_REDIS_URL": "redis://x",
        "CUSHION_DATA_DIR": os.path.abspath("relative"),
        "CUSHION_HOST": "127.0.0.1",
        "CUSHION_PORT": "9000",
        "CUSHION_EMBEDDED": "1",
    }
    outside = Plan(data_dir=Path("/data"), **OUTSIDE)
    assert "CUSHION_EMBEDDED" not in child_environment({"CUSHION_EMBEDDED": "1"}, outside, **OUTSIDE)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),
        ("::", "http://[::1]:80"),
        ("fd00::2", "http://[fd00::2]:80"),
    ],
)
def test_the_address_is_one_that_this_machine_reaches(host: str, url: str) -> None:
    assert address(host, 80) == url


def test_deaths_wait_longer_each_time_and_are_forgotten() -> None:
    deaths = Deaths()
    assert [deaths.count("x", float(now)) for now in range(5)] == [0.2, 0.4, 0.8, 1.6, 3.2]
    assert deaths.count("x", 63.5) == 0.4, "of the first five only the one at 4 s is within a minute"
    for now in range(64, 67):
        deaths.count("x", float(now))
    assert len(deaths.times) == 4
    deaths.count("x", 67.0)
    with pytest.raises(FailedError, match="x died 6 times in 60 s; giving up"):
        deaths.count("x", 68.0)
