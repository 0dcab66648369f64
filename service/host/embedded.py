"""The embedded PostgreSQL and Redis.

Supervised children over Unix sockets, their data under one folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from service.host.child import RunAccount, bound, processes
from service.host.data_folder import (
    PROGRAM_NAMES,
    EmbeddedError,
    Programs,
    check_owner,
    default_data_dir,
    drop_short_dir,
    find_programs,
    hand_over_files,
    open_data_dir,
    own_folder,
    server_account,
    socket_dir,
)

__all__ = ["Embedded", "EmbeddedError", "InUse", "default_data_dir"]

DATABASE = "cushion"
SUPERUSER = "postgres"
POSTGRES_PORT = 5432
"""Only a part of the socket's name: no TCP port is opened."""
LOG_BYTES_MAX = 8 * 1024 * 1024
"""A log longer than this becomes `<name>.log.1`, in place of the one before."""
LOG_TAIL_BYTES = 2_000
START_SECONDS_MAX = 120.0
"""A first answer may wait for the recovery after a crash."""
POLL_SECONDS = 0.01

POSTGRES_LADDER = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))
"""Fast shutdown, immediate shutdown, the end; each with the seconds that it is given."""
REDIS_LADDER = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))

Ladder = Sequence[tuple[signal.Signals, float]]


class InUse(EmbeddedError):
    """Another process holds the data folder."""


class Embedded:
    """PostgreSQL and Redis for one data folder; a context manager that starts and stops them.

    Start it from the main thread: the kernel stops the servers when the thread that started them ends.
    Every method raises EmbeddedError.
    """

    database_url: str
    """libpq URL of the superuser on the database `cushion`."""
    redis_url: str

    def __init__(self, data_dir: Path, *, checkpoint: Callable[[], None] = lambda: None) -> None:
        """`checkpoint` is called between the steps of a start, which it may break off by raising."""
        self.data_dir = Path(os.path.realpath(data_dir))
        self._checkpoint = checkpoint
        self._lock: int | None = None
        self._servers: list[_Server] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Lock the folder, end what a crash left behind, start both servers and wait until they answer."""
        if self._lock is not None:
            raise EmbeddedError(f"{self.data_dir} is already started by this process")
        account = server_account()
        try:
            open_data_dir(self.data_dir, account)
            self._lock = _lock(self.data_dir)
            self._start(account)
        except OSError as error:
            self.stop()
            raise EmbeddedError(f"cannot use the data folder {self.data_dir}: {error}") from error
        except BaseException:
            self.stop()
            raise

    def _start(self, account: RunAccount) -> None:
        programs = find_programs(account, made_by=cluster_version(self.data_dir / "postgres"))
        for name in ("log", "access"):
            own_folder(self.data_dir / name)
        if account.uid != os.geteuid():
            hand_over_files(self.data_dir, account)
        own_folder(self.data_dir / "blobs", account)
        os.chmod(self.data_dir / "access", 0o755)  # noqa: S103  (PostgreSQL reads its rules there)
        postgres_dir, redis_dir = self.data_dir / "postgres", self.data_dir / "redis"
        own_folder(redis_dir, account)
        sockets = socket_dir(self.data_dir / "run", account)
        hba, ident = write_access_rules(self.data_dir / "access", account)

        redis_socket = sockets / "redis.sock"
        redis = _Server(
            title="Redis",
            argv=redis_command(programs.redis, redis_dir, redis_socket),
            folder=redis_dir,
            log=self.data_dir / "log" / "redis.log",
            stale=(redis_socket,),
            account=account,
            ladder=REDIS_LADDER,
            answers=lambda: redis_answers(redis_socket),
        )
        postgres_socket = sockets / f".s.PGSQL.{POSTGRES_PORT}"
        postgres = _Server(
            title="PostgreSQL",
            argv=postgres_command(programs.postgres, postgres_dir, sockets, hba, ident),
            folder=postgres_dir,
            log=self.data_dir / "log" / "postgres.log",
            # The folder's lock is held and no server works in it: a pid file left by a crash may name any process.
            stale=(postgres_socket, Path(f"{postgres_socket}.lock"), postgres_dir / "postmaster.pid"),
            account=account,
            ladder=POSTGRES_LADDER,
            answers=lambda: postgres_answers(postgres_dir / "postmaster.pid"),
        )
        self._servers = [redis, postgres]
        redis.launch()
        postgres.end_leftovers()
        self._checkpoint()
        create_cluster(programs, postgres_dir, account)
        self._checkpoint()
        postgres.launch()
        for server in self._servers:
            server.wait_for_answer(self._checkpoint)
        create_database(database_url(sockets, SUPERUSER))
        self.database_url = database_url(sockets, DATABASE)
        self.redis_url = f"unix://{redis_socket}"

    def check(self) -> None:
        """Raise EmbeddedError, with the ends of their logs, when servers died.

        Keep the logs bounded.
        """
        messages = [message for server in self._servers if (message := server.trouble()) is not None]
        if messages:
            raise EmbeddedError("\n".join(messages))

    def restart(self) -> None:
        """Start again whichever server died, at the same addresses, and wait until it answers."""
        dead = [server for server in self._servers if not server.alive()]
        for server in dead:
            server.launch()
        for server in dead:
            server.wait_for_answer()

    def stop(self) -> None:
        """Stop Redis, then PostgreSQL, and free the folder; once is enough."""
        for server in self._servers:
            server.stop()
        if self._lock is not None:
            if self._servers:
                drop_short_dir(self.data_dir / "run")
            os.close(self._lock)
        self._servers = []
        self._lock = None


class _Server:
    """One server: started, watched and stopped."""

    def __init__(
        self,
        *,
        title: str,
        argv: Sequence[str],
        folder: Path,
        log: Path,
        stale: Sequence[Path],
        account: RunAccount,
        ladder: Ladder,
        answers: Callable[[], bool],
    ) -> None:
        self.title = title
        self._argv = argv
        self._folder = folder
        self._log = log
        self._stale = stale
        self._account = account
        self._ladder = ladder
        self._answers = answers
        self._process: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        self.end_leftovers()
        for path in self._stale:
            path.unlink(missing_ok=True)
        _bound_log(self._log)
        self._process = _spawn(self._argv, self._folder, self._log, self._account, death_signal=self._ladder[0][0])

    def end_leftovers(self) -> None:
        """End the processes of a service that died.

        Whatever still works in this server's folder.
        """
        for signal_number, seconds in self._ladder:
            for pid in leading_processes(self._folder):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal_number)
            if _wait_until(lambda: not leading_processes(self._folder), seconds):
                return
        raise EmbeddedError(f"a {self.title} left by a crash still works in {self._folder} and does not stop")

    def wait_for_answer(self, checkpoint: Callable[[], None] = lambda: None) -> None:
        def settled() -> bool:
            checkpoint()
            return not self.alive() or self._answers()

        if not _wait_until(settled, START_SECONDS_MAX):
            raise EmbeddedError(f"{self.title} did not answer in {START_SECONDS_MAX:.0f} s{self._tail()}")
        if (message := self.trouble()) is not None:
            raise EmbeddedError(message)

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def trouble(self) -> str | None:
        """What happened, where the server is dead; an occasion to keep its log bounded."""
        if not self.alive():
            code = self._process.returncode if self._process else None
            return f"{self.title} stopped with code {code}{self._tail()}"
        _bound_log(self._log)
        return None

    def stop(self) -> None:
        if self._process is None:
            return
        for signal_number, seconds in self._ladder:
            if not self.alive():
                break
            self._process.send_signal(signal_number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        self.end_leftovers()  # the workers of a PostgreSQL that had to be killed
        self._process = None

    def _tail(self) -> str:
        with open(self._log, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_TAIL_BYTES))
            text = file.read().decode(errors="replace").strip()
        return f"; the end of its log:\n{text}"


# ── Commands ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def postgres_command(program: Path, folder: Path, sockets: Path, hba: Path, ident: Path) -> list[str]:
    """PostgreSQL on a Unix socket alone, durable (fsync and full_page_writes keep their default, on)."""
    settings = {
        "listen_addresses": "",
        "port": str(POSTGRES_PORT),
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "hba_file": str(hba),
        "ident_file": str(ident),
        "shared_buffers": "128MB",
        "max_connections": "100",
        "timezone": "UTC",
        "log_timezone": "UTC",
        # Details of a refused row quote its values (an e-mail, a name), which have no place in a log.
        "log_error_verbosity": "terse",
    }
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [str(program), "-D", str(folder), *options]


def redis_command(program: Path, folder: Path, path: Path) -> list[str]:
    """Redis on a Unix socket alone.

    Every write goes to the append-only file, synced each second.
    """
    settings = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(folder),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [str(program), *(part for name, value in settings.items() for part in (f"--{name}", value))]


def database_url(sockets: Path, database: str) -> str:
    """Host, port and user are stated in full, so that no PG* variable of the environment changes them."""
    return f"postgresql://{SUPERUSER}@/{database}?host={quote(str(sockets), safe='')}&port={POSTGRES_PORT}"


def write_access_rules(folder: Path, account: RunAccount) -> tuple[Path, Path]:
    """Who may connect, as pg_hba.conf and pg_ident.conf.

    The service's user and the servers' user, as any role.

    The kernel names the peer of a Unix socket, so another local user is refused even where the socket's folder were
    open. The files stand outside PostgreSQL's own folder: it may read its rules, not change them.
    """
    users = sorted({pwd.getpwuid(os.geteuid()).pw_name, account.name})
    hba, ident = folder / "pg_hba.conf", folder / "pg_ident.conf"
    _replace_text(hba, "local all all peer map=service\n")
    _replace_text(ident, "".join(f'service "{user}" all\n' for user in users))
    return hba, ident


def cluster_version(folder: Path) -> int | None:
    """The major version of PostgreSQL that made the cluster, None where no cluster can be read."""
    try:
        return int((folder / "PG_VERSION").read_text())
    except (OSError, ValueError):
        return None


def create_cluster(programs: Programs, folder: Path, account: RunAccount) -> None:
    """Make the database cluster if absent; a crash half-way leaves none."""
    if folder.is_dir():
        check_owner(folder, account)
        made_by = cluster_version(folder)
        if made_by is None:
            raise EmbeddedError(f"{folder} is no database cluster of PostgreSQL")
        if made_by != programs.postgres_major:
            raise EmbeddedError(
                f"the data in {folder} is of PostgreSQL {made_by}, and the programs here are of "
                f"{programs.postgres_major}; install PostgreSQL {made_by}, or dump the data with it and restore them "
                "into a fresh data folder"
            )
        return
    fresh = folder.with_name("postgres.new")
    if fresh.exists():
        shutil.rmtree(fresh)
    own_folder(fresh, account)
    # The builtin provider sorts by code point and knows Unicode's cases without any locale of the system.
    options = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    argv = [str(programs.initdb), "-D", str(fresh), "-U", SUPERUSER, "--auth=peer", *options]
    done = subprocess.run(  # noqa: S603  (the server's own program)
        bound(argv, death_signal=signal.SIGTERM, account=account),
        cwd="/",
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    if done.returncode != 0:
        tail = done.stdout[-LOG_TAIL_BYTES:].decode(errors="replace").strip()
        raise EmbeddedError(f"initdb failed with code {done.returncode}:\n{tail}")
    os.rename(fresh, folder)
    _sync_folder(folder.parent)


def create_database(url: str) -> None:
    """Make the database `cushion` where it is missing."""
    import psycopg  # imported late: its 60 ms pass while the servers start

    try:
        with psycopg.connect(url, autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if known is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except psycopg.Error as error:
        raise EmbeddedError(f"PostgreSQL does not serve its own service: {error}") from error


def postgres_answers(pid_file: Path) -> bool:
    """Whether PostgreSQL takes connections.

    The state that it writes in the eighth line, as pg_ctl reads it.
    """
    try:
        lines = pid_file.read_text().splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[7].strip() == "ready"


def redis_answers(path: Path) -> bool:
    """Whether Redis has loaded its data and answers."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1.0)
        try:
            connection.connect(str(path))
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


# ── Processes and files ──────────────────────────────────────────────────────────────────────────────────────────────


def leading_processes(folder: Path) -> list[int]:
    """The servers at work in `folder` (both make it their working folder), without the children of one of them."""
    parents = {pid: int(fields[1]) for pid, fields in processes() if _is_server_in(str(folder), pid)}
    return [pid for pid, parent in parents.items() if parent not in parents]


def _is_server_in(folder: str, pid: int) -> bool:
    try:
        if os.readlink(f"/proc/{pid}/cwd") != folder:
            return False
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe")).removesuffix(" (deleted)")
    except OSError:  # it has ended, or is another user's and so none of ours
        return False
    return program in PROGRAM_NAMES


def _spawn(
    argv: Sequence[str], folder: Path, log: Path, account: RunAccount, *, death_signal: int
) -> subprocess.Popen[bytes]:
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600), "ab") as output:
        return subprocess.Popen(  # noqa: S603  (the server's own program)
            bound(argv, death_signal=death_signal, account=account),
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal must reach the supervisor only
        )


def _environment() -> dict[str, str]:
    """Little on purpose.

    PG* variables would change the servers, and secrets are not theirs.
    """
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _lock(data_dir: Path) -> int:
    """Lock the folder until the descriptor is closed; the file names the holder."""
    descriptor = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(descriptor, 20).decode(errors="replace").strip() or "unknown"
        os.close(descriptor)
        raise InUse(f"the data folder {data_dir} is in use by process {holder}") from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _bound_log(log: Path) -> None:
    """The servers append, so a log can be cut while they run.

    Lines of that very moment may be lost, and all where the disk has no room for a copy.
    """
    if log.exists() and log.stat().st_size > LOG_BYTES_MAX:
        with contextlib.suppress(OSError):
            shutil.copy(log, log.with_suffix(".log.1"))
        os.truncate(log, 0)


def _replace_text(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    draft.write_text(text)
    os.chmod(draft, 0o644)
    os.replace(draft, path)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
