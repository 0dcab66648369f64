"""A database or cache that is slow, hangs or is cut off.

Answers stay bounded, and all goes on by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from service.platform.data.migrations import START_SECONDS, verify
from tests.conftest import Member, Stack, member, register, run_stack, wait_until
from tests.faults.clients import Book
from tests.faults.invariants import whole
from tests.faults.proxy import Proxy, proxy
from tests.records import BOOK, MAPPING, small_book

STATEMENT_SECONDS = 3
ANSWER_SECONDS = STATEMENT_SECONDS + 12.0
"""Within which a request is answered whose server hangs: its statement's time, 5 s, and some to say so."""
AWAY_SECONDS = 4.0
"""Longer than a pool of connections tries by itself."""
BACK_SECONDS = 60.0
"""Within which all is served again once the server answers."""


@dataclass
class Behind:
    """A service whose servers are reached through proxies."""

    stack: Stack
    url: str
    database: Proxy
    redis: Proxy
    settings: dict[str, str]
    """By which a process reaches them so."""


@pytest.fixture(scope="module")
def service() -> Iterator[Behind]:
    with ExitStack() as stack:
        running = stack.enter_context(run_stack())
        running.worker.terminate()
        running.worker.wait(30)
        sockets = running.data_dir / "run"
        database = stack.enter_context(proxy(sockets / ".s.PGSQL.5432"))
        redis = stack.enter_context(proxy(sockets / "redis.sock"))
        through = {
            "CUSHION_DATABASE_URL": f"postgresql://cushion_service@127.0.0.1:{database.port}/cushion",
            "CUSHION_REDIS_URL": f"redis://127.0.0.1:{redis.port}/0",
            "CUSHION_STATEMENT_SECONDS": str(STATEMENT_SECONDS),
            "CUSHION_STORAGE_PAUSE_SECONDS": "1",
        }
        try:
            url = stack.enter_context(running.another_api(fresh=True, **through))
            stack.enter_context(running.another_worker(fresh=True, **through))
            yield Behind(running, url, database, redis, through)
        finally:
            database.go_on()
            redis.go_on()


@pytest.fixture(scope="module")
def owner(service: Behind) -> Member:
    return register(service.url)


@pytest.fixture(autouse=True)
def _mended(service: Behind) -> Iterator[None]:
    yield
    service.database.go_on()
    service.redis.go_on()


def asked(owner: Member, requests: int = 8) -> list[tuple[float, httpx.Response]]:
    """As many changes at a time, and how long each took."""

    def send(number: int) -> tuple[float, httpx.Response]:
        begun = time.monotonic()
        answer = owner.post("/api/v1/mappings", json=MAPPING | {"name": f"{begun} {number}"})
        return time.monotonic() - begun, answer

    with ThreadPoolExecutor(requests) as threads:
        return list(threads.map(send, range(requests)))


def back(owner: Member) -> None:
    """Changes are taken again, and jobs are done."""
    wait_until(lambda: {answer.status_code for _, answer in asked(owner, 2)} == {201}, seconds=BACK_SECONDS, what="201")
    sent = {"file": ("book.xlsx", small_book(BOOK))}
    accepted = wait_until(
        lambda: (answer := owner.post("/api/v1/workbooks/upload", files=sent)).status_code == 201 and answer,
        seconds=BACK_SECONDS,
        what="an upload",
    )
    assert owner.parsed(accepted.json()["id"])["status"] == "ready"


def test_a_slow_database_is_waited_for(service: Behind, owner: Member) -> None:
    service.database.delay(0.05)
    answers = asked(owner, 3)
    assert {answer.status_code for _, answer in answers} == {201}
    assert max(seconds for seconds, _ in answers) < 10
    service.database.go_on()
    back(owner)


def test_a_database_that_hangs_is_not_waited_for_without_end(service: Behind, owner: Member) -> None:
    service.database.stall()
    for seconds, answer in asked(owner):
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert seconds < ANSWER_SECONDS
    service.database.go_on()
    back(owner)


def test_a_database_that_is_cut_off_is_told_at_once(service: Behind, owner: Member) -> None:
    service.database.cut()
    for seconds, answer in asked(owner):
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["retry-after"]) > 0
        assert seconds < 15
    service.database.go_on()
    back(owner)


def test_a_process_that_starts_before_its_database_waits_for_it(service: Behind, owner: Member) -> None:
    service.database.cut()
    with ExitStack() as stack, ThreadPoolExecutor() as threads:
        started = threads.submit(stack.enter_context, service.stack.another_api(**service.settings))
        time.sleep(AWAY_SECONDS)
        assert not started.done()
        service.database.go_on()
        url = started.result(BACK_SECONDS)
        assert httpx.get(url + "/health/ready").status_code == 200
    back(owner)


def test_a_start_waits_for_a_database_that_cuts_it_off(service: Behind, owner: Member) -> None:
    """`cushion serve` and `cushion worker` look at the database first, and one attempt may meet a restart."""
    service.database.cut()
    with ThreadPoolExecutor() as threads:
        looking = threads.submit(verify, service.settings["CUSHION_DATABASE_URL"])
        time.sleep(START_SECONDS / 5)
        assert not looking.done()
        service.database.go_on()
        looking.result(BACK_SECONDS)
    back(owner)


@pytest.mark.parametrize("fault", ["delay", "stall", "cut"])
def test_without_redis_all_is_served(service: Behind, owner: Member, fault: str) -> None:
    """It counts limits and carries events and jobs, and all of these have another way."""
    {"delay": lambda: service.redis.delay(0.1), "stall": service.redis.stall, "cut": service.redis.cut}[fault]()
    for seconds, answer in asked(owner):
        assert answer.status_code == 201, answer.text
        assert seconds < 20, "5 s of silence, and another way"
    service.redis.go_on()
    back(owner)


def test_what_all_that_left(service: Behind, owner: Member, tmp_path: Path) -> None:
    direct = member(service.stack.url, owner.tokens, owner.email)
    whole(service.stack, Book(), [direct], tmp_path)
