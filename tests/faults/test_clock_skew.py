"""Clocks that are minutes off, or jump.

What hosts compare is told by one clock, the database's or Redis's.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import PASSWORD, ROOT, Member, Stack, member, register, run_stack, wait_until
from tests.faults.clients import Book
from tests.faults.invariants import whole
from tests.records import BOOK, MAPPING, small_book

OFF_SECONDS = 600
"""Ten minutes: more than a lease, less than the life of a token."""
WITHIN_SECONDS = 20
"""What the clocks of two hosts may differ by without anybody noticing: 30 s."""
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *seconds;

__attribute__((constructor)) static void open_clock(void) {
    int file = open(getenv("TESTS_CLOCK"), O_RDONLY);
    void *place = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (place != MAP_FAILED) seconds = place;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *told) {
    int failed = syscall(SYS_clock_gettime, clock, told);
    if (!failed && seconds && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) told->tv_sec += *seconds;
    return failed;
}

int gettimeofday(struct timeval *told, void *zone) {
    struct timespec now;
    int failed = clock_gettime(CLOCK_REALTIME, &now);
    told->tv_sec = now.tv_sec, told->tv_usec = now.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
"""
"""Loaded before libc, it tells the time of day as a file says; how long something takes stays true."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That, compiled."""
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.c").write_text(SOURCE)
    built = Path(tempfile.gettempdir()) / f"cushion-clock-{os.getpid()}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(built), str(folder / "clock.c")], check=True)
    built.chmod(0o755)
    return built


@pytest.fixture(scope="module")
def service() -> Iterator[Stack]:
    """Its worker is stopped.

    A test starts those that it needs, and the API does no worker's jobs.
    """
    with run_stack(CUSHION_SYNC_FALLBACK="off") as running:
        running.worker.terminate()
        running.worker.wait(30)
        yield running


@pytest.fixture(scope="module")
def owner(service: Stack) -> Member:
    return register(service.url)


class Clock:
    """The time of day of some processes: the machine's and so many seconds."""

    def __init__(self, library: Path, seconds: int = 0) -> None:
        handle, name = tempfile.mkstemp(prefix="cushion-clock-")
        os.fchmod(handle, 0o644)
        os.ftruncate(handle, 8)
        self._seconds = mmap.mmap(handle, 8)
        os.close(handle)
        self.environment = {"LD_PRELOAD": str(library), "TESTS_CLOCK": name}
        self.set(seconds)

    def set(self, seconds: int) -> None:
        """Have it jump there."""
        self._seconds[:] = seconds.to_bytes(8, sys.byteorder, signed=True)


@contextmanager
def api_off(service: Stack, library: Path, seconds: int) -> Iterator[tuple[str, Clock]]:
    """An API whose clock is off by so many seconds; its URL."""
    clock = Clock(library, seconds)
    with service.another_api(fresh=True, **clock.environment) as url:
        date = httpx.get(url + "/health/live").headers["date"]
        shown = time.mktime(time.strptime(date, "%a, %d %b %Y %H:%M:%S %Z")) - time.timezone
        assert abs(shown - time.time() - seconds) < 5, f"the clock of this API is not {seconds} s off: {date}"
        yield url, clock


def login(url: str, owner: Member) -> str:
    answer = httpx.post(url + "/api/v1/auth/login", data={"username": owner.email, "password": PASSWORD})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


def me(url: str, token: str) -> int:
    return httpx.get(url + "/api/v1/auth/me", headers={"Authorization": f"Bearer {token}"}).status_code


def test_tokens_of_hosts_whose_clocks_differ(service: Stack, library: Path, owner: Member) -> None:
    """Believed where the clocks differ by little, or the other's is behind.

    Refused where it comes from the future.
    """
    for off, there, here in [(WITHIN_SECONDS, 200, 200), (-OFF_SECONDS, 200, 200), (OFF_SECONDS, 200, 401)]:
        with api_off(service, library, off) as (url, _):
            theirs = login(url, owner)
            assert (me(url, theirs), me(service.url, theirs)) == (there, here), off
            if abs(off) <= WITHIN_SECONDS:
                assert me(url, login(service.url, owner)) == 200


def test_an_api_whose_clock_jumps(service: Stack, library: Path, owner: Member) -> None:
    """An hour on its tokens have expired, an hour back they come from the future.

    Right again, all is as before. The windows of limits are Redis's, and move with neither.
    """
    with api_off(service, library, 0) as (url, clock):
        token = login(url, owner)
        for seconds, status in [(0, 200), (3600, 401), (0, 200), (-3600, 401), (0, 200)]:
            clock.set(seconds)
            answer = httpx.get(url + "/api/v1/auth/me", headers={"Authorization": f"Bearer {token}"})
            # A token that was verified is believed until it expires, and not before it began.
            assert answer.status_code == status or (seconds < 0 and answer.status_code == 200), (seconds, answer.text)
            if answer.status_code == 200:
                assert 0 <= int(answer.headers["x-ratelimit-reset"]) - time.time() <= 61
        clock.set(-3600)
        own = login(url, owner)
        named = {"name": f"Clock {time.monotonic()}"}
        response = httpx.post(
            url + "/api/v1/mappings", json=MAPPING | named, headers={"Authorization": f"Bearer {own}"}
        )
        assert response.status_code == 201, response.text
    assert owner.get(f"/api/v1/mappings/{response.json()['id']}").status_code == 200


def test_a_limit_is_one_for_hosts_whose_clocks_differ(service: Stack, library: Path) -> None:
    """Six logins a minute from one address are six, whichever hosts are asked."""
    with ExitStack() as stack:
        urls = [
            stack.enter_context(
                service.another_api(fresh=True, CUSHION_LOGIN_PER_MINUTE="6", **Clock(library, seconds).environment)
            )
            for seconds in (0, OFF_SECONDS, -OFF_SECONDS)
        ]
        answer = []
        elsewhere = httpx.HTTPTransport(local_address="127.0.0.9")  # an address that nobody logged in from
        with httpx.Client(transport=elsewhere) as client:
            for number in range(12):
                sent = {"username": "nobody@example.com", "password": PASSWORD}
                answer.append(client.post(urls[number % 3] + "/api/v1/auth/login", data=sent).status_code)
    assert answer == [401] * 6 + [429] * 6


def uploaded(owner: Member, name: str) -> str:
    content = small_book([*BOOK, (name, 1, 1)])
    answer = owner.post("/api/v1/workbooks/upload", files={"file": ("book.xlsx", content)})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


HAND_OVER = """
import asyncio
from service.platform import config
from service.platform.work.queues import dispatch, queue_of
from service.platform.work.process import resources

async def main():
    settings = config.load()
    async with resources(settings) as shared:
        queue = queue_of(settings.redis_url)
        print(await dispatch(shared, queue))
        await queue.aclose()

asyncio.run(main())
"""


def hold(service: Stack, worker: subprocess.Popen[bytes]) -> None:
    """Stop a worker where it stands, but not within a transaction.

    All would wait for its locks.
    """
    within = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
    )

    def is_locked() -> bool:
        worker.send_signal(signal.SIGSTOP)
        if service.sql(within) == [(0,)]:
            return True
        worker.send_signal(signal.SIGCONT)
        return False

    wait_until(is_locked, seconds=20, what="a worker that stands outside of transactions")


def test_workers_whose_clocks_differ(service: Stack, library: Path, owner: Member) -> None:
    """Each job is done once and soon, whoever hands it over.

    Leases are the database's, and so is what is due.
    """
    ahead, behind = Clock(library, OFF_SECONDS), Clock(library, -OFF_SECONDS)
    with service.another_worker(fresh=True, **behind.environment) as worker:
        first = uploaded(owner, "first")
        assert owner.parsed(first)["status"] == "ready"
        hold(service, worker)
        second = uploaded(owner, "second")
        handed = subprocess.run(
            [sys.executable, "-c", HAND_OVER],
            env={**service.environment, **ahead.environment},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert handed.stdout.splitlines()[-1:] == ["1"], handed.stdout + handed.stderr
        begun = time.monotonic()
        worker.send_signal(signal.SIGCONT)
        assert owner.parsed(second)["status"] == "ready"
        assert time.monotonic() - begun < 10, "before anybody takes it for lost"
        with service.another_worker(fresh=True, **ahead.environment):
            both = [uploaded(owner, f"{number}") for number in range(6)]
            assert {owner.parsed(item)["status"] for item in both} == {"ready"}
    assert service.sql("SELECT status, failures FROM jobs WHERE status <> 'completed' OR failures > 0") == []


def test_the_audit_log_is_in_the_order_in_which_it_was_written(service: Stack, library: Path, tmp_path: Path) -> None:
    """Whatever the clocks of those said who wrote it."""
    owner = register(service.url)
    with api_off(service, library, OFF_SECONDS) as (ahead, _), api_off(service, library, -OFF_SECONDS) as (behind, _):
        members = [owner, *(member(url, {"access_token": login(url, owner)}, owner.email) for url in (ahead, behind))]
        written = []
        for number in range(9):
            answer = members[number % 3].post("/api/v1/mappings", json=MAPPING | {"name": f"{number}"})
            assert answer.status_code == 201, answer.text
            written.append(answer.json()["id"])
    with service.another_worker(fresh=True, CUSHION_STORAGE_PAUSE_SECONDS="1"):
        ordered = (
            "SELECT resource_id FROM audit_log WHERE tenant_id = %s AND action = 'mapping.created' ORDER BY sequence"
        )
        assert [item for (item,) in service.sql(ordered, [owner.tenant_id])] == written
        whole(service, Book(), [owner], tmp_path)
