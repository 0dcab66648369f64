"""Several machines as processes that share nothing.

Databases over TCP with passwords, files in an S3 store.
"""

from __future__ import annotations

import os
import shutil
import signal
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
from tests.conftest import GENEROUS, free_port, wait_until

ROOT: Final = Path(__file__).parents[2]
BUCKET: Final = "cushion-machines"
START_SECONDS: Final = 120.0
"""Within which a server or a process serves, however busy the machine is."""
PASSWORDS: Final = {"postgres": "Root-1", "cushion": "Owner-2", "cushion_service": "Service-3", "standby": "Copy-4"}


class Postgres:
    """A PostgreSQL server on a TCP port, every login by password."""

    def __init__(self, folder: Path, *, address: str = "127.0.0.1", **options: str) -> None:
        self._account = server_account()
        self._programs = find_programs(self._account)
        self._folder = folder
        self._options = {"fsync": "off", **options}
        self._process: subprocess.Popen[bytes] | None = None
        self.address = address
        self.port = free_port()
        self.data = folder / "data"
        folder.mkdir()
        os.chown(folder, self._account.uid, self._account.gid)

    def url(self, role: str, database: str = "cushion") -> str:
        """The database as a role reaches it."""
        return f"postgresql://{role}:{PASSWORDS[role]}@{self.address}:{self.port}/{database}"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        places = {"port": self.port, "listen_addresses": self.address, "unix_socket_directories": ""}
        parts = [part for name, value in (places | self._options).items() for part in ("-c", f"{name}={value}")]
        command = [str(self._programs.postgres), "-D", str(self.data), *parts]
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

        wait_until(answers, seconds=START_SECONDS, what="PostgreSQL")

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it; its data stay."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(START_SECONDS)
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

    def create(self) -> None:
        """Make an empty database of its owner, and start."""
        password = self._folder / "password"
        password.write_text(PASSWORDS["postgres"])
        os.chown(password, self._account.uid, self._account.gid)
        options = ["-U", "postgres", "--auth=scram-sha-256", f"--pwfile={password}", "--encoding=UTF8"]
        self.run("initdb", "-D", str(self.data), *options)
        with (self.data / "pg_hba.conf").open("a") as rules:
            rules.write("host all,replication all samenet scram-sha-256\n")
        self.start()
        for role, more in {"cushion": "CREATEROLE", "standby": "REPLICATION"}.items():
            self.sql(f"CREATE ROLE {role} LOGIN {more} PASSWORD '{PASSWORDS[role]}'", database="postgres")
        self.sql("CREATE DATABASE cushion OWNER cushion", database="postgres")

    def copy(self, source: Postgres) -> None:
        """Become a streaming copy of another server, and start."""
        more = ["--write-recovery-conf", "--checkpoint=fast", "-d", source.url("standby", "postgres")]
        self.run("pg_basebackup", "-D", str(self.data), *more)
        self.start()

    def run(self, program: str, *arguments: str, **variables: str) -> str:
        """Run a program as PostgreSQL's account; return what it wrote."""
        folder = self._programs.postgres.parent
        path = f"{folder}:{os.environ['PATH']}"
        file = shutil.which(program, path=path)
        assert file is not None, f"there is no {program}"
        done = subprocess.run(
            bound([file, *arguments], death_signal=signal.SIGTERM, account=self._account),
            cwd=self._folder,
            env={**os.environ, "PATH": path, **variables},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{program} {arguments}: {done.stdout}{done.stderr}"
        return done.stdout


@contextmanager
def postgres(folder: Path, source: Postgres | None = None) -> Iterator[Postgres]:
    """A running server with an empty database of its owner, or a copy that follows `source`."""
    server = Postgres(folder)
    try:
        if source is None:
            server.create()
        else:
            server.copy(source)
        yield server
    finally:
        server.stop(signal.SIGQUIT)


class Cache:
    """A Redis or Valkey on a TCP port, by password."""

    def __init__(self, folder: Path, *, address: str = "127.0.0.1", **options: str) -> None:
        port, password = free_port(), "Cache-5"
        places = {"port": str(port), "bind": address, "requirepass": password, "save": "", "dir": str(folder)}
        parts = [part for name, value in (places | options).items() for part in (f"--{name}", value)]
        self._command = [str(find_programs(server_account()).redis), *parts]
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"redis://:{password}@{address}:{port}/0"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        with Redis.from_url(self.url) as client:

            def answers() -> bool:
                with suppress(RedisError):
                    return bool(client.ping())
                return False

            wait_until(answers, seconds=START_SECONDS, what="Redis")

    def kill(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def _redis(folder: Path) -> Iterator[str]:
    cache = Cache(folder)
    try:
        cache.start()
        yield cache.url
    finally:
        cache.kill()


@contextmanager
def object_store(address: str = "127.0.0.1") -> Iterator[dict[str, str]]:
    """An S3 server with an empty bucket; the settings that name it."""
    server = ThreadedMotoServer(ip_address=address, port=0)
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

    def __init__(self, folder: Path, command: str, environment: dict[str, str], *, address: str = "127.0.0.1") -> None:
        folder.mkdir()
        self.folder = folder
        self.port = free_port()
        self.url = f"http://{address}:{self.port}"
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
            "CUSHION_HOST": address,
            "CUSHION_PORT": str(self.port),
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **settings: str) -> None:
        """Start its process and wait until it serves; one that ends is started again, as by systemd or Kubernetes."""
        (self.folder / "log").touch()
        begun, serves = len(self.log_text()), self._command[-1] == "serve"

        def started() -> bool:
            if self._process is None or self._process.poll() is not None:
                with (self.folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(
                        self._command, cwd=self.folder, env={**self._environment, **settings}, stdout=log, stderr=log
                    )
            return self.ready() == 200 if serves else "worker.started" in self.log_text()[begun:]

        try:
            wait_until(started, seconds=START_SECONDS)
        except AssertionError as error:
            raise AssertionError(f"{self.folder.name} did not start: {self.log_text()[begun:][-4000:]}") from error

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
            self._process = None


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


def settings_of(database_url: str, redis_url: str, **settings: str) -> dict[str, str]:
    """The settings of each machine."""
    return {
        **{name: value for name, value in GENEROUS.items() if name != "CUSHION_EMBEDDED"},
        "CUSHION_DATABASE_URL": database_url,
        "CUSHION_REDIS_URL": redis_url,
        "CUSHION_SECRET_KEY": "machines " * 6,
        "CUSHION_APP_URL": "https://cushion.example.com",
        "CUSHION_LOG_LEVEL": "info",
        **settings,
    }


def migrate(database: Postgres, environment: dict[str, str]) -> None:
    """Run `cushion migrate`, as an owner who is no superuser."""
    subprocess.run(
        [sys.executable, "-m", "service.commands.cli", "migrate"],
        cwd=ROOT,
        env={**os.environ, **environment, "CUSHION_MIGRATION_URL": database.url("cushion")},
        check=True,
        stdout=subprocess.DEVNULL,
    )


@contextmanager
def machines(**settings: str) -> Iterator[Machines]:
    """The shared servers, migrated by `cushion migrate` as an owner who is no superuser; what runs is ended."""
    folder = Path(tempfile.mkdtemp(prefix="cushion-machines-"))
    folder.chmod(0o755)
    try:
        with postgres(folder / "postgres") as database, _redis(folder) as redis_url, object_store() as store:
            environment = settings_of(database.url("cushion_service"), redis_url, **store, **settings)
            migrate(database, environment)
            running = Machines(folder, database, redis_url, environment)
            try:
                yield running
            finally:
                for machine in running.all:
                    machine.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
