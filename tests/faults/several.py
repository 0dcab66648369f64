"""Several machines as processes that share nothing.

Databases over TCP with passwords, files in an S3 store.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import boto3
import httpx
import psycopg
from moto.server import ThreadedMotoServer
from redis import Redis
from redis.exceptions import RedisError

from service.host.child import bound, processes
from service.host.data_folder import find_programs, server_account
from tests.conftest import GENEROUS, wait_until

ROOT: Final = Path(__file__).parents[2]
BUCKET: Final = "cushion-machines"
PASSWORDS: Final = {"postgres": "Root-1", "cushion": "Owner-2", "cushion_service": "Service-3", "standby": "Copy-4"}


def free_port() -> int:
    """A port that nothing listens on at the moment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


class Postgres:
    """A PostgreSQL server on a TCP port, every login by password.

    Or a streaming copy of another one.
    """

    def __init__(self, folder: Path, source: Postgres | None = None) -> None:
        self._account = server_account()
        self._programs = find_programs(self._account)
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        folder.mkdir()
        os.chown(folder, self._account.uid, self._account.gid)
        if source is None:
            self._make()
        else:
            self._copy(source)

    def url(self, role: str, database: str = "cushion") -> str:
        """The database as a role reaches it."""
        return f"postgresql://{role}:{PASSWORDS[role]}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        parts = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(self._programs.postgres), "-D", str(self._folder / "data"), *parts]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                bound(command, death_signal=signal.SIGQUIT, account=self._account),
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )

        def answers() -> bool:
            try:
                psycopg.connect(self.url("postgres", "postgres")).close()
            except psycopg.OperationalError:
                return False
            return True

        wait_until(answers, what="PostgreSQL")

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it; its data stay."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(30)
            self._process = None

    def hang(self) -> None:
        """It takes connections, and answers nothing."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """It answers again."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        for child, fields in processes():
            if child == self._process.pid or int(fields[1]) == self._process.pid:
                os.kill(child, number)

    def sql(self, statement: str, parameters: Any = None, *, database: str = "cushion") -> list[tuple[Any, ...]]:
        """Ask it as its superuser, whom row security does not bind."""
        with psycopg.connect(self.url("postgres", database), autocommit=True) as connection:
            cursor = connection.execute(statement, parameters)  # type: ignore[arg-type]
            return cursor.fetchall() if cursor.description else []

    def _make(self) -> None:
        password = self._folder / "password"
        password.write_text(PASSWORDS["postgres"])
        os.chown(password, self._account.uid, self._account.gid)
        self._run("initdb", "-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}", "--encoding=UTF8")
        self.start()
        for role, more in {"cushion": "CREATEROLE", "standby": "REPLICATION"}.items():
            self.sql(f"CREATE ROLE {role} LOGIN {more} PASSWORD '{PASSWORDS[role]}'", database="postgres")
        self.sql("CREATE DATABASE cushion OWNER cushion", database="postgres")

    def _copy(self, source: Postgres) -> None:
        self._run(
            "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "-d", source.url("standby", "postgres")
        )

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs.postgres.with_name(program)), "-D", str(self._folder / "data"), *arguments]
        subprocess.run(
            bound(command, death_signal=signal.SIGTERM, account=self._account),
            cwd=self._folder,
            check=True,
            capture_output=True,
        )


@contextmanager
def postgres(folder: Path, source: Postgres | None = None) -> Iterator[Postgres]:
    """A running server with an empty database of its owner, or a copy that follows `source`."""
    server = Postgres(folder, source)
    if source is not None:
        server.start()
    try:
        yield server
    finally:
        server.stop(signal.SIGQUIT)


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    port, password = free_port(), "Cache-5"
    program = str(find_programs(server_account()).redis)
    options = [
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--requirepass",
        password,
        "--save",
        "",
        "--dir",
        str(folder),
    ]
    process = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    try:
        with Redis.from_url(url) as client:

            def answers() -> bool:
                with suppress(RedisError):
                    return bool(client.ping())
                return False

            wait_until(answers, what="Redis")
        yield url
    finally:
        process.kill()
        process.wait()


@contextmanager
def _s3() -> Iterator[dict[str, str]]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        endpoint = "http://{}:{}".format(*server.get_host_and_port())
        secret = {"AWS_ACCESS_KEY_ID": "machines", "AWS_SECRET_ACCESS_KEY": "S3-6", "AWS_REGION": "us-east-1"}
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            aws_access_key_id=secret["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=secret["AWS_SECRET_ACCESS_KEY"],
            region_name=secret["AWS_REGION"],
        )
        client.create_bucket(Bucket=BUCKET)
        client.close()
        yield {**secret, "AWS_ENDPOINT": endpoint, "AWS_ALLOW_HTTP": "true", "CUSHION_BLOB_URL": f"s3://{BUCKET}/files"}
    finally:
        server.stop()


class Machine:
    """One machine: a folder that is its data, home, temporary and working folder, and the process that runs there."""

    def __init__(self, folder: Path, command: str, environment: dict[str, str]) -> None:
        folder.mkdir()
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        places = {"CUSHION_DATA_DIR": "data", "HOME": "home", "TMPDIR": "tmp", "XDG_DATA_HOME": "home/share"}
        for place in places.values():
            (folder / place).mkdir(exist_ok=True)
        (folder / "tmp").chmod(0o1777)
        self._command = [sys.executable, "-m", "service.commands.cli", command]
        self._environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            **environment,
            **{name: str(folder / place) for name, place in places.items()},
            "CUSHION_PORT": str(self.port),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **settings: str) -> None:
        """Start its process; an API is waited for."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.folder, env={**self._environment, **settings}, stdout=log, stderr=log
            )
        if self._command[-1] == "serve":
            wait_until(lambda: self.ready() == 200, seconds=60, what=f"readiness of {self.log_text()}")
        else:
            wait_until(lambda: "worker.started" in self.log_text(), seconds=60, what="the worker")

    def ready(self) -> int | None:
        """The status of its readiness; None where nothing answers."""
        try:
            return httpx.get(self.url + "/health/ready", timeout=5).status_code
        except httpx.TransportError:
            return None

    def begin_to_stop(self) -> None:
        """SIGTERM, as from whoever replaces it."""
        assert self._process is not None
        self._process.terminate()

    def stop(self) -> None:
        """Have it end by itself."""
        self.begin_to_stop()
        self.ended()

    def ended(self) -> None:
        """Wait until it has ended, by itself and well."""
        assert self._process is not None
        assert self._process.wait(90) == 0, self.log_text()
        self._process = None

    def log_text(self) -> str:
        """The log of its present and former processes."""
        return (self.folder / "log").read_text(errors="replace")

    def kill(self) -> None:
        """End whatever runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class Machines:
    """The servers that all machines share, and the machines."""

    def __init__(self, folder: Path, database: Postgres, redis_url: str, environment: dict[str, str]) -> None:
        self.folder = folder
        self.database = database
        self.redis_url = redis_url
        self.environment = environment
        self.all: list[Machine] = []

    def add(self, *commands: str, **settings: str) -> list[Machine]:
        """Start one more machine for each `serve` and `worker`, at the same time."""
        added = [
            Machine(self.folder / f"{command}-{len(self.all) + number}", command, {**self.environment, **settings})
            for number, command in enumerate(commands)
        ]
        self.all += added
        with ThreadPoolExecutor(len(added)) as together:
            list(together.map(Machine.start, added))
        return added


@contextmanager
def machines(**settings: str) -> Iterator[Machines]:
    """The shared servers, migrated by `cushion migrate` as an owner who is no superuser; what runs is ended."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-machines-"))
    folder.chmod(0o755)
    try:
        with postgres(folder / "postgres") as database, _redis(folder) as redis_url, _s3() as store:
            environment = {
                **{name: value for name, value in GENEROUS.items() if name != "CUSHION_EMBEDDED"},
                **store,
                "CUSHION_DATABASE_URL": database.url("cushion_service"),
                "CUSHION_REDIS_URL": redis_url,
                "CUSHION_SECRET_KEY": "machines " * 6,
                "CUSHION_APP_URL": "https://cushion.example.com",
                "CUSHION_LOG_LEVEL": "info",
                **settings,
            }
            subprocess.run(
                [sys.executable, "-m", "service.commands.cli", "migrate"],
                cwd=ROOT,
                env={**os.environ, **environment, "CUSHION_MIGRATION_URL": database.url("cushion")},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            running = Machines(folder, database, redis_url, environment)
            try:
                yield running
            finally:
                for machine in running.all:
                    machine.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
