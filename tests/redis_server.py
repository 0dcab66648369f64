"""A Redis of a test's own, to be stopped, hung and started again while the service runs."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from service.host.data_folder import find_programs, server_account
from tests.conftest import free_port, wait_until


class RedisServer:
    """A server on a port of its own.

    It comes back empty, or where it `keeps`, with all that it held.
    """

    def __init__(self, folder: Path, *, keeps: bool) -> None:
        self._settings = {"save": "", "dir": str(folder), "appendonly": "yes" if keeps else "no"}
        self._port = free_port()
        self.url = f"redis://127.0.0.1:{self._port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        program = find_programs(server_account()).redis
        settings = {**self._settings, "appendfsync": "always", "port": str(self._port), "bind": "127.0.0.1"}
        command = [str(program), *(part for name, value in settings.items() for part in (f"--{name}", value))]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        with Redis.from_url(self.url) as client:

            def answers() -> bool:
                try:
                    return bool(client.ping())
                except RedisError:
                    return False

            wait_until(answers, what="Redis")

    def stop(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def redis_server(*, keeps: bool = False) -> Iterator[RedisServer]:
    """A running one; it is gone at the end, whatever happened to it."""
    with tempfile.TemporaryDirectory(prefix="cushion-redis-") as folder:
        server = RedisServer(Path(folder), keeps=keeps)
        server.start()
        try:
            yield server
        finally:
            server.stop()
