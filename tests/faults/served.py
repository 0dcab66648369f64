"""`cushion serve` as a user runs it, on a data folder of its own.

Its processes are found, killed and started again.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg

from service.host.child import processes
from service.host.embedded import DATABASE, database_url
from tests.conftest import GENEROUS, wait_until

ROOT: Final = Path(__file__).parents[2]
START_SECONDS: Final = 60.0
END_SECONDS: Final = 20.0
"""Within which all processes of a service have ended whose first one was killed."""

ROLES: Final = {
    "serve": rb"\0serve\0",
    "api": rb"\0granian\0",
    "worker": rb"\0service\.worker\0",
    "postgres": rb"/postgres\0-D\0",
    "backend": rb"^postgres: cushion_service ",
    "postgres_helper": rb"^postgres: ",
    "redis": rb"(redis|valkey)-server",
}
"""By what a process's command line tells which part of the service it is; a process of the API that serves is a child
of another, and an `api_worker`."""

SETTINGS: Final = GENEROUS | {
    # Upkeep looks every second at what was left a second ago.
    "CUSHION_STORAGE_PAUSE_SECONDS": "1",
    "CUSHION_EVENT_GAP_SECONDS": "12",
    "CUSHION_MAX_EXPORTS": "1000",
}


class Service:
    """A service that a test starts, breaks and starts again on the same data."""

    def __init__(self, data_dir: Path, **settings: str) -> None:
        self.data_dir = data_dir
        self.database_url = database_url(data_dir / "run", DATABASE)
        """The superuser's: row security does not bind it, so a test sees what is really stored."""
        self.redis_url = f"unix://{data_dir / 'run' / 'redis.sock'}"
        self.url = ""
        self.log = data_dir.with_name("log")
        own = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
        self.environment = {**own, **SETTINGS, "CUSHION_DATA_DIR": str(data_dir), **settings}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it says that it is ready.

        A second start is at the same address.
        """
        port = self.url.rpartition(":")[2] or "0"
        begun = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "service.commands.cli", "serve", "--port", port],
                cwd=ROOT,
                env=self.environment,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

        def announced() -> str | None:
            assert self._process is not None
            answer = self.log.read_bytes()[begun:].decode()
            assert self._process.poll() is None, f"the service did not start:\n{answer[-3000:]}"
            match = re.search(r"^\D*(http://[\d.]+:\d+)\s*$", answer, re.MULTILINE)
            return match[1] if match else None

        self.url = wait_until(announced, seconds=START_SECONDS, what="the start")

    def wait_ready(self, *, seconds: float = START_SECONDS) -> float:
        """Wait until it answers that it is ready; the seconds that it took."""
        begun = time.monotonic()

        def ready() -> bool:
            try:
                return httpx.get(self.url + "/health/ready", timeout=2).status_code == 200
            except httpx.TransportError:
                return False

        wait_until(ready, seconds=seconds, what="readiness")
        return time.monotonic() - begun

    def stop(self) -> None:
        """Ask it to end, and see that it does, with nothing left running."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            assert self._process.wait(90) == 0, self.log_text()
        self.wait_gone()

    def kill(self) -> None:
        """SIGKILL `cushion serve` itself; the rest is to end by itself."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self.wait_gone()

    def end_all(self) -> None:
        """SIGKILL whatever is left of it, and collect its first process, which nobody else does."""
        send(self.processes(), signal.SIGKILL)
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self.wait_gone()

    def wait_gone(self) -> None:
        """No process of the service is left."""
        wait_until(lambda: not self.processes(), seconds=END_SECONDS, what=f"the end of {self.processes()}")

    def processes(self) -> dict[int, str]:
        """Every process of this service that runs, by its number, and which part it is.

        They are told by the data folder in their environment or command line, so that one is found whose parent died.
        """
        mark, result, parents = os.fsencode(self.data_dir), {}, {}
        for number, fields in processes():
            parents[number] = int(fields[1])
            with suppress(OSError):
                place = Path(f"/proc/{number}")
                command = place.joinpath("cmdline").read_bytes()
                answer = b"CUSHION_DATA_DIR=" + mark + b"\0" in place.joinpath("environ").read_bytes()
                if answer or mark in command or os.readlink(place / "cwd").startswith(str(self.data_dir)):
                    roles = [role for role, pattern in ROLES.items() if re.search(pattern, command)]
                    result[number] = roles[0] if roles else command.replace(b"\0", b" ").decode().strip()[:200]
        return {
            number: "api_worker" if role == "api" == result.get(parents[number]) else role
            for number, role in result.items()
        }

    def pids(self, role: str) -> list[int]:
        """The processes of one part."""
        return [number for number, part in self.processes().items() if part == role]

    def end(self, role: str) -> list[int]:
        """SIGKILL every process of one part; their numbers."""
        ended = self.pids(role)
        assert ended, f"no {role} among {self.processes()}"
        send(ended, signal.SIGKILL)
        return ended

    def sql(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Ask the database as its superuser."""
        with psycopg.connect(self.database_url, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def log_text(self) -> str:
        """The end of what it wrote."""
        return self.log.read_bytes()[-5000:].decode(errors="replace")


def send(processes: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to those that still run."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


@contextmanager
def served(*, folder: Path | None = None, **settings: str) -> Iterator[Service]:
    """A running service.

    At the end it is asked to stop and leaves no process, whatever happened to it.
    """
    place = folder or Path(tempfile.mkdtemp(prefix="cushion-faults-"))
    place.chmod(0o755)  # the account that PostgreSQL runs as must be able to enter
    service = Service(place / "data", **settings)
    try:
        service.start()
        try:
            yield service
        except BaseException:
            print(service.log_text())
            raise
        else:
            service.stop()
        finally:
            service.end_all()
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A disk of memory of so many bytes (`mount`'s way to say it), which takes root, or sudo."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-disk-"))
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    options = f"size={size},uid={os.geteuid()},mode=755"
    mounted = subprocess.run(
        [*as_root, "mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True
    )
    assert mounted.returncode == 0, f"this test needs root, or sudo, to mount a small disk: {mounted.stderr}"
    try:
        yield folder
    finally:
        subprocess.run([*as_root, "umount", "--lazy", str(folder)], check=True)
        folder.rmdir()
