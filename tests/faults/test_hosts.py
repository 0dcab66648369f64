"""Three hosts under load: links are cut, hosts lose their power, the replica becomes the primary.

Host a has an API, the primary and a worker; host b an API, the synchronous replica and a worker; host c a worker and
Valkey. The files are in a store of their own. What docs/operations/machines.md lists for an operator is run from there.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import psycopg
import pytest

from service.platform.data.database import connect_alone
from service.platform.data.servers import LOST_SECONDS
from service.platform.data.stalled_commits import STALLED_SECONDS
from tests.conftest import Member, register, wait_until
from tests.faults.clients import ANSWER_SECONDS, Book, Client, Tenant, prepared
from tests.faults.hosts import Network, network
from tests.faults.invariants import assert_consistent, chained, kept, recorded, settled
from tests.faults.several import PASSWORDS, Cache, Machine, Postgres, migrate, object_store, settings_of
from tests.records import BOOK, small_book
from tests.rows import every

pytestmark = pytest.mark.timeout(600)

GUIDE: Final = Path(__file__).parents[2] / "docs/operations/machines.md"
CLIENTS: Final = 2
"""Of each tenant at each API."""
PAUSE_SECONDS: Final = 0.2
CUT_SECONDS: Final = 5.0
STATEMENT_SECONDS: Final = 10
RECOVERY_SECONDS: Final = 60.0
"""Within which a change is accepted again, whatever host was lost; an idle machine takes some seconds."""


def documented(title: str) -> str:
    """The commands that the guide lists first under a title."""
    match = re.search(rf"^### {re.escape(title)}\n.*?^```sh\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    assert match is not None, f"{GUIDE} has no commands under {title!r}"
    return match[1]


class Hosts:
    """The three hosts and what runs there."""

    def __init__(self, folder: Path, built: Network, store: dict[str, str]) -> None:
        self.network = built
        self.folder = folder
        # Each server notices soon that the other one is gone. A commit that is answered is on the disk.
        options = {"fsync": "on", "wal_receiver_timeout": "5s", "wal_sender_timeout": "5s"}
        self.servers = {
            name: Postgres(folder / f"postgres-{name}", address=built.address(name), **options) for name in "ab"
        }
        self.primary, self.replica = self.servers["a"], self.servers["b"]
        self.cache = Cache(folder, address=built.address("c"), appendonly="yes")
        first, second = (f"{server.address}:{server.port}" for server in self.servers.values())
        database_url = f"postgresql://cushion_service:{PASSWORDS['cushion_service']}@{first},{second}/cushion"
        self.environment = settings_of(
            f"{database_url}?target_session_attrs=read-write",
            self.cache.url,
            **store,
            CUSHION_DEFAULT_TIER="enterprise",
            CUSHION_DRAIN_SECONDS="0",
            CUSHION_MAX_MAPPINGS="100000",
            CUSHION_STATEMENT_SECONDS=str(STATEMENT_SECONDS),
        )
        self.machines = {
            (name, command): Machine(
                folder / f"{command}-{name}", command, self.environment, address=built.address(name)
            )
            for name, command in [("a", "serve"), ("a", "worker"), ("b", "serve"), ("b", "worker"), ("c", "worker")]
        }
        self.tenants: list[Tenant] = []
        self.book = Book()
        self.give_up: Callable[[str], None] = lambda host: None
        """Ends the connections of the clients at work to a host."""

    def start(self) -> None:
        """Start all of it, the pair of databases by the guide."""
        with self.network.inside("c"):
            self.cache.start()
        with self.network.inside("a"):
            self.primary.create()
            migrate(self.primary, self.environment)
        self.make_replica()
        self.start_machines("a", "b", "c")

    def start_machines(self, *hosts: str) -> None:
        """Start the APIs and workers of hosts, all at the same time."""

        def start(place: tuple[str, str]) -> None:
            with self.network.inside(place[0]):
                self.machines[place].start()

        places = [place for place in self.machines if place[0] in hosts]
        with ThreadPoolExecutor(len(places)) as together:
            list(together.map(start, places))

    def wait_ready(self) -> None:
        """Wait until both APIs are ready, with nobody's help."""
        for host in ("a", "b"):
            wait_until(
                lambda host=host: self.machines[host, "serve"].ready() == 200,
                seconds=RECOVERY_SECONDS,
                what=f"the API of host {host}",
            )

    def make_replica(self) -> None:
        """Make the replica, and have commits wait for it, by the guide."""
        with self.network.inside(self.host_of(self.replica)):
            self.type("Make a replica")
            self.replica.start()
            self.have_commits_wait()

    def have_commits_wait(self) -> None:
        """Have commits wait for the replica, by the guide, once it follows."""
        wait_until(self.streams, seconds=RECOVERY_SECONDS, what="the replica")
        self.type("Have commits wait for the replica")
        state = "SELECT sync_state FROM pg_stat_replication"
        wait_until(lambda: self.primary.sql(state) == [("sync",)], seconds=RECOVERY_SECONDS, what="sync")

    def streams(self) -> bool:
        """Whether the replica follows."""
        return self.primary.sql("SELECT state FROM pg_stat_replication") == [("streaming",)]

    def waiting(self) -> int:
        """How many commits wait for the replica."""
        ((number,),) = self.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        return int(number)

    def start_again(self, host: str) -> None:
        """A host that lost its power has it again."""
        self.network.plug(host)
        with self.network.inside(host):
            if host in self.servers:
                self.servers[host].start()
            if host == "c":
                self.cache.start()
        self.start_machines(host)

    def type(self, title: str) -> str:
        """Do what the guide lists under a title."""
        return self.replica.run(
            "sh",
            "-euc",
            documented(title),
            PRIMARY=self.primary.url("postgres", "postgres"),
            REPLICA=self.replica.url("postgres", "postgres"),
            SOURCE=self.primary.url("standby", "postgres"),
            DATA=str(self.replica.data),
        )

    def host_of(self, server: Postgres) -> str:
        """The host of a database."""
        return next(name for name, each in self.servers.items() if each is server)

    def power_off(self, host: str) -> None:
        """A host is gone, with all that ran there."""
        self.network.power_off(host)
        for (place, _), machine in self.machines.items():
            if place == host:
                machine.kill()
        if host in self.servers:
            self.servers[host].stop(signal.SIGKILL)
        if host == "c":
            self.cache.kill()
        self.give_up(host)  # it says nothing any more, and its callers would wait for as long as it is off

    def url(self, host: str) -> str:
        """The API of a host."""
        return self.machines[host, "serve"].url

    def sql(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Ask the primary as its superuser."""
        return self.primary.sql(statement, parameters)

    @contextmanager
    def loaded(self) -> Iterator[None]:
        """Clients at work at both APIs, within."""
        end = threading.Event()
        self.book.last = 0.0  # nobody asked since the last time

        async def work() -> None:
            at: dict[str, list[Client]] = {
                host: [
                    Client(
                        self.url(host),
                        each.owner.tokens["access_token"],
                        each.mark,
                        each.workbook_id,
                        each.sums_to,
                        self.book,
                    )
                    for each in self.tenants
                    for _ in range(CLIENTS)
                ]
                for host in ("a", "b")
            }
            clients, loop = [*at["a"], *at["b"]], asyncio.get_running_loop()

            def give_up(host: str) -> None:
                for client in at.get(host, []):
                    loop.call_soon_threadsafe(client.connection.close)

            self.give_up = give_up
            try:
                await asyncio.gather(
                    *(client.work_until(end.is_set, pause_seconds=PAUSE_SECONDS) for client in clients)
                )
            finally:
                self.give_up = lambda host: None
                for client in clients:
                    client.connection.close()
                await asyncio.sleep(0)

        with ThreadPoolExecutor(1) as thread:
            working = thread.submit(asyncio.run, work())
            try:
                yield
            finally:
                end.set()
            working.result(2 * ANSWER_SECONDS + RECOVERY_SECONDS)

    def at(self, host: str, who: Member, *, seconds: float = 60) -> Member:
        """A member at the API of a host, who waits so long for an answer."""
        client = httpx.Client(base_url=self.url(host), headers=who.http.headers, timeout=seconds)
        return Member(client, who.tokens, who.email, who.tenant_id, who.user_id)

    def assert_kept(self) -> None:
        """Whatever was answered before this call is there."""
        created = {table: set(items) for table, items in list(self.book.created.items())}
        for table, items in created.items():
            there = self.sql(f"SELECT id::text FROM {table} WHERE id::text = ANY(%s)", [list(items)])
            assert items == {item for (item,) in there}, table

    def assert_whole(self, folder: Path) -> None:
        """Nothing that was answered is lost, nobody read what is another's, and every chain verifies."""
        assert not self.book.faults, f"{len(self.book.faults)} faults: {self.book.faults[:20]}"
        self.wait_ready()
        owners = [self.at("b", tenant.owner) for tenant in self.tenants]
        settled(self)
        kept(self, self.book)
        recorded(self, self.book)
        assert_consistent(self, owners, self.book.calculations)
        chained(owners, folder)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    folder = Path(tempfile.mkdtemp(prefix="cushion-hosts-"))
    folder.chmod(0o755)
    try:
        with network("a", "b", "c", "store") as built:
            with built.inside("store"):
                store = object_store(built.address("store"))
                settings = store.__enter__()
            try:
                running = Hosts(folder, built, settings)
                running.start()
                running.tenants = [prepared(register(running.url(host)), number) for number, host in enumerate("ab")]
                yield running
                for name in "abc":
                    running.power_off(name)
            finally:
                store.__exit__(None, None, None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def create(who: Member, name: str = "Deal") -> httpx.Response:
    """Ask for a change."""
    return who.post("/api/v1/deals", json={"name": name, "currency": "USD"})


def names(who: Member) -> list[str]:
    """The deals that are listed."""
    answer = who.get("/api/v1/deals", params={"page_size": 100})
    assert answer.status_code == 200, answer.text
    return [deal["name"] for deal in answer.json()["items"]]


def accepted_within(who: Member, seconds: float) -> float:
    """Wait until a change is accepted; the seconds that it took."""
    begun = time.monotonic()

    def accepted() -> bool:
        try:
            return create(who).status_code == 201
        except httpx.TransportError:
            return False

    wait_until(accepted, seconds=seconds, what="an accepted change")
    return time.monotonic() - begun


@contextmanager
def cut_off(hosts: Hosts, host: str) -> Iterator[None]:
    """Within, a host's cable is unplugged."""
    hosts.network.unplug(host)
    try:
        yield
    finally:
        hosts.network.plug(host)


@every("host", ["c", "store"])
def test_a_link_is_cut_and_healed(hosts: Hosts, host: str, tmp_path: Path) -> None:
    """Of the host of Valkey and a worker, or of the object store: PostgreSQL alone goes on."""
    with hosts.loaded():
        time.sleep(1)
        with cut_off(hosts, host):
            time.sleep(CUT_SECONDS)
            assert accepted_within(hosts.tenants[0].owner, RECOVERY_SECONDS)
        time.sleep(1)
    hosts.assert_whole(tmp_path)


def test_an_upload_that_waits_for_the_store_holds_up_no_other_change(hosts: Hosts, tmp_path: Path) -> None:
    """Of its own tenant: the row on which they are counted is locked for no longer than it takes to count."""
    who, path = hosts.at("a", hosts.tenants[0].owner), tmp_path / "waiting.xlsx"
    path.write_bytes(small_book(BOOK))
    waits = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted"
    with ThreadPoolExecutor(1) as thread, cut_off(hosts, "store"):
        upload = thread.submit(who.upload, path)
        wait_until(lambda: hosts.sql(waits), what="an upload that waits")
        assert create(who, "Meanwhile").status_code == 201, "no statement waited until its time was over"
        assert not upload.done()
    assert upload.result().status_code in (201, 503)
    wait_until(lambda: who.upload(path).status_code == 201, seconds=RECOVERY_SECONDS, what="the store")


def test_commits_wait_while_the_replica_is_cut_off(hosts: Hosts, tmp_path: Path) -> None:
    """Until the operator lets them through; a change is refused where earlier ones wait for long, and reads go on."""
    first, second = (hosts.at("a", tenant.owner) for tenant in hosts.tenants)
    with cut_off(hosts, "b"), ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(create, first, "Let through")
        time.sleep(2)
        assert not waiting.done()
        hosts.type("Let commits through without the replica")
        assert waiting.result(RECOVERY_SECONDS).status_code == 201

        hosts.type("Have commits wait for the replica")
        given_up = thread.submit(create, first, "Given up")
        wait_until(hosts.waiting, what="a commit that waits")
        time.sleep(STALLED_SECONDS + 1)
        for _ in range(2):  # while its caller waits, and when it is given up
            begun = time.monotonic()
            refused = create(second, "Refused")
            assert (refused.status_code, refused.json()["detail"]) == (503, "Service temporarily unavailable")
            assert int(refused.headers["retry-after"]) > 0
            assert "Given up" not in names(first)
            assert names(second) == []
            assert time.monotonic() - begun < STATEMENT_SECONDS, "at once, no statement's time later"
            assert given_up.result(RECOVERY_SECONDS).status_code == 503
        assert hosts.waiting() < 5, "connections pile up on the primary"
        hosts.type("Let commits through without the replica")
        accepted_within(second, RECOVERY_SECONDS)
        assert "Given up" in names(first)
    hosts.have_commits_wait()
    hosts.assert_whole(tmp_path)


def test_locks_of_a_host_that_is_gone_are_dropped(hosts: Hosts) -> None:
    """It says nothing any more, and the server it spoke with knows nothing of that."""
    who = hosts.at("a", hosts.tenants[0].owner)

    async def lock() -> psycopg.AsyncConnection[Any]:
        connection = await connect_alone(hosts.primary.url("postgres"), "trial", statement_seconds=30)
        await connection.execute("BEGIN")
        await connection.execute("SELECT * FROM audit_heads WHERE tenant_id = %s FOR UPDATE", [who.tenant_id])
        return connection

    async def lose() -> None:
        with hosts.network.inside("b"):
            connection = await lock()
        with cut_off(hosts, "b"):
            hosts.type("Let commits through without the replica")
            took = await asyncio.to_thread(accepted_within, who, LOST_SECONDS + RECOVERY_SECONDS)
            assert took > 1, "nothing was locked"
        await connection.close()

    asyncio.run(lose())
    hosts.have_commits_wait()


@every("host", ["c", "b"])
def test_a_host_is_lost_and_started_again(hosts: Hosts, host: str, tmp_path: Path) -> None:
    with hosts.loaded():
        time.sleep(1)
        hosts.power_off(host)
        if host == "b":
            hosts.type("Let commits through without the replica")
        for tenant in hosts.tenants:
            accepted_within(hosts.at("a", tenant.owner), RECOVERY_SECONDS)
        hosts.start_again(host)
        if host == "b":
            hosts.have_commits_wait()
        time.sleep(1)
    hosts.assert_whole(tmp_path)


def test_the_primary_is_lost_and_the_replica_promoted(hosts: Hosts, tmp_path: Path) -> None:
    """No process is started again for it, and the lost host comes back as the new replica.

    The replica is cut off when the primary's host loses its power: what was answered meanwhile would be lost.
    """
    with hosts.loaded():
        time.sleep(1)
        with ThreadPoolExecutor(1) as thread, cut_off(hosts, "b"):
            answer = thread.submit(create, hosts.at("a", hosts.tenants[0].owner, seconds=5), "Last")
            time.sleep(2)
            assert not answer.done(), "it is answered, and one server alone has it"
            hosts.power_off("a")
        assert isinstance(answer.exception(), httpx.TransportError)
        begun = time.monotonic()
        hosts.type("Promote the replica")
        hosts.primary, hosts.replica = hosts.replica, hosts.primary
        for tenant in hosts.tenants:
            accepted_within(hosts.at("b", tenant.owner), RECOVERY_SECONDS)
        print(f"changes are accepted {time.monotonic() - begun:.1f} s after the host is lost")
        hosts.assert_kept()
        hosts.network.plug("a")
        hosts.make_replica()
        hosts.start_machines("a")
        time.sleep(2)
    hosts.assert_whole(tmp_path)
