"""The real service for a benchmark.

`cushion serve` on a fresh data folder, every setting at its default.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

START_SECONDS = 120.0
PARSE_SECONDS = 120.0
STOP_SECONDS = 60.0
IDLE_SECONDS = 3.0
"""The service ends a connection that was idle for longer."""
BOUNDARY = "cushion-bench"
LEAST, LEAST_NAME = "/health/live", "our answer that does nothing"
"""What a request of some milliseconds is timed beside, in turn: alone, its time tells as much of the machine."""


class RefusedError(RuntimeError):
    """The service answered something else than success."""


@contextmanager
def serving(settings: dict[str, str] | None = None) -> Iterator[str]:
    """The service's URL, while it runs.

    Limits, audit, logs and fsync as a user has them, but for these settings.
    """
    folder = Path(tempfile.mkdtemp(prefix="cushion-bench-"))
    folder.chmod(0o755)  # the account that PostgreSQL runs as must be able to enter
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUSHION_")}
    environment |= {"CUSHION_DATA_DIR": str(folder / "data"), **(settings or {})}
    command = [sys.executable, "-m", "service.commands.cli", "serve", "--port", "0"]
    log = folder / "log"
    try:
        with log.open("wb") as out:
            process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
            try:
                yield _announced(process, log)
            finally:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _announced(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if match := re.search(r"^\D*(http://[\d.]+:\d+)\s*$", log.read_text(), re.MULTILINE):
            return match[1]
        time.sleep(0.05)
    raise RuntimeError(f"the service did not start:\n{log.read_text()[-2000:]}")


@contextmanager
def serving_peer(name: str) -> Iterator[str]:
    """A peer's application on one Granian worker, as ours is run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--port", str(port)]
    command += ["--no-ws", "--log-level", "warning", f"bench.service.peer_apps:{name}"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.getcwd()})
    try:
        _wait(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the peer did not start")


class Client:
    """A user on one kept-alive connection, without a token the owner of a new tenant.

    Bare, so that the service is timed and not the client.
    """

    def __init__(self, url: str, *, token: str | None = None) -> None:
        place = urlsplit(url)
        self._connection = (HTTPSConnection if place.scheme == "https" else HTTPConnection)(place.netloc, timeout=60)
        self._connect()
        self.headers: dict[str, str] = {}
        if token is not None:
            self.headers["Authorization"] = f"Bearer {token}"
            return
        tokens = self.post(
            "/api/v1/auth/register",
            {
                "email": f"bench-{uuid4().hex}@example.com",
                "password": "Correct-Horse-7",
                "full_name": "Ben Chmark",
                "organization_name": "Bench",
            },
        )
        self.headers["Authorization"] = f"Bearer {tokens['access_token']}"

    def _connect(self) -> None:
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._used = time.monotonic()

    def exchange(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> bytes:
        """One request; the body of its answer.

        Raises:
            RefusedError: the status is no success.
        """
        headers = {**self.headers, "Content-Type": kind} if body is not None else self.headers
        if time.monotonic() - self._used > IDLE_SECONDS:
            self._connection.close()
            self._connect()
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        self._used = time.monotonic()
        if answer.status >= 300:
            raise RefusedError(f"{method} {path}: {answer.status} {content[:500].decode()}")
        return content

    def get(self, path: str) -> Any:
        return json.loads(self.exchange("GET", path))

    def post(self, path: str, body: Any) -> Any:
        return json.loads(self.exchange("POST", path, json.dumps(body).encode()))

    def upload(self, path: str, file: Path, fields: dict[str, str]) -> Any:
        """Post a form with a file; the answer."""
        parts = [
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'
        body = "".join([*parts, head]).encode() + file.read_bytes() + f"\r\n--{BOUNDARY}--\r\n".encode()
        return json.loads(self.exchange("POST", path, body, f"multipart/form-data; boundary={BOUNDARY}"))

    def uploaded(self, path: Path) -> str:
        """Upload a workbook and wait until it is ready; its identifier."""
        return self.ready(self.upload("/api/v1/workbooks/upload", path, {})["id"])

    def ready(self, workbook_id: str) -> str:
        """Wait until a workbook is ready; its identifier."""
        end = time.monotonic() + PARSE_SECONDS
        while (workbook := self.get(f"/api/v1/workbooks/{workbook_id}"))["status"] == "processing":
            if time.monotonic() > end:
                break
            time.sleep(0.2)
        if workbook["status"] != "ready":
            raise RuntimeError(f"the workbook is {workbook['status']}: {workbook['error_message']}")
        return workbook_id

    def close(self) -> None:
        self._connection.close()
