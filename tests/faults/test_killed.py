"""SIGKILL of any part of the service.

What was accepted is done, nothing half-done shows, and it goes on by itself.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import xlsxwriter

from tests.conftest import Member, calls, register, wait_until
from tests.faults.clients import Book
from tests.faults.invariants import tidy, whole
from tests.faults.served import Service, send, served
from tests.records import MAPPING

RECOVERY_SECONDS = 60.0
"""Within which the service is ready again, whatever was killed: the last pause before a restart is 3.2 s."""

END = b"\r\n--b--\r\n"

Owners = list[Member]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with served(CUSHION_WORKER_JOBS="1") as running:
        # An insert that takes long is a transaction that is open when something is killed.
        running.sql(
            """
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(20); RETURN NEW; END $$;
            CREATE TRIGGER slow AFTER INSERT ON mappings FOR EACH ROW
                WHEN (NEW.name LIKE 'slow%') EXECUTE FUNCTION slow();
            """
        )
        yield running


@pytest.fixture(scope="module")
def owners() -> Owners:
    """Everybody whom the tests of this file registered.

    What they have is looked at in the end.
    """
    return []


@pytest.fixture
def owner(service: Service, owners: Owners) -> Member:
    owners.append(register(service.url))
    return owners[-1]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workbook whose parsing takes long enough to be killed in."""
    path = tmp_path_factory.mktemp("large") / "large.xlsx"
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet("Data")
        for row in range(60_000):
            sheet.write_row(row, 0, [row * 12 + column for column in range(12)])
    return path


def jobs(service: Service, owner: Member) -> list[tuple[Any, ...]]:
    return service.sql("SELECT status, failures FROM jobs WHERE tenant_id = %s", [owner.tenant_id])


def test_a_worker_in_the_middle_of_a_parse(service: Service, owner: Member, large: Path) -> None:
    accepted = owner.upload(large)
    assert accepted.status_code == 201, accepted.text
    wait_until(lambda: list((service.data_dir / "scratch").glob("parse-*")), what="the parse")
    service.end("worker")
    assert owner.parsed(accepted.json()["id"])["status"] == "ready"
    assert jobs(service, owner) == [("completed", 1)]
    tidy(service)


def test_a_worker_in_the_middle_of_a_batch(service: Service, owner: Member, tmp_path: Path) -> None:
    """No workbook is run twice and none is left out, though a worker dies again and again."""
    path = tmp_path / "pool.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Holdings")
        sheet.write_row(0, 0, ["LoanX ID", "Issuer Name", "Par Amount", "Market Price", "S&P Rating"])
        for row in range(1, 2_000):
            sheet.write_row(row, 0, [f"LX{row:06d}", f"Issuer {row}", row * 1e3, 98.5, "B"])
    book_ids = [owner.uploaded(path)["id"] for _ in range(12)]
    batch = owner.post("/api/v1/batches", json={"workbook_ids": book_ids, "test_suite": "enhanced"})
    assert batch.status_code == 201, batch.text
    url = f"/api/v1/batches/{batch.json()['id']}"
    runs = "SELECT workbook_id::text FROM compliance_runs WHERE tenant_id = %s"
    for killed_at in (1, 5, 9):
        wait_until(lambda at=killed_at: len(service.sql(runs, [owner.tenant_id])) >= at, what="runs", seconds=60)
        # Two runs may have ended together, before a worker stands in the place of the last.
        wait_until(lambda: service.pids("worker"), what="a worker", seconds=60)
        if owner.get(url).json()["completed_at"] is None:
            service.end("worker")
    wait_until(lambda: owner.get(url).json()["completed_at"], what="the end of the batch", seconds=90)
    done = owner.get(url).json()
    assert (done["status"], done["counts"]["done"], done["counts"]["refused"]) == ("completed", 12, 0)
    assert sorted(book_id for (book_id,) in service.sql(runs, [owner.tenant_id])) == sorted(book_ids)
    lines = owner.get(f"{url}/results").text.splitlines()
    alone = owner.post("/api/v1/batches", json={"workbook_ids": book_ids, "test_suite": "enhanced"}).json()["id"]
    wait_until(lambda: owner.get(f"/api/v1/batches/{alone}").json()["completed_at"], what="the next batch", seconds=90)
    assert owner.get(f"/api/v1/batches/{alone}/results").text.splitlines() == lines
    tidy(service)


def ended_without_answer(caller: socket.socket) -> bool:
    try:
        return caller.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("role", ["api_worker", "api"])
def test_the_api_in_the_middle_of_an_upload(service: Service, owner: Member, large: Path, role: str) -> None:
    """The process that serves, or its parent.

    The caller sees the connection end, and nothing of it stays.
    """
    host, _, port = service.url.removeprefix("http://").partition(":")
    content = large.read_bytes()
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="large.xlsx"\r\n\r\n'
    lines = [
        "POST /api/v1/workbooks/upload HTTP/1.1",
        f"Host: {host}",
        f"Authorization: {owner.http.headers['authorization']}",
        "Content-Type: multipart/form-data; boundary=b",
        f"Content-Length: {len(head) + len(content) + len(END)}",
    ]
    request = "\r\n".join([*lines, "", ""])
    before = service.pids("api_worker")
    with socket.create_connection((host, int(port)), timeout=10) as caller:
        caller.sendall(request.encode() + head + content[: len(content) // 2])
        time.sleep(0.3)  # half of the upload is there
        service.end(role)
        assert ended_without_answer(caller)
    service.wait_ready(seconds=RECOVERY_SECONDS)
    wait_until(lambda: not set(before) & set(service.processes()), what="the end of the old process")
    assert owner.get("/api/v1/workbooks").json()["total"] == 0
    assert owner.uploaded(large)["status"] == "ready"
    tidy(service)


def kill_backend(service: Service) -> None:
    ((number,),) = service.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
    os.kill(number, signal.SIGKILL)


def stop_immediately(service: Service) -> None:
    """As `pg_ctl stop -m immediate` does."""
    (number,) = service.pids("postgres")
    os.kill(number, signal.SIGQUIT)


@pytest.mark.parametrize("fault", [kill_backend, lambda service: service.end("postgres"), stop_immediately])
def test_postgresql_in_the_middle_of_a_transaction(
    service: Service, owner: Member, fault: Callable[[Service], object]
) -> None:
    """The caller is told to come again, and then it is done once."""
    sent = MAPPING | {"name": f"slow {uuid4().hex}"}
    with ThreadPoolExecutor() as threads:
        begun = threads.submit(owner.post, "/api/v1/mappings", json=sent, headers={"Idempotency-Key": "once"})
        wait_until(
            lambda: service.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), what="the transaction"
        )
        before = service.pids("backend")
        fault(service)
        answer = begun.result(60)
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["retry-after"]) > 0
    # The others end a moment after the one that was killed: until then the service is ready by right.
    wait_until(lambda: not set(before) & set(service.processes()), what="the end of every connection")
    quick = MAPPING | {"name": f"quick {uuid4().hex}"}
    result = wait_until(
        lambda: (answer := owner.post("/api/v1/mappings", json=quick)).status_code != 503 and answer,
        seconds=RECOVERY_SECONDS,
        what="an answer",
    )
    assert result.status_code == 201, result.text
    kept = service.sql("SELECT id::text FROM mappings WHERE tenant_id = %s", [owner.tenant_id])
    assert kept == [(result.json()["id"],)]


def test_redis_with_jobs_and_events_in_it(service: Service, owners: Owners, large: Path) -> None:
    """What it was told is kept by its file; while it is away, everybody is served."""
    callers = [register(service.url) for _ in range(3)]
    owners.extend(callers)
    workers = service.pids("worker")
    accepted = [caller.upload(large).json()["id"] for caller in callers for _ in range(2)]
    wait_until(lambda: service.sql("SELECT id FROM jobs WHERE status = 'queued'"), what="a job in Redis")
    send(workers, signal.SIGSTOP)
    asked = {"formula": "=A1+1", "context": {"A1": 1}}
    for _ in range(20):
        assert callers[0].post("/api/v1/calculations/evaluate", json=asked).status_code == 200
    service.end("redis")
    for _ in range(5):
        assert callers[0].post("/api/v1/calculations/evaluate", json=asked).status_code == 200
    send(workers, signal.SIGCONT)
    for number, workbook_id in enumerate(accepted):
        assert callers[number // 2].parsed(workbook_id)["status"] == "ready"
    wait_until(lambda: calls(service, callers[0]) == 25, what="25 events")
    assert service.sql("SELECT id FROM audit_log WHERE action = 'audit.events_missing'") == []


def test_cushion_serve(service: Service, owner: Member, large: Path) -> None:
    """Its children end with it, also the API that has a caller, and the next start does what had been accepted."""
    accepted = owner.upload(large)
    assert accepted.status_code == 201, accepted.text
    with ThreadPoolExecutor() as threads:
        current = threads.submit(owner.post, "/api/v1/mappings", json=MAPPING | {"name": "slow"})
        wait_until(
            lambda: service.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), what="the transaction"
        )
        begun = time.monotonic()
        service.kill()
        assert time.monotonic() - begun < 15, "nobody drains what has no database"
        # The database may end before the API, whose caller is told so.
        assert current.exception(60) is not None or current.result().status_code == 503
    service.start()
    assert owner.parsed(accepted.json()["id"])["status"] == "ready"
    assert jobs(service, owner) == [("completed", 1)] or jobs(service, owner) == [("completed", 0)]


def test_everything_at_once(service: Service, owner: Member, large: Path) -> None:
    """As when the machine stops, but that what was written is in the system's memory."""
    accepted = owner.upload(large)
    send(service.processes(), signal.SIGKILL)
    service.kill()
    service.start()
    assert owner.parsed(accepted.json()["id"])["status"] == "ready"


def test_what_all_that_left(service: Service, owners: Owners, tmp_path: Path) -> None:
    """Chains are whole, work has ended, and nothing stands about.

    Not even processes, as the end of the file sees.
    """
    whole(service, Book(), owners, tmp_path)
