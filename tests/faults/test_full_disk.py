"""A data folder on a disk that fills up.

Refusals, nothing half-written, and all goes on once there is room.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import httpx
import psycopg
import pytest
from redis import Redis

from tests.conftest import Member, register, wait_until
from tests.faults.clients import Book
from tests.faults.invariants import assert_consistent, whole
from tests.faults.served import Service, served, small_disk
from tests.records import BOOK, MAPPING, small_book

DISK_MEGABYTES = 220
"""A new cluster has 40 MB and as much of WAL as it made."""
BACK_SECONDS = 40.0


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with small_disk(f"{DISK_MEGABYTES}m") as folder:
        yield folder


@pytest.fixture(scope="module")
def service(disk: Path) -> Iterator[Service]:
    with served(folder=disk) as running:
        yield running


@pytest.fixture(scope="module")
def owner(service: Service) -> Member:
    return register(service.url)


def room(file: FileIO, size: int) -> bool:
    try:
        file.write(b"\0" * size)
    except OSError:
        return False
    return True


class Ballast:
    """A file that takes all the room there is."""

    def __init__(self, disk: Path) -> None:
        self._path = disk / "ballast"

    def fill(self) -> None:
        with self._path.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                while room(file, size):
                    pass

    def drop(self) -> None:
        self._path.unlink(missing_ok=True)


@pytest.fixture
def ballast(disk: Path) -> Iterator[Ballast]:
    new_ballast = Ballast(disk)
    yield new_ballast
    new_ballast.drop()


def upload(owner: Member, rows: int = 1) -> httpx.Response:
    content = small_book([*BOOK, *((f"Obligor {time.monotonic()} {row}", row, 1.5) for row in range(rows))])
    return owner.post("/api/v1/workbooks/upload", files={"file": ("book.xlsx", content)})


def back(service: Service, owner: Member) -> None:
    def taken() -> httpx.Response | None:
        try:
            answer = upload(owner)
        except httpx.TransportError:
            return None
        return answer if answer.status_code == 201 else None

    accepted = wait_until(taken, seconds=BACK_SECONDS, what="an upload")
    assert owner.parsed(accepted.json()["id"])["status"] == "ready"


def refused(answer: httpx.Response) -> None:
    assert answer.status_code in (503, 507), answer.text
    assert int(answer.headers["retry-after"]) > 0


def test_files_find_no_room(service: Service, owner: Member, ballast: Ballast) -> None:
    """Uploads are refused and leave nothing.

    An export ends, and what needs no room is served. A calculation may need some, for its event.
    """
    workbook = upload(owner, 20_000)
    assert owner.parsed(workbook.json()["id"])["status"] == "ready"
    kept = owner.get("/api/v1/workbooks").json()["total"]
    ballast.fill()
    for _ in range(3):
        refused(upload(owner, 20_000))
    wait_until(lambda: full(service) == {"data folder", "blob store"}, seconds=5, what="what is full")
    asked = {"formula": "=SUM(Loans!B2:B3)", "workbook_id": workbook.json()["id"]}
    value = owner.post("/api/v1/calculations/evaluate", json=asked)
    if value.status_code == 503:
        refused(value)
    else:
        assert (value.status_code, value.json()["value"]) == (200, 3_000_000), value.text
    export = owner.post("/api/v1/exports", json={"workbook_id": workbook.json()["id"], "format": "xlsx"})
    assert owner.get("/api/v1/workbooks").json()["total"] == kept
    ballast.drop()
    wait_until(lambda: not full(service), seconds=5, what="room")
    back(service, owner)
    if export.status_code == 201:
        path = f"/api/v1/exports/{export.json()['id']}"
        wait_until(lambda: owner.get(path).json()["status"] in ("completed", "failed"), what="the export's end")
    else:
        refused(export)


def full(service: Service) -> set[str]:
    """What has no room, as `/health/ready` names it. 503 then, and nothing of folders."""
    answer = httpx.get(service.url + "/health/ready", timeout=10)
    check = answer.json()["checks"]["storage"]
    assert (answer.status_code == 503) == (answer.json()["status"] == "not_ready") == (check["status"] == "error")
    if check["status"] == "ok":
        return set()
    assert "/" not in check["message"]
    lines, _, names = check["message"].partition(": ")
    assert lines == "no room on the disk"
    return set(names.split(", "))


def test_postgresql_finds_no_room_for_rows(service: Service, owner: Member) -> None:
    """On a disk that only it has.

    The first write that fails tells, and the look that finds room ends it.
    """
    with small_disk("3m") as small:
        account = (service.data_dir / "postgres").stat()
        place = small / "rows"
        place.mkdir(mode=0o700)
        os.chown(place, account.st_uid, account.st_gid)
        small.chmod(0o755)
        service.sql(f"CREATE TABLESPACE small LOCATION '{place}'")
        for statement in (
            "GRANT CREATE ON TABLESPACE small TO cushion_service",
            "ALTER ROLE cushion_service SET temp_tablespaces = 'small'",
            "ALTER TABLE mappings SET TABLESPACE small",
        ):
            service.sql(statement)
        service.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cushion_service'")
        back(service, owner)
        assert full(service) == set()
        ballast = Ballast(small)
        ballast.fill()
        name = iter(range(10_000))

        def create() -> int:
            body = MAPPING | {"name": f"small {next(name)}"}
            return owner.post("/api/v1/mappings", json=body).status_code

        wait_until(lambda: create() == 503, what="a mapping that finds no room")
        wait_until(lambda: full(service) == {"database volume"}, seconds=5, what="what is full")
        ballast.drop()
        wait_until(lambda: not full(service), seconds=5, what="room")
        assert create() == 201
        for statement in (
            "ALTER TABLE mappings SET TABLESPACE pg_default",
            "ALTER ROLE cushion_service RESET temp_tablespaces",
            "REVOKE CREATE ON TABLESPACE small FROM cushion_service",
        ):
            service.sql(statement)
        service.sql("DROP TABLESPACE small")
        service.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'cushion_service'")
        back(service, owner)


def test_postgresql_finds_no_room_for_its_log(service: Service, owner: Member, ballast: Ballast) -> None:
    """It stops rather than lose anything.

    Whoever asks is told to come again, and once there is room it is back.
    """
    response = owner.post("/api/v1/mappings", json=MAPPING | {"name": "before"})
    assert response.status_code == 201
    ballast.fill()
    for _ in range(8):
        try:
            service.sql("SELECT pg_logical_emit_message(true, 'fill', repeat('x', 4000000))")
            service.sql("SELECT pg_switch_wal()")
            ballast.fill()
        except psycopg.Error:
            break
    else:
        raise AssertionError("its log found room")
    end = time.monotonic() + 8
    while time.monotonic() < end:
        answer = owner.post("/api/v1/mappings", json=MAPPING | {"name": f"{time.monotonic()}"})
        if answer.status_code != 201:
            refused(answer)
        time.sleep(0.5)
    ballast.drop()
    service.wait_ready(seconds=BACK_SECONDS)
    back(service, owner)
    assert owner.get(f"/api/v1/mappings/{response.json()['id']}").status_code == 200


def test_redis_finds_no_room_for_its_file(service: Service, ballast: Ballast) -> None:
    """It refuses what it cannot write down.

    Events go past it, and those that were answered are in the audit log.
    """
    owner = register(service.url)
    ballast.fill()
    asked = {"formula": "=A1", "context": {"A1": "x" * 1000}}
    answers = [owner.post("/api/v1/calculations/evaluate", json=asked).status_code for _ in range(60)]
    assert set(answers) <= {200, 503}
    with Redis.from_url(service.redis_url) as client:
        assert client.info("persistence")["aof_last_write_status"] == "err", "it found room"
    ballast.drop()
    back(service, owner)
    assert_consistent(service, [owner], answers.count(200))


def test_what_all_that_left(service: Service, owner: Member, tmp_path: Path) -> None:
    whole(service, Book(), [owner], tmp_path)
