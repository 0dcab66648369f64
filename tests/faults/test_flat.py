"""A service that nobody asks takes next to no processor time, and one that is asked much takes no more memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from bench.service.load import memory
from bench.service.load.mixes import upload, workbook
from bench.service.stack import Client
from service.platform import config
from tests.faults.served import Service, served

IDLE_SHARE: Final = 0.01
"""Of a core. Alone on a machine it is under half a percent; a busy one counts more for the same work."""
WINDOW_SECONDS: Final = 3.0
WINDOWS: Final = 15
SETTLED_SECONDS: Final = 3.0
REQUESTS: Final = 12_000
"""Besides those that fill the cache of formulas: 20,000 in all."""
GROWTH_BYTES: Final = 6_000_000
"""From the first third of the requests, in which caches fill, to the last ones: 750 bytes of each."""


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with served() as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="module")
def installed() -> Iterator[Service]:
    """One whose upkeep has the pauses that it has where nobody sets them."""
    defaults = config.Settings()
    pauses = {
        "CUSHION_STORAGE_PAUSE_SECONDS": str(defaults.storage_pause_seconds),
        "CUSHION_EVENT_GAP_SECONDS": str(defaults.event_gap_seconds),
    }
    with served(**pauses) as running:
        running.wait_ready()
        yield running


def test_no_process_of_an_idle_service_takes_a_percent_of_a_core(installed: Service) -> None:
    """Each process by its best window.

    Upkeep has rounds of half a minute, and the machine may do other things.
    """
    time.sleep(SETTLED_SECONDS)
    least: dict[str, float] = {}
    for _ in range(WINDOWS):
        before, began = seconds_of(installed), time.monotonic()
        time.sleep(WINDOW_SECONDS)
        passed = time.monotonic() - began
        for number, seconds in seconds_of(installed).items():
            if number in before:
                part = f"{installed.processes().get(number)} {number}"
                least[part] = min(least.get(part, 1.0), (seconds - before[number]) / passed)
        assert len(least) > 5, least
        if max(least.values()) < IDLE_SHARE:
            return
    raise AssertionError({part: f"{share:.2%}" for part, share in least.items() if share >= IDLE_SHARE})


def seconds_of(service: Service) -> dict[int, float]:
    """Processor time of each process so far.

    By the scheduler, since /proc/PID/stat counts hundredths of a second.
    """
    result = {}
    for number in service.processes():
        with suppress(OSError):
            tasks = list(Path(f"/proc/{number}/task").iterdir())
            result[number] = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    return result


def test_the_memory_of_the_api_is_flat_over_many_different_requests(service: Service, tmp_path: Path) -> None:
    """200,000 are sent by `python -m bench load --requests 200000`.

    What a request leaves shows here, too.
    """
    current: list[tuple[int, int]] = []
    client = Client(service.url)
    (deal,) = upload([client], [workbook(tmp_path)], 1)
    memory.of_requests(service.url, deal, REQUESTS, lambda done, taken: current.append((done, taken)))
    client.close()
    filled = next(taken for done, taken in current if done >= REQUESTS / 3)
    assert current[-1][1] - filled < GROWTH_BYTES, current
