"""A rolling restart of every process under load.

No request fails, and no job is lost or done twice.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from core.generate import generate
from tests.conftest import Member, free_port, register, wait_until
from tests.faults.several import Machine, Machines, machines

DRAIN_SECONDS = 5
"""Of an API. A worker has none: what runs goes back to the queue at once."""
CLIENTS = 6


@pytest.fixture(scope="module")
def four() -> Iterator[Machines]:
    settings = {"CUSHION_DRAIN_SECONDS": str(DRAIN_SECONDS), "CUSHION_WORKER_DRAIN_SECONDS": "0"}
    with machines(
        **settings, CUSHION_DEFAULT_TIER="enterprise", CUSHION_MAX_MAPPINGS="100000", CUSHION_JOB_LEASE_SECONDS="20"
    ) as running:
        running.add("serve", "serve", "worker", "worker")
        yield running


class Balancer:
    """What a Service of Kubernetes does.

    A new connection goes to a process that was ready when it was last asked.

    It passes bytes on and repeats nothing: only a connection that is refused, before any byte, is tried elsewhere.
    """

    def __init__(self, behind: list[Machine]) -> None:
        self._behind = behind
        self._ready = {machine.port for machine in behind}
        self._turn = itertools.count()
        self.port = free_port()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Its URL, while it serves."""
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result(10)
        try:
            yield f"http://127.0.0.1:{self.port}"
        finally:
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _begin(self) -> None:
        self._server = await asyncio.start_server(self._pass_on, "127.0.0.1", self.port)
        self._asking = [asyncio.ensure_future(self._ask(machine)) for machine in self._behind]

    async def _end(self) -> None:
        self._server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.1)  # for their connections to be closed

    async def _ask(self, machine: Machine) -> None:
        async with httpx.AsyncClient() as client:
            while True:
                await asyncio.sleep(0.2)
                try:
                    ready = (await client.get(machine.url + "/health/ready", timeout=2)).status_code == 200
                except httpx.TransportError:
                    ready = False
                (self._ready.add if ready else self._ready.discard)(machine.port)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = next(self._turn) % len(self._behind)
        order = [machine.port for machine in (*self._behind[turn:], *self._behind[:turn])]
        for port in (port for port in order if port in self._ready):
            with suppress(ConnectionRefusedError, asyncio.CancelledError):
                behind, before = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(_pump(reader, before), _pump(behind, writer))
                return
        writer.close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        with suppress(ConnectionError):
            while data := await source.read(65_536):
                target.write(data)
                await target.drain()
    finally:
        target.close()


class Load:
    """Callers that ask one thing after the other, each on a kept-alive connection, and what they were answered."""

    def __init__(self, owner: Member, url: str, file: Path) -> None:
        self._owner = owner
        self._url = url
        self._file = file
        self._going = True
        self.answers: Counter[str] = Counter()
        self.uploaded: list[str] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within, they ask."""
        with ThreadPoolExecutor(CLIENTS) as callers:
            calls = [callers.submit(self._call, number) for number in range(CLIENTS)]
            try:
                yield
            finally:
                self._going = False
        for call in calls:
            call.result()

    def _call(self, number: int) -> None:
        with httpx.Client(base_url=self._url, headers=self._owner.http.headers, timeout=60) as client:
            for turn in itertools.count():
                if not self._going:
                    return
                try:
                    answer = self._ask(client, turn + number)
                    self.answers[f"{answer.status_code}"] += 1
                except httpx.TransportError as error:
                    self.answers[repr(error)] += 1
                time.sleep(0.02)

    def _ask(self, client: httpx.Client, turn: int) -> httpx.Response:
        if turn % 40 == 0:
            files = {"file": (self._file.name, self._file.read_bytes())}
            answer = client.post("/api/v1/workbooks/upload", files=files, data={"name": f"Book {turn}"})
            if answer.status_code == 201:
                self.uploaded.append(answer.json()["id"])
            return answer
        if turn % 3 == 0:
            return client.post("/api/v1/calculations/evaluate", json={"formula": "=SUM(1,2)"})
        if turn % 3 == 1:
            return client.post("/api/v1/mappings", json={"name": f"Unit {time.monotonic_ns()}", **MAPPING})
        return client.get("/api/v1/workbooks")


MAPPING = {"source_type": "clo_holdings", "mappings": {"Nominal": {"target": "par_value"}}}


def test_a_process_that_is_told_to_stop_serves_until_nobody_sends_to_it(four: Machines) -> None:
    """Not ready from the signal on, every other request answered, its connection closed behind the answer."""
    api, second = four.all[:2]
    owner = register(api.url)
    kept = httpx.Client(base_url=api.url, headers=owner.http.headers)
    with kept:
        assert "connection" not in kept.get("/api/v1/workbooks").headers
        api.begin_to_stop()
        wait_until(lambda: api.ready() == 503, seconds=DRAIN_SECONDS / 2, what="the process to say that it stops")
        assert second.ready() == 200
        answers = [kept.get("/api/v1/workbooks"), kept.get("/api/v1/nowhere"), httpx.get(api.url + "/health/live")]
        assert [answer.status_code for answer in answers] == [200, 404, 200]
        assert {answer.headers["connection"] for answer in answers} == {"close"}
        begun = time.monotonic()
        api.ended()
        assert time.monotonic() - begun < DRAIN_SECONDS + 20
    api.start()


def test_no_request_fails_and_no_job_is_lost_or_done_twice(four: Machines, tmp_path: Path) -> None:
    owner = register(four.all[0].url)
    file = tmp_path / "loans.xlsx"
    generate(loans=2_000, seed=5).write(file)
    balancer = Balancer(four.all[:2])
    with balancer.serving() as url:
        load = Load(owner, url, file)
        with load.running():
            for old, worker in zip(four.all[:2], four.all[2:], strict=True):
                for machine in (old, worker):
                    machine.stop()
                    machine.start()
                time.sleep(0.5)  # until the balancer knows
        assert set(load.answers) == {"200", "201"}, load.answers
        assert load.answers.total() > 300, "too little was asked while the processes came and went"
    assert len(load.uploaded) > 5
    assert {owner.parsed(book)["status"] for book in load.uploaded} == {"ready"}
    jobs = four.database.sql("SELECT id, status, failures FROM jobs WHERE tenant_id = %s", [owner.tenant_id])
    assert {(status, failures) for _, status, failures in jobs} == {("completed", 0)}
    text = "".join(machine.log_text() for machine in four.all[2:])
    ended = Counter(line.split('"job_id":"')[1][:37] for line in text.splitlines() if '"job.completed"' in line)
    assert {ended[job_id] for job_id, _, _ in jobs} == {1}
