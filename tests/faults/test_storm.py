"""Five hundred clients for a minute, and every ten seconds a part of the service is broken under them."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.conftest import register
from tests.faults.clients import Book, at_work, prepared
from tests.faults.invariants import whole
from tests.faults.served import Service, send, served

SECONDS: Final = 60.0
FIRST_SECONDS, EVERY_SECONDS = 4.0, 10.0
TENANTS: Final = 10
CLIENTS: Final = 500
PAUSE_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 20.0
"""Within which somebody is answered again, whatever broke; on an idle machine a start takes 3 s."""


def hang(service: Service) -> None:
    """PostgreSQL stands still for three seconds."""
    stopped = service.pids("postgres") + service.pids("backend") + service.pids("postgres_helper")
    send(stopped, signal.SIGSTOP)
    time.sleep(3)
    send(stopped, signal.SIGCONT)


def start_again(service: Service) -> None:
    """`cushion serve` itself is killed, and started again."""
    service.kill()
    service.start()


FAULTS: Final[list[tuple[str, Callable[[Service], object]]]] = [
    ("a worker", lambda service: service.end("worker")),
    ("the API's process", lambda service: service.end("api_worker")),
    ("PostgreSQL", lambda service: service.end("postgres")),
    ("Redis", lambda service: service.end("redis")),
    ("PostgreSQL stands still", hang),
    ("cushion serve", start_again),
]


@pytest.mark.timeout(240)
def test_the_storm(tmp_path: Path) -> None:
    with served(CUSHION_DEFAULT_TIER="enterprise") as service:
        with ThreadPoolExecutor(2) as both:
            tenants = list(both.map(lambda number: prepared(register(service.url), number), range(TENANTS)))
        book = Book()

        async def break_things() -> None:
            loop = asyncio.get_running_loop()
            begun = loop.time()
            for number, (name, fault) in enumerate(FAULTS):
                await asyncio.sleep(FIRST_SECONDS + number * EVERY_SECONDS - (loop.time() - begun))
                print(f"{loop.time() - begun:5.1f} s: {name}")
                await loop.run_in_executor(None, fault, service)

        async def storm() -> None:
            await at_work(
                service.url,
                tenants,
                each=CLIENTS // TENANTS,
                seconds=SECONDS,
                pause_seconds=PAUSE_SECONDS,
                book=book,
                beside=break_things(),
            )

        asyncio.run(storm())
        service.wait_ready()
        for (name, status), times in sorted(book.statuses.items()):
            print(f"{times:7} {status:3} {name}")
        answered = sum(times for (_, status), times in book.statuses.items() if 200 <= status < 300)
        print(f"{answered} answered; the slowest answer after {book.slowest_seconds:.1f} s; none for {book.silences} s")
        whole(service, book, [tenant.owner for tenant in tenants], tmp_path)
        assert answered > 5_000
        assert max(book.silences) < SILENT_SECONDS
